/* SPDX-License-Identifier: Apache-2.0 */
#include "live/scene.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "live/world.h"
#include "base/banned.h"

/* ---- Addresses ---- */

/* netinet/in.h and linux/ipv6.h do not go together. */
struct in6_request {
	struct in6_addr address;
	uint32_t prefix;
	int interface;
};

static const struct sockaddr_in *v4(const struct address *address)
{
	return (const struct sockaddr_in *)&address->name;
}

static const struct sockaddr_in6 *v6(const struct address *address)
{
	return (const struct sockaddr_in6 *)&address->name;
}

/* An IPv4 address in the clothes of IPv6 is one of IPv4. */
static struct address plain_address(const struct address *address)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct address ret = *address;

	if (address->name.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6(address)->sin6_addr))
		return ret;
	in.sin_port = v6(address)->sin6_port;
	memcpy(&in.sin_addr, v6(address)->sin6_addr.s6_addr + 12, 4);
	memset(&ret, 0, sizeof(ret));
	memcpy(&ret.name, &in, sizeof(in));
	ret.length = sizeof(in);
	return ret;
}

static bool is_loopback(const struct address *address)
{
	if (address->name.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&v6(address)->sin6_addr) ||
		       IN6_IS_ADDR_UNSPECIFIED(&v6(address)->sin6_addr);
	return (ntohl(v4(address)->sin_addr.s_addr) >> 24) == 127 ||
	       v4(address)->sin_addr.s_addr == INADDR_ANY;
}

static int bound_socket(const struct address *address, int type)
{
	int cleanup_fd fd = socket(address->name.ss_family, type | SOCK_CLOEXEC, 0);
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&address->name, address->length) < 0)
		return -1;
	return fd_steal(&fd);
}

/* An address of IPv6 is there when a thread of the kernel has got round to it. */
static int wait_for(const struct address *address)
{
	enum {
		TRIES = 100
	};
	const struct timespec pause = {.tv_nsec = 10000000};

	for (int i = 0; i < TRIES; i++) {
		int cleanup_fd fd = bound_socket(address, SOCK_DGRAM);

		if (fd >= 0 || errno != EADDRNOTAVAIL)
			return fd < 0 ? -1 : 0;
		(void)nanosleep(&pause, NULL);
	}
	return -1;
}

/* Makes the address one of this machine: the network is a private one. */
static int add_address(const struct address *address, const char *alias)
{
	int cleanup_fd fd = socket(address->name.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_flags = 0};
	struct in6_request request6 = {.prefix = 128, .interface = (int)if_nametoindex("lo")};

	if (fd < 0)
		return -1;
	if (address->name.ss_family == AF_INET6) {
		request6.address = v6(address)->sin6_addr;
		return ioctl(fd, SIOCSIFADDR, &request6) < 0 ? -1 : wait_for(address);
	}
	(void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", alias);
	memcpy(&request.ifr_addr, v4(address), sizeof(struct sockaddr_in));
	return ioctl(fd, SIOCSIFADDR, &request);
}

/* Is the address this machine's, or can it be made so, for IPv4 as ALIAS? 0, or -1 with errno. */
static int has_address(const struct address *address, const char *alias, bool has_world)
{
	if (address->name.ss_family == AF_UNIX || is_loopback(address))
		return 0;
	errno = EADDRNOTAVAIL;
	return has_world ? add_address(address, alias) : -1;
}

/* ---- Who is at the other end ---- */

/* Nobody closes it: it is there as long as this process. */
static int listen_at(const struct address *address)
{
	int fd = bound_socket(address, SOCK_STREAM);

	return fd < 0 ? -1 : listen(fd, 8);
}

static bool set_path(struct address *address, const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(un.sun_path))
		return false;
	memcpy(un.sun_path, path, strlen(path));
	memset(address, 0, sizeof(*address));
	memcpy(&address->name, &un, sizeof(un));
	address->length = sizeof(un);
	return true;
}

static int make_peer(const struct deed *deed, bool has_world)
{
	struct address address = plain_address(&deed->address);

	if (has_address(&address, "lo:1", has_world) < 0)
		return -1;
	return deed->udp ? 0 : listen_at(&address);
}

/* What the act needs around its socket. */
static int make_sockets(struct deed *deed, const struct address *local, bool has_world)
{
	const struct act *act = &acts[deed->act];
	int type = deed->udp ? SOCK_DGRAM : SOCK_STREAM;
	struct address address;

	if (deed->path[0] && !set_path(&deed->address, deed->path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (act->run != act_connect) {
		address = plain_address(&deed->address);
		return has_address(&address, "lo:1", has_world);
	}
	if (local->length) {
		if (has_address(local, "lo:2", has_world) < 0)
			return -1;
		deed->socket = bound_socket(local, type);
		if (deed->socket < 0)
			return -1;
	}
	return make_peer(deed, has_world);
}

/* ---- Who stands by ---- */

static int make_bystander(struct deed *deed)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		die_with(parent);
		for (;;)
			(void)pause();
	}
	deed->pid = pid;
	if (pid < 0 || (deed->who == WHO_OUTSIDER && setpgid(pid, pid) < 0))
		return -1;
	return 0;
}

/* A script whose interpreter is the object, beside the kit, where everything may be executed. */
static int make_script(struct deed *deed, const char *folder)
{
	int cleanup_fd fd = -1;
	char text[PATH_MAX + 4];
	int n = snprintf(text, sizeof(text), "#!%s\n", deed->path);

	(void)snprintf(deed->other, sizeof(deed->other), "%.2000s/script", folder);
	fd = open(deed->other, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0755);
	return fd < 0 ? -1 : io_write_full(fd, text, (size_t)n);
}

int scene_make(struct deed *deed, const struct address *local, const struct kit *kit,
	       const char *folder, const char **ret_failed)
{
	const struct act *act = &acts[deed->act];
	struct world world = {.failed = NULL};
	struct stat st;

	(void)umask(0);
	if (!folder && (world_begin(&world, act->flags, kit) < 0 || world_place(&world, deed) < 0 ||
			world_enter(&world) < 0)) {
		*ret_failed = world.failed;
		return -1;
	}
	if (deed->kind != KIND_NONE && lstat(deed->path, &st) == 0)
		deed->inode = st.st_ino;
	*ret_failed = "could not make what listens there";
	if ((act->flags & ACT_NET) && make_sockets(deed, local, !folder) < 0)
		return -1;
	*ret_failed = "could not start a process to be signalled";
	if ((deed->who == WHO_OUTSIDER || deed->who == WHO_MATE) && make_bystander(deed) < 0)
		return -1;
	*ret_failed = "could not write a script";
	return act->run == act_exec_script ? make_script(deed, WORLD_KIT) : 0;
}
