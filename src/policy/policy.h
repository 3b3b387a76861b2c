/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: the compiled, immutable meaning of a profile.
 *
 * Rules go in through a builder (one per front end run), policy_build() turns
 * them into one automaton over path bytes plus small guards, and from then on
 * nothing changes: policy_decide() allocates nothing, does no I/O and may run
 * in any thread or process.
 *
 * Decision semantics (reference/SBPL.md 5.1):
 *
 *	decide(op):
 *	  among the FILTERED rules entered for exactly op, the LAST whose filter matches decides;
 *	  else the last UNFILTERED rule of op decides, wherever it stands;
 *	  else, if op is terminal, its built-in default decides;
 *	  else op := parent(op);   `default` without a rule denies.
 *
 * Rules of ORIGIN_RUNTIME (what we add so that a dynamic program can start)
 * count only where no filtered rule of the profile matched: they are asked when
 * the answer would come from an unfiltered rule or a built-in default and would
 * be deny. An unfiltered one of theirs stands back behind an unfiltered rule of
 * the profile for the same operation or a more special one.
 *
 * This module is pure: it never looks at the disk.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* ---- Names ---- */

enum op {
#define OP(symbol, name, parent, builtin, categories) OP_##symbol,
#include "policy/ops.def"
#undef OP
	OP_COUNT
};

enum filter_id {
#define FILTER(symbol, name, category, argument) FILTER_##symbol,
#include "policy/filters.def"
#undef FILTER
	FILTER_COUNT
};

enum modifier_id {
#define MODIFIER(symbol, name, actions, argument) MODIFIER_##symbol,
#include "policy/modifiers.def"
#undef MODIFIER
	MODIFIER_COUNT
};

/* Which system's fine print decides: case of names, /private, mapped addresses (DESIGN 5, 15.7). */
enum target {
	TARGET_LINUX,
	TARGET_DARWIN,
};

enum verdict {
	VERDICT_DENY,
	VERDICT_ALLOW,
};

/* ---- Filters ---- */

enum match {
	MATCH_LITERAL,
	MATCH_PREFIX,
	MATCH_SUBPATH,
	MATCH_REGEX,
	MATCH_INTEGER,  /* number equals */
	MATCH_BITS,     /* all bits of number are set */
	MATCH_BOOL,     /* attribute is present (number: the wanted truth) */
	MATCH_ENDPOINT, /* network address */
	MATCH_STRING,   /* an opaque string, compared whole */
};

/* Protocol words as SBPL numbers them: 1 v4, 2 v6, 4 tcp, 8 udp; unix stands alone. */
enum proto {
	PROTO_IP4 = 1,
	PROTO_IP6 = 2,
	PROTO_TCP = 4,
	PROTO_UDP = 8,
	PROTO_UNIX = 16,
};

enum {
	PORT_ANY = -1
};

/* `remote tcp "localhost:80"`. An unset rule pattern host means `*`. */
struct endpoint_pattern {
	unsigned proto;
	bool localhost; /* else `*` */
	int port;       /* or PORT_ANY */
};

/* One test of one attribute of a request. */
struct test {
	enum filter_id filter;
	enum match match;
	struct str text;
	int64_t number;
	struct endpoint_pattern endpoint;
	struct span at; /* for messages about this pattern */
};

enum expr_kind {
	EXPR_TEST,
	EXPR_ALL,
	EXPR_ANY,
	EXPR_NOT,
};

/* require-all, require-any, require-not over tests. Nodes live in the builder's arena. */
struct expr {
	enum expr_kind kind;
	struct test test;         /* EXPR_TEST */
	const struct expr **kids; /* the others; EXPR_NOT has exactly one */
	size_t n;
};

/* ---- Rules ---- */

enum origin {
	ORIGIN_PROFILE,
	ORIGIN_RUNTIME,
};

struct modifier {
	enum modifier_id id;
	struct str text; /* STRING arguments: message, ... */
	int64_t number;  /* ERRNO and SIGNAL arguments, Darwin numbering */
};

/* One `(allow op ... filter ...)`, entered for one operation. */
struct rule {
	enum verdict verdict;
	enum op op;
	const struct expr *filter; /* NULL: unfiltered */
	const struct modifier *modifiers;
	size_t n_modifiers;
	enum origin origin;
	bool ours;       /* of a text that comes with us or the system: nothing to warn of */
	struct span at;  /* of the opening parenthesis */
	struct str text; /* as written, white space collapsed; past 200 bytes U+2026; then a NUL */
	unsigned index;  /* position in the policy, set by the builder */
};

/* ---- Building ---- */

struct policy_limits {
	size_t memory;   /* bytes for the policy and its construction */
	unsigned states; /* of the automaton */
	size_t work;     /* of its construction: nodes looked at, some 20 ns each; 0: no limit */
};

#define POLICY_LIMITS_DEFAULT                                                                      \
	((struct policy_limits){.memory = 200u << 20, .states = 1u << 20, .work = 30u << 20})

struct policy;
struct policy_builder;

/* NULL: out of memory. The builder owns an arena: copy what rules point to into it. */
struct policy_builder *policy_builder_new(enum target target, struct policy_limits limits);
struct arena *policy_builder_arena(struct policy_builder *builder);

/*
 * Every state of the automaton tells the very rule that decides there, also where several rules in
 * a row have the same effect. With regular expressions it can be many times as large for that.
 */
void policy_builder_keep_apart(struct policy_builder *builder);

/* Copies RULE (not what it points to). 0, or -ERR_LIMIT. */
int policy_builder_add(struct policy_builder *builder, const struct rule *rule, struct err *e);

/*
 * Compiles. Consumes the builder, also on failure (its arena becomes the policy's).
 * -ERR_POLICY: a pattern is wrong (e->at says where); -ERR_LIMIT: automaton or memory bound, the
 * text names the pattern at fault.
 */
int policy_build(struct policy_builder *builder, struct policy **ret, struct err *e);
void policy_builder_free(struct policy_builder *builder);
void policy_free(struct policy *policy);

/* Checks one pattern alone, as the reader meets it; the message is Apple's. 0 or -ERR_POLICY. */
int policy_check_pattern(const struct test *test, struct err *e);

/* ---- Handing on (codec.c) ---- */

struct buf;

/* The rules of POLICY as bytes, appended to *RET. */
void policy_encode(const struct policy *policy, struct buf *ret);

/*
 * Builds a policy from such BYTES, whoever wrote them. -ERR_POLICY: no policy is written like that;
 * else as policy_build(). Its rules have neither a text nor a place.
 */
int policy_decode(struct str bytes, struct policy_limits limits, struct policy **ret,
		  struct err *e);

/* ---- Deciding ---- */

enum vnode_type {
	VNODE_UNKNOWN,
	VNODE_REGULAR,
	VNODE_DIRECTORY,
	VNODE_BLOCK,
	VNODE_CHARACTER,
	VNODE_SYMLINK,
	VNODE_SOCKET,
	VNODE_FIFO,
	VNODE_TTY = 65535,
};

/*
 * What a process is to the one that wants to signal it; several at once (a child in one's own
 * group). `others` are those outside the sandbox, `children` the direct ones.
 */
enum signal_target {
	SIGNAL_TARGET_UNKNOWN,
	SIGNAL_TARGET_SELF,
	SIGNAL_TARGET_PGRP,
	SIGNAL_TARGET_OTHERS,
	SIGNAL_TARGET_CHILDREN,
	SIGNAL_TARGET_SAME_SANDBOX,
	SIGNAL_TARGET_INITPROC,
};

/* TARGET, and what is true of every such process: a set, 1 << enum signal_target. */
unsigned signal_target_set(enum signal_target target);

/* One end of a socket. proto 0: absent. */
struct endpoint {
	unsigned
		proto; /* one of PROTO_IP4, PROTO_IP6, with PROTO_TCP or PROTO_UDP; or PROTO_UNIX */
	unsigned char addr[16]; /* network order; IPv4 in the first four bytes */
	int port;
	bool unbound; /* a local end without an address yet: matches every local pattern
			 (SBPL.md 3.4) */
};

/* Attributes a request may carry besides its path, name and endpoints. */
enum request_has {
	HAS_VNODE_TYPE = 1 << 0,
	HAS_FILE_MODE = 1 << 1,
	HAS_SIGNAL = 1 << 2,
	HAS_DEVICE_MAJOR = 1 << 3,
	HAS_DEVICE_MINOR = 1 << 4,
	HAS_DEVICE = HAS_DEVICE_MAJOR | HAS_DEVICE_MINOR,
	HAS_SOCKET_DOMAIN = 1 << 5,
	HAS_SOCKET_TYPE = 1 << 6,
	HAS_SOCKET_PROTOCOL = 1 << 7,
	HAS_SOCKET = HAS_SOCKET_DOMAIN | HAS_SOCKET_TYPE | HAS_SOCKET_PROTOCOL,
};

/* What FILTER, one that has no member of struct request, looks at. Several of one filter all count.
 */
struct fact {
	enum filter_id filter;
	struct str text; /* of filters that take patterns or strings */
	int64_t number;  /* of the others */
};

/*
 * A missing attribute makes its test false (and require-not of it true), and so does one that the
 * operation does not have (op_takes()): an inherited rule may ask about it.
 */
struct request {
	enum op op;
	struct str path; /* canonical and absolute, any byte but NUL; n 0: none. Where OP has no
			    path it makes no difference but for the rule that is named */
	const struct fact *facts; /* global-name, sysctl-name, ioctl-command ... */
	size_t n_facts;
	struct str xattr;
	struct endpoint local, remote;
	unsigned has; /* enum request_has */
	enum vnode_type vnode_type;
	unsigned file_mode;
	unsigned targets; /* all that is true of it, 1 << enum signal_target; 0: absent */
	int signal;       /* Darwin number */
	unsigned device_major, device_minor;
	int socket_domain, socket_type, socket_protocol; /* Darwin numbers */
};

/*
 * Fills what REQUEST does not say of a socket from its endpoints: the domain, the type and the
 * protocol that sockets of their family and transport usually have. Without endpoints nothing is
 * said.
 */
void request_set_socket(struct request *request);

struct decision {
	enum verdict verdict;
	const struct rule *rule; /* the last one that matched; NULL: a built-in default decided */
	enum op op;              /* where it was decided: the request's operation or an ancestor */
};

void policy_decide(const struct policy *policy, const struct request *request,
		   struct decision *ret);

/* ---- Explaining ---- */

/* What became of a rule, or of an operation's built-in default, on the way to a decision. */
enum explain_role {
	EXPLAIN_DECIDED,
	EXPLAIN_OVERRIDDEN, /* it matches, but a filtered rule of its operation that comes later
			    does too, or (unfiltered) any */
	EXPLAIN_NOT_ASKED,  /* it matches, but a more special operation had decided */
	EXPLAIN_GAVE_WAY,   /* a default that would deny, but the runtime's rules allow */
	EXPLAIN_FELL,       /* no rule of OP matches: its parent is asked */
};

struct explain_step {
	enum explain_role role;
	enum op op;              /* whose rules are looked at */
	const struct rule *rule; /* NULL: EXPLAIN_FELL, or the built-in default of a terminal OP */
};

/*
 * policy_decide() with the whole way: calls EACH for every rule that matches REQUEST, from its
 * operation up to the last ancestor, in the order in which they count. For people: compiles each
 * rule's filter alone. -ERR_LIMIT: no memory.
 */
int policy_explain(const struct policy *policy, const struct request *request,
		   void (*each)(void *context, const struct explain_step *step), void *context,
		   struct err *e);

/* ---- Regions: what the planner and the broker ask ---- */

/*
 * A state of the path automaton: everything the policy will ever know about the bytes seen so far.
 * Equal states have equal futures.
 */
typedef uint32_t policy_state;

policy_state policy_start(const struct policy *policy);
policy_state policy_walk(const struct policy *policy, policy_state from, struct str bytes);

/*
 * Verdicts as a set: bit VERDICT_DENY, bit VERDICT_ALLOW. Guards (vnode-type ...) count both ways,
 * but for filters that never match on the policy's target (filter_is_darwin_only()).
 */
enum verdict_set {
	CAN_DENY = 1 << VERDICT_DENY,
	CAN_ALLOW = 1 << VERDICT_ALLOW,
};

/* What OP can answer at exactly the path that ends in STATE. */
unsigned policy_verdicts_at(const struct policy *policy, policy_state state, enum op op);

/*
 * What OP can answer anywhere below: for every path = (bytes that led to STATE) + "/" + names with
 * "/" between them, as canonical paths go: none is empty, "." or "..". For the root directory STATE
 * is the start state.
 */
unsigned policy_verdicts_below(const struct policy *policy, policy_state state, enum op op);

/*
 * As policy_decide() where the path has been walked already. request->path serves only to tell
 * which of several rules of the same effect to name; where it is empty that may be any of them.
 */
void policy_decide_at(const struct policy *policy, policy_state state,
		      const struct request *request, struct decision *ret);

/* What changes when the tree at FROM moves to TO, over OPS (a list ended by OP_COUNT). */
enum region_change {
	REGION_SAME = 0,
	REGION_LOOSER = 1 << 0,   /* something denied at FROM would be allowed at TO */
	REGION_STRICTER = 1 << 1, /* something allowed at FROM would be denied at TO */
};

/*
 * Compares the node itself and, with BELOW, everything under it: the product of the automaton with
 * itself from (FROM, TO). Exact but for guards, which count as a change when they differ.
 * Bounded by WORK pairs: past it the answer is both changes. Allocates; not for hot paths (equal
 * states answer at once).
 */
unsigned policy_compare(const struct policy *policy, policy_state from, policy_state to, bool below,
			const enum op *ops, size_t work);

/* ---- Looking inside ---- */

size_t policy_n_rules(const struct policy *policy);
const struct rule *policy_rule(const struct policy *policy, size_t i);
enum target policy_target(const struct policy *policy);
unsigned policy_n_states(const struct policy *policy);

/* Bytes that it takes altogether. */
size_t policy_size(const struct policy *policy);

/* Bytes that the automaton over paths takes, without the answers of its states. */
size_t policy_table_size(const struct policy *policy);

/*
 * Calls EACH for every `path` pattern of the policy: the places where regions can begin.
 * MATCH_REGEX patterns come with their source text. Linux: what lies in /private/{tmp,var,etc}
 * comes in its short spelling, and a pattern that covers one of them from further up comes as
 * itself and once more as the subpath /tmp, /var or /etc.
 */
void policy_each_path(const struct policy *policy,
		      void (*each)(void *context, const struct rule *rule, const struct test *test),
		      void *context);

const char *op_name(enum op op);
enum op op_parent(enum op op); /* OP_DEFAULT for itself */
bool op_is_terminal(enum op op);
enum verdict op_builtin(enum op op);              /* of a terminal operation */
bool op_takes(enum op op, enum filter_id filter); /* does the filter's category fit? */
/* Is OP one of earlier systems? No request is about it, and its name is an older name by now. */
bool op_is_gone(enum op op);

/* Is OP what requests are about? Others stand for those below them, and have what these have. */
bool op_is_asked(enum op op);

/* The operation called NAME, or OP_COUNT. */
enum op op_find(struct str name);

/*
 * Does FILTER look at what Linux does not have (extensions, entitlements ...)? There it never
 * matches, unless a request says otherwise.
 */
bool filter_is_darwin_only(enum filter_id filter);

const char *modifier_name(enum modifier_id id);
const char *verdict_name(enum verdict verdict); /* "allow", "deny" */

#endif
