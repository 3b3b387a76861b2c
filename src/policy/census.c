/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of path is visited once, and there every way through the rules is asked for. On the
 * way it turns up where a later rule of a parent operation loses against an earlier one of its
 * child.
 */
#include "policy/census.h"

#include <stdlib.h>

#include "base/banned.h"

/* ---- Forms ---- */

static int compare_rules(const void *a, const void *b)
{
	const struct rule *x = *(const struct rule *const *)a, *y = *(const struct rule *const *)b;
	int order = lint_compare_places(x->at, y->at);

	if (order == 0)
		order = (int)x->op - (int)y->op;
	return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Puts the rules of one place, N of them, into forms. */
static void add_forms(struct census *c, const struct rule *const *rules, size_t n)
{
	bool has_default = rules[0]->op == OP_DEFAULT;
	size_t first = c->n_forms;

	for (size_t i = 0; i < n; i++) {
		enum op op = rules[i]->op;
		size_t form = first;

		/* From version 3 on a rule of default has copies where it would not be asked. */
		if (has_default && op_is_terminal(op))
			op = OP_DEFAULT;
		while (form < c->n_forms && c->forms[form].op != op)
			form++;
		if (form == c->n_forms)
			c->forms[c->n_forms++] = (struct form){rules, n, op};
		c->form_of[rules[i]->index] = (uint32_t)form;
	}
}

static bool find_forms(struct census *c)
{
	size_t n = c->policy->n_rules;
	const struct rule **sorted = arena_array(&c->scratch, n, sizeof(struct rule *));

	c->forms = arena_array(&c->scratch, n, sizeof(*c->forms));
	c->form_of = arena_array(&c->scratch, n, sizeof(*c->form_of));
	if (!sorted || !c->forms || !c->form_of)
		return false;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &c->policy->rules[i];
	if (n > 1)
		qsort(sorted, n, sizeof(struct rule *), compare_rules);
	for (size_t i = 0, same; i < n; i += same) {
		for (same = 1; i + same < n; same++)
			if (!lint_same_place(sorted[i]->at, sorted[i + same]->at))
				break;
		add_forms(c, sorted + i, same);
	}
	return true;
}

/* ---- What was found ---- */

bool census_is_live(const struct census *c, size_t form, enum op op)
{
	size_t bit = form * OP_COUNT + c->policy->column[op];

	return c->live[bit / 8] >> bit % 8 & 1;
}

static void mark_live(struct census *c, const struct rule *rule)
{
	size_t bit = (size_t)c->form_of[rule->index] * OP_COUNT + c->policy->column[c->op];

	c->live[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* Was this asked before? Without memory everything was. */
static bool is_old(struct census *c, struct intern *asked, const uint32_t *words, size_t n)
{
	size_t known = asked->n;
	int64_t id = intern_put(asked, words, n);

	c->linter->failed |= id < 0;
	return id < 0 || (size_t)id < known;
}

static struct str copy_path(struct census *c)
{
	return c->stop ? lint_path(c->linter, c->stop) : STR("");
}

static void add_pair(struct census *c, const struct rule *wide, const struct rule *narrow)
{
	const uint32_t words[] = {c->form_of[wide->index], narrow->op, c->policy->column[c->op]};
	struct pair *pairs;

	if (is_old(c, &c->paired, words, 3))
		return;
	pairs = arena_grow(&c->scratch, c->pairs, c->n_pairs, &c->cap_pairs, sizeof(*pairs));
	c->linter->failed |= !pairs;
	if (!pairs)
		return;
	c->pairs = pairs;
	pairs[c->n_pairs++] = (struct pair){wide, narrow, c->op, copy_path(c)};
}

/* ---- Asking ---- */

static policy_state state_of(const struct census *c)
{
	return c->stop ? c->stop->states[0] : policy_start(c->policy);
}

static const struct chain *chain_of(const struct census *c, enum op op)
{
	return policy_chain(c->policy, state_of(c), op);
}

static bool is_plain(const struct census *c, enum op op)
{
	return chain_of(c, op)->n == 1;
}

static uint32_t chain_number(const struct census *c, enum op op)
{
	return (uint32_t)(chain_of(c, op) - c->policy->chains);
}

/* Calls EACH with requests that between them meet whatever can be decided for the operation here.
 */
static void ask(struct census *c, struct witnesses *witnesses, witness_each_function *each)
{
	policy_state states[2] = {state_of(c), state_of(c)};
	const struct witness_place place = {.op = c->op, .states = states, .has_path = c->stop};
	struct err e = {0};

	if (witness_each(witnesses, &place, each, c, &e) < 0)
		c->linter->too_large = true;
}

static const struct rule *decider(const struct census *c, const struct request *request, enum op op)
{
	struct request asked = *request;
	struct decision decision;

	asked.op = op;
	policy_decide_at(c->policy, state_of(c), &asked, &decision);
	return decision.rule;
}

static int note_live(void *context, const struct request *request, unsigned cost)
{
	struct census *c = context;
	const struct rule *rule = decider(c, request, c->op);

	(void)cost;
	if (rule)
		mark_live(c, rule);
	return 0;
}

static int note_pair(void *context, const struct request *request, unsigned cost)
{
	struct census *c = context;
	const struct rule *narrow = decider(c, request, c->op);
	const struct rule *wide = decider(c, request, c->above);

	(void)cost;
	if (narrow && wide && wide->op == c->above && wide->filter && lint_is_own(wide) &&
	    narrow->origin == ORIGIN_PROFILE && narrow->op != wide->op &&
	    op_is_below(narrow->op, wide->op) && narrow->index < wide->index &&
	    narrow->verdict != wide->verdict && !lint_same_place(narrow->at, wide->at))
		add_pair(c, wide, narrow);
	return 0;
}

static void look_at_op(struct census *c)
{
	const struct request any = {.op = c->op};
	const uint32_t words[] = {chain_number(c, c->op), c->op, !c->stop};

	if (is_plain(c, c->op))
		(void)note_live(c, &any, 0);
	else if (!is_old(c, &c->asked, words, 3))
		ask(c, c->witnesses, note_live);
}

/* What the rules of the operation and of its ancestor `above` say of the same requests. */
static void look_above(struct census *c)
{
	const struct request any = {.op = c->op};
	const uint32_t words[] = {chain_number(c, c->op), chain_number(c, c->above), c->op,
				  c->above, !c->stop};

	if (is_plain(c, c->op) && is_plain(c, c->above)) {
		(void)note_pair(c, &any, 0);
	} else if (!is_old(c, &c->asked, words, 5)) {
		c->raised.column[c->op] = c->policy->column[c->above];
		ask(c, c->pairwise, note_pair);
		c->raised.column[c->op] = c->policy->column[c->op];
	}
}

static bool depends_on_path(const struct census *c, enum op op)
{
	return c->policy->column[op] < c->policy->n_path_columns;
}

/* FIXED_TOO: also what is the same for all paths. */
static void look(struct census *c, bool fixed_too)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		c->op = (enum op)op;
		if (!lint_asks(c->op, c->stop) ||
		    (is_plain(c, c->op) && !census_speaks_for(c, c->op, c->stop)))
			continue;
		if (fixed_too || depends_on_path(c, c->op))
			look_at_op(c);
		for (c->above = c->op; !op_is_terminal(c->above);) {
			c->above = op_parent(c->above);
			if (fixed_too || depends_on_path(c, c->op) || depends_on_path(c, c->above))
				look_above(c);
		}
	}
}

static int look_at_stop(void *context, const struct paths_stop *stop)
{
	struct census *c = context;
	uint32_t label = dfa_label_at(&c->policy->paths, stop->states[0]);
	bool first = !c->stop;

	if (c->seen[label])
		return 0;
	c->seen[label] = true;
	c->stop = stop;
	look(c, first);
	return 0;
}

/* ---- The whole ---- */

static void find_first(struct census *c)
{
	for (unsigned op = OP_COUNT; op-- > 0;)
		for (unsigned without = 0; without < 2; without++)
			if (lint_asks((enum op)op, !without))
				c->first[without][c->policy->column[op]] = (enum op)op;
}

static bool make_room(struct census *c)
{
	c->seen = arena_array(&c->scratch, lint_n_labels(c->policy), sizeof(*c->seen));
	c->live = arena_array(&c->scratch, c->policy->n_rules, OP_COUNT / 8 + 1);
	c->asked.arena = c->paired.arena = &c->scratch;
	return c->seen && c->live && find_forms(c);
}

/* Of one place, shortest paths first. */
static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = lint_compare_places(x->wide->at, y->wide->at);

	return order ? order : (x->path.n > y->path.n) - (x->path.n < y->path.n);
}

static bool find_witnesses(struct census *c)
{
	const struct policy **policies = arena_array(&c->scratch, 2, sizeof(struct policy *));
	struct witness_options options = {
		.policies = policies,
		.n = 1,
		.memory = c->linter->limits.memory,
		.steps = &c->linter->steps,
		.foreign = true,
	};
	struct err e = {0};

	if (!policies)
		return false;
	c->raised = *c->policy;
	policies[0] = c->policy;
	policies[1] = &c->raised;
	if (witnesses_new(&options, &c->witnesses, &e) < 0)
		return false;
	options.n = 2;
	return witnesses_new(&options, &c->pairwise, &e) == 0;
}

bool census_take(struct census *c, struct linter *linter)
{
	const struct policy *policy = linter->apart;

	*c = (struct census){.linter = linter, .policy = policy};
	if (!make_room(c) || !find_witnesses(c)) {
		linter->failed = true;
		return false;
	}
	find_first(c);
	look(c, true);
	if (lint_walk(linter, &policy, 1, look_at_stop, c) < 0 || linter->failed)
		return false;
	if (c->n_pairs > 1)
		qsort(c->pairs, c->n_pairs, sizeof(*c->pairs), compare_pairs);
	return true;
}

void census_release(struct census *c)
{
	witnesses_free(c->witnesses);
	witnesses_free(c->pairwise);
	arena_release(&c->scratch);
}
