/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what building 500 rules costs, with and without protected names at
 * any depth, and what one decision costs under them. Paths are 64 bytes long
 * and end in different ways: at a literal, below a subpath, in a protected
 * name, nowhere.
 */
#include <time.h>

#include "../unit/rules.h"

enum {
	RULES = 500,
	ROUNDS = 10000, /* decisions at a time */
	TIMES = 40,     /* the best of so many counts */
	BUILDS = 20,
};

static double cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void add_protected_names(struct policy_builder *b)
{
	static const char *const names[] = {
		"/\\.git/(hooks|config|info/attributes)(/|$)",
		"/\\.(claude|codex|gemini|cursor|opencode|vscode|idea|ssh)(/|$)",
		"/\\.(bashrc|bash_profile|profile|zshenv|zprofile|zshrc|zlogin|inputrc)$",
		"/\\.config/(git|fish|autostart|systemd)(/|$)",
		"/\\.(envrc|gitconfig|mcp\\.json|lapbelt\\.json)$",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, regex(b, names[i]));
}

static struct policy *build(bool with_names)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	char text[96];

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, NULL);
	for (unsigned i = 1; i < RULES; i++) {
		bool is_secret = i % 3 == 0;

		(void)snprintf(text, sizeof(text),
			       is_secret ? "/home/user/.config/application-%u/secrets.json"
					 : "/home/user/projects/customer-%u/service",
			       i);
		if (is_secret)
			rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, literal(b, text));
		else
			rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, subpath(b, text));
	}
	if (with_names)
		add_protected_names(b);
	return rules_build(b);
}

static void time_build(bool with_names)
{
	double best = 1e18;
	unsigned states = 0;

	for (unsigned i = 0; i < BUILDS; i++) {
		double start = cpu_ns();
		struct policy *policy = build(with_names);
		double spent = cpu_ns() - start;

		states = policy_n_states(policy);
		policy_free(policy);
		best = spent < best ? spent : best;
	}
	printf("build 500 rules%-22s %8.2f ms  %6u states\n",
	       with_names ? " and protected names" : "", best / 1e6, states);
}

static void decide_and_name(const struct policy *policy, const struct request *request,
			    struct decision *ret)
{
	policy_decide(policy, request, ret);
}

/* Of rules of the same effect any may be named. */
static void decide_only(const struct policy *policy, const struct request *request,
			struct decision *ret)
{
	policy_state state = policy_walk(policy, policy_start(policy), request->path);
	struct request rest = *request;

	rest.path.n = 0;
	policy_decide_at(policy, state, &rest, ret);
}

typedef void decider(const struct policy *policy, const struct request *request,
		     struct decision *ret);

/* The best of several times, in ns. */
static double time_one(const struct policy *policy, const struct request *request,
		       decider *decide_it, struct decision *ret)
{
	double best = 1e18;

	for (unsigned time = 0; time < TIMES; time++) {
		double start = cpu_ns(), spent;

		for (unsigned i = 0; i < ROUNDS; i++) {
			decide_it(policy, request, ret);
			__asm__ volatile("" : : "r"(request) : "memory");
		}
		spent = (cpu_ns() - start) / ROUNDS;
		best = spent < best ? spent : best;
	}
	return best;
}

static void time_decide(const struct policy *policy, enum op op, const char *what, const char *path)
{
	struct request request = {.op = op, .path = str_of(path)};
	struct decision decision = {VERDICT_DENY};
	double whole = time_one(policy, &request, decide_and_name, &decision);
	double only = time_one(policy, &request, decide_only, &decision);

	printf("decide %-26s %8.1f ns, without the rule's name %6.1f ns  %s\n", what, whole, only,
	       verdict_name(decision.verdict));
}

static void time_policy(bool with_names)
{
	struct policy *policy = build(with_names);

	time_build(with_names);
	time_decide(policy, OP_FILE_READ_DATA, "the whole path a literal",
		    "/home/user/.config/application-489/secrets.json");
	time_decide(policy, OP_FILE_WRITE_DATA, "below a subpath",
		    "/home/user/projects/customer-455/service/src/component/module.c1");
	time_decide(policy, OP_FILE_WRITE_DATA, "a protected name",
		    "/home/user/projects/customer-455/service/vendor/other/.git/hooks");
	time_decide(policy, OP_FILE_READ_DATA, "no rule",
		    "/usr/lib/x86_64-linux-gnu/perl-base/auto/List/Util/Util-6.4.so.1");
	policy_free(policy);
}

int main(void)
{
	time_policy(false);
	time_policy(true);
	return test_failures ? 1 : 0;
}
