/* SPDX-License-Identifier: Apache-2.0 */
/* Two ways to start a command: on a terminal of its own, and with descriptors it should not have.
 */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void become_session_on(const char *terminal)
{
	int fd;

	setsid();
	fd = open(terminal, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0)
		broken("terminal");
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static void copy_output(int terminal)
{
	char buffer[4096];
	ssize_t n;

	while ((n = read(terminal, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)n, stdout);
}

int pty_main(char **command)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int status;
	pid_t child;

	if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0)
		broken("pseudo-terminal");
	child = fork();
	if (child < 0)
		broken("fork");
	if (child == 0) {
		become_session_on(ptsname(terminal));
		execvp(command[0], command);
		broken(command[0]);
	}
	copy_output(terminal);
	if (waitpid(child, &status, 0) < 0)
		broken("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int connected_to_outsider(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fact("FRIEND"));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		broken("connect");
	return fd;
}

static void leave_open_at(int fd, int number)
{
	if (fd < 0 || dup2(fd, number) < 0)
		broken("inherited descriptor");
	if (fd != number)
		close(fd);
}

int descriptors_main(char **command)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		broken("getrlimit");
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	leave_open_at(connected_to_outsider(), 100);
	leave_open_at(open(home(".ssh/id"), O_RDONLY), FD_SECRET);
	leave_open_at(open(home("other"), O_RDONLY | O_DIRECTORY), FD_OTHER_DIR);
	leave_open_at(100, FD_SOCKET);
	leave_open_at(epoll_create1(0), 101);
	leave_open_at(memfd_create("left", 0), 102);
	leave_open_at(eventfd(0, 0), 103);
	leave_open_at((int)syscall(SYS_pidfd_open, getppid(), 0), FD_PIDFD);
	leave_open_at(open(home("other"), O_PATH | O_DIRECTORY), 105);
	leave_open_at(open(home("other"), O_RDONLY | O_DIRECTORY), 0);
	leave_open_at(open(home(".ssh/log"), O_WRONLY | O_APPEND), 2);
	execvp(command[0], command);
	broken(command[0]);
}
