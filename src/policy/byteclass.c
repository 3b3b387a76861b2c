/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/nfa.h"

#include "base/banned.h"

/* Classes under construction. */
struct division {
	struct byte_classes *classes;
	unsigned size[BYTES]; /* by class */
};

/* Splits every class that SET cuts in two; the smaller part gets the new number. */
static void split_classes(struct division *d, const struct byteset *set)
{
	struct byte_classes *classes = d->classes;
	unsigned inside[BYTES] = {0}, new_class[BYTES] = {0};

	for (unsigned byte = byteset_next(set, 0); byte < BYTES; byte = byteset_next(set, byte + 1))
		inside[classes->of[byte]]++;
	for (unsigned byte = 0; byte < BYTES; byte++) {
		unsigned old = classes->of[byte];

		if (inside[old] == 0 || inside[old] == d->size[old] ||
		    byteset_has(set, byte) != (2 * inside[old] <= d->size[old]))
			continue;
		if (!new_class[old])
			new_class[old] = classes->n++;
		classes->of[byte] = (uint8_t)new_class[old];
	}
	memset(d->size, 0, sizeof(d->size));
	for (unsigned byte = 0; byte < BYTES; byte++)
		d->size[classes->of[byte]]++;
}

/* As split_classes() of BYTE alone. */
static void split_off(struct division *d, unsigned byte)
{
	uint8_t *cls = &d->classes->of[byte];

	if (d->size[*cls] == 1)
		return;
	d->size[*cls]--;
	*cls = (uint8_t)d->classes->n++;
	d->size[*cls] = 1;
}

static void find_classes(const struct nfa *nfa, struct byte_classes *ret)
{
	struct division d = {.classes = ret, .size = {BYTES}};

	*ret = (struct byte_classes){.n = 1};
	for (const char *own = "/."; *own; own++)
		split_off(&d, (unsigned char)*own);
	for (size_t i = 0; i < nfa->n_sets; i++) {
		unsigned first = byteset_next(&nfa->sets[i], 0);

		if (first < BYTES && byteset_next(&nfa->sets[i], first + 1) == BYTES)
			split_off(&d, first);
		else
			split_classes(&d, &nfa->sets[i]);
	}
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
