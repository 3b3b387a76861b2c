/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, linear probing, at most half full. */
#include "policy/intern.h"

#include <string.h>

#include "base/banned.h"

enum {
	SLOTS_MIN = 64,
	FREE_MIN = 64, /* words */
};

static inline uint64_t mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

static uint32_t hash_words(const uint32_t *words, size_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15u ^ n;
	size_t i = 0;

	for (; i + 1 < n; i += 2)
		h = mix(h, words[i] | (uint64_t)words[i + 1] << 32);
	if (i < n)
		h = mix(h, words[i]);
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
		    (n == 0 || memcmp(old->words, words, n * sizeof(*words)) == 0))
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
	for (size_t old = 0; old < intern->n_slots; old++) {
		size_t i;

		if (!intern->slots[old])
			continue;
		i = intern->list[intern->slots[old] - 1].hash & (n - 1);
		while (slots[i])
			i = (i + 1) & (n - 1);
		slots[i] = intern->slots[old];
	}
	intern->slots = slots;
	intern->n_slots = n;
	return true;
}

/* Room for N more words; the more there are, the more comes at once. NULL: no memory. */
static uint32_t *take_words(struct intern *intern, size_t n)
{
	uint32_t *words = intern->free;

	if (!words || intern->n_free < n) {
		size_t more = intern->n_words / 2 > FREE_MIN ? intern->n_words / 2 : FREE_MIN;

		intern->n_free = more > n ? more : n;
		words = arena_array(intern->arena, intern->n_free, sizeof(*words));
	}
	intern->free = words ? words + n : NULL;
	intern->n_free -= n;
	intern->n_words += n;
	return words;
}

/* The new sequence's id. INTERN_FAILED: no memory. */
static int64_t append(struct intern *intern, const uint32_t *words, size_t n, uint32_t hash)
{
	struct interned *list =
		arena_grow(intern->arena, intern->list, intern->n, &intern->cap, sizeof(*list));
	uint32_t *copy;

	if (!list || intern->n >= UINT32_MAX - 1 || n > UINT32_MAX)
		return INTERN_FAILED;
	intern->list = list;
	copy = take_words(intern, n);
	if (!copy)
		return INTERN_FAILED;
	if (n)
		memcpy(copy, words, n * sizeof(*words));
	list[intern->n] = (struct interned){copy, (uint32_t)n, hash};
	return (int64_t)intern->n++;
}

int64_t intern_append(struct intern *intern, const uint32_t *words, size_t n)
{
	return append(intern, words, n, 0);
}

int64_t intern_put(struct intern *intern, const uint32_t *words, size_t n)
{
	return intern_put_hashed(intern, words, n, hash_words(words, n));
}

int64_t intern_put_hashed(struct intern *intern, const uint32_t *words, size_t n, uint32_t hash)
{
	uint32_t *slot;
	int64_t id;

	if (intern->n_hashed * 2 >= intern->n_slots && !grow_slots(intern))
		return INTERN_FAILED;
	slot = find(intern, words, n, hash);
	if (*slot)
		return *slot - 1;
	id = append(intern, words, n, hash);
	if (id < 0)
		return id;
	intern->n_hashed++;
	*slot = (uint32_t)id + 1;
	return id;
}
