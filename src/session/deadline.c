/* SPDX-License-Identifier: Apache-2.0 */
#include "session/deadline.h"

#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	GRACE_MS = 2000
};

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void deadline_start(struct deadline *deadline, uint64_t seconds)
{
	const uint64_t forever = INT64_MAX / 4000; /* none is later */

	*deadline = (struct deadline){0};
	if (seconds)
		deadline->next_ms =
			now_ms() + (int64_t)(seconds < forever ? seconds : forever) * 1000;
}

int deadline_timeout(const struct deadline *deadline)
{
	int64_t left = deadline->next_ms - now_ms();

	if (!deadline->next_ms)
		return -1;
	return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

bool deadline_arm(const struct deadline *deadline, timer_t *ret)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
	const struct itimerspec when = {
		.it_value = {.tv_sec = deadline->next_ms / 1000,
			     .tv_nsec = deadline->next_ms % 1000 * 1000000}};

	if (!deadline->next_ms || timer_create(CLOCK_MONOTONIC, &event, ret) < 0)
		return false;
	/* A moment that is over comes at once, but may come before we stop. */
	(void)timer_settime(*ret, TIMER_ABSTIME, &when, NULL);
	return true;
}

int deadline_act(struct deadline *deadline, int command)
{
	if (!deadline->next_ms || now_ms() < deadline->next_ms)
		return 0;
	if (deadline->passed)
		return 1;
	deadline->passed = true;
	deadline->next_ms = now_ms() + GRACE_MS;
	(void)syscall(SYS_pidfd_send_signal, command, SIGTERM, NULL, 0);
	/* One that is stopped would not hear it. */
	(void)syscall(SYS_pidfd_send_signal, command, SIGCONT, NULL, 0);
	return 0;
}
