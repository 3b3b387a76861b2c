/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facade: what the files behind lapbelt.h share. They alone see both the public header and the
 * layers; they translate types and decide nothing.
 */
#ifndef FACADE_H
#define FACADE_H

#include <lapbelt.h>

#include "base/err.h"
#include "policy/policy.h"

struct lapbelt_policy {
	struct policy *compiled;
};

/* Copies FROM into TO (which may be NULL). Returns -FROM->code. */
int facade_fail(struct lapbelt_error *to, const struct err *from);

enum {
	FACADE_FACTS_MAX = 64
};

/* A request and what it points to; the words it was made from must live as long. */
struct facade_request {
	struct request request;
	struct fact facts[FACADE_FACTS_MAX];
};

/* The request that OPERATION and ARGUMENTS, as of lapbelt_decide(), name. 0 or -ERR_USAGE. */
int facade_request(const char *operation, const char *const *arguments, struct facade_request *ret,
		   struct err *e);

#endif
