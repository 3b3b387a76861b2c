/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation, filter, constant and modifier is a bound symbol; so are their older names. */
#include "sbpl/profile.h"

#include "base/banned.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* clang-format off: rows of .def files end in no comma, so theirs are in the macros. */

/* One row per name that a filter's kind of argument gives it. */
#define FORM(id, text, argument, match) {text, FILTER_##id, ARGUMENT_##argument, MATCH_##match},
#define FORMS_PATTERN(id, text, argument, plain)                                                   \
	FORM(id, text, argument, plain)                                                            \
	FORM(id, text "-prefix", argument, PREFIX)                                                 \
	FORM(id, text "-regex", argument, REGEX)
#define FORMS_SUBPATH(id, text)                                                                    \
	FORMS_PATTERN(id, text, SUBPATH, LITERAL)                                                  \
	FORM(id, text "-subpath", SUBPATH, SUBPATH)
#define FORMS_LITERAL(id, text)  FORMS_PATTERN(id, text, LITERAL, LITERAL)
#define FORMS_PREFIX(id, text)   FORMS_PATTERN(id, text, PREFIX, PREFIX)
#define FORMS_ADDRESS(id, text)  FORM(id, text, ADDRESS, ENDPOINT)
#define FORMS_INTEGER(id, text)  FORM(id, text, INTEGER, INTEGER)
#define FORMS_BITFIELD(id, text) FORM(id, text, BITFIELD, BITS)
#define FORMS_STRING(id, text)   FORM(id, text, STRING, STRING)
#define FORMS_BOOL(id, text)     FORM(id, text, BOOL, BOOL)

static const struct filter_form filter_forms[] = {
#define FILTER(id, text, category, argument) FORMS_##argument(id, text)
#include "policy/filters.def"
#undef FILTER
};

/* clang-format on */

const struct filter_form *filter_base_form(enum filter_id filter)
{
	size_t i = 0;

	while (filter_forms[i].filter != filter)
		i++;
	return &filter_forms[i];
}

const struct constant *constant_for(const struct constant *c, enum filter_id filter)
{
	if (c->filter == filter)
		return c;
	for (size_t i = 0; i < n_constants; i++) {
		if (constants[i].filter == filter &&
		    strcmp(constant_name(&constants[i]), constant_name(c)) == 0)
			return &constants[i];
	}
	return NULL;
}

/* The last version that knows a name in its older meaning. */
enum known {
	OLD = 2,
	ALWAYS = 99,
};

/* Older names, and the short names of the path forms. A NULL meaning: rules with it are dropped. */
static const struct alias {
	const char *written, *means;
	enum known known;
} aliases[] = {
	{"literal", "path", ALWAYS},
	{"path-literal", "path", ALWAYS},
	{"prefix", "path-prefix", ALWAYS},
	{"regex", "path-regex", ALWAYS},
	{"subpath", "path-subpath", ALWAYS},
	{"mount-relative-literal", "mount-relative-path", ALWAYS},
	{"mount-relative-prefix", "mount-relative-path-prefix", ALWAYS},
	{"mount-relative-regex", "mount-relative-path-regex", ALWAYS},
	{"mount-relative-subpath", "mount-relative-path-subpath", ALWAYS},
	{"process-subpath", "process-path-subpath", ALWAYS},
	{"mount-root-subpath", "mount-root-path-subpath", ALWAYS},
	{"fileprovider-syncroot-subpath", "fileprovider-syncroot-path-subpath", ALWAYS},
	{"from", "local", ALWAYS},
	{"to", "remote", ALWAYS},
	{"granted-extensions", "extension", OLD},
	{"mach-extension", "extension", OLD},
	{"iokit-user-client-class", "iokit-registry-entry-class", ALWAYS},
	{"iokit-user-client-class-regex", "iokit-registry-entry-class-regex", ALWAYS},
	{"process-exec", "process-exec*", ALWAYS},
	{"ipc-posix-sem", "ipc-posix-sem*", OLD},
	{"ipc-posix-shm", "ipc-posix-shm*", OLD},
	{"ipc-posix-shm-read*", "ipc-posix-shm-read-data", ALWAYS},
	{"file-fsctl", "system-fsctl", OLD},
	{"system-misc", "system*", OLD},
	{"time-set", "system-set-time", OLD},
	{"file-unlink", "file-write-unlink", OLD},
	{"file-issue-extension*", "file-issue-extension", OLD},
	{"file-issue-extension-read", "file-issue-extension", OLD},
	{"file-issue-extension-write", "file-issue-extension", OLD},
	{"file-write-mount", "file-mount", OLD},
	{"file-write-unmount", "file-unmount", OLD},
	{"file-write-umount", "file-unmount", OLD},
	{"sysctl", "sysctl*", OLD},
	{"sysctl-write", "sysctl*", OLD},
	{"iokit-open", "iokit-open*", OLD},
	{"managed-preference*", "managed-preference-read", ALWAYS},
	{"no-log", "no-report", ALWAYS},
	{"no-profile", "no-sandbox", OLD},
	{"rootless", "sip-override", ALWAYS},
	{"rootless-modifier", "sip-override", OLD},
	{"mach-per-user-lookup", NULL, OLD},
	{"system-chud", NULL, OLD},
	{"qtn-download", NULL, OLD},
	{"ipc-posix-shm-read-metadata", NULL, OLD},
};

/* What NAME is an older name of; NULL: of nothing, or it is an operation's name still. */
static const struct alias *find_alias(struct str name)
{
	enum op op = op_find(name);

	if (op != OP_COUNT && !op_is_gone(op))
		return NULL;
	for (size_t i = 0; i < COUNT(aliases); i++)
		if (str_is(name, aliases[i].written))
			return &aliases[i];
	return NULL;
}

enum op names_find_op(struct str name)
{
	const struct alias *alias = find_alias(name);

	return op_find(alias && alias->means ? str_of(alias->means) : name);
}

const char *sbpl_present_name(struct str name)
{
	const struct alias *alias = find_alias(name);

	if (!alias)
		return NULL;
	if (!alias->means)
		return "";
	return op_find(str_of(alias->means)) != OP_COUNT ? alias->means : NULL;
}

static int bind_ops(struct machine *m)
{
	int r = 0;

	for (unsigned op = 0; op < OP_COUNT && r == 0; op++) {
		struct value *v;

		if (op_is_gone(op))
			continue;
		v = machine_new(m, VALUE_OP);
		if (v)
			v->op = op;
		r = machine_bind_name(m, op_name(op), v);
	}
	return r;
}

static int bind_forms(struct machine *m)
{
	int r = 0;

	for (size_t i = 0; i < COUNT(filter_forms) && r == 0; i++) {
		struct value *v = machine_new(m, VALUE_FILTER_FORM);

		if (v)
			v->form = &filter_forms[i];
		r = machine_bind_name(m, filter_forms[i].name, v);
	}
	return r;
}

/* A name that several filters know is bound once: constant_for() finds the wanted one. */
static int bind_constants(struct machine *m)
{
	for (size_t i = 0; i < n_constants; i++) {
		struct symbol *symbol = machine_intern(m, str_of(constant_name(&constants[i])));

		if (!symbol)
			return machine_no_memory(m);
		if (symbol->global)
			continue;
		symbol->global = machine_new(m, VALUE_CONSTANT);
		if (!symbol->global)
			return machine_no_memory(m);
		symbol->global->constant = &constants[i];
	}
	return 0;
}

static int bind_modifiers(struct machine *m)
{
	int r = 0;

	for (unsigned id = 0; id < MODIFIER_COUNT && r == 0; id++) {
		struct value *v = machine_new(m, VALUE_MODIFIER_NAME);

		if (v)
			v->modifier_name = id;
		r = machine_bind_name(m, modifier_name(id), v);
	}
	return r;
}

int names_bind_old(struct machine *m, int version)
{
	struct value *dropped = machine_new(m, VALUE_OP);
	int r = dropped ? 0 : machine_no_memory(m);

	if (dropped)
		dropped->op = OP_COUNT;
	for (size_t i = 0; i < COUNT(aliases) && r == 0; i++) {
		const char *means = aliases[i].means;
		struct symbol *symbol =
			machine_intern(m, str_of(means ? means : aliases[i].written));

		if (!symbol)
			return machine_no_memory(m);
		if (version <= (int)aliases[i].known)
			r = machine_bind_name(m, aliases[i].written,
					      means ? symbol->global : dropped);
	}
	return r;
}

int names_bind(struct machine *m)
{
	int r = bind_ops(m);

	if (r == 0)
		r = bind_forms(m);
	if (r == 0)
		r = bind_constants(m);
	return r < 0 ? r : bind_modifiers(m);
}
