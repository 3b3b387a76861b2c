/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subset construction. What keeps it small: bytes count by class; classes
 * that lead to the same nodes are followed once; an atom that holds for good
 * needs no other node; and the caller takes off what no decision depends on.
 */
#include "policy/subsets.h"

#include "base/banned.h"

enum {
	WAYS_MAX = 4 << 20, /* words of ways that are remembered */
	WORK_STATE = 32,    /* what takes as long as so many nodes: a state, */
	WORK_WAY = 16,      /* a way */
	WORK_SINGLE = 2,    /* one of a single node */
	LOOKS_PER_WORK = 8, /* at entries of closures, known ones mostly */
};

/* What one class changes in the usual way. */
struct change {
	uint32_t at; /* the place in it; NEW: on top of it */
	uint32_t out;
	uint32_t next; /* of the same class: index into changes, plus one */
};

static const uint32_t NEW = UINT32_MAX;

struct builder {
	struct nfa *nfa;
	const struct subset_options *options;
	struct subsets *ret;

	/* The state at hand: a way is where one class leads from it, node by node; 0 is none. */
	struct node_list usual, way;
	uint64_t usual_hash; /* the sum of its nodes' */
	struct change *changes;
	size_t n_changes, cap_changes;
	uint32_t first_change[BYTES]; /* by class: index into changes, plus one */
	struct byteset turns;         /* the classes that have changes */

	/* Ways that were gone before, as far as there is room. */
	struct arena ways_arena;
	struct intern ways;
	uint32_t *way_targets;
	size_t cap_way_targets;

	/* Where the list at hand leads from places in the tree of texts. */
	struct intern steps; /* context, class, what is open then, what ends then */
	uint32_t *step_targets;
	size_t cap_step_targets;

	/* In an automaton of its own most sets are one node: by node, from the first on, the state
	 * plus one. */
	uint32_t first_node;
	uint32_t *state_single, *target_single;

	struct node_list target;
	uint32_t *holding; /* by atom: the round in which it was seen to hold for good */
	uint32_t round;
	uint32_t *atoms;  /* room for all of them */
	uint32_t nothing; /* the empty list of ends */
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

/* As intern_put() of LIST; of a single node it is a matter of a look. */
static int64_t put_set(struct builder *b, const struct node_list *list, bool is_start)
{
	uint32_t *known;
	int64_t state;

	if (list->n != 1 || is_start)
		return intern_put(&b->ret->sets, list->p, list->n);
	known = &b->state_single[list->p[0] - b->first_node];
	if (*known)
		return *known - 1;
	state = intern_append(&b->ret->sets, list->p, list->n);
	*known = (uint32_t)(state + 1); /* INTERN_FAILED: none */
	return state;
}

/* The state of a sorted set of nodes; a new one gets its accept set. INTERN_FAILED: no memory. */
static int64_t put_state(struct builder *b, const struct node_list *list, bool is_start)
{
	struct subsets *subsets = b->ret;
	static const struct node_list nothing;
	size_t n_before = subsets->sets.n;
	int64_t accept, state = put_set(b, list, is_start);
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

/*
 * Takes N nodes from the work that may be done. False: it is too much. Something stays left, so
 * that who finds nothing knows that it was not us.
 */
static bool spend(struct builder *b, size_t n)
{
	size_t *left = b->nfa->work;

	if (*left <= n)
		return false;
	*left -= n;
	return true;
}

/* Fills target with what matters of where N nodes lead, while OPEN atoms are. False: as above. */
static bool settle(struct builder *b, const uint32_t *nodes, size_t n, struct open_atoms open)
{
	struct node_list *list = &b->target;

	if (!spend(b, WORK_STATE + n))
		return false;
	nfa_begin(b->nfa, list);
	for (size_t i = 0; i < n; i++)
		if (nodes[i] && !nfa_collect(b->nfa, list, nodes[i]))
			return false;
	if (!spend(b, (list->n > n ? list->n - n : 0) + b->nfa->looked / LOOKS_PER_WORK + open.n))
		return false;
	drop_settled(b, list);
	if (b->options->prune)
		b->options->prune(b->options->context, b->nfa, list, open);
	return spend(b, nfa_sort(list));
}

/* The state in which N nodes put the automaton. INTERN_FAILED: no memory, or too much work. */
static int64_t enter(struct builder *b, const uint32_t *nodes, size_t n, bool is_start)
{
	struct node_list *list = &b->target;

	if (!settle(b, nodes, n, (struct open_atoms){0}))
		return INTERN_FAILED;
	if (is_start && !node_list_push(b->options->arena, list, SUBSET_START_MARK))
		return INTERN_FAILED;
	return put_state(b, list, is_start);
}

static uint64_t hash_node(uint32_t node)
{
	uint64_t h = (node + 1) * 0x9e3779b97f4a7c15u;

	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
}

/* Notes that over CLS the node AT of the usual way is OUT instead. */
static bool add_change(struct builder *b, unsigned cls, uint32_t at, uint32_t out)
{
	struct change *changes = arena_grow(b->options->arena, b->changes, b->n_changes,
					    &b->cap_changes, sizeof(*changes));

	if (!changes)
		return false;
	b->changes = changes;
	changes[b->n_changes++] = (struct change){at, out, b->first_change[cls]};
	b->first_change[cls] = (uint32_t)b->n_changes;
	byteset_add(&b->turns, cls);
	return true;
}

/* Adds to the usual way. */
static bool add_usual(struct builder *b, uint32_t out)
{
	b->usual_hash += hash_node(out);
	return node_list_push(b->options->arena, &b->usual, out);
}

/* Notes where NODE leads over the bytes of its set. */
static bool load_bytes(struct builder *b, const struct node *node)
{
	const struct set_classes *set = &b->nfa->set_classes[node->set];
	bool is_usual = byteset_has(&set->has, CLASS_USUAL);
	uint32_t at = is_usual ? (uint32_t)b->usual.n : NEW, out = is_usual ? 0 : node->out;
	unsigned n_classes = b->nfa->classes.n;
	bool ok = !is_usual || add_usual(b, node->out);

	for (unsigned cls = byteset_next(&set->turns, 0); cls < n_classes && ok;
	     cls = byteset_next(&set->turns, cls + 1))
		ok = add_change(b, cls, at, out);
	return ok;
}

/* Notes where ROW leads. */
static bool load_row(struct builder *b, const struct row *row)
{
	const struct turn *turns = row_turns(&b->nfa->rows, row);
	uint32_t at = row->usual ? (uint32_t)b->usual.n : NEW;
	bool ok = !row->usual || add_usual(b, row->usual);

	for (uint32_t i = 0; i < row->n && ok; i++)
		ok = add_change(b, turns[i].cls, at, turns[i].target);
	return ok;
}

/* Notes where node AT leads. */
static bool load_node(struct builder *b, uint32_t at)
{
	const struct node *node = &b->nfa->nodes[at];

	switch (node->kind) {
	case NODE_MATCH:
		return add_usual(b, at);
	case NODE_BYTES:
		return load_bytes(b, node);
	case NODE_ROW:
		return load_row(b, &b->nfa->rows.rows[node->row]);
	default:
		return true;
	}
}

/* Notes where sequence NUMBER of SETS, nodes, leads. */
static bool load(struct builder *b, const struct intern *sets, uint32_t number)
{
	size_t n;
	const uint32_t *nodes = intern_get(sets, number, &n);

	b->usual.n = b->n_changes = 0;
	b->usual_hash = 0;
	b->turns = (struct byteset){0};
	memset(b->first_change, 0, b->nfa->classes.n * sizeof(*b->first_change));
	for (size_t i = 0; i < n && nodes[i] != SUBSET_START_MARK; i++)
		if (!load_node(b, nodes[i]))
			return false;
	return spend(b, b->n_changes / 4);
}

/* Sets the way of the state at hand over CLS. False: no memory. */
static bool find_way(struct builder *b, unsigned cls, uint32_t *ret_hash)
{
	struct arena *arena = b->options->arena;
	struct node_list *way = &b->way;
	uint64_t hash = b->usual_hash;
	bool ok = true;

	if (!node_list_reserve(arena, way, b->usual.n))
		return false;
	if (b->usual.n)
		memcpy(way->p, b->usual.p, b->usual.n * sizeof(*way->p));
	way->n = b->usual.n;
	for (uint32_t i = b->first_change[cls]; i && ok; i = b->changes[i - 1].next) {
		const struct change *change = &b->changes[i - 1];

		hash += hash_node(change->out);
		if (change->at == NEW) {
			ok = node_list_push(arena, way, change->out);
		} else {
			hash -= hash_node(way->p[change->at]);
			way->p[change->at] = change->out;
		}
	}
	*ret_hash = (uint32_t)(hash_node((uint32_t)(hash >> 32) ^ (uint32_t)hash) >> 32);
	return ok;
}

static void forget_ways(struct builder *b)
{
	arena_release(&b->ways_arena);
	b->ways = (struct intern){.arena = &b->ways_arena};
	b->way_targets = NULL;
	b->cap_way_targets = 0;
}

/* The state to which NODE by itself leads; 0: nothing does. */
static int64_t follow_single(struct builder *b, uint32_t node)
{
	uint32_t *known = node ? &b->target_single[node - b->first_node] : NULL;
	int64_t target;

	if (!spend(b, WORK_SINGLE))
		return INTERN_FAILED;
	if (!known)
		return SUBSET_DEAD;
	if (*known)
		return *known - 1;
	target = enter(b, &node, 1, false);
	*known = (uint32_t)(target + 1);
	return target;
}

/* Is the way over CLS, from a state with no usual way, at most the node *RET? */
static bool is_single(const struct builder *b, unsigned cls, uint32_t *ret)
{
	uint32_t first = b->first_change[cls];
	const struct change *change = first ? &b->changes[first - 1] : NULL;

	*ret = change ? change->out : 0;
	return b->usual.n == 0 && (!change || change->next == 0);
}

/*
 * The state to which CLS leads from the one at hand: states share most of their ways.
 * INTERN_FAILED: no memory, or too much work.
 */
static int64_t follow(struct builder *b, unsigned cls)
{
	size_t n_before;
	int64_t way, target;
	uint32_t *targets, hash, node;

	if (is_single(b, cls, &node))
		return follow_single(b, node);
	if (b->ways.n_words > WAYS_MAX)
		forget_ways(b);
	n_before = b->ways.n;
	if (!spend(b, WORK_WAY + b->usual.n / 16) || !find_way(b, cls, &hash))
		return INTERN_FAILED;
	way = intern_put_hashed(&b->ways, b->way.p, b->way.n, hash);
	if (way < 0 || b->ways.n == n_before)
		return way < 0 ? way : b->way_targets[way];
	targets = arena_grow(&b->ways_arena, b->way_targets, n_before, &b->cap_way_targets,
			     sizeof(*targets));
	if (!targets)
		return INTERN_FAILED;
	b->way_targets = targets;
	target = enter(b, b->way.p, b->way.n, false);
	targets[way] = (uint32_t)target;
	return target;
}

static bool is_too_large(const struct builder *b)
{
	return b->ret->sets.n + b->ret->tree.n_places > b->options->states;
}

/* Adds the row of sequence NUMBER of SETS to ROWS. False: no memory, or too large. */
static bool expand(struct builder *b, const struct intern *sets, uint32_t number,
		   struct row_table *rows)
{
	struct arena *arena = b->options->arena;
	unsigned n_classes = b->nfa->classes.n;
	int64_t usual, target;

	if (!load(b, sets, number))
		return false;
	usual = follow(b, CLASS_USUAL);
	if (usual < 0 || !row_table_add(rows, arena, (uint32_t)usual))
		return false;
	for (unsigned cls = byteset_next(&b->turns, 0); cls < n_classes;
	     cls = byteset_next(&b->turns, cls + 1)) {
		target = follow(b, cls);
		if (target < 0 || is_too_large(b))
			return false;
		if (target != usual &&
		    !row_table_turn(rows, arena, (struct turn){cls, (uint32_t)target}))
			return false;
	}
	return !is_too_large(b);
}

/* ---- Along texts ---- */

static struct open_atoms open_atoms(const struct builder *b, uint32_t open)
{
	struct open_atoms atoms;

	atoms.list = intern_get(&b->ret->tree.open, open, &atoms.n);
	return atoms;
}

/* The context of the nodes in way, and those of ENDS, where OPEN atoms are. INTERN_FAILED. */
static int64_t enter_context(struct builder *b, uint32_t open, uint32_t ends)
{
	struct arena *arena = b->options->arena;
	struct contexts *contexts = &b->ret->contexts;
	size_t n, n_before = contexts->sets.n;
	const uint32_t *nodes = intern_get(&b->ret->tree.ends, ends, &n);
	int64_t id, accept;
	uint32_t *grown;

	for (size_t i = 0; i < n; i++)
		if (!node_list_push(arena, &b->way, nodes[i]))
			return INTERN_FAILED;
	if (!settle(b, b->way.p, b->way.n, open_atoms(b, open)))
		return INTERN_FAILED;
	id = intern_put(&contexts->sets, b->target.p, b->target.n);
	if (id < 0 || contexts->sets.n == n_before)
		return id;
	grown = arena_grow(arena, contexts->accept, n_before, &contexts->cap_accept,
			   sizeof(*grown));
	if (!grown)
		return INTERN_FAILED;
	contexts->accept = grown;
	accept = intern_accept(b, &b->target);
	grown[id] = (uint32_t)accept;
	return accept < 0 ? INTERN_FAILED : id;
}

/* The context after CONTEXT and one more byte. INTERN_FAILED: as above. */
static int64_t step(struct builder *b, uint32_t context, unsigned cls, uint32_t open, uint32_t ends)
{
	const uint32_t key[] = {context, cls, open, ends};
	size_t n_before = b->steps.n;
	int64_t id = intern_put(&b->steps, key, sizeof(key) / sizeof(*key)), target;
	uint32_t *targets, hash;

	if (id < 0 || b->steps.n == n_before)
		return id < 0 ? id : b->step_targets[id];
	targets = arena_grow(b->options->arena, b->step_targets, n_before, &b->cap_step_targets,
			     sizeof(*targets));
	if (!targets || !load(b, &b->ret->contexts.sets, context) || !find_way(b, cls, &hash))
		return INTERN_FAILED;
	b->step_targets = targets;
	target = enter_context(b, open, ends);
	targets[id] = (uint32_t)target;
	return target;
}

/* Does CONTEXT lead nowhere? Then it is the same everywhere. */
static bool is_empty(const struct builder *b, uint32_t context)
{
	return b->ret->contexts.sets.list[context].n == 0;
}

/* Fills the places between NODE and its parent. */
static bool walk_places(struct builder *b, const struct tree_node *node)
{
	const struct tree *tree = &b->ret->tree;
	const struct tree_node *parent = &tree->nodes[node->parent];
	uint32_t *places = b->ret->contexts.places + node->first_place;
	size_t n = node->text.n - node->above;
	int64_t context =
		parent->text.n
			? b->ret->contexts
				  .places[parent->first_place + parent->text.n - parent->above - 1]
			: b->ret->contexts.start;

	if (!spend(b, WORK_SINGLE * n))
		return false;
	for (size_t i = 0; i < n && context >= 0; i++) {
		unsigned byte = (unsigned char)node->text.p[node->above + i];
		bool is_last = i + 1 == n;

		if (is_last)
			context = step(b, (uint32_t)context, b->nfa->classes.of[byte],
				       node->open_below, node->ends);
		else if (!is_empty(b, (uint32_t)context))
			context = step(b, (uint32_t)context, b->nfa->classes.of[byte], node->open,
				       b->nothing);
		places[i] = (uint32_t)context;
	}
	return context >= 0;
}

/* Builds the tree, and finds the context of each place. */
static bool walk_tree(struct builder *b)
{
	struct subsets *ret = b->ret;
	struct arena *arena = b->options->arena;
	int64_t start, nothing;

	if (!tree_build(b->nfa, arena, &ret->tree) || is_too_large(b))
		return false;
	ret->contexts.sets.arena = b->steps.arena = arena;
	ret->contexts.places = arena_array(arena, ret->tree.n_places, sizeof(uint32_t));
	nothing = intern_put(&ret->tree.ends, NULL, 0);
	b->way.n = 0;
	for (size_t i = 0; i < b->nfa->n_atoms; i++)
		if (!node_list_push(arena, &b->way, b->nfa->atoms[i].start))
			return false;
	start = enter_context(b, ret->tree.nodes[0].open_below, ret->tree.nodes[0].ends);
	if (!ret->contexts.places || nothing < 0 || start < 0)
		return false;
	b->nothing = (uint32_t)nothing;
	ret->contexts.start = (uint32_t)start;
	for (size_t i = 1; i < ret->tree.n; i++)
		if (!walk_places(b, &ret->tree.nodes[ret->tree.order[i]]))
			return false;
	for (uint32_t i = 0; i < ret->contexts.sets.n; i++)
		if (!expand(b, &ret->contexts.sets, i, &ret->contexts.rows))
			return false;
	return true;
}

/* ---- The whole ---- */

/* The start of ONLY, or of all atoms, of which none has texts. */
static bool put_start(struct builder *b, const struct nfa_atom *only)
{
	const struct nfa_atom *first = only ? only : b->nfa->atoms;
	size_t n = only ? 1 : b->nfa->n_atoms;

	b->way.n = 0;
	for (size_t i = 0; i < n; i++)
		if (!node_list_push(b->options->arena, &b->way, first[i].start))
			return false;
	return enter(b, b->way.p, b->way.n, true) == SUBSET_START;
}

/* Room for the nodes of ONLY, as it was made, or for all there are. */
static bool reserve_singles(struct builder *b, const struct nfa_atom *only, struct arena *arena)
{
	size_t n_nodes = only ? only->n_nodes : b->nfa->n_nodes;

	b->first_node = only ? only->accept : 0;
	b->state_single = arena_array(arena, n_nodes, sizeof(*b->state_single));
	b->target_single = arena_array(arena, n_nodes, sizeof(*b->target_single));
	return b->state_single && b->target_single;
}

/*
 * The automaton of ONLY, to whose nodes nothing was added since it was made, or (NULL) of all
 * atoms. False: no memory, or too large.
 */
static bool build(struct builder *b, const struct nfa_atom *only)
{
	struct arena *arena = b->options->arena;
	struct arena *sets = b->options->sets ? b->options->sets : arena;
	struct subsets *ret = b->ret;

	*ret = (struct subsets){.sets.arena = sets, .accepts.arena = arena};
	b->ways_arena.pool = arena->pool;
	forget_ways(b);
	b->holding = arena_array(arena, b->nfa->n_atoms, sizeof(*b->holding));
	b->atoms = arena_array(arena, b->nfa->n_atoms, sizeof(*b->atoms));
	if (!b->holding || !b->atoms || !reserve_singles(b, only, sets) || !nfa_classify(b->nfa) ||
	    enter(b, NULL, 0, false) != SUBSET_DEAD)
		return false;
	ret->classes = b->nfa->classes;
	if (!only && b->nfa->n_texts > 0 ? !walk_tree(b) : !put_start(b, only))
		return false;
	for (uint32_t state = 0; state < ret->sets.n; state++)
		if (!expand(b, &ret->sets, state, &ret->rows))
			return false;
	return true;
}

int subsets_build(struct nfa *nfa, const struct subset_options *options, struct subsets *ret,
		  struct err *e)
{
	struct builder b = {.nfa = nfa, .options = options, .ret = ret};
	bool ok = build(&b, NULL);

	arena_release(&b.ways_arena);
	return ok ? 0 : subsets_blame(nfa, ret, e);
}

bool subsets_build_one(struct nfa *nfa, size_t atom, const struct subset_options *options,
		       struct subsets *ret)
{
	struct builder b = {.nfa = nfa, .options = options, .ret = ret};
	bool ok = build(&b, &nfa->atoms[atom]);

	arena_release(&b.ways_arena);
	return ok;
}
