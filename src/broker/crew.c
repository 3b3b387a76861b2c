/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "linux/linux.h"
#include "base/banned.h"

enum {
	WORKERS_MAX = 16,
	TICK_MS = 10,         /* of the watch; a call that takes longer is held up */
	CROWDED_TICKS = 10,   /* callers that have met once will meet again */
	STACK_SIZE = 1 << 20, /* paths and listings; what C libraries give may be little */
};

struct worker {
	struct crew *crew;
	pthread_t thread;
};

struct crew {
	struct broker *broker;
	int failed; /* not ours */
	size_t notification_size;

	pthread_mutex_t lock;   /* of all below */
	pthread_cond_t free;    /* nobody leads, or it is over */
	pthread_cond_t watched; /* the watch has something to do */
	struct worker workers[WORKERS_MAX];
	unsigned n, idle; /* workers; those that wait to lead */
	const struct worker *leader;
	bool leader_handles; /* it has taken a call and not answered it yet */
	uint64_t calls;      /* taken so far */
	int crowded;         /* for so many ticks more somebody receives while another handles */
	unsigned handling;   /* being handled */
	bool watching;       /* the watch does not sleep */
	bool over;
	unsigned alive; /* threads */
	int error;

	pthread_t watch;
	sem_t started; /* a thread serves, or has failed to */
	int start_error;
};

/* ---- What every thread is ---- */

/* A working directory, umask and capabilities of the thread's own: no wider than the command's. */
static int confine_thread(const struct broker *broker)
{
	int r;

	/*
	 * An exec leaves nobody but root any. Root's broker has to look into callers whose ids are
	 * no longer those it started with.
	 */
	r = geteuid() == 0 ? caps_drop(1ull << CAP_SYS_PTRACE) : caps_drop_all();
	if (r < 0)
		return -1;
	caller_begin(broker->initial_umask);
	return fchdir(broker->proc);
}

/* With the lock held. */
static void end(struct crew *crew, int error)
{
	const uint64_t one = 1;

	if (error && !crew->over) {
		crew->error = error;
		(void)io_write_full(crew->failed, &one, sizeof(one));
	}
	crew->over = true;
	(void)pthread_cond_broadcast(&crew->free);
	(void)pthread_cond_signal(&crew->watched);
}

/* With the lock held. The last one sees to it that the kernel answers from here on, with ENOSYS. */
static void leave(struct crew *crew)
{
	if (--crew->alive > 0)
		return;
	pending_free(crew->broker);
	held_free(crew->broker);
	fd_close(&crew->broker->listener);
}

/* ---- Workers ---- */

/* 1: CALL is to be handled. 0: there was none after all. -1: it is over, with errno or 0. */
static int receive(struct crew *crew, struct seccomp_notif *notification, struct call *call)
{
	struct broker *broker = crew->broker;
	struct pollfd polled[2] = {{.fd = broker->listener, .events = POLLIN},
				   {.fd = broker->stop, .events = POLLIN}};
	int n = poll(polled, 2, -1);

	if (n < 0)
		return errno == EINTR ? 0 : -1;
	errno = 0;
	if (polled[1].revents || !(polled[0].revents & POLLIN))
		return -1; /* told to stop; or POLLHUP: nobody is left inside */
	memset(notification, 0, crew->notification_size);
	/* ENOENT: the caller was killed between poll and here. */
	if (ioctl(broker->listener, SECCOMP_IOCTL_NOTIF_RECV, notification) < 0)
		return 0;
	*call = (struct call){
		.broker = broker,
		.listener = broker->listener,
		.id = notification->id,
		.tid = (pid_t)notification->pid,
		.nr = notification->data.nr,
	};
	for (int i = 0; i < 6; i++)
		call->args[i] = notification->data.args[i];
	return 1;
}

static bool more_wait(const struct broker *broker)
{
	struct pollfd polled = {.fd = broker->listener, .events = POLLIN};

	return poll(&polled, 1, 0) > 0 && (polled.revents & POLLIN);
}

static void *work(void *data);

/* With the lock held: who leads leads no longer, if there is somebody else to do it. */
static void let_lead(struct crew *crew)
{
	struct worker *worker = &crew->workers[crew->n];

	if (crew->idle == 0) {
		pthread_attr_t attr;
		int r;

		if (crew->n == WORKERS_MAX || crew->over || pthread_attr_init(&attr) != 0)
			return;
		*worker = (struct worker){.crew = crew};
		r = pthread_attr_setstacksize(&attr, STACK_SIZE);
		if (r == 0)
			r = pthread_create(&worker->thread, &attr, work, worker);
		(void)pthread_attr_destroy(&attr);
		if (r != 0)
			return;
		crew->n++;
		crew->alive++;
	}
	crew->leader = NULL;
	(void)pthread_cond_signal(&crew->free);
}

/* With the lock held, but for the time it takes. */
static void handle(struct crew *crew, const struct worker *self, struct call *call)
{
	crew->calls++;
	crew->handling++;
	crew->leader_handles = true;
	if (!crew->watching) {
		crew->watching = true;
		(void)pthread_cond_signal(&crew->watched);
	}
	if (more_wait(crew->broker))
		crew->crowded = CROWDED_TICKS;
	if (crew->crowded > 0)
		let_lead(crew);
	(void)pthread_mutex_unlock(&crew->lock);
	call_dispatch(call);
	(void)pthread_mutex_lock(&crew->lock);
	crew->handling--;
	if (crew->leader == self)
		crew->leader_handles = false;
	if (atomic_load(&crew->broker->broken))
		end(crew, EIO);
}

/* With the lock held. */
static void serve(struct crew *crew, const struct worker *self, struct seccomp_notif *notification)
{
	while (!crew->over) {
		struct call call;
		int r;

		if (crew->leader && crew->leader != self) {
			crew->idle++;
			(void)pthread_cond_wait(&crew->free, &crew->lock);
			crew->idle--;
			continue;
		}
		crew->leader = self;
		crew->leader_handles = false;
		(void)pthread_mutex_unlock(&crew->lock);
		r = receive(crew, notification, &call);
		(void)pthread_mutex_lock(&crew->lock);
		if (r < 0)
			end(crew, errno);
		else if (r > 0 && !crew->over)
			handle(crew, self, &call);
	}
}

/* Tells crew_start() how it went; who comes later is waited for by nobody. */
static void tell_started(struct crew *crew, int error)
{
	if (error && !crew->start_error)
		crew->start_error = error;
	(void)sem_post(&crew->started);
}

/* The life of a worker; NOTIFICATION NULL: it has none, because of ERROR. */
static void live(const struct worker *self, struct seccomp_notif *notification, int error)
{
	struct crew *crew = self->crew;

	(void)pthread_mutex_lock(&crew->lock);
	tell_started(crew, error);
	if (notification)
		serve(crew, self, notification);
	else if (crew->n > 1 && !crew->leader)
		end(crew, error); /* it was to lead */
	leave(crew);
	(void)pthread_mutex_unlock(&crew->lock);
}

static void work_apart(void *data)
{
	const struct worker *self = data;
	struct crew *crew = self->crew;
	cleanup_free struct seccomp_notif *notification = malloc(crew->notification_size);
	bool ready = notification && confine_thread(crew->broker) == 0;

	live(self, ready ? notification : NULL, ready ? 0 : errno);
}

static void *work(void *data)
{
	if (apart(work_apart, data) < 0)
		live(data, NULL, errno);
	return NULL;
}

/* ---- The watch ---- */

static void wait_for_tick(struct crew *crew)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TICK_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	while (!crew->over &&
	       pthread_cond_timedwait(&crew->watched, &crew->lock, &until) != ETIMEDOUT)
		;
}

static bool settle(struct broker *broker)
{
	bool connecting;

	(void)pthread_mutex_lock(&broker->turn);
	connecting = held_settle(broker);
	(void)pthread_mutex_unlock(&broker->turn);
	return connecting;
}

/* With the lock held, but for the time that calls take. */
static void keep_watch(struct crew *crew)
{
	uint64_t calls = 0;
	bool connecting;

	while (!crew->over) {
		if (!crew->watching) {
			(void)pthread_cond_wait(&crew->watched, &crew->lock);
			continue;
		}
		calls = crew->calls;
		wait_for_tick(crew);
		crew->crowded -= crew->crowded > 0;
		/* Still the same one? */
		if (crew->leader && crew->leader_handles && crew->calls == calls)
			let_lead(crew);
		(void)pthread_mutex_unlock(&crew->lock);
		pending_retry(crew->broker);
		connecting = settle(crew->broker);
		(void)pthread_mutex_lock(&crew->lock);
		if (atomic_load(&crew->broker->broken))
			end(crew, EIO);
		crew->watching = crew->handling > 0 || crew->calls != calls || connecting ||
				 pending_any(crew->broker);
	}
}

static void live_watching(struct crew *crew, int error)
{
	(void)pthread_mutex_lock(&crew->lock);
	tell_started(crew, error);
	if (!error)
		keep_watch(crew);
	leave(crew);
	(void)pthread_mutex_unlock(&crew->lock);
}

static void watch_apart(void *data)
{
	struct crew *crew = data;

	live_watching(crew, confine_thread(crew->broker) == 0 ? 0 : errno);
}

static void *watch(void *data)
{
	if (apart(watch_apart, data) < 0)
		live_watching(data, errno);
	return NULL;
}

/* ---- Start and end ---- */

/* The kernel's structure may be larger than the one we were built with. */
static size_t size_of_notification(void)
{
	struct seccomp_notif_sizes sizes;
	size_t size = sizeof(struct seccomp_notif);

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
	    sizes.seccomp_notif > size)
		size = sizes.seccomp_notif;
	return size;
}

static void set_up(struct crew *crew)
{
	pthread_condattr_t attr;

	(void)pthread_mutex_init(&crew->lock, NULL);
	(void)pthread_cond_init(&crew->free, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&crew->watched, &attr);
	(void)pthread_condattr_destroy(&attr);
	(void)sem_init(&crew->started, 0, 0);
}

static void tear_down(struct crew *crew)
{
	(void)sem_destroy(&crew->started);
	(void)pthread_cond_destroy(&crew->watched);
	(void)pthread_cond_destroy(&crew->free);
	(void)pthread_mutex_destroy(&crew->lock);
	free(crew);
}

static int start_threads(struct crew *crew)
{
	sigset_t all, mask;
	int r;

	/* Their mask: signals are the supervisor's business. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &mask);
	r = pthread_create(&crew->watch, NULL, watch, crew);
	if (r == 0) {
		(void)pthread_mutex_lock(&crew->lock);
		crew->alive++;
		let_lead(crew);
		if (crew->n == 0)
			r = EAGAIN;
		(void)pthread_mutex_unlock(&crew->lock);
	}
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return r;
}

int crew_start(struct broker *broker, int failed, struct crew **ret)
{
	struct crew *crew = calloc(1, sizeof(*crew));
	int r;

	if (!crew)
		return ENOMEM;
	crew->broker = broker;
	crew->failed = failed;
	crew->notification_size = size_of_notification();
	set_up(crew);
	r = start_threads(crew);
	if (r != 0 && crew->alive == 0) {
		tear_down(crew);
		return r;
	}
	/* Nobody may wait for answers of one that never will. */
	for (int i = 0; i < (r == 0 ? 2 : 1); i++)
		while (sem_wait(&crew->started) < 0 && errno == EINTR)
			;
	r = r ? r : crew->start_error;
	if (r != 0)
		crew_stop(crew);
	else
		*ret = crew;
	return r;
}

int crew_error(const struct crew *crew)
{
	return crew->error;
}

void crew_stop(struct crew *crew)
{
	const uint64_t one = 1;

	(void)pthread_mutex_lock(&crew->lock);
	end(crew, 0);
	(void)pthread_mutex_unlock(&crew->lock);
	(void)io_write_full(crew->broker->stop, &one, sizeof(one));
	(void)pthread_join(crew->watch, NULL);
	/* It is over, so there will be no more of them. */
	for (unsigned i = 0; i < crew->n; i++)
		(void)pthread_join(crew->workers[i].thread, NULL);
	tear_down(crew);
}
