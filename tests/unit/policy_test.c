/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rule decides: the consequences of SBPL.md 5.1 one by one, the vectors
 * of its section 9 that are about paths, the runtime's rules, wrong input.
 * Attributes other than the path: guard_test.c. The automaton: automaton_test.c.
 */
#include "rules.h"

#include "base/banned.h"

/* ---- Names ---- */

static void names_and_parents(void)
{
	CHECK_STR(op_name(OP_FILE_READ_DATA), "file-read-data");
	CHECK_INT(op_find(STR("file-write-create")), OP_FILE_WRITE_CREATE);
	CHECK_INT(op_find(STR("file-write-creat")), OP_COUNT);
	CHECK_INT(op_parent(OP_FILE_READ_DATA), OP_FILE_READ_ANY);
	CHECK_INT(op_parent(OP_NETWORK_BIND), OP_NETWORK_INBOUND);
	CHECK_INT(op_parent(OP_DEFAULT), OP_DEFAULT);
	CHECK_STR(modifier_name(MODIFIER_NO_SANDBOX), "no-sandbox");
	CHECK_STR(verdict_name(VERDICT_ALLOW), "allow");
	for (unsigned op = 0; op < OP_COUNT; op++)
		CHECK(op_parent((enum op)op) <= op);
}

static void terminals_have_their_own_default(void)
{
	CHECK(op_is_terminal(OP_PROCESS_INFO_ANY));
	CHECK_INT(op_builtin(OP_PROCESS_INFO_ANY), VERDICT_ALLOW);
	CHECK(op_is_terminal(OP_FILE_WRITE_SETUGID));
	CHECK_INT(op_builtin(OP_FILE_WRITE_SETUGID), VERDICT_DENY);
	CHECK(!op_is_terminal(OP_FILE_READ_DATA));
	CHECK_INT(op_builtin(OP_DEFAULT), VERDICT_DENY);
}

static void filters_fit_operations(void)
{
	CHECK(op_takes(OP_FILE_READ_DATA, FILTER_PATH));
	CHECK(!op_takes(OP_FILE_READ_DATA, FILTER_GLOBAL_NAME));
	CHECK(op_takes(OP_MACH_LOOKUP, FILTER_GLOBAL_NAME));
	CHECK(!op_takes(OP_PROCESS_FORK, FILTER_PATH));
	CHECK(op_takes(OP_PROCESS_FORK, FILTER_PROCESS_ATTRIBUTE));
	CHECK(op_takes(OP_SYSCALL_UNIX, FILTER_PROCESS_ATTRIBUTE));
	CHECK(!op_takes(OP_SYSCALL_UNIX, FILTER_EXTENSION));
	CHECK(!op_takes(OP_STORAGE_CLASS_MAP, FILTER_PROCESS_ATTRIBUTE));
	CHECK(op_takes(OP_FILE_LOCK, FILTER_PATH)); /* no public table: all fit */
}

/* ---- SBPL.md 5.1, the consequences ---- */

/* 1. Among the filtered rules of one operation the last match wins. */
static void last_match_wins(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/w"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, subpath(b, "/w/d"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, subpath(b, "/v/d"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/v"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, subpath(b, "/u"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/u/deep"));
	policy = rules_build(b);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_ANY, "/w/x")), 1);
	CHECK(allows(policy, OP_FILE_READ_ANY, "/w/x"));
	CHECK(!allows(policy, OP_FILE_READ_ANY, "/w/d/x"));
	CHECK(allows(policy, OP_FILE_READ_ANY, "/v/d/x"));
	CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_ANY, "/v/d/x")), 4);
	CHECK(!allows(policy, OP_FILE_READ_ANY, "/u/x"));
	CHECK(allows(policy, OP_FILE_READ_ANY, "/u/deep/x"));
	policy_free(policy);
}

/* 2. An unfiltered rule never overrides a filtered match, in either order. */
static void unfiltered_is_only_a_default(void)
{
	for (int order = 0; order < 2; order++) {
		struct policy_builder *b = rules_new(TARGET_LINUX);
		struct policy *policy;

		if (order == 0)
			rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, NULL);
		rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, subpath(b, "/w"));
		if (order == 1)
			rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, NULL);
		policy = rules_build(b);
		CHECK(allows(policy, OP_FILE_WRITE_ANY, "/w/x"));
		CHECK(!allows(policy, OP_FILE_WRITE_ANY, "/x"));
		CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_ANY, "/x")), order ? 2 : 1);
		policy_free(policy);
	}
}

static void last_unfiltered_wins(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_DEFAULT, NULL);
	rules_add(b, VERDICT_DENY, OP_DEFAULT, NULL);
	policy = rules_build(b);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_DATA, "/x")), 2);
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/x"));
	policy_free(policy);
}

/* 3. A rule of the more special operation wins over its parents', whatever the order. */
static void special_operation_wins(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;
	struct decision decision;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, subpath(b, "/"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, literal(b, "/x"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_CREATE, subpath(b, "/d"));
	rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, subpath(b, "/d"));
	policy = rules_build(b);
	CHECK(allows(policy, OP_FILE_READ_DATA, "/x"));
	CHECK(!allows(policy, OP_FILE_READ_METADATA, "/x"));
	CHECK(allows(policy, OP_FILE_WRITE_CREATE, "/d/new"));
	CHECK(!allows(policy, OP_FILE_WRITE_DATA, "/d/new"));
	decision = decide_path(policy, OP_FILE_WRITE_UNLINK, "/d/new");
	CHECK_INT(decision.op, OP_FILE_WRITE_ANY);
	CHECK_INT(line_of(decision), 4);
	policy_free(policy);
}

/* 4. Terminal operations ignore `default`. */
static void terminals_ignore_default(void)
{
	enum op open[] = {OP_PROCESS_INFO_ANY, OP_PROCESS_INFO_PIDINFO, OP_FILE_MAP_EXECUTABLE,
			  OP_FILE_LINK,        OP_SYSCALL_UNIX,         OP_NVRAM_GET};
	enum op closed[] = {OP_FILE_WRITE_SETUGID, OP_JOB_CREATION, OP_STORAGE_CLASS_MAP};
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_DENY, OP_DEFAULT, NULL);
	policy = rules_build(b);
	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++)
		CHECK(allows(policy, open[i], "/x"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/x"));
	CHECK_INT(decide_path(policy, OP_PROCESS_INFO_PIDINFO, "").op, OP_PROCESS_INFO_ANY);
	CHECK(!decide_path(policy, OP_PROCESS_INFO_PIDINFO, "").rule);
	policy_free(policy);

	b = rules_new(TARGET_LINUX);
	rules_add(b, VERDICT_ALLOW, OP_DEFAULT, NULL);
	policy = rules_build(b);
	for (size_t i = 0; i < sizeof(closed) / sizeof(*closed); i++)
		CHECK(!allows(policy, closed[i], "/x"));
	CHECK(allows(policy, OP_FILE_READ_DATA, "/x"));
	policy_free(policy);
}

/* 5. No rule for `default`: deny. */
static void nothing_said_is_denied(void)
{
	struct policy *policy = rules_build(rules_new(TARGET_LINUX));
	struct decision decision = decide_path(policy, OP_FILE_READ_DATA, "/x");

	CHECK_INT(decision.verdict, VERDICT_DENY);
	CHECK(!decision.rule);
	CHECK_INT(decision.op, OP_DEFAULT);
	CHECK_INT(policy_n_states(policy), 1);
	policy_free(policy);
}

/* 6. `default` is an operation, its filtered rules are legal. */
static void default_takes_filters(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_DENY, OP_DEFAULT, NULL);
	rules_add(b, VERDICT_ALLOW, OP_DEFAULT, subpath(b, "/open"));
	policy = rules_build(b);
	CHECK(allows(policy, OP_FILE_READ_DATA, "/open/x"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/x"));
	CHECK(!allows(policy, OP_PROCESS_FORK, ""));
	/* A fork has no path, whatever a request says. */
	CHECK(!allows(policy, OP_PROCESS_FORK, "/open/x"));
	policy_free(policy);
}

/* 7. Wildcard rules are inherited, not expanded: the child falls through to the parent's list. */
static void wildcards_are_inherited(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_ANY, NULL);
	rules_add(b, VERDICT_DENY, OP_FILE_READ_DATA, literal(b, "/secret"));
	policy = rules_build(b);
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/secret"));
	CHECK(allows(policy, OP_FILE_READ_DATA, "/other"));
	CHECK_INT(decide_path(policy, OP_FILE_READ_DATA, "/other").op, OP_FILE_ANY);
	CHECK(allows(policy, OP_FILE_READ_METADATA, "/secret"));
	CHECK(!allows(policy, OP_NETWORK_OUTBOUND, "/secret"));
	policy_free(policy);
}

/* ---- SBPL.md 9 ---- */

static void vector_3_and_4_private_names(void)
{
	struct {
		enum target target;
		const char *rule, *path;
		bool allowed;
	} rows[] = {
		{TARGET_DARWIN, "/etc", "/private/etc/hosts", false},
		{TARGET_DARWIN, "/private/etc", "/private/etc/hosts", true},
		{TARGET_DARWIN, "/private/etc", "/etc/hosts", false},
		{TARGET_LINUX, "/etc", "/etc/hosts", true},
		{TARGET_LINUX, "/private/etc", "/etc/hosts", true},
		{TARGET_LINUX, "/private/etc", "/private/etc/hosts", true},
		{TARGET_LINUX, "/etc", "/private/etc/hosts", false},
		{TARGET_LINUX, "/private/tmp", "/tmp", true},
		{TARGET_LINUX, "/private/tmp", "/tmpx", false},
		{TARGET_LINUX, "/private/var", "/var/x", true},
		{TARGET_LINUX, "/private/usr", "/usr/x", false},
		{TARGET_LINUX, "/private", "/tmp/x", true},
		{TARGET_LINUX, "/private", "/usr/x", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct policy_builder *b = rules_new(rows[i].target);
		struct policy *policy;

		rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, rows[i].rule));
		policy = rules_build(b);
		if (allows(policy, OP_FILE_READ_DATA, rows[i].path) != rows[i].allowed)
			printf("# row %zu\n", i);
		CHECK(allows(policy, OP_FILE_READ_DATA, rows[i].path) == rows[i].allowed);
		policy_free(policy);
	}
}

static bool allows_object(const struct policy *policy, const char *name)
{
	const struct fact fact = {.filter = FILTER_IPC_POSIX_NAME, .text = str_of(name)};
	const struct request request = {
		.op = OP_IPC_POSIX_SHM_WRITE_CREATE, .facts = &fact, .n_facts = 1};
	struct decision decision;

	policy_decide(policy, &request, &decision);
	return decision.verdict == VERDICT_ALLOW;
}

/* shm_open(3) takes a name with any number of slashes in front, for the same object. */
static void names_of_objects_have_many_spellings(void)
{
	static const struct {
		enum match match;
		const char *pattern, *name;
		bool holds, holds_on_darwin;
	} rows[] = {
		{MATCH_LITERAL, "a", "a", true, true},
		{MATCH_LITERAL, "a", "/a", true, false},
		{MATCH_LITERAL, "/a", "a", true, false},
		{MATCH_LITERAL, "/a", "/a", true, true},
		{MATCH_LITERAL, "/a", "b", false, false},
		{MATCH_LITERAL, "/a", "ab", false, false},
		{MATCH_LITERAL, "a", "//a", true, false},
		{MATCH_LITERAL, "/a", "///a", true, false},
		{MATCH_LITERAL, "//a", "a", true, false},
		{MATCH_LITERAL, "a/", "a", false, false},
		{MATCH_PREFIX, "a", "/ab", true, false},
		{MATCH_PREFIX, "/", "ab", true, false},
		{MATCH_REGEX, "^/a$", "a", true, false},
		{MATCH_REGEX, "^a.*z$", "/abz", true, false},
		{MATCH_REGEX, "^[^/]", "/a", true, false},
		{MATCH_REGEX, "/a", "ab", true, false},
		{MATCH_REGEX, "/a", "ba", false, false},
		{MATCH_REGEX, "^$", "a", false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int target = TARGET_LINUX; target <= TARGET_DARWIN; target++) {
			struct policy_builder *b = rules_new((enum target)target);
			struct expr *filter = literal(b, rows[i].pattern);
			bool want =
				target == TARGET_LINUX ? rows[i].holds : rows[i].holds_on_darwin;
			struct policy *policy;

			filter->test.filter = FILTER_IPC_POSIX_NAME;
			filter->test.match = rows[i].match;
			rules_add(b, VERDICT_ALLOW, OP_IPC_POSIX_ANY, filter);
			policy = rules_build(b);
			if (allows_object(policy, rows[i].name) != want)
				printf("# row %zu, target %d\n", i, target);
			CHECK(allows_object(policy, rows[i].name) == want);
			policy_free(policy);
		}
}

static void vector_7_and_8_case(void)
{
	for (int target = TARGET_LINUX; target <= TARGET_DARWIN; target++) {
		struct policy_builder *b = rules_new((enum target)target);
		bool folds = target == TARGET_DARWIN;
		struct policy *policy;

		rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, NULL);
		rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, regex(b, "^.*/MIXEDCASE\\.txt$"));
		rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, regex(b, "^.*/\\.xssh(/.*)?$"));
		rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, literal(b, "/Some/File"));
		policy = rules_build(b);
		CHECK(allows(policy, OP_FILE_READ_DATA, "/a/MixedCase.txt") != folds);
		CHECK(!allows(policy, OP_FILE_READ_DATA, "/a/MIXEDCASE.txt"));
		CHECK(allows(policy, OP_FILE_READ_DATA, "/a/.SSH/config"));
		CHECK(allows(policy, OP_FILE_READ_DATA, "/some/fILE") != folds);
		policy_free(policy);
	}
}

static void vector_9_and_10_regex_quirks(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct test test = {.filter = FILTER_PATH, .match = MATCH_REGEX, .text = STR("(?i)^x")};
	struct policy *policy;
	struct err e = {0};

	CHECK_INT(policy_check_pattern(&test, &e), -ERR_POLICY);
	CHECK_STR(e.text, "unexpected ^ operator in middle of expression");

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, NULL);
	rules_add(b, VERDICT_DENY, OP_FILE_READ_DATA,
		  group(b, EXPR_ANY, 2, regex(b, "^/p/(?:.*/)?\\.env$"), literal(b, "/p/other")));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_DATA, regex(b, "^/q/(.*/)?\\.env$"));
	policy = rules_build(b);
	CHECK(allows(policy, OP_FILE_READ_DATA, "/p/a/.env"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/p/other")); /* only that pattern is dead */
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/q/a/.env"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/q/.env"));
	policy_free(policy);
}

static void vector_12_unix_sockets(void)
{
	for (int order = 0; order < 2; order++) {
		struct policy_builder *b = rules_new(TARGET_LINUX);
		struct request ip = {.op = OP_NETWORK_OUTBOUND,
				     .remote = {.proto = PROTO_IP4 | PROTO_TCP,
						.addr = {1, 2, 3, 4},
						.port = 80}};
		struct policy *policy;

		if (order == 0)
			rules_add(b, VERDICT_ALLOW, OP_NETWORK_OUTBOUND, NULL);
		rules_add(b, VERDICT_DENY, OP_NETWORK_OUTBOUND, subpath(b, "/s"));
		if (order == 1)
			rules_add(b, VERDICT_ALLOW, OP_NETWORK_OUTBOUND, NULL);
		policy = rules_build(b);
		CHECK(!allows(policy, OP_NETWORK_OUTBOUND, "/s/sock"));
		CHECK(allows(policy, OP_NETWORK_OUTBOUND, "/t/sock"));
		CHECK_INT(decide(policy, &ip).verdict, VERDICT_ALLOW);
		policy_free(policy);
	}
}

static void path_filters_never_admit_ip(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request ip = {.op = OP_NETWORK_OUTBOUND, .remote = {.proto = PROTO_IP4 | PROTO_TCP}};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_NETWORK_OUTBOUND, regex(b, ".*"));
	rules_add(b, VERDICT_ALLOW, OP_NETWORK_OUTBOUND, prefix(b, ""));
	policy = rules_build(b);
	CHECK_INT(decide(policy, &ip).verdict, VERDICT_DENY);
	CHECK(allows(policy, OP_NETWORK_OUTBOUND, "/s"));
	CHECK_INT(policy_verdicts_at(policy, policy_start(policy), OP_NETWORK_OUTBOUND), CAN_DENY);
	policy_free(policy);
}

/* ---- The runtime's rules (DESIGN 15.5) ---- */

static void runtime_fills_what_is_left(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_DENY, OP_DEFAULT, NULL);
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, subpath(b, "/usr/lib/secret"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, subpath(b, "/w"));
	rules_add_runtime(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/usr/lib"));
	rules_add_runtime(b, VERDICT_ALLOW, OP_SYSCTL_READ, NULL);
	policy = rules_build(b);
	CHECK(allows(policy, OP_FILE_READ_DATA, "/usr/lib/libc.so"));
	CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_DATA, "/usr/lib/libc.so")), 4);
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/usr/lib/secret/x")); /* never beats a deny */
	CHECK(allows(policy, OP_FILE_READ_DATA, "/w/x"));
	CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_DATA, "/w/x")), 3);
	CHECK(!allows(policy, OP_FILE_WRITE_DATA, "/usr/lib/x"));
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/usr/lib/x")), 1);
	CHECK(allows(policy, OP_SYSCTL_READ, ""));
	policy_free(policy);
}

static void runtime_stands_back_behind_a_default_of_the_profile(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_DENY, OP_SYSCTL_READ, NULL);
	rules_add(b, VERDICT_DENY, OP_PROCESS_ANY, NULL);
	rules_add_runtime(b, VERDICT_ALLOW, OP_SYSCTL_READ, NULL);
	rules_add_runtime(b, VERDICT_ALLOW, OP_PROCESS_FORK, NULL);
	policy = rules_build(b);
	CHECK(!allows(policy, OP_SYSCTL_READ, "")); /* said of the operation itself */
	CHECK(allows(policy, OP_PROCESS_FORK, "")); /* said of its parent only */
	policy_free(policy);
}

static void runtime_order_and_denials(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;
	struct decision decision;

	rules_add(b, VERDICT_DENY, OP_DEFAULT, NULL);
	rules_add_runtime(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/usr"));
	rules_add_runtime(b, VERDICT_DENY, OP_FILE_READ_ANY, subpath(b, "/usr/local"));
	policy = rules_build(b);
	CHECK(allows(policy, OP_FILE_READ_DATA, "/usr/bin"));
	decision = decide_path(policy, OP_FILE_READ_DATA, "/usr/local/x");
	CHECK_INT(decision.verdict, VERDICT_DENY);
	CHECK_INT(line_of(decision), 1); /* the profile's default stays in charge */
	policy_free(policy);
}

/* ---- Which of several equal rules ---- */

/* So many texts that some share their place in a table with more than are looked for there. */
static void every_text_of_many_is_found(void)
{
	enum {
		TEXTS = 1 << 16
	};
	for (int target = TARGET_LINUX; target <= TARGET_DARWIN; target++) {
		struct policy_builder *b = rules_new(target);
		struct policy *policy;
		bool folds = target == TARGET_DARWIN;
		unsigned wrong = 0;
		char text[16];

		rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, regex(b, "\\.o$"));
		for (unsigned i = 0; i < TEXTS; i++) {
			(void)snprintf(text, sizeof(text), "/%x", i * 61);
			rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, text));
		}
		policy = rules_build(b);
		for (unsigned i = 0; i < TEXTS; i++) {
			(void)snprintf(text, sizeof(text), folds ? "/%X" : "/%x", i * 61);
			wrong += line_of(decide_path(policy, OP_FILE_READ_DATA, text)) != i + 2;
			(void)snprintf(text, sizeof(text), folds ? "/%X" : "/%x", i * 61 + 1);
			wrong += line_of(decide_path(policy, OP_FILE_READ_DATA, text)) != 0;
		}
		CHECK_INT(wrong, 0);
		policy_free(policy);
	}
}

/* With a regular expression around, rules of one effect share states; the rule is named all the
 * same. */
static void the_right_rule_is_named(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_FILE_WRITE_DATA, .path = STR("/b/x")};
	struct decision decision;
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, subpath(b, "/a"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, subpath(b, "/b"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, literal(b, "/a/b"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, regex(b, "\\.o$"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, prefix(b, "/private/tmp/p"));
	rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, regex(b, "/\\.git(/|$)"));
	rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, regex(b, "/\\.ssh(/|$)"));
	policy = rules_build(b);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/a/x")), 1);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/b/x")), 2);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/a/b")), 3);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/a/x.o")), 4);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/tmp/pq.o")), 5);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/a/.git")), 6);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/a/.git/.ssh")), 7);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/c")), 0);

	policy_decide_at(policy, policy_walk(policy, policy_start(policy), request.path), &request,
			 &decision);
	CHECK_INT(line_of(decision), 2);
	request.path = STR(""); /* not known to whoever asks: the verdict holds */
	policy_decide_at(policy, policy_walk(policy, policy_start(policy), STR("/b/x")), &request,
			 &decision);
	CHECK_INT(decision.verdict, VERDICT_ALLOW);
	policy_free(policy);
}

/* Rules that differ in a modifier have different effects. */
static void modifiers_are_kept_apart(void)
{
	static const struct modifier quiet = {.id = MODIFIER_NO_REPORT};
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct rule rule = {.verdict = VERDICT_DENY, .op = OP_FILE_READ_ANY};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, NULL);
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, regex(b, "/\\.a"));
	rule.filter = regex(b, "/\\.b");
	rule.modifiers = &quiet;
	rule.n_modifiers = 1;
	CHECK_INT(policy_builder_add(b, &rule, NULL), 0);
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, regex(b, "/\\.c"));
	policy = rules_build(b);
	CHECK_INT(decide_path(policy, OP_FILE_READ_DATA, "/.a").rule->n_modifiers, 0);
	CHECK_INT(decide_path(policy, OP_FILE_READ_DATA, "/.a/.b").rule->n_modifiers, 1);
	CHECK_INT(decide_path(policy, OP_FILE_READ_DATA, "/.b/.c").rule->n_modifiers, 0);
	policy_free(policy);
}

/* ---- Wrong input ---- */

static void bad_patterns_name_their_place(void)
{
	struct {
		const char *text, *message;
	} rows[] = {
		{"a^b", "unexpected ^ operator in middle of expression"},
		{"(^a)", "unexpected ^ operator in middle of expression"},
		{"a|^b", "unexpected ^ operator in middle of expression"},
		{"(a", "unbalanced ( in regular expression"},
		{"a)", "unbalanced ) in regular expression"},
		{"[a", "unbalanced [ in regular expression"},
		{"[", "unbalanced [ in regular expression"},
		{"[]", "unbalanced [ in regular expression"},
		{"[b-a]", "invalid range in regular expression"},
		{"*a", "repetition without an operand in regular expression"},
		{"a|+", "repetition without an operand in regular expression"},
		{"(*)", "repetition without an operand in regular expression"},
		{"^*", "repetition without an operand in regular expression"},
		{"a\\", "trailing backslash in regular expression"},
		{"a{", "invalid interval in regular expression"},
		{"a{x}", "invalid interval in regular expression"},
		{"a{2,1}", "invalid interval in regular expression"},
		{"a{256}", "invalid interval in regular expression"},
		{"[[:alpha:]]", "unsupported [: :], [. .] or [= =] in regular expression"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct test test = {.match = MATCH_REGEX, .text = str_of(rows[i].text)};
		struct err e = {0};

		test.at = (struct span){"p.sb", 3, 7};
		CHECK_INT(policy_check_pattern(&test, &e), -ERR_POLICY);
		CHECK_STR(e.text, rows[i].message);
		CHECK_INT(e.at.line, 3);
	}
}

static void odd_patterns_are_fine(void)
{
	const char *rows[] = {"",     "^",      "$",     "^$",    "a|",      "(a|)b", "()",
			      "[]a]", "[^]a]",  "[a-]",  "[-a]",  "[\\]]",   "a{2,}", "a**",
			      "a$b",  "\\/\\.", "(?:a)", "(?!a)", "\\{a\\}", "a}",    "]"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct test test = {.match = MATCH_REGEX, .text = str_of(rows[i])};
		struct err e = {0};

		if (policy_check_pattern(&test, &e) != 0)
			printf("# \"%s\": %s\n", rows[i], e.text);
		CHECK_INT(policy_check_pattern(&test, &e), 0);
	}
}

static void build_reports_the_pattern(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct expr *bad = regex(b, "(a");
	struct policy *policy = NULL;
	struct err e = {0};

	bad->test.at = (struct span){"p.sb", 12, 5};
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, bad);
	CHECK_INT(policy_build(b, &policy, &e), -ERR_POLICY);
	CHECK(!policy);
	CHECK_INT(e.at.line, 12);
}

static void empty_subpath_is_refused(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct rule rule = {.op = OP_FILE_READ_ANY, .filter = subpath(b, "")};
	struct err e = {0};

	CHECK_INT(policy_builder_add(b, &rule, &e), -ERR_POLICY);
	rule.filter = number(b, FILTER_PATH, 1);
	CHECK_INT(policy_builder_add(b, &rule, &e), -ERR_POLICY);
	rule.filter = subpath(b, "/a");
	CHECK_INT(policy_builder_add(b, &rule, &e), 0);
	policy_builder_free(b);
}

static void nesting_is_bounded(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct rule rule = {.op = OP_FILE_READ_ANY};
	const struct expr *expr = subpath(b, "/a");
	struct err e = {0};

	for (int i = 0; i < 50; i++)
		expr = not(b, expr);
	rule.filter = expr;
	CHECK_INT(policy_builder_add(b, &rule, &e), 0);
	for (int i = 0; i < 5000; i++)
		expr = not(b, expr);
	rule.filter = expr;
	CHECK_INT(policy_builder_add(b, &rule, &e), -ERR_LIMIT);
	policy_builder_free(b);
}

/* ---- Regions and patterns ---- */

struct seen {
	unsigned n;
	char text[8][32];
	enum match match[8];
};

static void see(void *context, const struct rule *rule, const struct test *test)
{
	struct seen *seen = context;

	(void)rule;
	if (seen->n < 8) {
		seen->match[seen->n] = test->match;
		(void)snprintf(seen->text[seen->n++], sizeof(seen->text[0]), "%.*s",
			       (int)test->text.n, test->text.p);
	}
}

static void each_path_speaks_linux(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct seen seen = {0};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY,
		  group(b, EXPR_ANY, 2, subpath(b, "/private/tmp/x"), literal(b, "/a")));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, not(b, regex(b, "/private/tmp")));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/private"));
	policy = rules_build(b);
	policy_each_path(policy, see, &seen);
	CHECK_INT(seen.n, 7);
	CHECK_STR(seen.text[0], "/tmp/x");
	CHECK_STR(seen.text[1], "/a");
	CHECK_STR(seen.text[2], "/private/tmp");
	CHECK_INT(seen.match[2], MATCH_REGEX);
	CHECK_STR(seen.text[3], "/tmp");
	CHECK_STR(seen.text[4], "/var");
	CHECK_STR(seen.text[5], "/etc");
	CHECK_STR(seen.text[6], "/private");
	policy_free(policy);
}

static policy_state at(const struct policy *policy, const char *path)
{
	return policy_walk(policy, policy_start(policy), str_of(path));
}

static void below_knows_the_subtree(void)
{
	const enum op op = OP_FILE_READ_DATA;
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/w"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, literal(b, "/w/d/secret"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, literal(b, "/w/e/")); /* no path is so */
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, literal(b, "/w/e//x"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, literal(b, "/w/e/../x"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, literal(b, "/w/f"));
	policy = rules_build(b);
	CHECK_INT(policy_verdicts_below(policy, policy_start(policy), op), CAN_ALLOW | CAN_DENY);
	CHECK_INT(policy_verdicts_below(policy, at(policy, "/w"), op), CAN_ALLOW | CAN_DENY);
	CHECK_INT(policy_verdicts_below(policy, at(policy, "/w/d"), op), CAN_ALLOW | CAN_DENY);
	CHECK_INT(policy_verdicts_below(policy, at(policy, "/w/c"), op), CAN_ALLOW);
	CHECK_INT(policy_verdicts_below(policy, at(policy, "/w/e"), op), CAN_ALLOW);
	CHECK_INT(policy_verdicts_at(policy, at(policy, "/w/f"), op), CAN_DENY);
	CHECK_INT(policy_verdicts_below(policy, at(policy, "/w/f"), op), CAN_ALLOW);
	CHECK_INT(policy_verdicts_below(policy, at(policy, "/x"), op), CAN_DENY);
	CHECK_INT(policy_verdicts_below(policy, at(policy, "/w"), OP_FILE_WRITE_DATA), CAN_DENY);
	policy_free(policy);
}

static void compare_says_what_a_move_changes(void)
{
	const enum op ops[] = {OP_FILE_READ_DATA, OP_COUNT};
	const enum op other[] = {OP_FILE_WRITE_DATA, OP_COUNT};
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/w"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, subpath(b, "/w/d/deep/er"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/v"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY,
		  group(b, EXPR_ALL, 2, subpath(b, "/g"),
			number(b, FILTER_VNODE_TYPE, VNODE_REGULAR)));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/m/deep/er"));
	policy = rules_build(b);
#define COMPARE(from, to, below)                                                                   \
	policy_compare(policy, at(policy, from), at(policy, to), below, ops, 100000)
	CHECK_INT(COMPARE("/w/a", "/w/b", true), REGION_SAME);
	CHECK_INT(COMPARE("/w/a", "/v/b", true), REGION_SAME); /* other rules, same verdicts */
	CHECK_INT(COMPARE("/w/a", "/x", true), REGION_STRICTER);
	CHECK_INT(COMPARE("/x", "/w/a", true), REGION_LOOSER);
	CHECK_INT(COMPARE("/w/d", "/w/a", false), REGION_SAME);
	CHECK_INT(COMPARE("/w/d", "/w/a", true), REGION_LOOSER);
	CHECK_INT(COMPARE("/w/a", "/w/d", true), REGION_STRICTER);
	CHECK_INT(COMPARE("/w/d", "/m", true), REGION_LOOSER | REGION_STRICTER);
	CHECK_INT(COMPARE("/g/a", "/g/b", true), REGION_SAME); /* the same guard */
	CHECK_INT(COMPARE("/g/a", "/x", true), REGION_STRICTER);
	CHECK_INT(COMPARE("/g/a", "/w/a", true), REGION_LOOSER);
#undef COMPARE
	CHECK_INT(policy_compare(policy, at(policy, "/w/d"), at(policy, "/x"), true, other, 100000),
		  REGION_SAME);
	CHECK_INT(policy_compare(policy, at(policy, "/w/d"), at(policy, "/v"), true, ops, 2),
		  REGION_LOOSER | REGION_STRICTER); /* out of work */
	policy_free(policy);
}

int main(void)
{
	RUN(names_and_parents);
	RUN(terminals_have_their_own_default);
	RUN(filters_fit_operations);
	RUN(last_match_wins);
	RUN(unfiltered_is_only_a_default);
	RUN(last_unfiltered_wins);
	RUN(special_operation_wins);
	RUN(terminals_ignore_default);
	RUN(nothing_said_is_denied);
	RUN(default_takes_filters);
	RUN(wildcards_are_inherited);
	RUN(vector_3_and_4_private_names);
	RUN(names_of_objects_have_many_spellings);
	RUN(vector_7_and_8_case);
	RUN(vector_9_and_10_regex_quirks);
	RUN(vector_12_unix_sockets);
	RUN(path_filters_never_admit_ip);
	RUN(runtime_fills_what_is_left);
	RUN(runtime_stands_back_behind_a_default_of_the_profile);
	RUN(runtime_order_and_denials);
	RUN(every_text_of_many_is_found);
	RUN(the_right_rule_is_named);
	RUN(modifiers_are_kept_apart);
	RUN(bad_patterns_name_their_place);
	RUN(odd_patterns_are_fine);
	RUN(build_reports_the_pattern);
	RUN(empty_subpath_is_refused);
	RUN(nesting_is_bounded);
	RUN(each_path_speaks_linux);
	RUN(below_knows_the_subtree);
	RUN(compare_says_what_a_move_changes);
	return test_done();
}
