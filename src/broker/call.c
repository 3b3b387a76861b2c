/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to a notified call, and copies of the caller's memory. seccomp_unotify(2). */
#include "broker/call.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

/* 5.14; the name is missing in older headers. */
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif

static void respond(struct call *call, int64_t value, int error, unsigned flags)
{
	assert(!call->answered);
	call->answered = true;
	call->value = value;
	call->error = error;
	call->flags = flags;
}

void call_send(const struct call *call)
{
	struct seccomp_notif_resp response = {
		.id = call->id, .val = call->value, .error = -call->error, .flags = call->flags};

	/* ENOENT: the caller was killed meanwhile, nobody waits for the answer. */
	if (!call->is_done)
		(void)ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void call_error(struct call *call, int error)
{
	respond(call, 0, error, 0);
}

void call_value(struct call *call, int64_t value)
{
	respond(call, value, 0, 0);
}

void call_result(struct call *call, long r)
{
	if (r < 0)
		call_error(call, errno);
	else
		call_value(call, r);
}

void call_continue(struct call *call)
{
	respond(call, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

int call_denial(int fd, int mode)
{
	long r = syscall(SYS_faccessat2, fd, "", mode, AT_EACCESS | AT_EMPTY_PATH);

	return r < 0 && (errno == EACCES || errno == EROFS) ? errno : EPERM;
}

/* EMFILE: the caller's limit. */
static int add_fd(const struct call *call, int fd, bool cloexec, unsigned flags)
{
	struct seccomp_notif_addfd add = {
		.id = call->id,
		.flags = flags,
		.srcfd = (uint32_t)fd,
		.newfd_flags = cloexec ? O_CLOEXEC : 0,
	};

	return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
}

void call_fd(struct call *call, int fd, bool cloexec)
{
	call_result(call, add_fd(call, fd, cloexec, 0));
}

void call_fd_at_once(struct call *call, int fd, bool cloexec)
{
	int r = add_fd(call, fd, cloexec, SECCOMP_ADDFD_FLAG_SEND);

	if (r < 0 && errno == EINVAL) /* before 5.14 */
		call_fd(call, fd, cloexec);
	else if (r < 0)
		call_error(call, errno);
	else
		call->answered = call->is_done = true;
}

bool call_is_alive(const struct call *call)
{
	return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) == 0;
}

/*
 * The same through procfs, where a container refuses the system calls for it; the right to it is
 * the same. The caller's protection of its own pages does not count there.
 */
static ssize_t transfer(const struct call *call, uint64_t address, void *own, size_t n, bool out)
{
	char path[32];
	int cleanup_fd fd = -1;

	(void)snprintf(path, sizeof(path), "%d/mem", (int)call->tid);
	fd = openat(call->broker->proc, path, (out ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	if (fd < 0) {
		errno = EPERM;
		return -1;
	}
	return out ? pwrite(fd, own, n, (off_t)address) : pread(fd, own, n, (off_t)address);
}

static bool is_refused(ssize_t r)
{
	return r < 0 && (errno == EPERM || errno == ENOSYS);
}

int call_read(const struct call *call, uint64_t address, void *to, size_t n)
{
	struct iovec local = {.iov_base = to, .iov_len = n};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = n};
	ssize_t got = process_vm_readv(call->tid, &local, 1, &remote, 1, 0);

	if (is_refused(got))
		got = transfer(call, address, to, n, false);
	if (got == (ssize_t)n)
		return 0;
	if (got >= 0 || errno != EPERM)
		errno = EFAULT;
	return -1;
}

int call_write(const struct call *call, uint64_t address, const void *from, size_t n)
{
	void *own = (void *)(uintptr_t)from; /* which is only read */
	struct iovec local = {.iov_base = own, .iov_len = n};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = n};
	ssize_t put = n ? process_vm_writev(call->tid, &local, 1, &remote, 1, 0) : 0;

	if (is_refused(put))
		put = transfer(call, address, own, n, true);
	if (put == (ssize_t)n)
		return 0;
	if (put >= 0 || errno != EPERM)
		errno = EFAULT;
	return -1;
}

int call_read_string(const struct call *call, uint64_t address, char *to, size_t size)
{
	const size_t page = 4096;
	size_t n = 0;

	while (n < size) {
		/* Up to the end of a page: the next one may not be there. */
		size_t step = page - (size_t)((address + n) % page);

		if (step > size - n)
			step = size - n;
		if (call_read(call, address + n, to + n, step) < 0)
			return -1;
		if (memchr(to + n, '\0', step))
			return 0;
		n += step;
	}
	errno = ENAMETOOLONG;
	return -1;
}
