/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter: the expressions of rules to conditions. Path patterns that are
 * alternatives of each other become one atom, other patterns one guard with an
 * automaton of its own; equal ones are shared by all rules.
 */
#ifndef POLICY_FILTER_H
#define POLICY_FILTER_H

#include "base/map.h"
#include "policy/condition.h"
#include "policy/guard.h"
#include "policy/nfa.h"
#include "policy/policy.h"

struct filter_compiler {
	enum target target;
	struct arena *arena; /* for what the policy keeps */
	struct arena *scratch;
	unsigned states; /* limit of each automaton */
	struct conditions *conditions;
	struct nfa paths; /* the atoms, so far */
	struct map known; /* text that says what is tested -> struct known_leaf */
	struct guard *guards;
	size_t n_guards, cap_guards;
};

/* -ERR_POLICY (a pattern), -ERR_LIMIT. */
int filter_compile(struct filter_compiler *compiler, const struct expr *expr, condition *ret,
		   struct err *e);

/*
 * An automaton that tells which of some rules about paths match: its label is PLACES[i] + 1 for the
 * first rule i that does, or 0.
 */
int filter_build_dfa(struct filter_compiler *compiler, const struct rule *const *rules,
		     const uint32_t *places, size_t n, const struct dfa **ret, struct err *e);

#endif
