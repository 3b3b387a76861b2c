/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/fresh.h"

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
	made_remove_below(&fresh->made, path);
}

void fresh_moved(struct fresh *fresh, struct str from, struct str to)
{
	made_move(&fresh->made, from, to, matters);
}

bool fresh_has(const struct fresh *fresh, struct str path)
{
	/* The innermost git directory counts: an old one does not get new by being moved into one.
	 */
	while (path.n && !matters(path))
		(void)last_component(path, &path);
	return path.n && made_has(&fresh->made, path);
}

void fresh_release(struct fresh *fresh)
{
	made_release(&fresh->made);
}
