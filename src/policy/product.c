/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A breadth-first search through the product of the automata. Bytes that all of them treat alike
 * are one step.
 */
#include "policy/product.h"

#include "policy/phase.h"

#include "base/banned.h"

/* How a node was met first. */
struct origin_of {
	uint32_t from;
	uint8_t byte;
};

struct product_walk {
	const struct product_options *options;
	struct arena arena;
	struct intern nodes; /* the states, then the phase */
	struct origin_of *origins;
	size_t cap_origins;
	uint32_t *next;       /* room for the words of a node */
	uint8_t bytes[BYTES]; /* by step: the one to show */
	uint8_t *classes;     /* by step and automaton */
	unsigned n_steps;
};

static const uint32_t NO_NODE = UINT32_MAX;

/* ---- Steps ---- */

static void add_step(struct product_walk *walk, unsigned byte)
{
	size_t n = walk->options->n;
	uint8_t *classes = walk->classes + walk->n_steps * n;

	for (size_t i = 0; i < n; i++)
		classes[i] = walk->options->dfas[i]->classes.of[byte];
	for (unsigned i = 0; i < walk->n_steps; i++)
		if (memcmp(walk->classes + i * n, classes, n) == 0)
			return;
	walk->bytes[walk->n_steps++] = (uint8_t)byte;
}

/* The bytes people like to read come first. NUL is in no text. */
static bool find_steps(struct product_walk *walk)
{
	static const char nice[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	walk->classes = arena_array(&walk->arena, BYTES + 1, walk->options->n);
	if (!walk->classes)
		return false;
	for (const char *p = nice; *p; p++)
		add_step(walk, (unsigned char)*p);
	for (unsigned byte = '!'; byte <= '~'; byte++)
		add_step(walk, byte);
	for (unsigned byte = 1; byte < BYTES; byte++)
		add_step(walk, byte);
	return true;
}

/* ---- Nodes ---- */

/* Adds the node that walk->next says, unless it is known. False: too much. */
static bool add_node(struct product_walk *walk, struct origin_of origin)
{
	size_t known = walk->nodes.n;
	int64_t id = intern_put(&walk->nodes, walk->next, walk->options->n + 1);
	struct origin_of *origins;

	if (id < 0 || walk->nodes.n > walk->options->stops)
		return false;
	if ((size_t)id < known)
		return true;
	origins = arena_grow(&walk->arena, walk->origins, known, &walk->cap_origins,
			     sizeof(*origins));
	if (!origins)
		return false;
	walk->origins = origins;
	origins[known] = origin;
	return true;
}

static bool follow(struct product_walk *walk, uint32_t node, const uint32_t *words, unsigned step)
{
	size_t n = walk->options->n;
	const uint8_t *classes = walk->classes + step * n;
	enum phase phase = PHASE_NAME;

	if (walk->options->canonical)
		phase = phase_next((enum phase)words[n], classes[0]);
	if (phase == PHASE_NONE)
		return true;
	for (size_t i = 0; i < n; i++)
		walk->next[i] = dfa_next(walk->options->dfas[i], words[i], classes[i]);
	walk->next[n] = phase;
	return add_node(walk, (struct origin_of){node, walk->bytes[step]});
}

/* Before the first byte; of a path, after the slash that it begins with. */
static bool add_root(struct product_walk *walk)
{
	size_t n = walk->options->n;

	walk->next = arena_array(&walk->arena, n + 1, sizeof(*walk->next));
	if (!walk->next)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct dfa *dfa = walk->options->dfas[i];

		walk->next[i] = walk->options->canonical ? dfa_next(dfa, dfa->start, CLASS_SLASH)
							 : dfa->start;
	}
	walk->next[n] = PHASE_SLASH;
	return add_node(walk, (struct origin_of){NO_NODE, '/'});
}

static int visit(struct product_walk *walk, uint32_t node)
{
	size_t n;
	const uint32_t *words = intern_get(&walk->nodes, node, &n);
	struct product_stop stop = {words, walk, node};
	int r = 0;

	/* A path may be its first slash alone. */
	if (words[walk->options->n] == PHASE_NAME || (node == 0 && walk->options->canonical))
		r = walk->options->each(walk->options->context, &stop);
	if (r == PRODUCT_SKIP)
		return 0;
	for (unsigned i = 0; i < walk->n_steps && r == 0; i++)
		if (!follow(walk, node, words, i))
			return PRODUCT_TOO_MUCH;
	return r;
}

int product_walk(const struct product_options *options)
{
	struct product_walk walk = {.options = options, .arena.limit = options->memory};
	int r = PRODUCT_TOO_MUCH;

	walk.arena.large = options->canonical; /* of policies: seldom and much */
	walk.nodes.arena = &walk.arena;
	if (find_steps(&walk) && add_root(&walk))
		r = 0;
	for (uint32_t node = 0; node < walk.nodes.n && r == 0; node++)
		r = visit(&walk, node);
	arena_release(&walk.arena);
	return r;
}

void product_shortest(const struct product_stop *stop, struct buf *ret)
{
	const struct origin_of *origins = stop->walk->origins;
	uint32_t last = stop->walk->options->canonical ? NO_NODE : 0;
	size_t n = 0;
	char *end;

	for (uint32_t node = stop->node; node != last; node = origins[node].from)
		n++;
	end = buf_reserve(ret, n);
	if (!end)
		return;
	ret->n += n;
	end += n;
	*end = '\0';
	for (uint32_t node = stop->node; node != last; node = origins[node].from)
		*--end = (char)origins[node].byte;
}
