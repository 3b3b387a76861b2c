/* SPDX-License-Identifier: Apache-2.0 */
/* No descriptor reaches the command by accident. */
#include "linux/linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/banned.h"

enum { FIRST = 3 };

/*
 * Closes FIRST_FD to LAST_FD inclusive. Where close_range(2) (5.9) is refused, one by one up to the
 * hard limit: nothing above it can be open unless the limit was lowered since, so the kernel's own
 * ceiling bounds the loop.
 */
static int close_span(unsigned first, unsigned last)
{
	struct rlimit limit;

	if (first > last)
		return 0;
	if (syscall(SYS_close_range, first, last, 0) == 0)
		return 0;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	if (limit.rlim_max < 1024 * 1024)
		limit.rlim_max = 1024 * 1024;
	for (unsigned fd = first; fd <= last && fd < limit.rlim_max; fd++)
		if (close((int)fd) < 0 && errno != EBADF)
			return -1;
	return 0;
}

int scrub_fds(const int *keep, size_t n)
{
	unsigned next = FIRST;

	for (size_t i = 0; i < n; i++) {
		if (keep[i] < FIRST)
			continue;
		if ((unsigned)keep[i] < next || close_span(next, (unsigned)keep[i] - 1) < 0)
			return -1;
		next = (unsigned)keep[i] + 1;
	}
	return close_span(next, UINT32_MAX >> 1);
}
