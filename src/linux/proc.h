/* SPDX-License-Identifier: Apache-2.0 */
/* Directories and processes, without the heap: also for the children of threaded programs. */
#ifndef LINUX_PROC_H
#define LINUX_PROC_H

#include <sys/types.h>

/*
 * Calls EACH for the entries of directory FD (open for reading) but `.` and `..`, until it returns
 * non-zero, which is returned. 0; -1 with errno.
 */
int proc_each_entry(int fd, int (*each)(int fd, const char *name, void *context), void *context);

/* The parent of PID by the procfs PROC; 0: unknown. proc_pid_stat(5) */
pid_t proc_parent(int proc, pid_t pid);

#endif
