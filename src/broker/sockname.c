/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getsockname(2) of sockets that the broker bound: they know the last component
 * of their path only, and programs hand on what they are told (Python's
 * multiprocessing does).
 */
#include "broker/call.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fd.h"
#include "base/banned.h"

enum {
	NAMES_MAX = 1024
};

struct socket_name {
	uint64_t cookie; /* SO_COOKIE: never given out again */
	ino_t inode;     /* for when the socket cannot be had: not for a long time */
	union {
		struct sockaddr_un un;
		struct sockaddr_storage room; /* for the NUL after a path that fills sun_path */
	} address;
	socklen_t length;
};

uint64_t socket_cookie(int fd)
{
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);

	(void)getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size);
	return cookie;
}

static const struct socket_name *find(const struct call *call, int fd)
{
	const struct broker *broker = call->broker;
	const bool lends = caller_lends(call);
	int cleanup_fd own = lends ? caller_fd(call, fd) : caller_object(call, fd);
	uint64_t cookie = lends && own >= 0 ? socket_cookie(own) : 0;
	struct stat st;

	if (own < 0 || fstat(own, &st) < 0 || !S_ISSOCK(st.st_mode))
		return NULL;
	for (size_t i = 0; i < broker->n_socket_names; i++) {
		const struct socket_name *name = &broker->socket_names[i];

		if (lends ? cookie == name->cookie : st.st_ino == name->inode)
			return name;
	}
	return NULL;
}

/* Room for one more: when there are many, the oldest goes. NULL: no memory. */
static struct socket_name *make_room(struct broker *broker)
{
	struct socket_name *names;

	if (broker->n_socket_names == NAMES_MAX) {
		names = broker->socket_names;
		memmove(names, names + 1, (NAMES_MAX - 1) * sizeof(*names));
		return &names[NAMES_MAX - 1];
	}
	names = realloc(broker->socket_names, (broker->n_socket_names + 1) * sizeof(*names));
	if (!names)
		return NULL;
	broker->socket_names = names;
	return &names[broker->n_socket_names++];
}

void socket_name_note(struct broker *broker, int fd, const char *path)
{
	uint64_t cookie = socket_cookie(fd);
	size_t n = strlen(path);
	struct socket_name *name;
	struct stat st;

	if (!cookie || fstat(fd, &st) < 0 || n > sizeof(name->address.un.sun_path) ||
	    !strchr(path, '/'))
		return; /* what the socket knows is right */
	name = make_room(broker);
	if (!name)
		return;
	*name = (struct socket_name){
		.cookie = cookie,
		.inode = st.st_ino,
		.address.un.sun_family = AF_UNIX,
		.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1),
	};
	memcpy(name->address.un.sun_path, path, n);
}

void handle_getsockname(struct call *call)
{
	const struct socket_name *name = find(call, (int)call->args[0]);
	int size;

	if (!name) {
		/* What it tells is the caller's own, whatever happens meanwhile. */
		call_continue(call);
		return;
	}
	if (call_read(call, call->args[2], &size, sizeof(size)) < 0) {
		call_error(call, errno);
		return;
	}
	if (size < 0) {
		call_error(call, EINVAL);
		return;
	}
	if ((socklen_t)size > name->length)
		size = (int)name->length;
	if (call_write(call, call->args[1], &name->address, (size_t)size) < 0 ||
	    call_write(call, call->args[2], &name->length, sizeof(name->length)) < 0)
		call_error(call, errno);
	else
		call_value(call, 0);
}
