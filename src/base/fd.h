/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd: descriptors have one owner. -1 is none. A function that takes one over
 * says "consumes" in its header; the owner hands over with fd_steal().
 */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Closes *FD unless it is -1, keeps errno, sets *FD to -1. */
static inline void fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = saved;
}

static inline int fd_steal(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void free_pointer(void *p)
{
	free(*(void **)p);
}

/* int cleanup_fd fd = -1;  char cleanup_free *text = NULL; */
#define cleanup_fd   __attribute__((cleanup(fd_close)))
#define cleanup_free __attribute__((cleanup(free_pointer)))

#endif
