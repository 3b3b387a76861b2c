/* SPDX-License-Identifier: Apache-2.0 */
/* What an act comes to, in questions for lapbelt_decide(). */
#include "live/judge.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/banned.h"

static bool starts(const char *text, const char *prefix)
{
	return str_starts(str_of(text), str_of(prefix));
}

static void add(struct question *question, const char *word)
{
	size_t n = 0;

	while (question->words[n])
		n++;
	if (n + 1 < WORDS_MAX)
		question->words[n] = word;
}

static bool has_key(const struct question *question, const char *key)
{
	for (size_t i = 1; question->words[i]; i++)
		if (starts(question->words[i], key))
			return true;
	return false;
}

/* What the null device is; the world's other devices keep their names. */
static bool device_of(const char *path, unsigned *major, unsigned *minor)
{
	static const struct {
		const char *name;
		unsigned major, minor;
	} devices[] = {
		{"/dev/zero", 1, 5},    {"/dev/full", 1, 7}, {"/dev/random", 1, 8},
		{"/dev/urandom", 1, 9}, {"/dev/tty", 5, 0},  {"/dev/ptmx", 5, 2},
	};

	*major = 1;
	*minor = 3;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		if (strcmp(devices[i].name, path) == 0) {
			*major = devices[i].major;
			*minor = devices[i].minor;
		}
	}
	return !starts(path, "/dev/pts/");
}

/* What the object has by being there, and QUESTION leaves out. */
static void complete(struct question *question, const struct deed *deed, unsigned mode)
{
	const char *operation = question->words[0];
	bool file = starts(operation, "file-"), socket = starts(operation, "network-");
	unsigned major, minor;

	if (!deed->path[0])
		return;
	if ((file || socket) && !has_key(question, "vnode-type="))
		add(question, words_kind(deed->kind));
	if ((file || socket || starts(operation, "process-exec")) && deed->kind != KIND_SYMLINK &&
	    !has_key(question, "mode=")) {
		(void)snprintf(question->mode, sizeof(question->mode), "mode=%04o", mode);
		add(question, question->mode);
	}
	if (!file || deed->kind != KIND_CHARACTER || has_key(question, "device-") ||
	    !device_of(deed->path, &major, &minor))
		return;
	(void)snprintf(question->device[0], sizeof(question->device[0]), "device-major=%u", major);
	(void)snprintf(question->device[1], sizeof(question->device[1]), "device-minor=%u", minor);
	add(question, question->device[0]);
	add(question, question->device[1]);
}

/* The mode the object has while the act is done. */
static unsigned mode_there(const struct job *job)
{
	if (!(job->act->flags & ACT_SETS_MODE))
		return job->deed.mode;
	return job->deed.kind == KIND_DIRECTORY ? 0700 : 0600;
}

static void make_main(struct job *job)
{
	struct question *question = &job->main;
	bool file = starts(job->asked.operation, "file-") ||
		    starts(job->asked.operation, "process-") ||
		    starts(job->asked.operation, "network-");

	for (size_t i = 0; job->words[i]; i++)
		add(question, i == 1 && file && job->deed.path[0] ? job->deed.path : job->words[i]);
	complete(question, &job->deed, job->deed.mode);
	if (job->act->run == act_signal && !job->asked.has_signal)
		add(question, "signal=SIGURG");
}

static struct question *add_also(struct job *job, const char *operation, const char *object)
{
	struct question *question = &job->also[job->n_also];

	if (job->n_also == ALSO_MAX)
		return question - 1;
	job->n_also++;
	question->words[0] = operation;
	question->words[1] = object;
	return question;
}

static void add_listed(struct job *job, const struct also *also)
{
	struct deed *deed = &job->deed;
	struct question *question;

	if (also->about == ABOUT_OBJECT && !deed->path[0])
		return;
	question = add_also(job, also->operation,
			    also->about == ABOUT_OBJECT  ? deed->path
			    : also->about == ABOUT_OTHER ? deed->other
							 : NULL);
	for (size_t i = 1; also->about == ABOUT_SAME && job->main.words[i]; i++)
		question->words[i] = job->main.words[i];
	if (also->attribute)
		add(question, also->attribute);
	if (also->about != ABOUT_NOTHING)
		complete(question, deed, mode_there(job));
}

/* Places where more is asked for than the operation of the file. */
static void add_of_place(struct job *job)
{
	const char *path = job->deed.path;
	bool reads = strcmp(job->asked.operation, "file-read-data") == 0;
	bool writes = strcmp(job->asked.operation, "file-write-data") == 0;
	static const char parameters[] = "/proc/sys/";
	struct question *question;

	if ((!reads && !writes) || job->deed.kind == KIND_DIRECTORY)
		return;
	if (starts(path, "/dev/pts/") || strcmp(path, "/dev/ptmx") == 0)
		(void)add_also(job, "pseudo-tty", NULL);
	if (!starts(path, parameters))
		return;
	question = add_also(job, reads ? "sysctl-read" : "sysctl-write", NULL);
	(void)snprintf(question->name, sizeof(question->name), "%s", path + strlen(parameters));
	for (char *at = question->name; (at = strchr(at, '/'));)
		*at = '.';
	question->words[1] = question->name;
}

void questions_make(struct job *job)
{
	make_main(job);
	for (const struct also *also = job->act->also; also->operation; also++)
		add_listed(job, also);
	add_of_place(job);
	if (job->deed.who != WHO_NOBODY && job->deed.who != WHO_SELF &&
	    job->deed.who != WHO_OUTSIDER && job->deed.who != WHO_MATE)
		(void)add_also(job, "process-fork", NULL);
}
