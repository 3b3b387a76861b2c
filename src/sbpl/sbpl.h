/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sbpl: Apple's Sandbox Profile Language, text in, rules out.
 *
 * The language is a small Scheme (reference/SBPL.md 1): a reader with source
 * positions (lex, read), an evaluator with bounds on steps, depth, memory and
 * output (eval), Scheme procedures (builtin), and the SBPL layer whose forms
 * enter rules into a policy_builder (profile). Every operation, filter and
 * modifier is a bound symbol.
 *
 * Pure: files are read only through the import callback.
 */
#ifndef SBPL_SBPL_H
#define SBPL_SBPL_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/policy.h"

struct sbpl_param {
	struct str key, value;
};

/* A piece of profile text. NAME is what spans say: a path, "<input string>" for -p. */
struct sbpl_source {
	const char *name;
	struct str text;
	enum origin origin;
	bool ours; /* comes with us or the system, see struct rule */
};

/*
 * Fetches the text that `(import "PATH")` names; FROM is the importing source's name. Copies into
 * ARENA. 0, or < 0 with *E set ("unable to open PATH").
 */
typedef int sbpl_import(void *context, struct str path, const char *from, struct arena *arena,
			struct sbpl_source *ret, struct err *e);

struct sbpl_limits {
	unsigned steps; /* evaluated forms */
	unsigned depth; /* of nesting, in the text and in evaluation */
	size_t memory;  /* bytes while evaluating, what rules point to included */
	unsigned imports;
	unsigned rules;
};

#define SBPL_LIMITS_DEFAULT                                                                        \
	((struct sbpl_limits){.steps = 10000000,                                                   \
			      .depth = 2000,                                                       \
			      .memory = 96u << 20,                                                 \
			      .imports = 200,                                                      \
			      .rules = 100000})

struct sbpl_options {
	enum target target;
	const struct sbpl_param *params; /* -D; the first of equal keys counts */
	size_t n_params;
	sbpl_import *import; /* NULL: every import fails */
	void *import_context;
	struct sbpl_limits limits;
	struct policy_limits policy_limits;
};

enum {
	SBPL_ERRORS_MAX = 20
};

/* Errors of one compilation: reading goes on at the next top-level form. */
struct sbpl_errors {
	struct err list[SBPL_ERRORS_MAX];
	size_t n;
};

/*
 * Compiles the sources in order into one policy. The first ORIGIN_PROFILE source must declare
 * (version N); an ORIGIN_RUNTIME source is evaluated alone, its rules marked. On any error nothing
 * comes out: < 0 is the code of the first error. The policy owns copies of all texts it points to.
 */
int sbpl_compile(const struct sbpl_source *sources, size_t n, const struct sbpl_options *options,
		 struct policy **ret, struct sbpl_errors *errors);

/*
 * What NAME, an operation's name of earlier systems, is called now; "": nothing, rules about it are
 * dropped. NULL: it is no such name.
 */
const char *sbpl_present_name(struct str name);

#endif
