/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row: where states of an automaton lead, by class of bytes. Most classes lead from a state to the
 * same place, so only those that do not are written down.
 */
#ifndef POLICY_ROW_H
#define POLICY_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Where a state leads. */
struct row {
	uint32_t usual; /* over CLASS_USUAL and every class without a turn */
	uint32_t n;
	size_t first; /* its turns: turns[first .. first + n), by class */
};

/* A class that leads elsewhere than the usual one. */
struct turn {
	uint32_t cls;
	uint32_t target;
};

/* A zeroed struct is empty. */
struct row_table {
	struct row *rows;
	size_t n, cap;
	struct turn *turns;
	size_t n_turns, cap_turns;
};

/* Adds a row that leads to USUAL. False: no memory. */
bool row_table_add(struct row_table *table, struct arena *arena, uint32_t usual);

/* Adds a turn to the last row. False: no memory. */
bool row_table_turn(struct row_table *table, struct arena *arena, struct turn turn);

/* The turns of ROW, one of TABLE's; NULL if it has none. */
static inline const struct turn *row_turns(const struct row_table *table, const struct row *row)
{
	return row->n ? table->turns + row->first : NULL;
}

#endif
