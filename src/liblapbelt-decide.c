/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt_decide(): one decision, and the rule behind it. */
#include <lapbelt.h>

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

int lapbelt_decide(const struct lapbelt_policy *policy, const char *operation,
		   const char *const *arguments, struct lapbelt_decision *ret_decision,
		   struct lapbelt_error *error)
{
	struct decision decision;
	struct facade_request asked;
	struct err e = {0};

	if (facade_request(operation, arguments, &asked, &e) < 0)
		return facade_fail(error, &e);
	policy_decide(policy->compiled, &asked.request, &decision);
	*ret_decision = (struct lapbelt_decision){
		.allowed = decision.verdict == VERDICT_ALLOW,
		.file = "",
		.rule = builtin_text(decision.op),
		.operation = op_name(decision.op),
	};
	if (decision.rule) {
		ret_decision->file = decision.rule->at.file ? decision.rule->at.file : "";
		ret_decision->line = decision.rule->at.line;
		ret_decision->column = decision.rule->at.column;
		ret_decision->rule = decision.rule->text.p;
	}
	return 0;
}
