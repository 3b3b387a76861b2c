/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/proc.h"
#include "base/banned.h"

static const char place[] = "/tmp";
static const char prefix[] = "lapbelt-run-";
static const char marker[] = ".lapbelt-run"; /* in the folder; whoever lives holds its lock */

enum {
	DEPTH_MAX = 50, /* each level takes a descriptor and some stack */
	/* Removing while reading may skip entries, and deep folders are moved up: read again. */
	ROUNDS_MAX = 1000,
};

struct removal {
	int top;        /* the folder itself; deep ones are moved up to it */
	unsigned depth; /* below top */
	unsigned moved;
};

/* Opens the directory NAME for reading, if need be after opening it to ourselves. */
static int open_directory(int dir, const char *name)
{
	int cleanup_fd pinned = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[32];

	if (pinned < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", pinned);
	if (chmod(path, 0700) < 0)
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX */
static int remove_entry(int dir, const char *name, void *context)
{
	struct removal *removal = context;
	char aside[32];
	int cleanup_fd fd = -1;

	if (unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	if (removal->depth == DEPTH_MAX) {
		(void)snprintf(aside, sizeof(aside), ".lapbelt-%u", removal->moved++);
		(void)renameat(dir, name, removal->top, aside);
		return 0;
	}
	fd = open_directory(dir, name);
	if (fd < 0)
		return 0;
	removal->depth++;
	for (int i = 0; i < ROUNDS_MAX; i++)
		if (lseek(fd, 0, SEEK_SET) < 0 || proc_each_entry(fd, remove_entry, removal) < 0 ||
		    unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY)
			break;
	removal->depth--;
	return 0;
}

static void remove_tree(int dir, const char *name)
{
	int cleanup_fd top = open_directory(dir, name);
	struct removal removal = {.top = top};

	/* Each round takes off DEPTH_MAX levels. */
	for (int i = 0; top >= 0 && i < ROUNDS_MAX; i++)
		if (remove_entry(dir, name, &removal) < 0 ||
		    faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			break;
}

void scratch_remove(const char *path)
{
	remove_tree(AT_FDCWD, path);
}

/* Killed before it had a marker; who has just begun will have one in a moment. */
static void remove_abandoned(int dir, const char *name, const struct stat *st)
{
	enum {
		ABANDONED_S = 60
	};

	if (time(NULL) - st->st_mtime > ABANDONED_S)
		(void)unlinkat(dir, name, AT_REMOVEDIR);
}

/*
 * Only what is ours beyond doubt: our name, our user, our marker in it, and nobody holds that; or
 * nothing in it. The command may have removed the marker; then the folder stays.
 */
static int sweep_entry(int dir, const char *name, void *context)
{
	int cleanup_fd folder = -1;
	int cleanup_fd lock = -1;
	struct stat st;

	(void)context;
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return 0;
	folder = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || fstat(folder, &st) < 0 || st.st_uid != geteuid())
		return 0;
	lock = openat(folder, marker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (lock < 0 && errno == ENOENT)
		remove_abandoned(dir, name, &st);
	else if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
		remove_tree(dir, name);
	return 0;
}

/* The folder PATH gets its marker, locked. Returns the lock's descriptor, or -1 with errno. */
static int mark(const char *path)
{
	int cleanup_fd folder = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int cleanup_fd lock = -1;

	if (folder < 0)
		return -1;
	lock = openat(folder, marker, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0600);
	/* Another run that starts now may see the marker before its lock. */
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0 ||
	    faccessat(folder, marker, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	return fd_steal(&lock);
}

int scratch_make(char *path, size_t size)
{
	enum {
		TRIES_MAX = 8
	};
	int cleanup_fd tmp = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (tmp < 0 || proc_each_entry(tmp, sweep_entry, NULL) < 0)
		return -1;
	for (int i = 0; i < TRIES_MAX; i++) {
		int lock;

		(void)snprintf(path, size, "%s/%sXXXXXX", place, prefix);
		if (!mkdtemp(path))
			break;
		lock = mark(path);
		if (lock >= 0)
			return lock;
	}
	path[0] = '\0';
	return -1;
}
