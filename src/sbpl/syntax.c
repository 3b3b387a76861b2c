/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The special forms. A form either answers at once, continues in its last
 * part, or pushes a frame that goes on when the part's value is there. Forms
 * that are abbreviations rewrite themselves and continue in the result.
 */
#include "sbpl/machine.h"

#include "base/banned.h"

static struct value *operand(const struct value *form, size_t i)
{
	for (form = form->cdr; i > 0; i--)
		form = form->cdr;
	return form->car;
}

static int push(struct machine *m, resume_function *resume, struct value *form, struct value *rest,
		struct scope *scope, void *data)
{
	return machine_push(m, (struct frame){.resume = resume,
					      .form = form,
					      .rest = rest,
					      .scope = scope,
					      .base = m->n_operands,
					      .data = data});
}

/* Evaluates EXPR and hands its value to RESUME. */
static int eval_then(struct machine *m, struct value *expr, resume_function *resume,
		     struct value *form, struct value *rest, struct scope *scope, void *data)
{
	int r = push(m, resume, form, rest, scope, data);

	return r < 0 ? r : machine_eval(m, expr, scope);
}

static int bad_syntax(struct machine *m, const struct value *form)
{
	struct str name = is_type(form->car, VALUE_SYMBOL) ? form->car->symbol->name
							   : str_of(form->car->syntax->name);

	return machine_fail_at(m, form, "syntax error in %.*s", (int)name.n, name.p);
}

/* ---- Constants and choices ---- */

static int do_quote(struct machine *m, struct value *form, struct scope *scope)
{
	(void)scope;
	return machine_give(m, operand(form, 0));
}

static int resume_if(struct machine *m, const struct frame *frame, struct value *value)
{
	struct value *branches = frame->rest;

	if (!is_true(value))
		branches = branches->cdr;
	if (!is_type(branches, VALUE_PAIR))
		return machine_give(m, m->nil);
	return machine_eval(m, branches->car, frame->scope);
}

static int do_if(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_then(m, operand(form, 0), resume_if, form, form->cdr->cdr, scope, NULL);
}

static int resume_when(struct machine *m, const struct frame *frame, struct value *value)
{
	if (!is_true(value))
		return machine_give(m, m->nil);
	return machine_eval_body(m, frame->rest, frame->scope);
}

static int do_when(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_then(m, operand(form, 0), resume_when, form, form->cdr->cdr, scope, NULL);
}

static int resume_unless(struct machine *m, const struct frame *frame, struct value *value)
{
	return resume_when(m, frame, is_true(value) ? m->no : m->yes);
}

static int do_unless(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_then(m, operand(form, 0), resume_unless, form, form->cdr->cdr, scope, NULL);
}

static int go_and(struct machine *m, struct value *rest, struct scope *scope);
static int go_or(struct machine *m, struct value *rest, struct scope *scope);

static int resume_and(struct machine *m, const struct frame *frame, struct value *value)
{
	return is_true(value) ? go_and(m, frame->rest, frame->scope) : machine_give(m, value);
}

static int resume_or(struct machine *m, const struct frame *frame, struct value *value)
{
	return is_true(value) ? machine_give(m, value) : go_or(m, frame->rest, frame->scope);
}

static int go_and(struct machine *m, struct value *rest, struct scope *scope)
{
	if (is_type(rest->cdr, VALUE_NIL))
		return machine_eval(m, rest->car, scope);
	return eval_then(m, rest->car, resume_and, NULL, rest->cdr, scope, NULL);
}

static int go_or(struct machine *m, struct value *rest, struct scope *scope)
{
	if (is_type(rest->cdr, VALUE_NIL))
		return machine_eval(m, rest->car, scope);
	return eval_then(m, rest->car, resume_or, NULL, rest->cdr, scope, NULL);
}

static int do_and(struct machine *m, struct value *form, struct scope *scope)
{
	return is_type(form->cdr, VALUE_NIL) ? machine_give(m, m->yes)
					     : go_and(m, form->cdr, scope);
}

static int do_or(struct machine *m, struct value *form, struct scope *scope)
{
	return is_type(form->cdr, VALUE_NIL) ? machine_give(m, m->no) : go_or(m, form->cdr, scope);
}

static int go_cond(struct machine *m, struct value *form, struct value *clauses,
		   struct scope *scope);

/* VALUE of the first clause's test. */
static int resume_cond(struct machine *m, const struct frame *frame, struct value *value)
{
	struct value *body = frame->rest->car->cdr;

	if (!is_true(value))
		return go_cond(m, frame->form, frame->rest->cdr, frame->scope);
	if (is_type(body, VALUE_NIL))
		return machine_give(m, value);
	if (is_type(body, VALUE_PAIR) && value_is_named(body->car, "=>") &&
	    is_type(body->cdr, VALUE_PAIR)) {
		struct value *quoted = machine_form(m, m->core.quote, value, NULL);
		struct value *expr = quoted ? machine_form(m, body->cdr->car, quoted, NULL) : NULL;

		return expr ? machine_eval(m, expr, frame->scope) : machine_no_memory(m);
	}
	return machine_eval_body(m, body, frame->scope);
}

static int go_cond(struct machine *m, struct value *form, struct value *clauses,
		   struct scope *scope)
{
	if (is_type(clauses, VALUE_NIL))
		return machine_give(m, m->nil);
	if (!is_type(clauses->car, VALUE_PAIR))
		return bad_syntax(m, form);
	if (value_is_named(clauses->car->car, "else"))
		return machine_eval_body(m, clauses->car->cdr, scope);
	return eval_then(m, clauses->car->car, resume_cond, form, clauses, scope, NULL);
}

static int do_cond(struct machine *m, struct value *form, struct scope *scope)
{
	return go_cond(m, form, form->cdr, scope);
}

static int resume_case(struct machine *m, const struct frame *frame, struct value *value)
{
	for (struct value *c = frame->rest; is_type(c, VALUE_PAIR); c = c->cdr) {
		struct value *keys = is_type(c->car, VALUE_PAIR) ? c->car->car : NULL;
		int r = 0;

		if (!keys)
			return bad_syntax(m, frame->form);
		if (value_is_named(keys, "else"))
			return machine_eval_body(m, c->car->cdr, frame->scope);
		for (; r == 0 && is_type(keys, VALUE_PAIR); keys = keys->cdr) {
			if (value_eqv(keys->car, value))
				return machine_eval_body(m, c->car->cdr, frame->scope);
			r = machine_charge(m, 1);
		}
		if (r < 0)
			return r;
	}
	return machine_give(m, m->nil);
}

static int do_case(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_then(m, operand(form, 0), resume_case, form, form->cdr->cdr, scope, NULL);
}

static int do_begin(struct machine *m, struct value *form, struct scope *scope)
{
	return machine_eval_body(m, form->cdr, scope);
}

/* ---- Procedures and definitions ---- */

/* Looking through a list, as what follows does, costs steps. */
static int charge_length(struct machine *m, const struct value *list)
{
	size_t n = 0;

	for (; is_type(list, VALUE_PAIR); list = list->cdr)
		n++;
	return machine_charge(m, n);
}

/* A list of symbols, perhaps with a symbol as its tail. */
static bool are_parameters(const struct value *v)
{
	for (; is_type(v, VALUE_PAIR); v = v->cdr) {
		if (!is_type(v->car, VALUE_SYMBOL))
			return false;
	}
	return is_type(v, VALUE_NIL) || is_type(v, VALUE_SYMBOL);
}

static struct value *new_closure(struct machine *m, enum value_type type, struct value *parameters,
				 struct value *body, struct scope *scope, struct symbol *name)
{
	struct value *v = machine_new(m, type);

	if (v)
		v->closure = closure_new(m, parameters, body, scope, name);
	return v && v->closure ? v : NULL;
}

static int do_lambda(struct machine *m, struct value *form, struct scope *scope)
{
	int r = charge_length(m, operand(form, 0));

	if (r < 0)
		return r;
	if (!are_parameters(operand(form, 0)))
		return bad_syntax(m, form);
	return machine_give(
		m, new_closure(m, VALUE_CLOSURE, operand(form, 0), form->cdr->cdr, scope, NULL));
}

static int resume_define(struct machine *m, const struct frame *frame, struct value *value)
{
	int r = scope_define(m, frame->scope, frame->rest->symbol, value);

	return r < 0 ? r : machine_give(m, m->nothing);
}

static int define_procedure(struct machine *m, enum value_type type, struct value *form,
			    struct scope *scope)
{
	struct value *head = operand(form, 0);
	struct value *procedure;
	int r = charge_length(m, head);

	if (r < 0)
		return r;
	if (!is_type(head->car, VALUE_SYMBOL) || !are_parameters(head->cdr))
		return bad_syntax(m, form);
	procedure = new_closure(m, type, head->cdr, form->cdr->cdr, scope, head->car->symbol);
	r = procedure ? scope_define(m, scope, head->car->symbol, procedure) : machine_no_memory(m);
	return r < 0 ? r : machine_give(m, m->nothing);
}

static int do_define(struct machine *m, struct value *form, struct scope *scope)
{
	struct value *name = operand(form, 0);

	if (is_type(name, VALUE_PAIR))
		return define_procedure(m, VALUE_CLOSURE, form, scope);
	if (!is_type(name, VALUE_SYMBOL) || !is_type(form->cdr->cdr, VALUE_PAIR))
		return bad_syntax(m, form);
	/* TinyScheme ignores what follows the first expression, and profiles that Apple ships do
	 * that. */
	return eval_then(m, operand(form, 1), resume_define, form, name, scope, NULL);
}

static int do_define_once(struct machine *m, struct value *form, struct scope *scope)
{
	struct value *name = operand(form, 0);
	struct value **place;
	int r;

	if (is_type(name, VALUE_PAIR))
		name = name->car;
	if (!is_type(name, VALUE_SYMBOL))
		return bad_syntax(m, form);
	r = scope_find(m, scope, name->symbol, &place);
	if (r < 0)
		return r;
	return place ? machine_give(m, m->nothing) : do_define(m, form, scope);
}

static int resume_set(struct machine *m, const struct frame *frame, struct value *value)
{
	struct value **place;
	int r = scope_find(m, frame->scope, frame->rest->symbol, &place);

	if (r < 0)
		return r;
	if (!place)
		return machine_unbound(m, frame->rest, frame->scope);
	*place = value;
	return machine_give(m, m->nothing);
}

static int do_set(struct machine *m, struct value *form, struct scope *scope)
{
	if (!is_type(operand(form, 0), VALUE_SYMBOL))
		return bad_syntax(m, form);
	return eval_then(m, operand(form, 1), resume_set, form, operand(form, 0), scope, NULL);
}

static int resume_define_macro(struct machine *m, const struct frame *frame, struct value *value)
{
	struct value *macro = machine_new(m, VALUE_MACRO);
	int r;

	if (!is_type(value, VALUE_CLOSURE))
		return bad_syntax(m, frame->form);
	if (!macro)
		return machine_no_memory(m);
	macro->closure = value->closure;
	r = scope_define(m, frame->scope, frame->rest->symbol, macro);
	return r < 0 ? r : machine_give(m, m->nothing);
}

/* (macro (name form) body...) or (macro name procedure): the procedure gets the whole form. */
static int do_macro(struct machine *m, struct value *form, struct scope *scope)
{
	struct value *name = operand(form, 0);

	if (is_type(name, VALUE_PAIR))
		return define_procedure(m, VALUE_MACRO, form, scope);
	if (!is_type(name, VALUE_SYMBOL) || !is_type(form->cdr->cdr, VALUE_PAIR))
		return bad_syntax(m, form);
	return eval_then(m, operand(form, 1), resume_define_macro, form, name, scope, NULL);
}

/* (define-macro name procedure), or (define-macro (name parameter...) body...), which becomes
 * (macro (name form) (apply (lambda (parameter...) body...) (cdr form))). */
static int do_define_macro(struct machine *m, struct value *form, struct scope *scope)
{
	struct value *head = operand(form, 0), *lambda, *operands, *body, *parameters, *whole;
	struct symbol *fresh = arena_alloc(m->arena, sizeof(*fresh));
	int r = charge_length(m, head);

	if (is_type(head, VALUE_SYMBOL))
		return do_macro(m, form, scope);
	if (r < 0)
		return r;
	if (!is_type(head, VALUE_PAIR) || !is_type(head->car, VALUE_SYMBOL) ||
	    !are_parameters(head->cdr))
		return bad_syntax(m, form);
	if (!fresh)
		return machine_no_memory(m);
	fresh->name = STR("form");
	whole = machine_symbol_value(m, fresh);
	lambda = new_closure(m, VALUE_CLOSURE, head->cdr, form->cdr->cdr, scope, head->car->symbol);
	operands = whole ? machine_form(m, m->core.cdr, whole, NULL) : NULL;
	body = lambda && operands ? machine_form(m, m->core.apply, lambda, operands) : NULL;
	body = body ? machine_cons(m, body, m->nil) : NULL;
	parameters = whole ? machine_cons(m, whole, m->nil) : NULL;
	lambda = body && parameters ? new_closure(m, VALUE_CLOSURE, parameters, body, scope, NULL)
				    : NULL;
	if (!lambda)
		return machine_no_memory(m);
	return resume_define_macro(
		m, &(struct frame){.form = form, .rest = head->car, .scope = scope}, lambda);
}

/* ---- Binding ---- */

/* ((name init) ...): a name alone is not enough. */
static bool are_bindings(const struct value *v)
{
	for (; is_type(v, VALUE_PAIR); v = v->cdr) {
		const struct value *b = v->car;

		if (!is_type(b, VALUE_PAIR) || !is_type(b->car, VALUE_SYMBOL) ||
		    !is_type(b->cdr, VALUE_PAIR))
			return false;
	}
	return is_type(v, VALUE_NIL);
}

/* Part I of each binding: 0 the names, 1 the first expressions. NULL: out of memory. */
static struct value *binding_parts(struct machine *m, const struct value *bindings, size_t i)
{
	struct value *head = m->nil, *last = NULL;

	for (; is_type(bindings, VALUE_PAIR); bindings = bindings->cdr) {
		struct value *part = i ? bindings->car->cdr->car : bindings->car->car;
		struct value *cell = machine_cons(m, part, m->nil);

		if (!cell)
			return NULL;
		if (last)
			last->cdr = cell;
		else
			head = cell;
		last = cell;
	}
	return head;
}

/* (let name ((x init)...) body...): NAME is bound around the procedure, not around the inits. */
static int named_let(struct machine *m, struct value *form, struct scope *scope, struct value *name,
		     struct value *bindings, struct value *body)
{
	struct value *names = binding_parts(m, bindings, 0);
	struct value *inits = binding_parts(m, bindings, 1);
	struct scope *inner = name ? scope_new(m, scope) : scope;
	struct value *procedure, *call;
	int r = 0;

	if (!names || !inits || (name && !inner))
		return machine_no_memory(m);
	procedure = new_closure(m, VALUE_CLOSURE, names, body, inner, name ? name->symbol : NULL);
	call = procedure ? machine_cons(m, procedure, inits) : NULL;
	if (!call)
		return machine_no_memory(m);
	call->source = form->source;
	call->place = form->place;
	if (name)
		r = scope_define(m, inner, name->symbol, procedure);
	return r < 0 ? r : machine_eval(m, call, scope);
}

static int do_let(struct machine *m, struct value *form, struct scope *scope)
{
	struct value *rest = form->cdr, *name = NULL;
	int r;

	if (is_type(rest->car, VALUE_SYMBOL)) {
		name = rest->car;
		rest = rest->cdr;
	}
	if (!is_type(rest, VALUE_PAIR) || !are_bindings(rest->car))
		return bad_syntax(m, form);
	r = charge_length(m, rest->car);
	if (r < 0)
		return r;
	return named_let(m, form, scope, name, rest->car, rest->cdr);
}

/*
 * let* and letrec: the expressions are evaluated in the scope that is being filled, as TinyScheme
 * does, so that procedures of a let* see each other too. DATA is the body.
 */
static int go_bind(struct machine *m, struct value *form, struct value *bindings,
		   struct scope *scope, struct value *body);

static int resume_bind(struct machine *m, const struct frame *frame, struct value *value)
{
	int r = scope_define(m, frame->scope, frame->rest->car->car->symbol, value);

	if (r < 0)
		return r;
	return go_bind(m, frame->form, frame->rest->cdr, frame->scope, frame->data);
}

static int go_bind(struct machine *m, struct value *form, struct value *bindings,
		   struct scope *scope, struct value *body)
{
	if (is_type(bindings, VALUE_NIL))
		return machine_eval_body(m, body, scope);
	return eval_then(m, bindings->car->cdr->car, resume_bind, form, bindings, scope, body);
}

static int do_let_star(struct machine *m, struct value *form, struct scope *scope)
{
	struct value *bindings = operand(form, 0);
	int r = charge_length(m, bindings);

	if (r < 0)
		return r;
	if (!are_bindings(bindings))
		return bad_syntax(m, form);
	scope = scope_new(m, scope);
	return scope ? go_bind(m, form, bindings, scope, form->cdr->cdr) : machine_no_memory(m);
}

static int do_letrec(struct machine *m, struct value *form, struct scope *scope)
{
	struct value *bindings = operand(form, 0);
	int r = charge_length(m, bindings);

	if (r < 0)
		return r;
	if (!are_bindings(bindings))
		return bad_syntax(m, form);
	scope = scope_new(m, scope);
	if (!scope)
		return machine_no_memory(m);
	for (const struct value *b = bindings; is_type(b, VALUE_PAIR) && r == 0; b = b->cdr)
		r = scope_define(m, scope, b->car->car->symbol, NULL);
	return r < 0 ? r : go_bind(m, form, bindings, scope, form->cdr->cdr);
}

/* ---- do ---- */

/* One round of a loop: FORM is the do form, SCOPE holds this round's variables. */
static int go_do(struct machine *m, struct value *form, struct scope *scope);

/* The values of the steps become the next round's variables, all at once. DATA: that scope. */
static int go_do_step(struct machine *m, struct value *form, struct value *bindings,
		      struct scope *scope, struct scope *next);

static int resume_do_step(struct machine *m, const struct frame *frame, struct value *value)
{
	struct scope *next = frame->data;
	int r = scope_define(m, next, frame->rest->car->car->symbol, value);

	if (r < 0)
		return r;
	return go_do_step(m, frame->form, frame->rest->cdr, frame->scope, next);
}

static int go_do_step(struct machine *m, struct value *form, struct value *bindings,
		      struct scope *scope, struct scope *next)
{
	struct value *binding, *step;

	if (is_type(bindings, VALUE_NIL))
		return go_do(m, form, next);
	binding = bindings->car;
	step = is_type(binding->cdr->cdr, VALUE_PAIR) ? binding->cdr->cdr->car : binding->car;
	return eval_then(m, step, resume_do_step, form, bindings, scope, next);
}

static int resume_do_body(struct machine *m, const struct frame *frame, struct value *value)
{
	struct scope *next = scope_new(m, frame->scope->outer);

	(void)value;
	if (!next)
		return machine_no_memory(m);
	return go_do_step(m, frame->form, operand(frame->form, 0), frame->scope, next);
}

static int resume_do_test(struct machine *m, const struct frame *frame, struct value *value)
{
	struct value *form = frame->form;
	int r;

	if (is_true(value))
		return machine_eval_body(m, operand(form, 1)->cdr, frame->scope);
	r = push(m, resume_do_body, form, NULL, frame->scope, NULL);
	return r < 0 ? r : machine_eval_body(m, form->cdr->cdr->cdr, frame->scope);
}

static int go_do(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_then(m, operand(form, 1)->car, resume_do_test, form, NULL, scope, NULL);
}

/* DATA is the scope being filled; the inits are evaluated outside it. */
static int go_do_init(struct machine *m, struct value *form, struct value *bindings,
		      struct scope *scope, struct scope *inner);

static int resume_do_init(struct machine *m, const struct frame *frame, struct value *value)
{
	int r = scope_define(m, frame->data, frame->rest->car->car->symbol, value);

	if (r < 0)
		return r;
	return go_do_init(m, frame->form, frame->rest->cdr, frame->scope, frame->data);
}

static int go_do_init(struct machine *m, struct value *form, struct value *bindings,
		      struct scope *scope, struct scope *inner)
{
	if (is_type(bindings, VALUE_NIL))
		return go_do(m, form, inner);
	return eval_then(m, bindings->car->cdr->car, resume_do_init, form, bindings, scope, inner);
}

static int do_do(struct machine *m, struct value *form, struct scope *scope)
{
	struct scope *inner = scope_new(m, scope);
	int r = charge_length(m, operand(form, 0));

	if (r < 0)
		return r;
	if (!are_bindings(operand(form, 0)) || !is_type(operand(form, 1), VALUE_PAIR))
		return bad_syntax(m, form);
	if (!inner)
		return machine_no_memory(m);
	return go_do_init(m, form, operand(form, 0), scope, inner);
}

/* ---- Promises ---- */

static struct value *new_promise(struct machine *m, struct value *expr, struct scope *scope)
{
	struct value *v = machine_new(m, VALUE_PROMISE);

	if (!v)
		return NULL;
	v->promise = arena_alloc(m->arena, sizeof(*v->promise));
	if (!v->promise)
		return NULL;
	*v->promise = (struct promise){expr, scope, NULL};
	return v;
}

static int do_delay(struct machine *m, struct value *form, struct scope *scope)
{
	return machine_give(m, new_promise(m, operand(form, 0), scope));
}

static int resume_cons_stream(struct machine *m, const struct frame *frame, struct value *value)
{
	struct value *rest = new_promise(m, frame->rest, frame->scope);

	return machine_give(m, rest ? machine_cons(m, value, rest) : NULL);
}

static int do_cons_stream(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_then(m, operand(form, 0), resume_cons_stream, form, operand(form, 1), scope,
			 NULL);
}

/* ---- The table ---- */

int syntax_bind(struct machine *m)
{
	static const struct syntax table[] = {
		{"quote", do_quote, 1, 1},
		{"quasiquote", syntax_quasiquote, 1, 1},
		{"if", do_if, 2, 3},
		{"when", do_when, 1, ANY_NUMBER},
		{"unless", do_unless, 1, ANY_NUMBER},
		{"and", do_and, 0, ANY_NUMBER},
		{"or", do_or, 0, ANY_NUMBER},
		{"cond", do_cond, 0, ANY_NUMBER},
		{"case", do_case, 1, ANY_NUMBER},
		{"begin", do_begin, 0, ANY_NUMBER},
		{"lambda", do_lambda, 1, ANY_NUMBER},
		{"define", do_define, 1, ANY_NUMBER},
		{"define-once", do_define_once, 1, ANY_NUMBER},
		{"set!", do_set, 2, 2},
		{"macro", do_macro, 1, ANY_NUMBER},
		{"define-macro", do_define_macro, 2, ANY_NUMBER},
		{"let", do_let, 1, ANY_NUMBER},
		{"let*", do_let_star, 1, ANY_NUMBER},
		{"letrec", do_letrec, 1, ANY_NUMBER},
		{"do", do_do, 2, ANY_NUMBER},
		{"delay", do_delay, 1, 1},
		{"cons-stream", do_cons_stream, 2, 2},
	};

	return machine_bind_syntax(m, table, sizeof(table) / sizeof(table[0]));
}
