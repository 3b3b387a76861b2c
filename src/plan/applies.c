/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rules mean something on Linux. The others parse and decide like any; there is nothing they
 * could allow or deny.
 */
#include "plan/planner.h"

#include "base/banned.h"

/* Rows of .def files end in no comma, so theirs are in the macros. */
/* clang-format off */
static const enum op judged[] = {
#define JUDGED(op) OP_##op,
#include "plan/counterparts.def"
};

/* What Linux has too, and gaps speak of as a whole. */
static const enum op known[] = {
#define KNOWN(op) OP_##op,
#define ALLOWED(op, kind, text) OP_##op,
#define REFUSED(op) OP_##op,
#include "plan/counterparts.def"
};

static const enum op refused[] = {
#define REFUSED(op) OP_##op,
#include "plan/counterparts.def"
};

static const enum op missing[] = {
#define MISSING(op) OP_##op,
#include "plan/counterparts.def"
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Is OP one of LIST, above or below one? */
static bool touches(const enum op *list, size_t n, enum op op)
{
	for (size_t i = 0; i < n; i++)
		if (op_inherits(list[i], op) || op_inherits(op, list[i]))
			return true;
	return false;
}

static bool is_missing(enum op op)
{
	for (size_t i = 0; i < COUNT(missing); i++)
		if (op == missing[i])
			return true;
	return false;
}

bool op_is_judged(enum op op)
{
	return touches(judged, COUNT(judged), op) && !is_missing(op);
}

bool op_is_refused(enum op op)
{
	for (size_t i = 0; i < COUNT(refused); i++)
		if (op_inherits(op, refused[i]))
			return true;
	return false;
}

bool op_applies(enum op op)
{
	return op_is_judged(op) || (touches(known, COUNT(known), op) && !is_missing(op));
}

/* Can EXPR hold for no request of a Linux kernel? */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool never_holds(const struct expr *expr)
{
	size_t n = 0;

	if (expr->kind == EXPR_TEST)
		return filter_is_darwin_only(expr->test.filter);
	if (expr->kind == EXPR_NOT)
		return false;
	for (size_t i = 0; i < expr->n; i++)
		n += never_holds(expr->kids[i]);
	return expr->kind == EXPR_ALL ? n > 0 : n == expr->n;
}

bool rule_applies(const struct rule *rule)
{
	if (rule->filter && never_holds(rule->filter))
		return false;
	return op_applies(rule->op);
}
