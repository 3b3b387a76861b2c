/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rlimit: what a run may use up. The kernel's resource limits hold for each process and are
 * inherited; what they cannot express is for cgroup.h and the supervisor.
 */
#ifndef LINUX_RLIMIT_H
#define LINUX_RLIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum limit {
	LIMIT_CPU,        /* seconds of processor time of each process */
	LIMIT_MEMORY,     /* bytes */
	LIMIT_PROCESSES,  /* and threads */
	LIMIT_OPEN_FILES, /* of each process */
	LIMIT_FILE_SIZE,  /* bytes of each file that is written */
	LIMIT_TIME,       /* seconds of the run, by the clock */
	LIMIT_COUNT,
};

struct limits {
	uint64_t values[LIMIT_COUNT]; /* 0: none */
};

enum {
	TASKS_UNBOUND = -1, /* the kernel lets us have as many as we like: we are root */
};

/* The hard limit of the calling process. UINT64_MAX: there is none. */
uint64_t rlimit_hard(enum limit limit);

/*
 * How many processes and threads count against RLIMIT_NPROC of the calling process, itself among
 * them; or TASKS_UNBOUND. Found by trying to fork: nobody else knows of those in other pid
 * namespaces. Leaves the soft limit changed. Async-signal-safe.
 */
long rlimit_count_tasks(void);

/*
 * Limits the calling process, so that nobody without CAP_SYS_RESOURCE can take it back.
 * LIMIT_PROCESSES counts those that come to TASKS, which rlimit_count_tasks() has said and of which
 * only the caller is counted in. 0, or -1 with errno. Async-signal-safe.
 */
int rlimit_apply(const struct limits *limits, long tasks);

/* As rlimit_count_tasks() in a throw-away child without capabilities, in a USERNS of its own. */
long rlimit_try_tasks(bool userns);

#endif
