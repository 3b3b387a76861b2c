/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fresh: the git directories that this session itself made. Rules about
 * repositories that are there at the start do not hold below them
 * (PLAN_NEW_REPOSITORY).
 */
#ifndef BROKER_FRESH_H
#define BROKER_FRESH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "broker/made.h"

/* A zeroed struct is a valid, empty set. */
struct fresh {
	struct made made;
};

/* Notes that directory PATH was made, if it is one that matters: `.git`, `worktrees/X`,
 * `modules/X`. */
void fresh_made(struct fresh *fresh, struct str path);
void fresh_removed(struct fresh *fresh, struct str path);
void fresh_moved(struct fresh *fresh, struct str from, struct str to);

/* Is the innermost git directory of PATH one of them? */
bool fresh_has(const struct fresh *fresh, struct str path);

void fresh_release(struct fresh *fresh);

#endif
