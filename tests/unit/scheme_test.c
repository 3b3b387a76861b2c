/* SPDX-License-Identifier: Apache-2.0 */
/* What Scheme computes, with continuations, environments and ports as TinyScheme has them. */
#include "base/buf.h"

#include "sbpl_world.h"

/* EXPR enters a rule exactly if it is true: the control is the same row with `not`. */
static void check_truth(const char *expr, bool negated)
{
	struct buf text = {0};
	struct policy *policy;
	size_t rules = 99;

	buf_printf(&text, "(version 1)(when %s%s%s (allow signal))", negated ? "(not " : "", expr,
		   negated ? ")" : "");
	if (compile(buf_str(&text).p, &policy) == 0)
		rules = policy_n_rules(policy);
	else
		printf("# %s: %s\n", expr, errors.list[0].text);
	if (rules != !negated)
		printf("# %s\n", expr);
	CHECK_INT(rules, !negated);
	policy_free(policy);
	buf_release(&text);
}

static void check_truths(const char *const *truths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check_truth(truths[i], false);
		check_truth(truths[i], true);
	}
}

static void numbers_and_lists_compute(void)
{
	static const char *const truths[] = {
		"(= 6 (+ 1 2 3) (* 1 2 3) (- 9 2 1) (quotient 13 2) (string->number \"6\"))",
		("(and (= -1 (remainder -7 3)) (= 2 (modulo -7 3)) (= 4 (gcd 8 12)) (= 24 (lcm 8 "
		 "12)))"),
		("(and (< 1 2 3) (>= 3 3 1) (even? 0) (odd? -3) (zero? 0) (positive? 1) (= 5 (abs "
		 "-5)))"),
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
		"(equal? `#(1 ,(+ 1 1) ,@(list 3)) (vector 1 2 3))",
		"(and (<> 1 2) (not (<> 1 1)) (exact? 1) (real? 1) (not (integer? \"1\")))",
		("(let ((s '(1 . 2))) (and (pair? s) (not (list? s)) (list? '()) (equal? '(a .b) "
		 "(list 'a '.b))))"),
		"(equal? '(quote x) ''x)",
	};

	check_truths(truths, COUNT(truths));
}

static void strings_compute(void)
{
	static const char *const truths[] = {
		"(string=? (string-append \"a\" \"\" \"bc\") (substring \"xabcx\" 1 4) \"abc\")",
		("(and (string<? \"a\" \"ab\" \"b\") (not (string<? \"a\" \"a\")) (char<? #\\a "
		 "#\\b))"),
		"(string=? (list->string (reverse (string->list \"abc\"))) \"cba\")",
		"(string=? (number->string 255 16) \"ff\")",
		"(string=? \"\\x41\\102\\n\\\"\\q\" (string #\\A #\\B #\\newline #\\\" #\\q))",
		"(string=? #\"\\.\" \"\\\\.\")",
		"(= #xff #o377 #b11111111 #d255 (string->number \"ff\" 16))",
		("(and (= 12 (string->atom \"12\")) (eq? 'foo (string->atom \"foo\")) (string=? "
		 "\"12\" (atom->string 12)) (string=? \"foo\" (atom->string 'foo)))"),
		("(and (char-ci=? #\\a #\\A) (string-ci<? \"a\" \"B\") (char=? (char-upcase #\\a) "
		 "#\\A) (char=? (char-downcase #\\A) #\\a))"),
	};

	check_truths(truths, COUNT(truths));
}

static void forms_compute(void)
{
	static const char *const truths[] = {
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
		"(force (delay (+ 1 1)))",
		"(= 2 (car (force (cdr (cons-stream 1 (list 2))))))",
		"(null? (if #f 1))",
		"(cond-expand ((and srfi-0 (not nonesuch)) #t) (else #f))",
		"(cond-expand ((or nonesuch other) #f) (else #t))",
		"(begin (define first 1 2 (error \"ignored\")) (= first 1))",
		"(= 2 (tail (cons-stream 1 2)))",
		("(equal? '(1 2 3)"
		 " (let loop ((i 3) (l '())) (if (= i 0) l (loop (- i 1) (cons i l)))))"),
	};

	check_truths(truths, COUNT(truths));
}

static void macros_and_environments_compute(void)
{
	static const char *const truths[] = {
		"(begin (define-macro (twice x) `(* 2 ,x)) (= (twice (+ 1 2)) 6))",
		"(begin (macro (second form) (caddr form)) (second (error \"no\") #t))",
		"(eval '(= 1 1))",
		"(and (defined? 'file-read-data) (defined? 'subpath) (not (defined? 'nonesuch)))",
		"(= 3 (eval '(+ x 1) (let ((x 2)) (current-environment))))",
		"(= 3 (let ((x 2)) (eval 'x (make-environment (define x 3)))))",
		("(and (environment? (interaction-environment)) (defined? 'car "
		 "(interaction-environment)) (let ((here 1)) (and (defined? 'here) (not (defined? "
		 "'here (interaction-environment))))))"),
		("(begin (define-macro (inc x) (list '+ x 1))"
		 " (equal? (macro-expand '(inc (f))) '(+ (f) 1)))"),
		("(begin (define-macro second (lambda (form) (caddr form))) (second (error \"no\") "
		 "#t))"),
	};

	check_truths(truths, COUNT(truths));
}

static void continuations_compute(void)
{
	static const char *const truths[] = {
		"(= 11 (+ 10 (call/cc (lambda (k) (+ 100 (k 1))))))",
		"(= 5 (call-with-current-continuation (lambda (k) 5)))",
		("(let ((k #f) (n 0)) (call/cc (lambda (c) (set! k c))) (set! n (+ n 1)) (if (< n "
		 "3) (k #f)) (= n 3))"),
		("(begin (define-with-return (f x) (for-each (lambda (y) (if (= x y) (return y))) "
		 "'(1 2 3)) #f) (and (= (f 2) 2) (not (f 9))))"),
		"(and (= 7 (catch 1 7)) (= 1 (catch 1 (throw \"x\") 7)))",
		"(= 3 (catch 3 (catch (throw \"again\") (throw \"once\"))))",
		"(= 4 (catch 4 (map (lambda (x) (if (= x 2) (throw \"two\") x)) '(1 2 3))))",
		("(and (catch #t (car '())) (catch #t nonesuch #f) (catch #t (import \"none.sb\") "
		 "#f))"),
	};

	check_truths(truths, COUNT(truths));
}

static void changes_are_seen(void)
{
	static const char *const truths[] = {
		"(let ((l (list 1 2))) (set-car! l 3) (set-cdr! (cdr l) '(4)) (equal? l '(3 2 4)))",
		("(let* ((s (string-append \"abc\")) (t (substring s 0 2))) (string-set! s 1 #\\x) "
		 "(and (string=? s \"axc\") (string=? t \"ab\")))"),
		"(let ((s (make-string 3 #\\a))) (string-fill! s #\\b) (string=? s \"bbb\"))",
		("(let ((s (string-append \"key\"))) (let ((y (string->symbol s))) (string-set! s "
		 "0 "
		 "#\\x) (eq? y 'key)))"),
		("(let ((v (make-vector 2 0))) (vector-fill! v 7) (vector-set! v 0 1) (equal? "
		 "(vector->list v) '(1 7)))"),
		("(begin (put 'sym 'key 1) (put 'sym 'key 2) (put 'sym 'other 3) (and (= 2 (get "
		 "'sym 'key)) (= 3 (get 'sym 'other)) (null? (get 'sym 'none))))"),
	};

	check_truths(truths, COUNT(truths));
}

static void ports_are_read(void)
{
	static const char *const truths[] = {
		("(let ((p (open-input-string \"(a 1) \\\"b\\\" ; c\"))) (let* ((x (read p)) (y "
		 "(read p))) (and (equal? x '(a 1)) (equal? y \"b\") (eof-object? (read p)))))"),
		("(let ((p (open-input-string \"ab\"))) (and (char-ready? p) (char=? #\\a "
		 "(peek-char p) (read-char p)) (char=? #\\b (read-char p)) (eof-object? (read-char "
		 "p))))"),
		("(and (not (open-input-file \"none.sb\")) (eq? 'define (car (call-with-input-file "
		 "\"good.sb\" read))))"),
		("(and (port? (open-input-string \"\")) (not (open-output-file \"x\")) (not (port? "
		 "\"x\")))"),
	};

	check_truths(truths, COUNT(truths));
}

/* What Apple adds. */
static void additions_compute(void)
{
	static const char *const truths[] = {
		"(string=? (param \"HOME\") (getenv \"HOME\") \"/home/u\")",
		"(and (string=? (param \"EMPTY\") \"\") (not (param \"NONE\")))",
		"(string=? (regex-quote \"/a.b[c]*$\") #\"/a\\.b\\[c]\\*\\$\")",
		"(equal? (split-string \"a:b::c\" #\\:) '(\"a\" \"b\" \"\" \"c\"))",
		"(not *import-path*)",
		("(and (sbpl-filter? (literal \"/\")) (not (sbpl-filter? literal)) (procedure? "
		 "car))"),
	};

	check_truths(truths, COUNT(truths));
}

/* Every tail position is one: 100000 rounds in 2000 frames. */
static void tails_take_no_room(void)
{
	static const char *const truths[] = {
		"(begin (define (f n) (cond ((= n 0) #t) (else (f (- n 1))))) (f 100000))",
		"(begin (define (f n) (case n ((0) #t) (else (f (- n 1))))) (f 100000))",
		"(begin (define (f n) (and #t (or #f (if (= n 0) #t (f (- n 1)))))) (f 100000))",
		("(begin (define (f n) (when #t (unless #f (begin 1 (if (= n 0) #t (f (- n "
		 "1))))))) "
		 "(f 100000))"),
		("(begin (define (f n) (let ((m n)) (let* ((k m)) (letrec ((j k)) (if (= j 0) #t "
		 "(f "
		 "(- j 1))))))) (f 100000))"),
		"(begin (define (f n) (if (= n 0) #t (apply f (list (- n 1))))) (f 100000))",
		"(begin (define (f n) (if (= n 0) #t (eval (list f (- n 1))))) (f 100000))",
		"(begin (define (f n) (do () (#t (if (= n 0) #t (f (- n 1)))))) (f 100000))",
		("(begin (define (f n) (cond ((- n 1) => (lambda (m) (if (< m 0) #t (f m)))))) (f "
		 "100000))"),
		("(begin (define-macro (next n) `(f (- ,n 1))) (define (f n) (if (= n 0) #t (next "
		 "n))) (f 10000))"),
		"(= 100000 (length (map (lambda (x) x) (vector->list (make-vector 100000 1)))))",
	};

	check_truths(truths, COUNT(truths));
}

int main(void)
{
	RUN(numbers_and_lists_compute);
	RUN(strings_compute);
	RUN(forms_compute);
	RUN(macros_and_environments_compute);
	RUN(continuations_compute);
	RUN(changes_are_seen);
	RUN(ports_are_read);
	RUN(additions_compute);
	RUN(tails_take_no_room);
	return test_done();
}
