/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/merge.h"

#include "base/banned.h"

enum {
	SLOTS_MIN = 256
};

/* Where a state leads, on its way to become one; what leads where most bytes do is no turn. */
struct draft {
	uint32_t label;
	uint32_t usual;
	struct turn turns[BYTES]; /* by class */
	uint32_t n;
};

struct merger {
	const struct quotient *from;
	const struct subsets *subsets;
	struct arena *scratch;
	struct minimal *ret;
	struct draft draft;
	uint32_t *slots;           /* hash table of state + 1; 0 is free */
	size_t n_slots;            /* a power of two */
	struct row_table contexts; /* their rows, that lead to states of RET */
	uint32_t *tops;            /* by node of the tree: the state behind its first byte */
};

/* ---- States ---- */

static uint64_t mix(uint64_t h, uint32_t a, uint32_t b)
{
	h = (h ^ a ^ (uint64_t)b << 32) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

static size_t hash_row(uint32_t label, uint32_t usual, const struct turn *turns, uint32_t n)
{
	uint64_t h = mix(n, label, usual);

	for (uint32_t i = 0; i < n; i++)
		h = mix(h, turns[i].cls, turns[i].target);
	return (size_t)h;
}

static bool is_draft(const struct merger *m, uint32_t state)
{
	const struct draft *draft = &m->draft;
	const struct row *row = &m->ret->rows.rows[state];

	return m->ret->labels[state] == draft->label && row->usual == draft->usual &&
	       row->n == draft->n &&
	       (row->n == 0 || memcmp(row_turns(&m->ret->rows, row), draft->turns,
				      row->n * sizeof(*draft->turns)) == 0);
}

/* Of N slots one is free. */
static void put_slot(uint32_t *slots, size_t n, size_t hash, uint32_t state)
{
	size_t i = hash & (n - 1);

	while (slots[i])
		i = (i + 1) & (n - 1);
	slots[i] = state + 1;
}

/* Makes room in the table for one more. */
static bool reserve_slots(struct merger *m)
{
	size_t n = m->n_slots ? m->n_slots : SLOTS_MIN;
	uint32_t *slots;

	if (m->slots && 2 * ((size_t)m->ret->n + 1) <= m->n_slots)
		return true;
	while (n < 4 * ((size_t)m->ret->n + 1))
		n *= 2;
	slots = arena_array(m->scratch, n, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t state = 0; state < m->ret->n; state++) {
		const struct row *row = &m->ret->rows.rows[state];

		put_slot(slots, n,
			 hash_row(m->ret->labels[state], row->usual, row_turns(&m->ret->rows, row),
				  row->n),
			 state);
	}
	m->slots = slots;
	m->n_slots = n;
	return true;
}

/* Adds the draft to ROWS. False: no memory. */
static bool add_row(struct merger *m, struct row_table *rows)
{
	bool ok = row_table_add(rows, m->scratch, m->draft.usual);

	for (uint32_t i = 0; i < m->draft.n && ok; i++)
		ok = row_table_turn(rows, m->scratch, m->draft.turns[i]);
	return ok;
}

/* Makes the draft a new state. */
static bool add_state(struct merger *m, size_t hash)
{
	struct minimal *ret = m->ret;
	uint32_t *labels =
		arena_grow(m->scratch, ret->labels, ret->n, &ret->cap_labels, sizeof(*labels));

	if (!labels || ret->n >= UINT32_MAX - 1 || !reserve_slots(m) || !add_row(m, &ret->rows))
		return false;
	ret->labels = labels;
	labels[ret->n] = m->draft.label;
	put_slot(m->slots, m->n_slots, hash, ret->n++);
	return true;
}

/* The state that the draft is. False: no memory. */
static bool put_state(struct merger *m, uint32_t *ret)
{
	const struct draft *draft = &m->draft;
	size_t hash = hash_row(draft->label, draft->usual, draft->turns, draft->n);

	for (size_t i = hash & (m->n_slots - 1); m->slots[i]; i = (i + 1) & (m->n_slots - 1)) {
		*ret = m->slots[i] - 1;
		if (is_draft(m, *ret))
			return true;
	}
	*ret = m->ret->n;
	return add_state(m, hash);
}

/* ---- Blocks and contexts ---- */

/* Drafts ROW of TABLE, which leads to states of the subset construction. */
static void draft_row(struct merger *m, const struct row_table *table, const struct row *row)
{
	const uint32_t *block = m->from->block;
	const struct turn *turns = row_turns(table, row);
	struct draft *draft = &m->draft;

	draft->usual = block[row->usual];
	draft->n = 0;
	for (uint32_t i = 0; i < row->n; i++)
		if (block[turns[i].target] != draft->usual)
			draft->turns[draft->n++] =
				(struct turn){turns[i].cls, block[turns[i].target]};
}

/* The block's number is that of the state it becomes. */
static bool add_blocks(struct merger *m)
{
	const struct quotient *from = m->from;

	for (uint32_t block = 0; block < from->n; block++) {
		draft_row(m, &m->subsets->rows, quotient_row(from, block));
		m->draft.label = from->labels[m->subsets->accept[from->state[block]]];
		if (!add_state(m, hash_row(m->draft.label, m->draft.usual, m->draft.turns,
					   m->draft.n)))
			return false;
	}
	return true;
}

static bool add_contexts(struct merger *m)
{
	const struct row_table *rows = &m->subsets->contexts.rows;

	for (size_t i = 0; i < rows->n; i++) {
		draft_row(m, rows, &rows->rows[i]);
		if (!add_row(m, &m->contexts))
			return false;
	}
	return m->contexts.rows; /* there is the root's */
}

/* ---- The tree ---- */

/* Drafts what CONTEXT leads to where no text goes on. */
static void draft_context(struct merger *m, uint32_t context)
{
	const struct row_table *contexts = &m->contexts;
	const struct row *row = contexts->rows + context;
	struct draft *draft = &m->draft;

	draft->label = m->from->labels[m->subsets->contexts.accept[context]];
	draft->usual = row->usual;
	draft->n = row->n;
	if (row->n)
		memcpy(draft->turns, row_turns(contexts, row), row->n * sizeof(*draft->turns));
}

/* Makes CLS lead to TARGET. */
static void draft_turn(struct draft *draft, unsigned cls, uint32_t target)
{
	uint32_t at = draft->n, more = target != draft->usual, old;

	while (at > 0 && draft->turns[at - 1].cls >= cls)
		at--;
	old = at < draft->n && draft->turns[at].cls == cls;
	if (old != more)
		memmove(&draft->turns[at + more], &draft->turns[at + old],
			(draft->n - at - old) * sizeof(*draft->turns));
	if (more)
		draft->turns[at] = (struct turn){cls, target};
	draft->n += more - old;
}

/* Makes BYTE lead to TARGET. */
static void draft_byte(struct merger *m, unsigned char byte, uint32_t target)
{
	const uint8_t *cls = m->ret->classes->of;
	unsigned upper = byte >= 'a' && byte <= 'z' ? byte - 'a' + 'A' : byte;

	draft_turn(&m->draft, cls[byte], target);
	if (m->subsets->tree.folds && cls[upper] != cls[byte])
		draft_turn(&m->draft, cls[upper], target);
}

/* The state at NODE, whose kids are there, in CONTEXT. */
static bool put_node(struct merger *m, const struct tree_node *node, uint32_t context,
		     uint32_t *ret)
{
	const struct tree *tree = &m->subsets->tree;

	draft_context(m, context);
	for (uint32_t kid = node->first_kid; kid; kid = tree->nodes[kid].sibling)
		draft_byte(m, (unsigned char)tree->nodes[kid].text.p[node->text.n], m->tops[kid]);
	if (node == tree->nodes)
		m->draft.label = m->from->labels[0];
	return put_state(m, ret);
}

/* The states at node AT and all places above it that are its own. */
static bool put_places(struct merger *m, uint32_t at)
{
	const struct tree_node *node = &m->subsets->tree.nodes[at];
	const uint32_t *places = m->subsets->contexts.places + node->first_place;
	size_t i = node->text.n - node->above - 1;
	uint32_t *top = &m->tops[at];
	bool ok = put_node(m, node, places[i], top);

	for (; i > 0 && ok; i--) {
		draft_context(m, places[i - 1]);
		draft_byte(m, (unsigned char)node->text.p[node->above + i], *top);
		ok = put_state(m, top);
	}
	return ok;
}

static bool add_tree(struct merger *m)
{
	const struct tree *tree = &m->subsets->tree;

	m->tops = arena_array(m->scratch, tree->n, sizeof(*m->tops));
	if (!m->tops || !add_contexts(m))
		return false;
	for (size_t i = tree->n; i-- > 1;)
		if (!put_places(m, tree->order[i]))
			return false;
	return put_node(m, tree->nodes, m->subsets->contexts.start, &m->ret->start);
}

bool merge(const struct quotient *quotient, struct arena *scratch, struct minimal *ret)
{
	struct merger m = {
		.from = quotient, .subsets = quotient->subsets, .scratch = scratch, .ret = ret};

	*ret = (struct minimal){.classes = &quotient->subsets->classes};
	if (!add_blocks(&m))
		return false;
	if (quotient->subsets->tree.n > 0)
		return add_tree(&m);
	ret->start = quotient->block[SUBSET_START];
	return true;
}
