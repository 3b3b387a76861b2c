/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages: memory for the larger blocks of arenas. What they take first comes from one region of
 * large pages, where the system has them: to fault in small pages, one by one or all at once, takes
 * longer than what is done with most of them. Safe in several threads.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/* SIZE zeroed bytes, which begin at a page. NULL: out of memory. */
void *pages_take(size_t size);

/* Takes back what pages_take() gave. */
void pages_give(void *p, size_t size);

/*
 * Takes back what lies behind the first USED of SIZE bytes. Returns how many are left: pages_give()
 * wants to be told that.
 */
size_t pages_shrink(void *p, size_t size, size_t used);

/* Gives to the system what is not in use. */
void pages_trim(void);

#endif
