/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag: what goes to standard error. Text from outside (paths, profile text) is escaped, so that it
 * cannot drive the terminal.
 */
#ifndef CLI_DIAG_H
#define CLI_DIAG_H

#include <lapbelt.h>

#include "base/buf.h"

enum diag_style {
	DIAG_PROGRAM,      /* lapbelt: file:line:column: what */
	DIAG_COMPILER,     /* file:line:column: what */
	DIAG_SANDBOX_EXEC, /* sandbox-exec: what at file, line L, column C */
};

/* How errors are printed from now on; DIAG_PROGRAM until then. */
void diag_set_style(enum diag_style style);

/* As buf_add_escaped(), but a backslash stays what it is: for people, who know regexes. */
void diag_add_text(struct buf *line, const char *text);

/* A rule: FILE:ROW:COLUMN, unless FILE is "", and its text. */
void diag_add_rule(struct buf *line, const char *file, unsigned row, unsigned column,
		   const char *text);

/* WORD as a shell reads it, on one line and safe for a terminal. */
void diag_add_word(struct buf *line, const char *word);

/* The words of a request, to put after `lapbelt decide` in a shell. */
void diag_add_request(struct buf *text, const char *const *words);

/* "allow" or "deny", and the rule. */
void diag_add_decision(struct buf *line, const struct lapbelt_decision *decision);

/* One error, and its hint on a line of its own. Returns the exit status that goes with it. */
int diag_error(const struct lapbelt_error *error);

/* A warning, and its hint on a line of its own. */
void diag_warning(const struct lapbelt_warning *warning);

/* A line of our own with the program's name in front. */
void diag_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A wrong command line: the sentence, and where to look. Returns 64. */
int diag_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
