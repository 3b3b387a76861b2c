/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread with a file system context of its own. unshare(2) makes one, but
 * containers refuse that call whatever it is for. They let clone(2) make
 * threads: so another one, which shares all but that context, takes the place
 * of the calling thread, thread-local storage included, and the calling thread
 * does nothing at all, not even set errno, until it has ended.
 */
#include "broker/call.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	STAND_IN_STACK = 1 << 20, /* as the broker's thread has it */
	STAND_IN = CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		   CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
};

struct body {
	void (*run)(void *data);
	void *data;
};

static int stand_in(void *data)
{
	const struct body *body = data;

	body->run(body->data);
	return 0;
}

/* The kernel clears *TID when the thread is gone. No signal is handled here, so nothing else ends
 * the wait. */
static void wait_for(pid_t *tid)
{
	pid_t now;

	while ((now = __atomic_load_n(tid, __ATOMIC_ACQUIRE)) != 0)
		(void)syscall(SYS_futex, tid, FUTEX_WAIT, now, NULL, NULL, 0);
}

static int replaced(struct body *body)
{
	pid_t tid = -1;
	char *stack = mmap(NULL, STAND_IN_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	int r;

	if (stack == MAP_FAILED)
		return -1;
	r = clone(stand_in, stack + STAND_IN_STACK, STAND_IN, body, &tid, NULL, &tid);
	if (r >= 0)
		wait_for(&tid);
	(void)munmap(stack, STAND_IN_STACK);
	return r < 0 ? -1 : 0;
}

int apart(void (*run)(void *data), void *data)
{
	struct body body = {.run = run, .data = data};

	if (unshare(CLONE_FS) < 0)
		return errno == EPERM || errno == ENOSYS ? replaced(&body) : -1;
	run(data);
	return 0;
}
