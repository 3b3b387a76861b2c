/* SPDX-License-Identifier: Apache-2.0 */
/* TinyScheme's token rules, Apple's raw strings included. */
#include "sbpl/lex.h"

#include "base/banned.h"

struct lex lex_begin(struct str text)
{
	return (struct lex){.text = text, .line = 1};
}

void lex_seek(struct lex *lex, struct place place)
{
	lex->at = place.begin;
	lex->line = place.line;
	lex->line_begin = place.begin - (place.column - 1);
}

static int peek(const struct lex *lex, size_t ahead)
{
	if (lex->text.n - lex->at <= ahead)
		return -1;
	return (unsigned char)lex->text.p[lex->at + ahead];
}

static void skip_byte(struct lex *lex)
{
	if (lex->text.p[lex->at++] != '\n')
		return;
	lex->line++;
	lex->line_begin = lex->at;
}

static bool is_space(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* TinyScheme's delimiters: a quote inside an atom belongs to it. */
static bool is_delimiter(int c)
{
	return c < 0 || c == '(' || c == ')' || c == ';' || is_space(c);
}

/* A dot before anything else is a symbol, or the beginning of one. */
static bool is_dot_end(int c)
{
	return c == ' ' || c == '\n' || c == '\t';
}

static bool is_control(int c)
{
	return (c >= 0 && c < ' ') || c == 0x7f;
}

static void skip_blank(struct lex *lex)
{
	for (;;) {
		int c = peek(lex, 0);

		if (c == ';' || (c == '#' && peek(lex, 1) == '!')) {
			while (c >= 0 && c != '\n') {
				skip_byte(lex);
				c = peek(lex, 0);
			}
		}
		if (!is_space(c))
			return;
		skip_byte(lex);
	}
}

static struct str slice(const struct lex *lex, size_t begin, size_t end)
{
	return (struct str){lex->text.p + begin, end - begin};
}

/* The opening quote is behind us. */
static int lex_string(struct lex *lex, bool raw, struct token *ret, struct err *e)
{
	size_t begin = lex->at;

	ret->type = raw ? TOKEN_RAW : TOKEN_STRING;
	for (int c = peek(lex, 0); c >= 0; c = peek(lex, 0)) {
		skip_byte(lex);
		if (c == '"') {
			ret->text = slice(lex, begin, lex->at - 1);
			return 0;
		}
		if (c == '\0')
			return err_set(e, ERR_POLICY, "Error reading string: NUL byte");
		if (c == '\\' && !raw && peek(lex, 0) >= 0)
			skip_byte(lex);
	}
	return err_set(e, ERR_POLICY, "Error reading string");
}

static int lex_atom(struct lex *lex, enum token_type type, struct token *ret, struct err *e)
{
	size_t begin = lex->at;

	ret->type = type;
	if (type == TOKEN_CONSTANT && peek(lex, 0) == '\\' && peek(lex, 1) > 0)
		lex->at += peek(lex, 1) == '\n' ? 1 : 2;
	while (!is_delimiter(peek(lex, 0))) {
		if (is_control(peek(lex, 0)))
			return err_set(e, ERR_POLICY, "illegal byte \\x%02x", peek(lex, 0));
		skip_byte(lex);
	}
	ret->text = slice(lex, begin, lex->at);
	return 0;
}

/* The # is behind us. */
static int lex_sharp(struct lex *lex, struct token *ret, struct err *e)
{
	static const char constants[] = "tfodxb\\";
	int c = peek(lex, 0);

	if (c == '(' || c == '"')
		skip_byte(lex);
	if (c == '"')
		return lex_string(lex, true, ret, e);
	ret->type = TOKEN_VECTOR;
	if (c == '(')
		return 0;
	if (c <= 0 || !strchr(constants, c))
		return err_set(e, ERR_POLICY, "undefined sharp expression");
	return lex_atom(lex, TOKEN_CONSTANT, ret, e);
}

static int punctuation(struct lex *lex, enum token_type type, size_t n, struct token *ret)
{
	lex->at += n;
	ret->type = type;
	return 0;
}

int lex_next(struct lex *lex, struct token *ret, struct err *e)
{
	skip_blank(lex);
	ret->text = (struct str){0};
	ret->place = (struct place){(uint32_t)lex->at, lex->line,
				    (uint32_t)(lex->at - lex->line_begin) + 1};
	switch (peek(lex, 0)) {
	case -1:
		return punctuation(lex, TOKEN_EOF, 0, ret);
	case '(':
		return punctuation(lex, TOKEN_OPEN, 1, ret);
	case ')':
		return punctuation(lex, TOKEN_CLOSE, 1, ret);
	case '\'':
		return punctuation(lex, TOKEN_QUOTE, 1, ret);
	case '`':
		return punctuation(lex, TOKEN_QUASI, 1, ret);
	case ',':
		if (peek(lex, 1) == '@')
			return punctuation(lex, TOKEN_SPLICE, 2, ret);
		return punctuation(lex, TOKEN_UNQUOTE, 1, ret);
	case '"':
		lex->at++;
		return lex_string(lex, false, ret, e);
	case '#':
		lex->at++;
		return lex_sharp(lex, ret, e);
	case '.':
		if (is_dot_end(peek(lex, 1)))
			return punctuation(lex, TOKEN_DOT, 1, ret);
		return lex_atom(lex, TOKEN_ATOM, ret, e);
	default:
		return lex_atom(lex, TOKEN_ATOM, ret, e);
	}
}
