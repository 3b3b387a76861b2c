/* SPDX-License-Identifier: Apache-2.0 */
/* The plan for people. Paths come from policies and disks: they are escaped. */
#include "plan/words.h"

#include <stdlib.h>

#include "base/banned.h"

enum {
	NAMES_SHOWN = 8, /* of rows that differ in the last name only; more are counted */
};

static void put_words(struct buf *ret, const struct word *words, unsigned bits,
		      const char *separator)
{
	bool any = false;

	for (; words->text; words++) {
		if (!(bits & words->bits))
			continue;
		buf_printf(ret, "%s%s", any ? separator : "", words->text);
		any = true;
	}
	if (!any)
		buf_puts(ret, "none");
}

static void put_outer(const struct plan_input *input, struct buf *ret)
{
	const struct outer *outer = &input->caps->outer;

	if (!outer->asks)
		return;
	buf_puts(ret, ";; inside another lapbelt: decided by both; it judges ");
	put_words(ret, class_words, outer->classes, " ");
	buf_putc(ret, '\n');
}

static void put_scope(const struct plan_input *input, struct buf *ret)
{
	buf_puts(ret, ";; scope:");
	for (const struct word *word = scope_words; word->text; word++)
		buf_printf(ret, "%s %s %s", word == scope_words ? "" : ",", word->text,
			   whose_scope(input, word->bits));
	buf_putc(ret, '\n');
}

/* ---- Rules ---- */

/* Safe for a terminal, but a backslash stays what it is: for people, who know regexes. */
static void put_text(struct str text, struct buf *ret)
{
	for (;;) {
		const char *end = memchr(text.p, '\\', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;

		buf_add_escaped(ret, (struct str){text.p, n});
		if (!end)
			return;
		buf_putc(ret, '\\');
		text = str_skip(text, n + 1);
	}
}

static void put_rule(const struct rule *rule, struct buf *ret)
{
	if (rule->at.file) {
		buf_add_escaped(ret, str_of(rule->at.file));
		buf_printf(ret, ":%u:%u: ", rule->at.line, rule->at.column);
	}
	put_text(rule->text, ret);
}

static void put_gap(const struct gap *gap, struct buf *ret)
{
	static const char *const words[] = {
		[GAP_CONTENT] = "gap",
		[GAP_METADATA] = "gap (metadata)",
		[GAP_STRICTER] = "stricter than written",
	};

	buf_printf(ret, "%s: ", words[gap->kind]);
	buf_add_escaped(ret, str_of(gap->text));
	if (gap->help)
		buf_printf(ret, " (would help: %s)", gap->help);
	buf_putc(ret, '\n');
}

/* floor, filter, broker (write, attributes) */
static void put_mechanisms(const struct rule_report *form, struct buf *ret)
{
	const unsigned by = form->by & ~(unsigned)BY_NOTHING;
	bool any = false;

	for (const struct word *word = mechanism_words; word->text; word++) {
		if (!(by & word->bits))
			continue;
		buf_printf(ret, "%s%s", any ? ", " : "", word->text);
		any = true;
		if (word->bits != BY_BROKER && word->bits != BY_NAMESPACE)
			continue;
		buf_puts(ret, " (");
		if (word->bits == BY_BROKER)
			put_words(ret, class_words, form->classes, " ");
		else
			put_words(ret, ns_words, form->ns, " ");
		buf_putc(ret, ')');
	}
}

static void put_statement(const struct rule_report *form, struct buf *ret)
{
	if (!form->applies) {
		buf_puts(ret, "    not applicable here\n");
		return;
	}
	if (form->by & ~(unsigned)BY_NOTHING) {
		buf_puts(ret, form->n_gaps ? "    enforced in part by " : "    enforced by ");
		put_mechanisms(form, ret);
		buf_putc(ret, '\n');
	} else if (!form->n_gaps) {
		buf_puts(ret, "    nothing is needed\n");
	}
	for (size_t i = 0; i < form->n_gaps; i++) {
		buf_puts(ret, "    ");
		put_gap(form->gaps[i], ret);
	}
}

static void put_rules(const struct report *report, bool added, struct buf *ret)
{
	struct buf lines = {.p = NULL};
	size_t n = 0, exact = 0, missing = 0;

	for (size_t i = 0; i < report->n_rules; i++) {
		const struct rule_report *form = &report->rules[i];

		if ((form->rule->origin != ORIGIN_PROFILE) != added)
			continue;
		n++;
		exact += is_exact(form);
		missing += !form->applies;
		buf_puts(&lines, "  ");
		put_rule(form->rule, &lines);
		buf_putc(&lines, '\n');
		put_statement(form, &lines);
	}
	if (n || !added)
		buf_printf(ret, "%s: %zu, %zu enforced as written, %zu not applicable\n",
			   added ? "added so that programs start" : "rules", n, exact, missing);
	buf_add_str(ret, buf_str(&lines));
	ret->failed |= lines.failed;
	buf_release(&lines);
}

static void put_other_gaps(const struct report *report, struct buf *ret)
{
	buf_printf(ret, "besides: %zu\n", report->n_gaps);
	for (size_t i = 0; i < report->n_gaps; i++) {
		buf_puts(ret, "  ");
		put_gap(report->gaps[i], ret);
	}
}

/* ---- What it costs ---- */

static void put_calls(const struct call_report *calls, struct buf *ret)
{
	bool sometimes = false;

	buf_puts(ret, "    calls:");
	for (const struct call_report *call = calls; call->name; call++) {
		buf_printf(ret, " %s%s", call->name, call->sometimes ? "*" : "");
		sometimes |= call->sometimes;
	}
	buf_puts(ret, sometimes ? " (*: by its arguments)\n" : "\n");
}

static void put_class(const struct class_report *class, struct buf *ret)
{
	if (class->class)
		put_words(ret, class_words, class->class, "");
	else
		buf_puts(ret, "callers");
	buf_printf(ret, ": each call takes as long as %u unjudged opens more (estimate)\n",
		   class->opens);
	buf_printf(ret, "    because %s", class->why);
	if (class->path) {
		buf_puts(ret, ": ");
		buf_add_escaped(ret, str_of(class->path));
	}
	buf_putc(ret, '\n');
	if (class->rule) {
		buf_puts(ret, "    by ");
		put_rule(class->rule, ret);
		buf_putc(ret, '\n');
	}
	put_calls(class->calls, ret);
}

static void put_broker(const struct plan *plan, const struct report *report, struct buf *ret)
{
	buf_puts(ret, "broker: ");
	put_words(ret, class_words, plan->brokered, " ");
	buf_putc(ret, '\n');
	for (size_t i = 0; i < report->n_classes; i++) {
		buf_puts(ret, "  ");
		put_class(&report->classes[i], ret);
	}
}

/* What the fast lane serves, and what else is brokered that it could: a line for each reason. */
static void put_lane(const struct plan *plan, struct buf *ret)
{
	if (!plan->lane && !plan->n_lane_closed)
		return;
	buf_puts(ret, "lane: ");
	put_words(ret, lane_words, plan->lane, " ");
	buf_putc(ret, '\n');
	for (size_t i = 0; i < plan->n_lane_closed; i++) {
		unsigned class = 0;
		bool told = false;

		for (size_t k = 0; k < plan->n_lane_closed; k++) {
			if (plan->lane_closed[k].why != plan->lane_closed[i].why)
				continue;
			class |= plan->lane_closed[k].class;
			told |= k < i;
		}
		if (told)
			continue;
		buf_puts(ret, "  not ");
		put_words(ret, lane_words, class, " ");
		buf_printf(ret, ": %s\n", plan->lane_closed[i].why);
	}
}

/* ---- Paths that differ in the last name only ---- */

/* PATH up to its last slash, without it but in "/". */
static struct str folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	return n ? (struct str){path, n} : STR("/");
}

/* FOLDER/{NAME, NAME and N more}, or one path as it is. */
struct names {
	struct buf *ret;
	size_t n;
};

/* Adds PATH, one of ALL. */
static void put_name(struct names *names, const char *path, size_t all)
{
	struct str folder = folder_of(path);

	if (all == 1) {
		buf_add_escaped(names->ret, str_of(path));
		return;
	}
	if (names->n == 0) {
		buf_add_escaped(names->ret, folder);
		buf_puts(names->ret, folder.n > 1 ? "/{" : "{");
	} else if (names->n < NAMES_SHOWN) {
		buf_puts(names->ret, ", ");
	}
	if (names->n++ < NAMES_SHOWN)
		buf_add_escaped(names->ret, str_of(strrchr(path, '/') + 1));
}

static void end_names(const struct names *names)
{
	if (names->n > NAMES_SHOWN)
		buf_printf(names->ret, " and %zu more", names->n - NAMES_SHOWN);
	if (names->n)
		buf_putc(names->ret, '}');
}

/* ---- Mounts ---- */

static bool is_alike(const struct mount_row *a, const struct mount_row *b)
{
	return a->kind == b->kind && a->read_only == b->read_only &&
	       str_eq(folder_of(a->path), folder_of(b->path));
}

static void put_mounts(const struct plan *plan, struct buf *ret)
{
	buf_puts(ret, "namespaces: ");
	put_words(ret, ns_words, plan->ns, " ");
	buf_printf(ret, "\nmounts: %zu\n", plan->n_mounts);
	for (size_t i = 0, next; i < plan->n_mounts; i = next) {
		const struct mount_row *first = &plan->mounts[i];
		struct names names = {.ret = ret};

		for (next = i + 1; next < plan->n_mounts && is_alike(first, &plan->mounts[next]);
		     next++)
			;
		buf_printf(ret, "  %s ", mount_word(first->kind));
		for (size_t k = i; k < next; k++)
			put_name(&names, plan->mounts[k].path, next - i);
		end_names(&names);
		buf_puts(ret, first->read_only ? " (read-only)\n" : "\n");
	}
}

/* ---- The floor ---- */

/* By rights and folder, else as they came: those that differ in the last name only stand together.
 */
static int compare_rows(const void *a, const void *b)
{
	const struct landlock_row *const x = *(const struct landlock_row *const *)a;
	const struct landlock_row *const y = *(const struct landlock_row *const *)b;
	struct str fx = folder_of(x->path), fy = folder_of(y->path);
	size_t n = fx.n < fy.n ? fx.n : fy.n;
	int r = memcmp(fx.p, fy.p, n);

	if (r == 0)
		r = (fx.n > fy.n) - (fx.n < fy.n);
	if (r == 0)
		r = (x->rights < y->rights) - (x->rights > y->rights);
	return r ? r : (x > y) - (x < y);
}

static bool is_together(const struct landlock_row *a, const struct landlock_row *b)
{
	return a->rights == b->rights && a->path[1] && b->path[1] &&
	       str_eq(folder_of(a->path), folder_of(b->path));
}

static void put_rights(const struct landlock_row *row, struct buf *ret)
{
	buf_puts(ret, ": ");
	put_words(ret, fs_words, row->rights, " ");
	buf_putc(ret, '\n');
}

/* N rows that stand together. */
static void put_together(const struct landlock_row *const *rows, size_t n, struct buf *ret)
{
	struct names names = {.ret = ret};

	buf_puts(ret, "  ");
	for (size_t i = 0; i < n; i++)
		put_name(&names, rows[i]->path, n);
	end_names(&names);
	put_rights(rows[0], ret);
}

static void put_floor(const struct plan *plan, struct buf *ret)
{
	const struct landlock_row **rows = calloc(plan->n_rows + 1, sizeof(struct landlock_row *));

	buf_printf(ret, "floor: %zu rows\n", plan->n_rows);
	ret->failed |= !rows;
	for (size_t i = 0; rows && i < plan->n_rows; i++)
		rows[i] = &plan->rows[i];
	if (rows)
		qsort(rows, plan->n_rows, sizeof(struct landlock_row *), compare_rows);
	for (size_t i = 0, next; rows && i < plan->n_rows; i = next) {
		for (next = i + 1; next < plan->n_rows && is_together(rows[i], rows[next]); next++)
			;
		put_together(&rows[i], next - i, ret);
	}
	free(rows);
	if (plan->landlock_net) {
		buf_puts(ret, "  refused at any address: ");
		put_words(ret, net_words, plan->landlock_net, " ");
		buf_putc(ret, '\n');
	}
	if (plan->landlock_scoped) {
		buf_puts(ret, "  refused to outside: ");
		put_words(ret, scoped_words, plan->landlock_scoped, " ");
		buf_putc(ret, '\n');
	}
}

static void put_limits(const struct report *report, struct buf *ret)
{
	if (report->n_limits)
		buf_puts(ret, "limits:\n");
	for (size_t i = 0; i < report->n_limits; i++) {
		const struct limit_report *limit = &report->limits[i];

		buf_printf(ret, "  %s %llu: %s", limit->name, (unsigned long long)limit->value,
			   limit->by);
		if (limit->why)
			buf_printf(ret, "; %s: %s", limit->grip, limit->why);
		buf_putc(ret, '\n');
	}
}

void plan_print(const struct plan *plan, const struct plan_input *input,
		const struct report *report, struct buf *ret)
{
	put_outer(input, ret);
	put_scope(input, ret);
	put_rules(report, false, ret);
	put_rules(report, true, ret);
	put_other_gaps(report, ret);
	put_broker(plan, report, ret);
	put_lane(plan, ret);
	put_mounts(plan, ret);
	put_floor(plan, ret);
	buf_printf(ret, "filter: %zu instructions\n", plan->n_filter);
	put_limits(report, ret);
}
