/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "sbpl_world.h"

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

int main(void)
{
	RUN(rules_mean);
	RUN(addresses_mean);
	RUN(modifiers_mean);
	RUN(wrappers_reach_every_rule);
	RUN(scheme_computes);
	RUN(whole_profiles_compile);
	RUN(rules_know_their_text);
	RUN(long_texts_are_cut);
	RUN(only_cut_texts_are_marked);
	RUN(imports_share_the_environment);
	RUN(import_errors_name_the_file);
	RUN(runtime_sources_stand_alone);
	RUN(no_operation_has_many_ancestors);
	RUN(version_3_falls_to_default);
	return test_done();
}
