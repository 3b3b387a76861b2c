/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which subcommand? A first word that is none starts a command line to run: `lapbelt make` is
 * `lapbelt run make`. Called as sandbox-exec, the program is `lapbelt exec`.
 */
#include <lapbelt.h>

#include <stdio.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "live/live.h"
#include "base/banned.h"

static void print_version(void)
{
	struct buf text = {0};

	buf_printf(&text, "lapbelt %s\n", lapbelt_version());
	out_print(&text);
}

static void print_usage(void)
{
	struct buf text = {0};

	buf_puts(&text, "usage: lapbelt COMMAND [OPTION...] ...\n"
			"       lapbelt PROGRAM [ARGUMENT...]\n\n");
	for (const struct command *const *at = commands; *at; at++)
		buf_printf(&text, "  %-10s%s\n", (*at)->name, (*at)->help);
	buf_puts(&text, "\nlapbelt COMMAND --help says more; lapbelt(1) says all.\n");
	out_print(&text);
}

static const struct command *find_command(const char *name)
{
	const struct command *const *at = commands;

	while (*at && strcmp((*at)->name, name) != 0)
		at++;
	return *at;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Nothing that we open may come to stand where others expect standard input, output or errors. */
static bool fill_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	return fd >= 0 && close(fd) == 0;
}

static int run_command(int argc, char **argv)
{
	static char help[] = "--help";
	const struct command *command;

	if (argc > 0 && strcmp(base_name(argv[0]), "sandbox-exec") == 0) {
		diag_set_style(DIAG_SANDBOX_EXEC);
		return command_main(&command_exec, argv);
	}
	if (argc < 2) {
		print_usage();
		return lapbelt_exit_code(LAPBELT_USAGE);
	}
	if (is_one_of(argv[1], "help", "--help", "-h")) {
		command = argc > 2 ? find_command(argv[2]) : NULL;
		if (command)
			return command_main(command, (char *[]){argv[2], help, NULL});
		print_usage();
		return 0;
	}
	if (is_one_of(argv[1], "version", "--version", "-V")) {
		print_version();
		return 0;
	}
	command = find_command(argv[1]);
	if (command)
		return command_main(command, argv + 1);
	return command_main(&command_run, argv);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], LIVE_HELPER) == 0) /* first: a policy may deny the rest */
		return live_helper(argv + 1);
	if (!fill_stdio())
		return lapbelt_exit_code(LAPBELT_OS);
	return out_end(run_command(argc, argv));
}
