#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py LAPBELT [WORD]: profiles meant to do harm, one a row. `lapbelt check` refuses each with
status 65 and a place, within a second of processor time (SECONDS in the environment: so many) and
256 MiB; the controls pass, and `lapbelt prove` and `lapbelt diff` end as soon. With WORD only rows
whose name has it in it; figures are printed beside each row, and with VERBOSE what was said."""

import hashlib
import os
import re
import resource
import subprocess
import sys
import tempfile

SECONDS = float(os.environ.get("SECONDS", "1")) # more on a machine that is busy or slow
MEBIBYTES = 256
TOP = "(version 1)\n"
RULE = TOP + "(allow default)\n(deny file-read* %s)\n"
LOOP = TOP + "(define (f x) %s)\n(f 1)\n"


def regex(text):
    return RULE % ('(regex #"%s")' % text)


def regexes(texts, separate=True):
    """One rule for each text, alternately allowed and denied, or one for all."""
    if not separate:
        return RULE % "".join('(regex #"%s")' % text for text in texts)
    words = ("allow", "deny")
    return TOP + "".join('(%s file-read* (regex #"%s"))\n' % (words[i % 2], text)
                         for i, text in enumerate(texts))


def name(i):
    """A path of 46 bytes that has next to nothing in common with others."""
    return "/" + (hashlib.sha256(b"%d" % i).hexdigest() * 2)[:45]


def nested(before, n, middle="", after=""):
    return TOP + before * n + middle + after * n


def crowd(n):
    """N texts that src/policy/texts.c looks for from about one slot on; another hash is no harder."""
    def product(word, factor):
        return (word ^ word >> 32) * factor * 0xbf58476d1ce4e5b9 % (1 << 50)
    def products(first, factor):
        words = (first + b"%07x" % i for i in range(1 << 17))
        return sorted((product(int.from_bytes(word, "little"), factor), word.decode()) for word in words)
    factor = 0x9e3779b97f4a7c15
    heads, tails = products(b"/", factor), products(b"x", (factor * 5 + 2) % (1 << 64))
    at, texts = 0, []
    for tail, text in reversed(tails): # a sum below 1 << 33, modulo 1 << 50
        low = -tail % (1 << 50)
        while at < len(heads) and heads[at][0] < low:
            at += 1
        i = at
        while i < len(heads) and heads[i][0] < low + (1 << 33):
            texts.append(heads[i][1] + text)
            i += 1
    return texts[:n]


# What may be said of what is fine in itself. Two policies that tell too much apart have no place.
TOO_MUCH = "large|states|steps|memory|bytes|nested deeper|the rules tell too many kinds of requests apart"

# What is refused is checked; what is fine is decided by, as warnings are no part of it.
REFUSED = ["check", "profile.sb"]
DECIDED = ["decide", "-f", "profile.sb", "file-read-data", "/x"]

DEEP = 1000000
BIG = 100 << 20
MUCH = 15 << 20 # almost what is read of a file
ALPHABET = "abcdefghijklmnopqrstuvwxyz"

CYCLES = [
    ("(length l)", "in a circle"),
    ("(reverse l)", "in a circle"),
    ("(append l '(1))", "in a circle"),
    ("(map car l)", "car: expected a list"),
    ("(map - l)", "steps|memory"),
    ("(for-each - l)", "steps|memory"),
    ("(foldr + 0 l)", "steps|memory"),
    ("(filter odd? l)", "steps|memory"),
    ("(equal? l (list* 1 2 3 l))", "steps|nested|memory"),
    ("(member 9 l)", "steps"),
    ("(assq 9 (list l))", None),
    ("(last-pair l)", "in a circle"),
    ("(list-tail l 1000000000000)", "steps"),
    ("(flatten l)", "steps|memory"),
    ("(take l 1000000000000)", "in a circle"),
    ("(list->vector l)", "in a circle"),
    ("(list->string (begin (set-car! l #\\a) l))", "in a circle"),
    ("(apply + l)", "in a circle"),
    ("(apply literal l)", "in a circle"),
    ("(apply allow l)", "in a circle"),
    ("(allow file-read* l)", "allow: expected operation"),
    ("(eval l)", "steps|memory"),
    ("(eval (list 'quasiquote l))", "steps|memory"),
    ("(eval (cons '+ l))", "steps|memory"),
    ("(eval (list 'let l 1))", "steps|memory"),
    ("(eval (list 'lambda l 1))", "steps|memory"),
    ("(list? l)", None),
    ("(display l)", None),
    ("(write l)", None),
    ("(error l)", r":3:1: \(1 2 3 1 2"),
    ("(throw l)", r":3:1: "),
    ("(+ 1 l)", r":3:1: "),
]

LOOPS = [
    ("(equal? l k)", "nested deeper"),
    ("(equal? v (vector v))", "nested deeper"),
    ("(flatten l)", "steps|memory"),
    ("(error l)", r":4:1: "),
    ("(error v)", r":4:1: "),
    ("(display v)", None),
    ("(eval l)", "nested deeper"),
    ("(eval (list 'quasiquote l))", "nested deeper"),
    ("(eval (list 'quasiquote v))", "nested deeper"),
    ("(allow file-read* l)", "allow: expected operation"),
]

# name, text (or what makes it), what the message says; None: it is fine (a control)
ROWS = [
    # Nesting.
    ("a million open lists", lambda: nested("(", DEEP), ":2:2001: text nested deeper"),
    ("a million lists", lambda: nested("(", DEEP, "", ")"), "nested deeper"),
    ("a million vectors", lambda: nested("#(", DEEP, "", ")"), "nested deeper"),
    ("a million quotes", lambda: nested("'", DEEP, "x"), ":2:2001: text nested deeper"),
    ("a million quasiquotes", lambda: nested("`", DEEP, "x"), "nested deeper"),
    ("a million unquotes", lambda: TOP + "`" + "," * DEEP + "x", "nested deeper"),
    ("a million splices", lambda: TOP + "`" + ",@" * DEEP + "x", "nested deeper"),
    ("a million quotes in lists", lambda: nested("('", DEEP, "x", ")"), "nested deeper"),
    ("a million require-nots", lambda: RULE % ("(require-not " * DEEP + '(literal "/")' + ")" * DEEP), "nested deeper"),
    ("a million require-anys", lambda: RULE % ("(require-any " * DEEP + '(literal "/")' + ")" * DEEP), "nested deeper"),
    ("filters nested by a loop", lambda: TOP + '(define (f n x) (if (= n 0) x (f (- n 1) (require-not x))))\n'
     '(deny file-read* (f 1000000 (literal "/")))', "nested deeper"),
    ("a million ifs", lambda: nested("(if #t ", DEEP, "1", ")"), "nested deeper"),
    ("a million lets", lambda: nested("(let ((x 1)) ", DEEP, "1", ")"), "nested deeper"),
    ("a million groups", lambda: regex("(" * DEEP + "a" + ")" * DEEP), "nested too deeply"),
    ("a million open groups", lambda: regex("(" * DEEP), "nested too deeply|unbalanced"),
    ("a million alternatives", lambda: regex("a|" * DEEP), None),
    ("a million stars", lambda: regex("a" + "*" * DEEP), "too many repetition"),
    ("a million stacked intervals", lambda: regex("a" + "{255}" * DEEP), "too many repetition|memory"),
    ("quasiquotes nested by a loop", lambda: TOP + "(define (f n x) (if (= n 0) x (f (- n 1) (list x))))\n"
     "(eval (list 'quasiquote (f 100000 1)))", "nested deeper"),
    ("equal? of deep lists", lambda: TOP + "(define (f n x) (if (= n 0) x (f (- n 1) (list x))))\n"
     "(equal? (f 1000000 1) (f 1000000 1))", "nested deeper|memory|steps"),
    ("an error about a deep list", lambda: TOP + "(define (f n x) (if (= n 0) x (f (- n 1) (list x))))\n"
     "(error \"deep\" (f 100000 1))", "deep"),
    # Size.
    ("100 MiB of blanks", lambda: TOP + " " * BIG + ")", "larger than"),
    ("100 MiB of a string", lambda: TOP + '"' + "a" * BIG + '"', "larger than"),
    ("100 MiB of an open string", lambda: TOP + '"' + "a" * BIG, "larger than"),
    ("100 MiB of a raw string", lambda: RULE % ('(literal #"/' + "a" * BIG + '")'), "larger than"),
    ("100 MiB of a symbol", lambda: TOP + "a" * BIG, "larger than"),
    ("100 MiB of a number", lambda: TOP + "1" * BIG, "larger than"),
    ("100 MiB of a comment", lambda: TOP + ";" + "a" * BIG, "larger than"),
    ("100 MiB of parentheses", lambda: TOP + "(" * BIG, "larger than"),
    ("100 MiB of pairs of parentheses", lambda: TOP + "()" * (BIG // 2), "larger than"),
    ("100 MiB of NUL", lambda: TOP + "\0" * BIG, "larger than"),
    ("100 MiB of lines", lambda: TOP + "\n" * BIG + ")", "larger than"),
    ("15 MiB of a string", lambda: TOP + '"' + "a" * MUCH + '"(', "unmatched|bytes"),
    ("15 MiB of a symbol", lambda: TOP + "a" * MUCH, "unbound|bytes|steps"),
    ("15 MiB of a path", lambda: RULE % ('(literal "/' + "a" * MUCH + '")'), "memory|large"),
    ("2 MiB of a path", lambda: RULE % ('(literal "/' + "a" * (2 << 20) + '")'), "memory|bytes|large|states|patterns"),
    ("2 MiB of a subpath", lambda: RULE % ('(subpath "/' + "a" * (2 << 20) + '")'), "memory|bytes|large|states|patterns"),
    ("2 MiB of a regex", lambda: regex("a" * (2 << 20)), "memory|bytes|large|states|patterns"),
    ("2 MiB of a name", lambda: TOP + '(deny mach-lookup (global-name "%s"))' % ("a" * (2 << 20)), "memory|bytes|large|states|patterns"),
    ("4 MiB of rules", lambda: TOP + "(allow file-read*)\n" * (4 << 16), "more than [0-9]* rules"),
    ("a million atoms", lambda: TOP + "(list " + " 1" * DEEP + ")(", ":2:1: .*memory"),
    ("a million symbols", lambda: TOP + "'(" + "".join(" s%d" % i for i in range(DEEP)) + ")(", "unmatched|memory|steps"),
    ("a million operations in a rule", lambda: TOP + "(allow" + " file-read*" * DEEP + ")", "rules|memory|steps"),
    ("a million filters in a rule", lambda: TOP + "(allow file-read*" + ' (literal "/a")' * DEEP + ")(", "unmatched|memory|steps|tests"),
    ("a million modifiers in a rule", lambda: TOP + "(allow file-read*" + ' (with report)' * DEEP + ")(", "unmatched|memory|steps"),
    ("700000 addresses in a rule", lambda: TOP + "(deny network-outbound" + ' (remote ip "*:80")' * 700000 + ")(", "unmatched|memory|steps|tests"),
    # Bytes.
    ("a NUL between forms", lambda: TOP + "\0", "illegal byte|NUL"),
    ("a NUL in a string", lambda: TOP + '"a\0b"', "NUL"),
    ("a NUL by escape", lambda: TOP + '(deny file-read* (literal "/a\\x00"))', "bad escape"),
    ("a NUL in a comment", lambda: TOP + ";\0\n)", r":3:1: "),
    ("a NUL in a symbol", lambda: TOP + "a\0b", "illegal byte|NUL"),
    ("a NUL as a character", lambda: TOP + "#\\\0", "illegal|undefined|NUL"),
    ("invalid UTF-8 in a symbol", lambda: TOP + "\udcff\udcfe", r"unbound variable: \\xff\\xfe"),
    ("invalid UTF-8 in a path", lambda: RULE % '(literal "/\udcff")', None),
    ("half a character at the end", lambda: TOP + "\udcc3", r"\\xc3"),
    ("control bytes", lambda: TOP + "\x1b[31m", r"illegal byte \\x1b"),
    # Regular expressions.
    ("ab of distance 20", lambda: regex("(a|b)*a" + "(a|b)" * 20), "large|states|steps|memory|bytes"),
    ("ab of distance 16, expanded", lambda: regex("(a|b|c|d|e|f)*a" + "(a|b)" * 16), None),
    ("ab of distance 200", lambda: regex("(a|b)*a" + "(a|b)" * 200), "large|states|steps|memory|bytes"),
    ("ab of distance 1000", lambda: regex("(a|b)*a" + "(a|b)" * 1000), "large|states|steps|memory|bytes"),
    ("anything at distance 16", lambda: regex("a" + "." * 16 + "b"), None),
    ("anything at distance 255", lambda: regex("a.{255}b"), "large|states|steps|memory|bytes"),
    ("what may be missing, 255 times", lambda: regex("\\.x*[,]-. ].?{255}[ab]y.?{255}z"),
     "large|states|steps|memory"),
    ("what may be missing, 65025 times", lambda: regex("..*{255}{255}*y./"), "large|states|steps|memory"),
    ("behind each of several", lambda: regex("(a.?{99}|b.?{99}|c.?{99}|d.?{99}|e.?{99})x.?{255}z"),
     "large|states|steps|memory"),
    ("anything at distance 65025", lambda: regex("a(.{255}){255}b"), "large|states|steps|memory|bytes"),
    ("intervals of intervals", lambda: regex("((a{255}){255}){255}"), "large|states|steps|memory|bytes"),
    ("intervals of empty", lambda: regex("((({255}|){255}){255}){255}"), "memory|large|repetition|work"),
    ("intervals of empty alternatives", lambda: regex("((((a|){255}){255}){255}){255}"), "memory|large|work|states"),
    ("nothing, very often", lambda: regex("(((((){255}){255}){255}){255}){255}"), None),
    ("40 unanchored words in turn", lambda: regexes([c + d + ".*" + d + c for c in "abcdefgh" for d in "ijklm"]), "large|states|steps|memory|bytes"),
    ("100 unanchored pairs in turn", lambda: regexes(["x%02d.*y%02d" % (i, i) for i in range(100)]), "large|states|steps|memory|bytes"),
    ("1000 unanchored pairs in turn", lambda: regexes(["x%03d.*y%03d" % (i, i) for i in range(1000)]), "large|states|steps|memory|bytes"),
    ("5000 unanchored pairs in turn", lambda: regexes(["x%04d.*y%04d" % (i, i) for i in range(5000)]), "large|states|steps|memory|bytes"),
    ("30 unanchored distances in turn", lambda: regexes(["a.{%d}b" % i for i in range(30)]), "large|states|steps|memory|bytes"),
    ("30 letters then letters in turn", lambda: regexes(["%s.*%s.*%s" % (a, b, a) for a in ALPHABET for b in "xyz"]), "large|states|steps|memory|bytes"),
    ("100 pairs in one union", lambda: regexes(["x%02d.*y%02d" % (i, i) for i in range(100)], False), "large|states|steps|memory|bytes"),
    ("1000 words in turn", lambda: regexes(["w%03d" % i for i in range(1000)]), None),
    ("20000 words in turn", lambda: regexes(["w%05d" % i for i in range(20000)]), "large|states|steps|memory|bytes"),
    ("10000 anchored words in turn", lambda: regexes(["^/w%05d/x$" % i for i in range(10000)]), None),
    ("a name with 100 pairs", lambda: TOP + "(deny mach-lookup " + "".join(
        '(global-name-regex #"x%02d.*y%02d")' % (i, i) for i in range(100)) + ")", "large|states|steps|memory|bytes"),
    ("1000 names that are each large", lambda: TOP + "".join(
        '(deny mach-lookup (global-name-regex #"%d.{12}b"))\n' % i for i in range(1000)), None),
    ("1000 paths that are each large", lambda: regexes(["%d.{12}b" % i for i in range(1000)]), "large|states|steps|memory|bytes"),
    ("100 paths alone in a block", lambda: TOP + "".join(
        '(deny file-read* (require-all (vnode-type DIRECTORY) (regex #"%d.{9}b")))\n' % i for i in range(100)), "large|states|steps|memory|bytes"),
    ("20 require-alls of regexes", lambda: RULE % ("(require-all " + "".join('(regex #"%s.*%s")' % (c, c) for c in ALPHABET) + ")"), "large|states|steps|memory|bytes"),
    ("a check of 20000 patterns", lambda: regexes(["a(b|c|d)*e%d$" % i for i in range(20000)], False), None),
    ("sets of all bytes", lambda: regex("[^/]*/" * 2000), None),
    ("one long alternation of stars", lambda: regex("(" + "|".join("%s*%s" % (a, b) for a in ALPHABET for b in ALPHABET) + ")*z"), None),
    # Many literals.
    ("100000 literals", lambda: TOP + "(deny file-read*" + "".join('(literal "/d%d/%d")' % (i % 100, i) for i in range(100000)) + ")", None),
    ("50000 subpaths in turn", lambda: TOP + "".join('(%s file-read* (subpath "/d%d/%d"))\n' % ("allow" if i % 2 else "deny", i % 100, i) for i in range(50000)), None),
    ("10000 subpaths of 46 bytes", lambda: TOP + "".join('(allow file-read* (subpath "%s"))\n' % name(i) for i in range(10000)), None),
    ("40000 subpaths of 46 bytes", lambda: TOP + "".join('(allow file-read* (subpath "%s"))\n' % name(i) for i in range(40000)), ":[2-9][0-9]*:.*(large|memory|bytes|steps)"),
    # Endless.
    ("a tail call without end", lambda: LOOP % "(f x)", "steps|memory"),
    ("a call without end", lambda: LOOP % "(+ 1 (f x))", "nested deeper"),
    ("two that call each other", lambda: TOP + "(define (f x) (g x))\n(define (g x) (f x))\n(f 1)", "steps|memory"),
    ("a named let without end", lambda: TOP + "(let loop ((x 1)) (loop x))", "steps|memory"),
    ("do without end", lambda: TOP + "(do ((i 0 (+ i 1))) (#f) i)", "steps|memory"),
    ("a macro that expands to itself", lambda: TOP + "(define-macro (m x) `(m ,x))\n(m 1)", "steps|memory"),
    ("a macro that grows", lambda: TOP + "(define-macro (m x) `(m (,x ,x)))\n(m 1)", "steps|memory"),
    ("a macro that nests", lambda: TOP + "(define-macro (m x) `(+ 1 (m ,x)))\n(m 1)", "nested deeper"),
    ("macro without end", lambda: TOP + "(macro (m form) form)\n(m)", "steps|memory"),
    ("eval without end", lambda: LOOP % "(eval '(f 1))", "steps|memory"),
    ("eval that nests", lambda: LOOP % "(+ 1 (eval '(f 1)))", "nested deeper"),
    ("apply without end", lambda: LOOP % "(apply f (list x))", "steps|memory"),
    ("apply that nests", lambda: LOOP % "(+ 1 (apply f (list x)))", "nested deeper"),
    ("map without end", lambda: LOOP % "(map f (list x x))", "nested deeper"),
    ("for-each without end", lambda: LOOP % "(for-each f (list x x))", "nested deeper|steps"),
    ("foldr without end", lambda: LOOP % "(foldr (lambda (a b) (f b)) 1 (list x x))", "nested deeper"),
    ("filter without end", lambda: LOOP % "(filter f (list x x))", "nested deeper"),
    ("a promise that forces itself", lambda: TOP + "(define p (delay (+ 1 (force p))))\n(force p)", "nested deeper"),
    ("a promise that forces itself last", lambda: TOP + "(define p (delay (force p)))\n(force p)", "nested deeper|steps"),
    ("a stream without end", lambda: TOP + "(define (s n) (cons-stream n (s (+ n 1))))\n"
     "(let loop ((x (s 1))) (loop (force (cdr x))))", "steps|memory"),
    ("with-filter without end", lambda: LOOP % '(with-filter (literal "/a") (f x))', "nested deeper"),
    ("with-filter that allows without end", lambda: LOOP % '(begin (with-filter (literal "/a") (allow file-read*)) (f x))', "rules|memory|steps"),
    ("rules without end", lambda: LOOP % "(begin (allow file-read*) (f x))", "rules"),
    ("operations without end", lambda: LOOP % "(begin (with-operations (list file-read*) (allow)) (f x))", "rules|memory|steps"),
    ("filters without end", lambda: LOOP % '(begin (literal "/a") (f x))', "memory|steps"),
    ("modifiers without end", lambda: LOOP % '(begin (with message "aaaaaaaaaaaaaaaaaaaaaaaaa") (f x))', "memory|steps"),
    ("big modifiers without end", lambda: TOP + "(define s (make-string 1000000 #\\a))(define (f x) (with message s) (f x)) (f 1)", "memory|steps"),
    ("errors without end", lambda: TOP + "(oops)\n" * DEEP, "oops"),
    ("symbols without end", lambda: TOP + "(define (f n) (string->symbol (number->string n)) (f (+ n 1)))\n(f 1)", "steps|memory"),
    ("symbols of one hash", lambda: TOP + "(define (f n) (gensym) (f n))(f 1)", "steps|memory"),
    ("definitions without end", lambda: TOP + "(define (f n) (eval (list 'define (string->symbol (number->string n)) n)) (f (+ n 1)))\n(f 1)", "steps|memory"),
    ("a scope without end", lambda: TOP + "(define (f x) (let ((y x)) (f (lambda () y))))\n(f 1)", "steps|memory"),
    # Growth.
    ("a list that grows", lambda: LOOP % "(f (cons x x))", "memory|steps"),
    ("a list that doubles", lambda: TOP + "(define (f x) (f (append x x)))\n(f '(1 2))", "memory|steps"),
    ("a string that doubles", lambda: TOP + '(define (f x) (f (string-append x x)))\n(f "ab")', "memory|steps"),
    ("a vector that doubles", lambda: TOP + "(define (f n) (make-vector n) (f (* n 2)))\n(f 2)", "memory|steps|integer"),
    ("a huge vector", lambda: TOP + "(make-vector 1000000000000)", "memory"),
    ("a huge string", lambda: TOP + "(make-string 1000000000000 #\\a)", "memory"),
    ("the hugest string", lambda: TOP + "(make-string 9223372036854775807 #\\a)", "memory"),
    ("huge strings again and again", lambda: TOP + "(define (f) (make-string 10000000 #\\a) (f))\n(f)", "memory|steps"),
    ("huge vectors again and again", lambda: TOP + "(define (f) (make-vector 1000000 1) (f))\n(f)", "memory|steps"),
    ("string-append of itself many times", lambda: TOP + '(define s (make-string 1000000 #\\a))(define (f) (string-append s s) (f))(f)', "memory|steps"),
    ("strings compared without end", lambda: TOP + "(define s (make-string 10000000 #\\a))(define t (make-string 10000000 #\\a))"
     "(define (f) (string=? s t) (f))(f)", "memory|steps"),
    ("substrings without end", lambda: TOP + "(define s (make-string 1000000 #\\a))(define (f) (substring s 0 999999) (f))(f)", "memory|steps"),
    ("regex-quote without end", lambda: TOP + "(define s (make-string 1000000 #\\a))(define (f) (regex-quote s) (f))(f)", "memory|steps"),
    ("split without end", lambda: TOP + "(define s (make-string 1000000 #\\a))(define (f) (split-string s #\\b) (f))(f)", "memory|steps"),
    ("numbers of strings without end", lambda: TOP + "(define s (string-append (make-string 1000000 #\\0) \"1\"))(define (f) (string->number s) (f))(f)", "memory|steps"),
    ("zeros of strings without end", lambda: TOP + "(define s (make-string 1000000 #\\0))(define (f) (string->number s) (f))(f)", "memory|steps"),
    ("symbols of strings without end", lambda: TOP + "(define s (make-string 1000000 #\\a))(define (f) (string->symbol s) (f))(f)", "memory|steps"),
    ("big patterns checked without end", lambda: TOP + '(define s (make-string 1000000 #\\a))(define (f) (regex s) (f))(f)', "memory|steps"),
    ("big literals without end", lambda: TOP + '(define s (make-string 1000000 #\\a))(define (f) (literal s) (f))(f)', "memory|steps"),
    ("path-ancestors without end", lambda: TOP + '(define (f) (path-ancestors "%s") (f))(f)' % ("/a" * 5000), "memory|steps"),
    ("path-ancestors of a long path", lambda: RULE % '(path-ancestors "%s")' % ("/a" * 100000), "memory|steps|large"),
    ("addresses without end", lambda: TOP + '(define s (string-append "localhost:" (make-string 1000000 #\\0) "1"))'
     '(define (f) (local ip s) (f))(f)', "port|memory|steps"),
    ("arguments that double", lambda: TOP + "(define (f x) (apply f (append x x)))\n(f '(1 2))", "memory|steps|arguments"),
    ("arguments that double, any number", lambda: TOP + "(define (f . x) (apply f (append x x)))\n(f 1 2)", "memory|steps"),
    ("length of a long list without end", lambda: TOP + "(define l (vector->list (make-vector 1000000)))(define (f) (length l) (f))(f)", "memory|steps"),
    ("list? of a long list without end", lambda: TOP + "(define l (vector->list (make-vector 1000000)))(define (f) (list? l) (f))(f)", "memory|steps"),
    ("member of a long list without end", lambda: TOP + "(define l (vector->list (make-vector 1000000)))(define (f) (memq 1 l) (f))(f)", "memory|steps"),
    ("vectors to lists without end", lambda: TOP + "(define v (make-vector 1000000))(define (f) (vector->list v) (f))(f)", "memory|steps"),
    ("sums of many without end", lambda: TOP + "(define l (vector->list (make-vector 500000 1)))(define (f) (apply + l) (f))(f)", "memory|steps"),
    ("case of many keys without end", lambda: TOP + "(define (f x) (case x ((%s) 1)) (f x))(f 99999)" % " ".join(map(str, range(50000))), "memory|steps"),
    ("scopes of many names", lambda: TOP + "(define (f %s) (g))(define (g) (f %s))(g)" % (
        " ".join("a%d" % i for i in range(3000)), " ".join("1" for i in range(3000))), "memory|steps"),
    ("a lambda of many names without end", lambda: TOP + "(define (f) (lambda (%s) 1) (f))(f)" % " ".join("a%d" % i for i in range(50000)), "memory|steps"),
    ("a let of many names without end", lambda: TOP + "(define (f) (let (%s) 1) (f))(f)" % " ".join("(a%d 1)" % i for i in range(5000)), "memory|steps"),
    ("equal? of a tree that shares", lambda: TOP + "(define (t n) (if (= n 0) 1 (let ((x (t (- n 1)))) (cons x x))))(equal? (t 60) (t 60))", "steps|memory"),
    ("flatten of a tree that shares", lambda: TOP + "(define (t n) (if (= n 0) 1 (let ((x (t (- n 1)))) (cons x x))))(flatten (t 60))", "steps|memory"),
    ("quasiquote of a tree that shares", lambda: TOP + "(define (t n) (if (= n 0) 1 (let ((x (t (- n 1)))) (list x x))))(eval (list 'quasiquote (t 60)))", "steps|memory"),
    ("an error about a tree that shares", lambda: TOP + "(define (t n) (if (= n 0) 1 (let ((x (t (- n 1)))) (list x x))))(error (t 60))", r"\(\("),
    ("a filter that shares", lambda: TOP + '(define (t n) (if (= n 0) (literal "/") (let ((x (t (- n 1)))) (require-any x x))))(deny file-read* (t 60))', "tests|nested|memory|steps"),
    ("a filter that shares, 18 deep", lambda: TOP + '(define (t n) (if (= n 0) (literal "/") (let ((x (t (- n 1)))) (require-any x x))))(deny file-read* (t 18))', None),
    ("a filter that shares, for children of the operation", lambda: TOP + '(define (t n) (if (= n 0) (xattr "a") (let ((x (t (- n 1)))) (require-any x x))))'
     '(define x (t 18))(define (f n) (deny default x) (f (- n 1)))(f 1)', "tests|nested|memory|steps"),
    ("a filter that shares, in 1000 rules", lambda: TOP + '(define (t n) (if (= n 0) (literal "/") (let ((x (t (- n 1)))) (require-any x x))))(define x (t 15))'
     '(define (f n) (deny file-read* x) (f (- n 1)))(f 1)', "tests|nested|memory|steps"),
    ("conditions that multiply", lambda: TOP + "(deny file-read* (require-all %s))" % "".join(
        '(require-any (literal "/a%d") (vnode-type DIRECTORY) (file-mode %d))' % (i, i) for i in range(5000)), None),
    ("texts of one hash", lambda: TOP + '(allow file-write* (regex #"^/z"))(allow file-read* (literal "/a"))(allow file-read* %s)' %
     "".join('(literal "%s")' % text for text in crowd(70000)), None),
    ("guards in every combination", lambda: TOP + "".join('(%s file-read* (require-all (prefix "/%s") (file-mode %d)))\n' % (
        ("allow", "deny")[i % 2], "a" * (i % 500), i) for i in range(20000)), None),
    # Continuations and catch.
    ("a continuation that is entered again without end", lambda: TOP + "(define k #f)\n"
     "(begin (call/cc (lambda (c) (set! k c))) (k 1))", "steps|memory"),
    ("call/cc that nests", lambda: LOOP % "(+ 1 (call/cc f))", "nested deeper|memory"),
    ("call/cc without end", lambda: LOOP % "(call/cc (lambda (c) (f c)))", "steps|memory"),
    ("continuations that are kept", lambda: TOP + "(define l '())\n"
     "(define (f) (call/cc (lambda (c) (set! l (cons c l)))) (f))\n(f)", "steps|memory"),
    ("continuations of a deep stack", lambda: TOP + "(define (f) (call/cc (lambda (c) c)) (f))\n"
     "(define (g n) (if (= n 0) (f) (+ 1 (g (- n 1)))))\n(g 1500)", "steps|memory"),
    ("jumps into a deep stack", lambda: TOP + "(define k #f)(define (g n) (if (= n 0) (call/cc (lambda (c) (set! k c) 0)) (+ 1 (g (- n 1)))))\n"
     "(begin (g 1500) (k 1))", "steps|memory"),
    ("two continuations in turn", lambda: TOP + "(define a #f)(define b #f)\n"
     "(begin (call/cc (lambda (c) (set! a c))) (call/cc (lambda (c) (set! b c))) (a 1))", "steps|memory"),
    ("call/cc around a rule without end", lambda: TOP + "(define k #f)\n"
     "(begin (call/cc (lambda (c) (set! k c))) (allow file-read*) (k 1))", "more than [0-9]* rules"),
    ("steps within catch", lambda: TOP + "(define (f x) (f x))(catch 1 (f 1))", "steps|memory"),
    ("memory within catch", lambda: TOP + "(catch 1 (make-string 1000000000000 #\\a))", "memory"),
    ("depth within catch", lambda: TOP + "(define (f x) (+ 1 (f x)))(catch 1 (f 1))", "nested deeper"),
    ("rules within catch", lambda: TOP + "(define (f) (allow file-read*) (f))(catch 1 (f))", "more than [0-9]* rules"),
    ("catch that nests", lambda: LOOP % "(catch 1 (f x))", "nested deeper"),
    ("catch whose handler nests", lambda: LOOP % "(catch (f x) (throw 1))", "nested deeper|steps|memory"),
    ("throw without end", lambda: LOOP % "(begin (catch 1 (throw x)) (f x))", "steps|memory"),
    # Ports.
    ("read of a string that nests", lambda: TOP + "(read (open-input-string (make-string 10000000 #\\()))", "nested deeper"),
    ("read of a huge string without end", lambda: TOP + "(define s (make-string 5000000 #\\a))"
     "(define (f) (read (open-input-string s)) (f))(f)", "steps|memory"),
    ("read of blanks without end", lambda: TOP + "(define s (make-string 5000000 #\\space))"
     "(define (f) (read (open-input-string s)) (f))(f)", "steps|memory"),
    ("read of a comment without end", lambda: TOP + '(define s (string-append ";" (make-string 5000000 #\\space)))'
     "(define (f) (read (open-input-string s)) (f))(f)", "steps|memory"),
    ("read of what is wrong without end", lambda: TOP + '(define s (string-append (make-string 5000000 #\\space) "#<"))'
     "(define (f) (catch 1 (read (open-input-string s))) (f))(f)", "steps|memory"),
    ("read of a huge string in a string without end", lambda: TOP + "(define s (string-append \"\\\"\" (make-string 5000000 #\\a) \"\\\"\"))"
     "(define (f) (read (open-input-string s)) (f))(f)", "steps|memory"),
    ("read-char of a huge string", lambda: TOP + "(define p (open-input-string (make-string 30000000 #\\a)))"
     "(define (f) (read-char p) (f))(f)", "steps|memory"),
    ("peek-char without end", lambda: TOP + "(define p (open-input-string \"a\"))(define (f) (peek-char p) (f))(f)", "steps|memory"),
    ("the end of a port without end", lambda: TOP + "(define p (open-input-string \"\"))(define (f) (read p) (f))(f)", "steps|memory"),
    ("ports without end", lambda: TOP + "(define (f) (open-input-string \"a\") (f))(f)", "steps|memory"),
    ("a port on a bad text", lambda: TOP + '(read (open-input-string "#<"))', "undefined sharp"),
    ("a port on an open text", lambda: TOP + '(read (open-input-string "(a"))', "unmatched"),
    ("a port on a wrong close", lambda: TOP + '(read (open-input-string "a\\n)"))(read (open-input-string ")"))', "unexpected"),
    ("files that are opened without end", lambda: LOOP % ('(begin (open-input-file "%s/empty.sb") (f x))' % os.getcwd()), "more than [0-9]* imports"),
    ("errors that are caught without end", lambda: LOOP % "(begin (catch 1 (car x)) (f x))", "steps|memory"),
    ("forms without effect", lambda: TOP + "signal " * 1000000, None),
    ("a name that is near to many", lambda: TOP + "".join("(define %s%05d 1)" % ("a" * 58, i) for i in range(50000)) +
     "(%s) " % ("a" * 58 + "bcdef") * 20, "unbound variable"),
    # Cycles.
] + [
    ("a cyclic list: " + form, lambda form=form: TOP + "(define l (list 1 2 3))(set-cdr! (cddr l) l)\n" + form, wanted)
    for form, wanted in CYCLES
] + [
    ("a list in itself: " + form, lambda form=form: TOP + "(define l (list 1 2))(set-car! l l)\n"
     "(define k (list 1 2))(set-car! k k)(define v (vector 1))(vector-set! v 0 v)\n" + form, wanted)
    for form, wanted in LOOPS
] + [
    # Output.
    ("display without end", lambda: LOOP % '(begin (display "aaaaaaaa") (f x))', "steps"),
    ("display of a big string without end", lambda: TOP + "(define s (make-string 10000000 #\\a))(define (f) (display s) (f))(f)", "steps|memory"),
    ("an error with a big string", lambda: TOP + "(error (make-string 100000000 #\\a))", "a"),
    ("an error with many words", lambda: TOP + "(apply error (vector->list (make-vector 1000000 \"a\")))", "a"),
    ("an unbound name of a megabyte", lambda: TOP + "(" + "a" * (1 << 20) + ")", "unbound"),
    ("a trace of a megabyte twice", lambda: TOP + '(trace "%s")(trace "a")' % ("a" * (1 << 20)), "only one trace"),
    # Imports.
    ("a file that imports itself", lambda: TOP + '(import "%s/profile.sb")' % os.getcwd(), "imports itself"),
    ("two files that import each other", lambda: TOP + '(import "%s/other.sb")' % os.getcwd(), "imports itself"),
    ("imports without end", lambda: LOOP % ('(begin (import "%s/empty.sb") (f x))' % os.getcwd()), "imports"),
    ("an import of a directory", lambda: TOP + '(import "/")', "/"),
    ("an import of a device", lambda: TOP + '(import "/dev/zero")', "/dev/zero"),
    ("an import of a name of a megabyte", lambda: TOP + '(import "%s")' % ("a" * (1 << 20)), "unable|long|name"),
    ("an import of an empty name", lambda: TOP + '(import "")', "unable|is"),
    ("an import of a big file", lambda: TOP + '(import "%s/big.sb")' % os.getcwd(), "nested deeper|bytes"),
]


def in_turn(filters):
    return "(version 1)\n(deny default)\n" + "".join(
        "(%s file-read* %s)\n" % (("allow", "deny")[i % 2], text) for i, text in enumerate(filters))


EXTENSIONS = in_turn('(require-all (extension "a%d") (extension "b%d"))' % (i, i) for i in range(30))
PAIRS = in_turn('(require-all (extension "a%d") (extension "a%d"))' % (i, (i * 7 + 1) % 30) for i in range(30))
NAMES = "(version 1)\n(deny default)\n" + "".join(
    '(%s mach-lookup (global-name-regex #"a%d.*b%d"))\n' % (("allow", "deny")[i % 2], i, i) for i in range(40))
DEEP_CLAIM = "never file-read-data " + "(require-not " * 5000 + '(literal "/")' + ")" * 5000

# name, profile, command; it ends in time, with an answer, or an error that says it is too much
PORTS = TOP + "(deny default)\n" + "".join(
    '(allow network-outbound (remote tcp "localhost:%d"))\n' % (20000 + i) for i in range(4000))

QUESTIONS = [
    ("check: pairs by the thousand", TOP + "(allow file-read* " + "".join(
        "(require-all (uid %d) (device-major %d))" % (i, i) for i in range(1000)) + ")", REFUSED),
    ("check: triples by the hundred", TOP + "(allow file-read* " + "".join(
        "(require-all (file-mode %d) (uid %d) (device-major %d))" % (i, i, i) for i in range(100)) + ")", REFUSED),
    ("check: triples in turn", TOP + "".join(
        "(%s file-read* (require-all (uid %d) (device-minor %d) (device-major %d)))" % (word, i, i, i)
        for i in range(150) for word in ("allow", "deny")), REFUSED),
    ("check: a rule for each of thousands of ports", PORTS, REFUSED),
    ("prove: require-alls of extensions", EXTENSIONS, ["prove", "-f", "profile.sb", 'never file-read-data subpath "/x"']),
    ("prove: extensions that share", PAIRS, ["prove", "-f", "profile.sb", 'never file-read-data subpath "/x"']),
    ("prove: regexes on one name", NAMES, ["prove", "-f", "profile.sb", 'never mach-lookup global-name "zz"']),
    ("prove: always, of regexes on one name", NAMES, ["prove", "-f", "profile.sb", 'always mach-lookup global-name-regex "a1.*b1"']),
    ("prove: an assertion of many regexes", TOP, ["prove", "-f", "profile.sb", "never mach-lookup " + "".join(
        '(global-name-regex "a%d.*b%d")' % (i, i) for i in range(40))]),
    ("prove: an assertion that nests", TOP, ["prove", "-f", "profile.sb", DEEP_CLAIM]),
    ("prove: an assertion without end", TOP, ["prove", "-f", "profile.sb", "never file-read-data (let f () (f))"]),
    ("diff: require-alls of extensions", EXTENSIONS, ["diff", "-f", "profile.sb", "-f", "empty.sb"]),
    ("diff: require-alls of extensions with others", EXTENSIONS, ["diff", "-f", "profile.sb", "-p", PAIRS]),
    ("diff: extensions that share", PAIRS, ["diff", "-f", "profile.sb", "-p", TOP + "(deny default)"]),
    ("diff: regexes on one name", NAMES, ["diff", "-f", "profile.sb", "-p", TOP + "(allow default)"]),
    ("diff: regexes on one name with others", NAMES, ["diff", "-f", "profile.sb", "-p", NAMES.replace("a", "c").replace("cllow", "allow").replace("mcch", "mach").replace("nCme", "name").replace("globcl-ncme", "global-name").replace("defcult", "default")]),
]


def write(path, text):
    """In a process of its own, so that its memory does not count as lapbelt's."""
    child = os.fork()
    if child == 0:
        with open(path, "w", errors="surrogateescape") as file:
            file.write(text())
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("cannot write " + path)


def measure(command):
    """Status, standard error, seconds of processor time, MiB."""
    with tempfile.TemporaryFile() as file:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        file.seek(0)
        text = file.read(100000).decode(errors="surrogateescape")
    return [child.returncode, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]


def judge(wanted, status, text, seconds, size):
    """What is wrong, or None."""
    if wanted is None and status not in (0, 1, 65):
        return "status %d" % status
    if wanted is None and status == 65:
        wanted = TOO_MUCH
    if wanted and status != 65:
        return "status %d, not 65" % status
    if wanted and not re.search(wanted, text):
        return "no message that matches " + wanted
    if wanted and not re.match(r"(lapbelt: )?[^ ]*:[0-9]+:[0-9]+: |lapbelt: the rules tell", text):
        return "no place"
    if len(text) > 40000:
        return "%d bytes of messages" % len(text)
    if seconds > SECONDS:
        return "too slow"
    if size > MEBIBYTES:
        return "too large"
    return None


def best(command):
    """Of up to three: other work on the machine makes us slower, and never quicker."""
    found = measure(command)
    for _ in range(2):
        if found[2] > SECONDS:
            again = measure(command)
            found[2] = min(found[2], again[2])
    return found


def main():
    lapbelt, word = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    count = failed = 0
    most = [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write("other.sb", lambda: '(import "%s/profile.sb")' % folder)
        write("empty.sb", lambda: TOP)
        write("big.sb", lambda: "(" * MUCH)
        rows = [(name, text, wanted, REFUSED if wanted else DECIDED) for name, text, wanted in ROWS]
        rows += [(name, lambda text=text: text, None, command) for name, text, command in QUESTIONS]
        for name, text, wanted, command in rows:
            if word not in name:
                continue
            write("profile.sb", text)
            status, message, seconds, size = best([lapbelt] + command)
            wrong = judge(wanted, status, message, seconds, size)
            count += 1
            failed += wrong is not None
            most = [max(most[0], seconds), max(most[1], size)]
            print("%sok %d - %s # %.2f s, %.0f MiB" % ("not " if wrong else "", count, name, seconds, size))
            if wrong or os.environ.get("VERBOSE"):
                print("# %s (%s): %s" % (wrong, status, message[:300].rstrip().replace("\n", "\n#  ")))
            sys.stdout.flush()
        print("# at most %.2f s, %.0f MiB" % tuple(most))
    print("1..%d" % count)
    return failed != 0


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.exit(main())
