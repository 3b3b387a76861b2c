# SPDX-License-Identifier: Apache-2.0
"""The table of acts: how often, with which arguments, what it does, what it asks."""
import collections
import os
import stat

from differential_asking import *  # the table names all of it
from differential_doing import *
from differential_names import LINKS, SYSTEM, XATTRS

Act = collections.namedtuple("Act", "weight make do ask")

ACTS = {
    "open": Act(12, lambda m: [m.where(), m.flags(), m.mode()], do_open, ask_open),
    "open2": Act(3, lambda m: [m.where(), m.flags(), m.mode(), m.resolve()], do_open2, ask_open2),
    "creat": Act(1, lambda m: [m.new(), m.mode()], do_creat, ask_creat),
    "reopen": Act(2, lambda m: [m.where(), m.pick(os.O_RDONLY, os.O_RDWR)], do_reopen, ask_reopen),
    "tmpfile": Act(2, lambda m: [m.folder(), m.pick(os.O_RDWR, os.O_WRONLY), m.new()[1]],
                   do_tmpfile, ask_tmpfile),
    "mkdir": Act(2, lambda m: [m.new(), m.pick(0o755, 0o700)], do_mkdir, ask_make("DIRECTORY")),
    "mkfifo": Act(1, lambda m: [m.new()], do_mkfifo, ask_make("FIFO", 0o644)),
    "mknod": Act(1, lambda m: [m.new(), m.pick(stat.S_IFREG, stat.S_IFREG, stat.S_IFSOCK, stat.S_IFIFO)
                               | m.pick(0o600, 0o644)], do_mknod, ask_mknod),
    "symlink": Act(2, lambda m: [m.pick("a", "../o/secret", "d", "nowhere"), m.new()],
                   do_symlink, ask_symlink),
    "link": Act(3, lambda m: [m.where(), m.new(), m.maybe(.2)], do_link, ask_link),
    "rename": Act(5, lambda m: [m.where(), m.new(),
                                m.pick(0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE)],
                  do_rename, ask_rename),
    "unlink": Act(3, lambda m: [m.where()], do_unlink, ask_name("file-write-unlink")),
    "rmdir": Act(1, lambda m: [m.folder()], do_rmdir, ask_name("file-write-unlink")),
    "truncate": Act(2, lambda m: [m.where(), m.pick(0, 3, 40)], do_truncate,
                    lambda v, where, size: ask_object("file-write-data")(v, where)),
    "ftruncate": Act(1, lambda m: [m.where(), m.pick(0, 3)], do_ftruncate, ask_ftruncate),
    "chmod": Act(3, lambda m: [m.where(), m.mode() | 0o400], do_chmod, ask_chmod),
    "fchmod": Act(1, lambda m: [m.where(), m.mode() | 0o400], do_fchmod, ask_fchmod),
    "chown": Act(1, lambda m: [m.where(), m.maybe(.7)], do_chown, ask_object("file-write-owner")),
    "utime": Act(1, lambda m: [m.where(), m.maybe(.7)], do_utime, ask_object("file-write-times")),
    "futime": Act(1, lambda m: [m.where()], do_futime, ask_object("file-write-times", stages=2)),
    "setxattr": Act(2, lambda m: [m.where(), m.pick(*XATTRS), m.maybe(.8)], do_setxattr,
                    ask_xattr("file-write-xattr")),
    "removexattr": Act(1, lambda m: [m.where(), m.pick(*XATTRS)], do_removexattr,
                       ask_xattr("file-write-xattr")),
    "getxattr": Act(1, lambda m: [m.where(), m.pick(*XATTRS)], do_getxattr,
                    ask_xattr("file-read-xattr")),
    "listxattr": Act(1, lambda m: [m.where()], do_listxattr, ask_object("file-read-metadata")),
    "setacl": Act(1, lambda m: [m.where(), m.pick(4, 6)], do_setacl, ask_setacl),
    "access": Act(3, lambda m: [m.where(), m.pick(0, 1, 2, 3, 4, 5, 6, 7)], do_access, ask_access),
    "stat": Act(2, lambda m: [m.where(), m.maybe(.6)], do_stat, ask_object("file-read-metadata")),
    "readlink": Act(1, lambda m: [m.how(m.random.choice(LINKS))], do_readlink, ask_readlink),
    "listdir": Act(2, lambda m: [m.folder()], do_listdir, ask_object("file-read-data")),
    "chdir": Act(1, lambda m: [m.folder()], do_chdir, lambda v, where: [[]]),
    "exec": Act(4, lambda m: [m.how(m.pick("w/tool", "w/script", "w/script2", "w/empty/tool",
                                           "w/new1", "w/a", "w/dlink/../tool"))],
                do_exec, ask_exec),
    "exec-fd": Act(1, lambda m: [m.how(m.pick("w/tool", "w/script", "w/empty/tool", "w/a"))],
                   do_exec_fd, ask_exec),
    "exec-memfd": Act(1, lambda m: [], do_exec_memfd, ask_exec_memfd),
    "fork": Act(1, lambda m: [], do_fork, ask_fork),
    "signal": Act(3, lambda m: [m.pick(*TARGETS), m.pick(*SIGNALS), os.getpid()],
                  do_signal, ask_signal),
    "socket": Act(1, lambda m: [m.pick("AF_INET", "AF_UNIX", "AF_NETLINK", "AF_INET6"),
                                m.pick("SOCK_STREAM", "SOCK_DGRAM")], do_socket, ask_socket),
    "connect": Act(3, lambda m: [*m.endpoint(), m.pick("SOCK_STREAM", "SOCK_STREAM", "SOCK_DGRAM")],
                   do_connect, ask_connect),
    "send": Act(1, lambda m: m.endpoint(), do_send, ask_send),
    "listen": Act(2, lambda m: [m.pick("127.0.0.1", "0.0.0.0", "::1"),
                                m.pick(m.ports["free"], m.ports["free2"])], do_listen, ask_listen),
    "connect-unix": Act(2, lambda m: [["abs", m.pick("w/s/sock", "w/s/sock", "w/a", "w/new1")],
                                      m.pick("SOCK_STREAM", "SOCK_STREAM", "SOCK_DGRAM")],
                        do_connect_unix, ask_connect_unix),
    "send-unix": Act(1, lambda m: [["abs", m.pick("w/s/sock", "w/a", "w/new1")]],
                     do_send_unix, ask_send_unix),
    "listen-unix": Act(2, lambda m: [m.new(), m.pick("SOCK_STREAM", "SOCK_STREAM", "SOCK_DGRAM")],
                       do_listen_unix, ask_listen_unix),
    "bind-abstract": Act(1, lambda m: [f"differential-{os.getpid()}"], do_bind_abstract,
                         ask_bind_abstract),
    "lock": Act(1, lambda m: [m.where(), m.pick("flock", "lockf")], do_lock, ask_lock),
    "flags": Act(1, lambda m: [m.where(), m.maybe(.5)], do_flags, ask_flags),
    "device": Act(1, lambda m: [m.pick("/dev/random", "/dev/urandom")], do_device, ask_device),
    "openpty": Act(1, lambda m: [], do_openpty, ask_openpty),
    "watch": Act(1, lambda m: [m.where()], do_watch, ask_watch),
    "shm": Act(2, lambda m: [m.pick("n1", "n2"), m.pick(os.O_RDONLY, os.O_RDWR)
                             | m.pick(0, os.O_CREAT, os.O_CREAT | os.O_EXCL)], do_shm, ask_shm),
    "shm-unlink": Act(1, lambda m: [m.pick("n1", "n2")], do_shm_unlink, ask_shm_unlink),
    "system": Act(2, lambda m: [m.pick(*SYSTEM), m.pick(os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)],
                  do_system, ask_system),
}

SOCKET_ACTS = ("connect", "send", "listen", "connect-unix", "send-unix", "listen-unix", "bind-abstract")
