#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""acts.py ACT ARGUMENT...

Acts that a shell cannot do. Each exits 0 if it came through, 1 if it was denied, and 127 if it
could not be tried; `hold` is the process that others are to leave alone.
"""
import ctypes
import mmap
import os
import signal
import socket
import struct
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)


def broken(reason):
    print(reason, file=sys.stderr)
    os._exit(127)


def wait_for(path):
    """For ten seconds at most."""
    end = time.monotonic() + 10
    while not os.path.exists(path):
        if time.monotonic() > end:
            broken(f"{path} does not appear")
        time.sleep(0.02)


def publish(path, text):
    with open(path + ".new", "w") as f:
        f.write(text)
    os.rename(path + ".new", path)


# --- a process outside, and how to reach it -------------------------------------------------------


def hold(facts):
    """Holds what HELD says in its environment, in its memory, and in a pipe, until it is killed."""
    content = os.environ["HELD"]
    memory = ctypes.create_string_buffer(content.encode())
    reader, writer = os.pipe()
    os.write(writer, content.encode() * 100)
    publish(facts, f"{os.getpid()} {reader} {ctypes.addressof(memory)} {content}")
    signal.pause()


def reach(facts, way, name):
    """Opens mem, fd or environ of that process: below a pinned /proc/PID, or from inside it."""
    with open(facts) as f:
        pid, reader, address, content = f.read().split(" ", 3)
    process = os.open(f"/proc/{pid}", os.O_PATH | os.O_DIRECTORY)
    name = name.replace("N", reader)
    if way == "inside":
        os.fchdir(process)
        fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    else:
        fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK, dir_fd=process)
    wanted = content.encode()
    if name == "mem":
        got = os.pread(fd, len(wanted), int(address))
    else:
        got = os.read(fd, len(wanted) if name.startswith("fd") else 65536)
    return wanted in got


def overwrite(facts):
    """Writes the memory of that process, which could write for us what we may not."""
    with open(facts) as f:
        pid, _, address, content = f.read().split(" ", 3)
    process = os.open(f"/proc/{pid}", os.O_PATH | os.O_DIRECTORY)
    fd = os.open("mem", os.O_RDWR, dir_fd=process)
    return os.pwrite(fd, content.encode(), int(address)) > 0


def reach_own():
    """Opens mem and fd of a child of its own, below a pinned directory."""
    child = os.fork()
    if child == 0:
        signal.pause()
    process = os.open(f"/proc/{child}", os.O_PATH | os.O_DIRECTORY)
    try:
        os.close(os.open("mem", os.O_RDONLY, dir_fd=process))
        os.close(os.open("environ", os.O_RDONLY, dir_fd=process))
        os.close(os.open("fd/0", os.O_RDONLY, dir_fd=process))
    finally:
        os.kill(child, signal.SIGKILL)
    return True


# --- descriptors that outlive a name --------------------------------------------------------------


def reopen(fd):
    return len(os.read(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY), 1)) > 0


def read_unlinked(path):
    """Pins a file, removes its name, and opens what it pinned."""
    fd = os.open(path, os.O_PATH)
    os.unlink(path)
    return reopen(fd)


def read_replaced(path, pinned, replaced):
    """Pins a file, has somebody outside rename another over it, and opens what it pinned."""
    fd = os.open(path, os.O_PATH)
    publish(pinned, "")
    wait_for(replaced)
    return reopen(fd)


# --- execve reads the path twice: when it is judged and when it is run ----------------------------


def flip(shared, paths):
    while True:
        for path in paths:
            shared[: len(path)] = path
            for _ in range(50):
                pass


def run_racing(allowed, denied, rounds):
    """Starts whatever is in shared memory while a process changes that; true if DENIED ever ran,
    which it shows by exit status 42."""
    paths = [os.fsencode(path) + b"\0" for path in (allowed, denied)]
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    shared[: len(paths[0])] = paths[0]
    address = ctypes.addressof(ctypes.c_char.from_buffer(shared))
    argv = (ctypes.c_char_p * 2)(b"racer", None)
    flipper = os.fork()
    if flipper == 0:
        flip(shared, paths)
    seen = set()
    for _ in range(int(rounds)):
        child = os.fork()
        if child == 0:
            libc.execve(ctypes.c_void_p(address), argv, None)
            os._exit(99)
        seen.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os.kill(flipper, signal.SIGKILL)
    print("statuses seen:", seen)
    if 0 not in seen:
        broken("the allowed program never ran")
    return 42 in seen


# --- opens that block -----------------------------------------------------------------------------


def open_interrupted(fifo, flags, threads="0"):
    """Opens a FIFO that nobody else opens; a handler of SIGALRM ends the wait."""
    for _ in range(int(threads)):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()

    class Rang(Exception):
        pass

    def ring(*_):
        raise Rang

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        os.open(fifo, getattr(os, flags))
    except Rang:
        return True
    return False


def open_beside(fifos):
    """Opens a file, several times, while so many threads wait for the readers of FIFOs."""
    opened = []

    def wait(path):
        opened.append(os.open(path, os.O_WRONLY))

    paths = [f"fifo{i}" for i in range(int(fifos))]
    threads = [threading.Thread(target=wait, args=(path,), daemon=True) for path in paths]
    for path, thread in zip(paths, threads):
        os.mkfifo(path)
        thread.start()
    time.sleep(0.5)
    start = time.monotonic()
    for _ in range(20):
        os.close(os.open("file", os.O_WRONLY | os.O_CREAT))
    seconds = time.monotonic() - start
    for path in paths:
        opened.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    for thread in threads:
        thread.join(20)
    print(f"20 opens took {seconds:.2f} s, {len(opened)} ends are open")
    return seconds < 2 and len(opened) == 2 * len(paths)


def open_and_die(fifo, times):
    """So many children are killed while they open a FIFO."""
    for _ in range(int(times)):
        child = os.fork()
        if child == 0:
            os.open(fifo, os.O_RDONLY)
            os._exit(0)
        time.sleep(0.005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return True


# --- what happens in directories ------------------------------------------------------------------


def watch(ready, end, *directories):
    """Tells what is made, removed, renamed or given other attributes in DIRECTORIES until the file
    END is there; true if nothing was."""
    events = {0x100: "made", 0x200: "removed", 0x40: "moved", 0x80: "moved", 0x4: "attributes"}
    inotify = libc.inotify_init1(os.O_NONBLOCK)
    for directory in directories:
        if libc.inotify_add_watch(inotify, os.fsencode(directory), sum(events)) < 0:
            broken(f"{directory} cannot be watched")
    publish(ready, "")
    wait_for(end)
    try:
        seen = os.read(inotify, 1 << 20)
    except BlockingIOError:
        return True
    while seen:
        _, mask, _, n = struct.unpack_from("iIII", seen)
        print(events.get(mask & 0xFFF, hex(mask)), seen[16 : 16 + n].rstrip(b"\0"))
        seen = seen[16 + n :]
    return False


# --- root that becomes somebody else --------------------------------------------------------------


def as_somebody(act):
    """Does it in a child that has dropped root's ids for good; true if it came through there."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(12345, 12345, 12345)
            os.setresuid(12345, 12345, 12345)
        except OSError as error:
            broken(f"there is nobody to become: {error}")
        try:
            act()
        except OSError:
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, 1):
        sys.exit(status)
    return status == 0


def check_access(path):
    if not os.access(path, os.W_OK):
        raise PermissionError(path)


def use_roots_rights(directory):
    """DIRECTORY is open to all; in it `private` (0700) and `own` (0600) belong to root. Tells what
    came through with dropped ids; root itself must still be able to do all of it afterwards."""
    os.chdir(directory)
    acts = {
        "open": lambda: os.open("private/f", os.O_RDWR),
        "create": lambda: os.open("private/new", os.O_RDWR | os.O_CREAT),
        "open what is there with O_CREAT": lambda: os.open("own", os.O_RDWR | os.O_CREAT),
        "read": lambda: os.open("own", os.O_RDONLY),
        "access": lambda: check_access("own"),
        "link": lambda: os.link("theirs", "private/link"),
        "rename": lambda: os.rename("theirs", "private/theirs"),
        "mkdir": lambda: os.mkdir("private/d"),
        "chmod": lambda: os.chmod("own", 0o640),
        "truncate": lambda: os.truncate("own", 0),
        "unlink": lambda: os.unlink("private/f"),
    }
    if not as_somebody(lambda: os.open("made", os.O_RDWR | os.O_CREAT)):
        broken("with dropped ids nothing can be made at all")
    through = [name for name, act in acts.items() if as_somebody(act)]
    print("came through:", through)
    if not through:
        for name, act in acts.items():
            try:
                act()
            except OSError as error:
                broken(f"root itself, {name}: {error}")
    return bool(through)


def speak_as_root(name):
    """Connects with dropped ids to a socket of root's (@: an abstract name); true if the peer takes
    it for root."""
    address = "\0" + name[1:] if name.startswith("@") else name

    def connect():
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(address)
            client.send(b"x")

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        if not name.startswith("@"):
            os.chmod(address, 0o777)
        server.listen(1)
        if not as_somebody(connect):
            return False
        peer = server.accept()[0]
        credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return struct.unpack("iii", credentials)[1] == 0


ACTS = {
    "hold": hold,
    "reach": reach,
    "overwrite": overwrite,
    "reach-own": reach_own,
    "read-unlinked": read_unlinked,
    "read-replaced": read_replaced,
    "run-racing": run_racing,
    "open-interrupted": open_interrupted,
    "open-beside": open_beside,
    "open-and-die": open_and_die,
    "watch": watch,
    "use-roots-rights": use_roots_rights,
    "speak-as-root": speak_as_root,
}

if __name__ == "__main__":
    try:
        sys.exit(not ACTS[sys.argv[1]](*sys.argv[2:]))
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
