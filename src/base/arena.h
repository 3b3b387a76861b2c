/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena: memory that dies together. One arena per compiled policy, per plan,
 * per parse; arena_release() is the only free. A zeroed struct is a valid,
 * empty arena without a limit.
 *
 * Every allocation counts against `limit` (bytes, 0: none), so hostile input
 * meets an error instead of our memory, and a test can fail allocation number
 * N for every N.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct arena_block;

/*
 * Bytes that are left for several arenas together. A pool is taken away again before an arena that
 * had memory from elsewhere is released.
 */
struct arena_pool {
	size_t memory;
};

struct arena {
	struct arena_block *head;
	struct arena_pool *pool; /* or NULL */
	size_t used;             /* bytes handed out, rounding included */
	size_t limit;            /* 0: no limit */
	bool large; /* for megabytes that die soon: has large pages where the system has them */
};

/* Returns SIZE zeroed bytes aligned for any object, or NULL: limit reached or out of memory. */
void *arena_alloc(struct arena *arena, size_t size);

/* As arena_alloc(N * SIZE), with NULL on overflow. */
void *arena_array(struct arena *arena, size_t n, size_t size);

/*
 * Room for one more element in an array of *CAP elements of which N are used: returns the old
 * array or a larger copy, and updates *CAP. NULL as in arena_alloc(); the old array stays valid.
 */
static inline void *arena_grow(struct arena *arena, void *array, size_t n, size_t *cap,
			       size_t size);

/* What arena_grow() does once N is *CAP. */
void *arena_enlarge(struct arena *arena, void *array, size_t *cap, size_t size);

static inline void *arena_grow(struct arena *arena, void *array, size_t n, size_t *cap, size_t size)
{
	return n < *cap ? array : arena_enlarge(arena, array, cap, size);
}

/* Copies of N bytes / of a slice, each followed by a NUL. NULL as in arena_alloc(). */
char *arena_memdup(struct arena *arena, const void *p, size_t n);
char *arena_strdup(struct arena *arena, struct str s);

/* A copy of S, with what str_fold() makes of each byte. NULL as in arena_alloc(). */
char *arena_fold(struct arena *arena, struct str s);

/* N slices one after the other, and a NUL. NULL as in arena_alloc(). */
char *arena_join(struct arena *arena, const struct str *parts, size_t n);

/* printf into the arena. NULL as in arena_alloc(). */
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Gives unused memory back to the system: for an arena that will not grow any more. */
void arena_trim(struct arena *arena);

/* Frees everything but one block, for the next use; as arena_release() otherwise. */
void arena_reset(struct arena *arena);

/* Frees everything; the arena is empty and usable again, its limit unchanged. */
void arena_release(struct arena *arena);

#endif
