/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are a table of tests or an error with its line; what comes out can be looked at. */
#include <stdint.h>
#include <stdlib.h>

#include "cli/sbt.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count(const char *text)
{
	volatile size_t n = strlen(text); /* reads it to its end */

	return n;
}

static void check_row(const struct sbt_case *c, const struct sbt_row *row)
{
	if (row->line <= c->line || !row->targets || (row->targets & ~c->targets))
		abort();
	(void)count(row->text);
	if (row->is_error) {
		(void)count(row->message);
		return;
	}
	if (!row->words || !row->words[0])
		abort();
	for (size_t i = 0; row->words[i]; i++)
		(void)count(row->words[i]);
	if (row->rule_file)
		(void)count(row->rule_file);
}

static void check_case(const struct sbt_case *c, struct str text)
{
	if (c->profile.n &&
	    (c->profile.p < text.p || c->profile.p + c->profile.n > text.p + text.n))
		abort();
	(void)count(c->title);
	for (size_t i = 0; i < c->n_params; i++)
		(void)(count(c->params[i].key) + count(c->params[i].value));
	for (size_t i = 0; i < c->n_rows; i++)
		check_row(c, &c->rows[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct arena arena = {.limit = 16u << 20};
	struct sbt_file file = {0};
	unsigned lines = 1;
	struct err e = {0};
	int r = sbt_parse(text, "fuzz", &arena, &file, &e);

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	if (r < 0 && r != -ERR_MEMORY && (e.at.line == 0 || e.at.line > lines || !e.text[0]))
		abort();
	for (size_t i = 0; r == 0 && i < file.n; i++)
		check_case(&file.cases[i], text);
	arena_release(&arena);
	return 0;
}
