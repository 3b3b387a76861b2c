/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions are as deep as filters may nest (builder.c), so that everything here may recurse. */
#include "policy/condition.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* NOLINTBEGIN(misc-no-recursion): bounded, see above */

static condition put(struct conditions *all, const uint32_t *words, size_t n)
{
	int64_t id = intern_put(&all->intern, words, n);

	return id < 0 ? CONDITION_FAILED : (condition)id;
}

bool conditions_init(struct conditions *all, struct arena *arena, struct arena *scratch)
{
	static const uint32_t constants[] = {CONDITION_FALSE, CONDITION_TRUE};

	*all = (struct conditions){.intern.arena = arena, .scratch = scratch};
	return put(all, &constants[0], 1) == CONDITION_FALSE &&
	       put(all, &constants[1], 1) == CONDITION_TRUE;
}

condition condition_leaf(struct conditions *all, enum condition_kind kind, uint32_t number)
{
	const uint32_t words[] = {kind, number};

	return put(all, words, 2);
}

static int compare_conditions(const void *a, const void *b)
{
	condition x = *(const condition *)a, y = *(const condition *)b;

	return (x > y) - (x < y);
}

/* Is C of another kind than KIND, and one of the N of KIDS, ascending, a part of it? */
static bool is_absorbed(const struct conditions *all, condition c, enum condition_kind kind,
			const condition *kids, size_t n)
{
	enum condition_kind other = kind == CONDITION_ALL ? CONDITION_ANY : CONDITION_ALL;
	const uint32_t *parts;
	size_t n_parts;

	if (condition_look(all, c, &parts, &n_parts) != other)
		return false;
	for (size_t i = 0; i < n_parts; i++)
		if (bsearch(&parts[i], kids, n, sizeof(*kids), compare_conditions))
			return true;
	return false;
}

condition condition_join(struct conditions *all, enum condition_kind kind, condition *kids,
			 size_t n)
{
	condition neutral = kind == CONDITION_ALL ? CONDITION_TRUE : CONDITION_FALSE;
	condition decisive = kind == CONDITION_ALL ? CONDITION_FALSE : CONDITION_TRUE;
	uint32_t *words = arena_array(all->scratch, n + 1, sizeof(*words));
	size_t kept = 0;

	if (!words)
		return CONDITION_FAILED;
	if (n > 1)
		qsort(kids, n, sizeof(*kids), compare_conditions);
	if (n > 0 && kids[n - 1] == CONDITION_FAILED)
		return CONDITION_FAILED;
	words[0] = kind;
	for (size_t i = 0; i < n; i++) {
		if (kids[i] == decisive)
			return decisive;
		if (kids[i] != neutral && (kept == 0 || words[kept] != kids[i]))
			words[++kept] = kids[i];
	}
	n = kept;
	kept = 0;
	memcpy(kids, words + 1, n * sizeof(*kids));
	for (size_t i = 0; i < n; i++)
		if (!is_absorbed(all, kids[i], kind, kids, n))
			words[++kept] = kids[i];
	if (kept == 0)
		return neutral;
	return kept == 1 ? words[1] : put(all, words, kept + 1);
}

bool condition_has_atoms(const struct conditions *all, condition c)
{
	const uint32_t *words;
	size_t n;
	enum condition_kind kind = condition_look(all, c, &words, &n);
	bool found = kind == CONDITION_ATOM || kind == CONDITION_NO_ATOM;

	if (kind == CONDITION_ALL || kind == CONDITION_ANY)
		for (size_t i = 0; i < n && !found; i++)
			found = condition_has_atoms(all, words[i]);
	return found;
}

static enum truth opposite(enum truth truth)
{
	return truth == TRUTH_OPEN ? TRUTH_OPEN : truth == TRUTH_YES ? TRUTH_NO : TRUTH_YES;
}

/* The value of one kid that settles a whole ALL or ANY. */
static enum truth decisive_truth(enum condition_kind kind)
{
	return kind == CONDITION_ALL ? TRUTH_NO : TRUTH_YES;
}

/* Whoever cannot fail leaves nothing, for the next one that can. */
static void spend(const struct conditions *all, size_t work)
{
	if (all->work)
		*all->work = *all->work > work ? *all->work - work : 0;
}

enum truth condition_value(const struct conditions *all, condition c, const uint8_t *truth)
{
	const uint32_t *words;
	size_t n;
	enum condition_kind kind = condition_look(all, c, &words, &n);
	enum truth value = opposite(decisive_truth(kind));

	switch (kind) {
	case CONDITION_FALSE:
		return TRUTH_NO;
	case CONDITION_TRUE:
		return TRUTH_YES;
	case CONDITION_ATOM:
		return (enum truth)truth[words[0]];
	case CONDITION_NO_ATOM:
		return opposite((enum truth)truth[words[0]]);
	case CONDITION_GUARD:
	case CONDITION_NO_GUARD:
		return TRUTH_OPEN;
	case CONDITION_ALL:
	case CONDITION_ANY:
		break;
	}
	spend(all, n);
	for (size_t i = 0; i < n; i++) {
		enum truth kid = condition_value(all, words[i], truth);

		if (kid == decisive_truth(kind))
			return kid;
		if (kid == TRUTH_OPEN)
			value = TRUTH_OPEN;
	}
	return value;
}

condition condition_residue(struct conditions *all, condition c, const uint8_t *truth)
{
	enum truth value = condition_value(all, c, truth);
	enum condition_kind kind;
	const uint32_t *words;
	condition *kids;
	size_t n;

	if (value != TRUTH_OPEN)
		return value == TRUTH_YES ? CONDITION_TRUE : CONDITION_FALSE;
	kind = condition_look(all, c, &words, &n);
	if (kind == CONDITION_GUARD || kind == CONDITION_NO_GUARD)
		return c;
	kids = arena_array(all->scratch, n, sizeof(*kids));
	if (!kids)
		return CONDITION_FAILED;
	memcpy(kids, words, n * sizeof(*kids));
	spend(all, 4 * n);
	for (size_t i = 0; i < n; i++)
		kids[i] = condition_residue(all, kids[i], truth);
	return condition_join(all, kind, kids, n);
}

static bool is_absent(const struct absence *absent, enum condition_kind kind, uint32_t number)
{
	return kind == CONDITION_GUARD || kind == CONDITION_NO_GUARD ? absent->guards[number]
								     : absent->atoms;
}

condition condition_without(struct conditions *all, condition c, const struct absence *absent)
{
	enum condition_kind kind;
	const uint32_t *words;
	condition *kids, ret;
	size_t n;

	if (absent->known[c])
		return absent->known[c] - 1;
	kind = condition_look(all, c, &words, &n);
	switch (kind) {
	case CONDITION_FALSE:
	case CONDITION_TRUE:
		return c;
	case CONDITION_ATOM:
	case CONDITION_GUARD:
		return is_absent(absent, kind, words[0]) ? CONDITION_FALSE : c;
	case CONDITION_NO_ATOM:
	case CONDITION_NO_GUARD:
		return is_absent(absent, kind, words[0]) ? CONDITION_TRUE : c;
	case CONDITION_ALL:
	case CONDITION_ANY:
		break;
	}
	kids = arena_array(all->scratch, n, sizeof(*kids));
	if (!kids)
		return CONDITION_FAILED;
	memcpy(kids, words, n * sizeof(*kids));
	spend(all, 4 * n);
	for (size_t i = 0; i < n; i++)
		kids[i] = condition_without(all, kids[i], absent);
	ret = condition_join(all, kind, kids, n);
	if (ret != CONDITION_FAILED)
		absent->known[c] = ret + 1;
	return ret;
}

void condition_mark(const struct conditions *all, condition c, const uint8_t *truth,
		    uint8_t *needed)
{
	const uint32_t *words;
	size_t n;
	enum condition_kind kind = condition_look(all, c, &words, &n);
	enum truth decisive = decisive_truth(kind);

	if (kind == CONDITION_ATOM || kind == CONDITION_NO_ATOM)
		needed[words[0]] = 1;
	if (kind != CONDITION_ALL && kind != CONDITION_ANY)
		return;
	for (size_t i = 0; i < n; i++) {
		if (condition_value(all, words[i], truth) != decisive)
			continue;
		condition_mark(all, words[i], truth, needed);
		return;
	}
	spend(all, n);
	for (size_t i = 0; i < n; i++)
		condition_mark(all, words[i], truth, needed);
}

/* NOLINTEND(misc-no-recursion) */
