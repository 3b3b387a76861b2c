/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan's paths are canonical: where a symlink lies on the way, the path
 * names nothing, whoever put it there and whenever (CASES-ATTACKS A031, A032).
 */
#include "linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

/* The entry of AT whose name are the first N bytes of NAME; none: AT itself. */
static int open_entry(int at, const char *name, size_t n, int flags)
{
	char copy[NAME_MAX + 1] = ".";

	if (n >= sizeof(copy)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(copy, name, n);
	return openat(at, copy, flags | O_NOFOLLOW | O_CLOEXEC);
}

/* O_PATH with O_NOFOLLOW opens the link itself. */
static int refuse_link(int opened)
{
	int cleanup_fd fd = opened;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (S_ISLNK(st.st_mode)) {
		errno = ELOOP;
		return -1;
	}
	return fd_steal(&fd);
}

/* One component after the other. */
static int open_in_steps(const char *path, int flags)
{
	int cleanup_fd at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (at >= 0) {
		const char *name = path + strspn(path, "/");
		size_t n = strcspn(name, "/");
		int next = -1;

		path = name + n + strspn(name + n, "/");
		if (!*path) {
			next = open_entry(at, name, n, flags);
			return flags & O_NOFOLLOW ? next : refuse_link(next);
		}
		next = open_entry(at, name, n, O_PATH | O_DIRECTORY);
		(void)close(at);
		at = next;
	}
	return -1;
}

int linux_open_plain(const char *path, int flags)
{
	struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
			       .resolve = RESOLVE_NO_SYMLINKS};
	/* 5.6, older than Landlock. */
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	/* Filters of containers and outer sandboxes may not know it, or not let it through. */
	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_in_steps(path, flags) : fd;
}
