/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which git directories belong to the working directory (gitrepository-layout(5)). Pointers are
 * believed only when the other side points back, from a place the project cannot write.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/io.h"
#include "session/facts.h"
#include "base/banned.h"

enum {
	POINTER_MAX = PATH_MAX + 64,
	CONFIG_MAX = 1 << 20,
	/* Past these, directories are still protected by the rules for repositories of any depth.
	 */
	GIT_DIRS_MAX = 1000,
	LOOKS_MAX = 4000,
	MODULE_DEPTH_MAX = 8,
	HOOKS_MAX = 16,    /* values of core.hooksPath */
	CONFIGS_MAX = 256, /* files that are read for them */
};

struct finder {
	struct arena *arena;
	struct git_dir *found;
	size_t n, cap;
	unsigned looks; /* at directories: the project can make as many as it likes */
	struct err *e;
};

/* ---- Looking at files ---- */

static struct str join(struct finder *finder, struct str directory, const char *name)
{
	return str_of(arena_printf(finder->arena, "%.*s/%s", (int)directory.n, directory.p, name));
}

static bool is_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool has(struct finder *finder, struct str directory, const char *name, mode_t type)
{
	struct str path = join(finder, directory, name);
	struct stat st;

	return path.p && stat(path.p, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

/* A repository of its own, or the part that linked worktrees share. */
static bool is_git_dir(struct finder *finder, struct str path)
{
	return has(finder, path, "HEAD", S_IFREG) && has(finder, path, "objects", S_IFDIR) &&
	       has(finder, path, "refs", S_IFDIR);
}

/* What git keeps of one linked worktree. */
static bool is_linked_git_dir(struct finder *finder, struct str path)
{
	return has(finder, path, "HEAD", S_IFREG) && has(finder, path, "commondir", S_IFREG);
}

/* The file's content without the newline at its end, or NULL. */
static const char *read_text(struct finder *finder, struct str path, size_t limit)
{
	struct buf text = {0};
	char *copy = NULL;

	if (path.p && io_read_file(AT_FDCWD, path.p, &text, limit) == 0) {
		while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
			text.n--;
		copy = arena_strdup(finder->arena, buf_str(&text));
	}
	buf_release(&text);
	return copy;
}

/* Where the path in DIRECTORY/NAME, relative to DIRECTORY, leads. p NULL: nowhere. */
static struct str follow(struct finder *finder, struct str directory, const char *name)
{
	const char *text = read_text(finder, join(finder, directory, name), POINTER_MAX);
	const char *path = text ? facts_path_in(finder->arena, directory, text) : NULL;

	return path ? facts_real_path(finder->arena, path) : (struct str){NULL, 0};
}

static struct str parent_of(struct finder *finder, struct str path)
{
	size_t n = path.n;

	while (n > 0 && path.p[n - 1] != '/')
		n--;
	return str_of(arena_strdup(finder->arena, (struct str){path.p, n > 1 ? n - 1 : 1}));
}

/* ---- Configuration ---- */

/* Where the configuration value at P ends: at the end of its line, which a backslash continues. */
static const char *value_end(const char *p)
{
	bool quoted = false;

	for (; *p && *p != '\n'; p++) {
		if (!quoted && (*p == '#' || *p == ';'))
			return strchrnul(p, '\n');
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '\\' && p[1])
			p++;
	}
	return p;
}

/* A configuration value as git reads it: quotes, escapes, comments. */
static char *config_value(struct finder *finder, const char *from, const char *end)
{
	char *value = arena_alloc(finder->arena, (size_t)(end - from) + 1);
	bool quoted = false;
	size_t n = 0, kept = 0;

	for (; value && from < end; from++) {
		char c = *from;

		if (!quoted && (c == '#' || c == ';'))
			break;
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (c == '\\' && from + 1 < end && (c = *++from) == '\n')
			continue;
		value[n++] = c;
		if (quoted || !isspace((unsigned char)c))
			kept = n;
	}
	if (value)
		value[kept] = '\0';
	return value;
}

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\r\v\f");
}

/* Where the section header at P ends. A subsection is quoted and may hold what it likes. */
static const char *header_end(const char *p)
{
	bool quoted = false;

	for (; *p && *p != '\n'; p++) {
		if (!quoted && *p == ']')
			return p + 1;
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '\\' && p[1])
			p++;
	}
	return p;
}

static bool is_core(const char *header)
{
	return strncasecmp(header, "[core]", 6) == 0;
}

/* Whatever the condition of an includeIf: it can come to hold. */
static bool is_include(const char *header)
{
	return strncasecmp(header, "[include]", 9) == 0 ||
	       strncasecmp(header, "[includeif", 10) == 0;
}

/* Adds the values that KEY has in the sections of the configuration file PATH for which IN holds.
 */
static int config_values(struct finder *finder, struct str path, bool (*in)(const char *header),
			 const char *key, struct paths *ret)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, which git skips */
	const char *p = read_text(finder, path, CONFIG_MAX);
	bool here = false;
	int r = 0;

	if (p && strncmp(p, mark, sizeof(mark) - 1) == 0)
		p += sizeof(mark) - 1;
	while (p && *p && r == 0) {
		const char *name = p = p + strspn(p, " \t\r\v\f\n"), *value;
		size_t n;

		if (*p == '[') {
			here = in(p);
			p = header_end(p);
			continue;
		}
		while (isalnum((unsigned char)*p) || *p == '-')
			p++;
		n = (size_t)(p - name);
		p = skip_space(p);
		if (n == 0 || *p != '=') { /* a comment, a name alone, or an error */
			p = strchrnul(p, '\n');
			continue;
		}
		value = skip_space(p + 1);
		p = value_end(value);
		if (here && n == strlen(key) && strncasecmp(name, key, n) == 0)
			r = paths_add(ret, str_of(config_value(finder, value, p)), finder->e);
	}
	return r;
}

/* The value of core.KEY in a configuration file, or NULL. The last one counts. */
static const char *core_value(struct finder *finder, struct str path, const char *key)
{
	struct paths values = {.arena = finder->arena};

	if (config_values(finder, path, is_core, key, &values) < 0 || values.n == 0)
		return NULL;
	return values.items[values.n - 1].p;
}

/* The work tree that a git directory says is its own. p NULL: none. */
static struct str work_tree_of(struct finder *finder, struct str git_dir)
{
	static const char *const files[] = {"config.worktree", "config"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *value = core_value(finder, join(finder, git_dir, files[i]), "worktree");
		const char *path = value ? facts_path_in(finder->arena, git_dir, value) : NULL;

		if (path)
			return facts_real_path(finder->arena, path);
	}
	return (struct str){NULL, 0};
}

/* ---- Found ones ---- */

static int add(struct finder *finder, struct str path, struct str pointer)
{
	struct git_dir *found;

	for (size_t i = 0; i < finder->n; i++)
		if (str_eq(finder->found[i].path, path))
			return 0;
	if (finder->n == GIT_DIRS_MAX)
		return 0;
	found = arena_grow(finder->arena, finder->found, finder->n, &finder->cap, sizeof(*found));
	if (!found)
		return err_memory(finder->e);
	finder->found = found;
	finder->found[finder->n++] = (struct git_dir){
		.path = path,
		.work_tree_pointer = pointer.p ? pointer : STR(""),
	};
	return 0;
}

typedef int visit(struct finder *finder, struct str path, unsigned depth);

/* Calls EACH for the directories in DIRECTORY, links not followed. */
static int each_directory(struct finder *finder, struct str directory, unsigned depth, visit *each)
{
	DIR *stream = directory.p ? opendir(directory.p) : NULL;
	struct dirent *entry;
	int r = 0;

	while (stream && r == 0 && finder->looks < LOOKS_MAX && (entry = readdir(stream))) {
		struct str path;

		if (entry->d_name[0] == '.' &&
		    (!entry->d_name[1] || strcmp(entry->d_name, "..") == 0))
			continue;
		finder->looks++;
		path = join(finder, directory, entry->d_name);
		if (!path.p)
			r = err_memory(finder->e);
		else if (is_directory(path.p))
			r = each(finder, path, depth);
	}
	if (stream)
		closedir(stream);
	return r;
}

/* The `gitdir` file names the work tree's `.git` file. */
static int visit_worktree(struct finder *finder, struct str path, unsigned depth)
{
	(void)depth;
	if (!is_linked_git_dir(finder, path))
		return 0;
	return add(finder, path, follow(finder, path, "gitdir"));
}

static int add_repository(struct finder *finder, struct str path, struct str pointer,
			  unsigned depth);

/* Modules are called by their paths: what is no git directory is on the way to some. */
static int visit_module(struct finder *finder, struct str path, unsigned depth)
{
	struct str tree;

	if (depth == MODULE_DEPTH_MAX)
		return 0;
	if (!is_git_dir(finder, path))
		return each_directory(finder, path, depth + 1, visit_module);
	tree = work_tree_of(finder, path);
	return add_repository(finder, path,
			      tree.p ? join(finder, tree, ".git") : (struct str){NULL, 0},
			      depth + 1);
}

static int add_repository(struct finder *finder, struct str path, struct str pointer,
			  unsigned depth)
{
	int r = add(finder, path, pointer);

	if (r == 0)
		r = each_directory(finder, join(finder, path, "worktrees"), depth, visit_worktree);
	if (r == 0)
		r = each_directory(finder, join(finder, path, "modules"), depth, visit_module);
	return r;
}

/* ---- The way up ---- */

/* POINTER, in TREE, leads to the git directory of one linked worktree. */
static int add_linked(struct finder *finder, struct str git_dir, struct str pointer)
{
	struct str common = follow(finder, git_dir, "commondir");
	struct str back = follow(finder, git_dir, "gitdir");
	struct str place;
	int r;

	if (!common.p || !back.p || !str_eq(back, pointer) || !is_git_dir(finder, common))
		return 0;
	place = join(finder, common, "worktrees/");
	if (!place.p || !str_starts(git_dir, place))
		return 0;
	r = add(finder, git_dir, pointer);
	return r < 0 ? r : add_repository(finder, common, (struct str){NULL, 0}, 0);
}

/* POINTER, a file or a link in TREE, leads to GIT_DIR: a linked worktree, or a submodule. */
static int add_pointed_to(struct finder *finder, struct str git_dir, struct str tree,
			  struct str pointer)
{
	struct str back;

	if (is_linked_git_dir(finder, git_dir))
		return add_linked(finder, git_dir, pointer);
	back = work_tree_of(finder, git_dir);
	if (!back.p || !str_eq(back, tree) || !is_git_dir(finder, git_dir))
		return 0;
	return add_repository(finder, git_dir, pointer, 0);
}

enum {
	GO_UP = 1
};

/* Looks for TREE/.git. 0: found, whether believed or not; GO_UP: none; < 0. */
static int look(struct finder *finder, struct str tree)
{
	struct str pointer = join(finder, tree, ".git");
	const char *text;
	struct str target;
	struct stat st;

	if (!pointer.p)
		return err_memory(finder->e);
	if (lstat(pointer.p, &st) < 0)
		return GO_UP;
	if (S_ISDIR(st.st_mode))
		return is_git_dir(finder, pointer)
			       ? add_repository(finder, pointer, (struct str){NULL, 0}, 0)
			       : GO_UP;
	if (S_ISLNK(st.st_mode)) {
		target = facts_real_path(finder->arena, pointer.p);
	} else {
		text = read_text(finder, pointer, POINTER_MAX);
		if (!text || strncmp(text, "gitdir: ", 8) != 0)
			return 0;
		text = facts_path_in(finder->arena, tree, text + 8);
		target = text ? facts_real_path(finder->arena, text) : (struct str){NULL, 0};
	}
	return target.p ? add_pointed_to(finder, target, tree, pointer) : 0;
}

static bool is_same_device(const char *a, const char *b)
{
	struct stat st_a, st_b;

	return stat(a, &st_a) == 0 && stat(b, &st_b) == 0 && st_a.st_dev == st_b.st_dev;
}

/* ---- core.hooksPath ---- */

/* REAL and the components of REST below it, which are not there. p NULL: one of them leads away. */
static struct str join_all(struct finder *finder, struct str real, const char *rest)
{
	while (real.p && *rest) {
		size_t n = strcspn(rest, "/");
		struct str name = {rest, n};

		if (str_is(name, ".."))
			return (struct str){NULL, 0};
		if (n > 0 && !str_is(name, "."))
			real = str_of(arena_printf(finder->arena, "%.*s/%.*s", (int)real.n, real.p,
						   (int)name.n, name.p));
		rest += n + (rest[n] == '/');
	}
	return real;
}

/* Where PATH, which is absolute, leads, as far as it is there. p NULL: nowhere. */
static struct str resolve(struct finder *finder, const char *path)
{
	struct str real = facts_real_path(finder->arena, path);
	size_t n = strlen(path);

	while (!real.p) {
		const char *there;

		while (n > 0 && path[n - 1] != '/')
			n--;
		if (n <= 1)
			return real;
		there = arena_strdup(finder->arena, (struct str){path, --n});
		if (!there)
			return real;
		real = facts_real_path(finder->arena, there);
	}
	return join_all(finder, real, path + n);
}

/* Where the path VALUE of a configuration leads, from DIRECTORY. p NULL: nowhere. */
static struct str resolve_value(struct finder *finder, const struct default_facts *facts,
				struct str directory, const char *value)
{
	const char *path = value[0] == '~' && value[1] == '/'
				   ? facts_path_in(finder->arena, facts->home, value + 2)
				   : facts_path_in(finder->arena, directory, value);

	return path ? resolve(finder, path) : (struct str){NULL, 0};
}

/* Adds PATH once, unless we live below it. */
static int protect(struct finder *finder, const struct default_facts *facts, struct paths *hooks,
		   struct str path)
{
	if (!path.p || str_is_below(facts->cwd, path) || str_is_below(facts->home, path))
		return 0;
	for (size_t i = 0; i < hooks->n; i++)
		if (str_eq(hooks->items[i], path))
			return 0;
	return paths_add(hooks, path, finder->e);
}

/*
 * What git runs from the folder VALUE. husky keeps wrappers in a folder `_` of it, and what they
 * run beside that.
 */
static int add_hooks(struct finder *finder, const struct default_facts *facts, struct paths *hooks,
		     struct str tree, const char *value)
{
	struct str real = resolve_value(finder, facts, tree, value);

	if (real.p && real.n > 2 && str_ends(real, STR("/_")))
		real.n -= 2;
	return protect(finder, facts, hooks, real);
}

/* The work tree of a git directory that was found. p NULL: it has none. */
static struct str tree_of(struct finder *finder, const struct git_dir *git)
{
	struct str tree = work_tree_of(finder, git->path);

	if (tree.p)
		return tree;
	if (git->work_tree_pointer.n)
		return parent_of(finder, git->work_tree_pointer);
	return str_ends(git->path, STR("/.git")) ? parent_of(finder, git->path)
						 : (struct str){NULL, 0};
}

/* Configuration files that speak of all repositories; git-config(1). */
static const char *user_config(struct finder *finder, const struct default_facts *facts, unsigned i)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");

	switch (i) {
	case 0:
		return facts_path_in(finder->arena, facts->home, ".gitconfig");
	case 1:
		return xdg && xdg[0] == '/'
			       ? arena_printf(finder->arena, "%s/git/config", xdg)
			       : facts_path_in(finder->arena, facts->home, ".config/git/config");
	case 2:
		return "/etc/gitconfig";
	default:
		return NULL;
	}
}

/* Adds what FILE says of core.hooksPath, once. */
static int add_value(struct finder *finder, struct paths *values, struct str file)
{
	const char *value = core_value(finder, file, "hookspath");

	if (!value || !*value || values->n == HOOKS_MAX)
		return 0;
	for (size_t i = 0; i < values->n; i++)
		if (str_is(values->items[i], value))
			return 0;
	return paths_add(values, str_of(value), finder->e);
}

/* Adds FILE to the configuration files, once. */
static int add_file(struct finder *finder, struct paths *files, struct str file)
{
	if (!file.p || files->n == CONFIGS_MAX)
		return 0;
	for (size_t i = 0; i < files->n; i++)
		if (str_eq(files->items[i], file))
			return 0;
	return paths_add(files, file, finder->e);
}

/* Adds the files that FILE includes, there or not, and protects them as what they are part of. */
static int add_included(struct finder *finder, const struct default_facts *facts,
			struct paths *files, struct paths *hooks, struct str file)
{
	struct paths values = {.arena = finder->arena};
	int r = config_values(finder, file, is_include, "path", &values);

	for (size_t i = 0; i < values.n && r == 0; i++) {
		struct str real =
			resolve_value(finder, facts, parent_of(finder, file), values.items[i].p);

		r = protect(finder, facts, hooks, real);
		if (r == 0)
			r = add_file(finder, files, real);
	}
	return r;
}

static int find_config_files(struct finder *finder, const struct default_facts *facts,
			     struct paths *files)
{
	const char *path;
	int r = 0;

	for (unsigned i = 0; r == 0 && (path = user_config(finder, facts, i)); i++)
		r = add_file(finder, files, str_of(path));
	for (size_t i = 0; i < finder->n && r == 0; i++) {
		r = add_file(finder, files, join(finder, finder->found[i].path, "config"));
		if (r == 0)
			r = add_file(finder, files,
				     join(finder, finder->found[i].path, "config.worktree"));
	}
	return r;
}

/*
 * Every value counts in every work tree: a linked one has the configuration of what it is linked
 * to, and protecting a folder too many does no harm.
 */
static int find_hooks(struct finder *finder, struct default_facts *facts)
{
	struct paths values = {.arena = finder->arena}, hooks = {.arena = finder->arena};
	struct paths files = {.arena = finder->arena};
	int r = find_config_files(finder, facts, &files);

	/* The list grows meanwhile. */
	for (size_t i = 0; i < files.n && r == 0; i++) {
		r = add_value(finder, &values, files.items[i]);
		if (r == 0)
			r = add_included(finder, facts, &files, &hooks, files.items[i]);
	}
	for (size_t i = 0; values.n && i < finder->n && r == 0; i++) {
		struct str tree = tree_of(finder, &finder->found[i]);

		for (size_t k = 0; tree.p && k < values.n && r == 0; k++)
			r = add_hooks(finder, facts, &hooks, tree, values.items[k].p);
	}
	facts->hooks = hooks.items;
	facts->n_hooks = hooks.n;
	return r;
}

int facts_git(struct default_facts *facts, struct arena *arena, struct err *e)
{
	struct finder finder = {.arena = arena, .e = e};
	struct str tree = facts->cwd;
	int r;

	if (is_git_dir(&finder, tree))
		r = add_repository(&finder, tree, (struct str){NULL, 0}, 0);
	else
		r = look(&finder, tree);
	while (r == GO_UP && !str_eq(tree, facts->home) && tree.n > 1) {
		struct str parent = parent_of(&finder, tree);

		if (!parent.p)
			return err_memory(e);
		if (!is_same_device(tree.p, parent.p))
			break;
		tree = parent;
		r = look(&finder, tree);
	}
	if (r < 0)
		return r;
	facts->git = finder.found;
	facts->n_git = finder.n;
	return find_hooks(&finder, facts);
}
