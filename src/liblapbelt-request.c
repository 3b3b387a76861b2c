/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words into a request (DESIGN 15.8). The first one names the object: a /path, HOST:PORT for
 * network operations, else a name. The others are attributes, KEY=VALUE: the keys below, and every
 * filter by its SBPL name.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/near.h"
#include "base/path.h"
#include "base/str.h"
#include "facade.h"
#include "policy/policy.h"
#include "policy/constant.h"
#include "policy/values.h"
#include "sbpl/sbpl.h"
#include "base/banned.h"

/* ---- Names and numbers ---- */

const struct facade_filter facade_filters[FILTER_COUNT] = {
#define FILTER(symbol, filter_text, category, kind)                                                \
	[FILTER_##symbol] = {filter_text, FACADE_##kind},
#include "policy/filters.def"
#undef FILTER
};

const char *facade_constant(enum filter_id filter, int64_t number)
{
	for (size_t i = first_number; i < end_numbers; i++)
		if (constants[i].filter == filter && constants[i].value == number)
			return constant_name(&constants[i]);
	return NULL;
}

/* Number in any C base, or one of the words that FILTER takes. */
static int parse_number(enum filter_id filter, const char *text, int64_t *ret)
{
	char *end;

	for (size_t i = first_number; i < end_numbers; i++) {
		if (constants[i].filter == filter &&
		    strcmp(constant_name(&constants[i]), text) == 0) {
			*ret = constants[i].value;
			return 0;
		}
	}
	errno = 0;
	*ret = strtoll(text, &end, 0);
	return end == text || *end || errno ? -1 : 0;
}

/* ---- Endpoints ---- */

/*
 * What `*` stands for. As the socket's own end: every interface, the unspecified address. As the
 * other end: some host that is not this one (RFC 5737).
 */
const unsigned char facade_any_interface[4] = {0, 0, 0, 0};
const unsigned char facade_any_host[4] = {192, 0, 2, 1};

static int parse_port(const char *text, int *ret)
{
	unsigned long port;
	char *end;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	port = strtoul(text, &end, 10);
	if (*end || errno || port > 65535)
		return -1;
	*ret = (int)port;
	return 0;
}

static int parse_host(struct str host, const unsigned char *any, struct endpoint *ret)
{
	static const unsigned char loopback[4] = {127, 0, 0, 1};
	char text[INET6_ADDRSTRLEN];

	ret->proto = PROTO_IP4;
	if (str_is(host, "localhost") || str_is(host, "*")) {
		memcpy(ret->addr, host.p[0] == '*' ? any : loopback, 4);
		return 0;
	}
	if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']') {
		host = (struct str){host.p + 1, host.n - 2};
		ret->proto = PROTO_IP6;
	}
	if (host.n >= sizeof(text))
		return -1;
	memcpy(text, host.p, host.n);
	text[host.n] = '\0';
	return inet_pton(ret->proto == PROTO_IP6 ? AF_INET6 : AF_INET, text, ret->addr) == 1 ? 0
											     : -1;
}

/* HOST:PORT, without tcp or udp yet. */
static int parse_endpoint(const char *text, const unsigned char *any, struct endpoint *ret,
			  struct err *e)
{
	const char *colon = strrchr(text, ':');
	struct endpoint endpoint = {0};

	if (!colon || parse_port(colon + 1, &endpoint.port) < 0) {
		(void)err_set(e, ERR_USAGE, "'%s' is not HOST:PORT", text);
		return err_hint(e, "a socket by path starts with /");
	}
	if (parse_host((struct str){text, (size_t)(colon - text)}, any, &endpoint) < 0) {
		(void)err_set(e, ERR_USAGE, "'%.*s' is not a host", (int)(colon - text), text);
		return err_hint(e, "localhost, *, an IPv4 address or an [IPv6 address]");
	}
	*ret = endpoint;
	return 0;
}

/* ---- The request ---- */

struct parse {
	struct facade_request *ret;
	struct request *request;
	unsigned transport; /* PROTO_TCP, PROTO_UDP or PROTO_UNIX */
	struct err *e;
};

static int add_fact(struct parse *parse, struct fact fact)
{
	struct request *request = parse->request;

	if (request->n_facts == FACADE_FACTS_MAX)
		return err_set(parse->e, ERR_USAGE, "more than %d attributes", FACADE_FACTS_MAX);
	request->facts = parse->ret->facts;
	parse->ret->facts[request->n_facts++] = fact;
	return 0;
}

/*
 * What a name without a key is to OP: the first of these filters that OP takes. FILTER_COUNT: OP
 * has no names.
 */
static enum filter_id name_filter(enum op op)
{
	static const enum filter_id names[] = {
		FILTER_SYSCTL_NAME,       FILTER_IPC_POSIX_NAME,
		FILTER_GLOBAL_NAME,       FILTER_IOKIT_PROPERTY,
		FILTER_IOKIT_CONNECTION,  FILTER_IOKIT_REGISTRY_ENTRY_CLASS,
		FILTER_PREFERENCE_DOMAIN, FILTER_APPLEEVENT_DESTINATION,
		FILTER_RIGHT_NAME,        FILTER_NVRAM_VARIABLE,
		FILTER_NOTIFICATION_NAME, FILTER_KEXT_BUNDLE_ID,
		FILTER_INFO_TYPE,         FILTER_BOOT_ARG,
		FILTER_EXTENSION_CLASS,   FILTER_SNAPSHOT_NAME,
		FILTER_MESSAGE_NAME,      FILTER_MACH_DERIVED_PORT_ROLE,
		FILTER_MAC_POLICY_NAME,
	};

	/* Of what fits all filters nobody knows what its names are. */
	if (op_takes(op, FILTER_SYSCTL_NAME) && op_takes(op, FILTER_GLOBAL_NAME))
		return FILTER_COUNT;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (op_takes(op, names[i]))
			return names[i];
	return FILTER_COUNT;
}

/* The kernel asks about canonical paths alone: about another, any answer would be wrong. */
static int take_path(struct parse *parse, const char *text)
{
	enum path_flaw flaw = path_find_flaw(str_of(text));
	struct buf canonical = {.max = sizeof(parse->e->hint) / 2};

	if (flaw == PATH_CANONICAL) {
		parse->request->path = str_of(text);
		return 0;
	}
	if (flaw == PATH_EMPTY || flaw == PATH_RELATIVE)
		return err_set(parse->e, ERR_USAGE, "'%s' does not start with /", text);
	(void)err_set(parse->e, ERR_USAGE, "'%s' is not canonical: %s", text, path_flaw_text(flaw));
	path_put_canonical(&canonical, str_of(text));
	if (!canonical.failed)
		(void)err_hint(parse->e, "the canonical path is '%.*s'%s", (int)canonical.n,
			       canonical.p,
			       flaw == PATH_DOT_DOT ? ", if there are no links on the way" : "");
	buf_release(&canonical);
	return -(int)ERR_USAGE;
}

static int take_object(struct parse *parse, const char *text)
{
	struct request *request = parse->request;
	enum op op = request->op;
	bool network = op_is_below(op, OP_NETWORK_ANY);
	struct endpoint *end = op_is_about_local_end(op) ? &request->local : &request->remote;

	if (text[0] == '/' && op_takes(op, FILTER_PATH))
		return take_path(parse, text);
	if (network)
		return parse_endpoint(
			text, op_is_about_local_end(op) ? facade_any_interface : facade_any_host,
			end, parse->e);
	if (op_is_below(op, OP_FILE_ANY))
		return err_set(parse->e, ERR_USAGE, "'%s' does not start with /", text);
	if (name_filter(op) == FILTER_COUNT) {
		(void)err_set(parse->e, ERR_USAGE, "%s has no '%s': it takes no %s", op_name(op),
			      text, text[0] == '/' ? "path" : "name");
		return err_hint(parse->e, "say what it has as KEY=VALUE, after a filter's name");
	}
	return add_fact(parse, (struct fact){.filter = name_filter(op), .text = str_of(text)});
}

static int bad_value(struct parse *parse, const char *key, const char *value)
{
	return err_set(parse->e, ERR_USAGE, "'%s' is not a value for %s", value, key);
}

static int take_xattr(struct parse *parse, const char *value)
{
	parse->request->xattr = str_of(value);
	return 0;
}

/* Octal, as chmod takes it. */
static int take_mode(struct parse *parse, const char *value)
{
	unsigned long mode;
	char *end;

	errno = 0;
	mode = strtoul(value, &end, 8);
	if (*value < '0' || *value > '7' || *end || errno || mode > 0177777)
		return bad_value(parse, "mode", value);
	parse->request->file_mode = (unsigned)mode;
	parse->request->has |= HAS_FILE_MODE;
	return 0;
}

static int take_local(struct parse *parse, const char *value)
{
	return parse_endpoint(value, facade_any_interface, &parse->request->local, parse->e);
}

static int take_remote(struct parse *parse, const char *value)
{
	return parse_endpoint(value, facade_any_host, &parse->request->remote, parse->e);
}

static int take_protocol(struct parse *parse, const char *value)
{
	static const struct {
		const char *name;
		unsigned proto;
	} transports[] = {{"tcp", PROTO_TCP}, {"udp", PROTO_UDP}, {"unix", PROTO_UNIX}};

	for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
		if (strcmp(transports[i].name, value) != 0)
			continue;
		parse->transport = transports[i].proto;
		return 0;
	}
	return bad_value(parse, "protocol", value);
}

static const struct key {
	const char *name;
	enum filter_id filter; /* the operation must take it */
	int (*take)(struct parse *parse, const char *value);
} keys[] = {
	{"xattr", FILTER_XATTR, take_xattr},        {"mode", FILTER_FILE_MODE, take_mode},
	{"local", FILTER_LOCAL, take_local},        {"remote", FILTER_REMOTE, take_remote},
	{"protocol", FILTER_REMOTE, take_protocol},
};

/* Shorter names for filters. */
static const struct {
	const char *name;
	enum filter_id filter;
} aliases[] = {
	{"signal", FILTER_SIGNAL_NUMBER},
};

/* The filter called NAME, or FILTER_COUNT. */
static enum filter_id find_filter(struct str name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (str_is(name, aliases[i].name))
			return aliases[i].filter;
	for (int i = 0; i < FILTER_COUNT; i++)
		if (facade_filters[i].argument != FACADE_ADDRESS &&
		    str_is(name, facade_filters[i].name))
			return (enum filter_id)i;
	return FILTER_COUNT;
}

static int take_text(struct parse *parse, enum filter_id filter, const char *value)
{
	if (filter == FILTER_PATH)
		return take_path(parse, value);
	return add_fact(parse, (struct fact){.filter = filter, .text = str_of(value)});
}

static int take_bool(struct parse *parse, enum filter_id filter, const char *value)
{
	bool yes = strcmp(value, "true") == 0;

	if (!yes && strcmp(value, "false") != 0)
		return bad_value(parse, facade_filters[filter].name, value);
	return add_fact(parse, (struct fact){.filter = filter, .number = yes});
}

static int take_number(struct parse *parse, enum filter_id filter, const char *value)
{
	struct request *request = parse->request;
	int64_t number;

	if (parse_number(filter, value, &number) < 0)
		return bad_value(parse, facade_filters[filter].name, value);
	switch ((int)filter) {
	case FILTER_VNODE_TYPE:
		request->vnode_type = (enum vnode_type)number;
		request->has |= HAS_VNODE_TYPE;
		return 0;
	case FILTER_TARGET:
		/* Said twice, both are true. */
		if (number > SIGNAL_TARGET_UNKNOWN && number <= SIGNAL_TARGET_INITPROC)
			request->targets |= signal_target_set((enum signal_target)number);
		return 0;
	case FILTER_SIGNAL_NUMBER:
		request->signal = (int)number;
		request->has |= HAS_SIGNAL;
		return 0;
	case FILTER_DEVICE_MAJOR:
		request->device_major = (unsigned)number;
		request->has |= HAS_DEVICE_MAJOR;
		return 0;
	case FILTER_DEVICE_MINOR:
		request->device_minor = (unsigned)number;
		request->has |= HAS_DEVICE_MINOR;
		return 0;
	case FILTER_SOCKET_DOMAIN:
		request->socket_domain = (int)number;
		request->has |= HAS_SOCKET_DOMAIN;
		return 0;
	case FILTER_SOCKET_TYPE:
		request->socket_type = (int)number;
		request->has |= HAS_SOCKET_TYPE;
		return 0;
	case FILTER_SOCKET_PROTOCOL:
		request->socket_protocol = (int)number;
		request->has |= HAS_SOCKET_PROTOCOL;
		return 0;
	default:
		return add_fact(parse, (struct fact){.filter = filter, .number = number});
	}
}

static int does_not_apply(struct parse *parse, struct str key)
{
	return err_set(parse->e, ERR_USAGE, "%.*s does not apply to %s", (int)key.n, key.p,
		       op_name(parse->request->op));
}

/* TEXT is KEY=VALUE. Returns 1 when there is no such key. */
static int take_attribute(struct parse *parse, const char *text)
{
	const char *equals = strchr(text, '=');
	struct str key = {text, equals ? (size_t)(equals - text) : 0};
	enum filter_id filter;

	if (!equals)
		return 1;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!str_is(key, keys[i].name))
			continue;
		return op_takes(parse->request->op, keys[i].filter)
			       ? keys[i].take(parse, equals + 1)
			       : does_not_apply(parse, key);
	}
	filter = find_filter(key);
	if (filter == FILTER_COUNT)
		return 1;
	if (!op_takes(parse->request->op, filter))
		return does_not_apply(parse, key);
	switch (facade_filters[filter].argument) {
	case FACADE_INTEGER:
	case FACADE_BITFIELD:
		return take_number(parse, filter, equals + 1);
	case FACADE_BOOL:
		return take_bool(parse, filter, equals + 1);
	default:
		return take_text(parse, filter, equals + 1);
	}
}

/* TEXT has a '=', but no key before it. 1: it is a name, if it stands first. */
static int unknown_key(struct parse *parse, const char *text, bool is_first)
{
	struct near near = {.word = {text, strcspn(text, "=")}};
	enum op op = parse->request->op;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (op_takes(op, keys[i].filter))
			near_try(&near, keys[i].name);
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (op_takes(op, aliases[i].filter))
			near_try(&near, aliases[i].name);
	for (int i = 0; i < FILTER_COUNT; i++)
		if (op_takes(op, (enum filter_id)i))
			near_try(&near, facade_filters[i].name);
	if (is_first && !near.best && name_filter(op) != FILTER_COUNT)
		return 1;
	(void)err_set(parse->e, ERR_USAGE, "unknown key '%.*s'", (int)near.word.n, text);
	return near.best ? err_hint(parse->e, "did you mean '%s'?", near.best) : -(int)ERR_USAGE;
}

/* A unix socket's own end is one, too, whatever it is asked about. */
static int take_unix_ends(struct parse *parse)
{
	struct request *request = parse->request;
	bool local = op_is_about_local_end(request->op);

	if ((request->local.proto | request->remote.proto) & (PROTO_IP4 | PROTO_IP6))
		return err_set(parse->e, ERR_USAGE, "a unix socket has no HOST:PORT");
	request->local.proto = PROTO_UNIX;
	if (!local)
		request->remote.proto = PROTO_UNIX;
	return 0;
}

/*
 * What a socket has by being one: its transport, family and type, and an own end that is not bound
 * before it connects.
 */
static int complete_socket(struct parse *parse)
{
	enum {
		DATAGRAM = 2
	};
	struct request *request = parse->request;
	struct endpoint *ends[] = {&request->local, &request->remote};
	unsigned family;
	bool is_unix;

	/* protocol=unix: one without a name, or whose name nobody asks for */
	is_unix = parse->transport == PROTO_UNIX ||
		  (request->path.n > 0 && op_is_below(request->op, OP_NETWORK_ANY));
	if (is_unix && take_unix_ends(parse) < 0)
		return -(int)ERR_USAGE;
	for (size_t i = 0; i < 2; i++)
		if (ends[i]->proto & (PROTO_IP4 | PROTO_IP6))
			ends[i]->proto |= parse->transport;
	family = request->remote.proto ? request->remote.proto : request->local.proto;
	if (!family)
		return 0;
	if (!request->local.proto)
		request->local = (struct endpoint){.proto = family, .unbound = true};
	/* Of unix sockets too. */
	if (parse->transport == PROTO_UDP && !(request->has & HAS_SOCKET_TYPE)) {
		request->socket_type = DATAGRAM;
		request->has |= HAS_SOCKET_TYPE;
	}
	request_set_socket(request);
	return 0;
}

static int unknown_operation(const char *operation, struct err *e)
{
	const char *present = sbpl_present_name(str_of(operation));
	struct near near = {.word = str_of(operation)};

	if (present && present[0]) {
		(void)err_set(e, ERR_USAGE, "'%s' is an older name", operation);
		return err_hint(e, "the operation is called '%s'", present);
	}
	if (present) {
		(void)err_set(e, ERR_USAGE, "'%s' is no operation any more", operation);
		return err_hint(e, "rules about it are dropped");
	}
	for (int op = 0; op < OP_COUNT; op++)
		if (!sbpl_present_name(str_of(op_name((enum op)op))))
			near_try(&near, op_name((enum op)op));
	(void)err_set(e, ERR_USAGE, "unknown operation '%s'", operation);
	return near.best ? err_hint(e, "did you mean '%s'?", near.best) : -(int)ERR_USAGE;
}

int facade_request(const char *operation, const char *const *arguments, struct facade_request *ret,
		   struct err *e)
{
	struct parse parse = {ret, &ret->request, PROTO_TCP, e};

	*ret = (struct facade_request){.request.op = op_find(str_of(operation))};
	if (ret->request.op == OP_COUNT || sbpl_present_name(str_of(operation)))
		return unknown_operation(operation, e);
	for (size_t i = 0; arguments && arguments[i]; i++) {
		int r = arguments[i][0] == '/' ? 1 : take_attribute(&parse, arguments[i]);

		if (r == 1 && arguments[i][0] != '/' && strchr(arguments[i], '='))
			r = unknown_key(&parse, arguments[i], i == 0);
		if (r == 1 && i > 0)
			return err_set(e, ERR_USAGE, "'%s' is not KEY=VALUE", arguments[i]);
		if (r == 1)
			r = take_object(&parse, arguments[i]);
		if (r < 0)
			return r;
	}
	return complete_socket(&parse);
}
