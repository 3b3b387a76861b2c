/* SPDX-License-Identifier: Apache-2.0 */
/* profile: what the files of the SBPL layer share: the state beside the Scheme machine. */
#ifndef SBPL_PROFILE_H
#define SBPL_PROFILE_H

#include "base/map.h"
#include "policy/constant.h"
#include "policy/lint.h"
#include "sbpl/machine.h"

enum {
	VERSION_MAX = 3,
	VERSION_ALL_FOLLOW_DEFAULT = 3 /* operations have no built-in defaults from here on */
};

/* One sbpl_compile(). Rules wait here: they reach the builder only if nothing was wrong. */
struct compiler {
	const struct sbpl_options *options;
	struct sbpl_errors *errors;
	struct arena_pool pool; /* of both arenas */
	struct arena arena;     /* evaluation: values, frames, waiting rules */
	struct arena *out;      /* the builder's: what rules point to */
	struct rule *rules;
	size_t n_rules, cap_rules;
	struct finding *notes; /* for lint; their texts are in `out` */
	size_t n_notes, cap_notes;
	struct map noted;
	unsigned imports;
	int version; /* of the profile; 0: not declared */
	struct span version_at;
};

/* What (with-filter ...) and its kin add to every rule entered while they are in force. */
struct rule_context {
	struct rule_context *outer;
	struct value *filter;   /* or NULL */
	struct value *modifier; /* or NULL */
	struct value **ops;
	size_t n_ops;
	bool is_message_filter; /* rules are checked and go nowhere */
};

/* One environment: all profile sources together, or one runtime source. */
struct profile {
	struct compiler *compiler;
	enum origin origin;
	int version;
	bool has_trace;
	struct symbol *import_path; /* *import-path* */
};

/* Each binds the names of its file. */
int names_bind(struct machine *m);
int filters_bind(struct machine *m);
int rules_bind(struct machine *m);

/* require-all or require-any over filter values; one alone stays itself. NULL: the error is set. */
struct value *filter_combine(struct machine *m, enum expr_kind kind, struct value **filters,
			     size_t n);

/* The operation called NAME, also by an older name; OP_COUNT: none. */
enum op names_find_op(struct str name);

/* A named value of one filter; errno names have FILTER_COUNT. */
/* The constant of FILTER with the same name as C, or NULL. */
const struct constant *constant_for(const struct constant *c, enum filter_id filter);

enum filter_argument {
	ARGUMENT_SUBPATH,
	ARGUMENT_LITERAL,
	ARGUMENT_PREFIX,
	ARGUMENT_ADDRESS,
	ARGUMENT_INTEGER,
	ARGUMENT_BITFIELD,
	ARGUMENT_STRING,
	ARGUMENT_BOOL,
};

/* `path`, `path-prefix`, ...: what a filter's name makes of its arguments. */
struct filter_form {
	const char *name;
	enum filter_id filter;
	enum filter_argument argument;
	enum match match;
};

/* The form whose name is the filter's own. */
const struct filter_form *filter_base_form(enum filter_id filter);

/*
 * FORM gave VALUE, and nothing takes it. IS_TOP: it is a form of the text, rather than of a body.
 * Both: 0, or < 0 with the machine's error set.
 */
int notes_discarded(struct machine *m, const struct value *form, const struct value *value,
		    bool is_top);

/* The machine's error, which HANDLER is going to take. */
int notes_caught(struct machine *m, const struct frame *handler);

/* Binds the older names that VERSION still knows, when all else is bound. */
int names_bind_old(struct machine *m, int version);

/* Scheme text evaluated before a profile: the procedures that are best written in Scheme. */
extern const char prelude_scheme[], prelude_language[];

#endif
