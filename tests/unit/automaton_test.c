/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The automaton against the oracle: decisions, regions found by listing every
 * path, minimality. Random, from fixed seeds; a failure prints its policy.
 */
#include "oracle.h"

#include "base/banned.h"

/* ---- Decisions ---- */

static bool decides_as_expected(const struct random_policy *p, const char *path,
				unsigned vnode_type)
{
	struct request request = {.op = OP_FILE_READ_DATA, .path = str_of(path)};
	int want = expected_rule(p, path, vnode_type);
	struct decision got;

	request.has = vnode_type ? HAS_VNODE_TYPE : 0;
	request.vnode_type = (enum vnode_type)vnode_type;
	got = decide(p->policy, &request);
	if ((got.rule ? (int)got.rule->index : -1) == want &&
	    got.verdict == (want < 0 ? VERDICT_DENY : p->rules[want].verdict) &&
	    got.op == (want < 0 ? OP_DEFAULT : p->rules[want].op))
		return true;
	printf("# \"%s\" type %u: rule %d, not %d\n", path, vnode_type,
	       got.rule ? (int)got.rule->index : -1, want);
	print_policy(p);
	return false;
}

static void check_decisions(struct kind_of_policy kind, unsigned policies, uint64_t seed)
{
	static struct random_policy p;
	char path[128];
	bool ok = true;

	random_state = seed;
	for (unsigned i = 0; i < policies && ok; i++) {
		random_policy(&p, one_in(2) ? TARGET_LINUX : TARGET_DARWIN, kind);
		ok = p.policy && decides_as_expected(&p, "", 0);
		for (unsigned j = 0; j < 60 && ok; j++) {
			random_path(path, p.patterns, PATTERNS);
			ok = decides_as_expected(&p, path, kind.with_guards ? below(3) : 0);
		}
		policy_free(p.policy);
	}
	CHECK(ok);
}

static void single_regexes_match_as_the_oracle_says(void)
{
	static struct random_policy p;
	unsigned matched = 0, total = 0, many_repeats = 0;
	char path[128];

	random_state = 0x1234567;
	for (unsigned i = 0; i < 2000; i++) {
		struct policy_builder *b = rules_new(i % 2 ? TARGET_LINUX : TARGET_DARWIN);
		struct pattern *one = &p.patterns[0];

		n_trees = 0;
		do
			random_pattern(one, true);
		while (one->match != MATCH_REGEX);
		many_repeats += count_repeats(one->tree) >= 4;
		rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, regex(b, one->text));
		p.policy = rules_build(b);
		for (unsigned j = 0; j < 30; j++) {
			bool want;

			random_text(path, 14);
			want = matches(one, path, i % 2 ? TARGET_LINUX : TARGET_DARWIN);
			matched += want;
			total++;
			if (allows(p.policy, OP_FILE_READ_DATA, path) == want)
				continue;
			printf("# /%s/ on \"%s\": not %d\n", one->text, path, want);
			CHECK(false);
		}
		policy_free(p.policy);
	}
	CHECK(matched > total / 10 && matched < total - total / 10); /* both happen */
	CHECK(many_repeats > 50); /* they are made deterministic by themselves */
}

static void plain_rules_decide_as_the_oracle_says(void)
{
	check_decisions((struct kind_of_policy){.depth = 0}, 400, 0xabcdef);
}

static void regex_rules_decide_as_the_oracle_says(void)
{
	check_decisions((struct kind_of_policy){.with_regexes = true, .depth = 0}, 500, 0xbeef);
}

static void nested_filters_decide_as_the_oracle_says(void)
{
	check_decisions((struct kind_of_policy){true, true, false, 3}, 700, 0xfeed5);
}

static void runtime_rules_decide_as_the_oracle_says(void)
{
	check_decisions((struct kind_of_policy){true, true, true, 2}, 500, 0x777777);
}

/* ---- Regions ---- */

/* Calls EACH for START and, if BELOW, all canonical paths below it with at most N more bytes. */
static void each_below(char *path, unsigned n, void (*each)(void *context, const char *path),
		       void *context)
{
	static const char bytes[] = "/aA.bz";
	size_t end = strlen(path);
	const char *name = strrchr(path, '/');

	if (name && name[1] && strcmp(name, "/.") != 0 && strcmp(name, "/..") != 0)
		each(context, path);
	if (n == 0)
		return;
	for (const char *byte = bytes; *byte; byte++) {
		bool ends_name = name && name[1] && strcmp(name, "/.") && strcmp(name, "/..");

		if (*byte == '/' && !ends_name)
			continue;
		path[end] = *byte;
		path[end + 1] = '\0';
		each_below(path, n - 1, each, context);
	}
	path[end] = '\0';
}

struct survey {
	const struct random_policy *p;
	unsigned verdicts;
};

static enum verdict slow_verdict(const struct random_policy *p, const char *path)
{
	int rule = expected_rule(p, path, 0);

	return rule < 0 ? VERDICT_DENY : p->rules[rule].verdict;
}

static void survey_one(void *context, const char *path)
{
	struct survey *survey = context;

	survey->verdicts |= 1u << slow_verdict(survey->p, path);
}

enum {
	REACH = 5
};

/* Patterns are short enough here for every difference to show within REACH bytes. */
static void shorten_patterns(struct random_policy *p, enum target target)
{
	struct policy_builder *b = rules_new(target);

	policy_free(p->policy);
	for (unsigned i = 0; i < PATTERNS; i++) {
		char *text = p->patterns[i].text;
		unsigned n = 1 + below(3);

		*text++ = '/';
		for (; n > 0; n--)
			*text++ = letters[below(6)];
		*text = '\0';
	}
	for (unsigned i = 0; i < RULES; i++)
		rules_add(b, p->rules[i].verdict, p->rules[i].op,
			  p->rules[i].filter ? to_expr(b, p, p->rules[i].filter) : NULL);
	p->policy = rules_build(b);
}

static policy_state walk(const struct policy *policy, const char *path)
{
	return policy_walk(policy, policy_start(policy), str_of(path));
}

static void below_is_what_listing_finds(void)
{
	static const char *const roots[] = {"", "/a", "/b", "/a/a", "/a/b", "/.a", "/A", "/z"};
	static struct random_policy p;
	unsigned mixed = 0;

	random_state = 0x5eed;
	for (unsigned i = 0; i < 60; i++) {
		enum target target = i % 2 ? TARGET_LINUX : TARGET_DARWIN;

		random_policy(&p, target, (struct kind_of_policy){.depth = i % 3});
		shorten_patterns(&p, target);
		for (unsigned j = 0; j < 8; j++) {
			struct survey survey = {&p, 0};
			char path[64];
			unsigned got;

			(void)snprintf(path, sizeof(path), "%s/", roots[j]);
			each_below(path, REACH - 1, survey_one, &survey);
			got = policy_verdicts_below(p.policy, walk(p.policy, roots[j]),
						    OP_FILE_READ_DATA);
			mixed += got == (CAN_ALLOW | CAN_DENY);
			if (got == survey.verdicts)
				continue;
			printf("# below \"%s\": %u, not %u\n", roots[j], got, survey.verdicts);
			print_policy(&p);
			CHECK(false);
		}
		policy_free(p.policy);
	}
	CHECK(mixed > 0);
}

struct move {
	const struct random_policy *p;
	const char *from, *to;
	unsigned change;
};

static void compare_one(void *context, const char *path)
{
	struct move *move = context;
	char there[128];
	enum verdict old, new;

	(void)snprintf(there, sizeof(there), "%s%s", move->to, path + strlen(move->from));
	old = slow_verdict(move->p, path);
	new = slow_verdict(move->p, there);
	if (old != new)
		move->change |= old == VERDICT_DENY ? REGION_LOOSER : REGION_STRICTER;
}

static void compare_is_what_listing_finds(void)
{
	static const char *const names[] = {"/a", "/b", "/a/a", "/.a", "/A", "/z"};
	static const enum op ops[] = {OP_FILE_READ_DATA, OP_COUNT};
	static struct random_policy p;
	unsigned seen = 0;

	random_state = 0xc0ffee;
	for (unsigned i = 0; i < 60; i++) {
		random_policy(&p, TARGET_LINUX, (struct kind_of_policy){.depth = i % 3});
		shorten_patterns(&p, TARGET_LINUX);
		for (unsigned j = 0; j < 12; j++) {
			struct move move = {&p, names[below(6)], names[below(6)], 0};
			char path[64];
			unsigned got;

			(void)snprintf(path, sizeof(path), "%s", move.from);
			compare_one(&move, path);
			(void)snprintf(path, sizeof(path), "%s/", move.from);
			each_below(path, REACH - 1, compare_one, &move);
			got = policy_compare(p.policy, walk(p.policy, move.from),
					     walk(p.policy, move.to), true, ops, 1000000);
			seen |= 1u << got;
			if (got == move.change)
				continue;
			printf("# %s to %s: %u, not %u\n", move.from, move.to, got, move.change);
			print_policy(&p);
			CHECK(false);
		}
		policy_free(p.policy);
	}
	CHECK_INT(seen & 7, 7); /* no change, looser, stricter: all were met */
}

/* ---- Minimality ---- */

/* Two states of a minimal automaton differ in a decision or lead to states that differ. */
static void states_are_pairwise_different(void)
{
	static struct random_policy p;
	const enum op ops[] = {OP_FILE_READ_DATA, OP_FILE_READ_ANY, OP_FILE_ANY, OP_DEFAULT,
			       OP_COUNT};

	random_state = 0x31415;
	for (unsigned i = 0; i < 20; i++) {
		unsigned n, same = 0;

		random_policy(&p, TARGET_LINUX, (struct kind_of_policy){true, false, false, 1});
		n = policy_n_states(p.policy);
		for (policy_state a = 0; a < n && n < 400; a++)
			for (policy_state b = 0; b < a; b++) {
				bool differ = false;

				for (unsigned byte = 1; byte < 256 && !differ; byte++) {
					char c = (char)byte;
					struct str one = {&c, 1};

					differ = policy_walk(p.policy, a, one) !=
						 policy_walk(p.policy, b, one);
				}
				for (const enum op *op = ops; *op != OP_COUNT && !differ; op++) {
					struct request request = {.op = *op};
					struct decision x, y;

					policy_decide_at(p.policy, a, &request, &x);
					policy_decide_at(p.policy, b, &request, &y);
					differ = x.rule != y.rule || x.op != y.op;
				}
				same += !differ;
			}
		CHECK_INT(same, 0);
		policy_free(p.policy);
	}
}

int main(void)
{
	RUN(single_regexes_match_as_the_oracle_says);
	RUN(plain_rules_decide_as_the_oracle_says);
	RUN(regex_rules_decide_as_the_oracle_says);
	RUN(nested_filters_decide_as_the_oracle_says);
	RUN(runtime_rules_decide_as_the_oracle_says);
	RUN(below_is_what_listing_finds);
	RUN(compare_is_what_listing_finds);
	RUN(states_are_pairwise_different);
	return test_done();
}
