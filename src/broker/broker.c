/* SPDX-License-Identifier: Apache-2.0 */
/* Which handler answers a call; start and end of the broker. */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "broker/crew.h"
#include "linux/sys.h"
#include "base/banned.h"

/* 6.6 */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
enum {
	SYNC_WAKE_UP = 1
};

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* 6.6 */
#endif

static const struct {
	int nr;
	void (*handle)(struct call *call);
	enum {
		ANY_TIME,
		IN_TURN,   /* one after the other: it changes names, or what the broker knows */
		ONLY_TOLD, /* the kernel does it; nothing is done on the caller's behalf */
	} when;
} handlers[] = {
#ifdef SYS_open
	{SYS_open, handle_open},
	{SYS_creat, handle_open},
	{SYS_mkdir, handle_mkdir, IN_TURN},
	{SYS_mknod, handle_mknod, IN_TURN},
	{SYS_unlink, handle_unlink, IN_TURN},
	{SYS_rmdir, handle_unlink, IN_TURN},
	{SYS_symlink, handle_symlink, IN_TURN},
	{SYS_link, handle_link, IN_TURN},
	{SYS_rename, handle_rename, IN_TURN},
	{SYS_access, handle_access},
	{SYS_chmod, handle_chmod},
	{SYS_chown, handle_chown},
	{SYS_lchown, handle_chown},
	{SYS_utime, handle_utimes},
	{SYS_utimes, handle_utimes},
	{SYS_futimesat, handle_utimes},
#endif
#ifdef SYS_renameat
	{SYS_renameat, handle_rename, IN_TURN},
#endif
	{SYS_openat, handle_open},
	{SYS_openat2, handle_openat2},
	{SYS_mkdirat, handle_mkdir, IN_TURN},
	{SYS_mknodat, handle_mknod, IN_TURN},
	{SYS_unlinkat, handle_unlink, IN_TURN},
	{SYS_symlinkat, handle_symlink, IN_TURN},
	{SYS_linkat, handle_link, IN_TURN},
	{SYS_renameat2, handle_rename, IN_TURN},
	{SYS_truncate, handle_truncate},
	{SYS_faccessat, handle_access},
	{SYS_faccessat2, handle_access},
	{SYS_fchmod, handle_chmod},
	{SYS_fchmodat, handle_chmod},
	{SYS_fchmodat2, handle_chmod},
	{SYS_fchown, handle_chown},
	{SYS_fchownat, handle_chown},
	{SYS_utimensat, handle_utimes},
	{SYS_setxattr, handle_xattr},
	{SYS_lsetxattr, handle_xattr},
	{SYS_fsetxattr, handle_xattr},
	{SYS_removexattr, handle_xattr},
	{SYS_lremovexattr, handle_xattr},
	{SYS_fremovexattr, handle_xattr},
	{SYS_socket, handle_socket, IN_TURN},
	{SYS_connect, handle_connect, IN_TURN},
	{SYS_bind, handle_bind, IN_TURN},
	{SYS_listen, handle_listen, IN_TURN},
	{SYS_getsockname, handle_getsockname, IN_TURN},
	{SYS_execve, handle_exec},
	{SYS_execveat, handle_exec},
	{SYS_kill, handle_signal},
	{SYS_tkill, handle_signal},
	{SYS_tgkill, handle_signal},
	{SYS_rt_sigqueueinfo, handle_signal},
	{SYS_rt_tgsigqueueinfo, handle_signal},
	{SYS_pidfd_send_signal, handle_signal_pidfd},
	{SYS_fcntl, handle_fcntl},
	{SYS_flock, handle_lock, ONLY_TOLD},
	{SYS_prlimit64, handle_process},
	{SYS_setpriority, handle_process},
	{SYS_ioprio_set, handle_process},
	{SYS_sched_setaffinity, handle_process},
	{SYS_sched_setscheduler, handle_process},
	{SYS_sched_setparam, handle_process},
	{SYS_sched_setattr, handle_process},
	{SYS_migrate_pages, handle_process},
	{SYS_move_pages, handle_process},
	{SYS_umask, handle_umask, ONLY_TOLD},
	{SYS_setuid, handle_setids, ONLY_TOLD},
	{SYS_setgid, handle_setids, ONLY_TOLD},
	{SYS_setreuid, handle_setids, ONLY_TOLD},
	{SYS_setregid, handle_setids, ONLY_TOLD},
	{SYS_setresuid, handle_setids, ONLY_TOLD},
	{SYS_setresgid, handle_setids, ONLY_TOLD},
	{SYS_setfsuid, handle_setids, ONLY_TOLD},
	{SYS_setfsgid, handle_setids, ONLY_TOLD},
	{SYS_setgroups, handle_setids, ONLY_TOLD},
	{SYS_capset, handle_setids, ONLY_TOLD},
	{SYS_ioctl, handle_flags},
	{SYS_memfd_create, handle_memfd},
	{SYS_landlock_create_ruleset_, handle_nested},
};

void call_take_turn(struct call *call)
{
	(void)pthread_mutex_lock(&call->broker->turn);
	call->has_turn = true;
}

static void end_turn(struct call *call)
{
	if (call->has_turn)
		(void)pthread_mutex_unlock(&call->broker->turn);
	call->has_turn = false;
}

void call_dispatch(struct call *call)
{
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		if (handlers[i].nr != call->nr)
			continue;
		if (handlers[i].when != ONLY_TOLD && nested_enter(call) < 0) {
			call_error(call, EPERM);
			break;
		}
		if (handlers[i].when == IN_TURN)
			call_take_turn(call);
		/* Before anything is looked up: whose rights count on the way is the caller's too.
		 */
		if (handlers[i].when != ONLY_TOLD && caller_assume(call) < 0)
			call_error(call, EPERM);
		else
			handlers[i].handle(call);
		if (!call->answered) /* cannot happen; but nobody shall wait forever */
			call_error(call, EPERM);
		end_turn(call);
		break;
	}
	if (!call->answered)
		call_error(call, EPERM);
	nested_leave(call);
	call_send(call);
}

struct server {
	struct broker broker;
	struct crew *crew;
	int failed; /* eventfd: the crew has ended by itself */
};

/* ---- Start and end ---- */

/* Is a procfs mounted anywhere but at /proc, as PID sees it? Unknown counts as yes. */
static bool has_stray_procs(pid_t pid)
{
	char path[64];
	struct buf text = {0};
	bool stray = true;

	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	if (io_read_file(AT_FDCWD, path, &text, 16u << 20) == 0) {
		char *rest = text.p, *line;

		stray = false;
		/* 36 35 98:0 /root /mount-point ...: proc_pid_mountinfo(5) */
		while ((line = strsep(&rest, "\n")))
			stray |= strstr(line, " - proc ") && !strstr(line, " / /proc ");
	}
	buf_release(&text);
	return stray;
}

static bool has_mount(const struct plan *plan, enum mount_kind kind)
{
	for (size_t i = 0; i < plan->n_mounts; i++)
		if (plan->mounts[i].kind == kind)
			return true;
	return false;
}

/* *RET: the device of the private mount at PATH; 0: there is none. */
static int find_device(const struct broker *broker, enum mount_kind kind, const char *path,
		       dev_t *ret)
{
	struct stat st;

	*ret = 0;
	if (!has_mount(broker->plan, kind))
		return 0;
	if (fstatat(broker->root, path, &st, 0) < 0)
		return -1;
	*ret = st.st_dev;
	return 0;
}

static int set_up(struct broker *broker, const struct broker_options *options, struct err *e)
{
	char path[64];

	if (caller_umask_of(options->command, &broker->initial_umask) < 0) {
		(void)err_os(e, "there is no procfs at /proc that shows the command");
		return err_hint(e, "mount -t proc proc /proc");
	}
	if (nested_set_up(broker, options->command) < 0)
		return err_os(e, "could not look at the command");
	broker->init = options->init;
	broker->own_proc = has_mount(options->plan, MOUNT_PROC);
	broker->shared_shm = (options->input->private_scope & SCOPE_SHM) &&
			     !has_mount(options->plan, MOUNT_PRIVATE_SHM);
	broker->own_pts = has_mount(options->plan, MOUNT_PRIVATE_PTS);
	broker->network = options->network;
	broker->stray_procs = has_stray_procs(options->command);
	broker->stop = eventfd(0, EFD_CLOEXEC);
	broker->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)options->command);
	broker->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	broker->pids = openat(broker->own_proc ? broker->root : broker->proc,
			      broker->own_proc ? "proc" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (broker->stop < 0 || broker->proc < 0 || broker->root < 0 || broker->pids < 0)
		return err_os(e, "could not look into the sandbox");
	if (find_device(broker, MOUNT_PROC, "proc", &broker->own_proc_device) < 0 ||
	    find_device(broker, MOUNT_PRIVATE_TMP, "tmp", &broker->own_tmp) < 0 ||
	    find_device(broker, MOUNT_PRIVATE_SHM, "dev/shm", &broker->own_shm) < 0)
		return err_os(e, "could not look at the sandbox's own mounts");
	/* Both sides run on one processor where that is cheaper; older kernels do without. */
	(void)ioctl(broker->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
	return 0;
}

static void server_free(struct server *server)
{
	fd_close(&server->broker.listener);
	fd_close(&server->broker.stop);
	fd_close(&server->failed);
	fd_close(&server->broker.proc);
	fd_close(&server->broker.pids);
	fd_close(&server->broker.root);
	nested_free(&server->broker);
	made_release(&server->broker.shm);
	free(server->broker.socket_names);
	(void)pthread_mutex_destroy(&server->broker.pending.lock);
	(void)pthread_mutex_destroy(&server->broker.handing.lock);
	(void)pthread_mutex_destroy(&server->broker.turn);
	free(server);
}

int broker_start(const struct broker_options *options, struct broker **ret, struct err *e)
{
	struct server *server = calloc(1, sizeof(*server));
	int listener = options->listener;
	int r;

	if (!server) {
		fd_close(&listener);
		return err_memory(e);
	}
	server->broker = (struct broker){
		.own = {options->input->policy, options->input, options->plan, .run = NULL},
		.input = options->input,
		.plan = options->plan,
		.listener = listener,
		.stop = -1,
		.root = -1,
		.proc = -1,
		.pids = -1,
	};
	server->broker.runs.lost = UINT_MAX;
	(void)pthread_mutex_init(&server->broker.runs.lock, NULL);
	(void)pthread_mutex_init(&server->broker.runs.building, NULL);
	(void)pthread_mutex_init(&server->broker.turn, NULL);
	(void)pthread_mutex_init(&server->broker.handing.lock, NULL);
	(void)pthread_mutex_init(&server->broker.pending.lock, NULL);
	server->failed = eventfd(0, EFD_CLOEXEC);
	r = server->failed < 0 ? err_os(e, "could not watch the broker")
			       : set_up(&server->broker, options, e);
	if (r == 0) {
		errno = crew_start(&server->broker, server->failed, &server->crew);
		if (errno)
			r = err_os(e, "could not start the broker");
	}
	if (r < 0) {
		server_free(server);
		return r;
	}
	*ret = &server->broker;
	return 0;
}

/* The broker is the first member of its server. */

int broker_failed_fd(const struct broker *broker)
{
	return broker ? ((const struct server *)broker)->failed : -1;
}

const char *broker_error(const struct broker *broker)
{
	const char *broken = atomic_load(&broker->broken);

	return broken ? broken : strerror(crew_error(((const struct server *)broker)->crew));
}

void broker_stop(struct broker *broker)
{
	struct server *server = (struct server *)broker;

	if (!server)
		return;
	crew_stop(server->crew);
	judge_clean_up(broker);
	server_free(server);
}
