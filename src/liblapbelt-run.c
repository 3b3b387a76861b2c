/* SPDX-License-Identifier: Apache-2.0 */
/* Running a command, and the plan of it. */
#include <lapbelt.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/io.h"
#include "facade.h"
#include "session/session.h"
#include "base/banned.h"

static const char *gap_kind_name(enum gap_kind kind)
{
	switch (kind) {
	case GAP_CONTENT:
		return "content";
	case GAP_METADATA:
		return "metadata";
	case GAP_STRICTER:
		return "stricter";
	}
	return "content";
}

static bool is_at_stake(const struct gap *gap, enum op op)
{
	for (; op != OP_DEFAULT; op = op_parent(op))
		for (const enum op *at = gap->ops; *at != OP_DEFAULT; at++)
			if (*at == op)
				return true;
	return false;
}

static void pass_gap(void *context, const struct gap *gap)
{
	const struct lapbelt_run_options *options = context;
	const struct span at = gap->rule ? gap->rule->at : (struct span){0};
	const char *operations[OP_COUNT + 1];
	size_t n = 0;

	for (int op = 0; op < OP_COUNT; op++)
		if (is_at_stake(gap, (enum op)op))
			operations[n++] = op_name((enum op)op);
	operations[n] = NULL;
	options->gap(options->gap_context, &(struct lapbelt_gap){
						   .kind = gap_kind_name(gap->kind),
						   .text = gap->text,
						   .file = at.file ? at.file : "",
						   .line = at.line,
						   .only_rule = gap->only_rule,
						   .operations = operations,
						   .paths = gap->paths,
						   .below_paths = gap->below_paths,
					   });
}

static void pass_loss(void *context, const char *text)
{
	const struct lapbelt_run_options *options = context;
	const char *const no_operations[] = {NULL};

	options->gap(options->gap_context, &(struct lapbelt_gap){.kind = "scope",
								 .text = text,
								 .file = "",
								 .operations = no_operations});
}

static void pass_limited(void *context, const char *name, bool none, const char *text)
{
	const struct lapbelt_run_options *options = context;
	const char *const no_operations[] = {NULL};
	char line[256];

	(void)snprintf(line, sizeof(line), "the limit on %s is %s: %s", name,
		       none ? "not enforced" : "approximated", text);
	options->gap(options->gap_context, &(struct lapbelt_gap){.kind = "limit",
								 .text = line,
								 .file = "",
								 .operations = no_operations});
}

static int check_pass_fds(const struct lapbelt_run_options *own, struct err *e)
{
	for (size_t i = 0; i < own->n_pass_fds; i++) {
		int fd = own->pass_fds[i];

		if (fd <= STDERR_FILENO || fcntl(fd, F_GETFD) < 0)
			return err_set(e, ERR_USAGE, "descriptor %d cannot be passed: %s", fd,
				       fd < 0                ? "not a descriptor"
				       : fd <= STDERR_FILENO ? "it is passed anyway"
							     : "it is not open");
	}
	return 0;
}

/* OWN is the caller's, copied; it outlives *RET, which points to it. */
static int check_run_options(const struct lapbelt_policy *policy, struct lapbelt_run_options *own,
			     struct session_options *ret, struct err *e)
{
	enum target host = TARGET_LINUX;
	int r = check_pass_fds(own, e);

	if (r == 0)
		r = facade_take_target(LAPBELT_TARGET_HOST, &host, e);
	if (r < 0)
		return r;
	if (policy_target(policy->compiled) != host)
		return err_set(e, ERR_USAGE, "the policy was compiled for another system");
	if ((own->flags & LAPBELT_RUN_REPORT_GAPS) && (own->flags & LAPBELT_RUN_REFUSE_GAPS))
		return err_set(e, ERR_USAGE, "gaps are either reported or refused");
	*ret = (struct session_options){
		.private_scope = SCOPE_ALL & ~own->share,
		.gaps = own->flags & LAPBELT_RUN_REPORT_GAPS   ? GAPS_REPORT
			: own->flags & LAPBELT_RUN_REFUSE_GAPS ? GAPS_REFUSE
							       : GAPS_DEFAULT,
		.clean_env = own->flags & LAPBELT_RUN_CLEAN_ENV,
		.no_userns = own->flags & LAPBELT_RUN_NO_USERNS,
		.no_lane = own->flags & LAPBELT_RUN_NO_LANE,
		.nestable = own->flags & LAPBELT_RUN_NESTABLE,
		.pass_fds = own->pass_fds,
		.n_pass_fds = own->n_pass_fds,
		.gap = own->gap ? pass_gap : NULL,
		.loss = own->gap ? pass_loss : NULL,
		.limited = own->gap ? pass_limited : NULL,
		.gap_context = own,
		.limits = {{
			[LIMIT_CPU] = own->limits.cpu,
			[LIMIT_MEMORY] = own->limits.memory,
			[LIMIT_PROCESSES] = own->limits.processes,
			[LIMIT_OPEN_FILES] = own->limits.open_files,
			[LIMIT_FILE_SIZE] = own->limits.file_size,
			[LIMIT_TIME] = own->limits.time,
		}},
	};
	return 0;
}

/* Tells whoever started us how the run itself went, apart from the command's own status. */
static void report_status(int fd, int r, int status)
{
	char line[32];
	int n;

	if (r < 0)
		n = snprintf(line, sizeof(line), "failed %d\n",
			     lapbelt_exit_code((enum lapbelt_code) - r));
	else
		n = snprintf(line, sizeof(line), "exit %d\n", status);
	if (fd > 0 && n > 0)
		(void)io_write_no_signal(fd, line, (size_t)n);
}

int lapbelt_run(const struct lapbelt_policy *policy, char *const *argv,
		const struct lapbelt_run_options *options, int *ret_status,
		struct lapbelt_error *error)
{
	struct lapbelt_run_options own = {0};
	struct session_options session;
	struct err e = {0};
	int r = facade_take_options(&own, sizeof(own), options, &e);

	if (r == 0 && (!argv || !argv[0]))
		r = err_set(&e, ERR_USAGE, "there is no command to run");
	if (r == 0)
		r = check_run_options(policy, &own, &session, &e);
	if (r == 0)
		r = session_run(policy->compiled, argv, &session, ret_status, &e);
	report_status(own.status_fd, r, r < 0 ? 0 : *ret_status);
	return r < 0 ? facade_fail(error, &e) : 0;
}

static int print_plan(const struct lapbelt_policy *policy,
		      const struct lapbelt_run_options *options, session_print *print,
		      char **ret_text, struct lapbelt_error *error)
{
	struct lapbelt_run_options own = {0};
	struct session_options session;
	struct buf buf = {0};
	struct err e = {0};
	int r = facade_take_options(&own, sizeof(own), options, &e);

	if (r == 0)
		r = check_run_options(policy, &own, &session, &e);
	if (r == 0)
		r = session_plan(policy->compiled, &session, print, &buf, &e);
	return facade_text(r, &buf, &e, ret_text, error);
}

int lapbelt_plan(const struct lapbelt_policy *policy, const struct lapbelt_run_options *options,
		 char **ret_text, struct lapbelt_error *error)
{
	return print_plan(policy, options, plan_print, ret_text, error);
}

int lapbelt_plan_json(const struct lapbelt_policy *policy,
		      const struct lapbelt_run_options *options, char **ret_json,
		      struct lapbelt_error *error)
{
	return print_plan(policy, options, plan_print_json, ret_json, error);
}
