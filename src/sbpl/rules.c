/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allow, deny and what surrounds them. A rule's arguments are sorted by what
 * they are, so their order is free; then the forms in force around the rule
 * (with-filter ...) add theirs; then one rule per operation waits in the
 * compiler for the end of the text.
 */
#include "sbpl/profile.h"

#include "base/buf.h"

#include "base/banned.h"

enum {
	RULE_TEXT_MAX = 200
};

/* ---- Modifiers ---- */

enum actions {
	ON_ALLOW = 1 << VERDICT_ALLOW,
	ON_DENY = 1 << VERDICT_DENY,
	ON_BOTH = ON_ALLOW | ON_DENY,
};

enum modifier_argument {
	MODIFIER_TAKES_NONE,
	MODIFIER_TAKES_ERRNO,
	MODIFIER_TAKES_SIGNAL,
	MODIFIER_TAKES_STRING,
	MODIFIER_TAKES_RULES,
};

static const struct {
	enum actions actions;
	enum modifier_argument argument;
} modifiers[MODIFIER_COUNT] = {
#define MODIFIER(symbol, text, actions, argument)                                                  \
	[MODIFIER_##symbol] = {actions, MODIFIER_TAKES_##argument},
#include "policy/modifiers.def"
#undef MODIFIER
};

static int give_modifier(struct machine *m, struct modifier modifier)
{
	struct value *v = machine_new(m, VALUE_MODIFIER);
	char *text = arena_strdup(m->profile->compiler->out, modifier.text);
	struct modifier *copy = arena_alloc(m->profile->compiler->out, sizeof(*copy));

	if (!v || !copy || !text)
		return machine_no_memory(m);
	*copy = modifier;
	copy->text.p = text;
	v->modifier = copy;
	return machine_give(m, v);
}

static int wrong_argument(struct machine *m, enum modifier_id id, const char *want)
{
	return machine_fail(m, "modifier %s takes %s", modifier_name(id), want);
}

/* ARG is NULL if there is none. */
static int give_named_modifier(struct machine *m, enum modifier_id id, const struct value *arg)
{
	struct modifier modifier = {.id = id};
	const struct constant *signal;

	switch (modifiers[id].argument) {
	case MODIFIER_TAKES_NONE:
		if (arg)
			return wrong_argument(m, id, "no argument");
		break;
	case MODIFIER_TAKES_STRING:
		if (!arg || !is_type(arg, VALUE_STRING))
			return wrong_argument(m, id, "a string");
		modifier.text = arg->string;
		break;
	case MODIFIER_TAKES_SIGNAL:
		signal = arg && is_type(arg, VALUE_CONSTANT)
				 ? constant_for(arg->constant, FILTER_SIGNAL_NUMBER)
				 : NULL;
		if (!signal)
			return wrong_argument(m, id, "a signal name");
		modifier.number = signal->value;
		break;
	case MODIFIER_TAKES_ERRNO:
		if (!arg || !is_type(arg, VALUE_CONSTANT) || arg->constant->filter != FILTER_COUNT)
			return wrong_argument(m, id, "the name of an error");
		modifier.number = arg->constant->value;
		break;
	case MODIFIER_TAKES_RULES:
		return machine_fail(m, "modifier %s is written (apply-message-filter rule...)",
				    modifier_name(id));
	}
	return give_modifier(m, modifier);
}

/* (with NAME [ARGUMENT]), (with EPERM), (with MODIFIER) */
static int do_with(struct machine *m, struct value **args, size_t n)
{
	const struct value *arg = n > 1 ? args[1] : NULL;

	switch ((enum value_type)args[0]->type) {
	case VALUE_MODIFIER_NAME:
		return give_named_modifier(m, args[0]->modifier_name, arg);
	case VALUE_CONSTANT:
		if (n > 1)
			return machine_fail(m, "with: too many arguments");
		return give_named_modifier(m, MODIFIER_ERRNO, args[0]);
	case VALUE_MODIFIER:
		if (n > 1)
			return machine_fail(m, "with: too many arguments");
		return machine_give(m, args[0]);
	default:
		return machine_wrong_type(m, "modifier", args[0]);
	}
}

/* ---- A rule being put together ---- */

struct list {
	struct value **items;
	size_t n, cap;
};

struct draft {
	enum verdict verdict;
	struct list ops, filters, modifiers;
	bool has_dead_op; /* an operation that no longer exists: fine, without effect */
};

static int add(struct machine *m, struct list *list, struct value *v)
{
	struct value **items = arena_grow(m->arena, list->items, list->n, &list->cap, sizeof(v));

	if (!items)
		return machine_no_memory(m);
	list->items = items;
	list->items[list->n++] = v;
	return 0;
}

static int sort_argument(struct machine *m, struct draft *draft, struct value *arg)
{
	switch ((enum value_type)arg->type) {
	case VALUE_OP:
		if (arg->op < OP_COUNT)
			return add(m, &draft->ops, arg);
		draft->has_dead_op = true;
		return 0;
	case VALUE_FILTER:
		return add(m, &draft->filters, arg);
	case VALUE_MODIFIER:
		if (arg->modifier)
			return add(m, &draft->modifiers, arg);
		return 0;
	default:
		return machine_wrong_type(m, "operation, filter or modifier", arg);
	}
}

/* (require-all (require-any own...) added) */
static int add_filter(struct machine *m, struct draft *draft, struct value *added)
{
	struct value *both[2] = {NULL, added};

	if (draft->filters.n == 0)
		return add(m, &draft->filters, added);
	both[0] = filter_combine(m, EXPR_ANY, draft->filters.items, draft->filters.n);
	if (both[0])
		both[0] = filter_combine(m, EXPR_ALL, both, 2);
	if (!both[0])
		return -(int)m->err.code;
	draft->filters.items[0] = both[0];
	draft->filters.n = 1;
	return 0;
}

static int add_context(struct machine *m, struct draft *draft)
{
	int r = 0;

	for (const struct rule_context *c = m->context; c && r == 0; c = c->outer) {
		if (c->filter)
			r = add_filter(m, draft, c->filter);
		if (r == 0 && c->modifier)
			r = sort_argument(m, draft, c->modifier);
		for (size_t i = 0; i < c->n_ops && r == 0; i++)
			r = sort_argument(m, draft, c->ops[i]);
		if (r == 0)
			r = machine_charge(m, 1);
	}
	return r;
}

/* Is what holds for OP's row true for it, or for an operation that falls back to it? */
static bool holds_below(enum op op, bool (*holds)(enum op op, unsigned what), unsigned what)
{
	if (holds(op, what))
		return true;
	for (unsigned child = op + 1; child < OP_COUNT; child++) {
		enum op above = op_parent(child);

		while (above != op && above != OP_DEFAULT)
			above = op_parent(above);
		if (above == op && holds(child, what))
			return true;
	}
	return false;
}

/* Modifiers that are not for every operation. */
static bool takes_modifier(enum op op, unsigned modifier)
{
	static const struct {
		enum modifier_id modifier;
		enum op op;
	} only[] = {
		{MODIFIER_NO_SANDBOX, OP_PROCESS_EXEC_ANY},
		{MODIFIER_NO_SANDBOX, OP_PROCESS_EXEC_INTERPRETER},
		{MODIFIER_DEFAULT_SANDBOX, OP_PROCESS_EXEC_ANY},
		{MODIFIER_DEFAULT_SANDBOX, OP_PROCESS_EXEC_INTERPRETER},
		{MODIFIER_NO_TIMES, OP_FILE_READ_METADATA},
		{MODIFIER_GRANT, OP_SYSTEM_PRIVILEGE},
		{MODIFIER_ASSIGN_STORAGE_CLASS, OP_STORAGE_CLASS_MAP},
	};
	bool is_special = false;

	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++) {
		if (only[i].modifier != modifier)
			continue;
		if (only[i].op == op)
			return true;
		is_special = true;
	}
	return !is_special;
}

static int check_modifiers(struct machine *m, const struct draft *draft)
{
	for (size_t i = 0; i < draft->modifiers.n; i++) {
		enum modifier_id id = draft->modifiers.items[i]->modifier->id;

		if (!(modifiers[id].actions & 1u << draft->verdict))
			return machine_fail(m, "modifier %s does not apply to %s",
					    modifier_name(id), verdict_name(draft->verdict));
		for (size_t k = 0; k < draft->ops.n; k++) {
			if (!holds_below(draft->ops.items[k]->op, takes_modifier, id))
				return machine_fail(m, "modifier %s does not apply to operation %s",
						    modifier_name(id),
						    op_name(draft->ops.items[k]->op));
		}
	}
	return 0;
}

/* A rule on a parent reaches its children: it may test what only they have. */
static bool takes_filter(enum op op, unsigned filter)
{
	return op_takes(op, (enum filter_id)filter);
}

/*
 * The first test in EXPR that OP has nothing for and whose being false makes the rule allow more
 * than it says, or NULL. Such a test is never true. Profiles that Apple ships have some where that
 * only denies more: those are accepted. DENIES: the rule does if EXPR is true.
 */
/* NOLINTNEXTLINE(misc-no-recursion): limits.depth */
static const struct test *misfit(const struct expr *expr, enum op op, bool denies)
{
	const struct test *found = NULL;

	if (expr->kind == EXPR_TEST && !denies)
		return NULL;
	if (expr->kind == EXPR_NOT)
		denies = !denies;
	if (expr->kind == EXPR_TEST)
		return holds_below(op, takes_filter, expr->test.filter) ? NULL : &expr->test;
	for (size_t i = 0; i < expr->n && !found; i++)
		found = misfit(expr->kids[i], op, denies);
	return found;
}

/* ---- What the rule remembers of its text ---- */

/* One byte past the limit tells that there is more. */
static void add_part(struct buf *buf, struct str s)
{
	size_t room = RULE_TEXT_MAX + 1 - buf->n;

	buf_add(buf, s.p, s.n < room ? s.n : room);
}

/* Cuts what is past the limit, not inside a UTF-8 character, and says so. */
static void cut(struct buf *buf)
{
	if (buf->n <= RULE_TEXT_MAX)
		return;
	for (buf->n = RULE_TEXT_MAX; buf->n > 0 && (buf->p[buf->n] & 0xc0) == 0x80;)
		buf->n--;
	buf_puts(buf, "\u2026");
}

/* The form at m->at as it was written, blanks and comments as one space. */
static int rule_text(struct machine *m, struct buf *ret)
{
	const struct text_source *source;
	struct token token;
	struct lex lex;
	size_t depth = 0, end;
	int r = 0;

	if (!m->at)
		return 0;
	source = &m->sources[m->at->source];
	lex = lex_begin(source->text);
	lex_seek(&lex, m->at->place);
	end = lex.at;
	do {
		size_t before = lex.at;

		if (lex_next(&lex, &token, NULL) < 0 || token.type == TOKEN_EOF)
			break;
		depth += token.type == TOKEN_OPEN || token.type == TOKEN_VECTOR;
		depth -= token.type == TOKEN_CLOSE;
		if (token.place.begin != end)
			add_part(ret, STR(" "));
		end = lex.at;
		add_part(ret,
			 (struct str){source->text.p + token.place.begin, end - token.place.begin});
		r = machine_charge(m, (end - before) / BYTES_PER_STEP);
	} while (r == 0 && depth > 0 && ret->n <= RULE_TEXT_MAX);
	cut(ret);
	return r;
}

/* ---- Entering ---- */

static int enter_one(struct machine *m, struct rule *rule, const struct value *filter)
{
	struct compiler *c = m->profile->compiler;
	bool denies = rule->verdict == VERDICT_DENY;
	const struct test *bad = filter ? misfit(filter->expr, rule->op, denies) : NULL;
	struct rule *rules;
	int r = machine_charge(m, filter ? 4 * (size_t)filter->tests : 1);

	if (r < 0)
		return r;
	if (bad)
		return machine_fail(m, "filter %s does not apply to operation %s",
				    filter_base_form(bad->filter)->name, op_name(rule->op));
	if (m->context && m->context->is_message_filter)
		return 0;
	if (rule->op == OP_STORAGE_CLASS_MAP && rule->verdict == VERDICT_ALLOW)
		return machine_fail(m, "storage class definition not permitted in this context");
	if (c->n_rules >= m->limits.rules)
		return machine_limit(m, "the profile has more than %u rules", m->limits.rules);
	rules = arena_grow(m->arena, c->rules, c->n_rules, &c->cap_rules, sizeof(*rules));
	if (!rules)
		return machine_no_memory(m);
	c->rules = rules;
	c->rules[c->n_rules++] = *rule;
	return 0;
}

/* Gives RULE what all operations of the draft share. */
static int fill(struct machine *m, const struct draft *draft, struct rule *rule)
{
	struct arena *out = m->profile->compiler->out;
	struct modifier *copies = arena_array(out, draft->modifiers.n, sizeof(*copies));
	struct buf text = {0};
	char *copy;
	int r = rule_text(m, &text);

	copy = arena_strdup(out, buf_str(&text));
	*rule = (struct rule){.verdict = draft->verdict,
			      .modifiers = copies,
			      .n_modifiers = draft->modifiers.n,
			      .origin = m->profile->origin,
			      .ours = m->at && m->sources[m->at->source].ours,
			      .at = machine_span(m, m->at),
			      .text = {copy, text.n}};
	if (r == 0 && (text.failed || !copies || !copy))
		r = machine_no_memory(m);
	for (size_t i = 0; copies && i < draft->modifiers.n && r == 0; i++)
		copies[i] = *draft->modifiers.items[i]->modifier;
	buf_release(&text);
	return r;
}

static int enter(struct machine *m, const struct draft *draft)
{
	struct value *filter = NULL;
	struct rule rule;
	int r = fill(m, draft, &rule);

	if (r == 0 && draft->filters.n > 0) {
		filter = filter_combine(m, EXPR_ANY, draft->filters.items, draft->filters.n);
		if (!filter)
			return -(int)m->err.code;
		rule.filter = filter->expr;
	}
	for (size_t i = 0; i < draft->ops.n && r == 0; i++) {
		rule.op = draft->ops.items[i]->op;
		r = enter_one(m, &rule, filter);
	}
	return r < 0 ? r : machine_give(m, m->nothing);
}

static int do_rule(struct machine *m, struct value **args, size_t n)
{
	struct draft draft = {.verdict = m->running->variant};
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = sort_argument(m, &draft, args[i]);
	if (r == 0)
		r = add_context(m, &draft);
	if (r == 0)
		r = check_modifiers(m, &draft);
	if (r < 0)
		return r;
	if (draft.ops.n == 0 && !draft.has_dead_op)
		return machine_fail(m, "%s: missing operation", m->running->name);
	return enter(m, &draft);
}

/* ---- Forms around rules ---- */

static int resume_end_context(struct machine *m, const struct frame *frame, struct value *value)
{
	m->context = frame->data;
	return machine_give(m, value);
}

static int resume_end_message_filter(struct machine *m, const struct frame *frame,
				     struct value *value)
{
	(void)value;
	m->context = frame->data;
	return give_modifier(m, (struct modifier){.id = MODIFIER_MESSAGE_FILTER});
}

/*
 * Evaluates BODY with CONTEXT in force; RESUME puts the old one back. What the body defines is its
 * own, as in Apple's macros.
 */
static int eval_in_context(struct machine *m, struct rule_context context, struct value *body,
			   struct scope *scope, resume_function *resume)
{
	struct rule_context *copy = arena_alloc(m->arena, sizeof(*copy));
	int r;

	if (!copy)
		return machine_no_memory(m);
	*copy = context;
	scope = scope_new(m, scope);
	if (!scope)
		return machine_no_memory(m);
	if (m->context && m->context->is_message_filter)
		copy->is_message_filter = true;
	r = machine_push(
		m, (struct frame){.resume = resume, .base = m->n_operands, .data = m->context});
	if (r < 0)
		return r;
	m->context = copy;
	return machine_eval_body(m, body, scope);
}

static int resume_with_filter(struct machine *m, const struct frame *frame, struct value *value)
{
	struct rule_context context = {.outer = m->context, .filter = value};

	machine_look_at(m, frame->form);
	if (!is_type(value, VALUE_FILTER))
		return machine_wrong_type(m, "filter", value);
	return eval_in_context(m, context, frame->rest, frame->scope, resume_end_context);
}

static int resume_with_modifier(struct machine *m, const struct frame *frame, struct value *value)
{
	struct rule_context context = {.outer = m->context, .modifier = value};

	machine_look_at(m, frame->form);
	if (!is_type(value, VALUE_MODIFIER))
		return machine_wrong_type(m, "modifier", value);
	return eval_in_context(m, context, frame->rest, frame->scope, resume_end_context);
}

static int resume_with_operations(struct machine *m, const struct frame *frame, struct value *value)
{
	struct rule_context context = {.outer = m->context};
	int r;

	machine_look_at(m, frame->form);
	r = machine_items(m, value, &context.ops, &context.n_ops);
	for (size_t i = 0; i < context.n_ops && r == 0; i++) {
		if (!is_type(context.ops[i], VALUE_OP))
			r = machine_wrong_type(m, "operation", context.ops[i]);
	}
	if (r < 0)
		return r;
	return eval_in_context(m, context, frame->rest, frame->scope, resume_end_context);
}

static int eval_first(struct machine *m, struct value *form, struct scope *scope,
		      resume_function *resume)
{
	int r = machine_push(m, (struct frame){.resume = resume,
					       .form = form,
					       .rest = form->cdr->cdr,
					       .scope = scope,
					       .base = m->n_operands});

	return r < 0 ? r : machine_eval(m, form->cdr->car, scope);
}

static int do_with_filter(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_first(m, form, scope, resume_with_filter);
}

static int do_with_modifier(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_first(m, form, scope, resume_with_modifier);
}

static int do_with_operations(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_first(m, form, scope, resume_with_operations);
}

static int do_message_filter(struct machine *m, struct value *form, struct scope *scope)
{
	return eval_in_context(m, (struct rule_context){.is_message_filter = true}, form->cdr,
			       scope, resume_end_message_filter);
}

/* (debug deny): the words are not even looked up. */
static int do_debug(struct machine *m, struct value *form, struct scope *scope)
{
	(void)form;
	(void)scope;
	return machine_give(m, m->nothing);
}

/* Can a request for OP come to VERDICT by the rules so far? */
static bool can_return(const struct machine *m, enum op op, enum verdict verdict)
{
	const struct compiler *c = m->profile->compiler;

	for (;;) {
		const struct rule *unfiltered = NULL;

		for (size_t i = 0; i < c->n_rules; i++) {
			const struct rule *rule = &c->rules[i];

			if (rule->op != op || rule->origin != m->profile->origin)
				continue;
			if (rule->filter && rule->verdict == verdict)
				return true;
			if (!rule->filter)
				unfiltered = rule;
		}
		if (unfiltered)
			return unfiltered->verdict == verdict;
		if (op_is_terminal(op) && m->profile->version < VERSION_ALL_FOLLOW_DEFAULT)
			return op_builtin(op) == verdict;
		if (op == OP_DEFAULT)
			return verdict == VERDICT_DENY;
		op = op_is_terminal(op) ? OP_DEFAULT : op_parent(op);
	}
}

/* (sbpl-operation-can-return? operation 'allow) */
static int do_can_return(struct machine *m, struct value **args, size_t n)
{
	int r = machine_charge(m, m->profile->compiler->n_rules);

	(void)n;
	if (r < 0)
		return r;
	if (!is_type(args[0], VALUE_OP))
		return machine_wrong_type(m, "operation", args[0]);
	for (unsigned verdict = VERDICT_DENY; verdict <= VERDICT_ALLOW; verdict++) {
		if (value_is_named(args[1], verdict_name(verdict)))
			return machine_give_bool(m, args[0]->op < OP_COUNT &&
							    can_return(m, args[0]->op, verdict));
	}
	return machine_wrong_type(m, "'allow or 'deny", args[1]);
}

int rules_bind(struct machine *m)
{
	static const struct builtin builtins[] = {
		{"allow", do_rule, 0, ANY_NUMBER, VERDICT_ALLOW},
		{"deny", do_rule, 0, ANY_NUMBER, VERDICT_DENY},
		{"with", do_with, 1, 2, 0},
		{"sbpl-operation-can-return?", do_can_return, 2, 2, 0},
	};
	static const struct syntax syntax[] = {
		{"with-filter", do_with_filter, 1, ANY_NUMBER},
		{"with-modifier", do_with_modifier, 1, ANY_NUMBER},
		{"with-operations", do_with_operations, 1, ANY_NUMBER},
		{"apply-message-filter", do_message_filter, 0, ANY_NUMBER},
		{"debug", do_debug, 0, ANY_NUMBER},
	};
	static const char *const without_effect[] = {"no-callout", "partial-symbolication"};
	int r = machine_bind_builtins(m, builtins, sizeof(builtins) / sizeof(builtins[0]));

	if (r == 0)
		r = machine_bind_syntax(m, syntax, sizeof(syntax) / sizeof(syntax[0]));
	/* A modifier value that points to no modifier. */
	for (size_t i = 0; i < 2 && r == 0; i++)
		r = machine_bind_name(m, without_effect[i], machine_new(m, VALUE_MODIFIER));
	return r;
}
