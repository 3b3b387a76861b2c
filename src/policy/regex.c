/* SPDX-License-Identifier: Apache-2.0 */
/* A recursive-descent parser; depth is counted, so that hostile text meets an error. */
#include "policy/regex.h"

#include "base/banned.h"

struct parser {
	struct str text;
	size_t i;
	struct span at;
	struct arena *arena;
	struct err *e;
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

static int wrong(struct parser *p, const char *what)
{
	return err_at(p->e, ERR_POLICY, p->at, "%s", what);
}

static int new_tree(struct parser *p, enum regex_kind kind, struct regex_tree **ret)
{
	*ret = arena_alloc(p->arena, sizeof(**ret));
	if (!*ret)
		return err_at(p->e, ERR_LIMIT, p->at, "regular expression needs too much memory");
	(*ret)->kind = kind;
	return 0;
}

/* ---- Sets ----------------------------------------------------------------------------------- */

static int set_byte(struct parser *p, unsigned *ret)
{
	if (peek(p) == '[' && p->i + 1 < p->text.n && memchr(":.=", p->text.p[p->i + 1], 3))
		return wrong(p, "unsupported [: :], [. .] or [= =] in regular expression");
	(void)accept_byte(p, '\\');
	if (at_end(p))
		return wrong(p, "unbalanced [ in regular expression");
	*ret = peek(p);
	p->i++;
	return 0;
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
static int parse_set(struct parser *p, struct regex_tree **ret)
{
	struct regex_tree *tree;
	int r = new_tree(p, REGEX_BYTES, &tree);

	if (r < 0)
		return r;
	tree->negated = accept_byte(p, '^');
	do {
		unsigned first, last;

		r = set_byte(p, &first);
		last = first;
		if (r == 0 && accept_dash(p))
			r = set_byte(p, &last);
		if (r < 0)
			return r;
		if (last < first)
			return wrong(p, "invalid range in regular expression");
		for (unsigned byte = first; byte <= last; byte++)
			byteset_add(&tree->set, byte);
	} while (!accept_byte(p, ']'));
	*ret = tree;
	return 0;
}

/* ---- Repetition ----------------------------------------------------------------------------- */

static bool parse_number(struct parser *p, int *ret)
{
	size_t start = p->i;

	for (*ret = 0; peek(p) >= '0' && peek(p) <= '9' && *ret <= REGEX_INTERVAL_MAX; p->i++)
		*ret = *ret * 10 + (peek(p) - '0');
	return p->i > start && *ret <= REGEX_INTERVAL_MAX;
}

/* After "{". */
static int parse_interval(struct parser *p, int *min, int *max)
{
	bool ok = parse_number(p, min);
	int r;

	*max = *min;
	if (ok && accept_byte(p, ',')) {
		*max = REGEX_UNBOUNDED;
		if (peek(p) != '}')
			ok = parse_number(p, max) && *max >= *min;
	}
	if (ok && accept_byte(p, '}'))
		return 0;
	r = wrong(p, "invalid interval in regular expression");
	(void)err_hint(p->e, "write {n}, {n,} or {n,m} up to %d; a literal brace is \\{",
		       REGEX_INTERVAL_MAX);
	return r;
}

/* Is there a repetition operator here? Takes it. < 0: a bad one. */
static int parse_operator(struct parser *p, int *min, int *max)
{
	*min = 0;
	*max = REGEX_UNBOUNDED;
	if (accept_byte(p, '*'))
		return 1;
	if (accept_byte(p, '+')) {
		*min = 1;
		return 1;
	}
	if (accept_byte(p, '?')) {
		*max = 1;
		return 1;
	}
	if (accept_byte(p, '{')) {
		int r = parse_interval(p, min, max);

		return r < 0 ? r : 1;
	}
	return 0;
}

/* ---- Expressions ---------------------------------------------------------------------------- */

static int parse_alternatives(struct parser *p, unsigned depth, struct regex_tree **ret);

/* After "(". */
static int parse_group(struct parser *p, unsigned depth, struct regex_tree **ret)
{
	int r;

	if (accept_byte(p, '?'))
		p->dead = true;
	r = parse_alternatives(p, depth + 1, ret);
	if (r < 0)
		return r;
	return accept_byte(p, ')') ? 0 : wrong(p, "unbalanced ( in regular expression");
}

static int new_byte(struct parser *p, unsigned char byte, struct regex_tree **ret)
{
	int r = new_tree(p, REGEX_BYTES, ret);

	if (r == 0)
		byteset_add(&(*ret)->set, byte);
	return r;
}

static int parse_escape(struct parser *p, struct regex_tree **ret)
{
	if (at_end(p))
		return wrong(p, "trailing backslash in regular expression");
	return new_byte(p, (unsigned char)p->text.p[p->i++], ret);
}

static int new_any(struct parser *p, struct regex_tree **ret)
{
	int r = new_tree(p, REGEX_BYTES, ret);

	if (r == 0)
		(*ret)->negated = true; /* all but nothing */
	return r;
}

static int parse_unit(struct parser *p, unsigned depth, struct regex_tree **ret)
{
	unsigned char c = (unsigned char)p->text.p[p->i++];

	switch (c) {
	case '(':
		return parse_group(p, depth, ret);
	case '[':
		return parse_set(p, ret);
	case '.':
		return new_any(p, ret);
	case '$':
		return new_tree(p, REGEX_END, ret);
	case '\\':
		return parse_escape(p, ret);
	case '^':
		return wrong(p, "unexpected ^ operator in middle of expression");
	case '*':
	case '+':
	case '?':
	case '{':
		return wrong(p, "repetition without an operand in regular expression");
	default:
		return new_byte(p, c, ret);
	}
}

static int parse_piece(struct parser *p, unsigned depth, struct regex_tree **ret)
{
	struct regex_tree *tree, *repeat;
	int min, max;
	int r = parse_unit(p, depth, &tree);

	if (r < 0)
		return r;
	for (unsigned stacked = 0; (r = parse_operator(p, &min, &max)) > 0; stacked++) {
		if (stacked == REGEX_STACKED_MAX)
			return wrong(p, "too many repetition operators in a row");
		r = new_tree(p, REGEX_REPEAT, &repeat);
		if (r < 0)
			return r;
		repeat->min = min;
		repeat->max = max;
		repeat->kids = tree;
		tree = repeat;
	}
	*ret = tree;
	return r;
}

/* A branch may be empty. */
static int parse_branch(struct parser *p, unsigned depth, struct regex_tree **ret)
{
	struct regex_tree *branch, *piece = NULL;
	int r = new_tree(p, REGEX_CONCAT, &branch);

	while (r == 0 && !at_end(p) && peek(p) != '|' && peek(p) != ')') {
		r = parse_piece(p, depth, &piece);
		if (r == 0) {
			piece->older = branch->kids;
			branch->kids = piece;
		}
	}
	*ret = branch;
	return r;
}

static int parse_alternatives(struct parser *p, unsigned depth, struct regex_tree **ret)
{
	struct regex_tree *all, *branch;
	int r;

	if (depth > REGEX_DEPTH_MAX)
		return err_at(p->e, ERR_LIMIT, p->at, "regular expression is nested too deeply");
	r = new_tree(p, REGEX_ALTERNATE, &all);
	do {
		if (r == 0)
			r = parse_branch(p, depth, &branch);
		if (r < 0)
			return r;
		branch->older = all->kids;
		all->kids = branch;
	} while (accept_byte(p, '|'));
	*ret = all;
	return 0;
}

/* "^first|rest": only the first branch is anchored. */
static int parse_anchored(struct parser *p, struct regex *ret)
{
	struct regex_tree *tree;
	int r = parse_branch(p, 0, &tree);

	ret->anchored = tree;
	if (r == 0 && accept_byte(p, '|')) {
		r = parse_alternatives(p, 0, &tree);
		ret->floating = tree;
	}
	return r;
}

int regex_parse(struct str text, struct span at, struct arena *arena, struct regex *ret,
		struct err *e)
{
	struct parser p = {.text = text, .at = at, .arena = arena, .e = e};
	struct regex regex = {0};
	struct regex_tree *tree;
	int r;

	if (accept_byte(&p, '^')) {
		r = parse_anchored(&p, &regex);
	} else {
		r = parse_alternatives(&p, 0, &tree);
		regex.floating = tree;
	}
	if (r < 0)
		return r;
	if (!at_end(&p))
		return wrong(&p, "unbalanced ) in regular expression");
	regex.dead = p.dead;
	*ret = regex;
	return 0;
}
