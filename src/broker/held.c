/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets, where the caller's cannot be fetched (pidfd_getfd(2) refused, as
 * Docker does): the broker makes them for their owners and keeps a duplicate,
 * until they are connected or listen, since after that nothing is judged any
 * more, and their peers wait for the last duplicate to be closed.
 *
 * What is closed before that stays here for a moment: for some seconds after
 * one was bound we look who holds them still, less and less often, and again
 * when somebody misses a port or there are many. They are told apart by their
 * inode; sockfs counts them.
 */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/proc.h"
#include "base/banned.h"

enum {
	HELD_MAX = 1024,
	SWEEP_FROM = 64, /* with fewer nobody looks who holds them still */
	SWEEPS = 2,      /* one may have been moved between descriptors just then */
	LET_GO_MAX = 256,
	LOOK_FIRST_MS = 50,  /* after one was bound, then after twice as long, */
	LOOK_LAST_MS = 3200, /* up to this */
};

struct held {
	ino_t inode;
	int fd;
	unsigned missed;
	bool connecting;
};

struct held_sockets {
	struct held list[HELD_MAX];
	size_t n, sweep_at;
	ino_t let_go[LET_GO_MAX]; /* the last ones, connected or listening */
	size_t n_let_go;
	unsigned n_connecting;
	int64_t look_at; /* when to look who holds them; 0: nobody waits for that */
	unsigned look_ms;
};

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static struct held *find(struct held_sockets *held, ino_t inode)
{
	for (size_t i = 0; held && i < held->n; i++)
		if (held->list[i].inode == inode)
			return &held->list[i];
	return NULL;
}

static void drop(struct held_sockets *held, struct held *socket)
{
	held->n_connecting -= socket->connecting;
	fd_close(&socket->fd);
	*socket = held->list[--held->n];
}

/* ---- Which are gone ---- */

static int see_descriptor(int list, const char *name, void *context)
{
	struct stat st;
	struct held *socket = NULL;

	if (fstatat(list, name, &st, 0) == 0 && S_ISSOCK(st.st_mode))
		socket = find(context, st.st_ino);
	if (socket)
		socket->missed = 0;
	return 0;
}

/* 1: its descriptors cannot be seen. */
static int see_process(int proc, pid_t pid, void *context)
{
	const struct broker *broker = context;
	char path[32];
	int cleanup_fd list = -1;

	if (!caller_is_inside(broker, pid))
		return 0;
	(void)snprintf(path, sizeof(path), "%d/fd", (int)pid);
	list = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (list < 0)
		return errno == EACCES || errno == EPERM;
	return proc_each_entry(list, see_descriptor, broker->held) != 0;
}

bool held_sweep(struct broker *broker)
{
	struct held_sockets *held = broker->held;
	size_t before = held ? held->n : 0;

	for (int i = 0; held && i < SWEEPS; i++) {
		for (size_t k = 0; k < held->n; k++)
			held->list[k].missed++;
		if (proc_each_process(broker->proc, see_process, broker) != 0)
			return false;
	}
	for (size_t i = before; i-- > 0;)
		if (held->list[i].missed >= SWEEPS)
			drop(held, &held->list[i]);
	return held && held->n < before;
}

/* ---- Making ---- */

static struct held_sockets *make_room(struct broker *broker)
{
	struct held_sockets *held = broker->held;

	if (!held) {
		held = broker->held = calloc(1, sizeof(*held));
		if (!held)
			return NULL;
		held->sweep_at = SWEEP_FROM;
	}
	if (held->n >= held->sweep_at) {
		(void)held_sweep(broker);
		held->sweep_at = 2 * held->n > SWEEP_FROM ? 2 * held->n : SWEEP_FROM;
		if (held->sweep_at > HELD_MAX)
			held->sweep_at = HELD_MAX;
	}
	return held->n < HELD_MAX ? held : NULL;
}

void handle_socket(struct call *call)
{
	/* The filter has looked at these registers, and lets only those come here that may be. */
	int type = (int)call->args[1];
	int cleanup_fd fd = socket((int)call->args[0], type | SOCK_CLOEXEC, (int)call->args[2]);
	struct held_sockets *held = fd < 0 ? NULL : make_room(call->broker);

	if (fd < 0) {
		call_error(call, errno);
		return;
	}
	if (!held) {
		call_error(call, ENFILE);
		return;
	}
	held->list[held->n] = (struct held){.inode = inode_of(fd), .fd = fd};
	call_fd(call, fd, type & SOCK_CLOEXEC);
	held->n++;
	(void)fd_steal(&fd);
}

/* ---- Using ---- */

int held_fd(const struct call *call, int fd)
{
	struct held_sockets *held = call->broker->held;
	const struct held *socket;
	struct stat st;
	char path[48];

	(void)snprintf(path, sizeof(path), "%d/fd/%d", (int)call->tid, fd);
	if (fd < 0 || fstatat(call->broker->proc, path, &st, 0) < 0) {
		errno = fd < 0 || errno == ENOENT ? EBADF : errno;
		return -1;
	}
	socket = S_ISSOCK(st.st_mode) ? find(held, st.st_ino) : NULL;
	if (socket)
		return fcntl(socket->fd, F_DUPFD_CLOEXEC, 0);
	errno = S_ISSOCK(st.st_mode) ? EPERM : ENOTSOCK;
	for (size_t i = 0; held && i < held->n_let_go && i < LET_GO_MAX; i++)
		if (held->let_go[i] == st.st_ino)
			errno = EISCONN;
	return -1;
}

void held_let_go(struct broker *broker, int fd)
{
	struct held_sockets *held = broker->held;
	struct held *socket = find(held, inode_of(fd));

	if (!socket)
		return;
	held->let_go[held->n_let_go++ % LET_GO_MAX] = socket->inode;
	drop(held, socket);
}

void held_connecting(struct broker *broker, int fd)
{
	struct held *socket = find(broker->held, inode_of(fd));

	if (!socket || socket->connecting)
		return;
	socket->connecting = true;
	broker->held->n_connecting++;
}

void held_bound(struct broker *broker, int fd)
{
	struct held_sockets *held = broker->held;

	if (!find(held, inode_of(fd)))
		return;
	held->look_ms = LOOK_FIRST_MS;
	held->look_at = clock_ms() + LOOK_FIRST_MS;
}

/* Frees the names of what was bound and closed: outside they may be missed, and nobody tells us. */
static void look_who_holds(struct broker *broker)
{
	struct held_sockets *held = broker->held;

	if (!held || !held->look_at || clock_ms() < held->look_at)
		return;
	(void)held_sweep(broker);
	held->look_ms *= 2;
	held->look_at = held->n && held->look_ms <= LOOK_LAST_MS ? clock_ms() + held->look_ms : 0;
}

bool held_settle(struct broker *broker)
{
	struct held_sockets *held = broker->held;

	for (size_t i = held && held->n_connecting ? held->n : 0; i-- > 0;) {
		struct held *socket = &held->list[i];
		struct pollfd polled = {.fd = socket->fd, .events = POLLOUT};

		if (!socket->connecting || poll(&polled, 1, 0) <= 0)
			continue;
		if (!(polled.revents & (POLLERR | POLLHUP))) {
			held_let_go(broker, socket->fd);
			continue;
		}
		socket->connecting = false; /* and may try again */
		held->n_connecting--;
	}
	look_who_holds(broker);
	return held && (held->n_connecting > 0 || held->look_at);
}

void held_free(struct broker *broker)
{
	while (broker->held && broker->held->n)
		drop(broker->held, &broker->held->list[0]);
	free(broker->held);
	broker->held = NULL;
}
