/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Procedures that call procedures, and names that are made of other names. In
 * Scheme they cost no C stack and are bounded like everything else. They have
 * no places: messages speak of the form that called them.
 */
#include "sbpl/profile.h"

#include "base/banned.h"

const char prelude_text[] =
	/* Lists, without growth of the stack in their length. */
	"(define (map f l . more)"
	"  (if (null? more)"
	"      (let loop ((l l) (out '()))"
	"        (if (pair? l) (loop (cdr l) (cons (f (car l)) out)) (reverse out)))"
	"      (let loop ((ls (cons l more)) (out '()))"
	"        (if (memq #f (map pair? ls))"
	"            (reverse out)"
	"            (loop (map cdr ls) (cons (apply f (map car ls)) out))))))"
	"(define (for-each f l . more)"
	"  (if (null? more)"
	"      (let loop ((l l)) (when (pair? l) (f (car l)) (loop (cdr l))))"
	"      (let loop ((ls (cons l more)))"
	"        (unless (memq #f (map pair? ls))"
	"          (apply f (map car ls))"
	"          (loop (map cdr ls))))))"
	"(define (partition keep? l)"
	"  (let loop ((l l) (in '()) (out '()))"
	"    (cond ((null? l) (list (reverse in) (reverse out)))"
	"          ((keep? (car l)) (loop (cdr l) (cons (car l) in) out))"
	"          (else (loop (cdr l) in (cons (car l) out))))))"
	"(define (filter keep? l) (car (partition keep? l)))"
	/* TinyScheme's foldr: (f accumulated element), from the left. */
	"(define (foldr f x l) (if (null? l) x (foldr f (f x (car l)) (cdr l))))"
	/* Entitlements of the calling process. */
	"(define (entitlement-value v)"
	"  (cond ((string? v) (%entitlement-string v))"
	"        ((boolean? v) (%entitlement-boolean v))"
	"        (else (error \"entitlement-value argument must be string or boolean\"))))"
	"(define (entitlement-value-regex v)"
	"  (if (string? v)"
	"      (%entitlement-string-regex v)"
	"      (error \"entitlement-value-regex argument must be string\")))"
	"(define (require-entitlement name . value)"
	"  (cond ((null? value)"
	"         (require-all (%entitlement-load name) (%entitlement-boolean #t)))"
	"        ((null? (cdr value)) (require-all (%entitlement-load name) (car value)))"
	"        (else (error \"too many arguments to require-entitlement\"))))"
	/* Short names of single filters and modifiers. */
	"(define (debug-mode) (system-attribute sandbox-debug-mode))"
	"(define (process-is-plugin) (process-attribute is-plugin))"
	"(define (process-is-installer) (process-attribute is-installer))"
	"(define (datavault-file-filter) (file-attribute datavault))"
	"(define (rootless-file-filter) (file-attribute sip-protected))"
	"(define termination (with send-signal SIGKILL))"
	/* The number of an ioctl: a group letter and a number in it. */
	"(define (_IO group n)"
	"  (+ n (* 256 (char->integer (string-ref group 0)))))"
	"(define *storage-classes* '())"
	"(define (define-storage-class name classes)"
	"  (when (member name *storage-classes*)"
	"    (error (string-append \"storage class \" name \" multiply defined\")))"
	"  (set! *storage-classes* (cons name *storage-classes*))"
	"  (allow (with assign-storage-class name) storage-class-map classes))";
