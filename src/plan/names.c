/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/names.h"

#include "base/path.h"
#include "plan/planner.h"
#include "base/banned.h"

/* ---- The tree ---- */

const struct name *name_child(const struct name *name, struct str text)
{
	return name ? map_get(&name->by_text, text) : NULL;
}

static struct name *add_child(struct names *names, struct name *parent, struct str text)
{
	struct name *kid = map_get(&parent->by_text, text);

	if (kid)
		return kid;
	kid = arena_alloc(names->arena, sizeof(*kid));
	parent->by_text.arena = names->arena;
	if (!kid || map_put(&parent->by_text, text, kid) < 0) {
		names->failed = true;
		return NULL;
	}
	*kid = (struct name){.text = text, .next = parent->kids};
	parent->kids = kid;
	return kid;
}

void names_add(struct names *names, struct str path)
{
	struct name *name = &names->root;
	size_t start = 1;

	for (size_t i = 1; i <= path.n && name; i++) {
		if (i < path.n && path.p[i] != '/')
			continue;
		if (i > start)
			name = add_child(names, name, (struct str){path.p + start, i - start});
		start = i + 1;
	}
}

static void add_pattern(void *context, const struct rule *rule, const struct test *test)
{
	struct str path = test->text;

	(void)rule;
	if (test->match == MATCH_REGEX)
		return;
	if (test->match == MATCH_PREFIX && path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	if (path_is_canonical(path))
		names_add(context, path);
}

/* ---- Regular expressions ---- */

/* Does REGEX have an alternative outside all groups? Then nothing in it is fixed. */
static bool has_alternatives(struct str regex)
{
	size_t depth = 0;

	for (size_t i = 0; i < regex.n; i++) {
		switch (regex.p[i]) {
		case '\\':
			i++;
			break;
		case '(':
			depth++;
			break;
		case ')':
			depth -= depth > 0;
			break;
		case '|':
			if (depth == 0)
				return true;
			break;
		}
	}
	return false;
}

/* The literal text that every match of REGEX starts with. */
static struct str fixed_part(struct arena *arena, struct str regex)
{
	char *text = arena_alloc(arena, regex.n + 1);
	size_t n = 0;

	if (!text || regex.n == 0 || regex.p[0] != '^' || has_alternatives(regex))
		return STR("");
	for (size_t i = 1; i < regex.n; i++) {
		if (strchr("*?{", regex.p[i])) {
			n -= n > 0; /* what it repeats may be missing */
			break;
		}
		if (strchr(".[($+", regex.p[i]))
			break;
		i += regex.p[i] == '\\';
		if (i < regex.n)
			text[n++] = regex.p[i];
	}
	return (struct str){text, n};
}

struct str names_fixed_part(struct arena *arena, const struct test *test)
{
	return test->match == MATCH_REGEX ? fixed_part(arena, test->text) : test->text;
}

/* ALLOWS: does matching EXPR help to allow? require-not turns it round. */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static void add_regexes(struct names *names, const struct rule *rule, const struct expr *expr,
			bool allows)
{
	struct name_regex *regexes = NULL;

	if (!expr)
		return;
	for (size_t i = 0; i < expr->n; i++)
		add_regexes(names, rule, expr->kids[i], allows != (expr->kind == EXPR_NOT));
	if (expr->kind != EXPR_TEST || expr->test.match != MATCH_REGEX || !allows)
		return;
	regexes = arena_grow(names->arena, names->regexes, names->n_regexes, &names->regexes_cap,
			     sizeof(*regexes));
	if (!regexes) {
		names->failed = true;
		return;
	}
	names->regexes = regexes;
	regexes[names->n_regexes++] = (struct name_regex){
		.op = rule->op,
		.fixed = fixed_part(names->arena, expr->test.text),
	};
}

/* Can a path that starts with FIXED be an entry of DIRECTORY (no slash at the end)? */
static bool reaches_entry(struct str fixed, struct str directory)
{
	size_t n = directory.n == 1 ? 0 : directory.n; /* "/" as "" */

	if (fixed.n <= n)
		return memcmp(fixed.p, directory.p, fixed.n) == 0;
	if (memcmp(fixed.p, directory.p, n) != 0 || fixed.p[n] != '/')
		return false;
	return !memchr(fixed.p + n + 1, '/', fixed.n - n - 1);
}

bool names_regex_in(const struct names *names, struct str path, enum op op)
{
	for (size_t i = 0; i < names->n_regexes; i++)
		if (op_inherits(op, names->regexes[i].op) &&
		    reaches_entry(names->regexes[i].fixed, path))
			return true;
	return false;
}

int names_collect(struct names *names, const struct policy *policy)
{
	policy_each_path(policy, add_pattern, names);
	for (size_t i = 0; i < policy_n_rules(policy); i++) {
		const struct rule *rule = policy_rule(policy, i);

		add_regexes(names, rule, rule->filter, rule->verdict == VERDICT_ALLOW);
	}
	return names->failed ? -ERR_MEMORY : 0;
}
