/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are a profile or an error; never a crash, a leak or a long wait. A profile means the
 * same each time, decides in every state what it says it can, and what its rules say one by one.
 */
#include <stdlib.h>

#include "sbpl/sbpl.h"
#include "walk.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	OPS = 16,
	TEXTS = 24,
	STATES = 200,
};

static struct sbpl_errors errors;

/* "a.sb" imports the source itself, "b.sb" is another file. */
static int import(void *context, struct str path, const char *from, struct arena *arena,
		  struct sbpl_source *ret, struct err *e)
{
	(void)from;
	(void)arena;
	if (str_is(path, "a.sb")) {
		*ret = *(const struct sbpl_source *)context;
		return 0;
	}
	if (!str_is(path, "b.sb"))
		return err_set(e, ERR_POLICY, "unable to open %.*s", (int)path.n, path.p);
	*ret = (struct sbpl_source){
		"b.sb", STR("(define (b x) (subpath x)) (allow file-write* (b \"/b\"))"),
		ORIGIN_PROFILE};
	return 0;
}

static int compile(struct str text, enum target target, struct policy **ret)
{
	static const struct sbpl_param params[] = {{{"HOME", 4}, {"/home/u", 7}}};
	struct sbpl_source source = {"fuzz", text, ORIGIN_PROFILE};
	struct sbpl_options options = {.target = target,
				       .params = params,
				       .n_params = 1,
				       .import = import,
				       .import_context = &source};

	options.limits = (struct sbpl_limits){
		.steps = 100000, .depth = 200, .memory = 4u << 20, .imports = 2, .rules = 200};
	options.policy_limits =
		(struct policy_limits){.memory = 16u << 20, .states = 2000, .work = 2000000};
	return sbpl_compile(&source, 1, &options, ret, &errors);
}

static void check_errors(void)
{
	if (errors.n == 0 || errors.n > SBPL_ERRORS_MAX)
		abort();
	for (size_t i = 0; i < errors.n; i++)
		if (errors.list[i].code == ERR_NONE || !errors.list[i].text[0])
			abort();
	if (errors.list[0].code == ERR_POLICY && errors.list[0].at.line == 0)
		abort();
}

/* ---- What to ask ---- */

struct questions {
	enum op ops[OPS];
	size_t n_ops;
	char paths[TEXTS][WALK_TEXT_MAX + 1];
	size_t n_paths;
};

static void add_op(struct questions *q, enum op op)
{
	for (size_t i = 0; i < q->n_ops; i++)
		if (q->ops[i] == op)
			return;
	if (q->n_ops < OPS)
		q->ops[q->n_ops++] = op;
}

static void add_path(struct questions *q, struct str text, const char *more)
{
	char *path = q->paths[q->n_paths];

	if (q->n_paths == TEXTS || text.n + strlen(more) > WALK_TEXT_MAX)
		return;
	q->n_paths++;
	if (text.n)
		memcpy(path, text.p, text.n);
	memcpy(path + text.n, more, strlen(more) + 1);
}

/* Of a regular expression the bytes that stand for themselves. */
static void add_pattern(struct questions *q, const struct test *test)
{
	struct str text = test->text;
	char plain[WALK_TEXT_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < text.n && n < WALK_TEXT_MAX; i++)
		if (test->match != MATCH_REGEX || !strchr("^$()|*+?{}\\[]", text.p[i]))
			plain[n++] = text.p[i];
	text = (struct str){plain, n};
	add_path(q, text, "");
	add_path(q, text, "/a");
	add_path(q, text, "x");
	if (str_starts(text, STR("/private/")))
		add_path(q, (struct str){plain + 8, n - 8}, "");
	if (n > 1)
		add_path(q, (struct str){plain, n - 1}, "");
}

/* NOLINTNEXTLINE(misc-no-recursion): filters do not nest deeply */
static void add_patterns(struct questions *q, const struct expr *expr)
{
	if (expr->kind == EXPR_TEST && match_is_pattern(expr->test.match))
		add_pattern(q, &expr->test);
	for (size_t i = 0; expr->kind != EXPR_TEST && i < expr->n && q->n_paths < TEXTS; i++)
		add_patterns(q, expr->kids[i]);
}

static void find_questions(const struct policy *policy, struct questions *q)
{
	q->n_ops = q->n_paths = 0;
	add_op(q, OP_FILE_READ_DATA);
	add_op(q, OP_FILE_WRITE_UNLINK);
	for (size_t i = 0; i < policy_n_rules(policy); i++)
		add_op(q, policy_rule(policy, i)->op);
	for (unsigned op = 1; op < OP_COUNT; op++)
		if (op_parent(op) == q->ops[q->n_ops - 1])
			add_op(q, op);
	add_path(q, STR(""), "");
	add_path(q, STR("/"), "");
	add_path(q, STR("/tmp"), "");
	for (size_t i = policy_n_rules(policy); i-- > 0;)
		if (policy_rule(policy, i)->filter)
			add_patterns(q, policy_rule(policy, i)->filter);
}

/* ---- Answers ---- */

static void check_states(const struct policy *policy, const struct questions *q)
{
	unsigned n = policy_n_states(policy) < STATES ? policy_n_states(policy) : STATES;
	const enum op no_ops[] = {OP_COUNT};

	for (policy_state state = 0; state < n; state++) {
		for (size_t i = 0; i < q->n_ops; i++) {
			struct request request = {.op = q->ops[i]};
			struct decision decision;

			policy_decide_at(policy, state, &request, &decision);
			if (!(policy_verdicts_at(policy, state, q->ops[i]) &
			      1u << decision.verdict))
				abort();
		}
		if (policy_compare(policy, state, state, true, no_ops, 100) != REGION_SAME)
			abort();
	}
}

static bool is_canonical(const char *path)
{
	return path[0] == '/' && path[1] && path[strlen(path) - 1] != '/' && !strstr(path, "//") &&
	       !strstr(path, "/.");
}

/* What is decided below PATH is among what can be. */
static void check_below(const struct policy *policy, enum op op, const char *path)
{
	static const char *const tails[] = {"/a", "/x/.git/config", "/\xc3\xa9"};
	policy_state at = policy_walk(policy, policy_start(policy), str_of(path));
	unsigned can = policy_verdicts_below(policy, at, op);
	char text[WALK_TEXT_MAX + 32];

	if (!is_canonical(path))
		return;
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		struct request request = {.op = op};
		struct decision decision;
		size_t n = strlen(path);

		memcpy(text, path, n);
		memcpy(text + n, tails[i], strlen(tails[i]));
		request.path = (struct str){text, n + strlen(tails[i])};
		policy_decide(policy, &request, &decision);
		if (!(can & 1u << decision.verdict))
			abort();
	}
}

static void check_decision(const struct policy *policy, enum op op, const char *text)
{
	const struct fact facts[] = {
		{FILTER_GLOBAL_NAME, str_of(text), 0},
		{FILTER_SYSCTL_NAME, str_of(text), 0},
		{FILTER_SYSCTL_NAME, STR("kern.hostname"), 0},
		{FILTER_IPC_POSIX_NAME, str_of(text), 0},
		{FILTER_PREFERENCE_DOMAIN, str_of(text), 0},
	};
	struct request request = {.op = op,
				  .path = str_of(text),
				  .xattr = str_of(text),
				  .facts = facts,
				  .n_facts = sizeof(facts) / sizeof(facts[0]),
				  .vnode_type = VNODE_DIRECTORY};
	struct decision got, want;

	request.has = text[0] && strlen(text) % 2 ? HAS_VNODE_TYPE | HAS_FILE_MODE : 0;
	request.file_mode = 04755;
	policy_decide(policy, &request, &got);
	if (!walk_decide(policy, &request, &want))
		return;
	if (got.verdict != want.verdict || got.rule != want.rule || got.op != want.op)
		abort();
}

static void note_decided(void *context, const struct explain_step *step)
{
	const struct rule **rule = context;

	if (step->role == EXPLAIN_DECIDED)
		*rule = step->rule;
}

/* What is explained is what is decided. */
static void check_explained(const struct policy *policy, enum op op, const char *text)
{
	const struct request request = {.op = op, .path = str_of(text)};
	const struct rule *rule = NULL;
	struct decision decision;

	policy_decide(policy, &request, &decision);
	if (policy_explain(policy, &request, note_decided, &rule, NULL) == 0 &&
	    rule != decision.rule)
		abort();
}

static void check_policy(const struct policy *policy)
{
	static struct questions q;

	find_questions(policy, &q);
	check_states(policy, &q);
	for (size_t i = 0; i < q.n_ops; i++) {
		for (size_t k = 0; k < q.n_paths; k++) {
			check_decision(policy, q.ops[i], q.paths[k]);
			check_below(policy, q.ops[i], q.paths[k]);
		}
	}
	check_explained(policy, q.ops[0], q.paths[q.n_paths - 1]);
}

static void check_same(struct str text, enum target target, const struct policy *policy)
{
	struct policy *again = NULL;

	if (compile(text, target, &again) < 0 || policy_n_rules(policy) != policy_n_rules(again) ||
	    policy_n_states(policy) != policy_n_states(again))
		abort();
	policy_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	enum target target = size % 2 ? TARGET_DARWIN : TARGET_LINUX;
	struct policy *policy = NULL;

	if (compile(text, target, &policy) < 0) {
		check_errors();
		if (policy)
			abort();
		return 0;
	}
	check_policy(policy);
	if (size % 8 < 2)
		check_same(text, target, policy);
	policy_free(policy);
	return 0;
}
