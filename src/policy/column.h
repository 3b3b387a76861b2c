/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column: the order in which rules are asked, resolved once per operation:
 * filtered rules last to first, then the operation's own default, else its
 * parent's, and the runtime's rules in front of a default that denies. Tests of
 * what the operation does not have (op_takes()) do not hold. What is left of a
 * column in one state of the automaton is a chain.
 */
#ifndef POLICY_COLUMN_H
#define POLICY_COLUMN_H

#include "policy/block.h"
#include "policy/condition.h"
#include "policy/guard.h"
#include "policy/impl.h"
#include "policy/nfa.h"
#include "policy/policy.h"

/* "If WHEN holds, this is the decision." */
struct step {
	condition when;
	struct decision decision;
};

struct column {
	struct step *steps; /* the last one's condition is CONDITION_TRUE */
	uint32_t n;
	uint32_t *first; /* by atom: the first step that asks this atom and nothing else */
	uint32_t *mixed; /* the other steps, ascending, without the last */
	uint32_t n_mixed;
};

/* Everything here lives in SCRATCH. */
struct columns {
	struct arena *scratch;
	struct conditions *conditions;
	const struct blocks *blocks;
	const struct guard *guards;
	size_t n_guards;
	size_t n_atoms;

	struct column *list; /* those that depend on the path first */
	uint32_t n, n_path;
	uint16_t of[OP_COUNT];

	uint8_t *truth;        /* by atom, enum truth: all NO between calls */
	uint8_t *needed;       /* by atom */
	uint32_t *atoms;       /* room for all of them */
	uint32_t *entry_words; /* room for the longest chain */
	uint32_t *facts;       /* the same, with truth in the lowest bit */

	struct intern asked; /* facts that were pruned by before */
	uint8_t **answers;   /* by what was asked: whether each atom is needed */
	size_t n_answers, cap_answers;
	struct intern chains; /* per entry: guard, verdict, operation, rule's index + 1 */
	struct intern rows;   /* per path column: the chain */
};

/* Fills the rest of COLUMNS, whose first members are given. False: no memory. */
bool columns_build(struct columns *columns);

/* A subset_prune; the context is the columns. Takes off what no decision can depend on any more. */
subset_prune columns_prune;

/* The row of the state where just these atoms hold. False: no memory. */
bool columns_row(struct columns *columns, const uint32_t *atoms, size_t n, uint32_t *ret);

/* Moves columns, rows and chains into POLICY. False: no memory. */
bool columns_store(struct columns *columns, struct policy *policy);

#endif
