/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: one run. Probes, plans, starts the command through linux/ and
 * answers its system calls through broker/ until nothing of it is left.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "linux/rlimit.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "policyfile/policyfile.h"

enum gap_rule {
	GAPS_DEFAULT, /* refuse content gaps */
	GAPS_REPORT,  /* run although there are any */
	GAPS_REFUSE,  /* refuse on any */
};

struct session_options {
	unsigned private_scope; /* enum scope */
	enum gap_rule gaps;
	bool clean_env; /* DESIGN 15.6 */
	bool no_userns; /* plan as if user namespaces were not to be had */
	bool no_lane;   /* without the fast lane */
	bool nestable;  /* struct plan_input's */
	const int *pass_fds;
	size_t n_pass_fds;
	void (*gap)(void *context, const struct gap *gap); /* for each, once; NULL: nobody */
	/* Something private_scope asks for is less private, TEXT says why; the gaps say how. */
	void (*loss)(void *context, const char *text);
	/* A limit is not enforced as NAME says but less well, or (NONE) not at all; TEXT says why.
	 */
	void (*limited)(void *context, const char *name, bool none, const char *text);
	void *gap_context; /* of the three */
	struct limits limits;
};

/*
 * Runs ARGV and waits for it and everything it started. *RET_STATUS: exit status or 128 + signal.
 * -ERR_OS, -ERR_GAP, -ERR_LIMIT, -ERR_MEMORY: not applied, nothing ran. -ERR_COMMAND: not executed;
 * e->os says why. -ERR_ENDED: it ran and was killed, since the run could not be kept together.
 * -ERR_TIME: it ran until its limit on time.
 */
int session_run(const struct policy *policy, char *const *argv,
		const struct session_options *options, int *ret_status, struct err *e);

/* plan_print() or plan_print_json(). */
typedef void session_print(const struct plan *plan, const struct plan_input *input,
			   const struct report *report, struct buf *ret);

/* The plan of session_run(), PRINTed. */
int session_plan(const struct policy *policy, const struct session_options *options,
		 session_print *print, struct buf *ret, struct err *e);

/* ---- facts.c: what the default policy has to know about this machine ---- */

/*
 * Collects what policyfile_default() needs: home, working directory, environment, git directories,
 * secrets that are symlinks or moved by the environment. MORE_WRITE: NULL-terminated or NULL.
 * Everything in *RET lives in ARENA. -ERR_CONFIG: see lapbelt_default_profile().
 */
int session_facts(enum target target, const char *const *more_write, struct arena *arena,
		  struct default_facts *ret, struct err *e);

/* ---- environ.c ---- */

/*
 * The command's environment under the default rule (DESIGN 15.6): ENV without secrets and outside
 * agents' sockets; TMPDIR and caches below TMPDIR; GIT_TEMPLATE_DIR an empty folder (NULL: unset).
 * The result, in ARENA, is NULL-terminated. NULL: no memory.
 */
char **session_environ(char *const *env, const char *tmpdir, const char *git_template,
		       struct arena *arena);

#endif
