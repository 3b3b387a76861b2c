#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox costs: five everyday jobs, native, under lapbelt, and under other sandboxes.

They take turns, so that a slow moment of the machine hits all of them; what is printed is the
median of each, its ratio to the native one, and in brackets the ratio where the job is one of
several in a sandbox that has started already, as the commands of an agent are. Once with lapbelt's
default policy, once with `.env` files denied at any depth besides; the others get what they can say
of it. Nothing passes or fails here.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES_PER_DIRECTORY = 50
INSIDE = 3  # runs in a sandbox that has started

# Runs COMMAND so often as asked, each time after a shell command, and prints how long each took.
TIMER = """import json, subprocess, sys, time
times, before, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
taken = []
for _ in range(times):
    subprocess.run(["sh", "-c", before], check=True)
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    taken.append(time.perf_counter() - begin)
print(json.dumps(taken))
"""


class Job:
    """A command to time. setup() fills the directory once, RESET before each repetition."""

    name = ""
    command = ["true"]
    reset = "true"  # for a shell

    def __init__(self, size):
        self.size = size

    def setup(self, directory):
        pass


def spread(directory, count, text):
    """Makes count files below directory, some to a subdirectory."""
    for number in range(count):
        path = directory / f"d{number // FILES_PER_DIRECTORY}" / f"f{number}.txt"
        if number % FILES_PER_DIRECTORY == 0:
            path.parent.mkdir(parents=True)
        path.write_text(text(number))


def git(directory, *arguments):
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True)


class Start(Job):
    name = "start: true"


class GitStatus(Job):
    command = ["git", "status", "--porcelain"]

    def __init__(self, size):
        super().__init__(size)
        self.name = f"git status, {size} files"

    def setup(self, directory):
        spread(directory, self.size, lambda number: f"{number}\n")
        git(directory, "init", "-q")
        git(directory, "add", ".")
        git(directory, "commit", "-q", "-m", "all")


class FindAndCat(Job):
    command = ["sh", "-c", "find . -type f -exec cat {} + | wc -c"]

    def __init__(self, size):
        super().__init__(size)
        self.name = f"find and cat, {size} files"

    def setup(self, directory):
        spread(directory, self.size, lambda number: f"{number}\n" * 50)


class WriteFiles(Job):
    reset = "rm -rf out && mkdir out"

    def __init__(self, size):
        super().__init__(size)
        self.name = f"write {size} small files"
        program = (
            "import os\n"
            "for d in range(30): os.mkdir(f'out/{d}')\n"
            f"for n in range({size}):\n"
            "    with open(f'out/{n % 30}/{n}', 'w') as f: f.write('small')\n"
        )
        self.command = [sys.executable, "-S", "-c", program]


class Make(Job):
    command = ["make", "-s", f"-j{os.cpu_count()}"]
    reset = "rm -f ./*.o"

    def __init__(self, size):
        super().__init__(size)
        self.name = f"make, {size} x gcc -c"

    def setup(self, directory):
        for number in range(self.size):
            source = f"#include <stdio.h>\nint f{number}(void) {{ return puts(\"{number}\"); }}\n"
            (directory / f"f{number}.c").write_text(source)
        objects = " ".join(f"f{number}.o" for number in range(self.size))
        (directory / "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\tgcc -c -o $@ $<\n")


SECRETS = (".ssh", ".aws", ".gnupg", ".config/gh", ".config/gcloud", ".docker", ".kube", ".netrc",
           ".npmrc", ".pypirc", ".git-credentials", ".password-store", ".local/share/keyrings")

# As the default policy, as far as names in the project go, and nobody's `.env`.
NO_ENV = """(version 1)
(deny default)
(allow process* signal sysctl-read pseudo-tty system-socket ipc* file-lock system-fcntl system-info)
(allow system-sched socket-option* file-ioctl file-read*)
(allow file-write* (subpath "{directory}") (literal "/dev/null" "/dev/tty"))
(deny file-write* file-link (regex #"/\\.(bashrc|profile|gitconfig|mcp\\.json)$"
                                   #"/\\.(vscode|idea|ssh)(/|$)" #"/\\.git/(hooks|config)(/|$)"))
(deny file-read-data file-write* file-link (subpath {secrets}))
(deny file-read* file-write* file-link (regex #"/\\.env$"))
"""


def make_secrets(home):
    """Some are there, as with most people."""
    for name in SECRETS:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in (".netrc", ".npmrc", ".pypirc", ".git-credentials"):
            path.write_text("secret\n")
        else:
            path.mkdir(exist_ok=True)


class Ways:
    """The sandboxes that were found, and how to put each before a command in a directory."""

    def __init__(self, given, base):
        self.base = base
        self.lapbelt = str(Path(given.lapbelt).resolve()) if given.lapbelt else None
        self.bwrap = shutil.which("bwrap")
        self.srt = given.srt or shutil.which("srt")
        self.landstrip = given.landstrip or shutil.which("landstrip")

    def secrets(self):
        return [str(self.base / name) for name in SECRETS]

    def write(self, name, text):
        path = self.base / name
        path.write_text(text)
        return str(path)

    def settings(self, directory, no_env, **network):
        """Of srt, which landstrip has taken over. Patterns are looked up as they start."""
        denied = ["**/.env"] if no_env else []
        return json.dumps({
            "filesystem": {"denyRead": self.secrets() + denied,
                           "allowWrite": [directory, "/tmp", "/dev/null"],
                           "denyWrite": [f"{directory}/.git/hooks"] + denied},
            "network": network,
        })

    def launchers(self, directory, no_env):
        """By name, native first."""
        found = {"native": []}
        if self.lapbelt:
            found["lapbelt"] = [self.lapbelt, "run", "--"]
            if no_env:
                names = " ".join(f'"{secret}"' for secret in self.secrets())
                profile = NO_ENV.format(directory=directory, secrets=names)
                found["lapbelt"][2:] = ["-f", self.write("no-env.sb", profile), "--"]
        if self.bwrap:
            masks = []
            for secret in self.secrets():
                masks += (["--tmpfs", secret] if os.path.isdir(secret)
                          else ["--ro-bind", "/dev/null", secret])
            found["bwrap"] = [self.bwrap, "--ro-bind", "/", "/", "--bind", directory, directory,
                              *masks, "--dev", "/dev", "--proc", "/proc", "--unshare-all"]
        if self.landstrip:
            settings = self.settings(directory, False, allowNetwork=False)
            found["landstrip"] = [self.landstrip, "run", "-p",
                                  self.write("landstrip.json", settings), "--"]
        if self.srt:
            settings = self.settings(directory, no_env, allowedDomains=[], deniedDomains=[])
            found["srt"] = [self.srt, "-s", self.write("srt.json", settings), "--"]
        return found


def run(job, command, directory):
    """Runs it, and returns what it printed."""
    result = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        message = result.stderr.decode(errors="replace").strip()
        sys.exit(f"{job.name}: {command[:1]} ends with {result.returncode}: {message}")
    return result.stdout


def seconds(job, launcher, directory):
    """How long one run takes, with its start."""
    run(job, ["sh", "-c", job.reset], directory)
    begin = time.perf_counter()
    run(job, launcher + job.command, directory)
    return time.perf_counter() - begin


def seconds_inside(job, launcher, directory, timer):
    """How long it takes one time after the other, without the start."""
    timed = [sys.executable, "-S", timer, str(INSIDE), job.reset, *job.command]
    return json.loads(run(job, launcher + timed, directory))


def measure(job, ways, no_env, repetitions, is_timed_inside):
    """The medians of each launcher, in seconds: with its start, and inside."""
    directory = Path(tempfile.mkdtemp(dir=ways.base))
    timer = ways.write("timer.py", TIMER)
    job.setup(directory)
    launchers = ways.launchers(str(directory), no_env)
    whole = {name: [] for name in launchers}
    inside = {name: [] for name in launchers}
    for repetition in range(repetitions + 1):
        for name, launcher in launchers.items():
            once = seconds(job, launcher, directory)
            if repetition == 0:  # that only warms the caches
                continue
            whole[name].append(once)
            if is_timed_inside:
                inside[name] += seconds_inside(job, launcher, directory, timer)
    shutil.rmtree(directory)
    return {name: (statistics.median(whole[name]),
                   statistics.median(inside[name]) if inside[name] else None) for name in whole}


def show(name, medians):
    native, native_inside = medians.pop("native")
    cells = [f"{name:<28}{native * 1000:>8.1f} ms"]
    for whole, inside in medians.values():
        ratio = f"({inside / native_inside:.2f})" if inside else ""
        cells.append(f"{whole * 1000:>9.1f} ms{whole / native:>7.2f}x {ratio:<7}")
    print(" ".join(cells), flush=True)


def table(given, ways, no_env):
    print("with **/.env denied" if no_env else "default policy")
    print(f"{'':<28}{'native':>11}", *(f"{name:>20} " + 7 * " " for name in
                                       list(ways.launchers(given.directory, no_env))[1:]))
    start = Start(0)
    show(start.name, measure(start, ways, no_env, given.starts, False))
    for job in (GitStatus(given.status_files), FindAndCat(given.cat_files),
                WriteFiles(given.write_files), Make(given.sources)):
        show(job.name, measure(job, ways, no_env, given.repetitions, True))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lapbelt", default=os.environ.get("LAPBELT"), help="the program to time")
    parser.add_argument("--srt", help="sandbox-runtime's program, if it is not in PATH")
    parser.add_argument("--landstrip", help="landstrip, if it is not in PATH")
    parser.add_argument("--policy", choices=("default", "no-env", "both"), default="both")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--starts", type=int, default=41, help="repetitions of the start row")
    parser.add_argument("--status-files", type=int, default=20000)
    parser.add_argument("--cat-files", type=int, default=10000)
    parser.add_argument("--write-files", type=int, default=3000)
    parser.add_argument("--sources", type=int, default=200)
    parser.add_argument("--directory", default="/var/tmp", help="where to work")
    return parser.parse_args()


def main():
    given = arguments()
    base = Path(tempfile.mkdtemp(prefix="lapbelt-bench.", dir=given.directory))
    os.environ["HOME"] = str(base)
    make_secrets(base)
    try:
        for no_env in (False, True):
            if given.policy in ("both", "no-env" if no_env else "default"):
                table(given, Ways(given, base), no_env)
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
