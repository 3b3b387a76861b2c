/* SPDX-License-Identifier: Apache-2.0 */
/* Deciding: walk the path, take the chain of the operation there, ask its guards in order. */
#include "policy/block.h"
#include "policy/impl.h"

#include "base/banned.h"

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool holds(const struct policy *policy, condition c, const struct request *request)
{
	const uint32_t *words;
	size_t n;
	enum condition_kind kind = condition_look(&policy->conditions, c, &words, &n);

	switch (kind) {
	case CONDITION_GUARD:
		return guard_holds(&policy->guards[words[0]], request, policy->target);
	case CONDITION_NO_GUARD:
		return !guard_holds(&policy->guards[words[0]], request, policy->target);
	case CONDITION_ALL:
		for (size_t i = 0; i < n; i++)
			if (!holds(policy, words[i], request))
				return false;
		return true;
	case CONDITION_ANY:
		for (size_t i = 0; i < n; i++)
			if (holds(policy, words[i], request))
				return true;
		return false;
	default:
		return kind == CONDITION_TRUE;
	}
}

void policy_decide_at(const struct policy *policy, policy_state state,
		      const struct request *request, struct decision *ret)
{
	const struct chain *chain = policy_chain(policy, state, request->op);
	const struct entry *entry = chain->entries;

	while (entry->guard != CONDITION_TRUE && !holds(policy, entry->guard, request))
		entry++;
	*ret = entry->decision;
	if (entry->block && (request->path.n > 0 || state == policy->paths.start))
		ret->rule = block_find(entry->block, request->path);
}

void policy_decide(const struct policy *policy, const struct request *request, struct decision *ret)
{
	policy_state state = policy->paths.start;

	if (policy->column[request->op] < policy->n_path_columns)
		state = dfa_walk(&policy->paths, state, request->path);
	policy_decide_at(policy, state, request, ret);
}

policy_state policy_start(const struct policy *policy)
{
	return policy->paths.start;
}

policy_state policy_walk(const struct policy *policy, policy_state from, struct str bytes)
{
	return dfa_walk(&policy->paths, from, bytes);
}

size_t policy_n_rules(const struct policy *policy)
{
	return policy->n_rules;
}

const struct rule *policy_rule(const struct policy *policy, size_t i)
{
	return &policy->rules[i];
}

enum target policy_target(const struct policy *policy)
{
	return policy->target;
}

unsigned policy_n_states(const struct policy *policy)
{
	return policy->paths.n_states;
}

size_t policy_table_size(const struct policy *policy)
{
	return dfa_size(&policy->paths);
}
