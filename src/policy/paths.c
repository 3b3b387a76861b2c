/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A breadth-first search through the product of the automata. Bytes that all of them treat alike
 * are one step.
 */
#include "policy/paths.h"

#include "policy/impl.h"
#include "policy/phase.h"

#include "base/banned.h"

/* A way on: bytes of one class in every automaton. */
struct step {
	uint8_t byte; /* the one to show */
	uint8_t cls[PATHS_POLICIES_MAX];
};

/* How a node was met first. */
struct origin_of {
	uint32_t from;
	uint8_t byte;
};

struct paths_walk {
	const struct paths_options *options;
	struct arena arena;
	struct intern nodes; /* the states, then the phase */
	struct origin_of *origins;
	size_t cap_origins;
	struct step steps[BYTES];
	unsigned n_steps;
	struct err *e;
};

static const uint32_t NO_NODE = UINT32_MAX;

/* ---- Steps ---- */

static bool same_classes(const struct paths_walk *walk, const struct step *x, const struct step *y)
{
	return memcmp(x->cls, y->cls, walk->options->n) == 0;
}

static void add_step(struct paths_walk *walk, unsigned byte)
{
	struct step step = {.byte = (uint8_t)byte};

	for (size_t i = 0; i < walk->options->n; i++)
		step.cls[i] = walk->options->policies[i]->paths.classes.of[byte];
	for (unsigned i = 0; i < walk->n_steps; i++)
		if (same_classes(walk, &walk->steps[i], &step))
			return;
	walk->steps[walk->n_steps++] = step;
}

/* The bytes people like to read come first. NUL is in no path. */
static void find_steps(struct paths_walk *walk)
{
	static const char nice[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	for (const char *p = nice; *p; p++)
		add_step(walk, (unsigned char)*p);
	for (unsigned byte = '!'; byte <= '~'; byte++)
		add_step(walk, byte);
	for (unsigned byte = 1; byte < BYTES; byte++)
		add_step(walk, byte);
}

/* ---- Nodes ---- */

static int too_much(struct paths_walk *walk)
{
	(void)err_set(walk->e, ERR_LIMIT, "the policies are too large to look at every path");
	return err_hint(walk->e, "fewer regular expressions make them smaller");
}

static int add_node(struct paths_walk *walk, const uint32_t *words, struct origin_of origin)
{
	size_t known = walk->nodes.n;
	int64_t id = intern_put(&walk->nodes, words, walk->options->n + 1);
	struct origin_of *origins;

	if (id < 0 || walk->nodes.n > walk->options->stops)
		return too_much(walk);
	if ((size_t)id < known)
		return 0;
	origins = arena_grow(&walk->arena, walk->origins, known, &walk->cap_origins,
			     sizeof(*origins));
	if (!origins)
		return too_much(walk);
	walk->origins = origins;
	origins[known] = origin;
	return 0;
}

static int follow(struct paths_walk *walk, uint32_t node, const uint32_t *words,
		  const struct step *step)
{
	enum phase phase = phase_next((enum phase)words[walk->options->n], step->cls[0]);
	uint32_t next[PATHS_POLICIES_MAX + 1];

	if (phase == PHASE_NONE)
		return 0;
	for (size_t i = 0; i < walk->options->n; i++)
		next[i] = dfa_next(&walk->options->policies[i]->paths, words[i], step->cls[i]);
	next[walk->options->n] = phase;
	return add_node(walk, next, (struct origin_of){node, step->byte});
}

/* Paths begin with a slash; the first one may be all. */
static int add_root(struct paths_walk *walk)
{
	uint32_t words[PATHS_POLICIES_MAX + 1] = {0};

	for (size_t i = 0; i < walk->options->n; i++) {
		const struct dfa *dfa = &walk->options->policies[i]->paths;

		words[i] = dfa_next(dfa, dfa->start, CLASS_SLASH);
	}
	words[walk->options->n] = PHASE_SLASH;
	return add_node(walk, words, (struct origin_of){NO_NODE, '/'});
}

static int visit(struct paths_walk *walk, uint32_t node)
{
	size_t n;
	const uint32_t *words = intern_get(&walk->nodes, node, &n);
	struct paths_stop stop = {words, walk, node};
	int r = 0;

	if (words[walk->options->n] == PHASE_NAME || node == 0)
		r = walk->options->each(walk->options->context, &stop);
	for (unsigned i = 0; i < walk->n_steps && r == 0; i++)
		r = follow(walk, node, words, &walk->steps[i]);
	return r;
}

int paths_walk(const struct paths_options *options, struct err *e)
{
	struct paths_walk walk = {.options = options, .arena.limit = options->memory, .e = e};
	int r;

	walk.arena.large = true;
	walk.nodes.arena = &walk.arena;
	find_steps(&walk);
	r = add_root(&walk);
	for (uint32_t node = 0; node < walk.nodes.n && r == 0; node++)
		r = visit(&walk, node);
	arena_release(&walk.arena);
	return r;
}

void paths_shortest(const struct paths_stop *stop, struct buf *ret)
{
	const struct origin_of *origins = stop->walk->origins;
	size_t n = 0;
	char *end;

	for (uint32_t node = stop->node; node != NO_NODE; node = origins[node].from)
		n++;
	end = buf_reserve(ret, n);
	if (!end)
		return;
	ret->n += n;
	end += n;
	for (uint32_t node = stop->node; node != NO_NODE; node = origins[node].from)
		*--end = (char)origins[node].byte;
	ret->p[ret->n] = '\0';
}
