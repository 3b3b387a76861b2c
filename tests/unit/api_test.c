/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt.h, as a program that links the library sees it. */
#include "test.h"

#include <lapbelt.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

static struct lapbelt_policy *policy_of(const char *text)
{
	struct lapbelt_policy_options options = {.size = sizeof(options),
						 .target = LAPBELT_TARGET_LINUX};
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy = NULL;

	if (lapbelt_policy_from_text(text, "t.sb", &options, &policy, &error) < 0) {
		printf("# %s:%u:%u: %s\n", error.file, error.line, error.column, error.text);
		test_failures_here++;
	}
	return policy;
}

/* ---- Compiling ---- */

static void exit_codes_are_those_of_sysexits(void)
{
	CHECK_INT(lapbelt_exit_code(LAPBELT_OK), 0);
	CHECK_INT(lapbelt_exit_code(LAPBELT_USAGE), 64);
	CHECK_INT(lapbelt_exit_code(LAPBELT_POLICY), 65);
	CHECK_INT(lapbelt_exit_code(LAPBELT_LIMIT), 65);
	CHECK_INT(lapbelt_exit_code(LAPBELT_OS), 71);
	CHECK_INT(lapbelt_exit_code(LAPBELT_COMMAND), 71);
	CHECK_INT(lapbelt_exit_code(LAPBELT_GAP), 71);
	CHECK_INT(lapbelt_exit_code(LAPBELT_MEMORY), 71);
	CHECK_INT(lapbelt_exit_code(LAPBELT_CONFIG), 78);
	CHECK_INT(lapbelt_exit_code(LAPBELT_ENDED), 70);
	CHECK_INT(lapbelt_exit_code(LAPBELT_TIME), 124);
	CHECK_INT(lapbelt_exit_code((enum lapbelt_code)999), 71);
}

static void options_of_other_versions(void)
{
	struct {
		struct lapbelt_policy_options known;
		long unknown;
	} newer = {.known = {.size = sizeof(newer)}};
	struct lapbelt_policy_options options = {0};
	struct lapbelt_policy *policy;

	CHECK_INT(lapbelt_policy_from_text("(version 1)", "t", &options, &policy, NULL),
		  -LAPBELT_USAGE);
	options.size = offsetof(struct lapbelt_policy_options, params);
	CHECK_INT(lapbelt_policy_from_text("(version 1)", "t", &options, &policy, NULL), 0);
	lapbelt_policy_free(policy);
	CHECK_INT(lapbelt_policy_from_text("(version 1)", "t", &newer.known, &policy, NULL), 0);
	lapbelt_policy_free(policy);
	newer.unknown = 1;
	CHECK_INT(lapbelt_policy_from_text("(version 1)", "t", &newer.known, &policy, NULL),
		  -LAPBELT_USAGE);
	options = (struct lapbelt_policy_options){.size = sizeof(options),
						  .target = (enum lapbelt_target)9};
	CHECK_INT(lapbelt_policy_from_text("(version 1)", "t", &options, &policy, NULL),
		  -LAPBELT_USAGE);
	lapbelt_policy_free(NULL);
}

struct collected {
	const struct lapbelt_error *first;
	unsigned lines[30];
	size_t n;
};

static void collect(void *context, const struct lapbelt_error *error)
{
	struct collected *collected = context;

	CHECK_INT(collected->first->line, 2);
	if (collected->n < 30)
		collected->lines[collected->n++] = error->line;
}

static void every_error_is_told_in_order(void)
{
	static const char text[] = "(version 1)\n(bogus)\n(allow file-read*)\n(allow bogus)\n"
				   "(allow file-read* (bogus))\n";
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct collected collected = {.first = &error};
	struct lapbelt_policy_options options = {
		.size = sizeof(options), .more_errors = collect, .more_errors_context = &collected};
	struct lapbelt_policy *policy = NULL;

	CHECK_INT(lapbelt_policy_from_text(text, "t.sb", &options, &policy, &error),
		  -LAPBELT_POLICY);
	CHECK(policy == NULL);
	CHECK_STR(error.file, "t.sb");
	CHECK_INT(error.line, 2);
	CHECK_INT(collected.n, 2);
	CHECK_INT(collected.lines[0], 4);
	CHECK_INT(collected.lines[1], 5);
	CHECK_INT(lapbelt_policy_from_text(text, "t.sb", NULL, &policy, NULL), -LAPBELT_POLICY);
}

static void any_bytes_are_at_worst_an_error(void)
{
	static const char bytes[] = "(version 1)\0(allow default)\xff";
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy;

	CHECK_INT(lapbelt_policy_from_bytes(bytes, sizeof(bytes) - 1, "t", NULL, &policy, &error),
		  -LAPBELT_POLICY);
	CHECK_INT(lapbelt_policy_from_bytes(NULL, 0, NULL, NULL, &policy, &error), -LAPBELT_POLICY);
	CHECK_STR(error.text, "no version specified");
}

/* ---- Files ---- */

static char folder[] = "/tmp/api_test.XXXXXX";

static const char *path_in(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void files_that_cannot_be_read(void)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy;

	CHECK_INT(lapbelt_policy_from_file(path_in("none"), NULL, &policy, &error),
		  -LAPBELT_POLICY);
	CHECK_INT(error.os, ENOENT);
	CHECK_INT(lapbelt_policy_from_file(folder, NULL, &policy, &error), -LAPBELT_POLICY);
	CHECK_INT(error.os, EISDIR);
	CHECK_INT(lapbelt_policy_from_file("/dev/zero", NULL, &policy, &error), -LAPBELT_LIMIT);
	CHECK_STR(error.file, "/dev/zero");
	CHECK_INT(error.line, 1);
	CHECK_INT(error.column, 1);
	CHECK_STR(error.text, "larger than 16 MiB");
}

static void *write_late(void *path)
{
	(void)usleep(50000);
	write_text(path, "(version 1)(allow file-read*)");
	return NULL;
}

static void a_fifo_is_waited_for(void)
{
	char path[128];
	struct lapbelt_policy *policy = NULL;
	pthread_t writer;

	(void)snprintf(path, sizeof(path), "%s", path_in("fifo"));
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_INT(pthread_create(&writer, NULL, write_late, path), 0);
	CHECK_INT(lapbelt_policy_from_file(path, NULL, &policy, NULL), 0);
	CHECK_INT(pthread_join(writer, NULL), 0);
	lapbelt_policy_free(policy);
	CHECK_INT(unlink(path), 0);
}

static void an_imported_fifo_is_not(void)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy = NULL;
	char path[128], text[256];

	(void)snprintf(path, sizeof(path), "%s", path_in("fifo"));
	CHECK_INT(mkfifo(path, 0600), 0);
	(void)snprintf(text, sizeof(text), "(version 1)(import \"%s\")", path);
	CHECK_INT(lapbelt_policy_from_text(text, "t.sb", NULL, &policy, &error), -LAPBELT_POLICY);
	CHECK(strstr(error.text, "not a regular file"));
	CHECK(!policy);
	CHECK_INT(unlink(path), 0);
}

/* Which line of which file decides file-read-data on /x, under OPTIONS? */
static void check_import(const char *text, const struct lapbelt_policy_options *options,
			 const char *file)
{
	const char *const arguments[] = {"/x", NULL};
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_decision decision = {0};
	struct lapbelt_policy *policy = NULL;

	CHECK_INT(lapbelt_policy_from_text(text, "t.sb", options, &policy, &error), 0);
	CHECK_STR(error.text, "");
	if (!policy)
		return;
	CHECK_INT(lapbelt_decide(policy, "file-read-data", arguments, &decision, NULL), 0);
	CHECK_STR(decision.file, file);
	lapbelt_policy_free(policy);
}

static void imports_are_searched_in_order(void)
{
	static const char import[] = "(version 1)(import \"part.sb\")";
	struct lapbelt_policy_options options = {.size = sizeof(options)};
	struct lapbelt_param param = {"IMPORT_DIR", folder};
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy;
	char absolute[160];

	write_text(path_in("part.sb"), "(allow file-read* (literal \"/x\"))");
	CHECK_INT(mkdir(path_in("first"), 0700), 0);
	write_text(path_in("first/part.sb"), "(deny file-read* (literal \"/x\"))");

	CHECK_INT(lapbelt_policy_from_text(import, "t.sb", &options, &policy, &error),
		  -LAPBELT_POLICY);
	CHECK_STR(error.text, "unable to open part.sb");
	options.params = &param;
	options.n_params = 1;
	check_import(import, &options, path_in("part.sb"));
	options.import_dir = path_in("first");
	check_import(import, &options, path_in("first/part.sb"));
	options.import_dir = path_in("none");
	check_import(import, &options, path_in("part.sb"));
	(void)snprintf(absolute, sizeof(absolute), "(version 1)(import \"%s\")",
		       path_in("first/part.sb"));
	check_import(absolute, NULL, path_in("first/part.sb"));

	CHECK_INT(lapbelt_policy_from_text("(version 1)(import \"first\")", "t.sb", &options,
					   &policy, &error),
		  -LAPBELT_POLICY);
	CHECK(strstr(error.text, "/first: Is a directory") != NULL);
	CHECK_INT(unlink(path_in("first/part.sb")), 0);
	CHECK_INT(rmdir(path_in("first")), 0);
	CHECK_INT(unlink(path_in("part.sb")), 0);
}

static void apples_profiles_are_there(void)
{
	static const char *const texts[] = {
		"(version 1)(import \"system.sb\")",
		"(version 1)(import \"bsd.sb\")",
		"(version 1)(import \"/System/Library/Sandbox/Profiles/bsd.sb\")",
		"(version 1)(import \"/usr/share/sandbox/bsd.sb\")",
	};
	static const char *const names[] = {"no-network", "no-internet", "no-write",
					    "no-write-except-temporary", "pure-computation"};
	struct lapbelt_policy *policy;

	for (size_t i = 0; i < 4; i++)
		lapbelt_policy_free(policy_of(texts[i]));
	for (size_t i = 0; i < 5; i++) {
		CHECK_INT(lapbelt_policy_from_name(names[i], NULL, &policy, NULL), 0);
		lapbelt_policy_free(policy);
	}
	CHECK_INT(lapbelt_policy_from_name("default.sb", NULL, &policy, NULL), -LAPBELT_POLICY);
}

/* ---- Deciding ---- */

static void a_decision_outlives_what_made_it(void)
{
	char text[] = "(version 1)\n(allow  file-read*\n  (subpath \"/w\"))";
	const char *const arguments[] = {"/w/x", NULL};
	struct lapbelt_policy *policy = policy_of(text);
	struct lapbelt_decision decision = {0};

	memset(text, 'x', sizeof(text) - 1);
	CHECK_INT(lapbelt_decide(policy, "file-read-data", arguments, &decision, NULL), 0);
	CHECK_INT(decision.allowed, 1);
	CHECK_STR(decision.file, "t.sb");
	CHECK_INT(decision.line, 2);
	CHECK_INT(decision.column, 1);
	CHECK_STR(decision.rule, "(allow file-read* (subpath \"/w\"))");
	CHECK_STR(decision.operation, "file-read*");
	lapbelt_policy_free(policy);
}

static void questions_that_make_no_sense(void)
{
	static const struct {
		const char *operation, *arguments[4];
	} rows[] = {
		{"file-raed-data", {"/x"}},
		{"file-read-data", {"x"}},
		{"file-read-data", {"/x", "/y"}},
		{"file-read-data", {"/w/../etc"}},
		{"file-read-data", {"/a//b"}},
		{"file-read-data", {"/a/./b"}},
		{"file-read-data", {"/a/"}},
		{"file-read-data", {"path=/a/"}},
		{"file-read-data", {"path=x"}},
		{"file-read-data", {"path="}},
		{"network-outbound", {"/run//x"}},
		{"network-bind", {"/run/"}},
		{"process-exec", {"/bin/sh"}},
		{"iokit-open", {NULL}},
		{"mach-per-user-lookup", {NULL}},
		{"signal", {"targgt=self"}},
		{"sysctl-read", {"sysctl-nmae=x"}},
		{"file-read-data", {"/x", "nonsense=1"}},
		{"file-read-data", {"/x", "vnode-type=WEIRD"}},
		{"file-read-data", {"/x", "vnode-type="}},
		{"file-read-data", {"/x", "mode=9"}},
		{"file-read-data", {"/x", "mode=0644x"}},
		{"file-read-data", {"/x", "signal=SIGTERM"}},
		{"file-read-data", {"/x", "xattr=user.a"}},
		{"signal", {"target=nobody"}},
		{"signal", {"/x"}},
		{"process-fork", {"/x"}},
		{"process-fork", {"path=/x"}},
		{"mach*", {"a"}},
		{"network-outbound", {"127.0.0.1:80", "path=/x"}},
		{"network-outbound", {"/x", "remote=127.0.0.1:80"}},
		{"network-outbound", {"localhost"}},
		{"network-outbound", {"localhost:"}},
		{"network-outbound", {"localhost:65536"}},
		{"network-outbound", {"localhost:-1"}},
		{"network-outbound", {"localhost:80x"}},
		{"network-outbound", {"localhost:*"}},
		{"network-outbound", {"example.com:80"}},
		{"network-outbound", {"::1:80"}},
		{"network-outbound", {"[127.0.0.1]:80"}},
		{"network-outbound", {"127.0.0.1:80", "protocol=sctp"}},
		{"network-outbound", {"127.0.0.1:80", "local=here"}},
	};
	struct lapbelt_policy *policy = policy_of("(version 1)(allow default)");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lapbelt_error error = LAPBELT_ERROR_INIT;
		struct lapbelt_decision decision = {0};
		int r = lapbelt_decide(policy, rows[i].operation, rows[i].arguments, &decision,
				       &error);

		CHECK_INT(r, -LAPBELT_USAGE);
		CHECK(error.text[0] != '\0');
		if (r != -LAPBELT_USAGE)
			printf("# %s %s\n", rows[i].operation, rows[i].arguments[0]);
		CHECK_INT(lapbelt_decide(policy, rows[i].operation, rows[i].arguments, &decision,
					 NULL),
			  -LAPBELT_USAGE);
	}
	lapbelt_policy_free(policy);
}

static void arguments_reach_their_filters(void)
{
	static const struct {
		const char *operation, *filter, *arguments[4];
	} rows[] = {
		{"file-read-data", "(literal \"/x\")", {"/x"}},
		{"file-read-data", "(vnode-type FIFO)", {"/x", "vnode-type=FIFO"}},
		{"network-outbound", "(remote unix)", {"path=/x"}},
		{"file-read-data", "(require-not (device-minor 0))", {"/x", "device-major=2"}},
		{"file-read-data", "(require-not (device-major 0))", {"/x", "device-minor=2"}},
		{"system-socket", "(require-not (socket-type 0))", {"socket-domain=AF_INET"}},
		{"network-outbound", "(socket-protocol 6)", {"127.0.0.1:80", "socket-type=2"}},
		{"network-outbound", "(socket-type SOCK_DGRAM)", {"path=/x", "protocol=udp"}},
		{"network-bind", "(local unix)", {"path=/x"}},
		{"file-read-data", "(vnode-type FIFO)", {"/x", "vnode-type=7"}},
		{"file-read-data", "(file-mode #o4000)", {"/x", "mode=4755"}},
		{"file-read-xattr", "(xattr \"a\")", {"/x", "xattr=a"}},
		{"file-ioctl", "(ioctl-command 17)", {"/x", "ioctl-command=0x11"}},
		{"signal", "(target pgrp)", {"target=pgrp"}},
		{"signal", "(signal-number SIGUSR1)", {"signal=SIGUSR1"}},
		{"signal", "(signal-number SIGUSR1)", {"signal-number=30"}},
		{"sysctl-read", "(sysctl-name \"a=b\")", {"a=b"}},
		{"ipc-posix-shm-read-data", "(ipc-posix-name \"/s\")", {"/s"}},
		{"system-socket", "(socket-domain AF_INET)", {"socket-domain=AF_INET"}},
		{"network-outbound", "(remote udp6 \"*:53\")", {"[::1]:53", "protocol=udp"}},
		{"network-outbound", "(local tcp \"*:9\")", {"*:80", "local=*:9"}},
		{"network-bind", "(local tcp4 \"*:80\")", {"*:80"}},
		{"network-inbound", "(remote tcp4 \"*:80\")", {"*:1", "remote=192.0.2.1:80"}},
		{"network-outbound", "(socket-domain AF_INET6)", {"[::1]:1"}},
		{"network-outbound", "(remote unix)", {"/s"}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lapbelt_error error = LAPBELT_ERROR_INIT;
		struct lapbelt_decision decision = {0};
		struct lapbelt_policy *policy;
		char text[256];

		(void)snprintf(text, sizeof(text), "(version 1)(deny default)(allow %s %s)",
			       rows[i].operation, rows[i].filter);
		policy = policy_of(text);
		if (!policy)
			continue;
		CHECK_INT(lapbelt_decide(policy, rows[i].operation, rows[i].arguments, &decision,
					 &error),
			  0);
		CHECK_INT(decision.allowed, 1);
		if (!decision.allowed)
			printf("# %s %s %s\n", rows[i].operation, rows[i].filter, error.text);
		lapbelt_policy_free(policy);
	}
}

static void *decide_often(void *policy)
{
	const char *const arguments[] = {"/w/x", NULL};
	long allowed = 0;

	for (int i = 0; i < 2000; i++) {
		struct lapbelt_decision decision = {0};

		(void)lapbelt_decide(policy, "file-read-data", arguments, &decision, NULL);
		allowed += decision.allowed;
	}
	return (void *)allowed;
}

static void threads_share_a_policy(void)
{
	struct lapbelt_policy *policy =
		policy_of("(version 1)(deny default)(allow file-read* (subpath \"/w\"))");
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, decide_often, policy), 0);
	for (int i = 0; i < 4; i++) {
		void *allowed;

		CHECK_INT(pthread_join(threads[i], &allowed), 0);
		CHECK_INT((long)allowed, 2000);
	}
	lapbelt_policy_free(policy);
}

/* ---- Running ---- */

static void runs_that_make_no_sense(void)
{
	struct lapbelt_run_options options = LAPBELT_RUN_OPTIONS_INIT;
	struct lapbelt_policy_options darwin = {.size = sizeof(darwin),
						.target = LAPBELT_TARGET_DARWIN};
	struct lapbelt_policy *policy = policy_of("(version 1)(allow default)");
	struct lapbelt_policy *other = NULL;
	char name[] = "true";
	char *argv[] = {name, NULL}, *none[] = {NULL};
	int fd = 1, status = -7;

	CHECK_INT(lapbelt_run(policy, NULL, NULL, &status, NULL), -LAPBELT_USAGE);
	CHECK_INT(lapbelt_run(policy, none, NULL, &status, NULL), -LAPBELT_USAGE);
	options.flags = LAPBELT_RUN_REPORT_GAPS | LAPBELT_RUN_REFUSE_GAPS;
	CHECK_INT(lapbelt_run(policy, argv, &options, &status, NULL), -LAPBELT_USAGE);
	options.flags = 0;
	options.pass_fds = &fd;
	options.n_pass_fds = 1;
	CHECK_INT(lapbelt_run(policy, argv, &options, &status, NULL), -LAPBELT_USAGE);
	fd = 999;
	CHECK_INT(lapbelt_run(policy, argv, &options, &status, NULL), -LAPBELT_USAGE);
	CHECK_INT(lapbelt_policy_from_text("(version 1)", "t", &darwin, &other, NULL), 0);
	CHECK_INT(lapbelt_run(other, argv, NULL, &status, NULL), -LAPBELT_USAGE);
	CHECK_INT(status, -7);
	lapbelt_policy_free(other);
	lapbelt_policy_free(policy);
}

/* Runs nothing under OPTIONS and returns what that reports to READ_END, which must not block. */
static const char *status_reported(const struct lapbelt_run_options *options, int read_end)
{
	static char line[64];
	char *none[] = {NULL};
	struct lapbelt_policy *policy = policy_of("(version 1)(allow default)");
	int status = -7;
	ssize_t n;

	CHECK(lapbelt_run(policy, none, options, &status, NULL) == -LAPBELT_USAGE);
	lapbelt_policy_free(policy);
	n = read(read_end, line, sizeof(line) - 1);
	line[n < 0 ? 0 : n] = '\0';
	return line;
}

static void a_status_goes_where_it_is_wanted(void)
{
	struct lapbelt_run_options options = {.size = sizeof(options)};
	struct {
		struct lapbelt_run_options known;
		long unknown;
	} newer = {.known = {.size = sizeof(newer)}, .unknown = 1};
	int fds[2], input = dup(STDIN_FILENO);

	CHECK_INT(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	options.status_fd = newer.known.status_fd = fds[1];
	CHECK_STR(status_reported(&options, fds[0]), "failed 64\n");
	CHECK_STR(status_reported(&newer.known, fds[0]), "failed 64\n");
	options.size =
		offsetof(struct lapbelt_run_options, status_fd); /* what follows is not ours */
	CHECK_STR(status_reported(&options, fds[0]), "");
	options.size = sizeof(options);
	options.status_fd = -1;
	CHECK_STR(status_reported(&options, fds[0]), "");
	CHECK_INT(dup2(fds[1], STDIN_FILENO), STDIN_FILENO);
	options.status_fd = 0; /* of a structure that is all zeros: none */
	CHECK_STR(status_reported(&options, fds[0]), "");
	CHECK_STR(status_reported(NULL, fds[0]), "");
	CHECK(input >= 0 && dup2(input, STDIN_FILENO) == STDIN_FILENO && close(input) == 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static volatile sig_atomic_t broken_pipes;

static void count_broken_pipe(int signal)
{
	(void)signal;
	broken_pipes = broken_pipes + 1;
}

static void a_closed_status_pipe_is_no_signal(void)
{
	const struct sigaction action = {.sa_handler = count_broken_pipe};
	struct lapbelt_run_options options = {.size = sizeof(options)};
	sigset_t set, pending;
	int fds[2];

	CHECK_INT(sigaction(SIGPIPE, &action, NULL), 0);
	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	(void)close(fds[0]);
	CHECK(write(fds[1], "", 1) < 0 && errno == EPIPE);
	CHECK_INT(broken_pipes, 1); /* the control */
	options.status_fd = fds[1];
	(void)status_reported(&options, -1);
	CHECK_INT(broken_pipes, 1);
	/* One that is pending stays so. */
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)raise(SIGPIPE);
	(void)status_reported(&options, -1);
	CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE));
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	CHECK_INT(broken_pipes, 2);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)close(fds[1]);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	RUN(exit_codes_are_those_of_sysexits);
	RUN(options_of_other_versions);
	RUN(every_error_is_told_in_order);
	RUN(any_bytes_are_at_worst_an_error);
	RUN(files_that_cannot_be_read);
	RUN(a_fifo_is_waited_for);
	RUN(an_imported_fifo_is_not);
	RUN(imports_are_searched_in_order);
	RUN(apples_profiles_are_there);
	RUN(a_decision_outlives_what_made_it);
	RUN(questions_that_make_no_sense);
	RUN(arguments_reach_their_filters);
	RUN(threads_share_a_policy);
	RUN(runs_that_make_no_sense);
	RUN(a_status_goes_where_it_is_wanted);
	RUN(a_closed_status_pipe_is_no_signal);
	(void)rmdir(folder);
	return test_done();
}
