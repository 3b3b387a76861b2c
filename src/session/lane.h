/* SPDX-License-Identifier: Apache-2.0 */
/* The fast lane's library: where it is, and how the command gets it (plan/lane.c, src/lane). */
#ifndef SESSION_LANE_H
#define SESSION_LANE_H

#include <stdbool.h>

#include "base/arena.h"
#include "plan/plan.h"

/*
 * The canonical path of the library, in ARENA: where LAPBELT_LANE says, or where it was installed.
 * NULL: it is not there, or the C library here does not take it.
 */
const char *lane_find_library(struct arena *arena);

/* Can programs under PLAN, made from INPUT, load LIBRARY? Else each would complain. */
bool lane_is_loadable(const struct plan *plan, const struct plan_input *input, const char *library);

/*
 * ENV with LIBRARY, after those that are there, in the loader's list of audit libraries. A new list
 * in ARENA; its strings are ENV's but for that one. NULL: no memory.
 */
char **lane_environ(char *const *env, const char *library, struct arena *arena);

#endif
