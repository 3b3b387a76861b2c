/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planner: what the stages of plan_make() share. They run in this order, each
 * in a file of its own, and each only adds to the plan:
 *
 *	facts    what the policy says as a whole
 *	mounts   namespaces and mounts
 *	floor    Landlock rows, and what they could not express; where nobody can judge, mounts
 *	         (hold.c)
 *	classes  what the broker has to answer, and what Landlock handles beside files
 *	lane     which of those the floor bounds, so that programs may try them first
 *	seccomp  the filter
 *	gaps     what nobody enforces
 */
#ifndef PLAN_PLANNER_H
#define PLAN_PLANNER_H

#include "plan/plan.h"

/* ---- Shared state ---- */

/* Sets are of enum verdict_set. */
struct facts {
	unsigned exec;         /* starting programs, over all paths */
	unsigned exec_unnamed; /* those that have no path */
	unsigned nodes;        /* device nodes, over all paths */
	unsigned create;       /* over all paths */
	unsigned write_data;   /* over all paths */
	unsigned attributes;   /* mode, owner, times, xattr, flags: over all paths */
	unsigned flags;        /* inode flags alone */
	unsigned setugid;      /* over all paths */
	unsigned unix_socket;  /* connect, bind, listen: over all paths and abstract names */
	bool listen_apart;     /* listening can be denied where binding is allowed */
	unsigned inet_out[2];  /* connect and send: enum transport */
	unsigned inet_in[2];   /* bind and listen */
	unsigned inet_other;   /* all of it, of IP sockets that are neither TCP nor UDP */
	unsigned no_address;   /* all of it, of sockets whose addresses rules cannot name */
	unsigned fork;
	unsigned signal_inside, signal_outside; /* to processes of the sandbox, and to all others */
	unsigned system_socket;
	unsigned other_families; /* sockets of other families than unix and IP */
	unsigned sysv_shm, sysv_sem, sysv_msg, posix_mq;
};

enum transport {
	TRANSPORT_TCP,
	TRANSPORT_UDP,
};

/* A list of paths for a gap's text. */
struct paths {
	const char **list;
	size_t n, cap;
};

/* PATH is not copied. False: no memory. */
static inline bool paths_append(struct paths *paths, struct arena *arena, const char *path)
{
	const char **list = arena_grow(arena, paths->list, paths->n, &paths->cap, sizeof(*list));

	if (!list)
		return false;
	paths->list = list;
	list[paths->n++] = path;
	return true;
}

/* Where the floor and the policy differ. */
struct floor_report {
	bool read, write, exec; /* something the policy allows is not granted */
	bool ioctl;
	unsigned processes;     /* enum broker_class: what their files in /proc would need */
	struct paths late;      /* entries that appear here later are not granted */
	struct paths late_data; /* and these cannot be written */
	struct paths crowds;    /* reads here differ from name to name, and nobody judges them */
	struct paths roots;     /* the policy lets these go, the floor does not */
	struct paths inert;     /* what is made anew here cannot be executed */
	struct paths again;     /* mounted a second time, and denied at the first name */
	struct paths unlisted;  /* the policy lets these be listed, the floor does not */
	bool lists_too_much;    /* names below denied directories can be listed */
	bool exec_raced; /* denied programs lie among granted ones, told apart by name only */
	bool exec_reads; /* READ_FILE was granted for the sake of exec(2) */
	bool loader;     /* an ELF interpreter was granted beyond the policy */
};

/* What no mount holds (content), or mounts hold too much of (stricter). */
enum unheld_why {
	UNHELD_ABSENT,      /* it is not there yet */
	UNHELD_PATTERN,     /* which names there are is not known */
	UNHELD_LINK,        /* no mount can stand on a symlink */
	UNHELD_UNSEEN,      /* a directory that cannot be listed, or has too many entries */
	UNHELD_PIPES,       /* a directory that was not looked through for them */
	UNHELD_ATTRIBUTES,  /* they may not be changed, but contents may */
	HELD_IN_PLACE,      /* it may be removed or renamed, but what is denied lies in it */
	HELD_DEVICES,       /* they may be read */
	UNHELD_ABSENT_READ, /* it is not there yet, and may not be read */
	UNHELD_PATTERN_READ,
	UNHELD_UNSEEN_READ,
	HELD_HIDDEN, /* it may be more than looked at */
	HELD_WHOLE,  /* some of it, or some of what may be done with it, is allowed */
	UNHELD_COUNT
};

struct unheld {
	enum unheld_why why;
	const struct rule *rule; /* that denies; may be NULL */
	const char *path;
};

struct held {
	bool on;         /* there are mounts for what nobody can judge */
	bool all;        /* "/" may be written, so that it is not made read-only */
	bool truncation; /* what is mounted writable may be truncated against the policy */
	bool too_many;
	size_t first;      /* of the plan's mounts */
	policy_state base; /* of any name in the region at hand: it and all below are as others */
	unsigned listed;   /* directories */
	unsigned looked;   /* entries of read-only ones */
	struct unheld *list;
	size_t n, cap;
	bool failed; /* out of memory */
};

struct planner {
	const struct plan_input *input;
	const struct policy *policy;
	const struct caps *caps;
	struct arena *arena;
	struct plan *plan;
	struct facts facts;
	struct floor_report floor;
	struct held held;
	unsigned needed;      /* enum broker_class, whether or not there is a listener */
	bool no_inet;         /* the filter refuses IP sockets altogether */
	bool tcp_udp_only;    /* or all but TCP and UDP, */
	bool no_others;       /* and those of other families than unix and IP, */
	bool too_many_hidden; /* so none is */
	bool netlink;         /* but for route netlink */
	size_t mounts_cap, rows_cap, gaps_cap;
};

static inline bool is_private(const struct planner *p, enum scope scope)
{
	return (p->input->private_scope & scope) != 0;
}

/* Private to the run around us, which shares it with ours. */
static inline bool is_around(const struct planner *p, enum scope scope)
{
	return (p->input->around & scope) != 0;
}

/* Can calls of CLASS (enum broker_class) be judged one by one? */
static inline bool can_broker(const struct planner *p, unsigned class)
{
	/* Who is asked about all sockets of a kind is asked about those from before. */
	if (class & BROKER_INHERITED)
		class |= BROKER_INET;
	return p->caps->notify || (p->caps->outer.asks && (p->caps->outer.classes & class));
}

static inline bool has_ns(const struct planner *p, enum ns ns)
{
	return (p->plan->ns & ns) != 0;
}

/*
 * Must the broker make the sockets that it judges? It could not fetch them from their owners. Where
 * writes are judged, these are all that may be bound: a unix socket makes a name.
 */
static inline bool needs_held(const struct planner *p)
{
	return !p->caps->pidfd_getfd &&
	       (p->plan->brokered & (BROKER_UNIX | BROKER_INET | BROKER_INHERITED | BROKER_WRITE));
}

/* ---- Stages ---- */

void facts_collect(struct planner *p);
void hold_decide(struct planner *p);
int mounts_plan(struct planner *p, struct err *e);
int floor_plan(struct planner *p, struct err *e);
void classes_plan(struct planner *p);
void lane_plan(struct planner *p);
int seccomp_plan(struct planner *p, struct err *e);
int gaps_plan(struct planner *p, struct err *e);

/* One gap more. 0, or -ERR_MEMORY. */
int gap_add(struct planner *p, struct gap gap);

/* TEXT, and some of PATHS; and all of them, as data (NULL: no memory). In the planner's arena. */
char *gap_list_paths(struct planner *p, const struct paths *paths, const char *text);
const char *const *gap_end_paths(struct planner *p, const struct paths *paths);

/* Those of what mounts hold in place of a broker (hold.c). 0, or -ERR_MEMORY. */
int gaps_of_holding(struct planner *p);

/* One mount more. 0, or -ERR_MEMORY. */
int mounts_add(struct planner *p, enum mount_kind kind, struct str path, bool read_only);

/* Those of a run inside another sandbox (inside.c). 0, or -ERR_MEMORY. */
int gaps_inside(struct planner *p);

/* Does the sandbox around us refuse IP sockets, so that nobody has to judge them? */
bool is_inet_refused_outside(const struct planner *p);

/* Is PATH a directory, as far as one can see? Asks the list callback. */
bool path_is_directory(const struct planner *p, struct str path);

/* ---- Questions about the policy (facts.c) ---- */

/* What OP can answer at any path, and without one. */
unsigned verdicts_anywhere(const struct policy *policy, enum op op);

/* What OP can answer for something that has no path. */
unsigned verdicts_pathless(const struct policy *policy, enum op op);

/* What OP can answer at PATH and below it. */
unsigned verdicts_under(const struct policy *policy, struct str path, enum op op);

/* The rule that denies OP where nothing more special decides, or NULL. */
const struct rule *rule_denying(const struct policy *policy, enum op op);

/* That, or another that makes moving differ from name to name. */
const struct rule *rule_at_stake(const struct policy *policy, enum op op);

/* Is OP, or what falls to it, judged on Linux, unless a gap says otherwise? (applies.c) */
bool op_is_judged(enum op op);

/* Does Linux have OP, or something that falls to it? (applies.c) */
bool op_applies(enum op op);

/* Is OP refused whatever the policy says? (applies.c) */
bool op_is_refused(enum op op);

/* Can RULE allow or deny anything on Linux? (applies.c) */
bool rule_applies(const struct rule *rule);

/* Can a rule for FROM decide OP? */
bool op_inherits(enum op op, enum op from);

/* Is MATCH the path of one object or one tree? */
static inline bool is_fixed(enum match match)
{
	return match == MATCH_LITERAL || match == MATCH_SUBPATH;
}

#endif
