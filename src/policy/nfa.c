/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes, and where they lead without reading. `$` is a node that leads on only
 * at the end of the input: behind it nothing can be read any more, so closures
 * keep just the atoms that hold there.
 */
#include "policy/nfa.h"

#include <stdlib.h>

#include "base/banned.h"

enum {
	NODES_MAX = 1 << 21,
	VISITS_PER_WORK = 2, /* of nodes, for a closure */
};

int nfa_too_big(const struct test *pattern, struct err *e)
{
	if (!pattern)
		return err_set(e, ERR_LIMIT, "the policy needs too large an automaton");
	return err_at(e, ERR_LIMIT, pattern->at,
		      "the pattern \"%.*s\" makes the automaton too large",
		      (int)(pattern->text.n < 120 ? pattern->text.n : 120), pattern->text.p);
}

/* ---- Nodes ---- */

uint32_t nfa_add_node(struct nfa *nfa, struct node node)
{
	struct node *nodes =
		arena_grow(nfa->arena, nfa->nodes, nfa->n_nodes, &nfa->cap_nodes, sizeof(*nodes));

	if (!nodes || nfa->n_nodes >= NODES_MAX)
		return 0;
	nfa->nodes = nodes;
	nodes[nfa->n_nodes] = node;
	return (uint32_t)nfa->n_nodes++;
}

bool nfa_begin_part(struct nfa *nfa, const struct test *pattern)
{
	struct node_part *parts =
		arena_grow(nfa->arena, nfa->parts, nfa->n_parts, &nfa->cap_parts, sizeof(*parts));

	if (!parts)
		return false;
	nfa->parts = parts;
	parts[nfa->n_parts++] = (struct node_part){nfa->n_nodes, pattern};
	return true;
}

bool nfa_add_set(struct nfa *nfa, struct byteset set, uint32_t *ret)
{
	struct byteset *sets;

	for (*ret = (uint32_t)nfa->n_sets; (*ret)-- > 0;)
		if (memcmp(&nfa->sets[*ret], &set, sizeof(set)) == 0)
			return true;
	sets = arena_grow(nfa->arena, nfa->sets, nfa->n_sets, &nfa->cap_sets, sizeof(*sets));
	if (!sets)
		return false;
	nfa->sets = sets;
	sets[nfa->n_sets] = set;
	*ret = (uint32_t)nfa->n_sets++;
	return true;
}

/* ---- Closures ---- */

/* Makes the arrays by node as long as the nodes. */
static bool know_nodes(struct nfa *nfa)
{
	size_t n = nfa->cap_nodes;
	uint32_t *closure;

	if (nfa->n_nodes <= nfa->n_known)
		return true;
	closure = arena_array(nfa->arena, n, sizeof(*closure));
	nfa->seen = arena_array(nfa->arena, n, sizeof(*nfa->seen));
	nfa->seen_at_end = arena_array(nfa->arena, n, sizeof(*nfa->seen_at_end));
	nfa->listed = arena_array(nfa->arena, n, sizeof(*nfa->listed));
	if (!closure || !nfa->seen || !nfa->seen_at_end || !nfa->listed)
		return false;
	if (nfa->n_known)
		memcpy(closure, nfa->closure, nfa->n_known * sizeof(*closure));
	nfa->closure = closure;
	nfa->n_known = n;
	return true;
}

static int compare_nodes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

enum {
	SORT_WORK = 4 /* of qsort(), for each node */
};

/* Insertion, given up for qsort() if it costs too much. */
size_t nfa_sort(struct node_list *list)
{
	uint32_t *p = list->p;
	size_t moved = 0;

	for (size_t i = 1; i < list->n; i++) {
		uint32_t node = p[i];
		size_t j = i;

		for (; j > 0 && p[j - 1] > node; j--)
			p[j] = p[j - 1];
		p[j] = node;
		moved += i - j;
		if (moved > 16 * list->n) {
			qsort(p, list->n, sizeof(*p), compare_nodes);
			return SORT_WORK * list->n;
		}
	}
	return moved / 16;
}

/* A visit on the stack: the node, and in the lowest bit whether the input must end. */
static bool visit(struct nfa *nfa, uint32_t node, bool at_end)
{
	uint32_t *seen = at_end ? nfa->seen_at_end : nfa->seen;

	if (!node || seen[node] == nfa->closure_generation)
		return true;
	seen[node] = nfa->closure_generation;
	return node_list_push(nfa->arena, &nfa->stack, node << 1 | at_end);
}

/* Goes on from a visit, or adds its node to LIST. */
static bool visit_next(struct nfa *nfa, uint32_t top, struct node_list *list)
{
	const struct node *node = &nfa->nodes[top >> 1];
	bool at_end = top & 1;

	switch (node->kind) {
	case NODE_SPLIT:
		return visit(nfa, node->out, at_end) && visit(nfa, node->other, at_end);
	case NODE_END:
		return visit(nfa, node->out, true);
	case NODE_MATCH:
		if (at_end)
			return visit(nfa, node->out, false);
		break;
	case NODE_BYTES:
		if (at_end)
			return true;
		break;
	default:
		break;
	}
	return node_list_push(nfa->arena, list, top >> 1);
}

static bool compute_closure(struct nfa *nfa, uint32_t start, struct node_list *ret)
{
	size_t visits = 0;

	nfa->closure_generation++;
	nfa->stack.n = 0;
	if (!visit(nfa, start, false))
		return false;
	for (; nfa->stack.n > 0 && VISITS_PER_WORK * *nfa->work > visits; visits++)
		if (!visit_next(nfa, nfa->stack.p[--nfa->stack.n], ret))
			return false;
	if (nfa->stack.n > 0)
		return false;
	visits += nfa_sort(ret);
	if (visits / VISITS_PER_WORK >= *nfa->work)
		return false;
	*nfa->work -= visits / VISITS_PER_WORK;
	return true;
}

/* The closure of NODE, valid until the next is asked for. NULL: no memory. */
static const struct node_list *find_closure(struct nfa *nfa, uint32_t node)
{
	struct node_list *closures;

	if (nfa->closure[node])
		return &nfa->closures[nfa->closure[node] - 1];
	closures = arena_grow(nfa->arena, nfa->closures, nfa->n_closures, &nfa->cap_closures,
			      sizeof(*closures));
	if (!closures)
		return NULL;
	nfa->closures = closures;
	closures[nfa->n_closures] = (struct node_list){0};
	if (!compute_closure(nfa, node, &closures[nfa->n_closures]))
		return NULL;
	nfa->closure[node] = (uint32_t)++nfa->n_closures;
	return &closures[nfa->n_closures - 1];
}

void nfa_begin(struct nfa *nfa, struct node_list *list)
{
	list->n = 0;
	nfa->list_generation++;
	nfa->looked = 0;
}

/* Adds NODE itself, once. */
static bool collect_one(struct nfa *nfa, struct node_list *list, uint32_t node)
{
	if (nfa->listed[node] == nfa->list_generation)
		return true;
	nfa->listed[node] = nfa->list_generation;
	return node_list_push(nfa->arena, list, node);
}

bool nfa_collect(struct nfa *nfa, struct node_list *list, uint32_t node)
{
	enum node_kind kind = nfa->nodes[node].kind;
	const struct node_list *closure;
	bool ok = true;

	if (nfa->n_nodes > nfa->n_known && !know_nodes(nfa))
		return false;
	if (kind == NODE_NONE)
		return true;
	if (kind != NODE_SPLIT && kind != NODE_END)
		return collect_one(nfa, list, node);
	closure = find_closure(nfa, node);
	if (!closure)
		return false;
	nfa->looked += closure->n;
	for (size_t i = 0; i < closure->n && ok; i++)
		ok = collect_one(nfa, list, closure->p[i]);
	return ok;
}
