/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values: what the parts of a request besides its path can be, as far as some guards tell them
 * apart: for each set of guards that can hold together, the simplest value with which they do.
 *
 * The values are those that requests really have (a process that is a child is no outsider, a
 * socket has one family), and that lapbelt_decide() can be told.
 */
#ifndef POLICY_VALUES_H
#define POLICY_VALUES_H

#include "base/arena.h"
#include "policy/guard.h"
#include "policy/policy.h"

/* Attributes that come together are one part. */
enum part {
	PART_VNODE_TYPE,
	PART_FILE_MODE,
	PART_TARGET,
	PART_SIGNAL,
	PART_DEVICE,
	PART_SOCKET,
	PART_LOCAL,
	PART_REMOTE,
	PART_XATTR,
	/* This and above: the facts of filter (part - PART_FACT). */
	PART_FACT,
};

enum part part_of(enum attribute attribute);

/* What a socket is: the parts SOCKET, LOCAL and REMOTE of a request go together. */
enum connection {
	CONNECTION_NONE, /* no socket, or one without addresses */
	CONNECTION_TCP4,
	CONNECTION_UDP4,
	CONNECTION_TCP6,
	CONNECTION_UDP6,
	CONNECTION_UNIX,
	CONNECTION_COUNT
};

bool connection_has(enum part part);

/*
 * Gives REQUEST what a socket of CONNECTION has and nobody asked for. Returns what that costs, and
 * what it costs to say what kind of connection it is.
 */
unsigned connection_complete(enum connection connection, bool has_path, struct request *request);

/* The operations that are about the end that is the socket's own. */
bool op_is_about_local_end(enum op op);
bool op_is_below(enum op op, enum op ancestor);

struct value {
	bool present;
	struct str text;
	int64_t numbers[3]; /* one; of a device two, of a socket three */
	struct endpoint end;
	unsigned cost; /* the simplest value's is 0 */
};

/* Of a value that takes one word to say; the rest of a cost says which words are shorter. */
enum {
	VALUE_WORD = 1000
};

/* What the values of a part are, given some guards that ask for it. */
struct values {
	enum part part;
	bool several;       /* any number of the values may be there at once */
	struct value *list; /* cheapest first */
	size_t n;
	size_t n_words;  /* of a set of values */
	uint64_t *holds; /* [guard * n_words]: the set of values with which it holds */
};

struct values_question {
	enum part part;
	enum op op;
	enum connection connection;
	const struct guard *const *guards;
	size_t n;
	enum target target;
	bool absent;   /* the request does not have this part */
	size_t *steps; /* what is left of them: struct witness_options */
};

/* Fills *RET, in ARENA. -ERR_LIMIT. */
int values_find(const struct values_question *question, struct arena *arena, struct values *ret,
		struct err *e);

/*
 * Puts VALUE into REQUEST. FACT is where a fact is put: the request's next one (the caller sets
 * request->facts).
 */
void value_apply(const struct value *value, enum part part, struct request *request,
		 struct fact *fact);

#endif
