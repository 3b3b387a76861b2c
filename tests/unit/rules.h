/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies by hand, for tests that must not depend on the reader of profiles:
 *
 *	struct policy_builder *b = rules_new(TARGET_LINUX);
 *	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/a"));
 *	struct policy *policy = rules_build(b);
 *
 * Every rule's line is its place among the rules, from 1.
 */
#ifndef RULES_H
#define RULES_H

#include <stdarg.h>

#include "base/buf.h"
#include "policy/policy.h"
#include "test.h"

static unsigned rules_line;

static inline struct policy_builder *rules_new(enum target target)
{
	rules_line = 0;
	return policy_builder_new(target, POLICY_LIMITS_DEFAULT);
}

static inline void rules_add(struct policy_builder *b, enum verdict verdict, enum op op,
			     const struct expr *filter)
{
	struct rule rule = {.verdict = verdict, .op = op, .filter = filter};

	rule.at = (struct span){"test.sb", ++rules_line, 1};
	CHECK_INT(policy_builder_add(b, &rule, NULL), 0);
}

static inline void rules_add_runtime(struct policy_builder *b, enum verdict verdict, enum op op,
				     const struct expr *filter)
{
	struct rule rule = {.verdict = verdict, .op = op, .filter = filter};

	rule.origin = ORIGIN_RUNTIME;
	rule.at = (struct span){"runtime.sb", ++rules_line, 1};
	CHECK_INT(policy_builder_add(b, &rule, NULL), 0);
}

static inline struct policy *rules_build(struct policy_builder *b)
{
	struct policy *policy = NULL;
	struct err e = {0};

	if (policy_build(b, &policy, &e) < 0)
		printf("# policy_build: %s\n", e.text);
	CHECK(policy);
	return policy;
}

/* ---- Filters ---- */

static inline struct expr *rules_expr(struct policy_builder *b, struct test test)
{
	struct expr *expr = arena_alloc(policy_builder_arena(b), sizeof(*expr));

	expr->kind = EXPR_TEST;
	expr->test = test;
	return expr;
}

static inline struct expr *pattern(struct policy_builder *b, enum filter_id filter,
				   enum match match, const char *text)
{
	struct str copy = {arena_strdup(policy_builder_arena(b), str_of(text)), strlen(text)};

	return rules_expr(b, (struct test){.filter = filter, .match = match, .text = copy});
}

static inline struct expr *literal(struct policy_builder *b, const char *text)
{
	return pattern(b, FILTER_PATH, MATCH_LITERAL, text);
}

static inline struct expr *prefix(struct policy_builder *b, const char *text)
{
	return pattern(b, FILTER_PATH, MATCH_PREFIX, text);
}

static inline struct expr *subpath(struct policy_builder *b, const char *text)
{
	return pattern(b, FILTER_PATH, MATCH_SUBPATH, text);
}

static inline struct expr *regex(struct policy_builder *b, const char *text)
{
	return pattern(b, FILTER_PATH, MATCH_REGEX, text);
}

static inline struct expr *number(struct policy_builder *b, enum filter_id filter, int64_t n)
{
	return rules_expr(b, (struct test){.filter = filter, .match = MATCH_INTEGER, .number = n});
}

static inline struct expr *endpoint(struct policy_builder *b, enum filter_id filter, unsigned proto,
				    bool localhost, int port)
{
	struct test test = {.filter = filter, .match = MATCH_ENDPOINT};

	test.endpoint = (struct endpoint_pattern){proto, localhost, port};
	return rules_expr(b, test);
}

/* N expressions follow. */
static inline struct expr *group(struct policy_builder *b, enum expr_kind kind, unsigned n, ...)
{
	struct arena *arena = policy_builder_arena(b);
	struct expr *expr = arena_alloc(arena, sizeof(*expr));
	va_list ap;

	expr->kind = kind;
	expr->kids = arena_array(arena, n, sizeof(*expr->kids));
	va_start(ap, n);
	while (expr->n < n)
		expr->kids[expr->n++] = va_arg(ap, const struct expr *);
	va_end(ap);
	return expr;
}

static inline struct expr * not(struct policy_builder * b, const struct expr *expr)
{
	return group(b, EXPR_NOT, 1, expr);
}

/* ---- Paths ---- */

enum {
	NUMBERED_PATH = 46
};

/* The path of so many bytes with number I, which has next to nothing in common with others. */
static inline void numbered_path(unsigned i, char ret[NUMBERED_PATH + 1])
{
	uint64_t state = i * 0x9e3779b97f4a7c15u + 1;

	for (unsigned at = 0; at < NUMBERED_PATH; at++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		ret[at] = at % 12 == 0 ? '/' : (char)('a' + (state >> 33) % 26);
	}
	ret[NUMBERED_PATH] = '\0';
}

/* ---- Asking ---- */

static inline struct decision decide(const struct policy *policy, const struct request *request)
{
	struct decision decision;

	policy_decide(policy, request, &decision);
	return decision;
}

static inline struct decision decide_path(const struct policy *policy, enum op op, const char *path)
{
	struct request request = {.op = op, .path = str_of(path)};

	return decide(policy, &request);
}

static inline bool allows(const struct policy *policy, enum op op, const char *path)
{
	return decide_path(policy, op, path).verdict == VERDICT_ALLOW;
}

/* The line of the rule that decides; 0: a built-in default. */
static inline unsigned line_of(const struct decision decision)
{
	return decision.rule ? decision.rule->at.line : 0;
}

#endif
