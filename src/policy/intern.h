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
	const uint32_t *words;
	uint32_t n;
	uint32_t hash;
};

/* A zeroed struct with `arena` set is empty. */
struct intern {
	struct arena *arena;
	size_t n_words; /* of all sequences */
	uint32_t *free; /* room for the words of new ones */
	size_t n_free;
	struct interned *list; /* by id */
	size_t n, cap;
	uint32_t *slots; /* hash table of id + 1; 0 is free */
	size_t n_slots;  /* 0 or a power of two */
	size_t n_hashed; /* slots in use */
};

enum {
	INTERN_FAILED = -1
};

/* The id of the sequence, from 0 upwards in order of arrival; INTERN_FAILED: no memory. */
int64_t intern_put(struct intern *intern, const uint32_t *words, size_t n);

/* As intern_put(), of an intern that is given the hashes: equal ones for equal sequences. */
int64_t intern_put_hashed(struct intern *intern, const uint32_t *words, size_t n, uint32_t hash);

/* Gives the sequence a new id; intern_put() never finds it. INTERN_FAILED: no memory. */
int64_t intern_append(struct intern *intern, const uint32_t *words, size_t n);

/* The sequence called ID, which never moves. */
static inline const uint32_t *intern_get(const struct intern *intern, uint32_t id, size_t *ret_n)
{
	*ret_n = intern->list[id].n;
	return intern->list[id].words;
}

#endif
