/* SPDX-License-Identifier: Apache-2.0 */
/* A row's whole way: what it asks, the control, the act under the policy, what that comes to. */
#include "live/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "live/world.h"
#include "base/banned.h"

enum {
	RULES_MAX = 1 << 16,
};

static int fail(struct lapbelt_error *error, enum lapbelt_code code, const char *what)
{
	error->code = code;
	error->os = errno;
	(void)snprintf(error->text, sizeof(error->text), "%s: %s", what, strerror(errno));
	return -(int)code;
}

/* ---- What can be done here ---- */

/* In a child, which enters a world and ends. */
static void try_world(struct live *live)
{
	static const struct deed nothing;
	int pipes[2] = {-1, -1};
	ssize_t n = 0;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		struct world world;
		char text[sizeof(live->no_worlds)] = "";

		if (world_begin(&world, 0, &live->kit) < 0 || world_place(&world, &nothing) < 0 ||
		    world_enter(&world) < 0)
			(void)snprintf(text, sizeof(text), "no world can be made here (%s: %s)",
				       world.failed, strerror(errno));
		_exit(write(pipes[1], text, sizeof(text)) < 0);
	}
	fd_close(&pipes[1]);
	if (pid > 0)
		n = read(pipes[0], live->no_worlds, sizeof(live->no_worlds));
	if (n != (ssize_t)sizeof(live->no_worlds))
		(void)snprintf(live->no_worlds, sizeof(live->no_worlds),
			       "no world can be made here");
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	fd_close(&pipes[0]);
}

static void remove_folder(const struct live *live)
{
	int cleanup_fd folder = open(live->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	kit_remove(&live->kit, folder);
	(void)rmdir(live->folder);
}

/* Whose folder is removed when a signal ends us, and in which process. */
static const struct live *volatile owner;
static volatile pid_t owner_pid;

static void clean_up(int signal)
{
	if (owner && owner_pid == getpid())
		remove_folder(owner);
	(void)raise(signal); /* its effect is the usual again: SA_RESETHAND */
}

static void clean_up_at_signals(const struct live *live)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	const struct sigaction action = {.sa_handler = clean_up, .sa_flags = (int)SA_RESETHAND};
	struct sigaction old;

	owner = live;
	owner_pid = getpid();
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			(void)sigaction(signals[i], &action, NULL);
}

/* Where there are no worlds, the kit is in a folder of its own. */
static int make_folder(struct live *live)
{
	int cleanup_fd folder = -1;

	const char *tmp = getenv("TMPDIR");

	if (!tmp || tmp[0] != '/')
		tmp = "/tmp";
	(void)snprintf(live->folder, sizeof(live->folder), "%.900s/lapbelt-live.XXXXXX", tmp);
	if (!mkdtemp(live->folder)) {
		live->folder[0] = '\0';
		return -1;
	}
	clean_up_at_signals(live);
	folder = open(live->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 ? -1 : kit_copy(&live->kit, folder);
}

int live_open(bool no_userns, struct live **ret, struct lapbelt_error *error)
{
	struct live *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return fail(error, LAPBELT_MEMORY, "live");
	live->no_userns = no_userns;
	r = kit_open(&live->kit, error);
	if (r == 0 && no_userns && geteuid() != 0)
		(void)snprintf(live->no_worlds, sizeof(live->no_worlds),
			       "no world can be made without user namespaces");
	else if (r == 0)
		try_world(live);
	if (r == 0 && live->no_worlds[0] && make_folder(live) < 0)
		r = fail(error, LAPBELT_OS, "could not make a folder for temporary files");
	if (r < 0) {
		live_close(live);
		return r;
	}
	*ret = live;
	return 0;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	owner = NULL;
	if (live->folder[0])
		remove_folder(live);
	kit_close(&live->kit);
	free(live);
}

const char *live_no_worlds(const struct live *live)
{
	return live->no_worlds[0] ? live->no_worlds : NULL;
}

/* ---- The policy ---- */

static void add_literal(struct buf *rules, const char *path)
{
	buf_puts(rules, " (literal \"");
	for (; *path; path++) {
		if (*path == '"' || *path == '\\')
			buf_putc(rules, '\\');
		buf_putc(rules, *path);
	}
	buf_puts(rules, "\")");
}

/* Of HOST:PORT; a profile knows no port 0. */
static void add_port(struct buf *rules, const char *object)
{
	const char *colon = strrchr(object, ':');

	if (colon && strcmp(colon, ":0") != 0)
		buf_printf(rules, " (local ip \"*%s\")", colon);
}

/* The helper has to start: its own folder, whatever the profile says. */
static void add_kit_rules(struct job *job)
{
	const char *folder = job->live->folder[0] ? job->live->folder : WORLD_KIT;

	buf_printf(&job->rules,
		   "\n(allow process-exec* (subpath \"%s\"))"
		   "(allow file-read-data (subpath \"%s\"))\n",
		   folder, folder);
}

static int compile(struct job *job, struct lapbelt_error *error)
{
	struct lapbelt_policy_options options = {
		.size = sizeof(options),
		.params = job->tested->params,
		.n_params = job->tested->n_params,
	};
	struct buf text = {0};
	int r;

	buf_add_str(&text, job->tested->profile);
	buf_add_str(&text, buf_str(&job->rules));
	if (text.failed) {
		r = fail(error, LAPBELT_MEMORY, "the profile");
	} else {
		lapbelt_policy_free(job->policy);
		job->policy = NULL;
		r = lapbelt_policy_from_bytes(text.p, text.n, job->tested->name, &options,
					      &job->policy, error);
	}
	buf_release(&text);
	return r;
}

static int decide(const struct job *job, const struct question *question,
		  struct lapbelt_decision *ret, struct lapbelt_error *error)
{
	return lapbelt_decide(job->policy, question->words[0], question->words + 1, ret, error);
}

/* Adds rules for what is asked besides and denied. */
static int grant_others(struct job *job, bool *ret_granted, struct lapbelt_error *error)
{
	struct lapbelt_decision decision;

	*ret_granted = false;
	for (size_t i = 0; i < job->n_also; i++) {
		const struct question *question = &job->also[i];
		const char *object = question->words[1];

		if (decide(job, question, &decision, error) < 0)
			return -1;
		if (decision.allowed)
			continue;
		*ret_granted = true;
		buf_printf(&job->rules, "(allow %s", question->words[0]);
		if (object && object[0] == '/')
			add_literal(&job->rules, object);
		else if (object && job->deed.address.length)
			add_port(&job->rules, object);
		buf_puts(&job->rules, ")\n");
	}
	return 0;
}

static void show(const struct question *question, char *to, size_t size)
{
	size_t n = 0;

	to[0] = '\0';
	for (size_t i = 0; question->words[i] && n < size; i++)
		n += (size_t)snprintf(to + n, size - n, "%s%s", i ? " " : "", question->words[i]);
}

/* Does what will be asked get the row's answer? False: it cannot be acted out, job->why. */
static bool check_questions(struct job *job)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_decision decision;
	char text[WHY_MAX / 2];

	if (decide(job, &job->main, &job->decision, &error) < 0) {
		(void)snprintf(job->why, sizeof(job->why), "%.400s", error.text);
		return false;
	}
	show(&job->main, text, sizeof(text));
	if ((job->decision.allowed != 0) != job->allow) {
		job->otherwise = true;
		(void)snprintf(job->why, sizeof(job->why),
			       "what can be acted out is '%s', and that is answered otherwise, "
			       "by line %u",
			       text, job->decision.line);
		return false;
	}
	for (size_t i = 0; i < job->n_also; i++) {
		if (decide(job, &job->also[i], &decision, &error) == 0 && decision.allowed)
			continue;
		show(&job->also[i], text, sizeof(text));
		(void)snprintf(job->why, sizeof(job->why), "%s also asks for '%s', which is denied",
			       job->act->call, text);
		return false;
	}
	return true;
}

static bool is_otherwise(struct job *job)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;

	return decide(job, &job->main, &job->decision, &error) < 0 ||
	       (job->decision.allowed != 0) != job->allow;
}

/*
 * What was granted besides has allowed the row's own request. That is denied, and may as well be
 * denied together with what else the act asks for.
 */
static int take_back(struct job *job, struct lapbelt_error *error)
{
	buf_clear(&job->rules);
	add_kit_rules(job);
	job->n_also = 0;
	return compile(job, error);
}

/* 0; 1: it cannot be acted out; negative: failure. */
static int make_policy(struct job *job, struct lapbelt_error *error)
{
	bool granted;
	int r;

	add_kit_rules(job);
	r = compile(job, error);
	if (r < 0)
		return r;
	questions_make(job);
	if (grant_others(job, &granted, error) < 0) {
		(void)snprintf(job->why, sizeof(job->why), "%.400s", error->text);
		return 1;
	}
	if (granted)
		r = compile(job, error);
	if (r == 0 && granted && !job->allow && is_otherwise(job))
		r = take_back(job, error);
	return r < 0 ? r : !check_questions(job);
}

/* ---- What it comes to ---- */

static const char *outcome_name(int error)
{
	return error == 0 ? "works" : "fails";
}

/* Whom a policy denies something gets these; what is hidden from him is not there. */
static bool is_denial(int error)
{
	return error == EPERM || error == EACCES || error == ENOENT;
}

__attribute__((format(printf, 3, 4))) static void
conclude(struct live_result *ret, enum live_outcome outcome, const char *format, ...)
{
	va_list ap;

	ret->outcome = outcome;
	va_start(ap, format);
	(void)vsnprintf(ret->text, sizeof(ret->text), format, ap);
	va_end(ap);
}

static int conclude_broken(const struct report *report, struct live_result *ret,
			   struct lapbelt_error *error)
{
	const struct lapbelt_error *failure = &report->failure;

	if (failure->code == LAPBELT_OS || failure->code == LAPBELT_GAP ||
	    failure->code == LAPBELT_CONFIG || failure->code == LAPBELT_MEMORY) {
		*error = *failure;
		return -(int)failure->code;
	}
	conclude(ret, LIVE_FAILS, "it could not be run: %s", failure->text);
	return 0;
}

static void compare(const struct job *job, const struct report *report, struct live_result *ret)
{
	const char *gap = report->error ? report->strict : report->lenient;
	char text[WHY_MAX];

	show(&job->main, text, sizeof(text));
	if (report->error == EXDEV && job->act->run == act_link)
		conclude(ret, LIVE_SKIPPED, "under its new name it would be more open, so %s fails",
			 job->act->call);
	else if (report->error && !is_denial(report->error))
		conclude(ret, LIVE_FAILS,
			 "%s works without the policy, and under it ends with %s (%s)",
			 job->act->call, strerror(report->error), text);
	else if ((report->error == 0) == job->allow)
		conclude(ret, LIVE_HOLDS, "%s", "");
	else if (gap[0])
		conclude(ret, LIVE_GAP, "%s", gap);
	else
		conclude(ret, LIVE_FAILS,
			 "%s %s under the policy%s%s; without it works; decided by line %u (%s)",
			 job->act->call, outcome_name(report->error), report->error ? ": " : "",
			 report->error ? strerror(report->error) : "", job->decision.line, text);
}

/* Without the policy it has to work, else nothing is proved. */
static bool check_control(const struct job *job, const struct report *control,
			  struct live_result *ret)
{
	ret->text[0] = '\0';
	if (control->state == REPORT_STAGE)
		conclude(ret, LIVE_SKIPPED, "%s", control->text);
	else if (control->state != REPORT_DONE)
		conclude(ret, LIVE_SKIPPED, "without the policy %s does not come back",
			 job->act->call);
	else if (control->error)
		conclude(ret, LIVE_SKIPPED, "without the policy %s ends with: %s", job->act->call,
			 strerror(control->error));
	return !ret->text[0];
}

static int check_confined(const struct job *job, const struct report *report,
			  struct live_result *ret, struct lapbelt_error *error)
{
	if (report->state == REPORT_BROKEN)
		return conclude_broken(report, ret, error);
	if (report->state == REPORT_DONE)
		compare(job, report, ret);
	else
		conclude(ret, LIVE_FAILS, "%s does not come back under the policy: %s",
			 job->act->call, report->text);
	return 0;
}

/* In worlds of their own, control and act do not get in each other's way. */
static int act_out(const struct job *job, struct live_result *ret, struct lapbelt_error *error)
{
	struct report *reports = mmap(NULL, 2 * sizeof(*reports), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool apart = !job->live->folder[0];
	pid_t control, confined;
	int r = 0;

	if (reports == MAP_FAILED)
		return fail(error, LAPBELT_MEMORY, "memory to share");
	control = perform_start(job, NULL, &reports[0]);
	if (!apart)
		perform_wait(control);
	confined = perform_start(job, job->policy, &reports[1]);
	if (apart)
		perform_wait(control);
	perform_wait(confined);
	if (check_control(job, &reports[0], ret))
		r = check_confined(job, &reports[1], ret, error);
	(void)munmap(reports, 2 * sizeof(*reports));
	return r;
}

/* Is there another kind of object that the row can be about? */
static bool has_other_kind(struct job *job)
{
	if (!job->otherwise || job->asked.has_kind || job->deed.kind == KIND_NONE)
		return false;
	job->tried |= 1u << job->deed.kind;
	return (job->act->kinds & ~job->tried) != 0;
}

/* 0: it can be acted out; 1: it cannot, job->why; negative: failure. */
static int prepare(struct job *job, struct lapbelt_error *error)
{
	char why[WHY_MAX] = "";
	int r;

	do {
		job->otherwise = false;
		job->n_also = 0;
		memset(&job->main, 0, sizeof(job->main));
		memset(job->also, 0, sizeof(job->also));
		buf_clear(&job->rules);
		r = words_read(job->words, &job->asked, job->why) && cast_act(job)
			    ? make_policy(job, error)
			    : 1;
		if (!why[0]) /* of the most natural kind */
			memcpy(why, job->why, sizeof(why));
	} while (r == 1 && has_other_kind(job));
	memcpy(job->why, why, sizeof(why));
	return r;
}

int live_judge(struct live *live, const struct live_case *tested, char *const *words, bool allow,
	       struct live_result *ret, struct lapbelt_error *error)
{
	struct job *job = calloc(1, sizeof(*job));
	int r;

	if (!job)
		return fail(error, LAPBELT_MEMORY, "live");
	job->live = live;
	job->tested = tested;
	job->words = words;
	job->allow = allow;
	job->rules.max = RULES_MAX;
	r = prepare(job, error);
	if (r == 0)
		r = act_out(job, ret, error);
	else if (r == 1)
		conclude(ret, LIVE_SKIPPED, "%s", job->why);
	lapbelt_policy_free(job->policy);
	buf_release(&job->rules);
	free(job);
	return r < 0 ? r : 0;
}
