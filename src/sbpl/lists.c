/* SPDX-License-Identifier: Apache-2.0 */
/* Scheme procedures: pairs and lists, vectors, predicates, equality. */
#include "sbpl/machine.h"

#include "base/banned.h"

/* ---- Pairs and lists ---- */

static int do_cons(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	return machine_give(m, machine_cons(m, args[0], args[1]));
}

/* set-car! and set-cdr!: what a profile's text spells out stays as it is. */
enum {
	SET_CAR,
	SET_CDR
};

static int do_set_pair(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	if (!is_type(args[0], VALUE_PAIR))
		return machine_wrong_type(m, "a list with elements", args[0]);
	if (!args[0]->is_mutable)
		return machine_fail(m, "%s: a list written in the text does not change",
				    m->running->name);
	if (m->running->variant == SET_CAR)
		args[0]->car = args[1];
	else
		args[0]->cdr = args[1];
	return machine_give(m, args[0]);
}

/* car, cdr and their chains: the letters between c and r, read from the right. */
static int do_cxr(struct machine *m, struct value **args, size_t n)
{
	const char *name = m->running->name;
	struct value *v = args[0];

	(void)n;
	for (size_t i = strlen(name) - 2; i > 0; i--) {
		if (!is_type(v, VALUE_PAIR))
			return machine_wrong_type(m, "a list with elements", v);
		v = name[i] == 'a' ? v->car : v->cdr;
	}
	return machine_give(m, v);
}

static int do_list(struct machine *m, struct value **args, size_t n)
{
	return machine_give(m, machine_list(m, args, n));
}

/* ITEMS in front of TAIL. */
static int give_list_star(struct machine *m, struct value **items, size_t n, struct value *tail)
{
	while (tail && n > 0)
		tail = machine_cons(m, items[--n], tail);
	return machine_give(m, tail);
}

static int do_list_star(struct machine *m, struct value **args, size_t n)
{
	return give_list_star(m, args, n - 1, args[n - 1]);
}

static int do_append(struct machine *m, struct value **args, size_t n)
{
	struct value *list = n ? args[n - 1] : m->nil;

	for (size_t i = n; i-- > 1;) {
		struct value **items;
		size_t count;
		int r = machine_items(m, args[i - 1], &items, &count);

		if (r == 0)
			r = give_list_star(m, items, count, list);
		if (r < 0)
			return r;
		list = m->value;
	}
	return machine_give(m, list);
}

static int do_reverse(struct machine *m, struct value **args, size_t n)
{
	struct value *list = m->nil;
	struct value **items;
	int r = machine_items(m, args[0], &items, &n);

	for (size_t i = 0; i < n && list && r == 0; i++)
		list = machine_cons(m, items[i], list);
	return r < 0 ? r : machine_give(m, list);
}

static int do_length(struct machine *m, struct value **args, size_t n)
{
	struct value **items;
	int r = machine_items(m, args[0], &items, &n);

	return r < 0 ? r : machine_give_integer(m, (int64_t)n);
}

static int out_of_range(struct machine *m)
{
	return machine_fail(m, "%s: index out of range", m->running->name);
}

/* Takes args[1], an index, for list-tail, list-ref, take and drop. */
static int take_index(struct machine *m, struct value **args, size_t *ret)
{
	if (!is_type(args[0], VALUE_PAIR) && !is_type(args[0], VALUE_NIL))
		return machine_wrong_type(m, "a proper list", args[0]);
	if (!is_type(args[1], VALUE_INTEGER))
		return machine_wrong_type(m, "integer", args[1]);
	if (args[1]->number < 0)
		return out_of_range(m);
	*ret = (size_t)args[1]->number;
	return 0;
}

/* The list after its first args[1] elements, not a copy; or the element there. */
enum {
	LIST_TAIL,
	LIST_REF
};

static int do_list_at(struct machine *m, struct value **args, size_t n)
{
	struct value *v = args[0];
	size_t at = 0;
	int r = take_index(m, args, &at);

	(void)n;
	for (; at > 0 && r == 0; at--, v = v->cdr) {
		if (!is_type(v, VALUE_PAIR))
			return out_of_range(m);
		r = machine_charge(m, 1);
	}
	if (r < 0)
		return r;
	if (m->running->variant == LIST_TAIL)
		return machine_give(m, v);
	return is_type(v, VALUE_PAIR) ? machine_give(m, v->car) : out_of_range(m);
}

static int do_take(struct machine *m, struct value **args, size_t n)
{
	struct value **items = NULL;
	size_t at = 0;
	int r = take_index(m, args, &at);

	if (r == 0)
		r = machine_items(m, args[0], &items, &n);
	if (r < 0)
		return r;
	return at <= n ? machine_give(m, machine_list(m, items, at)) : out_of_range(m);
}

static int do_last_pair(struct machine *m, struct value **args, size_t n)
{
	struct value *v = args[0];
	const struct value *end;
	int r;

	if (!is_type(v, VALUE_PAIR))
		return machine_wrong_type(m, "a list with elements", v);
	r = machine_measure(m, v, &n, &end);
	if (r < 0)
		return r;
	if (is_type(end, VALUE_PAIR))
		return machine_endless(m);
	while (n-- > 1)
		v = v->cdr;
	return machine_give(m, v);
}

/* Appends the leaves of V to ITEMS, from a stack of its own. */
static int do_flatten(struct machine *m, struct value **args, size_t n)
{
	struct value **todo = NULL, **leaves = NULL;
	size_t n_todo = 0, cap_todo = 0, cap = 0, count = 0;
	struct value *v = args[0];
	int r = 0;

	(void)n;
	while (r == 0) {
		r = machine_charge(m, 1);
		todo = arena_grow(m->arena, todo, n_todo, &cap_todo, sizeof(v));
		leaves = arena_grow(m->arena, leaves, count, &cap, sizeof(v));
		if (!todo || !leaves)
			return machine_no_memory(m);
		if (is_type(v, VALUE_PAIR)) {
			todo[n_todo++] = v->cdr;
			v = v->car;
			continue;
		}
		if (!is_type(v, VALUE_NIL))
			leaves[count++] = v;
		if (n_todo == 0)
			break;
		v = todo[--n_todo];
	}
	return r < 0 ? r : machine_give(m, machine_list(m, leaves, count));
}

/* ---- Equality and search ---- */

static int equal(struct machine *m, const struct value *a, const struct value *b, unsigned nest,
		 bool *ret);

/* NOLINTNEXTLINE(misc-no-recursion): limits.depth */
static int equal_vectors(struct machine *m, const struct value *a, const struct value *b,
			 unsigned nest, bool *ret)
{
	int r = 0;

	*ret = a->n_items == b->n_items;
	for (size_t i = 0; i < a->n_items && *ret && r == 0; i++)
		r = equal(m, a->items[i], b->items[i], nest + 1, ret);
	return r;
}

/* NOLINTNEXTLINE(misc-no-recursion): limits.depth */
static int equal(struct machine *m, const struct value *a, const struct value *b, unsigned nest,
		 bool *ret)
{
	int r = machine_charge(m, 1);

	if (nest > NEST_MAX)
		return machine_limit(m, "equal?: data nested deeper than %d levels", NEST_MAX);
	while (r == 0 && is_type(a, VALUE_PAIR) && is_type(b, VALUE_PAIR)) {
		r = equal(m, a->car, b->car, nest + 1, ret);
		if (r < 0 || !*ret)
			return r;
		a = a->cdr;
		b = b->cdr;
	}
	if (r < 0)
		return r;
	if (is_type(a, VALUE_VECTOR) && is_type(b, VALUE_VECTOR))
		return equal_vectors(m, a, b, nest, ret);
	if (!is_type(a, VALUE_STRING) || !is_type(b, VALUE_STRING)) {
		*ret = value_eqv(a, b);
		return 0;
	}
	*ret = str_eq(a->string, b->string);
	return machine_charge(m, a->string.n / BYTES_PER_STEP);
}

enum {
	BY_EQV,
	BY_EQUAL
};

static int same(struct machine *m, const struct value *a, const struct value *b, bool *ret)
{
	if (m->running->variant == BY_EQUAL)
		return equal(m, a, b, 0, ret);
	*ret = value_eqv(a, b);
	return machine_charge(m, 1);
}

static int do_equal(struct machine *m, struct value **args, size_t n)
{
	bool equals;
	int r = same(m, args[0], args[1], &equals);

	(void)n;
	return r < 0 ? r : machine_give_bool(m, equals);
}

static int do_member(struct machine *m, struct value **args, size_t n)
{
	struct value *list = args[1];

	(void)n;
	for (; is_type(list, VALUE_PAIR); list = list->cdr) {
		bool equals;
		int r = same(m, args[0], list->car, &equals);

		if (r < 0 || equals)
			return r < 0 ? r : machine_give(m, list);
	}
	return machine_give(m, m->no);
}

static int do_assoc(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	for (struct value *list = args[1]; is_type(list, VALUE_PAIR); list = list->cdr) {
		bool equals;
		int r;

		if (!is_type(list->car, VALUE_PAIR))
			return machine_wrong_type(m, "a list of pairs", list->car);
		r = same(m, args[0], list->car->car, &equals);
		if (r < 0 || equals)
			return r < 0 ? r : machine_give(m, list->car);
	}
	return machine_give(m, m->no);
}

static int do_acons(struct machine *m, struct value **args, size_t n)
{
	struct value *pair = machine_cons(m, args[0], args[1]);

	(void)n;
	return machine_give(m, pair ? machine_cons(m, pair, args[2]) : NULL);
}

/* ---- Predicates ---- */

static int do_is_type(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	return machine_give_bool(m, is_type(args[0], m->running->variant));
}

static int do_is_list(struct machine *m, struct value **args, size_t n)
{
	const struct value *end;
	int r = machine_measure(m, args[0], &n, &end);

	return r < 0 ? r : machine_give_bool(m, is_type(end, VALUE_NIL));
}

static int do_is_atom(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	return machine_give_bool(m, !is_type(args[0], VALUE_PAIR));
}

static int do_is_procedure(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	return machine_give_bool(m, is_type(args[0], VALUE_BUILTIN) ||
					    is_type(args[0], VALUE_CLOSURE) ||
					    is_type(args[0], VALUE_CONTINUATION) ||
					    is_type(args[0], VALUE_FILTER_FORM));
}

static int do_not(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	return machine_give_bool(m, !is_true(args[0]));
}

/* ---- Vectors ---- */

static struct value *new_vector(struct machine *m, size_t n)
{
	struct value *v = machine_new(m, VALUE_VECTOR);

	if (!v)
		return NULL;
	v->items = arena_array(m->arena, n, sizeof(*v->items));
	v->n_items = n;
	return v->items ? v : NULL;
}

static int do_vector(struct machine *m, struct value **args, size_t n)
{
	struct value *v = new_vector(m, n);

	for (size_t i = 0; v && i < n; i++)
		v->items[i] = args[i];
	return machine_give(m, v);
}

static int do_make_vector(struct machine *m, struct value **args, size_t n)
{
	struct value *v;

	if (!is_type(args[0], VALUE_INTEGER) || args[0]->number < 0)
		return machine_wrong_type(m, "a size", args[0]);
	v = new_vector(m, (size_t)args[0]->number);
	for (size_t i = 0; v && i < v->n_items; i++)
		v->items[i] = n > 1 ? args[1] : m->nil;
	return machine_give(m, v);
}

static int check_index(struct machine *m, struct value **args)
{
	if (!is_type(args[0], VALUE_VECTOR))
		return machine_wrong_type(m, "vector", args[0]);
	if (!is_type(args[1], VALUE_INTEGER))
		return machine_wrong_type(m, "integer", args[1]);
	if (args[1]->number < 0 || (uint64_t)args[1]->number >= args[0]->n_items)
		return machine_fail(m, "%s: index out of range", m->running->name);
	return 0;
}

static int do_vector_ref(struct machine *m, struct value **args, size_t n)
{
	int r = check_index(m, args);

	(void)n;
	return r < 0 ? r : machine_give(m, args[0]->items[args[1]->number]);
}

static int do_vector_set(struct machine *m, struct value **args, size_t n)
{
	int r = check_index(m, args);

	(void)n;
	if (r < 0)
		return r;
	args[0]->items[args[1]->number] = args[2];
	return machine_give(m, args[0]);
}

static int do_vector_fill(struct machine *m, struct value **args, size_t n)
{
	int r;

	(void)n;
	if (!is_type(args[0], VALUE_VECTOR))
		return machine_wrong_type(m, "vector", args[0]);
	r = machine_charge(m, args[0]->n_items);
	for (size_t i = 0; i < args[0]->n_items && r == 0; i++)
		args[0]->items[i] = args[1];
	return r < 0 ? r : machine_give(m, args[0]);
}

static int do_vector_length(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	if (!is_type(args[0], VALUE_VECTOR))
		return machine_wrong_type(m, "vector", args[0]);
	return machine_give_integer(m, (int64_t)args[0]->n_items);
}

static int do_vector_to_list(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	if (!is_type(args[0], VALUE_VECTOR))
		return machine_wrong_type(m, "vector", args[0]);
	return machine_give(m, machine_list(m, args[0]->items, args[0]->n_items));
}

static int do_list_to_vector(struct machine *m, struct value **args, size_t n)
{
	struct value **items;
	int r = machine_items(m, args[0], &items, &n);

	return r < 0 ? r : do_vector(m, items, n);
}

static const struct builtin table[] = {
	{"cons", do_cons, 2, 2, 0},
	{"car", do_cxr, 1, 1, 0},
	{"cdr", do_cxr, 1, 1, 0},
	{"caar", do_cxr, 1, 1, 0},
	{"cadr", do_cxr, 1, 1, 0},
	{"cdar", do_cxr, 1, 1, 0},
	{"cddr", do_cxr, 1, 1, 0},
	{"caaar", do_cxr, 1, 1, 0},
	{"caadr", do_cxr, 1, 1, 0},
	{"cadar", do_cxr, 1, 1, 0},
	{"caddr", do_cxr, 1, 1, 0},
	{"cdaar", do_cxr, 1, 1, 0},
	{"cdadr", do_cxr, 1, 1, 0},
	{"cddar", do_cxr, 1, 1, 0},
	{"cdddr", do_cxr, 1, 1, 0},
	{"caaaar", do_cxr, 1, 1, 0},
	{"caaadr", do_cxr, 1, 1, 0},
	{"caadar", do_cxr, 1, 1, 0},
	{"caaddr", do_cxr, 1, 1, 0},
	{"cadaar", do_cxr, 1, 1, 0},
	{"cadadr", do_cxr, 1, 1, 0},
	{"caddar", do_cxr, 1, 1, 0},
	{"cadddr", do_cxr, 1, 1, 0},
	{"cdaaar", do_cxr, 1, 1, 0},
	{"cdaadr", do_cxr, 1, 1, 0},
	{"cdadar", do_cxr, 1, 1, 0},
	{"cdaddr", do_cxr, 1, 1, 0},
	{"cddaar", do_cxr, 1, 1, 0},
	{"cddadr", do_cxr, 1, 1, 0},
	{"cdddar", do_cxr, 1, 1, 0},
	{"cddddr", do_cxr, 1, 1, 0},
	{"list", do_list, 0, ANY_NUMBER, 0},
	{"list*", do_list_star, 1, ANY_NUMBER, 0},
	{"set-car!", do_set_pair, 2, 2, SET_CAR},
	{"set-cdr!", do_set_pair, 2, 2, SET_CDR},
	{"append", do_append, 0, ANY_NUMBER, 0},
	{"reverse", do_reverse, 1, 1, 0},
	{"length", do_length, 1, 1, 0},
	{"list-tail", do_list_at, 2, 2, LIST_TAIL},
	{"list-ref", do_list_at, 2, 2, LIST_REF},
	{"take", do_take, 2, 2, 0},
	{"drop", do_list_at, 2, 2, LIST_TAIL},
	{"last-pair", do_last_pair, 1, 1, 0},
	{"flatten", do_flatten, 1, 1, 0},
	{"eq?", do_equal, 2, 2, BY_EQV},
	{"eqv?", do_equal, 2, 2, BY_EQV},
	{"equal?", do_equal, 2, 2, BY_EQUAL},
	{"memq", do_member, 2, 2, BY_EQV},
	{"memv", do_member, 2, 2, BY_EQV},
	{"member", do_member, 2, 2, BY_EQUAL},
	{"assq", do_assoc, 2, 2, BY_EQV},
	{"assv", do_assoc, 2, 2, BY_EQV},
	{"assoc", do_assoc, 2, 2, BY_EQUAL},
	{"acons", do_acons, 3, 3, 0},
	{"null?", do_is_type, 1, 1, VALUE_NIL},
	{"pair?", do_is_type, 1, 1, VALUE_PAIR},
	{"boolean?", do_is_type, 1, 1, VALUE_BOOL},
	{"symbol?", do_is_type, 1, 1, VALUE_SYMBOL},
	{"string?", do_is_type, 1, 1, VALUE_STRING},
	{"char?", do_is_type, 1, 1, VALUE_CHAR},
	{"number?", do_is_type, 1, 1, VALUE_INTEGER},
	{"integer?", do_is_type, 1, 1, VALUE_INTEGER},
	{"vector?", do_is_type, 1, 1, VALUE_VECTOR},
	{"real?", do_is_type, 1, 1, VALUE_INTEGER},
	{"rational?", do_is_type, 1, 1, VALUE_INTEGER},
	{"complex?", do_is_type, 1, 1, VALUE_INTEGER},
	{"exact?", do_is_type, 1, 1, VALUE_INTEGER},
	{"environment?", do_is_type, 1, 1, VALUE_ENVIRONMENT},
	{"closure?", do_is_type, 1, 1, VALUE_CLOSURE},
	{"macro?", do_is_type, 1, 1, VALUE_MACRO},
	{"sbpl-filter?", do_is_type, 1, 1, VALUE_FILTER},
	{"list?", do_is_list, 1, 1, 0},
	{"atom?", do_is_atom, 1, 1, 0},
	{"procedure?", do_is_procedure, 1, 1, 0},
	{"not", do_not, 1, 1, 0},
	{"vector", do_vector, 0, ANY_NUMBER, 0},
	{"make-vector", do_make_vector, 1, 2, 0},
	{"vector-ref", do_vector_ref, 2, 2, 0},
	{"vector-set!", do_vector_set, 3, 3, 0},
	{"vector-fill!", do_vector_fill, 2, 2, 0},
	{"vector-length", do_vector_length, 1, 1, 0},
	{"vector->list", do_vector_to_list, 1, 1, 0},
	{"list->vector", do_list_to_vector, 1, 1, 0},
};

int lists_bind(struct machine *m)
{
	return machine_bind_builtins(m, table, sizeof(table) / sizeof(table[0]));
}
