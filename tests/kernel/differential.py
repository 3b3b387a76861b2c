#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random policies and random acts: what the kernel does must be what `decide` says.

usage: differential.py LAPBELT LIBLAPBELT root|user [--seed N] [--policies N] [--acts N]
                       [--options=WORD] [--skip ACT ...] [--show] [--no-shrink]

Two equal worlds: one worker acts in the first under `lapbelt exec`, another in the second without a
sandbox. Before each act the questions that it asks (table ACTS, after SBPL.md 5.3) go to
lapbelt_decide(). If all are allowed, both workers do it: result, error and the trees after it must
be the same. If one is denied, the act must fail inside, and change nothing. What differs counts as
a failure unless `lapbelt plan` lists a gap that covers it. Worlds are not restored between acts, so
later acts meet what earlier ones made.

A failure is shrunk to the rules and acts that it needs, and printed with the seed. TAP.
"""
import argparse
import array
import collections
import ctypes
import errno
import fcntl
import itertools
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile

NOBODY = 65534
PYTHON = "/usr/bin/python3"  # an ordinary user must be able to execute it
DENIALS = ("EPERM", "EACCES", "EXDEV")
libc = ctypes.CDLL(None, use_errno=True)

AT_FDCWD, AT_SYMLINK_FOLLOW = -100, 0x400
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, RNDGETENTCNT = 0x80086601, 0x40086602, 0x80045200
FS_NODUMP_FL = 0x40
IN_MODIFY = 2
ACL = "system.posix_acl_access"


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


# ---- Acts: what a worker does ------------------------------------------------------------------
#
# A generator. What stands before a `yield` is one stage: it asks its own questions, and may fail. An
# act of one stage has its `yield` after the return, which makes it a generator all the same.


class Ended(Exception):
    """A program that was executed, and did not end well."""


class Worker:
    def __init__(self, top):
        self.top = top
        self.fds = []

    def path(self, where):
        """WHERE as an argument: (how, path below top). `at` is relative to a descriptor."""
        how, path = where
        if how == "abs":
            return self.top + "/" + path, None
        if how == "rel":
            return os.path.relpath(self.top, self.top + "/w") + "/" + path, None
        fd = os.open(self.top + "/" + how[3:], os.O_PATH | os.O_DIRECTORY)
        self.fds.append(fd)
        return "../" * (how.count("/") + 1) + path, fd

    def run(self, name, arguments, stop):
        """What comes of it: [ok, value], [stopped] or [error, stage, what]."""
        act = ACTS[name].do(self, *arguments)
        stage = 0
        try:
            while stage != stop:
                next(act)
                stage += 1
            return ["stopped"]
        except StopIteration as end:
            return ["ok", end.value]
        except OSError as e:
            return ["error", stage, errno.errorcode.get(e.errno, str(e.errno))]
        except Ended as e:
            return ["error", stage, str(e)]
        finally:
            act.close()
            for fd in self.fds:
                os.close(fd)
            self.fds = []

    def serve(self):
        os.umask(0o022)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.chdir(self.top + "/w")
        print(json.dumps(["ready", os.getpid()]), flush=True)
        for line in sys.stdin:
            name, arguments, stop = json.loads(line)
            result = json.dumps(self.run(name, arguments, stop))
            print(result.replace(json.dumps(self.top)[1:-1], "TOP"), flush=True)


class opened:
    """A descriptor that is closed in the end."""

    def __init__(self, fd):
        self.fd = fd

    def __enter__(self):
        return self.fd

    def __exit__(self, *_):
        os.close(self.fd)


def use_fd(fd, flags):
    """Reads and writes what the flags of open(2) allow."""
    found = os.fstat(fd)
    said = [oct(found.st_mode), found.st_size if stat.S_ISREG(found.st_mode) else 0]
    if not stat.S_ISREG(found.st_mode) or flags & os.O_PATH:
        return said
    if flags & os.O_ACCMODE != os.O_WRONLY:
        said.append(os.read(fd, 99).decode("latin1"))
    if flags & os.O_ACCMODE != os.O_RDONLY:
        said.append(os.write(fd, b"hello"))
    return said


def do_open(w, where, flags, mode):
    path, at = w.path(where)
    with opened(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY, mode, dir_fd=at)) as fd:
        said = use_fd(fd, flags)
    return said
    yield


def do_creat(w, where, mode):
    path = os.fsencode(w.path(("abs", where[1]))[0])
    with opened(check(libc.creat(path, mode))) as fd:
        return use_fd(fd, os.O_WRONLY)
    yield


def do_reopen(w, where, flags):
    path, at = w.path(where)
    with opened(os.open(path, os.O_PATH, dir_fd=at)) as pin:
        yield
        with opened(os.open(f"/proc/self/fd/{pin}", flags | os.O_NONBLOCK)) as fd:
            return use_fd(fd, flags)


def do_tmpfile(w, where, flags, name):
    path, at = w.path(where)
    with opened(os.open(path, flags | os.O_TMPFILE, 0o644, dir_fd=at)) as fd:
        said = use_fd(fd, flags)
        yield
        check(libc.linkat(AT_FDCWD, f"/proc/self/fd/{fd}".encode(), AT_FDCWD,
                          os.fsencode(w.path(("abs", name))[0]), AT_SYMLINK_FOLLOW))
    return said


def do_mkdir(w, where, mode):
    path, at = w.path(where)
    os.mkdir(path, mode, dir_fd=at)
    return None
    yield


def do_mkfifo(w, where):
    path, at = w.path(where)
    os.mkfifo(path, 0o644, dir_fd=at)
    return None
    yield


def do_symlink(w, text, where):
    path, at = w.path(where)
    os.symlink(text, path, dir_fd=at)
    return None
    yield


def do_link(w, a, b, follow):
    (old, at), (new, at2) = w.path(a), w.path(b)
    # os.link() takes no notice of follow_symlinks where it calls link(2).
    check(libc.linkat(AT_FDCWD if at is None else at, os.fsencode(old),
                      AT_FDCWD if at2 is None else at2, os.fsencode(new),
                      AT_SYMLINK_FOLLOW if follow else 0))
    return None
    yield


def do_rename(w, a, b, flags):
    (old, at), (new, at2) = w.path(a), w.path(b)
    if flags:
        check(libc.renameat2(AT_FDCWD if at is None else at, os.fsencode(old),
                             AT_FDCWD if at2 is None else at2, os.fsencode(new), flags))
    else:
        os.rename(old, new, src_dir_fd=at, dst_dir_fd=at2)
    return None
    yield


def do_unlink(w, where):
    path, at = w.path(where)
    os.unlink(path, dir_fd=at)
    return None
    yield


def do_rmdir(w, where):
    path, at = w.path(where)
    os.rmdir(path, dir_fd=at)
    return None
    yield


def do_truncate(w, where, size):
    os.truncate(w.path(("abs", where[1]))[0], size)
    return None
    yield


def do_ftruncate(w, where, size):
    path, at = w.path(where)
    with opened(os.open(path, os.O_WRONLY | os.O_NONBLOCK, dir_fd=at)) as fd:
        yield
        os.ftruncate(fd, size)
    return None


def do_chmod(w, where, mode):
    path, at = w.path(where)
    os.chmod(path, mode, dir_fd=at)
    return None
    yield


def do_fchmod(w, where, mode):
    path, at = w.path(where)
    with opened(os.open(path, os.O_RDONLY | os.O_NONBLOCK, dir_fd=at)) as fd:
        yield
        os.fchmod(fd, mode)
    return None


def do_chown(w, where, follow):
    path, at = w.path(where)
    os.chown(path, os.getuid(), os.getgid(), dir_fd=at, follow_symlinks=follow)
    return None
    yield


def do_utime(w, where, follow):
    path, at = w.path(where)
    os.utime(path, (5, 6), dir_fd=at, follow_symlinks=follow)
    return None
    yield


def do_futime(w, where):
    path, at = w.path(where)
    with opened(os.open(path, os.O_RDONLY | os.O_NONBLOCK, dir_fd=at)) as fd:
        yield
        os.utime(fd, (7, 8))
    return None


def do_setxattr(w, where, name, follow):
    os.setxattr(w.path(("abs", where[1]))[0], name, b"v", follow_symlinks=follow)
    return None
    yield


def do_removexattr(w, where, name):
    os.removexattr(w.path(("abs", where[1]))[0], name)
    return None
    yield


def do_getxattr(w, where, name):
    return os.getxattr(w.path(("abs", where[1]))[0], name).decode("latin1")
    yield


def do_listxattr(w, where):
    return os.listxattr(w.path(("abs", where[1]))[0])
    yield


def acl_of_owner(bits):
    """As getfacl(1) would show it: everybody's classes, and one named user."""
    entries = ((1, 6, 0xffffffff), (2, bits, 12345), (4, 4, 0xffffffff), (16, 6, 0xffffffff),
               (32, 4, 0xffffffff))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def do_setacl(w, where, bits):
    os.setxattr(w.path(("abs", where[1]))[0], ACL, acl_of_owner(bits))
    return None
    yield


def do_access(w, where, mode):
    path, at = w.path(where)
    if not os.access(path, mode, dir_fd=at):
        raise OSError(errno.EACCES, "")  # os.access() does not say which
    return None
    yield


def do_stat(w, where, follow):
    path, at = w.path(where)
    found = os.stat(path, dir_fd=at, follow_symlinks=follow)
    return [oct(found.st_mode), found.st_size if stat.S_ISREG(found.st_mode) else 0]
    yield


def do_readlink(w, where):
    path, at = w.path(where)
    return os.readlink(path, dir_fd=at)
    yield


def do_listdir(w, where):
    return sorted(os.listdir(w.path(("abs", where[1]))[0]))
    yield


def do_chdir(w, where):
    try:
        os.chdir(w.path(("abs", where[1]))[0])
    finally:
        os.chdir(w.top + "/w")
    return None
    yield


class Child:
    """A forked process that waits for a byte, then does what it is told."""

    def __init__(self, task):
        self.error, error = os.pipe()
        go, self.go = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.go)
            os.close(self.error)
            code = 1
            try:
                if os.read(go, 1):
                    code = task()
            except OSError as e:
                os.write(error, str(e.errno).encode())
            finally:
                os._exit(code)
        os.close(go)
        os.close(error)

    def run(self):
        os.write(self.go, b"x")
        text = os.read(self.error, 16)
        if text:
            raise OSError(int(text), "")

    def end(self):
        os.close(self.go)
        os.close(self.error)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def run_child(task):
    child = Child(task)
    status = None
    try:
        yield
        child.run()
        yield
    finally:
        status = child.end()
    if status:
        raise Ended(f"exit {status}")


def silent():
    fd = os.open("/dev/null", os.O_RDWR)
    for to in (0, 1, 2):
        os.dup2(fd, to)


def do_exec(w, where):
    path = w.path(("abs", where[1]))[0]

    def task():
        os.execve(path, [path], {})
    yield from run_child(task)
    return None


def do_exec_memfd(w):
    fd = os.memfd_create("image", 0)
    with open("/bin/true", "rb") as f:
        os.write(fd, f.read())

    def task():
        os.execve(f"/proc/self/fd/{fd}", ["image"], {})
    try:
        yield from run_child(task)
    finally:
        os.close(fd)
    return None


def do_fork(w):
    child = Child(lambda: 0)
    child.end()
    return None
    yield


def do_signal(w, who, number, others):
    if who == "children":
        child = Child(lambda: 0)
        try:
            yield
            os.kill(child.pid, number)
        finally:
            child.end()
    else:
        os.kill({"self": os.getpid(), "pgrp": 0, "others": others}[who], number)
    return None


def do_socket(w, family, kind):
    socket.socket(getattr(socket, family), getattr(socket, kind)).close()
    return None
    yield


def do_connect(w, host, port, kind):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, getattr(socket, kind)) as s:
        s.settimeout(None)
        yield
        s.connect((host, port))
    return None


def do_send(w, host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        yield
        s.sendto(b"x", (host, port))
    return None


def do_listen(w, host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        yield
        s.bind((host, port))
        yield
        s.listen(1)
    return None


def unix_name(w, where):
    """Short enough: relative to the working directory, which is {top}/w."""
    return os.path.relpath(os.fsencode(w.top + "/" + where[1]), os.fsencode(w.top + "/w"))


def do_connect_unix(w, where, kind):
    with socket.socket(socket.AF_UNIX, getattr(socket, kind)) as s:
        yield
        s.connect(unix_name(w, where))
    return None


def do_listen_unix(w, where, kind):
    with socket.socket(socket.AF_UNIX, getattr(socket, kind)) as s:
        yield
        s.bind(unix_name(w, where))
        yield
        if kind == "SOCK_STREAM":
            s.listen(1)
    return None


def do_bind_abstract(w, name):
    with socket.socket(socket.AF_UNIX) as s:
        yield
        s.bind("\0" + name)
    return None


def do_lock(w, where, how):
    path, at = w.path(where)
    with opened(os.open(path, os.O_RDWR | os.O_NONBLOCK, dir_fd=at)) as fd:
        yield
        if how == "flock":
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return None


def do_flags(w, where, change):
    path, at = w.path(where)
    flags = array.array("l", [0])
    with opened(os.open(path, os.O_RDONLY | os.O_NONBLOCK, dir_fd=at)) as fd:
        yield
        fcntl.ioctl(fd, FS_IOC_GETFLAGS, flags)
        if change:
            yield
            flags[0] ^= FS_NODUMP_FL
            fcntl.ioctl(fd, FS_IOC_SETFLAGS, flags)
    return flags[0]


def do_device(w, path):
    with opened(os.open(path, os.O_RDONLY)) as fd:
        yield
        fcntl.ioctl(fd, RNDGETENTCNT, array.array("i", [0]))
    return None


def do_openpty(w):
    a, b = os.openpty()
    os.close(a)
    os.close(b)
    return None
    yield


def do_watch(w, where):
    path = os.fsencode(w.path(("abs", where[1]))[0])
    with opened(check(libc.inotify_init1(os.O_NONBLOCK))) as fd:
        check(libc.inotify_add_watch(fd, path, IN_MODIFY))
    return None
    yield


def do_shm(w, name, flags):
    with opened(os.open(shm_path(w.top, name), flags | os.O_NONBLOCK, 0o600)) as fd:
        return use_fd(fd, flags)
    yield


def do_shm_unlink(w, name):
    os.unlink(shm_path(w.top, name))
    return None
    yield


def do_system(w, path, flags):
    with opened(os.open(path, flags)) as fd:
        if flags == os.O_RDONLY:
            os.read(fd, 10)
    return None
    yield


def shm_path(top, name):
    return "/dev/shm/" + "-".join(top.split("/")[-3:]) + "-" + name


# ---- Acts: what they ask -----------------------------------------------------------------------
#
# A list of stages, each a list of questions (operation, object, attributes). None: it cannot be
# said (the act is not judged at this stage, only compared).

TYPES = {stat.S_IFREG: "REGULAR-FILE", stat.S_IFDIR: "DIRECTORY", stat.S_IFLNK: "SYMLINK",
         stat.S_IFSOCK: "SOCKET", stat.S_IFIFO: "FIFO", stat.S_IFBLK: "BLOCK-DEVICE",
         stat.S_IFCHR: "CHARACTER-DEVICE"}


class View:
    """The world as it is before the act, seen from outside the sandbox, and who acts in it."""

    def __init__(self, top, pid=None, brokered=()):
        self.top = top
        self.pid = pid  # the worker's
        self.brokered = brokered  # classes of calls, as the plan calls them

    def full(self, where):
        return os.fsencode(self.top + "/" + where[1])

    def name(self, where):
        """The canonical path of a name, itself not followed."""
        return self.name_of(self.full(where))

    def name_of(self, path):
        folder, last = os.path.split(path.rstrip(b"/"))
        if last in (b".", b".."):
            raise OSError(errno.EINVAL, "")
        if not stat.S_ISDIR(os.stat(folder).st_mode):
            raise OSError(errno.ENOTDIR, "")
        return os.path.join(os.path.realpath(folder, strict=True), last)

    def object(self, where, follow=True):
        """(canonical path, what stat says) of what is there."""
        path = self.full(where)
        found = os.stat(path, follow_symlinks=follow or path.endswith(b"/"))
        last = path.rsplit(b"/", 1)[1]
        if follow or last in (b"", b".", b".."):
            return os.path.realpath(path, strict=True), found
        return self.name_of(path), found

    def target(self, path):
        """Where open(O_CREAT) makes a file: through dangling links."""
        for _ in range(40):
            path = self.name_of(path)
            try:
                text = os.readlink(path)
            except OSError:
                return path
            path = os.path.join(os.path.dirname(path), text)
        raise OSError(errno.ELOOP, "")


def about(op, path, found=None, **more):
    more = {key.replace("_", "-"): value for key, value in more.items()}
    if found is not None:
        more["vnode-type"] = TYPES[stat.S_IFMT(found.st_mode)]
        more["mode"] = oct(stat.S_IMODE(found.st_mode))[2:]
    return (op, path, more)


def made(op, path, kind, mode):
    return (op, path, {"vnode-type": kind, "mode": oct(mode)[2:]})


def data(path, found, flags):
    asked = []
    if flags & os.O_ACCMODE != os.O_WRONLY:
        asked.append(about("file-read-data", path, found))
    if flags & os.O_ACCMODE != os.O_RDONLY:
        asked.append(about("file-write-data", path, found))
    elif flags & os.O_TRUNC:  # cuts nothing off a FIFO
        asked.append(about("file-write-data", path, found) if stat.S_ISREG(found.st_mode) else
                     ("maybe", [about("file-write-data", path, found)], {}))
    return asked


class Mode:
    def __init__(self, st_mode):
        self.st_mode = st_mode


def setugid(path, kind, mode):
    return [made("file-write-setugid", path, kind, mode)] if mode & 0o6000 else []


def ask_open(v, where, flags, mode):
    if flags & os.O_PATH:
        return [[]]
    follow = not flags & os.O_NOFOLLOW
    try:
        if flags & os.O_CREAT and flags & os.O_EXCL:
            v.object(where, False)
            return [[]]
        path, found = v.object(where, follow)
        if stat.S_ISLNK(found.st_mode):
            return [[]]
        return [data(path, found, flags)]
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    path = v.target(v.full(where)) if follow and not flags & os.O_EXCL else v.name(where)
    return [[made("file-write-create", path, "REGULAR-FILE", mode)]
            + data(path, Mode(stat.S_IFREG | mode), flags & ~os.O_TRUNC)  # nothing to be cut off
            + setugid(path, "REGULAR-FILE", mode)]


def ask_creat(v, where, mode):
    return ask_open(v, where, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode)


def ask_reopen(v, where, flags):
    path, found = v.object(where)
    return [[], data(path, found, flags)]


def ask_tmpfile(v, where, flags, name):
    path, found = v.object(where)
    if not stat.S_ISDIR(found.st_mode):
        return [[]]
    path = os.path.join(path, b"#")  # it has no name: an ordinary one stands for it
    unnamed = path
    stages = [[made("file-write-create", path, "REGULAR-FILE", 0o644)]
              + data(path, Mode(stat.S_IFREG | 0o644), flags)]
    try:
        path = v.name(("abs", name))
    except OSError:
        return stages + [[]]
    return stages + [[made("file-link", unnamed, "REGULAR-FILE", 0o644),
                      made("file-write-create", path, "REGULAR-FILE", 0o644), ("move", None, {})]]


def ask_make(kind, mode=None):
    def ask(v, where, *arguments):
        given = mode if mode is not None else arguments[0]
        return [[made("file-write-create", v.name(where), kind, given)]]
    return ask


def ask_symlink(v, text, where):
    return [[made("file-write-create", v.name(where), "SYMLINK", 0o777)]]


def ask_link(v, a, b, follow):
    old, found = v.object(a, follow)
    new = v.name(b)
    return [[about("file-link", old, found), about("file-write-create", new, found),
             ("move", (old, new), {"found": found})]]


def ask_rename(v, a, b, flags):
    old, new = v.name(a), v.name(b)
    found = os.lstat(old)
    asked = [about("file-write-unlink", old, found), about("file-write-create", new, found),
             ("move", (old, new), {"found": found})]
    try:
        there = os.lstat(new)
    except FileNotFoundError:
        return [[] if flags & RENAME_EXCHANGE else asked]
    asked.append(about("file-write-unlink", new, there))
    if flags & RENAME_EXCHANGE:
        asked += [about("file-write-create", old, there), ("move", (new, old), {"found": there})]
    return [asked]


def ask_name(op):
    def ask(v, where):
        path = v.name(where)
        return [[about(op, path, os.lstat(path))]]
    return ask


def ask_object(*ops, stages=1, **more):
    """The last of STAGES asks about the object; an open for reading or OPENS comes before."""
    def ask(v, where, *arguments):
        follow = next((a for a in arguments if isinstance(a, bool)), True)
        path, found = v.object(where, follow)
        asked = [about(op, path, found, **more) for op in ops]
        if stages == 1:
            return [asked]
        return [data(path, found, os.O_RDONLY), asked]
    return ask


def ask_ftruncate(v, where, size):
    path, found = v.object(where)
    return [data(path, found, os.O_WRONLY), []]


def ask_chmod(v, where, mode):
    path, found = v.object(where)
    kind = TYPES[stat.S_IFMT(found.st_mode)]
    return [[about("file-write-mode", path, found)] + setugid(path, kind, mode)]


def ask_fchmod(v, where, mode):
    path, found = v.object(where)
    return [data(path, found, os.O_RDONLY)] + ask_chmod(v, where, mode)


def ask_xattr(op):
    def ask(v, where, name, follow=True):
        path, found = v.object(where, follow)
        return [[about(op, path, found, xattr=name)]]
    return ask


def ask_setacl(v, where, bits):
    path, found = v.object(where)
    return [[about("file-write-acl", path, found), about("file-write-mode", path, found),
             about("file-write-xattr", path, found, xattr=ACL)]]


def ask_access(v, where, mode):
    path, found = v.object(where)
    asked = [about("file-test-existence" if mode == os.F_OK else "file-read-metadata", path, found)]
    uses = []
    if mode & os.R_OK:
        uses.append(("read", about("file-read-data", path, found)))
    if mode & os.W_OK:
        uses.append(("attributes", about("file-write-data", path, found)))
    if mode & os.X_OK and not stat.S_ISDIR(found.st_mode):
        uses.append(("exec", ("process-exec*", path,
                              {"mode": oct(stat.S_IMODE(found.st_mode))[2:]})))
    # It says what the act would end with where the act is judged; else what the mode says, which is
    # metadata.
    return [asked + [question if judged in v.brokered else ("maybe", [question], {})
                     for judged, question in uses]]


def ask_readlink(v, where):
    path, found = v.object(where, False)
    return [[about("file-read-metadata", path, found)]]


def ask_exec(v, where):
    fork = [("process-fork", None, {})]
    try:
        path, found = v.object(where)
    except OSError:
        return [fork, [], []]
    mode = {"mode": oct(stat.S_IMODE(found.st_mode))[2:]}
    # The kernel opens the image for reading. Where that is denied, Landlock refuses; a judge of
    # names does not see it.
    image, end = [("process-exec*", path, mode),
                  ("maybe", [about("file-read-data", path, found)], {})], []
    line = b""
    if stat.S_ISREG(found.st_mode) and os.access(path, os.R_OK):
        with open(path, "rb") as f:
            line = f.readline(200)
    if line.startswith(b"#!"):
        by = os.path.realpath(os.path.join(os.fsencode(v.top), b"w", line[2:].split()[0]))
        if not os.path.exists(by):
            return [fork, image, end]
        image.append(("process-exec-interpreter", by,
                      {"mode": oct(stat.S_IMODE(os.stat(by).st_mode))[2:]}))
        image.append(("maybe", [about("file-read-data", by, os.stat(by))], {}))
        if by.endswith(b"sh"):
            end.append(about("file-read-data", path, found))
    return [fork, image, end]


def ask_exec_memfd(v):
    return [[("process-fork", None, {})], [("process-exec*", None, {})], []]


def ask_fork(v):
    return [[("process-fork", None, {})]]


# What they are to the worker that are meant, as far as `decide` does not know it by itself. The
# worker's group is that of the supervisor and init, which are outside.
TARGETS = {"self": [["self"]], "pgrp": [["self"], ["others", "pgrp"]], "others": [["others"]],
           "children": [["children", "pgrp"]]}
SIGNALS = {0: {}, signal.SIGUSR1: {"signal": "SIGUSR1"}, signal.SIGCONT: {"signal": "SIGCONT"}}


def ask_signal(v, who, number, others):
    """Of a group, one that may be signalled is enough."""
    asked = ("either", [("signal", None, {"target": targets, **SIGNALS[number]})
                        for targets in TARGETS[who]], {})
    return [[("process-fork", None, {})], [asked]] if who == "children" else [[asked]]


def ask_socket(v, family, kind):
    if family == "AF_NETLINK":
        return [[("system-socket", None, {})]]
    if family == "AF_UNIX":
        return [[]]
    # What may be used for nothing may not be made, perhaps.
    protocol = {"SOCK_STREAM": "tcp", "SOCK_DGRAM": "udp"}[kind]
    return [[("maybe", [("network-outbound", b"*:9", {"protocol": protocol})], {})]]


def end_of(host, port):
    return (f"[{host}]:{port}" if ":" in host else f"{host}:{port}").encode()


def ask_connect(v, host, port, kind):
    protocol = {"SOCK_STREAM": "tcp", "SOCK_DGRAM": "udp"}[kind]
    return [[], [("network-outbound", end_of(host, port), {"protocol": protocol})]]


def ask_send(v, host, port):
    return [[], [("network-outbound", end_of(host, port), {"protocol": "udp"})]]


def ask_listen(v, host, port):
    return [[], [("network-bind", end_of(host, port), {})],
            [("network-inbound", end_of(host, port), {})]]


def ask_connect_unix(v, where, kind):
    return [[], [about("network-outbound", *v.object(where))]]


def ask_listen_unix(v, where, kind):
    path = v.name(where)
    return [[], [made("network-bind", path, "SOCKET", 0o777),
                 made("file-write-create", path, "SOCKET", 0o777)],
            [made("network-inbound", path, "SOCKET", 0o755)]]


def ask_bind_abstract(v, name):
    return [[], [("network-bind", b"/@", {"vnode-type": "SOCKET"})]]  # a name without a place


def ask_lock(v, where, how):
    path, found = v.object(where)
    return [data(path, found, os.O_RDWR), [about("file-lock", path, found)]]


def ask_flags(v, where, change):
    path, found = v.object(where)
    stages = [data(path, found, os.O_RDONLY), [about("file-ioctl", path, found)]]
    return stages + [[about("file-write-flags", path, found)]] if change else stages


def ask_device(v, path):
    found, path = os.stat(path), os.fsencode(path)
    return [data(path, found, os.O_RDONLY), [about("file-ioctl", path, found)]]


def ask_openpty(v):
    asked = [("pseudo-tty", None, {})]
    for path in (b"/dev/ptmx", b"/dev/pts/0"):
        for op in ("file-read-data", "file-write-data", "file-ioctl"):
            asked.append((op, path, {"vnode-type": "CHARACTER-DEVICE", "mode": "666"}))
    return [asked]


def ask_watch(v, where):
    path, found = v.object(where)
    return [[about("file-read-data", path, found)]]


def ask_shm(v, name, flags):
    path = shm_path(v.top, name)
    name = os.fsencode(os.path.basename(path))
    asked = []
    if not os.path.exists(path):
        if not flags & os.O_CREAT:
            return [[]]
        asked.append(shm_asks("ipc-posix-shm-write-create", name))
    elif flags & os.O_EXCL:
        return [[]]
    if flags & os.O_ACCMODE != os.O_WRONLY:
        asked.append(shm_asks("ipc-posix-shm-read-data", name))
    if flags & os.O_ACCMODE != os.O_RDONLY or flags & os.O_TRUNC:
        asked.append(shm_asks("ipc-posix-shm-write-data", name))
    return [asked]


def shm_asks(op, name):
    return (op, b"/" + name, {})


def ask_shm_unlink(v, name):
    path = shm_path(v.top, name)
    if not os.path.exists(path):
        return [[]]
    return [[shm_asks("ipc-posix-shm-write-unlink", os.fsencode(os.path.basename(path)))]]


def ask_system(v, path, flags):
    found = os.stat(path)
    if path.startswith("/proc/self/"):  # a link
        path = path.replace("self", str(v.pid), 1)
    asked = data(os.fsencode(path), found, flags)
    if path.startswith("/proc/sys/"):
        name = path[len("/proc/sys/"):].replace("/", ".").encode()
        asked.append(("sysctl-read" if flags == os.O_RDONLY else "sysctl-write", name, {}))
    return [asked]


# ---- Acts: the table ---------------------------------------------------------------------------

FOLDERS = ["w", "w/d", "w/d/e", "w/empty", "w/D", "w/s", "o", "o/p", "w/dlink", "w/out"]
THERE = ["w/a", "w/b", "w/.env", "w/x y", "w/b\udcff", "w/Case", "w/case", "w/d/x", "w/d/.env",
         "w/d/e/f", "w/d/e/g", "w/dd", "w/D/x", "w/tool", "w/script", "w/script2", "w/fifo",
         "w/hard", "w/d/hard2", "w/s/sock", "w/r{}+", "o/secret", "o/p/q"]
LINKS = ["w/alias", "w/rel", "w/dlink", "w/loop", "w/dangling", "w/out", "o/in"]
ABSENT = ["w/new1", "w/d/new2", "w/empty/n", "w/d/e/new3", "o/new4", "w/D/.env", "w/empty/tool"]
ODD = ["w/d/../a", "w//b", "w/d/.", "w/dlink/x", "w/out/p/q", "w/dlink/../b", "w/a/", "o/in/x",
       "w/dlink/", "w/rel/", "w/d/e/../../.env", "w/empty/..", "w/nowhere/x", "w/a/x",
       "w/dlink/e/f", "w/out/new4", "w/dangling/"]
XATTRS = ["user.k", "user.other"]
SYSTEM = ["/proc/self/status", "/proc/self/maps", "/proc/sys/kernel/ostype",
          "/proc/sys/kernel/pid_max", "/proc/sys/fs/file-max", "/proc/sys/kernel/domainname",
          "/proc/version"]


class Maker:
    """Random arguments."""

    def __init__(self, seed, ports):
        self.random = random.Random(seed)
        self.ports = ports  # tcp, tcp6, udp, and free ones

    def pick(self, *choices):
        return self.random.choice(choices)

    def maybe(self, chance):
        return self.random.random() < chance

    def where(self):
        kind = self.random.choices([THERE, FOLDERS, LINKS, ABSENT, ODD], [10, 4, 3, 5, 3])[0]
        return self.how(self.random.choice(kind))

    def how(self, path):
        return [self.pick("abs", "abs", "rel", "at:w/d", "at:w/d/e"), path]

    def folder(self):
        return self.how(self.random.choice(FOLDERS))

    def new(self):
        return self.how(self.random.choice(ABSENT)) if self.maybe(0.6) else self.where()

    def flags(self):
        flags = self.pick(os.O_RDONLY, os.O_RDONLY, os.O_WRONLY, os.O_RDWR)
        for flag, chance in ((os.O_CREAT, .35), (os.O_EXCL, .15), (os.O_TRUNC, .2),
                             (os.O_APPEND, .2), (os.O_NOFOLLOW, .15), (os.O_DIRECTORY, .1)):
            flags |= flag if self.maybe(chance) else 0
        return flags

    def mode(self):
        return self.pick(0o644, 0o600, 0o640, 0, 0o755, 0o4755 if self.maybe(.2) else 0o666)

    def endpoint(self):
        port = self.random.choice(list(self.ports.values()))
        return [self.pick("127.0.0.1", "127.0.0.1", "::1", "::ffff:127.0.0.1", "127.0.0.2"), port]


Act = collections.namedtuple("Act", "weight make do ask")

ACTS = {
    "open": Act(12, lambda m: [m.where(), m.flags(), m.mode()], do_open, ask_open),
    "creat": Act(1, lambda m: [m.new(), m.mode()], do_creat, ask_creat),
    "reopen": Act(2, lambda m: [m.where(), m.pick(os.O_RDONLY, os.O_RDWR)], do_reopen, ask_reopen),
    "tmpfile": Act(2, lambda m: [m.folder(), m.pick(os.O_RDWR, os.O_WRONLY), m.new()[1]],
                   do_tmpfile, ask_tmpfile),
    "mkdir": Act(2, lambda m: [m.new(), m.pick(0o755, 0o700)], do_mkdir, ask_make("DIRECTORY")),
    "mkfifo": Act(1, lambda m: [m.new()], do_mkfifo, ask_make("FIFO", 0o644)),
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

SOCKET_ACTS = ("connect", "send", "listen", "connect-unix", "listen-unix", "bind-abstract")

# ---- Policies ----------------------------------------------------------------------------------

# Enough for a worker to live, the two ways to say what it may execute, and nothing of the world.
EXEC_ALL = "(allow process*)"
EXEC_SOME = """(allow process-fork)(allow process-exec* (subpath "/usr") (subpath "/lib")
  (subpath "/lib64"))"""
BASE = """(allow signal (target self))
(allow file-read* (subpath "/usr") (subpath "/lib") (subpath "/lib64") (subpath "/etc")
  (subpath "{tools}") (literal "/"))
(allow file-read-metadata)
"""

FILE_OPS = ["file-read*", "file-read-data", "file-read-metadata", "file-read-xattr", "file-write*",
            "file-write-data", "file-write-create", "file-write-unlink", "file-write-mode",
            "file-write-owner", "file-write-times", "file-write-xattr", "file-write-acl",
            "file-write-flags", "file-write-setugid", "file-link", "file-ioctl", "file-lock",
            "file*"]
FILE_WEIGHTS = [8, 6, 2, 1, 8, 5, 5, 5, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
NETWORK_OPS = ["network*", "network-bind", "network-inbound", "network-outbound"]
PLAIN_OPS = ["process-fork", "system-socket", "pseudo-tty", "signal", "ipc-posix-shm*",
             "ipc-posix-sem*", "ipc-posix*", "sysctl-read", "sysctl-write", "file-ioctl"]


class PolicyMaker(Maker):
    """A policy is a list of rules, each a text; {top} stands for the folder of the world."""

    def literal(self):
        return self.random.choice(THERE + FOLDERS + ABSENT + LINKS)

    def pattern(self):
        path = re.sub(r"([].[{}()\\*+?^$|])", r"\\\1", self.literal())
        return self.pick(
            "^{re}/" + path + "$", "^{re}/" + path + "(/|$)", "^{re}/" + path, "^{re}/.*/.env$",
            r"^{re}/(.*/)?\.env$", "^{re}/w/[a-d]$", "^{re}/w/(d|dd|D)(/|$)", "^{re}/.*x$",
            "^{re}/w/[^/]+$", "^{re}/w/d/.*e", "^{re}/.*new[0-9]$", "^{re}/.*/?s(e.*t|ock)$")

    def test(self):
        kind = self.pick("literal", "literal", "subpath", "subpath", "subpath", "prefix", "regex",
                         "regex", "vnode-type", "vnode-type", "file-mode")
        if kind == "file-mode":
            return "(file-mode #o%s)" % oct(self.pick(*MODES))[2:].zfill(4)
        if kind == "vnode-type":
            return "(vnode-type %s)" % self.pick("REGULAR-FILE", "DIRECTORY", "SYMLINK", "FIFO",
                                                 "SOCKET")
        if kind == "regex":
            return '(regex #"%s")' % self.pattern()
        if kind == "subpath":
            return '(subpath "{top}/%s")' % self.random.choice(FOLDERS[:-2] + THERE[:6])
        path = self.literal()
        return '(%s "{top}/%s")' % (kind, path[:-1] if kind == "prefix" and len(path) > 5 else path)

    def filter(self, depth=2):
        if depth == 0 or self.maybe(.65):
            return self.test()
        kind = self.pick("require-all", "require-any", "require-not")
        count = 1 if kind == "require-not" else self.pick(2, 3)
        return "(%s %s)" % (kind, " ".join(self.filter(depth - 1) for _ in range(count)))

    def file_filter(self):
        """Inside the world only: the worker has to live."""
        text = self.filter()
        return text if text.startswith(("(literal", "(subpath", "(prefix", "(regex")) else \
            '(require-all (subpath "{top}") %s)' % text

    def file_rule(self):
        op = self.random.choices(FILE_OPS, FILE_WEIGHTS)[0]
        verdict = self.pick("allow", "deny")
        if self.maybe(.08) and not (verdict == "deny" and op in ("file-read*", "file-read-data",
                                                                 "file*")):
            return f"({verdict} {op})"
        filters = " ".join(self.file_filter() for _ in range(self.pick(1, 1, 1, 2)))
        if op in ("file-read-xattr", "file-write-xattr") and self.maybe(.5):
            filters = '(require-all (subpath "{top}") (xattr "%s"))' % self.pick(*XATTRS)
        return f"({verdict} {op} {filters})"

    def exec_rule(self):
        op = self.pick("process-exec*", "process-exec*", "process-exec-interpreter")
        path = self.pick('(literal "{top}/w/tool")', '(literal "{top}/w/script")',
                         '(subpath "{top}/w")', '(subpath "{top}/w/empty")', '(subpath "{top}")',
                         '(require-all (subpath "{top}/w") (require-not (literal "{top}/w/tool")))',
                         '(literal "{shell}")', r'(regex #"^{re}/.*tool$")')
        if self.maybe(.1):
            return "(deny process-exec*)" + EXEC_SOME
        return f"({self.pick('allow', 'deny')} {op} {path})"

    def network_rule(self):
        op, verdict = self.random.choice(NETWORK_OPS), self.pick("allow", "deny")
        if self.maybe(.3):
            return f"({verdict} {op})"
        if self.maybe(.5):
            return f"({verdict} {op} {self.file_filter()})"
        host = self.pick("localhost", "*")
        port = self.pick("*", *self.ports.values())
        end = "local" if op in NETWORK_OPS[1:3] else "remote"
        if op == "network-outbound" and self.maybe(.15):
            end = "local"
        protocol = self.pick("ip", "ip", "tcp", "udp", "tcp4", "ip6")
        address = f'({end} {protocol} "{host}:{port}")'
        return f"({verdict} {op} {self.pick(address, address, '(%s unix)' % end)})"

    def plain_rule(self):
        op, verdict = self.random.choice(PLAIN_OPS), self.pick("allow", "deny")
        if op == "signal" and self.maybe(.8):
            return f"({verdict} signal (target {self.pick(*TARGETS, 'same-sandbox')}))"
        if op == "signal" and self.maybe(.5):
            return f"({verdict} signal (signal-number SIGUSR1))"
        if op.startswith("sysctl") and self.maybe(.6):
            return f"""({verdict} {op} {self.pick('(sysctl-name "kernel.ostype")',
                                                  '(sysctl-name-prefix "kernel.")')})"""
        if op.startswith("ipc") and self.maybe(.4):
            return f'({verdict} {op} (ipc-posix-name "{{shm}}{self.pick("n1", "n2")}"))'
        if op == "file-ioctl":
            return f'({verdict} {op} (literal "{self.pick("/dev/random", "/dev/urandom")}"))'
        return f"({verdict} {op})"

    def policy(self):
        rules = [self.pick("(allow default)", "(allow default)", "(deny default)")]
        if rules[0] == "(deny default)":
            rules += [self.pick(EXEC_ALL, EXEC_SOME), BASE]
            rules += self.random.sample(
                ["(allow sysctl-read)", '(allow file-read* (subpath "{top}"))', "(allow network*)",
                 '(allow file-write* (subpath "{top}/w"))', "(allow ipc*)", "(allow signal)",
                 '(allow file-read* file-write* (subpath "{top}"))',
                 '(allow file-read* file-write* file-ioctl (subpath "/dev"))(allow pseudo-tty)',
                 '(allow file-read* (subpath "/proc"))'], self.random.randint(1, 5))
        for _ in range(self.random.randint(1, 8)):
            rules.append(self.random.choices(
                [self.file_rule, self.exec_rule, self.network_rule, self.plain_rule],
                [10, 2, 3, 3])[0]())
        return rules


# ---- The library -------------------------------------------------------------------------------


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("os", ctypes.c_int), ("line", ctypes.c_uint),
                ("column", ctypes.c_uint), ("file", ctypes.c_char * 256),
                ("text", ctypes.c_char * 512), ("hint", ctypes.c_char * 256)]


class PolicyOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("target", ctypes.c_int), ("flags", ctypes.c_uint),
                ("params", ctypes.c_void_p), ("n_params", ctypes.c_size_t),
                ("import_dir", ctypes.c_char_p), ("more_errors", ctypes.c_void_p),
                ("more_errors_context", ctypes.c_void_p)]


class Decision(ctypes.Structure):
    _fields_ = [("allowed", ctypes.c_int), ("file", ctypes.c_char_p), ("line", ctypes.c_uint),
                ("column", ctypes.c_uint), ("rule", ctypes.c_char_p),
                ("operation", ctypes.c_char_p)]


Verdict = collections.namedtuple("Verdict", "allowed at rule question")
Gap = collections.namedtuple("Gap", "kind at text")


class Policy:
    """A compiled policy, with what `exec` adds."""

    def __init__(self, library, text):
        self.library = library
        self.text = text.decode(errors="surrogateescape")
        self.handle = ctypes.c_void_p()
        error, options = Error(), PolicyOptions(size=ctypes.sizeof(PolicyOptions), flags=1)
        if library.lapbelt_policy_from_bytes(text, ctypes.c_size_t(len(text)), b"policy",
                                             ctypes.byref(options), ctypes.byref(self.handle),
                                             ctypes.byref(error)) < 0:
            raise ValueError(f"{error.line}:{error.column}: {error.text}")

    def free(self):
        self.library.lapbelt_policy_free(self.handle)

    def decide(self, op, thing, attributes):
        words = [thing] if thing is not None else []
        words += [f"{key}={value}".encode() for key, values in attributes.items()
                  for value in (values if isinstance(values, list) else [values])]
        array_of = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        decision, error = Decision(), Error()
        if self.library.lapbelt_decide(self.handle, op.encode(), array_of, ctypes.byref(decision),
                                       ctypes.byref(error)) < 0:
            raise ValueError(f"{op} {words}: {error.text}")
        at = (decision.line, decision.column) if decision.file == b"policy" else None
        return Verdict(bool(decision.allowed), at, os.fsdecode(decision.rule),
                       (op, thing, attributes))


# plan_move_ops in src/plan/plan.c
MOVED = ["file-read-data", "file-read-metadata", "file-read-xattr", "file-write-data",
         "file-write-create", "file-write-unlink", "file-write-mode", "file-write-owner",
         "file-write-times", "file-write-xattr", "file-write-acl", "file-write-flags",
         "file-write-setugid", "file-link", "process-exec*", "network-outbound"]


MODES = [0o4, 0o111, 0o200, 0o4000]  # what rules test


class Answers:
    """What a policy says to the questions of one act."""

    def __init__(self, policy, plan):
        self.policy = policy
        # Rights that Landlock keeps apart and nobody judges.
        self.moves_vary = "devices take no ioctl" in plan
        self.kinds = [{"vnode-type": kind} for kind in TYPES.values()] \
            if "(vnode-type " in policy.text else [{"vnode-type": "REGULAR-FILE"}]
        self.modes = [{"mode": oct(sum(bits))[2:]} for n in range(len(MODES) + 1)
                      for bits in itertools.combinations(MODES, n)] \
            if "(file-mode " in policy.text else [{"mode": "644"}]
        # What Landlock grants a file by name stays with the file.
        self.named = {os.fsencode(path) for path in re.findall(r"^  (/.*): [a-z ]+$", plan, re.M)}

    def to_one(self, question):
        """True, False, None (it depends) or moved, and the verdicts."""
        op, thing, more = question
        if op == "either":
            verdicts = [self.policy.decide(*q) for q in thing]
            return any(v.allowed for v in verdicts), verdicts
        if op == "maybe":
            return self.policy.decide(*thing[0]).allowed or None, []
        if op == "move":
            loose = self.moves_vary or thing is None or stat.S_ISDIR(more["found"].st_mode) or \
                self.is_looser(*thing) or \
                (thing[0] in self.named and self.is_looser(thing[1], thing[0]))
            return ("moved" if loose else True), []
        verdict = self.policy.decide(*question)
        return verdict.allowed, [verdict]

    def is_looser(self, old, new):
        """Would a file be more open at NEW than at OLD, to whatever question? Where the rules
        depend on more than the name and differ, it is if it can be."""
        for op in MOVED:
            before, after = (self.all_of(op, path) for path in (old, new))
            if before != after and not all(v for v, _ in before) and any(v for v, _ in after):
                return True
        return False

    def all_of(self, op, path):
        """(allowed, where the rule is) for every kind and mode."""
        names = [{"xattr": name} for name in XATTRS] if op.endswith("xattr") else [{}]
        verdicts = (self.policy.decide(op, path, {**kind, **mode, **name})
                    for kind in (self.kinds if not op.startswith("process") else [{}])
                    for mode in self.modes for name in names)
        return [(v.allowed, v.at) for v in verdicts]

    def to_stage(self, questions):
        """allow, if all do; deny; depends, if that cannot be told; moved: it may be refused with
        EXDEV. And who denies."""
        denied, said = [], "allow"
        for question in questions:
            answer, verdicts = self.to_one(question)
            if answer is False:
                denied += verdicts
            elif answer is None:
                said = "depends"
            elif answer == "moved" and said == "allow":
                said = "moved"
        return ("deny" if denied else said), denied


# ---- The world ---------------------------------------------------------------------------------


def write_file(path, text="text\n", mode=0o644):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


class World:
    """Files and listeners below TOP/w and TOP/o."""

    def __init__(self, top):
        self.top = top
        self.sockets = []
        for folder in ("w", "w/d", "w/d/e", "w/empty", "w/D", "w/s", "o", "o/p"):
            os.makedirs(top + "/" + folder, mode=0o755)
        for name in THERE:
            if name not in ("w/fifo", "w/hard", "w/d/hard2", "w/s/sock"):
                write_file(top + "/" + name, name.encode("utf8", "surrogateescape").hex() + "\n")
        for name, text in (("alias", "../o/secret"), ("rel", "d/x"), ("dlink", "d"),
                           ("loop", "loop"), ("dangling", "new1"), ("out", top + "/o")):
            os.symlink(text, top + "/w/" + name)
        os.symlink(top + "/w/d", top + "/o/in")
        os.link(top + "/o/secret", top + "/w/hard")
        os.link(top + "/w/a", top + "/w/d/hard2")
        os.mkfifo(top + "/w/fifo", 0o644)
        shutil.copyfile("/bin/true", top + "/w/tool")
        os.chmod(top + "/w/tool", 0o755)
        write_file(top + "/w/script", "#!/bin/sh\nexit 0\n", 0o755)
        write_file(top + "/w/script2", "#!./tool\n", 0o755)
        os.setxattr(top + "/w/d/x", "user.k", b"there")
        write_file(shm_path(top, "n1"))
        s = socket.socket(socket.AF_UNIX)
        here = os.open(".", os.O_PATH)
        os.chdir(top + "/w/s")
        s.bind("sock")
        os.fchdir(here)
        os.close(here)
        s.listen(64)
        s.setblocking(False)
        self.sockets.append(s)

    def close(self):
        for s in self.sockets:
            s.close()
        for name in ("n1", "n2"):
            if os.path.exists(shm_path(self.top, name)):
                os.unlink(shm_path(self.top, name))
        for folder, folders, _ in os.walk(self.top):
            for name in folders:
                if not os.path.islink(os.path.join(folder, name)):
                    os.chmod(os.path.join(folder, name), 0o755)
        shutil.rmtree(self.top)

    def inodes(self):
        """What is there: path -> inode."""
        found = {}
        for path in self.paths():
            try:
                found[path] = os.lstat(path).st_ino
            except OSError:
                pass  # a folder that may be listed and not searched
        return found

    def paths(self):
        for folder, folders, files in os.walk(os.fsencode(self.top)):
            yield folder
            yield from (os.path.join(folder, name) for name in files)
            yield from (os.path.join(folder, name) for name in folders
                        if os.path.islink(os.path.join(folder, name)))
        for name in ("n1", "n2"):
            if os.path.exists(shm_path(self.top, name)):
                yield os.fsencode(shm_path(self.top, name))

    def picture(self):
        """All that can be compared with another world."""
        top = os.fsencode(self.top)
        shm = os.fsencode(shm_path(self.top, ""))
        return {path.replace(top, b"TOP").replace(shm, b"SHM"): self.describe(path)
                for path in self.paths()}

    def describe(self, path):
        try:
            found = os.lstat(path)
        except OSError as e:
            return e.errno
        said = [oct(found.st_mode), found.st_uid, found.st_gid,
                found.st_mtime if found.st_mtime < 1000 else "now"]
        if stat.S_ISLNK(found.st_mode):
            return said + [os.readlink(path).replace(os.fsencode(self.top), b"TOP")]
        if not stat.S_ISDIR(found.st_mode):
            said += [found.st_nlink, found.st_size]
        try:
            said.append([(name, os.getxattr(path, name)) for name in sorted(os.listxattr(path))])
            if stat.S_ISREG(found.st_mode) and found.st_size < 4096:
                with open(path, "rb") as f:
                    said.append(f.read().replace(os.fsencode(self.top), b"TOP"))
        except OSError as e:
            said.append(e.errno)
        return said


def accept_all(sockets):
    for s in sockets:
        try:
            while True:
                if s.type == socket.SOCK_DGRAM:
                    s.recv(9)
                else:
                    s.accept()[0].close()
        except OSError:
            pass


class Helper:
    """A worker process."""

    def __init__(self, prefix, script, top, log):
        self.log = log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                [*prefix, PYTHON, "-I", "-S", script, "--worker", top],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd="/", text=True,
                start_new_session=True)

    def answer(self):
        if not select.select([self.process.stdout], [], [], 30)[0]:
            return ["hangs"]
        line = self.process.stdout.readline()
        return json.loads(line) if line else ["ended"]

    def act(self, name, arguments, stop=-1):
        try:
            print(json.dumps([name, arguments, stop]), file=self.process.stdin, flush=True)
        except OSError:
            return ["ended"]
        return self.answer()

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def said(self):
        with open(self.log, "rb") as f:
            return f.read()[-600:].decode(errors="backslashreplace")


# ---- Gaps --------------------------------------------------------------------------------------

GAP = re.compile(r"^  (content|metadata|stricter): (?:.*?:(\d+):(\d+): )?(.*)$")
# What a metadata gap says can still be seen, by operation.
ASPECTS = {"file-read-metadata": "attributes", "file-read-xattr": "extended attributes",
           "file-test-existence": "existence", "file-read-data": "names of entries"}
# Those about an operation, wherever it is denied, and what it is about.
UNJUDGED = {"file-lock": ("files that are open can be locked", None),
            "file-ioctl": ("requests on open files and directories are not judged",
                           ("REGULAR-FILE", "DIRECTORY"))}


def read_gaps(text):
    gaps = []
    for line in text.splitlines():
        match = GAP.match(line)
        if match:
            at = (int(match[2]), int(match[3])) if match[2] else None
            gaps.append(Gap(match[1], at, match[4]))
    return gaps


def covers_seen(gaps, verdict, act):
    """Is that this was seen or done by ACT, though VERDICT denies it, a gap?"""
    op, _, more = verdict.question
    text, kinds = UNJUDGED.get(op, (None, None))
    for gap in gaps:
        if gap.text.startswith(text or "-") and (not kinds or more.get("vnode-type") in kinds):
            return True
        if gap.kind == "content" and gap.at == verdict.at:
            return True
        if gap.kind != "metadata" or gap.at != verdict.at:
            continue
        if ASPECTS.get(op, "-") in gap.text and (
                op != "file-read-data" or more.get("vnode-type") == "DIRECTORY"):
            return True
        if act == "watch" and "(inotify)" in gap.text:
            return True
    return False


def named_in(gap, full_text):
    """The paths that a gap lists, and whether there are more."""
    names = gap.text.split(": ", 1)[1] if ": " in gap.text else ""
    names = names.split(" [(")[0]
    more = re.search(r" and \d+ more$", names)
    return re.sub(r" and \d+ more$", "", names).split(", "), bool(more)


def is_replaced(path, start):
    """Is there at PATH now something else than at the start, or was nothing there?"""
    try:
        now = os.lstat(path).st_ino
    except OSError:
        return path not in start
    if path not in start and re.match(b"/(proc|dev)/", path):
        return re.fullmatch(rb"/proc/\d+", path) is not None  # the worker's; the others stand
    return start.get(path) != now


STRICTER = [
    # text, what it is about: (verdicts of the act, its name, start) -> bool
    ("what appears later in these directories", "late"),
    ("what may be read in these directories by its name", "within"),
    ("may be written below, but not made, removed or renamed", "itself"),
    ("what replaces these directories once removed", "replaced"),
    ("cannot be executed", "replaced"),
    ("cannot be listed", "list"),
    ("devices take no ioctl", "ioctl"),
    ("devices that may take no requests", "device"),
    ("unix datagram sockets are refused", "unix-dgram"),
    ("UDP sockets are refused", "udp"),
    ("IP sockets", "ip"),
    ("files without a name (O_TMPFILE)", "tmpfile"),
    ("inode flags cannot be changed", "flags"),
]


def covers_refused(gaps, act, arguments, asked, start):
    """Is that ACT was refused, though all it asks is allowed, a gap?"""
    paths = [q[1] for q in asked if isinstance(q[1], bytes) and q[1].startswith(b"/")]
    for gap in gaps:
        how = next((how for text, how in STRICTER if text in gap.text), None)
        if gap.kind != "stricter" or how is None:
            continue
        names, more = named_in(gap, gap.text)
        names = [os.fsencode(name) for name in names]
        if how in ("late", "replaced"):
            for path in paths:
                parts = [b"/".join(path.split(b"/")[:n]) for n in range(2, path.count(b"/") + 2)]
                if any(is_replaced(part, start) and
                       (more or (os.path.dirname(part) if how == "late" else part) in names)
                       for part in parts):
                    return True
        elif how == "within":
            if any(path.startswith(name + b"/") for path in paths for name in names):
                return True
        elif how in ("itself", "list"):
            if more or any(path in names for path in paths):
                return True
        elif (how == "ioctl" and act in ("device", "openpty") or
              how == "unix-dgram" and act.endswith("-unix") and "SOCK_DGRAM" in arguments or
              how == "unix-dgram" and act == "socket" and "AF_UNIX" in arguments or
              how == act and act in ("tmpfile", "flags", "device") or
              how == "udp" and (act == "send" or "SOCK_DGRAM" in arguments) or
              how == "ip" and act in ("socket", "send", "connect", "listen")):
            return True
    return False


# ---- Judging -----------------------------------------------------------------------------------

Failure = collections.namedtuple("Failure", "kind stage rule act arguments expected got")


def show_question(question):
    op, thing, more = question
    if op in ("either", "maybe"):
        return " | ".join(map(show_question, thing))
    words = [op] + ([os.fsdecode(thing)] if isinstance(thing, bytes) else [])
    return " ".join(words + [f"{k}={v}" for k, v in more.items() if k != "found"])


def show(text):
    return text.encode("utf8", "backslashreplace").decode("utf8")


class Run:
    """One policy: two worlds and two workers, acts one after another."""

    number = itertools.count()

    def __init__(self, test, rules, options):
        self.test = test
        self.options = options
        self.folder = f"{test.home}/{next(Run.number)}"
        self.worlds, self.helpers = [], []
        os.mkdir(self.folder)
        try:
            self.start(rules)
        except BaseException:
            self.close()
            raise

    def start(self, rules):
        test = self.test
        for name in ("i", "u"):
            self.worlds.append(World(f"{self.folder}/{name}"))
        self.inside, self.outside = self.worlds
        top = self.inside.top
        self.text = "(version 1)\n" + "\n".join(rules) + "\n"
        for name, value in (("top", top), ("re", top.replace(".", r"\.")),
                            ("tools", os.path.dirname(test.script)),
                            ("shm", os.path.basename(shm_path(top, ""))),
                            ("shell", os.path.realpath("/bin/sh"))):
            self.text = self.text.replace("{" + name + "}", value)
        text = os.fsencode(self.text)
        self.file = self.folder + "/policy"
        with open(self.file, "wb") as f:
            f.write(text)
        self.policy = Policy(test.library, text)
        plan = subprocess.run([test.lapbelt, "plan", "--exec", *self.options, "-f", self.file],
                              capture_output=True, check=False)
        self.plan = plan.stdout.decode(errors="surrogateescape")
        self.gaps = read_gaps(self.plan)
        self.answers = Answers(self.policy, self.plan)
        self.begin = self.inside.inodes()
        for world, prefix in ((self.inside, [test.lapbelt, "exec", *self.options, "-f", self.file,
                                             "--"]), (self.outside, [])):
            self.helpers.append(Helper(prefix, test.script, world.top, world.top + ".log"))
        self.started = [helper.answer() for helper in self.helpers]
        brokered = re.search(r"^broker: (.*)$", self.plan, re.M)
        self.view = View(top, self.started[0][-1], brokered[1].split() if brokered else [])
        self.before = self.inside.picture()
        self.failures = []

    def close(self):
        for helper in self.helpers:
            helper.close()
        for world in self.worlds:
            world.close()
        if hasattr(self, "policy"):
            self.policy.free()
        shutil.rmtree(self.folder)

    def is_fifo(self, where):
        try:
            return stat.S_ISFIFO(os.stat(self.view.full(where)).st_mode)
        except OSError:
            return False

    def questions(self, name, arguments):
        try:
            return ACTS[name].ask(self.view, *arguments)
        except (OSError, ValueError):
            return [[]]  # it fails before anything is asked

    def act(self, name, arguments):
        """Returns a failure, or None. Afterwards the worlds are equal again, or there is one."""
        if name in ("creat", "exec") and self.is_fifo(arguments[0]):
            return None  # it waits for a partner
        self.was = self.inside.inodes()
        stages = self.questions(name, arguments)
        said, denied, stage, unsure = "allow", [], 0, {}
        for stage, questions in enumerate(stages):
            said, denied = self.answers.to_stage(questions)
            if said == "deny" and self.are_seen(denied, name):
                said = "depends"
            if said == "deny":
                break
            if said in ("depends", "moved"):
                unsure[stage] = DENIALS if said == "depends" else ("EXDEV",)
        result = self.helpers[0].act(name, arguments)
        after = self.inside.picture()
        accept_all(self.test.sockets + self.inside.sockets + self.outside.sockets)

        def failure(kind, expected):
            rule = "; ".join(f"{show_question(v.question)}: {v.rule}" for v in denied)
            return Failure(kind, stage, rule or "all allowed: " + ", ".join(
                show_question(q) for qs in stages for q in qs), name, arguments, expected, result)

        if result[0] in ("ended", "hangs"):
            return failure(result[0], "an answer")
        if result[0] == "error" and result[2] in unsure.get(result[1], ()):
            self.test.count["depends"] += 1
            return self.catch_up(name, arguments, result[1], after, failure)
        if said == "deny":
            if after != self.before and self.may_be_left(name, stages[stage]):
                self.helpers[1].act("open", [arguments[0], self.making(name, arguments),
                                             arguments[-1]])
                self.before = self.outside.picture()
            return self.after_denial(name, arguments, stage, denied, result, after, failure)
        control = self.helpers[1].act(name, arguments)
        if name in ("listen", "bind-abstract") and result != control and \
                "EADDRINUSE" in result + control:
            return self.act(name, arguments)  # somebody else's, or the broker's for a moment more
        self.test.count["same"] += 1
        if result == control and after == self.outside.picture():
            self.before = after
            self.test.count["done"] += result[0] == "ok"
            return None
        if result == control:
            return failure("tree", self.difference(self.outside.picture(), after))
        asked = [q for qs in stages for q in qs]
        if result[0] == "error" and result[2] in DENIALS and \
                covers_refused(self.gaps, name, arguments, asked, self.begin):
            self.test.count["gap"] += 1
            return Failure("resync", 0, "", name, arguments, "", "")
        return failure("incomplete" if result[0] == "error" and result[2] in DENIALS else "differs",
                       control)

    def by_second_name(self, verdict):
        """Is what VERDICT denies there under another name, where it is allowed?"""
        op, thing, more = verdict.question
        if not isinstance(thing, bytes) or not thing.startswith(os.fsencode(self.inside.top)):
            return False
        inode = self.was.get(thing)
        return any(self.policy.decide(op, path, more).allowed
                   for path, other in self.was.items() if inode and other == inode)

    def may_be_left(self, name, questions):
        """Landlock lets make what may be made, and then does not let open it."""
        making = [q for q in questions if q[0] in ("file-write-create", "file-write-setugid")]
        return name in ("open", "creat") and making and \
            not {"read", "write"} & set(self.view.brokered) and \
            self.answers.to_stage(making)[0] == "allow"

    @staticmethod
    def making(name, arguments):
        """The flags of an open that makes what the act made."""
        flags = arguments[1] if name == "open" else 0
        return os.O_CREAT | flags & (os.O_EXCL | os.O_NOFOLLOW)

    def are_seen(self, denied, act):
        """Is what is DENIED known to be seen or done all the same?"""
        return all(covers_seen(self.gaps, verdict, act) or self.by_second_name(verdict)
                   for verdict in denied)

    def after_denial(self, name, arguments, stage, denied, result, after, failure):
        if result[0] == "error" and result[1] < stage:
            return self.early(name, arguments, stage, result, after, failure)
        if result[0] == "error" and result[1] == stage:
            self.test.count["denied" if result[2] in DENIALS else "failed anyway"] += 1
            return self.catch_up(name, arguments, stage, after, failure)
        return failure("unsound", f"denied at stage {stage}")

    def early(self, name, arguments, stage, result, after, failure):
        """Inside it fails before the stage that is denied: as outside, or for a gap."""
        if result[1] == 0 and result[2] == "EPERM" and name in SOCKET_ACTS:
            self.test.count["denied"] += 1  # the socket cannot even be made
            return self.catch_up(name, arguments, 0, after, failure)
        control = self.helpers[1].act(name, arguments, stage)
        if result == control and after == self.outside.picture():
            self.before = after
            self.test.count["failed anyway"] += 1
            return None
        asked = [q for qs in ACTS[name].ask(self.view, *arguments) for q in qs]
        if result[2] in DENIALS and \
                covers_refused(self.gaps, name, arguments, asked, self.begin):
            self.test.count["gap"] += 1
            return Failure("resync", 0, "", name, arguments, "", "")
        return failure("incomplete" if result[2] in DENIALS else "differs", control)

    def catch_up(self, name, arguments, stage, after, failure):
        """Outside, what came before the denied stage."""
        if stage and self.helpers[1].act(name, arguments, stage)[0] == "error":
            pass  # inside it has failed there too
        want = self.outside.picture() if stage else self.before
        if after != want:
            return failure("changed", self.difference(want, after))
        self.before = after
        return None

    @staticmethod
    def difference(want, got):
        return [(path.decode("latin1"), str(want.get(path)), str(got.get(path)))
                for path in sorted({*want, *got}) if want.get(path) != got.get(path)][:3]


class Test:
    def __init__(self, arguments, home):
        self.home = home
        self.lapbelt, self.script = arguments.lapbelt, os.path.abspath(__file__)
        self.library = ctypes.CDLL(arguments.library)
        self.arguments = arguments
        self.count = collections.Counter()
        self.found = collections.OrderedDict()
        self.sockets, self.ports = [], {}
        self.listen()

    def listen(self):
        for name, family, kind, host in (("tcp", socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1"),
                                         ("tcp6", socket.AF_INET6, socket.SOCK_STREAM, "::1"),
                                         ("udp", socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1"),
                                         ("free", socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1"),
                                         ("free2", socket.AF_INET, socket.SOCK_STREAM,
                                          "127.0.0.1")):
            if name.startswith("free"):
                self.ports[name] = self.free_port()
                continue
            s = socket.socket(family, kind)
            s.bind((host, 0))
            self.ports[name] = s.getsockname()[1]
            if kind == socket.SOCK_STREAM:
                s.listen(64)
            s.setblocking(False)
            self.sockets.append(s)

    @staticmethod
    def free_port():
        """One that the kernel gives to nobody by itself."""
        while True:
            port = random.randrange(10000, 32000)
            with socket.socket() as s:
                try:
                    s.bind(("0.0.0.0", port))
                    return port
                except OSError:
                    pass

    def begin(self, rules, options):
        """A run, or None where it is refused for a reason that is a gap."""
        run = Run(self, rules, options)
        if run.started[0][0] == "ready":
            return run
        said = run.helpers[0].said()
        is_gap = any(gap.kind == "content" for gap in run.gaps)
        run.close()
        if is_gap:
            self.count["refused"] += 1
            return None
        raise RuntimeError(f"does not start: {said}")

    def replay(self, rules, acts, options):
        """The first failure of ACTS under RULES, or None."""
        try:
            run = self.begin(rules, options)
        except (RuntimeError, ValueError):
            return None
        if run is None:
            return None
        try:
            for name, arguments in acts:
                failure = run.act(name, arguments)
                if failure:
                    return failure if failure.kind != "resync" else None
        finally:
            run.close()
        return None

    def shrink(self, rules, acts, options, failure):
        """Fewer rules and acts that end the same way."""
        def is_same(some_rules, some_acts):
            again = self.replay(some_rules, some_acts, options)
            return again and (again.kind, again.act) == (failure.kind, failure.act)

        for n in (1, 2, 4, 8, 16, 32):
            if n < len(acts) and is_same(rules, acts[-n:]):
                acts = acts[-n:]
                break
        for i in reversed(range(len(rules))):
            if is_same(rules[:i] + rules[i + 1:], acts):
                rules = rules[:i] + rules[i + 1:]
        for i in reversed(range(len(acts) - 1)):
            if len(acts) <= 33 and is_same(rules, acts[:i] + acts[i + 1:]):
                acts = acts[:i] + acts[i + 1:]
        return rules, acts

    def key(self, failure):
        ops = re.sub(r"[^;|]*?([a-z-]+\*?) [^;|]*", r"\1 ", failure.rule)
        got = failure.got[2] if failure.got[0] == "error" else failure.got[0]
        return (failure.kind, failure.act, failure.stage, ops if failure.kind == "unsound" else "",
                got, str(failure.expected)[:20] if failure.kind == "differs" else "")

    def report(self, seed, rules, acts, options, failure):
        key = self.key(failure)
        self.count["failures"] += 1
        if key in self.found:
            self.found[key][0] += 1
            return
        if not self.arguments.no_shrink:
            small_rules, small_acts = self.shrink(rules, acts, options, failure)
            failure = self.replay(small_rules, small_acts, options) or failure
        else:
            small_rules, small_acts = rules, acts[-1:]
        lines = [f"seed {seed} {' '.join(options)}: {failure.kind}"]
        lines += ["policy: " + show(" ".join(small_rules)).replace("\n", " ")]
        lines += ["act: " + show(json.dumps(act, ensure_ascii=False)) for act in small_acts[-8:]]
        lines += [f"asked: {show(failure.rule)}", f"expected: {failure.expected}",
                  f"got: {failure.got}",
                  f"again: {self.arguments.who} --seed {seed} --policies 1"
                  f" --acts {self.arguments.acts}"]
        self.found[key] = [1, lines]
        print("\n".join("# " + line for line in lines), flush=True)

    def one_policy(self, seed, options):
        maker = PolicyMaker(seed, self.ports)
        rules = maker.policy()
        names, weights = zip(*((name, act.weight) for name, act in ACTS.items()
                               if name not in self.arguments.skip))
        todo = [(name, ACTS[name].make(maker)) for name in
                maker.random.choices(names, weights, k=self.arguments.acts)]
        if self.arguments.show:
            print(f"# {seed}: " + show(" ".join(rules)))
        while todo:
            run = self.begin(rules, options)
            if run is None:
                return
            try:
                done = 0
                for name, arguments in todo:
                    done += 1
                    failure = run.act(name, arguments)
                    self.count["acts"] += 1
                    if failure:
                        break
            finally:
                run.close()
            if failure and failure.kind != "resync":
                self.report(seed, rules, todo[:done], options, failure)
            todo = todo[done:]

    def all(self):
        a = self.arguments
        options = [word for word in a.options if word]
        for seed in range(a.seed, a.seed + a.policies):
            before = self.count["failures"]
            with_options = options or (["--no-userns"] if seed % 2 else [])
            try:
                self.one_policy(seed, with_options)
            except (RuntimeError, ValueError) as e:
                self.count["failures"] += 1
                print(f"# {e}".replace("\n", "\n# "))
            ok = self.count["failures"] == before
            print(f"{'' if ok else 'not '}ok {seed - a.seed + 1} - seed {seed} "
                  f"{' '.join(with_options)}", flush=True)
        print(f"1..{a.policies}")
        print("# " + ", ".join(f"{n} {what}" for what, n in sorted(self.count.items())))
        for count, lines in self.found.values():
            print(f"# {count} times: {lines[0]}")
        return 1 if self.count["failures"] else 0


def parse(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("lapbelt")
    parser.add_argument("library")
    parser.add_argument("who", choices=("root", "user"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policies", type=int, default=80)
    parser.add_argument("--acts", type=int, default=60)
    parser.add_argument("--options", nargs="*", default=[])
    parser.add_argument("--skip", nargs="*", default=[], metavar="ACT")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--no-shrink", action="store_true")
    return parser.parse_args(words)


def main(words):
    arguments = parse(words)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    is_root = os.geteuid() == 0
    if arguments.who == "root" and not is_root:
        print("1..0 # SKIP this user is not root")
        return 0
    home = os.environ.get("DIFFERENTIAL_HOME")
    if home:
        return Test(arguments, home).all()
    home = tempfile.mkdtemp(prefix="lapbelt-diff-", dir="/var/tmp")
    try:
        # Copies, in a folder that an ordinary user reaches.
        os.chmod(home, 0o755)
        os.mkdir(home + "/tools", 0o755)
        program = shutil.copy(arguments.lapbelt, home + "/tools/lapbelt")
        library = shutil.copy(arguments.library, home + "/tools/library.so")
        script = shutil.copy(__file__, home + "/tools/differential.py")
        ids = {}
        if arguments.who == "user" and is_root:
            os.chown(home, NOBODY, NOBODY)
            ids = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return subprocess.run(
            [PYTHON, "-I", script, program, library, *words[2:]], check=False, cwd="/",
            env={**os.environ, "DIFFERENTIAL_HOME": home}, **ids).returncode
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        Worker(sys.argv[2]).serve()
    else:
        sys.exit(main(sys.argv[1:]))
