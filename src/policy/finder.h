/* SPDX-License-Identifier: Apache-2.0 */
/* finder: the values of one part on the way; what values.c and connection.c share. */
#ifndef POLICY_FINDER_H
#define POLICY_FINDER_H

#include "policy/intern.h"
#include "policy/values.h"

struct finder {
	const struct values_question *q;
	struct arena *arena; /* of the result */
	struct arena scratch;
	struct intern truths; /* by value: which guards hold, a bit each */
	uint32_t *truth;      /* room for one */
	size_t n_truth;
	struct value *list;
	size_t cap;
	struct err *e;
};

/* Says that it is too much, and returns so. */
int finder_too_much(struct finder *f);

/* A request with VALUE and nothing else. FACT: room for one. */
struct request finder_request(const struct finder *f, const struct value *value, struct fact *fact);

/* Does that guard hold for REQUEST? Then f->truth has its bit. */
void finder_add_truth(struct finder *f, const struct request *request, size_t guard);

/* Takes what it costs to ask all guards from the steps. False: there are too few. */
bool finder_spend(struct finder *f);

/* Gives f->truth the bits of the guards that hold with VALUE, and no others. */
void finder_find_truth(struct finder *f, const struct value *value);

/* VALUE, with which those guards hold whose bits f->truth has. */
int finder_offer_known(struct finder *f, const struct value *value);

/* VALUE may be new to the guards; it is dropped if a cheaper one is like it. */
int finder_offer(struct finder *f, struct value value);
int finder_offer_absence(struct finder *f);

/* Some numbers, in order of arrival. */
struct numbers {
	int64_t *p;
	size_t n;
};

bool numbers_have(const struct numbers *numbers, int64_t number);

/* Not twice. There is room. */
void numbers_add(struct numbers *numbers, int64_t number);

/*
 * START, then what the guards on ATTRIBUTE ask for, then from OTHER on the first that is not it.
 * False: no memory.
 */
bool finder_mentioned(struct finder *f, enum attribute attribute, int64_t start, int64_t other,
		      struct numbers *ret);

/* Offers what the socket of the question's connection can be. */
int finder_sockets(struct finder *f);

/*
 * Offers its ends. An operation on the socket's own end has one, and perhaps the other one. Others
 * have the other one, and an own end that may not be bound yet. Between unix sockets there is no
 * choice.
 */
int finder_ends(struct finder *f);

#endif
