/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt diff: what two policies answer differently. Silence and 0, or one request each and 1. */
#include <lapbelt.h>

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "base/banned.h"

enum {
	FROM,
	TO,
	TWO
};

/* ---- Options ---- */

static const char *add_policy(struct args *args, enum profile_source source, const char *profile)
{
	if (args->n_named == TWO)
		return "comes third: two policies are compared";
	args->named[args->n_named++] = (struct policy_name){source, profile};
	return NULL;
}

static const char *take_file(void *context, const char *value)
{
	return add_policy(context, SOURCE_FILE, value);
}

static const char *take_text(void *context, const char *value)
{
	return add_policy(context, SOURCE_TEXT, value);
}

static const char *take_name(void *context, const char *value)
{
	return add_policy(context, SOURCE_NAME, value);
}

static const char *take_no_looser(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->no_looser = true;
	return NULL;
}

static const struct opt opt_a_file = {
	'f', NULL, "FILE", "the next policy is in FILE (- is standard input)", take_file};
static const struct opt opt_a_text = {'p', NULL, "TEXT", "the next policy is TEXT", take_text};
static const struct opt opt_a_name = {
	'n', NULL, "NAME", "the next policy is one of Apple's: no-network, ...", take_name};
static const struct opt opt_no_looser = {
	0, "no-looser", NULL, "only what the second allows and the first does not", take_no_looser};

/* ---- Differences ---- */

/* Operations whose answers come from the same rules, about the same request. */
struct group {
	bool looser;
	const char *key; /* all but the operation: what the members have in common */
	struct buf text; /* the request and the decisions */
	struct buf also; /* the other operations */
};

struct report {
	struct args *args;
	struct group *groups;
	size_t n, cap;
	bool failed;
};

static void add_decisions(struct buf *text, const struct lapbelt_difference *found)
{
	buf_puts(text, "  ");
	diag_add_decision(text, &found->from);
	buf_puts(text, "\n  ");
	diag_add_decision(text, &found->to);
	buf_putc(text, '\n');
}

static struct group *find_group(struct report *report, bool looser, const char *key)
{
	struct group *groups;

	for (size_t i = 0; i < report->n; i++)
		if (report->groups[i].looser == looser && strcmp(report->groups[i].key, key) == 0)
			return &report->groups[i];
	groups = arena_grow(&report->args->arena, report->groups, report->n, &report->cap,
			    sizeof(*groups));
	if (!groups)
		return NULL;
	report->groups = groups;
	groups[report->n] = (struct group){
		.looser = looser,
		.key = arena_strdup(&report->args->arena, str_of(key)),
	};
	return groups[report->n].key ? &groups[report->n++] : NULL;
}

static void add_difference(void *context, const struct lapbelt_difference *found)
{
	struct report *report = context;
	struct buf key = {0};
	struct group *group = NULL;

	diag_add_request(&key, found->request + 1);
	buf_putc(&key, '\n');
	add_decisions(&key, found);
	if (!key.failed)
		group = find_group(report, found->looser, key.p);
	buf_release(&key);
	if (!group) {
		report->failed = true;
		return;
	}
	if (group->text.n) {
		buf_puts(&group->also, group->also.n ? ", " : "  also ");
		buf_puts(&group->also, found->request[0]);
		return;
	}
	buf_puts(&group->text, found->looser ? "looser: " : "stricter: ");
	diag_add_request(&group->text, found->request);
	buf_putc(&group->text, '\n');
	add_decisions(&group->text, found);
}

static void add_group(struct report *report, struct buf *text, struct group *group)
{
	buf_add_str(text, buf_str(&group->text));
	buf_add_str(text, buf_str(&group->also));
	if (group->also.n)
		buf_putc(text, '\n');
	report->failed |= group->text.failed || group->also.failed;
	buf_release(&group->text);
	buf_release(&group->also);
}

/* What is looser comes first. Returns the exit status. */
static int print_report(struct report *report)
{
	struct buf text = {0};
	int status = report->n > 0;

	for (size_t i = 0; i < report->n; i++)
		if (report->groups[i].looser)
			add_group(report, &text, &report->groups[i]);
	for (size_t i = 0; i < report->n; i++)
		if (!report->groups[i].looser)
			add_group(report, &text, &report->groups[i]);
	text.failed |= report->failed;
	out_print(&text);
	return status;
}

/* ---- The command ---- */

static int compile(const struct args *args, const struct policy_name *name,
		   struct lapbelt_policy **ret)
{
	struct args own = *args;

	own.source = name->source;
	own.profile = name->profile;
	/* Each option is about the policies that it can be about. */
	if (name->source == SOURCE_DEFAULT)
		own.n_params = 0;
	else
		own.n_write = 0;
	return args_policy(&own, args->like_exec ? LAPBELT_POLICY_RUNTIME : 0, ret);
}

static bool is_stdin(const struct policy_name *name)
{
	return name->source == SOURCE_FILE && strcmp(name->profile, "-") == 0;
}

static int check_names(const struct args *args)
{
	unsigned defaults = 0;

	for (size_t i = 0; i < TWO; i++)
		defaults += args->named[i].source == SOURCE_DEFAULT;
	if (is_stdin(&args->named[FROM]) && is_stdin(&args->named[TO]))
		return diag_usage("diff", "standard input can be one of the policies only");
	if (defaults == TWO && args->n_params)
		return diag_usage("diff", "-D is about other policies than the default one");
	if (defaults == 0 && args->n_write)
		return diag_usage("diff", "--write is about the default policy");
	return 0;
}

static int compare(struct args *args)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policies[TWO] = {NULL, NULL};
	struct report report = {.args = args};
	int status = 0;

	for (size_t i = 0; i < TWO && status == 0; i++)
		status = compile(args, &args->named[i], &policies[i]);
	if (status == 0 &&
	    lapbelt_diff(policies[FROM], policies[TO], args->no_looser ? LAPBELT_DIFF_LOOSER : 0,
			 add_difference, &report, &error) < 0)
		status = diag_error(&error);
	else if (status == 0)
		status = print_report(&report);
	for (size_t i = 0; i < TWO; i++)
		lapbelt_policy_free(policies[i]);
	return status;
}

static int diff(struct args *args, char **words)
{
	int status;

	for (; *words; words++) {
		args_take_policy(args, *words);
		if (add_policy(args, args->source, args->profile))
			return diag_usage("diff", "'%s' is one policy too many", *words);
	}
	if (args->n_named < TWO)
		return diag_usage("diff", "two policies are needed");
	status = check_names(args);
	return status ? status : compare(args);
}

static const struct opt *const options[] = {
	&opt_a_file, &opt_a_text, &opt_a_name,    &opt_no_looser, &opt_param,
	&opt_write,  &opt_target, &opt_like_exec, &opt_help_text, NULL,
};

const struct command command_diff = {
	"diff",  "A B", "Show what a second policy allows or denies otherwise than a first.",
	options, diff,
};
