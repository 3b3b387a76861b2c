/* SPDX-License-Identifier: Apache-2.0 */
#include "session/mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/map.h"
#include "base/banned.h"

enum {
	TEXT_MAX = 16 << 20,
};

/* ---- proc_pid_mountinfo(5) ---- */

/* The byte that the three octal digits at TEXT are, or -1. */
static int octal_byte(const char *text)
{
	int byte = 0;

	for (int i = 0; i < 3; i++) {
		if (text[i] < '0' || text[i] > '7')
			return -1;
		byte = byte * 8 + text[i] - '0';
	}
	return byte;
}

/* The next word of *LINE, in place; spaces and the like stand there as three octal digits. */
static struct str next_word(char **line)
{
	char *word = strsep(line, " "), *end = word;

	if (!word)
		return STR("");
	for (const char *p = word; *p; p++) {
		int byte = *p == '\\' ? octal_byte(p + 1) : -1;

		*end++ = (char)(byte < 0 ? *p : byte);
		p += byte < 0 ? 0 : 3;
	}
	return (struct str){word, (size_t)(end - word)};
}

/* LAST: of each device, 1 + the index of its last mount. */
static int add_mount(struct mounts *mounts, struct map *last, struct mounted *mount)
{
	struct mounted *list =
		arena_grow(last->arena, mounts->list, mounts->n, &mounts->cap, sizeof(*list));

	if (!list)
		return -ERR_MEMORY;
	mounts->list = list;
	mount->before = (size_t)(uintptr_t)map_get(last, mount->device);
	list[mounts->n++] = *mount;
	return map_put(last, mount->device, (void *)(uintptr_t)mounts->n); /* NOLINT */
}

/* 36 35 98:0 /root /point ... */
static int add_line(struct mounts *mounts, struct map *last, char *line)
{
	struct mounted mount = {.again = false};

	(void)next_word(&line);
	(void)next_word(&line);
	mount.device = next_word(&line);
	mount.root = next_word(&line);
	mount.point = next_word(&line);
	return mount.point.n ? add_mount(mounts, last, &mount) : 0;
}

/* ---- Names ---- */

/* The mount that PATH is in. NULL: none. */
static const struct mounted *mount_of(const struct mounts *mounts, struct str path)
{
	const struct mounted *ret = NULL;

	for (const struct mounted *m = mounts->list; m < mounts->list + mounts->n; m++)
		if (str_is_below(path, m->point) && (!ret || m->point.n >= ret->point.n))
			ret = m;
	return ret;
}

/* What follows DIRECTORY, "/" or not, in PATH below it: with a slash in front, or nothing. */
static struct str tail_of(struct str path, struct str directory)
{
	size_t n = directory.n == 1 ? 0 : directory.n;

	return path.n == 1 ? STR("") : (struct str){path.p + n, path.n - n};
}

/* DIRECTORY/TAIL into BUFFER[PATH_MAX]; false: too long. */
static bool join(char *buffer, struct str directory, struct str tail)
{
	struct str head = directory.n == 1 && tail.n ? STR("") : directory;
	int n = snprintf(buffer, PATH_MAX, "%.*s%.*s", (int)head.n, head.p, (int)tail.n, tail.p);

	return n >= 0 && n < PATH_MAX;
}

/* Where PATH is on its device, into BUFFER. NULL: nobody knows; else its mount. */
static const struct mounted *find_on_device(const struct mounts *mounts, struct str path,
					    char *buffer)
{
	const struct mounted *mount = mount_of(mounts, path);

	if (!mount || !join(buffer, mount->root, tail_of(path, mount->point)))
		return NULL;
	return mount;
}

/* The name of INNER, on the device of MOUNT, by that mount, into BUFFER: if it is seen there. */
static bool name_by(const struct mounts *mounts, const struct mounted *mount, struct str inner,
		    char *buffer)
{
	return str_is_below(inner, mount->root) &&
	       join(buffer, mount->point, tail_of(inner, mount->root)) &&
	       mount_of(mounts, str_of(buffer)) == mount;
}

/* ---- What is mounted twice ---- */

/* Can something be reached by both? Not where others lie over it. */
static bool overlap(const struct mounts *mounts, const struct mounted *a, const struct mounted *b)
{
	char name[PATH_MAX];
	struct str root = str_is_below(a->root, b->root) ? a->root : b->root;

	return name_by(mounts, a, root, name) && name_by(mounts, b, root, name);
}

static void find_again(struct mounts *mounts)
{
	struct mounted *list = mounts->list;

	for (struct mounted *m = list; m < list + mounts->n; m++) {
		for (size_t i = m->before; i && !m->again; i = list[i - 1].before)
			m->again = overlap(mounts, m, &list[i - 1]);
		mounts->any_again |= m->again;
	}
}

int mounts_parse(struct mounts *ret, struct str text, struct arena *arena, struct err *e)
{
	struct map last = {.arena = arena};
	char *rest = arena_strdup(arena, text), *line;
	int r = rest ? 0 : -ERR_MEMORY;

	*ret = (struct mounts){0};
	while (r == 0 && (line = strsep(&rest, "\n")))
		r = add_line(ret, &last, line);
	find_again(ret);
	return r < 0 ? err_memory(e) : 0;
}

int mounts_read(struct mounts *ret, struct arena *arena, struct err *e)
{
	struct buf text = {0};
	int r = 0;

	*ret = (struct mounts){0};
	if (io_read_file(AT_FDCWD, "/proc/self/mountinfo", &text, TEXT_MAX) == 0)
		r = mounts_parse(ret, (struct str){text.p, text.n}, arena, e);
	buf_release(&text);
	return r;
}

int mounts_add_names(const struct mounts *mounts, struct str path, struct paths *ret, struct err *e)
{
	char inner[PATH_MAX], name[PATH_MAX];
	const struct mounted *mount;

	if (!mounts->any_again)
		return 0;
	mount = find_on_device(mounts, path, inner);
	for (size_t i = 0; mount && i < mounts->n; i++) {
		const struct mounted *other = &mounts->list[i];
		const char *copy = NULL;

		if (other == mount || !str_eq(other->device, mount->device))
			continue;
		if (name_by(mounts, other, str_of(inner), name))
			copy = arena_strdup(ret->arena, str_of(name));
		else if (str_is_below(other->root, str_of(inner)))
			copy = arena_strdup(ret->arena, other->point);
		else
			continue;
		if (!copy)
			return err_memory(e);
		if (paths_add_once(ret, str_of(copy), e) < 0)
			return -ERR_MEMORY;
	}
	return 0;
}

static bool is_again(const struct mounts *mounts, struct str path)
{
	for (size_t i = 0; i < mounts->n; i++)
		if (mounts->list[i].again && str_is_below(path, mounts->list[i].point))
			return true;
	return false;
}

bool mounts_is_apart(const struct mounts *mounts, struct str path)
{
	const struct mounted *mount = mount_of(mounts, path);

	return !mount || mount != mount_of(mounts, STR("/"));
}

bool mounts_is_above(const struct mounts *mounts, struct str path)
{
	for (size_t i = 0; i < mounts->n_above; i++)
		if (str_eq(mounts->above[i], path))
			return true;
	return false;
}

bool mounts_first_name(void *context, const char *path, char *buffer)
{
	const struct mounts *mounts = context;
	const struct mounted *mount;
	char inner[PATH_MAX];

	if (mounts_is_above(mounts, str_of(path)))
		return join(buffer, STR("/"), STR(""));
	if (!is_again(mounts, str_of(path)))
		return false;
	mount = find_on_device(mounts, str_of(path), inner);
	for (const struct mounted *first = mounts->list; mount && first < mount; first++)
		if (str_eq(first->device, mount->device) &&
		    name_by(mounts, first, str_of(inner), buffer))
			return true;
	return false;
}
