/* SPDX-License-Identifier: Apache-2.0 */
/* The live judge without a kernel: what rows ask for, and that the table of acts makes sense. */
#include <lapbelt.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>

#include "live/deed.h"
#include "live/words.h"
#include "test.h"

static bool is_known(const struct lapbelt_policy *policy, const char *operation)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_decision decision;

	return lapbelt_decide(policy, operation, NULL, &decision, &error) == 0;
}

static void acts_are_about_operations(void)
{
	struct lapbelt_policy *policy = NULL;

	CHECK_INT(lapbelt_policy_from_text("(version 1)", "x", NULL, &policy, NULL), 0);
	CHECK(!is_known(policy, "file-raed-data"));
	for (size_t i = 0; i < n_acts; i++) {
		CHECK(is_known(policy, acts[i].operation));
		for (const struct also *also = acts[i].also; also->operation; also++)
			CHECK(is_known(policy, also->operation));
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(acts[i].operation, acts[j].operation) != 0);
	}
	lapbelt_policy_free(policy);
}

static void rows_are_read_or_refused(void)
{
	static const struct {
		const char *words[6];
		bool readable;
	} rows[] = {
		{{"file-read-data", "/x", "vnode-type=FIFO", "mode=0640"}, true},
		{{"file-read-data", "/a=b"}, true},
		{{"signal", "target=self", "target=pgrp", "signal=SIGTERM"}, true},
		{{"signal", "signal=15"}, true},
		{{"signal", "signal=SIGSTOP"}, false},
		{{"signal", "signal=10"}, false}, /* SIGBUS there, SIGUSR1 here */
		{{"signal", "target=initproc"}, false},
		{{"file-read-data", "/x", "vnode-type=TTY"}, false},
		{{"syscall-unix", "syscall-number=5"}, false},
		{{"network-outbound", "[::1]:80", "protocol=udp", "local=*:1"}, true},
		{{"network-outbound", "nowhere"}, false},
		{{"mach-lookup", "com.apple.x"}, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *words[6];
		char why[WHY_MAX] = "";
		struct asked asked;

		memcpy(words, rows[i].words, sizeof(words));
		CHECK_INT(words_read(words, &asked, why), rows[i].readable);
		CHECK((why[0] == '\0') == rows[i].readable);
	}
}

static void words_say_what_is_to_be_done(void)
{
	char *words[] = {(char[]){"file-write-create"}, (char[]){"/x"},
			 (char[]){"vnode-type=DIRECTORY"}, (char[]){"mode=0750"}, NULL};
	char *signal_words[] = {(char[]){"signal"}, (char[]){"target=children"},
				(char[]){"target=pgrp"}, (char[]){"signal=SIGURG"}, NULL};
	char why[WHY_MAX];
	struct asked asked;

	CHECK(words_read(words, &asked, why));
	CHECK_STR(asked.object, "/x");
	CHECK_INT(asked.kind, KIND_DIRECTORY);
	CHECK_INT(asked.mode, 0750);
	CHECK(words_read(signal_words, &asked, why));
	CHECK_INT(asked.targets, TARGET_CHILDREN | TARGET_GROUP);
	CHECK_INT(asked.signal, SIGURG);
	CHECK(!asked.object);
}

static void addresses_are_those_of_decide(void)
{
	static const struct {
		const char *text;
		bool local;
		const char *host; /* NULL: no address */
		int port;
	} rows[] = {
		{"localhost:80", false, "127.0.0.1", 80},
		{"*:80", true, "0.0.0.0", 80},
		{"*:80", false, "192.0.2.1", 80},
		{"198.51.100.7:1", false, "198.51.100.7", 1},
		{"[::1]:443", false, "::1", 443},
		{"[::ffff:1.2.3.4]:1", false, "::ffff:1.2.3.4", 1},
		{"[::1:443", false, NULL, 0},
		{"example:80", false, NULL, 0},
		{"80", false, NULL, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char host[INET6_ADDRSTRLEN] = "";
		struct address address = {0};
		struct sockaddr_in in;
		struct sockaddr_in6 in6;

		CHECK_INT(words_address(rows[i].text, rows[i].local, &address),
			  rows[i].host != NULL);
		if (!rows[i].host)
			continue;
		memcpy(&in, &address.name, sizeof(in));
		memcpy(&in6, &address.name, sizeof(in6));
		if (in.sin_family == AF_INET)
			(void)inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host));
		else
			(void)inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host));
		CHECK_STR(host, rows[i].host);
		CHECK_INT(ntohs(in.sin_port), rows[i].port);
	}
}

int main(void)
{
	RUN(acts_are_about_operations);
	RUN(rows_are_read_or_refused);
	RUN(words_say_what_is_to_be_done);
	RUN(addresses_are_those_of_decide);
	return test_done();
}
