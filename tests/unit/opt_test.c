/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser: how options are written, and what is said about those that are wrong. */
#include "test.h"

#include "base/buf.h"
#include "cli/opt.h"
#include "base/banned.h"

struct seen {
	char text[64]; /* "f=file v p=" ... */
	size_t n;
};

static void note(struct seen *seen, char letter, const char *value)
{
	int n = snprintf(seen->text + seen->n, sizeof(seen->text) - seen->n, "%c%s%s ", letter,
			 value ? "=" : "", value ? value : "");

	seen->n += (size_t)n;
}

static const char *take_file(void *context, const char *value)
{
	note(context, 'f', value);
	return strcmp(value, "bad") == 0 ? "is bad" : NULL;
}

static const char *take_verbose(void *context, const char *value)
{
	note(context, 'v', value);
	return NULL;
}

static const char *take_quiet(void *context, const char *value)
{
	note(context, 'q', value);
	return NULL;
}

static const struct opt file = {'f', "file", "FILE", "reads FILE", take_file};
static const struct opt verbose = {'v', "verbose", NULL, "says more", take_verbose};
static const struct opt quiet = {'q', NULL, NULL, "says less", take_quiet};
static const struct opt nameless = {0, "long-only", NULL, "has no letter", take_quiet};
static const struct opt *const table[] = {&file, &verbose, &quiet, &nameless, NULL};

static void options_are_taken_in_every_spelling(void)
{
	static const struct {
		const char *argv[8];
		const char *seen;
		int first;
	} rows[] = {
		{{"x", NULL}, "", 1},
		{{"x", "operand", "-v", NULL}, "", 1},
		{{"x", "-f", "a", "operand", NULL}, "f=a ", 3},
		{{"x", "-fa", "operand", NULL}, "f=a ", 2},
		{{"x", "--file=a", NULL}, "f=a ", 2},
		{{"x", "--file", "a", NULL}, "f=a ", 3},
		{{"x", "--file=", NULL}, "f= ", 2},
		{{"x", "-f", "", NULL}, "f= ", 3},
		{{"x", "-vqf", "a", "b", NULL}, "v q f=a ", 3},
		{{"x", "-qvfa", "b", NULL}, "q v f=a ", 2},
		{{"x", "-v", "--", "-q", NULL}, "v ", 3},
		{{"x", "--verbose", "-", NULL}, "v ", 2},
		{{"x", "-f", "--", "-f", "-v", NULL}, "f=-- f=-v ", 5},
		{{"x", "-f", "a=b", "--file=c=d", NULL}, "f=a=b f=c=d ", 4},
		{{"x", "--long-only", NULL}, "q ", 2},
		{{NULL}, "", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seen seen = {0};
		struct buf error = {0};
		char *argv[8];

		for (size_t k = 0; k < 8; k++)
			argv[k] = rows[i].argv[k] ? strdup(rows[i].argv[k]) : NULL;
		CHECK_INT(opt_parse(table, argv, &seen, &error), rows[i].first);
		CHECK_STR(seen.text, rows[i].seen);
		CHECK_INT(error.n, 0);
		for (size_t k = 0; k < 8; k++)
			free(argv[k]);
	}
}

static void wrong_options_are_named(void)
{
	static const struct {
		const char *first, *second, *error;
	} rows[] = {
		{"-x", NULL, "option -x is not known"},
		{"-vx", NULL, "option -x is not known"},
		{"--unknown=1", NULL, "option --unknown is not known"},
		{"--fil", NULL, "option --fil is not known; did you mean --file?"},
		{"--vrebose=1", NULL, "option --vrebose is not known; did you mean --verbose?"},
		{"-f", NULL, "option -f needs an argument"},
		{"--file", NULL, "option --file needs an argument"},
		{"--verbose=1", NULL, "option --verbose takes no argument"},
		{"-fbad", NULL, "option -f is bad"},
		{"--file", "bad", "option --file is bad"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char first[32], second[32];
		char *argv[] = {first, first, rows[i].second ? second : NULL, NULL};
		struct seen seen = {0};
		struct buf error = {0};

		(void)snprintf(first, sizeof(first), "%s", rows[i].first);
		(void)snprintf(second, sizeof(second), "%s", rows[i].second ? rows[i].second : "");
		CHECK_INT(opt_parse(table, argv, &seen, &error), -1);
		CHECK_STR(buf_str(&error).p, rows[i].error);
		buf_release(&error);
	}
}

static void help_has_a_line_for_each_option(void)
{
	struct buf help = {0};

	opt_help(table, &help);
	CHECK_STR(buf_str(&help).p, "  -f, --file=FILE         reads FILE\n"
				    "  -v, --verbose           says more\n"
				    "  -q                      says less\n"
				    "      --long-only         has no letter\n");
	buf_release(&help);
}

int main(void)
{
	RUN(options_are_taken_in_every_spelling);
	RUN(wrong_options_are_named);
	RUN(help_has_a_line_for_each_option);
	return test_done();
}
