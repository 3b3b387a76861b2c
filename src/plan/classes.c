/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which classes of system calls the broker has to answer: those where the
 * policy says more than the floor, the filter and the name spaces can.
 */
#include "plan/planner.h"

#include "base/banned.h"

enum {
	CAN_BOTH = CAN_ALLOW | CAN_DENY
};

static bool needs_write(const struct planner *p)
{
	/* Before version 3 Landlock does not see truncation. Mounts do. */
	return p->floor.write ||
	       (p->caps->landlock_abi < 3 && !p->held.on && p->facts.write_data != CAN_ALLOW);
}

/* Where processes are private to the run around us, ours can see the others and no more. */
static bool reaches_outside(const struct planner *p)
{
	return !is_private(p, SCOPE_PID) && !is_around(p, SCOPE_PID);
}

static bool needs_signal(const struct planner *p)
{
	/* A pid namespace does not bound kill(0): the process group reaches around it. */
	bool by_kernel = p->caps->landlock_abi >= 6;
	unsigned outside = reaches_outside(p) ? p->facts.signal_outside : CAN_DENY;

	if (p->facts.signal_inside != CAN_ALLOW)
		return true;
	return outside != CAN_ALLOW && !(outside == CAN_DENY && by_kernel);
}

static unsigned inet(const struct planner *p)
{
	const struct facts *facts = &p->facts;

	return facts->inet_out[TRANSPORT_TCP] | facts->inet_out[TRANSPORT_UDP] |
	       facts->inet_in[TRANSPORT_TCP] | facts->inet_in[TRANSPORT_UDP];
}

/* Where nothing is to be judged of sockets that can be made: is there of those from before? */
static bool needs_inherited(const struct planner *p)
{
	unsigned others = p->facts.inet_other | p->facts.no_address;

	if (!p->input->inherits_network)
		return false;
	return inet(p) == CAN_DENY || (inet(p) == CAN_ALLOW && others != CAN_ALLOW);
}

static unsigned needed(const struct planner *p)
{
	unsigned ret = 0;

	if (needs_write(p))
		ret |= BROKER_WRITE;
	if (p->floor.read)
		ret |= BROKER_READ;
	if (!p->held.on && (p->facts.attributes != CAN_ALLOW || p->facts.setugid != CAN_ALLOW))
		ret |= BROKER_ATTR;
	if (p->facts.unix_socket != CAN_ALLOW)
		ret |= BROKER_UNIX;
	if (inet(p) == CAN_BOTH)
		ret |= BROKER_INET;
	if (needs_inherited(p))
		ret |= BROKER_INHERITED;
	if (p->facts.exec == CAN_BOTH)
		ret |= BROKER_EXEC;
	if (needs_signal(p))
		ret |= BROKER_SIGNAL;
	return ret;
}

/* What a policy inside may deny some of, where ours allows all. */
static unsigned deniable(const struct planner *p)
{
	const struct facts *facts = &p->facts;
	unsigned ret = BROKER_WRITE | BROKER_READ | BROKER_ATTR | BROKER_EXEC | BROKER_SIGNAL;

	if (facts->unix_socket & CAN_ALLOW)
		ret |= BROKER_UNIX;
	if (inet(p) & CAN_ALLOW)
		ret |= BROKER_INET;
	return ret;
}

/* In that network there is only the session, or the run around it. */
static bool has_own_net(const struct planner *p)
{
	return has_ns(p, NS_NET) || is_around(p, SCOPE_NET);
}

/* What Landlock refuses beside files: a second lock behind the filter. */
static void plan_backstops(struct planner *p)
{
	struct plan *plan = p->plan;

	if (p->caps->landlock_abi >= 4 && !has_own_net(p)) {
		if (p->facts.inet_out[TRANSPORT_TCP] != CAN_ALLOW)
			plan->landlock_net |= LL_NET_CONNECT_TCP;
		if (p->facts.inet_in[TRANSPORT_TCP] != CAN_ALLOW)
			plan->landlock_net |= LL_NET_BIND_TCP;
	}
	if (p->caps->landlock_abi < 6)
		return;
	if (p->facts.unix_socket != CAN_ALLOW)
		plan->landlock_scoped |= LL_SCOPED_ABSTRACT_UNIX;
	if (!reaches_outside(p) || p->facts.signal_outside == CAN_DENY)
		plan->landlock_scoped |= LL_SCOPED_SIGNAL;
}

/* Do setuid and setgid bits do nothing there? Private mounts are nosuid. */
static bool is_nosuid(const struct plan *plan, struct str path)
{
	return !plan_is_mounted(plan, MOUNT_KEEP, path) &&
	       (plan_is_mounted(plan, MOUNT_PRIVATE_TMP, path) ||
		plan_is_mounted(plan, MOUNT_PRIVATE_SHM, path) ||
		plan_is_mounted(plan, MOUNT_PRIVATE_PTS, path));
}

/* Landlock does not look at the mode of what is made: is it nobody's business wherever the floor
 * lets files be made? */
static bool bounds_modes(const struct planner *p)
{
	const uint32_t makes = LL_MAKE_REG | LL_WRITE_FILE; /* the latter with O_TMPFILE */
	const struct plan *plan = p->plan;
	bool ret = true;

	for (size_t i = 0; i < plan->n_rows && p->facts.setugid != CAN_ALLOW; i++)
		if (plan->rows[i].directory && (plan->rows[i].rights & makes))
			ret &= is_nosuid(plan, str_of(plan->rows[i].path));
	return ret;
}

void classes_plan(struct planner *p)
{
	p->needed = needed(p);
	if (p->input->nestable) {
		p->plan->for_inside = deniable(p) & ~p->needed;
		p->needed |= p->plan->for_inside;
	}
	p->plan->nested = p->caps->outer.asks && !p->caps->notify;
	for (unsigned class = 1; class <= p->needed; class <<= 1)
		if ((p->needed & class) && can_broker(p, class))
			p->plan->brokered |= class;
	p->plan->for_inside &= p->plan->brokered;
	p->plan->floor_bounds_openat2 = p->plan->floor_bounds_open && bounds_modes(p);
	/* Nobody could judge them, or there is nothing to judge. */
	p->no_inet = (inet(p) == CAN_DENY && !has_own_net(p)) ||
		     ((p->needed & BROKER_INET) && !can_broker(p, BROKER_INET));
	/* Those that need no judging can be made, and nothing else. */
	p->tcp_udp_only = inet(p) == CAN_ALLOW && p->facts.inet_other != CAN_ALLOW;
	p->no_others = p->facts.other_families != CAN_ALLOW || p->no_inet || p->tcp_udp_only ||
		       (p->needed & BROKER_INET);
	p->netlink = p->facts.system_socket == CAN_ALLOW || has_own_net(p);
	plan_backstops(p);
}
