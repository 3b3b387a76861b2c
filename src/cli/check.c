/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapbelt check: does a profile compile, and does it say what it seems to? Silence and 0; warnings,
 * and 0 or with --strict 1; or every error and 65.
 */
#include <lapbelt.h>

#include <string.h>

#include "cli/args.h"
#include "cli/diag.h"
#include "base/banned.h"

struct check {
	const struct args *args;
	bool warned;
};

static bool is_allowed(const struct args *args, const char *kind)
{
	for (size_t i = 0; i < args->n_allow; i++)
		if (strcmp(args->allow[i], kind) == 0)
			return true;
	return false;
}

static void warn(void *context, const struct lapbelt_warning *warning)
{
	struct check *check = context;

	if (warning->line == 0) {
		diag_printf("%s: not checked: %s", check->args->profile, warning->text);
	} else if (!is_allowed(check->args, warning->kind)) {
		diag_warning(warning);
		check->warned = true;
	}
}

static int check_file(const struct args *args)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy = NULL;
	struct check check = {.args = args};
	int status = args_policy(args, 0, &policy);

	if (status)
		return status;
	if (lapbelt_lint(policy, warn, &check, &error) < 0)
		status = diag_error(&error);
	lapbelt_policy_free(policy);
	return status ? status : check.warned && args->strict;
}

static int check(struct args *args, char **files)
{
	int worst = 0;

	if (!files[0])
		return diag_usage("check", "no file to check");
	diag_set_style(DIAG_COMPILER);
	for (; *files; files++) {
		int status;

		args->source = SOURCE_FILE;
		args->profile = *files;
		status = check_file(args);
		worst = status > worst ? status : worst;
	}
	return worst;
}

static const struct opt *const options[] = {
	&opt_param, &opt_target, &opt_strict, &opt_allow, &opt_help_text, NULL,
};

const struct command command_check = {
	"check", "FILE...", "Say everything that is wrong with a profile.", options, check,
};
