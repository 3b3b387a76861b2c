/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, linear probing, at most half full. */
#include "base/map.h"

#include <stdint.h>
#include <string.h>

#include "base/banned.h"

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

/* Keys can be long: eight bytes at a time. */
static size_t hash_key(struct str key)
{
	uint64_t h = key.n, word = 0;
	size_t i = 0;

	for (; key.n - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, key.p + i, sizeof(word));
		h = mix(h, word);
	}
	for (word = 0; i < key.n; i++)
		word = word << 8 | (unsigned char)key.p[i];
	return (size_t)mix(h, word);
}

static struct map_slot *find(const struct map *map, struct str key, size_t hash)
{
	size_t i = hash & (map->cap - 1);

	while (map->slots[i].key.p &&
	       (map->slots[i].hash != hash || !str_eq(map->slots[i].key, key)))
		i = (i + 1) & (map->cap - 1);
	return &map->slots[i];
}

void *map_get(const struct map *map, struct str key)
{
	return map->cap ? find(map, key, hash_key(key))->value : NULL;
}

static int grow(struct map *map)
{
	struct map bigger = {.arena = map->arena, .cap = map->cap ? map->cap * 2 : 16};

	bigger.slots = arena_array(map->arena, bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (size_t i = 0; i < map->cap; i++) {
		const struct map_slot *slot = &map->slots[i];

		if (!slot->key.p)
			continue;
		*find(&bigger, slot->key, slot->hash) = *slot;
		bigger.n++;
	}
	*map = bigger;
	return 0;
}

int map_put(struct map *map, struct str key, void *value)
{
	struct map_slot *slot;
	size_t hash;

	if (map->n * 2 >= map->cap && grow(map) < 0)
		return -1;
	hash = hash_key(key);
	slot = find(map, key, hash);
	if (!slot->key.p) {
		slot->key = key.p ? key : STR("");
		slot->hash = hash;
		map->n++;
	}
	slot->value = value;
	return 0;
}
