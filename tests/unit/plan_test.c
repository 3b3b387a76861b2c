/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are data: what is brokered, mounted, and refused. What is a gap: gaps_test.c. */
#include "plan_fixture.h"
#include "plan/seccomp.h"

/* ---- Kernels ---- */

static void kernels(void)
{
	static const struct {
		int abi;
		uint32_t handled;
		uint32_t net, scoped;
	} rows[] = {
		{1, 0x1fff, 0, 0}, {2, 0x3fff, 0, 0}, {3, 0x7fff, 0, 0}, {4, 0x7fff, 3, 0},
		{5, 0xffff, 3, 0}, {6, 0xffff, 3, 3}, {7, 0xffff, 3, 3}, {99, 0xffff, 3, 3},
	};
	struct fixture f;

	fixture_open(&f, READABLE "(allow file-write* (subpath \"/home/u/p\"))");
	f.input.private_scope = SCOPE_PID;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f.caps.landlock_abi = rows[i].abi;
		CHECK_INT(fixture_plan(&f), 0);
		CHECK_INT(f.plan.landlock_fs, rows[i].handled);
		CHECK_INT(f.plan.landlock_net, rows[i].net);
		CHECK_INT(f.plan.landlock_scoped, rows[i].scoped);
		/* Truncation has to be judged where Landlock does not see it. */
		CHECK_INT((f.plan.brokered & BROKER_WRITE) != 0, rows[i].abi < 3);
		CHECK_INT(gap_about(&f, "ioctl") != NULL, rows[i].abi < 5);
		for (size_t r = 0; r < f.plan.n_rows; r++)
			CHECK(!(f.plan.rows[r].rights & ~rows[i].handled));
	}
	f.caps.landlock_abi = 0;
	CHECK_INT(fixture_plan(&f), -ERR_GAP);
	fixture_close(&f);
}

static void kernels_without_a_listener(void)
{
	struct fixture f;

	fixture_open(&f, READABLE "(allow file-write* (subpath \"/home/u/p\"))");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!plan_refusal(&f.plan));
	f.caps.notify = f.caps.userns = false; /* else: hold_test.c */
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(f.plan.brokered, 0);
	CHECK(plan_refusal(&f.plan) != NULL);
	CHECK(plan_refusal(&f.plan) == gap_about(&f, "modes, owners"));
	CHECK(gap_about(&f, "unix socket") && gap_about(&f, "unix socket")->kind == GAP_CONTENT);
	CHECK(gap_about(&f, "a mode to make it"));
	CHECK(gap_about(&f, "abstract ones") &&
	      gap_about(&f, "abstract ones")->ops[2] == OP_NETWORK_BIND);
	f.caps.landlock_abi = 2;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(gap_about(&f, "truncated") && gap_about(&f, "truncated")->kind == GAP_CONTENT);
	fixture_close(&f);
}

static void kernels_before_wait_killable(void)
{
	struct fixture f;

	fixture_open(&f, READABLE "(allow file-write* (literal \"/home/u/lock\"))");
	f.caps.wait_killable = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(plan_refusal(&f.plan) && plan_refusal(&f.plan) == gap_about(&f, "twice"));
	fixture_close(&f);
	fixture_open(&f, READABLE); /* nothing that could happen twice */
	f.caps.wait_killable = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!gap_about(&f, "twice"));
	fixture_close(&f);
}

/* ---- Classes ---- */

static void classes(void)
{
	/* clang-format off */
	static const struct {
		const char *text;
		unsigned with, without;
	} rows[] = {
		{"(allow default)", BROKER_ATTR, ~(unsigned)BROKER_ATTR},
		{"(allow default) (allow file-write-setugid)", 0, ~0u},
		{"(allow default) (deny file-write-mode (subpath \"/etc\"))", BROKER_ATTR,
		 BROKER_READ},
		{"(allow default) (deny network-outbound (literal \"/run/x\"))",
		 BROKER_UNIX | BROKER_WRITE, BROKER_INET},
		{"(allow default) (deny network-outbound (remote tcp \"*:25\"))", BROKER_INET,
		 BROKER_WRITE},
		{"(allow default) (deny network*)", BROKER_UNIX, BROKER_INET},
		{"(allow default) (deny process-exec* (literal \"/usr/bin/ssh\"))",
		 BROKER_EXEC | BROKER_WRITE, BROKER_READ},
		{"(allow default) (deny process-exec*)", 0, BROKER_EXEC},
		{"(allow default) (deny signal)", BROKER_SIGNAL, 0},
		{"(allow default) (deny signal (target others) (target initproc))", 0,
		 BROKER_SIGNAL},
		{"(allow default) (deny signal (target pgrp))", BROKER_SIGNAL, 0},
		{"(allow default) (deny signal (signal-number 9))", BROKER_SIGNAL, 0},
		{"(allow default) (deny signal (require-all (target children) (target pgrp)))",
		 BROKER_SIGNAL, 0},
		{"(allow default) (deny signal (require-all (target others) (target pgrp)))",
		 BROKER_SIGNAL, 0},
		{"(allow default) (deny signal (require-all (target self) (target children)))", 0,
		 BROKER_SIGNAL}, /* nobody is both */
		{"(allow default) (deny signal (require-all (target pgrp) (signal-number 30)))",
		 BROKER_SIGNAL, 0},
		{"(allow default) (deny signal) (allow signal (target same-sandbox))", 0,
		 BROKER_SIGNAL},
		{"(allow default) (deny signal) (allow signal (target children))", BROKER_SIGNAL,
		 0},
		{"(allow default) (deny file-link)", BROKER_WRITE, 0},
		{"(allow default) (deny file-write-create (vnode-type SYMLINK))", BROKER_WRITE,
		 BROKER_READ},
		{"(allow default) (deny file-read* (subpath \"/home/u/.ssh\"))",
		 BROKER_READ | BROKER_WRITE, BROKER_EXEC},
	};
	/* clang-format on */
	struct fixture f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plan_of(&f, rows[i].text);
		if ((f.plan.brokered & rows[i].with) != rows[i].with ||
		    (f.plan.brokered & rows[i].without)) {
			printf("# %s: %#x\n", rows[i].text, f.plan.brokered);
			test_failures_here++;
		}
		fixture_close(&f);
	}
}

static void signals_of_a_private_scope(void)
{
	struct fixture f;

	fixture_open(&f, "(allow default)");
	f.input.private_scope = SCOPE_PID;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.ns & NS_PID);
	CHECK(!(f.plan.brokered & BROKER_SIGNAL));
	f.caps.userns = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.landlock_scoped & LL_SCOPED_SIGNAL);
	CHECK(!(f.plan.brokered & BROKER_SIGNAL));
	f.caps.landlock_abi = 5;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.brokered & BROKER_SIGNAL);
	fixture_close(&f);
	/* What the policy says of processes that are out of reach does not matter. */
	fixture_open(&f,
		     "(allow default) (deny signal (require-all (target others) (target pgrp)))");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.brokered & BROKER_SIGNAL);
	f.input.private_scope = SCOPE_PID;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!(f.plan.brokered & BROKER_SIGNAL));
	CHECK(f.plan.landlock_scoped & LL_SCOPED_SIGNAL);
	CHECK(!gap_about(&f, "by number"));
	f.caps.userns = false;
	f.caps.landlock_abi = 5;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(gap_about(&f, "by number"));
	fixture_close(&f);
}

/* ---- Mounts ---- */

static bool is_kept(const struct fixture *f, const char *path, bool read_only)
{
	const struct mount_row *row = mount_of(f, MOUNT_KEEP, path);

	return row && row->read_only == read_only;
}

static void mounts_of_a_private_scope(void)
{
	static const struct str keep[] = {{"/tmp/run/p", 10}, {"/home/u/p", 9}};
	struct fixture f;

	fixture_open(&f, READABLE
		     "(allow file-write* (subpath \"/tmp/out\"))"
		     "(allow file-read* (literal \"/tmp/in/x\") (literal \"/dev/pts/ptmx\"))");
	f.input.private_scope = SCOPE_ALL;
	f.input.keep = keep;
	f.input.n_keep = 2;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(f.plan.ns, NS_USER | NS_MOUNT | NS_PID | NS_IPC | NS_NET);
	CHECK(mount_of(&f, MOUNT_PRIVATE_TMP, "/tmp"));
	CHECK(mount_of(&f, MOUNT_PRIVATE_SHM, "/dev/shm"));
	CHECK(mount_of(&f, MOUNT_PROC, "/proc"));
	CHECK(is_kept(&f, "/tmp/run/p", true));
	CHECK(is_kept(&f, "/tmp/out", false));
	CHECK(mount_of(&f, MOUNT_KEEP, "/tmp/in/x"));
	CHECK(!mount_of(&f, MOUNT_KEEP, "/home/u/p"));
	CHECK(!mount_of(&f, MOUNT_KEEP, "/dev/pts/ptmx"));
	f.caps.userns = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(f.plan.ns, 0);
	CHECK_INT(f.plan.n_mounts, 0);
	CHECK(gap_about(&f, "the host's /tmp"));
	fixture_close(&f);
}

/* Who keeps all of /tmp shares it. */
static void mounts_of_a_shared_tmp(void)
{
	static const struct str keep[] = {{"/tmp", 4}, {"/tmp/p", 6}};
	struct fixture f;

	fixture_open(&f, READABLE);
	f.input.private_scope = SCOPE_TMP;
	f.input.keep = keep;
	f.input.n_keep = 2;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(f.plan.n_mounts, 0);
	fixture_close(&f);
}

static void mounts_that_hide(void)
{
	struct fixture f;

	plan_of(&f,
		READABLE "(deny file-read* (subpath \"/home/u/.ssh\") (literal \"/home/u/.netrc\")"
			 " (literal \"/home/u/.ssh/id\") (literal \"/home/u/.cargo\"))"
			 "(deny file-read-data (subpath \"/etc\"))"
			 "(deny file-read* (subpath \"/usr/lib\"))"
			 "(allow file-write-xattr (literal \"/usr/lib\"))");
	CHECK(mount_of(&f, MOUNT_HIDE, "/home/u/.ssh"));
	CHECK(mount_of(&f, MOUNT_HIDE, "/home/u/.netrc"));
	CHECK(!mount_of(&f, MOUNT_HIDE, "/home/u/.ssh/id")); /* lies in one that is hidden */
	CHECK(!mount_of(&f, MOUNT_HIDE, "/home/u/.cargo"));  /* what is in it is readable */
	CHECK(!mount_of(&f, MOUNT_HIDE, "/etc"));            /* may be looked at */
	CHECK(!mount_of(&f, MOUNT_HIDE, "/usr/lib"));        /* may be changed */
	CHECK_INT(f.plan.n_mounts, 2);
	CHECK_INT(f.plan.ns, NS_USER | NS_MOUNT);
	f.caps.userns = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(f.plan.n_mounts, 0);
	fixture_close(&f);
}

/* N paths of a rule: "BEFORE FOLDER/0" ... "AFTER". */
static char *many_paths(const char *before, const char *folder, unsigned n, const char *after)
{
	struct buf text = {.p = NULL};

	buf_printf(&text, "%s", before);
	for (unsigned i = 0; i < n; i++)
		buf_printf(&text, " \"%s/%u\"", folder, i);
	buf_printf(&text, "%s", after);
	CHECK(!text.failed);
	return text.p;
}

/* So many that the start would be long are not hidden at all, and the gaps say so. */
static void mounts_that_would_hide_too_much(void)
{
	static const struct {
		unsigned n;
		size_t mounts;
		bool gap;
	} rows[] = {{512, 512, false}, {513, 0, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = many_paths(READABLE "(deny file-read* (subpath", "/home/u", rows[i].n,
					"))");
		const struct gap *gap;
		struct fixture f;

		plan_of(&f, text);
		CHECK_INT(f.plan.n_mounts, rows[i].mounts);
		gap = gap_about(&f, "can still be seen");
		CHECK_INT(gap != NULL, rows[i].gap);
		CHECK(!gap || (gap->help && strstr(gap->help, "fewer paths")));
		fixture_close(&f);
		free(text);
	}
}

static void mounts_that_would_keep_too_much(void)
{
	static const unsigned rows[] = {1000, 1100};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text =
			many_paths(READABLE "(allow file-write* (subpath", "/tmp", rows[i], "))");
		struct fixture f;

		fixture_open(&f, text);
		f.input.private_scope = SCOPE_ALL;
		CHECK_INT(fixture_plan(&f), i == 0 ? 0 : -ERR_LIMIT);
		fixture_close(&f);
		free(text);
	}
}

/* A network that the policy opens is the host's; only an empty one can be private. */
static void network_of_a_private_scope(void)
{
	struct fixture f;

	fixture_open(&f, READABLE "(allow network-outbound (remote tcp \"localhost:8080\"))");
	f.input.private_scope = SCOPE_NET;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!(f.plan.ns & NS_NET));
	CHECK(f.plan.brokered & BROKER_INET);
	CHECK(f.plan.landlock_net & LL_NET_CONNECT_TCP);
	fixture_close(&f);
	fixture_open(&f, READABLE);
	f.input.private_scope = SCOPE_NET;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.ns & NS_NET);
	CHECK(!(f.plan.brokered & BROKER_INET));
	CHECK_INT(f.plan.landlock_net, 0); /* the loopback inside is free */
	fixture_close(&f);
}

/* ---- Programs ---- */

/* What the kernel checks when it loads a program: forward jumps inside, known loads, an end. */
static bool is_loadable(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_filter; i++) {
		const struct bpf_insn *insn = &plan->filter[i];
		size_t left = plan->n_filter - i - 1;

		if (insn->code == 0x05 ? insn->k >= left : insn->jt >= left || insn->jf >= left)
			if (insn->code != 0x06 && insn->code != 0x20 && insn->code != 0x54)
				return false;
		if (insn->code == 0x20 && (insn->k >= 64 || insn->k % 4))
			return false;
	}
	return plan->n_filter > 0 && plan->n_filter <= 4096 &&
	       plan->filter[plan->n_filter - 1].code == 0x06;
}

static void programs_load(void)
{
	static const char *const texts[] = {"(allow default)", "(deny default)", ALL_JUDGED};
	struct fixture f;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fixture_open(&f, texts[i]);
		for (int arch = ARCH_X86_64; arch <= ARCH_AARCH64; arch++) {
			f.caps.arch = (enum arch)arch;
			CHECK_INT(fixture_plan(&f), 0);
			CHECK(is_loadable(&f.plan));
		}
		fixture_close(&f);
	}
}

static void bad_programs(void)
{
	static const struct bpf_insn no_end[] = {{0x20, 0, 0, 0}};
	static const struct bpf_insn wild_load[] = {{0x20, 0, 0, 64}, {0x06, 0, 0, SECCOMP_ALLOW}};
	static const struct bpf_insn odd_load[] = {{0x20, 0, 0, 2}, {0x06, 0, 0, SECCOMP_ALLOW}};
	static const struct bpf_insn far_jump[] = {{0x05, 0, 0, 9}, {0x06, 0, 0, SECCOMP_ALLOW}};
	static const struct bpf_insn unknown[] = {{0x87, 0, 0, 0}, {0x06, 0, 0, SECCOMP_ALLOW}};
	static const struct bpf_insn good[] = {{0x05, 0, 0, 0}, {0x06, 0, 0, SECCOMP_ALLOW}};
	struct seccomp_call call = {.nr = 0};

	CHECK_INT(bpf_simulate(no_end, 1, &call), SECCOMP_KILL_PROCESS);
	CHECK_INT(bpf_simulate(wild_load, 2, &call), SECCOMP_KILL_PROCESS);
	CHECK_INT(bpf_simulate(odd_load, 2, &call), SECCOMP_KILL_PROCESS);
	CHECK_INT(bpf_simulate(far_jump, 2, &call), SECCOMP_KILL_PROCESS);
	CHECK_INT(bpf_simulate(unknown, 2, &call), SECCOMP_KILL_PROCESS);
	CHECK_INT(bpf_simulate(good, 2, &call), SECCOMP_ALLOW);
}

/* ---- Memory ---- */

/* Whatever allocation fails, the answer is an error. */
static void memory_runs_out(void)
{
	struct fixture f;
	size_t limit = 1;
	int r = -ERR_MEMORY;

	fixture_open(&f, READABLE "(deny file-read* (subpath \"/home/u/.ssh\"))"
				  "(allow file-write* (regex #\"^/home/u/p/.*\\.o$\"))");
	f.input.private_scope = SCOPE_ALL;
	for (; r != 0 && limit < (1u << 22); limit += 997) {
		f.arena.limit = limit;
		r = fixture_plan(&f);
		CHECK(r == 0 || r == -ERR_MEMORY);
	}
	CHECK_INT(r, 0);
	CHECK(limit > 4096);
	fixture_close(&f);
}

int main(void)
{
	RUN(kernels);
	RUN(kernels_without_a_listener);
	RUN(kernels_before_wait_killable);
	RUN(classes);
	RUN(signals_of_a_private_scope);
	RUN(mounts_of_a_private_scope);
	RUN(mounts_of_a_shared_tmp);
	RUN(mounts_that_hide);
	RUN(mounts_that_would_hide_too_much);
	RUN(mounts_that_would_keep_too_much);
	RUN(network_of_a_private_scope);
	RUN(programs_load);
	RUN(bad_programs);
	RUN(memory_runs_out);
	return test_done();
}
