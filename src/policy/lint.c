/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of lint share, and the order of what they find. */
#include "policy/lint.h"

#include <stdlib.h>

#include "base/buf.h"
#include "policy/linter.h"
#include "policy/witness.h"

#include "base/banned.h"

const char *lint_kind_name(enum lint_kind kind)
{
	static const char *const names[LINT_KINDS] = {
#define LINT(symbol, name) [LINT_##symbol] = (name),
#include "policy/lint.def"
#undef LINT
		[LINT_NOT_CHECKED] = "not-checked",
	};

	return names[kind];
}

/* ---- Findings ---- */

int lint_compare_places(struct span x, struct span y)
{
	int order = strcmp(x.file ? x.file : "", y.file ? y.file : "");

	if (order == 0)
		order = (x.line > y.line) - (x.line < y.line);
	return order ? order : (x.column > y.column) - (x.column < y.column);
}

static int compare_findings(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	int order = lint_compare_places(x->at, y->at);

	return order ? order : (int)x->kind - (int)y->kind;
}

bool lint_same_place(struct span x, struct span y)
{
	return lint_compare_places(x, y) == 0;
}

/* What a finding is known by. */
struct place {
	uintptr_t file;
	uint32_t line, column, kind, unused;
};

static struct place place_of(enum lint_kind kind, struct span at)
{
	return (struct place){
		.file = (uintptr_t)at.file, .line = at.line, .column = at.column, .kind = kind};
}

bool lint_has(const struct linter *linter, enum lint_kind kind, struct span at)
{
	const struct place place = place_of(kind, at);

	return map_get(&linter->places, (struct str){(const char *)&place, sizeof(place)});
}

void lint_add(struct linter *linter, struct finding finding)
{
	struct findings *all = linter->findings;
	const struct place place = place_of(finding.kind, finding.at);
	struct finding *list;
	char *key;

	if (lint_has(linter, finding.kind, finding.at))
		return;
	list = arena_grow(linter->arena, all->list, all->n, &all->cap, sizeof(*list));
	key = arena_memdup(linter->arena, &place, sizeof(place));
	if (!list || !finding.text || !key ||
	    map_put(&linter->places, (struct str){key, sizeof(place)}, key) < 0) {
		linter->failed = true;
		return;
	}
	all->list = list;
	list[all->n++] = finding;
}

/* ---- Words ---- */

const char *lint_place(struct linter *linter, struct span from, struct span at)
{
	bool near = from.file && at.file && strcmp(from.file, at.file) == 0 && from.line != at.line;
	const char *text = near ? arena_printf(linter->arena, "line %u", at.line)
				: arena_printf(linter->arena, "%s:%u:%u", at.file ? at.file : "?",
					       at.line, at.column);

	linter->failed |= !text;
	return text ? text : "";
}

const char *lint_op_names(struct linter *linter, const bool *ops)
{
	struct buf text = {0};
	const char *copy;

	for (unsigned op = 0; op < OP_COUNT; op++)
		if (ops[op])
			buf_printf(&text, "%s%s", text.n ? " " : "", op_name((enum op)op));
	copy = text.failed ? NULL : arena_strdup(linter->arena, buf_str(&text));
	buf_release(&text);
	linter->failed |= !copy;
	return copy ? copy : "";
}

/* ---- Operations and filters ---- */

static bool has_children(enum op op)
{
	for (unsigned child = op + 1; child < OP_COUNT; child++)
		if (op_parent((enum op)child) == op)
			return true;
	return false;
}

/* Built-in defaults are asked, too. */
static bool is_asked(enum op op)
{
	return op_is_asked(op) ||
	       (op != OP_DEFAULT && !op_is_gone(op) && (op_is_terminal(op) || !has_children(op)));
}

bool lint_asks(enum op op, bool with_path)
{
	return is_asked(op) && op_has_path(op) != (with_path ? PATH_NEVER : PATH_ALWAYS);
}

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
void lint_tests(const struct expr *expr, lint_each_test *each, void *context)
{
	if (expr->kind == EXPR_TEST)
		each(context, &expr->test);
	for (size_t i = 0; expr->kind != EXPR_TEST && i < expr->n; i++)
		lint_tests(expr->kids[i], each, context);
}

/* ---- Policies on the way ---- */

/* What the smallest policy takes beside the work that is counted. */
static const size_t build_work = 1 << 13;

struct policy *lint_build(struct linter *linter, const struct rule *const *rules, size_t n)
{
	struct policy_limits limits = {linter->limits.memory, linter->limits.states, linter->work};
	struct policy_builder *builder;
	struct policy *policy = NULL;
	struct err e = {0};
	int r = 0;

	if (linter->work <= build_work) {
		linter->too_large = true;
		return NULL;
	}
	linter->work -= build_work;
	builder = policy_builder_new(linter->policy->target, limits);
	if (!builder) {
		linter->failed = true;
		return NULL;
	}
	policy_builder_keep_apart(builder);
	for (size_t i = 0; i < n && r == 0; i++)
		r = policy_builder_add(builder, rules[i], &e);
	if (r < 0)
		policy_builder_free(builder);
	else
		r = policy_build(builder, &policy, &e);
	if (r == -(int)ERR_MEMORY)
		linter->failed = true;
	else if (r < 0)
		linter->too_large = true;
	if (r < 0)
		linter->work /= 2; /* as much as that it may have taken */
	else
		linter->work -= policy->work < linter->work ? policy->work : linter->work;
	return r < 0 ? NULL : policy;
}

size_t lint_n_labels(const struct policy *policy)
{
	uint32_t most = 0;

	for (uint32_t state = 0; state < policy->paths.n_states; state++)
		if (dfa_label_at(&policy->paths, state) > most)
			most = dfa_label_at(&policy->paths, state);
	return (size_t)most + 1;
}

struct str lint_path(struct linter *linter, const struct paths_stop *stop)
{
	struct buf text = {0};
	struct str path = {0};

	paths_shortest(stop, &text);
	if (!text.failed)
		path = (struct str){arena_strdup(linter->arena, buf_str(&text)), text.n};
	buf_release(&text);
	linter->failed |= !path.p;
	return path.p ? path : STR("");
}

struct counted {
	struct linter *linter;
	lint_stop *each;
	void *context;
};

static int count_stop(void *context, const struct paths_stop *stop)
{
	const struct counted *counted = context;

	if (counted->linter->stops > 0)
		counted->linter->stops--;
	return counted->each(counted->context, stop);
}

int lint_walk(struct linter *linter, const struct policy *const *policies, size_t n,
	      lint_stop *each, void *context)
{
	struct counted counted = {linter, each, context};
	struct paths_options options = {
		.policies = policies,
		.n = n,
		.stops = linter->stops,
		.memory = linter->limits.memory,
		.each = count_stop,
		.context = &counted,
	};
	struct err e = {0};
	int r = paths_walk(&options, &e);

	linter->too_large |= r < 0;
	return r;
}

/* ---- All of it ---- */

static struct policy *build_apart(struct linter *linter)
{
	size_t n = linter->policy->n_rules;
	const struct rule **rules = arena_array(linter->arena, n, sizeof(struct rule *));

	linter->failed |= !rules;
	for (size_t i = 0; rules && i < n; i++)
		rules[i] = &linter->policy->rules[i];
	return rules ? lint_build(linter, rules, n) : NULL;
}

int lint(const struct policy *policy, struct lint_limits limits, struct arena *arena,
	 struct findings *ret, struct err *e)
{
	struct linter linter = {
		.policy = policy,
		.limits = limits,
		.stops = limits.stops,
		.work = limits.work,
		.steps = WITNESS_STEPS_DEFAULT / 3,
		.arena = arena,
		.findings = ret,
		.places.arena = arena,
	};

	*ret = (struct findings){0};
	linter.apart = build_apart(&linter);
	linter.work = limits.work;
	for (size_t i = 0; i < policy->n_notes; i++)
		lint_add(&linter, policy->notes[i]);
	lint_patterns(&linter);
	lint_rules(&linter);
	lint_egress(&linter);
	lint_renames(&linter);
	policy_free(linter.apart);
	if (linter.too_large)
		lint_add(&linter, (struct finding){
					  .kind = LINT_NOT_CHECKED,
					  .text = "the rules are too many to look at every path",
				  });
	if (ret->n > 1)
		qsort(ret->list, ret->n, sizeof(*ret->list), compare_findings);
	return linter.failed ? err_memory(e) : 0;
}
