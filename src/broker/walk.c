/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

enum {
	LINKS_MAX = 40
}; /* path_resolution(7) */

struct walker {
	const struct call *call;
	const struct way *way;
	int top;             /* where `..` ends; not ours to close */
	uint64_t mount;      /* with RESOLVE_NO_XDEV: the mount that must not be left; 0: any yet */
	bool rooted;         /* the kernel would have looked up the root by now */
	int dir;             /* O_PATH: where we are */
	char rest[PATH_MAX]; /* what is left of the path */
	unsigned links;
	dev_t device;   /* dir's, as soon as it is anywhere */
	bool proc_root; /* dir is the root of a procfs */
	bool proc;      /* dir is somewhere in a procfs */
	bool own_fds;   /* dir holds the caller's own descriptors */
	bool closed;    /* dir is of a process that the caller may not look into */
};

/* ---- procfs ---- */

bool is_on_procfs(const struct broker *broker, int fd, struct str path)
{
	struct statfs fs;

	if (str_is_below(path, STR("/proc")))
		return true;
	return broker->stray_procs && (fstatfs(fd, &fs) < 0 || fs.f_type == PROC_SUPER_MAGIC);
}

/*
 * A caller that has changed its ids sees processes of that user only, as far as it is not root, who
 * can be anybody: our own right to look into them is not its. procfs gives a process to its
 * effective user, or to root if it may not be looked into.
 */
static bool is_of_same_user(const struct call *call, pid_t pid)
{
	uid_t user = (uid_t)setfsuid((uid_t)-1);
	char path[32];
	struct stat st;

	if (!call->broker->ids_changed || user == 0)
		return true;
	(void)snprintf(path, sizeof(path), "proc/%d", (int)pid);
	return fstatat(call->broker->root, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_uid == user;
}

/* REST of /proc/PID: what anybody may read, whoever's process it is; proc_pid(5) */
static bool is_for_everybody(struct str rest)
{
	static const char *const names[] = {
		"",        "/task",   "/stat",      "/statm", "/status",    "/cmdline", "/comm",
		"/cgroup", "/limits", "/oom_score", "/wchan", "/schedstat", "/cpuset",
	};
	size_t digits;

	if (str_starts(rest, STR("/task/"))) {
		rest = str_skip(rest, strlen("/task/"));
		(void)str_number(rest, &digits);
		rest = str_skip(rest, digits);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(rest, names[i]))
			return true;
	return false;
}

/* In a pid namespace of its own everything but init is the sandbox. */
static bool lets_into(const struct call *call, const struct layer *layer, pid_t pid)
{
	if (!layer->run && call->broker->own_proc)
		return pid != 1;
	return layer_has(call->broker, layer, pid, true);
}

/* As far as processes outside are not hidden. */
static bool may_look_at(const struct call *call, pid_t pid, struct str rest)
{
	for (unsigned i = 0; i < call->n_layers; i++)
		if ((call->layers[i]->input->private_scope & SCOPE_PID) &&
		    !lets_into(call, call->layers[i], pid))
			return false;
	return is_of_same_user(call, pid) && is_for_everybody(rest);
}

static bool may_look_into(const struct call *call, pid_t pid)
{
	struct caller_pids pids;

	if (caller_pids(call, &pids) < 0)
		return false;
	if (pid == pids.shown_tgid || pid == pids.shown_tid)
		return true;
	return is_of_same_user(call, pid) && lets_into(call, innermost(call), pid);
}

/* As check_procfs(). *RET_CLOSED: links from there lead to where the caller may not follow. */
static int look_at_procfs(const struct call *call, int fd, struct str path, bool *ret_closed)
{
	const struct str place = STR("/proc/");
	size_t digits;
	struct stat st;
	pid_t pid;

	*ret_closed = false;
	if (!is_on_procfs(call->broker, fd, path))
		return 0;
	/* Mounted elsewhere, or the one that ours covers: its numbers mean other processes. */
	if (!str_is_below(path, STR("/proc")) ||
	    (call->broker->own_proc &&
	     (fstat(fd, &st) < 0 || st.st_dev != call->broker->own_proc_device))) {
		errno = EACCES;
		return -1;
	}
	if (!str_starts(path, place))
		return 0;
	path = str_skip(path, place.n);
	pid = str_number(path, &digits);
	if (digits == 0 || (pid > 0 && may_look_into(call, pid)))
		return 0;
	*ret_closed = true;
	if (pid > 0 && may_look_at(call, pid, str_skip(path, digits)))
		return 0;
	errno = EACCES;
	return -1;
}

int check_procfs(const struct call *call, int fd, struct str path)
{
	bool closed;

	return look_at_procfs(call, fd, path, &closed);
}

bool is_own_fds(const struct call *call, struct str path)
{
	const struct str place = STR("/proc/"), tail = STR("/fd"), tasks = STR("/task/");
	struct caller_pids pids;
	size_t digits;
	int number;

	if (!call->broker->ids_changed || !str_starts(path, place) || caller_pids(call, &pids) < 0)
		return false;
	path = str_skip(path, place.n);
	number = str_number(path, &digits);
	path = str_skip(path, digits);
	if (str_starts(path, tasks)) {
		path = str_skip(path, tasks.n);
		(void)str_number(path, &digits);
		path = str_skip(path, digits);
	}
	return digits && (number == pids.shown_tgid || number == pids.shown_tid) &&
	       str_eq(path, tail);
}

/* What kind of place we are in, of which ST is known, and whether the caller may be here. */
static int note_place(struct walker *walker, const struct stat *st)
{
	struct fd_path link = fd_path(walker->dir);
	char path[64]; /* the beginning will do */
	struct statfs fs;
	ssize_t n;

	if (walker->device != st->st_dev) {
		if (fstatfs(walker->dir, &fs) < 0)
			return -1;
		walker->proc = fs.f_type == PROC_SUPER_MAGIC;
		walker->device = st->st_dev;
	}
	walker->own_fds = false;
	walker->proc_root = walker->proc && st->st_ino == 1; /* PROC_ROOT_INO */
	if (!walker->proc)
		return 0;
	n = readlink(link.text, path, sizeof(path) - 1);
	if (n < 0)
		return -1;
	path[n] = '\0';
	walker->own_fds = is_own_fds(walker->call, (struct str){path, (size_t)n});
	return look_at_procfs(walker->call, walker->dir, (struct str){path, (size_t)n},
			      &walker->closed);
}

/* Is the walk still on its first mount? 0; -1 with EXDEV. */
static int check_mount(struct walker *walker)
{
	struct statx stx;

	if (!(walker->way->resolve & RESOLVE_NO_XDEV))
		return 0;
	if (statx(walker->dir, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0)
		return -1;
	if ((stx.stx_mask & STATX_MNT_ID) && (!walker->mount || walker->mount == stx.stx_mnt_id)) {
		walker->mount = stx.stx_mnt_id;
		return 0;
	}
	errno = EXDEV;
	return -1;
}

/* openat(2) of NAME where we are. */
static int look(const struct walker *walker, const char *name, int flags)
{
	return walker->own_fds ? caller_open_own(walker->call, walker->dir, name, flags)
			       : openat(walker->dir, name, flags);
}

/* Goes to FD (consumed), of which ST is known. */
static int enter_known(struct walker *walker, int fd, const struct stat *st)
{
	fd_close(&walker->dir);
	walker->dir = fd;
	return check_mount(walker) < 0 ? -1 : note_place(walker, st);
}

/* Goes to FD (consumed). */
static int enter(struct walker *walker, int fd)
{
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0) {
		(void)close(fd);
		return -1;
	}
	return enter_known(walker, fd, &st);
}

/* To what "/" means here. */
static int enter_root(struct walker *walker)
{
	const uint64_t resolve = walker->way->resolve;

	/* A root that the kernel does not know yet is no place on the same mount to it. */
	if ((resolve & RESOLVE_BENEATH) ||
	    ((resolve & RESOLVE_NO_XDEV) && walker->mount && !walker->rooted)) {
		errno = EXDEV;
		return -1;
	}
	walker->rooted = true;
	return enter(walker, fcntl(walker->top, F_DUPFD_CLOEXEC, 0));
}

static int enter_parent(struct walker *walker)
{
	struct stat here, top;

	if (fstat(walker->dir, &here) < 0 || fstat(walker->top, &top) < 0)
		return -1;
	walker->rooted = true;
	if (here.st_dev != top.st_dev || here.st_ino != top.st_ino)
		return enter(walker, openat(walker->dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (walker->way->resolve & RESOLVE_BENEATH) {
		errno = EXDEV;
		return -1;
	}
	return 0;
}

/* Puts TEXT in front of what is left, which is nothing or begins with a slash. */
static int prepend(struct walker *walker, const char *text)
{
	char joined[PATH_MAX];
	int n = snprintf(joined, sizeof(joined), "%s%s", text, walker->rest);

	if (n < 0 || (size_t)n >= sizeof(joined)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(walker->rest, joined, (size_t)n + 1);
	return 0;
}

/* Takes the next component into NAME. 1: there is none. */
static int next(struct walker *walker, char *name)
{
	const char *from = walker->rest + strspn(walker->rest, "/");
	size_t n = strcspn(from, "/");

	if (n == 0)
		return 1;
	if (n > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, from, n);
	name[n] = '\0';
	memmove(walker->rest, from + n, strlen(from + n) + 1);
	return 0;
}

static bool is_last(const struct walker *walker)
{
	return walker->rest[0] == '\0';
}

/* ---- procfs ---- */

/* `self` and `thread-self` are links whose text depends on who reads it. 0: NAME is neither. */
static int self_link(struct walker *walker, const char *name)
{
	struct caller_pids pids;
	char text[64];

	if (!walker->proc_root || (strcmp(name, "self") != 0 && strcmp(name, "thread-self") != 0))
		return 0;
	if (walker->way->resolve & RESOLVE_NO_SYMLINKS) {
		errno = ELOOP;
		return -1;
	}
	if (caller_pids(walker->call, &pids) < 0)
		return -1;
	if (strcmp(name, "self") == 0)
		(void)snprintf(text, sizeof(text), "%d", (int)pids.shown_tgid);
	else
		(void)snprintf(text, sizeof(text), "%d/task/%d", (int)pids.shown_tgid,
			       (int)pids.shown_tid);
	return prepend(walker, text) < 0 ? -1 : 1;
}

/* ---- Steps ---- */

/* Below a process's directory links are magic: they lead to the object itself. */
static int follow_magic(struct walker *walker, const char *name)
{
	if (walker->way->resolve & RESOLVE_NO_MAGICLINKS) {
		errno = ELOOP;
		return -1;
	}
	if (walker->way->resolve & RESOLVE_SCOPED) {
		errno = EXDEV;
		return -1;
	}
	return enter(walker, look(walker, name, O_PATH | O_CLOEXEC));
}

/* Follows the link NAME, opened as FD (consumed). */
static int follow(struct walker *walker, const char *name, int fd)
{
	char text[PATH_MAX];
	int cleanup_fd link = fd;
	ssize_t n;

	if (++walker->links > LINKS_MAX || (walker->way->resolve & RESOLVE_NO_SYMLINKS)) {
		errno = ELOOP;
		return -1;
	}
	if (walker->proc && walker->closed) {
		errno = EACCES;
		return -1;
	}
	if (walker->proc && !walker->proc_root)
		return follow_magic(walker, name);
	n = readlinkat(link, "", text, sizeof(text) - 1);
	if (n < 0)
		return -1;
	text[n] = '\0';
	if (prepend(walker, text) < 0)
		return -1;
	return text[0] == '/' ? enter_root(walker) : 0;
}

static int step(struct walker *walker, const char *name, uint64_t flags)
{
	struct stat st;
	int fd, r;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0)
		return enter_parent(walker);
	r = self_link(walker, name);
	if (r != 0)
		return r < 0 ? -1 : 0;
	fd = look(walker, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0) {
		(void)close(fd);
		return -1;
	}
	if (S_ISLNK(st.st_mode) && !(is_last(walker) && (flags & O_NOFOLLOW)))
		return follow(walker, name, fd);
	return enter_known(walker, fd, &st);
}

/*
 * The kernel keeps a scoped walk in its place whatever is renamed meanwhile; here that is looked at
 * in the end. 0, or -1 with EAGAIN.
 */
static int check_scope(const struct walker *walker)
{
	char top[PATH_MAX], here[PATH_MAX];
	struct fd_path top_link = fd_path(walker->top), here_link = fd_path(walker->dir);
	ssize_t n, m;

	if (!(walker->way->resolve & RESOLVE_SCOPED))
		return 0;
	n = readlink(top_link.text, top, sizeof(top));
	m = readlink(here_link.text, here, sizeof(here));
	if (n > 0 && m > 0 &&
	    str_is_below((struct str){here, (size_t)m}, (struct str){top, (size_t)n}))
		return 0;
	errno = EAGAIN;
	return -1;
}

int walk(const struct call *call, const struct way *way, const char *path, uint64_t flags)
{
	struct walker walker = {
		.call = call,
		.way = way,
		.top = way->resolve & RESOLVE_SCOPED ? way->base : call->broker->root,
		.rooted = way->resolve & RESOLVE_SCOPED,
		.dir = -1,
	};
	char name[NAME_MAX + 1];
	bool slash = false;
	struct stat st;
	int r;

	if (strlen(path) >= sizeof(walker.rest)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(walker.rest, path, strlen(path) + 1);
	r = path[0] == '/' ? enter_root(&walker)
			   : enter(&walker, fcntl(way->base, F_DUPFD_CLOEXEC, 0));
	while (r == 0 && (r = next(&walker, name)) == 0) {
		slash = walker.rest[0] == '/';
		r = step(&walker, name, flags);
	}
	if (r == 1 && (slash || (flags & O_DIRECTORY)) &&
	    (fstat(walker.dir, &st) < 0 || !S_ISDIR(st.st_mode))) {
		errno = ENOTDIR;
		r = -1;
	}
	if (r < 0 || check_scope(&walker) < 0)
		fd_close(&walker.dir);
	return walker.dir;
}
