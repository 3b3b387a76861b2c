/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt decide: one decision and the rule behind it. The disk is never looked at. */
#include <lapbelt.h>

#include "base/buf.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "base/banned.h"

static void print_decision(const struct lapbelt_decision *decision)
{
	struct buf line = {0};

	diag_add_decision(&line, decision);
	buf_putc(&line, '\n');
	out_print(&line);
}

static int decide(struct args *args, char **words)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_decision decision;
	struct lapbelt_policy *policy;
	int status;

	if (!words[0])
		return diag_usage("decide", "no operation to decide");
	args_warn_of_links(args, words + 1);
	status = args_policy(args, args->like_exec ? LAPBELT_POLICY_RUNTIME : 0, &policy);
	if (status)
		return status;
	if (lapbelt_decide(policy, words[0], (const char *const *)words + 1, &decision, &error) < 0)
		status = diag_error(&error);
	else
		print_decision(&decision);
	lapbelt_policy_free(policy);
	return status;
}

static const struct opt *const options[] = {
	&opt_file,   &opt_text,      &opt_name,      &opt_param, &opt_write,
	&opt_target, &opt_like_exec, &opt_help_text, NULL,
};

const struct command command_decide = {
	"decide",
	"OPERATION [/PATH | HOST:PORT | NAME] [KEY=VALUE...]",
	"Say what a policy answers, and by which rule.",
	options,
	decide,
};
