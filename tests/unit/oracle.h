/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random policies and what they must decide, by means that share nothing with
 * the automaton: patterns are trees matched by sets of positions, and rules are
 * asked one by one as SBPL.md 5.1 says.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "random.h"
#include "rules.h"

/* ---- Regular expressions as trees ---- */

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

static struct tree trees[8192];
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

/* As print_tree(); the pieces of a sequence need no brackets where nothing stands around them. */
static void print_whole(const struct tree *tree, struct buf *out)
{
	if (tree->kind != TREE_CONCAT) {
		print_tree(tree, out);
		return;
	}
	for (unsigned i = 0; i < tree->n; i++)
		print_tree(tree->kids[i], out);
}

/* How many pieces of TREE may come more than once, or not at all. */
static inline unsigned count_repeats(const struct tree *tree)
{
	unsigned n = tree->kind == TREE_REPEAT;

	for (unsigned i = 0; i < tree->n; i++)
		n += count_repeats(tree->kids[i]);
	return n;
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

/* ---- Tests of paths ---- */

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
	char spelled[144];

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
	*ret = (struct pattern){.match = (enum match[]){MATCH_LITERAL, MATCH_PREFIX, MATCH_SUBPATH,
							MATCH_SUBPATH,
							MATCH_REGEX}[below(with_regexes ? 5 : 4)]};
	if (ret->match == MATCH_REGEX) {
		struct buf text = {0};
		unsigned n = n_trees;

		do {
			n_trees = n;
			ret->tree = random_tree(one_in(3) ? 5 : 3);
			ret->anchored = one_in(3);
			text.n = 0;
			buf_puts(&text, ret->anchored ? "^" : "");
			print_whole(ret->tree, &text);
		} while (text.n >= sizeof(ret->text));
		(void)snprintf(ret->text, sizeof(ret->text), "%s", text.p);
		buf_release(&text);
		return;
	}
	random_text(ret->text, 6);
}

/* A path that may well be near a pattern. */
static inline void random_path(char *ret, const struct pattern *patterns, unsigned n)
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

/* ---- Random policies ---- */

enum {
	PATTERNS = 12,
	RULES = 8,
	NODES = 64,
};

/* A filter in a form of our own; PATTERN and GUARD are leaves. */
struct node {
	enum {
		NODE_PATTERN,
		NODE_GUARD,
		NODE_OF_ALL,
		NODE_OF_ANY,
		NODE_NOT
	} kind;
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
	static const enum expr_kind kinds[] = {
		[NODE_OF_ALL] = EXPR_ALL, [NODE_OF_ANY] = EXPR_ANY, [NODE_NOT] = EXPR_NOT};
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
			b, rule->verdict, rule->op,
			rule->filter ? to_expr(b, p, rule->filter) : NULL);
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

#endif
