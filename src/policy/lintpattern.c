/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns that match nothing, and those that are too long. Of texts their spelling tells; regular
 * expressions are tried on every path.
 */
#include "base/buf.h"
#include "base/map.h"
#include "base/path.h"
#include "policy/linter.h"

#include "base/banned.h"

/* What is the same for all patterns, and the rule at hand. */
struct patterns {
	struct linter *linter;
	struct policy *links; /* darwin: matches what would lie behind links, see below */
	struct map known;     /* source of a regular expression -> enum reach */
	const struct rule *rule;
	size_t bytes; /* of the rule's patterns so far */
};

/* ---- Words ---- */

/* How a pattern is written: (literal "/a"). Never NULL. */
static const char *spell(struct linter *linter, enum match match, struct str text)
{
	static const char *const forms[] = {
		[MATCH_LITERAL] = "literal",
		[MATCH_PREFIX] = "prefix",
		[MATCH_SUBPATH] = "subpath",
		[MATCH_REGEX] = "regex",
	};
	const size_t most = 120;
	const char *copy = arena_printf(
		linter->arena, "(%s %s\"%.*s%s\")", forms[match], match == MATCH_REGEX ? "#" : "",
		(int)(text.n < most ? text.n : most), text.p, text.n > most ? "..." : "");

	linter->failed |= !copy;
	return copy ? copy : "";
}

static struct span place_of(const struct patterns *p, const struct test *test)
{
	return test->at.line ? test->at : p->rule->at;
}

static void add_no_match(const struct patterns *p, const struct test *test, const char *why,
			 const char *hint)
{
	struct linter *linter = p->linter;
	const char *pattern = spell(linter, test->match, test->text);

	lint_add(linter, (struct finding){
				 .kind = LINT_NO_MATCH,
				 .at = place_of(p, test),
				 .text = arena_printf(linter->arena, "%s matches nothing: %s",
						      pattern, why),
				 .hint = hint,
			 });
}

/* ---- The spelling of paths ---- */

/* Why no canonical path is TEST's text, lies below it, or begins with it. */
static enum path_flaw find_flaw(const struct test *test, enum target target)
{
	if (lint_has_variable(test, target))
		return PATH_CANONICAL;
	return test->match == MATCH_PREFIX ? path_find_prefix_flaw(test->text)
					   : path_find_flaw(test->text);
}

static const char *suggest_path(struct linter *linter, const struct test *test, enum path_flaw flaw)
{
	struct buf text = {0};
	const char *hint;

	if (flaw == PATH_EMPTY)
		return NULL;
	if (flaw == PATH_RELATIVE)
		return "write the whole path; (param \"KEY\") brings in what is known late";
	path_put_canonical(&text, test->text);
	hint = arena_printf(linter->arena, "write %s", spell(linter, test->match, buf_str(&text)));
	buf_release(&text);
	return hint;
}

/* ---- Links that macOS follows before it asks ---- */

/* Matches what would lie behind a link. The link itself has its path. */
static struct policy *build_links(struct linter *linter)
{
	struct rule rules[PATH_DARWIN_LINKS];
	const struct rule *list[PATH_DARWIN_LINKS];

	for (size_t i = 0; i < PATH_DARWIN_LINKS; i++) {
		struct expr *expr = arena_alloc(linter->arena, sizeof(*expr));

		linter->failed |= !expr;
		if (!expr)
			return NULL;
		expr->test = (struct test){
			.filter = FILTER_PATH, .match = MATCH_PREFIX, .text = path_darwin_links[i]};
		rules[i] = (struct rule){.verdict = VERDICT_ALLOW, .filter = expr};
		list[i] = &rules[i];
	}
	return lint_build(linter, list, PATH_DARWIN_LINKS);
}

/* Is all that TEST, which is no regex, matches behind a link, but perhaps the link itself? */
static bool is_behind_link(const struct test *test)
{
	return path_is_behind_darwin_link(test->text) ||
	       (test->match == MATCH_SUBPATH && path_is_darwin_link(test->text));
}

struct sibling {
	enum match match;
	struct str text;
	bool found;
};

static void find_sibling(void *context, const struct test *test)
{
	struct sibling *sibling = context;

	sibling->found |= test->filter == FILTER_PATH && test->match == sibling->match &&
			  str_eq(test->text, sibling->text);
}

/* Does a rule say for TEXT what the one at hand says? Then the author knows of both spellings. */
static bool has_sibling(const struct patterns *p, enum match match, struct str text)
{
	const struct policy *policy = p->linter->policy;
	struct sibling sibling = {.match = match, .text = text};

	for (size_t i = 0; i < policy->n_rules && !sibling.found; i++) {
		const struct rule *rule = &policy->rules[i];

		if (rule->filter && rule->op == p->rule->op && rule->verdict == p->rule->verdict)
			lint_tests(rule->filter, find_sibling, &sibling);
	}
	return sibling.found;
}

/* TEST matches only what would lie behind a link. */
static void check_link(const struct patterns *p, const struct test *test)
{
	struct linter *linter = p->linter;
	size_t anchor = test->match == MATCH_REGEX && str_starts(test->text, STR("^"));
	struct str end = str_skip(test->text, anchor), resolved;

	resolved.p =
		arena_printf(linter->arena, "%s/private%.*s", anchor ? "^" : "", (int)end.n, end.p);
	linter->failed |= !resolved.p;
	if (!resolved.p)
		return;
	resolved.n = strlen(resolved.p);
	if (!has_sibling(p, test->match, resolved))
		add_no_match(p, test, "on macOS /tmp, /var and /etc lead to /private",
			     arena_printf(linter->arena, "write %s",
					  spell(linter, test->match, resolved)));
}

static void check_path(const struct patterns *p, const struct test *test)
{
	enum path_flaw flaw = find_flaw(test, p->linter->policy->target);

	if (flaw != PATH_CANONICAL)
		add_no_match(p, test, path_flaw_text(flaw), suggest_path(p->linter, test, flaw));
	else if (p->links && is_behind_link(test))
		check_link(p, test);
}

/* ---- Regular expressions ---- */

enum reach {
	REACH_NOTHING,
	REACH_LINKS, /* only what would lie behind links */
	REACH_SOME,
	REACH_UNKNOWN,
};

struct reach_walk {
	const struct policy *only, *links;
	enum reach reach;
};

static int note_reach(void *context, const struct paths_stop *stop)
{
	struct reach_walk *walk = context;

	if (!lint_matches_at(walk->only, stop->states[0]))
		return 0;
	if (walk->links && lint_matches_at(walk->links, stop->states[1])) {
		walk->reach = REACH_LINKS;
		return 0;
	}
	walk->reach = REACH_SOME;
	return 1;
}

static enum reach find_path_reach(struct patterns *p, const struct policy *only)
{
	const struct policy *both[] = {only, p->links};
	struct reach_walk walk = {only, p->links, REACH_NOTHING};

	if (lint_walk(p->linter, both, p->links ? 2 : 1, note_reach, &walk) < 0)
		return REACH_UNKNOWN;
	return walk.reach;
}

static enum reach find_reach(struct patterns *p, const struct test *test)
{
	const struct expr expr = {.kind = EXPR_TEST, .test = *test};
	const struct rule rule = {.verdict = VERDICT_ALLOW, .filter = &expr};
	const struct rule *const rules[] = {&rule};
	struct policy *only = lint_build(p->linter, rules, 1);
	enum reach reach = REACH_UNKNOWN;

	if (only && test->filter == FILTER_PATH)
		reach = find_path_reach(p, only);
	else if (only)
		reach = lint_matches_at(only, policy_start(only)) ? REACH_SOME : REACH_NOTHING;
	policy_free(only);
	return reach;
}

/* As find_reach(), which is not asked twice about the same path. */
static enum reach recall_reach(struct patterns *p, const struct test *test)
{
	enum reach *known = test->filter == FILTER_PATH ? map_get(&p->known, test->text) : NULL;
	enum reach reach;

	if (known)
		return *known;
	reach = find_reach(p, test);
	known = arena_alloc(p->known.arena, sizeof(*known));
	if (!known)
		return reach;
	*known = reach;
	if (test->filter == FILTER_PATH)
		(void)map_put(&p->known, test->text, known); /* no memory: never mind */
	return reach;
}

/* Is there a "(?" that means something else elsewhere? */
static bool has_group_option(struct str text)
{
	bool in_set = false, found = false;

	for (size_t i = 0; i + 1 < text.n && !found; i++) {
		if (text.p[i] == '\\')
			i++;
		else if (in_set)
			in_set = text.p[i] != ']';
		else if (text.p[i] == '[')
			in_set = true;
		else
			found = text.p[i] == '(' && text.p[i + 1] == '?';
	}
	return found;
}

/* The first letter or digit in TEXT that has a backslash before it; '\0': there is none. */
static char find_letter_escape(struct str text)
{
	for (size_t i = 0; i + 1 < text.n; i++) {
		char c = text.p[i + 1];

		if (text.p[i] != '\\')
			continue;
		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
			return c;
		i++;
	}
	return '\0';
}

/* What LETTER with a backslash is elsewhere, in words that mean it here. */
static const char *suggest_class(char letter)
{
	static const struct {
		char letter;
		const char *hint;
	} rows[] = {
		{'d', "write [0-9] for a digit"},
		{'D', "write [^0-9] for what is no digit"},
		{'w', "write [A-Za-z0-9_] for a letter of a word"},
		{'W', "write [^A-Za-z0-9_] for what is in no word"},
		{'s', "write [ ] for a space"},
		{'S', "write [^ ] for what is no space"},
		{'b', "there are no word boundaries: write what may stand there, as in (/|$)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].letter == letter)
			return rows[i].hint;
	return "if that is meant, drop the backslash";
}

/* Does TEXT want a backslash? */
static bool has_escaped_backslash(struct str text)
{
	for (size_t i = 0; i + 1 < text.n; i++)
		if (text.p[i] == '\\' && text.p[++i] == '\\')
			return true;
	return false;
}

static void check_escapes(const struct patterns *p, const struct test *test)
{
	char letter = find_letter_escape(test->text);

	if (test->filter == FILTER_PATH && has_escaped_backslash(test->text))
		lint_add(p->linter,
			 (struct finding){
				 .kind = LINT_REGEX_ESCAPE,
				 .at = place_of(p, test),
				 .text = "'\\\\' in a regular expression is a backslash in a name",
				 .hint = "between #\" and \" one backslash is enough, between \" "
					 "and \" it takes two",
			 });
	else if (letter)
		lint_add(p->linter,
			 (struct finding){
				 .kind = LINT_REGEX_ESCAPE,
				 .at = place_of(p, test),
				 .text = arena_printf(p->linter->arena,
						      "'\\%c' in a regular expression is just '%c'",
						      letter, letter),
				 .hint = suggest_class(letter),
			 });
}

static void check_regex(struct patterns *p, const struct test *test)
{
	enum reach reach = recall_reach(p, test);

	check_escapes(p, test);
	if (reach == REACH_LINKS)
		check_link(p, test);
	else if (reach == REACH_NOTHING && has_group_option(test->text))
		add_no_match(p, test, "'(?' kills a pattern",
			     "every ( ) only groups: write (a|b) for (?:a|b)");
	else if (reach == REACH_NOTHING)
		add_no_match(p, test,
			     test->filter == FILTER_PATH ? "no path of a file looks like that"
							 : "no name looks like that",
			     NULL);
}

/* ---- Lengths ---- */

enum {
	LINUX_PATH_BYTES = 4095,
	DARWIN_PATH_BYTES = 1023,
	DARWIN_PATTERN_BYTES = 65535, /* of all patterns of a rule, compiled */
};

static void check_length(const struct patterns *p, const struct test *test)
{
	struct arena *arena = p->linter->arena;
	size_t most =
		p->linter->policy->target == TARGET_LINUX ? LINUX_PATH_BYTES : DARWIN_PATH_BYTES;

	if (test->text.n <= most)
		return;
	lint_add(p->linter,
		 (struct finding){
			 .kind = LINT_TOO_LONG,
			 .at = place_of(p, test),
			 .text = arena_printf(arena,
					      "a path of %zu bytes: no system call takes "
					      "one longer than %zu",
					      test->text.n, most),
		 });
}

static void check_sum(const struct patterns *p)
{
	struct arena *arena = p->linter->arena;

	if (p->linter->policy->target != TARGET_DARWIN || p->bytes <= DARWIN_PATTERN_BYTES)
		return;
	lint_add(p->linter,
		 (struct finding){
			 .kind = LINT_TOO_LONG,
			 .at = p->rule->at,
			 .text = arena_printf(arena,
					      "the patterns of this rule are %zu bytes together: "
					      "macOS refuses more than %d",
					      p->bytes, DARWIN_PATTERN_BYTES),
			 .hint = "several rules with fewer patterns each do the same",
		 });
}

/* ---- Names that exclude each other ---- */

/* A service has a name of one of these kinds (SBPL.md 3.1). */
static bool is_service_name(enum filter_id filter)
{
	return filter == FILTER_GLOBAL_NAME || filter == FILTER_LOCAL_NAME ||
	       filter == FILTER_XPC_SERVICE_NAME;
}

/* The kind of name that EXPR, a filter with one or several arguments, asks for; or FILTER_COUNT. */
static enum filter_id service_name_of(const struct expr *expr)
{
	const struct expr *const *kids = expr->kind == EXPR_ANY ? expr->kids : &expr;
	size_t n = expr->kind == EXPR_ANY ? expr->n : 1;
	enum filter_id filter = FILTER_COUNT;

	for (size_t i = 0; i < n; i++) {
		if (kids[i]->kind != EXPR_TEST || !is_service_name(kids[i]->test.filter) ||
		    (i > 0 && kids[i]->test.filter != filter))
			return FILTER_COUNT;
		filter = kids[i]->test.filter;
	}
	return filter;
}

/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool has_contraries(const struct expr *expr)
{
	enum filter_id known = FILTER_COUNT;
	bool found = false;

	for (size_t i = 0; expr->kind == EXPR_ALL && i < expr->n && !found; i++) {
		enum filter_id filter = service_name_of(expr->kids[i]);

		found = known != FILTER_COUNT && filter != FILTER_COUNT && filter != known;
		known = filter != FILTER_COUNT ? filter : known;
	}
	for (size_t i = 0; expr->kind != EXPR_TEST && i < expr->n && !found; i++)
		found = has_contraries(expr->kids[i]);
	return found;
}

static void check_contraries(const struct patterns *p)
{
	struct linter *linter = p->linter;

	if (!has_contraries(p->rule->filter))
		return;
	lint_add(linter,
		 (struct finding){
			 .kind = LINT_NO_MATCH,
			 .at = p->rule->at,
			 .text = "a service has a global name, a local name or an XPC name: "
				 "never two of them at once",
			 .hint = "(require-any ...) takes either",
		 });
}

/* ---- All of them ---- */

static void check_test(void *context, const struct test *test)
{
	struct patterns *p = context;

	if (!match_is_pattern(test->match))
		return;
	p->bytes += test->text.n;
	if (test->match == MATCH_REGEX) {
		check_regex(p, test);
	} else if (test->filter == FILTER_PATH) {
		check_path(p, test);
		check_length(p, test);
	}
}

void lint_patterns(struct linter *linter)
{
	struct arena scratch = {.limit = linter->limits.memory};
	struct patterns p = {.linter = linter, .known.arena = &scratch};
	const struct policy *policy = linter->policy;
	const struct expr *last = NULL;

	if (policy->target == TARGET_DARWIN)
		p.links = build_links(linter);
	for (size_t i = 0; i < policy->n_rules; i++) {
		p.rule = &policy->rules[i];
		/* Of one form come rules for several operations. */
		if (!p.rule->filter || p.rule->filter == last || !lint_is_own(p.rule))
			continue;
		last = p.rule->filter;
		p.bytes = 0;
		lint_tests(last, check_test, &p);
		check_contraries(&p);
		check_sum(&p);
	}
	policy_free(p.links);
	arena_release(&scratch);
}
