/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that have no effect, or not the one that they seem to have. */
#include "policy/hunt.h"

#include "base/banned.h"

enum {
	HUNT_STOPS = 1 << 16 /* of all searches together */
};

/* " of '/a'", or "". Never NULL. */
static const char *of_path(struct linter *linter, const char *word, struct str path)
{
	const char *text =
		path.n ? arena_printf(linter->arena, " %s '%.*s'", word, (int)path.n, path.p) : "";

	linter->failed |= !text;
	return text ? text : "";
}

/* ---- Specific operations win ---- */

/*
 * A denial that is not one anywhere matters. Something allowed may well have exceptions; it is
 * worth a word where it allows nothing at all.
 */
static bool is_surprising(const struct census *c, const struct pair *pair)
{
	return pair->wide->verdict == VERDICT_DENY ||
	       !census_is_live(c, c->form_of[pair->wide->index], pair->op);
}

static void report_pair(const struct census *c, const struct pair *pair, const bool *ops)
{
	struct linter *linter = c->linter;
	const struct rule *wide = pair->wide, *narrow = pair->narrow;
	const char *wide_does = verdict_name(wide->verdict);

	lint_add(linter,
		 (struct finding){
			 .kind = LINT_SPECIFIC_WINS,
			 .at = wide->at,
			 .path = pair->path,
			 .text = arena_printf(linter->arena,
					      "this rule does not %s %s%s: %s, a rule of %s, wins "
					      "over rules of %s",
					      wide_does, op_name(narrow->op),
					      of_path(linter, "of", pair->path),
					      lint_place(linter, wide->at, narrow->at),
					      op_name(narrow->op), op_name(wide->op)),
			 .hint = arena_printf(linter->arena, "name both: (%s %s %s ...)", wide_does,
					      op_name(wide->op), lint_op_names(linter, ops)),
		 });
}

static void report_pairs(const struct census *c)
{
	for (size_t i = 0, same; i < c->n_pairs; i += same) {
		const struct pair *first = NULL;
		bool ops[OP_COUNT] = {false};

		for (same = 0; i + same < c->n_pairs; same++) {
			const struct pair *pair = &c->pairs[i + same];

			if (!lint_same_place(c->pairs[i].wide->at, pair->wide->at))
				break;
			if (!is_surprising(c, pair))
				continue;
			first = first ? first : pair;
			ops[pair->narrow->op] |= pair->wide->op == first->wide->op;
		}
		if (first)
			report_pair(c, first, ops);
	}
}

/* ---- Rules that decide nothing ---- */

static bool is_dead(const struct census *c, size_t form)
{
	for (unsigned op = 0; op < OP_COUNT; op++)
		if (census_is_live(c, form, (enum op)op))
			return false;
	return true;
}

/* The forms of one place in the text. */
struct dead {
	const struct census *census;
	struct linter *linter;
	size_t *stops;
	const struct rule *const *rules;
	size_t n;
	size_t first, end; /* forms */
	const char *which; /* "", or the operations for which it is dead */
};

static bool is_of_dead_form(const struct dead *d, const struct rule *rule)
{
	return is_dead(d->census, d->census->form_of[rule->index]);
}

/* Never NULL. */
static const char *name_dead(const struct dead *d)
{
	bool ops[OP_COUNT] = {false}, all = true;
	const char *text = "";

	for (size_t form = d->first; form < d->end; form++) {
		bool dead = is_dead(d->census, form);

		ops[d->census->forms[form].op] |= dead;
		all &= dead;
	}
	if (!all)
		text = arena_printf(d->linter->arena, "for %s ", lint_op_names(d->linter, ops));
	d->linter->failed |= !text;
	return text ? text : "";
}

/* ---- Defaults ---- */

/* The unfiltered rule that counts in the place of RULE; it may be RULE itself. */
static const struct rule *last_default(const struct census *c, const struct rule *rule)
{
	const struct rule *last = rule;

	for (size_t i = rule->index; i < c->policy->n_rules; i++) {
		const struct rule *other = &c->policy->rules[i];

		if (other->op == rule->op && !other->filter && other->origin == ORIGIN_PROFILE)
			last = other;
	}
	return last;
}

static void report_default(const struct dead *d, const struct rule *rule)
{
	struct arena *arena = d->linter->arena;
	const struct rule *last = last_default(d->census, rule);
	struct finding finding = {.kind = LINT_DEAD_DEFAULT, .at = rule->at, .hint = "it can go"};

	if (last != rule) {
		finding.text = arena_printf(
			arena,
			"%sthis rule never decides: of the rules of %s without a "
			"filter the last one counts, at %s",
			d->which, op_name(rule->op), lint_place(d->linter, rule->at, last->at));
		if (last->verdict != rule->verdict)
			finding.hint = "one of them says what you mean; drop the other";
	} else {
		finding.text = arena_printf(
			arena,
			"%sthis rule never decides: rules with filters and those of more "
			"specific operations leave nothing to it",
			d->which);
	}
	lint_add(d->linter, finding);
}

/* ---- Filtered rules ---- */

static void report_redundant(const struct dead *d, const struct rule *rule,
			     const struct quarry *found)
{
	struct linter *linter = d->linter;

	lint_add(linter, (struct finding){
				 .kind = LINT_REDUNDANT_RULE,
				 .at = rule->at,
				 .path = found->path,
				 .text = arena_printf(
					 linter->arena,
					 "%sthis rule changes nothing: wherever it matches others "
					 "%s too, such as %s%s",
					 d->which, verdict_name(rule->verdict),
					 lint_place(linter, rule->at, found->by->at),
					 of_path(linter, "for", found->path)),
				 .hint = "it can go",
			 });
}

/* What to do so that RULE decides where FOUND->by does. */
static const char *revive(struct linter *linter, const struct rule *rule,
			  const struct quarry *found)
{
	const struct rule *by = found->by;
	const char *hint;

	if (by->op == rule->op)
		return "of the rules of one operation the last that matches decides: exceptions "
		       "stand behind what they are exceptions from";
	hint = arena_printf(linter->arena, "rules of %s win over those of %s: name it here too",
			    op_name(by->op), op_name(rule->op));
	linter->failed |= !hint;
	return hint;
}

static void report_dead(const struct dead *d, const struct rule *rule, const struct quarry *found)
{
	struct linter *linter = d->linter;

	lint_add(linter,
		 (struct finding){
			 .kind = LINT_DEAD_RULE,
			 .at = rule->at,
			 .path = found->path,
			 .text = arena_printf(
				 linter->arena,
				 "%sthis rule never decides: wherever it matches others do, such "
				 "as %s%s",
				 d->which, lint_place(linter, rule->at, found->by->at),
				 of_path(linter, "for", found->path)),
			 .hint = revive(linter, rule, found),
		 });
}

struct mentions {
	const struct linter *linter;
	bool found;
};

static void find_mention(void *context, const struct test *test)
{
	struct mentions *mentions = context;

	mentions->found |= lint_has(mentions->linter, LINT_NO_MATCH, test->at) ||
			   lint_has_variable(test, mentions->linter->policy->target);
}

static void report_unmatched(const struct dead *d, const struct rule *rule)
{
	struct linter *linter = d->linter;
	struct mentions mentions = {.linter = linter};

	lint_tests(rule->filter, find_mention, &mentions);
	if (mentions.found || lint_has(linter, LINT_NO_MATCH, rule->at))
		return;
	lint_add(linter,
		 (struct finding){
			 .kind = LINT_NO_MATCH,
			 .at = rule->at,
			 .text = arena_printf(linter->arena,
					      "%sthis rule matches nothing: no request for %s "
					      "meets its filters together",
					      d->which, op_name(rule->op)),
		 });
}

/* What was found of the rule that says most: one that others decide against, if there is one. */
static void report_filtered(const struct dead *d)
{
	const struct rule *told = NULL, *unmatched = NULL;
	struct quarry best = {0};
	bool redundant = true;

	for (size_t i = 0; i < d->n && redundant; i++) {
		const struct rule *rule = d->rules[i];
		struct quarry found;

		if (!rule->filter || !is_of_dead_form(d, rule))
			continue;
		hunt(d->census, rule, d->stops, &found);
		if (found.complete && !found.matched)
			unmatched = rule;
		redundant =
			found.complete && (!found.matched || found.by->verdict == rule->verdict);
		if (found.matched && (!told || !redundant)) {
			told = rule;
			best = found;
		}
	}
	if (told && redundant)
		report_redundant(d, told, &best);
	else if (told)
		report_dead(d, told, &best);
	else if (unmatched)
		report_unmatched(d, unmatched);
}

static void report_forms(struct dead *d)
{
	const struct rule *unfiltered = NULL;
	bool filtered = false;

	for (size_t i = 0; i < d->n; i++) {
		if (!is_of_dead_form(d, d->rules[i]))
			continue;
		if (d->rules[i]->filter)
			filtered = true;
		else
			unfiltered = d->rules[i];
	}
	if (!filtered && !unfiltered)
		return;
	d->which = name_dead(d);
	if (unfiltered)
		report_default(d, unfiltered);
	else
		report_filtered(d);
}

static void report_dead_forms(const struct census *c)
{
	size_t stops = HUNT_STOPS;

	for (size_t form = 0, end; form < c->n_forms; form = end) {
		const struct form *first = &c->forms[form];
		struct dead d = {.census = c,
				 .linter = c->linter,
				 .stops = &stops,
				 .rules = first->rules,
				 .n = first->n,
				 .first = form};

		for (end = form + 1; end < c->n_forms; end++)
			if (c->forms[end].rules != first->rules)
				break;
		d.end = end;
		if (lint_is_own(first->rules[0]) && !lint_is_made_up(first->rules[0]) &&
		    !lint_has(c->linter, LINT_SPECIFIC_WINS, first->rules[0]->at))
			report_forms(&d);
	}
}

void lint_rules(struct linter *linter)
{
	struct census census;

	if (!linter->apart)
		return;
	if (census_take(&census, linter)) {
		report_pairs(&census);
		report_dead_forms(&census);
	}
	census_release(&census);
}
