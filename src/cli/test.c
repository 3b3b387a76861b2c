/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapbelt test: tables of policy tests (lapbelt-test(5)) judged by lapbelt_decide(), once for each
 * system a row is about, and with --live by the kernel. The output is TAP.
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
#include "base/fd.h"
#include "base/io.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "cli/sbt.h"
#include "live/live.h"
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

/* With --live. */
static struct {
	struct live *judge; /* NULL: without */
	bool gaps_fail;
	unsigned outcomes[LIVE_SKIPPED + 1];
} live;

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

/* It is not what the row expects. */
static void complain_decision(struct buf *why, const struct target *target,
			      const struct lapbelt_decision *decision)
{
	buf_printf(why, "# %s: %s by ", target->name, decision->allowed ? "allow" : "deny");
	diag_add_rule(why, decision->file, decision->line, decision->column, decision->rule);
	buf_putc(why, '\n');
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
			   &decision, &error) < 0) {
		complain(why, target, "%s", error.text);
		if (error.hint[0])
			complain(why, target, "hint: %s", error.hint);
	} else if (decision.allowed != row->allow || !is_expected_rule(row, &decision)) {
		complain_decision(why, target, &decision);
	}
}

/*
 * Appends WHAT, on one line and safe for a terminal, as TAP has descriptions: # begins a directive
 * and a backslash takes that from it.
 */
static void add_description(struct buf *text, const char *what)
{
	struct buf plain = {0};

	diag_add_text(&plain, what);
	for (size_t i = 0; i < plain.n; i++) {
		if (plain.p[i] == '#' || plain.p[i] == '\\')
			buf_putc(text, '\\');
		buf_putc(text, plain.p[i]);
	}
	text->failed |= plain.failed;
	buf_release(&plain);
}

/* FILE:LINE TITLE: WHAT */
static void add_title(struct buf *text, const char *file, unsigned line, const char *title,
		      const char *what)
{
	add_description(text, file);
	buf_printf(text, ":%u ", line);
	add_description(text, title);
	buf_puts(text, ": ");
	add_description(text, what);
}

/* WHY: it fails. RESULT: of acting it out; NULL: it was not. */
static void print_result(const char *file, unsigned line, const char *title, const char *what,
			 const struct buf *why, const struct live_result *result)
{
	struct buf text = {0};

	count++;
	failures += why->n > 0;
	buf_printf(&text, "%sok %u - ", why->n ? "not " : "", count);
	add_title(&text, file, line, title, what);
	if (result && !why->n && result->outcome != LIVE_HOLDS) {
		buf_printf(&text,
			   " # SKIP %s: ", result->outcome == LIVE_GAP ? "gap" : "not applicable");
		diag_add_text(&text, result->text);
	}
	buf_putc(&text, '\n');
	buf_add_str(&text, buf_str(why));
	out_print(&text);
}

/* ---- One case ---- */

static void keep_error(void *context, const struct lapbelt_error *error)
{
	struct outcome *outcome = context;

	if (outcome->n_errors < ERRORS_MAX)
		outcome->errors[outcome->n_errors++] = *error;
}

static size_t take_params(const struct sbt_case *tested, struct lapbelt_param to[SBT_PARAMS_MAX])
{
	size_t n = 0;

	for (; n < tested->n_params; n++)
		to[n] = (struct lapbelt_param){tested->params[n].key, tested->params[n].value};
	return n;
}

static void compile(const struct sbt_case *tested, const struct target *target, struct outcome *ret)
{
	struct lapbelt_param params[SBT_PARAMS_MAX];
	struct lapbelt_policy_options options = {
		.size = sizeof(options),
		.target = target->target,
		.params = params,
		.more_errors = keep_error,
		.more_errors_context = ret,
	};

	options.n_params = take_params(tested, params);
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
		print_result(file, tested->line, tested->title, "as a whole", &why, NULL);
	buf_release(&why);
}

/* ---- The kernel ---- */

static struct live_case live_case(const struct sbt_case *tested, char *const **rows)
{
	struct live_case ret = {
		.profile = tested->profile,
		.name = profile_name,
		.rows = rows,
		.n_rows = tested->n_rows,
	};

	for (size_t i = 0; i < tested->n_rows; i++)
		rows[i] = tested->rows[i].words;
	return ret;
}

/*
 * Acts out a row that decide has answered as it says. Fills WHY if the kernel does not, *RET_SKIP
 * if it was not asked. 0, or an exit status.
 */
static int judge_live(const struct live_case *tested, const struct sbt_row *row, struct buf *why,
		      struct live_result *ret)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;

	*ret = (struct live_result){.outcome = LIVE_SKIPPED};
	if (!(row->targets & SBT_LINUX))
		(void)snprintf(ret->text, sizeof(ret->text), "it is about macOS");
	else if (live_judge(live.judge, tested, row->words, row->allow, ret, &error) < 0)
		return diag_error(&error);
	if (ret->outcome == LIVE_GAP && live.gaps_fail)
		ret->outcome = LIVE_FAILS;
	live.outcomes[ret->outcome]++;
	if (ret->outcome == LIVE_FAILS) {
		buf_puts(why, "# kernel: ");
		diag_add_text(why, ret->text);
		buf_putc(why, '\n');
	}
	return 0;
}

static void compile_all(const struct sbt_case *tested, struct outcome outcomes[N_TARGETS])
{
	for (size_t t = 0; t < N_TARGETS; t++)
		if (tested->targets & targets[t].bit)
			compile(tested, &targets[t], &outcomes[t]);
}

static int judge_row(const char *file, const struct sbt_case *tested, const struct sbt_row *row,
		     struct outcome outcomes[N_TARGETS], const struct live_case *acted)
{
	struct live_result result = {.outcome = LIVE_HOLDS};
	struct buf why = {0};
	int status = 0;

	for (size_t t = 0; t < N_TARGETS; t++)
		if (row->targets & targets[t].bit)
			(row->is_error ? judge_error : judge_decision)(row, &targets[t],
								       &outcomes[t], &why);
	if (live.judge && !row->is_error && !why.n)
		status = judge_live(acted, row, &why, &result);
	if (status == 0)
		print_result(file, row->line, tested->title, row->text, &why, &result);
	buf_release(&why);
	return status;
}

/* 0, or an exit status: the rest cannot be judged. */
static int judge_case(const char *file, const struct sbt_case *tested, struct arena *arena)
{
	struct outcome outcomes[N_TARGETS] = {0};
	struct lapbelt_param params[SBT_PARAMS_MAX];
	char *const **rows = arena_array(arena, tested->n_rows + 1, sizeof(*rows));
	struct live_case acted;
	int status = 0;

	if (!rows)
		return lapbelt_exit_code(LAPBELT_MEMORY);
	acted = live_case(tested, rows);
	acted.params = params;
	acted.n_params = take_params(tested, params);
	compile_all(tested, outcomes);
	for (size_t i = 0; i < tested->n_rows && status == 0; i++)
		status = judge_row(file, tested, &tested->rows[i], outcomes, &acted);
	if (status == 0)
		judge_rest(file, tested, outcomes);
	for (size_t t = 0; t < N_TARGETS; t++)
		lapbelt_policy_free(outcomes[t].policy);
	return status;
}

/* ---- Files ---- */

static int report(const struct err *e)
{
	struct lapbelt_error error = {
		.code = (enum lapbelt_code)e->code, .line = e->at.line, .column = e->at.column};

	(void)snprintf(error.file, sizeof(error.file), "%s", e->file);
	(void)snprintf(error.text, sizeof(error.text), "%s", e->text);
	(void)snprintf(error.hint, sizeof(error.hint), "%s", e->hint);
	return diag_error(&error);
}

static int read_file(const char *path, const char *name, struct buf *ret, struct err *e)
{
	int cleanup_fd fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
						   : io_open_named(path);

	if (fd >= 0 && io_read_all(fd, ret, FILE_MAX) == 0)
		return 0;
	if (errno == EFBIG)
		return err_at(e, ERR_LIMIT, (struct span){name, 1, 1}, "larger than 16 MiB");
	return err_set(e, ERR_POLICY, "unable to open %s: %s", name, io_error_text(errno));
}

static int test_file(const char *path)
{
	const char *name = strcmp(path, "-") == 0 ? "<standard input>" : path;
	struct sbt_file file = {0};
	struct arena arena = {0};
	struct buf text = {0};
	struct err e = {0};
	int status = 0;

	if (read_file(path, name, &text, &e) < 0 ||
	    sbt_parse(buf_str(&text), name, &arena, &file, &e) < 0)
		status = report(&e);
	for (size_t i = 0; status == 0 && i < file.n; i++)
		status = judge_case(name, &file.cases[i], &arena);
	arena_release(&arena);
	buf_release(&text);
	return status;
}

static int open_live(const struct args *args)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;

	live.gaps_fail = args->run_flags & LAPBELT_RUN_REFUSE_GAPS;
	if (args->live &&
	    live_open(args->run_flags & LAPBELT_RUN_NO_USERNS, &live.judge, &error) < 0)
		return diag_error(&error);
	return 0;
}

/* The rest cannot be judged. */
static void print_bail_out(void)
{
	struct buf text = {0};

	buf_puts(&text, "Bail out!\n");
	out_print(&text);
}

static void print_end(void)
{
	struct buf text = {0};

	buf_printf(&text, "1..%u\n", count);
	if (live.judge)
		buf_printf(&text,
			   "# kernel: %u rows hold, %u do not, %u are gaps, %u not acted out\n",
			   live.outcomes[LIVE_HOLDS], live.outcomes[LIVE_FAILS],
			   live.outcomes[LIVE_GAP], live.outcomes[LIVE_SKIPPED]);
	if (live.judge && live_no_worlds(live.judge)) {
		buf_puts(&text, "# ");
		diag_add_text(&text, live_no_worlds(live.judge));
		buf_puts(&text, ": only what changes nothing was done\n");
	}
	out_print(&text);
}

static int test(struct args *args, char **files)
{
	int status;

	if (!files[0])
		return diag_usage("test", "no file of tests");
	if (!args->live && args->run_flags)
		return diag_usage("test", "--gaps and --no-userns are about --live");
	status = open_live(args);
	for (; *files && status == 0; files++)
		status = test_file(*files);
	if (status == 0)
		print_end();
	else
		print_bail_out();
	live_close(live.judge);
	return status ? status : failures > 0;
}

static const struct opt *const options[] = {
	&opt_live, &opt_gaps, &opt_no_userns, &opt_help_text, NULL,
};

const struct command command_test = {
	"test", "FILE.sbt...", "Judge tables of policy tests.", options, test,
};
