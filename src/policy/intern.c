/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, linear probing, at most half full. */
#include "policy/intern.h"

#include <string.h>

#include "base/banned.h"

enum {
	SLOTS_MIN = 64
};

static uint32_t hash_words(const uint32_t *words, size_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15u ^ n;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ words[i]) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

/* The slot that holds the sequence, or the free one where it belongs. */
static uint32_t *find(const struct intern *intern, const uint32_t *words, size_t n, uint32_t hash)
{
	size_t mask = intern->n_slots - 1;
	size_t i = hash & mask;

	for (; intern->slots[i]; i = (i + 1) & mask) {
		const struct interned *old = &intern->list[intern->slots[i] - 1];

		if (old->hash == hash && old->n == n &&
		    (n == 0 || memcmp(intern->words + old->first, words, n * sizeof(*words)) == 0))
			break;
	}
	return &intern->slots[i];
}

static bool grow_slots(struct intern *intern)
{
	size_t n = intern->n_slots ? intern->n_slots * 2 : SLOTS_MIN;
	uint32_t *slots = arena_array(intern->arena, n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t id = 0; id < intern->n; id++) {
		size_t i = intern->list[id].hash & (n - 1);

		while (slots[i])
			i = (i + 1) & (n - 1);
		slots[i] = (uint32_t)id + 1;
	}
	intern->slots = slots;
	intern->n_slots = n;
	return true;
}

static bool grow_words(struct intern *intern, size_t n)
{
	size_t cap = intern->cap_words ? intern->cap_words : 256;
	uint32_t *words;

	if (intern->words && intern->cap_words - intern->n_words >= n)
		return true;
	while (cap - intern->n_words < n)
		cap *= 2;
	words = arena_array(intern->arena, cap, sizeof(*words));
	if (!words)
		return false;
	if (intern->words)
		memcpy(words, intern->words, intern->n_words * sizeof(*words));
	intern->words = words;
	intern->cap_words = cap;
	return true;
}

int64_t intern_put(struct intern *intern, const uint32_t *words, size_t n)
{
	uint32_t hash = hash_words(words, n);
	struct interned *list;
	uint32_t *slot;

	if (intern->n * 2 >= intern->n_slots && !grow_slots(intern))
		return INTERN_FAILED;
	slot = find(intern, words, n, hash);
	if (*slot)
		return *slot - 1;
	list = arena_grow(intern->arena, intern->list, intern->n, &intern->cap, sizeof(*list));
	if (!list || intern->n >= UINT32_MAX - 1 || n > UINT32_MAX)
		return INTERN_FAILED;
	intern->list = list;
	if (!grow_words(intern, n))
		return INTERN_FAILED;
	if (n)
		memcpy(intern->words + intern->n_words, words, n * sizeof(*words));
	list[intern->n] = (struct interned){intern->n_words, (uint32_t)n, hash};
	intern->n_words += n;
	*slot = (uint32_t)++intern->n;
	return (int64_t)intern->n - 1;
}
