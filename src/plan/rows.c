/* SPDX-License-Identifier: Apache-2.0 */
/* What the words in rows.def mean. */
#include "plan/seccomp.h"

#include "plan/nested.h"

#include "base/banned.h"

#define REFUSE(error) (SECCOMP_ERRNO | (error))
#define EPERM_        REFUSE(LINUX_EPERM)
#define ENOSYS_       REFUSE(LINUX_ENOSYS)
#define EOPNOTSUPP_   REFUSE(LINUX_EOPNOTSUPP)
#define EAFNOSUPPORT_ REFUSE(LINUX_EAFNOSUPPORT)
#define ASK           SECCOMP_USER_NOTIF
#define ALLOW         SECCOMP_ALLOW

/* The broker makes, opens, connects or signals for its callers. */
#define DOES_WHAT_LANDLOCK_RULES                                                                   \
	(WHEN_WRITE | WHEN_READ | WHEN_SETUGID | WHEN_UNIX | WHEN_INET | WHEN_INHERITED |          \
	 WHEN_SIGNAL)

/* Its library asks for these. */
#define LANE_WRITES    WHEN_LANE(LANE_WRITE | LANE_READ_WRITE | LANE_CREATE | LANE_CREATE_READ)
#define LANE_ALL_NAMES WHEN_LANE(LANE_NAMES | LANE_DIRECTORIES | LANE_MOVE)

/* Rows of .def files end in no comma, so theirs are in the macros. */
/* clang-format off */
#define NO_TEST      {{0}}
#define TESTS(...)   {__VA_ARGS__}
#define ALL          0xffffffffu
#define ANY(n, bits) {ARG_ANY, (n), (bits), 0}
#define NO(n, bits)  {ARG_NO, (n), (bits), 0}
#define IS(n, value) {ARG_EQUAL, (n), ALL, (value)}
/* argument & bits == value */
#define BITS(n, bits, value) {ARG_EQUAL, (n), (bits), (value)}

#define MARKED               {ARG_MARK, LANE_ARGUMENT, 0, 0}

#define ROW(call, when, tests, action) {CALL_##call, (when), tests, (action)},

/* A call of the fast lane. */
#define LANE_ROW(call, class, ...) ROW(call, WHEN_LANE(LANE_##class), TESTS(MARKED, __VA_ARGS__), ALLOW)
#define LANE_ANY(call, class)      ROW(call, WHEN_LANE(LANE_##class), TESTS(MARKED), ALLOW)
#define LANE_MAKE(call, class, mode) LANE_ROW(call, class, NO(mode, MODE_SETUGID))

#define LANE_OPEN_ROWS(call, flags, mode)                                                          \
	LANE_ROW(call, READ, BITS(flags, OPEN_KIND | OPEN_TRUNC, OPEN_RDONLY))                     \
	LANE_ROW(call, WRITE, BITS(flags, OPEN_KIND, OPEN_WRONLY))                                 \
	LANE_ROW(call, CREATE, BITS(flags, OPEN_KIND, OPEN_WRONLY | OPEN_CREAT), NO(mode, MODE_SETUGID)) \
	LANE_ROW(call, READ_WRITE, BITS(flags, OPEN_KIND, OPEN_RDWR))                              \
	LANE_ROW(call, CREATE_READ, BITS(flags, OPEN_KIND, OPEN_RDWR | OPEN_CREAT), NO(mode, MODE_SETUGID))

#define OPEN_ROWS(call, flags, mode)                                                               \
	ROW(call, WHEN_ALWAYS, TESTS(ANY(flags, OPEN_PATH)), ALLOW)                                \
	LANE_OPEN_ROWS(call, flags, mode)                                                          \
	ROW(call, WHEN_READ, NO_TEST, ASK)                                                         \
	ROW(call, WHEN_WRITE, TESTS(ANY(flags, OPEN_WRITES)), ASK)                                 \
	ROW(call, WHEN_NO_TMPFILE, TESTS(BITS(flags, OPEN_TMPFILE, OPEN_TMPFILE)), EPERM_)         \
	ROW(call, WHEN_SETUGID, TESTS(ANY(flags, OPEN_CREATES), ANY(mode, MODE_SETUGID)), ASK)

#define ACCESS_ROWS(call, mode)                                                                    \
	ROW(call, WHEN_ACCESS, TESTS(ANY(mode, ACCESS_WRITE)), ASK)                                \
	ROW(call, WHEN_READ, TESTS(ANY(mode, ACCESS_READ)), ASK)                                   \
	ROW(call, WHEN_EXEC, TESTS(ANY(mode, ACCESS_EXECUTE)), ASK)

#define MAKE_ROWS(call, mode)                                                                      \
	ROW(call, WHEN_WRITE, NO_TEST, ASK)                                                        \
	ROW(call, WHEN_SETUGID, TESTS(ANY(mode, MODE_SETUGID)), ASK)

#define NODE_ROWS(call, mode)                                                                      \
	ROW(call, WHEN_NO_NODES, TESTS(BITS(mode, MODE_TYPE, MODE_CHAR)), EPERM_)                  \
	ROW(call, WHEN_NO_NODES, TESTS(BITS(mode, MODE_TYPE, MODE_BLOCK)), EPERM_)                 \
	MAKE_ROWS(call, mode)

#define SOCKET_ROW(when, family, type, proto)                                                      \
	ROW(SOCKET, when, TESTS(IS(0, family), BITS(1, TYPE_MASK, type), IS(2, proto)), ALLOW)

#define INET_ROWS(family)                                                                          \
	ROW(SOCKET, WHEN_FREE_INET, TESTS(IS(0, family)), ALLOW)                                   \
	SOCKET_ROW(WHEN_INET | WHEN_TCP_UDP, family, STREAM, 0)                                                   \
	SOCKET_ROW(WHEN_INET | WHEN_TCP_UDP, family, STREAM, PROTO_TCP_)                                          \
	SOCKET_ROW(WHEN_FREE_UDP | WHEN_TCP_UDP, family, DGRAM, 0)                                                \
	SOCKET_ROW(WHEN_FREE_UDP | WHEN_TCP_UDP, family, DGRAM, PROTO_UDP_)                                       \
	ROW(SOCKET, WHEN_FAMILIES, TESTS(IS(0, family)), EPERM_)
/* clang-format on */

/* Values of the kernel's interface that both architectures share. */
enum {
	OPEN_WRITES =
		1 | 2 | 0100 | 01000 | 020000000, /* O_WRONLY O_RDWR O_CREAT O_TRUNC O_TMPFILE */
	OPEN_CREATES = 0100 | 020000000,
	OPEN_RDONLY = 0,
	OPEN_WRONLY = 1,
	OPEN_RDWR = 2,
	OPEN_CREAT = 0100,
	OPEN_TRUNC = 01000,
	/* What an open is for. 3 is for neither reading nor writing, and O_TMPFILE never fits. */
	OPEN_KIND = 3 | OPEN_CREAT | 020000000,
	UNLINK_DIRECTORY = 0x200, /* AT_REMOVEDIR */
	RENAME_NOREPLACE_ = 1,
	RENAME_WHITEOUT_ = 4,
	OPEN_PATH = 010000000,
	OPEN_TMPFILE = 020000000,
	ACCESS_READ = 4,
	ACCESS_WRITE = 2,
	ACCESS_EXECUTE = 1,
	MODE_SETUGID = 06000,
	MODE_TYPE = 0170000,
	MODE_CHAR = 0020000,
	MODE_BLOCK = 0060000,
	CLONE_THREAD_ = 0x00010000,
	/* CLONE_NEW: NS CGROUP UTS IPC USER PID NET */
	CLONE_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 |
			   0x20000000 | 0x40000000,
	CLONE_NEWTIME_ = 0x00000080, /* a signal number in clone(2) */
	PR_SET_DUMPABLE_ = 4,
	MFD_NOEXEC_SEAL_ = 8,
	PRIO_PGRP_ = 1,
	IOPRIO_PGRP_ = 2,
	IOPRIO_USER_ = 3,
	F_SETOWN_ = 8,
	F_SETOWN_EX_ = 15,
	F_OFD_SETLK_ = 37,
	F_OFD_SETLKW_ = 38,
	F_SETLEASE_ = 1024,
	UNIX = 1,
	INET = 2,
	INET6 = 10,
	NETLINK = 16,
	STREAM = 1,
	DGRAM = 2,
	RAW = 3,
	TYPE_MASK = 0xf,
	PROTO_TCP_ = 6,
	PROTO_UDP_ = 17,
	FASTOPEN = 0x20000000,
};

/* ioctl(2) requests that act behind the descriptor's back (CASES-ATTACKS A076). */
enum {
	IOCTL_TIOCSTI = 0x5412,
	IOCTL_TIOCLINUX = 0x541c,
	IOCTL_TIOCCONS = 0x541d,
	IOCTL_TIOCSETD = 0x5423,
	IOCTL_KDSKBENT = 0x4b47,
	IOCTL_FIOSETOWN = 0x8901,
	IOCTL_SIOCSPGRP = 0x8902,
	IOCTL_FS_SETFLAGS = 0x40086602,
	IOCTL_FS32_SETFLAGS = 0x40046602,
	IOCTL_FS_SETVERSION = 0x40087602,
	IOCTL_FS32_SETVERSION = 0x40047602,
	IOCTL_EXT4_SETVERSION = 0x40086604,
	IOCTL_EXT4_32_SETVERSION = 0x40046604,
	IOCTL_EXT4_MIGRATE = 0x6609,
	IOCTL_FAT_SET_ATTRIBUTES = 0x40047211,
	IOCTL_FS_FSSETXATTR = 0x401c5820,
	IOCTL_ENABLE_VERITY = 0x40806685,
	IOCTL_BTRFS_SUBVOL_SETFLAGS = 0x4008941a,
	IOCTL_BTRFS_SNAP_CREATE = 0x50009401,
	IOCTL_BTRFS_SUBVOL_CREATE = 0x5000940e,
	IOCTL_BTRFS_SNAP_DESTROY = 0x5000940f,
	IOCTL_BTRFS_SNAP_CREATE_V2 = 0x50009417,
	IOCTL_BTRFS_SUBVOL_CREATE_V2 = 0x50009418,
	IOCTL_BTRFS_SNAP_DESTROY_V2 = 0x5000943f,
};

/* These set the sign bit. */
#define IOCTL_FIFREEZE                  0xc0045877u
#define IOCTL_FITHAW                    0xc0045878u
#define IOCTL_SET_ENCRYPTION_POLICY     0x800c6613u
#define IOCTL_REMOVE_ENCRYPTION_KEY     0xc0406618u
#define IOCTL_BTRFS_SET_RECEIVED_SUBVOL 0xc0c89425u

const struct call_row call_rows[] = {
#include "plan/rows.def"
};

const size_t n_call_rows = sizeof(call_rows) / sizeof(call_rows[0]);
