/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for a run inside another sandbox, whose broker judges what that one's filter asks about. */
#include "plan/lane.h"
#include "plan/nested.h"
#include "seccomp_rows.h"

#include "base/banned.h"

/* Everything is judged, but signals. */
#define WRITES "(allow default)(deny file-write* (regex #\"x$\"))"

/* Opens INNER with what the sandbox of OUTER offers. */
static void open_inside(struct fixture *f, const char *outer, unsigned scope, const char *inner)
{
	struct fixture around;

	fixture_open(&around, outer);
	around.input.lane = true;
	CHECK_INT(fixture_plan(&around), 0);
	fixture_open(f, inner);
	f->caps.notify = f->caps.userns = false;
	f->caps.nested = true;
	f->caps.outer = (struct outer){
		.asks = true,
		.classes = around.plan.brokered,
		.scope = scope,
		.when = around.plan.when,
	};
	fixture_close(&around);
}

static void nobody_is_asked_by_our_filter(void)
{
	static const char *const profiles[] = {"(allow default)", WRITES, ALL_JUDGED, READABLE};
	static const uint64_t args[][6] = {
		{0},
		{1, 1, 1, 1, 1, 1},
		{2, 0101, 0644, 0, 0, 0},
		{0, 0, NESTED_CALL_FLAGS},
	};

	for (size_t o = 0; o < 4; o++) {
		for (size_t i = 0; i < 4; i++) {
			struct fixture f;

			open_inside(&f, profiles[o], 0, profiles[i]);
			CHECK_INT(fixture_plan(&f), 0);
			CHECK(f.plan.nested);
			for (enum call call = 0; call < CALL_COUNT; call++)
				for (size_t a = 0; a < sizeof(args) / sizeof(args[0]); a++)
					CHECK(call_number(call, f.caps.arch) < 0 ||
					      simulate(&f, call, args[a]) != ASKED);
			fixture_close(&f);
		}
	}
}

static void what_is_asked_outside_goes_there(void)
{
	static const struct row rows[] = {
		{CALL_OPENAT, {0, 0, 0101, 0644}, ALLOWED},
		{CALL_MKDIR, {0, 0755}, ALLOWED},
		{CALL_RENAME, {0}, ALLOWED},
		{CALL_FCHMOD, {0}, ALLOWED},
		{CALL_OPENAT2, {0}, ALLOWED},
		{CALL_MOUNT, {0}, REFUSED},
		{CALL_IO_URING_SETUP, {0}, ABSENT},
		{CALL_LANDLOCK_CREATE_RULESET, {0, 0, NESTED_CALL_FLAGS, NESTED_BEGIN}, ALLOWED},
		{CALL_LANDLOCK_CREATE_RULESET, {0, 0, 0, 0, 0, NESTED_MARK}, ALLOWED},
		{CALL_LANDLOCK_RESTRICT_SELF, {3, 0, 0, 0, 0, NESTED_MARK}, ALLOWED},
		{CALL_LANDLOCK_RESTRICT_SELF, {3}, AS_ERRNO + LINUX_EOPNOTSUPP},
	};
	struct fixture f;

	open_inside(&f, WRITES, 0, WRITES);
	CHECK_ROWS(&f, rows);
	CHECK_INT(f.plan.brokered, f.caps.outer.classes);
	CHECK(!plan_refusal(&f.plan));
	fixture_close(&f);
}

/* Where the other one lets calls through, nobody would judge them. */
static void what_is_not_asked_outside_is_refused(void)
{
	static const struct row rows[] = {
		{CALL_PRLIMIT64, {1}, REFUSED},         {CALL_PRLIMIT64, {0}, ALLOWED},
		{CALL_SCHED_SETAFFINITY, {1}, REFUSED}, {CALL_ACCESS, {0, 2}, ALLOWED},
		{CALL_MEMFD_CREATE, {0}, REFUSED},
	};
	struct fixture f;

	open_inside(&f, WRITES, 0,
		    WRITES "(deny process-exec*)(allow process-exec* (subpath \"/bin\"))");
	f.input.private_scope = SCOPE_PID;
	CHECK_ROWS(&f, rows);
	CHECK_INT(f.plan.brokered & BROKER_EXEC, 0);
	fixture_close(&f);
}

static void a_class_that_is_not_asked_about_stops_the_run(void)
{
	static const struct {
		const char *inner, *text;
	} rows[] = {
		{WRITES, "writes are not judged"},
		{"(allow default)(deny file-read* (regex #\"x$\"))", "reads are not judged"},
		{"(allow default)(deny network-outbound (remote tcp \"*:25\"))",
		 "IP sockets are not judged"},
		{"(allow default)(deny network-outbound (literal \"/s\"))", "unix socket"},
		{"(allow default)(deny signal (signal-number SIGUSR1))", "signals are not judged"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct gap *gap;
		struct fixture f;

		open_inside(&f, "(allow default)", 0, rows[i].inner);
		CHECK_INT(fixture_plan(&f), 0);
		gap = plan_refusal(&f.plan);
		CHECK(gap && gap->rule && gap->help);
		CHECK(gap_about(&f, rows[i].text));
		fixture_close(&f);
		open_inside(&f, rows[i].inner, 0, rows[i].inner);
		CHECK_INT(fixture_plan(&f), 0);
		CHECK(!plan_refusal(&f.plan));
		fixture_close(&f);
	}
}

/* Its calls are bounded by both floors, if both say so. */
static void the_lane_is_open_where_both_open_it(void)
{
	static const struct row closed[] = {
		{CALL_OPENAT, {0, 0, 0, 0, 0, LANE_MARK}, AS_ERRNO + LINUX_EACCES},
		{CALL_OPENAT, {0, 0, 0, 0, 0, 0}, ALLOWED},
		{CALL_LANDLOCK_CREATE_RULESET, {0, 0, LANE_READS_FLAGS}, AS_ERRNO + LINUX_EINVAL},
	};
	static const struct row opened[] = {
		{CALL_OPENAT, {0, 0, 0, 0, 0, LANE_MARK}, ALLOWED},
		{CALL_LANDLOCK_CREATE_RULESET, {0, 0, LANE_READS_FLAGS}, AS_ERRNO + LANE_ERRNO},
	};
	const char *policy =
		"(deny default) (allow file-read* (subpath \"/usr\") (subpath \"/home\"))"
		"(allow process-exec* (subpath \"/usr\"))"
		"(deny file-read* (regex #\"^/home/.*\\\\.pem$\"))";
	struct fixture f;

	open_inside(&f, policy, 0, policy);
	CHECK(f.caps.outer.when & WHEN_LANE(LANE_READ));
	CHECK_ROWS(&f, closed);
	f.input.lane = true;
	CHECK_ROWS(&f, opened);
	fixture_close(&f);
}

static void what_is_private_around_is_shared_with_it(void)
{
	static const struct row rows[] = {
		{CALL_SEMGET, {0}, ALLOWED},
		{CALL_SOCKET, {2, 1, 0}, ALLOWED},
	};
	static const struct row alone[] = {
		{CALL_SEMGET, {0}, REFUSED},
		{CALL_SOCKET, {2, 1, 0}, REFUSED},
	};
	const char *policy = READABLE "(allow signal (target same-sandbox))";
	struct fixture f;

	open_inside(&f, WRITES, SCOPE_ALL, policy);
	f.input.around = SCOPE_ALL;
	CHECK_ROWS(&f, rows);
	CHECK(grants(&f, "/dev/shm/object", LL_WRITE_FILE));
	CHECK(f.plan.landlock_scoped & LL_SCOPED_SIGNAL);
	CHECK_INT(f.plan.ns, 0);
	f.input.around = 0;
	f.input.private_scope = SCOPE_ALL;
	CHECK_ROWS(&f, alone);
	CHECK(!grants(&f, "/dev/shm/object", LL_WRITE_FILE));
	fixture_close(&f);
}

int main(void)
{
	RUN(nobody_is_asked_by_our_filter);
	RUN(what_is_asked_outside_goes_there);
	RUN(what_is_not_asked_outside_is_refused);
	RUN(a_class_that_is_not_asked_about_stops_the_run);
	RUN(the_lane_is_open_where_both_open_it);
	RUN(what_is_private_around_is_shared_with_it);
	return test_done();
}
