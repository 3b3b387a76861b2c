/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness: requests that stand for all requests. Where some policies are in some states, every
 * request there is gets from all of them the decisions that one of these gets.
 *
 * All requests are: those that lapbelt_decide() can be told and that have what such requests always
 * have (values.h). On Linux, nothing of what Linux does not have (filter_is_darwin_only()).
 */
#ifndef POLICY_WITNESS_H
#define POLICY_WITNESS_H

#include "policy/paths.h"
#include "policy/policy.h"

struct witness_options {
	const struct policy *const *policies; /* compiled for one target */
	size_t n;                             /* 1 to PATHS_POLICIES_MAX */
	size_t memory;                        /* limit, in bytes */
	size_t *steps; /* what is left of them, some 200 ns each; others may take from it too */
	bool foreign;  /* Linux: also requests with what Linux does not have */
};

#define WITNESS_MEMORY_DEFAULT ((size_t)256 << 20)
#define WITNESS_STEPS_DEFAULT  ((size_t)1 << 22)

struct witnesses;

/* The policies and their list must outlive *RET. -ERR_LIMIT. */
int witnesses_new(const struct witness_options *options, struct witnesses **ret, struct err *e);
void witnesses_free(struct witnesses *witnesses);

struct witness_place {
	enum op op;
	const policy_state *states; /* one for each policy */
	bool has_path;              /* STATES are where a path ends; else it has none */
};

/*
 * REQUEST is one for policy_decide_at(): its path is for the caller to put in. What it points to
 * lives until EACH returns (witness_copy()). COST: so many thousands as
 * words are needed to say it besides the path; then, how long they are.
 */
typedef int witness_each_function(void *context, const struct request *request, unsigned cost);

/*
 * Calls EACH with requests at PLACE, in any order. For every way through the rules that some
 * request takes there is one, of the least cost. (But for facts of which a request can have several
 * at once: there it is about the least.) 0, -ERR_LIMIT, or the first thing but 0 that EACH returns.
 */
int witness_each(struct witnesses *witnesses, const struct witness_place *place,
		 witness_each_function *each, void *context, struct err *e);

/* A copy of REQUEST, all of it in ARENA. False: no memory. */
bool witness_copy(struct arena *arena, const struct request *request, struct request *ret);

/*
 * Do requests for OP ever have a path, and do they always? Those of network* have one if they are
 * about unix sockets with names.
 */
enum has_path {
	PATH_NEVER,
	PATH_SOMETIMES,
	PATH_ALWAYS,
};

enum has_path op_has_path(enum op op);

#endif
