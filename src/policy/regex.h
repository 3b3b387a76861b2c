/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex: AppleMatch regular expressions, text to tree.
 *
 *	expression := ["^"] branch { "|" branch }        branch := { piece }
 *	piece      := unit { "*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}" }
 *	unit       := byte | "." | set | "$" | "(" branch { "|" branch } ")" | "\" byte
 *	set        := "[" ["^"] { byte | byte "-" byte | "\" byte } "]"
 *
 * A search, not a match: unanchored unless ^ and $ say otherwise. Matching is on bytes; `.` and
 * negated sets take every byte, `/` and newline too. `^` stands only at the very start and binds to
 * the first branch. A backslash makes any byte literal, letters included, also inside a set.
 *
 * Where Apple's behaviour is not known we refuse rather than guess: `{` that begins no interval,
 * `[:alpha:]` and its kin. "(?" compiles as it does on macOS, into a pattern that never matches.
 */
#ifndef POLICY_REGEX_H
#define POLICY_REGEX_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/byteset.h"

enum regex_kind {
	REGEX_BYTES,
	REGEX_END, /* $ */
	REGEX_CONCAT,
	REGEX_ALTERNATE,
	REGEX_REPEAT,
};

enum {
	REGEX_INTERVAL_MAX = 255,
	REGEX_UNBOUNDED = -1,
	REGEX_DEPTH_MAX = 100, /* nested groups: what walks the tree may recurse */
	REGEX_STACKED_MAX = 8, /* operators on one unit, as in (a+)+ without the group: a++ */
};

struct regex_tree {
	enum regex_kind kind;
	struct byteset set;       /* BYTES, without regard to case */
	bool negated;             /* BYTES: all but `set` */
	int min, max;             /* REPEAT */
	struct regex_tree *kids;  /* the others; of CONCAT the LAST comes first */
	struct regex_tree *older; /* the kid before this one (CONCAT, ALTERNATE) */
};

struct regex {
	const struct regex_tree *anchored; /* the branch after ^, or NULL */
	const struct regex_tree *floating; /* the rest, or NULL */
	bool dead;                         /* never matches */
};

/* The trees live in ARENA. -ERR_POLICY with Apple's words where they are known, or -ERR_LIMIT. */
int regex_parse(struct str text, struct span at, struct arena *arena, struct regex *ret,
		struct err *e);

#endif
