/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about processes: exec by path, signals by target. */
#include "broker/call.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

/* ---- exec ---- */

void handle_exec(struct call *call)
{
	struct place cleanup_place place = PLACE_NONE;
	struct subject subject = {.place = &place, .vnode_type = VNODE_REGULAR};
	bool at = call->nr == SYS_execveat;
	int flags = at ? (int)call->args[4] : 0;
	char path[PATH_MAX];

	if (call_read_string(call, call->args[at ? 1 : 0], path, sizeof(path)) < 0 ||
	    resolve_object(call, at ? (int)call->args[0] : AT_FDCWD, path,
			   !(flags & AT_SYMLINK_NOFOLLOW), flags & AT_EMPTY_PATH, &place) < 0) {
		call_error(call, errno);
		return;
	}
	/*
	 * Nobody can exec on behalf of another. The kernel looks at the path again, and whatever
	 * the caller put there meanwhile, Landlock lets only what the policy allows be executed;
	 * the one exception (the loader) is a listed gap.
	 */
	if (judge(call, OP_PROCESS_EXEC_ANY, &subject))
		call_continue(call);
	else
		call_error(call, EPERM);
}

/* ---- Signals ---- */

/* Darwin's number of a Linux signal, where they differ; policies speak Darwin. */
static int darwin_signal(int number)
{
	static const unsigned char map[][2] = {
		{SIGBUS, 10},  {SIGUSR1, 30}, {SIGUSR2, 31}, {SIGCHLD, 20}, {SIGCONT, 19},
		{SIGSTOP, 17}, {SIGTSTP, 18}, {SIGURG, 16},  {SIGIO, 23},   {SIGSYS, 12},
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (map[i][0] == number)
			return map[i][1];
	return number;
}

static bool may_signal(const struct call *call, enum signal_target target, int number)
{
	struct request request = {.op = OP_SIGNAL,
				  .has = HAS_TARGET | HAS_SIGNAL,
				  .target = target,
				  .signal = darwin_signal(number)};
	struct decision decision;

	policy_decide(call->broker->policy, &request, &decision);
	return decision.verdict == VERDICT_ALLOW;
}

/* Is PID, as the caller means it, a process of this sandbox? */
static bool is_inside(const struct call *call, pid_t pid)
{
	return call->broker->plan->ns & NS_PID ? pid != 1 : caller_is_inside(call->broker, pid);
}

static void signal_one(struct call *call, pid_t pid, int number)
{
	struct caller_pids pids;
	bool may = false;

	if (caller_pids(call, &pids) < 0) {
		call_error(call, EPERM);
		return;
	}
	if (pid == pids.shown_tgid || pid == pids.shown_tid)
		may = may_signal(call, SIGNAL_TARGET_SELF, number);
	else if (is_inside(call, pid))
		may = may_signal(call, SIGNAL_TARGET_SAME_SANDBOX, number) ||
		      may_signal(call, SIGNAL_TARGET_CHILDREN, number);
	else
		may = may_signal(call, SIGNAL_TARGET_OTHERS, number) &&
		      !(call->broker->input->private_scope & SCOPE_PID);
	if (may)
		call_continue(call); /* everything it depends on is in registers */
	else
		call_error(call, EPERM);
}

/*
 * To GROUP (as the caller counts; 0: the caller's own, -1: everybody) as far as it is inside: the
 * caller's group is ours too, and the pipeline's around us.
 */
static int send_to_group(const struct call *call, pid_t group, int number)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t own = getpgid(call->tid);
	struct caller_pids self = {0};
	int sent = 0;

	if (caller_pids(call, &self) < 0)
		return -1;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 1 || !caller_is_inside(call->broker, pid) ||
		    (group == -1 && pid == self.tgid) || (group == 0 && getpgid(pid) != own) ||
		    (group > 0 && caller_group_of(call->broker, pid) != group))
			continue;
		sent += kill(pid, number) == 0;
	}
	if (dir)
		(void)closedir(dir);
	if (!sent) {
		errno = ESRCH;
		return -1;
	}
	return 0;
}

static void signal_group(struct call *call, pid_t group, int number)
{
	if (group == -1 ? may_signal(call, SIGNAL_TARGET_SAME_SANDBOX, number)
			: may_signal(call, SIGNAL_TARGET_PGRP, number))
		call_result(call, send_to_group(call, group, number));
	else
		call_error(call, EPERM);
}

static void signal_pidfd(struct call *call)
{
	char path[48], text[512];
	int cleanup_fd fd = caller_fd(call, (int)call->args[0]);
	int cleanup_fd info = -1;
	const char *p;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fd < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	n = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	if (n < 0) {
		call_error(call, EBADF);
		return;
	}
	text[n] = '\0';
	p = strstr(text, "\nPid:"); /* as we count */
	/* On the duplicate: the caller's number may mean another process by now. */
	if (p && caller_is_inside(call->broker, (pid_t)strtol(p + 5, NULL, 10)) && !call->args[2] &&
	    may_signal(call, SIGNAL_TARGET_SAME_SANDBOX, (int)call->args[1]))
		call_result(call, syscall(SYS_pidfd_send_signal, fd, (int)call->args[1], NULL, 0));
	else
		call_error(call, EPERM);
}

void handle_signal(struct call *call)
{
	bool in_group = call->nr == SYS_tgkill || call->nr == SYS_rt_tgsigqueueinfo;
	pid_t pid = (pid_t)call->args[0];
	int number = (int)call->args[in_group ? 2 : 1];

	if (call->nr == SYS_pidfd_send_signal)
		signal_pidfd(call);
	else if (pid > 0)
		signal_one(call, pid, number);
	else if (call->nr == SYS_kill && pid != INT_MIN)
		signal_group(call, pid < -1 ? -pid : pid, number);
	else if (call->nr == SYS_kill)
		call_error(call, ESRCH); /* it has no positive, kill(2) */
	else
		call_error(call, EINVAL);
}

/* ---- Limits and priorities of others ---- */

void handle_process(struct call *call)
{
	/* Of setpriority(2) and ioprio_set(2) the filter asks only about single processes. */
	bool by_kind = call->nr == SYS_setpriority || call->nr == SYS_ioprio_set;

	if (is_inside(call, (pid_t)call->args[by_kind ? 1 : 0]))
		call_continue(call); /* by number, in registers */
	else
		call_error(call, EPERM);
}
