# What profiles mean: outcomes that are known from macOS, and what follows from its decision model.
# Rows without a mark hold on both systems.

# ---- Order ------------------------------------------------------------------------------------

=== the last match wins: a later deny
(version 1)
(deny default)
(allow file-read* (subpath "/w"))
(deny file-read* (subpath "/w/d"))
---
file-read-data /w/d/x     => deny 4
file-read-data /w/d       => deny 4
file-read-data /w/x       => allow 3
file-read-metadata /w/d/x => deny 4
file-read-data /x         => deny 2

=== the last match wins: an earlier deny
(version 1)
(deny default)
(deny file-read* (subpath "/w/d"))
(allow file-read* (subpath "/w"))
---
file-read-data /w/d/x => allow 4

=== the last match wins: a deeper allow below a deny
(version 1)
(allow default)
(deny file-read* (subpath "/w"))
(allow file-read* (subpath "/w/open"))
(deny file-read* (literal "/w/open/but"))
---
file-read-data /w/a        => deny 3
file-read-data /w/open/a   => allow 4
file-read-data /w/open/but => deny 5

=== an unfiltered rule never overrides a filtered match: allow before
(version 1)
(deny default)
(allow network-outbound)
(deny network-outbound (subpath "/s"))
---
network-outbound /s/sock         => deny 4
network-outbound /t/sock         => allow 3
network-outbound 192.0.2.7:443   => allow 3

=== an unfiltered rule never overrides a filtered match: allow after
(version 1)
(deny default)
(deny network-outbound (subpath "/s"))
(allow network-outbound)
---
network-outbound /s/sock => deny 3
network-outbound /t/sock => allow 4

=== an unfiltered deny after a filtered allow
(version 1)
(allow default)
(allow network-outbound (literal "/x.sock"))
(deny network*)
---
network-outbound /x.sock       => allow 3
network-outbound /y.sock       => deny 4
network-outbound localhost:80  => deny 4
network-bind localhost:80      => deny 4

=== of two unfiltered rules the last counts
(version 1)
(deny file-read*)
(allow file-read*)
---
file-read-data /x => allow 3

=== a filtered allow of a terminal operation stays in force
(version 1)
(allow syscall-unix (syscall-number SYS_open SYS_read))
(deny syscall-unix)
---
syscall-unix syscall-number=SYS_open  => allow 2
syscall-unix syscall-number=SYS_read  => allow 2
syscall-unix syscall-number=SYS_write => deny 3

# ---- Operations and their parents -------------------------------------------------------------

=== the more specific operation wins over a later rule on its parent
(version 1)
(deny default)
(allow file-read-data (subpath "/"))
(deny file-read* (literal "/x"))
---
file-read-data /x     => allow 3
file-read-metadata /x => deny 4

=== a deny on the operation itself works
(version 1)
(deny default)
(allow file-read-data (subpath "/"))
(deny file-read-data (literal "/x"))
---
file-read-data /x => deny 4
file-read-data /y => allow 3

=== a parent's allow does not lift the operation's own deny
(version 1)
(allow default)
(deny file-read-data (subpath "/keys"))
(allow file-read* (literal "/keys/login"))
---
file-read-data /keys/login     => deny 3
file-read-metadata /keys/login => allow 4

=== a later file-write* deny does not override file-write-create
(version 1)
(deny default)
(allow file-write-create (subpath "/d"))
(deny file-write* (subpath "/d"))
---
file-write-create /d/x => allow 3
file-write-unlink /d/x => deny 4
file-write-data /d/x   => deny 4

=== the parent's unfiltered rule is asked when the operation's filters do not match
(version 1)
(deny default)
(allow file*)
(deny file-read-data (literal "/x"))
---
file-read-data /y => allow 3
file-read-data /x => deny 4
file-write-data /x => allow 3
mach-lookup a     => deny 2

=== an operation's unfiltered rule hides the parent's filtered one
(version 1)
(deny default)
(deny file-read-data)
(allow file-read* (subpath "/w"))
---
file-read-data /w/x     => deny 3
file-read-metadata /w/x => allow 4

=== one rule may name several operations
(version 1)
(allow file-read-data file-write-data (literal "/a") (literal "/b"))
---
file-read-data /a     => allow 2
file-write-data /b    => allow 2
file-read-metadata /a => deny -

=== no rule at all
(version 1)
---
file-read-data /x         => deny -
process-fork              => deny -
process-exec* /bin/sh     => deny -
mach-lookup com.apple.x   => deny -
network-outbound *:80     => deny -
default                   => deny -

=== a filtered rule on default
(version 1)
(allow default)
(deny default (subpath "/x"))
---
file-read-data /x/y => deny 3
file-read-data /y   => allow 2
process-fork        => allow 2

=== what an operation does not have is not there for the rules that it inherits
(version 1)
(allow default)
(deny default (vnode-type SOCKET) (target others) (global-name "a"))
(deny process* (require-not (subpath "/usr")))
---
file-read-data /x vnode-type=SOCKET       => deny 3
file-read-data /x vnode-type=REGULAR-FILE => allow 2
signal target=others                      => deny 3
signal target=self                        => allow 2
mach-lookup a                             => deny 3
sysctl-read a                             => allow 2
process-fork                              => deny 4
process-exec* /usr/bin/x                  => allow 2
process-exec* /opt/x                      => deny 4

=== wildcards reach their children only by inheritance
(version 1)
(allow file*)
---
file-write-create /x => allow 2
file-read-xattr /x   => allow 2
process-fork         => deny -

# ---- Terminal operations ----------------------------------------------------------------------

=== (deny default) does not reach operations that are allowed on their own
(version 1)
(deny default)
---
process-info-pidinfo target=self => allow -
process-info-listpids            => allow -
file-map-executable /x           => allow -
file-test-existence /x           => allow -
file-link /x                     => allow -
file-clone /x                    => allow -
dynamic-code-generation          => allow -
darwin-notification-post a       => allow -
nvram-get a                      => allow -
iokit-get-properties a           => allow -
syscall-unix syscall-number=5    => allow -
socket-ioctl                     => allow -
file-read-data /x                => deny 2

=== (allow default) does not reach operations that are denied on their own
(version 1)
(allow default)
---
file-write-setugid /x => deny -
job-creation          => deny -
file-write-mode /x    => allow 2

=== a terminal operation follows its own rules
(version 1)
(allow default)
(deny process-info*)
(allow process-info-pidinfo)
(allow file-write-setugid (subpath "/w"))
---
process-info-pidinfo  => allow 4
process-info-listpids => deny 3
file-write-setugid /w/x => allow 5
file-write-setugid /x   => deny -

# ---- Paths ------------------------------------------------------------------------------------

=== a rule on /etc
(version 1)
(deny default)
(allow file-read* (subpath "/etc") (regex #"^/var/db/"))
---
file-read-data /private/etc/hosts => deny 2
file-read-data /private/var/db/x  => deny 2
@linux file-read-data /etc/hosts  => allow 3
@linux file-read-data /var/db/x   => allow 3

=== a rule on /private/etc
(version 1)
(deny default)
(allow file-read* (subpath "/private/etc") (regex #"^/private/var/db/"))
---
file-read-data /private/etc/hosts         => allow 3
@linux  file-read-data /etc/hosts         => allow 3
@linux  file-read-data /var/db/x          => allow 3
@darwin file-read-data /private/var/db/x  => allow 3
file-read-data /private/etcetera          => deny 2
@linux  file-read-data /etcetera          => deny 2

=== a rule on /tmp
(version 1)
(deny default)
(allow file-read* (subpath "/tmp"))
---
@darwin file-read-data /private/tmp/foo => deny 2
@linux  file-read-data /tmp/foo         => allow 3

=== case counts on Linux only
(version 1)
(allow default)
(deny file-read* (regex #"^.*/MIXEDCASE\.txt$"))
(deny file-read* (subpath "/zones/Agent"))
(deny file-read* (literal "/Lit"))
---
file-read-data /a/MIXEDCASE.txt         => deny 3
@darwin file-read-data /a/MixedCase.txt => deny 3
@linux  file-read-data /a/MixedCase.txt => allow 2
@darwin file-read-data /ZONES/agent/x   => deny 4
@linux  file-read-data /ZONES/agent/x   => allow 2
@darwin file-read-data /lIT             => deny 5
@linux  file-read-data /lIT             => allow 2

=== a regex speaks of the name it spells
(version 1)
(allow default)
(deny file-read* (regex #"^.*/\.xssh(/.*)?$"))
---
file-read-data /h/.SSH/config  => allow 2
file-read-data /h/.xssh/config => deny 3
file-read-data /h/.xssh        => deny 3
file-read-data /h/.xsshd       => allow 2

=== (?: compiles and makes its pattern dead
(version 1)
(allow default)
(deny file-read-data (regex #"^/p/(?:.*/)?\.env$"))
(deny file-read-data (regex #"^/q/(.*/)?\.env$"))
(deny file-read-data (regex #"^/r/(?:x)$" #"^/s/x$"))
---
file-read-data /p/a/.env => allow 2
file-read-data /p/.env   => allow 2
file-read-data /q/a/.env => deny 4
file-read-data /q/.env   => deny 4
file-read-data /s/x      => deny 5

=== literal, subpath, prefix
(version 1)
(deny default)
(allow file-read-data (literal "/l") (subpath "/s") (prefix "/p"))
---
file-read-data /l   => allow 3
file-read-data /l/x => deny 2
file-read-data /ll  => deny 2
file-read-data /s   => allow 3
file-read-data /s/x/y => allow 3
file-read-data /ss  => deny 2
file-read-data /p   => allow 3
file-read-data /p/x => allow 3
file-read-data /pp  => allow 3
file-read-data /    => deny 2

=== the root
(version 1)
(deny default)
(allow file-read-data (literal "/"))
(allow file-write* (subpath "/"))
---
file-read-data /    => allow 3
file-read-data /x   => deny 2
file-write-data /   => allow 4
file-write-data /x/y => allow 4

=== patterns are not made canonical
(version 1)
(allow default)
(deny file-read-data (subpath "/a/../b") (literal "/c/") (subpath "//d") (subpath "."))
---
file-read-data /b   => allow 2
file-read-data /c   => allow 2
file-read-data /d/x => allow 2

=== regular expressions search, and match bytes
(version 1)
(allow default)
(deny file-read-data (regex #"\.pem" #"^/x/[a-c]+$" #"^/(y|)$" #"^/z.$" #"^/n[^/]*$"))
---
file-read-data /k/a.pem.bak => deny 3
file-read-data /k/apem      => allow 2
file-read-data /x/abc       => deny 3
file-read-data /x/abd       => allow 2
file-read-data /y           => deny 3
file-read-data /            => deny 3
file-read-data /z1          => deny 3
file-read-data "/z\xff"     => deny 3
file-read-data /z12         => allow 2
file-read-data "/n\xc3\xbc" => deny 3
file-read-data /n/x         => allow 2

=== an unknown escape loses its backslash
(version 1)
(deny default)
(allow file-read* (subpath "/a\q"))
(allow file-read* (subpath "/b\\q"))
---
file-read-data "/a\\q"  => deny 2
file-read-data /aq      => allow 3
file-read-data "/b\\q"  => allow 4

=== a read deny does not stop a rename, a write deny does
(version 1)
(deny default)
(allow file-read* file-write* (subpath "/w"))
(deny file-read* (literal "/w/.env"))
(deny file-write* (literal "/w/.key"))
---
file-read-data /w/.env    => deny 4
file-write-unlink /w/.env => allow 3
file-write-unlink /w/.key => deny 5
file-write-create /w/env  => allow 3
file-read-data /w/env     => allow 3

=== only the name that is used counts
(version 1)
(deny default)
(allow file-read* (subpath "/w"))
---
file-read-data /w/hard-link => allow 3
file-read-data /o/secret    => deny 2

=== writing below one tree
(version 1)
(deny default)
(allow file-write* (subpath "/w"))
---
file-write-data /w/x       => allow 3
file-write-data /dev/null  => deny 2

# ---- Attributes -------------------------------------------------------------------------------

=== vnode types
(version 1)
(deny default)
(allow file-write-create (require-all (subpath "/w") (vnode-type DIRECTORY)))
(allow file-read-data (require-all (subpath "/w") (require-not (vnode-type SYMLINK))))
---
file-write-create /w/x vnode-type=DIRECTORY    => allow 3
file-write-create /w/x vnode-type=REGULAR-FILE => deny 2
file-write-create /w/x                         => deny 2
file-read-data /w/x vnode-type=SYMLINK         => deny 2
file-read-data /w/x vnode-type=REGULAR-FILE    => allow 4
file-read-data /w/x                            => allow 4

=== modes
(version 1)
(deny default)
(allow file-read* (file-mode #o0004))
---
file-read-data /x mode=0644 => allow 3
file-read-data /x mode=0640 => deny 2
file-read-data /x           => deny 2

=== extended attributes
(version 1)
(allow default)
(deny file-write-xattr (xattr "user.guard") (xattr-prefix "trusted."))
---
file-write-xattr /x xattr=user.guard => deny 3
file-write-xattr /x xattr=trusted.a  => deny 3
file-write-xattr /x xattr=user.other => allow 2

=== filters in one rule are alternatives, within require-all they are not
(version 1)
(deny default)
(allow file-read-data (literal "/a") (literal "/b"))
(allow file-write-data (require-all (subpath "/w") (regex #"\.txt$") (require-not (prefix "/w/x"))))
(allow file-write-mode (require-any (literal "/m") (require-all (subpath "/n") (literal "/n/o"))))
---
file-read-data /a      => allow 3
file-read-data /b      => allow 3
file-write-data /w/a.txt => allow 4
file-write-data /w/a     => deny 2
file-write-data /w/x.txt => deny 2
file-write-data /a.txt   => deny 2
file-write-mode /m       => allow 5
file-write-mode /n/o     => allow 5
file-write-mode /n       => deny 2

=== signals
(version 1)
(deny default)
(allow signal (target self) (target children))
(allow signal (require-all (target others) (signal-number SIGTERM SIGINT)))
---
signal target=self                    => allow 3
signal target=children signal=SIGKILL => allow 3
signal target=others signal=SIGTERM   => allow 4
signal target=others signal=2         => allow 4
signal target=others signal=SIGKILL   => deny 2
signal                                => deny 2

=== a process is several targets at once
(version 1)
(allow default)
(deny signal (target same-sandbox))
(allow signal (target children))
(deny signal (target pgrp))
(allow signal (require-all (target children) (target pgrp) (signal-number SIGCHLD)))
(deny signal (target others))
---
signal target=same-sandbox                             => deny 3
signal target=children                                 => allow 4
signal target=children target=pgrp                     => deny 5
signal target=pgrp target=children signal=SIGCHLD      => allow 6
signal target=self                                     => deny 5
signal target=self signal=SIGCHLD                      => deny 5
signal target=others                                   => deny 7
signal target=others target=pgrp                       => deny 7
signal target=initproc                                 => deny 7
signal                                                 => allow 2

=== names
(version 1)
(deny default)
(allow mach-lookup (global-name "A") (global-name-prefix "com.example."))
(allow sysctl-read (sysctl-name "kern.ostype") (sysctl-name-prefix "hw."))
(allow ipc-posix-shm-read-data (ipc-posix-name "/shm"))
---
mach-lookup A              => allow 3
mach-lookup B              => deny 2
mach-lookup com.example.x  => allow 3
sysctl-read kern.ostype    => allow 4
sysctl-read hw.ncpu        => allow 4
sysctl-read kern.hostname  => deny 2
sysctl-write hw.ncpu       => deny 2
ipc-posix-shm-read-data /shm  => allow 5
ipc-posix-shm-read-data /shm2 => deny 2

=== the last rule counts whichever spelling it has
@linux
(version 1)
(allow default)
(deny ipc-posix* (ipc-posix-name "/a") (ipc-posix-name "b"))
(allow ipc-posix* (ipc-posix-name "a"))
---
ipc-posix-shm-write-create a  => allow 4
ipc-posix-shm-write-create /a => allow 4
ipc-posix-sem-open b          => deny 3
ipc-posix-sem-open /b         => deny 3
ipc-posix-sem-open /ab        => allow 2

# ---- Network ----------------------------------------------------------------------------------

=== localhost outbound
(version 1)
(deny default)
(allow network-outbound (remote ip "localhost:8080"))
---
network-outbound 127.0.0.1:8080                  => allow 3
network-outbound localhost:8080                  => allow 3
network-outbound [::1]:8080                      => allow 3
@darwin network-outbound [::ffff:127.0.0.1]:8080 => deny 2
@linux  network-outbound [::ffff:127.0.0.1]:8080 => allow 3
network-outbound [::ffff:192.0.2.1]:8080         => deny 2
network-outbound 127.0.0.1:8081                  => deny 2
network-outbound 192.0.2.1:8080                  => deny 2
network-outbound 127.0.0.1:8080 protocol=udp     => allow 3
network-outbound /8080                           => deny 2

=== mapped addresses are of IPv4 on Linux, of IPv6 on macOS
(version 1)
(deny default)
(allow network-outbound (remote tcp4 "*:*"))
(allow network-outbound (remote udp6 "*:*"))
---
@linux  network-outbound [::ffff:192.0.2.1]:80              => allow 3
@darwin network-outbound [::ffff:192.0.2.1]:80              => deny 2
@linux  network-outbound [::ffff:192.0.2.1]:80 protocol=udp => deny 2
@darwin network-outbound [::ffff:192.0.2.1]:80 protocol=udp => allow 4
network-outbound 192.0.2.1:80                               => allow 3
network-outbound [2001:db8::1]:80                           => deny 2
network-outbound [2001:db8::1]:80 protocol=udp              => allow 4

=== a local filter matches a socket that is not bound
(version 1)
(deny default)
(allow network-outbound (local ip "localhost:*"))
---
network-outbound 192.0.2.1:443                      => allow 3
network-outbound [2001:db8::1]:443                  => allow 3
network-outbound 192.0.2.1:443 local=localhost:5000 => allow 3
network-outbound 192.0.2.1:443 local=192.0.2.9:5000 => deny 2

=== binding
(version 1)
(deny default)
(allow network-bind (local ip "localhost:43050"))
---
network-bind 127.0.0.1:43050        => allow 3
network-bind [::1]:43050            => allow 3
@darwin network-bind 0.0.0.0:43050  => allow 3
@linux  network-bind 0.0.0.0:43050  => deny 2
@linux  network-bind *:43050        => deny 2
network-bind 127.0.0.1:43051        => deny 2
network-bind 127.0.0.1:0            => deny 2
network-inbound 127.0.0.1:43050     => deny 2

=== network-inbound is the parent of network-bind
(version 1)
(deny default)
(allow network-inbound (local ip "localhost:43050"))
---
network-inbound 127.0.0.1:43050 => allow 3
network-bind 127.0.0.1:43050    => allow 3
network-outbound 127.0.0.1:43050 => deny 2

=== protocol words
(version 1)
(deny default)
(allow network-outbound (remote tcp "*:443") (remote udp4 "*:53") (remote ip6 "*:1") (remote unix))
---
network-outbound 192.0.2.1:443              => allow 3
network-outbound [2001:db8::1]:443          => allow 3
network-outbound 192.0.2.1:443 protocol=udp => deny 2
network-outbound 192.0.2.1:53 protocol=udp  => allow 3
network-outbound 192.0.2.1:53               => deny 2
network-outbound [2001:db8::1]:53 protocol=udp => deny 2
network-outbound [2001:db8::1]:1 protocol=udp  => allow 3
network-outbound 192.0.2.1:1                => deny 2
network-outbound /any/sock                  => allow 3

=== Unix sockets by the old form
(version 1)
(deny default)
(allow network-outbound (remote unix-socket (path-literal "/run/s")))
---
network-outbound /run/s        => allow 3
network-outbound /run/t        => deny 2
network-outbound 192.0.2.1:443 => deny 2

=== a path filter admits no address
(version 1)
(deny default)
(allow network-outbound (subpath "/"))
---
network-outbound /run/s        => allow 3
network-outbound localhost:443 => deny 2

# ---- The language -----------------------------------------------------------------------------

=== version 3 takes the built-in defaults away
(version 3)
(deny default)
---
process-info-pidinfo target=self => deny 2
syscall-unix syscall-number=1    => deny 2
file-map-executable /x           => deny 2

=== definitions, parameters, conditions
@param HOME=/home/u
(version 1)
(deny default)
(define (home-subpath below) (subpath (string-append (param "HOME") below)))
(define names (list "/a" "/b"))
(allow file-read* (home-subpath "/src"))
(for-each (lambda (name) (allow file-write* (literal name))) names)
(if (param "MISSING") (allow network*))
(when (defined? 'syscall-unix) (allow process-fork))
---
file-read-data /home/u/src/x => allow 5
file-read-data /home/u/x     => deny 2
file-write-data /b           => allow 6
network-outbound *:80        => deny 2
process-fork                 => allow 8

=== with-filter narrows every rule within
(version 1)
(deny default)
(with-filter (subpath "/w")
  (allow file-read* (vnode-type REGULAR-FILE))
  (allow file-write*))
---
file-read-data /w/x vnode-type=REGULAR-FILE => allow 4
file-read-data /w/x vnode-type=DIRECTORY    => deny 2
file-read-data /x vnode-type=REGULAR-FILE   => deny 2
file-write-data /w/x                        => allow 5
file-write-data /x                          => deny 2

=== path-ancestors
(version 1)
(deny default)
(allow file-read-metadata (path-ancestors "/a/b/c"))
---
file-read-metadata /      => allow 3
file-read-metadata /a     => allow 3
file-read-metadata /a/b   => allow 3
file-read-metadata /a/b/c => deny 2
file-read-metadata /b     => deny 2

=== words that change nothing
(version 1)
(debug deny)
(deny default (with message "ours"))
(allow file-read-data (with report) (literal "/a"))
(deny file-read-data (literal "/b") (with no-log))
---
file-read-data /a => allow 4
file-read-data /b => deny 5
file-read-data /c => deny 3

=== aliases
(version 1)
(deny default)
(allow process-exec (literal "/x"))
(allow file-unlink (literal "/x"))
(allow ipc-posix-shm)
---
process-exec* /x            => allow 3
process-exec-interpreter /x => allow 3
file-write-unlink /x        => allow 4
ipc-posix-shm-write-create /s => allow 5

=== imported profiles
(version 1)
(deny default)
(import "/System/Library/Sandbox/Profiles/bsd.sb")
---
mach-lookup com.example.other => deny 2

# ---- Errors -----------------------------------------------------------------------------------

=== an unknown operation
(version 1)
(allow file-raed*)
---
!! 2:8 unbound variable: file-raed*

=== every error is told, in order
(version 1)
(allow file-raed*)
(allow file-read*)
(deny
  (literla "/x"))
---
!! 2:8 unbound variable: file-raed*
!! 5:4 unbound variable: literla

=== a regex with an inline flag
(version 1)
(deny file-read* (regex #"(?i)^x"))
---
!! 2:25 unexpected ^ operator in middle of expression

=== an address that is not localhost or *
(version 1)
(allow network-outbound (remote ip "127.0.0.1:80"))
---
!! 2:36 host must be * or localhost in network address

=== a port that is none
(version 1)
(allow network-outbound (remote ip "localhost:http"))
---
!! 2:36 invalid port in network address

=== port 0
(version 1)
(allow network-outbound (remote ip "localhost:0"))
---
!! 2:36 invalid port in network address

=== a parameter that is not set
(version 1)
(allow file-read* (subpath (param "HOME")))
---
!! 2:19 invalid data type of path filter; expected pattern, got boolean

=== an unsupported version
(version 9)
---
!! 1:1 unsupported version

=== no version
(define answer 42)
---
!! 1:1 no version specified

=== before the version there is only Scheme
(define (f) (allow signal))
(deny default)
(version 1)
(f)
---
!! 2:2 unbound variable: deny

=== an import that is not there
(version 1)
(import "no/such.sb")
---
!! 2:1 unable to open no/such.sb

=== a path that is no path
(version 1)
(allow file-read* (path-ancestors "a/b"))
---
!! 2:35 path must start with a /

=== a quote in a path ends the string
(version 1)
(allow file-read* (subpath "/a"quote"b"))
---
!! 2:32 unbound variable: quote"b"

=== every filter decides on what is given
(version 1)
(deny default)
(allow mach-lookup (local-name "com.local"))
(allow mach-lookup (global-name "com.global"))
(allow file-read-data (require-all (subpath "/a") (extension "com.apple.x")))
(allow file-read-data (require-all (subpath "/b") (mount-relative-subpath "/in") (filesystem-name "apfs")))
(allow file-write-data (require-all (subpath "/c") (uid 501) (require-not (process-attribute is-sandboxed))))
(allow file-ioctl (require-all (literal "/dev/t") (ioctl-command (_IO "t" 3)) (process-path "/bin/stty")))
(allow system-socket (require-all (socket-domain AF_INET) (socket-type SOCK_STREAM)))
(allow socket-option-set (require-all (socket-option-level 1) (socket-option-name 2)))
(deny nvram-get (rootless-boot-device-filter #t))
(deny socket-option*)
---
mach-lookup com.global                     => allow 4
mach-lookup com.local                      => deny
mach-lookup local-name=com.local           => allow 3
mach-lookup global-name=com.local          => deny
file-read-data /a/x                        => deny
file-read-data /a/x extension=com.apple.x  => allow 5
file-read-data /a/x extension=com.apple.y  => deny
file-read-data /a/x extension=com.apple.y extension=com.apple.x => allow 5
file-read-data /b/x mount-relative-path=/in/y filesystem-name=apfs => allow 6
file-read-data /b/x mount-relative-path=/out filesystem-name=apfs  => deny
file-read-data /b/x mount-relative-path=/in/y => deny
file-write-data /c uid=501                 => allow 7
file-write-data /c uid=0                   => deny
file-write-data /c uid=501 process-attribute=is-sandboxed => deny
file-write-data /c                         => deny
system-socket socket-domain=AF_INET socket-type=SOCK_STREAM => allow 9
system-socket socket-domain=AF_INET socket-type=SOCK_DGRAM  => deny
socket-option-set socket-option-level=1 socket-option-name=2 => allow 10
socket-option-set socket-option-level=2 socket-option-name=2 => deny 12
socket-option-set socket-option-name=2     => deny 12
nvram-get rootless-boot-device-filter=true  => deny 11
nvram-get rootless-boot-device-filter=false => allow
nvram-get boot-args                         => allow
file-ioctl /dev/t ioctl-command=0x7403     process-path=/bin/stty => allow 8
file-ioctl /dev/t ioctl-command=0x7403                            => deny

=== socket filters hold for what a socket does
(version 1)
(allow default)
(deny network-outbound (require-all (remote ip) (socket-domain AF_INET6)))
(deny network-bind (socket-type SOCK_DGRAM))
(deny network-outbound (require-all (subpath "/w") (socket-domain AF_UNIX)))
---
network-outbound 127.0.0.1:4242          => allow 2
network-outbound [::1]:4242              => deny 3
network-bind 127.0.0.1:4243 protocol=udp => deny 4
network-bind 127.0.0.1:4243              => allow 2
network-outbound /w/sock                 => deny 5
network-outbound /v/sock                 => allow 2

=== what an operation does not have is asked in vain
(version 1)
(allow default)
(deny default (require-not (vnode-type REGULAR-FILE)))
(allow file-read*)
(allow process-fork)
---
process-exec* /bin/echo => deny 3
process-fork            => allow 5
