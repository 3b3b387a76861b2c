# SPDX-License-Identifier: Apache-2.0
"""What acts do, by a worker.

Each is a generator. What stands before a `yield` is one stage: it asks its own questions, and may
fail. An act of one stage has its `yield` after the return, which makes it a generator all the same.
"""
import array
import ctypes
import errno
import fcntl
import os
import socket
import stat
import struct

from differential_names import shm_path

libc = ctypes.CDLL(None, use_errno=True)

AT_FDCWD, AT_SYMLINK_FOLLOW = -100, 0x400
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
OPENAT2 = 437
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, RNDGETENTCNT = 0x80086601, 0x40086602, 0x80045200
FS_NODUMP_FL = 0x40
IN_MODIFY = 2
ACL = "system.posix_acl_access"


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


class Ended(Exception):
    """A program that was executed, and did not end well."""


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


def do_open2(w, where, flags, mode, resolve):
    """openat2(2), which takes a mode for what is made only."""
    path, at = w.path(where)
    how = struct.pack("QQQ", flags | os.O_NONBLOCK | os.O_NOCTTY, mode if flags & os.O_CREAT else 0, resolve)
    fd = check(libc.syscall(OPENAT2, AT_FDCWD if at is None else at, os.fsencode(path), how, len(how)))
    with opened(fd):
        return use_fd(fd, flags)
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


def do_mknod(w, where, mode):
    path, at = w.path(where)
    os.mknod(path, mode, dir_fd=at)
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
    if not os.access(w.top + "/w", os.X_OK):
        return None  # there would be no way back
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


def do_exec_fd(w, where):
    """execveat(2) of a descriptor."""
    path = w.path(("abs", where[1]))[0]

    def task():
        os.execve(os.open(path, os.O_PATH), [path], {})
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
    """Short enough: relative to the working directory, which is {top}/w, or where that was moved."""
    return os.path.relpath(os.fsencode(w.top + "/" + where[1]), os.getcwdb())


def do_connect_unix(w, where, kind):
    with socket.socket(socket.AF_UNIX, getattr(socket, kind)) as s:
        yield
        s.connect(unix_name(w, where))
    return None


def do_send_unix(w, where):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        yield
        s.sendto(b"x", unix_name(w, where))
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
