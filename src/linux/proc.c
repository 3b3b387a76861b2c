/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/proc.h"

#include <fcntl.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

/* getdents64(2) itself: readdir(3) allocates. */
struct linux_dirent64 {
	uint64_t ino;
	int64_t off;
	unsigned short length;
	unsigned char type;
	char name[];
};

int proc_each_entry(int fd, int (*each)(int fd, const char *name, void *context), void *context)
{
	alignas(struct linux_dirent64) char buffer[2048];
	long n;

	while ((n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < n;) {
			struct linux_dirent64 *entry =
				(struct linux_dirent64 *)(void *)(buffer + at);
			int r = 0;

			at += entry->length;
			if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
				r = each(fd, entry->name, context);
			if (r != 0)
				return r;
		}
	}
	return (int)n;
}

pid_t proc_parent(int proc, pid_t pid)
{
	char path[32], text[512];
	int cleanup_fd fd = -1;
	const char *p;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/stat", (int)pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return 0;
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name before it may contain anything; ") S parent" */
	return p && strlen(p) > 4 ? (pid_t)strtol(p + 4, NULL, 10) : 0;
}
