/* SPDX-License-Identifier: Apache-2.0 */
/* Receives notified calls and gives each to its handler. */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "linux/linux.h"
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
	bool only_told; /* the kernel does it; nothing is done on the caller's behalf */
} handlers[] = {
#ifdef SYS_open
	{SYS_open, handle_open},
	{SYS_creat, handle_open},
	{SYS_mkdir, handle_mkdir},
	{SYS_mknod, handle_mknod},
	{SYS_unlink, handle_unlink},
	{SYS_rmdir, handle_unlink},
	{SYS_symlink, handle_symlink},
	{SYS_link, handle_link},
	{SYS_rename, handle_rename},
	{SYS_access, handle_access},
	{SYS_chmod, handle_chmod},
	{SYS_chown, handle_chown},
	{SYS_lchown, handle_chown},
	{SYS_utime, handle_utimes},
	{SYS_utimes, handle_utimes},
	{SYS_futimesat, handle_utimes},
#endif
#ifdef SYS_renameat
	{SYS_renameat, handle_rename},
#endif
	{SYS_openat, handle_open},
	{SYS_openat2, handle_openat2},
	{SYS_mkdirat, handle_mkdir},
	{SYS_mknodat, handle_mknod},
	{SYS_unlinkat, handle_unlink},
	{SYS_symlinkat, handle_symlink},
	{SYS_linkat, handle_link},
	{SYS_renameat2, handle_rename},
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
	{SYS_connect, handle_connect},
	{SYS_bind, handle_bind},
	{SYS_listen, handle_listen},
	{SYS_getsockname, handle_getsockname},
	{SYS_execve, handle_exec},
	{SYS_execveat, handle_exec},
	{SYS_kill, handle_signal},
	{SYS_tkill, handle_signal},
	{SYS_tgkill, handle_signal},
	{SYS_rt_sigqueueinfo, handle_signal},
	{SYS_rt_tgsigqueueinfo, handle_signal},
	{SYS_pidfd_send_signal, handle_signal_pidfd},
	{SYS_fcntl, handle_owner},
	{SYS_prlimit64, handle_process},
	{SYS_setpriority, handle_process},
	{SYS_ioprio_set, handle_process},
	{SYS_sched_setaffinity, handle_process},
	{SYS_sched_setscheduler, handle_process},
	{SYS_sched_setparam, handle_process},
	{SYS_sched_setattr, handle_process},
	{SYS_migrate_pages, handle_process},
	{SYS_move_pages, handle_process},
	{SYS_umask, handle_umask, true},
	{SYS_setuid, handle_setids, true},
	{SYS_setgid, handle_setids, true},
	{SYS_setreuid, handle_setids, true},
	{SYS_setregid, handle_setids, true},
	{SYS_setresuid, handle_setids, true},
	{SYS_setresgid, handle_setids, true},
	{SYS_setfsuid, handle_setids, true},
	{SYS_setfsgid, handle_setids, true},
	{SYS_setgroups, handle_setids, true},
	{SYS_capset, handle_setids, true},
	{SYS_ioctl, handle_flags},
	{SYS_memfd_create, handle_memfd},
};

static void dispatch(struct call *call)
{
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		if (handlers[i].nr != call->nr)
			continue;
		/* Before anything is looked up: whose rights count on the way is the caller's too.
		 */
		if (!handlers[i].only_told && caller_assume(call) < 0)
			call_error(call, EPERM);
		else
			handlers[i].handle(call);
		if (!call->answered) /* cannot happen; but nobody shall wait forever */
			call_error(call, EPERM);
		return;
	}
	call_error(call, EPERM);
}

/* ---- The serving thread ---- */

struct server {
	struct broker broker;
	pthread_t thread;
	sem_t started; /* the thread serves, or has failed to */
	int failed;    /* eventfd: it has failed since */
	int error;     /* errno, set before either; 0: it serves */
};

static void receive(struct broker *broker, struct seccomp_notif *notification, size_t size)
{
	struct call call = {.broker = broker, .listener = broker->listener};

	memset(notification, 0, size);
	/* ENOENT: the caller was killed between poll and here. */
	if (ioctl(broker->listener, SECCOMP_IOCTL_NOTIF_RECV, notification) < 0)
		return;
	call.id = notification->id;
	call.tid = (pid_t)notification->pid;
	call.nr = notification->data.nr;
	for (int i = 0; i < 6; i++)
		call.args[i] = notification->data.args[i];
	dispatch(&call);
}

/* 0: we were told to stop, or nobody is left inside. -1 with errno, or `broken`. */
static int serve(struct broker *broker, struct seccomp_notif *notification, size_t size)
{
	struct pollfd polled[2] = {{.fd = broker->listener, .events = POLLIN},
				   {.fd = broker->stop, .events = POLLIN}};

	for (;;) {
		int n = poll(polled, 2, pending_timeout(broker));

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0 && polled[1].revents)
			return 0;
		if (n > 0 && (polled[0].revents & POLLIN))
			receive(broker, notification, size);
		else if (n > 0 && polled[0].revents)
			return 0; /* POLLHUP: nobody is left inside */
		if (broker->broken)
			return -1;
		pending_retry(broker);
	}
}

/* A file system context and capabilities of the thread's own: no wider than the command's. */
static int confine_thread(struct broker *broker)
{
	int r;

	/*
	 * An exec leaves nobody but root any. Root's broker has to look into callers whose ids are
	 * no longer those it started with.
	 */
	r = geteuid() == 0 ? caps_drop(1ull << CAP_SYS_PTRACE) : caps_drop_all();
	if (r < 0 || unshare(CLONE_FS) < 0)
		return -1;
	broker->umask = umask(broker->initial_umask);
	broker->umask = broker->initial_umask;
	return fchdir(broker->proc);
}

/* Makes the thread what it has to be. NULL with errno, else room for a notification. */
static struct seccomp_notif *confine(struct broker *broker, size_t *ret_size)
{
	struct seccomp_notif_sizes sizes;
	struct seccomp_notif *notification;
	size_t size = sizeof(*notification);

	/* The kernel's structure may be larger than the one we were built with. */
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
	    sizes.seccomp_notif > size)
		size = sizes.seccomp_notif;
	notification = malloc(size);
	if (notification && confine_thread(broker) < 0) {
		free(notification);
		notification = NULL;
	}
	*ret_size = size;
	return notification;
}

static void *thread_main(void *data)
{
	struct server *server = data;
	struct broker *broker = &server->broker;
	const uint64_t one = 1;
	size_t size;
	cleanup_free struct seccomp_notif *notification = confine(broker, &size);

	server->error = notification ? 0 : errno;
	(void)sem_post(&server->started);
	if (notification && serve(broker, notification, size) < 0) {
		server->error = errno;
		(void)io_write_full(server->failed, &one, sizeof(one));
	}
	/* From here on the kernel answers ENOSYS: nothing that needed us happens any more. */
	pending_free(broker);
	fd_close(&broker->listener);
	return NULL;
}

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

	if (caller_umask_of(options->command, &broker->initial_umask) < 0)
		return err_os(e, "could not read the umask");
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
	fresh_release(&server->broker.fresh);
	made_release(&server->broker.shm);
	free(server->broker.socket_names);
	(void)sem_destroy(&server->started);
	free(server);
}

/* The thread's mask: signals are the supervisor's business. Returns an errno. */
static int create_thread(struct server *server)
{
	enum {
		STACK_SIZE = 1 << 20 /* paths and listings; what C libraries give may be little */
	};
	pthread_attr_t attr;
	sigset_t all, mask;
	int r = pthread_attr_init(&attr);

	if (r != 0)
		return r;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &mask);
	r = pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (r == 0)
		r = pthread_create(&server->thread, &attr, thread_main, server);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	(void)pthread_attr_destroy(&attr);
	return r;
}

/* Returns once the thread serves: nobody may wait for answers of one that never will. */
static int start_thread(struct server *server)
{
	int r = create_thread(server);

	if (r != 0)
		return r;
	while (sem_wait(&server->started) < 0 && errno == EINTR)
		;
	if (server->error)
		(void)pthread_join(server->thread, NULL);
	return server->error;
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
		.policy = options->input->policy,
		.input = options->input,
		.plan = options->plan,
		.listener = listener,
		.stop = -1,
		.root = -1,
		.proc = -1,
		.pids = -1,
	};
	(void)sem_init(&server->started, 0, 0);
	server->failed = eventfd(0, EFD_CLOEXEC);
	r = server->failed < 0 ? err_os(e, "could not watch the broker")
			       : set_up(&server->broker, options, e);
	if (r == 0) {
		errno = start_thread(server);
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
	return broker->broken ? broker->broken : strerror(((const struct server *)broker)->error);
}

void broker_stop(struct broker *broker)
{
	struct server *server = (struct server *)broker;
	const uint64_t one = 1;

	if (!server)
		return;
	(void)io_write_full(server->broker.stop, &one, sizeof(one));
	(void)pthread_join(server->thread, NULL);
	judge_clean_up(broker);
	server_free(server);
}
