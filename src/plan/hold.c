/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/held.h"

#include <stdlib.h>

#include "base/banned.h"

/* Device nodes cannot be made in a user namespace. */
#define WRITE_RIGHTS                                                                               \
	(groups[GROUP_DATA].rights | groups[GROUP_CREATE].rights | groups[GROUP_UNLINK].rights |   \
	 groups[GROUP_MOVE].rights)

/* ---- In what is mounted read-only ---- */

/* Held as read-only. Of devices the mount lets none be opened. */
static void add_read_only(struct planner *p, const char *path, bool whole)
{
	held_add(p, MOUNT_READ_ONLY, path);
	if (str_is_below(str_of(path), STR("/dev")))
		held_note(p, HELD_DEVICES, NULL, path);
	if (whole)
		held_note(p, HELD_WHOLE, NULL, path);
}

static void hold_in(struct planner *p, const struct place *dir, unsigned ops, unsigned depth);

static void find_base(struct planner *p, const struct place *region)
{
	struct place child;

	if (held_child(p, region, ASK_UNNAMED, ENTRY_OTHER, &child))
		p->held.base = child.at;
}

/* Mounts what is allowed below DIR writable, as far as it is there. */
/* NOLINTNEXTLINE(misc-no-recursion): HELD_DEPTH_MAX */
static void free_in(struct planner *p, const struct place *dir, unsigned ops, unsigned depth)
{
	struct listing entries = {.p = p, .dir = dir};
	struct place unnamed, child;

	if (depth > HELD_DEPTH_MAX || !held_list(&entries) ||
	    !held_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
		return;
	for (size_t i = 0; i < entries.n && !held_is_over(p); i++) {
		enum entry_type type = entries.list[i].type;

		if (!held_child(p, dir, str_of(entries.list[i].name), type, &child) ||
		    child.at == unnamed.at || type == ENTRY_SYMLINK)
			continue;
		if (type != ENTRY_DIRECTORY) {
			if (!(ops & ~held_allowed_at(p, &child)))
				held_add(p, MOUNT_WRITABLE, child.path);
		} else if (!(ops & ~held_allowed_unnamed(p, &child))) {
			policy_state base = p->held.base;

			held_add(p, MOUNT_WRITABLE, child.path);
			find_base(p, &child);
			hold_in(p, &child, ops, depth + 1);
			p->held.base = base;
		} else if (ops & ~held_denied_below(p, &child)) {
			free_in(p, &child, ops, depth + 1);
		}
	}
}

/* ---- In what is mounted writable ---- */

/* What the policy names at PLACE or below it, where nothing is, can be made. Patterns aside. */
/* NOLINTNEXTLINE(misc-no-recursion): the depth of the names in the policy */
static void note_absent(struct planner *p, const struct place *place, unsigned ops)
{
	unsigned denied = ops & ~held_allowed_at(p, place);
	struct place child;

	if (!denied)
		denied = ops & ~held_allowed_unnamed(p, place);
	if (denied) {
		held_note_denied(p, UNHELD_ABSENT, place, denied);
		return;
	}
	for (const struct name *kid = place->name ? place->name->kids : NULL; kid; kid = kid->next)
		if (held_child(p, place, kid->text, ENTRY_OTHER, &child))
			note_absent(p, &child, ops);
}

static void hold_file(struct planner *p, const struct place *file, unsigned ops)
{
	unsigned denied = ops & ~held_allowed_at(p, file);

	if (file->type == ENTRY_SYMLINK) {
		if (denied)
			held_note_denied(p, UNHELD_LINK, file, denied);
		else
			note_absent(p, file, ops);
		return;
	}
	if (file->type == ENTRY_PIPE && (denied & OF_DATA)) {
		hold_pipe(p, file);
	} else if (denied & ~(unsigned)OF_NAMES) {
		add_read_only(p, file->path, denied != ops);
	} else if (denied) {
		held_add(p, MOUNT_WRITABLE, file->path);
		if (denied != (ops & OF_NAMES))
			held_note(p, HELD_IN_PLACE, NULL, file->path);
	} else {
		note_absent(p, file, ops); /* a directory can be put in its place */
	}
}

/* Of its own attributes only those of a directory that is read-only are held. */
static void keep_in_place(struct planner *p, const struct place *dir, unsigned denied, unsigned ops)
{
	if (denied & OF_ATTRIBUTES)
		held_note_denied(p, UNHELD_ATTRIBUTES, dir, denied & OF_ATTRIBUTES);
	if ((denied & OF_NAMES) != (ops & OF_NAMES))
		held_note(p, HELD_IN_PLACE, NULL, dir->path);
}

/* NOLINTNEXTLINE(misc-no-recursion): HELD_DEPTH_MAX */
static void hold_folder(struct planner *p, const struct place *dir, unsigned ops, unsigned depth)
{
	unsigned denied = ops & ~held_allowed_at(p, dir);
	size_t before = p->plan->n_mounts;

	if (ops & ~held_allowed_unnamed(p, dir)) {
		bool whole = denied != ops || (ops & ~held_denied_below(p, dir));

		add_read_only(p, dir->path, whole);
		if (whole)
			free_in(p, dir, ops, depth + 1);
		hold_pipes(p, dir);
		return;
	}
	held_add(p, MOUNT_WRITABLE, dir->path);
	if (ops & ~held_allowed_below(p, dir))
		hold_in(p, dir, ops, depth + 1);
	if (p->plan->n_mounts == before + 1 && !(denied & OF_NAMES))
		p->plan->n_mounts = before; /* it may go */
	else
		keep_in_place(p, dir, denied, ops);
	if (p->plan->n_mounts == before && (denied & OF_ATTRIBUTES))
		held_note_denied(p, UNHELD_ATTRIBUTES, dir, denied & OF_ATTRIBUTES);
}

/* Mounts over what is denied of OPS below DIR, which is mounted writable. */
/* NOLINTNEXTLINE(misc-no-recursion): HELD_DEPTH_MAX */
static void hold_in(struct planner *p, const struct place *dir, unsigned ops, unsigned depth)
{
	struct listing entries = {.p = p, .dir = dir};
	struct place unnamed, child;

	if (depth > HELD_DEPTH_MAX || !held_list(&entries)) {
		held_note(p, UNHELD_UNSEEN, NULL, dir->path);
		return;
	}
	if (!held_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
		return;
	for (const struct name *kid = dir->name ? dir->name->kids : NULL; kid; kid = kid->next)
		if (!held_has_entry(&entries, kid->text) &&
		    held_child(p, dir, kid->text, ENTRY_OTHER, &child))
			note_absent(p, &child, ops);
	for (size_t i = 0; i < entries.n && !held_is_over(p); i++) {
		enum entry_type type = entries.list[i].type;

		if (!held_child(p, dir, str_of(entries.list[i].name), type, &child) ||
		    child.at == p->held.base) /* the same answers there and below */
			continue;
		if (child.at == unnamed.at &&
		    (type != ENTRY_DIRECTORY || (held_allowed_below(p, &child) & OF_DATA)))
			continue;
		if (type == ENTRY_DIRECTORY)
			hold_folder(p, &child, ops, depth);
		else
			hold_file(p, &child, ops);
	}
}

/* ---- Regions ---- */

/* Of MIXED: what is allowed for any name in PLACE, as far as a name that it had first has it. */
static unsigned generic_groups(struct planner *p, const struct place *place, unsigned mixed)
{
	static const enum group writing[] = {GROUP_DATA, GROUP_CREATE, GROUP_NODES, GROUP_UNLINK,
					     GROUP_MOVE};
	struct place unnamed;
	unsigned ret = 0;

	if (!held_child(p, place, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
		return 0;
	for (size_t i = 0; i < sizeof(writing) / sizeof(writing[0]); i++)
		if ((mixed & 1u << writing[i]) && ask_at(p, &unnamed, writing[i]) == CAN_ALLOW &&
		    ask_first(p, place, writing[i], true) == CAN_ALLOW)
			ret |= 1u << writing[i];
	return ret;
}

static void add_region(struct planner *p, const char *path)
{
	if (strcmp(path, "/") == 0)
		p->held.all = true;
	else if (!p->held.all)
		held_add(p, MOUNT_WRITABLE, path);
}

bool hold_is_region(struct planner *p, const struct place *place)
{
	static const enum group asked[] = {GROUP_DATA, GROUP_CREATE, GROUP_UNLINK};

	return p->held.on && !(OF_REGION & ~held_allowed_unnamed(p, place)) &&
	       held_is_fit(p, place, asked, sizeof(asked) / sizeof(asked[0]));
}

uint32_t hold_directory(struct planner *p, const struct place *place, uint32_t rights,
			unsigned *mixed)
{
	struct reach reach = {p, place, UNHELD_PATTERN};
	bool region = hold_is_region(p, place);
	unsigned granted, ops, attributes;
	uint32_t more = 0;

	if (!region || held_is_over(p) || !held_is_there(p, str_of(place->path)))
		return 0;
	granted = generic_groups(p, place, *mixed);
	ops = held_allowed_unnamed(p, place);
	for (enum group g = 0; g < GROUP_COUNT; g++)
		more |= granted & 1u << g ? groups[g].rights : 0;
	if (!granted || ((groups[GROUP_DATA].rights | groups[GROUP_CREATE].rights |
			  groups[GROUP_UNLINK].rights) &
			 ~(rights | more)))
		return 0;
	*mixed &= ~granted;
	add_region(p, place->path);
	attributes = OF_ATTRIBUTES & ~(ops & held_allowed_at(p, place));
	if (attributes)
		held_note_denied(p, UNHELD_ATTRIBUTES, place, attributes);
	if (ops & ~held_allowed_below(p, place)) {
		policy_each_path(p->policy, held_note_pattern, &reach);
		find_base(p, place);
		hold_in(p, place, ops, 0);
	}
	return more;
}

/* Is it there to be written whatever mounts say? */
static bool is_device(const struct landlock_row *row)
{
	struct str path = str_of(row->path);

	return str_is_below(path, STR("/dev/pts")) ||
	       (!row->directory && str_is_below(path, STR("/dev")));
}

void hold_row(struct planner *p, const struct landlock_row *row)
{
	policy_state start = policy_start(p->policy);
	struct place place = {.path = row->path};
	unsigned allowed;

	if (!p->held.on || held_is_over(p) || !(row->rights & WRITE_RIGHTS) || is_device(row) ||
	    held_is_mounted(p, row->path) || !held_is_there(p, str_of(row->path)))
		return;
	add_region(p, row->path);
	place.at = policy_walk(p->policy, start, str_of(row->path));
	place.below = row->path[1] ? place.at : start;
	allowed = row->directory ? held_allowed_below(p, &place) : held_allowed_at(p, &place);
	if (OF_ATTRIBUTES & ~allowed)
		held_note_denied(p, UNHELD_ATTRIBUTES, &place, OF_ATTRIBUTES & ~allowed);
	p->held.truncation |= !(row->rights & LL_WRITE_FILE);
}

/* ---- The stage ---- */

void hold_decide(struct planner *p)
{
	const struct caps *caps = p->caps;
	unsigned verdicts = 0;

	for (size_t i = 0; i < N_WRITE_OPS; i++)
		verdicts |= verdicts_anywhere(p->policy, held_write_ops[i]);
	verdicts |= verdicts_anywhere(p->policy, OP_FILE_READ_DATA) | p->facts.setugid;
	p->held.on = !caps->notify && !caps->outer.asks && caps->userns && caps->mount_setattr &&
		     (verdicts & CAN_DENY);
}

/* Outer ones first; of two at one place the one that holds more. */
static int compare(const void *a, const void *b)
{
	static const int order[] = {[MOUNT_MASK] = 0, [MOUNT_READ_ONLY] = 1, [MOUNT_WRITABLE] = 2};
	const struct mount_row *x = a, *y = b;
	int r = strcmp(x->path, y->path);

	return r ? r : order[x->kind] - order[y->kind];
}

/* In what is hidden nothing is that could be mounted once more. */
static bool is_in_hidden(const struct plan *plan, const struct mount_row *row, size_t n)
{
	for (const struct mount_row *outer = plan->mounts; outer && outer < plan->mounts + n;
	     outer++)
		if ((outer->kind == MOUNT_MASK ||
		     (outer->kind == MOUNT_HIDE && strcmp(outer->path, row->path) != 0)) &&
		    str_is_below(str_of(row->path), str_of(outer->path)))
			return true;
	return false;
}

/* Do the first N mounts of PLAN do what ROW does? */
static bool is_superseded(const struct plan *plan, const struct mount_row *row, size_t n)
{
	const struct mount_row *last = n ? &plan->mounts[n - 1] : NULL;

	return (last && strcmp(last->path, row->path) == 0 &&
		(last->kind == row->kind || last->kind == MOUNT_READ_ONLY)) ||
	       is_in_hidden(plan, row, n);
}

int hold_end(struct planner *p, struct err *e)
{
	struct plan *plan = p->plan;
	struct mount_row *rows;
	size_t all;

	if (!p->held.on)
		return 0;
	hold_pin_masked(p);
	if (!p->held.all && !p->held.too_many &&
	    mounts_add(p, MOUNT_READ_ONLY, STR("/"), false) < 0)
		p->held.failed = true;
	if (p->held.failed)
		return err_memory(e);
	if (p->held.too_many) {
		(void)err_set(e, ERR_GAP,
			      "more than %d mounts would be needed to hold what the policy denies",
			      HELD_MAX);
		return err_hint(e, "without a seccomp listener, which an outer sandbox has, each "
				   "name that is denied where others may be written takes one");
	}
	all = plan->n_mounts - p->held.first;
	if (all == 0)
		return 0;
	rows = plan->mounts + p->held.first;
	if (all > 1)
		qsort(rows, all, sizeof(*rows), compare);
	plan->n_mounts = p->held.first;
	for (size_t i = 0; i < all; i++)
		if (!is_superseded(plan, &rows[i], plan->n_mounts))
			plan->mounts[plan->n_mounts++] = rows[i];
	plan->ns |= NS_USER | NS_MOUNT;
	return 0;
}
