/* SPDX-License-Identifier: Apache-2.0 */
/* Scheme procedures: 64-bit integers. An overflow is an error, never a wrap. */
#include "sbpl/machine.h"

#include "base/banned.h"

static int check_integers(struct machine *m, struct value **args, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_type(args[i], VALUE_INTEGER))
			return machine_wrong_type(m, "integer", args[i]);
	}
	return 0;
}

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = b == -1 ? 0 : a % b;

		a = b;
		b = rest;
	}
	return a;
}

enum arithmetic {
	ADD,
	SUBTRACT,
	MULTIPLY,
	DIVIDE, /* exact, or an error */
	QUOTIENT,
	REMAINDER,
	MODULO, /* the sign of the divisor */
	MIN,
	MAX,
	GCD,
	LCM,
};

/* False: no such integer. */
static bool divide(enum arithmetic what, int64_t a, int64_t b, int64_t *ret)
{
	int64_t rest;

	if (b == 0 || (a == INT64_MIN && b == -1))
		return false;
	rest = a % b;
	switch (what) {
	case QUOTIENT:
		*ret = a / b;
		return true;
	case REMAINDER:
		*ret = rest;
		return true;
	case MODULO:
		*ret = rest && (rest < 0) != (b < 0) ? rest + b : rest;
		return true;
	default:
		*ret = a / b;
		return rest == 0;
	}
}

static bool lcm(int64_t a, int64_t b, int64_t *ret)
{
	int64_t common = gcd(a, b);

	*ret = 0;
	return common == 0 || !__builtin_mul_overflow(a / common, b, ret);
}

static bool compute(enum arithmetic what, int64_t a, int64_t b, int64_t *ret)
{
	switch (what) {
	case ADD:
		return !__builtin_add_overflow(a, b, ret);
	case SUBTRACT:
		return !__builtin_sub_overflow(a, b, ret);
	case MULTIPLY:
		return !__builtin_mul_overflow(a, b, ret);
	case MIN:
		*ret = a < b ? a : b;
		return true;
	case MAX:
		*ret = a > b ? a : b;
		return true;
	case GCD:
		*ret = gcd(a, b);
		return true;
	case LCM:
		return lcm(a, b, ret);
	default:
		return divide(what, a, b, ret);
	}
}

/* Folds from the left; one argument to - is negated, no argument gives the neutral element. */
static int do_arithmetic(struct machine *m, struct value **args, size_t n)
{
	enum arithmetic what = m->running->variant;
	int64_t sum = what == MULTIPLY || what == LCM;
	size_t i = 0;
	int r = check_integers(m, args, n);

	if (r < 0)
		return r;
	if (n > 1 || (n == 1 && what != SUBTRACT))
		sum = args[i++]->number;
	for (; i < n; i++) {
		if (!compute(what, sum, args[i]->number, &sum))
			return machine_fail(m, "%s: no integer result", m->running->name);
	}
	if ((what == GCD || what == LCM) && sum < 0 && __builtin_sub_overflow(0, sum, &sum))
		return machine_fail(m, "%s: no integer result", m->running->name);
	return machine_give_integer(m, sum);
}

enum comparison {
	EQUAL,
	LESS,
	GREATER,
	AT_MOST,
	AT_LEAST,
	UNEQUAL
};

static int do_compare(struct machine *m, struct value **args, size_t n)
{
	int r = check_integers(m, args, n);
	bool holds = true;

	for (size_t i = 1; i < n && r == 0; i++) {
		int64_t a = args[i - 1]->number, b = args[i]->number;

		switch ((enum comparison)m->running->variant) {
		case EQUAL:
			holds &= a == b;
			break;
		case LESS:
			holds &= a < b;
			break;
		case GREATER:
			holds &= a > b;
			break;
		case AT_MOST:
			holds &= a <= b;
			break;
		case AT_LEAST:
			holds &= a >= b;
			break;
		case UNEQUAL:
			holds &= a != b;
			break;
		}
	}
	return r < 0 ? r : machine_give_bool(m, holds);
}

enum property {
	ZERO,
	POSITIVE,
	NEGATIVE,
	EVEN,
	ODD
};

static int do_property(struct machine *m, struct value **args, size_t n)
{
	int r = check_integers(m, args, n);
	int64_t number;

	if (r < 0)
		return r;
	number = args[0]->number;
	switch ((enum property)m->running->variant) {
	case ZERO:
		return machine_give_bool(m, number == 0);
	case POSITIVE:
		return machine_give_bool(m, number > 0);
	case NEGATIVE:
		return machine_give_bool(m, number < 0);
	case EVEN:
		return machine_give_bool(m, number % 2 == 0);
	case ODD:
		break;
	}
	return machine_give_bool(m, number % 2 != 0);
}

static int do_abs(struct machine *m, struct value **args, size_t n)
{
	int r = check_integers(m, args, n);

	if (r < 0)
		return r;
	if (args[0]->number == INT64_MIN)
		return machine_fail(m, "abs: no integer result");
	return machine_give_integer(m, args[0]->number < 0 ? -args[0]->number : args[0]->number);
}

static int do_step(struct machine *m, struct value **args, size_t n)
{
	int64_t sum;
	int r = check_integers(m, args, n);

	if (r < 0)
		return r;
	if (!compute(m->running->variant, args[0]->number, 1, &sum))
		return machine_fail(m, "%s: no integer result", m->running->name);
	return machine_give_integer(m, sum);
}

int numbers_bind(struct machine *m)
{
	static const struct builtin table[] = {
		{"+", do_arithmetic, 0, ANY_NUMBER, ADD},
		{"-", do_arithmetic, 1, ANY_NUMBER, SUBTRACT},
		{"*", do_arithmetic, 0, ANY_NUMBER, MULTIPLY},
		{"/", do_arithmetic, 2, ANY_NUMBER, DIVIDE},
		{"quotient", do_arithmetic, 2, 2, QUOTIENT},
		{"remainder", do_arithmetic, 2, 2, REMAINDER},
		{"modulo", do_arithmetic, 2, 2, MODULO},
		{"min", do_arithmetic, 1, ANY_NUMBER, MIN},
		{"max", do_arithmetic, 1, ANY_NUMBER, MAX},
		{"gcd", do_arithmetic, 0, ANY_NUMBER, GCD},
		{"lcm", do_arithmetic, 0, ANY_NUMBER, LCM},
		{"abs", do_abs, 1, 1, 0},
		{"succ", do_step, 1, 1, ADD},
		{"pred", do_step, 1, 1, SUBTRACT},
		{"=", do_compare, 1, ANY_NUMBER, EQUAL},
		{"<", do_compare, 1, ANY_NUMBER, LESS},
		{">", do_compare, 1, ANY_NUMBER, GREATER},
		{"<=", do_compare, 1, ANY_NUMBER, AT_MOST},
		{">=", do_compare, 1, ANY_NUMBER, AT_LEAST},
		{"<>", do_compare, 2, 2, UNEQUAL},
		{"zero?", do_property, 1, 1, ZERO},
		{"positive?", do_property, 1, 1, POSITIVE},
		{"negative?", do_property, 1, 1, NEGATIVE},
		{"even?", do_property, 1, 1, EVEN},
		{"odd?", do_property, 1, 1, ODD},
	};

	return machine_bind_builtins(m, table, sizeof(table) / sizeof(table[0]));
}
