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
#include "policy/tree.h"

/* ---- Subset construction: scratch ---- */

/* Atoms that may still come to hold, whatever the list at hand says. */
struct open_atoms {
	const uint32_t *list;
	size_t n;
};

/*
 * Takes nodes off LIST that no longer matter while OPEN atoms are. It may rely on equal lists being
 * pruned equally.
 */
typedef void subset_prune(void *context, const struct nfa *nfa, struct node_list *list,
			  struct open_atoms open);

struct subset_options {
	struct arena *arena; /* for the result and on the way */
	struct arena *sets;  /* for `sets` of the result; NULL: arena */
	unsigned states;     /* limit */
	subset_prune *prune;
	void *context;
};

/*
 * What is known at the places of the tree, besides the texts that may go on there: a set of nodes,
 * and where bytes lead from it that no text goes on with.
 */
struct contexts {
	struct intern sets;
	struct row_table rows; /* by context: to states */
	uint32_t *accept;      /* by context: index into accepts */
	size_t cap_accept;
	uint32_t start;   /* the root's */
	uint32_t *places; /* by place of the tree: its context */
};

/*
 * State 0 is dead: nothing holds, ever. State 1 is the start, unless there are texts: then it is
 * the root of their tree. Before the first byte nothing holds, whatever the patterns say of the
 * empty string.
 */
struct subsets {
	struct tree tree;
	struct contexts contexts;
	struct intern sets; /* by state: the nodes */
	struct byte_classes classes;
	struct row_table rows; /* by state */
	uint32_t *accept;      /* by state: index into accepts */
	size_t cap_accept;
	struct intern accepts; /* the atoms that hold, ascending; 0: none */
};

enum {
	SUBSET_DEAD,
	SUBSET_START,
};

/* -ERR_LIMIT names the pattern at fault. */
int subsets_build(struct nfa *nfa, const struct subset_options *options, struct subsets *ret,
		  struct err *e);

/* The same of ATOM alone. False: too many states, or no memory. */
bool subsets_build_one(struct nfa *nfa, size_t atom, const struct subset_options *options,
		       struct subsets *ret);

/* ---- Equal states ---- */

/* The blocks of equal states, in any order, without the tree; some may be out of reach. */
struct quotient {
	const struct subsets *subsets;
	const uint32_t *labels; /* by accept set */
	uint32_t n;
	uint32_t *block; /* by state: its block */
	uint32_t *state; /* by block: one of its states */
};

/* The row of one of the states of BLOCK. */
static inline const struct row *quotient_row(const struct quotient *quotient, uint32_t block)
{
	return &quotient->subsets->rows.rows[quotient->state[block]];
}

static inline const struct turn *quotient_turns(const struct quotient *quotient,
						const struct row *row)
{
	return row_turns(&quotient->subsets->rows, row);
}

/* LABELS gives the label of each accept set. RET lives in SCRATCH. False: no memory. */
bool quotient_build(const struct subsets *subsets, const uint32_t *labels, struct arena *scratch,
		    struct quotient *ret);

/* ---- The automaton ---- */

/* A turn of a state: over the class that leads from the state's base to this slot. */
struct slot {
	uint32_t state; /* whose it is; UINT32_MAX: nobody's */
	uint32_t target;
	uint32_t base; /* of the target: so a walk need not wait for one more load */
};

/* For speed only: what can be said of a state without a look at its slots. */
enum hint {
	HINT_NONE,
	HINT_FINAL, /* every byte leads back */
	HINT_SLASH, /* every byte but `/` leads back */
	HINT_SPINE, /* and above: a spine of hint - HINT_SPINE bytes begins here */
};

struct dfa_state {
	uint32_t usual; /* where classes without a turn lead */
	uint32_t base;
	uint32_t label;
	uint16_t hint;
	uint8_t first,
		last; /* the classes of its turns are among those; first > last: it has none */
};

/* Read-only after dfa_minimize(). */
struct dfa {
	uint32_t n_states;
	uint32_t start;
	struct byte_classes classes;
	const struct dfa_state *states;
	const struct slot *slots;
	size_t n_slots;
	/* By state: in a spine, the byte that leads to the next state. A WORD more may be read. */
	const uint8_t *spine;
};

/*
 * As quotient_build(), and makes an automaton of what is in reach of the start. It lives in ARENA;
 * SCRATCH is used on the way. -ERR_LIMIT: no memory.
 */
int dfa_minimize(const struct subsets *subsets, const uint32_t *labels, struct arena *arena,
		 struct arena *scratch, struct dfa *ret, struct err *e);

/* The state after BYTES, from FROM on. */
uint32_t dfa_walk(const struct dfa *dfa, uint32_t from, struct str bytes);

/* Bytes of its tables. */
size_t dfa_size(const struct dfa *dfa);

static inline uint32_t dfa_next(const struct dfa *dfa, uint32_t state, unsigned cls)
{
	const struct dfa_state *from = &dfa->states[state];
	const struct slot *slot = &dfa->slots[from->base + cls];

	return slot->state == state ? slot->target : from->usual;
}

/* The first class from CLS on over which STATE has a turn; BYTES: there is none. */
static inline unsigned dfa_next_turn(const struct dfa *dfa, uint32_t state, unsigned cls)
{
	const struct dfa_state *from = &dfa->states[state];

	for (cls = cls > from->first ? cls : from->first; cls <= from->last; cls++)
		if (dfa->slots[from->base + cls].state == state)
			return cls;
	return BYTES;
}

/* The label of the state where TEXT ends. */
static inline uint32_t dfa_label(const struct dfa *dfa, struct str text)
{
	return dfa->states[dfa_walk(dfa, dfa->start, text)].label;
}

/* The label of STATE. */
static inline uint32_t dfa_label_at(const struct dfa *dfa, uint32_t state)
{
	return dfa->states[state].label;
}

#endif
