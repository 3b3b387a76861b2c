/* SPDX-License-Identifier: Apache-2.0 */
/* --limit=NAME=VALUE: what a run may use up. */
#include "cli/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/banned.h"

static const struct name {
	const char *name;
	size_t offset; /* in struct lapbelt_limits */
	bool is_size;
} names[] = {
	{"cpu", offsetof(struct lapbelt_limits, cpu), false},
	{"memory", offsetof(struct lapbelt_limits, memory), true},
	{"processes", offsetof(struct lapbelt_limits, processes), false},
	{"open-files", offsetof(struct lapbelt_limits, open_files), false},
	{"file-size", offsetof(struct lapbelt_limits, file_size), true},
	{"time", offsetof(struct lapbelt_limits, time), false},
};

enum {
	NAMES = sizeof(names) / sizeof(names[0])
};

static const struct name *find(struct str word)
{
	for (size_t i = 0; i < NAMES; i++)
		if (str_is(word, names[i].name))
			return &names[i];
	return NULL;
}

static const char *unknown(struct args *args, struct str word)
{
	struct near near = {.word = word};
	const char *text;

	for (size_t i = 0; i < NAMES; i++)
		near_try(&near, names[i].name);
	if (!near.best)
		return "knows cpu, memory, processes, open-files, file-size and time";
	text = arena_printf(&args->arena, "does not know '%.*s'; did you mean %s?", (int)word.n,
			    word.p, near.best);
	return text ? text : "does not know this";
}

/* K, M, G or T: by how many bits a number before it is shifted; 0: none of them. */
static unsigned shift_of(char suffix)
{
	static const char suffixes[] = "KMGT";
	const char *at = suffix ? strchr(suffixes, suffix) : NULL;

	return at ? 10 * (unsigned)(at - suffixes + 1) : 0;
}

static const char *parse(const char *text, bool is_size, uint64_t *ret)
{
	char *end;
	unsigned long long number;
	unsigned shift;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno || number == 0)
		return is_size ? "takes a number of bytes above 0, with K, M, G or T after it or "
				 "not"
			       : "takes a number above 0";
	shift = is_size ? shift_of(*end) : 0;
	if (end[shift ? 1 : 0] || number > UINT64_MAX >> shift)
		return is_size ? "takes a number of bytes above 0, with K, M, G or T after it or "
				 "not"
			       : "takes a number above 0";
	*ret = number << shift;
	return NULL;
}

static const char *take_limit(void *context, const char *value)
{
	struct args *args = context;
	const char *equals = strchr(value, '=');
	const struct name *name;
	struct str word;
	uint64_t number = 0;
	const char *problem;

	if (!equals)
		return "is not NAME=VALUE";
	word = (struct str){value, (size_t)(equals - value)};
	name = find(word);
	if (!name)
		return unknown(args, word);
	problem = parse(equals + 1, name->is_size, &number);
	if (!problem)
		*(uint64_t *)((char *)&args->limits + name->offset) = number;
	return problem;
}

const struct opt opt_limit = {0, "limit", "NAME=VALUE",
			      "of cpu, memory, processes, open-files, file-size, time", take_limit};
