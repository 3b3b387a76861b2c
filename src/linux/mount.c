/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts of a private mount namespace. Every target is opened once without
 * following links and mounted on by descriptor, so a path swapped meanwhile
 * leads nowhere (CASES-ATTACKS A031, A032). open_tree(2) and friends (5.2) and
 * mount_setattr(2) (5.12) are older than the oldest kernel we serve.
 */
#include "linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#define MOVE_MOUNT_T_EMPTY_PATH 0x00000040
#endif

enum {
	AT_RECURSIVE_ = 0x8000,
	SYS_mount_setattr_ = 442, /* 5.12 */
};

struct mount_attr_ {
	uint64_t set, clear, propagation, userns_fd;
};

enum {
	READ_ONLY = 1, /* MOUNT_ATTR_RDONLY */
	NO_DEVICES = 4,
};

/* All that is mounted in TREE gets ATTRIBUTES, and keeps those that it has. */
static int restrict_tree(int tree, const char *path, uint64_t attributes)
{
	struct mount_attr_ attr = {.set = attributes};

	return (int)syscall(SYS_mount_setattr_, tree, path, AT_EMPTY_PATH | AT_RECURSIVE_, &attr,
			    sizeof(attr));
}

static int clone_tree(int dirfd, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dirfd, path,
			    OPEN_TREE_CLONE | O_CLOEXEC | AT_SYMLINK_NOFOLLOW | flags);
}

static int attach(int tree, int target)
{
	return (int)syscall(SYS_move_mount, tree, "", target, "",
			    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

static bool is_gone(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES;
}

/* ---- Hiding ---- */

/*
 * One unreadable directory and one unreadable file, on a tmpfs that is attached at PLACE only while
 * they are cloned from it. Returns the tmpfs root's descriptor, or -1.
 */
static int shroud_open(const char *place)
{
	int cleanup_fd root = -1;
	int cleanup_fd file = -1;

	if (mount("lapbelt", place, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=755") <
	    0)
		return -1;
	root = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || mkdirat(root, "directory", 0) < 0)
		return -1;
	file = openat(root, "file", O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0);
	return file < 0 ? -1 : fd_steal(&root);
}

static bool is_hidden(const struct mount_row *row)
{
	return row->kind == MOUNT_HIDE || row->kind == MOUNT_MASK;
}

/* 0, also when nothing is there to hide and nothing has to be. */
static int hide(int shroud, const struct mount_row *row)
{
	int cleanup_fd target = linux_open_plain(row->path, O_PATH);
	int cleanup_fd tree = -1;
	struct stat st;

	if (target < 0)
		return row->kind == MOUNT_HIDE && is_gone(errno) ? 0 : -1;
	if (fstat(target, &st) < 0)
		return -1;
	tree = clone_tree(shroud, S_ISDIR(st.st_mode) ? "directory" : "file", 0);
	if (tree < 0 || (row->read_only && restrict_tree(tree, "", READ_ONLY) < 0))
		return -1;
	return attach(tree, target);
}

static int hide_all(const struct plan *plan, size_t *ret_at)
{
	static const char place[] = "/proc";
	int cleanup_fd shroud = -1;
	int r = 0;

	for (size_t i = 0; i < plan->n_mounts && r == 0; i++) {
		if (!is_hidden(&plan->mounts[i]))
			continue;
		*ret_at = i;
		if (shroud < 0)
			shroud = shroud_open(place);
		r = shroud < 0 ? -1 : hide(shroud, &plan->mounts[i]);
	}
	if (shroud >= 0 && umount2(place, MNT_DETACH) < 0)
		r = -1;
	return r;
}

/* ---- A private /tmp that keeps what belongs to the run ---- */

/* mkdir -p for the parents of PATH, and a mount point of the kind of TREE at PATH itself. */
static int make_mount_point(const char *path, int tree)
{
	char copy[4096];
	struct stat st;
	int r = 0;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", path) >= sizeof(copy)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (fstat(tree, &st) < 0)
		return -1;
	for (char *slash = strchr(copy + 1, '/'); slash && r == 0; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			r = -1;
		*slash = '/';
	}
	if (r < 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return mkdir(path, 0755) < 0 && errno != EEXIST ? -1 : 0;
	r = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (r < 0)
		return errno == EEXIST ? 0 : -1;
	return close(r);
}

static int keep_attach(const char *path, int tree)
{
	int cleanup_fd target = -1;

	if (make_mount_point(path, tree) < 0)
		return -1;
	target = linux_open_plain(path, O_PATH);
	return target < 0 ? -1 : attach(tree, target);
}

/* A symlink is kept as one. */
static int keep_open(const char *path)
{
	int cleanup_fd fd = linux_open_plain(path, O_PATH | O_NOFOLLOW);

	return fd < 0 ? -1 : clone_tree(fd, "", AT_EMPTY_PATH | AT_RECURSIVE_);
}

/* Opens what the rows keep (-1 where nothing is), before something is mounted over it. */
static int keep_open_all(const struct plan *plan, int *trees, size_t *ret_at)
{
	for (size_t i = 0; i < plan->n_mounts; i++) {
		if (plan->mounts[i].kind != MOUNT_KEEP)
			continue;
		*ret_at = i;
		trees[i] = keep_open(plan->mounts[i].path);
		if (trees[i] < 0 ? !is_gone(errno)
				 : plan->mounts[i].read_only &&
					   restrict_tree(trees[i], "", READ_ONLY) < 0)
			return -1;
	}
	return 0;
}

static int mount_row(const struct mount_row *row, int kept)
{
	const unsigned long flags = MS_NOSUID | MS_NODEV;

	switch (row->kind) {
	case MOUNT_PRIVATE_TMP:
	case MOUNT_PRIVATE_SHM:
		return mount("tmpfs", row->path, "tmpfs", flags, "mode=1777");
	case MOUNT_PRIVATE_PTS:
		return mount("devpts", row->path, "devpts", MS_NOSUID | MS_NOEXEC,
			     "mode=620,ptmxmode=666");
	case MOUNT_PROC:
		return mount("proc", row->path, "proc", flags | MS_NOEXEC, NULL);
	case MOUNT_KEEP:
		return kept < 0 ? 0 : keep_attach(row->path, kept);
	case MOUNT_HIDE:
	case MOUNT_MASK:
	case MOUNT_READ_ONLY:
	case MOUNT_WRITABLE:
		break;
	}
	return 0;
}

int mount_apply(const struct plan *plan, size_t *ret_at)
{
	int trees[PLAN_MOUNTS_MAX]; /* no heap: we may be the fork of a threaded program */
	int r = 0;

	*ret_at = 0;
	if (plan->n_mounts > PLAN_MOUNTS_MAX) {
		errno = E2BIG;
		return -1;
	}
	for (size_t i = 0; i < plan->n_mounts; i++)
		trees[i] = -1;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		r = -1;
	/* Hidden first: a kept tree is cloned with what is mounted in it. */
	if (r == 0)
		r = hide_all(plan, ret_at);
	if (r == 0)
		r = keep_open_all(plan, trees, ret_at);
	for (size_t i = 0; i < plan->n_mounts && r == 0; i++) {
		*ret_at = i;
		r = mount_row(&plan->mounts[i], trees[i]);
	}
	for (size_t i = 0; i < plan->n_mounts; i++)
		fd_close(&trees[i]);
	return r;
}

/* ---- Mounts that hold what is denied ---- */

static bool is_root(const struct mount_row *row)
{
	return strcmp(row->path, "/") == 0;
}

/* What is at ROW's path by now, to be mounted there once more. */
static int held_open(const struct mount_row *row)
{
	int cleanup_fd fd = linux_open_plain(row->path, O_PATH);
	int cleanup_fd tree = fd < 0 ? -1 : clone_tree(fd, "", AT_EMPTY_PATH | AT_RECURSIVE_);

	if (tree < 0 ||
	    (row->kind == MOUNT_READ_ONLY && restrict_tree(tree, "", READ_ONLY | NO_DEVICES) < 0))
		return -1;
	return fd_steal(&tree);
}

int mount_all_read_only(void)
{
	return restrict_tree(AT_FDCWD, "/", READ_ONLY);
}

static int held_attach(const struct mount_row *row, int tree)
{
	int cleanup_fd target = -1;

	if (is_root(row))
		return mount_all_read_only();
	target = linux_open_plain(row->path, O_PATH);
	return target < 0 ? -1 : attach(tree, target);
}

int mount_hold(const struct plan *plan, size_t *ret_at)
{
	int trees[PLAN_MOUNTS_MAX];
	int r = 0;

	/* Before "/" is read-only: each as it was. */
	for (size_t i = 0; i < plan->n_mounts; i++) {
		const struct mount_row *row = &plan->mounts[i];

		trees[i] = -1;
		if (r < 0 || !plan_is_of_holding(row) || is_root(row))
			continue;
		*ret_at = i;
		trees[i] = held_open(row);
		r = trees[i] < 0 ? -1 : 0;
	}
	for (size_t i = 0; i < plan->n_mounts && r == 0; i++) {
		if (!plan_is_of_holding(&plan->mounts[i]))
			continue;
		*ret_at = i;
		r = held_attach(&plan->mounts[i], trees[i]);
	}
	for (size_t i = 0; i < plan->n_mounts; i++)
		fd_close(&trees[i]);
	return r;
}
