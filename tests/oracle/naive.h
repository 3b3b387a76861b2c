/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive: what a policy decides, by asking its rules one by one as SBPL.md 5.1 says. Uses the rules
 * of a policy and nothing that policy_build() made of them.
 */
#ifndef ORACLE_NAIVE_H
#define ORACLE_NAIVE_H

#include "base/arena.h"
#include "policy/policy.h"
#include "re.h"

/* Regular expressions are read once, by the address of their test. */
struct naive {
	const struct policy *policy;
	struct arena *arena;
	struct known_pattern {
		const struct test *test;
		const struct re_pattern *pattern;
	} * known;
	size_t n_slots; /* a power of two */
};

/* POLICY and ARENA outlive it. */
void naive_init(struct naive *naive, const struct policy *policy, struct arena *arena);

void naive_decide(const struct naive *naive, const struct request *request, struct decision *ret);

/* Have requests for OP, or for an operation below it, what FILTER looks at? */
bool naive_has(enum op op, enum filter_id filter);

/* Does a pattern match TEXT as it is spelled? EXPRESSION is that of MATCH_REGEX. */
bool naive_text_matches(const struct test *test, const struct re_pattern *expression,
			struct str text, bool folds);

#endif
