/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/rlimit.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "linux/linux.h"
#include "linux/quiet.h"
#include "base/banned.h"

/*
 * RLIMIT_AS would count what is only reserved, which some runtimes do by the terabyte, and what
 * is mapped of files; RLIMIT_DATA counts what a process can write and nobody else (since 4.7).
 */
static const struct {
	bool set;
	int resource;
} resources[LIMIT_COUNT] = {
	[LIMIT_CPU] = {true, RLIMIT_CPU},         [LIMIT_MEMORY] = {true, RLIMIT_DATA},
	[LIMIT_PROCESSES] = {true, RLIMIT_NPROC}, [LIMIT_OPEN_FILES] = {true, RLIMIT_NOFILE},
	[LIMIT_FILE_SIZE] = {true, RLIMIT_FSIZE},
};

uint64_t rlimit_hard(enum limit limit)
{
	struct rlimit now;

	if (!resources[limit].set || getrlimit(resources[limit].resource, &now) < 0 ||
	    now.rlim_max == RLIM_INFINITY)
		return UINT64_MAX;
	return now.rlim_max;
}

/* ---- Counting ---- */

/* Can one more be had while MOST are allowed? */
static bool can_fork(struct rlimit *limit, rlim_t most)
{
	pid_t pid;

	limit->rlim_cur = most;
	if (setrlimit(RLIMIT_NPROC, limit) < 0)
		return false;
	pid = quiet_fork(0);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)quiet_wait(pid);
	return pid > 0;
}

long rlimit_count_tasks(void)
{
	enum {
		TASKS_MAX = 1 << 22 /* PID_MAX_LIMIT */
	};
	struct rlimit limit;
	rlim_t enough = 1, too_few = 0;

	if (getrlimit(RLIMIT_NPROC, &limit) < 0 || can_fork(&limit, 0))
		return TASKS_UNBOUND;
	while (enough < TASKS_MAX && enough <= limit.rlim_max && !can_fork(&limit, enough)) {
		too_few = enough;
		enough *= 2;
	}
	while (enough - too_few > 1) {
		rlim_t middle = too_few + (enough - too_few) / 2;

		if (middle <= limit.rlim_max && can_fork(&limit, middle))
			enough = middle;
		else
			too_few = middle;
	}
	/* One more than there were. */
	return (long)enough - 1;
}

/* ---- Setting ---- */

static int apply(enum limit which, uint64_t value)
{
	int resource = resources[which].resource;
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return -1;
	if (limit.rlim_max > value) {
		limit.rlim_max = value;
		/* SIGXCPU comes at the soft limit, SIGKILL at the hard one. */
		if (which == LIMIT_CPU)
			limit.rlim_max++;
	}
	limit.rlim_cur = limit.rlim_max < value ? limit.rlim_max : value;
	return setrlimit(resource, &limit);
}

int rlimit_apply(const struct limits *limits, long tasks)
{
	int r = 0;

	for (int i = 0; i < LIMIT_COUNT && r == 0; i++) {
		uint64_t value = limits->values[i];

		if (!value || !resources[i].set || (i == LIMIT_PROCESSES && tasks < 0))
			continue;
		if (i == LIMIT_PROCESSES)
			value += (uint64_t)tasks - 1;
		r = apply((enum limit)i, value);
	}
	return r;
}

/* ---- Trying ---- */

long rlimit_try_tasks(bool userns)
{
	int pipe[2];
	long tasks = TASKS_UNBOUND;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipe) < 0)
		return tasks;
	pid = quiet_fork(userns ? CLONE_NEWUSER : 0);
	if (pid == 0) {
		if (caps_drop_all() == 0)
			tasks = rlimit_count_tasks();
		(void)io_write_full(pipe[1], &tasks, sizeof(tasks));
		_exit(0);
	}
	fd_close(&pipe[1]);
	if (pid < 0 || io_read_full(pipe[0], &tasks, sizeof(tasks)) < 0)
		tasks = TASKS_UNBOUND;
	if (pid > 0)
		(void)quiet_wait(pid);
	fd_close(&pipe[0]);
	return tasks;
}
