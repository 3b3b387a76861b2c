/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rule decides: the consequences of SBPL.md 5.1 one by one, the runtime's rules, regions.
 * What a pattern matches: pattern_test.c. Attributes other than the path: guard_test.c. The
 * automaton: automaton_test.c.
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

/* ---- Networks ---- */

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

/* ---- Regions ---- */

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
	RUN(vector_12_unix_sockets);
	RUN(path_filters_never_admit_ip);
	RUN(runtime_fills_what_is_left);
	RUN(runtime_stands_back_behind_a_default_of_the_profile);
	RUN(runtime_order_and_denials);
	RUN(every_text_of_many_is_found);
	RUN(the_right_rule_is_named);
	RUN(modifiers_are_kept_apart);
	RUN(below_knows_the_subtree);
	RUN(compare_says_what_a_move_changes);
	return test_done();
}
