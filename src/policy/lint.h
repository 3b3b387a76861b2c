/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lint: what a policy says that its author can hardly have meant. Rules that came with us, with the
 * system or as ORIGIN_RUNTIME are looked at, but never complained about. Whatever is found is so:
 * it was read off the automaton, over all paths, or off the text of a pattern.
 */
#ifndef POLICY_LINT_H
#define POLICY_LINT_H

#include "policy/policy.h"

enum lint_kind {
#define LINT(symbol, name) LINT_##symbol,
#include "policy/lint.def"
#undef LINT
	LINT_NOT_CHECKED, /* no warning: something took too much to look at */
	LINT_KINDS
};

struct finding {
	enum lint_kind kind;
	struct span at;
	const char *text; /* one line, no dot at its end */
	const char *hint; /* what to write instead; NULL: nothing known */
	struct str path;  /* a path that shows it; n 0: none */
};

struct lint_limits {
	size_t memory;   /* bytes, of each policy that is built on the way, and of each walk */
	unsigned states; /* of each automaton */
	size_t work;     /* of construction: of the rules told apart, and of all else together */
	size_t stops;    /* sets of states that are looked at, all in all */
};

#define LINT_LIMITS_DEFAULT                                                                        \
	((struct lint_limits){                                                                     \
		.memory = 128u << 20, .states = 200000, .work = 20u << 20, .stops = 1u << 19})

struct findings {
	struct finding *list; /* by file, line, column and kind */
	size_t n, cap;
};

/*
 * What a front end noticed while it made the rules, for lint() to give with the rest. FINDING is
 * copied, not what it points to. 0, or -ERR_LIMIT.
 */
int policy_builder_note(struct policy_builder *builder, const struct finding *finding,
			struct err *e);

/*
 * Findings live in ARENA, as far as they do not point to what POLICY owns. What is past LIMITS is
 * one finding of LINT_NOT_CHECKED. -ERR_MEMORY.
 */
int lint(const struct policy *policy, struct lint_limits limits, struct arena *arena,
	 struct findings *ret, struct err *e);

const char *lint_kind_name(enum lint_kind kind);

#endif
