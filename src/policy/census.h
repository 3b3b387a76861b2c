/* SPDX-License-Identifier: Apache-2.0 */
/* census: which rules decide something, over all requests there are, and which lose to which. */
#ifndef POLICY_CENSUS_H
#define POLICY_CENSUS_H

#include "policy/intern.h"
#include "policy/linter.h"
#include "policy/witness.h"

/*
 * Rules of one place in the text and one operation: what one form has entered, once or many times.
 * They live or die together, for all that can be said of a text.
 */
struct form {
	const struct rule *const *rules; /* those of its place, of all operations; N of them */
	size_t n;
	enum op op;
};

/* A later rule (WIDE) of a parent operation loses against an earlier one (NARROW) of its child. */
struct pair {
	const struct rule *wide, *narrow;
	enum op op;      /* that was asked */
	struct str path; /* the shortest where it does; n 0: none is needed */
};

struct census {
	struct linter *linter;
	const struct policy *policy; /* the rules told apart */
	struct witnesses *witnesses;
	struct policy raised;       /* the same, but `op` decides as its ancestor `above` does */
	struct witnesses *pairwise; /* of both */
	struct arena scratch;
	struct form *forms; /* by place */
	size_t n_forms;
	uint32_t *form_of;           /* by rule */
	bool *seen;                  /* by label of the automaton */
	uint8_t *live;               /* a bit for each form and column: it decides there */
	struct intern asked, paired; /* what was looked at before */
	enum op first[2][OP_COUNT];  /* with a path or not, by column: the operation to ask */
	struct pair *pairs; /* one for each form of WIDE and operation of NARROW, by place */
	size_t n_pairs, cap_pairs;

	/* What is looked at. */
	const struct paths_stop *stop; /* NULL: requests without a path */
	enum op op, above;
};

/* The rules of LINTER->apart. False: what was found is not all; that is noted. */
bool census_take(struct census *census, struct linter *linter);
void census_release(struct census *census);

/* Does the form number FORM decide requests for OP somewhere? */
bool census_is_live(const struct census *census, size_t form, enum op op);

/*
 * Operations that share a column decide alike where nothing but paths counts. Is OP the one that is
 * asked for all of them, STOP being where the path ends (NULL: there is none)?
 */
static inline bool census_speaks_for(const struct census *census, enum op op,
				     const struct paths_stop *stop)
{
	return census->first[!stop][census->policy->column[op]] == op;
}

#endif
