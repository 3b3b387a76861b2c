/* SPDX-License-Identifier: Apache-2.0 */
/* held: what the parts of hold.h share: questions, notes, mounts, and looks at directories. */
#ifndef PLAN_HELD_H
#define PLAN_HELD_H

#include "plan/hold.h"

/* ---- What is asked: sets of these, by their bits ---- */

enum {
	N_WRITE_OPS = 10,
	HELD_MAX = 512,      /* mounts: each is some 20 us of every start, and a descriptor */
	HELD_DEPTH_MAX = 64, /* of directories */
	OF_ALL = (1 << N_WRITE_OPS) - 1,
	OF_NAMES = (1 << 4) - 1, /* what a mount over itself refuses */
	OF_DATA = 1 << 4,
	OF_ATTRIBUTES = OF_ALL & ~(OF_NAMES | OF_DATA),
	OF_REGION = 1 << 0 | 1 << 1 | OF_DATA, /* what has to be allowed of any name */
};

extern const enum op held_write_ops[N_WRITE_OPS];

/* What is allowed at PLACE, and all that is or is denied below it. */
unsigned held_allowed_at(const struct planner *p, const struct place *place);
unsigned held_allowed_below(const struct planner *p, const struct place *place);
unsigned held_denied_below(const struct planner *p, const struct place *place);

/* What is allowed for an entry of DIR that the policy does not mention. */
unsigned held_allowed_unnamed(struct planner *p, const struct place *dir);

/* ask_child(), which notes that there is no memory. */
bool held_child(struct planner *p, const struct place *dir, struct str name, enum entry_type type,
		struct place *ret);

/* Can mounts hold what is denied below PLACE of the N groups ASKED? */
bool held_is_fit(struct planner *p, const struct place *place, const enum group *asked, size_t n);

/* ---- Notes and mounts ---- */

void held_note(struct planner *p, enum unheld_why why, const struct rule *rule, const char *path);

/* By the rule that denies one of OPS there. */
void held_note_denied(struct planner *p, enum unheld_why why, const struct place *place,
		      unsigned ops);

void held_add(struct planner *p, enum mount_kind kind, const char *path);

/* Is it in vain to go on: no memory, or too many mounts? */
bool held_is_over(const struct planner *p);

/* Is PATH in a place that is mounted for good or ill already? */
bool held_is_mounted(const struct planner *p, const char *path);

struct reach {
	struct planner *p;
	const struct place *region;
	enum unheld_why why; /* UNHELD_PATTERN, UNHELD_PATTERN_READ */
};

/* For policy_each_path(): notes patterns that reach below the region of CONTEXT, a struct reach. */
void held_note_pattern(void *context, const struct rule *rule, const struct test *test);

/* ---- Entries ---- */

struct listing {
	struct planner *p;
	const struct place *dir;
	struct entry {
		const char *name;
		enum entry_type type;
	} * list;
	size_t n, cap;
	bool too_many;
};

/* All entries of its directory. False: not to be had. */
bool held_list(struct listing *listing);
bool held_has_entry(const struct listing *listing, struct str name);

/* Hides PIPE, a named one that may not be written to: no read-only mount refuses that. */
void hold_pipe(struct planner *p, const struct place *pipe);

/* The same of all in DIR and below, which is mounted read-only. */
void hold_pipes(struct planner *p, const struct place *dir);

/* Is what the disk has at PATH there when all is mounted? */
bool held_is_there(const struct planner *p, struct str path);

/* What is hidden where something may be written must not be moved away with what it lies in. */
void hold_pin_masked(struct planner *p);

#endif
