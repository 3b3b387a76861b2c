/* SPDX-License-Identifier: Apache-2.0 */
#include "has.h"
#include "naive.h"

#include <stdlib.h>
#include <string.h>

/* ---- Texts ---- */

static char low(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool begins(struct str text, struct str with, bool folds)
{
	size_t i = 0;

	if (text.n < with.n)
		return false;
	while (i < with.n && (folds ? low(text.p[i]) == low(with.p[i]) : text.p[i] == with.p[i]))
		i++;
	return i == with.n;
}

bool naive_text_matches(const struct test *test, const struct re_pattern *expression,
			struct str text, bool folds)
{
	bool is_root = test->text.n == 1 && test->text.p[0] == '/';

	if (text.n == 0)
		return false;
	if (test->match == MATCH_REGEX)
		return re_matches(expression, text, folds);
	if (!begins(text, test->text, folds))
		return false;
	if (test->match == MATCH_PREFIX || text.n == test->text.n)
		return true;
	return test->match == MATCH_SUBPATH && (is_root || text.p[test->text.n] == '/');
}

/* ---- Regular expressions ---- */

static struct known_pattern *slot_of(const struct naive *naive, const struct test *test)
{
	size_t i = (uintptr_t)test / 16 * 0x9e3779b9u & (naive->n_slots - 1);

	while (naive->known[i].test && naive->known[i].test != test)
		i = (i + 1) & (naive->n_slots - 1);
	return &naive->known[i];
}

static void each_regex(const struct expr *expr,
		       void (*each)(void *context, const struct test *test), void *context)
{
	if (expr->kind == EXPR_TEST && expr->test.match == MATCH_REGEX)
		each(context, &expr->test);
	for (size_t i = 0; expr->kind != EXPR_TEST && i < expr->n; i++)
		each_regex(expr->kids[i], each, context);
}

static void count(void *context, const struct test *test)
{
	(void)test;
	++*(size_t *)context;
}

static void learn(void *context, const struct test *test)
{
	struct naive *naive = context;
	struct known_pattern *slot = slot_of(naive, test);

	slot->test = test;
	slot->pattern = re_read(naive->arena, test->text);
	if (!slot->pattern) /* it was good enough for policy_build() */
		abort();
}

static void each_rule(const struct policy *policy,
		      void (*each)(void *context, const struct test *test), void *context)
{
	for (size_t i = 0; i < policy_n_rules(policy); i++)
		if (policy_rule(policy, i)->filter)
			each_regex(policy_rule(policy, i)->filter, each, context);
}

void naive_init(struct naive *naive, const struct policy *policy, struct arena *arena)
{
	size_t n = 0;

	*naive = (struct naive){policy, arena, NULL, 8};
	each_rule(policy, count, &n);
	while (naive->n_slots < 2 * n)
		naive->n_slots *= 2;
	naive->known = arena_array(arena, naive->n_slots, sizeof(*naive->known));
	if (!naive->known)
		abort();
	each_rule(policy, learn, naive);
}

/* ---- Tests ---- */

/* Names on macOS whose case does not count. */
static bool folds(const struct naive *naive, enum filter_id filter)
{
	return policy_target(naive->policy) == TARGET_DARWIN &&
	       (filter == FILTER_PATH || filter == FILTER_XATTR ||
		filter == FILTER_IPC_POSIX_NAME || filter == FILTER_SYSCTL_NAME ||
		filter == FILTER_NVRAM_VARIABLE);
}

static bool text_test(const struct naive *naive, const struct test *test, struct str text)
{
	const struct re_pattern *expression =
		test->match == MATCH_REGEX ? slot_of(naive, test)->pattern : NULL;

	return naive_text_matches(test, expression, text, folds(naive, test->filter));
}

/* On Linux slashes in front of an object's name do not count: a pattern means any number. */
static bool object_test(const struct naive *naive, const struct test *test, struct str name)
{
	enum {
		SLASHES = 8 /* no pattern of ours has more */
	};
	char other[RE_TEXT_MAX + SLASHES];
	struct str tail = name;

	if (name.n == 0 || policy_target(naive->policy) != TARGET_LINUX)
		return text_test(naive, test, name);
	while (tail.n > 0 && tail.p[0] == '/')
		tail = str_skip(tail, 1);
	if (tail.n > RE_TEXT_MAX)
		abort();
	if (tail.n == 0 && test->match == MATCH_REGEX &&
	    re_matches(slot_of(naive, test)->pattern, tail, folds(naive, test->filter)))
		return true;
	memset(other, '/', SLASHES);
	if (tail.n)
		memcpy(other + SLASHES, tail.p, tail.n);
	for (size_t slashes = 0; slashes <= SLASHES; slashes++)
		if (text_test(naive, test,
			      (struct str){other + SLASHES - slashes, tail.n + slashes}))
			return true;
	return false;
}

/* /tmp, /var and /etc of Linux are also known by the names they have on macOS. */
static bool path_test(const struct naive *naive, const struct test *test, struct str path)
{
	static const char *const tops[] = {"/tmp", "/var", "/etc"};
	char other[RE_TEXT_MAX];

	if (text_test(naive, test, path))
		return true;
	for (int i = 0; policy_target(naive->policy) == TARGET_LINUX && i < 3; i++) {
		if (path.n < 4 || memcmp(path.p, tops[i], 4) != 0 ||
		    (path.n > 4 && path.p[4] != '/'))
			continue;
		if (path.n + 8 > sizeof(other))
			abort();
		memcpy(other, "/private", 8);
		memcpy(other + 8, path.p, path.n);
		return text_test(naive, test, (struct str){other, path.n + 8});
	}
	return false;
}

/* On Linux ::ffff:1.2.3.4 is 1.2.3.4. */
static void as_seen(struct endpoint *end, enum target target)
{
	static const unsigned char mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255};

	if (target != TARGET_LINUX || !(end->proto & PROTO_IP6) ||
	    memcmp(end->addr, mapped, sizeof(mapped)) != 0)
		return;
	end->proto = (end->proto & (PROTO_TCP | PROTO_UDP)) | PROTO_IP4;
	memmove(end->addr, end->addr + 12, 4);
}

static bool is_localhost(const struct endpoint *end, enum target target, bool is_remote)
{
	unsigned n = end->proto & PROTO_IP6 ? 16 : 4;
	bool zero = true, one = end->addr[n - 1] == 1;

	for (unsigned i = 0; i < n; i++)
		zero &= end->addr[i] == 0;
	for (unsigned i = 0; i + 1 < n; i++)
		one &= end->addr[i] == (n == 4 && i == 0 ? 127 : 0);
	if (zero) /* connects to the host itself on Linux; Seatbelt lets it be bound */
		return is_remote == (target == TARGET_LINUX);
	return one || (n == 4 && target == TARGET_LINUX && end->addr[0] == 127);
}

static bool endpoint_test(const struct naive *naive, const struct test *test,
			  const struct endpoint *given)
{
	const struct endpoint_pattern *want = &test->endpoint;
	enum target target = policy_target(naive->policy);
	struct endpoint end = *given;
	unsigned any_family = PROTO_IP4 | PROTO_IP6 | PROTO_UNIX;

	if (!end.unbound)
		as_seen(&end, target);
	if (!(end.proto & want->proto & any_family))
		return false;
	if (want->proto & (PROTO_TCP | PROTO_UDP) &&
	    !(end.proto & want->proto & (PROTO_TCP | PROTO_UDP)))
		return false;
	if (end.unbound || end.proto & PROTO_UNIX)
		return true;
	if (want->localhost && !is_localhost(&end, target, test->filter == FILTER_REMOTE))
		return false;
	return want->port == PORT_ANY || want->port == end.port;
}

/* Has REQUEST the number that FILTER looks at? -1: it has no member for it, but facts. */
static int number_of(const struct request *request, enum filter_id filter, int64_t *ret)
{
	switch (filter) {
	case FILTER_VNODE_TYPE:
		*ret = request->vnode_type;
		return (request->has & HAS_VNODE_TYPE) != 0;
	case FILTER_FILE_MODE:
		*ret = request->file_mode;
		return (request->has & HAS_FILE_MODE) != 0;
	case FILTER_SIGNAL_NUMBER:
		*ret = request->signal;
		return (request->has & HAS_SIGNAL) != 0;
	case FILTER_DEVICE_MAJOR:
		*ret = request->device_major;
		return (request->has & HAS_DEVICE_MAJOR) != 0;
	case FILTER_DEVICE_MINOR:
		*ret = request->device_minor;
		return (request->has & HAS_DEVICE_MINOR) != 0;
	case FILTER_SOCKET_DOMAIN:
		*ret = request->socket_domain;
		return (request->has & HAS_SOCKET_DOMAIN) != 0;
	case FILTER_SOCKET_TYPE:
		*ret = request->socket_type;
		return (request->has & HAS_SOCKET_TYPE) != 0;
	case FILTER_SOCKET_PROTOCOL:
		*ret = request->socket_protocol;
		return (request->has & HAS_SOCKET_PROTOCOL) != 0;
	default:
		return -1;
	}
}

static bool is_number(const struct test *test, int64_t number)
{
	return test->match == MATCH_BITS ? (number & test->number) == test->number
					 : number == test->number;
}

/* Of several facts for one filter any may be meant. */
static bool fact_test(const struct naive *naive, const struct test *test,
		      const struct request *request)
{
	bool is_text = test->match != MATCH_INTEGER && test->match != MATCH_BITS &&
		       test->match != MATCH_BOOL;

	for (size_t i = 0; i < request->n_facts; i++) {
		const struct fact *fact = &request->facts[i];

		if (fact->filter != test->filter)
			continue;
		if (!is_text                                ? is_number(test, fact->number)
		    : test->filter == FILTER_IPC_POSIX_NAME ? object_test(naive, test, fact->text)
							    : text_test(naive, test, fact->text))
			return true;
	}
	return false;
}

static bool target_test(const struct test *test, const struct request *request)
{
	for (int i = 0; i < 32; i++)
		if (test->match == MATCH_INTEGER && test->number == i)
			return request->targets >> i & 1;
	return false;
}

bool naive_has(enum op op, enum filter_id filter)
{
	return op_has(op, filter);
}

static bool test_holds(const struct naive *naive, const struct test *test,
		       const struct request *request)
{
	int64_t number = 0;
	int has;

	if (!naive_has(request->op, test->filter))
		return false;
	switch (test->filter) {
	case FILTER_PATH:
		return path_test(naive, test, request->path);
	case FILTER_XATTR:
		return text_test(naive, test, request->xattr);
	case FILTER_LOCAL:
		return endpoint_test(naive, test, &request->local);
	case FILTER_REMOTE:
		return endpoint_test(naive, test, &request->remote);
	case FILTER_TARGET:
		return target_test(test, request);
	default:
		has = number_of(request, test->filter, &number);
		return has < 0 ? fact_test(naive, test, request)
			       : has > 0 && is_number(test, number);
	}
}

/* ---- Rules ---- */

static bool holds(const struct naive *naive, const struct expr *expr, const struct request *request)
{
	bool all = true, any = false;

	if (expr->kind == EXPR_TEST)
		return test_holds(naive, &expr->test, request);
	for (size_t i = 0; i < expr->n; i++) {
		bool one = holds(naive, expr->kids[i], request);

		all &= one;
		any |= one;
	}
	return expr->kind == EXPR_NOT ? !any : expr->kind == EXPR_ALL ? all : any;
}

/* The last filtered rule of ORIGIN for OP that matches; *UNFILTERED: the last without a filter. */
static const struct rule *last_match(const struct naive *naive, enum origin origin, enum op op,
				     const struct request *request, const struct rule **unfiltered)
{
	*unfiltered = NULL;
	for (size_t i = policy_n_rules(naive->policy); i-- > 0;) {
		const struct rule *rule = policy_rule(naive->policy, i);

		if (rule->op != op || rule->origin != origin)
			continue;
		if (!rule->filter && !*unfiltered)
			*unfiltered = rule;
		if (rule->filter && holds(naive, rule->filter, request))
			return rule;
	}
	return NULL;
}

static struct decision by_rule(const struct rule *rule)
{
	return (struct decision){rule->verdict, rule, rule->op};
}

/* What the profile's own rules say; *IS_DEFAULT: no filtered one matched. */
static struct decision ask_profile(const struct naive *naive, const struct request *request,
				   bool *is_default)
{
	const struct rule *rule, *unfiltered;

	*is_default = true;
	for (enum op op = request->op;; op = op_parent(op)) {
		rule = last_match(naive, ORIGIN_PROFILE, op, request, &unfiltered);
		*is_default = !rule;
		if (rule || unfiltered)
			return by_rule(rule ? rule : unfiltered);
		if (op_is_terminal(op))
			return (struct decision){op_builtin(op), NULL, op};
	}
}

/* What the runtime's rules make of a denial by default. */
static void ask_runtime(const struct naive *naive, const struct request *request,
			struct decision *decision)
{
	const struct rule *rule, *unfiltered;
	bool profile_was_as_special = false;

	for (enum op op = request->op;; op = op_parent(op)) {
		profile_was_as_special |= decision->rule && decision->rule->op == op;
		rule = last_match(naive, ORIGIN_RUNTIME, op, request, &unfiltered);
		if (rule) {
			if (rule->verdict == VERDICT_ALLOW)
				*decision = by_rule(rule);
			return;
		}
		if (unfiltered) {
			if (unfiltered->verdict == VERDICT_ALLOW && !profile_was_as_special)
				*decision = by_rule(unfiltered);
			return;
		}
		if (op_is_terminal(op))
			return;
	}
}

void naive_decide(const struct naive *naive, const struct request *request, struct decision *ret)
{
	bool is_default;

	*ret = ask_profile(naive, request, &is_default);
	if (is_default && ret->verdict == VERDICT_DENY)
		ask_runtime(naive, request, ret);
}
