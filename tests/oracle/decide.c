/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: decide_oracle [DECISIONS [SEED]] - decisions of random policies, by automaton and by
 * asking the rules one by one. A difference is shown with its policy; the exit status is then 1.
 */
#include "naive.h"
#include "random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REQUESTS = 250, /* of one policy */
	SHOWN = 5,      /* differences */
};

struct tally {
	uint64_t decisions, policies, too_large;
	uint64_t allowed, by_filter, by_runtime, differences;
	bool op_seen[OP_COUNT], filter_seen[FILTER_COUNT];
};

static void see_filters(struct tally *tally, const struct expr *expr)
{
	if (expr->kind == EXPR_TEST)
		tally->filter_seen[expr->test.filter] = true;
	for (size_t i = 0; expr->kind != EXPR_TEST && i < expr->n; i++)
		see_filters(tally, expr->kids[i]);
}

/* NULL: it needs too large an automaton, which may happen to few. */
static struct policy *random_policy(struct cast *cast, struct tally *tally)
{
	const struct policy_limits limits = {.memory = 64u << 20, .states = 20000};
	struct policy_builder *builder = policy_builder_new(
		dice_one_in(&cast->dice, 2) ? TARGET_LINUX : TARGET_DARWIN, limits);
	unsigned n = 1 + dice_below(&cast->dice, dice_one_in(&cast->dice, 10) ? 60 : 14);
	struct policy *policy = NULL;
	struct err e = {0};
	int r = builder ? 0 : -1;

	for (unsigned i = 0; i < n && r == 0; i++) {
		struct rule rule;

		cast_rule(cast, &rule);
		if (rule.filter)
			see_filters(tally, rule.filter);
		r = policy_builder_add(builder, &rule, &e);
	}
	if (r == 0)
		r = policy_build(builder, &policy, &e);
	tally->policies++;
	tally->too_large += r == -ERR_LIMIT;
	if (r == 0 || r == -ERR_LIMIT)
		return policy;
	printf("# policy_build: %s\n", e.text);
	tally->differences++;
	return NULL;
}

static void show(const struct policy *policy, const struct request *request,
		 const struct decision *got, const struct decision *want)
{
	struct buf text = {0};

	for (size_t i = 0; i < policy_n_rules(policy); i++)
		print_rule(policy_rule(policy, i), &text);
	print_request(request, &text);
	buf_printf(&text, "# target %d: %s by rule %d of %s, but one by one %s by rule %d of %s\n",
		   policy_target(policy), verdict_name(got->verdict),
		   got->rule ? (int)got->rule->index : -1, op_name(got->op),
		   verdict_name(want->verdict), want->rule ? (int)want->rule->index : -1,
		   op_name(want->op));
	(void)fwrite(text.p, 1, text.n, stdout);
	buf_release(&text);
}

/* Of what Linux does not have the regions know nothing. */
static bool has_darwin_fact(const struct request *request)
{
	bool found = false;

	for (size_t i = 0; i < request->n_facts; i++)
		found |= filter_is_darwin_only(request->facts[i].filter);
	return found;
}

static bool same(const struct decision *x, const struct decision *y)
{
	return x->verdict == y->verdict && x->rule == y->rule && x->op == y->op;
}

static void compare(const struct naive *naive, const struct request *request, struct tally *tally)
{
	const struct policy *policy = naive->policy;
	policy_state state = policy_walk(policy, policy_start(policy), request->path);
	struct decision got, later, want;

	naive_decide(naive, request, &want);
	policy_decide(policy, request, &got);
	policy_decide_at(policy, state, request, &later);
	tally->decisions++;
	tally->allowed += want.verdict == VERDICT_ALLOW;
	tally->by_filter += want.rule && want.rule->filter;
	tally->by_runtime += want.rule && want.rule->origin == ORIGIN_RUNTIME;
	tally->op_seen[request->op] = true;
	if (same(&got, &want) && same(&later, &want) &&
	    (has_darwin_fact(request) ||
	     policy_verdicts_at(policy, state, request->op) >> want.verdict & 1))
		return;
	if (tally->differences++ < SHOWN)
		show(policy, request, same(&got, &want) ? &later : &got, &want);
}

static void try_policy(uint64_t seed, struct tally *tally)
{
	struct arena arena = {0};
	struct cast cast;
	struct naive naive;
	struct policy *policy;

	cast_init(&cast, seed, &arena);
	policy = random_policy(&cast, tally);
	if (policy) {
		naive_init(&naive, policy, &arena);
		for (unsigned i = 0; i < REQUESTS; i++) {
			struct request request;

			cast_request(&cast, &request);
			compare(&naive, &request, tally);
		}
	}
	policy_free(policy);
	arena_release(&arena);
}

/* Were all things tried, and did enough happen to them? */
static bool is_telling(const struct tally *tally)
{
	uint64_t n = tally->decisions;
	unsigned ops = 0, filters = 0;

	for (unsigned op = 0; op < OP_COUNT; op++)
		ops += tally->op_seen[op];
	for (unsigned filter = 0; filter < FILTER_COUNT; filter++)
		filters += tally->filter_seen[filter];
	printf("# %" PRIu64 " policies (%" PRIu64 " too large), %u of %u operations, "
	       "%u of %u filters\n",
	       tally->policies, tally->too_large, ops, OP_COUNT, filters, FILTER_COUNT);
	printf("# %" PRIu64 " decisions: %.1f%% allow, %.1f%% by a filtered rule, %.1f%% by the "
	       "runtime's\n",
	       n, 100.0 * (double)tally->allowed / (double)n,
	       100.0 * (double)tally->by_filter / (double)n,
	       100.0 * (double)tally->by_runtime / (double)n);
	return ops == OP_COUNT && filters + 2 >= FILTER_COUNT && tally->allowed > n / 10 &&
	       tally->allowed < n - n / 10 && tally->by_filter > n / 4 &&
	       tally->by_runtime > n / 100 && tally->too_large < tally->policies / 100;
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 300000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct tally tally = {0};
	bool telling;

	for (; tally.decisions < wanted && tally.differences < SHOWN; seed++)
		try_policy(seed, &tally);
	telling = is_telling(&tally);
	printf("%sok 1 - %" PRIu64 " decisions are those of the rules one by one\n",
	       tally.differences ? "not " : "", tally.decisions);
	printf("%sok 2 - the policies were various and the decisions mixed\n1..2\n",
	       telling ? "" : "not ");
	return tally.differences || !telling;
}
