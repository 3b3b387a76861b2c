/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition refinement in O(m log n) for m transitions (Valmari and Lehtinen,
 * STACS 2008): blocks of states are split by bundles of transitions, bundles
 * by the blocks they lead to, until nothing splits. Transitions into the dead
 * state are left out; a missing transition tells states apart as well.
 */
#include "policy/dfa.h"

#include "policy/layout.h"

#include "base/banned.h"

/* Elements 0 .. n-1 in sets that are only ever split. */
struct partition {
	uint32_t *elements; /* grouped by set, marked ones first */
	uint32_t *place;    /* of each element in `elements` */
	uint32_t *set_of;
	uint32_t *first, *end, *marked; /* by set */
	uint32_t n_sets;
	uint32_t *touched; /* sets with marked elements */
	uint32_t n_touched;
	uint32_t pinned; /* this element never leaves its set, which is set 0; or NOT_PINNED */
};

/* Edges grouped by head: into[first[head] .. first[head + 1]). */
struct by_head {
	uint32_t *first, *into;
};

/* Transitions between live states. */
struct transitions {
	uint32_t *tail, *cls;
	uint32_t n;
	struct by_head by_head;
};

struct minimizer {
	const struct subsets *subsets;
	const uint32_t *labels;
	struct arena *scratch;
	uint32_t n;         /* states of the subset construction */
	uint32_t *live;     /* by state: its number among the live ones, or NOT_LIVE */
	uint32_t *state_of; /* the way back */
	uint32_t n_live;
	struct transitions transitions;
	struct partition blocks, bundles;
};

static const uint32_t NOT_LIVE = UINT32_MAX;
static const uint32_t NOT_PINNED = UINT32_MAX;

/* ---- Partitions ----------------------------------------------------------------------------- */

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
	p->pinned = NOT_PINNED;
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
	if (set == 0 && p->pinned != NOT_PINNED)
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

/* ---- Live states ---------------------------------------------------------------------------- */

static uint32_t label_of(const struct minimizer *m, uint32_t state)
{
	return m->labels[m->subsets->accept[state]];
}

static const uint32_t *row_of(const struct minimizer *m, uint32_t state)
{
	return m->subsets->next + (size_t)state * m->subsets->classes.n;
}

/* A place for N edges, given how many each head gets in first[head + 1]. */
static bool by_head_open(struct arena *arena, struct by_head *by, uint32_t n_heads, uint32_t n,
			 uint32_t **ret_place)
{
	if (!words_new(arena, n, &by->into) || !words_new(arena, (size_t)n_heads + 1, ret_place))
		return false;
	for (uint32_t head = 0; head < n_heads; head++)
		by->first[head + 1] += by->first[head];
	memcpy(*ret_place, by->first, ((size_t)n_heads + 1) * sizeof(**ret_place));
	return true;
}

/* Who leads to whom. Neighbouring classes that lead to the same state count once. */
static bool find_predecessors(struct minimizer *m, struct by_head *by)
{
	uint32_t n_classes = m->subsets->classes.n;
	uint32_t n = 0, *place;

	if (!words_new(m->scratch, (size_t)m->n + 1, &by->first))
		return false;
	for (uint32_t state = 0; state < m->n; state++) {
		const uint32_t *row = row_of(m, state);

		for (uint32_t cls = 0; cls < n_classes; cls++)
			if (cls == 0 || row[cls] != row[cls - 1]) {
				by->first[row[cls] + 1]++;
				n++;
			}
	}
	if (!by_head_open(m->scratch, by, m->n, n, &place))
		return false;
	for (uint32_t state = 0; state < m->n; state++) {
		const uint32_t *row = row_of(m, state);

		for (uint32_t cls = 0; cls < n_classes; cls++)
			if (cls == 0 || row[cls] != row[cls - 1])
				by->into[place[row[cls]]++] = state;
	}
	return true;
}

/* A state is live if it or some state after it has another label than the dead state. */
static bool find_live(struct minimizer *m)
{
	struct by_head by;
	uint32_t *queue = NULL;
	uint32_t n = 0;

	if (!words_new(m->scratch, m->n, &m->live) || !words_new(m->scratch, m->n, &queue) ||
	    !find_predecessors(m, &by))
		return false;
	for (uint32_t state = 0; state < m->n; state++) {
		m->live[state] = NOT_LIVE;
		if (label_of(m, state) != label_of(m, SUBSET_DEAD)) {
			m->live[state] = n;
			queue[n++] = state;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = by.first[queue[i]]; j < by.first[queue[i] + 1]; j++)
			if (m->live[by.into[j]] == NOT_LIVE) {
				m->live[by.into[j]] = n;
				queue[n++] = by.into[j];
			}
	m->state_of = queue;
	m->n_live = n;
	return true;
}

/* ---- Transitions ---------------------------------------------------------------------------- */

/* Counts the transitions between live states, in all and by head. */
static size_t count_transitions(const struct minimizer *m, uint32_t *first)
{
	uint32_t n_classes = m->subsets->classes.n;
	size_t n = 0;

	for (uint32_t live = 0; live < m->n_live; live++) {
		const uint32_t *row = row_of(m, m->state_of[live]);

		for (uint32_t cls = 0; cls < n_classes; cls++) {
			uint32_t head = m->live[row[cls]];

			if (head == NOT_LIVE)
				continue;
			first[head + 1]++;
			n++;
		}
	}
	return n;
}

static bool find_transitions(struct minimizer *m)
{
	uint32_t n_classes = m->subsets->classes.n;
	struct transitions *t = &m->transitions;
	uint32_t *place;
	size_t n;

	if (!words_new(m->scratch, (size_t)m->n_live + 1, &t->by_head.first))
		return false;
	n = count_transitions(m, t->by_head.first);
	if (n >= UINT32_MAX || !words_new(m->scratch, n, &t->tail) ||
	    !words_new(m->scratch, n, &t->cls) ||
	    !by_head_open(m->scratch, &t->by_head, m->n_live, (uint32_t)n, &place))
		return false;
	for (uint32_t live = 0; live < m->n_live; live++) {
		const uint32_t *row = row_of(m, m->state_of[live]);

		for (uint32_t cls = 0; cls < n_classes; cls++) {
			uint32_t head = m->live[row[cls]];

			if (head == NOT_LIVE)
				continue;
			t->by_head.into[place[head]++] = t->n;
			t->tail[t->n] = live;
			t->cls[t->n++] = cls;
		}
	}
	return true;
}

/* ---- Refinement ----------------------------------------------------------------------------- */

/* The live state that most transitions lead to. */
static uint32_t find_hub(const struct minimizer *m)
{
	const uint32_t *first = m->transitions.by_head.first;
	uint32_t hub = 0;

	for (uint32_t live = 1; live < m->n_live; live++)
		if (first[live + 1] - first[live] > first[hub + 1] - first[hub])
			hub = live;
	return hub;
}

/* By label, the hub's first: what leads to the hub need not be looked at then. */
static bool init_blocks(struct minimizer *m)
{
	uint32_t *keys, n_keys = 0, hub = find_hub(m);

	if (!words_new(m->scratch, m->n_live, &keys))
		return false;
	for (uint32_t live = 0; live < m->n_live; live++) {
		uint32_t label = label_of(m, m->state_of[live]);

		keys[live] = label == label_of(m, m->state_of[hub]) ? 0 : label + 1;
		if (keys[live] >= n_keys)
			n_keys = keys[live] + 1;
	}
	if (!partition_init(&m->blocks, m->scratch, m->n_live, keys, n_keys))
		return false;
	if (m->n_live > 0)
		m->blocks.pinned = hub;
	return true;
}

/* Splits blocks by the tails of bundle BUNDLE. */
static void split_blocks(struct minimizer *m, uint32_t bundle)
{
	const struct partition *bundles = &m->bundles;

	for (uint32_t i = bundles->first[bundle]; i < bundles->end[bundle]; i++)
		partition_mark(&m->blocks, m->transitions.tail[bundles->elements[i]]);
	partition_split(&m->blocks);
}

/* Splits bundles by what leads into block BLOCK. */
static void split_bundles(struct minimizer *m, uint32_t block)
{
	const struct by_head *by = &m->transitions.by_head;

	for (uint32_t i = m->blocks.first[block]; i < m->blocks.end[block]; i++) {
		uint32_t head = m->blocks.elements[i];

		for (uint32_t j = by->first[head]; j < by->first[head + 1]; j++)
			partition_mark(&m->bundles, by->into[j]);
	}
	partition_split(&m->bundles);
}

/*
 * Every bundle splits the blocks; every block but the hub's splits the bundles (what does not lead
 * into the others leads into that one).
 */
static bool refine(struct minimizer *m)
{
	uint32_t block = 1;

	if (!init_blocks(m) || !partition_init(&m->bundles, m->scratch, m->transitions.n,
					       m->transitions.cls, m->subsets->classes.n))
		return false;
	for (uint32_t bundle = 0; bundle < m->bundles.n_sets; bundle++) {
		split_blocks(m, bundle);
		for (; block < m->blocks.n_sets; block++)
			split_bundles(m, block);
	}
	return true;
}

/* ---- The quotient --------------------------------------------------------------------------- */

/* The dead states are one block more. */
static bool build_quotient(const struct minimizer *m, struct quotient *ret)
{
	uint32_t dead = m->blocks.n_sets;

	*ret = (struct quotient){.subsets = m->subsets, .labels = m->labels, .n = dead + 1};
	if (!words_new(m->scratch, m->n, &ret->block) ||
	    !words_new(m->scratch, ret->n, &ret->state))
		return false;
	for (uint32_t state = 0; state < m->n; state++)
		ret->block[state] =
			m->live[state] == NOT_LIVE ? dead : m->blocks.set_of[m->live[state]];
	for (uint32_t block = 0; block < dead; block++)
		ret->state[block] = m->state_of[m->blocks.elements[m->blocks.first[block]]];
	ret->state[dead] = SUBSET_DEAD;
	return true;
}

int dfa_minimize(const struct subsets *subsets, const uint32_t *labels, struct arena *arena,
		 struct arena *scratch, struct dfa *ret, struct err *e)
{
	struct minimizer m = {
		.subsets = subsets,
		.labels = labels,
		.scratch = scratch,
		.n = (uint32_t)subsets->sets.n,
	};
	struct quotient quotient;

	if (!find_live(&m) || !find_transitions(&m) || !refine(&m) ||
	    !build_quotient(&m, &quotient) || !dfa_lay_out(&quotient, arena, scratch, ret))
		return nfa_too_big(NULL, e);
	return 0;
}
