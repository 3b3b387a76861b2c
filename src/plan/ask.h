/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask: what a group of Landlock rights may do at a place: what the policy says
 * of files, of the places where other operations decide, and what the scope
 * adds to that.
 */
#ifndef PLAN_ASK_H
#define PLAN_ASK_H

#include "plan/names.h"
#include "plan/planner.h"
#include "plan/territory.h"

/* An object of the file system. */
struct place {
	const char *path;
	enum entry_type type;
	policy_state at, below;  /* the same but for the root */
	const struct name *name; /* NULL: the policy names nothing here and below */
};

/* The entry NAME of PARENT, in the planner's arena. False: no memory. */
bool ask_child(const struct planner *p, const struct place *parent, struct str name,
	       enum entry_type type, struct place *ret);

/* A name that no pattern can tell apart from others: one that the policy does not mention. */
#define ASK_UNNAMED STR("\001")

/* What GROUP can answer for PLACE itself, and below it: sets of enum verdict_set. */
unsigned ask_at(const struct planner *p, const struct place *place, enum group group);
unsigned ask_below(const struct planner *p, const struct place *place, enum group group);

/*
 * The same of the name that PLACE had before it was mounted there, too; CAN_ALLOW: it had none. A
 * row is about the object, and would grant at that name what is allowed at this one.
 */
unsigned ask_first(const struct planner *p, const struct place *place, enum group group,
		   bool below);

/* That name's place, its path in NAME. False: it had none. */
bool ask_first_place(const struct planner *p, const struct place *place, char name[PLAN_PATH_MAX],
		     struct place *ret);

/* Is PATH in a place whose answers do not depend on names further down? */
bool ask_decides_whole(const struct planner *p, const char *path);

/* Is PATH where one of our own mounts stands, or in it? */
bool ask_in_own_mount(const struct planner *p, const char *path);

/* Is PATH in the shared /tmp of which the command gets only what the names say? */
bool ask_only_names(const struct planner *p, const char *path);

/* Adds the names of all such places. */
void ask_add_names(const struct planner *p, struct names *names);

#endif
