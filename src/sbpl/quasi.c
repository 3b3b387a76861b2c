/* SPDX-License-Identifier: Apache-2.0 */
/* quasiquote: rewrites a template to calls of cons, append and quote. */
#include "sbpl/machine.h"

#include "base/banned.h"

static bool is_call(const struct value *v, const char *name)
{
	return is_type(v, VALUE_PAIR) && value_is_named(v->car, name) &&
	       is_type(v->cdr, VALUE_PAIR) && is_type(v->cdr->cdr, VALUE_NIL);
}

static int expand_quasi(struct machine *m, struct value *v, unsigned level, unsigned nest,
			struct value **ret);

/* Puts the element in front of *RET, the expression that builds what follows it. */
/* NOLINTNEXTLINE(misc-no-recursion): limits.depth */
static int prepend_quasi(struct machine *m, struct value *element, unsigned level, unsigned nest,
			 struct value **ret)
{
	struct value *expr = NULL;
	int r;

	if (is_call(element, "unquote-splicing") && level == 1) {
		*ret = machine_form(m, m->core.append, element->cdr->car, *ret);
		return *ret ? 0 : machine_no_memory(m);
	}
	r = expand_quasi(m, element, level, nest + 1, &expr);
	if (r < 0)
		return r;
	*ret = machine_form(m, m->core.cons, expr, *ret);
	return *ret ? 0 : machine_no_memory(m);
}

/* NOLINTNEXTLINE(misc-no-recursion): NEST_MAX */
static int expand_vector(struct machine *m, const struct value *v, unsigned level, unsigned nest,
			 struct value **ret)
{
	struct value *list = machine_list(m, v->items, v->n_items);
	int r = list ? expand_quasi(m, list, level, nest + 1, &list) : machine_no_memory(m);

	if (r < 0)
		return r;
	*ret = machine_form(m, m->core.list_to_vector, list, NULL);
	return *ret ? 0 : machine_no_memory(m);
}

/* The expression that builds V. LEVEL counts enclosing quasiquotes. */
/* NOLINTNEXTLINE(misc-no-recursion): limits.depth */
static int expand_quasi(struct machine *m, struct value *v, unsigned level, unsigned nest,
			struct value **ret)
{
	struct value **elements = NULL;
	size_t n = 0, cap = 0;
	int r = machine_charge(m, 1);

	if (r < 0)
		return r;
	if (nest > NEST_MAX)
		return machine_limit(m, "quasiquote nested deeper than %d levels", NEST_MAX);
	if (is_call(v, "unquote") && level == 1) {
		*ret = v->cdr->car;
		return 0;
	}
	if (is_type(v, VALUE_VECTOR))
		return expand_vector(m, v, level, nest, ret);
	if (is_call(v, "quasiquote"))
		level++;
	else if (is_call(v, "unquote"))
		level--;
	for (; is_type(v, VALUE_PAIR) && !(n && is_call(v, "unquote")); v = v->cdr) {
		elements = arena_grow(m->arena, elements, n, &cap, sizeof(struct value *));
		if (!elements)
			return machine_no_memory(m);
		elements[n++] = v->car;
	}
	if (n && is_type(v, VALUE_PAIR)) {
		r = expand_quasi(m, v, level, nest + 1, ret);
	} else {
		*ret = machine_form(m, m->core.quote, v, NULL);
		r = *ret ? 0 : machine_no_memory(m);
	}
	while (n > 0 && r == 0)
		r = prepend_quasi(m, elements[--n], level, nest, ret);
	return r;
}

int syntax_quasiquote(struct machine *m, struct value *form, struct scope *scope)
{
	struct value *expr = NULL;
	int r = expand_quasi(m, form->cdr->car, 1, 0, &expr);

	return r < 0 ? r : machine_eval(m, expr, scope);
}
