/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live: acts out the rows of a table of policy tests, lapbelt-test(5), against the running kernel.
 *
 * A row asks about a request; its act is what makes the kernel ask for it (acts.def). The act is
 * done twice, each time in a world of its own: without a policy, the control, which has to succeed,
 * and under the row's profile, as `lapbelt exec` applies it. Whoever does it is this program again,
 * started with the word LIVE_HELPER.
 *
 *	judge    what a row comes to: questions, control, act, gaps
 *	words    a row's words, and what they ask for
 *	world    a private root in which any path can be made
 *	scene    what has to be there for one act: objects, listeners, bystanders
 *	kit      what the helper is made of: the program, its libraries, their loader
 *	acts     the acts themselves, done by the helper
 *
 * Nothing is written outside of a world, and nothing of it is left: it goes with the last process
 * in its mount namespace. Where no such namespace is to be had, only acts that change nothing are
 * done, on what is there.
 */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include <lapbelt.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define LIVE_HELPER ".live-act"

/* The helper: ARGV as live_judge() has made it, from LIVE_HELPER on. Returns the exit status. */
int live_helper(char **argv);

struct live;

/* Looks at what this machine lets us do. NO_USERNS: as if there were no user namespaces. */
int live_open(bool no_userns, struct live **ret, struct lapbelt_error *error);
void live_close(struct live *live);

/* Why no worlds can be made here; NULL: they can. */
const char *live_no_worlds(const struct live *live);

struct live_case {
	struct str profile;
	const char *name; /* stands in messages */
	const struct lapbelt_param *params;
	size_t n_params;
	char *const *const
		*rows; /* the words of all its rows: what is named below, is a directory */
	size_t n_rows;
};

enum live_outcome {
	LIVE_HOLDS,   /* the kernel does what the row says */
	LIVE_FAILS,   /* it does not */
	LIVE_GAP,     /* it does not, and the plan says so */
	LIVE_SKIPPED, /* the row cannot be acted out here */
};

struct live_result {
	enum live_outcome outcome;
	char text[1024]; /* why; "" if it holds */
};

/*
 * Acts out the row WORDS of CASE, which lapbelt_decide() answers with ALLOW. 0, or negative: no
 * policy can be applied on this machine, or there is no memory.
 */
int live_judge(struct live *live, const struct live_case *tested, char *const *words, bool allow,
	       struct live_result *ret, struct lapbelt_error *error);

#endif
