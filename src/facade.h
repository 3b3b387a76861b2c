/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facade: what the files behind lapbelt.h share. They alone see both the public header and the
 * layers; they translate types and decide nothing.
 */
#ifndef FACADE_H
#define FACADE_H

#include <lapbelt.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"

struct lapbelt_policy {
	struct policy *compiled;
};

/* Copies FROM into TO (which may be NULL). Returns -FROM->code. */
int facade_fail(struct lapbelt_error *to, const struct err *from);

/*
 * What BUF has becomes *RET, which the caller frees; where R, or memory, says that it failed, as
 * facade_fail() of E. BUF is empty after.
 */
int facade_text(int r, struct buf *buf, struct err *e, char **ret, struct lapbelt_error *error);

/*
 * Copies the caller's option structure FROM, whose first member is its size, over the defaults in
 * TO. An older caller's is shorter; a newer one's may be longer if what we do not know is zero.
 */
int facade_take_options(void *to, size_t to_size, const void *from, struct err *e);

/* The system that FROM means. 0 or -ERR_USAGE. */
int facade_take_target(enum lapbelt_target from, enum target *ret, struct err *e);

enum {
	FACADE_FACTS_MAX = 64
};

/* A request and what it points to; the words it was made from must live as long. */
struct facade_request {
	struct request request;
	struct fact facts[FACADE_FACTS_MAX];
};

/* What a filter is called, and what it takes. */
struct facade_filter {
	const char *name;
	enum facade_argument {
		FACADE_SUBPATH,
		FACADE_LITERAL,
		FACADE_PREFIX,
		FACADE_ADDRESS,
		FACADE_INTEGER,
		FACADE_BITFIELD,
		FACADE_STRING,
		FACADE_BOOL
	} argument;
};

extern const struct facade_filter facade_filters[FILTER_COUNT];

/* What FILTER calls NUMBER, or NULL. */
const char *facade_constant(enum filter_id filter, int64_t number);

/* The addresses that * stands for: as the socket's own end, and as the other one. */
extern const unsigned char facade_any_interface[4], facade_any_host[4];

/* The request that OPERATION and ARGUMENTS, as of lapbelt_decide(), name. 0 or -ERR_USAGE. */
int facade_request(const char *operation, const char *const *arguments, struct facade_request *ret,
		   struct err *e);

/*
 * The reverse: *RET are the words for REQUEST, the operation first, then a NULL, all in ARENA.
 * REQUEST is one that facade_request() can make. False: no memory.
 */
bool facade_words(const struct request *request, struct arena *arena, const char *const **ret);

/* What the public header says of DECISION. */
void facade_decision(const struct decision *decision, struct lapbelt_decision *ret);

#endif
