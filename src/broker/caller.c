/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who calls: its descriptors, working directory, umask and ids, from outside.
 * A non-dumpable or vanished caller makes these fail, and the call is denied.
 */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/proc.h"
#include "base/banned.h"

enum {
	PIDFD_THREAD_ = O_EXCL, /* 6.9 */
	MAKING = O_CREAT | (O_TMPFILE & ~O_DIRECTORY),
};

/* ---- Descriptors ---- */

static int read_status(const struct call *call, char *text, size_t size)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "%d/status", (int)call->tid);
	if (proc_read(call->broker->proc, path, text, size) < 0)
		return -1;
	/* What we read was the caller's only if it still is the caller. */
	if (!call_is_alive(call)) {
		errno = ESRCH;
		return -1;
	}
	return 0;
}

/* Before 6.9 only the leader of a thread group can be opened: will its descriptors do? */
static int open_leader(const struct call *call)
{
	char status[PROC_TEXT_MAX];
	const char *field;
	long leader;

	if (read_status(call, status, sizeof(status)) < 0)
		return -1;
	field = proc_field(status, "Tgid");
	leader = field ? strtol(field, NULL, 10) : 0;
	/* A thread may have a table of its own; unshare(2). */
	if (leader <= 0 || syscall(SYS_kcmp, leader, call->tid, KCMP_FILES, 0, 0) != 0) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_pidfd_open, leader, 0);
}

bool caller_lends(const struct call *call)
{
	return call->broker->input->caps->pidfd_getfd;
}

int caller_fd(const struct call *call, int fd)
{
	int cleanup_fd pidfd = -1;

	if (!caller_lends(call))
		return held_fd(call, fd);
	pidfd = (int)syscall(SYS_pidfd_open, call->tid, PIDFD_THREAD_);
	if (pidfd < 0 && errno == EINVAL)
		pidfd = (int)syscall(SYS_pidfd_open, call->tid, 0);
	if (pidfd < 0)
		pidfd = open_leader(call);
	if (pidfd < 0)
		return -1;
	if (!call_is_alive(call)) {
		errno = ESRCH;
		return -1;
	}
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

int caller_open_own(const struct call *call, int dir, const char *path, int flags)
{
	int fd = openat(dir, path, flags);
	int error = errno;

	if (fd >= 0 || error != EACCES || !call->broker->ids_changed)
		return fd;
	caller_put_off(call);
	fd = openat(dir, path, flags);
	error = errno;
	if (caller_assume(call) < 0)
		fd_close(&fd);
	errno = error;
	return fd;
}

int caller_directory(const struct call *call, int dirfd)
{
	char path[48];
	int cleanup_fd fd = -1;

	if (dirfd == AT_FDCWD)
		(void)snprintf(path, sizeof(path), "%d/cwd", (int)call->tid);
	else
		(void)snprintf(path, sizeof(path), "%d/fd/%d", (int)call->tid, dirfd);
	fd = caller_open_own(call, call->broker->proc, path, O_PATH | O_CLOEXEC);
	if (fd < 0) {
		errno = errno == ENOENT && dirfd != AT_FDCWD ? EBADF : errno;
		return -1;
	}
	if (!call_is_alive(call)) {
		errno = ESRCH;
		return -1;
	}
	return fd_steal(&fd);
}

int caller_fdinfo(const struct broker *broker, pid_t tid, int fd, char *text, size_t size)
{
	char path[48];

	(void)snprintf(path, sizeof(path), "%d/fdinfo/%d", (int)tid, fd);
	if (proc_read(broker->proc, path, text, size) == 0)
		return 0;
	errno = errno == ENOENT ? EBADF : errno;
	return -1;
}

bool fdinfo_is_of(const char *text, const struct stat *st, uint64_t mount)
{
	const char *inode = proc_field(text, "ino"), *id = proc_field(text, "mnt_id");

	return inode && id && mount && strtoull(inode, NULL, 10) == st->st_ino &&
	       strtoull(id, NULL, 10) == mount;
}

uint64_t mount_of(int fd)
{
	struct statx stx;

	return statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) == 0 &&
			       (stx.stx_mask & STATX_MNT_ID)
		       ? stx.stx_mnt_id
		       : 0;
}

int caller_object(const struct call *call, int fd)
{
	char text[PROC_TEXT_MAX];
	const char *flags;

	/* One that is only a path is bad to those who ask for a file. */
	if (fd < 0 || caller_fdinfo(call->broker, call->tid, fd, text, sizeof(text)) < 0) {
		errno = fd < 0 ? EBADF : errno;
		return -1;
	}
	flags = proc_field(text, "flags");
	if (!flags || (strtoul(flags, NULL, 8) & O_PATH)) {
		errno = EBADF;
		return -1;
	}
	return caller_directory(call, fd);
}

/* The last number of a line: status lists one pid per namespace, outermost first. */
static pid_t last_number(const char *field)
{
	size_t end = strcspn(field, "\n");
	size_t at = end;

	while (at > 0 && field[at - 1] >= '0' && field[at - 1] <= '9')
		at--;
	return (pid_t)strtol(field + at, NULL, 10);
}

int caller_pids(const struct call *call, struct caller_pids *ret)
{
	char status[PROC_TEXT_MAX];
	const char *tgid, *shown_tgid, *shown_tid;

	if (read_status(call, status, sizeof(status)) < 0)
		return -1;
	tgid = proc_field(status, "Tgid");
	shown_tgid = proc_field(status, "NStgid");
	shown_tid = proc_field(status, "NSpid");
	if (!tgid || !shown_tgid || !shown_tid) {
		errno = ESRCH;
		return -1;
	}
	ret->tgid = (pid_t)strtol(tgid, NULL, 10);
	ret->shown_tgid = call->broker->own_proc ? last_number(shown_tgid) : ret->tgid;
	ret->shown_tid = call->broker->own_proc ? last_number(shown_tid) : call->tid;
	return 0;
}

/* ---- Taking on what the caller's acts would carry ---- */

static _Thread_local mode_t own_umask;

void caller_begin(mode_t mask)
{
	(void)umask(mask);
	own_umask = mask;
}

static int assume_umask(const struct call *call, const char *status)
{
	const char *field = status ? proc_field(status, "Umask") : NULL;
	mode_t mask = call->broker->initial_umask;

	if (status && !field) {
		errno = ESRCH;
		return -1;
	}
	if (field)
		mask = (mode_t)strtoul(field, NULL, 8);
	if (mask != own_umask)
		caller_begin(mask);
	return 0;
}

static int assume_groups(const char *field)
{
	gid_t groups[1024];
	size_t n = 0;

	while (n < sizeof(groups) / sizeof(groups[0])) {
		char *end;
		unsigned long gid = strtoul(field, &end, 10);

		if (end == field || memchr(field, '\n', (size_t)(end - field)))
			break;
		groups[n++] = (gid_t)gid;
		field = end;
	}
	/* The system call itself: the library's changes every thread of the process. */
	return (int)syscall(SYS_setgroups, n, groups);
}

/* Effective capabilities: MASK of those permitted to this thread. */
static int assume_caps(uint64_t mask)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted & (uint32_t)(mask >> (32 * i));
	return (int)syscall(SYS_capset, &header, data);
}

/* The columns of "Uid" and "Gid". */
enum id {
	REAL_ID,
	EFFECTIVE_ID,
	SAVED_ID,
	FS_ID,
};

/* Whose real id is root's has what is permitted to it, another nothing; access(2). */
static const char *real_caps(const char *status)
{
	return proc_number(proc_field(status, "Uid"), REAL_ID) == 0 ? "CapPrm" : NULL;
}

static int assume_ids(const char *status, enum id which)
{
	const char *uids = proc_field(status, "Uid");
	const char *gids = proc_field(status, "Gid");
	const char *groups = proc_field(status, "Groups");
	const char *name = which == REAL_ID ? real_caps(status) : "CapEff";
	const char *caps = name ? proc_field(status, name) : "0";
	unsigned uid = proc_number(uids, which), gid = proc_number(gids, which);

	if (!groups || !caps || uid == UINT_MAX || gid == UINT_MAX) {
		errno = ESRCH;
		return -1;
	}
	if (assume_caps(UINT64_MAX) < 0 || assume_groups(groups) < 0)
		return -1;
	(void)setfsgid(gid);
	(void)setfsuid(uid);
	/* Both report the old id and no error: ask again. */
	if ((unsigned)setfsgid(gid) != gid || (unsigned)setfsuid(uid) != uid) {
		errno = EPERM;
		return -1;
	}
	return assume_caps(strtoull(caps, NULL, 16) | 1ull << CAP_SYS_PTRACE);
}

/* Does the umask make no difference to CALL? Can't tell: it does. */
static bool makes_nothing(const struct call *call)
{
	switch (call->nr) {
#ifdef SYS_open
	case SYS_open:
		return !(call->args[1] & MAKING);
	case SYS_access:
#endif
	case SYS_faccessat:
	case SYS_faccessat2:
		return true;
	case SYS_openat:
		return !(call->args[2] & MAKING);
	default:
		return false;
	}
}

int caller_assume(const struct call *call)
{
	struct broker *broker = call->broker;
	char status[PROC_TEXT_MAX];

	if (!broker->ids_changed && (!broker->umask_changed || makes_nothing(call)))
		return broker->umask_changed ? 0 : assume_umask(call, NULL);
	if (read_status(call, status, sizeof(status)) < 0)
		return -1;
	if (broker->ids_changed && assume_ids(status, FS_ID) < 0)
		return -1;
	return assume_umask(call, status);
}

void caller_put_off(const struct call *call)
{
	/* For files, whoever is root again may do what root may; capabilities(7). */
	if (call->broker->ids_changed)
		(void)setfsuid(geteuid());
}

int caller_assume_real(const struct call *call)
{
	char status[PROC_TEXT_MAX];

	if (!call->broker->ids_changed)
		return 0;
	if (read_status(call, status, sizeof(status)) < 0)
		return -1;
	return assume_ids(status, REAL_ID);
}

int caller_assume_kill(const struct call *call)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	/* Else our own are the caller's still. The next call takes on its own caller's. */
	if (!call->broker->ids_changed)
		return 0;
	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	return assume_caps((uint64_t)data[1].effective << 32 | data[0].effective |
			   1ull << CAP_KILL);
}

void handle_umask(struct call *call)
{
	/* No memory involved, and nothing but the caller's own umask changes. */
	atomic_store(&call->broker->umask_changed, true);
	call_continue(call);
}

/* The calls that set ids, and how many arguments are some. */
static const struct {
	int nr, n;
	bool of_group;
} id_calls[] = {
	{SYS_setuid, 1},         {SYS_setfsuid, 1},        {SYS_setreuid, 2},
	{SYS_setresuid, 3},      {SYS_setgid, 1, true},    {SYS_setfsgid, 1, true},
	{SYS_setregid, 2, true}, {SYS_setresgid, 3, true},
};

/* make(1) sets its children's ids to what they are. Ids are the same numbers inside. */
static bool keeps_ids(const struct call *call)
{
	uid_t user, effective, saved;
	gid_t group, effective_group, saved_group;
	bool keeps = false;

	if (call->broker->input->nested_userns || getresuid(&user, &effective, &saved) < 0 ||
	    user != effective || user != saved ||
	    getresgid(&group, &effective_group, &saved_group) < 0 || group != effective_group ||
	    group != saved_group)
		return false;
	for (size_t i = 0; i < sizeof(id_calls) / sizeof(id_calls[0]); i++) {
		const uint32_t id = id_calls[i].of_group ? group : user;

		if (id_calls[i].nr != call->nr)
			continue;
		keeps = true;
		for (int arg = 0; arg < id_calls[i].n; arg++)
			keeps &= (uint32_t)call->args[arg] == UINT32_MAX ||
				 (uint32_t)call->args[arg] == id;
	}
	return keeps;
}

void handle_setids(struct call *call)
{
	/* The kernel decides by the caller's own credentials; we only have to look from now on. */
	if (!keeps_ids(call))
		atomic_store(&call->broker->ids_changed, true);
	call_continue(call);
}

/* ---- Who belongs to the sandbox ---- */

bool caller_is_inside(const struct broker *broker, pid_t pid)
{
	/* Orphans become init's children, so the way up ends there or outside. */
	return proc_is_descendant(broker->proc, pid, broker->init);
}

int caller_umask_of(pid_t pid, mode_t *ret)
{
	char path[32], text[PROC_TEXT_MAX];
	const char *field = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (proc_read(AT_FDCWD, path, text, sizeof(text)) == 0)
		field = proc_field(text, "Umask");
	if (!field)
		return -1;
	*ret = (mode_t)strtoul(field, NULL, 8);
	return 0;
}

static uint64_t signal_set(const char *status, const char *name)
{
	const char *field = proc_field(status, name);

	return field ? strtoull(field, NULL, 16) : 0;
}

/*
 * A signal of the whole process may yet be another thread's, but the kernel offers it to the first
 * thread before all others.
 */
bool caller_has_signal(const struct call *call)
{
	char status[PROC_TEXT_MAX];
	uint64_t pending;

	if (read_status(call, status, sizeof(status)) < 0)
		return false;
	pending = signal_set(status, "SigPnd");
	if (proc_number(proc_field(status, "Threads"), 0) == 1 ||
	    proc_number(proc_field(status, "Tgid"), 0) == (unsigned)call->tid)
		pending |= signal_set(status, "ShdPnd");
	return (pending & ~(signal_set(status, "SigBlk") | signal_set(status, "SigIgn"))) != 0;
}

uint64_t caller_file_limit(const struct call *call)
{
	static const char name[] = "Max file size";
	char path[32], text[PROC_TEXT_MAX];
	const char *line;
	char *end;
	uint64_t limit;

	(void)snprintf(path, sizeof(path), "%d/limits", (int)call->tid);
	if (proc_read(call->broker->proc, path, text, sizeof(text)) < 0 || !call_is_alive(call))
		return UINT64_MAX;
	line = strstr(text, name);
	if (!line)
		return UINT64_MAX;
	limit = strtoull(line + sizeof(name) - 1, &end, 10);
	return end == line + sizeof(name) - 1 ? UINT64_MAX : limit; /* "unlimited" */
}

void caller_signal(const struct call *call, int number)
{
	struct caller_pids pids;

	/* Whoever has changed its ids may be told by nobody but root. */
	if (caller_pids(call, &pids) == 0 && caller_assume_kill(call) == 0)
		(void)syscall(SYS_tgkill, pids.tgid, call->tid, number);
}

bool caller_has_our_ids(const struct call *call)
{
	char status[PROC_TEXT_MAX];

	if (!call->broker->ids_changed)
		return true;
	return read_status(call, status, sizeof(status)) == 0 &&
	       proc_number(proc_field(status, "Uid"), EFFECTIVE_ID) == geteuid() &&
	       proc_number(proc_field(status, "Gid"), EFFECTIVE_ID) == getegid();
}
