/* SPDX-License-Identifier: Apache-2.0 */
/* Who can be signalled: all that a process can be at once, as policies tell it apart. */
#include "plan/plan.h"

#include "base/banned.h"

#define TARGET(name) (1u << SIGNAL_TARGET_##name)

/* Rows end with 0. Oneself has no parent in oneself; the first process may lead everybody's group.
 */
static const unsigned relations[][6] = {
	[SIGNAL_INSIDE] =
		{
			TARGET(SELF) | TARGET(PGRP) | TARGET(SAME_SANDBOX),
			TARGET(SAME_SANDBOX),
			TARGET(SAME_SANDBOX) | TARGET(PGRP),
			TARGET(SAME_SANDBOX) | TARGET(CHILDREN),
			TARGET(SAME_SANDBOX) | TARGET(CHILDREN) | TARGET(PGRP),
		},
	[SIGNAL_OUTSIDE] =
		{
			TARGET(OTHERS),
			TARGET(OTHERS) | TARGET(PGRP),
			TARGET(OTHERS) | TARGET(INITPROC),
			TARGET(OTHERS) | TARGET(INITPROC) | TARGET(PGRP),
		},
};

unsigned plan_signal_verdicts(const struct policy *policy, enum signal_side side, int number)
{
	struct request request = {.op = OP_SIGNAL, .has = HAS_SIGNAL, .signal = number};
	unsigned ret = 0;

	for (const unsigned *targets = relations[side]; *targets; targets++) {
		struct decision decision;

		request.targets = *targets;
		policy_decide(policy, &request, &decision);
		ret |= 1u << decision.verdict;
	}
	return ret;
}
