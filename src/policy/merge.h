/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge: the minimal automaton of states and a tree of texts. Below the tree no way leads back up,
 * so from the ends of the texts on a state is new, or one that leads to the same states is known.
 */
#ifndef POLICY_MERGE_H
#define POLICY_MERGE_H

#include "policy/dfa.h"

/* No two states are equal. Some may be out of reach. */
struct minimal {
	const struct byte_classes *classes;
	uint32_t start;
	uint32_t n;
	struct row_table rows;
	uint32_t *labels; /* by state */
	size_t cap_labels;
};

/* Of the blocks, and the tree of their subsets. Lives in SCRATCH. False: no memory. */
bool merge(const struct quotient *quotient, struct arena *scratch, struct minimal *ret);

#endif
