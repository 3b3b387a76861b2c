/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: the floor that holds without anybody deciding. landlock(7). */
#include "linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/quiet.h"
#include "linux/sys.h"
#include "base/banned.h"

/* Where the sandbox around us knows of us; others do not look at what they do not use. */
static long create(const void *attr, size_t size, unsigned flags, bool marked)
{
	return syscall(SYS_landlock_create_ruleset_, attr, size, flags, 0L, 0L,
		       marked ? NESTED_MARK : 0UL);
}

int landlock_abi(bool marked)
{
	long abi = create(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION_, marked);

	return abi < 0 ? 0 : (int)abi;
}

long landlock_nested(enum nested_call what, const void *bytes, size_t n)
{
	return syscall(SYS_landlock_create_ruleset_, bytes, n, NESTED_CALL_FLAGS, (long)what, 0L,
		       0L);
}

void landlock_find_outer(struct outer *ret)
{
	long facts = landlock_nested(NESTED_FACTS, NULL, 0);
	long rows = landlock_nested(NESTED_ROWS, NULL, 0);

	*ret = (struct outer){.asks = false};
	if (facts < 0 || rows < 0 ||
	    landlock_nested(NESTED_LANGUAGE, NULL, 0) != (long)nested_language())
		return;
	*ret = (struct outer){
		.asks = true,
		.classes = (unsigned)facts & 0xff,
		.scope = (unsigned)facts >> 8,
		.when = (uint64_t)rows,
	};
}

bool landlock_is_nested(void)
{
	return syscall(SYS_landlock_create_ruleset_, NULL, 0, NESTED_FLAGS) < 0 &&
	       errno == NESTED_ERRNO;
}

static int create_ruleset(const struct plan *plan)
{
	struct landlock_ruleset_attr_ attr = {
		.handled_access_fs = plan->landlock_fs,
		.handled_access_net = plan->landlock_net,
		.scoped = plan->landlock_scoped,
	};

	/* An older kernel takes the fields it does not know as long as they are zero. */
	return (int)create(&attr, sizeof(attr), 0, plan->nested);
}

static int add_rule(int ruleset, const struct landlock_path_beneath_attr_ *beneath)
{
	return (int)syscall(SYS_landlock_add_rule_, ruleset, LANDLOCK_RULE_PATH_BENEATH_, beneath,
			    0, 0L, NESTED_MARK);
}

/*
 * 0; 1: what the row is about is not there; -1 with errno. Symlinks carry no rights, neither at the
 * end of a path nor on the way: what they lead to has a row of its own or none.
 */
static int add_row(int ruleset, const struct landlock_row *row)
{
	int cleanup_fd fd =
		linux_open_plain(row->path, O_PATH | (row->directory ? O_DIRECTORY : 0));
	struct landlock_path_beneath_attr_ beneath = {.allowed_access = row->rights,
						      .parent_fd = fd};
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP
			       ? 1
			       : -1;
	/* What was said of a file may be wrong of what is in a directory that replaced it. */
	if (!row->directory && fstat(fd, &st) < 0)
		return -1;
	if (!row->directory && S_ISDIR(st.st_mode))
		return 1;
	return add_rule(ruleset, &beneath);
}

/*
 * The terminal that the command was started at has lost its name where a devpts of the session's
 * own lies over it. It is the session's as those are: opened again through /dev/stdout and the
 * like.
 */
static int add_terminals(int ruleset, const struct landlock_row *row)
{
	struct landlock_path_beneath_attr_ beneath = {.allowed_access =
							      row->rights & LL_FS_FILE_RIGHTS};

	if (strcmp(row->path, "/dev/pts") != 0)
		return 0;
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		beneath.parent_fd = fd;
		if (isatty(fd) && add_rule(ruleset, &beneath) < 0)
			return -1;
	}
	return 0;
}

int landlock_build(const struct plan *plan)
{
	int cleanup_fd ruleset = create_ruleset(plan);

	if (ruleset < 0)
		return -1;
	for (size_t i = 0; i < plan->n_rows; i++)
		if (add_row(ruleset, &plan->rows[i]) < 0 ||
		    add_terminals(ruleset, &plan->rows[i]) < 0)
			return -1;
	return fd_steal(&ruleset);
}

/* In a child: may the root directory be listed, for no other right than those to ROWS? */
static int try_root(const struct plan *plan, const struct landlock_row *rows, size_t n)
{
	struct plan only = {.landlock_fs = LL_READ_DIR, .nested = plan->nested};
	int ruleset = create_ruleset(&only);

	for (size_t i = 0; ruleset >= 0 && i < n; i++) {
		struct landlock_row row = {rows[i].path, LL_READ_DIR, .directory = true};

		if (add_row(ruleset, &row) < 0)
			return errno;
	}
	if (ruleset < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    landlock_enter(ruleset) < 0)
		return errno;
	return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 ? 0 : EACCES;
}

/* 1: it may; 0: it may not; -1 with errno. */
static int can_list_root(const struct plan *plan, const struct landlock_row *rows, size_t n)
{
	pid_t pid = quiet_fork(0);
	int r;

	if (pid == 0)
		_exit(try_root(plan, rows, n));
	r = pid < 0 ? -1 : quiet_wait(pid);
	if (r > 0)
		errno = r;
	return r == 0 ? 1 : r == EACCES ? 0 : -1;
}

int landlock_is_above_root(const struct plan *plan, const struct landlock_row *rows, size_t n)
{
	int cleanup_fd root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (root < 0) /* it cannot be listed anyway: nobody knows */
		return !plan->nested;
	/* A broker around us that judges reads opens it for anybody, and says nothing by it. */
	r = plan->nested ? can_list_root(plan, NULL, 0) : 0;
	return r ? (r < 0 ? -1 : 0) : can_list_root(plan, rows, n);
}

int landlock_enter(int ruleset)
{
	return (int)syscall(SYS_landlock_restrict_self_, ruleset, 0L, 0L, 0L, 0L, NESTED_MARK);
}
