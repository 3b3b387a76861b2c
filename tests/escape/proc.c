/* SPDX-License-Identifier: Apache-2.0 */
/* Reaching processes outside: /proc, ptrace, memory, signals, limits; and outliving the run. */
#include "escape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/ioprio.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* /proc/PID/name of the outsider. */
static const char *outsiders(const char *name)
{
	return text("/proc/%d/%s", outsider_pid(), name);
}

static enum outcome read_environ(void)
{
	return reads_secret(outsiders("environ"));
}

static enum outcome read_thread_environ(void)
{
	return reads_secret(outsiders(text("task/%d/environ", outsider_pid())));
}

static enum outcome read_through_root(void)
{
	return reads_secret(outsiders(text("root%s", home(".ssh/id"))));
}

static enum outcome read_through_cwd(void)
{
	return reads_secret(outsiders("cwd/id"));
}

static enum outcome read_through_fd(void)
{
	return reads_secret(outsiders(text("fd/%d", fact_number("FD"))));
}

static uintptr_t secret_address(void)
{
	return (uintptr_t)strtoull(fact("ADDRESS"), NULL, 0);
}

static enum outcome read_mem(void)
{
	char buffer[sizeof(SECRET)];
	int fd = open(outsiders("mem"), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return came_through(-1);
	return came_through(pread(fd, buffer, sizeof(buffer), (off_t)secret_address()));
}

/* --- the same by names that begin below /proc/PID ------------------------------------------- */

static int pinned_outsider(void)
{
	return open(outsiders(""), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static enum outcome reads_secret_at(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return came_through(-1);
	return reads_secret_fd(fd);
}

static enum outcome read_mem_at(int directory)
{
	char buffer[sizeof(SECRET)] = "";
	int fd = openat(directory, "mem", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, buffer, sizeof(buffer), (off_t)secret_address()) < 0)
		return came_through(-1);
	return strcmp(buffer, SECRET) == 0 ? ESCAPED : CONTAINED;
}

static enum outcome read_pinned_environ(void)
{
	return reads_secret_at(pinned_outsider(), "environ");
}

static enum outcome read_pinned_fd(void)
{
	return reads_secret_at(pinned_outsider(), text("fd/%d", fact_number("FD")));
}

/* A name that no rule about files could deny. */
static enum outcome write_to_pinned_pipe(void)
{
	int fd = openat(pinned_outsider(), text("fd/%d", fact_number("PIPE")),
			O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || write(fd, "escaped", 7) < 0)
		return came_through(-1);
	return outsider_saw("pipe");
}

static enum outcome read_pinned_mem(void)
{
	return read_mem_at(pinned_outsider());
}

static enum outcome read_fd_from_its_directory(void)
{
	if (chdir(outsiders("")) < 0 || chdir("fd") < 0)
		return came_through(-1);
	return reads_secret(fact("FD"));
}

static enum outcome read_mem_from_its_directory(void)
{
	if (fchdir(pinned_outsider()) < 0)
		return came_through(-1);
	return read_mem_at(AT_FDCWD);
}

static enum outcome read_maps(void)
{
	int fd = open(outsiders("maps"), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return came_through(-1);
	return fd_has(fd, "escape") ? ESCAPED : CONTAINED;
}

static enum outcome list_mapped_files(void)
{
	DIR *directory = opendir(outsiders("map_files"));
	struct dirent *entry;
	bool any = false;

	if (!directory)
		return came_through(-1);
	/* The dots of a directory are shown to everybody. */
	while ((entry = readdir(directory)))
		any |= entry->d_name[0] != '.';
	closedir(directory);
	return any ? ESCAPED : CONTAINED;
}

static enum outcome reads_something(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && !is_inside())
		return untried("kernel lacks this file");
	return fd < 0 ? came_through(-1) : came_through(read(fd, &byte, 1) == 1 ? 0 : -1);
}

static enum outcome read_system_call(void)
{
	return reads_something(outsiders("syscall"));
}

static enum outcome read_stack(void)
{
	return reads_something(outsiders("stack"));
}

static enum outcome raise_oom_score(void)
{
	int fd = open(outsiders("oom_score_adj"), O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return came_through(-1);
	return came_through(write(fd, "500", 3));
}

static enum outcome attach(void)
{
	return came_through(ptrace(PTRACE_ATTACH, outsider_pid(), NULL, NULL));
}

static enum outcome seize(void)
{
	return came_through(ptrace(PTRACE_SEIZE, outsider_pid(), NULL, NULL));
}

static enum outcome transfer_memory(bool write_it)
{
	char buffer[sizeof(SECRET)] = SECRET;
	struct iovec local = {.iov_base = buffer, .iov_len = sizeof(buffer)};
	struct iovec remote = {.iov_base = (void *)secret_address(), .iov_len = sizeof(buffer)};

	if (write_it)
		return came_through(process_vm_writev(outsider_pid(), &local, 1, &remote, 1, 0));
	return came_through(process_vm_readv(outsider_pid(), &local, 1, &remote, 1, 0));
}

static enum outcome read_memory(void)
{
	return transfer_memory(false);
}

static enum outcome write_memory(void)
{
	return transfer_memory(true);
}

static int outsider_pidfd(void)
{
	return (int)syscall(SYS_pidfd_open, outsider_pid(), 0);
}

static enum outcome advise_outsider(void)
{
	struct iovec part = {.iov_base = (void *)(secret_address() & ~4095ul), .iov_len = 4096};
	long result = syscall(SYS_process_madvise, outsider_pidfd(), &part, 1, MADV_COLD, 0);

	if (result < 0 && errno == ENOSYS)
		return untried("kernel lacks process_madvise");
	return came_through(result);
}

/* --- a tracer of our own, who changes what a call is after it has been looked at ---------------
 */

#ifdef __x86_64__

enum {
	HARMLESS = SYS_getppid
};

/* Asks to be traced, and makes one call that is harmless, with the arguments of another. */
_Noreturn static void be_traced(const char *path, bool by_filter)
{
	struct sock_filter rows[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HARMLESS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = rows};
	long fd;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit((int)untried("nobody may trace here"));
	raise(SIGSTOP);
	if (by_filter && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0))
		broken("filter");
	fd = syscall(HARMLESS, AT_FDCWD, path, O_RDONLY, 0);
	_exit(fd > 2 && fd_has((int)fd, SECRET) ? ESCAPED : CONTAINED);
}

/* Turns the harmless call into openat(2) at STOP, an event or the entry of a call. */
static enum outcome change_call(bool by_filter)
{
	const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
	const char *path = home(".ssh/id");
	struct user_regs_struct registers;
	pid_t child = fork();
	int status;

	if (child == 0)
		be_traced(path, by_filter);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		broken("fork");
	if (!WIFSTOPPED(status))
		return WIFEXITED(status) ? (enum outcome)WEXITSTATUS(status) : BROKEN;
	if (ptrace(PTRACE_SETOPTIONS, child, NULL, options) < 0)
		broken("PTRACE_SETOPTIONS");
	for (;;) {
		if (ptrace(by_filter ? PTRACE_CONT : PTRACE_SYSCALL, child, NULL, NULL) < 0 ||
		    waitpid(child, &status, 0) < 0)
			broken("waitpid");
		if (!WIFSTOPPED(status))
			break;
		if (ptrace(PTRACE_GETREGS, child, NULL, &registers) < 0)
			broken("PTRACE_GETREGS");
		if (registers.orig_rax != HARMLESS || (long)registers.rax != -ENOSYS)
			continue;
		registers.orig_rax = SYS_openat;
		if (ptrace(PTRACE_SETREGS, child, NULL, &registers) < 0)
			broken("PTRACE_SETREGS");
	}
	return WIFEXITED(status) ? (enum outcome)WEXITSTATUS(status) : CONTAINED;
}

#else

static enum outcome change_call(bool by_filter)
{
	(void)by_filter;
	return untried("kernel lacks this way of tracing: another architecture");
}

#endif

static enum outcome change_traced_call(void)
{
	return change_call(false);
}

static enum outcome change_filtered_call(void)
{
	return change_call(true);
}

static enum outcome take_descriptor(void)
{
	int pidfd = outsider_pidfd();
	long fd;

	if (pidfd < 0)
		return came_through(-1);
	fd = syscall(SYS_pidfd_getfd, pidfd, fact_number("FD"), 0);
	if (fd < 0)
		return came_through(-1);
	return reads_secret_fd((int)fd);
}

static enum outcome compare_descriptors(void)
{
	long result = syscall(SYS_kcmp, getpid(), outsider_pid(), KCMP_FILES, 0, 0);

	if (result < 0 && errno == ENOSYS)
		return untried("kernel lacks kcmp");
	return came_through(result);
}

/* --- signals ------------------------------------------------------------------------------------
 */

static enum outcome kill_outsider(void)
{
	if (kill(outsider_pid(), SIGUSR1) < 0)
		return came_through(-1);
	return outsider_saw("usr1");
}

static enum outcome tgkill_outsider(void)
{
	if (syscall(SYS_tgkill, outsider_pid(), outsider_pid(), SIGUSR1) < 0)
		return came_through(-1);
	return outsider_saw("usr1");
}

static enum outcome queue_signal(void)
{
	if (sigqueue(outsider_pid(), SIGUSR1, (union sigval){0}) < 0)
		return came_through(-1);
	return outsider_saw("usr1");
}

static enum outcome pidfd_signal(void)
{
	int pidfd = outsider_pidfd();

	if (pidfd < 0 || syscall(SYS_pidfd_send_signal, pidfd, SIGUSR1, NULL, 0) < 0)
		return came_through(-1);
	return outsider_saw("usr1");
}

static enum outcome kill_group(void)
{
	if (kill(-outsider_pid(), SIGUSR1) < 0)
		return came_through(-1);
	return outsider_saw("usr1");
}

/* SIGURG is ignored by whoever does not ask for it, so the control hurts nobody. */
static enum outcome kill_everybody(void)
{
	if (kill(-1, SIGURG) < 0)
		return came_through(-1);
	return outsider_saw("urg");
}

/* The kernel sends the signal for us when the pipe becomes readable. */
static enum outcome signal_by_owner(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		broken("pipe");
	if (fcntl(ends[0], F_SETOWN, outsider_pid()) < 0 || fcntl(ends[0], F_SETSIG, SIGUSR1) < 0 ||
	    fcntl(ends[0], F_SETFL, O_ASYNC) < 0)
		return came_through(-1);
	if (write(ends[1], "x", 1) < 0)
		broken("write");
	return outsider_saw("usr1");
}

/* Whoever guards us is among our ancestors, below run.sh. Kill them, then look for what they
 * guarded. */
static enum outcome kill_guards_and_steal(void)
{
	const pid_t end = fact_number("RUNNER");
	pid_t parent, thief = fork();

	if (thief != 0)
		return outcome_of(thief);
	setsid();
	if (is_inside())
		for (pid_t pid = getppid(); pid > 1 && pid != end; pid = parent) {
			parent = parent_of(pid);
			kill(pid, SIGKILL);
		}
	usleep(300 * 1000);
	if (file_has(home(".ssh/id"), SECRET) || writes(other("f"), O_WRONLY | O_APPEND) == ESCAPED)
		make_file("loot", "loot\n");
	_exit(ESCAPED);
}

/* Whoever guards us, and whoever started that. */
static enum outcome signal_ancestors(void)
{
	enum outcome outcome = CONTAINED;

	for (pid_t pid = getppid(); pid > 0; pid = parent_of(pid))
		if (kill(pid, SIGURG) == 0)
			outcome = ESCAPED;
	return outcome;
}

static bool gives_descriptor(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	for (int fd = 0; fd < 64 && pidfd >= 0; fd++)
		if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0)
			return true;
	return false;
}

/* The listener, the policy in memory: whatever an ancestor has, that guards us or started that. */
static enum outcome look_into_ancestors(void)
{
	static const char *const names[] = {"mem",   "environ", "fd/0", "fd/3", "root/etc/passwd",
					    "cwd/.", "exe"};

	for (pid_t pid = getppid(); pid > 0; pid = parent_of(pid)) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const char *path = text("/proc/%d/%s", pid, names[i]);

			if (open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) >= 0) {
				printf("# %s opens\n", path);
				return ESCAPED;
			}
		}
		if (gives_descriptor(pid))
			return ESCAPED;
	}
	return CONTAINED;
}

/* What a later run reads of this one would be its own doing. */
static enum outcome write_state(void)
{
	const char *place = text("%s/lapbelt", fact("STATE"));

	if (mkdir(place, 0700) < 0 && errno != EEXIST)
		return came_through(-1);
	return writes(text("%s/sessions", place), O_WRONLY | O_CREAT);
}

/* A daemon that left the session and all its ancestors behind. */
static enum outcome outlive_the_run(void)
{
	pid_t child = fork();

	if (child != 0)
		return outcome_of(child);
	setsid();
	if (fork() != 0)
		_exit(ESCAPED);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	usleep(700 * 1000);
	make_file("loot", "loot\n");
	_exit(ESCAPED);
}

/* Many short generations: a killer that lists processes and then kills them comes too late. */
static enum outcome outrun_the_killer(void)
{
	struct timespec start, now;
	pid_t child = fork();
	long age;

	if (child != 0)
		return outcome_of(child);
	if (setsid() < 0 || fork() != 0)
		_exit(ESCAPED);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		if (fork() != 0)
			_exit(0);
		clock_gettime(CLOCK_MONOTONIC, &now);
		age = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
		if (age >= 800)
			make_file("loot", "loot\n");
	} while (age < 1200);
	_exit(ESCAPED);
}

/* --- what one process may set on another
 * ---------------------------------------------------------- */

static enum outcome limit_outsider(void)
{
	const struct rlimit limit = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
	struct rlimit old;

	if (prlimit(outsider_pid(), RLIMIT_CORE, NULL, &old) < 0)
		return came_through(-1);
	old.rlim_cur = limit.rlim_cur;
	return came_through(prlimit(outsider_pid(), RLIMIT_CORE, &old, NULL));
}

/* The lowest: only root can raise that of what was started by nice(1). */
#define LAST 19

static enum outcome slow_outsider(void)
{
	return came_through(setpriority(PRIO_PROCESS, (id_t)outsider_pid(), LAST));
}

/* Of many processes at once the call says only that it found one: the outsider looks at its own. */
static enum outcome slow_group(void)
{
	if (setpriority(PRIO_PGRP, (id_t)outsider_pid(), LAST) < 0)
		return came_through(-1);
	return outsider_saw("priority");
}

static enum outcome slow_user(void)
{
	if (setpriority(PRIO_USER, geteuid(), LAST) < 0)
		return came_through(-1);
	return outsider_saw("priority");
}

static enum outcome slow_input_of(int kind, long who)
{
	if (syscall(SYS_ioprio_set, kind, who, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7)) < 0)
		return came_through(-1);
	return outsider_saw("priority");
}

static enum outcome slow_input_of_group(void)
{
	return slow_input_of(IOPRIO_WHO_PGRP, outsider_pid());
}

static enum outcome slow_input_of_user(void)
{
	return slow_input_of(IOPRIO_WHO_USER, geteuid());
}

static enum outcome pin_outsider(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		broken("sched_getaffinity");
	return came_through(sched_setaffinity(outsider_pid(), sizeof(set), &set));
}

static enum outcome become_real_time(void)
{
	const struct sched_param parameter = {.sched_priority = 1};
	long result = sched_setscheduler(0, SCHED_FIFO, &parameter);

	if (result < 0 && errno == EPERM && !is_inside())
		return untried("root here lacks CAP_SYS_NICE");
	return came_through(result);
}

static enum outcome become_nicer_than_others(void)
{
	if (setpriority(PRIO_PROCESS, 0, -20) == 0)
		return ESCAPED;
	if (!is_inside())
		return untried("root here lacks CAP_SYS_NICE");
	return came_through(-1);
}

static enum outcome idle_outsider(void)
{
	const struct sched_param parameter = {0};

	return came_through(sched_setscheduler(outsider_pid(), SCHED_BATCH, &parameter));
}

/* --- shared memory and queues
 * ---------------------------------------------------------------------- */

static enum outcome write_posix_memory(void)
{
	int fd = shm_open(fact("SHM"), O_RDWR, 0);

	if (fd < 0)
		return came_through(-1);
	return came_through(write(fd, "escaped\n", 8));
}

static enum outcome attach_sysv_memory(void)
{
	int id = shmget((key_t)fact_number("KEY"), 0, 0);

	if (id < 0)
		return came_through(-1);
	return shmat(id, NULL, 0) == (void *)-1 ? came_through(-1) : ESCAPED;
}

static enum outcome send_to_queue(void)
{
	mqd_t queue = mq_open(fact("QUEUE"), O_WRONLY | O_NONBLOCK);

	if (queue == (mqd_t)-1)
		return came_through(-1);
	return came_through(mq_send(queue, "escaped", 7, 0));
}

/* --- the kernel's own files
 * -------------------------------------------------------------------------- */

/* Writes back what is there, so that the control changes nothing. */
static enum outcome rewrite_setting(const char *path)
{
	char value[4096];
	ssize_t n;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return untried("kernel lacks this file");
	if (fd < 0)
		return came_through(-1);
	n = pread(fd, value, sizeof(value), 0);
	if (n < 0)
		return untried("the setting cannot be read");
	return came_through(pwrite(fd, value, (size_t)n, 0));
}

static enum outcome opens_for_writing(const char *path)
{
	if (!exists(path) && !is_inside())
		return untried("kernel lacks this file");
	return came_through(open(path, O_WRONLY | O_CLOEXEC));
}

static enum outcome set_core_pattern(void)
{
	return rewrite_setting("/proc/sys/kernel/core_pattern");
}

static enum outcome set_modprobe(void)
{
	return rewrite_setting("/proc/sys/kernel/modprobe");
}

static enum outcome open_sysrq(void)
{
	return opens_for_writing("/proc/sysrq-trigger");
}

static enum outcome open_sysfs(void)
{
	return opens_for_writing("/sys/kernel/mm/transparent_hugepage/enabled");
}

static enum outcome set_uevent_helper(void)
{
	return opens_for_writing("/sys/kernel/uevent_helper");
}

static enum outcome register_binfmt(void)
{
	return opens_for_writing("/proc/sys/fs/binfmt_misc/register");
}

static enum outcome make_cgroup(void)
{
	static const char *const parents[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
					      "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"};
	const char *path;

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		path = text("%s/lapbelt-escape-%d", parents[i], getpid());
		if (mkdir(path, 0755) == 0) {
			rmdir(path);
			return ESCAPED;
		}
	}
	return came_through(-1);
}

static enum outcome open_release_agent(void)
{
	static const char *const hierarchies[] = {"pids", "memory", "cpu", "devices", "freezer"};

	for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
		const char *path = text("/sys/fs/cgroup/%s/release_agent", hierarchies[i]);

		if (exists(path) || is_inside())
			return opens_for_writing(path);
	}
	return untried("kernel lacks this file");
}

static enum outcome open_memory_device(void)
{
	return opens_for_writing("/dev/mem");
}

static enum outcome open_kernel_log(void)
{
	return opens_for_writing("/dev/kmsg");
}

static enum outcome protect_from_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return came_through(-1);
	if (write(fd, "-1000", 5) < 0 && errno == EACCES)
		return untried("root here lacks CAP_SYS_RESOURCE");
	return came_through(write(fd, "-1000", 5));
}

const struct escape_case proc_cases[] = {
	{"A046a", "read the environment of a process outside", read_environ},
	{"A046b", "read the environment of a thread outside", read_thread_environ},
	{"A047a", "read a secret through /proc/PID/root", read_through_root},
	{"A047b", "read a secret through /proc/PID/cwd", read_through_cwd},
	{"A047c", "read a secret through /proc/PID/fd", read_through_fd},
	{"A047d", "read /proc/PID/mem", read_mem},
	{"A047e", "read /proc/PID/maps", read_maps},
	{"A047f", "read the environment of a process outside by a pinned directory",
	 read_pinned_environ},
	{"A047g", "read a secret through fd/N of a pinned /proc/PID", read_pinned_fd},
	{"A047h", "read mem of a pinned /proc/PID", read_pinned_mem},
	{"A047i", "read a secret from inside /proc/PID/fd", read_fd_from_its_directory},
	{"A047j", "read mem from inside /proc/PID", read_mem_from_its_directory},
	{"A047k", "write to a pipe through fd/N of a pinned /proc/PID", write_to_pinned_pipe},
	{"A047l", "list the mapped files of a process outside", list_mapped_files},
	{"A047m", "read which system call a process outside is in", read_system_call},
	{"A047n", "read the kernel's stack of a process outside", read_stack, NEEDS_ROOT},
	{"A049c", "change a call while it is traced", change_traced_call},
	{"A049d", "change a call that an own filter stops at", change_filtered_call},
	{"A050e", "advise on the memory of a process outside", advise_outsider, NEEDS_ROOT},
	{"A052i", "signal those who guard us", signal_ancestors},
	{"A071c", "look into those who guard us", look_into_ancestors},
	{"A073", "write what a later run reads", write_state},
	{"A049a", "attach to a process outside", attach},
	{"A049b", "seize a process outside", seize},
	{"A050a", "process_vm_readv a process outside", read_memory},
	{"A050b", "process_vm_writev a process outside", write_memory},
	{"A050c", "pidfd_getfd from a process outside", take_descriptor},
	{"A050d", "kcmp with a process outside", compare_descriptors},
	{"A052a", "kill a process outside", kill_outsider},
	{"A052b", "tgkill a process outside", tgkill_outsider},
	{"A052c", "queue a signal to a process outside", queue_signal},
	{"A052d", "signal a process outside by pidfd", pidfd_signal},
	{"A052e", "kill a process group outside", kill_group},
	{"A052f", "kill everybody", kill_everybody},
	{"A052g", "have the kernel signal a process outside (F_SETOWN)", signal_by_owner},
	{"A052h", "kill every ancestor, then steal", kill_guards_and_steal, LEAVES_LOOT},
	{"A137a", "outlive the run as a daemon", outlive_the_run, LEAVES_LOOT},
	{"A137b", "outlive the run by forking on and on", outrun_the_killer, LEAVES_LOOT | LATE},
	{"A140a", "set a limit of a process outside", limit_outsider},
	{"A140b", "set the priority of a process outside", slow_outsider},
	{"A140c", "set the processors of a process outside", pin_outsider},
	{"A140d", "set the scheduler of a process outside", idle_outsider},
	{"A140e", "raise the OOM score of a process outside", raise_oom_score},
	{"A140f", "become immune to the OOM killer", protect_from_oom, NEEDS_ROOT},
	{"A140g", "set the priority of a process group outside", slow_group},
	{"A140h", "set the priority of everybody's processes", slow_user, NO_CONTROL},
	{"A140i", "set the input priority of a process group outside", slow_input_of_group},
	{"A140j", "set the input priority of everybody's processes", slow_input_of_user,
	 NO_CONTROL},
	{"A140k", "become a process of real time", become_real_time, NEEDS_ROOT},
	{"A140l", "go before all others", become_nicer_than_others, NEEDS_ROOT},
	{"A133a", "write POSIX shared memory of a process outside", write_posix_memory},
	{"A133b", "attach SysV shared memory of a process outside", attach_sysv_memory},
	{"A133c", "send to a message queue of a process outside", send_to_queue},
	{"A055a", "write core_pattern", set_core_pattern, NEEDS_ROOT},
	{"A055b", "write the path of modprobe", set_modprobe, NEEDS_ROOT},
	{"A055c", "open sysrq-trigger", open_sysrq, NEEDS_ROOT},
	{"A055d", "open a file of sysfs for writing", open_sysfs, NEEDS_ROOT},
	{"A055e", "open uevent_helper", set_uevent_helper, NEEDS_ROOT},
	{"A055f", "open binfmt_misc/register", register_binfmt, NEEDS_ROOT},
	{"A055g", "make a control group", make_cgroup, NEEDS_ROOT},
	{"A055j", "open the release agent of a control group", open_release_agent, NEEDS_ROOT},
	{"A055h", "open /dev/mem", open_memory_device, NEEDS_ROOT},
	{"A055i", "open /dev/kmsg", open_kernel_log, NEEDS_ROOT},
	{0},
};
