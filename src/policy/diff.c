/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every path there is, shortest first, and at each stop every operation that is still open. What
 * two chains come to is found out once.
 */
#include "policy/diff.h"

#include "policy/impl.h"
#include "policy/paths.h"
#include "policy/values.h"
#include "policy/witness.h"

#include "base/banned.h"

enum {
	TWO = 2,
	DONE = 1, /* nothing is open any more */
};

struct search {
	const struct diff_options *options;
	const struct policy *policies[TWO];
	struct differences *ret;
	struct witnesses *witnesses;
	struct arena scratch;
	struct intern rows;  /* labels that were met */
	struct intern pairs; /* operation and chains that were met */
	struct buf path;     /* to the stop that is looked at */
	const policy_state *states;
	enum op op;
	struct err *e;
};

static int no_memory(const struct search *s)
{
	return err_set(s->e, ERR_LIMIT, "the comparison needs more than %zu bytes",
		       s->options->memory);
}

/* ---- One operation at one place ---- */

/* Can DIRECTION have something shorter or cheaper yet, at a path of N bytes? */
static bool is_open(const struct search *s, enum op op, enum direction direction, size_t n)
{
	const struct difference *known = &s->ret->by_op[op][direction];

	if (!s->options->ops[op] || !s->options->directions[direction])
		return false;
	return !known->found || (known->cost > 0 && known->request.path.n == n);
}

static int take(struct search *s, struct difference *ret, const struct request *request,
		unsigned cost)
{
	struct request with_path = *request;

	with_path.path = buf_str(&s->path);
	if (!witness_copy(&s->ret->arena, &with_path, &ret->request))
		return no_memory(s);
	ret->found = true;
	ret->cost = cost;
	policy_decide(s->policies[0], &ret->request, &ret->from);
	policy_decide(s->policies[1], &ret->request, &ret->to);
	return 0;
}

static int compare(void *context, const struct request *request, unsigned cost)
{
	struct search *s = context;
	struct decision decisions[TWO];
	struct difference *known;
	enum direction direction;

	for (size_t i = 0; i < TWO; i++)
		policy_decide_at(s->policies[i], s->states[i], request, &decisions[i]);
	if (decisions[0].verdict == decisions[1].verdict)
		return 0;
	direction = decisions[0].verdict == VERDICT_DENY ? DIRECTION_LOOSER : DIRECTION_STRICTER;
	known = &s->ret->by_op[s->op][direction];
	if (!is_open(s, s->op, direction, s->path.n) || (known->found && known->cost <= cost))
		return 0;
	return take(s, known, request, cost);
}

/* Can what CHAINS come to differ in a direction that is open? */
static bool may_differ(const struct search *s, const struct chain *const *chains)
{
	unsigned from = chains[0]->verdicts, to = chains[1]->verdicts;

	return (from & CAN_DENY && to & CAN_ALLOW &&
		is_open(s, s->op, DIRECTION_LOOSER, s->path.n)) ||
	       (from & CAN_ALLOW && to & CAN_DENY &&
		is_open(s, s->op, DIRECTION_STRICTER, s->path.n));
}

/* 1: what the chains of these operations come to is known already. */
static int look(struct search *s, enum op op, const policy_state *states, bool has_path)
{
	const struct chain *chains[TWO];
	struct witness_place place = {op, states, has_path};
	uint32_t words[TWO + 2] = {op, has_path};
	size_t known = s->pairs.n;
	int64_t id;

	s->op = op;
	s->states = states;
	for (size_t i = 0; i < TWO; i++) {
		chains[i] = policy_chain(s->policies[i], states[i], op);
		words[2 + i] = (uint32_t)(chains[i] - s->policies[i]->chains);
	}
	if (!may_differ(s, chains))
		return 0;
	id = intern_put(&s->pairs, words, TWO + 2);
	if (id < 0)
		return no_memory(s);
	if ((size_t)id < known)
		return 0;
	return witness_each(s->witnesses, &place, compare, s, s->e);
}

/* ---- Without a path ---- */

static bool is_early(enum op op)
{
	return op_has_path(op) == PATH_NEVER || op_is_below(op, OP_NETWORK_ANY);
}

/* EARLY: what has no path, or is mostly asked without one. Else what may have none. */
static int look_without_path(struct search *s, bool early)
{
	policy_state states[TWO];
	int r = 0;

	s->path.n = 0;
	for (size_t i = 0; i < TWO; i++)
		states[i] = policy_start(s->policies[i]);
	for (unsigned i = 0; i < OP_COUNT && r == 0; i++) {
		enum op op = (enum op)i;

		if (is_early(op) == early && op_has_path(op) != PATH_ALWAYS)
			r = look(s, op, states, false);
	}
	return r;
}

/* ---- At all paths ---- */

static bool is_any_open(const struct search *s)
{
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (op_has_path((enum op)op) != PATH_NEVER &&
		    (is_open(s, (enum op)op, DIRECTION_LOOSER, s->path.n) ||
		     is_open(s, (enum op)op, DIRECTION_STRICTER, s->path.n)))
			return true;
	return false;
}

static int look_at(void *context, const struct paths_stop *stop)
{
	struct search *s = context;
	uint32_t labels[TWO];
	size_t known = s->rows.n;
	int64_t id;
	int r = 0;

	for (size_t i = 0; i < TWO; i++)
		labels[i] = dfa_label_at(&s->policies[i]->paths, stop->states[i]);
	id = intern_put(&s->rows, labels, TWO);
	if (id < 0)
		return no_memory(s);
	if ((size_t)id < known)
		return 0;
	s->path.n = 0;
	paths_shortest(stop, &s->path);
	if (s->path.failed)
		return no_memory(s);
	if (!is_any_open(s))
		return DONE;
	for (unsigned op = 0; op < OP_COUNT && r == 0; op++)
		if (op_has_path((enum op)op) != PATH_NEVER)
			r = look(s, (enum op)op, stop->states, true);
	return r;
}

static int look_everywhere(struct search *s)
{
	struct paths_options options = {.policies = s->policies,
					.n = TWO,
					.stops = s->options->stops,
					.memory = s->options->memory,
					.each = look_at,
					.context = s};
	int r = look_without_path(s, true);

	if (r == 0)
		r = paths_walk(&options, s->e);
	if (r >= 0)
		r = look_without_path(s, false);
	return r;
}

int policy_diff(const struct diff_options *options, struct differences *ret, struct err *e)
{
	struct search s = {.options = options,
			   .policies = {options->from, options->to},
			   .ret = ret,
			   .scratch.limit = options->memory,
			   .e = e};
	size_t steps = options->steps;
	struct witness_options witness = {
		.policies = s.policies, .n = TWO, .memory = options->memory, .steps = &steps};
	int r;

	*ret = (struct differences){.arena.limit = options->memory};
	s.rows.arena = s.pairs.arena = &s.scratch;
	r = witnesses_new(&witness, &s.witnesses, e);
	if (r == 0)
		r = look_everywhere(&s);
	witnesses_free(s.witnesses);
	arena_release(&s.scratch);
	buf_release(&s.path);
	return r;
}

void differences_release(struct differences *differences)
{
	arena_release(&differences->arena);
}
