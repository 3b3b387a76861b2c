#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""between.py [TEXT…] -- COMMAND…: what can happen around a rename, without a race.

COMMAND is, or starts under lapbelt, something that makes the file "ready", waits for the file "go",
and renames. Whoever does the renaming (lapbelt's broker, or COMMAND itself) is stopped before and
after each renameat2(2), and shell TEXT after TEXT is run meanwhile, until there is none left. The
status is COMMAND's, or 99 if a TEXT failed or not all of them had their turn.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

SEIZE, INTERRUPT, SYSCALL, CONT, GET_SYSCALL_INFO = 0x4206, 0x4207, 24, 7, 0x420E
TRACESYSGOOD, TRACECLONE = 1, 8
WALL = 0x40000000
RENAMEAT2 = {"x86_64": 316, "aarch64": 276}[os.uname().machine]
ENTRY, EXIT = 1, 2

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, tid, address=0, data=0):
    if libc.ptrace(request, tid, address, data) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


class Info(ctypes.Structure):
    """struct ptrace_syscall_info, as far as the number."""

    _fields_ = [("op", ctypes.c_uint8), ("arch", ctypes.c_uint32), ("ip", ctypes.c_uint64)]
    _fields_ += [("sp", ctypes.c_uint64), ("nr", ctypes.c_uint64)]


def renamers(command):
    """The broker's threads, or the command itself."""
    while not os.path.exists("ready"):
        if command.poll() is not None:
            raise SystemExit(99)
        time.sleep(0.01)
    threads = set(map(int, os.listdir(f"/proc/{command.pid}/task")))
    return threads - {command.pid} or threads


def run_between(command, texts):
    """Until the command has ended. Returns those that did not have their turn."""
    inside = set()
    while command.returncode is None:
        stopped, status = os.waitpid(-1, WALL)
        if not os.WIFSTOPPED(status):
            if stopped == command.pid:
                command.returncode = os.waitstatus_to_exitcode(status)
            continue
        info = Info()
        number = os.WSTOPSIG(status)
        if texts and number == signal.SIGTRAP | 0x80:
            ptrace(GET_SYSCALL_INFO, stopped, ctypes.sizeof(info), ctypes.addressof(info))
            entered = info.op == ENTRY and info.nr == RENAMEAT2
            if entered or (info.op == EXIT and stopped in inside):
                inside ^= {stopped}
                subprocess.run(["sh", "-ec", texts.pop(0)], check=True)
        pass_on = 0 if status >> 16 or number & 0x80 else number
        try:
            ptrace(SYSCALL if texts else CONT, stopped, 0, pass_on)
        except ProcessLookupError:
            pass  # killed meanwhile
    return texts


def main():
    split = sys.argv.index("--")
    with subprocess.Popen(sys.argv[split + 1 :]) as command:
        try:
            for tid in renamers(command):
                ptrace(SEIZE, tid, 0, TRACESYSGOOD | TRACECLONE)
                ptrace(INTERRUPT, tid)
                os.waitpid(tid, WALL)
                ptrace(SYSCALL, tid)
            open("go", "x", encoding="ascii").close()
            left = run_between(command, sys.argv[1:split])
        except BaseException:
            command.kill()
            raise
    if left:
        print("had no turn:", left)
    return 99 if left else command.returncode


try:
    raise SystemExit(main())
except (OSError, subprocess.CalledProcessError) as error:
    print(error)
    raise SystemExit(99) from error
