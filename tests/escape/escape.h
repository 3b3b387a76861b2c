/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known ways out of a sandbox, one function each.
 *
 * A case attempts one act and says whether it came through. run.sh runs every case twice in a fresh
 * world: without lapbelt, where the act must succeed (the control), and under `lapbelt run`, where
 * it must not, and where the world outside must look the same afterwards.
 *
 * The world, named by environment variables: HOME with .ssh/id and other credentials, all holding
 * SECRET; HOME/other/f, which nothing grants; the working directory, a git repository in HOME/ws;
 * and the outsider, a process that no sandbox holds and that offers everything worth attacking.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SECRET "words only the owner may read"

/* What the case did; also its exit status. */
enum outcome {
	ESCAPED = 0,
	CONTAINED = 1,
	UNTRIED = 77, /* this machine has no such thing, inside or outside */
	BROKEN = 99,  /* the case itself went wrong: proves nothing */
};

enum escape_flag {
	NEEDS_ROOT = 1 << 0, /* outside, only root can do it: no control for an ordinary user */
	NO_CONTROL =
		1 << 1, /* cannot be shown outside: it would hurt the machine, or never works */
	LEAVES_LOOT = 1 << 2, /* comes through if a file "loot" appears in the working directory */
	ON_TTY = 1 << 3,      /* run by `escape --pty` */
	WITH_FDS = 1 << 4,    /* run by `escape --descriptors` */
	LATE = 1 << 5,        /* of its loot only what appears after the run counts */
};

struct escape_case {
	const char *id;
	const char *title;
	enum outcome (*attempt)(void);
	unsigned flags;
};

/* Each ends with a row whose id is NULL. */
extern const struct escape_case path_cases[];
extern const struct escape_case protected_cases[];
extern const struct escape_case race_cases[];
extern const struct escape_case proc_cases[];
extern const struct escape_case namespace_cases[];
extern const struct escape_case seccomp_cases[];
extern const struct escape_case foreign_cases[]; /* foreign_CPU.c */
extern const struct escape_case socket_cases[];
extern const struct escape_case desc_cases[];

/* Descriptors that `escape --descriptors` leaves open across exec, besides 0 and 2. */
enum inherited_fd {
	FD_OTHER_DIR = 3,
	FD_SOCKET = 5,  /* connected to the outsider */
	FD_PIDFD = 104, /* of the parent outside */
	FD_SECRET = 2048,
};

/* --- world.c ------------------------------------------------------------------------------ */

/* A formatted string; it lives until sixteen more have been asked for. */
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* HOME/name, HOME/other/name, as text() gives them. */
const char *home(const char *name);
const char *other(const char *name);

/* A fact about the outsider ("PID" is ESCAPE_PID); exits with BROKEN if run.sh did not say. */
const char *fact(const char *name);
int fact_number(const char *name);
pid_t outsider_pid(void);
pid_t parent_of(pid_t pid); /* 0: there is none, or it cannot be told */
bool is_inside(void);

/* A system call's result as an outcome; says on stdout what errno was. */
enum outcome came_through(long result);

/* The act cannot be tried on this machine. Inside the sandbox that reads as contained: whether the
 * machine has the feature is for the control to say. */
enum outcome untried(const char *reason);

/* Exits with BROKEN: a step failed that every policy here allows. */
_Noreturn void broken(const char *step);

/* Scratch in the working directory; they exit with BROKEN on failure. */
void make_file(const char *path, const char *text);
void make_dir(const char *path);

bool file_has(const char *path, const char *text);
bool fd_has(int fd, const char *text);
bool exists(const char *path);
enum outcome reads_secret(const char *path);
enum outcome reads_secret_fd(int fd);

/* Opens with these flags, appends a line if that works, and closes. */
enum outcome writes(const char *path, int flags);

/* Waits for a child made by fork() that exits with an outcome. */
enum outcome outcome_of(pid_t child);

/* The outsider has noted this event (outsider.c names them); looks for half a second, as a control
 * for ten. */
enum outcome outsider_saw(const char *event);

/* --- the harness: outsider.c, harness.c ---------------------------------------------------- */

int outsider_main(const char *directory);
int exec_race_main(const char *how);
int pty_main(char **command);
int descriptors_main(char **command);

#endif
