/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/ask.h"

#include "base/path.h"
#include "plan/territory.h"
#include "base/banned.h"

static const char shared_tmp[] = "/tmp";

/* What two authorities say together. */
static unsigned combine(unsigned a, unsigned b)
{
	return (a & b & CAN_ALLOW) | ((a | b) & CAN_DENY);
}

bool ask_child(const struct planner *p, const struct place *parent, struct str name,
	       enum entry_type type, struct place *ret)
{
	const char *base = parent->path[1] ? parent->path : "";
	char *path = arena_printf(p->arena, "%s/%.*s", base, (int)name.n, name.p);
	policy_state state = 0;

	if (!path)
		return false;
	state = policy_walk(p->policy, parent->below, str_of(path + strlen(base)));
	*ret = (struct place){.path = path,
			      .type = type,
			      .at = state,
			      .below = state,
			      .name = name_child(parent->name, name)};
	return true;
}

typedef unsigned verdicts_of(const struct policy *policy, policy_state state, enum op op);

static unsigned ask(const struct policy *policy, policy_state state, const struct uses *uses,
		    verdicts_of *verdicts)
{
	unsigned ret = 0;

	for (size_t u = 0; u < 2 && uses->ops[u][0] != OP_DEFAULT; u++) {
		unsigned use = CAN_ALLOW;

		for (const enum op *op = uses->ops[u]; *op != OP_DEFAULT; op++)
			use = combine(use, verdicts(policy, state, *op));
		ret |= use;
	}
	return ret;
}

static bool is_under(const char *path, const char *dir)
{
	return str_is_below(str_of(path), str_of(dir));
}

/* ---- Mounts of our own: all that is in them is the session's ---- */

static bool is_own(const struct mount_row *mount)
{
	return mount->kind == MOUNT_PRIVATE_SHM || mount->kind == MOUNT_PRIVATE_PTS;
}

/* Mounts of the run around us, which are private to both. */
static const struct {
	enum scope scope;
	const char *path;
} around[] = {
	{SCOPE_SHM, "/dev/shm"},
	{SCOPE_PTS, "/dev/pts"},
};

bool ask_in_own_mount(const struct planner *p, const char *path)
{
	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		if (is_around(p, around[i].scope) && is_under(path, around[i].path))
			return true;
	for (size_t i = 0; i < p->plan->n_mounts; i++)
		if (is_own(&p->plan->mounts[i]) && is_under(path, p->plan->mounts[i].path))
			return true;
	return false;
}

/* ---- Places where other operations decide ---- */

/* What GROUP can answer in TERRITORY, where the file operations answer FILES. */
static unsigned ask_territory(const struct planner *p, const struct territory *territory,
			      enum group group, unsigned files)
{
	unsigned names = 0;

	if (group != GROUP_EXEC && group != GROUP_NODES && ask_in_own_mount(p, territory->path))
		return CAN_ALLOW;
	if (!territory_asks(territory, group))
		return files;
	names = ask(p->policy, policy_start(p->policy), &territory->uses[group],
		    policy_verdicts_at);
	return territory->and_files ? combine(names, files) : names;
}

/* ---- A private /tmp that no mount could make ---- */

/* Is PATH part of what belongs to the run? */
static bool is_ours(const struct plan_input *input, struct str path)
{
	bool ret = str_is_below(path, input->scratch);

	for (size_t i = 0; i < input->n_keep; i++)
		ret |= str_is_below(path, input->keep[i]);
	return ret;
}

/* Is part of what belongs to the run at PATH or below? */
static bool leads_to_ours(const struct plan_input *input, struct str path)
{
	bool ret = str_is_below(input->scratch, path);

	for (size_t i = 0; i < input->n_keep; i++)
		ret |= str_is_below(input->keep[i], path);
	for (size_t i = 0; i < input->n_show; i++)
		ret |= str_is_below(input->show[i], path);
	return ret;
}

/* Is PATH there, to be read and executed only, and does GROUP do no more? */
static bool is_shown(const struct plan_input *input, struct str path, enum group group)
{
	bool ret = false;

	for (size_t i = 0; i < input->n_show; i++)
		ret |= str_is_below(path, input->show[i]);
	return ret && (group == GROUP_READ || group == GROUP_LIST || group == GROUP_EXEC);
}

/* A private /dev/shm that no mount could make: the broker knows what in it is ours. */
static bool is_shared_shm(const struct planner *p, const char *path)
{
	return is_private(p, SCOPE_SHM) && is_under(path, "/dev/shm") && !ask_in_own_mount(p, path);
}

/* /tmp itself may be listed; nobody makes or removes it. */
static unsigned scope_at(const struct planner *p, const char *path, enum group group)
{
	if (is_shared_shm(p, path))
		return CAN_DENY;
	if (!p->input->scratch.n || !is_under(path, shared_tmp))
		return CAN_ALLOW;
	if (strcmp(path, shared_tmp) == 0)
		return group == GROUP_LIST ? CAN_ALLOW : CAN_DENY;
	return is_ours(p->input, str_of(path)) || is_shown(p->input, str_of(path), group)
		       ? CAN_ALLOW
		       : CAN_DENY;
}

static unsigned scope_below(const struct planner *p, const char *path, enum group group)
{
	if (is_shared_shm(p, path))
		return CAN_DENY;
	if (!p->input->scratch.n)
		return CAN_ALLOW;
	if (is_under(shared_tmp, path))
		return CAN_ALLOW | CAN_DENY;
	if (!is_under(path, shared_tmp) || is_ours(p->input, str_of(path)) ||
	    is_shown(p->input, str_of(path), group))
		return CAN_ALLOW;
	return leads_to_ours(p->input, str_of(path)) ? CAN_ALLOW | CAN_DENY : CAN_DENY;
}

/* ---- All together ---- */

unsigned ask_at(const struct planner *p, const struct place *place, enum group group)
{
	unsigned ret = ask(p->policy, place->at, &groups[group].uses, policy_verdicts_at);
	const struct territory *here = territory_of(str_of(place->path));

	/* The directory at its top is one of the file system as any other. */
	if (here && place->type != ENTRY_DIRECTORY)
		ret = ask_territory(p, here, group, ret);
	return combine(ret, scope_at(p, place->path, group));
}

unsigned ask_below(const struct planner *p, const struct place *place, enum group group)
{
	unsigned ret = ask(p->policy, place->below, &groups[group].uses, policy_verdicts_below);
	const struct territory *here = territory_of(str_of(place->path));

	if (here)
		return combine(ask_territory(p, here, group, ret),
			       scope_below(p, place->path, group));
	for (size_t i = 0; i < n_territories; i++)
		if (is_under(territories[i].path, place->path))
			ret |= ask_territory(p, &territories[i], group, ret);
	return combine(ret, scope_below(p, place->path, group));
}

/* ---- What is mounted twice ---- */

bool ask_first_place(const struct planner *p, const struct place *place, char name[PLAN_PATH_MAX],
		     struct place *ret)
{
	policy_state start = policy_start(p->policy);

	if (!p->input->first_name ||
	    !p->input->first_name(p->input->first_name_context, place->path, name))
		return false;
	*ret = (struct place){
		.type = place->type,
		.path = name,
		.at = policy_walk(p->policy, start, str_of(name)),
	};
	ret->below = name[1] ? ret->at : start;
	return true;
}

unsigned ask_first(const struct planner *p, const struct place *place, enum group group, bool below)
{
	char name[PLAN_PATH_MAX];
	struct place first;

	if (!ask_first_place(p, place, name, &first))
		return CAN_ALLOW;
	return below ? ask_below(p, &first, group) : ask_at(p, &first, group);
}

bool ask_decides_whole(const struct planner *p, const char *path)
{
	const struct territory *here = territory_of(str_of(path));

	return (here && !here->by_path) || ask_in_own_mount(p, path);
}

bool ask_only_names(const struct planner *p, const char *path)
{
	return p->input->scratch.n && is_under(path, shared_tmp) &&
	       !is_ours(p->input, str_of(path));
}

void ask_add_names(const struct planner *p, struct names *names)
{
	for (size_t i = 0; i < n_territories; i++)
		names_add(names, str_of(territories[i].path));
	for (size_t i = 0; i < p->plan->n_mounts; i++)
		if (is_own(&p->plan->mounts[i]))
			names_add(names, str_of(p->plan->mounts[i].path));
	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		if (is_around(p, around[i].scope))
			names_add(names, str_of(around[i].path));
	if (!p->input->scratch.n)
		return;
	names_add(names, p->input->scratch);
	for (size_t i = 0; i < p->input->n_keep; i++)
		if (path_is_canonical(p->input->keep[i]) &&
		    str_is_below(p->input->keep[i], str_of(shared_tmp)))
			names_add(names, p->input->keep[i]);
	for (size_t i = 0; i < p->input->n_show; i++)
		if (path_is_canonical(p->input->show[i]) &&
		    str_is_below(p->input->show[i], str_of(shared_tmp)))
			names_add(names, p->input->show[i]);
}
