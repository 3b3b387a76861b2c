/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapbelt exec: sandbox-exec's interface. Nothing is private, the environment stays, and the only
 * policy is the profile, plus what a dynamic program needs to start.
 */
#include <lapbelt.h>

#include "cli/args.h"
#include "cli/diag.h"
#include "base/banned.h"

static int exec(struct args *args, char **argv)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_run_options options = args_run_options(args, LAPBELT_SHARE_ALL);
	struct lapbelt_policy *policy;
	int status;

	if (args->source == SOURCE_DEFAULT)
		return args_not_run(args, diag_usage("exec", "one of -f, -p and -n is needed"));
	if (!argv[0])
		return args_not_run(args, diag_usage("exec", "no command to run"));
	status = args_policy(args, args->no_runtime ? 0 : LAPBELT_POLICY_RUNTIME, &policy);
	if (status)
		return args_not_run(args, status);
	if (lapbelt_run(policy, argv, &options, &status, &error) < 0)
		status = diag_error(&error);
	lapbelt_policy_free(policy);
	return status;
}

static const struct opt *const options[] = {
	&opt_file,    &opt_text,     &opt_name,      &opt_param,     &opt_no_runtime,
	&opt_gaps,    &opt_limit,    &opt_pass_fd,   &opt_status_fd, &opt_no_userns,
	&opt_no_lane, &opt_nestable, &opt_help_text, NULL,
};

const struct command command_exec = {
	"exec",
	"COMMAND [ARGUMENT...]",
	"Run a command under a profile, as sandbox-exec does.",
	options,
	exec,
};
