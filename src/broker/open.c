/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open(2), openat(2), creat(2): everything is decided before anything is made,
 * and what is handed over is what was decided about.
 */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "broker/walk.h"
#include "linux/proc.h"
#include "base/banned.h"

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20 /* 5.12 */
#endif
#define RESOLVE_KNOWN                                                                              \
	((uint64_t)(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS |                \
		    RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_CACHED))

enum {
	TTY_MAJOR = 5, /* /dev/tty and /dev/ptmx; admin-guide/devices.rst */
	TTY_MINOR = 0,
	RACES_MAX = 16,
};

struct open_call {
	struct lookup lookup;
	int flags;
	mode_t mode;
	bool in_memory; /* flags and mode are not in registers: openat2(2) */
};

static bool wants_read(const struct open_call *open)
{
	return (open->flags & O_ACCMODE) != O_WRONLY;
}

static bool wants_write(const struct open_call *open)
{
	return (open->flags & O_ACCMODE) != O_RDONLY || (open->flags & O_TRUNC);
}

/* The flags of our own open: nothing of ours may change by it, and nothing may block us. */
static int act_flags(const struct open_call *open)
{
	return (open->flags & ~(O_ASYNC | O_CREAT | O_EXCL | O_CLOEXEC)) | O_CLOEXEC | O_NOCTTY;
}

static bool may_open(const struct call *call, const struct open_call *open,
		     const struct subject *subject)
{
	if (wants_read(open) && !judge(call, OP_FILE_READ_DATA, subject))
		return false;
	return !wants_write(open) || judge(call, OP_FILE_WRITE_DATA, subject);
}

/* ---- Opens that would block ---- */

struct open_wait {
	int object;
	int fd; /* the reading end of a FIFO, once it is open; -1 */
	int flags;
	bool cloexec;
};

static void wait_release(void *data)
{
	struct open_wait *wait = data;

	fd_close(&wait->object);
	fd_close(&wait->fd);
}

/* Opens OBJECT by FLAGS, as soon as RETRY can. */
static void open_later(struct call *call, const struct open_call *open, int object, int flags,
		       void (*retry)(struct call *call, void *data))
{
	struct open_wait *wait = malloc(sizeof(*wait));

	if (!wait) {
		call_error(call, ENOMEM);
		return;
	}
	*wait = (struct open_wait){.object = fcntl(object, F_DUPFD_CLOEXEC, 0),
				   .fd = -1,
				   .flags = flags,
				   .cloexec = open->flags & O_CLOEXEC};
	pending_add(call, retry, wait_release, wait);
}

/* FD was opened without blocking, which its caller has not asked for. */
static void give_blocking(struct call *call, const struct open_wait *wait, int *fd)
{
	(void)fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
	handing_give(call, fd, wait->cloexec, true);
}

/* ---- Files ---- */

/* Somebody has a lease on it, and is being told. */
static void lease_retry(struct call *call, void *data)
{
	const struct open_wait *wait = data;
	int cleanup_fd fd = open(fd_path(wait->object).text, wait->flags | O_NONBLOCK);

	if (fd >= 0)
		give_blocking(call, wait, &fd);
	else if (errno != EWOULDBLOCK)
		call_error(call, errno);
}

static void give(struct call *call, const struct open_call *open, int *fd)
{
	if (*fd < 0)
		call_error(call, errno);
	else
		handing_give(call, fd, open->flags & O_CLOEXEC, wants_write(open));
}

/* A file or a directory. Where others wait for us we do not wait for who has a lease. */
static void open_file(struct call *call, const struct open_call *open, const struct place *place)
{
	struct fd_path link = fd_path(place->object);
	int flags = act_flags(open) & ~O_NOFOLLOW;
	int cleanup_fd fd = -1;

	if (is_own_fds(call, place_path(place))) {
		fd = caller_open_own(call, AT_FDCWD, link.text, flags);
	} else if (call->has_turn && !(flags & O_NONBLOCK)) {
		open_later(call, open, place->object, flags, lease_retry);
		return;
	} else {
		fd = openat(AT_FDCWD, link.text, flags);
	}
	give(call, open, &fd);
}

/* ---- FIFOs ---- */

/* With O_NONBLOCK a writer gets ENXIO until there is a reader, so we try until it works. */
static void fifo_write_retry(struct call *call, void *data)
{
	struct open_wait *wait = data;
	int cleanup_fd fd = open(fd_path(wait->object).text, wait->flags | O_NONBLOCK);

	if (fd >= 0)
		give_blocking(call, wait, &fd);
	else if (errno != ENXIO)
		call_error(call, errno);
}

/*
 * With O_NONBLOCK a reader is there at once, and lets a writer in. Nothing tells that one has come
 * before it writes or goes, so that is what we wait for.
 */
static void fifo_read_retry(struct call *call, void *data)
{
	struct open_wait *wait = data;
	struct pollfd polled = {.events = POLLIN};

	if (wait->fd < 0)
		wait->fd = open(fd_path(wait->object).text, wait->flags | O_NONBLOCK);
	polled.fd = wait->fd;
	if (wait->fd < 0)
		call_error(call, errno);
	else if (poll(&polled, 1, 0) > 0)
		give_blocking(call, wait, &wait->fd);
}

static void open_fifo(struct call *call, const struct open_call *open_call, int object)
{
	int flags = act_flags(open_call) & ~O_NOFOLLOW;

	if ((flags & O_NONBLOCK) || (flags & O_ACCMODE) == O_RDWR) { /* does not block */
		int cleanup_fd fd = open(fd_path(object).text, flags);

		if (fd < 0)
			call_error(call, errno);
		else
			call_fd(call, fd, open_call->flags & O_CLOEXEC);
		return;
	}
	open_later(call, open_call, object, flags,
		   (flags & O_ACCMODE) == O_RDONLY ? fifo_read_retry : fifo_write_retry);
}

/* ---- By the caller itself ---- */

/*
 * The caller may write another path there before the kernel looks; then the Landlock floor decides
 * about that one, if it bounds opens at all. The mode is in a register, and the floor has no hook
 * for what it may contain.
 */
static bool may_continue(const struct call *call, const struct open_call *open)
{
	bool ret = call->n_layers > 0 && (open->in_memory || !(open->mode & (S_ISUID | S_ISGID)));

	for (unsigned i = 0; i < call->n_layers; i++) {
		const struct plan *plan = call->layers[i]->plan;

		ret &= open->in_memory ? plan->floor_bounds_openat2 : plan->floor_bounds_open;
	}
	return ret;
}

/* ---- What is there ---- */

/*
 * Would OPEN let who holds a file open with FLAGS do more? O_APPEND is no limit: F_SETFL takes it
 * away, and ftruncate(2) does not ask for it. make(1) sets it on what its recipes write to.
 */
static bool gives_more(int flags, const struct open_call *open)
{
	int mode = flags & O_ACCMODE;

	if (flags < 0 || (flags & O_PATH) || (mode != O_RDWR && mode != (open->flags & O_ACCMODE)))
		return true;
	/* O_TRUNC writes, whatever the mode. */
	return wants_write(open) && mode != O_RDWR && mode != O_WRONLY;
}

struct holder {
	const struct call *call;
	const struct open_call *open;
	const struct stat *st; /* of the object */
	long last;             /* descriptors up to this one count */
};

/* The flags of descriptor NUMBER of the caller, if it is open on the object. -1: it is not. */
static int flags_of(const struct holder *holder, int number)
{
	const struct call *call = holder->call;
	char text[PROC_TEXT_MAX];
	const char *flags;
	struct stat st;
	int cleanup_fd fd =
		caller_lends(call) ? caller_fd(call, number) : caller_object(call, number);

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != holder->st->st_dev ||
	    st.st_ino != holder->st->st_ino)
		return -1;
	if (caller_lends(call))
		return fcntl(fd, F_GETFL);
	if (caller_fdinfo(call->broker, call->tid, number, text, sizeof(text)) < 0 ||
	    !fdinfo_is_of(text, &st, mount_of(fd)))
		return -1;
	flags = proc_field(text, "flags");
	return flags ? (int)strtol(flags, NULL, 8) : -1;
}

/* 1: the descriptor NAME of the caller is the object, open for as much. */
static int look_at_descriptor(int directory, const char *name, void *context)
{
	const struct holder *holder = context;
	long number = strtol(name, NULL, 10);
	struct stat st;

	if (number > holder->last || fstatat(directory, name, &st, 0) < 0 ||
	    st.st_dev != holder->st->st_dev || st.st_ino != holder->st->st_ino)
		return 0;
	/* It may be another by now. */
	return !gives_more(flags_of(holder, (int)number), holder->open);
}

/*
 * Does the caller hold the object open already, for as much? `>/dev/stderr` opens a standard file
 * once more, wherever it is; what has no name is opened in no other way.
 */
static bool is_held(const struct call *call, const struct open_call *open,
		    const struct place *place, const struct stat *st)
{
	struct holder holder = {.call = call,
				.open = open,
				.st = st,
				.last = place->path_n ? STDERR_FILENO : INT_MAX};
	char path[32];
	int cleanup_fd fds = -1;
	bool held;

	(void)snprintf(path, sizeof(path), "%d/fd", (int)call->tid);
	caller_put_off(call);
	fds = openat(call->broker->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	held = fds >= 0 && proc_each_entry(fds, look_at_descriptor, &holder) == 1;
	return caller_assume(call) == 0 && held;
}

static bool may_unnamed(const struct call *call, enum op op)
{
	struct request request = {.op = op};

	return judge_pathless(call, &request);
}

/* What rules about paths leave out, as what has no name, is as they leave it. */
static bool may_open_unnamed(const struct call *call, const struct open_call *open)
{
	return (!wants_read(open) || may_unnamed(call, OP_FILE_READ_DATA)) &&
	       (!wants_write(open) || may_unnamed(call, OP_FILE_WRITE_DATA));
}

/* Whatever the policy says of what has no name: who holds it may open it again for as much. */
static bool may_open_again(const struct call *call, const struct open_call *open,
			   const struct subject *subject, const struct stat *st)
{
	bool may = subject->place->path_n > 0 ? may_open(call, open, subject)
					      : may_open_unnamed(call, open);

	if (!may && (subject->place->path_n == 0 || S_ISREG(st->st_mode)))
		may = is_held(call, open, subject->place, st);
	return may;
}

static int access_mode(const struct open_call *open)
{
	return (wants_read(open) ? R_OK : 0) | (wants_write(open) ? W_OK : 0);
}

/* Is it a device that reaches into the network of whoever opens it? admin-guide/devices.rst */
static bool is_network_device(const struct stat *st)
{
	static const struct {
		unsigned major, minor;
	} devices[] = {
		{10, 200}, /* /dev/net/tun */
		{10, 238}, /* /dev/vhost-net */
		{108, 0},  /* /dev/ppp */
	};

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (S_ISCHR(st->st_mode) && major(st->st_rdev) == devices[i].major &&
		    minor(st->st_rdev) == devices[i].minor)
			return true;
	return false;
}

/*
 * Does what is open there depend on the namespaces or the credentials of whoever opened it, and are
 * ours others than the caller's? Most of procfs looks at who reads.
 */
static bool is_bound_to_opener(const struct call *call, const struct open_call *open,
			       const struct place *place, const struct stat *st)
{
	static const struct {
		const char *begin;
		unsigned ns;
	} bound[] = {
		{"/proc/sys/net", NS_NET},        {"/proc/sys/user", NS_USER},
		{"/proc/sys/fs/mqueue", NS_IPC},  {"/proc/sys/kernel/shm", NS_IPC},
		{"/proc/sys/kernel/msg", NS_IPC}, {"/proc/sys/kernel/sem", NS_IPC},
		{"/proc/sys/kernel/ns_", NS_PID}, {"/proc/sysvipc", NS_IPC},
		{"/proc/keys", NS_USER},          {"/proc/key-users", NS_USER},
	};
	struct str path = place_path(place);
	unsigned ns = call->broker->plan->ns;

	/* Which parameters belong to a namespace changes from kernel to kernel. */
	if (ns && wants_write(open) && str_starts(path, STR("/proc/sys/")))
		return true;
	for (size_t i = 0; i < sizeof(bound) / sizeof(bound[0]); i++)
		if ((ns & bound[i].ns) && str_starts(path, str_of(bound[i].begin)))
			return true;
	return ns && is_network_device(st);
}

/* Only the caller's own open is right. */
static void open_by_caller(struct call *call, const struct open_call *open)
{
	if (may_continue(call, open))
		call_continue(call);
	else
		/* Programs that miss openat2(2) do it by openat(2). */
		call_error(call, open->in_memory ? ENOSYS : EPERM);
}

/* By the caller's flags, but without waiting for the device. */
static int open_waitless(const struct open_call *open_call, int object)
{
	int flags = act_flags(open_call) & ~O_NOFOLLOW;
	int fd = open(fd_path(object).text, flags | O_NONBLOCK);

	if (fd >= 0 && !(flags & O_NONBLOCK))
		(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

static void open_device(struct call *call, const struct open_call *open, int object,
			const struct stat *st)
{
	int cleanup_fd fd = -1;
	bool own_pts = call->broker->own_pts && major(st->st_rdev) >= 136 &&
		       major(st->st_rdev) <= 143; /* Unix98 pty slaves */

	/*
	 * A terminal can become the opener's controlling terminal, and /dev/tty is another device
	 * for everybody: only the caller's own open is right.
	 */
	if ((own_pts || (major(st->st_rdev) == TTY_MAJOR && S_ISCHR(st->st_mode))) &&
	    may_continue(call, open)) {
		call_continue(call);
		return;
	}
	/* For us /dev/tty is our own controlling terminal: the caller's only in the same session.
	 */
	if (major(st->st_rdev) == TTY_MAJOR && minor(st->st_rdev) == TTY_MINOR &&
	    getsid(call->tid) != getsid(0)) {
		call_error(call, ENXIO);
		return;
	}
	fd = open_waitless(open, object);
	if (fd < 0)
		call_error(call, errno);
	else
		call_fd(call, fd, open->flags & O_CLOEXEC);
}

static void open_object(struct call *call, const struct open_call *open, const struct place *place)
{
	struct subject subject;
	struct stat st;

	if (fstat(place->object, &st) < 0) {
		call_error(call, errno);
		return;
	}
	subject = subject_of(place, &st);
	if (S_ISLNK(st.st_mode)) {
		call_error(call, open->flags & O_DIRECTORY ? ENOTDIR : ELOOP);
	} else if (S_ISDIR(st.st_mode) && (wants_write(open) || (open->flags & O_CREAT))) {
		call_error(call, EISDIR);
	} else if (!may_open_again(call, open, &subject, &st)) {
		call_error(call, call_denial(place->object, access_mode(open)));
	} else if (is_bound_to_opener(call, open, place, &st) ||
		   (S_ISCHR(st.st_mode) && !judge(call, OP_FILE_IOCTL, &subject))) {
		/* Landlock lets the caller's own device take no request. */
		open_by_caller(call, open);
	} else if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
		open_device(call, open, place->object, &st);
	} else if (S_ISFIFO(st.st_mode)) {
		open_fifo(call, open, place->object);
	} else {
		open_file(call, open, place);
	}
}

/* ---- O_CREAT ---- */

static bool may_create(const struct call *call, const struct open_call *open,
		       const struct place *place)
{
	struct subject subject = {
		.place = place, .vnode_type = VNODE_REGULAR, .has_mode = true, .mode = open->mode};
	struct open_call uncut = *open; /* a new file has nothing to be cut off */

	uncut.flags &= ~O_TRUNC;
	if (!judge(call, OP_FILE_WRITE_CREATE, &subject) || !may_open(call, &uncut, &subject))
		return false;
	return !(open->mode & (S_ISUID | S_ISGID)) || judge(call, OP_FILE_WRITE_SETUGID, &subject);
}

/* The caller had no room for its descriptor, and nothing shall have happened when it hears so. */
static void unmake(const struct call *call, const struct place *place, int fd)
{
	struct stat made, there;

	if (fstat(fd, &made) < 0 ||
	    fstatat(place->dir, place->name, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
	    made.st_dev != there.st_dev || made.st_ino != there.st_ino)
		return;
	if (unlinkat(place->dir, place->name, 0) == 0)
		judge_removed(call->broker, place);
}

/* 0: answered. 1: somebody else made the name meanwhile. */
static int create(struct call *call, const struct open_call *open, const struct place *place)
{
	int cleanup_fd fd = -1;

	if (!may_create(call, open, place)) {
		call_error(call, call_denial(place->dir, W_OK | X_OK));
		return 0;
	}
	fd = openat(place->dir, place->name, act_flags(open) | O_CREAT | O_EXCL | O_NOFOLLOW,
		    open->mode);
	if (fd < 0 && errno == EEXIST && !(open->flags & O_EXCL))
		return 1;
	if (fd < 0) {
		call_error(call, errno);
		return 0;
	}
	judge_made(call->broker, place);
	give(call, open, &fd);
	if (call->error)
		unmake(call, place, fd);
	return 0;
}

/* The name is there. 0: answered. 1: it is gone. */
static int open_name(struct call *call, const struct open_call *open, struct place *place)
{
	if (resolve_last(&open->lookup, place) == 0)
		open_object(call, open, place);
	else if (errno == ENOENT)
		return 1;
	else
		call_error(call, errno);
	return 0;
}

/* The name is a symlink: open what it leads to, or make that. */
static int open_through(struct call *call, const struct open_call *open, struct place *place)
{
	struct place cleanup_place target = PLACE_NONE;
	struct place next = PLACE_NONE;

	if (resolve_object_as(call, &open->lookup, true, &target) == 0) {
		open_object(call, open, &target);
		return 0;
	}
	/* It dangles: one link further, until a name is not there. */
	if (errno != ENOENT || resolve_link(call, &open->lookup, place, &next) < 0) {
		call_error(call, errno);
		return 0;
	}
	place_release(place);
	*place = next;
	return 1;
}

static void open_or_create(struct call *call, const struct open_call *open)
{
	struct place cleanup_place place = PLACE_NONE;
	struct stat st;
	int again = resolve_name_as(call, &open->lookup, &place) < 0 ? -1 : 1;

	if (again < 0) {
		/* "/", "." and "..": a directory, and O_CREAT wants a file. */
		call_error(call, errno == EEXIST && !(open->flags & O_EXCL) ? EISDIR : errno);
		return;
	}
	if (place.trailing_slash) {
		call_error(call, EISDIR);
		return;
	}
	for (int i = 0; again && i < RACES_MAX; i++) {
		bool there = fstatat(place.dir, place.name, &st, AT_SYMLINK_NOFOLLOW) == 0;

		if (!there && errno != ENOENT) {
			call_error(call, errno);
			return;
		}
		if (!there)
			again = create(call, open, &place);
		else if (open->flags & O_EXCL)
			again = (call_error(call, EEXIST), 0);
		else if (S_ISLNK(st.st_mode) && !(open->flags & O_NOFOLLOW))
			again = open_through(call, open, &place);
		else
			again = open_name(call, open, &place);
	}
	if (again)
		call_error(call, ELOOP);
}

/* ---- O_TMPFILE ---- */

/*
 * tmpfile(3) knows no directory but /tmp. Where that is the host's, what never gets a name can as
 * well lie in the scratch folder. 0, or -1 with errno.
 */
static int leave_shared_tmp(const struct call *call, const struct open_call *open,
			    struct place *place)
{
	struct str scratch = {NULL, 0};

	for (unsigned i = 0; i < call->n_layers; i++)
		if (call->layers[i]->input->scratch.n)
			scratch = call->layers[i]->input->scratch;
	if (!scratch.n || !(open->flags & O_EXCL) || !str_is(place_path(place), "/tmp"))
		return 0;
	place_release(place);
	return resolve_object(call, AT_FDCWD, scratch.p, true, false, place);
}

static void open_unnamed(struct call *call, const struct open_call *open)
{
	struct place cleanup_place place = PLACE_NONE;
	static const char name[] = "/#";
	struct stat st;
	int cleanup_fd fd = -1;

	if (resolve_object_as(call, &open->lookup, !(open->flags & O_NOFOLLOW), &place) < 0 ||
	    leave_shared_tmp(call, open, &place) < 0) {
		call_error(call, errno);
		return;
	}
	if (fstat(place.object, &st) == 0 && !S_ISDIR(st.st_mode)) {
		call_error(call, ENOTDIR);
		return;
	}
	/* It has no name yet; the directory's ordinary new file stands for it. linkat(2) asks
	 * again. */
	memcpy(place.path + place.path_n, name, sizeof(name));
	place.path_n += sizeof(name) - 1;
	for (unsigned i = 0; i < call->n_layers; i++)
		place.states[i] =
			policy_walk(call->layers[i]->policy, place.states[i], str_of(name));
	if (!may_create(call, open, &place)) {
		call_error(call, call_denial(place.object, W_OK | X_OK));
		return;
	}
	fd = (int)syscall(SYS_openat, AT_FDCWD, fd_path(place.object).text,
			  act_flags(open) & ~O_NOFOLLOW, open->mode);
	if (fd < 0)
		call_error(call, errno);
	else
		call_fd(call, fd, open->flags & O_CLOEXEC);
}

/* ---- memfd_create(2) ---- */

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u /* 6.3 */
#define MFD_EXEC        0x0010u
#endif

/* What has no name no rule allows to be executed (the filter asks only then). */
void handle_memfd(struct call *call)
{
	unsigned flags = (unsigned)call->args[1];
	char name[NAME_MAX];
	int cleanup_fd fd = -1;

	if (call_read_string(call, call->args[0], name, sizeof(name)) < 0) {
		call_error(call, errno == ENAMETOOLONG ? EINVAL : errno);
		return;
	}
	if (flags & MFD_EXEC) {
		call_error(call, EACCES);
		return;
	}
	fd = (int)syscall(SYS_memfd_create, name, flags | MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (fd < 0)
		call_error(call, errno);
	else
		call_fd(call, fd, flags & MFD_CLOEXEC);
}

/* ---- Entry ---- */

static void open_existing(struct call *call, const struct open_call *open)
{
	struct place cleanup_place place = PLACE_NONE;

	if (resolve_object_as(call, &open->lookup, !(open->flags & O_NOFOLLOW), &place) < 0)
		call_error(call, errno);
	else
		open_object(call, open, &place);
}

/* The argument order of the three calls. */
static void read_arguments(const struct call *call, uint64_t *ret_path, struct open_call *ret)
{
	const uint64_t *args = call->args;

#ifdef SYS_open
	if (call->nr == SYS_open || call->nr == SYS_creat) {
		bool creat = call->nr == SYS_creat;

		*ret_path = args[0];
		ret->lookup.dirfd = AT_FDCWD;
		ret->flags = creat ? O_CREAT | O_WRONLY | O_TRUNC : (int)args[1];
		ret->mode = (mode_t)args[creat ? 1 : 2] & 07777;
		return;
	}
#endif
	*ret_path = args[1];
	ret->lookup.dirfd = (int)args[0];
	ret->flags = (int)args[2];
	ret->mode = (mode_t)args[3] & 07777;
}

static void open_as_asked(struct call *call, uint64_t path_address, struct open_call open)
{
	const bool unnamed = (open.flags & O_TMPFILE) == O_TMPFILE;
	char path[PATH_MAX];

	/* Nobody makes directories by open(2), since 6.3, nor what nobody can write to. */
	if (((open.flags & O_CREAT) && (open.flags & O_DIRECTORY)) ||
	    (unnamed && (open.flags & O_ACCMODE) == O_RDONLY)) {
		call_error(call, EINVAL);
		return;
	}
	if (call_read_string(call, path_address, path, sizeof(path)) < 0) {
		call_error(call, errno);
		return;
	}
	open.lookup.path = path;
	if (open.flags & O_CREAT)
		call_take_turn(call);
	if (unnamed)
		open_unnamed(call, &open);
	else if (open.flags & O_CREAT)
		open_or_create(call, &open);
	else
		open_existing(call, &open);
}

void handle_open(struct call *call)
{
	struct open_call open = {0};
	uint64_t address;

	read_arguments(call, &address, &open);
	/* Without these the argument is not there, and its register holds anything; open(2). */
	if (!(open.flags & O_CREAT) && (open.flags & O_TMPFILE) != O_TMPFILE)
		open.mode = 0;
	open_as_asked(call, address, open);
}

/* ---- openat2(2) ---- */

/* The structure at ADDRESS, SIZE bytes long, as the kernel takes it. 0, or -1 with errno. */
static int read_how(const struct call *call, uint64_t address, uint64_t size, struct open_how *ret)
{
	char rest[4096]; /* a page, as far as the kernel goes */

	if (size < sizeof(*ret) || size > sizeof(rest)) {
		errno = size < sizeof(*ret) ? EINVAL : E2BIG;
		return -1;
	}
	if (call_read(call, address, rest, size) < 0)
		return -1;
	memcpy(ret, rest, sizeof(*ret));
	/* Of what this version does not know, nothing may be wanted. */
	for (size_t i = sizeof(*ret); i < size; i++)
		if (rest[i]) {
			errno = E2BIG;
			return -1;
		}
	if (ret->resolve & ~RESOLVE_KNOWN) {
		errno = EINVAL;
		return -1;
	}
	/* The kernel knows best what may be combined, and looks at that before the path, which is
	 * none. */
	return syscall(SYS_openat2, AT_FDCWD, "", ret, sizeof(*ret)) < 0 && errno == ENOENT ? 0
											    : -1;
}

void handle_openat2(struct call *call)
{
	struct open_how how = {0};
	struct open_call open = {.in_memory = true};

	if (read_how(call, call->args[2], call->args[3], &how) < 0) {
		call_error(call, errno);
		return;
	}
	open.lookup = (struct lookup){.dirfd = (int)call->args[0], .resolve = how.resolve};
	open.flags = (int)how.flags;
	open.mode = (mode_t)how.mode;
	if (how.resolve & RESOLVE_CACHED)
		call_error(call, EAGAIN); /* who asks for that asks again without */
	else if (how.flags & O_PATH)
		open_by_caller(call, &open); /* such descriptors cannot be handed over */
	else
		open_as_asked(call, call->args[1], open);
}
