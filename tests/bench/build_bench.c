/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what policies cost to build and to keep: 100, 1,000 and 10,000 rules of one kind, and a
 * profile of the shape and size of those that Apple ships: 1,600 lines of services, paths and
 * regular expressions. With a file as argument: that profile instead.
 */
#include <time.h>

#include "../unit/rules.h"
#include "sbpl/sbpl.h"

enum {
	BUILDS = 15, /* the best of them counts */
};

static double cpu_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- Growth ---- */

static const char *const words[] = {"alpha",  "build", "cache",  "data",   "editor",
				    "fonts",  "git",   "home",   "index",  "journal",
				    "kernel", "lib",   "media",  "node",   "office",
				    "proxy",  "queue", "report", "shared", "tmp"};

static const char *word(unsigned i)
{
	return words[i % (sizeof(words) / sizeof(*words))];
}

/* Like the paths of a system: common directories, names of their own. */
static void path_of(unsigned i, char *ret, size_t size)
{
	unsigned mixed = i * 2654435761u >> 7;

	(void)snprintf(ret, size, "/home/user/%s/%s-%u/%s/%s.%u", word(mixed), word(mixed >> 5),
		       i % 977, word(mixed >> 9), word(mixed >> 13), i);
}

static void add_regex(struct policy_builder *b, unsigned i)
{
	char text[128];

	if (i % 2)
		(void)snprintf(text, sizeof(text), "^/home/user/%s/[^/]+/%s-%u\\.(plist|db)$",
			       word(i / 7), word(i), i);
	else
		(void)snprintf(text, sizeof(text), "^/srv/%s-%u/.*\\.%s$", word(i), i, word(i / 3));
	rules_add(b, i % 3 ? VERDICT_ALLOW : VERDICT_DENY, OP_FILE_READ_DATA, regex(b, text));
}

enum kind {
	KIND_LITERAL,
	KIND_SUBPATH,
	KIND_RANDOM,
	KIND_MIX,
	KIND_COUNT,
};

static struct policy *build(enum kind kind, unsigned n, struct err *e)
{
	struct policy_builder *b = rules_new(TARGET_LINUX);
	struct policy *policy = NULL;
	char text[128];

	for (unsigned i = 0; i < n; i++) {
		bool is_literal = kind == KIND_LITERAL || (kind == KIND_MIX && i % 2);

		if (kind == KIND_MIX && i % 20 == 0) {
			add_regex(b, i / 20);
			continue;
		}
		if (kind == KIND_RANDOM)
			numbered_path(i, text);
		else
			path_of(i, text, sizeof(text));
		rules_add(b, i % 3 ? VERDICT_ALLOW : VERDICT_DENY, OP_FILE_READ_DATA,
			  is_literal ? literal(b, text) : subpath(b, text));
	}
	(void)policy_build(b, &policy, e);
	return policy;
}

static void time_growth(enum kind kind, unsigned n)
{
	static const char *const names[] = {"literals", "subpaths", "random subpaths",
					    "both and 5% regexes"};
	double best = 1e18;
	unsigned states = 0;
	size_t size = 0;

	for (unsigned i = 0; i < (n > 1000 ? 3 : BUILDS); i++) {
		struct err e = {0};
		double start = cpu_ms();
		struct policy *policy = build(kind, n, &e);
		double spent = cpu_ms() - start;

		if (!policy) {
			printf("%6u %-20s %s\n", n, names[kind], e.text);
			return;
		}
		states = policy_n_states(policy);
		size = policy_table_size(policy);
		policy_free(policy);
		best = spent < best ? spent : best;
	}
	printf("%6u %-20s %8.2f ms %8u states %10zu bytes %7.0f bytes a rule\n", n, names[kind],
	       best, states, size, (double)size / n);
}

/* ---- A large profile ---- */

static void add_services(struct buf *text, unsigned n)
{
	buf_puts(text, "(allow\n    mach-lookup\n");
	for (unsigned i = 0; i < n; i++)
		buf_printf(text, "    (global-name \"com.example.%s.%s-%u\")\n", word(i),
			   word(i / 3), i);
	buf_puts(text, ")\n");
}

static void add_paths(struct buf *text, const char *op, unsigned from, unsigned n)
{
	buf_printf(text, "(allow\n    %s\n", op);
	for (unsigned i = from; i < from + n; i++)
		buf_printf(text, "    (%s \"/%s/%s/%s-%u\")\n", i % 2 ? "subpath" : "path",
			   i % 3 ? "Library" : "private/var/db", word(i), word(i / 5), i);
	buf_puts(text, ")\n");
}

static void add_preferences(struct buf *text, unsigned n)
{
	buf_puts(text, "(allow\n    file-read*\n");
	for (unsigned i = 0; i < n; i++)
		buf_printf(text,
			   "    (path-regex \"^/Users/me/Library/Preferences/ByHost/"
			   "com\\\\.example\\\\.%s\\\\.%s-%u\\\\..*\\\\.plist%s$\")\n",
			   word(i), word(i / 4), i, i % 6 ? "" : "(\\\\..+)?");
	buf_puts(text, ")\n");
}

static void add_nested(struct buf *text, unsigned i)
{
	buf_printf(text,
		   "(deny\n    file-write-create\n    (require-all\n        (vnode-type SYMLINK)\n"
		   "        (require-any\n            (subpath \"/Users/me/Library/%s-%u\")\n"
		   "            (path-regex \"^/dev/r?disk[0-9]+s%u\")\n        )\n    )\n)\n"
		   "(allow\n    file-read*\n    (require-all\n        (file-mode #o4)\n"
		   "        (require-not\n            (path \"/usr/%s/%u\")\n        )\n"
		   "        (subpath \"/usr/%s\")\n    )\n)\n",
		   word(i), i, i, word(i), i, word(i));
}

static void write_profile(struct buf *text)
{
	buf_puts(text, "(version 1)\n(deny\n    default\n)\n");
	add_services(text, 170);
	for (unsigned i = 0; i < 40; i++)
		add_paths(text,
			  i % 3   ? "file-read*"
			  : i % 2 ? "file-write*"
				  : "network-outbound",
			  i * 5, 5);
	add_preferences(text, 50);
	for (unsigned i = 0; i < 40; i++)
		add_nested(text, i);
	for (unsigned i = 0; i < 50; i++)
		buf_printf(text,
			   "(allow\n    user-preference-read\n"
			   "    (preference-domain \"com.example.%s-%u\")\n)\n",
			   word(i), i);
}

static void time_profile(struct buf *text, enum target target)
{
	struct sbpl_source source = {"profile", buf_str(text), ORIGIN_PROFILE};
	struct sbpl_options options = {.target = target,
				       .limits = SBPL_LIMITS_DEFAULT,
				       .policy_limits = POLICY_LIMITS_DEFAULT};
	static struct sbpl_errors errors;
	unsigned lines = 0, states = 0;
	double best = 1e18;
	size_t rules = 0, size = 0;

	for (size_t i = 0; i < text->n; i++)
		lines += text->p[i] == '\n';
	for (unsigned i = 0; i < BUILDS; i++) {
		struct policy *policy = NULL;
		double start = cpu_ms(), spent;

		CHECK_INT(sbpl_compile(&source, 1, &options, &policy, &errors), 0);
		spent = cpu_ms() - start;
		best = spent < best ? spent : best;
		if (!policy)
			return;
		rules = policy_n_rules(policy);
		states = policy_n_states(policy);
		size = policy_table_size(policy);
		policy_free(policy);
	}
	printf("%u lines, %zu rules, %s: %.2f ms, %u states, %zu bytes\n", lines, rules,
	       target == TARGET_LINUX ? "linux" : "darwin", best, states, size);
}

static bool read_file(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "r");
	char *room = file ? buf_reserve(ret, 1 << 20) : NULL;

	if (room)
		ret->n += fread(room, 1, 1 << 20, file);
	if (file)
		(void)fclose(file);
	return room;
}

int main(int argc, char **argv)
{
	struct buf text = {0};

	if (argc > 1)
		CHECK(read_file(argv[1], &text));
	else
		write_profile(&text);
	time_profile(&text, TARGET_LINUX);
	time_profile(&text, TARGET_DARWIN);
	for (unsigned kind = 0; argc == 1 && kind < KIND_COUNT; kind++)
		for (unsigned n = 100; n <= 10000; n *= 10)
			time_growth((enum kind)kind, n);
	buf_release(&text);
	return test_failures_here > 0;
}
