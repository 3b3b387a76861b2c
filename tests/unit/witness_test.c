/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that stand for all, against lists of all there are over small alphabets. Random, from
 * fixed seeds.
 */
#include "random.h"
#include "rules.h"
#include "policy/paths.h"
#include "policy/witness.h"

#include "base/banned.h"

enum {
	TWO = 2,
	LISTED_MAX = 6000,
	TEXTS = 121, /* of "abc", up to four bytes */
	OUTCOMES_MAX = 1024,
};

/* ---- Random rules about anything but paths ---- */

/* What guards of some operation ask: the filter, and of what numbers or texts. */
struct theme {
	enum op op;
	enum target target;
	bool has_path;
	struct {
		enum filter_id filter;
		enum match match;
		int64_t numbers[4]; /* ended by -1 where there are fewer */
		const char *texts[4];
	} filters[6];
};

static const struct theme themes[] = {
	{OP_FILE_READ_XATTR,
	 TARGET_LINUX,
	 true,
	 {{FILTER_VNODE_TYPE, MATCH_INTEGER, {1, 2, 7, -1}, {NULL}},
	  {FILTER_FILE_MODE, MATCH_BITS, {1, 2, 6, 3}, {NULL}},
	  {FILTER_XATTR, MATCH_PREFIX, {-1}, {"a", "ab", "b", "aa"}},
	  {FILTER_XATTR, MATCH_REGEX, {-1}, {"b$", "^a*$", "ab|ba", "^..$"}}}},
	{OP_FILE_READ_DATA,
	 TARGET_DARWIN,
	 true,
	 {{FILTER_EXTENSION, MATCH_STRING, {-1}, {"a", "b", "c", "ab"}},
	  {FILTER_UID, MATCH_INTEGER, {0, 501, 502, -1}, {NULL}},
	  {FILTER_DEVICE_MAJOR, MATCH_INTEGER, {0, 1, 2, -1}, {NULL}},
	  {FILTER_DEVICE_MINOR, MATCH_INTEGER, {0, 1, 2, -1}, {NULL}},
	  {FILTER_ENTITLEMENT_BOOLEAN, MATCH_BOOL, {0, 1, -1}, {NULL}}}},
	{OP_SIGNAL,
	 TARGET_LINUX,
	 false,
	 {{FILTER_TARGET, MATCH_INTEGER, {1, 2, 3, 5}, {NULL}},
	  {FILTER_TARGET, MATCH_INTEGER, {4, 6, -1}, {NULL}},
	  {FILTER_SIGNAL_NUMBER, MATCH_INTEGER, {9, 15, -1}, {NULL}},
	  {FILTER_PROCESS_PATH, MATCH_SUBPATH, {-1}, {"/a", "/", "/a/b", "/b"}}}},
};

static unsigned count_until(const int64_t *numbers)
{
	unsigned n = 0;

	while (n < 4 && numbers[n] != -1)
		n++;
	return n;
}

static struct expr *random_guard(struct policy_builder *b, const struct theme *theme)
{
	unsigned n = 0, i;
	struct test test;

	while (n < 6 && theme->filters[n].filter != FILTER_PATH)
		n++;
	i = below(n);
	test = (struct test){.filter = theme->filters[i].filter, .match = theme->filters[i].match};
	if (theme->filters[i].texts[0])
		test.text = str_of(theme->filters[i].texts[below(4)]);
	else
		test.number =
			theme->filters[i].numbers[below(count_until(theme->filters[i].numbers))];
	return rules_expr(b, test);
}

static struct expr *random_filter(struct policy_builder *b, const struct theme *theme,
				  unsigned depth)
{
	static const enum expr_kind kinds[] = {EXPR_ALL, EXPR_ANY, EXPR_NOT};
	enum expr_kind kind = kinds[below(3)];
	unsigned n = kind == EXPR_NOT ? 1 : 1 + below(3);
	struct expr *expr;

	if (depth == 0 || one_in(3))
		return random_guard(b, theme);
	expr = group(b, kind, 3, NULL, NULL, NULL);
	expr->n = n;
	for (unsigned i = 0; i < n; i++)
		expr->kids[i] = random_filter(b, theme, depth - 1);
	return expr;
}

static struct policy *random_rules(const struct theme *theme)
{
	struct policy_builder *b = rules_new(theme->target);
	unsigned n = 1 + below(5);

	for (unsigned i = 0; i < n; i++)
		rules_add(b, one_in(2) ? VERDICT_ALLOW : VERDICT_DENY, theme->op,
			  random_filter(b, theme, 2));
	return rules_build(b);
}

/* ---- All requests ---- */

static struct request listed[LISTED_MAX];
static unsigned n_listed;

static const char *const some_paths[] = {"", "/", "/a", "/b", "/c", "/a/b", "/a/c"};

static struct request *list_next(enum op op)
{
	struct request *request = &listed[n_listed];

	n_listed += n_listed < LISTED_MAX - 1;
	*request = (struct request){.op = op};
	return request;
}

/* Text I of all there are over "abc", shortest first. */
static struct str text_of(unsigned i)
{
	static char texts[TEXTS][8];
	char *text = texts[i];
	size_t n = 0;

	for (; i > 0; i = (i - 1) / 3)
		text[n++] = "abc"[(i - 1) % 3];
	return (struct str){text, n};
}

static void list_files_on_linux(void)
{
	static const unsigned types[] = {0, 1, 2, 7, 3};

	for (unsigned type = 0; type < 5; type++)
		for (unsigned mode = 0; mode < 9; mode++)
			for (unsigned text = 0; text < TEXTS; text++) {
				struct request *r = list_next(OP_FILE_READ_XATTR);

				r->has = (type ? HAS_VNODE_TYPE : 0) |
					 (mode < 8 ? HAS_FILE_MODE : 0);
				r->vnode_type = (enum vnode_type)types[type];
				r->file_mode = mode;
				r->xattr = text_of(text);
			}
}

/* Every set of four extensions, a user or none, a device or none. */
static void list_files_on_darwin(void)
{
	static struct fact facts[LISTED_MAX][6];
	static const char *const extensions[] = {"a", "b", "c", "ab"};
	static const int64_t uids[] = {-1, 0, 501, 502, 7};

	for (unsigned set = 0; set < 16; set++)
		for (unsigned uid = 0; uid < 5; uid++)
			for (unsigned payload = 0; payload < 3; payload++)
				for (unsigned device = 0; device < 17; device++) {
					struct fact *fact = facts[n_listed];
					struct request *r = list_next(OP_FILE_READ_DATA);

					r->facts = fact;
					for (unsigned i = 0; i < 4; i++)
						if (set >> i & 1)
							fact[r->n_facts++] = (struct fact){
								FILTER_EXTENSION,
								str_of(extensions[i]), 0};
					if (uid)
						fact[r->n_facts++] =
							(struct fact){FILTER_UID, {0}, uids[uid]};
					if (payload)
						fact[r->n_facts++] =
							(struct fact){FILTER_ENTITLEMENT_BOOLEAN,
								      {0},
								      payload - 1};
					r->has = device ? HAS_DEVICE : 0;
					r->device_major = device ? (device - 1) / 4 : 0;
					r->device_minor = device ? (device - 1) % 4 : 0;
				}
}

static void list_signals(void)
{
	enum {
		SELF = 1 << SIGNAL_TARGET_SELF,
		PGRP = 1 << SIGNAL_TARGET_PGRP,
		OTHERS = 1 << SIGNAL_TARGET_OTHERS,
		CHILDREN = 1 << SIGNAL_TARGET_CHILDREN,
		SAME = 1 << SIGNAL_TARGET_SAME_SANDBOX,
		INIT = 1 << SIGNAL_TARGET_INITPROC
	};
	static const unsigned targets[] = {
		SELF | PGRP | SAME,     SAME,   CHILDREN | SAME, SAME | PGRP,
		CHILDREN | SAME | PGRP, OTHERS, INIT | OTHERS,   OTHERS | PGRP,
		INIT | OTHERS | PGRP};
	static const int numbers[] = {0, 9, 15, 1};
	static struct fact facts[LISTED_MAX];

	for (unsigned target = 0; target < 9; target++)
		for (unsigned number = 0; number < 4; number++)
			for (unsigned path = 0; path < 7; path++) {
				struct fact *fact = &facts[n_listed];
				struct request *r = list_next(OP_SIGNAL);

				*fact = (struct fact){FILTER_PROCESS_PATH, str_of(some_paths[path]),
						      0};
				r->facts = fact;
				r->n_facts = path > 0;
				r->targets = targets[target];
				r->has = number ? HAS_SIGNAL : 0;
				r->signal = numbers[number];
			}
}

/* ---- Outcomes ---- */

/* What the policies decide, and how many words the shortest request takes with which they do. */
struct outcome {
	const struct rule *rules[TWO];
	unsigned words;
};

struct outcomes {
	const struct policy *policies[TWO];
	unsigned n_policies;
	struct outcome list[OUTCOMES_MAX];
	unsigned n;
};

static void note(struct outcomes *outcomes, const struct request *request, unsigned words)
{
	struct outcome found = {.words = words};
	unsigned i = 0;

	for (unsigned j = 0; j < outcomes->n_policies; j++) {
		struct decision decision;

		policy_decide_at(outcomes->policies[j], policy_start(outcomes->policies[j]),
				 request, &decision);
		found.rules[j] = decision.rule;
	}
	while (i < outcomes->n &&
	       memcmp(outcomes->list[i].rules, found.rules, sizeof(found.rules)) != 0)
		i++;
	if (i == outcomes->n)
		outcomes->list[outcomes->n++] = found;
	else if (words < outcomes->list[i].words)
		outcomes->list[i].words = words;
}

static unsigned count_bits(unsigned set)
{
	return set ? 1 + count_bits(set & (set - 1)) : 0;
}

/* SELF says three things at once, and so on. */
static unsigned target_words(unsigned set)
{
	unsigned least = set ? 9 : 0;

	for (unsigned words = 0; words < 128; words += 2) {
		unsigned said = 0;

		for (unsigned i = 1; i <= SIGNAL_TARGET_INITPROC; i++)
			if (words >> i & 1)
				said |= signal_target_set((enum signal_target)i);
		if (said == set && count_bits(words) < least)
			least = count_bits(words);
	}
	return least;
}

static unsigned count_words(const struct request *request)
{
	return (unsigned)request->n_facts + (request->xattr.n > 0) +
	       ((request->has & HAS_VNODE_TYPE) > 0) + ((request->has & HAS_FILE_MODE) > 0) +
	       ((request->has & HAS_SIGNAL) > 0) + (request->has & HAS_DEVICE ? 2 : 0) +
	       target_words(request->targets);
}

static int note_witness(void *context, const struct request *request, unsigned cost)
{
	note(context, request, cost / 1000);
	return 0;
}

static bool same_outcomes(const struct outcomes *got, const struct outcomes *want)
{
	if (got->n != want->n)
		return false;
	for (unsigned i = 0; i < want->n; i++) {
		unsigned j = 0;

		while (j < got->n && memcmp(got->list[j].rules, want->list[i].rules,
					    sizeof(got->list[j].rules)) != 0)
			j++;
		if (j == got->n || got->list[j].words > want->list[i].words)
			return false;
	}
	return true;
}

static bool find_outcomes(const struct theme *theme, struct outcomes *ret)
{
	struct witness_options options = {.policies = ret->policies,
					  .n = ret->n_policies,
					  .memory = WITNESS_MEMORY_DEFAULT,
					  .steps = &(size_t){WITNESS_STEPS_DEFAULT}};
	policy_state states[TWO];
	struct witness_place place = {theme->op, states, theme->has_path};
	struct witnesses *witnesses;
	bool ok = true;

	for (unsigned i = 0; i < ret->n_policies; i++)
		states[i] = policy_start(ret->policies[i]);
	if (witnesses_new(&options, &witnesses, NULL) < 0)
		return false;
	/* The second time from what the first one found. */
	for (unsigned i = 0; i < 2 && ok; i++)
		ok = witness_each(witnesses, &place, note_witness, ret, NULL) == 0;
	witnesses_free(witnesses);
	return ok;
}

static void check_theme(const struct theme *theme, unsigned rounds)
{
	static struct outcomes got, want;
	unsigned several = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct policy *policies[TWO] = {random_rules(theme), random_rules(theme)};
		bool ok;

		got = want = (struct outcomes){.policies = {policies[0], policies[1]},
					       .n_policies = 1 + i % TWO};
		for (unsigned j = 0; j < n_listed; j++)
			note(&want, &listed[j], count_words(&listed[j]));
		ok = find_outcomes(theme, &got) && same_outcomes(&got, &want);
		if (!ok)
			printf("# round %u: %u outcomes, not %u\n", i, got.n, want.n);
		CHECK(ok);
		several += want.n > 2;
		policy_free(policies[0]);
		policy_free(policies[1]);
	}
	CHECK(several > rounds / 4); /* the rules have something to say */
}

static void every_outcome_of_a_file_is_found(void)
{
	random_state = 0xf11e;
	n_listed = 0;
	list_files_on_linux();
	check_theme(&themes[0], 200);
}

static void facts_may_be_there_at_once(void)
{
	random_state = 0xfac7;
	n_listed = 0;
	list_files_on_darwin();
	CHECK(n_listed < LISTED_MAX - 1);
	check_theme(&themes[1], 200);
}

static void processes_are_what_processes_can_be(void)
{
	random_state = 0x516;
	n_listed = 0;
	list_signals();
	check_theme(&themes[2], 1000);
}

int main(void)
{
	RUN(every_outcome_of_a_file_is_found);
	RUN(facts_may_be_there_at_once);
	RUN(processes_are_what_processes_can_be);
	return test_done();
}
