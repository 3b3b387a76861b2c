/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/block.h"

#include "policy/impl.h"

#include "base/banned.h"

enum {
	SEARCH_MAX = 16, /* rules that one automaton is tried for */
	APART_MAX = 16,  /* rules with regular expressions that are no block with others */
};

static int too_big(struct err *e)
{
	return err_set(e, ERR_LIMIT, "the policy needs too much memory");
}

/* ---- Finding the rule ---- */

/* The place of two that is later; TEXT is one plus one, or 0. */
static uint32_t later(uint32_t place, uint32_t text)
{
	return text > place ? text - 1 : place;
}

const struct rule *block_find(const struct block *block, struct str path)
{
	uint32_t found = texts_find(&block->texts, path);

	for (uint32_t i = 0; i < block->n_searches; i++) {
		const struct block_search *search = &block->searches[i];
		uint32_t label;

		if (search->places[search->n - 1] < found)
			break;
		label = dfa_label(search->dfa, path);
		if (label)
			return block->rules[later(search->places[label - 1], found)];
	}
	return block->rules[found ? found - 1 : 0];
}

/* ---- Building ---- */

struct build {
	struct filter_compiler *compiler;
	const struct rule *rules;
	size_t n_rules;
	struct blocks *ret;
	bool join_texts, join_all; /* rules of the same effect? */
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

static bool is_text(const struct expr *expr)
{
	return expr->kind == EXPR_TEST && expr->test.match != MATCH_REGEX;
}

static bool is_text_union(const struct expr *expr)
{
	bool ok = expr->kind == EXPR_ANY;

	for (size_t i = 0; ok && i < expr->n; i++)
		ok = is_text(expr->kids[i]);
	return ok || is_text(expr);
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

	if (!b->join_all &&
	    !(b->join_texts && is_text_union(last->filter) && is_text_union(rule->filter)))
		return false;
	return same_effect(last, rule) && !each_test(last->filter, is_no_path, NULL) &&
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
		blocks[op].list = arena_array(b->compiler->arena, n[op], sizeof(*blocks[op].list));
		if (!blocks[op].list)
			return false;
	}
	return true;
}

static bool sort_rules(const struct build *b, enum origin origin, struct op_blocks blocks[OP_COUNT])
{
	const struct rule **list =
		arena_array(b->compiler->arena, b->n_rules, sizeof(struct rule *));
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

/* ---- Compiling ---- */

static int add_texts(struct build *b, struct block *block, const struct expr *expr, uint32_t place)
{
	struct arena *scratch = b->compiler->scratch;
	bool ok = true;

	if (expr->kind == EXPR_TEST)
		ok = texts_add(&block->texts, scratch, &expr->test, place);
	for (size_t i = 0; expr->kind != EXPR_TEST && i < expr->n && ok; i++)
		ok = texts_add(&block->texts, scratch, &expr->kids[i]->test, place);
	return ok ? 0 : too_big(b->e);
}

/*
 * Adds searches for N rules at PLACES, whose filters are EXPRS: as few as stay small, since each
 * reads the whole path.
 */
static int add_searches(struct build *b, struct block *block, const struct expr *const *exprs,
			const uint32_t *places, uint32_t n)
{
	uint32_t most = SEARCH_MAX; /* what was too many once is not tried again */
	int r = 0;

	while (n > 0 && r == 0) {
		struct block_search *search = &block->searches[block->n_searches++];

		most = most < n ? most : n;
		for (;; most = (most + 1) / 2) {
			r = filter_build_dfa(b->compiler, exprs + n - most, most, &search->dfa);
			if (r < 0 || search->dfa)
				break;
		}
		search->n = most;
		n -= most;
		search->places = places + n;
	}
	return r;
}

/* What block_find() needs. */
static int index_block(struct build *b, struct block *block)
{
	struct arena *arena = b->compiler->arena, *scratch = b->compiler->scratch;
	const struct expr **exprs = arena_array(scratch, block->n, sizeof(struct expr *));
	uint32_t *places = arena_array(arena, block->n, sizeof(*places)), n = 0;
	int r = 0;

	block->texts.target = b->compiler->target;
	block->searches = arena_array(arena, block->n, sizeof(*block->searches));
	if (!exprs || !places || !block->searches)
		return too_big(b->e);
	for (uint32_t place = 0; place < block->n && r == 0; place++) {
		const struct rule *rule = block->rules[place];

		b->ret->of[rule->index] = block;
		if (is_text_union(rule->filter)) {
			r = add_texts(b, block, rule->filter, place);
		} else if (place > 0) {
			exprs[n] = rule->filter;
			places[n++] = place;
		}
	}
	if (r == 0 && !texts_index(&block->texts, arena, scratch))
		r = too_big(b->e);
	return r < 0 ? r : add_searches(b, block, exprs, places, n);
}

/* The condition of a block is that of one rule with all the filters. */
static int compile_block(struct build *b, struct block *block)
{
	struct expr any = {.kind = EXPR_ANY, .n = block->n};
	int r = 0;

	any.kids = arena_array(b->compiler->scratch, block->n, sizeof(struct expr *));
	if (!any.kids)
		return too_big(b->e);
	for (uint32_t i = 0; i < block->n; i++)
		any.kids[i] = block->rules[i]->filter;
	if (block->n > 1)
		r = index_block(b, block);
	return r < 0 ? r : filter_compile(b->compiler, &any, &block->when);
}

static int compile_blocks(struct build *b, struct op_blocks blocks[OP_COUNT])
{
	int r = 0;

	for (unsigned op = 0; op < OP_COUNT; op++)
		for (uint32_t i = 0; i < blocks[op].n && r == 0; i++)
			r = compile_block(b, &blocks[op].list[i]);
	return r;
}

/*
 * Without regular expressions nothing is gained by joining. With a few the texts are joined: then
 * nothing is searched for anew below each of them.
 */
static void choose_blocks(struct build *b, bool apart)
{
	const struct expr *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < b->n_rules && !apart; i++) {
		const struct expr *filter = b->rules[i].filter;

		/* A rule that was written for several operations counts once. */
		n += filter && filter != last && each_test(filter, is_path_regex, NULL);
		last = filter;
	}
	b->join_texts = n > 0;
	b->join_all = n > APART_MAX;
}

int blocks_build(struct filter_compiler *compiler, const struct block_options *options,
		 struct blocks *ret, struct err *e)
{
	struct build b = {
		.compiler = compiler,
		.rules = options->rules,
		.n_rules = options->n,
		.ret = ret,
		.e = e,
	};
	int r;

	choose_blocks(&b, options->apart);
	*ret = (struct blocks){0};
	ret->of = arena_array(compiler->scratch, options->n, sizeof(struct block *));
	if (!ret->of || !sort_rules(&b, ORIGIN_PROFILE, ret->profile) ||
	    !sort_rules(&b, ORIGIN_RUNTIME, ret->runtime))
		return too_big(e);
	r = compile_blocks(&b, ret->profile);
	return r < 0 ? r : compile_blocks(&b, ret->runtime);
}
