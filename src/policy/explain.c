/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision is policy_decide()'s; here every rule that could have had a say is asked alone, as
 * the only rule of a policy, so that there is one meaning of filters and not two.
 */
#include "policy/impl.h"

#include "base/banned.h"

struct way {
	const struct policy *policy;
	const struct request *request;
	struct decision decision;
	bool decided; /* at an operation before this one */
	void (*each)(void *context, const struct explain_step *step);
	void *context;
	struct err *e;
};

/* Does the filter of RULE hold for the request? Negative: it cannot be told. */
static int matches(const struct way *way, const struct rule *rule)
{
	struct policy_builder *builder =
		policy_builder_new(policy_target(way->policy), POLICY_LIMITS_DEFAULT);
	struct rule alone = *rule;
	struct decision decision;
	struct policy *policy;
	int r;

	if (!builder)
		return err_memory(way->e);
	alone.verdict = VERDICT_ALLOW;
	alone.op = way->request->op; /* which may have what RULE's own does not */
	alone.origin = ORIGIN_PROFILE;
	r = policy_builder_add(builder, &alone, way->e);
	if (r < 0) {
		policy_builder_free(builder);
		return r;
	}
	r = policy_build(builder, &policy, way->e);
	if (r < 0)
		return r;
	policy_decide(policy, way->request, &decision);
	policy_free(policy);
	return decision.rule != NULL;
}

static bool is_decisive(const struct way *way, enum op op, const struct rule *rule)
{
	return way->decision.op == op && way->decision.rule == rule;
}

static void tell(const struct way *way, enum op op, const struct rule *rule, enum explain_role role)
{
	const struct explain_step step = {
		is_decisive(way, op, rule) ? EXPLAIN_DECIDED : role,
		op,
		rule,
	};

	way->each(way->context, &step);
}

/* The filtered rules of OP and ORIGIN that match, last to first. Returns how many, or negative. */
static int tell_filtered(const struct way *way, enum op op, enum origin origin, int before)
{
	int n = before;

	for (size_t i = way->policy->n_rules; i-- > 0;) {
		const struct rule *rule = &way->policy->rules[i];
		int r;

		if (rule->op != op || rule->origin != origin || !rule->filter)
			continue;
		r = matches(way, rule);
		if (r < 0)
			return r;
		if (r > 0 && n++ > 0)
			tell(way, op, rule, EXPLAIN_OVERRIDDEN);
		else if (r > 0)
			tell(way, op, rule, EXPLAIN_NOT_ASKED);
	}
	return n;
}

/* The role of a default that does not decide; BEFORE of the rules that count more match. */
static enum explain_role role_of_default(const struct way *way, int before, enum origin origin)
{
	const struct rule *decisive = way->decision.rule;

	if (before > 0)
		return EXPLAIN_OVERRIDDEN;
	return origin == ORIGIN_PROFILE && decisive && decisive->origin == ORIGIN_RUNTIME
		       ? EXPLAIN_GAVE_WAY
		       : EXPLAIN_NOT_ASKED;
}

/* The unfiltered rules of OP and ORIGIN; BEFORE of its filtered ones match. */
static int tell_unfiltered(const struct way *way, enum op op, enum origin origin, int before)
{
	int n = before;

	for (size_t i = way->policy->n_rules; i-- > 0;) {
		const struct rule *rule = &way->policy->rules[i];

		if (rule->op != op || rule->origin != origin || rule->filter)
			continue;
		tell(way, op, rule, role_of_default(way, n++, origin));
	}
	return n;
}

/* All that OP says. Returns whether anything does, or negative. */
static int tell_op(const struct way *way, enum op op)
{
	int n = tell_filtered(way, op, ORIGIN_PROFILE, 0);
	int runtime;

	if (n >= 0)
		n = tell_unfiltered(way, op, ORIGIN_PROFILE, n);
	if (n < 0)
		return n;
	runtime = tell_filtered(way, op, ORIGIN_RUNTIME, n);
	if (runtime >= 0)
		runtime = tell_unfiltered(way, op, ORIGIN_RUNTIME, runtime);
	return runtime;
}

int policy_explain(const struct policy *policy, const struct request *request,
		   void (*each)(void *context, const struct explain_step *step), void *context,
		   struct err *e)
{
	struct way way = {
		.policy = policy,
		.request = request,
		.each = each,
		.context = context,
		.e = e,
	};
	enum op op = request->op;

	policy_decide(policy, request, &way.decision);
	for (;; op = op_parent(op)) {
		int n = tell_op(&way, op);
		bool last = op_is_terminal(op);

		if (n < 0)
			return n;
		if (last && is_decisive(&way, op, NULL))
			tell(&way, op, NULL, EXPLAIN_DECIDED);
		way.decided |= way.decision.op == op;
		if (last)
			return 0;
		if (!way.decided)
			tell(&way, op, NULL, EXPLAIN_FELL);
	}
}
