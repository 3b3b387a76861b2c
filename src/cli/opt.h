/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt: command line options as a table, from which both the parser and the text of --help come.
 *
 * Options come before operands, `--` ends them; `-fX`, `-f X`, `--name=X` and `--name X` are the
 * same thing said twice. A table is a NULL-terminated list of rows, which commands share.
 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stdbool.h>

#include "base/buf.h"

struct opt {
	char letter;          /* 0: none */
	const char *name;     /* without --; NULL: none */
	const char *argument; /* what --help calls it; NULL: takes none */
	const char *help;
	/* VALUE is NULL without an argument. Returns what is wrong with it, or NULL. */
	const char *(*take)(void *context, const char *value);
};

/*
 * Calls the take functions for the options in ARGV from index 1 on. Returns the index of the first
 * operand, or -1 with *RET_ERROR set to a sentence in BUF.
 */
int opt_parse(const struct opt *const *table, char **argv, void *context, struct buf *ret_error);

/* Appends one line for each option. */
void opt_help(const struct opt *const *table, struct buf *ret);

#endif
