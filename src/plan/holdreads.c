/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, where nobody can judge it: what is denied and there is hidden. */
#include "plan/held.h"

#include "base/banned.h"

typedef unsigned verdicts_of(const struct policy *policy, policy_state state, enum op op);

static bool is_readable(const struct planner *p, policy_state state, verdicts_of *find)
{
	return find(p->policy, state, OP_FILE_READ_DATA) == CAN_ALLOW;
}

static bool is_readable_unnamed(struct planner *p, const struct place *dir)
{
	struct place child;

	return held_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &child) &&
	       is_readable(p, child.at, policy_verdicts_at);
}

static void note_unread(struct planner *p, enum unheld_why why, const struct place *place)
{
	held_note(p, why, rule_denying(p->policy, OP_FILE_READ_DATA), place->path);
}

/* What the policy names at PLACE or below it, where nothing is, can be read once it is there. */
/* NOLINTNEXTLINE(misc-no-recursion): the depth of the names in the policy */
static void note_absent_reads(struct planner *p, const struct place *place)
{
	struct place child;

	if (!is_readable(p, place->at, policy_verdicts_at) || !is_readable_unnamed(p, place)) {
		note_unread(p, UNHELD_ABSENT_READ, place);
		return;
	}
	for (const struct name *kid = place->name ? place->name->kids : NULL; kid; kid = kid->next)
		if (held_child(p, place, kid->text, ENTRY_OTHER, &child))
			note_absent_reads(p, &child);
}

static void mask(struct planner *p, const struct place *place)
{
	held_add(p, MOUNT_MASK, place->path);
	held_note(p, HELD_HIDDEN, NULL, place->path);
}

/* Hides what may not be read below DIR. */
/* NOLINTNEXTLINE(misc-no-recursion): HELD_DEPTH_MAX */
static void hide_in(struct planner *p, const struct place *dir, unsigned depth)
{
	struct listing entries = {.p = p, .dir = dir};
	struct place unnamed, child;

	if (depth > HELD_DEPTH_MAX || !held_list(&entries)) {
		note_unread(p, UNHELD_UNSEEN_READ, dir);
		return;
	}
	if (!held_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
		return;
	for (const struct name *kid = dir->name ? dir->name->kids : NULL; kid; kid = kid->next)
		if (!held_has_entry(&entries, kid->text) &&
		    held_child(p, dir, kid->text, ENTRY_OTHER, &child))
			note_absent_reads(p, &child);
	for (size_t i = 0; i < entries.n && !held_is_over(p); i++) {
		enum entry_type type = entries.list[i].type;

		if (!held_child(p, dir, str_of(entries.list[i].name), type, &child) ||
		    child.at == unnamed.at)
			continue;
		if (type == ENTRY_SYMLINK)
			note_absent_reads(p, &child); /* something else can take its place */
		else if (type != ENTRY_DIRECTORY && !is_readable(p, child.at, policy_verdicts_at))
			mask(p, &child);
		else if (type != ENTRY_DIRECTORY)
			note_absent_reads(p, &child);
		else if (is_readable(p, child.below, policy_verdicts_below))
			continue;
		else if (is_readable_unnamed(p, &child))
			hide_in(p, &child, depth + 1);
		else
			mask(p, &child);
	}
}

uint32_t hold_reads(struct planner *p, const struct place *place, unsigned *mixed)
{
	static const enum group asked[] = {GROUP_READ, GROUP_LIST};
	struct reach reach = {p, place, UNHELD_PATTERN_READ};
	struct place unnamed;
	uint32_t rights = 0;

	if (!p->held.on || held_is_over(p) || !(*mixed & 1u << GROUP_READ) ||
	    ask_decides_whole(p, place->path) ||
	    !held_child(p, place, ASK_UNNAMED, ENTRY_OTHER, &unnamed) ||
	    !held_is_fit(p, place, asked, 1))
		return 0;
	/* Else each entry has a row of its own, and what comes later has none. */
	if (place->name && place->name->kids && ask_at(p, &unnamed, GROUP_CREATE) == CAN_DENY)
		return 0;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		if (!(*mixed & 1u << asked[i]) || ask_at(p, &unnamed, asked[i]) != CAN_ALLOW ||
		    ask_at(p, place, asked[i]) != CAN_ALLOW ||
		    ask_first(p, place, asked[i], true) != CAN_ALLOW)
			continue;
		rights |= groups[asked[i]].rights;
		*mixed &= ~(1u << asked[i]);
	}
	if (!(rights & LL_READ_FILE))
		return rights;
	policy_each_path(p->policy, held_note_pattern, &reach);
	hide_in(p, place, 0);
	return rights;
}

void hold_pin_masked(struct planner *p)
{
	struct plan *plan = p->plan;

	for (size_t i = p->held.first; i < plan->n_mounts && !held_is_over(p); i++) {
		struct str path = str_of(plan->mounts[i].path);
		const char *dir;

		if (plan->mounts[i].kind != MOUNT_MASK)
			continue;
		while (path.n > 1 && !held_is_over(p)) {
			while (path.n > 1 && path.p[--path.n] != '/')
				;
			if (path.n == 1)
				break;
			dir = arena_strdup(p->arena, path);
			p->held.failed |= !dir;
			if (!dir || plan_is_mount(plan, MOUNT_READ_ONLY, path) ||
			    plan_is_mount(plan, MOUNT_WRITABLE, path) || !held_is_mounted(p, dir) ||
			    plan_is_read_only(plan, path))
				continue;
			held_add(p, MOUNT_WRITABLE, dir);
			held_note(p, HELD_IN_PLACE, NULL, dir);
		}
	}
}
