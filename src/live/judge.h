/* SPDX-License-Identifier: Apache-2.0 */
/* judge: what the files of the judge share. */
#ifndef LIVE_JUDGE_H
#define LIVE_JUDGE_H

#include <lapbelt.h>

#include "base/buf.h"
#include "live/deed.h"
#include "live/kit.h"
#include "live/live.h"
#include "live/words.h"

struct live {
	struct kit kit;
	bool no_userns;
	char folder[1024]; /* where there are no worlds: of the kit; "": there are */
	char no_worlds[160];
};

/* A question for lapbelt_decide(). */
struct question {
	const char *words[WORDS_MAX];
	char device[2][32], mode[16]; /* words of our own */
	char name[PATH_MAX];
};

enum {
	ALSO_MAX = 5,
};

/* One row on its way. */
struct job {
	struct live *live;
	const struct live_case *tested;
	char *const *words;
	bool allow;
	struct asked asked;
	const struct act *act;
	struct deed deed;
	struct question main;           /* what the act comes to: the row, and what it leaves out */
	struct question also[ALSO_MAX]; /* what is asked besides */
	size_t n_also;
	struct buf rules; /* added to the profile */
	struct lapbelt_policy *policy;
	struct lapbelt_decision decision; /* of the main question */
	char why[WHY_MAX];                /* it cannot be acted out */
	unsigned tried;                   /* kinds of the object, where the row names none */
	bool otherwise; /* of that kind the object gets another answer than the row's */
};

/* Finds the act, and says what it is about (cast.c). False: nobody can do that, job->why. */
bool cast_act(struct job *job);

/* Puts the questions (questions.c). */
void questions_make(struct job *job);

/* How it went, in memory that is shared with the process that did it. */
struct report {
	enum {
		REPORT_NOTHING, /* it did not come back */
		REPORT_STAGE,   /* there was no scene for it: text */
		REPORT_DONE,    /* error */
		REPORT_BROKEN,  /* the run failed: failure */
	} state;
	int error; /* errno of the act; 0: it worked */
	char text[256];
	struct lapbelt_error failure;
	/* Under the policy: a gap that would make it more lenient, and one more strict. */
	char lenient[600], strict[600];
};

/*
 * Begins to do the act in a child (perform.c), which fills in REPORT; POLICY NULL: the control.
 * Returns the child, to be waited for.
 */
pid_t perform_start(const struct job *job, const struct lapbelt_policy *policy,
		    struct report *report);
void perform_wait(pid_t pid);

#endif
