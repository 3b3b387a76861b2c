/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The architecture, and constants that are younger than the headers of the
 * oldest distribution we build on, with the kernel that brought each; the
 * numbers are kernel ABI and the same on every architecture.
 */
#ifndef LINUX_SYS_H
#define LINUX_SYS_H

#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>

/* enum arch of what this is compiled for. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCH_HERE ARCH_X86_64
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#define ARCH_HERE ARCH_AARCH64
#else
#error "no table of system calls for this processor: src/plan/syscalls.def"
#endif

enum {
	SYS_landlock_create_ruleset_ = 444, /* 5.13 */
	SYS_landlock_add_rule_ = 445,
	SYS_landlock_restrict_self_ = 446,
	LANDLOCK_CREATE_RULESET_VERSION_ = 1,
	LANDLOCK_RULE_PATH_BENEATH_ = 1,
};

enum {
	PIDFD_THREAD_ = 0200,                 /* 6.9, O_EXCL: pidfd_open(2) */
	PIDFD_SIGNAL_PROCESS_GROUP_ = 1 << 2, /* 6.9: pidfd_send_signal(2) */
};

/* 6.11: the pid that thread N of this pid namespace has in ours. ioctl_nsfs(2) */
#define NS_GET_PID_FROM_PIDNS_ 0x8004b706u

/* 5.19: a notified call can only be interrupted by a fatal signal. */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV_ (1ul << 5)

/* The attributes of landlock_create_ruleset(2) of ABI 6; a shorter size is an older ABI. */
struct landlock_ruleset_attr_ {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

struct landlock_path_beneath_attr_ {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

#endif
