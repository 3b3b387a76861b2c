/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Negations are pushed down while expressions are read, so that a b c of
 * (require-any a b c) and of (require-all (require-not a) (require-not b) ...)
 * are found together: both are one union, in the second case negated.
 */
#include "policy/filter.h"

#include <stdlib.h>

#include "policy/dfa.h"
#include "policy/impl.h"

#include "base/banned.h"

/* What a leaf that was met before has become. */
struct known_leaf {
	enum condition_kind kind; /* ATOM or GUARD; FALSE: it never holds */
	uint32_t number;
};

/* The parts of an ALL or ANY. */
struct group {
	enum condition_kind kind;
	condition *parts;
	size_t n_parts, cap_parts;
	const struct test **patterns; /* all positive in ANY, all negative in ALL */
	size_t n_patterns, cap_patterns;
};

static int too_big(struct err *e)
{
	return err_set(e, ERR_LIMIT, "the policy needs too much memory");
}

/* ---- Leaves --------------------------------------------------------------------------------- */

static int compare_tests(const void *a, const void *b)
{
	const struct test *x = *(const struct test *const *)a, *y = *(const struct test *const *)b;
	size_t n = x->text.n < y->text.n ? x->text.n : y->text.n;
	int order = n ? memcmp(x->text.p, y->text.p, n) : 0;

	if (order == 0)
		order = (x->text.n > y->text.n) - (x->text.n < y->text.n);
	return order ? order : ((int)x->match - (int)y->match);
}

/* Sorts, drops repetitions. */
static size_t unique_tests(const struct test **tests, size_t n)
{
	size_t kept = 0;

	qsort(tests, n, sizeof(*tests), compare_tests);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || compare_tests(&tests[kept - 1], &tests[i]) != 0)
			tests[kept++] = tests[i];
	return kept;
}

static char *append(char *to, const void *from, size_t n)
{
	if (n)
		memcpy(to, from, n);
	return to + n;
}

/* A text that is equal for equal unions of patterns. p NULL: no memory. */
static struct str pattern_key(struct filter_compiler *c, const struct test *const *tests, size_t n,
			      enum attribute attribute, bool fold)
{
	size_t size = sizeof(attribute) + sizeof(fold);
	char *key, *end;

	for (size_t i = 0; i < n; i++)
		size += sizeof(tests[i]->match) + sizeof(tests[i]->text.n) + tests[i]->text.n;
	key = arena_alloc(c->scratch, size);
	if (!key)
		return (struct str){0};
	end = append(key, &attribute, sizeof(attribute));
	end = append(end, &fold, sizeof(fold));
	for (size_t i = 0; i < n; i++) {
		end = append(end, &tests[i]->match, sizeof(tests[i]->match));
		end = append(end, &tests[i]->text.n, sizeof(tests[i]->text.n));
		end = append(end, tests[i]->text.p, tests[i]->text.n);
	}
	return (struct str){key, size};
}

static struct known_leaf *remember(struct filter_compiler *c, struct str key,
				   enum condition_kind kind, uint32_t number)
{
	struct known_leaf *leaf = arena_alloc(c->scratch, sizeof(*leaf));

	if (!leaf || map_put(&c->known, key, leaf) < 0)
		return NULL;
	*leaf = (struct known_leaf){kind, number};
	return leaf;
}

static struct known_leaf *add_guard(struct filter_compiler *c, struct str key, struct guard guard)
{
	struct guard *guards =
		arena_grow(c->arena, c->guards, c->n_guards, &c->cap_guards, sizeof(*guards));

	if (!guards)
		return NULL;
	c->guards = guards;
	guards[c->n_guards] = guard;
	return remember(c, key, CONDITION_GUARD, (uint32_t)c->n_guards++);
}

/* Fills RET with the automaton of one union of patterns, its labels 1 where it matches. */
static int fill_dfa(struct filter_compiler *c, const struct test *const *tests, size_t n,
		    unsigned style, struct arena *scratch, struct dfa *ret, struct err *e)
{
	struct nfa nfa = {.arena = scratch};
	struct subset_options options = {.arena = scratch, .states = c->states};
	struct subsets subsets;
	uint32_t *labels;
	int r = nfa_add_atom(&nfa, tests, n, style, e);

	if (r == 0)
		r = subsets_build(&nfa, &options, &subsets, e);
	if (r < 0)
		return r;
	labels = arena_array(scratch, subsets.accepts.n, sizeof(*labels));
	if (!labels)
		return too_big(e);
	for (size_t i = 0; i < subsets.accepts.n; i++)
		labels[i] = subsets.accepts.list[i].n > 0;
	return dfa_minimize(&subsets, labels, c->arena, scratch, ret, e);
}

static int add_text_guard(struct filter_compiler *c, struct str key,
			  const struct test *const *tests, size_t n, enum attribute attribute,
			  bool fold, struct known_leaf **ret, struct err *e)
{
	struct arena scratch = {.limit = c->scratch->limit};
	struct dfa *dfa = arena_alloc(c->arena, sizeof(*dfa));
	struct guard guard = {.attribute = attribute, .match = tests[0]->match, .dfa = dfa};
	int r = dfa ? fill_dfa(c, tests, n, fold ? ATOM_FOLD : 0, &scratch, dfa, e) : too_big(e);

	arena_release(&scratch);
	if (r < 0)
		return r;
	if (dfa->n_states == 1)
		*ret = remember(c, key, CONDITION_FALSE, 0);
	else
		*ret = add_guard(c, key, guard);
	return *ret ? 0 : too_big(e);
}

static unsigned path_style(const struct filter_compiler *c)
{
	return c->target == TARGET_LINUX ? ATOM_PRIVATE : ATOM_FOLD;
}

static int add_atom(struct filter_compiler *c, struct str key, const struct test *const *tests,
		    size_t n, struct known_leaf **ret, struct err *e)
{
	uint32_t atom = (uint32_t)c->paths.n_atoms;
	int r = nfa_add_atom(&c->paths, tests, n, path_style(c), e);

	if (r < 0)
		return r;
	*ret = remember(c, key, c->paths.starts[atom] ? CONDITION_ATOM : CONDITION_FALSE, atom);
	return *ret ? 0 : too_big(e);
}

/* The union of patterns that look at the same thing. */
static int find_patterns(struct filter_compiler *c, const struct test **tests, size_t n,
			 struct known_leaf **ret, struct err *e)
{
	enum attribute attribute = filter_attribute(tests[0]->filter);
	bool fold = filter_folds_case(tests[0]->filter, c->target);
	struct str key;

	n = unique_tests(tests, n);
	key = pattern_key(c, tests, n, attribute, fold);
	if (!key.p)
		return too_big(e);
	*ret = map_get(&c->known, key);
	if (*ret)
		return 0;
	if (attribute == ATTRIBUTE_PATH)
		return add_atom(c, key, tests, n, ret, e);
	return add_text_guard(c, key, tests, n, attribute, fold, ret, e);
}

/* A test that is no pattern. */
static int find_test(struct filter_compiler *c, const struct test *test, struct known_leaf **ret,
		     struct err *e)
{
	struct guard guard;
	char *key;

	memset(&guard, 0, sizeof(guard)); /* padding too: it is the key */
	guard.attribute = filter_attribute(test->filter);
	guard.match = test->match;
	if (test->match == MATCH_ENDPOINT) {
		guard.endpoint.proto = test->endpoint.proto;
		guard.endpoint.localhost = test->endpoint.localhost;
		guard.endpoint.port = test->endpoint.port;
	} else {
		guard.number = test->number;
	}
	key = arena_memdup(c->scratch, &guard, sizeof(guard));
	if (!key)
		return too_big(e);
	*ret = map_get(&c->known, (struct str){key, sizeof(guard)});
	if (!*ret)
		*ret = add_guard(c, (struct str){key, sizeof(guard)}, guard);
	return *ret ? 0 : too_big(e);
}

static condition make_leaf(struct filter_compiler *c, const struct known_leaf *leaf, bool negated)
{
	if (leaf->kind == CONDITION_FALSE)
		return negated ? CONDITION_TRUE : CONDITION_FALSE;
	return condition_leaf(c->conditions, leaf->kind + negated, leaf->number);
}

/* ---- Expressions ---------------------------------------------------------------------------- */

static int add_part(struct filter_compiler *c, struct group *group, condition part, struct err *e)
{
	condition *parts = arena_grow(c->scratch, group->parts, group->n_parts, &group->cap_parts,
				      sizeof(*parts));

	if (!parts)
		return too_big(e);
	group->parts = parts;
	parts[group->n_parts++] = part;
	return 0;
}

static int add_pattern(struct filter_compiler *c, struct group *group, const struct test *test,
		       struct err *e)
{
	const struct test **patterns = arena_grow(c->scratch, group->patterns, group->n_patterns,
						  &group->cap_patterns, sizeof(*patterns));

	if (!patterns)
		return too_big(e);
	group->patterns = patterns;
	patterns[group->n_patterns++] = test;
	return 0;
}

static int add_test(struct filter_compiler *c, struct group *group, const struct test *test,
		    bool negated, struct err *e)
{
	bool unites = negated == (group->kind == CONDITION_ALL);
	struct known_leaf *leaf;
	int r;

	if (filter_attribute(test->filter) == ATTRIBUTE_NONE)
		return add_part(c, group, negated ? CONDITION_TRUE : CONDITION_FALSE, e);
	if (match_is_pattern(test->match) && unites)
		return add_pattern(c, group, test, e);
	if (match_is_pattern(test->match))
		r = find_patterns(c, &test, 1, &leaf, e);
	else
		r = find_test(c, test, &leaf, e);
	return r < 0 ? r : add_part(c, group, make_leaf(c, leaf, negated), e);
}

/* The kind that EXPR is once negation is pushed below it; a test is what suits its union. */
static enum condition_kind kind_of(const struct expr *expr, bool negated)
{
	bool all = negated;

	if (expr->kind == EXPR_ALL)
		all = !negated;
	return all ? CONDITION_ALL : CONDITION_ANY;
}

static int compile(struct filter_compiler *c, const struct expr *expr, bool negated, condition *ret,
		   struct err *e);

/* NOLINTBEGIN(misc-no-recursion): EXPR_DEPTH_MAX */
static int add_expr(struct filter_compiler *c, struct group *group, const struct expr *expr,
		    bool negated, struct err *e)
{
	condition part;
	int r = 0;

	if (expr->kind == EXPR_TEST)
		return add_test(c, group, &expr->test, negated, e);
	if (expr->kind == EXPR_NOT)
		return add_expr(c, group, expr->kids[0], !negated, e);
	if (kind_of(expr, negated) != group->kind) {
		r = compile(c, expr, negated, &part, e);
		return r < 0 ? r : add_part(c, group, part, e);
	}
	for (size_t i = 0; i < expr->n && r == 0; i++)
		r = add_expr(c, group, expr->kids[i], negated, e);
	return r;
}

/* Turns the patterns of GROUP into parts: one for each thing that patterns look at. */
static int unite_patterns(struct filter_compiler *c, struct group *group, struct err *e)
{
	const struct test **left = group->patterns;
	size_t n = group->n_patterns;

	while (n > 0) {
		enum attribute attribute = filter_attribute(left[0]->filter);
		bool fold = filter_folds_case(left[0]->filter, c->target);
		struct known_leaf *leaf;
		size_t same = 0;
		int r;

		for (size_t i = 0; i < n; i++) {
			const struct test *test = left[i];

			if (filter_attribute(test->filter) != attribute ||
			    filter_folds_case(test->filter, c->target) != fold)
				continue;
			left[i] = left[same];
			left[same++] = test;
		}
		r = find_patterns(c, left, same, &leaf, e);
		if (r == 0)
			r = add_part(c, group, make_leaf(c, leaf, group->kind == CONDITION_ALL), e);
		if (r < 0)
			return r;
		left += same;
		n -= same;
	}
	return 0;
}

static int compile(struct filter_compiler *c, const struct expr *expr, bool negated, condition *ret,
		   struct err *e)
{
	struct group group = {0};
	int r;

	while (expr->kind == EXPR_NOT) {
		expr = expr->kids[0];
		negated = !negated;
	}
	group.kind = kind_of(expr, negated);
	r = add_expr(c, &group, expr, negated, e);
	if (r == 0)
		r = unite_patterns(c, &group, e);
	if (r < 0)
		return r;
	*ret = condition_join(c->conditions, group.kind, group.parts, group.n_parts);
	return *ret == CONDITION_FAILED ? too_big(e) : 0;
}
/* NOLINTEND(misc-no-recursion) */

int filter_compile(struct filter_compiler *compiler, const struct expr *expr, condition *ret,
		   struct err *e)
{
	return compile(compiler, expr, false, ret, e);
}

/* ---- Rules about paths, by themselves ------------------------------------------------------- */

/* The first of N conditions that holds where just the atoms of each accept set do: labels. */
static uint32_t *first_matches(const struct filter_compiler *c, const struct subsets *subsets,
			       const condition *when, const uint32_t *places, size_t n)
{
	uint8_t *truth = arena_array(c->scratch, c->paths.n_atoms, sizeof(*truth));
	uint32_t *labels = arena_array(c->scratch, subsets->accepts.n, sizeof(*labels));

	for (uint32_t set = 0; truth && labels && set < subsets->accepts.n; set++) {
		size_t n_atoms;
		const uint32_t *atoms = intern_get(&subsets->accepts, set, &n_atoms);

		for (size_t i = 0; i < n_atoms; i++)
			truth[atoms[i]] = TRUTH_YES;
		for (size_t i = 0; i < n && labels[set] == 0; i++)
			if (condition_value(c->conditions, when[i], truth) == TRUTH_YES)
				labels[set] = places[i] + 1;
		for (size_t i = 0; i < n_atoms; i++)
			truth[atoms[i]] = TRUTH_NO;
	}
	return truth ? labels : NULL;
}

/* As filter_build_dfa(), with a compiler of its own for these rules. */
static int build_rules_dfa(struct filter_compiler *c, const struct rule *const *rules,
			   const uint32_t *places, size_t n, struct dfa *ret, struct err *e)
{
	struct subset_options options = {.arena = c->scratch, .states = c->states};
	condition *when = arena_array(c->scratch, n, sizeof(*when));
	struct subsets subsets;
	uint32_t *labels;
	int r = when && conditions_init(c->conditions, c->scratch, c->scratch) ? 0 : too_big(e);

	for (size_t i = 0; i < n && r == 0; i++)
		r = filter_compile(c, rules[i]->filter, &when[i], e);
	if (r == 0)
		r = subsets_build(&c->paths, &options, &subsets, e);
	if (r < 0)
		return r;
	labels = first_matches(c, &subsets, when, places, n);
	return labels ? dfa_minimize(&subsets, labels, c->arena, c->scratch, ret, e) : too_big(e);
}

int filter_build_dfa(struct filter_compiler *compiler, const struct rule *const *rules,
		     const uint32_t *places, size_t n, const struct dfa **ret, struct err *e)
{
	struct arena scratch = {.limit = compiler->scratch->limit};
	struct conditions conditions;
	struct filter_compiler own = {
		.target = compiler->target,
		.arena = compiler->arena,
		.scratch = &scratch,
		.states = compiler->states,
		.conditions = &conditions,
		.paths.arena = &scratch,
		.known.arena = &scratch,
	};
	struct dfa *dfa = arena_alloc(compiler->arena, sizeof(*dfa));
	int r = dfa ? build_rules_dfa(&own, rules, places, n, dfa, e) : too_big(e);

	arena_release(&scratch);
	*ret = dfa;
	return r;
}
