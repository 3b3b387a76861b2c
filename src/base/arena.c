/* SPDX-License-Identifier: Apache-2.0 */
/* Bump allocation in blocks that double up to 256 KiB; an oversized request gets its own block. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum {
	BLOCK_MIN = 4096,
	BLOCK_MAX = 256 * 1024,
};

struct arena_block {
	struct arena_block *next;
	size_t size; /* bytes in data */
	size_t used;
	alignas(max_align_t) unsigned char data[];
};

static size_t align_up(size_t n)
{
	return (n + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

static struct arena_block *block_new(struct arena *arena, size_t need)
{
	size_t size = arena->head ? arena->head->size * 2 : BLOCK_MIN;
	struct arena_block *block;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size < need)
		size = need;
	block = calloc(1, sizeof(*block) + size);
	if (!block)
		return NULL;
	block->size = size;
	block->next = arena->head;
	arena->head = block;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->head;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = align_up(size ? size : 1);
	if (arena->limit && (size > arena->limit || arena->used > arena->limit - size))
		return NULL;
	if (!block || block->size - block->used < size)
		block = block_new(arena, size);
	if (!block)
		return NULL;
	p = block->data + block->used;
	block->used += size;
	arena->used += size;
	return p;
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return NULL;
	return arena_alloc(arena, n * size);
}

void *arena_grow(struct arena *arena, void *array, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 8;
	void *bigger;

	if (n < *cap)
		return array;
	bigger = arena_array(arena, want, size);
	if (!bigger)
		return NULL;
	if (n)
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

void arena_release(struct arena *arena)
{
	while (arena->head) {
		struct arena_block *next = arena->head->next;

		free(arena->head);
		arena->head = next;
	}
	arena->used = 0;
}
