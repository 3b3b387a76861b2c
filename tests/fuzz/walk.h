/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk: what a policy decides, found the plain way: rule by rule, pattern by pattern, without an
 * automaton. Regular expressions are matched from their text by following every position at once;
 * nothing here is shared with the code under test but the rules themselves.
 */
#ifndef FUZZ_WALK_H
#define FUZZ_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "policy/guard.h"
#include "policy/policy.h"

#include "../oracle/has.h"

enum {
	WALK_TEXT_MAX = 62, /* positions are bits */
	WALK_WORK = 200000,
};

/* ---- Regular expressions ---- */

struct walk_regex {
	struct str pattern, text;
	bool folds;
	unsigned work; /* what is left; at 0 the answer means nothing */
};

static uint64_t walk_alternatives(struct walk_regex *w, size_t *at, uint64_t from);

static char walk_fold(const struct walk_regex *w, char c)
{
	return w->folds && c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Is C in the set whose first byte after "[" or "[^" is at AT? */
static bool walk_in_set(const struct walk_regex *w, size_t at, char c)
{
	const char *p = w->pattern.p;
	bool first = true;

	for (; first || p[at] != ']'; first = false) {
		unsigned low, high;

		at += p[at] == '\\';
		low = high = (unsigned char)p[at++];
		if (p[at] == '-' && p[at + 1] != ']') {
			at++;
			at += p[at] == '\\';
			high = (unsigned char)p[at++];
		}
		for (unsigned byte = low; byte <= high; byte++)
			if (walk_fold(w, (char)byte) == walk_fold(w, c))
				return true;
	}
	return false;
}

/* Behind the unit that begins at AT; the pattern is well-formed. */
static size_t walk_unit_end(const struct walk_regex *w, size_t at)
{
	const char *p = w->pattern.p;
	unsigned depth = 0;

	do {
		char c = p[at++];

		depth += c == '(';
		depth -= c == ')';
		at += c == '\\';
		if (c == '[') {
			bool first = true;

			at += p[at] == '^';
			for (; first || p[at] != ']'; first = false)
				at += 1 + (p[at] == '\\');
			at++;
		}
	} while (depth > 0);
	return at;
}

/* One unit without operators. */
static uint64_t walk_unit(struct walk_regex *w, size_t at, uint64_t from)
{
	const char *p = w->pattern.p;
	uint64_t to = 0;
	char c = p[at++];

	if (c == '(')
		return walk_alternatives(w, &at, from);
	if (c == '$')
		return from & (uint64_t)1 << w->text.n;
	for (size_t i = 0; i < w->text.n; i++) {
		char byte = w->text.p[i];
		bool takes;

		if (!(from >> i & 1))
			continue;
		if (c == '.')
			takes = true;
		else if (c == '[' && p[at] == '^')
			takes = !walk_in_set(w, at + 1, byte);
		else if (c == '[')
			takes = walk_in_set(w, at, byte);
		else
			takes = walk_fold(w, c == '\\' ? p[at] : c) == walk_fold(w, byte);
		if (takes)
			to |= (uint64_t)2 << i;
	}
	return to;
}

struct walk_operator {
	int min, max; /* -1: no end */
};

/* The unit at AT with the first N of its operators. */
static uint64_t walk_repeat(struct walk_regex *w, size_t at, const struct walk_operator *ops,
			    unsigned n, uint64_t from)
{
	uint64_t to;

	if (w->work == 0)
		return 0;
	w->work--;
	if (n == 0)
		return walk_unit(w, at, from);
	n--;
	for (int i = 0; i < ops[n].min && from; i++)
		from = walk_repeat(w, at, ops, n, from);
	to = from;
	for (int i = ops[n].min; (ops[n].max < 0 || i < ops[n].max) && from; i++) {
		from = walk_repeat(w, at, ops, n, from) & ~to;
		to |= from;
	}
	return to;
}

static int walk_number(const struct walk_regex *w, size_t *at)
{
	int number = 0;

	while (w->pattern.p[*at] >= '0' && w->pattern.p[*at] <= '9')
		number = number * 10 + (w->pattern.p[(*at)++] - '0');
	return number;
}

/* Takes an operator, if there is one. */
static bool walk_operator(const struct walk_regex *w, size_t *at, struct walk_operator *ret)
{
	char c = *at < w->pattern.n ? w->pattern.p[*at] : '\0';

	*ret = (struct walk_operator){c == '+', c == '?' ? 1 : -1};
	if (c != '*' && c != '+' && c != '?' && c != '{')
		return false;
	++*at;
	if (c != '{')
		return true;
	ret->min = ret->max = walk_number(w, at);
	if (w->pattern.p[*at] == ',') {
		++*at;
		ret->max = w->pattern.p[*at] == '}' ? -1 : walk_number(w, at);
	}
	++*at;
	return true;
}

static uint64_t walk_branch(struct walk_regex *w, size_t *at, uint64_t from)
{
	while (*at < w->pattern.n && w->pattern.p[*at] != '|' && w->pattern.p[*at] != ')') {
		struct walk_operator ops[16];
		size_t begin = *at;
		unsigned n = 0;

		*at = walk_unit_end(w, begin);
		while (n < 16 && walk_operator(w, at, &ops[n]))
			n++;
		from = walk_repeat(w, begin, ops, n, from);
	}
	return from;
}

static uint64_t walk_alternatives(struct walk_regex *w, size_t *at, uint64_t from)
{
	uint64_t to = walk_branch(w, at, from);

	while (*at < w->pattern.n && w->pattern.p[*at] == '|') {
		++*at;
		to |= walk_branch(w, at, from);
	}
	return to;
}

/* "(?" outside of sets and escapes: a group that Apple's matcher never matches. */
static bool walk_is_dead(const struct walk_regex *w)
{
	const char *p = w->pattern.p;
	bool group = false;

	for (size_t i = 0; i < w->pattern.n;) {
		if (group && p[i] == '?')
			return true;
		group = p[i] == '(';
		i = p[i] == '(' || p[i] == ')' ? i + 1 : walk_unit_end(w, i);
	}
	return false;
}

/* Does a well-formed PATTERN match somewhere in TEXT? -1: too much work to say. */
static int walk_search(struct str pattern, struct str text, bool folds)
{
	struct walk_regex w = {pattern, text, folds, WALK_WORK};
	uint64_t to = 0, all;
	bool anchored = str_starts(pattern, STR("^")), more = true;
	size_t at = anchored;

	if (text.n == 0 || text.n > WALK_TEXT_MAX)
		return text.n ? -1 : 0;
	all = ((uint64_t)2 << text.n) - 1;
	if (anchored) {
		to = walk_branch(&w, &at, 1);
		more = at++ < pattern.n; /* behind "|" */
	}
	if (more)
		to |= walk_alternatives(&w, &at, all);
	if (walk_is_dead(&w))
		return 0;
	return w.work ? to != 0 : -1;
}

/* ---- Tests ---- */

static int walk_pattern(const struct test *test, struct str text, bool folds)
{
	const struct walk_regex w = {.folds = folds};
	struct str pattern = test->text;

	if (test->match == MATCH_REGEX)
		return walk_search(pattern, text, folds);
	if (text.n == 0 || text.n < pattern.n)
		return 0;
	for (size_t i = 0; i < pattern.n; i++)
		if (walk_fold(&w, pattern.p[i]) != walk_fold(&w, text.p[i]))
			return 0;
	if (test->match == MATCH_LITERAL || test->match == MATCH_STRING)
		return text.n == pattern.n;
	return test->match == MATCH_PREFIX || text.n == pattern.n || str_is(pattern, "/") ||
	       text.p[pattern.n] == '/';
}

static int walk_path(const struct test *test, struct str path, enum target target)
{
	static const struct str names[] = {{"/tmp", 4}, {"/var", 4}, {"/etc", 4}};
	int matches = walk_pattern(test, path, target == TARGET_DARWIN);
	char spelled[WALK_TEXT_MAX + 16];

	for (int i = 0; i < 3 && target == TARGET_LINUX && matches == 0; i++) {
		if (!str_is_below(path, names[i]) || path.n > WALK_TEXT_MAX)
			continue;
		memcpy(spelled, "/private", 8);
		memcpy(spelled + 8, path.p, path.n);
		return walk_pattern(test, (struct str){spelled, path.n + 8}, false);
	}
	return matches;
}

/* On Linux slashes in front of an object's name do not count: a pattern means any number. */
static int walk_object(const struct test *test, struct str name)
{
	enum {
		SLASHES = 8
	};
	char text[WALK_TEXT_MAX + SLASHES];
	struct str tail = name;
	int found = 0;

	if (name.n == 0)
		return 0;
	while (tail.n > 0 && tail.p[0] == '/')
		tail = str_skip(tail, 1);
	if (tail.n > WALK_TEXT_MAX - SLASHES)
		return -1;
	memset(text, '/', SLASHES);
	memcpy(text + SLASHES, tail.p, tail.n);
	for (size_t slashes = 0; slashes <= SLASHES && found == 0; slashes++)
		found = walk_pattern(test, (struct str){text + SLASHES - slashes, tail.n + slashes},
				     false);
	/* It may ask for more slashes than these, or for nothing. */
	return found == 0 && test->match == MATCH_REGEX ? -1 : found;
}

static int walk_facts(const struct test *test, const struct request *request, enum target target)
{
	for (size_t i = 0; i < request->n_facts; i++) {
		const struct fact *fact = &request->facts[i];
		int found;

		if (fact->filter != test->filter ||
		    (target == TARGET_LINUX && filter_is_darwin_only(test->filter)))
			continue;
		found = test->filter == FILTER_IPC_POSIX_NAME && target == TARGET_LINUX
				? walk_object(test, fact->text)
				: walk_pattern(test, fact->text,
					       filter_folds_case(test->filter, target));
		if (found)
			return found;
	}
	return 0;
}

static int walk_test(const struct test *test, const struct request *request, enum target target)
{
	if (!op_has(request->op, test->filter))
		return 0;
	switch (filter_attribute(test->filter)) {
	case ATTRIBUTE_PATH:
		return walk_path(test, request->path, target);
	case ATTRIBUTE_XATTR:
		return walk_pattern(test, request->xattr, filter_folds_case(test->filter, target));
	case ATTRIBUTE_VNODE_TYPE:
		return request->has & HAS_VNODE_TYPE &&
		       (int64_t)request->vnode_type == test->number;
	case ATTRIBUTE_FILE_MODE:
		return request->has & HAS_FILE_MODE &&
		       (test->match == MATCH_BITS
				? ((int64_t)request->file_mode & test->number) == test->number
				: (int64_t)request->file_mode == test->number);
	default:
		return walk_facts(test, request, target);
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): filters do not nest deeply */
static int walk_expr(const struct expr *expr, const struct request *request, enum target target)
{
	int found;

	switch (expr->kind) {
	case EXPR_TEST:
		return walk_test(&expr->test, request, target);
	case EXPR_NOT:
		found = walk_expr(expr->kids[0], request, target);
		return found < 0 ? found : !found;
	default:
		break;
	}
	for (size_t i = 0; i < expr->n; i++) {
		found = walk_expr(expr->kids[i], request, target);
		if (found < 0 || found == (expr->kind == EXPR_ANY))
			return found;
	}
	return expr->kind == EXPR_ALL;
}

/* ---- Decisions ---- */

/* SBPL.md 5.1, word for word; of rules of the profile only. False: too much work to say. */
static bool walk_decide(const struct policy *policy, const struct request *request,
			struct decision *ret)
{
	for (enum op op = request->op;; op = op_parent(op)) {
		const struct rule *unfiltered = NULL;

		for (size_t i = policy_n_rules(policy); i-- > 0;) {
			const struct rule *rule = policy_rule(policy, i);
			int holds;

			if (rule->op != op)
				continue;
			if (!rule->filter) {
				unfiltered = unfiltered ? unfiltered : rule;
				continue;
			}
			holds = walk_expr(rule->filter, request, policy_target(policy));
			*ret = (struct decision){rule->verdict, rule, op};
			if (holds)
				return holds > 0;
		}
		*ret = (struct decision){VERDICT_DENY, unfiltered, op};
		if (unfiltered)
			ret->verdict = unfiltered->verdict;
		else if (op_is_terminal(op))
			ret->verdict = op_builtin(op);
		if (unfiltered || op_is_terminal(op) || op == OP_DEFAULT)
			return true;
	}
}

#endif
