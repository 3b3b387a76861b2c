/* SPDX-License-Identifier: Apache-2.0 */
/* impl: what a policy is made of. Nothing of it changes after policy_build(). */
#ifndef POLICY_IMPL_H
#define POLICY_IMPL_H

#include "policy/condition.h"
#include "policy/dfa.h"
#include "policy/guard.h"
#include "policy/policy.h"

/* Filters nest this deep: what walks them may recurse. */
enum {
	EXPR_DEPTH_MAX = 64
};

struct block;
struct finding;

/*
 * "If GUARD holds, this is the decision." Of a block the decision names the last rule, until one is
 * looked for.
 */
struct entry {
	condition guard;
	struct decision decision;
	const struct block *block; /* NULL: the rule is known */
};

/* Entries in order; the last one's guard is CONDITION_TRUE. */
struct chain {
	const struct entry *entries;
	uint32_t n;
	/* Of requests of the kernel, which knows nothing of guards that are absent: */
	uint32_t shape;    /* equal for chains that give equal verdicts, whatever their rules */
	unsigned verdicts; /* enum verdict_set */
};

/*
 * Operations that are decided by the same steps share a column. The first n_path_columns of them
 * depend on the path: rows[label of the state * n_path_columns + column] is their chain. The chain
 * of the others is fixed[column - n_path_columns].
 */
struct policy {
	struct arena arena;
	enum target target;
	struct rule *rules;
	size_t n_rules;
	const struct finding *notes; /* policy_builder_note() */
	size_t n_notes;
	struct conditions conditions;
	const struct guard *guards;
	size_t n_guards;
	size_t work; /* that its construction took: struct policy_limits */
	struct dfa paths;
	uint16_t column[OP_COUNT];
	uint32_t n_path_columns;
	const uint32_t *rows;
	const uint32_t *fixed;
	const struct chain *chains;

	/* By state: which set of below_sets says what can be below; two bits a path column. */
	const uint32_t *below;
	struct intern below_sets;
};

/* The chain that decides OP in STATE. */
static inline const struct chain *policy_chain(const struct policy *policy, policy_state state,
					       enum op op)
{
	uint32_t column = policy->column[op], n = policy->n_path_columns;

	if (column >= n)
		return &policy->chains[policy->fixed[column - n]];
	return &policy->chains[policy->rows[(size_t)policy->paths.states[state].label * n +
					    column]];
}

/* Fills below and below_sets. -ERR_LIMIT: no memory. */
int policy_find_below(struct policy *policy, struct arena *scratch, struct err *e);

#endif
