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
	bool sigchld_ignored; /* by whoever started us: the command gets it like that */
	char **shell_argv; /* /bin/sh, room for the path, the arguments: for a script without #! */
};

/* Sends one message; never blocks long, never raises SIGPIPE. Async-signal-safe. */
void child_report(int control, const struct spawn_message *message);

/* The first process of the run, from the fork on. Does not return. */
void child_init(const struct child_context *context) __attribute__((noreturn));

/* The loop of init once the command runs. Does not return. */
void init_run(int control, pid_t command, const struct spawn_options *options)
	__attribute__((noreturn));

#endif
