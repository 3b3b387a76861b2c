/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff: for each operation, the simplest requests that two policies answer differently. Exact:
 * where none is found, there is none among all that witness.h speaks of.
 */
#ifndef POLICY_DIFF_H
#define POLICY_DIFF_H

#include "base/arena.h"
#include "policy/policy.h"

/* From one policy to the other. */
enum direction {
	DIRECTION_LOOSER,   /* denied by the first, allowed by the second */
	DIRECTION_STRICTER, /* the reverse */
	DIRECTION_COUNT
};

/* REQUEST's path is as short as can be, then it is as cheap as can be (witness.h). */
struct difference {
	bool found;
	struct request request;
	unsigned cost;
	struct decision from, to;
};

struct diff_options {
	const struct policy *from, *to; /* compiled for one target */
	const bool *ops;                /* by operation: is it asked about? */
	bool directions[DIRECTION_COUNT];
	size_t stops;  /* limit: how many pairs of states */
	size_t memory; /* limit, in bytes */
	size_t steps;  /* limit: of all searches of witness_each() */
};

#define DIFF_STOPS_DEFAULT ((size_t)4 << 20)

/* A zeroed one is valid. */
struct differences {
	struct arena arena; /* of the requests */
	struct difference by_op[OP_COUNT][DIRECTION_COUNT];
};

/* 0, or -ERR_LIMIT. */
int policy_diff(const struct diff_options *options, struct differences *ret, struct err *e);

void differences_release(struct differences *differences);

#endif
