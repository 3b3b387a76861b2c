/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of .sbt files: a table that judges others must not misread its own rows. */
#include "test.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/sbt.h"
#include "base/banned.h"

static void a_file_is_read_whole(void)
{
	static const char text[] = "# comment\n"
				   "\n"
				   "=== first title \n"
				   "@darwin\n"
				   "@param A=b=c\n"
				   "@param E=\n"
				   "(version 1)\n"
				   "# in the profile\n"
				   "(deny default)\n"
				   "---\n"
				   "  file-read-data  /x\t=> deny\n"
				   "# between rows\n"
				   "op \"a b\" k=v => allow 12\n"
				   "op => deny -\n"
				   "op => deny f.sb:7\n"
				   "!! 3:7 message with  words\n"
				   "===second\n"
				   "---\n"
				   "@linux op => allow";
	struct sbt_file file = {0};
	struct arena arena = {0};
	const struct sbt_case *c;
	struct err e;

	CHECK_INT(sbt_parse(str_of(text), "t", &arena, &file, &e), 0);
	CHECK_INT(file.n, 2);
	c = &file.cases[0];
	CHECK_STR(c->title, "first title");
	CHECK_INT(c->line, 3);
	CHECK_INT(c->targets, SBT_DARWIN);
	CHECK_INT(c->n_params, 2);
	CHECK_STR(c->params[0].key, "A");
	CHECK_STR(c->params[0].value, "b=c");
	CHECK_STR(c->params[1].value, "");
	CHECK(str_is(c->profile, "(version 1)\n# in the profile\n(deny default)"));
	CHECK_INT(c->n_rows, 5);
	CHECK_INT(c->rows[0].line, 11);
	CHECK_STR(c->rows[0].words[1], "/x");
	CHECK(c->rows[0].words[2] == NULL);
	CHECK(!c->rows[0].allow);
	CHECK_INT(c->rows[0].rule, SBT_RULE_ANY);
	CHECK_STR(c->rows[1].words[1], "a b");
	CHECK(c->rows[1].allow);
	CHECK_INT(c->rows[1].rule, SBT_RULE_LINE);
	CHECK_INT(c->rows[1].rule_line, 12);
	CHECK_INT(c->rows[2].rule, SBT_RULE_BUILTIN);
	CHECK_STR(c->rows[3].rule_file, "f.sb");
	CHECK_INT(c->rows[3].rule_line, 7);
	CHECK(c->rows[4].is_error);
	CHECK_INT(c->rows[4].error_line, 3);
	CHECK_INT(c->rows[4].error_column, 7);
	CHECK_STR(c->rows[4].message, "message with  words");
	c = &file.cases[1];
	CHECK_STR(c->title, "second");
	CHECK_INT(c->profile.n, 0);
	CHECK_INT(c->rows[0].targets, SBT_LINUX);
	CHECK_INT(c->targets, SBT_ALL);
	arena_release(&arena);
}

static void lines_may_end_as_on_windows(void)
{
	static const char text[] =
		"# comment\r\n=== title\r\n@linux\r\n@param A=b\r\n(version 1)\r\n"
		"(deny default)\r\n---\r\n\r\nop /x => allow 3\r\n!! 3:7 m\r\n";
	struct sbt_file file = {0};
	struct arena arena = {0};
	const struct sbt_case *c;
	struct err e;

	CHECK_INT(sbt_parse(str_of(text), "t", &arena, &file, &e), 0);
	CHECK_INT(file.n, 1);
	c = &file.cases[0];
	CHECK_STR(c->title, "title");
	CHECK_INT(c->targets, SBT_LINUX);
	CHECK_STR(c->params[0].value, "b");
	CHECK(str_is(c->profile, "(version 1)\r\n(deny default)"));
	CHECK_INT(c->n_rows, 2);
	CHECK_INT(c->rows[0].rule_line, 3);
	CHECK_STR(c->rows[0].text, "op /x => allow 3");
	CHECK_STR(c->rows[1].message, "m");
	arena_release(&arena);
}

static void words_may_hold_any_byte_but_nul(void)
{
	struct sbt_file file = {0};
	struct arena arena = {0};
	char **words;
	struct err e;

	CHECK_INT(sbt_parse(str_of("===\n---\na \"\\x41\\\"\\\\\\n\\t\\xfF=>\" b\"c => allow"), "t",
			    &arena, &file, &e),
		  0);
	words = file.cases[0].rows[0].words;
	CHECK_STR(words[0], "a");
	CHECK_STR(words[1], "A\"\\\n\t\xff=>");
	CHECK_STR(words[2], "b\"c");
	CHECK(words[3] == NULL);
	arena_release(&arena);
}

static void many_words_fit(void)
{
	struct sbt_file file = {0};
	struct arena arena = {0};
	struct err e;

	CHECK_INT(sbt_parse(STR("===\n---\n0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 => allow"), "t",
			    &arena, &file, &e),
		  0);
	for (int i = 0; i < 17; i++)
		CHECK_INT(strtol(file.cases[0].rows[0].words[i], NULL, 10), i);
	CHECK(file.cases[0].rows[0].words[17] == NULL);
	arena_release(&arena);
}

/* A word takes as much memory as it needs, not as its line has left: here 7 GiB. */
static void a_line_may_have_any_number_of_words(void)
{
	static char text[(256 << 10) + 64] = "===\n---\nop";
	struct sbt_file file = {0};
	struct arena arena = {.limit = 16 << 20};
	size_t n = strlen(text), words = 0, wrong = 0;
	struct err e = {0};

	while (n < 256 << 10) {
		memcpy(text + n, words % 2 ? " k=v" : " \"k=\"", 5);
		n += words++ % 2 ? 4 : 5;
	}
	memcpy(text + n, " => deny", 8);
	CHECK_INT(sbt_parse((struct str){text, n + 8}, "t", &arena, &file, &e), 0);
	for (size_t i = 0; i < words; i++)
		if (strcmp(file.cases[0].rows[0].words[1 + i], i % 2 ? "k=v" : "k=") != 0)
			wrong++;
	CHECK_INT(wrong, 0);
	CHECK(!file.cases[0].rows[0].words[1 + words]);
	arena_release(&arena);
}

static void a_nul_byte_is_an_error_where_it_is(void)
{
	static const struct {
		const char *text; /* with * for NUL */
		unsigned line;
	} rows[] = {
		{"# a*b\n", 1},
		{"=== t*\n---\n", 1},
		{"===\n@param A=*\n---\n", 2},
		{"===\n---\nop /*x => deny\n", 3},
		{"===\n---\n\nop \"/x*\" => deny\n", 4},
		{"===\n---\nop => deny f*:1\n", 3},
		{"===\n---\n!! 1:2 a*", 3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(rows[i].text);
		struct sbt_file file = {0};
		struct arena arena = {0};
		char text[64], *nul, *line;
		struct err e = {0};

		memcpy(text, rows[i].text, n + 1);
		nul = strchr(text, '*');
		*nul = '\0';
		line = strrchr(text, '\n');
		CHECK_INT(sbt_parse((struct str){text, n}, "t", &arena, &file, &e), -ERR_POLICY);
		CHECK_STR(e.text, "NUL byte");
		CHECK_INT(e.at.line, rows[i].line);
		CHECK_INT(e.at.column, nul - (line ? line + 1 : text) + 1);
		arena_release(&arena);
	}
}

static void bytes_of_a_profile_are_not_ours_to_judge(void)
{
	struct sbt_file file = {0};
	struct arena arena = {0};
	struct err e = {0};

	CHECK_INT(sbt_parse(STR("===\n;\0\n---\n"), "t", &arena, &file, &e), 0);
	CHECK(str_eq(file.cases[0].profile, STR(";\0")));
	arena_release(&arena);
}

static void what_makes_no_sense_is_an_error_with_its_line(void)
{
	static const struct {
		const char *text;
		unsigned line, column; /* 0: that of the line */
	} rows[] = {
		{"", 1},
		{"# nothing\n\n", 1},
		{"\xef\xbb\xbf===\n---\nop => allow\n", 1},
		{"op => allow\n", 1},
		{"===\n@nonsense\n", 2},
		{"===\n@param A\n", 2},
		{"===\n---\nop allow\n", 3},
		{"===\n---\n\n=> allow\n", 4},
		{"===\n---\nop => maybe\n", 3},
		{"===\n---\nop =>\n", 3},
		{"===\n---\nop => allow 1 2\n", 3},
		{"===\n---\nop => allow x\n", 3},
		{"===\n---\nop => allow 1x\n", 3},
		{"===\n---\nop => allow f.sb:\n", 3},
		{"===\n---\nop => allow 99999999999999999999\n", 3},
		{"===\n---\nop \"x => allow\n", 3, 4},
		{"===\n---\nop \"\\x4\" => allow\n", 3, 5},
		{"===\n---\nop \"\\x00\" => allow\n", 3, 5},
		{"===\n---\n@plan9 op => allow\n", 3},
		{"===\n@linux\n---\n@darwin op => allow\n", 4},
		{"===\n---\n!! 3 message\n", 3},
		{"===\n---\n!! 3:x message\n", 3},
		{"===\n---\n!! 3:4\n", 3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sbt_file file = {0};
		struct arena arena = {0};
		struct err e = {0};

		CHECK_INT(sbt_parse(str_of(rows[i].text), "t", &arena, &file, &e), -ERR_POLICY);
		CHECK_INT(e.at.line, rows[i].line);
		CHECK_INT(e.at.column, rows[i].column ? rows[i].column : 1);
		CHECK_STR(e.file, "t");
		arena_release(&arena);
	}
}

static void params_are_bounded(void)
{
	char text[16 + 65 * sizeof("@param A=b")] = "===\n";
	struct sbt_file file = {0};
	struct arena arena = {0};
	size_t n = strlen(text);
	struct err e = {0};

	for (int i = 0; i < 65; i++, n += strlen("@param A=b\n"))
		memcpy(text + n, "@param A=b\n", strlen("@param A=b\n"));
	CHECK_INT(sbt_parse((struct str){text, n - strlen("@param A=b\n")}, "t", &arena, &file, &e),
		  0);
	CHECK_INT(file.cases[0].n_params, 64);
	file = (struct sbt_file){0};
	CHECK_INT(sbt_parse((struct str){text, n}, "t", &arena, &file, &e), -ERR_POLICY);
	CHECK_INT(e.at.line, 66);
	CHECK_STR(e.text, "more than 64 @param");
	arena_release(&arena);
}

static void memory_may_end_anywhere(void)
{
	static const char text[] =
		"=== t\n@param A=b\n(version 1)\n---\na \"b\" c => allow x:1\n!! 1:1 m\n";
	int failed = 0;

	for (size_t limit = 16;; limit += 16) {
		struct arena arena = {.limit = limit};
		struct sbt_file file = {0};
		struct err e = {0};
		int r = sbt_parse(str_of(text), "t", &arena, &file, &e);

		arena_release(&arena);
		if (r == 0)
			break;
		CHECK_INT(r, -ERR_MEMORY);
		failed++;
	}
	CHECK(failed > 10);
}

int main(void)
{
	RUN(a_file_is_read_whole);
	RUN(lines_may_end_as_on_windows);
	RUN(words_may_hold_any_byte_but_nul);
	RUN(many_words_fit);
	RUN(a_line_may_have_any_number_of_words);
	RUN(a_nul_byte_is_an_error_where_it_is);
	RUN(bytes_of_a_profile_are_not_ours_to_judge);
	RUN(what_makes_no_sense_is_an_error_with_its_line);
	RUN(params_are_bounded);
	RUN(memory_may_end_anywhere);
	return test_done();
}
