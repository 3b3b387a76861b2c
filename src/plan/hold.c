/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/hold.h"

#include <stdlib.h>

#include "base/banned.h"

enum {
	HELD_MAX = 512, /* mounts: each is some 20 us of every start, and a descriptor */
	LISTED_MAX = 1024,
	ENTRIES_MAX = 4096,
	DEPTH_MAX = 64,
};

/* ---- What is asked: sets of these, by their bits ---- */

static const enum op write_ops[] = {
	OP_FILE_WRITE_CREATE, OP_FILE_WRITE_UNLINK, OP_FILE_LINK,        OP_FILE_MKNOD,
	OP_FILE_WRITE_DATA,   OP_FILE_WRITE_MODE,   OP_FILE_WRITE_OWNER, OP_FILE_WRITE_TIMES,
	OP_FILE_WRITE_ACL,    OP_FILE_WRITE_XATTR,
};

static const enum op read_ops[] = {OP_FILE_READ_DATA};

enum {
	N_WRITE_OPS = sizeof(write_ops) / sizeof(write_ops[0]),
	OF_ALL = (1 << N_WRITE_OPS) - 1,
	OF_NAMES = (1 << 4) - 1, /* what a mount over itself refuses */
	OF_DATA = 1 << 4,
	OF_ATTRIBUTES = OF_ALL & ~(OF_NAMES | OF_DATA),
	OF_REGION = 1 << 0 | 1 << 1 | OF_DATA, /* what has to be allowed of any name */
};

/* Device nodes cannot be made in a user namespace. */
#define WRITE_RIGHTS                                                                               \
	(groups[GROUP_DATA].rights | groups[GROUP_CREATE].rights | groups[GROUP_UNLINK].rights |   \
	 groups[GROUP_MOVE].rights)

typedef unsigned verdicts_of(const struct policy *policy, policy_state state, enum op op);

/* The operations whose answers in STATE are among VERDICTS, and no others. */
static unsigned ops_with(const struct planner *p, policy_state state, verdicts_of *find,
			 unsigned verdicts)
{
	unsigned ret = 0;

	for (size_t i = 0; i < N_WRITE_OPS; i++)
		if (!(find(p->policy, state, write_ops[i]) & ~verdicts))
			ret |= 1u << i;
	return ret;
}

static unsigned allowed_at(const struct planner *p, const struct place *place)
{
	return ops_with(p, place->at, policy_verdicts_at, CAN_ALLOW);
}

static unsigned allowed_below(const struct planner *p, const struct place *place)
{
	return ops_with(p, place->below, policy_verdicts_below, CAN_ALLOW);
}

static unsigned denied_below(const struct planner *p, const struct place *place)
{
	return ops_with(p, place->below, policy_verdicts_below, CAN_DENY);
}

static bool find_child(struct planner *p, const struct place *dir, struct str name,
		       enum entry_type type, struct place *ret)
{
	if (!ask_child(p, dir, name, type, ret))
		p->held.failed = true;
	return !p->held.failed;
}

/* What is allowed for an entry of DIR that the policy does not mention. */
static unsigned allowed_unnamed(struct planner *p, const struct place *dir)
{
	struct place child;

	return find_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &child) ? allowed_at(p, &child) : 0;
}

/* ---- Notes and mounts ---- */

static void note(struct planner *p, enum unheld_why why, const struct rule *rule, const char *path)
{
	struct held *held = &p->held;
	const struct unheld *last = held->n ? &held->list[held->n - 1] : NULL;
	struct unheld *list;

	if (last && last->why == why && last->rule == rule && strcmp(last->path, path) == 0)
		return;
	list = arena_grow(p->arena, held->list, held->n, &held->cap, sizeof(*list));
	if (!list) {
		held->failed = true;
		return;
	}
	held->list = list;
	list[held->n++] = (struct unheld){why, rule, path};
}

/* The rule that denies one of OPS at PATH. */
static const struct rule *rule_denying_at(const struct planner *p, const char *path, unsigned ops)
{
	const struct rule *ret = NULL;

	for (size_t i = 0; i < N_WRITE_OPS && !ret; i++) {
		struct request request = {.op = write_ops[i], .path = str_of(path)};
		struct decision decision;

		if (!(ops & 1u << i))
			continue;
		policy_decide(p->policy, &request, &decision);
		if (decision.verdict == VERDICT_DENY)
			ret = decision.rule;
	}
	for (size_t i = 0; i < N_WRITE_OPS && !ret; i++)
		if (ops & 1u << i)
			ret = rule_denying(p->policy, write_ops[i]);
	return ret;
}

static void note_denied(struct planner *p, enum unheld_why why, const struct place *place,
			unsigned ops)
{
	note(p, why, rule_denying_at(p, place->path, ops), place->path);
}

static void add(struct planner *p, enum mount_kind kind, const char *path)
{
	if (p->plan->n_mounts - p->held.first >= HELD_MAX)
		p->held.too_many = true;
	else if (mounts_add(p, kind, str_of(path), kind == MOUNT_MASK) < 0)
		p->held.failed = true;
}

/* Held as read-only. Of devices the mount lets none be opened. */
static void add_read_only(struct planner *p, const char *path, bool whole)
{
	add(p, MOUNT_READ_ONLY, path);
	if (str_is_below(str_of(path), STR("/dev")))
		note(p, HELD_DEVICES, NULL, path);
	if (whole)
		note(p, HELD_WHOLE, NULL, path);
}

static bool is_over(const struct planner *p)
{
	return p->held.failed || p->held.too_many;
}

/* ---- Patterns ---- */

struct reach {
	struct planner *p;
	const struct place *region;
	enum unheld_why why; /* UNHELD_PATTERN, UNHELD_PATTERN_READ */
};

static bool begins_alike(struct str a, struct str b)
{
	return a.n < b.n ? str_starts(b, a) : str_starts(a, b);
}

/* Is RULE what answers OP for any name in DIR? */
static bool is_usual(const struct planner *p, const struct rule *rule, enum op op, const char *dir)
{
	char *path = arena_printf(p->arena, "%s/%s", dir[1] ? dir : "", ASK_UNNAMED.p);
	struct request request = {.op = op, .path = str_of(path)};
	struct decision decision = {.rule = rule};

	if (path)
		policy_decide(p->policy, &request, &decision);
	return decision.rule == rule;
}

/* Names that it matches are not known, nor those that it does not, where it is what allows. */
static void note_pattern(void *context, const struct rule *rule, const struct test *test)
{
	const struct reach *reach = context;
	struct planner *p = reach->p;
	struct str fixed, region = str_of(reach->region->path[1] ? reach->region->path : "");
	const enum op *ops = reach->why == UNHELD_PATTERN ? write_ops : read_ops;
	size_t n = reach->why == UNHELD_PATTERN ? N_WRITE_OPS : 1;
	bool decides = false;

	for (size_t i = 0; i < n && !is_fixed(test->match); i++)
		decides |= op_inherits(ops[i], rule->op) &&
			   (rule->verdict == VERDICT_DENY ||
			    is_usual(p, rule, ops[i], reach->region->path));
	if (!decides)
		return;
	fixed = names_fixed_part(p->arena, test);
	/* Behind /private there may be a second name of what is not. */
	if (begins_alike(fixed, region) || begins_alike(fixed, STR("/private/")))
		note(p, reach->why, rule, reach->region->path);
}

/* ---- Entries ---- */

struct listing {
	struct planner *p;
	const struct place *dir;
	struct entry {
		const char *name;
		enum entry_type type;
	} * list;
	size_t n, cap;
	bool too_many;
};

static int stop_at(void *context, const char *name, enum entry_type type)
{
	const struct str *wanted = context;

	(void)type;
	return str_is(*wanted, name) ? 3 : 0;
}

static bool is_on_disk(const struct planner *p, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dir = arena_strdup(p->arena, (struct str){path, (size_t)(slash - path)});
	struct str name = str_of(slash + 1);

	return dir &&
	       p->input->list(p->input->list_context, dir[0] ? dir : "/", stop_at, &name) == 3;
}

/* Processes come and go, and a procfs of our own has others. */
static bool is_process(struct str path)
{
	const struct str proc = STR("/proc/");
	size_t digits = 0;

	return str_starts(path, proc) && str_number(str_skip(path, proc.n), &digits) >= 0;
}

/* In our own mounts nothing is that the disk has there, but what is kept in a private /tmp. */
static bool is_covered(const struct plan *plan, struct str path)
{
	static const enum mount_kind private[] = {MOUNT_PRIVATE_TMP, MOUNT_PRIVATE_SHM,
						  MOUNT_PRIVATE_PTS};
	bool ret = false;

	for (size_t i = 0; i < sizeof(private) / sizeof(private[0]); i++)
		ret |= plan_is_mounted(plan, private[i], path) &&
		       !plan_is_mount(plan, private[i], path);
	return ret && !plan_is_mounted(plan, MOUNT_KEEP, path);
}

/* Is what the disk has at PATH there when all is mounted? */
static bool is_there(const struct planner *p, struct str path)
{
	const struct plan *plan = p->plan;

	if (is_process(path))
		return false;
	if (!is_covered(plan, path))
		return true;
	for (size_t i = 0; i < p->held.first; i++)
		if (plan->mounts[i].kind == MOUNT_KEEP &&
		    str_is_below(str_of(plan->mounts[i].path), path) &&
		    is_on_disk(p, plan->mounts[i].path))
			return true;
	return false;
}

static int add_entry(void *context, const char *name, enum entry_type type)
{
	struct listing *listing = context;
	struct arena *arena = listing->p->arena;
	struct entry *list = NULL;
	struct place child;
	char *copy = NULL;

	if (!find_child(listing->p, listing->dir, str_of(name), type, &child))
		return 3;
	if (!is_there(listing->p, str_of(child.path)))
		return 0;
	list = arena_grow(arena, listing->list, listing->n, &listing->cap, sizeof(*list));
	copy = arena_strdup(arena, str_of(name));
	listing->too_many = listing->n >= ENTRIES_MAX;
	listing->p->held.failed |= !list || !copy;
	if (listing->too_many || listing->p->held.failed)
		return 3;
	listing->list = list;
	list[listing->n++] = (struct entry){copy, type};
	return 0;
}

/* All entries of its directory. False: not to be had. */
static bool list_all(struct listing *listing)
{
	const struct plan_input *input = listing->p->input;

	return listing->p->held.listed++ < LISTED_MAX &&
	       input->list(input->list_context, listing->dir->path, add_entry, listing) == 0;
}

static bool has_entry(const struct listing *listing, struct str name)
{
	for (size_t i = 0; i < listing->n; i++)
		if (str_is(name, listing->list[i].name))
			return true;
	return false;
}

/* ---- In what is mounted read-only ---- */

static void hold_in(struct planner *p, const struct place *dir, unsigned ops, unsigned depth);

static void find_base(struct planner *p, const struct place *region)
{
	struct place child;

	if (find_child(p, region, ASK_UNNAMED, ENTRY_OTHER, &child))
		p->held.base = child.at;
}

/* Mounts what is allowed below DIR writable, as far as it is there. */
/* NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX */
static void free_in(struct planner *p, const struct place *dir, unsigned ops, unsigned depth)
{
	struct listing entries = {.p = p, .dir = dir};
	struct place unnamed, child;

	if (depth > DEPTH_MAX || !list_all(&entries) ||
	    !find_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
		return;
	for (size_t i = 0; i < entries.n && !is_over(p); i++) {
		enum entry_type type = entries.list[i].type;

		if (!find_child(p, dir, str_of(entries.list[i].name), type, &child) ||
		    child.at == unnamed.at || type == ENTRY_SYMLINK)
			continue;
		if (type == ENTRY_OTHER) {
			if (!(ops & ~allowed_at(p, &child)))
				add(p, MOUNT_WRITABLE, child.path);
		} else if (!(ops & ~allowed_unnamed(p, &child))) {
			policy_state base = p->held.base;

			add(p, MOUNT_WRITABLE, child.path);
			find_base(p, &child);
			hold_in(p, &child, ops, depth + 1);
			p->held.base = base;
		} else if (ops & ~denied_below(p, &child)) {
			free_in(p, &child, ops, depth + 1);
		}
	}
}

/* ---- In what is mounted writable ---- */

/* What the policy names at PLACE or below it, where nothing is, can be made. Patterns aside. */
/* NOLINTNEXTLINE(misc-no-recursion): the depth of the names in the policy */
static void note_absent(struct planner *p, const struct place *place, unsigned ops)
{
	unsigned denied = ops & ~allowed_at(p, place);
	struct place child;

	if (!denied)
		denied = ops & ~allowed_unnamed(p, place);
	if (denied) {
		note_denied(p, UNHELD_ABSENT, place, denied);
		return;
	}
	for (const struct name *kid = place->name ? place->name->kids : NULL; kid; kid = kid->next)
		if (find_child(p, place, kid->text, ENTRY_OTHER, &child))
			note_absent(p, &child, ops);
}

static void hold_file(struct planner *p, const struct place *file, unsigned ops)
{
	unsigned denied = ops & ~allowed_at(p, file);

	if (file->type == ENTRY_SYMLINK) {
		if (denied)
			note_denied(p, UNHELD_LINK, file, denied);
		else
			note_absent(p, file, ops);
		return;
	}
	if (denied & ~(unsigned)OF_NAMES) {
		add_read_only(p, file->path, denied != ops);
	} else if (denied) {
		add(p, MOUNT_WRITABLE, file->path);
		if (denied != (ops & OF_NAMES))
			note(p, HELD_IN_PLACE, NULL, file->path);
	} else {
		note_absent(p, file, ops); /* a directory can be put in its place */
	}
}

/* Of its own attributes only those of a directory that is read-only are held. */
static void keep_in_place(struct planner *p, const struct place *dir, unsigned denied, unsigned ops)
{
	if (denied & OF_ATTRIBUTES)
		note_denied(p, UNHELD_ATTRIBUTES, dir, denied & OF_ATTRIBUTES);
	if ((denied & OF_NAMES) != (ops & OF_NAMES))
		note(p, HELD_IN_PLACE, NULL, dir->path);
}

/* NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX */
static void hold_folder(struct planner *p, const struct place *dir, unsigned ops, unsigned depth)
{
	unsigned denied = ops & ~allowed_at(p, dir);
	size_t before = p->plan->n_mounts;

	if (ops & ~allowed_unnamed(p, dir)) {
		bool whole = denied != ops || (ops & ~denied_below(p, dir));

		add_read_only(p, dir->path, whole);
		if (whole)
			free_in(p, dir, ops, depth + 1);
		return;
	}
	add(p, MOUNT_WRITABLE, dir->path);
	if (ops & ~allowed_below(p, dir))
		hold_in(p, dir, ops, depth + 1);
	if (p->plan->n_mounts == before + 1 && !(denied & OF_NAMES))
		p->plan->n_mounts = before; /* it may go */
	else
		keep_in_place(p, dir, denied, ops);
	if (p->plan->n_mounts == before && (denied & OF_ATTRIBUTES))
		note_denied(p, UNHELD_ATTRIBUTES, dir, denied & OF_ATTRIBUTES);
}

/* Mounts over what is denied of OPS below DIR, which is mounted writable. */
/* NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX */
static void hold_in(struct planner *p, const struct place *dir, unsigned ops, unsigned depth)
{
	struct listing entries = {.p = p, .dir = dir};
	struct place unnamed, child;

	if (depth > DEPTH_MAX || !list_all(&entries)) {
		note(p, UNHELD_UNSEEN, NULL, dir->path);
		return;
	}
	if (!find_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
		return;
	for (const struct name *kid = dir->name ? dir->name->kids : NULL; kid; kid = kid->next)
		if (!has_entry(&entries, kid->text) &&
		    find_child(p, dir, kid->text, ENTRY_OTHER, &child))
			note_absent(p, &child, ops);
	for (size_t i = 0; i < entries.n && !is_over(p); i++) {
		enum entry_type type = entries.list[i].type;

		if (!find_child(p, dir, str_of(entries.list[i].name), type, &child) ||
		    child.at == p->held.base) /* the same answers there and below */
			continue;
		if (child.at == unnamed.at &&
		    (type != ENTRY_DIRECTORY || (allowed_below(p, &child) & OF_DATA)))
			continue;
		if (type == ENTRY_DIRECTORY)
			hold_folder(p, &child, ops, depth);
		else
			hold_file(p, &child, ops);
	}
}

/* ---- Regions ---- */

/*
 * Places where not only files' operations are asked, or that a read-only mount does not make so.
 * What is denied of any name in them no mount can hold.
 */
static const char *const others[] = {"/dev", "/dev/shm", "/dev/pts", "/proc/sys"};

static bool is_fit(struct planner *p, const struct place *place, const enum group *asked, size_t n)
{
	policy_state start = policy_start(p->policy);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct place other = {.path = others[i], .type = ENTRY_DIRECTORY}, unnamed;

		other.at = other.below = policy_walk(p->policy, start, str_of(others[i]));
		if (!str_is_below(str_of(others[i]), str_of(place->path)))
			continue;
		if (!find_child(p, &other, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
			return false;
		for (size_t g = 0; g < n; g++)
			if (ask_at(p, &unnamed, asked[g]) != CAN_ALLOW)
				return false;
	}
	return true;
}

/* Of MIXED: what is allowed for any name in PLACE, as far as a name that it had first has it. */
static unsigned generic_groups(struct planner *p, const struct place *place, unsigned mixed)
{
	static const enum group writing[] = {GROUP_DATA, GROUP_CREATE, GROUP_NODES, GROUP_UNLINK,
					     GROUP_MOVE};
	struct place unnamed;
	unsigned ret = 0;

	if (!find_child(p, place, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
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
		add(p, MOUNT_WRITABLE, path);
}

bool hold_is_region(struct planner *p, const struct place *place)
{
	static const enum group asked[] = {GROUP_DATA, GROUP_CREATE, GROUP_UNLINK};

	return p->held.on && !(OF_REGION & ~allowed_unnamed(p, place)) &&
	       is_fit(p, place, asked, sizeof(asked) / sizeof(asked[0]));
}

uint32_t hold_directory(struct planner *p, const struct place *place, uint32_t rights,
			unsigned *mixed)
{
	struct reach reach = {p, place, UNHELD_PATTERN};
	bool region = hold_is_region(p, place);
	unsigned granted, ops, attributes;
	uint32_t more = 0;

	if (!region || is_over(p) || !is_there(p, str_of(place->path)))
		return 0;
	granted = generic_groups(p, place, *mixed);
	ops = allowed_unnamed(p, place);
	for (enum group g = 0; g < GROUP_COUNT; g++)
		more |= granted & 1u << g ? groups[g].rights : 0;
	if (!granted || ((groups[GROUP_DATA].rights | groups[GROUP_CREATE].rights |
			  groups[GROUP_UNLINK].rights) &
			 ~(rights | more)))
		return 0;
	*mixed &= ~granted;
	add_region(p, place->path);
	attributes = OF_ATTRIBUTES & ~(ops & allowed_at(p, place));
	if (attributes)
		note_denied(p, UNHELD_ATTRIBUTES, place, attributes);
	if (ops & ~allowed_below(p, place)) {
		policy_each_path(p->policy, note_pattern, &reach);
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

static bool is_mounted_already(const struct planner *p, const char *path)
{
	for (size_t i = p->held.first; i < p->plan->n_mounts; i++)
		if (p->plan->mounts[i].kind != MOUNT_MASK &&
		    str_is_below(str_of(path), str_of(p->plan->mounts[i].path)))
			return true;
	return p->held.all;
}

void hold_row(struct planner *p, const struct landlock_row *row)
{
	policy_state start = policy_start(p->policy);
	struct place place = {.path = row->path};
	unsigned allowed;

	if (!p->held.on || is_over(p) || !(row->rights & WRITE_RIGHTS) || is_device(row) ||
	    is_mounted_already(p, row->path) || !is_there(p, str_of(row->path)))
		return;
	add_region(p, row->path);
	place.at = policy_walk(p->policy, start, str_of(row->path));
	place.below = row->path[1] ? place.at : start;
	allowed = row->directory ? allowed_below(p, &place) : allowed_at(p, &place);
	if (OF_ATTRIBUTES & ~allowed)
		note_denied(p, UNHELD_ATTRIBUTES, &place, OF_ATTRIBUTES & ~allowed);
	p->held.truncation |= !(row->rights & LL_WRITE_FILE);
}

/* ---- Reading ---- */

static bool is_readable(const struct planner *p, policy_state state, verdicts_of *find)
{
	return find(p->policy, state, OP_FILE_READ_DATA) == CAN_ALLOW;
}

static bool is_readable_unnamed(struct planner *p, const struct place *dir)
{
	struct place child;

	return find_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &child) &&
	       is_readable(p, child.at, policy_verdicts_at);
}

static void note_unread(struct planner *p, enum unheld_why why, const struct place *place)
{
	note(p, why, rule_denying(p->policy, OP_FILE_READ_DATA), place->path);
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
		if (find_child(p, place, kid->text, ENTRY_OTHER, &child))
			note_absent_reads(p, &child);
}

static void mask(struct planner *p, const struct place *place)
{
	add(p, MOUNT_MASK, place->path);
	note(p, HELD_HIDDEN, NULL, place->path);
}

/* Hides what may not be read below DIR. */
/* NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX */
static void hide_in(struct planner *p, const struct place *dir, unsigned depth)
{
	struct listing entries = {.p = p, .dir = dir};
	struct place unnamed, child;

	if (depth > DEPTH_MAX || !list_all(&entries)) {
		note_unread(p, UNHELD_UNSEEN_READ, dir);
		return;
	}
	if (!find_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
		return;
	for (const struct name *kid = dir->name ? dir->name->kids : NULL; kid; kid = kid->next)
		if (!has_entry(&entries, kid->text) &&
		    find_child(p, dir, kid->text, ENTRY_OTHER, &child))
			note_absent_reads(p, &child);
	for (size_t i = 0; i < entries.n && !is_over(p); i++) {
		enum entry_type type = entries.list[i].type;

		if (!find_child(p, dir, str_of(entries.list[i].name), type, &child) ||
		    child.at == unnamed.at)
			continue;
		if (type == ENTRY_SYMLINK)
			note_absent_reads(p, &child); /* something else can take its place */
		else if (type == ENTRY_OTHER && !is_readable(p, child.at, policy_verdicts_at))
			mask(p, &child);
		else if (type == ENTRY_OTHER)
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

	if (!p->held.on || is_over(p) || !(*mixed & 1u << GROUP_READ) ||
	    ask_decides_whole(p, place->path) ||
	    !find_child(p, place, ASK_UNNAMED, ENTRY_OTHER, &unnamed) ||
	    !is_fit(p, place, asked, 1))
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
	policy_each_path(p->policy, note_pattern, &reach);
	hide_in(p, place, 0);
	return rights;
}

/* What is hidden where something may be written must not be moved away with what it lies in. */
static void pin_masked(struct planner *p)
{
	struct plan *plan = p->plan;

	for (size_t i = p->held.first; i < plan->n_mounts && !is_over(p); i++) {
		struct str path = str_of(plan->mounts[i].path);
		const char *dir;

		if (plan->mounts[i].kind != MOUNT_MASK)
			continue;
		while (path.n > 1 && !is_over(p)) {
			while (path.n > 1 && path.p[--path.n] != '/')
				;
			if (path.n == 1)
				break;
			dir = arena_strdup(p->arena, path);
			p->held.failed |= !dir;
			if (!dir || plan_is_mount(plan, MOUNT_READ_ONLY, path) ||
			    plan_is_mount(plan, MOUNT_WRITABLE, path) ||
			    !is_mounted_already(p, dir) || plan_is_read_only(plan, path))
				continue;
			add(p, MOUNT_WRITABLE, dir);
			note(p, HELD_IN_PLACE, NULL, dir);
		}
	}
}

/* ---- The stage ---- */

void hold_decide(struct planner *p)
{
	const struct caps *caps = p->caps;
	unsigned verdicts = 0;

	for (size_t i = 0; i < N_WRITE_OPS; i++)
		verdicts |= verdicts_anywhere(p->policy, write_ops[i]);
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

static bool is_superseded(const struct mount_row *row, const struct mount_row *before)
{
	return strcmp(before->path, row->path) == 0 &&
	       (before->kind == row->kind || before->kind == MOUNT_READ_ONLY);
}

int hold_end(struct planner *p, struct err *e)
{
	struct plan *plan = p->plan;
	struct mount_row *rows;
	size_t n = 0, all;

	if (!p->held.on)
		return 0;
	pin_masked(p);
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
	rows = plan->mounts + p->held.first;
	all = plan->n_mounts - p->held.first;
	if (all > 1)
		qsort(rows, all, sizeof(*rows), compare);
	for (size_t i = 0; i < all; i++)
		if (n == 0 || !is_superseded(&rows[i], &rows[n - 1]))
			rows[n++] = rows[i];
	plan->n_mounts = p->held.first + n;
	if (n)
		plan->ns |= NS_USER | NS_MOUNT;
	return 0;
}

/* ---- What it does not hold ---- */

/* One form of a profile may be several rules. */
static bool is_alike(const struct unheld *a, const struct unheld *b)
{
	const struct rule *x = a->rule, *y = b->rule;

	return a->why == b->why &&
	       (x == y || (x && y && x->at.line == y->at.line && x->at.column == y->at.column &&
			   str_eq(str_of(x->at.file), str_of(y->at.file))));
}

static bool is_listed(const struct paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->n; i++)
		if (strcmp(paths->list[i], path) == 0)
			return true;
	return false;
}

/* One gap for all that is not held for the reason and the rule of LIST[FROM]. */
static int add_gap(struct planner *p, struct gap gap, size_t from)
{
	const struct unheld *first = &p->held.list[from];
	struct paths paths = {.n = 0};

	for (size_t i = from; i < p->held.n; i++) {
		const struct unheld *at = &p->held.list[i];
		const char **list;

		if (!is_alike(at, first) || is_listed(&paths, at->path))
			continue;
		list = arena_grow(p->arena, paths.list, paths.n, &paths.cap, sizeof(*list));
		if (!list)
			return -ERR_MEMORY;
		paths.list = list;
		list[paths.n++] = at->path;
	}
	gap.rule = first->rule;
	gap.text = gap_list_paths(p, &paths, gap.text);
	gap.paths = gap_end_paths(p, &paths);
	return gap_add(p, gap);
}

static bool is_first(const struct held *held, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_alike(&held->list[i], &held->list[n]))
			return false;
	return true;
}

static unsigned verdicts_of_attributes(const struct planner *p)
{
	unsigned ret = 0;

	for (size_t i = 0; i < N_WRITE_OPS; i++)
		if (OF_ATTRIBUTES & 1u << i)
			ret |= verdicts_anywhere(p->policy, write_ops[i]);
	return ret;
}

static int gaps_of_means(struct planner *p)
{
	const bool any = p->plan->n_mounts > p->held.first;
	const bool some = (verdicts_of_attributes(p) & CAN_ALLOW) && !p->held.all;
	const struct {
		bool is_so;
		struct gap gap;
	} rows[] = {
		{any && p->input->inherits_files,
		 {.kind = GAP_CONTENT,
		  .ops = {OP_FILE_WRITE_ANY, OP_FILE_READ_DATA},
		  .text = "files and directories that the command is started with are not behind "
			  "the mounts that hold what is denied: they and their attributes can be "
			  "changed, and what lies below be read",
		  .help = "pipes in their place"}},
		{some,
		 {.kind = GAP_STRICTER,
		  .ops = {OP_FILE_WRITE_MODE, OP_FILE_WRITE_OWNER, OP_FILE_WRITE_TIMES,
			  OP_FILE_WRITE_XATTR, OP_FILE_WRITE_ACL},
		  .text = "modes, owners, times and extended attributes can be changed only where "
			  "something can be written"}},
		{any && p->input->inherits_devices,
		 {.kind = GAP_METADATA,
		  .ops = {OP_FILE_WRITE_MODE, OP_FILE_WRITE_OWNER, OP_FILE_WRITE_TIMES,
			  OP_FILE_WRITE_XATTR, OP_FILE_WRITE_ACL},
		  .text = "attributes of the terminals and devices that the command is started "
			  "with can be changed"}},
		{any,
		 {.kind = GAP_METADATA,
		  .ops = {OP_FILE_WRITE_DATA, OP_FILE_READ_DATA},
		  .text = "what is denied is held by mounts: not where somebody outside puts "
			  "something else in its place meanwhile, and not named pipes among it"}},
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++)
		if (rows[i].is_so)
			r = gap_add(p, rows[i].gap);
	return r;
}

int gaps_of_holding(struct planner *p)
{
	static const struct gap rows[UNHELD_COUNT] = {
		[UNHELD_ABSENT] = {.kind = GAP_CONTENT,
				   .ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
				   .below_paths = true,
				   .text = "what is not there yet can be made and written"},
		[UNHELD_PATTERN] = {.kind = GAP_CONTENT,
				    .ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
				    .below_paths = true,
				    .text = "what this matches can be made and written below these "
					    "directories, unless it is there already and in a "
					    "directory that was looked at"},
		[UNHELD_LINK] = {.kind = GAP_CONTENT,
				 .ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
				 .below_paths = true,
				 .text = "symlinks can be replaced"},
		[UNHELD_UNSEEN] = {.kind = GAP_CONTENT,
				   .ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
				   .below_paths = true,
				   .text = "these directories cannot be looked at, and all in them "
					   "can be written"},
		[UNHELD_ATTRIBUTES] =
			{.kind = GAP_CONTENT,
			 .ops = {OP_FILE_WRITE_MODE, OP_FILE_WRITE_OWNER, OP_FILE_WRITE_TIMES,
				 OP_FILE_WRITE_XATTR, OP_FILE_WRITE_ACL},
			 .below_paths = true,
			 .text = "modes, owners, times and extended attributes can be "
				 "changed at and below these"},
		[HELD_IN_PLACE] =
			{.kind = GAP_STRICTER,
			 .ops = {OP_FILE_WRITE_UNLINK, OP_FILE_WRITE_CREATE, OP_FILE_LINK},
			 .text = "these cannot be removed or renamed, and nothing moved or "
				 "linked into or out of them: what is denied there is held "
				 "by mounts"},
		[HELD_DEVICES] = {.kind = GAP_STRICTER,
				  .ops = {OP_FILE_READ_DATA, OP_FILE_WRITE_DATA},
				  .below_paths = true,
				  .text = "devices that are denied cannot be read either"},
		[UNHELD_ABSENT_READ] = {.kind = GAP_CONTENT,
					.ops = {OP_FILE_READ_DATA},
					.below_paths = true,
					.text = "what is not there yet can be read once it is"},
		[UNHELD_PATTERN_READ] = {.kind = GAP_CONTENT,
					 .ops = {OP_FILE_READ_DATA},
					 .below_paths = true,
					 .text = "what this matches can be read below these "
						 "directories, unless it is there already and in a "
						 "directory that was looked at"},
		[UNHELD_UNSEEN_READ] = {.kind = GAP_CONTENT,
					.ops = {OP_FILE_READ_DATA},
					.below_paths = true,
					.text = "these directories cannot be looked at, and all in "
						"them can be read"},
		[HELD_HIDDEN] = {.kind = GAP_STRICTER,
				 .ops = {OP_FILE_WRITE_ANY, OP_FILE_READ_ANY, OP_FILE_LINK,
					 OP_PROCESS_EXEC_ANY, OP_FILE_IOCTL},
				 .below_paths = true,
				 .text = "these are hidden, whatever else than reading is allowed"},
		[HELD_WHOLE] = {.kind = GAP_STRICTER,
				.ops = {OP_FILE_WRITE_ANY, OP_FILE_LINK},
				.below_paths = true,
				.text = "these are read-only as a whole but for what is there and "
					"allowed"},
	};
	const char *help = "a seccomp listener: there can be one only, and an outer sandbox has it";
	int r = 0;

	if (!p->held.on)
		return 0;
	for (size_t i = 0; i < p->held.n && r == 0; i++) {
		struct gap gap = rows[p->held.list[i].why];

		gap.help = help;
		if (is_first(&p->held, i))
			r = add_gap(p, gap, i);
	}
	return r == 0 ? gaps_of_means(p) : r;
}
