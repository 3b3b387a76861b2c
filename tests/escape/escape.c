/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape --list | ID | --outsider DIRECTORY | --pty COMMAND… | --descriptors COMMAND… |
 *	--exec-race write|rename
 *
 * --list prints a line per case: id, flags, title, separated by tabs. The rest is for run.sh and
 * start.sh.
 */
#include "escape.h"

#include <stdio.h>
#include <string.h>

static const struct escape_case *const tables[] = {
	path_cases,    protected_cases, race_cases,   proc_cases, namespace_cases,
	seccomp_cases, foreign_cases,   socket_cases, desc_cases,
};

static const struct {
	unsigned flag;
	const char *name;
} flag_names[] = {
	{NEEDS_ROOT, "root"}, {NO_CONTROL, "no-control"}, {LEAVES_LOOT, "loot"},
	{ON_TTY, "tty"},      {WITH_FDS, "descriptors"},  {LATE, "late"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void print_case(const struct escape_case *c)
{
	printf("%s\t", c->id);
	for (size_t i = 0; i < COUNT(flag_names); i++)
		if (c->flags & flag_names[i].flag)
			printf(" %s", flag_names[i].name);
	printf(" \t%s\n", c->title);
}

static int list(void)
{
	for (size_t i = 0; i < COUNT(tables); i++)
		for (const struct escape_case *c = tables[i]; c->id; c++)
			print_case(c);
	return 0;
}

static int attempt(const char *id)
{
	for (size_t i = 0; i < COUNT(tables); i++)
		for (const struct escape_case *c = tables[i]; c->id; c++)
			if (strcmp(c->id, id) == 0)
				return (int)c->attempt();
	printf("# no case is called %s\n", id);
	return BROKEN;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list();
	if (argc == 2)
		return attempt(argv[1]);
	if (argc == 3 && strcmp(argv[1], "--outsider") == 0)
		return outsider_main(argv[2]);
	if (argc == 3 && strcmp(argv[1], "--exec-race") == 0)
		return exec_race_main(argv[2]);
	if (argc >= 3 && strcmp(argv[1], "--pty") == 0)
		return pty_main(argv + 2);
	if (argc >= 3 && strcmp(argv[1], "--descriptors") == 0)
		return descriptors_main(argv + 2);
	fprintf(stderr, "usage: escape --list | ID\n");
	return BROKEN;
}
