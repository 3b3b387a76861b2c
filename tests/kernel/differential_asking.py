# SPDX-License-Identifier: Apache-2.0
"""What acts ask.

A list of stages, each a list of questions (operation, object, attributes). None: it cannot be said
(the act is not judged at this stage, only compared).
"""
import errno
import os
import signal
import stat

from differential_doing import ACL, RENAME_EXCHANGE
from differential_names import shm_path

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

    def passed(self, where):
        """Every name that the kernel comes by on the way to a name, itself followed."""
        how, path = where
        top = os.fsencode(self.top)
        begin = {"abs": b"", "rel": b"/w/.."}.get(how)
        if begin is None:
            begin = b"/" + os.fsencode(how[3:]) + b"/.." * (how.count("/") + 1)
        todo, at, passed = (begin + b"/" + os.fsencode(path)).split(b"/")[::-1], top, [top]
        while todo and len(passed) < 200:
            part = todo.pop()
            if part in (b"", b"."):
                continue
            at = os.path.normpath(os.path.join(at, part))
            passed.append(at)
            try:
                text = os.readlink(at)
            except OSError:
                continue
            todo += text.split(b"/")[::-1]
            at = b"/" if text.startswith(b"/") else os.path.dirname(at)
        return passed

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


def ask_open2(v, where, flags, mode, resolve):
    return ask_open(v, where, flags, mode if flags & os.O_CREAT else 0)


def ask_creat(v, where, mode):
    return ask_open(v, where, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode)


def ask_reopen(v, where, flags):
    path, found = v.object(where)
    return [[], data(path, found, flags)]


def ask_tmpfile(v, where, flags, name):
    try:
        path, found = v.object(where)
    except PermissionError:  # where nothing may be made, that is said first
        return [[made("file-write-create", os.path.join(v.full(where), b"#"), "REGULAR-FILE", 0o644)]]
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


def ask_mknod(v, where, mode):
    kind = {stat.S_IFREG: "REGULAR-FILE", stat.S_IFSOCK: "SOCKET", stat.S_IFIFO: "FIFO"}[stat.S_IFMT(mode)]
    return ask_make(kind, stat.S_IMODE(mode))(v, where)


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


INTERPRETERS = 6  # of interpreters: the kernel gives up before


def interpreter_line(path):
    """That of a script, or b"" of anything else."""
    line = b""
    if os.path.isfile(path) and os.access(path, os.R_OK):
        with open(path, "rb") as f:
            line = f.readline(200)
    return line if line.startswith(b"#!") else b""


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
    for _ in range(INTERPRETERS):
        line = interpreter_line(path)
        if not line:
            break
        by = os.path.realpath(os.path.join(os.fsencode(v.top), b"w", line[2:].split()[0]))
        if not os.path.exists(by):
            break
        image.append(("process-exec-interpreter", by,
                      {"mode": oct(stat.S_IMODE(os.stat(by).st_mode))[2:]}))
        image.append(("maybe", [about("file-read-data", by, os.stat(by))], {}))
        if by.endswith(b"sh"):
            end.append(about("file-read-data", path, os.stat(path)))
        path = by
    return [fork, image, end]


def ask_exec_memfd(v):
    return [[("process-fork", None, {})], [("process-exec*", None, {})], []]


def ask_fork(v):
    return [[("process-fork", None, {})]]


# What they are to the worker that are meant, as far as `decide` does not know it by itself. The
# worker's group is that of the supervisor and init, which are outside.
TARGETS = {"self": [["self"]], "pgrp": [["self"], ["others", "pgrp"]], "others": [["others"]],
           "children": [["children", "pgrp"]]}
SIGNALS = {0: {}, int(signal.SIGUSR1): {"signal": "SIGUSR1"},
           int(signal.SIGCONT): {"signal": "SIGCONT"}}


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


def ask_send_unix(v, where):
    return ask_connect_unix(v, where, "SOCK_DGRAM")


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
