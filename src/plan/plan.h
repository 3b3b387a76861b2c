/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan: what the kernel will be told. A pure function of the policy and of
 * what the kernel can do (struct caps, plain data), so that every kernel from
 * 5.13 on is tested on any machine. apply has no decisions left in it.
 *
 * The only look at the disk is the `list` callback, asked for the few
 * directories on the way down to names the policy mentions (sibling grants).
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"

/* ---- What the kernel can do: filled by linux/probe, faked by tests ---- */

enum arch {
	ARCH_X86_64,
	ARCH_AARCH64,
};

struct caps {
	enum arch arch;
	int landlock_abi;   /* 0: none */
	bool notify;        /* a seccomp notify listener can be had */
	bool wait_killable; /* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (5.19) */
	bool userns;        /* an unprivileged user namespace with mount, pid, ipc and net inside */
	bool mount_proc;    /* a fresh procfs may be mounted in it */
	bool mount_setattr; /* and all that is mounted be made read-only at once (5.12) */
	bool pidfd_getfd;   /* descriptors of others can be fetched */
	bool root;          /* euid 0: the id map is the whole range, file capabilities stay */
	bool nested;        /* a filter of ours is upon us already */
	/*
	 * Whose broker takes policies of runs inside (plan/nested.h), since there can be no other
	 * listener. All 0 where there is none.
	 */
	struct outer {
		bool asks;
		unsigned classes; /* enum broker_class */
		unsigned scope;   /* enum scope: what is private to its run */
		uint64_t when;    /* struct plan */
	} outer;
};

/*
 * How a process learns that: landlock_create_ruleset(2) without attributes and with these flags,
 * which no kernel knows, fails with this error.
 */
enum {
	NESTED_FLAGS = 0x6c617062,
	NESTED_ERRNO = 114, /* EALREADY */
};

/* ---- Scope: what is shared with the host (DESIGN 15.1) ---- */

enum scope {
	SCOPE_PID = 1 << 0,
	SCOPE_IPC = 1 << 1,
	SCOPE_NET = 1 << 2,
	SCOPE_TMP = 1 << 3,
	SCOPE_SHM = 1 << 4,
	SCOPE_PTS = 1 << 5,
	SCOPE_ALL = (1 << 6) - 1,
};

/* ---- Input ---- */

enum entry_type {
	ENTRY_OTHER, /* file, device, socket */
	ENTRY_DIRECTORY,
	ENTRY_SYMLINK,
	ENTRY_PIPE, /* named */
};

/*
 * Calls EACH for every entry of the directory PATH but . and .. (until EACH returns non-zero, which
 * is returned). Returns 0; 1: PATH is not there, is no directory, or is or leads through a symlink;
 * 2: it may not be read.
 */
typedef int plan_list(void *context, const char *path,
		      int (*each)(void *each_context, const char *name, enum entry_type type),
		      void *each_context);

/*
 * The name that what PATH names had before it was mounted at PATH, too, into BUFFER
 * [PLAN_PATH_MAX]. False: it has none.
 */
typedef bool plan_first_name(void *context, const char *path, char *buffer);

enum {
	PLAN_PATH_MAX = 4096
};

/*
 * What an object may not gain by getting another name, ended by OP_COUNT. Where the answers to one
 * of them differ, moving and linking are judged.
 */
extern const enum op plan_move_ops[];

/* The same of what is no socket, and has none below it. */
extern const enum op *const plan_move_file_ops;

struct plan_input {
	const struct policy *policy;
	const struct caps *caps;
	unsigned private_scope; /* enum scope: what is private to the session */
	unsigned around; /* enum scope: what is private to the run around us instead (caps->outer)
			  */
	bool nested_userns; /* may the command make user namespaces? */
	bool nestable;      /* judge all that can be judged: a policy inside may deny some of it */
	bool inherits_network; /* it starts with sockets that are not unix's, of any network */
	/*
	 * Where /tmp is private to the session but no mount can make it so: the session's own
	 * folder in the shared /tmp, all that the command gets of it. n 0: not so.
	 */
	struct str scratch;
	/* Absolute, canonical paths that must stay visible when /tmp is private (DESIGN 15.2). */
	const struct str *keep;
	size_t n_keep;
	/* The same, to be read and executed only. */
	const struct str *show;
	size_t n_show;
	/* Canonical paths of the ELF interpreters (ld.so): programs do not start without. */
	const struct str *loaders;
	size_t n_loaders;
	bool lane; /* the library of the fast lane can be had */
	/* Where the command starts: the lane has to be of use there. n 0: it need not. */
	struct str cwd;
	/* It starts with a descriptor of a directory, or of something below /tmp or /dev/shm. */
	bool inherits_covered;
	bool inherits_files; /* it starts with a descriptor of a file or directory that has a name,
			      */
	bool inherits_devices; /* or of a device or terminal */
	plan_list *list;
	void *list_context;
	plan_first_name *first_name; /* NULL: nothing is mounted twice */
	void *first_name_context;
};

/* ---- Output ---- */

/* Landlock rights, our own constants: the distribution's header is older than the kernel. */
enum landlock_fs {
	LL_EXECUTE = 1 << 0,
	LL_WRITE_FILE = 1 << 1,
	LL_READ_FILE = 1 << 2,
	LL_READ_DIR = 1 << 3,
	LL_REMOVE_DIR = 1 << 4,
	LL_REMOVE_FILE = 1 << 5,
	LL_MAKE_CHAR = 1 << 6,
	LL_MAKE_DIR = 1 << 7,
	LL_MAKE_REG = 1 << 8,
	LL_MAKE_SOCK = 1 << 9,
	LL_MAKE_FIFO = 1 << 10,
	LL_MAKE_BLOCK = 1 << 11,
	LL_MAKE_SYM = 1 << 12,
	LL_REFER = 1 << 13,     /* ABI 2 */
	LL_TRUNCATE = 1 << 14,  /* ABI 3 */
	LL_IOCTL_DEV = 1 << 15, /* ABI 5 */
};

enum landlock_net {
	LL_NET_BIND_TCP = 1 << 0, /* ABI 4 */
	LL_NET_CONNECT_TCP = 1 << 1,
};

enum landlock_scoped {
	LL_SCOPED_ABSTRACT_UNIX = 1 << 0, /* ABI 6 */
	LL_SCOPED_SIGNAL = 1 << 1,
};

/* The rights the kernel of this ABI handles; 0 for ABI 0. */
uint32_t landlock_fs_handled(int abi);

/* The rights that may stand in a rule on something that is not a directory. */
#define LL_FS_FILE_RIGHTS (LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE | LL_IOCTL_DEV)

/*
 * "Below the directory PATH (or on PATH, which is none) the command has RIGHTS." A PATH that
 * vanished, has become the other kind or leads through a symlink is skipped.
 */
struct landlock_row {
	const char *path;
	uint32_t rights;
	bool directory;
};

enum mount_kind {
	MOUNT_PRIVATE_TMP, /* a tmpfs over path */
	MOUNT_PRIVATE_SHM, /* a tmpfs over path, mode 1777 */
	MOUNT_PRIVATE_PTS, /* a devpts of its own over /dev/pts: the session's terminals only */
	MOUNT_PROC,        /* procfs of the new pid namespace */
	MOUNT_HIDE,        /* an empty, unreadable directory or file over path, if path is there */
	MOUNT_KEEP,        /* what was at path before, at the same place inside the private /tmp */
	/*
	 * Where nobody can judge (hold.c): what is at path and below, over itself, so that it
	 * cannot be removed or renamed. These come last, outer ones first, and have to be there.
	 */
	MOUNT_READ_ONLY, /* nor changed, nor its attributes; of "/": all that is mounted */
	MOUNT_WRITABLE,  /* as it was, in what is read-only */
	MOUNT_MASK,      /* MOUNT_HIDE that has to be there; before the others */
};

enum {
	PLAN_MOUNTS_MAX = 1024
};

struct mount_row {
	enum mount_kind kind;
	const char *path;
	bool read_only; /* MOUNT_KEEP, MOUNT_HIDE, MOUNT_MASK */
};

/* Which classes of system calls the broker answers (DESIGN 6). */
enum broker_class {
	BROKER_WRITE = 1 << 0, /* create, open for write, unlink, rename, link, symlink, truncate */
	BROKER_READ = 1 << 1,  /* open for read */
	BROKER_ATTR = 1 << 2,  /* chmod, chown, utimes, xattr, their fd forms, access with W_OK */
	BROKER_UNIX = 1 << 3,  /* connect, bind, listen: unix sockets by path */
	BROKER_INET = 1 << 4,  /* connect, bind, listen: by address and port */
	BROKER_EXEC = 1 << 5,
	BROKER_SIGNAL = 1 << 6,
	/*
	 * The same calls on sockets that the command was started with, where IP is denied
	 * altogether: it can make none, or only in a network of its own.
	 */
	BROKER_INHERITED = 1 << 7,
};

/*
 * Calls that the fast lane serves: those that carry its mark (plan/lane.h) are not brokered, and
 * the floor bounds them.
 */
enum lane_class {
	LANE_READ = 1 << 0,        /* open(2) for reading, also directories */
	LANE_WRITE = 1 << 1,       /* for writing */
	LANE_READ_WRITE = 1 << 2,  /* for both */
	LANE_CREATE = 1 << 3,      /* for writing, with O_CREAT */
	LANE_CREATE_READ = 1 << 4, /* for both, with O_CREAT */
	LANE_NAMES = 1 << 5,       /* unlink, symlink */
	LANE_DIRECTORIES = 1 << 6, /* mkdir, rmdir */
	LANE_MOVE = 1 << 7,        /* rename, link */
	LANE_CLASSES = 8,
};

struct lane_closed {
	unsigned class; /* enum lane_class */
	const char *why;
};

/*
 * A `deny` rule with this message does not hold below a repository's `.git` that the session itself
 * made (DESIGN 9): new repositories write their own configuration. See broker/fresh.c.
 */
#define PLAN_NEW_REPOSITORY "lapbelt: new repository"

/* Gaps are data (DESIGN 2.3). */
enum gap_kind {
	GAP_CONTENT,  /* a denied read, write, exec, connection or signal would get through: refuse
		       */
	GAP_METADATA, /* only reveals metadata: listed */
	GAP_STRICTER, /* only denies too much: listed */
};

enum {
	GAP_OPS_MAX = 12
};

struct gap {
	enum gap_kind kind;
	/* Requests for these and the operations below them are answered otherwise; 0 ends them. */
	enum op ops[GAP_OPS_MAX];
	const struct rule *rule; /* NULL: about the whole policy */
	bool only_rule;          /* about what this rule decides; else it is an example */
	bool others; /* and of all rules that answer requests for OPS so, RULE (if any) is one */
	const char *const *paths; /* only about these; NULL: wherever. Ended by NULL */
	bool below_paths;         /* and about what is below them */
	const char *text;
	const char *help; /* what would close it; NULL: nothing known */
	bool stops; /* little would work with it: to be refused, too, unless somebody asks for it */
};

struct sock_filter; /* linux/filter.h: {u16 code; u8 jt, jf; u32 k} */

/* A seccomp instruction, laid out as struct sock_filter, so that this module builds anywhere. */
struct bpf_insn {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

enum ns {
	NS_USER = 1 << 0,
	NS_MOUNT = 1 << 1,
	NS_PID = 1 << 2,
	NS_IPC = 1 << 3,
	NS_NET = 1 << 4,
};

/* The first place where the floor could not say what the policy says. */
struct plan_parting {
	const char *path; /* NULL: there is none */
	unsigned group;   /* enum group: of which rights */
};

struct plan {
	unsigned ns;              /* enum ns */
	struct mount_row *mounts; /* in order */
	size_t n_mounts;

	uint32_t landlock_fs, landlock_net, landlock_scoped; /* handled */
	struct landlock_row *rows;
	size_t n_rows;

	unsigned brokered;   /* enum broker_class */
	unsigned for_inside; /* of these: only for what a policy inside may deny */
	bool nested;         /* by the broker of the sandbox around us */
	uint64_t when;       /* which rows of the filter count (plan/seccomp.h) */
	struct plan_parting parted_read, parted_write, parted_exec;
	/*
	 * Does the floor bound every open(2) that the kernel runs for the command itself? Not where
	 * programs must be executed that only the broker may open for reading: exec takes
	 * READ_FILE.
	 */
	bool floor_bounds_open;
	bool floor_bounds_openat2;                    /* and those whose mode is in memory, too */
	unsigned lane;                                /* enum lane_class */
	struct lane_closed lane_closed[LANE_CLASSES]; /* brokered classes that it does not serve */
	size_t n_lane_closed;
	struct bpf_insn *filter;
	size_t n_filter;

	struct gap *gaps;
	size_t n_gaps;
};

/* Everything in *RET lives in ARENA. -ERR_LIMIT, -ERR_MEMORY, -ERR_GAP (no Landlock at all, or
 * more than mounts can hold). */
int plan_make(const struct plan_input *input, struct arena *arena, struct plan *ret, struct err *e);

/* Is PATH at or below a mount of KIND? */
bool plan_is_mounted(const struct plan *plan, enum mount_kind kind, struct str path);

/* Is one at PATH itself? */
bool plan_is_mount(const struct plan *plan, enum mount_kind kind, struct str path);

/* Is ROW one of those that hold what is denied (plan/hold.h), besides masks? */
bool plan_is_of_holding(const struct mount_row *row);

/*
 * Is PATH in what a mount makes read-only, or hides by something that is? Devices that are not
 * hidden can be written all the same.
 */
bool plan_is_read_only(const struct plan *plan, struct str path);

/* The first gap that must stop the run under the default line (GAP_CONTENT, `stops`), or NULL. */
const struct gap *plan_refusal(const struct plan *plan);

/* ---- The report (report.c): what a plan means for each rule, and what it costs ---- */

enum mechanism {
	BY_FLOOR = 1 << 0,
	BY_HIDING = 1 << 1,    /* a mount over what is denied */
	BY_NAMESPACE = 1 << 2, /* report.ns */
	BY_FILTER = 1 << 3,
	BY_BROKER = 1 << 4,  /* report.classes */
	BY_MOUNTS = 1 << 6,  /* read-only mounts */
	BY_NOTHING = 1 << 5, /* of some of its operations nothing is denied, or it is never asked */
};

/* One form of the profile, which may have entered several rules. */
struct rule_report {
	const struct rule *rule; /* the first of them */
	size_t n_rules;
	bool applies;     /* can it allow or deny anything on Linux? */
	unsigned by;      /* enum mechanism: what makes it hold, as far as no gap says otherwise */
	unsigned ns;      /* enum ns: of BY_NAMESPACE */
	unsigned classes; /* enum broker_class: of BY_BROKER */
	const struct gap **gaps; /* of the plan */
	size_t n_gaps;
};

/* A system call that is brokered. */
struct call_report {
	const char *name; /* NULL ends a list */
	bool sometimes;   /* it depends on its arguments */
};

struct class_report {
	enum broker_class class; /* 0: what the broker has to know of its callers */
	const struct call_report *calls;
	/*
	 * What being brokered adds to a call, in opens of a file that are not: an estimate. A call
	 * by itself may take less than one (kill) or a hundred (execve).
	 */
	unsigned opens;
	const char *why;         /* why the class is brokered; one sentence without a dot */
	const char *path;        /* the answers differ here or below; NULL: it is not about paths */
	const struct rule *rule; /* the first that makes them differ; NULL: no rule does */
};

/* A limit on what the run uses up, as the session holds it. */
struct limit_report {
	const char *name;
	uint64_t value;
	const char *by;
	const char *grip; /* "exact", "approximated", "not enforced" */
	const char *why;  /* it is no better; NULL: it is exact */
};

struct report {
	struct rule_report *rules; /* in the order in which they count */
	size_t n_rules;
	struct class_report *classes;
	size_t n_classes;
	const struct gap **gaps; /* those that no rule has */
	size_t n_gaps;
	const struct limit_report *limits; /* the caller's */
	size_t n_limits;
};

/* PLAN is what plan_make() made of INPUT. Everything in *RET lives in ARENA. 0 or -ERR_MEMORY. */
int plan_report(const struct plan *plan, const struct plan_input *input, struct arena *arena,
		struct report *ret, struct err *e);

/* What REPORT and PLAN have, for people. */
void plan_print(const struct plan *plan, const struct plan_input *input,
		const struct report *report, struct buf *ret);

/* The same as JSON (lapbelt-plan(1) has the keys). */
void plan_print_json(const struct plan *plan, const struct plan_input *input,
		     const struct report *report, struct buf *ret);

/* ---- Signals (signal.c): for the planner and the broker ---- */

enum signal_side {
	SIGNAL_INSIDE, /* processes of the sandbox */
	SIGNAL_OUTSIDE,
};

enum {
	SIGNAL_NUMBERS = 128 /* of macOS, and above them those that only Linux has */
};

/* What POLICY can answer about signal NUMBER (Darwin's) to processes of SIDE: enum verdict_set. */
unsigned plan_signal_verdicts(const struct policy *policy, enum signal_side side, int number);

/* ---- Simulators ---- */

/* struct seccomp_data, spelled out. */
struct seccomp_call {
	int nr;
	uint32_t arch; /* AUDIT_ARCH_* */
	uint64_t instruction_pointer;
	uint64_t args[6];
};

/* Runs FILTER as the kernel would. Returns the SECCOMP_RET_* value; KILL_PROCESS for bad programs.
 */
uint32_t bpf_simulate(const struct bpf_insn *filter, size_t n, const struct seccomp_call *call);

/* Does the Landlock floor of PLAN grant RIGHTS on PATH (canonical)? */
bool landlock_simulate(const struct plan *plan, const char *path, uint32_t rights);

#endif
