/* SPDX-License-Identifier: Apache-2.0 */
/* Values, symbols and scopes: making, comparing, finding, printing. */
#include "sbpl/value.h"

#include "base/buf.h"
#include "sbpl/machine.h"

#include "base/banned.h"

bool name_equal(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		if (str_fold(a.p[i]) != str_fold(b.p[i]))
			return false;
	}
	return true;
}

bool value_is_named(const struct value *v, const char *name)
{
	return is_type(v, VALUE_SYMBOL) && name_equal(v->symbol->name, str_of(name));
}

const char *value_type_name(const struct value *v)
{
	static const char *const names[VALUE_TYPES] = {
		[VALUE_NIL] = "empty list",
		[VALUE_NOTHING] = "nothing",
		[VALUE_BOOL] = "boolean",
		[VALUE_INTEGER] = "integer",
		[VALUE_CHAR] = "character",
		[VALUE_STRING] = "string",
		[VALUE_SYMBOL] = "symbol",
		[VALUE_PAIR] = "list",
		[VALUE_VECTOR] = "vector",
		[VALUE_PROMISE] = "promise",
		[VALUE_BUILTIN] = "procedure",
		[VALUE_CLOSURE] = "procedure",
		[VALUE_MACRO] = "macro",
		[VALUE_SYNTAX] = "special form",
		[VALUE_CONTINUATION] = "continuation",
		[VALUE_ENVIRONMENT] = "environment",
		[VALUE_PORT] = "port",
		[VALUE_EOF] = "end of file",
		[VALUE_OP] = "operation",
		[VALUE_FILTER_FORM] = "filter name",
		[VALUE_FILTER] = "filter",
		[VALUE_CONSTANT] = "constant",
		[VALUE_MODIFIER_NAME] = "modifier name",
		[VALUE_MODIFIER] = "modifier",
	};

	return names[v->type];
}

bool value_eqv(const struct value *a, const struct value *b)
{
	if (a == b)
		return true;
	if (a->type != b->type)
		return false;
	switch ((enum value_type)a->type) {
	case VALUE_NIL:
	case VALUE_NOTHING:
		return true;
	case VALUE_BOOL:
	case VALUE_INTEGER:
	case VALUE_CHAR:
		return a->number == b->number;
	case VALUE_SYMBOL:
		return a->symbol == b->symbol;
	case VALUE_OP:
		return a->op == b->op;
	default:
		return false;
	}
}

/* ---- Printing ---- */

static void print_string(struct buf *buf, struct str s, bool quoted)
{
	if (!quoted && s.n <= buf->max) {
		buf_add_escaped(buf, s);
		return;
	}
	buf_putc(buf, '"');
	while (s.n && !buf->failed) {
		const char *quote = memchr(s.p, '"', s.n);
		size_t n = quote ? (size_t)(quote - s.p) : s.n;

		if (n > buf->max)
			n = buf->max;
		buf_add_escaped(buf, (struct str){s.p, n});
		if (quote == s.p + n) {
			buf_puts(buf, "\\\"");
			n++;
		}
		s = (struct str){s.p + n, s.n - n};
	}
	buf_putc(buf, '"');
}

static void print(struct buf *buf, const struct value *v, bool quoted, unsigned nest);

/* Ends with the buffer: a circular list fills it and stops. */
/* NOLINTNEXTLINE(misc-no-recursion): limits.depth */
static void print_list(struct buf *buf, const struct value *v, bool quoted, unsigned nest)
{
	buf_putc(buf, '(');
	for (; is_type(v, VALUE_PAIR) && !buf->failed; v = v->cdr) {
		print(buf, v->car, quoted, nest + 1);
		if (is_type(v->cdr, VALUE_PAIR))
			buf_putc(buf, ' ');
	}
	if (!is_type(v, VALUE_NIL)) {
		buf_puts(buf, " . ");
		print(buf, v, quoted, nest + 1);
	}
	buf_putc(buf, ')');
}

/* NOLINTNEXTLINE(misc-no-recursion): limits.depth */
static void print_vector(struct buf *buf, const struct value *v, bool quoted, unsigned nest)
{
	buf_puts(buf, "#(");
	for (size_t i = 0; i < v->n_items && !buf->failed; i++) {
		if (i)
			buf_putc(buf, ' ');
		print(buf, v->items[i], quoted, nest + 1);
	}
	buf_putc(buf, ')');
}

/* NOLINTNEXTLINE(misc-no-recursion): limits.depth */
static void print(struct buf *buf, const struct value *v, bool quoted, unsigned nest)
{
	char c;

	if (nest > NEST_MAX) {
		buf_puts(buf, "...");
		return;
	}
	switch ((enum value_type)v->type) {
	case VALUE_NIL:
		buf_puts(buf, "()");
		return;
	case VALUE_BOOL:
		buf_puts(buf, v->number ? "#t" : "#f");
		return;
	case VALUE_INTEGER:
		buf_printf(buf, "%lld", (long long)v->number);
		return;
	case VALUE_CHAR:
		c = (char)v->number;
		buf_puts(buf, quoted ? "#\\" : "");
		buf_add_escaped(buf, (struct str){&c, 1});
		return;
	case VALUE_STRING:
		print_string(buf, v->string, quoted);
		return;
	case VALUE_SYMBOL:
		buf_add_escaped(buf, v->symbol->name);
		return;
	case VALUE_PAIR:
		print_list(buf, v, quoted, nest);
		return;
	case VALUE_VECTOR:
		print_vector(buf, v, quoted, nest);
		return;
	case VALUE_OP:
		if (v->op < OP_COUNT) {
			buf_puts(buf, op_name(v->op));
			return;
		}
		break;
	default:
		break;
	}
	buf_printf(buf, "#<%s>", value_type_name(v));
}

/* BUF has a limit: it bounds the work. */
void value_print(struct buf *buf, const struct value *v, bool quoted)
{
	print(buf, v, quoted, 0);
}

/* ---- Values ---- */

struct value *machine_new(struct machine *m, enum value_type type)
{
	struct value *v = arena_alloc(m->arena, sizeof(*v));

	if (v)
		v->type = type;
	return v;
}

struct value *machine_integer(struct machine *m, int64_t number)
{
	struct value *v = machine_new(m, VALUE_INTEGER);

	if (v)
		v->number = number;
	return v;
}

struct value *machine_char(struct machine *m, unsigned char c)
{
	struct value *v = machine_new(m, VALUE_CHAR);

	if (v)
		v->number = c;
	return v;
}

struct value *machine_string(struct machine *m, struct str s)
{
	struct value *v = machine_new(m, VALUE_STRING);

	if (v) {
		v->string = s;
		v->is_mutable = true;
	}
	return v;
}

struct value *machine_cons(struct machine *m, struct value *car, struct value *cdr)
{
	struct value *v = machine_new(m, VALUE_PAIR);

	if (v) {
		v->car = car;
		v->cdr = cdr;
		v->is_mutable = true;
	}
	return v;
}

struct value *machine_list(struct machine *m, struct value **items, size_t n)
{
	struct value *list = m->nil;

	while (list && n > 0)
		list = machine_cons(m, items[--n], list);
	return list;
}

struct value *machine_form(struct machine *m, struct value *procedure, struct value *a,
			   struct value *b)
{
	return machine_list(m, (struct value *[]){procedure, a, b}, b ? 3 : 2);
}

struct value *machine_symbol_value(struct machine *m, struct symbol *symbol)
{
	struct value *v = machine_new(m, VALUE_SYMBOL);

	if (v)
		v->symbol = symbol;
	return v;
}

int machine_measure(struct machine *m, const struct value *list, size_t *n,
		    const struct value **ret_end)
{
	const struct value *kept = NULL;
	size_t next = 1;
	int r = 0;

	/* What is kept, each time for twice as long, is met again in a circle (Brent). */
	for (*n = 0; is_type(list, VALUE_PAIR) && list != kept && r == 0; list = list->cdr) {
		if (++*n == next) {
			kept = list;
			next *= 2;
		}
		r = machine_charge(m, 1);
	}
	*ret_end = list;
	return r;
}

int machine_endless(struct machine *m)
{
	const char *who = m->running ? m->running->name : "";

	return machine_fail(m, "%s%sthe list runs in a circle", who, *who ? ": " : "");
}

int machine_items(struct machine *m, const struct value *list, struct value ***ret, size_t *n)
{
	const struct value *end;
	int r = machine_measure(m, list, n, &end);

	if (r < 0)
		return r;
	if (is_type(end, VALUE_PAIR))
		return machine_endless(m);
	if (!is_type(end, VALUE_NIL))
		return machine_wrong_type(m, "a proper list", end);
	*ret = arena_array(m->arena, *n, sizeof(struct value *));
	if (!*ret)
		return machine_no_memory(m);
	for (size_t i = 0; i < *n; i++, list = list->cdr)
		(*ret)[i] = list->car;
	return 0;
}

/* ---- Names ---- */

enum {
	STEPS_PER_LINK = 4
};

static unsigned bucket(struct str name)
{
	uint32_t h = 0x811c9dc5u;

	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		h = (h ^ c) * 0x01000193u;
	}
	return (h ^ h >> 15) % SYMBOL_BUCKETS;
}

/* Long chains, whether met by chance or built on purpose, cost steps: each link is far away. */
struct symbol *machine_intern(struct machine *m, struct str name)
{
	struct symbol **chain = &m->symbols[bucket(name)];
	struct symbol *symbol;
	size_t steps = name.n / BYTES_PER_STEP;

	for (symbol = *chain; symbol; symbol = symbol->next, steps += STEPS_PER_LINK) {
		if (name_equal(symbol->name, name))
			break;
	}
	if (m->limits.steps - m->steps < steps)
		m->steps = m->limits.steps;
	else
		m->steps += (unsigned)steps;
	if (symbol)
		return symbol;
	symbol = arena_alloc(m->arena, sizeof(*symbol));
	if (!symbol)
		return NULL;
	symbol->name = name;
	symbol->next = *chain;
	*chain = symbol;
	return symbol;
}

int machine_bind_name(struct machine *m, const char *name, struct value *value)
{
	struct symbol *symbol = machine_intern(m, str_of(name));

	if (!symbol || !value)
		return machine_no_memory(m);
	symbol->global = value;
	return 0;
}

int machine_bind_builtins(struct machine *m, const struct builtin *table, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct value *v = machine_new(m, VALUE_BUILTIN);

		if (v)
			v->builtin = &table[i];
		r = machine_bind_name(m, table[i].name, v);
	}
	return r;
}

int machine_bind_syntax(struct machine *m, const struct syntax *table, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct value *v = machine_new(m, VALUE_SYNTAX);

		if (v)
			v->syntax = &table[i];
		r = machine_bind_name(m, table[i].name, v);
	}
	return r;
}

/* ---- Scopes ---- */

struct scope *scope_new(struct machine *m, struct scope *outer)
{
	struct scope *scope = arena_alloc(m->arena, sizeof(*scope));

	if (scope)
		scope->outer = outer;
	return scope;
}

int scope_define(struct machine *m, struct scope *scope, struct symbol *symbol, struct value *v)
{
	struct binding *binding;
	size_t hops = 0;

	if (!scope) {
		symbol->global = v;
		return 0;
	}
	for (binding = scope->first; binding; binding = binding->next, hops++) {
		if (binding->symbol == symbol) {
			binding->value = v;
			return machine_charge(m, hops / 8);
		}
	}
	binding = arena_alloc(m->arena, sizeof(*binding));
	if (!binding)
		return machine_no_memory(m);
	*binding = (struct binding){symbol, v, scope->first};
	scope->first = binding;
	return machine_charge(m, hops / 8);
}

int scope_find(struct machine *m, struct scope *scope, struct symbol *symbol, struct value ***ret)
{
	size_t hops = 0;

	for (; scope; scope = scope->outer) {
		for (struct binding *b = scope->first; b; b = b->next, hops++) {
			if (b->symbol == symbol) {
				*ret = &b->value;
				return machine_charge(m, hops / 8);
			}
		}
		hops++;
	}
	*ret = symbol->global ? &symbol->global : NULL;
	return machine_charge(m, hops / 8);
}
