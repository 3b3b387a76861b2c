/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine: a Scheme evaluator that never uses the C stack for the profile's own
 * nesting. It is in one of three modes: evaluate an expression, apply a
 * procedure, or return a value to the topmost frame. A frame is what waits for
 * a value. A tail call pushes nothing; every other nesting costs a frame, and
 * frames are bounded by the depth limit. Every turn costs a step, and so does
 * each turn of a loop over the profile's data inside a builtin.
 *
 * Functions return 0, or < 0 with the machine's error set.
 */
#ifndef SBPL_MACHINE_H
#define SBPL_MACHINE_H

#include "base/arena.h"
#include "base/err.h"
#include "sbpl/sbpl.h"
#include "sbpl/value.h"

struct machine;

/*
 * A procedure in C. It answers with machine_give(), machine_apply() or machine_eval(); ARGS stays
 * valid until then.
 */
typedef int builtin_function(struct machine *m, struct value **args, size_t n);

enum {
	ANY_NUMBER = 255
};

struct builtin {
	const char *name;
	builtin_function *function;
	uint8_t min, max; /* arguments */
	uint8_t variant;  /* for rows that share a function: m->running->variant */
};

/* A special form. FORM is a proper list with min to max operands. */
typedef int syntax_function(struct machine *m, struct value *form, struct scope *scope);

struct syntax {
	const char *name;
	syntax_function *function;
	uint8_t min, max;
};

struct frame;
typedef int resume_function(struct machine *m, const struct frame *frame, struct value *value);

struct frame {
	resume_function *resume;
	struct value *form; /* what messages speak of */
	struct value *rest; /* expressions still to come */
	struct scope *scope;
	size_t base; /* in the operand stack */
	void *data;  /* the resume function's own */
	enum {
		FRAME_PLAIN,
		FRAME_HANDLER, /* of (catch ...) */
		FRAME_WALL,    /* no handler below it is asked: a text that is read */
	} kind;
};

struct text_source {
	const char *name;
	struct str text;
	bool ours;
};

enum {
	SYMBOL_BUCKETS = 4096,
	SOURCE_MASK = (1 << 23) - 1,
	COMPARISONS_MAX = 1 << 26,
};

/* What call/cc hands out: all that waited for its value. */
struct continuation {
	struct frame *frames;
	size_t n_frames;
	struct value **operands;
	size_t n_operands;
	struct rule_context *context;
};

struct machine {
	struct arena *arena;
	struct sbpl_limits limits;
	unsigned steps;
	struct err err;
	bool is_final;               /* err: not for (catch ...) */
	struct symbol *unbound;      /* err: the name without a value; NULL: something else */
	struct scope *unbound_scope; /* where it was looked up */
	size_t comparisons;          /* of bytes of names, for hints: those left */

	enum {
		MODE_EVAL,   /* expr in scope */
		MODE_APPLY,  /* operands[base] to those above it */
		MODE_RETURN, /* value */
	} mode;
	struct value *expr, *value;
	struct scope *scope;
	size_t base;
	struct value *at; /* the innermost form with a place */
	const struct builtin *running;

	struct frame *frames;
	size_t n_frames, cap_frames;
	struct value **operands;
	size_t n_operands, cap_operands;

	struct symbol *symbols[SYMBOL_BUCKETS];
	struct text_source *sources; /* [0] is no source */
	size_t n_sources, cap_sources;
	struct value *nil, *nothing, *yes, *no, *eof;
	struct {
		struct value *quote, *cons, *append, *apply, *cdr, *list_to_vector;
	} core;

	/* The SBPL layer: its state, and what applying a filter form or a constant means. */
	struct profile *profile;
	struct rule_context *context; /* (with-filter ...) and its kin in force */
	int (*make_filter)(struct machine *m, const struct value *callee, struct value **args,
			   size_t n);
	/* FORM, in a body but not its last, gave VALUE. */
	int (*discarded)(struct machine *m, const struct value *form, const struct value *value);
	/* The frames are others than before: a continuation, catch, or the end of a text. */
	void (*moved)(struct machine *m);
};

/* Binds the syntax and the Scheme procedures. ARENA's limit is the memory bound. */
int machine_init(struct machine *m, struct arena *arena, const struct sbpl_limits *limits);

/* NAME outlives the machine. Returns the source's index, or < 0. */
int machine_add_source(struct machine *m, struct text_source source);

/* Runs until no frame waits. After an error the frames are as they were when it happened. */
int machine_run(struct machine *m);

/* ---- Answers ---- */

int machine_give(struct machine *m, struct value *v);
int machine_give_bool(struct machine *m, bool b);
int machine_give_integer(struct machine *m, int64_t number);
int machine_eval(struct machine *m, struct value *expr, struct scope *scope);
int machine_eval_body(struct machine *m, struct value *body, struct scope *scope);
/* ARGS are copied. */
int machine_apply(struct machine *m, struct value *callee, struct value **args, size_t n);
int machine_push(struct machine *m, struct frame frame);

/* V, with copies of the pairs that could change: safe to evaluate. */
int machine_freeze(struct machine *m, struct value *v, struct value **ret);

/* The innermost (catch ...) of the same text, or NULL. */
const struct frame *machine_handler(const struct machine *m);

/* Goes on with what that says; false: there is none. */
bool machine_catch(struct machine *m);

/*
 * Adds to an error about an unbound variable which name was meant, if one is near. Looks at
 * thousands of names, until it has compared COMPARISONS_MAX bytes: for errors that are reported.
 */
void machine_hint_name(struct machine *m);

/* Nothing waits any more above the first N frames. */
void machine_drop_frames(struct machine *m, size_t n);

/* ---- Errors and bounds ---- */

/* At the innermost form with a place. */
int machine_fail(struct machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
int machine_fail_at(struct machine *m, const struct value *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int machine_limit(struct machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
int machine_no_memory(struct machine *m);
/* "expected WANT, got ..." */
int machine_wrong_type(struct machine *m, const char *want, const struct value *got);
/* NAME has no value in SCOPE. */
int machine_unbound(struct machine *m, const struct value *name, struct scope *scope);
/* After a failure because of the type of GOT: how that value most often comes about. */
void machine_hint(struct machine *m, const struct value *got);
struct span machine_span(const struct machine *m, const struct value *v);
/* V has a place: messages are about it from now on. */
void machine_look_at(struct machine *m, struct value *v);
int machine_charge(struct machine *m, size_t steps);

enum {
	NEST_MAX = 500,      /* C functions that walk trees recurse no deeper than this */
	BYTES_PER_STEP = 16, /* what working through a string costs */
};

/* ---- Values ---- */

/* All of these: NULL is out of memory, for which the caller returns machine_no_memory(). */
struct value *machine_new(struct machine *m, enum value_type type);
struct value *machine_integer(struct machine *m, int64_t number);
struct value *machine_char(struct machine *m, unsigned char c);
struct value *machine_string(struct machine *m, struct str s); /* borrows */
struct value *machine_cons(struct machine *m, struct value *car, struct value *cdr);
struct value *machine_list(struct machine *m, struct value **items, size_t n);
/* (PROCEDURE A B), or (PROCEDURE A) where B is NULL. */
struct value *machine_form(struct machine *m, struct value *procedure, struct value *a,
			   struct value *b);
/* Answers with a port that reads TEXT, which it borrows. */
int machine_give_port(struct machine *m, struct str text);
struct value *machine_symbol_value(struct machine *m, struct symbol *symbol);
static inline struct value *machine_bool(struct machine *m, bool b)
{
	return b ? m->yes : m->no;
}

struct symbol *machine_intern(struct machine *m, struct str name);
int machine_bind_name(struct machine *m, const char *name, struct value *value);
int machine_bind_builtins(struct machine *m, const struct builtin *table, size_t n);
int machine_bind_syntax(struct machine *m, const struct syntax *table, size_t n);

/*
 * Counts the pairs of LIST, each of which costs a step. *RET_END is what stands behind the last
 * one:
 * () if LIST is a proper list, a pair if it runs in a circle.
 */
int machine_measure(struct machine *m, const struct value *list, size_t *n,
		    const struct value **ret_end);

/* Fails because of such a list. */
int machine_endless(struct machine *m);

/* Copies a proper list into an array; each element costs a step. */
int machine_items(struct machine *m, const struct value *list, struct value ***ret, size_t *n);

/* ---- Scopes ---- */

struct scope *scope_new(struct machine *m, struct scope *outer); /* NULL: out of memory */
/* Both cost steps for long ways. */
int scope_define(struct machine *m, struct scope *scope, struct symbol *symbol, struct value *v);
/* *RET is where the value is kept, or NULL: unbound. */
int scope_find(struct machine *m, struct scope *scope, struct symbol *symbol, struct value ***ret);

/* ---- The tables, one per file ---- */

int syntax_bind(struct machine *m);
syntax_function syntax_quasiquote;
int lists_bind(struct machine *m);
int numbers_bind(struct machine *m);
int control_bind(struct machine *m);
int ports_bind(struct machine *m);
int strings_bind(struct machine *m);

struct closure *closure_new(struct machine *m, struct value *parameters, struct value *body,
			    struct scope *scope, struct symbol *name);

#endif
