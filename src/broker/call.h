/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the broker: one notified system call and what its handlers share. */
#ifndef BROKER_CALL_H
#define BROKER_CALL_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/str.h"
#include "broker/broker.h"
#include "broker/fresh.h"
#include "plan/nested.h"

struct held_sockets;
struct pending;

/* Calls that wait (pending.c), those whose turn is next first. */
struct pending_queue {
	pthread_mutex_t lock;
	struct pending *first, *last;
	unsigned n;
};

enum {
	DEAF_MAX = 1024
};

/* One policy that callers are under, with its scope and what else is its own. */
struct layer {
	const struct policy *policy;
	const struct plan_input *input;
	const struct plan *plan; /* of a run inside only what struct nested has */
	struct fresh fresh;
	struct inner_run *run; /* NULL: the sandbox's own */
};

/* Runs inside (nested.c). */
struct inner_runs {
	pthread_mutex_t lock; /* of what follows */
	struct inner_run *first;
	unsigned n;
	unsigned lost;            /* the filters of what is, nested.c; UINT_MAX: nothing is */
	pthread_mutex_t building; /* a policy of one */
	atomic_bool any;          /* there are some, or one is lost */
	unsigned filters;         /* that the command started with; UINT_MAX: unknown */
};

/* handing.c: how many descriptors that were given with an answer are still open here. */
struct handing {
	atomic_uint phase; /* its last bit: which of the two new ones count in */
	atomic_uint open[2];
	pthread_mutex_t lock; /* of who waits */
};

struct broker {
	struct layer own;
	struct inner_runs runs;
	const struct plan_input *input; /* these two are own's */
	const struct plan *plan;
	int listener;
	int stop;                     /* eventfd */
	_Atomic(const char *) broken; /* why it cannot go on, in words; NULL: it can, or errno says
				       */
	int root; /* the sandbox's root directory; chroot and friends are refused, so it is one */
	int proc; /* our own /proc */
	int pids; /* the procfs that counts processes as the sandbox does */
	dev_t own_proc_device; /* of the sandbox's /proc */
	pid_t init;
	bool own_proc;    /* the sandbox sees a procfs of its own pid namespace at /proc */
	bool stray_procs; /* some procfs is mounted elsewhere too */
	bool own_pts;     /* /dev/pts is a devpts of the session */
	uint64_t network; /* the session's own, as ns_network_of() has it; 0: none, or unknown */
	dev_t own_tmp,
		own_shm; /* the devices of a private /tmp and /dev/shm; 0: not private mounts */
	mode_t initial_umask;      /* the command's at its start */
	atomic_bool umask_changed; /* somebody inside has called umask(2) since */
	atomic_bool ids_changed;   /* or one of setuid(2) and its kin */
	struct pending_queue pending;
	struct handing handing;
	/* Who changes names, or what follows, has the turn. */
	pthread_mutex_t turn;
	bool shared_shm; /* /dev/shm is private in name only: `shm` says what is ours in it */
	struct made shm;
	struct held_sockets *held; /* held.c; NULL: none */
	uint64_t deaf[DEAF_MAX];   /* SO_COOKIE of unix sockets bound to where nobody may listen */
	unsigned n_deaf;
	struct socket_name *socket_names; /* sockname.c */
	size_t n_socket_names;
};

/* A system call that waits for its answer. Handlers answer it exactly once. */
struct call {
	struct broker *broker;
	int listener;
	uint64_t id;
	pid_t tid; /* the calling thread, in our pid namespace */
	int nr;
	uint64_t args[6];
	/* The policies the caller is under, the sandbox's own first: all have to allow. 0: unknown,
	 * and nothing is allowed. */
	struct layer *layers[NESTED_LAYERS_MAX];
	unsigned n_layers;
	int interrupted; /* what a signal ends its waiting with; 0: as SA_RESTART says */
	bool answered;
	bool is_done; /* nothing is to be sent: the caller goes on, or a copy of this is the call */
	bool has_turn;
	/* The answer. */
	int64_t value;
	int error;
	unsigned flags;
};

/* Gives CALL to its handler, and its answer to the caller. */
void call_dispatch(struct call *call);

/* Waits until no other call changes names, for as long as CALL is handled. */
void call_take_turn(struct call *call);

/*
 * ---- Answers (call.c) ----
 *
 * They are sent when the handler has let go of all that it held, duplicates of the caller's
 * descriptors above all: what the caller closes next is then closed. Locks end with that, that a
 * file cannot be executed (ETXTBSY), that an address is in use. Files that are opened are let go of
 * just after: handing.c says how nobody can tell.
 */

void call_send(const struct call *call);

void call_error(struct call *call, int error); /* errno value, > 0 */
void call_value(struct call *call, int64_t value);

/* R as returned by a system call of ours: its value, or errno. */
void call_result(struct call *call, long r);

/* The kernel runs the call after all. See broker.h for when that is sound; say why at each use. */
void call_continue(struct call *call);

/*
 * The error of a denied act that takes MODE (R_OK ...) on FD: what it would be without us, if it
 * would fail then too, else EPERM.
 */
int call_denial(int fd, int mode);

/* Gives the caller a duplicate of FD (kept by us) as its new descriptor and answers with it. */
void call_fd(struct call *call, int fd, bool cloexec);

/* As call_fd(), in half the time: the caller goes on while we hold FD still. */
void call_fd_at_once(struct call *call, int fd, bool cloexec);

/*
 * ---- Descriptors for writing (handing.c) ----
 */

/*
 * Gives the caller *FD, just opened, which is then closed and no longer ours; not if there is an
 * error. TELLS: it writes, or is no file, so that somebody can tell how long it is open here: it
 * stays a moment longer than the call, in half the time, only where nobody can after all.
 */
void handing_give(struct call *call, int *fd, bool cloexec, bool tells);

/* Waits until all that was handed over before is closed; some seconds at most. */
void handing_wait(struct broker *broker);

/* Is the caller still waiting? After it was killed its pid may be somebody else's. */
bool call_is_alive(const struct call *call);

/* ---- The caller's memory, copied once. 0, or -1 with errno EFAULT, ENAMETOOLONG, ESRCH ---- */

int call_read(const struct call *call, uint64_t address, void *to, size_t n);

/* The other way round: for results only. */
int call_write(const struct call *call, uint64_t address, const void *from, size_t n);

/* A NUL-terminated string into TO of SIZE bytes. */
int call_read_string(const struct call *call, uint64_t address, char *to, size_t size);

/* ---- The caller (caller.c) ---- */

/*
 * A duplicate of the caller's descriptor FD (pidfd_getfd): the same open file. -1 with errno. Where
 * that is refused to us (caller_lends() false) there are only sockets that held.c keeps, and what
 * can be done by the two below.
 */
int caller_fd(const struct call *call, int fd);
bool caller_lends(const struct call *call);

/* An O_PATH descriptor of what the caller's FD, which is none itself, is open on. -1 with errno. */
int caller_object(const struct call *call, int fd);

/*
 * proc_pid_fdinfo(5) of descriptor FD of TID: one open file's, whatever FD means by the next look.
 * 0, or -1 with errno, EBADF among them.
 */
int caller_fdinfo(const struct broker *broker, pid_t tid, int fd, char *text, size_t size);

/* Is TEXT, from there, of an open file on what ST and MOUNT (statx(2)) say? Since 5.14. */
bool fdinfo_is_of(const char *text, const struct stat *st, uint64_t mount);

/* The mount of FD, ours, for that. 0: cannot be told. */
uint64_t mount_of(int fd);

/* An O_PATH descriptor of the caller's directory DIRFD, or AT_FDCWD. -1 with errno. */
int caller_directory(const struct call *call, int dirfd);

/* This thread, with a file system context of its own, begins to act for callers. */
void caller_begin(mode_t umask);

/* Takes on the caller's umask and file system ids for the next act of ours. 0, or -1 with errno. */
int caller_assume(const struct call *call);

/*
 * Once a process has changed its ids, what is in its /proc directory is root's; it may search its
 * own `fd` all the same. Others may not, so we look there as ourselves, until caller_assume().
 */
void caller_put_off(const struct call *call);

/* openat(2) of what is the caller's own: its descriptors, the directory of them. */
int caller_open_own(const struct call *call, int dir, const char *path, int flags);

/* As caller_assume() by its real ids, as access(2) wants it. */
int caller_assume_real(const struct call *call);

/* CAP_KILL in addition, as far as we have it: the target has been judged by the caller's ids. */
int caller_assume_kill(const struct call *call); /* 0, or -1 with errno */

/* Are the caller's effective ids those of this process? */
bool caller_has_our_ids(const struct call *call);

/* Does a signal wait for the caller that it does not block or ignore? */
bool caller_has_signal(const struct call *call);

/* RLIMIT_FSIZE of the caller; UINT64_MAX: none, or unknown. */
uint64_t caller_file_limit(const struct call *call);

/* A signal that the kernel would send to the calling thread. */
void caller_signal(const struct call *call, int number);

/* The umask of a process. 0, or -1 with errno. */
int caller_umask_of(pid_t pid, mode_t *ret);

/* The caller's process (thread group) id here, and both ids as its own /proc shows them. */
struct caller_pids {
	pid_t tgid, shown_tgid, shown_tid;
};
int caller_pids(const struct call *call, struct caller_pids *ret); /* 0, or -1 with errno */

/* Is PID (in our pid namespace) part of this sandbox, init excluded? */
bool caller_is_inside(const struct broker *broker, pid_t pid);

/* Does a process of the session of LAYER hold the master of /dev/pts/NUMBER? (pty.c) */
bool pty_is_ours(const struct call *call, const struct layer *layer, long number);

/* ---- Runs inside (nested.c) ---- */

/* Finds CALL's layers. 0, or -1: it cannot be told. */
int nested_enter(struct call *call);

/* They are not asked any more. */
void nested_leave(struct call *call);

/* Does the policy of LAYER hold for PID, as we count (SHOWN: as the sandbox does)? */
bool layer_has(struct broker *broker, const struct layer *layer, pid_t pid, bool shown);

/* The innermost of them. */
static inline struct layer *innermost(const struct call *call)
{
	return call->layers[call->n_layers - 1];
}

/* May sockets that were bound to a path by FD's owner listen, as far as runs inside are concerned?
 */
bool nested_may_listen(const struct call *call, uint64_t cookie);
void nested_note_bound(const struct call *call, uint64_t cookie);

/* What fresh.h has to know, for every layer. */
void nested_made(const struct call *call, struct str path);
void nested_removed(struct broker *broker, struct str path);
void nested_moved(const struct call *call, struct str from, struct str to);

int nested_set_up(struct broker *broker, pid_t command);
void nested_free(struct broker *broker);

/* ---- Places (resolve.c) ---- */

/* Where a path leads, pinned. */
struct place {
	int dir;    /* O_PATH: the directory that holds `name`; -1: only the object is known */
	int object; /* O_PATH: the object itself; -1: not pinned (it may not exist) */
	char name[PATH_MAX]; /* last component; "" with dir -1. Too long ones are for the kernel to
				refuse */
	bool trailing_slash; /* the path insists on a directory */
	char path[2 * PATH_MAX]; /* canonical, in the sandbox's view; "": it never had a name */
	size_t path_n;
	policy_state states[NESTED_LAYERS_MAX]; /* of each layer, after walking path */
	dev_t device; /* below a private mount: of the object, or of the directory; else 0 */
	ino_t inode;  /* of what has the name, as judged; 0: what has it at that moment */
};

#define PLACE_NONE ((struct place){.dir = -1, .object = -1})

static inline struct str place_path(const struct place *place)
{
	return (struct str){place->path, place->path_n};
}

void place_release(struct place *place);
#define cleanup_place __attribute__((cleanup(place_release)))

/* What is to be looked up, and how. */
struct lookup {
	int dirfd;        /* the caller's, or AT_FDCWD */
	const char *path; /* our copy */
	uint64_t resolve; /* RESOLVE_ flags of openat2(2) but RESOLVE_CACHED; 0: as other calls do
			   */
};

/*
 * Pins the directory of PATH's last component, which is not looked at: for calls that make, remove
 * or rename names. -1 with errno. EEXIST: there is no such component, ret->name says what is there
 * instead: "/", "." or "..".
 */
int resolve_name(const struct call *call, int dirfd, const char *path, struct place *ret);

int resolve_name_as(const struct call *call, const struct lookup *lookup, struct place *ret);

/* The place called NAME, one component, in the directory of PLACE. 0, or -1 with errno. */
int resolve_beside(const struct call *call, const struct place *place, const char *name,
		   struct place *ret);

/*
 * Pins the object PATH leads to. FOLLOW: through a symlink at the end. An empty PATH is the object
 * of DIRFD itself where EMPTY_OK. -1 with errno.
 */
int resolve_object(const struct call *call, int dirfd, const char *path, bool follow, bool empty_ok,
		   struct place *ret);

int resolve_object_as(const struct call *call, const struct lookup *lookup, bool follow,
		      struct place *ret);

/* As resolve_name_as() for the text of the symlink at LINK, found by LOOKUP: where it points, there
 * or not. */
int resolve_link(const struct call *call, const struct lookup *lookup, const struct place *link,
		 struct place *ret);

/* Pins what is called PLACE->name in PLACE->dir, a symlink itself, as `object`. 0, or -1 with
 * errno. */
int resolve_last(const struct lookup *lookup, struct place *place);

/* The place of an open file of the caller's; FD is ours. path "" if it has no name. */
int resolve_fd(const struct call *call, int fd, struct place *ret);

/* "/proc/self/fd/N" of ours: a path that means exactly the pinned object. */
struct fd_path {
	char text[32];
};
struct fd_path fd_path(int fd);

/* ---- Decisions (judge.c) ---- */

struct subject {
	const struct place *place;
	enum vnode_type vnode_type; /* VNODE_UNKNOWN: absent */
	bool has_mode;
	mode_t mode;
	const char *xattr; /* NULL: absent */
	dev_t device;      /* of a device node; 0: absent */
};

struct stat;

/* What is at PLACE, with all that filters can ask about it. */
struct subject subject_of(const struct place *place, const struct stat *st);

bool judge(const struct call *call, enum op op, const struct subject *subject);

/* As judge() for a request whose path is PLACE and whose other attributes are set. */
bool judge_request(const struct call *call, const struct place *place, struct request *request);

/* May the session do what REQUEST, which is not about a path, says? */
bool judge_pathless(const struct call *call, const struct request *request);

/* The same, as far as LAYER is concerned. */
bool layer_allows(const struct layer *layer, const struct request *request);

enum vnode_type vnode_type_of(mode_t mode);

/* May what is at FROM, of MODE, be moved or linked to TO without becoming more permitted? */
bool judge_move(const struct call *call, const struct place *from, const struct place *to,
		mode_t mode);

/* Does a verdict about PLACE depend on which object is there, of whatever kind? */
bool judge_by_inode(const struct broker *broker, const struct place *place);

/* A name was made, removed or moved: what the scope has to remember. */
void judge_made(struct broker *broker, const struct place *place);
void judge_removed(struct broker *broker, const struct place *place);
void judge_moved(struct broker *broker, const struct place *from, const struct place *to);

/* Removes what the session left in a shared /dev/shm; nobody calls any more. */
void judge_clean_up(struct broker *broker);

/* ---- Names of sockets (sockname.c) ---- */

uint64_t socket_cookie(int fd); /* SO_COOKIE; 0: none */

/* The socket FD was bound to PATH, as its owner calls it. */
void socket_name_note(struct broker *broker, int fd, const char *path);

/* ---- Sockets that the broker makes (held.c); all of it by who has the turn ---- */

/* A duplicate of the socket FD of the caller's. -1 with errno; EISCONN: it was let go. */
int held_fd(const struct call *call, int fd);

/* The socket FD, a duplicate of one that is held, is connected or listens. */
void held_let_go(struct broker *broker, int fd);

/* It is about to be connected; then held_settle() lets it go. */
void held_connecting(struct broker *broker, int fd);
void held_bound(struct broker *broker, int fd); /* soon nobody may have it any more */
bool held_settle(struct broker *broker);        /* does any wait for it? */

/* Lets go of those that nobody inside has any more; true: of some. */
bool held_sweep(struct broker *broker);
void held_free(struct broker *broker);

/* ---- Handlers: one per system call, in the table of broker.c ---- */

void handle_open(struct call *call); /* open, openat, creat */
void handle_openat2(struct call *call);
void handle_mkdir(struct call *call);  /* mkdir, mkdirat */
void handle_mknod(struct call *call);  /* mknod, mknodat */
void handle_unlink(struct call *call); /* unlink, unlinkat, rmdir */
void handle_symlink(struct call *call);
void handle_link(struct call *call);
void handle_rename(struct call *call);
void handle_flags(struct call *call); /* ioctl: FS_IOC_SETFLAGS and its kin */
void handle_memfd(struct call *call); /* memfd_create */
void handle_truncate(struct call *call);
void handle_access(struct call *call);
void handle_chmod(struct call *call);
void handle_chown(struct call *call);
void handle_utimes(struct call *call);
void handle_xattr(struct call *call);
void handle_connect(struct call *call);
void handle_bind(struct call *call);
void handle_listen(struct call *call);
void handle_socket(struct call *call);
void handle_getsockname(struct call *call);
void handle_exec(struct call *call);
void handle_signal(struct call *call);
void handle_signal_pidfd(struct call *call);
void handle_owner(struct call *call); /* fcntl F_SETOWN */
void handle_fcntl(struct call *call); /* that, locks and leases */
void handle_lock(struct call *call);
void handle_process(struct call *call); /* prlimit, setpriority ... on another process */
void handle_umask(struct call *call);
void handle_nested(struct call *call); /* landlock_create_ruleset: plan/nested.h */
void handle_setids(struct call *call);

/* ---- A serving thread (apart.c) ---- */

/*
 * Calls RUN in a thread that has a file system context (root, working directory, umask) of its own
 * and is otherwise the calling one, with all signals blocked. Returns when it has. -1 with errno:
 * there can be none.
 */
int apart(void (*run)(void *data), void *data);

/* ---- Calls that would block (pending.c) ---- */

/*
 * Tries again later: RETRY gets the call and DATA (malloc'd, freed by pending) until it has
 * answered or the caller is gone. RELEASE (may be NULL) lets go of what DATA holds.
 */
void pending_add(struct call *call, void (*retry)(struct call *call, void *data),
		 void (*release)(void *data), void *data);

/* Tries some of them. */
void pending_retry(struct broker *broker);

bool pending_any(struct broker *broker);

void pending_free(struct broker *broker);

/* CLOCK_MONOTONIC. */
int64_t clock_ms(void);

#endif
