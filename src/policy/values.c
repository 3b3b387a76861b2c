/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are offered one after the other; those that no guard tells from a cheaper one are
 * dropped. Which guards hold is guard_holds()'s to say, here as everywhere.
 */
#include "policy/finder.h"

#include <stdlib.h>

#include "policy/phase.h"
#include "policy/product.h"

#include "base/banned.h"

enum {
	VALUES_MAX = 1 << 14,
	TEXT_STOPS_MAX = 1 << 17,
	MODE_MAX = 0177777,
	GUARDS_PER_WORD = 32,
	GUARDS_PER_STEP = 32, /* asked whether they hold */
};

int finder_too_much(struct finder *f)
{
	(void)err_set(f->e, ERR_LIMIT, "the rules tell too many kinds of requests apart");
	return err_hint(f->e, "fewer or simpler filters besides those of paths");
}

/* ---- Parts ---- */

enum part part_of(enum attribute attribute)
{
	static const enum part parts[ATTRIBUTE_FACT] = {
		[ATTRIBUTE_XATTR] = PART_XATTR,         [ATTRIBUTE_LOCAL] = PART_LOCAL,
		[ATTRIBUTE_REMOTE] = PART_REMOTE,       [ATTRIBUTE_VNODE_TYPE] = PART_VNODE_TYPE,
		[ATTRIBUTE_FILE_MODE] = PART_FILE_MODE, [ATTRIBUTE_TARGET] = PART_TARGET,
		[ATTRIBUTE_SIGNAL] = PART_SIGNAL,       [ATTRIBUTE_DEVICE_MAJOR] = PART_DEVICE,
		[ATTRIBUTE_DEVICE_MINOR] = PART_DEVICE, [ATTRIBUTE_SOCKET_DOMAIN] = PART_SOCKET,
		[ATTRIBUTE_SOCKET_TYPE] = PART_SOCKET,  [ATTRIBUTE_SOCKET_PROTOCOL] = PART_SOCKET,
	};

	if (attribute >= ATTRIBUTE_FACT)
		return (enum part)(PART_FACT + (attribute - ATTRIBUTE_FACT));
	return parts[attribute];
}

bool op_is_below(enum op op, enum op ancestor)
{
	while (op != ancestor && op != OP_DEFAULT)
		op = op_parent(op);
	return op == ancestor;
}

/* A process, a file or a caller has any number of these. */
static bool holds_several(enum part part)
{
	static const bool several[FILTER_COUNT] = {
		[FILTER_EXTENSION] = true,
		[FILTER_USER_INTENT_EXTENSION] = true,
		[FILTER_ENTITLEMENT_LOAD] = true,
		[FILTER_ENTITLEMENT_STRING] = true,
		[FILTER_ENTITLEMENT_IS_BOOL_TRUE] = true,
		[FILTER_ENTITLEMENT_IS_PRESENT] = true,
		[FILTER_REQUIRE_ANCESTOR_WITH_ENTITLEMENT] = true,
		[FILTER_REQUIRE_TARGET_WITH_ENTITLEMENT] = true,
		[FILTER_REQUIRE_RESPONSIBLE_BINARY_WITH_ENTITLEMENT] = true,
		[FILTER_ANCESTOR_SIGNING_IDENTIFIER] = true,
		[FILTER_PROCESS_ATTRIBUTE] = true,
		[FILTER_SYSTEM_ATTRIBUTE] = true,
		[FILTER_CSR] = true,
		[FILTER_STATE_FLAG] = true,
		[FILTER_PROFILE_FLAG] = true,
		[FILTER_DEVICE_CONFORMS_TO] = true,
		[FILTER_FILE_ATTRIBUTE] = true,
		[FILTER_IOKIT_REGISTRY_ENTRY_CLASS] = true,
		[FILTER_IOKIT_REGISTRY_ENTRY_ATTRIBUTE] = true,
	};

	return part >= PART_FACT && several[part - PART_FACT];
}

/* What these compare are paths. */
static bool is_path(enum part part)
{
	enum argument_kind {
		SUBPATH,
		LITERAL,
		PREFIX,
		ADDRESS,
		INTEGER,
		BITFIELD,
		STRING,
		BOOL
	};
	static const enum argument_kind arguments[FILTER_COUNT] = {
#define FILTER(symbol, name, category, argument) [FILTER_##symbol] = (argument),
#include "policy/filters.def"
#undef FILTER
	};

	return part >= PART_FACT && arguments[part - PART_FACT] == SUBPATH;
}

void value_apply(const struct value *value, enum part part, struct request *request,
		 struct fact *fact)
{
	const int64_t *numbers = value->numbers;

	if (!value->present)
		return;
	switch (part) {
	case PART_VNODE_TYPE:
		request->has |= HAS_VNODE_TYPE;
		request->vnode_type = (enum vnode_type)numbers[0];
		return;
	case PART_FILE_MODE:
		request->has |= HAS_FILE_MODE;
		request->file_mode = (unsigned)numbers[0];
		return;
	case PART_TARGET:
		request->targets = (unsigned)numbers[0];
		return;
	case PART_SIGNAL:
		request->has |= HAS_SIGNAL;
		request->signal = (int)numbers[0];
		return;
	case PART_DEVICE:
		request->has |= HAS_DEVICE;
		request->device_major = (unsigned)numbers[0];
		request->device_minor = (unsigned)numbers[1];
		return;
	case PART_SOCKET:
		request->has |= HAS_SOCKET;
		request->socket_domain = (int)numbers[0];
		request->socket_type = (int)numbers[1];
		request->socket_protocol = (int)numbers[2];
		return;
	case PART_LOCAL:
		request->local = value->end;
		return;
	case PART_REMOTE:
		request->remote = value->end;
		return;
	case PART_XATTR:
		request->xattr = value->text;
		return;
	case PART_FACT:
		break;
	}
	*fact = (struct fact){(enum filter_id)(part - PART_FACT), value->text, numbers[0]};
	request->n_facts++;
}

/* ---- Offers ---- */

int finder_offer_known(struct finder *f, const struct value *value)
{
	size_t known = f->truths.n;
	int64_t id = intern_put(&f->truths, f->truth, f->n_truth);
	struct value *list;

	if (id < 0 || id >= VALUES_MAX)
		return finder_too_much(f);
	if ((size_t)id < known) {
		if (value->cost < f->list[id].cost)
			f->list[id] = *value;
		return 0;
	}
	list = arena_grow(&f->scratch, f->list, known, &f->cap, sizeof(*list));
	if (!list)
		return finder_too_much(f);
	f->list = list;
	list[known] = *value;
	return 0;
}

void finder_add_truth(struct finder *f, const struct request *request, size_t guard)
{
	if (guard_holds(f->q->guards[guard], request, f->q->target))
		f->truth[guard / GUARDS_PER_WORD] |= 1u << guard % GUARDS_PER_WORD;
}

struct request finder_request(const struct finder *f, const struct value *value, struct fact *fact)
{
	struct request request = {.op = f->q->op, .facts = fact};

	*fact = (struct fact){.filter = FILTER_COUNT};
	value_apply(value, f->q->part, &request, fact);
	return request;
}

void finder_find_truth(struct finder *f, const struct value *value)
{
	struct fact fact;
	struct request request = finder_request(f, value, &fact);

	memset(f->truth, 0, f->n_truth * sizeof(*f->truth));
	for (size_t i = 0; i < f->q->n; i++)
		finder_add_truth(f, &request, i);
}

bool finder_spend(struct finder *f)
{
	size_t cost = f->q->n / GUARDS_PER_STEP;

	if (cost > *f->q->steps)
		return false;
	*f->q->steps -= cost;
	return true;
}

int finder_offer(struct finder *f, struct value value)
{
	if (!finder_spend(f))
		return finder_too_much(f);
	finder_find_truth(f, &value);
	return finder_offer_known(f, &value);
}

int finder_offer_absence(struct finder *f)
{
	return finder_offer(f, (struct value){.present = false});
}

static int offer_number(struct finder *f, int64_t number, unsigned cost)
{
	return finder_offer(f, (struct value){.present = true, .numbers[0] = number, .cost = cost});
}

/* ---- Numbers ---- */

/* Can the member of struct request that PART fills be NUMBER? */
static bool fits(enum part part, int64_t number)
{
	switch (part) {
	case PART_FILE_MODE:
		return number >= 0 && number <= MODE_MAX;
	case PART_DEVICE:
		return number >= 0 && number <= UINT32_MAX;
	case PART_VNODE_TYPE:
	case PART_SIGNAL:
	case PART_SOCKET:
		return number >= INT32_MIN && number <= INT32_MAX;
	default:
		return true;
	}
}

/* Every union of the masks that bits are compared with. */
static int offer_masks(struct finder *f)
{
	const struct values_question *q = f->q;
	int r = offer_number(f, 0, VALUE_WORD);

	for (size_t i = 0; i < q->n && r == 0; i++) {
		size_t n = f->truths.n;
		int64_t mask = q->guards[i]->number;

		if (q->guards[i]->match != MATCH_BITS)
			continue;
		for (size_t j = 0; j < n && r == 0; j++)
			if (fits(q->part, f->list[j].numbers[0] | mask))
				r = offer_number(f, f->list[j].numbers[0] | mask, VALUE_WORD);
	}
	return r;
}

static int find_numbers(struct finder *f)
{
	const struct values_question *q = f->q;
	int r = offer_masks(f);

	if (r == 0)
		r = finder_offer_absence(f);
	for (size_t i = 0; i < q->n && r == 0; i++)
		if (q->guards[i]->match != MATCH_BITS && fits(q->part, q->guards[i]->number))
			r = offer_number(f, q->guards[i]->number, VALUE_WORD);
	return r;
}

/*
 * What a process can be to the one that asks: itself, or in the same sandbox or not, then perhaps
 * a child, init, or of the same group. There is none that is nothing.
 */
static int find_targets(struct finder *f)
{
	static const enum signal_target words[][2] = {
		{SIGNAL_TARGET_OTHERS},
		{SIGNAL_TARGET_SELF},
		{SIGNAL_TARGET_CHILDREN},
		{SIGNAL_TARGET_SAME_SANDBOX},
		{SIGNAL_TARGET_INITPROC},
		{SIGNAL_TARGET_CHILDREN, SIGNAL_TARGET_PGRP},
		{SIGNAL_TARGET_SAME_SANDBOX, SIGNAL_TARGET_PGRP},
		{SIGNAL_TARGET_OTHERS, SIGNAL_TARGET_PGRP},
		{SIGNAL_TARGET_INITPROC, SIGNAL_TARGET_PGRP},
	};
	int r = 0;

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]) && r == 0; i++) {
		unsigned set = 0, n = 0;

		for (; n < 2 && words[i][n] != SIGNAL_TARGET_UNKNOWN; n++)
			set |= signal_target_set(words[i][n]);
		r = offer_number(f, set, n * VALUE_WORD + i);
	}
	/* Where one of them is nothing that anybody asks for, it need not be said. */
	for (size_t i = 0; i < f->truths.n && r == 0; i++) {
		size_t n;
		const uint32_t *truth = intern_get(&f->truths, (uint32_t)i, &n);
		uint32_t any = 0;

		for (size_t j = 0; j < n; j++)
			any |= truth[j];
		if (!any)
			return finder_offer_absence(f);
	}
	return r;
}

/* ---- Several numbers ---- */

bool numbers_have(const struct numbers *numbers, int64_t number)
{
	for (size_t i = 0; i < numbers->n; i++)
		if (numbers->p[i] == number)
			return true;
	return false;
}

void numbers_add(struct numbers *numbers, int64_t number)
{
	if (!numbers_have(numbers, number))
		numbers->p[numbers->n++] = number;
}

bool finder_mentioned(struct finder *f, enum attribute attribute, int64_t start, int64_t other,
		      struct numbers *ret)
{
	*ret = (struct numbers){
		.p = arena_array(&f->scratch, f->q->n + 2, sizeof(*ret->p)),
	};
	if (!ret->p)
		return false;
	numbers_add(ret, start);
	for (size_t i = 0; i < f->q->n; i++)
		if (f->q->guards[i]->attribute == attribute &&
		    fits(f->q->part, f->q->guards[i]->number))
			numbers_add(ret, f->q->guards[i]->number);
	while (numbers_have(ret, other))
		other++;
	numbers_add(ret, other);
	return true;
}

static int find_devices(struct finder *f)
{
	struct numbers majors, minors;
	int r = finder_offer_absence(f);

	if (!finder_mentioned(f, ATTRIBUTE_DEVICE_MAJOR, 0, 1, &majors) ||
	    !finder_mentioned(f, ATTRIBUTE_DEVICE_MINOR, 0, 1, &minors))
		return finder_too_much(f);
	for (size_t i = 0; i < majors.n && r == 0; i++)
		for (size_t j = 0; j < minors.n && r == 0; j++)
			r = finder_offer(f, (struct value){.present = true,
							   .numbers = {majors.p[i], minors.p[j]},
							   .cost = 2 * VALUE_WORD});
	return r;
}

/* ---- Texts ---- */

static unsigned text_cost(size_t n)
{
	return VALUE_WORD + (n < VALUE_WORD ? (unsigned)n : VALUE_WORD - 1);
}

static int offer_text(void *context, const struct product_stop *stop)
{
	struct finder *f = context;
	struct buf text = {0};
	struct value value = {.present = true};
	int64_t known = (int64_t)f->truths.n;
	char *copy;

	memset(f->truth, 0, f->n_truth * sizeof(*f->truth));
	for (size_t i = 0; i < f->q->n; i++)
		if (dfa_label_at(f->q->guards[i]->dfa, stop->states[i]))
			f->truth[i / GUARDS_PER_WORD] |= 1u << i % GUARDS_PER_WORD;
	if (intern_put(&f->truths, f->truth, f->n_truth) != known)
		return known == (int64_t)f->truths.n ? 0 : finder_too_much(f);
	product_shortest(stop, &text);
	copy = text.failed ? NULL : arena_strdup(f->arena, buf_str(&text));
	value.text = (struct str){copy, text.n};
	value.cost = text_cost(text.n);
	buf_release(&text);
	f->list = arena_grow(&f->scratch, f->list, (size_t)known, &f->cap, sizeof(*f->list));
	if (!copy || !f->list || known >= VALUES_MAX)
		return finder_too_much(f);
	f->list[known] = value;
	return 0;
}

static int find_texts(struct finder *f)
{
	const struct dfa **dfas = arena_array(&f->scratch, f->q->n, sizeof(*dfas));
	struct product_options options = {.dfas = dfas,
					  .n = f->q->n,
					  .canonical = is_path(f->q->part),
					  .stops = TEXT_STOPS_MAX,
					  .memory = f->scratch.limit,
					  .each = offer_text,
					  .context = f};
	int r = finder_offer_absence(f);

	if (!dfas)
		return finder_too_much(f);
	for (size_t i = 0; i < f->q->n; i++)
		dfas[i] = f->q->guards[i]->dfa;
	if (r == 0)
		r = product_walk(&options);
	return r == PRODUCT_TOO_MUCH ? finder_too_much(f) : r;
}

/* ---- The whole ---- */

/* Values by what they cost. */
struct ranked {
	unsigned cost;
	uint32_t id; /* in the list, and of its truths */
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->cost != y->cost)
		return (x->cost > y->cost) - (x->cost < y->cost);
	return (x->id > y->id) - (x->id < y->id);
}

static struct ranked *rank(struct finder *f)
{
	size_t n = f->truths.n;
	struct ranked *ranked = arena_array(&f->scratch, n, sizeof(*ranked));

	for (size_t i = 0; ranked && i < n; i++)
		ranked[i] = (struct ranked){f->list[i].cost, (uint32_t)i};
	if (ranked && n > 1)
		qsort(ranked, n, sizeof(*ranked), compare_ranked);
	return ranked;
}

/* The guards whose bits TRUTH has, N words, hold with value number VALUE. */
static void add_holds(const uint32_t *truth, size_t n, size_t value, struct values *ret)
{
	for (size_t i = 0; i < n; i++) {
		for (uint32_t left = truth[i]; left; left &= left - 1) {
			size_t guard = i * GUARDS_PER_WORD + (size_t)__builtin_ctz(left);

			ret->holds[guard * ret->n_words + value / 64] |= (uint64_t)1 << value % 64;
		}
	}
}

static int finish(struct finder *f, struct values *ret)
{
	const struct ranked *ranked = rank(f);
	size_t n = f->truths.n;

	ret->part = f->q->part;
	ret->several = holds_several(f->q->part) && !f->q->absent;
	ret->n = n;
	ret->n_words = (n + 63) / 64;
	ret->list = arena_array(f->arena, n, sizeof(*f->list));
	ret->holds = arena_array(f->arena, f->q->n * ret->n_words, sizeof(*ret->holds));
	if (!ranked || !ret->list || !ret->holds)
		return finder_too_much(f);
	for (size_t i = 0; i < n; i++) {
		size_t n_truth;
		const uint32_t *truth = intern_get(&f->truths, ranked[i].id, &n_truth);

		ret->list[i] = f->list[ranked[i].id];
		add_holds(truth, n_truth, i, ret);
	}
	return 0;
}

static int find_all(struct finder *f)
{
	if (f->q->absent)
		return finder_offer_absence(f);
	switch (f->q->part) {
	case PART_TARGET:
		return find_targets(f);
	case PART_DEVICE:
		return find_devices(f);
	case PART_SOCKET:
		return finder_sockets(f);
	case PART_LOCAL:
	case PART_REMOTE:
		return finder_ends(f);
	case PART_VNODE_TYPE:
	case PART_FILE_MODE:
	case PART_SIGNAL:
		return find_numbers(f);
	default:
		/* The reader lets a filter take texts or numbers, not both. */
		return f->q->guards[0]->dfa ? find_texts(f) : find_numbers(f);
	}
}

int values_find(const struct values_question *question, struct arena *arena, struct values *ret,
		struct err *e)
{
	struct finder f = {.q = question, .arena = arena, .scratch.limit = arena->limit, .e = e};
	int r;

	f.truths.arena = &f.scratch;
	f.n_truth = (question->n + GUARDS_PER_WORD - 1) / GUARDS_PER_WORD;
	f.truth = arena_array(&f.scratch, f.n_truth, sizeof(*f.truth));
	r = f.truth ? find_all(&f) : finder_too_much(&f);
	if (r == 0)
		r = finish(&f, ret);
	arena_release(&f.scratch);
	return r;
}
