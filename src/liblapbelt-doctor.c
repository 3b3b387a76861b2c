/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt_doctor(): this machine, and what follows for the default policy. */
#include <lapbelt.h>

#include <stdlib.h>

#include "facade.h"
#include "session/doctor.h"
#include "session/session.h"
#include "base/banned.h"

struct telling {
	void (*each)(void *context, const struct lapbelt_finding *finding);
	void *context;
};

static void tell(void *context, const struct finding *finding)
{
	const struct telling *telling = context;

	telling->each(telling->context, &(struct lapbelt_finding){
						.name = finding->name,
						.value = finding->value,
						.good = finding->good,
						.text = finding->text,
						.help = finding->help ? finding->help : "",
					});
}

/* session_print: the rule and the text of what stops a run; nothing, if nothing does. */
static void put_refusal(const struct plan *plan, const struct plan_input *input,
			const struct report *report, struct buf *ret)
{
	const struct gap *gap = plan_refusal(plan);

	(void)input;
	(void)report;
	buf_puts(ret, gap ? gap->text : "");
}

/* Plans `lapbelt run` here, in whatever working directory. 0 with *RET "" if nothing stops it. */
static int plan_default(struct buf *ret, struct lapbelt_error *error)
{
	static const char *const write[] = {".", NULL};
	const struct lapbelt_default_options options = {.size = sizeof(options), .write = write};
	const struct session_options session = {.private_scope = SCOPE_ALL};
	struct lapbelt_policy *policy;
	struct err e = {0};
	int r = lapbelt_policy_default(&options, &policy, error);

	if (r < 0)
		return r;
	r = session_plan(policy->compiled, &session, put_refusal, ret, &e);
	lapbelt_policy_free(policy);
	return r < 0 ? facade_fail(error, &e) : 0;
}

int lapbelt_doctor(void (*each)(void *context, const struct lapbelt_finding *finding),
		   void *context, int *ret_enforced, struct lapbelt_error *error)
{
	struct telling telling = {each, context};
	struct lapbelt_finding last = {.name = "default-policy", .help = ""};
	struct lapbelt_error own = LAPBELT_ERROR_INIT;
	struct buf refusal = {0};
	int r = plan_default(&refusal, &own);

	if (r < 0 && own.code != LAPBELT_GAP) {
		if (error)
			*error = own;
		buf_release(&refusal);
		return r;
	}
	session_doctor(tell, &telling);
	last.good = r == 0 && refusal.n == 0;
	last.value = last.good ? "yes" : "no";
	last.text = r < 0 ? own.text : refusal.n ? refusal.p : "is enforced, all contents included";
	last.help = r < 0 ? own.hint : "";
	each(context, &last);
	*ret_enforced = last.good;
	buf_release(&refusal);
	return 0;
}
