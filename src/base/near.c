/* SPDX-License-Identifier: Apache-2.0 */
#include "base/near.h"

#include "base/banned.h"

enum {
	WORD_MAX = 63 /* bytes; longer ones are near nothing */
};

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The optimal string alignment distance of A and B, at most WORD_MAX bytes each. */
static size_t distance(struct str a, struct str b)
{
	/* The rows for i - 2, i - 1 and i bytes of A; columns are bytes of B. */
	size_t rows[3][WORD_MAX + 1] = {{0}};

	for (size_t k = 0; k <= b.n; k++)
		rows[0][k] = k;
	for (size_t i = 1; i <= a.n; i++) {
		const size_t *before = rows[(i + 1) % 3], *above = rows[(i - 1) % 3];
		size_t *row = rows[i % 3];

		row[0] = i;
		for (size_t k = 1; k <= b.n; k++) {
			row[k] = above[k - 1] + (a.p[i - 1] != b.p[k - 1]);
			row[k] = min(row[k], min(above[k], row[k - 1]) + 1);
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] && a.p[i - 2] == b.p[k - 1])
				row[k] = min(row[k], before[k - 2] + 1);
		}
	}
	return rows[a.n % 3][b.n];
}

bool near_try_str(struct near *near, struct str known)
{
	size_t d;

	if (near->word.n > WORD_MAX || known.n > WORD_MAX)
		return false;
	d = distance(near->word, known);
	if (d * 3 > near->word.n || (near->best && d >= near->distance))
		return false;
	near->best = known.p;
	near->distance = d;
	return true;
}

void near_try(struct near *near, const char *known)
{
	(void)near_try_str(near, str_of(known));
}
