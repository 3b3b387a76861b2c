/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are a profile or an error; never a crash, a leak or a long wait. */
#include <stdint.h>

#include "sbpl/sbpl.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sbpl_param params[] = {{{"HOME", 4}, {"/home/u", 7}}};
	static struct sbpl_errors errors;
	struct sbpl_source source = {"fuzz", {(const char *)data, size}, ORIGIN_PROFILE};
	struct sbpl_options options = {.params = params, .n_params = 1};
	struct policy *policy = NULL;

	options.limits = (struct sbpl_limits){
		.steps = 100000, .depth = 200, .memory = 4u << 20, .imports = 2, .rules = 200};
	options.policy_limits = (struct policy_limits){.memory = 16u << 20, .states = 2000};
	if (sbpl_compile(&source, 1, &options, &policy, &errors) == 0)
		policy_free(policy);
	else if (errors.n == 0 || errors.list[0].text[0] == '\0')
		__builtin_trap();
	return 0;
}
