/* SPDX-License-Identifier: Apache-2.0 */
/* What Landlock would answer: rights add up along the way to the root. */
#include "plan/plan.h"

#include "base/banned.h"

uint32_t landlock_fs_handled(int abi)
{
	/* The highest right of each version; a version has all rights of those before. */
	static const uint32_t highest[] = {0,           LL_MAKE_SYM, LL_REFER,
					   LL_TRUNCATE, LL_TRUNCATE, LL_IOCTL_DEV};
	const int newest = (int)(sizeof(highest) / sizeof(highest[0])) - 1;

	if (abi <= 0)
		return 0;
	return highest[abi < newest ? abi : newest] * 2 - 1;
}

bool landlock_simulate(const struct plan *plan, const char *path, uint32_t rights)
{
	/* What is not handled is not refused, but moving from one directory to another. */
	uint32_t granted = ~(plan->landlock_fs | LL_REFER);

	for (size_t i = 0; i < plan->n_rows; i++)
		if (str_is_below(str_of(path), str_of(plan->rows[i].path)))
			granted |= plan->rows[i].rights;
	return (granted & rights) == rights;
}
