/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter of a run inside another sandbox. There can be no second listener, so calls that we
 * would ask about go through to the filter around ours, if that one asks.
 */
#include "plan/seccomp.h"

#include "base/banned.h"

static bool counts(const struct call_row *row, uint64_t active)
{
	return row->when == WHEN_ALWAYS || (row->when & active);
}

static bool is_of_lane(const struct call_row *row)
{
	return (row->when & WHEN_ANY_LANE) != 0;
}

/*
 * Does the filter around ours ask its broker about all that ROW asks about, or refuse it? What it
 * allows sooner must have been decided by a row of ours before. FIRST: of the rows of its call.
 */
static bool is_asked_outside(const struct call_row *first, const struct call_row *row,
			     uint64_t active, uint64_t outer)
{
	for (const struct call_row *other = first;
	     other < call_rows + n_call_rows && other->call == row->call; other++) {
		bool allows = other->action == SECCOMP_ALLOW;

		/* What the lane lets through there has a row of ours. */
		if (!counts(other, outer) || is_of_lane(other))
			continue;
		if (allows && !(other < row && counts(other, active)))
			return false;
		if (!allows && (other == row || other->tests[0].kind == ARG_NONE))
			return true;
	}
	return false;
}

/* The lane is open where it is for both: their floors bound its calls together. */
static uint32_t lane_action(const struct planner *p, const struct call_row *row)
{
	if (row->when & WHEN_LANE(p->plan->lane))
		return row->action;
	return SECCOMP_ERRNO | (row->action == SECCOMP_ALLOW ? LINUX_EACCES : LINUX_EINVAL);
}

/* Of what we would ask about and nobody does. */
static uint32_t unasked_action(enum call call)
{
	switch (call) {
	case CALL_ACCESS: /* it only tells, and opening does not depend on it */
	case CALL_FACCESSAT:
	case CALL_FACCESSAT2:
		return SECCOMP_ALLOW;
	case CALL_OPENAT2: /* programs that miss it do without */
		return SECCOMP_ERRNO | LINUX_ENOSYS;
	default:
		return SECCOMP_ERRNO | LINUX_EPERM;
	}
}

const struct call_row *rows_inside(const struct planner *p, uint64_t *active)
{
	struct call_row *rows = arena_array(p->arena, n_call_rows, sizeof(*rows));
	const struct call_row *first = call_rows;
	const uint64_t outer = p->caps->outer.when;

	/* Who makes sockets for whom, and holds what for how long, is not ours to say; and what the
	 * lane serves around us, and not for us, has to be refused. */
	*active = (*active & ~(WHEN_HELD | WHEN_LOCKS)) | (outer & WHEN_ANY_LANE);
	for (size_t i = 0; rows && i < n_call_rows; i++) {
		const struct call_row *row = &call_rows[i];

		rows[i] = *row;
		if (row->call != first->call)
			first = row;
		if (is_of_lane(row))
			rows[i].action = lane_action(p, row);
		else if (row->action == SECCOMP_USER_NOTIF)
			rows[i].action = is_asked_outside(first, row, *active, outer)
						 ? SECCOMP_ALLOW
						 : unasked_action(row->call);
	}
	return rows;
}

/* ---- What it cannot do ---- */

bool is_inet_refused_outside(const struct planner *p)
{
	const uint64_t lets = WHEN_FREE_INET | WHEN_TCP_UDP | WHEN_INET | WHEN_FREE_UDP |
			      WHEN_INHERITED | WHEN_HELD;

	return p->plan->nested && !(p->caps->outer.when & lets);
}

int gaps_inside(struct planner *p)
{
	static const struct {
		uint64_t when, outer; /* one of these has to count around us */
		enum op op;
		const char *text;
	} rows[] = {
		{WHEN_MEMFD, WHEN_MEMFD, OP_PROCESS_EXEC_ANY,
		 "files without a name (memfd) are refused: the sandbox around us lets them be "
		 "executed"},
		{WHEN_FLAGS, WHEN_FLAGS, OP_FILE_WRITE_FLAGS,
		 "inode flags cannot be changed: the sandbox around us does not judge that"},
		{WHEN_LISTEN, WHEN_LISTEN | WHEN_INET | WHEN_INHERITED | WHEN_HELD,
		 OP_NETWORK_INBOUND,
		 "nobody can listen at unix sockets: the sandbox around us does not judge that"},
		{WHEN_OTHERS | WHEN_OUTSIDERS, WHEN_OTHERS, OP_DEFAULT,
		 "limits and priorities of other processes cannot be set: the sandbox around us "
		 "does not judge that"},
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0 && p->plan->nested; i++)
		if ((p->plan->when & rows[i].when) && !(p->caps->outer.when & rows[i].outer))
			r = gap_add(p,
				    (struct gap){
					    .kind = GAP_STRICTER,
					    .ops = {rows[i].op},
					    .rule = rows[i].op ? rule_denying(p->policy, rows[i].op)
							       : NULL,
					    .others = true,
					    .text = rows[i].text,
				    });
	return r;
}
