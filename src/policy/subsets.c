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

/* Where the bytes of one class lead besides the common way: outs[first .. first + n). */
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

	/* The state at hand. */
	struct node_list current;
	struct move moves[BYTES];
	uint32_t *outs;
	size_t cap_outs;
	struct node_list way; /* n_common nodes that every byte leads to, then those of one move */
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
		for (unsigned cls = 0; cls < classes->n; cls++)
			if (has[cls])
				set->list[set->n++] = (uint8_t)cls;
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

/* The node to which every byte leads from NODE; 0: it depends on the byte. */
static uint32_t common_out(const struct builder *b, uint32_t node)
{
	const struct node *from = &b->nfa->nodes[node];

	if (from->kind == NODE_MATCH)
		return node;
	if (from->kind == NODE_BYTES && b->sets[from->set].n == b->ret->classes.n)
		return from->out;
	return 0;
}

/* Begins the way with what is common to all bytes; of current only the rest is left. */
static bool split_common(struct builder *b)
{
	size_t left = 0;

	b->way.n = 0;
	for (size_t i = 0; i < b->current.n; i++) {
		uint32_t node = b->current.p[i], out = common_out(b, node);

		if (out && !node_list_push(b->options->arena, &b->way, out))
			return false;
		if (!out && b->nfa->nodes[node].kind == NODE_BYTES)
			b->current.p[left++] = node;
	}
	b->current.n = left;
	b->n_common = b->way.n;
	return true;
}

/* Counts what is left by class, and gives each class its part of outs. */
static size_t count_moves(struct builder *b)
{
	unsigned n_classes = b->ret->classes.n;
	size_t total = 0;

	memset(b->moves, 0, n_classes * sizeof(*b->moves));
	for (size_t i = 0; i < b->current.n; i++) {
		const struct set_classes *set = &b->sets[b->nfa->nodes[b->current.p[i]].set];

		for (unsigned j = 0; j < set->n; j++)
			b->moves[set->list[j]].n++;
	}
	for (unsigned cls = 0; cls < n_classes; cls++) {
		b->moves[cls].first = total;
		total += b->moves[cls].n;
		b->moves[cls].n = 0;
	}
	return total;
}

static bool find_moves(struct builder *b)
{
	if (!split_common(b) || !reserve_outs(b, count_moves(b)))
		return false;
	for (size_t i = 0; i < b->current.n; i++) {
		const struct node *node = &b->nfa->nodes[b->current.p[i]];
		const struct set_classes *set = &b->sets[node->set];

		for (unsigned j = 0; j < set->n; j++) {
			struct move *move = &b->moves[set->list[j]];

			b->outs[move->first + move->n++] = node->out;
			move->hash = (move->hash ^ node->out) * 0x01000193u;
		}
	}
	return true;
}

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

/* Where MOVE leads: states share most of their ways. INTERN_FAILED: no memory. */
static int64_t follow(struct builder *b, const struct move *move)
{
	size_t n_before = b->ways.n;
	int64_t way, target;
	uint32_t *targets;

	b->way.n = b->n_common;
	for (uint32_t i = 0; i < move->n; i++)
		if (!node_list_push(b->options->arena, &b->way, b->outs[move->first + i]))
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

/* The class that goes the same way among GROUPS, one for each way and N of them; or CLS itself.
 */
static unsigned find_group(const struct builder *b, unsigned cls, const uint8_t *groups, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (same_move(b, &b->moves[cls], &b->moves[groups[i]]))
			return groups[i];
	return cls;
}

static bool load_state(struct builder *b, uint32_t state)
{
	size_t n;
	const uint32_t *nodes = intern_get(&b->ret->sets, state, &n);

	b->current.n = 0;
	for (size_t i = 0; i < n && nodes[i] != START_MARK; i++)
		if (!node_list_push(b->options->arena, &b->current, nodes[i]))
			return false;
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
	for (unsigned cls = 0; cls < b->ret->classes.n; cls++) {
		unsigned group = find_group(b, cls, groups, n_groups);

		if (group == cls) {
			int64_t target = follow(b, &b->moves[cls]);

			if (target < 0 || b->ret->sets.n > b->options->states)
				return false;
			b->moves[cls].target = (uint32_t)target;
			groups[n_groups++] = (uint8_t)cls;
		}
		row[cls] = b->moves[group].target;
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

static bool put_first_states(struct builder *b)
{
	return enter(b, NULL, 0, false) == SUBSET_DEAD &&
	       enter(b, b->nfa->starts, b->nfa->n_atoms, true) == SUBSET_START;
}

int subsets_build(struct nfa *nfa, const struct subset_options *options, struct subsets *ret,
		  struct err *e)
{
	struct builder b = {.nfa = nfa, .options = options, .ret = ret};

	*ret = (struct subsets){.sets.arena = options->arena, .accepts.arena = options->arena};
	find_classes(nfa, &ret->classes);
	b.ways.arena = options->arena;
	b.holding = arena_array(options->arena, nfa->n_atoms, sizeof(*b.holding));
	b.atoms = arena_array(options->arena, nfa->n_atoms, sizeof(*b.atoms));
	if (!b.holding || !b.atoms || !list_classes(&b) || !put_first_states(&b))
		return nfa_too_big(NULL, e);
	for (uint32_t state = 0; state < ret->sets.n; state++)
		if (!expand(&b, state))
			return nfa_too_big(find_fault(&b), e);
	return 0;
}
