/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Truth tables of the filter, through the simulator, on both architectures. Calls that are about
 * processes: seccomp_processes_test.c.
 */
#include "seccomp_rows.h"

/* ---- Opening ---- */

enum {
	O_RDONLY_ = 0,
	O_WRONLY_ = 1,
	O_RDWR_ = 2,
	O_CREAT_ = 0100,
	O_TRUNC_ = 01000,
	O_APPEND_ = 02000,
	O_CLOEXEC_ = 02000000,
	O_PATH_ = 010000000,
	O_TMPFILE_ = 020000000,
};

/* Writes are judged, reads are not. */
static void opens_for_writing(void)
{
	static const struct row rows[] = {
		{CALL_OPENAT, {0, 0, O_RDONLY_, 0}, ALLOWED},
		{CALL_OPENAT, {0, 0, O_RDONLY_ | O_CLOEXEC_ | O_APPEND_, 0}, ALLOWED},
		{CALL_OPENAT, {0, 0, HIGH | O_RDONLY_, 0}, ALLOWED},
		{CALL_OPENAT, {0, 0, O_WRONLY_, 0}, ASKED},
		{CALL_OPENAT, {0, 0, O_RDWR_ | O_CLOEXEC_, 0}, ASKED},
		{CALL_OPENAT, {0, 0, O_WRONLY_ | O_RDWR_, 0}, ASKED},
		{CALL_OPENAT, {0, 0, HIGH | O_WRONLY_, 0}, ASKED},
		{CALL_OPENAT, {0, 0, O_CREAT_, 0644}, ASKED},
		{CALL_OPENAT, {0, 0, O_TRUNC_, 0}, ASKED},
		{CALL_OPENAT, {0, 0, O_TMPFILE_ | O_RDWR_, 0600}, ASKED},
		{CALL_OPENAT, {0, 0, O_PATH_ | O_WRONLY_ | O_CREAT_, 0}, ALLOWED},
		{CALL_OPEN, {0, O_RDONLY_, 0}, ALLOWED},
		{CALL_OPEN, {0, O_WRONLY_, 0}, ASKED},
		{CALL_OPEN, {0, O_PATH_, 0}, ALLOWED},
		{CALL_CREAT, {0, 0644}, ASKED},
		{CALL_OPENAT2, {0}, ASKED},
		{CALL_MKDIRAT, {0, 0, 0755}, ASKED},
		{CALL_UNLINKAT, {0}, ASKED},
		{CALL_RENAMEAT2, {0}, ASKED},
		{CALL_LINKAT, {0}, ASKED},
		{CALL_SYMLINKAT, {0}, ASKED},
		{CALL_TRUNCATE, {0}, ASKED},
		{CALL_FCHMODAT2, {0}, ASKED},
		{CALL_FACCESSAT, {0, 0, 4}, ALLOWED},
		{CALL_FACCESSAT, {0, 0, 2}, ASKED},
		{CALL_FACCESSAT2, {0, 0, 6}, ASKED},
		{CALL_ACCESS, {0, 1}, ALLOWED},
		{CALL_ACCESS, {0, 2 | HIGH}, ASKED},
	};
	struct fixture f;

	fixture_open(&f, "(deny default) (allow file-read* process-exec*)"
			 "(allow file-write* (subpath \"/home/u/p\"))"
			 "(deny file-write* (subpath \"/home/u/p/.git\"))");
	CHECK_ROWS(&f, rows);
	CHECK(f.plan.brokered & BROKER_WRITE);
	CHECK(!(f.plan.brokered & BROKER_READ));
	fixture_close(&f);
}

static void opens_for_reading(void)
{
	static const struct row rows[] = {
		{CALL_OPENAT, {0, 0, O_RDONLY_, 0}, ASKED},
		{CALL_OPENAT, {0, 0, O_WRONLY_, 0}, ASKED},
		{CALL_OPENAT, {0, 0, O_PATH_, 0}, ALLOWED},
		{CALL_OPENAT, {0, 0, O_PATH_ | HIGH, 0}, ALLOWED},
		{CALL_OPENAT2, {0}, ASKED},
	};
	struct fixture f;

	fixture_open(&f,
		     "(deny default) (allow file-read*) (deny file-read* (regex #\"\\.pem$\"))");
	CHECK_ROWS(&f, rows);
	CHECK(f.plan.brokered & BROKER_READ);
	fixture_close(&f);
}

/* setuid and setgid bits are judged even where writes are everybody's. */
static void setugid_modes(void)
{
	static const struct row rows[] = {
		{CALL_OPENAT, {0, 0, O_CREAT_ | O_WRONLY_, 0644}, ALLOWED},
		{CALL_OPENAT, {0, 0, O_CREAT_ | O_WRONLY_, 04755}, ASKED},
		{CALL_OPENAT, {0, 0, O_CREAT_ | O_WRONLY_, 02755 | HIGH}, ASKED},
		{CALL_OPENAT, {0, 0, O_TMPFILE_ | O_RDWR_, 04700}, ASKED},
		{CALL_OPENAT, {0, 0, O_RDONLY_, 04755}, ALLOWED}, /* no mode without O_CREAT */
		{CALL_OPENAT, {0, 0, O_PATH_ | O_CREAT_, 04755}, ALLOWED},
		{CALL_CREAT, {0, 0644}, ALLOWED},
		{CALL_CREAT, {0, 06755}, ASKED},
		{CALL_MKDIRAT, {0, 0, 0755}, ALLOWED},
		{CALL_MKDIRAT, {0, 0, 02755}, ASKED},
		{CALL_MKNODAT, {0, 0, 0100000 | 0644}, ALLOWED},
		{CALL_MKNODAT, {0, 0, 0100000 | 04644}, ASKED},
		{CALL_MKNODAT, {0, 0, 0020000 | 0644}, ALLOWED}, /* the policy allows file-mknod */
		{CALL_FCHMOD, {0, 0644}, ASKED},
		{CALL_FACCESSAT, {0, 0, 2}, ALLOWED},
		{CALL_OPENAT2, {0}, ASKED},
		{CALL_UNLINKAT, {0}, ALLOWED},
		{CALL_TRUNCATE, {0}, ALLOWED},
	};
	static const struct row free_rows[] = {
		{CALL_OPENAT, {0, 0, O_CREAT_ | O_WRONLY_, 04755}, ALLOWED},
		{CALL_OPENAT2, {0}, ALLOWED},
		{CALL_FCHMOD, {0, 04755}, ALLOWED},
	};
	struct fixture f;

	fixture_open(&f, "(allow default)");
	CHECK_ROWS(&f, rows);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (allow file-write-setugid)");
	CHECK_ROWS(&f, free_rows);
	fixture_close(&f);
}

static void device_nodes(void)
{
	static const struct row rows[] = {
		{CALL_MKNODAT, {0, 0, 0020000 | 0644}, REFUSED},
		{CALL_MKNODAT, {0, 0, 0060000 | 0644}, REFUSED},
		{CALL_MKNODAT, {0, 0, HIGH | 0060000}, REFUSED},
		{CALL_MKNODAT, {0, 0, 0010000 | 0644}, ALLOWED},
		{CALL_MKNOD, {0, 0020000}, REFUSED},
		{CALL_MKNOD, {0, 0}, ALLOWED},
	};
	struct fixture f;

	fixture_open(&f, "(allow default) (deny file-mknod)");
	CHECK_ROWS(&f, rows);
	fixture_close(&f);
}

/* ---- Sockets ---- */

enum {
	AF_UNIX_ = 1,
	AF_INET_ = 2,
	AF_INET6_ = 10,
	AF_NETLINK_ = 16,
	AF_PACKET_ = 17,
	AF_ALG_ = 38,
	AF_VSOCK_ = 40,
	STREAM = 1,
	DGRAM = 2,
	RAW = 3,
	SEQPACKET = 5,
	NONBLOCK = 04000,
	FASTOPEN = 0x20000000,
};

/* A065: what the families, types and protocols of sockets come to, row by row. */
static void sockets_judged(void)
{
	static const struct row rows[] = {
		{CALL_SOCKET, {AF_UNIX_, STREAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_UNIX_, SEQPACKET | NONBLOCK, 0}, ALLOWED},
		{CALL_SOCKET, {AF_UNIX_, DGRAM, 0}, REFUSED},
		{CALL_SOCKET, {AF_UNIX_, RAW, 0}, REFUSED},
		{CALL_SOCKET, {AF_UNIX_ | HIGH, DGRAM | NONBLOCK | HIGH, 0}, REFUSED},
		{CALL_SOCKET, {AF_INET_, STREAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_INET_, STREAM | NONBLOCK, 6}, ALLOWED},
		{CALL_SOCKET, {AF_INET6_, STREAM, 6}, ALLOWED},
		{CALL_SOCKET, {AF_INET_, STREAM, 262}, REFUSED}, /* MPTCP */
		{CALL_SOCKET, {AF_INET_, STREAM, 132}, REFUSED}, /* SCTP */
		{CALL_SOCKET, {AF_INET_, DGRAM, 0}, REFUSED},
		{CALL_SOCKET, {AF_INET6_, DGRAM, 17}, REFUSED},
		{CALL_SOCKET, {AF_INET_, RAW, 1}, REFUSED},
		{CALL_SOCKET, {AF_INET_ | HIGH, RAW, 1}, REFUSED},
		{CALL_SOCKET, {AF_INET6_, DGRAM, 58}, REFUSED}, /* ICMP */
		{CALL_SOCKET, {AF_NETLINK_, RAW, 0}, NO_AF},
		{CALL_SOCKET, {AF_PACKET_, RAW, 0}, NO_AF},
		{CALL_SOCKET, {AF_ALG_, SEQPACKET, 0}, NO_AF},
		{CALL_SOCKET, {AF_VSOCK_, STREAM, 0}, NO_AF},
		{CALL_SOCKET, {AF_VSOCK_ | HIGH, STREAM, 0}, NO_AF},
		{CALL_SOCKETPAIR, {AF_UNIX_, STREAM, 0}, ALLOWED},
		{CALL_SOCKETPAIR, {AF_UNIX_, DGRAM, 0}, REFUSED},
		{CALL_SOCKETPAIR, {30, STREAM, 0}, NO_AF}, /* TIPC */
		{CALL_CONNECT, {3}, ASKED},
		{CALL_BIND, {3}, ASKED},
		{CALL_LISTEN, {3}, ASKED},
		{CALL_SENDTO, {3, 0, 0, 0, 0, 0}, ALLOWED},
		{CALL_SENDTO, {3, 0, 0, 0, 8, 0}, ALLOWED}, /* there are no datagram sockets */
		{CALL_SENDTO, {3, 0, 0, FASTOPEN, 8, 0}, REFUSED},
		{CALL_SENDMSG, {3, 0, FASTOPEN}, REFUSED},
		{CALL_SENDMSG, {3, 0, HIGH}, ALLOWED},
		{CALL_SENDMMSG, {3, 0, 1, FASTOPEN | HIGH}, REFUSED},
	};
	struct fixture f;

	fixture_open(&f, "(deny default) (allow file-read* process-exec*)"
			 "(allow network-outbound (remote tcp \"*:443\"))");
	CHECK_ROWS(&f, rows);
	fixture_close(&f);
}

/* Rules that are only about unix sockets, or only about IP. */
static void sockets_of_one_kind(void)
{
	static const struct row unix_only[] = {
		{CALL_SOCKET, {AF_UNIX_, DGRAM, 0}, REFUSED},
		{CALL_SOCKET, {AF_INET_, DGRAM, 0}, ALLOWED},
		{CALL_CONNECT, {3}, ASKED},
		{CALL_BIND, {3}, ASKED},
		{CALL_LISTEN, {3}, ALLOWED}, /* what was bound may listen */
	};
	static const struct row listen_apart[] = {
		{CALL_BIND, {3}, ASKED},
		{CALL_LISTEN, {3}, ASKED},
	};
	static const struct row ip_only[] = {
		{CALL_SOCKET, {AF_UNIX_, DGRAM, 0}, ALLOWED},
		{CALL_SOCKETPAIR, {AF_UNIX_, DGRAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_INET_, DGRAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_VSOCK_, STREAM, 0}, NO_AF},
		{CALL_CONNECT, {3}, ASKED},
		{CALL_LISTEN, {3}, ASKED},
	};
	struct fixture f;

	fixture_open(&f, "(allow default) (deny network-inbound (literal \"/s\"))");
	CHECK_ROWS(&f, unix_only);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny network-inbound (literal \"/s\"))"
			 "(allow network-bind)");
	CHECK_ROWS(&f, listen_apart);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny network-outbound (remote tcp \"*:25\"))");
	CHECK_ROWS(&f, ip_only);
	fixture_close(&f);
}

/* Where the broker cannot fetch sockets it makes them, those that nobody judges included. */
static void sockets_made_by_the_broker(void)
{
	static const struct row judged[] = {
		{CALL_SOCKET, {AF_UNIX_, STREAM, 0}, ASKED},
		{CALL_SOCKET, {AF_UNIX_, DGRAM, 0}, REFUSED},
		{CALL_SOCKET, {AF_INET_, STREAM, 0}, ASKED},
		{CALL_SOCKET, {AF_INET_, DGRAM, 0}, REFUSED},
		{CALL_SOCKET, {AF_PACKET_, RAW, 0}, NO_AF},
		{CALL_SOCKETPAIR, {AF_UNIX_, STREAM, 0}, ALLOWED},
	};
	static const struct row unix_only[] = {
		{CALL_SOCKET, {AF_UNIX_, STREAM, 0}, ASKED},
		{CALL_SOCKET, {AF_INET_, DGRAM, 0}, ASKED},
		{CALL_SOCKET, {AF_NETLINK_, RAW, 0}, ASKED},
		{CALL_CONNECT, {3}, ASKED},
		{CALL_BIND, {3}, ASKED},
		{CALL_LISTEN, {3}, ASKED},
	};
	static const struct row none[] = {
		{CALL_SOCKET, {AF_UNIX_, STREAM, 0}, ALLOWED},
		{CALL_LISTEN, {3}, ALLOWED},
	};
	struct fixture f;

	fixture_open(&f, "(deny default) (allow file-read* process-exec*)"
			 "(allow network-outbound (remote tcp \"*:443\"))");
	f.caps.pidfd_getfd = false;
	CHECK_ROWS(&f, judged);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny network-inbound (literal \"/s\"))");
	f.caps.pidfd_getfd = false;
	CHECK_ROWS(&f, unix_only);
	fixture_close(&f);
	/* Where writes are judged, so is bind(2): a unix socket makes a name. */
	fixture_open(&f, "(allow default) (deny file-write* (regex #\"x\"))");
	f.caps.pidfd_getfd = false;
	CHECK_ROWS(&f, unix_only);
	f.caps.notify = false;
	CHECK_ROWS(&f, none);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny signal (target others))");
	f.caps.pidfd_getfd = false;
	CHECK_ROWS(&f, none);
	fixture_close(&f);
}

static void sockets_free_udp(void)
{
	static const struct row rows[] = {
		{CALL_SOCKET, {AF_INET_, DGRAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_INET6_, DGRAM, 17}, ALLOWED},
		{CALL_SOCKET, {AF_INET_, DGRAM, 1}, REFUSED},
		{CALL_SOCKET, {AF_INET_, STREAM, 262}, REFUSED},
		{CALL_SENDTO, {3, 0, 0, 0, 8, 0}, ALLOWED},
	};
	struct fixture f;

	fixture_open(&f, "(deny default) (allow network-outbound (remote udp \"*:*\"))"
			 "(allow network-outbound (remote tcp \"*:443\"))"
			 "(allow network-bind (local udp \"*:*\"))"
			 "(allow network-inbound (local udp \"*:*\"))");
	CHECK_ROWS(&f, rows);
	fixture_close(&f);
}

/* No traffic is allowed: without a name space of our own there are no IP sockets at all. */
static void sockets_none(void)
{
	static const struct row refused[] = {
		{CALL_SOCKET, {AF_INET_, STREAM, 0}, REFUSED},
		{CALL_SOCKET, {AF_INET6_, DGRAM, 0}, REFUSED},
		{CALL_SOCKET, {AF_UNIX_, STREAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_NETLINK_, RAW, 0}, NO_AF},
		{CALL_LISTEN, {3}, ALLOWED},
	};
	static const struct row own[] = {
		{CALL_SOCKET, {AF_INET_, STREAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_INET6_, DGRAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_NETLINK_, RAW, 0}, ALLOWED},
		{CALL_SOCKET, {AF_NETLINK_, RAW, 9}, NO_AF}, /* audit */
		{CALL_SOCKET, {AF_VSOCK_, STREAM, 0}, NO_AF},
		{CALL_SENDMSG, {3, 0, FASTOPEN}, ALLOWED},
		{CALL_LISTEN, {3}, ALLOWED},
	};
	/* What the command was started with is of the host's network, and no row keeps it out. */
	static const struct row inherited[] = {
		{CALL_SOCKET, {AF_INET_, STREAM, 0}, ALLOWED},
		{CALL_CONNECT, {3}, ASKED},
		{CALL_BIND, {3}, ASKED},
		{CALL_LISTEN, {3}, ASKED},
		{CALL_SENDMSG, {3, 0, FASTOPEN}, REFUSED},
		{CALL_SENDTO, {3, 0, 0, FASTOPEN, 8, 0}, REFUSED},
	};
	struct fixture f;

	fixture_open(&f, "(deny default) (allow file-read* process-exec*)");
	CHECK_ROWS(&f, refused);
	f.input.private_scope = SCOPE_NET;
	CHECK_ROWS(&f, own);
	f.input.inherits_network = true;
	CHECK_ROWS(&f, inherited);
	f.input.inherits_network = false;
	f.caps.userns = false;
	CHECK_ROWS(&f, refused);
	fixture_close(&f);
}

/* What is neither TCP nor UDP matches no rule about these. */
static void sockets_tcp_udp(void)
{
	static const struct row rows[] = {
		{CALL_SOCKET, {AF_INET_, STREAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_INET6_, DGRAM, 17}, ALLOWED},
		{CALL_SOCKET, {AF_INET_, DGRAM, 136}, REFUSED},
		{CALL_SOCKET, {AF_INET_, STREAM, 132}, REFUSED},
		{CALL_SOCKET, {AF_INET_, RAW, 1}, REFUSED},
		{CALL_SOCKET, {AF_VSOCK_, STREAM, 0}, NO_AF},
		{CALL_CONNECT, {3}, ALLOWED},
		{CALL_LISTEN, {3}, ALLOWED},
	};
	static const struct row ip[] = {
		{CALL_SOCKET, {AF_INET_, DGRAM, 136}, ALLOWED},
		{CALL_SOCKET, {AF_INET_, RAW, 1}, ALLOWED},
		{CALL_SOCKET, {AF_VSOCK_, STREAM, 0}, NO_AF},
	};
	static const struct row inherited[] = {
		{CALL_CONNECT, {3}, ASKED},
		{CALL_BIND, {3}, ASKED},
		{CALL_LISTEN, {3}, ASKED},
	};
	struct fixture f;

	fixture_open(&f, "(allow default) (deny network*)"
			 "(allow network-outbound (remote tcp) (remote udp) (remote unix))"
			 "(allow network-inbound (local tcp) (local udp) (local unix))");
	CHECK_ROWS(&f, rows);
	f.input.inherits_network = true;
	CHECK_ROWS(&f, inherited);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny network*)"
			 "(allow network-outbound (remote ip) (remote unix))"
			 "(allow network-inbound (local ip) (local unix))");
	CHECK_ROWS(&f, ip);
	f.input.inherits_network = true;
	CHECK_ROWS(&f, inherited);
	fixture_close(&f);
}

static void sockets_all(void)
{
	static const struct row rows[] = {
		{CALL_SOCKET, {AF_UNIX_, DGRAM, 0}, ALLOWED},
		{CALL_SOCKET, {AF_INET_, RAW, 0}, ALLOWED},
		{CALL_SOCKET, {AF_VSOCK_, STREAM, 0}, ALLOWED},
		{CALL_SOCKETPAIR, {AF_UNIX_, DGRAM, 0}, ALLOWED},
		{CALL_CONNECT, {3}, ALLOWED},
		{CALL_SENDTO, {3, 0, 0, FASTOPEN, 8, 0}, ALLOWED},
	};
	struct fixture f;

	fixture_open(&f, "(allow default)");
	CHECK_ROWS(&f, rows);
	f.input.inherits_network = true;
	CHECK_ROWS(&f, rows);
	fixture_close(&f);
}

/* ---- Always ---- */

static void ioctls(void)
{
	static const struct row rows[] = {
		{CALL_IOCTL, {0, 0x5401}, ALLOWED}, /* TCGETS */
		{CALL_IOCTL, {0, 0x5412}, REFUSED},
		{CALL_IOCTL, {0, 0x5412 | HIGH}, REFUSED},
		{CALL_IOCTL, {0, 0x541c | (0xffffffffull << 32)}, REFUSED},
		{CALL_IOCTL, {0, 0x541d}, REFUSED},
		{CALL_IOCTL, {0, 0x5423}, REFUSED},
		{CALL_IOCTL, {0, 0x4b47}, REFUSED},
		{CALL_IOCTL, {0, 0xc0045877}, REFUSED},
		{CALL_IOCTL, {0, 0xffffffffc0045877}, REFUSED},
		{CALL_IOCTL, {0, 0x40086602}, REFUSED},
		{CALL_IOCTL, {0, 0x40046602}, REFUSED},
		{CALL_IOCTL, {0, 0x80086601}, ALLOWED}, /* FS_IOC_GETFLAGS */
		{CALL_FILE_SETATTR, {0}, ABSENT},
		{CALL_IOCTL, {0, 0x5000940f}, REFUSED},
		{CALL_IOCTL, {0, 0x4008941a}, REFUSED}, /* a subvolume becomes read-only, or not */
		{CALL_IOCTL, {0, 0xc0c89425}, REFUSED},
		{CALL_IOCTL, {0, 0xc0406618}, REFUSED}, /* a key goes, and all that it opens */
		{CALL_IOCTL, {0, 0x40047211}, REFUSED}, /* FAT's own attributes */
		{CALL_IOCTL, {0, 0x6609}, REFUSED},
	};
	static const struct row free_rows[] = {
		{CALL_IOCTL, {0, 0x5412}, REFUSED},     {CALL_IOCTL, {0, 0x40086602}, ALLOWED},
		{CALL_FILE_SETATTR, {0}, ALLOWED},      {CALL_IOCTL, {0, 0x5000940f}, ALLOWED},
		{CALL_IOCTL, {0, 0x4008941a}, ALLOWED}, {CALL_IOCTL, {0, 0xc0406618}, ALLOWED},
		{CALL_IOCTL, {0, 0x40047211}, ALLOWED},
	};
	static const struct row judged_rows[] = {
		{CALL_IOCTL, {0, 0x40086602}, ASKED},
		{CALL_FILE_SETATTR, {0}, ABSENT},
	};
	struct fixture f;

	fixture_open(&f, "(deny default)");
	CHECK_ROWS(&f, rows);
	fixture_close(&f);
	fixture_open(&f, "(allow default)");
	CHECK_ROWS(&f, free_rows);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny file-write-flags (subpath \"/a\"))");
	CHECK_ROWS(&f, judged_rows);
	fixture_close(&f);
}

static void always_refused(void)
{
	/* clang-format off */
	static const enum call absent[] = {
		CALL_IO_URING_SETUP, CALL_IO_URING_ENTER, CALL_IO_URING_REGISTER,
	};
	static const enum call refused[] = {
		CALL_OPEN_BY_HANDLE_AT, CALL_MOUNT, CALL_UMOUNT2,
		CALL_PIVOT_ROOT, CALL_MOVE_MOUNT, CALL_OPEN_TREE, CALL_OPEN_TREE_ATTR,
		CALL_FSOPEN, CALL_FSCONFIG, CALL_FSMOUNT, CALL_FSPICK, CALL_MOUNT_SETATTR,
		CALL_CHROOT, CALL_BPF, CALL_PERF_EVENT_OPEN, CALL_KEYCTL, CALL_ADD_KEY,
		CALL_REQUEST_KEY, CALL_USERFAULTFD, CALL_KEXEC_LOAD, CALL_FINIT_MODULE,
		CALL_REBOOT, CALL_SETTIMEOFDAY, CALL_VHANGUP,
	};
	/* clang-format on */
	static const uint64_t args[6] = {0};
	struct fixture f;

	fixture_open(&f, "(allow default)");
	CHECK_INT(fixture_plan(&f), 0);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		CHECK_INT(simulate(&f, absent[i], args), ABSENT);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		CHECK_INT(simulate(&f, refused[i], args), REFUSED);
	fixture_close(&f);
}

static int simulate_number(const struct fixture *f, int nr, uint32_t arch)
{
	struct seccomp_call call = {.nr = nr, .arch = arch};

	return outcome(bpf_simulate(f->plan.filter, f->plan.n_filter, &call));
}

static void foreign_numbers(void)
{
	struct fixture f;

	fixture_open(&f, "(allow default)");
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(simulate_number(&f, 0, AUDIT_ARCH_X86_64_), ALLOWED);
	CHECK_INT(simulate_number(&f, 0, 0x40000003u), KILLED); /* i386 */
	CHECK_INT(simulate_number(&f, 0, AUDIT_ARCH_AARCH64_), KILLED);
	CHECK_INT(simulate_number(&f, 0x40000000, AUDIT_ARCH_X86_64_), ABSENT); /* x32 */
	CHECK_INT(simulate_number(&f, 0x40000000 | 257, AUDIT_ARCH_X86_64_), ABSENT);
	CHECK_INT(simulate_number(&f, 512, AUDIT_ARCH_X86_64_), ABSENT);
	CHECK_INT(simulate_number(&f, 39, AUDIT_ARCH_X86_64_), ALLOWED); /* getpid */
	CHECK_INT(simulate_number(&f, CALLS_END, AUDIT_ARCH_X86_64_), ABSENT);
	CHECK_INT(simulate_number(&f, -1, AUDIT_ARCH_X86_64_), ALLOWED); /* cancelled */
	f.caps.arch = ARCH_AARCH64;
	CHECK_INT(fixture_plan(&f), 0);
	CHECK_INT(simulate_number(&f, 0, AUDIT_ARCH_AARCH64_), ALLOWED);
	CHECK_INT(simulate_number(&f, 0, AUDIT_ARCH_X86_64_), KILLED);
	fixture_close(&f);
}

/* Without a listener nothing may wait for an answer. */
static void no_listener(void)
{
	static const struct row rows[] = {
		{CALL_OPENAT, {0, 0, O_WRONLY_, 0}, ALLOWED},
		{CALL_OPENAT, {0, 0, O_CREAT_, 04755}, REFUSED},
		{CALL_SOCKET, {AF_INET_, STREAM, 0}, REFUSED},
		{CALL_MOUNT, {0}, REFUSED},
	};
	struct fixture f;

	fixture_open(&f, ALL_JUDGED);
	f.caps.notify = false;
	CHECK_ROWS(&f, rows);
	for (size_t i = 0; i < f.plan.n_filter; i++)
		CHECK(f.plan.filter[i].code != 0x06 || f.plan.filter[i].k != SECCOMP_USER_NOTIF);
	fixture_close(&f);
}

int main(void)
{
	RUN(opens_for_writing);
	RUN(opens_for_reading);
	RUN(setugid_modes);
	RUN(device_nodes);
	RUN(sockets_judged);
	RUN(sockets_of_one_kind);
	RUN(sockets_made_by_the_broker);
	RUN(sockets_free_udp);
	RUN(sockets_none);
	RUN(sockets_tcp_udp);
	RUN(sockets_all);
	RUN(ioctls);
	RUN(always_refused);
	RUN(foreign_numbers);
	RUN(no_listener);
	return test_done();
}
