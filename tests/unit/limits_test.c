/* SPDX-License-Identifier: Apache-2.0 */
/* The size of automata, what happens at its bounds, and walks over them. */
#include "rules.h"

#include "base/banned.h"

/* ---- Size and limits ---- */

static const char *const protected_names[] = {
	"\\.git/hooks",    "\\.git/config", "\\.vscode",      "\\.idea",     "\\.envrc",
	"\\.bashrc",       "\\.profile",    "\\.zshenv",      "\\.zshrc",    "\\.inputrc",
	"\\.gitconfig",    "\\.config/git", "\\.config/fish", "\\.ssh",      "\\.claude/settings",
	"\\.claude/hooks", "\\.codex",      "\\.gemini",      "\\.cursor",   "\\.opencode",
	"\\.pi",           "\\.mcp\\.json", "\\.bash_login",  "\\.zprofile", "\\.config/autostart",
};

enum {
	NAMES = sizeof(protected_names) / sizeof(*protected_names)
};

/* Directories to write, secrets not to read, names protected at any depth; ONE_RULE for the names.
 */
static struct policy *agent_policy(bool one_rule)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct expr *any = group(b, EXPR_ANY, 1, NULL);
	char text[64];

	any->kids = arena_array(policy_builder_arena(b), NAMES, sizeof(*any->kids));
	any->n = NAMES;
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, NULL);
	for (unsigned i = 0; i < 60; i++) {
		bool is_secret = i % 3;

		(void)snprintf(text, sizeof(text), "/home/user/%s%u", is_secret ? "." : "w", i);
		rules_add(b, is_secret ? VERDICT_DENY : VERDICT_ALLOW,
			  is_secret ? OP_FILE_READ_ANY : OP_FILE_WRITE_ANY, subpath(b, text));
	}
	for (unsigned i = 0; i < NAMES; i++) {
		(void)snprintf(text, sizeof(text), "/%s(/|$)", protected_names[i]);
		any->kids[i] = regex(b, text);
		if (!one_rule)
			rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, any->kids[i]);
	}
	if (one_rule)
		rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, any);
	return rules_build(b);
}

static void protected_names_stay_small(void)
{
	for (int one_rule = 0; one_rule < 2; one_rule++) {
		struct policy *policy = agent_policy(one_rule);
		const enum op op = OP_FILE_WRITE_DATA;

		CHECK(policy_n_states(policy) < 1000);
		CHECK(allows(policy, op, "/home/user/w3/src/a.c"));
		CHECK(!allows(policy, op, "/home/user/w3/src/.git/hooks/pre-commit"));
		CHECK(!allows(policy, op, "/home/user/w3/.config/git"));
		CHECK(allows(policy, op, "/home/user/w3/.config/gitk"));
		CHECK(!allows(policy, OP_FILE_READ_DATA, "/home/user/.1/key"));
		CHECK(allows(policy, OP_FILE_READ_DATA, "/home/user/.3/key"));
		CHECK_INT(line_of(decide_path(policy, op, "/home/user/w3/x")), 5);
		policy_free(policy);
	}
}

static void many_rules_are_linear(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;
	char text[64];

	for (unsigned i = 0; i < 500; i++) {
		(void)snprintf(text, sizeof(text), "/srv/customers/%03u/data/%u", i, i * 7919);
		rules_add(b, i % 2 ? VERDICT_ALLOW : VERDICT_DENY, OP_FILE_READ_ANY,
			  i % 4 < 2 ? subpath(b, text) : literal(b, text));
	}
	policy = rules_build(b);
	CHECK(policy_n_states(policy) < 500 * 24);
	for (unsigned i = 0; i < 500; i++) {
		struct decision decision;

		(void)snprintf(text, sizeof(text), "/srv/customers/%03u/data/%u", i, i * 7919);
		decision = decide_path(policy, OP_FILE_READ_DATA, text);
		CHECK_INT(line_of(decision), i + 1);
		CHECK_INT(decision.verdict, i % 2 ? VERDICT_ALLOW : VERDICT_DENY);
	}
	policy_free(policy);
}

/* Of N random subpaths; they may take so much memory and work for each. Returns bytes a rule. */
static size_t size_of_subpaths(unsigned n, size_t memory, size_t work)
{
	struct policy_limits limits = {.memory = n * memory, .states = 1u << 20, .work = n * work};
	struct policy_builder *b = policy_builder_new(TARGET_LINUX, limits);
	struct policy *policy = NULL;
	struct err e = {0};
	size_t size = 0;
	char text[NUMBERED_PATH + 1];

	rules_line = 0;
	for (unsigned i = 0; i < n; i++) {
		numbered_path(i, text);
		rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, text));
	}
	CHECK_INT(policy_build(b, &policy, &e), 0);
	if (!policy)
		return 0;
	for (unsigned i = 0; i < n; i += 97) {
		numbered_path(i, text);
		CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_DATA, text)), i + 1);
	}
	size = policy_table_size(policy) / n;
	policy_free(policy);
	return size;
}

static void subpaths_are_linear(void)
{
	size_t few = size_of_subpaths(100, 20000, 2000);
	size_t many = size_of_subpaths(10000, 14000, 2000);

	CHECK(few > 0 && many > 0);
	CHECK(many <= few);
}

/* Rules that cannot matter any more cost nothing: each pattern counts in its own directory only. */
static void patterns_bound_to_directories_stay_apart(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;
	char text[64];

	for (unsigned i = 0; i < 20; i++) {
		struct expr *where, *what;

		(void)snprintf(text, sizeof(text), "/d%02u", i);
		where = subpath(b, text);
		(void)snprintf(text, sizeof(text), "/\\.x%02u(/|$)", i);
		what = regex(b, text);
		rules_add(b, i % 2 ? VERDICT_ALLOW : VERDICT_DENY, OP_FILE_READ_DATA,
			  group(b, EXPR_ALL, 2, where, what));
	}
	policy = rules_build(b);
	CHECK(policy_n_states(policy) < 400);
	CHECK(allows(policy, OP_FILE_READ_DATA, "/d01/a/.x01/b"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/d02/a/.x01/b"));
	policy_free(policy);
}

static int build_with(struct policy_limits limits, const char *text, struct err *e)
{
	struct policy_builder *b = policy_builder_new(TARGET_LINUX, limits);
	struct policy *policy = NULL;
	struct expr *bad = regex(b, text);
	int r;

	bad->test.at = (struct span){"p.sb", 7, 1};
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/innocent"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, bad);
	r = policy_build(b, &policy, e);
	policy_free(policy);
	return r;
}

static void state_limit_names_the_pattern(void)
{
	struct policy_limits limits = POLICY_LIMITS_DEFAULT;
	struct err e = {0};

	limits.states = 1000;
	CHECK_INT(build_with(limits, "a.{5}b", &e), 0);
	CHECK_INT(build_with(limits, "a.{20}b", &e), -ERR_LIMIT);
	CHECK_INT(e.at.line, 7);
	CHECK(strstr(e.text, "a.{20}b"));
	CHECK_INT(build_with(limits, "/x*y*z?a.{20}b", &e), -ERR_LIMIT);
	CHECK_INT(e.at.line, 7);
	CHECK(strstr(e.text, "a.{20}b"));
}

static void work_limit_names_the_pattern(void)
{
	struct policy_limits limits = POLICY_LIMITS_DEFAULT;
	struct err e = {0};

	CHECK_INT(build_with(limits, "a.{10}b", &e), 0);
	limits.work = 10000;
	CHECK_INT(build_with(limits, "a.{10}b", &e), -ERR_LIMIT);
	CHECK_INT(e.at.line, 7);
	CHECK(strstr(e.text, "a.{10}b"));
	CHECK_INT(build_with(limits, "a.{2}b", &e), 0);
	limits.work = 0;
	CHECK_INT(build_with(limits, "a.{10}b", &e), 0);
	/* What is met again and again, and known each time, is work too. */
	limits.work = 500000;
	CHECK_INT(build_with(limits, "[ab].?{255}c", &e), -ERR_LIMIT);
	CHECK_INT(build_with(limits, "[ab].?{60}c", &e), 0);
	CHECK_INT(build_with(limits, "xa*{40}{40}b", &e), -ERR_LIMIT);
	CHECK_INT(build_with(limits, "xa*{10}{10}b", &e), 0);
	limits.work = 0;
	/* Nothing, however often, is no work at all. */
	CHECK_INT(build_with(limits, "(((((){255}){255}){255}){255}){255}", &e), 0);
}

static void memory_limit_is_an_error_at_every_size(void)
{
	struct policy_limits limits = POLICY_LIMITS_DEFAULT;
	unsigned failed = 0;

	CHECK_INT(build_with(limits, "(/a|b)*c{2,5}$", NULL), 0);
	CHECK_INT(build_with(limits, "((a{255}){255}){255}", NULL), -ERR_LIMIT);
	for (limits.memory = 4000; limits.memory < 400000; limits.memory += 1000) {
		struct err e = {0};
		int r = build_with(limits, "(/a|b)*c{2,5}$", &e);

		CHECK(r == 0 || r == -ERR_LIMIT);
		CHECK(r == 0 || e.at.line > 0); /* a rule or a pattern, whatever ran out of it */
		failed += r != 0;
	}
	CHECK(failed > 0 && failed < 396);
}

/* N rules that allow and deny by turns what is found anywhere in a path: a name, or two. */
static int build_searches(unsigned n, bool twice, struct policy_limits limits, struct policy **ret,
			  struct err *e)
{
	struct policy_builder *b = policy_builder_new(TARGET_LINUX, limits);
	char text[64];

	rules_line = 0;
	for (unsigned i = 0; i < n; i++) {
		struct expr *search;

		if (twice)
			(void)snprintf(text, sizeof(text), "/x%u.*\\.y%u", i, i);
		else
			(void)snprintf(text, sizeof(text), "/d%u(/|$)", i);
		search = regex(b, text);
		search->test.at = (struct span){"p.sb", i + 1, 1};
		rules_add(b, i % 2 ? VERDICT_ALLOW : VERDICT_DENY, OP_FILE_READ_DATA, search);
	}
	return policy_build(b, ret, e);
}

static void searches_by_turns_work(void)
{
	struct policy *policy = NULL;

	CHECK_INT(build_searches(300, false, POLICY_LIMITS_DEFAULT, &policy, NULL), 0);
	CHECK(allows(policy, OP_FILE_READ_DATA, "/d298/d299/d4"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/d298/d4"));
	CHECK(allows(policy, OP_FILE_READ_DATA, "/d298x/d29/d3"));
	CHECK_INT(line_of(decide_path(policy, OP_FILE_READ_DATA, "/d7/d250/d3")), 251);
	policy_free(policy);
}

static void too_much_work_names_the_patterns(void)
{
	struct policy_limits limits = POLICY_LIMITS_DEFAULT;
	struct policy *policy = NULL;
	struct err e = {0};

	CHECK_INT(build_searches(300, true, limits, &policy, &e), -ERR_LIMIT);
	CHECK(strstr(e.text, "makes the automaton too large") && strstr(e.text, "/x"));
	CHECK(e.at.line > 0);
	CHECK(strstr(e.hint, "/x") && strstr(e.hint, "others"));
	limits.work = 100000;
	CHECK_INT(build_searches(100, false, limits, &policy, &e), -ERR_LIMIT);
	limits.work = 0;
	CHECK_INT(build_searches(100, false, limits, &policy, &e), 0);
	policy_free(policy);
}

/* One rule for each of two operations: N times a path or a mode. */
static int build_modes(unsigned n, struct policy_limits limits, struct policy **ret, struct err *e)
{
	struct policy_builder *b = policy_builder_new(TARGET_LINUX, limits);
	struct expr *all = group(b, EXPR_ALL, 1, NULL);
	char text[16];

	rules_line = 0;
	all->kids = arena_array(policy_builder_arena(b), n, sizeof(*all->kids));
	all->n = n;
	for (unsigned i = 0; i < n; i++) {
		(void)snprintf(text, sizeof(text), "/a%u", i);
		all->kids[i] = group(b, EXPR_ANY, 2, literal(b, text),
				     number(b, FILTER_FILE_MODE, (int64_t)i));
	}
	rules_add(b, VERDICT_DENY, OP_FILE_READ_DATA, all);
	rules_add(b, VERDICT_DENY, OP_FILE_READ_XATTR, all);
	return policy_build(b, ret, e);
}

/* They take their time without much of an automaton: no pattern is to blame. */
static void too_much_work_of_conditions_names_the_rule(void)
{
	struct policy_limits limits = POLICY_LIMITS_DEFAULT;
	struct policy *policy = NULL;
	struct err e = {0};

	limits.work = 300000;
	CHECK_INT(build_modes(500, limits, &policy, &e), -ERR_LIMIT);
	CHECK(strstr(e.text, "more than 300000 steps"));
	CHECK_INT(e.at.line, 1);
	CHECK_STR(e.hint, "the filter of this rule has 1000 tests, those of all 2 rules 1000; no "
			  "rule has more");
	CHECK_INT(build_modes(10, limits, &policy, &e), 0);
	policy_free(policy);
}

/* ---- Bytes ---- */

static void all_bytes_count(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_FILE_READ_DATA};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, regex(b, "^/x.[^a]y$"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, literal(b, "/\xc3\xa9"));
	policy = rules_build(b);
	for (unsigned byte = 0; byte < 256; byte++) {
		char path[] = {'/', 'x', (char)byte, (char)byte, 'y'};

		request.path = (struct str){path, sizeof(path)};
		CHECK_INT(decide(policy, &request).verdict,
			  byte == 'a' ? VERDICT_DENY : VERDICT_ALLOW);
	}
	CHECK(allows(policy, OP_FILE_READ_DATA, "/\xc3\xa9"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/\xc3\x89"));
	policy_free(policy);
}

/* Longer than PATH_MAX, and than any length that the tables know. */
static void long_paths_are_walked_to_their_end(void)
{
	enum {
		LENGTH = 200000
	};
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_FILE_READ_DATA};
	char *name = malloc(LENGTH + 1), *path = malloc(LENGTH + 1);
	struct policy *policy;

	memset(name, 'n', LENGTH);
	name[0] = '/';
	name[LENGTH] = '\0';
	for (unsigned i = 0; i < LENGTH; i++)
		path[i] = "/\377\001\n"[i % 4];
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, literal(b, name));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, regex(b, "^/\377.*/\377\001\n$"));
	policy = rules_build(b);
	request.path = (struct str){name, LENGTH};
	CHECK(decide(policy, &request).verdict == VERDICT_ALLOW);
	name[LENGTH - 1] = 'm';
	CHECK(decide(policy, &request).verdict == VERDICT_DENY);
	request.path = (struct str){path, LENGTH};
	CHECK(decide(policy, &request).verdict == VERDICT_ALLOW);
	request.path.n--;
	CHECK(decide(policy, &request).verdict == VERDICT_DENY);
	policy_free(policy);
	free(name);
	free(path);
}

/* Walking in one go, byte by byte, or in any two parts comes to the same state. */
static void walks_can_be_cut_anywhere(void)
{
	static const char path[] = "/home/user/w3/src/vendor/library/.git/hooks/pre-commit.sample";
	struct policy *policy = agent_policy(true);
	policy_state step = policy_start(policy), whole = policy_walk(policy, step, str_of(path));

	for (size_t i = 0; i <= sizeof(path) - 1; i++) {
		struct str head = {path, i}, tail = {path + i, sizeof(path) - 1 - i};
		policy_state middle = policy_walk(policy, policy_start(policy), head);

		CHECK_INT(middle, step);
		CHECK_INT(policy_walk(policy, middle, tail), whole);
		step = policy_walk(policy, step, (struct str){path + i, tail.n > 0});
	}
	policy_free(policy);
}

/*
 * A name in any folder and everything below it, as programs generate it. Which of the names was met
 * makes no difference: what follows one is whatever follows.
 */
static void names_and_what_is_below_them_stay_small(void)
{
	enum {
		NAMES_MANY = 24
	};
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct expr *any[2] = {group(b, EXPR_ANY, 3, NULL, NULL, NULL),
			       group(b, EXPR_ANY, 3, NULL, NULL, NULL)};
	struct policy *policy;

	for (unsigned k = 0; k < 2; k++) {
		any[k]->kids = arena_array(policy_builder_arena(b), NAMES_MANY,
					   sizeof(const struct expr *));
		any[k]->n = NAMES_MANY;
		for (unsigned i = 0; i < NAMES_MANY; i++)
			any[k]->kids[i] = regex(b, arena_printf(policy_builder_arena(b),
								"^/home/u/p/(.*/)?\\.n%u%s(/.*)?$",
								i, i % 2 ? "/.*" : ""));
	}
	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_ANY, NULL);
	rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, any[0]);
	rules_add(b, VERDICT_ALLOW, OP_FILE_WRITE_CREATE, NULL);
	rules_add(b, VERDICT_DENY, OP_FILE_WRITE_CREATE, any[1]);
	policy = rules_build(b);
	CHECK(policy && policy_n_states(policy) < 1000);
	CHECK(!allows(policy, OP_FILE_WRITE_DATA, "/home/u/p/.n2"));
	CHECK(!allows(policy, OP_FILE_WRITE_DATA, "/home/u/p/a/b/.n2/c/.n4/d"));
	CHECK(allows(policy, OP_FILE_WRITE_DATA, "/home/u/p/a/b/.n22x/c"));
	CHECK(allows(policy, OP_FILE_WRITE_DATA, "/home/u/p/.n3")); /* only what is below it */
	CHECK(!allows(policy, OP_FILE_WRITE_CREATE, "/home/u/p/.n3/"));
	CHECK(allows(policy, OP_FILE_WRITE_CREATE, "/home/u/.n3/x"));
	policy_free(policy);
}

int main(void)
{
	RUN(protected_names_stay_small);
	RUN(many_rules_are_linear);
	RUN(patterns_bound_to_directories_stay_apart);
	RUN(state_limit_names_the_pattern);
	RUN(work_limit_names_the_pattern);
	RUN(subpaths_are_linear);
	RUN(memory_limit_is_an_error_at_every_size);
	RUN(searches_by_turns_work);
	RUN(too_much_work_names_the_patterns);
	RUN(too_much_work_of_conditions_names_the_rule);
	RUN(all_bytes_count);
	RUN(long_paths_are_walked_to_their_end);
	RUN(walks_can_be_cut_anywhere);
	RUN(names_and_what_is_below_them_stay_small);
	return test_done();
}
