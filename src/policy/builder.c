/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules in, policy out. What building needs on the way dies in three steps: patterns and sets of
 * their nodes once the states are known, the states once they are laid out, the rest at the end.
 */
#include <stdlib.h>

#include "policy/block.h"
#include "policy/column.h"
#include "policy/dfa.h"
#include "policy/filter.h"
#include "policy/impl.h"
#include "policy/lint.h"
#include "policy/regex.h"

#include "base/banned.h"

enum {
	TRIALS_PART = 16, /* of the work that a policy may take */
};

struct policy_builder {
	struct arena arena;
	enum target target;
	struct policy_limits limits;
	struct rule *rules;
	size_t n, cap;
	struct finding *notes;
	size_t n_notes, cap_notes;
	bool apart;
};

static int too_big(const struct policy_builder *builder, struct err *e)
{
	return err_set(e, ERR_LIMIT, "the policy needs more than %zu bytes",
		       builder->limits.memory);
}

/* ---- Rules ---- */

struct policy_builder *policy_builder_new(enum target target, struct policy_limits limits)
{
	struct policy_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return NULL;
	builder->arena.limit = limits.memory;
	builder->target = target;
	builder->limits = limits;
	return builder;
}

void policy_builder_keep_apart(struct policy_builder *builder)
{
	builder->apart = true;
}

struct arena *policy_builder_arena(struct policy_builder *builder)
{
	return &builder->arena;
}

/* Can a request be asked TEST? The reader lets no other through; this is the second lock. */
static bool test_fits(const struct test *test)
{
	enum attribute attribute = filter_attribute(test->filter);

	if (attribute == ATTRIBUTE_PATH || attribute == ATTRIBUTE_XATTR)
		return match_is_pattern(test->match);
	if (attribute == ATTRIBUTE_LOCAL || attribute == ATTRIBUTE_REMOTE)
		return test->match == MATCH_ENDPOINT;
	if (attribute >= ATTRIBUTE_FACT)
		return test->match != MATCH_ENDPOINT;
	return test->match == MATCH_INTEGER || test->match == MATCH_BITS;
}

static int check_test(const struct test *test, struct err *e)
{
	if (!test_fits(test))
		return err_at(e, ERR_POLICY, test->at, "this filter takes no such argument");
	/* Below the empty path would be everything; nobody who writes this means that. */
	if (test->match == MATCH_SUBPATH && test->text.n == 0)
		return err_at(e, ERR_POLICY, test->at, "empty path in a subpath filter");
	return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static int check_expr(const struct expr *expr, unsigned depth, struct span at, struct err *e)
{
	int r = 0;

	if (depth > EXPR_DEPTH_MAX)
		return err_at(e, ERR_LIMIT, at, "filters are nested too deeply");
	if (expr->kind == EXPR_TEST)
		return check_test(&expr->test, e);
	for (size_t i = 0; i < expr->n && r == 0; i++)
		r = check_expr(expr->kids[i], depth + 1, at, e);
	return r;
}

int policy_builder_add(struct policy_builder *builder, const struct rule *rule, struct err *e)
{
	struct rule *rules;
	int r = rule->filter ? check_expr(rule->filter, 0, rule->at, e) : 0;

	if (r < 0)
		return r;
	rules = arena_grow(&builder->arena, builder->rules, builder->n, &builder->cap,
			   sizeof(*rules));
	if (!rules || builder->n >= UINT32_MAX - 1)
		return too_big(builder, e);
	builder->rules = rules;
	rules[builder->n] = *rule;
	rules[builder->n].index = (unsigned)builder->n;
	builder->n++;
	return 0;
}

int policy_builder_note(struct policy_builder *builder, const struct finding *finding,
			struct err *e)
{
	struct finding *notes = arena_grow(&builder->arena, builder->notes, builder->n_notes,
					   &builder->cap_notes, sizeof(*notes));

	if (!notes)
		return too_big(builder, e);
	builder->notes = notes;
	notes[builder->n_notes++] = *finding;
	return 0;
}

void policy_builder_free(struct policy_builder *builder)
{
	if (!builder)
		return;
	arena_release(&builder->arena);
	free(builder);
}

/* ---- Patterns ---- */

int policy_check_pattern(const struct test *test, struct err *e)
{
	struct arena arena = {.limit = POLICY_LIMITS_DEFAULT.memory};
	struct regex regex;
	int r;

	r = check_test(test, e);
	if (r < 0 || test->match != MATCH_REGEX)
		return r;
	r = regex_parse(test->text, test->at, &arena, &regex, e);
	arena_release(&arena);
	return r;
}

/* ---- Building ---- */

struct build {
	const struct policy_builder *builder;
	struct policy *policy;
	struct arena scratch, temporary;
	struct arena patterns, states;
	size_t work; /* what is left */
	struct filter_compiler filters;
	struct blocks blocks;
	struct columns columns;
	struct err *e;
};

/* The rules in blocks, their conditions, and with them the atoms. */
static int compile_rules(struct build *b)
{
	struct policy *policy = b->policy;
	struct block_options options = {policy->rules, policy->n_rules, b->builder->apart};
	int r;

	b->filters = (struct filter_compiler){
		.target = policy->target,
		.arena = &policy->arena,
		.scratch = &b->scratch,
		.states = b->builder->limits.states,
		.conditions = &policy->conditions,
		.e = b->e,
		.paths.arena = &b->patterns,
		.paths.temporary = &b->temporary,
		.paths.work = &b->work,
		.trials = b->work / TRIALS_PART,
		.built.arena = &b->scratch,
		.known.arena = &b->scratch,
	};
	if (!conditions_init(&policy->conditions, &policy->arena, &b->scratch))
		return too_big(b->builder, b->e);
	policy->conditions.work = &b->work;
	r = blocks_build(&b->filters, &options, &b->blocks, b->e);
	policy->guards = b->filters.guards;
	policy->n_guards = b->filters.n_guards;
	return r;
}

/* The row of each set of atoms, as labels for the automaton. */
static bool find_labels(struct build *b, const struct subsets *subsets, uint32_t **ret)
{
	*ret = arena_array(&b->scratch, subsets->accepts.n, sizeof(**ret));
	for (uint32_t i = 0; *ret && i < subsets->accepts.n; i++) {
		size_t n;
		const uint32_t *atoms = intern_get(&subsets->accepts, i, &n);

		if (!columns_row(&b->columns, atoms, n, &(*ret)[i]))
			return false;
	}
	return *ret;
}

static int build_automaton(struct build *b)
{
	struct policy *policy = b->policy;
	struct subset_options options = {
		.arena = &b->states,
		.sets = &b->patterns,
		.states = b->builder->limits.states,
		.prune = columns_prune,
		.context = &b->columns,
	};
	struct subsets subsets = {0};
	uint32_t *labels;
	int r;

	b->columns.scratch = &b->scratch;
	b->columns.conditions = &policy->conditions;
	b->columns.blocks = &b->blocks;
	b->columns.guards = policy->guards;
	b->columns.n_guards = policy->n_guards;
	b->columns.n_atoms = b->filters.paths.n_atoms;
	if (!columns_build(&b->columns) || !nfa_determinize(&b->filters.paths))
		return too_big(b->builder, b->e);
	r = subsets_build(&b->filters.paths, &options, &subsets, b->e);
	if (r < 0)
		return r;
	arena_release(&b->patterns);
	if (!find_labels(b, &subsets, &labels) || !columns_store(&b->columns, policy))
		return too_big(b->builder, b->e);
	return dfa_minimize(&subsets, labels, &policy->arena, &b->states, &policy->paths, b->e);
}

/* ---- What is too much ---- */

/* NOLINTBEGIN(misc-no-recursion): EXPR_DEPTH_MAX */

static size_t pattern_bytes(const struct expr *expr)
{
	size_t n = 0;

	if (expr->kind == EXPR_TEST)
		return match_is_pattern(expr->test.match) ? expr->test.text.n : 0;
	for (size_t i = 0; i < expr->n; i++)
		n += pattern_bytes(expr->kids[i]);
	return n;
}

static size_t count_tests(const struct expr *expr)
{
	size_t n = expr->kind == EXPR_TEST;

	for (size_t i = 0; i < expr->n; i++)
		n += count_tests(expr->kids[i]);
	return n;
}

/* NOLINTEND(misc-no-recursion) */

/* What room and work are in proportion to. */
struct measure {
	size_t (*of)(const struct expr *filter);
	const char *unit;
};

static const struct measure by_patterns = {pattern_bytes, "bytes of patterns"};
static const struct measure by_tests = {count_tests, "tests"};

/* A limit was reached, and nothing said where. A filter written for several operations counts once.
 */
static void blame_largest(const struct policy *policy, const struct measure *measure, struct err *e)
{
	const struct rule *worst = NULL;
	const struct expr *last = NULL;
	size_t most = 0, all = 0;
	char text[sizeof(e->text)];

	for (size_t i = 0; i < policy->n_rules; i++) {
		const struct rule *rule = &policy->rules[i];
		size_t n = rule->filter && rule->filter != last ? measure->of(rule->filter) : 0;

		last = rule->filter;
		all += n;
		if (n <= most)
			continue;
		most = n;
		worst = rule;
	}
	if (!worst)
		return;
	memcpy(text, e->text, sizeof(text));
	(void)err_at(e, ERR_LIMIT, worst->at, "%s", text);
	(void)err_hint(e,
		       "the filter of this rule has %zu %s, those of all %zu rules %zu; no rule "
		       "has more",
		       most, measure->unit, policy->n_rules, all);
}

/* Says why it was too much. The automaton leaves some work: if none is left conditions took it. */
static void explain_limit(const struct build *b)
{
	bool is_work = b->work == 0;

	if (!b->e)
		return;
	if (is_work)
		(void)err_set(b->e, ERR_LIMIT, "the policy takes more than %zu steps to build",
			      b->builder->limits.work);
	if (b->e->at.line == 0)
		blame_largest(b->policy, is_work ? &by_tests : &by_patterns, b->e);
}

static int find_below(struct build *b)
{
	arena_reset(&b->states);
	return policy_find_below(b->policy, &b->states, b->e);
}

static int build(struct build *b)
{
	const struct policy_limits *limits = &b->builder->limits;
	size_t used = b->policy->arena.used;
	struct arena_pool pool = {SIZE_MAX};
	int r;

	if (limits->memory > 0)
		pool.memory = limits->memory > used ? limits->memory - used : 0;
	b->scratch.pool = b->temporary.pool = b->policy->arena.pool = &pool;
	b->patterns.pool = b->states.pool = &pool;
	b->patterns.large = b->states.large = true;
	b->work = b->builder->limits.work ? b->builder->limits.work : SIZE_MAX;
	r = compile_rules(b);
	if (r == 0)
		r = build_automaton(b);
	if (r == 0)
		r = find_below(b);
	if (r == -ERR_LIMIT)
		explain_limit(b);
	b->policy->work = limits->work ? limits->work - b->work : 0;
	arena_release(&b->scratch);
	arena_release(&b->temporary);
	arena_release(&b->patterns);
	arena_release(&b->states);
	b->policy->arena.pool = NULL;
	arena_trim(&b->policy->arena);
	b->policy->conditions.scratch = NULL;
	b->policy->conditions.work = NULL;
	return r;
}

int policy_build(struct policy_builder *builder, struct policy **ret, struct err *e)
{
	struct policy *policy = calloc(1, sizeof(*policy));
	struct build b = {.builder = builder, .policy = policy, .e = e};
	int r;

	if (!policy) {
		policy_builder_free(builder);
		return err_memory(e);
	}
	policy->target = builder->target;
	policy->rules = builder->rules;
	policy->n_rules = builder->n;
	policy->notes = builder->notes;
	policy->n_notes = builder->n_notes;
	policy->arena = builder->arena;
	r = build(&b);
	free(builder);
	if (r < 0) {
		policy_free(policy);
		return r;
	}
	*ret = policy;
	return 0;
}

size_t policy_size(const struct policy *policy)
{
	return policy->arena.used;
}

void policy_free(struct policy *policy)
{
	if (!policy)
		return;
	arena_release(&policy->arena);
	free(policy);
}
