/* SPDX-License-Identifier: Apache-2.0 */
/* Where this machine keeps secrets, besides the usual names of secrets.def. */
#include "policyfile/secrets.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "session/facts.h"
#include "session/mounts.h"
#include "base/banned.h"

enum {
	ENTRIES_MAX = 1 << 14, /* looked at in one directory of secrets */
};

struct search {
	const struct default_facts *facts;
	struct arena *arena;
	struct map parents; /* those looked at: to their enum shape */
	struct paths usual, moved;
	struct way way;
	struct err *e;
};

/* ---- What a path is before any link is followed ---- */

enum shape {
	SHAPE_ABSENT,
	SHAPE_DIRECTORY,
	SHAPE_OTHER,
	SHAPE_LINKED, /* it is a link, or leads through one */
};

static enum shape look_at(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return SHAPE_ABSENT;
	return S_ISLNK(st.st_mode)   ? SHAPE_LINKED
	       : S_ISDIR(st.st_mode) ? SHAPE_DIRECTORY
				     : SHAPE_OTHER;
}

/* PARENT, which many names have, is looked at once. */
static enum shape look_at_parent(struct search *search, const char *parent)
{
	static enum shape shapes[] = {SHAPE_ABSENT, SHAPE_DIRECTORY, SHAPE_OTHER, SHAPE_LINKED};
	enum shape *known = map_get(&search->parents, str_of(parent));
	char *key = NULL;

	if (known)
		return *known;
	known = &shapes[look_at(parent)];
	key = arena_strdup(search->arena, str_of(parent));
	/* Without memory it is looked at again. */
	if (key)
		(void)map_put(&search->parents, str_of(key), known);
	return *known;
}

/*
 * PATH, whose part up to the home directory, if it begins with that, is known to have no links.
 * What is below a file has the file's.
 */
static enum shape shape_of(struct search *search, const char *path)
{
	struct str home = search->facts->home;
	size_t n = str_is_below(str_of(path), home) ? home.n : 0;
	enum shape shape = SHAPE_DIRECTORY;
	char part[PATH_MAX];

	while (path[n] && shape == SHAPE_DIRECTORY) {
		n += 1 + strcspn(path + n + 1, "/");
		if (n >= sizeof(part))
			return SHAPE_ABSENT;
		memcpy(part, path, n);
		part[n] = '\0';
		shape = path[n] ? look_at_parent(search, part) : look_at(part);
	}
	return shape;
}

/* ---- Where a path leads ---- */

static bool has_special_names(const char *path)
{
	for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
		size_t n = strcspn(slash + 1, "/");

		if (n == 0 || (n <= 2 && strspn(slash + 1, ".") >= n))
			return true;
	}
	return false;
}

/* Where PATH, which is absolute, leads, there or not. p NULL: a loop. */
static int resolve(struct search *search, const char *path, struct str *ret)
{
	struct str spelled = str_of(path);
	int r;

	while (spelled.n > 1 && path[spelled.n - 1] == '/')
		spelled.n--;
	path = arena_strdup(search->arena, spelled);
	if (!path)
		return err_memory(search->e);
	if (!has_special_names(path) && shape_of(search, path) != SHAPE_LINKED) {
		*ret = str_of(path);
		return 0;
	}
	search->way.links.n = search->way.left.n = 0;
	r = facts_resolve(&search->way, STR("/"), path, search->e);
	*ret = search->way.end;
	return r;
}

/* ---- What counts ---- */

static bool is_below_any(struct str path, const struct paths *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_is_below(path, list->items[i]))
			return true;
	return false;
}

/* HISTFILE=/dev/null, GNUPGHOME=$HOME and the like name no place for secrets alone. */
static bool is_too_wide(const struct default_facts *facts, struct str path)
{
	return str_is_below(facts->home, path) || str_is_below(facts->cwd, path) ||
	       str_is_below(path, STR("/dev")) || str_is_below(path, STR("/proc"));
}

static bool is_public(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid != geteuid() && (st.st_mode & S_IROTH);
}

static int add(struct search *search, const char *path)
{
	struct str real = {NULL, 0};
	int r = resolve(search, path, &real);

	if (r < 0)
		return r;
	if (!real.p || is_below_any(real, &search->usual) || is_below_any(real, &search->moved) ||
	    is_too_wide(search->facts, real) || is_public(real.p))
		return 0;
	return paths_add(&search->moved, real, search->e);
}

/* Links in a directory of secrets, as those who keep their settings in a repository make them. */
static int add_links_in(struct search *search, const char *path)
{
	DIR *stream = opendir(path);
	struct dirent *entry;
	int r = 0;

	if (!stream)
		return 0;
	for (unsigned i = 0; r == 0 && i < ENTRIES_MAX && (entry = readdir(stream)); i++) {
		const char *link;

		if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
			continue;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		link = facts_path_in(search->arena, str_of(path), entry->d_name);
		r = link ? add(search, link) : err_memory(search->e);
	}
	closedir(stream);
	return r;
}

/* PATH may lead elsewhere, and what is in it too. */
static int add_place(struct search *search, const char *path)
{
	int r;

	if (!path)
		return err_memory(search->e);
	r = add(search, path);
	return r < 0 ? r : add_links_in(search, path);
}

/* Most usual places are not there, or just what they seem: this is all a start has time for. */
static int add_usual_place(struct search *search, const char *path)
{
	switch (shape_of(search, path)) {
	case SHAPE_LINKED:
		return add_place(search, path);
	case SHAPE_DIRECTORY:
		return add_links_in(search, path);
	case SHAPE_ABSENT:
	case SHAPE_OTHER:
		break;
	}
	return 0;
}

/* ---- The tables ---- */

static const char *moved_base(struct search *search, enum secret_base base)
{
	static const char *const variables[SECRET_BASES] = {
		[SECRET_CONFIG] = "XDG_CONFIG_HOME",
		[SECRET_DATA] = "XDG_DATA_HOME",
		[SECRET_STATE] = "XDG_STATE_HOME",
		[SECRET_RUNTIME] = "XDG_RUNTIME_DIR",
	};
	const char *value = variables[base] ? getenv(variables[base]) : NULL;

	/* The specification ignores relative ones. */
	if (value && value[0] == '/')
		return value;
	if (base == SECRET_RUNTIME)
		return arena_printf(search->arena, "/run/user/%u", (unsigned)getuid());
	return NULL;
}

static const char *usual_path(struct search *search, struct str home, const struct secret *secret)
{
	const struct str parts[] = {str_of(policyfile_secret_base(secret->base)),
				    str_of(secret->name)};
	const char *name = arena_join(search->arena, parts, 2);

	return name ? facts_path_in(search->arena, home, name) : NULL;
}

/* Adds the usual names below HOME to RET. */
static int list_usual(struct search *search, struct str home, struct paths *ret)
{
	for (size_t i = 0; i < policyfile_n_secrets; i++) {
		const struct secret *secret = &policyfile_secrets[i];
		const char *path;
		int r;

		if (!secret_is_on(secret, search->facts->target) ||
		    !policyfile_secret_base(secret->base))
			continue;
		path = usual_path(search, home, secret);
		if (!path)
			return err_memory(search->e);
		r = paths_add(ret, str_of(path), search->e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_moved_bases(struct search *search)
{
	for (size_t i = 0; i < policyfile_n_secrets; i++) {
		const struct secret *secret = &policyfile_secrets[i];
		const char *base = moved_base(search, secret->base);
		int r;

		if (!secret_is_on(secret, search->facts->target) || !base)
			continue;
		r = add_place(search, facts_path_in(search->arena, str_of(base), secret->name));
		if (r < 0)
			return r;
	}
	return 0;
}

/* VALUE is a path or a colon-separated list of them, relative to the working directory. */
static int add_variable(struct search *search, const char *value, const char *name)
{
	while (*value) {
		const char *end = strchrnul(value, ':');
		const char *item =
			arena_strdup(search->arena, (struct str){value, (size_t)(end - value)});
		const char *path =
			item ? facts_path_in(search->arena, search->facts->cwd, item) : NULL;
		int r = 0;

		if (path && *name)
			path = facts_path_in(search->arena, str_of(path), name);
		if (end > value)
			r = add_place(search, path);
		if (r < 0)
			return r;
		value = *end ? end + 1 : end;
	}
	return 0;
}

static int add_variables(struct search *search)
{
	for (size_t i = 0; i < policyfile_n_secret_variables; i++) {
		const struct secret_variable *row = &policyfile_secret_variables[i];
		const char *value = getenv(row->variable);
		int r = value ? add_variable(search, value, row->name) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- Other names ---- */

/* What is mounted a second time is there, too. */
static int add_mounted_again(struct search *search)
{
	struct paths found = {.arena = search->arena}, all = search->usual;
	struct mounts mounts;
	int r = mounts_read(&mounts, search->arena, search->e);

	if (r < 0 || !mounts.any_again)
		return r;
	if (search->facts->other_home.n)
		r = list_usual(search, search->facts->other_home, &all);
	for (size_t i = 0; r == 0 && i < search->moved.n; i++)
		r = paths_add(&all, search->moved.items[i], search->e);
	for (size_t i = 0; r == 0 && i < all.n; i++)
		r = mounts_add_names(&mounts, all.items[i], &found, search->e);
	for (size_t i = 0; r == 0 && i < found.n; i++)
		r = paths_add_once(&search->moved, found.items[i], search->e);
	return r;
}

int facts_secrets(struct default_facts *facts, struct arena *arena, struct err *e)
{
	struct search search = {
		.facts = facts,
		.arena = arena,
		.parents = {.arena = arena},
		.usual = {.arena = arena},
		.moved = {.arena = arena},
		.way = {.arena = arena, .links = {.arena = arena}, .left = {.arena = arena}},
		.e = e,
	};
	int r = list_usual(&search, facts->home, &search.usual);

	for (size_t i = 0; r == 0 && i < search.usual.n; i++)
		r = add_usual_place(&search, search.usual.items[i].p);
	if (r == 0)
		r = add_moved_bases(&search);
	if (r == 0)
		r = add_variables(&search);
	if (r == 0)
		r = add_mounted_again(&search);
	if (r < 0)
		return r;
	facts->secrets = search.moved.items;
	facts->n_secrets = search.moved.n;
	return 0;
}
