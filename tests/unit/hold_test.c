/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts in place of a broker: which there are, and what is said of what they do not hold. */
#include "plan_fixture.h"
#include "plan/seccomp.h"

#define PROJECT    "(allow file-write* file-link (subpath \"/home/u/p\"))"
#define DENY(what) "(deny file-write* file-link " what ")"

static void no_listener(struct fixture *f, const char *text)
{
	fixture_open(f, text);
	f->caps.notify = false;
}

/* Read-only, writable, masked: "r PATH", "w PATH", "m PATH", in order. */
static void put_mounts(const struct fixture *f, struct buf *ret)
{
	static const char *const words[] = {
		[MOUNT_READ_ONLY] = "r", [MOUNT_WRITABLE] = "w", [MOUNT_MASK] = "m"};

	for (size_t i = 0; i < f->plan.n_mounts; i++) {
		const struct mount_row *row = &f->plan.mounts[i];

		if (row->kind >= MOUNT_READ_ONLY)
			buf_printf(ret, "%s%s %s", ret->n ? " " : "", words[row->kind], row->path);
	}
}

/* Content gaps but for that of all unix sockets; and the others that are about what is held. */
static const struct gap *loose(const struct fixture *f, const char *text)
{
	for (size_t i = 0; i < f->plan.n_gaps; i++)
		if (f->plan.gaps[i].kind == GAP_CONTENT && strstr(f->plan.gaps[i].text, text))
			return &f->plan.gaps[i];
	return NULL;
}

/* clang-format off */
static const struct row {
	const char *rules, *mounts;
	const char *gap, *at; /* a content gap, and a path of it; NULL: none at all */
} rows[] = {
	{READABLE, "r /", NULL, NULL},
	{READABLE PROJECT, "r / w /home/u/p", NULL, NULL},
	/* by its name, and all that leads to it */
	{READABLE PROJECT DENY("(literal \"/home/u/p/a.c\")"),
	 "r / w /home/u/p r /home/u/p/a.c", NULL, NULL},
	{READABLE PROJECT DENY("(subpath \"/home/u/p/.git\")"),
	 "r / w /home/u/p r /home/u/p/.git", NULL, NULL},
	{READABLE PROJECT DENY("(literal \"/home/u/p/.git/config\")"),
	 "r / w /home/u/p w /home/u/p/.git r /home/u/p/.git/config", NULL, NULL},
	/* only to stay where it is */
	{READABLE PROJECT "(deny file-write-unlink (literal \"/home/u/p/a.c\"))",
	 "r / w /home/u/p w /home/u/p/a.c", NULL, NULL},
	{READABLE PROJECT "(deny file-write-unlink (literal \"/home/u/p/.git\"))",
	 "r / w /home/u/p w /home/u/p/.git", NULL, NULL},
	/* allowed in what is denied in what is allowed */
	{READABLE "(allow file-write* (subpath \"/home\"))" DENY("(subpath \"/home/u\")") PROJECT,
	 "r / w /home r /home/u w /home/u/p", NULL, NULL},
	{"(allow default)" DENY("(subpath \"/home\")") PROJECT, "r /home w /home/u/p",
	 "named pipes", "/home/closed"},
	{"(allow default)" DENY("(subpath \"/home/u/p/.git\")"),
	 "w /home w /home/u w /home/u/p r /home/u/p/.git", NULL, NULL},
	/* named pipes, which no read-only mount holds */
	{READABLE PROJECT DENY("(subpath \"/home/u/p/run\")"),
	 "r / w /home/u/p r /home/u/p/run m /home/u/p/run/deep/pipe m /home/u/p/run/pipe", NULL, NULL},
	{READABLE PROJECT DENY("(subpath \"/home/u/p/run\")")
	 "(allow file-write* file-link (subpath \"/home/u/p/run/deep\"))",
	 "r / w /home/u/p r /home/u/p/run w /home/u/p/run/deep m /home/u/p/run/pipe", NULL, NULL},
	{READABLE PROJECT DENY("(literal \"/home/u/p/run/pipe\")"),
	 "r / w /home/u/p w /home/u/p/run m /home/u/p/run/pipe", NULL, NULL},
	{READABLE PROJECT "(deny file-write-mode (subpath \"/home/u/p/run\"))",
	 "r / w /home/u/p r /home/u/p/run", NULL, NULL},
	/* not there */
	{READABLE PROJECT DENY("(literal \"/home/u/p/.envrc\")"), "r / w /home/u/p",
	 "not there yet", "/home/u/p/.envrc"},
	{READABLE PROJECT DENY("(literal \"/home/u/p/a/b/c\")"), "r / w /home/u/p",
	 "not there yet", "/home/u/p/a/b/c"},
	{READABLE PROJECT DENY("(literal \"/home/u/p/a.c/b\")"), "r / w /home/u/p",
	 "not there yet", "/home/u/p/a.c/b"},
	{READABLE PROJECT "(deny file-write-create (require-all (vnode-type SYMLINK)"
	 " (literal \"/home/u/p/.envrc\")))", "r / w /home/u/p",
	 "not there yet", "/home/u/p/.envrc"},
	/* by patterns: what is there in directories that are looked at */
	{READABLE PROJECT DENY("(regex #\"\\.pem$\")"), "r / w /home/u/p r /home/u/p/key.pem",
	 "what this matches", "/home/u/p"},
	{READABLE PROJECT DENY("(regex #\"/\\.git/(config|x)(/|$)\")"),
	 "r / w /home/u/p w /home/u/p/.git r /home/u/p/.git/config", "what this matches", "/home/u/p"},
	{READABLE PROJECT DENY("(prefix \"/home/u/p/k\")"), "r / w /home/u/p r /home/u/p/key.pem",
	 "what this matches", "/home/u/p"},
	{READABLE PROJECT DENY("(regex #\"^/etc/.*\\.pem$\")"), "r / w /home/u/p", NULL, NULL},
	/* what no mount can stand on, or nobody can see */
	{READABLE "(allow file-write* (subpath \"/home/u\"))" DENY("(literal \"/home/u/link\")"),
	 "r / w /home/u", "symlinks", "/home/u/link"},
	{READABLE "(allow file-write* (subpath \"/home\"))"
	 DENY("(literal \"/home/closed/open/file\")"),
	 "r / w /home", "cannot be looked at", "/home/closed"},
	/* contents without attributes, and the other way round */
	{READABLE "(allow file-write-data file-write-create file-write-unlink (subpath \"/home/u/p\"))",
	 "r / w /home/u/p", "modes, owners", "/home/u/p"},
	{READABLE PROJECT "(deny file-write-mode (literal \"/home/u/p/a.c\"))",
	 "r / w /home/u/p r /home/u/p/a.c", NULL, NULL},
	{READABLE "(allow file-write-mode (subpath \"/home/u/p\"))", "r /", NULL, NULL},
	/* single files */
	{READABLE "(allow file-write* (literal \"/etc/passwd\"))", "r / w /etc/passwd", NULL, NULL},
	{READABLE "(allow file-write-data (literal \"/etc/passwd\"))", "r / w /etc/passwd",
	 "modes, owners", "/etc/passwd"},
	{READABLE "(allow file-write-data (literal \"/dev/null\"))", "r /", NULL, NULL},
	/* reads: where names can be made, or only patterns tell them apart */
	{READABLE PROJECT "(deny file-read* (literal \"/home/u/p/key.pem\"))",
	 "r / w /home/u/p m /home/u/p/key.pem", NULL, NULL},
	{READABLE PROJECT "(deny file-read* (literal \"/home/u/p/.git/config\"))",
	 "r / w /home/u/p w /home/u/p/.git m /home/u/p/.git/config", NULL, NULL},
	{READABLE PROJECT "(deny file-read* (literal \"/home/u/p/absent\"))",
	 "r / w /home/u/p", "not there yet can be read", "/home/u/p/absent"},
	{READABLE PROJECT "(deny file-read* file-write* (subpath \"/home/u/p/.git\"))",
	 "r / w /home/u/p m /home/u/p/.git", NULL, NULL},
	/* nothing is there to be mounted in what is hidden */
	{READABLE PROJECT DENY("(subpath \"/home/u/p/run\")") "(deny file-read* (subpath \"/home/u/p/run\"))",
	 "r / w /home/u/p m /home/u/p/run", NULL, NULL},
	{READABLE PROJECT DENY("(literal \"/home/u/p/.git/config\")")
	 "(deny file-read* (subpath \"/home/u/p/.git\"))",
	 "r / w /home/u/p m /home/u/p/.git", NULL, NULL},
	{"(allow default) (deny file* (subpath \"/home/u/p/run\"))",
	 "w /home w /home/u w /home/u/p m /home/u/p/run", NULL, NULL},
	{READABLE "(deny file-read* (literal \"/home/u/.netrc\"))", "r /", NULL, NULL},
	{READABLE "(deny file-read-data (regex #\"^/home/u/p/.*\\.pem$\"))",
	 "r / m /home/u/p/key.pem", "can be read below", "/home"},
	{"(allow default) (deny file-read* (subpath \"/home/u/.ssh\"))",
	 "w /home w /home/u m /home/u/.ssh", NULL, NULL},
	{"(allow default) (deny file-read-data (regex #\"\\.pem$\"))", "", "can be read below", "/"},
	/* a pattern that only allows takes nothing away */
	{"(allow default) (allow file-read* file-write* (regex #\"\\.pem$\"))"
	 DENY("(literal \"/home/u/p/a.c\")"),
	 "w /home w /home/u w /home/u/p r /home/u/p/a.c", NULL, NULL},
	/* what is looked at goes on where a directory has rules of its own */
	{READABLE "(allow file-write* (subpath \"/home\"))"
	 DENY("(regex #\"^/home/u/([^/]+/)+config$\")"),
	 "r / w /home w /home/u w /home/u/.cargo r /home/u/.cargo/config w /home/u/p"
	 " w /home/u/p/.git r /home/u/p/.git/config", "what this matches", "/home"},
	/* no mount holds devices, nor what has other rules than paths */
	{"(allow default)" DENY("(subpath \"/dev\")") DENY("(subpath \"/home\")"),
	 "r / w /dev/shm w /etc w /proc w /tmp w /usr", "modes, owners", "/dev/shm"},
};
/* clang-format on */

static bool has_path(const struct gap *gap, const char *path)
{
	for (const char *const *at = gap->paths; at && *at; at++)
		if (strcmp(*at, path) == 0)
			return true;
	return false;
}

static void mounts_hold(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct gap *gap = NULL;
		struct buf found = {.p = NULL};
		struct fixture f;

		no_listener(&f, rows[i].rules);
		CHECK_INT(fixture_plan(&f), 0);
		put_mounts(&f, &found);
		gap = loose(&f, rows[i].gap ? rows[i].gap : "");
		if (gap && !rows[i].gap && strstr(gap->text, "unix socket"))
			gap = loose(&f, "these");
		if (!str_is(buf_str(&found), rows[i].mounts) ||
		    (rows[i].gap ? !gap || !has_path(gap, rows[i].at) : gap != NULL)) {
			printf("# %s\n# %.*s\n# %s\n", rows[i].rules, (int)found.n, found.p,
			       gap ? gap->text : "no gap");
			test_failures_here++;
		}
		buf_release(&found);
		fixture_close(&f);
	}
}

/* What the command is started with lies before the mounts. */
static void descriptors_are_told_of(void)
{
	struct fixture f;

	no_listener(&f, READABLE);
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!gap_about(&f, "started with"));
	f.input.inherits_devices = true;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(gap_about(&f, "started with") && gap_about(&f, "started with")->kind == GAP_METADATA);
	f.input.inherits_files = true;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(loose(&f, "started with") != NULL);
	fixture_close(&f);
}

/* Nobody else needs them, and without them it is as it was. */
static void only_where_nobody_judges(void)
{
	struct fixture f;

	no_listener(&f, READABLE PROJECT DENY("(literal \"/home/u/p/a.c\")"));
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(grants(&f, "/home/u/p/new", LL_MAKE_REG | LL_WRITE_FILE | LL_REFER));
	CHECK_INT(f.plan.ns & (NS_USER | NS_MOUNT), NS_USER | NS_MOUNT);
	CHECK(!gap_about(&f, "writes are refused"));
	for (unsigned without = 0; without < 4; without++) {
		f.caps.notify = without == 0;
		f.caps.userns = without != 1;
		f.caps.mount_setattr = without != 2;
		f.caps.outer.asks = without == 3;
		CHECK_INT(fixture_plan(&f), 0);
		CHECK(!mount_of(&f, MOUNT_READ_ONLY, "/"));
		CHECK(!grants(&f, "/home/u/p/new", LL_MAKE_REG));
		CHECK_INT(loose(&f, "everywhere") != NULL, without != 0);
	}
	fixture_close(&f);
}

/* Mounts see truncation, which Landlock does from version 3 on. */
static void truncation_is_held(void)
{
	struct fixture f;

	no_listener(&f, READABLE PROJECT);
	f.caps.landlock_abi = 1;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!gap_about(&f, "truncated"));
	fixture_close(&f);
	no_listener(&f, READABLE "(allow file-write-create (subpath \"/home/u/p\"))");
	f.caps.landlock_abi = 1;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(loose(&f, "truncated") != NULL);
	fixture_close(&f);
}

/* In a private /tmp there is what is kept, whatever else the disk has. */
static void private_tmp_has_only_what_is_kept(void)
{
	static const struct str keep[] = {{"/tmp/keep", 9}};
	struct fixture f;
	struct buf found = {.p = NULL};

	no_listener(&f, READABLE "(allow file-write* (subpath \"/tmp\"))" DENY(
				"(literal \"/tmp/x\") (literal \"/tmp/keep/secret\")"));
	f.input.private_scope = SCOPE_TMP;
	f.input.keep = keep;
	f.input.n_keep = 1;
	CHECK_INT(fixture_plan(&f), 0);
	put_mounts(&f, &found);
	CHECK_STR(buf_str(&found).p, "r / w /tmp w /tmp/keep r /tmp/keep/secret");
	CHECK(loose(&f, "not there yet") && has_path(loose(&f, "not there yet"), "/tmp/x"));
	buf_release(&found);
	fixture_close(&f);
}

/* More than can be mounted is refused. */
static void too_many(void)
{
	struct fixture f;

	no_listener(&f, READABLE PROJECT DENY("(prefix \"/home/u/p/crowd-\")"));
	fake_crowd = 500;
	CHECK_INT(fixture_plan(&f), 0);
	fake_crowd = 600;
	CHECK_INT(fixture_plan(&f), -ERR_GAP);
	fake_crowd = 0;
	fixture_close(&f);
}

/* A named pipe may be anywhere in what is too large to be looked through. */
static void crowds_may_hold_pipes(void)
{
	struct fixture f;

	no_listener(&f, "(allow default)" DENY("(subpath \"/home\")"));
	fake_crowd = 1000;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!loose(&f, "named pipes") || !has_path(loose(&f, "named pipes"), "/home/u/p"));
	fake_crowd = 20000;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(loose(&f, "named pipes") && has_path(loose(&f, "named pipes"), "/home/u/p"));
	fake_crowd = 0;
	fixture_close(&f);
}

/* Nobody judges modes and white-outs, but they are in a register. */
static void bits_are_refused(void)
{
	static const struct {
		enum call call;
		unsigned at; /* which argument */
		unsigned let, refused;
	} calls[] = {
		{CALL_CHMOD, 1, 0755, 02755},    {CALL_FCHMOD, 1, 0755, 04755},
		{CALL_FCHMODAT, 2, 0755, 06755}, {CALL_FCHMODAT2, 2, 0755, 04755},
		{CALL_RENAMEAT2, 4, 1, 4},
	};
	struct fixture f;

	no_listener(&f, READABLE PROJECT);
	CHECK_INT(fixture_plan(&f), 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (unsigned bits = 0; bits < 2; bits++) {
			struct seccomp_call call = {.nr = call_number(calls[i].call, ARCH_X86_64),
						    .arch = AUDIT_ARCH_X86_64_};

			call.args[calls[i].at] = bits ? calls[i].refused : calls[i].let;
			CHECK_INT(bpf_simulate(f.plan.filter, f.plan.n_filter, &call) ==
					  SECCOMP_ALLOW,
				  !bits);
		}
	fixture_close(&f);
}

int main(void)
{
	RUN(descriptors_are_told_of);
	RUN(only_where_nobody_judges);
	RUN(truncation_is_held);
	RUN(private_tmp_has_only_what_is_kept);
	RUN(too_many);
	RUN(crowds_may_hold_pipes);
	RUN(bits_are_refused);
	RUN(mounts_hold);
	return test_done();
}
