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

SEIZE, INTERRUPT, SYSCALL, DETACH, GET_SYSCALL_INFO = 0x4206, 0x4207, 24, 17, 0x420E
TRACESYSGOOD = 1
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


def renamer(command):
    """The broker is a thread of its own."""
    while not os.path.exists("ready"):
        if command.poll() is not None:
            raise SystemExit(99)
        time.sleep(0.01)
    return max(map(int, os.listdir(f"/proc/{command.pid}/task")))


def run_between(tid, texts):
    """Returns those that did not have their turn."""
    inside = False
    while texts:
        stopped, status = os.waitpid(tid, WALL)
        if not os.WIFSTOPPED(status):
            return texts
        info = Info()
        number = os.WSTOPSIG(status)
        if number == signal.SIGTRAP | 0x80:
            ptrace(GET_SYSCALL_INFO, stopped, ctypes.sizeof(info), ctypes.addressof(info))
            if (info.op == ENTRY and info.nr == RENAMEAT2) or (info.op == EXIT and inside):
                inside = info.op == ENTRY
                subprocess.run(["sh", "-ec", texts.pop(0)], check=True)
        pass_on = 0 if status >> 16 or number & 0x80 else number
        ptrace(SYSCALL if texts else DETACH, tid, 0, pass_on)
    return texts


def main():
    split = sys.argv.index("--")
    with subprocess.Popen(sys.argv[split + 1 :]) as command:
        try:
            tid = renamer(command)
            ptrace(SEIZE, tid, 0, TRACESYSGOOD)
            ptrace(INTERRUPT, tid)
            os.waitpid(tid, WALL)
            ptrace(SYSCALL, tid)
            open("go", "x", encoding="ascii").close()
            left = run_between(tid, sys.argv[1:split])
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
