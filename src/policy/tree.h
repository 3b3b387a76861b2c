/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree: the texts of all atoms together. Whoever reads a path is at one place of the tree until
 * the path is the beginning of no text any more; so nothing about texts needs a set of nodes.
 *
 * Its nodes are the places where texts part or end, a place for each byte lies between.
 */
#ifndef POLICY_TREE_H
#define POLICY_TREE_H

#include "policy/intern.h"
#include "policy/nfa.h"

struct tree_node {
	struct str text;     /* up to here, from the root on */
	size_t above;        /* the length of the parent's */
	uint32_t parent;     /* the root's: itself */
	uint32_t first_kid;  /* 0: none */
	uint32_t sibling;    /* 0: none */
	uint32_t open;       /* in `open`: the atoms that have texts which end here or below */
	uint32_t open_below; /* the same without those that end here */
	uint32_t ends;       /* in `ends`: the nodes of the NFA where texts lead that end here */
	size_t first_place; /* places[first_place + i]: behind i + 1 bytes more than the parent's */
};

/* Node 0 is the root. A tree without nodes has no texts. */
struct tree {
	struct tree_node *nodes;
	size_t n, cap;
	uint32_t *order; /* parents before their kids */
	struct intern open, ends;
	size_t n_places;
	bool folds; /* texts are as str_fold() has them */
};

/*
 * Of the texts of NFA, which are sorted, and folded if they are to be. Lives in ARENA, while the
 * patterns do. False: no memory, or too much work.
 */
bool tree_build(struct nfa *nfa, struct arena *arena, struct tree *ret);

#endif
