/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nfa: patterns to one nondeterministic automaton over bytes.
 *
 * An atom is a union of patterns that nothing ever needs to tell apart; the automaton says which
 * atoms hold for the bytes read. Everything lives in the caller's arena and dies with it.
 */
#ifndef POLICY_NFA_H
#define POLICY_NFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/byteset.h"
#include "policy/policy.h"

struct regex_tree;

enum node_kind {
	NODE_NONE,
	NODE_BYTES,  /* reads one byte of its set, goes on at `out` */
	NODE_SPLIT,  /* goes on at `out` and at `other` */
	NODE_END,    /* goes on at `out` if the input ends here */
	NODE_MATCH,  /* the atom holds, whatever follows; `out` is its NODE_ACCEPT */
	NODE_ACCEPT, /* the atom holds if the input ends here */
};

struct node {
	enum node_kind kind;
	uint32_t out; /* node 0 is none */
	union {
		uint32_t other; /* SPLIT */
		uint32_t set;   /* BYTES: index into sets */
	};
	uint32_t atom;
};

/* Nodes from FIRST on, up to those of the next part, were made for PATTERN. */
struct node_part {
	size_t first;
	const struct test *pattern; /* NULL: for the whole atom */
};

/*
 * Sequences of bytes, or of pieces of regular expressions. Those that begin alike share nodes where
 * one was added right after the other.
 */
struct trie {
	uint32_t start;  /* node 0: nothing was added */
	uint32_t *trail; /* of what was added last, by place: the node whose `out` is the next place
			  */
	size_t cap_trail;
	struct str last_text;
	const struct regex_tree *const *last_pieces;
	size_t n_last_pieces;
};

/* Nodes where something is decided (BYTES, MATCH, ACCEPT), each at most once. */
struct node_list {
	uint32_t *p;
	size_t n, cap;
};

/* False: no memory. */
static inline bool node_list_push(struct arena *arena, struct node_list *list, uint32_t node)
{
	if (list->n == list->cap) {
		uint32_t *p = arena_grow(arena, list->p, list->n, &list->cap, sizeof(*p));

		if (!p)
			return false;
		list->p = p;
	}
	list->p[list->n++] = node;
	return true;
}

/* A zeroed struct with `arena` set is empty. */
struct nfa {
	struct arena *arena;
	struct node *nodes;
	size_t n_nodes, cap_nodes;
	struct node_part *parts;
	size_t n_parts, cap_parts;
	struct byteset *sets;
	size_t n_sets, cap_sets;
	uint32_t single[2][BYTES]; /* by ATOM_FOLD and byte: the set of that byte alone, plus one */
	uint32_t *starts;          /* one node per atom */
	size_t n_atoms, cap_atoms;
	struct trie texts, anchored, floating; /* of the atom under construction */

	/* By node, for n_known of them: what nfa_collect() knows and needs. */
	size_t n_known;
	uint32_t *closure; /* of SPLIT and END: index into closures, plus one; 0: not yet */
	uint32_t *seen, *seen_at_end; /* generation of the closure under way */
	uint32_t *listed;             /* generation of the list under way */
	struct node_list *closures;
	size_t n_closures, cap_closures;
	struct node_list stack;
	uint32_t closure_generation, list_generation;
};

/* How an atom reads its patterns. */
enum atom_style {
	ATOM_FOLD = 1 << 0,    /* ASCII case does not count */
	ATOM_PRIVATE = 1 << 1, /* Linux paths: /tmp is also tried as /private/tmp, and so on */
};

/*
 * Adds the atom that is the union of TESTS (literal, prefix, subpath or regex; they outlive the
 * automaton). Its number is the count of atoms before. -ERR_POLICY (a pattern), -ERR_LIMIT.
 */
int nfa_add_atom(struct nfa *nfa, const struct test *const *tests, size_t n, unsigned style,
		 struct err *e);

/* Empties LIST and makes it the one that nfa_collect() fills. */
void nfa_begin(struct nfa *nfa, struct node_list *list);

/* Adds every node that NODE leads to without reading. False: no memory. */
bool nfa_collect(struct nfa *nfa, struct node_list *list, uint32_t node);

/* Puts LIST in ascending order. Quick where it consists of few ascending parts, as they do. */
void nfa_sort(struct node_list *list);

/* -ERR_LIMIT, said of PATTERN (NULL: of the whole). */
int nfa_too_big(const struct test *pattern, struct err *e);

#endif
