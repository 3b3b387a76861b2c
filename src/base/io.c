/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

int io_read_full(int fd, void *p, size_t n)
{
	char *to = p;

	while (n > 0) {
		ssize_t got = read(fd, to, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0) {
			errno = EPIPE;
			return -1;
		}
		to += got;
		n -= (size_t)got;
	}
	return 0;
}

int io_write_full(int fd, const void *p, size_t n)
{
	const char *from = p;

	while (n > 0) {
		ssize_t put = write(fd, from, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		from += put;
		n -= (size_t)put;
	}
	return 0;
}

int io_write_no_signal(int fd, const void *p, size_t n)
{
	sigset_t set, mask, before, after;
	int r, saved, signal;

	(void)sigemptyset(&set);
	(void)sigemptyset(&before);
	(void)sigemptyset(&after);
	(void)sigaddset(&set, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &set, &mask);
	(void)sigpending(&before);
	r = io_write_full(fd, p, n);
	saved = errno;
	/* One that was pending before is not ours to take. */
	if (r < 0 && !sigismember(&before, SIGPIPE) && sigpending(&after) == 0 &&
	    sigismember(&after, SIGPIPE))
		(void)sigwait(&set, &signal);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	errno = saved;
	return r;
}

int io_read_all(int fd, struct buf *ret, size_t limit)
{
	enum {
		STEP = 64 * 1024
	};
	size_t total = 0;

	for (;;) {
		char *to = buf_reserve(ret, STEP);
		ssize_t got;

		if (!to) {
			errno = ENOMEM;
			return -1;
		}
		got = read(fd, to, STEP);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			return 0;
		total += (size_t)got;
		if (total > limit) {
			errno = EFBIG;
			return -1;
		}
		ret->n += (size_t)got;
		ret->p[ret->n] = '\0';
	}
}

static int open_to_read(int dirfd, const char *path, int more)
{
	return openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | more);
}

int io_open_named(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -1;
	return open_to_read(AT_FDCWD, path, S_ISREG(st.st_mode) ? O_NONBLOCK : 0);
}

static bool is_regular(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
}

int io_open_regular(const char *path)
{
	int cleanup_fd fd = -1;
	struct stat st;

	/* Before, as opening alone may do something to a device; after, as it may be another. */
	if (stat(path, &st) < 0)
		return -1;
	if (is_regular(&st)) {
		fd = open_to_read(AT_FDCWD, path, O_NONBLOCK);
		if (fd < 0 || fstat(fd, &st) < 0)
			return -1;
	}
	if (!is_regular(&st)) {
		errno = ENOTSUP;
		return -1;
	}
	return fd_steal(&fd);
}

const char *io_error_text(int os)
{
	switch (os) {
	case EAGAIN:
		return "cannot be read now";
	case ENOTSUP:
		return "not a regular file";
	default:
		return strerror(os);
	}
}

int io_read_file(int dirfd, const char *path, struct buf *ret, size_t limit)
{
	int cleanup_fd fd = open_to_read(dirfd, path, O_NONBLOCK);

	if (fd < 0)
		return -1;
	return io_read_all(fd, ret, limit);
}
