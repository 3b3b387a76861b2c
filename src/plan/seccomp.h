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
	CALLS_END = 470,
	NO_CALL = -1
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
	LINUX_EACCES = 13,
	LINUX_EINVAL = 22,
	LINUX_ENOSYS = 38,
	LINUX_EOPNOTSUPP = 95,
	LINUX_EAFNOSUPPORT = 97,
};

enum test_kind {
	ARG_NONE,  /* ends a list of tests */
	ARG_EQUAL, /* (low word & mask) == value */
	ARG_ANY,   /* (low word & mask) != 0 */
	ARG_NO,    /* (low word & mask) == 0 */
	ARG_MARK,  /* the whole argument is the mark of the fast lane */
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
#define WHEN(bit)        ((uint64_t)1 << (bit))
#define WHEN_ALWAYS      ((uint64_t)0)
#define WHEN_WRITE       WHEN(0)
#define WHEN_READ        WHEN(1)
#define WHEN_ATTR        WHEN(2)
#define WHEN_UNIX        WHEN(3)
#define WHEN_INET        WHEN(4)
#define WHEN_EXEC        WHEN(5)
#define WHEN_SIGNAL      WHEN(6)
#define WHEN_ACCESS      WHEN(7) /* access(2) has to agree with open(2) about writing */
#define WHEN_NO_EXEC     WHEN(8) /* nothing may be executed */
#define WHEN_NO_FORK     WHEN(9)
#define WHEN_NO_NODES    WHEN(10) /* no device node may be made */
#define WHEN_SETUGID     WHEN(11) /* 06000 bits may be denied */
#define WHEN_WRITES      WHEN(12) /* some write may be denied */
#define WHEN_NO_FLAGS    WHEN(13) /* inode flags may not be changed, or nobody can judge */
#define WHEN_NO_NESTING  WHEN(14) /* no user namespaces inside */
#define WHEN_OPENAT2     WHEN(15) /* its arguments, in memory, are judged */
#define WHEN_FAMILIES    WHEN(16) /* some socket family is refused */
#define WHEN_FREE_INET   WHEN(17) /* IP sockets are nobody's business */
#define WHEN_FREE_UDP    WHEN(18) /* UDP may do all, TCP is judged */
#define WHEN_NETLINK     WHEN(19) /* route netlink may be asked */
#define WHEN_NETWORK     WHEN(20) /* some IP traffic is denied */
#define WHEN_NO_SYSV_SHM WHEN(21)
#define WHEN_NO_SYSV_SEM WHEN(22)
#define WHEN_NO_SYSV_MSG WHEN(23)
#define WHEN_NO_POSIX_MQ WHEN(24)
#define WHEN_OTHERS      WHEN(25) /* processes of the host can be named and must not be changed */
#define WHEN_BROKER      WHEN(26) /* there is a broker */
#define WHEN_IDS         WHEN(27) /* and its callers can change their ids: they started as root */
#define WHEN_PRIVATE_PID WHEN(28) /* processes outside are out of reach */
#define WHEN_FLAGS       WHEN(29) /* inode flags are judged */
#define WHEN_MEMFD       WHEN(30) /* what has no name must not be executed */
#define WHEN_LISTEN      WHEN(31) /* a unix socket that could be bound may yet not listen */
#define WHEN_OUTSIDERS   WHEN(32) /* processes outside can be named and must not be signalled */
#define WHEN_NO_TMPFILE  WHEN(33) /* making files may be denied, and nobody judges */
#define WHEN_INHERITED   WHEN(34) /* sockets from before are judged, new ones are not */
#define WHEN_TCP_UDP     WHEN(35) /* TCP and UDP are nobody's business, the rest of IP is refused */
#define WHEN_NO_OPENAT2  WHEN(36) /* they would have to be, and nobody can */
#define WHEN_HELD        WHEN(37) /* sockets are made by the broker, which could not fetch them */
#define WHEN_LOCKS       WHEN(38) /* files are handed over while the broker has them open */
#define WHEN_NO_SETUGID  WHEN(39) /* 06000 bits may be denied, and nobody judges who sets them */
#define WHEN_NO_WHITEOUT WHEN(40) /* nor who makes device nodes by renaming */
/* The fast lane serves this: enum lane_class. Such rows have no other bits. */
#define WHEN_LANE(class) ((uint64_t)(class) << 48)
#define WHEN_ANY_LANE    WHEN_LANE((1u << LANE_CLASSES) - 1)

struct call_row {
	enum call call;
	uint64_t when;            /* any of WHEN_...; WHEN_ALWAYS */
	struct arg_test tests[3]; /* all must hold */
	uint32_t action;
};

/* Rows of one call are tried in order, the first that fits decides; no row: allowed. */
extern const struct call_row call_rows[];
extern const size_t n_call_rows;

/*
 * The rows of a run inside another sandbox (inside.c), in the planner's arena: its filter only
 * takes away, and asks nobody. *ACTIVE: which count. NULL: no memory.
 */
const struct call_row *rows_inside(const struct planner *p, uint64_t *active);

/*
 * The calls that the broker is asked about because of WHEN, a set; a list in the planner's arena.
 * NULL: no memory.
 */
const struct call_report *seccomp_calls(const struct planner *p, uint64_t when);

/* The number of CALL on ARCH, or -1. */
int call_number(enum call call, enum arch arch);

#endif
