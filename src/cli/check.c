/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt check: does a profile compile? Silence and 0, or every error and 65. */
#include <lapbelt.h>

#include "cli/args.h"
#include "cli/diag.h"
#include "base/banned.h"

static int check(struct args *args, char **files)
{
	int worst = 0;

	if (!files[0])
		return diag_usage("check", "no file to check");
	diag_set_style(DIAG_COMPILER);
	for (; *files; files++) {
		struct lapbelt_policy *policy = NULL;
		int status;

		args->source = SOURCE_FILE;
		args->profile = *files;
		status = args_policy(args, 0, &policy);
		lapbelt_policy_free(policy);
		worst = status > worst ? status : worst;
	}
	return worst;
}

static const struct opt *const options[] = {
	&opt_param,
	&opt_target,
	&opt_help_text,
	NULL,
};

const struct command command_check = {
	"check", "FILE...", "Say everything that is wrong with a profile.", options, check,
};
