/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that would block: tried again every few milliseconds, or waited for in a thread of their own. */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/banned.h"

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
	struct pending *pending = malloc(sizeof(*pending));

	if (pending)
		*pending = (struct pending){.next = call->broker->pending,
					    .call = *call,
					    .retry = retry,
					    .release = release,
					    .data = data};
	if (!pending) {
		if (release)
			release(data);
		free(data);
		call_error(call, ENOMEM);
		return;
	}
	call->answered = true; /* from here on the copy is the call */
	retry(&pending->call, data);
	if (pending->call.answered)
		drop(pending);
	else
		call->broker->pending = pending;
}

void pending_retry(struct broker *broker)
{
	struct pending **link = &broker->pending;

	while (*link) {
		struct pending *pending = *link;

		if (call_is_alive(&pending->call))
			pending->retry(&pending->call, pending->data);
		else
			pending->call.answered = true;
		if (pending->call.answered) {
			*link = pending->next;
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

/* ---- Apart --------------------------------------------------------------------------------------- */

struct apart {
	struct call call;
	void (*body)(struct call *call, void *data);
	void (*release)(void *data);
	void *data;
};

static void apart_free(struct apart *apart)
{
	fd_close(&apart->call.listener);
	if (apart->release)
		apart->release(apart->data);
	free(apart->data);
	free(apart);
}

static void *apart_main(void *data)
{
	struct apart *apart = data;

	apart->body(&apart->call, apart->data);
	apart_free(apart);
	return NULL;
}

static int apart_start(struct apart *apart)
{
	enum { STACK = 64 * 1024 };
	pthread_attr_t attributes;
	pthread_t thread;
	int r;

	apart->call.listener = fcntl(apart->call.listener, F_DUPFD_CLOEXEC, 0);
	if (apart->call.listener < 0)
		return errno;
	r = pthread_attr_init(&attributes);
	if (r != 0)
		return r;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attributes, STACK);
	r = pthread_create(&thread, &attributes, apart_main, apart);
	(void)pthread_attr_destroy(&attributes);
	return r;
}

void call_apart(struct call *call, void (*body)(struct call *call, void *data),
		void (*release)(void *data), void *data)
{
	struct apart *apart = malloc(sizeof(*apart));

	if (!apart) {
		if (release)
			release(data);
		free(data);
		call_error(call, ENOMEM);
		return;
	}
	*apart = (struct apart){.call = *call, .body = body, .release = release, .data = data};
	apart->call.broker = NULL;
	if (apart_start(apart) == 0) {
		call->answered = true;
		return;
	}
	apart_free(apart);
	call_error(call, EAGAIN);
}
