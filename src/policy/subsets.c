/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subset construction. What keeps it small: bytes count by class; classes
 * that lead to the same nodes are followed once; an atom that holds for good
 * needs no other node; and the caller takes off what no decision depends on.
 */
#include "policy/dfa.h"

#include "base/banned.h"

/* Stands in the start's set, so that no other state is taken for it. */
static const uint32_t START_MARK = UINT32_MAX;

/* A node leads to OUT over some class. */
struct hop {
	uint32_t out;
	uint32_t next; /* of the same class: index into hops, plus one */
};

/* A node that has a row. */
struct rider {
	const struct row *row;
	uint32_t at; /* the first of its turns that has not been passed */
};

struct builder {
	struct nfa *nfa;
	const struct subset_options *options;
	struct subsets *ret;

	/* The state at hand. */
	struct node_list broad; /* its nodes that lead on over most classes */
	struct rider *riders;   /* those that have a row */
	size_t n_riders, cap_riders;
	struct hop *hops; /* of the others */
	size_t n_hops, cap_hops;
	uint32_t first_hop[BYTES]; /* by class: index into hops, plus one */
	struct byteset turns;      /* the classes that some node treats otherwise */
	struct node_list way;      /* where one class leads; n_common nodes are of every way */
	size_t n_common;

	/* Ways that were gone before. */
	struct intern ways;
	uint32_t *way_targets;
	size_t cap_way_targets;

	struct node_list target;
	uint32_t *holding; /* by atom: the round in which it was seen to hold for good */
	uint32_t round;
	uint32_t *atoms; /* room for all of them */
};

/* ---- States ---- */

/* Of an atom that holds for good only that stays. */
static void drop_settled(struct builder *b, struct node_list *list)
{
	const struct node *nodes = b->nfa->nodes;
	size_t kept = 0;

	b->round++;
	for (size_t i = 0; i < list->n; i++)
		if (nodes[list->p[i]].kind == NODE_MATCH)
			b->holding[nodes[list->p[i]].atom] = b->round;
	for (size_t i = 0; i < list->n; i++) {
		const struct node *node = &nodes[list->p[i]];

		if (node->kind == NODE_MATCH || b->holding[node->atom] != b->round)
			list->p[kept++] = list->p[i];
	}
	list->n = kept;
}

/* Atoms were numbered as their nodes were made, so that the order of nodes is that of atoms. */
static int64_t intern_accept(struct builder *b, const struct node_list *list)
{
	const struct node *nodes = b->nfa->nodes;
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		if (nodes[list->p[i]].kind == NODE_MATCH || nodes[list->p[i]].kind == NODE_ACCEPT)
			b->atoms[n++] = nodes[list->p[i]].atom;
	return intern_put(&b->ret->accepts, b->atoms, n);
}

/* The state of a sorted set of nodes; a new one gets its accept set. INTERN_FAILED: no memory. */
static int64_t put_state(struct builder *b, const struct node_list *list, bool is_start)
{
	struct subsets *subsets = b->ret;
	static const struct node_list nothing;
	size_t n_before = subsets->sets.n;
	int64_t accept, state = intern_put(&subsets->sets, list->p, list->n);
	uint32_t *grown;

	if (state < 0 || subsets->sets.n == n_before)
		return state;
	grown = arena_grow(b->options->arena, subsets->accept, n_before, &subsets->cap_accept,
			   sizeof(*grown));
	if (!grown)
		return INTERN_FAILED;
	subsets->accept = grown;
	accept = intern_accept(b, is_start ? &nothing : list);
	if (accept < 0)
		return INTERN_FAILED;
	grown[state] = (uint32_t)accept;
	return state;
}

/* ---- Expansion ---- */

/* The state in which N nodes put the automaton. INTERN_FAILED: no memory. */
static int64_t enter(struct builder *b, const uint32_t *nodes, size_t n, bool is_start)
{
	struct node_list *list = &b->target;

	nfa_begin(b->nfa, list);
	for (size_t i = 0; i < n; i++)
		if (!nfa_collect(b->nfa, list, nodes[i]))
			return INTERN_FAILED;
	drop_settled(b, list);
	if (b->options->prune)
		b->options->prune(b->options->context, b->nfa, list);
	nfa_sort(list);
	if (is_start && !node_list_push(b->options->arena, list, START_MARK))
		return INTERN_FAILED;
	return put_state(b, list, is_start);
}

/* Notes that the classes in SET lead to OUT, and others nowhere. */
static bool add_hops(struct builder *b, const struct byteset *set, uint32_t out)
{
	for (unsigned cls = byteset_next(set, 0); cls < BYTES; cls = byteset_next(set, cls + 1)) {
		struct hop *hops = arena_grow(b->options->arena, b->hops, b->n_hops, &b->cap_hops,
					      sizeof(*hops));

		if (!hops)
			return false;
		b->hops = hops;
		hops[b->n_hops++] = (struct hop){out, b->first_hop[cls]};
		b->first_hop[cls] = (uint32_t)b->n_hops;
	}
	return true;
}

/* Notes where node AT leads over the bytes of its set. */
static bool load_bytes(struct builder *b, uint32_t at)
{
	const struct node *node = &b->nfa->nodes[at];
	const struct set_classes *set = &b->nfa->set_classes[node->set];

	byteset_unite(&b->turns, &set->turns);
	if (!byteset_has(&set->has, CLASS_USUAL))
		return add_hops(b, &set->has, node->out);
	if (byteset_next(&set->turns, 0) >= b->nfa->classes.n)
		return node_list_push(b->options->arena, &b->way, node->out);
	return node_list_push(b->options->arena, &b->broad, at);
}

/* Notes where ROW leads. */
static bool load_row(struct builder *b, const struct row *row)
{
	const struct turn *turns = row_turns(&b->nfa->rows, row);
	struct rider *riders;

	if (row->n == 0)
		return node_list_push(b->options->arena, &b->way, row->usual);
	riders = arena_grow(b->options->arena, b->riders, b->n_riders, &b->cap_riders,
			    sizeof(*riders));
	if (!riders)
		return false;
	b->riders = riders;
	riders[b->n_riders++] = (struct rider){.row = row};
	for (uint32_t i = 0; i < row->n; i++)
		byteset_add(&b->turns, turns[i].cls);
	return true;
}

/* Notes where node AT leads. */
static bool load_node(struct builder *b, uint32_t at)
{
	const struct node *node = &b->nfa->nodes[at];

	switch (node->kind) {
	case NODE_MATCH:
		return node_list_push(b->options->arena, &b->way, at);
	case NODE_BYTES:
		return load_bytes(b, at);
	case NODE_ROW:
		return load_row(b, &b->nfa->rows.rows[node->row]);
	default:
		return true;
	}
}

/* Notes where the nodes of STATE lead. */
static bool load_state(struct builder *b, uint32_t state)
{
	size_t n;
	const uint32_t *nodes = intern_get(&b->ret->sets, state, &n);

	b->way.n = b->broad.n = b->n_riders = b->n_hops = 0;
	b->turns = (struct byteset){0};
	memset(b->first_hop, 0, b->nfa->classes.n * sizeof(*b->first_hop));
	for (size_t i = 0; i < n && nodes[i] != START_MARK; i++)
		if (!load_node(b, nodes[i]))
			return false;
	b->n_common = b->way.n;
	return true;
}

/* Where RIDER leads over CLS; it is asked about classes in ascending order. */
static uint32_t ride(const struct builder *b, struct rider *rider, unsigned cls)
{
	const struct row *row = rider->row;
	const struct turn *turns = row_turns(&b->nfa->rows, row);

	while (rider->at < row->n && turns[rider->at].cls < cls)
		rider->at++;
	return rider->at < row->n && turns[rider->at].cls == cls ? turns[rider->at].target
								 : row->usual;
}

/* Sets the way of the state at hand over CLS. */
static bool find_way(struct builder *b, unsigned cls)
{
	struct arena *arena = b->options->arena;
	bool ok = true;

	b->way.n = b->n_common;
	for (size_t i = 0; i < b->broad.n && ok; i++) {
		const struct node *node = &b->nfa->nodes[b->broad.p[i]];

		if (byteset_has(&b->nfa->set_classes[node->set].has, cls))
			ok = node_list_push(arena, &b->way, node->out);
	}
	for (size_t i = 0; i < b->n_riders && ok; i++) {
		uint32_t target = ride(b, &b->riders[i], cls);

		ok = !target || node_list_push(arena, &b->way, target);
	}
	for (uint32_t hop = b->first_hop[cls]; hop && ok; hop = b->hops[hop - 1].next)
		ok = node_list_push(arena, &b->way, b->hops[hop - 1].out);
	return ok;
}

/*
 * The state to which CLS leads from the one at hand: states share most of their ways.
 * INTERN_FAILED: no memory.
 */
static int64_t follow(struct builder *b, unsigned cls)
{
	size_t n_before = b->ways.n;
	int64_t way, target;
	uint32_t *targets;

	if (!find_way(b, cls))
		return INTERN_FAILED;
	way = intern_put(&b->ways, b->way.p, b->way.n);
	if (way < 0 || b->ways.n == n_before)
		return way < 0 ? way : b->way_targets[way];
	targets = arena_grow(b->options->arena, b->way_targets, n_before, &b->cap_way_targets,
			     sizeof(*targets));
	if (!targets)
		return INTERN_FAILED;
	b->way_targets = targets;
	target = enter(b, b->way.p, b->way.n, false);
	targets[way] = (uint32_t)target;
	return target;
}

/* Finds out where STATE, the first without a row, leads. False: no memory, or too many states. */
static bool expand(struct builder *b, uint32_t state)
{
	struct arena *arena = b->options->arena;
	unsigned n_classes = b->nfa->classes.n;
	struct row_table *rows = &b->ret->rows;
	int64_t usual, target;

	if (!load_state(b, state))
		return false;
	usual = follow(b, CLASS_USUAL);
	if (usual < 0 || !row_table_add(rows, arena, (uint32_t)usual))
		return false;
	for (unsigned cls = byteset_next(&b->turns, 0); cls < n_classes;
	     cls = byteset_next(&b->turns, cls + 1)) {
		target = follow(b, cls);
		if (target < 0 || b->ret->sets.n > b->options->states)
			return false;
		if (target != usual &&
		    !row_table_turn(rows, arena, (struct turn){cls, (uint32_t)target}))
			return false;
	}
	return b->ret->sets.n <= b->options->states;
}

/* ---- The whole ---- */

/* How often nodes of the part occur in states. Those that were not known yet are in none. */
static size_t count_uses(const struct nfa *nfa, const uint32_t *uses, size_t part)
{
	size_t end = part + 1 < nfa->n_parts ? nfa->parts[part + 1].first : nfa->n_nodes;
	size_t sum = 0;

	for (size_t node = nfa->parts[part].first; node < end && node < nfa->n_known; node++)
		sum += uses[node];
	return sum;
}

/* The pattern whose nodes take up most room in the states. */
static const struct test *find_fault(struct builder *b)
{
	const struct nfa *nfa = b->nfa;
	const struct intern *sets = &b->ret->sets;
	const struct test *worst = NULL;
	uint32_t *uses = nfa->seen; /* not needed any more */
	size_t most = 0;

	if (!uses)
		return NULL;
	memset(uses, 0, nfa->n_known * sizeof(*uses));
	for (uint32_t state = 0; state < sets->n; state++) {
		size_t n;
		const uint32_t *nodes = intern_get(sets, state, &n);

		for (size_t i = 0; i < n && nodes[i] != START_MARK; i++)
			uses[nodes[i]]++;
	}
	for (size_t i = 0; i < nfa->n_parts; i++) {
		size_t n = nfa->parts[i].pattern ? count_uses(nfa, uses, i) : 0;

		if (n > most) {
			most = n;
			worst = nfa->parts[i].pattern;
		}
	}
	return worst;
}

/* The dead state, and the start of N atoms from FIRST on. */
static bool put_first_states(struct builder *b, size_t first, size_t n)
{
	b->way.n = 0;
	for (size_t i = first; i < first + n; i++)
		if (!node_list_push(b->options->arena, &b->way, b->nfa->atoms[i].start))
			return false;
	return enter(b, NULL, 0, false) == SUBSET_DEAD &&
	       enter(b, b->way.p, b->way.n, true) == SUBSET_START;
}

/* The automaton of N atoms from FIRST on. False: no memory, or too many states. */
static bool build(struct builder *b, size_t first, size_t n)
{
	struct arena *arena = b->options->arena;
	struct subsets *ret = b->ret;

	*ret = (struct subsets){.sets.arena = arena, .accepts.arena = arena};
	b->ways.arena = arena;
	b->holding = arena_array(arena, b->nfa->n_atoms, sizeof(*b->holding));
	b->atoms = arena_array(arena, b->nfa->n_atoms, sizeof(*b->atoms));
	if (!b->holding || !b->atoms || !nfa_classify(b->nfa) || !put_first_states(b, first, n))
		return false;
	ret->classes = b->nfa->classes;
	for (uint32_t state = 0; state < ret->sets.n; state++)
		if (!expand(b, state))
			return false;
	return true;
}

int subsets_build(struct nfa *nfa, const struct subset_options *options, struct subsets *ret,
		  struct err *e)
{
	struct builder b = {.nfa = nfa, .options = options, .ret = ret};

	return build(&b, 0, nfa->n_atoms) ? 0 : nfa_too_big(find_fault(&b), e);
}

bool subsets_build_one(struct nfa *nfa, size_t atom, const struct subset_options *options,
		       struct subsets *ret)
{
	struct builder b = {.nfa = nfa, .options = options, .ret = ret};

	return build(&b, atom, 1);
}
