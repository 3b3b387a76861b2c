/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/path.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "base/banned.h"

/* ---- Option values ---- */

static const char no_memory[] = "did not fit in memory";

/* The next free element of a list in the arena, which stays followed by a zeroed one; or NULL. */
static void *append(struct args *args, void *list, size_t *n, size_t *cap, size_t size)
{
	void **at = list;
	void *grown = arena_grow(&args->arena, *at, *n ? *n + 1 : 0, cap, size);

	if (!grown)
		return NULL;
	*at = grown;
	return (char *)grown + (*n)++ * size;
}

static const char *take_help(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->help = true;
	return NULL;
}

const struct opt opt_help_text = {'h', "help", NULL, "print this text", take_help};

static const char *take_source(struct args *args, enum profile_source source, const char *value)
{
	if (args->source != SOURCE_DEFAULT)
		return "comes second: one profile only";
	args->source = source;
	args->profile = value;
	return NULL;
}

static const char *take_file(void *context, const char *value)
{
	return take_source(context, SOURCE_FILE, value);
}

const struct opt opt_file = {'f', NULL, "FILE", "the profile is in FILE (- is standard input)",
			     take_file};

static const char *take_text(void *context, const char *value)
{
	return take_source(context, SOURCE_TEXT, value);
}

const struct opt opt_text = {'p', NULL, "TEXT", "the profile is TEXT", take_text};

static const char *take_name(void *context, const char *value)
{
	return take_source(context, SOURCE_NAME, value);
}

const struct opt opt_name = {'n', NULL, "NAME", "the profile is one of Apple's: no-network, ...",
			     take_name};

static const char *take_param(void *context, const char *value)
{
	struct args *args = context;
	const char *equals = strchr(value, '=');
	struct lapbelt_param *param;

	if (!equals || equals == value)
		return "is not KEY=VALUE";
	param = append(args, &args->params, &args->n_params, &args->cap_params, sizeof(*param));
	if (!param)
		return no_memory;
	param->key = arena_memdup(&args->arena, value, (size_t)(equals - value));
	param->value = equals + 1;
	return param->key ? NULL : no_memory;
}

const struct opt opt_param = {'D', NULL, "KEY=VALUE", "(param \"KEY\") is VALUE in the profile",
			      take_param};

static const char *take_write(void *context, const char *value)
{
	struct args *args = context;
	const char **slot =
		append(args, &args->write, &args->n_write, &args->cap_write, sizeof(*slot));

	if (!slot)
		return no_memory;
	*slot = value;
	return NULL;
}

const struct opt opt_write = {'w', "write", "DIR", "allow writing below DIR too", take_write};

static const char *take_target(void *context, const char *value)
{
	struct args *args = context;

	if (strcmp(value, "linux") == 0)
		args->target = LAPBELT_TARGET_LINUX;
	else if (strcmp(value, "darwin") == 0)
		args->target = LAPBELT_TARGET_DARWIN;
	else
		return "is neither linux nor darwin";
	return NULL;
}

const struct opt opt_target = {0, "target", "SYSTEM", "linux or darwin; default: the one we are on",
			       take_target};

static const char *take_gaps(void *context, const char *value)
{
	struct args *args = context;

	args->run_flags &= ~(unsigned)(LAPBELT_RUN_REFUSE_GAPS | LAPBELT_RUN_REPORT_GAPS);
	if (strcmp(value, "refuse") == 0)
		args->run_flags |= LAPBELT_RUN_REFUSE_GAPS;
	else if (strcmp(value, "report") == 0)
		args->run_flags |= LAPBELT_RUN_REPORT_GAPS;
	else
		return "is neither refuse nor report";
	return NULL;
}

const struct opt opt_gaps = {0, "gaps", "WHAT",
			     "refuse: run with no gap at all; report: in spite of all", take_gaps};

static const char *parse_fd(const char *value, int *ret)
{
	char *end;
	long fd;

	errno = 0;
	fd = strtol(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || fd > 0x7fffffff)
		return "is not a descriptor number";
	*ret = (int)fd;
	return NULL;
}

static const char *take_pass_fd(void *context, const char *value)
{
	struct args *args = context;
	int fd = -1;
	const char *problem = parse_fd(value, &fd);
	int *slot;

	if (problem)
		return problem;
	slot = append(args, &args->pass_fds, &args->n_pass_fds, &args->cap_pass_fds, sizeof(*slot));
	if (!slot)
		return no_memory;
	*slot = fd;
	return NULL;
}

const struct opt opt_pass_fd = {0, "pass-fd", "N", "leave descriptor N open", take_pass_fd};

static const char *take_status_fd(void *context, const char *value)
{
	struct args *args = context;

	const char *wrong = parse_fd(value, &args->status_fd);

	if (!wrong && args->status_fd == STDIN_FILENO)
		wrong = "is the command's input";
	if (!wrong && fcntl(args->status_fd, F_GETFD) < 0)
		wrong = "is not open";
	return wrong;
}

const struct opt opt_status_fd = {0, "status-fd", "N", "write how it ended to descriptor N",
				  take_status_fd};

static const char *take_no_userns(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->run_flags |= LAPBELT_RUN_NO_USERNS;
	return NULL;
}

const struct opt opt_no_userns = {0, "no-userns", NULL, "act as if there were no user namespaces",
				  take_no_userns};

static const char *take_no_lane(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->run_flags |= LAPBELT_RUN_NO_LANE;
	return NULL;
}

const struct opt opt_no_lane = {0, "no-lane", NULL, "load no library to make programs faster",
				take_no_lane};

static const char *take_nestable(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->run_flags |= LAPBELT_RUN_NESTABLE;
	return NULL;
}

const struct opt opt_nestable = {0, "nestable", NULL,
				 "let any policy hold for lapbelt inside, which takes time",
				 take_nestable};

static const char *take_no_runtime(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->no_runtime = true;
	return NULL;
}

const struct opt opt_no_runtime = {
	0, "no-runtime", NULL, "do not add what a dynamic program needs to start", take_no_runtime};

static const char *take_like_exec(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->like_exec = true;
	return NULL;
}

const struct opt opt_like_exec = {0, "exec", NULL, "as lapbelt exec applies the profile",
				  take_like_exec};

static const char *take_live(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->live = true;
	return NULL;
}

const struct opt opt_live = {0, "live", NULL, "do what each row asks about, under the kernel, too",
			     take_live};

static const char *take_json(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->json = true;
	return NULL;
}

const struct opt opt_json = {0, "json", NULL, "for programs: as JSON", take_json};

static const char *take_strict(void *context, const char *value)
{
	struct args *args = context;

	(void)value;
	args->strict = true;
	return NULL;
}

const struct opt opt_strict = {0, "strict", NULL, "warnings make the exit status 1", take_strict};

static const char *take_allow(void *context, const char *value)
{
	const char *const *kind = lapbelt_lint_kinds();
	struct args *args = context;
	const char **slot;

	while (*kind && strcmp(*kind, value) != 0)
		kind++;
	if (!*kind)
		return "is no kind of warning; each warning ends in its kind";
	slot = append(args, &args->allow, &args->n_allow, &args->cap_allow, sizeof(*slot));
	if (!slot)
		return no_memory;
	*slot = *kind;
	return NULL;
}

const struct opt opt_allow = {0, "allow", "KIND", "do not warn of what is of this KIND",
			      take_allow};

/* ---- Commands ---- */

const struct command *const commands[] = {
	&command_run,     &command_exec,    &command_check,  &command_decide,
	&command_explain, &command_profile, &command_plan,   &command_test,
	&command_prove,   &command_diff,    &command_doctor, NULL,
};

static void print_help(const struct command *command)
{
	struct buf text = {0};

	buf_printf(&text, "usage: lapbelt %s [OPTION...] %s\n\n%s\n\n", command->name,
		   command->operands, command->help);
	opt_help(command->options, &text);
	buf_printf(&text, "\nMore in lapbelt-%s(1).\n", command->name);
	out_print(&text);
}

int command_main(const struct command *command, char **argv)
{
	struct args args = {.command = command->name,
			    .implied = strcmp(argv[0], command->name) != 0,
			    .status_fd = -1};
	struct buf error = {0};
	int first, status = 0;

	first = opt_parse(command->options, argv, &args, &error);
	if (args.help)
		print_help(command);
	else if (first < 0)
		status = args_not_run(
			&args, diag_usage(command->name, "%.*s", (int)error.n, buf_str(&error).p));
	else
		status = command->run(&args, argv + first);
	buf_release(&error);
	arena_release(&args.arena);
	return status;
}

/* ---- From arguments to work ---- */

/* Errors come in order: the first is in FIRST when the second is reported. */
struct errors {
	struct lapbelt_error first;
	bool printed;
};

static void print_first(struct errors *errors)
{
	if (!errors->printed)
		(void)diag_error(&errors->first);
	errors->printed = true;
}

static void print_more(void *context, const struct lapbelt_error *error)
{
	print_first(context);
	(void)diag_error(error);
}

static int default_policy(const struct args *args, struct lapbelt_policy **ret,
			  struct lapbelt_error *error)
{
	struct lapbelt_default_options options = {
		.size = sizeof(options), .target = args->target, .write = args->write};

	return lapbelt_policy_default(&options, ret, error);
}

void args_take_policy(struct args *args, const char *word)
{
	args->source = strcmp(word, "default") == 0 ? SOURCE_DEFAULT : SOURCE_FILE;
	args->profile = word;
}

int args_policy(const struct args *args, unsigned flags, struct lapbelt_policy **ret)
{
	struct errors errors = {LAPBELT_ERROR_INIT, false};
	struct lapbelt_policy_options options = {
		.size = sizeof(options),
		.target = args->target,
		.flags = flags,
		.params = args->params,
		.n_params = args->n_params,
		.more_errors = print_more,
		.more_errors_context = &errors,
	};
	int r = 0;

	if (args->source == SOURCE_DEFAULT && args->n_params)
		return diag_usage(args->command, "-D needs -f, -p or -n");
	if (args->source != SOURCE_DEFAULT && args->n_write)
		return diag_usage(args->command, "--write is about the default policy");
	switch (args->source) {
	case SOURCE_DEFAULT:
		r = default_policy(args, ret, &errors.first);
		break;
	case SOURCE_FILE:
		r = lapbelt_policy_from_file(args->profile, &options, ret, &errors.first);
		break;
	case SOURCE_TEXT:
		r = lapbelt_policy_from_text(args->profile, "<input string>", &options, ret,
					     &errors.first);
		break;
	case SOURCE_NAME:
		r = lapbelt_policy_from_name(args->profile, &options, ret, &errors.first);
		break;
	}
	if (r == 0)
		return 0;
	print_first(&errors);
	return lapbelt_exit_code(errors.first.code);
}

static bool is_for_darwin(const struct args *args)
{
#ifdef __APPLE__
	return args->target != LAPBELT_TARGET_LINUX;
#else
	return args->target == LAPBELT_TARGET_DARWIN;
#endif
}

void args_warn_of_links(const struct args *args, char *const *arguments)
{
	for (; is_for_darwin(args) && *arguments; arguments++) {
		size_t key = strncmp(*arguments, "path=", 5) == 0 ? 5 : 0;
		const char *path = *arguments + key;

		if (path_is_behind_darwin_link(str_of(path)))
			diag_printf("warning: on macOS '%s' is '/private%s', and rules see that",
				    path, path);
	}
}

static void print_gap(void *context, const struct lapbelt_gap *gap)
{
	const struct args *args = context;

	if (strcmp(gap->kind, "scope") == 0) {
		diag_printf("%s: the run is less private, as 'lapbelt plan' lists", gap->text);
		return;
	}
	if (strcmp(gap->kind, "limit") == 0) {
		diag_printf("%s", gap->text);
		return;
	}
	if (strcmp(gap->kind, "content") != 0 && !(args->run_flags & LAPBELT_RUN_REFUSE_GAPS))
		return;
	if (gap->line)
		diag_printf("gap (%s): %s (%s:%u)", gap->kind, gap->text, gap->file, gap->line);
	else
		diag_printf("gap (%s): %s", gap->kind, gap->text);
}

struct lapbelt_run_options args_run_options(struct args *args, unsigned share)
{
	return (struct lapbelt_run_options){
		.size = sizeof(struct lapbelt_run_options),
		.share = share,
		.flags = args->run_flags,
		.pass_fds = args->pass_fds,
		.n_pass_fds = args->n_pass_fds,
		.status_fd = args->status_fd,
		.gap = print_gap,
		.gap_context = args,
		.limits = args->limits,
	};
}

int args_not_run(const struct args *args, int status)
{
	char line[32];
	int n;

	if (args->status_fd > 0) {
		n = snprintf(line, sizeof(line), "failed %d\n", status);
		(void)io_write_no_signal(args->status_fd, line, (size_t)n);
	}
	return status;
}
