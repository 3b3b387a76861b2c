/* SPDX-License-Identifier: Apache-2.0 */
/* From a row's words to a deed: which act, on what, by whom. */
#include "live/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "live/world.h"
#include "base/banned.h"

__attribute__((format(printf, 2, 3))) static bool refuse(struct job *job, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(job->why, sizeof(job->why), format, ap);
	va_end(ap);
	return false;
}

static bool starts(const char *text, const char *prefix)
{
	return str_starts(str_of(text), str_of(prefix));
}

/* ---- Paths ---- */

static bool is_below(const char *path, const char *dir)
{
	return str_is_below(str_of(path), str_of(dir)) && strlen(path) > strlen(dir);
}

/* Can an object have this path? */
static bool is_possible(const char *path)
{
	bool fits = strlen(path) < PATH_MAX;

	for (const char *at = path; *at && fits; at += *at == '/') {
		size_t n = strcspn(at, "/");

		fits = n <= NAME_MAX;
		at += n;
	}
	return fits && path_is_canonical(str_of(path));
}

/*
 * Replaces the symbolic link that is the first N bytes of PATH by what it says. False: the outcome
 * is no path of this kind.
 */
static bool follow(char path[PATH_MAX], size_t n)
{
	char link[PATH_MAX], text[PATH_MAX], whole[3 * PATH_MAX];
	ssize_t length;
	size_t at = 0;

	(void)snprintf(link, sizeof(link), "%.*s", (int)n, path);
	length = readlink(link, text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	while (n > 0 && path[n - 1] != '/')
		n--;
	(void)snprintf(whole, sizeof(whole), "%.*s%s%s", text[0] == '/' ? 0 : (int)n, path, text,
		       path + strlen(link));
	/* Without empty components, "." and "..": what is before them is followed already. */
	for (const char *word = whole; *word;) {
		size_t size = strcspn(word, "/");

		if (size == 2 && word[0] == '.' && word[1] == '.') {
			while (at > 0 && path[--at] != '/')
				;
		} else if (size > 0 && !(size == 1 && word[0] == '.')) {
			if (at + size + 1 >= PATH_MAX)
				return false;
			path[at++] = '/';
			memcpy(path + at, word, size);
			at += size;
		}
		word += size;
		word += *word == '/';
	}
	path[at] = '\0';
	return at > 0;
}

/* Where PATH leads on this machine, its last component followed too if LAST. */
static bool resolve(char path[PATH_MAX], bool last)
{
	enum {
		LINKS_MAX = 40
	};

	for (int i = 0; i < LINKS_MAX; i++) {
		size_t n = 0;
		struct stat st;

		for (;;) { /* to the first link */
			char prefix[PATH_MAX];

			n += 1 + strcspn(path + n + 1, "/");
			if (!path[n] && !last)
				return true;
			(void)snprintf(prefix, sizeof(prefix), "%.*s", (int)n, path);
			if (lstat(prefix, &st) < 0)
				return true; /* from here on nothing is there */
			if (S_ISLNK(st.st_mode))
				break;
			if (!path[n])
				return true;
		}
		if (!follow(path, n))
			return false;
	}
	return false;
}

/* ---- What it is ---- */

static enum kind kind_of(const char *path)
{
	static const struct {
		mode_t type;
		enum kind kind;
	} rows[] = {
		{S_IFREG, KIND_FILE},  {S_IFDIR, KIND_DIRECTORY}, {S_IFLNK, KIND_SYMLINK},
		{S_IFIFO, KIND_FIFO},  {S_IFSOCK, KIND_SOCKET},   {S_IFCHR, KIND_CHARACTER},
		{S_IFBLK, KIND_BLOCK},
	};
	struct stat st;

	if (lstat(path, &st) == 0)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if ((st.st_mode & S_IFMT) == rows[i].type)
				return rows[i].kind;
	return KIND_NONE;
}

/* Does another row name something below PATH? */
static bool has_rows_below(const struct live_case *tested, const char *path)
{
	for (size_t i = 0; i < tested->n_rows; i++)
		if (tested->rows[i] && tested->rows[i][0] && tested->rows[i][1] &&
		    is_below(tested->rows[i][1], path))
			return true;
	return false;
}

static enum kind usual_kind(const struct job *job, const char *path)
{
	unsigned kinds = job->act->kinds;
	enum kind there = job->act->flags & ACT_MAKES ? KIND_NONE : kind_of(path);
	enum kind kind = KIND_FILE;

	if (job->tried) {
		while (job->tried & (1u << kind) || !(kinds & (1u << kind)))
			kind++;
		return kind;
	}
	if (there != KIND_NONE && (kinds & (1u << there)))
		return there;
	if ((kinds & KIND(DIRECTORY)) && has_rows_below(job->tested, path))
		return KIND_DIRECTORY;
	if ((kinds & KIND(CHARACTER)) && is_below(path, "/dev") && !is_below(path, "/dev/shm"))
		return KIND_CHARACTER;
	while (!(kinds & (1u << kind)))
		kind++;
	return kind;
}

/* As little as the owner needs: a row that says nothing of modes is about none of the others. */
static unsigned usual_mode(const struct job *job)
{
	const struct deed *deed = &job->deed;
	struct stat st;

	if (job->act->flags & ACT_SETS_MODE)
		return deed->kind == KIND_DIRECTORY ? 02755 : 04755;
	if (job->act->flags & ACT_NET)
		return 0777; /* bind(2) makes it so */
	if (deed->kind == KIND_CHARACTER)
		return 0666;
	if ((is_below(deed->path, "/proc") || is_below(deed->path, "/sys") ||
	     job->live->folder[0]) &&
	    lstat(deed->path, &st) == 0)
		return st.st_mode & 07777;
	return deed->kind == KIND_DIRECTORY || (job->act->flags & ACT_EXEC) ? 0700 : 0600;
}

/* The path of an object that rows call by another name. */
static bool path_of_name(struct job *job, char path[PATH_MAX])
{
	const char *operation = job->asked.operation, *name = job->asked.object;
	bool semaphore = starts(operation, "ipc-posix-sem");

	if (strcmp(operation, "pseudo-tty") == 0) {
		(void)snprintf(path, PATH_MAX, "/dev/ptmx");
		return true;
	}
	if (!name)
		return refuse(job, "the row names no object");
	if (starts(operation, "ipc-posix-")) {
		name += name[0] == '/';
		if (!*name || strchr(name, '/') || strlen(name) > NAME_MAX - 4)
			return refuse(job, "no object of /dev/shm has this name");
		(void)snprintf(path, PATH_MAX, "/dev/shm/%s%s", semaphore ? "sem." : "", name);
	} else if (starts(operation, "sysctl-")) {
		(void)snprintf(path, PATH_MAX, "/proc/sys/%.4000s", name);
		for (char *at = path + strlen("/proc/sys/"); (at = strchr(at, '.'));)
			*at = '/';
		if (kind_of(path) != KIND_FILE)
			return refuse(job, "there is no %s", path);
	} else if (!is_possible(name)) {
		return refuse(job, "no object has this path");
	} else {
		(void)snprintf(path, PATH_MAX, "%s", name);
	}
	return true;
}

/* For what is the host's, in a world or for want of one: it is not made, and not changed. */
static bool check_hosts(struct job *job)
{
	const char *path = job->deed.path;
	bool outside = job->live->folder[0];
	bool opens = job->act->run == act_read || job->act->run == act_write;
	bool file = job->deed.kind == KIND_FILE || job->deed.kind == KIND_DIRECTORY;
	const char *what = NULL;

	if (job->act->flags & ACT_MAKES)
		what = "it cannot be made there";
	else if (kind_of(path) == KIND_NONE)
		what = "it is not there";
	else if (kind_of(path) != job->deed.kind)
		what = "what is there is something else";
	else if (!(job->act->flags & ACT_HARMLESS) && (outside || job->act->run != act_write))
		what = "nothing of the host's is changed";
	else if (opens && !file)
		what = "the host's devices are not opened";
	if (!what)
		return true;
	return outside ? refuse(job, "%s, and %s", what, job->live->no_worlds)
		       : refuse(job, "%s", what);
}

/* Places where not everything can be made. */
static bool check_place(struct job *job)
{
	const char *path = job->deed.path;

	if (str_is_below(str_of(path), STR("/proc/self")) ||
	    str_is_below(str_of(path), STR("/proc/thread-self")))
		return refuse(job, "it is another process for everybody");
	if (str_is_below(str_of(path), STR(WORLD_KIT)))
		return refuse(job, "that is where we keep what is ours");
	if (is_below(path, "/proc") || is_below(path, "/sys") || job->live->folder[0])
		return check_hosts(job);
	return true;
}

static bool cast_object(struct job *job)
{
	const struct act *act = job->act;
	struct deed *deed = &job->deed;
	bool links = (act->flags & ACT_LINKS) || job->asked.kind == KIND_SYMLINK;

	if (!path_of_name(job, deed->path))
		return false;
	if (is_below(deed->path, "/dev/shm") && starts(job->asked.operation, "file-"))
		return refuse(job, "shared memory is asked for by ipc-posix-* alone");
	if (!is_below(deed->path, "/dev") && !is_below(deed->path, "/proc/self") &&
	    !resolve(deed->path, !links))
		return refuse(job, "its symbolic links lead nowhere");
	deed->kind = job->asked.has_kind ? job->asked.kind : usual_kind(job, deed->path);
	if (!(act->kinds & (1u << deed->kind)))
		return refuse(job, "%s is not for %s", act->call,
			      words_kind(deed->kind) + strlen("vnode-type="));
	deed->mode = job->asked.has_mode ? job->asked.mode : usual_mode(job);
	if (strlen(deed->path) + sizeof(".lapbelt") > PATH_MAX)
		return refuse(job, "its path is too long");
	(void)snprintf(deed->other, sizeof(deed->other), "%.4000s.lapbelt", deed->path);
	return check_place(job);
}

/* ---- Addresses ---- */

static bool cast_address(struct job *job)
{
	struct asked *asked = &job->asked;

	if (!asked->object)
		return refuse(job, "the row names no address");
	job->deed.address = asked->address;
	job->deed.udp = asked->udp;
	if (asked->udp && job->act->run == act_listen)
		return refuse(job, "nothing listens over UDP");
	if (asked->has_local && job->act->run != act_connect)
		return refuse(job, "its own end is named already");
	if (asked->has_local && asked->local.name.ss_family != asked->address.name.ss_family)
		return refuse(job, "its ends are of different families");
	return true;
}

/* ---- Processes ---- */

static bool cast_signal(struct job *job)
{
	static const struct {
		unsigned targets;
		enum who who;
	} rows[] = {
		{TARGET_SELF, WHO_SELF},
		{TARGET_CHILDREN, WHO_CHILD},
		{TARGET_CHILDREN | TARGET_SAME_SANDBOX, WHO_CHILD},
		{TARGET_CHILDREN | TARGET_GROUP, WHO_GROUP_CHILD},
		{TARGET_CHILDREN | TARGET_GROUP | TARGET_SAME_SANDBOX, WHO_GROUP_CHILD},
		{TARGET_SAME_SANDBOX, WHO_PARENT},
		{TARGET_SAME_SANDBOX | TARGET_GROUP, WHO_GROUP_PARENT},
		{TARGET_OTHERS, WHO_OUTSIDER},
		{TARGET_OTHERS | TARGET_GROUP, WHO_MATE},
	};

	job->deed.signal = job->asked.has_signal ? job->asked.signal : SIGURG;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].targets == job->asked.targets)
			job->deed.who = rows[i].who;
	return job->deed.who != WHO_NOBODY ||
	       refuse(job, "the row names no process, or none that there can be");
}

/* ---- The whole ---- */

static const struct act *find_act(const char *operation)
{
	for (size_t i = 0; i < n_acts; i++)
		if (strcmp(acts[i].operation, operation) == 0)
			return &acts[i];
	return NULL;
}

static bool explain_no_act(struct job *job)
{
	const char *operation = job->asked.operation;
	size_t n = strlen(operation);

	if (strcmp(operation, "default") == 0 || operation[n - 1] == '*')
		return refuse(job, "nothing asks for %s itself", operation);
	return refuse(job, "%s has no act on Linux", operation);
}

bool cast_act(struct job *job)
{
	struct deed *deed = &job->deed;
	bool by_address;

	job->act = find_act(job->asked.operation);
	if (!job->act)
		return explain_no_act(job);
	*deed = (struct deed){.act = (unsigned)(job->act - acts), .socket = -1};
	(void)snprintf(deed->xattr, sizeof(deed->xattr), "%s",
		       job->asked.xattr ? job->asked.xattr : "user.lapbelt");
	by_address = job->asked.address.length > 0 ||
		     ((job->act->flags & ACT_NET) && !job->asked.object);
	if (by_address)
		return cast_address(job);
	if (job->act->run == act_signal)
		return cast_signal(job);
	if (job->act->kinds && !cast_object(job))
		return false;
	if (job->asked.has_local)
		return refuse(job, "a socket by path has one name");
	return true;
}
