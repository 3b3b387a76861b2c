/* SPDX-License-Identifier: Apache-2.0 */
#include "re.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading ---- */

enum {
	DEPTH = 100,
	STACKED = 8,
	COUNT = 255,
};

struct reader {
	struct arena *arena;
	struct str left;
	bool wrong, dead;
};

static struct re *new_re(struct reader *r, enum re_kind kind)
{
	struct re *re = arena_alloc(r->arena, sizeof(*re));

	if (!re)
		abort();
	re->kind = kind;
	return re;
}

static void add_kid(struct reader *r, struct re *re, struct re *kid)
{
	re->kids = arena_grow(r->arena, re->kids, re->n, &re->cap, sizeof(struct re *));
	if (!re->kids)
		abort();
	re->kids[re->n++] = kid;
}

static bool at(const struct reader *r, const char *any_of)
{
	return r->left.n > 0 && *r->left.p && strchr(any_of, *r->left.p);
}

/* The next byte; nothing is left: the text is wrong. */
static unsigned char take(struct reader *r)
{
	if (r->left.n == 0) {
		r->wrong = true;
		return 0;
	}
	r->left.n--;
	return (unsigned char)*r->left.p++;
}

/* Takes the next byte if it is C. */
static bool take_if(struct reader *r, char c)
{
	if (r->left.n == 0 || *r->left.p != c)
		return false;
	(void)take(r);
	return true;
}

/* A member of a set, where [: :] and its kin are refused. */
static unsigned member(struct reader *r)
{
	if (at(r, "[") && r->left.n > 1 && strchr(":.=", r->left.p[1]) && r->left.p[1])
		r->wrong = true;
	if (at(r, "\\"))
		(void)take(r);
	return take(r);
}

static struct re *read_set(struct reader *r)
{
	struct re *set = new_re(r, RE_SET);

	set->negated = take_if(r, '^');
	for (bool first = true; !r->wrong && (first || !at(r, "]")); first = false) {
		unsigned low = member(r), high = low;

		if (at(r, "-") && r->left.n > 1 && r->left.p[1] != ']') {
			(void)take(r);
			high = member(r);
		}
		r->wrong |= high < low;
		for (unsigned byte = low; byte <= high; byte++)
			set->has[byte] = true;
	}
	(void)take(r);
	return set;
}

static struct re *read_choice(struct reader *r, unsigned depth);

static struct re *read_unit(struct reader *r, unsigned depth)
{
	struct re *re;

	if (at(r, "^*+?{")) {
		r->wrong = true;
		return new_re(r, RE_END);
	}
	if (take_if(r, '$'))
		return new_re(r, RE_END);
	if (take_if(r, '['))
		return read_set(r);
	if (take_if(r, '(')) {
		r->dead |= take_if(r, '?');
		re = read_choice(r, depth + 1);
		r->wrong |= !take_if(r, ')');
		return re;
	}
	re = new_re(r, RE_SET);
	if (take_if(r, '.')) {
		re->negated = true;
		return re;
	}
	(void)take_if(r, '\\');
	re->has[take(r)] = true;
	return re;
}

static int read_count(struct reader *r)
{
	int n = 0;

	if (!at(r, "0123456789"))
		r->wrong = true;
	while (at(r, "0123456789") && n <= COUNT)
		n = n * 10 + (take(r) - '0');
	r->wrong |= n > COUNT;
	return n;
}

static void read_bounds(struct reader *r, int *min, int *max)
{
	*min = 0;
	*max = -1;
	switch (take(r)) {
	case '+':
		*min = 1;
		break;
	case '?':
		*max = 1;
		break;
	case '{':
		*min = *max = read_count(r);
		if (take_if(r, ','))
			*max = at(r, "}") ? -1 : read_count(r);
		r->wrong |= !take_if(r, '}') || (*max >= 0 && *max < *min);
		break;
	default:
		break;
	}
}

static struct re *read_sequence(struct reader *r, unsigned depth)
{
	struct re *all = new_re(r, RE_SEQUENCE);

	while (!r->wrong && r->left.n > 0 && !at(r, "|)")) {
		struct re *piece = read_unit(r, depth);

		for (unsigned n = 0; !r->wrong && at(r, "*+?{"); n++) {
			struct re *repeat = new_re(r, RE_REPEAT);

			r->wrong |= n == STACKED;
			read_bounds(r, &repeat->min, &repeat->max);
			add_kid(r, repeat, piece);
			piece = repeat;
		}
		add_kid(r, all, piece);
	}
	return all;
}

static struct re *read_choice(struct reader *r, unsigned depth)
{
	struct re *any = new_re(r, RE_CHOICE);

	r->wrong |= depth > DEPTH;
	do
		add_kid(r, any, read_sequence(r, depth));
	while (!r->wrong && take_if(r, '|'));
	return any;
}

struct re_pattern *re_read(struct arena *arena, struct str text)
{
	struct reader r = {.arena = arena, .left = text};
	struct re_pattern *pattern = arena_alloc(arena, sizeof(*pattern));

	if (!pattern)
		abort();
	if (take_if(&r, '^'))
		pattern->head = read_sequence(&r, 0);
	if (!pattern->head || take_if(&r, '|'))
		pattern->rest = read_choice(&r, 0);
	pattern->dead = r.dead;
	return r.wrong || r.left.n > 0 ? NULL : pattern;
}

/* ---- Matching ---- */

/* A set of places in the text: before its first byte, ..., after its last. */
struct places {
	uint64_t w[RE_TEXT_MAX / 64 + 1];
};

struct matcher {
	struct str text;
	bool folds;
	size_t n; /* words in use */
};

static unsigned char other_case(unsigned char c)
{
	bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

	return letter ? c ^ 32 : c;
}

bool re_set_takes(const struct re *set, unsigned char byte, bool folds)
{
	bool has = set->has[byte] || (folds && set->has[other_case(byte)]);

	return has != set->negated;
}

/* Adds MORE to PLACES. Was there anything new? */
static bool unite(const struct matcher *m, struct places *places, const struct places *more)
{
	bool news = false;

	for (size_t i = 0; i < m->n; i++) {
		news |= more->w[i] & ~places->w[i];
		places->w[i] |= more->w[i];
	}
	return news;
}

static void clear(const struct matcher *m, struct places *places)
{
	memset(places, 0, m->n * sizeof(*places->w));
}

static void copy(const struct matcher *m, struct places *to, const struct places *from)
{
	memcpy(to, from, m->n * sizeof(*to->w));
}

static void step_set(const struct matcher *m, const struct re *re, struct places *at)
{
	struct places to;

	clear(m, &to);
	for (size_t word = 0; word < m->n; word++)
		for (uint64_t left = at->w[word]; left; left &= left - 1) {
			size_t i = word * 64 + (size_t)__builtin_ctzll(left);

			if (i < m->text.n &&
			    re_set_takes(re, (unsigned char)m->text.p[i], m->folds))
				to.w[(i + 1) / 64] |= (uint64_t)1 << (i + 1) % 64;
		}
	copy(m, at, &to);
}

static void step(const struct matcher *m, const struct re *re, struct places *at);

static void step_repeat(const struct matcher *m, const struct re *re, struct places *at)
{
	struct places all, now;

	for (int i = 0; i < re->min; i++)
		step(m, re->kids[0], at);
	copy(m, &all, at);
	copy(m, &now, at);
	for (int i = re->min; i != re->max; i++) {
		step(m, re->kids[0], &now);
		if (!unite(m, &all, &now))
			break;
	}
	copy(m, at, &all);
}

/* From the places AT to those where a match of RE may end that begins at one of them. */
static void step(const struct matcher *m, const struct re *re, struct places *at)
{
	struct places all, one;

	switch (re->kind) {
	case RE_SET:
		step_set(m, re, at);
		return;
	case RE_END: {
		uint64_t last = at->w[m->text.n / 64] & (uint64_t)1 << m->text.n % 64;

		clear(m, at);
		at->w[m->text.n / 64] = last;
		return;
	}
	case RE_SEQUENCE:
		for (size_t i = 0; i < re->n; i++)
			step(m, re->kids[i], at);
		return;
	case RE_REPEAT:
		step_repeat(m, re, at);
		return;
	case RE_CHOICE:
		break;
	}
	clear(m, &all);
	for (size_t i = 0; i < re->n; i++) {
		copy(m, &one, at);
		step(m, re->kids[i], &one);
		(void)unite(m, &all, &one);
	}
	copy(m, at, &all);
}

static bool any(const struct matcher *m, const struct places *places)
{
	bool found = false;

	for (size_t i = 0; i < m->n; i++)
		found |= places->w[i] != 0;
	return found;
}

bool re_matches(const struct re_pattern *pattern, struct str text, bool folds)
{
	struct matcher m = {text, folds, text.n / 64 + 1};
	struct places at;
	bool found = false;

	if (pattern->dead || text.n == 0)
		return false;
	if (text.n >= RE_TEXT_MAX)
		abort();
	if (pattern->head) {
		clear(&m, &at);
		at.w[0] = 1;
		step(&m, pattern->head, &at);
		found = any(&m, &at);
	}
	if (pattern->rest && !found) {
		clear(&m, &at);
		for (size_t i = 0; i <= text.n; i++)
			at.w[i / 64] |= (uint64_t)1 << i % 64;
		step(&m, pattern->rest, &at);
		found = any(&m, &at);
	}
	return found;
}
