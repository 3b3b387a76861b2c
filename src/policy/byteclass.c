/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/nfa.h"

#include "base/banned.h"

/* Splits every class that SET cuts in two; the smaller part gets the new number. */
static void split_classes(struct byte_classes *classes, const struct byteset *set)
{
	unsigned inside[BYTES] = {0}, size[BYTES] = {0};
	unsigned new_class[BYTES] = {0};

	for (unsigned byte = 0; byte < BYTES; byte++) {
		size[classes->of[byte]]++;
		inside[classes->of[byte]] += byteset_has(set, byte);
	}
	for (unsigned byte = 0; byte < BYTES; byte++) {
		unsigned old = classes->of[byte];

		if (inside[old] == 0 || inside[old] == size[old] ||
		    byteset_has(set, byte) != (2 * inside[old] <= size[old]))
			continue;
		if (!new_class[old])
			new_class[old] = classes->n++;
		classes->of[byte] = (uint8_t)new_class[old];
	}
}

static void find_classes(const struct nfa *nfa, struct byte_classes *ret)
{
	*ret = (struct byte_classes){.n = 1};
	for (const char *own = "/."; *own; own++) {
		struct byteset set = {0};

		byteset_add(&set, (unsigned char)*own);
		split_classes(ret, &set);
	}
	for (size_t i = 0; i < nfa->n_sets; i++)
		split_classes(ret, &nfa->sets[i]);
}

bool nfa_classify(struct nfa *nfa)
{
	if (nfa->classes.n > 0)
		return true;
	nfa->set_classes = arena_array(nfa->arena, nfa->n_sets, sizeof(*nfa->set_classes));
	if (!nfa->set_classes)
		return false;
	find_classes(nfa, &nfa->classes);
	for (size_t i = 0; i < nfa->n_sets; i++) {
		struct set_classes *set = &nfa->set_classes[i];

		for (unsigned byte = 0; byte < BYTES; byte++)
			if (byteset_has(&nfa->sets[i], byte))
				byteset_add(&set->has, nfa->classes.of[byte]);
		set->turns = set->has;
		if (byteset_has(&set->has, CLASS_USUAL))
			byteset_invert(&set->turns);
	}
	return true;
}
