/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes that a run inside hands to the broker are rules or an error. Inputs are a profile, a
 * NUL, and what is changed in its encoding: four bytes each, three for the place, one for the bits.
 * Without a NUL they are such bytes themselves.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "plan/nested.h"
#include "sbpl/sbpl.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct policy_limits limits = {.memory = 16u << 20, .states = 2000, .work = 2000000};

static struct policy *compile(struct str text)
{
	static struct sbpl_errors errors;
	struct sbpl_source source = {"fuzz", text, ORIGIN_PROFILE};
	struct sbpl_options options = {.target = TARGET_LINUX, .policy_limits = limits};
	struct policy *ret = NULL;

	options.limits = (struct sbpl_limits){
		.steps = 100000, .depth = 200, .memory = 4u << 20, .imports = 2, .rules = 200};
	return sbpl_compile(&source, 1, &options, &ret, &errors) < 0 ? NULL : ret;
}

static void encode(struct str text, struct buf *ret)
{
	static const struct str keep[] = {{"/tmp/keep", 9}},
				show[] = {{"/tmp/a", 6}, {"/tmp/b", 6}};
	struct landlock_row rows[] = {{.path = "/dev/null"}, {.path = "/w", .directory = true}};
	struct plan plan = {.rows = rows, .n_rows = 2, .floor_bounds_open = true};
	struct policy *policy = compile(text);
	struct plan_input input = {.policy = policy,
				   .private_scope = SCOPE_ALL,
				   .scratch = STR("/tmp/own"),
				   .keep = keep,
				   .n_keep = 1,
				   .show = show,
				   .n_show = 2};

	if (policy)
		nested_encode(&plan, &input, ret);
	policy_free(policy);
}

static void change(struct buf *bytes, struct str edits)
{
	for (size_t i = 0; bytes->n && i + 4 <= edits.n; i += 4) {
		const uint8_t *edit = (const uint8_t *)edits.p + i;
		size_t at = (size_t)edit[0] << 16 | (size_t)edit[1] << 8 | edit[2];

		bytes->p[at % bytes->n] = (char)(bytes->p[at % bytes->n] ^ edit[3]);
	}
}

static void look(const struct policy *policy)
{
	static const char *const paths[] = {"/", "/w/a", "/tmp/x", "/home/u/.ssh/id"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		policy_state state = policy_walk(policy, policy_start(policy), str_of(paths[i]));

		for (enum op op = OP_DEFAULT; op < OP_COUNT; op++)
			if (!(policy_verdicts_below(policy, state, op) & (CAN_ALLOW | CAN_DENY)))
				abort();
	}
}

/* What was understood is said again in the same words. */
static void check(const struct policy *policy)
{
	struct buf once = {.p = NULL}, twice = {.p = NULL};
	struct policy *back = NULL;
	int r;

	look(policy);
	policy_encode(policy, &once);
	r = policy_decode(buf_str(&once), limits, &back, NULL);
	if (r == -ERR_POLICY)
		abort();
	if (r == 0)
		policy_encode(back, &twice);
	if (r == 0 && !str_eq(buf_str(&once), buf_str(&twice)))
		abort();
	policy_free(back);
	buf_release(&once);
	buf_release(&twice);
}

static void try_bytes(struct str bytes, bool unchanged)
{
	struct nested nested;
	struct err e = {0};
	int r = nested_decode(bytes, limits, &nested, &e);

	if (r < 0 && (nested.policy || !e.text[0] || (unchanged && r == -ERR_POLICY)))
		abort();
	if (r < 0)
		return;
	check(nested.policy);
	nested_release(&nested);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size}, edits;
	const uint8_t *nul = memchr(data, 0, size);
	struct buf bytes = {.p = NULL};

	if (!nul) {
		try_bytes(text, false);
		return 0;
	}
	text.n = (size_t)(nul - data);
	edits = (struct str){text.p + text.n + 1, size - text.n - 1};
	encode(text, &bytes);
	change(&bytes, edits);
	if (bytes.n)
		try_bytes(buf_str(&bytes), edits.n < 4);
	buf_release(&bytes);
	return 0;
}
