/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect(2), bind(2), listen(2): by address. We act on a duplicate
 * of the caller's socket with our own copy of the address, so nothing the
 * caller changes afterwards counts; the socket stays the caller's own, with its
 * options, its network namespace and its place in epoll sets.
 */
#include "broker/call.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/linux.h"
#include "base/banned.h"

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_storage storage;
};

struct socket_call {
	int fd; /* the caller's socket; ours */
	int domain, type, protocol;
	union address address;
	socklen_t length;
};

static void socket_release(struct socket_call *socket)
{
	fd_close(&socket->fd);
}
#define cleanup_socket __attribute__((cleanup(socket_release)))

/*
 * Takes the socket in argument 0 and the address at ADDRESS, in the order in which the kernel looks
 * at them. 0, or -1 with errno.
 */
static int take(const struct call *call, uint64_t address, int length, struct socket_call *ret)
{
	socklen_t size = sizeof(int);

	*ret = (struct socket_call){.fd = caller_fd(call, (int)call->args[0])};
	if (ret->fd < 0)
		return -1;
	if (getsockopt(ret->fd, SOL_SOCKET, SO_DOMAIN, &ret->domain, &size) < 0 ||
	    getsockopt(ret->fd, SOL_SOCKET, SO_TYPE, &ret->type, &size) < 0 ||
	    getsockopt(ret->fd, SOL_SOCKET, SO_PROTOCOL, &ret->protocol, &size) < 0)
		return -1; /* ENOTSOCK */
	if (length < 0 || (size_t)length > sizeof(ret->address)) {
		errno = EINVAL;
		return -1;
	}
	ret->length = (socklen_t)length;
	return length ? call_read(call, address, &ret->address, (size_t)length) : 0;
}

/*
 * Is SOCKET of the session's own network namespace, in which there is only the session itself? One
 * that the command was started with is of another, the host's or a third one.
 */
static bool is_private(const struct call *call, const struct socket_call *socket)
{
	const struct broker *broker = call->broker;

	if (!(broker->plan->ns & NS_NET))
		return false;
	if (!broker->network)
		return !broker->input->inherits_network;
	return ns_network_of(socket->fd) == broker->network;
}

/* The same for a run inside, if it wanted that. */
static bool layer_is_private(const struct call *call, const struct layer *layer,
			     const struct socket_call *socket)
{
	return (!layer->run || (layer->input->around & SCOPE_NET)) && is_private(call, socket);
}

/* May REQUEST, which is about no path, be done with SOCKET? */
static bool may_pathless(const struct call *call, const struct socket_call *socket,
			 const struct request *request)
{
	for (unsigned i = 0; i < call->n_layers; i++)
		if (!layer_is_private(call, call->layers[i], socket) &&
		    !layer_allows(call->layers[i], request))
			return false;
	return call->n_layers > 0;
}

/* ---- What rules ask of a socket ---- */

/* Newer than some C libraries. They fall back to TCP with a peer that does not know them. */
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

static bool is_ip(const struct socket_call *socket)
{
	return socket->domain == AF_INET || socket->domain == AF_INET6;
}

static bool is_tcp(const struct socket_call *socket)
{
	return is_ip(socket) && socket->type == SOCK_STREAM &&
	       (socket->protocol == IPPROTO_TCP || socket->protocol == IPPROTO_MPTCP ||
		socket->protocol == IPPROTO_SMC);
}

/* PROTO_TCP, PROTO_UDP, or 0: raw, SCTP, ping. */
static unsigned transport(const struct socket_call *socket)
{
	if (is_tcp(socket))
		return PROTO_TCP;
	return socket->type == SOCK_DGRAM && socket->protocol == IPPROTO_UDP ? PROTO_UDP : 0;
}

/* A family that Darwin lacks has our number negated: ours can be that of another one there. */
static int darwin_domain(int domain)
{
	static const struct {
		int ours, darwins;
	} domains[] = {
		{AF_UNIX, 1}, {AF_INET, 2},   {AF_APPLETALK, 16}, {AF_IPX, 23},
		{AF_KEY, 29}, {AF_INET6, 30}, {AF_VSOCK, 40},
	};

	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++)
		if (domains[i].ours == domain)
			return domains[i].darwins;
	return -domain;
}

/* Linux and Darwin have the same numbers for types, and IANA's for protocols. */
static void set_socket(struct request *request, const struct socket_call *socket)
{
	request->has |= HAS_SOCKET;
	request->socket_domain = darwin_domain(socket->domain);
	request->socket_type = socket->type;
	request->socket_protocol = is_tcp(socket) ? IPPROTO_TCP : socket->protocol;
}

/* ---- Internet addresses ---- */

/* A raw socket's port is its protocol, or nothing at all. */
static int port_of(const struct socket_call *socket, in_port_t port)
{
	return socket->type == SOCK_RAW ? 0 : ntohs(port);
}

/* SIN6_LEN_RFC2133 leaves out the scope id. */
static const socklen_t in_length = sizeof(struct sockaddr_in);
static const socklen_t in6_length = offsetof(struct sockaddr_in6, sin6_scope_id);

/* ADDRESS as an endpoint of SOCKET. 0, or -1 with the errno that the kernel would give. */
static int endpoint_of(const struct socket_call *socket, const union address *address,
		       socklen_t length, struct endpoint *ret)
{
	*ret = (struct endpoint){.proto = transport(socket)};
	if (address->any.sa_family == AF_INET && length >= in_length) {
		ret->proto |= PROTO_IP4;
		memcpy(ret->addr, &address->in.sin_addr, 4);
		ret->port = port_of(socket, address->in.sin_port);
		return 0;
	}
	if (address->any.sa_family == AF_INET6 && length >= in6_length) {
		ret->proto |= PROTO_IP6;
		memcpy(ret->addr, &address->in6.sin6_addr, 16);
		ret->port = port_of(socket, address->in6.sin6_port);
		return 0;
	}
	errno = length < (socket->domain == AF_INET ? in_length : in6_length) ? EINVAL
									      : EAFNOSUPPORT;
	return -1;
}

/* The socket's own end as it is now. */
static struct endpoint local_end(const struct socket_call *socket)
{
	static const unsigned char nowhere[sizeof(((struct endpoint *)0)->addr)];
	struct endpoint local;
	union address name;
	socklen_t length = sizeof(name);

	memset(&name, 0, sizeof(name));
	if (getsockname(socket->fd, &name.any, &length) < 0 ||
	    endpoint_of(socket, &name, length, &local) < 0)
		local = (struct endpoint){
			.proto = transport(socket) |
				 (socket->domain == AF_INET6 ? PROTO_IP6 : PROTO_IP4)};
	local.unbound = local.port == 0 && (socket->type != SOCK_RAW ||
					    memcmp(local.addr, nowhere, sizeof(nowhere)) == 0);
	return local;
}

static bool may_inet(const struct call *call, const struct socket_call *socket, enum op op,
		     const struct endpoint *local, const struct endpoint *remote)
{
	struct request request = {.op = op};

	if (local)
		request.local = *local;
	if (remote)
		request.remote = *remote;
	set_socket(&request, socket);
	return may_pathless(call, socket, &request);
}

/* ---- Unix sockets ---- */

enum {
	NAME_AT = offsetof(struct sockaddr_un, sun_path),
	NAME_MAX_UN = sizeof(((struct sockaddr_un *)0)->sun_path), /* a NUL need not follow */
};

/* The name in the address. -1: no address of a unix socket, EINVAL. */
static int check_unix(const struct socket_call *socket)
{
	if (socket->address.any.sa_family == AF_UNIX && socket->length >= NAME_AT &&
	    socket->length <= sizeof(socket->address.un))
		return 0;
	errno = EINVAL;
	return -1;
}

/* The path in a checked address, into TO of NAME_MAX_UN + 1. 0: abstract or unnamed. */
static size_t unix_path(const union address *address, socklen_t length, char *to)
{
	size_t n = strnlen(address->un.sun_path, length - NAME_AT);

	memcpy(to, address->un.sun_path, n);
	to[n] = '\0';
	return n;
}

/* The address for PATH, of at most NAME_MAX_UN bytes. */
static void set_unix_path(struct socket_call *socket, const char *path)
{
	size_t n = strlen(path);

	memset(&socket->address, 0, sizeof(socket->address));
	socket->address.un.sun_family = AF_UNIX;
	memcpy(socket->address.un.sun_path, path, n);
	socket->length = (socklen_t)(NAME_AT + n + (n < NAME_MAX_UN));
}

/* bind(2) makes a socket like this, but for the umask. */
static const mode_t new_socket = S_IFSOCK | 0777;

static bool may_unix(const struct call *call, const struct socket_call *socket, enum op op,
		     const struct place *place)
{
	struct request request = {.op = op};
	struct stat st;

	/* A socket has its own end from the start, the other one when it connects. */
	request.local.proto = PROTO_UNIX;
	if (op == OP_NETWORK_OUTBOUND)
		request.remote.proto = PROTO_UNIX;
	set_socket(&request, socket);
	if (place) {
		request.has |= HAS_VNODE_TYPE | HAS_FILE_MODE;
		request.vnode_type = VNODE_SOCKET;
		request.file_mode = new_socket & 07777;
	}
	if (place && place->object >= 0 && fstat(place->object, &st) == 0) {
		request.vnode_type = vnode_type_of(st.st_mode);
		request.file_mode = st.st_mode & 07777;
	}
	if (place)
		return judge_request(call, place, &request);
	/* Abstract names belong to the network namespace. */
	return may_pathless(call, socket, &request);
}

/* ---- Other families ---- */

/*
 * Netlink reaches the kernel, and takes no more of it than a process may. Nothing else can be made
 * where sockets are judged: the command was started with it.
 */
static bool may_other(const struct call *call, const struct socket_call *socket, enum op op)
{
	struct request request = {.op = op};

	set_socket(&request, socket);
	return socket->domain == AF_NETLINK || judge_pathless(call, &request);
}

/* ---- connect ---- */

/* A connection that takes its time. */
struct connecting {
	struct socket_call socket;
	struct place place;
	bool under_way;   /* the kernel is at it; else it had no room for us yet */
	int late;         /* the error when time is over */
	int64_t deadline; /* SO_SNDTIMEO, as clock_ms() counts; INT64_MAX: none */
};

static void connecting_release(void *data)
{
	struct connecting *connecting = data;

	socket_release(&connecting->socket);
	place_release(&connecting->place);
}

/* connect(2) without waiting on a socket that would wait. Others see the flag for a moment. */
static int connect_at_once(const struct socket_call *socket)
{
	int flags = fcntl(socket->fd, F_GETFL);
	int r, error;

	if (flags < 0 || fcntl(socket->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -1;
	r = connect(socket->fd, &socket->address.any, socket->length);
	error = errno;
	(void)fcntl(socket->fd, F_SETFL, flags);
	errno = error;
	return r;
}

/* Nothing of it is judged any more, but where it is on the way, and may ask how it went. */
static void note_connected(const struct call *call, const struct socket_call *socket, int r)
{
	if (socket->type == SOCK_DGRAM)
		return;
	if (r == 0)
		held_let_go(call->broker, socket->fd);
	else if (errno == EINPROGRESS)
		held_connecting(call->broker, socket->fd);
}

/* Answers with R, of connect(2). */
static void connect_answer(struct call *call, const struct socket_call *socket, int r)
{
	int error = errno;

	note_connected(call, socket, r);
	errno = error;
	call_result(call, r);
}

/* The first step: the kernel sets out, is on the way already (EALREADY), or has no room yet. */
static void connect_begin(struct call *call, struct connecting *connecting)
{
	int r = connect_at_once(&connecting->socket);

	if (r < 0 && (errno == EINPROGRESS || errno == EALREADY))
		connecting->under_way = true;
	else if (r == 0 || errno != EAGAIN || connecting->socket.domain != AF_UNIX)
		connect_answer(call, &connecting->socket, r);
	connecting->late = errno;
}

/* The last step, which tells how it ended: the kernel wants to be asked once more. */
static void connect_end(struct call *call, const struct connecting *connecting)
{
	int r = connect_at_once(&connecting->socket);

	if (r < 0 && errno == EISCONN) /* another thread has asked */
		r = 0;
	if (r == 0 || (errno != EALREADY && errno != EINPROGRESS))
		connect_answer(call, &connecting->socket, r);
}

static void connect_retry(struct call *call, void *data)
{
	struct connecting *connecting = data;
	struct pollfd polled = {.fd = connecting->socket.fd, .events = POLLOUT};

	if (!connecting->under_way)
		connect_begin(call, connecting);
	if (!call->answered && connecting->under_way && poll(&polled, 1, 0) != 0)
		connect_end(call, connecting);
	if (!call->answered && clock_ms() >= connecting->deadline)
		call_error(call, connecting->late);
}

/* How long a socket waits to send or connect, in milliseconds. 0: for ever. */
static int64_t patience(const struct socket_call *socket)
{
	struct timeval tv = {0};
	socklen_t size = sizeof(tv);

	if (getsockopt(socket->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, &size) < 0)
		return 0;
	return (int64_t)tv.tv_sec * 1000 + (tv.tv_usec + 999) / 1000;
}

static void connect_waiting(struct call *call, struct socket_call *socket, struct place *place)
{
	struct connecting *connecting = malloc(sizeof(*connecting));
	int64_t ms = patience(socket);

	if (!connecting) {
		call_error(call, ENOMEM);
		return;
	}
	*connecting = (struct connecting){
		.socket = *socket, .place = *place, .deadline = ms ? clock_ms() + ms : INT64_MAX};
	socket->fd = -1;
	*place = PLACE_NONE;
	/* What is left of the time would be forgotten, so the kernel does not restart these. */
	call->interrupted = ms ? EINTR : 0;
	pending_add(call, connect_retry, connecting_release, connecting);
}

static void do_connect(struct call *call, struct socket_call *socket, struct place *place)
{
	if (socket->type != SOCK_DGRAM && !(fcntl(socket->fd, F_GETFL) & O_NONBLOCK))
		connect_waiting(call, socket, place);
	else
		connect_answer(call, socket,
			       connect(socket->fd, &socket->address.any, socket->length));
}

static void connect_unix(struct call *call, struct socket_call *socket)
{
	char path[NAME_MAX_UN + 1];
	struct place cleanup_place place = PLACE_NONE;
	bool by_path;

	if (check_unix(socket) < 0 || socket->length == NAME_AT) {
		call_error(call, EINVAL);
		return;
	}
	by_path = unix_path(&socket->address, socket->length, path) > 0;
	if (by_path && resolve_object(call, AT_FDCWD, path, true, false, &place) < 0) {
		call_error(call, errno);
		return;
	}
	/* The peer would see our ids where the caller has given up its own. */
	if (!may_unix(call, socket, OP_NETWORK_OUTBOUND, by_path ? &place : NULL) ||
	    !caller_has_our_ids(call)) {
		call_error(call, EPERM);
		return;
	}
	if (by_path)
		set_unix_path(socket, fd_path(place.object).text);
	do_connect(call, socket, &place);
}

void handle_connect(struct call *call)
{
	struct socket_call cleanup_socket socket;
	struct place cleanup_place place = PLACE_NONE;
	struct endpoint local, remote;

	if (take(call, call->args[1], (int)call->args[2], &socket) < 0) {
		call_error(call, errno);
	} else if (socket.address.any.sa_family == AF_UNSPEC) {
		/* Dissolves an association; grants nothing. */
		call_result(call, connect(socket.fd, &socket.address.any, socket.length));
	} else if (socket.domain == AF_UNIX) {
		connect_unix(call, &socket);
	} else if (!is_ip(&socket)) {
		if (may_other(call, &socket, OP_NETWORK_OUTBOUND))
			do_connect(call, &socket, &place);
		else
			call_error(call, EPERM);
	} else if (endpoint_of(&socket, &socket.address, socket.length, &remote) < 0) {
		call_error(call, errno);
	} else {
		local = local_end(&socket);
		if (may_inet(call, &socket, OP_NETWORK_OUTBOUND, &local, &remote))
			do_connect(call, &socket, &place);
		else
			call_error(call, EPERM);
	}
}

/* ---- bind, listen ---- */

static int bind_now(const struct call *call, const struct socket_call *socket)
{
	int r = bind(socket->fd, &socket->address.any, socket->length);

	/* By one of ours that nobody has any more? */
	if (r < 0 && errno == EADDRINUSE) {
		r = held_sweep(call->broker)
			    ? bind(socket->fd, &socket->address.any, socket->length)
			    : -1;
		errno = r < 0 ? EADDRINUSE : errno;
	}
	if (r == 0)
		held_bound(call->broker, socket->fd);
	return r;
}

/* bind(2) takes no directory descriptor: our thread's working directory is ours alone. */
static int bind_at(const struct call *call, struct socket_call *socket, const struct place *place)
{
	int r, error;

	if (fchdir(place->dir) < 0)
		return -1;
	set_unix_path(socket, place->name);
	r = bind(socket->fd, &socket->address.any, socket->length);
	error = errno;
	if (r == 0)
		held_bound(call->broker, socket->fd);
	/* Only not to hold on to the directory; nothing of ours depends on where we are. */
	(void)!fchdir(call->broker->proc);
	errno = error;
	return r;
}

static bool is_there(const struct place *place)
{
	return faccessat(place->dir, place->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Binds to PLACE. Where nobody may listen there, the socket is remembered: it knows the last
 * component of its name only (see bind_at()). If too many are, there are no more of them.
 */
static int bind_judged(const struct call *call, struct socket_call *socket,
		       const struct place *place, const char *path)
{
	struct broker *broker = call->broker;
	bool deaf = !may_unix(call, socket, OP_NETWORK_INBOUND, place);
	uint64_t cookie = socket_cookie(socket->fd);

	if (deaf && (broker->n_deaf == DEAF_MAX || !cookie)) {
		errno = EPERM;
		return -1;
	}
	if (bind_at(call, socket, place) < 0)
		return -1;
	if (deaf)
		broker->deaf[broker->n_deaf++] = cookie;
	else
		nested_note_bound(call, cookie);
	judge_made(broker, place);
	socket_name_note(broker, socket->fd, path);
	return 0;
}

static void bind_unix(struct call *call, struct socket_call *socket)
{
	char path[NAME_MAX_UN + 1];
	struct place cleanup_place place = PLACE_NONE;
	struct subject subject = {
		.place = &place, .vnode_type = VNODE_SOCKET, .has_mode = true, .mode = new_socket};

	if (check_unix(socket) < 0) {
		call_error(call, errno);
	} else if (unix_path(&socket->address, socket->length, path) == 0) {
		if (may_unix(call, socket, OP_NETWORK_BIND, NULL))
			call_result(call, bind_now(call, socket));
		else
			call_error(call, EPERM);
	} else if (resolve_name(call, AT_FDCWD, path, &place) < 0) {
		call_error(call, errno == EEXIST ? EADDRINUSE : errno);
	} else if (place.trailing_slash) {
		call_error(call, is_there(&place) ? EADDRINUSE : ENOENT);
	} else if (!may_unix(call, socket, OP_NETWORK_BIND, &place) ||
		   !judge(call, OP_FILE_WRITE_CREATE, &subject)) {
		call_error(call, is_there(&place) ? EADDRINUSE : EPERM);
	} else {
		call_result(call, bind_judged(call, socket, &place, path));
	}
}

/* Once AF_UNSPEC meant AF_INET to bind(2), and with no address it still does. */
static void know_old_family(struct socket_call *socket)
{
	if (socket->domain == AF_INET && socket->address.any.sa_family == AF_UNSPEC &&
	    socket->length >= in_length && socket->address.in.sin_addr.s_addr == INADDR_ANY)
		socket->address.any.sa_family = AF_INET;
}

static void bind_inet(struct call *call, struct socket_call *socket)
{
	struct endpoint local;

	know_old_family(socket);
	if (endpoint_of(socket, &socket->address, socket->length, &local) < 0)
		call_error(call, errno);
	else if (may_inet(call, socket, OP_NETWORK_BIND, &local, NULL))
		call_result(call, bind_now(call, socket));
	else
		call_error(call, EPERM);
}

void handle_bind(struct call *call)
{
	struct socket_call cleanup_socket socket;

	if (take(call, call->args[1], (int)call->args[2], &socket) < 0)
		call_error(call, errno);
	else if (socket.domain == AF_UNIX)
		bind_unix(call, &socket);
	else if (is_ip(&socket))
		bind_inet(call, &socket);
	else if (may_other(call, &socket, OP_NETWORK_BIND))
		call_result(call, bind(socket.fd, &socket.address.any, socket.length));
	else
		call_error(call, EPERM);
}

static bool is_deaf(const struct call *call, const struct socket_call *socket)
{
	const struct broker *broker = call->broker;
	uint64_t cookie = socket_cookie(socket->fd);

	for (unsigned i = 0; i < broker->n_deaf; i++)
		if (broker->deaf[i] == cookie)
			return true;
	return !cookie || !nested_may_listen(call, cookie);
}

static bool may_listen_unix(const struct call *call, const struct socket_call *socket)
{
	char path[NAME_MAX_UN + 1];
	struct place cleanup_place place = PLACE_NONE;
	union address name;
	socklen_t length = sizeof(name);

	memset(&name, 0, sizeof(name));
	if (getsockname(socket->fd, &name.any, &length) < 0)
		return false;
	if (length > sizeof(name.un)) /* a NUL after a name that has no room for it */
		length = sizeof(name.un);
	if (length <= NAME_AT)
		return true; /* the kernel refuses */
	if (unix_path(&name, length, path) == 0)
		return may_unix(call, socket, OP_NETWORK_INBOUND, NULL);
	/* Not by us, whose names have one component: the command was started with it. */
	if (strchr(path, '/'))
		return resolve_object(call, AT_FDCWD, path, true, false, &place) == 0 &&
		       may_unix(call, socket, OP_NETWORK_INBOUND, &place);
	return !is_deaf(call, socket);
}

/*
 * listen(2) binds a socket that is not bound yet, to any address and a port of the kernel's choice.
 * We do so first: what it comes to is then judged as ever.
 */
static bool may_listen_inet(const struct call *call, struct socket_call *socket)
{
	struct endpoint local = local_end(socket);

	if (local.unbound && socket->type != SOCK_DGRAM && socket->type != SOCK_RAW) {
		local.unbound = false;
		socket->address.any.sa_family = (sa_family_t)socket->domain;
		socket->length = socket->domain == AF_INET ? in_length : in6_length;
		if (!may_inet(call, socket, OP_NETWORK_BIND, &local, NULL) ||
		    bind(socket->fd, &socket->address.any, socket->length) < 0)
			return false;
		local = local_end(socket);
	}
	return may_inet(call, socket, OP_NETWORK_INBOUND, &local, NULL);
}

void handle_listen(struct call *call)
{
	struct socket_call cleanup_socket socket;
	bool may = true;
	int r, error;

	if (take(call, 0, 0, &socket) < 0) {
		call_error(call, errno);
		return;
	}
	if (socket.domain == AF_UNIX) /* whoever connects sees our ids: as in connect_unix() */
		may = may_listen_unix(call, &socket) && caller_has_our_ids(call);
	else if (is_ip(&socket))
		may = may_listen_inet(call, &socket);
	else
		may = may_other(call, &socket, OP_NETWORK_INBOUND);
	r = may ? listen(socket.fd, (int)call->args[1]) : -1;
	error = may ? errno : EPERM;
	if (r == 0)
		held_let_go(call->broker, socket.fd);
	if (r == 0)
		call_value(call, 0);
	else
		call_error(call, error);
}
