/* SPDX-License-Identifier: Apache-2.0 */
#include "session/above.h"

#include <errno.h>

#include "linux/linux.h"
#include "base/banned.h"

static uint32_t root_rights(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_rows; i++)
		if (str_is(str_of(plan->rows[i].path), "/"))
			return plan->rows[i].rights;
	return 0;
}

/* Those that could be, into ROWS. How many. */
static size_t pick(const struct mounts *mounts, const struct plan *plan, struct landlock_row *rows)
{
	uint32_t known = root_rights(plan);
	size_t n = 0;

	for (size_t i = 0; i < plan->n_rows; i++) {
		const struct landlock_row *row = &plan->rows[i];
		struct str path = str_of(row->path);

		if (row->directory && (row->rights & ~known) && mounts_is_apart(mounts, path) &&
		    !mounts_is_above(mounts, path))
			rows[n++] = *row;
	}
	return n;
}

static int add(struct mounts *mounts, struct arena *arena, const char *path, struct err *e)
{
	struct str *list = arena_grow(arena, mounts->above, mounts->n_above, &mounts->cap_above,
				      sizeof(*list));
	char *copy = arena_strdup(arena, str_of(path));

	if (!list || !copy)
		return err_memory(e);
	mounts->above = list;
	list[mounts->n_above++] = str_of(copy);
	return 0;
}

int above_find(struct mounts *mounts, const struct plan *plan, struct arena *arena, struct err *e)
{
	struct landlock_row *rows = arena_array(arena, plan->n_rows, sizeof(*rows));
	size_t n = rows ? pick(mounts, plan, rows) : 0;
	int any = 0, r = 0;

	if (!rows && plan->n_rows)
		return err_memory(e);
	if (n)
		any = landlock_is_above_root(plan, rows, n);
	for (size_t i = 0; any > 0 && r >= 0 && i < n; i++) {
		r = landlock_is_above_root(plan, &rows[i], 1);
		if (r > 0 && add(mounts, arena, rows[i].path, e) < 0)
			return -ERR_MEMORY;
	}
	if (any < 0 || r < 0)
		return err_os(e, "cannot try what Landlock looks at");
	return any;
}
