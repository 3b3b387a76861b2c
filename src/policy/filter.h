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
	struct map built; /* address of an expression -> struct dfa */
};

/* -ERR_POLICY (a pattern), -ERR_LIMIT. */
int filter_compile(struct filter_compiler *compiler, const struct expr *expr, condition *ret);

/*
 * The automaton of an expression about nothing but paths, by itself: labels are 1 where it holds.
 * Built once for each EXPR.
 */
int filter_build_dfa(struct filter_compiler *compiler, const struct expr *expr,
		     const struct dfa **ret);

/*
 * Leaves. The patterns of a union look at one attribute in one way; TESTS is used up. Failures are
 * CONDITION_FAILED and in `failure`.
 */
condition filter_patterns(struct filter_compiler *compiler, const struct test **tests, size_t n,
			  bool negated);
condition filter_test(struct filter_compiler *compiler, const struct test *test, bool negated);

#endif
