/* SPDX-License-Identifier: Apache-2.0 */
/* Between spawn.c, child.c and init.c: the life of the processes after fork. */
#ifndef LINUX_CHILD_H
#define LINUX_CHILD_H

#include <signal.h>

#include "linux/linux.h"

struct child_context {
	const struct spawn_options *options;
	int control;          /* our end of the supervisor's socket */
	int mapped;           /* pipe: readable once the id maps are written (or at once) */
	int go;               /* pipe: readable when the command may exec */
	int proc;             /* the procfs from before all mounts; -1: none */
	bool sigchld_ignored; /* by whoever started us: the command gets it like that */
	bool signals_cleared; /* no handler is left */
	uint64_t network;     /* its own (struct spawned); 0 */
	char **shell_argv; /* /bin/sh, room for the path, the arguments: for a script without #! */
};

/*
 * Sends one message, and FD with it (-1: none); never blocks long, never raises SIGPIPE.
 * Async-signal-safe.
 */
void child_report(int control, const struct spawn_message *message, int fd);

/* The first process of the run, from the fork on. Does not return. */
void child_init(const struct child_context *context) __attribute__((noreturn));

/* The loop of init once the command runs, as a child of GUARD (0: without). Does not return. */
void init_run(const struct child_context *context, pid_t command, pid_t guard)
	__attribute__((noreturn));

/* Tells the sandbox around us that nobody is left, if that is so: from the guard. */
void init_leave_outer(const struct child_context *context);

/* What the guard does while INIT lives, and after. Does not return. */
void init_guard(const struct child_context *context, pid_t init) __attribute__((noreturn));

#endif
