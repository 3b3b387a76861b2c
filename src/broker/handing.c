/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handing: descriptors that are on their way to their callers. One that its caller gets with the
 * answer is held by us for a moment more, and three things would tell: a file that is executed
 * while somebody has it open for writing, a lock, and a lease. So what can be executed is handed
 * over and closed before its caller goes on. Who locks or leases a file waits here first until
 * nothing that was handed over before is still open; who has made one executable does so after.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/fd.h"
#include "broker/call.h"
#include "base/banned.h"

enum {
	PAUSE = 20 * 1000, /* nanoseconds */
	PAUSES_MAX = 50000 /* a file system may not answer */
};

/* Does the filter ask about who makes files executable? About locks it does wherever it asks about
 * opening (WHEN_LOCKS). */
static bool is_guarded(const struct broker *broker)
{
	return (broker->plan->brokered & BROKER_ATTR) != 0;
}

static bool can_linger(const struct call *call, int fd)
{
	struct stat st;

	return is_guarded(call->broker) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       !(st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH));
}

void handing_give(struct call *call, int *fd, bool cloexec, bool tells)
{
	struct handing *handing = &call->broker->handing;
	unsigned phase = atomic_load(&handing->phase) & 1;

	(void)atomic_fetch_add(&handing->open[phase], 1);
	/* Only now: who changes modes and is not seen here waits for us. */
	if (tells && !can_linger(call, *fd))
		call_fd(call, *fd, cloexec);
	else
		call_fd_at_once(call, *fd, cloexec);
	if (!call->error)
		fd_close(fd);
	(void)atomic_fetch_sub(&handing->open[phase], 1);
}

static void wait_for(const atomic_uint *open, unsigned *pauses)
{
	const struct timespec pause = {.tv_nsec = PAUSE};

	for (; atomic_load(open) && *pauses; --*pauses)
		(void)nanosleep(&pause, NULL);
}

/*
 * Others go on handing over meanwhile: counted apart, so that there is an end. Who has looked at
 * the phase and not counted itself yet may count in either.
 */
void handing_wait(struct broker *broker)
{
	struct handing *handing = &broker->handing;
	unsigned pauses = PAUSES_MAX;

	if (!atomic_load(&handing->open[0]) && !atomic_load(&handing->open[1]))
		return;
	(void)pthread_mutex_lock(&handing->lock);
	for (int i = 0; i < 2; i++) {
		unsigned before = atomic_fetch_add(&handing->phase, 1) & 1;

		wait_for(&handing->open[before], &pauses);
	}
	(void)pthread_mutex_unlock(&handing->lock);
}

void handle_lock(struct call *call)
{
	handing_wait(call->broker);
	call_continue(call); /* it is all the same to us */
}

void handle_fcntl(struct call *call)
{
	if ((int)call->args[1] == F_SETOWN)
		handle_owner(call);
	else
		handle_lock(call);
}
