# Scheme: each procedure and form is asked for what it gives; the rule is there only if all is right.

=== pairs
(version 1)
(deny default)
(define m (list 1 2 3))
(set-car! m 'a)
(set-cdr! (cdr m) '())
(define t '((((1 2) 3 . 4) (5 6) 7 8) ((9) 10) (11 12) 13 14))
(define d '(1 (2 (3 4) 5) (6 7) 8 9))
(if (and (equal? (cons 1 2) '(1 . 2)) (equal? m '(a 2)) (equal? (car d) 1) (equal? (cddr d) '((6 7) 8 9))
         (equal? (caar t) '((1 2) 3 . 4)) (equal? (caaar t) '(1 2)) (equal? (caaaar t) 1) (equal? (cdaaar t) '(2))
         (equal? (cdaar t) '(3 . 4)) (equal? (cadaar t) 3) (equal? (cddaar t) 4) (equal? (cdar t) '((5 6) 7 8))
         (equal? (cadar t) '(5 6)) (equal? (caadar t) 5) (equal? (cdadar t) '(6)) (equal? (cddar t) '(7 8))
         (equal? (caddar t) 7) (equal? (cdddar t) '(8)) (equal? (cadr d) '(2 (3 4) 5)) (equal? (caadr d) 2)
         (equal? (cdadr d) '((3 4) 5)) (equal? (cadadr d) '(3 4)) (equal? (cddadr d) '(5)) (equal? (caaadr t) 9)
         (equal? (cdaadr t) '()) (equal? (caddr d) '(6 7)) (equal? (caaddr d) 6) (equal? (cdaddr d) '(7))
         (equal? (cdddr d) '(8 9)) (equal? (cadddr d) 8) (equal? (cddddr d) '(9)))
    (allow process-fork))
---
process-fork => allow

=== lists and association lists
(version 1)
(deny default)
(define l (list 1 2 3))
(if (and (equal? (list* 1 2 '(3)) l) (equal? (append l '(4) '()) '(1 2 3 4)) (equal? (reverse l) '(3 2 1))
         (= (length l) 3) (equal? (list-tail l 1) '(2 3)) (= (list-ref l 2) 3) (equal? (take l 2) '(1 2))
         (equal? (drop l 2) '(3)) (equal? (last-pair l) '(3)) (equal? (flatten '(1 (2 (3)) 4)) '(1 2 3 4))
         (equal? (memq 'b '(a b c)) '(b c)) (equal? (memv 2 l) '(2 3)) (equal? (member "b" '("a" "b")) '("b"))
         (not (memq 'z '(a))) (equal? (assq 'b '((a 1) (b 2))) '(b 2)) (equal? (assv 2 '((1 . a) (2 . b))) '(2 . b))
         (equal? (assoc "x" '(("x" . 1))) '("x" . 1)) (equal? (acons 1 2 '()) '((1 . 2)))
         (eq? 'a 'a) (eqv? 2 2) (not (eq? "a" "a")) (equal? '(1 #(2 "x")) (list 1 (vector 2 "x")))
         (equal? (map + l l) '(2 4 6)) (= (foldr + 0 l) 6) (equal? (filter odd? l) '(1 3))
         (equal? (partition odd? l) '((1 3) (2))))
    (allow process-fork))
---
process-fork => allow

=== lists without an end
(version 1)
(deny default)
(define one (list 1))
(set-cdr! one one)
(define three (list 1 2 3))
(set-cdr! (cddr three) three)
(define late (list 1 2 3 4 5 6 7))
(set-cdr! (list-tail late 6) (cdr (cdddr late))) ; the list itself, not a copy
(define (long n) (if (= n 0) '() (cons n (long (- n 1)))))
(define many (reverse (long 1000)))
(set-cdr! (last-pair many) (list 0))
(if (and (not (list? one)) (not (list? three)) (not (list? late)) (not (list? (cons 0 late))) (not (list? '(1 . 2)))
         (not (list? 1)) (list? many) (list? '()) (= (length many) 1001)
         (= (list-ref three 100) 2))
    (allow process-fork))
---
process-fork => allow

=== nothing is written, and nothing is wrong with it
(version 1)
(deny default)
(if (equal? (list (display "text") (write 'a) (newline)) (list (display 1) (write "b" #f) (newline #t)))
    (allow process-fork))
---
process-fork => allow

=== vectors
(version 1)
(deny default)
(define v (make-vector 2 'x))
(vector-set! v 1 (vector 1))
(define w (vector 1 2))
(vector-fill! w 0)
(if (and (eq? (vector-ref v 0) 'x) (equal? v #(x #(1))) (= (vector-length v) 2) (equal? (vector->list #(1 2)) '(1 2))
         (equal? (list->vector '(1 2)) #(1 2)) (equal? w #(0 0)) (equal? `#(1 ,(+ 1 1) ,@'(3)) #(1 2 3)))
    (allow process-fork))
---
process-fork => allow

=== what a thing is
(version 1)
(deny default)
(macro (mac form) 1)
(define (all? what . things) (not (memq #f (map what things))))
(define (none? what . things) (not (memq #t (map what things))))
(if (and (all? null? '()) (all? pair? '(1)) (all? boolean? #t #f) (all? symbol? 'a) (all? string? "a") (all? char? #\a)
         (all? number? 1) (all? integer? 1) (all? real? 1) (all? rational? 1) (all? complex? 1) (all? exact? 1)
         (all? vector? #(1)) (all? environment? (current-environment) (interaction-environment))
         (all? closure? all?) (all? macro? mac) (all? sbpl-filter? (literal "/")) (all? list? '() '(1)) (all? not #f)
         (all? atom? 1 'a) (all? procedure? car all?) (all? port? (open-input-string ""))
         (none? null? 1 '(1)) (none? pair? 1 '()) (none? list? '(1 . 2) 1) (none? symbol? "a" 1) (none? procedure? 1 'car)
         (none? sbpl-filter? "/") (none? output-port? 1) (defined? 'car) (not (defined? 'no-such-name)))
    (allow process-fork))
---
process-fork => allow

=== numbers
(version 1)
(deny default)
(if (and (= (+ 1 2 3) 6) (= (- 5) -5) (= (- 5 1 1) 3) (= (* 2 3 4) 24) (= (/ 12 3 2) 2) (= (quotient -7 2) -3)
         (= (remainder -7 2) -1) (= (modulo -7 2) 1) (= (min 3 1 2) 1) (= (max 3 1 2) 3) (= (gcd 12 18) 6)
         (= (lcm 4 6) 12) (= (abs -3) 3) (= (succ 1) 2) (= (pred 1) 0) (< 1 2 3) (> 3 2 1) (<= 1 1 2) (>= 2 1 1)
         (<> 1 2) (not (= 1 2)) (not (< 1 1)) (zero? 0) (positive? 1) (negative? -1) (even? 2) (odd? 1)
         (= #xff 255) (= #o17 15) (= #b101 5) (= #d9 9) (= (string->number "ff" 16) 255)
         (equal? (number->string 255 16) "ff"))
    (allow process-fork))
---
process-fork => allow

=== characters and strings
(version 1)
(deny default)
(define s (make-string 2 #\a))
(string-set! s 1 #\b)
(define f (string-copy s))
(string-fill! f #\z)
(if (and (equal? s "ab") (equal? f "zz") (equal? (string-append "a" "b" "") "ab") (= (string-length s) 2)
         (eq? (string-ref s 0) (string-ref "a" 0)) (equal? (substring "abcd" 1 3) "bc") (equal? (string #\a #\b) "ab")
         (equal? (list->string '(#\a)) "a") (equal? (string->list "ab") '(#\a #\b)) (eq? (string->symbol "x") 'x)
         (equal? (symbol->string 'x) "x") (eq? (string->atom "x") 'x) (equal? (atom->string 'x) "x")
         (string=? "a" "a") (string<? "a" "b") (string>? "b" "a") (string<=? "a" "a") (string>=? "b" "a")
         (string-ci=? "A" "a") (string-ci<? "A" "b") (string-ci>? "b" "A") (string-ci<=? "A" "a") (string-ci>=? "B" "a")
         (char=? #\a #\a) (char<? #\a #\b) (char>? #\b #\a) (char<=? #\a #\a) (char>=? #\b #\a)
         (char-ci=? #\A #\a) (char-ci<? #\A #\b) (char-ci>? #\b #\A) (char-ci<=? #\A #\a) (char-ci>=? #\B #\a)
         (equal? (char-upcase #\a) #\A) (equal? (char-downcase #\A) #\a) (= (char->integer #\a) 97)
         (equal? (integer->char 97) #\a) (not (eq? (gensym) (gensym))) (equal? "\x41;\102\n" "A;B
"))
    (allow process-fork))
---
process-fork => allow

=== forms
(version 1)
(deny default)
(define x 1)
(define-once x 2)
(define y 2)
(set! y (+ y 1))
(define (opt a . more) (list a more))
(define-macro (twice e) `(begin ,e ,e))
(macro (second form) (caddr form))
(define n 0)
(twice (set! n (+ n 1)))
(if (and (= x 1) (= y 3) (= n 2) (equal? (opt 1 2 3) '(1 (2 3))) (= (second 1 2) 2)
         (equal? (when #t 1 2) 2) (equal? (unless #f 1 2) 2) (and) (not (or)) (equal? (or #f 2) 2)
         (equal? (cond (#f 1) ((assv 2 '((2 . b))) => cdr) (else 3)) 'b)
         (equal? (case 3 ((1 2) 'few) ((3) 'three) (else 'many)) 'three)
         (= (let ((a 1) (b 2)) (+ a b)) 3) (= (let* ((a 1) (b (+ a 1))) b) 2)
         (letrec ((e? (lambda (n) (if (= n 0) #t (o? (- n 1))))) (o? (lambda (n) (if (= n 0) #f (e? (- n 1)))))) (e? 10))
         (= (let loop ((i 0)) (if (< i 5) (loop (+ i 1)) i)) 5) (= (do ((i 0 (+ i 1)) (s 0 (+ s i))) ((= i 4) s)) 6)
         (= ((lambda args (length args)) 1 2) 2) (equal? `(1 ,@(list 2 3) . 4) '(1 2 3 . 4)))
    (allow process-fork (with message "all")))
(if (equal? `(1 `(2 ,(3 ,(+ 1 3)))) '(1 `(2 ,(3 4)))) (allow signal))
---
process-fork       => allow
signal target=self => allow

=== control
(version 1)
(deny default)
(define p (delay (begin (set! runs (+ runs 1)) 5)))
(define runs 0)
(define k #f)
(define turns 0)
(put 'a 'color 'red)
(if (and (= (force p) 5) (= (force p) 5) (= runs 1) (= (apply + 1 2 '(3)) 6) (= (eval '(+ 1 2)) 3)
         (= (catch 7 (throw "no")) 7) (= (catch 7 8) 8) (= (call-with-current-continuation (lambda (k) (k 1) 2)) 1)
         (eq? (get 'a 'color) 'red) (= (head (tail (cons-stream 1 (list 2)))) 2))
    (allow process-fork))
(call/cc (lambda (c) (set! k c)))
(set! turns (+ turns 1))
(display "x") (write "x") (newline) (gc)
(if (< turns 3) (k 1))
(if (= turns 1) (allow signal))
---
process-fork       => allow
signal target=self => allow

=== ports
(version 1)
(deny default)
(define in (open-input-string "(a . b) xy"))
(define datum (read in))
(read-char in)
(define ahead (peek-char in))
(if (and (equal? datum '(a . b)) (equal? ahead #\x) (equal? (read-char in) #\x) (char-ready? in) (input-port? in)
         (not (output-port? in)) (eq? (read in) 'y) (eof-object? (read in)) (eof-object? (read-char in))
         (not (open-input-file "/no/such/file")) (not (open-output-file "/x")))
    (allow process-fork))
(close-input-port in)
(close-port in)
---
process-fork => allow
