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
#include "policy/row.h"

struct regex_tree;

enum node_kind {
	NODE_NONE,
	NODE_BYTES,  /* reads one byte of its set, goes on at `out` */
	NODE_ROW,    /* reads one byte, goes on where its row says */
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
		uint32_t row;   /* ROW: index into rows */
	};
	uint32_t atom;
};

/* Bytes that no pattern tells apart share a class; `/` and `.` always have their own. */
struct byte_classes {
	uint8_t of[BYTES];
	unsigned n;
};

enum {
	CLASS_USUAL, /* most patterns treat most classes as this one */
	CLASS_SLASH,
	CLASS_DOT,
};

/* A byte set, as a set of classes. */
struct set_classes {
	struct byteset has;
	struct byteset turns; /* the classes that it treats otherwise than CLASS_USUAL */
};

/* Patterns in union. */
struct nfa_atom {
	uint32_t start;         /* node 0: it never holds */
	uint32_t accept, match; /* its nodes of these kinds */
	uint32_t n_nodes;
	bool has_texts;
	bool has_regex;
};

/* A text of an atom that stands in no nodes: see tree.h. */
struct nfa_text {
	struct str bytes;
	uint32_t nodes[2]; /* where it leads; 0: no more */
	uint32_t atom;
	const struct test *pattern;
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

/* Nodes where something is decided (BYTES, ROW, MATCH, ACCEPT), each at most once. */
struct node_list {
	uint32_t *p;
	size_t n, cap;
};

/* Makes room for N nodes in all. False: no memory; what the list had is undefined now. */
static inline bool node_list_reserve(struct arena *arena, struct node_list *list, size_t n)
{
	if (n <= list->cap)
		return true;
	list->p = arena_array(arena, 2 * n, sizeof(*list->p));
	list->cap = list->p ? 2 * n : 0;
	return list->p;
}

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

/* A zeroed struct with `arena` and `work` set is empty. */
struct nfa {
	struct arena *arena;
	struct arena *temporary; /* for what dies at once; NULL: patterns are taken as they are */
	size_t *work;            /* what is left of it: struct policy_limits */
	struct node *nodes;
	size_t n_nodes, cap_nodes;
	struct node_part *parts;
	size_t n_parts, cap_parts;
	struct byteset *sets;
	size_t n_sets, cap_sets;
	uint32_t single[2][BYTES]; /* by ATOM_FOLD and byte: the set of that byte alone, plus one */
	struct nfa_atom *atoms;
	size_t n_atoms, cap_atoms;
	struct nfa_text *texts;
	size_t n_texts, cap_texts;
	size_t n_text_bytes;
	bool texts_fold; /* ASCII case does not count in any of them */

	/* What comes after the last atom. */
	struct byte_classes classes;             /* see nfa_classify() */
	struct set_classes *set_classes;         /* by byte set */
	struct row_table rows;                   /* of nodes: see nfa_determinize() */
	struct trie spelled, anchored, floating; /* of the atom under construction */

	/* By node, for n_known of them: what nfa_collect() knows and needs. */
	size_t n_known;
	uint32_t *closure; /* of SPLIT and END: index into closures, plus one; 0: not yet */
	uint32_t *seen, *seen_at_end; /* generation of the closure under way */
	uint32_t *listed;             /* generation of the list under way */
	struct node_list *closures;
	size_t n_closures, cap_closures;
	struct node_list stack;
	uint32_t closure_generation, list_generation;
	size_t looked; /* at entries of closures, for the list under way */
};

/* How an atom reads its patterns. */
enum atom_style {
	ATOM_FOLD = 1 << 0,    /* ASCII case does not count */
	ATOM_PRIVATE = 1 << 1, /* Linux paths: /tmp is also tried as /private/tmp, and so on */
	ATOM_OBJECT = 1 << 2,  /* Linux names of POSIX objects: slashes in front do not count */
};

/*
 * Adds the atom that is the union of TESTS (literal, prefix, subpath or regex; they outlive the
 * automaton). Its number is the count of atoms before. -ERR_POLICY (a pattern), -ERR_LIMIT.
 */
int nfa_add_atom(struct nfa *nfa, const struct test *const *tests, size_t n, unsigned style,
		 struct err *e);

/* NODE, at the end; 0: no memory. The atom of NODE is the caller's to say. */
uint32_t nfa_add_node(struct nfa *nfa, struct node node);

/* The number of SET among the sets, where it is put if need be; it fails as nfa_add_node() does. */
bool nfa_add_set(struct nfa *nfa, struct byteset set, uint32_t *ret);

/* The nodes to come are for PATTERN (NULL: for the whole atom). False: no memory. */
bool nfa_begin_part(struct nfa *nfa, const struct test *pattern);

/* Finds the classes of bytes, unless it has; no atom may come any more. False: no memory. */
bool nfa_classify(struct nfa *nfa);

/*
 * Puts in the place of each atom that has regular expressions its own minimal automaton, so that at
 * most one of its nodes is in any list; where that would be much larger, all stays as it is. No
 * atom may come any more. False: no memory.
 */
bool nfa_determinize(struct nfa *nfa);

/*
 * Adds to the atom TO of NFA, which is under construction, the minimal automaton of what the only
 * atom of FROM reads after its first byte. *RET is its start; 0: it would be much larger, and
 * nothing was added. False: no memory.
 */
bool nfa_graft(struct nfa *nfa, const struct nfa_atom *to, struct nfa *from, uint32_t *ret);

/* Empties LIST and makes it the one that nfa_collect() fills. */
void nfa_begin(struct nfa *nfa, struct node_list *list);

/* Adds every node that NODE leads to without reading. False: no memory. */
bool nfa_collect(struct nfa *nfa, struct node_list *list, uint32_t node);

/*
 * Puts LIST in ascending order. Quick where it consists of few ascending parts, as they do. Returns
 * what it took more than looking at each node.
 */
size_t nfa_sort(struct node_list *list);

/* -ERR_LIMIT, said of PATTERN (NULL: of the whole). */
int nfa_too_big(const struct test *pattern, struct err *e);

#endif
