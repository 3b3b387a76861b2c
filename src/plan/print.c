/* SPDX-License-Identifier: Apache-2.0 */
/* The plan for people. Paths come from policies and disks: they are escaped. */
#include "plan/planner.h"

#include "base/banned.h"

struct word {
	unsigned bits;
	const char *text;
};

static const struct word scopes[] = {
	{SCOPE_PID, "pid"}, {SCOPE_IPC, "ipc"}, {SCOPE_NET, "net"},
	{SCOPE_TMP, "tmp"}, {SCOPE_SHM, "shm"}, {SCOPE_PTS, "pts"},
};

static const struct word namespaces[] = {
	{NS_USER, "user"}, {NS_MOUNT, "mount"}, {NS_PID, "pid"}, {NS_IPC, "ipc"}, {NS_NET, "net"},
};

static const struct word rights[] = {
	{LL_READ_FILE, "read"},     {LL_READ_DIR, "list"},     {LL_EXECUTE, "exec"},
	{LL_WRITE_FILE, "write"},   {LL_TRUNCATE, "truncate"}, {LL_MAKE_REG, "create"},
	{LL_REMOVE_FILE, "unlink"}, {LL_REFER, "move"},        {LL_MAKE_CHAR, "nodes"},
	{LL_IOCTL_DEV, "ioctl"},
};

static const struct word classes[] = {
	{BROKER_WRITE, "write"},   {BROKER_READ, "read"},           {BROKER_ATTR, "attributes"},
	{BROKER_UNIX, "unix"},     {BROKER_INET, "inet"},           {BROKER_EXEC, "exec"},
	{BROKER_SIGNAL, "signal"}, {BROKER_INHERITED, "inherited"},
};

static const char *const mount_words[] = {
	[MOUNT_PRIVATE_TMP] = "private", [MOUNT_PRIVATE_SHM] = "private",
	[MOUNT_PRIVATE_PTS] = "private", [MOUNT_PROC] = "proc",
	[MOUNT_HIDE] = "hide",           [MOUNT_KEEP] = "keep",
};

static const char *const gap_words[] = {
	[GAP_CONTENT] = "content",
	[GAP_METADATA] = "metadata",
	[GAP_STRICTER] = "stricter",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void put_words(struct buf *ret, const struct word *words, size_t n, unsigned bits)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (!(bits & words[i].bits))
			continue;
		buf_printf(ret, " %s", words[i].text);
		any = true;
	}
	if (!any)
		buf_puts(ret, " none");
}

/* Who works in all of /tmp shares it, whatever was asked for. */
static bool shares_tmp(const struct plan_input *input)
{
	for (size_t i = 0; i < input->n_keep; i++)
		if (str_is(input->keep[i], "/tmp"))
			return true;
	return false;
}

static void put_scope(const struct plan_input *input, struct buf *ret)
{
	unsigned private_scope = input->private_scope;

	if (shares_tmp(input))
		private_scope &= ~(unsigned)SCOPE_TMP;
	buf_puts(ret, ";; scope:");
	for (size_t i = 0; i < COUNT(scopes); i++)
		buf_printf(ret, "%s %s %s", i ? "," : "", scopes[i].text,
			   private_scope & scopes[i].bits ? "private" : "shared");
	buf_putc(ret, '\n');
}

static void put_mounts(const struct plan *plan, struct buf *ret)
{
	buf_puts(ret, "namespaces:");
	put_words(ret, namespaces, COUNT(namespaces), plan->ns);
	buf_printf(ret, "\nmounts: %zu\n", plan->n_mounts);
	for (size_t i = 0; i < plan->n_mounts; i++) {
		buf_printf(ret, "  %s ", mount_words[plan->mounts[i].kind]);
		buf_add_escaped(ret, str_of(plan->mounts[i].path));
		buf_puts(ret, plan->mounts[i].read_only ? " (read-only)\n" : "\n");
	}
}

static void put_rows(const struct plan *plan, struct buf *ret)
{
	buf_printf(ret, "floor: %zu rows\n", plan->n_rows);
	for (size_t i = 0; i < plan->n_rows; i++) {
		buf_puts(ret, "  ");
		buf_add_escaped(ret, str_of(plan->rows[i].path));
		buf_putc(ret, ':');
		put_words(ret, rights, COUNT(rights), plan->rows[i].rights);
		buf_putc(ret, '\n');
	}
}

static void put_place(const struct rule *rule, struct buf *ret)
{
	if (!rule || !rule->at.file)
		return;
	buf_add_escaped(ret, str_of(rule->at.file));
	buf_printf(ret, ":%u:%u: ", rule->at.line, rule->at.column);
}

/*
 * Rules that mean nothing on Linux. One that names several operations was entered for each, in a
 * row.
 */
static void put_inapplicable(const struct policy *policy, struct buf *ret)
{
	struct buf lines = {.p = NULL};
	size_t n = policy_n_rules(policy), found = 0;

	for (size_t i = 0, next; i < n; i = next) {
		const struct rule *rule = policy_rule(policy, i);
		bool applies = rule->origin != ORIGIN_PROFILE;

		for (next = i; next < n && policy_rule(policy, next)->text.p == rule->text.p;
		     next++)
			applies = applies || rule_applies(policy_rule(policy, next));
		if (applies)
			continue;
		found++;
		buf_puts(&lines, "  ");
		put_place(rule, &lines);
		buf_add_escaped(&lines, rule->text);
		buf_putc(&lines, '\n');
	}
	buf_printf(ret, "not applicable: %zu\n", found);
	buf_add_str(ret, buf_str(&lines));
	ret->failed |= lines.failed;
	buf_release(&lines);
}

static void put_gap(const struct gap *gap, struct buf *ret)
{
	buf_printf(ret, "  %s: ", gap_words[gap->kind]);
	put_place(gap->rule, ret);
	buf_add_escaped(ret, str_of(gap->text));
	if (gap->rule && gap->rule->text.n) {
		buf_puts(ret, " [");
		buf_add_escaped(ret, gap->rule->text);
		buf_putc(ret, ']');
	}
	if (gap->help)
		buf_printf(ret, " (would help: %s)", gap->help);
	buf_putc(ret, '\n');
}

void plan_print(const struct plan *plan, const struct plan_input *input, struct buf *ret)
{
	put_scope(input, ret);
	put_mounts(plan, ret);
	put_rows(plan, ret);
	buf_puts(ret, "broker:");
	put_words(ret, classes, COUNT(classes), plan->brokered);
	buf_printf(ret, "\nfilter: %zu instructions\ngaps: %zu\n", plan->n_filter, plan->n_gaps);
	for (size_t i = 0; i < plan->n_gaps; i++)
		put_gap(&plan->gaps[i], ret);
	put_inapplicable(input->policy, ret);
}
