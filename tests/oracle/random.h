/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random: policies and requests at random, of every operation, filter and kind of pattern, and near
 * enough to each other that rules match, overrule and nearly miss. The same seed makes the same.
 */
#ifndef ORACLE_RANDOM_H
#define ORACLE_RANDOM_H

#include "base/arena.h"
#include "base/buf.h"
#include "policy/policy.h"

struct dice {
	uint64_t state; /* not 0 */
};

unsigned dice_below(struct dice *dice, unsigned n);
bool dice_one_in(struct dice *dice, unsigned n);

/* Adds a regular expression. PLAIN: no (?, which never matches. */
void random_regex(struct dice *dice, bool plain, struct buf *ret);

/* Adds a path, or a name without "/" in front, as patterns and requests have them. */
void random_path(struct dice *dice, struct buf *ret);
void random_name(struct dice *dice, struct buf *ret);

/* What the rules and requests of one policy have in common. Everything lives in `arena`. */
struct cast {
	struct dice dice;
	struct arena *arena;
	enum op ops[6]; /* operations that are asked for, and parents of which have rules */
	unsigned n_ops;
	struct str paths[12], names[8], path_regexes[6], name_regexes[3];
	enum filter_id filters[5]; /* that rules look at more often than at others */
};

void cast_init(struct cast *cast, uint64_t seed, struct arena *arena);

/* Fills RULE but for its index; what it points to lives in the arena of the cast. */
void cast_rule(struct cast *cast, struct rule *rule);

/* An expression over paths alone, at most DEPTH groups deep. */
const struct expr *cast_path_filter(struct cast *cast, unsigned depth);

void cast_request(struct cast *cast, struct request *ret);

/* Adds the policy and the request as text. */
void print_rule(const struct rule *rule, struct buf *ret);
void print_request(const struct request *request, struct buf *ret);

#endif
