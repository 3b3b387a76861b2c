/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a path of the caller's leads, pinned by descriptors.
 *
 * The kernel resolves in one openat2(2), kept inside the caller's root and away
 * from magic links. What that cannot do for somebody else (/proc/self and the
 * links below it mean us, not the caller) is walked component by component
 * (walk.c).
 */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "broker/walk.h"
#include "base/banned.h"

void place_release(struct place *place)
{
	fd_close(&place->dir);
	fd_close(&place->object);
}

struct fd_path fd_path(int fd)
{
	struct fd_path path;

	(void)snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

/* ---- Canonical paths ---- */

/* Is the object of FD to be found at PATH? */
static bool is_at(const struct call *call, int fd, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS};
	int cleanup_fd there =
		(int)syscall(SYS_openat2, call->broker->root, path, &how, sizeof(how));
	struct stat one, other;

	return there >= 0 && fstat(fd, &one) == 0 && fstat(there, &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/*
 * The kernel marks a path whose name was removed. What the name was is what the policy is asked
 * about: having a descriptor of a file does not mean having been allowed to open it. Cuts the mark
 * off TO, unless it is part of a real name. Returns the length.
 */
static size_t cut_deleted(const struct call *call, int fd, char *to, size_t n)
{
	static const char mark[] = " (deleted)";
	const size_t tail = sizeof(mark) - 1;

	if (n <= tail || memcmp(to + n - tail, mark, tail) != 0)
		return n;
	to[n] = '\0';
	return is_at(call, fd, to) ? n : n - tail;
}

/*
 * The path of FD as the sandbox sees it: the kernel walks up to the root of the mount namespace the
 * descriptor belongs to. Returns its length; 0: the object never had a name (a pipe, a memfd). -1
 * with errno.
 */
static ssize_t canonical(const struct call *call, int fd, char *to, size_t size)
{
	static const char memfd[] = "/memfd:";
	struct fd_path link = fd_path(fd);
	ssize_t n = readlink(link.text, to, size);
	size_t length;

	if (n < 0)
		return -1;
	if ((size_t)n == size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (n == 0 || to[0] != '/')
		return 0;
	length = cut_deleted(call, fd, to, (size_t)n);
	if (length < (size_t)n && length >= sizeof(memfd) - 1 &&
	    memcmp(to, memfd, sizeof(memfd) - 1) == 0)
		return 0;
	return (ssize_t)length;
}

/*
 * A descriptor may lead to what a private mount has covered, under the same name. The device tells
 * them apart (judge.c).
 */
static void note_device(const struct call *call, struct place *place, int fd)
{
	struct str path = place_path(place);
	struct stat st;

	if ((call->broker->own_tmp && str_is_below(path, STR("/tmp"))) ||
	    (call->broker->own_shm && str_is_below(path, STR("/dev/shm"))))
		place->device = fstat(fd, &st) == 0 ? st.st_dev : 0;
}

/* PLACE is N bytes of its path long; FD is the object, or the directory that holds it. */
static void set_path(const struct call *call, struct place *place, size_t n, int fd)
{
	place->path_n = n;
	place->path[n] = '\0';
	for (unsigned i = 0; i < call->n_layers; i++) {
		const struct policy *policy = call->layers[i]->policy;

		place->states[i] =
			policy_walk(policy, policy_start(policy), (struct str){place->path, n});
	}
	note_device(call, place, fd);
}

/* ---- Pinning ---- */

static int open_how(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags,
			       .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	long fd;
	int tries = 0;

	/* EAGAIN: something was renamed on the way; openat2(2). */
	do
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++tries < 32);
	return (int)fd;
}

static int open_below(const struct call *call, int base, const char *path, uint64_t flags,
		      uint64_t resolve)
{
	char absolute[PATH_MAX * 2];
	ssize_t n;
	int fd;

	if (resolve & RESOLVE_SCOPED)
		return open_how(base, path, flags, resolve);
	if (path[0] == '/')
		return open_how(call->broker->root, path, flags, RESOLVE_IN_ROOT | resolve);
	fd = open_how(base, path, flags, RESOLVE_BENEATH | resolve);
	/* From the root there are other mounts on the way. */
	if (fd >= 0 || errno != EXDEV || (resolve & RESOLVE_NO_XDEV))
		return fd;
	/* It leaves the directory by `..` or an absolute link: again, from the root. */
	n = canonical(call, base, absolute, PATH_MAX);
	if (n <= 0) {
		errno = n == 0 ? ENOENT : errno;
		return -1;
	}
	(void)snprintf(absolute + n, sizeof(absolute) - (size_t)n, "/%s", path);
	return open_how(call->broker->root, absolute, flags, RESOLVE_IN_ROOT | resolve);
}

/*
 * Is PATH, which the kernel has not found for us, missing for the caller too? Links may lead into a
 * procfs, and only there something else can be found by somebody else.
 */
static bool is_missing(const struct call *call, const struct way *way, const char *path,
		       uint64_t flags)
{
	bool absolute = path[0] == '/' && !(way->resolve & RESOLVE_SCOPED);
	uint64_t resolve = way->resolve | RESOLVE_NO_SYMLINKS;
	struct statfs fs;
	int cleanup_fd fd = -1;

	if (call->broker->stray_procs || strstr(path, "proc"))
		return false;
	if (absolute) {
		fd = open_how(call->broker->root, path, flags, resolve | RESOLVE_IN_ROOT);
	} else {
		if (fstatfs(way->base, &fs) < 0 || fs.f_type == PROC_SUPER_MAGIC)
			return false;
		/* What leaves it by `..` is not looked up here. */
		if (!(resolve & RESOLVE_SCOPED))
			resolve |= RESOLVE_BENEATH;
		fd = open_how(way->base, path, flags, resolve);
	}
	return fd < 0 && errno == ENOENT;
}

/*
 * Pins what PATH leads to, from directory BASE, and its canonical path in TO of PATH_MAX bytes.
 * Returns the descriptor, or -1 with errno.
 */
static int pin(const struct call *call, const struct way *way, const char *path, uint64_t flags,
	       char *to, ssize_t *ret_n)
{
	int cleanup_fd fd = open_below(call, way->base, path, flags, way->resolve);

	/* EAGAIN: too much is renamed, anywhere. EACCES: maybe of the caller's own descriptors. */
	if (fd < 0 && errno != ELOOP && errno != ENOENT && errno != EXDEV && errno != EAGAIN &&
	    (errno != EACCES || !call->broker->ids_changed))
		return -1;
	if (fd < 0 && errno == ENOENT && is_missing(call, way, path, flags)) {
		errno = ENOENT;
		return -1;
	}
	if (fd >= 0) {
		*ret_n = canonical(call, fd, to, PATH_MAX);
		if (*ret_n < 0)
			return -1;
	}
	if (fd < 0 || is_on_procfs(call->broker, fd, (struct str){to, (size_t)*ret_n})) {
		int walked = walk(call, way, path, flags);

		if (walked < 0)
			return -1;
		fd_close(&fd);
		fd = walked;
		*ret_n = canonical(call, fd, to, PATH_MAX);
		if (*ret_n < 0)
			return -1;
	}
	return fd_steal(&fd);
}

/* ---- Names ---- */

/* Cuts PATH into the part before its last component (kept in PATH) and that component. */
static int split(char *path, struct place *ret)
{
	size_t n = strlen(path);
	size_t start;

	if (n == 0) {
		errno = ENOENT;
		return -1;
	}
	while (n > 1 && path[n - 1] == '/') {
		path[--n] = '\0';
		ret->trailing_slash = true;
	}
	for (start = n; start > 0 && path[start - 1] != '/';)
		start--;
	memcpy(ret->name, path + start, n - start + 1);
	if (n == 1 && path[0] == '/')
		memcpy(ret->name, "/", 2);
	path[start] = '\0';
	return 0;
}

static bool is_special(const char *name)
{
	return strcmp(name, "/") == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The directory at the beginning of *LOOKUP, if it counts. 0, or -1 with errno. */
static int find_way(const struct call *call, const struct lookup *lookup, struct way *ret)
{
	*ret = (struct way){.base = -1, .resolve = lookup->resolve};
	if (lookup->path[0] == '/' && !(lookup->resolve & RESOLVE_SCOPED))
		return 0;
	ret->base = caller_directory(call, lookup->dirfd);
	return ret->base < 0 ? -1 : 0;
}

static void way_release(struct way *way)
{
	fd_close(&way->base);
}
#define cleanup_way __attribute__((cleanup(way_release)))

/* "/", "." and ".." are there: EEXIST, if *WAY lets them be looked up. */
static int refuse_special(const struct call *call, const struct way *way, const char *path)
{
	char text[PATH_MAX];
	ssize_t n;
	int cleanup_fd there = -1;

	if (way->resolve)
		there = pin(call, way, path, O_DIRECTORY, text, &n);
	if (there >= 0 || !way->resolve)
		errno = EEXIST;
	return -1;
}

/* As resolve_name() on *WAY. */
static int name_on(const struct call *call, struct way *way, const char *path, struct place *ret)
{
	char parent[PATH_MAX + 1]; /* and a dot */
	ssize_t n;

	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(parent, path, strlen(path) + 1);
	if (split(parent, ret) < 0)
		return -1;
	/* With a dot at its end: whatever comes of the name, the directory has to be searched. */
	if (parent[0]) {
		memcpy(parent + strlen(parent), ".", 2);
		ret->dir = pin(call, way, parent, O_DIRECTORY, ret->path, &n);
	} else {
		ret->dir = openat(way->base, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
		n = ret->dir < 0 ? -1 : canonical(call, ret->dir, ret->path, PATH_MAX);
	}
	if (ret->dir < 0 || n < 0)
		return -1;
	if (n == 0) {
		errno = ENOENT;
		return -1;
	}
	if (is_special(ret->name))
		return refuse_special(call, way, path);
	if (check_procfs(call, ret->dir, (struct str){ret->path, (size_t)n}) < 0)
		return -1;
	if (n > 1)
		ret->path[n++] = '/';
	memcpy(ret->path + n, ret->name, strlen(ret->name));
	set_path(call, ret, (size_t)n + strlen(ret->name), ret->dir);
	return 0;
}

int resolve_name_as(const struct call *call, const struct lookup *lookup, struct place *ret)
{
	struct way cleanup_way way = {.base = -1};

	*ret = PLACE_NONE;
	return find_way(call, lookup, &way) < 0 ? -1 : name_on(call, &way, lookup->path, ret);
}

int resolve_name(const struct call *call, int dirfd, const char *path, struct place *ret)
{
	const struct lookup lookup = {.dirfd = dirfd, .path = path};

	return resolve_name_as(call, &lookup, ret);
}

/*
 * TEXT of the symlink at LINK as it is seen from the directory that *WAY does not leave, into TO.
 * 0, or -1 with errno.
 */
static int rebase(const struct call *call, const struct way *way, const struct place *link,
		  const char *text, char *to, size_t size)
{
	char base[PATH_MAX];
	ssize_t n = canonical(call, way->base, base, sizeof(base));
	struct str folder = place_path(link);
	int length;

	if (n < 0)
		return -1;
	folder.n -= strlen(link->name);
	/* It was found below; somebody has moved one of them since. */
	if (n == 0 || !str_is_below(folder, (struct str){base, (size_t)n})) {
		errno = EAGAIN;
		return -1;
	}
	folder = str_skip(folder, n > 1 ? (size_t)n : 0);
	length = text[0] == '/' ? snprintf(to, size, "%s", text)
				: snprintf(to, size, ".%.*s%s", (int)folder.n, folder.p, text);
	if (length < 0 || (size_t)length >= size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return 0;
}

int resolve_link(const struct call *call, const struct lookup *lookup, const struct place *link,
		 struct place *ret)
{
	char text[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlinkat(link->dir, link->name, text, sizeof(text) - 1);
	struct way cleanup_way way = {.base = -1, .resolve = lookup->resolve};

	*ret = PLACE_NONE;
	if (n < 0)
		return -1;
	text[n] = '\0';
	if (!(lookup->resolve & RESOLVE_SCOPED)) {
		way.base = fcntl(link->dir, F_DUPFD_CLOEXEC, 0);
		return way.base < 0 ? -1 : name_on(call, &way, text, ret);
	}
	if (find_way(call, lookup, &way) < 0 ||
	    rebase(call, &way, link, text, path, sizeof(path)) < 0)
		return -1;
	return name_on(call, &way, path, ret);
}

int resolve_last(const struct lookup *lookup, struct place *place)
{
	/* The rest has been done on the way there. */
	uint64_t resolve = lookup->resolve & RESOLVE_NO_XDEV;

	place->object = resolve ? open_how(place->dir, place->name, O_NOFOLLOW, resolve)
				: openat(place->dir, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return place->object < 0 ? -1 : 0;
}

int resolve_beside(const struct call *call, const struct place *place, const char *name,
		   struct place *ret)
{
	int cleanup_fd base = fcntl(place->dir, F_DUPFD_CLOEXEC, 0);
	size_t folder = place->path_n - strlen(place->name);

	*ret = PLACE_NONE;
	if (base < 0)
		return -1;
	if (folder + strlen(name) >= sizeof(ret->path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(ret->path, place->path, folder);
	memcpy(ret->path + folder, name, strlen(name));
	memcpy(ret->name, name, strlen(name) + 1);
	ret->dir = fd_steal(&base);
	set_path(call, ret, folder + strlen(name), ret->dir);
	return 0;
}

/* ---- Objects ---- */

/* *WAY may be kept. */
static int object_on(const struct call *call, struct way *way, const char *path, bool follow,
		     struct place *ret)
{
	ssize_t n;

	if (path[0]) {
		/* A trailing slash follows a link even where the call would not;
		 * path_resolution(7). */
		ret->trailing_slash = path[strlen(path) - 1] == '/';
		ret->object = pin(call, way, path, follow ? 0 : O_NOFOLLOW, ret->path, &n);
	} else {
		ret->object = fd_steal(&way->base);
		n = canonical(call, ret->object, ret->path, PATH_MAX);
	}
	if (ret->object < 0 || n < 0 ||
	    check_procfs(call, ret->object, (struct str){ret->path, (size_t)n}) < 0)
		return -1;
	set_path(call, ret, (size_t)n, ret->object);
	return 0;
}

int resolve_object_as(const struct call *call, const struct lookup *lookup, bool follow,
		      struct place *ret)
{
	struct way cleanup_way way = {.base = -1};

	*ret = PLACE_NONE;
	if (!lookup->path[0]) {
		errno = ENOENT;
		return -1;
	}
	return find_way(call, lookup, &way) < 0 ? -1
						: object_on(call, &way, lookup->path, follow, ret);
}

int resolve_object(const struct call *call, int dirfd, const char *path, bool follow, bool empty_ok,
		   struct place *ret)
{
	const struct lookup lookup = {.dirfd = dirfd, .path = path};
	struct way cleanup_way way = {.base = -1};

	*ret = PLACE_NONE;
	if (!path[0] && !empty_ok) {
		errno = ENOENT;
		return -1;
	}
	return find_way(call, &lookup, &way) < 0 ? -1 : object_on(call, &way, path, follow, ret);
}

int resolve_fd(const struct call *call, int fd, struct place *ret)
{
	ssize_t n;

	*ret = PLACE_NONE;
	n = canonical(call, fd, ret->path, PATH_MAX);
	if (n < 0)
		return -1;
	set_path(call, ret, (size_t)n, fd);
	return 0;
}
