/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt plan: what this kernel would be told, rule by rule, and what it cannot do. */
#include <lapbelt.h>

#include "base/buf.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "base/banned.h"

static int plan(struct args *args, char **operands)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_run_options options =
		args_run_options(args, args->like_exec ? LAPBELT_SHARE_ALL : 0);
	struct lapbelt_policy *policy;
	struct buf out = {0};
	char *text;
	int status;

	if (operands[0])
		return diag_usage("plan", "'%s' is one word too many", operands[0]);
	options.gap = NULL; /* the text lists them all */
	status = args_policy(args, args->like_exec ? LAPBELT_POLICY_RUNTIME : 0, &policy);
	if (status)
		return status;
	if ((args->json ? lapbelt_plan_json : lapbelt_plan)(policy, &options, &text, &error) < 0) {
		status = diag_error(&error);
	} else {
		buf_puts(&out, text);
		out_print(&out);
		lapbelt_free(text);
	}
	lapbelt_policy_free(policy);
	return status;
}

static const struct opt *const options[] = {
	&opt_file,  &opt_text,      &opt_name,      &opt_param,   &opt_write,
	&opt_limit, &opt_like_exec, &opt_no_userns, &opt_no_lane, &opt_nestable,
	&opt_json,  &opt_help_text, NULL,
};

const struct command command_plan = {
	"plan", "", "Print how a policy is enforced on this machine.", options, plan,
};
