/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast lane: calls that the filter lets through although their class is
 * brokered, because the Landlock floor bounds them. Anybody can make a call of
 * the lane, so a class is open only where whatever the floor lets through the
 * broker would have allowed. What the floor refuses is asked again at its
 * ordinary place (src/lane), where the broker answers.
 *
 * Never in the lane: what Landlock has no hook for (modes, owners, attributes,
 * access, stat), set-id bits, files without a name (for Landlock writing to the
 * directory), nodes, opens for neither reading nor writing, white-outs.
 */
#include "plan/planner.h"

#include "plan/territory.h"

#include "base/banned.h"

static bool grants(const struct plan *plan, uint32_t rights)
{
	for (size_t i = 0; i < plan->n_rows; i++)
		if (plan->rows[i].rights & rights)
			return true;
	return false;
}

/*
 * What a private mount covers is denied, and a descriptor from before still leads there: a row
 * further up would grant it.
 */
static bool grants_covered(const struct planner *p, uint32_t rights)
{
	const struct plan *plan = p->plan;

	if (!p->input->inherits_covered)
		return false;
	for (size_t m = 0; m < plan->n_mounts; m++) {
		struct str mount = str_of(plan->mounts[m].path);

		if (plan->mounts[m].kind != MOUNT_PRIVATE_TMP &&
		    plan->mounts[m].kind != MOUNT_PRIVATE_SHM)
			continue;
		for (size_t i = 0; i < plan->n_rows; i++)
			if ((plan->rows[i].rights & rights) &&
			    !str_eq(str_of(plan->rows[i].path), mount) &&
			    str_is_below(mount, str_of(plan->rows[i].path)))
				return true;
	}
	return false;
}

/* Does every row that lets files be made let them be opened with RIGHTS? Else one would be made
 * that cannot be opened. */
static bool made_can_be_opened(const struct plan *plan, uint32_t rights)
{
	for (size_t i = 0; i < plan->n_rows; i++)
		if ((plan->rows[i].rights & LL_MAKE_REG) &&
		    !landlock_simulate(plan, plan->rows[i].path, rights))
			return false;
	return true;
}

/* Rules about repositories from before need to know which directories the session made. */
static bool has_new_repositories(const struct policy *policy)
{
	for (size_t i = 0; i < policy_n_rules(policy); i++) {
		const struct rule *rule = policy_rule(policy, i);

		for (size_t m = 0; m < rule->n_modifiers; m++)
			if (rule->modifiers[m].id == MODIFIER_MESSAGE &&
			    str_eq(rule->modifiers[m].text, STR(PLAN_NEW_REPOSITORY)))
				return true;
	}
	return false;
}

/* ---- Moving from row to row ---- */

static bool can_move(const struct landlock_row *row)
{
	return row->directory && (row->rights & LL_REFER);
}

static bool are_alike(const struct planner *p, const struct landlock_row *a,
		      const struct landlock_row *b)
{
	for (const enum op *op = plan_move_ops; *op != OP_COUNT; op++)
		if (verdicts_under(p->policy, str_of(a->path), *op) !=
		    verdicts_under(p->policy, str_of(b->path), *op))
			return false;
	return true;
}

/* The row that the working directory is in, or one where nothing but files decides, or NULL. */
static const struct landlock_row *main_row(const struct planner *p)
{
	const struct landlock_row *ret = NULL;

	for (size_t i = 0; i < p->plan->n_rows; i++) {
		const struct landlock_row *row = &p->plan->rows[i];

		if (!can_move(row) || territory_of(str_of(row->path)))
			continue;
		if (p->input->cwd.n && str_is_below(p->input->cwd, str_of(row->path)))
			return row;
		ret = ret ? ret : row;
	}
	return ret;
}

/*
 * Below one row names are as free as each other (floor.c). Between two, Landlock compares its own
 * rights, and the policy knows more: modes, attributes, metadata. So only rows that the policy
 * knows no difference between keep the right; from and to others the broker moves.
 */
static void part_rows(struct planner *p)
{
	const struct landlock_row *first = main_row(p);

	for (size_t i = 0; i < p->plan->n_rows; i++) {
		struct landlock_row *row = &p->plan->rows[i];

		if (can_move(row) &&
		    (!first || territory_of(str_of(row->path)) || !are_alike(p, first, row)))
			row->rights &= ~(uint32_t)LL_REFER;
	}
}

/* ---- Each class: NULL, or why it is closed ---- */

static const char no_such_rows[] = "the floor grants it nowhere";
static const char covered[] = "what it was started with leads behind its private folders";

static const char *read_closed(const struct planner *p)
{
	const uint32_t rights = LL_READ_FILE | LL_READ_DIR;

	if (p->floor.exec_reads)
		return "programs may be executed where reads differ from name to name, which "
		       "takes the right to read all that is there";
	if (grants_covered(p, rights))
		return covered;
	return grants(p->plan, rights) ? NULL : no_such_rows;
}

static const char *write_closed(const struct planner *p)
{
	const uint32_t rights = LL_WRITE_FILE | LL_TRUNCATE;

	if (p->caps->landlock_abi < 3)
		return "before Linux 6.2 Landlock does not see truncation";
	if (grants_covered(p, rights))
		return covered;
	return grants(p->plan, LL_WRITE_FILE) ? NULL : no_such_rows;
}

static const char *names_closed(const struct planner *p)
{
	const uint32_t rights = LL_MAKE_REG | LL_REMOVE_FILE | LL_REFER;

	if (grants_covered(p, rights))
		return covered;
	return grants(p->plan, rights) ? NULL : no_such_rows;
}

static const char *directories_closed(const struct planner *p)
{
	if (has_new_repositories(p->policy))
		return "repositories that the session makes have to be known";
	return names_closed(p);
}

static const char *move_closed(const struct planner *p)
{
	const char *closed = directories_closed(p);

	if (closed)
		return closed;
	if (p->input->scratch.n)
		return "what leaves or enters the private folder in /tmp has to be known";
	return NULL;
}

static const char *create_closed(const struct planner *p, uint32_t rights)
{
	const char *closed = write_closed(p);

	if (!closed)
		closed = names_closed(p);
	if (!closed && !made_can_be_opened(p->plan, rights))
		closed = "what may be made could not be opened everywhere";
	return closed;
}

static void settle(struct planner *p, unsigned class, const char *closed)
{
	struct plan *plan = p->plan;

	if (!closed)
		plan->lane |= class;
	else
		plan->lane_closed[plan->n_lane_closed++] = (struct lane_closed){class, closed};
}

/*
 * Loading the library takes each program as long as some four brokered calls, so where the command
 * works has to be one of the lane's regions.
 */
static bool is_of_use(const struct planner *p)
{
	const struct plan_input *input = p->input;

	return !input->cwd.n || (p->plan->lane & LANE_READ) ||
	       ((p->plan->lane & LANE_CREATE) &&
		landlock_simulate(p->plan, input->cwd.p, LL_WRITE_FILE | LL_MAKE_REG));
}

static void close_rest(struct planner *p, const char *why)
{
	for (unsigned class = 1; class < 1u << LANE_CLASSES; class <<= 1)
		if (p->plan->lane & class)
			settle(p, class, why);
	p->plan->lane = 0;
}

void lane_plan(struct planner *p)
{
	const uint32_t write = LL_WRITE_FILE | LL_TRUNCATE;
	unsigned brokered = p->plan->brokered & (BROKER_READ | BROKER_WRITE);
	const char *no_read = read_closed(p), *no_create = create_closed(p, write);

	if (!p->input->lane || !brokered)
		return;
	if (brokered & BROKER_READ)
		settle(p, LANE_READ, no_read);
	/* Where every open is judged, these are too. */
	settle(p, LANE_WRITE, write_closed(p));
	settle(p, LANE_READ_WRITE, no_read ? no_read : write_closed(p));
	settle(p, LANE_CREATE, no_create);
	settle(p, LANE_CREATE_READ, no_read ? no_read : create_closed(p, write | LL_READ_FILE));
	if (brokered & BROKER_WRITE) {
		settle(p, LANE_NAMES, names_closed(p));
		settle(p, LANE_DIRECTORIES, directories_closed(p));
		settle(p, LANE_MOVE, move_closed(p));
	}
	if (p->input->first_name)
		close_rest(p, "something is mounted twice, and the floor knows no names");
	if (!is_of_use(p))
		close_rest(p, "the working directory is not where the floor grants it");
	if (p->plan->lane & LANE_MOVE)
		part_rows(p);
}
