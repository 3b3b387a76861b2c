/* SPDX-License-Identifier: Apache-2.0 */
/* io: whole reads and writes over descriptors, EINTR handled, sizes bounded. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Reads exactly N bytes. Returns 0, or -1 with errno (EPIPE: the end came first). */
int io_read_full(int fd, void *p, size_t n);

/* Writes all N bytes. Returns 0, or -1 with errno. */
int io_write_full(int fd, const void *p, size_t n);

/* As io_write_full(), but a pipe without readers is only EPIPE, whatever SIGPIPE would do. */
int io_write_no_signal(int fd, const void *p, size_t n);

/*
 * Appends everything up to the end of FD to RET, at most LIMIT bytes. Returns 0, or -1 with errno;
 * EFBIG: there was more.
 */
int io_read_all(int fd, struct buf *ret, size_t limit);

/*
 * Opens PATH for reading, as someone named it who knows what it is: the writer of a FIFO is waited
 * for. A regular file never is: one of /proc may then fail to be read, with EAGAIN.
 */
int io_open_named(const char *path);

/*
 * Opens the regular file or folder PATH for reading, as a text named it that nobody may have looked
 * at: nothing is waited for, and of anything else not even the opening is tried (ENOTSUP).
 */
int io_open_regular(const char *path);

/* What went wrong with a file that one of these opened. */
const char *io_error_text(int os);

/* As io_read_all() for a file named relative to DIRFD. FIFOs and devices do not block the open. */
int io_read_file(int dirfd, const char *path, struct buf *ret, size_t limit);

#endif
