/* SPDX-License-Identifier: Apache-2.0 */
/*
 * re: AppleMatch regular expressions as SBPL.md 3.3 has them and lapbelt-sbpl(7) reads what it
 * leaves open, once more: to a tree that is matched by sets of places in the text. It is slow and
 * plain, and shares nothing with src/policy, which it is there to doubt.
 */
#ifndef ORACLE_RE_H
#define ORACLE_RE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum re_kind {
	RE_SET,
	RE_END, /* $ */
	RE_SEQUENCE,
	RE_CHOICE,
	RE_REPEAT,
};

struct re {
	enum re_kind kind;
	bool has[256]; /* SET, without regard to case and negation */
	bool negated;
	int min, max; /* REPEAT; max -1: no bound */
	struct re **kids;
	size_t n, cap;
};

struct re_pattern {
	const struct re *head; /* the branch behind ^, or NULL */
	const struct re *rest; /* what is searched for, or NULL */
	bool dead;             /* (? never matches */
};

/* NULL: TEXT is no expression. What comes back lives in ARENA. */
struct re_pattern *re_read(struct arena *arena, struct str text);

bool re_set_takes(const struct re *set, unsigned char byte, bool folds);

enum {
	RE_TEXT_MAX = 16384 /* bytes of a text that can be matched */
};

bool re_matches(const struct re_pattern *pattern, struct str text, bool folds);

#endif
