/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/row.h"

#include "base/banned.h"

bool row_table_add(struct row_table *table, struct arena *arena, uint32_t usual)
{
	struct row *rows = arena_grow(arena, table->rows, table->n, &table->cap, sizeof(*rows));

	if (!rows)
		return false;
	table->rows = rows;
	rows[table->n++] = (struct row){.usual = usual, .first = table->n_turns};
	return true;
}

bool row_table_turn(struct row_table *table, struct arena *arena, struct turn turn)
{
	struct turn *turns =
		arena_grow(arena, table->turns, table->n_turns, &table->cap_turns, sizeof(*turns));

	if (!turns)
		return false;
	table->turns = turns;
	turns[table->n_turns++] = turn;
	table->rows[table->n - 1].n++;
	return true;
}
