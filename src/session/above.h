/* SPDX-License-Identifier: Apache-2.0 */
/*
 * above: in a chroot Landlock looks further up than names go, to what the root directory is in
 * outside. Where that is mounted inside, too, its row would hold for all that is there.
 */
#ifndef SESSION_ABOVE_H
#define SESSION_ABOVE_H

#include "plan/plan.h"
#include "session/mounts.h"

/*
 * Adds to mounts->above the directories of PLAN's rows that are above the root directory, if they
 * grant what it does not. In ARENA. 1: there are some, and the plan has to be made again; 0: none;
 * or negative.
 */
int above_find(struct mounts *mounts, const struct plan *plan, struct arena *arena, struct err *e);

#endif
