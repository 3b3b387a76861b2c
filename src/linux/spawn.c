/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's side of starting a run: processes, id maps, the listener. */
#include "linux/linux.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/child.h"
#include "base/banned.h"

static const struct {
	unsigned ns;
	unsigned long flag;
} clone_flags[] = {
	{NS_USER, CLONE_NEWUSER}, {NS_MOUNT, CLONE_NEWNS}, {NS_PID, CLONE_NEWPID},
	{NS_IPC, CLONE_NEWIPC},   {NS_NET, CLONE_NEWNET},
};

static const char *const stage_texts[] = {
	[STAGE_DONE] = "start the command",
	[STAGE_FORK] = "start a process",
	[STAGE_NAMESPACES] = "make namespaces",
	[STAGE_ID_MAP] = "map user ids into the user namespace",
	[STAGE_LOOPBACK] = "bring up the private loopback interface",
	[STAGE_MOUNT] = "mount",
	[STAGE_DIRS] = "make the private folders",
	[STAGE_CAPS] = "drop capabilities",
	[STAGE_CWD] = "enter the working directory",
	[STAGE_FDS] = "close inherited descriptors",
	[STAGE_LANDLOCK] = "apply the Landlock rules",
	[STAGE_SECCOMP] = "install the system call filter",
	[STAGE_LIMITS] = "set the limits",
	[STAGE_LISTENER] = "take over the system call listener",
	[STAGE_OUTER] = "hand the policy to the sandbox around us",
	[STAGE_EXEC] = "execute the command",
};

const char *spawn_stage_text(enum spawn_stage stage)
{
	return stage_texts[stage];
}

static int fail_at(enum spawn_stage stage, struct spawn_message *ret_failed, struct err *e)
{
	int saved = errno;

	*ret_failed = (struct spawn_message){.kind = SPAWN_FAILED, .stage = stage, .value = errno};
	errno = saved;
	return err_os(e, "could not %s", spawn_stage_text(stage));
}

/* What comes beside a packet: the sender's pid as we see it, and a descriptor (-1: none). */
struct enclosed {
	pid_t sender;
	int fd;
};

static void take_enclosed(struct msghdr *msg, struct enclosed *ret)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		struct ucred credentials;

		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS) {
			memcpy(&ret->fd, CMSG_DATA(c), sizeof(ret->fd));
		} else if (c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&credentials, CMSG_DATA(c), sizeof(credentials));
			ret->sender = credentials.pid;
		}
	}
}

/* One packet. 0; 1: the other end is gone. ENCLOSED may be NULL: then no descriptor is taken. */
static int receive(int control, struct spawn_message *ret, struct enclosed *enclosed, struct err *e)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	} ancillary;
	struct iovec iov = {.iov_base = ret, .iov_len = sizeof(*ret)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = enclosed ? &ancillary : NULL,
			     .msg_controllen = enclosed ? sizeof(ancillary) : 0};
	ssize_t n;

	do
		n = recvmsg(control, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_os(e, "could not hear from the sandbox");
	if (n != sizeof(*ret))
		return 1;
	if (enclosed)
		take_enclosed(&msg, enclosed);
	return 0;
}

int spawn_receive(const struct spawned *spawned, struct spawn_message *ret, struct err *e)
{
	return receive(spawned->control, ret, NULL, e);
}

/* The descriptors both sides start with. */
struct channels {
	int control[2], mapped[2], go[2]; /* sockets: sending raises no SIGPIPE if asked not to */
};

static void channels_close(struct channels *channels)
{
	for (int i = 0; i < 2; i++) {
		fd_close(&channels->control[i]);
		fd_close(&channels->mapped[i]);
		fd_close(&channels->go[i]);
	}
}

static int channels_open(struct channels *channels, struct err *e)
{
	const int on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channels->control) < 0 ||
	    setsockopt(channels->control[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channels->mapped) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channels->go) < 0)
		return err_os(e, "could not make the channels of the run");
	return 0;
}

static char **shell_argv_new(char *const *argv)
{
	static char shell[] = "/bin/sh";
	char **shell_argv;
	size_t n = 0;

	while (argv[n])
		n++;
	shell_argv = calloc(n + 2, sizeof(*shell_argv));
	if (!shell_argv)
		return NULL;
	shell_argv[0] = shell;
	for (size_t i = 1; i < n; i++)
		shell_argv[i + 1] = argv[i];
	return shell_argv;
}

/*
 * A fork with FLAGS, and handled signals at their default in the child (5.5). The raw call: fork(3)
 * has no flags and clone(3) wants a stack.
 */
static pid_t clone_cleared(unsigned long flags)
{
	struct clone_args arguments = {.flags = flags | CLONE_CLEAR_SIGHAND};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

static pid_t fork_init(const struct spawn_options *options, struct channels *channels,
		       char **shell_argv)
{
	struct child_context context = {.options = options, .shell_argv = shell_argv};
	unsigned long flags = 0; /* no SIGCHLD: whoever called us may handle or ignore it */
	pid_t pid;

	for (size_t i = 0; i < sizeof(clone_flags) / sizeof(clone_flags[0]); i++)
		if (options->plan->ns & clone_flags[i].ns)
			flags |= clone_flags[i].flag;
	context.signals_cleared = true;
	pid = clone_cleared(flags);
	if (pid < 0 && (errno == ENOSYS || errno == EPERM)) {
		/* Filters of containers let clone3(2) through for nobody, whatever its flags. */
		context.signals_cleared = false;
		pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
	}
	if (pid != 0)
		return pid;
	fd_close(&channels->control[0]);
	fd_close(&channels->mapped[1]);
	fd_close(&channels->go[1]);
	context.control = channels->control[1];
	context.mapped = channels->mapped[0];
	context.go = channels->go[0];
	child_init(&context);
}

/* Waits until the command is confined, and takes its listener. */
static int take_over(struct spawned *spawned, struct spawn_message *ret_failed, struct err *e)
{
	struct spawn_message message = {.kind = SPAWN_FAILED};
	struct enclosed enclosed = {.fd = -1};
	int r = receive(spawned->control, &message, &enclosed, e);

	if (r == 0 && message.kind == SPAWN_INIT) {
		spawned->init = enclosed.sender;
		r = receive(spawned->control, &message, &enclosed, e);
	}
	spawned->listener = enclosed.fd;
	if (r < 0)
		return r;
	if (r > 0)
		return err_set(e, ERR_OS, "the sandbox ended while it was being set up");
	if (message.kind == SPAWN_FAILED) {
		*ret_failed = message;
		errno = message.value;
		return err_os(e, "could not %s", spawn_stage_text(message.stage));
	}
	spawned->command = enclosed.sender;
	spawned->network = message.network;
	spawned->tasks = message.tasks;
	spawned->command_pidfd = (int)syscall(SYS_pidfd_open, enclosed.sender, 0);
	if (spawned->command_pidfd < 0 || (message.value >= 0 && spawned->listener < 0))
		return fail_at(STAGE_LISTENER, ret_failed, e);
	return 0;
}

static int start(const struct spawn_options *options, struct channels *channels,
		 struct spawned *spawned, struct spawn_message *ret_failed, struct err *e)
{
	cleanup_free char **shell_argv = shell_argv_new(options->argv);
	sigset_t all, mask;
	int r = shell_argv ? channels_open(channels, e) : err_memory(e);

	if (r < 0)
		return r;
	/* The child handles signals once it has set its own table straight. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &mask);
	spawned->child = fork_init(options, channels, shell_argv);
	r = errno;
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	errno = r;
	if (spawned->child < 0)
		return fail_at(STAGE_NAMESPACES, ret_failed, e);
	spawned->init = spawned->child;
	fd_close(&channels->control[1]);
	if ((options->plan->ns & NS_USER) && ns_map_ids(spawned->child, options->caps->root) < 0)
		return fail_at(STAGE_ID_MAP, ret_failed, e);
	if (send(channels->mapped[1], "m", 1, MSG_NOSIGNAL) != 1)
		return fail_at(STAGE_FORK, ret_failed, e);
	spawned->pid_ns = options->plan->ns & NS_PID;
	spawned->control = fd_steal(&channels->control[0]);
	spawned->go = fd_steal(&channels->go[1]);
	return take_over(spawned, ret_failed, e);
}

int spawn_start(const struct spawn_options *options, struct spawned *ret,
		struct spawn_message *ret_failed, struct err *e)
{
	struct channels channels = {{-1, -1}, {-1, -1}, {-1, -1}};
	struct spawned spawned = SPAWNED_NONE;
	struct spawn_message failed = {.stage = STAGE_DONE};
	int r = start(options, &channels, &spawned, &failed, e);

	channels_close(&channels);
	if (r < 0)
		spawn_end(&spawned);
	else
		*ret = spawned;
	if (ret_failed)
		*ret_failed = failed;
	return r;
}

int spawn_go(struct spawned *spawned, struct err *e)
{
	ssize_t n = send(spawned->go, "g", 1, MSG_NOSIGNAL);

	fd_close(&spawned->go);
	return n == 1 ? 0 : err_os(e, "could not let the command start");
}

/* Without a pid namespace init kills the rest when it hears no more from us, or the guard does. */
static void wait_for_killing(const struct spawned *spawned)
{
	struct spawn_message message;

	(void)shutdown(spawned->control, SHUT_WR);
	/* The other end is theirs alone: when it closes, both have done what they could. */
	while (receive(spawned->control, &message, NULL, NULL) == 0)
		;
	/* Somebody may have killed the two at once. */
	(void)syscall(SYS_pidfd_send_signal, spawned->command_pidfd, SIGKILL, NULL, 0);
}

void spawn_end(struct spawned *spawned)
{
	fd_close(&spawned->go);
	fd_close(&spawned->listener);
	/* The kernel kills a pid namespace with its init. */
	if (spawned->child > 0)
		(void)kill(spawned->child, spawned->pid_ns ? SIGKILL : SIGCONT);
	if (spawned->control >= 0 && !spawned->pid_ns)
		wait_for_killing(spawned);
	fd_close(&spawned->control);
	fd_close(&spawned->command_pidfd);
	while (spawned->child > 0 && waitpid(spawned->child, NULL, __WALL) < 0 && errno == EINTR)
		;
	*spawned = SPAWNED_NONE;
}
