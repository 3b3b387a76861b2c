/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch: the session's own folder in a /tmp that cannot be made private. It
 * has a marker in it whose lock lives as long as a process of the run; folders
 * whose run is gone are removed by the next one.
 */
#ifndef LINUX_SCRATCH_H
#define LINUX_SCRATCH_H

#include <stddef.h>

/*
 * Makes the folder, PATH of SIZE bytes gets its name. Returns a descriptor that holds the lock
 * (close-on-exec), or -1 with errno. Removes what dead runs of the same user have left.
 */
int scratch_make(char *path, size_t size);

/* Removes PATH and all that is in it, as far as that is ours. */
void scratch_remove(const char *path);

#endif
