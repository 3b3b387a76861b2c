/* SPDX-License-Identifier: Apache-2.0 */
/* Rearranging the view: new namespaces, joining others, mounting over or away, changing root. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static enum outcome new_user_namespace(void)
{
	return came_through(unshare(CLONE_NEWUSER));
}

static enum outcome child_in_user_namespace(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return came_through(pid);
}

static enum outcome child_by_clone3(uint64_t flags)
{
	struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return came_through(pid);
}

static enum outcome clone3_user_namespace(void)
{
	return child_by_clone3(CLONE_NEWUSER);
}

static enum outcome clone3_mount_namespace(void)
{
	return child_by_clone3(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID);
}

/* A mount namespace of our own; inside, whatever there is has to do. */
static void own_mounts(void)
{
	if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0) {
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
		return;
	}
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 && !is_inside())
		broken("unshare");
}

static enum outcome mount_over_directory(void)
{
	own_mounts();
	return came_through(mount("tmpfs", home("other"), "tmpfs", 0, NULL));
}

static enum outcome bind_elsewhere(void)
{
	own_mounts();
	make_dir("d");
	if (mount(home(".ssh"), "d", NULL, MS_BIND, NULL) < 0)
		return came_through(-1);
	return reads_secret("d/id");
}

static enum outcome remount_writable(void)
{
	own_mounts();
	return came_through(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
}

static enum outcome unmount_something(void)
{
	static const char *const places[] = {"/proc", "/dev/shm", "/dev", "/tmp", "/run"};

	own_mounts();
	if (!is_inside() && mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) < 0)
		broken("mount");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (umount2(places[i], MNT_DETACH) == 0)
			return ESCAPED;
	return came_through(umount2(home(".ssh"), MNT_DETACH));
}

static enum outcome clone_tree_and_move(void)
{
	long tree;

	own_mounts();
	make_dir("d");
	tree = syscall(SYS_open_tree, AT_FDCWD, home(".ssh"), OPEN_TREE_CLONE | O_CLOEXEC);
	if (tree < 0)
		return came_through(-1);
	if (syscall(SYS_move_mount, (int)tree, "", AT_FDCWD, "d", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return came_through(-1);
	return reads_secret("d/id");
}

static enum outcome new_file_system(void)
{
	long fd;

	own_mounts();
	fd = syscall(SYS_fsopen, "tmpfs", 0);
	if (fd < 0)
		return came_through(-1);
	return came_through(syscall(SYS_fsconfig, (int)fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
}

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

static enum outcome set_mount_attribute(void)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOEXEC};

	own_mounts();
	return came_through(syscall(SYS_mount_setattr, AT_FDCWD, "/proc", 0, &attr, sizeof(attr)));
}

static enum outcome change_root(void)
{
	own_mounts();
	return came_through(chroot("."));
}

static enum outcome pivot(void)
{
	own_mounts();
	make_dir("d");
	make_dir("d/old");
	if (mount("d", "d", NULL, MS_BIND, NULL) < 0)
		return came_through(-1);
	return came_through(syscall(SYS_pivot_root, "d", "d/old"));
}

static enum outcome join(const char *namespace)
{
	int fd = open(text("/proc/%d/ns/%s", outsider_pid(), namespace), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return came_through(-1);
	return came_through(setns(fd, 0));
}

static enum outcome join_mounts(void)
{
	return join("mnt");
}

static enum outcome join_network(void)
{
	return join("net");
}

static enum outcome join_by_pidfd(void)
{
	long pidfd = syscall(SYS_pidfd_open, outsider_pid(), 0);

	if (pidfd < 0)
		return came_through(-1);
	return came_through(setns((int)pidfd, CLONE_NEWNS | CLONE_NEWNET));
}

/* Without it, a setuid program or file capabilities would give new powers. */
static enum outcome new_privileges(void)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0)
		return ESCAPED;
	return untried("no_new_privs is set outside as well");
}

/* The name it already has, so that the control changes nothing. */
static enum outcome name_the_host(void)
{
	char name[256];

	if (gethostname(name, sizeof(name) - 1) < 0)
		broken("gethostname");
	for (size_t i = 0; i < sizeof(name); i++)
		if (name[i] == '\0')
			return came_through(sethostname(name, i));
	return CONTAINED;
}

const struct escape_case namespace_cases[] = {
	{"A041a", "make a user namespace", new_user_namespace},
	{"A041b", "make a child in a user namespace", child_in_user_namespace},
	{"A058a", "make a user namespace by clone3", clone3_user_namespace},
	{"A058b", "make user, mount and pid namespaces by clone3", clone3_mount_namespace},
	{"A041c", "mount over a directory", mount_over_directory},
	{"A041d", "bind a secret into the working directory", bind_elsewhere},
	{"A041e", "remount the root", remount_writable},
	{"A041f", "unmount something", unmount_something},
	{"A041g", "open_tree and move_mount a secret", clone_tree_and_move},
	{"A041h", "make a file system with fsopen", new_file_system},
	{"A041i", "change mount attributes", set_mount_attribute},
	{"A041j", "chroot", change_root},
	{"A041k", "pivot_root", pivot},
	{"A056a", "join the mount namespace of a process outside", join_mounts, NEEDS_ROOT},
	{"A056b", "join the network namespace of a process outside", join_network, NEEDS_ROOT},
	{"A056c", "join namespaces by pidfd", join_by_pidfd, NEEDS_ROOT},
	{"A059g", "gain privileges by exec", new_privileges},
	{"A059h", "set the host's name", name_the_host, NEEDS_ROOT},
	{0},
};
