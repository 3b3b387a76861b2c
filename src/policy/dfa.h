/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dfa: the deterministic automaton, in two steps. subsets_build() runs the NFA
 * on every input at once and says, per state, which atoms hold. The caller
 * turns sets of atoms into labels (whatever it wants to know at the end of the
 * input), and dfa_minimize() makes the smallest automaton that gives the same
 * labels: two states of it are equal, or some input tells them apart.
 */
#ifndef POLICY_DFA_H
#define POLICY_DFA_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/byteset.h"
#include "policy/intern.h"
#include "policy/nfa.h"

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

/* ---- Subset construction: scratch ---- */

/* Takes nodes off LIST that no longer matter. It may rely on equal lists being pruned equally. */
typedef void subset_prune(void *context, const struct nfa *nfa, struct node_list *list);

/* A class that leads elsewhere than the usual one. */
struct turn {
	uint32_t cls;
	uint32_t target;
};

/* Where a state leads. */
struct subset_row {
	uint32_t usual; /* over CLASS_USUAL and every class without a turn */
	uint32_t n;
	size_t first; /* its turns: turns[first .. first + n), by class */
};

struct subset_options {
	struct arena *arena; /* for the result and on the way */
	unsigned states;     /* limit */
	subset_prune *prune;
	void *context;
};

/*
 * State 0 is dead: nothing holds, ever. State 1 is the start; before the first byte nothing holds
 * there, whatever the patterns say of the empty string.
 */
struct subsets {
	struct intern sets; /* by state: the nodes */
	struct byte_classes classes;
	struct subset_row *rows; /* by state */
	size_t n_rows, cap_rows;
	struct turn *turns;
	size_t n_turns, cap_turns;
	uint32_t *accept; /* by state: index into accepts */
	size_t cap_accept;
	struct intern accepts; /* the atoms that hold, ascending */
};

enum {
	SUBSET_DEAD,
	SUBSET_START,
};

/* -ERR_LIMIT names the pattern at fault. */
int subsets_build(struct nfa *nfa, const struct subset_options *options, struct subsets *ret,
		  struct err *e);

/* ---- The automaton ---- */

/* Read-only after dfa_minimize(). */
struct dfa {
	uint32_t n_states;
	uint32_t start;
	struct byte_classes classes;
	const uint32_t *next;  /* [state * classes.n + class] */
	const uint32_t *label; /* by state */

	/* For speed only: see dfa_walk(). */
	const uint8_t *hint;
	const uint8_t *spine;
};

/*
 * LABELS gives the label of each accept set. The automaton lives in ARENA; SCRATCH is used on the
 * way. -ERR_LIMIT: no memory.
 */
int dfa_minimize(const struct subsets *subsets, const uint32_t *labels, struct arena *arena,
		 struct arena *scratch, struct dfa *ret, struct err *e);

/* The state after BYTES, from FROM on. */
uint32_t dfa_walk(const struct dfa *dfa, uint32_t from, struct str bytes);

static inline uint32_t dfa_next(const struct dfa *dfa, uint32_t state, unsigned cls)
{
	return dfa->next[(size_t)state * dfa->classes.n + cls];
}

#endif
