/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes dictionaries for the fuzzers from our own tables: every name a profile can use, or what
 * regular expressions and tables of tests are made of.
 *
 *	dict sbpl|regex|sbt >FILE
 */
#include <stdio.h>

#include "base/buf.h"
#include "sbpl/profile.h"

#include "base/banned.h"

/* Directives that sbpl.c binds itself, and what the lexer knows. */
static const char *const sbpl_words[] = {
	"(version 1)",
	"(version 3)",
	"(param \"HOME\")",
	"(import \"a.sb\")",
	"(trace \"t\")",
	"*import-path*",
	"(allow ",
	"(deny ",
	"(with ",
	"#\"",
	"#(",
	",@",
	"`",
	",",
	"'",
	"\"",
	"#!",
	";",
	".",
	"#t",
	"#f",
	"#\\",
	"#\\x",
	"#x",
	"#o",
	"#b",
	"#d",
	"=>",
	"else",
	"(subpath \"/",
	"(literal \"/",
	"(regex #\"^/",
	"(prefix \"/",
	"/private/tmp",
	"/tmp",
	"/var",
	"\"*:*\"",
	"\"localhost:*\"",
	"map",
	"for-each",
	"partition",
	"filter",
	"foldr",
	"_IO",
	"${HOME}",
	NULL,
};

static const char *const regex_words[] = {
	"^",
	"$",
	"(",
	")",
	"|",
	"*",
	"+",
	"?",
	".",
	"[",
	"]",
	"[^",
	"\\",
	"\\.",
	"{2}",
	"{0,1}",
	"{3,}",
	"{0}",
	"{255}",
	"(/|$)",
	"(/.*)?",
	"[a-z]",
	"[^/]",
	"[^/]*",
	"(?:",
	"(?i)",
	"[]",
	"[-",
	"[[:",
	"/private/tmp",
	"/private/var",
	"/tmp",
	"/var",
	"/etc",
	".*",
	"(a|)",
	"\n",
	NULL,
};

static const char *const sbt_words[] = {
	"=== ",
	"\n---\n",
	"\n=== t\n(version 1)\n---\n",
	" => allow",
	" => deny",
	" => allow 3",
	" => deny -",
	" => allow f.sb:7",
	"!! 1:1 ",
	"@linux",
	"@darwin",
	"@param A=b\n",
	"\"",
	"\\x41",
	"\\n",
	"file-read-data",
	"vnode-type=DIRECTORY",
	"4294967295",
	"4294967296",
	"# ",
	"\t",
	NULL,
};

static void print_entry(struct str s)
{
	putchar('"');
	for (size_t i = 0; i < s.n; i++)
		printf("\\x%02x", (unsigned char)s.p[i]);
	printf("\"\n");
}

static void print_words(const char *const *words)
{
	for (; *words; words++)
		print_entry(str_of(*words));
}

/* Hundreds of commands of ioctl and fsctl would drown the rest. */
static bool is_worth_it(const struct symbol *symbol)
{
	const struct value *v = symbol->global;

	if (!v)
		return false;
	return !is_type(v, VALUE_CONSTANT) || (v->constant->filter != FILTER_FSCTL_COMMAND &&
					       v->constant->filter != FILTER_IOCTL_COMMAND &&
					       v->constant->filter != FILTER_SYSCALL_NUMBER &&
					       v->constant->filter != FILTER_KERNEL_MIG_ROUTINE);
}

static int print_names(void)
{
	static struct machine m;
	struct arena arena = {0};
	int r = machine_init(&m, &arena, &SBPL_LIMITS_DEFAULT);

	if (r == 0)
		r = names_bind(&m);
	if (r == 0)
		r = filters_bind(&m);
	if (r == 0)
		r = rules_bind(&m);
	for (size_t i = 0; i < SYMBOL_BUCKETS && r == 0; i++) {
		for (const struct symbol *s = m.symbols[i]; s; s = s->next) {
			if (is_worth_it(s))
				print_entry(s->name);
		}
	}
	arena_release(&arena);
	return r;
}

int main(int argc, char **argv)
{
	struct str which = argc == 2 ? str_of(argv[1]) : STR("");

	if (str_is(which, "regex"))
		print_words(regex_words);
	else if (str_is(which, "sbt"))
		print_words(sbt_words);
	else if (str_is(which, "sbpl"))
		print_words(sbpl_words);
	else
		return 64;
	return str_is(which, "sbpl") && print_names() < 0 ? 1 : 0;
}
