/* SPDX-License-Identifier: Apache-2.0 */
/* atom: the making of one (nfa.h), for the files that do it. */
#ifndef POLICY_ATOM_H
#define POLICY_ATOM_H

#include "policy/nfa.h"

/* One atom under construction. `failed` sticks; node 0 is what failing calls return. */
struct atom_builder {
	struct nfa *nfa;
	unsigned style;
	const struct test *pattern;
	uint32_t match, accept;
	uint32_t slash; /* reads one, and then whatever follows */
	bool has_texts;
	bool failed;
};

/* Directories that on Linux stand in "/" without that. */
enum {
	PRIVATE_COUNT = 3
};

static const struct str private_names[PRIVATE_COUNT] = {
	{"/private/tmp", 12},
	{"/private/var", 12},
	{"/private/etc", 12},
};

uint32_t atom_add_node(struct atom_builder *b, struct node node);

/* Reads BYTE, then goes on at OUT. */
uint32_t atom_add_byte(struct atom_builder *b, char byte, uint32_t out);

/* The same with a whole text. */
uint32_t atom_add_string(struct atom_builder *b, struct str text, uint32_t out);

/* Either of two; 0 stands for "nothing" here. */
uint32_t atom_add_split(struct atom_builder *b, uint32_t one, uint32_t other);

/* What START matches, and the same where /private is left out. */
uint32_t atom_add_aliases(struct atom_builder *b, uint32_t start);

/* Reads any number of slashes, and goes on as START does behind any number of them. */
uint32_t atom_add_spellings(struct atom_builder *b, uint32_t start);

#endif
