/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plan means for each rule of the policy, and why classes of system
 * calls are brokered. Made after the plan and from it, only when somebody asks.
 */
#include "plan/planner.h"

#include "plan/seccomp.h"
#include "plan/territory.h"
#include "base/banned.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct reporter {
	struct planner p; /* what its stages find out about the policy once more */
	struct report *report;
	size_t *first_gap, *next_gap; /* by rule, by gap: the number of a gap plus one; 0: none */
	size_t *wide_gaps, n_wide_gaps;
	bool *has_place; /* by gap: it stands below a rule */
};

/* ---- What a rule is about ---- */

struct means {
	enum op op;
	unsigned mixed, whole; /* enum mechanism */
	unsigned classes, ns;
};

static const struct means means_table[] = {
#define MEANS(op, mixed, whole, classes, ns) {OP_##op, mixed, whole, classes, ns},
#include "plan/mechanisms.def"
};

static const struct means *means_of(enum op op)
{
	for (;; op = op_parent(op)) {
		for (size_t i = 0; i < COUNT(means_table); i++)
			if (means_table[i].op == op)
				return &means_table[i];
		if (op == OP_DEFAULT)
			return NULL;
	}
}

enum ends {
	ENDS_PATH = 1 << 0,
	ENDS_ADDRESS = 1 << 1,
	ENDS_ALL = ENDS_PATH | ENDS_ADDRESS,
};

/* Does EXPR ask for paths, or for addresses of IP? */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static unsigned ends_of(const struct expr *expr)
{
	unsigned ret = 0;

	if (expr->kind == EXPR_TEST && expr->test.match == MATCH_ENDPOINT)
		return expr->test.endpoint.proto & PROTO_UNIX ? ENDS_PATH : ENDS_ADDRESS;
	if (expr->kind == EXPR_TEST)
		return expr->test.filter == FILTER_PATH ? ENDS_PATH : 0;
	for (size_t i = 0; i < expr->n; i++)
		ret |= ends_of(expr->kids[i]);
	return ret;
}

/* The classes of sockets that RULE, one about the network, has to do with. */
static unsigned socket_classes(const struct rule *rule)
{
	unsigned ends = rule->filter ? ends_of(rule->filter) : ENDS_ALL;
	unsigned ret = 0;

	if (!ends)
		ends = ENDS_ALL;
	if (ends & ENDS_PATH)
		ret |= BROKER_UNIX;
	if (ends & ENDS_ADDRESS)
		ret |= BROKER_INET | BROKER_INHERITED;
	return ret;
}

/* Can OP meet a test that EXPR has? */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool takes_any(enum op op, const struct expr *expr)
{
	if (expr->kind == EXPR_TEST)
		return op_takes(op, expr->test.filter);
	for (size_t i = 0; i < expr->n; i++)
		if (takes_any(op, expr->kids[i]))
			return true;
	return expr->n == 0;
}

/* Can RULE be what answers OP? */
static bool can_decide(const struct planner *p, const struct rule *rule, enum op op)
{
	return op_inherits(op, rule->op) && (!rule->filter || takes_any(op, rule->filter)) &&
	       (verdicts_anywhere(p->policy, op) & (1u << rule->verdict));
}

/* ---- By what it holds ---- */

static bool hides(const struct plan *plan, const struct expr *expr)
{
	return expr->kind == EXPR_TEST && is_fixed(expr->test.match) &&
	       expr->test.filter == FILTER_PATH &&
	       plan_is_mounted(plan, MOUNT_HIDE, expr->test.text);
}

/* Is what EXPR names hidden? Where only some of it is, a gap tells of the rest. */
static bool is_hidden(const struct plan *plan, const struct expr *expr)
{
	bool ret = hides(plan, expr);

	for (size_t i = 0; expr->kind == EXPR_ANY && i < expr->n; i++)
		ret |= hides(plan, expr->kids[i]);
	return ret;
}

/* A mount of our own stands for the mount namespace of what it is the place of. */
static unsigned private_ns(const struct planner *p, const struct means *means)
{
	unsigned ret = means->ns & p->plan->ns & ~(unsigned)NS_MOUNT;

	if (!(means->ns & NS_MOUNT))
		return ret;
	if (plan_is_mount(p->plan,
			  means->op == OP_PSEUDO_TTY ? MOUNT_PRIVATE_PTS : MOUNT_PRIVATE_SHM,
			  means->op == OP_PSEUDO_TTY ? STR("/dev/pts") : STR("/dev/shm")))
		ret |= NS_MOUNT;
	return ret;
}

/* Landlock knows some operations from a version on, and of others only a part. */
static bool floor_takes_part(const struct planner *p, enum op op)
{
	const struct plan *plan = p->plan;

	if (op == OP_FILE_IOCTL)
		return (plan->landlock_fs & LL_IOCTL_DEV) != 0;
	if (op == OP_SIGNAL)
		return (plan->landlock_scoped & LL_SCOPED_SIGNAL) != 0;
	if (op_inherits(op, OP_NETWORK_ANY))
		return plan->landlock_net != 0;
	return false;
}

/* Do mounts stand between the command and what OP would change? */
static bool is_mounted_against(const struct plan *plan, enum op op)
{
	bool ret = false;

	for (size_t i = 0; i < plan->n_mounts; i++)
		ret |= plan->mounts[i].kind == MOUNT_READ_ONLY;
	return ret && (op_inherits(op, OP_FILE_WRITE_ANY) || op == OP_FILE_LINK) &&
	       op != OP_FILE_WRITE_FLAGS;
}

static bool has_masks(const struct plan *plan)
{
	bool ret = false;

	for (size_t i = 0; i < plan->n_mounts; i++)
		ret |= plan->mounts[i].kind == MOUNT_MASK;
	return ret;
}

static void add_means(const struct planner *p, enum op op, struct rule_report *ret)
{
	const struct means *means = means_of(op);
	unsigned verdicts = verdicts_anywhere(p->policy, op);
	unsigned classes;

	if (verdicts == CAN_ALLOW) {
		ret->by |= means && (means->mixed & BY_FLOOR) ? BY_FLOOR : BY_NOTHING;
		return;
	}
	if (!means) { /* refused by the filter, or by nothing */
		if (ret->rule->verdict == VERDICT_DENY && op_is_refused(op))
			ret->by |= BY_FILTER;
		else if (ret->rule->verdict == VERDICT_ALLOW)
			ret->by |= BY_NOTHING;
		return;
	}
	ret->by |= verdicts == CAN_DENY ? means->whole : means->mixed;
	if (is_mounted_against(p->plan, op))
		ret->by |= BY_MOUNTS;
	if (op == OP_FILE_READ_DATA && has_masks(p->plan))
		ret->by |= BY_HIDING;
	if (floor_takes_part(p, op))
		ret->by |= BY_FLOOR;
	else if (op == OP_FILE_IOCTL)
		ret->by &= ~(unsigned)BY_FLOOR;
	classes = means->classes & p->plan->brokered;
	if (means->op == OP_NETWORK_ANY)
		classes &= socket_classes(ret->rule);
	ret->classes |= classes;
	ret->ns |= private_ns(p, means);
	if (!means->mixed && !means->classes && ret->rule->verdict == VERDICT_ALLOW)
		ret->by |= BY_NOTHING;
}

static void find_means(const struct planner *p, struct rule_report *ret)
{
	for (size_t i = 0; i < ret->n_rules; i++) {
		const struct rule *rule = policy_rule(p->policy, ret->rule->index + i);
		struct rule_report one = {.rule = rule};

		for (enum op op = OP_DEFAULT; op < OP_COUNT; op++)
			if (op_is_asked(op) && can_decide(p, rule, op) && op_applies(op))
				add_means(p, op, &one);
		if (rule->verdict == VERDICT_DENY && rule->filter &&
		    is_hidden(p->plan, rule->filter))
			one.by |= BY_HIDING;
		ret->by |= one.by;
		ret->ns |= one.ns;
		ret->classes |= one.classes;
	}
	if (ret->ns)
		ret->by |= BY_NAMESPACE;
	if (ret->classes)
		ret->by |= BY_BROKER;
}

/* ---- Gaps ---- */

/* Could a path that matches EXPR be one that GAP is about? */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool meets_paths(const struct gap *gap, const struct expr *expr)
{
	if (expr->kind == EXPR_TEST) {
		struct str text = expr->test.text;

		if (!is_fixed(expr->test.match) || expr->test.filter != FILTER_PATH)
			return true;
		for (const char *const *at = gap->paths; *at; at++)
			if (str_is_below(text, str_of(*at)) || str_is_below(str_of(*at), text))
				return true;
		return false;
	}
	if (expr->kind != EXPR_ANY)
		return true;
	for (size_t i = 0; i < expr->n; i++)
		if (meets_paths(gap, expr->kids[i]))
			return true;
	return expr->n == 0;
}

static bool is_at_stake(const struct planner *p, const struct gap *gap, const struct rule *rule)
{
	bool allows = rule->verdict == VERDICT_ALLOW;

	if (allows != (gap->kind == GAP_STRICTER))
		return false;
	if (gap->paths && rule->filter && !meets_paths(gap, rule->filter))
		return false;
	for (const enum op *at = gap->ops; *at != OP_DEFAULT; at++)
		for (enum op op = *at; op < OP_COUNT; op++)
			if (op_inherits(op, *at) && op_is_asked(op) && can_decide(p, rule, op))
				return true;
	return false;
}

/* Gaps by the rule that they are about; those that are about others too. There can be thousands. */
static bool index_gaps(struct reporter *r)
{
	const struct plan *plan = r->p.plan;
	size_t n_rules = policy_n_rules(r->p.policy);

	r->first_gap = arena_array(r->p.arena, n_rules + 1, sizeof(*r->first_gap));
	r->next_gap = arena_array(r->p.arena, plan->n_gaps + 1, sizeof(*r->next_gap));
	r->wide_gaps = arena_array(r->p.arena, plan->n_gaps + 1, sizeof(*r->wide_gaps));
	r->has_place = arena_array(r->p.arena, plan->n_gaps + 1, sizeof(*r->has_place));
	if (!r->first_gap || !r->next_gap || !r->wide_gaps || !r->has_place)
		return false;
	for (size_t i = plan->n_gaps; i-- > 0;) {
		const struct gap *gap = &plan->gaps[i];
		size_t rule = gap->rule ? gap->rule->index : n_rules;

		r->next_gap[i] = r->first_gap[rule];
		r->first_gap[rule] = i + 1;
	}
	for (size_t i = 0; i < plan->n_gaps; i++)
		if (plan->gaps[i].others)
			r->wide_gaps[r->n_wide_gaps++] = i;
	return true;
}

/* Notes that gap I is about FORM. Those of a form are as few as its rules. */
static bool add_gap_of(struct reporter *r, struct rule_report *form, size_t *cap, size_t i)
{
	const struct gap *gap = &r->p.plan->gaps[i];
	const struct gap **gaps =
		arena_grow(r->p.arena, form->gaps, form->n_gaps, cap, sizeof(*gaps));
	size_t at = form->n_gaps;

	if (!gaps)
		return false;
	form->gaps = gaps;
	while (at > 0 && gaps[at - 1] > gap)
		at--;
	if (at > 0 && gaps[at - 1] == gap)
		return true;
	memmove(&gaps[at + 1], &gaps[at], (form->n_gaps - at) * sizeof(*gaps));
	gaps[at] = gap;
	form->n_gaps++;
	r->has_place[i] = true;
	return true;
}

/* In the plan's order. */
static int find_gaps(struct reporter *r, struct rule_report *form)
{
	size_t cap = 0;
	bool ok = true;

	for (size_t n = 0; n < form->n_rules; n++) {
		const struct rule *rule = policy_rule(r->p.policy, form->rule->index + n);

		for (size_t i = r->first_gap[rule->index]; i && ok; i = r->next_gap[i - 1])
			ok = add_gap_of(r, form, &cap, i - 1);
		for (size_t w = 0; w < r->n_wide_gaps && ok; w++)
			if (is_at_stake(&r->p, &r->p.plan->gaps[r->wide_gaps[w]], rule))
				ok = add_gap_of(r, form, &cap, r->wide_gaps[w]);
	}
	return ok ? 0 : -ERR_MEMORY;
}

static int collect_other_gaps(struct reporter *r)
{
	const struct plan *plan = r->p.plan;
	struct report *report = r->report;

	report->gaps = arena_array(r->p.arena, plan->n_gaps + 1, sizeof(struct gap *));
	if (!report->gaps)
		return -ERR_MEMORY;
	for (size_t i = 0; i < plan->n_gaps; i++)
		if (!r->has_place[i])
			report->gaps[report->n_gaps++] = &plan->gaps[i];
	return 0;
}

/* ---- Rules ---- */

static bool is_same_form(const struct rule *a, const struct rule *b)
{
	return a->origin == b->origin && a->verdict == b->verdict && a->at.line == b->at.line &&
	       a->at.column == b->at.column && a->at.file && b->at.file &&
	       strcmp(a->at.file, b->at.file) == 0;
}

static int report_rules(struct reporter *r)
{
	const struct policy *policy = r->p.policy;
	size_t n = policy_n_rules(policy);
	struct report *report = r->report;

	report->rules = arena_array(r->p.arena, n + 1, sizeof(*report->rules));
	if (!report->rules || !index_gaps(r))
		return -ERR_MEMORY;
	for (size_t i = 0, next; i < n; i = next) {
		struct rule_report *form = &report->rules[report->n_rules++];

		form->rule = policy_rule(policy, i);
		for (next = i; next < n && is_same_form(form->rule, policy_rule(policy, next));
		     next++)
			form->applies |= rule_applies(policy_rule(policy, next));
		if (next == i) /* a rule without a place */
			form->applies = rule_applies(policy_rule(policy, next++));
		form->n_rules = next - i;
		if (!form->applies)
			continue;
		find_means(&r->p, form);
		if (find_gaps(r, form) < 0)
			return -ERR_MEMORY;
		if (!form->by && !form->n_gaps) /* other rules answer in its stead */
			form->by = BY_NOTHING;
	}
	return 0;
}

/* ---- Why a class is brokered ---- */

/* Has EXPR (or NULL) only such tests of paths as are of one object or tree? */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool names_paths(const struct expr *expr)
{
	if (expr && expr->kind == EXPR_TEST)
		return is_fixed(expr->test.match);
	for (size_t i = 0; expr && i < expr->n; i++)
		if (!names_paths(expr->kids[i]))
			return false;
	return expr != NULL;
}

/* A name that no pattern can tell apart from others. */
static const char unlike_any_other[] = "\001";

struct parting {
	const struct planner *p;
	enum op op;
	const char *path;
	enum verdict usual;       /* of what no rule mentions */
	const struct rule *first; /* that answers otherwise for a path that is known */
	const struct rule *maybe; /* or for one that cannot be told */
};

static enum verdict ask_op(const struct parting *parting, const char *path,
			   const struct rule **ret_rule)
{
	struct request request = {.op = parting->op, .path = str_of(path)};
	struct decision decision;

	policy_decide(parting->p->policy, &request, &decision);
	*ret_rule = decision.rule;
	return decision.verdict;
}

static char *entry_of(const struct parting *parting, const char *path, const char *name)
{
	return arena_printf(parting->p->arena, "%s/%s", path[1] ? path : "", name);
}

static void note_if_earlier(const struct rule **first, const struct rule *rule)
{
	if (!*first || rule->index < (*first)->index)
		*first = rule;
}

static void look_at_pattern(void *context, const struct rule *rule, const struct test *test)
{
	struct parting *parting = context;
	const struct rule *found = NULL;
	char *texts[2] = {NULL, NULL};

	if (!op_inherits(parting->op, rule->op) || rule->verdict == parting->usual)
		return;
	if (!is_fixed(test->match)) {
		note_if_earlier(&parting->maybe, rule);
		return;
	}
	if (!str_is_below(test->text, str_of(parting->path)))
		return;
	texts[0] = arena_strdup(parting->p->arena, test->text);
	if (texts[0])
		texts[1] = entry_of(parting, texts[0], unlike_any_other);
	for (size_t i = 0; i < 2 && texts[i]; i++)
		if (ask_op(parting, texts[i], &found) != parting->usual && found)
			note_if_earlier(&parting->first, found);
}

/* The first rule that makes answers to OP differ at PATH or below it, or NULL. */
static const struct rule *rule_parting(const struct planner *p, enum op op, const char *path)
{
	struct parting parting = {.p = p, .op = op, .path = path};
	const struct rule *usual = NULL;
	char *entry = entry_of(&parting, path, unlike_any_other);

	if (!entry)
		return NULL;
	parting.usual = ask_op(&parting, entry, &usual);
	policy_each_path(p->policy, look_at_pattern, &parting);
	return parting.first ? parting.first : parting.maybe;
}

static const struct rule *rule_at(const struct planner *p, enum op op, const char *path)
{
	struct parting parting = {.p = p, .op = op};
	const struct rule *ret = NULL;

	(void)ask_op(&parting, path, &ret);
	return ret;
}

static const struct rule *rule_of_parting(const struct planner *p,
					  const struct plan_parting *parting)
{
	const struct territory *territory = territory_of(str_of(parting->path));
	const struct uses *uses = territory && territory_asks(territory, parting->group)
					  ? &territory->uses[parting->group]
					  : &groups[parting->group].uses;
	const struct rule *ret = NULL;

	for (size_t u = 0; u < 2; u++)
		for (const enum op *op = uses->ops[u]; *op != OP_DEFAULT && !ret; op++)
			ret = rule_parting(p, *op, parting->path);
	/* Making and removing names also moves objects, which must not become more permitted. */
	for (const enum op *op = plan_move_ops; *op != OP_COUNT && !ret; op++)
		ret = rule_parting(p, *op, parting->path);
	return ret ? ret : rule_at(p, uses->ops[0][0], parting->path);
}

/* The first rule of one of OPS, or of what they fall to: one that denies or, FILTERED, has a
 * filter.
 */
static const struct rule *first_rule(const struct planner *p, const enum op *ops, bool filtered)
{
	for (size_t i = 0; i < policy_n_rules(p->policy); i++) {
		const struct rule *rule = policy_rule(p->policy, i);

		if (!rule_applies(rule) ||
		    (filtered ? !rule->filter : rule->verdict != VERDICT_DENY))
			continue;
		for (const enum op *op = ops; *op != OP_COUNT; op++)
			if (can_decide(p, rule, *op))
				return rule;
	}
	return NULL;
}

static const struct {
	enum broker_class class;
	uint64_t when; /* the rows of the filter that ask about it */
	unsigned opens;
	const char *why;
	enum op ops[7]; /* of whose rules the first is named; OP_COUNT ends them */
	bool filtered;  /* the first that has a filter */
} class_rows[] = {
	{BROKER_READ,
	 WHEN_READ | WHEN_OPENAT2,
	 10,
	 "what may be read differs from name to name",
	 {OP_FILE_READ_DATA, OP_COUNT}},
	{BROKER_WRITE,
	 WHEN_WRITE | WHEN_OPENAT2,
	 12,
	 "what may be written, made or moved differs from name to name",
	 {OP_FILE_WRITE_DATA, OP_FILE_WRITE_CREATE, OP_FILE_WRITE_UNLINK, OP_COUNT}},
	{BROKER_ATTR,
	 WHEN_ATTR | WHEN_ACCESS | WHEN_SETUGID | WHEN_FLAGS,
	 12,
	 "Landlock has no right for it, and some of it is denied",
	 {OP_FILE_WRITE_MODE, OP_FILE_WRITE_OWNER, OP_FILE_WRITE_TIMES, OP_FILE_WRITE_ACL,
	  OP_FILE_WRITE_XATTR, OP_FILE_WRITE_FLAGS, OP_COUNT}},
	{BROKER_UNIX,
	 WHEN_UNIX | WHEN_LISTEN,
	 10,
	 "Landlock has no right for unix sockets by path, and some of them are denied",
	 {OP_NETWORK_OUTBOUND, OP_NETWORK_BIND, OP_NETWORK_INBOUND, OP_COUNT}},
	{BROKER_INET,
	 WHEN_INET,
	 15,
	 "the answer differs from address to address",
	 {OP_NETWORK_OUTBOUND, OP_NETWORK_BIND, OP_NETWORK_INBOUND, OP_COUNT},
	 true},
	{BROKER_INHERITED,
	 WHEN_INHERITED,
	 15,
	 "the command is started with sockets of a network that it may not use",
	 {OP_NETWORK_OUTBOUND, OP_NETWORK_BIND, OP_NETWORK_INBOUND, OP_COUNT}},
	{BROKER_EXEC,
	 WHEN_EXEC,
	 10,
	 "what may be executed differs from program to program",
	 {OP_PROCESS_EXEC_ANY, OP_PROCESS_EXEC_INTERPRETER, OP_COUNT}},
	{BROKER_SIGNAL,
	 WHEN_SIGNAL,
	 10,
	 "the kernel cannot tell who may be signalled",
	 {OP_SIGNAL, OP_COUNT}},
};

static struct plan_parting parting_of(const struct plan *plan, enum broker_class class)
{
	switch ((unsigned)class) {
	case BROKER_READ:
		return plan->parted_read;
	case BROKER_WRITE:
		return plan->parted_write;
	case BROKER_EXEC:
		/* Nobody else could tell scripts from programs, whatever the floor can say. */
		return plan->parted_exec.path ? plan->parted_exec
					      : (struct plan_parting){"/", GROUP_EXEC};
	default:
		return (struct plan_parting){NULL, 0};
	}
}

static int add_class(struct reporter *r, const struct class_report *class, uint64_t when)
{
	struct class_report *copy = &r->report->classes[r->report->n_classes++];

	*copy = *class;
	copy->calls = seccomp_calls(&r->p, when);
	return copy->calls ? 0 : -ERR_MEMORY;
}

static int report_classes(struct reporter *r)
{
	const struct planner *p = &r->p;
	int result = 0;

	r->report->classes =
		arena_array(p->arena, COUNT(class_rows) + 1, sizeof(*r->report->classes));
	if (!r->report->classes)
		return -ERR_MEMORY;
	for (size_t i = 0; i < COUNT(class_rows) && result == 0; i++) {
		const struct plan_parting parting = parting_of(p->plan, class_rows[i].class);
		struct class_report class = {.class = class_rows[i].class,
					     .opens = class_rows[i].opens,
					     .why = class_rows[i].why};

		if (!(p->plan->brokered & class.class))
			continue;
		if (p->plan->for_inside & class.class)
			class.why = "lapbelt inside may deny some of it";
		else if (parting.path)
			class.rule = rule_of_parting(p, &parting);
		else
			class.rule = first_rule(p, class_rows[i].ops, class_rows[i].filtered);
		if (class.rule && names_paths(class.rule->filter) &&
		    !str_is(str_of(parting.path), "/"))
			class.path = parting.path;
		result = add_class(r, &class, class_rows[i].when);
	}
	if (result == 0 && p->plan->brokered)
		result = add_class(r,
				   &(struct class_report){
					   .opens = 4,
					   .why = "the broker has to know its callers' mask and "
						  "ids, and to let go "
						  "of what they lock",
				   },
				   WHEN_BROKER | WHEN_IDS | WHEN_LOCKS);
	return result;
}

/* ---- The whole ---- */

int plan_report(const struct plan *plan, const struct plan_input *input, struct arena *arena,
		struct report *ret, struct err *e)
{
	struct plan copy = *plan;
	struct report report = {.n_rules = 0};
	struct reporter r = {
		.p = {.input = input,
		      .policy = input->policy,
		      .caps = input->caps,
		      .arena = arena,
		      .plan = &copy},
		.report = &report,
	};

	facts_collect(&r.p);
	if (report_rules(&r) < 0 || collect_other_gaps(&r) < 0 || report_classes(&r) < 0)
		return err_memory(e);
	*ret = report;
	return 0;
}
