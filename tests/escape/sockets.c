/* SPDX-License-Identifier: Apache-2.0 */
/* Talking to anything outside: sockets by path, by name, over loopback, and of rarer families. */
#include "escape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <linux/vm_sockets.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_un local;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t local_address(union address *a, const char *path)
{
	*a = (union address){.local.sun_family = AF_UNIX};
	snprintf(a->local.sun_path, sizeof(a->local.sun_path), "%s", path);
	return sizeof(a->local);
}

static socklen_t abstract_address(union address *a, const char *name)
{
	*a = (union address){.local.sun_family = AF_UNIX};
	snprintf(a->local.sun_path + 1, sizeof(a->local.sun_path) - 1, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static socklen_t loopback_address(union address *a, const char *port)
{
	*a = (union address){.v4.sin_family = AF_INET};
	a->v4.sin_port = htons((uint16_t)fact_number(port));
	a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof(a->v4);
}

static socklen_t mapped_address(union address *a, const char *port)
{
	*a = (union address){.v6.sin6_family = AF_INET6};
	a->v6.sin6_port = htons((uint16_t)fact_number(port));
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &a->v6.sin6_addr);
	return sizeof(a->v6);
}

static enum outcome connect_to(const union address *a, socklen_t length, long family_bits)
{
	char greeting[16] = "";
	struct timeval patience = {.tv_sec = 2};
	int fd = (int)syscall(SYS_socket, a->any.sa_family | family_bits,
			      SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return came_through(-1);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, &a->any, length) < 0)
		return came_through(-1);
	if (recv(fd, greeting, sizeof(greeting) - 1, 0) < 0)
		return came_through(-1);
	return strcmp(greeting, "outside\n") == 0 ? ESCAPED : CONTAINED;
}

static enum outcome connect_path(void)
{
	union address a;
	socklen_t length = local_address(&a, fact("STREAM"));

	return connect_to(&a, length, 0);
}

static enum outcome connect_through_symlink(void)
{
	union address a;
	socklen_t length = local_address(&a, "link");

	if (symlink(fact("STREAM"), "link") < 0)
		return came_through(-1);
	return connect_to(&a, length, 0);
}

static enum outcome connect_moved_socket(void)
{
	union address a;
	socklen_t length = local_address(&a, "moved");

	if (rename(fact("STREAM"), "moved") < 0)
		return came_through(-1);
	return connect_to(&a, length, 0);
}

static enum outcome connect_linked_socket(void)
{
	union address a;
	socklen_t length = local_address(&a, "linked");

	if (link(fact("STREAM"), "linked") < 0)
		return came_through(-1);
	return connect_to(&a, length, 0);
}

static enum outcome connect_pinned_socket(void)
{
	union address a;
	int fd = open(fact("STREAM"), O_PATH | O_CLOEXEC);
	socklen_t length = local_address(&a, text("/proc/self/fd/%d", fd));

	return connect_to(&a, length, 0);
}

static enum outcome connect_in_tmp(void)
{
	union address a;
	socklen_t length = local_address(&a, fact("SHARED"));

	return connect_to(&a, length, 0);
}

static enum outcome connect_in_tmp_through_symlink(void)
{
	union address a;
	socklen_t length = local_address(&a, "link");

	if (symlink(fact("SHARED"), "link") < 0)
		return came_through(-1);
	return connect_to(&a, length, 0);
}

static enum outcome connect_pinned_in_tmp(void)
{
	union address a;
	int fd = open(fact("SHARED"), O_PATH | O_CLOEXEC);
	socklen_t length = local_address(&a, text("/proc/self/fd/%d", fd));

	return connect_to(&a, length, 0);
}

static enum outcome connect_bus(void)
{
	union address a;
	socklen_t length = local_address(&a, fact("BUS"));

	return connect_to(&a, length, 0);
}

static enum outcome connect_to_what_is_named_by(const char *variable)
{
	const char *path = getenv(variable);
	union address a;
	socklen_t length;

	if (!path) {
		printf("# nothing is named\n");
		return CONTAINED;
	}
	length = local_address(&a, path);
	return connect_to(&a, length, 0);
}

static enum outcome connect_compositor(void)
{
	return connect_to_what_is_named_by("WAYLAND_DISPLAY");
}

static enum outcome connect_agent_of_keys(void)
{
	return connect_to_what_is_named_by("SSH_AUTH_SOCK");
}

static enum outcome connect_editor(void)
{
	return connect_to_what_is_named_by("VSCODE_IPC_HOOK_CLI");
}

static enum outcome take_what_is_sent(void)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} ancillary;
	char greeting[16];
	struct iovec part = {.iov_base = greeting, .iov_len = sizeof(greeting)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &ancillary,
				 .msg_controllen = sizeof(ancillary)};
	union address a;
	socklen_t length = local_address(&a, fact("STREAM"));
	int sent, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, &a.any, length) < 0 || recvmsg(fd, &message, 0) < 0)
		return came_through(-1);
	if (!CMSG_FIRSTHDR(&message)) {
		printf("# nothing was sent\n");
		return CONTAINED;
	}
	memcpy(&sent, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(sent));
	return reads_secret_fd(sent);
}

static enum outcome connect_abstract(void)
{
	union address a;
	socklen_t length = abstract_address(&a, fact("ABSTRACT"));

	return connect_to(&a, length, 0);
}

static enum outcome connect_loopback(void)
{
	union address a;
	socklen_t length = loopback_address(&a, "PORT");

	return connect_to(&a, length, 0);
}

/* No rule names a host. The address of no host means this one. */
static enum outcome connect_anywhere(void)
{
	union address a;
	socklen_t length = loopback_address(&a, "PORT");

	a.v4.sin_addr.s_addr = htonl(INADDR_ANY);
	return connect_to(&a, length, 0);
}

static enum outcome connect_mapped(void)
{
	union address a;
	socklen_t length = mapped_address(&a, "PORT");

	return connect_to(&a, length, 0);
}

static enum outcome connect_high_bits(void)
{
	union address a;
	socklen_t length = loopback_address(&a, "PORT");

	return connect_to(&a, length, 1L << 32);
}

/* --- datagrams, which need no connection
 * ----------------------------------------------------------- */

static int datagram_socket(int family)
{
	return socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static enum outcome send_to(const union address *a, socklen_t length, const char *event)
{
	int fd = datagram_socket(a->any.sa_family);

	if (fd < 0 || sendto(fd, "escaped", 7, 0, &a->any, length) < 0)
		return came_through(-1);
	return outsider_saw(event);
}

static enum outcome send_to_path(void)
{
	union address a;
	socklen_t length = local_address(&a, fact("DGRAM"));

	return send_to(&a, length, "dgram");
}

static enum outcome send_to_loopback(void)
{
	union address a;
	socklen_t length = loopback_address(&a, "UDP");

	return send_to(&a, length, "udp");
}

static enum outcome send_message(union address *a, socklen_t length, const char *event)
{
	struct iovec part = {.iov_base = (char[]){"escaped"}, .iov_len = 7};
	struct msghdr message = {
		.msg_name = a, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1};
	int fd = datagram_socket(a->any.sa_family);

	if (fd < 0 || sendmsg(fd, &message, 0) < 0)
		return came_through(-1);
	return outsider_saw(event);
}

static enum outcome send_message_to_path(void)
{
	union address a;
	socklen_t length = local_address(&a, fact("DGRAM"));

	return send_message(&a, length, "dgram");
}

static enum outcome send_message_to_loopback(void)
{
	union address a;
	socklen_t length = loopback_address(&a, "UDP");

	return send_message(&a, length, "udp");
}

static enum outcome send_many_messages(void)
{
	union address a;
	struct iovec part = {.iov_base = (char[]){"escaped"}, .iov_len = 7};
	struct mmsghdr message = {.msg_hdr = {.msg_name = &a, .msg_iov = &part, .msg_iovlen = 1}};
	int fd = datagram_socket(AF_UNIX);

	message.msg_hdr.msg_namelen = local_address(&a, fact("DGRAM"));
	if (fd < 0 || sendmmsg(fd, &message, 1, 0) < 0)
		return came_through(-1);
	return outsider_saw("dgram");
}

static enum outcome connect_datagram(void)
{
	union address a;
	socklen_t length = loopback_address(&a, "UDP");
	int fd = datagram_socket(AF_INET);

	if (fd < 0 || connect(fd, &a.any, length) < 0 || send(fd, "escaped", 7, 0) < 0)
		return came_through(-1);
	return outsider_saw("udp");
}

static enum outcome send_with_fast_open(void)
{
	union address a;
	socklen_t length = loopback_address(&a, "PORT");
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || sendto(fd, "escaped", 7, MSG_FASTOPEN, &a.any, length) < 0)
		return came_through(-1);
	return outsider_saw("tcp");
}

/* --- rarer families
 * ---------------------------------------------------------------------------------- */

static enum outcome opens_socket(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd < 0 && (errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT))
		return untried("kernel lacks this kind of socket");
	return came_through(fd);
}

static enum outcome open_vsock(void)
{
	return opens_socket(AF_VSOCK, SOCK_STREAM, 0);
}

static enum outcome open_packet(void)
{
	return opens_socket(AF_PACKET, SOCK_RAW, 0);
}

static enum outcome open_raw(void)
{
	return opens_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static enum outcome open_alg(void)
{
	return opens_socket(AF_ALG, SOCK_SEQPACKET, 0);
}

static enum outcome open_key(void)
{
	return opens_socket(AF_KEY, SOCK_RAW, 2);
}

static enum outcome open_xdp(void)
{
	return opens_socket(AF_XDP, SOCK_RAW, 0);
}

static enum outcome open_bluetooth(void)
{
	return opens_socket(AF_BLUETOOTH, SOCK_RAW, 1);
}

static enum outcome open_audit(void)
{
	return opens_socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT);
}

static enum outcome open_connector(void)
{
	return opens_socket(AF_NETLINK, SOCK_RAW, NETLINK_CONNECTOR);
}

static bool answer_names(int fd, const char *path)
{
	char answer[32768];
	ssize_t n;

	do {
		n = recv(fd, answer, sizeof(answer), 0);
		if (n > 0 && memmem(answer, (size_t)n, path, strlen(path)))
			return true;
	} while (n > 0 && ((struct nlmsghdr *)(void *)answer)->nlmsg_type != NLMSG_DONE);
	return false;
}

/* Lists the unix sockets of the machine and looks for the outsider's. */
static enum outcome list_sockets(void)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req body;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.body = {.sdiag_family = AF_UNIX,
			 .udiag_states = UINT32_MAX,
			 .udiag_show = UDIAG_SHOW_NAME},
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0 || send(fd, &request, sizeof(request), 0) < 0)
		return came_through(-1);
	return answer_names(fd, fact("STREAM")) ? ESCAPED : untried("kernel lacks unix_diag");
}

const struct escape_case socket_cases[] = {
	{"A001", "connect anywhere where no host is allowed", connect_anywhere},
	{"A077", "connect to the user's bus", connect_bus},
	{"A082", "connect to the compositor", connect_compositor},
	{"A083", "connect to the agent that holds keys", connect_agent_of_keys},
	{"A084d", "connect to the editor around us", connect_editor},
	{"A088", "take a descriptor from a process outside", take_what_is_sent},
	{"A086a", "connect to a port on loopback", connect_loopback},
	{"A086b", "connect to a mapped loopback address", connect_mapped},
	{"A064b", "connect by a family with high bits set", connect_high_bits},
	{"A086c", "send in the same breath as connect (MSG_FASTOPEN)", send_with_fast_open},
	{"A092a", "send a datagram to loopback", send_to_loopback},
	{"A092b", "send a datagram with sendmsg", send_message_to_loopback},
	{"A092c", "connect a datagram socket and send", connect_datagram},
	{"A084a", "connect to a unix socket in the /tmp of outside", connect_in_tmp},
	{"A084b", "connect to a unix socket in /tmp through a symlink",
	 connect_in_tmp_through_symlink},
	{"A084c", "connect to a unix socket in /tmp through /proc/self/fd", connect_pinned_in_tmp},
	{"A085a", "connect to a unix socket outside", connect_path},
	{"A085b", "connect to an abstract socket outside", connect_abstract},
	{"A085c", "send a datagram to a unix socket outside", send_to_path},
	{"A085d", "send a datagram to a unix socket outside with sendmsg", send_message_to_path},
	{"A085e", "send a datagram to a unix socket outside with sendmmsg", send_many_messages},
	{"A089a", "connect to a unix socket through a symlink", connect_through_symlink},
	{"A089b", "move a unix socket in and connect", connect_moved_socket},
	{"A089c", "link a unix socket in and connect", connect_linked_socket},
	{"A089d", "connect to a unix socket through /proc/self/fd", connect_pinned_socket},
	{"A094a", "open a packet socket", open_packet, NEEDS_ROOT},
	{"A094b", "open a raw socket", open_raw, NEEDS_ROOT},
	{"A095a", "open a vsock", open_vsock},
	{"A095b", "list the sockets of the machine", list_sockets},
	{"A095c", "open a crypto socket", open_alg},
	{"A095d", "open an audit socket", open_audit},
	{"A095e", "open a connector socket", open_connector},
	{"A095f", "open a key socket", open_key, NEEDS_ROOT},
	{"A095g", "open an XDP socket", open_xdp, NEEDS_ROOT},
	{"A095h", "open a Bluetooth socket", open_bluetooth, NEEDS_ROOT},
	{0},
};
