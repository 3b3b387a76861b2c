/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the fast lane, made without its library: they carry its mark, and get no second try.
 *
 *	lane TOP		lists the rows: name, and `denied` or `open`
 *	lane TOP NAME	tries one. 0: it came through; 1: it was refused; 99: something else is
 *wrong
 *
 * TOP holds `free`, where all is allowed, and `judged`, where nothing may be done to what is called
 * .env; lane.sh prepares them anew for each row. `open` rows show that the lane is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plan/lane.h"

#ifndef RENAME_EXCHANGE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE  2
#define RENAME_WHITEOUT  4
#endif

static long marked(long number, long a, long b, long c, long d, long e)
{
	return syscall(number, a, b, c, d, e, LANE_MARK);
}

static long at_open(const char *path, int flags, mode_t mode)
{
	return marked(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0);
}

static long at_rename(const char *from, const char *to, unsigned flags)
{
	return marked(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, flags);
}

static long at_link(const char *from, const char *to, int flags)
{
	return marked(SYS_linkat, AT_FDCWD, (long)from, AT_FDCWD, (long)to, flags);
}

static long at_unlink(const char *path, int flags)
{
	return marked(SYS_unlinkat, AT_FDCWD, (long)path, flags, 0, 0);
}

static void need(long result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	exit(99);
}

/* ---- Opens ---- */

static long reads(void)
{
	return at_open("judged/.env", O_RDONLY, 0);
}

static long reads_by_descriptor(void)
{
	int directory = open("judged", O_PATH | O_DIRECTORY);

	need(directory, "open");
	return marked(SYS_openat, directory, (long)".env", O_RDONLY, 0, 0);
}

static long reads_by_link(void)
{
	need(symlink("../judged/.env", "free/way"), "symlink");
	return at_open("free/way", O_RDONLY, 0);
}

static long reads_by_proc(void)
{
	return at_open("/proc/self/cwd/free/../judged/.env", O_RDONLY, 0);
}

static long reads_again(void)
{
	char path[64];
	int fd = open("judged/.env", O_PATH);

	need(fd, "open");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return at_open(path, O_RDONLY, 0);
}

static long lists(void)
{
	return at_open("judged/d/.env", O_RDONLY | O_DIRECTORY, 0);
}

static long opens_for_neither(void)
{
	return at_open("judged/.env", O_WRONLY | O_RDWR, 0);
}

static long cuts_off(void)
{
	return at_open("judged/.env", O_RDONLY | O_TRUNC, 0);
}

static long writes(void)
{
	return at_open("judged/.env", O_WRONLY, 0);
}

static long reads_and_writes(void)
{
	return at_open("judged/.env", O_RDWR | O_APPEND, 0);
}

static long creates(void)
{
	return at_open("judged/s/.env", O_WRONLY | O_CREAT, 0600);
}

static long creates_and_reads(void)
{
	return at_open("judged/s/.env", O_RDWR | O_CREAT | O_EXCL, 0600);
}

static long creates_by_link(void)
{
	need(symlink("../judged/s/.env", "free/way"), "symlink");
	return at_open("free/way", O_WRONLY | O_CREAT, 0600);
}

static long creates_nameless(void)
{
	char path[64];
	long fd = at_open("judged/s", O_TMPFILE | O_WRONLY, 0600);

	if (fd < 0)
		return fd;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)fd);
	return at_link(path, "judged/s/.env", AT_SYMLINK_FOLLOW);
}

static bool is_setuid(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & S_ISUID);
}

static long creates_setuid(void)
{
	long fd = at_open("free/new", O_WRONLY | O_CREAT, 04755);

	return is_setuid("free/new") ? fd : -1;
}

#ifdef SYS_creat
static long old_creates(void)
{
	return marked(SYS_creat, (long)"judged/s/.env", 0600, 0, 0, 0);
}

static long creat_setuid(void)
{
	long fd = marked(SYS_creat, (long)"free/new", 04755, 0, 0, 0);

	return is_setuid("free/new") ? fd : -1;
}
#endif

/* ---- Names ---- */

static long makes_directory(void)
{
	return marked(SYS_mkdirat, AT_FDCWD, (long)"judged/s/.env", 0700, 0, 0);
}

static long makes_link(void)
{
	return marked(SYS_symlinkat, (long)"x", AT_FDCWD, (long)"judged/s/.env", 0, 0);
}

static long makes_fifo(void)
{
	return marked(SYS_mknodat, AT_FDCWD, (long)"judged/s/.env", S_IFIFO | 0600, 0, 0);
}

static long unlinks(void)
{
	return at_unlink("judged/.env", 0);
}

static long removes_directory(void)
{
	return at_unlink("judged/d/.env", AT_REMOVEDIR);
}

static long moves_away(void)
{
	return at_rename("judged/.env", "judged/plain2", 0);
}

static long moves_out(void)
{
	return at_rename("judged/.env", "free/loot", 0);
}

static long moves_parent_out(void)
{
	return at_rename("judged/d", "free/d", 0);
}

static long moves_in(void)
{
	return at_rename("free/f", "judged/s/.env", RENAME_NOREPLACE);
}

static long replaces(void)
{
	return at_rename("judged/plain", "judged/.env", 0);
}

static long exchanges(void)
{
	return at_rename("judged/plain", "judged/.env", RENAME_EXCHANGE);
}

static long links_out(void)
{
	return at_link("judged/.env", "free/loot", 0);
}

static long links_in(void)
{
	return at_link("judged/plain", "judged/s/.env", 0);
}

/* ---- What Landlock has no hook for ---- */

static long truncates(void)
{
	return marked(SYS_truncate, (long)"judged/.env", 0, 0, 0, 0);
}

static long changes_mode(void)
{
	return marked(SYS_fchmodat, AT_FDCWD, (long)"judged/.env", 0777, 0, 0);
}

static long changes_times(void)
{
	return marked(SYS_utimensat, AT_FDCWD, (long)"judged/.env", 0, 0, 0);
}

static long sets_attribute(void)
{
	return marked(SYS_setxattr, (long)"judged/.env", (long)"user.x", (long)"y", 1, 0);
}

/* ---- The lane is there: the floor answers, and nobody else ---- */

static long made_freely(void)
{
	long fd = at_open("free/made", O_WRONLY | O_CREAT | O_EXCL, 0600);

	need(fd, "openat");
	return at_rename("free/made", "free/moved", 0) < 0 ? -1 : at_unlink("free/moved", 0);
}

/* Allowed, but by the broker, whom a call with the mark does not reach. */
static long refused_by_the_floor(void)
{
	/* First: afterwards the mark stays in its register. */
	need(open("judged/plain", O_WRONLY), "open");
	return at_open("judged/plain", O_WRONLY, 0) < 0 && errno == EACCES ? 0 : -1;
}

static const struct row {
	const char *name;
	long (*act)(void);
	bool open;
} rows[] = {
	{"reads", reads, false},
	{"reads-by-descriptor", reads_by_descriptor, false},
	{"reads-by-link", reads_by_link, false},
	{"reads-by-proc", reads_by_proc, false},
	{"reads-again", reads_again, false},
	{"lists", lists, false},
	{"opens-for-neither", opens_for_neither, false},
	{"cuts-off", cuts_off, false},
	{"writes", writes, false},
	{"reads-and-writes", reads_and_writes, false},
	{"creates", creates, false},
	{"creates-and-reads", creates_and_reads, false},
	{"creates-by-link", creates_by_link, false},
	{"creates-nameless", creates_nameless, false},
	{"creates-setuid", creates_setuid, false},
#ifdef SYS_creat
	{"creat", old_creates, false},
	{"creat-setuid", creat_setuid, false},
#endif
	{"makes-directory", makes_directory, false},
	{"makes-link", makes_link, false},
	{"makes-fifo", makes_fifo, false},
	{"unlinks", unlinks, false},
	{"removes-directory", removes_directory, false},
	{"moves-away", moves_away, false},
	{"moves-out", moves_out, false},
	{"moves-parent-out", moves_parent_out, false},
	{"moves-in", moves_in, false},
	{"replaces", replaces, false},
	{"exchanges", exchanges, false},
	{"links-out", links_out, false},
	{"links-in", links_in, false},
	{"truncates", truncates, false},
	{"changes-mode", changes_mode, false},
	{"changes-times", changes_times, false},
	{"sets-attribute", sets_attribute, false},
	{"made-freely", made_freely, true},
	{"refused-by-the-floor", refused_by_the_floor, true},
};

int main(int argc, char **argv)
{
	if (argc < 2 || chdir(argv[1]) < 0)
		return 99;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (argc == 2) {
			printf("%s %s\n", rows[i].name, rows[i].open ? "open" : "denied");
		} else if (strcmp(argv[2], rows[i].name) == 0) {
			long result = rows[i].act();

			printf("# %s: %s\n", rows[i].name, result < 0 ? strerror(errno) : "done");
			return result < 0;
		}
	}
	return argc == 2 ? 0 : 99;
}
