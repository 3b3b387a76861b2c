/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that change what is known about a file, by path and by descriptor:
 * Landlock has no hook for them. Also truncate(2) and access(2), which must
 * agree with open(2) or tools spin.
 */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/xattr.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "base/fd.h"
#include "base/banned.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* 6.6 */
#endif

/* ---- Which object ---- */

enum by {
	BY_PATH,  /* args: path; links are followed */
	BY_LINK,  /* args: path; they are not */
	BY_FD,    /* args: descriptor */
	BY_DIRFD, /* args: dirfd, path; links are followed */
	BY_FLAGS, /* args: dirfd, path, ..., flags: AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH */
};

struct shape {
	int nr;
	enum by by;
	unsigned char flags; /* BY_FLAGS: which argument */
	unsigned char rest;  /* the first argument after the object */
};

static const struct shape shapes[] = {
#ifdef SYS_chmod
	{SYS_chmod, BY_PATH, 0, 1},        {SYS_chown, BY_PATH, 0, 1},
	{SYS_lchown, BY_LINK, 0, 1},       {SYS_utime, BY_PATH, 0, 1},
	{SYS_utimes, BY_PATH, 0, 1},       {SYS_futimesat, BY_DIRFD, 0, 2},
	{SYS_access, BY_PATH, 0, 1},
#endif
	{SYS_fchmod, BY_FD, 0, 1},         {SYS_fchmodat, BY_DIRFD, 0, 2},
	{SYS_fchmodat2, BY_FLAGS, 3, 2},   {SYS_fchown, BY_FD, 0, 1},
	{SYS_fchownat, BY_FLAGS, 4, 2},    {SYS_utimensat, BY_FLAGS, 3, 2},
	{SYS_setxattr, BY_PATH, 0, 1},     {SYS_lsetxattr, BY_LINK, 0, 1},
	{SYS_fsetxattr, BY_FD, 0, 1},      {SYS_removexattr, BY_PATH, 0, 1},
	{SYS_lremovexattr, BY_LINK, 0, 1}, {SYS_fremovexattr, BY_FD, 0, 1},
	{SYS_truncate, BY_PATH, 0, 1},     {SYS_faccessat, BY_DIRFD, 0, 2},
	{SYS_faccessat2, BY_FLAGS, 3, 2},  {SYS_ioctl, BY_FD, 0, 1},
};

/* The object of a call: its place, an open file where the call names one, and what is known of it.
 */
struct attr_target {
	struct place place;
	int fd; /* BY_FD: the caller's open file; else -1 */
	bool symlink_itself;
	const uint64_t *rest; /* the arguments after the object */
	int flags;
	struct stat st;
};

static void target_release(struct attr_target *target)
{
	place_release(&target->place);
	fd_close(&target->fd);
}
#define cleanup_target   __attribute__((cleanup(target_release)))
#define ATTR_TARGET_NONE ((struct attr_target){.place = PLACE_NONE, .fd = -1})

/* Where the caller's open file cannot be had, what it is open on is found as if by a path. */
static int find_by_fd(const struct call *call, int fd, struct attr_target *ret)
{
	int cleanup_fd object = -1;

	if (caller_lends(call)) {
		ret->fd = caller_fd(call, fd);
		return ret->fd < 0 ? -1 : resolve_fd(call, ret->fd, &ret->place);
	}
	object = caller_object(call, fd);
	if (object < 0 || resolve_fd(call, object, &ret->place) < 0)
		return -1;
	ret->place.object = fd_steal(&object);
	return 0;
}

/* These mean the descriptor itself where there is no path. */
static bool takes_null(int nr)
{
#ifdef SYS_futimesat
	if (nr == SYS_futimesat)
		return true;
#endif
	return nr == SYS_utimensat;
}

static int find_by_path(const struct call *call, const struct shape *shape, struct attr_target *ret)
{
	bool at = shape->by == BY_DIRFD || shape->by == BY_FLAGS;
	int dirfd = at ? (int)call->args[0] : AT_FDCWD;
	uint64_t address = call->args[at ? 1 : 0];
	bool follow = shape->by != BY_LINK && !(ret->flags & AT_SYMLINK_NOFOLLOW);
	char path[PATH_MAX];

	if (address == 0 && takes_null(call->nr) && dirfd != AT_FDCWD)
		return find_by_fd(call, dirfd, ret);
	if (call_read_string(call, address, path, sizeof(path)) < 0)
		return -1;
	return resolve_object(call, dirfd, path, follow, ret->flags & AT_EMPTY_PATH, &ret->place);
}

/* 0, or -1 with errno. */
static int find(const struct call *call, struct attr_target *ret)
{
	const struct shape *shape = shapes;
	int r;

	while (shape->nr != call->nr)
		shape++;
	ret->rest = call->args + shape->rest;
	ret->flags = shape->by == BY_FLAGS ? (int)call->args[shape->flags] : 0;
	if (ret->flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH |
			   (call->nr == SYS_faccessat2 ? AT_EACCESS : 0))) {
		errno = EINVAL;
		return -1;
	}
	r = shape->by == BY_FD ? find_by_fd(call, (int)call->args[0], ret)
			       : find_by_path(call, shape, ret);
	if (r < 0 || fstat(ret->fd >= 0 ? ret->fd : ret->place.object, &ret->st) < 0)
		return -1;
	ret->symlink_itself = S_ISLNK(ret->st.st_mode);
	return 0;
}

static bool may(const struct call *call, enum op op, const struct attr_target *target)
{
	struct subject subject = subject_of(&target->place, &target->st);

	return judge(call, op, &subject);
}

/* Finds the object and asks about OP. false: answered already. */
static bool prepare(struct call *call, enum op op, struct attr_target *ret)
{
	if (find(call, ret) < 0) {
		call_error(call, errno);
		return false;
	}
	if (!may(call, op, ret)) {
		call_error(call, EPERM);
		return false;
	}
	return true;
}

/* A path that means the pinned object and nothing else. */
static struct fd_path target_path(const struct attr_target *target)
{
	return fd_path(target->fd >= 0 ? target->fd : target->place.object);
}

/* ---- Handlers ---- */

void handle_chmod(struct call *call)
{
	struct attr_target cleanup_target target = ATTR_TARGET_NONE;
	mode_t mode;

	if (!prepare(call, OP_FILE_WRITE_MODE, &target))
		return;
	mode = (mode_t)target.rest[0] & 07777;
	if (mode & (S_ISUID | S_ISGID)) {
		struct subject subject = {.place = &target.place,
					  .vnode_type = vnode_type_of(target.st.st_mode),
					  .has_mode = true,
					  .mode = mode};

		if (!judge(call, OP_FILE_WRITE_SETUGID, &subject)) {
			call_error(call, EPERM);
			return;
		}
	}
	if (target.symlink_itself)
		call_error(call, EOPNOTSUPP);
	else if (target.fd >= 0)
		call_result(call, fchmod(target.fd, mode));
	else
		call_result(call, chmod(target_path(&target).text, mode));
	handing_wait(call->broker); /* it may be executed next */
}

void handle_chown(struct call *call)
{
	struct attr_target cleanup_target target = ATTR_TARGET_NONE;
	uid_t uid;
	gid_t gid;

	if (!prepare(call, OP_FILE_WRITE_OWNER, &target))
		return;
	uid = (uid_t)target.rest[0];
	gid = (gid_t)target.rest[1];
	if (target.fd >= 0)
		call_result(call, fchown(target.fd, uid, gid));
	else
		call_result(call, fchownat(target.place.object, "", uid, gid, AT_EMPTY_PATH));
}

/* The times argument of whichever call it is, as utimensat(2) takes it. 0; 1: now; -1 with errno.
 */
static int read_times(const struct call *call, uint64_t address, struct timespec to[2])
{
	struct timeval tv[2];

	if (address == 0)
		return 1;
#ifdef SYS_utime
	if (call->nr == SYS_utime) {
		struct utimbuf old;

		if (call_read(call, address, &old, sizeof(old)) < 0)
			return -1;
		to[0] = (struct timespec){.tv_sec = old.actime};
		to[1] = (struct timespec){.tv_sec = old.modtime};
		return 0;
	}
#endif
	if (call->nr == SYS_utimensat)
		return call_read(call, address, to, 2 * sizeof(*to));
	if (call_read(call, address, tv, sizeof(tv)) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		if (tv[i].tv_usec < 0 || tv[i].tv_usec >= 1000000) {
			errno = EINVAL;
			return -1;
		}
		to[i] = (struct timespec){.tv_sec = tv[i].tv_sec, .tv_nsec = tv[i].tv_usec * 1000};
	}
	return 0;
}

void handle_utimes(struct call *call)
{
	struct attr_target cleanup_target target = ATTR_TARGET_NONE;
	struct timespec times[2];
	int now;

	if (!prepare(call, OP_FILE_WRITE_TIMES, &target))
		return;
	now = read_times(call, target.rest[0], times);
	if (now < 0)
		call_error(call, errno);
	else if (target.fd >= 0)
		call_result(call, futimens(target.fd, now ? NULL : times));
	else
		call_result(call,
			    utimensat(target.place.object, "", now ? NULL : times, AT_EMPTY_PATH));
}

/* An access control list says what a mode says, and more; acl(5). */
static bool may_set_xattr(const struct call *call, const struct attr_target *target,
			  const char *name)
{
	struct subject subject = subject_of(&target->place, &target->st);
	bool access_list = strcmp(name, "system.posix_acl_access") == 0;
	bool default_list = strcmp(name, "system.posix_acl_default") == 0;

	subject.xattr = name;
	if (!judge(call, OP_FILE_WRITE_XATTR, &subject))
		return false;
	if ((access_list || default_list) && !may(call, OP_FILE_WRITE_ACL, target))
		return false;
	return !access_list || may(call, OP_FILE_WRITE_MODE, target);
}

void handle_xattr(struct call *call)
{
	struct attr_target cleanup_target target = ATTR_TARGET_NONE;
	cleanup_free void *value = NULL;
	char name[XATTR_NAME_MAX + 1];
	bool removes = call->nr == SYS_removexattr || call->nr == SYS_lremovexattr ||
		       call->nr == SYS_fremovexattr;
	size_t size;

	if (find(call, &target) < 0) {
		call_error(call, errno);
		return;
	}
	if (call_read_string(call, target.rest[0], name, sizeof(name)) < 0) {
		call_error(call, errno == ENAMETOOLONG ? ERANGE : errno);
		return;
	}
	if (!may_set_xattr(call, &target, name)) {
		call_error(call, EPERM);
		return;
	}
	if (removes) {
		call_result(call, target.fd >= 0 ? fremovexattr(target.fd, name)
						 : removexattr(target_path(&target).text, name));
		return;
	}
	size = target.rest[2];
	if (size > XATTR_SIZE_MAX) {
		call_error(call, E2BIG);
		return;
	}
	value = malloc(size ? size : 1);
	if (!value || (size && call_read(call, target.rest[1], value, size) < 0)) {
		call_error(call, value ? errno : ENOMEM);
		return;
	}
	call_result(call, target.fd >= 0
				  ? fsetxattr(target.fd, name, value, size, (int)target.rest[3])
				  : setxattr(target_path(&target).text, name, value, size,
					     (int)target.rest[3]));
	handing_wait(call->broker); /* an ACL can let it be executed */
}

/* ---- Inode flags ---- */

/* What the requests the filter asks about point to; ioctl_iflags(2), linux/fs.h. */
union flags_argument {
	int number;
	struct fsxattr attributes;
};

static size_t argument_size(unsigned request)
{
	return request == FS_IOC_FSSETXATTR ? sizeof(struct fsxattr) : sizeof(int);
}

void handle_flags(struct call *call)
{
	struct attr_target cleanup_target target = ATTR_TARGET_NONE;
	unsigned request = (unsigned)call->args[1];
	union flags_argument argument = {0};

	if (!prepare(call, OP_FILE_WRITE_FLAGS, &target))
		return;
	/* Only these have flags, and nothing happens when they are opened once more. */
	if (target.fd < 0 && (S_ISREG(target.st.st_mode) || S_ISDIR(target.st.st_mode)))
		target.fd = open(target_path(&target).text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (target.fd < 0)
		call_error(call, EPERM);
	else if (call_read(call, call->args[2], &argument, argument_size(request)) < 0)
		call_error(call, errno);
	else
		call_result(call, ioctl(target.fd, request, &argument));
}

/* A file grows no further than the caller's limit, which is told by a signal; setrlimit(2). */
static bool is_too_large(const struct call *call, const struct stat *st, off_t size)
{
	return S_ISREG(st->st_mode) && size > st->st_size &&
	       (uint64_t)size > caller_file_limit(call);
}

void handle_truncate(struct call *call)
{
	struct attr_target cleanup_target target = ATTR_TARGET_NONE;
	off_t size = (off_t)call->args[1];

	if (size < 0) {
		call_error(call, EINVAL);
		return;
	}
	if (!prepare(call, OP_FILE_WRITE_DATA, &target))
		return;
	if (!is_too_large(call, &target.st, size)) {
		call_result(call, truncate(target_path(&target).text, size));
	} else if (faccessat(AT_FDCWD, target_path(&target).text, W_OK, AT_EACCESS) < 0) {
		call_error(call, errno);
	} else {
		caller_signal(call, SIGXFSZ);
		call_error(call, EFBIG);
	}
}

void handle_access(struct call *call)
{
	struct attr_target cleanup_target target = ATTR_TARGET_NONE;
	int mode;

	if (find(call, &target) < 0) {
		call_error(call, errno);
		return;
	}
	mode = (int)target.rest[0];
	if (mode & ~(R_OK | W_OK | X_OK)) {
		call_error(call, EINVAL);
		return;
	}
	if (((mode & W_OK) && !may(call, OP_FILE_WRITE_DATA, &target)) ||
	    ((mode & R_OK) && !may(call, OP_FILE_READ_DATA, &target)) ||
	    ((mode & X_OK) && !S_ISDIR(target.st.st_mode) &&
	     !may(call, OP_PROCESS_EXEC_ANY, &target))) {
		call_error(call, EPERM);
		return;
	}
	if (!(target.flags & AT_EACCESS) && caller_assume_real(call) < 0) {
		call_error(call, EPERM);
		return;
	}
	/* Ours are the ids that count for the caller's files; the object is pinned, nothing is
	 * followed. */
	call_result(call, syscall(SYS_faccessat2, target.place.object, "", mode,
				  AT_EACCESS | AT_EMPTY_PATH));
}
