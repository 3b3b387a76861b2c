/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup: limits on all that a run starts together, where a control group may be made for it: below
 * the one that we are in, or beside it. Of version 2 those on processes and memory, of version 1
 * the one on processes. cgroups(7)
 *
 * A process of ours, the keeper, removes the group when the run is over, also when the supervisor
 * has been killed. A group whose run and keeper are both gone is removed by the next run.
 */
#ifndef LINUX_CGROUP_H
#define LINUX_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "linux/rlimit.h"

enum {
	CGROUP_PLACES = 4
};

struct cgroup {
	unsigned held; /* 1 << enum limit: those that it enforces */
	bool exposed;  /* the command may write to it */
	char name[32];
	int places[CGROUP_PLACES]; /* directories that groups can be made in; -1: none */
	int groups[CGROUP_PLACES]; /* those that were made in them, locked; -1: none */
	int keeper_end;            /* held by us alone: closed, the keeper cleans up */
	pid_t keeper;
};

#define CGROUP_NONE                                                                                \
	((struct cgroup){.places = {-1, -1, -1, -1}, .groups = {-1, -1, -1, -1}, .keeper_end = -1})

/*
 * Makes groups for what can be had of LIMITS; `held` says what that is. IS_EXPOSED: may the command
 * write to PATH? Such a group is made only if EXPOSED_TOO.
 */
void cgroup_open(const struct limits *limits, bool (*is_exposed)(void *context, const char *path),
		 void *context, bool exposed_too, struct cgroup *ret);

/* Moves the process PID in. 0, or -1 with errno. */
int cgroup_join(const struct cgroup *cgroup, pid_t pid);

/* Removes the groups, in which nobody is left, and waits for the keeper. */
void cgroup_close(struct cgroup *cgroup);

#endif
