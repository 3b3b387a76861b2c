/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that go around a filter, or that no sandboxed command needs. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum outcome set_up_io_uring(void)
{
	struct io_uring_params parameters = {0};
	long result = syscall(SYS_io_uring_setup, 4, &parameters);

	if (result < 0 && (errno == ENOSYS || errno == EPERM))
		return untried("kernel lacks io_uring, or it is switched off");
	return came_through(result);
}

/* --- typing into our own terminal
 * ----------------------------------------------------------------- */

static enum outcome type_ahead(unsigned long request)
{
	char letter = 'x';
	long result = syscall(SYS_ioctl, 0, request, &letter);

	if (result < 0 && errno == EIO)
		return untried("kernel lacks TIOCSTI, or it is switched off");
	return came_through(result);
}

static enum outcome push_character(void)
{
	return type_ahead(TIOCSTI);
}

/* The kernel looks at the low half only, a careless filter at the whole. */
static enum outcome push_character_high_bits(void)
{
	return type_ahead(TIOCSTI | 1UL << 32);
}

/* The subcode asks for the shift state: harmless, but the same door as the paste. */
static enum outcome use_tioclinux(void)
{
	char subcode = 6;
	int fd = open("/dev/tty0", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return came_through(-1);
	return came_through(ioctl(fd, TIOCLINUX, &subcode));
}

static enum outcome open_memory_of_disk(void)
{
	DIR *dev = opendir("/dev");
	struct dirent *entry;
	struct stat st;

	if (!dev)
		return came_through(-1);
	while ((entry = readdir(dev)))
		if (fstatat(dirfd(dev), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISBLK(st.st_mode) &&
		    openat(dirfd(dev), entry->d_name, O_WRONLY | O_CLOEXEC) >= 0)
			return ESCAPED;
	printf("# no disk opens\n");
	return CONTAINED;
}

static enum outcome open_control_device(void)
{
	static const char *const devices[] = {
		"/dev/loop-control",  "/dev/kvm",       "/dev/net/tun",
		"/dev/uinput",        "/dev/vhost-net", "/dev/mapper/control",
		"/dev/btrfs-control", "/dev/tty1",
	};

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (open(devices[i], O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) >= 0)
			return ESCAPED;
	return came_through(-1);
}

static enum outcome open_fuse(void)
{
	if (!exists("/dev/fuse") && !is_inside())
		return untried("kernel lacks /dev/fuse");
	return came_through(open("/dev/fuse", O_RDWR | O_CLOEXEC));
}

/* --- calls that no command needs
 * --------------------------------------------------------------------- */

static enum outcome handle_page_faults(void)
{
	long result = syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC);

	if (result < 0 && errno == ENOSYS)
		return untried("kernel lacks userfaultfd");
	return came_through(result);
}

static enum outcome look_at_keyring(void)
{
	long result = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1);

	if (result < 0 && errno == ENOSYS)
		return untried("kernel lacks keyrings");
	return came_through(result);
}

static enum outcome add_key(void)
{
	long result =
		syscall(SYS_add_key, "user", "lapbelt-escape", "x", 1, KEY_SPEC_PROCESS_KEYRING);

	if (result < 0 && errno == ENOSYS)
		return untried("kernel lacks keyrings");
	return came_through(result);
}

static enum outcome make_bpf_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	return came_through(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static enum outcome open_perf_event(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	long result = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (result < 0 && errno == EACCES)
		return untried("kernel lacks perf events for ordinary users");
	return came_through(result);
}

/* Whoever listens in front of the supervisor answers in its place. */
static enum outcome listen_in_front(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = 1, .filter = &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		broken("prctl");
	return came_through(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

/* --- programs without a name, and memory that can be executed ----------------------------------
 */

/* This program, once more, at the start of another case. */
static enum outcome copy_reads_secret(int copy)
{
	char name[] = "escape", id[] = "A030a";
	char *arguments[] = {name, id, NULL};
	int read_only, own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	off_t at = 0;
	pid_t child;

	if (copy < 0)
		return came_through(-1);
	if (own < 0 || fstat(own, &st) < 0)
		broken("/proc/self/exe");
	while (at < st.st_size)
		if (sendfile(copy, own, &at, (size_t)(st.st_size - at)) <= 0)
			broken("sendfile");
	/* Nobody executes what is open for writing. */
	read_only = open(text("/proc/self/fd/%d", copy), O_RDONLY | O_CLOEXEC);
	close(copy);
	child = fork();
	if (child == 0) {
		syscall(SYS_execveat, read_only, "", arguments, environ, AT_EMPTY_PATH);
		_exit(came_through(-1));
	}
	return outcome_of(child);
}

static enum outcome execute_nameless(void)
{
	return copy_reads_secret(memfd_create("copy", 0));
}

static enum outcome execute_shared_memory(void)
{
	const char *path = text("/dev/shm/lapbelt-escape-%d-copy", getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	unlink(path);
	return copy_reads_secret(fd);
}

static enum outcome execute_all_that_is_read(void)
{
	pid_t child = fork();

	if (child != 0)
		return outcome_of(child);
	if (personality(READ_IMPLIES_EXEC) < 0)
		_exit(CONTAINED);
	execl("/proc/self/exe", "escape", "A030a", (char *)NULL);
	_exit(CONTAINED);
}

/* --- other doors of a terminal -------------------------------------------------------------------
 */

/* To the discipline that is there, so that the control changes nothing. */
static enum outcome set_line_discipline(void)
{
	int discipline = 0;

	return came_through(ioctl(0, TIOCSETD, &discipline));
}

static enum outcome take_console(void)
{
	int on = 0;
	long result = ioctl(0, TIOCCONS, &on);

	/* Somebody has it, or nobody ever had. */
	if (result < 0 && errno == EBUSY)
		return ESCAPED;
	return came_through(result);
}

/* A listener or a policy that stayed open across exec would be ours. */
static enum outcome find_leaked_descriptor(void)
{
	for (int fd = 3; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) >= 0) {
			printf("# descriptor %d is open\n", fd);
			return ESCAPED;
		}
	return CONTAINED;
}

const struct escape_case seccomp_cases[] = {
	{"A061", "set up an io_uring", set_up_io_uring},
	{"A125", "type into the own terminal", push_character, ON_TTY},
	{"A064a", "type into the own terminal with high bits set", push_character_high_bits,
	 ON_TTY},
	{"A126", "TIOCLINUX on a console", use_tioclinux, NEEDS_ROOT},
	{"A076b", "open a disk for writing", open_memory_of_disk, NEEDS_ROOT},
	{"A076c", "open a control device", open_control_device, NEEDS_ROOT},
	{"A074a", "execute a program without a name", execute_nameless},
	{"A074b", "execute a program in shared memory", execute_shared_memory},
	{"A074c", "execute all that can be read", execute_all_that_is_read},
	{"A076d", "set the line discipline", set_line_discipline, ON_TTY},
	{"A076e", "take the console", take_console, ON_TTY | NO_CONTROL},
	{"A070a", "handle page faults with userfaultfd", handle_page_faults},
	{"A070b", "open /dev/fuse", open_fuse, NEEDS_ROOT},
	{"A122a", "look at the user's keyring", look_at_keyring},
	{"A122b", "add a key", add_key},
	{"A075a", "make a BPF map", make_bpf_map, NEEDS_ROOT},
	{"A075b", "open a perf event", open_perf_event},
	{"A071a", "install a listener in front of the supervisor", listen_in_front},
	{"A071b", "find a leaked descriptor", find_leaked_descriptor, WITH_FDS},
	{0},
};
