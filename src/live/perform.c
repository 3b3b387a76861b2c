/* SPDX-License-Identifier: Apache-2.0 */
/* Does an act in a process of its own, and brings back how it went. */
#include "live/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "base/str.h"
#include "live/scene.h"
#include "live/world.h"
#include "base/banned.h"

/* One try, in the process that does it. */
struct attempt {
	const struct job *job;
	const struct lapbelt_policy *policy; /* NULL: none */
	struct deed deed;
	struct report *report;
	struct kit_command command;
	int in[2], out[2]; /* pipes: the deed, its errno */
	int status;        /* of the helper, as lapbelt_run() gives it */
};

/* ---- Gaps ---- */

static bool is_about(const struct lapbelt_gap *gap, const char *operation)
{
	for (const char *const *at = gap->operations; *at; at++)
		if (strcmp(*at, operation) == 0)
			return true;
	return false;
}

static bool is_about_any(const struct lapbelt_gap *gap, const struct job *job)
{
	bool ret = is_about(gap, job->main.words[0]);

	for (size_t i = 0; i < job->n_also; i++)
		ret = ret || is_about(gap, job->also[i].words[0]);
	return ret;
}

/* A gap about certain places: is the act at one of them? */
static bool is_there(const struct lapbelt_gap *gap, const char *path)
{
	for (const char *const *at = gap->paths; at && *at; at++)
		if (gap->below_paths ? str_is_below(str_of(path), str_of(*at))
				     : strcmp(path, *at) == 0)
			return true;
	return !gap->paths;
}

static void note_gap(void *context, const struct lapbelt_gap *gap)
{
	struct attempt *attempt = context;
	const struct job *job = attempt->job;
	bool strict = strcmp(gap->kind, "stricter") == 0;
	char *to = strict ? attempt->report->strict : attempt->report->lenient;

	if (!is_there(gap, job->deed.path) ||
	    (strict ? !is_about_any(gap, job) : !is_about(gap, job->main.words[0])))
		return;
	if (gap->only_rule &&
	    (gap->line != job->decision.line || strcmp(gap->file, job->decision.file) != 0))
		return;
	if (!to[0])
		(void)snprintf(to, sizeof(attempt->report->strict), "%s: %s", gap->kind, gap->text);
}

/* ---- Starting the helper ---- */

static int start_free(struct attempt *attempt)
{
	pid_t parent = getpid(), pid = fork();
	int status;

	if (pid == 0) {
		die_with(parent);
		(void)fcntl(attempt->in[0], F_SETFD, 0);
		(void)fcntl(attempt->out[1], F_SETFD, 0);
		if (attempt->deed.socket >= 0)
			(void)fcntl(attempt->deed.socket, F_SETFD, 0);
		(void)execv(attempt->command.argv[0], attempt->command.argv);
		_exit(EXIT_FAILURE);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	attempt->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}

static int start_confined(struct attempt *attempt)
{
	const struct job *job = attempt->job;
	int fds[3] = {attempt->in[0], attempt->out[1], attempt->deed.socket};
	struct lapbelt_run_options options = {
		.size = sizeof(options),
		.share = LAPBELT_SHARE_ALL,
		.flags = LAPBELT_RUN_REPORT_GAPS |
			 (job->live->no_userns ? (unsigned)LAPBELT_RUN_NO_USERNS : 0),
		.pass_fds = fds,
		.n_pass_fds = attempt->deed.socket >= 0 ? 3 : 2,
		.status_fd = -1,
		.gap = note_gap,
		.gap_context = attempt,
	};

	if (lapbelt_run(attempt->policy, attempt->command.argv, &options, &attempt->status,
			&attempt->report->failure) == 0)
		return 0;
	attempt->report->state = REPORT_BROKEN;
	return -1;
}

/* ---- The attempt ---- */

/* The helper is gone. Did it say how it went, or show it by how it went? */
static void conclude(struct attempt *attempt)
{
	struct report *report = attempt->report;
	unsigned flags = acts[attempt->deed.act].flags;

	report->state = REPORT_DONE;
	fd_close(&attempt->out[1]);
	if (io_read_full(attempt->out[0], &report->error, sizeof(report->error)) == 0)
		return;
	report->error = 0;
	if (((flags & ACT_EXEC) && attempt->status == EXECUTED) ||
	    (attempt->deed.who != WHO_NOBODY && attempt->status == 128 + attempt->deed.signal))
		return;
	report->state = REPORT_STAGE;
	(void)snprintf(report->text, sizeof(report->text),
		       attempt->status > 128 ? "the helper was killed by signal %d"
					     : "the helper ended with status %d",
		       attempt->status > 128 ? attempt->status - 128 : attempt->status);
}

static void attempt_act(struct attempt *attempt)
{
	const struct live *live = attempt->job->live;
	const char *folder = live->folder[0] ? live->folder : NULL;
	struct report *report = attempt->report;
	const char *failed = "could not make a pipe";

	if (pipe2(attempt->in, O_CLOEXEC) < 0 || pipe2(attempt->out, O_CLOEXEC) < 0 ||
	    scene_make(&attempt->deed, &attempt->job->asked.local, &live->kit, folder, &failed) <
		    0) {
		report->state = REPORT_STAGE;
		(void)snprintf(report->text, sizeof(report->text), "%s: %s", failed,
			       strerror(errno));
		return;
	}
	if (io_write_full(attempt->in[1], &attempt->deed, sizeof(attempt->deed)) < 0)
		return;
	kit_command(&live->kit, folder ? folder : WORLD_KIT, attempt->in[0], attempt->out[1],
		    &attempt->command);
	if ((attempt->policy ? start_confined : start_free)(attempt) == 0)
		conclude(attempt);
}

/* Apart from terminals and groups of ours, and gone when we are. */
static void settle(pid_t parent)
{
	enum {
		PATIENCE = 30 /* seconds */
	};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	die_with(parent);
	(void)setsid();
	(void)alarm(PATIENCE);
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	fd_close(&null);
}

pid_t perform_start(const struct job *job, const struct lapbelt_policy *policy,
		    struct report *report)
{
	static struct attempt attempt; /* too large for comfort on the stack */
	pid_t parent = getpid(), pid;

	memset(report, 0, sizeof(*report));
	attempt = (struct attempt){.job = job,
				   .policy = policy,
				   .deed = job->deed,
				   .report = report,
				   .in = {-1, -1},
				   .out = {-1, -1}};
	pid = fork();
	if (pid == 0) {
		settle(parent);
		attempt_act(&attempt);
		_exit(0);
	}
	return pid;
}

void perform_wait(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
