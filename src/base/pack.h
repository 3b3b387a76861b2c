/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack: numbers and texts one after the other, for another process on this machine. Whoever
 * unpacks believes nothing: what is not there, or not in its range, makes all of it bad.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void pack_number(struct buf *buf, int64_t number);
void pack_text(struct buf *buf, struct str text);

struct unpack {
	struct str rest;
	bool bad; /* for good */
};

/* The next number, from LEAST to MOST; LEAST if it is bad. */
int64_t unpack_number(struct unpack *from, int64_t least, int64_t most);

/* The next number, of things that take at least one byte each; 0 if it is bad. */
size_t unpack_count(struct unpack *from);

/* The next text, in the bytes that are unpacked; empty if it is bad, or has a NUL. */
struct str unpack_text(struct unpack *from);

#endif
