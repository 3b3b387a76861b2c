/* SPDX-License-Identifier: Apache-2.0 */
#include "live/words.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/banned.h"

__attribute__((format(printf, 2, 3))) static bool refuse(char *why, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(why, WHY_MAX, format, ap);
	va_end(ap);
	return false;
}

/* ---- Values ---- */

static const char *const kinds[KIND_COUNT] = {
	[KIND_NONE] = "",
	[KIND_FILE] = "vnode-type=REGULAR-FILE",
	[KIND_DIRECTORY] = "vnode-type=DIRECTORY",
	[KIND_SYMLINK] = "vnode-type=SYMLINK",
	[KIND_FIFO] = "vnode-type=FIFO",
	[KIND_SOCKET] = "vnode-type=SOCKET",
	[KIND_CHARACTER] = "vnode-type=CHARACTER-DEVICE",
	[KIND_BLOCK] = "vnode-type=BLOCK-DEVICE",
};

const char *words_kind(enum kind kind)
{
	return kinds[kind];
}

/* Profiles and rows speak of signals as macOS numbers them; by name they are the same. */
static const struct {
	const char *name;
	int number;
} signals[] = {
	{"SIGHUP", SIGHUP},     {"SIGINT", SIGINT},       {"SIGQUIT", SIGQUIT},
	{"SIGILL", SIGILL},     {"SIGTRAP", SIGTRAP},     {"SIGABRT", SIGABRT},
	{"SIGFPE", SIGFPE},     {"SIGKILL", SIGKILL},     {"SIGBUS", SIGBUS},
	{"SIGSEGV", SIGSEGV},   {"SIGSYS", SIGSYS},       {"SIGPIPE", SIGPIPE},
	{"SIGALRM", SIGALRM},   {"SIGTERM", SIGTERM},     {"SIGURG", SIGURG},
	{"SIGCONT", SIGCONT},   {"SIGCHLD", SIGCHLD},     {"SIGXCPU", SIGXCPU},
	{"SIGXFSZ", SIGXFSZ},   {"SIGVTALRM", SIGVTALRM}, {"SIGPROF", SIGPROF},
	{"SIGWINCH", SIGWINCH}, {"SIGUSR1", SIGUSR1},     {"SIGUSR2", SIGUSR2},
};

/* Those that have the same number on both. */
static const int common_signals[] = {1, 2, 3, 4, 5, 6, 8, 9, 11, 13, 14, 15};

static bool take_signal(struct asked *asked, const char *value, char *why)
{
	char *end;
	long number = strtol(value, &end, 10);

	asked->has_signal = true;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (strcmp(signals[i].name, value) == 0) {
			asked->signal = signals[i].number;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(common_signals) / sizeof(common_signals[0]); i++) {
		if (end != value && !*end && common_signals[i] == number) {
			asked->signal = common_signals[i];
			return true;
		}
	}
	return refuse(why, "%s stops processes, or is no signal of both systems", value);
}

static bool take_target(struct asked *asked, const char *value, char *why)
{
	static const struct {
		const char *name;
		unsigned target;
	} targets[] = {
		{"self", TARGET_SELF},
		{"children", TARGET_CHILDREN},
		{"same-sandbox", TARGET_SAME_SANDBOX},
		{"pgrp", TARGET_GROUP},
		{"others", TARGET_OTHERS},
	};

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (strcmp(targets[i].name, value) == 0) {
			asked->targets |= targets[i].target;
			return true;
		}
	}
	return refuse(why, "there is no process to be signalled as %s", value);
}

static bool take_kind(struct asked *asked, const char *value, char *why)
{
	for (enum kind kind = KIND_FILE; kind < KIND_COUNT; kind++) {
		if (strcmp(strchr(kinds[kind], '=') + 1, value) == 0) {
			asked->kind = kind;
			asked->has_kind = true;
			return true;
		}
	}
	return refuse(why, "nothing of vnode type %s can be made", value);
}

static bool take_mode(struct asked *asked, const char *value, char *why)
{
	(void)why;
	asked->mode = (unsigned)strtoul(value, NULL, 8) & 07777;
	asked->has_mode = true;
	return true;
}

static bool take_xattr(struct asked *asked, const char *value, char *why)
{
	(void)why;
	asked->xattr = value;
	return true;
}

static bool take_protocol(struct asked *asked, const char *value, char *why)
{
	(void)why;
	asked->udp = strcmp(value, "udp") == 0;
	return true;
}

static bool take_local(struct asked *asked, const char *value, char *why)
{
	asked->has_local = true;
	return words_address(value, true, &asked->local) ||
	       refuse(why, "%s is no address of a socket", value);
}

static const struct {
	const char *key; /* with its = */
	bool (*take)(struct asked *asked, const char *value, char *why);
} keys[] = {
	{"vnode-type=", take_kind}, {"mode=", take_mode},         {"xattr=", take_xattr},
	{"target=", take_target},   {"signal=", take_signal},     {"signal-number=", take_signal},
	{"local=", take_local},     {"protocol=", take_protocol},
};

/* ---- Addresses ---- */

static void set_v4(struct address *address, struct in_addr host, unsigned port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = host};

	memcpy(&address->name, &in, sizeof(in));
	address->length = sizeof(in);
}

static bool set_v6(struct address *address, const char *host, size_t n, unsigned port)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	char text[INET6_ADDRSTRLEN];

	if (n >= sizeof(text))
		return false;
	(void)snprintf(text, sizeof(text), "%.*s", (int)n, host);
	if (inet_pton(AF_INET6, text, &in6.sin6_addr) != 1)
		return false;
	memcpy(&address->name, &in6, sizeof(in6));
	address->length = sizeof(in6);
	return true;
}

bool words_address(const char *text, bool local, struct address *ret)
{
	static const char some_host[] = "192.0.2.1"; /* what lapbelt_decide() takes for it */
	const char *colon = strrchr(text, ':');
	char host[INET_ADDRSTRLEN];
	struct in_addr in;
	unsigned port;

	if (!colon)
		return false;
	port = (unsigned)strtoul(colon + 1, NULL, 10);
	if (*text == '[' && colon > text + 2 && colon[-1] == ']')
		return set_v6(ret, text + 1, (size_t)(colon - text) - 2, port);
	if ((size_t)(colon - text) >= sizeof(host))
		return false;
	(void)snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	if (strcmp(host, "localhost") == 0)
		(void)snprintf(host, sizeof(host), "127.0.0.1");
	else if (strcmp(host, "*") == 0)
		(void)snprintf(host, sizeof(host), "%s", local ? "0.0.0.0" : some_host);
	if (inet_pton(AF_INET, host, &in) != 1)
		return false;
	set_v4(ret, in, port);
	return true;
}

/* ---- Rows ---- */

/* A key is lower case and has no dots and slashes. */
static bool is_attribute(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz-");

	return n > 0 && word[n] == '=';
}

static bool take_attribute(struct asked *asked, const char *word, char *why)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (str_starts(str_of(word), str_of(keys[i].key)))
			return keys[i].take(asked, word + strlen(keys[i].key), why);
	return refuse(why, "nobody can act out %s", word);
}

static bool take_object(struct asked *asked, const char *word, char *why)
{
	bool local = strcmp(asked->operation, "network-outbound") != 0;

	asked->object = word;
	if (word[0] == '/' || strncmp(asked->operation, "network", 7) != 0)
		return true;
	return words_address(word, local, &asked->address) || refuse(why, "%s is no address", word);
}

bool words_read(char *const *words, struct asked *ret, char why[WHY_MAX])
{
	*ret = (struct asked){.operation = words[0]};
	for (size_t i = 1; words[i]; i++) {
		bool object = i == 1 && (words[i][0] == '/' || !is_attribute(words[i]));

		if (!(object ? take_object : take_attribute)(ret, words[i], why))
			return false;
		if (i + 1 >= WORDS_MAX - 6)
			return refuse(why, "it has too many words");
	}
	return true;
}
