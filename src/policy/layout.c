/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables alone cost a dependent load per byte. Three things make most bytes
 * cheaper:
 *
 * - A state that nothing leads out of ends the walk.
 * - A state that only `/` leads out of (inside a component where no pattern
 *   is under way) is left by a search for the next `/`.
 * - States on a line, as along a literal path, are numbered one after the
 *   other, and spine[s] is the byte that leads from s to s + 1: as many bytes
 *   as the input and the spine have in common are eight at a time.
 */
#include "policy/layout.h"

#include <string.h>

#include "base/banned.h"

enum hint {
	HINT_NONE,
	HINT_FINAL,    /* every byte leads back */
	HINT_SLASH,    /* every byte but `/` leads back */
	HINT_SPINE,    /* this and above: a spine of hint - HINT_SPINE bytes begins here */
	SPINE_MIN = 4, /* shorter ones are not worth a look */
	SPINE_MAX = UINT8_MAX - HINT_SPINE,
	WORD = sizeof(uint64_t),
};

static const uint32_t UNNUMBERED = UINT32_MAX;

/* ---- Numbering ---- */

struct layout {
	const struct quotient *from;
	const struct byte_classes *classes;
	uint32_t start;   /* its block */
	uint32_t n;       /* blocks in reach */
	uint32_t *order;  /* those, breadth first */
	uint32_t *number; /* by block: the number of the state it becomes */
	uint32_t *old;    /* the way back */
	uint8_t *spine;
	uint8_t byte_of[BYTES]; /* by class: a byte of it */
	bool narrow[BYTES];     /* by class: one letter, perhaps in both cases */
};

static void reach(struct layout *l, uint32_t block)
{
	if (l->number[block] != UNNUMBERED)
		return;
	l->number[block] = 0;
	l->order[l->n++] = block;
}

/* Fills order; number serves as the mark. */
static void find_reachable(struct layout *l)
{
	const uint32_t *block_of = l->from->block;

	for (uint32_t block = 0; block < l->from->n; block++)
		l->number[block] = UNNUMBERED;
	reach(l, l->start);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct row *row = quotient_row(l->from, l->order[i]);

		reach(l, block_of[row->usual]);
		for (uint32_t j = 0; j < row->n; j++)
			reach(l, block_of[quotient_turns(l->from, row)[j].target]);
	}
	for (uint32_t block = 0; block < l->from->n; block++)
		l->number[block] = UNNUMBERED;
}

static void describe_classes(struct layout *l)
{
	unsigned size[BYTES] = {0};

	for (unsigned byte = 0; byte < BYTES; byte++) {
		unsigned cls = l->classes->of[byte];

		l->byte_of[cls] = (uint8_t)byte;
		l->narrow[cls] = ++size[cls] <= 2;
	}
}

/* The first turn over a narrow class from BLOCK to one without a number, or NULL. */
static const struct turn *find_spine(const struct layout *l, uint32_t block)
{
	const struct row *row = quotient_row(l->from, block);
	const struct turn *turns = quotient_turns(l->from, row);

	for (uint32_t i = 0; i < row->n; i++)
		if (l->narrow[turns[i].cls] &&
		    l->number[l->from->block[turns[i].target]] == UNNUMBERED)
			return &turns[i];
	return NULL;
}

static void number_states(struct layout *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t block = l->order[i];

		while (l->number[block] == UNNUMBERED) {
			const struct turn *turn;

			l->number[block] = n;
			l->old[n] = block;
			turn = find_spine(l, block);
			if (turn) {
				l->spine[n] = l->byte_of[turn->cls];
				block = l->from->block[turn->target];
			}
			n++;
		}
	}
}

/* ---- The tables ---- */

/* Does every byte (BUT_SLASH: or every byte but `/`) lead from STATE back to it? */
static bool stays(const struct dfa *dfa, uint32_t state, bool but_slash)
{
	for (unsigned cls = 0; cls < dfa->classes.n; cls++)
		if (dfa_next(dfa, state, cls) != state && !(but_slash && cls == CLASS_SLASH))
			return false;
	return true;
}

/* Does spine[STATE] lead to STATE + 1? */
static bool has_spine(const struct dfa *dfa, uint32_t state)
{
	return state + 1 < dfa->n_states &&
	       dfa_next(dfa, state, dfa->classes.of[dfa->spine[state]]) == state + 1;
}

static void set_hints(const struct dfa *dfa, uint8_t *hint)
{
	unsigned length = 0;

	for (uint32_t state = dfa->n_states; state-- > 0;) {
		length = !has_spine(dfa, state) ? 0 : length < SPINE_MAX ? length + 1 : SPINE_MAX;
		if (stays(dfa, state, false))
			hint[state] = HINT_FINAL;
		else if (stays(dfa, state, true))
			hint[state] = HINT_SLASH;
		else if (length >= SPINE_MIN)
			hint[state] = (uint8_t)(HINT_SPINE + length);
	}
}

static void fill_row(const struct layout *l, const struct row *row, uint32_t *next)
{
	const uint32_t *block_of = l->from->block;
	uint32_t usual = l->number[block_of[row->usual]];

	for (unsigned cls = 0; cls < l->classes->n; cls++)
		next[cls] = usual;
	for (uint32_t i = 0; i < row->n; i++) {
		const struct turn *turn = &quotient_turns(l->from, row)[i];

		next[turn->cls] = l->number[block_of[turn->target]];
	}
}

static bool fill_tables(const struct layout *l, struct arena *arena, struct dfa *ret)
{
	unsigned n_classes = l->classes->n;
	const struct subsets *subsets = l->from->subsets;
	uint32_t *next = arena_array(arena, (size_t)l->n * n_classes, sizeof(*next));
	uint32_t *label = arena_array(arena, l->n, sizeof(*label));
	uint8_t *hint = arena_array(arena, l->n, sizeof(*hint));

	if (!next || !label || !hint)
		return false;
	for (uint32_t state = 0; state < l->n; state++) {
		uint32_t block = l->old[state];

		label[state] = l->from->labels[subsets->accept[l->from->state[block]]];
		fill_row(l, quotient_row(l->from, block), next + (size_t)state * n_classes);
	}
	*ret = (struct dfa){
		.n_states = l->n,
		.start = l->number[l->start],
		.classes = *l->classes,
		.next = next,
		.label = label,
		.hint = hint,
		.spine = l->spine,
	};
	set_hints(ret, hint);
	return true;
}

bool dfa_lay_out(const struct quotient *quotient, struct arena *arena, struct arena *scratch,
		 struct dfa *ret)
{
	struct layout l = {
		.from = quotient,
		.classes = &quotient->subsets->classes,
		.start = quotient->block[SUBSET_START],
	};

	l.order = arena_array(scratch, quotient->n, sizeof(*l.order));
	l.number = arena_array(scratch, quotient->n, sizeof(*l.number));
	l.old = arena_array(scratch, quotient->n, sizeof(*l.old));
	l.spine = arena_array(arena, (size_t)quotient->n + WORD, sizeof(*l.spine));
	if (!l.order || !l.number || !l.old || !l.spine)
		return false;
	find_reachable(&l);
	describe_classes(&l);
	number_states(&l);
	return fill_tables(&l, arena, ret);
}

/* ---- Walking ---- */

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

	for (; i < most; i += WORD) {
		unsigned same;

		if (n - i < WORD)
			return i;
		same = leading_zero_bytes(load_word(p + i) ^ load_word(spine + i));
		if (same < WORD)
			return i + same < most ? i + same : most;
	}
	return most;
}

uint32_t dfa_walk(const struct dfa *dfa, uint32_t from, struct str bytes)
{
	const char *p = bytes.p, *end = bytes.n > 0 ? bytes.p + bytes.n : p;
	uint32_t state = from;

	while (p < end) {
		uint8_t hint = dfa->hint[state];

		if (hint == HINT_FINAL)
			break;
		if (hint == HINT_SLASH) {
			p = find_slash(p, end);
			if (p == end)
				break;
		} else if (hint > HINT_SPINE) {
			size_t same = follow_spine(p, (size_t)(end - p), dfa->spine + state,
						   (size_t)hint - HINT_SPINE);

			p += same;
			state += (uint32_t)same;
			if (same > 0)
				continue;
		}
		state = dfa_next(dfa, state, dfa->classes.of[(unsigned char)*p++]);
	}
	return state;
}
