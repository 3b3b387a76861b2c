/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nested: how a lapbelt inside another one's sandbox hands its policy to the broker outside, which
 * then asks both (broker/nested.c). There can be one listener only, and what the outer broker does
 * for its callers no Landlock domain of the inner one bounds.
 *
 * The call is landlock_create_ruleset(2) with flags that no kernel knows, which the filter of a
 * sandbox with a broker always asks about. Its fourth argument says what is meant.
 */
#ifndef PLAN_NESTED_H
#define PLAN_NESTED_H

#include "plan/lane.h"
#include "plan/plan.h"

#define NESTED_CALL_FLAGS 0x6c617066

/*
 * The mark of the fast lane in an argument that they do not use lets Landlock's own calls through
 * where the command is else told that there is no Landlock.
 */
#define NESTED_MARK LANE_MARK

enum nested_call {
	NESTED_FACTS,    /* returns classes | scope << 8 */
	NESTED_ROWS,     /* returns which rows of the filter count: struct plan's `when` */
	NESTED_LANGUAGE, /* returns nested_language() */
	/*
	 * Arguments: address and size of nested_encode()'s bytes. From here on the policy holds for
	 * all that the calling process starts, beside those that hold for itself. It has one thread
	 * and no child, and takes on one more seccomp filter before it has. ELOOP, ENFILE: too
	 * many, by the limits below; E2BIG: a policy that is too large; EINVAL: none, or not such a
	 * process; EAGAIN: another one is being built.
	 */
	NESTED_BEGIN,
	NESTED_KEEP, /* the first child of such a process that says so is not meant either */
	NESTED_END,  /* such a process has no child any more, and will have none */
};

enum {
	NESTED_VERSION = 2,    /* of what is said below and above */
	NESTED_LAYERS_MAX = 8, /* policies that one process is under */
	NESTED_RUNS_MAX = 64,  /* at a time */
	NESTED_BYTES_MAX = 4 << 20,
};

/* What both ends have to mean the same by: the filter's rows, operations and filters. */
uint32_t nested_language(void);

/* PLAN, made of INPUT, as bytes. */
void nested_encode(const struct plan *plan, const struct plan_input *input, struct buf *ret);

/* What the broker gets to know of a run inside. */
struct nested {
	struct plan_input input; /* policy, scope, places */
	struct plan plan;        /* rows on single files, what the floor bounds */
	struct policy *policy;   /* the same as the input's */
	struct arena arena;
};

/* A policy of at most LIMITS from BYTES, whoever wrote them. Errors as policy_decode()'s. */
int nested_decode(struct str bytes, struct policy_limits limits, struct nested *ret, struct err *e);
void nested_release(struct nested *nested);

#endif
