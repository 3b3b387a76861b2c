# Every act that `lapbelt test --live` can do, allowed and denied: a row of acts.def without its rows
# here is not tested. Rows hold on both systems unless they are marked.

=== files that are there
(version 1)
(deny default)
(allow file* (subpath "/w"))
(deny file* (subpath "/w/no"))
(allow file-write-setugid (subpath "/w"))
(deny file-write-setugid (subpath "/w/no"))
(deny file-link file-lock file-map-executable file-test-existence (subpath "/w/no"))
---
file-read-data /w/a                              => allow
file-read-data /w/no/a                           => deny
file-read-data /w/d vnode-type=DIRECTORY         => allow
file-read-data /w/no/d vnode-type=DIRECTORY      => deny
file-read-data /w/f vnode-type=FIFO              => allow
file-read-data /w/no/f vnode-type=FIFO           => deny
file-read-metadata /w/a                          => allow
file-read-metadata /w/no/a                       => deny
file-read-metadata /w/l vnode-type=SYMLINK       => allow
file-read-metadata /w/no/l vnode-type=SYMLINK    => deny
file-test-existence /w/a                         => allow
file-test-existence /w/no/a                      => deny
file-read-xattr /w/a xattr=user.a                => allow
file-read-xattr /w/no/a xattr=user.a             => deny
file-write-data /w/a                             => allow
file-write-data /w/no/a                          => deny
file-write-unlink /w/a                           => allow
file-write-unlink /w/no/a                        => deny
file-write-unlink /w/d vnode-type=DIRECTORY      => allow
file-write-unlink /w/no/d vnode-type=DIRECTORY   => deny
file-write-unlink /w/l vnode-type=SYMLINK        => allow
file-write-unlink /w/no/l vnode-type=SYMLINK     => deny
file-write-unlink /w/s vnode-type=SOCKET         => allow
file-write-unlink /w/no/s vnode-type=SOCKET      => deny
file-write-mode /w/a                             => allow
file-write-mode /w/no/a                          => deny
file-write-mode /w/d vnode-type=DIRECTORY        => allow
file-write-mode /w/no/d vnode-type=DIRECTORY     => deny
file-write-owner /w/a                            => allow
file-write-owner /w/no/a                         => deny
file-write-times /w/a                            => allow
file-write-times /w/no/a                         => deny
file-write-xattr /w/a xattr=user.a               => allow
file-write-xattr /w/no/a xattr=user.a            => deny
file-write-acl /w/a                              => allow
file-write-acl /w/no/a                           => deny
file-write-flags /w/a                            => allow
file-write-flags /w/no/a                         => deny
file-write-setugid /w/a mode=04755               => allow
file-write-setugid /w/no/a mode=04755            => deny
file-write-setugid /w/d vnode-type=DIRECTORY mode=02755 => allow
file-link /w/a                                   => allow
file-link /w/no/a                                => deny
file-ioctl /w/a                                  => allow
file-ioctl /w/no/a                               => deny
file-lock /w/a                                   => allow
file-lock /w/no/a                                => deny
file-map-executable /w/a                         => allow
file-map-executable /w/no/a                      => deny
file-mount /w/d                                  => allow
file-mount /w/no/d                               => deny
file-chroot /w/d                                 => allow
file-chroot /w/no/d                              => deny

=== files that are made
(version 1)
(deny default)
(allow file-write-create file-mknod (subpath "/w"))
(deny file-write-create (require-all (subpath "/w") (vnode-type SYMLINK)))
(deny file-write-create file-mknod (literal "/w/no"))
---
file-write-create /w/a                              => allow
file-write-create /w/no                             => deny
file-write-create /w/a vnode-type=DIRECTORY         => allow
file-write-create /w/no vnode-type=DIRECTORY        => deny
file-write-create /w/a vnode-type=SYMLINK           => deny 4
file-write-create /w/a vnode-type=FIFO              => allow
file-write-create /w/no vnode-type=FIFO             => deny
file-write-create /w/a vnode-type=SOCKET            => allow
file-write-create /w/no vnode-type=SOCKET           => deny
file-mknod /w/a vnode-type=CHARACTER-DEVICE         => allow
file-mknod /w/no vnode-type=CHARACTER-DEVICE        => deny
file-mknod /w/a vnode-type=BLOCK-DEVICE             => allow
file-mknod /w/no vnode-type=BLOCK-DEVICE            => deny

=== real places
@linux
(version 1)
(deny default)
(allow file-read* (subpath "/etc") (subpath "/usr"))
(deny file-read* (subpath "/usr/share"))
(allow process-exec* (subpath "/usr/bin"))
---
file-read-data /etc/hosts                => allow
file-read-data /etc/not-there/new        => allow
file-read-data /etc                      => allow
file-read-data /usr/share/doc            => deny
file-read-data /usr/share                => deny
file-write-data /etc/hosts               => deny
file-write-unlink /etc/hosts             => deny
file-write-create /etc/new               => deny
file-write-create /usr/bin/new           => deny
process-exec* /usr/bin/env               => allow
process-exec* /usr/sbin/new              => deny

=== modes
(version 1)
(deny default)
(allow file-read* (require-all (subpath "/w") (require-not (file-mode #o0002))))
(allow file-write-create (require-all (subpath "/w") (vnode-type DIRECTORY)))
---
file-read-data /w/a mode=0640                    => allow
file-read-data /w/a mode=0666                    => deny
file-read-data /w/a                              => allow
file-read-data /w/d vnode-type=DIRECTORY mode=0777 => deny
# A row that names no kind is about any that gets its answer.
file-write-create /w/a                           => deny
file-write-create /w/a vnode-type=DIRECTORY      => allow

=== programs
(version 1)
(deny default)
(allow process-exec* (literal "/w/yes"))
---
process-exec* /w/yes              => allow
process-exec* /w/no               => deny
process-exec-interpreter /w/yes   => allow
process-exec-interpreter /w/no    => deny
process-fork                      => deny

=== processes
(version 1)
(deny default)
(allow process-fork)
(allow signal (target self) (target same-sandbox))
(deny signal (require-all (target children) (target pgrp)))
---
process-fork                             => allow
signal target=self                       => allow
signal target=self signal=SIGTERM        => allow
signal target=children                   => allow
signal target=children signal=SIGKILL    => allow
signal target=children target=pgrp       => deny
signal target=same-sandbox               => allow
signal target=same-sandbox signal=SIGTERM => allow
signal target=same-sandbox target=pgrp   => allow
signal target=others                     => deny
signal target=others target=pgrp         => deny

=== addresses, allowed
(version 1)
(deny default)
(allow network-outbound (remote tcp "*:8080"))
(allow network-inbound (local tcp "localhost:8080"))
---
network-outbound localhost:8080          => allow
network-outbound 198.51.100.7:8080       => allow
network-outbound [2001:db8::7]:8080      => allow
network-outbound localhost:8081          => deny
network-outbound [2001:db8::7]:8081      => deny
network-outbound 127.0.0.1:8080 local=localhost:5000 => allow
network-bind localhost:8080              => allow
network-bind [::1]:8080                  => allow
@linux network-bind *:8080               => deny
network-bind localhost:80                => deny
network-inbound localhost:8080           => allow
network-inbound localhost:8081           => deny

=== addresses, denied
(version 1)
(allow default)
(deny network-outbound (remote ip "*:80"))
(deny network-inbound (local ip "*:80"))
---
network-outbound localhost:80            => deny
network-outbound localhost:81            => allow
network-bind *:80                        => deny
network-bind *:81                        => allow
network-inbound *:80                     => deny
network-inbound *:81                     => allow
network-outbound localhost:81 protocol=udp => allow

=== datagrams
(version 1)
(allow default)
(deny network*)
---
network-outbound localhost:81 protocol=udp => deny
network-bind localhost:81 protocol=udp     => deny

=== sockets by path
(version 1)
(deny default)
(allow network-outbound (literal "/s/out"))
(allow network-bind (literal "/s/bind") (literal "/s/in"))
(allow network-inbound (literal "/s/in"))
(allow file-write-create (subpath "/s"))
---
network-outbound /s/out    => allow
network-outbound /s/bind   => deny
network-bind /s/bind       => allow
network-bind /s/out        => deny
network-inbound /s/in      => allow
network-inbound /s/bind    => deny

=== objects by name
@linux
(version 1)
(allow default)
(deny ipc-posix* (ipc-posix-name-prefix "/no") (ipc-posix-name "both"))
(allow ipc-posix* (ipc-posix-name "/both"))
(deny sysctl* (sysctl-name "kernel.ostype"))
(deny ipc-sysv-sem)
(deny pseudo-tty)
---
ipc-posix-shm-read-data /yes             => allow
ipc-posix-shm-read-data /no              => deny
ipc-posix-shm-write-data /yes            => allow
ipc-posix-shm-write-data /no             => deny
ipc-posix-shm-write-create /yes          => allow
ipc-posix-shm-write-create /no           => deny
ipc-posix-shm-write-unlink /yes          => allow
ipc-posix-shm-write-unlink /no           => deny
ipc-posix-shm-write-create both          => allow
ipc-posix-shm-read-data no               => deny
ipc-posix-sem-create /yes                => allow
ipc-posix-sem-create /no                 => deny
ipc-posix-sem-open /yes                  => allow
ipc-posix-sem-open /no                   => deny
ipc-posix-sem-unlink /yes                => allow
ipc-posix-sem-unlink /no                 => deny
ipc-sysv-shm                             => allow
ipc-sysv-sem                             => deny
ipc-sysv-msg                             => allow
sysctl-read kernel.osrelease             => allow
sysctl-read kernel.ostype                => deny
sysctl-write kernel.core_pattern         => allow
file-read-data /proc/sys/kernel/osrelease => allow
pseudo-tty                               => deny
dynamic-code-generation                  => allow

=== the other way round
@linux
(version 1)
(deny default)
(allow ipc-sysv-sem)
(allow pseudo-tty)
(allow file-read-data file-write-data (subpath "/dev"))
(deny file-read-data file-write-data (literal "/dev/zero"))
---
ipc-sysv-shm                             => deny
ipc-sysv-sem                             => allow
ipc-sysv-msg                             => deny
sysctl-read kernel.ostype                => deny
pseudo-tty                               => allow
file-read-data /dev/null                 => allow
file-read-data /dev/zero                 => deny
file-write-data /dev/zero                => deny
file-write-data /dev/sda                 => allow
file-read-data /dev/pts/3                => allow
file-read-data /dev/ptmx                 => allow

=== names that are hard to write
(version 1)
(deny default)
(allow file-read-data (subpath "/with space") (subpath "/quo\"ting") (subpath "/back\\slash")
  (subpath "/\xff"))
---
file-read-data "/with space/a"   => allow
file-read-data "/quo\"ting/a"      => allow
file-read-data "/back\\slash/a"  => allow
file-read-data "/\xff/a"         => allow
file-read-data "/new\nline"      => deny
