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
	RETRIES = 32, /* each look costs a few reads of /proc */
	/* The kernel's own ERESTARTSYS: a handler runs, then EINTR or again, as SA_RESTART says. */
	RESTART = 512,
};

struct pending {
	struct pending *next;
	struct call call;
	bool in_turn; /* when it is tried, no other call changes names */
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

static void finish(struct pending *pending)
{
	struct call call = pending->call;

	drop(pending);
	call_send(&call);
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
	bool full = true;

	if (!pending) {
		if (release)
			release(data);
		free(data);
		call_error(call, ENOMEM);
		return;
	}
	*pending = (struct pending){.call = *call,
				    .in_turn = call->has_turn,
				    .retry = retry,
				    .release = release,
				    .data = data};
	pending->call.has_turn = false; /* for now it is of this call */
	pending->call.n_layers = 0;     /* all has been judged */
	retry(&pending->call, data);
	if (!pending->call.answered) {
		(void)pthread_mutex_lock(&queue->lock);
		full = queue->n == PENDING_MAX;
		if (!full)
			append(queue, pending);
		(void)pthread_mutex_unlock(&queue->lock);
		if (!full) { /* from here on the copy is the call */
			call->answered = call->is_done = true;
			return;
		}
		call_error(&pending->call, ENOMEM);
	}
	pending->call.has_turn = call->has_turn;
	pending->call.n_layers = call->n_layers;
	*call = pending->call;
	drop(pending);
}

static void retry_one(struct pending *pending)
{
	struct call *call = &pending->call;

	if (pending->in_turn)
		(void)pthread_mutex_lock(&call->broker->turn);
	if (!call_is_alive(call))
		call->answered = call->is_done = true;
	else if (caller_has_signal(call))
		call_error(call, call->interrupted ? call->interrupted : RESTART);
	else if (caller_assume(call) < 0)
		call_error(call, EPERM);
	else
		pending->retry(call, pending->data);
	if (pending->in_turn)
		(void)pthread_mutex_unlock(&call->broker->turn);
}

/* NULL: there is none. */
static struct pending *take(struct broker *broker)
{
	struct pending *pending;

	(void)pthread_mutex_lock(&broker->pending.lock);
	pending = take_first(&broker->pending);
	(void)pthread_mutex_unlock(&broker->pending.lock);
	return pending;
}

static void put(struct broker *broker, struct pending *pending)
{
	(void)pthread_mutex_lock(&broker->pending.lock);
	append(&broker->pending, pending);
	(void)pthread_mutex_unlock(&broker->pending.lock);
}

static unsigned count(struct broker *broker)
{
	unsigned n;

	(void)pthread_mutex_lock(&broker->pending.lock);
	n = broker->pending.n;
	(void)pthread_mutex_unlock(&broker->pending.lock);
	return n;
}

bool pending_any(struct broker *broker)
{
	return count(broker) > 0;
}

void pending_retry(struct broker *broker)
{
	unsigned n = count(broker);
	struct pending *pending;

	for (n = n < RETRIES ? n : RETRIES; n > 0 && (pending = take(broker)); n--) {
		retry_one(pending);
		if (pending->call.answered)
			finish(pending);
		else
			put(broker, pending);
	}
}

void pending_free(struct broker *broker)
{
	struct pending *pending;

	while ((pending = take(broker)))
		drop(pending);
}
