/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers, the same each time: a test begins by setting random_state, to anything but 0. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static uint64_t random_state;

static inline unsigned below(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % n;
}

static inline bool one_in(unsigned n)
{
	return below(n) == 0;
}

#endif
