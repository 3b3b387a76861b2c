/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of other architectures that this one makes, too: i386 and x32. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define X32_BIT 0x40000000L

static enum outcome call_by_x32(void)
{
	long fd = syscall(X32_BIT | SYS_openat, AT_FDCWD, other("f"), O_WRONLY | O_APPEND, 0);

	if (fd < 0 && errno == ENOSYS)
		return untried("kernel lacks x32");
	return came_through(fd);
}

enum {
	I386_OPEN = 5,
	I386_SOCKET = 359
};

static long int80(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static enum outcome call_by_int80(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result;

	if (low == MAP_FAILED)
		broken("mmap");
	snprintf(low, 4096, "%s", other("f"));
	result = int80(I386_OPEN, (long)(intptr_t)low, O_WRONLY | O_APPEND, 0);
	if (result == -ENOSYS)
		return untried("kernel lacks 32-bit calls");
	errno = (int)-result;
	return came_through(result < 0 ? -1 : result);
}

static enum outcome socket_by_int80(void)
{
	long result = int80(I386_SOCKET, 16 /* AF_NETLINK */, 3 /* SOCK_RAW */, 4 /* SOCK_DIAG */);

	if (result == -ENOSYS)
		return untried("kernel lacks 32-bit calls");
	errno = (int)-result;
	return came_through(result < 0 ? -1 : result);
}

const struct escape_case foreign_cases[] = {
	{"A062a", "open a file outside by int 0x80", call_by_int80},
	{"A062b", "make a diagnostic socket by int 0x80", socket_by_int80},
	{"A063", "open a file outside by an x32 call", call_by_x32},
	{0},
};
