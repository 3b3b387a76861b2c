/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outsider: a process that no sandbox holds, of the same user, with a secret in its
 * environment, in its memory, in an open file and in its working directory, and with sockets, a
 * terminal, shared memory and a message queue, and renames files on request. It writes
 * DIRECTORY/facts (shell assignments, for the cases) and notes in DIRECTORY/log whatever reaches
 * it: stream shared bus tcp abstract dgram udp pty pipe data usr1 urg priority planted.
 */
#include "escape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ioprio.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum kind {
	STREAM,
	SHARED,
	BUS,
	TCP,
	ABSTRACT,
	FRIEND,
	DGRAM,
	UDP,
	PTY,
	PIPE,
	SIGNALS,
	DATA,
	KINDS
};

static const char *const events[KINDS] = {
	[STREAM] = "stream",     [SHARED] = "shared", [BUS] = "bus", [TCP] = "tcp",
	[ABSTRACT] = "abstract", [DGRAM] = "dgram",   [UDP] = "udp", [PTY] = "pty",
	[PIPE] = "pipe",         [DATA] = "data",
};

static struct pollfd watched[KINDS];
static int log_fd;
static char queue_name[64], memory_name[64], shared_socket[64], bus_socket[108];
static int sysv_id;

static void note(const char *event)
{
	if (dprintf(log_fd, "%s\n", event) < 0)
		broken("log");
}

static void watch(enum kind kind, int fd)
{
	if (fd < 0)
		broken(events[kind] ? events[kind] : "watch");
	watched[kind] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static int bound(int type, const struct sockaddr *address, socklen_t length)
{
	int fd = socket(address->sa_family, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, address, length) < 0)
		broken("bind");
	if (type == SOCK_STREAM && listen(fd, 64) < 0)
		broken("listen");
	return fd;
}

static int bound_path(int type, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return bound(type, (struct sockaddr *)&address, sizeof(address));
}

static int bound_abstract(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path + 1, name, strlen(name));
	return bound(SOCK_STREAM, (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)));
}

static int bound_loopback(int type, unsigned *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof(address);
	int fd;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = bound(type, (struct sockaddr *)&address, length);
	if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		broken("getsockname");
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static int terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0)
		broken("pseudo-terminal");
	/* An open slave, so that the master does not hang up. */
	if (open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC) < 0)
		broken("terminal");
	return fd;
}

/* Both ends stay open. */
static int own_pipe(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		broken("pipe");
	return ends[0];
}

static int signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGURG);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/*
 * What names shared with others are told apart by: processes of other pid namespaces have the same
 * number, and those that were killed have left theirs.
 */
static int unique(void)
{
	static int number;

	while (number == 0)
		if (getrandom(&number, sizeof(number), 0) == sizeof(number))
			number &= INT_MAX;
	return number;
}

static void open_sockets(FILE *facts, const char *directory)
{
	char path[108], name[64];
	unsigned port;

	snprintf(path, sizeof(path), "%s/stream", directory);
	watch(STREAM, bound_path(SOCK_STREAM, path));
	fprintf(facts, "export ESCAPE_STREAM='%s'\n", path);
	snprintf(shared_socket, sizeof(shared_socket), "/tmp/lapbelt-escape-%d", unique());
	watch(SHARED, bound_path(SOCK_STREAM, shared_socket));
	fprintf(facts, "export ESCAPE_SHARED='%s'\n", shared_socket);
	snprintf(bus_socket, sizeof(bus_socket), "%s/bus", fact("RUNTIME"));
	unlink(bus_socket);
	watch(BUS, bound_path(SOCK_STREAM, bus_socket));
	fprintf(facts, "export ESCAPE_BUS='%s'\n", bus_socket);
	snprintf(path, sizeof(path), "%s/friend", directory);
	watch(FRIEND, bound_path(SOCK_STREAM, path));
	fprintf(facts, "export ESCAPE_FRIEND='%s'\n", path);
	snprintf(path, sizeof(path), "%s/dgram", directory);
	watch(DGRAM, bound_path(SOCK_DGRAM, path));
	fprintf(facts, "export ESCAPE_DGRAM='%s'\n", path);
	snprintf(name, sizeof(name), "lapbelt-escape-%d", unique());
	watch(ABSTRACT, bound_abstract(name));
	fprintf(facts, "export ESCAPE_ABSTRACT='%s'\n", name);
	watch(TCP, bound_loopback(SOCK_STREAM, &port));
	fprintf(facts, "export ESCAPE_PORT=%u\n", port);
	watch(UDP, bound_loopback(SOCK_DGRAM, &port));
	fprintf(facts, "export ESCAPE_UDP=%u\n", port);
}

static void open_shared_memory(FILE *facts)
{
	struct mq_attr attr = {.mq_maxmsg = 2, .mq_msgsize = 64};
	int fd;

	snprintf(memory_name, sizeof(memory_name), "/lapbelt-escape-%d", unique());
	memcpy(queue_name, memory_name, sizeof(queue_name));
	fd = shm_open(memory_name, O_RDWR | O_CREAT | O_EXCL, 0600);
	sysv_id = shmget((key_t)unique(), 4096, IPC_CREAT | IPC_EXCL | 0600);
	if (fd < 0 || ftruncate(fd, 4096) < 0 || sysv_id < 0)
		broken("shared memory");
	if (mq_open(queue_name, O_RDONLY | O_CREAT | O_EXCL, 0600, &attr) == (mqd_t)-1)
		broken("message queue");
	fprintf(facts, "export ESCAPE_SHM=%s ESCAPE_QUEUE=%s ESCAPE_KEY=%d\n", memory_name,
		queue_name, unique());
}

static void remove_what_is_shared(void)
{
	shmctl(sysv_id, IPC_RMID, NULL);
	shm_unlink(memory_name);
	mq_unlink(queue_name);
	unlink(shared_socket);
	unlink(bus_socket);
}

static void tell_facts(const char *directory)
{
	static char in_memory[] = SECRET;
	const char *draft = text("%s/facts.new", directory);
	FILE *facts = fopen(draft, "w");

	if (!facts)
		broken(draft);
	fprintf(facts, "export ESCAPE_PID=%d ESCAPE_LOG='%s/log'\n", getpid(), directory);
	fprintf(facts, "export ESCAPE_ADDRESS=%p\n", (void *)in_memory);
	fprintf(facts, "export ESCAPE_FD=%d\n", open(home(".ssh/id"), O_RDONLY | O_CLOEXEC));
	open_sockets(facts, directory);
	open_shared_memory(facts);
	watch(PIPE, own_pipe());
	fprintf(facts, "export ESCAPE_PIPE=%d\n", watched[PIPE].fd);
	watch(PTY, terminal());
	fprintf(facts, "export ESCAPE_PTS='%s'\n", ptsname(watched[PTY].fd));
	if (fclose(facts) != 0 || chdir(home(".ssh")) < 0)
		broken("facts");
	if (rename(text("%s/facts.new", directory), text("%s/facts", directory)) < 0)
		broken("facts");
}

/* Says hello and gives away a descriptor of the secret. */
static void greet_with_secret(int fd)
{
	struct iovec part = {.iov_base = (char[]){"outside\n"}, .iov_len = 8};
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} ancillary = {.space = {0}};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &ancillary,
				 .msg_controllen = sizeof(ancillary)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	int secret = open(home(".ssh/id"), O_RDONLY | O_CLOEXEC);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(rights), &secret, sizeof(int));
	sendmsg(fd, &message, MSG_NOSIGNAL);
	close(secret);
}

static void greet(enum kind kind)
{
	int fd = accept(watched[kind].fd, NULL, NULL);

	if (fd < 0)
		return;
	if (kind == FRIEND) {
		watch(DATA, fd);
		return;
	}
	note(events[kind]);
	if (kind == STREAM)
		greet_with_secret(fd);
	else
		send(fd, "outside\n", 8, MSG_NOSIGNAL);
	close(fd);
}

/* Or is it a case of another run, beside this one, that signals whomever it can reach? One of ours
 * waits for the note. */
static bool is_of_our_run(pid_t sender)
{
	const pid_t runner = fact_number("RUNNER");

	/* From where we cannot see. Or it went to many, and one of them before us cannot see the
	 * sender: Linux leaves it out for the rest, too. */
	if (sender == 0)
		return true;
	while (sender > 0 && sender != runner)
		sender = parent_of(sender);
	return sender == runner;
}

/* False when told to end. */
static bool take_signal(void)
{
	struct signalfd_siginfo info;

	if (read(watched[SIGNALS].fd, &info, sizeof(info)) != sizeof(info))
		broken("signals");
	if (info.ssi_signo == SIGTERM)
		return false;
	if (info.ssi_signo != SIGURG)
		note("usr1");
	else if (is_of_our_run((pid_t)info.ssi_pid))
		note("urg");
	return true;
}

static void take_bytes(enum kind kind)
{
	char buffer[4096];

	if (read(watched[kind].fd, buffer, sizeof(buffer)) > 0)
		note(events[kind]);
	else
		watched[kind].fd = -1;
}

static bool serve(enum kind kind)
{
	if (kind == SIGNALS)
		return take_signal();
	if (kind <= FRIEND)
		greet(kind);
	else
		take_bytes(kind);
	return true;
}

/* How the kernel treats us; what others set is visible to nobody else in every sandbox. */
static int own_priority(void)
{
	return getpriority(PRIO_PROCESS, 0) * 65536 +
	       (int)syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0);
}

/*
 * As another run in the same tree could: exchanges the names x and d of the working directory of
 * the cases for as long as there is a file "exchange", which a case that was killed leaves behind.
 */
static void exchange_names(void)
{
	int ws = open(home("ws"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	const time_t end = time(NULL) + 10;

	while (time(NULL) < end && faccessat(ws, "exchange", F_OK, 0) == 0)
		for (int i = 0; i < 100; i++)
			renameat2(ws, "x", ws, "d", RENAME_EXCHANGE);
	if (ws >= 0)
		close(ws);
}

/* A name in /tmp that a program outside is about to use, and that somebody else has made. */
static void note_planted(void)
{
	if (unlink(fact("PLANTED")) == 0)
		note("planted");
}

static void note_new_priority(int *last)
{
	int now = own_priority();

	if (now != *last)
		note("priority");
	*last = now;
}

int outsider_main(const char *directory)
{
	const int look_every = 100; /* ms; a change of priority wakes nobody */
	int priority = own_priority();
	bool running = true;

	setpgid(0, 0);
	log_fd = open(text("%s/log", directory), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	for (enum kind kind = 0; kind < KINDS; kind++)
		watched[kind].fd = -1;
	watch(SIGNALS, signals());
	tell_facts(directory);
	while (running) {
		if (poll(watched, KINDS, look_every) < 0)
			broken("poll");
		note_new_priority(&priority);
		note_planted();
		exchange_names();
		for (enum kind kind = 0; kind < KINDS; kind++)
			if (watched[kind].fd >= 0 && watched[kind].revents)
				running = serve(kind) && running;
	}
	remove_what_is_shared();
	return 0;
}
