/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block: rules in a row, of one operation, whose effect is the same.
 *
 * Which of them matched last makes no difference but for the rule that a
 * decision names, and yet an automaton that knows can be many times as large:
 * below every allowed directory it would look for every protected name anew.
 * So a policy with regular expressions has its path rules in blocks, each one
 * union of patterns to the automaton, and the rule is found once a decision
 * has fallen. If rules with regular expressions are few, they are no block with
 * others: then the automaton knows them too, and stays small. Without any every
 * rule is a block of its own.
 */
#ifndef POLICY_BLOCK_H
#define POLICY_BLOCK_H

#include "policy/filter.h"
#include "policy/policy.h"
#include "policy/texts.h"

/* Rules that one automaton asks for. */
struct block_search {
	const struct dfa *dfa;  /* label: which of them matches and comes last, from 1; 0: none */
	const uint32_t *places; /* theirs in the block's rules, ascending */
	uint32_t n;
};

struct block {
	const struct rule **rules; /* in order of entry */
	uint32_t n;
	condition when;

	/* To find one of several rules. */
	struct texts texts;            /* of all rules without regular expressions */
	struct block_search *searches; /* for the others but the first of all rules, last first */
	uint32_t n_searches;
};

/* The filtered rules of one operation, and the last unfiltered one. */
struct op_blocks {
	struct block *list; /* in order of entry */
	uint32_t n;
	const struct rule *unfiltered; /* or NULL */
};

struct blocks {
	struct op_blocks profile[OP_COUNT], runtime[OP_COUNT];
	const struct block **of; /* by rule: the block in which it has company, or NULL */
};

struct block_options {
	const struct rule *rules;
	size_t n;
	bool apart; /* every rule is a block of its own, with regular expressions too */
};

/*
 * Sorts rules into blocks and compiles their filters. Blocks live in the compiler's arena, the rest
 * in its scratch. -ERR_POLICY, -ERR_LIMIT.
 */
int blocks_build(struct filter_compiler *compiler, const struct block_options *options,
		 struct blocks *ret, struct err *e);

/* The last rule of BLOCK that matches PATH, given that one does. */
const struct rule *block_find(const struct block *block, struct str path);

#endif
