/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf: the only growing byte buffer. Errors stick: after the limit or the
 * memory is exhausted `failed` is set and further calls do nothing, so a long
 * sequence of adds needs one check at its end. A zeroed struct is a valid,
 * empty buffer without a limit. The content always ends in a NUL that `n` does
 * not count (once anything was added).
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct buf {
	char *p;
	size_t n;
	size_t cap;
	size_t max; /* 0: no limit */
	bool failed;
};

void buf_add(struct buf *buf, const void *p, size_t n);
void buf_add_str(struct buf *buf, struct str s);
void buf_puts(struct buf *buf, const char *cstr);
void buf_putc(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Appends S with control characters, marks that nobody sees, `\` and invalid UTF-8 as \xHH: safe
 * for a terminal, and for who looks at it.
 */
void buf_add_escaped(struct buf *buf, struct str s);

/*
 * Appends S as a string of JSON, quotes included. A byte that is not part of valid UTF-8 becomes
 * the lone surrogate U+DC00 + byte, as of Python's surrogateescape: no two strings look alike.
 */
void buf_add_json(struct buf *buf, struct str s);

/* Makes room for N more bytes and returns where they go; the caller adds to buf->n. NULL: failed.
 */
char *buf_reserve(struct buf *buf, size_t n);

/* The content, valid until the next call. Never NULL pointer: "" when empty. */
struct str buf_str(const struct buf *buf);

/* Hands the malloc'd, NUL-terminated content to the caller; the buffer is empty. NULL: failed. */
char *buf_steal(struct buf *buf);

void buf_clear(struct buf *buf);
void buf_release(struct buf *buf);

#endif
