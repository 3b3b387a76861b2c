/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of random policies against lists of all short paths, decided by the oracle. More of
 * them by hand: diff_test PAIRS SEED LENGTH.
 */
#include "oracle.h"
#include "policy/diff.h"
#include "policy/witness.h"

#include "base/banned.h"

enum {
	LENGTH_MAX = 5,
	TYPES = 3, /* no vnode-type, or one of those that random rules ask for */
	LISTED_MAX = 4096,
};

static const bool only_reads[OP_COUNT] = {[OP_FILE_READ_DATA] = true};

static unsigned pairs = 300, longest = 4;
static uint64_t seed = 0xd1ff;

/* ---- All paths of at most LONGEST bytes, shortest first ---- */

static char listed[LISTED_MAX][2 * LENGTH_MAX];
static unsigned n_listed;

static bool is_canonical(const char *path)
{
	char all[2 * LENGTH_MAX + 2];

	if (strcmp(path, "/") == 0)
		return true;
	(void)snprintf(all, sizeof(all), "%s/", path);
	return !strstr(all, "//") && !strstr(all, "/./") && !strstr(all, "/../");
}

static void list(const char *path)
{
	if (is_canonical(path))
		(void)snprintf(listed[n_listed++], sizeof(listed[0]), "%s", path);
}

/* Path NUMBER of LENGTH bytes over the letters of patterns and one more. */
static void list_numbered(unsigned length, unsigned number)
{
	static const char alphabet[] = "/ab.Ac";
	char path[LENGTH_MAX + 1] = "/";

	for (unsigned i = 1; i < length; i++, number /= 6)
		path[i] = alphabet[number % 6];
	list(path);
}

/* Patterns speak of these, too, or Linux does. */
static void list_named(size_t length)
{
	static const char *const names[] = {
		"/tmp",  "/var",  "/etc",  "/tmpa", "/tmpb", "/tmp.", "/tmpA", "/tmpc", "/vara",
		"/varb", "/var.", "/varA", "/varc", "/etca", "/etcb", "/etc.", "/etcA", "/etcc",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length)
			list(names[i]);
}

static void list_paths(void)
{
	unsigned n = 1;

	if (n_listed)
		return;
	for (unsigned length = 1; length <= longest; length++, n *= 6) {
		for (unsigned i = 0; i < n; i++)
			list_numbered(length, i);
		list_named(length);
	}
}

/* ---- What the list says ---- */

static enum verdict expected(const struct random_policy *p, const char *path, unsigned type)
{
	int rule = expected_rule(p, path, type);

	return rule < 0 ? VERDICT_DENY : p->rules[rule].verdict;
}

/* The simplest difference, in each direction. */
struct simplest {
	bool found;
	size_t length;
	unsigned words;
};

static void find_simplest(const struct random_policy *p, const struct random_policy *q,
			  struct simplest ret[DIRECTION_COUNT])
{
	memset(ret, 0, DIRECTION_COUNT * sizeof(*ret));
	for (unsigned i = 0; i < n_listed; i++) {
		size_t length = strlen(listed[i]);

		for (unsigned type = 0; type < TYPES; type++) {
			enum verdict from = expected(p, listed[i], type);
			enum verdict to = expected(q, listed[i], type);
			struct simplest *known =
				&ret[from == VERDICT_DENY ? DIRECTION_LOOSER : DIRECTION_STRICTER];

			if (from != to && (!known->found ||
					   (known->length == length && known->words > (type > 0))))
				*known = (struct simplest){true, length, type > 0};
		}
	}
}

/* ---- Checking ---- */

/* Is GOT a difference at all, as the oracle sees it? */
static bool is_true(const struct random_policy *p, const struct random_policy *q,
		    const struct difference *got, enum direction direction)
{
	unsigned type = got->request.has & HAS_VNODE_TYPE ? got->request.vnode_type : 0;
	enum verdict from = direction == DIRECTION_LOOSER ? VERDICT_DENY : VERDICT_ALLOW;

	if (got->from.verdict != from || got->to.verdict == from)
		return false;
	return got->request.path.n > 60 || (expected(p, got->request.path.p, type) == from &&
					    expected(q, got->request.path.p, type) != from);
}

static bool is_right(const struct random_policy *p, const struct random_policy *q,
		     const struct difference *got, const struct simplest *want,
		     enum direction direction)
{
	if (got->found && !is_true(p, q, got, direction))
		return false;
	if (!want->found)
		return !got->found || got->request.path.n > longest;
	return got->found && got->request.path.n == want->length && got->cost / 1000 == want->words;
}

static unsigned n_compared, n_found, n_equal;

/* From P to Q, which differ as WANT says. */
static bool check_one_way(const struct random_policy *p, const struct random_policy *q,
			  const struct simplest *want)
{
	struct diff_options options = {.from = p->policy,
				       .to = q->policy,
				       .ops = only_reads,
				       .directions = {true, true},
				       .stops = DIFF_STOPS_DEFAULT,
				       .memory = WITNESS_MEMORY_DEFAULT,
				       .steps = WITNESS_STEPS_DEFAULT};
	struct differences got;
	bool ok = policy_diff(&options, &got, NULL) == 0;

	for (unsigned i = 0; i < DIRECTION_COUNT && ok; i++) {
		const struct difference *one = &got.by_op[OP_FILE_READ_DATA][i];

		ok = is_right(p, q, one, &want[i], (enum direction)i);
		n_found += want[i].found;
		n_equal += !one->found;
		if (!ok)
			printf("# direction %u: found %d \"%s\" cost %u, not %d %zu %u\n", i,
			       one->found, one->found ? one->request.path.p : "", one->cost,
			       want[i].found, want[i].length, want[i].words);
	}
	differences_release(&got);
	return ok;
}

static bool check_pair(const struct random_policy *p, const struct random_policy *q)
{
	struct simplest want[DIRECTION_COUNT], back[DIRECTION_COUNT];

	find_simplest(p, q, want);
	back[DIRECTION_LOOSER] = want[DIRECTION_STRICTER];
	back[DIRECTION_STRICTER] = want[DIRECTION_LOOSER];
	return check_one_way(p, q, want) && check_one_way(q, p, back);
}

/* Makes P a policy of which some rules are others: the other verdict, filter or place. */
static void change(struct random_policy *p)
{
	struct policy_builder *b = rules_new(p->target);

	for (unsigned n = 1 + below(3); n > 0; n--) {
		struct random_rule *one = &p->rules[below(RULES)], *other = &p->rules[below(RULES)];
		struct random_rule kept = *one;

		switch (below(3)) {
		case 0:
			one->verdict = one->verdict == VERDICT_DENY ? VERDICT_ALLOW : VERDICT_DENY;
			break;
		case 1:
			one->filter = other->filter;
			break;
		default:
			*one = *other;
			*other = kept;
		}
	}
	for (unsigned i = 0; i < RULES; i++) {
		const struct random_rule *rule = &p->rules[i];

		(rule->origin == ORIGIN_RUNTIME ? rules_add_runtime : rules_add)(
			b, rule->verdict, rule->op,
			rule->filter ? to_expr(b, p, rule->filter) : NULL);
	}
	p->policy = rules_build(b);
}

static void check_pairs(struct kind_of_policy kind, uint64_t first)
{
	static struct random_policy p, q;
	bool ok = true;

	n_found = n_equal = 0;
	random_state = first;
	list_paths();
	for (unsigned i = 0; i < pairs && ok; i++) {
		enum target target = one_in(2) ? TARGET_LINUX : TARGET_DARWIN;

		random_policy(&p, target, kind);
		q = p;
		change(&q);
		ok = p.policy && q.policy && check_pair(&p, &q);
		n_compared++;
		if (!ok) {
			print_policy(&p);
			print_policy(&q);
		}
		policy_free(p.policy);
		policy_free(q.policy);
	}
	CHECK(ok);
	CHECK(n_found > pairs / 20);
	CHECK(n_equal > pairs / 20);
}

static void texts_differ_as_the_list_says(void)
{
	check_pairs((struct kind_of_policy){.with_guards = true, .depth = 2}, seed);
}

static void regexes_differ_as_the_list_says(void)
{
	check_pairs((struct kind_of_policy){.with_regexes = true, .with_guards = true, .depth = 2},
		    seed + 1);
}

static void the_runtime_counts(void)
{
	check_pairs((struct kind_of_policy){.with_regexes = true,
					    .with_guards = true,
					    .with_runtime = true,
					    .depth = 1},
		    seed + 2);
}

/* ---- Bounds ---- */

static int diff_within(const struct policy *from, const struct policy *to, size_t stops,
		       size_t memory, size_t steps, struct err *e)
{
	static const bool ops[OP_COUNT] = {
		[OP_FILE_READ_DATA] = true, [OP_MACH_LOOKUP] = true, [OP_NETWORK_OUTBOUND] = true};
	struct diff_options options = {.from = from,
				       .to = to,
				       .ops = ops,
				       .directions = {true, true},
				       .stops = stops,
				       .memory = memory,
				       .steps = steps};
	struct differences got;
	int r = policy_diff(&options, &got, e);

	differences_release(&got);
	return r;
}

/* Something of all kinds. */
static struct policy *some_policy(const char *path)
{
	struct policy_builder *b = rules_new(TARGET_DARWIN);

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY,
		  group(b, EXPR_ALL, 3, subpath(b, path), number(b, FILTER_VNODE_TYPE, 1),
			pattern(b, FILTER_EXTENSION, MATCH_STRING, "com.a")));
	rules_add(b, VERDICT_ALLOW, OP_MACH_LOOKUP,
		  pattern(b, FILTER_GLOBAL_NAME, MATCH_REGEX, "^com\\.(a|b)+$"));
	rules_add(b, VERDICT_ALLOW, OP_NETWORK_ANY,
		  endpoint(b, FILTER_REMOTE, PROTO_IP4 | PROTO_TCP, true, 80));
	return rules_build(b);
}

static void bounds_are_errors_that_say_so(void)
{
	struct policy *from = some_policy("/some/where"), *to = some_policy("/some/place");
	size_t memory = WITNESS_MEMORY_DEFAULT, steps = WITNESS_STEPS_DEFAULT;
	struct err e = {0};

	CHECK_INT(diff_within(from, to, DIFF_STOPS_DEFAULT, memory, steps, &e), 0);
	CHECK_INT(diff_within(from, to, 5, memory, steps, &e), -ERR_LIMIT);
	CHECK_STR(e.text, "the policies are too large to look at every path");
	CHECK_INT(diff_within(from, to, DIFF_STOPS_DEFAULT, memory, 2, &e), -ERR_LIMIT);
	CHECK_STR(e.text, "the rules tell too many kinds of requests apart");
	policy_free(from);
	policy_free(to);
}

/* Each allocation in turn is the one that fails. */
static void no_memory_is_an_error(void)
{
	struct policy *from = some_policy("/some/where"), *to = some_policy("/some/place");
	unsigned failures = 0;
	struct err e;
	int r = -1;

	for (size_t memory = 1; r < 0 && memory < (1 << 20); memory += 8) {
		e = (struct err){0};
		r = diff_within(from, to, DIFF_STOPS_DEFAULT, memory, WITNESS_STEPS_DEFAULT, &e);
		CHECK(r == 0 || (r == -ERR_LIMIT && e.text[0]));
		failures += r < 0;
	}
	CHECK_INT(r, 0);
	CHECK(failures > 100);
	policy_free(from);
	policy_free(to);
}

int main(int argc, char **argv)
{
	if (argc > 3) {
		pairs = (unsigned)strtoul(argv[1], NULL, 10);
		seed = strtoull(argv[2], NULL, 10);
		longest = argv[3][0] == '5' ? LENGTH_MAX : 4;
	}
	RUN(texts_differ_as_the_list_says);
	RUN(regexes_differ_as_the_list_says);
	RUN(the_runtime_counts);
	RUN(bounds_are_errors_that_say_so);
	RUN(no_memory_is_an_error);
	printf("# %u pairs of policies, %u requests each\n", n_compared, TYPES * n_listed);
	return test_done();
}
