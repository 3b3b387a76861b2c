/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/quiet.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/banned.h"

pid_t quiet_fork(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
}

int quiet_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return -1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	errno = EINTR;
	return -1;
}
