/* SPDX-License-Identifier: Apache-2.0 */
/* What is told to a broker outside: rules as bytes, and what bytes from anybody come to. */
#include "plan/nested.h"
#include "plan_fixture.h"
#include "policy/diff.h"
#include "policy/witness.h"
#include "random.h"

#include "base/banned.h"

static const char *const profiles[] = {
	"(allow default)",
	"(deny default) (allow file-read* process*) (allow signal (target self))",
	"(deny default) (allow file* (subpath \"/w\") (literal \"/tmp/x\") (prefix \"/y\"))"
	"(deny file-write* (require-all (subpath \"/w\") (require-not (literal \"/w/a\"))"
	" (require-any (vnode-type DIRECTORY) (file-mode #o4000) (regex "
	"#\"^/w/.*\\.(pem|key)$\"))))",
	"(allow default) (deny network-outbound (remote tcp \"localhost:80\") (remote ip \"*:*\"))"
	"(deny network-bind (local udp \"*:53\")) (deny network* (remote unix))"
	"(deny sysctl-write (sysctl-name-prefix \"kern.\")) (deny ipc-posix-shm* (ipc-posix-name "
	"\"a\"))",
	"(allow default) (deny file-write-xattr (xattr \"user.a\"))"
	"(deny file-write* (literal \"/a\") (with message \"lapbelt: new repository\"))"
	"(deny signal (signal-number SIGUSR1)) (deny mach-lookup (global-name \"a.b\"))",
	ALL_JUDGED,
};

enum {
	N_PROFILES = sizeof(profiles) / sizeof(profiles[0])
};

static const struct policy_limits limits = {.memory = 32 << 20, .states = 1 << 16, .work = 4 << 20};

static bool are_same(const struct policy *from, const struct policy *to)
{
	bool ops[OP_COUNT];
	struct diff_options options = {.from = from,
				       .to = to,
				       .ops = ops,
				       .directions = {true, true},
				       .stops = DIFF_STOPS_DEFAULT,
				       .memory = WITNESS_MEMORY_DEFAULT,
				       .steps = WITNESS_STEPS_DEFAULT};
	struct differences differences;
	bool same = true;

	memset(ops, true, sizeof(ops));
	CHECK_INT(policy_diff(&options, &differences, NULL), 0);
	for (enum op op = OP_DEFAULT; op < OP_COUNT; op++)
		for (int i = 0; i < DIRECTION_COUNT; i++)
			same &= !differences.by_op[op][i].found;
	differences_release(&differences);
	return same;
}

static void policies_come_back_as_they_were(void)
{
	for (size_t i = 0; i < N_PROFILES; i++) {
		struct policy *policy = compile(profiles[i]), *back = NULL;
		struct buf bytes = {0}, again = {0};
		struct err e = {0};

		policy_encode(policy, &bytes);
		CHECK_INT(policy_decode(buf_str(&bytes), limits, &back, &e), 0);
		CHECK(back && are_same(policy, back));
		if (back)
			policy_encode(back, &again);
		CHECK(str_eq(buf_str(&bytes), buf_str(&again)));
		buf_release(&bytes);
		buf_release(&again);
		policy_free(policy);
		policy_free(back);
	}
}

/* Whatever becomes of a byte, there is a policy or an error, and no more of either. */
static void try_bytes(struct str bytes, unsigned *ret_good, unsigned *ret_bad)
{
	struct nested nested;
	struct err e = {0};
	int r = nested_decode(bytes, limits, &nested, &e);

	if (r == 0) {
		CHECK(nested.input.policy == nested.policy);
		nested_release(&nested);
		++*ret_good;
	} else {
		CHECK(e.text[0] != '\0');
		CHECK(!nested.policy);
		++*ret_bad;
	}
}

static void bytes_of_anybody_are_looked_at(void)
{
	unsigned good = 0, bad = 0;

	random_state = 7;
	for (size_t i = 0; i < N_PROFILES; i++) {
		struct fixture f;
		struct buf bytes = {0};

		fixture_open(&f, profiles[i]);
		CHECK_INT(fixture_plan(&f), 0);
		nested_encode(&f.plan, &f.input, &bytes);
		try_bytes(buf_str(&bytes), &good, &bad);
		CHECK_INT(good, 1);
		good = 0;
		for (size_t n = 0; n < bytes.n; n += 1 + bytes.n / 300)
			try_bytes((struct str){bytes.p, n}, &good, &bad);
		CHECK_INT(good, 0);
		for (unsigned k = 0; k < 400; k++) {
			char *at = bytes.p + below((unsigned)bytes.n);
			char kept = *at;

			*at = one_in(2) ? (char)below(256) : (char)(*at ^ (1 << below(8)));
			try_bytes(buf_str(&bytes), &good, &bad);
			*at = kept;
		}
		CHECK(good > 0 && bad > 0);
		good = bad = 0;
		buf_release(&bytes);
		fixture_close(&f);
	}
}

static void what_is_too_large_is_an_error(void)
{
	struct policy *policy = compile("(allow default)(deny file-read* (regex "
					"#\"^(a|b)*a(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)y\"))");
	const struct policy_limits little = {.memory = 1 << 16, .states = 100, .work = 1000};
	struct policy *back = NULL;
	struct buf bytes = {0};
	struct err e = {0};

	policy_encode(policy, &bytes);
	CHECK_INT(policy_decode(buf_str(&bytes), little, &back, &e), -ERR_LIMIT);
	CHECK(e.text[0] != '\0');
	buf_release(&bytes);
	policy_free(policy);
}

static void both_ends_speak_one_language(void)
{
	CHECK(nested_language() == nested_language() && nested_language() != 0);
}

int main(void)
{
	RUN(policies_come_back_as_they_were);
	RUN(bytes_of_anybody_are_looked_at);
	RUN(what_is_too_large_is_an_error);
	RUN(both_ends_speak_one_language);
	return test_done();
}
