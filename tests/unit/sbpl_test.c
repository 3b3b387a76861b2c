/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

#include "base/buf.h"
#include "sbpl/sbpl.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct sbpl_errors errors;

/* ---- A small world: parameters, and files that can be imported ---- */

static const struct sbpl_param params[] = {
	{{"HOME", 4}, {"/home/u", 7}},
	{{"EMPTY", 5}, {"", 0}},
	{{"HOME", 4}, {"/second", 7}},
};

static const struct {
	const char *name, *text;
} files[] = {
	{"good.sb", "(define (in-home p) (string-append (param \"HOME\") p))\n"
		    "(unless *import-path* (error \"not imported\"))\n"
		    "(allow file-read* (literal *import-path*))\n"},
	{"bad.sb", "(allow file-read*\n  (literal oops))\n(allow signal)\n(also)"},
	{"open.sb", "(allow signal)\n (allow (file"},
	{"outer.sb", "(import \"good.sb\")\n(allow file-write* (literal *import-path*))"},
	{"loop.sb", "(import \"pool.sb\")"},
	{"pool.sb", "(import \"loop.sb\")"},
};

static int import(void *context, struct str path, const char *from, struct arena *arena,
		  struct sbpl_source *ret, struct err *e)
{
	(void)context;
	for (size_t i = 0; i < COUNT(files); i++) {
		if (!str_is(path, files[i].name))
			continue;
		CHECK(from && *from);
		ret->name = arena_strdup(arena, path);
		ret->text.p = arena_strdup(arena, str_of(files[i].text));
		ret->text.n = strlen(files[i].text);
		return ret->name && ret->text.p ? 0 : err_set(e, ERR_LIMIT, "memory");
	}
	return err_set(e, ERR_POLICY, "unable to open %.*s", (int)path.n, path.p);
}

static struct sbpl_options options_default(void)
{
	return (struct sbpl_options){
		.target = TARGET_LINUX,
		.params = params,
		.n_params = COUNT(params),
		.import = import,
		.limits = SBPL_LIMITS_DEFAULT,
		.policy_limits = POLICY_LIMITS_DEFAULT,
	};
}

static int compile_text(struct str text, const struct sbpl_options *options, struct policy **ret)
{
	struct sbpl_source source = {"p.sb", text, ORIGIN_PROFILE};

	*ret = NULL;
	return sbpl_compile(&source, 1, options, ret, &errors);
}

static int compile(const char *text, struct policy **ret)
{
	struct sbpl_options options = options_default();

	return compile_text(str_of(text), &options, ret);
}

/* ---- Rules as text ---- */

static void show_endpoint(struct buf *buf, const struct endpoint_pattern *endpoint)
{
	buf_printf(buf, "%u %s ", endpoint->proto, endpoint->localhost ? "localhost" : "*");
	if (endpoint->port == PORT_ANY)
		buf_puts(buf, "*");
	else
		buf_printf(buf, "%d", endpoint->port);
}

static void show_test(struct buf *buf, const struct test *test)
{
	static const char *const matches[] = {
		[MATCH_LITERAL] = "=", [MATCH_PREFIX] = "prefix ", [MATCH_SUBPATH] = "below ",
		[MATCH_REGEX] = "~",   [MATCH_STRING] = "is ",
	};
	static const char *const names[] = {
#define FILTER(symbol, name, category, argument) name,
#include "policy/filters.def"
#undef FILTER
	};

	buf_printf(buf, "%s ", names[test->filter]);
	switch (test->match) {
	case MATCH_INTEGER:
		buf_printf(buf, "%lld", (long long)test->number);
		break;
	case MATCH_BITS:
		buf_printf(buf, "&%llo", (long long)test->number);
		break;
	case MATCH_BOOL:
		buf_puts(buf, test->number ? "yes" : "no");
		break;
	case MATCH_ENDPOINT:
		show_endpoint(buf, &test->endpoint);
		break;
	default:
		buf_puts(buf, matches[test->match]);
		buf_add_str(buf, test->text);
		break;
	}
}

static void show_expr(struct buf *buf, const struct expr *expr)
{
	static const char *const kinds[] = {
		[EXPR_ALL] = "all", [EXPR_ANY] = "any", [EXPR_NOT] = "not"};

	if (expr->kind == EXPR_TEST) {
		show_test(buf, &expr->test);
		return;
	}
	buf_printf(buf, "%s(", kinds[expr->kind]);
	for (size_t i = 0; i < expr->n; i++) {
		buf_puts(buf, i ? ", " : "");
		show_expr(buf, expr->kids[i]);
	}
	buf_puts(buf, ")");
}

static void show_rule(struct buf *buf, const struct rule *rule)
{
	buf_printf(buf, "%s %s", verdict_name(rule->verdict), op_name(rule->op));
	if (rule->filter) {
		buf_puts(buf, " ");
		show_expr(buf, rule->filter);
	}
	for (size_t i = 0; i < rule->n_modifiers; i++) {
		const struct modifier *modifier = &rule->modifiers[i];

		buf_printf(buf, " with %s", modifier_name(modifier->id));
		if (modifier->text.n)
			buf_printf(buf, " %.*s", (int)modifier->text.n, modifier->text.p);
		if (modifier->number)
			buf_printf(buf, " %lld", (long long)modifier->number);
	}
	buf_puts(buf, "; ");
}

/* ---- What profiles mean ---- */

struct meaning {
	const char *text, *rules;
};

static void check_meanings(const struct meaning *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct buf text = {0}, shown = {0};
		struct policy *policy;
		bool has_version = strstr(rows[i].text, "(version") != NULL;

		buf_printf(&text, "%s%s", has_version ? "" : "(version 1)", rows[i].text);
		if (compile(buf_str(&text).p, &policy) < 0)
			printf("# %s: %s\n", rows[i].text, errors.list[0].text);
		CHECK(policy);
		for (size_t k = 0; policy && k < policy_n_rules(policy); k++)
			show_rule(&shown, policy_rule(policy, k));
		if (strcmp(buf_str(&shown).p, rows[i].rules) != 0)
			printf("# %s\n", rows[i].text);
		CHECK_STR(buf_str(&shown).p, rows[i].rules);
		policy_free(policy);
		buf_release(&text);
		buf_release(&shown);
	}
}

static void rules_mean(void)
{
	static const struct meaning rows[] = {
		{"", ""},
		{"(deny default)", "deny default; "},
		{"(ALLOW Default)", "allow default; "},
		/* Arguments are told apart by what they are. */
		{"(allow (subpath \"/a\") file-read* (with report) file-write*)",
		 "allow file-read* path below /a with report; "
		 "allow file-write* path below /a with report; "},
		{"(allow file-read* (literal \"/a\" \"/b\") (prefix \"/c\"))",
		 "allow file-read* any(any(path =/a, path =/b), path prefix /c); "},
		{"(deny file-read* (regex #\"^/a\\.b$\" \"^/\\\\.\"))",
		 "deny file-read* any(path ~^/a\\.b$, path ~^/\\.); "},
		{"(allow file* (require-all (subpath \"/a\") (require-not (vnode-type "
		 "DIRECTORY))))",
		 "allow file* all(path below /a, not(vnode-type 2)); "},
		{"(allow file* (require-any (file-mode #o0004) (tty)))",
		 "allow file* any(file-mode &4, vnode-type 65535); "},
		{"(apply deny file-read* (list))", "deny file-read*; "},
		/* Older names; one that is gone takes its rule along. */
		{"(allow process-exec (path \"/bin/sh\") (with no-profile))",
		 "allow process-exec* path =/bin/sh with no-sandbox; "},
		{"(allow mach-per-user-lookup)(allow signal system-chud)", "allow signal; "},
		{"(allow mach-lookup (global-name \"a\") (local-name-prefix \"b\"))",
		 "allow mach-lookup any(global-name =a, local-name prefix b); "},
		{"(allow user-preference-read (preference-domain \"com.x\"))",
		 "allow user-preference-read preference-domain prefix com.x; "},
		{"(allow signal (target self) (target 3) (signal-number SIGTERM))",
		 "allow signal any(target 1, target 3, signal-number 15); "},
		{"(allow file* (extension \"e\"))", "allow file* extension is e; "},
		{"(allow distributed-notification-post (notification-payload))",
		 "allow distributed-notification-post notification-payload yes; "},
		{"(allow distributed-notification-post (notification-payload #f))",
		 "allow distributed-notification-post notification-payload no; "},
		/* A parent takes what its children take. */
		{"(deny process-info* (target others))", "deny process-info* target 3; "},
		{"(allow file-read* (path-ancestors \"/a/bc/d/\"))",
		 "allow file-read* any(path =/, path =/a, path =/a/bc); "},
		{"(allow file-ioctl (ioctl-command (_IO \"h\" 47)))",
		 "allow file-ioctl ioctl-command 26671; "},
		/* Where a test that is never true only denies more it may stand. */
		{"(allow mach-lookup (literal \"/a\"))(deny signal (require-not (literal \"/a\")))",
		 "allow mach-lookup path =/a; deny signal not(path =/a); "},
		{"(allow file* (path-ancestors \"${HOME}/a/b/\"))",
		 "allow file* any(path =${HOME}, path =${HOME}/a); "},
		{"(allow file* (container) (executable-bundle))",
		 "allow file* any(extension is com.apple.sandbox.container, "
		 "extension is com.apple.sandbox.executable); "},
		{"(with-transparent-redirection (allow file*) (deny signal))",
		 "allow file*; deny signal; "},
		{"(eval (read (open-input-string \"(allow signal)\")))", "allow signal; "},
		{"(define-once n \"a\")(define-once n \"b\")(allow mach-lookup (global-name n))",
		 "allow mach-lookup global-name =a; "},
		{"(define-once (f) (allow signal))(define-once (f) (deny signal))(f)",
		 "allow signal; "},
		{"(allow sysctl-write file-unlink time-set iokit-open)",
		 "allow sysctl*; allow file-write-unlink; allow system-set-time; allow "
		 "iokit-open*; "},
		{"(deny storage-class-map)", "deny storage-class-map; "},
		/* Versions. */
		{"(define (f) (allow signal))(version 2)(f)", "allow signal; "},
		/* Rules so far. */
		{"(define (can op what) (if (sbpl-operation-can-return? op what) (allow signal)))"
		 "(deny default)(allow file-read* (literal \"/\"))"
		 "(can file-read-data 'allow)(can file-read-data 'deny)(can file-link 'allow)"
		 "(can file-link 'deny)(can mach-lookup 'allow)",
		 "deny default; allow file-read* path =/; allow signal; allow signal; allow "
		 "signal; "},
	};

	check_meanings(rows, COUNT(rows));
}

static void addresses_mean(void)
{
	static const struct meaning rows[] = {
		{"(allow network* (remote ip))", "allow network* remote 3 * *; "},
		{"(allow network* (remote tcp4 \"*:443\"))", "allow network* remote 5 * 443; "},
		{"(allow network* (local udp \"localhost:*\" \"*\" \"localhost\"))",
		 "allow network* any(local 11 localhost *, local 11 * *, local 11 localhost *); "},
		{"(allow network* (from ip6 \"*:1\") (to ip \"*:65535\"))",
		 "allow network* any(local 2 * 1, remote 3 * 65535); "},
		{"(allow network-outbound (remote unix))",
		 "allow network-outbound remote 16 * *; "},
		{"(allow network-outbound (remote unix-socket (path-literal \"/s\")))",
		 "allow network-outbound all(remote 16 * *, path =/s); "},
		{"(allow network-bind (literal \"/s\") (local unix))",
		 "allow network-bind any(path =/s, local 16 * *); "},
		{"(allow system-socket (socket-domain AF_INET))",
		 "allow system-socket socket-domain 2; "},
	};

	check_meanings(rows, COUNT(rows));
}

static void modifiers_mean(void)
{
	static const struct meaning rows[] = {
		{"(deny default (with message \"m\") (with no-log))",
		 "deny default with message m with no-report; "},
		{"(deny (with ENOENT) file* (with send-signal SIGKILL))",
		 "deny file* with errno 2 with send-signal 9; "},
		{"(deny signal (with termination))", "deny signal with send-signal 9; "},
		{"(deny signal (with errno EACCES))", "deny signal with errno 13; "},
		{"(allow signal (with no-callout))", "allow signal; "},
		{"(allow iokit-open (apply-message-filter (deny iokit-external-method)))",
		 "allow iokit-open* with message-filter; "},
		{"(apply-message-filter (with-modifier (with report) (allow signal)))"
		 "(allow mach-lookup)",
		 "allow mach-lookup; "},
	};

	check_meanings(rows, COUNT(rows));
}

static void wrappers_reach_every_rule(void)
{
	static const struct meaning rows[] = {
		{"(with-filter (extension \"e\") (allow file* (literal \"/a\") (literal \"/b\"))"
		 " (deny file*)) (allow file*)",
		 "allow file* all(any(path =/a, path =/b), extension is e); "
		 "deny file* extension is e; allow file*; "},
		/* Rules entered by procedures called from the body too. */
		{"(define (f) (allow file* (literal \"/a\")))"
		 "(with-filter (extension \"1\") (with-filter (extension \"2\") (f)))(f)",
		 "allow file* all(all(path =/a, extension is 2), extension is 1); "
		 "allow file* path =/a; "},
		{"(with-modifier (with report) (allow signal))", "allow signal with report; "},
		/* A continuation ends them; what the body defines is its own. */
		{"(call/cc (lambda (k) (with-filter (extension \"e\") (allow signal) (k 1))))(deny "
		 "signal)",
		 "allow signal extension is e; deny signal; "},
		{"(catch (allow file*) (with-filter (extension \"e\") (throw 1)))",
		 "allow file*; "},
		{"(define l 1)(with-filter (extension \"e\") (define l 2))(if (= l 1) (allow "
		 "signal))",
		 "allow signal; "},
		{"(with-operations (list file-read* signal) (allow) (allow mach-lookup))",
		 "allow file-read*; allow signal; "
		 "allow mach-lookup; allow file-read*; allow signal; "},
		{"(with-filter (require-entitlement \"k\") (allow mach-lookup))",
		 "allow mach-lookup all(%entitlement-load is k, %entitlement-boolean yes); "},
		{"(allow mach-lookup (require-entitlement \"k\" (entitlement-value \"v\")))",
		 "allow mach-lookup all(%entitlement-load is k, %entitlement-string =v); "},
	};

	check_meanings(rows, COUNT(rows));
}

/* (check EXPR) enters a rule exactly if EXPR is true: the control is the same row with `not`. */
static void scheme_computes(void)
{
	static const char *const truths[] = {
		"(= 6 (+ 1 2 3) (* 1 2 3) (- 9 2 1) (quotient 13 2) (string->number \"6\"))",
		"(and (= -1 (remainder -7 3)) (= 2 (modulo -7 3)) (= 4 (gcd 8 12)) (= 24 (lcm 8 "
		"12)))",
		"(and (< 1 2 3) (>= 3 3 1) (even? 0) (odd? -3) (zero? 0) (positive? 1) (= 5 (abs "
		"-5)))",
		"(equal? '(1 (2 \"x\" #\\a) . z) (list* 1 (list 2 \"x\" #\\a) 'Z))",
		"(equal? `(1 ,(+ 1 1) ,@(list 3 4) (5 . ,(+ 3 3))) '(1 2 3 4 (5 . 6)))",
		"(equal? `(a `(b ,(c ,(+ 1 2)))) '(a `(b ,(c 3))))",
		"(equal? #(1 2) (vector 1 2))",
		"(not (equal? '(1 2) '(1 2 3)))",
		"(equal? (append '(1) '(2 3) '() '(4)) (reverse '(4 3 2 1)))",
		"(equal? (map + '(1 2 3) '(10 20 30)) '(11 22 33))",
		"(equal? (filter even? '(1 2 3 4)) '(2 4))",
		"(equal? (partition even? '(1 2 3 4)) '((2 4) (1 3)))",
		"(equal? (foldr (lambda (a x) (cons x a)) '() '(1 2 3)) '(3 2 1))",
		"(equal? (flatten '(1 (2 () (3 (4))) 5)) '(1 2 3 4 5))",
		"(equal? (list (take '(a b c) 2) (drop '(a b c) 2)) '((a b) (c)))",
		"(eq? (cadr '(a b)) 'B)",
		"(eq? (cdr (assq 'b '((a . 1) (b . x)))) 'x)",
		"(equal? (member \"b\" '(\"a\" \"b\" \"c\")) '(\"b\" \"c\"))",
		"(string=? (string-append \"a\" \"\" \"bc\") (substring \"xabcx\" 1 4) \"abc\")",
		"(and (string<? \"a\" \"ab\" \"b\") (not (string<? \"a\" \"a\")) (char<? #\\a "
		"#\\b))",
		"(string=? (list->string (reverse (string->list \"abc\"))) \"cba\")",
		"(string=? (number->string 255 16) \"ff\")",
		"(string=? \"\\x41\\102\\n\\\"\\q\" (string #\\A #\\B #\\newline #\\\" #\\q))",
		"(string=? #\"\\.\" \"\\\\.\")",
		"(= #xff #o377 #b11111111 #d255 (string->number \"ff\" 16))",
		"(let loop ((i 0)) (if (= i 100000) #t (loop (+ i 1))))",
		"(let* ((x 1) (y (+ x 1))) (= y 2))",
		("(letrec ((e? (lambda (n) (or (= n 0) (o? (- n 1))))) "
		 "(o? (lambda (n) (and (> n 0) (e? (- n 1)))))) (e? 1000))"),
		"(do ((i 0 (+ i 1)) (s 0 (+ s i))) ((= i 5) (= s 10)))",
		"(case 3 ((1 2) #f) ((3 4) #t) (else #f))",
		"(case 'x ((y) #f) (else #t))",
		"(cond (#f #f) ((assv 2 '((2 . #t))) => cdr) (else #f))",
		"(begin (define x 1) (set! x (+ x 1)) (= x 2))",
		"((lambda (a . rest) (equal? rest '(2 3))) 1 2 3)",
		"(apply = 1 1 '(1 1))",
		"(begin (define-macro (twice x) `(* 2 ,x)) (= (twice (+ 1 2)) 6))",
		"(begin (macro (second form) (caddr form)) (second (error \"no\") #t))",
		"(force (delay (+ 1 1)))",
		"(= 2 (car (force (cdr (cons-stream 1 (list 2))))))",
		"(eval '(= 1 1))",
		"(and (defined? 'file-read-data) (defined? 'subpath) (not (defined? 'nonesuch)))",
		"(string=? (param \"HOME\") (getenv \"HOME\") \"/home/u\")",
		"(and (string=? (param \"EMPTY\") \"\") (not (param \"NONE\")))",
		"(string=? (regex-quote \"/a.b[c]*$\") #\"/a\\.b\\[c]\\*\\$\")",
		"(equal? (split-string \"a:b::c\" #\\:) '(\"a\" \"b\" \"\" \"c\"))",
		"(not *import-path*)",
		"(null? (if #f 1))",
		/* Continuations, environments, ports, changes: as TinyScheme has them. */
		"(= 11 (+ 10 (call/cc (lambda (k) (+ 100 (k 1))))))",
		"(= 5 (call-with-current-continuation (lambda (k) 5)))",
		"(let ((k #f) (n 0)) (call/cc (lambda (c) (set! k c))) (set! n (+ n 1)) (if (< n "
		"3) (k #f)) (= n 3))",
		"(begin (define-with-return (f x) (for-each (lambda (y) (if (= x y) (return y))) "
		"'(1 2 3)) #f) (and (= (f 2) 2) (not (f 9))))",
		"(and (= 7 (catch 1 7)) (= 1 (catch 1 (throw \"x\") 7)))",
		"(= 3 (catch 3 (catch (throw \"again\") (throw \"once\"))))",
		"(= 4 (catch 4 (map (lambda (x) (if (= x 2) (throw \"two\") x)) '(1 2 3))))",
		"(and (catch #t (car '())) (catch #t nonesuch #f) (catch #t (import \"none.sb\") "
		"#f))",
		"(= 3 (eval '(+ x 1) (let ((x 2)) (current-environment))))",
		"(= 3 (let ((x 2)) (eval 'x (make-environment (define x 3)))))",
		"(and (environment? (interaction-environment)) (defined? 'car "
		"(interaction-environment)) (let ((here 1)) (and (defined? 'here) (not (defined? "
		"'here (interaction-environment))))))",
		"(begin (define-macro (inc x) (list '+ x 1)) (equal? (macro-expand '(inc (f))) '(+ "
		"(f) 1)))",
		"(begin (define-macro second (lambda (form) (caddr form))) (second (error \"no\") "
		"#t))",
		"(cond-expand ((and srfi-0 (not nonesuch)) #t) (else #f))",
		"(cond-expand ((or nonesuch other) #f) (else #t))",
		"(let ((l (list 1 2))) (set-car! l 3) (set-cdr! (cdr l) '(4)) (equal? l '(3 2 4)))",
		"(let* ((s (string-append \"abc\")) (t (substring s 0 2))) (string-set! s 1 #\\x) "
		"(and (string=? s \"axc\") (string=? t \"ab\")))",
		"(let ((s (make-string 3 #\\a))) (string-fill! s #\\b) (string=? s \"bbb\"))",
		"(let ((s (string-append \"key\"))) (let ((y (string->symbol s))) (string-set! s 0 "
		"#\\x) (eq? y 'key)))",
		"(let ((v (make-vector 2 0))) (vector-fill! v 7) (vector-set! v 0 1) (equal? "
		"(vector->list v) '(1 7)))",
		"(and (= 12 (string->atom \"12\")) (eq? 'foo (string->atom \"foo\")) (string=? "
		"\"12\" (atom->string 12)) (string=? \"foo\" (atom->string 'foo)))",
		"(let ((p (open-input-string \"(a 1) \\\"b\\\" ; c\"))) (let* ((x (read p)) (y "
		"(read p))) (and (equal? x '(a 1)) (equal? y \"b\") (eof-object? (read p)))))",
		"(let ((p (open-input-string \"ab\"))) (and (char-ready? p) (char=? #\\a "
		"(peek-char p) (read-char p)) (char=? #\\b (read-char p)) (eof-object? (read-char "
		"p))))",
		"(and (not (open-input-file \"none.sb\")) (eq? 'define (car (call-with-input-file "
		"\"good.sb\" read))))",
		"(and (port? (open-input-string \"\")) (not (open-output-file \"x\")) (not (port? "
		"\"x\")))",
		"(begin (put 'sym 'key 1) (put 'sym 'key 2) (put 'sym 'other 3) (and (= 2 (get "
		"'sym 'key)) (= 3 (get 'sym 'other)) (null? (get 'sym 'none))))",
		"(equal? `#(1 ,(+ 1 1) ,@(list 3)) (vector 1 2 3))",
		"(begin (define first 1 2 (error \"ignored\")) (= first 1))",
		"(and (<> 1 2) (not (<> 1 1)) (exact? 1) (real? 1) (not (integer? \"1\")))",
		"(and (char-ci=? #\\a #\\A) (string-ci<? \"a\" \"B\") (char=? (char-upcase #\\a) "
		"#\\A) (char=? (char-downcase #\\A) #\\a))",
		"(= 2 (tail (cons-stream 1 2)))",
		"(let ((s '(1 . 2))) (and (pair? s) (not (list? s)) (list? '()) (equal? '(a .b) "
		"(list 'a '.b))))",
		"(equal? (let loop ((i 3) (l '())) (if (= i 0) l (loop (- i 1) (cons i l)))) '(1 2 "
		"3))",
		"(equal? '(quote x) ''x)",
		/* Every tail position is one: 100000 rounds in 2000 frames. */
		"(begin (define (f n) (cond ((= n 0) #t) (else (f (- n 1))))) (f 100000))",
		"(begin (define (f n) (case n ((0) #t) (else (f (- n 1))))) (f 100000))",
		"(begin (define (f n) (and #t (or #f (if (= n 0) #t (f (- n 1)))))) (f 100000))",
		"(begin (define (f n) (when #t (unless #f (begin 1 (if (= n 0) #t (f (- n 1))))))) "
		"(f 100000))",
		"(begin (define (f n) (let ((m n)) (let* ((k m)) (letrec ((j k)) (if (= j 0) #t (f "
		"(- j 1))))))) (f 100000))",
		"(begin (define (f n) (if (= n 0) #t (apply f (list (- n 1))))) (f 100000))",
		"(begin (define (f n) (if (= n 0) #t (eval (list f (- n 1))))) (f 100000))",
		"(begin (define (f n) (do () (#t (if (= n 0) #t (f (- n 1)))))) (f 100000))",
		"(begin (define (f n) (cond ((- n 1) => (lambda (m) (if (< m 0) #t (f m)))))) (f "
		"100000))",
		"(begin (define-macro (next n) `(f (- ,n 1))) (define (f n) (if (= n 0) #t (next "
		"n))) (f 10000))",
		"(= 100000 (length (map (lambda (x) x) (vector->list (make-vector 100000 1)))))",
		"(and (sbpl-filter? (literal \"/\")) (not (sbpl-filter? literal)) (procedure? "
		"car))",
	};

	for (size_t i = 0; i < COUNT(truths); i++) {
		for (int negated = 0; negated < 2; negated++) {
			struct buf text = {0};
			struct policy *policy;
			size_t rules = 99;

			buf_printf(&text, "(version 1)(when %s%s%s (allow signal))",
				   negated ? "(not " : "", truths[i], negated ? ")" : "");
			if (compile(buf_str(&text).p, &policy) == 0)
				rules = policy_n_rules(policy);
			else
				printf("# %s: %s\n", truths[i], errors.list[0].text);
			if (rules != !negated)
				printf("# %s\n", truths[i]);
			CHECK_INT(rules, !negated);
			policy_free(policy);
			buf_release(&text);
		}
	}
}

/* In the manner of what agents and browsers ship. */
static const char agent_profile[] =
	"(version 1)\n"
	"(deny default (with message \"agent\"))\n"
	";; what every program needs\n"
	"(define home (param \"HOME\"))\n"
	"(define (home-subpath p) (subpath (string-append home p)))\n"
	"(define (home-regex r) (regex (string-append \"^\" (regex-quote home) r)))\n"
	"(allow process-exec process-fork)\n"
	"(allow signal (target same-sandbox))\n"
	"(allow sysctl-read (sysctl-name \"hw.ncpu\") (sysctl-name-prefix \"kern.\"))\n"
	"(allow file-read* (subpath \"/usr\") (literal \"/\")\n"
	"  (require-all (home-subpath \"/src\") (vnode-type REGULAR-FILE)))\n"
	"(when (defined? 'syscall-unix) (allow syscall-unix))\n"
	"(if (param \"WRITABLE\")\n"
	"    (allow file-write* (subpath (param \"WRITABLE\")))\n"
	"    (allow file-write* (home-subpath \"/src\")))\n"
	"(deny file-write* (home-regex #\"/src/(.*/)?\\.git/hooks(/.*)?$\"))\n"
	"(let ((port \"8080\"))\n"
	"  (allow network-outbound (remote tcp (string-append \"localhost:\" port))))\n"
	"(for-each (lambda (name) (allow mach-lookup (global-name name)))\n"
	"          '(\"com.a\" \"com.b\"))\n";

static void whole_profiles_compile(void)
{
	static const struct meaning rows[] = {
		{agent_profile,
		 "deny default with message agent; allow process-exec*; allow process-fork; "
		 "allow signal target 5; "
		 "allow sysctl-read any(sysctl-name =hw.ncpu, sysctl-name prefix kern.); "
		 "allow file-read* any(path below /usr, path =/, "
		 "all(path below /home/u/src, vnode-type 1)); "
		 "allow syscall-unix; allow file-write* path below /home/u/src; "
		 "deny file-write* path ~^/home/u/src/(.*/)?\\.git/hooks(/.*)?$; "
		 "allow network-outbound remote 7 localhost 8080; "
		 "allow mach-lookup global-name =com.a; allow mach-lookup global-name =com.b; "},
		{"(version 2)(debug deny)(trace \"/t\")(disable-callouts)(allow default)",
		 "allow default; "},
	};

	check_meanings(rows, COUNT(rows));
}

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
		{"(version 1)(if)", "syntax error in if", 1, 12},
		{"(version 1)(let ((x)) x)", "syntax error in let", 1, 12},
		{"(version 1)(lambda (1) 1)", "syntax error in lambda", 1, 12},
		{"(version 1)(letrec ((x y) (y 1)) x)", "unbound variable: y", 1, 24},
		{"(version 1)(set-car! '(1) 2)",
		 "set-car!: a list written in the text does not change", 1, 12},
		{"(version 1)(string-set! \"a\" 0 #\\b)",
		 "string-set!: a string written in the text does not change", 1, 12},
		{"(version 1)(string->number \"1x\")", "string->number: not a number", 1, 12},
		{"(version 1)(quit)", "quit: a profile is evaluated to its end", 1, 12},
		{"(version 1)(catch #t (quit))", "quit: a profile is evaluated to its end", 1, 22},
		{"(version 1)(catch #t (error \"told\"))", "told", 1, 22},
		{"(version 1)(throw \"thrown\" 1)", "thrown 1", 1, 12},
		{"(version 1)(catch #t (let loop () (cons 1 (loop))))",
		 "evaluation nested deeper than 2000 levels", 1, 35},
		{"(version 1)(read (open-input-string \"(a\"))", "unmatched parentheses: 1", 1, 12},
		{"(version 1)(cond-expand ((nor a) 1))", "cond-expand: unknown operator nor", 1,
		 12},
		{"(version 1)(macro-expand '(car x))",
		 "macro-expand: expected a macro's form, got list", 1, 12},
		{"(version 1)(define k #f)(call/cc (lambda (c) (set! k c)))(k 1 2)",
		 "continuation: too many arguments", 1, 58},
		{"(version 1)\n(error \"no\" 'a \"b\" 1)", "no a \"b\" 1", 2, 1},
		{"(version 1)\n(map (lambda (x)\n  (error \"in map\")) '(1))", "in map", 3, 3},
		/* After an inner form is done the outer one is the one at fault. */
		{"(version 1)\n(+ (* 2\n 3) 'a)", "+: expected integer, got symbol", 2, 1},
	};

	check_complaints(rows, COUNT(rows));
}

static void rule_errors_have_places(void)
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
		{"(version 1)\n(allow)", "allow: missing operation", 2, 1},
		{"(version 1)(deny (literal \"/a\"))", "deny: missing operation", 1, 12},
		{"(version 1)(allow signal 1)",
		 "allow: expected operation, filter or modifier, got integer", 1, 12},
		{"(version 1)(allow file* (if #f (literal \"/a\")))",
		 "allow: expected operation, filter or modifier, got empty list", 1, 12},
		{"(version 1)(deny file* no-log)",
		 "deny: expected operation, filter or modifier, got modifier name", 1, 12},
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
		{"(version 1)(allow file-read* (with no-sandbox))",
		 "modifier no-sandbox does not apply to operation file-read*", 1, 12},
		{"(version 1)(allow file-write* (with no-times))",
		 "modifier no-times does not apply to operation file-write*", 1, 12},
		{"(version 1)(allow signal (with grant))",
		 "modifier grant does not apply to operation signal", 1, 12},
		{"(version 1)(allow file* (with assign-storage-class \"c\"))",
		 "modifier assign-storage-class does not apply to operation file*", 1, 12},
		{"(version 1)(define-storage-class \"c\" (subpath \"/a\"))",
		 "storage class definition not permitted in this context", 1, 12},
		{"(version 1)(allow storage-class-map)",
		 "storage class definition not permitted in this context", 1, 12},
		{"(version 1)(sbpl-operation-can-return? file* 'perhaps)",
		 "sbpl-operation-can-return?: expected 'allow or 'deny, got symbol", 1, 12},
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
		{"(version 1)(with-filter \"x\" (allow signal))", "expected filter, got string", 1,
		 12},
		{"(version 1)(path-ancestors \"a/b\")", "path must start with a /", 1, 28},
		{"(version 1)\n(allow file*\n  (regex \"(?i)^x\"))",
		 "unexpected ^ operator in middle of expression", 3, 10},
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

/* ---- Where rules come from ---- */

static void rules_know_their_text(void)
{
	static const char text[] =
		"(version 1)\n\n  (allow   file-read* ; why\n\t(literal \"/a  b\")\n"
		"  (regex #\"^x\"))\n"
		"(define (f p) (deny file* (subpath p)))\n(f \"/p\")\n";
	const struct rule *rule;
	struct policy *policy;

	CHECK_INT(compile(text, &policy), 0);
	if (!policy)
		return;
	rule = policy_rule(policy, 0);
	CHECK_STR(rule->at.file, "p.sb");
	CHECK_INT(rule->at.line, 3);
	CHECK_INT(rule->at.column, 3);
	CHECK_STR(rule->text.p, "(allow file-read* (literal \"/a  b\") (regex #\"^x\"))");
	CHECK_INT(rule->origin, ORIGIN_PROFILE);
	CHECK_INT(rule->filter->kids[1]->test.at.line, 5);
	CHECK_INT(rule->filter->kids[1]->test.at.column, 10);
	rule = policy_rule(policy, 1);
	CHECK_INT(rule->at.line, 6);
	CHECK_INT(rule->at.column, 15);
	CHECK_INT(rule->filter->test.at.line, 7);
	policy_free(policy);
}

static void long_texts_are_cut(void)
{
	struct buf text = {0};
	struct policy *policy;

	buf_puts(&text, "(version 1)(allow file* (literal \"/");
	for (int i = 0; i < 300; i++)
		buf_puts(&text, "\xc3\xa9");
	buf_puts(&text, "\"))");
	CHECK_INT(compile(buf_str(&text).p, &policy), 0);
	if (policy) {
		struct str cut = policy_rule(policy, 0)->text;

		/* 24 bytes before the first of the two-byte letters, so 200 fit exactly. */
		CHECK_INT(cut.n, 200 + strlen("\u2026"));
		CHECK(str_starts(cut, STR("(allow file* (literal \"/\xc3")));
		CHECK(str_ends(cut, STR("\xa9\u2026")));
	}
	policy_free(policy);
	buf_release(&text);
}

/* What is not cut has no mark; a cut may fall between tokens and inside a character. */
static void only_cut_texts_are_marked(void)
{
	static const struct {
		int letters; /* in front of one of two bytes */
		size_t n;
		bool is_marked;
	} rows[] = {{171, 200, false}, {172, 200, true}, {174, 200, true}, {175, 199, true}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf text = {0};
		struct policy *policy;

		buf_puts(&text, "(version 1)(allow file* (literal \"/");
		for (int k = 0; k < rows[i].letters; k++)
			buf_putc(&text, 'a');
		buf_puts(&text, "\u00e9\"))");
		CHECK_INT(compile(buf_str(&text).p, &policy), 0);
		if (policy) {
			struct str got = policy_rule(policy, 0)->text;

			CHECK_INT(str_ends(got, STR("\u2026")), rows[i].is_marked);
			CHECK_INT(got.n - (rows[i].is_marked ? strlen("\u2026") : 0), rows[i].n);
		}
		policy_free(policy);
		buf_release(&text);
	}
}

static void imports_share_the_environment(void)
{
	struct policy *policy;

	CHECK_INT(compile("(version 1)(import \"outer.sb\")\n"
			  "(allow file-read* (subpath (in-home \"/x\")))"
			  "(when *import-path* (error \"still\"))",
			  &policy),
		  0);
	if (!policy) {
		printf("# %s\n", errors.list[0].text);
		return;
	}
	CHECK_INT(policy_n_rules(policy), 3);
	CHECK_STR(policy_rule(policy, 0)->at.file, "good.sb");
	CHECK_INT(policy_rule(policy, 0)->at.line, 3);
	CHECK_STR(policy_rule(policy, 0)->filter->test.text.p, "good.sb");
	CHECK_STR(policy_rule(policy, 1)->filter->test.text.p, "outer.sb");
	CHECK_STR(policy_rule(policy, 2)->filter->test.text.p, "/home/u/x");
	policy_free(policy);
}

static void import_errors_name_the_file(void)
{
	struct sbpl_options options = options_default();
	struct policy *policy;

	CHECK(compile("(version 1)(import \"bad.sb\")\n(import \"open.sb\")\n"
		      "(import \"none.sb\")(more)",
		      &policy) < 0);
	CHECK_INT(errors.n, 5);
	CHECK_STR(errors.list[0].text, "unbound variable: oops");
	CHECK_STR(errors.list[0].at.file, "bad.sb");
	CHECK_INT(errors.list[0].at.line, 2);
	CHECK_INT(errors.list[1].at.line, 4);
	CHECK_STR(errors.list[2].text, "unmatched parentheses: 2");
	CHECK_STR(errors.list[2].at.file, "open.sb");
	CHECK_INT(errors.list[2].at.column, 2);
	CHECK_STR(errors.list[3].text, "unable to open none.sb");
	CHECK_STR(errors.list[3].at.file, "p.sb");
	CHECK_INT(errors.list[3].at.line, 3);
	CHECK_STR(errors.list[4].text, "unbound variable: more");

	options.import = NULL;
	CHECK(compile_text(STR("(version 1)(import \"good.sb\")"), &options, &policy) < 0);
	CHECK_STR(errors.list[0].text, "unable to open good.sb");
}

static void runtime_sources_stand_alone(void)
{
	struct sbpl_source sources[] = {
		{"p.sb", STR("(version 1)(define mine 1)(allow signal)"), ORIGIN_PROFILE},
		{"rt.sb", STR("(allow file-read* (literal \"/lib\"))"), ORIGIN_RUNTIME},
		{"q.sb", STR("(when mine (deny signal))"), ORIGIN_PROFILE},
		{"rt2.sb", STR("(allow file-read* (literal mine))"), ORIGIN_RUNTIME},
	};
	struct sbpl_options options = options_default();
	struct policy *policy = NULL;

	CHECK_INT(sbpl_compile(sources, 3, &options, &policy, &errors), 0);
	if (policy) {
		CHECK_INT(policy_n_rules(policy), 3);
		CHECK_INT(policy_rule(policy, 0)->origin, ORIGIN_PROFILE);
		CHECK_INT(policy_rule(policy, 1)->origin, ORIGIN_RUNTIME);
		CHECK_STR(policy_rule(policy, 1)->at.file, "rt.sb");
		CHECK_INT(policy_rule(policy, 2)->origin, ORIGIN_PROFILE);
		policy_free(policy);
	}
	policy = NULL;
	CHECK(sbpl_compile(sources, 4, &options, &policy, &errors) < 0);
	CHECK_STR(errors.list[0].text, "unbound variable: mine");
	CHECK_STR(errors.list[0].at.file, "rt2.sb");
}

static enum verdict decides(const char *text, enum op op)
{
	struct policy *policy;
	struct decision decision = {.verdict = VERDICT_DENY};

	CHECK_INT(compile(text, &policy), 0);
	if (policy)
		policy_decide(policy, &(struct request){.op = op, .path = STR("/f")}, &decision);
	policy_free(policy);
	return decision.verdict;
}

static void no_operation_has_many_ancestors(void)
{
	for (unsigned op = 0; op < OP_COUNT; op++) {
		unsigned depth = 0;

		for (enum op above = op; above != OP_DEFAULT; above = op_parent(above))
			depth++;
		CHECK(depth < 8);
	}
}

/* Version 3 has no built-in defaults; an operation's own rules still come first. */
static void version_3_falls_to_default(void)
{
	CHECK_INT(decides("(version 1)(deny default)", OP_FILE_LINK), VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(deny default)", OP_FILE_LINK), VERDICT_DENY);
	CHECK_INT(decides("(version 3)", OP_FILE_LINK), VERDICT_DENY);
	CHECK_INT(decides("(version 3)(deny default)(allow file-link)", OP_FILE_LINK),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(deny default)(allow file-link (literal \"/f\"))",
			  OP_FILE_LINK),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(deny default)(allow file-link (literal \"/g\"))",
			  OP_FILE_LINK),
		  VERDICT_DENY);
	/* syscall* decides for syscall-unix, which falls to no parent before version 3. */
	CHECK_INT(decides("(version 1)(deny syscall*)", OP_SYSCALL_UNIX), VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(deny default)(allow syscall*)", OP_SYSCALL_UNIX),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow default)(deny syscall*)", OP_SYSCALL_UNIX),
		  VERDICT_DENY);
	CHECK_INT(decides("(version 3)(allow syscall* (uid 1))(allow default)", OP_SYSCALL_UNIX),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow syscall* (uid 1))", OP_SYSCALL_UNIX), VERDICT_DENY);
	/* A filtered rule of a nearer one counts before the unfiltered rule of a farther one. */
	CHECK_INT(decides("(version 3)(deny default)(allow system* (literal \"/f\"))",
			  OP_SYSTEM_MAC_SYSCALL),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow system*)(deny system-mac* (literal \"/f\"))",
			  OP_SYSTEM_MAC_SYSCALL),
		  VERDICT_DENY);
	/* sysctl-write is its own name again; version 1 knows it for both. */
	CHECK_INT(decides("(version 1)(allow sysctl-write)", OP_SYSCTL_READ), VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow sysctl-write)", OP_SYSCTL_READ), VERDICT_DENY);
	CHECK_INT(decides("(version 3)(allow sysctl-write)", OP_SYSCTL_WRITE), VERDICT_ALLOW);
	CHECK_INT(decides("(version 3)(allow ipc-posix-shm-read*)", OP_IPC_POSIX_SHM_READ_DATA),
		  VERDICT_ALLOW);
	CHECK_INT(decides("(version 1)(allow default)", OP_FILE_WRITE_SETUGID), VERDICT_DENY);
	CHECK_INT(decides("(version 3)(allow default)", OP_FILE_WRITE_SETUGID), VERDICT_ALLOW);
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
	RUN(rules_mean);
	RUN(addresses_mean);
	RUN(modifiers_mean);
	RUN(wrappers_reach_every_rule);
	RUN(scheme_computes);
	RUN(whole_profiles_compile);
	RUN(text_errors_have_places);
	RUN(unbound_names_are_told_what_was_meant);
	RUN(scheme_errors_have_places);
	RUN(rule_errors_have_places);
	RUN(address_errors_have_places);
	RUN(reading_goes_on_after_an_error);
	RUN(rules_know_their_text);
	RUN(long_texts_are_cut);
	RUN(only_cut_texts_are_marked);
	RUN(imports_share_the_environment);
	RUN(import_errors_name_the_file);
	RUN(runtime_sources_stand_alone);
	RUN(no_operation_has_many_ancestors);
	RUN(version_3_falls_to_default);
	RUN(every_bound_is_reached);
	RUN(policy_memory_is_bounded);
	RUN(any_allocation_may_fail);
	RUN(hostile_texts_end_soon);
	return test_done();
}
