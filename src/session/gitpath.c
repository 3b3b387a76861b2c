/* SPDX-License-Identifier: Apache-2.0 */
/* Paths in git's configuration, as git reads them: git-config(1), "pathname". */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/facts.h"
#include "base/banned.h"

/* The rest of VALUE if it starts with WORD, else NULL. */
static const char *behind(const char *value, const char *word)
{
	size_t n = strlen(word);

	return strncmp(value, word, n) == 0 ? value + n : NULL;
}

static int add(struct paths *ret, const char *path, struct err *e)
{
	return path ? paths_add_once(ret, str_of(path), e) : err_memory(e);
}

/* ---- ~ ---- */

/* The home of the user NAME; HOME is our own. p NULL: there is none. */
static struct str home_of(struct arena *arena, struct str home, struct str name)
{
	const char *copy = arena_strdup(arena, name);
	const struct passwd *user;

	if (name.n == 0)
		return home;
	user = copy ? getpwnam(copy) : NULL;
	return user ? str_of(arena_strdup(arena, str_of(user->pw_dir))) : (struct str){NULL, 0};
}

static int add_in_home(struct paths *ret, struct str home, const char *value, struct err *e)
{
	size_t n = strcspn(value, "/");

	home = home_of(ret->arena, home, (struct str){value + 1, n - 1});
	return home.p ? add(ret,
			    arena_printf(ret->arena, "%.*s/%s", (int)home.n, home.p,
					 value + n + (value[n] == '/')),
			    e)
		      : 0;
}

/* ---- %(prefix)/ ---- */

/* PREFIX/PATH for the git in FOLDER: it takes these off where they are at the end. */
static int add_in_prefix(struct paths *ret, struct str folder, const char *path, struct err *e)
{
	static const char *const ends[] = {"/libexec/git-core", "/lib/git-core", "/bin", "/git"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!str_ends(folder, str_of(ends[i])))
			continue;
		folder.n -= strlen(ends[i]);
		break;
	}
	return add(ret, arena_printf(ret->arena, "%.*s/%s", (int)folder.n, folder.p, path), e);
}

/* For the git in FOLDER, if there is one, by the name of it and by where that leads. */
static int add_for_git(struct paths *ret, struct str folder, const char *path, struct err *e)
{
	const char *git = arena_printf(ret->arena, "%.*s/git", (int)folder.n, folder.p);
	struct str real;
	int r;

	if (!git)
		return err_memory(e);
	if (access(git, X_OK) < 0)
		return 0;
	r = add_in_prefix(ret, folder, path, e);
	real = facts_real_path(ret->arena, git);
	while (real.n && real.p[real.n - 1] != '/')
		real.n--;
	real.n -= real.n > 0;
	return r < 0 || !real.p ? r : add_in_prefix(ret, real, path, e);
}

static bool goes_up(const char *path)
{
	for (; path; path = strchr(path, '/')) {
		path += strspn(path, "/");
		if (strncmp(path, "..", 2) == 0 && (path[2] == '/' || !path[2]))
			return true;
	}
	return false;
}

/*
 * Each git knows only its own prefix: that of its build, or where it is. Those in PATH count, and
 * those where systems have theirs; whose folder a path leaves could be any.
 */
static int add_for_all(struct paths *ret, const char *path, struct err *e)
{
	const char *folders = getenv("PATH");
	int r = 0;

	if (*path == '/')
		return add(ret, path, e);
	if (goes_up(path)) {
		(void)err_set(e, ERR_CONFIG,
			      "git's configuration leaves a folder of git's: %%(prefix)/%s", path);
		return err_hint(e, "where that leads cannot be protected: name it from / on");
	}
	r = add_in_prefix(ret, STR("/usr/bin"), path, e);
	if (r == 0)
		r = add_in_prefix(ret, STR("/usr/local/bin"), path, e);
	while (folders && r == 0) {
		size_t n = strcspn(folders, ":");

		if (*folders == '/')
			r = add_for_git(ret, (struct str){folders, n}, path, e);
		folders = folders[n] ? folders + n + 1 : NULL;
	}
	return r;
}

/* ---- All together ---- */

int git_path_expand(struct paths *ret, struct str home, const char *value, struct err *e)
{
	const char *optional = behind(value, ":(optional)"), *prefixed;

	value = optional ? optional : value;
	prefixed = behind(value, "%(prefix)/");
	if (prefixed)
		return add_for_all(ret, prefixed, e);
	if (value[0] == '~')
		return add_in_home(ret, home, value, e);
	return *value ? add(ret, value, e) : 0;
}
