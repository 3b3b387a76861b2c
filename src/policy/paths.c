/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/paths.h"

#include <assert.h>

#include "policy/impl.h"
#include "policy/product.h"

#include "base/banned.h"

static int pass_on(void *context, const struct product_stop *stop)
{
	const struct paths_options *options = context;
	const struct paths_stop here = {stop->states, stop};

	return options->each(options->context, &here);
}

int paths_walk(const struct paths_options *options, struct err *e)
{
	static_assert((int)PATHS_SKIP == (int)PRODUCT_SKIP, "one word for two walks");
	const struct dfa *dfas[PATHS_POLICIES_MAX];
	struct paths_options own = *options;
	struct product_options product = {.dfas = dfas,
					  .n = options->n,
					  .canonical = true,
					  .stops = options->stops,
					  .memory = options->memory,
					  .each = pass_on,
					  .context = &own};
	int r;

	for (size_t i = 0; i < options->n; i++)
		dfas[i] = &options->policies[i]->paths;
	r = product_walk(&product);
	if (r != PRODUCT_TOO_MUCH)
		return r;
	(void)err_set(e, ERR_LIMIT, "the policies are too large to look at every path");
	return err_hint(e, "fewer regular expressions make them smaller");
}

void paths_shortest(const struct paths_stop *stop, struct buf *ret)
{
	product_shortest(stop->product, ret);
}
