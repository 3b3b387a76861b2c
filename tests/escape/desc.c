/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors and terminals that came from outside. */
#include "escape.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum outcome climb_from_inherited_directory(void)
{
	if (fchdir(FD_OTHER_DIR) < 0)
		return came_through(-1);
	return reads_secret("../.ssh/id");
}

static enum outcome write_below(int directory)
{
	int fd = openat(directory, "f", O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return came_through(-1);
	return came_through(write(fd, "escaped\n", 8));
}

static enum outcome write_below_inherited_directory(void)
{
	return write_below(FD_OTHER_DIR);
}

static enum outcome read_inherited_file(void)
{
	return reads_secret_fd(FD_SECRET);
}

static enum outcome send_on_inherited_socket(void)
{
	if (send(FD_SOCKET, "escaped", 7, MSG_NOSIGNAL) < 0)
		return came_through(-1);
	return outsider_saw("data");
}

static enum outcome signal_by_inherited_pidfd(void)
{
	return came_through(syscall(SYS_pidfd_send_signal, FD_PIDFD, 0, NULL, 0));
}

static enum outcome write_below_stdin(void)
{
	return write_below(0);
}

static enum outcome climb_from_stdin(void)
{
	if (fchdir(0) < 0)
		return came_through(-1);
	return reads_secret("../.ssh/id");
}

/* stderr is a log that may be appended to; who reopens it may also read it. */
static enum outcome reopen_stderr_for_reading(void)
{
	return reads_secret("/proc/self/fd/2");
}

static enum outcome write_to_terminal_outside(void)
{
	return writes(fact("PTS"), O_WRONLY | O_NOCTTY);
}

const struct escape_case desc_cases[] = {
	{"A043", "climb from an inherited directory", climb_from_inherited_directory, WITH_FDS},
	{"A130a", "write below an inherited directory", write_below_inherited_directory, WITH_FDS},
	{"A130b", "read an inherited file at 2048", read_inherited_file, WITH_FDS},
	{"A130c", "send on an inherited socket", send_on_inherited_socket, WITH_FDS},
	{"A130d", "signal by an inherited pidfd", signal_by_inherited_pidfd, WITH_FDS},
	{"A131d", "write below stdin, a directory", write_below_stdin, WITH_FDS},
	{"A131e", "climb from stdin, a directory", climb_from_stdin, WITH_FDS},
	{"A131f", "reopen stderr for reading", reopen_stderr_for_reading, WITH_FDS},
	{"A125b", "write to a terminal outside", write_to_terminal_outside},
	{0},
};
