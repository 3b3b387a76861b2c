/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables alone cost dependent loads per byte. Hints make most bytes cheaper: a
 * walk ends in a final state, searches for the next `/` where only that leads on
 * (inside a component where no pattern is under way), and compares eight bytes
 * at a time with a spine.
 */
#include "policy/dfa.h"

#include "policy/word.h"

#include "base/banned.h"

size_t dfa_size(const struct dfa *dfa)
{
	return sizeof(*dfa) + dfa->n_states * (sizeof(*dfa->states) + sizeof(*dfa->spine)) +
	       dfa->n_slots * sizeof(*dfa->slots);
}

/* How many of the N bytes at P are those of the spine that begins at SPINE and has LENGTH bytes. */
static inline size_t follow_spine(const char *p, size_t n, const uint8_t *spine, size_t length)
{
	size_t most = n < length ? n : length, i = 0;

	for (; n - i >= WORD && i < most; i += WORD) {
		unsigned same = word_leading_zeroes(word_load(p + i) ^ word_load(spine + i));

		if (same < WORD)
			return i + same < most ? i + same : most;
	}
	while (i < most && (uint8_t)p[i] == spine[i])
		i++;
	return i < most ? i : most;
}

/* What leads on behind a slash. */
struct names {
	const uint8_t *class_of;
	const struct slot *slots; /* of the state there, by class */
	uint32_t next;            /* that state */
	bool pass;                /* over names whose first byte leads back? */
};

/* The first name of PATH that leads on, of those at whose slash FOUND has a bit; 0: none does. */
static inline size_t find_name(const struct names *names, struct str path, size_t at,
			       uint64_t found)
{
	for (; found; found &= found - 1) {
		size_t slash = at + word_leading_zeroes(found), name = slash + 1;

		if (path.p[slash] != '/')
			continue;
		if (!names->pass || name == path.n ||
		    names->slots[names->class_of[(unsigned char)path.p[name]]].state == names->next)
			return name;
	}
	return 0;
}

/*
 * From STATE, out of which only `/` leads, to the first name that leads on: names whose first byte
 * leads back are passed over. *AT of PATH is then behind the slash; its end: that came first.
 */
static inline uint32_t skip_names(const struct dfa *dfa, uint32_t state, struct str path,
				  size_t *at)
{
	uint32_t next = dfa_next(dfa, state, CLASS_SLASH);
	struct names names = {
		.class_of = dfa->classes.of,
		.slots = dfa->slots + dfa->states[next].base,
		.next = next,
		.pass = dfa->states[next].usual == state,
	};
	size_t i = *at, name = 0;

	for (; path.n - i >= WORD && !name; i += WORD)
		name = find_name(&names, path, i, word_find(word_load(path.p + i), '/'));
	if (i < path.n && !name) {
		uint64_t rest = word_load_part(path.p, path.n, i, path.n - i);

		name = find_name(&names, path, i, word_find(rest, '/'));
	}
	*at = name ? name : path.n;
	return name ? next : state;
}

uint32_t dfa_walk(const struct dfa *dfa, uint32_t from, struct str bytes)
{
	uint32_t state = from, base = dfa->states[from].base;

	for (size_t i = 0; i < bytes.n;) {
		unsigned hint = dfa->states[state].hint;
		const struct slot *slot;

		if (hint == HINT_FINAL)
			break;
		if (hint == HINT_SLASH) {
			state = skip_names(dfa, state, bytes, &i);
			base = dfa->states[state].base;
			continue;
		}
		if (hint > HINT_SPINE) {
			size_t length = hint - HINT_SPINE;
			size_t same =
				follow_spine(bytes.p + i, bytes.n - i, dfa->spine + state, length);

			i += same;
			state += (uint32_t)same;
			base = dfa->states[state].base;
			if (same == length || i == bytes.n)
				continue;
		}
		slot = &dfa->slots[base + dfa->classes.of[(unsigned char)bytes.p[i++]]];
		if (slot->state == state) {
			state = slot->target;
			base = slot->base;
		} else {
			state = dfa->states[state].usual;
			base = dfa->states[state].base;
		}
	}
	return state;
}
