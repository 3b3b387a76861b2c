/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are datums or an error with a place; every datum knows where it begins, and what is
 * printed reads back as what it was.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "sbpl/read.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sbpl_limits limits = {
	.steps = 200000, .depth = 200, .memory = 16u << 20, .imports = 1, .rules = 1};

struct reading {
	struct arena arena;
	struct machine *m;
	struct reader reader;
};

static void begin(struct reading *reading, struct str text)
{
	int source;

	reading->arena = (struct arena){.limit = limits.memory};
	reading->m = malloc(sizeof(*reading->m));
	if (!reading->m || machine_init(reading->m, &reading->arena, &limits) < 0)
		abort();
	source = machine_add_source(reading->m, (struct text_source){.name = "fuzz", .text = text});
	if (source < 0)
		abort();
	reading->reader = reader_begin(reading->m, (unsigned)source, text);
}

static void end(struct reading *reading)
{
	arena_release(&reading->arena);
	free(reading->m);
}

/* Lines and columns as a person counts them, and a token that begins there. */
static void check_place(struct str text, struct place place)
{
	struct lex lex = lex_begin(text);
	struct token token = {0};
	unsigned line = 1, column = 1;

	if (place.line == 0)
		return;
	if (place.begin >= text.n)
		abort();
	for (size_t i = 0; i < place.begin; i++) {
		column = text.p[i] == '\n' ? 1 : column + 1;
		line += text.p[i] == '\n';
	}
	if (line != place.line || column != place.column)
		abort();
	lex_seek(&lex, place);
	(void)lex_next(&lex, &token, NULL);
	if (token.place.begin != place.begin || token.place.line != line ||
	    token.place.column != column)
		abort();
}

/* NOLINTNEXTLINE(misc-no-recursion): limits.depth */
static void check_places(struct str text, const struct value *v, unsigned depth)
{
	if (depth > limits.depth + 1)
		abort();
	for (; is_type(v, VALUE_PAIR); v = v->cdr) {
		check_place(text, v->place);
		check_places(text, v->car, depth + 1);
	}
	check_place(text, v->place);
	for (size_t i = 0; is_type(v, VALUE_VECTOR) && i < v->n_items; i++)
		check_places(text, v->items[i], depth + 1);
}

/*
 * What is printed as it was written: neither escapes nor strange bytes, nor a symbol that is a dot,
 * as in ".(": printed before a space it would be the dot of a pair.
 */
static bool is_plain(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '.' && i + 1 < text.n && strchr("();\"'`,", text.p[i + 1]))
			return false;
		if (c == '\\' || c >= 0x7f || (c < ' ' && c != '\n' && c != '\t'))
			return false;
	}
	return true;
}

static void check_reads_back(const struct value *v)
{
	struct buf once = {.max = 1 << 20}, twice = {.max = 1 << 20};
	struct reading reading;
	struct value *again = NULL;

	value_print(&once, v, true);
	if (once.failed)
		abort();
	begin(&reading, buf_str(&once));
	if (reader_next(&reading.reader, &again) != 0)
		abort();
	value_print(&twice, again, true);
	if (!str_eq(buf_str(&once), buf_str(&twice)) ||
	    reader_next(&reading.reader, &again) != READ_EOF)
		abort();
	end(&reading);
	buf_release(&once);
	buf_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct reading reading;
	struct value *v = NULL;
	int r;

	begin(&reading, text);
	for (r = 0; r == 0;) {
		r = reader_next(&reading.reader, &v);
		if (r != 0)
			break;
		check_places(text, v, 0);
		if (size < 4096 && is_plain(text))
			check_reads_back(v);
	}
	if (r < 0 && reading.m->err.code == ERR_POLICY && reading.m->err.at.line == 0)
		abort();
	if (r < 0 && reader_next(&reading.reader, &v) != READ_EOF)
		abort();
	end(&reading);
	return 0;
}
