/* SPDX-License-Identifier: Apache-2.0 */
/* A request into words: what facade_request() would make it from, and no more of it than is needed.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "facade.h"
#include "policy/policy.h"
#include "policy/values.h"
#include "base/banned.h"

struct words {
	struct arena *arena;
	const char **list;
	size_t n, cap;
	bool failed;
};

/* WORD may be NULL, which is a failure, as arena_printf() fails. */
static void add(struct words *words, const char *word)
{
	const char **list;

	if (words->failed)
		return;
	list = arena_grow(words->arena, words->list, words->n, &words->cap, sizeof(*list));
	words->failed = !list || !word;
	if (words->failed)
		return;
	words->list = list;
	list[words->n++] = word;
}

static void add_number(struct words *words, enum filter_id filter, int64_t number)
{
	const char *key = filter == FILTER_SIGNAL_NUMBER ? "signal" : facade_filters[filter].name;
	const char *constant = facade_constant(filter, number);

	add(words, constant ? arena_printf(words->arena, "%s=%s", key, constant)
			    : arena_printf(words->arena, "%s=%" PRId64, key, number));
}

static void add_text(struct words *words, const char *key, struct str text)
{
	add(words, arena_printf(words->arena, "%s=%.*s", key, (int)text.n, text.p));
}

/* ---- Sockets ---- */

/* HOST:PORT. ANY is what * stands for. */
static const char *end_text(struct words *words, const struct endpoint *end,
			    const unsigned char *any)
{
	static const unsigned char loopback[4] = {127, 0, 0, 1};
	char text[INET6_ADDRSTRLEN] = "";
	bool v6 = end->proto & PROTO_IP6;

	if (!v6 && memcmp(end->addr, any, 4) == 0)
		return arena_printf(words->arena, "*:%d", end->port);
	if (!v6 && memcmp(end->addr, loopback, 4) == 0)
		return arena_printf(words->arena, "localhost:%d", end->port);
	(void)inet_ntop(v6 ? AF_INET6 : AF_INET, end->addr, text, sizeof(text));
	return arena_printf(words->arena, v6 ? "[%s]:%d" : "%s:%d", text, end->port);
}

static void add_end(struct words *words, const char *key, const struct endpoint *end,
		    const unsigned char *any)
{
	const char *text;

	if (end->unbound || !(end->proto & (PROTO_IP4 | PROTO_IP6)))
		return;
	text = end_text(words, end, any);
	add(words, text && key[0] ? arena_printf(words->arena, "%s=%s", key, text) : text);
}

/* A network operation is about one of the ends, which is named by itself. */
static void add_ends(struct words *words, const struct request *request)
{
	bool network = op_is_below(request->op, OP_NETWORK_ANY);
	bool local = op_is_about_local_end(request->op);
	unsigned proto = request->local.proto | request->remote.proto;

	if (local)
		add_end(words, "", &request->local, facade_any_interface);
	add_end(words, network && !local ? "" : "remote", &request->remote, facade_any_host);
	if (!local)
		add_end(words, "local", &request->local, facade_any_interface);
	if (proto & PROTO_UDP)
		add(words, "protocol=udp");
	if (proto & PROTO_UNIX && !(network && request->path.n))
		add(words, "protocol=unix");
}

/* But for what decide takes a socket with such ends for. */
static void add_socket(struct words *words, const struct request *request)
{
	struct request usual = *request;
	const struct {
		enum filter_id filter;
		unsigned has;
		const int *number, *usual;
	} members[] = {
		{FILTER_SOCKET_DOMAIN, HAS_SOCKET_DOMAIN, &request->socket_domain,
		 &usual.socket_domain},
		{FILTER_SOCKET_TYPE, HAS_SOCKET_TYPE, &request->socket_type, &usual.socket_type},
		{FILTER_SOCKET_PROTOCOL, HAS_SOCKET_PROTOCOL, &request->socket_protocol,
		 &usual.socket_protocol},
	};

	usual.has = 0;
	request_set_socket(&usual);
	for (size_t i = 0; i < 3; i++)
		if (request->has & members[i].has &&
		    !(usual.has && *members[i].number == *members[i].usual))
			add_number(words, members[i].filter, *members[i].number);
}

/* ---- Others ---- */

static void add_targets(struct words *words, unsigned targets)
{
	static const enum signal_target order[] = {
		SIGNAL_TARGET_SELF,     SIGNAL_TARGET_CHILDREN, SIGNAL_TARGET_SAME_SANDBOX,
		SIGNAL_TARGET_INITPROC, SIGNAL_TARGET_OTHERS,   SIGNAL_TARGET_PGRP,
	};
	unsigned said = 0;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		unsigned set = signal_target_set(order[i]);

		if ((set & targets) != set || (set & said) == set)
			continue;
		add_number(words, FILTER_TARGET, order[i]);
		said |= set;
	}
}

static void add_device(struct words *words, const struct request *request)
{
	if (request->has & HAS_DEVICE_MAJOR)
		add_number(words, FILTER_DEVICE_MAJOR, request->device_major);
	if (request->has & HAS_DEVICE_MINOR)
		add_number(words, FILTER_DEVICE_MINOR, request->device_minor);
}

static void add_fact(struct words *words, const struct fact *fact)
{
	const struct facade_filter *filter = &facade_filters[fact->filter];

	switch (filter->argument) {
	case FACADE_INTEGER:
	case FACADE_BITFIELD:
		add_number(words, fact->filter, fact->number);
		return;
	case FACADE_BOOL:
		add(words, arena_printf(words->arena, "%s=%s", filter->name,
					fact->number ? "true" : "false"));
		return;
	default:
		add_text(words, filter->name, fact->text);
	}
}

bool facade_words(const struct request *request, struct arena *arena, const char *const **ret)
{
	struct words words = {.arena = arena};

	add(&words, op_name(request->op));
	if (request->path.n)
		add(&words, arena_strdup(arena, request->path));
	add_ends(&words, request);
	add_socket(&words, request);
	if (request->has & HAS_VNODE_TYPE)
		add_number(&words, FILTER_VNODE_TYPE, request->vnode_type);
	if (request->has & HAS_FILE_MODE)
		add(&words, arena_printf(arena, "mode=%04o", request->file_mode));
	add_device(&words, request);
	add_targets(&words, request->targets);
	if (request->has & HAS_SIGNAL)
		add_number(&words, FILTER_SIGNAL_NUMBER, request->signal);
	if (request->xattr.n)
		add_text(&words, "xattr", request->xattr);
	for (size_t i = 0; i < request->n_facts; i++)
		add_fact(&words, &request->facts[i]);
	add(&words, "");
	if (words.failed)
		return false;
	words.list[words.n - 1] = NULL;
	*ret = (const char *const *)words.list;
	return true;
}
