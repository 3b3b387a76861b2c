/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test program is a list of functions; the output is TAP.
 *
 *	static void adds(void) { CHECK(1 + 1 == 2); CHECK_INT(1 + 1, 2); }
 *	int main(void) { RUN(adds); return test_done(); }
 *
 * SKIP(reason) ends a test as skipped; with LAPBELT_MUST_WORK set that is a failure.
 */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned test_count, test_failures, test_failures_here;
static const char *test_skip_reason;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			test_failures_here++;                                                      \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
		}                                                                                  \
	} while (0)

#define CHECK_INT(got, want)                                                                       \
	do {                                                                                       \
		long long got_ = (long long)(got), want_ = (long long)(want);                      \
		if (got_ != want_) {                                                               \
			test_failures_here++;                                                      \
			printf("# %s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, got_,  \
			       want_);                                                             \
		}                                                                                  \
	} while (0)

#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *got_ = (got), *want_ = (want);                                         \
		if (!got_ || strcmp(got_, want_) != 0) {                                           \
			test_failures_here++;                                                      \
			printf("# %s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #got,    \
			       got_ ? got_ : "(null)", want_);                                     \
		}                                                                                  \
	} while (0)

#define SKIP(reason)                                                                               \
	do {                                                                                       \
		test_skip_reason = (reason);                                                       \
		return;                                                                            \
	} while (0)

#define RUN(function) test_run(#function, function)

static inline void test_run(const char *name, void (*function)(void))
{
	bool ok;

	test_failures_here = 0;
	test_skip_reason = NULL;
	function();
	ok = test_failures_here == 0 && !(test_skip_reason && getenv("LAPBELT_MUST_WORK"));
	test_failures += !ok;
	printf("%sok %u - %s", ok ? "" : "not ", ++test_count, name);
	if (test_skip_reason)
		printf(" # SKIP %s", test_skip_reason);
	printf("\n");
	fflush(stdout);
}

static inline int test_done(void)
{
	printf("1..%u\n", test_count);
	return test_failures ? 1 : 0;
}

#endif
