/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy says as a whole: the answers that do not depend on where in
 * the tree one looks. Exact for ports and protocols, by asking for one
 * representative of every kind of address the patterns can tell apart.
 */
#include "plan/planner.h"

#include "base/banned.h"

/* More ports than this in one policy: every question about addresses counts as mixed. */
enum {
	PORTS_MAX = 256
};

static const enum op network_ops[] = {OP_NETWORK_OUTBOUND, OP_NETWORK_BIND, OP_NETWORK_INBOUND};

unsigned verdicts_pathless(const struct policy *policy, enum op op)
{
	return policy_verdicts_at(policy, policy_start(policy), op);
}

unsigned verdicts_anywhere(const struct policy *policy, enum op op)
{
	policy_state start = policy_start(policy);

	return policy_verdicts_at(policy, start, op) |
	       policy_verdicts_at(policy, policy_walk(policy, start, STR("/")), op) |
	       policy_verdicts_below(policy, start, op);
}

unsigned verdicts_under(const struct policy *policy, struct str path, enum op op)
{
	policy_state state = policy_walk(policy, policy_start(policy), path);

	return policy_verdicts_at(policy, state, op) | policy_verdicts_below(policy, state, op);
}

const struct rule *rule_denying(const struct policy *policy, enum op op)
{
	for (;; op = op_parent(op)) {
		for (size_t i = policy_n_rules(policy); i-- > 0;) {
			const struct rule *rule = policy_rule(policy, i);

			if (rule->op == op && rule->verdict == VERDICT_DENY && rule_applies(rule))
				return rule;
		}
		if (op == OP_DEFAULT || op_is_terminal(op))
			return NULL;
	}
}

const struct rule *rule_at_stake(const struct policy *policy, enum op op)
{
	const struct rule *ret = rule_denying(policy, op);

	for (size_t i = policy_n_rules(policy); !ret && i-- > 0;) {
		const struct rule *rule = policy_rule(policy, i);

		if (rule->verdict == VERDICT_DENY && rule->filter && rule_applies(rule))
			ret = rule;
	}
	return ret;
}

bool op_inherits(enum op op, enum op from)
{
	while (op != from && op != OP_DEFAULT && !op_is_terminal(op))
		op = op_parent(op);
	return op == from;
}

/* ---- Tests inside filters ---- */

typedef void test_visitor(void *context, const struct test *test);

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static void each_test(const struct expr *expr, test_visitor *visit, void *context)
{
	if (!expr)
		return;
	if (expr->kind == EXPR_TEST)
		visit(context, &expr->test);
	for (size_t i = 0; i < expr->n; i++)
		each_test(expr->kids[i], visit, context);
}

/* Visits the tests of every rule that can decide OP. */
static void each_test_of_op(const struct policy *policy, enum op op, test_visitor *visit,
			    void *context)
{
	for (;; op = op_parent(op)) {
		for (size_t i = 0; i < policy_n_rules(policy); i++) {
			const struct rule *rule = policy_rule(policy, i);

			if (rule->op == op)
				each_test(rule->filter, visit, context);
		}
		if (op == OP_DEFAULT || op_is_terminal(op))
			return;
	}
}

struct filter_use {
	enum filter_id filter;
	bool found;
};

static void note_filter(void *context, const struct test *test)
{
	struct filter_use *use = context;

	use->found |= test->filter == use->filter;
}

static bool op_uses(const struct policy *policy, enum op op, enum filter_id filter)
{
	struct filter_use use = {.filter = filter};

	each_test_of_op(policy, op, note_filter, &use);
	return use.found;
}

/* ---- Addresses ---- */

struct ports {
	int list[PORTS_MAX];
	size_t n;
	bool too_many;
};

static void note_port(void *context, const struct test *test)
{
	struct ports *ports = context;

	if (test->match != MATCH_ENDPOINT || test->endpoint.port == PORT_ANY)
		return;
	for (size_t i = 0; i < ports->n; i++)
		if (ports->list[i] == test->endpoint.port)
			return;
	if (ports->n == PORTS_MAX - 1)
		ports->too_many = true;
	else
		ports->list[ports->n++] = test->endpoint.port;
}

/* Adds a port that no pattern mentions. */
static void add_other_port(struct ports *ports)
{
	int port = 1;

	for (size_t i = 0; i < ports->n; i++) {
		if (ports->list[i] != port)
			continue;
		port++;
		i = (size_t)-1;
	}
	ports->list[ports->n++] = port;
}

/* One address per host that patterns can tell apart, in one family. */
static struct endpoint representative(unsigned family, bool localhost, unsigned transport, int port)
{
	static const unsigned char loopback6[16] = {[15] = 1};
	static const unsigned char loopback4[16] = {127, 0, 0, 1};
	static const unsigned char other[16] = {198, 51, 100, 1};
	struct endpoint ret = {.proto = family | transport, .port = port};
	const unsigned char *addr = other;

	if (localhost)
		addr = family == PROTO_IP4 ? loopback4 : loopback6;
	memcpy(ret.addr, addr, sizeof(ret.addr));
	return ret;
}

static unsigned decide_endpoint(const struct policy *policy, enum op op, struct endpoint endpoint)
{
	struct request request = {.op = op};
	struct decision decision;

	if (op == OP_NETWORK_OUTBOUND) {
		request.remote = endpoint;
		request.local = endpoint;
		request.local.unbound = true;
	} else {
		request.local = endpoint;
	}
	request_set_socket(&request);
	policy_decide(policy, &request, &decision);
	return 1u << decision.verdict;
}

static bool op_uses_socket(const struct policy *policy, enum op op)
{
	return op_uses(policy, op, FILTER_SOCKET_PROTOCOL) ||
	       op_uses(policy, op, FILTER_SOCKET_DOMAIN) || op_uses(policy, op, FILTER_SOCKET_TYPE);
}

/* What OP can answer for IP traffic over TRANSPORT (PROTO_TCP, PROTO_UDP; 0: neither). */
static unsigned inet_verdicts(const struct policy *policy, enum op op, unsigned transport)
{
	static const unsigned families[] = {PROTO_IP4, PROTO_IP6};
	struct ports ports = {.n = 0};
	unsigned whole = verdicts_pathless(policy, op);
	unsigned ret = 0;

	if (whole != (CAN_ALLOW | CAN_DENY))
		return whole;
	each_test_of_op(policy, op, note_port, &ports);
	/* Which local address a socket will have when it connects cannot be enumerated. */
	if (ports.too_many || op_uses_socket(policy, op) ||
	    (op == OP_NETWORK_OUTBOUND && op_uses(policy, op, FILTER_LOCAL)))
		return whole;
	add_other_port(&ports);
	for (size_t f = 0; f < 2; f++)
		for (size_t i = 0; i < ports.n; i++)
			for (int localhost = 0; localhost < 2; localhost++)
				ret |= decide_endpoint(policy, op,
						       representative(families[f], localhost,
								      transport, ports.list[i]));
	return ret;
}

static void note_other(void *context, const struct test *test)
{
	bool *found = context;

	*found |= test->match != MATCH_ENDPOINT;
}

/* What OP can answer for a unix socket. Exact where rules are about nothing but addresses. */
static unsigned unix_verdicts(const struct policy *policy, enum op op)
{
	struct request request = {.op = op, .local.proto = PROTO_UNIX, .remote.proto = PROTO_UNIX};
	struct decision decision;
	bool other = false;

	each_test_of_op(policy, op, note_other, &other);
	if (other)
		return verdicts_anywhere(policy, op);
	policy_decide(policy, &request, &decision);
	return 1u << decision.verdict;
}

/* What OP can answer for sockets of other families than unix and IP. */
static unsigned no_address_verdicts(const struct policy *policy, enum op op)
{
	struct request request = {.op = op};
	struct decision decision;

	if (op_uses_socket(policy, op))
		return verdicts_pathless(policy, op);
	policy_decide(policy, &request, &decision);
	return 1u << decision.verdict;
}

/* ---- Signals ---- */

static unsigned signal_verdicts(const struct policy *policy, enum signal_side side)
{
	int end = op_uses(policy, OP_SIGNAL, FILTER_SIGNAL_NUMBER) ? SIGNAL_NUMBERS : 1;
	unsigned ret = 0;

	for (int number = 0; number < end; number++)
		ret |= plan_signal_verdicts(policy, side, number);
	return ret;
}

/* ---- Everything ---- */

static bool has_rule(const struct policy *policy, enum op op)
{
	for (size_t i = 0; i < policy_n_rules(policy); i++)
		if (policy_rule(policy, i)->op == op)
			return true;
	return false;
}

static void collect_network(const struct policy *policy, struct facts *facts)
{
	static const unsigned transports[] = {PROTO_TCP, PROTO_UDP};

	for (size_t i = 0; i < sizeof(network_ops) / sizeof(network_ops[0]); i++) {
		facts->unix_socket |= unix_verdicts(policy, network_ops[i]);
		facts->inet_other |= inet_verdicts(policy, network_ops[i], 0);
		facts->no_address |= no_address_verdicts(policy, network_ops[i]);
	}
	/* network-bind without a rule of its own answers what network-inbound, its parent, does. */
	facts->listen_apart = has_rule(policy, OP_NETWORK_BIND) &&
			      unix_verdicts(policy, OP_NETWORK_INBOUND) != CAN_ALLOW;
	for (size_t t = 0; t < 2; t++) {
		facts->inet_out[t] = inet_verdicts(policy, OP_NETWORK_OUTBOUND, transports[t]);
		facts->inet_in[t] = inet_verdicts(policy, OP_NETWORK_BIND, transports[t]) |
				    inet_verdicts(policy, OP_NETWORK_INBOUND, transports[t]);
	}
	facts->system_socket = verdicts_pathless(policy, OP_SYSTEM_SOCKET);
	facts->other_families = facts->unix_socket | facts->no_address | facts->system_socket;
}

void facts_collect(struct planner *p)
{
	const struct policy *policy = p->policy;
	struct facts *facts = &p->facts;

	facts->exec = verdicts_anywhere(policy, OP_PROCESS_EXEC_ANY) |
		      verdicts_anywhere(policy, OP_PROCESS_EXEC_INTERPRETER);
	facts->exec_unnamed = verdicts_pathless(policy, OP_PROCESS_EXEC_ANY);
	facts->nodes = verdicts_anywhere(policy, OP_FILE_MKNOD);
	facts->create = verdicts_anywhere(policy, OP_FILE_WRITE_CREATE);
	facts->write_data = verdicts_anywhere(policy, OP_FILE_WRITE_DATA);
	facts->setugid = verdicts_anywhere(policy, OP_FILE_WRITE_SETUGID);
	facts->flags = verdicts_anywhere(policy, OP_FILE_WRITE_FLAGS);
	facts->attributes = facts->flags | verdicts_anywhere(policy, OP_FILE_WRITE_MODE) |
			    verdicts_anywhere(policy, OP_FILE_WRITE_OWNER) |
			    verdicts_anywhere(policy, OP_FILE_WRITE_TIMES) |
			    verdicts_anywhere(policy, OP_FILE_WRITE_ACL) |
			    verdicts_anywhere(policy, OP_FILE_WRITE_XATTR);
	facts->fork = verdicts_pathless(policy, OP_PROCESS_FORK);
	facts->sysv_shm = verdicts_pathless(policy, OP_IPC_SYSV_SHM);
	facts->sysv_sem = verdicts_pathless(policy, OP_IPC_SYSV_SEM);
	facts->sysv_msg = verdicts_pathless(policy, OP_IPC_SYSV_MSG);
	facts->posix_mq = verdicts_pathless(policy, OP_IPC_POSIX_ANY);
	collect_network(policy, facts);
	facts->signal_inside = signal_verdicts(policy, SIGNAL_INSIDE);
	facts->signal_outside = signal_verdicts(policy, SIGNAL_OUTSIDE);
}
