/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about processes: exec by path, signals by target. */
#include "broker/call.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

/* ---- exec ------------------------------------------------------------------------------------------ */

void handle_exec(struct call *call)
{
	struct place cleanup_place place = PLACE_NONE;
	struct subject subject = {.place = &place, .vnode_type = VNODE_REGULAR};
	bool at = call->nr == SYS_execveat;
	int flags = at ? (int)call->args[4] : 0;
	char path[PATH_MAX];

	if (call_read_string(call, call->args[at ? 1 : 0], path, sizeof(path)) < 0 ||
	    resolve_object(call, at ? (int)call->args[0] : AT_FDCWD, path,
			   !(flags & AT_SYMLINK_NOFOLLOW), flags & AT_EMPTY_PATH, &place) < 0) {
		call_error(call, errno);
		return;
	}
	/*
	 * Nobody can exec on behalf of another. The kernel looks at the path again, and whatever the
	 * caller put there meanwhile, Landlock lets only what the policy allows be executed; the one
	 * exception (the loader) is a listed gap.
	 */
	if (judge(call, OP_PROCESS_EXEC_ANY, &subject))
		call_continue(call);
	else
		call_error(call, EPERM);
}

/* ---- Signals ----------------------------------------------------------------------------------------- */

/*
 * Without a pid namespace and without Landlock's signal scope (ABI 6) the numbers below mean
 * processes of the whole machine. The caller may signal its own sandbox.
 */

static int send_to_group(const struct call *call, pid_t group, int signal)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int sent = 0;

	if (!dir) {
		errno = EPERM;
		return -1;
	}
	while ((entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 1 || (group && getpgid(pid) != group) ||
		    !caller_is_inside(call->broker, pid))
			continue;
		sent += kill(pid, signal) == 0;
	}
	(void)closedir(dir);
	if (!sent) {
		errno = ESRCH;
		return -1;
	}
	return 0;
}

static void signal_one(struct call *call, pid_t pid)
{
	if (caller_is_inside(call->broker, pid))
		call_continue(call); /* by number, in registers */
	else
		call_error(call, kill(pid, 0) < 0 && errno == ESRCH ? ESRCH : EPERM);
}

static void signal_pidfd(struct call *call)
{
	char path[48], text[256];
	int cleanup_fd fd = caller_fd(call, (int)call->args[0]);
	int cleanup_fd info = -1;
	const char *p;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fd < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	n = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	if (n < 0) {
		call_error(call, EBADF);
		return;
	}
	text[n] = '\0';
	p = strstr(text, "\nPid:");
	/* On the duplicate: the caller's number may mean another process by now. */
	if (p && caller_is_inside(call->broker, (pid_t)strtol(p + 5, NULL, 10)) && !call->args[2])
		call_result(call, syscall(SYS_pidfd_send_signal, fd, (int)call->args[1], NULL, 0));
	else
		call_error(call, EPERM);
}

void handle_signal(struct call *call)
{
	pid_t pid = (pid_t)call->args[0];

	if (call->nr == SYS_pidfd_send_signal)
		signal_pidfd(call);
	else if (call->nr != SYS_kill || pid > 0)
		signal_one(call, pid);
	else if (pid == 0)
		call_result(call, send_to_group(call, getpgid(call->tid), (int)call->args[1]));
	else
		call_result(call, send_to_group(call, pid == -1 ? 0 : -pid, (int)call->args[1]));
}
