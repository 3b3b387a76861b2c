/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States on a line, as along a literal path, are numbered one after the other:
 * that is a spine (dfa.h).
 *
 * The turns of all states share one array, each state's shifted by its base to
 * where they meet those of no other: a slot says whose it is.
 */
#include "policy/layout.h"

#include "policy/word.h"

#include "base/banned.h"

enum {
	SPINE_MIN = 4, /* shorter ones are not worth a look */
	SPINE_MAX = UINT16_MAX - HINT_SPINE,
	TRIES = 64, /* places that are looked at for the turns of one state */
};

static const uint32_t UNNUMBERED = UINT32_MAX, NO_STATE = UINT32_MAX;

/* ---- Numbering ---- */

struct layout {
	const struct minimal *from;
	const struct byte_classes *classes;
	uint32_t n;       /* states in reach */
	uint32_t *order;  /* those, breadth first */
	uint32_t *ways;   /* by state: how many ways lead into it */
	uint32_t *number; /* by state: its new number */
	uint32_t *old;    /* the way back */
	uint8_t *spine;
	uint8_t byte_of[BYTES]; /* by class: a byte of it */
	bool narrow[BYTES];     /* by class: one letter, perhaps in both cases */
};

static const struct row *row_of(const struct layout *l, uint32_t old)
{
	return &l->from->rows.rows[old];
}

static void reach(struct layout *l, uint32_t old)
{
	l->ways[old]++;
	if (l->number[old] != UNNUMBERED)
		return;
	l->number[old] = 0;
	l->order[l->n++] = old;
}

/* Fills order; number serves as the mark. */
static void find_reachable(struct layout *l)
{
	for (uint32_t old = 0; old < l->from->n; old++)
		l->number[old] = UNNUMBERED;
	reach(l, l->from->start);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct row *row = row_of(l, l->order[i]);
		const struct turn *turns = row_turns(&l->from->rows, row);

		reach(l, row->usual);
		for (uint32_t j = 0; j < row->n; j++)
			reach(l, turns[j].target);
	}
	for (uint32_t old = 0; old < l->from->n; old++)
		l->number[old] = UNNUMBERED;
}

static void describe_classes(struct layout *l)
{
	unsigned size[BYTES] = {0};

	for (unsigned byte = 0; byte < BYTES; byte++) {
		unsigned cls = l->classes->of[byte];

		l->byte_of[cls] = (uint8_t)byte;
		l->narrow[cls] = ++size[cls] <= 2;
	}
}

/*
 * A turn over a narrow class from OLD to one without a number, or NULL. One to where nothing else
 * leads is best: that is along a text, others enter names that are looked for everywhere.
 */
static const struct turn *find_spine(const struct layout *l, uint32_t old)
{
	const struct row *row = row_of(l, old);
	const struct turn *turns = row_turns(&l->from->rows, row), *best = NULL;
	uint32_t fewest = UINT32_MAX;

	for (uint32_t i = 0; i < row->n && fewest > 1; i++) {
		uint32_t target = turns[i].target;

		if (!l->narrow[turns[i].cls] || l->number[target] != UNNUMBERED ||
		    l->ways[target] >= fewest)
			continue;
		fewest = l->ways[target];
		best = &turns[i];
	}
	return best;
}

static void number_states(struct layout *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t old = l->order[i];

		while (l->number[old] == UNNUMBERED) {
			const struct turn *turn;

			l->number[old] = n;
			l->old[n] = old;
			turn = find_spine(l, old);
			if (turn) {
				l->spine[n] = l->byte_of[turn->cls];
				old = turn->target;
			}
			n++;
		}
	}
}

/* ---- Slots ---- */

struct comb {
	struct arena *scratch;
	struct slot *slots;
	size_t n;    /* up to the last one in use */
	size_t cap;  /* all that exist */
	size_t free; /* before it none is free */
};

/* Makes sure that there are N slots. */
static bool comb_reserve(struct comb *comb, size_t n)
{
	size_t cap = comb->cap ? comb->cap : 64;
	struct slot *slots;

	if (n <= comb->cap)
		return true;
	while (cap < n)
		cap *= 2;
	slots = arena_array(comb->scratch, cap, sizeof(*slots));
	if (!slots)
		return false;
	if (comb->cap)
		memcpy(slots, comb->slots, comb->cap * sizeof(*slots));
	for (size_t i = comb->cap; i < cap; i++)
		slots[i].state = NO_STATE;
	comb->slots = slots;
	comb->cap = cap;
	return true;
}

/* Are the slots free that N turns need if the first one goes to AT? */
static bool fits(const struct comb *comb, const struct turn *turns, size_t n, size_t at)
{
	size_t base = at - turns[0].cls;
	bool fit = true;

	for (size_t i = 0; i < n && fit; i++)
		fit = base + turns[i].cls >= comb->n ||
		      comb->slots[base + turns[i].cls].state == NO_STATE;
	return fit;
}

/* Gives the N turns of STATE their slots. False: no memory. */
static bool comb_place(struct comb *comb, uint32_t state, const struct turn *turns, size_t n,
		       uint32_t *ret_base)
{
	size_t at = comb->free, base;

	*ret_base = 0;
	if (n == 0)
		return true;
	while (at < comb->n && at - comb->free < TRIES && !fits(comb, turns, n, at))
		at++;
	if (!fits(comb, turns, n, at))
		at = comb->n;
	base = at - turns[0].cls;
	if (base + BYTES > UINT32_MAX || !comb_reserve(comb, base + BYTES))
		return false;
	for (size_t i = 0; i < n; i++)
		comb->slots[base + turns[i].cls] =
			(struct slot){.state = state, .target = turns[i].target};
	if (base + turns[n - 1].cls >= comb->n)
		comb->n = base + turns[n - 1].cls + 1;
	while (comb->free < comb->n && comb->slots[comb->free].state != NO_STATE)
		comb->free++;
	*ret_base = (uint32_t)base;
	return true;
}

/* ---- The tables ---- */

/* Where a state leads. */
struct leads {
	uint32_t usual;
	struct turn turns[BYTES];
	size_t n;
};

static void find_leads(const struct layout *l, uint32_t old, struct leads *ret)
{
	const struct row *row = row_of(l, old);
	const struct turn *turns = row_turns(&l->from->rows, row);

	ret->usual = l->number[row->usual];
	ret->n = row->n;
	for (uint32_t i = 0; i < row->n; i++)
		ret->turns[i] = (struct turn){turns[i].cls, l->number[turns[i].target]};
}

/* The hint of STATE, whose spine has LENGTH bytes. */
static uint16_t hint_of(const struct leads *leads, uint32_t state, uint32_t length)
{
	if (leads->usual == state && leads->n == 0)
		return HINT_FINAL;
	if (leads->usual == state && leads->n == 1 && leads->turns[0].cls == CLASS_SLASH)
		return HINT_SLASH;
	return (uint16_t)(length >= SPINE_MIN ? HINT_SPINE + length : HINT_NONE);
}

/* Does spine[STATE] lead to STATE + 1? */
static bool has_spine(const struct layout *l, uint32_t state, const struct leads *leads)
{
	unsigned cls = l->classes->of[l->spine[state]];
	uint32_t target = leads->usual;

	for (size_t i = 0; i < leads->n; i++)
		if (leads->turns[i].cls == cls)
			target = leads->turns[i].target;
	return target == state + 1;
}

/* Fills the states, from the last to the first, since spines are known by their ends. */
static bool fill_states(const struct layout *l, struct dfa_state *states, struct comb *comb)
{
	struct leads leads;
	uint32_t length = 0;

	for (uint32_t number = l->n; number-- > 0;) {
		struct dfa_state *state = &states[number];
		uint32_t old = l->old[number];

		find_leads(l, old, &leads);
		length = !has_spine(l, number, &leads) ? 0
			 : length < SPINE_MAX          ? length + 1
						       : SPINE_MAX;
		state->label = l->from->labels[old];
		state->usual = leads.usual;
		state->hint = hint_of(&leads, number, length);
		state->first = (uint8_t)(leads.n > 0 ? leads.turns[0].cls : 1);
		state->last = (uint8_t)(leads.n > 0 ? leads.turns[leads.n - 1].cls : 0);
		if (!comb_place(comb, number, leads.turns, leads.n, &state->base))
			return false;
	}
	return true;
}

static bool fill_tables(const struct layout *l, struct arena *arena, struct arena *scratch,
			struct dfa *ret)
{
	unsigned n_classes = l->classes->n;
	struct comb comb = {.scratch = scratch, .n = n_classes, .free = n_classes};
	struct dfa_state *states = arena_array(arena, l->n, sizeof(*states));
	struct slot *slots;

	if (!states || !comb_reserve(&comb, BYTES) || !fill_states(l, states, &comb))
		return false;
	/* All states may look at a slot for each class, whether theirs or not. */
	comb.n += n_classes;
	if (!comb_reserve(&comb, comb.n))
		return false;
	slots = arena_array(arena, comb.n, sizeof(*slots));
	if (!slots)
		return false;
	memcpy(slots, comb.slots, comb.n * sizeof(*slots));
	for (size_t i = 0; i < comb.n; i++)
		if (slots[i].state != NO_STATE)
			slots[i].base = states[slots[i].target].base;
	*ret = (struct dfa){
		.n_states = l->n,
		.start = l->number[l->from->start],
		.classes = *l->classes,
		.states = states,
		.slots = slots,
		.n_slots = comb.n,
		.spine = l->spine,
	};
	return true;
}

bool dfa_lay_out(const struct minimal *minimal, struct arena *arena, struct arena *scratch,
		 struct dfa *ret)
{
	struct layout l = {
		.from = minimal,
		.classes = minimal->classes,
	};

	l.order = arena_array(scratch, minimal->n, sizeof(*l.order));
	l.ways = arena_array(scratch, minimal->n, sizeof(*l.ways));
	l.number = arena_array(scratch, minimal->n, sizeof(*l.number));
	l.old = arena_array(scratch, minimal->n, sizeof(*l.old));
	l.spine = arena_array(arena, (size_t)minimal->n + WORD, sizeof(*l.spine));
	if (!l.order || !l.ways || !l.number || !l.old || !l.spine)
		return false;
	find_reachable(&l);
	describe_classes(&l);
	number_states(&l);
	return fill_tables(&l, arena, scratch, ret);
}
