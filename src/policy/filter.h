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
	struct err *e;
	int failure; /* the first one, filled into *e; it sticks */

	struct nfa paths; /* the atoms, so far */
	struct guard *guards;
	size_t n_guards, cap_guards;
	struct map known; /* text that says what is tested -> what it has become (leaf.c) */
	size_t trials;    /* steps that filter_build_dfa() may yet spend on several expressions */
	struct map built; /* addresses of expressions -> struct dfa */
};

/* -ERR_POLICY (a pattern), -ERR_LIMIT. */
int filter_compile(struct filter_compiler *compiler, const struct expr *expr, condition *ret);

/*
 * The automaton of N expressions about nothing but paths, by themselves: labels are the number of
 * the last one that holds, from 1; 0: none does. *RET is NULL if that of several would be large;
 * it can be had of fewer. Built once for equal EXPRS.
 */
int filter_build_dfa(struct filter_compiler *compiler, const struct expr *const *exprs, size_t n,
		     const struct dfa **ret);

/*
 * Leaves. The patterns of a union look at one attribute in one way; TESTS is used up. Failures are
 * CONDITION_FAILED and in `failure`.
 */
condition filter_patterns(struct filter_compiler *compiler, const struct test **tests, size_t n,
			  bool negated);
condition filter_test(struct filter_compiler *compiler, const struct test *test, bool negated);

#endif
