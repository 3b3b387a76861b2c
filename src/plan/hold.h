/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold: mounts in place of a broker (DESIGN 6). Where no listener can be had, all is mounted
 * read-only but for what the floor lets be written. A directory where anything may be made, but for
 * some names, is mounted writable and granted as a whole, and of these names those that are there
 * are mounted over themselves: read-only, or as they are where they only have to stay. All between
 * such a name and the directory is, too, so that it cannot be moved away from its path. What no
 * mount can hold is a gap.
 */
#ifndef PLAN_HOLD_H
#define PLAN_HOLD_H

#include "plan/ask.h"

/*
 * The floor grants the directory PLACE RIGHTS, and of the groups *MIXED some below it. Returns
 * rights to grant besides, because mounts hold what is denied; takes their groups out of *MIXED.
 */
uint32_t hold_directory(struct planner *p, const struct place *place, uint32_t rights,
			unsigned *mixed);

/*
 * The same of reading, where the floor could say no more of PLACE: what is denied and there is
 * hidden.
 */
uint32_t hold_reads(struct planner *p, const struct place *place, unsigned *mixed);

/* Is PLACE a directory of that kind, as far as its own path goes? */
bool hold_is_region(struct planner *p, const struct place *place);

/* ROW, one more of the floor's, has to be mounted writable if it lets something be written. */
void hold_row(struct planner *p, const struct landlock_row *row);

/* After the last row: puts the mounts in order. 0, -ERR_MEMORY, -ERR_GAP: too many. */
int hold_end(struct planner *p, struct err *e);

#endif
