/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces and mounts. They isolate and hide; no denied content depends on
 * those of this file alone, so everything here is optional: without user
 * namespaces there is none of it, and gaps.c says what that shows. The mounts of
 * hold.c are another matter.
 */
#include "plan/planner.h"

#include <stdlib.h>

#include "base/path.h"
#include "base/banned.h"

struct private_mount {
	enum scope scope;
	enum mount_kind kind;
	const char *path;
};

/* clang-format off */
static const struct private_mount private_mounts[] = {
	{SCOPE_TMP, MOUNT_PRIVATE_TMP, "/tmp"},
	{SCOPE_SHM, MOUNT_PRIVATE_SHM, "/dev/shm"},
	{SCOPE_PTS, MOUNT_PRIVATE_PTS, "/dev/pts"},
};
/* clang-format on */

enum {
	N_PRIVATE_MOUNTS = sizeof(private_mounts) / sizeof(private_mounts[0]),
	HIDES_MAX = PLAN_MOUNTS_MAX / 2, /* each is some 20 us of every start */
};

static bool may_write_under(const struct policy *policy, struct str path)
{
	static const enum op ops[] = {OP_FILE_WRITE_DATA, OP_FILE_WRITE_CREATE,
				      OP_FILE_WRITE_UNLINK};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (verdicts_under(policy, path, ops[i]) & CAN_ALLOW)
			return true;
	return false;
}

int mounts_add(struct planner *p, enum mount_kind kind, struct str path, bool read_only)
{
	struct plan *plan = p->plan;
	struct mount_row *rows =
		arena_grow(p->arena, plan->mounts, plan->n_mounts, &p->mounts_cap, sizeof(*rows));
	char *copy = arena_strdup(p->arena, path);

	if (!rows || !copy)
		return -ERR_MEMORY;
	plan->mounts = rows;
	rows[plan->n_mounts++] = (struct mount_row){
		.kind = kind,
		.path = copy,
		.read_only = read_only,
	};
	return 0;
}

/* ---- Collecting paths ---- */

struct str_list {
	struct planner *p;
	unsigned scopes; /* those that get an empty mount */
	struct str *list;
	size_t n, cap;
	bool failed;
};

static void collect(struct str_list *paths, struct str path)
{
	struct str *list =
		arena_grow(paths->p->arena, paths->list, paths->n, &paths->cap, sizeof(*list));

	if (!list) {
		paths->failed = true;
		return;
	}
	paths->list = list;
	list[paths->n++] = path;
}

static int compare(const void *a, const void *b)
{
	const struct str *x = a, *y = b;
	size_t n = x->n < y->n ? x->n : y->n;
	int r = n ? memcmp(x->p, y->p, n) : 0;

	return r ? r : (x->n > y->n) - (x->n < y->n);
}

/*
 * Adds rows for the outermost of PATHS. An inner path needs a row of its own only where a row that
 * keeps it writable stands inside one that is read-only.
 */
static int add_outermost(struct str_list *paths, enum mount_kind kind)
{
	struct planner *p = paths->p;
	struct str outer = {NULL, 0};
	int r = 0;

	if (paths->failed)
		return -ERR_MEMORY;
	if (paths->n > 1)
		qsort(paths->list, paths->n, sizeof(*paths->list), compare);
	for (size_t i = 0; i < paths->n && r == 0; i++) {
		bool inner = outer.p && str_is_below(paths->list[i], outer);

		if (inner && (kind != MOUNT_KEEP || str_eq(paths->list[i], outer) ||
			      may_write_under(p->policy, outer) ==
				      may_write_under(p->policy, paths->list[i])))
			continue;
		outer = paths->list[i];
		r = mounts_add(p, kind, outer,
			       kind == MOUNT_KEEP ? !may_write_under(p->policy, outer)
						  : p->held.on);
	}
	return r;
}

/* ---- Keeping ---- */

static bool is_in_tmp(struct str path)
{
	const struct str tmp = STR("/tmp");

	return str_is_below(path, tmp) && !str_eq(path, tmp) && path_is_canonical(path);
}

/* What belongs to the run can lie in /tmp; the other private places hold nothing of the kind. */
static void collect_kept(struct str_list *keep, struct str path)
{
	if ((keep->scopes & SCOPE_TMP) && is_in_tmp(path))
		collect(keep, path);
}

static void collect_named(void *context, const struct rule *rule, const struct test *test)
{
	if (rule->verdict == VERDICT_ALLOW && is_fixed(test->match))
		collect_kept(context, test->text);
}

static int add_shown(struct planner *p)
{
	const struct plan_input *input = p->input;
	int r = 0;

	for (size_t i = 0; i < input->n_show && r == 0; i++)
		if (is_in_tmp(input->show[i]) &&
		    !plan_is_mounted(p->plan, MOUNT_KEEP, input->show[i]))
			r = mounts_add(p, MOUNT_KEEP, input->show[i], true);
	return r;
}

static int plan_private(struct planner *p)
{
	const struct plan_input *input = p->input;
	struct str_list keep = {.p = p, .scopes = input->private_scope};
	int r = 0;

	/* Who keeps all of such a place shares it. */
	for (size_t i = 0; i < input->n_keep; i++)
		for (size_t m = 0; m < N_PRIVATE_MOUNTS; m++)
			if (str_is(input->keep[i], private_mounts[m].path))
				keep.scopes &= ~(unsigned)private_mounts[m].scope;
	for (size_t i = 0; i < input->n_keep; i++)
		collect_kept(&keep, input->keep[i]);
	policy_each_path(p->policy, collect_named, &keep);
	for (size_t m = 0; m < N_PRIVATE_MOUNTS && r == 0; m++)
		if (keep.scopes & private_mounts[m].scope)
			r = mounts_add(p, private_mounts[m].kind, str_of(private_mounts[m].path),
				       false);
	if (r == 0)
		r = add_outermost(&keep, MOUNT_KEEP);
	return r || !(keep.scopes & SCOPE_TMP) ? r : add_shown(p);
}

/* ---- Hiding ---- */

/*
 * Hidden is what may neither be read nor written nor changed: an empty mount would break every use
 * it has, and take what is changed for itself. What is said of names below a file does not matter,
 * nor that unreadable programs may be executed.
 */
static bool is_denied_altogether(const struct planner *p, struct str path)
{
	static const enum op ops[] = {
		OP_FILE_READ_DATA,   OP_FILE_READ_METADATA, OP_FILE_READ_XATTR,
		OP_FILE_WRITE_DATA,  OP_FILE_WRITE_CREATE,  OP_FILE_WRITE_UNLINK,
		OP_FILE_WRITE_MODE,  OP_FILE_WRITE_OWNER,   OP_FILE_WRITE_TIMES,
		OP_FILE_WRITE_XATTR, OP_FILE_WRITE_ACL,     OP_FILE_WRITE_FLAGS,
	};
	policy_state state = policy_walk(p->policy, policy_start(p->policy), path);
	unsigned below = 0;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (policy_verdicts_at(p->policy, state, ops[i]) != CAN_DENY)
			return false;
		below |= policy_verdicts_below(p->policy, state, ops[i]);
	}
	return !(below & CAN_ALLOW) || !path_is_directory(p, path);
}

static void collect_hidden(void *context, const struct rule *rule, const struct test *test)
{
	struct str_list *paths = context;

	if (rule->verdict == VERDICT_DENY && is_fixed(test->match) && test->text.n > 1 &&
	    path_is_canonical(test->text) && is_denied_altogether(paths->p, test->text))
		collect(paths, test->text);
}

/* All, or none if they are too many: gaps.c says what that shows. */
static int plan_hidden(struct planner *p)
{
	struct str_list hidden = {.p = p};
	struct plan *plan = p->plan;
	size_t others = plan->n_mounts;
	int r;

	policy_each_path(p->policy, collect_hidden, &hidden);
	r = add_outermost(&hidden, MOUNT_HIDE);
	p->too_many_hidden = plan->n_mounts - others > HIDES_MAX;
	if (p->too_many_hidden)
		plan->n_mounts = others;
	return r;
}

/* ---- The stage ---- */

/* An empty network name space serves only a policy without any network. */
static bool wants_net(const struct planner *p)
{
	const struct facts *facts = &p->facts;
	unsigned inet = 0;

	for (size_t t = 0; t < 2; t++)
		inet |= facts->inet_out[t] | facts->inet_in[t];
	return is_private(p, SCOPE_NET) && inet == CAN_DENY;
}

int mounts_plan(struct planner *p, struct err *e)
{
	struct plan *plan = p->plan;
	int r = 0;

	if (!p->caps->userns)
		return 0;
	r = plan_private(p);
	/* A new pid name space with the old /proc would break /proc/self. */
	if (r == 0 && is_private(p, SCOPE_PID) && p->caps->mount_proc) {
		plan->ns |= NS_PID;
		r = mounts_add(p, MOUNT_PROC, STR("/proc"), false);
	}
	if (r == 0)
		r = plan_hidden(p);
	if (r < 0)
		return err_memory(e);
	if (plan->n_mounts > PLAN_MOUNTS_MAX)
		return err_set(e, ERR_LIMIT,
			       "the policy needs %zu mounts to keep what it names in /tmp; there "
			       "may be %d",
			       plan->n_mounts, PLAN_MOUNTS_MAX);
	if (is_private(p, SCOPE_IPC))
		plan->ns |= NS_IPC;
	if (wants_net(p))
		plan->ns |= NS_NET;
	if (plan->n_mounts)
		plan->ns |= NS_MOUNT;
	if (plan->ns)
		plan->ns |= NS_USER;
	return 0;
}
