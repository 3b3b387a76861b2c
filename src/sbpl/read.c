/* SPDX-License-Identifier: Apache-2.0 */
#include "sbpl/read.h"

#include "base/banned.h"

/* A datum whose end has not been seen. */
struct open {
	enum {
		OPEN_LIST,
		OPEN_VECTOR,
		OPEN_PREFIX, /* 'x and its kin: one datum follows */
	} kind;
	enum {
		BEFORE_DOT,
		AFTER_DOT,
		TAIL_READ
	} dotted;
	struct value *at;   /* carries the place of the opening token */
	struct value *name; /* OPEN_PREFIX: the symbol quote, ... */
	struct value *head, *last;
};

struct stack {
	struct open *items;
	size_t n, cap;
};

struct reader reader_begin(struct machine *machine, unsigned source, struct str text)
{
	return (struct reader){.machine = machine, .source = source, .lex = lex_begin(text)};
}

static struct value *new_at(struct reader *reader, enum value_type type, struct place place)
{
	struct value *v = machine_new(reader->machine, type);

	if (!v || !reader->source)
		return v;
	v->source = reader->source & SOURCE_MASK;
	v->place = place;
	return v;
}

static int fail(struct reader *reader, const struct value *at, const char *text)
{
	return machine_fail_at(reader->machine, at, "%s", text);
}

bool read_integer(struct str text, unsigned base, int64_t *ret)
{
	bool negative = text.n && text.p[0] == '-';
	size_t i = negative || (text.n && text.p[0] == '+');
	int64_t number = 0;

	if (i == text.n)
		return false;
	for (; i < text.n; i++) {
		int c = text.p[i] | 0x20;
		int digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 : text.p[i] - '0';

		if (digit < 0 || digit >= (int)base || (text.p[i] > '9' && digit < 10))
			return false;
		if (__builtin_mul_overflow(number, (int64_t)base, &number) ||
		    __builtin_sub_overflow(number, digit, &number))
			return false;
	}
	if (!negative && __builtin_sub_overflow(0, number, &number))
		return false;
	*ret = number;
	return true;
}

/* Digits, one point, an exponent: what TinyScheme would read as a real. */
static bool looks_numeric(struct str text)
{
	size_t digits = 0, i = text.n && (text.p[0] == '-' || text.p[0] == '+');

	for (; i < text.n; i++) {
		if (text.p[i] >= '0' && text.p[i] <= '9')
			digits++;
		else if (text.p[i] != '.')
			return false;
	}
	return digits > 0;
}

static int make_atom(struct reader *reader, const struct token *token, struct value **ret)
{
	int64_t number;
	bool integer = read_integer(token->text, 10, &number);
	struct value *v = new_at(reader, integer ? VALUE_INTEGER : VALUE_SYMBOL, token->place);

	if (!v)
		return machine_no_memory(reader->machine);
	*ret = v;
	if (integer) {
		v->number = number;
		return 0;
	}
	if (looks_numeric(token->text))
		return fail(reader, v, "only 64-bit integers are numbers here");
	v->symbol = machine_intern(reader->machine, token->text);
	return v->symbol ? 0 : machine_no_memory(reader->machine);
}

static bool make_char(struct str text, int64_t *ret)
{
	static const struct {
		struct str name;
		int64_t c;
	} names[] = {
		{{"space", 5}, ' '},
		{{"newline", 7}, '\n'},
		{{"return", 6}, '\r'},
		{{"tab", 3}, '\t'},
	};

	if (text.n == 1)
		*ret = (unsigned char)text.p[0];
	else if (text.n > 1 && (text.p[0] | 0x20) == 'x')
		return read_integer((struct str){text.p + 1, text.n - 1}, 16, ret) && *ret > 0 &&
		       *ret <= 255;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (name_equal(text, names[i].name)) {
			*ret = names[i].c;
			return true;
		}
	}
	return text.n == 1;
}

/* #t #f #o17 #d10 #x1f #b101 #\a */
static int make_constant(struct reader *reader, const struct token *token, struct value **ret)
{
	struct str rest = {token->text.p + 1, token->text.n - 1};
	struct value *v = new_at(reader, VALUE_INTEGER, token->place);
	int64_t number = token->text.p[0] == 't';
	bool ok = rest.n == 0;

	if (!v)
		return machine_no_memory(reader->machine);
	*ret = v;
	switch (token->text.p[0]) {
	case '\\':
		v->type = VALUE_CHAR;
		ok = make_char(rest, &number);
		break;
	case 'o':
		ok = read_integer(rest, 8, &number);
		break;
	case 'd':
		ok = read_integer(rest, 10, &number);
		break;
	case 'x':
		ok = read_integer(rest, 16, &number);
		break;
	case 'b':
		ok = read_integer(rest, 2, &number);
		break;
	default:
		v->type = VALUE_BOOL;
		break;
	}
	v->number = number;
	return ok ? 0 : fail(reader, v, "undefined sharp expression");
}

static bool is_digit(struct str text, size_t at, unsigned base)
{
	int64_t ignored;

	return at < text.n && text.p[at] != '-' && text.p[at] != '+' &&
	       read_integer((struct str){text.p + at, 1}, base, &ignored);
}

/* What follows a backslash at TEXT[*AT]. Returns the byte, or -1: not an escape, or a NUL. */
static int unescape(struct str text, size_t *at)
{
	char c = text.p[*at];
	size_t begin = *at, most = 3;
	unsigned base = 8;
	int64_t number;

	++*at;
	if (c == 'n')
		return '\n';
	if (c == 't')
		return '\t';
	if (c == 'r')
		return '\r';
	if (c == 'x' || c == 'X') {
		base = 16;
		most = 2;
		begin = *at;
		if (!is_digit(text, begin, base) || !is_digit(text, begin + 1, base))
			return -1;
	} else if (!is_digit(text, begin, base)) {
		return (unsigned char)c;
	}
	for (*at = begin; *at - begin < most && is_digit(text, *at, base);)
		++*at;
	(void)read_integer((struct str){text.p + begin, *at - begin}, base, &number);
	return number > 0 && number <= 255 ? (int)number : -1;
}

static int make_string(struct reader *reader, const struct token *token, struct value **ret)
{
	struct value *v = new_at(reader, VALUE_STRING, token->place);
	struct str text = token->text;
	char *copy = arena_memdup(reader->machine->arena, text.p, text.n);
	size_t n = 0;

	if (!v || !copy)
		return machine_no_memory(reader->machine);
	*ret = v;
	for (size_t i = 0; i < text.n;) {
		int c = (unsigned char)text.p[i++];

		if (c == '\\' && token->type == TOKEN_STRING) {
			c = unescape(text, &i);
			if (c < 0)
				return fail(reader, v, "Error reading string: bad escape");
		}
		copy[n++] = (char)c;
	}
	copy[n] = '\0';
	v->string = (struct str){copy, n};
	return 0;
}

static int open_datum(struct reader *reader, struct stack *stack, const struct token *token)
{
	static const char *const prefixes[] = {
		[TOKEN_QUOTE] = "quote",
		[TOKEN_QUASI] = "quasiquote",
		[TOKEN_UNQUOTE] = "unquote",
		[TOKEN_SPLICE] = "unquote-splicing",
	};
	struct machine *m = reader->machine;
	struct open *open;

	if (stack->n >= m->limits.depth)
		return machine_limit(m, "text nested deeper than %u levels", m->limits.depth);
	open = arena_grow(m->arena, stack->items, stack->n, &stack->cap, sizeof(*open));
	if (!open)
		return machine_no_memory(m);
	stack->items = open;
	open += stack->n++;
	*open = (struct open){.kind = token->type == TOKEN_OPEN     ? OPEN_LIST
				      : token->type == TOKEN_VECTOR ? OPEN_VECTOR
								    : OPEN_PREFIX};
	open->at = new_at(reader, VALUE_NIL, token->place);
	if (!open->at)
		return machine_no_memory(m);
	if (open->kind != OPEN_PREFIX)
		return 0;
	open->name = new_at(reader, VALUE_SYMBOL, token->place);
	if (!open->name)
		return machine_no_memory(m);
	open->name->symbol = machine_intern(m, str_of(prefixes[token->type]));
	return open->name->symbol ? 0 : machine_no_memory(m);
}

/* The list so far with one more element; its first cell takes the place of the parenthesis. */
static int append(struct machine *m, struct open *open, struct value *datum)
{
	struct value *cell = machine_cons(m, datum, m->nil);

	if (!cell)
		return machine_no_memory(m);
	cell->is_mutable = false;
	if (open->last) {
		open->last->cdr = cell;
	} else {
		cell->source = open->at->source;
		cell->place = open->at->place;
		open->head = cell;
	}
	open->last = cell;
	return 0;
}

/* Puts DATUM where it belongs. *WHOLE is set when that was the top level. */
static int place_datum(struct reader *reader, struct stack *stack, struct value *datum,
		       struct value **whole)
{
	struct machine *m = reader->machine;
	int r = 0;

	for (;;) {
		struct open *open = stack->n ? &stack->items[stack->n - 1] : NULL;

		if (!open) {
			*whole = datum;
			return 0;
		}
		if (open->kind == OPEN_PREFIX) {
			r = append(m, open, open->name);
			if (r == 0)
				r = append(m, open, datum);
			if (r < 0)
				return r;
			datum = open->head;
			stack->n--;
			continue;
		}
		if (open->dotted == TAIL_READ)
			return fail(reader, open->at, "syntax error: expecting ')'");
		if (open->dotted == BEFORE_DOT)
			return append(m, open, datum);
		open->last->cdr = datum;
		open->dotted = TAIL_READ;
		return 0;
	}
}

static int close_datum(struct reader *reader, struct stack *stack, const struct value *at,
		       struct value **ret)
{
	struct open *open = stack->n ? &stack->items[stack->n - 1] : NULL;
	struct machine *m = reader->machine;

	if (!open || open->kind == OPEN_PREFIX)
		return fail(reader, at, "syntax error: unexpected ')'");
	if (open->dotted == AFTER_DOT)
		return fail(reader, at, "syntax error: illegal dot expression");
	stack->n--;
	*ret = open->head ? open->head : open->at;
	if (open->kind == OPEN_LIST)
		return 0;
	open->at->type = VALUE_VECTOR;
	*ret = open->at;
	return machine_items(m, open->head ? open->head : m->nil, &open->at->items,
			     &open->at->n_items);
}

static int dot(struct reader *reader, struct stack *stack, const struct value *at)
{
	struct open *open = stack->n ? &stack->items[stack->n - 1] : NULL;

	if (!open || open->kind != OPEN_LIST || !open->last || open->dotted != BEFORE_DOT)
		return fail(reader, at, "syntax error: illegal dot expression");
	open->dotted = AFTER_DOT;
	return 0;
}

static int end_of_text(struct reader *reader, const struct stack *stack)
{
	size_t unmatched = 0;

	if (stack->n == 0)
		return READ_EOF;
	for (size_t i = 0; i < stack->n; i++)
		unmatched += stack->items[i].kind != OPEN_PREFIX;
	if (unmatched == 0)
		return fail(reader, stack->items[0].at, "syntax error: unexpected end of text");
	return machine_fail_at(reader->machine, stack->items[0].at, "unmatched parentheses: %zu",
			       unmatched);
}

/* One token. *WHOLE is set when a top-level datum is complete. */
static int take(struct reader *reader, struct stack *stack, const struct token *token,
		struct value **whole)
{
	struct value *at = new_at(reader, VALUE_NIL, token->place);
	struct value *datum = NULL;
	int r;

	if (!at)
		return machine_no_memory(reader->machine);
	switch (token->type) {
	case TOKEN_EOF:
		return end_of_text(reader, stack);
	case TOKEN_DOT:
		return dot(reader, stack, at);
	case TOKEN_CLOSE:
		r = close_datum(reader, stack, at, &datum);
		break;
	case TOKEN_STRING:
	case TOKEN_RAW:
		r = make_string(reader, token, &datum);
		break;
	case TOKEN_CONSTANT:
		r = make_constant(reader, token, &datum);
		break;
	case TOKEN_ATOM:
		r = make_atom(reader, token, &datum);
		break;
	default:
		return open_datum(reader, stack, token);
	}
	return r == 0 ? place_datum(reader, stack, datum, whole) : r;
}

/* HERE keeps the place of the token at hand. */
static int read_tokens(struct reader *reader, struct value *here, struct value **ret)
{
	struct machine *m = reader->machine;
	struct stack stack = {0};
	struct value *whole = NULL;
	struct token token;
	int r;

	while (!whole) {
		size_t begin = reader->lex.at;

		r = lex_next(&reader->lex, &token, &m->err);
		here->place = token.place;
		if (machine_charge(m, 1 + (reader->lex.at - begin) / BYTES_PER_STEP) < 0)
			return -(int)ERR_LIMIT;
		if (r < 0) {
			char text[sizeof(m->err.text)];

			memcpy(text, m->err.text, sizeof(text));
			return machine_fail(m, "%s", text);
		}
		r = take(reader, &stack, &token, &whole);
		if (r != 0)
			return r;
	}
	*ret = whole;
	return 0;
}

int reader_next(struct reader *reader, struct value **ret)
{
	struct machine *m = reader->machine;
	struct value here = {.source = reader->source & SOURCE_MASK}, *form = m->at;
	int r;

	/* Messages are about the text, or about the form that reads it if it has no places. */
	if (reader->source)
		m->at = &here;
	r = read_tokens(reader, &here, ret);
	m->at = form;
	if (r < 0)
		reader->lex.at = reader->lex.text.n;
	return r;
}
