/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluation loop, its two stacks, and what every builtin needs. */
#include "sbpl/machine.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/near.h"

#include "base/banned.h"

/* ---- Errors and bounds ---- */

struct span machine_span(const struct machine *m, const struct value *v)
{
	if (!v || v->place.line == 0)
		return (struct span){0};
	return (struct span){m->sources[v->source].name, v->place.line, v->place.column};
}

__attribute__((format(printf, 4, 0))) static int
fail(struct machine *m, enum err_code code, const struct value *at, const char *format, va_list ap)
{
	struct span span = machine_span(m, machine_span(m, at).line ? at : m->at);
	char text[sizeof(m->err.text)];

	(void)vsnprintf(text, sizeof(text), format, ap);
	return err_at(&m->err, code, span, "%s", text);
}

int machine_fail(struct machine *m, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = fail(m, ERR_POLICY, m->at, format, ap);
	va_end(ap);
	return r;
}

int machine_fail_at(struct machine *m, const struct value *at, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = fail(m, ERR_POLICY, at->place.line ? at : m->at, format, ap);
	va_end(ap);
	return r;
}

int machine_limit(struct machine *m, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = fail(m, ERR_LIMIT, m->at, format, ap);
	va_end(ap);
	return r;
}

int machine_no_memory(struct machine *m)
{
	return machine_limit(m, "the profile needs more than %zu bytes of memory",
			     m->limits.memory);
}

int machine_wrong_type(struct machine *m, const char *want, const struct value *got)
{
	const char *who = m->running ? m->running->name : "";
	int r = machine_fail(m, "%s%sexpected %s, got %s", who, *who ? ": " : "", want,
			     value_type_name(got));

	machine_hint(m, got);
	return r;
}

void machine_hint(struct machine *m, const struct value *got)
{
	if (got == m->no)
		(void)err_hint(&m->err, "a parameter that no -D sets is #f");
}

void machine_look_at(struct machine *m, struct value *v)
{
	if (v && v->place.line)
		m->at = v;
}

int machine_charge(struct machine *m, size_t steps)
{
	if (steps > m->limits.steps || m->steps > m->limits.steps - steps)
		return machine_limit(m, "the profile takes more than %u steps", m->limits.steps);
	m->steps += (unsigned)steps;
	return 0;
}

/* ---- Answers ---- */

int machine_give(struct machine *m, struct value *v)
{
	if (!v)
		return machine_no_memory(m);
	m->value = v;
	m->mode = MODE_RETURN;
	return 0;
}

int machine_give_bool(struct machine *m, bool b)
{
	return machine_give(m, b ? m->yes : m->no);
}

int machine_give_integer(struct machine *m, int64_t number)
{
	return machine_give(m, machine_integer(m, number));
}

int machine_eval(struct machine *m, struct value *expr, struct scope *scope)
{
	m->expr = expr;
	m->scope = scope;
	m->mode = MODE_EVAL;
	return 0;
}

int machine_push(struct machine *m, struct frame frame)
{
	struct frame *frames;

	if (m->n_frames >= m->limits.depth)
		return machine_limit(m, "evaluation nested deeper than %u levels", m->limits.depth);
	frames = arena_grow(m->arena, m->frames, m->n_frames, &m->cap_frames, sizeof(*frames));
	if (!frames)
		return machine_no_memory(m);
	m->frames = frames;
	m->frames[m->n_frames++] = frame;
	return 0;
}

static int push_operand(struct machine *m, struct value *v)
{
	struct value **operands =
		arena_grow(m->arena, m->operands, m->n_operands, &m->cap_operands, sizeof(v));

	if (!operands)
		return machine_no_memory(m);
	m->operands = operands;
	m->operands[m->n_operands++] = v;
	return 0;
}

int machine_apply(struct machine *m, struct value *callee, struct value **args, size_t n)
{
	size_t base = m->n_operands;
	int r = push_operand(m, callee);

	for (size_t i = 0; i < n && r == 0; i++)
		r = push_operand(m, args[i]);
	m->base = base;
	m->mode = MODE_APPLY;
	return r == 0 ? machine_charge(m, n) : r;
}

void machine_drop_frames(struct machine *m, size_t n)
{
	m->n_operands = m->frames[n].base;
	m->n_frames = n;
}

const struct frame *machine_handler(const struct machine *m)
{
	size_t i = m->n_frames;

	while (i > 0 && m->frames[i - 1].kind == FRAME_PLAIN)
		i--;
	return i > 0 && m->frames[i - 1].kind == FRAME_HANDLER ? &m->frames[i - 1] : NULL;
}

bool machine_catch(struct machine *m)
{
	const struct frame *found = machine_handler(m);
	struct frame handler;

	if (!found)
		return false;
	handler = *found;
	machine_drop_frames(m, (size_t)(found - m->frames));
	m->context = handler.data;
	m->running = NULL;
	m->moved(m);
	return machine_eval(m, handler.rest->car, handler.scope) == 0;
}

static int resume_body(struct machine *m, const struct frame *frame, struct value *value)
{
	int r = m->discarded(m, frame->form, value);

	return r < 0 ? r : machine_eval_body(m, frame->rest, frame->scope);
}

int machine_eval_body(struct machine *m, struct value *body, struct scope *scope)
{
	int r;

	if (!is_type(body, VALUE_PAIR))
		return machine_give(m, m->nothing);
	if (is_type(body->cdr, VALUE_PAIR)) {
		r = machine_push(m, (struct frame){.resume = resume_body,
						   .form = body->car,
						   .rest = body->cdr,
						   .scope = scope,
						   .base = m->n_operands});
		if (r < 0)
			return r;
	}
	return machine_eval(m, body->car, scope);
}

/* ---- Code ---- */

static struct value *freeze(struct machine *m, struct value *v, unsigned nest);

/* A copy of the pair V with a frozen first element. NULL: the error is set. */
/* NOLINTNEXTLINE(misc-no-recursion): NEST_MAX */
static struct value *freeze_pair(struct machine *m, const struct value *v, unsigned nest)
{
	struct value *car = freeze(m, v->car, nest + 1);
	struct value *copy = car ? machine_cons(m, car, v->cdr) : NULL;

	if (!car || machine_charge(m, 1) < 0)
		return NULL;
	if (!copy) {
		(void)machine_no_memory(m);
		return NULL;
	}
	copy->is_mutable = false;
	copy->source = v->source;
	copy->place = v->place;
	return copy;
}

/* NOLINTNEXTLINE(misc-no-recursion): NEST_MAX */
static struct value *freeze(struct machine *m, struct value *v, unsigned nest)
{
	struct value *head = NULL, *last = NULL;

	if (nest > NEST_MAX) {
		(void)machine_limit(m, "code nested deeper than %d levels", NEST_MAX);
		return NULL;
	}
	for (; is_type(v, VALUE_PAIR) && v->is_mutable; v = v->cdr) {
		struct value *copy = freeze_pair(m, v, nest);

		if (!copy)
			return NULL;
		if (last)
			last->cdr = copy;
		else
			head = copy;
		last = copy;
	}
	if (!last)
		return v;
	last->cdr = v;
	return head;
}

int machine_freeze(struct machine *m, struct value *v, struct value **ret)
{
	*ret = freeze(m, v, 0);
	return *ret ? 0 : -(int)m->err.code;
}

/* ---- Application ---- */

struct closure *closure_new(struct machine *m, struct value *parameters, struct value *body,
			    struct scope *scope, struct symbol *name)
{
	struct closure *closure = arena_alloc(m->arena, sizeof(*closure));

	if (closure)
		*closure = (struct closure){parameters, body, scope, name};
	return closure;
}

static int wrong_count(struct machine *m, const char *name, const char *what)
{
	return machine_fail(m, "%s%s%s arguments", name, *name ? ": " : "", what);
}

static int apply_closure(struct machine *m, const struct closure *closure, struct value **args,
			 size_t n)
{
	struct scope *scope = scope_new(m, closure->scope);
	struct value *p = closure->parameters;
	char name[64] = "";
	int r = scope ? 0 : machine_no_memory(m);

	if (closure->name)
		(void)snprintf(name, sizeof(name), "%.*s", (int)closure->name->name.n,
			       closure->name->name.p);
	for (; r == 0 && is_type(p, VALUE_PAIR); p = p->cdr, args++, n--) {
		if (n == 0)
			return wrong_count(m, name, "not enough");
		r = scope_define(m, scope, p->car->symbol, *args);
	}
	if (r == 0 && is_type(p, VALUE_SYMBOL)) {
		struct value *rest = machine_list(m, args, n);

		r = rest ? scope_define(m, scope, p->symbol, rest) : machine_no_memory(m);
	} else if (r == 0 && n > 0) {
		return wrong_count(m, name, "too many");
	}
	return r < 0 ? r : machine_eval_body(m, closure->body, scope);
}

static int apply_builtin(struct machine *m, const struct builtin *builtin, struct value **args,
			 size_t n)
{
	int r;

	if (n < builtin->min)
		return wrong_count(m, builtin->name, "not enough");
	if (builtin->max != ANY_NUMBER && n > builtin->max)
		return wrong_count(m, builtin->name, "too many");
	m->running = builtin;
	r = builtin->function(m, args, n);
	m->running = NULL;
	return r;
}

/* The arguments lie on the stack that is replaced: the value is taken first. */
static int apply_continuation(struct machine *m, const struct continuation *c, struct value **args,
			      size_t n)
{
	struct value *value = n ? args[0] : m->nil;

	if (n > 1)
		return wrong_count(m, "continuation", "too many");
	/* Both stacks were at least this high once, and never shrink. */
	if (c->n_frames)
		memcpy(m->frames, c->frames, c->n_frames * sizeof(*c->frames));
	if (c->n_operands)
		memcpy(m->operands, c->operands, c->n_operands * sizeof(*c->operands));
	m->n_frames = c->n_frames;
	m->n_operands = c->n_operands;
	m->context = c->context;
	m->moved(m);
	return machine_give(m, value);
}

/* The operands leave the stack; their memory is not reused before the callee answers. */
static int apply(struct machine *m)
{
	struct value *callee = m->operands[m->base];
	struct value **args = &m->operands[m->base + 1];
	size_t n = m->n_operands - m->base - 1;

	m->n_operands = m->base;
	switch ((enum value_type)callee->type) {
	case VALUE_BUILTIN:
		return apply_builtin(m, callee->builtin, args, n);
	case VALUE_CLOSURE:
		return apply_closure(m, callee->closure, args, n);
	case VALUE_CONTINUATION:
		return apply_continuation(m, callee->continuation, args, n);
	case VALUE_FILTER_FORM:
	case VALUE_CONSTANT:
		return m->make_filter(m, callee, args, n);
	default:
		return machine_fail(m, "illegal function: %s", value_type_name(callee));
	}
}

/* ---- Evaluation ---- */

static int resume_operand(struct machine *m, const struct frame *frame, struct value *value);

/* REST is the expression just evaluated and those after it; its value has been pushed. */
static int next_operand(struct machine *m, const struct frame *frame)
{
	struct frame next = *frame;
	int r;

	next.rest = frame->rest->cdr;
	if (is_type(next.rest, VALUE_PAIR)) {
		r = machine_push(m, next);
		return r < 0 ? r : machine_eval(m, next.rest->car, next.scope);
	}
	machine_look_at(m, frame->form);
	if (!is_type(next.rest, VALUE_NIL))
		return machine_fail(m, "syntax error: dotted argument list");
	m->base = frame->base;
	m->scope = frame->scope;
	m->mode = MODE_APPLY;
	return 0;
}

static int resume_operand(struct machine *m, const struct frame *frame, struct value *value)
{
	int r = push_operand(m, value);

	return r < 0 ? r : next_operand(m, frame);
}

static int resume_expansion(struct machine *m, const struct frame *frame, struct value *value)
{
	struct value *code = NULL;
	int r;

	machine_look_at(m, frame->form);
	r = machine_freeze(m, value, &code);
	return r < 0 ? r : machine_eval(m, code, frame->scope);
}

static int expand_macro(struct machine *m, struct value *macro, struct value *form,
			struct scope *scope)
{
	int r = machine_push(m, (struct frame){.resume = resume_expansion,
					       .form = form,
					       .scope = scope,
					       .base = m->n_operands});

	return r < 0 ? r : apply_closure(m, macro->closure, &form, 1);
}

static int eval_syntax(struct machine *m, const struct syntax *syntax, struct value *form,
		       struct scope *scope)
{
	const struct value *v = form->cdr;
	size_t n = 0;
	int r = 0;

	for (; is_type(v, VALUE_PAIR) && r == 0; v = v->cdr, n++)
		r = machine_charge(m, 1);
	if (r < 0)
		return r;
	if (!is_type(v, VALUE_NIL) || n < syntax->min ||
	    (syntax->max != ANY_NUMBER && n > syntax->max))
		return machine_fail(m, "syntax error in %s", syntax->name);
	return syntax->function(m, form, scope);
}

int machine_unbound(struct machine *m, const struct value *name, struct scope *scope)
{
	struct buf text = {.max = 200};
	int r;

	buf_add_escaped(&text, name->symbol->name);
	r = machine_fail_at(m, name, "unbound variable: %s", buf_str(&text).p);
	buf_release(&text);
	m->unbound = name->symbol;
	m->unbound_scope = scope;
	return r;
}

static int look_up(struct machine *m, const struct value *name, struct scope *scope,
		   struct value **ret)
{
	struct value **place;
	int r = scope_find(m, scope, name->symbol, &place);

	if (r < 0)
		return r;
	if (!place || !*place)
		return machine_unbound(m, name, scope);
	*ret = *place;
	return 0;
}

/* The name that was meant, as far as the comparisons that are left find it. */
struct guess {
	struct machine *m;
	struct near near;
	struct str best;
};

static void try_symbol(struct guess *guess, const struct symbol *symbol)
{
	struct str word = guess->near.word, name = symbol->name;
	size_t more = name.n > word.n ? name.n - word.n : word.n - name.n;
	size_t cost = more * 3 > word.n ? 1 : (word.n + 1) * (name.n + 1);

	if (cost > guess->m->comparisons)
		cost = guess->m->comparisons;
	else if (cost > 1 && near_try_str(&guess->near, name))
		guess->best = name;
	guess->m->comparisons -= cost;
}

void machine_hint_name(struct machine *m)
{
	struct guess guess = {.m = m};

	if (!m->unbound || m->err.hint[0])
		return;
	if (m->unbound->later) {
		(void)err_hint(&m->err, "(version 1) comes before everything else");
		return;
	}
	if (str_starts(m->unbound->name, STR("\xef\xbb\xbf"))) {
		(void)err_hint(&m->err, "a byte order mark is a part of the text: take it away");
		return;
	}
	guess.near.word = m->unbound->name;
	for (const struct scope *scope = m->unbound_scope; scope; scope = scope->outer)
		for (const struct binding *b = scope->first; b && m->comparisons > 0; b = b->next)
			try_symbol(&guess, b->symbol);
	for (size_t i = 0; i < SYMBOL_BUCKETS; i++)
		for (const struct symbol *s = m->symbols[i]; s && m->comparisons > 0; s = s->next)
			if (s->global)
				try_symbol(&guess, s);
	if (guess.best.n > 0)
		(void)err_hint(&m->err, "did you mean '%.*s'?", (int)guess.best.n, guess.best.p);
}

static int eval_form(struct machine *m, struct value *form, struct scope *scope)
{
	struct frame frame = {.resume = resume_operand,
			      .form = form,
			      .rest = form,
			      .scope = scope,
			      .base = m->n_operands};
	struct value *head;
	int r;

	machine_look_at(m, form);
	if (is_type(form->car, VALUE_PAIR)) {
		r = machine_push(m, frame);
		return r < 0 ? r : machine_eval(m, form->car, scope);
	}
	head = form->car;
	r = is_type(head, VALUE_SYMBOL) ? look_up(m, form->car, scope, &head) : 0;
	if (r < 0)
		return r;
	if (is_type(head, VALUE_SYNTAX))
		return eval_syntax(m, head->syntax, form, scope);
	if (is_type(head, VALUE_MACRO))
		return expand_macro(m, head, form, scope);
	r = push_operand(m, head);
	return r < 0 ? r : next_operand(m, &frame);
}

static int eval(struct machine *m)
{
	struct value *v = NULL;
	int r;

	switch ((enum value_type)m->expr->type) {
	case VALUE_PAIR:
		return eval_form(m, m->expr, m->scope);
	case VALUE_SYMBOL:
		r = look_up(m, m->expr, m->scope, &v);
		return r < 0 ? r : machine_give(m, v);
	default:
		return machine_give(m, m->expr);
	}
}

int machine_run(struct machine *m)
{
	struct frame frame;
	int r = 0;

	m->unbound = NULL;
	while (r == 0) {
		r = machine_charge(m, 1);
		if (r < 0)
			return r;
		switch (m->mode) {
		case MODE_EVAL:
			r = eval(m);
			break;
		case MODE_APPLY:
			r = apply(m);
			break;
		case MODE_RETURN:
			if (m->n_frames == 0)
				return 0;
			frame = m->frames[--m->n_frames];
			r = frame.resume(m, &frame, m->value);
			break;
		}
	}
	return r;
}

/* ---- Setting up ---- */

int machine_add_source(struct machine *m, struct text_source source)
{
	struct text_source *sources =
		arena_grow(m->arena, m->sources, m->n_sources, &m->cap_sources, sizeof(*sources));

	if (!sources)
		return machine_no_memory(m);
	m->sources = sources;
	if (source.text.n > UINT32_MAX - 1 || m->n_sources >= SOURCE_MASK)
		return machine_limit(m, "more than %u bytes or files of text", UINT32_MAX - 1);
	m->sources[m->n_sources] = source;
	return (int)m->n_sources++;
}

static struct value *new_bool(struct machine *m, bool b)
{
	struct value *v = machine_new(m, VALUE_BOOL);

	if (v)
		v->number = b;
	return v;
}

/* What rewritten forms call, whatever the profile does to the names. */
static void bind_core(struct machine *m)
{
	const struct {
		struct str name;
		struct value **value;
	} core[] = {
		{{"quote", 5}, &m->core.quote},   {{"cons", 4}, &m->core.cons},
		{{"append", 6}, &m->core.append}, {{"apply", 5}, &m->core.apply},
		{{"cdr", 3}, &m->core.cdr},       {{"list->vector", 12}, &m->core.list_to_vector},
	};

	for (size_t i = 0; i < sizeof(core) / sizeof(core[0]); i++)
		*core[i].value = machine_intern(m, core[i].name)->global;
}

int machine_init(struct machine *m, struct arena *arena, const struct sbpl_limits *limits)
{
	int r;

	*m = (struct machine){.arena = arena, .limits = *limits, .comparisons = COMPARISONS_MAX};
	m->nil = machine_new(m, VALUE_NIL);
	m->nothing = machine_new(m, VALUE_NOTHING);
	m->eof = machine_new(m, VALUE_EOF);
	m->yes = new_bool(m, true);
	m->no = new_bool(m, false);
	if (!m->nil || !m->nothing || !m->eof || !m->yes || !m->no)
		return machine_no_memory(m);
	r = machine_add_source(m, (struct text_source){0});
	if (r >= 0)
		r = syntax_bind(m);
	if (r == 0)
		r = lists_bind(m);
	if (r == 0)
		r = numbers_bind(m);
	if (r == 0)
		r = strings_bind(m);
	if (r == 0)
		r = control_bind(m);
	if (r == 0)
		r = ports_bind(m);
	if (r == 0)
		bind_core(m);
	return r;
}
