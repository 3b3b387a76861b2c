/* SPDX-License-Identifier: Apache-2.0 */
/* linter: what the files of lint share. Each looks for its own kinds and adds findings. */
#ifndef POLICY_LINTER_H
#define POLICY_LINTER_H

#include "base/map.h"
#include "policy/impl.h"
#include "policy/lint.h"
#include "policy/paths.h"
#include "policy/values.h"

struct linter {
	const struct policy *policy;
	struct policy *apart; /* the same rules, told apart (policy_builder_keep_apart()) */
	struct lint_limits limits;
	size_t stops; /* that may still be looked at */
	size_t work;  /* of construction that may still be done */
	size_t steps; /* of searches for requests, likewise */
	struct arena *arena;
	struct findings *findings;
	struct map places; /* of findings, with their kind */
	bool too_large;    /* something was left out */
	bool failed;       /* no memory */
};

/* Is RULE the user's own? */
static inline bool lint_is_own(const struct rule *rule)
{
	return rule->origin == ORIGIN_PROFILE && !rule->ours && rule->at.line > 0;
}

/* Was RULE not written but added, to give version 3 its defaults? */
static inline bool lint_is_made_up(const struct rule *rule)
{
	return str_starts(rule->text, STR("(version"));
}

/* Does TEST begin with what may stand for something on macOS? What it matches is not known then. */
static inline bool lint_has_variable(const struct test *test, enum target target)
{
	return target == TARGET_DARWIN && match_is_pattern(test->match) &&
	       str_starts(test->text, STR("${"));
}

/*
 * Adds FINDING, but where there is one of its kind at its place already. Its text and hint come
 * from arena_printf(): a text of NULL is no memory.
 */
void lint_add(struct linter *linter, struct finding finding);

/* "line 7", or "FILE:7:1" where that is another file or the line of FROM itself. Never NULL. */
const char *lint_place(struct linter *linter, struct span from, struct span at);

/* "file-read* file-write*": the names of OPS, a set by operation. Never NULL. */
const char *lint_op_names(struct linter *linter, const bool *ops);

int lint_compare_places(struct span x, struct span y); /* as strcmp() */
bool lint_same_place(struct span x, struct span y);

/* Is there a finding of KIND at AT? */
bool lint_has(const struct linter *linter, enum lint_kind kind, struct span at);

/* A policy of just RULES, as they are. NULL: too large, or no memory; that is noted. */
struct policy *lint_build(struct linter *linter, const struct rule *const *rules, size_t n);

/* Does the policy of rules of `default` that lint_build() made match in STATE? */
static inline bool lint_matches_at(const struct policy *policy, policy_state state)
{
	return policy_chain(policy, state, OP_DEFAULT)->entries[0].decision.rule;
}

/*
 * paths_walk() over POLICIES, N of them, within what is left of the limits. -ERR_LIMIT and
 * -ERR_MEMORY are noted.
 */
typedef int lint_stop(void *context, const struct paths_stop *stop);
int lint_walk(struct linter *linter, const struct policy *const *policies, size_t n,
	      lint_stop *each, void *context);

/* How many labels its automaton has; they are numbers from 0 on. */
size_t lint_n_labels(const struct policy *policy);

/* The shortest path to STOP. */
struct str lint_path(struct linter *linter, const struct paths_stop *stop);

/* Calls EACH for every test of EXPR, also below require-not. */
typedef void lint_each_test(void *context, const struct test *test);
void lint_tests(const struct expr *expr, lint_each_test *each, void *context);

/* Are there requests for OP, rather than only for operations below it, with a path or without? */
bool lint_asks(enum op op, bool with_path);

/* ---- The parts, in the order in which they must run ---- */

void lint_patterns(struct linter *linter); /* no-match of patterns, too-long */
void lint_rules(struct linter *linter);    /* the others that ask which rule decides */
void lint_egress(struct linter *linter);
void lint_renames(struct linter *linter);

#endif
