/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init: the process between supervisor and command. It reaps, tells the
 * supervisor when the command stops and ends, and sees to it that nothing
 * outlives the run: as pid 1 by exiting (the kernel kills its namespace), else
 * as a subreaper by killing until no child is left. It ends when the command
 * ends or when the supervisor is gone.
 *
 * guard: init's parent where there is no pid namespace. An init that somebody
 * kills leaves its children to the guard, which kills them in its place; and an
 * init that has lost its guard ends the run.
 */
#include "linux/linux.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "linux/child.h"
#include "linux/proc.h"
#include "linux/scratch.h"
#include "base/banned.h"

/* ---- Without a pid namespace ---- */

static int signal_descendant(int proc, pid_t pid, void *signal)
{
	if (proc_is_descendant(proc, pid, getpid()))
		(void)kill(pid, *(int *)signal);
	return 0;
}

static int signal_descendants(int proc, int signal)
{
	return proc_each_process(proc, signal_descendant, &signal);
}

/* Reaps those that have ended; is anybody left? */
static bool has_children(void)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG | __WALL);
	while (pid > 0 || (pid < 0 && errno == EINTR));
	return pid == 0;
}

/*
 * Stops everybody before killing anybody, so that nobody forks on in the meantime. Orphans become
 * our children, so the end is reached when there are none.
 */
static void kill_everything(int proc)
{
	enum {
		STOP_ROUNDS = 3
	};
	const struct timespec pause = {.tv_nsec = 1000000};

	while (has_children()) {
		int r = 0;

		for (int i = 0; i < STOP_ROUNDS; i++)
			r |= signal_descendants(proc, SIGSTOP);
		/* Without a procfs nobody can be found; the broker is gone, and they stay confined.
		 */
		if (signal_descendants(proc, SIGKILL) < 0 || r < 0)
			return;
		(void)nanosleep(&pause, NULL);
	}
}

/* ---- The loop ---- */

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
		child_report(control, &message, -1);
		if (!WIFSTOPPED(status))
			return 1;
	}
	return 0;
}

void init_leave_outer(const struct child_context *context)
{
	if (context->options->nested.n && !has_children())
		(void)landlock_nested(NESTED_END, NULL, 0);
}

/* The end of the run, without a pid namespace. */
__attribute__((noreturn)) static void clean_up(const struct child_context *context)
{
	kill_everything(context->proc);
	if (context->options->scratch)
		scratch_remove(context->options->scratch);
	init_leave_outer(context); /* as long as there is a guard, it is the guard's to say */
	_exit(0);
}

void init_run(const struct child_context *context, pid_t command, pid_t guard)
{
	struct pollfd polled[2] = {{.fd = context->control, .events = POLLIN}, {.events = POLLIN}};
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)sigemptyset(&all);
	(void)sigaddset(&all, SIGCHLD);
	polled[1].fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	for (bool ended = polled[1].fd < 0; !ended;) {
		struct signalfd_siginfo info;

		ended = reap(context->control, command) != 0 || (guard && getppid() != guard);
		if (ended || (poll(polled, 2, -1) < 0 && errno != EINTR))
			break;
		/* Nothing is ever sent to us: readable means that the supervisor is gone. */
		if (polled[0].revents)
			break;
		while (read(polled[1].fd, &info, sizeof(info)) > 0)
			;
	}
	if (context->options->plan->ns & NS_PID)
		_exit(0);
	clean_up(context);
}

void init_guard(const struct child_context *context, pid_t init)
{
	struct pollfd polled[2] = {
		{.fd = context->control, .events = POLLIN},
		{.fd = (int)syscall(SYS_pidfd_open, init, 0), .events = POLLIN},
	};
	int status = 0;

	/* Without that descriptor nothing is lost but the next step. */
	while (polled[1].fd >= 0 && poll(polled, 2, -1) < 0 && errno == EINTR)
		;
	/* The run is over: one that somebody has stopped shall see it. */
	(void)kill(init, SIGCONT);
	while (waitpid(init, &status, __WALL) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		clean_up(context);
	init_leave_outer(context);
	_exit(0);
}
