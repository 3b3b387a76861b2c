/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/made.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum {
	MADE_MAX = 65536
};

/* Of all sets: they are small, and change seldom. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static size_t find(const struct made *made, struct str path)
{
	size_t i = 0;

	while (i < made->n && !str_is(path, made->paths[i]))
		i++;
	return i;
}

static bool grow(struct made *made)
{
	size_t cap = made->cap ? made->cap * 2 : 8;
	char **paths = realloc(made->paths, cap * sizeof(*paths));
	ino_t *inodes;

	if (!paths)
		return false;
	made->paths = paths;
	inodes = realloc(made->inodes, cap * sizeof(*inodes));
	if (!inodes)
		return false;
	made->inodes = inodes;
	made->cap = cap;
	return true;
}

static void remove_at(struct made *made, size_t i)
{
	free(made->paths[i]);
	made->n--;
	made->paths[i] = made->paths[made->n];
	made->inodes[i] = made->inodes[made->n];
}

static void remove_path(struct made *made, struct str path)
{
	size_t i = find(made, path);

	if (i < made->n)
		remove_at(made, i);
}

static void add(struct made *made, struct str path, ino_t inode)
{
	char *copy;

	remove_path(made, path);
	if (made->n == MADE_MAX || (made->n == made->cap && !grow(made)))
		return;
	copy = strndup(path.p, path.n);
	if (!copy)
		return;
	made->paths[made->n] = copy;
	made->inodes[made->n++] = inode;
}

void made_add_inode(struct made *made, struct str path, ino_t inode)
{
	(void)pthread_rwlock_wrlock(&lock);
	add(made, path, inode);
	(void)pthread_rwlock_unlock(&lock);
}

void made_add(struct made *made, struct str path)
{
	made_add_inode(made, path, 0);
}

void made_remove(struct made *made, struct str path)
{
	(void)pthread_rwlock_wrlock(&lock);
	remove_path(made, path);
	(void)pthread_rwlock_unlock(&lock);
}

void made_remove_below(struct made *made, struct str path)
{
	(void)pthread_rwlock_wrlock(&lock);
	for (size_t i = 0; i < made->n;)
		if (str_is_below(str_of(made->paths[i]), path))
			remove_at(made, i);
		else
			i++;
	(void)pthread_rwlock_unlock(&lock);
}

/* PATH, which is FROM or below it, as TO or below that. NULL: no memory. */
static char *renamed(struct str path, struct str from, struct str to)
{
	char *ret = NULL;

	return asprintf(&ret, "%.*s%.*s", (int)to.n, to.p, (int)(path.n - from.n),
			path.p + from.n) < 0
		       ? NULL
		       : ret;
}

static void move_paths(struct made *made, struct str from, struct str to,
		       bool (*matters)(struct str path))
{
	for (size_t i = 0; i < made->n;) {
		struct str path = str_of(made->paths[i]);
		char *moved = NULL;

		if (str_is_below(path, from)) {
			moved = renamed(path, from, to);
		} else if (!str_is_below(path, to)) {
			i++;
			continue;
		}
		if (!moved || (matters && !matters(str_of(moved)))) {
			free(moved);
			remove_at(made, i);
			continue;
		}
		free(made->paths[i]);
		made->paths[i++] = moved;
	}
}

void made_move(struct made *made, struct str from, struct str to, bool (*matters)(struct str path))
{
	(void)pthread_rwlock_wrlock(&lock);
	move_paths(made, from, to, matters);
	(void)pthread_rwlock_unlock(&lock);
}

bool made_has(const struct made *made, struct str path)
{
	bool ret;

	(void)pthread_rwlock_rdlock(&lock);
	ret = find(made, path) < made->n;
	(void)pthread_rwlock_unlock(&lock);
	return ret;
}

bool made_has_inode(const struct made *made, struct str path, ino_t inode)
{
	size_t i;
	bool ret;

	(void)pthread_rwlock_rdlock(&lock);
	i = find(made, path);
	ret = i < made->n && made->inodes[i] == inode;
	(void)pthread_rwlock_unlock(&lock);
	return ret;
}

void made_release(struct made *made)
{
	for (size_t i = 0; i < made->n; i++)
		free(made->paths[i]);
	free(made->paths);
	free(made->inodes);
	*made = (struct made){0};
}
