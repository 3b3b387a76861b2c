/* SPDX-License-Identifier: Apache-2.0 */
/* What the default policy has to know: home, working directory, write roots, terminal. */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/facts.h"
#include "session/session.h"
#include "base/banned.h"

int paths_add(struct paths *paths, struct str path, struct err *e)
{
	struct str *items =
		arena_grow(paths->arena, paths->items, paths->n, &paths->cap, sizeof(*items));

	if (!items)
		return err_memory(e);
	paths->items = items;
	paths->items[paths->n++] = path;
	return 0;
}

bool paths_hold(const struct paths *paths, struct str path)
{
	for (size_t i = 0; i < paths->n; i++)
		if (str_eq(paths->items[i], path))
			return true;
	return false;
}

int paths_add_once(struct paths *paths, struct str path, struct err *e)
{
	return paths_hold(paths, path) ? 0 : paths_add(paths, path, e);
}

struct str facts_real_path(struct arena *arena, const char *path)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return (struct str){NULL, 0};
	return str_of(arena_strdup(arena, str_of(real)));
}

const char *facts_path_in(struct arena *arena, struct str base, const char *value)
{
	const struct str parts[] = {base, STR("/"), str_of(value)};
	size_t skip = value[0] == '/' ? 2 : 0;

	return arena_join(arena, parts + skip, sizeof(parts) / sizeof(*parts) - skip);
}

/* ---- Where a path leads ---- */

enum {
	LINKS_MAX = 40, /* as the kernel */
};

struct walk {
	char real[PATH_MAX]; /* so far; without a slash at its end */
	size_t n;
	const char *rest;
	unsigned links;
	bool is_there, is_lost; /* lost: it leads nowhere */
};

static struct str walked(const struct walk *walk)
{
	return walk->n ? (struct str){walk->real, walk->n} : STR("/");
}

static int keep_walked(struct arena *arena, struct paths *ret, const struct walk *walk,
		       struct err *e)
{
	const char *copy;

	if (paths_hold(ret, walked(walk)))
		return 0;
	copy = arena_strdup(arena, walked(walk));
	return copy ? paths_add(ret, str_of(copy), e) : err_memory(e);
}

static void go_up(struct walk *walk)
{
	while (walk->n > 0 && walk->real[--walk->n] != '/')
		;
	walk->real[walk->n] = '\0';
}

/* NAME is where the walk is now: follows it if it is a link. */
static int follow_link(struct way *way, struct walk *walk, struct err *e)
{
	char target[PATH_MAX];
	ssize_t n = readlink(walk->real, target, sizeof(target) - 1);
	int r;

	if (n <= 0) {
		walk->is_there = n < 0 && errno == EINVAL;
		return 0;
	}
	target[n] = '\0';
	walk->is_lost = ++walk->links > LINKS_MAX;
	r = keep_walked(way->arena, &way->links, walk, e);
	if (r < 0)
		return r;
	if (target[0] == '/')
		walk->n = 0;
	else
		go_up(walk);
	walk->rest = arena_printf(way->arena, "%s/%s", target, walk->rest);
	return walk->rest ? 0 : err_memory(e);
}

static int take_step(struct way *way, struct walk *walk, struct str name, struct err *e)
{
	int r;

	if (name.n == 0 || str_is(name, "."))
		return 0;
	if (str_is(name, "..")) {
		r = walk->n ? keep_walked(way->arena, &way->left, walk, e) : 0;
		go_up(walk);
		return r;
	}
	if (walk->n + 1 + name.n >= sizeof(walk->real)) {
		walk->is_lost = true;
		return 0;
	}
	walk->real[walk->n++] = '/';
	memcpy(walk->real + walk->n, name.p, name.n);
	walk->n += name.n;
	walk->real[walk->n] = '\0';
	return follow_link(way, walk, e);
}

int facts_resolve(struct way *way, struct str base, const char *path, struct err *e)
{
	struct walk walk = {.rest = path, .is_there = true};
	const char *end;

	way->end = (struct str){NULL, 0};
	way->is_there = false;
	if (base.n > 1 && (path[0] != '/' || str_is_below(str_of(path), base))) {
		if (base.n >= sizeof(walk.real))
			return 0;
		walk.rest += path[0] == '/' ? base.n : 0;
		memcpy(walk.real, base.p, base.n);
		walk.n = base.n;
	}
	while (*walk.rest && !walk.is_lost) {
		struct str name = {walk.rest, strcspn(walk.rest, "/")};
		int r;

		walk.rest += name.n + (walk.rest[name.n] == '/');
		r = take_step(way, &walk, name, e);
		if (r < 0)
			return r;
	}
	if (walk.is_lost)
		return 0;
	end = arena_strdup(way->arena, walked(&walk));
	way->end = str_of(end);
	way->is_there = walk.is_there;
	return end ? 0 : err_memory(e);
}

bool facts_is_writable(const struct default_facts *facts, struct str path)
{
	if (str_is_below(path, facts->cwd))
		return true;
	for (size_t i = 0; i < facts->n_write; i++)
		if (str_is_below(path, facts->write[i]))
			return true;
	for (size_t i = 0; i < facts->n_git; i++)
		if (str_is_below(path, facts->git[i].path))
			return true;
	return false;
}

/* ---- Homes, roots, terminal ---- */

static int find_home(struct arena *arena, struct str *ret, struct err *e)
{
	const char *home = getenv("HOME");
	struct stat st;

	if (!home || !*home) {
		const struct passwd *user = getpwuid(getuid());

		home = user ? user->pw_dir : NULL;
	}
	if (!home || home[0] != '/') {
		(void)err_set(e, ERR_CONFIG, "there is no home directory");
		return err_hint(e, "set HOME to the directory that holds your secrets");
	}
	*ret = facts_real_path(arena, home);
	if (!ret->p || stat(ret->p, &st) < 0 || !S_ISDIR(st.st_mode)) {
		(void)err_set(e, ERR_CONFIG,
			      "the home directory '%s' is not there or is no directory", home);
		return err_hint(e, "set HOME to the directory that holds your secrets");
	}
	return 0;
}

/*
 * The home directory that passwd(5) has for us. p NULL: none. getpwuid(3) would load what asks
 * directory services, which costs a start more than all the rest.
 */
static struct str listed_home(struct arena *arena)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user = NULL;
	struct str home = {NULL, 0};

	while (file && (user = fgetpwent(file)) && user->pw_uid != getuid())
		;
	if (user && user->pw_dir && user->pw_dir[0] == '/')
		home = facts_real_path(arena, user->pw_dir);
	if (file)
		(void)fclose(file);
	return home;
}

/* HOME may be another's; the user's own secrets are where the user database says. */
static void find_other_home(struct arena *arena, struct default_facts *facts)
{
	struct str home = listed_home(arena);
	struct stat st;

	/* Accounts without a home have "/" or a folder that everybody shares. */
	if (home.p && home.n > 1 && !str_eq(home, facts->home) && stat(home.p, &st) == 0 &&
	    S_ISDIR(st.st_mode) && st.st_uid == getuid())
		facts->other_home = home;
}

static int find_cwd(struct arena *arena, struct str *ret, struct err *e)
{
	char path[PATH_MAX];

	if (!getcwd(path, sizeof(path))) {
		if (errno == ENOENT)
			return err_set(e, ERR_CONFIG, "the working directory was removed");
		return err_set(e, ERR_CONFIG, "the working directory: %s", strerror(errno));
	}
	/* The kernel says so of a directory outside of our root. */
	if (path[0] != '/')
		return err_set(e, ERR_CONFIG, "the working directory cannot be reached");
	*ret = str_of(arena_strdup(arena, str_of(path)));
	return ret->p ? 0 : err_memory(e);
}

static int find_write_roots(const char *const *more, struct arena *arena,
			    struct default_facts *facts, struct err *e)
{
	struct paths roots = {.arena = arena};

	for (; more && *more; more++) {
		struct str root = facts_real_path(arena, *more);
		int r;

		if (!root.p) {
			(void)err_set(e, ERR_CONFIG, "write root '%s' is not there", *more);
			return err_hint(e, "create it, or name the directory it will be in");
		}
		r = paths_add(&roots, root, e);
		if (r < 0)
			return r;
	}
	facts->write = roots.items;
	facts->n_write = roots.n;
	return 0;
}

/*
 * A working directory that holds the home directory would make everything in it writable; one that
 * everybody shares holds other programs' sockets.
 */
static const char *unfit_cwd(const struct default_facts *facts)
{
	static const char *const shared[] = {"/tmp", "/var/tmp", "/private/tmp",
					     "/private/var/tmp"};

	if (str_is_below(facts->home, facts->cwd))
		return str_eq(facts->cwd, facts->home) ? "is the home directory"
						       : "holds the home directory";
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (str_is(facts->cwd, shared[i]))
			return "is shared by everybody";
	return NULL;
}

static int check_cwd(const struct default_facts *facts, struct err *e)
{
	const char *unfit = unfit_cwd(facts);

	if (str_is_below(facts->cwd, STR("/dev/shm"))) {
		(void)err_set(e, ERR_CONFIG,
			      "the working directory %s lies in /dev/shm, which is "
			      "each run's own",
			      facts->cwd.p);
		return err_hint(e, "change to a directory elsewhere");
	}
	if (!unfit)
		return 0;
	for (size_t i = 0; i < facts->n_write; i++)
		if (str_eq(facts->write[i], facts->cwd))
			return 0;
	(void)err_set(e, ERR_CONFIG, "the working directory %s %s", facts->cwd.p, unfit);
	return err_hint(e, "change to the project's directory, or say --write .");
}

/* The terminal the command is connected to, "" if none. */
static int find_terminal(struct arena *arena, struct str *ret, struct err *e)
{
	char path[PATH_MAX];

	for (int fd = 0; fd <= 2; fd++) {
		if (ttyname_r(fd, path, sizeof(path)) != 0 ||
		    !str_starts(str_of(path), STR("/dev/")))
			continue;
		*ret = str_of(arena_strdup(arena, str_of(path)));
		return ret->p ? 0 : err_memory(e);
	}
	*ret = STR("");
	return 0;
}

int session_facts(enum target target, const char *const *more_write, struct arena *arena,
		  struct default_facts *ret, struct err *e)
{
	struct git_seen seen = {
		.configs = {.arena = arena, .known = {.arena = arena}},
		.way = {.arena = arena, .links = {.arena = arena}, .left = {.arena = arena}},
	};
	struct default_facts facts = {
		.target = target,
		.tmpdir = target == TARGET_DARWIN ? STR("/private/tmp/lapbelt") : STR("/tmp"),
	};
	int r;

	r = find_home(arena, &facts.home, e);
	if (r == 0) {
		find_other_home(arena, &facts);
		r = find_cwd(arena, &facts.cwd, e);
	}
	if (r == 0)
		r = find_write_roots(more_write, arena, &facts, e);
	if (r == 0)
		r = check_cwd(&facts, e);
	if (r == 0)
		r = find_terminal(arena, &facts.tty, e);
	if (r == 0)
		r = facts_git(&facts, &seen, e);
	if (r == 0)
		r = facts_obeyed(&facts, &seen, e);
	if (r == 0)
		r = facts_secrets(&facts, arena, e);
	if (r < 0)
		return r;
	*ret = facts;
	return 0;
}
