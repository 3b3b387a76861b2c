/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of an assertion becomes that of a profile, with what $NAME stands for put in and a pair
 * of parentheses where one is missing; places in the profile are then told in the assertion's
 * terms.
 */
#include "sbpl/assertion.h"

#include "base/buf.h"
#include "base/near.h"
#include "sbpl/lex.h"
#include "sbpl/profile.h"

#include "base/banned.h"

enum {
	ASSERTION_MAX = 1 << 20, /* bytes */
};

/* From here on a byte of the profile is one of the assertion. */
struct mark {
	size_t out, in;
};

struct parse {
	struct str text;
	const struct sbpl_param *names;
	size_t n_names;
	struct assertion *ret;
	struct lex lex;
	struct token token; /* the one at hand */
	struct str last_atom;

	struct buf ops; /* their names, a blank after each */
	struct buf profile;
	struct arena arena;
	struct mark *marks;
	size_t n_marks, cap_marks;
	struct err *e;
};

static int fail_at(struct parse *p, struct place place, const char *what, struct str word)
{
	struct span at = {ASSERTION_FILE, place.line, place.column};

	return err_at(p->e, ERR_POLICY, at, "%s'%.*s'", what, (int)word.n, word.p);
}

static int next(struct parse *p)
{
	struct err e = {0};
	struct span at = {.file = ASSERTION_FILE};

	if (lex_next(&p->lex, &p->token, &e) == 0)
		return 0;
	at.line = p->token.place.line;
	at.column = p->token.place.column;
	return err_at(p->e, ERR_POLICY, at, "%s", e.text);
}

/* ---- The profile ---- */

/* What is added next comes from IN. */
static void mark(struct parse *p, size_t in)
{
	struct mark *marks =
		arena_grow(&p->arena, p->marks, p->n_marks, &p->cap_marks, sizeof(*marks));

	if (!marks) {
		p->profile.failed = true;
		return;
	}
	p->marks = marks;
	marks[p->n_marks++] = (struct mark){p->profile.n, in};
}

static void copy(struct parse *p, size_t from, size_t to)
{
	mark(p, from);
	buf_add(&p->profile, p->text.p + from, to - from);
}

static bool is_name_byte(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The name that begins at FROM, after a $: what it stands for, or NULL. */
static const struct sbpl_param *find_name(const struct parse *p, size_t from, size_t to,
					  size_t *ret_n)
{
	size_t n = 0;

	while (from + n < to && is_name_byte(p->text.p[from + n]))
		n++;
	*ret_n = n;
	for (size_t i = 0; i < p->n_names; i++)
		if (str_eq(p->names[i].key, (struct str){p->text.p + from, n}))
			return &p->names[i];
	return NULL;
}

/* Is the string at hand the argument of a filter that takes regular expressions? */
static bool is_regex(const struct parse *p)
{
	return str_is(p->last_atom, "regex") || str_ends(p->last_atom, STR("-regex"));
}

/* VALUE, as it is written in the string at hand; in a regular expression its bytes are literal. */
static int add_value(struct parse *p, struct str value)
{
	static const char special[] = "^.[$()|*+?{\\";
	const char *escape = p->token.type == TOKEN_RAW ? "" : "\\";

	if (p->token.type == TOKEN_RAW && memchr(value.p, '"', value.n))
		return fail_at(p, p->token.place, "no raw string can hold ", value);
	for (size_t i = 0; i < value.n; i++) {
		if (is_regex(p) && memchr(special, value.p[i], sizeof(special) - 1))
			buf_printf(&p->profile, "%s\\", escape);
		if (value.p[i] == '"' || value.p[i] == '\\')
			buf_puts(&p->profile, escape);
		buf_putc(&p->profile, value.p[i]);
	}
	return 0;
}

static int unknown_name(struct parse *p, size_t at, size_t n)
{
	struct place place = p->token.place;

	place.column += (uint32_t)(at - p->token.place.begin);
	(void)fail_at(p, place, "nothing is called ", (struct str){p->text.p + at, n + 1});
	return err_hint(p->e, "strings know $HOME and $PWD; \\$ is a dollar sign");
}

/* The inside of a string. Only a raw one takes a backslash for itself. */
static int copy_string(struct parse *p, size_t from, size_t to)
{
	size_t done = from, n;

	for (size_t i = from; i < to; i++) {
		const struct sbpl_param *name;
		struct str value;
		int r;

		if (p->text.p[i] == '\\') {
			i++;
			continue;
		}
		if (p->text.p[i] != '$')
			continue;
		name = find_name(p, i + 1, to, &n);
		if (!name && n > 0)
			return unknown_name(p, i, n);
		if (!name)
			continue;
		copy(p, done, i);
		mark(p, i);
		/* A slash that follows is the root's own. */
		value = str_is(name->value, "/") && i + 1 + n < to && p->text.p[i + 1 + n] == '/'
				? STR("")
				: name->value;
		r = add_value(p, value);
		if (r < 0)
			return r;
		done = i + 1 + n;
		i = done - 1;
	}
	copy(p, done, to);
	return 0;
}

static size_t offset_of(const struct parse *p, struct str token_text)
{
	return (size_t)(token_text.p - p->text.p);
}

/* Everything from the token at hand on. */
static int copy_filter(struct parse *p)
{
	size_t done = p->token.place.begin;
	unsigned depth = 0;
	bool bare = p->token.type == TOKEN_ATOM;
	int r = 0;

	if (bare)
		buf_putc(&p->profile, '(');
	while (r == 0 && p->token.type != TOKEN_EOF) {
		if (p->token.type == TOKEN_OPEN || p->token.type == TOKEN_VECTOR)
			depth++;
		/* One too many would end the rule, and what follows be a profile of its own. */
		if (p->token.type == TOKEN_CLOSE && depth-- == 0)
			return fail_at(p, p->token.place, "unexpected ", STR(")"));
		if (p->token.type == TOKEN_ATOM)
			p->last_atom = p->token.text;
		if (p->token.type == TOKEN_STRING || p->token.type == TOKEN_RAW) {
			copy(p, done, offset_of(p, p->token.text));
			done = offset_of(p, p->token.text) + p->token.text.n;
			r = copy_string(p, offset_of(p, p->token.text), done);
		}
		if (r == 0)
			r = next(p);
	}
	if (r == 0 && depth > 0)
		return fail_at(p, p->token.place, "missing ", STR(")"));
	copy(p, done, p->text.n);
	buf_puts(&p->profile, bare ? "\n)" : "\n");
	return r;
}

/* ---- Operations ---- */

static void add_op(struct assertion *ret, enum op named)
{
	for (unsigned i = 0; i < OP_COUNT; i++) {
		enum op op = (enum op)i;

		while (op != named && op != OP_DEFAULT && !op_is_terminal(op))
			op = op_parent(op);
		ret->ops[i] |= op == named;
	}
}

static int unknown_op(struct parse *p)
{
	struct near near = {.word = p->token.text};

	for (unsigned op = 0; op < OP_COUNT; op++)
		near_try(&near, op_name((enum op)op));
	(void)fail_at(p, p->token.place, "unknown operation ", p->token.text);
	return near.best ? err_hint(p->e, "did you mean '%s'?", near.best) : -(int)ERR_POLICY;
}

/* The words that name operations; the token after them is at hand then. */
static int take_ops(struct parse *p)
{
	unsigned n = 0;
	int r;

	for (r = next(p); r == 0 && p->token.type == TOKEN_ATOM; r = next(p), n++) {
		enum op op = names_find_op(p->token.text);

		if (op == OP_COUNT)
			break;
		add_op(p->ret, op);
		buf_add_str(&p->ops, p->token.text);
		buf_putc(&p->ops, ' ');
	}
	if (r == 0 && n == 0 && p->token.type == TOKEN_ATOM)
		return unknown_op(p);
	if (r == 0 && n == 0)
		return fail_at(p, p->token.place, "no operation after ",
			       p->ret->never ? STR("never") : STR("always"));
	return r;
}

static int take_verb(struct parse *p)
{
	int r = next(p);

	if (r < 0)
		return r;
	p->ret->never = str_is(p->token.text, "never");
	if (p->token.type == TOKEN_ATOM && (p->ret->never || str_is(p->token.text, "always")))
		return 0;
	(void)fail_at(p, p->token.place, "expected never or always, got ", p->token.text);
	return err_hint(p->e, "as in: never file-read-data subpath \"$HOME/.ssh\"");
}

/* Operations with built-in defaults of their own need to be told the other verdict first. */
static void write_head(struct parse *p)
{
	const char *verdict = p->ret->never ? "deny" : "allow";
	const char *other = p->ret->never ? "allow" : "deny";
	const char *ops = buf_str(&p->ops).p;

	buf_printf(&p->profile, "(version 1)(%s default)(%s %s)(%s %s", other, other, ops, verdict,
		   ops);
	p->profile.failed |= p->ops.failed;
}

static int write_profile(struct parse *p)
{
	int r = take_verb(p);

	if (r < 0)
		return r;
	r = take_ops(p);
	write_head(p);
	if (r == 0)
		r = copy_filter(p);
	buf_putc(&p->profile, ')');
	return r < 0 || !p->profile.failed ? r : err_memory(p->e);
}

/* ---- Places ---- */

/* Where in TEXT line and column LINE and COLUMN begin. */
static size_t find_place(struct str text, unsigned line, unsigned column)
{
	size_t at = 0;

	for (; line > 1 && at < text.n; at++)
		line -= text.p[at] == '\n';
	return column - 1 < text.n - at ? at + column - 1 : text.n;
}

/* Tells the place in *E, one of the profile, in the assertion's terms. */
static void translate(const struct parse *p)
{
	struct err *e = p->e;
	size_t out, in = 0;

	if (!e || e->at.line == 0 || strcmp(e->file, ASSERTION_FILE) != 0)
		return;
	out = find_place(buf_str(&p->profile), e->at.line, e->at.column);
	for (size_t i = 0; i < p->n_marks && p->marks[i].out <= out; i++) {
		size_t end = i + 1 < p->n_marks ? p->marks[i + 1].in : p->text.n;

		in = p->marks[i].in + (out - p->marks[i].out);
		if (in > end)
			in = end;
	}
	e->at.line = e->at.column = 1;
	for (size_t i = 0; i < in && i < p->text.n; i++) {
		bool ends = p->text.p[i] == '\n';

		e->at.line += ends;
		e->at.column = ends ? 1 : e->at.column + 1;
	}
}

static int compile(struct parse *p, enum target target)
{
	struct sbpl_source source = {.name = ASSERTION_FILE, .text = buf_str(&p->profile)};
	struct sbpl_options options = {.target = target,
				       .limits = SBPL_LIMITS_DEFAULT,
				       .policy_limits = POLICY_LIMITS_DEFAULT};
	struct sbpl_errors errors = {0};
	int r = sbpl_compile(&source, 1, &options, &p->ret->spec, &errors);

	if (r < 0 && p->e) {
		*p->e = errors.list[0];
		translate(p);
	}
	return r;
}

int assertion_parse(struct str text, enum target target, const struct sbpl_param *names,
		    size_t n_names, struct assertion *ret, struct err *e)
{
	struct parse p = {.text = text,
			  .names = names,
			  .n_names = n_names,
			  .ret = ret,
			  .lex = lex_begin(text),
			  .e = e};
	int r;

	*ret = (struct assertion){0};
	if (text.n > ASSERTION_MAX)
		return err_set(e, ERR_LIMIT, "the assertion is longer than 1 MiB");
	r = write_profile(&p);
	if (r == 0)
		r = compile(&p, target);
	buf_release(&p.ops);
	buf_release(&p.profile);
	arena_release(&p.arena);
	return r;
}
