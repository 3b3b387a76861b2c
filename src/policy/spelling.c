/* SPDX-License-Identifier: Apache-2.0 */
/* Other ways to write what an atom matches. */
#include "policy/atom.h"

#include "base/banned.h"

/* ---- /private on Linux ---- */

/* What the automaton knows after TEXT, from START on. */
static bool collect_after(struct nfa *nfa, uint32_t start, struct str text, struct node_list *ret)
{
	struct node_list from = {0}, to = {0};
	bool ok;

	nfa_begin(nfa, &to);
	ok = nfa_collect(nfa, &to, start);
	for (size_t i = 0; i < text.n && ok; i++) {
		struct node_list swap = from;

		from = to;
		to = swap;
		nfa_begin(nfa, &to);
		for (size_t j = 0; j < from.n && ok; j++) {
			const struct node *node = &nfa->nodes[from.p[j]];

			if (node->kind == NODE_MATCH)
				ok = nfa_collect(nfa, &to, from.p[j]);
			else if (node->kind == NODE_BYTES &&
				 byteset_has(&nfa->sets[node->set], (unsigned char)text.p[i]))
				ok = nfa_collect(nfa, &to, node->out);
		}
	}
	*ret = to;
	return ok;
}

/* What NODE, met at the end of /private/tmp, comes to at the end of /tmp: it ends or "/" follows.
 */
static uint32_t add_alias_tail(struct atom_builder *b, uint32_t at)
{
	struct node node = b->nfa->nodes[at];

	switch (node.kind) {
	case NODE_ACCEPT:
		return at;
	case NODE_MATCH:
		return atom_add_split(b, node.out, atom_add_byte(b, '/', at));
	default:
		if (!byteset_has(&b->nfa->sets[node.set], '/'))
			return 0;
		return atom_add_byte(b, '/', node.out);
	}
}

/*
 * What a path that begins with SHORT_NAME matches in its long spelling, from START on; 0 if that is
 * nothing new.
 */
static uint32_t add_alias(struct atom_builder *b, uint32_t start, struct str long_name,
			  struct str short_name)
{
	struct nfa *nfa = b->nfa;
	struct node_list long_way, short_way;
	uint32_t tail = 0;
	bool news = false;

	if (!collect_after(nfa, start, long_name, &long_way) ||
	    !collect_after(nfa, start, short_name, &short_way)) {
		b->failed = true;
		return 0;
	}
	for (size_t i = 0; i < long_way.n; i++)
		news |= nfa->listed[long_way.p[i]] != nfa->list_generation;
	for (size_t i = 0; i < long_way.n && news && !b->failed; i++)
		tail = atom_add_split(b, add_alias_tail(b, long_way.p[i]), tail);
	return tail ? atom_add_string(b, short_name, tail) : 0;
}

uint32_t atom_add_aliases(struct atom_builder *b, uint32_t start)
{
	uint32_t all = start;

	for (size_t i = 0; i < PRIVATE_COUNT && !b->failed; i++) {
		struct str short_name = {private_names[i].p + 8, private_names[i].n - 8};

		all = atom_add_split(b, add_alias(b, start, private_names[i], short_name), all);
	}
	return all;
}

/* ---- Names of POSIX objects on Linux ---- */

/* What START leads to over any number of slashes, without reading more. */
static bool collect_over_slashes(struct nfa *nfa, uint32_t start, struct node_list *ret)
{
	bool ok;

	nfa_begin(nfa, ret);
	ok = nfa_collect(nfa, ret, start);
	for (size_t i = 0; i < ret->n && ok; i++) {
		const struct node *node = &nfa->nodes[ret->p[i]];

		if (node->kind == NODE_BYTES && byteset_has(&nfa->sets[node->set], '/'))
			ok = nfa_collect(nfa, ret, node->out);
	}
	return ok;
}

uint32_t atom_add_spellings(struct atom_builder *b, uint32_t start)
{
	uint32_t loop = atom_add_node(b, (struct node){.kind = NODE_SPLIT}), slash, all = 0;
	struct node_list behind = {0};

	if (b->failed || !collect_over_slashes(b->nfa, start, &behind)) {
		b->failed = true;
		return 0;
	}
	for (size_t i = 0; i < behind.n && !b->failed; i++)
		all = atom_add_split(b, behind.p[i], all);
	slash = atom_add_byte(b, '/', loop);
	if (b->failed)
		return 0;
	b->nfa->nodes[loop].out = slash;
	b->nfa->nodes[loop].other = all;
	return loop;
}
