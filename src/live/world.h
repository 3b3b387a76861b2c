/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world: a root of one's own, in which any path can be made without touching the host.
 *
 * It is a tmpfs. Folders of the host are mounted in it, read-only, but for those on the way to what
 * a row names: these are made anew, with the host's folders and symbolic links in them. /proc is
 * the host's, /dev has the usual devices, an empty /dev/shm, and terminals of its own. Root has it
 * by a mount namespace, anybody else by a user namespace.
 *
 * Whoever enters a world stays there: it is for a child process, and ends with it.
 */
#ifndef LIVE_WORLD_H
#define LIVE_WORLD_H

#include <limits.h>
#include <stdbool.h>

#include "live/deed.h"
#include "live/kit.h"

/* Where a world has its kit. */
#define WORLD_KIT "/.lapbelt-live"

struct world {
	int root, dev;      /* being built */
	int proc;           /* a copy of the host's, not mounted yet */
	const char *failed; /* what could not be done, for people; errno says why */
};

/*
 * Enters namespaces of one's own, with a network and System V objects apart where FLAGS (of enum
 * act_flags) says so, and begins a world in them. 0, or -1 with errno.
 */
int world_begin(struct world *ret, unsigned flags, const struct kit *kit);

/* What is to be made at DEED's path, canonical and free of symbolic links, but for its last name.
 */
int world_place(struct world *world, const struct deed *deed);

/* Goes there: what the process then sees is the world. */
int world_enter(struct world *world);

/* Fills OBJECT, which is new, with what an executable does that exits with EXECUTED. */
int world_write_executable(int object);

#endif
