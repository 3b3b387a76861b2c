/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes the program again, as it was, but without us in LD_AUDIT: for those that do not start
 * with an audit library. The loader has mapped libraries and nothing else has happened. The kernel
 * laid arguments, environment and the program's name out one behind the other, and says where.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lane/patch.h"

/* proc_pid_stat(5), counted from the field behind the name, which ends in the last parenthesis. */
enum stat_field {
	ARG_START = 48 - 2,
	ARG_END,
	ENV_START,
	ENV_END,
};

struct span {
	char *begin, *end;
};

static bool read_stat(char *text, size_t size)
{
	long fd = lane_call(SYS_openat, AT_FDCWD, (long)"/proc/self/stat", O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? fd : lane_call(SYS_read, fd, (long)text, (long)size - 1);

	if (fd >= 0)
		lane_call(SYS_close, fd, 0, 0);
	if (n <= 0)
		return false;
	text[n] = 0;
	return true;
}

static char *field_of(const char *text, int number)
{
	const char *p = text;
	uintptr_t value = 0;

	for (const char *c = text; *c; c++)
		if (*c == ')')
			p = c + 1;
	for (int i = 0; i < number && *p; i++) {
		while (*p == ' ')
			p++;
		if (i < number - 1)
			while (*p && *p != ' ')
				p++;
	}
	for (; *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uintptr_t)(*p - '0');
	return (char *)value;
}

static size_t count(const struct span *strings)
{
	size_t n = 0;

	for (const char *c = strings->begin; c < strings->end; c++)
		n += !*c;
	return n;
}

/* Takes the last library, which is us, out of an entry for LD_AUDIT. False: nothing is left. */
static bool take_out(char *entry)
{
	static const char name[] = "LD_AUDIT=";
	char *last = NULL;

	for (size_t i = 0; i < sizeof(name) - 1; i++)
		if (entry[i] != name[i])
			return true;
	for (char *c = entry; *c; c++)
		if (*c == ':')
			last = c;
	if (last)
		*last = 0;
	return last != NULL;
}

/* Puts pointers to STRINGS, and NULL, at *LIST, and *LIST behind them. */
static void list(const struct span *strings, char ***list, bool environment)
{
	char *next;

	for (char *entry = strings->begin; entry < strings->end; entry = next) {
		for (next = entry; *next; next++)
			;
		next++;
		if (!environment || take_out(entry))
			*(*list)++ = entry;
	}
	*(*list)++ = NULL;
}

void lane_leave(void)
{
	struct span arguments, environment;
	char text[1024], **lists, **end;
	size_t size;

	if (!read_stat(text, sizeof(text)))
		return;
	arguments = (struct span){field_of(text, ARG_START), field_of(text, ARG_END)};
	environment = (struct span){field_of(text, ENV_START), field_of(text, ENV_END)};
	if (!arguments.begin || !environment.begin || !environment.end)
		return;
	size = (count(&arguments) + count(&environment) + 2) * sizeof(*lists);
	lists = lane_map(size);
	if (!lists)
		return;
	end = lists;
	list(&arguments, &end, false);
	size = (size_t)(end - lists);
	list(&environment, &end, true);
	lane_call(SYS_execve, (long)environment.end, (long)lists, (long)(lists + size));
}
