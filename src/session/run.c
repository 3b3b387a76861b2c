/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run from probe to the last reaped process.
 *
 * The plan is made for what the kernel promises. If starting the command shows
 * that it does not keep a promise (no user namespaces here, a listener exists
 * already), the plan is made again without it: fewer means, the same policy,
 * and what can no longer be enforced is a gap.
 */
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/pages.h"
#include "broker/broker.h"
#include "linux/linux.h"
#include "linux/scratch.h"
#include "plan/nested.h"
#include "session/above.h"
#include "session/deadline.h"
#include "session/lane.h"
#include "session/limit.h"
#include "session/mounts.h"
#include "session/signals.h"
#include "session/terminal.h"
#include "base/banned.h"

static const int own_limits[] = {RLIMIT_NOFILE, RLIMIT_FSIZE};

enum {
	OWN_LIMITS = sizeof(own_limits) / sizeof(own_limits[0]),
	ABOVE_ROUNDS = 32, /* each goes a directory further down */
};

struct run {
	const struct policy *policy;
	const struct session_options *options;
	char *const *argv;
	struct arena arena;
	struct caps caps;
	struct plan_input input;
	struct mounts mounts;
	struct plan plan;
	char cwd[PATH_MAX];
	char scratch[64]; /* without a private /tmp: our folder in the shared one; "": none */
	int scratch_lock;
	struct str keep[8], show[1];
	struct str loaders[8];
	struct buf nested; /* for the sandbox around us */
	const char *lane;  /* the library of the fast lane; NULL: none */
	struct spawned spawned;
	struct broker *broker;
	struct rlimit own[OWN_LIMITS]; /* our caller's, where we had to raise them */
	bool raised[OWN_LIMITS];
	struct session_limits limits;
	struct deadline deadline;
	struct signals signals;
	struct terminal terminal;
};

/* ---- Planning ---- */

/* The canonical form of PATH, if something is there, as element *N of LIST. */
static void add_real(struct run *run, struct str *list, size_t *n, const char *path)
{
	char *real = path && path[0] ? realpath(path, NULL) : NULL;
	char *copy = real ? arena_strdup(&run->arena, str_of(real)) : NULL;

	free(real);
	if (copy)
		list[(*n)++] = str_of(copy);
}

/* What must stay visible when /tmp is private (DESIGN 15.2). */
static void collect_keep(struct run *run)
{
	run->input.keep = run->keep;
	add_real(run, run->keep, &run->input.n_keep, run->cwd);
	add_real(run, run->keep, &run->input.n_keep, getenv("HOME"));
	run->input.show = run->show;
	if (strchr(run->argv[0], '/'))
		add_real(run, run->show, &run->input.n_show, run->argv[0]);
}

/* The ELF interpreters of the C libraries people have, each where its ABI says. */
static void collect_loaders(struct run *run)
{
	static const char *const paths[] = {
		"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux.so.2",
		"/lib/ld-linux-aarch64.so.1",  "/lib/ld-musl-x86_64.so.1",
		"/lib/ld-musl-aarch64.so.1",
	};

	run->input.loaders = run->loaders;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		add_real(run, run->loaders, &run->input.n_loaders, paths[i]);
}

static bool is_of_network(int fd)
{
	int domain;
	socklen_t size = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX &&
	       domain != AF_NETLINK;
}

/* Standard input, output and errors count with those that are passed; of which network, nobody
 * asks. */
static bool inherits_network(const struct session_options *options)
{
	bool ret = false;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		ret |= is_of_network(fd);
	for (size_t i = 0; i < options->n_pass_fds; i++)
		ret |= is_of_network(options->pass_fds[i]);
	return ret;
}

/* May lead behind a private /tmp or /dev/shm (plan/lane.c)? */
static bool is_covered(int fd)
{
	struct stat st;
	char link[32], path[64];
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return false;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return S_ISDIR(st.st_mode) || n < 0 ||
	       str_is_below((struct str){path, (size_t)n}, STR("/tmp")) ||
	       str_is_below((struct str){path, (size_t)n}, STR("/dev/shm"));
}

static bool inherits_covered(const struct session_options *options)
{
	bool ret = false;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		ret |= is_covered(fd);
	for (size_t i = 0; i < options->n_pass_fds; i++)
		ret |= is_covered(options->pass_fds[i]);
	return ret;
}

/* Is FD a descriptor of something with a name in a file system: of a DEVICE, or of anything else?
 */
static bool is_named(int fd, bool device)
{
	struct stat st;
	char link[32], path[64];
	ssize_t n;

	if (fstat(fd, &st) < 0 || S_ISSOCK(st.st_mode))
		return false;
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		return device;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return !device && (n <= 0 || path[0] == '/');
}

static bool inherits_named(const struct session_options *options, bool device)
{
	bool ret = false;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		ret |= is_named(fd, device);
	for (size_t i = 0; i < options->n_pass_fds; i++)
		ret |= is_named(options->pass_fds[i], device);
	return ret;
}

static int plan_with_lane(struct run *run, struct err *e)
{
	int r = plan_make(&run->input, &run->arena, &run->plan, e);

	if (r == 0 && run->plan.lane && !lane_is_loadable(&run->plan, &run->input, run->lane)) {
		run->input.lane = false;
		r = plan_make(&run->input, &run->arena, &run->plan, e);
	}
	return r;
}

/* As long as the plan has rows for what is above the root directory. */
static int plan_again_above(struct run *run, struct err *e)
{
	/* Whoever makes a user namespace is in no chroot; unshare(2). Who only could has not tried.
	 */
	if (run->plan.ns & NS_USER)
		return 0;
	for (int round = 0; round < ABOVE_ROUNDS; round++) {
		int r = above_find(&run->mounts, &run->plan, &run->arena, e);

		if (r <= 0)
			return r;
		run->input.first_name = mounts_first_name;
		run->input.first_name_context = &run->mounts;
		r = plan_with_lane(run, e);
		if (r < 0)
			return r;
	}
	return err_set(e, ERR_LIMIT, "too much above the root directory is mounted below it");
}

static int make_plan(struct run *run, struct err *e)
{
	int r;

	arena_release(&run->arena);
	run->plan = (struct plan){0};
	run->input = (struct plan_input){
		.policy = run->policy,
		.caps = &run->caps,
		.private_scope = run->options->private_scope & ~run->caps.outer.scope,
		.around = run->options->private_scope & run->caps.outer.scope,
		.nestable = run->options->nestable,
		.inherits_network = inherits_network(run->options),
		.inherits_covered = inherits_covered(run->options),
		.inherits_files = inherits_named(run->options, false),
		.inherits_devices = inherits_named(run->options, true),
		.scratch = str_of(run->scratch),
		.list = linux_list,
	};
	r = mounts_read(&run->mounts, &run->arena, e);
	if (r < 0)
		return r;
	if (run->mounts.any_again) {
		run->input.first_name = mounts_first_name;
		run->input.first_name_context = &run->mounts;
	}
	collect_keep(run);
	collect_loaders(run);
	run->lane = run->options->no_lane ? NULL : lane_find_library(&run->arena);
	run->input.lane = run->lane != NULL;
	/* Who names it wants it. */
	if (!getenv("LAPBELT_LANE"))
		run->input.cwd = str_of(run->cwd);
	r = plan_with_lane(run, e);
	if (r == 0)
		r = plan_again_above(run, e);
	arena_trim(&run->arena);
	return r;
}

static void tell_gaps(const struct run *run)
{
	const struct session_options *options = run->options;

	for (size_t i = 0; options->gap && i < run->plan.n_gaps; i++)
		options->gap(options->gap_context, &run->plan.gaps[i]);
}

/* What the machine does not have, and nobody has asked to do without. */
static void tell_loss(const struct run *run)
{
	const struct session_options *options = run->options;

	if (!options->loss || !run->input.private_scope || options->no_userns)
		return;
	if (!run->caps.userns)
		options->loss(options->gap_context, "no user namespaces can be had here");
	else if ((options->private_scope & SCOPE_PID) && !run->caps.mount_proc)
		options->loss(options->gap_context, "no procfs can be mounted here");
}

/* As Apple's: one sandbox at a time. */
static int err_nested(struct err *e)
{
	(void)err_set(e, ERR_GAP, "already inside a lapbelt sandbox");
	if (e)
		e->os = EPERM;
	return err_hint(e,
			"its policy holds for all that runs here; another cannot be laid over it");
}

static int check_gaps(const struct run *run, struct err *e)
{
	const struct session_options *options = run->options;
	const struct gap *stop = options->gaps == GAPS_REPORT ? NULL : plan_refusal(&run->plan);

	if (options->gaps == GAPS_REFUSE && run->plan.n_gaps)
		stop = stop ? stop : &run->plan.gaps[0];
	if (!stop)
		return 0;
	if (run->caps.nested && !run->caps.notify && !run->plan.nested && stop->kind == GAP_CONTENT)
		return err_nested(e);
	tell_gaps(run);
	(void)err_at(e, ERR_GAP, stop->rule ? stop->rule->at : (struct span){0},
		     "this system cannot enforce the policy: %s", stop->text);
	return err_hint(e, "%s", stop->help ? stop->help : "--gaps=report runs it all the same");
}

/* ---- A scratch folder where /tmp is shared ---- */

static int make_scratch(struct run *run, struct err *e)
{
	if (run->caps.userns || run->scratch[0] ||
	    !(run->options->private_scope & ~run->caps.outer.scope & SCOPE_TMP))
		return 0;
	run->scratch_lock = scratch_make(run->scratch, sizeof(run->scratch));
	if (run->scratch_lock >= 0)
		return 0;
	(void)err_os(e, "could not make a private folder in /tmp");
	return err_hint(
		e,
		"inside another sandbox there is no place for one: only one listener can be had, "
		"and the outer sandbox has it");
}

/* ---- Starting ---- */

/*
 * Takes back what the failed start has shown to be missing. 0: try again; 1: nothing to give up.
 */
static int give_up_something(struct run *run, const struct spawn_message *failed)
{
	/* Which step shows which promise broken. */
	static const bool needs_userns[STAGE_EXEC + 1] = {
		[STAGE_NAMESPACES] = true,
		[STAGE_ID_MAP] = true,
		[STAGE_LOOPBACK] = true,
		[STAGE_MOUNT] = true,
	};
	bool at_mount = failed->stage == STAGE_MOUNT && failed->detail < (int)run->plan.n_mounts;
	enum mount_kind kind = at_mount ? run->plan.mounts[failed->detail].kind : MOUNT_PRIVATE_TMP;
	bool *promise = NULL;

	if (kind == MOUNT_PROC)
		promise = &run->caps.mount_proc;
	else if (kind == MOUNT_READ_ONLY || kind == MOUNT_WRITABLE || kind == MOUNT_MASK)
		promise = &run->caps.mount_setattr;
	else if (needs_userns[failed->stage])
		promise = &run->caps.userns;
	else if (failed->stage == STAGE_LISTENER ||
		 (failed->stage == STAGE_SECCOMP && failed->value == EBUSY))
		promise = &run->caps.notify;
	if (!promise || !*promise)
		return 1;
	*promise = false;
	return 0;
}

/* What the broker around us has to know. */
static int tell_outer(struct run *run, struct err *e)
{
	buf_release(&run->nested);
	if (!run->plan.nested)
		return 0;
	run->nested.max = NESTED_BYTES_MAX;
	nested_encode(&run->plan, &run->input, &run->nested);
	if (!run->nested.failed)
		return 0;
	return err_set(e, ERR_GAP,
		       "the policy is too large for the sandbox around us: more than %d bytes",
		       NESTED_BYTES_MAX);
}

/* Why it did not take it, in words. */
static int err_outer(const struct spawn_message *failed, struct err *e)
{
	switch (failed->value) {
	case ELOOP:
		return err_set(e, ERR_GAP, "no more than %d policies can be over one process",
			       NESTED_LAYERS_MAX);
	case ENFILE:
		return err_set(e, ERR_GAP, "no more than %d runs can be inside another at a time",
			       NESTED_RUNS_MAX);
	case E2BIG:
		return err_set(e, ERR_GAP, "the policy is too large for the sandbox around us");
	case EAGAIN:
		return err_set(e, ERR_GAP,
			       "the sandbox around us is busy with the policies of others");
	default:
		return -(int)ERR_OS;
	}
}

static int start_once(struct run *run, struct spawn_message *ret_failed, struct err *e)
{
	const char *around = run->input.around & SCOPE_TMP ? getenv("TMPDIR") : NULL;
	const char *tmpdir = run->scratch[0] ? run->scratch : around ? around : "/tmp";
	struct spawn_options options = {
		.plan = &run->plan,
		.caps = &run->caps,
		.argv = run->argv,
		.env = environ,
		.cwd = run->cwd,
		.pass_fds = run->options->pass_fds,
		.n_pass_fds = run->options->n_pass_fds,
		.mask = &run->signals.mask,
		.scratch = run->scratch[0] ? run->scratch : NULL,
		.scratch_lock = run->scratch_lock,
		.limits = run->limits.rlimits,
		.nested = buf_str(&run->nested),
	};
	const char *dirs[4] = {NULL};

	ret_failed->stage = STAGE_DONE;
	if (run->options->clean_env) {
		dirs[0] = arena_printf(&run->arena, "%s/.lapbelt", tmpdir);
		dirs[1] = arena_printf(&run->arena, "%s/.lapbelt/git-template", tmpdir);
		/* `echo x >>.git/info/exclude` is common, and the folder is not git's own. */
		dirs[2] = arena_printf(&run->arena, "%s/.lapbelt/git-template/info", tmpdir);
		options.env = dirs[0] && dirs[1] && dirs[2]
				      ? session_environ(environ, tmpdir, dirs[1], &run->arena)
				      : NULL;
		options.make_dirs = dirs;
		if (!options.env)
			return err_memory(e);
	}
	if (run->plan.lane) {
		options.env = lane_environ(options.env, run->lane, &run->arena);
		if (!options.env)
			return err_memory(e);
	}
	return spawn_start(&options, &run->spawned, ret_failed, e);
}

static int start(struct run *run, struct err *e)
{
	struct spawn_message failed;
	int r;

	for (;;) {
		r = make_scratch(run, e);
		if (r == 0)
			r = make_plan(run, e);
		if (r == 0)
			r = check_gaps(run, e);
		if (r == 0)
			r = tell_outer(run, e);
		if (r < 0)
			return r;
		r = start_once(run, &failed, e);
		if (r == 0) {
			/* Once, for the plan that holds. The command waits. */
			tell_loss(run);
			tell_gaps(run);
			return limits_settle(&run->limits,
					     &(struct limits_facts){
						     .root = run->caps.root,
						     .userns = run->plan.ns & NS_USER,
						     .tasks = run->spawned.tasks,
					     },
					     run->spawned.command, run->options, e);
		}
		if (failed.stage == STAGE_OUTER)
			return err_outer(&failed, e);
		if (give_up_something(run, &failed) != 0)
			return r;
	}
}

/*
 * Calls that wait hold descriptors of ours, and a command may have raised its limit on the size of
 * files, which is looked at where it counts. It was forked before, with the caller's limits.
 */
static void raise_own_limits(struct run *run)
{
	for (size_t i = 0; i < OWN_LIMITS; i++) {
		struct rlimit all;

		if (getrlimit(own_limits[i], &run->own[i]) < 0)
			continue;
		all = run->own[i];
		all.rlim_cur = all.rlim_max;
		run->raised[i] = setrlimit(own_limits[i], &all) == 0;
	}
}

static void restore_own_limits(const struct run *run)
{
	for (size_t i = 0; i < OWN_LIMITS; i++)
		if (run->raised[i])
			(void)setrlimit(own_limits[i], &run->own[i]);
}

static int serve(struct run *run, struct err *e)
{
	struct broker_options options = {
		.input = &run->input,
		.plan = &run->plan,
		.listener = fd_steal(&run->spawned.listener),
		.init = run->spawned.init,
		.command = run->spawned.command,
		.network = run->spawned.network,
	};

	if (options.listener < 0)
		return 0;
	raise_own_limits(run);
	return broker_start(&options, &run->broker, e);
}

/* ---- Waiting ---- */

/* The command stopped, so we stop too: our parent sees what it would see of the command. */
static void stop_with(struct run *run, int signal)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, old;
	sigset_t set;
	timer_t timer;
	bool armed = deadline_arm(&run->deadline, &timer);

	terminal_give_back(&run->terminal);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, signal);
	(void)sigaction(signal, signal == SIGSTOP ? NULL : &action, &old);
	(void)raise(signal);
	/* Blocked until here, so it takes effect now; execution goes on after SIGCONT. */
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (signal != SIGSTOP)
		(void)sigaction(signal, &old, NULL);
	if (armed)
		(void)timer_delete(timer);
	terminal_take_again(&run->terminal);
	(void)syscall(SYS_pidfd_send_signal, run->spawned.command_pidfd, SIGCONT, NULL, 0);
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The command may have run for a while, which no error that says "nothing ran" can tell. */
static int broke_down(struct err *e)
{
	(void)err_set(e, ERR_ENDED, "the sandbox ended unexpectedly");
	return err_hint(e, "the command ran, and all of it was killed");
}

/* 1: the command ended, *RET_STATUS is set. */
static int hear(struct run *run, int *ret_status, struct err *e)
{
	struct spawn_message message;
	int r = spawn_receive(&run->spawned, &message, e);

	if (r != 0)
		return broke_down(e);
	switch (message.kind) {
	case SPAWN_STOPPED:
		stop_with(run, message.value);
		return 0;
	case SPAWN_ENDED:
		*ret_status = exit_status(message.value);
		return 1;
	case SPAWN_FAILED:
		(void)err_set(e, ERR_COMMAND, "execvp() of '%s' failed: %s", run->argv[0],
			      strerror(message.value));
		e->os = message.value;
		return -(int)ERR_COMMAND;
	case SPAWN_INIT:
	case SPAWN_READY:
		break;
	}
	return 0;
}

static int wait_for_end(struct run *run, int *ret_status, struct err *e)
{
	struct pollfd polled[3] = {{.fd = run->spawned.control, .events = POLLIN},
				   {.fd = run->signals.fd, .events = POLLIN},
				   {.fd = broker_failed_fd(run->broker), .events = POLLIN}};
	int r = 0;

	while (r == 0) {
		int n = poll(polled, 3, deadline_timeout(&run->deadline));

		if (n < 0 && errno != EINTR)
			return broke_down(e);
		if (deadline_act(&run->deadline, run->spawned.command_pidfd) != 0)
			break;
		/* On failure revents are those of before: reading by them could wait forever. */
		if (n < 0)
			continue;
		if (polled[2].revents) {
			(void)err_set(e, ERR_ENDED, "the broker cannot go on: %s",
				      broker_error(run->broker));
			return err_hint(e, "the command ran, and all of it was killed");
		}
		if (polled[1].revents)
			signals_forward(&run->signals, run->spawned.command_pidfd);
		if (polled[0].revents)
			r = hear(run, ret_status, e);
	}
	if (r < 0 || !run->deadline.passed)
		return r < 0 ? r : 0;
	return err_set(e, ERR_TIME, "the command was ended: its limit on time is %llu s",
		       (unsigned long long)run->limits.wanted.values[LIMIT_TIME]);
}

/* ---- The whole ---- */

/* A run can last for days, and what compiling and planning took lies idle in the heap. */
static void give_back_memory(void)
{
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
	pages_trim();
}

static int run_steps(struct run *run, int *ret_status, struct err *e)
{
	int r = limits_open(&run->options->limits, run->policy, run->caps.root, &run->limits, e);

	if (r == 0)
		r = signals_take(&run->signals, e);
	if (r == 0)
		r = start(run, e);
	if (r == 0)
		r = serve(run, e);
	if (r == 0)
		r = spawn_go(&run->spawned, e);
	if (r < 0)
		return r;
	deadline_start(&run->deadline, run->limits.wanted.values[LIMIT_TIME]);
	give_back_memory();
	return wait_for_end(run, ret_status, e);
}

static int run_prepare(struct run *run, const struct session_options *options, struct err *e)
{
	if (!getcwd(run->cwd, sizeof(run->cwd))) {
		(void)err_os(e, "the working directory is gone");
		if (e)
			e->code = ERR_CONFIG;
		return -(int)ERR_CONFIG;
	}
	linux_probe(&run->caps);
	run->caps.userns = run->caps.userns && !options->no_userns;
	return run->caps.nested && run->caps.landlock_abi == 0 ? err_nested(e) : 0;
}

int session_run(const struct policy *policy, char *const *argv,
		const struct session_options *options, int *ret_status, struct err *e)
{
	struct run run = {.policy = policy,
			  .options = options,
			  .argv = argv,
			  .spawned = SPAWNED_NONE,
			  .scratch_lock = -1,
			  .limits = SESSION_LIMITS_NONE,
			  .signals = {.fd = -1}};
	struct err discarded;
	int r = run_prepare(&run, options, e ? e : &discarded);

	if (r < 0)
		return r;
	terminal_open(&run.terminal);
	r = run_steps(&run, ret_status, e ? e : &discarded);
	broker_stop(run.broker);
	spawn_end(&run.spawned);
	limits_close(&run.limits);
	restore_own_limits(&run);
	terminal_close(&run.terminal);
	signals_give_back(&run.signals);
	if (run.scratch[0])
		scratch_remove(run.scratch); /* init has done so; this is for a failed start */
	fd_close(&run.scratch_lock);
	buf_release(&run.nested);
	arena_release(&run.arena);
	return r;
}

/* What would hold is found out by trying. */
static int report_limits(struct run *run, struct limit_report *limits, struct report *ret,
			 struct err *e)
{
	bool userns = run->plan.ns & NS_USER;
	int r = limits_open(&run->options->limits, run->policy, run->caps.root, &run->limits, e);
	long tasks = run->options->limits.values[LIMIT_PROCESSES] ? rlimit_try_tasks(userns) : 0;

	if (r < 0)
		return r;
	/* A run has one more in its namespace: init. */
	limits_report(&run->limits,
		      &(struct limits_facts){
			      .root = run->caps.root,
			      .userns = userns,
			      .tasks = tasks + (userns && tasks > 0),
		      },
		      limits, &ret->n_limits);
	ret->limits = limits;
	limits_close(&run->limits);
	return 0;
}

int session_plan(const struct policy *policy, const struct session_options *options,
		 session_print *print, struct buf *ret, struct err *e)
{
	static char nothing[] = "";
	char *const no_command[] = {nothing, NULL};
	struct run run = {.policy = policy,
			  .options = options,
			  .argv = no_command,
			  .limits = SESSION_LIMITS_NONE};
	struct limit_report limits[LIMIT_COUNT];
	struct report report;
	int r = run_prepare(&run, options, e);

	if (r < 0)
		return r;
	linux_probe_by_trying(&run.caps, NULL);
	run.caps.userns = run.caps.userns && !options->no_userns;
	r = make_plan(&run, e);
	if (r == 0)
		r = plan_report(&run.plan, &run.input, &run.arena, &report, e);
	if (r == 0)
		r = report_limits(&run, limits, &report, e);
	if (r == 0)
		print(&run.plan, &run.input, &report, ret);
	arena_release(&run.arena);
	return r < 0 ? r : ret->failed ? err_memory(e) : 0;
}
