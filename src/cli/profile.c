/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt profile: the SBPL text of the default policy, here and now. */
#include <lapbelt.h>

#include "base/buf.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "base/banned.h"

static int profile(struct args *args, char **operands)
{
	struct lapbelt_default_options options = {
		.size = sizeof(options), .target = args->target, .write = args->write};
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct buf out = {0};
	char *text;

	if (operands[0])
		return diag_usage("profile", "'%s' is one word too many", operands[0]);
	if (lapbelt_default_profile(&options, &text, &error) < 0)
		return diag_error(&error);
	buf_puts(&out, text);
	out_print(&out);
	lapbelt_free(text);
	return 0;
}

static const struct opt *const options[] = {
	&opt_write,
	&opt_target,
	&opt_help_text,
	NULL,
};

const struct command command_profile = {
	"profile", "",      "Print the profile that lapbelt run enforces in this folder.",
	options,   profile,
};
