/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock rows over a file system that is a table. */
#include "plan_fixture.h"

/* No program is started, so no read has to be let through to exec(2). */
#define READ_ONLY "(deny default) (allow file-read*)"

static bool decide(const struct policy *policy, enum op op, const char *path)
{
	struct request request = {.op = op, .path = str_of(path)};
	struct decision decision;

	policy_decide(policy, &request, &decision);
	return decision.verdict == VERDICT_ALLOW;
}

/* ---- Floor ---- */

static void floor_of_everything(void)
{
	struct fixture f;

	plan_of(&f, "(allow default)");
	CHECK_INT(f.plan.n_rows, 1);
	CHECK_INT(rights_of(&f, "/"), f.plan.landlock_fs);
	CHECK_INT(f.plan.landlock_fs, landlock_fs_handled(7));
	CHECK_INT(f.plan.landlock_net, 0);
	CHECK_INT(f.plan.brokered, BROKER_ATTR); /* setuid bits stay denied */
	CHECK_INT(f.plan.ns, 0);
	CHECK(!plan_refusal(&f.plan));
	fixture_close(&f);
}

static void floor_of_nothing(void)
{
	struct fixture f;

	plan_of(&f, "(deny default)");
	CHECK_INT(f.plan.n_rows, 0);
	CHECK(!(f.plan.brokered & (BROKER_READ | BROKER_WRITE | BROKER_EXEC | BROKER_INET)));
	CHECK_INT(f.plan.landlock_net, LL_NET_BIND_TCP | LL_NET_CONNECT_TCP);
	fixture_close(&f);
}

static void floor_around_a_secret(void)
{
	struct fixture f;

	plan_of(&f, READABLE "(deny file-read* (subpath \"/home/u/.ssh\"))");
	CHECK(!grants(&f, "/home/u/.ssh/id", LL_READ_FILE));
	CHECK(!grants(&f, "/home/u/.ssh/new", LL_READ_FILE));
	CHECK(grants(&f, "/home/u/.netrc", LL_READ_FILE));
	CHECK(grants(&f, "/home/u/p/.git/config", LL_READ_FILE));
	CHECK(grants(&f, "/home/u/p/not-there-yet", LL_READ_FILE));
	CHECK(grants(&f, "/etc/passwd", LL_READ_FILE));
	CHECK(grants(&f, "/home", LL_READ_DIR));
	CHECK(grants(&f, "/usr/bin/cc", LL_EXECUTE));
	CHECK_INT(rights_of(&f, "/"), LL_READ_DIR | LL_EXECUTE);
	CHECK(!row_of(&f, "/bin"));
	CHECK(!row_of(&f, "/home/u/link"));
	CHECK(!row_of(&f, "/home/u"));
	CHECK(!(f.plan.brokered & BROKER_READ));
	CHECK(gap_about(&f, "later") && strstr(gap_about(&f, "later")->text, "/home/u"));
	CHECK(mount_of(&f, MOUNT_HIDE, "/home/u/.ssh"));
	fixture_close(&f);
}

/* Landlock knows files, not names. */
static void floor_tells_of_replaced_files(void)
{
	struct fixture f;

	plan_of(&f, "(deny default) (allow file-read* (literal \"/etc/passwd\"))");
	CHECK(row_of(&f, "/etc/passwd"));
	CHECK(gap_about(&f, "later") && strstr(gap_about(&f, "later")->text, "/etc"));
	fixture_close(&f);
	plan_of(&f, "(deny default) (allow file-read* (subpath \"/etc\") (literal \"/dev/null\"))");
	CHECK(!gap_about(&f, "later"));
	fixture_close(&f);
}

static const char *first;

static bool name_first(void *context, const char *path, char *buffer)
{
	const char second[] = "/tmp/own";

	if (context || !str_is_below(str_of(path), str_of(second)))
		return false;
	(void)snprintf(buffer, PLAN_PATH_MAX, "%s%s", first, path + strlen(second));
	return true;
}

static void floor_of_what_is_mounted_twice(void)
{
	static const char *const names[] = {"/usr/bin", "/home/u/.ssh", "/home/u", NULL};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct fixture f;

		first = names[i];
		fixture_open(&f, READ_ONLY
			     "(deny file-read* (subpath \"/home/u/.ssh\") (literal \"/tmp/x\"))");
		f.input.first_name = first ? name_first : NULL;
		CHECK_INT(fixture_plan(&f), 0);
		CHECK_INT(grants(&f, "/tmp/own/file", LL_READ_FILE), i == 0 || !first);
		CHECK(grants(&f, "/tmp/keep/file", LL_READ_FILE));
		CHECK_INT(gap_about(&f, "mounted a second time here is refused") != NULL, i == 1);
		fixture_close(&f);
	}
}

/* What may be moved freely by one name, and by the other would get round a rule. */
static void floor_moves_nothing_that_is_mounted_twice(void)
{
	static const char *const names[] = {"/home/u", "/usr/bin", NULL};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct fixture f;

		first = names[i];
		fixture_open(&f, "(allow default) (deny file-read-xattr (subpath "
				 "\"/home/u/.ssh\") (literal \"/tmp/x\"))");
		f.input.first_name = first ? name_first : NULL;
		CHECK_INT(fixture_plan(&f), 0);
		CHECK_INT(grants(&f, "/tmp/own/file", LL_MAKE_REG), i > 0);
		CHECK_INT(grants(&f, "/tmp/own/file", LL_REFER), i > 0);
		CHECK(grants(&f, "/tmp/own/file", LL_READ_FILE | LL_WRITE_FILE));
		CHECK(grants(&f, "/tmp/keep/file", LL_MAKE_REG | LL_REFER));
		fixture_close(&f);
	}
}

static void floor_around_a_prefix(void)
{
	struct fixture f;

	plan_of(&f, READABLE "(deny file-read* (prefix \"/home/u/.cargo/credentials\"))");
	CHECK(!grants(&f, "/home/u/.cargo/credentials.toml", LL_READ_FILE));
	CHECK(grants(&f, "/home/u/.cargo/config", LL_READ_FILE));
	CHECK(row_of(&f, "/home/u/.cargo/config"));
	CHECK(!(f.plan.brokered & BROKER_READ));
	fixture_close(&f);
}

static void floor_of_few_trees(void)
{
	unsigned listed = 0;
	struct fixture f;

	fixture_open(&f,
		     "(deny default) (allow file-read* (literal \"/\") (subpath \"/usr/lib\"))");
	f.input.list_context = &listed;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(grants(&f, "/usr/lib/ld.so", LL_READ_FILE | LL_READ_DIR));
	CHECK(!grants(&f, "/usr/bin/cc", LL_READ_FILE));
	CHECK(!grants(&f, "/home", LL_READ_DIR));
	CHECK(gap_about(&f, "cannot be listed: /"));
	CHECK_INT(f.plan.n_rows, 1);
	CHECK(listed <= 4); /* "/" and "/usr", no walk */
	fixture_close(&f);
}

static void floor_gives_way_to_regexes(void)
{
	struct fixture f;

	plan_of(&f, READ_ONLY "(deny file-read* (regex #\"\\.pem$\"))");
	CHECK(f.plan.brokered & BROKER_READ);
	CHECK(!grants(&f, "/home/u/p/key.pem", LL_READ_FILE));
	CHECK(!grants(&f, "/home", LL_READ_DIR)); /* listing is judged, too */
	fixture_close(&f);
	/* One tree is out of the regex's reach. */
	plan_of(&f, READ_ONLY "(deny file-read* (regex #\"^/home/.*\\.pem$\"))");
	CHECK(f.plan.brokered & BROKER_READ);
	CHECK(grants(&f, "/usr/bin/cc", LL_READ_FILE));
	CHECK(!grants(&f, "/home/u/p/a.c", LL_READ_FILE));
	fixture_close(&f);
}

/* exec(2) takes READ_FILE: where only the broker could tell, it alone bounds reads. */
static void floor_lets_exec_read(void)
{
	struct fixture f;

	plan_of(&f, READABLE "(deny file-read* (regex #\"^/home/u/p/.*\\.pem$\"))");
	CHECK(f.plan.brokered & BROKER_READ);
	CHECK(!f.plan.floor_bounds_open);
	CHECK(grants(&f, "/home/u/p/a.c", LL_READ_FILE | LL_EXECUTE));
	fixture_close(&f);
	plan_of(&f, READABLE "(allow file-write* (subpath \"/home/u/p\"))"
			     "(deny file-read* (literal \"/home/u/p/key.pem\"))");
	CHECK(f.plan.brokered & BROKER_READ);
	CHECK(!f.plan.floor_bounds_open);
	CHECK(grants(&f, "/home/u/p/a.out", LL_READ_FILE | LL_EXECUTE));
	f.caps.notify = f.caps.userns = false; /* nobody would judge */
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!grants(&f, "/home/u/p/key.pem", LL_READ_FILE));
	fixture_close(&f);
	plan_of(&f, READABLE "(deny file-read* (subpath \"/home/u/.ssh\"))"); /* the control */
	CHECK(f.plan.floor_bounds_open);
	f.caps.landlock_abi = 2; /* O_TRUNC is not bounded */
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!f.plan.floor_bounds_open);
	fixture_close(&f);
}

/* openat2(2) has its mode in memory, and Landlock does not look at modes. */
static void floor_bounds_modes_in_memory(void)
{
	static const struct {
		const char *profile;
		bool bounds_open, bounds_openat2;
	} rows[] = {
		/* Nothing can be made but by the broker. */
		{READ_ONLY "(deny file-read* (regex #\"\\.pem$\"))", true, true},
		/* Files can be made, with any bits. */
		{READ_ONLY "(allow file-write* (subpath \"/home/u/p\"))"
			   "(deny file-write-setugid)",
		 true, false},
		{READ_ONLY "(allow file-write* (subpath \"/home/u/p\"))"
			   "(allow file-write-setugid)",
		 true, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;

		plan_of(&f, rows[i].profile);
		CHECK_INT(f.plan.floor_bounds_open, rows[i].bounds_open);
		CHECK_INT(f.plan.floor_bounds_openat2, rows[i].bounds_openat2);
		fixture_close(&f);
	}
}

/* A private /tmp that no mount could make: our folder in the shared one. */
static void floor_of_a_scratch_folder(void)
{
	static const struct str keep = {"/tmp/keep", 9};
	struct fixture f;

	fixture_open(&f, READABLE "(allow file-write* (subpath \"/tmp\"))");
	f.caps.userns = false;
	f.input.private_scope = SCOPE_TMP;
	f.input.scratch = STR("/tmp/own");
	f.input.keep = &keep;
	f.input.n_keep = 1;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(grants(&f, "/tmp/own/new", LL_READ_FILE | LL_WRITE_FILE));
	CHECK(grants(&f, "/tmp/own", LL_MAKE_REG | LL_REFER));
	CHECK(grants(&f, "/tmp/keep/x", LL_READ_FILE));
	CHECK(!grants(&f, "/tmp/x", LL_READ_FILE));
	CHECK(!grants(&f, "/tmp/x", LL_WRITE_FILE));
	CHECK(!grants(&f, "/tmp", LL_MAKE_REG));
	CHECK(grants(&f, "/etc/passwd", LL_READ_FILE));
	CHECK(!(f.plan.brokered & (BROKER_READ | BROKER_WRITE)));
	f.input.scratch = STR(""); /* the control: all of /tmp */
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(grants(&f, "/tmp/x", LL_READ_FILE | LL_WRITE_FILE));
	fixture_close(&f);
	fixture_open(&f, READABLE "(deny file-read* (literal \"/tmp/keep/secret\"))");
	f.input.private_scope = SCOPE_TMP;
	f.input.scratch = STR("/tmp/own");
	f.input.keep = &keep;
	f.input.n_keep = 1;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(grants(&f, "/tmp/keep/file", LL_READ_FILE));
	CHECK(!grants(&f, "/tmp/keep/secret", LL_READ_FILE));
	CHECK(!grants(&f, "/tmp/x", LL_READ_FILE));
	fixture_close(&f);
}

static void floor_of_own_terminals(void)
{
	struct fixture f;

	fixture_open(&f, READABLE);
	f.input.private_scope = SCOPE_PTS;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(mount_of(&f, MOUNT_PRIVATE_PTS, "/dev/pts"));
	CHECK(grants(&f, "/dev/pts/0", LL_READ_FILE | LL_WRITE_FILE | LL_IOCTL_DEV));
	f.caps.userns = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!grants(&f, "/dev/pts/0", LL_WRITE_FILE));
	CHECK(gap_about(&f, "pseudo-terminals"));
	fixture_close(&f);
}

static void floor_where_secrets_are_writable(void)
{
	struct fixture f;

	plan_of(&f, READ_ONLY "(allow file-write* (subpath \"/home/u/p\"))"
			      "(deny file-read* (literal \"/home/u/p/key.pem\"))");
	CHECK(f.plan.brokered & BROKER_READ);  /* new files of ours must be readable */
	CHECK(f.plan.brokered & BROKER_WRITE); /* and the secret must keep its name */
	CHECK(!grants(&f, "/home/u/p/key.pem", LL_READ_FILE));
	CHECK(!grants(&f, "/home/u/p/x", LL_MAKE_REG));
	CHECK(!grants(&f, "/home/u/p/x", LL_REFER));
	fixture_close(&f);
	/* The control: the secret lies elsewhere. */
	plan_of(&f, READ_ONLY "(allow file-write* (subpath \"/home/u/p\"))"
			      "(deny file-read* (literal \"/home/u/.netrc\"))");
	CHECK(!(f.plan.brokered & (BROKER_READ | BROKER_WRITE)));
	CHECK(grants(&f, "/home/u/p/x", LL_MAKE_REG | LL_REFER | LL_WRITE_FILE | LL_READ_FILE));
	fixture_close(&f);
}

static void floor_of_a_write_root(void)
{
	struct fixture f;

	plan_of(&f, READABLE "(allow file-write* (subpath \"/home/u/p\"))");
	CHECK(!(f.plan.brokered & BROKER_WRITE));
	CHECK(f.plan.brokered & BROKER_ATTR);
	CHECK(grants(&f, "/home/u/p/.git/config", LL_WRITE_FILE | LL_TRUNCATE));
	CHECK(!grants(&f, "/home/u/p/x", LL_MAKE_CHAR));
	CHECK(!grants(&f, "/home/u/x", LL_MAKE_REG));
	CHECK(gap_about(&f, "or renamed: /home/u/p"));
	fixture_close(&f);
	plan_of(&f, READABLE "(allow file-write* (subpath \"/home/u/p\"))"
			     "(deny file-write* (subpath \"/home/u/p/.git\"))");
	CHECK(f.plan.brokered & BROKER_WRITE);
	CHECK(!(f.plan.brokered & BROKER_READ));
	CHECK(grants(&f, "/home/u/p/a.c", LL_WRITE_FILE));
	CHECK(!grants(&f, "/home/u/p/.git/config", LL_WRITE_FILE));
	CHECK(!grants(&f, "/home/u/p/x", LL_MAKE_REG));
	fixture_close(&f);
}

/* Names that are not there yet, and files that can be replaced. */
static void floor_of_single_files(void)
{
	struct fixture f;

	plan_of(&f, READABLE "(allow file-write* (literal \"/home/u/lock\"))");
	CHECK(f.plan.brokered & BROKER_WRITE);
	fixture_close(&f);
	plan_of(&f, READABLE "(allow file-write* (subpath \"/home/u/new\"))");
	CHECK(f.plan.brokered & BROKER_WRITE);
	fixture_close(&f);
	plan_of(&f, READABLE "(allow file-write-data (literal \"/dev/null\"))");
	CHECK(!(f.plan.brokered & BROKER_WRITE));
	CHECK(grants(&f, "/dev/null", LL_WRITE_FILE));
	CHECK(row_of(&f, "/dev/null"));
	fixture_close(&f);
	plan_of(&f, READABLE "(allow file-write* (regex #\"^/home/u/[a-z]+\\.lock$\"))");
	CHECK(f.plan.brokered & BROKER_WRITE);
	fixture_close(&f);
}

/* What the command makes itself beside a secret must be readable to it. */
static void floor_of_files_beside_a_secret(void)
{
#define SECRET READ_ONLY "(deny file-read* (subpath \"/home/u/.ssh\"))"
	static const struct {
		const char *text;
		bool judged;
	} rows[] = {
		{SECRET "(allow file-write* (literal \"/home/u/.netrc\"))",
		 true}, /* renamed over */
		{SECRET "(allow file-write* (subpath \"/home/u/new\"))", true},
		{SECRET "(allow file-write* (regex #\"^/home/u/[a-z]+$\"))", true},
		{SECRET "(allow file-write* (subpath \"/home/u/p\"))", false},
		{SECRET "(allow file-write-data (literal \"/home/u/.netrc\"))", false},
		{SECRET "(allow file-write* (regex #\"^/home/u/p/[a-z]+$\"))", false},
		{READ_ONLY "(allow file-write* (literal \"/home/u/.netrc\"))", false},
	};
#undef SECRET
	struct fixture f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plan_of(&f, rows[i].text);
		CHECK_INT((f.plan.brokered & BROKER_READ) != 0, rows[i].judged);
		CHECK_INT(grants(&f, "/home/u/.ssh/id", LL_READ_FILE),
			  !strstr(rows[i].text, "ssh"));
		fixture_close(&f);
	}
}

/* Patterns no vnode can have do not lead the descent astray. */
static void floor_ignores_dead_patterns(void)
{
	struct fixture f;

	plan_of(&f, "(deny default) (allow file-read* (subpath \"/home/closed/..\")"
		    " (subpath \"//usr\") (subpath \"/./etc\"))");
	CHECK_INT(f.plan.n_rows, 0);
	fixture_close(&f);
}

static void floor_below_unreadable_directories(void)
{
	struct fixture f;

	plan_of(&f, "(deny default) (allow file-read* (subpath \"/home/closed/open\"))");
	CHECK(grants(&f, "/home/closed/open/file", LL_READ_FILE));
	CHECK(!grants(&f, "/home/closed/other", LL_READ_FILE));
	CHECK(row_of(&f, "/home/closed/open") && row_of(&f, "/home/closed/open")->directory);
	fixture_close(&f);
	plan_of(&f, "(deny default) (allow file-read* (literal \"/home/closed/other\"))");
	CHECK(row_of(&f, "/home/closed/other") && !row_of(&f, "/home/closed/other")->directory);
	fixture_close(&f);
	plan_of(&f, READABLE "(deny file-read* (subpath \"/home/closed/open\"))");
	CHECK(!grants(&f, "/home/closed/open/file", LL_READ_FILE));
	CHECK(grants(&f, "/home/u/.netrc", LL_READ_FILE));
	fixture_close(&f);
}

static void floor_in_a_crowd(void)
{
	struct fixture f;

	fixture_open(&f, READ_ONLY "(deny file-read* (literal \"/home/u/p/key.pem\"))");
	fake_crowd = 100;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!(f.plan.brokered & BROKER_READ));
	CHECK(grants(&f, "/home/u/p/crowd-7", LL_READ_FILE));
	fake_crowd = 100000;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.brokered & BROKER_READ);
	CHECK(f.plan.n_rows < 100);
	CHECK(!grants(&f, "/home/u/p/key.pem", LL_READ_FILE));
	fake_crowd = 0;
	fixture_close(&f);
}

/* /proc/sys and /dev/shm ask other operations. */
static void floor_of_territories(void)
{
	static const struct str keep = {"/dev/shm", 8};
	struct fixture f;

	plan_of(&f, READABLE);
	CHECK(!grants(&f, "/proc/sys/kernel", LL_READ_FILE));
	CHECK(grants(&f, "/proc/version", LL_READ_FILE));
	CHECK(!grants(&f, "/dev/shm/x", LL_READ_FILE));
	CHECK(!(f.plan.brokered & BROKER_READ));
	fixture_close(&f);
	plan_of(&f, READABLE "(allow sysctl-read) (allow ipc-posix*)");
	CHECK(grants(&f, "/proc/sys/kernel", LL_READ_FILE));
	CHECK(grants(&f, "/dev/shm/x", LL_READ_FILE | LL_WRITE_FILE | LL_MAKE_REG));
	fixture_close(&f);
	fixture_open(&f, READABLE);
	f.input.private_scope = SCOPE_SHM | SCOPE_PID;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(grants(&f, "/dev/shm/x", LL_READ_FILE | LL_WRITE_FILE | LL_MAKE_REG));
	CHECK(mount_of(&f, MOUNT_PRIVATE_SHM, "/dev/shm"));
	f.input.keep = &keep; /* the host's after all */
	f.input.n_keep = 1;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!grants(&f, "/dev/shm/x", LL_READ_FILE));
	fixture_close(&f);
}

/* Those that run while the plan is made have nothing to do with those inside. */
static void floor_of_processes(void)
{
	static const struct {
		const char *text;
		bool row, gap;
	} rows[] = {
		{READABLE, false, true}, /* sysctl-read parts /proc */
		{READABLE "(allow sysctl-read)", false, false},
		{READABLE "(deny file-read* (regex #\"\\.pem$\"))", false, false}, /* judged */
		{READABLE "(allow file-read* (subpath \"/proc/1\"))", true, true},
		{READABLE "(deny file-read* (subpath \"/proc\"))"
			  "(allow file-read* (literal \"/proc/version\"))",
		 false, false},
		{"(allow default) (deny file-read* (literal \"/proc/version\"))", false,
		 false}, /* judged */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;

		plan_of(&f, rows[i].text);
		CHECK_INT(row_of(&f, "/proc/1") != NULL, rows[i].row);
		if ((gap_about(&f, "processes in /proc") != NULL) != rows[i].gap)
			printf("# %s\n", rows[i].text);
		CHECK_INT(gap_about(&f, "processes in /proc") != NULL, rows[i].gap);
		CHECK(!gap_about(&f, "processes in /proc") ||
		      gap_about(&f, "processes in /proc")->kind == GAP_STRICTER);
		fixture_close(&f);
	}
}

static void floor_of_programs(void)
{
	static const struct str loaders[] = {{"/usr/lib/ld.so", 14}};
	struct fixture f;

	fixture_open(&f, "(deny default) (allow process-exec* (literal \"/usr/bin/cc\"))");
	f.input.loaders = loaders;
	f.input.n_loaders = 1;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.brokered & BROKER_EXEC);
	CHECK(grants(&f, "/usr/bin/cc", LL_EXECUTE));
	CHECK(grants(&f, "/usr/lib/ld.so", LL_EXECUTE));
	CHECK(!grants(&f, "/usr/bin/ssh", LL_EXECUTE));
	CHECK(gap_about(&f, "ELF interpreter"));
	fixture_close(&f);
	/* Where names decide, the broker judges and the kernel must not be in the way. */
	fixture_open(&f, "(deny default) (allow process-exec* (regex #\"^/usr/bin/c\"))");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(grants(&f, "/usr/bin/cc", LL_EXECUTE));
	CHECK(!grants(&f, "/home/u/p/a.c", LL_EXECUTE));
	f.caps.notify = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!grants(&f, "/usr/bin/cc", LL_EXECUTE));
	fixture_close(&f);
}

static void floor_of_ioctl(void)
{
	struct fixture f;

	plan_of(&f, READABLE);
	CHECK(!grants(&f, "/dev/null", LL_IOCTL_DEV));
	fixture_close(&f);
	plan_of(&f, READABLE "(allow file-ioctl (literal \"/dev/null\"))");
	CHECK(grants(&f, "/dev/null", LL_IOCTL_DEV));
	fixture_close(&f);
}

/* ---- Properties ---- */

static uint32_t seed = 20240;

static uint32_t pick(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % n;
}

static void random_rules(struct buf *ret)
{
	static const char *const ops[] = {
		"file-read*",        "file-read-data",    "file-write*",   "file-write-data",
		"file-write-create", "file-write-unlink", "process-exec*", "file*",
	};
	static const char *const pathless[] = {"ipc-posix*", "ipc-posix-sem*",
					       "sysctl*",    "sysctl-write",
					       "pseudo-tty", "ipc-posix-shm-read-data"};
	static const char *const patterns[] = {"subpath", "subpath", "literal", "prefix"};
	static const char *const regexes[] = {"\\.pem$", "^/home/u/p/", "^/usr/[a-z]+/c",
					      "/\\.git(/|$)"};

	buf_printf(ret, "(%s default)", pick(2) ? "allow" : "deny");
	if (pick(2))
		buf_printf(ret, "(%s %s)", pick(2) ? "allow" : "deny", pathless[pick(6)]);
	for (uint32_t i = 1 + pick(6); i > 0; i--) {
		buf_printf(ret, "(%s %s ", pick(2) ? "allow" : "deny", ops[pick(8)]);
		if (pick(5) == 0)
			buf_printf(ret, "(regex #\"%s\"))", regexes[pick(4)]);
		else
			buf_printf(ret, "(%s \"%s\"))", patterns[pick(4)],
				   fake_fs[pick(N_FAKE)].path);
	}
}

static const struct {
	uint32_t right;
	enum op op;
	bool exact; /* the floor alone has to grant what is allowed, if the class is not judged */
	unsigned class;
} checked[] = {
	{LL_READ_FILE, OP_FILE_READ_DATA, true, BROKER_READ},
	{LL_WRITE_FILE, OP_FILE_WRITE_DATA, true, BROKER_WRITE},
	{LL_MAKE_REG, OP_FILE_WRITE_CREATE, false, 0},
	{LL_REMOVE_FILE, OP_FILE_WRITE_UNLINK, false, 0},
	{LL_REFER, OP_FILE_WRITE_CREATE, false, 0},
	{LL_REFER, OP_FILE_WRITE_UNLINK, false, 0},
};

/* Where other operations are asked than those of files: all of `ops`, and the file's if so said. */
static const struct {
	const char *below;
	uint32_t rights;
	bool and_files;
	enum op ops[2];
} elsewhere[] = {
	{"/dev/shm/", LL_READ_FILE, false, {OP_IPC_POSIX_SHM_READ_DATA, OP_IPC_POSIX_SEM_OPEN}},
	{"/dev/shm/", LL_WRITE_FILE, false, {OP_IPC_POSIX_SHM_WRITE_DATA, OP_IPC_POSIX_SEM_OPEN}},
	{"/dev/shm/",
	 LL_MAKE_REG | LL_REFER,
	 false,
	 {OP_IPC_POSIX_SHM_WRITE_CREATE, OP_IPC_POSIX_SEM_CREATE}},
	{"/dev/shm/",
	 LL_REMOVE_FILE,
	 false,
	 {OP_IPC_POSIX_SHM_WRITE_UNLINK, OP_IPC_POSIX_SEM_UNLINK}},
	{"/proc/sys/", LL_READ_FILE, true, {OP_SYSCTL_READ, OP_SYSCTL_READ}},
	{"/proc/sys/", LL_WRITE_FILE, true, {OP_SYSCTL_WRITE, OP_SYSCTL_WRITE}},
	{"/dev/pts/", LL_READ_FILE | LL_WRITE_FILE, true, {OP_PSEUDO_TTY, OP_PSEUDO_TTY}},
	{"/dev/ptmx", LL_READ_FILE | LL_WRITE_FILE, true, {OP_PSEUDO_TTY, OP_PSEUDO_TTY}},
};

static bool in_territory(const char *path)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (strncmp(path, elsewhere[i].below, strlen(elsewhere[i].below)) == 0)
			return true;
	return false;
}

/* Processes get no rows, unless policies name them; a gap says so. */
static bool in_process(const char *path)
{
	return strncmp(path, "/proc/1/", strlen("/proc/1/")) == 0;
}

static bool is_allowed(const struct policy *policy, uint32_t right, enum op op, const char *path)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		bool ret = !elsewhere[i].and_files || decide(policy, op, path);

		if (strncmp(path, elsewhere[i].below, strlen(elsewhere[i].below)) != 0 ||
		    !(elsewhere[i].rights & right))
			continue;
		for (size_t j = 0; j < 2; j++)
			ret = ret && decide(policy, elsewhere[i].ops[j], "");
		return ret;
	}
	return decide(policy, op, path);
}

/* Does a mount stand at PATH, which then cannot go or be made? */
static bool is_held(const struct fixture *f, const char *path)
{
	return mount_of(f, MOUNT_READ_ONLY, path) || mount_of(f, MOUNT_WRITABLE, path) ||
	       mount_of(f, MOUNT_MASK, path);
}

/* Is it said that OP on PATH is not held? */
static bool is_told(const struct fixture *f, enum op op, const char *path)
{
	for (const struct gap *gap = f->plan.gaps; gap < f->plan.gaps + f->plan.n_gaps; gap++) {
		bool about = false;

		for (const enum op *at = gap->ops; *at != OP_DEFAULT; at++)
			about |= *at == op || *at == op_parent(op);
		for (const char *const *at = gap->paths; gap->kind == GAP_CONTENT && at && *at;
		     at++)
			if (about && str_is_below(str_of(path), str_of(*at)))
				return true;
	}
	return false;
}

/* Making or removing PATH takes rights on its parent. */
static bool floor_lets(const struct fixture *f, const char *path, uint32_t right)
{
	char parent[256];
	char *slash = NULL;

	if (right & LL_FS_FILE_RIGHTS)
		return grants(f, path, right) &&
		       !plan_is_mounted(&f->plan, MOUNT_MASK, str_of(path)) &&
		       !(right == LL_WRITE_FILE && plan_is_read_only(&f->plan, str_of(path)));
	(void)snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	slash[slash == parent] = '\0';
	return grants(f, parent, right) && !is_held(f, path) &&
	       !plan_is_read_only(&f->plan, str_of(parent));
}

static void check_path(const struct fixture *f, const char *path, bool exists, const char *text)
{
	for (size_t i = 0; i < sizeof(checked) / sizeof(checked[0]); i++) {
		bool lets = floor_lets(f, path, checked[i].right);
		bool allowed = is_allowed(f->policy, checked[i].right, checked[i].op, path);
		bool exact = checked[i].exact && !in_territory(path) && !in_process(path) &&
			     exists && f->caps.notify && !(f->plan.brokered & checked[i].class);

		/* Where exec has to be let through, the broker alone bounds reads. */
		if (checked[i].right == LL_READ_FILE && !f->plan.floor_bounds_open)
			lets = allowed || !(f->plan.brokered & BROKER_READ);
		if (lets ? allowed || is_told(f, checked[i].op, path) : !(allowed && exact))
			continue;
		printf("# %s: right %#x on %s is %d, %s is %d\n", text, checked[i].right, path,
		       lets, op_name(checked[i].op), allowed);
		test_failures_here++;
	}
}

/*
 * The floor is the bound, also where the broker is asked first, unless the plan refuses. With a
 * broker it is not in the way of what is allowed, but below a directory that cannot be listed.
 */
static void check_exec(const struct fixture *f, const char *path, const char *text)
{
	bool reads = decide(f->policy, OP_FILE_READ_DATA, path);
	bool lets = grants(f, path, reads ? LL_EXECUTE | LL_READ_FILE : LL_EXECUTE);
	bool allowed = decide(f->policy, OP_PROCESS_EXEC_ANY, path) &&
		       decide(f->policy, OP_PROCESS_EXEC_INTERPRETER, path);
	/* Nor in parameters, which rules about sysctl read; they are no programs. */
	bool unlisted = in_process(path) ||
			strncmp(path, "/proc/sys/", strlen("/proc/sys/")) == 0 ||
			strncmp(path, "/home/closed/", strlen("/home/closed/")) == 0 ||
			strncmp(path, "/dev/pts/", strlen("/dev/pts/")) == 0; /* no program */

	if (lets ? allowed || plan_refusal(&f->plan) : !allowed || !f->caps.notify || unlisted)
		return;
	printf("# %s: exec of %s is %d, with%s broker\n", text, path, lets,
	       f->caps.notify ? "" : "out");
	test_failures_here++;
}

/* A file there is, a file there will be, or a directory there will be. */
static void check_entry(const struct fixture *f, const struct fake_entry *entry, const char *text)
{
	char path[256];

	if (entry->type == ENTRY_OTHER && strcmp(entry->path, "/home/closed/other") != 0) {
		check_path(f, entry->path, true, text);
		check_exec(f, entry->path, text);
	}
	if (entry->type != ENTRY_DIRECTORY)
		return;
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", entry->path,
			       i ? "new.pem" : "n/.git/x");
		check_path(f, path, false, text);
	}
}

/* The floor never grants what the policy denies, and is exact for files where nobody judges. */
static void random_floors(void)
{
	for (int round = 0; round < 400; round++) {
		struct buf buf = {.p = NULL};
		struct fixture f;

		random_rules(&buf);
		fixture_open(&f, buf.p);
		f.caps.notify = round % 2 == 0;
		CHECK_INT(fixture_plan(&f), 0);
		for (size_t i = 1; i < N_FAKE; i++)
			check_entry(&f, &fake_fs[i], buf.p);
		fixture_close(&f);
		buf_release(&buf);
	}
}

int main(void)
{
	RUN(floor_of_everything);
	RUN(floor_of_nothing);
	RUN(floor_around_a_secret);
	RUN(floor_tells_of_replaced_files);
	RUN(floor_of_what_is_mounted_twice);
	RUN(floor_moves_nothing_that_is_mounted_twice);
	RUN(floor_around_a_prefix);
	RUN(floor_of_few_trees);
	RUN(floor_gives_way_to_regexes);
	RUN(floor_lets_exec_read);
	RUN(floor_bounds_modes_in_memory);
	RUN(floor_of_a_scratch_folder);
	RUN(floor_of_own_terminals);
	RUN(floor_where_secrets_are_writable);
	RUN(floor_of_a_write_root);
	RUN(floor_of_single_files);
	RUN(floor_of_files_beside_a_secret);
	RUN(floor_ignores_dead_patterns);
	RUN(floor_below_unreadable_directories);
	RUN(floor_in_a_crowd);
	RUN(floor_of_territories);
	RUN(floor_of_processes);
	RUN(floor_of_programs);
	RUN(floor_of_ioctl);
	RUN(random_floors);
	return test_done();
}
