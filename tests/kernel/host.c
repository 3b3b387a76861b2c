/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that call lapbelt_run(): what the run does to them, and they to it. Every case is a
 * process of its own. LAPBELT_RUN_OPTIONS as in tests/e2e: "--no-userns" or nothing.
 */
#include "test.h"

#include <lapbelt.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/banned.h"

static struct lapbelt_policy *policy;

/* What the command and the test have in common: it is ready; it may end. */
static int ready[2], end[2];

/* ---- Hosts ---- */

static struct lapbelt_run_options run_options(void)
{
	struct lapbelt_run_options options = LAPBELT_RUN_OPTIONS_INIT;
	const char *words = getenv("LAPBELT_RUN_OPTIONS");

	if (words && *words)
		options.flags |= LAPBELT_RUN_NO_USERNS;
	return options;
}

/* Runs the shell TEXT with `ready` as descriptor 8 and `end` as 9; returns what lapbelt_run() does
 * if that is negative, else the status.
 */
static int run_shell(const char *text)
{
	struct lapbelt_run_options options = run_options();
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	const int fds[] = {8, 9};
	char shell[] = "/bin/sh", dash_c[] = "-c", copy[256];
	char *argv[] = {shell, dash_c, copy, NULL};
	int status = -1, r;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	(void)dup2(ready[1], 8);
	(void)dup2(end[0], 9);
	(void)close(end[1]);
	options.pass_fds = fds;
	options.n_pass_fds = 2;
	r = lapbelt_run(policy, argv, &options, &status, &error);
	if (r < 0)
		printf("# %s\n", error.text);
	return r < 0 ? r : status;
}

static void *wait_forever(void *nothing)
{
	(void)nothing;
	for (;;)
		(void)pause();
	return NULL;
}

static void add_thread(void)
{
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, wait_forever, NULL), 0);
}

/* Starts HOST, sends it SIGNAL (0: none) when its command is ready, lets the command end; returns
 * the wait status of the host.
 */
static int status_of_host(int (*host)(void), int signal)
{
	int status = -1;
	pid_t pid;
	char byte;

	CHECK(pipe2(ready, O_CLOEXEC) == 0 && pipe2(end, O_CLOEXEC) == 0);
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		status = host();
		(void)fflush(stdout);
		_exit(status < 0 ? 100 - status : status);
	}
	(void)close(ready[1]);
	(void)close(end[0]);
	CHECK(read(ready[0], &byte, 1) == 1);
	if (signal)
		CHECK_INT(kill(pid, signal), 0);
	(void)usleep(100000);
	(void)close(end[1]);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	(void)close(ready[0]);
	return status;
}

/* ---- Signals ---- */

#define SAYS_READY "echo >&8; "
#define TRAPS      "trap 'exit 7' TERM USR1; " SAYS_READY "while :; do sleep 0.05; done"
#define WAITS      SAYS_READY "read x <&9; exit 3"

static int no_run(void)
{
	add_thread();
	CHECK_INT(write(ready[1], "", 1), 1);
	(void)pause();
	return 0;
}

static int one_thread(void)
{
	return run_shell(TRAPS);
}

static int two_threads(void)
{
	add_thread();
	return run_shell(TRAPS);
}

static void a_signal_goes_to_the_command(void)
{
	CHECK_INT(WTERMSIG(status_of_host(no_run, SIGTERM)), SIGTERM); /* the control */
	CHECK_INT(WEXITSTATUS(status_of_host(one_thread, SIGTERM)), 7);
	CHECK_INT(WEXITSTATUS(status_of_host(two_threads, SIGTERM)), 7);
	CHECK_INT(WEXITSTATUS(status_of_host(two_threads, SIGUSR1)), 7);
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	(void)signal;
	handled = 1;
}

static int with_handler(void)
{
	const struct sigaction action = {.sa_handler = handle};
	int status;

	add_thread();
	CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
	status = run_shell(WAITS);
	return status == 3 && handled ? 4 : status;
}

static int with_ignored(void)
{
	(void)signal(SIGUSR1, SIG_IGN);
	add_thread();
	return run_shell(WAITS);
}

static void *take_signal(void *set)
{
	int signal;

	(void)sigwait(set, &signal);
	handled = 1;
	return NULL;
}

/* As programs do that give signals to a thread of their own. */
static int with_sigwait(void)
{
	pthread_t thread;
	sigset_t set;
	int status;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	CHECK_INT(pthread_create(&thread, NULL, take_signal, &set), 0);
	status = run_shell(WAITS);
	return status == 3 && handled ? 4 : status;
}

static void what_the_host_handles_is_its_own(void)
{
	CHECK_INT(WEXITSTATUS(status_of_host(with_handler, SIGUSR1)), 4);
	CHECK_INT(WEXITSTATUS(status_of_host(with_ignored, SIGUSR1)), 3);
	CHECK_INT(WEXITSTATUS(status_of_host(with_sigwait, SIGUSR1)), 4);
}

/* ---- What a run leaves ---- */

static int is_as_before(void)
{
	struct sigaction actions[SIGSYS + 1], action;
	sigset_t before, after;
	int reaper = -1, status = -1;
	pid_t own = fork();

	if (own == 0)
		_exit(5);
	add_thread();
	(void)pthread_sigmask(SIG_SETMASK, NULL, &before);
	for (int i = 1; i <= SIGSYS; i++)
		(void)sigaction(i, NULL, &actions[i]);
	CHECK_INT(run_shell(WAITS), 3);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int i = 1; i <= SIGSYS; i++)
		if (sigismember(&before, i) != sigismember(&after, i) ||
		    (sigaction(i, NULL, &action) == 0 &&
		     action.sa_handler != actions[i].sa_handler)) {
			printf("# signal %d\n", i);
			test_failures_here++;
		}
	CHECK(prctl(PR_GET_CHILD_SUBREAPER, &reaper, 0, 0, 0) == 0 && reaper == 0);
	CHECK(waitpid(own, &status, 0) == own && WEXITSTATUS(status) == 5);
	CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
	return test_failures_here ? 1 : 0;
}

static void a_run_leaves_the_host_as_it_was(void)
{
	CHECK_INT(status_of_host(is_as_before, 0), 0);
}

static void *run_meanwhile(void *nothing)
{
	char name[] = "true";
	char *argv[] = {name, NULL};
	int status = -1;
	int r = lapbelt_run(policy, argv, NULL, &status, NULL);

	(void)nothing;
	return (void *)(intptr_t)r;
}

/* The command is ready by the time the other thread has read what it says. */
static void *run_when_ready(void *nothing)
{
	char byte;

	if (read(ready[0], &byte, 1) == 1 && write(ready[1], "", 1) == 1)
		return run_meanwhile(nothing);
	return NULL;
}

static int two_runs(void)
{
	pthread_t thread;
	void *r = NULL;
	int status;

	CHECK_INT(pthread_create(&thread, NULL, run_when_ready, NULL), 0);
	status = run_shell(SAYS_READY "sleep 0.3; exit 3");
	CHECK_INT(pthread_join(thread, &r), 0);
	CHECK_INT(status, 3);
	CHECK_INT((intptr_t)r, -LAPBELT_USAGE);
	CHECK_INT((intptr_t)run_meanwhile(NULL), 0); /* the control: one after the other */
	return test_failures_here ? 1 : 0;
}

static void one_run_at_a_time(void)
{
	CHECK_INT(pipe2(ready, O_CLOEXEC), 0);
	CHECK_INT(pipe2(end, O_CLOEXEC), 0);
	(void)two_runs();
}

/* ---- A broker that cannot start ---- */

/* The broker makes its thread's file system context its own with it. (EPERM is a container's, and
 * there is another way then.) */
static void refuse_unshare(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_INT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static const char judged[] = "(version 1)(allow default)(deny file-write* (regex #\"\\.x$\"))";

static int brokered(void)
{
	CHECK_INT(lapbelt_policy_from_text(judged, "t.sb", NULL, &policy, NULL), 0);
	return run_shell(SAYS_READY "exit 3");
}

static int without_unshare(void)
{
	struct pollfd polled = {.fd = ready[0], .events = POLLIN};
	int status;

	refuse_unshare();
	status = brokered();
	CHECK_INT(poll(&polled, 1, 0), 0); /* the command has not said that it is ready */
	CHECK_INT(write(ready[1], "", 1), 1);
	return status == -LAPBELT_OS && !test_failures_here ? 4 : status;
}

static void nothing_runs_without_its_broker(void)
{
	CHECK_INT(WEXITSTATUS(status_of_host(brokered, 0)), 3); /* the control */
	CHECK_INT(WEXITSTATUS(status_of_host(without_unshare, 0)), 4);
}

/* ---- The status descriptor ---- */

static int with_closed_pipe(void)
{
	struct lapbelt_run_options options = run_options();
	char name[] = "true";
	char *argv[] = {name, NULL};
	int fds[2], status = -1;

	CHECK_INT(write(ready[1], "", 1), 1);
	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	(void)close(fds[0]);
	options.status_fd = fds[1];
	return lapbelt_run(policy, argv, &options, &status, NULL) < 0 ? 1 : status;
}

static void nobody_may_read_the_status(void)
{
	CHECK_INT(status_of_host(with_closed_pipe, 0), 0);
}

int main(void)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;

	if (lapbelt_policy_from_text("(version 1)(allow default)", "t.sb", NULL, &policy, &error) <
	    0)
		return 1;
	RUN(a_signal_goes_to_the_command);
	RUN(what_the_host_handles_is_its_own);
	RUN(a_run_leaves_the_host_as_it_was);
	RUN(nothing_runs_without_its_broker);
	RUN(one_run_at_a_time);
	RUN(nobody_may_read_the_status);
	lapbelt_policy_free(policy);
	return test_done();
}
