/* SPDX-License-Identifier: Apache-2.0 */
/*
 * territory: places where other operations than those of files decide (DESIGN
 * 15.8): shared memory and semaphores, kernel parameters, pseudo-terminals. The
 * floor asks by group of Landlock rights, the broker by the operation of one
 * file; both get their answer from the same table.
 */
#ifndef PLAN_TERRITORY_H
#define PLAN_TERRITORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "policy/policy.h"

enum group {
#define GROUP(group, rights, first, second) GROUP_##group,
#include "plan/rights.def"
	GROUP_COUNT
};

/*
 * A right has one or two uses, each asking all of its operations (OP_DEFAULT ends a list). It is
 * granted where every use is allowed: Landlock cannot tell them apart.
 */
struct uses {
	enum op ops[2][3];
};

struct group_spec {
	uint32_t rights;
	struct uses uses;
};

extern const struct group_spec groups[GROUP_COUNT];

struct territory {
	const char *path;
	bool and_files; /* the file operation must allow, too */
	bool by_path;   /* which differs from path to path: names further down matter */
	struct uses uses[GROUP_COUNT]; /* none: the file operation decides alone */
};

extern const struct territory territories[];
extern const size_t n_territories;

/* The one PATH lies in, or NULL. */
const struct territory *territory_of(struct str path);

/* Does GROUP ask other operations than those of files there? */
bool territory_asks(const struct territory *territory, enum group group);

/* What the broker asks instead of, or beside, a file's operation. */
struct territory_question {
	const enum op *ops; /* all must allow; OP_DEFAULT ends the list */
	bool and_files;
	struct str name; /* for filters on names; in the caller's buffer, or n 0 */
};

enum {
	TERRITORY_NAME_MAX = 4096
};

/* False: at PATH the file's operation OP decides alone. BUFFER has TERRITORY_NAME_MAX bytes. */
bool territory_question(struct str path, enum op op, bool directory, char *buffer,
			struct territory_question *ret);

#endif
