/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product: all texts there are, as far as some automata tell them apart, the shortest of each kind
 * first.
 */
#ifndef POLICY_PRODUCT_H
#define POLICY_PRODUCT_H

#include <limits.h>

#include "base/buf.h"
#include "policy/dfa.h"

struct product_walk;

/* The set of all texts that lead the automata to STATES. */
struct product_stop {
	const uint32_t *states; /* one for each automaton, in their order */
	const struct product_walk *walk;
	uint32_t node;
};

struct product_options {
	const struct dfa *const *dfas;
	size_t n;       /* at least one */
	bool canonical; /* only canonical paths (phase.h); else any text but the empty one */
	size_t stops;   /* limit: how many sets of states are looked at */
	size_t memory;  /* limit, in bytes */
	/*
	 * Called at every stop, shortest texts first. PRODUCT_SKIP: nothing that goes on from here
	 * is of interest. Anything else but 0 ends the walk.
	 */
	int (*each)(void *context, const struct product_stop *stop);
	void *context;
};

enum {
	PRODUCT_TOO_MUCH = INT_MIN, /* a limit was reached */
	PRODUCT_SKIP = INT_MAX,
};

/* 0, what EACH returned, or PRODUCT_TOO_MUCH. */
int product_walk(const struct product_options *options);

/* Appends the shortest text to STOP; of equally short ones, letters and digits rather than others.
 */
void product_shortest(const struct product_stop *stop, struct buf *ret);

#endif
