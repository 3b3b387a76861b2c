/* SPDX-License-Identifier: Apache-2.0 */
/* What patterns match, the vectors of SBPL.md 9 among them, and which filters are refused. */
#include "rules.h"

#include "base/banned.h"

/* ---- What matches ---- */

static void vector_3_and_4_private_names(void)
{
	struct {
		enum target target;
		const char *rule, *path;
		bool allowed;
	} rows[] = {
		{TARGET_DARWIN, "/etc", "/private/etc/hosts", false},
		{TARGET_DARWIN, "/private/etc", "/private/etc/hosts", true},
		{TARGET_DARWIN, "/private/etc", "/etc/hosts", false},
		{TARGET_LINUX, "/etc", "/etc/hosts", true},
		{TARGET_LINUX, "/private/etc", "/etc/hosts", true},
		{TARGET_LINUX, "/private/etc", "/private/etc/hosts", true},
		{TARGET_LINUX, "/etc", "/private/etc/hosts", false},
		{TARGET_LINUX, "/private/tmp", "/tmp", true},
		{TARGET_LINUX, "/private/tmp", "/tmpx", false},
		{TARGET_LINUX, "/private/var", "/var/x", true},
		{TARGET_LINUX, "/private/usr", "/usr/x", false},
		{TARGET_LINUX, "/private", "/tmp/x", true},
		{TARGET_LINUX, "/private", "/usr/x", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct policy_builder *b = rules_new(rows[i].target);
		struct policy *policy;

		rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, rows[i].rule));
		policy = rules_build(b);
		if (allows(policy, OP_FILE_READ_DATA, rows[i].path) != rows[i].allowed)
			printf("# row %zu\n", i);
		CHECK(allows(policy, OP_FILE_READ_DATA, rows[i].path) == rows[i].allowed);
		policy_free(policy);
	}
}

static bool allows_object(const struct policy *policy, const char *name)
{
	const struct fact fact = {.filter = FILTER_IPC_POSIX_NAME, .text = str_of(name)};
	const struct request request = {
		.op = OP_IPC_POSIX_SHM_WRITE_CREATE, .facts = &fact, .n_facts = 1};
	struct decision decision;

	policy_decide(policy, &request, &decision);
	return decision.verdict == VERDICT_ALLOW;
}

/* shm_open(3) takes a name with any number of slashes in front, for the same object. */
static void names_of_objects_have_many_spellings(void)
{
	static const struct {
		enum match match;
		const char *pattern, *name;
		bool holds, holds_on_darwin;
	} rows[] = {
		{MATCH_LITERAL, "a", "a", true, true},
		{MATCH_LITERAL, "a", "/a", true, false},
		{MATCH_LITERAL, "/a", "a", true, false},
		{MATCH_LITERAL, "/a", "/a", true, true},
		{MATCH_LITERAL, "/a", "b", false, false},
		{MATCH_LITERAL, "/a", "ab", false, false},
		{MATCH_LITERAL, "a", "//a", true, false},
		{MATCH_LITERAL, "/a", "///a", true, false},
		{MATCH_LITERAL, "//a", "a", true, false},
		{MATCH_LITERAL, "a/", "a", false, false},
		{MATCH_PREFIX, "a", "/ab", true, false},
		{MATCH_PREFIX, "/", "ab", true, false},
		{MATCH_REGEX, "^/a$", "a", true, false},
		{MATCH_REGEX, "^a.*z$", "/abz", true, false},
		{MATCH_REGEX, "^[^/]", "/a", true, false},
		{MATCH_REGEX, "/a", "ab", true, false},
		{MATCH_REGEX, "/a", "ba", false, false},
		{MATCH_REGEX, "^$", "a", false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int target = TARGET_LINUX; target <= TARGET_DARWIN; target++) {
			struct policy_builder *b = rules_new((enum target)target);
			struct expr *filter = literal(b, rows[i].pattern);
			bool want =
				target == TARGET_LINUX ? rows[i].holds : rows[i].holds_on_darwin;
			struct policy *policy;

			filter->test.filter = FILTER_IPC_POSIX_NAME;
			filter->test.match = rows[i].match;
			rules_add(b, VERDICT_ALLOW, OP_IPC_POSIX_ANY, filter);
			policy = rules_build(b);
			if (allows_object(policy, rows[i].name) != want)
				printf("# row %zu, target %d\n", i, target);
			CHECK(allows_object(policy, rows[i].name) == want);
			policy_free(policy);
		}
}

static void vector_7_and_8_case(void)
{
	for (int target = TARGET_LINUX; target <= TARGET_DARWIN; target++) {
		struct policy_builder *b = rules_new((enum target)target);
		bool folds = target == TARGET_DARWIN;
		struct policy *policy;

		rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, NULL);
		rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, regex(b, "^.*/MIXEDCASE\\.txt$"));
		rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, regex(b, "^.*/\\.xssh(/.*)?$"));
		rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, literal(b, "/Some/File"));
		policy = rules_build(b);
		CHECK(allows(policy, OP_FILE_READ_DATA, "/a/MixedCase.txt") != folds);
		CHECK(!allows(policy, OP_FILE_READ_DATA, "/a/MIXEDCASE.txt"));
		CHECK(allows(policy, OP_FILE_READ_DATA, "/a/.SSH/config"));
		CHECK(allows(policy, OP_FILE_READ_DATA, "/some/fILE") != folds);
		policy_free(policy);
	}
}

static void vector_9_and_10_regex_quirks(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct test test = {.filter = FILTER_PATH, .match = MATCH_REGEX, .text = STR("(?i)^x")};
	struct policy *policy;
	struct err e = {0};

	CHECK_INT(policy_check_pattern(&test, &e), -ERR_POLICY);
	CHECK_STR(e.text, "unexpected ^ operator in middle of expression");

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, NULL);
	rules_add(b, VERDICT_DENY, OP_FILE_READ_DATA,
		  group(b, EXPR_ANY, 2, regex(b, "^/p/(?:.*/)?\\.env$"), literal(b, "/p/other")));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_DATA, regex(b, "^/q/(.*/)?\\.env$"));
	policy = rules_build(b);
	CHECK(allows(policy, OP_FILE_READ_DATA, "/p/a/.env"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/p/other")); /* only that pattern is dead */
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/q/a/.env"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/q/.env"));
	policy_free(policy);
}

/* ---- What is refused ---- */

static void bad_patterns_name_their_place(void)
{
	struct {
		const char *text, *message;
	} rows[] = {
		{"a^b", "unexpected ^ operator in middle of expression"},
		{"(^a)", "unexpected ^ operator in middle of expression"},
		{"a|^b", "unexpected ^ operator in middle of expression"},
		{"(a", "unbalanced ( in regular expression"},
		{"a)", "unbalanced ) in regular expression"},
		{"[a", "unbalanced [ in regular expression"},
		{"[", "unbalanced [ in regular expression"},
		{"[]", "unbalanced [ in regular expression"},
		{"[b-a]", "invalid range in regular expression"},
		{"*a", "repetition without an operand in regular expression"},
		{"a|+", "repetition without an operand in regular expression"},
		{"(*)", "repetition without an operand in regular expression"},
		{"^*", "repetition without an operand in regular expression"},
		{"a\\", "trailing backslash in regular expression"},
		{"a{", "invalid interval in regular expression"},
		{"a{x}", "invalid interval in regular expression"},
		{"a{2,1}", "invalid interval in regular expression"},
		{"a{256}", "invalid interval in regular expression"},
		{"[[:alpha:]]", "unsupported [: :], [. .] or [= =] in regular expression"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct test test = {.match = MATCH_REGEX, .text = str_of(rows[i].text)};
		struct err e = {0};

		test.at = (struct span){"p.sb", 3, 7};
		CHECK_INT(policy_check_pattern(&test, &e), -ERR_POLICY);
		CHECK_STR(e.text, rows[i].message);
		CHECK_INT(e.at.line, 3);
	}
}

static void odd_patterns_are_fine(void)
{
	const char *rows[] = {"",     "^",      "$",     "^$",    "a|",      "(a|)b", "()",
			      "[]a]", "[^]a]",  "[a-]",  "[-a]",  "[\\]]",   "a{2,}", "a**",
			      "a$b",  "\\/\\.", "(?:a)", "(?!a)", "\\{a\\}", "a}",    "]"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct test test = {.match = MATCH_REGEX, .text = str_of(rows[i])};
		struct err e = {0};

		if (policy_check_pattern(&test, &e) != 0)
			printf("# \"%s\": %s\n", rows[i], e.text);
		CHECK_INT(policy_check_pattern(&test, &e), 0);
	}
}

static void build_reports_the_pattern(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct expr *bad = regex(b, "(a");
	struct policy *policy = NULL;
	struct err e = {0};

	bad->test.at = (struct span){"p.sb", 12, 5};
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, bad);
	CHECK_INT(policy_build(b, &policy, &e), -ERR_POLICY);
	CHECK(!policy);
	CHECK_INT(e.at.line, 12);
}

static void empty_subpath_is_refused(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct rule rule = {.op = OP_FILE_READ_ANY, .filter = subpath(b, "")};
	struct err e = {0};

	CHECK_INT(policy_builder_add(b, &rule, &e), -ERR_POLICY);
	rule.filter = number(b, FILTER_PATH, 1);
	CHECK_INT(policy_builder_add(b, &rule, &e), -ERR_POLICY);
	rule.filter = subpath(b, "/a");
	CHECK_INT(policy_builder_add(b, &rule, &e), 0);
	policy_builder_free(b);
}

static void nesting_is_bounded(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct rule rule = {.op = OP_FILE_READ_ANY};
	const struct expr *expr = subpath(b, "/a");
	struct err e = {0};

	for (int i = 0; i < 50; i++)
		expr = not(b, expr);
	rule.filter = expr;
	CHECK_INT(policy_builder_add(b, &rule, &e), 0);
	for (int i = 0; i < 5000; i++)
		expr = not(b, expr);
	rule.filter = expr;
	CHECK_INT(policy_builder_add(b, &rule, &e), -ERR_LIMIT);
	policy_builder_free(b);
}

/* ---- What there is ---- */

struct seen {
	unsigned n;
	char text[8][32];
	enum match match[8];
};

static void see(void *context, const struct rule *rule, const struct test *test)
{
	struct seen *seen = context;

	(void)rule;
	if (seen->n < 8) {
		seen->match[seen->n] = test->match;
		(void)snprintf(seen->text[seen->n++], sizeof(seen->text[0]), "%.*s",
			       (int)test->text.n, test->text.p);
	}
}

static void each_path_speaks_linux(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct seen seen = {0};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY,
		  group(b, EXPR_ANY, 2, subpath(b, "/private/tmp/x"), literal(b, "/a")));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, not(b, regex(b, "/private/tmp")));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/private"));
	policy = rules_build(b);
	policy_each_path(policy, see, &seen);
	CHECK_INT(seen.n, 7);
	CHECK_STR(seen.text[0], "/tmp/x");
	CHECK_STR(seen.text[1], "/a");
	CHECK_STR(seen.text[2], "/private/tmp");
	CHECK_INT(seen.match[2], MATCH_REGEX);
	CHECK_STR(seen.text[3], "/tmp");
	CHECK_STR(seen.text[4], "/var");
	CHECK_STR(seen.text[5], "/etc");
	CHECK_STR(seen.text[6], "/private");
	policy_free(policy);
}

int main(void)
{
	RUN(vector_3_and_4_private_names);
	RUN(names_of_objects_have_many_spellings);
	RUN(vector_7_and_8_case);
	RUN(vector_9_and_10_regex_quirks);
	RUN(bad_patterns_name_their_place);
	RUN(odd_patterns_are_fine);
	RUN(build_reports_the_pattern);
	RUN(empty_subpath_is_refused);
	RUN(nesting_is_bounded);
	RUN(each_path_speaks_linux);
	return test_done();
}
