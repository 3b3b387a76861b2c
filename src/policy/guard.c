/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each filter looks at, and the tests that are not about paths. A missing
 * attribute makes its test false.
 */
#include "policy/guard.h"

#include "base/banned.h"

/* Filters that are not here look at facts. */
static const enum attribute attributes[FILTER_COUNT] = {
	[FILTER_XATTR] = ATTRIBUTE_XATTR,
	[FILTER_LOCAL] = ATTRIBUTE_LOCAL,
	[FILTER_REMOTE] = ATTRIBUTE_REMOTE,
	[FILTER_VNODE_TYPE] = ATTRIBUTE_VNODE_TYPE,
	[FILTER_FILE_MODE] = ATTRIBUTE_FILE_MODE,
	[FILTER_TARGET] = ATTRIBUTE_TARGET,
	[FILTER_SIGNAL_NUMBER] = ATTRIBUTE_SIGNAL,
	[FILTER_DEVICE_MAJOR] = ATTRIBUTE_DEVICE_MAJOR,
	[FILTER_DEVICE_MINOR] = ATTRIBUTE_DEVICE_MINOR,
	[FILTER_SOCKET_DOMAIN] = ATTRIBUTE_SOCKET_DOMAIN,
	[FILTER_SOCKET_TYPE] = ATTRIBUTE_SOCKET_TYPE,
	[FILTER_SOCKET_PROTOCOL] = ATTRIBUTE_SOCKET_PROTOCOL,
};

/* Linux has no such thing: no process holds an extension or an entitlement, no file is in a vault.
 */
static const bool is_darwin_only[FILTER_COUNT] = {
	[FILTER_DEVICE_CONFORMS_TO] = true,
	[FILTER_EXTENSION] = true,
	[FILTER_EXTENSION_CLASS] = true,
	[FILTER_EXTENSION_PATH_ANCESTOR] = true,
	[FILTER_USER_INTENT_EXTENSION] = true,
	[FILTER_STORAGE_CLASS] = true,
	[FILTER_STORAGE_CLASS_EXTENSION] = true,
	[FILTER_ENTITLEMENT_LOAD] = true,
	[FILTER_ENTITLEMENT_BOOLEAN] = true,
	[FILTER_ENTITLEMENT_STRING] = true,
	[FILTER_ENTITLEMENT_IS_BOOL_TRUE] = true,
	[FILTER_ENTITLEMENT_IS_PRESENT] = true,
	[FILTER_REQUIRE_ANCESTOR_WITH_ENTITLEMENT] = true,
	[FILTER_REQUIRE_TARGET_WITH_ENTITLEMENT] = true,
	[FILTER_REQUIRE_RESPONSIBLE_BINARY_WITH_ENTITLEMENT] = true,
	[FILTER_SIGNING_IDENTIFIER] = true,
	[FILTER_TARGET_SIGNING_IDENTIFIER] = true,
	[FILTER_ANCESTOR_SIGNING_IDENTIFIER] = true,
	[FILTER_PROCESS_ATTRIBUTE] = true,
	[FILTER_PERSONA_TYPE] = true,
	[FILTER_SYSTEM_ATTRIBUTE] = true,
	[FILTER_CSR] = true,
	[FILTER_ROOTLESS_BOOT_DEVICE_FILTER] = true,
	[FILTER_ROOTLESS_DISK_FILTER] = true,
	[FILTER_DATAVAULT_DISK_FILTER] = true,
	[FILTER_FILEPROVIDER_SYNCROOT_PATH] = true,
	[FILTER_STATE_FLAG] = true,
	[FILTER_PROFILE_FLAG] = true,
};

static const bool folds_on_darwin[FILTER_COUNT] = {
	[FILTER_PATH] = true,        [FILTER_XATTR] = true,          [FILTER_IPC_POSIX_NAME] = true,
	[FILTER_SYSCTL_NAME] = true, [FILTER_NVRAM_VARIABLE] = true,
};

enum attribute filter_attribute(enum filter_id filter)
{
	if (filter == FILTER_PATH || attributes[filter])
		return attributes[filter];
	return (enum attribute)(ATTRIBUTE_FACT + filter);
}

enum filter_id guard_filter(const struct guard *guard)
{
	unsigned filter = FILTER_PATH;

	if (guard->attribute >= ATTRIBUTE_FACT)
		return (enum filter_id)(guard->attribute - ATTRIBUTE_FACT);
	while (attributes[filter] != guard->attribute)
		filter++;
	return (enum filter_id)filter;
}

bool filter_is_darwin_only(enum filter_id filter)
{
	return is_darwin_only[filter];
}

bool guard_is_absent(const struct guard *guard, enum target target)
{
	return target == TARGET_LINUX && is_darwin_only[guard_filter(guard)];
}

bool filter_folds_case(enum filter_id filter, enum target target)
{
	return target == TARGET_DARWIN && folds_on_darwin[filter];
}

bool match_is_pattern(enum match match)
{
	return match == MATCH_LITERAL || match == MATCH_PREFIX || match == MATCH_SUBPATH ||
	       match == MATCH_REGEX || match == MATCH_STRING;
}

/* ---- Endpoints ---- */

/* An address as rules see it: on Linux an IPv4-mapped one is what it stands for. */
struct address {
	unsigned proto;
	const unsigned char *bytes;
};

static struct address normalize(const struct endpoint *end, enum target target)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct address address = {end->proto, end->addr};

	if (target == TARGET_LINUX && end->proto & PROTO_IP6 &&
	    memcmp(end->addr, mapped, sizeof(mapped)) == 0) {
		address.proto = (end->proto & ~(unsigned)PROTO_IP6) | PROTO_IP4;
		address.bytes = end->addr + sizeof(mapped);
	}
	return address;
}

static bool is_unspecified(struct address address)
{
	static const unsigned char zero[16];

	return memcmp(address.bytes, zero, address.proto & PROTO_IP6 ? 16 : 4) == 0;
}

static bool is_loopback(struct address address, enum target target)
{
	static const unsigned char loopback6[16] = {[15] = 1};
	static const unsigned char loopback4[4] = {127, 0, 0, 1};

	if (address.proto & PROTO_IP6)
		return memcmp(address.bytes, loopback6, sizeof(loopback6)) == 0;
	if (target == TARGET_LINUX)
		return address.bytes[0] == 127;
	return memcmp(address.bytes, loopback4, sizeof(loopback4)) == 0;
}

/*
 * The unspecified address differs by system and side. Linux connects it to the loopback interface,
 * so there it is localhost as a destination, while a bind to it is open to the world. Seatbelt lets
 * a localhost rule bind it (SBPL.md 9, vector 17).
 */
static bool is_localhost(struct address address, enum attribute side, enum target target)
{
	enum attribute unspecified_counts =
		target == TARGET_LINUX ? ATTRIBUTE_REMOTE : ATTRIBUTE_LOCAL;

	return is_loopback(address, target) ||
	       (side == unspecified_counts && is_unspecified(address));
}

static bool matches_proto(unsigned pattern, unsigned proto)
{
	const unsigned families = PROTO_IP4 | PROTO_IP6 | PROTO_UNIX;
	unsigned transports = pattern & (PROTO_TCP | PROTO_UDP);

	return pattern & proto & families && (transports == 0 || transports & proto);
}

static bool matches_endpoint(const struct guard *guard, const struct endpoint *end,
			     enum target target)
{
	const struct endpoint_pattern *pattern = &guard->endpoint;
	struct address address;

	if (end->unbound)
		return matches_proto(pattern->proto, end->proto);
	/* Most that fail do here: of profiles with thousands of ports. */
	if (!(end->proto & PROTO_UNIX) && pattern->port != PORT_ANY && pattern->port != end->port)
		return false;
	address = normalize(end, target);
	if (!matches_proto(pattern->proto, address.proto))
		return false;
	if (address.proto & PROTO_UNIX)
		return true;
	return !pattern->localhost || is_localhost(address, guard->attribute, target);
}

/* ---- Text and numbers ---- */

static bool matches_text(const struct guard *guard, struct str text)
{
	return text.n > 0 && dfa_label(guard->dfa, text);
}

/* The number REQUEST carries for ATTRIBUTE, if any. */
static bool find_number(const struct request *request, enum attribute attribute, int64_t *ret)
{
	switch (attribute) {
	case ATTRIBUTE_VNODE_TYPE:
		*ret = request->vnode_type;
		return request->has & HAS_VNODE_TYPE;
	case ATTRIBUTE_FILE_MODE:
		*ret = request->file_mode;
		return request->has & HAS_FILE_MODE;
	case ATTRIBUTE_SIGNAL:
		*ret = request->signal;
		return request->has & HAS_SIGNAL;
	case ATTRIBUTE_DEVICE_MAJOR:
		*ret = request->device_major;
		return request->has & HAS_DEVICE_MAJOR;
	case ATTRIBUTE_DEVICE_MINOR:
		*ret = request->device_minor;
		return request->has & HAS_DEVICE_MINOR;
	case ATTRIBUTE_SOCKET_DOMAIN:
		*ret = request->socket_domain;
		return request->has & HAS_SOCKET_DOMAIN;
	case ATTRIBUTE_SOCKET_TYPE:
		*ret = request->socket_type;
		return request->has & HAS_SOCKET_TYPE;
	case ATTRIBUTE_SOCKET_PROTOCOL:
		*ret = request->socket_protocol;
		return request->has & HAS_SOCKET_PROTOCOL;
	default:
		return false;
	}
}

static bool is_number(const struct guard *guard, int64_t number)
{
	if (guard->match == MATCH_BITS)
		return (number & guard->number) == guard->number;
	return number == guard->number;
}

static bool matches_number(const struct guard *guard, const struct request *request)
{
	int64_t number;

	return find_number(request, guard->attribute, &number) && is_number(guard, number);
}

/* Of several facts each counts. */
static bool matches_fact(const struct guard *guard, const struct request *request)
{
	enum filter_id filter = guard_filter(guard);

	for (size_t i = 0; i < request->n_facts; i++) {
		const struct fact *fact = &request->facts[i];

		if (fact->filter == filter &&
		    (guard->dfa ? matches_text(guard, fact->text) : is_number(guard, fact->number)))
			return true;
	}
	return false;
}

/* Of several targets each counts. */
static bool matches_target(const struct guard *guard, const struct request *request)
{
	return guard->match == MATCH_INTEGER && guard->number >= 0 && guard->number < 32 &&
	       (request->targets & 1u << guard->number);
}

void request_set_socket(struct request *request)
{
	enum {
		DOMAIN_UNIX = 1, /* Darwin numbers */
		DOMAIN_INET = 2,
		DOMAIN_INET6 = 30,
		STREAM = 1,
		DATAGRAM = 2,
		TCP = 6,
		UDP = 17,
	};
	unsigned proto = request->remote.proto ? request->remote.proto : request->local.proto;
	bool udp = proto & PROTO_UDP;

	if (!proto)
		return;
	if (!(request->has & HAS_SOCKET_DOMAIN))
		request->socket_domain = proto & PROTO_UNIX  ? DOMAIN_UNIX
					 : proto & PROTO_IP4 ? DOMAIN_INET
							     : DOMAIN_INET6;
	if (!(request->has & HAS_SOCKET_TYPE))
		request->socket_type = udp ? DATAGRAM : STREAM;
	if (!(request->has & HAS_SOCKET_PROTOCOL))
		request->socket_protocol = proto & PROTO_UNIX ? 0 : udp ? UDP : TCP;
	request->has |= HAS_SOCKET;
}

unsigned signal_target_set(enum signal_target target)
{
	static const unsigned implied[] = {
		[SIGNAL_TARGET_SELF] = 1u << SIGNAL_TARGET_PGRP | 1u << SIGNAL_TARGET_SAME_SANDBOX,
		[SIGNAL_TARGET_CHILDREN] = 1u << SIGNAL_TARGET_SAME_SANDBOX,
		[SIGNAL_TARGET_INITPROC] = 1u << SIGNAL_TARGET_OTHERS,
	};

	return 1u << target | implied[target];
}

bool guard_holds(const struct guard *guard, const struct request *request, enum target target)
{
	switch (guard->attribute) {
	case ATTRIBUTE_XATTR:
		return matches_text(guard, request->xattr);
	case ATTRIBUTE_LOCAL:
		return matches_endpoint(guard, &request->local, target);
	case ATTRIBUTE_REMOTE:
		return matches_endpoint(guard, &request->remote, target);
	case ATTRIBUTE_TARGET:
		return matches_target(guard, request);
	default:
		return guard->attribute < ATTRIBUTE_FACT ? matches_number(guard, request)
							 : matches_fact(guard, request);
	}
}
