/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/held.h"

#include "base/banned.h"

enum {
	LISTED_MAX = 1024,
	ENTRIES_MAX = 4096,
};

const enum op held_write_ops[N_WRITE_OPS] = {
	OP_FILE_WRITE_CREATE, OP_FILE_WRITE_UNLINK, OP_FILE_LINK,        OP_FILE_MKNOD,
	OP_FILE_WRITE_DATA,   OP_FILE_WRITE_MODE,   OP_FILE_WRITE_OWNER, OP_FILE_WRITE_TIMES,
	OP_FILE_WRITE_ACL,    OP_FILE_WRITE_XATTR,
};

static const enum op read_ops[] = {OP_FILE_READ_DATA};

typedef unsigned verdicts_of(const struct policy *policy, policy_state state, enum op op);

/* The operations whose answers in STATE are among VERDICTS, and no others. */
static unsigned ops_with(const struct planner *p, policy_state state, verdicts_of *find,
			 unsigned verdicts)
{
	unsigned ret = 0;

	for (size_t i = 0; i < N_WRITE_OPS; i++)
		if (!(find(p->policy, state, held_write_ops[i]) & ~verdicts))
			ret |= 1u << i;
	return ret;
}

unsigned held_allowed_at(const struct planner *p, const struct place *place)
{
	return ops_with(p, place->at, policy_verdicts_at, CAN_ALLOW);
}

unsigned held_allowed_below(const struct planner *p, const struct place *place)
{
	return ops_with(p, place->below, policy_verdicts_below, CAN_ALLOW);
}

unsigned held_denied_below(const struct planner *p, const struct place *place)
{
	return ops_with(p, place->below, policy_verdicts_below, CAN_DENY);
}

bool held_child(struct planner *p, const struct place *dir, struct str name, enum entry_type type,
		struct place *ret)
{
	if (!ask_child(p, dir, name, type, ret))
		p->held.failed = true;
	return !p->held.failed;
}

unsigned held_allowed_unnamed(struct planner *p, const struct place *dir)
{
	struct place child;

	return held_child(p, dir, ASK_UNNAMED, ENTRY_OTHER, &child) ? held_allowed_at(p, &child)
								    : 0;
}

/*
 * Places where not only files' operations are asked, or that a read-only mount does not make so.
 * What is denied of any name in them no mount can hold.
 */
static const char *const others[] = {"/dev", "/dev/shm", "/dev/pts", "/proc/sys"};

bool held_is_fit(struct planner *p, const struct place *place, const enum group *asked, size_t n)
{
	policy_state start = policy_start(p->policy);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct place other = {.path = others[i], .type = ENTRY_DIRECTORY}, unnamed;

		other.at = other.below = policy_walk(p->policy, start, str_of(others[i]));
		if (!str_is_below(str_of(others[i]), str_of(place->path)))
			continue;
		if (!held_child(p, &other, ASK_UNNAMED, ENTRY_OTHER, &unnamed))
			return false;
		for (size_t g = 0; g < n; g++)
			if (ask_at(p, &unnamed, asked[g]) != CAN_ALLOW)
				return false;
	}
	return true;
}

/* ---- Notes and mounts ---- */

void held_note(struct planner *p, enum unheld_why why, const struct rule *rule, const char *path)
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
		struct request request = {.op = held_write_ops[i], .path = str_of(path)};
		struct decision decision;

		if (!(ops & 1u << i))
			continue;
		policy_decide(p->policy, &request, &decision);
		if (decision.verdict == VERDICT_DENY)
			ret = decision.rule;
	}
	for (size_t i = 0; i < N_WRITE_OPS && !ret; i++)
		if (ops & 1u << i)
			ret = rule_denying(p->policy, held_write_ops[i]);
	return ret;
}

void held_note_denied(struct planner *p, enum unheld_why why, const struct place *place,
		      unsigned ops)
{
	held_note(p, why, rule_denying_at(p, place->path, ops), place->path);
}

void held_add(struct planner *p, enum mount_kind kind, const char *path)
{
	if (p->plan->n_mounts - p->held.first >= HELD_MAX)
		p->held.too_many = true;
	else if (mounts_add(p, kind, str_of(path), kind == MOUNT_MASK) < 0)
		p->held.failed = true;
}

bool held_is_over(const struct planner *p)
{
	return p->held.failed || p->held.too_many;
}

bool held_is_mounted(const struct planner *p, const char *path)
{
	for (size_t i = p->held.first; i < p->plan->n_mounts; i++)
		if (p->plan->mounts[i].kind != MOUNT_MASK &&
		    str_is_below(str_of(path), str_of(p->plan->mounts[i].path)))
			return true;
	return p->held.all;
}

/* ---- Patterns ---- */

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
void held_note_pattern(void *context, const struct rule *rule, const struct test *test)
{
	const struct reach *reach = context;
	struct planner *p = reach->p;
	struct str fixed, region = str_of(reach->region->path[1] ? reach->region->path : "");
	const enum op *ops = reach->why == UNHELD_PATTERN ? held_write_ops : read_ops;
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
		held_note(p, reach->why, rule, reach->region->path);
}

/* ---- Entries ---- */

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

bool held_is_there(const struct planner *p, struct str path)
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

	if (!held_child(listing->p, listing->dir, str_of(name), type, &child))
		return 3;
	if (!held_is_there(listing->p, str_of(child.path)))
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

bool held_list(struct listing *listing)
{
	const struct plan_input *input = listing->p->input;

	return listing->p->held.listed++ < LISTED_MAX &&
	       input->list(input->list_context, listing->dir->path, add_entry, listing) == 0;
}

bool held_has_entry(const struct listing *listing, struct str name)
{
	for (size_t i = 0; i < listing->n; i++)
		if (str_is(name, listing->list[i].name))
			return true;
	return false;
}
