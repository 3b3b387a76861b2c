/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what is no path: names, numbers, endpoints (vectors 13 and 15 to 19 of SBPL.md 9). */
#include "rules.h"

#include "base/banned.h"

static enum verdict decide_fact(const struct policy *policy, enum op op, struct fact fact)
{
	struct request request = {.op = op, .facts = &fact, .n_facts = 1};

	return decide(policy, &request).verdict;
}

static enum verdict decide_text(const struct policy *policy, enum op op, enum filter_id filter,
				const char *text)
{
	return decide_fact(policy, op, (struct fact){.filter = filter, .text = str_of(text)});
}

static enum verdict decide_number(const struct policy *policy, enum op op, enum filter_id filter,
				  int64_t number)
{
	return decide_fact(policy, op, (struct fact){.filter = filter, .number = number});
}

static void vector_13_and_19_numbers_and_names(void)
{
	struct policy_builder *b = rules_new(TARGET_DARWIN);
	struct request bare = {.op = OP_SYSCALL_UNIX};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_SYSCALL_UNIX, number(b, FILTER_SYSCALL_NUMBER, 3));
	rules_add(b, VERDICT_DENY, OP_SYSCALL_UNIX, NULL);
	rules_add(b, VERDICT_ALLOW, OP_MACH_LOOKUP,
		  group(b, EXPR_ANY, 2, pattern(b, FILTER_GLOBAL_NAME, MATCH_LITERAL, "com.a"),
			pattern(b, FILTER_GLOBAL_NAME, MATCH_REGEX, "^org\\.b\\.[0-9]+$")));
	rules_add(b, VERDICT_ALLOW, OP_SYSCTL_READ,
		  pattern(b, FILTER_SYSCTL_NAME, MATCH_PREFIX, "hw."));
	policy = rules_build(b);
	CHECK_INT(decide_number(policy, OP_SYSCALL_UNIX, FILTER_SYSCALL_NUMBER, 3), VERDICT_ALLOW);
	CHECK_INT(decide_number(policy, OP_SYSCALL_UNIX, FILTER_SYSCALL_NUMBER, 4), VERDICT_DENY);
	CHECK_INT(decide_number(policy, OP_SYSCALL_UNIX, FILTER_SYSCALL_MASK, 3), VERDICT_DENY);
	CHECK_INT(decide(policy, &bare).verdict, VERDICT_DENY);

	CHECK_INT(decide_text(policy, OP_MACH_LOOKUP, FILTER_GLOBAL_NAME, "com.a"), VERDICT_ALLOW);
	/* Another kind of name is another name. */
	CHECK_INT(decide_text(policy, OP_MACH_LOOKUP, FILTER_LOCAL_NAME, "com.a"), VERDICT_DENY);
	/* mach names keep case, sysctl names do not */
	CHECK_INT(decide_text(policy, OP_MACH_LOOKUP, FILTER_GLOBAL_NAME, "com.A"), VERDICT_DENY);
	CHECK_INT(decide_text(policy, OP_MACH_LOOKUP, FILTER_GLOBAL_NAME, "org.b.12"),
		  VERDICT_ALLOW);
	CHECK_INT(decide_text(policy, OP_MACH_LOOKUP, FILTER_GLOBAL_NAME, "org.b."), VERDICT_DENY);
	CHECK_INT(decide_text(policy, OP_SYSCTL_READ, FILTER_SYSCTL_NAME, "HW.ncpu"),
		  VERDICT_ALLOW);
	CHECK_INT(decide_text(policy, OP_SYSCTL_READ, FILTER_SYSCTL_NAME, "kern.x"), VERDICT_DENY);
	policy_free(policy);
}

/* ---- Facts ---- */

static void every_fact_of_a_filter_counts(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	const struct fact facts[] = {
		{.filter = FILTER_EXTENSION, .text = STR("com.a")},
		{.filter = FILTER_EXTENSION, .text = STR("com.b")},
		{.filter = FILTER_UID, .number = 501},
	};
	struct request request = {.op = OP_FILE_READ_DATA, .path = STR("/x"), .facts = facts};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA,
		  group(b, EXPR_ALL, 2, pattern(b, FILTER_EXTENSION, MATCH_STRING, "com.b"),
			number(b, FILTER_UID, 501)));
	policy = rules_build(b);
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	request.n_facts = 2;
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	request.n_facts = 3;
	CHECK_INT(decide(policy, &request).verdict, VERDICT_ALLOW);
	policy_free(policy);
}

/* Linux has no extensions, so its kernel side need not reckon with them; users it has. */
static void what_linux_does_not_have_is_absent_there(void)
{
	static const struct {
		enum target target;
		enum filter_id filter;
		unsigned verdicts;
	} rows[] = {
		{TARGET_LINUX, FILTER_EXTENSION, CAN_DENY},
		{TARGET_DARWIN, FILTER_EXTENSION, CAN_DENY | CAN_ALLOW},
		{TARGET_LINUX, FILTER_PROCESS_PATH, CAN_DENY | CAN_ALLOW},
		{TARGET_DARWIN, FILTER_PROCESS_PATH, CAN_DENY | CAN_ALLOW},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policy_builder *b = rules_new(rows[i].target);
		struct policy *policy;

		rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA,
			  pattern(b, rows[i].filter, MATCH_LITERAL, "x"));
		policy = rules_build(b);
		CHECK_INT(policy_verdicts_at(policy, policy_start(policy), OP_FILE_READ_DATA),
			  rows[i].verdicts);
		/* A request that says so has one all the same. */
		CHECK_INT(decide_text(policy, OP_FILE_READ_DATA, rows[i].filter, "x"),
			  VERDICT_ALLOW);
		policy_free(policy);
	}
}

/* ---- Endpoints: vectors 15 to 17 ---- */

enum {
	V4,
	V6
};

static struct endpoint address(int version, const char *bytes, int port)
{
	struct endpoint end = {.port = port};

	end.proto = (version == V4 ? PROTO_IP4 : PROTO_IP6) | PROTO_TCP;
	memcpy(end.addr, bytes, version == V4 ? 4 : 16);
	return end;
}

#define ZEROES       "\0\0\0\0\0\0\0\0\0\0"
#define MAPPED(four) ZEROES "\xff\xff" four

static void localhost_is_what_the_system_says(void)
{
	struct {
		int version;
		const char *bytes;
		bool on_linux, on_darwin;
	} rows[] = {
		{V4, "\x7f\0\0\1", true, true},
		{V4, "\x7f\1\2\3", true, false},
		{V4, "\x80\0\0\1", false, false},
		{V4, "\0\0\0\0", true, false},
		{V6, ZEROES "\0\0\0\0\0\1", true, true},
		{V6, ZEROES "\0\0\0\0\0\0", true, false},
		{V6, MAPPED("\x7f\0\0\1"), true, false},
		{V6, MAPPED("\x08\x08\x08\x08"), false, false},
	};

	for (int target = TARGET_LINUX; target <= TARGET_DARWIN; target++) {
		struct policy_builder *b = rules_new((enum target)target);
		struct request request = {.op = OP_NETWORK_OUTBOUND};
		struct policy *policy;

		rules_add(b, VERDICT_ALLOW, OP_NETWORK_OUTBOUND,
			  endpoint(b, FILTER_REMOTE, PROTO_IP4 | PROTO_IP6, true, 80));
		policy = rules_build(b);
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			bool want = target == TARGET_LINUX ? rows[i].on_linux : rows[i].on_darwin;

			request.remote = address(rows[i].version, rows[i].bytes, 80);
			if ((decide(policy, &request).verdict == VERDICT_ALLOW) != want)
				printf("# target %d, row %zu\n", target, i);
			CHECK((decide(policy, &request).verdict == VERDICT_ALLOW) == want);
			request.remote.port = 81;
			CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
		}
		policy_free(policy);
	}
}

static void protocol_words(void)
{
	const unsigned ip = PROTO_IP4 | PROTO_IP6;
	struct {
		unsigned pattern, proto;
		bool match;
	} rows[] = {
		{ip, PROTO_IP4 | PROTO_TCP, true},
		{ip, PROTO_IP6 | PROTO_UDP, true},
		{PROTO_IP4, PROTO_IP6 | PROTO_TCP, false},
		{ip | PROTO_TCP, PROTO_IP6 | PROTO_TCP, true},
		{ip | PROTO_TCP, PROTO_IP6 | PROTO_UDP, false},
		{PROTO_IP4 | PROTO_UDP, PROTO_IP4 | PROTO_UDP, true},
		{PROTO_IP6 | PROTO_UDP, PROTO_IP4 | PROTO_UDP, false},
		{ip, PROTO_UNIX, false},
		{PROTO_UNIX, PROTO_UNIX, true},
		{PROTO_UNIX, PROTO_IP4 | PROTO_TCP, false},
		{ip, 0, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct policy_builder *b = rules_new(TARGET_LINUX);
		struct request request = {.op = OP_NETWORK_OUTBOUND,
					  .remote = {.proto = rows[i].proto, .addr = {9, 9, 9, 9}}};
		struct policy *policy;

		rules_add(b, VERDICT_ALLOW, OP_NETWORK_ANY,
			  endpoint(b, FILTER_REMOTE, rows[i].pattern, false, PORT_ANY));
		policy = rules_build(b);
		if ((decide(policy, &request).verdict == VERDICT_ALLOW) != rows[i].match)
			printf("# row %zu\n", i);
		CHECK((decide(policy, &request).verdict == VERDICT_ALLOW) == rows[i].match);
		policy_free(policy);
	}
}

/* On Linux a mapped address is the IPv4 address it stands for, in either direction. */
static void mapped_is_ip4_on_linux(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_NETWORK_OUTBOUND};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_NETWORK_OUTBOUND, NULL);
	rules_add(b, VERDICT_DENY, OP_NETWORK_OUTBOUND,
		  endpoint(b, FILTER_REMOTE, PROTO_IP4, false, PORT_ANY));
	policy = rules_build(b);
	request.remote = address(V6, MAPPED("\x08\x08\x08\x08"), 443);
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	request.remote = address(V6, "\x20\x01" ZEROES "\0\0\0\1", 443);
	CHECK_INT(decide(policy, &request).verdict, VERDICT_ALLOW);
	policy_free(policy);
}

/* 16: a local pattern matches whatever socket has no address yet. */
static void vector_16_unbound_is_everywhere(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_NETWORK_OUTBOUND};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_NETWORK_OUTBOUND,
		  endpoint(b, FILTER_LOCAL, PROTO_IP4 | PROTO_IP6 | PROTO_TCP, true, PORT_ANY));
	policy = rules_build(b);
	request.remote = address(V4, "\1\2\3\4", 443);
	request.local = (struct endpoint){.proto = PROTO_IP4 | PROTO_TCP, .unbound = true};
	CHECK_INT(decide(policy, &request).verdict, VERDICT_ALLOW);
	request.local.proto = PROTO_IP4 | PROTO_UDP;
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	request.local = address(V4, "\xc0\xa8\0\1", 5000);
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	policy_free(policy);
}

static void vector_17_bind(void)
{
	for (int target = TARGET_LINUX; target <= TARGET_DARWIN; target++) {
		struct policy_builder *b = rules_new((enum target)target);
		struct request request = {.op = OP_NETWORK_BIND};
		struct policy *policy;

		rules_add(b, VERDICT_ALLOW, OP_NETWORK_BIND,
			  endpoint(b, FILTER_LOCAL, PROTO_IP4 | PROTO_IP6, true, 43050));
		policy = rules_build(b);
		request.local = address(V4, "\x7f\0\0\1", 43050);
		CHECK_INT(decide(policy, &request).verdict, VERDICT_ALLOW);
		request.local = address(V4, "\0\0\0\0", 43050);
		CHECK_INT(decide(policy, &request).verdict,
			  target == TARGET_LINUX ? VERDICT_DENY : VERDICT_ALLOW);
		request.local = address(V4, "\x7f\0\0\1", 43051);
		CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
		request.op = OP_NETWORK_INBOUND; /* listen */
		request.local.port = 43050;
		CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
		policy_free(policy);
	}
}

/* ---- Guards ---- */

static void guards_beside_paths(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_FILE_WRITE_CREATE, .path = STR("/w/x")};
	struct policy *policy;
	policy_state state;

	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, subpath(b, "/w"));
	rules_add(b, VERDICT_DENY, OP_FILE_WRITE_CREATE,
		  group(b, EXPR_ALL, 2, subpath(b, "/w"),
			number(b, FILTER_VNODE_TYPE, VNODE_SYMLINK)));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA,
		  group(b, EXPR_ALL, 2, subpath(b, "/r"),
			not(b, number(b, FILTER_VNODE_TYPE, VNODE_SOCKET))));
	policy = rules_build(b);
	CHECK_INT(decide(policy, &request).verdict, VERDICT_ALLOW);
	request.has = HAS_VNODE_TYPE;
	request.vnode_type = VNODE_SYMLINK;
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	request.vnode_type = VNODE_REGULAR;
	CHECK_INT(decide(policy, &request).verdict, VERDICT_ALLOW);
	CHECK_INT(line_of(decide(policy, &request)), 1);

	request = (struct request){.op = OP_FILE_READ_DATA, .path = STR("/r")};
	CHECK_INT(decide(policy, &request).verdict,
		  VERDICT_ALLOW); /* require-not of a missing one */
	request.has = HAS_VNODE_TYPE;
	request.vnode_type = VNODE_SOCKET;
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);

	state = policy_walk(policy, policy_start(policy), STR("/w/x"));
	CHECK_INT(policy_verdicts_at(policy, state, OP_FILE_WRITE_CREATE), CAN_DENY | CAN_ALLOW);
	CHECK_INT(policy_verdicts_at(policy, state, OP_FILE_WRITE_DATA), CAN_ALLOW);
	policy_free(policy);
}

static void modes_need_all_bits(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct test bits = {.filter = FILTER_FILE_MODE, .match = MATCH_BITS, .number = 0044};
	struct request request = {.op = OP_FILE_READ_DATA, .path = STR("/x")};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, rules_expr(b, bits));
	policy = rules_build(b);
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	request.has = HAS_FILE_MODE;
	request.file_mode = 0644;
	CHECK_INT(decide(policy, &request).verdict, VERDICT_ALLOW);
	request.file_mode = 0640;
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	policy_free(policy);
}

static void targets_signals_sockets_devices(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request kill = {.op = OP_SIGNAL, .has = HAS_SIGNAL};
	struct request sock = {.op = OP_SYSTEM_SOCKET, .has = HAS_SOCKET, .socket_domain = 2};
	struct request node = {.op = OP_FILE_IOCTL, .path = STR("/dev/x"), .has = HAS_DEVICE};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_SIGNAL, number(b, FILTER_TARGET, SIGNAL_TARGET_SELF));
	rules_add(b, VERDICT_DENY, OP_SIGNAL, number(b, FILTER_SIGNAL_NUMBER, 9));
	rules_add(b, VERDICT_ALLOW, OP_SYSTEM_SOCKET, number(b, FILTER_SOCKET_DOMAIN, 2));
	rules_add(b, VERDICT_ALLOW, OP_FILE_IOCTL,
		  group(b, EXPR_ALL, 2, number(b, FILTER_DEVICE_MAJOR, 4),
			number(b, FILTER_DEVICE_MINOR, 1)));
	policy = rules_build(b);
	kill.targets = signal_target_set(SIGNAL_TARGET_SELF);
	kill.signal = 15;
	CHECK_INT(decide(policy, &kill).verdict, VERDICT_ALLOW);
	kill.signal = 9;
	CHECK_INT(decide(policy, &kill).verdict, VERDICT_DENY);
	kill.signal = 15;
	kill.targets = signal_target_set(SIGNAL_TARGET_OTHERS);
	CHECK_INT(decide(policy, &kill).verdict, VERDICT_DENY);
	CHECK_INT(decide(policy, &sock).verdict, VERDICT_ALLOW);
	sock.socket_domain = 30;
	CHECK_INT(decide(policy, &sock).verdict, VERDICT_DENY);
	node.device_major = 4;
	node.device_minor = 1;
	CHECK_INT(decide(policy, &node).verdict, VERDICT_ALLOW);
	node.device_minor = 2;
	CHECK_INT(decide(policy, &node).verdict, VERDICT_DENY);
	policy_free(policy);
}

static void xattrs_have_their_own_name(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_FILE_READ_XATTR, .path = STR("/w/x")};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_XATTR,
		  group(b, EXPR_ALL, 2, subpath(b, "/w"),
			pattern(b, FILTER_XATTR, MATCH_PREFIX, "user.")));
	policy = rules_build(b);
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	request.xattr = STR("user.a");
	CHECK_INT(decide(policy, &request).verdict, VERDICT_ALLOW);
	request.xattr = STR("security.a");
	CHECK_INT(decide(policy, &request).verdict, VERDICT_DENY);
	policy_free(policy);
}

/* What a request cannot carry is false, its negation true, and neither is left for run time. */
static void unknown_attributes_never_match(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct test extension = {.filter = FILTER_EXTENSION, .match = MATCH_STRING};
	struct policy *policy;
	policy_state start;

	extension.text = STR("com.apple.app-sandbox.read");
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, rules_expr(b, extension));
	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_DATA, not(b, rules_expr(b, extension)));
	policy = rules_build(b);
	start = policy_start(policy);
	CHECK_INT(policy_verdicts_at(policy, start, OP_FILE_READ_DATA), CAN_DENY);
	CHECK_INT(policy_verdicts_at(policy, start, OP_FILE_WRITE_DATA), CAN_ALLOW);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_WRITE_DATA, "/x")), 2);
	policy_free(policy);
}

int main(void)
{
	RUN(vector_13_and_19_numbers_and_names);
	RUN(every_fact_of_a_filter_counts);
	RUN(what_linux_does_not_have_is_absent_there);
	RUN(localhost_is_what_the_system_says);
	RUN(protocol_words);
	RUN(mapped_is_ip4_on_linux);
	RUN(vector_16_unbound_is_everywhere);
	RUN(vector_17_bind);
	RUN(guards_beside_paths);
	RUN(modes_need_all_bits);
	RUN(targets_signals_sockets_devices);
	RUN(xattrs_have_their_own_name);
	RUN(unknown_attributes_never_match);
	return test_done();
}
