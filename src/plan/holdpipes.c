/* SPDX-License-Identifier: Apache-2.0 */
/* Named pipes where all is mounted read-only: they can be written to all the same. */
#include "plan/held.h"

#include "base/banned.h"

enum {
	LOOKED_MAX = 16384, /* entries in all: some 10 ms of a start */
};

/* The directories below a read-only one that are to be looked through. */
struct search {
	struct planner *p;
	const struct place *dir; /* whose entries are seen now */
	struct place *list;
	size_t n, cap;
};

void hold_pipe(struct planner *p, const struct place *pipe)
{
	held_add(p, MOUNT_MASK, pipe->path);
	held_note(p, HELD_HIDDEN, NULL, pipe->path);
}

static int see_entry(void *context, const char *name, enum entry_type type)
{
	struct search *search = context;
	struct planner *p = search->p;
	struct place child, *list;

	if (p->held.looked++ >= LOOKED_MAX)
		return 3;
	if (type != ENTRY_PIPE && type != ENTRY_DIRECTORY)
		return 0;
	if (!held_child(p, search->dir, str_of(name), type, &child))
		return 3;
	if (!held_is_there(p, str_of(child.path)))
		return 0;
	if (type == ENTRY_PIPE) {
		if (!(held_allowed_at(p, &child) & OF_DATA))
			hold_pipe(p, &child);
		return 0;
	}
	if ((held_allowed_below(p, &child) & OF_DATA) ||
	    plan_is_mount(p->plan, MOUNT_WRITABLE, str_of(child.path)))
		return 0;
	list = arena_grow(p->arena, search->list, search->n, &search->cap, sizeof(*list));
	p->held.failed |= !list;
	if (!list)
		return 3;
	search->list = list;
	list[search->n++] = child;
	return 0;
}

void hold_pipes(struct planner *p, const struct place *dir)
{
	const struct plan_input *input = p->input;
	struct search search = {.p = p, .dir = dir};
	struct place at = *dir;

	if (held_allowed_below(p, dir) & OF_DATA)
		return;
	for (size_t next = 0; !held_is_over(p);) {
		search.dir = &at;
		if (input->list(input->list_context, at.path, see_entry, &search) > 1)
			held_note_denied(p, UNHELD_PIPES, &at, OF_DATA);
		if (next == search.n)
			return;
		at = search.list[next++];
	}
}
