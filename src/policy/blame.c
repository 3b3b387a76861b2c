/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/subsets.h"

#include "base/banned.h"

/* What the nodes of the part take up; 0 of what stands for no pattern. */
static size_t count_uses(const struct nfa *nfa, const uint32_t *uses, size_t part)
{
	size_t end = part + 1 < nfa->n_parts ? nfa->parts[part + 1].first : nfa->n_nodes;
	size_t sum = 0;

	if (!nfa->parts[part].pattern)
		return 0;
	for (size_t node = nfa->parts[part].first; node < end; node++)
		sum += 1 + (uses && node < nfa->n_known ? uses[node] : 0);
	return sum;
}

static void add_uses(const struct intern *sets, uint32_t *uses)
{
	for (uint32_t set = 0; set < sets->n; set++) {
		size_t n;
		const uint32_t *nodes = intern_get(sets, set, &n);

		for (size_t i = 0; i < n && nodes[i] != SUBSET_START_MARK; i++)
			uses[nodes[i]]++;
	}
}

/* How often each node occurs in states and contexts. NULL: nothing was built. */
static const uint32_t *find_uses(const struct nfa *nfa, const struct subsets *subsets)
{
	uint32_t *uses = nfa->seen; /* not needed any more */

	if (!uses)
		return NULL;
	memset(uses, 0, nfa->n_known * sizeof(*uses));
	add_uses(&subsets->sets, uses);
	add_uses(&subsets->contexts.sets, uses);
	return uses;
}

/* WORST takes up most room, OTHER and N - 1 more nearly as much. */
static void hint_at_others(const struct test *worst, const struct test *other, size_t n,
			   struct err *e)
{
	struct str text = other->text;
	bool is_regex = worst->match == MATCH_REGEX;

	(void)err_hint(e, "so %s \"%.*s\" (line %u)%s%s", n > 1 ? "do" : "does",
		       (int)(text.n < 80 ? text.n : 80), text.p, other->at.line,
		       n > 1 ? " and others" : "",
		       is_regex ? "; begin them with ^, or let rules of one effect stand together"
				: "");
}

/* The text that has most bytes in common with none before it. */
static const struct nfa_text *longest_text(const struct nfa *nfa, size_t *ret_n)
{
	const struct nfa_text *longest = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < nfa->n_texts; i++) {
		struct str text = nfa->texts[i].bytes;
		struct str last = i > 0 ? nfa->texts[i - 1].bytes : (struct str){0};
		size_t common = 0;

		while (common < text.n && common < last.n && text.p[common] == last.p[common])
			common++;
		if (text.n - common <= *ret_n)
			continue;
		*ret_n = text.n - common;
		longest = &nfa->texts[i];
	}
	return longest;
}

int subsets_blame(const struct nfa *nfa, const struct subsets *subsets, struct err *e)
{
	const struct node_part *parts = nfa->parts;
	const uint32_t *uses = find_uses(nfa, subsets);
	size_t most = 0, worst = 0, n_others = 0, other = 0, n_bytes;
	const struct nfa_text *text = longest_text(nfa, &n_bytes);
	const struct test *pattern;
	int r;

	for (size_t i = 0; i < nfa->n_parts; i++) {
		size_t n = count_uses(nfa, uses, i);

		worst = n > most ? i : worst;
		most = n > most ? n : most;
	}
	if (text && n_bytes > most)
		return nfa_too_big(text->pattern, e);
	pattern = most > 0 ? parts[worst].pattern : NULL;
	if (!pattern)
		return nfa_too_big(NULL, e);
	for (size_t i = 0; i < nfa->n_parts; i++) {
		if (!parts[i].pattern || parts[i].pattern == pattern ||
		    count_uses(nfa, uses, i) < most / 2)
			continue;
		n_others++;
		other = i;
	}
	r = nfa_too_big(pattern, e);
	if (n_others > 0)
		hint_at_others(pattern, parts[other].pattern, n_others, e);
	return r;
}
