/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts: many literal, prefix and subpath patterns, asked at once which of
 * them match a path. Costs next to nothing to build, unlike an automaton.
 */
#ifndef POLICY_TEXTS_H
#define POLICY_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "policy/policy.h"

/* What comes behind a text that a path begins with. */
enum text_next {
	TEXT_END, /* nothing */
	TEXT_SLASH,
	TEXT_OTHER,
	TEXT_NEXT_COUNT
};

/* A text that patterns have. */
struct text {
	struct str bytes; /* in lower case where case does not count */
	/* The largest place of what matches a path that begins with it, plus one; 0: nothing. */
	uint32_t best[TEXT_NEXT_COUNT];
};

struct text_slot {
	uint32_t hash;
	uint32_t text; /* index into list, plus one; 0: free */
};

/* The texts of one length. */
struct text_length {
	size_t n;
	bool asks[TEXT_NEXT_COUNT]; /* does what follows make one of them match? */
};

struct texts {
	enum target target;
	struct text *list; /* until texts_index() one for each pattern, then sorted by bytes */
	uint32_t n;
	size_t cap;

	struct text_slot *slots; /* by hash of the bytes; a power of two of them; not all texts */
	uint32_t mask;
	struct text_length *lengths; /* ascending */
	uint32_t n_lengths;
};

/*
 * Adds the text of TEST, which is no regular expression. PLACE is what the owner calls it; a larger
 * one counts more. False: no memory.
 */
bool texts_add(struct texts *texts, struct arena *scratch, const struct test *test, uint32_t place);

/*
 * Must come between the last texts_add() and the first texts_find(). What is kept goes to ARENA,
 * but for the bytes of the tests. False: no memory.
 */
bool texts_index(struct texts *texts, struct arena *arena, struct arena *scratch);

/* The largest place of a pattern that matches PATH, plus one; 0: none matches. */
uint32_t texts_find(const struct texts *texts, struct str path);

#endif
