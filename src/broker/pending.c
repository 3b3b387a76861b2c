/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that would block: tried again now and then until they work, the caller
 * is gone, or a signal waits for it, as it would end the wait in the kernel.
 */
#include "broker/call.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/banned.h"

enum {
	PENDING_MAX = 1024,
	/* Some hundredths of the time, however many wait: each look costs a few reads of /proc. */
	RETRY_MS = 10,
	RETRIES = 32,
	/* The kernel's own ERESTARTSYS: a handler runs, then EINTR or again, as SA_RESTART says. */
	RESTART = 512,
};

struct pending {
	struct pending *next;
	struct call call;
	void (*retry)(struct call *call, void *data);
	void (*release)(void *data);
	void *data;
};

static void drop(struct pending *pending)
{
	if (pending->release)
		pending->release(pending->data);
	free(pending->data);
	free(pending);
}

int64_t clock_ms(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void append(struct pending_queue *queue, struct pending *pending)
{
	pending->next = NULL;
	if (queue->last)
		queue->last->next = pending;
	else
		queue->first = pending;
	queue->last = pending;
	queue->n++;
}

/* NULL: there is none. */
static struct pending *take_first(struct pending_queue *queue)
{
	struct pending *pending = queue->first;

	if (!pending)
		return NULL;
	queue->first = pending->next;
	if (!queue->first)
		queue->last = NULL;
	queue->n--;
	return pending;
}

void pending_add(struct call *call, void (*retry)(struct call *call, void *data),
		 void (*release)(void *data), void *data)
{
	struct pending_queue *queue = &call->broker->pending;
	struct pending *pending = malloc(sizeof(*pending));

	if (!pending || queue->n == PENDING_MAX) {
		free(pending);
		if (release)
			release(data);
		free(data);
		call_error(call, ENOMEM);
		return;
	}
	*pending =
		(struct pending){.call = *call, .retry = retry, .release = release, .data = data};
	call->answered = true; /* from here on the copy is the call */
	retry(&pending->call, data);
	if (pending->call.answered) {
		drop(pending);
		return;
	}
	if (queue->n == 0)
		queue->next_ms = clock_ms() + RETRY_MS;
	append(queue, pending);
}

static void retry_one(struct pending *pending)
{
	struct call *call = &pending->call;

	if (!call_is_alive(call))
		call->answered = true;
	else if (caller_has_signal(call))
		call_error(call, call->interrupted ? call->interrupted : RESTART);
	else if (caller_assume(call) < 0)
		call_error(call, EPERM);
	else
		pending->retry(call, pending->data);
}

void pending_retry(struct broker *broker)
{
	struct pending_queue *queue = &broker->pending;
	unsigned n = queue->n < RETRIES ? queue->n : RETRIES;
	struct pending *pending;

	if (n == 0 || clock_ms() < queue->next_ms)
		return;
	while (n-- && (pending = take_first(queue))) {
		retry_one(pending);
		if (pending->call.answered)
			drop(pending);
		else
			append(queue, pending);
	}
	queue->next_ms = clock_ms() + RETRY_MS;
}

int pending_timeout(const struct broker *broker)
{
	int64_t ms;

	if (broker->pending.n == 0)
		return -1;
	ms = broker->pending.next_ms - clock_ms();
	return ms < 0 ? 0 : (int)ms;
}

void pending_free(struct broker *broker)
{
	struct pending *pending;

	while ((pending = take_first(&broker->pending)))
		drop(pending);
}
