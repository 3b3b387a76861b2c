/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the stages. */
#include "plan/plan.h"

#include "plan/planner.h"
#include "base/banned.h"

const enum op plan_move_ops[] = {
	OP_NETWORK_OUTBOUND,
	OP_FILE_READ_DATA,
	OP_FILE_READ_METADATA,
	OP_FILE_READ_XATTR,
	OP_FILE_WRITE_DATA,
	OP_FILE_WRITE_CREATE,
	OP_FILE_WRITE_UNLINK,
	OP_FILE_WRITE_MODE,
	OP_FILE_WRITE_OWNER,
	OP_FILE_WRITE_TIMES,
	OP_FILE_WRITE_XATTR,
	OP_FILE_WRITE_ACL,
	OP_FILE_WRITE_FLAGS,
	OP_FILE_WRITE_SETUGID,
	OP_FILE_LINK,
	OP_PROCESS_EXEC_ANY,
	OP_COUNT,
};

const enum op *const plan_move_file_ops = plan_move_ops + 1;

static int stop(void *context, const char *name, enum entry_type type)
{
	(void)context;
	(void)name;
	(void)type;
	return 3;
}

bool path_is_directory(const struct planner *p, struct str path)
{
	char *copy = arena_strdup(p->arena, path);

	/* One that may not be read (2) is one. */
	return copy && p->input->list(p->input->list_context, copy, stop, NULL) != 1;
}

int plan_make(const struct plan_input *input, struct arena *arena, struct plan *ret, struct err *e)
{
	struct plan plan = {.ns = 0};
	struct planner p = {
		.input = input,
		.policy = input->policy,
		.caps = input->caps,
		.arena = arena,
		.plan = &plan,
	};
	int r = 0;

	if (input->caps->landlock_abi <= 0) {
		(void)err_set(e, ERR_GAP,
			      "this kernel has no Landlock, on which everything stands");
		return err_hint(
			e,
			"Linux 5.13 or newer with landlock in its lsm= list, and no outer sandbox "
			"that refuses it");
	}
	facts_collect(&p);
	hold_decide(&p);
	r = mounts_plan(&p, e);
	p.held.first = plan.n_mounts;
	if (r == 0)
		r = floor_plan(&p, e);
	if (r < 0)
		return r;
	classes_plan(&p);
	lane_plan(&p);
	r = seccomp_plan(&p, e);
	if (r == 0)
		r = gaps_plan(&p, e);
	if (r == 0)
		*ret = plan;
	return r;
}

bool plan_is_mounted(const struct plan *plan, enum mount_kind kind, struct str path)
{
	for (size_t i = 0; i < plan->n_mounts; i++)
		if (plan->mounts[i].kind == kind &&
		    str_is_below(path, str_of(plan->mounts[i].path)))
			return true;
	return false;
}

bool plan_is_mount(const struct plan *plan, enum mount_kind kind, struct str path)
{
	for (size_t i = 0; i < plan->n_mounts; i++)
		if (plan->mounts[i].kind == kind && str_is(path, plan->mounts[i].path))
			return true;
	return false;
}

bool plan_is_of_holding(const struct mount_row *row)
{
	return row->kind == MOUNT_READ_ONLY || row->kind == MOUNT_WRITABLE;
}

static bool is_hidden_read_only(const struct mount_row *row)
{
	return (row->kind == MOUNT_HIDE || row->kind == MOUNT_MASK) && row->read_only;
}

bool plan_is_read_only(const struct plan *plan, struct str path)
{
	const struct mount_row *innermost = NULL;

	for (size_t i = 0; i < plan->n_mounts; i++) {
		const struct mount_row *row = &plan->mounts[i];

		if ((plan_is_of_holding(row) || is_hidden_read_only(row)) &&
		    str_is_below(path, str_of(row->path)) &&
		    (!innermost || strlen(row->path) >= strlen(innermost->path)))
			innermost = row;
	}
	return innermost && innermost->kind != MOUNT_WRITABLE;
}

const struct gap *plan_refusal(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_gaps; i++)
		if (plan->gaps[i].kind == GAP_CONTENT || plan->gaps[i].stops)
			return &plan->gaps[i];
	return NULL;
}
