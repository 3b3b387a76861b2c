/* SPDX-License-Identifier: Apache-2.0 */
/* Scheme procedures: strings, characters, symbols. */
#include "sbpl/machine.h"

#include <stdio.h>

#include "sbpl/read.h"

#include "base/banned.h"

static int check_type(struct machine *m, struct value **args, size_t n, enum value_type type,
		      const char *want)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_type(args[i], type))
			return machine_wrong_type(m, want, args[i]);
	}
	return 0;
}

static int check_strings(struct machine *m, struct value **args, size_t n)
{
	return check_type(m, args, n, VALUE_STRING, "string");
}

/* Copies S. */
static int give_string(struct machine *m, struct str s)
{
	char *copy = arena_strdup(m->arena, s);

	return machine_give(m, copy ? machine_string(m, (struct str){copy, s.n}) : NULL);
}

static int do_string_append(struct machine *m, struct value **args, size_t n)
{
	int r = check_strings(m, args, n);
	size_t total = 0;
	char *text;

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (__builtin_add_overflow(total, args[i]->string.n, &total))
			return machine_no_memory(m);
	}
	text = arena_alloc(m->arena, total < SIZE_MAX ? total + 1 : total);
	if (!text)
		return machine_no_memory(m);
	total = 0;
	for (size_t i = 0; i < n; i++) {
		struct str s = args[i]->string;

		if (s.n)
			memcpy(text + total, s.p, s.n);
		total += s.n;
	}
	return machine_give(m, machine_string(m, (struct str){text, total}));
}

static int do_string_length(struct machine *m, struct value **args, size_t n)
{
	int r = check_strings(m, args, n);

	return r < 0 ? r : machine_give_integer(m, (int64_t)args[0]->string.n);
}

static int out_of_range(struct machine *m)
{
	return machine_fail(m, "%s: index out of range", m->running->name);
}

static int do_string_ref(struct machine *m, struct value **args, size_t n)
{
	int r = check_strings(m, args, 1);

	(void)n;
	if (r == 0)
		r = check_type(m, args + 1, 1, VALUE_INTEGER, "integer");
	if (r < 0)
		return r;
	if (args[1]->number < 0 || (uint64_t)args[1]->number >= args[0]->string.n)
		return out_of_range(m);
	return machine_give(m, machine_char(m, (unsigned char)args[0]->string.p[args[1]->number]));
}

/* (substring string begin [end]); also string-copy, without bounds. */
static int do_substring(struct machine *m, struct value **args, size_t n)
{
	struct str s;
	uint64_t begin = 0, end;
	int r = check_strings(m, args, 1);

	if (r == 0)
		r = check_type(m, args + 1, n - 1, VALUE_INTEGER, "integer");
	if (r < 0)
		return r;
	s = args[0]->string;
	end = s.n;
	if (n > 1)
		begin = (uint64_t)args[1]->number;
	if (n > 2)
		end = (uint64_t)args[2]->number;
	if (end > s.n || begin > end)
		return out_of_range(m);
	return give_string(m, (struct str){s.p + begin, end - begin});
}

static int do_make_string(struct machine *m, struct value **args, size_t n)
{
	int r = check_type(m, args, 1, VALUE_INTEGER, "integer");
	char *text;
	size_t count;

	if (r == 0)
		r = check_type(m, args + 1, n - 1, VALUE_CHAR, "character");
	if (r < 0)
		return r;
	if (args[0]->number < 0)
		return out_of_range(m);
	count = (size_t)args[0]->number;
	text = arena_array(m->arena, count, 1);
	if (!text)
		return machine_no_memory(m);
	memset(text, n > 1 ? (int)args[1]->number : ' ', count);
	return machine_give(m, machine_string(m, (struct str){text, count}));
}

/* (string char ...), and list->string. */
static int do_string(struct machine *m, struct value **args, size_t n)
{
	int r = check_type(m, args, n, VALUE_CHAR, "character");
	char *text;

	if (r < 0)
		return r;
	text = arena_alloc(m->arena, n + 1);
	if (!text)
		return machine_no_memory(m);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)args[i]->number;
	return machine_give(m, machine_string(m, (struct str){text, n}));
}

static int do_list_to_string(struct machine *m, struct value **args, size_t n)
{
	struct value **items;
	int r = machine_items(m, args[0], &items, &n);

	return r < 0 ? r : do_string(m, items, n);
}

static int do_string_to_list(struct machine *m, struct value **args, size_t n)
{
	struct value *list = m->nil;
	struct str s;
	int r = check_strings(m, args, n);

	if (r < 0)
		return r;
	s = args[0]->string;
	r = machine_charge(m, s.n);
	for (size_t i = s.n; i > 0 && list && r == 0; i--) {
		struct value *c = machine_char(m, (unsigned char)s.p[i - 1]);

		list = c ? machine_cons(m, c, list) : NULL;
	}
	return r < 0 ? r : machine_give(m, list);
}

/* Both take an optional base. */
static int base_of(struct machine *m, struct value **args, size_t n, unsigned *ret)
{
	*ret = 10;
	if (n < 2)
		return 0;
	if (!is_type(args[1], VALUE_INTEGER))
		return machine_wrong_type(m, "integer", args[1]);
	if (args[1]->number != 2 && args[1]->number != 8 && args[1]->number != 10 &&
	    args[1]->number != 16)
		return machine_fail(m, "%s: the base is 2, 8, 10 or 16", m->running->name);
	*ret = (unsigned)args[1]->number;
	return 0;
}

static int do_string_to_number(struct machine *m, struct value **args, size_t n)
{
	int64_t number;
	unsigned base = 10;
	int r = check_strings(m, args, 1);

	if (r == 0)
		r = base_of(m, args, n, &base);
	if (r == 0)
		r = machine_charge(m, args[0]->string.n / BYTES_PER_STEP);
	if (r < 0)
		return r;
	if (!read_integer(args[0]->string, base, &number))
		return machine_fail(m, "string->number: not a number");
	return machine_give_integer(m, number);
}

static int do_number_to_string(struct machine *m, struct value **args, size_t n)
{
	char text[66], *p = text + sizeof(text);
	unsigned base = 10;
	uint64_t rest;
	int r = check_type(m, args, 1, VALUE_INTEGER, "integer");

	if (r == 0)
		r = base_of(m, args, n, &base);
	if (r < 0)
		return r;
	rest = args[0]->number < 0 ? -(uint64_t)args[0]->number : (uint64_t)args[0]->number;
	do {
		*--p = "0123456789abcdef"[rest % base];
		rest /= base;
	} while (rest);
	if (args[0]->number < 0)
		*--p = '-';
	return give_string(m, (struct str){p, (size_t)(text + sizeof(text) - p)});
}

static int do_string_to_symbol(struct machine *m, struct value **args, size_t n)
{
	struct symbol *symbol;
	int r = check_strings(m, args, n);

	if (r < 0)
		return r;
	symbol = machine_intern(m, args[0]->string);
	return machine_give(m, symbol ? machine_symbol_value(m, symbol) : NULL);
}

static int do_symbol_to_string(struct machine *m, struct value **args, size_t n)
{
	int r = check_type(m, args, n, VALUE_SYMBOL, "symbol");

	return r < 0 ? r : give_string(m, args[0]->symbol->name);
}

/* A symbol that no text can name. */
static int do_gensym(struct machine *m, struct value **args, size_t n)
{
	struct symbol *symbol = arena_alloc(m->arena, sizeof(*symbol));

	(void)args;
	(void)n;
	if (!symbol)
		return machine_no_memory(m);
	symbol->name = STR("gensym");
	return machine_give(m, machine_symbol_value(m, symbol));
}

/* string->atom reads one number or symbol; atom->string writes what display would. */
static int do_string_to_atom(struct machine *m, struct value **args, size_t n)
{
	int64_t number;
	int r = check_strings(m, args, n);

	if (r < 0)
		return r;
	if (read_integer(args[0]->string, 10, &number))
		return machine_give_integer(m, number);
	return do_string_to_symbol(m, args, n);
}

static int do_atom_to_string(struct machine *m, struct value **args, size_t n)
{
	char c;

	(void)n;
	switch ((enum value_type)args[0]->type) {
	case VALUE_SYMBOL:
		return give_string(m, args[0]->symbol->name);
	case VALUE_STRING:
		return give_string(m, args[0]->string);
	case VALUE_INTEGER:
		return do_number_to_string(m, args, 1);
	case VALUE_CHAR:
		c = (char)args[0]->number;
		return give_string(m, (struct str){&c, 1});
	default:
		return machine_wrong_type(m, "atom", args[0]);
	}
}

/* ---- Changing ---- */

/* The text is copied, so that slices and symbols that share it stay as they are. */
static int change(struct machine *m, struct value *v, size_t begin, size_t end, char c)
{
	char *text;

	if (!v->is_mutable)
		return machine_fail(m, "%s: a string written in the text does not change",
				    m->running->name);
	text = arena_strdup(m->arena, v->string);
	if (!text)
		return machine_no_memory(m);
	memset(text + begin, (unsigned char)c, end - begin);
	v->string.p = text;
	return machine_give(m, v);
}

static int do_string_set(struct machine *m, struct value **args, size_t n)
{
	int r = check_strings(m, args, 1);

	(void)n;
	if (r == 0)
		r = check_type(m, args + 1, 1, VALUE_INTEGER, "integer");
	if (r == 0)
		r = check_type(m, args + 2, 1, VALUE_CHAR, "character");
	if (r == 0)
		r = machine_charge(m, args[0]->string.n / BYTES_PER_STEP);
	if (r < 0)
		return r;
	if (args[1]->number < 0 || (uint64_t)args[1]->number >= args[0]->string.n)
		return out_of_range(m);
	return change(m, args[0], (size_t)args[1]->number, (size_t)args[1]->number + 1,
		      (char)args[2]->number);
}

static int do_string_fill(struct machine *m, struct value **args, size_t n)
{
	int r = check_strings(m, args, 1);

	(void)n;
	if (r == 0)
		r = check_type(m, args + 1, 1, VALUE_CHAR, "character");
	return r < 0 ? r : change(m, args[0], 0, args[0]->string.n, (char)args[1]->number);
}

/* ---- Comparing ---- */

enum comparison {
	EQUAL,
	LESS,
	GREATER,
	AT_MOST,
	AT_LEAST,
	WITHOUT_CASE = 8,
};

static bool holds(enum comparison what, int order)
{
	switch (what) {
	case EQUAL:
		return order == 0;
	case LESS:
		return order < 0;
	case GREATER:
		return order > 0;
	case AT_MOST:
		return order <= 0;
	default:
		return order >= 0;
	}
}

static int fold(int c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static int compare(struct str a, struct str b, bool without_case)
{
	for (size_t i = 0; i < a.n && i < b.n; i++) {
		int x = (unsigned char)a.p[i], y = (unsigned char)b.p[i];

		if (without_case) {
			x = fold(x);
			y = fold(y);
		}
		if (x != y)
			return x - y;
	}
	return (a.n > b.n) - (a.n < b.n);
}

static int do_compare_strings(struct machine *m, struct value **args, size_t n)
{
	bool without_case = m->running->variant & WITHOUT_CASE;
	enum comparison what = m->running->variant & ~(unsigned)WITHOUT_CASE;
	int r = check_strings(m, args, n);
	bool all = true;

	for (size_t i = 1; i < n && r == 0; i++) {
		all &= holds(what, compare(args[i - 1]->string, args[i]->string, without_case));
		r = machine_charge(m, args[i]->string.n / BYTES_PER_STEP);
	}
	return r < 0 ? r : machine_give_bool(m, all);
}

static int do_compare_chars(struct machine *m, struct value **args, size_t n)
{
	bool without_case = m->running->variant & WITHOUT_CASE;
	enum comparison what = m->running->variant & ~(unsigned)WITHOUT_CASE;
	int r = check_type(m, args, n, VALUE_CHAR, "character");
	bool all = true;

	for (size_t i = 1; i < n && r == 0; i++) {
		int a = (int)args[i - 1]->number, b = (int)args[i]->number;

		all &= holds(what, without_case ? fold(a) - fold(b) : a - b);
	}
	return r < 0 ? r : machine_give_bool(m, all);
}

/* ASCII only. */
enum {
	UP,
	DOWN
};

static int do_char_case(struct machine *m, struct value **args, size_t n)
{
	int r = check_type(m, args, n, VALUE_CHAR, "character");
	int c;

	if (r < 0)
		return r;
	c = fold((int)args[0]->number);
	if (m->running->variant == UP && c >= 'a' && c <= 'z')
		c -= 'a' - 'A';
	return machine_give(m, machine_char(m, (unsigned char)c));
}

static int do_char_to_integer(struct machine *m, struct value **args, size_t n)
{
	int r = check_type(m, args, n, VALUE_CHAR, "character");

	return r < 0 ? r : machine_give_integer(m, args[0]->number);
}

static int do_integer_to_char(struct machine *m, struct value **args, size_t n)
{
	int r = check_type(m, args, n, VALUE_INTEGER, "integer");

	if (r < 0)
		return r;
	if (args[0]->number <= 0 || args[0]->number > 255)
		return out_of_range(m);
	return machine_give(m, machine_char(m, (unsigned char)args[0]->number));
}

int strings_bind(struct machine *m)
{
	static const struct builtin table[] = {
		{"string-append", do_string_append, 0, ANY_NUMBER, 0},
		{"string-length", do_string_length, 1, 1, 0},
		{"string-ref", do_string_ref, 2, 2, 0},
		{"substring", do_substring, 2, 3, 0},
		{"string-copy", do_substring, 1, 1, 0},
		{"make-string", do_make_string, 1, 2, 0},
		{"string", do_string, 0, ANY_NUMBER, 0},
		{"list->string", do_list_to_string, 1, 1, 0},
		{"string->list", do_string_to_list, 1, 1, 0},
		{"string->number", do_string_to_number, 1, 2, 0},
		{"number->string", do_number_to_string, 1, 2, 0},
		{"string->symbol", do_string_to_symbol, 1, 1, 0},
		{"symbol->string", do_symbol_to_string, 1, 1, 0},
		{"string->atom", do_string_to_atom, 1, 1, 0},
		{"atom->string", do_atom_to_string, 1, 1, 0},
		{"string-set!", do_string_set, 3, 3, 0},
		{"string-fill!", do_string_fill, 2, 2, 0},
		{"gensym", do_gensym, 0, 0, 0},
		{"string=?", do_compare_strings, 1, ANY_NUMBER, EQUAL},
		{"string<?", do_compare_strings, 1, ANY_NUMBER, LESS},
		{"string>?", do_compare_strings, 1, ANY_NUMBER, GREATER},
		{"string<=?", do_compare_strings, 1, ANY_NUMBER, AT_MOST},
		{"string>=?", do_compare_strings, 1, ANY_NUMBER, AT_LEAST},
		{"string-ci=?", do_compare_strings, 1, ANY_NUMBER, WITHOUT_CASE | EQUAL},
		{"string-ci<?", do_compare_strings, 1, ANY_NUMBER, WITHOUT_CASE | LESS},
		{"string-ci>?", do_compare_strings, 1, ANY_NUMBER, WITHOUT_CASE | GREATER},
		{"string-ci<=?", do_compare_strings, 1, ANY_NUMBER, WITHOUT_CASE | AT_MOST},
		{"string-ci>=?", do_compare_strings, 1, ANY_NUMBER, WITHOUT_CASE | AT_LEAST},
		{"char=?", do_compare_chars, 1, ANY_NUMBER, EQUAL},
		{"char<?", do_compare_chars, 1, ANY_NUMBER, LESS},
		{"char>?", do_compare_chars, 1, ANY_NUMBER, GREATER},
		{"char<=?", do_compare_chars, 1, ANY_NUMBER, AT_MOST},
		{"char>=?", do_compare_chars, 1, ANY_NUMBER, AT_LEAST},
		{"char-ci=?", do_compare_chars, 1, ANY_NUMBER, WITHOUT_CASE | EQUAL},
		{"char-ci<?", do_compare_chars, 1, ANY_NUMBER, WITHOUT_CASE | LESS},
		{"char-ci>?", do_compare_chars, 1, ANY_NUMBER, WITHOUT_CASE | GREATER},
		{"char-ci<=?", do_compare_chars, 1, ANY_NUMBER, WITHOUT_CASE | AT_MOST},
		{"char-ci>=?", do_compare_chars, 1, ANY_NUMBER, WITHOUT_CASE | AT_LEAST},
		{"char-upcase", do_char_case, 1, 1, UP},
		{"char-downcase", do_char_case, 1, 1, DOWN},
		{"char->integer", do_char_to_integer, 1, 1, 0},
		{"integer->char", do_integer_to_char, 1, 1, 0},
	};

	return machine_bind_builtins(m, table, sizeof(table) / sizeof(table[0]));
}
