/* SPDX-License-Identifier: Apache-2.0 */
/* byteset: a set of bytes. */
#ifndef POLICY_BYTESET_H
#define POLICY_BYTESET_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BYTES = 256
};

struct byteset {
	uint64_t w[BYTES / 64];
};

static inline void byteset_add(struct byteset *set, unsigned byte)
{
	set->w[byte / 64] |= (uint64_t)1 << byte % 64;
}

static inline bool byteset_has(const struct byteset *set, unsigned byte)
{
	return set->w[byte / 64] >> byte % 64 & 1;
}

/* The lowest member from BYTE on, or BYTES. */
static inline unsigned byteset_next(const struct byteset *set, unsigned byte)
{
	for (unsigned i = byte / 64; i < BYTES / 64; i++) {
		uint64_t word = set->w[i];

		if (i == byte / 64)
			word &= ~(uint64_t)0 << byte % 64;
		if (word)
			return i * 64 + (unsigned)__builtin_ctzll(word);
	}
	return BYTES;
}

static inline void byteset_unite(struct byteset *set, const struct byteset *other)
{
	for (unsigned i = 0; i < BYTES / 64; i++)
		set->w[i] |= other->w[i];
}

static inline void byteset_invert(struct byteset *set)
{
	for (unsigned i = 0; i < BYTES / 64; i++)
		set->w[i] = ~set->w[i];
}

/* Adds the other ASCII case of every letter in the set. */
static inline void byteset_fold(struct byteset *set)
{
	for (unsigned lower = 'a'; lower <= 'z'; lower++) {
		unsigned upper = lower - 'a' + 'A';

		if (byteset_has(set, lower))
			byteset_add(set, upper);
		else if (byteset_has(set, upper))
			byteset_add(set, lower);
	}
}

#endif
