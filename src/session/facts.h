/* SPDX-License-Identifier: Apache-2.0 */
/* facts: the parts session_facts() is made of. Everything they return lives in the arena. */
#ifndef SESSION_FACTS_H
#define SESSION_FACTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "policyfile/policyfile.h"

/* A growing array of paths. */
struct paths {
	struct arena *arena;
	struct str *items;
	size_t n, cap;
};

/* 0 or -ERR_MEMORY. */
int paths_add(struct paths *paths, struct str path, struct err *e);

/* realpath(3) into ARENA. p NULL: there is no such path (or no memory). */
struct str facts_real_path(struct arena *arena, const char *path);

/* VALUE if it is absolute, else BASE/VALUE. NULL: no memory. */
const char *facts_path_in(struct arena *arena, struct str base, const char *value);

/* ---- git.c ---- */

/*
 * Fills FACTS->git and hooks from FACTS->cwd and FACTS->home: the repository that holds the working
 * directory, its linked worktrees and its submodules. No directory is searched but those on the way
 * up and a git directory's own `worktrees` and `modules`. A `.git` file or link that leads
 * elsewhere counts only if the git directory leads back: anybody can write one.
 */
int facts_git(struct default_facts *facts, struct arena *arena, struct err *e);

/* ---- secrets.c ---- */

/*
 * Fills FACTS->secrets: where the usual names lead through symlinks, and where the environment says
 * secrets are. A file of somebody else that everybody may read is none, and neither is a directory
 * that holds the home or the working directory.
 */
int facts_secrets(struct default_facts *facts, struct arena *arena, struct err *e);

#endif
