/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names: the names a policy mentions, as a tree of path components, so that the
 * descent from "/" knows where to look closer; and the regular expressions that
 * allow something, which may name entries without mentioning them.
 */
#ifndef PLAN_NAMES_H
#define PLAN_NAMES_H

#include "base/arena.h"
#include "base/map.h"
#include "policy/policy.h"

struct name {
	struct str text; /* one component */
	struct name *kids, *next;
	struct map by_text; /* the kids */
};

struct name_regex {
	enum op op;
	struct str fixed; /* what every path it matches starts with; may be empty */
};

struct names {
	struct arena *arena;
	struct name root;
	struct name_regex *regexes;
	size_t n_regexes, regexes_cap;
	bool failed;
};

/* names->arena is set. 0, or -ERR_MEMORY. */
int names_collect(struct names *names, const struct policy *policy);

/* Adds the components of PATH. */
void names_add(struct names *names, struct str path);

/* The entry TEXT below NAME (which may be NULL), or NULL. */
const struct name *name_child(const struct name *name, struct str text);

/* May a regular expression allow OP for an entry of the directory PATH itself? */
bool names_regex_in(const struct names *names, struct str path, enum op op);

/* What every path that TEST, one of paths, matches starts with; may be empty. In ARENA, or TEST's.
 */
struct str names_fixed_part(struct arena *arena, const struct test *test);

#endif
