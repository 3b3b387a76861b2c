/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of a policy as bytes, and back: what one lapbelt tells another around it. The other one
 * builds its own automaton from them, so that nothing is believed but what the rules say. Numbers
 * are as the machine has them, both ends are on one.
 */
#include "policy/impl.h"

#include <stdlib.h>

#include "base/pack.h"
#include "base/banned.h"

enum {
	FILTER_NONE = 0,
	FILTER_AS_BEFORE, /* that of the last rule that had one */
	FILTER_FOLLOWS,
};

/* ---- Writing ---- */

static void put_test(struct buf *buf, const struct test *test)
{
	pack_number(buf, test->filter);
	pack_number(buf, test->match);
	pack_number(buf, test->number);
	pack_number(buf, test->endpoint.proto);
	pack_number(buf, test->endpoint.localhost);
	pack_number(buf, test->endpoint.port);
	pack_text(buf, test->text);
}

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static void put_expr(struct buf *buf, const struct expr *expr)
{
	pack_number(buf, expr->kind);
	if (expr->kind == EXPR_TEST) {
		put_test(buf, &expr->test);
		return;
	}
	pack_number(buf, (int64_t)expr->n);
	for (size_t i = 0; i < expr->n && !buf->failed; i++)
		put_expr(buf, expr->kids[i]);
}

static void put_rule(struct buf *buf, const struct rule *rule, const struct expr *before)
{
	pack_number(buf, rule->verdict);
	pack_number(buf, rule->op);
	pack_number(buf, rule->origin);
	pack_number(buf, (int64_t)rule->n_modifiers);
	for (size_t i = 0; i < rule->n_modifiers; i++) {
		pack_number(buf, rule->modifiers[i].id);
		pack_number(buf, rule->modifiers[i].number);
		pack_text(buf, rule->modifiers[i].text);
	}
	pack_number(buf, !rule->filter            ? FILTER_NONE
			 : rule->filter == before ? FILTER_AS_BEFORE
						  : FILTER_FOLLOWS);
	if (rule->filter && rule->filter != before)
		put_expr(buf, rule->filter);
}

void policy_encode(const struct policy *policy, struct buf *ret)
{
	const struct expr *before = NULL;

	pack_number(ret, policy_target(policy));
	pack_number(ret, (int64_t)policy_n_rules(policy));
	for (size_t i = 0; i < policy_n_rules(policy) && !ret->failed; i++) {
		const struct rule *rule = policy_rule(policy, i);

		put_rule(ret, rule, before);
		before = rule->filter ? rule->filter : before;
	}
}

/* ---- Reading ---- */

struct source {
	struct unpack from;
	struct arena *arena;
	const struct expr *before;
	bool failed; /* no memory, or not what is written above */
};

static bool is_bad(const struct source *source)
{
	return source->failed || source->from.bad;
}

static int64_t get(struct source *source, int64_t least, int64_t most)
{
	return unpack_number(&source->from, least, most);
}

static struct str get_text(struct source *source)
{
	struct str text = unpack_text(&source->from);
	char *copy = arena_strdup(source->arena, text);

	source->failed |= !copy;
	return copy ? (struct str){copy, text.n} : STR("");
}

static void get_test(struct source *source, struct test *ret)
{
	ret->filter = (enum filter_id)get(source, 0, FILTER_COUNT - 1);
	ret->match = (enum match)get(source, 0, MATCH_STRING);
	ret->number = get(source, INT64_MIN, INT64_MAX);
	ret->endpoint.proto = (unsigned)get(source, 0, 2 * PROTO_UNIX - 1);
	ret->endpoint.localhost = get(source, 0, 1);
	ret->endpoint.port = (int)get(source, PORT_ANY, UINT16_MAX);
	ret->text = get_text(source);
}

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static const struct expr *get_expr(struct source *source, unsigned depth)
{
	struct expr *expr = arena_alloc(source->arena, sizeof(*expr));

	source->failed |= !expr || depth > EXPR_DEPTH_MAX;
	if (!expr || is_bad(source))
		return NULL;
	expr->kind = (enum expr_kind)get(source, EXPR_TEST, EXPR_NOT);
	if (expr->kind == EXPR_TEST) {
		get_test(source, &expr->test);
		return expr;
	}
	expr->n = unpack_count(&source->from);
	expr->kids = arena_array(source->arena, expr->n ? expr->n : 1, sizeof(*expr->kids));
	source->failed |= !expr->kids || (expr->kind == EXPR_NOT && expr->n != 1);
	for (size_t i = 0; expr->kids && !is_bad(source) && i < expr->n; i++)
		expr->kids[i] = get_expr(source, depth + 1);
	return expr;
}

static void get_modifiers(struct source *source, struct rule *ret)
{
	size_t n = unpack_count(&source->from);
	struct modifier *modifiers = arena_array(source->arena, n ? n : 1, sizeof(*modifiers));

	source->failed |= !modifiers;
	for (size_t i = 0; !is_bad(source) && i < n; i++) {
		modifiers[i].id = (enum modifier_id)get(source, 0, MODIFIER_COUNT - 1);
		modifiers[i].number = get(source, INT64_MIN, INT64_MAX);
		modifiers[i].text = get_text(source);
	}
	ret->modifiers = modifiers;
	ret->n_modifiers = n;
}

static void get_rule(struct source *source, struct rule *ret)
{
	*ret = (struct rule){.text = STR("")};
	ret->verdict = (enum verdict)get(source, VERDICT_DENY, VERDICT_ALLOW);
	ret->op = (enum op)get(source, 0, OP_COUNT - 1);
	ret->origin = (enum origin)get(source, ORIGIN_PROFILE, ORIGIN_RUNTIME);
	get_modifiers(source, ret);
	switch (get(source, FILTER_NONE, FILTER_FOLLOWS)) {
	case FILTER_FOLLOWS:
		source->before = get_expr(source, 0);
		ret->filter = source->before;
		break;
	case FILTER_AS_BEFORE:
		ret->filter = source->before;
		source->failed |= !ret->filter;
		break;
	default:
		break;
	}
}

static int add_rules(struct source *source, struct policy_builder *builder, struct err *e)
{
	size_t n = unpack_count(&source->from);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct rule rule;

		get_rule(source, &rule);
		r = is_bad(source) ? err_set(e, ERR_POLICY, "no such rule can be written")
				   : policy_builder_add(builder, &rule, e);
	}
	if (r == 0 && (is_bad(source) || source->from.rest.n))
		r = err_set(e, ERR_POLICY, "these are not the rules of a policy");
	return r;
}

int policy_decode(struct str bytes, struct policy_limits limits, struct policy **ret, struct err *e)
{
	struct source source = {.from.rest = bytes};
	enum target target = (enum target)get(&source, TARGET_LINUX, TARGET_DARWIN);
	struct policy_builder *builder = policy_builder_new(target, limits);
	int r;

	if (!builder)
		return err_memory(e);
	source.arena = policy_builder_arena(builder);
	r = add_rules(&source, builder, e);
	if (r == 0)
		return policy_build(builder, ret, e);
	policy_builder_free(builder);
	return r;
}
