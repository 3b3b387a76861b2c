/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value: what a profile computes with. Every value read from text remembers
 * its place, so any form can be named in a message; line 0 means made while
 * evaluating. Values live in the evaluation's arena and are never freed alone.
 *
 * Pairs and strings read from text never change, nor does code that was made
 * by computing (it is copied: machine_freeze()). Other pairs may, so a list may
 * be circular: whoever walks one charges steps.
 */
#ifndef SBPL_VALUE_H
#define SBPL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "policy/policy.h"
#include "sbpl/lex.h"

enum value_type {
	VALUE_NIL,
	VALUE_NOTHING, /* what define, allow, ... return */
	VALUE_BOOL,
	VALUE_INTEGER,
	VALUE_CHAR,
	VALUE_STRING,
	VALUE_SYMBOL,
	VALUE_PAIR,
	VALUE_VECTOR,
	VALUE_PROMISE,
	VALUE_BUILTIN,
	VALUE_CLOSURE,
	VALUE_MACRO,
	VALUE_SYNTAX,
	VALUE_CONTINUATION,
	VALUE_ENVIRONMENT,
	VALUE_PORT,
	VALUE_EOF, /* what reading says at the end of a port */
	/* The SBPL layer's. */
	VALUE_OP,          /* OP_COUNT: a name without effect any more */
	VALUE_FILTER_FORM, /* `literal`, `remote`, ...: applied, it makes a filter */
	VALUE_FILTER,
	VALUE_CONSTANT,      /* `tcp`, `DIRECTORY`, `SIGKILL`, `EACCES`, ... */
	VALUE_MODIFIER_NAME, /* `report`: (with report) makes a modifier */
	VALUE_MODIFIER,
	VALUE_TYPES,
};

struct value {
	unsigned type : 8; /* enum value_type */
	unsigned is_mutable : 1;
	unsigned source : 23; /* of the machine's sources; where line is not 0 */
	struct place place;
	union {
		int64_t number; /* BOOL INTEGER CHAR */
		struct str string;
		struct symbol *symbol;
		struct {
			struct value *car, *cdr;
		};
		struct {
			struct value **items;
			size_t n_items;
		};
		struct promise *promise;
		const struct builtin *builtin;
		struct closure *closure; /* CLOSURE MACRO */
		const struct syntax *syntax;
		const struct continuation *continuation;
		struct scope *scope;   /* ENVIRONMENT */
		struct reader *reader; /* PORT; NULL: closed */
		enum op op;
		const struct filter_form *form;
		struct {
			const struct expr *expr;
			uint32_t height; /* of the expression */
			uint32_t tests;  /* in it, a shared part counted each time */
		};
		const struct constant *constant;
		enum modifier_id modifier_name;
		const struct modifier *modifier;
	};
};

/* Names differ without regard to ASCII case; `name` is the spelling met first. */
struct symbol {
	struct str name;
	struct value *global;     /* NULL: unbound */
	struct value *later;      /* what (version N) binds it to */
	struct value *properties; /* ((key . value) ...), or NULL */
	struct symbol *next;
};

struct binding {
	struct symbol *symbol;
	struct value *value; /* NULL: not assigned yet (letrec) */
	struct binding *next;
};

/* A NULL scope is the global one. */
struct scope {
	struct scope *outer;
	struct binding *first;
};

struct closure {
	struct value *parameters; /* a list, a dotted list or one symbol */
	struct value *body;
	struct scope *scope;
	struct symbol *name; /* NULL: anonymous */
};

struct promise {
	struct value *expr;
	struct scope *scope;
	struct value *value; /* NULL: not forced yet */
};

static inline bool is_type(const struct value *v, enum value_type type)
{
	return v->type == (unsigned)type;
}

static inline bool is_true(const struct value *v)
{
	return !is_type(v, VALUE_BOOL) || v->number;
}

static inline bool is_symbol(const struct value *v, const struct symbol *symbol)
{
	return is_type(v, VALUE_SYMBOL) && v->symbol == symbol;
}

/* Is V the symbol NAME? */
bool value_is_named(const struct value *v, const char *name);

/* The word messages use for a value's type. */
const char *value_type_name(const struct value *v);

/* Same object, or equal numbers, characters, symbols, booleans. */
bool value_eqv(const struct value *a, const struct value *b);

/* ASCII only, as symbols compare. */
bool name_equal(struct str a, struct str b);

/* Appends V as `write` (or, for a string, as `display`) shows it; long values are cut. */
struct buf;
void value_print(struct buf *buf, const struct value *v, bool quoted);

#endif
