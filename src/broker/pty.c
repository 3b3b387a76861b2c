/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pseudo-terminals where no devpts of the session's own could be mounted: the
 * number of a slave says nothing about who made it, and is given out again. A
 * slave is the session's own while a process of the sandbox holds its master;
 * fdinfo tells which terminal a master belongs to (`tty-index`, 4.11).
 */
#include "broker/call.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/proc.h"
#include "base/banned.h"

enum {
	PTMX_MAJOR = 5, /* admin-guide/devices.rst */
	PTMX_MINOR = 2,
};

static bool is_ptmx(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(PTMX_MAJOR, PTMX_MINOR);
}

/* FD is ours. */
static bool is_master_of(int fd, long number)
{
	char path[48], text[512];
	const char *index = NULL;
	struct stat st;

	/* Other drivers write names that users chose into fdinfo. */
	if (fd < 0 || fstat(fd, &st) < 0 || !is_ptmx(&st))
		return false;
	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (proc_read(AT_FDCWD, path, text, sizeof(text)) == 0)
		index = proc_field(text, "tty-index");
	return index && strtol(index, NULL, 10) == number;
}

struct search {
	const struct call *call;
	const struct layer *layer;
	pid_t pid;
	long number;
	int pidfd; /* whose descriptors are looked at */
};

/* As is_master_of(), for a descriptor that cannot be taken. */
static bool shows_master_of(const struct search *search, int list, const char *name)
{
	int cleanup_fd fd = openat(list, name, O_PATH | O_CLOEXEC);
	char text[512];
	const char *index;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !is_ptmx(&st) ||
	    caller_fdinfo(search->call->broker, search->pid, (int)strtol(name, NULL, 10), text,
			  sizeof(text)) < 0 ||
	    !fdinfo_is_of(text, &st, mount_of(fd)))
		return false;
	index = proc_field(text, "tty-index");
	return index && strtol(index, NULL, 10) == search->number;
}

static int try_descriptor(int list, const char *name, void *context)
{
	const struct search *search = context;
	int cleanup_fd fd = -1;
	struct stat st;

	/* Only to take no more of them than may be it. */
	if (fstatat(list, name, &st, 0) < 0 || !is_ptmx(&st))
		return 0;
	if (!caller_lends(search->call))
		return shows_master_of(search, list, name);
	/* What is asked is what has been taken: the name can mean another one by the next look. */
	fd = (int)syscall(SYS_pidfd_getfd, search->pidfd, (int)strtol(name, NULL, 10), 0);
	return is_master_of(fd, search->number);
}

static bool has_ended(int pidfd)
{
	struct pollfd polled = {.fd = pidfd, .events = POLLIN};

	return poll(&polled, 1, 0) != 0;
}

/* Does process PID of the sandbox hold the master? */
static int try_process(int proc, pid_t pid, void *context)
{
	struct search *search = context;
	int cleanup_fd pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int cleanup_fd list = -1;
	char path[32];

	/* As long as it has not ended, the number is its. */
	if (pidfd < 0 || !layer_has(search->call->broker, search->layer, pid, false) ||
	    has_ended(pidfd))
		return 0;
	(void)snprintf(path, sizeof(path), "%d/fd", (int)pid);
	list = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	search->pidfd = pidfd;
	search->pid = pid;
	return list >= 0 && proc_each_entry(list, try_descriptor, search) > 0;
}

bool pty_is_ours(const struct call *call, const struct layer *layer, long number)
{
	struct search search = {.call = call, .layer = layer, .number = number};
	struct caller_pids pids;

	/* Most often the caller itself; else anybody inside. */
	if (caller_pids(call, &pids) == 0 && try_process(call->broker->proc, pids.tgid, &search))
		return true;
	return proc_each_process(call->broker->proc, try_process, &search) > 0;
}
