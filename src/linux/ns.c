/* SPDX-License-Identifier: Apache-2.0 */
/* What a new user or network namespace needs before it can be used. */
#include "linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "base/banned.h"

static int write_proc(pid_t pid, const char *name, const char *text)
{
	char path[64];
	int cleanup_fd fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	return io_write_full(fd, text, strlen(text));
}

/* The same numbers inside and outside: the whole of our own map, when we may write it. */
static int map_range(pid_t pid, const char *own, const char *name)
{
	struct buf text = {0};
	struct buf map = {0};
	int r = -1;

	if (io_read_file(AT_FDCWD, own, &text, 64u << 10) < 0)
		goto out;
	for (char *rest = text.p, *line; (line = strsep(&rest, "\n"));) {
		/* inside outside count: user_namespaces(7) */
		char *end;
		unsigned long inside = strtoul(line, &end, 10), count;

		(void)strtoul(end, &end, 10);
		count = strtoul(end, NULL, 10);
		if (count)
			buf_printf(&map, "%lu %lu %lu\n", inside, inside, count);
	}
	r = map.n && !map.failed ? write_proc(pid, name, map.p) : -1;
out:
	buf_release(&text);
	buf_release(&map);
	return r;
}

int ns_map_ids(pid_t pid, bool root)
{
	char line[64];

	if (root && map_range(pid, "/proc/self/uid_map", "uid_map") == 0)
		return map_range(pid, "/proc/self/gid_map", "gid_map");
	(void)snprintf(line, sizeof(line), "%u %u 1\n", geteuid(), geteuid());
	if (write_proc(pid, "uid_map", line) < 0)
		return -1;
	/* user_namespaces(7): an unprivileged gid map needs setgroups(2) switched off (3.19). */
	if (write_proc(pid, "setgroups", "deny") < 0 && errno != ENOENT)
		return -1;
	(void)snprintf(line, sizeof(line), "%u %u 1\n", getegid(), getegid());
	return write_proc(pid, "gid_map", line);
}

/* 5.14 */
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

uint64_t ns_network_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

int ns_loopback_up(uint64_t *ret_network)
{
	int cleanup_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

	if (fd < 0)
		return -1;
	*ret_network = ns_network_of(fd);
	return ioctl(fd, SIOCSIFFLAGS, &request);
}
