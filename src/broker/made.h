/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made: the names that the session made in a place it shares with others, where
 * it may reach only what is its own (/dev/shm, when no mount could make that
 * private).
 */
#ifndef BROKER_MADE_H
#define BROKER_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/str.h"

/* A zeroed struct is a valid, empty set. Any thread may use it. */
struct made {
	char **paths;
	ino_t *inodes; /* of each, where that counts; else 0 */
	size_t n, cap;
};

/* When memory is short a name is forgotten: stricter, never looser. */
void made_add(struct made *made, struct str path);
void made_add_inode(struct made *made, struct str path, ino_t inode);
void made_remove(struct made *made, struct str path);
void made_remove_below(struct made *made, struct str path); /* and PATH itself */

/*
 * FROM, with all below it, is called TO now; what was there is gone. A name that does not MATTER
 * (NULL: all do) is forgotten.
 */
void made_move(struct made *made, struct str from, struct str to, bool (*matters)(struct str path));
bool made_has(const struct made *made, struct str path);
bool made_has_inode(const struct made *made, struct str path, ino_t inode);
void made_release(struct made *made);

#endif
