/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt prove: what a policy never or always allows. Silence and 0, or a counterexample and 1. */
#include <lapbelt.h>

#include <string.h>

#include "base/buf.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "base/banned.h"

/* A file of that name is given with -f. */
static bool is_assertion(const char *word)
{
	static const char *const verbs[] = {"never", "always"};

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(verbs[i]);

		if (strncmp(word, verbs[i], n) == 0 && (!word[n] || strchr(" \t\n", word[n])))
			return true;
	}
	return false;
}

static void add_counterexample(void *context, const struct lapbelt_difference *found)
{
	struct buf *text = context;

	diag_add_request(text, found->request);
	buf_puts(text, "\n  ");
	diag_add_rule(text, found->from.file, found->from.line, found->from.column,
		      found->from.rule);
	buf_puts(text, "\n  ");
	diag_add_decision(text, &found->to);
	buf_putc(text, '\n');
}

static int prove_all(const struct lapbelt_policy *policy, char *const *assertions)
{
	struct buf text = {0};
	int worst = 0;

	for (; *assertions; assertions++) {
		struct lapbelt_error error = LAPBELT_ERROR_INIT;
		int holds = 0, status = 1;

		if (lapbelt_prove(policy, *assertions, add_counterexample, &text, &holds, &error) <
		    0)
			status = diag_error(&error);
		else if (holds)
			status = 0;
		worst = status > worst ? status : worst;
	}
	out_print(&text);
	return worst;
}

static int prove(struct args *args, char **words)
{
	struct lapbelt_policy *policy;
	int status;

	if (args->source == SOURCE_DEFAULT && words[0] && !is_assertion(words[0]))
		args_take_policy(args, *words++);
	if (!words[0])
		return diag_usage("prove", "no assertion to prove");
	status = args_policy(args, args->like_exec ? LAPBELT_POLICY_RUNTIME : 0, &policy);
	if (status)
		return status;
	status = prove_all(policy, words);
	lapbelt_policy_free(policy);
	return status;
}

static const struct opt *const options[] = {
	&opt_file,   &opt_text,      &opt_name,      &opt_param, &opt_write,
	&opt_target, &opt_like_exec, &opt_help_text, NULL,
};

const struct command command_prove = {
	"prove",
	"[POLICY] 'never OPERATION... [FILTER]' | 'always OPERATION... [FILTER]' ...",
	"Prove what a policy never or always allows, or show a request that it answers otherwise.",
	options,
	prove,
};
