/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that would block: tried again every few milliseconds until they work,
 * the caller is gone, or a signal waits for it, as it would end the wait in the
 * kernel.
 */
#include "broker/call.h"

#include <errno.h>
#include <stdlib.h>

#include "base/banned.h"

enum {
	PENDING_MAX = 1024,
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

void pending_add(struct call *call, void (*retry)(struct call *call, void *data),
		 void (*release)(void *data), void *data)
{
	struct broker *broker = call->broker;
	struct pending *pending = malloc(sizeof(*pending));

	if (!pending || broker->n_pending == PENDING_MAX) {
		free(pending);
		if (release)
			release(data);
		free(data);
		call_error(call, ENOMEM);
		return;
	}
	*pending = (struct pending){.next = broker->pending,
				    .call = *call,
				    .retry = retry,
				    .release = release,
				    .data = data};
	call->answered = true; /* from here on the copy is the call */
	retry(&pending->call, data);
	if (pending->call.answered) {
		drop(pending);
		return;
	}
	broker->pending = pending;
	broker->n_pending++;
}

static void retry_one(struct pending *pending)
{
	if (!call_is_alive(&pending->call))
		pending->call.answered = true;
	else if (caller_has_signal(&pending->call))
		call_error(&pending->call, RESTART);
	else if (caller_assume(&pending->call) < 0)
		call_error(&pending->call, EPERM);
	else
		pending->retry(&pending->call, pending->data);
}

void pending_retry(struct broker *broker)
{
	struct pending **link = &broker->pending;

	while (*link) {
		struct pending *pending = *link;

		retry_one(pending);
		if (pending->call.answered) {
			*link = pending->next;
			broker->n_pending--;
			drop(pending);
		} else {
			link = &pending->next;
		}
	}
}

void pending_free(struct broker *broker)
{
	while (broker->pending) {
		struct pending *next = broker->pending->next;

		drop(broker->pending);
		broker->pending = next;
	}
}
