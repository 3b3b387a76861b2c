/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args: what subcommands are told, and how options become policies and runs. A subcommand is a
 * struct command whose option table picks rows from below.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <lapbelt.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "cli/opt.h"

enum profile_source {
	SOURCE_DEFAULT, /* the default policy of `lapbelt run` */
	SOURCE_FILE,
	SOURCE_TEXT,
	SOURCE_NAME,
};

/* Which policy is meant. */
struct policy_name {
	enum profile_source source;
	const char *profile; /* file, text or name */
};

struct args {
	struct arena arena;  /* of what follows */
	const char *command; /* its name */
	bool implied;        /* run: the first word was no command, and is to be run */
	bool help;
	enum profile_source source;
	const char *profile; /* file, text or name */
	enum lapbelt_target target;
	struct lapbelt_param *params;
	size_t n_params, cap_params;
	const char **write; /* NULL-terminated; NULL: none */
	size_t n_write, cap_write;
	int *pass_fds;
	size_t n_pass_fds, cap_pass_fds;
	int status_fd;
	struct lapbelt_limits limits;
	unsigned run_flags;          /* enum lapbelt_run_flags */
	bool like_exec;              /* decide, plan: as `lapbelt exec` would apply the profile */
	bool no_runtime;             /* exec */
	bool live;                   /* test */
	bool json;                   /* plan, doctor */
	bool no_looser;              /* diff */
	struct policy_name named[2]; /* diff: those that options name */
	size_t n_named;
	bool strict;        /* check: warnings count */
	const char **allow; /* check: kinds of warnings not to give; NULL: none */
	size_t n_allow, cap_allow;
};

struct command {
	const char *name;
	const char *operands; /* for the usage line */
	const char *help;     /* one line */
	const struct opt *const *options;
	/* OPERANDS is NULL-terminated. Returns the exit status. */
	int (*run)(struct args *args, char **operands);
};

/* All of them, NULL-terminated. */
extern const struct command *const commands[];

extern const struct command command_check, command_decide, command_diff, command_doctor,
	command_prove, command_exec, command_explain, command_plan, command_profile, command_run,
	command_test;

/* Parses ARGV (its first word is the command's name), runs the command, returns the exit status. */
int command_main(const struct command *command, char **argv);

/* ---- Option rows ---- */

extern const struct opt opt_file, opt_text, opt_name, opt_param, opt_write, opt_target, opt_gaps,
	opt_limit, opt_pass_fd, opt_status_fd, opt_no_userns, opt_no_lane, opt_nestable,
	opt_no_runtime, opt_like_exec, opt_live, opt_strict, opt_allow, opt_json, opt_help_text;

/* ---- From arguments to work ---- */

/*
 * Makes the policy that WORD means the one that the options name: a file, - for standard input, or
 * `default`.
 */
void args_take_policy(struct args *args, const char *word);

/* Compiles the policy the options name; FLAGS: enum lapbelt_policy_flags. 0, or an exit status. */
int args_policy(const struct args *args, unsigned flags, struct lapbelt_policy **ret);

/*
 * Warns of paths in ARGUMENTS, those of a request, that lie behind a link of macOS, if the policy
 * is one for macOS: what is there has another path, so no request is about this one.
 */
void args_warn_of_links(const struct args *args, char *const *arguments);

/* The options of a run that shares SHARE (enum lapbelt_scope). Content gaps go to standard error.
 */
struct lapbelt_run_options args_run_options(struct args *args, unsigned share);

/* Tells --status-fd that nothing was run because of exit status STATUS. Returns STATUS. */
int args_not_run(const struct args *args, int status);

#endif
