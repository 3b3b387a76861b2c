#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The live judge: acts under a profile, against the running kernel.

usage: live.py LAPBELT root|user

Each row is a profile, an act and the answer. The act is done three times over: without a sandbox
(the control: it must succeed, else a denial would prove nothing), under `lapbelt exec` (it must do
what the row says), and as a question to `lapbelt decide` (which must agree). Every act gets a new
world: files below {w}, a listener on {port}, a listening Unix socket {w}/s/sock.

With `user`, root becomes an ordinary user first. The output is TAP.
"""
import contextlib
import ctypes
import errno
import fcntl
import os
import random
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time

NOBODY = 65534

# expectation: (what decide says, how the act may end)
EXPECTED = {
    "allow": ("allow", ("ok",)),
    "deny": ("deny", ("EPERM", "EACCES")),
    "stricter": ("allow", ("EPERM", "EACCES")),  # a gap that plan lists: too much is denied
    "not moved": ("allow", ("EXDEV",)),  # it would be more open at its new place: mv copies
}

# ---- Acts: what the child does; each returns nothing or raises OSError -------------------------


def act_read(path):
    with open(path, "rb") as f:
        f.read()


def act_write(path):
    os.close(os.open(path, os.O_WRONLY))


def act_rdwr(path):
    os.close(os.open(path, os.O_RDWR))


def act_create(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))


def act_truncate(path):
    os.truncate(path, 0)


def act_chmod(path, mode):
    os.chmod(path, int(mode, 8))


def act_utime(path):
    os.utime(path, (1, 1))


def act_exec(path):
    status = os.spawnv(os.P_WAIT, path, [path])
    if status == 127:
        raise OSError(errno.EPERM, "not executed")


def address(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return family, (host, int(port))


def act_connect(host, port):
    family, where = address(host, port)
    with socket.socket(family) as s:
        s.connect(where)


def act_send(host, port):
    family, where = address(host, port)
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", where)


def act_bind(host, port):
    family, where = address(host, port)
    with socket.socket(family) as s:
        s.bind(where)


def act_listen(host, port):
    family, where = address(host, port)
    with socket.socket(family) as s:
        s.bind(where)
        s.listen(1)


def act_connect_unix(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)


def act_bind_unix(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)


def act_listen_unix(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
        s.listen(1)


def act_listen_unbound():
    with socket.socket() as s:
        s.listen(1)


# SIGURG: who does not ask for it ignores it.

SYS_TKILL, SYS_TGKILL, SYS_QUEUE, SYS_TGQUEUE, SYS_PIDFD = (
    (130, 131, 138, 240, 424) if os.uname().machine == "aarch64" else (200, 234, 129, 297, 424))
THREAD, PROCESS, GROUP = 1, 2, 4  # flags of pidfd_send_signal, 6.9


def system_call(*arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def signal_info(code):
    """A siginfo_t: si_signo, si_errno, si_code, and the sender, all as the sender says."""
    return struct.pack("iii4xii", signal.SIGURG, 0, code, os.getpid(), os.getuid()).ljust(128)


def by_pidfd(pid, flags=0):
    fd = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(fd, signal.SIGURG, None, flags)
    finally:
        os.close(fd)


WAYS = {
    "kill": lambda pid: os.kill(pid, signal.SIGURG),
    "tkill": lambda pid: system_call(SYS_TKILL, pid, signal.SIGURG),
    "tgkill": lambda pid: system_call(SYS_TGKILL, pid, pid, signal.SIGURG),
    "sigqueue": lambda pid: system_call(SYS_QUEUE, pid, signal.SIGURG, signal_info(-1)),
    "tgsigqueue": lambda pid: system_call(SYS_TGQUEUE, pid, pid, signal.SIGURG, signal_info(-1)),
    "pidfd": by_pidfd,
    "pidfd-info": lambda pid: system_call(SYS_PIDFD, os.pidfd_open(pid), signal.SIGURG,
                                          signal_info(-1), 0),
    "pidfd-thread": lambda pid: by_pidfd(pid, THREAD),
    "pidfd-process": lambda pid: by_pidfd(pid, PROCESS),
    "pidfd-group": lambda pid: by_pidfd(pid, GROUP),
    "group": lambda pid: os.kill(-pid, signal.SIGURG),
    "own-group": lambda _: os.kill(0, signal.SIGURG),
    "everybody": lambda _: os.kill(-1, signal.SIGURG),
}


LIFE = os.pipe()


def start(work, apart=False):
    """A child that works, then stays as long as this process; in a group of its own if APART."""
    ready, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with contextlib.suppress(OSError):
                os.close(LIFE[1])
            if apart:
                os.setpgid(0, 0)
            work()
            os.write(tell, b"x")
            os.close(tell)
            os.read(LIFE[0], 1)
        finally:
            os._exit(1)
    os.close(tell)
    os.read(ready, 1)
    os.close(ready)
    return pid


def outcome_in_child(work, apart):
    """Runs WORK in a child and raises here what it raises there."""
    pid = os.fork()
    if pid == 0:
        status = 255
        try:
            if apart:
                os.setpgid(0, 0)
            work()
            status = 0
        except OSError as e:
            status = e.errno
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        raise OSError(status, os.strerror(status) if status > 0 else f"signal {-status}")


def act_signal(way, who):
    """WHO: self, child, parent, grandchild (each also -apart: of another group), or NAME=PID."""
    send, pid = WAYS[way], os.getpid()
    who, apart = who.removesuffix("-apart"), who.endswith("-apart")
    if who == "self":
        send(pid)
    elif who == "parent":
        outcome_in_child(lambda: send(pid), apart)
    elif who == "child":
        child = start(lambda: None, apart)
        send(child)
    elif who == "grandchild":
        read, write = os.pipe()
        start(lambda: os.write(write, start(lambda: None, apart).to_bytes(4, "big")))
        send(int.from_bytes(os.read(read, 4), "big"))
    else:
        send(int(who.partition("=")[2]))


def act_group_member(who):
    """kill(0): does a child or grandchild of our group get it too?"""
    read, write = os.pipe()

    def listen():
        signal.signal(signal.SIGWINCH, lambda *_: os.write(write, b"x"))

    os.setpgid(0, 0)
    start(listen if who == "child" else lambda: start(listen))
    os.kill(0, signal.SIGWINCH)
    if not select.select([read], [], [], 0.5)[0]:
        raise OSError(errno.EPERM, "not signalled")


def act_signal_thread(way):
    """Another thread of this process."""
    ends = threading.Event()
    thread = threading.Thread(target=ends.wait)
    thread.start()
    try:
        if way == "tkill":
            system_call(SYS_TKILL, thread.native_id, signal.SIGURG)
        else:
            system_call(SYS_TGKILL, os.getpid(), thread.native_id, signal.SIGURG)
    finally:
        ends.set()
        thread.join()


TARGETS = {
    "self": ["self"], "child": ["children", "pgrp"], "child-apart": ["children"],
    "parent": ["same-sandbox", "pgrp"], "parent-apart": ["same-sandbox"],
    "grandchild": ["same-sandbox", "pgrp"], "grandchild-apart": ["same-sandbox"],
    "outsider": ["others"], "mate": ["others", "pgrp"],
}


def ask_signal(way, who):
    if way == "own-group":
        who = "self"  # one that may be signalled is enough
    return [("signal", "signal=SIGURG", *("target=" + t for t in TARGETS[who.partition("=")[0]]))]


def outcome(act, *arguments):
    try:
        act(*arguments)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "ok"


def act_dropped_ids():
    """root's process, signalled by one that has given its ids up: kill(2)'s rule is about those."""
    root = start(lambda: None, True)

    def work():
        os.setpgid(0, root)
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        equal = start(lambda: None, True)
        cases = [(way, root, "EPERM") for way in WAYS if way not in ("group", "pidfd-group",
                                                                     "own-group", "everybody")]
        cases += [(way, equal, "ok") for way in WAYS if way != "everybody"]
        for way, pid, wanted in cases:
            if outcome(WAYS[way], pid) != wanted:
                raise OSError(errno.EIO, way)
        os.setpgid(0, 0)
        for way in "group", "pidfd-group":
            if outcome(WAYS[way], root) != "EPERM":
                raise OSError(errno.EIO, way)
        os.kill(root, signal.SIGCONT)  # of the same session
    outcome_in_child(work, False)
    WAYS["kill"](root)


def act_signal_errors():
    """What the kernel says of calls that make no sense."""
    child = start(lambda: None, True)
    fd = os.pidfd_open(child)
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    gone_fd = os.pidfd_open(gone)
    os.waitpid(gone, 0)
    cases = [
        ("EINVAL", SYS_PIDFD, fd, 0, None, 8), ("EINVAL", SYS_PIDFD, fd, 0, None, THREAD | GROUP),
        ("EINVAL", SYS_PIDFD, -1, 0, None, 8), ("EBADF", SYS_PIDFD, -1, 0, None, 0),
        ("EBADF", SYS_PIDFD, 0, 0, None, 0), ("ESRCH", SYS_PIDFD, gone_fd, 0, None, 0),
        ("EFAULT", SYS_PIDFD, fd, signal.SIGURG, ctypes.c_void_p(16), 0),
        ("EPERM", SYS_PIDFD, fd, signal.SIGURG, signal_info(0), 0),
        ("EINVAL", SYS_PIDFD, fd, signal.SIGUSR1, signal_info(-1), 0),
        ("EPERM", SYS_QUEUE, child, signal.SIGURG, signal_info(0)),
        ("EPERM", SYS_QUEUE, child, signal.SIGURG, signal_info(-6)),
        ("ESRCH", SYS_QUEUE, -1, signal.SIGURG, signal_info(-1)),
        ("EINVAL", SYS_TKILL, 0, 0), ("EINVAL", SYS_TKILL, -child, 0),
        ("ESRCH", SYS_TKILL, gone, 0),
        ("EINVAL", SYS_TGKILL, 0, child, 0), ("ESRCH", SYS_TGKILL, os.getpid(), child, 0),
        ("EINVAL", SYS_TGQUEUE, child, -1, signal.SIGURG, signal_info(-1)),
        ("EINVAL", SYS_TKILL, child, 99),
    ]
    for wanted, *call in cases:
        if outcome(system_call, *call) != wanted:
            raise OSError(errno.EIO, call)
    for pid in gone, -gone, -2 ** 31:
        if outcome(os.kill, pid, 0) != "ESRCH":
            raise OSError(errno.EIO, pid)


def act_killed_callers():
    """Children that signal their own group until they are killed; waits for a line around that."""
    def call():
        while os.getpgrp() != os.getpid():
            pass
        while True:
            os.kill(0, 0)

    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(300):
        child = os.fork()
        if child == 0:
            try:
                call()
            finally:
                os._exit(1)
        os.setpgid(child, child)
        time.sleep(random.uniform(0.002, 0.006))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print("done", flush=True)
    sys.stdin.readline()


def act_owner(who):
    """fcntl F_SETOWN: SIGIO to WHO."""
    read, _ = os.pipe()
    fcntl.fcntl(read, fcntl.F_SETOWN, {"self": os.getpid, "nobody": lambda: 0,
                                       "child": lambda: start(lambda: None)}[who]())


def act_shm_create(name):
    os.close(os.open("/dev/shm/" + name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink("/dev/shm/" + name)


def act_memfd_exec():
    fd = os.memfd_create("x", 0)
    with open("/bin/true", "rb") as f:
        os.write(fd, f.read())
    act_exec(f"/proc/self/fd/{fd}")


# acl(5): version 2; owner, group and others may read and write.
ACL = struct.pack("<I" + "HHI" * 3, 2, 1, 6, 2**32 - 1, 4, 6, 2**32 - 1, 0x20, 6, 2**32 - 1)


def act_acl(path, name="system.posix_acl_access"):
    os.setxattr(path, name, ACL)


def act_flags(path):
    fs_ioc_setflags, nodump = 0x40086602, struct.pack("i", 0x40)
    with open(path, "rb") as f:
        fcntl.ioctl(f, fs_ioc_setflags, nodump)


def act_access(path, mode):
    if not os.access(path, {"r": os.R_OK, "w": os.W_OK, "x": os.X_OK}[mode]):
        raise OSError(errno.EACCES, "no access")


def act_openpty():
    for fd in os.openpty():
        os.close(fd)


def question(op, path):
    """About what is there, with its mode and its device."""
    found = os.stat(path)
    words = [op, path, f"mode={stat.S_IMODE(found.st_mode):o}"]
    if stat.S_ISCHR(found.st_mode):
        words.append(f"device-major={os.major(found.st_rdev)}")
    return tuple(words)


# name: (what to do, the questions that `decide` must all answer with allow)
ACTS = {
    "read": (act_read, lambda p: [question("file-read-data", p)]),
    "open": (lambda p: os.close(os.open(p, os.O_RDONLY)), lambda p: [question("file-read-data", p)]),
    "write": (act_write, lambda p: [("file-write-data", p)]),
    "rdwr": (act_rdwr, lambda p: [("file-read-data", p), ("file-write-data", p)]),
    "create": (act_create, lambda p: [("file-write-create", p, "vnode-type=REGULAR-FILE")]),
    "tmpfile": (lambda p: os.close(os.open(p, os.O_TMPFILE | os.O_RDWR, 0o600)), lambda p: [
        (op, p + "/x", "vnode-type=REGULAR-FILE")
        for op in ("file-write-create", "file-write-data", "file-read-data")]),
    "create-cut": (lambda p: os.close(os.open(p, os.O_CREAT | os.O_TRUNC)), lambda p: [
        (op, p, "vnode-type=REGULAR-FILE") for op in ("file-write-create", "file-read-data")]),
    "mkdir": (os.mkdir, lambda p: [("file-write-create", p, "vnode-type=DIRECTORY")]),
    "mkfifo": (os.mkfifo, lambda p: [("file-write-create", p, "vnode-type=FIFO")]),
    "symlink": (lambda p: os.symlink("x", p),
                lambda p: [("file-write-create", p, "vnode-type=SYMLINK")]),
    "unlink": (os.unlink, lambda p: [question("file-write-unlink", p)]),
    "rmdir": (os.rmdir, lambda p: [("file-write-unlink", p)]),
    "rename": (os.rename, lambda a, b: [("file-write-unlink", a), ("file-write-create", b)]),
    "link": (os.link, lambda a, b: [question("file-link", a), ("file-write-create", b)]),
    "truncate": (act_truncate, lambda p: [("file-write-data", p)]),
    "chmod": (act_chmod, lambda p, mode: [("file-write-mode", p)]
              + ([("file-write-setugid", p)] if int(mode, 8) & 0o6000 else [])),
    "utime": (act_utime, lambda p: [("file-write-times", p)]),
    "exec": (act_exec, lambda p: [("process-exec*", p)]),
    "connect": (act_connect, lambda h, p: [("network-outbound", end(h, p))]),
    "send": (act_send, lambda h, p: [("network-outbound", end(h, p), "protocol=udp")]),
    "bind": (act_bind, lambda h, p: [("network-bind", end(h, p))]),
    "listen": (act_listen, lambda h, p: [("network-bind", end(h, p)),
                                         ("network-inbound", end(h, p))]),
    "connect-unix": (act_connect_unix, lambda p: [("network-outbound", p)]),
    "bind-unix": (act_bind_unix, lambda p: [("network-bind", p),
                                            ("file-write-create", p, "vnode-type=SOCKET")]),
    "shm-create": (act_shm_create, lambda n: [("ipc-posix-shm-" + use, "/" + n) for use in
                                              ("read-data", "write-data", "write-create",
                                               "write-unlink")]),
    "sysctl": (act_read, lambda p: [("sysctl-read", p[10:].replace("/", ".")),
                                    ("file-read-data", p)]),
    "memfd-exec": (act_memfd_exec, lambda: [("process-exec*",)]),
    "acl": (act_acl, lambda p: [("file-write-acl", p), ("file-write-mode", p),
                                ("file-write-xattr", p, "xattr=system.posix_acl_access")]),
    "default-acl": (lambda p: act_acl(p, "system.posix_acl_default"),
                    lambda p: [("file-write-acl", p),
                               ("file-write-xattr", p, "xattr=system.posix_acl_default")]),
    "flags": (act_flags, lambda p: [("file-write-flags", p), ("file-read-data", p)]),
    "access": (act_access, lambda p, mode: [({"r": "file-read-data", "w": "file-write-data",
                                              "x": "process-exec*"}[mode], p)]),
    "openpty": (act_openpty, lambda: [("pseudo-tty",), ("file-read-data", "/dev/ptmx"),
                                      ("file-write-data", "/dev/ptmx")]),
    "listen-unix": (act_listen_unix, lambda p: [("network-bind", p), ("network-inbound", p)]),
    "listen-unbound": (act_listen_unbound, lambda: [("network-bind", "0.0.0.0:60000"),
                                                    ("network-inbound", "0.0.0.0:60000")]),
    "signal": (act_signal, ask_signal),
    "group-member": (act_group_member, lambda who: [
        ("signal", "target=pgrp", "target=" + {"child": "children"}.get(who, "same-sandbox"))]),
    "signal-thread": (act_signal_thread, lambda _: [("signal", "target=self")]),
    "dropped-ids": (act_dropped_ids, lambda: [("signal", "target=children")]),
    "signal-errors": (act_signal_errors, lambda: [("signal", "target=children")]),
    "killed-callers": (act_killed_callers, lambda: []),
    "owner": (act_owner, lambda who: [("signal", "target=" + who)] if who != "nobody" else []),
}


def end(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def do_act(name, arguments):
    """The child: prints ok, or the name of the error."""
    try:
        ACTS[name][0](*arguments)
    except OSError as e:
        print(errno.errorcode.get(e.errno, str(e.errno)))
    else:
        print("ok")


# ---- Rows --------------------------------------------------------------------------------------

# Enough for the interpreter that does the acts, and nothing of the world.
BASE = """(version 1)(deny default)(allow process*)(allow sysctl-read)(allow signal (target self))
(allow file-read* (subpath "/usr") (subpath "/lib") (subpath "/lib64") (subpath "/etc")
  (subpath "{bin}") (subpath "{python}") (literal "/"))
(allow file-read-metadata)
"""
OPEN = "(version 1)(allow default)\n"
W = '(subpath "{w}")'
WRITE = BASE + f"(allow file-write* {W})(allow file-read* {W})\n"

# title, profile, act, arguments, expectation [, options of lapbelt exec]. Numbers: test vectors of
# the language reference.
ROWS = [
    ("1: the last match wins: deny", BASE + f'(allow file-read* {W})'
     '(deny file-read* (subpath "{w}/d"))', "read", ["{w}/d/x"], "deny"),
    ("2: the last match wins: allow", BASE + '(deny file-read* (subpath "{w}/d"))'
     f'(allow file-read* {W})', "read", ["{w}/d/x"], "allow"),
    ("5: a read deny does not stop a rename on macOS", WRITE + '(deny file-read* (literal "{w}/.env"))',
     "rename", ["{w}/.env", "{w}/env"], "not moved"),
    ("6: a write deny does", WRITE + '(deny file-write* (literal "{w}/.env"))',
     "rename", ["{w}/.env", "{w}/env"], "deny"),
    ("8: a regex for another name", OPEN + r'(deny file-read* (regex #"^.*/\.xssh(/.*)?$"))',
     "read", ["{w}/.SSH/config"], "allow"),
    ("8: a regex for this name", OPEN + r'(deny file-read* (regex #"^.*/\.SSH(/.*)?$"))',
     "read", ["{w}/.SSH/config"], "deny"),
    ("10: (?: makes the pattern dead", OPEN +
     r'(deny file-read-data (regex #"^{w}/(?:.*/)?\.env$"))', "read", ["{w}/d/.env"], "allow"),
    ("10: the same with a group", OPEN + r'(deny file-read-data (regex #"^{w}/(.*/)?\.env$"))',
     "read", ["{w}/d/.env"], "deny"),
    ("11: the more specific operation wins", BASE + '(allow file-read-data (subpath "/"))'
     '(deny file-read* (literal "{w}/a"))', "read", ["{w}/a"], "allow"),
    ("11: denied on the operation itself", BASE + '(allow file-read-data (subpath "/"))'
     '(deny file-read-data (literal "{w}/a"))', "read", ["{w}/a"], "deny"),
    ("12: an unfiltered allow before a filtered deny", BASE + f'(allow file-read* {W})'
     '(allow network-outbound)(deny network-outbound (subpath "{w}/s"))',
     "connect-unix", ["{w}/s/sock"], "deny"),
    ("12: an unfiltered allow after a filtered deny", BASE + f'(allow file-read* {W})'
     '(deny network-outbound (subpath "{w}/s"))(allow network-outbound)',
     "connect-unix", ["{w}/s/sock"], "deny"),
    ("12: an unfiltered deny leaves a filtered allow", OPEN +
     '(allow network-outbound (subpath "{w}/s"))(deny network*)',
     "connect-unix", ["{w}/s/sock"], "allow"),
    ("15: localhost is 127.0.0.1", BASE + '(allow network-outbound (remote ip "localhost:{port}"))',
     "connect", ["127.0.0.1", "{port}"], "allow"),
    ("15: localhost is ::1", BASE + '(allow network-outbound (remote ip "localhost:{port6}"))',
     "connect", ["::1", "{port6}"], "allow"),
    ("15: localhost is ::ffff:127.0.0.1, here",
     BASE + '(allow network-outbound (remote ip "localhost:{port}"))',
     "connect", ["::ffff:127.0.0.1", "{port}"], "allow"),
    ("15: another port", BASE + '(allow network-outbound (remote ip "localhost:{free}"))',
     "connect", ["127.0.0.1", "{port}"], "deny"),
    ("15: a denied localhost is denied in its mapped form",
     OPEN + '(deny network-outbound (remote ip "localhost:*"))',
     "connect", ["::ffff:127.0.0.1", "{port}"], "deny"),
    ("16: a local filter matches an unbound socket",
     BASE + '(allow network-outbound (local ip "localhost:*"))',
     "connect", ["127.0.0.1", "{port}"], "allow"),
    ("16: control: no rule", BASE, "connect", ["127.0.0.1", "{port}"], "deny"),
    ("17: bind to the port", BASE + '(allow network-bind (local ip "localhost:{free}"))',
     "bind", ["127.0.0.1", "{free}"], "allow"),
    ("17: bind to all interfaces", BASE + '(allow network-bind (local ip "localhost:{free}"))',
     "bind", ["0.0.0.0", "{free}"], "deny"),
    ("17: bind to another port", BASE + '(allow network-bind (local ip "localhost:{free}"))',
     "bind", ["127.0.0.1", "{free2}"], "deny"),
    ("17: listen is network-inbound", BASE + '(allow network-bind (local ip "localhost:{free}"))',
     "listen", ["127.0.0.1", "{free}"], "deny"),
    ("17: network-inbound alone is enough",
     BASE + '(allow network-inbound (local ip "localhost:{free}"))',
     "listen", ["127.0.0.1", "{free}"], "allow"),
    ("22: an unknown escape loses its backslash", BASE + r'(allow file-read* (subpath "{w}/b\q"))',
     "read", [r"{w}/b\q/x"], "deny"),
    ("22: a backslash is written twice", BASE + r'(allow file-read* (subpath "{w}/b\\q"))',
     "read", [r"{w}/b\q/x"], "allow"),
    ("23: /dev/null without the runtime", WRITE, "write", ["/dev/null"], "deny", "--no-runtime"),
    ("23: /dev/null with the runtime", WRITE, "write", ["/dev/null"], "allow"),
    ("24: a hard link that was there", BASE + f'(allow file-read* {W})', "read", ["{w}/hard"],
     "allow"),
    ("24: control: its other name", BASE + f'(allow file-read* {W})', "read", ["{o}/secret"],
     "deny"),
    ("26: (allow default) does not set the user id", OPEN, "chmod", ["{w}/a", "4755"], "deny"),
    ("26: nor the group id", OPEN, "chmod", ["{w}/a", "2755"], "deny"),
    ("26: control: another mode", OPEN, "chmod", ["{w}/a", "755"], "allow"),
    ("26: with a rule of its own", OPEN + f"(allow file-write-setugid {W})",
     "chmod", ["{w}/a", "4755"], "allow"),
    ("27: a symbolic link out of the allowed tree", BASE + f"(allow file-read* {W})",
     "read", ["{w}/alias"], "deny"),

    ("a tree in a folder that cannot be listed", BASE + '(allow file-read* (subpath "{w}/c/x"))',
     "read", ["{w}/c/x/f"], "allow"),
    ("a link in such a folder leads to nothing that is granted",
     BASE + '(allow file-read* (subpath "{w}/c/link/x"))', "read", ["{w}/c/link/x/f"], "deny"),
    ("nor does one that is named itself", BASE + '(allow file-read* (subpath "{w}/c/link"))',
     "read", ["{w}/c/link/x/f"], "deny"),
    ("nor one to a file", BASE + '(allow file-read* (literal "{w}/c/alias"))',
     "read", ["{w}/c/alias"], "deny"),
    ("nor one in a folder that can be listed", BASE + '(allow file-read* (subpath "{w}/link/x"))',
     "read", ["{w}/link/x/f"], "deny"),
    ("an open tree can be read", BASE + f"(allow file-read* {W})", "read", ["{w}/a"], "allow"),
    ("and not written", BASE + f"(allow file-read* {W})", "write", ["{w}/a"], "deny"),
    ("nor opened for both", BASE + f"(allow file-read* {W})", "rdwr", ["{w}/a"], "deny"),
    ("nor truncated", BASE + f"(allow file-read* {W})", "truncate", ["{w}/a"], "deny"),
    ("nor extended", BASE + f"(allow file-read* {W})", "create", ["{w}/new"], "deny"),
    ("nor emptied", BASE + f"(allow file-read* {W})", "unlink", ["{w}/a"], "deny"),
    ("nor touched", BASE + f"(allow file-read* {W})", "utime", ["{w}/a"], "deny"),
    ("nor given another mode", BASE + f"(allow file-read* {W})", "chmod", ["{w}/a", "600"], "deny"),
    ("a write tree takes a new file", WRITE, "create", ["{w}/new"], "allow"),
    ("a write tree takes a folder", WRITE, "mkdir", ["{w}/new"], "allow"),
    ("a write tree takes a symbolic link", WRITE, "symlink", ["{w}/new"], "allow"),
    ("a write tree takes a FIFO", WRITE, "mkfifo", ["{w}/new"], "allow"),
    ("a write tree gives up a file", WRITE, "unlink", ["{w}/a"], "allow"),
    ("a write tree gives up a folder", WRITE, "rmdir", ["{w}/empty"], "allow"),
    ("a write tree allows renaming", WRITE, "rename", ["{w}/a", "{w}/d/a"], "allow"),
    ("a write tree allows linking", WRITE, "link", ["{w}/a", "{w}/d/a"], "allow"),
    ("a set-id file can be linked where writes are judged",
     OPEN + '(deny file-write* (literal "{w}/other"))', "link", ["{w}/setid", "{w}/d/a"], "allow"),
    ("a write tree allows touching", WRITE, "utime", ["{w}/a"], "allow"),
    ("a write tree allows opening for both", WRITE, "rdwr", ["{w}/a"], "allow"),
    ("O_TRUNC cuts nothing off a new file", WRITE + '(deny file-write-data (literal "{w}/new"))',
     "create-cut", ["{w}/new"], "allow"),
    ("O_TRUNC cuts nothing off, where nobody judges", WRITE + f"(deny file-write-data {W})",
     "create-cut", ["{w}/new"], "allow"),
    ("a file without a name, where nobody judges", WRITE, "tmpfile", ["{w}"], "stricter"),
    ("a file without a name, where none may be made", OPEN + f"(deny file-write-create {W})",
     "tmpfile", ["{w}"], "deny"),
    ("a file without a name, where opens are judged", WRITE +
     r'(deny file-write* (regex #"/\.git/hooks(/|$)"))', "tmpfile", ["{w}"], "allow"),
    ("a protected name that is not there cannot be made",
     WRITE + r'(deny file-write* (regex #"/\.git/hooks(/|$)"))',
     "mkdir", ["{w}/.git/hooks"], "deny"),
    ("nor come by renaming", WRITE + r'(deny file-write* (regex #"/\.git/hooks(/|$)"))',
     "rename", ["{w}/empty", "{w}/.git/hooks"], "deny"),
    ("nor by a symbolic link", WRITE + r'(deny file-write* (regex #"/\.git/hooks(/|$)"))',
     "symlink", ["{w}/.git/hooks"], "deny"),
    ("its neighbour can be made", WRITE + r'(deny file-write* (regex #"/\.git/hooks(/|$)"))',
     "mkdir", ["{w}/.git/hooks2"], "allow"),
    ("folders only: a folder", BASE + f"(allow file-write-create (require-all {W}"
     " (vnode-type DIRECTORY)))", "mkdir", ["{w}/new"], "allow"),
    ("folders only: a file", BASE + f"(allow file-write-create (require-all {W}"
     " (vnode-type DIRECTORY)))", "create", ["{w}/new"], "deny"),
    ("all but one name: the name", BASE + f'(allow file-read* (require-all {W} (require-not'
     ' (literal "{w}/a"))))', "read", ["{w}/a"], "deny"),
    ("all but one name: another", BASE + f'(allow file-read* (require-all {W} (require-not'
     ' (literal "{w}/a"))))', "read", ["{w}/d/x"], "allow"),
    ("by mode: what everybody may read", OPEN + '(deny file-read* (require-all (subpath "{w}")'
     ' (file-mode #o0004)))', "read", ["{w}/a"], "deny"),
    ("control: by mode: what only some may read", OPEN + '(deny file-read* (require-all'
     ' (subpath "{w}") (file-mode #o0004)))', "read", ["{w}/own"], "allow"),
    ("by mode: removing", OPEN + '(deny file-write-unlink (require-all (subpath "{w}")'
     ' (file-mode #o0004)))', "unlink", ["{w}/a"], "deny"),
    ("by mode: linking", OPEN + '(deny file-link (require-all (subpath "{w}")'
     ' (file-mode #o0004)))', "link", ["{w}/a", "{w}/d/a"], "deny"),
    ("by device: opening", OPEN + '(deny file-read-data (require-all (literal "/dev/zero")'
     ' (device-major 1)))', "open", ["/dev/zero"], "deny"),
    ("control: by device: another one", OPEN + '(deny file-read-data (require-all'
     ' (literal "/dev/zero") (device-major 2)))', "open", ["/dev/zero"], "allow"),
    ("a device without requests, where the broker opens", OPEN +
     r'(deny file-read* (regex #"/\.no$"))(deny file-ioctl (literal "/dev/zero"))',
     "open", ["/dev/zero"], "stricter"),
    ("control: where nobody does", OPEN + '(deny file-ioctl (literal "/dev/zero"))',
     "open", ["/dev/zero"], "allow"),
    ("a subpath ends at a component", OPEN + '(deny file-read* (subpath "{w}/d"))',
     "read", ["{w}/dd"], "allow"),
    ("a prefix does not", OPEN + '(deny file-read* (prefix "{w}/d"))', "read", ["{w}/dd"], "deny"),
    ("a program that may not be executed", OPEN + '(deny process-exec* (literal "{w}/tool"))',
     "exec", ["{w}/tool"], "deny"),
    ("control: its neighbour", OPEN + '(deny process-exec* (literal "{w}/tool2"))',
     "exec", ["{w}/tool"], "allow"),
    ("udp is denied with the network", OPEN + "(deny network*)", "send", ["127.0.0.1", "{port}"],
     "deny"),
    ("udp cannot be allowed by address",
     OPEN + '(deny network*)(allow network-outbound (remote udp "*:*"))(allow network-bind)',
     "send", ["127.0.0.1", "{port}"], "stricter"),
    ("and tcp stays denied",
     OPEN + '(deny network*)(allow network-outbound (remote udp "*:*"))(allow network-bind)',
     "connect", ["127.0.0.1", "{port}"], "deny"),
    ("a Unix socket may not be made", OPEN + "(deny network-bind)", "bind-unix", ["{w}/new"],
     "deny"),
    ("a Unix socket needs its name too", OPEN + f"(deny file-write-create {W})",
     "bind-unix", ["{w}/new"], "deny"),
    ("control: both are allowed", OPEN + '(deny file-write-create (literal "{w}/other"))',
     "bind-unix", ["{w}/new"], "allow"),
    ("shared memory, with a broker", OPEN + "(deny ipc-posix*)", "shm-create", ["{unique}"],
     "deny", "--no-runtime"),
    ("shared memory of another name", OPEN +
     '(deny ipc-posix-shm* (ipc-posix-name "/x"))(deny file-write* (literal "/x"))',
     "shm-create", ["{unique}"], "allow"),
    ("shared memory of this name", OPEN + '(deny ipc-posix-shm* (ipc-posix-name "/{unique}"))',
     "shm-create", ["{unique}"], "deny"),
    ("a semaphore is no shared memory", OPEN + "(deny ipc-posix-sem*)"
     r'(deny file-write* (regex #"\.no$"))', "shm-create", ["{unique}"], "allow"),
    ("a kernel parameter, with a broker", OPEN + r'(deny sysctl-read)(deny file* (regex #"\.no$"))',
     "sysctl", ["/proc/sys/kernel/ostype"], "deny"),
    ("another kernel parameter", OPEN + r'(deny file* (regex #"\.no$"))'
     '(deny sysctl-read (sysctl-name "kernel.hostname"))',
     "sysctl", ["/proc/sys/kernel/ostype"], "allow"),
    ("this kernel parameter", OPEN + r'(deny file* (regex #"\.no$"))'
     '(deny sysctl-read (sysctl-name "kernel.ostype"))',
     "sysctl", ["/proc/sys/kernel/ostype"], "deny"),
    ("a program without a name, where only names are allowed", OPEN + "(deny process-exec*)"
     '(allow process-exec* (subpath "/usr") (subpath "/bin") (subpath "{python}"))',
     "memfd-exec", [], "deny"),
    ("a program without a name, where a name is denied", OPEN +
     '(deny process-exec* (literal "{w}/tool"))', "memfd-exec", [], "allow"),
    ("an access control list is a mode", OPEN + "(deny file-write-mode)", "acl", ["{w}/a"], "deny"),
    ("an access control list", OPEN + "(deny file-write-acl)", "acl", ["{w}/a"], "deny"),
    ("another's access control list", OPEN + '(deny file-write-acl (literal "{w}/d/x"))',
     "acl", ["{w}/a"], "allow"),
    ("a folder's default list is no mode", OPEN + "(deny file-write-mode)", "default-acl",
     ["{w}/empty"], "allow"),
    ("a folder's default list", OPEN + "(deny file-write-acl)", "default-acl", ["{w}/empty"],
     "deny"),
    ("inode flags", OPEN + "(deny file-write-flags)", "flags", ["{w}/a"], "deny"),
    ("inode flags of this file", OPEN + '(deny file-write-flags (literal "{w}/a"))', "flags",
     ["{w}/a"], "deny"),
    ("inode flags of another file", OPEN + '(deny file-write-flags (literal "{w}/d/x"))', "flags",
     ["{w}/a"], "allow"),
    ("access says what open says: read", OPEN + r'(deny file-read* (regex #"/a$"))', "access",
     ["{w}/a", "r"], "deny"),
    ("access says what open says: another", OPEN + r'(deny file-read* (regex #"/a$"))', "access",
     ["{w}/d/x", "r"], "allow"),
    ("access says what open says: write", OPEN + '(deny file-write* (literal "{w}/a"))', "access",
     ["{w}/a", "w"], "deny"),
    ("access says what exec says", OPEN + '(deny process-exec* (literal "{w}/tool"))', "access",
     ["{w}/tool", "x"], "deny"),
    ("access says what exec says: another", OPEN + '(deny process-exec* (literal "{w}/a"))',
     "access", ["{w}/tool", "x"], "allow"),
    ("pseudo-terminals", OPEN + "(deny pseudo-tty)", "openpty", [], "deny"),
    ("pseudo-terminals, with a broker", OPEN + r'(deny pseudo-tty)(deny file* (regex #"\.no$"))',
     "openpty", [], "deny"),
    ("pseudo-terminals: control", OPEN + r'(deny file* (regex #"\.no$"))', "openpty", [], "allow"),
    ("a Unix socket may not listen", OPEN + "(deny network-inbound)(allow network-bind)",
     "listen-unix", ["{w}/new"], "deny"),
    ("control: it may be bound", OPEN + "(deny network-inbound)(allow network-bind)",
     "bind-unix", ["{w}/new"], "allow"),
    ("nor by its path", OPEN + '(deny network-inbound (subpath "{w}/d"))(allow network-bind)',
     "listen-unix", ["{w}/d/new"], "deny"),
    ("control: another path", OPEN + '(deny network-inbound (subpath "{w}/d"))(allow network-bind)',
     "listen-unix", ["{w}/dd2"], "allow"),
    ("a path for listening alone", OPEN + "(deny network-inbound)(allow network-bind)"
     '(allow network-inbound (literal "{w}/new"))', "listen-unix", ["{w}/new"], "allow"),
    ("listening binds to all interfaces", BASE + '(allow network-inbound (local ip "localhost:*"))',
     "listen-unbound", [], "deny"),
    ("and takes a rule for that", BASE + '(allow network-inbound (local ip "*:*"))',
     "listen-unbound", [], "allow"),
    ("binding is part of it", OPEN + '(deny network-bind)(allow network-inbound)',
     "listen-unbound", [], "deny"),
    ("a denied port is not chosen", OPEN + '(deny network-inbound (local tcp "*:7"))',
     "listen-unbound", [], "allow"),
    ("a rule about the other end is not about binding", OPEN + "(deny network* (remote unix))",
     "bind-unix", ["{w}/new"], "allow"),
    ("control: about the socket's own end", OPEN + "(deny network* (local unix))",
     "bind-unix", ["{w}/new"], "deny"),
    ("a rule about the other end is about connecting", OPEN + "(deny network* (remote unix))",
     "connect-unix", ["{w}/s/sock"], "deny"),
    ("a socket's own end is a Unix socket while it connects, too",
     OPEN + "(deny network-outbound (local unix))", "connect-unix", ["{w}/s/sock"], "deny"),
    ("signals to others", OPEN + "(deny signal (target others))", "signal",
     ["kill", "outsider={pid}"], "deny"),
    ("signals to oneself", OPEN + "(deny signal (target others))", "signal", ["kill", "self"],
     "allow"),
    ("signals to one outside, of our group", OPEN + "(deny signal (target pgrp))",
     "signal", ["kill", "mate={mate}"], "deny"),
]

# What the broker is asked about: some processes of the sandbox may be signalled, others not.
NO_SIGNAL = OPEN + "(deny signal)"
SIGNAL_ROWS = [
    # rules, who, expectation
    ("(allow signal (target self))", "self", "allow"),
    ("(allow signal (target self))", "child", "deny"),
    ("(allow signal (target self))", "parent", "deny"),
    ("(allow signal (target children))", "child", "allow"),
    ("(allow signal (target children))", "child-apart", "allow"),
    ("(allow signal (target children))", "parent", "deny"),
    ("(allow signal (target children))", "grandchild", "deny"),
    ("(allow signal (target children))(deny signal (target self))", "self", "deny"),
    ("(allow signal (target self))(deny signal (target pgrp))", "self", "deny"),
    ("(allow signal (target children))", "outsider={pid}", "deny"),
    ("(allow signal (target pgrp))", "self", "allow"),
    ("(allow signal (target pgrp))", "child", "allow"),
    ("(allow signal (target pgrp))", "child-apart", "deny"),
    ("(allow signal (target pgrp))", "grandchild-apart", "deny"),
    ("(allow signal (target same-sandbox))", "self", "allow"),
    ("(allow signal (target same-sandbox))", "parent-apart", "allow"),
    ("(allow signal (target same-sandbox))", "grandchild-apart", "allow"),
    ("(allow signal (target same-sandbox))", "outsider={pid}", "deny"),
    ("(allow signal (target same-sandbox))(deny signal (target children))", "child", "deny"),
    ("(allow signal (target same-sandbox))(deny signal (target children))", "grandchild", "allow"),
    ("(deny signal (target children))(allow signal (target same-sandbox))", "child", "allow"),
    ("(allow signal (target others))", "outsider={pid}", "allow"),
    ("(allow signal (target others))", "child", "deny"),
    ("(allow signal (target children))(deny signal (signal-number SIGURG))", "child", "deny"),
    ("(allow signal (require-all (target children) (signal-number SIGURG)))", "child", "allow"),
]
for rules, who, expected in SIGNAL_ROWS:
    ROWS.append((f"kill {who}: {rules}", NO_SIGNAL + rules, "signal", ["kill", who],
                 expected))
for way in WAYS:
    if way in ("own-group", "everybody"):
        continue
    for rules, who, expected in [
            ("(allow signal (target children))", "child-apart", "allow"),
            ("(allow signal (target self))", "child-apart", "deny"),
            ("(allow signal (target children))", "outsider={pid}", "deny"),
            ("(allow signal (target others))", "outsider={pid}", "allow")]:
        ROWS.append((f"{way} {who}: {rules}", NO_SIGNAL + rules, "signal", [way, who],
                     expected))
for rules, expected in [("(allow signal (target same-sandbox))", "allow"),
                        ("(allow signal (target pgrp))", "allow"),
                        ("(allow signal (target self))", "allow"),
                        ("(allow signal (target others))(deny signal (target pgrp))", "deny")]:
    ROWS.append((f"kill(0): {rules}", NO_SIGNAL + rules, "signal", ["own-group", "self"],
                 expected))
# Every signal has to be judged one by one, though few are denied.
JUDGED = OPEN + "(deny signal (require-all (target children) (target pgrp)))"
ROWS += [
    ("kill(0): each member by itself: the child", JUDGED, "group-member", ["child"], "deny"),
    ("kill(0): each member by itself: the grandchild", JUDGED, "group-member", ["grandchild"],
     "allow"),
    ("tkill another thread", NO_SIGNAL + "(allow signal (target self))", "signal-thread", ["tkill"],
     "allow"),
    ("tgkill another thread", NO_SIGNAL + "(allow signal (target self))", "signal-thread",
     ["tgkill"], "allow"),
    ("tkill another thread, denied", NO_SIGNAL + "(deny signal (target self))", "signal-thread",
     ["tkill"], "deny"),
    ("tgkill another thread, denied", NO_SIGNAL + "(deny signal (target self))", "signal-thread",
     ["tgkill"], "deny"),
    ("signals that make no sense", JUDGED, "signal-errors", [], "allow"),
    ("the owner of a descriptor: oneself", NO_SIGNAL + "(allow signal (target self))", "owner",
     ["self"], "allow"),
    ("the owner of a descriptor: nobody", NO_SIGNAL, "owner", ["nobody"], "allow"),
    ("the owner of a descriptor: not oneself", NO_SIGNAL + "(deny signal (target self))",
     "owner", ["self"], "deny"),
]
ROOT_ROWS = [
    ("given up ids count for signals", JUDGED, "dropped-ids", [], "allow"),
]

# ---- The world ---------------------------------------------------------------------------------


def free_ports(n):
    """Ports that nobody has, as far as can be told."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def write_file(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


class World:
    """Files, listeners and names for one act; gone afterwards."""

    def __init__(self, tools):
        self.stack = contextlib.ExitStack()
        top = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="lapbelt-live-"))
        top = os.path.realpath(top)
        w, o = top + "/w", top + "/o"
        for path in ("/w/a", "/w/.env", "/w/d/x", "/w/d/.env", "/w/dd", "/w/.SSH/config",
                     "/w/b\\q/x", "/w/.git/HEAD", "/w/c/x/f", "/o/secret", "/o/x/f"):
            write_file(top + path, "text\n")
        write_file(w + "/tool", "#!/bin/true\n", 0o755)
        write_file(w + "/own", "text\n", 0o600)
        write_file(w + "/setid", "text\n", 0o4755)
        os.mkdir(w + "/empty")
        os.mkdir(w + "/s")
        os.symlink(o + "/secret", w + "/alias")
        os.symlink(o + "/secret", w + "/c/alias")
        os.symlink("../../o", w + "/c/link")
        os.symlink("../o", w + "/link")
        os.chmod(w + "/c", 0o311)  # may be entered, not listed
        self.stack.callback(os.chmod, w + "/c", 0o755)
        os.link(o + "/secret", w + "/hard")
        sleepers = [self.stack.enter_context(
            subprocess.Popen(["sleep", "60"], process_group=group)) for group in (0, None)]
        for sleeper in sleepers:
            self.stack.callback(sleeper.kill)
        free, free2 = free_ports(2)
        self.names = {
            "w": w, "o": o, "free": free, "free2": free2,
            "pid": sleepers[0].pid, "mate": sleepers[1].pid,
            "unique": os.path.basename(top),
            "port": self.listen(socket.AF_INET, ("127.0.0.1", 0)),
            "port6": self.listen(socket.AF_INET6, ("::1", 0)) if socket.has_ipv6 else 0,
            **tools,
        }
        self.listen(socket.AF_UNIX, w + "/s/sock")

    def listen(self, family, where):
        s = self.stack.enter_context(socket.socket(family))
        try:
            s.bind(where)
        except OSError:
            return 0  # no ::1 here: the control says so
        s.listen(8)
        return s.getsockname()[1] if family != socket.AF_UNIX else 0

    def fill(self, text):
        for name, value in self.names.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()


def open_descriptors(pid):
    """The fewest of some moments: a call in the making needs more."""
    def count():
        time.sleep(0.01)
        return len(os.listdir(f"/proc/{pid}/fd"))
    return min(count() for _ in range(20))


def run(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False, cwd="/")


# ---- Judging -----------------------------------------------------------------------------------


class Judge:
    def __init__(self, lapbelt, script):
        self.lapbelt = lapbelt
        self.script = script
        self.tools = {"bin": os.path.dirname(lapbelt), "python": sys.base_prefix}
        self.count = self.failures = 0

    def child(self, act, arguments):
        return [sys.executable, "-I", "-S", self.script, "--act", act, *arguments]

    def control(self, act, arguments):
        with World(self.tools) as world:
            return run(self.child(act, map(world.fill, arguments))).stdout.strip()

    def confined(self, profile, act, arguments, options):
        with World(self.tools) as world:
            done = run([self.lapbelt, "exec", *options, "-p", world.fill(profile), "--",
                        *self.child(act, map(world.fill, arguments))])
        return done.stdout.strip() or f"status {done.returncode}: {done.stderr.strip()[-600:]}"

    def decided(self, profile, act, arguments, options):
        runtime = [] if "--no-runtime" in options else ["--exec"]
        with World(self.tools) as world:
            # As the kernel does, follow the symbolic link that is there.
            words = [os.path.realpath(word) if word.startswith("/") else word
                     for word in map(world.fill, arguments)]
            answers = [run([self.lapbelt, "decide", *runtime, "-p", world.fill(profile),
                            *question]).stdout.split(" ")[0].strip() or "nothing"
                       for question in ACTS[act][1](*words)]
        return "allow" if all(a == "allow" for a in answers) else min(answers, key="allow".__eq__)

    def report(self, ok, title, detail, skip=""):
        self.count += 1
        self.failures += not ok
        print(f"{'' if ok else 'not '}ok {self.count} - {title}{skip}")
        if not ok:
            for line in detail.splitlines():
                print("# " + line)
        sys.stdout.flush()

    def judge(self, title, profile, act, arguments, expected, *options):
        control = self.control(act, arguments)
        if control != "ok":
            must_work = "LAPBELT_MUST_WORK" in os.environ
            self.report(not must_work, title, control,
                        f" # SKIP without a sandbox the act ends with {control}")
            return
        decided = self.decided(profile, act, arguments, options)
        live = self.confined(profile, act, arguments, options)
        ok = decided == EXPECTED[expected][0] and live in EXPECTED[expected][1]
        self.report(ok, title, f"expected {expected}, decide says {decided}, the kernel {live}")

    def judge_exec_of_command(self):
        """Vector 20: no process* at all."""
        done = run([self.lapbelt, "exec", "-p", "(version 1)(deny default)", "/bin/true"])
        ok = done.returncode == 71 and "execvp() of '/bin/true' failed" in done.stderr
        self.report(ok, "20: a profile that allows no execution runs nothing",
                    f"{done.returncode} {done.stderr}")

    def judge_killed_callers(self):
        """Callers that are killed in the middle of a brokered call leave nothing open with us."""
        counts = []
        with World(self.tools), subprocess.Popen(
                [self.lapbelt, "exec", "-p", JUDGED, "--", *self.child("killed-callers", [])],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            while process.stdout.readline().strip() in ("ready", "done"):
                counts.append(open_descriptors(process.pid))
                os.write(process.stdin.fileno(), b"\n")
            status = process.wait()
        self.report(status == 0 and len(counts) == 2 and counts[0] == counts[1],
                    "callers killed in the middle of a call", f"status {status}, {counts}")


def judge_all(lapbelt, script):
    judge = Judge(lapbelt, script)
    for row in ROWS:
        judge.judge(*row)
    judge.judge_exec_of_command()
    if os.geteuid() == 0:
        for row in ROOT_ROWS:
            judge.judge(*row)
        judge.judge_killed_callers()  # another user cannot see what the supervisor has open
    print(f"1..{judge.count}")
    return 1 if judge.failures else 0


def main(lapbelt, who):
    is_root = os.geteuid() == 0
    if who == "root" and not is_root:
        print("1..0 # SKIP this user is not root")
        return 0
    with tempfile.TemporaryDirectory(prefix="lapbelt-bin-") as folder:
        # Copies, in a folder that an ordinary user reaches.
        folder = os.path.realpath(folder)
        os.chmod(folder, 0o755)
        program = shutil.copy(lapbelt, folder + "/lapbelt")
        script = shutil.copy(__file__, folder + "/live.py")
        if who == "user" and is_root:
            return subprocess.run([sys.executable, script, program, who], user=NOBODY,
                                  group=NOBODY, extra_groups=[], check=False).returncode
        return judge_all(program, script)


if __name__ == "__main__":
    if sys.argv[1] == "--act":
        do_act(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main(sys.argv[1], sys.argv[2]))
