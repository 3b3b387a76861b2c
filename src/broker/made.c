/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/made.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum {
	MADE_MAX = 65536
};

void made_add(struct made *made, struct str path)
{
	char *copy;

	if (made->n == MADE_MAX || made_has(made, path))
		return;
	if (made->n == made->cap) {
		size_t cap = made->cap ? made->cap * 2 : 8;
		char **paths = realloc(made->paths, cap * sizeof(*paths));

		if (!paths)
			return;
		made->paths = paths;
		made->cap = cap;
	}
	copy = strndup(path.p, path.n);
	if (copy)
		made->paths[made->n++] = copy;
}

void made_remove(struct made *made, struct str path)
{
	for (size_t i = 0; i < made->n; i++) {
		if (!str_is(path, made->paths[i]))
			continue;
		free(made->paths[i]);
		made->paths[i] = made->paths[--made->n];
		return;
	}
}

bool made_has(const struct made *made, struct str path)
{
	for (size_t i = 0; i < made->n; i++)
		if (str_is(path, made->paths[i]))
			return true;
	return false;
}

void made_release(struct made *made)
{
	for (size_t i = 0; i < made->n; i++)
		free(made->paths[i]);
	free(made->paths);
	*made = (struct made){0};
}
