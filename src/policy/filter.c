/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Negations are pushed down while expressions are read, so that a b c of
 * (require-any a b c) and of (require-all (require-not a) (require-not b) ...)
 * are found together: both are one union, in the second case negated.
 */
#include "policy/filter.h"

#include "policy/dfa.h"
#include "policy/impl.h"

#include "base/banned.h"

/* The parts of an ALL or ANY. */
struct group {
	enum condition_kind kind;
	condition *parts;
	size_t n_parts, cap_parts;
	const struct test **patterns; /* all positive in ANY, all negative in ALL */
	size_t n_patterns, cap_patterns;
};

/* Failures stick, the first one counts. */
static void too_big(struct filter_compiler *c)
{
	if (c->failure == 0)
		c->failure = err_set(c->e, ERR_LIMIT, "the policy needs too much memory");
}

static void add_part(struct filter_compiler *c, struct group *group, condition part)
{
	condition *parts = arena_grow(c->scratch, group->parts, group->n_parts, &group->cap_parts,
				      sizeof(*parts));

	if (!parts) {
		too_big(c);
		return;
	}
	group->parts = parts;
	parts[group->n_parts++] = part;
}

static void add_pattern(struct filter_compiler *c, struct group *group, const struct test *test)
{
	const struct test **patterns = arena_grow(c->scratch, group->patterns, group->n_patterns,
						  &group->cap_patterns, sizeof(struct test *));

	if (!patterns) {
		too_big(c);
		return;
	}
	group->patterns = patterns;
	patterns[group->n_patterns++] = test;
}

static void add_test(struct filter_compiler *c, struct group *group, const struct test *test,
		     bool negated)
{
	bool unites = negated == (group->kind == CONDITION_ALL);

	if (unites && match_is_pattern(test->match))
		add_pattern(c, group, test);
	else
		add_part(c, group, filter_test(c, test, negated));
}

/* The kind that EXPR is once negation is pushed below it; a test is what suits its union. */
static enum condition_kind kind_of(const struct expr *expr, bool negated)
{
	bool all = expr->kind == EXPR_ALL ? !negated : negated;

	return all ? CONDITION_ALL : CONDITION_ANY;
}

/* Turns the patterns of GROUP into parts: one for each thing that patterns look at. */
static void unite_patterns(struct filter_compiler *c, struct group *group)
{
	const struct test **left = group->patterns;
	size_t n = group->n_patterns;

	while (n > 0 && c->failure == 0) {
		enum attribute attribute = filter_attribute(left[0]->filter);
		bool folds = filter_folds_case(left[0]->filter, c->target);
		size_t same = 0;

		for (size_t i = 0; i < n; i++) {
			const struct test *test = left[i];

			if (filter_attribute(test->filter) != attribute ||
			    filter_folds_case(test->filter, c->target) != folds)
				continue;
			left[i] = left[same];
			left[same++] = test;
		}
		add_part(c, group, filter_patterns(c, left, same, group->kind == CONDITION_ALL));
		left += same;
		n -= same;
	}
}

static condition compile(struct filter_compiler *c, const struct expr *expr, bool negated);

/* NOLINTBEGIN(misc-no-recursion): EXPR_DEPTH_MAX */
static void add_expr(struct filter_compiler *c, struct group *group, const struct expr *expr,
		     bool negated)
{
	if (expr->kind == EXPR_TEST)
		add_test(c, group, &expr->test, negated);
	else if (expr->kind == EXPR_NOT)
		add_expr(c, group, expr->kids[0], !negated);
	else if (kind_of(expr, negated) != group->kind)
		add_part(c, group, compile(c, expr, negated));
	else
		for (size_t i = 0; i < expr->n && c->failure == 0; i++)
			add_expr(c, group, expr->kids[i], negated);
}

static condition compile(struct filter_compiler *c, const struct expr *expr, bool negated)
{
	struct group group = {0};
	condition joined;

	while (expr->kind == EXPR_NOT) {
		expr = expr->kids[0];
		negated = !negated;
	}
	group.kind = kind_of(expr, negated);
	add_expr(c, &group, expr, negated);
	unite_patterns(c, &group);
	if (c->failure < 0)
		return CONDITION_FAILED;
	joined = condition_join(c->conditions, group.kind, group.parts, group.n_parts);
	if (joined == CONDITION_FAILED)
		too_big(c);
	return joined;
}
/* NOLINTEND(misc-no-recursion) */

int filter_compile(struct filter_compiler *compiler, const struct expr *expr, condition *ret)
{
	*ret = compile(compiler, expr, false);
	return compiler->failure;
}

/* ---- Expressions by themselves ---- */

/* Labels for accept sets: does WHEN hold where just their atoms do? NULL: no memory. */
static uint32_t *find_labels(const struct filter_compiler *c, const struct subsets *subsets,
			     condition when)
{
	uint8_t *truth = arena_array(c->scratch, c->paths.n_atoms, sizeof(*truth));
	uint32_t *labels = arena_array(c->scratch, subsets->accepts.n, sizeof(*labels));

	for (uint32_t set = 0; truth && labels && set < subsets->accepts.n; set++) {
		size_t n;
		const uint32_t *atoms = intern_get(&subsets->accepts, set, &n);

		for (size_t i = 0; i < n; i++)
			truth[atoms[i]] = TRUTH_YES;
		labels[set] = condition_value(c->conditions, when, truth) == TRUTH_YES;
		for (size_t i = 0; i < n; i++)
			truth[atoms[i]] = TRUTH_NO;
	}
	return truth ? labels : NULL;
}

static int build_expr_dfa(struct filter_compiler *c, const struct expr *expr, struct dfa *ret)
{
	struct subset_options options = {.arena = c->scratch, .states = c->states};
	struct subsets subsets = {0};
	uint32_t *labels;
	condition when;
	int r;

	if (!conditions_init(c->conditions, c->scratch, c->scratch))
		return nfa_too_big(NULL, c->e);
	r = filter_compile(c, expr, &when);
	if (r == 0)
		r = subsets_build(&c->paths, &options, &subsets, c->e);
	if (r < 0)
		return r;
	labels = find_labels(c, &subsets, when);
	if (!labels)
		return nfa_too_big(NULL, c->e);
	return dfa_minimize(&subsets, labels, c->arena, c->scratch, ret, c->e);
}

/* With a compiler of its own, so that nothing else is in the automaton. */
static int build_alone(const struct filter_compiler *compiler, const struct expr *expr,
		       struct dfa *ret)
{
	struct arena scratch = {.pool = compiler->scratch->pool, .limit = compiler->scratch->limit};
	struct conditions conditions;
	struct filter_compiler own = {
		.target = compiler->target,
		.arena = compiler->arena,
		.scratch = &scratch,
		.states = compiler->states,
		.conditions = &conditions,
		.e = compiler->e,
		.paths.arena = &scratch,
		.paths.work = compiler->paths.work,
		.known.arena = &scratch,
	};
	int r = build_expr_dfa(&own, expr, ret);

	arena_release(&scratch);
	return r;
}

int filter_build_dfa(struct filter_compiler *compiler, const struct expr *expr,
		     const struct dfa **ret)
{
	const char *address = arena_memdup(compiler->scratch, &expr, sizeof(struct expr *));
	struct str key = {address, sizeof(struct expr *)};
	struct dfa *dfa;

	if (!address)
		return nfa_too_big(NULL, compiler->e);
	*ret = map_get(&compiler->built, key);
	if (*ret)
		return 0;
	dfa = arena_alloc(compiler->arena, sizeof(*dfa));
	*ret = dfa;
	if (!dfa || map_put(&compiler->built, key, dfa) < 0)
		return nfa_too_big(NULL, compiler->e);
	return build_alone(compiler, expr, dfa);
}
