/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapbelt: confine a command under a sandbox profile.
 *
 *	struct lapbelt_error error = LAPBELT_ERROR_INIT;
 *	const char *text = "(version 1)(allow default)(deny file-write*)";
 *	char *argv[] = {"make", NULL};
 *	struct lapbelt_policy *policy;
 *	int status;
 *
 *	if (lapbelt_policy_from_text(text, "mine.sb", NULL, &policy, &error) < 0 ||
 *	    lapbelt_run(policy, argv, NULL, &status, &error) < 0)
 *		return fail(&error);
 *	lapbelt_policy_free(policy);
 *
 * Conventions
 *   Functions return 0, or a negative enum lapbelt_code; then *error (which may be NULL) says what,
 *   where and what would help. Out-parameters named ret_* are written on success only.
 *   A denial is a result, not an error.
 *   Strings are NUL-terminated bytes; the library copies what it keeps. Strings it returns belong
 *   to the caller (lapbelt_free) unless stated otherwise.
 *   The library never prints, logs, exits or aborts. A policy is immutable and may be used by many
 *   threads at once; lapbelt_run() forks and handles signals, so one run at a time per process.
 */
#ifndef LAPBELT_H
#define LAPBELT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LAPBELT_API __attribute__((visibility("default")))
#else
#define LAPBELT_API
#endif

/* ---- Errors ---- */

/* A closed list; functions return the negative. */
enum lapbelt_code {
	LAPBELT_OK,
	LAPBELT_USAGE,   /* the arguments make no sense (exit 64) */
	LAPBELT_POLICY,  /* a profile is wrong (exit 65) */
	LAPBELT_OS,      /* the system refused something we need (exit 71) */
	LAPBELT_COMMAND, /* the command could not be executed (exit 71) */
	LAPBELT_GAP,     /* this system cannot enforce a rule that must hold (exit 71) */
	LAPBELT_CONFIG,  /* what surrounds the policy is wrong: no home, cwd gone (exit 78) */
	LAPBELT_LIMIT,   /* a bound on size, depth, steps or memory was reached (exit 65) */
	LAPBELT_MEMORY,  /* out of memory (exit 71) */
	LAPBELT_ENDED,   /* the sandbox broke down after the command had started (exit 70) */
	LAPBELT_TIME,    /* the run's limit on time was reached, all of it was ended (exit 124) */
};

struct lapbelt_error {
	enum lapbelt_code code;
	int os;                /* errno, or 0; EPERM with LAPBELT_GAP: inside a sandbox of ours */
	unsigned line, column; /* from 1, columns in bytes; line 0: no place */
	char file[256];        /* "" : none */
	char text[512];        /* one line, no trailing dot */
	char hint[256];        /* what would help; "": nothing known */
};

#define LAPBELT_ERROR_INIT                                                                         \
	{                                                                                          \
		LAPBELT_OK, 0, 0, 0, {0}, {0},                                                     \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

/* What a command line tool ends with on CODE: 0, 64, 65, 70, 71, 78 (sysexits) or 124. */
LAPBELT_API int lapbelt_exit_code(enum lapbelt_code code);

/* ---- Policies ---- */

struct lapbelt_policy;

enum lapbelt_target {
	LAPBELT_TARGET_HOST, /* the system this runs on */
	LAPBELT_TARGET_LINUX,
	LAPBELT_TARGET_DARWIN,
};

struct lapbelt_param {
	const char *key, *value;
};

enum lapbelt_policy_flags {
	LAPBELT_POLICY_RUNTIME = 1 << 0, /* add what a dynamic program needs to start (see exec) */
};

struct lapbelt_policy_options {
	size_t size; /* sizeof(struct lapbelt_policy_options) */
	enum lapbelt_target target;
	unsigned flags;                     /* enum lapbelt_policy_flags */
	const struct lapbelt_param *params; /* -D KEY=VALUE; the first of equal keys counts */
	size_t n_params;
	const char *import_dir; /* searched first for relative imports; NULL: none */
	/*
	 * Called for every error after the first, in order of the text (compilation goes on at the
	 * next top-level form). The first is in the function's own *error by then. NULL: only that.
	 */
	void (*more_errors)(void *context, const struct lapbelt_error *error);
	void *more_errors_context;
};

/* Compiles SBPL text. NAME stands in messages. OPTIONS may be NULL: host target, no parameters. */
LAPBELT_API int lapbelt_policy_from_text(const char *text, const char *name,
					 const struct lapbelt_policy_options *options,
					 struct lapbelt_policy **ret_policy,
					 struct lapbelt_error *error);

/* As lapbelt_policy_from_text() with N bytes, which may contain anything. */
LAPBELT_API int lapbelt_policy_from_bytes(const char *bytes, size_t n, const char *name,
					  const struct lapbelt_policy_options *options,
					  struct lapbelt_policy **ret_policy,
					  struct lapbelt_error *error);

/* Reads and compiles a file of at most 16 MiB; "-" is standard input. */
LAPBELT_API int lapbelt_policy_from_file(const char *path,
					 const struct lapbelt_policy_options *options,
					 struct lapbelt_policy **ret_policy,
					 struct lapbelt_error *error);

/*
 * sandbox-exec's named profiles: no-network, no-internet, no-write, no-write-except-temporary,
 * pure-computation.
 */
LAPBELT_API int lapbelt_policy_from_name(const char *name,
					 const struct lapbelt_policy_options *options,
					 struct lapbelt_policy **ret_policy,
					 struct lapbelt_error *error);

LAPBELT_API void lapbelt_policy_free(struct lapbelt_policy *policy);

/* ---- The default policy of `lapbelt run` ---- */

struct lapbelt_default_options {
	size_t size; /* sizeof(struct lapbelt_default_options) */
	enum lapbelt_target target;
	const char *const *write; /* more write roots, NULL-terminated; NULL: none. "." allows a cwd
				     of / or $HOME */
};

/*
 * Writes the SBPL text of the default policy for the calling process's home, working directory and
 * environment. This text is exactly what lapbelt_policy_default() compiles.
 * -LAPBELT_CONFIG: no home directory, no working directory, or one that holds the home directory or
 * is shared by everybody (/tmp).
 */
LAPBELT_API int lapbelt_default_profile(const struct lapbelt_default_options *options,
					char **ret_text, struct lapbelt_error *error);

LAPBELT_API int lapbelt_policy_default(const struct lapbelt_default_options *options,
				       struct lapbelt_policy **ret_policy,
				       struct lapbelt_error *error);

/* ---- Deciding ---- */

struct lapbelt_decision {
	int allowed;
	/* The deciding rule; a built-in default has an empty file. Valid as long as the policy. */
	const char *file;
	unsigned line, column;
	const char *rule;      /* its text, past 200 bytes U+2026; or "built-in default of ..." */
	const char *operation; /* where it was decided: the operation asked for, or an ancestor */
};

/*
 * Decides OPERATION on ARGUMENTS (NULL-terminated; NULL: none): a /path, a name or HOST:PORT first,
 * then KEY=VALUE: vnode-type=DIRECTORY mode=0644 target=self signal=SIGTERM xattr=user.x
 * local=HOST:PORT protocol=tcp|udp. Never looks at the disk. -LAPBELT_USAGE: unknown operation,
 * key or value, or a path that is not canonical: with "//", ".", "..", or a slash at its end.
 */
LAPBELT_API int lapbelt_decide(const struct lapbelt_policy *policy, const char *operation,
			       const char *const *arguments, struct lapbelt_decision *ret_decision,
			       struct lapbelt_error *error);

/* What became of a rule on the way to a decision. */
enum lapbelt_role {
	LAPBELT_ROLE_DECIDED,
	LAPBELT_ROLE_OVERRIDDEN, /* it matches, but a filtered rule of the same operation that comes
				    later does too, or (a rule without filter) any */
	LAPBELT_ROLE_NOT_ASKED,  /* it matches, but a more special operation had decided */
	LAPBELT_ROLE_GAVE_WAY,   /* a default that denies, where the runtime's rules allow */
	LAPBELT_ROLE_FELL,       /* no rule of `operation` matches: its parent is asked */
};

struct lapbelt_explanation {
	enum lapbelt_role role;
	const char *operation; /* whose rules are looked at */
	const char *parent;    /* LAPBELT_ROLE_FELL: the operation that is asked next; else NULL */
	int allows;            /* what the rule says; 0 for LAPBELT_ROLE_FELL */
	/* As in struct lapbelt_decision; LAPBELT_ROLE_FELL has no rule: "". */
	const char *file;
	unsigned line, column;
	const char *rule;
};

/*
 * lapbelt_decide() with the whole way: calls EACH for every rule that matches, from the operation
 * asked for up to its last ancestor, in the order in which they count, among them the one that
 * decides. What EACH gets is valid during the call, the strings as long as the policy.
 */
LAPBELT_API int lapbelt_explain(const struct lapbelt_policy *policy, const char *operation,
				const char *const *arguments,
				void (*each)(void *context,
					     const struct lapbelt_explanation *explanation),
				void *context, struct lapbelt_error *error);

/* ---- Proving and comparing ---- */

/*
 * A request that two policies answer differently: as simple as can be, first by the length of its
 * path, then by the number of its other arguments. What it points to is valid during the call that
 * gets it; the file and rule of a decision, as long as the policies.
 */
struct lapbelt_difference {
	int looser; /* denied by the first, allowed by the second; else the reverse */
	const char *const *request; /* OPERATION ARGUMENT..., as lapbelt_decide() takes them; then
				       NULL */
	struct lapbelt_decision from, to;
};

enum lapbelt_diff_flags {
	LAPBELT_DIFF_LOOSER = 1 << 0, /* only what the second allows and the first does not */
};

/*
 * Calls EACH for every operation and direction in which FROM and TO, compiled for one target, ever
 * differ. Never called: they answer every request alike. All requests are those that
 * lapbelt_decide() can be told, but for attributes that the target does not have. -LAPBELT_LIMIT:
 * the policies are too large to tell.
 */
LAPBELT_API int
lapbelt_diff(const struct lapbelt_policy *from, const struct lapbelt_policy *to, unsigned flags,
	     void (*each)(void *context, const struct lapbelt_difference *difference),
	     void *context, struct lapbelt_error *error);

/*
 * Does ASSERTION hold for all requests? It is `never OPERATION... [FILTER]` (the policy allows none
 * of these) or `always OPERATION... [FILTER]` (it allows them all), with FILTER as in a rule, the
 * outer parentheses left out or not: never file-read-data subpath "$HOME/.ssh". In its strings
 * $HOME and $PWD are the calling process's, without symbolic links. An operation stands for all
 * that fall to it.
 *
 * *RET_HOLDS is 1, or 0 after EACH was called with a counterexample, in which `from` is what the
 * assertion says. -LAPBELT_POLICY: the assertion is wrong, in the file "<assertion>".
 */
LAPBELT_API int lapbelt_prove(const struct lapbelt_policy *policy, const char *assertion,
			      void (*each)(void *context,
					   const struct lapbelt_difference *difference),
			      void *context, int *ret_holds, struct lapbelt_error *error);

/* ---- Warnings ---- */

/* Something in a profile that its author can hardly have meant. */
struct lapbelt_warning {
	const char *kind; /* one of lapbelt_lint_kinds(), or "not-checked" */
	const char *file; /* "": none, as of not-checked */
	unsigned line, column;
	const char *text; /* one line, no trailing dot */
	const char *hint; /* what to write instead; "": nothing known */
	const char *path; /* a path that shows it; "": none is needed */
};

/*
 * Calls WARN for whatever is wrong in POLICY, in order of file, line and column: of rules in the
 * text it was made from and in what that imports by a path, not of profiles that come with lapbelt
 * or the system. Nothing is guessed: a rule without effect has none for any path. Where that would
 * take too long a warning of the kind "not-checked" says so, and there may be more to find. What
 * WARN gets is valid during the call. 0 with or without warnings, or -LAPBELT_MEMORY.
 */
LAPBELT_API int lapbelt_lint(const struct lapbelt_policy *policy,
			     void (*warn)(void *context, const struct lapbelt_warning *warning),
			     void *context, struct lapbelt_error *error);

/* The kinds of warnings, NULL-terminated; static. */
LAPBELT_API const char *const *lapbelt_lint_kinds(void);

/* ---- Running ---- */

/* What is shared with the host, else private to the run. */
enum lapbelt_scope {
	LAPBELT_SHARE_PID = 1 << 0,
	LAPBELT_SHARE_IPC = 1 << 1,
	LAPBELT_SHARE_NET = 1 << 2,
	LAPBELT_SHARE_TMP = 1 << 3,
	LAPBELT_SHARE_SHM = 1 << 4,
	LAPBELT_SHARE_PTS = 1 << 5,
	LAPBELT_SHARE_ALL = (1 << 6) - 1,
};

enum lapbelt_run_flags {
	LAPBELT_RUN_REPORT_GAPS = 1 << 0, /* run although a content gap exists (--gaps=report) */
	LAPBELT_RUN_REFUSE_GAPS = 1 << 1, /* refuse on any gap (--gaps=refuse) */
	LAPBELT_RUN_CLEAN_ENV = 1 << 2, /* drop secrets, point caches below TMPDIR (DESIGN 15.6) */
	LAPBELT_RUN_NO_USERNS = 1 << 3, /* act as if user namespaces were not to be had */
	LAPBELT_RUN_NO_LANE = 1 << 4,   /* load no library into programs to make them faster */
	LAPBELT_RUN_NESTABLE = 1 << 5,  /* judge what any policy inside may deny some of, too */
};

/* Where this system is not what the policy says. What it points to lives as long as the call. */
struct lapbelt_gap {
	/*
	 * "content": a denied read, write, execution, connection or signal gets through;
	 * "metadata": something that is denied can be seen; "stricter": something that is allowed
	 * is refused. "scope", before the others: TEXT says why what is not shared is less private
	 * than asked for. "limit", after them: TEXT says which limit is only approximated, or not
	 * enforced, and why.
	 */
	const char *kind;
	const char *text;
	const char *file; /* where the rule stands; "": about the whole policy */
	unsigned line;
	int only_rule; /* it is about what that rule decides; 0: the rule is an example */
	/* The operations whose requests are answered otherwise; NULL-terminated, may be empty. */
	const char *const *operations;
	const char *const *paths; /* only about these; NULL: wherever. NULL-terminated */
	int below_paths;          /* and about what is below them */
};

/*
 * What a run may use up; 0: as much as without. None can be above a limit that the caller is under
 * itself (-LAPBELT_OS). They hold before the command's first instruction, are inherited, and nobody
 * inside can raise them.
 */
struct lapbelt_limits {
	uint64_t cpu; /* seconds of processor time of each process: SIGXCPU, a second later SIGKILL
		       */
	uint64_t
		memory; /* bytes: of all by a cgroup, else of each process what it does not share */
	uint64_t processes;  /* and threads, all together: EAGAIN */
	uint64_t open_files; /* of each process: EMFILE */
	uint64_t file_size;  /* bytes of each file that is written: SIGXFSZ, EFBIG */
	/*
	 * Seconds by the clock, of the run. Then the command gets SIGTERM, and two seconds later
	 * everything SIGKILL: -LAPBELT_TIME.
	 */
	uint64_t time;
};

struct lapbelt_run_options {
	size_t size;         /* sizeof(struct lapbelt_run_options) */
	unsigned share;      /* enum lapbelt_scope */
	unsigned flags;      /* enum lapbelt_run_flags */
	const int *pass_fds; /* descriptors >= 3 the command keeps */
	size_t n_pass_fds;
	/*
	 * How it ended is written here, without raising SIGPIPE: "exit N\n", N as *RET_STATUS, or
	 * "failed N\n", N as lapbelt_exit_code(). 0 or less: nowhere.
	 */
	int status_fd;
	/* Called before the command starts for every gap. */
	void (*gap)(void *context, const struct lapbelt_gap *gap);
	void *gap_context;
	struct lapbelt_limits limits;
};

#define LAPBELT_RUN_OPTIONS_INIT                                                                   \
	{                                                                                          \
		sizeof(struct lapbelt_run_options), 0, 0, NULL, 0, -1, NULL, NULL,                 \
		{                                                                                  \
			0, 0, 0, 0, 0, 0                                                           \
		}                                                                                  \
	}

/*
 * Runs ARGV (NULL-terminated; PATH is searched) under POLICY and waits for it. The policy holds
 * before the command's first instruction and for all its descendants; none of them outlives the
 * call. *RET_STATUS is the command's exit status, or 128 + signal.
 *
 * While it waits, signals to this process whose default effect is to end, stop or continue it are
 * passed on to the command instead (not SIGKILL and SIGSTOP, nor those of faults). In a program
 * with a single thread these are all; in one with more, those that it does not handle, ignore or
 * (in the calling thread) block: these work as ever. One run at a time: another is -LAPBELT_USAGE.
 *
 * -LAPBELT_ENDED: it ran, but somebody killed the process that keeps it together (or the system
 * failed us); all of it was killed. -LAPBELT_TIME: it ran until its limit on time. Any other error:
 * nothing was run.
 */
LAPBELT_API int lapbelt_run(const struct lapbelt_policy *policy, char *const *argv,
			    const struct lapbelt_run_options *options, int *ret_status,
			    struct lapbelt_error *error);

/*
 * What the kernel will be told, and what that means for each rule, as text for people. Probes this
 * machine.
 */
LAPBELT_API int lapbelt_plan(const struct lapbelt_policy *policy,
			     const struct lapbelt_run_options *options, char **ret_text,
			     struct lapbelt_error *error);

/* The same as JSON, with the keys of lapbelt-plan(1). */
LAPBELT_API int lapbelt_plan_json(const struct lapbelt_policy *policy,
				  const struct lapbelt_run_options *options, char **ret_json,
				  struct lapbelt_error *error);

/* ---- This machine ---- */

/* What a probe has found out by trying. */
struct lapbelt_finding {
	const char *name;  /* one of those of lapbelt-doctor(1) */
	const char *value; /* for programs: a word, a number or a version */
	int good;          /* nothing is lost by it */
	const char *text;  /* one line, no trailing dot */
	const char *help;  /* what would make it better; "": nothing known, or nothing needed */
};

/*
 * Calls EACH for what this machine offers to a run, in order: what it gets is valid during the
 * call. *RET_ENFORCED: can the default policy be enforced here, without a content gap? Tries
 * namespaces, mounts and filters in children that end at once.
 */
LAPBELT_API int lapbelt_doctor(void (*each)(void *context, const struct lapbelt_finding *finding),
			       void *context, int *ret_enforced, struct lapbelt_error *error);

LAPBELT_API void lapbelt_free(void *p);
LAPBELT_API const char *lapbelt_version(void);

#ifdef __cplusplus
}
#endif

#endif
