/* SPDX-License-Identifier: Apache-2.0 */
/*
 * around KIND COMMAND [ARGUMENT...]
 *
 * Executes COMMAND under a system call filter of somebody else's:
 *
 *	docker    what Docker's default profile refuses a container without capabilities
 *	strict    the same, and what its older versions refused: looking into processes
 *	listener  a notify listener, of which there can be one
 *	unmounted mounting
 *	attached  changing whether a mount follows others
 *	no-close-range, no-landlock, no-seccomp
 *	          a kernel without that
 *	plain     without Landlock and namespaces
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#define OUR_ARCH AUDIT_ARCH_X86_64
#endif

enum {
	NAMESPACES = 0x7e020000, /* CLONE_NEW... */
	REFUSE = SECCOMP_RET_ERRNO | EPERM,
	UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS,
};

/* Argument ARG decides where BITS are given: any of them; or EQUAL. */
struct row {
	int nr;
	uint32_t bits, equal, action;
	unsigned arg;
};

static const struct row docker[] = {
	{SYS_clone, NAMESPACES, 0, REFUSE},
	{SYS_clone3, 0, 0, UNKNOWN},
	{SYS_socket, 0, AF_VSOCK, REFUSE},
	{SYS_unshare, 0, 0, REFUSE},
	{SYS_setns, 0, 0, REFUSE},
	{SYS_mount, 0, 0, REFUSE},
	{SYS_umount2, 0, 0, REFUSE},
	{SYS_pivot_root, 0, 0, REFUSE},
	{SYS_open_tree, 0, 0, REFUSE},
	{SYS_move_mount, 0, 0, REFUSE},
	{SYS_fsopen, 0, 0, REFUSE},
	{SYS_fsconfig, 0, 0, REFUSE},
	{SYS_fsmount, 0, 0, REFUSE},
	{SYS_fspick, 0, 0, REFUSE},
	{SYS_mount_setattr, 0, 0, REFUSE},
	{SYS_open_by_handle_at, 0, 0, REFUSE},
	{SYS_pidfd_getfd, 0, 0, REFUSE},
	{SYS_kcmp, 0, 0, REFUSE},
	{SYS_process_madvise, 0, 0, REFUSE},
	{SYS_move_pages, 0, 0, REFUSE},
	{SYS_add_key, 0, 0, REFUSE},
	{SYS_request_key, 0, 0, REFUSE},
	{SYS_keyctl, 0, 0, REFUSE},
	{SYS_bpf, 0, 0, REFUSE},
	{SYS_perf_event_open, 0, 0, REFUSE},
	{SYS_userfaultfd, 0, 0, REFUSE},
	{SYS_io_uring_setup, 0, 0, REFUSE},
	{SYS_io_uring_enter, 0, 0, REFUSE},
	{SYS_io_uring_register, 0, 0, REFUSE},
	{SYS_acct, 0, 0, REFUSE},
	{SYS_quotactl, 0, 0, REFUSE},
	{SYS_syslog, 0, 0, REFUSE},
	{SYS_reboot, 0, 0, REFUSE},
	{SYS_swapon, 0, 0, REFUSE},
	{SYS_swapoff, 0, 0, REFUSE},
	{SYS_init_module, 0, 0, REFUSE},
	{SYS_finit_module, 0, 0, REFUSE},
	{SYS_delete_module, 0, 0, REFUSE},
	{SYS_kexec_load, 0, 0, REFUSE},
	{SYS_settimeofday, 0, 0, REFUSE},
	{SYS_clock_settime, 0, 0, REFUSE},
	{SYS_sethostname, 0, 0, REFUSE},
	{SYS_setdomainname, 0, 0, REFUSE},
	{SYS_vhangup, 0, 0, REFUSE},
};

static const struct row older[] = {
	{SYS_process_vm_readv, 0, 0, REFUSE},
	{SYS_process_vm_writev, 0, 0, REFUSE},
	{SYS_ptrace, 0, 0, REFUSE},
};

/* Nothing here calls it. */
static const struct row listener[] = {{SYS_lookup_dcookie, 0, 0, SECCOMP_RET_USER_NOTIF}};

static const struct row no_close_range[] = {{SYS_close_range, 0, 0, UNKNOWN}};
static const struct row no_seccomp[] = {{SYS_seccomp, 0, 0, UNKNOWN},
					{SYS_prctl, 0, PR_SET_SECCOMP, UNKNOWN}};

static const struct row unmounted[] = {
	{SYS_mount, 0, 0, REFUSE},         {SYS_open_tree, 0, 0, REFUSE},
	{SYS_move_mount, 0, 0, REFUSE},    {SYS_fsopen, 0, 0, REFUSE},
	{SYS_mount_setattr, 0, 0, REFUSE},
};

static const struct row attached[] = {
	{SYS_mount, MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE, 0, REFUSE, 3},
	{SYS_mount_setattr, 0, 0, REFUSE},
};

static const struct row no_landlock[] = {
	{SYS_landlock_create_ruleset, 0, 0, UNKNOWN},
	{SYS_landlock_add_rule, 0, 0, UNKNOWN},
	{SYS_landlock_restrict_self, 0, 0, UNKNOWN},
};

static const struct row together[] = {
	{SYS_unshare, 0, 0, UNKNOWN},
	{SYS_setns, 0, 0, UNKNOWN},
	{SYS_clone3, 0, 0, UNKNOWN},
	{SYS_clone, NAMESPACES, 0, SECCOMP_RET_ERRNO | EINVAL},
};

static const struct kind {
	const char *name;
	const struct row *rows;
	size_t n;
	const struct row *more;
	size_t n_more;
} kinds[] = {
#define ROWS(rows) rows, sizeof(rows) / sizeof((rows)[0])
	{"docker", ROWS(docker), NULL, 0},
	{"strict", ROWS(docker), ROWS(older)},
	{"listener", ROWS(listener), NULL, 0},
	{"unmounted", ROWS(unmounted), NULL, 0},
	{"attached", ROWS(attached), NULL, 0},
	{"no-close-range", ROWS(no_close_range), NULL, 0},
	{"no-landlock", ROWS(no_landlock), NULL, 0},
	{"no-seccomp", ROWS(no_seccomp), NULL, 0},
	{"plain", ROWS(no_landlock), ROWS(together)},
};

enum {
	INSNS_MAX = 512,
	ARG = offsetof(struct seccomp_data, args),
};

struct program {
	struct sock_filter insns[INSNS_MAX];
	unsigned short n;
};

static void emit(struct program *program, unsigned short code, uint32_t k, uint8_t jt, uint8_t jf)
{
	program->insns[program->n++] =
		(struct sock_filter){.code = code, .k = k, .jt = jt, .jf = jf};
}

static void emit_rows(struct program *program, const struct row *rows, size_t n)
{
	for (const struct row *row = rows; row < rows + n; row++) {
		const bool tested = row->bits || row->equal;

		emit(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
		emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)row->nr, 0, tested ? 3 : 1);
		if (tested)
			emit(program, BPF_LD | BPF_W | BPF_ABS, ARG + 8 * row->arg, 0, 0);
		if (row->bits)
			emit(program, BPF_JMP | BPF_JSET | BPF_K, row->bits, 0, 1);
		else if (row->equal)
			emit(program, BPF_JMP | BPF_JEQ | BPF_K, row->equal, 0, 1);
		emit(program, BPF_RET | BPF_K, row->action, 0, 0);
	}
}

/* The listener, or 0. */
static int install(const struct kind *kind)
{
	struct program program = {.n = 0};
	struct sock_fprog fprog = {.filter = program.insns};
	unsigned flags = kind->rows == listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;

	emit(&program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	emit(&program, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	emit(&program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	emit_rows(&program, kind->rows, kind->n);
	emit_rows(&program, kind->more, kind->n_more);
	emit(&program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	fprog.len = program.n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &fprog);
}

int main(int argc, char **argv)
{
	const struct kind *kind = kinds, *end = kinds + sizeof(kinds) / sizeof(kinds[0]);
	int fd;

	while (kind < end && (argc < 3 || strcmp(kind->name, argv[1]) != 0))
		kind++;
	if (kind == end) {
		(void)fprintf(stderr, "around KIND COMMAND [ARGUMENT...]\n");
		return 64;
	}
	fd = install(kind);
	if (fd < 0) {
		perror("around: seccomp");
		return 71;
	}
	/* The listener lives while the descriptor is open. */
	if (fd > 0)
		(void)fcntl(fd, F_SETFD, 0);
	(void)execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 71;
}
