/* SPDX-License-Identifier: Apache-2.0 */
/* Acts on processes, sockets and what has no path. */
#include "live/deed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

/* ---- Programs and processes ---- */

static int execute(const char *path)
{
	char *argv[] = {(char[]){"live"}, NULL};

	return execve(path, argv, argv + 1);
}

int act_exec(const struct deed *deed)
{
	return execute(deed->path);
}

int act_exec_script(const struct deed *deed)
{
	return execute(deed->other);
}

int act_fork(const struct deed *deed)
{
	pid_t pid = fork();

	(void)deed;
	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) < 0 ? -1 : 0;
}

/* ---- Signals ---- */

/* A child that waits for its end. */
static pid_t start_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	die_with(parent);
	for (;;)
		(void)pause();
}

static int signal_child(const struct deed *deed)
{
	pid_t pid = start_child();

	if (pid < 0 || (deed->who == WHO_CHILD && setpgid(pid, pid) < 0))
		return -1;
	return kill(pid, deed->signal);
}

/* The child tells by its status how it went, if we live to see it. */
static int signal_parent(const struct deed *deed)
{
	pid_t parent = getpid(), pid = fork();
	int status;

	if (pid < 0)
		return -1;
	if (pid == 0) {
		if (deed->who == WHO_PARENT && setpgid(0, 0) < 0)
			_exit(errno);
		_exit(kill(parent, deed->signal) < 0 ? errno : 0);
	}
	if (waitpid(pid, &status, 0) < 0)
		return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
	return errno ? -1 : 0;
}

int act_signal(const struct deed *deed)
{
	switch (deed->who) {
	case WHO_SELF:
		return kill(getpid(), deed->signal);
	case WHO_CHILD:
	case WHO_GROUP_CHILD:
		return signal_child(deed);
	case WHO_PARENT:
	case WHO_GROUP_PARENT:
		return signal_parent(deed);
	case WHO_OUTSIDER:
	case WHO_MATE:
		return kill(deed->pid, deed->signal);
	case WHO_NOBODY:
		break;
	}
	errno = EINVAL;
	return -1;
}

/* ---- Sockets ---- */

static int open_socket(const struct deed *deed)
{
	if (deed->socket >= 0)
		return dup(deed->socket);
	return socket(deed->address.name.ss_family,
		      (deed->udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
}

static const struct sockaddr *name_of(const struct deed *deed)
{
	return (const struct sockaddr *)&deed->address.name;
}

int act_connect(const struct deed *deed)
{
	int cleanup_fd fd = open_socket(deed);

	if (fd < 0)
		return -1;
	if (deed->udp)
		return sendto(fd, "x", 1, 0, name_of(deed), deed->address.length) < 0 ? -1 : 0;
	return connect(fd, name_of(deed), deed->address.length);
}

static int bind_socket(const struct deed *deed, int fd)
{
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -1;
	return bind(fd, name_of(deed), deed->address.length);
}

int act_bind(const struct deed *deed)
{
	int cleanup_fd fd = open_socket(deed);

	return bind_socket(deed, fd);
}

int act_listen(const struct deed *deed)
{
	int cleanup_fd fd = open_socket(deed);

	return bind_socket(deed, fd) < 0 ? -1 : listen(fd, 1);
}

/* ---- Objects without a path ---- */

int act_sysv_shm(const struct deed *deed)
{
	int id = shmget(IPC_PRIVATE, 1, IPC_CREAT | 0600);

	(void)deed;
	return id < 0 ? -1 : shmctl(id, IPC_RMID, NULL);
}

int act_sysv_sem(const struct deed *deed)
{
	int id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);

	(void)deed;
	return id < 0 ? -1 : semctl(id, 0, IPC_RMID);
}

int act_sysv_msg(const struct deed *deed)
{
	int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);

	(void)deed;
	return id < 0 ? -1 : msgctl(id, IPC_RMID, NULL);
}

int act_openpt(const struct deed *deed)
{
	int cleanup_fd fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	(void)deed;
	return fd < 0 ? -1 : 0;
}

int act_code(const struct deed *deed)
{
	void *page = mmap(NULL, 1, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	(void)deed;
	return page == MAP_FAILED ? -1 : 0;
}
