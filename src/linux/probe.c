/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel can do, by asking it or by trying in a child that is thrown away. */
#include "linux/linux.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/quiet.h"
#include "linux/sys.h"
#include "base/banned.h"

/* An allow-everything program, for flags only. */
static const struct bpf_insn allow_all[] = {{0x06, 0, 0, SECCOMP_RET_ALLOW}};

/* Descriptor -1 is looked at only by who does not refuse the call itself. */
static bool lends_descriptors(void)
{
	return syscall(SYS_pidfd_getfd, -1, 0, 0) < 0 && errno == EBADF;
}

/* A filter pointer of NULL faults only after the flags were accepted. */
static bool seccomp_knows_flags(unsigned flags)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL) < 0 && errno == EFAULT;
}

void linux_probe(struct caps *ret)
{
	*ret = (struct caps){
		.arch = ARCH_HERE,
		.notify = seccomp_knows_flags(SECCOMP_FILTER_FLAG_NEW_LISTENER),
		.wait_killable = seccomp_knows_flags(SECCOMP_FILTER_FLAG_NEW_LISTENER |
						     SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV_),
		.userns = true,
		.mount_proc = true,
		.mount_setattr = true,
		.pidfd_getfd = lends_descriptors(),
		.root = geteuid() == 0,
		.nested = landlock_is_nested(),
	};
	if (ret->nested)
		landlock_find_outer(&ret->outer);
	/* Without it a domain would not bind what its broker does. */
	ret->landlock_abi = landlock_abi(ret->outer.asks);
	ret->notify = ret->notify && !ret->outer.asks;
	/* Sockets are made by the broker then, and have to be of the command's network. */
	ret->userns = ret->pidfd_getfd && !ret->outer.asks;
}

/* Runs BODY in a child made with clone FLAGS. Returns what it does, 0 or an errno; or clone's. */
static int try_in_child(unsigned long flags, int (*body)(void))
{
	pid_t pid = quiet_fork(flags);
	int r;

	if (pid == 0)
		_exit(body());
	r = pid < 0 ? -1 : quiet_wait(pid);
	return r < 0 ? errno : r;
}

static int try_nothing(void)
{
	return 0;
}

static int make_private(void)
{
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ? errno : 0;
}

static int try_mounts(void)
{
	int r = make_private();

	return r ? r : mount("tmpfs", "/proc", "tmpfs", 0, "size=4k") < 0 ? errno : 0;
}

static int try_proc(void)
{
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	int r = make_private();

	return r ? r : mount("proc", "/proc", "proc", flags, NULL) < 0 ? errno : 0;
}

static int try_read_only(void)
{
	int r = make_private();

	return r ? r : mount_all_read_only() < 0 ? errno : 0;
}

static int try_listener(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || seccomp_install(allow_all, 1, true) < 0
		       ? errno
		       : 0;
}

static int try_pidfd_getfd(void)
{
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);

	return self < 0 || syscall(SYS_pidfd_getfd, self, self, 0) < 0 ? errno : 0;
}

void linux_try(struct tried *ret)
{
	const unsigned long all =
		CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET;

	*ret = (struct tried){
		.listener = try_in_child(0, try_listener),
		.namespaces = try_in_child(all, try_nothing),
		.mounts = try_in_child(all, try_mounts),
		.proc = try_in_child(all, try_proc),
		.read_only = try_in_child(all, try_read_only),
		.pidfd_getfd = try_in_child(0, try_pidfd_getfd),
	};
}

void linux_probe_by_trying(struct caps *ret, struct tried *ret_tried)
{
	struct tried tried;

	linux_probe(ret);
	linux_try(&tried);
	ret->notify = ret->notify && !tried.listener;
	ret->userns = ret->userns && !tried.mounts;
	ret->mount_proc = ret->userns && !tried.proc;
	ret->mount_setattr = ret->userns && !tried.read_only;
	if (ret_tried)
		*ret_tried = tried;
}
