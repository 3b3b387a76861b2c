/* SPDX-License-Identifier: Apache-2.0 */
/* No descriptor reaches the command by accident. */
#include "linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/proc.h"
#include "base/banned.h"

enum {
	FIRST = 3
};

struct kept {
	const int *fds; /* ascending, may repeat */
	size_t n;
};

static int close_entry(int dir, const char *name, void *context)
{
	const struct kept *kept = context;
	int fd = (int)strtol(name, NULL, 10);

	for (size_t i = 0; i < kept->n; i++)
		if (kept->fds[i] == fd)
			return 0;
	if (fd < FIRST || fd == dir)
		return 0;
	return close(fd) < 0 && errno != EBADF;
}

/* Where close_range(2) (5.9) is refused: what the kernel says is open. */
static int close_listed(const int *keep, size_t n)
{
	struct kept kept = {keep, n};
	int cleanup_fd dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 || proc_each_entry(dir, close_entry, &kept) != 0 ? -1 : 0;
}

/* Insertion: a handful. */
void scrub_sort(int *fds, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && fds[k - 1] > fds[k]; k--) {
			int swapped = fds[k];

			fds[k] = fds[k - 1];
			fds[k - 1] = swapped;
		}
}

int scrub_fds(const int *keep, size_t n)
{
	unsigned next = FIRST;

	for (size_t i = 0; i < n; i++) {
		if (keep[i] < FIRST || (unsigned)keep[i] < next)
			continue;
		if ((unsigned)keep[i] > next &&
		    syscall(SYS_close_range, next, (unsigned)keep[i] - 1, 0) < 0)
			return close_listed(keep, n);
		next = (unsigned)keep[i] + 1;
	}
	return syscall(SYS_close_range, next, (unsigned)INT_MAX, 0) < 0 ? close_listed(keep, n) : 0;
}
