/* SPDX-License-Identifier: Apache-2.0 */
/* facts: the parts session_facts() is made of. Everything they return lives in the arena. */
#ifndef SESSION_FACTS_H
#define SESSION_FACTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "policyfile/policyfile.h"
#include "session/gitconfig.h"

/* A growing array of paths. */
struct paths {
	struct arena *arena;
	struct str *items;
	size_t n, cap;
};

/* 0 or -ERR_MEMORY. */
int paths_add(struct paths *paths, struct str path, struct err *e);

/* As paths_add(), unless PATH is there already. */
int paths_add_once(struct paths *paths, struct str path, struct err *e);

bool paths_hold(const struct paths *paths, struct str path);

/* realpath(3) into ARENA. p NULL: there is no such path (or no memory). */
struct str facts_real_path(struct arena *arena, const char *path);

/* VALUE if it is absolute, else BASE/VALUE. NULL: no memory. */
const char *facts_path_in(struct arena *arena, struct str base, const char *value);

/*
 * Where paths lead, and what led there: whoever could change that, would lead them elsewhere.
 * Start with `arena` set in it and in its lists, which grow from call to call.
 */
struct way {
	struct arena *arena;
	struct str end; /* canonical as far as it is there; p NULL: nowhere */
	bool is_there;
	struct paths links; /* symlinks, by their canonical names */
	struct paths left;  /* directories that `..` goes back from */
};

/*
 * Follows PATH, relative to BASE or absolute, with every link in it, as if directories that are not
 * there yet were. BASE is canonical: it is not looked at again. Fills WAY->end and is_there, adds
 * to its lists. 0 or -ERR_MEMORY.
 */
int facts_resolve(struct way *way, struct str base, const char *path, struct err *e);

/*
 * Is PATH below a write root, or a git directory of FACTS? The private TMPDIR holds nothing that is
 * there at the start.
 */
bool facts_is_writable(const struct default_facts *facts, struct str path);

/* ---- git.c ---- */

/* What git.c finds out and obeyed.c goes on with. */
struct git_seen {
	struct git_configs configs;
	struct way way; /* to git directories and work trees */
};

/*
 * Fills FACTS->git from FACTS->cwd and FACTS->home: the repository that holds the working
 * directory, its linked worktrees and its submodules. No directory is searched but those on the way
 * up and a git directory's own `worktrees` and `modules`. A `.git` file or link that leads to where
 * nothing may be written counts only if the git directory leads back: anybody can write one.
 */
int facts_git(struct default_facts *facts, struct git_seen *seen, struct err *e);

/* The work tree that the git directory GIT_DIR says is its own. p NULL: none. 0 or -ERR_MEMORY. */
int git_work_tree(struct git_seen *seen, struct str git_dir, struct str *ret, struct err *e);

/* ---- gitpath.c ---- */

/*
 * Adds what the path VALUE of git's configuration can be to RET: without `:(optional)`, `~` and
 * `%(prefix)/`. HOME is the user's. 0, -ERR_MEMORY, or -ERR_CONFIG: nobody knows where it leads.
 */
int git_path_expand(struct paths *ret, struct str home, const char *value, struct err *e);

/* ---- obeyed.c ---- */

/* Fills FACTS->obeyed and ways; FACTS->git is there. */
int facts_obeyed(struct default_facts *facts, struct git_seen *seen, struct err *e);

/* ---- secrets.c ---- */

/*
 * Fills FACTS->secrets: where the usual names lead through symlinks, and where the environment says
 * secrets are. A file of somebody else that everybody may read is none, and neither is a directory
 * that holds the home or the working directory.
 */
int facts_secrets(struct default_facts *facts, struct arena *arena, struct err *e);

#endif
