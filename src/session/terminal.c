/* SPDX-License-Identifier: Apache-2.0 */
#include "session/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/banned.h"

/* tcsetpgrp(3) from the background raises SIGTTOU unless it is blocked. */
static void set_foreground(int fd, pid_t group)
{
	sigset_t set, old;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTTOU);
	(void)pthread_sigmask(SIG_BLOCK, &set, &old);
	(void)tcsetpgrp(fd, group);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void terminal_open(struct terminal *ret)
{
	*ret = (struct terminal){.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY),
				 .group = getpgrp()};
	for (int i = 0; i < 3; i++)
		ret->flags[i] = fcntl(i, F_GETFL);
	if (ret->fd >= 0 &&
	    (tcgetpgrp(ret->fd) != ret->group || tcgetattr(ret->fd, &ret->modes) < 0))
		fd_close(&ret->fd);
}

void terminal_give_back(struct terminal *terminal)
{
	if (terminal->fd < 0)
		return;
	terminal->stopped_group = tcgetpgrp(terminal->fd);
	if (terminal->stopped_group != terminal->group)
		set_foreground(terminal->fd, terminal->group);
}

void terminal_take_again(struct terminal *terminal)
{
	/* Only if our caller has put us in the foreground again. */
	if (terminal->fd >= 0 && terminal->stopped_group != terminal->group &&
	    tcgetpgrp(terminal->fd) == terminal->group)
		set_foreground(terminal->fd, terminal->stopped_group);
}

static void restore_flags(const struct terminal *terminal)
{
	for (int i = 0; i < 3; i++) {
		int now = terminal->flags[i] < 0 ? -1 : fcntl(i, F_GETFL);

		if (now >= 0 && ((now ^ terminal->flags[i]) & O_NONBLOCK))
			(void)fcntl(i, F_SETFL, now ^ O_NONBLOCK);
	}
}

void terminal_close(struct terminal *terminal)
{
	restore_flags(terminal);
	if (terminal->fd < 0)
		return;
	if (tcgetpgrp(terminal->fd) != terminal->group)
		set_foreground(terminal->fd, terminal->group);
	(void)tcsetattr(terminal->fd, TCSANOW, &terminal->modes);
	fd_close(&terminal->fd);
}
