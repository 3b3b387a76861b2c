/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be enforced is named as a gap, with its kind and its rule, and nothing else is. */
#include "plan_fixture.h"

/* ---- Gaps of one policy under the newest kernel ---- */

enum {
	NONE = -1
};

struct row {
	const char *rules, *gap; /* part of its text */
	int kind;                /* or NONE: there is no such gap */
	bool of_rule;            /* not of the whole policy */
};

static void check_gaps(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gap *gap;
		struct fixture f;

		plan_of(&f, rows[i].rules);
		gap = gap_about(&f, rows[i].gap);
		if ((gap ? (int)gap->kind : NONE) != rows[i].kind)
			printf("# %s\n", rows[i].rules);
		CHECK_INT(gap ? (int)gap->kind : NONE, rows[i].kind);
		CHECK_INT(gap && gap->rule, rows[i].of_rule);
		fixture_close(&f);
	}
}

#define CHECK_GAPS(rows) check_gaps((rows), sizeof(rows) / sizeof((rows)[0]))

/* Where nobody judges opens, Landlock cannot tell a file without a name from a write. */
static void gaps_of_unnamed_files(void)
{
	static const struct row rows[] = {
		{READABLE "(allow file-write* (subpath \"/home/u/p\"))", "O_TMPFILE", GAP_STRICTER,
		 true},
		{READABLE "(allow file-write*)", "O_TMPFILE", NONE, false},
		{READABLE, "O_TMPFILE", NONE, false}, /* denied everywhere: as the policy says */
		{READABLE "(allow file-write* (subpath \"/home/u/p\"))"
			  "(deny file-write* (literal \"/home/u/p/.git\"))",
		 "O_TMPFILE", NONE, false}, /* judged */
		{READABLE "(allow file-write* (subpath \"/home/u/p\"))"
			  "(deny file-read* (regex #\"\\.pem$\"))",
		 "O_TMPFILE", NONE, false},
	};

	CHECK_GAPS(rows);
}

/* Opens that are judged are the broker's, whose devices Landlock does not bound. */
static void gaps_of_devices(void)
{
	static const struct row rows[] = {
		{"(allow default) (deny file-read* (regex #\"\\.pem$\"))"
		 "(deny file-ioctl (literal \"/dev/null\"))",
		 "may take no requests", GAP_STRICTER, true},
		{"(allow default) (deny file-read* (regex #\"\\.pem$\"))", "may take no requests",
		 NONE, false},
		{"(allow default) (deny file-ioctl (literal \"/dev/null\"))",
		 "may take no requests", NONE, false},
		{"(allow default) (deny file-read* file-write* (subpath \"/dev\"))"
		 "(deny file-read* (regex #\"\\.pem$\")) (deny file-ioctl (literal \"/dev/null\"))",
		 "may take no requests", NONE, false}, /* denied all the same */
	};

	CHECK_GAPS(rows);
}

/* What Linux has and no request carries makes a deny loose; what it does not have never matches. */
static void gaps_of_unknown_filters(void)
{
	static const struct row rows[] = {
		{READABLE "(deny file-write* (uid 501))", "is not known", GAP_CONTENT, true},
		{READABLE "(deny file-read-metadata (mount-relative-subpath \"/x\"))",
		 "is not known", GAP_METADATA, true},
		{READABLE "(deny file-read-data (require-not (process-path \"/x\")))",
		 "is not known", GAP_STRICTER, true},
		{READABLE "(allow file-write* (require-all (subpath \"/x\")"
			  " (filesystem-name \"tmpfs\")))",
		 "is not known", GAP_STRICTER, true},
		{READABLE "(allow network-outbound (require-not (uid 0)))", "is not known",
		 GAP_CONTENT, true},
		/* there is nothing to deny */
		{READABLE "(deny mach-lookup (uid 501))", "is not known", NONE, false},
		{READABLE "(deny file-read* (extension \"com.apple.app-sandbox.read\"))",
		 "is not known", NONE, false},
		{READABLE "(deny file-read* (subpath \"/x\"))", "is not known", NONE, false},
	};

	CHECK_GAPS(rows);
}

/* What is never judged is a gap, whichever of the operations that fall to it a rule is about. */
static void gaps_of_operations(void)
{
	static const struct row rows[] = {
		{"(deny default) (allow system-kext-load)", "always refused", GAP_STRICTER, false},
		{"(deny default) (allow system-kext-unload)", "always refused", GAP_STRICTER,
		 false},
		{"(deny default) (deny fs-quota*)", "always refused", NONE, false},
		{"(deny default) (deny fs-quota*) (allow fs-quota-set-usage)", "always refused",
		 GAP_STRICTER, false},
		{"(deny default) (deny fs-quota*) (allow file-mount-update)", "always refused",
		 GAP_STRICTER, false},
		{"(allow default)", "command lines", NONE, false},
		{"(allow default) (deny process-info*)", "command lines", GAP_METADATA, true},
		{"(allow default) (deny process-info-pidinfo)", "command lines", GAP_METADATA,
		 true},
		{"(allow default) (deny socket-option-set)", "socket options", GAP_METADATA, true},
		{"(allow default) (deny socket-ioctl)", "socket options", NONE, false},
	};

	CHECK_GAPS(rows);
}

/* What the filter refuses because it does not see whom it is about. */
static void gaps_of_the_unseen(void)
{
	static const struct row rows[] = {
		{"(allow default)", "message queues", NONE, false},
		{"(deny default)", "message queues", NONE, false},
		{"(deny default) (allow ipc-posix*)", "message queues", NONE, false},
		{"(deny default) (allow ipc-posix* (ipc-posix-name \"/a\"))", "message queues",
		 GAP_STRICTER, true},
		{"(allow default) (deny ipc-posix* (ipc-posix-name \"/a\"))", "message queues",
		 GAP_STRICTER, true},
		{"(allow default) (deny ipc-posix-shm* (ipc-posix-name \"/a\"))", "message queues",
		 NONE, false},
		{"(allow default)", "other families", NONE, false},
		{"(deny default)", "other families", NONE, false},
		{"(deny default) (allow system-socket)", "and route netlink are refused",
		 GAP_STRICTER, true},
		{"(allow default) (deny system-socket (socket-domain AF_INET))",
		 "than unix and IP are refused", GAP_STRICTER, true},
		{"(deny default) (allow system-socket (socket-domain AF_UNIX))",
		 "than unix and IP are refused", GAP_STRICTER, true},
		{"(allow default) (deny system-socket)", "other families", NONE, false},
	};

	CHECK_GAPS(rows);
}

/* ---- Gaps that depend on more than the rules ---- */

/* In a name space of our own all of them are the session's. */
static void gaps_of_queues_depend_on_the_scope(void)
{
	struct fixture f;

	fixture_open(&f, "(deny default) (allow ipc-posix* (ipc-posix-name \"/a\"))");
	f.input.private_scope = SCOPE_IPC;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!gap_about(&f, "message queues"));
	f.caps.userns = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(gap_about(&f, "objects and message queues are refused"));
	CHECK(!gap_about(&f, "POSIX message queues"));
	fixture_close(&f);
}

/* A mount over something says that there is something. What is below it is gone. */
static void gaps_of_what_is_hidden(void)
{
	static const struct {
		const char *rules;
		bool gap;
	} rows[] = {
		{"(deny file-read* (subpath \"/home/u/.ssh\"))", false},
		{"(deny file-read* file-test-existence (subpath \"/home/u/.ssh\"))", true},
		{"(deny file-read* (subpath \"/home/u/.ssh\"))"
		 "(deny file-test-existence (literal \"/home/u/.ssh\"))",
		 true},
		{"(deny file-read* (subpath \"/home/u/.ssh\"))"
		 "(deny file-test-existence (literal \"/home/u/.ssh/id\"))",
		 false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct gap *gap;
		char text[256];
		struct fixture f;

		(void)snprintf(text, sizeof(text), "%s%s", READABLE, rows[i].rules);
		plan_of(&f, text);
		CHECK(mount_of(&f, MOUNT_HIDE, "/home/u/.ssh"));
		gap = gap_about(&f, "seen: existence");
		CHECK_INT(gap != NULL, rows[i].gap);
		CHECK(!gap || (gap->kind == GAP_METADATA && gap->rule));
		fixture_close(&f);
	}
}

/* Where nobody can judge, what the command starts with could do what it is denied. */
static void gaps_of_inherited_sockets(void)
{
	struct fixture f;

	fixture_open(&f, "(allow default) (deny network*)");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!(f.plan.brokered & BROKER_INHERITED));
	f.input.inherits_network = true;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(f.plan.brokered & BROKER_INHERITED);
	CHECK(!gap_about(&f, "started with"));
	f.caps.notify = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(gap_about(&f, "started with") && gap_about(&f, "started with")->kind == GAP_CONTENT);
	f.input.inherits_network = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!gap_about(&f, "started with"));
	fixture_close(&f);
	fixture_open(&f, "(allow default)");
	f.input.inherits_network = true;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!(f.plan.brokered & BROKER_INHERITED));
	fixture_close(&f);
}

/* The broker makes the sockets that it judges, and has no others. */
static void gaps_of_lent_sockets(void)
{
	struct fixture f;

	fixture_open(&f, "(allow default) (deny network-outbound (remote tcp \"*:25\"))");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!gap_about(&f, "lends"));
	f.caps.pidfd_getfd = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(gap_about(&f, "lends") && gap_about(&f, "lends")->kind == GAP_STRICTER);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny signal (target others))");
	f.caps.pidfd_getfd = false;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK(!gap_about(&f, "lends"));
	fixture_close(&f);
}

static void gaps_that_refuse(void)
{
	struct fixture f;

	plan_of(&f, "(allow default) (deny file-map-executable (subpath \"/tmp\"))");
	CHECK(plan_refusal(&f.plan) && plan_refusal(&f.plan)->rule);
	fixture_close(&f);
	plan_of(&f, "(allow default) (deny mach-lookup) (deny iokit*)");
	CHECK(!plan_refusal(&f.plan));
	CHECK(!gap_about(&f, "mach"));
	fixture_close(&f);
}

static void gaps_name_the_rule(void)
{
	struct fixture f;

	fixture_open(&f, READABLE "\n(deny file-read* (subpath \"/home/u/.ssh\"))");
	f.caps.userns = false;
	CHECK_INT(fixture_plan(&f), 0);
	for (size_t i = 0; i < f.plan.n_gaps; i++)
		if (f.plan.gaps[i].rule && f.plan.gaps[i].rule->at.line == 3)
			CHECK(f.plan.gaps[i].kind == GAP_METADATA &&
			      strstr(f.plan.gaps[i].text, "names of entries") &&
			      strstr(f.plan.gaps[i].text, "attributes"));
	CHECK(gap_about(&f, "can still be seen") != NULL);
	CHECK(!plan_refusal(&f.plan));
	f.caps.userns = true; /* the control: hidden by a mount */
	CHECK_INT(fixture_plan(&f), 0);
	for (size_t i = 0; i < f.plan.n_gaps; i++)
		CHECK(!f.plan.gaps[i].rule || f.plan.gaps[i].rule->at.line != 3);
	fixture_close(&f);
}

int main(void)
{
	RUN(gaps_of_unnamed_files);
	RUN(gaps_of_devices);
	RUN(gaps_of_unknown_filters);
	RUN(gaps_of_operations);
	RUN(gaps_of_the_unseen);
	RUN(gaps_of_queues_depend_on_the_scope);
	RUN(gaps_of_what_is_hidden);
	RUN(gaps_of_inherited_sockets);
	RUN(gaps_of_lent_sockets);
	RUN(gaps_that_refuse);
	RUN(gaps_name_the_rule);
	return test_done();
}
