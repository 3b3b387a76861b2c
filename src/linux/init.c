/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init: the process between supervisor and command. It reaps, tells the
 * supervisor when the command stops and ends, and sees to it that nothing
 * outlives the run: as pid 1 by exiting (the kernel kills its namespace), else
 * as a subreaper by killing until no child is left. It ends when the command
 * ends or when the supervisor is gone.
 */
#include "linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/child.h"
#include "base/banned.h"

/* getdents64(2) itself: readdir(3) allocates, and we may be the fork of a threaded program. */
struct linux_dirent64 {
	uint64_t ino;
	int64_t off;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* Calls EACH for the entries of DIR but `.` and `..`. */
static void each_entry(int dir, void (*each)(int dir, const char *name, unsigned depth), unsigned depth)
{
	alignas(struct linux_dirent64) char buffer[4096];
	long n;

	while ((n = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < n;) {
			struct linux_dirent64 *entry = (struct linux_dirent64 *)(void *)(buffer + at);

			at += entry->length;
			if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
				each(dir, entry->name, depth);
		}
	}
}

/* ---- Without a pid namespace ------------------------------------------------------------------- */

static bool is_child(int proc, const char *name)
{
	char path[64], text[512];
	int cleanup_fd fd = -1;
	const char *p;
	ssize_t n;
	int parent;

	(void)snprintf(path, sizeof(path), "%s/stat", name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return false;
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name before it may contain anything, proc_pid_stat(5) */
	return p && sscanf(p + 1, " %*c %d", &parent) == 1 && parent == getpid();
}

static void kill_child(int proc, const char *name, unsigned depth)
{
	int pid;

	(void)depth;
	if (sscanf(name, "%d", &pid) == 1 && is_child(proc, name))
		(void)kill(pid, SIGKILL);
}

/* Kills every child of ours; the orphans they leave become our children next. */
static void kill_children(void)
{
	int cleanup_fd proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	each_entry(proc, kill_child, 0);
}

static void kill_everything(void)
{
	for (;;) {
		int r;

		kill_children();
		r = waitpid(-1, NULL, WNOHANG | __WALL);
		if (r < 0 && errno == ECHILD)
			return;
		if (r == 0) {
			struct timespec pause = {.tv_nsec = 1000000};

			(void)nanosleep(&pause, NULL);
		}
	}
}

/* A folder deeper than this was made to be hard to remove; what is left of it is in /tmp. */
enum { REMOVE_DEPTH_MAX = 200 };

static void remove_entry(int dir, const char *name, unsigned depth)
{
	int cleanup_fd below = -1;

	if (unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0 ||
	    depth == REMOVE_DEPTH_MAX)
		return;
	/* The command may have shut its folders; a link is not followed. */
	below = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0)
		return;
	if (fchmodat(dir, name, 0700, 0) < 0)
		return;
	fd_close(&below);
	below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0)
		return;
	each_entry(below, remove_entry, depth + 1);
	(void)unlinkat(dir, name, AT_REMOVEDIR);
}

/* ---- The loop ---------------------------------------------------------------------------------- */

/* Takes in what changed. 1: the command has ended. */
static int reap(int control, pid_t command)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL)) > 0) {
		struct spawn_message message = {.kind = SPAWN_ENDED, .value = status};

		if (pid != command)
			continue;
		if (WIFSTOPPED(status)) {
			message.kind = SPAWN_STOPPED;
			message.value = WSTOPSIG(status);
		}
		child_report(control, &message);
		if (!WIFSTOPPED(status))
			return 1;
	}
	return 0;
}

void init_run(int control, pid_t command, const struct spawn_options *options)
{
	struct pollfd polled[2] = {{.fd = control, .events = POLLIN}, {.events = POLLIN}};
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)sigemptyset(&all);
	(void)sigaddset(&all, SIGCHLD);
	polled[1].fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	for (bool ended = polled[1].fd < 0; !ended;) {
		struct signalfd_siginfo info;

		ended = reap(control, command) != 0;
		if (ended || (poll(polled, 2, -1) < 0 && errno != EINTR))
			break;
		/* Nothing is ever sent to us: readable means that the supervisor is gone. */
		if (polled[0].revents)
			break;
		while (read(polled[1].fd, &info, sizeof(info)) > 0)
			;
	}
	if (options->plan->ns & NS_PID)
		_exit(0);
	kill_everything();
	if (options->scratch)
		remove_entry(AT_FDCWD, options->scratch, 0);
	_exit(0);
}
