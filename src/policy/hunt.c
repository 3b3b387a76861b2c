/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search through two policies at once, or through one and then the other: the rule alone, and all
 * rules.
 */
#include "policy/hunt.h"

#include "base/banned.h"

enum {
	STOPS_MAX = 1 << 15 /* of one search */
};

struct hunt {
	const struct census *census;
	const struct rule *rule;
	const struct policy *policies[2]; /* the rule alone, all rules */
	struct witnesses *witnesses;
	size_t *stops;
	struct quarry *found;

	const struct paths_stop *stop; /* NULL: requests without a path */
	policy_state states[2];
	enum op op;
};

/* The first match is kept until another rule is found to decide otherwise. */
static int note_match(void *context, const struct request *request, unsigned cost)
{
	struct hunt *h = context;
	struct decision alone, all;
	bool differs;

	(void)cost;
	policy_decide_at(h->policies[0], h->states[0], request, &alone);
	if (!alone.rule)
		return 0;
	policy_decide_at(h->policies[1], h->states[1], request, &all);
	differs = all.verdict != h->rule->verdict;
	if (h->found->matched && !differs)
		return 0;
	h->found->matched = true;
	h->found->by = all.rule;
	h->found->op = request->op;
	h->found->path = h->stop ? lint_path(h->census->linter, h->stop) : STR("");
	return differs;
}

static bool is_plain(const struct hunt *h)
{
	return policy_chain(h->policies[0], h->states[0], h->op)->n == 1 &&
	       policy_chain(h->policies[1], h->states[1], h->op)->n == 1;
}

static int hunt_op(struct hunt *h)
{
	const struct witness_place place = {.op = h->op, .states = h->states, .has_path = h->stop};
	const struct request any = {.op = h->op};
	struct err e = {0};
	int r;

	if (is_plain(h))
		return census_speaks_for(h->census, h->op, h->stop) ? note_match(h, &any, 0) : 0;
	r = witness_each(h->witnesses, &place, note_match, h, &e);
	h->found->complete &= r >= 0;
	return r > 0;
}

/* Is a rule of ABOVE asked for requests of OP? */
static bool comes_to(enum op op, enum op above)
{
	while (op != above && !op_is_terminal(op))
		op = op_parent(op);
	return op == above;
}

static int hunt_here(struct hunt *h)
{
	int r = 0;

	for (unsigned op = 0; op < OP_COUNT && r == 0; op++) {
		h->op = (enum op)op;
		if (lint_asks(h->op, h->stop) && comes_to(h->op, h->rule->op))
			r = hunt_op(h);
	}
	return r;
}

static bool matches_alone(const struct hunt *h)
{
	const struct chain *chain = policy_chain(h->policies[0], h->states[0], h->rule->op);

	return chain->n > 1 || chain->entries[0].decision.rule;
}

/* Does the rule match nothing that goes on from here? */
static bool is_over(const struct hunt *h)
{
	return h->policies[0]->paths.states[h->states[0]].hint == HINT_FINAL && !matches_alone(h);
}

static int hunt_at_stop(void *context, const struct paths_stop *stop)
{
	struct hunt *h = context;
	int r = 0;

	--*h->stops;
	h->stop = stop;
	h->states[0] = stop->states[0];
	h->states[1] = stop->states[1];
	if (is_over(h))
		return PATHS_SKIP;
	if (matches_alone(h))
		r = hunt_here(h);
	return r;
}

/* Any path will do. */
static int hunt_once(void *context, const struct paths_stop *stop)
{
	(void)hunt_at_stop(context, stop);
	return 1;
}

/* Does it matter which path a request has? */
static bool depends_on_path(const struct hunt *h)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		if (!lint_asks((enum op)op, true) || !comes_to((enum op)op, h->rule->op))
			continue;
		for (unsigned i = 0; i < 2; i++)
			if (h->policies[i]->column[op] < h->policies[i]->n_path_columns)
				return true;
	}
	return false;
}

/* Where only the rule alone was walked. */
static int hunt_first(void *context, const struct paths_stop *stop)
{
	struct hunt *h = context;

	h->states[0] = stop->states[0];
	if (!matches_alone(h))
		return 0;
	h->stop = stop;
	h->states[1] = policy_walk(h->policies[1], policy_start(h->policies[1]),
				   lint_path(h->census->linter, stop));
	return hunt_here(h) != 0 || h->found->matched;
}

static void hunt_paths(struct hunt *h)
{
	struct linter *linter = h->census->linter;
	struct paths_options options = {
		.policies = h->policies,
		.n = 2,
		.stops = *h->stops < STOPS_MAX ? *h->stops : STOPS_MAX,
		.memory = linter->limits.memory,
		.each = depends_on_path(h) ? hunt_at_stop : hunt_once,
		.context = h,
	};
	struct err e = {0};

	if (*h->stops > 0 && paths_walk(&options, &e) >= 0)
		return;
	h->found->complete = false;
	options.n = 1;
	options.stops = linter->limits.states;
	options.each = hunt_first;
	if (!h->found->matched)
		(void)paths_walk(&options, &e);
}

void hunt(const struct census *census, const struct rule *rule, size_t *stops, struct quarry *ret)
{
	struct linter *linter = census->linter;
	const struct rule *const rules[] = {rule};
	struct policy *alone = lint_build(linter, rules, 1);
	struct hunt h = {
		.census = census,
		.rule = rule,
		.policies = {alone, census->policy},
		.stops = stops,
		.found = ret,
	};
	const struct witness_options options = {
		.policies = h.policies,
		.n = 2,
		.memory = linter->limits.memory,
		.steps = &linter->steps,
		.foreign = true,
	};
	struct err e = {0};

	*ret = (struct quarry){.complete = alone};
	if (!alone)
		return;
	if (witnesses_new(&options, &h.witnesses, &e) < 0) {
		linter->failed = true;
	} else {
		h.states[0] = policy_start(alone);
		h.states[1] = policy_start(census->policy);
		if (hunt_here(&h) == 0)
			hunt_paths(&h);
	}
	witnesses_free(h.witnesses);
	policy_free(alone);
}
