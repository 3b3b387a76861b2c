/* SPDX-License-Identifier: Apache-2.0 */
/* deadline: the end of a run by the clock: SIGTERM first, and a moment to tidy up. */
#ifndef SESSION_DEADLINE_H
#define SESSION_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct deadline {
	int64_t next_ms; /* as CLOCK_MONOTONIC counts, when something is to be done; 0: never */
	bool passed;     /* the command has been told */
};

/* Begins now. SECONDS 0: there is none. */
void deadline_start(struct deadline *deadline, uint64_t seconds);

/* How long poll(2) may wait: milliseconds, or -1. */
int deadline_timeout(const struct deadline *deadline);

/*
 * We are about to stop ourselves: SIGCONT wakes us when there is something to do. Returns false
 * where that is never.
 */
bool deadline_arm(const struct deadline *deadline, timer_t *ret);

/* Does what is due to the command, by its pidfd. 1: now all are to be killed. */
int deadline_act(struct deadline *deadline, int command);

#endif
