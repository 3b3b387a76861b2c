/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, linear probing, at most half full; FNV-1a. */
#include "base/map.h"

#include <stdint.h>

#include "base/banned.h"

static uint64_t hash(struct str key)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) * 0x100000001b3u;
	return h;
}

static struct map_slot *find(const struct map *map, struct str key)
{
	size_t i = hash(key) & (map->cap - 1);

	while (map->slots[i].key.p && !str_eq(map->slots[i].key, key))
		i = (i + 1) & (map->cap - 1);
	return &map->slots[i];
}

void *map_get(const struct map *map, struct str key)
{
	return map->cap ? find(map, key)->value : NULL;
}

static int grow(struct map *map)
{
	struct map bigger = {.arena = map->arena, .cap = map->cap ? map->cap * 2 : 16};

	bigger.slots = arena_array(map->arena, bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (size_t i = 0; i < map->cap; i++) {
		if (!map->slots[i].key.p)
			continue;
		*find(&bigger, map->slots[i].key) = map->slots[i];
		bigger.n++;
	}
	*map = bigger;
	return 0;
}

int map_put(struct map *map, struct str key, void *value)
{
	struct map_slot *slot;

	if (map->n * 2 >= map->cap && grow(map) < 0)
		return -1;
	slot = find(map, key);
	if (!slot->key.p) {
		slot->key = key.p ? key : STR("");
		map->n++;
	}
	slot->value = value;
	return 0;
}
