/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One regular expression, then a path, separated by a newline: check, build,
 * decide. What the check lets through must build or reach a limit.
 */
#include <stdlib.h>

#include "policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct policy_limits limits = {.memory = 16 << 20, .states = 2000};
	const char *text = (const char *)data;
	const char *line = size ? memchr(text, '\n', size) : NULL;
	size_t n = line ? (size_t)(line - text) : size;
	struct expr filter = {.kind = EXPR_TEST};
	struct rule rule = {.verdict = VERDICT_ALLOW, .op = OP_FILE_READ_DATA, .filter = &filter};
	struct request request = {.op = OP_FILE_READ_DATA};
	struct policy_builder *builder = policy_builder_new(TARGET_LINUX, limits);
	struct policy *policy = NULL;
	struct decision decision;
	int checked, built;

	filter.test.match = MATCH_REGEX;
	filter.test.text = (struct str){text, n};
	if (line)
		request.path = (struct str){line + 1, size - n - 1};
	checked = policy_check_pattern(&filter.test, NULL);
	if (!builder || policy_builder_add(builder, &rule, NULL) < 0)
		abort();
	built = policy_build(builder, &policy, NULL);
	if (checked != built && built != -ERR_LIMIT)
		abort();
	if (built == 0)
		policy_decide(policy, &request, &decision);
	policy_free(policy);
	return 0;
}
