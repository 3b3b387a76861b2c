/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: language_oracle [POLICIES [SEED]] - which paths random patterns match, as libfa has it.
 * Its automata and the policy's walk side by side from the empty path over every byte, until no new
 * combination of states turns up: what differs for no combination differs for no path.
 */
#include "naive.h"
#include "random.h"

#include <fa.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/intern.h"

enum {
	RULES_MAX = 6,
	TESTS_MAX = 40,
	COMBINATIONS_MAX = 30000,
};

/* ---- Patterns to automata of libfa ---- */

/*
 * `$` reads END, of which any number may follow a path: what comes after `$` can then be nothing
 * but another one.
 */
static const char END = '\0';

static struct fa *check(struct fa *fa)
{
	if (!fa)
		abort();
	return fa;
}

/* Takes both. */
static struct fa *take(struct fa *(*join)(struct fa *x, struct fa *y), struct fa *x, struct fa *y)
{
	struct fa *fa = check(join(x, y));

	fa_free(x);
	fa_free(y);
	return fa;
}

static struct fa *from_text(struct buf *text)
{
	struct fa *fa = NULL;

	if (text->failed || fa_compile(text->p, text->n, &fa) != 0)
		abort();
	buf_release(text);
	return check(fa);
}

static struct fa *from_byte(char byte)
{
	struct buf text = {0};

	buf_printf(&text, "\\");
	buf_putc(&text, byte);
	return from_text(&text);
}

/* Bytes that mean something in a set. */
static bool is_special(unsigned byte)
{
	return strchr("[]^-\\", (int)byte);
}

/* Adds those of HAS from BYTE on that stand in a row, as a range: libfa has none across 127. The
 * last one. */
static unsigned add_range(const bool *has, unsigned byte, struct buf *ret)
{
	unsigned last = byte;

	while (last != 127 && last < 255 && has[last + 1] && !is_special(last + 1))
		last++;
	buf_putc(ret, (char)byte);
	buf_putc(ret, '-');
	buf_putc(ret, (char)last);
	return last;
}

static struct fa *from_set(const struct re *set, bool folds)
{
	struct buf text = {0}, ranges = {0};
	bool has[256] = {false};

	for (unsigned byte = 1; byte < 256; byte++)
		has[byte] = re_set_takes(set, (unsigned char)byte, folds);
	for (unsigned byte = 1; byte < 256; byte++) {
		if (!has[byte])
			continue;
		if (!is_special(byte)) {
			byte = add_range(has, byte, &ranges);
			continue;
		}
		buf_puts(&text, text.n ? "|\\" : "\\");
		buf_putc(&text, (char)byte);
	}
	if (ranges.n)
		buf_printf(&text, "%s[%s]", text.n ? "|" : "", ranges.p);
	buf_release(&ranges);
	if (text.n)
		return from_text(&text);
	return check(fa_make_basic(FA_EMPTY));
}

static struct fa *any_bytes(void)
{
	const struct re any = {.kind = RE_SET, .negated = true};
	struct fa *one = from_set(&any, false), *all = check(fa_iter(one, 0, -1));

	fa_free(one);
	return all;
}

static struct fa *from_re(const struct re *re, bool folds)
{
	struct fa *fa, *one;

	switch (re->kind) {
	case RE_SET:
		return from_set(re, folds);
	case RE_END:
		return from_byte(END);
	case RE_REPEAT:
		one = from_re(re->kids[0], folds);
		fa = check(fa_iter(one, re->min, re->max));
		fa_free(one);
		return fa;
	case RE_SEQUENCE:
		fa = check(fa_make_basic(FA_EPSILON));
		for (size_t i = 0; i < re->n; i++)
			fa = take(fa_concat, fa, from_re(re->kids[i], folds));
		return fa;
	case RE_CHOICE:
		break;
	}
	fa = check(fa_make_basic(FA_EMPTY));
	for (size_t i = 0; i < re->n; i++)
		fa = take(fa_union, fa, from_re(re->kids[i], folds));
	return fa;
}

static struct fa *from_regex(struct arena *arena, struct str text, bool folds)
{
	const struct re_pattern *pattern = re_read(arena, text);
	struct fa *fa = check(fa_make_basic(FA_EMPTY));

	if (!pattern)
		abort();
	if (pattern->head && !pattern->dead)
		fa = take(fa_union, fa, from_re(pattern->head, folds));
	if (pattern->rest && !pattern->dead)
		fa = take(fa_union, fa,
			  take(fa_concat, any_bytes(), from_re(pattern->rest, folds)));
	return take(fa_concat, fa, any_bytes());
}

static struct fa *from_plain(const struct test *test, bool folds)
{
	bool is_root = test->text.n == 1 && test->text.p[0] == '/';
	struct fa *fa = check(fa_make_basic(FA_EPSILON));

	for (size_t i = 0; i < test->text.n; i++) {
		struct re set = {.kind = RE_SET};

		set.has[(unsigned char)test->text.p[i]] = true;
		fa = take(fa_concat, fa, from_set(&set, folds));
	}
	if (test->match == MATCH_PREFIX || (test->match == MATCH_SUBPATH && is_root))
		return take(fa_concat, fa, any_bytes());
	if (test->match == MATCH_SUBPATH)
		return take(fa_concat, fa,
			    take(fa_union, check(fa_make_basic(FA_EPSILON)),
				 take(fa_concat, from_byte('/'), any_bytes())));
	return fa;
}

/* ---- Automata as tables ---- */

/* State 0 is dead, 1 the start. */
struct language {
	const struct test *test;
	struct state **states;
	uint32_t n;
	uint32_t (*next)[256];
	bool *accepts; /* also by END alone */
};

static uint32_t number_of(const struct language *l, const struct state *state)
{
	for (uint32_t i = 1; i < l->n; i++)
		if (l->states[i] == state)
			return i;
	abort();
}

static void fill_state(struct language *l, uint32_t i)
{
	for (size_t j = 0; j < fa_state_num_trans(l->states[i]); j++) {
		struct state *to;
		unsigned char min, max;

		if (fa_state_trans(l->states[i], j, &to, &min, &max) != 0)
			abort();
		for (unsigned byte = min; byte <= max; byte++)
			l->next[i][byte] = number_of(l, to);
	}
	l->accepts[i] = fa_state_is_accepting(l->states[i]);
}

/* For END the states have been told apart; now it counts as the end. */
static void drop_end(struct language *l)
{
	for (uint32_t round = 0; round < l->n; round++)
		for (uint32_t i = 1; i < l->n; i++)
			l->accepts[i] |= l->accepts[l->next[i][(unsigned char)END]];
}

static void *take_room(struct arena *arena, size_t n, size_t size)
{
	void *room = arena_array(arena, n, size);

	if (!room)
		abort();
	return room;
}

static void language_init(struct language *l, const struct test *test, bool folds,
			  struct arena *arena)
{
	struct fa *fa = test->match == MATCH_REGEX ? from_regex(arena, test->text, folds)
						   : from_plain(test, folds);

	if (fa_minimize(fa) != 0 || !fa_is_deterministic(fa))
		abort();
	*l = (struct language){.test = test, .n = 1};
	for (struct state *s = fa_state_initial(fa); s; s = fa_state_next(s))
		l->n++;
	l->states = take_room(arena, l->n, sizeof(struct state *));
	l->next = take_room(arena, l->n, sizeof(*l->next));
	l->accepts = take_room(arena, l->n, sizeof(*l->accepts));
	l->n = 1;
	for (struct state *s = fa_state_initial(fa); s; s = fa_state_next(s))
		l->states[l->n++] = s;
	for (uint32_t i = 1; i < l->n; i++)
		fill_state(l, i);
	drop_end(l);
	fa_free(fa);
}

/* ---- What a path's other spelling is ---- */

/* Where a path stands that may begin with /tmp, /var or /etc. */
static const char *const tops[] = {"/tmp", "/var", "/etc"};

enum place {
	PLACE_START, /* and 1 .. 3 bytes of a name, of the first one that begins so */
	PLACE_INSIDE = 100,
	PLACE_OUTSIDE,
};

static uint32_t next_place(uint32_t place, unsigned char byte)
{
	uint32_t top = place / 4, n = place % 4;

	if (place == PLACE_INSIDE || place == PLACE_OUTSIDE)
		return place;
	if (place >= 12) /* all of a name was read */
		return byte == '/' ? PLACE_INSIDE : PLACE_OUTSIDE;
	if (n == 1) /* "/": any of them */
		for (top = 0; top < 2 && tops[top][1] != (char)byte; top++)
			;
	if (tops[top][n] != (char)byte)
		return PLACE_OUTSIDE;
	return n == 3 ? 12 : top * 4 + n + 1;
}

static bool has_other_name(uint32_t place)
{
	return place == 12 || place == PLACE_INSIDE;
}

/* ---- Side by side ---- */

/*
 * A combination: the policy's state, the place, the state of each language after the path and after
 * its other spelling.
 */
struct walk {
	const struct policy *policy;
	struct arena arena;
	struct language languages[TESTS_MAX];
	size_t n;
	struct intern met;
	uint32_t *from; /* by combination: the one before */
	unsigned char *over;
	size_t cap_from, cap_over;
	uint64_t accepted;
};

static void each_test(struct walk *w, const struct expr *expr)
{
	bool folds = policy_target(w->policy) == TARGET_DARWIN;

	if (expr->kind == EXPR_TEST && w->n < TESTS_MAX)
		language_init(&w->languages[w->n++], &expr->test, folds, &w->arena);
	for (size_t i = 0; expr->kind != EXPR_TEST && i < expr->n; i++)
		each_test(w, expr->kids[i]);
}

static bool meet(struct walk *w, const uint32_t *words, uint32_t from, unsigned char over)
{
	size_t before = w->met.n;
	int64_t id = intern_put(&w->met, words, 2 + 2 * w->n);

	if (id < 0)
		abort();
	if (w->met.n == before)
		return true;
	w->from = arena_grow(&w->arena, w->from, before, &w->cap_from, sizeof(*w->from));
	w->over = arena_grow(&w->arena, w->over, before, &w->cap_over, sizeof(*w->over));
	if (!w->from || !w->over)
		abort();
	w->from[id] = from;
	w->over[id] = over;
	return w->met.n <= COMBINATIONS_MAX;
}

/* In place of words: the empty path, which no pattern matches. */
static const uint32_t *const NO_PATH;

static bool test_holds(const struct walk *w, const struct test *test, const uint32_t *words)
{
	const struct language *l = w->languages;
	size_t i = 0;

	if (words == NO_PATH)
		return false;
	while (l[i].test != test)
		i++;
	return l[i].accepts[words[2 + i]] ||
	       (has_other_name(words[1]) && l[i].accepts[words[2 + w->n + i]]);
}

static bool holds(const struct walk *w, const struct expr *expr, const uint32_t *words)
{
	bool all = true, any = false;

	if (expr->kind == EXPR_TEST)
		return test_holds(w, &expr->test, words);
	for (size_t i = 0; i < expr->n; i++) {
		bool one = holds(w, expr->kids[i], words);

		all &= one;
		any |= one;
	}
	return expr->kind == EXPR_NOT ? !any : expr->kind == EXPR_ALL ? all : any;
}

/* The path that led to combination ID, for which libfa and the policy shall agree. */
static struct str path_to(struct walk *w, uint32_t id)
{
	size_t n = 0;
	char *path;

	for (uint32_t i = id; i > 0; i = w->from[i])
		n++;
	path = take_room(&w->arena, n + 1, 1);
	for (size_t i = n; i-- > 0; id = w->from[id])
		path[i] = (char)w->over[id];
	return (struct str){path, n};
}

static bool agree(struct walk *w, uint32_t id, const uint32_t *words)
{
	struct request request = {.op = OP_FILE_READ_DATA, .path = path_to(w, id)};
	const struct rule *want = NULL;
	struct decision at, whole;
	struct buf text = {0};

	for (size_t i = policy_n_rules(w->policy); i-- > 0 && !want;)
		if (holds(w, policy_rule(w->policy, i)->filter, id == 0 ? NO_PATH : words))
			want = policy_rule(w->policy, i);
	policy_decide_at(w->policy, words[0], &request, &at);
	policy_decide(w->policy, &request, &whole);
	w->accepted += want && want->verdict == VERDICT_ALLOW;
	if (at.rule == want && whole.rule == want &&
	    whole.verdict == (want ? want->verdict : VERDICT_DENY))
		return true;
	for (size_t i = 0; i < policy_n_rules(w->policy); i++)
		print_rule(policy_rule(w->policy, i), &text);
	print_request(&request, &text);
	buf_printf(&text, "# target %d: rule %d, but libfa says %d\n", policy_target(w->policy),
		   whole.rule ? (int)whole.rule->index : -1, want ? (int)want->index : -1);
	(void)fwrite(text.p, 1, text.n, stdout);
	buf_release(&text);
	return false;
}

/* Adds what follows combination ID. False: there are too many. */
static bool follow(struct walk *w, uint32_t id)
{
	size_t n_words;
	const uint32_t *words = intern_get(&w->met, id, &n_words);
	uint32_t next[2 + 2 * TESTS_MAX];
	bool ok = true;

	for (unsigned byte = 1; byte < 256 && ok; byte++) {
		const char c = (char)byte;

		next[0] = policy_walk(w->policy, words[0], (struct str){&c, 1});
		next[1] = next_place(words[1], (unsigned char)byte);
		for (size_t i = 0; i < w->n; i++) {
			const struct language *l = &w->languages[i];
			uint32_t other = l->next[words[2 + w->n + i]][byte];

			next[2 + i] = l->next[words[2 + i]][byte];
			next[2 + w->n + i] = next[1] == PLACE_OUTSIDE ? 0 : other;
		}
		ok = meet(w, next, id, (unsigned char)byte);
	}
	return ok;
}

static void start(struct walk *w)
{
	static const char prefix[] = "/private";
	uint32_t words[2 + 2 * TESTS_MAX];
	bool is_linux = policy_target(w->policy) == TARGET_LINUX;

	for (size_t i = 0; i < policy_n_rules(w->policy); i++)
		each_test(w, policy_rule(w->policy, i)->filter);
	words[0] = policy_start(w->policy);
	words[1] = is_linux ? PLACE_START : PLACE_OUTSIDE;
	for (size_t i = 0; i < w->n; i++) {
		uint32_t other = is_linux;

		for (const char *c = prefix; *c; c++)
			other = w->languages[i].next[other][(unsigned char)*c];
		words[2 + i] = 1;
		words[2 + w->n + i] = other;
	}
	(void)meet(w, words, 0, 0);
}

/* ---- Policies ---- */

struct tally {
	uint64_t policies, patterns, combinations, accepted, too_many;
	bool differs;
};

static struct policy *random_policy(struct cast *cast)
{
	const struct policy_limits limits = {.memory = 64u << 20, .states = 20000};
	struct policy_builder *builder = policy_builder_new(
		dice_one_in(&cast->dice, 2) ? TARGET_LINUX : TARGET_DARWIN, limits);
	unsigned n = 1 + dice_below(&cast->dice, RULES_MAX);
	struct policy *policy = NULL;

	for (unsigned i = 0; builder && i < n; i++) {
		struct rule rule = {.verdict = dice_one_in(&cast->dice, 2) ? VERDICT_ALLOW
									   : VERDICT_DENY,
				    .op = OP_FILE_READ_DATA};

		rule.filter = cast_path_filter(cast, dice_one_in(&cast->dice, 3) ? 2 : 0);
		if (policy_builder_add(builder, &rule, NULL) < 0)
			abort();
	}
	if (!builder || policy_build(builder, &policy, NULL) < 0)
		abort();
	return policy;
}

static void try_policy(uint64_t seed, struct tally *tally)
{
	struct arena arena = {0};
	struct walk w = {.met.arena = &arena};
	struct cast cast;
	bool ok = true;

	cast_init(&cast, seed, &arena);
	w.policy = random_policy(&cast);
	start(&w);
	for (uint32_t id = 0; id < w.met.n && !tally->differs && ok; id++) {
		size_t n;

		tally->differs |= !agree(&w, id, intern_get(&w.met, id, &n));
		ok = follow(&w, id);
	}
	tally->policies++;
	tally->patterns += w.n;
	tally->combinations += w.met.n;
	tally->accepted += w.accepted;
	tally->too_many += !ok;
	policy_free((struct policy *)(uintptr_t)w.policy);
	arena_release(&w.arena);
	arena_release(&arena);
}

/* Are random texts expressions, or none, to both readers? */
static bool readers_agree(uint64_t seed, unsigned rounds)
{
	static const char bytes[] = "a/b.^$*+?|()[]{},0129\\-:=]){";
	struct dice dice = {seed};
	unsigned good = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct test test = {.filter = FILTER_PATH, .match = MATCH_REGEX};
		struct arena arena = {0};
		char text[16];
		size_t n = dice_below(&dice, sizeof(text));
		bool ours, theirs;

		for (size_t j = 0; j < n; j++)
			text[j] = bytes[dice_below(&dice, sizeof(bytes) - 1)];
		test.text = (struct str){text, n};
		ours = policy_check_pattern(&test, NULL) == 0;
		theirs = re_read(&arena, test.text);
		arena_release(&arena);
		good += ours;
		if (ours == theirs)
			continue;
		printf("# /%.*s/ is%s an expression\n", (int)n, text, ours ? "" : " not");
		return false;
	}
	return good > rounds / 20 && good < rounds - rounds / 20;
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 150;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct tally tally = {0};
	bool readers = readers_agree(seed, 20000), telling;

	for (; tally.policies < wanted && !tally.differs; seed++)
		try_policy(seed, &tally);
	telling = tally.accepted > tally.combinations / 10 &&
		  tally.accepted < tally.combinations - tally.combinations / 10 &&
		  tally.too_many < tally.policies / 20;
	printf("# %" PRIu64 " policies, %" PRIu64 " patterns, %" PRIu64 " combinations of states, "
	       "%" PRIu64 " of them allow; %" PRIu64 " policies have too many\n",
	       tally.policies, tally.patterns, tally.combinations, tally.accepted, tally.too_many);
	printf("%sok 1 - the same texts are regular expressions\n", readers ? "" : "not ");
	printf("%sok 2 - policies decide about every path as libfa does\n",
	       tally.differs ? "not " : "");
	printf("%sok 3 - the patterns were various\n1..3\n", telling ? "" : "not ");
	return !readers || tally.differs || !telling;
}
