/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linux: the only module that makes Linux's confining system calls. One file
 * per kernel facility; `child.c` strings them together after fork. What to do
 * comes as rows (plan.h); there are no decisions here.
 *
 * Processes of a run:
 *
 *	launcher = supervisor            the caller; answers notifications (broker/)
 *	  `- guard                       only without a pid namespace: stands in for a killed init
 *	       `- init                   pid 1 of the pid namespace, or a subreaper without one:
 *	            |                    reaps, reports the command's stops and end, kills the rest
 *	            `- command           confined, then exec
 */
#ifndef LINUX_LINUX_H
#define LINUX_LINUX_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "linux/rlimit.h"
#include "plan/nested.h"
#include "plan/plan.h"

/* ---- probe.c ---- */

/*
 * What this kernel can do. Cheap facts only, each by asking the kernel; user namespaces and a free
 * listener are assumed, because starting the command tries them anyway: spawn_start() says which
 * step failed, and the session plans again without it.
 */
void linux_probe(struct caps *ret);

/* What came of trying, in throw-away children: 0, or an errno. */
struct tried {
	int listener;   /* a seccomp listener; EBUSY: somebody outside has one */
	int namespaces; /* a user namespace, with mount, pid, ipc and network inside */
	int mounts;     /* and mounting in it */
	int proc;       /* and mounting procfs */
	int read_only;  /* and making all of it read-only */
	int pidfd_getfd;
};

void linux_try(struct tried *ret);

/* As linux_probe(), with what linux_try() finds, which also comes in *RET_TRIED unless NULL. */
void linux_probe_by_trying(struct caps *ret, struct tried *ret_tried);

/* ---- plain.c ---- */

/*
 * open(2) with FLAGS and O_CLOEXEC, where no component of PATH is a symlink, the last one included;
 * else ELOOP or ENOTDIR. PATH is absolute. Async-signal-safe.
 */
int linux_open_plain(const char *path, int flags);

/* ---- list.c ---- */

/* The planner's eyes (plan_list). */
int linux_list(void *context, const char *path,
	       int (*each)(void *each_context, const char *name, enum entry_type type),
	       void *each_context);

/* ---- landlock.c ---- */

int landlock_abi(bool marked); /* 0: none. MARKED: plan/nested.h */

/* Are we inside a sandbox of ours? */
bool landlock_is_nested(void);

/* Asks its broker. As the kernel returns it, with errno. Async-signal-safe. */
long landlock_nested(enum nested_call what, const void *bytes, size_t n);

/* Whose it is, if it is of our version. */
void landlock_find_outer(struct outer *ret);

/*
 * Async-signal-safe: a ruleset with the plan's rows; a row whose path is gone, is of another kind
 * than planned or leads through a symlink is skipped. Returns the ruleset's descriptor, or -1 with
 * errno.
 */
int landlock_build(const struct plan *plan);

/*
 * Is one of the directories ROWS[N] above the root directory? Landlock looks further up than a
 * process sees that has changed its root. 0, also where a sandbox around us opens files for us so
 * that it cannot be told; 1; or -1 with errno.
 */
int landlock_is_above_root(const struct plan *plan, const struct landlock_row *rows, size_t n);

/* Restricts the calling thread. no_new_privs must be set. 0, or -1 with errno. */
int landlock_enter(int ruleset);

/* ---- seccomp.c ---- */

/*
 * Installs the filter in the calling thread. WITH_LISTENER: returns the notify descriptor
 * (close-on-exec), else 0. -1 with errno.
 */
int seccomp_install(const struct bpf_insn *filter, size_t n, bool with_listener);

/* ---- ns.c, mount.c, caps.c, scrub.c: steps of the child ---- */

/* Writes the id maps of /proc/PID from outside: the whole range for root, else one id. */
int ns_map_ids(pid_t pid, bool root);

/* Brings up the loopback interface of this network namespace, *RET_NETWORK. 0, or -1 with errno. */
int ns_loopback_up(uint64_t *ret_network);

/* The network namespace of the socket FD: SO_NETNS_COOKIE. 0: the kernel does not tell (5.14). */
uint64_t ns_network_of(int fd);

/* Applies the plan's mounts in this mount namespace. *RET_AT: the row at fault. */
int mount_apply(const struct plan *plan, size_t *ret_at);

/*
 * The same of those that hold what is denied (MOUNT_READ_ONLY, MOUNT_WRITABLE), after all else has
 * been made. One that is not there any more is a failure.
 */
int mount_hold(const struct plan *plan, size_t *ret_at);

/* Makes all that is mounted in this mount namespace read-only. 0, or -1 with errno. */
int mount_all_read_only(void);

/*
 * Drops the calling thread's capabilities to those that matter for a user's own files (chown,
 * dac_override, fowner, fsetid, kill, setuid, setgid ...) and ALSO, a set of bits.
 */
int caps_drop(uint64_t also);
int caps_drop_all(void); /* as caps_drop(), but to none */

/* Takes all that caps_drop(0) would not leave from the bounding set: no exec gives them back. */
int caps_drop_bounding(void);

/* Closes every descriptor from 3 on but KEEP (ascending, may repeat). 0, or -1: something is open.
 */
int scrub_fds(const int *keep, size_t n);
void scrub_sort(int *fds, size_t n);

/* ---- child.c ---- */

/* Where setting up failed; one table of messages serves all (spawn_stage_text). */
enum spawn_stage {
	STAGE_DONE,
	STAGE_FORK,
	STAGE_NAMESPACES,
	STAGE_ID_MAP,
	STAGE_LOOPBACK,
	STAGE_MOUNT,
	STAGE_DIRS,
	STAGE_CAPS,
	STAGE_CWD,
	STAGE_FDS,
	STAGE_LANDLOCK,
	STAGE_SECCOMP,
	STAGE_LIMITS,
	STAGE_LISTENER,
	STAGE_OUTER,
	STAGE_EXEC,
};

struct spawn_options {
	const struct plan *plan;
	const struct caps *caps;
	char *const *argv; /* argv[0] as given; PATH of the environment is searched */
	char *const *env;
	const char *cwd; /* NULL: stay; else entered after mounting (same place, new mounts) */
	const int *pass_fds;
	size_t n_pass_fds;
	const char *const
		*make_dirs;   /* created 0700 inside after mounting, NULL-terminated or NULL */
	const sigset_t *mask; /* the signal mask the command starts with */
	const char *scratch;  /* removed with all that is in it when the run is over; NULL: none */
	int scratch_lock;     /* kept open until then; -1: none */
	struct limits limits; /* those that rlimit_apply() is to set */
	struct str nested;    /* for the sandbox around us: nested_encode(). n 0: there is none */
};

struct spawned {
	pid_t child; /* ours: init, or its guard */
	pid_t init;
	pid_t command; /* in our pid namespace */
	int command_pidfd;
	int listener; /* seccomp notifications; -1: nothing is brokered */
	int control;  /* messages from init and command; closing it means "kill everything" */
	int go;       /* what the command waits for before exec */
	bool pid_ns;
	uint64_t network; /* ns_network_of() what it makes; 0: not its own, or the kernel does not
			     tell */
	long tasks; /* rlimit_count_tasks() of the command; 0: there is no limit on processes */
};

#define SPAWNED_NONE ((struct spawned){0, 0, 0, -1, -1, -1, -1, false, 0, 0})

/* What init and the command report on `control`, one packet each. */
struct spawn_message {
	enum spawn_message_kind {
		SPAWN_INIT,    /* init, if it has a guard: here it is */
		SPAWN_READY,   /* command: confined; value: its listener descriptor, -1: none;
				  network, tasks */
		SPAWN_FAILED,  /* either: stage, value: errno, detail */
		SPAWN_STOPPED, /* init: the command stopped; value: the signal */
		SPAWN_ENDED,   /* init: the command ended; value: wait status */
	} kind;
	enum spawn_stage stage;
	int value;
	int detail; /* STAGE_MOUNT: index of the mount row */
	uint64_t network;
	long tasks;
};

/*
 * Starts init and the command up to the point where the filter is on and the command waits for
 * spawn_go(): the caller has to serve the listener from then on. On failure nothing is left
 * running, *RET_FAILED (may be NULL) is the report (stage STAGE_DONE: it failed elsewhere).
 */
int spawn_start(const struct spawn_options *options, struct spawned *ret,
		struct spawn_message *ret_failed, struct err *e);

/* Lets the command exec. An exec that fails comes as SPAWN_FAILED, STAGE_EXEC. */
int spawn_go(struct spawned *spawned, struct err *e);

/*
 * The next message. 0; 1: init is gone, and without a pid namespace all it started; < 0 failure.
 * Blocks unless `control` is readable.
 */
int spawn_receive(const struct spawned *spawned, struct spawn_message *ret, struct err *e);

/* Kills what is left, waits until it is gone, closes descriptors. */
void spawn_end(struct spawned *spawned);

/* "could not ...": what the stage was about. */
const char *spawn_stage_text(enum spawn_stage stage);

#endif
