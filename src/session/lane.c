/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An audit library rather than a preloaded one: programs do not see it among their libraries
 * (AddressSanitizer refuses to start where another comes first), it takes part in no symbol
 * look-up, and it is there when the C library is mapped. Before glibc 2.35 the loader slows down
 * every call between libraries for the sake of any audit library, so there it is not used; other C
 * libraries do not know it.
 */
#include "session/lane.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/banned.h"

static const char variable[] = "LD_AUDIT=";

static bool is_taken(void)
{
#if defined(__GLIBC__) && defined(LAPBELT_LANE_PATH)
	const char *version = gnu_get_libc_version();
	char *rest;

	return strtol(version, &rest, 10) == 2 && *rest == '.' && strtol(rest + 1, NULL, 10) >= 35;
#else
	return false;
#endif
}

#ifndef LAPBELT_LANE_PATH
#define LAPBELT_LANE_PATH ""
#endif

/* Everybody must be able to read it, whoever the command becomes. */
const char *lane_find_library(struct arena *arena)
{
	const char *given = getenv("LAPBELT_LANE");
	char *real, *copy = NULL;
	struct stat st;

	if (!is_taken())
		return NULL;
	real = realpath(given ? given : LAPBELT_LANE_PATH, NULL);
	/* The loader's list is divided by colons, and it expands dollars. */
	if (real && !strpbrk(real, ":$") && stat(real, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_mode & S_IROTH))
		copy = arena_strdup(arena, str_of(real));
	free(real);
	return copy;
}

bool lane_is_loadable(const struct plan *plan, const struct plan_input *input, const char *library)
{
	struct request request = {.op = OP_FILE_READ_DATA,
				  .path = str_of(library),
				  .has = HAS_VNODE_TYPE,
				  .vnode_type = VNODE_REGULAR};
	struct decision decision;

	if (plan_is_mounted(plan, MOUNT_HIDE, request.path) ||
	    (plan_is_mounted(plan, MOUNT_PRIVATE_TMP, request.path) &&
	     !plan_is_mounted(plan, MOUNT_KEEP, request.path)) ||
	    (input->scratch.n && str_is_below(request.path, STR("/tmp"))))
		return false;
	policy_decide(input->policy, &request, &decision);
	return decision.verdict == VERDICT_ALLOW &&
	       ((plan->brokered & BROKER_READ) || landlock_simulate(plan, library, LL_READ_FILE));
}

char **lane_environ(char *const *env, const char *library, struct arena *arena)
{
	const size_t n_variable = sizeof(variable) - 1;
	const char *others = "";
	size_t count = 0, n = 0;
	char **ret;

	while (env[count])
		count++;
	ret = arena_array(arena, count + 2, sizeof(*ret));
	if (!ret)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (strncmp(env[i], variable, n_variable) != 0)
			ret[n++] = env[i];
		else if (!*others)
			others = env[i] + n_variable;
	ret[n] = arena_printf(arena, "%s%s%s%s", variable, others, *others ? ":" : "", library);
	return ret[n] ? ret : NULL;
}
