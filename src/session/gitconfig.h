/* SPDX-License-Identifier: Apache-2.0 */
/* gitconfig: what matters to us in git's configuration files, git-config(1). */
#ifndef SESSION_GITCONFIG_H
#define SESSION_GITCONFIG_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"

/* One file. Of a value that is given twice the last one counts; NULL: none. */
struct git_config {
	const char *worktree, *hooks_path; /* of core */
	const char **includes;             /* whatever their conditions: they can come to hold */
	size_t n_includes, cap_includes;
};

/* Those that were read: each is read once. Start with `arena` set in it and in its map. */
struct git_configs {
	struct arena *arena;
	struct map known; /* by path */
};

/*
 * The configuration in the file PATH, which stays as it is for as long as CONFIGS; an empty one if
 * it cannot be read. 0, -ERR_MEMORY, or -ERR_CONFIG if it is larger than 16 MiB.
 */
int git_config_read(struct git_configs *configs, struct str path, const struct git_config **ret,
		    struct err *e);

#endif
