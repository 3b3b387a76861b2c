/* SPDX-License-Identifier: Apache-2.0 */
/* guard: one test of something else than the path, ready to be asked of a request. */
#ifndef POLICY_GUARD_H
#define POLICY_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/dfa.h"
#include "policy/policy.h"

/* The part of a request that a filter looks at. */
enum attribute {
	ATTRIBUTE_PATH,
	ATTRIBUTE_XATTR,
	ATTRIBUTE_LOCAL,
	ATTRIBUTE_REMOTE,
	/* Numbers. */
	ATTRIBUTE_VNODE_TYPE,
	ATTRIBUTE_FILE_MODE,
	ATTRIBUTE_TARGET,
	ATTRIBUTE_SIGNAL,
	ATTRIBUTE_DEVICE_MAJOR,
	ATTRIBUTE_DEVICE_MINOR,
	ATTRIBUTE_SOCKET_DOMAIN,
	ATTRIBUTE_SOCKET_TYPE,
	ATTRIBUTE_SOCKET_PROTOCOL,
	/* This and above: the facts of filter (attribute - ATTRIBUTE_FACT). */
	ATTRIBUTE_FACT,
};

struct guard {
	enum attribute attribute;
	enum match match;
	int64_t number;                   /* MATCH_INTEGER, MATCH_BITS, MATCH_BOOL */
	struct endpoint_pattern endpoint; /* MATCH_ENDPOINT */
	const struct dfa *dfa;            /* patterns; a state's label is 1 where they match */
};

enum attribute filter_attribute(enum filter_id filter);

/* The filter that looks at what GUARD does. */
enum filter_id guard_filter(const struct guard *guard);

/* Does ASCII case not count in what FILTER compares (SBPL.md 3.2)? */
bool filter_folds_case(enum filter_id filter, enum target target);

/* Is MATCH one that text decides: literal, prefix, subpath, regex, string? */
bool match_is_pattern(enum match match);

/* Does GUARD ask what no request of TARGET's kernel ever carries (filter_is_darwin_only())? */
bool guard_is_absent(const struct guard *guard, enum target target);

bool guard_holds(const struct guard *guard, const struct request *request, enum target target);

#endif
