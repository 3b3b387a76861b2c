/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lint against lists: of small random policies every short path is asked about, and what no rule
 * decides there is what lint must find. Random, from a fixed seed.
 */
#include "random.h"
#include "rules.h"
#include "policy/lint.h"

#include "base/banned.h"

enum {
	PATHS_MAX = 8192,
	PATH_BYTES = 7,
	RULES = 6,
	TYPES = 3, /* none, regular file, directory */
};

static char paths[PATHS_MAX][PATH_BYTES + 1]; /* the first is none at all */
static unsigned n_paths;

static bool is_canonical(const char *path)
{
	const char *name = path + 1;

	if (!*name)
		return true;
	for (;;) {
		size_t n = strcspn(name, "/");

		if (n == 0 || (n == 1 && name[0] == '.') || (n == 2 && !strncmp(name, "..", 2)))
			return false;
		if (!name[n])
			return true;
		name += n + 1;
	}
}

/* Adds all canonical paths of up to SIZE LETTERS, the last of which must be among them. */
static void list_paths(const char *letters, unsigned size)
{
	unsigned base = (unsigned)strlen(letters), total = 1;

	for (unsigned n = 0; n < size; n++, total *= base) {
		for (unsigned i = 0; i < total; i++) {
			char *path = paths[n_paths];

			path[0] = '/';
			for (unsigned j = 0, left = i; j < n; j++, left /= base)
				path[1 + j] = letters[left % base];
			path[n + 1] = '\0';
			n_paths += is_canonical(path) && strchr(path, letters[base - 1]);
			CHECK(n_paths < PATHS_MAX);
		}
	}
}

/* Long ones of letters that rules speak of; shorter ones with another. */
static void list_all_paths(void)
{
	n_paths = 1;
	list_paths(".ab/", PATH_BYTES);
	list_paths("/ab.c", PATH_BYTES - 2);
}

/* ---- Random policies ---- */

static struct expr *random_pattern(struct policy_builder *b)
{
	/* Short, so that all that they tell apart is among the paths. */
	static const char *const texts[] = {"/",  "/a",  "/b", "/a/", "/ab",
					    "/.", "/a.", "//", "a",   "/a/b"};
	static const char *const regexes[] = {"a$",  "^/a", "/b(/|$)", "^/[^/]*$",
					      "\\.", "/$",  "b$",      "^(/a|/b)$"};
	enum {
		N_TEXTS = sizeof(texts) / sizeof(texts[0]),
		N_REGEXES = sizeof(regexes) / sizeof(regexes[0])
	};

	switch (below(5)) {
	case 0:
		return literal(b, texts[below(N_TEXTS)]);
	case 1:
		return prefix(b, texts[below(N_TEXTS)]);
	case 2:
		return regex(b, regexes[below(N_REGEXES)]);
	default:
		return subpath(b, texts[below(N_TEXTS)]);
	}
}

static struct expr *random_filter(struct policy_builder *b, unsigned depth)
{
	static const enum expr_kind kinds[] = {EXPR_ALL, EXPR_ANY, EXPR_ANY};

	if (one_in(8))
		return number(b, FILTER_VNODE_TYPE, 1 + below(2));
	if (depth == 0 || one_in(2))
		return random_pattern(b);
	if (one_in(5))
		return not(b, random_filter(b, depth - 1));
	return group(b, kinds[below(3)], 2, random_filter(b, depth - 1),
		     random_filter(b, depth - 1));
}

/* Every way up the hierarchy that the rules are about: with a path, without, both. */
static const enum op asked[] = {OP_FILE_READ_DATA,   OP_FILE_READ_METADATA, OP_FILE_WRITE_DATA,
				OP_NETWORK_OUTBOUND, OP_QTN_USER,           OP_SIGNAL};

enum {
	N_ASKED = sizeof(asked) / sizeof(asked[0])
};

static struct policy *random_policy(void)
{
	static const enum op ops[] = {OP_FILE_READ_DATA, OP_FILE_READ_ANY, OP_FILE_READ_ANY,
				      OP_FILE_ANY, OP_DEFAULT};
	struct policy_builder *b = rules_new(TARGET_LINUX);

	for (unsigned i = 0; i < RULES; i++)
		rules_add(b, one_in(2) ? VERDICT_ALLOW : VERDICT_DENY, ops[below(5)],
			  one_in(5) ? NULL : random_filter(b, 2));
	return rules_build(b);
}

/* ---- The lists ---- */

/* Which rules decide, by operation asked; and of which later ones denying fails. */
struct lists {
	const struct policy *policy;
	bool live[RULES][N_ASKED];
	bool loses[RULES];              /* a denial, somewhere */
	bool loses_for[RULES][N_ASKED]; /* any rule */
};

static bool is_below(enum op op, enum op ancestor)
{
	while (op != ancestor && op != OP_DEFAULT)
		op = op_parent(op);
	return op == ancestor;
}

/* Does a wider rule, later than BY which decides REQUEST, say otherwise? */
static void note_losers(struct lists *l, const struct request *request, const struct rule *by,
			unsigned i)
{
	struct request above = *request;

	while (above.op != OP_DEFAULT && !op_is_terminal(above.op)) {
		const struct rule *wide;

		above.op = op_parent(above.op);
		wide = decide(l->policy, &above).rule;
		if (!wide || wide->op != above.op || !wide->filter || wide->index < by->index ||
		    wide->verdict == by->verdict || wide->op == by->op ||
		    !is_below(by->op, wide->op))
			continue;
		l->loses[wide->index] |= wide->verdict == VERDICT_DENY;
		l->loses_for[wide->index][i] = true;
	}
}

/* Calls for every request there is; those for sockets and signals may have no path. */
static void each_request(void (*each)(void *context, const struct request *request, unsigned i),
			 void *context)
{
	for (unsigned i = 0; i < N_ASKED; i++) {
		enum op op = asked[i];
		bool always = is_below(op, OP_FILE_ANY), never = op == OP_SIGNAL;
		bool typed = op_takes(op, FILTER_VNODE_TYPE);

		for (unsigned p = always; p < (never ? 1 : n_paths); p++) {
			for (unsigned type = 0; type < (typed && p > 0 ? TYPES : 1); type++) {
				struct request request = {.op = op, .path = str_of(paths[p])};

				request.vnode_type = (enum vnode_type)type;
				request.has = type ? HAS_VNODE_TYPE : 0;
				each(context, &request, i);
			}
		}
	}
}

static void note(void *context, const struct request *request, unsigned i)
{
	struct lists *l = context;
	const struct rule *by = decide(l->policy, request).rule;

	if (!by)
		return;
	l->live[by->index][i] = true;
	note_losers(l, request, by, i);
}

static bool is_live(const struct lists *l, unsigned rule)
{
	for (unsigned i = 0; i < N_ASKED; i++)
		if (l->live[rule][i])
			return true;
	return false;
}

/* A rule that allows is only told of where it allows nothing. */
static bool loses(const struct lists *l, unsigned rule)
{
	for (unsigned i = 0; i < N_ASKED; i++)
		if (l->loses_for[rule][i] && !l->live[rule][i])
			return true;
	return l->loses[rule];
}

/* ---- What lint says ---- */

static void print_expr(const struct expr *expr)
{
	static const char *const words[] = {
		[EXPR_ALL] = "all", [EXPR_ANY] = "any", [EXPR_NOT] = "not"};

	if (expr->kind == EXPR_TEST && expr->test.filter == FILTER_PATH)
		printf(" %d:\"%s\"", expr->test.match, expr->test.text.p);
	else if (expr->kind == EXPR_TEST)
		printf(" type=%d", (int)expr->test.number);
	else
		printf(" (%s", words[expr->kind]);
	for (size_t i = 0; expr->kind != EXPR_TEST && i < expr->n; i++)
		print_expr(expr->kids[i]);
	printf("%s", expr->kind == EXPR_TEST ? "" : ")");
}

static void print_rule(const struct rule *rule)
{
	printf("# %u: %s %s", rule->index + 1, verdict_name(rule->verdict), op_name(rule->op));
	if (rule->filter)
		print_expr(rule->filter);
	printf("\n");
}

/* Does RULE, alone, match REQUEST? */
struct alone {
	const struct policy *all;
	struct policy *alone;
	const struct rule *rule;
	unsigned matches, differs;
};

static void note_match(void *context, const struct request *request, unsigned i)
{
	struct alone *a = context;

	(void)i;
	if (!decide(a->alone, request).rule)
		return;
	a->matches++;
	a->differs += decide(a->all, request).verdict != a->rule->verdict;
}

static struct alone look_alone(const struct policy *policy, const struct rule *rule)
{
	struct policy_builder *b = policy_builder_new(TARGET_LINUX, POLICY_LIMITS_DEFAULT);
	struct alone a = {.all = policy, .rule = rule};

	CHECK_INT(policy_builder_add(b, rule, NULL), 0);
	a.alone = rules_build(b);
	each_request(note_match, &a);
	policy_free(a.alone);
	return a;
}

static bool said(const struct findings *findings, enum lint_kind kind, unsigned rule)
{
	for (size_t i = 0; i < findings->n; i++)
		if (findings->list[i].kind == kind && findings->list[i].at.line == rule + 1)
			return true;
	return false;
}

static void check_rule(const struct lists *l, const struct findings *findings, unsigned i)
{
	const struct rule *rule = policy_rule(l->policy, i);
	bool dead = said(findings, LINT_DEAD_RULE, i),
	     useless = said(findings, LINT_DEAD_DEFAULT, i);
	bool redundant = said(findings, LINT_REDUNDANT_RULE, i);
	bool beaten = said(findings, LINT_SPECIFIC_WINS, i);
	bool unmatched = said(findings, LINT_NO_MATCH, i);

	CHECK_INT(beaten, loses(l, i));
	if (is_live(l, i)) {
		CHECK(!dead && !redundant && !useless);
		return;
	}
	CHECK_INT(useless, !rule->filter);
	if (!rule->filter || beaten)
		return;
	if (dead || redundant) {
		struct alone a = look_alone(l->policy, rule);

		CHECK(a.matches > 0);
		CHECK_INT(a.differs > 0, dead);
	} else {
		CHECK(unmatched);
		CHECK_INT(look_alone(l->policy, rule).matches, 0);
	}
}

static void rules_that_decide_nothing(void)
{
	unsigned kinds[LINT_KINDS] = {0};

	random_state = 4711;
	list_all_paths();
	for (unsigned i = 0; i < 400 && test_failures_here == 0; i++) {
		struct policy *policy = random_policy();
		struct lists lists = {.policy = policy};
		struct arena arena = {0};
		struct findings findings;

		each_request(note, &lists);
		CHECK_INT(lint(lists.policy, LINT_LIMITS_DEFAULT, &arena, &findings, NULL), 0);
		for (unsigned rule = 0; rule < RULES; rule++)
			check_rule(&lists, &findings, rule);
		for (size_t j = 0; j < findings.n; j++)
			kinds[findings.list[j].kind]++;
		for (unsigned rule = 0; rule < RULES && test_failures_here; rule++)
			print_rule(policy_rule(lists.policy, rule));
		for (size_t j = 0; j < findings.n && test_failures_here; j++)
			printf("# %u: %s %s\n", findings.list[j].at.line,
			       lint_kind_name(findings.list[j].kind), findings.list[j].text);
		arena_release(&arena);
		policy_free(policy);
	}
	/* None of it came about by there being nothing to find. */
	CHECK(kinds[LINT_DEAD_RULE] > 20);
	CHECK(kinds[LINT_REDUNDANT_RULE] > 20);
	CHECK(kinds[LINT_DEAD_DEFAULT] > 20);
	CHECK(kinds[LINT_SPECIFIC_WINS] > 20);
	CHECK_INT(kinds[LINT_NOT_CHECKED], 0);
}

/* What is too large is said once, and the rest is there. */
static void past_the_limits(void)
{
	const struct lint_limits tight[] = {
		{.memory = 128u << 20, .states = 3, .stops = 1u << 20},
		{.memory = 128u << 20, .states = 1000, .stops = 3},
		{.memory = 1u << 14, .states = 1000, .stops = 1u << 20},
	};
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;

	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, subpath(b, "/a/b/"));
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, regex(b, "^/a/b/c(/|$)"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/a"));
	policy = rules_build(b);
	for (size_t i = 0; i < sizeof(tight) / sizeof(tight[0]); i++) {
		struct arena arena = {0};
		struct findings findings;
		unsigned n[LINT_KINDS] = {0};

		CHECK_INT(lint(policy, tight[i], &arena, &findings, NULL), 0);
		for (size_t j = 0; j < findings.n; j++)
			n[findings.list[j].kind]++;
		CHECK_INT(n[LINT_NOT_CHECKED], 1);
		CHECK_INT(n[LINT_NO_MATCH], 1);
		CHECK_INT(findings.n, 2);
		arena_release(&arena);
	}
	policy_free(policy);
}

/* Findings that do not fit are an error, not a shorter list. */
static void no_memory(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct findings findings;
	struct policy *policy;
	unsigned failed = 0;

	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, subpath(b, "/a/b/"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/a"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/"));
	policy = rules_build(b);
	for (size_t limit = 1;; limit += 64) {
		struct arena arena = {.limit = limit};
		struct err e = {0};
		int r = lint(policy, LINT_LIMITS_DEFAULT, &arena, &findings, &e);

		arena_release(&arena);
		if (r == 0)
			break;
		failed++;
		CHECK_INT(r, -(int)ERR_MEMORY);
		CHECK(limit < 1u << 20);
	}
	CHECK(failed > 2);
	policy_free(policy);
}

int main(void)
{
	RUN(past_the_limits);
	RUN(no_memory);
	RUN(rules_that_decide_nothing);
	return test_done();
}
