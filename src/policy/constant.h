/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constant: the words that stand for numbers. Thousands, so without pointers: what has some is
 * written to, page by page, before main().
 */
#ifndef POLICY_CONSTANT_H
#define POLICY_CONSTANT_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

struct constant {
	uint16_t name;   /* in the pool of names */
	uint16_t filter; /* enum filter_id; FILTER_COUNT: the word is the name of an errno */
	int32_t value;
};

/* Those of constants.def, between two kinds that are words of SBPL only: `unix`, and errnos. */
extern const struct constant constants[];
extern const size_t n_constants, first_number, end_numbers;

const char *constant_name(const struct constant *constant);

#endif
