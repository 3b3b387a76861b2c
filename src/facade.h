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

#endif
