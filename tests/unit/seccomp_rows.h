/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of truth tables of the filter: a system call, and what comes of it by the simulator. */
#ifndef UNIT_SECCOMP_ROWS_H
#define UNIT_SECCOMP_ROWS_H

#include "plan_fixture.h"
#include "plan/seccomp.h"

enum {
	ALLOWED,
	ASKED,
	KILLED,
	EPERM_ = 1,
	ENOSYS_ = 38,
	EAFNOSUPPORT_ = 97,
	AS_ERRNO = 1000, /* + errno */
};

#define REFUSED (AS_ERRNO + EPERM_)
#define ABSENT  (AS_ERRNO + ENOSYS_)
#define NO_AF   (AS_ERRNO + EAFNOSUPPORT_)

static const uint32_t audit_arch[] = {
	[ARCH_X86_64] = AUDIT_ARCH_X86_64_,
	[ARCH_AARCH64] = AUDIT_ARCH_AARCH64_,
};

struct row {
	enum call call;
	uint64_t args[6];
	int want;
};

static inline int outcome(uint32_t value)
{
	switch (value & 0xffff0000u) {
	case SECCOMP_ALLOW:
		return ALLOWED;
	case SECCOMP_USER_NOTIF:
		return ASKED;
	case SECCOMP_ERRNO:
		return AS_ERRNO + (int)(value & 0xffff);
	default:
		return KILLED;
	}
}

static inline int simulate(const struct fixture *f, enum call call, const uint64_t *args)
{
	struct seccomp_call data = {
		.nr = call_number(call, f->caps.arch),
		.arch = audit_arch[f->caps.arch],
	};

	memcpy(data.args, args, sizeof(data.args));
	return outcome(bpf_simulate(f->plan.filter, f->plan.n_filter, &data));
}

static inline void check_rows(struct fixture *f, const struct row *rows, size_t n)
{
	for (int arch = ARCH_X86_64; arch <= ARCH_AARCH64; arch++) {
		f->caps.arch = (enum arch)arch;
		CHECK_INT(fixture_plan(f), 0);
		for (size_t i = 0; i < n; i++) {
			int got = 0;

			if (call_number(rows[i].call, f->caps.arch) < 0)
				continue;
			got = simulate(f, rows[i].call, rows[i].args);
			if (got == rows[i].want)
				continue;
			printf("# arch %d, row %zu: %d, not %d\n", arch, i, got, rows[i].want);
			test_failures_here++;
		}
	}
}

#define CHECK_ROWS(f, rows) check_rows((f), (rows), sizeof(rows) / sizeof((rows)[0]))

#define HIGH (1ull << 32) /* what the kernel ignores in an int */

#endif
