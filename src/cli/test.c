/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapbelt test: tables of policy tests (lapbelt-test(5)) judged by lapbelt_decide(), once for each
 * system a row is about. The output is TAP.
 */
#include <lapbelt.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/io.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/sbt.h"
#include "base/banned.h"

enum {
	FILE_MAX = 16 << 20,
	ERRORS_MAX = 32,
};

static const char profile_name[] = "profile";

static const struct target {
	enum sbt_target bit;
	enum lapbelt_target target;
	const char *name;
} targets[] = {
	{SBT_LINUX, LAPBELT_TARGET_LINUX, "linux"},
	{SBT_DARWIN, LAPBELT_TARGET_DARWIN, "darwin"},
};

enum {
	N_TARGETS = sizeof(targets) / sizeof(targets[0])
};

/* What compiling a case's profile for one target came to. */
struct outcome {
	struct lapbelt_policy *policy; /* NULL: the errors */
	struct lapbelt_error errors[ERRORS_MAX];
	size_t n_errors;
	size_t n_met; /* by error rows so far */
};

static unsigned count, failures;

/* ---- One row ---- */

/* Appends a line of explanation to a failing row. */
__attribute__((format(printf, 3, 4))) static void
complain(struct buf *why, const struct target *target, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	buf_printf(why, "# %s: ", target->name);
	diag_add_text(why, text);
	buf_putc(why, '\n');
}

static void complain_error(struct buf *why, const struct target *target,
			   const struct lapbelt_error *error)
{
	complain(why, target, "%u:%u %s", error->line, error->column, error->text);
}

/* Error rows meet the errors in order. */
static void judge_error(const struct sbt_row *row, const struct target *target,
			struct outcome *outcome, struct buf *why)
{
	const struct lapbelt_error *error;

	if (outcome->n_met >= outcome->n_errors) {
		complain(why, target, "the profile has no such error");
		return;
	}
	error = &outcome->errors[outcome->n_met++];
	if (error->line != row->error_line || error->column != row->error_column ||
	    strcmp(error->text, row->message) != 0)
		complain_error(why, target, error);
}

static bool is_expected_rule(const struct sbt_row *row, const struct lapbelt_decision *decision)
{
	const char *file = row->rule_file ? row->rule_file : profile_name;

	switch (row->rule) {
	case SBT_RULE_ANY:
		return true;
	case SBT_RULE_BUILTIN:
		return decision->line == 0;
	case SBT_RULE_LINE:
		return decision->line == row->rule_line && strcmp(decision->file, file) == 0;
	}
	return false;
}

static void judge_decision(const struct sbt_row *row, const struct target *target,
			   struct outcome *outcome, struct buf *why)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_decision decision;

	if (!outcome->policy) {
		complain_error(why, target, &outcome->errors[0]);
		return;
	}
	if (lapbelt_decide(outcome->policy, row->words[0], (const char *const *)row->words + 1,
			   &decision, &error) < 0)
		complain(why, target, "%s", error.text);
	else if (decision.allowed != row->allow || !is_expected_rule(row, &decision))
		complain(why, target, "%s by %s:%u %s", decision.allowed ? "allow" : "deny",
			 decision.file, decision.line, decision.rule);
}

static void print_result(const char *file, unsigned line, const char *title, const char *what,
			 const struct buf *why)
{
	struct buf text = {0};

	count++;
	failures += why->n > 0;
	buf_printf(&text, "%sok %u - %s:%u %s: ", why->n ? "not " : "", count, file, line, title);
	for (; *what; what++) /* TAP: # begins a directive */
		buf_add(&text, *what == '#' ? "\\#" : what, *what == '#' ? 2 : 1);
	buf_putc(&text, '\n');
	buf_add_str(&text, buf_str(why));
	(void)io_write_full(STDOUT_FILENO, text.p, text.n);
	buf_release(&text);
}

/* ---- One case ---- */

static void keep_error(void *context, const struct lapbelt_error *error)
{
	struct outcome *outcome = context;

	if (outcome->n_errors < ERRORS_MAX)
		outcome->errors[outcome->n_errors++] = *error;
}

static void compile(const struct sbt_case *tested, const struct target *target, struct outcome *ret)
{
	struct lapbelt_param params[64];
	struct lapbelt_policy_options options = {
		.size = sizeof(options),
		.target = target->target,
		.params = params,
		.more_errors = keep_error,
		.more_errors_context = ret,
	};

	for (; options.n_params < tested->n_params && options.n_params < 64; options.n_params++)
		params[options.n_params] =
			(struct lapbelt_param){tested->params[options.n_params].key,
					       tested->params[options.n_params].value};
	ret->n_errors = 1; /* where the first goes */
	if (lapbelt_policy_from_bytes(tested->profile.p, tested->profile.n, profile_name, &options,
				      &ret->policy, &ret->errors[0]) == 0)
		ret->n_errors = 0;
}

/* A case without rows, and errors beyond its error rows, fail the case as a whole. */
static void judge_rest(const char *file, const struct sbt_case *tested,
		       const struct outcome outcomes[N_TARGETS])
{
	struct buf why = {0};
	bool expects_errors = false;

	for (size_t i = 0; i < tested->n_rows; i++)
		expects_errors = expects_errors || tested->rows[i].is_error;
	for (size_t t = 0; expects_errors && t < N_TARGETS; t++)
		for (size_t i = outcomes[t].n_met; i < outcomes[t].n_errors; i++)
			complain_error(&why, &targets[t], &outcomes[t].errors[i]);
	if (tested->n_rows == 0)
		buf_puts(&why, "# it has no rows\n");
	if (why.n)
		print_result(file, tested->line, tested->title, "as a whole", &why);
	buf_release(&why);
}

static void judge_case(const char *file, const struct sbt_case *tested)
{
	struct outcome outcomes[N_TARGETS] = {0};

	for (size_t t = 0; t < N_TARGETS; t++)
		if (tested->targets & targets[t].bit)
			compile(tested, &targets[t], &outcomes[t]);
	for (size_t i = 0; i < tested->n_rows; i++) {
		const struct sbt_row *row = &tested->rows[i];
		struct buf why = {0};

		for (size_t t = 0; t < N_TARGETS; t++)
			if (row->targets & targets[t].bit)
				(row->is_error ? judge_error : judge_decision)(row, &targets[t],
									       &outcomes[t], &why);
		print_result(file, row->line, tested->title, row->text, &why);
		buf_release(&why);
	}
	judge_rest(file, tested, outcomes);
	for (size_t t = 0; t < N_TARGETS; t++)
		lapbelt_policy_free(outcomes[t].policy);
}

/* ---- Files ---- */

static int report(const struct err *e)
{
	struct lapbelt_error error = {
		.code = (enum lapbelt_code)e->code, .line = e->at.line, .column = e->at.column};

	(void)snprintf(error.file, sizeof(error.file), "%s", e->file);
	(void)snprintf(error.text, sizeof(error.text), "%s", e->text);
	return diag_error(&error);
}

static int test_file(const char *path)
{
	struct sbt_file file = {0};
	struct arena arena = {0};
	struct buf text = {0};
	struct err e = {0};
	int status = 0;

	if (io_read_file(AT_FDCWD, path, &text, FILE_MAX) < 0) {
		diag_printf("unable to open %s: %s", path, strerror(errno));
		status = lapbelt_exit_code(LAPBELT_POLICY);
	} else if (sbt_parse(buf_str(&text), path, &arena, &file, &e) < 0) {
		status = report(&e);
	}
	for (size_t i = 0; status == 0 && i < file.n; i++)
		judge_case(path, &file.cases[i]);
	arena_release(&arena);
	buf_release(&text);
	return status;
}

static int test(struct args *args, char **files)
{
	struct buf plan = {0};
	int status = 0;

	(void)args;
	if (!files[0])
		return diag_usage("test", "no file of tests");
	for (; *files && status == 0; files++)
		status = test_file(*files);
	if (status == 0) {
		buf_printf(&plan, "1..%u\n", count);
		(void)io_write_full(STDOUT_FILENO, plan.p, plan.n);
		buf_release(&plan);
	}
	return status ? status : failures > 0;
}

static const struct opt *const options[] = {
	&opt_help_text,
	NULL,
};

const struct command command_test = {
	"test", "FILE.sbt...", "Judge tables of policy tests.", options, test,
};
