/* SPDX-License-Identifier: Apache-2.0 */
/* In the order of texts: what lies between two that stand side by side is known from these. */
#include "policy/tree.h"

#include <stdlib.h>

#include "base/banned.h"

struct builder {
	struct nfa *nfa;
	struct arena *arena;
	struct tree *ret;
	uint32_t *trail; /* nodes on the way to the last text, from the root on */
	size_t n_trail, cap_trail;
	size_t *first_text, *end_text; /* by node: those that end there */
	size_t cap_first_text, cap_end_text;
	struct node_list list;
	uint32_t *seen; /* by atom: the round */
	uint32_t round;
};

static int compare_texts(const void *a, const void *b)
{
	const struct nfa_text *x = a, *y = b;
	size_t n = x->bytes.n < y->bytes.n ? x->bytes.n : y->bytes.n;
	int order = n ? memcmp(x->bytes.p, y->bytes.p, n) : 0;

	if (order == 0)
		order = (x->bytes.n > y->bytes.n) - (x->bytes.n < y->bytes.n);
	return order ? order : (x->atom > y->atom) - (x->atom < y->atom);
}

static bool spend(struct builder *b, size_t n)
{
	size_t *left = b->nfa->work;

	if (*left <= n)
		return false;
	*left -= n;
	return true;
}

/* ---- Nodes ---- */

static struct tree_node *top(const struct builder *b)
{
	return &b->ret->nodes[b->trail[b->n_trail - 1]];
}

/* Goes on to a new node at the end of TEXT. */
static bool push(struct builder *b, struct str text)
{
	struct tree *tree = b->ret;
	struct tree_node *nodes =
		arena_grow(b->arena, tree->nodes, tree->n, &tree->cap, sizeof(*nodes));
	uint32_t *trail = arena_grow(b->arena, b->trail, b->n_trail, &b->cap_trail, sizeof(*trail));
	size_t *first =
		arena_grow(b->arena, b->first_text, tree->n, &b->cap_first_text, sizeof(*first));
	size_t *end = arena_grow(b->arena, b->end_text, tree->n, &b->cap_end_text, sizeof(*end));

	if (!nodes || !trail || !first || !end || tree->n >= UINT32_MAX)
		return false;
	tree->nodes = nodes;
	b->trail = trail;
	b->first_text = first;
	b->end_text = end;
	nodes[tree->n] = (struct tree_node){.text = text};
	first[tree->n] = end[tree->n] = 0;
	trail[b->n_trail++] = (uint32_t)tree->n++;
	return true;
}

static bool add_atoms(struct builder *b, const uint32_t *atoms, size_t n)
{
	bool ok = spend(b, n);

	for (size_t i = 0; i < n && ok; i++) {
		if (b->seen[atoms[i]] == b->round)
			continue;
		b->seen[atoms[i]] = b->round;
		ok = node_list_push(b->arena, &b->list, atoms[i]);
	}
	return ok;
}

/* The number of the list in INTERN. */
static bool put_list(struct builder *b, struct intern *intern, uint32_t *ret)
{
	int64_t id = spend(b, nfa_sort(&b->list)) ? intern_put(intern, b->list.p, b->list.n)
						  : INTERN_FAILED;

	*ret = (uint32_t)id;
	return id >= 0;
}

/* Finds what is open at NODE, whose kids are known. */
static bool find_open(struct builder *b, uint32_t at)
{
	struct tree *tree = b->ret;
	struct tree_node *node = &tree->nodes[at];
	bool ok = true;

	b->list.n = 0;
	b->round++;
	for (uint32_t kid = node->first_kid; kid && ok; kid = tree->nodes[kid].sibling) {
		size_t n;
		const uint32_t *atoms = intern_get(&tree->open, tree->nodes[kid].open, &n);

		ok = add_atoms(b, atoms, n);
	}
	if (!ok || !put_list(b, &tree->open, &node->open_below))
		return false;
	for (size_t i = b->first_text[at]; i < b->end_text[at] && ok; i++)
		ok = add_atoms(b, &b->nfa->texts[i].atom, 1);
	return ok && put_list(b, &tree->open, &node->open);
}

static bool find_ends(struct builder *b, uint32_t at)
{
	const struct nfa_text *texts = b->nfa->texts;
	uint32_t last = 0;
	size_t kept = 0;
	bool ok = true;

	b->list.n = 0;
	for (size_t i = b->first_text[at]; i < b->end_text[at]; i++)
		for (size_t j = 0; j < 2 && ok; j++)
			if (texts[i].nodes[j])
				ok = node_list_push(b->arena, &b->list, texts[i].nodes[j]);
	if (!ok || !spend(b, nfa_sort(&b->list)))
		return false;
	for (size_t i = 0; i < b->list.n; i++)
		if (b->list.p[i] != last)
			last = b->list.p[kept++] = b->list.p[i];
	b->list.n = kept;
	return put_list(b, &b->ret->ends, &b->ret->nodes[at].ends);
}

/* Takes the last node off the trail. */
static bool pop(struct builder *b)
{
	uint32_t at = b->trail[--b->n_trail];

	return find_open(b, at) && find_ends(b, at);
}

static void attach(struct builder *b, uint32_t kid)
{
	struct tree *tree = b->ret;
	uint32_t parent = b->trail[b->n_trail - 1];

	tree->nodes[kid].parent = parent;
	tree->nodes[kid].above = tree->nodes[parent].text.n;
	tree->nodes[kid].sibling = tree->nodes[parent].first_kid;
	tree->nodes[parent].first_kid = kid;
}

/* Goes back to where TEXT has only N bytes; a node is made there. */
static bool go_back(struct builder *b, struct str text, size_t n)
{
	while (top(b)->text.n > n) {
		uint32_t kid = b->trail[b->n_trail - 1];

		if (!pop(b))
			return false;
		if (top(b)->text.n < n && !push(b, (struct str){text.p, n}))
			return false;
		attach(b, kid);
	}
	return true;
}

static bool add_text(struct builder *b, size_t i)
{
	const struct nfa_text *texts = b->nfa->texts;
	struct str text = texts[i].bytes, last = i > 0 ? texts[i - 1].bytes : (struct str){0};
	size_t common = 0;
	uint32_t at;

	while (common < text.n && common < last.n && text.p[common] == last.p[common])
		common++;
	if (!spend(b, (text.n - common) / 2 + 1) || !go_back(b, text, common) ||
	    (text.n > common && !push(b, text)))
		return false;
	at = b->trail[b->n_trail - 1];
	if (b->end_text[at] == 0)
		b->first_text[at] = i;
	b->end_text[at] = i + 1;
	return true;
}

/* ---- The whole ---- */

/* The next node behind AT, kids first; 0: it was the last. */
static uint32_t next_node(const struct tree *tree, uint32_t at)
{
	if (tree->nodes[at].first_kid)
		return tree->nodes[at].first_kid;
	while (at && !tree->nodes[at].sibling)
		at = tree->nodes[at].parent;
	return tree->nodes[at].sibling;
}

/* Fills order, and gives each node its places. */
static bool find_order(struct tree *tree, struct arena *arena)
{
	uint32_t at = 0;

	tree->order = arena_array(arena, tree->n, sizeof(*tree->order));
	if (!tree->order)
		return false;
	for (size_t i = 0; i < tree->n; i++) {
		struct tree_node *node = &tree->nodes[at];

		tree->order[i] = at;
		node->first_place = tree->n_places;
		tree->n_places += node->text.n - node->above;
		at = next_node(tree, at);
	}
	return true;
}

/* Makes the texts what str_fold() makes of them. They are needed as long as the tree. */
static bool fold_texts(struct nfa *nfa, struct arena *arena)
{
	for (size_t i = 0; i < nfa->n_texts; i++) {
		struct str *bytes = &nfa->texts[i].bytes;

		bytes->p = arena_fold(arena, *bytes);
		if (!bytes->p)
			return false;
	}
	return true;
}

bool tree_build(struct nfa *nfa, struct arena *arena, struct tree *ret)
{
	struct builder b = {.nfa = nfa, .arena = arena, .ret = ret};
	bool ok;

	*ret = (struct tree){.open.arena = arena, .ends.arena = arena, .folds = nfa->texts_fold};
	if (nfa->n_texts == 0)
		return true;
	if (nfa->texts_fold && !fold_texts(nfa, arena))
		return false;
	if (nfa->n_texts > 1)
		qsort(nfa->texts, nfa->n_texts, sizeof(*nfa->texts), compare_texts);
	b.seen = arena_array(arena, nfa->n_atoms, sizeof(*b.seen));
	ok = b.seen && push(&b, (struct str){0});
	for (size_t i = 0; i < nfa->n_texts && ok; i++)
		ok = add_text(&b, i);
	return ok && go_back(&b, (struct str){0}, 0) && pop(&b) && find_order(ret, arena);
}
