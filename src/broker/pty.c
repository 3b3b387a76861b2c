/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pseudo-terminals where no devpts of the session's own could be mounted: the
 * number of a slave says nothing about who made it, and is given out again. A
 * slave is the session's own while a process of the sandbox holds its master;
 * fdinfo tells which terminal a master belongs to (`tty-index`, 4.11).
 */
#include "broker/call.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

enum {
	PTMX_MAJOR = 5, /* admin-guide/devices.rst */
	PTMX_MINOR = 2,
};

static bool is_master_of(int fdinfo, const char *name, long number)
{
	char text[512], link[64];
	struct stat st;
	int cleanup_fd fd = openat(fdinfo, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *field;

	if (n < 0)
		return false;
	text[n] = '\0';
	/* Other drivers write names that users chose into it. */
	(void)snprintf(link, sizeof(link), "../fd/%s", name);
	if (fstatat(fdinfo, link, &st, 0) < 0 || !S_ISCHR(st.st_mode) ||
	    st.st_rdev != makedev(PTMX_MAJOR, PTMX_MINOR))
		return false;
	field = strstr(text, "\ntty-index:");
	return field && strtol(field + strlen("\ntty-index:"), NULL, 10) == number;
}

static bool holds_master(const struct broker *broker, pid_t pid, long number)
{
	char path[32];
	int fd;
	DIR *dir;
	struct dirent *entry;
	bool holds = false;

	(void)snprintf(path, sizeof(path), "%d/fdinfo", (int)pid);
	fd = openat(broker->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		fd_close(&fd);
		return false;
	}
	while (!holds && (entry = readdir(dir)))
		holds = is_master_of(dirfd(dir), entry->d_name, number);
	(void)closedir(dir);
	return holds;
}

bool pty_is_ours(const struct call *call, long number)
{
	DIR *dir;
	struct dirent *entry;
	bool ours = holds_master(call->broker, call->tid, number);

	/* Most often the caller itself; else anybody inside. */
	dir = ours ? NULL : opendir("/proc");
	while (dir && !ours && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		ours = pid > 1 && caller_is_inside(call->broker, pid) &&
		       holds_master(call->broker, pid, number);
	}
	if (dir)
		(void)closedir(dir);
	return ours;
}
