/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/territory.h"

#include "plan/plan.h"

#include "base/banned.h"

/* Rows of .def files end in no comma, so theirs are in the macros. */
/* clang-format off */
#define USE(op)       {OP_##op}
#define USE2(op, op2) {OP_##op, OP_##op2}
#define NO_USE        {OP_DEFAULT}
#define USES(...)     {{__VA_ARGS__}}

const struct group_spec groups[GROUP_COUNT] = {
#define GROUP(group, rights, first, second) {rights, USES(first, second)},
#include "plan/rights.def"
};

static const char shm[] = "/dev/shm";
static const char parameters[] = "/proc/sys";

const struct territory territories[] = {
	{shm, false, false, {
#define IN_SHM(group, first, second) [GROUP_##group] = USES(first, second),
#include "plan/rights.def"
	}},
	{parameters, true, false, {
#define IN_SYSCTL(group, first, second) [GROUP_##group] = USES(first, second),
#include "plan/rights.def"
	}},
	{"/dev/pts", true, true, {
#define IN_TERMINALS(group, first, second) [GROUP_##group] = USES(first, second),
#include "plan/rights.def"
	}},
	{"/dev/ptmx", true, true, {
#define IN_TERMINALS(group, first, second) [GROUP_##group] = USES(first, second),
#include "plan/rights.def"
	}},
};
/* clang-format on */

const size_t n_territories = sizeof(territories) / sizeof(territories[0]);

const struct territory *territory_of(struct str path)
{
	for (size_t i = 0; i < n_territories; i++)
		if (str_is_below(path, str_of(territories[i].path)))
			return &territories[i];
	return NULL;
}

bool territory_asks(const struct territory *territory, enum group group)
{
	return territory->uses[group].ops[0][0] != OP_DEFAULT;
}

/* ---- One file ---- */

/* The group of rights that OP on a file takes, or GROUP_COUNT. */
static enum group group_of(enum op op, bool directory)
{
	switch (op) {
	case OP_FILE_READ_DATA:
		return directory ? GROUP_LIST : GROUP_READ;
	case OP_FILE_WRITE_DATA:
		return GROUP_DATA;
	case OP_FILE_WRITE_CREATE:
	case OP_FILE_LINK:
		return GROUP_CREATE;
	case OP_FILE_WRITE_UNLINK:
		return GROUP_UNLINK;
	default:
		return GROUP_COUNT;
	}
}

/* The part of PATH below DIR, with the slash before it. */
static struct str below(struct str path, const char *dir)
{
	size_t n = strlen(dir);

	return (struct str){path.p + n, path.n - n};
}

/* sem_open(3) puts the semaphore NAME at sem.NAME, shm_open(3) the object NAME at NAME. */
static const char semaphore[] = "/sem.";

static bool is_semaphore(struct str tail)
{
	const size_t n = sizeof(semaphore) - 1;

	return tail.n > n && memcmp(tail.p, semaphore, n) == 0;
}

static void name_object(struct str tail, char *buffer, struct territory_question *ret)
{
	size_t skip = is_semaphore(tail) ? sizeof(semaphore) - 1 : 1;

	if (tail.n <= skip || tail.n - skip >= TERRITORY_NAME_MAX)
		return;
	buffer[0] = '/';
	memcpy(buffer + 1, tail.p + skip, tail.n - skip);
	ret->name = (struct str){buffer, tail.n - skip + 1};
}

/* sysctl(8) writes kernel.hostname for /proc/sys/kernel/hostname. */
static void name_parameter(struct str tail, char *buffer, struct territory_question *ret)
{
	if (tail.n <= 1 || tail.n - 1 >= TERRITORY_NAME_MAX)
		return;
	for (size_t i = 1; i < tail.n; i++)
		buffer[i - 1] = (char)(tail.p[i] == '/' ? '.' : tail.p[i]);
	ret->name = (struct str){buffer, tail.n - 1};
}

bool territory_question(struct str path, enum op op, bool directory, char *buffer,
			struct territory_question *ret)
{
	const struct territory *territory = territory_of(path);
	enum group group = group_of(op, directory);
	unsigned use = 0;

	if (!territory || group == GROUP_COUNT || !territory_asks(territory, group))
		return false;
	*ret = (struct territory_question){.and_files = territory->and_files};
	if (territory->path == shm) {
		name_object(below(path, shm), buffer, ret);
		use = is_semaphore(below(path, shm));
	} else if (territory->path == parameters) {
		name_parameter(below(path, parameters), buffer, ret);
	}
	ret->ops = territory->uses[group].ops[use];
	return true;
}
