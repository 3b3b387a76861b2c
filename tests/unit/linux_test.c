/* SPDX-License-Identifier: Apache-2.0 */
/* linux/: what the steps of a start do with a file system that is not what the plan took it for. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/linux.h"
#include "base/banned.h"

/* ---- A world: a/f, a/d/f, and links to them ---- */

static char world[] = "/tmp/linux_test.XXXXXX";

static const char *path_in(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s%s%s", world, *name ? "/" : "", name);
	return path;
}

static void make_file(const char *name)
{
	int fd = open(path_in(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && close(fd) == 0);
}

static void make_world(void)
{
	CHECK(mkdtemp(world) != NULL);
	CHECK_INT(mkdir(path_in("a"), 0700), 0);
	CHECK_INT(mkdir(path_in("a/d"), 0700), 0);
	make_file("a/f");
	make_file("a/d/f");
	CHECK_INT(symlink("a", path_in("link")), 0);
	CHECK_INT(symlink("a/f", path_in("alias")), 0);
}

static void remove_world(void)
{
	static const char *const names[] = {"alias", "link", "a/d/f", "a/f", "a/d", "a", ""};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_INT(remove(path_in(names[i])), 0);
}

/* ---- list.c ---- */

static int count(void *context, const char *name, enum entry_type type)
{
	size_t *n = context;

	(void)name;
	(void)type;
	++*n;
	return 0;
}

static void lists_plain_directories_only(void)
{
	static const struct {
		const char *name;
		int result;
		size_t n;
	} rows[] = {
		{"a", 0, 2},      {"a/d", 0, 1},    {"link", 1, 0}, /* a symlink */
		{"link/d", 1, 0},                                   /* through one */
		{"alias", 1, 0},  {"link/f", 1, 0}, {"a/f", 1, 0},  {"none", 1, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = 0;

		CHECK_INT(linux_list(NULL, path_in(rows[i].name), count, &n), rows[i].result);
		CHECK_INT(n, rows[i].n);
	}
}

/* ---- landlock.c ---- */

/* In a child under a floor of ROW alone, and of none if that says nothing: can NAME be read? */
static bool reads_under(const struct landlock_row *row, const char *name)
{
	struct landlock_row rows[] = {*row};
	const struct plan plan = {.landlock_fs = LL_READ_FILE | LL_READ_DIR,
				  .rows = rows,
				  .n_rows = row->path ? 1 : 0};
	const char *path = path_in(name);
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		int ruleset = landlock_build(&plan);

		if (ruleset < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    landlock_enter(ruleset) < 0)
			_exit(2);
		_exit(open(path, O_RDONLY | O_CLOEXEC) < 0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return status == 0;
}

/* The file system may change between the plan and the floor: here it "has". */
static void rows_are_for_what_was_planned(void)
{
	static const struct {
		const char *planned;
		bool directory;
		const char *name;
		bool granted;
	} rows[] = {{"a/d", true, "a/d/f", true},      {"a/f", false, "a/f", true},
		    {"a", true, "a/d/f", true},        {"link/d", true, "a/d/f", false},
		    {"link", true, "a/d/f", false},    {"link/f", false, "a/f", false},
		    {"alias", false, "a/f", false},    {"a/d", false, "a/d/f", false},
		    {"a/f", true, "a/f", false},       {"none", true, "a/f", false},
		    {"link/none", false, "a/f", false}};

	if (landlock_abi(false) == 0)
		SKIP("this kernel has no Landlock");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char planned[128];
		struct landlock_row row = {
			.path = planned, .rights = LL_READ_FILE, .directory = rows[i].directory};

		(void)snprintf(planned, sizeof(planned), "%s", path_in(rows[i].planned));
		if (reads_under(&row, rows[i].name) != rows[i].granted) {
			printf("# the row for %s and reading %s\n", rows[i].planned, rows[i].name);
			test_failures_here++;
		}
		row.path = NULL;
		CHECK(!reads_under(&row, rows[i].name)); /* it is the row that grants */
	}
}

/* ---- plain.c ---- */

static void outer_sandboxes_may_refuse_openat2(void)
{
	const struct bpf_insn filter[] = {
		{0x20, 0, 0, offsetof(struct seccomp_call, nr)},
		{0x15, 0, 1, SYS_openat2},
		{0x06, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
		{0x06, 0, 0, SECCOMP_RET_ALLOW},
	};
	struct stat st;
	int fd = -1;

	CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_INT(seccomp_install(filter, sizeof(filter) / sizeof(filter[0]), false), 0);
	CHECK(syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0) < 0 && errno == ENOSYS);
	lists_plain_directories_only();
	rows_are_for_what_was_planned();
	fd = linux_open_plain("/", O_PATH | O_DIRECTORY);
	CHECK(fd >= 0 && close(fd) == 0);
	fd = linux_open_plain(path_in("alias"), O_PATH | O_NOFOLLOW);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode) && close(fd) == 0);
	CHECK(linux_open_plain(path_in("alias"), O_PATH) < 0 && errno == ELOOP);
}

int main(void)
{
	make_world();
	RUN(lists_plain_directories_only);
	RUN(rows_are_for_what_was_planned);
	RUN(outer_sandboxes_may_refuse_openat2);
	remove_world();
	return test_done();
}
