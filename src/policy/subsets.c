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

	/* Along a text most sets are one node: by node, from the first on, the state plus one. */
	uint32_t first_node;
	uint32_t *state_single, *target_single;

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

/* The state in which N nodes put the automaton. INTERN_FAILED: no memory, or too much work. */
static int64_t enter(struct builder *b, const uint32_t *nodes, size_t n, bool is_start)
{
	struct node_list *list = &b->target;

	if (!spend(b, WORK_STATE + n))
		return INTERN_FAILED;
	nfa_begin(b->nfa, list);
	for (size_t i = 0; i < n; i++)
		if (nodes[i] && !nfa_collect(b->nfa, list, nodes[i]))
			return INTERN_FAILED;
	if (!spend(b, (list->n > n ? list->n - n : 0) + b->nfa->looked / LOOKS_PER_WORK))
		return INTERN_FAILED;
	drop_settled(b, list);
	if (b->options->prune)
		b->options->prune(b->options->context, b->nfa, list);
	if (!spend(b, nfa_sort(list)))
		return INTERN_FAILED;
	if (is_start && !node_list_push(b->options->arena, list, START_MARK))
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

/* Notes where the nodes of STATE lead. */
static bool load_state(struct builder *b, uint32_t state)
{
	size_t n;
	const uint32_t *nodes = intern_get(&b->ret->sets, state, &n);

	b->usual.n = b->n_changes = 0;
	b->usual_hash = 0;
	b->turns = (struct byteset){0};
	memset(b->first_change, 0, b->nfa->classes.n * sizeof(*b->first_change));
	for (size_t i = 0; i < n && nodes[i] != START_MARK; i++)
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

/* Finds out where STATE, the first without a row, leads. False: no memory, or too large. */
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

/* How often nodes of the part occur in states; 0 of what stands for no pattern, or was not known
 * yet. */
static size_t count_uses(const struct nfa *nfa, const uint32_t *uses, size_t part)
{
	size_t end = part + 1 < nfa->n_parts ? nfa->parts[part + 1].first : nfa->n_nodes;
	size_t sum = 0;

	if (!nfa->parts[part].pattern)
		return 0;
	for (size_t node = nfa->parts[part].first; node < end && node < nfa->n_known; node++)
		sum += uses[node];
	return sum;
}

/* How often each node occurs in the states. NULL: nothing was built. */
static const uint32_t *find_uses(const struct builder *b)
{
	const struct intern *sets = &b->ret->sets;
	uint32_t *uses = b->nfa->seen; /* not needed any more */

	if (!uses)
		return NULL;
	memset(uses, 0, b->nfa->n_known * sizeof(*uses));
	for (uint32_t state = 0; state < sets->n; state++) {
		size_t n;
		const uint32_t *nodes = intern_get(sets, state, &n);

		for (size_t i = 0; i < n && nodes[i] != START_MARK; i++)
			uses[nodes[i]]++;
	}
	return uses;
}

/* WORST takes up most room, OTHER and N - 1 more nearly as much. */
static void hint_at_others(const struct test *worst, const struct test *other, size_t n,
			   struct err *e)
{
	struct str text = other->text;
	bool is_regex = worst->match == MATCH_REGEX;

	(void)err_hint(e, "so %s \"%.*s\" (line %u)%s%s", n > 1 ? "do" : "does",
		       (int)(text.n < 80 ? text.n : 80), text.p, other->at.line,
		       n > 1 ? " and others" : "",
		       is_regex ? "; begin them with ^, or let rules of one effect stand together"
				: "");
}

/* Says which pattern takes up most room in the states, and which others take nearly as much. */
static int blame(const struct builder *b, struct err *e)
{
	const struct node_part *parts = b->nfa->parts;
	const uint32_t *uses = find_uses(b);
	const struct test *pattern;
	size_t most = 0, worst = 0, n_others = 0, other = 0;
	int r;

	for (size_t i = 0; uses && i < b->nfa->n_parts; i++) {
		size_t n = count_uses(b->nfa, uses, i);

		worst = n > most ? i : worst;
		most = n > most ? n : most;
	}
	for (size_t i = 0; most > 0 && i < b->nfa->n_parts; i++) {
		if (!parts[i].pattern || parts[i].pattern == parts[worst].pattern ||
		    count_uses(b->nfa, uses, i) < most / 2)
			continue;
		n_others++;
		other = i;
	}
	pattern = most > 0 ? parts[worst].pattern : NULL;
	r = nfa_too_big(pattern, e);
	if (pattern && n_others > 0)
		hint_at_others(pattern, parts[other].pattern, n_others, e);
	return r;
}

/* The dead state, and the start of ONLY, or of all atoms. */
static bool put_first_states(struct builder *b, const struct nfa_atom *only)
{
	const struct nfa_atom *first = only ? only : b->nfa->atoms;
	size_t n = only ? 1 : b->nfa->n_atoms;

	b->way.n = 0;
	for (size_t i = 0; i < n; i++)
		if (!node_list_push(b->options->arena, &b->way, first[i].start))
			return false;
	return enter(b, NULL, 0, false) == SUBSET_DEAD &&
	       enter(b, b->way.p, b->way.n, true) == SUBSET_START;
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
	    !put_first_states(b, only))
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
	bool ok = build(&b, NULL);

	arena_release(&b.ways_arena);
	return ok ? 0 : blame(&b, e);
}

bool subsets_build_one(struct nfa *nfa, size_t atom, const struct subset_options *options,
		       struct subsets *ret)
{
	struct builder b = {.nfa = nfa, .options = options, .ret = ret};
	bool ok = build(&b, &nfa->atoms[atom]);

	arena_release(&b.ways_arena);
	return ok;
}
