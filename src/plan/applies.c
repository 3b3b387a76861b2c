/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rules mean something on Linux. The others parse and decide like any; there is nothing they
 * could allow or deny.
 */
#include "plan/planner.h"

#include "base/banned.h"

/* Judged, as far as gaps do not say otherwise; with what falls to them. */
static const enum op judged[] = {
	OP_FILE_ANY,         OP_FILE_LINK,    OP_FILE_WRITE_SETUGID,
	OP_PROCESS_EXEC_ANY, OP_PROCESS_FORK, OP_NETWORK_ANY,
	OP_SIGNAL,           OP_IPC_ANY,      OP_SYSCTL_ANY,
};

/* What Linux has too, and gaps speak of as a whole. */
static const enum op known[] = {
	OP_DYNAMIC_CODE_GENERATION, OP_FILE_CLONE,          OP_FILE_LOCK,
	OP_FILE_MAP_EXECUTABLE,     OP_FILE_TEST_EXISTENCE, OP_FS_QUOTA_ANY,
	OP_PROCESS_INFO_ANY,        OP_PSEUDO_TTY,          OP_SOCKET_IOCTL,
	OP_SOCKET_OPTION_ANY,       OP_SYSTEM_ACCT,         OP_SYSTEM_FCNTL,
	OP_SYSTEM_KEXT_LOAD,        OP_SYSTEM_REBOOT,       OP_SYSTEM_SCHED,
	OP_SYSTEM_SET_TIME,         OP_SYSTEM_SOCKET,       OP_SYSTEM_SWAP,
};

/* What Linux does not have, among what falls to the above. */
static const enum op missing[] = {
	OP_FILE_ISSUE_EXTENSION,      OP_FILE_REVOKE, OP_FILE_SEARCH, OP_FILE_WRITE_FINDERINFO,
	OP_IPC_POSIX_ISSUE_EXTENSION,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Is OP one of LIST, above or below one? */
static bool touches(const enum op *list, size_t n, enum op op)
{
	for (size_t i = 0; i < n; i++)
		if (op_inherits(list[i], op) || op_inherits(op, list[i]))
			return true;
	return false;
}

static bool is_missing(enum op op)
{
	for (size_t i = 0; i < COUNT(missing); i++)
		if (op == missing[i])
			return true;
	return false;
}

bool op_is_judged(enum op op)
{
	return touches(judged, COUNT(judged), op) && !is_missing(op);
}

/* Can EXPR hold for no request of a Linux kernel? */
/* NOLINTNEXTLINE(misc-no-recursion): EXPR_DEPTH_MAX */
static bool never_holds(const struct expr *expr)
{
	size_t n = 0;

	if (expr->kind == EXPR_TEST)
		return filter_is_darwin_only(expr->test.filter);
	if (expr->kind == EXPR_NOT)
		return false;
	for (size_t i = 0; i < expr->n; i++)
		n += never_holds(expr->kids[i]);
	return expr->kind == EXPR_ALL ? n > 0 : n == expr->n;
}

bool rule_applies(const struct rule *rule)
{
	if (rule->filter && never_holds(rule->filter))
		return false;
	return op_is_judged(rule->op) ||
	       (touches(known, COUNT(known), rule->op) && !is_missing(rule->op));
}
