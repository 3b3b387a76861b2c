/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals: the command gets those that it would get if it had been started in
 * our place. The calling thread blocks them and reads them from a descriptor.
 *
 * A signal to a process goes to any thread that does not block it, and others'
 * masks are not ours to change. So where there are other threads, only signals
 * are taken that would have their default effect, and a handler hands them over
 * to the calling thread. Those that the program handles, ignores or blocks stay
 * its own affair.
 */
#ifndef SESSION_SIGNALS_H
#define SESSION_SIGNALS_H

#include <signal.h>

#include "base/err.h"

struct signals {
	int fd;          /* signalfd(2); -1: not taken */
	sigset_t mask;   /* the caller's */
	sigset_t caught; /* with a handler of ours */
};

/*
 * Takes them for the calling thread. -ERR_USAGE: some thread of this process has them already.
 * -ERR_OS.
 */
int signals_take(struct signals *ret, struct err *e);

/* Passes those that have come on to the process PIDFD. */
void signals_forward(const struct signals *signals, int pidfd);

/* Puts back what signals_take() changed. Fine on what was not taken. */
void signals_give_back(struct signals *signals);

#endif
