/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt explain: one decision with the whole way to it. The disk is never looked at. */
#include <lapbelt.h>

#include <string.h>

#include "base/buf.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "base/banned.h"

/* What is printed; the decision stands in front of the way. */
struct page {
	struct buf decision, way;
	const char *operation; /* whose rules were told last */
};

static void add_rule(struct buf *line, const struct lapbelt_explanation *step)
{
	if (!step->file[0])
		buf_puts(line, step->allows ? "allow " : "deny ");
	diag_add_rule(line, step->file, step->line, step->column, step->rule);
}

static void add_step(void *context, const struct lapbelt_explanation *step)
{
	static const struct {
		const char *word, *why;
	} roles[] = {
		[LAPBELT_ROLE_DECIDED] = {"decides", ""},
		[LAPBELT_ROLE_OVERRIDDEN] = {"overridden",
					     "a rule of the operation that counts more matches"},
		[LAPBELT_ROLE_NOT_ASKED] = {"not asked", "a more special operation had decided"},
		[LAPBELT_ROLE_GAVE_WAY] = {"gave way", "a default, and the runtime's rules allow"},
	};
	struct page *page = context;
	struct buf *way = &page->way;

	if (!page->operation || strcmp(page->operation, step->operation) != 0)
		buf_printf(way, "%s\n", step->operation);
	page->operation = step->operation;
	if (step->role == LAPBELT_ROLE_FELL) {
		buf_printf(way, "  no rule matches: %s is asked\n", step->parent);
		return;
	}
	buf_printf(way, "  %-10s  ", roles[step->role].word);
	add_rule(way, step);
	if (roles[step->role].why[0])
		buf_printf(way, "\n              %s", roles[step->role].why);
	buf_putc(way, '\n');
	if (step->role != LAPBELT_ROLE_DECIDED)
		return;
	buf_puts(&page->decision, step->allows ? "allow " : "deny ");
	diag_add_rule(&page->decision, step->file, step->line, step->column, step->rule);
	buf_puts(&page->decision, "\n\n");
}

static int explain(struct args *args, char **words)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy;
	struct page page = {0};
	int status;

	if (!words[0])
		return diag_usage("explain", "no operation to explain");
	args_warn_of_links(args, words + 1);
	status = args_policy(args, args->like_exec ? LAPBELT_POLICY_RUNTIME : 0, &policy);
	if (status)
		return status;
	if (lapbelt_explain(policy, words[0], (const char *const *)words + 1, add_step, &page,
			    &error) < 0) {
		status = diag_error(&error);
	} else {
		out_print(&page.decision);
		out_print(&page.way);
	}
	buf_release(&page.decision);
	buf_release(&page.way);
	lapbelt_policy_free(policy);
	return status;
}

static const struct opt *const options[] = {
	&opt_file,   &opt_text,      &opt_name,      &opt_param, &opt_write,
	&opt_target, &opt_like_exec, &opt_help_text, NULL,
};

const struct command command_explain = {
	"explain",
	"OPERATION [/PATH | HOST:PORT | NAME] [KEY=VALUE...]",
	"Say how a policy comes to what it answers.",
	options,
	explain,
};
