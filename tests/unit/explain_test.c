/* SPDX-License-Identifier: Apache-2.0 */
/* The way to a decision: what is told, in which order; it always leads to policy_decide()'s. */
#include "oracle.h"

#include "base/banned.h"

static const char *const words[] = {
	[EXPLAIN_DECIDED] = "decided",     [EXPLAIN_OVERRIDDEN] = "overridden",
	[EXPLAIN_NOT_ASKED] = "not-asked", [EXPLAIN_GAVE_WAY] = "gave-way",
	[EXPLAIN_FELL] = "fell",
};

static void write_step(void *context, const struct explain_step *step)
{
	struct buf *text = context;

	buf_printf(text, "%s %s", op_name(step->op), words[step->role]);
	if (step->rule)
		buf_printf(text, " %u", step->rule->index);
	buf_puts(text, "\n");
}

static void check_way(struct policy *policy, const struct request *request, const char *want)
{
	struct buf text = {0};
	struct err e = {0};

	CHECK_INT(policy_explain(policy, request, write_step, &text, &e), 0);
	CHECK_STR(text.p, want);
	buf_release(&text);
}

static void the_way_is_told_in_order(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_FILE_READ_DATA, .path = STR("/w/d/x")};
	struct policy *policy;

	rules_add(b, VERDICT_DENY, OP_DEFAULT, NULL);                        /* 0 */
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/w"));     /* 1 */
	rules_add(b, VERDICT_DENY, OP_FILE_READ_ANY, subpath(b, "/w/d"));    /* 2 */
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/other")); /* 3 */
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, NULL);                 /* 4 */
	rules_add(b, VERDICT_ALLOW, OP_FILE_ANY, subpath(b, "/w/d/x"));      /* 5 */
	policy = rules_build(b);
	check_way(policy, &request,
		  "file-read-data fell\n"
		  "file-read* decided 2\n"
		  "file-read* overridden 1\n"
		  "file-read* overridden 4\n"
		  "file* not-asked 5\n"
		  "default not-asked 0\n");
	request.path = STR("/else");
	check_way(policy, &request,
		  "file-read-data fell\n"
		  "file-read* decided 4\n"
		  "default not-asked 0\n");
	request.op = OP_FILE_WRITE_SETUGID;
	check_way(policy, &request, "file-write-setugid decided\n");
	request.op = OP_SIGNAL;
	check_way(policy, &request, "signal fell\ndefault decided 0\n");
	policy_free(policy);
}

static void defaults_give_way_to_the_runtime(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_FILE_READ_DATA, .path = STR("/lib/x")};
	struct policy *policy;

	rules_add(b, VERDICT_DENY, OP_DEFAULT, NULL);
	rules_add_runtime(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/lib"));
	policy = rules_build(b);
	check_way(policy, &request,
		  "file-read-data fell\n"
		  "file-read* decided 1\n"
		  "default gave-way 0\n");
	request.path = STR("/etc");
	check_way(policy, &request,
		  "file-read-data fell\n"
		  "file-read* fell\n"
		  "file* fell\n"
		  "default decided 0\n");
	policy_free(policy);
}

struct seen {
	unsigned n;
	struct explain_step decided;
};

static void note_decided(void *context, const struct explain_step *step)
{
	struct seen *seen = context;

	if (step->role != EXPLAIN_DECIDED)
		return;
	seen->n++;
	seen->decided = *step;
}

static void the_way_leads_to_the_decision(void)
{
	static struct random_policy p;
	char path[128];

	random_state = 0xe1a1;
	for (unsigned i = 0; i < 60; i++) {
		random_policy(&p, i % 2 ? TARGET_LINUX : TARGET_DARWIN,
			      (struct kind_of_policy){true, true, true, 2});
		for (unsigned j = 0; j < 5; j++) {
			struct request request = {.op = OP_FILE_READ_DATA};
			struct decision decision;
			struct seen seen = {0};
			struct err e = {0};
			int want;

			random_path(path, p.patterns, PATTERNS);
			request.path = str_of(path);
			request.vnode_type = (enum vnode_type)below(3);
			request.has = request.vnode_type ? HAS_VNODE_TYPE : 0;
			policy_decide(p.policy, &request, &decision);
			CHECK_INT(policy_explain(p.policy, &request, note_decided, &seen, &e), 0);
			CHECK_INT(seen.n, 1);
			want = expected_rule(&p, path, (unsigned)request.vnode_type);
			if ((seen.decided.rule ? (int)seen.decided.rule->index : -1) != want)
				print_policy(&p);
			CHECK_INT(seen.decided.rule ? (int)seen.decided.rule->index : -1, want);
			CHECK(seen.decided.rule == decision.rule && seen.decided.op == decision.op);
		}
		policy_free(p.policy);
	}
}

int main(void)
{
	RUN(the_way_is_told_in_order);
	RUN(defaults_give_way_to_the_runtime);
	RUN(the_way_leads_to_the_decision);
	return test_done();
}
