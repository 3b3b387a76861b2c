#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kills.py

One of the processes that keep a run together is killed, or two of them are, at any moment from the
first on: nothing is left behind and nothing that was denied is allowed. $LAPBELT names the program,
$LAPBELT_RUN_OPTIONS how it is run (run.sh), $LAPBELT_ROUNDS how often (200). Prints TAP.
"""
import fcntl
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LAPBELT = os.environ["LAPBELT"]
OPTIONS = os.environ.get("LAPBELT_RUN_OPTIONS", "").split()
ROUNDS = int(os.environ.get("LAPBELT_ROUNDS", "200"))
LONGEST = 0.25  # seconds until something is killed
PATIENCE = 10  # seconds until nothing may be left
SECRET = "words only the owner may read"

# Tries what is denied, over and over, in two processes that outlive whoever does not kill them.
COMMAND = """
printf ready >ready
attack() {
	while :; do
		cat ../.ssh/id >loot 2>/dev/null && [ -s loot ] && cp loot taken
		echo x >>../other/f
		echo x >../other/new
		echo x >.envrc
		mv x .mcp.json
		echo x >x
	done 2>/dev/null
}
(trap "" TERM HUP; exec setsid sh -c "attack() { $(cat attack); }; attack" </dev/null >/dev/null 2>&1) &
attack
"""
ATTACK = COMMAND[COMMAND.index("\twhile"):COMMAND.index("\n}\n(trap")]


def processes():
    """(pid, parent, name) of all."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        pid, rest = text.split(" (", 1)
        name, rest = rest.rsplit(") ", 1)
        yield int(pid), int(rest.split()[1]), name


def keepers(top):
    """The parents of what is lapbelt's own of the process TOP and those below."""
    below = {}
    names = {}
    for pid, parent, name in processes():
        below.setdefault(parent, []).append(pid)
        names[pid] = name
    found, queue = {}, [(top, 0)]
    while queue:
        pid, parent = queue.pop(0)
        if names.get(pid) == os.path.basename(LAPBELT)[:15]:
            found[pid] = parent
            queue += [(child, pid) for child in below.get(pid, [])]
    return found


def mark_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return f.read()
    except OSError:
        return b""


def left(mark):
    """Processes of the runs whose mark begins so, by a variable that all of them have."""
    return [(pid, name) for pid, _, name in processes() if b"\0MARK=" + mark.encode() in b"\0" + mark_of(pid)]


def is_in_use(path):
    """Another run, which this test does not know of, holds the lock of what it uses."""
    try:
        fd = os.open(path + "/.lapbelt-run" if path.startswith("/tmp/") else path, os.O_RDONLY)
    except FileNotFoundError:
        return not os.path.exists(path)
    except OSError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(fd)


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def left_things():
    return {path for path in glob.glob("/tmp/lapbelt-run-*") +
            glob.glob("/sys/fs/cgroup/**/lapbelt-*", recursive=True)
            if not is_in_use(path)}


class World:
    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="lapbelt-kills.", dir="/var/tmp")
        self.home = f"{self.base}/home"
        self.workspace = f"{self.home}/ws"
        self.fresh()

    def fresh(self):
        shutil.rmtree(self.home, ignore_errors=True)
        for name in ("ws", ".ssh", "other"):
            os.makedirs(f"{self.home}/{name}")
        for name, text in ((".ssh/id", SECRET), ("other/f", "other\n"), ("ws/attack", ATTACK)):
            with open(f"{self.home}/{name}", "w", encoding="utf-8") as f:
                f.write(text)

    def complaints(self):
        found = []
        for name in ("ws/taken", "ws/.envrc", "ws/.mcp.json", "other/new"):
            if os.path.lexists(f"{self.home}/{name}"):
                found.append(f"there is {name}")
        with open(f"{self.home}/other/f", encoding="utf-8") as f:
            if f.read() != "other\n":
                found.append("other/f has changed")
        return found

    def start(self, mark, options, *command):
        env = {**os.environ, "HOME": self.home, "MARK": mark}
        return subprocess.Popen([LAPBELT, "run", *OPTIONS, *options, "--", *command], cwd=self.workspace, env=env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True)


def control(world):
    """Outside all of it comes through."""
    mark = f"{os.getpid()}.control."
    child = subprocess.Popen(["sh", "-c", COMMAND], cwd=world.workspace,
                             env={**os.environ, "HOME": world.home, "MARK": mark},
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(world.complaints()) >= 5)
    child.kill()
    child.wait()
    remaining = left(mark)
    kill(pid for pid, _ in remaining)
    found = world.complaints()
    world.fresh()
    return [f"outside only {found} came through, and {remaining} was left"] if len(found) < 5 or not remaining else []


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def is_documented(run, found, victims):
    """Without a pid namespace init and its parent, the guard, hold a run together: SECURITY.md."""
    return "--no-userns" in OPTIONS and any(found[pid] in victims and found[pid] != run.pid for pid in victims)


def spares_run(run, victims, options):
    """Without the keeper of its cgroup a run goes on, and removes that itself; or it was counting
    how many processes there can be."""
    if not options or run.pid in victims:
        return False
    try:
        run.wait(1)
        return False
    except subprocess.TimeoutExpired:
        return True


def one(world, number, chance, options):
    """(Complaints, how many processes there were.)"""
    mark = f"{os.getpid()}.{number}."
    before = left_things()
    run = world.start(mark, options, "sh", "-c", COMMAND)
    time.sleep(chance.random() ** 2 * LONGEST)
    found = keepers(run.pid)
    victims = chance.sample(list(found), min(len(found), chance.choice((1, 1, 2))))
    if is_documented(run, found, victims):
        victims = victims[:1]
    kill(victims)
    what = f"of {list(found)}, {victims} killed"
    complaints = []
    if spares_run(run, victims, options):
        time.sleep(0.05)
        run.kill()
        what += ", then the first"
    try:
        run.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        complaints.append(f"{what}: the run goes on, {left(mark)}")
        run.kill()
        run.wait()
    if not wait_for(lambda: not left(mark)):
        complaints.append(f"{what}: {left(mark)} goes on")
    complaints += [f"{what}: {text}" for text in world.complaints()]
    if left_things() - before:  # what one keeper cannot, the next run does
        for path in left_things() - before:
            if os.listdir(path) == []:  # it waits a minute, for who is about to begin
                os.utime(path, (0, 0))
        world.start(mark, options, "true").wait()
    if not wait_for(lambda: not left_things() - before):
        complaints.append(f"{what}: {sorted(left_things() - before)} is left")
    return complaints, len(found)


def main():
    world = World()
    try:
        return judge(world)
    finally:
        kill(pid for pid, _ in left(f"{os.getpid()}."))
        shutil.rmtree(world.base)


def judge(world):
    complaints = control(world)
    print(f"{'not ok' if complaints else 'ok'} 1 - what is denied can be done outside (control)", flush=True)
    failed = bool(complaints)
    for test, options in enumerate(([], ["--limit", "processes=100", "--gaps=report"]), 2):
        chance = random.Random(test)
        seen = {}
        for number in range(ROUNDS):
            found, n = one(world, f"{test}.{number}", chance, options)
            seen[n] = seen.get(n, 0) + 1
            complaints += [f"round {number}: {text}" for text in found]
        print(f"# processes there were, and how often: {dict(sorted(seen.items()))}")
        for line in complaints:
            print(f"# {line}")
        print(f"{'not ok' if complaints else 'ok'} {test} - whoever is killed, nothing is left and nothing allowed" +
              (", with limits" if options else ""), flush=True)
        failed = failed or bool(complaints)
        complaints = []
    print("1..3")
    return failed


if __name__ == "__main__":
    sys.exit(main())
