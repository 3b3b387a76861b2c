/* SPDX-License-Identifier: Apache-2.0 */
/* What operations have, asked one by one: for those who check columns. */
#ifndef HAS_H
#define HAS_H

#include <stdbool.h>

#include "policy/policy.h"

/* Does OP, or what is asked in its stead, take FILTER? */
static inline bool op_finds(enum op op, enum filter_id filter)
{
	for (unsigned i = 0; i < OP_COUNT; i++) {
		enum op below = (enum op)i;

		/* What is asked itself has nothing from those below it. */
		while (below != op && below != OP_DEFAULT && !op_is_asked(op_parent(below)))
			below = op_parent(below);
		if (below == op && op_takes((enum op)i, filter))
			return true;
	}
	return false;
}

static inline bool op_has(enum op op, enum filter_id filter)
{
	static unsigned char known[OP_COUNT][FILTER_COUNT]; /* 1 no, 2 yes */

	if (!known[op][filter])
		known[op][filter] = op_finds(op, filter) ? 2 : 1;
	return known[op][filter] == 2;
}

#endif
