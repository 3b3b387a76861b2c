/* SPDX-License-Identifier: Apache-2.0 */
/* Facts over real directories: home is WORLD/home, the project WORLD/home/p. */
#ifndef UNIT_FACTS_WORLD_H
#define UNIT_FACTS_WORLD_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"
#include "test.h"

static char world[PATH_MAX];
static struct arena arena;
static struct default_facts facts;
static struct err error;

/* ---- The world ---- */

/* WORLD/NAME. The result lives until eight more have been asked for. */
__attribute__((format(printf, 1, 2))) static inline const char *at(const char *format, ...)
{
	static char slots[8][PATH_MAX * 2];
	static unsigned next;
	char *slot = slots[next++ % 8];
	int n = snprintf(slot, sizeof(slots[0]), "%s/", world);
	va_list ap;

	va_start(ap, format);
	vsnprintf(slot + n, sizeof(slots[0]) - (size_t)n, format, ap);
	va_end(ap);
	return slot;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void make_directory(const char *name)
{
	char path[PATH_MAX * 2];

	snprintf(path, sizeof(path), "%s", at("%s", name));
	for (char *p = path + strlen(world) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
	CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
}

static inline void make_file(const char *name, const char *text)
{
	int fd = open(at("%s", name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static inline void make_link(const char *target, const char *name)
{
	CHECK_INT(symlink(target, at("%s", name)), 0);
}

/* A directory that git would take for a repository's. */
static inline void make_git_dir(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/objects", name);
	make_directory(path);
	snprintf(path, sizeof(path), "%s/refs", name);
	make_directory(path);
	snprintf(path, sizeof(path), "%s/HEAD", name);
	make_file(path, "ref: refs/heads/main\n");
}

static inline void go(const char *name)
{
	CHECK_INT(chdir(at("%s", name)), 0);
}

static inline void world_begin(void)
{
	const char *base = getenv("TMPDIR");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/facts-XXXXXX", base ? base : "/tmp");
	CHECK(mkdtemp(path) != NULL);
	CHECK(realpath(path, world) != NULL);
	clearenv();
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	setenv("HOME", at("home"), 1);
	setenv("XDG_RUNTIME_DIR", at("run"), 1);
	make_directory("home/p");
	go("home/p");
}

static inline void world_end(void)
{
	CHECK_INT(chdir("/"), 0);
	CHECK_INT(nftw(world, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	arena_release(&arena);
}

/* ---- What was found ---- */

static inline int find(void)
{
	return session_facts(TARGET_LINUX, NULL, &arena, &facts, &error);
}

static inline const struct git_dir *git_dir(const char *name)
{
	for (size_t i = 0; i < facts.n_git; i++)
		if (str_is(facts.git[i].path, at("%s", name)))
			return &facts.git[i];
	return NULL;
}

/* Is git directory NAME known, led to by POINTER ("": by none)? */
static inline bool has_git(const char *name, const char *pointer)
{
	const struct git_dir *found = git_dir(name);

	return found && str_is(found->work_tree_pointer, *pointer ? at("%s", pointer) : "");
}

static inline bool has_secret(const char *path)
{
	for (size_t i = 0; i < facts.n_secrets; i++)
		if (str_is(facts.secrets[i], path))
			return true;
	return false;
}

/* Are these all of LIST, in any order? Each is below the world; "" ends the names. */
static inline bool are_all(const struct str *list, size_t n, const char *const *names)
{
	size_t k = 0;

	for (; *names[k]; k++) {
		bool found = false;

		for (size_t i = 0; i < n; i++)
			found |= str_is(list[i], at("%s", names[k]));
		if (!found)
			return false;
	}
	return k == n;
}

static inline bool has_obeyed(const char *const *names)
{
	bool all = are_all(facts.obeyed, facts.n_obeyed, names);

	for (size_t i = 0; !all && i < facts.n_obeyed; i++)
		printf("# obeyed: %s\n", facts.obeyed[i].p);
	return all;
}

#endif
