/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near: the known word that a misspelt one was meant to be, for "did you mean".
 *
 *	struct near near = {.word = word};
 *
 *	for each KNOWN word
 *		near_try(&near, KNOWN);
 *	if (near.best) ...
 */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <stdbool.h>

#include "base/str.h"

struct near {
	struct str word;
	const char *best; /* of those tried; NULL: none is near */
	size_t distance;  /* of the best */
};

/*
 * Letters left out, added, changed or swapped count one each; a third of the word may be wrong.
 * Of equally near words the first stays.
 */
void near_try(struct near *near, const char *known);

/* The same, of a word that need not end in NUL, and neither does `best` then. Is it the best now?
 */
bool near_try_str(struct near *near, struct str known);

#endif
