/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several rules of one effect a decision names: the same as a policy whose states tell
 * them apart. Random rules about few names, so that most paths match several of them.
 */
#include "random.h"
#include "rules.h"

#include "base/banned.h"

enum {
	RULES_MAX = 80,
	POLICIES = 24,
	PATHS = 250,
};

static const char *const names[] = {"a",       "b",   "private", "tmp",  "A",
				    "ab.long", "a-b", "var",     ".ssh", "longer-than-a-word"};

static const char *name(void)
{
	return names[below(sizeof(names) / sizeof(*names))];
}

/* Up to five names; half of the long ones in /tmp or /private/tmp. */
static void random_path(char *ret, size_t size)
{
	static const char *const tops[] = {"", "", "/tmp", "/private/tmp", "/private/etc"};
	size_t n = (size_t)snprintf(ret, size, "%s", tops[below(sizeof(tops) / sizeof(*tops))]);

	for (unsigned i = below(5); i > 0 || n == 0; i -= i > 0)
		n += (size_t)snprintf(ret + n, size - n, "/%s", name());
}

static struct expr *random_text(struct policy_builder *b)
{
	char text[160];

	if (one_in(120))
		return one_in(2) ? subpath(b, "/") : prefix(b, one_in(2) ? "/" : "/private/t");
	random_path(text, sizeof(text));
	switch (below(5)) {
	case 0:
		text[1 + below((unsigned)strlen(text))] = '\0';
		return prefix(b, text);
	case 1:
	case 2:
		return literal(b, text);
	default:
		return subpath(b, text);
	}
}

static struct expr *random_search(struct policy_builder *b)
{
	char text[200], path[160];

	random_path(path, sizeof(path));
	switch (below(5)) {
	case 0:
		(void)snprintf(text, sizeof(text), "^%s/.*%s$", path, name());
		break;
	case 1:
		return group(b, EXPR_ALL, 2, subpath(b, path), regex(b, "b$"));
	case 2:
		return group(b, EXPR_ALL, 2, random_text(b), not(b, random_text(b)));
	case 3:
		(void)snprintf(text, sizeof(text), "/%s/%s", name(), name());
		break;
	default:
		(void)snprintf(text, sizeof(text), "/%s(/|$)", name());
	}
	return regex(b, text);
}

static struct expr *random_filter(struct policy_builder *b, bool is_search)
{
	if (is_search)
		return random_search(b);
	return one_in(4) ? group(b, EXPR_ANY, 2, random_text(b), random_text(b)) : random_text(b);
}

/* N rules, of which one in so many is no text; one in 12 denies. */
static struct policy *random_policy(enum target target, unsigned n, unsigned searches, bool apart)
{
	struct policy_builder *b = rules_new(target);

	if (apart)
		policy_builder_keep_apart(b);
	for (unsigned i = 0; i < n; i++) {
		enum op op = one_in(8) ? OP_FILE_READ_ANY : OP_FILE_READ_DATA;
		enum verdict verdict = one_in(12) ? VERDICT_DENY : VERDICT_ALLOW;

		rules_add(b, verdict, op, random_filter(b, i == 0 || one_in(searches)));
	}
	return rules_build(b);
}

/* How many different rules were named; 0: one was not the right one. */
static unsigned compare_names(const struct policy *policy, const struct policy *apart)
{
	bool named[RULES_MAX + 1] = {false};
	unsigned n = 0;
	char path[160];

	for (unsigned i = 0; i < PATHS; i++) {
		unsigned got, want;

		random_path(path, sizeof(path));
		got = line_of(decide_path(policy, OP_FILE_READ_DATA, path));
		want = line_of(decide_path(apart, OP_FILE_READ_DATA, path));
		if (got != want) {
			printf("# %s: rule %u, not %u\n", path, got, want);
			return 0;
		}
		n += !named[got];
		named[got] = true;
	}
	return n;
}

/* Of that many rules, one in SEARCHES is none of texts. */
static void check_names(unsigned n, unsigned searches, uint64_t seed)
{
	unsigned named = 0;

	for (unsigned i = 0; i < POLICIES; i++) {
		enum target target = i % 2 ? TARGET_DARWIN : TARGET_LINUX;
		struct policy *policy, *apart;
		unsigned more;

		random_state = seed + i;
		policy = random_policy(target, n, searches, false);
		random_state = seed + i;
		apart = random_policy(target, n, searches, true);
		more = policy && apart ? compare_names(policy, apart) : 0;
		CHECK(more > 0);
		named += more;
		policy_free(policy);
		policy_free(apart);
		if (!more)
			printf("# policy %u of seed %llu\n", i, (unsigned long long)seed);
	}
	CHECK(named > POLICIES * 5); /* of each policy several */
}

static void texts_are_told_apart(void)
{
	check_names(40, 40, 0x1234567);
	check_names(RULES_MAX, 30, 0x2345678);
}

/* So few searches that the automaton tells which. */
static void few_searches_are_told_apart(void)
{
	check_names(20, 4, 0x3456789);
	check_names(40, 4, 0x456789a);
}

/* More than that, and than one automaton is tried for. */
static void many_searches_are_told_apart(void)
{
	check_names(40, 2, 0x56789ab);
	check_names(RULES_MAX, 2, 0x6789abc);
	check_names(RULES_MAX, 1, 0x789abcd);
}

/* Each of them is large beside others: they are asked one by one. */
static void large_searches_are_told_apart(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;
	char text[64];

	for (unsigned i = 0; i < 40; i++) {
		(void)snprintf(text, sizeof(text), "/%c.{3}%c", 'a' + i % 20, 'a' + i / 20);
		rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, regex(b, text));
	}
	policy = rules_build(b);
	for (unsigned i = 0; i < 40 && policy; i++) {
		(void)snprintf(text, sizeof(text), "/%c123%c/x", 'a' + i % 20, 'a' + i / 20);
		CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_DATA, text)), i + 1);
	}
	CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_DATA, "/a123a/b123b")), 22);
	CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_DATA, "/b123b/a123a")), 22);
	policy_free(policy);
}

int main(void)
{
	RUN(texts_are_told_apart);
	RUN(few_searches_are_told_apart);
	RUN(many_searches_are_told_apart);
	RUN(large_searches_are_told_apart);
	return test_done();
}
