/* SPDX-License-Identifier: Apache-2.0 */
/* The filter as data: rows that seccomp.c turns into a program. */
#ifndef PLAN_SECCOMP_H
#define PLAN_SECCOMP_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/planner.h"

enum call {
#define CALL(name, x86_64, aarch64) CALL_##name,
#include "plan/syscalls.def"
#undef CALL
	CALL_COUNT
};

/* Numbers from here on are newer than this table: unknown calls are refused. */
enum {
	CALLS_END = 470
};

#define AUDIT_ARCH_X86_64_  0xC000003Eu
#define AUDIT_ARCH_AARCH64_ 0xC00000B7u

#define SECCOMP_KILL_PROCESS 0x80000000u
#define SECCOMP_USER_NOTIF   0x7fc00000u
#define SECCOMP_ERRNO        0x00050000u
#define SECCOMP_ALLOW        0x7fff0000u

/* errno values as Linux numbers them; the filter is for Linux wherever it is built. */
enum linux_errno {
	LINUX_EPERM = 1,
	LINUX_ENOSYS = 38,
	LINUX_EAFNOSUPPORT = 97,
};

enum test_kind {
	ARG_NONE,  /* ends a list of tests */
	ARG_EQUAL, /* (low word & mask) == value */
	ARG_ANY,   /* (low word & mask) != 0 */
	ARG_NO,    /* (low word & mask) == 0 */
};

/*
 * The kernel looks at the low word of an int argument only, so a test that looked at more could be
 * evaded (CASES-ATTACKS A064).
 */
struct arg_test {
	enum test_kind kind;
	unsigned arg;
	uint32_t mask, value;
};

/* Facts of the plan that rows depend on. */
enum when {
	WHEN_ALWAYS = 0,
	WHEN_WRITE = 1 << 0,
	WHEN_READ = 1 << 1,
	WHEN_ATTR = 1 << 2,
	WHEN_UNIX = 1 << 3,
	WHEN_INET = 1 << 4,
	WHEN_EXEC = 1 << 5,
	WHEN_SIGNAL = 1 << 6,
	WHEN_ACCESS = 1 << 7,  /* access(2) has to agree with open(2) about writing */
	WHEN_NO_EXEC = 1 << 8, /* nothing may be executed */
	WHEN_NO_FORK = 1 << 9,
	WHEN_NO_NODES = 1 << 10,   /* no device node may be made */
	WHEN_SETUGID = 1 << 11,    /* 06000 bits may be denied */
	WHEN_WRITES = 1 << 12,     /* some write may be denied */
	WHEN_NO_FLAGS = 1 << 13,   /* inode flags may not be changed, or nobody can judge */
	WHEN_NO_NESTING = 1 << 14, /* no user namespaces inside */
	WHEN_MEMORY = 1 << 15,     /* structs in memory would be decisive: openat2 */
	WHEN_FAMILIES = 1 << 16,   /* some socket family is refused */
	WHEN_FREE_INET = 1 << 17,  /* IP sockets are nobody's business */
	WHEN_FREE_UDP = 1 << 18,   /* UDP may do all, TCP is judged */
	WHEN_NETLINK = 1 << 19,    /* route netlink may be asked */
	WHEN_NETWORK = 1 << 20,    /* some IP traffic is denied */
	WHEN_NO_SYSV_SHM = 1 << 21,
	WHEN_NO_SYSV_SEM = 1 << 22,
	WHEN_NO_SYSV_MSG = 1 << 23,
	WHEN_NO_POSIX_MQ = 1 << 24,
	WHEN_OTHERS = 1 << 25,      /* processes of the host can be named and must not be changed */
	WHEN_BROKER = 1 << 26,      /* there is a broker */
	WHEN_IDS = 1 << 27,         /* and its callers can change their ids: they started as root */
	WHEN_PRIVATE_PID = 1 << 28, /* processes outside are out of reach */
	WHEN_FLAGS = 1 << 29,       /* inode flags are judged */
	WHEN_MEMFD = 1 << 30,       /* what has no name must not be executed */
	WHEN_LISTEN = INT_MIN, /* bit 31: a unix socket that could be bound may yet not listen */
};

struct call_row {
	enum call call;
	unsigned when;            /* any of enum when; WHEN_ALWAYS */
	struct arg_test tests[3]; /* all must hold */
	uint32_t action;
};

/* Rows of one call are tried in order, the first that fits decides; no row: allowed. */
extern const struct call_row call_rows[];
extern const size_t n_call_rows;

/* The number of CALL on ARCH, or -1. */
int call_number(enum call call, enum arch arch);

#endif
