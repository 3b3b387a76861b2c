/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err: how failures travel. Every fallible internal function returns int: 0 is
 * done, > 0 is a documented outcome of that function, < 0 is failure, forwarded
 * unchanged. The record is the caller's and of fixed size, so that reporting
 * cannot fail. Only cli/ prints.
 *
 *	return err_set(e, ERR_POLICY, "unknown operation '%s'", name);
 *	return err_os(e, "open '%s'", path);
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stddef.h>

/* Order and meaning are those of enum lapbelt_code in lapbelt.h; the facade maps one to one. */
enum err_code {
	ERR_NONE,
	ERR_USAGE,   /* the caller's arguments make no sense: exit 64 */
	ERR_POLICY,  /* a profile or policy text is wrong: exit 65 */
	ERR_OS,      /* the system refused something we need: exit 71 */
	ERR_COMMAND, /* the command could not be executed: exit 71 */
	ERR_GAP,     /* this system cannot enforce a rule that must hold: exit 71 */
	ERR_CONFIG,  /* the set-up around the policy is wrong (no cwd, no HOME): exit 78 */
	ERR_LIMIT,   /* a bound on size, depth, steps or memory was reached: exit 65 */
	ERR_MEMORY,  /* out of memory: exit 71 */
	ERR_ENDED,   /* the run broke down after the command had started: exit 70 */
	ERR_TIME,    /* the run's limit on time was reached: exit 124 */
};

/* A place in a source text. Lines and columns count from 1, columns in bytes; line 0: no place. */
struct span {
	const char *file; /* outlives the record; NULL: none */
	unsigned line, column;
};

struct err {
	enum err_code code;
	int os; /* errno, or 0 */
	struct span at;
	char file[256]; /* copy of at.file: the record outlives what it speaks of */
	char text[512];
	char hint[256]; /* empty: none */
};

/* Fill *E (which may be NULL) and return -CODE. */
int err_set(struct err *e, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int err_at(struct err *e, enum err_code code, struct span at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* As err_set(ERR_OS), with errno's text appended after ": ". */
int err_os(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

int err_memory(struct err *e);

/*
 * Adds what would help; one per error. Returns -e->code, to end a return statement; without E
 * nothing happens and the value says nothing.
 */
int err_hint(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts context in front of the text on the way up. Returns as err_hint(). */
int err_wrap(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
