/* SPDX-License-Identifier: Apache-2.0 */
#include "session/gitconfig.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/banned.h"

enum {
	CONFIG_MAX = 16 << 20,
};

enum section {
	SECTION_OTHER,
	SECTION_CORE,
	SECTION_INCLUDE,
};

struct reader {
	struct arena *arena;
	struct git_config *config;
	enum section section;
	const char *p;
};

/* Where the value at P ends: at the end of its line, which a backslash continues. */
static const char *value_end(const char *p)
{
	bool quoted = false;

	for (; *p && *p != '\n'; p++) {
		if (!quoted && (*p == '#' || *p == ';'))
			return strchrnul(p, '\n');
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '\\' && p[1])
			p++;
	}
	return p;
}

/* A value as git reads it: quotes, escapes, comments. NULL: no memory. */
static char *value_of(struct arena *arena, const char *from, const char *end)
{
	char *value = arena_alloc(arena, (size_t)(end - from) + 1);
	bool quoted = false;
	size_t n = 0, kept = 0;

	for (; value && from < end; from++) {
		char c = *from;

		if (!quoted && (c == '#' || c == ';'))
			break;
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (c == '\\' && from + 1 < end && (c = *++from) == '\n')
			continue;
		value[n++] = c;
		if (quoted || !isspace((unsigned char)c))
			kept = n;
	}
	if (value)
		value[kept] = '\0';
	return value;
}

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\r\v\f");
}

/* Where the section header at P ends. A subsection is quoted and may hold what it likes. */
static const char *header_end(const char *p)
{
	bool quoted = false;

	for (; *p && *p != '\n'; p++) {
		if (!quoted && *p == ']')
			return p + 1;
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '\\' && p[1])
			p++;
	}
	return p;
}

static enum section section_of(const char *header)
{
	static const struct {
		const char *start;
		enum section section;
	} rows[] = {
		{"[core]", SECTION_CORE},
		{"[include]", SECTION_INCLUDE},
		{"[includeif", SECTION_INCLUDE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strncasecmp(header, rows[i].start, strlen(rows[i].start)) == 0)
			return rows[i].section;
	return SECTION_OTHER;
}

static int add_include(struct reader *reader, const char *value)
{
	struct git_config *config = reader->config;
	const char **includes = arena_grow(reader->arena, config->includes, config->n_includes,
					   &config->cap_includes, sizeof(*includes));

	if (!includes)
		return -1;
	config->includes = includes;
	config->includes[config->n_includes++] = value;
	return 0;
}

static bool is_key(const struct reader *reader, struct str name, enum section section,
		   const char *key)
{
	return reader->section == section && name.n == strlen(key) &&
	       strncasecmp(name.p, key, name.n) == 0;
}

/* NAME has the value from FROM to END. -1: no memory. */
static int take_value(struct reader *reader, struct str name, const char *from, const char *end)
{
	bool worktree = is_key(reader, name, SECTION_CORE, "worktree");
	bool hooks_path = is_key(reader, name, SECTION_CORE, "hookspath");
	bool include = is_key(reader, name, SECTION_INCLUDE, "path");
	const char *value;

	if (!worktree && !hooks_path && !include)
		return 0;
	value = value_of(reader->arena, from, end);
	if (!value)
		return -1;
	if (include)
		return add_include(reader, value);
	*(worktree ? &reader->config->worktree : &reader->config->hooks_path) = value;
	return 0;
}

/* One header, setting, comment or error. */
static int take_item(struct reader *reader)
{
	struct str name = {reader->p, 0};
	const char *value;

	if (*name.p == '[') {
		reader->section = section_of(name.p);
		reader->p = header_end(name.p);
		return 0;
	}
	while (isalnum((unsigned char)name.p[name.n]) || name.p[name.n] == '-')
		name.n++;
	value = skip_space(name.p + name.n);
	if (name.n == 0 || *value != '=') { /* a comment, a name alone, or an error */
		reader->p = strchrnul(value, '\n');
		return 0;
	}
	value = skip_space(value + 1);
	reader->p = value_end(value);
	return take_value(reader, name, value, reader->p);
}

static int read_config(struct arena *arena, const char *text, struct git_config *config)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, which git skips */
	struct reader reader = {.arena = arena, .config = config, .p = text};

	if (strncmp(reader.p, mark, sizeof(mark) - 1) == 0)
		reader.p += sizeof(mark) - 1;
	for (;;) {
		reader.p += strspn(reader.p, " \t\r\v\f\n");
		if (!*reader.p)
			return 0;
		if (take_item(&reader) < 0)
			return -1;
	}
}

int git_config_read(struct git_configs *configs, struct str path, const struct git_config **ret,
		    struct err *e)
{
	struct git_config *config = map_get(&configs->known, path);
	struct buf text = {0};
	int r = 0;

	*ret = config;
	if (config)
		return 0;
	config = arena_alloc(configs->arena, sizeof(*config));
	if (!config || map_put(&configs->known, path, config) < 0)
		return err_memory(e);
	r = io_read_file(AT_FDCWD, path.p, &text, CONFIG_MAX);
	if (r < 0 && errno == EFBIG) {
		(void)err_set(e, ERR_CONFIG, "%s is larger than 16 MiB", path.p);
		return err_hint(e, "what this git configuration names cannot be protected");
	}
	/* To git a NUL is a byte like any other. */
	for (size_t i = 0; r == 0 && i < text.n; i++)
		if (!text.p[i])
			text.p[i] = ' ';
	r = r == 0 && text.n > 0 ? read_config(configs->arena, text.p, config) : 0;
	buf_release(&text);
	*ret = config;
	return r < 0 ? err_memory(e) : 0;
}
