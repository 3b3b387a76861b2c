/* SPDX-License-Identifier: Apache-2.0 */
/* The fast lane: which classes the plan opens, what the filter then lets through, the environment.
 */
#include "plan_fixture.h"
#include "plan/lane.h"
#include "plan/seccomp.h"
#include "session/lane.h"

/* Writes are judged for the sake of /etc, and what may be written and read is uniform elsewhere. */
#define SOME_JUDGED                                                                                \
	READABLE "(allow file-write* (subpath \"/tmp/own\"))"                                      \
		 "(allow file-write* (regex #\"^/etc/.*\\\\.new$\"))"
/* Reads are, too, where nothing may be executed. */
#define READS_JUDGED                                                                               \
	"(deny default) (allow file-read* (subpath \"/usr\") (subpath \"/home\"))"                 \
	"(allow process-exec* (subpath \"/usr\"))"                                                 \
	"(deny file-read* (regex #\"^/home/.*\\\\.pem$\"))"                                        \
	"(allow file-write* (subpath \"/usr/lib\"))"

enum {
	LANE_OPENS = LANE_READ_WRITE | LANE_WRITE | LANE_CREATE | LANE_CREATE_READ,
	LANE_ALL_NAMES = LANE_NAMES | LANE_DIRECTORIES | LANE_MOVE,
};

/* ---- What the plan opens ---- */

static const char *why_closed(const struct plan *plan, unsigned class)
{
	for (size_t i = 0; i < plan->n_lane_closed; i++)
		if (plan->lane_closed[i].class == class)
			return plan->lane_closed[i].why;
	return "";
}

static void lane_plan_of(struct fixture *f, const char *text)
{
	fixture_open(f, text);
	f->input.lane = true;
	CHECK_INT(fixture_plan(f), 0);
}

static void classes(void)
{
	/* clang-format off */
	static const struct {
		const char *text;
		unsigned open, closed;
		const char *why; /* of each that is closed */
	} rows[] = {
		{"(allow default)", 0, 0, ""},
		{SOME_JUDGED, LANE_OPENS | LANE_ALL_NAMES, 0, ""},
		{READS_JUDGED, LANE_READ | LANE_OPENS, 0, ""},
		/* exec(2) takes READ_FILE wherever a program may lie. */
		{"(allow default) (deny file-read* (regex #\"\\.pem$\"))", 0,
		 LANE_READ | LANE_READ_WRITE | LANE_CREATE_READ, "executed"},
		/* Nowhere uniform. */
		{READABLE "(allow file-write* (regex #\"^/etc/.*\\.new$\"))", 0,
		 LANE_WRITE | LANE_ALL_NAMES, "nowhere"},
		/* A file would be made that cannot be opened. */
		{READABLE "(allow file-write-create (subpath \"/tmp/own\"))"
		 "(allow file-write-data (subpath \"/usr/lib\"))"
		 "(allow file-write* (regex #\"^/etc/.*\\.new$\"))",
		 LANE_WRITE, LANE_CREATE | LANE_CREATE_READ, "could not be opened"},
		/* The broker remembers which repositories were made. */
		{SOME_JUDGED "(deny file-write* (literal \"/etc/x.new\")"
		 " (with message \"lapbelt: new repository\"))",
		 LANE_NAMES | LANE_CREATE, LANE_DIRECTORIES | LANE_MOVE, "repositories"},
	};
	/* clang-format on */
	struct fixture f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool right;

		lane_plan_of(&f, rows[i].text);
		right = (f.plan.lane & rows[i].open) == rows[i].open &&
			!(f.plan.lane & rows[i].closed) &&
			(rows[i].open || !f.plan.lane || rows[i].closed);
		for (unsigned class = 1; class < 1u << LANE_CLASSES; class <<= 1)
			if (rows[i].closed & class)
				right &= strstr(why_closed(&f.plan, class), rows[i].why) != NULL;
		if (!right) {
			printf("# row %zu: %#x\n", i, f.plan.lane);
			test_failures_here++;
		}
		fixture_close(&f);
	}
}

static void circumstances(void)
{
	struct fixture f;

	lane_plan_of(&f, SOME_JUDGED);
	CHECK(f.plan.lane & LANE_MOVE);
	f.caps.landlock_abi = 2; /* the kernel does not see truncation */
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(f.plan.lane & LANE_OPENS, 0);
	CHECK(strstr(why_closed(&f.plan, LANE_CREATE), "truncation"));
	f.caps = caps_new;
	f.caps.notify = false; /* nothing is brokered */
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(f.plan.lane, 0);
	f.caps = caps_new;
	f.input.lane = false; /* switched off */
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(f.plan.lane, 0);
	CHECK_INT(f.plan.n_lane_closed, 0);
	fixture_close(&f);
}

static void places(void)
{
	struct fixture f;

	lane_plan_of(&f, SOME_JUDGED);
	f.input.cwd = STR("/home/u/p");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(f.plan.lane, 0);
	CHECK(strstr(why_closed(&f.plan, LANE_CREATE), "working directory"));
	f.input.cwd = STR("/tmp/own");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.lane & LANE_CREATE);
	/* Without a mount, what is moved out of the private folder is to be removed at the end. */
	f.input.private_scope = SCOPE_TMP;
	f.input.scratch = STR("/tmp/own");
	f.caps.userns = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.lane & LANE_DIRECTORIES);
	CHECK(!(f.plan.lane & LANE_MOVE));
	fixture_close(&f);
}

/* A row above a private mount would grant what that covers to who has a descriptor there. */
static void covered(void)
{
	struct fixture f;

	fixture_open(&f, "(allow default) (deny file-write* (regex #\"^/etc/.*\\.new$\"))");
	f.input.lane = true;
	f.input.private_scope = SCOPE_SHM;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(rights_of(&f, "/dev") & LL_WRITE_FILE);
	CHECK(f.plan.lane & LANE_CREATE);
	f.input.inherits_covered = true;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!(f.plan.lane & (LANE_OPENS | LANE_ALL_NAMES)));
	fixture_close(&f);
}

/* Landlock would let files get freer by moving: only rows alike keep the right. */
static void moves(void)
{
	static const char text[] =
		SOME_JUDGED "(allow file-write* (subpath \"/usr/lib\") (subpath \"/home/u/p\"))"
			    "(deny file-write-mode (subpath \"/tmp/own\"))";
	const uint32_t names = LL_MAKE_REG | LL_REMOVE_FILE;
	struct fixture f;

	fixture_open(&f, text);
	f.input.cwd = STR("/usr/lib");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(rights_of(&f, "/tmp/own") & LL_REFER); /* the control: the broker moves */
	f.input.lane = true;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.lane & LANE_MOVE);
	CHECK_INT(rights_of(&f, "/tmp/own") & (names | LL_REFER), names);
	CHECK_INT(rights_of(&f, "/usr/lib") & (names | LL_REFER), names | LL_REFER);
	CHECK_INT(rights_of(&f, "/home/u/p") & (names | LL_REFER), names | LL_REFER);
	f.input.cwd = STR("/tmp/own/d");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(rights_of(&f, "/tmp/own") & (names | LL_REFER), names | LL_REFER);
	CHECK_INT(rights_of(&f, "/usr/lib") & (names | LL_REFER), names);
	fixture_close(&f);
}

/* ---- What the floor lets through, the policy allows ---- */

static bool allows(const struct fixture *f, enum op op, const char *path)
{
	struct request request = {.op = op, .path = str_of(path)};
	struct decision decision;

	policy_decide(f->policy, &request, &decision);
	return decision.verdict == VERDICT_ALLOW;
}

static unsigned check_path(const struct fixture *f, const char *directory, const char *path)
{
	static const struct {
		unsigned class;
		uint32_t on_path, on_directory;
		enum op ops[3];
	} rows[] = {
		{LANE_READ, LL_READ_FILE, 0, {OP_FILE_READ_DATA}},
		{LANE_READ, LL_READ_DIR, 0, {OP_FILE_READ_DATA}},
		{LANE_WRITE, LL_WRITE_FILE, 0, {OP_FILE_WRITE_DATA}},
		{LANE_READ_WRITE,
		 LL_WRITE_FILE | LL_READ_FILE,
		 0,
		 {OP_FILE_WRITE_DATA, OP_FILE_READ_DATA}},
		{LANE_CREATE,
		 LL_WRITE_FILE,
		 LL_MAKE_REG,
		 {OP_FILE_WRITE_CREATE, OP_FILE_WRITE_DATA}},
		{LANE_CREATE_READ,
		 LL_WRITE_FILE | LL_READ_FILE,
		 LL_MAKE_REG,
		 {OP_FILE_WRITE_CREATE, OP_FILE_WRITE_DATA, OP_FILE_READ_DATA}},
		{LANE_NAMES, 0, LL_REMOVE_FILE, {OP_FILE_WRITE_UNLINK}},
		{LANE_NAMES, 0, LL_MAKE_SYM, {OP_FILE_WRITE_CREATE}},
		{LANE_DIRECTORIES, 0, LL_MAKE_DIR, {OP_FILE_WRITE_CREATE}},
		{LANE_DIRECTORIES, 0, LL_REMOVE_DIR, {OP_FILE_WRITE_UNLINK}},
		{LANE_MOVE,
		 0,
		 LL_REFER,
		 {OP_FILE_WRITE_CREATE, OP_FILE_WRITE_UNLINK, OP_FILE_LINK}},
	};
	unsigned granted = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!(f->plan.lane & rows[i].class) ||
		    (rows[i].on_path && !grants(f, path, rows[i].on_path)) ||
		    (rows[i].on_directory && !grants(f, directory, rows[i].on_directory)))
			continue;
		granted++;
		for (size_t k = 0; k < 3 && rows[i].ops[k] != OP_DEFAULT; k++)
			if (!allows(f, rows[i].ops[k], path)) {
				printf("# %s: row %zu\n", path, i);
				test_failures_here++;
			}
	}
	return granted;
}

static void lane_is_within_policy(void)
{
	static const char *const names[] = {"a", "a.pem", "x.new", ".git", "secret"};
	static const char *const texts[] = {
		SOME_JUDGED,
		READS_JUDGED,
		ALL_JUDGED,
		"(allow default) (deny file-read* file-write* (regex #\"^/home/.*\\.pem$\"))",
		"(allow default) (deny file-write* (literal \"/home/u/p/a.c\"))",
		READABLE "(allow file-write* (subpath \"/home/u/p\") (subpath \"/tmp\"))"
			 "(deny file-write* (subpath \"/home/u/p/.git\"))"
			 "(deny file-write-unlink (regex #\"^/tmp/keep/.*secret$\"))",
		READABLE "(allow file-write* (subpath \"/usr\")) (deny file-link)"
			 "(allow file-write* (regex #\"^/home/u/[a-z]*$\"))",
	};
	unsigned granted = 0;
	char path[64];
	struct fixture f;

	for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
		lane_plan_of(&f, texts[t]);
		for (size_t i = 0; i < N_FAKE; i++)
			for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
				if (fake_fs[i].type != ENTRY_DIRECTORY)
					continue;
				(void)snprintf(path, sizeof(path), "%s/%s",
					       fake_fs[i].path[1] ? fake_fs[i].path : "", names[n]);
				/* Where other operations decide. */
				if (strncmp(path, "/dev", 4) != 0 && strncmp(path, "/proc", 5) != 0)
					granted += check_path(&f, fake_fs[i].path, path);
			}
		fixture_close(&f);
	}
	CHECK(granted > 100); /* or it says nothing */
}

/* ---- What the filter lets through ---- */

enum {
	O_CREAT_ = 0100,
	O_TRUNC_ = 01000,
	O_DIRECTORY_ = 0200000,
	O_CLOEXEC_ = 02000000,
	O_TMPFILE_ = 020200000,
};

#define HIGH (1ull << 32)

struct row {
	enum call call;
	uint64_t args[5];
	bool asked;
};

static bool is_asked(const struct fixture *f, const struct row *row, uint64_t mark)
{
	struct seccomp_call data = {
		.nr = call_number(row->call, f->caps.arch),
		.arch = f->caps.arch == ARCH_X86_64 ? AUDIT_ARCH_X86_64_ : AUDIT_ARCH_AARCH64_,
	};

	memcpy(data.args, row->args, sizeof(row->args));
	data.args[LANE_ARGUMENT] = mark;
	return bpf_simulate(f->plan.filter, f->plan.n_filter, &data) == SECCOMP_USER_NOTIF;
}

static void check_rows(struct fixture *f, const struct row *rows, size_t n)
{
	const uint64_t mark = LANE_MARK;
	const uint64_t others[] = {0, mark + 1, mark ^ 1ull << 63, mark & UINT32_MAX, mark << 32};

	for (int arch = ARCH_X86_64; arch <= ARCH_AARCH64; arch++) {
		f->caps.arch = (enum arch)arch;
		CHECK_INT(fixture_plan(f), 0);
		for (size_t i = 0; i < n; i++) {
			bool right = call_number(rows[i].call, f->caps.arch) < 0 ||
				     is_asked(f, &rows[i], mark) == rows[i].asked;

			/* Without the mark, or with part of it, every one is asked about. */
			for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
				right &= call_number(rows[i].call, f->caps.arch) < 0 ||
					 is_asked(f, &rows[i], others[k]);
			if (!right) {
				printf("# arch %d, row %zu\n", arch, i);
				test_failures_here++;
			}
		}
	}
}

#define CHECK_ROWS(f, rows) check_rows((f), (rows), sizeof(rows) / sizeof((rows)[0]))

static void filter_of_writes(void)
{
	static const struct row rows[] = {
		{CALL_OPENAT, {0, 0, 1, 0}, false},
		{CALL_OPENAT, {0, 0, 1 | O_TRUNC_ | O_CLOEXEC_, 06000}, false},
		{CALL_OPENAT, {0, 0, HIGH | 2, 0}, false},
		{CALL_OPENAT, {0, 0, 1 | O_CREAT_, 0644}, false},
		{CALL_OPENAT, {0, 0, 2 | O_CREAT_ | O_TRUNC_, 01777}, false},
		{CALL_OPENAT, {0, 0, 1 | O_CREAT_, 04755}, true},
		{CALL_OPENAT, {0, 0, 2 | O_CREAT_, 02755}, true},
		{CALL_OPENAT, {0, 0, O_CREAT_, 0644}, true},
		{CALL_OPENAT, {0, 0, O_TRUNC_, 0}, true}, /* reads, and cuts off */
		{CALL_OPENAT, {0, 0, 3, 0}, true},        /* neither reads nor writes */
		{CALL_OPENAT, {0, 0, 3 | O_CREAT_, 0644}, true},
		{CALL_OPENAT, {0, 0, 1 | O_TMPFILE_, 0600}, true},
		{CALL_OPENAT, {0, 0, 2 | O_TMPFILE_, 0600}, true},
		{CALL_OPEN, {0, 1, 0}, false},
		{CALL_OPEN, {0, 1 | O_CREAT_, 0600}, false},
		{CALL_OPEN, {0, 1 | O_CREAT_, 06600}, true},
		{CALL_CREAT, {0, 0600}, false},
		{CALL_CREAT, {0, 04600}, true},
		{CALL_MKDIR, {0, 0700}, false},
		{CALL_MKDIR, {0, 02700}, true},
		{CALL_MKDIRAT, {0, 0, 0700}, false},
		{CALL_MKDIRAT, {0, 0, 02700}, true},
		{CALL_MKNOD, {0, 0100644}, true},
		{CALL_MKNODAT, {0, 0, 0010644}, true},
		{CALL_UNLINK, {0}, false},
		{CALL_UNLINKAT, {0, 0, 0}, false},
		{CALL_UNLINKAT, {0, 0, 0x200}, false},
		{CALL_RMDIR, {0}, false},
		{CALL_SYMLINK, {0}, false},
		{CALL_SYMLINKAT, {0}, false},
		{CALL_RENAME, {0}, false},
		{CALL_RENAMEAT, {0}, false},
		{CALL_RENAMEAT2, {0, 0, 0, 0, 0}, false},
		{CALL_RENAMEAT2, {0, 0, 0, 0, 1}, false},
		{CALL_RENAMEAT2, {0, 0, 0, 0, 2}, true}, /* exchanges */
		{CALL_RENAMEAT2, {0, 0, 0, 0, 4}, true}, /* leaves a node */
		{CALL_LINK, {0}, false},
		{CALL_LINKAT, {0, 0, 0, 0, 0}, false},
		{CALL_LINKAT, {0, 0, 0, 0, 0x400}, true},
		{CALL_LINKAT, {0, 0, 0, 0, 0x1000}, true},
		{CALL_TRUNCATE, {0}, true},
		{CALL_FCHMODAT, {0}, true},
		{CALL_FCHOWNAT, {0}, true},
		{CALL_UTIMENSAT, {0}, true},
		{CALL_FACCESSAT, {0, 0, 2}, true},
	};
	struct fixture f;

	fixture_open(&f, SOME_JUDGED);
	f.input.lane = true;
	CHECK_ROWS(&f, rows);
	fixture_close(&f);
}

static void filter_of_reads(void)
{
	static const struct row rows[] = {
		{CALL_OPENAT, {0, 0, 0, 0}, false},
		{CALL_OPENAT, {0, 0, O_DIRECTORY_ | O_CLOEXEC_, 0}, false},
		{CALL_OPENAT, {0, 0, 1, 0}, false},
		{CALL_OPENAT, {0, 0, O_TRUNC_, 0}, true},
		{CALL_OPENAT, {0, 0, 3, 0}, true},
		{CALL_OPENAT, {0, 0, O_TMPFILE_, 0}, true},
		{CALL_OPEN, {0, 0, 0}, false},
		{CALL_FACCESSAT, {0, 0, 4}, true},
	};
	/* Where exec needs READ_FILE all over. */
	static const struct row closed[] = {
		{CALL_OPENAT, {0, 0, 0, 0}, true},
		{CALL_OPENAT, {0, 0, 2, 0}, true},
		{CALL_OPENAT, {0, 0, 2 | O_CREAT_, 0644}, true},
		{CALL_OPENAT, {0, 0, 1, 0}, false},
	};
	struct fixture f;

	fixture_open(&f, READS_JUDGED);
	f.input.lane = true;
	CHECK_ROWS(&f, rows);
	fixture_close(&f);
	fixture_open(&f, READABLE "(deny file-read* (regex #\"^/home/.*\\.pem$\"))"
				  "(allow file-write* (subpath \"/tmp/own\"))");
	f.input.lane = true;
	CHECK_ROWS(&f, closed);
	fixture_close(&f);
}

/* The library asks what is served, and gets an error that no kernel gives. */
static void filter_tells(void)
{
	static const struct {
		const char *text;
		bool reads, writes, names;
	} rows[] = {
		{"(allow default)", false, false, false},
		{SOME_JUDGED, false, true, true},
		{READS_JUDGED, true, true, false},
	};
	struct fixture f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint32_t flags[] = {LANE_READS_FLAGS, LANE_WRITES_FLAGS, LANE_NAMES_FLAGS};
		const bool want[] = {rows[i].reads, rows[i].writes, rows[i].names};

		lane_plan_of(&f, rows[i].text);
		for (size_t k = 0; k < 3; k++) {
			struct seccomp_call data = {
				.nr = call_number(CALL_LANDLOCK_CREATE_RULESET, ARCH_X86_64),
				.arch = AUDIT_ARCH_X86_64_,
				.args = {0, 0, flags[k]},
			};
			uint32_t got = bpf_simulate(f.plan.filter, f.plan.n_filter, &data);

			CHECK_INT(got == (SECCOMP_ERRNO | LANE_ERRNO), want[k]);
		}
		fixture_close(&f);
	}
}

static void prints(void)
{
	struct buf buf = {.p = NULL};
	struct report report;
	struct fixture f;

	lane_plan_of(&f, READABLE "(deny file-read* (regex #\"^/home/.*\\.pem$\"))"
				  "(allow file-write* (subpath \"/tmp/own\"))");
	CHECK_INT(plan_report(&f.plan, &f.input, &f.arena, &report, &f.e), 0);
	plan_print(&f.plan, &f.input, &report, &buf);
	CHECK(strstr(buf.p, "\nlane: write create\n  not read read-write create-read: programs"));
	buf_release(&buf);
	fixture_close(&f);
}

/* ---- The environment ---- */

static void environment(void)
{
	static const struct {
		const char *before, *after;
	} rows[] = {
		{"A=b", "LD_AUDIT=/l/lane.so"},
		{"LD_AUDIT=", "LD_AUDIT=/l/lane.so"},
		{"LD_AUDIT=/x.so", "LD_AUDIT=/x.so:/l/lane.so"},
		{"LD_AUDIT=/x.so:/y.so", "LD_AUDIT=/x.so:/y.so:/l/lane.so"},
		{"LD_PRELOAD=/x.so", "LD_AUDIT=/l/lane.so"},
	};
	struct arena arena = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char before[64], home[] = "HOME=/h";
		char *env[] = {before, home, NULL};
		char **ret;
		size_t n = 0, lists = 0;
		bool others = false;

		(void)snprintf(before, sizeof(before), "%s", rows[i].before);
		ret = lane_environ(env, "/l/lane.so", &arena);
		CHECK(ret != NULL);
		for (; ret && ret[n]; n++) {
			lists += strncmp(ret[n], "LD_AUDIT=", 9) == 0;
			others |= strcmp(ret[n], home) == 0;
		}
		CHECK_INT(lists, 1);
		CHECK(others);
		CHECK_STR(ret[n - 1], rows[i].after);
		CHECK_INT(n, strncmp(before, "LD_AUDIT", 8) == 0 ? 2 : 3);
	}
	arena_release(&arena);
}

int main(void)
{
	RUN(classes);
	RUN(circumstances);
	RUN(places);
	RUN(covered);
	RUN(moves);
	RUN(lane_is_within_policy);
	RUN(filter_of_writes);
	RUN(filter_of_reads);
	RUN(filter_tells);
	RUN(prints);
	RUN(environment);
	return test_done();
}
