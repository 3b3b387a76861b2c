/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map: byte strings to pointers, in an arena. Nothing is ever removed. A zeroed
 * struct with `arena` set is a valid empty map. Keys are borrowed and must live
 * as long as the map.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

struct map_slot {
	struct str key; /* key.p NULL: free */
	void *value;
	size_t hash;
};

struct map {
	struct arena *arena;
	struct map_slot *slots;
	size_t n, cap; /* cap is 0 or a power of two */
};

/* The value under KEY, or NULL. */
void *map_get(const struct map *map, struct str key);

/* Stores VALUE under KEY, over an old one. Returns 0, or -1: no memory. */
int map_put(struct map *map, struct str key, void *value);

#endif
