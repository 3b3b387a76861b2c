/* SPDX-License-Identifier: Apache-2.0 */
/* subsets: between the construction and what explains its failure. */
#ifndef POLICY_SUBSETS_H
#define POLICY_SUBSETS_H

#include "policy/dfa.h"

/* Stands in the start's set, so that no other state is taken for it. */
static const uint32_t SUBSET_START_MARK = UINT32_MAX;

/*
 * -ERR_LIMIT, said of the pattern that takes up most room in what there is of SUBSETS, with a hint
 * at others that take nearly as much.
 */
int subsets_blame(const struct nfa *nfa, const struct subsets *subsets, struct err *e);

#endif
