/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of profiles that are wrong, or too large. */
#include "base/buf.h"

#include "sbpl_world.h"

/* ---- What is wrong with profiles ---- */

struct complaint {
	const char *text, *error;
	unsigned line, column;
};

static void check_complaints(const struct complaint *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct policy *policy;
		int r = compile(rows[i].text, &policy);

		CHECK(r < 0 && !policy);
		CHECK(errors.n >= 1);
		if (errors.n == 0 || strcmp(errors.list[0].text, rows[i].error) != 0 ||
		    errors.list[0].at.line != rows[i].line ||
		    errors.list[0].at.column != rows[i].column)
			printf("# for: %s\n", rows[i].text);
		CHECK_STR(errors.list[0].text, rows[i].error);
		CHECK_INT(errors.list[0].at.line, rows[i].line);
		CHECK_INT(errors.list[0].at.column, rows[i].column);
		CHECK_STR(errors.list[0].at.file, "p.sb");
		CHECK_INT(-r, errors.list[0].code);
		policy_free(policy);
	}
}

static void text_errors_have_places(void)
{
	static const struct complaint rows[] = {
		{"", "no version specified", 1, 1},
		{" ; nothing", "no version specified", 1, 1},
		{"(version 1)\n(allow (literal \"/a)\n", "Error reading string", 2, 17},
		{"(version 1)\n (allow signal\n(deny (x)", "unmatched parentheses: 2", 2, 2},
		{"(version 1))", "syntax error: unexpected ')'", 1, 12},
		{"(version 1)\n (a . b c)", "syntax error: expecting ')'", 2, 2},
		{"(version 1)( . a)", "syntax error: illegal dot expression", 1, 14},
		{"(version 1)(a . )", "syntax error: illegal dot expression", 1, 17},
		{"(version 1)'", "syntax error: unexpected end of text", 1, 12},
		{"(version 1)\n#| no |#", "undefined sharp expression", 2, 1},
		{"(version 1) #true", "undefined sharp expression", 1, 13},
		{"(version 1) #\\nosuch", "undefined sharp expression", 1, 13},
		{"(version 1) \"\\x4\"", "Error reading string: bad escape", 1, 13},
		{"(version 1) \"a\\0b\"", "Error reading string: bad escape", 1, 13},
		{"(version 1) 1.5", "only 64-bit integers are numbers here", 1, 13},
		{"(version 1) 9223372036854775808", "only 64-bit integers are numbers here", 1, 13},
		{"(version 1)\na\001b", "illegal byte \\x01", 2, 1},
		{"(version 1) (allow file-read* (subpath \"/a\"quote\"))",
		 "unbound variable: quote\"", 1, 44},
		{"\x7f"
		 "ELF\x02",
		 "illegal byte \\x7f", 1, 1},
		{"(version 1) \xff\xfe", "unbound variable: \\xff\\xfe", 1, 13},
	};

	check_complaints(rows, COUNT(rows));
}

static void unbound_names_are_told_what_was_meant(void)
{
	static const struct {
		const char *text, *hint;
	} rows[] = {
		{"(version 1)(allow file-raed*)", "did you mean 'file-read*'?"},
		{"(version 1)(allow file* (subpth \"/\"))", "did you mean 'subpath'?"},
		{"(version 1)(allow file* (vnode-type DIRECTOYR))", "did you mean 'DIRECTORY'?"},
		{"(version 1)(define (home-path x) x)(home-ptah 1)", "did you mean 'home-path'?"},
		{"(version 1)(let ((project 1)) (car projetc))", "did you mean 'project'?"},
		{"(version 1)(allow nothing-like-this)", ""},
		{"(allow file-read*)(version 1)", "(version 1) comes before everything else"},
		{"(version 3)(allow ipc-posix-shm)",
		 "since version 3 it is called 'ipc-posix-shm*'"},
		{"(version 3)(allow system-chud)", "rules about it had no effect: it can go"},
		{"(version 1)(catch 1 (allow file-raed*))(allow file* 1)", ""},
		{"\xef\xbb\xbf(version 1)",
		 "a byte order mark is a part of the text: take it away"},
		{"\xef\xbb\xbf; UTF-8\n", "a byte order mark is a part of the text: take it away"},
		{"(version 1)(import \"nowhere.sb\")", ""},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct policy *policy = NULL;

		CHECK_INT(compile(rows[i].text, &policy), -ERR_POLICY);
		CHECK_STR(errors.list[0].hint, rows[i].hint);
	}
}

static void scheme_errors_have_places(void)
{
	static const struct complaint rows[] = {
		{"(version 1)\n(allow file-reed*)", "unbound variable: file-reed*", 2, 8},
		{"(version 1)\n(allow (foo \"x\"))", "unbound variable: foo", 2, 9},
		{"(version 1)(set! nope 1)", "unbound variable: nope", 1, 18},
		{"(version 1)(\"a\" 1)", "illegal function: string", 1, 12},
		{"(version 1)(if)", "syntax error in if", 1, 12},
		{"(version 1)(let ((x)) x)", "syntax error in let", 1, 12},
		{"(version 1)(lambda (1) 1)", "syntax error in lambda", 1, 12},
		{"(version 1)(letrec ((x y) (y 1)) x)", "unbound variable: y", 1, 24},
		{"(version 1)(quit)", "quit: a profile is evaluated to its end", 1, 12},
		{"(version 1)(catch #t (quit))", "quit: a profile is evaluated to its end", 1, 22},
		{"(version 1)(catch #t (error \"told\"))", "told", 1, 22},
		{"(version 1)(throw \"thrown\" 1)", "thrown 1", 1, 12},
		{"(version 1)(catch #t (let loop () (cons 1 (loop))))",
		 "evaluation nested deeper than 2000 levels", 1, 35},
		{"(version 1)(cond-expand ((nor a) 1))", "cond-expand: unknown operator nor", 1,
		 12},
		{"(version 1)\n(error \"no\" 'a \"b\" 1)", "no a \"b\" 1", 2, 1},
		{"(version 1)\n(map (lambda (x)\n  (error \"in map\")) '(1))", "in map", 3, 3},
		/* After an inner form is done the outer one is the one at fault. */
		{"(version 1)\n(+ (* 2\n 3) 'a)", "+: expected integer, got symbol", 2, 1},
	};

	check_complaints(rows, COUNT(rows));
}

static void procedure_errors_have_places(void)
{
	static const struct complaint rows[] = {
		{"(version 1)(car '())", "car: expected a list with elements, got empty list", 1,
		 12},
		{"(version 1)(define l (list 1 2 3))(set-cdr! (cddr l) l)\n(length l)",
		 "length: the list runs in a circle", 2, 1},
		{"(version 1)(define l (list 1 2))(set-cdr! (cdr l) (cdr l))\n(append '(0) l '())",
		 "append: the list runs in a circle", 2, 1},
		{"(version 1)(define l (list 1))(set-cdr! l l)\n(last-pair l)",
		 "last-pair: the list runs in a circle", 2, 1},
		{"(version 1)(length '(1 . 2))", "length: expected a proper list, got integer", 1,
		 12},
		{"(version 1)(cadr '(1))", "cadr: expected a list with elements, got empty list", 1,
		 12},
		{"(version 1)(+ 1 \"a\")", "+: expected integer, got string", 1, 12},
		{"(version 1)(+ 9223372036854775807 1)", "+: no integer result", 1, 12},
		{"(version 1)(quotient -9223372036854775808 -1)", "quotient: no integer result", 1,
		 12},
		{"(version 1)(/ 1 0)", "/: no integer result", 1, 12},
		{"(version 1)(substring \"abc\" 2 1)", "substring: index out of range", 1, 12},
		{"(version 1)(car)", "car: not enough arguments", 1, 12},
		{"(version 1)(car 1 2)", "car: too many arguments", 1, 12},
		{"(version 1)(define (f a) a)(f)", "f: not enough arguments", 1, 28},
		{"(version 1)(define (f a) a)(f 1 2)", "f: too many arguments", 1, 28},
		{"(version 1)(set-car! '(1) 2)",
		 "set-car!: a list written in the text does not change", 1, 12},
		{"(version 1)(string-set! \"a\" 0 #\\b)",
		 "string-set!: a string written in the text does not change", 1, 12},
		{"(version 1)(string->number \"1x\")", "string->number: not a number", 1, 12},
		{"(version 1)(read (open-input-string \"(a\"))", "unmatched parentheses: 1", 1, 12},
		{"(version 1)(macro-expand '(car x))",
		 "macro-expand: expected a macro's form, got list", 1, 12},
		{"(version 1)(define k #f)(call/cc (lambda (c) (set! k c)))(k 1 2)",
		 "continuation: too many arguments", 1, 58},
	};

	check_complaints(rows, COUNT(rows));
}

static void version_errors_have_places(void)
{
	static const struct complaint rows[] = {
		{"(allow signal)", "unbound variable: allow", 1, 2},
		{"(define x 1)", "no version specified", 1, 1},
		{"(version 4)", "unsupported version", 1, 1},
		{"(version 3)(allow ipc-posix-shm)", "unbound variable: ipc-posix-shm", 1, 19},
		{"(version 3)(allow ipc-posix-sem)", "unbound variable: ipc-posix-sem", 1, 19},
		{"(version 3)(allow file-unlink)", "unbound variable: file-unlink", 1, 19},
		{"(version 3)(allow iokit-open)", "unbound variable: iokit-open", 1, 19},
		{"(version 3)(allow time-set)", "unbound variable: time-set", 1, 19},
		{"(define p (param \"HOME\"))(version 1)", "unbound variable: param", 1, 12},
		{"(version 1)(version 2)", "only one version may be specified", 1, 12},
		{"(version 1)(trace 1)", "argument to trace must be a string", 1, 12},
		{"(version 1)(trace \"a\")(trace \"b\")", "only one trace path may be specified", 1,
		 23},
	};

	check_complaints(rows, COUNT(rows));
}

static void rule_errors_have_places(void)
{
	static const struct complaint rows[] = {
		{"(version 1)\n(allow)", "allow: missing operation", 2, 1},
		{"(version 1)(deny (literal \"/a\"))", "deny: missing operation", 1, 12},
		{"(version 1)(allow signal 1)",
		 "allow: expected operation, filter or modifier, got integer", 1, 12},
		{"(version 1)(allow file* (if #f (literal \"/a\")))",
		 "allow: expected operation, filter or modifier, got empty list", 1, 12},
		{"(version 1)(deny file* no-log)",
		 "deny: expected operation, filter or modifier, got modifier name", 1, 12},
		{"(version 1)(define-storage-class \"c\" (subpath \"/a\"))",
		 "storage class definition not permitted in this context", 1, 12},
		{"(version 1)(allow storage-class-map)",
		 "storage class definition not permitted in this context", 1, 12},
		{"(version 1)(sbpl-operation-can-return? file* 'perhaps)",
		 "sbpl-operation-can-return?: expected 'allow or 'deny, got symbol", 1, 12},
	};

	check_complaints(rows, COUNT(rows));
}

static void filter_errors_have_places(void)
{
	static const struct complaint rows[] = {
		{"(version 1)\n(allow file* (subpath (param \"NONE\")))",
		 "invalid data type of path filter; expected pattern, got boolean", 2, 14},
		{"(version 1)(allow sysctl-read (sysctl-name 1))",
		 "invalid data type of sysctl-name filter; expected pattern, got integer", 1, 44},
		{"(version 1)(allow file* (vnode-type \"DIRECTORY\"))",
		 "invalid data type of vnode-type filter; expected integer, got string", 1, 37},
		{"(version 1)(allow file* (vnode-type SIGKILL))",
		 "SIGKILL is not a value of the vnode-type filter", 1, 25},
		{"(version 1)(allow file* (literal))", "path: not enough arguments", 1, 25},
		{"(version 1)(allow file* (require-any))", "require-any: not enough arguments", 1,
		 25},
		{"(version 1)(allow file* (require-all))", "require-all: not enough arguments", 1,
		 25},
		{"(version 1)(allow file* (require-not (literal \"/a\") (literal \"/b\")))",
		 "require-not: too many arguments", 1, 25},
		{"(version 1)(allow file* (require-not \"/a\"))",
		 "require-not: expected filter, got string", 1, 25},
		{"(version 1)\n(deny file-read* (global-name \"a\"))",
		 "filter global-name does not apply to operation file-read*", 2, 1},
		{"(version 1)(allow file-read* (require-not (global-name \"a\")))",
		 "filter global-name does not apply to operation file-read*", 1, 12},
		{"(version 1)(deny signal (require-any (target self) (require-not (require-not "
		 "(xattr "
		 "\"a\")))))",
		 "filter xattr does not apply to operation signal", 1, 12},
		{"(version 1)(with-filter \"x\" (allow signal))", "expected filter, got string", 1,
		 12},
		{"(version 1)(path-ancestors \"a/b\")", "path must start with a /", 1, 28},
		{"(version 1)\n(allow file*\n  (regex \"(?i)^x\"))",
		 "unexpected ^ operator in middle of expression", 3, 10},
	};

	check_complaints(rows, COUNT(rows));
}

static void modifier_errors_have_places(void)
{
	static const struct complaint rows[] = {
		{"(version 1)(allow file-read* (with no-sandbox))",
		 "modifier no-sandbox does not apply to operation file-read*", 1, 12},
		{"(version 1)(allow file-write* (with no-times))",
		 "modifier no-times does not apply to operation file-write*", 1, 12},
		{"(version 1)(allow signal (with grant))",
		 "modifier grant does not apply to operation signal", 1, 12},
		{"(version 1)(allow file* (with assign-storage-class \"c\"))",
		 "modifier assign-storage-class does not apply to operation file*", 1, 12},
		{"(version 1)(allow default (subpath \"/a\") (with no-report))",
		 "modifier no-report does not apply to allow", 1, 12},
		{"(version 1)(deny file* (with report))", "modifier report does not apply to deny",
		 1, 12},
		{"(version 1)(deny file* (with message))", "modifier message takes a string", 1,
		 24},
		{"(version 1)(deny file* (with no-log 1))", "modifier no-report takes no argument",
		 1, 24},
		{"(version 1)(deny file* (with send-signal 9))",
		 "modifier send-signal takes a signal name", 1, 24},
		{"(version 1)(deny file* (with \"x\"))", "with: expected modifier, got string", 1,
		 24},
	};

	check_complaints(rows, COUNT(rows));
}

static void address_errors_have_places(void)
{
	static const char *const hosts[] = {"127.0.0.1:80",     "::1:80", "a.example:80",
					    "::ffff:127.0.0.1", "",       ":80",
					    "localhostx",       "**"};
	static const char *const ports[] = {
		"*:0",   "localhost:65536",        "*:",  "*:-1", "*:80-90", "*:+80",
		"*:8 0", "*:99999999999999999999", "*:*1"};

	for (size_t i = 0; i < COUNT(hosts) + COUNT(ports); i++) {
		bool is_host = i < COUNT(hosts);
		struct buf text = {0};

		buf_printf(&text, "(version 1)\n(allow network* (remote ip \"%s\"))",
			   is_host ? hosts[i] : ports[i - COUNT(hosts)]);
		check_complaints(
			&(struct complaint){buf_str(&text).p,
					    is_host ? "host must be * or localhost in network "
						      "address"
						    : "invalid port in network address",
					    2, 28},
			1);
		buf_release(&text);
	}
	check_complaints(
		(const struct complaint[]){
			{"(version 1)(allow network* (remote \"*:80\"))",
			 "remote: expected a protocol (ip, tcp, udp, unix), got string", 1, 36},
			{"(version 1)(allow network* (remote unix \"/s\"))",
			 "a unix socket address is a path filter, not a string", 1, 41},
			{"(version 1)(allow network* (remote))", "remote: not enough arguments", 1,
			 28},
		},
		3);
}

static void reading_goes_on_after_an_error(void)
{
	struct buf text = {0};
	struct policy *policy;

	CHECK(compile("(version 1)\n(allow a)\n(allow signal)\n(deny b)\n\"open", &policy) < 0);
	CHECK(!policy);
	CHECK_INT(errors.n, 3);
	CHECK_STR(errors.list[0].text, "unbound variable: a");
	CHECK_STR(errors.list[1].text, "unbound variable: b");
	CHECK_INT(errors.list[1].at.line, 4);
	CHECK_STR(errors.list[2].text, "Error reading string");
	CHECK(errors.list[1].at.file == errors.list[1].file);

	for (int i = 0; i < 100; i++)
		buf_puts(&text, "(nonesuch)\n");
	CHECK(compile(buf_str(&text).p, &policy) < 0);
	CHECK_INT(errors.n, SBPL_ERRORS_MAX);
	CHECK_INT(errors.list[SBPL_ERRORS_MAX - 1].at.line, SBPL_ERRORS_MAX);
	buf_release(&text);

	/* with-filter ends with the form that failed inside it. */
	CHECK(compile("(version 1)(with-filter (extension \"e\") (oops))"
		      "(allow signal (extension 1))",
		      &policy) < 0);
	CHECK_INT(errors.n, 2);
}

/* ---- Bounds ---- */

/* TEXT, with CHANGE made to the default limits, must fail with a limit; as it is, it must not. */
static void check_limit(const char *text, const struct sbpl_limits *limits, const char *error,
			bool passes_by_default)
{
	struct sbpl_options options = options_default();
	struct policy *policy;
	int r;

	if (passes_by_default) {
		CHECK_INT(compile(text, &policy), 0);
		policy_free(policy);
	}
	options.limits = *limits;
	r = compile_text(str_of(text), &options, &policy);
	CHECK_INT(r, -ERR_LIMIT);
	CHECK_INT(errors.n, 1);
	CHECK_STR(errors.list[0].text, error);
	CHECK(errors.list[0].at.line > 0);
	policy_free(policy);
}

static void every_bound_is_reached(void)
{
	struct sbpl_limits limits = SBPL_LIMITS_DEFAULT;

	limits.steps = 1000;
	check_limit("(version 1)(let loop ((i 0)) (when (< i 1000) (loop (+ i 1))))", &limits,
		    "the profile takes more than 1000 steps", true);
	check_limit("(version 1)(let loop () (loop))", &limits,
		    "the profile takes more than 1000 steps", false);
	limits = SBPL_LIMITS_DEFAULT;
	limits.depth = 50;
	check_limit("(version 1)(define (f n) (if (= n 0) 0 (+ 1 (f (- n 1)))))(f 100)", &limits,
		    "evaluation nested deeper than 50 levels", true);
	check_limit("(version 1)(define (f) (+ 1 (f)))(f)", &limits,
		    "evaluation nested deeper than 50 levels", false);
	limits.depth = 3;
	check_limit("\n (((\n ((", &limits, "text nested deeper than 3 levels", false);
	CHECK_INT(errors.list[0].at.line, 3);
	CHECK_INT(errors.list[0].at.column, 2);
	limits = SBPL_LIMITS_DEFAULT;
	limits.memory = 2 << 20;
	check_limit("(version 1)(let loop ((s \"abcdefgh\") (n 18))"
		    " (when (> n 0) (loop (string-append s s) (- n 1))))",
		    &limits, "the profile needs more than 2097152 bytes of memory", true);
	limits = SBPL_LIMITS_DEFAULT;
	limits.imports = 1;
	check_limit("(version 1)(import \"good.sb\")(import \"good.sb\")", &limits,
		    "more than 1 imports", true);
	limits = SBPL_LIMITS_DEFAULT;
	limits.rules = 2;
	check_limit("(version 1)(allow file-read* file-write* signal)", &limits,
		    "the profile has more than 2 rules", true);
	limits = SBPL_LIMITS_DEFAULT;
	check_limit("(version 1)(import \"loop.sb\")", &limits, "loop.sb imports itself", false);
	check_limit("(version 1)(let loop ((f (literal \"/\"))) (loop (require-not f)))", &limits,
		    "filter nested deeper than 500 levels", false);
	check_limit("(version 1)(let loop ((f (literal \"/\"))) (loop (require-all f f)))", &limits,
		    "more than 1048576 tests in one filter", false);
}

static void policy_memory_is_bounded(void)
{
	struct sbpl_options options = options_default();
	struct policy *policy;

	options.policy_limits.memory = 64 << 10;
	CHECK_INT(compile_text(
			  STR("(version 1)(do ((i 0 (+ i 1))) ((= i 10000))"
			      " (allow file* (literal (string-append \"/\" (number->string i)))))"),
			  &options, &policy),
		  -ERR_LIMIT);
	CHECK(strstr(errors.list[0].text, "memory"));
	policy_free(policy);
}

/* A limit at every size: nothing but success or a clean failure. */
static void any_allocation_may_fail(void)
{
	struct sbpl_options options = options_default();
	struct policy *policy = NULL;
	size_t memory = 1;
	int r = -1;

	for (; r < 0 && memory < 4u << 20; memory += 1 + memory / 50) {
		options.limits.memory = memory;
		r = compile_text(str_of(agent_profile), &options, &policy);
		CHECK(r == 0 || (r == -ERR_LIMIT && !policy && errors.n == 1));
	}
	CHECK_INT(r, 0);
	policy_free(policy);
	r = -1;
	for (memory = 1; r < 0 && memory < 256u << 20; memory += 1 + memory / 10) {
		options.limits.memory = 4u << 20;
		options.policy_limits.memory = memory;
		r = compile_text(str_of(agent_profile), &options, &policy);
		CHECK(r == 0 || !policy);
	}
	CHECK_INT(r, 0);
	policy_free(policy);
}

static void check_big(char c, size_t n, int want, const char *error)
{
	struct sbpl_options options = options_default();
	struct policy *policy;
	char *text = malloc(n);

	if (!text)
		SKIP("no memory");
	memset(text, c, n);
	CHECK_INT(compile_text((struct str){text, n}, &options, &policy), want);
	CHECK_STR(errors.list[0].text, error);
	free(text);
}

static void hostile_texts_end_soon(void)
{
	struct sbpl_options options = options_default();
	struct policy *policy;

	check_big('(', 1 << 20, -ERR_LIMIT, "text nested deeper than 2000 levels");
	check_big('\'', 1 << 20, -ERR_LIMIT, "text nested deeper than 2000 levels");
	check_big(' ', 100 << 20, -ERR_POLICY, "no version specified");
	check_big('\n', 1 << 20, -ERR_POLICY, "no version specified");
	check_big('"', (1 << 20) + 1, -ERR_POLICY, "Error reading string");
	check_big('\0', 1 << 20, -ERR_POLICY, "illegal byte \\x00");
	check_big(')', 1 << 20, -ERR_POLICY, "syntax error: unexpected ')'");
	CHECK(compile_text(STR("(version 1)\"a\0b\""), &options, &policy) < 0);
	CHECK_STR(errors.list[0].text, "Error reading string: NUL byte");
	/* C recursion follows data, too. */
	CHECK(compile("(version 1)(define (nest n) (let loop ((l '()) (n n))"
		      " (if (= n 0) l (loop (list l) (- n 1)))))"
		      "(equal? (nest 100000) (nest 100000))",
		      &policy) < 0);
	CHECK_STR(errors.list[0].text, "equal?: data nested deeper than 500 levels");
	CHECK(compile("(version 1)(define (nest n) (let loop ((l '()) (n n))"
		      " (if (= n 0) l (loop (list l) (- n 1)))))"
		      "(eval (list 'quasiquote (nest 100000)))",
		      &policy) < 0);
	CHECK_STR(errors.list[0].text, "code nested deeper than 500 levels");
	CHECK(compile("(version 1)(define v (vector 1 2))(vector-set! v 0 v)(vector-set! v 1 v)"
		      "(error \"circular\" v)",
		      &policy) < 0);
	CHECK(str_starts(str_of(errors.list[0].text), STR("circular #(#(#(")));
	/* apply may be applied any number of times. */
	CHECK_INT(compile("(version 1)(let loop ((l (list allow signal '())) (n 10000))"
			  " (if (= n 0) (apply apply l) (loop (list apply l) (- n 1))))",
			  &policy),
		  0);
	policy_free(policy);
}

int main(void)
{
	RUN(text_errors_have_places);
	RUN(unbound_names_are_told_what_was_meant);
	RUN(scheme_errors_have_places);
	RUN(procedure_errors_have_places);
	RUN(version_errors_have_places);
	RUN(rule_errors_have_places);
	RUN(filter_errors_have_places);
	RUN(modifier_errors_have_places);
	RUN(address_errors_have_places);
	RUN(reading_goes_on_after_an_error);
	RUN(every_bound_is_reached);
	RUN(policy_memory_is_bounded);
	RUN(any_allocation_may_fail);
	RUN(hostile_texts_end_soon);
	return test_done();
}
