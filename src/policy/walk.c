/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables alone cost dependent loads per byte. Hints make most bytes cheaper: a
 * walk ends in a final state, searches for the next `/` where only that leads on
 * (inside a component where no pattern is under way), and compares eight bytes
 * at a time with a spine.
 */
#include "policy/dfa.h"

#include <string.h>

#include "base/banned.h"

enum {
	WORD = DFA_WORD
};

size_t dfa_size(const struct dfa *dfa)
{
	return sizeof(*dfa) + dfa->n_states * (sizeof(*dfa->states) + sizeof(*dfa->spine)) +
	       dfa->n_slots * sizeof(*dfa->slots);
}

static inline uint64_t load_word(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* Bytes before the first non-zero one. */
static inline unsigned leading_zero_bytes(uint64_t word)
{
	return word ? (unsigned)__builtin_ctzll(word) / 8 : WORD;
}

/* The first `/` from P on, or END. */
static inline const char *find_slash(const char *p, const char *end)
{
	static const uint64_t ones = 0x0101010101010101u;

	for (; end - p >= WORD; p += WORD) {
		uint64_t word = load_word(p) ^ ones * '/';
		uint64_t zeroes = (word - ones) & ~word & ones << 7;

		if (zeroes)
			return p + leading_zero_bytes(zeroes);
	}
	while (p < end && *p != '/')
		p++;
	return p;
}

/* How many of the N bytes at P are those of the spine that begins at SPINE and has LENGTH bytes. */
static inline size_t follow_spine(const char *p, size_t n, const uint8_t *spine, size_t length)
{
	size_t most = n < length ? n : length, i = 0;

	for (; n - i >= WORD && i < most; i += WORD) {
		unsigned same = leading_zero_bytes(load_word(p + i) ^ load_word(spine + i));

		if (same < WORD)
			return i + same < most ? i + same : most;
	}
	while (i < most && (uint8_t)p[i] == spine[i])
		i++;
	return i < most ? i : most;
}

/*
 * From STATE, out of which only `/` leads, to the first name that leads on: names whose first byte
 * leads back are passed over. *P is then behind the slash; END: that came first.
 */
static inline uint32_t skip_names(const struct dfa *dfa, uint32_t state, const char **p,
				  const char *end)
{
	uint32_t next = dfa_next(dfa, state, CLASS_SLASH), usual = dfa->states[next].usual;
	const struct slot *slots = dfa->slots + dfa->states[next].base;

	for (;; ++*p) {
		*p = find_slash(*p, end);
		if (*p == end)
			return state;
		if (++*p == end || usual != state ||
		    slots[dfa->classes.of[(unsigned char)**p]].state == next)
			return next;
	}
}

uint32_t dfa_walk(const struct dfa *dfa, uint32_t from, struct str bytes)
{
	const char *p = bytes.p, *end = bytes.n > 0 ? bytes.p + bytes.n : p;
	uint32_t state = from;

	while (p < end) {
		unsigned hint = dfa->states[state].hint;

		if (hint == HINT_FINAL)
			break;
		if (hint == HINT_SLASH) {
			state = skip_names(dfa, state, &p, end);
			continue;
		}
		if (hint > HINT_SPINE) {
			size_t length = hint - HINT_SPINE;
			size_t same =
				follow_spine(p, (size_t)(end - p), dfa->spine + state, length);

			p += same;
			state += (uint32_t)same;
			if (same == length || p == end)
				continue;
		}
		state = dfa_next(dfa, state, dfa->classes.of[(unsigned char)*p++]);
	}
	return state;
}
