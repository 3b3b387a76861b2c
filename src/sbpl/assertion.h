/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assertion: what somebody claims of a policy, in the words of profiles.
 *
 *	assertion := ("never" | "always") operation... [filter]
 *	filter    := form...  |  what would stand in the parentheses of one
 *
 *	never file-read-data file-write* subpath "$HOME/.ssh"
 *	always network-outbound (require-all (remote tcp) (remote ip "localhost:*"))
 *
 * It becomes a policy of its own: what must never be allowed is denied by it and nothing else is,
 * or the reverse.
 */
#ifndef SBPL_ASSERTION_H
#define SBPL_ASSERTION_H

#include "sbpl/sbpl.h"

struct assertion {
	bool never;          /* else always */
	bool ops[OP_COUNT];  /* the operations named, and those that fall to them */
	struct policy *spec; /* the caller's: never: denies just what must not be allowed */
};

/*
 * NAMES are what $NAME in a string stands for: key and value. Places in *E are in TEXT, as file
 * "<assertion>". -ERR_POLICY, -ERR_LIMIT.
 */
int assertion_parse(struct str text, enum target target, const struct sbpl_param *names,
		    size_t n_names, struct assertion *ret, struct err *e);

#define ASSERTION_FILE "<assertion>"

#endif
