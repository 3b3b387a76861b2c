/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/fresh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* Past this a new repository's configuration stays protected: stricter, never looser. */
enum {
	FRESH_MAX = 4096
};

static struct str last_component(struct str path, struct str *ret_parent)
{
	size_t i = path.n;

	while (i > 0 && path.p[i - 1] != '/')
		i--;
	*ret_parent = (struct str){path.p, i ? i - 1 : 0};
	return (struct str){path.p + i, path.n - i};
}

/* Has PATH a component called `.git`? Only there are `modules` and `worktrees` git's own. */
static bool is_inside_git_dir(struct str path)
{
	while (path.n) {
		if (str_is(last_component(path, &path), ".git"))
			return true;
	}
	return false;
}

static bool matters(struct str path)
{
	struct str parent, grandparent, container;

	if (str_is(last_component(path, &parent), ".git"))
		return true;
	container = last_component(parent, &grandparent);
	return (str_is(container, "worktrees") || str_is(container, "modules")) &&
	       is_inside_git_dir(grandparent);
}

static void add(struct fresh *fresh, struct str path)
{
	char *copy;

	if (fresh->n == FRESH_MAX)
		return;
	if (fresh->n == fresh->cap) {
		size_t cap = fresh->cap ? fresh->cap * 2 : 8;
		char **paths = realloc(fresh->paths, cap * sizeof(*paths));

		if (!paths)
			return;
		fresh->paths = paths;
		fresh->cap = cap;
	}
	copy = strndup(path.p, path.n);
	if (copy)
		fresh->paths[fresh->n++] = copy;
}

void fresh_made(struct fresh *fresh, struct str path)
{
	if (matters(path) && !fresh_has(fresh, path))
		add(fresh, path);
}

void fresh_removed(struct fresh *fresh, struct str path)
{
	for (size_t i = 0; i < fresh->n;) {
		if (!str_is_below(str_of(fresh->paths[i]), path)) {
			i++;
			continue;
		}
		free(fresh->paths[i]);
		fresh->paths[i] = fresh->paths[--fresh->n];
	}
}

void fresh_moved(struct fresh *fresh, struct str from, struct str to)
{
	fresh_removed(fresh, to);
	for (size_t i = 0; i < fresh->n; i++) {
		struct str old = str_of(fresh->paths[i]);
		char *moved = NULL;

		if (!str_is_below(old, from))
			continue;
		/* Forgetting is stricter, never looser: when memory is short, or the name says
		 * nothing now. */
		if (asprintf(&moved, "%.*s%s", (int)to.n, to.p, old.p + from.n) < 0)
			moved = NULL;
		if (moved && !matters(str_of(moved))) {
			free(moved);
			moved = NULL;
		}
		free(fresh->paths[i]);
		fresh->paths[i] = moved;
		if (!moved)
			fresh->paths[i--] = fresh->paths[--fresh->n];
	}
}

static bool is_noted(const struct fresh *fresh, struct str path)
{
	for (size_t i = 0; i < fresh->n; i++)
		if (str_is(path, fresh->paths[i]))
			return true;
	return false;
}

bool fresh_has(const struct fresh *fresh, struct str path)
{
	/* The innermost git directory counts: an old one does not get new by being moved into one.
	 */
	while (fresh->n && path.n && !matters(path))
		(void)last_component(path, &path);
	return fresh->n && path.n && is_noted(fresh, path);
}

void fresh_release(struct fresh *fresh)
{
	for (size_t i = 0; i < fresh->n; i++)
		free(fresh->paths[i]);
	free(fresh->paths);
	*fresh = (struct fresh){0};
}
