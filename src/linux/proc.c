/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/proc.h"

#include <fcntl.h>
#include <limits.h>
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

/* ---- Processes ---- */

struct visit {
	int proc;
	int (*each)(int proc, pid_t pid, void *context);
	void *context;
};

static int visit_entry(int fd, const char *name, void *context)
{
	const struct visit *visit = context;
	char *end;
	long pid = strtol(name, &end, 10);

	(void)fd;
	return *end || pid <= 0 ? 0 : visit->each(visit->proc, (pid_t)pid, visit->context);
}

int proc_each_process(int proc, int (*each)(int proc, pid_t pid, void *context), void *context)
{
	struct visit visit = {proc, each, context};
	/* A description of its own: the position in a directory belongs to it. */
	int cleanup_fd list = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return list < 0 ? -1 : proc_each_entry(list, visit_entry, &visit);
}

int proc_pin(int proc, pid_t pid)
{
	char path[16];

	(void)snprintf(path, sizeof(path), "%d", (int)pid);
	return openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

pid_t proc_parent(int proc, pid_t pid)
{
	char path[32], text[512];
	const char *p;

	(void)snprintf(path, sizeof(path), "%d/stat", (int)pid);
	if (proc_read(proc, path, text, sizeof(text)) < 0)
		return 0;
	p = strrchr(text, ')'); /* the name before it may contain anything; ") S parent" */
	return p && strlen(p) > 4 ? (pid_t)strtol(p + 4, NULL, 10) : 0;
}

enum {
	CLIMBS = 8
};

/* The ancestors of PID up to ANCESTOR, itself first, into CHAIN: their number; 0: not among them.
 */
static size_t climb(int proc, pid_t pid, pid_t ancestor, pid_t *chain)
{
	size_t n = 0;

	while (pid > 1 && pid != ancestor && n < PROC_DEPTH_MAX) {
		chain[n++] = pid;
		pid = proc_parent(proc, pid);
	}
	return pid == ancestor && pid > 0 ? n : 0;
}

/*
 * On the way up a process can end and its number be given out again, above all to somebody who
 * wants to be taken for another's ancestor. Then its child has another parent meanwhile.
 */
static bool is_still_so(int proc, const pid_t *chain, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (proc_parent(proc, chain[i]) != chain[i + 1])
			return false;
	return true;
}

size_t proc_ancestors(int proc, pid_t pid, pid_t ancestor, pid_t *chain)
{
	for (int i = 0; i < CLIMBS; i++) {
		size_t n = climb(proc, pid, ancestor, chain);

		if (n == 0 || is_still_so(proc, chain, n))
			return n;
	}
	return 0;
}

bool proc_is_descendant(int proc, pid_t pid, pid_t ancestor)
{
	pid_t chain[PROC_DEPTH_MAX];

	return proc_ancestors(proc, pid, ancestor, chain) > 0;
}

/* ---- Their texts ---- */

int proc_read(int dir, const char *path, char *text, size_t size)
{
	int cleanup_fd fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n < 0)
		return -1;
	text[n] = '\0';
	return 0;
}

const char *proc_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			return line + n + 1;
	}
	return NULL;
}

unsigned proc_number(const char *field, unsigned index)
{
	unsigned long number = UINT_MAX;
	char *end;

	for (unsigned i = 0; field && i <= index; i++, field = end) {
		number = strtoul(field, &end, 10);
		if (end == field)
			return UINT_MAX;
	}
	return (unsigned)number;
}
