/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pages.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/banned.h"

#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

enum {
	PAGE = 4096, /* or more: then what is given back may be refused, and stays */
	PAGE_LARGE = 2 * 1024 * 1024,
	REGION = 2 * PAGE_LARGE,
	PIECES_MAX = 64,
};

/* Part of the region; the pieces lie side by side and fill it. */
struct piece {
	uint32_t first, end;
	bool taken;
	bool touched; /* it may have pages, and some that are not zero */
};

static struct {
	pthread_mutex_t lock;
	unsigned char *p; /* NULL: there is none */
	struct piece pieces[PIECES_MAX];
	uint32_t n;
	uint32_t n_taken;
} region = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Pieces ---- */

static void insert_piece(uint32_t at, struct piece piece)
{
	memmove(&region.pieces[at + 1], &region.pieces[at],
		(region.n - at) * sizeof(*region.pieces));
	region.pieces[at] = piece;
	region.n++;
}

static void remove_piece(uint32_t at)
{
	region.n--;
	memmove(&region.pieces[at], &region.pieces[at + 1],
		(region.n - at) * sizeof(*region.pieces));
}

/* Joins the free pieces at AT and behind it. */
static void join_pieces(uint32_t at)
{
	struct piece *piece = &region.pieces[at], *next = piece + 1;

	if (at + 1 >= region.n || piece->taken || next->taken)
		return;
	piece->end = next->end;
	piece->touched |= next->touched;
	remove_piece(at + 1);
}

/* The first free piece of SIZE bytes, or `n`. */
static uint32_t find_piece(size_t size)
{
	uint32_t at = 0;

	while (at < region.n &&
	       (region.pieces[at].taken || region.pieces[at].end - region.pieces[at].first < size))
		at++;
	return at;
}

/* Splits the piece AT behind SIZE bytes, if there are more. False: no room for one more. */
static bool split_piece(uint32_t at, size_t size)
{
	struct piece *piece = &region.pieces[at], rest = *piece;

	if (piece->end - piece->first == size)
		return true;
	if (region.n == PIECES_MAX)
		return false;
	rest.first += (uint32_t)size;
	piece->end = rest.first;
	insert_piece(at + 1, rest);
	return true;
}

/* NULL: there is no room. Zeroes are written late: what is given back last is not needed again. */
static unsigned char *take_piece(size_t size, bool *ret_touched)
{
	uint32_t at = find_piece(size);
	struct piece *piece = &region.pieces[at];

	if (at == region.n || !split_piece(at, size))
		return NULL;
	*ret_touched = piece->touched;
	if (piece->touched)
		memset(region.p + piece->first, 0, size);
	piece->taken = piece->touched = true;
	region.n_taken++;
	return region.p + piece->first;
}

/* The piece that begins at P, one that is taken. */
static uint32_t piece_at(const unsigned char *p)
{
	uint32_t at = 0;

	while (region.p + region.pieces[at].first != p)
		at++;
	return at;
}

static void free_piece(uint32_t at)
{
	region.pieces[at].taken = false;
	join_pieces(at);
	if (at > 0)
		join_pieces(at - 1);
}

/* ---- The region ---- */

/* A large page begins at a multiple of its size. */
static unsigned char *map_aligned(void)
{
	unsigned char *p = mmap(NULL, REGION + PAGE_LARGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t skip;

	if (p == MAP_FAILED)
		return NULL;
	skip = (PAGE_LARGE - (uintptr_t)p % PAGE_LARGE) % PAGE_LARGE;
	if (skip)
		(void)munmap(p, skip);
	(void)munmap(p + skip + REGION, PAGE_LARGE - skip);
#ifdef MADV_HUGEPAGE
	(void)madvise(p + skip, REGION, MADV_HUGEPAGE);
#endif
	return p + skip;
}

static void lock(void)
{
	(void)pthread_mutex_lock(&region.lock);
}

static void unlock(void)
{
	(void)pthread_mutex_unlock(&region.lock);
}

static void make_region(void)
{
	static bool known;

	/* A child of a process that has other threads goes on with what there is. */
	if (!known)
		(void)pthread_atfork(lock, unlock, unlock);
	known = true;
	region.p = map_aligned();
	region.pieces[0] = (struct piece){0, REGION, false, false};
	region.n = region.p ? 1 : 0;
}

/* ---- The interface ---- */

static size_t whole_pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

void *pages_take(size_t size)
{
	unsigned char *p = NULL;
	bool touched = false;
	void *mapped;

	if (size <= REGION) {
		lock();
		if (!region.p)
			make_region();
		p = region.p ? take_piece(whole_pages(size), &touched) : NULL;
		unlock();
	}
	if (p) {
#ifdef MADV_POPULATE_WRITE
		if (!touched)
			(void)madvise(p, whole_pages(size), MADV_POPULATE_WRITE);
#endif
		return p;
	}
	mapped = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return mapped == MAP_FAILED ? NULL : mapped;
}

static bool is_in_region(const unsigned char *p)
{
	return region.p && p >= region.p && p < region.p + REGION;
}

void pages_give(void *p, size_t size)
{
	bool ours;

	lock();
	ours = is_in_region(p);
	if (ours) {
		region.n_taken--;
		free_piece(piece_at(p));
	}
	unlock();
	if (!ours)
		(void)munmap(p, size);
}

size_t pages_shrink(void *p, size_t size, size_t used)
{
	size_t kept = whole_pages(used);

	if (kept >= size)
		return size;
	lock();
	if (is_in_region(p)) {
		uint32_t at = piece_at(p);

		if (split_piece(at, kept))
			free_piece(at + 1);
		else
			kept = size;
	} else if (munmap((unsigned char *)p + kept, size - kept) < 0) {
		kept = size;
	}
	unlock();
	return kept;
}

void pages_trim(void)
{
	lock();
	if (region.p && region.n_taken == 0) {
		(void)munmap(region.p, REGION);
		region.p = NULL;
	}
	for (uint32_t i = 0; region.p && i < region.n; i++) {
		struct piece *piece = &region.pieces[i];

		if (piece->taken || !piece->touched)
			continue;
		piece->touched = madvise(region.p + piece->first, piece->end - piece->first,
					 MADV_DONTNEED) < 0;
	}
	unlock();
}
