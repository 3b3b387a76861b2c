/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bump allocation in blocks that double up to 256 KiB; an oversized request gets its own block.
 * The larger ones are whole pages. A large arena goes on with blocks of 2 MiB: one fault for a
 * large page costs a quarter of the 512 it stands for. Large requests are powers of two mostly:
 * they fill such blocks, whose headers lie in front.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "base/pages.h"
#include "base/banned.h"

enum {
	BLOCK_MIN = 4096,
	BLOCK_MAX = 256 * 1024,
	BLOCK_PAGED = 64 * 1024, /* from this size on */
	BLOCK_LARGE = 2 * 1024 * 1024,
	LARGE_FIRST = 128 * 1024, /* the first block of a large arena, */
	LARGE_FROM = 1024 * 1024, /* which is one once it has so much */
	LARGE_FRONT = 64 * 1024,  /* before the data of a large one: no page is larger */
};

/* The address sanitizer sees no objects in a block unless it is told; FENCE bytes lie between. */
#ifdef __SANITIZE_ADDRESS__
enum {
	FENCE = 16
};
#define fence(p, n)      __asan_poison_memory_region(p, n)
#define open_fence(p, n) __asan_unpoison_memory_region(p, n)
#else
enum {
	FENCE = 0
};
#define fence(p, n)      ((void)(p), (void)(n))
#define open_fence(p, n) ((void)(p), (void)(n))
#endif

struct arena_block {
	struct arena_block *next;
	size_t size; /* bytes in data */
	size_t used;
	bool paged; /* from pages_take() */
	bool large; /* begins LARGE_FRONT bytes before data */
	alignas(max_align_t) unsigned char data[];
};

static_assert(offsetof(struct arena_block, data) == sizeof(struct arena_block),
	      "a large block is found from its data");

static size_t align_up(size_t n)
{
	return (n + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

/* A block for SIZE bytes, a multiple of BLOCK_LARGE. NULL: out of memory. */
static struct arena_block *block_map_large(size_t size)
{
	size_t room = LARGE_FRONT + size, skip;
	unsigned char *p, *data;
	struct arena_block *block;

	if (size > SIZE_MAX / 2)
		return NULL;
	p = mmap(NULL, room + BLOCK_LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		 0);
	if (p == MAP_FAILED)
		return NULL;
	/* A large page begins at a multiple of its size, and so do the data. */
	skip = (BLOCK_LARGE - ((uintptr_t)p + LARGE_FRONT) % BLOCK_LARGE) % BLOCK_LARGE;
	if (skip)
		(void)munmap(p, skip);
	(void)munmap(p + skip + room, BLOCK_LARGE - skip);
	data = p + skip + LARGE_FRONT;
#ifdef MADV_HUGEPAGE
	(void)madvise(data, size, MADV_HUGEPAGE);
#endif
	block = (struct arena_block *)(void *)(data - sizeof(*block));
	block->size = size;
	block->large = true;
	return block;
}

/* A block for SIZE zeroed bytes. NULL: out of memory. */
static struct arena_block *block_map(size_t size)
{
	size_t whole = sizeof(struct arena_block) + size;
	bool paged = whole >= BLOCK_PAGED;
	struct arena_block *block = paged ? pages_take(whole) : calloc(1, whole);
	if (!block)
		return NULL;
	block->size = size;
	block->paged = paged;
	return block;
}

static void block_unmap(struct arena_block *block)
{
	size_t whole = sizeof(*block) + block->size;

	open_fence(block->data, block->size);
	if (block->large)
		(void)munmap(block->data - LARGE_FRONT, LARGE_FRONT + block->size);
	else if (!block->paged)
		free(block);
	else
		pages_give(block, whole);
}

static size_t free_in(const struct arena_block *block)
{
	return block->size - block->used;
}

/* A block with NEED bytes free. It is the arena's head unless that will have more left. */
static struct arena_block *block_new(struct arena *arena, size_t need)
{
	struct arena_block *block, *head = arena->head;
	size_t size = head ? head->size * 2 : arena->large ? LARGE_FIRST : BLOCK_MIN;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size < need)
		size = need;
	if (arena->large && arena->used + size > LARGE_FROM)
		block = block_map_large((size + BLOCK_LARGE - 1) / BLOCK_LARGE * BLOCK_LARGE);
	else
		block = block_map(size);
	if (!block)
		return NULL;
	if (head && free_in(head) > block->size - need) {
		block->next = head->next;
		head->next = block;
	} else {
		block->next = head;
		arena->head = block;
	}
	fence(block->data, block->size);
	return block;
}

static bool has_room(const struct arena *arena, size_t size)
{
	if (arena->pool && arena->pool->memory < size)
		return false;
	return !arena->limit || (size <= arena->limit && arena->used <= arena->limit - size);
}

static void take(struct arena *arena, size_t size)
{
	arena->used += size;
	if (arena->pool)
		arena->pool->memory -= size;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->head;
	size_t exact = size;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = align_up(size ? size : 1);
	if (!has_room(arena, size))
		return NULL;
	if (!block || free_in(block) < size + FENCE)
		block = block_new(arena, size + FENCE);
	if (!block)
		return NULL;
	p = block->data + block->used;
	open_fence(p, exact);
	block->used += size + FENCE;
	take(arena, size);
	return p;
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return NULL;
	return arena_alloc(arena, n * size);
}

/* Makes the array of OLD bytes, if nothing was allocated after it, one of NEW bytes. */
static bool extend(struct arena *arena, const void *array, size_t old, size_t new)
{
	struct arena_block *block = arena->head;
	size_t exact = new;

	old = align_up(old);
	if (!block || block->used < old + FENCE ||
	    array != block->data + block->used - FENCE - old || new > SIZE_MAX / 2)
		return false;
	new = align_up(new);
	if (block->size - block->used < new - old || !has_room(arena, new - old))
		return false;
	open_fence(array, exact);
	block->used += new - old;
	take(arena, new - old);
	return true;
}

void *arena_enlarge(struct arena *arena, void *array, size_t *cap, size_t size)
{
	size_t n = *cap, want = n ? n * 2 : 8;
	void *bigger;

	if (array && want <= SIZE_MAX / size && extend(arena, array, *cap * size, want * size)) {
		*cap = want;
		return array;
	}
	bigger = arena_array(arena, want, size);
	if (!bigger)
		return NULL;
	if (array)
		memcpy(bigger, array, n * size);
	*cap = want;
	return bigger;
}

char *arena_memdup(struct arena *arena, const void *p, size_t n)
{
	char *copy = n < SIZE_MAX ? arena_alloc(arena, n + 1) : NULL;

	if (copy && n)
		memcpy(copy, p, n);
	return copy;
}

char *arena_strdup(struct arena *arena, struct str s)
{
	return arena_memdup(arena, s.p, s.n);
}

char *arena_fold(struct arena *arena, struct str s)
{
	char *copy = arena_strdup(arena, s);

	for (size_t i = 0; copy && i < s.n; i++)
		copy[i] = str_fold(copy[i]);
	return copy;
}

char *arena_join(struct arena *arena, const struct str *parts, size_t n)
{
	size_t size = 1;
	char *text, *end;

	for (size_t i = 0; i < n; i++) {
		if (parts[i].n >= SIZE_MAX / 2 - size)
			return NULL;
		size += parts[i].n;
	}
	text = end = arena_alloc(arena, size);
	for (size_t i = 0; i < n && text; i++) {
		if (parts[i].n)
			memcpy(end, parts[i].p, parts[i].n);
		end += parts[i].n;
	}
	return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	text = arena_alloc(arena, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(ap, format);
	n = vsnprintf(text, (size_t)n + 1, format, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

void arena_trim(struct arena *arena)
{
	for (struct arena_block *block = arena->head; block; block = block->next) {
		size_t whole = sizeof(*block) + block->size;

		if (!block->paged)
			continue;
		open_fence(block->data + block->used, free_in(block));
		whole = pages_shrink(block, whole, sizeof(*block) + block->used);
		block->size = whole - sizeof(*block);
		fence(block->data + block->used, free_in(block));
	}
}

void arena_reset(struct arena *arena)
{
	struct arena_block *kept = arena->head;

	if (!kept)
		return;
	arena->head = kept->next;
	arena_release(arena);
	open_fence(kept->data, kept->used);
	memset(kept->data, 0, kept->used);
	fence(kept->data, kept->size);
	kept->used = 0;
	kept->next = NULL;
	arena->head = kept;
}

void arena_release(struct arena *arena)
{
	while (arena->head) {
		struct arena_block *next = arena->head->next;

		block_unmap(arena->head);
		arena->head = next;
	}
	if (arena->pool)
		arena->pool->memory += arena->used;
	arena->used = 0;
}
