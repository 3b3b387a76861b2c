/* SPDX-License-Identifier: Apache-2.0 */
/* A recursive-descent parser; depth is counted, so that hostile text meets an error. */
#include "policy/regex.h"

#include "base/banned.h"

/* Functions that return a tree return NULL once `failure` is set. */
struct parser {
	struct str text;
	size_t i;
	struct span at;
	struct arena *arena;
	struct err *e;
	int failure;
	bool dead;
};

static bool at_end(const struct parser *p)
{
	return p->i >= p->text.n;
}

static unsigned char peek(const struct parser *p)
{
	return at_end(p) ? '\0' : (unsigned char)p->text.p[p->i];
}

static bool accept_byte(struct parser *p, char c)
{
	if (at_end(p) || p->text.p[p->i] != c)
		return false;
	p->i++;
	return true;
}

static struct regex_tree *wrong(struct parser *p, const char *what)
{
	p->failure = err_at(p->e, ERR_POLICY, p->at, "%s in regular expression", what);
	return NULL;
}

static struct regex_tree *too_big(struct parser *p, const char *what)
{
	p->failure = err_at(p->e, ERR_LIMIT, p->at, "regular expression %s", what);
	return NULL;
}

static struct regex_tree *new_tree(struct parser *p, enum regex_kind kind)
{
	struct regex_tree *tree = arena_alloc(p->arena, sizeof(*tree));

	if (!tree)
		return too_big(p, "needs too much memory");
	tree->kind = kind;
	return tree;
}

/* ---- Sets ---- */

/* "[:", "[." or "[=": what they mean to Apple is not known. */
static bool is_posix_class(const struct parser *p)
{
	int next = p->i + 1 < p->text.n ? p->text.p[p->i + 1] : '\0';

	return peek(p) == '[' && (next == ':' || next == '.' || next == '=');
}

/* One byte of a set; 0 once something is wrong. */
static unsigned set_byte(struct parser *p)
{
	if (is_posix_class(p))
		(void)wrong(p, "unsupported [: :], [. .] or [= =]");
	(void)accept_byte(p, '\\');
	if (at_end(p))
		(void)wrong(p, "unbalanced [");
	if (p->failure < 0)
		return 0;
	return (unsigned char)p->text.p[p->i++];
}

/* "-" between two bytes of a set; at its end it stands for itself. */
static bool accept_dash(struct parser *p)
{
	if (p->i + 1 >= p->text.n || p->text.p[p->i] != '-' || p->text.p[p->i + 1] == ']')
		return false;
	p->i++;
	return true;
}

/* After "[". A "]" in first place stands for itself. */
static struct regex_tree *parse_set(struct parser *p)
{
	struct regex_tree *tree = new_tree(p, REGEX_BYTES);

	if (!tree)
		return NULL;
	tree->negated = accept_byte(p, '^');
	do {
		unsigned first = set_byte(p);
		unsigned last = accept_dash(p) ? set_byte(p) : first;

		if (p->failure < 0)
			return NULL;
		if (last < first)
			return wrong(p, "invalid range");
		for (unsigned byte = first; byte <= last; byte++)
			byteset_add(&tree->set, byte);
	} while (!accept_byte(p, ']'));
	return tree;
}

/* ---- Repetition ---- */

static bool parse_number(struct parser *p, int *ret)
{
	size_t start = p->i;

	for (*ret = 0; peek(p) >= '0' && peek(p) <= '9' && *ret <= REGEX_INTERVAL_MAX; p->i++)
		*ret = *ret * 10 + (peek(p) - '0');
	return p->i > start && *ret <= REGEX_INTERVAL_MAX;
}

/* After "{". */
static void parse_interval(struct parser *p, int *min, int *max)
{
	bool ok = parse_number(p, min);

	*max = *min;
	if (ok && accept_byte(p, ',')) {
		*max = REGEX_UNBOUNDED;
		if (peek(p) != '}')
			ok = parse_number(p, max) && *max >= *min;
	}
	if (ok && accept_byte(p, '}'))
		return;
	(void)wrong(p, "invalid interval");
	(void)err_hint(p->e, "write {n}, {n,} or {n,m} up to %d; a literal brace is \\{",
		       REGEX_INTERVAL_MAX);
}

/* Takes a repetition operator, if there is one. */
static bool accept_operator(struct parser *p, int *min, int *max)
{
	*min = 0;
	*max = REGEX_UNBOUNDED;
	if (accept_byte(p, '*'))
		return true;
	if (accept_byte(p, '+')) {
		*min = 1;
		return true;
	}
	if (accept_byte(p, '?')) {
		*max = 1;
		return true;
	}
	if (!accept_byte(p, '{'))
		return false;
	parse_interval(p, min, max);
	return true;
}

/* ---- Units ---- */

static struct regex_tree *new_byte(struct parser *p, unsigned char byte)
{
	struct regex_tree *tree = new_tree(p, REGEX_BYTES);

	if (tree)
		byteset_add(&tree->set, byte);
	return tree;
}

static struct regex_tree *new_any(struct parser *p)
{
	struct regex_tree *tree = new_tree(p, REGEX_BYTES);

	if (tree)
		tree->negated = true; /* all but nothing */
	return tree;
}

/* After "\". */
static struct regex_tree *parse_escape(struct parser *p)
{
	if (at_end(p))
		return wrong(p, "trailing backslash");
	return new_byte(p, (unsigned char)p->text.p[p->i++]);
}

/* NOLINTBEGIN(misc-no-recursion): REGEX_DEPTH_MAX groups */

static struct regex_tree *parse_alternatives(struct parser *p, unsigned depth);

/* After "(". */
static struct regex_tree *parse_group(struct parser *p, unsigned depth)
{
	struct regex_tree *tree;

	if (accept_byte(p, '?'))
		p->dead = true;
	tree = parse_alternatives(p, depth + 1);
	if (tree && !accept_byte(p, ')'))
		return wrong(p, "unbalanced (");
	return tree;
}

static struct regex_tree *parse_unit(struct parser *p, unsigned depth)
{
	unsigned char c = (unsigned char)p->text.p[p->i++];

	switch (c) {
	case '(':
		return parse_group(p, depth);
	case '[':
		return parse_set(p);
	case '.':
		return new_any(p);
	case '$':
		return new_tree(p, REGEX_END);
	case '\\':
		return parse_escape(p);
	case '^':
		p->failure = err_at(p->e, ERR_POLICY, p->at,
				    "unexpected ^ operator in middle of expression");
		return NULL;
	case '*':
	case '+':
	case '?':
	case '{':
		return wrong(p, "repetition without an operand");
	default:
		return new_byte(p, c);
	}
}

/* ---- Expressions ---- */

static struct regex_tree *parse_piece(struct parser *p, unsigned depth)
{
	struct regex_tree *tree = parse_unit(p, depth);
	int min, max;

	for (unsigned stacked = 0; tree && accept_operator(p, &min, &max); stacked++) {
		struct regex_tree *repeat = new_tree(p, REGEX_REPEAT);

		if (p->failure == 0 && stacked == REGEX_STACKED_MAX)
			return too_big(p, "has too many repetition operators in a row");
		if (p->failure < 0 || !repeat)
			return NULL;
		repeat->min = min;
		repeat->max = max;
		repeat->kids = tree;
		tree = repeat;
	}
	return tree;
}

/* A branch may be empty. */
static struct regex_tree *parse_branch(struct parser *p, unsigned depth)
{
	struct regex_tree *branch = new_tree(p, REGEX_CONCAT);

	while (branch && !at_end(p) && peek(p) != '|' && peek(p) != ')') {
		struct regex_tree *piece = parse_piece(p, depth);

		if (!piece)
			return NULL;
		piece->older = branch->kids;
		branch->kids = piece;
	}
	return branch;
}

static struct regex_tree *parse_alternatives(struct parser *p, unsigned depth)
{
	struct regex_tree *all;

	if (depth > REGEX_DEPTH_MAX)
		return too_big(p, "is nested too deeply");
	all = new_tree(p, REGEX_ALTERNATE);
	if (!all)
		return NULL;
	do {
		struct regex_tree *branch = parse_branch(p, depth);

		if (!branch)
			return NULL;
		branch->older = all->kids;
		all->kids = branch;
	} while (accept_byte(p, '|'));
	return all;
}

/* NOLINTEND(misc-no-recursion) */

int regex_parse(struct str text, struct span at, struct arena *arena, struct regex *ret,
		struct err *e)
{
	struct parser p = {.text = text, .at = at, .arena = arena, .e = e};
	struct regex regex = {0};

	/* "^first|rest": only the first branch is anchored. */
	if (accept_byte(&p, '^'))
		regex.anchored = parse_branch(&p, 0);
	if (p.failure == 0 && (!regex.anchored || accept_byte(&p, '|')))
		regex.floating = parse_alternatives(&p, 0);
	if (p.failure == 0 && !at_end(&p))
		(void)wrong(&p, "unbalanced )");
	if (p.failure < 0)
		return p.failure;
	regex.dead = p.dead;
	*ret = regex;
	return 0;
}
