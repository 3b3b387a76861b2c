/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One regular expression, then paths, one a line: check, build, decide. What the check lets through
 * builds or reaches a limit, and then matches what a matcher of another kind says it does.
 */
#include <stdlib.h>

#include "walk.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_paths(const struct policy *policy, struct str paths)
{
	while (paths.n) {
		const char *end = memchr(paths.p, '\n', paths.n);
		size_t n = end ? (size_t)(end - paths.p) : paths.n;
		struct request request = {.op = OP_FILE_READ_DATA, .path = {paths.p, n}};
		struct decision got, want;

		policy_decide(policy, &request, &got);
		if (walk_decide(policy, &request, &want) &&
		    (got.verdict != want.verdict || got.rule != want.rule))
			abort();
		n += end != NULL;
		paths = (struct str){paths.p + n, paths.n - n};
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct policy_limits limits = {.memory = 16 << 20, .states = 2000, .work = 2000000};
	const char *text = (const char *)data;
	const char *line = size ? memchr(text, '\n', size) : NULL;
	size_t n = line ? (size_t)(line - text) : size;
	struct expr filter = {.kind = EXPR_TEST};
	struct rule rule = {.verdict = VERDICT_ALLOW, .op = OP_FILE_READ_DATA, .filter = &filter};
	enum target target = size % 2 ? TARGET_LINUX : TARGET_DARWIN;
	struct policy_builder *builder = policy_builder_new(target, limits);
	struct policy *policy = NULL;
	int checked, built;

	filter.test.match = MATCH_REGEX;
	filter.test.filter = FILTER_PATH;
	filter.test.text = (struct str){text, n};
	checked = policy_check_pattern(&filter.test, NULL);
	if (!builder || policy_builder_add(builder, &rule, NULL) < 0)
		abort();
	built = policy_build(builder, &policy, NULL);
	if (checked != built && built != -ERR_LIMIT)
		abort();
	if (built == 0 && line)
		check_paths(policy, (struct str){line + 1, size - n - 1});
	policy_free(policy);
	return 0;
}
