/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt_lint(): what is wrong with a policy that compiles. */
#include <lapbelt.h>

#include "base/arena.h"
#include "base/err.h"
#include "facade.h"
#include "policy/lint.h"
#include "base/banned.h"

int lapbelt_lint(const struct lapbelt_policy *policy,
		 void (*warn)(void *context, const struct lapbelt_warning *warning), void *context,
		 struct lapbelt_error *error)
{
	struct arena arena = {0};
	struct findings findings;
	struct err e = {0};
	int r = lint(policy->compiled, LINT_LIMITS_DEFAULT, &arena, &findings, &e);

	for (size_t i = 0; r == 0 && i < findings.n; i++) {
		const struct finding *finding = &findings.list[i];
		const struct lapbelt_warning warning = {
			.kind = lint_kind_name(finding->kind),
			.file = finding->at.file ? finding->at.file : "",
			.line = finding->at.line,
			.column = finding->at.column,
			.text = finding->text,
			.hint = finding->hint ? finding->hint : "",
			.path = finding->path.n ? finding->path.p : "",
		};

		warn(context, &warning);
	}
	arena_release(&arena);
	return r < 0 ? facade_fail(error, &e) : 0;
}

const char *const *lapbelt_lint_kinds(void)
{
	static const char *const kinds[] = {
#define LINT(symbol, name) (name),
#include "policy/lint.def"
#undef LINT
		NULL,
	};

	return kinds;
}
