/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths: all canonical paths there are, as far as some policies tell them apart, the shortest of
 * each kind first. This is how questions about "any path" are answered exactly: prove, diff and
 * lint look at what the policies say at each stop.
 */
#ifndef POLICY_PATHS_H
#define POLICY_PATHS_H

#include <limits.h>

#include "base/buf.h"
#include "policy/policy.h"

enum {
	PATHS_POLICIES_MAX = 4,
	PATHS_SKIP = INT_MAX,
};

struct product_stop;

/* The set of all paths that lead the policies to STATES. */
struct paths_stop {
	const policy_state *states; /* one for each policy, in their order */
	const struct product_stop *product;
};

struct paths_options {
	const struct policy *const *policies;
	size_t n;      /* 1 to PATHS_POLICIES_MAX */
	size_t stops;  /* limit: how many sets of states are looked at */
	size_t memory; /* limit, in bytes */
	/*
	 * Called at every stop, shortest paths first. PATHS_SKIP: no path that goes on from here is
	 * of interest. Anything else but 0 ends the walk.
	 */
	int (*each)(void *context, const struct paths_stop *stop);
	void *context;
};

/* 0, what EACH returned, or -ERR_LIMIT. */
int paths_walk(const struct paths_options *options, struct err *e);

/* Appends the shortest path to STOP; of equally short ones, letters and digits rather than others.
 */
void paths_shortest(const struct paths_stop *stop, struct buf *ret);

#endif
