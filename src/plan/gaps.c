/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nobody enforces, said per rule where a rule is at stake (DESIGN 2.3).
 * Operations without a counterpart on Linux (mach-*, iokit-* ...) are never
 * gaps: there is nothing they could deny.
 */
#include "plan/planner.h"

#include "base/banned.h"

enum {
	PATHS_SHOWN = 6
};

static int add(struct planner *p, struct gap gap)
{
	struct plan *plan = p->plan;
	struct gap *gaps =
		arena_grow(p->arena, plan->gaps, plan->n_gaps, &p->gaps_cap, sizeof(*gaps));

	if (!gaps || !gap.text)
		return -ERR_MEMORY;
	plan->gaps = gaps;
	gaps[plan->n_gaps++] = gap;
	return 0;
}

int gap_add(struct planner *p, struct gap gap)
{
	return add(p, gap);
}

/* A gap about one operation, or, being OP_DEFAULT, none in particular. */
static int add_gap(struct planner *p, enum gap_kind kind, enum op op, const struct rule *rule,
		   const char *text, const char *help)
{
	return add(p, (struct gap){.kind = kind,
				   .ops = {op},
				   .rule = rule,
				   .others = true,
				   .text = text,
				   .help = help});
}

/* ---- Classes that nobody answers ---- */

static int gaps_of_broker(struct planner *p)
{
	/* clang-format off */
	static const struct {
		enum broker_class class;
		enum gap_kind kind;
		enum op op; /* whose denials are at stake */
		const char *text;
		enum op more[2]; /* that are at stake, too */
		const char *inside; /* where a sandbox around us is to judge; NULL: the same */
	} rows[] = {
		{BROKER_WRITE, GAP_STRICTER, OP_FILE_WRITE_ANY,
		 "writes are refused wherever the answer differs from name to name",
		 {OP_FILE_LINK, OP_FILE_MKNOD},
		 "writes are not judged one by one by the sandbox around us, and refused wherever "
		 "the answer differs from name to name"},
		{BROKER_READ, GAP_STRICTER, OP_FILE_READ_DATA,
		 "reads are refused wherever the answer differs from name to name", {0},
		 "reads are not judged one by one by the sandbox around us, and refused wherever "
		 "the answer differs from name to name"},
		{BROKER_ATTR, GAP_CONTENT, OP_FILE_WRITE_MODE,
		 "modes, owners, times and extended attributes can be changed everywhere",
		 {OP_FILE_WRITE_ANY, OP_FILE_WRITE_SETUGID}},
		{BROKER_UNIX, GAP_CONTENT, OP_NETWORK_OUTBOUND,
		 "every unix socket of the file system can be connected to, and any name listened at, "
		 "abstract ones too",
		 {OP_NETWORK_INBOUND, OP_NETWORK_BIND}},
		{BROKER_INET, GAP_STRICTER, OP_NETWORK_OUTBOUND,
		 "IP sockets are refused altogether", {OP_NETWORK_INBOUND},
		 "IP sockets are not judged by the sandbox around us, and refused altogether"},
		{BROKER_EXEC, GAP_STRICTER, OP_PROCESS_EXEC_ANY,
		 "files without a name (memfd) are refused where they could be executed"},
		{BROKER_SIGNAL, GAP_CONTENT, OP_SIGNAL, "signals are not judged"},
		{BROKER_INHERITED, GAP_CONTENT, OP_NETWORK_ANY,
		 "sockets that the command is started with can be bound, connected and listen"},
	};
	/* clang-format on */
	const char *help =
		p->plan->nested
			? "--nestable for the sandbox around us, or --gaps=report for ours"
			: "a seccomp listener: there can be one only, and an outer sandbox has it";
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++) {
		bool inside = p->plan->nested && rows[i].inside;

		if (rows[i].class == BROKER_INET && is_inet_refused_outside(p))
			continue;
		if (p->needed & ~p->plan->brokered & rows[i].class)
			r = gap_add(p,
				    (struct gap){
					    .kind = rows[i].kind,
					    .ops = {rows[i].op, rows[i].more[0], rows[i].more[1]},
					    .rule = inside ? rule_at_stake(p->policy, rows[i].op)
							   : rule_denying(p->policy, rows[i].op),
					    .others = true,
					    .text = inside ? rows[i].inside : rows[i].text,
					    .help = help,
					    .stops = inside,
				    });
	}
	return r;
}

/* ---- What this kernel is too old for ---- */

static int gaps_of_kernel(struct planner *p)
{
	const struct policy *policy = p->policy;
	int abi = p->caps->landlock_abi;
	bool judged = (p->plan->brokered & BROKER_WRITE) != 0;
	int r = 0;

	if (judged && !p->caps->wait_killable)
		r = add_gap(p, GAP_CONTENT, OP_DEFAULT, NULL,
			    "a signal can make a brokered write happen twice", "Linux 5.19");
	if (r == 0 && abi < 3 && !judged && p->facts.write_data != CAN_ALLOW &&
	    (!p->held.on || p->held.truncation))
		r = add_gap(p, GAP_CONTENT, OP_FILE_WRITE_DATA,
			    rule_denying(policy, OP_FILE_WRITE_DATA),
			    "files can be truncated everywhere",
			    "Linux 6.2, or a seccomp listener");
	if (r == 0 && abi < 2 && !judged &&
	    (verdicts_anywhere(policy, OP_FILE_WRITE_CREATE) & CAN_ALLOW))
		r = add_gap(p, GAP_STRICTER, OP_FILE_LINK, NULL,
			    "renaming and linking from one directory to another is refused",
			    "Linux 5.19, or a seccomp listener");
	if (r == 0 && abi < 5 && (verdicts_anywhere(policy, OP_FILE_IOCTL) & CAN_DENY))
		r = add_gap(p, GAP_METADATA, OP_FILE_IOCTL, rule_denying(policy, OP_FILE_IOCTL),
			    "devices that may be opened take every ioctl", "Linux 6.10");
	return r;
}

/* ---- Operations without any mechanism ---- */

/* The first operation, from OP on down, that can be answered by one of VERDICTS. OP_COUNT: none. */
static enum op find_answer(const struct policy *policy, enum op op, unsigned verdicts)
{
	if (verdicts_anywhere(policy, op) & verdicts)
		return op;
	for (enum op child = OP_DEFAULT; child < OP_COUNT; child++)
		if (op_inherits(child, op) && (verdicts_anywhere(policy, child) & verdicts))
			return child;
	return OP_COUNT;
}

static int gaps_of_operations(struct planner *p)
{
	/* clang-format off */
	static const struct {
		enum op op;
		enum gap_kind kind;
		const char *text;
	} rows[] = {
#define ALLOWED(op, kind, text) {OP_##op, kind, text},
#include "plan/counterparts.def"
	};
	/* clang-format on */
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++) {
		enum op denied = find_answer(p->policy, rows[i].op, CAN_DENY);

		if (denied != OP_COUNT)
			r = add_gap(p, rows[i].kind, rows[i].op, rule_denying(p->policy, denied),
				    rows[i].text, NULL);
	}
	return r;
}

enum refused {
#define REFUSED(op) REFUSED_##op,
#include "plan/counterparts.def"
	N_REFUSED
};

static int gaps_of_always_refused(struct planner *p)
{
	/* clang-format off */
	const struct gap gap = {
		.kind = GAP_STRICTER,
		.ops = {
#define REFUSED(op) OP_##op,
#include "plan/counterparts.def"
		},
		.others = true,
		.text = "mounting, chroot, kernel modules, setting the time, swapping, quotas and "
			"rebooting are always refused",
	};
	/* clang-format on */

	_Static_assert(N_REFUSED < (int)GAP_OPS_MAX, "OP_DEFAULT ends them");
	for (const enum op *op = gap.ops; *op != OP_DEFAULT; op++)
		if (find_answer(p->policy, *op, CAN_ALLOW) != OP_COUNT)
			return add(p, gap);
	return 0;
}

/* ---- Filters that nobody here answers ---- */

/* What Linux has, but no request of ours carries: a test of it does not hold. */
static bool is_unknown(enum filter_id filter)
{
	static const enum filter_id unknown[] = {
		FILTER_UID,
		FILTER_PROCESS_PATH,
		FILTER_MOUNT_RELATIVE_PATH,
		FILTER_MOUNT_ROOT_PATH,
		FILTER_FILESYSTEM_NAME,
		FILTER_FILE_ATTRIBUTE,
	};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		if (filter == unknown[i])
			return true;
	return false;
}

/* Does EXPR ask such a thing so that its not holding makes the rule match less (or, NEGATED, more)?
 */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool asks_unknown(const struct expr *expr, bool negated)
{
	if (expr->kind == EXPR_TEST)
		return !negated && is_unknown(expr->test.filter);
	for (size_t i = 0; i < expr->n; i++)
		if (asks_unknown(expr->kids[i], negated ^ (expr->kind == EXPR_NOT)))
			return true;
	return false;
}

static bool is_about_metadata(enum op op)
{
	return op == OP_FILE_READ_METADATA || op == OP_FILE_READ_XATTR;
}

/* A gap that RULE has for itself, whichever rule decides in its stead. */
static int add_own_gap(struct planner *p, enum gap_kind kind, const struct rule *rule,
		       const char *text)
{
	return gap_add(p,
		       (struct gap){.kind = kind, .ops = {rule->op}, .rule = rule, .text = text});
}

static int gaps_of_filters(struct planner *p)
{
	int r = 0;

	for (size_t i = 0; i < policy_n_rules(p->policy) && r == 0; i++) {
		const struct rule *rule = policy_rule(p->policy, i);
		bool deny = rule->verdict == VERDICT_DENY;
		enum gap_kind loose = is_about_metadata(rule->op) ? GAP_METADATA : GAP_CONTENT;

		if (!rule->filter || !op_is_judged(rule->op))
			continue;
		if (asks_unknown(rule->filter, !deny))
			r = add_own_gap(
				p, loose, rule,
				"what this rule asks of the process or the volume is not known: "
				"it denies less than it says");
		else if (asks_unknown(rule->filter, deny))
			r = add_own_gap(
				p, GAP_STRICTER, rule,
				"what this rule asks of the process or the volume is not known: "
				"it allows less than it says");
	}
	return r;
}

/* Of root's capabilities the command keeps those to handle files; mknod(2) takes another. */
static int gap_of_nodes(struct planner *p)
{
	if (!p->caps->root || !(p->facts.nodes & CAN_ALLOW))
		return 0;
	return add_gap(p, GAP_STRICTER, OP_FILE_MKNOD, NULL, "device nodes cannot be made", NULL);
}

/* ---- Metadata ---- */

/* Is RULE what denies OP at PATH (none: at a path nobody mentions)? */
static bool decides(const struct planner *p, const struct rule *rule, enum op op, struct str path)
{
	struct request request = {.op = op, .path = path.n ? path : STR("/\001")};
	struct decision decision;

	policy_decide(p->policy, &request, &decision);
	return decision.verdict == VERDICT_DENY && decision.rule == rule;
}

/* Where something is hidden by a mount, there still is something. */
static bool is_hidden(const struct planner *p, struct str path, enum op op)
{
	return plan_is_mounted(p->plan, MOUNT_HIDE, path) &&
	       (op != OP_FILE_TEST_EXISTENCE || !plan_is_mount(p->plan, MOUNT_HIDE, path));
}

/* Does TEST of RULE deny OP for something that can still be seen? */
static bool test_shows(const struct planner *p, const struct rule *rule, const struct test *test,
		       enum op op)
{
	if (!is_fixed(test->match))
		return (verdicts_anywhere(p->policy, op) & CAN_DENY) != 0;
	return !is_hidden(p, test->text, op) && decides(p, rule, op, test->text);
}

static bool rule_shows(const struct planner *p, const struct rule *rule, enum op op)
{
	const struct expr *filter = rule->filter;

	if (!filter)
		return decides(p, rule, op, STR(""));
	if (filter->kind == EXPR_TEST)
		return test_shows(p, rule, &filter->test, op);
	if (filter->kind == EXPR_ANY) {
		for (size_t i = 0; i < filter->n; i++)
			if (filter->kids[i]->kind != EXPR_TEST ||
			    test_shows(p, rule, &filter->kids[i]->test, op))
				return true;
		return false;
	}
	return (verdicts_anywhere(p->policy, op) & CAN_DENY) != 0;
}

/* What would hide more of what exists. NULL: nothing. */
static const char *help_to_hide(const struct planner *p)
{
	if (!p->caps->userns)
		return "user namespaces, to hide what exists by mounting";
	return p->too_many_hidden ? "fewer paths that are denied altogether: so many are not hidden"
				  : NULL;
}

/* RULE NULL: of what is denied because no rule is about it. */
static int gap_of_metadata(struct planner *p, const struct rule *rule)
{
	static const struct {
		enum op op;
		const char *what;
	} aspects[] = {
		{OP_FILE_READ_METADATA, "attributes (stat, access, readlink)"},
		{OP_FILE_READ_XATTR, "extended attributes"},
		{OP_FILE_TEST_EXISTENCE, "existence"},
		{OP_FILE_READ_DATA, "names of entries"},
		{OP_FILE_READ_DATA, "what happens to files and in directories (inotify)"},
	};
	const size_t entries = 3;
	struct gap gap = {
		.kind = GAP_METADATA,
		.rule = rule,
		.only_rule = true,
		.help = help_to_hide(p),
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(aspects) / sizeof(aspects[0]); i++) {
		if (i == entries && !p->floor.lists_too_much)
			continue;
		if (rule ? !op_inherits(aspects[i].op, rule->op) ||
				    !rule_shows(p, rule, aspects[i].op)
			 : !decides(p, NULL, aspects[i].op, STR("")))
			continue;
		gap.ops[n++] = aspects[i].op;
		gap.text =
			n > 1 ? arena_printf(p->arena, "%s, %s", gap.text, aspects[i].what)
			      : arena_printf(p->arena, "of what this denies can still be seen: %s",
					     aspects[i].what);
		if (!gap.text)
			return -ERR_MEMORY;
	}
	return n ? add(p, gap) : 0;
}

static int gaps_of_metadata(struct planner *p)
{
	int r = gap_of_metadata(p, NULL);

	for (size_t i = 0; i < policy_n_rules(p->policy) && r == 0; i++) {
		const struct rule *rule = policy_rule(p->policy, i);

		if (rule->verdict == VERDICT_DENY && rule_applies(rule))
			r = gap_of_metadata(p, rule);
	}
	return r;
}

/* ---- Where the filter is not the policy ---- */

static int gaps_of_filter(struct planner *p)
{
	const unsigned brokered = p->plan->brokered, some = CAN_ALLOW | CAN_DENY;
	int r = 0;

	if (p->facts.create == some && !(brokered & (BROKER_READ | BROKER_WRITE)))
		r = add_gap(p, GAP_STRICTER, OP_DEFAULT,
			    rule_denying(p->policy, OP_FILE_WRITE_CREATE),
			    "files without a name (O_TMPFILE) cannot be made anywhere", NULL);
	if (r == 0 && p->facts.flags == some && !(brokered & BROKER_ATTR))
		r = add_gap(p, GAP_STRICTER, OP_FILE_WRITE_FLAGS,
			    rule_denying(p->policy, OP_FILE_WRITE_FLAGS),
			    "inode flags cannot be changed anywhere", NULL);
	if (r == 0 && p->facts.setugid == some && !(brokered & BROKER_ATTR))
		r = add_gap(p, GAP_STRICTER, OP_FILE_WRITE_SETUGID,
			    rule_denying(p->policy, OP_FILE_WRITE_SETUGID),
			    "nothing can be made with its setuid or setgid bit set", NULL);
	if (r == 0 && p->facts.setugid == CAN_DENY && !(brokered & BROKER_ATTR))
		r = add_gap(p, GAP_STRICTER, OP_FILE_WRITE_DATA, NULL,
			    "what is there cannot be opened with a mode to make it that has the "
			    "setuid or setgid bit set",
			    NULL);
	return r;
}

/* ---- Where the floor is not the policy ---- */

char *gap_list_paths(struct planner *p, const struct paths *paths, const char *text)
{
	struct buf buf = {.p = NULL};
	char *ret = NULL;

	for (size_t i = 0; i < paths->n && i < PATHS_SHOWN; i++)
		buf_printf(&buf, "%s%s", i ? ", " : "", paths->list[i]);
	if (paths->n > PATHS_SHOWN)
		buf_printf(&buf, " and %zu more", paths->n - PATHS_SHOWN);
	if (!buf.failed)
		ret = arena_printf(p->arena, "%s: %.*s", text, (int)buf.n, buf.p);
	buf_release(&buf);
	return ret;
}

/* The same as data. Without memory for it the gap is about more, which nobody minds. */
const char *const *gap_end_paths(struct planner *p, const struct paths *paths)
{
	const char **list = arena_array(p->arena, paths->n + 1, sizeof(*list));

	if (list)
		memcpy(list, paths->list, paths->n * sizeof(*list));
	return list;
}

/* Landlock knows the processes of /proc only once they are there. */
static int gap_of_processes(struct planner *p)
{
	static const char *const proc[] = {"/proc", NULL};

	if (!(p->floor.processes & ~p->plan->brokered))
		return 0;
	return add(p, (struct gap){
			      .kind = GAP_STRICTER,
			      .ops = {OP_FILE_READ_DATA, OP_FILE_WRITE_DATA},
			      .text = "the files of processes in /proc cannot be opened where "
				      "the answer differs in other parts of /proc",
			      .others = true,
			      .paths = proc,
			      .below_paths = true,
		      });
}

static int gaps_of_floor(struct planner *p)
{
	const bool reads = (p->plan->brokered & BROKER_READ) != 0;
	const bool writes = (p->plan->brokered & BROKER_WRITE) != 0;
	/* clang-format off */
	const struct {
		const struct paths *paths;
		bool judged; /* the broker makes up for it */
		const char *text;
		enum op ops[3];
		bool below;
	} rows[] = {
		{&p->floor.late, reads,
		 "what appears later in these directories is not granted"},
		{&p->floor.late_data, writes,
		 "what appears later in these directories cannot be written"},
		{&p->floor.crowds, reads,
		 "what may be read in these directories by its name is refused",
		 {OP_IPC_POSIX_ANY, OP_SYSCTL_ANY}, true},
		{&p->floor.roots, writes,
		 "these directories may be written below, but not made, removed or renamed",
		 {OP_FILE_WRITE_CREATE, OP_FILE_WRITE_UNLINK}},
		{&p->floor.roots, !writes || reads,
		 "what replaces these directories once removed cannot be read"},
		{&p->floor.inert, !reads,
		 "what is made anew in place of these cannot be executed"},
		{&p->floor.again, reads && writes,
		 "what is mounted a second time here is refused where its first name is denied",
		 {OP_FILE_READ_DATA, OP_FILE_WRITE_DATA, OP_PROCESS_EXEC_ANY}, true},
		{&p->floor.unlisted, reads,
		 "these directories cannot be listed", {OP_FILE_READ_DATA}},
	};
	/* clang-format on */
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++)
		if (rows[i].paths->n && !rows[i].judged)
			r = gap_add(p,
				    (struct gap){
					    .kind = GAP_STRICTER,
					    .ops = {rows[i].ops[0], rows[i].ops[1], rows[i].ops[2]},
					    .text = gap_list_paths(p, rows[i].paths, rows[i].text),
					    .paths = gap_end_paths(p, rows[i].paths),
					    .below_paths = rows[i].below,
				    });
	if (r == 0 && p->floor.ioctl)
		r = add_gap(
			p, GAP_STRICTER, OP_FILE_IOCTL, rule_denying(p->policy, OP_FILE_IOCTL),
			"devices take no ioctl where the answer depends on more than their path",
			NULL);
	if (r == 0 && p->floor.exec_raced)
		r = add_gap(p, GAP_CONTENT, OP_DEFAULT,
			    rule_denying(p->policy, OP_PROCESS_EXEC_ANY),
			    "what this denies can be executed by a program that changes the path "
			    "while it is judged",
			    "deny programs by literal or subpath instead of by regex or type");
	if (r == 0 && p->floor.loader)
		r = add_gap(
			p, GAP_METADATA, OP_PROCESS_EXEC_ANY,
			rule_denying(p->policy, OP_PROCESS_EXEC_ANY),
			"the ELF interpreter may be executed, since no program starts without it; "
			"it runs what may be read",
			NULL);
	return r;
}

/* ---- /proc/self ---- */

static void note_self(void *context, const struct rule *rule, const struct test *test)
{
	bool *found = context;

	*found |= rule->verdict == VERDICT_ALLOW && str_is_below(test->text, STR("/proc/self"));
}

/* It is a link, and the process it leads to another for everybody. */
static int gap_of_self(struct planner *p)
{
	const struct str somebody = STR("/proc/4194303/status"); /* as proc_sys_kernel(5) has it */
	policy_state state = policy_walk(p->policy, policy_start(p->policy), somebody);
	bool found = false;

	policy_each_path(p->policy, note_self, &found);
	if (!found || policy_verdicts_at(p->policy, state, OP_FILE_READ_DATA) == CAN_ALLOW)
		return 0;
	return add_gap(
		p, GAP_STRICTER, OP_DEFAULT, NULL,
		"a rule about /proc/self grants nothing: the kernel knows processes by number",
		"a rule about /proc, or its numbers, by regex");
}

/* ---- Where only the caller's own open is right ---- */

/* The broker does not open for others what shows the namespaces of whoever opens it. */
static int gaps_of_namespaces(struct planner *p)
{
	static const struct {
		enum broker_class class;
		enum op op;
	} rows[] = {
		{BROKER_READ, OP_FILE_READ_DATA},
		{BROKER_WRITE, OP_FILE_WRITE_DATA},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && p->plan->ns; i++)
		if ((p->plan->brokered & rows[i].class) &&
		    (verdicts_under(p->policy, STR("/proc/sys"), rows[i].op) & CAN_ALLOW))
			return add_gap(p, GAP_STRICTER, OP_SYSCTL_ANY, NULL,
				       "parameters and objects of namespaces (/proc/sys/net, "
				       "/proc/sysvipc ...) can be opened only where Landlock "
				       "grants it",
				       NULL);
	return 0;
}

/* A device that the broker opened would take the requests that Landlock refuses. */
static int gap_of_devices(struct planner *p)
{
	const struct str devices = STR("/dev");
	const unsigned brokered = p->plan->brokered;
	unsigned opens = 0;

	if (brokered & BROKER_READ)
		opens |= verdicts_under(p->policy, devices, OP_FILE_READ_DATA);
	if (brokered & BROKER_WRITE)
		opens |= verdicts_under(p->policy, devices, OP_FILE_WRITE_DATA);
	if (!(opens & CAN_ALLOW) || !(verdicts_under(p->policy, devices, OP_FILE_IOCTL) & CAN_DENY))
		return 0;
	return gap_add(p,
		       (struct gap){
			       .kind = GAP_STRICTER,
			       .ops = {OP_FILE_READ_DATA, OP_FILE_WRITE_DATA},
			       .rule = rule_denying(p->policy, OP_FILE_IOCTL),
			       .others = true,
			       .text = "devices that may take no requests can be opened only where "
				       "Landlock grants it",
		       });
}

/* ---- Sockets ---- */

static int gaps_of_sockets(struct planner *p)
{
	const struct facts *facts = &p->facts;
	unsigned udp = facts->inet_out[TRANSPORT_UDP] | facts->inet_in[TRANSPORT_UDP];
	int r = 0;

	if (p->plan->brokered & BROKER_UNIX)
		r = add_gap(p, GAP_STRICTER, OP_DEFAULT, NULL,
			    "unix datagram sockets are refused: their addresses are in memory",
			    NULL);
	if (r == 0 && (p->plan->brokered & BROKER_INET) && udp == (CAN_ALLOW | CAN_DENY))
		r = add_gap(p, GAP_STRICTER, OP_NETWORK_ANY,
			    rule_denying(p->policy, OP_NETWORK_OUTBOUND),
			    "UDP sockets are refused: their addresses are in memory", NULL);
	if (r == 0 && needs_held(p))
		r = add_gap(p, GAP_STRICTER, OP_NETWORK_ANY, NULL,
			    "sockets that the command is started with, or sent, cannot be bound, "
			    "connected or listen: no process lends its own here",
			    "a container that lets pidfd_getfd(2) through");
	if (r == 0 && p->no_others && (facts->system_socket & CAN_ALLOW))
		r = add_gap(p, GAP_STRICTER, OP_SYSTEM_SOCKET,
			    rule_denying(p->policy, OP_SYSTEM_SOCKET),
			    p->netlink ? "sockets of other families than unix, IP and route "
					 "netlink are refused"
				       : "sockets of other families than unix and IP are refused",
			    NULL);
	if (r == 0 && p->no_inet && !(p->needed & BROKER_INET))
		r = add_gap(p, GAP_STRICTER, OP_NETWORK_ANY,
			    rule_denying(p->policy, OP_NETWORK_OUTBOUND),
			    is_private(p, SCOPE_NET)
				    ? "IP sockets are refused, also among the session's processes"
				    : "IP sockets cannot even be made",
			    is_private(p, SCOPE_NET) ? "user namespaces, for a loopback of our own"
						     : NULL);
	return r;
}

/* ---- Objects of IPC whose names the filter does not see ---- */

static int gaps_of_ipc(struct planner *p)
{
	const struct facts *facts = &p->facts;
	/* clang-format off */
	const struct {
		unsigned verdicts;
		enum op asked, op; /* op: whose acts are at stake; none of its own for queues */
		const char *text;
	} rows[] = {
		{facts->sysv_shm, OP_IPC_SYSV_SHM, OP_IPC_SYSV_SHM,
		 "System V shared memory is refused: what the answer depends on is not known"},
		{facts->sysv_sem, OP_IPC_SYSV_SEM, OP_IPC_SYSV_SEM,
		 "System V semaphores are refused: what the answer depends on is not known"},
		{facts->sysv_msg, OP_IPC_SYSV_MSG, OP_IPC_SYSV_MSG,
		 "System V message queues are refused: what the answer depends on is not known"},
		{facts->posix_mq, OP_IPC_POSIX_ANY, OP_DEFAULT,
		 "POSIX message queues are refused: their names are in memory"},
	};
	/* clang-format on */
	int r = 0;

	if ((verdicts_pathless(p->policy, OP_IPC_POSIX_SEM_OPEN) & CAN_ALLOW) &&
	    ((verdicts_pathless(p->policy, OP_IPC_POSIX_SEM_POST) |
	      verdicts_pathless(p->policy, OP_IPC_POSIX_SEM_WAIT)) &
	     CAN_DENY))
		r = gap_add(
			p, (struct gap){
				   .kind = GAP_METADATA,
				   .ops = {OP_IPC_POSIX_SEM_POST, OP_IPC_POSIX_SEM_WAIT},
				   .others = true,
				   .text = "semaphores that may be opened can be posted and waited "
					   "for: they are memory",
			   });
	if (has_ns(p, NS_IPC) || is_private(p, SCOPE_IPC) ||
	    is_around(p, SCOPE_IPC)) /* all the session's, or none */
		return r;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++)
		if (rows[i].verdicts == (CAN_ALLOW | CAN_DENY))
			r = add_gap(p, GAP_STRICTER, rows[i].op,
				    rule_denying(p->policy, rows[i].asked), rows[i].text,
				    "a rule about the operation as a whole");
	return r;
}

/* ---- Scopes that cannot be private ---- */

static int gaps_of_scope(struct planner *p)
{
	/* clang-format off */
	static const struct {
		enum scope scope;
		enum ns ns; /* makes it private, but for the mount */
		enum gap_kind kind;
		const char *text;
	} rows[] = {
		{SCOPE_PID, NS_PID, GAP_METADATA, "the host's processes can be seen in /proc"},
		{SCOPE_IPC, NS_IPC, GAP_STRICTER,
		 "System V objects and message queues are refused, also those of the session"},
		{SCOPE_TMP, NS_MOUNT, GAP_METADATA, "the names in the host's /tmp can be seen"},
		{SCOPE_SHM, NS_MOUNT, GAP_METADATA, "/dev/shm is the host's, as far as rules allow"},
		{SCOPE_PTS, NS_MOUNT, GAP_METADATA,
		 "the host's pseudo-terminals can be seen, and used as far as rules allow"},
	};
	/* clang-format on */
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++)
		if (is_private(p, rows[i].scope) && !has_ns(p, rows[i].ns))
			r = add_gap(p, rows[i].kind, OP_DEFAULT, NULL, rows[i].text,
				    p->caps->userns ? NULL : "user namespaces");
	if (r == 0 && is_private(p, SCOPE_PID) && !has_ns(p, NS_PID) && p->plan->brokered)
		r = add_gap(
			p, GAP_METADATA, OP_DEFAULT, NULL,
			"limits and priorities are set by number: a process of the host that is "
			"given the number meanwhile is bound by them",
			p->caps->userns ? NULL : "user namespaces");
	if (r == 0 && is_private(p, SCOPE_NET) && !has_ns(p, NS_NET) && !p->no_inet)
		r = add_gap(p, GAP_METADATA, OP_DEFAULT, NULL,
			    "the network is the host's: the session's loopback ports can be seen",
			    NULL);
	return r;
}

int gaps_plan(struct planner *p, struct err *e)
{
	static int (*const stages[])(struct planner *) = {
		gaps_of_broker,     gaps_of_holding,        gaps_inside,        gaps_of_kernel,
		gaps_of_operations, gaps_of_always_refused, gap_of_nodes,       gaps_of_filter,
		gaps_of_floor,      gap_of_processes,       gaps_of_namespaces, gap_of_self,
		gap_of_devices,     gaps_of_sockets,        gaps_of_ipc,        gaps_of_scope,
		gaps_of_filters,    gaps_of_metadata,
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]) && r == 0; i++)
		r = stages[i](p);
	return r < 0 ? err_memory(e) : 0;
}
