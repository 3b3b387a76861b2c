/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each filter looks at, and the tests that are not about paths. A missing
 * attribute makes its test false.
 */
#include "policy/guard.h"

#include "base/banned.h"

/*
 * Filters that are not here look at something a request cannot carry: a process's entitlements,
 * its extensions, the volume, the system. They never match.
 */
static const enum attribute attributes[FILTER_COUNT] = {
	[FILTER_PATH] = ATTRIBUTE_PATH,
	[FILTER_XATTR] = ATTRIBUTE_XATTR,
	[FILTER_LOCAL] = ATTRIBUTE_LOCAL,
	[FILTER_REMOTE] = ATTRIBUTE_REMOTE,

	[FILTER_IPC_POSIX_NAME] = ATTRIBUTE_NAME,
	[FILTER_GLOBAL_NAME] = ATTRIBUTE_NAME,
	[FILTER_LOCAL_NAME] = ATTRIBUTE_NAME,
	[FILTER_XPC_SERVICE_NAME] = ATTRIBUTE_NAME,
	[FILTER_CONTROL_NAME] = ATTRIBUTE_NAME,
	[FILTER_IOKIT_REGISTRY_ENTRY_CLASS] = ATTRIBUTE_NAME,
	[FILTER_IOKIT_PROPERTY] = ATTRIBUTE_NAME,
	[FILTER_IOKIT_CONNECTION] = ATTRIBUTE_NAME,
	[FILTER_EXTENSION_CLASS] = ATTRIBUTE_NAME,
	[FILTER_APPLEEVENT_DESTINATION] = ATTRIBUTE_NAME,
	[FILTER_RIGHT_NAME] = ATTRIBUTE_NAME,
	[FILTER_PREFERENCE_DOMAIN] = ATTRIBUTE_NAME,
	[FILTER_KEXT_BUNDLE_ID] = ATTRIBUTE_NAME,
	[FILTER_INFO_TYPE] = ATTRIBUTE_NAME,
	[FILTER_NOTIFICATION_NAME] = ATTRIBUTE_NAME,
	[FILTER_SYSCTL_NAME] = ATTRIBUTE_NAME,
	[FILTER_NVRAM_VARIABLE] = ATTRIBUTE_NAME,
	[FILTER_BOOT_ARG] = ATTRIBUTE_NAME,
	[FILTER_SNAPSHOT_NAME] = ATTRIBUTE_NAME,
	[FILTER_MACH_DERIVED_PORT_ROLE] = ATTRIBUTE_NAME,
	[FILTER_MESSAGE_NAME] = ATTRIBUTE_NAME,
	[FILTER_MAC_POLICY_NAME] = ATTRIBUTE_NAME,
	[FILTER_CHECK_OPERATION] = ATTRIBUTE_NAME,

	[FILTER_VNODE_TYPE] = ATTRIBUTE_VNODE_TYPE,
	[FILTER_FILE_MODE] = ATTRIBUTE_FILE_MODE,
	[FILTER_TARGET] = ATTRIBUTE_TARGET,
	[FILTER_SIGNAL_NUMBER] = ATTRIBUTE_SIGNAL,
	[FILTER_DEVICE_MAJOR] = ATTRIBUTE_DEVICE_MAJOR,
	[FILTER_DEVICE_MINOR] = ATTRIBUTE_DEVICE_MINOR,
	[FILTER_SOCKET_DOMAIN] = ATTRIBUTE_SOCKET_DOMAIN,
	[FILTER_SOCKET_TYPE] = ATTRIBUTE_SOCKET_TYPE,
	[FILTER_SOCKET_PROTOCOL] = ATTRIBUTE_SOCKET_PROTOCOL,

	[FILTER_FSCTL_COMMAND] = ATTRIBUTE_NUMBER,
	[FILTER_IOCTL_COMMAND] = ATTRIBUTE_NUMBER,
	[FILTER_FCNTL_COMMAND] = ATTRIBUTE_NUMBER,
	[FILTER_SEMAPHORE_OWNER] = ATTRIBUTE_NUMBER,
	[FILTER_PRIVILEGE_ID] = ATTRIBUTE_NUMBER,
	[FILTER_HOST_SPECIAL_PORT] = ATTRIBUTE_NUMBER,
	[FILTER_REBOOT_FLAGS] = ATTRIBUTE_NUMBER,
	[FILTER_IOKIT_USB_INTERFACE_CLASS] = ATTRIBUTE_NUMBER,
	[FILTER_IOKIT_USER_CLIENT_TYPE] = ATTRIBUTE_NUMBER,
	[FILTER_IOKIT_METHOD_NUMBER] = ATTRIBUTE_NUMBER,
	[FILTER_IOKIT_TRAP_NUMBER] = ATTRIBUTE_NUMBER,
	[FILTER_SYSCALL_NUMBER] = ATTRIBUTE_NUMBER,
	[FILTER_SYSCALL_MASK] = ATTRIBUTE_NUMBER,
	[FILTER_MESSAGE_NUMBER] = ATTRIBUTE_NUMBER,
	[FILTER_MACHTRAP_NUMBER] = ATTRIBUTE_NUMBER,
	[FILTER_KERNEL_MIG_ROUTINE] = ATTRIBUTE_NUMBER,
	[FILTER_SOCKET_OPTION_NAME] = ATTRIBUTE_NUMBER,
	[FILTER_MAC_SYSCALL_NUMBER] = ATTRIBUTE_NUMBER,
	[FILTER_NECP_CLIENT_ACTION] = ATTRIBUTE_NUMBER,
	[FILTER_MEMORYSTATUS_CONTROL_COMMAND] = ATTRIBUTE_NUMBER,
	[FILTER_TASK_SPECIAL_PORT] = ATTRIBUTE_NUMBER,
	[FILTER_CODESIGNING_OPERATION] = ATTRIBUTE_NUMBER,
	[FILTER_KAS_INFO_SELECTOR] = ATTRIBUTE_NUMBER,
	[FILTER_MACH_EXCEPTION_TYPE] = ATTRIBUTE_NUMBER,
};

static const bool folds_on_darwin[FILTER_COUNT] = {
	[FILTER_PATH] = true,        [FILTER_XATTR] = true,          [FILTER_IPC_POSIX_NAME] = true,
	[FILTER_SYSCTL_NAME] = true, [FILTER_NVRAM_VARIABLE] = true,
};

enum attribute filter_attribute(enum filter_id filter)
{
	return attributes[filter];
}

bool filter_folds_case(enum filter_id filter, enum target target)
{
	return target == TARGET_DARWIN && folds_on_darwin[filter];
}

bool match_is_pattern(enum match match)
{
	return match == MATCH_LITERAL || match == MATCH_PREFIX || match == MATCH_SUBPATH ||
	       match == MATCH_REGEX;
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
	struct address address = normalize(end, target);

	if (end->unbound)
		return matches_proto(pattern->proto, end->proto);
	if (!matches_proto(pattern->proto, address.proto))
		return false;
	if (address.proto & PROTO_UNIX)
		return true;
	if (pattern->localhost && !is_localhost(address, guard->attribute, target))
		return false;
	return pattern->port == PORT_ANY || pattern->port == end->port;
}

/* ---- Text and numbers ---- */

static bool matches_text(const struct guard *guard, struct str text)
{
	const struct dfa *dfa = guard->dfa;

	return text.n > 0 && dfa->label[dfa_walk(dfa, dfa->start, text)];
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
		return request->has & HAS_DEVICE;
	case ATTRIBUTE_DEVICE_MINOR:
		*ret = request->device_minor;
		return request->has & HAS_DEVICE;
	case ATTRIBUTE_SOCKET_DOMAIN:
		*ret = request->socket_domain;
		return request->has & HAS_SOCKET;
	case ATTRIBUTE_SOCKET_TYPE:
		*ret = request->socket_type;
		return request->has & HAS_SOCKET;
	case ATTRIBUTE_SOCKET_PROTOCOL:
		*ret = request->socket_protocol;
		return request->has & HAS_SOCKET;
	case ATTRIBUTE_NUMBER:
		*ret = request->number;
		return request->has & HAS_NUMBER;
	default:
		return false;
	}
}

static bool matches_number(const struct guard *guard, const struct request *request)
{
	int64_t number;

	if (!find_number(request, guard->attribute, &number))
		return false;
	if (guard->match == MATCH_BITS)
		return (number & guard->number) == guard->number;
	return guard->match == MATCH_INTEGER && number == guard->number;
}

/* Of several targets each counts. */
static bool matches_target(const struct guard *guard, const struct request *request)
{
	return guard->match == MATCH_INTEGER && guard->number >= 0 && guard->number < 32 &&
	       (request->targets & 1u << guard->number);
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
	case ATTRIBUTE_NAME:
		return matches_text(guard, request->name);
	case ATTRIBUTE_XATTR:
		return matches_text(guard, request->xattr);
	case ATTRIBUTE_LOCAL:
		return matches_endpoint(guard, &request->local, target);
	case ATTRIBUTE_REMOTE:
		return matches_endpoint(guard, &request->remote, target);
	case ATTRIBUTE_TARGET:
		return matches_target(guard, request);
	default:
		return matches_number(guard, request);
	}
}
