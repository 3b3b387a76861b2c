/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiet: children that try something out or clean up. Their end sends no signal: whoever called us
 * may handle or ignore SIGCHLD, or wait for any child. The raw call: fork(3) runs the handlers of a
 * program that we may be only a copy of.
 */
#ifndef LINUX_QUIET_H
#define LINUX_QUIET_H

#include <sys/types.h>

/* FLAGS of clone(2). 0 in the child; else its pid, or -1 with errno. */
pid_t quiet_fork(unsigned long flags);

/* Waits for PID, one of these. Its exit status, or -1 with errno (EINTR: a signal ended it). */
int quiet_wait(pid_t pid);

#endif
