/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: what this machine offers to a run, each finding by a probe that tries. */
#ifndef SESSION_DOCTOR_H
#define SESSION_DOCTOR_H

#include <stdbool.h>

struct finding {
	const char *name;  /* of the row */
	const char *value; /* for programs: a word, a number or a version */
	bool good;         /* nothing is lost by it */
	char text[256];    /* a sentence without a dot */
	const char *help;  /* what would make it better; NULL: nothing known, or nothing needed */
};

/* Calls EACH for every finding. What it gets lives as long as the call. One thread at a time. */
void session_doctor(void (*each)(void *context, const struct finding *finding), void *context);

#endif
