/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal: the caller's terminal stays the caller's. A command that makes
 * process groups of its own (a shell) may end or stop while one of them is in
 * the foreground; we take the foreground back, and at the end put back the modes
 * and what of O_NONBLOCK the standard descriptors share with the caller's.
 */
#ifndef SESSION_TERMINAL_H
#define SESSION_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
	int fd;      /* -1: there is none, or we are in the background */
	pid_t group; /* our process group */
	struct termios modes;
	int flags[3];        /* F_GETFL of the standard descriptors; -1: there is none */
	pid_t stopped_group; /* in the foreground when the command stopped */
};

void terminal_open(struct terminal *ret);

/* The command has stopped: the foreground is our caller's. */
void terminal_give_back(struct terminal *terminal);

/* It goes on. */
void terminal_take_again(struct terminal *terminal);

void terminal_close(struct terminal *terminal);

#endif
