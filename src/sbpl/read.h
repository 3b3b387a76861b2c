/* SPDX-License-Identifier: Apache-2.0 */
/* read: tokens to datums. No recursion: nesting is a stack in the arena, bounded by the depth
 * limit. */
#ifndef SBPL_READ_H
#define SBPL_READ_H

#include "sbpl/machine.h"

enum {
	READ_EOF = 1
};

struct reader {
	struct machine *machine;
	unsigned source; /* index, for the places of what is read; 0: places are dropped */
	struct lex lex;
};

struct reader reader_begin(struct machine *machine, unsigned source, struct str text);

/*
 * The next top-level datum: 0, READ_EOF, or < 0 with the machine's error set. After an error the
 * text cannot be trusted any further: the next call says READ_EOF.
 */
int reader_next(struct reader *reader, struct value **ret);

/* The integer written as TEXT in BASE, with an optional sign. False: it is not one. */
bool read_integer(struct str text, unsigned base, int64_t *ret);

#endif
