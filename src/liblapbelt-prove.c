/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt_prove() and lapbelt_diff(): what holds for all requests, and the simplest that shows it
 * does not. */
#include <lapbelt.h>

#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <unistd.h>

#include "base/err.h"
#include "facade.h"
#include "policy/diff.h"
#include "policy/witness.h"
#include "sbpl/assertion.h"
#include "base/banned.h"

typedef void each_difference(void *context, const struct lapbelt_difference *difference);

/* What DIRECTIONS and OPS leave open is not looked at. */
static int find_differences(const struct policy *from, const struct policy *to, const bool *ops,
			    const bool directions[DIRECTION_COUNT], struct differences *ret,
			    struct err *e)
{
	struct diff_options options = {
		.from = from,
		.to = to,
		.ops = ops,
		.directions = {directions[DIRECTION_LOOSER], directions[DIRECTION_STRICTER]},
		.stops = DIFF_STOPS_DEFAULT,
		.memory = WITNESS_MEMORY_DEFAULT,
		.steps = WITNESS_STEPS_DEFAULT,
	};

	return policy_diff(&options, ret, e);
}

static int export_difference(const struct difference *found, enum direction direction,
			     struct lapbelt_difference *ret, struct arena *arena, struct err *e)
{
	*ret = (struct lapbelt_difference){.looser = direction == DIRECTION_LOOSER};
	if (!facade_words(&found->request, arena, &ret->request))
		return err_memory(e);
	facade_decision(&found->from, &ret->from);
	facade_decision(&found->to, &ret->to);
	return 0;
}

/* ---- Comparing ---- */

int lapbelt_diff(const struct lapbelt_policy *from, const struct lapbelt_policy *to, unsigned flags,
		 each_difference *each, void *context, struct lapbelt_error *error)
{
	const bool directions[] = {true, !(flags & LAPBELT_DIFF_LOOSER)};
	struct differences found = {0};
	bool ops[OP_COUNT];
	struct err e = {0};
	int r = 0;

	if (policy_target(from->compiled) != policy_target(to->compiled))
		r = err_set(&e, ERR_USAGE, "the policies are for different systems");
	for (unsigned op = 0; op < OP_COUNT; op++)
		ops[op] = op_is_asked((enum op)op);
	if (r == 0)
		r = find_differences(from->compiled, to->compiled, ops, directions, &found, &e);
	for (unsigned i = 0; i < OP_COUNT * DIRECTION_COUNT && r == 0; i++) {
		enum direction direction = (enum direction)(i % DIRECTION_COUNT);
		const struct difference *one = &found.by_op[i / DIRECTION_COUNT][direction];
		struct lapbelt_difference exported;

		if (!one->found)
			continue;
		r = export_difference(one, direction, &exported, &found.arena, &e);
		if (r == 0)
			each(context, &exported);
	}
	differences_release(&found);
	return r < 0 ? facade_fail(error, &e) : 0;
}

/* ---- Proving ---- */

static bool is_simpler(const struct difference *one, const struct difference *other)
{
	if (one->request.path.n != other->request.path.n)
		return one->request.path.n < other->request.path.n;
	return one->cost < other->cost;
}

static const struct difference *find_simplest(const struct differences *found,
					      enum direction direction)
{
	const struct difference *best = NULL;

	for (unsigned op = 0; op < OP_COUNT; op++) {
		const struct difference *one = &found->by_op[op][direction];

		if (one->found && (!best || is_simpler(one, best)))
			best = one;
	}
	return best;
}

/* A policy that says the other verdict of all that ASSERTION asks about. */
static int build_other(const struct assertion *assertion, struct policy **ret, struct err *e)
{
	struct policy_builder *builder =
		policy_builder_new(policy_target(assertion->spec), POLICY_LIMITS_DEFAULT);
	struct rule rule = {.verdict = assertion->never ? VERDICT_ALLOW : VERDICT_DENY};
	int r = builder ? 0 : err_memory(e);

	for (unsigned op = 0; op < OP_COUNT && r == 0; op++) {
		rule.op = (enum op)op;
		if (assertion->ops[op])
			r = policy_builder_add(builder, &rule, e);
	}
	if (r < 0) {
		policy_builder_free(builder);
		return r;
	}
	return policy_build(builder, ret, e);
}

/* An assertion about nothing would hold of every policy. */
static int check_is_about_something(const struct assertion *assertion, struct err *e)
{
	const bool both[] = {true, true};
	struct differences found = {0};
	struct policy *other = NULL;
	bool any = false;
	int r = build_other(assertion, &other, e);

	if (r == 0)
		r = find_differences(assertion->spec, other, assertion->ops, both, &found, e);
	for (unsigned i = 0; i < OP_COUNT * DIRECTION_COUNT && r == 0; i++)
		any |= found.by_op[i / DIRECTION_COUNT][i % DIRECTION_COUNT].found;
	differences_release(&found);
	policy_free(other);
	if (r < 0 || any)
		return r;
	(void)err_at(e, ERR_POLICY, (struct span){.file = ASSERTION_FILE, .line = 1, .column = 1},
		     "no request is what this assertion is about");
	return err_hint(e, "paths have no ~, no empty, . or .. component and no slash at the end; "
			   "lapbelt check says what is wrong with a filter");
}

/* Never: what the assertion denies and the policy allows. Always: the reverse. */
static int look_for_counterexample(const struct policy *policy, const char *text,
				   struct assertion *assertion, each_difference *each,
				   void *context, int *ret_holds, struct err *e)
{
	enum direction direction = assertion->never ? DIRECTION_LOOSER : DIRECTION_STRICTER;
	const bool directions[] = {assertion->never, !assertion->never};
	struct differences found = {0};
	const struct difference *simplest = NULL;
	struct lapbelt_difference exported;
	int r;

	for (unsigned op = 0; op < OP_COUNT; op++)
		assertion->ops[op] &= op_is_asked((enum op)op);
	r = check_is_about_something(assertion, e);
	if (r == 0)
		r = find_differences(assertion->spec, policy, assertion->ops, directions, &found,
				     e);
	if (r == 0)
		simplest = find_simplest(&found, direction);
	if (simplest)
		r = export_difference(simplest, direction, &exported, &found.arena, e);
	if (r == 0 && simplest) {
		exported.from.file = ASSERTION_FILE;
		exported.from.line = exported.from.column = 1;
		exported.from.rule = text;
		each(context, &exported);
	}
	if (r == 0)
		*ret_holds = !simplest;
	differences_release(&found);
	return r;
}

/* What $HOME and $PWD stand for here; others are unknown. */
struct names {
	struct sbpl_param list[3];
	size_t n;
	char home[PATH_MAX], cwd[PATH_MAX];
};

static void find_names(struct names *names)
{
	const char *home = getenv("HOME");

	names->n = 0;
	if (home && home[0] == '/' && realpath(home, names->home))
		names->list[names->n++] = (struct sbpl_param){STR("HOME"), str_of(names->home)};
	if (!getcwd(names->cwd, sizeof(names->cwd)))
		return;
	names->list[names->n++] = (struct sbpl_param){STR("PWD"), str_of(names->cwd)};
	names->list[names->n++] = (struct sbpl_param){STR("CWD"), str_of(names->cwd)};
}

int lapbelt_prove(const struct lapbelt_policy *policy, const char *assertion, each_difference *each,
		  void *context, int *ret_holds, struct lapbelt_error *error)
{
	struct assertion parsed;
	struct names names;
	struct err e = {0};
	int r;

	find_names(&names);
	r = assertion_parse(str_of(assertion), policy_target(policy->compiled), names.list, names.n,
			    &parsed, &e);
	if (r == 0)
		r = look_for_counterexample(policy->compiled, assertion, &parsed, each, context,
					    ret_holds, &e);
	policy_free(parsed.spec);
	return r < 0 ? facade_fail(error, &e) : 0;
}
