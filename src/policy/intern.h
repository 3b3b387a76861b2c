/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern: sequences of words to dense ids, equal sequences to equal ids. Sets
 * of NFA nodes, accept sets, decision chains, conditions: whatever must be
 * compared often is interned once and compared as a number.
 */
#ifndef POLICY_INTERN_H
#define POLICY_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct interned {
	size_t first; /* index into words */
	uint32_t n;
	uint32_t hash;
};

/* A zeroed struct with `arena` set is empty. */
struct intern {
	struct arena *arena;
	uint32_t *words; /* all sequences, one after the other */
	size_t n_words, cap_words;
	struct interned *list; /* by id */
	size_t n, cap;
	uint32_t *slots; /* hash table of id + 1; 0 is free */
	size_t n_slots;  /* 0 or a power of two */
};

enum {
	INTERN_FAILED = -1
};

/* The id of the sequence, from 0 upwards in order of arrival; INTERN_FAILED: no memory. */
int64_t intern_put(struct intern *intern, const uint32_t *words, size_t n);

/* The sequence called ID, valid until the next intern_put(). */
static inline const uint32_t *intern_get(const struct intern *intern, uint32_t id, size_t *ret_n)
{
	*ret_n = intern->list[id].n;
	return intern->words + intern->list[id].first;
}

#endif
