/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path: the spelling of paths. The canonical one is absolute and without "//", "." and "..", and no
 * slash ends it but that of the root: what a system asks about when it has resolved a name.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum path_flaw {
	PATH_CANONICAL,
	PATH_EMPTY,
	PATH_RELATIVE,
	PATH_SLASHES,
	PATH_DOT,
	PATH_DOT_DOT,
	PATH_TRAILING,
};

/* The first reason why TEXT is no canonical path. */
enum path_flaw path_find_flaw(struct str text);

static inline bool path_is_canonical(struct str text)
{
	return path_find_flaw(text) == PATH_CANONICAL;
}

/* As path_find_flaw(), of what canonical paths begin with: the last name may go on. */
enum path_flaw path_find_prefix_flaw(struct str text);

/* "no path has two slashes in a row"; NULL for PATH_CANONICAL. */
const char *path_flaw_text(enum path_flaw flaw);

/* Appends TEXT, which begins with a slash, in its canonical spelling, as far as spelling goes. */
void path_put_canonical(struct buf *ret, struct str text);

/* Does PATH begin with PREFIX, as macOS compares names: whatever the case of ASCII letters? */
bool path_starts_folded(struct str path, struct str prefix);

enum {
	PATH_DARWIN_LINKS = 3
};

/*
 * Links of macOS, a slash behind each: /tmp/, /var/, /etc/ lead to /private/tmp/ and so on. What is
 * behind them has another path there, and nothing is ever asked about this one. Case does not
 * count, as it does not on macOS.
 */
extern const struct str path_darwin_links[PATH_DARWIN_LINKS];

bool path_is_darwin_link(struct str path);
bool path_is_behind_darwin_link(struct str path);

#endif
