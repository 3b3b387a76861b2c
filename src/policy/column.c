/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/column.h"

#include "base/banned.h"

static const uint32_t NO_STEP = UINT32_MAX;

enum {
	ENTRY_WORDS = 4
}; /* of an entry in a chain under construction */

/* ---- Steps ---- */

struct step_list {
	struct arena *arena;
	struct conditions *conditions;
	const struct absence *absent; /* what the operation does not have; NULL: nothing is */
	struct step *p;
	size_t n, cap;
	bool failed;
	bool closed; /* has an unconditional step: the rest is never asked */
};

static void push_step(struct step_list *list, condition when, struct decision decision)
{
	struct step *p;

	if (list->closed || list->failed)
		return;
	if (list->absent)
		when = condition_without(list->conditions, when, list->absent);
	if (when == CONDITION_FALSE)
		return;
	p = arena_grow(list->arena, list->p, list->n, &list->cap, sizeof(*p));
	if (!p || when == CONDITION_FAILED) {
		list->failed = true;
		return;
	}
	list->p = p;
	p[list->n++] = (struct step){when, decision};
	list->closed = when == CONDITION_TRUE;
}

static struct decision decision_of(const struct rule *rule)
{
	return (struct decision){rule->verdict, rule, rule->op};
}

/* Filtered rules, last to first. DENIAL, if any, is what deny comes to. */
static void push_filtered(const struct op_blocks *blocks, const struct decision *denial,
			  struct step_list *list)
{
	for (uint32_t i = blocks->n; i-- > 0;) {
		const struct block *block = &blocks->list[i];
		const struct rule *last = block->rules[block->n - 1];
		bool replace = denial && last->verdict == VERDICT_DENY;

		push_step(list, block->when, replace ? *denial : decision_of(last));
	}
}

/* The profile's own rules for OP, without the last step: that is returned. */
static struct decision push_profile(const struct op_blocks *profile, enum op op,
				    struct step_list *list)
{
	for (;; op = op_parent(op)) {
		push_filtered(&profile[op], NULL, list);
		if (profile[op].unfiltered)
			return decision_of(profile[op].unfiltered);
		if (op_is_terminal(op))
			return (struct decision){op_builtin(op), NULL, op};
	}
}

/*
 * The runtime's rules for OP, asked before the profile's FALLBACK would deny. An unfiltered one is
 * a default too: it stands back behind a default that the profile gave for the same operation or a
 * more special one.
 */
static void push_runtime(const struct op_blocks *runtime, enum op op,
			 const struct decision *fallback, struct step_list *list)
{
	bool overruled = false;

	for (;; op = op_parent(op)) {
		const struct rule *unfiltered = runtime[op].unfiltered;

		overruled |= op == fallback->op && fallback->rule;
		push_filtered(&runtime[op], fallback, list);
		if (unfiltered && unfiltered->verdict == VERDICT_ALLOW && !overruled)
			push_step(list, CONDITION_TRUE, decision_of(unfiltered));
		if (unfiltered || op_is_terminal(op))
			return;
	}
}

static bool build_steps(const struct blocks *blocks, enum op op, struct step_list *list)
{
	struct decision fallback = push_profile(blocks->profile, op, list);

	if (fallback.verdict == VERDICT_DENY)
		push_runtime(blocks->runtime, op, &fallback, list);
	push_step(list, CONDITION_TRUE, fallback);
	return !list->failed;
}

/* ---- Columns ---- */

static bool same_steps(const struct column *column, const struct step_list *list)
{
	if (column->n != list->n)
		return false;
	for (uint32_t i = 0; i < column->n; i++) {
		const struct step *x = &column->steps[i], *y = &list->p[i];

		if (x->when != y->when || x->decision.rule != y->decision.rule ||
		    x->decision.op != y->decision.op || x->decision.verdict != y->decision.verdict)
			return false;
	}
	return true;
}

/* Fills first and mixed. */
static bool index_column(const struct columns *c, struct column *column)
{
	column->first = arena_array(c->scratch, c->n_atoms, sizeof(*column->first));
	column->mixed = arena_array(c->scratch, column->n, sizeof(*column->mixed));
	if (!column->first || !column->mixed)
		return false;
	for (size_t atom = 0; atom < c->n_atoms; atom++)
		column->first[atom] = NO_STEP;
	for (uint32_t i = 0; i + 1 < column->n; i++) {
		const uint32_t *words;
		size_t n;

		if (condition_look(c->conditions, column->steps[i].when, &words, &n) !=
		    CONDITION_ATOM)
			column->mixed[column->n_mixed++] = i;
		else if (column->first[words[0]] == NO_STEP)
			column->first[words[0]] = i;
	}
	return true;
}

static bool depends_on_path(const struct columns *c, const struct column *column)
{
	for (uint32_t i = 0; i < column->n; i++)
		if (condition_has_atoms(c->conditions, column->steps[i].when))
			return true;
	return false;
}

static uint16_t find_column(const struct columns *c, const struct step_list *list)
{
	uint16_t i = 0;

	while (i < c->n && !same_steps(&c->list[i], list))
		i++;
	return i;
}

/* Moves the columns that depend on the path to the front. */
static bool sort_columns(struct columns *c)
{
	struct column *sorted = arena_array(c->scratch, c->n, sizeof(*sorted));
	uint16_t new_place[OP_COUNT];
	uint32_t n = 0;

	if (!sorted)
		return false;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < c->n; i++) {
			if (depends_on_path(c, &c->list[i]) != (pass == 0))
				continue;
			new_place[i] = (uint16_t)n;
			sorted[n++] = c->list[i];
		}
		if (pass == 0)
			c->n_path = n;
	}
	c->list = sorted;
	for (unsigned op = 0; op < OP_COUNT; op++)
		c->of[op] = new_place[c->of[op]];
	return true;
}

/* Which operations have what FILTER looks at. */
static void find_holders(enum filter_id filter, bool *ret)
{
	for (unsigned op = 0; op < OP_COUNT; op++)
		ret[op] = op_takes((enum op)op, filter);
	for (unsigned op = OP_COUNT; --op > 0;)
		if (!op_is_asked(op_parent((enum op)op)))
			ret[op_parent((enum op)op)] |= ret[op];
}

/* By filter that is asked, its holders. NULL: no memory. */
static const bool **find_all_holders(const struct columns *c)
{
	const bool **all = arena_array(c->scratch, FILTER_COUNT, sizeof(bool *));

	for (size_t i = 0; all && i <= c->n_guards; i++) {
		enum filter_id filter = i < c->n_guards ? guard_filter(&c->guards[i]) : FILTER_PATH;
		bool *holders;

		if (all[filter])
			continue;
		holders = arena_array(c->scratch, OP_COUNT, sizeof(*holders));
		if (!holders)
			return NULL;
		find_holders(filter, holders);
		all[filter] = holders;
	}
	return all;
}

enum {
	FILTER_WORDS = (FILTER_COUNT + 63) / 64
};

/* Operations that lack the same. */
struct lack {
	uint64_t filters[FILTER_WORDS]; /* of those that are asked */
	struct absence absent;
};

/* Fills what is absent where those FILTERS are. False: no memory. */
static bool fill_lack(const struct columns *c, struct lack *lack)
{
	bool *guards = arena_array(c->scratch, c->n_guards, sizeof(*guards));

	for (size_t i = 0; guards && i < c->n_guards; i++) {
		enum filter_id filter = guard_filter(&c->guards[i]);

		guards[i] = lack->filters[filter / 64] >> filter % 64 & 1;
	}
	lack->absent = (struct absence){
		.guards = guards,
		.atoms = lack->filters[FILTER_PATH / 64] >> FILTER_PATH % 64 & 1,
		.known = arena_array(c->scratch, c->conditions->intern.n, sizeof(condition)),
	};
	return guards && lack->absent.known;
}

/* Which of those LACKS, N of them, OP has; a new one if need be. NULL: no memory. */
static const struct lack *find_lack(const struct columns *c, const bool *const *holders, enum op op,
				    struct lack *lacks, size_t *n)
{
	struct lack lack = {0};

	for (unsigned filter = 0; filter < FILTER_COUNT; filter++)
		if (holders[filter] && !holders[filter][op])
			lack.filters[filter / 64] |= (uint64_t)1 << filter % 64;
	for (size_t i = 0; i < *n; i++)
		if (memcmp(lacks[i].filters, lack.filters, sizeof(lack.filters)) == 0)
			return &lacks[i];
	if (!fill_lack(c, &lack))
		return NULL;
	lacks[*n] = lack;
	return &lacks[(*n)++];
}

static bool add_columns(struct columns *c)
{
	static const uint64_t nothing[FILTER_WORDS];
	const bool **holders = find_all_holders(c);
	struct lack *lacks = arena_array(c->scratch, OP_COUNT, sizeof(*lacks));
	size_t n_lacks = 0;

	if (!holders || !lacks)
		return false;
	for (unsigned op = 0; op < OP_COUNT; op++) {
		struct step_list list = {.arena = c->scratch, .conditions = c->conditions};
		const struct lack *lack = find_lack(c, holders, (enum op)op, lacks, &n_lacks);

		if (!lack)
			return false;
		if (memcmp(lack->filters, nothing, sizeof(nothing)) != 0)
			list.absent = &lack->absent;
		if (!build_steps(c->blocks, (enum op)op, &list))
			return false;
		c->of[op] = find_column(c, &list);
		if (c->of[op] < c->n)
			continue;
		c->list[c->n] = (struct column){.steps = list.p, .n = (uint32_t)list.n};
		if (!index_column(c, &c->list[c->n++]))
			return false;
	}
	return true;
}

/* Room for the entries of any chain. */
static bool reserve_entries(struct columns *c)
{
	size_t most = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->list[i].n_mixed > most)
			most = c->list[i].n_mixed;
	c->entry_words = arena_array(c->scratch, ENTRY_WORDS * (most + 1), sizeof(uint32_t));
	return c->entry_words;
}

bool columns_build(struct columns *c)
{
	c->list = arena_array(c->scratch, OP_COUNT, sizeof(*c->list));
	c->truth = arena_array(c->scratch, c->n_atoms, sizeof(*c->truth));
	c->needed = arena_array(c->scratch, c->n_atoms, sizeof(*c->needed));
	c->atoms = arena_array(c->scratch, c->n_atoms, sizeof(*c->atoms));
	c->facts = arena_array(c->scratch, c->n_atoms, sizeof(*c->facts));
	c->chains.arena = c->rows.arena = c->asked.arena = c->scratch;
	return c->list && c->truth && c->needed && c->atoms && c->facts && add_columns(c) &&
	       sort_columns(c) && reserve_entries(c);
}

/* ---- Pruning ---- */

/* Of N atoms, whose truth is known: the first step that one of them settles alone, or the last. */
static uint32_t first_settled(const struct columns *c, const struct column *column, size_t n,
			      uint32_t *ret_atom)
{
	uint32_t stop = column->n - 1;

	*ret_atom = NO_STEP;
	for (size_t i = 0; i < n; i++) {
		uint32_t atom = c->atoms[i];

		if (c->truth[atom] != TRUTH_YES || column->first[atom] >= stop)
			continue;
		stop = column->first[atom];
		*ret_atom = atom;
	}
	return stop;
}

/* Marks what the steps of COLUMN rest on, up to the one that is sure to decide. */
static void mark_needed(struct columns *c, const struct column *column, size_t n_atoms)
{
	uint32_t settler, stop = first_settled(c, column, n_atoms, &settler);

	for (uint32_t i = 0; i < column->n_mixed && column->mixed[i] < stop; i++) {
		condition when = column->steps[column->mixed[i]].when;

		condition_mark(c->conditions, when, c->truth, c->needed);
		if (condition_value(c->conditions, when, c->truth) != TRUTH_YES)
			continue;
		stop = column->mixed[i];
		settler = NO_STEP;
	}
	if (settler != NO_STEP)
		c->needed[settler] = 1;
	for (size_t i = 0; i < n_atoms; i++)
		if (c->truth[c->atoms[i]] == TRUTH_OPEN && column->first[c->atoms[i]] < stop)
			c->needed[c->atoms[i]] = 1;
}

/* Sets needed for the atoms at hand, N of them. */
static void find_needed(struct columns *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c->needed[c->atoms[i]] = 0;
	for (uint32_t i = 0; i < c->n_path; i++)
		mark_needed(c, &c->list[i], n);
}

/* As find_needed(), which is not asked twice about the same atoms and truth. */
static void recall_needed(struct columns *c, size_t n)
{
	int64_t id = intern_put(&c->asked, c->facts, n);
	uint8_t **answers, *answer;

	if (id >= 0 && (size_t)id < c->n_answers) {
		for (size_t i = 0; i < n; i++)
			c->needed[c->atoms[i]] = c->answers[id][i];
		return;
	}
	find_needed(c, n);
	answer = arena_alloc(c->scratch, n);
	answers =
		arena_grow(c->scratch, c->answers, c->n_answers, &c->cap_answers, sizeof(*answers));
	if (answers)
		c->answers = answers; /* whatever happens: cap_answers is about it */
	if (!answer || !answers || (size_t)id != c->n_answers)
		return; /* no memory: never mind */
	for (size_t i = 0; i < n; i++)
		answer[i] = c->needed[c->atoms[i]];
	answers[c->n_answers++] = answer;
}

/* Notes that ATOM, the N-th of the facts, is open or (YES) holds. */
static void add_fact(struct columns *c, uint32_t atom, bool yes, size_t *n)
{
	if (c->truth[atom] != TRUTH_NO)
		return;
	c->truth[atom] = yes ? TRUTH_YES : TRUTH_OPEN;
	c->facts[*n] = atom << 1 | yes;
	c->atoms[(*n)++] = atom;
}

void columns_prune(void *context, const struct nfa *nfa, struct node_list *list,
		   struct open_atoms open)
{
	struct columns *c = context;
	size_t n_atoms = 0, kept = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct node *node = &nfa->nodes[list->p[i]];

		add_fact(c, node->atom, node->kind == NODE_MATCH, &n_atoms);
	}
	for (size_t i = 0; i < open.n; i++)
		add_fact(c, open.list[i], false, &n_atoms);
	recall_needed(c, n_atoms);
	for (size_t i = 0; i < list->n; i++)
		if (c->needed[nfa->nodes[list->p[i]].atom])
			list->p[kept++] = list->p[i];
	list->n = kept;
	for (size_t i = 0; i < n_atoms; i++)
		c->truth[c->atoms[i]] = TRUTH_NO;
}

/* ---- Rows ---- */

static void put_entry(uint32_t *words, condition guard, const struct decision *decision)
{
	words[0] = guard;
	words[1] = decision->verdict;
	words[2] = decision->op;
	words[3] = decision->rule ? decision->rule->index + 1 : 0;
}

/* The chain of COLUMN under the present truth, of which nothing is open; N atoms hold. */
static int64_t find_chain(struct columns *c, const struct column *column, size_t n_atoms)
{
	uint32_t settler, stop = first_settled(c, column, n_atoms, &settler);
	uint32_t *words = c->entry_words;
	size_t n = 0;

	for (uint32_t i = 0; i < column->n_mixed && column->mixed[i] < stop; i++) {
		const struct step *step = &column->steps[column->mixed[i]];
		condition guard = condition_residue(c->conditions, step->when, c->truth);

		if (guard == CONDITION_FAILED)
			return INTERN_FAILED;
		if (guard == CONDITION_TRUE)
			stop = column->mixed[i];
		else if (guard != CONDITION_FALSE)
			put_entry(words + ENTRY_WORDS * n++, guard, &step->decision);
	}
	put_entry(words + ENTRY_WORDS * n++, CONDITION_TRUE, &column->steps[stop].decision);
	return intern_put(&c->chains, words, ENTRY_WORDS * n);
}

bool columns_row(struct columns *c, const uint32_t *atoms, size_t n, uint32_t *ret)
{
	uint32_t row[OP_COUNT];
	int64_t id = 0;

	for (size_t i = 0; i < n; i++) {
		c->truth[atoms[i]] = TRUTH_YES;
		c->atoms[i] = atoms[i];
	}
	for (uint32_t i = 0; i < c->n_path && id >= 0; i++) {
		id = find_chain(c, &c->list[i], n);
		row[i] = (uint32_t)id;
	}
	for (size_t i = 0; i < n; i++)
		c->truth[atoms[i]] = TRUTH_NO;
	if (id >= 0)
		id = intern_put(&c->rows, row, c->n_path);
	*ret = (uint32_t)id;
	return id >= 0;
}

/* ---- Into the policy ---- */

/* Which guards ask what the kernel of POLICY's target never tells. NULL: no memory. */
static const bool *find_absent(const struct policy *policy, struct arena *scratch)
{
	bool *absent = arena_array(scratch, policy->n_guards, sizeof(*absent));

	for (size_t i = 0; absent && i < policy->n_guards; i++)
		absent[i] = guard_is_absent(&policy->guards[i], policy->target);
	return absent;
}

/*
 * What CHAIN comes to for requests of the kernel: its shape and verdicts. Entries right before the
 * last that decide as it does change nothing, so they do not count in the shape. False: no memory.
 */
static bool find_shape(struct columns *c, const struct absence *absent, struct intern *shapes,
		       struct chain *chain)
{
	uint32_t *words = arena_array(c->scratch, 2 * (size_t)chain->n, sizeof(*words));
	condition guard = CONDITION_FALSE;
	int64_t shape;
	size_t n = 0;

	for (uint32_t i = 0; words && i < chain->n && guard != CONDITION_TRUE; i++) {
		guard = condition_without(c->conditions, chain->entries[i].guard, absent);
		if (guard == CONDITION_FAILED)
			return false;
		if (guard == CONDITION_FALSE)
			continue;
		words[2 * n] = guard;
		words[2 * n++ + 1] = chain->entries[i].decision.verdict;
	}
	if (!words)
		return false;
	while (n > 1 && words[2 * (n - 2) + 1] == words[2 * (n - 1) + 1]) {
		words[2 * (n - 2)] = CONDITION_TRUE;
		n--;
	}
	chain->verdicts = n == 1 ? 1u << words[1] : CAN_DENY | CAN_ALLOW;
	shape = intern_put(shapes, words, 2 * n);
	chain->shape = (uint32_t)shape;
	return shape >= 0;
}

static void get_entries(const struct columns *c, const struct policy *policy, const uint32_t *words,
			struct entry *ret, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, words += ENTRY_WORDS)
		ret[i] = (struct entry){
			.guard = words[0],
			.decision =
				{
					.verdict = (enum verdict)words[1],
					.op = (enum op)words[2],
					.rule = words[3] ? &policy->rules[words[3] - 1] : NULL,
				},
			.block = words[3] ? c->blocks->of[words[3] - 1] : NULL,
		};
}

static bool store_chains(struct columns *c, struct policy *policy)
{
	struct intern shapes = {.arena = c->scratch};
	struct chain *chains = arena_array(&policy->arena, c->chains.n, sizeof(*chains));
	struct entry *entries =
		arena_array(&policy->arena, c->chains.n_words / ENTRY_WORDS, sizeof(*entries));
	struct absence absent = {
		.guards = find_absent(policy, c->scratch),
		.known = arena_array(c->scratch, c->conditions->intern.n, sizeof(condition)),
	};

	if (!chains || !entries || !absent.guards || !absent.known)
		return false;
	for (uint32_t i = 0; i < c->chains.n; i++) {
		size_t n;
		const uint32_t *words = intern_get(&c->chains, i, &n);

		n /= ENTRY_WORDS;
		get_entries(c, policy, words, entries, (uint32_t)n);
		chains[i] = (struct chain){.entries = entries, .n = (uint32_t)n};
		if (!find_shape(c, &absent, &shapes, &chains[i]))
			return false;
		entries += n;
	}
	policy->chains = chains;
	return true;
}

bool columns_store(struct columns *c, struct policy *policy)
{
	uint32_t n_fixed = c->n - c->n_path;
	uint32_t *fixed = arena_array(&policy->arena, n_fixed, sizeof(*fixed));
	uint32_t *rows = arena_array(&policy->arena, c->rows.n_words, sizeof(*rows));

	if (!fixed || !rows)
		return false;
	for (uint32_t i = 0; i < n_fixed; i++) {
		int64_t chain = find_chain(c, &c->list[c->n_path + i], 0);

		if (chain < 0)
			return false;
		fixed[i] = (uint32_t)chain;
	}
	for (uint32_t i = 0; i < c->rows.n; i++) {
		size_t n;
		const uint32_t *row = intern_get(&c->rows, i, &n);

		memcpy(rows + i * n, row, n * sizeof(*rows));
	}
	policy->fixed = fixed;
	policy->rows = rows;
	policy->n_path_columns = c->n_path;
	memcpy(policy->column, c->of, sizeof(policy->column));
	return store_chains(c, policy);
}
