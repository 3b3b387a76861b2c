/* SPDX-License-Identifier: Apache-2.0 */
/* hunt: where does a rule that decides nothing match, and who decides there? */
#ifndef POLICY_HUNT_H
#define POLICY_HUNT_H

#include "policy/census.h"

struct quarry {
	bool matched;          /* there is a request that the rule's filter matches */
	bool complete;         /* all of them were looked at */
	const struct rule *by; /* who decides: differently from the rule, if anybody does */
	enum op op;            /* that is asked */
	struct str path;       /* the shortest; n 0: none is needed */
};

/*
 * RULE is filtered. STOPS is how many sets of states may be looked at, and is counted down; without
 * any left, only the shortest path is looked at.
 */
void hunt(const struct census *census, const struct rule *rule, size_t *stops, struct quarry *ret);

#endif
