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

/* What several expressions by themselves may come to: */
enum {
	SEVERAL_GROWTH = 8, /* states for each node, */
	SEVERAL_MIN = 256,  /* or so many, */
	SEVERAL_WORK = 256, /* and steps for each of those */
};

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

/* ---- Several expressions together ---- */

/* N expressions under construction. */
struct several {
	struct filter_compiler *c;
	const condition *when;
	size_t n;
	uint32_t *
		settles; /* by atom: the number of the last expression that is just this; 0: none */
	uint32_t *last;  /* by atom: the number of the last expression that asks for it */
};

/* Fills settles and last. False: no memory. */
static bool find_users(struct several *s)
{
	const struct conditions *conditions = s->c->conditions;
	size_t n_atoms = s->c->paths.n_atoms;
	uint8_t *truth = arena_array(s->c->scratch, n_atoms, sizeof(*truth));
	uint8_t *asked = arena_array(s->c->scratch, n_atoms, sizeof(*asked));

	s->settles = arena_array(s->c->scratch, n_atoms, sizeof(*s->settles));
	s->last = arena_array(s->c->scratch, n_atoms, sizeof(*s->last));
	if (!truth || !asked || !s->settles || !s->last)
		return false;
	memset(truth, TRUTH_OPEN, n_atoms);
	for (size_t i = 0; i < s->n; i++) {
		const uint32_t *words;
		size_t n;

		memset(asked, 0, n_atoms);
		condition_mark(conditions, s->when[i], truth, asked);
		for (size_t atom = 0; atom < n_atoms; atom++)
			s->last[atom] = asked[atom] ? (uint32_t)i + 1 : s->last[atom];
		if (condition_look(conditions, s->when[i], &words, &n) == CONDITION_ATOM)
			s->settles[words[0]] = (uint32_t)i + 1;
	}
	return true;
}

/* A subset_prune. Once an expression holds for good those before it do not count. */
static void prune_settled(void *context, const struct nfa *nfa, struct node_list *list,
			  struct open_atoms open)
{
	const struct several *s = context;
	uint32_t settled = 0;
	size_t kept = 0;

	(void)open; /* what may come to hold settles nothing yet */
	for (size_t i = 0; i < list->n; i++) {
		const struct node *node = &nfa->nodes[list->p[i]];

		if (node->kind == NODE_MATCH && s->settles[node->atom] > settled)
			settled = s->settles[node->atom];
	}
	for (size_t i = 0; i < list->n; i++)
		if (s->last[nfa->nodes[list->p[i]].atom] >= settled)
			list->p[kept++] = list->p[i];
	list->n = kept;
}

/* Labels for accept sets. NULL: no memory. */
static uint32_t *find_labels(const struct several *s, const struct subsets *subsets)
{
	uint8_t *truth = arena_array(s->c->scratch, s->c->paths.n_atoms, sizeof(*truth));
	uint32_t *labels = arena_array(s->c->scratch, subsets->accepts.n, sizeof(*labels));

	for (uint32_t set = 0; truth && labels && set < subsets->accepts.n; set++) {
		size_t n;
		uint32_t label = (uint32_t)s->n;
		const uint32_t *atoms = intern_get(&subsets->accepts, set, &n);

		for (size_t i = 0; i < n; i++)
			truth[atoms[i]] = TRUTH_YES;
		while (label > 0 &&
		       condition_value(s->c->conditions, s->when[label - 1], truth) != TRUTH_YES)
			label--;
		labels[set] = label;
		for (size_t i = 0; i < n; i++)
			truth[atoms[i]] = TRUTH_NO;
	}
	return truth ? labels : NULL;
}

/* Of several: so many states and steps are not large. */
static void bound_several(const struct filter_compiler *c, struct subset_options *options,
			  size_t *work)
{
	size_t states = SEVERAL_GROWTH * (c->paths.n_nodes + c->paths.n_text_bytes);

	states = states > SEVERAL_MIN ? states : SEVERAL_MIN;
	if (options->states > states)
		options->states = (unsigned)states;
	if (*work > SEVERAL_WORK * states)
		*work = SEVERAL_WORK * states;
	if (*work > c->trials)
		*work = c->trials;
}

/* 1: that is large. */
static int determinize(struct several *s, struct subsets *ret)
{
	struct filter_compiler *c = s->c;
	struct subset_options options = {
		.arena = c->scratch,
		.states = c->states,
		.prune = prune_settled,
		.context = s,
	};
	size_t *left = c->paths.work, work = *left, given;
	int r;

	if (!find_users(s))
		return nfa_too_big(NULL, c->e);
	if (s->n == 1)
		return subsets_build(&c->paths, &options, ret, c->e);
	bound_several(c, &options, &work);
	given = work;
	c->paths.work = &work;
	r = subsets_build(&c->paths, &options, ret, NULL);
	c->paths.work = left;
	*left -= given - work;
	c->trials -= given - work;
	return r < 0 ? 1 : 0;
}

static int compile_several(struct filter_compiler *c, const struct expr *const *exprs, size_t n,
			   struct dfa *ret)
{
	condition *when = arena_array(c->scratch, n, sizeof(*when));
	struct several several = {.c = c, .when = when, .n = n};
	struct subsets subsets = {0};
	uint32_t *labels;
	int r = 0;

	if (!when || !conditions_init(c->conditions, c->scratch, c->scratch))
		return nfa_too_big(NULL, c->e);
	for (size_t i = 0; i < n && r == 0; i++)
		r = filter_compile(c, exprs[i], &when[i]);
	if (r == 0)
		r = determinize(&several, &subsets);
	if (r != 0)
		return r;
	labels = find_labels(&several, &subsets);
	if (!labels)
		return nfa_too_big(NULL, c->e);
	return dfa_minimize(&subsets, labels, c->arena, c->scratch, ret, c->e);
}

/* With a compiler of its own, so that nothing else is in the automaton. 1: that is large. */
static int build_several(struct filter_compiler *compiler, const struct expr *const *exprs,
			 size_t n, struct dfa *ret)
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
		.trials = compiler->trials,
		.known.arena = &scratch,
	};
	int r = compile_several(&own, exprs, n, ret);

	compiler->trials = own.trials;
	arena_release(&scratch);
	return r;
}

int filter_build_dfa(struct filter_compiler *compiler, const struct expr *const *exprs, size_t n,
		     const struct dfa **ret)
{
	size_t size = n * sizeof(struct expr *);
	const char *addresses = arena_memdup(compiler->scratch, exprs, size);
	struct str key = {addresses, size};
	struct dfa *dfa;
	int r;

	*ret = NULL;
	if (n > 1 && compiler->trials < SEVERAL_MIN)
		return 0;
	if (!addresses)
		return nfa_too_big(NULL, compiler->e);
	*ret = map_get(&compiler->built, key);
	if (*ret)
		return 0;
	dfa = arena_alloc(compiler->arena, sizeof(*dfa));
	if (!dfa)
		return nfa_too_big(NULL, compiler->e);
	r = build_several(compiler, exprs, n, dfa);
	if (r != 0)
		return r < 0 ? r : 0;
	if (map_put(&compiler->built, key, dfa) < 0)
		return nfa_too_big(NULL, compiler->e);
	*ret = dfa;
	return 0;
}
