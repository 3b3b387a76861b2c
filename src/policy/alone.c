/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns by themselves. The subset construction of all atoms meets many sets that differ in nodes
 * of one pattern without any difference in what it can still match. If parts are minimal automata
 * before they come together, a set has few nodes of each, and equal futures are equal nodes.
 */
#include "policy/dfa.h"

#include "base/banned.h"

enum {
	/* An automaton that has more states than its part has nodes, so many times, is left alone.
	 */
	GROWTH_MAX = 4,
	STATES_MIN = 64,
};

/* A minimal automaton on its way into an NFA. */
struct graft {
	struct nfa *nfa;
	const struct nfa_atom *to;
	uint32_t atom; /* the number of `to` */
	struct subsets subsets;
	struct quotient from;
	uint32_t *node; /* by block: what other nodes lead to */
};

static uint32_t node_of(const struct graft *g, uint32_t state)
{
	return g->node[g->from.block[state]];
}

static bool accepts(const struct graft *g, uint32_t block)
{
	return g->from.labels[g->subsets.accept[g->from.state[block]]];
}

/* Does every byte lead from BLOCK back to it? */
static bool is_final(const struct graft *g, uint32_t block)
{
	const struct row *row = quotient_row(&g->from, block);
	bool is = g->from.block[row->usual] == block;

	for (uint32_t i = 0; i < row->n && is; i++)
		is = g->from.block[quotient_turns(&g->from, row)[i].target] == block;
	return is;
}

/* Labels by accept set: does the atom hold? NULL: no memory. */
static uint32_t *label_accepts(const struct subsets *subsets, struct arena *scratch)
{
	uint32_t *labels = arena_array(scratch, subsets->accepts.n, sizeof(*labels));

	for (size_t i = 0; labels && i < subsets->accepts.n; i++)
		labels[i] = subsets->accepts.list[i].n > 0;
	return labels;
}

/*
 * Fills subsets and from with the minimal automaton of ATOM of FROM, and gives each block a node:
 * final ones the node where they end, the others a new split (0: nothing is ever accepted).
 * 1: too large, nothing was added; -1: no memory.
 */
static int prepare(struct graft *g, struct nfa *from, uint32_t atom, struct arena *scratch)
{
	unsigned states = GROWTH_MAX * from->atoms[atom].n_nodes;
	struct subset_options options = {
		.arena = scratch,
		.states = states > STATES_MIN ? states : STATES_MIN,
	};
	uint32_t *labels;

	/* If it was for memory or work, the construction of all will say so. */
	if (!subsets_build_one(from, atom, &options, &g->subsets))
		return 1;
	labels = label_accepts(&g->subsets, scratch);
	if (!labels || !quotient_build(&g->subsets, labels, scratch, &g->from))
		return -1;
	g->node = arena_array(scratch, g->from.n, sizeof(*g->node));
	if (!g->node)
		return -1;
	for (uint32_t block = 0; block < g->from.n; block++) {
		if (is_final(g, block)) {
			g->node[block] = accepts(g, block) ? g->to->match : 0;
			continue;
		}
		g->node[block] =
			nfa_add_node(g->nfa, (struct node){.kind = NODE_SPLIT, .atom = g->atom});
		if (!g->node[block])
			return -1;
	}
	return 0;
}

/* Makes the node of BLOCK, a split, lead to NODE too. False: no memory, also if NODE is 0. */
static bool lead_on(const struct graft *g, uint32_t block, uint32_t node)
{
	struct node *split = &g->nfa->nodes[g->node[block]];
	uint32_t more;

	if (!node)
		return false;
	if (!split->out || !split->other) {
		*(split->out ? &split->other : &split->out) = node;
		return true;
	}
	more = nfa_add_node(g->nfa, (struct node){.kind = NODE_SPLIT,
						  .out = split->out,
						  .other = split->other,
						  .atom = g->atom});
	split = &g->nfa->nodes[g->node[block]]; /* they may have moved */
	split->out = more;
	split->other = node;
	return more;
}

/* ---- As rows, of an atom ---- */

/* A row of nodes for a row of states. */
static bool add_row(const struct graft *g, const struct row *from)
{
	struct nfa *nfa = g->nfa;
	const struct turn *turns = quotient_turns(&g->from, from);
	uint32_t usual = node_of(g, from->usual);

	if (!row_table_add(&nfa->rows, nfa->arena, usual))
		return false;
	for (uint32_t i = 0; i < from->n; i++) {
		struct turn turn = {turns[i].cls, node_of(g, turns[i].target)};

		if (turn.target != usual && !row_table_turn(&nfa->rows, nfa->arena, turn))
			return false;
	}
	return true;
}

/* Where nothing else is to be added the split itself becomes the node. */
static bool add_row_node(const struct graft *g, uint32_t block)
{
	struct node node = {.kind = NODE_ROW, .row = (uint32_t)g->nfa->rows.n, .atom = g->atom};

	if (!add_row(g, quotient_row(&g->from, block)))
		return false;
	if (accepts(g, block))
		return lead_on(g, block, nfa_add_node(g->nfa, node));
	g->nfa->nodes[g->node[block]] = node;
	return true;
}

/* ---- As nodes that read bytes, of a part ---- */

/* The bytes that lead from ROW to the node TARGET. */
static struct byteset bytes_to(const struct graft *g, const struct row *row, uint32_t target)
{
	const struct byte_classes *classes = &g->subsets.classes;
	const struct turn *turns = quotient_turns(&g->from, row);
	bool leads[BYTES];
	struct byteset set = {0};

	for (unsigned cls = 0; cls < classes->n; cls++)
		leads[cls] = node_of(g, row->usual) == target;
	for (uint32_t i = 0; i < row->n; i++)
		leads[turns[i].cls] = node_of(g, turns[i].target) == target;
	for (unsigned byte = 0; byte < BYTES; byte++)
		if (leads[classes->of[byte]])
			byteset_add(&set, byte);
	return set;
}

static bool add_bytes_node(const struct graft *g, uint32_t block, uint32_t target)
{
	struct node node = {.kind = NODE_BYTES, .out = target, .atom = g->atom};

	return nfa_add_set(g->nfa, bytes_to(g, quotient_row(&g->from, block), target), &node.set) &&
	       lead_on(g, block, nfa_add_node(g->nfa, node));
}

/* One node for each node that BLOCK leads to. */
static bool add_bytes_nodes(const struct graft *g, uint32_t block)
{
	const struct row *row = quotient_row(&g->from, block);
	const struct turn *turns = quotient_turns(&g->from, row);
	uint32_t usual = node_of(g, row->usual);

	if (usual && !add_bytes_node(g, block, usual))
		return false;
	for (uint32_t i = 0; i < row->n; i++) {
		uint32_t target = node_of(g, turns[i].target);
		bool known = !target || target == usual;

		for (uint32_t j = 0; j < i && !known; j++)
			known = node_of(g, turns[j].target) == target;
		if (!known && !add_bytes_node(g, block, target))
			return false;
	}
	return true;
}

/* ---- The two ways ---- */

/* Gives every split its nodes, by ADD, and those that accept the node that does. */
static bool fill_splits(const struct graft *g, bool (*add)(const struct graft *g, uint32_t block))
{
	for (uint32_t block = 0; block < g->from.n; block++) {
		if (is_final(g, block))
			continue;
		if (!add(g, block) || (accepts(g, block) && !lead_on(g, block, g->to->accept)))
			return false;
	}
	return true;
}

bool nfa_graft(struct nfa *nfa, const struct nfa_atom *to, struct nfa *from, uint32_t *ret)
{
	struct graft g = {.nfa = nfa, .to = to, .atom = (uint32_t)nfa->n_atoms};
	int r = prepare(&g, from, 0, from->arena);

	*ret = 0;
	if (r == 0) {
		*ret = node_of(&g, g.subsets.rows.rows[SUBSET_START].usual);
		r = fill_splits(&g, add_bytes_nodes) ? 0 : -1;
	}
	return r >= 0;
}

/* By atom, the pattern that has most nodes. NULL: no memory. */
static const struct test **main_patterns(struct nfa *nfa)
{
	const struct test **found = arena_array(nfa->arena, nfa->n_atoms, sizeof(struct test *));
	size_t *most = arena_array(nfa->arena, nfa->n_atoms, sizeof(*most));

	for (size_t i = 0; found && most && i < nfa->n_parts; i++) {
		size_t first = nfa->parts[i].first;
		size_t end = i + 1 < nfa->n_parts ? nfa->parts[i + 1].first : nfa->n_nodes;
		uint32_t atom = end > first ? nfa->nodes[first].atom : 0;

		if (nfa->parts[i].pattern && end > first && end - first > most[atom]) {
			found[atom] = nfa->parts[i].pattern;
			most[atom] = end - first;
		}
	}
	return most ? found : NULL;
}

static bool determinize(struct nfa *nfa, uint32_t atom, const struct test *pattern)
{
	struct graft g = {.nfa = nfa, .to = &nfa->atoms[atom], .atom = atom};
	int r = -1;

	if (nfa_begin_part(nfa, pattern))
		r = prepare(&g, nfa, atom, nfa->temporary);
	if (r != 0)
		return r > 0;
	nfa->atoms[atom].start = node_of(&g, SUBSET_START);
	return fill_splits(&g, add_row_node);
}

bool nfa_determinize(struct nfa *nfa)
{
	const struct test **patterns = main_patterns(nfa);
	bool ok = patterns && nfa_classify(nfa);

	for (uint32_t atom = 0; atom < nfa->n_atoms && ok; atom++) {
		if (!nfa->atoms[atom].has_regex || !nfa->atoms[atom].start)
			continue;
		ok = determinize(nfa, atom, patterns[atom]);
		arena_reset(nfa->temporary);
	}
	return ok;
}
