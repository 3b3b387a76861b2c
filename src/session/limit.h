/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits: by what each limit of a run is enforced here, and how well. A cgroup counts exactly;
 * where none can be had the kernel's resource limits count something near it, which is a weakness
 * that is told, or nothing at all, and then the run is refused like one with a gap.
 */
#ifndef SESSION_LIMIT_H
#define SESSION_LIMIT_H

#include "base/buf.h"
#include "base/err.h"
#include "linux/cgroup.h"
#include "policy/policy.h"
#include "session/session.h"

struct session_limits {
	struct limits wanted;
	struct limits rlimits; /* those that the processes themselves are to get */
	struct cgroup cgroup;
};

#define SESSION_LIMITS_NONE ((struct session_limits){.cgroup = CGROUP_NONE})

/* What is known once the command is ready. */
struct limits_facts {
	bool root, userns; /* userns: one of the run's own */
	long tasks;        /* struct spawned */
};

/* Decides what to do, and makes the cgroup. -ERR_OS: we have less ourselves than is asked for. */
int limits_open(const struct limits *wanted, const struct policy *policy, bool root,
		struct session_limits *ret, struct err *e);

/*
 * Takes in COMMAND, which waits, and tells weaknesses by options->limited. -ERR_OS; -ERR_GAP: what
 * is not enforced, or with GAPS_REFUSE not exactly.
 */
int limits_settle(const struct session_limits *limits, const struct limits_facts *facts,
		  pid_t command, const struct session_options *options, struct err *e);

/* For `lapbelt plan`: how each limit would hold, into RET [LIMIT_COUNT]. */
void limits_report(const struct session_limits *limits, const struct limits_facts *facts,
		   struct limit_report *ret, size_t *ret_n);

void limits_close(struct session_limits *limits);

#endif
