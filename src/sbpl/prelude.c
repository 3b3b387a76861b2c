/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Procedures that call procedures, and names that are made of other names. In
 * Scheme they cost no C stack and are bounded like everything else. They have
 * no places: messages speak of the form that called them.
 */
#include "sbpl/profile.h"

#include "base/banned.h"

const char prelude_scheme[] =
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
	"(define (head stream) (car stream))"
	"(define (tail stream) (force (cdr stream)))"
	/* Procedures that end early, and what a text says to other Schemes. */
	"(macro (define-with-return form)"
	"  (list 'define (cadr form)"
	"        (list 'call/cc (cons 'lambda (cons '(return) (cddr form))))))"
	"(macro (make-environment form)"
	"  (list (append '(lambda ()) (cdr form) '((current-environment)))))"
	"(define *features* '(srfi-0 sbpl))"
	"(define (%has-feature? what)"
	"  (cond ((boolean? what) what)"
	"        ((symbol? what) (or (eq? what 'else) (pair? (memq what *features*))))"
	"        ((eq? (car what) 'not) (not (%has-feature? (cadr what))))"
	"        ((eq? (car what) 'and) (not (memq #f (map %has-feature? (cdr what)))))"
	"        ((eq? (car what) 'or) (pair? (memq #t (map %has-feature? (cdr what)))))"
	"        (else (error \"cond-expand: unknown operator\" (car what)))))"
	"(macro (cond-expand form)"
	"  (let loop ((clauses (cdr form)))"
	"    (cond ((null? clauses) #t)"
	"          ((%has-feature? (caar clauses)) (cons 'begin (cdar clauses)))"
	"          (else (loop (cdr clauses))))))"
	/* Files that are read. */
	"(define (call-with-input-file name f)"
	"  (let ((port (open-input-file name))) (and port (f port))))";

const char prelude_language[] =
	/* Called when a profile has been evaluated; profiles put their own in its place. */
	"(define (%finalize) #t)"
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
	/* Extensions that a container's processes hold. */
	"(define *sandbox-executable-bundle* \"com.apple.sandbox.executable\")"
	"(define *ios-sandbox-container* \"com.apple.sandbox.container\")"
	"(define *ios-sandbox-application-group* \"com.apple.sandbox.application-group\")"
	"(define *ios-sandbox-system-container* \"com.apple.sandbox.system-container\")"
	"(define *ios-sandbox-system-group* \"com.apple.sandbox.system-group\")"
	"(define (executable-bundle) (extension *sandbox-executable-bundle*))"
	"(define (container) (extension *ios-sandbox-container*))"
	"(define (application-group) (extension *ios-sandbox-application-group*))"
	"(define (system-container) (extension *ios-sandbox-system-container*))"
	"(define (system-group) (extension *ios-sandbox-system-group*))"
	/* Rules for what containers redirect: nothing does here, so the rules are as written. */
	"(macro (with-transparent-redirection form) (cons 'begin (cdr form)))"
	"(define *storage-classes* '())"
	"(define (define-storage-class name classes)"
	"  (when (member name *storage-classes*)"
	"    (error (string-append \"storage class \\\"\" name \"\\\" multiply defined\") name))"
	"  (set! *storage-classes* (cons name *storage-classes*))"
	"  (allow (with assign-storage-class name) storage-class-map classes))";
