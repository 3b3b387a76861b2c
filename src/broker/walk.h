/* SPDX-License-Identifier: Apache-2.0 */
/* Path resolution by hand, for what the kernel can resolve only for the caller itself. */
#ifndef BROKER_WALK_H
#define BROKER_WALK_H

#include <linux/openat2.h>

#include "broker/call.h"

/* Where a lookup starts, and how it goes on. */
struct way {
	int base;         /* of ours, O_PATH; -1: only absolute paths are looked up */
	uint64_t resolve; /* as in struct lookup */
};

/* Flags with which `base` cannot be left, and counts also where a path is absolute. */
#define RESOLVE_SCOPED (RESOLVE_BENEATH | RESOLVE_IN_ROOT)

/*
 * Pins (O_PATH) what PATH leads to: `self` and `thread-self` in a procfs are
 * the caller's, magic links are followed where the caller may. FLAGS: O_NOFOLLOW, O_DIRECTORY.
 * Returns a descriptor, or -1 with errno.
 */
int walk(const struct call *call, const struct way *way, const char *path, uint64_t flags);

/* Is PATH the caller's own /proc/PID/fd, which its change of ids has made root's? */
bool is_own_fds(const struct call *call, struct str path);

/* Is FD, whose canonical path is PATH, on a procfs? */
bool is_on_procfs(const struct broker *broker, int fd, struct str path);

/*
 * The kernel lets the caller into the /proc directories of processes it may trace: its own sandbox.
 * We may trace more, so the same line is drawn here, about where FD (canonical path PATH) is,
 * however one got there. 0; -1 with EACCES.
 */
int check_procfs(const struct call *call, int fd, struct str path);

#endif
