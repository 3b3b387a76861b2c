/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker: answers, outside the sandbox, the system calls that the floor cannot
 * decide. One file per class of calls; broker.c receives them and dispatches by
 * a table.
 *
 * Rules that everything here keeps (seccomp_unotify(2), reference/LINUX.md 3):
 *   - arguments are copied once; every later step uses the copy;
 *   - objects are pinned (O_PATH, pidfd_getfd), the decision is about what is pinned, and the act
 * is done on what is pinned;
 *   - the call runs with the caller's root, working directory, umask and file system ids;
 *   - CONTINUE is answered only where the outcome does not depend on the caller's memory, or where
 *     the Landlock floor, which the kernel applies to the caller afterwards, bounds the outcome
 *     whatever the caller writes into its memory meanwhile;
 *   - what cannot be told is denied.
 *
 * Several threads serve (crew.c); the calls of a sandbox that change names take turns. Each thread
 * has a file system context (umask, working directory) and capabilities of its own, no wider than
 * the command's. Calls that may block are not waited for: they are tried without blocking and
 * retried (pending.c). One that is held up all the same, by a file system, holds up those that need
 * its turn.
 */
#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "plan/plan.h"
#include "policy/policy.h"

struct broker;

struct broker_options {
	const struct plan_input *input; /* what the plan was made from; outlives the broker */
	const struct plan *plan;
	int listener;        /* consumed, also on failure */
	pid_t init, command; /* of the run, in our pid namespace; both alive */
	uint64_t network;    /* the session's own (struct spawned); 0 */
};

/* Starts the threads; returns when they serve. */
int broker_start(const struct broker_options *options, struct broker **ret, struct err *e);

/*
 * Becomes readable when the broker cannot go on: nothing is answered any more, and the run has to
 * end. broker_error() then says why, until the broker is stopped. -1 for NULL.
 */
int broker_failed_fd(const struct broker *broker);
const char *broker_error(const struct broker *broker);

/* Ends it; calls still waiting fail with ENOSYS in the sandbox. NULL is fine. */
void broker_stop(struct broker *broker);

#endif
