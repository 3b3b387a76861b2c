/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sbt: reads tables of policy tests, lapbelt-test(5).
 *
 *	=== last match wins
 *	(version 1)
 *	(deny default)
 *	(allow file-read* (subpath "/w"))
 *	---
 *	file-read-data /w/x         => allow 3
 *	@darwin file-read-data /W/x => allow
 *
 * Everything lives in the arena of the caller.
 */
#ifndef CLI_SBT_H
#define CLI_SBT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
	SBT_PARAMS_MAX = 64, /* of one case */
};

/* Whose fine print a case or row is about. */
enum sbt_target {
	SBT_LINUX = 1 << 0,
	SBT_DARWIN = 1 << 1,
	SBT_ALL = SBT_LINUX | SBT_DARWIN,
};

enum sbt_rule {
	SBT_RULE_ANY,     /* the row does not say which rule decides */
	SBT_RULE_BUILTIN, /* none of the profile's */
	SBT_RULE_LINE,    /* the one at rule_line (of rule_file, or of the profile) */
};

struct sbt_row {
	unsigned line;
	unsigned targets; /* enum sbt_target */
	const char *text; /* as written */

	bool is_error; /* the profile must not compile: */
	unsigned error_line, error_column;
	const char *message;

	char **words; /* operation and arguments, NULL-terminated */
	bool allow;
	enum sbt_rule rule;
	const char *rule_file; /* NULL: the profile itself */
	unsigned rule_line;
};

struct sbt_param {
	const char *key, *value;
};

struct sbt_case {
	unsigned line;
	const char *title;
	unsigned targets;
	struct sbt_param *params;
	size_t n_params, cap_params;
	struct str profile;
	struct sbt_row *rows;
	size_t n_rows, cap_rows;
};

struct sbt_file {
	struct sbt_case *cases;
	size_t n, cap;
};

/*
 * Reads TEXT, called NAME in messages. 0, or -ERR_POLICY with the place in *E: something makes no
 * sense, or there is no case.
 */
int sbt_parse(struct str text, const char *name, struct arena *arena, struct sbt_file *ret,
	      struct err *e);

#endif
