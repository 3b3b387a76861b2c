/* SPDX-License-Identifier: Apache-2.0 */
/* Directories and processes, without the heap: also for the children of threaded programs. */
#ifndef LINUX_PROC_H
#define LINUX_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Calls EACH for the entries of directory FD (open for reading) but `.` and `..`, until it returns
 * non-zero, which is returned. 0; -1 with errno.
 */
int proc_each_entry(int fd, int (*each)(int fd, const char *name, void *context), void *context);

/* ---- Processes: PROC is a procfs, open in any way, and pids are as it counts them ---- */

/* Calls EACH for every process of PROC, as proc_each_entry(). */
int proc_each_process(int proc, int (*each)(int proc, pid_t pid, void *context), void *context);

/*
 * The directory of process PID. What is read through it is about this very process or fails, also
 * when its number is given out again; pidfd_send_signal(2) takes it for a pidfd. -1 with errno.
 */
int proc_pin(int proc, pid_t pid);

/* The parent of PID; 0: unknown. proc_pid_stat(5) */
pid_t proc_parent(int proc, pid_t pid);

enum {
	PROC_DEPTH_MAX = 1000
};

/*
 * PID and what is above it, up to below ANCESTOR, as it was at one moment, into CHAIN of
 * PROC_DEPTH_MAX. Returns how many; 0: ANCESTOR is not above it, or it cannot be told.
 */
size_t proc_ancestors(int proc, pid_t pid, pid_t ancestor, pid_t *chain);

/* Is ANCESTOR above PID? Can't tell: false. */
bool proc_is_descendant(int proc, pid_t pid, pid_t ancestor);

/* ---- proc_pid_status(5), proc_pid_fdinfo(5): lines "NAME:\tVALUE" ---- */

/* For a status: some 1.5 KiB, and up to 11 bytes for every supplementary group. */
enum {
	PROC_TEXT_MAX = 16384
};

/* The file PATH of directory DIR, ended by NUL, into TEXT of SIZE bytes. 0, or -1 with errno. */
int proc_read(int dir, const char *path, char *text, size_t size);

/* The text after "NAME:", or NULL. */
const char *proc_field(const char *text, const char *name);

/* Number INDEX of a field. UINT_MAX: there are fewer. */
unsigned proc_number(const char *field, unsigned index);

#endif
