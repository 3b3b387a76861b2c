/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From fork to exec: the order in which the facilities are applied. No heap,
 * no decisions; the first step that fails is reported and nothing is executed.
 *
 * init:    wait for id maps, loopback, mounts, without a pid namespace fork and
 *          leave the parent as guard, then fork the command
 * command: working directory, capabilities, descriptors, no_new_privs,
 *          Landlock, seccomp, limits, tell the supervisor, wait for go, exec
 */
#include "linux/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "base/banned.h"

enum {
	PASS_FDS_MAX = 64,
	OUTER_TRIES = 1000, /* of ten milliseconds: others are before us */
};

/* pidfd_getfd(2) would fetch it, too, but not in containers that refuse it. */
static void enclose(struct msghdr *msg, int fd)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
}

void child_report(int control, const struct spawn_message *message, int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(fd))];
	} ancillary = {.space = {0}};
	struct spawn_message copy = *message;
	struct iovec iov = {.iov_base = &copy, .iov_len = sizeof(copy)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		msg.msg_control = &ancillary;
		msg.msg_controllen = sizeof(ancillary);
		enclose(&msg, fd);
	}
	while (sendmsg(control, &msg, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

__attribute__((noreturn)) static void fail(int control, enum spawn_stage stage, int detail)
{
	struct spawn_message message = {
		.kind = SPAWN_FAILED, .stage = stage, .value = errno, .detail = detail};

	child_report(control, &message, -1);
	_exit(71);
}

/* ---- The command ---- */

static void clear_signals(void)
{
	struct sigaction action;

	for (int i = 1; i < NSIG; i++) {
		if (sigaction(i, NULL, &action) < 0)
			continue;
		if (action.sa_handler != SIG_IGN)
			action.sa_handler = SIG_DFL;
		action.sa_flags = 0;
		(void)sigaction(i, &action, NULL);
	}
}

/* Every signal back to its default but those that were ignored when we were started. */
static void restore_signals(const struct child_context *context)
{
	const struct sigaction ignored = {.sa_handler = SIG_IGN};

	if (!context->signals_cleared)
		clear_signals();
	if (context->sigchld_ignored)
		(void)sigaction(SIGCHLD, &ignored, NULL);
	(void)sigprocmask(SIG_SETMASK, context->options->mask, NULL);
}

static int scrub(const struct child_context *context, int ruleset)
{
	int keep[PASS_FDS_MAX + 3];
	size_t n = 0;

	if (context->options->n_pass_fds > PASS_FDS_MAX) {
		errno = E2BIG;
		return -1;
	}
	for (size_t i = 0; i < context->options->n_pass_fds; i++)
		keep[n++] = context->options->pass_fds[i];
	keep[n++] = context->control;
	keep[n++] = context->go;
	keep[n++] = ruleset;
	scrub_sort(keep, n);
	for (size_t i = 0; i < context->options->n_pass_fds; i++)
		if (fcntl(context->options->pass_fds[i], F_SETFD, 0) < 0)
			return -1;
	return scrub_fds(keep, n);
}

/* execve(2), or the shell for a file that is no program, as execvp(3) does. */
static void exec_or_shell(const char *path, char *const *argv, char **shell_argv, char *const *env)
{
	(void)execve(path, argv, env);
	if (errno != ENOEXEC)
		return;
	/* execve does not write to its arguments. */
	shell_argv[1] = (char *)(uintptr_t)path;
	(void)execve(shell_argv[0], shell_argv, env);
}

/* execvp(3) over the environment given, with its errors: EACCES wins over ENOENT. */
static void exec_search(const char *file, const struct child_context *context)
{
	char *const *argv = context->options->argv;
	char *const *env = context->options->env;
	const char *path = "/usr/local/bin:/usr/bin:/bin";
	char candidate[4096 + 256];
	int error = ENOENT;

	if (strchr(file, '/')) {
		exec_or_shell(file, argv, context->shell_argv, env);
		return;
	}
	for (char *const *var = env; *var; var++)
		if (strncmp(*var, "PATH=", 5) == 0)
			path = *var + 5;
	if (!*file)
		path = NULL;
	while (path) {
		const char *end = strchrnul(path, ':');
		int n = snprintf(candidate, sizeof(candidate), "%.*s%s%s", (int)(end - path), path,
				 end > path ? "/" : "", file);

		if (n > 0 && (size_t)n < sizeof(candidate)) {
			exec_or_shell(candidate, argv, context->shell_argv, env);
			if (errno != ENOENT && errno != ENOTDIR && errno != EACCES &&
			    errno != EPERM)
				return;
			if (errno == EACCES || errno == EPERM)
				error = errno;
		}
		path = *end ? end + 1 : NULL;
	}
	errno = error;
}

__attribute__((noreturn)) static void command(const struct child_context *context)
{
	const struct spawn_options *options = context->options;
	const struct plan *plan = options->plan;
	struct spawn_message ready = {
		.kind = SPAWN_READY, .value = -1, .network = context->network};
	long tasks = 0;
	int cleanup_fd ruleset = -1;
	bool listens;
	char byte;

	restore_signals(context);
	/* While we still may look everywhere: rows name places, they do not open them. */
	ruleset = landlock_build(plan);
	if (ruleset < 0)
		fail(context->control, STAGE_LANDLOCK, 0);
	if (options->cwd && chdir(options->cwd) < 0)
		fail(context->control, STAGE_CWD, 0);
	/* An exec leaves nobody but root any, and until then the broker, without, looks into us. */
	if (caps_drop_bounding() < 0 || (geteuid() == 0 ? caps_drop(0) : caps_drop_all()) < 0)
		fail(context->control, STAGE_CAPS, 0);
	if (scrub(context, ruleset) < 0)
		fail(context->control, STAGE_FDS, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || landlock_enter(ruleset) < 0)
		fail(context->control, STAGE_LANDLOCK, 0);
	(void)close(fd_steal(&ruleset));
	/* While we still may fork. */
	if (options->limits.values[LIMIT_PROCESSES])
		tasks = rlimit_count_tasks();
	ready.tasks = tasks;
	listens = plan->brokered && !plan->nested;
	ready.value = seccomp_install(plan->filter, plan->n_filter, listens);
	if (ready.value < 0)
		fail(context->control, STAGE_SECCOMP, 0);
	if (!listens)
		ready.value = -1;
	/* Last: setting up takes descriptors and memory. */
	if (rlimit_apply(&options->limits, tasks) < 0)
		fail(context->control, STAGE_LIMITS, 0);
	child_report(context->control, &ready, ready.value);
	if (io_read_full(context->go, &byte, 1) < 0)
		_exit(71);
	if (ready.value >= 0)
		(void)close(ready.value);
	exec_search(options->argv[0], context);
	fail(context->control, STAGE_EXEC, 0);
}

/* ---- init ---- */

/* Our stdio would keep the caller's pipes open. */
static int drop_stdio(void)
{
	int cleanup_fd null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int ends[2];

	/* A sandbox around us may deny it; nothing is ever written there. */
	if (null < 0 && pipe2(ends, O_CLOEXEC) == 0) {
		null = ends[0];
		(void)close(ends[1]);
	}
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		if (dup2(null, fd) < 0)
			return -1;
	return null < 0 ? -1 : 0;
}

static void set_up(struct child_context *context)
{
	const struct spawn_options *options = context->options;
	const struct plan *plan = options->plan;
	size_t at = 0;

	if ((plan->ns & NS_NET) && ns_loopback_up(&context->network) < 0)
		fail(context->control, STAGE_LOOPBACK, 0);
	if ((plan->ns & NS_MOUNT) && mount_apply(plan, &at) < 0)
		fail(context->control, STAGE_MOUNT, (int)at);
	for (const char *const *dir = options->make_dirs; dir && *dir; dir++)
		if (mkdir(*dir, 0700) < 0 && errno != EEXIST)
			fail(context->control, STAGE_DIRS, 0);
	if ((plan->ns & NS_MOUNT) && mount_hold(plan, &at) < 0)
		fail(context->control, STAGE_MOUNT, (int)at);
}

/* Nothing stays open but what the loops of init.c need. */
static void let_go(const struct child_context *context)
{
	int keep[] = {context->control, context->proc, context->options->scratch_lock};

	scrub_sort(keep, sizeof(keep) / sizeof(keep[0]));
	if (drop_stdio() < 0 || scrub_fds(keep, sizeof(keep) / sizeof(keep[0])) < 0)
		fail(context->control, STAGE_FORK, 0);
}

/* The raw call: fork(3) runs handlers of a program that we are only a copy of. */
static pid_t fork_plainly(const struct child_context *context)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	int error = errno;

	if (pid < 0) {
		init_leave_outer(context);
		errno = error;
		fail(context->control, STAGE_FORK, 0);
	}
	return pid;
}

/*
 * Puts what we start under our policy, beside those around us. The filter is what tells it from
 * all else, whoever ends (broker/nested.c).
 */
static void join_outer(const struct child_context *context)
{
	static const struct bpf_insn allow_all[] = {{0x06, 0, 0, 0x7fff0000}};
	const struct timespec pause = {.tv_nsec = 10000000};
	const struct str bytes = context->options->nested;
	long r = -1;

	for (int i = 0; i < OUTER_TRIES && r < 0; i++) {
		r = landlock_nested(NESTED_BEGIN, bytes.p, bytes.n);
		if (r < 0 && errno != EAGAIN)
			break;
		if (r < 0)
			(void)nanosleep(&pause, NULL);
	}
	if (r < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    seccomp_install(allow_all, 1, false) < 0)
		fail(context->control, STAGE_OUTER, 0);
}

/* Goes on in a child and leaves the parent as guard (init.c), whose pid is returned. */
static pid_t leave_guard(const struct child_context *context)
{
	const struct spawn_message message = {.kind = SPAWN_INIT};
	pid_t guard = getpid(), init = -1;

	/* Inherited by nobody, so each of the two says it. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		fail(context->control, STAGE_FORK, 0);
	if (context->options->nested.n)
		join_outer(context);
	init = fork_plainly(context);
	if (init > 0) {
		/* Whoever kills our process group leaves us to clean up. */
		(void)setsid();
		let_go(context);
		init_guard(context, init);
	}
	if (prctl(PR_SET_PDEATHSIG, SIGCHLD, 0, 0, 0) < 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		fail(context->control, STAGE_FORK, 0);
	if (context->options->nested.n && landlock_nested(NESTED_KEEP, NULL, 0) < 0)
		fail(context->control, STAGE_OUTER, 0);
	child_report(context->control, &message, -1);
	return guard;
}

void child_init(const struct child_context *context)
{
	struct child_context own = *context;
	struct sigaction action = {.sa_handler = SIG_DFL}, old = action;
	bool pid_ns = context->options->plan->ns & NS_PID;
	pid_t pid = -1, guard = 0;
	char byte;

	/* Ignored, it would reap the command behind our back. */
	(void)sigaction(SIGCHLD, &action, &old);
	own.sigchld_ignored = old.sa_handler == SIG_IGN;
	if (io_read_full(context->mapped, &byte, 1) < 0)
		_exit(71);
	/* A mount may hide it, or bring that of another pid namespace. */
	own.proc = pid_ns ? -1 : open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	set_up(&own);
	/* After the id maps: a change of credentials clears it. */
	if (pid_ns && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		fail(context->control, STAGE_FORK, 0);
	if (!pid_ns)
		guard = leave_guard(&own);
	pid = fork_plainly(&own);
	if (pid == 0)
		command(&own);
	let_go(&own);
	init_run(&own, pid, guard);
}
