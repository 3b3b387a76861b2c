#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""endure.py [calls=N] [processes=N] [sessions=N]

A run that lasts: memory of the supervisor while it does nothing, with many processes inside, and over
many brokered calls; many sessions at once. $LAPBELT names the program, $LAPBELT_RUN_OPTIONS how it is
run (run.sh). Prints TAP. Ten million calls are for a night, by hand.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../lib")
from tap import Tap  # noqa: E402  pylint: disable=wrong-import-position

LAPBELT = os.environ["LAPBELT"]
OPTIONS = os.environ.get("LAPBELT_RUN_OPTIONS", "").split()
PATIENCE = 600  # seconds for many of them to start
IDLE_KB, BUSY_KB = 4096, 16384  # what a supervisor may have
GROWTH_KB = 4096  # once: threads for callers that meet

# Brokered, whatever the lane serves: names that are made, moved and removed, modes, sockets, signals.
CALLS = """
import os, socket, sys
n = int(sys.argv[1])
def some():
    os.close(os.open('a', os.O_WRONLY | os.O_CREAT, 0o644))
    os.chmod('a', 0o600)
    os.rename('a', 'b')
    os.symlink('b', 'c')
    os.mkdir('d')
    try:
        os.open('.envrc', os.O_WRONLY | os.O_CREAT)
        sys.exit('the policy does not hold')
    except PermissionError:
        pass
    s = socket.socket(socket.AF_UNIX)
    s.bind('s')
    s.close()
    for name in 'bcs':
        os.unlink(name)
    os.rmdir('d')
def many(n):
    for _ in range(n // 11):
        some()
many(n // 10)
for stage in range(2):
    print('stage', flush=True)
    sys.stdin.readline()
    many(n * 9 // 10 if stage == 0 else 0)
"""


def resident(pid):
    """In KiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


class Session:
    """`lapbelt run`, in a folder of its own."""

    def __init__(self, folder, *command):
        os.mkdir(folder)
        os.mkdir(f"{folder}/ws")
        self.process = subprocess.Popen(
            [LAPBELT, "run", *OPTIONS, "--", *command], cwd=f"{folder}/ws", stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "HOME": folder})

    def hears(self, wanted):
        return self.process.stdout.readline() == f"{wanted}\n"

    def goes_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def ends(self):
        """(status, what it said)"""
        said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, "".join(said)


def try_idle(tap, base):
    session = Session(f"{base}/idle", "sh", "-c", "echo ready; read x")
    good = session.hears("ready")
    time.sleep(0.5)
    size = resident(session.process.pid)
    status, said = session.ends()
    tap.check(good and status in (0, 1) and size <= IDLE_KB,
              f"a supervisor that does nothing has no more than {IDLE_KB} KiB", f"{size} KiB {said}")
    print(f"# {size} KiB")


def try_processes(tap, base, n):
    script = f"""
i=0; while [ $i -lt {n} ]; do (echo x >f$i; cat f$i >/dev/null; read x <&3) & i=$((i + 1)); done 3<&0
while [ "$(ls | grep -c f)" -lt {n} ]; do sleep 0.1; done
echo ready; wait"""
    session = Session(f"{base}/processes", "sh", "-c", script)
    good = session.hears("ready")
    size = resident(session.process.pid) if good else 0
    status, said = session.ends()
    tap.check(good and status == 0 and size <= BUSY_KB,
              f"with {n} processes inside it has no more than {BUSY_KB} KiB", f"{size} KiB {said}")
    print(f"# {size} KiB")


def try_calls(tap, base, n):
    session = Session(f"{base}/calls", "python3", "-S", "-c", CALLS, str(n))
    pid, begin = session.process.pid, time.monotonic()
    good = session.hears("stage")
    first = resident(pid) if good else 0
    session.goes_on()
    good = good and session.hears("stage")
    last = resident(pid) if good else 0
    taken = time.monotonic() - begin
    session.goes_on()
    status, said = session.ends()
    tap.check(good and status == 0 and last <= first + GROWTH_KB,
              f"its memory does not grow over {n} calls", f"{first} to {last} KiB, {status} {said}")
    print(f"# {first} to {last} KiB, {taken / n * 1e6:.1f} us a call")


def try_sessions(tap, base, n):
    script = "echo x >f; cat ../secret 2>/dev/null; echo x 2>/dev/null >.envrc; echo ready; read x; cat f"
    sessions = [Session(f"{base}/session-{i}", "sh", "-c", script) for i in range(n)]
    bad = sum(not session.hears("ready") for session in sessions)
    bad += sum(session.ends() != (0, "x\n") for session in sessions if session.goes_on() is None)
    bad += sum(os.path.exists(f"{base}/session-{i}/ws/.envrc") for i in range(n))
    tap.check(bad == 0, f"{n} sessions at once work and hold", f"{bad} of them did not")


def main(*words):
    sizes = {"calls": 300000, "processes": 1000, "sessions": 200}
    sizes.update((name, int(value)) for name, value in (word.split("=") for word in words))
    tap = Tap()
    base = tempfile.mkdtemp(prefix="lapbelt-endure.", dir="/var/tmp")
    try:
        try_idle(tap, base)
        try_processes(tap, base, sizes["processes"])
        try_calls(tap, base, sizes["calls"])
        try_sessions(tap, base, sizes["sessions"])
    finally:
        shutil.rmtree(base)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
