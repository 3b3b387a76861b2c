/* SPDX-License-Identifier: Apache-2.0 */
/* words: what the parts of a plan are called, in its text and in its JSON. */
#ifndef PLAN_WORDS_H
#define PLAN_WORDS_H

#include "plan/plan.h"

struct word {
	unsigned bits;
	const char *text; /* NULL ends a table */
};

extern const struct word scope_words[], ns_words[], fs_words[], net_words[], scoped_words[],
	class_words[], lane_words[], mechanism_words[];

const char *mount_word(enum mount_kind kind);
const char *gap_word(enum gap_kind kind);

/* What of the scope is private in truth: who works in all of /tmp shares it. */
unsigned private_in_truth(const struct plan_input *input);

/* "private", "shared", or "outer": private to the sandbox around us, and shared with that. */
const char *whose_scope(const struct plan_input *input, unsigned scope);

/* Does FORM hold as written? */
static inline bool is_exact(const struct rule_report *form)
{
	return form->applies && !form->n_gaps;
}

#endif
