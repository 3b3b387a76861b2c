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

struct text {
	struct str bytes; /* in lower case where case does not count */
	enum match match;
	uint32_t place;  /* what the owner calls it; larger counts more */
	uint32_t parent; /* the longest text before this one that it begins with; TEXT_NONE */
};

#define TEXT_NONE UINT32_MAX

struct texts {
	enum target target;
	struct text *list; /* sorted by bytes */
	uint32_t n;
	size_t cap;
};

/* Adds the text of TEST, which is no regular expression. False: no memory. */
bool texts_add(struct texts *texts, struct arena *arena, const struct test *test, uint32_t place);

/* Must come between the last texts_add() and the first texts_find(). */
void texts_sort(struct texts *texts);

/* The largest place of a pattern that matches PATH, plus one; 0: none matches. */
uint32_t texts_find(const struct texts *texts, struct str path);

#endif
