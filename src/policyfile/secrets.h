/* SPDX-License-Identifier: Apache-2.0 */
/* secrets: the rows of secrets.def as data. */
#ifndef POLICYFILE_SECRETS_H
#define POLICYFILE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"

enum secret_base {
	SECRET_HOME,
	SECRET_CONFIG,
	SECRET_DATA,
	SECRET_STATE,
	SECRET_RUNTIME,
	SECRET_ROOT,
	SECRET_BASES
};

struct secret {
	unsigned systems; /* 1 << enum target */
	enum secret_base base;
	const char *name;
};

struct secret_variable {
	const char *variable;
	const char *name; /* below the path that the variable holds; "": the path itself */
};

extern const struct secret policyfile_secrets[];
extern const size_t policyfile_n_secrets;
extern const struct secret_variable policyfile_secret_variables[];
extern const size_t policyfile_n_secret_variables;

static inline bool secret_is_on(const struct secret *secret, enum target target)
{
	return secret->systems & 1u << target;
}

/*
 * Where BASE usually is: in front of the name, and after the home directory unless it starts with a
 * slash. NULL: nowhere that can be told.
 */
const char *policyfile_secret_base(enum secret_base base);

#endif
