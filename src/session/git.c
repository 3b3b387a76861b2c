/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which git directories belong to the working directory (gitrepository-layout(5)). Pointers to what
 * would be granted for them are believed only when the other side points back, from a place the
 * project cannot write.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "session/facts.h"
#include "base/banned.h"

enum {
	POINTER_MAX = PATH_MAX + 64,
	/* Past these, directories are still protected by the rules for repositories of any depth.
	 */
	GIT_DIRS_MAX = 1000,
	LOOKS_MAX = 4000,
	MODULE_DEPTH_MAX = 8,
};

struct finder {
	const struct default_facts *facts;
	struct git_seen *seen;
	struct arena *arena;
	struct git_dir *found;
	size_t n, cap;
	unsigned looks; /* at directories: the project can make as many as it likes */
	bool failed;    /* there was no memory */
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

/* Where PATH leads from DIRECTORY, which is canonical. p NULL: nowhere. */
static struct str resolve(struct finder *finder, struct str directory, const char *path)
{
	struct way *way = &finder->seen->way;

	if (facts_resolve(way, directory, path, finder->e) < 0) {
		finder->failed = true;
		return (struct str){NULL, 0};
	}
	return way->end;
}

/* Where the path in DIRECTORY/NAME, relative to DIRECTORY, leads. p NULL: nowhere. */
static struct str follow(struct finder *finder, struct str directory, const char *name)
{
	const char *text = read_text(finder, join(finder, directory, name), POINTER_MAX);

	return text ? resolve(finder, directory, text) : (struct str){NULL, 0};
}

static struct str parent_of(struct finder *finder, struct str path)
{
	size_t n = path.n;

	while (n > 0 && path.p[n - 1] != '/')
		n--;
	return str_of(arena_strdup(finder->arena, (struct str){path.p, n > 1 ? n - 1 : 1}));
}

/* ---- What they say ---- */

int git_work_tree(struct git_seen *seen, struct str git_dir, struct str *ret, struct err *e)
{
	static const char *const files[] = {"config.worktree", "config"};

	*ret = (struct str){NULL, 0};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *path = facts_path_in(seen->way.arena, git_dir, files[i]);
		const struct git_config *config;
		int r;

		if (!path || git_config_read(&seen->configs, str_of(path), &config, e) < 0)
			return err_memory(e);
		if (!config->worktree)
			continue;
		r = facts_resolve(&seen->way, git_dir, config->worktree, e);
		*ret = seen->way.end;
		return r;
	}
	return 0;
}

static struct str work_tree_of(struct finder *finder, struct str git_dir)
{
	struct str tree;

	if (git_work_tree(finder->seen, git_dir, &tree, finder->e) < 0)
		finder->failed = true;
	return tree;
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

/*
 * Opens *PATH. A link is followed only to where one may write anyway, so that what is found there
 * grants nothing; *PATH is then where it leads.
 */
static DIR *open_directory(struct finder *finder, struct str *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int fd = open(path->p, flags | O_NOFOLLOW);
	DIR *stream;

	if (fd < 0 && errno == ENOTDIR) {
		*path = resolve(finder, STR("/"), path->p);
		if (path->p && facts_is_writable(finder->facts, *path))
			fd = open(path->p, flags);
	}
	stream = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

/* Calls EACH for the directories in DIRECTORY, links not followed. */
static int each_directory(struct finder *finder, struct str directory, unsigned depth, visit *each)
{
	DIR *stream = directory.p ? open_directory(finder, &directory) : NULL;
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

/* May GIT_DIR be taken for one? It grants nothing, or somebody outside has said so too. */
static bool is_granted(const struct finder *finder, struct str git_dir, bool leads_back)
{
	return leads_back || facts_is_writable(finder->facts, git_dir);
}

/* POINTER, in TREE, leads to the git directory of one linked worktree. */
static int add_linked(struct finder *finder, struct str git_dir, struct str pointer)
{
	struct str common = follow(finder, git_dir, "commondir");
	struct str back = follow(finder, git_dir, "gitdir");
	bool leads_back;
	struct str place;
	int r = 0;

	if (!common.p || !is_git_dir(finder, common))
		return 0;
	place = join(finder, common, "worktrees/");
	leads_back = back.p && str_eq(back, pointer) && place.p && str_starts(git_dir, place);
	if (is_granted(finder, git_dir, leads_back))
		r = add(finder, git_dir, pointer);
	if (r == 0 && is_granted(finder, common, leads_back))
		r = add_repository(finder, common, (struct str){NULL, 0}, 0);
	return r;
}

/* POINTER, a file or a link in TREE, leads to GIT_DIR: a linked worktree, or a submodule. */
static int add_pointed_to(struct finder *finder, struct str git_dir, struct str tree,
			  struct str pointer)
{
	struct str back;

	if (is_linked_git_dir(finder, git_dir))
		return add_linked(finder, git_dir, pointer);
	if (!is_git_dir(finder, git_dir))
		return 0;
	back = work_tree_of(finder, git_dir);
	return is_granted(finder, git_dir, back.p && str_eq(back, tree))
		       ? add_repository(finder, git_dir, pointer, 0)
		       : 0;
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
		target = resolve(finder, tree, ".git");
	} else {
		text = read_text(finder, pointer, POINTER_MAX);
		if (!text || strncmp(text, "gitdir: ", 8) != 0)
			return 0;
		target = resolve(finder, tree, text + 8);
	}
	return target.p ? add_pointed_to(finder, target, tree, pointer) : 0;
}

static bool is_same_device(const char *a, const char *b)
{
	struct stat st_a, st_b;

	return stat(a, &st_a) == 0 && stat(b, &st_b) == 0 && st_a.st_dev == st_b.st_dev;
}

int facts_git(struct default_facts *facts, struct git_seen *seen, struct err *e)
{
	struct finder finder = {.facts = facts, .seen = seen, .arena = seen->way.arena, .e = e};
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
	if (r < 0 || finder.failed)
		return err_memory(e);
	facts->git = finder.found;
	facts->n_git = finder.n;
	return 0;
}
