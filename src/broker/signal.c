/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals, by who the target is to the caller. The kernel does the call itself where a number that
 * is given out again, or a group that changes, cannot matter. Else each target is pinned, judged,
 * by the policy and by kill(2)'s rule about ids, and signalled by us. It is then from us that the
 * signal comes (siginfo).
 */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/proc.h"
#include "linux/sys.h"
#include "base/banned.h"

/* ---- Processes, as the sandbox counts them ---- */

struct process {
	pid_t tgid, parent, group, session; /* 0: of no process that the sandbox can name */
	unsigned real, effective, saved;
	uint64_t caps;
	bool nested; /* in a pid namespace further in */
};

/* PIN: as proc_pin(). 0, or -1 with errno. */
static int read_process(int pin, struct process *ret)
{
	char text[PROC_TEXT_MAX];
	const char *uids, *caps;

	if (proc_read(pin, "status", text, sizeof(text)) < 0)
		return -1;
	uids = proc_field(text, "Uid");
	caps = proc_field(text, "CapEff");
	*ret = (struct process){
		.tgid = (pid_t)proc_number(proc_field(text, "Tgid"), 0),
		.parent = (pid_t)proc_number(proc_field(text, "PPid"), 0),
		.group = (pid_t)proc_number(proc_field(text, "NSpgid"), 0),
		.session = (pid_t)proc_number(proc_field(text, "NSsid"), 0),
		.real = proc_number(uids, 0),
		.effective = proc_number(uids, 1),
		.saved = proc_number(uids, 2),
		.caps = caps ? strtoull(caps, NULL, 16) : 0,
		.nested = proc_number(proc_field(text, "NSpid"), 1) != UINT_MAX,
	};
	if (ret->tgid > 0 && ret->parent >= 0 && ret->group >= 0 && ret->session >= 0 &&
	    ret->saved != UINT_MAX && caps)
		return 0;
	errno = ESRCH;
	return -1;
}

/* ---- Who may ---- */

/* A signal on its way. */
struct sender {
	const struct call *call;
	struct process self;
	int pin; /* the caller's, as proc_pin() */
	int number;
	bool has_info; /* else the kernel fills it in */
	siginfo_t info;
};

/*
 * Darwin's number of a Linux signal, where they differ; policies speak Darwin. What macOS does not
 * have comes after all numbers.
 */
static int darwin_signal(int number)
{
	static const unsigned char map[][2] = {
		{SIGBUS, 10},  {SIGUSR1, 30}, {SIGUSR2, 31}, {SIGCHLD, 20},
		{SIGCONT, 19}, {SIGSTOP, 17}, {SIGTSTP, 18}, {SIGURG, 16},
		{SIGIO, 23},   {SIGSYS, 12},  {SIGPWR, 100}, {SIGSTKFLT, 101},
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (map[i][0] == number)
			return map[i][1];
	return number;
}

static struct request signal_request(unsigned targets, int number)
{
	return (struct request){.op = OP_SIGNAL,
				.has = HAS_SIGNAL,
				.targets = targets,
				.signal = darwin_signal(number)};
}

static bool allows_self(const struct call *call, int number)
{
	struct request request = signal_request(signal_target_set(SIGNAL_TARGET_SELF), number);

	return judge_pathless(call, &request);
}

static unsigned targets_of(const struct process *self, const struct process *target, bool inside)
{
	unsigned set =
		signal_target_set(inside ? SIGNAL_TARGET_SAME_SANDBOX : SIGNAL_TARGET_OTHERS);

	if (target->tgid == self->tgid)
		return signal_target_set(SIGNAL_TARGET_SELF);
	if (inside && target->parent == self->tgid)
		set |= signal_target_set(SIGNAL_TARGET_CHILDREN);
	if (!inside && target->tgid == 1)
		set |= signal_target_set(SIGNAL_TARGET_INITPROC);
	if (target->group == self->group)
		set |= signal_target_set(SIGNAL_TARGET_PGRP);
	return set;
}

/* Is the user namespace of OVER that of UNDER, or one around it? */
static bool reigns(int over, int under)
{
	struct stat wanted, found;
	int cleanup_fd ns = openat(under, "ns/user", O_RDONLY | O_CLOEXEC);

	if (fstatat(over, "ns/user", &wanted, 0) < 0)
		return false;
	while (ns >= 0 && fstat(ns, &found) == 0) {
		int parent;

		if (found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino)
			return true;
		parent = ioctl(ns, NS_GET_PARENT);
		fd_close(&ns);
		ns = parent;
	}
	return false;
}

/* kill(2)'s rule, by the ids of the caller, which are not ours once it has changed them. */
static bool ids_allow(const struct sender *sender, int pin, const struct process *target)
{
	const struct process *self = &sender->self;

	if (target->tgid == self->tgid || self->effective == target->saved ||
	    self->effective == target->real || self->real == target->saved ||
	    self->real == target->real)
		return true;
	if (sender->number == SIGCONT && target->session == self->session)
		return true;
	return (self->caps & 1ull << CAP_KILL) && reigns(sender->pin, pin);
}

/* ---- Sending ---- */

/* What looking at a process that is not there, or not to be seen, ends with. */
static int looking_error(void)
{
	return errno == ENOENT || errno == ESRCH ? ESRCH : EPERM;
}

/* May the pinned TARGET be signalled? Processes outside a private scope are not there at all. */
static bool may_send(const struct sender *sender, int pin, const struct process *target)
{
	const struct call *call = sender->call;

	for (unsigned i = 0; i < call->n_layers; i++) {
		const struct layer *layer = call->layers[i];
		unsigned scope = layer->input->private_scope | layer->input->around;
		bool inside = layer_has(call->broker, layer, target->tgid, true);
		struct request request =
			signal_request(targets_of(&sender->self, target, inside), sender->number);

		if ((!inside && (scope & SCOPE_PID)) || !layer_allows(layer, &request))
			return false;
	}
	return call->n_layers > 0 && ids_allow(sender, pin, target);
}

/* By what is pinned: if it has ended, what was judged by number may be somebody else, and ESRCH. */
static int deliver(const struct sender *sender, int pidfd, unsigned flags)
{
	long r = syscall(SYS_pidfd_send_signal, pidfd, sender->number,
			 sender->has_info ? &sender->info : NULL, flags);

	return r < 0 ? errno : 0;
}

static int send_to_process(const struct sender *sender, pid_t pid)
{
	int cleanup_fd pin = proc_pin(sender->call->broker->pids, pid);
	struct process target;

	if (pin < 0 || read_process(pin, &target) < 0)
		return looking_error();
	return may_send(sender, pin, &target) ? deliver(sender, pin, 0) : EPERM;
}

/* The pid of thread TID in our own pid namespace. -1 with errno. */
static pid_t outer_pid(const struct broker *broker, pid_t tid)
{
	char path[32];
	int cleanup_fd ns = -1;

	if (!broker->own_proc)
		return tid;
	(void)snprintf(path, sizeof(path), "%d/ns/pid", (int)broker->init);
	ns = openat(broker->proc, path, O_RDONLY | O_CLOEXEC);
	return ns < 0 ? -1 : ioctl(ns, NS_GET_PID_FROM_PIDNS_, tid);
}

/* To thread TID, if it is one of TGID's (0: anybody's). */
static int send_to_thread(const struct sender *sender, pid_t tgid, pid_t tid)
{
	const struct broker *broker = sender->call->broker;
	int cleanup_fd pin = proc_pin(broker->pids, tid);
	int cleanup_fd pidfd = -1;
	struct process target;
	pid_t outer;

	if (pin < 0)
		return looking_error();
	outer = outer_pid(broker, tid);
	pidfd = outer < 0 ? -1 : (int)syscall(SYS_pidfd_open, outer, PIDFD_THREAD_);
	/* Only after that: what is pinned is still there, so that the numbers were its. */
	if (pidfd < 0 || read_process(pin, &target) < 0)
		return looking_error();
	if (tgid && target.tgid != tgid)
		return ESRCH;
	return may_send(sender, pin, &target) ? deliver(sender, pidfd, 0) : EPERM;
}

struct group {
	const struct sender *sender;
	pid_t group; /* -1: everybody */
	bool sent;
	int error;
};

static bool is_meant(const struct group *group, const struct process *process, pid_t pid)
{
	const struct sender *sender = group->sender;

	if (group->group != -1)
		return process->group == group->group;
	return pid > 1 && process->tgid != sender->self.tgid;
}

static int send_to_member(int proc, pid_t pid, void *context)
{
	struct group *group = context;
	const struct sender *sender = group->sender;
	struct broker *broker = sender->call->broker;
	int cleanup_fd pin = proc_pin(proc, pid);
	struct process target;
	int error = EPERM;

	if (pin < 0 || read_process(pin, &target) < 0 || !is_meant(group, &target, pid))
		return 0;
	/* The caller's group is ours too, and the pipeline's around us. */
	if ((broker->input->private_scope & SCOPE_PID) &&
	    !layer_has(broker, &broker->own, pid, true))
		return 0;
	if (may_send(sender, pin, &target))
		error = deliver(sender, pin, 0);
	if (error == 0)
		group->sent = true;
	else if (error != ESRCH)
		group->error = error;
	return 0;
}

/* Each member by itself, and one that can be signalled is enough, kill(2). */
static int send_to_group(const struct sender *sender, pid_t number)
{
	struct group group = {.sender = sender, .group = number, .error = ESRCH};

	if (proc_each_process(sender->call->broker->pids, send_to_member, &group) < 0)
		return EPERM;
	return group.sent ? 0 : group.error;
}

/* ---- What the caller asks for ---- */

enum {
	NONE = -1
};

/* Where a call has what. */
struct form {
	int nr;
	int process, thread, number, info; /* indices of arguments, or NONE */
};

static const struct form forms[] = {
	{SYS_kill, 0, NONE, 1, NONE},        {SYS_tkill, NONE, 0, 1, NONE},
	{SYS_tgkill, 0, 1, 2, NONE},         {SYS_rt_sigqueueinfo, 0, NONE, 1, 2},
	{SYS_rt_tgsigqueueinfo, 0, 1, 2, 3},
};

/*
 * Does it not matter whom the call reaches, of those whom it can? POSITIVE: it names processes by
 * numbers of the caller's pid namespace, which no process outside has, but the first.
 */
static bool is_bounded(const struct call *call, int number, bool positive)
{
	const struct broker *broker = call->broker;
	bool by_kernel = (broker->plan->landlock_scoped & LL_SCOPED_SIGNAL) ||
			 (positive && broker->own_proc);
	int darwin = darwin_signal(number);
	unsigned outside =
		broker->input->private_scope & SCOPE_PID
			? CAN_DENY
			: plan_signal_verdicts(broker->own.policy, SIGNAL_OUTSIDE, darwin);

	/* No kernel knows whom a run inside has. */
	return call->n_layers == 1 &&
	       plan_signal_verdicts(broker->own.policy, SIGNAL_INSIDE, darwin) == CAN_ALLOW &&
	       (outside == CAN_ALLOW || (outside == CAN_DENY && by_kernel));
}

/* Who calls. 0, or -1: that cannot be told, or its numbers are of a pid namespace further in. */
static int prepare(struct sender *sender)
{
	const struct call *call = sender->call;
	const struct broker *broker = call->broker;
	struct caller_pids pids;

	if (caller_pids(call, &pids) < 0)
		return -1;
	sender->pin = proc_pin(broker->pids, pids.shown_tid);
	if (sender->pin < 0 || read_process(sender->pin, &sender->self) < 0)
		return -1;
	/* What we read was the caller's only if it still waits. */
	if (sender->self.nested || !call_is_alive(call))
		return -1;
	return caller_assume_kill(call);
}

static int send_as(struct sender *sender, const struct form *form)
{
	const struct call *call = sender->call;
	pid_t pid = form->process == NONE ? 0 : (pid_t)call->args[form->process];

	sender->has_info = form->info != NONE;
	if (sender->has_info &&
	    call_read(call, call->args[form->info], &sender->info, sizeof(sender->info)) < 0)
		return errno;
	sender->info.si_signo = sender->number;
	if (prepare(sender) < 0)
		return EPERM;
	if (form->thread != NONE)
		return send_to_thread(sender, pid, (pid_t)call->args[form->thread]);
	if (form->nr != SYS_kill || pid > 0)
		return send_to_process(sender, pid);
	if (pid == INT_MIN)
		return ESRCH; /* it has no positive, kill(2) */
	return send_to_group(sender, pid == 0 ? sender->self.group : pid == -1 ? -1 : -pid);
}

static void answer(struct call *call, int error)
{
	if (error)
		call_error(call, error);
	else
		call_value(call, 0);
}

/* Is it the caller that the call names? As long as it waits its numbers are nobody else's. */
static bool names_self(const struct call *call, const struct form *form)
{
	struct caller_pids pids;
	pid_t pid = (pid_t)call->args[0];

	if (caller_pids(call, &pids) < 0)
		return false;
	/* A thread of a process is looked up in that process, unless by tkill(2). */
	return pid == pids.shown_tid || (pid == pids.shown_tgid && form->process != NONE);
}

void handle_signal(struct call *call)
{
	const struct form *form = forms;
	struct sender sender = {.call = call, .pin = -1};

	while (form->nr != call->nr)
		form++;
	sender.number = (int)call->args[form->number];
	if (form->thread != NONE &&
	    ((pid_t)call->args[0] <= 0 || (pid_t)call->args[form->thread] <= 0))
		call_error(call, EINVAL);
	else if (is_bounded(call, sender.number, (pid_t)call->args[0] > 1))
		call_continue(call); /* the kernel refuses whom it must not reach */
	else if (!names_self(call, form))
		answer(call, send_as(&sender, form));
	else if (allows_self(call, sender.number))
		call_continue(call); /* everything it depends on is in registers */
	else
		call_error(call, EPERM);
	fd_close(&sender.pin);
}

/* ---- By descriptor ---- */

/* The process that FD, ours, stands for, as we count. -1 with errno EBADF: no pidfd; ESRCH. */
static pid_t pid_of(int fd)
{
	char path[48], text[512];
	const char *pid = NULL;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (proc_read(AT_FDCWD, path, text, sizeof(text)) == 0)
		pid = proc_field(text, "Pid");
	errno = pid ? ESRCH : EBADF;
	return pid ? (pid_t)strtol(pid, NULL, 10) : -1;
}

/* PID of our pid namespace as the sandbox counts. -1: it cannot name it. */
static pid_t inner_pid(const struct broker *broker, pid_t pid)
{
	char path[32], text[PROC_TEXT_MAX];

	if (!broker->own_proc)
		return pid;
	(void)snprintf(path, sizeof(path), "%d/status", (int)pid);
	if (!caller_is_inside(broker, pid) || proc_read(broker->proc, path, text, sizeof(text)) < 0)
		return -1;
	return (pid_t)proc_number(proc_field(text, "NSpid"), 1);
}

static int send_by_pidfd(const struct sender *sender, int fd, unsigned flags)
{
	const struct broker *broker = sender->call->broker;
	pid_t pid = pid_of(fd);
	int cleanup_fd pin = -1;
	struct process target;
	pid_t inner;

	if (pid < 0)
		return errno;
	inner = inner_pid(broker, pid);
	if (inner <= 0)
		return EPERM;
	pin = proc_pin(broker->pids, inner);
	/* Only after that: the descriptor's process is still there, so that the numbers are its. */
	if (pin < 0 || read_process(pin, &target) < 0 || pid_of(fd) != pid)
		return looking_error();
	if (flags == PIDFD_SIGNAL_PROCESS_GROUP_)
		return send_to_group(sender, inner);
	return may_send(sender, pin, &target) ? deliver(sender, fd, flags) : EPERM;
}

/* The process a descriptor of the caller's stands for, as we count; errors as those of pid_of(). */
static pid_t pid_shown(const struct call *call, int fd)
{
	char text[512];
	const char *pid = NULL;

	if (caller_fdinfo(call->broker, call->tid, fd, text, sizeof(text)) == 0)
		pid = proc_field(text, "Pid");
	errno = pid ? ESRCH : EBADF;
	return pid ? (pid_t)strtol(pid, NULL, 10) : -1;
}

/*
 * A descriptor of ours for the process of the caller's pidfd FD. Whatever is told of it in between,
 * it is judged by the process it stands for.
 */
static int open_same(const struct call *call, int fd)
{
	pid_t pid = pid_shown(call, fd);
	int cleanup_fd own = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	if (own < 0 || pid_shown(call, fd) != pid)
		return -1;
	return fd_steal(&own);
}

void handle_signal_pidfd(struct call *call)
{
	struct sender sender = {.call = call, .pin = -1, .number = (int)call->args[1]};
	unsigned flags = (unsigned)call->args[3];
	int cleanup_fd fd = -1;

	sender.has_info = call->args[2] != 0;
	/* What flags there are is for the kernel to say. */
	if (syscall(SYS_pidfd_send_signal, -1, 0, NULL, flags) < 0 && errno == EINVAL) {
		call_error(call, EINVAL);
		return;
	}
	if (is_bounded(call, sender.number, false)) {
		call_continue(call);
		return;
	}
	fd = caller_lends(call) ? caller_fd(call, (int)call->args[0])
				: open_same(call, (int)call->args[0]);
	if (fd < 0)
		call_error(call, errno == EBADF ? EBADF : EPERM);
	else if (sender.has_info &&
		 call_read(call, call->args[2], &sender.info, sizeof(sender.info)) < 0)
		call_error(call, errno);
	else if (prepare(&sender) < 0)
		call_error(call, EPERM);
	else
		answer(call, send_by_pidfd(&sender, fd, flags));
	fd_close(&sender.pin);
}

/* ---- SIGIO, or another signal that is chosen later, when a descriptor is ready ---- */

void handle_owner(struct call *call)
{
	struct caller_pids pids;
	pid_t owner = (pid_t)call->args[2];
	bool self = caller_pids(call, &pids) == 0 && owner == pids.shown_tgid;
	bool may = true;

	/* Of another it cannot be told what it will be to the caller by then. 0 is nobody. */
	for (int number = 0; owner && number <= SIGRTMAX; number++)
		may &= (self && allows_self(call, number)) || is_bounded(call, number, owner > 1);
	if (may)
		call_continue(call); /* by number, in registers */
	else
		call_error(call, EPERM);
}
