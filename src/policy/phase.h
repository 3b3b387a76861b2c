/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase: which part of a canonical path was read. Such a path is "/", or names with "/" before each
 * of them, none of which is empty, "." or "..".
 */
#ifndef POLICY_PHASE_H
#define POLICY_PHASE_H

#include "policy/nfa.h"

enum phase {
	PHASE_SLASH,   /* a name begins */
	PHASE_DOT,     /* "." so far */
	PHASE_DOT_DOT, /* ".." so far */
	PHASE_NAME,    /* a name: here a path may end */
	PHASE_COUNT,
	PHASE_NONE = PHASE_COUNT, /* no canonical path */
};

/* What bytes of CLS do to PHASE. */
static inline enum phase phase_next(enum phase phase, unsigned cls)
{
	enum {
		SLASH,
		DOT,
		OTHER,
		KINDS
	};
	static const enum phase next[PHASE_COUNT][KINDS] = {
		[PHASE_SLASH] = {PHASE_NONE, PHASE_DOT, PHASE_NAME},
		[PHASE_DOT] = {PHASE_NONE, PHASE_DOT_DOT, PHASE_NAME},
		[PHASE_DOT_DOT] = {PHASE_NONE, PHASE_NAME, PHASE_NAME},
		[PHASE_NAME] = {PHASE_SLASH, PHASE_NAME, PHASE_NAME},
	};

	return next[phase][cls == CLASS_SLASH ? SLASH : cls == CLASS_DOT ? DOT : OTHER];
}

#endif
