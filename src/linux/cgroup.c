/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "base/str.h"
#include "linux/linux.h"
#include "linux/proc.h"
#include "linux/quiet.h"
#include "base/banned.h"

static const char prefix[] = "lapbelt-";

/* A hierarchy, as /proc/self/cgroup and mountinfo call it. */
static const struct hierarchy {
	const char *type;   /* of the mount */
	const char *option; /* of the mount; NULL: any */
	const char *begins; /* our line, after its number */
	bool by_subtree;    /* parents say which controllers their children have */
} hierarchies[] = {
	{"cgroup2", NULL, ":", true},
	{"cgroup", "pids", "pids:", false},
};

enum {
	HIERARCHIES = sizeof(hierarchies) / sizeof(hierarchies[0]),
	CANDIDATES = CGROUP_PLACES / HIERARCHIES, /* our group, and the one above it */
};

static const struct control {
	unsigned hierarchy;
	enum limit limit;
	const char *controller, *file;
} controls[] = {
	{0, LIMIT_PROCESSES, "pids", "pids.max"},
	{0, LIMIT_MEMORY, "memory", "memory.max"},
	{1, LIMIT_PROCESSES, "pids", "pids.max"},
};

/* ---- Files of a group ---- */

static int write_text(int dir, const char *name, const char *text)
{
	int cleanup_fd fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : io_write_full(fd, text, strlen(text));
}

/* Is WORD among those of TEXT, which SEPARATOR ends? */
static bool has_word(const char *text, const char *word, char separator)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += n) {
		bool begins = at == text || at[-1] == separator;

		if (begins && (at[n] == separator || at[n] == '\n' || !at[n]))
			return true;
	}
	return false;
}

/* ---- Where we are ---- */

/* Our path in HIERARCHY; NULL: it is not there, or we are outside of what can be seen of it. */
static char *own_path(const struct hierarchy *hierarchy, char *text)
{
	for (char *line; (line = strsep(&text, "\n"));) {
		const char *path = strchr(line, ':');

		if (!path || !str_starts(str_of(path + 1), str_of(hierarchy->begins)))
			continue;
		path += 1 + strlen(hierarchy->begins);
		return strstr(path, "/..") ? NULL : line + (path - line);
	}
	return NULL;
}

struct mounted {
	const char *root, *point;
};

/* Is LINE of mountinfo HIERARCHY's? 36 35 98:0 /root /point ... - type source options */
static bool read_mount(const struct hierarchy *hierarchy, char *line, struct mounted *ret)
{
	char *rest = strstr(line, " - ");
	const char *type, *options;

	if (!rest)
		return false;
	*rest = '\0';
	rest += strlen(" - ");
	type = strsep(&rest, " ");
	(void)strsep(&rest, " ");
	options = rest;
	if (strcmp(type, hierarchy->type) != 0 ||
	    (hierarchy->option && (!options || !has_word(options, hierarchy->option, ','))))
		return false;
	for (int i = 0; i < 3; i++)
		(void)strsep(&line, " ");
	ret->root = strsep(&line, " ");
	ret->point = strsep(&line, " ");
	/* A name with blanks is nobody's. */
	return ret->root && ret->point && !strchr(ret->point, '\\');
}

static bool find_mount(const struct hierarchy *hierarchy, char *text, struct mounted *ret)
{
	for (char *line; (line = strsep(&text, "\n"));)
		if (read_mount(hierarchy, line, ret))
			return true;
	return false;
}

/* The directory of our group in HIERARCHY, at most MAX bytes. *RET_TOP: the mount's own length. */
static bool find_own(const struct hierarchy *hierarchy, char *ret, size_t max, size_t *ret_top)
{
	struct buf groups = {0}, mounts = {0};
	struct mounted mounted;
	const char *path = NULL;
	bool found = false;
	size_t skip;
	int n;

	if (io_read_file(AT_FDCWD, "/proc/self/cgroup", &groups, 1u << 20) == 0 &&
	    io_read_file(AT_FDCWD, "/proc/self/mountinfo", &mounts, 16u << 20) == 0)
		path = own_path(hierarchy, groups.p);
	if (path && find_mount(hierarchy, mounts.p, &mounted)) {
		skip = strcmp(mounted.root, "/") == 0 ? 0 : strlen(mounted.root);
		found = strncmp(path, mounted.root, skip) == 0;
		path += found ? skip : 0;
		n = snprintf(ret, max, "%s%s", mounted.point, strcmp(path, "/") == 0 ? "" : path);
		found = found && n > 0 && (size_t)n < max;
		*ret_top = strlen(mounted.point);
	}
	buf_release(&groups);
	buf_release(&mounts);
	return found;
}

/* ---- The keeper ---- */

static bool is_gone(const struct cgroup *cgroup)
{
	bool gone = true;

	for (int i = 0; i < CGROUP_PLACES; i++)
		if (cgroup->places[i] >= 0 &&
		    unlinkat(cgroup->places[i], cgroup->name, AT_REMOVEDIR) < 0)
			gone &= errno == ENOENT || errno == EROFS;
	return gone;
}

/* Version 2, since 5.14. Elsewhere init and the guard do it. */
static void kill_members(const struct cgroup *cgroup)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/cgroup.kill", cgroup->name);
	for (int i = 0; i < CGROUP_PLACES; i++)
		if (cgroup->places[i] >= 0)
			(void)write_text(cgroup->places[i], path, "1");
}

/* Nothing of our caller's stays open, and no signal of its terminal is for us. */
static void become_keeper(const struct cgroup *cgroup, int end)
{
	int keep[CGROUP_PLACES + 1];
	size_t n = 0;
	int cleanup_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setsid();
	for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++)
		(void)dup2(null, fd);
	for (int i = 0; i < CGROUP_PLACES; i++)
		keep[n++] = cgroup->places[i];
	keep[n++] = end;
	scrub_sort(keep, n);
	(void)scrub_fds(keep, n);
}

__attribute__((noreturn)) static void keep(const struct cgroup *cgroup, int end)
{
	enum {
		ROUNDS_MAX = 10000
	};
	const struct timespec pause = {.tv_nsec = 1000000};
	char byte;

	become_keeper(cgroup, end);
	/* Nothing is ever sent: it returns when the supervisor is done, or gone. */
	(void)io_read_full(end, &byte, 1);
	for (int i = 0; i < ROUNDS_MAX && !is_gone(cgroup); i++) {
		kill_members(cgroup);
		(void)nanosleep(&pause, NULL);
	}
	_exit(0);
}

/* A child that no signal reaches but SIGKILL. */
static pid_t fork_unreached(void)
{
	sigset_t all, mask;
	pid_t pid;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &mask);
	pid = quiet_fork(0);
	if (pid != 0)
		(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return pid;
}

static int start_keeper(struct cgroup *cgroup)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	cgroup->keeper = fork_unreached();
	if (cgroup->keeper == 0) {
		(void)close(ends[0]);
		keep(cgroup, ends[1]);
	}
	fd_close(&ends[1]);
	cgroup->keeper_end = ends[0];
	return cgroup->keeper < 0 ? -1 : 0;
}

/* ---- Making ---- */

/* What a dead run has left: nobody holds its lock. */
static int sweep_entry(int dir, const char *name, void *context)
{
	int cleanup_fd group = -1;

	(void)context;
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return 0;
	group = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (group >= 0 && flock(group, LOCK_EX | LOCK_NB) == 0)
		(void)unlinkat(dir, name, AT_REMOVEDIR);
	return 0;
}

/* Which of LIMITS the group can hold, and does from now on: 1 << enum limit. */
static unsigned set_limits(int place, int group, unsigned hierarchy, const struct limits *limits)
{
	char enabled[4096], text[32];
	unsigned held = 0;

	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		const struct control *control = &controls[i];
		uint64_t value = limits->values[control->limit];

		if (control->hierarchy != hierarchy || !value)
			continue;
		(void)snprintf(text, sizeof(text), "+%s", control->controller);
		/* It works only in a group that has no processes itself; then nobody minds. */
		if (hierarchies[hierarchy].by_subtree &&
		    (proc_read(place, "cgroup.subtree_control", enabled, sizeof(enabled)) < 0 ||
		     (!has_word(enabled, control->controller, ' ') &&
		      write_text(place, "cgroup.subtree_control", text) < 0)))
			continue;
		(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
		if (write_text(group, control->file, text) < 0)
			continue;
		/* Swapped out, more would fit. Without swap there is no such file. */
		if (control->limit == LIMIT_MEMORY &&
		    write_text(group, "memory.swap.max", "0") < 0 && errno != ENOENT)
			continue;
		held |= 1u << control->limit;
	}
	return held;
}

/* May we move processes into GROUP? A child of ours tries. */
static bool can_join(int group)
{
	pid_t pid = fork_unreached();

	if (pid == 0)
		_exit(write_text(group, "cgroup.procs", "0") < 0);
	return pid > 0 && quiet_wait(pid) == 0;
}

/* Returns what the group that is made in PLACE holds; 0: there is none. */
static unsigned make_group(struct cgroup *cgroup, int place, const struct limits *limits)
{
	int at = cgroup->places[place];
	unsigned held;
	int cleanup_fd group = -1;

	(void)proc_each_entry(at, sweep_entry, NULL);
	if (mkdirat(at, cgroup->name, 0755) < 0)
		return 0;
	group = openat(at, cgroup->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Another run that starts now may see it before its lock. */
	if (group >= 0 && flock(group, LOCK_EX | LOCK_NB) == 0 &&
	    faccessat(at, cgroup->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		held = set_limits(at, group, (unsigned)place / CANDIDATES, limits);
		if (held && can_join(group)) {
			cgroup->groups[place] = fd_steal(&group);
			return held;
		}
	}
	(void)unlinkat(at, cgroup->name, AT_REMOVEDIR);
	return 0;
}

/* Opens the candidates of one hierarchy. */
static void open_places(struct cgroup *cgroup, unsigned hierarchy,
			bool (*is_exposed)(void *context, const char *path), void *context,
			bool exposed_too)
{
	int *places = cgroup->places + hierarchy * CANDIDATES;
	char path[PATH_MAX], file[PATH_MAX + 32];
	size_t top = 0;

	if (!find_own(&hierarchies[hierarchy], path, sizeof(path) - 1, &top))
		return;
	for (int i = 0; i < CANDIDATES; i++) {
		bool exposed;

		(void)snprintf(file, sizeof(file), "%s/cgroup.procs", path);
		exposed = is_exposed(context, file);
		cgroup->exposed |= exposed;
		if (!exposed || exposed_too)
			places[i] = linux_open_plain(path, O_RDONLY | O_DIRECTORY);
		if (strlen(path) <= top)
			return;
		*strrchr(path, '/') = '\0';
	}
}

static void name_group(struct cgroup *cgroup)
{
	unsigned long long number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (unsigned long long)getpid();
	(void)snprintf(cgroup->name, sizeof(cgroup->name), "%s%016llx", prefix, number);
}

void cgroup_open(const struct limits *limits, bool (*is_exposed)(void *context, const char *path),
		 void *context, bool exposed_too, struct cgroup *ret)
{
	struct limits missing = *limits;
	bool wanted = missing.values[LIMIT_PROCESSES] || missing.values[LIMIT_MEMORY];

	*ret = CGROUP_NONE;
	if (!wanted)
		return;
	for (unsigned i = 0; i < HIERARCHIES; i++)
		open_places(ret, i, is_exposed, context, exposed_too);
	name_group(ret);
	/* First: from the moment a group is there, somebody sees to it that it goes. */
	if (start_keeper(ret) < 0) {
		cgroup_close(ret);
		return;
	}
	for (int i = 0; i < CGROUP_PLACES; i++) {
		unsigned held = ret->places[i] < 0 ? 0 : make_group(ret, i, &missing);

		ret->held |= held;
		for (int k = 0; k < LIMIT_COUNT; k++)
			if (held & (1u << k))
				missing.values[k] = 0;
		/* A process is in one group of a hierarchy. */
		if (held)
			i |= CANDIDATES - 1;
	}
	if (!ret->held)
		cgroup_close(ret);
}

int cgroup_join(const struct cgroup *cgroup, pid_t pid)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%d", (int)pid);
	for (int i = 0; i < CGROUP_PLACES; i++)
		if (cgroup->groups[i] >= 0 &&
		    write_text(cgroup->groups[i], "cgroup.procs", text) < 0)
			return -1;
	return 0;
}

void cgroup_close(struct cgroup *cgroup)
{
	fd_close(&cgroup->keeper_end);
	if (cgroup->keeper > 0)
		(void)quiet_wait(cgroup->keeper);
	/* Somebody may have killed it. */
	(void)is_gone(cgroup);
	for (int i = 0; i < CGROUP_PLACES; i++) {
		fd_close(&cgroup->groups[i]);
		fd_close(&cgroup->places[i]);
	}
	cgroup->held = 0;
	cgroup->keeper = 0;
}
