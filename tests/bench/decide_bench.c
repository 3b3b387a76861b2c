/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what one decision costs under 500 rules, and what building them
 * costs. The paths are 64 bytes long and end in different ways: at a literal,
 * below a subpath, in the middle of a pattern, nowhere.
 */
#include <stdio.h>
#include <time.h>

#include "../unit/rules.h"

enum {
	RULES = 500,
	ROUNDS = 200000,
	BUILDS = 20,
};

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const struct expr *nth_filter(struct policy_builder *b, unsigned i)
{
	char text[96];

	switch (i % 10) {
	case 0:
		(void)snprintf(text, sizeof(text), "/\\.tool%u/hooks(/|$)", i);
		return regex(b, text);
	case 1:
	case 2:
	case 3:
		(void)snprintf(text, sizeof(text), "/home/user/.config/application-%u/secrets.json",
			       i);
		return literal(b, text);
	default:
		(void)snprintf(text, sizeof(text), "/home/user/projects/customer-%u/service", i);
		return subpath(b, text);
	}
}

/* 500 rules over two operations, one filter each; FUSED: 50 rules of ten filters. */
static struct policy *build(bool fused)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct expr *any = NULL;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, NULL);
	for (unsigned i = 0; i < RULES; i++) {
		enum op op = i / 10 % 2 ? OP_FILE_WRITE_ANY : OP_FILE_READ_ANY;
		enum verdict verdict = i % 10 > 3 ? VERDICT_ALLOW : VERDICT_DENY;
		const struct expr *filter = nth_filter(b, i);

		if (!fused) {
			rules_add(b, verdict, op, filter);
			continue;
		}
		if (i % 10 == 0)
			any = group(b, EXPR_ANY, 10, filter, filter, filter, filter, filter, filter,
				    filter, filter, filter, filter);
		any->kids[i % 10] = filter;
		if (i % 10 == 9)
			rules_add(b, verdict, op, any);
	}
	return rules_build(b);
}

static void time_build(bool fused)
{
	double best = 1e18;
	unsigned states = 0;

	for (unsigned i = 0; i < BUILDS; i++) {
		double start = now();
		struct policy *policy = build(fused);
		double spent = now() - start;

		states = policy_n_states(policy);
		policy_free(policy);
		best = spent < best ? spent : best;
	}
	printf("build, %-22s %8.2f ms  %u states\n", fused ? "50 rules of 10 filters" : "500 rules",
	       best / 1e6, states);
}

static void time_decide(const struct policy *policy, const char *what, const char *path)
{
	struct request request = {.op = OP_FILE_WRITE_DATA, .path = str_of(path)};
	struct decision decision;
	unsigned allowed = 0;
	double start = now();

	for (unsigned i = 0; i < ROUNDS; i++) {
		policy_decide(policy, &request, &decision);
		allowed += decision.verdict;
		__asm__ volatile("" : : "r"(&request) : "memory");
	}
	printf("decide, %-21s %8.1f ns  %zu bytes, %s\n", what, (now() - start) / ROUNDS,
	       request.path.n, allowed ? "allowed" : "denied");
}

int main(void)
{
	struct policy *policy = build(false);

	time_build(false);
	time_build(true);
	time_decide(policy, "below a subpath",
		    "/home/user/projects/customer-455/service/src/component/module.c1");
	time_decide(policy, "the whole path literal",
		    "/home/user/.config/application-412/secrets.json");
	time_decide(policy, "inside a pattern",
		    "/home/user/projects/other/.tool330/hooks/pre-commit/check/one.sh");
	time_decide(policy, "no rule",
		    "/usr/lib/x86_64-linux-gnu/perl-base/auto/List/Util/Util-6.4.so.1");
	time_decide(policy, "no rule, dots and dashes",
		    "/home/user/projects/.t/.to/.tool/.tool3/-.tool33/hooks/.hoo/a/.b");
	policy_free(policy);
	return test_done();
}
