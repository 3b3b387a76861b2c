/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane: what the filter and the library in the process (src/lane) agree on. Nothing else may be in
 * here: the library is built without a C library.
 *
 * A call of the lane carries a mark in its sixth argument, which none of them uses. The mark is no
 * secret: whoever sets it gets what the Landlock floor grants, and no more (plan/lane.c).
 */
#ifndef PLAN_LANE_H
#define PLAN_LANE_H

#include <stdint.h>

#define LANE_ARGUMENT  5
#define LANE_MARK      0x91c04fe57d1ea6b3
#define LANE_MARK_LOW  ((uint32_t)LANE_MARK)
#define LANE_MARK_HIGH ((uint32_t)(LANE_MARK >> 32))

/*
 * How a process learns what the lane serves: landlock_create_ruleset(2) without attributes and with
 * these flags, which no kernel knows, fails with this error.
 */
#define LANE_READS_FLAGS  0x6c617063
#define LANE_WRITES_FLAGS 0x6c617064
#define LANE_NAMES_FLAGS  0x6c617065
#define LANE_ERRNO        114 /* EALREADY */

#endif
