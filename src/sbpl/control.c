/* SPDX-License-Identifier: Apache-2.0 */
/* Scheme procedures that decide what is evaluated next, and in which environment. */
#include "sbpl/machine.h"

#include "base/buf.h"

#include "base/banned.h"

static int do_apply(struct machine *m, struct value **args, size_t n)
{
	struct value **last, **all;
	size_t n_last = 0;
	int r = n > 1 ? machine_items(m, args[n - 1], &last, &n_last) : 0;

	if (r < 0)
		return r;
	all = arena_array(m->arena, n + n_last, sizeof(*all));
	if (!all)
		return machine_no_memory(m);
	for (size_t i = 0; i + 2 < n; i++)
		all[i] = args[i + 1];
	for (size_t i = 0; i < n_last; i++)
		all[n - 2 + i] = last[i];
	return machine_apply(m, args[0], all, n > 1 ? n - 2 + n_last : 0);
}

/* The scope that an optional argument names. */
static int scope_of(struct machine *m, struct value **args, size_t n, size_t i,
		    struct scope *otherwise, struct scope **ret)
{
	*ret = otherwise;
	if (n <= i)
		return 0;
	if (!is_type(args[i], VALUE_ENVIRONMENT))
		return machine_wrong_type(m, "environment", args[i]);
	*ret = args[i]->scope;
	return 0;
}

static int do_eval(struct machine *m, struct value **args, size_t n)
{
	struct value *expr = NULL;
	struct scope *scope;
	int r = scope_of(m, args, n, 1, NULL, &scope);

	if (r == 0)
		r = machine_freeze(m, args[0], &expr);
	return r < 0 ? r : machine_eval(m, expr, scope);
}

static int resume_force(struct machine *m, const struct frame *frame, struct value *value)
{
	struct promise *promise = frame->data;

	if (!promise->value)
		promise->value = value;
	return machine_give(m, promise->value);
}

static int do_force(struct machine *m, struct value **args, size_t n)
{
	struct promise *promise = args[0]->promise;
	int r;

	(void)n;
	if (!is_type(args[0], VALUE_PROMISE))
		return machine_give(m, args[0]);
	if (promise->value)
		return machine_give(m, promise->value);
	r = machine_push(
		m, (struct frame){.resume = resume_force, .base = m->n_operands, .data = promise});
	return r < 0 ? r : machine_eval(m, promise->expr, promise->scope);
}

static int do_is_defined(struct machine *m, struct value **args, size_t n)
{
	struct value **place;
	struct scope *scope;
	int r = scope_of(m, args, n, 1, m->scope, &scope);

	if (r < 0)
		return r;
	if (!is_type(args[0], VALUE_SYMBOL))
		return machine_wrong_type(m, "symbol", args[0]);
	r = scope_find(m, scope, args[0]->symbol, &place);
	return r < 0 ? r : machine_give_bool(m, place && *place);
}

/* The message, then each irritant as `write` shows it. No handler is asked, as with TinyScheme. */
static int do_error(struct machine *m, struct value **args, size_t n)
{
	struct buf text = {.max = sizeof(m->err.text)};
	int r;

	for (size_t i = 0; i < n; i++) {
		buf_puts(&text, i ? " " : "");
		value_print(&text, args[i], i > 0);
	}
	r = machine_fail(m, "%s", buf_str(&text).p);
	buf_release(&text);
	m->is_final = true;
	return r;
}

/* Output has nowhere to go: a front end is pure. */
static int do_nothing(struct machine *m, struct value **args, size_t n)
{
	(void)args;
	(void)n;
	return machine_give(m, m->nothing);
}

/* ---- Continuations ---- */

static int do_call_cc(struct machine *m, struct value **args, size_t n)
{
	struct continuation *c = arena_alloc(m->arena, sizeof(*c));
	struct value *v = machine_new(m, VALUE_CONTINUATION);
	int r = machine_charge(m, (m->n_frames + m->n_operands) / 8);

	(void)n;
	if (r < 0)
		return r;
	if (!c || !v)
		return machine_no_memory(m);
	*c = (struct continuation){
		.n_frames = m->n_frames, .n_operands = m->n_operands, .context = m->context};
	c->frames = arena_array(m->arena, m->n_frames, sizeof(*c->frames));
	c->operands = arena_array(m->arena, m->n_operands, sizeof(*c->operands));
	if (!c->frames || !c->operands)
		return machine_no_memory(m);
	if (c->n_frames)
		memcpy(c->frames, m->frames, c->n_frames * sizeof(*c->frames));
	if (c->n_operands)
		memcpy(c->operands, m->operands, c->n_operands * sizeof(struct value *));
	v->continuation = c;
	return machine_apply(m, args[0], &v, 1);
}

static int resume_catch(struct machine *m, const struct frame *frame, struct value *value)
{
	(void)frame;
	return machine_give(m, value);
}

/* (catch otherwise body...): OTHERWISE is evaluated if something in the body goes wrong. */
static int do_catch(struct machine *m, struct value *form, struct scope *scope)
{
	int r = machine_push(m, (struct frame){.resume = resume_catch,
					       .form = form,
					       .rest = form->cdr,
					       .scope = scope,
					       .base = m->n_operands,
					       .data = m->context,
					       .kind = FRAME_HANDLER});

	return r < 0 ? r : machine_eval_body(m, form->cdr->cdr, scope);
}

/* Without a handler this is an error. */
static int do_throw(struct machine *m, struct value **args, size_t n)
{
	return machine_catch(m) ? 0 : do_error(m, args, n);
}

/* A profile is whole or nothing. */
static int do_quit(struct machine *m, struct value **args, size_t n)
{
	(void)args;
	(void)n;
	m->is_final = true;
	return machine_fail(m, "quit: a profile is evaluated to its end");
}

/* ---- Environments ---- */

static int give_environment(struct machine *m, struct scope *scope)
{
	struct value *v = machine_new(m, VALUE_ENVIRONMENT);

	if (v)
		v->scope = scope;
	return machine_give(m, v);
}

static int do_current_environment(struct machine *m, struct value **args, size_t n)
{
	(void)args;
	(void)n;
	return give_environment(m, m->scope);
}

static int do_global_environment(struct machine *m, struct value **args, size_t n)
{
	(void)args;
	(void)n;
	return give_environment(m, NULL);
}

/* (macro-expand '(name operand ...)): what the macro makes of the form, unevaluated. */
static int do_macro_expand(struct machine *m, struct value **args, size_t n)
{
	const struct value *form = args[0];
	struct value **place = NULL;
	struct value *procedure = machine_new(m, VALUE_CLOSURE);
	int r = 0;

	(void)n;
	if (!procedure)
		return machine_no_memory(m);
	if (is_type(form, VALUE_PAIR) && is_type(form->car, VALUE_SYMBOL))
		r = scope_find(m, m->scope, form->car->symbol, &place);
	if (r < 0)
		return r;
	if (!place || !*place || !is_type(*place, VALUE_MACRO))
		return machine_wrong_type(m, "a macro's form", form);
	procedure->closure = (*place)->closure;
	return machine_apply(m, procedure, args, 1);
}

/* ---- Properties of symbols ---- */

static int find_property(struct machine *m, struct value **args, struct value **ret)
{
	int r = 0;

	*ret = NULL;
	if (!is_type(args[0], VALUE_SYMBOL))
		return machine_wrong_type(m, "symbol", args[0]);
	for (const struct value *p = args[0]->symbol->properties;
	     p && is_type(p, VALUE_PAIR) && r == 0; p = p->cdr) {
		if (value_eqv(p->car->car, args[1])) {
			*ret = p->car;
			return 0;
		}
		r = machine_charge(m, 1);
	}
	return r;
}

static int do_get(struct machine *m, struct value **args, size_t n)
{
	struct value *property;
	int r = find_property(m, args, &property);

	(void)n;
	return r < 0 ? r : machine_give(m, property ? property->cdr : m->nil);
}

static int do_put(struct machine *m, struct value **args, size_t n)
{
	struct value *property, *list;
	int r = find_property(m, args, &property);

	(void)n;
	if (r < 0)
		return r;
	if (!property) {
		list = args[0]->symbol->properties;
		property = machine_cons(m, args[1], args[2]);
		list = property ? machine_cons(m, property, list ? list : m->nil) : NULL;
		if (!list)
			return machine_no_memory(m);
		args[0]->symbol->properties = list;
	}
	property->cdr = args[2];
	return machine_give(m, args[2]);
}

int control_bind(struct machine *m)
{
	static const struct builtin builtins[] = {
		{"apply", do_apply, 1, ANY_NUMBER, 0},
		{"eval", do_eval, 1, 2, 0},
		{"force", do_force, 1, 1, 0},
		{"defined?", do_is_defined, 1, 2, 0},
		{"error", do_error, 1, ANY_NUMBER, 0},
		{"throw", do_throw, 1, ANY_NUMBER, 0},
		{"call/cc", do_call_cc, 1, 1, 0},
		{"call-with-current-continuation", do_call_cc, 1, 1, 0},
		{"quit", do_quit, 0, 1, 0},
		{"exit", do_quit, 0, 1, 0},
		{"current-environment", do_current_environment, 0, 0, 0},
		{"interaction-environment", do_global_environment, 0, 0, 0},
		{"macro-expand", do_macro_expand, 1, 1, 0},
		{"get", do_get, 2, 2, 0},
		{"put", do_put, 3, 3, 0},
		{"display", do_nothing, 1, 2, 0},
		{"write", do_nothing, 1, 2, 0},
		{"newline", do_nothing, 0, 1, 0},
		{"gc", do_nothing, 0, 0, 0},
		{"gc-verbose", do_nothing, 0, 1, 0},
	};
	static const struct syntax syntax[] = {
		{"catch", do_catch, 1, ANY_NUMBER},
	};
	int r = machine_bind_builtins(m, builtins, sizeof(builtins) / sizeof(builtins[0]));

	return r < 0 ? r : machine_bind_syntax(m, syntax, sizeof(syntax) / sizeof(syntax[0]));
}
