/* SPDX-License-Identifier: Apache-2.0 */
/* The plan for programs. Its keys are in lapbelt-plan(1): they stay. */
#include "plan/words.h"

#include "base/json.h"
#include "base/banned.h"

static void put_words(struct json *json, const char *key, const struct word *words, unsigned bits)
{
	json_open(json, key, '[');
	for (; words->text; words++)
		if (bits & words->bits)
			json_string(json, NULL, str_of(words->text));
	json_close(json);
}

/* A text that may be missing. */
static void put_text(struct json *json, const char *key, const char *text)
{
	if (text)
		json_string(json, key, str_of(text));
	else
		json_null(json, key);
}

static void put_rule(struct json *json, const struct rule *rule)
{
	if (!rule) {
		json_null(json, "rule");
		return;
	}
	json_open(json, "rule", '{');
	put_text(json, "file", rule->at.file);
	json_number(json, "line", rule->at.line);
	json_number(json, "column", rule->at.column);
	json_string(json, "text", rule->text);
	json_close(json);
}

static void put_scope(struct json *json, const struct plan_input *input)
{
	json_open(json, "scope", '{');
	for (const struct word *word = scope_words; word->text; word++)
		json_string(json, word->text, str_of(whose_scope(input, word->bits)));
	json_close(json);
}

static void put_rules(struct json *json, const struct plan *plan, const struct report *report)
{
	json_open(json, "rules", '[');
	for (size_t i = 0; i < report->n_rules; i++) {
		const struct rule_report *form = &report->rules[i];

		json_open(json, NULL, '{');
		put_rule(json, form->rule);
		json_bool(json, "added", form->rule->origin != ORIGIN_PROFILE);
		json_bool(json, "applicable", form->applies);
		json_bool(json, "exact", is_exact(form));
		put_words(json, "by", mechanism_words, form->by);
		put_words(json, "namespaces", ns_words, form->ns);
		put_words(json, "broker", class_words, form->classes);
		json_open(json, "gaps", '[');
		for (size_t g = 0; g < form->n_gaps; g++)
			json_number(json, NULL, form->gaps[g] - plan->gaps);
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

static void put_gaps(struct json *json, const struct plan *plan)
{
	json_open(json, "gaps", '[');
	for (size_t i = 0; i < plan->n_gaps; i++) {
		const struct gap *gap = &plan->gaps[i];

		json_open(json, NULL, '{');
		json_string(json, "kind", str_of(gap_word(gap->kind)));
		json_string(json, "text", str_of(gap->text));
		put_text(json, "help", gap->help);
		put_rule(json, gap->rule);
		json_open(json, "operations", '[');
		for (const enum op *op = gap->ops; *op != OP_DEFAULT; op++)
			json_string(json, NULL, str_of(op_name(*op)));
		json_close(json);
		json_open(json, "paths", '[');
		for (const char *const *at = gap->paths; at && *at; at++)
			json_string(json, NULL, str_of(*at));
		json_close(json);
		json_bool(json, "below", gap->below_paths);
		json_bool(json, "others", gap->others);
		json_close(json);
	}
	json_close(json);
}

static void put_class(struct json *json, const struct class_report *class)
{
	const char *name = "callers";

	for (const struct word *word = class_words; word->text; word++)
		if (class->class == word->bits)
			name = word->text;
	json_open(json, NULL, '{');
	json_string(json, "class", str_of(name));
	json_string(json, "why", str_of(class->why));
	put_text(json, "path", class->path);
	put_rule(json, class->rule);
	json_number(json, "opens", class->opens);
	json_open(json, "calls", '[');
	for (const struct call_report *call = class->calls; call->name; call++) {
		json_open(json, NULL, '{');
		json_string(json, "name", str_of(call->name));
		json_bool(json, "by_arguments", call->sometimes);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void put_mounts(struct json *json, const struct plan *plan)
{
	put_words(json, "namespaces", ns_words, plan->ns);
	json_open(json, "mounts", '[');
	for (size_t i = 0; i < plan->n_mounts; i++) {
		json_open(json, NULL, '{');
		json_string(json, "kind", str_of(mount_word(plan->mounts[i].kind)));
		json_string(json, "path", str_of(plan->mounts[i].path));
		json_bool(json, "read_only", plan->mounts[i].read_only);
		json_close(json);
	}
	json_close(json);
}

static void put_floor(struct json *json, const struct plan *plan)
{
	json_open(json, "floor", '[');
	for (size_t i = 0; i < plan->n_rows; i++) {
		json_open(json, NULL, '{');
		json_string(json, "path", str_of(plan->rows[i].path));
		json_bool(json, "directory", plan->rows[i].directory);
		put_words(json, "rights", fs_words, plan->rows[i].rights);
		json_close(json);
	}
	json_close(json);
	put_words(json, "landlock_net", net_words, plan->landlock_net);
	put_words(json, "landlock_scoped", scoped_words, plan->landlock_scoped);
	json_number(json, "filter", (long long)plan->n_filter);
}

static void put_lane(struct json *json, const struct plan *plan)
{
	put_words(json, "lane", lane_words, plan->lane);
	json_open(json, "lane_closed", '[');
	for (size_t i = 0; i < plan->n_lane_closed; i++) {
		json_open(json, NULL, '{');
		put_words(json, "lane", lane_words, plan->lane_closed[i].class);
		put_text(json, "why", plan->lane_closed[i].why);
		json_close(json);
	}
	json_close(json);
}

static void put_limits(struct json *json, const struct report *report)
{
	json_open(json, "limits", '[');
	for (size_t i = 0; i < report->n_limits; i++) {
		const struct limit_report *limit = &report->limits[i];

		json_open(json, NULL, '{');
		put_text(json, "name", limit->name);
		json_number(json, "value", (long long)limit->value);
		put_text(json, "by", limit->by);
		put_text(json, "grip", limit->grip);
		put_text(json, "why", limit->why);
		json_close(json);
	}
	json_close(json);
}

void plan_print_json(const struct plan *plan, const struct plan_input *input,
		     const struct report *report, struct buf *ret)
{
	struct json json = {.buf = ret};

	json_open(&json, NULL, '{');
	put_scope(&json, input);
	json_bool(&json, "refused", plan_refusal(plan) != NULL);
	put_rules(&json, plan, report);
	put_gaps(&json, plan);
	json_open(&json, "broker", '[');
	for (size_t i = 0; i < report->n_classes; i++)
		put_class(&json, &report->classes[i]);
	json_close(&json);
	put_lane(&json, plan);
	put_mounts(&json, plan);
	put_floor(&json, plan);
	put_limits(&json, report);
	json_close(&json);
}
