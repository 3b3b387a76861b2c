/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition: what must hold for a rule to match, over atoms (the path matched
 * a union of patterns: known from the automaton's state) and guards (anything
 * else about a request: known only then). Equal conditions are one number.
 */
#ifndef POLICY_CONDITION_H
#define POLICY_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/intern.h"

/* Negation stands at the leaves only. */
enum condition_kind {
	CONDITION_FALSE,
	CONDITION_TRUE,
	CONDITION_ATOM, /* word 1: the atom */
	CONDITION_NO_ATOM,
	CONDITION_GUARD, /* word 1: the guard */
	CONDITION_NO_GUARD,
	CONDITION_ALL, /* words 1..n: conditions, ascending */
	CONDITION_ANY,
};

/* The constants have the number of their kind. */
typedef uint32_t condition;

static const condition CONDITION_FAILED = UINT32_MAX; /* no memory */

struct conditions {
	struct intern intern;
	struct arena *scratch; /* for what need not live on */
	size_t *work;          /* what is left of it, or NULL: struct policy_limits */
};

/* What is known of an atom, or follows from that. */
enum truth {
	TRUTH_NO,
	TRUTH_YES,
	TRUTH_OPEN,
};

/* Conditions live in ARENA. False: no memory. */
bool conditions_init(struct conditions *all, struct arena *arena, struct arena *scratch);

condition condition_leaf(struct conditions *all, enum condition_kind kind, uint32_t number);

/*
 * KIND is ALL or ANY. Constants go away, repetitions, and what is more than another of KIDS in
 * itself (a and (a or b) is a). KIDS is used up; one may be FAILED.
 */
condition condition_join(struct conditions *all, enum condition_kind kind, condition *kids,
			 size_t n);

/* The kind of C; the words after it, which never move. */
static inline enum condition_kind condition_look(const struct conditions *all, condition c,
						 const uint32_t **ret, size_t *ret_n)
{
	const uint32_t *words = intern_get(&all->intern, c, ret_n);

	*ret = words + 1;
	*ret_n -= 1;
	return (enum condition_kind)words[0];
}

bool condition_has_atoms(const struct conditions *all, condition c);

/* What C comes to under TRUTH (enum truth, by atom); guards are open. */
enum truth condition_value(const struct conditions *all, condition c, const uint8_t *truth);

/* C under TRUTH, of which nothing is open: a constant or a condition on guards alone. */
condition condition_residue(struct conditions *all, condition c, const uint8_t *truth);

/* What never holds, whatever the request. */
struct absence {
	const bool *guards; /* by guard */
	bool atoms;         /* none of them: there is no path */
	/* By condition, of those there are so far: what it comes to, plus one; 0: not yet known. */
	condition *known;
};

/* C, one that `known` has room for, where what is absent does not hold. */
condition condition_without(struct conditions *all, condition c, const struct absence *absent);

/* Sets needed[atom] for atoms which that value rests on: with all others false it is the same. */
void condition_mark(const struct conditions *all, condition c, const uint8_t *truth,
		    uint8_t *needed);

#endif
