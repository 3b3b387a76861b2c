/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What something outside will run or obey, where that is not told by its name alone: what git's
 * configuration names, and what protected names lead to. Links are followed from the few places
 * that are obeyed themselves; no tree is searched for more.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "session/facts.h"
#include "base/banned.h"

enum {
	HOOKS_MAX = 16,        /* values of core.hooksPath */
	CONFIGS_MAX = 256,     /* configuration files */
	ENTRIES_MAX = 1 << 14, /* looked at in one folder */
	LINKS_MAX = 1000,      /* in folders; a project can have as many as it likes */
};

struct search {
	struct default_facts *facts;
	struct git_configs *configs;
	struct arena *arena;
	struct way way;
	struct paths obeyed, ways;
	unsigned links;
	struct err *e;
};

/* ---- What counts ---- */

/* A folder with these in it cannot be closed. */
static bool holds_root(const struct default_facts *facts, struct str path)
{
	for (size_t i = 0; i < facts->n_write; i++)
		if (str_is_below(facts->write[i], path))
			return true;
	for (size_t i = 0; i < facts->n_git; i++)
		if (str_is_below(facts->git[i].path, path))
			return true;
	return str_is_below(facts->cwd, path) || str_is_below(facts->home, path);
}

/* Protects PATH, unless nobody inside can write there or it is too wide. */
static int protect(struct search *search, struct str path)
{
	if (!path.p || !facts_is_writable(search->facts, path) || holds_root(search->facts, path))
		return 0;
	for (size_t i = 0; i < search->obeyed.n; i++)
		if (str_is_below(path, search->obeyed.items[i]))
			return 0;
	return paths_add(&search->obeyed, path, search->e);
}

/* Protects what leads along WAY, which then is as new. */
static int protect_way(struct search *search, struct way *way)
{
	int r = 0;

	for (size_t i = 0; i < way->links.n && r == 0; i++)
		r = protect(search, way->links.items[i]);
	for (size_t i = 0; i < way->left.n && r == 0; i++)
		if (facts_is_writable(search->facts, way->left.items[i]))
			r = paths_add_once(&search->ways, way->left.items[i], search->e);
	way->links.n = way->left.n = 0;
	return r;
}

/* Finds where PATH leads from BASE and protects what leads there. *RET_LINKED: there are links. */
static int follow(struct search *search, struct str base, const char *path, bool *ret_linked)
{
	int r = facts_resolve(&search->way, base, path, search->e);

	*ret_linked = search->way.links.n > 0;
	return r < 0 ? r : protect_way(search, &search->way);
}

/* Protects what the links in the folder PATH lead to. */
static int protect_entries(struct search *search, struct str path)
{
	DIR *stream = opendir(path.p);
	struct dirent *entry;
	int r = 0;

	for (unsigned i = 0; stream && r == 0 && i < ENTRIES_MAX && (entry = readdir(stream));
	     i++) {
		bool linked = false;

		if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
			continue;
		if (search->links == LINKS_MAX)
			break;
		search->links++;
		r = follow(search, path, entry->d_name, &linked);
		if (r == 0 && linked)
			r = protect(search, search->way.end);
	}
	if (stream)
		closedir(stream);
	return r;
}

enum rules {
	RULES_NAME, /* protect it by its own name */
	RULES_NONE,
};

/* PATH, from BASE, is obeyed, and what is in it if it is a folder. */
static int obey(struct search *search, struct str base, const char *path, enum rules rules)
{
	bool linked;
	int r = follow(search, base, path, &linked);
	struct str end = search->way.end;

	if (r < 0 || !end.p || holds_root(search->facts, end))
		return r;
	if (linked || rules == RULES_NONE)
		r = protect(search, end);
	return r == 0 && search->way.is_there ? protect_entries(search, end) : r;
}

/* ---- Names in homes and projects ---- */

static const struct obeyed {
	const char *folder, *name;
} obeyed[] = {
#define OBEYED(folder, name) {folder, name},
#include "session/obeyed.def"
};

static int obey_names_in(struct search *search, struct str base)
{
	const char *folder = NULL;
	struct str place = {NULL, 0};
	bool linked = false;
	int r = 0;

	for (size_t i = 0; i < sizeof(obeyed) / sizeof(obeyed[0]) && r == 0; i++) {
		const struct obeyed *row = &obeyed[i];

		if (!folder || strcmp(row->folder, folder) != 0) {
			folder = row->folder;
			r = follow(search, base, folder, &linked);
			place = search->way.end;
			if (!search->way.is_there && !linked)
				place.p = NULL;
		}
		if (r == 0 && place.p)
			r = obey(search, place, row->name, linked ? RULES_NONE : RULES_NAME);
	}
	return r;
}

static int obey_names(struct search *search)
{
	const struct default_facts *facts = search->facts;
	int r = obey_names_in(search, facts->cwd);

	for (size_t i = 0; i < facts->n_write && r == 0; i++)
		if (!str_eq(facts->write[i], facts->cwd))
			r = obey_names_in(search, facts->write[i]);
	if (r == 0 && !str_eq(facts->home, facts->cwd))
		r = obey_names_in(search, facts->home);
	return r;
}

/* ---- Git directories ---- */

static int obey_git_directory(struct search *search, struct str path)
{
	/* As in default.sb. */
	static const char *const names[] = {
		"hooks",  "config",          "config.worktree",         "commondir",
		"gitdir", "info/attributes", "objects/info/alternates",
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && r == 0; i++)
		r = obey(search, path, names[i], RULES_NAME);
	return r;
}

/* ---- Git configuration ---- */

/* Adds the configuration file PATH, from BASE, by the name of it that is no way through links. */
static int add_path(struct search *search, struct paths *files, struct str base, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *folder, *file;
	bool linked;
	int r;

	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || files->n == CONFIGS_MAX)
		return 0;
	folder = arena_strdup(search->arena, (struct str){path, (size_t)(name - path)});
	if (!folder)
		return err_memory(search->e);
	r = follow(search, base, folder, &linked);
	if (r < 0 || !search->way.end.p)
		return r;
	file = facts_path_in(search->arena, search->way.end, name);
	return file ? paths_add_once(files, str_of(file), search->e) : err_memory(search->e);
}

/* As add_path() for a VALUE of the configuration. */
static int add_file(struct search *search, struct paths *files, struct str base, const char *value)
{
	struct paths all = {.arena = search->arena};
	int r = git_path_expand(&all, search->facts->home, value, search->e);

	for (size_t i = 0; i < all.n && r == 0; i++)
		r = add_path(search, files, base, all.items[i].p);
	return r;
}

/* Configuration files that speak of all repositories; git-config(1). */
static int add_user_files(struct search *search, struct paths *files)
{
	const char *global = getenv("GIT_CONFIG_GLOBAL"), *shared = getenv("GIT_CONFIG_SYSTEM");
	const char *xdg = getenv("XDG_CONFIG_HOME");
	const char *const paths[] = {
		"~/.gitconfig",
		xdg && xdg[0] == '/' ? arena_printf(search->arena, "%s/git/config", xdg)
				     : "~/.config/git/config",
		"/etc/gitconfig",
		global ? facts_path_in(search->arena, search->facts->cwd, global) : NULL,
		shared ? facts_path_in(search->arena, search->facts->cwd, shared) : NULL,
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && r == 0; i++)
		if (paths[i])
			r = add_file(search, files, search->facts->home, paths[i]);
	return r;
}

static int add_own_files(struct search *search, struct paths *files)
{
	static const char *const names[] = {"config", "config.worktree"};

	for (size_t i = 0; i < search->facts->n_git; i++) {
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			const char *file =
				facts_path_in(search->arena, search->facts->git[i].path, names[k]);

			if (!file || paths_add(files, str_of(file), search->e) < 0)
				return err_memory(search->e);
		}
	}
	return 0;
}

static struct str parent_of(struct str path)
{
	while (path.n > 1 && path.p[path.n - 1] != '/')
		path.n--;
	path.n -= path.n > 1;
	return path;
}

/* Reads FILE: adds what it includes, there or not, to FILES, its core.hooksPath to VALUES. */
static int read_file(struct search *search, struct str file, struct paths *files,
		     struct paths *values)
{
	const struct git_config *config;
	int r = git_config_read(search->configs, file, &config, search->e);

	if (r == 0 && config->hooks_path && values->n < HOOKS_MAX)
		r = paths_add_once(values, str_of(config->hooks_path), search->e);
	for (size_t i = 0; r == 0 && i < config->n_includes && files->n < CONFIGS_MAX; i++)
		r = add_file(search, files, parent_of(file), config->includes[i]);
	return r;
}

/* Protects the configuration files that have no name of a git directory's; finds all VALUES. */
static int obey_config(struct search *search, struct paths *values)
{
	struct paths own = {.arena = search->arena}, others = {.arena = search->arena};
	int r = add_own_files(search, &own);

	if (r == 0)
		r = add_user_files(search, &others);
	for (size_t i = 0; i < own.n && r == 0; i++)
		r = read_file(search, own.items[i], &others, values);
	/* The list grows meanwhile. */
	for (size_t i = 0; i < others.n && r == 0; i++) {
		r = obey(search, parent_of(others.items[i]), others.items[i].p, RULES_NONE);
		if (r == 0)
			r = read_file(search, others.items[i], &others, values);
	}
	return r;
}

/* ---- core.hooksPath ---- */

/*
 * What git runs from the folder PATH. husky keeps wrappers in a folder `_` of it, and what they run
 * beside that.
 */
static int obey_hooks(struct search *search, struct str base, const char *path)
{
	struct str folder = str_of(path);
	const char *wrapped;
	int r = 0;

	while (folder.n > 1 && folder.p[folder.n - 1] == '/')
		folder.n--;
	if (folder.n > 2 && str_ends(folder, STR("/_"))) {
		wrapped = arena_strdup(search->arena, (struct str){folder.p, folder.n - 2});
		r = wrapped ? obey(search, base, wrapped, RULES_NONE) : err_memory(search->e);
	}
	return r < 0 ? r : obey(search, base, path, RULES_NONE);
}

/* The work tree of a git directory that was found. p NULL: it has none. */
static int tree_of(struct git_seen *seen, const struct git_dir *git, struct str *ret, struct err *e)
{
	int r = git_work_tree(seen, git->path, ret, e);

	if (r < 0 || ret->p)
		return r;
	if (git->work_tree_pointer.n)
		*ret = parent_of(git->work_tree_pointer);
	else if (str_ends(git->path, STR("/.git")))
		*ret = parent_of(git->path);
	return 0;
}

/*
 * Every value counts in every work tree: a linked one has the configuration of what it is linked
 * to, and protecting a folder too many does no harm. What a push runs starts in the git directory.
 */
static int obey_hooks_path(struct search *search, struct git_seen *seen, const char *path)
{
	const struct default_facts *facts = search->facts;
	int r = 0;

	if (path[0] == '/')
		return obey_hooks(search, facts->cwd, path);
	for (size_t i = 0; i < facts->n_git && r == 0; i++) {
		struct str tree;

		r = tree_of(seen, &facts->git[i], &tree, search->e);
		if (r == 0 && tree.p)
			r = obey_hooks(search, tree, path);
		if (r == 0)
			r = obey_hooks(search, facts->git[i].path, path);
	}
	return r;
}

static int obey_values(struct search *search, struct git_seen *seen, const struct paths *values)
{
	struct paths all = {.arena = search->arena};
	int r = 0;

	for (size_t i = 0; i < values->n && r == 0; i++)
		r = git_path_expand(&all, search->facts->home, values->items[i].p, search->e);
	for (size_t i = 0; i < all.n && r == 0; i++)
		r = obey_hooks_path(search, seen, all.items[i].p);
	return r;
}

int facts_obeyed(struct default_facts *facts, struct git_seen *seen, struct err *e)
{
	struct arena *arena = seen->way.arena;
	struct search search = {
		.facts = facts,
		.configs = &seen->configs,
		.arena = arena,
		.way = {.arena = arena, .links = {.arena = arena}, .left = {.arena = arena}},
		.obeyed = {.arena = arena},
		.ways = {.arena = arena},
		.e = e,
	};
	struct paths values = {.arena = arena};
	int r = obey_names(&search);

	for (size_t i = 0; i < facts->n_git && r == 0; i++)
		r = obey_git_directory(&search, facts->git[i].path);
	if (r == 0)
		r = obey_config(&search, &values);
	if (r == 0)
		r = obey_values(&search, seen, &values);
	if (r == 0)
		r = protect_way(&search, &seen->way);
	if (r < 0)
		return r;
	facts->obeyed = search.obeyed.items;
	facts->n_obeyed = search.obeyed.n;
	facts->ways = search.ways.items;
	facts->n_ways = search.ways.n;
	return 0;
}
