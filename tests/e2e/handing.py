#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What the broker opens for its callers is closed there before anybody can tell: programs that were
just written can be executed, locks that were just given up can be taken, leases too. Run by run.sh.
LAPBELT names the program under test. Output is TAP.

With an argument it is one of its own acts: handing.py ACT.
"""
import errno
import fcntl
import os
import shutil
import struct
import subprocess
import sys
import tempfile

ME = os.path.realpath(__file__)
PYTHON = os.path.realpath(sys.executable)
ROUNDS = int(os.environ.get("LAPBELT_ROUNDS", "300"))
F_OFD_SETLK = 37
NEW = os.O_CREAT | os.O_TRUNC


def write(path, mode, flags=os.O_WRONLY):
    fd = os.open(path, flags | NEW, mode)
    os.write(fd, b"#!/bin/true\n")
    os.close(fd)


def execute(path):
    """The error, at once; the program is not waited for where there is none."""
    try:
        os.waitpid(os.posix_spawn(path, [path], {}), 0)
    except OSError as e:
        return e.errno
    return 0


# --- acts: of one round, the error or 0 ------------------------------------------------------------


def chmod_and_execute():
    write("script", 0o644)
    os.chmod("script", 0o755)
    error = execute("./script")
    os.unlink("script")
    return error


def fchmod_and_execute():
    fd = os.open("script", os.O_RDWR | NEW, 0o600)
    os.write(fd, b"#!/bin/true\n")
    os.fchmod(fd, 0o700)
    os.close(fd)
    error = execute("./script")
    os.unlink("script")
    return error


def make_and_execute():
    write("script", 0o755)
    error = execute("./script")
    os.unlink("script")
    return error


def rewrite_and_execute():
    write("standing", 0o755)
    return execute("./standing")


def twice(flags, lock):
    """Taken and given up by closing; then the next wants it."""
    for _ in range(2):
        fd = os.open("lock", flags, 0o644)
        try:
            lock(fd)
        except OSError as e:
            os.close(fd)
            return e.errno
        os.close(fd)
    return 0


def flock_standing():
    return twice(os.O_RDWR, lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))


def flock():
    return twice(os.O_WRONLY | os.O_CREAT, lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))


def flock_read_only():
    return twice(os.O_RDONLY | os.O_CREAT, lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))


def ofd_lock():
    lock = struct.pack("hhlli4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    return twice(os.O_RDWR | os.O_CREAT, lambda fd: fcntl.fcntl(fd, F_OFD_SETLK, lock))


def lease():
    write("leased", 0o644)
    fd = os.open("leased", os.O_RDONLY)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as e:
        return e.errno
    finally:
        os.close(fd)
    return 0


ACTS = {
    "chmod_and_execute": "a program is executed once it is written and made executable",
    "fchmod_and_execute": "so it is by fchmod",
    "make_and_execute": "one that was executable from the start",
    "rewrite_and_execute": "and one that was there before",
    "flock_standing": "a lock (flock) of a file that was there is free once that is closed",
    "flock": "a lock (flock) is free once its file is closed",
    "flock_read_only": "also of one that was opened for reading",
    "ofd_lock": "a lock (F_OFD_SETLK) is free once its file is closed",
    "lease": "a file can be leased once its writer has closed it",
}


def keep_busy():
    """Others open and close all the time."""
    pid = os.fork()
    if pid:
        return pid
    for i in range(1 << 30):
        write(f"busy.{os.getpid()}.{i % 10}", 0o644)
        os.listdir(".")
    os._exit(0)


def act_main(name, others):
    busy = [keep_busy() for _ in range(int(others))]
    write("lock", 0o644)
    errors = [globals()[name]() for _ in range(ROUNDS)]
    for pid in busy:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    failed = [errno.errorcode[error] for error in errors if error]
    if failed:
        print(f"{len(failed)} of {ROUNDS}: {sorted(set(failed))}")
    return bool(failed)


# --- rows ------------------------------------------------------------------------------------------


def main():
    lapbelt, options = os.environ["LAPBELT"], os.environ.get("LAPBELT_RUN_OPTIONS", "").split()
    base = tempfile.mkdtemp(prefix="lapbelt-handing.", dir="/var/tmp")
    os.mkdir(f"{base}/ws")
    me = shutil.copy(ME, f"{base}/ws")  # a private /tmp may hide where it is
    environment = {**os.environ, "HOME": base}
    count = failures = 0
    for others in ("0", "2"):
        for name, title in ACTS.items():
            for where, before in (("outside", []), ("inside", [lapbelt, "run", *options, "--"])):
                done = subprocess.run([*before, PYTHON, "-EsS", me, name, others], cwd=f"{base}/ws",
                                      env=environment, check=False, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, timeout=600)
                count += 1
                failures += done.returncode != 0
                if done.returncode:
                    print("# " + done.stdout.strip().replace("\n", "\n# "))
                print(f"{'not ' if done.returncode else ''}ok {count} - {title}, {where}"
                      f"{', while others open files' if others != '0' else ''}", flush=True)
    shutil.rmtree(base)
    print(f"1..{count}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(act_main(*sys.argv[1:]) if sys.argv[1:] else main())
