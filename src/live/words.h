/* SPDX-License-Identifier: Apache-2.0 */
/* words: what a row's words ask for, as far as it takes to act it out. */
#ifndef LIVE_WORDS_H
#define LIVE_WORDS_H

#include "live/deed.h"

enum {
	WORDS_MAX = 24,
	WHY_MAX = 512,
};

struct asked {
	const char *operation;
	const char *object; /* its second word, if that is no attribute; NULL: none */
	bool has_kind, has_mode, has_signal, has_device, has_local;
	enum kind kind;
	unsigned mode;
	const char *xattr;
	unsigned targets; /* of the enum below */
	int signal;
	bool udp;
	struct address address, local;
};

enum {
	TARGET_SELF = 1 << 0,
	TARGET_CHILDREN = 1 << 1,
	TARGET_SAME_SANDBOX = 1 << 2,
	TARGET_GROUP = 1 << 3,
	TARGET_OTHERS = 1 << 4,
};

/* Reads WORDS, which lapbelt_decide() understands. False: nobody can do that, and WHY. */
bool words_read(char *const *words, struct asked *ret, char why[WHY_MAX]);

/* "vnode-type=REGULAR-FILE" and so on. */
const char *words_kind(enum kind kind);

/* HOST:PORT. LOCAL: `*` is every interface, else some other host. */
bool words_address(const char *text, bool local, struct address *ret);

#endif
