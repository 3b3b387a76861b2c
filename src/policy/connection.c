/* SPDX-License-Identifier: Apache-2.0 */
/* What sockets can be, and the values of the parts that go with them. */
#include "policy/finder.h"

#include <stdlib.h>

#include "base/banned.h"

enum {
	PORT_MAX = 65535
};

bool op_is_about_local_end(enum op op)
{
	return op_is_below(op, OP_NETWORK_INBOUND);
}

bool connection_has(enum part part)
{
	return part == PART_SOCKET || part == PART_LOCAL || part == PART_REMOTE;
}

enum {
	DARWIN_AF_UNIX = 1,
	DARWIN_AF_INET = 2,
	DARWIN_AF_INET6 = 30,
	DARWIN_AF_SYSTEM = 32,
	STREAM = 1,
	DATAGRAM = 2,
	RAW = 3,
	SEQPACKET = 5,
	TCP = 6,
	UDP = 17,
	SCTP = 132,
};

static const struct {
	unsigned proto;
	int socket[3];
} connections[CONNECTION_COUNT] = {
	[CONNECTION_NONE] = {0, {DARWIN_AF_SYSTEM, STREAM, 0}},
	[CONNECTION_TCP4] = {PROTO_IP4 | PROTO_TCP, {DARWIN_AF_INET, STREAM, TCP}},
	[CONNECTION_UDP4] = {PROTO_IP4 | PROTO_UDP, {DARWIN_AF_INET, DATAGRAM, UDP}},
	[CONNECTION_TCP6] = {PROTO_IP6 | PROTO_TCP, {DARWIN_AF_INET6, STREAM, TCP}},
	[CONNECTION_UDP6] = {PROTO_IP6 | PROTO_UDP, {DARWIN_AF_INET6, DATAGRAM, UDP}},
	[CONNECTION_UNIX] = {PROTO_UNIX, {DARWIN_AF_UNIX, STREAM, 0}},
};

/* ---- Sockets ---- */

/* Can a socket of CONNECTION be of this domain, type and protocol? */
static bool is_socket(const struct values_question *q, int64_t domain, int64_t type,
		      int64_t protocol)
{
	const int *usual = connections[q->connection].socket;

	switch (q->connection) {
	case CONNECTION_NONE:
		/* Of a network operation these have addresses. */
		return !op_is_below(q->op, OP_NETWORK_ANY) ||
		       (domain != DARWIN_AF_UNIX && domain != DARWIN_AF_INET &&
			domain != DARWIN_AF_INET6);
	case CONNECTION_TCP4:
	case CONNECTION_TCP6:
		return domain == usual[0] && type == STREAM && protocol != UDP;
	case CONNECTION_UDP4:
	case CONNECTION_UDP6:
		return domain == usual[0] && type != STREAM &&
		       (type != DATAGRAM || protocol != TCP);
	default:
		return domain == usual[0];
	}
}

/* As lapbelt_decide() is told: what the ends do not say. */
static unsigned socket_cost(enum connection connection, const int64_t *numbers)
{
	const int *usual = connections[connection].socket;
	unsigned n = 0;

	for (unsigned i = 0; i < 3; i++)
		n += connection == CONNECTION_NONE || usual[i] != numbers[i];
	return n * VALUE_WORD;
}

int finder_sockets(struct finder *f)
{
	const int *usual = connections[f->q->connection].socket;
	struct numbers domains, types, protocols;
	int r = f->q->connection == CONNECTION_NONE ? finder_offer_absence(f) : 0;

	if (!finder_mentioned(f, ATTRIBUTE_SOCKET_DOMAIN, usual[0], DARWIN_AF_SYSTEM, &domains) ||
	    !finder_mentioned(f, ATTRIBUTE_SOCKET_TYPE, usual[1], DATAGRAM, &types) ||
	    !finder_mentioned(f, ATTRIBUTE_SOCKET_PROTOCOL, usual[2], SCTP, &protocols))
		return finder_too_much(f);
	for (size_t i = 0; i < domains.n; i++)
		for (size_t j = 0; j < types.n; j++)
			for (size_t k = 0; k < protocols.n && r == 0; k++) {
				int64_t numbers[] = {domains.p[i], types.p[j], protocols.p[k]};
				struct value value = {
					.present = true,
					.cost = socket_cost(f->q->connection, numbers)};

				memcpy(value.numbers, numbers, sizeof(numbers));
				if (is_socket(f->q, numbers[0], numbers[1], numbers[2]))
					r = finder_offer(f, value);
			}
	return r;
}

/* ---- Endpoints ---- */

static const struct {
	unsigned family;
	unsigned char addr[16];
} hosts[] = {
	{PROTO_IP4, {127, 0, 0, 1}},
	{PROTO_IP4, {192, 0, 2, 1}},
	{PROTO_IP4, {0}},
	{PROTO_IP6, {[15] = 1}},
	{PROTO_IP6, {0x20, 0x01, 0x0d, 0xb8, [15] = 1}},
	{PROTO_IP6, {0}},
	{PROTO_IP6, {[10] = 0xff, 0xff, 127, 0, 0, 1}},
	{PROTO_IP6, {[10] = 0xff, 0xff, 192, 0, 2, 1}},
	{PROTO_IP6, {[10] = 0xff, 0xff}},
};

enum {
	OTHER_PORT = 80
};

unsigned connection_complete(enum connection connection, bool has_path, struct request *request)
{
	unsigned proto = connections[connection].proto, cost = connection;
	bool local = op_is_about_local_end(request->op);
	struct endpoint *asked = local ? &request->local : &request->remote;

	if (connection == CONNECTION_NONE)
		return 0;
	if (!asked->proto) {
		*asked = (struct endpoint){.proto = proto};
		if (!(proto & PROTO_UNIX)) {
			asked->port = OTHER_PORT;
			memcpy(asked->addr, hosts[proto & PROTO_IP4 ? 1 : 4].addr,
			       sizeof(asked->addr));
			cost += VALUE_WORD;
		}
	}
	if (!request->local.proto)
		request->local =
			(struct endpoint){.proto = proto, .unbound = !(proto & PROTO_UNIX)};
	if (!(request->has & HAS_SOCKET)) {
		request->has |= HAS_SOCKET;
		request->socket_domain = connections[connection].socket[0];
		request->socket_type = connections[connection].socket[1];
		request->socket_protocol = connections[connection].socket[2];
	}
	/* protocol=udp; =unix where no path says so */
	if (proto & PROTO_UDP ||
	    (proto & PROTO_UNIX && !(has_path && op_is_below(request->op, OP_NETWORK_ANY))))
		cost += VALUE_WORD;
	return cost;
}

/* Guards in the order of their ports. */
struct by_port {
	int port; /* or PORT_ANY */
	uint32_t guard;
};

static int compare_ports(const void *a, const void *b)
{
	const struct by_port *x = a, *y = b;

	return (x->port > y->port) - (x->port < y->port);
}

static struct by_port *sort_by_port(struct finder *f)
{
	struct by_port *list = arena_array(&f->scratch, f->q->n, sizeof(*list));

	for (size_t i = 0; list && i < f->q->n; i++)
		list[i] = (struct by_port){f->q->guards[i]->endpoint.port, (uint32_t)i};
	if (list && f->q->n > 1)
		qsort(list, f->q->n, sizeof(*list), compare_ports);
	return list;
}

/* A port that none of the N guards asks for; above PORT_MAX: there is none. */
static int find_other_port(const struct by_port *sorted, size_t n)
{
	int other = OTHER_PORT;

	for (size_t i = 0; i < n; i++)
		other += sorted[i].port == other;
	if (other <= PORT_MAX)
		return other;
	other = 0;
	for (size_t i = 0; i < n; i++)
		other += sorted[i].port == other;
	return other;
}

/*
 * HOST with each of the ports that are asked for, and another one. Guards that ask for any port
 * hold with all of them, so they are asked once; BASE is room for what they say. Of the others
 * those of the port are: there are profiles with thousands of them.
 */
static int offer_host(struct finder *f, unsigned host, const struct by_port *sorted, uint32_t *base)
{
	const int other = find_other_port(sorted, f->q->n);
	struct value value = {.present = true,
			      .cost = VALUE_WORD + host,
			      .end = {.proto = connections[f->q->connection].proto, .port = other}};
	int r = 0;

	memcpy(value.end.addr, hosts[host].addr, sizeof(value.end.addr));
	if (!finder_spend(f))
		return finder_too_much(f);
	finder_find_truth(f, &value);
	memcpy(base, f->truth, f->n_truth * sizeof(*base));
	for (size_t i = 0, same; i < f->q->n && r == 0; i += same) {
		struct fact fact;
		struct request request;

		value.end.port = sorted[i].port;
		request = finder_request(f, &value, &fact);
		for (same = 0; i + same < f->q->n && sorted[i + same].port == value.end.port;
		     same++)
			finder_add_truth(f, &request, sorted[i + same].guard);
		if (value.end.port >= 0 && value.end.port <= PORT_MAX)
			r = finder_offer_known(f, &value);
		memcpy(f->truth, base, f->n_truth * sizeof(*base));
	}
	value.end.port = other;
	return r == 0 && other <= PORT_MAX ? finder_offer_known(f, &value) : r;
}

static int offer_addresses(struct finder *f)
{
	unsigned proto = connections[f->q->connection].proto;
	const struct by_port *sorted = sort_by_port(f);
	uint32_t *base = arena_array(&f->scratch, f->n_truth, sizeof(*base));
	int r = 0;

	if (!sorted || !base)
		return finder_too_much(f);
	for (unsigned i = 0; i < sizeof(hosts) / sizeof(hosts[0]) && r == 0; i++)
		if (hosts[i].family & proto)
			r = offer_host(f, i, sorted, base);
	return r;
}

int finder_ends(struct finder *f)
{
	const struct values_question *q = f->q;
	struct endpoint fixed = {.proto = connections[q->connection].proto};
	bool asked = op_is_about_local_end(q->op) == (q->part == PART_LOCAL);
	int r;

	if (q->connection == CONNECTION_NONE ||
	    (q->part == PART_REMOTE && q->op == OP_NETWORK_BIND))
		return finder_offer_absence(f);
	if (q->connection == CONNECTION_UNIX)
		return asked || q->part == PART_LOCAL
			       ? finder_offer(f, (struct value){.present = true, .end = fixed})
			       : finder_offer_absence(f);
	r = offer_addresses(f);
	fixed.unbound = true;
	if (r == 0 && !asked)
		r = q->part == PART_LOCAL
			    ? finder_offer(f, (struct value){.present = true, .end = fixed})
			    : finder_offer_absence(f);
	return r;
}
