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

/* Where the bytes of one class lead from the state at hand: outs[first .. first + n). */
struct move {
	size_t first;
	uint32_t n;
	uint32_t hash;
	uint32_t target;
};

struct set_classes {
	uint8_t *list;
	unsigned n;
};

struct builder {
	struct nfa *nfa;
	const struct subset_options *options;
	struct subsets *ret;
	struct set_classes *sets; /* by byte set */
	struct move moves[BYTES];
	uint32_t *outs;
	size_t cap_outs;
	struct node_list current, target;
	uint32_t *holding; /* by atom: the round in which it was seen to hold for good */
	uint32_t round;
	uint32_t *atoms; /* room for all of them */
};

/* ---- Byte classes --------------------------------------------------------------------------- */

/* Splits every class that SET cuts in two. */
static void split_classes(struct byte_classes *classes, const struct byteset *set)
{
	unsigned inside[BYTES] = {0}, size[BYTES] = {0};
	unsigned new_class[BYTES] = {0};

	for (unsigned byte = 0; byte < BYTES; byte++) {
		size[classes->of[byte]]++;
		inside[classes->of[byte]] += byteset_has(set, byte);
	}
	for (unsigned byte = 0; byte < BYTES; byte++) {
		unsigned old = classes->of[byte];

		if (!byteset_has(set, byte) || inside[old] == size[old])
			continue;
		if (!new_class[old])
			new_class[old] = classes->n++;
		classes->of[byte] = (uint8_t)new_class[old];
	}
}

static void find_classes(const struct nfa *nfa, struct byte_classes *ret)
{
	*ret = (struct byte_classes){.n = 1};
	for (const char *own = "/."; *own; own++) {
		struct byteset set = {0};

		byteset_add(&set, (unsigned char)*own);
		split_classes(ret, &set);
	}
	for (size_t i = 0; i < nfa->n_sets; i++)
		split_classes(ret, &nfa->sets[i]);
}

/* The classes of each byte set, as lists. */
static bool list_classes(struct builder *b)
{
	const struct byte_classes *classes = &b->ret->classes;
	struct nfa *nfa = b->nfa;

	b->sets = arena_array(b->options->arena, nfa->n_sets, sizeof(*b->sets));
	if (!b->sets)
		return false;
	for (size_t i = 0; i < nfa->n_sets; i++) {
		struct set_classes *set = &b->sets[i];
		bool has[BYTES] = {false};

		set->list = arena_alloc(b->options->arena, classes->n);
		if (!set->list)
			return false;
		for (unsigned byte = 0; byte < BYTES; byte++)
			has[classes->of[byte]] |= byteset_has(&nfa->sets[i], byte);
		for (unsigned class = 0; class < classes->n; class++)
			if (has[class])
				set->list[set->n++] = (uint8_t)class;
	}
	return true;
}

/* ---- States --------------------------------------------------------------------------------- */

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
		if (nodes[list->p[i]].kind != NODE_BYTES)
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

/* ---- Expansion ------------------------------------------------------------------------------ */

static bool same_move(const struct builder *b, const struct move *x, const struct move *y)
{
	if (x->hash != y->hash || x->n != y->n)
		return false;
	return x->n == 0 ||
	       memcmp(b->outs + x->first, b->outs + y->first, x->n * sizeof(*b->outs)) == 0;
}

/* Room for N words in outs. */
static bool reserve_outs(struct builder *b, size_t n)
{
	if (n <= b->cap_outs)
		return true;
	b->outs = arena_array(b->options->arena, 2 * n, sizeof(*b->outs));
	b->cap_outs = b->outs ? 2 * n : 0;
	return b->outs;
}

/* Counts the ways out of the current state by class, and gives each class its part of outs. */
static size_t count_moves(struct builder *b)
{
	unsigned n_classes = b->ret->classes.n;
	size_t total = 0;

	memset(b->moves, 0, n_classes * sizeof(*b->moves));
	for (size_t i = 0; i < b->current.n; i++) {
		const struct node *node = &b->nfa->nodes[b->current.p[i]];
		const struct set_classes *set = &b->sets[node->set];

		for (unsigned j = 0; node->kind == NODE_BYTES && j < set->n; j++)
			b->moves[set->list[j]].n++;
	}
	for (unsigned class = 0; class < n_classes; class++) {
		b->moves[class].first = total;
		total += b->moves[class].n;
		b->moves[class].n = 0;
	}
	return total;
}

static bool find_moves(struct builder *b)
{
	if (!reserve_outs(b, count_moves(b)))
		return false;
	for (size_t i = 0; i < b->current.n; i++) {
		const struct node *node = &b->nfa->nodes[b->current.p[i]];
		const struct set_classes *set = &b->sets[node->set];

		for (unsigned j = 0; node->kind == NODE_BYTES && j < set->n; j++) {
			struct move *move = &b->moves[set->list[j]];

			b->outs[move->first + move->n++] = node->out;
			move->hash = (move->hash ^ node->out) * 0x01000193u;
		}
	}
	return true;
}

/* The nodes after MOVE; what holds for good holds on. */
static bool follow(struct builder *b, const struct move *move, struct node_list *ret)
{
	bool ok = true;

	nfa_begin(b->nfa, ret);
	for (size_t i = 0; i < b->current.n && ok; i++)
		if (b->nfa->nodes[b->current.p[i]].kind == NODE_MATCH)
			ok = nfa_collect(b->nfa, ret, b->current.p[i]);
	for (uint32_t i = 0; i < move->n && ok; i++)
		ok = nfa_collect(b->nfa, ret, b->outs[move->first + i]);
	if (!ok)
		return false;
	drop_settled(b, ret);
	if (b->options->prune)
		b->options->prune(b->options->context, b->nfa, ret);
	nfa_sort(ret);
	return true;
}

/* The earlier class that goes the same way, or CLASS itself. GROUPS: one class per way, N of them. */
static unsigned find_group(const struct builder *b, unsigned class, const uint8_t *groups,
			   unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (same_move(b, &b->moves[class], &b->moves[groups[i]]))
			return groups[i];
	return class;
}

static bool load_state(struct builder *b, uint32_t state)
{
	size_t n;
	const uint32_t *nodes = intern_get(&b->ret->sets, state, &n);

	if (n > 0 && nodes[n - 1] == START_MARK)
		n--;
	if (n > b->current.cap) {
		b->current.p = arena_array(b->options->arena, 2 * n, sizeof(*nodes));
		b->current.cap = b->current.p ? 2 * n : 0;
		if (!b->current.p)
			return false;
	}
	if (n)
		memcpy(b->current.p, nodes, n * sizeof(*nodes));
	b->current.n = n;
	return true;
}

/* Room in next for the row of STATE, all dead. */
static uint32_t *add_row(struct builder *b, uint32_t state)
{
	struct subsets *subsets = b->ret;
	size_t n = subsets->classes.n;
	size_t used = state * n;

	if (subsets->cap_next - used < n) {
		size_t cap = subsets->cap_next ? 2 * subsets->cap_next : 64 * n;
		uint32_t *next = arena_array(b->options->arena, cap, sizeof(*next));

		if (!next)
			return NULL;
		if (used)
			memcpy(next, subsets->next, used * sizeof(*next));
		subsets->next = next;
		subsets->cap_next = cap;
	}
	return subsets->next + used;
}

/* Finds out where STATE leads. False: no memory, or too many states. */
static bool expand(struct builder *b, uint32_t state)
{
	uint8_t groups[BYTES];
	unsigned n_groups = 0;
	uint32_t *row = add_row(b, state);

	if (!row || !load_state(b, state) || !find_moves(b))
		return false;
	for (unsigned class = 0; class < b->ret->classes.n; class++) {
		unsigned group = find_group(b, class, groups, n_groups);

		if (group == class) {
			int64_t target;

			if (!follow(b, &b->moves[class], &b->target))
				return false;
			target = put_state(b, &b->target, false);
			if (target < 0 || b->ret->sets.n > b->options->states)
				return false;
			b->moves[class].target = (uint32_t)target;
			groups[n_groups++] = (uint8_t)class;
		}
		row[class] = b->moves[group].target;
	}
	return true;
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* The pattern whose nodes take up most room in the states. */
static const struct test *find_fault(struct builder *b)
{
	const struct nfa *nfa = b->nfa;
	const struct intern *sets = &b->ret->sets;
	const struct test *worst = NULL;
	size_t most = 0, sum = 0;

	if (!nfa->seen)
		return NULL;
	/* The generations are not needed any more: they serve as counters. */
	memset(nfa->seen, 0, nfa->n_nodes * sizeof(*nfa->seen));
	for (size_t i = 0; i < sets->n_words; i++)
		if (sets->words[i] != START_MARK)
			nfa->seen[sets->words[i]]++;
	for (size_t i = 1; i < nfa->n_nodes; i++) {
		if (nfa->nodes[i].pattern != nfa->nodes[i - 1].pattern)
			sum = 0;
		sum += nfa->seen[i];
		if (nfa->nodes[i].pattern && sum > most) {
			most = sum;
			worst = nfa->nodes[i].pattern;
		}
	}
	return worst;
}

/* The dead state and the start. */
static bool put_first_states(struct builder *b)
{
	static const struct node_list nothing;
	struct node_list *list = &b->target;

	if (put_state(b, &nothing, false) != SUBSET_DEAD)
		return false;
	nfa_begin(b->nfa, list);
	for (size_t i = 0; i < b->nfa->n_atoms; i++)
		if (!nfa_collect(b->nfa, list, b->nfa->starts[i]))
			return false;
	drop_settled(b, list);
	if (b->options->prune)
		b->options->prune(b->options->context, b->nfa, list);
	nfa_sort(list);
	list->p = arena_grow(b->options->arena, list->p, list->n, &list->cap, sizeof(*list->p));
	if (!list->p)
		return false;
	list->p[list->n++] = START_MARK;
	return put_state(b, list, true) == SUBSET_START;
}

int subsets_build(struct nfa *nfa, const struct subset_options *options, struct subsets *ret,
		  struct err *e)
{
	struct builder b = {.nfa = nfa, .options = options, .ret = ret};

	*ret = (struct subsets){.sets.arena = options->arena, .accepts.arena = options->arena};
	find_classes(nfa, &ret->classes);
	b.holding = arena_array(options->arena, nfa->n_atoms, sizeof(*b.holding));
	b.atoms = arena_array(options->arena, nfa->n_atoms, sizeof(*b.atoms));
	if (!b.holding || !b.atoms || !list_classes(&b) || !put_first_states(&b))
		return nfa_too_big(NULL, e);
	for (uint32_t state = 0; state < ret->sets.n; state++)
		if (!expand(&b, state))
			return nfa_too_big(find_fault(&b), e);
	return 0;
}
