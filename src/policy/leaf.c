/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests to leaves of conditions. A text that says what is tested is the key
 * under which each leaf is known from then on.
 */
#include <stdlib.h>

#include "policy/dfa.h"
#include "policy/filter.h"

#include "base/banned.h"

/* What a test has become. */
struct leaf {
	enum condition_kind kind; /* ATOM or GUARD; FALSE: it never holds */
	uint32_t number;
};

static const struct leaf *fail(struct filter_compiler *c, int failure)
{
	c->failure = failure;
	return NULL;
}

static const struct leaf *too_big(struct filter_compiler *c)
{
	return fail(c, err_set(c->e, ERR_LIMIT, "the policy needs too much memory"));
}

/* ---- Unions of patterns ---- */

static int compare_tests(const void *a, const void *b)
{
	const struct test *x = *(const struct test *const *)a, *y = *(const struct test *const *)b;
	size_t n = x->text.n < y->text.n ? x->text.n : y->text.n;
	int order = n ? memcmp(x->text.p, y->text.p, n) : 0;

	if (order == 0)
		order = (x->text.n > y->text.n) - (x->text.n < y->text.n);
	return order ? order : ((int)x->match - (int)y->match);
}

/* Sorts, drops repetitions. */
static size_t unique_tests(const struct test **tests, size_t n)
{
	size_t kept = 0;

	qsort(tests, n, sizeof(struct test *), compare_tests);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || compare_tests(&tests[kept - 1], &tests[i]) != 0)
			tests[kept++] = tests[i];
	return kept;
}

static char *append(char *to, const void *from, size_t n)
{
	if (n)
		memcpy(to, from, n);
	return to + n;
}

/* A text that is equal for equal unions of patterns. p NULL: no memory. */
static struct str pattern_key(struct filter_compiler *c, const struct test *const *tests, size_t n,
			      enum attribute attribute, bool fold)
{
	size_t size = sizeof(attribute) + sizeof(fold);
	char *key, *end;

	for (size_t i = 0; i < n; i++)
		size += sizeof(tests[i]->match) + sizeof(tests[i]->text.n) + tests[i]->text.n;
	key = arena_alloc(c->scratch, size);
	if (!key)
		return (struct str){0};
	end = append(key, &attribute, sizeof(attribute));
	end = append(end, &fold, sizeof(fold));
	for (size_t i = 0; i < n; i++) {
		end = append(end, &tests[i]->match, sizeof(tests[i]->match));
		end = append(end, &tests[i]->text.n, sizeof(tests[i]->text.n));
		end = append(end, tests[i]->text.p, tests[i]->text.n);
	}
	return (struct str){key, size};
}

static const struct leaf *remember(struct filter_compiler *c, struct str key,
				   enum condition_kind kind, uint32_t number)
{
	struct leaf *leaf = arena_alloc(c->scratch, sizeof(*leaf));

	if (!leaf || map_put(&c->known, key, leaf) < 0)
		return too_big(c);
	*leaf = (struct leaf){kind, number};
	return leaf;
}

static const struct leaf *add_guard(struct filter_compiler *c, struct str key, struct guard guard)
{
	struct guard *guards =
		arena_grow(c->arena, c->guards, c->n_guards, &c->cap_guards, sizeof(*guards));

	if (!guards)
		return too_big(c);
	c->guards = guards;
	guards[c->n_guards] = guard;
	return remember(c, key, CONDITION_GUARD, (uint32_t)c->n_guards++);
}

/* Fills RET with the automaton of one union of patterns, its labels 1 where it matches. */
static int build_dfa(struct filter_compiler *c, const struct test *const *tests, size_t n,
		     struct arena *scratch, struct dfa *ret)
{
	struct nfa nfa = {.arena = scratch, .work = c->paths.work};
	struct subset_options options = {.arena = scratch, .states = c->states};
	unsigned style = filter_folds_case(tests[0]->filter, c->target) ? ATOM_FOLD : 0;
	struct subsets subsets = {0};
	uint32_t *labels;
	int r;

	if (tests[0]->filter == FILTER_IPC_POSIX_NAME && c->target == TARGET_LINUX)
		style |= ATOM_OBJECT;
	r = nfa_add_atom(&nfa, tests, n, style, c->e);
	if (r == 0)
		r = subsets_build(&nfa, &options, &subsets, c->e);
	if (r < 0)
		return r;
	labels = arena_array(scratch, subsets.accepts.n, sizeof(*labels));
	if (!labels)
		return nfa_too_big(tests[0], c->e);
	for (size_t i = 0; i < subsets.accepts.n; i++)
		labels[i] = subsets.accepts.list[i].n > 0;
	return dfa_minimize(&subsets, labels, c->arena, scratch, ret, c->e);
}

static const struct leaf *add_text_guard(struct filter_compiler *c, struct str key,
					 const struct test *const *tests, size_t n)
{
	struct arena scratch = {.pool = c->scratch->pool, .limit = c->scratch->limit};
	struct guard guard = {.attribute = filter_attribute(tests[0]->filter)};
	struct dfa *dfa = arena_alloc(c->arena, sizeof(*dfa));
	int r;

	if (!dfa)
		return too_big(c);
	r = build_dfa(c, tests, n, &scratch, dfa);
	arena_release(&scratch);
	if (r < 0)
		return fail(c, r);
	if (dfa->n_states == 1)
		return remember(c, key, CONDITION_FALSE, 0);
	guard.match = tests[0]->match;
	guard.dfa = dfa;
	return add_guard(c, key, guard);
}

static const struct leaf *add_atom(struct filter_compiler *c, struct str key,
				   const struct test *const *tests, size_t n)
{
	unsigned style = c->target == TARGET_LINUX ? ATOM_PRIVATE : ATOM_FOLD;
	uint32_t number = (uint32_t)c->paths.n_atoms;
	const struct nfa_atom *atom;
	int r = nfa_add_atom(&c->paths, tests, n, style, c->e);

	if (r < 0)
		return fail(c, r);
	atom = &c->paths.atoms[number];
	return remember(c, key, atom->start || atom->has_texts ? CONDITION_ATOM : CONDITION_FALSE,
			number);
}

static const struct leaf *find_patterns(struct filter_compiler *c, const struct test **tests,
					size_t n)
{
	enum attribute attribute = filter_attribute(tests[0]->filter);
	const struct leaf *known;
	struct str key;

	n = unique_tests(tests, n);
	key = pattern_key(c, tests, n, attribute, filter_folds_case(tests[0]->filter, c->target));
	if (!key.p)
		return too_big(c);
	known = map_get(&c->known, key);
	if (known)
		return known;
	return attribute == ATTRIBUTE_PATH ? add_atom(c, key, tests, n)
					   : add_text_guard(c, key, tests, n);
}

/* ---- Other tests ---- */

static const struct leaf *find_test(struct filter_compiler *c, const struct test *test)
{
	const struct leaf *known;
	struct guard guard;
	struct str key;

	memset(&guard, 0, sizeof(guard)); /* padding too: it is the key */
	guard.attribute = filter_attribute(test->filter);
	guard.match = test->match;
	if (test->match == MATCH_ENDPOINT) {
		guard.endpoint.proto = test->endpoint.proto;
		guard.endpoint.localhost = test->endpoint.localhost;
		guard.endpoint.port = test->endpoint.port;
	} else {
		guard.number = test->number;
	}
	key = (struct str){arena_memdup(c->scratch, &guard, sizeof(guard)), sizeof(guard)};
	if (!key.p)
		return too_big(c);
	known = map_get(&c->known, key);
	return known ? known : add_guard(c, key, guard);
}

static condition make(struct filter_compiler *c, const struct leaf *leaf, bool negated)
{
	condition made = CONDITION_FAILED;

	if (leaf && leaf->kind == CONDITION_FALSE)
		return negated ? CONDITION_TRUE : CONDITION_FALSE;
	if (leaf)
		made = condition_leaf(c->conditions, leaf->kind + negated, leaf->number);
	if (leaf && made == CONDITION_FAILED)
		(void)too_big(c);
	return made;
}

condition filter_patterns(struct filter_compiler *c, const struct test **tests, size_t n,
			  bool negated)
{
	return make(c, find_patterns(c, tests, n), negated);
}

condition filter_test(struct filter_compiler *c, const struct test *test, bool negated)
{
	if (match_is_pattern(test->match))
		return filter_patterns(c, &test, 1, negated);
	return make(c, find_test(c, test), negated);
}
