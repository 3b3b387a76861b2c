/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chains are followed at once, entry by entry. A guard that is met takes on one truth, then the
 * other, as far as there are values left with which it does; where all chains have come to a
 * decision, what is left is a request.
 */
#include "policy/witness.h"

#include <stdlib.h>

#include "policy/impl.h"
#include "policy/values.h"

#include "base/banned.h"

enum {
	STEP_SIZE = 512,  /* words, or entries of chains, that cost as much as a step */
	STEP_LOOKED = 32, /* parts of conditions */
};

struct witnesses {
	struct witness_options options;
	enum target target;
	struct arena arena;                   /* of what stays */
	size_t first[PATHS_POLICIES_MAX + 1]; /* by policy: the number of its first guard */
	uint32_t *place_of; /* by guard: its place in the search under way, plus one */

	/* What was found out about values: the question, and by it the answer. */
	struct intern questions;
	struct values **answers;
	size_t cap_answers;
};

/* A guard that the search may meet. */
struct met {
	uint32_t guard; /* among all */
	enum part part;
	uint32_t group, place; /* which values, and which of their guards */
};

/* All guards about one part. */
struct group {
	const struct values *values;
	uint32_t first, n; /* of the met */
	size_t first_word; /* of the values that are left, in an alive set */
};

/* A guard took on one truth; the other may come. */
struct branch {
	uint32_t met;
	bool other_left;
};

struct search {
	struct witnesses *w;
	const struct witness_place *place;
	enum connection connection;
	const struct chain *chains[PATHS_POLICIES_MAX];
	struct arena scratch;

	struct met *met;
	size_t n_met, cap_met;
	struct group *groups;
	size_t n_groups;
	size_t n_words; /* of an alive set: one set of values for each group */
	uint8_t *truth; /* by met guard, enum truth */

	/* By depth. */
	struct branch *branches;
	uint64_t *alive;   /* depth + 1 of them */
	uint32_t *entries; /* by policy: the entry that is asked */
	size_t depth;
	size_t looked; /* at parts of conditions, since the last step */

	struct fact *facts;
	size_t n_facts;
	witness_each_function *each;
	void *context;
	struct err *e;
};

static int too_much(struct err *e)
{
	(void)err_set(e, ERR_LIMIT, "the rules tell too many kinds of requests apart");
	return err_hint(e, "fewer or simpler filters besides those of paths");
}

/* ---- What requests are about ---- */

enum has_path op_has_path(enum op op)
{
	if (!op_takes(op, FILTER_PATH))
		return PATH_NEVER;
	/* What has a device is a file. */
	return op_takes(op, FILTER_DEVICE_MAJOR) ? PATH_ALWAYS : PATH_SOMETIMES;
}

/* ---- Collecting guards ---- */

static const struct guard *guard_of(const struct witnesses *w, uint32_t number)
{
	size_t policy = 0;

	while (number >= w->first[policy + 1])
		policy++;
	return &w->options.policies[policy]->guards[number - w->first[policy]];
}

static bool meet(struct search *s, uint32_t number)
{
	struct met *met;

	if (s->w->place_of[number])
		return true;
	met = arena_grow(&s->scratch, s->met, s->n_met, &s->cap_met, sizeof(*met));
	if (!met)
		return false;
	s->met = met;
	met[s->n_met++] = (struct met){number, part_of(guard_of(s->w, number)->attribute), 0, 0};
	s->w->place_of[number] = 1;
	return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool meet_all(struct search *s, size_t policy, condition c)
{
	const struct conditions *all = &s->w->options.policies[policy]->conditions;
	const uint32_t *words;
	size_t n;
	enum condition_kind kind = condition_look(all, c, &words, &n);

	if (kind == CONDITION_GUARD || kind == CONDITION_NO_GUARD)
		return meet(s, (uint32_t)(s->w->first[policy] + words[0]));
	if (kind == CONDITION_ALL || kind == CONDITION_ANY)
		for (size_t i = 0; i < n; i++)
			if (!meet_all(s, policy, words[i]))
				return false;
	return true;
}

static int compare_met(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->part != y->part)
		return (x->part > y->part) - (x->part < y->part);
	return (x->guard > y->guard) - (x->guard < y->guard);
}

static bool collect(struct search *s)
{
	bool ok = true;

	for (size_t i = 0; i < s->w->options.n && ok; i++)
		for (uint32_t j = 0; j < s->chains[i]->n && ok; j++)
			ok = meet_all(s, i, s->chains[i]->entries[j].guard);
	if (ok && s->n_met > 1)
		qsort(s->met, s->n_met, sizeof(*s->met), compare_met);
	for (uint32_t i = 0; i < s->n_met; i++)
		s->w->place_of[s->met[i].guard] = i + 1;
	return ok;
}

/* ---- Values ---- */

/* Is there no such part in requests at the place of S? */
static bool is_absent(const struct search *s, enum part part, const struct guard *guard)
{
	static const enum filter_id filters[PART_FACT] = {
		[PART_VNODE_TYPE] = FILTER_VNODE_TYPE, [PART_FILE_MODE] = FILTER_FILE_MODE,
		[PART_TARGET] = FILTER_TARGET,         [PART_SIGNAL] = FILTER_SIGNAL_NUMBER,
		[PART_DEVICE] = FILTER_DEVICE_MAJOR,   [PART_SOCKET] = FILTER_SOCKET_DOMAIN,
		[PART_LOCAL] = FILTER_LOCAL,           [PART_REMOTE] = FILTER_REMOTE,
		[PART_XATTR] = FILTER_XATTR,
	};
	enum filter_id filter =
		part < PART_FACT ? filters[part] : (enum filter_id)(part - PART_FACT);
	bool nameless = !s->place->has_path && op_is_below(s->place->op, OP_NETWORK_ANY);

	return !op_takes(s->place->op, filter) ||
	       (!s->w->options.foreign && guard_is_absent(guard, s->w->target)) ||
	       (nameless && (part == PART_VNODE_TYPE || part == PART_FILE_MODE));
}

/* Fills *RET; what was asked before is known. */
static int ask_values(struct search *s, const struct met *met, size_t n, const struct values **ret)
{
	struct witnesses *w = s->w;
	uint32_t *words = arena_array(&s->scratch, n + 4, sizeof(*words));
	const struct guard **guards = arena_array(&s->scratch, n, sizeof(struct guard *));
	struct values_question question = {
		.part = met->part,
		.op = s->place->op,
		.connection = s->connection,
		.guards = guards,
		.n = n,
		.target = w->target,
		.steps = w->options.steps,
	};
	size_t known = w->questions.n;
	struct values **answers;
	int64_t id;
	int r;

	if (!words || !guards)
		return too_much(s->e);
	for (size_t i = 0; i < n; i++) {
		guards[i] = guard_of(w, met[i].guard);
		words[4 + i] = met[i].guard;
	}
	question.absent = is_absent(s, met->part, guards[0]);
	words[0] = met->part;
	words[1] = question.absent;
	/* Of other parts these make no difference. */
	words[2] = connection_has(met->part) ? s->connection : 0;
	words[3] = connection_has(met->part) ? s->place->op : 0;
	answers = arena_grow(&w->arena, w->answers, known, &w->cap_answers, sizeof(*answers));
	id = intern_put(&w->questions, words, n + 4);
	if (id < 0 || !answers)
		return too_much(s->e);
	w->answers = answers;
	if ((size_t)id == known)
		answers[id] = NULL;
	if (!answers[id]) {
		struct values *found = arena_alloc(&w->arena, sizeof(*found));

		r = found ? values_find(&question, &w->arena, found, s->e) : too_much(s->e);
		if (r < 0)
			return r;
		answers[id] = found;
	}
	*ret = answers[id];
	return 0;
}

/* Values for all the guards that were met. */
static int find_groups(struct search *s)
{
	s->groups = arena_array(&s->scratch, s->n_met + 1, sizeof(*s->groups));
	s->n_groups = 0;
	s->n_words = 0;
	if (!s->groups)
		return too_much(s->e);
	for (uint32_t i = 0, n; i < s->n_met; i += n) {
		struct group *group = &s->groups[s->n_groups];
		const struct values *values = NULL;
		int r;

		for (n = 1; i + n < s->n_met && s->met[i + n].part == s->met[i].part; n++)
			;
		r = ask_values(s, &s->met[i], n, &values);
		if (r < 0 || !values)
			return r < 0 ? r : too_much(s->e);
		*group = (struct group){values, i, n, s->n_words};
		for (uint32_t j = 0; j < n; j++) {
			s->met[i + j].group = (uint32_t)s->n_groups;
			s->met[i + j].place = j;
		}
		s->n_words += values->n_words;
		s->n_groups++;
	}
	return 0;
}

/* ---- Sets of values ---- */

static uint64_t *alive_at(const struct search *s, size_t depth)
{
	return s->alive + depth * s->n_words;
}

/* The values with which MET holds. */
static const uint64_t *holds_of(const struct search *s, const struct met *met)
{
	const struct values *values = s->groups[met->group].values;

	return values->holds + met->place * values->n_words;
}

static bool intersect(const uint64_t *x, const uint64_t *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (x[i] & y[i])
			return true;
	return false;
}

static bool is_inside(const uint64_t *x, const uint64_t *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (x[i] & ~y[i])
			return false;
	return true;
}

/* Without the values ALIVE of MET with which it holds: does every guard that must hold still? */
static bool others_hold(const struct search *s, const struct met *met, const uint64_t *alive)
{
	const struct group *group = &s->groups[met->group];
	const uint64_t *out = holds_of(s, met);

	for (uint32_t i = group->first; i < group->first + group->n; i++) {
		const uint64_t *holds = holds_of(s, &s->met[i]);
		bool found = s->truth[i] != TRUTH_YES;

		for (size_t j = 0; j < group->values->n_words && !found; j++)
			found = alive[j] & holds[j] & ~out[j];
		if (!found)
			return false;
	}
	return true;
}

/* Can MET take on TRUTH, as things are? */
static bool can_be(const struct search *s, const struct met *met, bool truth)
{
	const struct group *group = &s->groups[met->group];
	const uint64_t *alive = alive_at(s, s->depth) + group->first_word;
	const uint64_t *holds = holds_of(s, met);
	size_t n = group->values->n_words;

	if (truth)
		return intersect(alive, holds, n);
	return group->values->several ? others_hold(s, met, alive) : !is_inside(alive, holds, n);
}

/* Of values that may be there at once, one more that makes MET hold takes none away. */
static void keep_values(struct search *s, const struct met *met, bool truth, uint64_t *alive)
{
	const struct group *group = &s->groups[met->group];
	const uint64_t *holds = holds_of(s, met);

	alive += group->first_word;
	for (size_t i = 0; i < group->values->n_words; i++) {
		if (!truth)
			alive[i] &= ~holds[i];
		else if (!group->values->several)
			alive[i] &= holds[i];
	}
}

/* ---- Chains ---- */

/* What C comes to; TRUTH_OPEN: that depends on *RET. */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static enum truth value_of(struct search *s, size_t policy, condition c, uint32_t *ret)
{
	const struct conditions *all = &s->w->options.policies[policy]->conditions;
	const uint32_t *words;
	size_t n;
	enum condition_kind kind = condition_look(all, c, &words, &n);
	enum truth decisive = kind == CONDITION_ALL ? TRUTH_NO : TRUTH_YES, value;
	uint32_t met, first = UINT32_MAX;

	if (kind == CONDITION_GUARD || kind == CONDITION_NO_GUARD) {
		met = s->w->place_of[s->w->first[policy] + words[0]] - 1;
		*ret = met;
		if (s->truth[met] == TRUTH_OPEN)
			return TRUTH_OPEN;
		return (s->truth[met] == TRUTH_YES) == (kind == CONDITION_GUARD) ? TRUTH_YES
										 : TRUTH_NO;
	}
	if (kind != CONDITION_ALL && kind != CONDITION_ANY)
		return kind == CONDITION_TRUE ? TRUTH_YES : TRUTH_NO;
	for (size_t i = 0; i < n; i++) {
		s->looked++;
		value = value_of(s, policy, words[i], &met);
		if (value == decisive)
			return decisive;
		if (value == TRUTH_OPEN && first == UINT32_MAX)
			first = met;
	}
	*ret = first;
	if (first != UINT32_MAX)
		return TRUTH_OPEN;
	return decisive == TRUTH_YES ? TRUTH_NO : TRUTH_YES;
}

/* Goes on in all chains as far as truth is known. False: all have decided; else *RET is open. */
static bool find_open(struct search *s, uint32_t *entries, uint32_t *ret)
{
	for (size_t i = 0; i < s->w->options.n; i++) {
		for (;; entries[i]++) {
			condition guard = s->chains[i]->entries[entries[i]].guard;
			enum truth value = value_of(s, i, guard, ret);

			if (value == TRUTH_OPEN)
				return true;
			if (value == TRUTH_YES)
				break;
		}
	}
	return false;
}

/* ---- Requests ---- */

static void add_value(struct search *s, const struct group *group, size_t value,
		      struct request *request, unsigned *cost)
{
	const struct value *chosen = &group->values->list[value];

	value_apply(chosen, group->values->part, request, &s->facts[request->n_facts]);
	*cost += chosen->cost;
}

/* How many of the guards of GROUP that must hold and do not yet (DONE) hold with VALUE? */
static uint32_t count_held(const struct search *s, const struct group *group, size_t value,
			   const uint8_t *done)
{
	uint32_t n = 0;

	for (uint32_t i = group->first; i < group->first + group->n; i++)
		n += s->truth[i] == TRUTH_YES && !done[i] &&
		     holds_of(s, &s->met[i])[value / 64] >> value % 64 & 1;
	return n;
}

/* As few values as will do; each time the one that settles most. */
static void add_several(struct search *s, const struct group *group, const uint64_t *alive,
			struct request *request, unsigned *cost)
{
	uint8_t *done = arena_array(&s->scratch, s->n_met, sizeof(*done));

	while (done) {
		uint32_t most = 0;
		size_t best = 0;

		for (size_t i = 0; i < group->values->n; i++) {
			uint32_t n =
				alive[i / 64] >> i % 64 & 1 ? count_held(s, group, i, done) : 0;

			if (n > most) {
				most = n;
				best = i;
			}
		}
		if (most == 0)
			return;
		add_value(s, group, best, request, cost);
		for (uint32_t i = group->first; i < group->first + group->n; i++)
			done[i] |= holds_of(s, &s->met[i])[best / 64] >> best % 64 & 1;
	}
}

static void add_cheapest(struct search *s, const struct group *group, const uint64_t *alive,
			 struct request *request, unsigned *cost)
{
	for (size_t i = 0; i < group->values->n; i++) {
		if (!(alive[i / 64] >> i % 64 & 1))
			continue;
		add_value(s, group, i, request, cost);
		return;
	}
}

static int emit(struct search *s)
{
	struct request request = {.op = s->place->op, .facts = s->facts};
	unsigned cost = 0;

	for (size_t i = 0; i < s->n_groups; i++) {
		const struct group *group = &s->groups[i];
		const uint64_t *alive = alive_at(s, s->depth) + group->first_word;

		if (group->values->several)
			add_several(s, group, alive, &request, &cost);
		else
			add_cheapest(s, group, alive, &request, &cost);
	}
	cost += connection_complete(s->connection, s->place->has_path, &request);
	return s->each(s->context, &request, cost);
}

/* ---- The search ---- */

static void branch_to(struct search *s, uint32_t met, bool truth)
{
	size_t n = s->w->options.n;
	uint64_t *alive = alive_at(s, s->depth + 1);

	if (s->n_words)
		memcpy(alive, alive_at(s, s->depth), s->n_words * sizeof(*alive));
	memcpy(s->entries + (s->depth + 1) * n, s->entries + s->depth * n, n * sizeof(*s->entries));
	keep_values(s, &s->met[met], truth, alive);
	s->truth[met] = truth ? TRUTH_YES : TRUTH_NO;
	s->depth++;
}

/* Goes back to a branch whose other side is left, and takes that. False: there is none. */
static bool go_back(struct search *s)
{
	while (s->depth > 0) {
		struct branch *branch = &s->branches[--s->depth];

		s->truth[branch->met] = TRUTH_OPEN;
		if (!branch->other_left)
			continue;
		branch->other_left = false;
		branch_to(s, branch->met, false);
		return true;
	}
	return false;
}

/* How many steps one is worth: it copies sets of values, and may end in a walk along the chains. */
static size_t weigh_step(const struct search *s)
{
	size_t n = s->n_words;

	for (size_t i = 0; i < s->w->options.n; i++)
		n += s->chains[i]->n;
	return 1 + n / STEP_SIZE;
}

static int search(struct search *s)
{
	const size_t weight = weigh_step(s);
	uint32_t met;
	int r;

	for (;;) {
		size_t cost = weight + s->looked / STEP_LOOKED;

		s->looked = 0;
		if (cost > *s->w->options.steps)
			return too_much(s->e);
		*s->w->options.steps -= cost;
		if (find_open(s, s->entries + s->depth * s->w->options.n, &met)) {
			bool yes = can_be(s, &s->met[met], true);
			bool no = can_be(s, &s->met[met], false);

			s->branches[s->depth] = (struct branch){met, yes && no};
			branch_to(s, met, yes);
			continue;
		}
		r = emit(s);
		if (r != 0 || !go_back(s))
			return r;
	}
}

/* All of the values are there in the beginning. */
static bool prepare(struct search *s)
{
	s->n_facts = 0;
	for (size_t i = 0; i < s->n_groups; i++)
		s->n_facts += s->groups[i].values->several ? s->groups[i].n : 1;
	s->truth = arena_array(&s->scratch, s->n_met + 1, sizeof(*s->truth));
	s->branches = arena_array(&s->scratch, s->n_met + 1, sizeof(*s->branches));
	s->alive = arena_array(&s->scratch, (s->n_met + 1) * (s->n_words + 1), sizeof(*s->alive));
	s->entries =
		arena_array(&s->scratch, (s->n_met + 1) * s->w->options.n, sizeof(*s->entries));
	s->facts = arena_array(&s->scratch, s->n_facts + 1, sizeof(*s->facts));
	s->depth = 0;
	if (!s->truth || !s->branches || !s->alive || !s->entries || !s->facts)
		return false;
	for (size_t i = 0; i < s->n_met; i++)
		s->truth[i] = TRUTH_OPEN;
	for (size_t i = 0; i < s->n_groups; i++)
		for (size_t j = 0; j < s->groups[i].values->n; j++)
			s->alive[s->groups[i].first_word + j / 64] |= (uint64_t)1 << j % 64;
	return true;
}

static int search_connection(struct search *s, enum connection connection)
{
	int r;

	s->connection = connection;
	r = find_groups(s);
	if (r < 0)
		return r;
	return prepare(s) ? search(s) : too_much(s->e);
}

static bool asks_for_connection(const struct search *s)
{
	for (size_t i = 0; i < s->n_met; i++)
		if (connection_has(s->met[i].part))
			return true;
	return false;
}

static int search_all(struct search *s)
{
	bool network = op_is_below(s->place->op, OP_NETWORK_ANY);
	int r = 0;

	if (!collect(s))
		return too_much(s->e);
	/* With a path, it is a unix socket. */
	if (network && s->place->has_path)
		return search_connection(s, CONNECTION_UNIX);
	if (!asks_for_connection(s))
		return search_connection(s, CONNECTION_NONE);
	for (unsigned i = 0; i < CONNECTION_COUNT && r == 0; i++)
		r = search_connection(s, (enum connection)i);
	return r;
}

int witness_each(struct witnesses *w, const struct witness_place *place,
		 witness_each_function *each, void *context, struct err *e)
{
	struct search s = {.w = w,
			   .place = place,
			   .scratch.limit = w->options.memory,
			   .each = each,
			   .context = context,
			   .e = e};
	int r;

	for (size_t i = 0; i < w->options.n; i++)
		s.chains[i] = policy_chain(w->options.policies[i], place->states[i], place->op);
	r = search_all(&s);
	for (size_t i = 0; i < s.n_met; i++)
		w->place_of[s.met[i].guard] = 0;
	arena_release(&s.scratch);
	return r;
}

/* ---- The whole ---- */

int witnesses_new(const struct witness_options *options, struct witnesses **ret, struct err *e)
{
	struct witnesses *w = calloc(1, sizeof(*w));

	if (!w)
		return err_memory(e);
	w->options = *options;
	w->target = policy_target(options->policies[0]);
	w->arena.limit = options->memory;
	w->questions.arena = &w->arena;
	for (size_t i = 0; i < options->n; i++)
		w->first[i + 1] = w->first[i] + options->policies[i]->n_guards;
	w->place_of = arena_array(&w->arena, w->first[options->n] + 1, sizeof(*w->place_of));
	if (!w->place_of) {
		witnesses_free(w);
		return too_much(e);
	}
	*ret = w;
	return 0;
}

void witnesses_free(struct witnesses *w)
{
	if (!w)
		return;
	arena_release(&w->arena);
	free(w);
}

static bool copy_text(struct arena *arena, struct str text, struct str *ret)
{
	ret->n = text.n;
	ret->p = arena_strdup(arena, text);
	return ret->p;
}

bool witness_copy(struct arena *arena, const struct request *request, struct request *ret)
{
	struct fact *facts = arena_array(arena, request->n_facts + 1, sizeof(*facts));

	*ret = *request;
	ret->facts = facts;
	if (!facts || !copy_text(arena, request->xattr, &ret->xattr) ||
	    !copy_text(arena, request->path, &ret->path))
		return false;
	for (size_t i = 0; i < request->n_facts; i++) {
		facts[i] = request->facts[i];
		if (!copy_text(arena, facts[i].text, &facts[i].text))
			return false;
	}
	return true;
}
