/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition refinement after Hopcroft: blocks of states are split by what leads into a block, until
 * nothing splits. Of a block that was split, the smaller part becomes the new block and is a
 * splitter in its turn, so that no state is looked at more than log n times.
 *
 * Rows are sparse: a class without a turn leads where CLASS_USUAL does. So that the work is in
 * proportion to turns and not to classes, a block B splits others in two steps. By CLASS_USUAL
 * first: now all or none of a block usually lead into B. Then by turns:
 *
 * - into B, of states that usually lead elsewhere;
 * - into other blocks, of states that usually lead into B: when B was part of a larger block, those
 *   may have been turns within it.
 *
 * A turn into the block where its state usually leads tells nothing apart.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/dfa.h"

#include "policy/layout.h"

#include "base/banned.h"

enum {
	LEADS_MANY = 24
};

/* Elements 0 .. n-1 in sets that are only ever split. */
struct partition {
	uint32_t *elements; /* grouped by set, marked ones first */
	uint32_t *place;    /* of each element in `elements` */
	uint32_t *set_of;
	uint32_t *first, *end, *marked; /* by set */
	uint32_t n_sets;
	uint32_t *touched; /* sets with marked elements */
	uint32_t n_touched;
	uint32_t pinned; /* this element never leaves its set, which is set 0 */
};

/* A way into a state. */
struct arrival {
	uint32_t tail, cls;
};

/* By state: list[first[state] .. first[state + 1]). */
struct arrivals {
	uint32_t *first;
	struct arrival *list;
};

/* TAIL leads into BLOCK over CLS. */
struct lead {
	uint32_t cls, block, tail;
};

struct minimizer {
	const struct subsets *subsets;
	const uint32_t *labels;
	struct arena *scratch;
	uint32_t n; /* states of the subset construction */
	struct arrivals arrivals;
	struct partition blocks;

	/* What counts for the splitter at hand. */
	uint32_t *usual; /* states that usually lead into it */
	struct lead *leads, *unsorted;
	size_t n_usual, n_leads;
};

/* ---- Partitions ---- */

static bool words_new(struct arena *arena, size_t n, uint32_t **ret)
{
	*ret = arena_array(arena, n, sizeof(**ret));
	return *ret;
}

/* One set for each key below N_KEYS that occurs. */
static bool partition_init(struct partition *p, struct arena *arena, uint32_t n,
			   const uint32_t *keys, uint32_t n_keys)
{
	uint32_t *place;

	if (!words_new(arena, n, &p->elements) || !words_new(arena, n, &p->place) ||
	    !words_new(arena, n, &p->set_of) || !words_new(arena, n, &p->first) ||
	    !words_new(arena, n, &p->end) || !words_new(arena, n, &p->marked) ||
	    !words_new(arena, n, &p->touched) || !words_new(arena, (size_t)n_keys + 1, &place))
		return false;
	for (uint32_t i = 0; i < n; i++)
		place[keys[i] + 1]++;
	for (uint32_t key = 0; key < n_keys; key++) {
		if (place[key + 1]) {
			p->first[p->n_sets] = place[key];
			p->end[p->n_sets++] = place[key] + place[key + 1];
		}
		place[key + 1] += place[key];
	}
	for (uint32_t i = 0; i < n; i++) {
		p->place[i] = place[keys[i]]++;
		p->elements[p->place[i]] = i;
	}
	for (uint32_t set = 0; set < p->n_sets; set++)
		for (uint32_t i = p->first[set]; i < p->end[set]; i++)
			p->set_of[p->elements[i]] = set;
	return true;
}

static void partition_mark(struct partition *p, uint32_t element)
{
	uint32_t set = p->set_of[element];
	uint32_t from = p->place[element], to = p->first[set] + p->marked[set];

	if (from < to)
		return;
	p->elements[from] = p->elements[to];
	p->place[p->elements[from]] = from;
	p->elements[to] = element;
	p->place[element] = to;
	if (p->marked[set]++ == 0)
		p->touched[p->n_touched++] = set;
}

/* Of SET, which is marked up to MIDDLE: shall the marked part be the new set? The smaller shall. */
static bool moves_marked(const struct partition *p, uint32_t set, uint32_t middle)
{
	if (set == 0)
		return p->place[p->pinned] >= middle;
	return middle - p->first[set] <= p->end[set] - middle;
}

/* Splits every set that has marked and unmarked elements. */
static void partition_split(struct partition *p)
{
	while (p->n_touched > 0) {
		uint32_t set = p->touched[--p->n_touched], fresh = p->n_sets;
		uint32_t middle = p->first[set] + p->marked[set];

		p->marked[set] = 0;
		if (middle == p->end[set])
			continue;
		if (moves_marked(p, set, middle)) {
			p->first[fresh] = p->first[set];
			p->end[fresh] = p->first[set] = middle;
		} else {
			p->end[fresh] = p->end[set];
			p->first[fresh] = p->end[set] = middle;
		}
		p->n_sets++;
		for (uint32_t i = p->first[fresh]; i < p->end[fresh]; i++)
			p->set_of[p->elements[i]] = fresh;
	}
}

/* ---- Arrivals ---- */

static bool find_arrivals(struct minimizer *m)
{
	const struct subsets *subsets = m->subsets;
	size_t n = m->n + subsets->rows.n_turns;
	uint32_t *first, *place;

	if (n >= UINT32_MAX || !words_new(m->scratch, (size_t)m->n + 1, &first) ||
	    !words_new(m->scratch, m->n, &place))
		return false;
	for (uint32_t state = 0; state < m->n; state++)
		first[subsets->rows.rows[state].usual + 1]++;
	for (size_t i = 0; i < subsets->rows.n_turns; i++)
		first[subsets->rows.turns[i].target + 1]++;
	for (uint32_t state = 0; state < m->n; state++) {
		place[state] = first[state];
		first[state + 1] += first[state];
	}
	m->arrivals.first = first;
	m->arrivals.list = arena_array(m->scratch, n, sizeof(*m->arrivals.list));
	m->leads = arena_array(m->scratch, subsets->rows.n_turns, sizeof(*m->leads));
	m->unsorted = arena_array(m->scratch, subsets->rows.n_turns, sizeof(*m->unsorted));
	if (!m->arrivals.list || !m->leads || !m->unsorted ||
	    !words_new(m->scratch, m->n, &m->usual))
		return false;
	for (uint32_t tail = 0; tail < m->n; tail++) {
		const struct row *row = &subsets->rows.rows[tail];

		m->arrivals.list[place[row->usual]++] = (struct arrival){tail, CLASS_USUAL};
		for (size_t i = row->first; i < row->first + row->n; i++) {
			const struct turn *turn = &subsets->rows.turns[i];

			m->arrivals.list[place[turn->target]++] = (struct arrival){tail, turn->cls};
		}
	}
	return true;
}

/* ---- Refinement ---- */

/* The state that most ways lead to. */
static uint32_t find_hub(const struct minimizer *m)
{
	const uint32_t *first = m->arrivals.first;
	uint32_t hub = 0;

	for (uint32_t state = 1; state < m->n; state++)
		if (first[state + 1] - first[state] > first[hub + 1] - first[hub])
			hub = state;
	return hub;
}

static uint32_t label_of(const struct minimizer *m, uint32_t state)
{
	return m->labels[m->subsets->accept[state]];
}

/* By label, the hub's first: what leads to the hub need not be looked at then. */
static bool init_blocks(struct minimizer *m)
{
	uint32_t *keys, n_keys = 0, hub = find_hub(m);

	if (!words_new(m->scratch, m->n, &keys))
		return false;
	for (uint32_t state = 0; state < m->n; state++) {
		uint32_t label = label_of(m, state);

		keys[state] = label == label_of(m, hub) ? 0 : label + 1;
		if (keys[state] >= n_keys)
			n_keys = keys[state] + 1;
	}
	if (!partition_init(&m->blocks, m->scratch, m->n, keys, n_keys))
		return false;
	m->blocks.pinned = hub;
	return true;
}

/* Could STATE be told apart from others of its block? */
static bool has_company(const struct minimizer *m, uint32_t state)
{
	uint32_t block = m->blocks.set_of[state];

	return m->blocks.end[block] - m->blocks.first[block] > 1;
}

static void add_lead(struct minimizer *m, uint32_t cls, uint32_t block, uint32_t tail)
{
	m->leads[m->n_leads++] = (struct lead){cls, block, tail};
}

/* The turns into other blocks than BLOCK, where STATE usually leads. */
static void add_turns(struct minimizer *m, uint32_t state, uint32_t block)
{
	const struct row *row = &m->subsets->rows.rows[state];

	for (size_t i = row->first; i < row->first + row->n; i++) {
		const struct turn *turn = &m->subsets->rows.turns[i];
		uint32_t other = m->blocks.set_of[turn->target];

		if (other != block)
			add_lead(m, turn->cls, other, state);
	}
}

/* Fills usual and leads with all that BLOCK splits by. */
static void find_leads(struct minimizer *m, uint32_t block)
{
	const struct partition *blocks = &m->blocks;
	const struct row *rows = m->subsets->rows.rows;
	const uint32_t *first = m->arrivals.first;

	m->n_usual = m->n_leads = 0;
	for (uint32_t i = blocks->first[block]; i < blocks->end[block]; i++) {
		uint32_t head = blocks->elements[i];

		for (uint32_t j = first[head]; j < first[head + 1]; j++) {
			const struct arrival *arrival = &m->arrivals.list[j];

			if (!has_company(m, arrival->tail))
				continue;
			if (arrival->cls == CLASS_USUAL) {
				m->usual[m->n_usual++] = arrival->tail;
				add_turns(m, arrival->tail, block);
			} else if (blocks->set_of[rows[arrival->tail].usual] != block) {
				add_lead(m, arrival->cls, block, arrival->tail);
			}
		}
	}
}

static int compare_leads(const void *a, const void *b)
{
	const struct lead *x = a, *y = b;

	if (x->cls != y->cls)
		return x->cls < y->cls ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

/* By insertion; too many that are out of order go to qsort(). */
static void sort_few(struct lead *leads, size_t n)
{
	size_t sorted = 1;

	while (sorted < n && compare_leads(&leads[sorted - 1], &leads[sorted]) <= 0)
		sorted++;
	if (sorted < n && n > LEADS_MANY) {
		qsort(leads, n, sizeof(*leads), compare_leads);
		return;
	}
	for (size_t i = sorted; i < n; i++) {
		struct lead lead = leads[i];
		size_t j = i;

		for (; j > 0 && compare_leads(&leads[j - 1], &lead) > 0; j--)
			leads[j] = leads[j - 1];
		leads[j] = lead;
	}
}

/* By class and block. Of one class most lead into the same block. */
static void sort_leads(struct minimizer *m)
{
	size_t end[BYTES] = {0}, first = 0;
	unsigned n_classes = m->subsets->classes.n;

	if (m->n_leads <= LEADS_MANY) {
		sort_few(m->leads, m->n_leads);
		return;
	}
	memcpy(m->unsorted, m->leads, m->n_leads * sizeof(*m->leads));
	for (size_t i = 0; i < m->n_leads; i++)
		end[m->unsorted[i].cls]++;
	for (unsigned cls = 1; cls < n_classes; cls++)
		end[cls] += end[cls - 1];
	for (size_t i = m->n_leads; i-- > 0;)
		m->leads[--end[m->unsorted[i].cls]] = m->unsorted[i];
	for (unsigned cls = 1; cls <= n_classes; cls++) { /* end is the beginning now */
		size_t next = cls < n_classes ? end[cls] : m->n_leads;

		sort_few(m->leads + first, next - first);
		first = next;
	}
}

/* Splits every block by what leads into BLOCK. */
static void split_by(struct minimizer *m, uint32_t block)
{
	const struct lead *leads = m->leads;

	find_leads(m, block);
	for (size_t i = 0; i < m->n_usual; i++)
		partition_mark(&m->blocks, m->usual[i]);
	partition_split(&m->blocks);
	sort_leads(m);
	for (size_t i = 0; i < m->n_leads; i++) {
		partition_mark(&m->blocks, leads[i].tail);
		if (i + 1 == m->n_leads || compare_leads(&leads[i], &leads[i + 1]) != 0)
			partition_split(&m->blocks);
	}
}

/* ---- The quotient ---- */

static bool take_quotient(const struct minimizer *m, struct quotient *ret)
{
	const struct partition *blocks = &m->blocks;

	*ret = (struct quotient){
		.subsets = m->subsets,
		.labels = m->labels,
		.n = blocks->n_sets,
		.block = blocks->set_of,
	};
	if (!words_new(m->scratch, ret->n, &ret->state))
		return false;
	for (uint32_t block = 0; block < ret->n; block++)
		ret->state[block] = blocks->elements[blocks->first[block]];
	return true;
}

bool quotient_build(const struct subsets *subsets, const uint32_t *labels, struct arena *scratch,
		    struct quotient *ret)
{
	struct minimizer m = {
		.subsets = subsets,
		.labels = labels,
		.scratch = scratch,
		.n = (uint32_t)subsets->sets.n,
	};

	if (!find_arrivals(&m) || !init_blocks(&m))
		return false;
	for (uint32_t block = 1; block < m.blocks.n_sets; block++)
		split_by(&m, block);
	return take_quotient(&m, ret);
}

int dfa_minimize(const struct subsets *subsets, const uint32_t *labels, struct arena *arena,
		 struct arena *scratch, struct dfa *ret, struct err *e)
{
	struct quotient quotient;
	struct minimal minimal;

	if (!quotient_build(subsets, labels, scratch, &quotient) ||
	    !merge(&quotient, scratch, &minimal) || !dfa_lay_out(&minimal, arena, scratch, ret))
		return nfa_too_big(NULL, e);
	return 0;
}
