/* SPDX-License-Identifier: Apache-2.0 */
/* What procfs says about processes. */
#include "linux/proc.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "test.h"

static int open_proc(void)
{
	return open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* A child that waits to be killed. */
static pid_t start(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			(void)pause();
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static void fields(void)
{
	static const char text[] = "Name:\tPid:\nPid:\t7\t8\nNone:\t\nLast:\t-1\n";

	CHECK_INT((int)proc_number(proc_field(text, "Pid"), 0), 7);
	CHECK_INT((int)proc_number(proc_field(text, "Pid"), 1), 8);
	CHECK(proc_number(proc_field(text, "Pid"), 2) == UINT_MAX);
	CHECK(proc_number(proc_field(text, "None"), 0) == UINT_MAX);
	CHECK(proc_number(proc_field(text, "Last"), 0) == UINT_MAX);
	CHECK(!proc_field(text, "id"));
	CHECK(!proc_field(text, "Pi"));
	CHECK(proc_number(NULL, 0) == UINT_MAX);
}

static void descent(void)
{
	int cleanup_fd proc = open_proc();
	pid_t child = start();

	CHECK_INT(proc_parent(proc, child), getpid());
	CHECK(proc_is_descendant(proc, child, getpid()));
	CHECK(!proc_is_descendant(proc, getpid(), child));
	CHECK(!proc_is_descendant(proc, child, child));
	end(child);
	CHECK_INT(proc_parent(proc, child), 0);
	CHECK(!proc_is_descendant(proc, child, getpid()));
	CHECK(!proc_is_descendant(proc, 0, getpid()));
	CHECK(!proc_is_descendant(proc, -1, getpid()));
	CHECK(!proc_is_descendant(proc, child, 0)); /* what an unknown parent is given as */
}

static void a_pin_outlives_its_process(void)
{
	int cleanup_fd proc = open_proc();
	pid_t child = start();
	int cleanup_fd pin = proc_pin(proc, child);
	char text[PROC_TEXT_MAX];

	CHECK(pin >= 0);
	CHECK_INT(proc_read(pin, "status", text, sizeof(text)), 0);
	CHECK_INT((int)proc_number(proc_field(text, "Tgid"), 0), child);
	CHECK(syscall(SYS_pidfd_send_signal, pin, 0, NULL, 0) == 0);
	end(child);
	CHECK(proc_read(pin, "status", text, sizeof(text)) < 0);
	CHECK(syscall(SYS_pidfd_send_signal, pin, 0, NULL, 0) < 0);
	CHECK(proc_pin(proc, child) < 0);
	CHECK(proc_pin(proc, -1) < 0);
}

static int find(int proc, pid_t pid, void *context)
{
	(void)proc;
	return pid == *(pid_t *)context;
}

static void every_process(void)
{
	int cleanup_fd proc = open_proc();
	pid_t self = getpid(), nobody = 0;

	/* Twice: the position in the directory is not PROC's. */
	CHECK_INT(proc_each_process(proc, find, &self), 1);
	CHECK_INT(proc_each_process(proc, find, &self), 1);
	CHECK_INT(proc_each_process(proc, find, &nobody), 0);
	CHECK_INT(proc_each_process(-1, find, &self), -1);
}

int main(void)
{
	RUN(fields);
	RUN(descent);
	RUN(a_pin_outlives_its_process);
	RUN(every_process);
	return test_done();
}
