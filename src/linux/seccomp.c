/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp(2): puts the plan's program in front of every system call. */
#include "linux/linux.h"

#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/sys.h"
#include "base/banned.h"

static_assert(sizeof(struct bpf_insn) == sizeof(struct sock_filter), "same layout");
static_assert(offsetof(struct bpf_insn, k) == offsetof(struct sock_filter, k), "same layout");

int seccomp_install(const struct bpf_insn *filter, size_t n, bool with_listener)
{
	struct sock_fprog program = {.len = (unsigned short)n};
	unsigned long flags = 0;
	long r;

	if (n > BPF_MAXINSNS) {
		errno = E2BIG;
		return -1;
	}
	/* The kernel only reads it. */
	program.filter = (struct sock_filter *)(uintptr_t)filter;
	if (!with_listener)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV_;
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	/* Before 5.19 the flag is unknown; the planner has listed what that costs. */
	if (r < 0 && errno == EINVAL)
		r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
	return (int)r;
}
