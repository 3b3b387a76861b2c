/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The automaton against an oracle that shares nothing with it: patterns are
 * trees matched by sets of positions, rules are asked one by one as SBPL.md
 * 5.1 says, regions are searched by listing every path. Random, from fixed
 * seeds; a failure prints its policy.
 */
#include "rules.h"

#include "base/banned.h"

/* ---- Random numbers ------------------------------------------------------------------------- */

static uint64_t random_state;

static unsigned below(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % n;
}

static bool one_in(unsigned n)
{
	return below(n) == 0;
}

/* ---- Regular expressions as trees ----------------------------------------------------------- */

enum tree_kind {
	TREE_BYTE,
	TREE_ANY,
	TREE_SET,
	TREE_END,
	TREE_CONCAT,
	TREE_ALTERNATE,
	TREE_REPEAT,
};

struct tree {
	enum tree_kind kind;
	char set[4]; /* BYTE: the first; SET: all */
	bool negated;
	int min, max; /* max -1: no bound */
	struct tree *kids[3];
	unsigned n;
};

static const char letters[] = "//ab.A";

static struct tree trees[4096];
static unsigned n_trees;

static struct tree *random_tree(unsigned depth)
{
	struct tree *tree = &trees[n_trees++];

	*tree = (struct tree){.kind = TREE_BYTE, .max = 1};
	tree->set[0] = letters[below(6)];
	if (depth == 0 || one_in(3)) {
		if (one_in(4))
			tree->kind = one_in(2) ? TREE_ANY : one_in(3) ? TREE_END : TREE_SET;
		tree->set[1] = letters[below(6)];
		tree->negated = tree->kind == TREE_SET && one_in(2);
		return tree;
	}
	tree->kind = TREE_CONCAT + below(3);
	tree->n = tree->kind == TREE_REPEAT ? 1 : 1 + below(3);
	for (unsigned i = 0; i < tree->n; i++)
		tree->kids[i] = random_tree(depth - 1);
	if (tree->kind == TREE_REPEAT) {
		tree->min = (int)below(3);
		tree->max = one_in(2) ? -1 : tree->min + (int)below(3);
	}
	return tree;
}

static void print_repeat(const struct tree *tree, struct buf *out)
{
	if (tree->min == 0 && tree->max == -1)
		buf_puts(out, "*");
	else if (tree->min == 1 && tree->max == -1)
		buf_puts(out, "+");
	else if (tree->min == 0 && tree->max == 1)
		buf_puts(out, "?");
	else if (tree->max == -1)
		buf_printf(out, "{%d,}", tree->min);
	else if (tree->max == tree->min)
		buf_printf(out, "{%d}", tree->min);
	else
		buf_printf(out, "{%d,%d}", tree->min, tree->max);
}

static void print_tree(const struct tree *tree, struct buf *out)
{
	switch (tree->kind) {
	case TREE_BYTE:
		buf_printf(out, "%s%c", tree->set[0] == '.' ? "\\" : "", tree->set[0]);
		return;
	case TREE_ANY:
		buf_puts(out, ".");
		return;
	case TREE_SET:
		buf_printf(out, "[%s%s]", tree->negated ? "^" : "", tree->set);
		return;
	case TREE_END:
		buf_puts(out, "$");
		return;
	case TREE_CONCAT:
	case TREE_ALTERNATE:
	case TREE_REPEAT:
		break;
	}
	buf_puts(out, "(");
	for (unsigned i = 0; i < tree->n; i++) {
		if (i > 0 && tree->kind == TREE_ALTERNATE)
			buf_puts(out, "|");
		print_tree(tree->kids[i], out);
	}
	buf_puts(out, ")");
	if (tree->kind == TREE_REPEAT)
		print_repeat(tree, out);
}

static char fold(char c, bool folds)
{
	return folds && c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool takes(const struct tree *tree, char c, bool folds)
{
	bool found = false;

	if (tree->kind == TREE_ANY)
		return true;
	for (const char *p = tree->set; *p && !found; p++) {
		found = fold(*p, folds) == fold(c, folds);
		if (tree->kind == TREE_BYTE)
			break;
	}
	return found != tree->negated;
}

/* Positions in TEXT (a bit each) where a match of TREE may end that begins at one of FROM. */
static uint64_t ends(const struct tree *tree, const char *text, uint64_t from, bool folds)
{
	size_t n = strlen(text);
	uint64_t to = 0;

	switch (tree->kind) {
	case TREE_END:
		return from & (uint64_t)1 << n;
	case TREE_CONCAT:
		for (unsigned i = 0; i < tree->n; i++)
			from = ends(tree->kids[i], text, from, folds);
		return from;
	case TREE_ALTERNATE:
		for (unsigned i = 0; i < tree->n; i++)
			to |= ends(tree->kids[i], text, from, folds);
		return to;
	case TREE_REPEAT:
		for (int i = 0; i < tree->min; i++)
			from = ends(tree->kids[0], text, from, folds);
		to = from;
		for (int i = tree->min; tree->max == -1 ? i < 64 : i < tree->max; i++)
			to |= from = ends(tree->kids[0], text, from, folds);
		return to;
	default:
		for (size_t i = 0; i < n; i++)
			if (from >> i & 1 && takes(tree, text[i], folds))
				to |= (uint64_t)1 << (i + 1);
		return to;
	}
}

/* ---- Tests of paths ------------------------------------------------------------------------- */

struct pattern {
	enum match match;
	char text[512];
	const struct tree *tree;
	bool anchored;
};

static bool matches_as_spelled(const struct pattern *pattern, const char *path, bool folds)
{
	char text[sizeof(pattern->text)], low[128];
	size_t n = strlen(pattern->text);

	if (!*path)
		return false;
	if (pattern->match == MATCH_REGEX) {
		uint64_t all = ((uint64_t)2 << strlen(path)) - 1;

		return ends(pattern->tree, path, pattern->anchored ? 1 : all, folds);
	}
	for (size_t i = 0; i <= n; i++)
		text[i] = fold(pattern->text[i], folds);
	for (size_t i = 0; i <= strlen(path); i++)
		low[i] = fold(path[i], folds);
	if (pattern->match == MATCH_LITERAL)
		return strcmp(low, text) == 0;
	if (strncmp(low, text, n) != 0)
		return false;
	return pattern->match == MATCH_PREFIX || low[n] == '\0' || low[n] == '/' ||
	       strcmp(text, "/") == 0;
}

static bool matches(const struct pattern *pattern, const char *path, enum target target)
{
	static const char *const names[] = {"/tmp", "/var", "/etc"};
	char spelled[128];

	if (matches_as_spelled(pattern, path, target == TARGET_DARWIN))
		return true;
	for (int i = 0; i < 3 && target == TARGET_LINUX; i++) {
		if (strncmp(path, names[i], 4) != 0 || (path[4] && path[4] != '/'))
			continue;
		(void)snprintf(spelled, sizeof(spelled), "/private%s", path);
		return matches_as_spelled(pattern, spelled, false);
	}
	return false;
}

static void random_text(char *ret, unsigned max)
{
	static const char *const starts[] = {"/", "/", "/a", "/tmp", "/private/tmp", "/private"};
	unsigned n = below(max);

	for (const char *start = starts[below(6)]; *start; start++)
		*ret++ = *start;
	for (; n > 0; n--)
		*ret++ = letters[below(6)];
	*ret = '\0';
}

static void random_pattern(struct pattern *ret, bool with_regexes)
{
	*ret = (struct pattern){.match = (enum match[]){MATCH_LITERAL, MATCH_PREFIX,
							MATCH_SUBPATH, MATCH_SUBPATH,
							MATCH_REGEX}[below(with_regexes ? 5 : 4)]};
	if (ret->match == MATCH_REGEX) {
		struct buf text = {0};

		ret->tree = random_tree(3);
		ret->anchored = one_in(3);
		buf_puts(&text, ret->anchored ? "^" : "");
		print_tree(ret->tree, &text);
		CHECK(text.n < sizeof(ret->text));
		(void)snprintf(ret->text, sizeof(ret->text), "%s", text.p);
		buf_release(&text);
		return;
	}
	random_text(ret->text, 6);
}

/* A path that may well be near a pattern. */
static void random_path(char *ret, const struct pattern *patterns, unsigned n)
{
	const struct pattern *near = &patterns[below(n)];

	if (near->match == MATCH_REGEX || one_in(3)) {
		random_text(ret, 14);
		return;
	}
	(void)snprintf(ret, 64, "%.40s", near->text);
	if (one_in(2))
		random_text(ret + strlen(ret), 5);
	else if (one_in(2) && ret[0])
		ret[strlen(ret) - 1] = letters[below(6)];
	if (!strncmp(ret, "/private/tmp", 12) && one_in(2))
		memmove(ret, ret + 8, strlen(ret) - 7);
}

/* ---- Random policies ------------------------------------------------------------------------ */

enum {
	PATTERNS = 12,
	RULES = 8,
	NODES = 64,
};

/* A filter in a form of our own; PATTERN and GUARD are leaves. */
struct node {
	enum { NODE_PATTERN, NODE_GUARD, NODE_OF_ALL, NODE_OF_ANY, NODE_NOT } kind;
	unsigned leaf;
	struct node *kids[3];
	unsigned n;
};

struct random_rule {
	enum verdict verdict;
	enum op op;
	const struct node *filter;
	enum origin origin;
};

struct random_policy {
	enum target target;
	struct pattern patterns[PATTERNS];
	struct node nodes[NODES];
	unsigned n_nodes;
	struct random_rule rules[RULES];
	struct policy *policy;
};

static const enum op family[] = {OP_FILE_READ_DATA, OP_FILE_READ_ANY, OP_FILE_ANY, OP_DEFAULT};

static struct node *random_node(struct random_policy *p, unsigned depth, bool with_guards)
{
	struct node *node = &p->nodes[p->n_nodes++];

	*node = (struct node){.kind = NODE_PATTERN, .leaf = below(PATTERNS)};
	if (with_guards && one_in(6)) {
		node->kind = NODE_GUARD;
		node->leaf = 1 + below(2);
	}
	if (depth == 0 || one_in(3) || p->n_nodes > NODES - 12)
		return node;
	node->kind = NODE_OF_ALL + below(3);
	node->n = node->kind == NODE_NOT ? 1 : 1 + below(3);
	for (unsigned i = 0; i < node->n; i++)
		node->kids[i] = random_node(p, depth - 1, with_guards);
	return node;
}

static struct expr *to_expr(struct policy_builder *b, const struct random_policy *p,
			    const struct node *node)
{
	static const enum expr_kind kinds[] = {[NODE_OF_ALL] = EXPR_ALL,
					       [NODE_OF_ANY] = EXPR_ANY,
					       [NODE_NOT] = EXPR_NOT};
	struct expr *expr;

	if (node->kind == NODE_PATTERN)
		return pattern(b, FILTER_PATH, p->patterns[node->leaf].match,
			       p->patterns[node->leaf].text);
	if (node->kind == NODE_GUARD)
		return number(b, FILTER_VNODE_TYPE, node->leaf);
	expr = group(b, kinds[node->kind], 3, NULL, NULL, NULL);
	expr->n = node->n;
	for (unsigned i = 0; i < node->n; i++)
		expr->kids[i] = to_expr(b, p, node->kids[i]);
	return expr;
}

static bool holds(const struct random_policy *p, const struct node *node, const char *path,
		  unsigned vnode_type)
{
	if (node->kind == NODE_PATTERN)
		return matches(&p->patterns[node->leaf], path, p->target);
	if (node->kind == NODE_GUARD)
		return vnode_type == node->leaf;
	if (node->kind == NODE_NOT)
		return !holds(p, node->kids[0], path, vnode_type);
	for (unsigned i = 0; i < node->n; i++)
		if (holds(p, node->kids[i], path, vnode_type) == (node->kind == NODE_OF_ANY))
			return node->kind == NODE_OF_ANY;
	return node->kind == NODE_OF_ALL;
}

struct kind_of_policy {
	bool with_regexes, with_guards, with_runtime;
	unsigned depth;
};

static void random_policy(struct random_policy *p, enum target target, struct kind_of_policy kind)
{
	struct policy_builder *b = rules_new(target);

	n_trees = 0;
	p->target = target;
	p->n_nodes = 0;
	for (unsigned i = 0; i < PATTERNS; i++)
		random_pattern(&p->patterns[i], kind.with_regexes);
	for (unsigned i = 0; i < RULES; i++) {
		struct random_rule *rule = &p->rules[i];

		*rule = (struct random_rule){one_in(2) ? VERDICT_ALLOW : VERDICT_DENY,
					     family[below(4)], NULL, ORIGIN_PROFILE};
		if (kind.with_runtime && one_in(4))
			rule->origin = ORIGIN_RUNTIME;
		if (!one_in(6))
			rule->filter = random_node(p, kind.depth, kind.with_guards);
		(rule->origin == ORIGIN_RUNTIME ? rules_add_runtime : rules_add)(
			b, rule->verdict, rule->op, rule->filter ? to_expr(b, p, rule->filter) : NULL);
	}
	p->policy = rules_build(b);
}

/* SBPL.md 5.1, word for word. The rule's number, or -1: the built-in default. */
static int decide_slowly(const struct random_policy *p, const char *path, unsigned vnode_type,
			 bool *by_default)
{
	*by_default = true;
	for (unsigned level = 0; level < 4; level++) {
		int unfiltered = -1;

		for (int i = RULES - 1; i >= 0; i--) {
			const struct random_rule *rule = &p->rules[i];

			if (rule->op != family[level] || rule->origin != ORIGIN_PROFILE)
				continue;
			if (!rule->filter)
				unfiltered = unfiltered < 0 ? i : unfiltered;
			else if (holds(p, rule->filter, path, vnode_type)) {
				*by_default = false;
				return i;
			}
		}
		if (unfiltered >= 0)
			return unfiltered;
	}
	return -1;
}

static unsigned level_of(enum op op)
{
	unsigned level = 0;

	while (family[level] != op)
		level++;
	return level;
}

/* What the runtime adds where FALLBACK would deny. */
static int decide_runtime(const struct random_policy *p, const char *path, unsigned vnode_type,
			  int fallback)
{
	for (unsigned level = 0; level < 4; level++) {
		int unfiltered = -1;

		for (int i = RULES - 1; i >= 0; i--) {
			const struct random_rule *rule = &p->rules[i];

			if (rule->op != family[level] || rule->origin != ORIGIN_RUNTIME)
				continue;
			if (!rule->filter)
				unfiltered = unfiltered < 0 ? i : unfiltered;
			else if (holds(p, rule->filter, path, vnode_type))
				return rule->verdict == VERDICT_ALLOW ? i : fallback;
		}
		if (unfiltered < 0)
			continue;
		if (fallback >= 0 && level_of(p->rules[fallback].op) <= level)
			return fallback;
		return p->rules[unfiltered].verdict == VERDICT_ALLOW ? unfiltered : fallback;
	}
	return fallback;
}

static int expected_rule(const struct random_policy *p, const char *path, unsigned vnode_type)
{
	bool by_default;
	int rule = decide_slowly(p, path, vnode_type, &by_default);

	if (by_default && (rule < 0 || p->rules[rule].verdict == VERDICT_DENY))
		rule = decide_runtime(p, path, vnode_type, rule);
	return rule;
}

static void print_node(const struct random_policy *p, const struct node *node, struct buf *out)
{
	static const char *const words[] = {
		[NODE_OF_ALL] = "all", [NODE_OF_ANY] = "any", [NODE_NOT] = "not"};

	if (node->kind == NODE_PATTERN)
		buf_printf(out, " %d:\"%s\"", p->patterns[node->leaf].match,
			   p->patterns[node->leaf].text);
	else if (node->kind == NODE_GUARD)
		buf_printf(out, " type=%u", node->leaf);
	else
		buf_printf(out, " (%s", words[node->kind]);
	for (unsigned i = 0; i < node->n; i++)
		print_node(p, node->kids[i], out);
	if (node->n > 0)
		buf_puts(out, ")");
}

static void print_policy(const struct random_policy *p)
{
	struct buf text = {0};

	for (unsigned i = 0; i < RULES; i++) {
		const struct random_rule *rule = &p->rules[i];

		buf_printf(&text, "# %u%s: %s %s", i, rule->origin ? " (runtime)" : "",
			   verdict_name(rule->verdict), op_name(rule->op));
		if (rule->filter)
			print_node(p, rule->filter, &text);
		buf_puts(&text, "\n");
	}
	printf("%.*s", (int)text.n, text.p);
	buf_release(&text);
}

static bool decides_as_expected(const struct random_policy *p, const char *path,
				unsigned vnode_type)
{
	struct request request = {.op = OP_FILE_READ_DATA, .path = str_of(path)};
	int want = expected_rule(p, path, vnode_type);
	struct decision got;

	request.has = vnode_type ? HAS_VNODE_TYPE : 0;
	request.vnode_type = (enum vnode_type)vnode_type;
	got = decide(p->policy, &request);
	if ((got.rule ? (int)got.rule->index : -1) == want &&
	    got.verdict == (want < 0 ? VERDICT_DENY : p->rules[want].verdict) &&
	    got.op == (want < 0 ? OP_DEFAULT : p->rules[want].op))
		return true;
	printf("# \"%s\" type %u: rule %d, not %d\n", path, vnode_type,
	       got.rule ? (int)got.rule->index : -1, want);
	print_policy(p);
	return false;
}

static void check_decisions(struct kind_of_policy kind, unsigned policies, uint64_t seed)
{
	static struct random_policy p;
	char path[128];
	bool ok = true;

	random_state = seed;
	for (unsigned i = 0; i < policies && ok; i++) {
		random_policy(&p, one_in(2) ? TARGET_LINUX : TARGET_DARWIN, kind);
		ok = p.policy && decides_as_expected(&p, "", 0);
		for (unsigned j = 0; j < 60 && ok; j++) {
			random_path(path, p.patterns, PATTERNS);
			ok = decides_as_expected(&p, path, kind.with_guards ? below(3) : 0);
		}
		policy_free(p.policy);
	}
	CHECK(ok);
}

static void single_regexes_match_as_the_oracle_says(void)
{
	static struct random_policy p;
	unsigned matched = 0, total = 0;
	char path[128];

	random_state = 0x1234567;
	for (unsigned i = 0; i < 2000; i++) {
		struct policy_builder *b =
			rules_new(i % 2 ? TARGET_LINUX : TARGET_DARWIN);
		struct pattern *one = &p.patterns[0];

		n_trees = 0;
		do
			random_pattern(one, true);
		while (one->match != MATCH_REGEX);
		rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, regex(b, one->text));
		p.policy = rules_build(b);
		for (unsigned j = 0; j < 30; j++) {
			bool want;

			random_text(path, 14);
			want = matches(one, path, i % 2 ? TARGET_LINUX : TARGET_DARWIN);
			matched += want;
			total++;
			if (allows(p.policy, OP_FILE_READ_DATA, path) == want)
				continue;
			printf("# /%s/ on \"%s\": not %d\n", one->text, path, want);
			CHECK(false);
		}
		policy_free(p.policy);
	}
	CHECK(matched > total / 10 && matched < total - total / 10); /* both happen */
}

static void plain_rules_decide_as_the_oracle_says(void)
{
	check_decisions((struct kind_of_policy){.depth = 0}, 400, 0xabcdef);
}

static void regex_rules_decide_as_the_oracle_says(void)
{
	check_decisions((struct kind_of_policy){.with_regexes = true, .depth = 0}, 500, 0xbeef);
}

static void nested_filters_decide_as_the_oracle_says(void)
{
	check_decisions((struct kind_of_policy){true, true, false, 3}, 700, 0xfeed5);
}

static void runtime_rules_decide_as_the_oracle_says(void)
{
	check_decisions((struct kind_of_policy){true, true, true, 2}, 500, 0x777777);
}

/* ---- Regions -------------------------------------------------------------------------------- */

/* Calls EACH for START and, if BELOW, all canonical paths below it with at most N more bytes. */
static void each_below(char *path, unsigned n, void (*each)(void *context, const char *path),
		       void *context)
{
	static const char bytes[] = "/aA.bz";
	size_t end = strlen(path);
	const char *name = strrchr(path, '/');

	if (name && name[1] && strcmp(name, "/.") != 0 && strcmp(name, "/..") != 0)
		each(context, path);
	if (n == 0)
		return;
	for (const char *byte = bytes; *byte; byte++) {
		bool ends_name = name && name[1] && strcmp(name, "/.") && strcmp(name, "/..");

		if (*byte == '/' && !ends_name)
			continue;
		path[end] = *byte;
		path[end + 1] = '\0';
		each_below(path, n - 1, each, context);
	}
	path[end] = '\0';
}

struct survey {
	const struct random_policy *p;
	unsigned verdicts;
};

static enum verdict slow_verdict(const struct random_policy *p, const char *path)
{
	int rule = expected_rule(p, path, 0);

	return rule < 0 ? VERDICT_DENY : p->rules[rule].verdict;
}

static void survey_one(void *context, const char *path)
{
	struct survey *survey = context;

	survey->verdicts |= 1u << slow_verdict(survey->p, path);
}

enum { REACH = 4 };

/* Patterns are short enough here for every difference to show within REACH bytes. */
static void shorten_patterns(struct random_policy *p, enum target target)
{
	struct policy_builder *b = rules_new(target);

	policy_free(p->policy);
	for (unsigned i = 0; i < PATTERNS; i++) {
		char *text = p->patterns[i].text;
		unsigned n = 1 + below(3);

		*text++ = '/';
		for (; n > 0; n--)
			*text++ = letters[below(6)];
		*text = '\0';
	}
	for (unsigned i = 0; i < RULES; i++)
		rules_add(b, p->rules[i].verdict, p->rules[i].op,
			  p->rules[i].filter ? to_expr(b, p, p->rules[i].filter) : NULL);
	p->policy = rules_build(b);
}

static policy_state walk(const struct policy *policy, const char *path)
{
	return policy_walk(policy, policy_start(policy), str_of(path));
}

static void below_is_what_listing_finds(void)
{
	static const char *const roots[] = {"", "/a", "/b", "/a/a", "/a/b", "/.a", "/A", "/z"};
	static struct random_policy p;
	unsigned mixed = 0;

	random_state = 0x5eed;
	for (unsigned i = 0; i < 60; i++) {
		enum target target = i % 2 ? TARGET_LINUX : TARGET_DARWIN;

		random_policy(&p, target, (struct kind_of_policy){.depth = i % 3});
		shorten_patterns(&p, target);
		for (unsigned j = 0; j < 8; j++) {
			struct survey survey = {&p, 0};
			char path[64];
			unsigned got;

			(void)snprintf(path, sizeof(path), "%s/", roots[j]);
			each_below(path, REACH - 1, survey_one, &survey);
			got = policy_verdicts_below(p.policy, walk(p.policy, roots[j]),
						    OP_FILE_READ_DATA);
			mixed += got == (CAN_ALLOW | CAN_DENY);
			if (got == survey.verdicts)
				continue;
			printf("# below \"%s\": %u, not %u\n", roots[j], got, survey.verdicts);
			print_policy(&p);
			CHECK(false);
		}
		policy_free(p.policy);
	}
	CHECK(mixed > 0);
}

struct move {
	const struct random_policy *p;
	const char *from, *to;
	unsigned change;
};

static void compare_one(void *context, const char *path)
{
	struct move *move = context;
	char there[128];
	enum verdict old, new;

	(void)snprintf(there, sizeof(there), "%s%s", move->to, path + strlen(move->from));
	old = slow_verdict(move->p, path);
	new = slow_verdict(move->p, there);
	if (old != new)
		move->change |= old == VERDICT_DENY ? REGION_LOOSER : REGION_STRICTER;
}

static void compare_is_what_listing_finds(void)
{
	static const char *const names[] = {"/a", "/b", "/a/a", "/.a", "/A", "/z"};
	static const enum op ops[] = {OP_FILE_READ_DATA, OP_COUNT};
	static struct random_policy p;
	unsigned seen = 0;

	random_state = 0xc0ffee;
	for (unsigned i = 0; i < 150; i++) {
		random_policy(&p, TARGET_LINUX, (struct kind_of_policy){.depth = i % 3});
		shorten_patterns(&p, TARGET_LINUX);
		for (unsigned j = 0; j < 36; j++) {
			struct move move = {&p, names[below(6)], names[below(6)], 0};
			char path[64];
			unsigned got;

			(void)snprintf(path, sizeof(path), "%s", move.from);
			compare_one(&move, path);
			(void)snprintf(path, sizeof(path), "%s/", move.from);
			each_below(path, REACH - 1, compare_one, &move);
			got = policy_compare(p.policy, walk(p.policy, move.from),
					     walk(p.policy, move.to), true, ops, 1000000);
			seen |= 1u << got;
			if (got == move.change)
				continue;
			printf("# %s to %s: %u, not %u\n", move.from, move.to, got, move.change);
			print_policy(&p);
			CHECK(false);
		}
		policy_free(p.policy);
	}
	CHECK_INT(seen, 0xf); /* every answer was given */
}

/* ---- Minimality ----------------------------------------------------------------------------- */

/* Two states of a minimal automaton differ in a decision or lead to states that differ. */
static void states_are_pairwise_different(void)
{
	static struct random_policy p;
	const enum op ops[] = {OP_FILE_READ_DATA, OP_FILE_READ_ANY, OP_FILE_ANY, OP_DEFAULT, OP_COUNT};

	random_state = 0x31415;
	for (unsigned i = 0; i < 20; i++) {
		unsigned n, same = 0;

		random_policy(&p, TARGET_LINUX, (struct kind_of_policy){true, false, false, 1});
		n = policy_n_states(p.policy);
		for (policy_state a = 0; a < n && n < 400; a++)
			for (policy_state b = 0; b < a; b++) {
				bool differ = false;

				for (unsigned byte = 1; byte < 256 && !differ; byte++) {
					char c = (char)byte;
					struct str one = {&c, 1};

					differ = policy_walk(p.policy, a, one) !=
						 policy_walk(p.policy, b, one);
				}
				for (const enum op *op = ops; *op != OP_COUNT && !differ; op++) {
					struct request request = {.op = *op};
					struct decision x, y;

					policy_decide_at(p.policy, a, &request, &x);
					policy_decide_at(p.policy, b, &request, &y);
					differ = x.rule != y.rule || x.op != y.op;
				}
				same += !differ;
			}
		CHECK_INT(same, 0);
		policy_free(p.policy);
	}
}

/* ---- Size and limits ------------------------------------------------------------------------ */

static const char *const protected_names[] = {
	"\\.git/hooks",   "\\.git/config",  "\\.vscode",     "\\.idea",      "\\.envrc",
	"\\.bashrc",      "\\.profile",     "\\.zshenv",     "\\.zshrc",     "\\.inputrc",
	"\\.gitconfig",   "\\.config/git",  "\\.config/fish", "\\.ssh",      "\\.claude/settings",
	"\\.claude/hooks", "\\.codex",      "\\.gemini",     "\\.cursor",    "\\.opencode",
	"\\.pi",          "\\.mcp\\.json",  "\\.bash_login", "\\.zprofile",  "\\.config/autostart",
};

enum { NAMES = sizeof(protected_names) / sizeof(*protected_names) };

/* Directories to write, secrets not to read, names protected at any depth; ONE_RULE for the names. */
static struct policy *agent_policy(bool one_rule)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct expr *any = group(b, EXPR_ANY, 1, NULL);
	char text[64];

	any->kids = arena_array(policy_builder_arena(b), NAMES, sizeof(*any->kids));
	any->n = NAMES;
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, NULL);
	for (unsigned i = 0; i < 60; i++) {
		bool is_secret = i % 3;

		(void)snprintf(text, sizeof(text), "/home/user/%s%u", is_secret ? "." : "w", i);
		rules_add(b, is_secret ? VERDICT_DENY : VERDICT_ALLOW,
			  is_secret ? OP_FILE_READ_ANY : OP_FILE_WRITE_ANY, subpath(b, text));
	}
	for (unsigned i = 0; i < NAMES; i++) {
		(void)snprintf(text, sizeof(text), "/%s(/|$)", protected_names[i]);
		any->kids[i] = regex(b, text);
		if (!one_rule)
			rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, any->kids[i]);
	}
	if (one_rule)
		rules_add(b, VERDICT_DENY, OP_FILE_WRITE_ANY, any);
	return rules_build(b);
}

static void protected_names_stay_small(void)
{
	for (int one_rule = 0; one_rule < 2; one_rule++) {
		struct policy *policy = agent_policy(one_rule);
		const enum op op = OP_FILE_WRITE_DATA;

		CHECK(policy_n_states(policy) < 1000);
		CHECK(allows(policy, op, "/home/user/w3/src/a.c"));
		CHECK(!allows(policy, op, "/home/user/w3/src/.git/hooks/pre-commit"));
		CHECK(!allows(policy, op, "/home/user/w3/.config/git"));
		CHECK(allows(policy, op, "/home/user/w3/.config/gitk"));
		CHECK(!allows(policy, OP_FILE_READ_DATA, "/home/user/.1/key"));
		CHECK(allows(policy, OP_FILE_READ_DATA, "/home/user/.3/key"));
		CHECK_INT(line_of(decide_path(policy, op, "/home/user/w3/x")), 5);
		policy_free(policy);
	}
}

static void many_rules_are_linear(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;
	char text[64];

	for (unsigned i = 0; i < 500; i++) {
		(void)snprintf(text, sizeof(text), "/srv/customers/%03u/data/%u", i, i * 7919);
		rules_add(b, i % 2 ? VERDICT_ALLOW : VERDICT_DENY, OP_FILE_READ_ANY,
			  i % 4 < 2 ? subpath(b, text) : literal(b, text));
	}
	policy = rules_build(b);
	CHECK(policy_n_states(policy) < 500 * 24);
	for (unsigned i = 0; i < 500; i++) {
		struct decision decision;

		(void)snprintf(text, sizeof(text), "/srv/customers/%03u/data/%u", i, i * 7919);
		decision = decide_path(policy, OP_FILE_READ_DATA, text);
		CHECK_INT(line_of(decision), i + 1);
		CHECK_INT(decision.verdict, i % 2 ? VERDICT_ALLOW : VERDICT_DENY);
	}
	policy_free(policy);
}

/* Rules that cannot matter any more cost nothing: each pattern counts in its own directory only. */
static void patterns_bound_to_directories_stay_apart(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy;
	char text[64];

	for (unsigned i = 0; i < 20; i++) {
		struct expr *where, *what;

		(void)snprintf(text, sizeof(text), "/d%02u", i);
		where = subpath(b, text);
		(void)snprintf(text, sizeof(text), "/\\.x%02u(/|$)", i);
		what = regex(b, text);
		rules_add(b, i % 2 ? VERDICT_ALLOW : VERDICT_DENY, OP_FILE_READ_DATA,
			  group(b, EXPR_ALL, 2, where, what));
	}
	policy = rules_build(b);
	CHECK(policy_n_states(policy) < 400);
	CHECK(allows(policy, OP_FILE_READ_DATA, "/d01/a/.x01/b"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/d02/a/.x01/b"));
	policy_free(policy);
}

static int build_with(struct policy_limits limits, const char *text, struct err *e)
{
	struct policy_builder *b = policy_builder_new(TARGET_LINUX, limits);
	struct policy *policy = NULL;
	struct expr *bad = regex(b, text);
	int r;

	bad->test.at = (struct span){"p.sb", 7, 1};
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, subpath(b, "/innocent"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_ANY, bad);
	r = policy_build(b, &policy, e);
	policy_free(policy);
	return r;
}

static void state_limit_names_the_pattern(void)
{
	struct policy_limits limits = POLICY_LIMITS_DEFAULT;
	struct err e = {0};

	limits.states = 1000;
	CHECK_INT(build_with(limits, "a.{5}b", &e), 0);
	CHECK_INT(build_with(limits, "a.{20}b", &e), -ERR_LIMIT);
	CHECK_INT(e.at.line, 7);
	CHECK(strstr(e.text, "a.{20}b"));
}

static void memory_limit_is_an_error_at_every_size(void)
{
	struct policy_limits limits = POLICY_LIMITS_DEFAULT;
	unsigned failed = 0;

	CHECK_INT(build_with(limits, "(/a|b)*c{2,5}$", NULL), 0);
	CHECK_INT(build_with(limits, "((a{255}){255}){255}", NULL), -ERR_LIMIT);
	for (limits.memory = 4000; limits.memory < 400000; limits.memory += 1000) {
		struct err e = {0};
		int r = build_with(limits, "(/a|b)*c{2,5}$", &e);

		CHECK(r == 0 || r == -ERR_LIMIT);
		failed += r != 0;
	}
	CHECK(failed > 0 && failed < 396);
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void all_bytes_count(void)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct request request = {.op = OP_FILE_READ_DATA};
	struct policy *policy;

	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, regex(b, "^/x.[^a]y$"));
	rules_add(b, VERDICT_ALLOW, OP_FILE_READ_DATA, literal(b, "/\xc3\xa9"));
	policy = rules_build(b);
	for (unsigned byte = 0; byte < 256; byte++) {
		char path[] = {'/', 'x', (char)byte, (char)byte, 'y'};

		request.path = (struct str){path, sizeof(path)};
		CHECK_INT(decide(policy, &request).verdict,
			  byte == 'a' ? VERDICT_DENY : VERDICT_ALLOW);
	}
	CHECK(allows(policy, OP_FILE_READ_DATA, "/\xc3\xa9"));
	CHECK(!allows(policy, OP_FILE_READ_DATA, "/\xc3\x89"));
	policy_free(policy);
}

/* Walking in one go, byte by byte, or in any two parts comes to the same state. */
static void walks_can_be_cut_anywhere(void)
{
	static const char path[] = "/home/user/w3/src/vendor/library/.git/hooks/pre-commit.sample";
	struct policy *policy = agent_policy(true);
	policy_state whole = walk(policy, path), step = policy_start(policy);

	for (size_t i = 0; i <= sizeof(path) - 1; i++) {
		struct str head = {path, i}, tail = {path + i, sizeof(path) - 1 - i};
		policy_state middle = policy_walk(policy, policy_start(policy), head);

		CHECK_INT(middle, step);
		CHECK_INT(policy_walk(policy, middle, tail), whole);
		step = policy_walk(policy, step, (struct str){path + i, tail.n > 0});
	}
	policy_free(policy);
}

int main(void)
{
	RUN(single_regexes_match_as_the_oracle_says);
	RUN(plain_rules_decide_as_the_oracle_says);
	RUN(regex_rules_decide_as_the_oracle_says);
	RUN(nested_filters_decide_as_the_oracle_says);
	RUN(runtime_rules_decide_as_the_oracle_says);
	RUN(below_is_what_listing_finds);
	RUN(compare_is_what_listing_finds);
	RUN(states_are_pairwise_different);
	RUN(protected_names_stay_small);
	RUN(many_rules_are_linear);
	RUN(patterns_bound_to_directories_stay_apart);
	RUN(state_limit_names_the_pattern);
	RUN(memory_limit_is_an_error_at_every_size);
	RUN(all_bytes_count);
	RUN(walks_can_be_cut_anywhere);
	return test_done();
}
