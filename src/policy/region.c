/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about whole subtrees. Below a path are its canonical extensions:
 * "/" and a name, again and again, where no name is empty, "." or "..". Which
 * part of a name was read is the phase; (state, phase) are the nodes of the
 * graph that is searched here.
 */
#include "policy/impl.h"
#include "policy/phase.h"

#include "base/banned.h"

/* ---- Verdicts ---- */

enum {
	BITS_PER_VERDICTS = 2,
	VERDICTS_PER_WORD = 32 / BITS_PER_VERDICTS,
};

unsigned policy_verdicts_at(const struct policy *policy, policy_state state, enum op op)
{
	return policy_chain(policy, state, op)->verdicts;
}

unsigned policy_verdicts_below(const struct policy *policy, policy_state state, enum op op)
{
	uint32_t column = policy->column[op];
	const uint32_t *set;
	size_t n;

	if (column >= policy->n_path_columns)
		return policy_verdicts_at(policy, state, op);
	set = intern_get(&policy->below_sets, policy->below[state], &n);
	return set[column / VERDICTS_PER_WORD] >> column % VERDICTS_PER_WORD * BITS_PER_VERDICTS &
	       (CAN_DENY | CAN_ALLOW);
}

/*
 * What can be below, for all states at once: each node can answer what it answers itself and what
 * its successors can; nodes that reach each other can answer the same. That is Tarjan's algorithm
 * for strongly connected components, with the sets joined on the way.
 */
struct search {
	const struct policy *policy;
	size_t n_words;  /* of a set */
	uint32_t *sets;  /* by node */
	uint32_t *order; /* by node: when it was met, from 1; 0: not yet */
	uint32_t *low;   /* by node: the earliest node on the stack that it reaches */
	bool *is_open;   /* by node: on the stack */
	uint32_t *stack;
	struct frame {
		uint32_t node;
		unsigned cls;
	} * frames;
	size_t n_stack, n_frames;
	uint32_t n_met;
};

static uint32_t node_of(policy_state state, enum phase phase)
{
	return state * PHASE_COUNT + phase;
}

static void join(struct search *s, uint32_t into, uint32_t from)
{
	for (size_t i = 0; i < s->n_words; i++)
		s->sets[into * s->n_words + i] |= s->sets[from * s->n_words + i];
}

/* What can be answered at NODE itself. */
static void init_set(struct search *s, uint32_t node)
{
	const struct policy *policy = s->policy;
	uint32_t label = policy->paths.states[node / PHASE_COUNT].label, n = policy->n_path_columns;

	if (node % PHASE_COUNT != PHASE_NAME)
		return;
	for (uint32_t column = 0; column < n; column++) {
		uint32_t chain = policy->rows[(size_t)label * n + column];

		s->sets[node * s->n_words + column / VERDICTS_PER_WORD] |=
			policy->chains[chain].verdicts
			<< column % VERDICTS_PER_WORD * BITS_PER_VERDICTS;
	}
}

static void enter(struct search *s, uint32_t node)
{
	s->order[node] = s->low[node] = ++s->n_met;
	s->is_open[node] = true;
	s->stack[s->n_stack++] = node;
	s->frames[s->n_frames++] = (struct frame){node, 0};
	init_set(s, node);
}

/* NODE is done. If nothing before it can be reached from it, all from NODE on are one component. */
static void leave(struct search *s, uint32_t node)
{
	size_t first = s->n_stack;

	if (s->low[node] != s->order[node])
		return;
	while (s->stack[--first] != node)
		join(s, node, s->stack[first]);
	for (; s->n_stack > first; s->n_stack--) {
		uint32_t member = s->stack[s->n_stack - 1];

		s->is_open[member] = false;
		if (member != node)
			join(s, member, node);
	}
}

/* The next successor of the frame's node; false: there are no more. */
static bool next_successor(const struct search *s, struct frame *frame, uint32_t *ret)
{
	const struct dfa *dfa = &s->policy->paths;
	policy_state state = frame->node / PHASE_COUNT;
	enum phase phase = (enum phase)(frame->node % PHASE_COUNT);

	while (frame->cls < dfa->classes.n) {
		unsigned cls = frame->cls++;
		enum phase next = phase_next(phase, cls);

		/* Of the usual kind those that lead elsewhere. */
		if (frame->cls > CLASS_DOT)
			frame->cls = dfa_next_turn(dfa, state, frame->cls);
		*ret = node_of(dfa_next(dfa, state, cls), next);
		if (next != PHASE_NONE && *ret != frame->node)
			return true;
	}
	return false;
}

static void search_from(struct search *s, uint32_t root)
{
	if (s->order[root])
		return;
	enter(s, root);
	while (s->n_frames > 0) {
		struct frame *frame = &s->frames[s->n_frames - 1];
		uint32_t node = frame->node, next;

		if (!next_successor(s, frame, &next)) {
			s->n_frames--;
			leave(s, node);
			if (s->n_frames == 0)
				continue;
			next = node;
			node = s->frames[s->n_frames - 1].node;
		} else if (!s->order[next]) {
			enter(s, next);
			continue;
		}
		if (s->is_open[next] && s->low[next] < s->low[node])
			s->low[node] = s->low[next];
		join(s, node, next);
	}
}

static bool search_init(struct search *s, const struct policy *policy, struct arena *scratch)
{
	size_t n = (size_t)policy->paths.n_states * PHASE_COUNT;

	s->policy = policy;
	s->n_words = (policy->n_path_columns + VERDICTS_PER_WORD - 1) / VERDICTS_PER_WORD;
	s->sets = arena_array(scratch, n * s->n_words, sizeof(*s->sets));
	s->order = arena_array(scratch, n, sizeof(*s->order));
	s->low = arena_array(scratch, n, sizeof(*s->low));
	s->is_open = arena_array(scratch, n, sizeof(*s->is_open));
	s->stack = arena_array(scratch, n, sizeof(*s->stack));
	s->frames = arena_array(scratch, n, sizeof(*s->frames));
	return s->sets && s->order && s->low && s->is_open && s->stack && s->frames;
}

int policy_find_below(struct policy *policy, struct arena *scratch, struct err *e)
{
	const struct dfa *dfa = &policy->paths;
	uint32_t *below = arena_array(&policy->arena, dfa->n_states, sizeof(*below));
	struct search s = {0};

	policy->below_sets.arena = &policy->arena;
	policy->below = below;
	if (!below || !search_init(&s, policy, scratch))
		return err_set(e, ERR_LIMIT, "the policy needs too much memory");
	for (policy_state state = 0; state < dfa->n_states; state++) {
		uint32_t root = node_of(dfa_next(dfa, state, CLASS_SLASH), PHASE_SLASH);
		int64_t id;

		search_from(&s, root);
		id = intern_put(&policy->below_sets, s.sets + root * s.n_words, s.n_words);
		if (id < 0)
			return err_set(e, ERR_LIMIT, "the policy needs too much memory");
		below[state] = (uint32_t)id;
	}
	return 0;
}

/* ---- Comparing ---- */

static unsigned compare_here(const struct policy *policy, policy_state from, policy_state to,
			     const enum op *ops)
{
	unsigned change = REGION_SAME;

	for (; *ops != OP_COUNT; ops++) {
		const struct chain *old = policy_chain(policy, from, *ops);
		const struct chain *new = policy_chain(policy, to, *ops);

		if (old->shape == new->shape)
			continue;
		if (old->verdicts & CAN_DENY && new->verdicts &CAN_ALLOW)
			change |= REGION_LOOSER;
		if (old->verdicts & CAN_ALLOW && new->verdicts &CAN_DENY)
			change |= REGION_STRICTER;
	}
	return change;
}

/* Pairs of states under comparison, met once each, in the order of their ids. */
struct pairs {
	const struct policy *policy;
	struct intern met; /* from, to, phase */
	size_t work;
};

enum {
	PAIR_WORDS = 3
};

/* False: too much work or no memory. Equal states need no look. */
static bool add_pair(struct pairs *pairs, policy_state from, policy_state to, enum phase phase)
{
	const uint32_t words[PAIR_WORDS] = {from, to, phase};

	if (from == to || phase == PHASE_NONE)
		return true;
	return intern_put(&pairs->met, words, PAIR_WORDS) >= 0 && pairs->met.n <= pairs->work;
}

static bool add_successors(struct pairs *pairs, policy_state from, policy_state to,
			   enum phase phase)
{
	const struct dfa *dfa = &pairs->policy->paths;

	for (unsigned cls = 0; cls < dfa->classes.n; cls++) {
		if (cls > CLASS_DOT) {
			unsigned turn = dfa_next_turn(dfa, from, cls);
			unsigned other = dfa_next_turn(dfa, to, cls);

			cls = turn < other ? turn : other;
		}
		if (cls < BYTES && !add_pair(pairs, dfa_next(dfa, from, cls),
					     dfa_next(dfa, to, cls), phase_next(phase, cls)))
			return false;
	}
	return true;
}

static unsigned compare_below(struct pairs *pairs, policy_state from, policy_state to,
			      const enum op *ops)
{
	const unsigned all = REGION_LOOSER | REGION_STRICTER;
	const struct dfa *dfa = &pairs->policy->paths;
	unsigned change = REGION_SAME, slash = CLASS_SLASH;

	if (!add_pair(pairs, dfa_next(dfa, from, slash), dfa_next(dfa, to, slash), PHASE_SLASH))
		return all;
	for (uint32_t i = 0; i < pairs->met.n && change != all; i++) {
		size_t n;
		const uint32_t *words = intern_get(&pairs->met, i, &n);
		policy_state a = words[0], b = words[1];
		enum phase phase = (enum phase)words[2];

		if (phase == PHASE_NAME)
			change |= compare_here(pairs->policy, a, b, ops);
		if (!add_successors(pairs, a, b, phase))
			return all;
	}
	return change;
}

unsigned policy_compare(const struct policy *policy, policy_state from, policy_state to, bool below,
			const enum op *ops, size_t work)
{
	struct arena arena = {0};
	struct pairs pairs = {.policy = policy, .met.arena = &arena, .work = work};
	unsigned change;

	if (from == to)
		return REGION_SAME;
	change = compare_here(policy, from, to, ops);
	if (below)
		change |= compare_below(&pairs, from, to, ops);
	arena_release(&arena);
	return change;
}

/* ---- Patterns ---- */

typedef void each_path(void *context, const struct rule *rule, const struct test *test);

static const struct str private_names[] = {
	{"/private/tmp", 12},
	{"/private/var", 12},
	{"/private/etc", 12},
};

enum {
	PRIVATE_N = 8
}; /* bytes of "/private" */

/* Does a path pattern that is no regex match all of NAME, reaching it from further up? */
static bool covers(const struct test *test, struct str name)
{
	if (test->text.n >= name.n || str_is(test->text, "/"))
		return false;
	if (test->match == MATCH_PREFIX)
		return test->text.n > 0 && str_starts(name, test->text);
	return test->match == MATCH_SUBPATH && str_is_below(name, test->text);
}

/* On Linux a pattern about /private/tmp is about /tmp. */
static void call_linux(each_path *each, void *context, const struct rule *rule,
		       const struct test *test)
{
	struct test alias = *test;

	for (size_t i = 0; test->match != MATCH_REGEX && i < 3; i++) {
		struct str name = private_names[i];

		if (str_is_below(test->text, name)) {
			alias.text.p += PRIVATE_N;
			alias.text.n -= PRIVATE_N;
			break;
		}
		if (!covers(test, name))
			continue;
		alias.match = MATCH_SUBPATH;
		alias.text = (struct str){name.p + PRIVATE_N, name.n - PRIVATE_N};
		each(context, rule, &alias);
		alias = *test;
	}
	each(context, rule, &alias);
}

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static void call_each(const struct policy *policy, const struct rule *rule, const struct expr *expr,
		      each_path *each, void *context)
{
	if (expr->kind == EXPR_TEST && expr->test.filter == FILTER_PATH) {
		if (policy->target == TARGET_LINUX)
			call_linux(each, context, rule, &expr->test);
		else
			each(context, rule, &expr->test);
	}
	for (size_t i = 0; expr->kind != EXPR_TEST && i < expr->n; i++)
		call_each(policy, rule, expr->kids[i], each, context);
}

void policy_each_path(const struct policy *policy, each_path *each, void *context)
{
	for (size_t i = 0; i < policy->n_rules; i++)
		if (policy->rules[i].filter)
			call_each(policy, &policy->rules[i], policy->rules[i].filter, each,
				  context);
}
