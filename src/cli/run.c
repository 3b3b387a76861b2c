/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapbelt run: a command under the default policy, or under a profile of one's own, with private
 * processes, network, /tmp and a cleaned environment.
 */
#include <lapbelt.h>

#include <errno.h>
#include <stdio.h>

#include "base/near.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "base/banned.h"

/* `lapbelt hceck x` runs a program called hceck, which is seldom meant. */
static void suggest_command(const char *word, struct lapbelt_error *error)
{
	struct near near = {.word = str_of(word)};

	for (const struct command *const *at = commands; *at; at++)
		near_try(&near, (*at)->name);
	if (near.best)
		(void)snprintf(error->hint, sizeof(error->hint), "did you mean 'lapbelt %s'?",
			       near.best);
}

static int run(struct args *args, char **argv)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_run_options options;
	struct lapbelt_policy *policy;
	int status;

	if (!argv[0])
		return args_not_run(args, diag_usage("run", "no command to run"));
	status = args_policy(args, 0, &policy);
	if (status)
		return args_not_run(args, status);
	args->run_flags |= LAPBELT_RUN_CLEAN_ENV;
	options = args_run_options(args, 0);
	if (lapbelt_run(policy, argv, &options, &status, &error) < 0) {
		if (args->implied && error.code == LAPBELT_COMMAND && error.os == ENOENT)
			suggest_command(argv[0], &error);
		status = diag_error(&error);
	}
	lapbelt_policy_free(policy);
	return status;
}

static const struct opt *const options[] = {
	&opt_write,   &opt_file,     &opt_text,      &opt_name,      &opt_param,
	&opt_gaps,    &opt_limit,    &opt_pass_fd,   &opt_status_fd, &opt_no_userns,
	&opt_no_lane, &opt_nestable, &opt_help_text, NULL,
};

const struct command command_run = {
	"run",
	"[--] COMMAND [ARGUMENT...]",
	"Run a command under the default policy, or a profile of your own.",
	options,
	run,
};
