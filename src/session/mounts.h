/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts: other names of what there is. A file system, or a part of it, that is mounted twice can
 * be reached by two names, and rules speak of names.
 */
#ifndef SESSION_MOUNTS_H
#define SESSION_MOUNTS_H

#include "session/facts.h"

struct mounted {
	struct str device, root, point; /* root: the directory of the device that is at point */
	size_t before; /* 1 + the index of the mount of the device before it; 0: it is the first */
	bool again;    /* an earlier mount shows some of it, too */
};

struct mounts {
	struct mounted *list; /* in the order in which they were mounted */
	size_t n, cap;
	bool any_again;
	struct str *above; /* what else is above the root directory (session/above.h) */
	size_t n_above, cap_above;
};

/*
 * What is mounted, as the calling process sees it; nothing if that cannot be told. In ARENA. 0 or
 * -ERR_MEMORY.
 */
int mounts_read(struct mounts *ret, struct arena *arena, struct err *e);

/* The same from TEXT, as /proc/self/mountinfo has it. */
int mounts_parse(struct mounts *ret, struct str text, struct arena *arena, struct err *e);

/*
 * Adds to RET the other names of PATH (canonical), and those of what is below it and mounted
 * elsewhere by itself. 0 or -ERR_MEMORY.
 */
int mounts_add_names(const struct mounts *mounts, struct str path, struct paths *ret,
		     struct err *e);

/* Is PATH in another mount than the root directory, as far as can be told? */
bool mounts_is_apart(const struct mounts *mounts, struct str path);

/* Is it in mounts->above? */
bool mounts_is_above(const struct mounts *mounts, struct str path);

/* A plan_first_name. What is above the root directory is everything. CONTEXT: the struct mounts. */
bool mounts_first_name(void *context, const char *path, char *buffer);

#endif
