/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/fresh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

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

void fresh_made(struct fresh *fresh, struct str path)
{
	if (matters(path))
		made_add(&fresh->made, path);
}

void fresh_removed(struct fresh *fresh, struct str path)
{
	struct made *made = &fresh->made;

	for (size_t i = 0; i < made->n;)
		if (str_is_below(str_of(made->paths[i]), path))
			made_remove(made, str_of(made->paths[i]));
		else
			i++;
}

void fresh_moved(struct fresh *fresh, struct str from, struct str to)
{
	struct fresh old = *fresh;

	/* What stays, then what moves: unless something old has that name, or it says nothing now.
	 */
	*fresh = (struct fresh){0};
	for (size_t i = 0; i < old.made.n; i++) {
		struct str path = str_of(old.made.paths[i]);
		char *moved = NULL;

		if (!str_is_below(path, from) && !str_is_below(path, to))
			made_add(&fresh->made, path);
		else if (str_is_below(path, from) &&
			 asprintf(&moved, "%.*s%s", (int)to.n, to.p, path.p + from.n) >= 0)
			fresh_made(fresh, str_of(moved));
		free(moved);
	}
	made_release(&old.made);
}

bool fresh_has(const struct fresh *fresh, struct str path)
{
	/* The innermost git directory counts: an old one does not get new by being moved into one.
	 */
	while (fresh->made.n && path.n && !matters(path))
		(void)last_component(path, &path);
	return fresh->made.n && path.n && made_has(&fresh->made, path);
}

void fresh_release(struct fresh *fresh)
{
	made_release(&fresh->made);
}
