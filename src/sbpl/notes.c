/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only evaluation sees and lint will warn of: values that nothing takes, errors that a
 * (catch ...) takes.
 */
#include "sbpl/profile.h"

#include "base/banned.h"

enum {
	NOTES_MAX = 1000 /* nobody reads more */
};

/* What a note is known by: loops make each once. */
struct note_key {
	uintptr_t file;
	uint32_t line, column, kind, unused;
};

static int append(struct machine *m, struct finding finding)
{
	struct compiler *c = m->profile->compiler;
	struct finding *notes =
		arena_grow(m->arena, c->notes, c->n_notes, &c->cap_notes, sizeof(*notes));

	if (!notes)
		return machine_no_memory(m);
	c->notes = notes;
	notes[c->n_notes++] = finding;
	return 0;
}

/* 1: a note of KIND at AT is to be made. 0: there is one, or too many. */
static int claim(struct machine *m, enum lint_kind kind, struct span at)
{
	struct map *noted = &m->profile->compiler->noted;
	struct note_key key = {
		.file = (uintptr_t)at.file, .line = at.line, .column = at.column, .kind = kind};
	char *kept;

	if (noted->n > NOTES_MAX || map_get(noted, (struct str){(const char *)&key, sizeof(key)}))
		return 0;
	kept = arena_memdup(m->arena, &key, sizeof(key));
	if (!kept || map_put(noted, (struct str){kept, sizeof(key)}, kept) < 0)
		return machine_no_memory(m);
	if (noted->n <= NOTES_MAX)
		return 1;
	return append(m, (struct finding){
				 .kind = LINT_NOT_CHECKED,
				 .text = "there are more than 1000 values without effect and "
					 "hidden errors",
			 });
}

/* Is SOURCE the user's own text? */
static bool is_own(const struct machine *m, const struct text_source *source)
{
	return m->profile->origin == ORIGIN_PROFILE && !source->ours;
}

/* ---- Values that nothing takes ---- */

/* What is wrong with VALUE, if it can only have been meant for a rule; or NULL. */
static const char *complain(const struct value *value)
{
	switch ((enum value_type)value->type) {
	case VALUE_OP:
		return "an operation that stands in no rule has no effect";
	case VALUE_FILTER:
	case VALUE_FILTER_FORM:
		return "a filter that stands in no rule has no effect";
	case VALUE_MODIFIER:
	case VALUE_MODIFIER_NAME:
		return "a modifier that stands in no rule has no effect";
	default:
		return NULL;
	}
}

int notes_discarded(struct machine *m, const struct value *form, const struct value *value,
		    bool is_top)
{
	bool is_string = is_top && is_type(form, VALUE_STRING);
	const char *text =
		is_string ? "a string that stands in no rule has no effect" : complain(value);

	int r;

	if (!text || form->place.line == 0 || !is_own(m, &m->sources[form->source]))
		return 0;
	r = claim(m, LINT_NO_EFFECT, machine_span(m, form));
	return r < 1 ? r
		     : append(m, (struct finding){
					 .kind = LINT_NO_EFFECT,
					 .at = machine_span(m, form),
					 .text = text,
					 .hint = "a rule is all within the parentheses of allow "
						 "or deny",
				 });
}

/* ---- Errors ---- */

/* The source that the error names; NULL: it has no place. */
static const struct text_source *source_of_error(const struct machine *m)
{
	for (size_t i = 1; i < m->n_sources && m->err.at.line > 0; i++)
		if (strcmp(m->sources[i].name, m->err.file) == 0)
			return &m->sources[i];
	return NULL;
}

int notes_caught(struct machine *m, const struct frame *handler)
{
	const struct text_source *source = source_of_error(m);
	struct finding finding = {
		.kind = LINT_CAUGHT_ERROR,
		.hint = "nothing behind it in that body is evaluated; (defined? 'name) asks "
			"whether a name is known",
	};
	int r;

	if (!source || !is_own(m, source))
		return 0;
	finding.at = (struct span){source->name, m->err.at.line, m->err.at.column};
	r = claim(m, finding.kind, finding.at);
	if (r < 1)
		return r;
	finding.text = arena_printf(m->profile->compiler->out,
				    "the (catch ...) of line %u hides an error here: %s",
				    machine_span(m, handler->form).line, m->err.text);
	return finding.text ? append(m, finding) : machine_no_memory(m);
}
