/* SPDX-License-Identifier: Apache-2.0 */
/* layout: numbers the states of a minimal automaton so that walking it is fast. */
#ifndef POLICY_LAYOUT_H
#define POLICY_LAYOUT_H

#include "policy/merge.h"

/* Makes an automaton in ARENA of the states in reach. False: no memory. */
bool dfa_lay_out(const struct minimal *minimal, struct arena *arena, struct arena *scratch,
		 struct dfa *ret);

#endif
