# The language: what profiles may say, and which rules that makes. Decisions among rules, and outcomes known
# from macOS: seatbelt.sbt. Where public sources leave a question open, the case says "our reading".

# ---- Text --------------------------------------------------------------------------------------

=== strings, escapes and raw strings
(version 1)
(deny default)
(allow file-read-data (literal "/a\x41\102\t\"\q"))
(allow file-read-data (literal #"/a\x\"))
(allow file-read-data (literal "/two
lines"))
(allow file-read-data (literal "/é"))
---
file-read-data "/aAB\t\"q"   => allow 3
file-read-data "/a\\x\\"     => allow 4
file-read-data "/two\nlines" => allow 5
file-read-data "/\xc3\xa9"   => allow 7
file-read-data /aAB          => deny 2

=== comments
(version 1)
; (allow default)
#! (allow default)
(deny default) ; (allow default)
(allow file-read-data #!(literal "/a")
  (literal "/b"))
---
file-read-data /b => allow 5
file-read-data /a => deny 4
process-fork      => deny 4

=== block comments are none: our reading
(version 1)
#| (allow default) |#
---
!! 2:1 undefined sharp expression

=== names compare without case
(Version 1)
(DENY Default)
(Allow FILE-READ-DATA (Literal "/a") (Vnode-Type directory))
(define Name "/B")
(allow file-read-data (literal NAME))
---
file-read-data /a                      => allow 3
file-read-data /x vnode-type=DIRECTORY => allow 3
file-read-data /B                      => allow 5
file-read-data /c                      => deny 2

=== numbers and characters
(version 1)
(deny default)
(allow file-read-data (file-mode #o0004))
(allow file-write-data (file-mode #x4))
(allow file-write-mode (file-mode #b100))
(allow file-write-owner (file-mode #d4))
(allow file-write-create (literal (string #\/ #\x61 #\space #\tab)))
---
file-read-data /x mode=0644   => allow 3
file-write-data /x mode=0644  => allow 4
file-write-mode /x mode=0644  => allow 5
file-write-owner /x mode=0644 => allow 6
file-write-create "/a \t"     => allow 7
file-read-data /x mode=0640   => deny 2

=== real numbers: our reading
(version 1)
(define x 1.5)
---
!! 2:11 only 64-bit integers are numbers here

# ---- Scheme ------------------------------------------------------------------------------------

=== choices
@param MODE=b
(version 1)
(deny default)
(define (allow-reading path) (allow file-read-data (literal path)))
(cond ((not (param "MODE")) (allow default))
      ((string=? (param "MODE") "a") (allow-reading "/a"))
      (else (allow-reading "/b")))
(case (string-length (param "MODE")) ((0) (allow default)) ((1 2) (allow-reading "/1")))
(if (and (param "MODE") (or #f (param "NONE"))) (allow default) (allow-reading "/if"))
(unless (param "NONE") (allow-reading "/unless"))
---
file-read-data /b      => allow
file-read-data /1      => allow
file-read-data /if     => allow
file-read-data /unless => allow
file-read-data /a      => deny 2
process-fork           => deny 2

=== loops
(version 1)
(deny default)
(do ((i 0 (+ i 1))) ((= i 3))
  (allow file-read-data (literal (string-append "/do" (number->string i)))))
(let loop ((i 0))
  (if (< i 3)
      (begin (allow file-read-data (literal (string-append "/let" (number->string i))))
             (loop (+ i 1)))))
(for-each (lambda (p) (allow file-write-data (literal p))) '("/x" "/y"))
(apply allow file-write-create (map literal (list "/m" "/n")))
---
file-read-data /do2   => allow 4
file-read-data /do3   => deny 2
file-read-data /let2  => allow 7
file-read-data /let3  => deny 2
file-write-data /y    => allow 9
file-write-create /n  => allow 10

=== a loop may go on for long
(version 1)
(deny default)
(define (count n) (cond ((= n 0) (allow process-fork)) (else (count (- n 1)))))
(count 100000)
---
process-fork => allow 3

=== macros and quasiquotation
(version 1)
(deny default)
(macro (also form) `(begin (allow ,@(cdr form)) (allow file-write-data ,(caddr form))))
(also file-read-data (subpath "/m"))
(define-macro (reading . paths) `(allow file-read-data ,@(map (lambda (p) `(literal ,p)) paths)))
(reading "/a" "/b")
---
file-read-data /m/x  => allow
file-write-data /m/x => allow
file-read-data /b    => allow
file-write-data /b   => deny 2

=== procedures that end early, and errors that are caught
(version 1)
(deny default)
(define-with-return (first-long words)
  (for-each (lambda (w) (if (> (string-length w) 3) (return w))) words)
  "/none")
(allow file-read-data (literal (first-long '("/a" "/long" "/longer"))))
(catch (allow process-fork) (throw "no"))
(catch (allow signal) (import "no/such/file.sb"))
(allow file-read-data (literal (call/cc (lambda (out) (out "/out") "/in"))))
---
file-read-data /long   => allow 6
file-read-data /longer => deny 2
process-fork           => allow 7
signal target=self     => allow 8
file-read-data /out    => allow 9
file-read-data /in     => deny 2

=== promises, environments, streams
(version 1)
(deny default)
(define later (delay (begin (allow process-fork) "/later")))
(allow file-read-data (literal (force later)))
(allow file-write-data (literal (eval 'p (let ((p "/here")) (current-environment)))))
(allow file-write-mode (literal (tail (cons-stream 1 "/tail"))))
(cond-expand ((and srfi-0 (not windows)) (allow signal)) (else (allow default)))
---
process-fork           => allow 3
file-read-data /later  => allow 4
file-write-data /here  => allow 5
file-write-mode /tail  => allow 6
signal target=self     => allow 7

=== lists: Apple's additions
(version 1)
(deny default)
(define all '("/a" "/bb" ("/c" ("/dd"))))
(define (long? s) (= (string-length s) 3))
(apply allow file-read-data (map literal (filter long? (flatten all))))
(allow file-write-data (apply literal (take all 2)))
(apply allow file-write-mode (map literal (car (partition long? (drop (flatten all) 2)))))
---
file-read-data /bb  => allow 5
file-read-data /dd  => allow 5
file-read-data /a   => deny 2
file-write-data /a  => allow 6
file-write-data /c  => deny 2
file-write-mode /dd => allow 7
file-write-mode /bb => deny 2

=== texts
(version 1)
(deny default)
(allow file-read-data (regex (string-append "^" (regex-quote "/a+b(c).d") "$")))
(apply allow file-write-data (map literal (split-string "/x:/y" #\:)))
(apply allow file-write-mode (map literal (%string-split "/x:/z" ":")))
(allow file-write-owner (literal (substring "xx/p" 2)))
(eval (read (open-input-string "(allow file-write-create (literal \"/read\"))")))
---
file-read-data /a+b(c).d => allow 3
file-read-data /aabcxd   => deny 2
file-write-data /y       => allow 4
file-write-mode /z       => allow 5
file-write-owner /p      => allow 6
file-write-create /read  => allow

=== a definition takes one expression
(version 1)
(deny default)
(define paths (literal "/a") (literal "/b"))
(allow file-read-data paths)
---
file-read-data /a => allow 4
file-read-data /b => deny 2

=== defined once
(version 1)
(deny default)
(define-once p "/first")
(define-once p "/second")
(allow file-read-data (literal p))
---
file-read-data /first  => allow 5
file-read-data /second => deny 2

=== what is defined can be asked
(version 1)
(deny default)
(when (defined? 'syscall-unix) (allow process-fork))
(when (defined? 'no-such-operation) (allow default))
(when (defined? 'xattr-prefix) (allow signal))
---
process-fork       => allow 3
signal target=self => allow 5
file-read-data /x  => deny 2

=== endless recursion
(version 1)
(define (f) (+ 1 (f)))
(f)
---
!! 2:13 evaluation nested deeper than 2000 levels

=== an endless loop
(version 1)
(let loop () (loop))
---
!! 2:14 the profile takes more than 10000000 steps

=== an error of the profile's own
(version 1)
(error "not for" 'this "machine" 7)
---
!! 2:1 not for this "machine" 7

=== a profile is evaluated to its end
(version 1)
(allow default)
(quit)
---
!! 3:1 quit: a profile is evaluated to its end

# ---- Versions ----------------------------------------------------------------------------------

=== version 2: our reading
(version 2)
(deny default)
(allow ipc-posix-shm file-unlink)
---
ipc-posix-shm-write-create /s => allow 3
file-write-unlink /x          => allow 3
process-info-pidinfo          => allow -

=== version 3 knows no names of old
(version 3)
(allow ipc-posix-shm)
(allow iokit-open)
(allow mach-per-user-lookup)
(deny file-unlink)
---
!! 2:8 unbound variable: ipc-posix-shm
!! 3:8 unbound variable: iokit-open
!! 4:8 unbound variable: mach-per-user-lookup
!! 5:7 unbound variable: file-unlink

=== version 3: nothing is allowed on its own
(version 3)
(deny default)
(allow syscall* system-mac-syscall)
(allow ipc-posix-shm-read* ipc-posix-shm-write*)
(unless *import-path* (allow mach-bootstrap))
---
syscall-unix syscall-number=5 => allow 3
system-mac-syscall            => allow 3
system-fcntl                  => deny 2
file-lock /x                  => deny 2
ipc-posix-shm-read-data /s    => allow 4
mach-bootstrap                => allow 5
file-link /x                  => deny 2

=== version 3: a wildcard reaches what falls back to it
(version 3)
(deny default)
(allow file*)
(deny system*)
(allow system-mac* (mac-policy-name "Quarantine"))
---
file-lock /x       => allow 3
file-link /x       => deny 2
system-mac-syscall => deny 4

=== versions 1 and 2: what newer systems allow on their own: our reading
(version 1)
(deny default)
---
file-lock /x                => allow -
system-fcntl                => allow -
socket-option-set           => allow -
syscall-mach                => allow -
mach-bootstrap              => allow -
process-exec-update-label /x => allow -
file-ioctl /x               => deny 2

=== every version may import what stands in for Apple's profiles
(version 3)
(deny default)
(import "system.sb")
(import "bsd.sb")
(import "com.apple.corefoundation.sb")
(import "dyld-support.sb")
(system-network)
(corefoundation)
---
signal target=self => allow
mach-lookup a      => deny 2

=== what the loader opens, and no more
@linux
(version 3)
(deny default)
(import "dyld-support.sb")
---
file-read-data /                              => allow
file-read-data /usr/lib/libc.so.6             => allow
file-map-executable /lib64/ld-linux-x86-64.so.2 => allow
file-read-data /etc/ld.so.cache               => allow
file-read-data /etc/passwd                    => deny 2
file-read-data /usr/bin/env                   => deny 2
file-map-executable /tmp/libc.so              => deny 2
file-write-data /usr/lib/libc.so.6            => deny 2
process-exec* /usr/lib/ld.so                  => deny 2
sysctl-read kern.osrelease                    => deny 2

=== a version is said once, or twice the same
(version 1)
(version 1)
(version 2)
---
!! 3:1 only one version may be specified

=== sysctl-write of versions 1 and 2 is all of sysctl
(version 1)
(deny default)
(allow sysctl-write (sysctl-name "kern.a"))
---
sysctl-write kern.a => allow 3
sysctl-read kern.a  => allow 3
sysctl-read kern.b  => deny 2

=== sysctl-write of version 3 is itself
(version 3)
(deny default)
(allow sysctl-write (sysctl-name "kern.a"))
---
sysctl-write kern.a => allow 3
sysctl-read kern.a  => deny 2

# ---- Rules -------------------------------------------------------------------------------------

=== names that are gone are dropped without a word
(version 1)
(deny default)
(allow mach-per-user-lookup)
(allow system-chud qtn-download ipc-posix-shm-read-metadata process-fork)
---
process-fork  => allow 4
mach-lookup a => deny 2

=== older names
(version 1)
(deny default)
(allow process-exec (path-literal "/pe"))
(allow ipc-posix-sem)
(allow file-fsctl)
(allow time-set)
(allow file-issue-extension-read (literal "/ie"))
(allow file-write-umount (literal "/um"))
(allow managed-preference*)
(allow iokit-open)
(allow ipc-posix-shm-read* (ipc-posix-name "s"))
(allow file-read-data (path "/p") (path-prefix "/q") (path-regex #"^/r[0-9]$"))
(allow file-write-data (tty))
(allow network-outbound (to ip "localhost:1") (from ip "localhost:2"))
---
process-exec* /pe              => allow 3
ipc-posix-sem-open a           => allow 4
system-fsctl                   => allow 5
system-set-time                => allow 6
file-issue-extension /ie       => allow 7
file-unmount /um               => allow 8
managed-preference-read        => allow 9
iokit-open-user-client         => allow 10
ipc-posix-shm-read-data s      => allow 11
file-read-data /p              => allow 12
file-read-data /qq             => allow 12
file-read-data /r1             => allow 12
file-write-data /x vnode-type=TTY => allow 13
network-outbound 127.0.0.1:1   => allow 14

=== wrappers
(version 1)
(deny default)
(with-operations (list file-read-data file-write-data)
  (allow (literal "/ops")))
(with-modifier (with no-log)
  (deny file-read-data (literal "/quiet")))
(with-filter (subpath "/w")
  (with-filter (vnode-type DIRECTORY)
    (allow file-read-data)))
(define (f) (allow file-write-mode (literal "/w/f")))
(with-filter (subpath "/v") (f))
(f)
---
file-read-data /ops                      => allow 4
file-write-data /ops                     => allow 4
file-read-data /quiet                    => deny 6
file-read-data /w/d vnode-type=DIRECTORY => allow 9
file-read-data /w/d                      => deny 2
file-read-data /v/d vnode-type=DIRECTORY => deny 2
file-write-mode /w/f                     => allow 10

=== what a wrapper's body defines is its own
(version 1)
(deny default)
(define p "/outer")
(with-filter (subpath "/")
  (define p "/inner")
  (allow file-read-data (literal p)))
(allow file-write-data (literal p))
---
file-read-data /inner  => allow 6
file-write-data /outer => allow 7
file-write-data /inner => deny 2

=== path-ancestors of several paths
(version 1)
(deny default)
(allow file-read-metadata (path-ancestors "/a/b/" "/c/d/e"))
---
file-read-metadata /   => allow 3
file-read-metadata /a  => allow 3
file-read-metadata /a/b => deny 2
file-read-metadata /c/d => allow 3

=== entitlements: a process has none
(version 1)
(deny default)
(allow file-read-data (require-entitlement "com.example.a"))
(allow file-write-data (require-not (require-entitlement "com.example.a")))
(allow file-write-mode (require-entitlement "com.example.b" (entitlement-value "x")))
(allow file-write-owner (require-entitlement "com.example.b" (entitlement-value-regex "^x")))
(allow file-write-times (require-any (%entitlement-is-present "c") (literal "/t")))
---
file-read-data /x   => deny 2
file-write-data /x  => allow 4
file-write-mode /x  => deny 2
file-write-owner /x => deny 2
file-write-times /t => allow 7
file-write-times /x => deny 2

=== extensions: a process holds none
(version 1)
(deny default)
(allow file-read-data (extension "com.apple.app-sandbox.read"))
(allow file-write-data (container))
(allow file-write-mode (require-not (granted-extensions "e")))
(allow file-issue-extension (require-all (extension-class "c") (subpath "/w")))
---
file-read-data /x         => deny 2
file-write-data /x        => deny 2
file-write-mode /x        => allow 5
file-issue-extension /w/x => deny 2

=== an extension that is not named is any
(version 1)
(deny default)
(allow file-read-data (extension))
(allow file-write-data (require-not (extension)))
---
file-read-data /x               => deny 2
file-read-data /x extension=a.b => allow 3
file-write-data /x               => allow 4
file-write-data /x extension=a.b => deny 2

=== flags of the sandbox: a process has none
(version 1)
(allow default)
(with-filter (state-flag "locked")
  (deny mach-lookup (global-name "a"))
  (deny syscall-unix (syscall-number SYS_open)))
(deny file-read-data (require-not (profile-flag "open")))
---
mach-lookup a                 => allow 2
syscall-unix syscall-number=5 => allow -
file-read-data /x             => deny 6

=== filters of newer systems fit
(version 1)
(allow default)
(deny fs-snapshot-create (snapshot-name "s"))
(deny mach-host-special-port-set (host-special-port HOST_SEATBELT_PORT))
(deny process-info-codesignature (codesigning-operation CS_OPS_STATUS))
(deny system-fcntl (fcntl-command F_GETPATH))
(deny system-mac-syscall (require-all (mac-policy-name "Quarantine") (mac-syscall-number 87)))
(deny syscall-mach (machtrap-number MSC_mach_msg_trap))
(deny socket-option-set (require-all (socket-option-level SOL_SOCKET) (socket-option-name SO_DEBUG)))
---
process-fork => allow 2

=== message filters are read, and change nothing here
(version 1)
(deny default)
(allow mach-lookup (global-name "a")
  (apply-message-filter
    (deny mach-message-send)
    (allow mach-message-send (message-number 1 2))
    (with-filter (message-name "m") (allow xpc-message-send))))
(allow iokit-open-user-client (iokit-user-client-class "C")
  (apply-message-filter
    (deny (with telemetry) iokit-external-method iokit-async-external-method)
    (allow iokit-external-trap (iokit-trap-number 3))
    (allow iokit-external-method (iokit-method-number 4))))
---
mach-lookup a     => allow 3
mach-lookup b     => deny 2
mach-message-send => deny 2

=== rules for what containers redirect: our reading
(version 1)
(deny default)
(with-transparent-redirection (allow file-read-data (literal "/a")))
---
file-read-data /a => allow 3

=== modifiers
(version 1)
(deny default (with message "tag"))
(allow (with report) file-read-data (literal "/a"))
(allow file-write-data (literal "/a") (with report) (with telemetry))
(deny file-read-data (literal "/b") (with no-log) (with send-signal SIGKILL))
(deny file-read-data (literal "/c") (with ENOENT))
(allow process-exec (literal "/d") (with no-sandbox))
(deny default (with partial-symbolication))
(allow file-read-metadata (literal "/e") (with no-times))
(deny signal (with termination))
---
file-read-data /a     => allow 3
file-write-data /a    => allow 4
file-read-data /b     => deny 5
file-read-data /c     => deny 6
process-exec* /d      => allow 7
process-fork          => deny 8
file-read-metadata /e => allow 9
signal target=self    => deny 10

=== modifiers where they do not belong
(version 1)
(allow file-read* (with no-log))
(deny file-read* (with report))
(allow file-read* (with no-sandbox))
(deny file-read* (with no-times))
(allow signal (with grant))
(allow signal (with ENOENT))
---
!! 2:1 modifier no-report does not apply to allow
!! 3:1 modifier report does not apply to deny
!! 4:1 modifier no-sandbox does not apply to operation file-read*
!! 5:1 modifier no-times does not apply to deny
!! 6:1 modifier grant does not apply to operation signal
!! 7:1 modifier errno does not apply to allow

=== a filter that does not fit is never true: our reading
(version 1)
(deny default)
(allow mach-lookup (global-name "a") (literal "/x"))
(allow process-fork (subpath "/"))
(deny signal (require-not (literal "/x")))
(allow sysctl-read (require-not (require-not (literal "/x"))))
---
mach-lookup a      => allow 3
process-fork       => deny 2
signal target=self => deny 5
sysctl-read kern.a => deny 2

=== where its being false would allow more it is an error: our reading
(version 1)
(deny file-read* (global-name "a"))
(allow file-read* (require-not (global-name "a")))
(deny process-fork (literal "/x") (uid 0))
---
!! 2:1 filter global-name does not apply to operation file-read*
!! 3:1 filter global-name does not apply to operation file-read*
!! 4:1 filter path does not apply to operation process-fork

=== a parent may test what only its children have
(version 1)
(allow default)
(deny file* (xattr "user.x"))
(deny process-info* (target others))
---
file-write-xattr /x xattr=user.x   => deny 3
process-info-pidinfo target=others => deny 4
process-info-pidinfo target=self   => allow -

=== nothing outside the platform's profile may map storage classes
(version 1)
(define-storage-class "c" (subpath "/c"))
(allow storage-class-map)
(deny storage-class-map)
---
!! 2:1 storage class definition not permitted in this context
!! 3:1 storage class definition not permitted in this context

=== what %finalize means at the end of a profile is called then
(version 1)
(allow default)
(let ((before %finalize))
  (set! %finalize
        (lambda ()
          (deny file-read* (subpath "/late"))
          (before))))
(allow file-read* (subpath "/late") (subpath "/early"))
---
file-read-data /late/x  => deny 6
file-read-data /early/x => allow 8

=== rules of %finalize are in force once, and only if it is called
(version 1)
(deny default)
(define calls 0)
(define (%finalize)
  (set! calls (+ calls 1))
  (allow file-read* (literal (string-append "/call" (number->string calls)))))
(set! %finalize (if (param "NONE") (lambda () (allow default)) %finalize))
---
file-read-data /call1 => allow 6
file-read-data /call2 => deny 2
file-read-data /other => deny 2

=== %finalize goes wrong
(version 1)
(define (%finalize) (no-such-name))
---
!! 2:22 unbound variable: no-such-name

=== %finalize is no procedure
(version 1)
(set! %finalize 5)
---
!! 2:1 illegal function: integer

=== %finalize and the errors before it
(version 1)
(allow no-such-operation)
(define (%finalize) (no-such-name))
---
!! 2:8 unbound variable: no-such-operation

=== an argument that is not there
(version 1)
(deny syscall-unix (syscall-number (when (defined? 'SYS_no_such) SYS_no_such) SYS_open))
(deny file-read-data (literal (if (param "NONE") (param "NONE"))))
---
!! 3:22 path: not enough arguments

=== an argument that is not there, beside one that is
(version 1)
(disable-syscall-inference)
(deny syscall-unix (syscall-number (when (defined? 'SYS_no_such) SYS_no_such) SYS_open))
---
syscall-unix syscall-number=SYS_open => deny 3
syscall-unix syscall-number=SYS_read => allow -

=== an empty list is no filter
(version 1)
(allow file-read* (if (param "NONE") (literal "/")))
---
!! 2:1 allow: expected operation, filter or modifier, got empty list

=== empty combinations
(version 1)
(allow file-read* (require-any))
(allow file-read* (require-all))
(allow file-read* (require-not))
(allow file-read* (literal))
---
!! 2:19 require-any: not enough arguments
!! 3:19 require-all: not enough arguments
!! 4:19 require-not: not enough arguments
!! 5:19 path: not enough arguments

=== rules so far
(version 1)
(deny default)
(allow file-read-data (literal "/a"))
(if (sbpl-operation-can-return? file-read-data 'allow) (allow process-fork))
(if (sbpl-operation-can-return? mach-lookup 'allow) (allow signal))
(if (and (sbpl-filter? (literal "/")) (not (sbpl-filter? literal))) (allow pseudo-tty))
---
process-fork       => allow 4
signal target=self => deny 2
pseudo-tty         => allow 6

=== the last counts of two unfiltered rules: our reading
(version 1)
(allow file-read-data)
(deny file-read-data)
(deny file-write-data)
(allow file-write-data)
---
file-read-data /x  => deny 3
file-write-data /x => allow 5

=== a literal on the parent overrides no more than a subpath does: our reading
(version 1)
(deny default)
(allow file-write-create (literal "/w/x") (subpath "/v"))
(deny file-write* (literal "/w/x") (subpath "/v"))
---
file-write-create /w/x => allow 3
file-write-create /v/x => allow 3
file-write-unlink /w/x => deny 4

=== all bits of a file's mode: our reading
(version 1)
(deny default)
(allow file-read-data (file-mode #o0044))
---
file-read-data /x mode=0644 => allow 3
file-read-data /x mode=0604 => deny 2

=== letters beyond ASCII keep their case on macOS too: our reading
(version 1)
(allow default)
(deny file-read-data (literal "/straße/É"))
---
@darwin file-read-data "/STRA\xc3\x9fE/\xc3\x89" => deny 3
@darwin file-read-data "/stra\xc3\x9fe/\xc3\xa9" => allow 2

=== linking asks file-link on the source: our reading
(version 1)
(deny default)
(allow file-write-create (subpath "/w"))
(deny file-link (subpath "/secret"))
---
file-write-create /w/new => allow 3
file-link /secret/x      => deny 4
file-link /w/x           => allow -

=== nothing is added to a profile: our reading
(version 1)
(deny default)
---
signal target=self         => deny 2
mach-task-name target=self => deny 2

=== what macOS adds, written out
(version 1)
(deny default)
(allow signal (target self))
(allow mach-task-name (target self))
---
signal target=self           => allow 3
signal target=others         => deny 2
mach-task-name target=self   => allow 4
mach-task-name target=others => deny 2

=== symbols that differ in case are one, spelt as the first of them: our reading
(version 1)
(define first 'Foo)
(error (symbol->string 'FOO) (symbol->string 'sigkill) (symbol->string 'ALLOW) (eq? (string->symbol "fOo") first))
---
!! 3:1 Foo "SIGKILL" "allow" #t

# ---- Directives --------------------------------------------------------------------------------

=== parameters
@param A=/a
@param A=/second
@param EMPTY=
(version 1)
(deny default)
(allow file-read-data (literal (param "A")))
(allow file-write-data (literal (getenv "A")))
(if (param "EMPTY") (allow process-fork))
(if (param "NONE") (allow default))
---
file-read-data /a      => allow 3
file-write-data /a     => allow 4
file-read-data /second => deny 2
process-fork           => allow 5
signal target=self     => deny 2

=== trace, debug and flags
(version 1)
(debug deny)
(debug all)
(trace "/tmp/trace")
(disable-callouts)
(disable-full-symbolication)
(eliminate-duplicate-rules)
(record "/tmp/x")
(allow default)
---
process-fork => allow 9

=== trace: once, and a string
(version 1)
(trace 1)
(trace "/a")
(trace "/b")
---
!! 2:1 argument to trace must be a string
!! 4:1 only one trace path may be specified

=== an import is not there
(version 1)
(import "no/such.sb")
(import "/no/such.sb")
---
!! 2:1 unable to open no/such.sb
!! 3:1 unable to open /no/such.sb

=== the path of an import
(version 1)
(deny default)
(import "system.sb")
(if *import-path* (allow default))
---
process-fork => deny 2

=== a filter of 16,000 tests costs every operation once
(version 1)
(allow default)
(define (either f n)
  (require-any (require-all f (xattr (string-append "x" n)))
               (require-all f (xattr (string-append "y" n)))))
(define (grow f n)
  (if (= n 0) f (grow (either f (number->string n)) (- n 1))))
(deny default (grow (require-all (literal "/a") (xattr "q")) 13))
---
file-read-xattr /a xattr=q => allow 2
process-fork               => allow 2
