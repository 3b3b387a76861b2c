/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/block.h"

#include "policy/impl.h"

#include "base/banned.h"

static int too_big(struct err *e)
{
	return err_set(e, ERR_LIMIT, "the policy needs too much memory");
}

/* ---- Asking rules one by one ---------------------------------------------------------------- */

static unsigned char fold_byte(unsigned char c, bool fold)
{
	return fold && c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

static bool starts(struct str text, struct str with, bool fold)
{
	if (text.n < with.n)
		return false;
	for (size_t i = 0; i < with.n; i++)
		if (fold_byte((unsigned char)text.p[i], fold) !=
		    fold_byte((unsigned char)with.p[i], fold))
			return false;
	return true;
}

/* A pattern that is no regular expression, of PATH as spelled. */
static bool matches_text(enum match match, struct str text, struct str path, bool fold)
{
	if (!starts(path, text, fold))
		return false;
	if (match == MATCH_PREFIX || path.n == text.n)
		return true;
	return match == MATCH_SUBPATH && (path.p[text.n] == '/' || str_is(text, "/"));
}

/* The same of PATH with /private in front. */
static bool matches_private(enum match match, struct str text, struct str path)
{
	const struct str private = STR("/private");

	if (!str_is_below(path, STR("/tmp")) && !str_is_below(path, STR("/var")) &&
	    !str_is_below(path, STR("/etc")))
		return false;
	if (!str_starts(text, private))
		return match == MATCH_PREFIX && str_starts(private, text);
	text = (struct str){text.p + private.n, text.n - private.n};
	return matches_text(match, text, path, false);
}

static bool matches_regex(const struct block *block, const struct test *test, struct str path)
{
	const struct dfa *dfa;
	uint32_t i = 0;

	while (block->regexes[i].test != test)
		i++;
	dfa = block->regexes[i].dfa;
	return dfa->label[dfa_walk(dfa, dfa->start, path)];
}

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool matches(const struct block *block, const struct expr *expr, enum target target,
		    struct str path)
{
	const struct test *test = &expr->test;

	switch (expr->kind) {
	case EXPR_TEST:
		if (test->match == MATCH_REGEX)
			return matches_regex(block, test, path);
		return matches_text(test->match, test->text, path, target == TARGET_DARWIN) ||
		       (target == TARGET_LINUX && matches_private(test->match, test->text, path));
	case EXPR_NOT:
		return !matches(block, expr->kids[0], target, path);
	case EXPR_ALL:
	case EXPR_ANY:
		break;
	}
	for (size_t i = 0; i < expr->n; i++)
		if (matches(block, expr->kids[i], target, path) == (expr->kind == EXPR_ANY))
			return expr->kind == EXPR_ANY;
	return expr->kind == EXPR_ALL;
}

const struct rule *block_find(const struct block *block, enum target target, struct str path)
{
	uint32_t i = block->n - 1;

	while (i > 0 && !matches(block, block->rules[i]->filter, target, path))
		i--;
	return block->rules[i];
}

/* ---- Building ------------------------------------------------------------------------------- */

struct build {
	struct filter_compiler *compiler;
	const struct rule *rules;
	size_t n_rules;
	struct blocks *ret;
	bool join; /* rules of the same effect? */
	struct err *e;
};

/* Calls EACH for every test of EXPR until it returns non-zero, which is returned. */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static int each_test(const struct expr *expr, int (*each)(void *context, const struct test *test),
		     void *context)
{
	int r = 0;

	if (expr->kind == EXPR_TEST)
		return each(context, &expr->test);
	for (size_t i = 0; i < expr->n && r == 0; i++)
		r = each_test(expr->kids[i], each, context);
	return r;
}

static int is_path_regex(void *context, const struct test *test)
{
	(void)context;
	return test->filter == FILTER_PATH && test->match == MATCH_REGEX;
}

static int is_no_path(void *context, const struct test *test)
{
	(void)context;
	return test->filter != FILTER_PATH;
}

static bool same_effect(const struct rule *x, const struct rule *y)
{
	if (x->verdict != y->verdict || x->n_modifiers != y->n_modifiers)
		return false;
	for (size_t i = 0; i < x->n_modifiers; i++) {
		const struct modifier *a = &x->modifiers[i], *b = &y->modifiers[i];

		if (a->id != b->id || a->number != b->number || !str_eq(a->text, b->text))
			return false;
	}
	return true;
}

/* Does RULE, which comes next, belong to BLOCK? */
static bool belongs(const struct build *b, const struct block *block, const struct rule *rule)
{
	const struct rule *last = block->rules[block->n - 1];

	return b->join && same_effect(last, rule) &&
	       !each_test(last->filter, is_no_path, NULL) &&
	       !each_test(rule->filter, is_no_path, NULL);
}

/*
 * Gives every operation room for its filtered rules of ORIGIN: NEXT[op] is where they go in one
 * list of all rules, and each may become a block.
 */
static bool reserve(const struct build *b, enum origin origin, struct op_blocks blocks[OP_COUNT],
		    size_t next[OP_COUNT])
{
	uint32_t n[OP_COUNT] = {0};
	size_t total = 0;

	for (size_t i = 0; i < b->n_rules; i++)
		if (b->rules[i].origin == origin && b->rules[i].filter)
			n[b->rules[i].op]++;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		next[op] = total;
		total += n[op];
		blocks[op].list =
			arena_array(b->compiler->arena, n[op], sizeof(*blocks[op].list));
		if (!blocks[op].list)
			return false;
	}
	return true;
}

static bool sort_rules(const struct build *b, enum origin origin, struct op_blocks blocks[OP_COUNT])
{
	const struct rule **list = arena_array(b->compiler->arena, b->n_rules, sizeof(*list));
	size_t next[OP_COUNT];

	if (!list || !reserve(b, origin, blocks, next))
		return false;
	for (size_t i = 0; i < b->n_rules; i++) {
		const struct rule *rule = &b->rules[i];
		struct op_blocks *here = &blocks[rule->op];

		if (rule->origin != origin)
			continue;
		if (!rule->filter) {
			here->unfiltered = rule;
			continue;
		}
		if (here->n == 0 || !belongs(b, &here->list[here->n - 1], rule))
			here->list[here->n++].rules = list + next[rule->op];
		here->list[here->n - 1].n++;
		list[next[rule->op]++] = rule;
	}
	return true;
}

/* ---- Compiling ------------------------------------------------------------------------------ */

struct regex_context {
	struct build *build;
	struct block *block;
	size_t cap;
};

static int add_regex(void *context, const struct test *test)
{
	struct regex_context *c = context;
	struct filter_compiler *compiler = c->build->compiler;
	struct block *block = c->block;
	struct block_regex *regexes = arena_grow(compiler->arena, block->regexes, block->n_regexes,
						 &c->cap, sizeof(*regexes));

	if (test->match != MATCH_REGEX)
		return 0;
	if (!regexes)
		return too_big(c->build->e);
	block->regexes = regexes;
	regexes[block->n_regexes].test = test;
	return filter_build_regex(compiler, test, &regexes[block->n_regexes++].dfa, c->build->e);
}

/* The condition of a block of several rules: that of one rule with all their filters. */
static int compile_block(struct build *b, struct block *block)
{
	struct arena *scratch = b->compiler->scratch;
	struct regex_context context = {b, block, 0};
	struct expr any = {.kind = EXPR_ANY, .n = block->n};

	any.kids = arena_array(scratch, block->n, sizeof(*any.kids));
	if (!any.kids)
		return too_big(b->e);
	for (uint32_t i = 0; i < block->n; i++) {
		int r = 0;

		any.kids[i] = block->rules[i]->filter;
		if (i > 0)
			r = each_test(any.kids[i], add_regex, &context);
		if (r < 0)
			return r;
		if (block->n > 1)
			b->ret->of[block->rules[i]->index] = block;
	}
	return filter_compile(b->compiler, &any, &block->when, b->e);
}

static int compile_blocks(struct build *b, struct op_blocks blocks[OP_COUNT])
{
	int r = 0;

	for (unsigned op = 0; op < OP_COUNT; op++)
		for (uint32_t i = 0; i < blocks[op].n && r == 0; i++)
			r = compile_block(b, &blocks[op].list[i]);
	return r;
}

int blocks_build(struct filter_compiler *compiler, const struct rule *rules, size_t n,
		 struct blocks *ret, struct err *e)
{
	struct build b = {compiler, rules, n, ret, false, e};
	int r;

	*ret = (struct blocks){0};
	for (size_t i = 0; i < n && !b.join; i++)
		b.join = rules[i].filter && each_test(rules[i].filter, is_path_regex, NULL);
	ret->of = arena_array(compiler->scratch, n, sizeof(*ret->of));
	if (!ret->of || !sort_rules(&b, ORIGIN_PROFILE, ret->profile) ||
	    !sort_rules(&b, ORIGIN_RUNTIME, ret->runtime))
		return too_big(e);
	r = compile_blocks(&b, ret->profile);
	return r < 0 ? r : compile_blocks(&b, ret->runtime);
}
