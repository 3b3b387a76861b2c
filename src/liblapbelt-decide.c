/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt_decide() and lapbelt_explain(): one decision, the rule behind it, and the way to it. */
#include <lapbelt.h>

#include <assert.h>

#include "base/err.h"
#include "facade.h"
#include "policy/policy.h"
#include "base/banned.h"

static const char *builtin_text(enum op op)
{
	static const char *const texts[OP_COUNT] = {
#define OP(symbol, name, parent, builtin, categories) [OP_##symbol] = "built-in default of " name,
#include "policy/ops.def"
#undef OP
	};

	return texts[op];
}

/* Where RULE stands, NULL being the built-in default of OP. */
static void place_rule(const struct rule *rule, enum op op, const char **file, unsigned *line,
		       unsigned *column, const char **text)
{
	*file = rule && rule->at.file ? rule->at.file : "";
	*line = rule ? rule->at.line : 0;
	*column = rule ? rule->at.column : 0;
	*text = rule ? rule->text.p : builtin_text(op);
}

void facade_decision(const struct decision *decision, struct lapbelt_decision *ret)
{
	ret->allowed = decision->verdict == VERDICT_ALLOW;
	ret->operation = op_name(decision->op);
	place_rule(decision->rule, decision->op, &ret->file, &ret->line, &ret->column, &ret->rule);
}

int lapbelt_decide(const struct lapbelt_policy *policy, const char *operation,
		   const char *const *arguments, struct lapbelt_decision *ret_decision,
		   struct lapbelt_error *error)
{
	struct facade_request asked;
	struct decision decision;
	struct err e = {0};

	if (facade_request(operation, arguments, &asked, &e) < 0)
		return facade_fail(error, &e);
	policy_decide(policy->compiled, &asked.request, &decision);
	facade_decision(&decision, ret_decision);
	return 0;
}

/* ---- Explaining ---- */

static_assert((int)LAPBELT_ROLE_DECIDED == (int)EXPLAIN_DECIDED &&
		      (int)LAPBELT_ROLE_OVERRIDDEN == (int)EXPLAIN_OVERRIDDEN &&
		      (int)LAPBELT_ROLE_NOT_ASKED == (int)EXPLAIN_NOT_ASKED &&
		      (int)LAPBELT_ROLE_GAVE_WAY == (int)EXPLAIN_GAVE_WAY &&
		      (int)LAPBELT_ROLE_FELL == (int)EXPLAIN_FELL,
	      "roles map one to one");

struct listener {
	void (*each)(void *context, const struct lapbelt_explanation *explanation);
	void *context;
};

static void export_step(void *context, const struct explain_step *step)
{
	const struct listener *listener = context;
	struct lapbelt_explanation ret = {
		.role = (enum lapbelt_role)step->role,
		.operation = op_name(step->op),
		.file = "",
		.rule = "",
	};

	if (step->role == EXPLAIN_FELL) {
		ret.parent = op_name(op_parent(step->op));
	} else {
		ret.allows =
			(step->rule ? step->rule->verdict : op_builtin(step->op)) == VERDICT_ALLOW;
		place_rule(step->rule, step->op, &ret.file, &ret.line, &ret.column, &ret.rule);
	}
	listener->each(listener->context, &ret);
}

int lapbelt_explain(const struct lapbelt_policy *policy, const char *operation,
		    const char *const *arguments,
		    void (*each)(void *context, const struct lapbelt_explanation *explanation),
		    void *context, struct lapbelt_error *error)
{
	struct listener listener = {each, context};
	struct facade_request asked;
	struct err e = {0};

	if (facade_request(operation, arguments, &asked, &e) < 0 ||
	    policy_explain(policy->compiled, &asked.request, export_step, &listener, &e) < 0)
		return facade_fail(error, &e);
	return 0;
}
