/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns to atoms: Thompson's construction, from the end of a pattern to its start. */
#include "policy/atom.h"
#include "policy/regex.h"

#include "base/banned.h"

enum {
	REPEATS_MANY = 4
};

/* ---- Nodes ---- */

uint32_t atom_add_node(struct atom_builder *b, struct node node)
{
	uint32_t added;

	if (b->failed)
		return 0;
	node.atom = (uint32_t)b->nfa->n_atoms;
	added = nfa_add_node(b->nfa, node);
	b->failed = !added;
	return added;
}

static void begin_part(struct atom_builder *b, const struct test *pattern)
{
	b->pattern = pattern;
	if (!nfa_begin_part(b->nfa, pattern))
		b->failed = true;
}

static uint32_t add_set(struct atom_builder *b, struct byteset set)
{
	uint32_t number = 0;

	if (!nfa_add_set(b->nfa, set, &number))
		b->failed = true;
	return number;
}

static uint32_t add_bytes(struct atom_builder *b, struct byteset set, bool negated, uint32_t out)
{
	if (b->style & ATOM_FOLD)
		byteset_fold(&set);
	if (negated)
		byteset_invert(&set);
	return atom_add_node(b, (struct node){NODE_BYTES, .out = out, .set = add_set(b, set)});
}

/* As add_set() of one byte, which is not searched for twice. */
static uint32_t add_single(struct atom_builder *b, char byte)
{
	uint32_t *known = &b->nfa->single[b->style & ATOM_FOLD][(unsigned char)byte];

	if (!*known) {
		struct byteset set = {0};

		byteset_add(&set, (unsigned char)byte);
		if (b->style & ATOM_FOLD)
			byteset_fold(&set);
		*known = add_set(b, set) + 1;
	}
	return *known - 1;
}

uint32_t atom_add_byte(struct atom_builder *b, char byte, uint32_t out)
{
	return atom_add_node(b, (struct node){NODE_BYTES, .out = out, .set = add_single(b, byte)});
}

uint32_t atom_add_string(struct atom_builder *b, struct str text, uint32_t out)
{
	for (size_t i = text.n; i-- > 0;)
		out = atom_add_byte(b, text.p[i], out);
	return out;
}

uint32_t atom_add_split(struct atom_builder *b, uint32_t one, uint32_t other)
{
	if (!one || !other)
		return one ? one : other;
	return atom_add_node(b, (struct node){NODE_SPLIT, .out = one, .other = other});
}

/* Any number of bytes, then NODE. */
static uint32_t add_skip(struct atom_builder *b, uint32_t node)
{
	uint32_t loop = atom_add_node(b, (struct node){NODE_SPLIT, .other = node});
	uint32_t any = add_bytes(b, (struct byteset){0}, true, loop);

	if (!b->failed)
		b->nfa->nodes[loop].out = any;
	return loop;
}

/* ---- Atoms ---- */

static void begin_atom(struct atom_builder *b)
{
	struct nfa *nfa = b->nfa;

	/* Its number is 0, which here is none. */
	if (nfa->n_nodes == 0 && nfa_add_node(nfa, (struct node){NODE_NONE}) == 0)
		b->failed = nfa->n_nodes == 0;
	begin_part(b, NULL);
	b->accept = atom_add_node(b, (struct node){NODE_ACCEPT});
	b->match = atom_add_node(b, (struct node){NODE_MATCH, .out = b->accept});
	b->slash = atom_add_byte(b, '/', b->match);
}

/* The atom reads from START on. */
static void end_atom(struct atom_builder *b, uint32_t start, bool has_regex)
{
	struct nfa *nfa = b->nfa;
	struct nfa_atom *atoms =
		arena_grow(nfa->arena, nfa->atoms, nfa->n_atoms, &nfa->cap_atoms, sizeof(*atoms));

	if (b->failed || !atoms) {
		b->failed = true;
		return;
	}
	nfa->atoms = atoms;
	atoms[nfa->n_atoms++] = (struct nfa_atom){
		.start = start,
		.accept = b->accept,
		.match = b->match,
		.n_nodes = (uint32_t)nfa->n_nodes - b->accept,
		.has_texts = b->has_texts,
		.has_regex = has_regex,
	};
}

/* ---- Sequences ---- */

/* Makes room for N nodes in the trail, whose first COMMON stay. */
static void prepare_trail(struct atom_builder *b, struct trie *trie, size_t n, size_t common)
{
	uint32_t *trail;

	if (n <= trie->cap_trail)
		return;
	trail = arena_array(b->nfa->arena, 2 * n, sizeof(*trail));
	if (!trail) {
		b->failed = true;
		return;
	}
	if (common)
		memcpy(trail, trie->trail, common * sizeof(*trail));
	trie->trail = trail;
	trie->cap_trail = 2 * n;
}

/* Adds a way from place COMMON of the trail to NODE. */
static void fork_trail(struct atom_builder *b, struct trie *trie, size_t common, uint32_t node)
{
	uint32_t before;

	if (b->failed)
		return;
	if (common == 0) {
		trie->start = atom_add_split(b, node, trie->start);
		return;
	}
	before = trie->trail[common - 1];
	node = atom_add_split(b, node, b->nfa->nodes[before].out);
	b->nfa->nodes[before].out = node;
}

/* TEXT, then OUT. */
static void add_sequence(struct atom_builder *b, struct str text, uint32_t out)
{
	struct trie *trie = &b->nfa->spelled;
	struct str last = trie->last_text;
	size_t common = 0;

	while (common < text.n && common < last.n && text.p[common] == last.p[common])
		common++;
	prepare_trail(b, trie, text.n, common);
	for (size_t i = text.n; i-- > common && !b->failed;)
		out = trie->trail[i] = atom_add_byte(b, text.p[i], out);
	fork_trail(b, trie, common, out);
	trie->last_text = text;
}

/* ---- Patterns ---- */

static uint32_t add_tree(struct atom_builder *b, const struct regex_tree *tree, uint32_t out);

static bool is_any_byte(const struct regex_tree *tree)
{
	static const struct byteset none;

	return tree->kind == REGEX_BYTES && tree->negated &&
	       memcmp(&tree->set, &none, sizeof(none)) == 0;
}

/* NOLINTBEGIN(misc-no-recursion): REGEX_DEPTH_MAX groups, SPLITS_MAX splits */

/* Does the atom hold if the input ends at NODE? False where that is far to look. */
static bool holds_at_end(const struct atom_builder *b, uint32_t node, unsigned splits)
{
	const struct node *at = &b->nfa->nodes[node];

	switch (at->kind) {
	case NODE_MATCH:
	case NODE_ACCEPT:
		return true;
	case NODE_END:
	case NODE_SPLIT:
		return splits > 0 &&
		       (holds_at_end(b, at->out, splits - 1) ||
			(at->kind == NODE_SPLIT && holds_at_end(b, at->other, splits - 1)));
	default:
		return false;
	}
}

/*
 * Any bytes, and then possibly the end: that is whatever follows. To say so keeps unions of such
 * patterns small, as they are written for names "and everything below".
 */
static bool is_whatever(const struct atom_builder *b, const struct regex_tree *tree, uint32_t out)
{
	enum {
		SPLITS_MAX = 8
	};

	return tree->max == REGEX_UNBOUNDED && is_any_byte(tree->kids) &&
	       holds_at_end(b, out, SPLITS_MAX);
}

static uint32_t add_repeat(struct atom_builder *b, const struct regex_tree *tree, uint32_t out)
{
	uint32_t start = out;
	int min = tree->min;

	if (is_whatever(b, tree, out)) {
		start = b->match;
	} else if (tree->max == REGEX_UNBOUNDED) {
		uint32_t body;

		start = atom_add_node(b, (struct node){NODE_SPLIT, .other = out});
		body = add_tree(b, tree->kids, start);
		if (!b->failed)
			b->nfa->nodes[start].out = body;
		if (min > 0) { /* the loop is entered by its body: that is one time */
			start = body;
			min--;
		}
	}
	for (int i = tree->min; i < tree->max && !b->failed; i++)
		start = atom_add_split(b, add_tree(b, tree->kids, start), out);
	for (int i = 0; i < min && !b->failed; i++) {
		uint32_t next = add_tree(b, tree->kids, start);

		if (next == start) /* nothing, however often */
			break;
		start = next;
	}
	return start;
}

static uint32_t add_tree(struct atom_builder *b, const struct regex_tree *tree, uint32_t out)
{
	uint32_t any = 0;

	if (b->failed)
		return 0;
	switch (tree->kind) {
	case REGEX_BYTES:
		return add_bytes(b, tree->set, tree->negated, out);
	case REGEX_END:
		return atom_add_node(b, (struct node){NODE_END, .out = out});
	case REGEX_REPEAT:
		return add_repeat(b, tree, out);
	case REGEX_CONCAT:
		for (const struct regex_tree *kid = tree->kids; kid; kid = kid->older)
			out = add_tree(b, kid, out);
		return out;
	case REGEX_ALTERNATE:
		for (const struct regex_tree *kid = tree->kids; kid; kid = kid->older)
			any = atom_add_split(b, add_tree(b, kid, out), any);
		return any;
	}
	return 0;
}

/* The same in every part, so that both make equal nodes? */
static bool same_tree(const struct regex_tree *x, const struct regex_tree *y)
{
	const struct regex_tree *a = x->kids, *b = y->kids;

	if (x->kind != y->kind || x->negated != y->negated || x->min != y->min ||
	    x->max != y->max || memcmp(&x->set, &y->set, sizeof(x->set)) != 0)
		return false;
	for (; a && b; a = a->older, b = b->older)
		if (!same_tree(a, b))
			return false;
	return !a && !b;
}

/* How many pieces of TREE may come more than once, or not at all. */
static size_t count_repeats(const struct regex_tree *tree)
{
	size_t n = tree->kind == REGEX_REPEAT;

	for (const struct regex_tree *kid = tree->kids; kid; kid = kid->older)
		n += count_repeats(kid);
	return n;
}

/* NOLINTEND(misc-no-recursion) */

/* The pieces of BRANCH from the first to the last; it lists them the other way round. */
static const struct regex_tree **list_pieces(struct atom_builder *b,
					     const struct regex_tree *branch, size_t *ret_n)
{
	const struct regex_tree **pieces;
	size_t n = 0;

	for (const struct regex_tree *piece = branch->kids; piece; piece = piece->older)
		n++;
	pieces = arena_array(b->nfa->arena, n, sizeof(struct regex_tree *));
	*ret_n = n;
	for (const struct regex_tree *piece = branch->kids; piece && pieces; piece = piece->older)
		pieces[--n] = piece;
	if (!pieces)
		b->failed = true;
	return pieces;
}

/*
 * Of N pieces, how many stand before those that are better made deterministic together: the first
 * that repeats, and all after it, if they repeat often.
 */
static size_t plain_pieces(const struct regex_tree *const *pieces, size_t n)
{
	size_t repeats = 0, plain = n;

	for (size_t i = n; i-- > 0;) {
		size_t more = count_repeats(pieces[i]);

		repeats += more;
		if (more > 0)
			plain = i;
	}
	return repeats >= REPEATS_MANY ? plain : n;
}

/* N pieces as a deterministic automaton; 0 if it would be too large. */
static uint32_t add_graft(struct atom_builder *b, const struct regex_tree *const *pieces, size_t n)
{
	struct nfa alone = {.arena = b->nfa->temporary, .work = b->nfa->work};
	struct atom_builder own = {.nfa = &alone, .style = b->style};
	struct nfa_atom to = {.accept = b->accept, .match = b->match};
	uint32_t start = 0;

	begin_atom(&own);
	start = own.match;
	while (n-- > 0)
		start = add_tree(&own, pieces[n], start);
	start = add_bytes(&own, (struct byteset){0}, true, start);
	end_atom(&own, start, true);
	b->failed |= own.failed || !nfa_graft(b->nfa, &to, &alone, &start);
	arena_reset(alone.arena);
	return b->failed ? 0 : start;
}

/* One piece, then OUT; *TAIL is a node through which all leave it. */
static uint32_t add_piece(struct atom_builder *b, const struct regex_tree *piece, uint32_t out,
			  uint32_t *tail)
{
	if (piece->kind == REGEX_BYTES) {
		*tail = add_tree(b, piece, out);
		return *tail;
	}
	*tail = atom_add_node(b, (struct node){NODE_SPLIT, .out = out});
	return add_tree(b, piece, *tail);
}

static void add_regex_branch(struct atom_builder *b, struct trie *trie,
			     const struct regex_tree *branch)
{
	size_t n, plain, common = 0;
	const struct regex_tree **pieces = list_pieces(b, branch, &n);
	uint32_t out = b->match, graft;

	if (!pieces)
		return;
	plain = plain_pieces(pieces, n);
	graft = plain < n && b->nfa->temporary ? add_graft(b, pieces + plain, n - plain) : 0;
	if (graft) {
		out = graft;
		n = plain;
	}
	while (common < n && common < trie->n_last_pieces &&
	       same_tree(pieces[common], trie->last_pieces[common]))
		common++;
	prepare_trail(b, trie, n, common);
	for (size_t i = n; i-- > common && !b->failed;)
		out = add_piece(b, pieces[i], out, &trie->trail[i]);
	fork_trail(b, trie, common, out);
	trie->last_pieces = pieces;
	trie->n_last_pieces = n;
}

static int add_regex(struct atom_builder *b, struct err *e)
{
	const struct test *test = b->pattern;
	struct nfa *nfa = b->nfa;
	struct regex regex;
	int r = regex_parse(test->text, test->at, nfa->arena, &regex, e);

	begin_part(b, test);
	if (r < 0 || regex.dead)
		return r;
	if (regex.anchored)
		add_regex_branch(b, &nfa->anchored, regex.anchored);
	if (regex.floating)
		for (const struct regex_tree *kid = regex.floating->kids; kid && !b->failed;
		     kid = kid->older)
			add_regex_branch(b, &nfa->floating, kid);
	return 0;
}

/* ---- Texts ---- */

/* Where a text leads that is matched as MATCH says. */
static void find_ends(const struct atom_builder *b, struct str bytes, enum match match,
		      uint32_t nodes[2])
{
	nodes[0] = b->accept;
	if (match == MATCH_PREFIX || (match == MATCH_SUBPATH && str_is(bytes, "/")))
		nodes[0] = b->match;
	else if (match == MATCH_SUBPATH)
		nodes[1] = b->slash;
}

static void add_text(struct atom_builder *b, struct str bytes, enum match match)
{
	struct nfa *nfa = b->nfa;
	struct nfa_text *texts =
		arena_grow(nfa->arena, nfa->texts, nfa->n_texts, &nfa->cap_texts, sizeof(*texts));
	struct nfa_text text = {
		.bytes = bytes, .atom = (uint32_t)nfa->n_atoms, .pattern = b->pattern};

	if (!texts) {
		b->failed = true;
		return;
	}
	nfa->texts = texts;
	for (size_t i = 0; i < bytes.n && !b->failed; i++)
		(void)add_single(b, bytes.p[i]);
	find_ends(b, bytes, match, text.nodes);
	texts[nfa->n_texts++] = text;
	nfa->n_text_bytes += bytes.n;
	b->has_texts = true;
}

/*
 * What the text says of paths in LONG_NAME, a directory of /private: such paths are also written
 * without that.
 */
static void add_text_alias(struct atom_builder *b, struct str bytes, enum match match,
			   struct str long_name)
{
	const size_t n = sizeof("/private") - 1;
	struct str short_name = str_skip(long_name, n);
	bool covers = match == MATCH_PREFIX ? str_starts(long_name, bytes)
					    : str_is_below(long_name, bytes);

	if (match != MATCH_LITERAL && covers)
		add_text(b, short_name, MATCH_SUBPATH);
	else if (str_is_below(bytes, long_name))
		add_text(b, str_skip(bytes, n), match);
}

static void add_text_aliases(struct atom_builder *b, struct str bytes, enum match match)
{
	if (bytes.n <= 1) /* of all or none */
		return;
	for (size_t i = 0; i < PRIVATE_COUNT; i++)
		add_text_alias(b, bytes, match, private_names[i]);
}

/* In nodes. The path itself and what lies below it; below "/" is everything that begins with it. */
static void spell_text(struct atom_builder *b, struct str bytes, enum match match)
{
	uint32_t nodes[2] = {0};

	begin_part(b, b->pattern);
	find_ends(b, bytes, match, nodes);
	add_sequence(b, bytes, atom_add_split(b, nodes[0], nodes[1]));
}

static int add_pattern(struct atom_builder *b, struct err *e)
{
	const struct test *test = b->pattern;
	enum match match = test->match == MATCH_STRING ? MATCH_LITERAL : test->match;

	if (match == MATCH_REGEX)
		return add_regex(b, e);
	if (b->style & ATOM_OBJECT || b->nfa->texts_fold != (b->style & ATOM_FOLD)) {
		spell_text(b, test->text, match);
		return 0;
	}
	add_text(b, test->text, match);
	if (b->style & ATOM_PRIVATE)
		add_text_aliases(b, test->text, match);
	return 0;
}

/* ---- Unions ---- */

/* Nothing is in TRIE any more; its room stays. */
static void empty_trie(struct trie *trie)
{
	*trie = (struct trie){.trail = trie->trail, .cap_trail = trie->cap_trail};
}

/* 0, or -ERR_POLICY; running out of memory is left in b->failed, with b->pattern at fault. */
static int add_patterns(struct atom_builder *b, const struct test *const *tests, size_t n,
			uint32_t *ret, struct err *e)
{
	struct nfa *nfa = b->nfa;

	if (nfa->n_texts == 0)
		nfa->texts_fold = b->style & ATOM_FOLD;
	empty_trie(&nfa->spelled);
	empty_trie(&nfa->anchored);
	empty_trie(&nfa->floating);
	for (size_t i = 0; i < n && !b->failed; i++) {
		int r;

		b->pattern = tests[i];
		r = add_pattern(b, e);
		if (r < 0)
			return r;
	}
	if (b->failed)
		return 0;
	begin_part(b, NULL);
	*ret = atom_add_split(b, nfa->spelled.start, nfa->anchored.start);
	if (nfa->floating.start) /* a search that may skip bytes first */
		*ret = atom_add_split(b, *ret, add_skip(b, nfa->floating.start));
	return 0;
}

int nfa_add_atom(struct nfa *nfa, const struct test *const *tests, size_t n, unsigned style,
		 struct err *e)
{
	struct atom_builder b = {.nfa = nfa, .style = style};
	bool has_regex = false;
	uint32_t start = 0;
	int r;

	begin_atom(&b);
	r = add_patterns(&b, tests, n, &start, e);
	if (r < 0)
		return r;
	if (!b.failed && start && style & ATOM_PRIVATE)
		start = atom_add_aliases(&b, start);
	if (!b.failed && start && style & ATOM_OBJECT)
		start = atom_add_spellings(&b, start);
	for (size_t i = 0; i < n; i++)
		has_regex |= tests[i]->match == MATCH_REGEX;
	end_atom(&b, start, has_regex);
	return b.failed ? nfa_too_big(b.pattern ? b.pattern : n ? tests[0] : NULL, e) : 0;
}
