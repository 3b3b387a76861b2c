/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiling: the directives (version, param, import), the loop over top-level
 * forms that goes on after an error, and the hand-over of the rules.
 */
#include "sbpl/sbpl.h"

#include "sbpl/profile.h"
#include "sbpl/read.h"

#include "base/banned.h"

static void add_error(struct sbpl_errors *errors, const struct err *e)
{
	struct err *copy = &errors->list[errors->n];

	if (errors->n == SBPL_ERRORS_MAX)
		return;
	*copy = *e;
	if (copy->at.file)
		copy->at.file = copy->file;
	errors->n++;
}

/* ---- Texts ---- */

/* A text being evaluated: the data of the frame that reads its next form. */
struct load {
	struct reader reader;
	const struct value *form; /* the one that is being evaluated; NULL: none */
	const char *name;
	struct value *path; /* *import-path* while it is read */
	struct rule_context *context;
};

static void set_import_path(struct machine *m);

static int resume_load(struct machine *m, const struct frame *frame, struct value *value)
{
	struct load *load = frame->data;
	struct value *form;
	int r = load->form ? notes_discarded(m, load->form, value, true) : 0;

	load->form = NULL;
	if (r == 0)
		r = machine_push(m, *frame);
	if (r == 0)
		r = reader_next(&load->reader, &form);
	if (r < 0)
		return r;
	if (r == 0) {
		load->form = form;
		return machine_eval(m, form, NULL);
	}
	m->n_frames--;
	set_import_path(m);
	return machine_give(m, m->nothing);
}

static const struct load *innermost_load(const struct machine *m)
{
	size_t i = m->n_frames;

	while (i > 0 && m->frames[i - 1].resume != resume_load)
		i--;
	return i ? m->frames[i - 1].data : NULL;
}

/* *import-path* is the path of the text being read: false in the profile itself. */
static void set_import_path(struct machine *m)
{
	const struct load *load = innermost_load(m);

	if (m->profile->import_path->global)
		m->profile->import_path->global = load ? load->path : m->no;
}

/* SOURCE 0 has no places. NAME outlives the policy. PATH: a string, or false. */
static int push_load(struct machine *m, unsigned source, const char *name, struct str text,
		     struct value *path)
{
	struct load *load = arena_alloc(m->arena, sizeof(*load));
	int r;

	if (!load)
		return machine_no_memory(m);
	load->reader = reader_begin(m, source, text);
	load->name = name;
	load->path = path;
	load->context = m->context;
	r = machine_push(m, (struct frame){.resume = resume_load,
					   .base = m->n_operands,
					   .data = load,
					   .kind = FRAME_WALL});
	if (r < 0)
		return r;
	set_import_path(m);
	return machine_give(m, m->nothing);
}

static int load_source(struct machine *m, const struct sbpl_source *source, struct value *path)
{
	char *name = arena_strdup(m->profile->compiler->out, str_of(source->name));
	int index;

	if (!name)
		return machine_no_memory(m);
	index = machine_add_source(m, (struct text_source){name, source->text, source->ours});
	return index < 0 ? index : push_load(m, (unsigned)index, name, source->text, path);
}

/* Drops everything above the innermost text. False: no text is being read. */
static bool unwind(struct machine *m)
{
	while (m->n_frames > 0 && m->frames[m->n_frames - 1].resume != resume_load)
		m->n_frames--;
	if (m->n_frames == 0)
		return false;
	m->n_operands = m->frames[m->n_frames - 1].base;
	m->context = ((struct load *)m->frames[m->n_frames - 1].data)->context;
	m->running = NULL;
	set_import_path(m);
	return machine_give(m, m->nothing) == 0;
}

static bool is_fatal(const struct err *e)
{
	return e->code == ERR_LIMIT || e->code == ERR_MEMORY;
}

/* Of a name that only earlier versions of the language know. */
static void hint_present_name(struct machine *m)
{
	bool is_later = m->unbound && m->profile->version >= VERSION_ALL_FOLLOW_DEFAULT;
	const char *present = is_later ? sbpl_present_name(m->unbound->name) : NULL;

	if (present && present[0])
		(void)err_hint(&m->err, "since version 3 it is called '%s'", present);
	else if (present)
		(void)err_hint(&m->err, "rules about it had no effect: it can go");
}

/* Evaluates all that is loaded, noting errors. False: there is no point in going on. */
static bool run(struct machine *m)
{
	struct sbpl_errors *errors = m->profile->compiler->errors;

	while (machine_run(m) < 0) {
		bool is_final = m->is_final || is_fatal(&m->err);
		const struct frame *handler = is_final ? NULL : machine_handler(m);

		m->is_final = false;
		if (handler && notes_caught(m, handler) == 0 && machine_catch(m))
			continue;
		machine_hint_name(m);
		hint_present_name(m);
		add_error(errors, &m->err);
		if (is_fatal(&m->err) || errors->n == SBPL_ERRORS_MAX || !unwind(m))
			return false;
	}
	return true;
}

/* ---- Versions ---- */

/*
 * Apple loads the language in two steps: before (version N) there is Scheme and `version` alone.
 * All is bound at once here; what belongs to the language then waits in its symbol.
 */
static void hold_back_language(struct machine *m)
{
	for (size_t i = 0; i < SYMBOL_BUCKETS; i++) {
		for (struct symbol *s = m->symbols[i]; s; s = s->next) {
			struct value *scheme = s->later;

			s->later = s->global == scheme ? NULL : s->global;
			s->global = scheme;
		}
	}
}

static void remember_scheme(struct machine *m)
{
	for (size_t i = 0; i < SYMBOL_BUCKETS; i++)
		for (struct symbol *s = m->symbols[i]; s; s = s->next)
			s->later = s->global;
}

static int bind_language(struct machine *m, int version)
{
	int r;

	for (size_t i = 0; i < SYMBOL_BUCKETS; i++) {
		for (struct symbol *s = m->symbols[i]; s; s = s->next) {
			if (s->later)
				s->global = s->later;
			s->later = NULL;
		}
	}
	r = names_bind_old(m, version);
	set_import_path(m);
	return r;
}

/* ---- Directives ---- */

static int do_version(struct machine *m, struct value **args, size_t n)
{
	struct profile *profile = m->profile;

	(void)n;
	if (!is_type(args[0], VALUE_INTEGER))
		return machine_wrong_type(m, "integer", args[0]);
	if (profile->version && profile->version != args[0]->number)
		return machine_fail(m, "only one version may be specified");
	if (args[0]->number < 1 || args[0]->number > VERSION_MAX)
		return machine_fail(m, "unsupported version");
	if (!profile->version && bind_language(m, (int)args[0]->number) < 0)
		return -(int)m->err.code;
	profile->version = (int)args[0]->number;
	if (profile->origin == ORIGIN_PROFILE) {
		profile->compiler->version = profile->version;
		profile->compiler->version_at = machine_span(m, m->at);
	}
	return machine_give(m, m->nothing);
}

static int do_param(struct machine *m, struct value **args, size_t n)
{
	const struct sbpl_options *options = m->profile->compiler->options;

	(void)n;
	if (!is_type(args[0], VALUE_STRING))
		return machine_wrong_type(m, "string", args[0]);
	for (size_t i = 0; i < options->n_params; i++) {
		if (str_eq(options->params[i].key, args[0]->string))
			return machine_give(m, machine_string(m, options->params[i].value));
	}
	return machine_give(m, m->no);
}

/* The error of a callback, at the form that led to it. */
static int fail_at_form(struct machine *m)
{
	char text[sizeof(m->err.text)];
	enum err_code code = m->err.code;

	memcpy(text, m->err.text, sizeof(text));
	return err_at(&m->err, code, machine_span(m, m->at), "%s", text);
}

static bool is_loading(const struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->n_frames; i++) {
		const struct load *load = m->frames[i].data;

		if (m->frames[i].resume == resume_load && load->name &&
		    strcmp(load->name, name) == 0)
			return true;
	}
	return false;
}

/* The text of the file PATH. Failing to read it is the only error that is not a limit. */
static int fetch(struct machine *m, const struct value *path, struct sbpl_source *ret)
{
	struct compiler *c = m->profile->compiler;
	const struct sbpl_options *options = c->options;
	const struct load *load = innermost_load(m);
	int r;

	if (!is_type(path, VALUE_STRING))
		return machine_wrong_type(m, "string", path);
	if (!options->import)
		return machine_fail(m, "unable to open %.*s", (int)path->string.n, path->string.p);
	if (c->imports >= m->limits.imports)
		return machine_limit(m, "more than %u imports", m->limits.imports);
	c->imports++;
	r = options->import(options->import_context, path->string, load ? load->name : NULL,
			    m->arena, ret, &m->err);
	if (r == -(int)ERR_MEMORY)
		return machine_no_memory(m); /* files count as memory of the profile */
	return r < 0 ? fail_at_form(m) : 0;
}

static int do_import(struct machine *m, struct value **args, size_t n)
{
	struct sbpl_source source = {.name = ""};
	struct value *path;
	int r = fetch(m, args[0], &source);

	(void)n;
	if (r < 0)
		return r;
	if (is_loading(m, source.name))
		return machine_limit(m, "%s imports itself", source.name);
	path = machine_string(m, str_of(source.name));
	return path ? load_source(m, &source, path) : machine_no_memory(m);
}

/* As TinyScheme: #f if there is no such file. */
static int do_open_input_file(struct machine *m, struct value **args, size_t n)
{
	struct sbpl_source source = {0};
	int r = fetch(m, args[0], &source);

	(void)n;
	if (r == -(int)ERR_POLICY && is_type(args[0], VALUE_STRING))
		return machine_give_bool(m, false);
	return r < 0 ? r : machine_give_port(m, source.text);
}

static int do_trace(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	if (!is_type(args[0], VALUE_STRING))
		return machine_fail(m, "argument to trace must be a string");
	if (m->profile->has_trace)
		return machine_fail(m, "only one trace path may be specified");
	m->profile->has_trace = true;
	return machine_give(m, m->nothing);
}

/* Flags of Apple's kernel that mean nothing to a decision. */
static int do_flag(struct machine *m, struct value **args, size_t n)
{
	(void)args;
	(void)n;
	return machine_give(m, m->nothing);
}

static int version_bind(struct machine *m)
{
	static const struct builtin table[] = {{"version", do_version, 1, 1, 0}};

	return machine_bind_builtins(m, table, 1);
}

static int directives_bind(struct machine *m)
{
	static const struct builtin table[] = {
		{"param", do_param, 1, 1, 0},
		{"getenv", do_param, 1, 1, 0},
		{"import", do_import, 1, 1, 0},
		{"load", do_import, 1, 1, 0},
		{"open-input-file", do_open_input_file, 1, 1, 0},
		{"trace", do_trace, 1, 1, 0},
		{"record", do_flag, 1, 1, 0},
		{"disable-callouts", do_flag, 0, 0, 0},
		{"disable-full-symbolication", do_flag, 0, 0, 0},
		{"disable-syscall-inference", do_flag, 0, 0, 0},
		{"eliminate-duplicate-rules", do_flag, 0, 0, 0},
	};

	return machine_bind_builtins(m, table, sizeof(table) / sizeof(table[0]));
}

/* ---- Environments ---- */

static int language_bind(struct machine *m)
{
	int r = names_bind(m);

	if (r == 0)
		r = filters_bind(m);
	if (r == 0)
		r = rules_bind(m);
	if (r == 0)
		r = directives_bind(m);
	return r < 0 ? r : machine_bind_name(m, "*import-path*", m->no);
}

static int discard(struct machine *m, const struct value *form, const struct value *value)
{
	return notes_discarded(m, form, value, false);
}

static bool run_prelude(struct machine *m, const char *text)
{
	if (push_load(m, 0, NULL, str_of(text), m->no) == 0)
		return run(m);
	add_error(m->profile->compiler->errors, &m->err);
	return false;
}

/* A machine with everything bound, its prelude evaluated. NULL: the error is noted. */
static struct machine *new_environment(struct compiler *c, enum origin origin)
{
	struct machine *m = arena_alloc(&c->arena, sizeof(*m));
	struct profile *profile = arena_alloc(&c->arena, sizeof(*profile));
	struct err e;
	int r;

	if (!m || !profile) {
		(void)err_set(&e, ERR_LIMIT, "the profile needs more than %zu bytes of memory",
			      c->options->limits.memory);
		add_error(c->errors, &e);
		return NULL;
	}
	r = machine_init(m, &c->arena, &SBPL_LIMITS_DEFAULT); /* what we evaluate ourselves */
	m->limits.memory = c->options->limits.memory;
	*profile = (struct profile){.compiler = c, .origin = origin};
	m->profile = profile;
	m->moved = set_import_path;
	m->discarded = discard;
	profile->import_path = machine_intern(m, STR("*import-path*"));
	if (r == 0 && !profile->import_path)
		r = machine_no_memory(m);
	if (r == 0)
		r = version_bind(m);
	if (r < 0) {
		add_error(c->errors, &m->err);
		return NULL;
	}
	if (!run_prelude(m, prelude_scheme))
		return NULL;
	remember_scheme(m);
	r = language_bind(m);
	if (r < 0) {
		add_error(c->errors, &m->err);
		return NULL;
	}
	if (!run_prelude(m, prelude_language))
		return NULL;
	hold_back_language(m);
	if (origin != ORIGIN_PROFILE && bind_language(m, 1) < 0) {
		add_error(c->errors, &m->err);
		return NULL;
	}
	m->limits = c->options->limits;
	m->steps = 0;
	return m;
}

static bool compile_source(struct compiler *c, struct machine *m, const struct sbpl_source *source)
{
	if (load_source(m, source, m->no) == 0)
		return run(m);
	add_error(c->errors, &m->err);
	return false;
}

static void check_version(struct compiler *c, const struct sbpl_source *source)
{
	struct err e;

	if (c->version || c->errors->n > 0)
		return;
	(void)err_at(&e, ERR_POLICY, (struct span){source->name, 1, 1}, "no version specified");
	add_error(c->errors, &e);
}

/*
 * When all of a profile has been evaluated Apple's library calls what %finalize means by then:
 * WebKit's profiles for plug-ins enter their last denials there.
 */
static void finalize(struct compiler *c, struct machine *m)
{
	if (c->version && c->errors->n == 0)
		(void)run_prelude(m, "(%finalize)");
}

static void compile_sources(struct compiler *c, const struct sbpl_source *sources, size_t n)
{
	struct machine *shared = NULL;

	for (size_t i = 0; i < n; i++) {
		struct machine *m = shared;

		if (sources[i].origin != ORIGIN_PROFILE || !m)
			m = new_environment(c, sources[i].origin);
		if (!m || !compile_source(c, m, &sources[i]))
			return;
		if (sources[i].origin != ORIGIN_PROFILE)
			continue;
		if (!shared)
			check_version(c, &sources[i]);
		shared = m;
	}
	if (shared)
		finalize(c, shared);
}

/* ---- Hand-over ---- */

static bool has_default(const struct compiler *c, enum op op)
{
	for (size_t i = 0; i < c->n_rules; i++) {
		const struct rule *rule = &c->rules[i];

		if (rule->op == op && !rule->filter && rule->origin == ORIGIN_PROFILE)
			return true;
	}
	return false;
}

enum {
	ANCESTORS_MAX = 8 /* more than any operation has */
};

/* The rules of ABOVE as rules of OP. */
static int copy_rules(const struct compiler *c, struct policy_builder *builder, enum op above,
		      enum op op, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < c->n_rules && r == 0; i++) {
		struct rule rule = c->rules[i];

		if (rule.op != above || rule.origin != ORIGIN_PROFILE)
			continue;
		rule.op = op;
		r = policy_builder_add(builder, &rule, e);
	}
	return r;
}

/*
 * From version 3 on no operation has a built-in default: what version 1 decides by one falls
 * through to its parent, which is `default` for most (SBPL.md 1.3). An operation with an unfiltered
 * rule never gets that far; the others get the rules of those above, the farthest first, in front
 * of their own.
 */
static int add_defaults(const struct compiler *c, struct policy_builder *builder, enum op op,
			struct err *e)
{
	struct rule deny = {
		.verdict = VERDICT_DENY, .op = op, .at = c->version_at, .text = STR("(version 3)")};
	enum op chain[ANCESTORS_MAX], above = op;
	size_t n = 0;
	int r = 0;

	do {
		above = op_parent(above);
		chain[n++] = above;
	} while (n < ANCESTORS_MAX && above != OP_DEFAULT && !has_default(c, above));
	if (above == OP_DEFAULT && !has_default(c, OP_DEFAULT))
		r = policy_builder_add(builder, &deny, e);
	while (n > 0 && r == 0)
		r = copy_rules(c, builder, chain[--n], op, e);
	return r;
}

static int add_rules(const struct compiler *c, struct policy_builder *builder, struct err *e)
{
	int r = 0;

	for (unsigned op = OP_DEFAULT + 1; op < OP_COUNT && r == 0; op++) {
		if (c->version >= VERSION_ALL_FOLLOW_DEFAULT && op_is_terminal(op) &&
		    !has_default(c, op))
			r = add_defaults(c, builder, op, e);
	}
	for (size_t i = 0; i < c->n_rules && r == 0; i++)
		r = policy_builder_add(builder, &c->rules[i], e);
	for (size_t i = 0; i < c->n_notes && r == 0; i++)
		r = policy_builder_note(builder, &c->notes[i], e);
	return r;
}

/* Consumes the builder, and the arena: building needs its memory. */
static int finish(struct compiler *c, struct policy_builder *builder, struct policy **ret)
{
	struct err e = {0}, whole;
	int r;

	/* For what no pattern is to blame for; the name may be gone by then. */
	(void)err_at(&whole, ERR_LIMIT, c->version_at, "the profile as a whole");
	c->out->pool = NULL;
	r = c->errors->n ? -(int)c->errors->list[0].code : add_rules(c, builder, &e);
	arena_release(&c->arena);
	if (r < 0)
		policy_builder_free(builder);
	else
		r = policy_build(builder, ret, &e);
	if (r == 0 || c->errors->n > 0)
		return r;
	if (e.at.line == 0) {
		memcpy(e.file, whole.file, sizeof(e.file));
		e.at = whole.at;
	}
	add_error(c->errors, &e);
	return r;
}

int sbpl_compile(const struct sbpl_source *sources, size_t n, const struct sbpl_options *options,
		 struct policy **ret, struct sbpl_errors *errors)
{
	struct policy_builder *builder =
		policy_builder_new(options->target, options->policy_limits);
	struct compiler c = {.options = options, .errors = errors};
	struct err e;
	int r;

	errors->n = 0;
	if (!builder) {
		r = err_memory(&e);
		add_error(errors, &e);
		return r;
	}
	c.pool = (struct arena_pool){options->limits.memory};
	c.out = policy_builder_arena(builder);
	c.arena.pool = c.out->pool = &c.pool;
	c.noted.arena = &c.arena;
	compile_sources(&c, sources, n);
	return finish(&c, builder, ret);
}
