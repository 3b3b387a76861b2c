/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/opt.h"

#include <string.h>

#include "base/near.h"
#include "base/str.h"
#include "base/banned.h"

static const struct opt *find_letter(const struct opt *const *table, char letter)
{
	for (; *table; table++)
		if ((*table)->letter == letter)
			return *table;
	return NULL;
}

static const struct opt *find_name(const struct opt *const *table, struct str name)
{
	for (; *table; table++)
		if ((*table)->name && str_is(name, (*table)->name))
			return *table;
	return NULL;
}

/* One option word, taken apart. */
struct found {
	const struct opt *opt;
	struct str as;     /* as written, for messages */
	const char *value; /* NULL: none was attached */
};

/* --name or --name=value */
static struct found parse_long(const struct opt *const *table, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : strlen(word);

	return (struct found){.opt = find_name(table, (struct str){word + 2, n - 2}),
			      .as = (struct str){word, n},
			      .value = equals ? equals + 1 : NULL};
}

/* -x or -xvalue; the value of an option that takes none is the next letter of the cluster. */
static struct found parse_short(const struct opt *const *table, const char *at)
{
	return (struct found){.opt = find_letter(table, *at),
			      .as = (struct str){at, 1},
			      .value = at[1] ? at + 1 : NULL};
}

static int fail(struct buf *error, struct str as, const char *what)
{
	const char *dash = as.n == 1 ? "-" : "";

	buf_printf(error, "option %s%.*s %s", dash, (int)as.n, as.p, what);
	return -1;
}

static int fail_unknown(const struct opt *const *table, struct str as, struct buf *error)
{
	struct near near = {.word = as.n > 2 ? (struct str){as.p + 2, as.n - 2} : STR("")};

	for (; *table; table++)
		if ((*table)->name)
			near_try(&near, (*table)->name);
	(void)fail(error, as, "is not known");
	if (near.best)
		buf_printf(error, "; did you mean --%s?", near.best);
	return -1;
}

/* Returns how many words were used up by FOUND beyond its own, or -1. */
static int take(const struct opt *const *table, const struct found *found, const char *next,
		void *context, struct buf *error)
{
	const char *value = found->value ? found->value : next;
	const char *problem;

	if (!found->opt)
		return fail_unknown(table, found->as, error);
	if (found->opt->argument && !value)
		return fail(error, found->as, "needs an argument");
	problem = found->opt->take(context, found->opt->argument ? value : NULL);
	if (problem)
		return fail(error, found->as, problem);
	return found->opt->argument && !found->value;
}

static int take_long(const struct opt *const *table, char **words, void *context, struct buf *error)
{
	struct found found = parse_long(table, words[0]);

	if (found.opt && !found.opt->argument && found.value)
		return fail(error, found.as, "takes no argument");
	return take(table, &found, words[1], context, error);
}

static int take_cluster(const struct opt *const *table, char **words, void *context,
			struct buf *error)
{
	for (const char *at = words[0] + 1; *at; at++) {
		struct found found = parse_short(table, at);
		int used = take(table, &found, words[1], context, error);

		if (used < 0 || found.opt->argument)
			return used;
	}
	return 0;
}

int opt_parse(const struct opt *const *table, char **argv, void *context, struct buf *ret_error)
{
	int i = argv[0] ? 1 : 0;

	while (argv[i] && argv[i][0] == '-' && argv[i][1]) {
		bool is_long = argv[i][1] == '-';
		int used;

		if (is_long && !argv[i][2])
			return i + 1;
		used = is_long ? take_long(table, argv + i, context, ret_error)
			       : take_cluster(table, argv + i, context, ret_error);
		if (used < 0)
			return -1;
		i += 1 + used;
	}
	return i;
}

void opt_help(const struct opt *const *table, struct buf *ret)
{
	const size_t column = 26;

	for (; *table; table++) {
		const struct opt *opt = *table;
		size_t start = ret->n;

		if (opt->letter)
			buf_printf(ret, "  -%c%s", opt->letter, opt->name ? ", " : "");
		else
			buf_puts(ret, "      ");
		if (opt->name)
			buf_printf(ret, "--%s", opt->name);
		if (opt->argument)
			buf_printf(ret, "%s%s", opt->name ? "=" : " ", opt->argument);
		buf_putc(ret, ' ');
		while (ret->n - start < column && !ret->failed)
			buf_putc(ret, ' ');
		buf_printf(ret, "%s\n", opt->help);
	}
}
