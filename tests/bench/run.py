#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox costs: five everyday jobs, native, under lapbelt, and under bwrap.

The three take turns, so that a slow moment of the machine hits all of them; what is printed is the
median of each, and its ratio to the native one. Nothing passes or fails here.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES_PER_DIRECTORY = 50


class Job:
    """A command to time. setup() fills the directory once, reset() before each repetition."""

    name = ""
    command = ["true"]

    def __init__(self, size):
        self.size = size

    def setup(self, directory):
        pass

    def reset(self, directory):
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

    def reset(self, directory):
        shutil.rmtree(directory / "out", ignore_errors=True)
        (directory / "out").mkdir()


class Make(Job):
    command = ["make", "-s", f"-j{os.cpu_count()}"]

    def __init__(self, size):
        super().__init__(size)
        self.name = f"make, {size} x gcc -c"

    def setup(self, directory):
        for number in range(self.size):
            source = f"#include <stdio.h>\nint f{number}(void) {{ return puts(\"{number}\"); }}\n"
            (directory / f"f{number}.c").write_text(source)
        objects = " ".join(f"f{number}.o" for number in range(self.size))
        (directory / "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\tgcc -c -o $@ $<\n")

    def reset(self, directory):
        for path in directory.glob("*.o"):
            path.unlink()


def launchers(lapbelt, directory):
    """What to put before a command, by name; native first."""
    found = {"native": []}
    if lapbelt:
        found["lapbelt"] = [lapbelt, "run", "--"]
    if shutil.which("bwrap"):
        found["bwrap"] = ["bwrap", "--ro-bind", "/", "/", "--bind", directory, directory,
                          "--dev", "/dev", "--proc", "/proc", "--unshare-all"]
    return found


def seconds(job, launcher, directory):
    """How long one run takes."""
    job.reset(directory)
    begin = time.perf_counter()
    result = subprocess.run(launcher + job.command, cwd=directory, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    taken = time.perf_counter() - begin
    if result.returncode != 0:
        message = result.stderr.decode(errors="replace").strip()
        sys.exit(f"{job.name}: {launcher[:1]} ends with {result.returncode}: {message}")
    return taken


def measure(job, lapbelt, repetitions, base):
    """The median of each launcher, in seconds."""
    directory = Path(tempfile.mkdtemp(dir=base))
    job.setup(directory)
    ways = launchers(lapbelt, str(directory))
    taken = {name: [] for name in ways}
    for repetition in range(repetitions + 1):
        for name, launcher in ways.items():
            once = seconds(job, launcher, directory)
            if repetition > 0:  # the first round only warms the caches
                taken[name].append(once)
    shutil.rmtree(directory)
    return {name: statistics.median(values) for name, values in taken.items()}


def show(name, medians):
    native = medians["native"]
    cells = [f"{name:<28}"]
    for way in ("native", "lapbelt", "bwrap"):
        if way not in medians:
            cells.append(f"{'-':>22}")
        elif way == "native":
            cells.append(f"{native * 1000:>12.1f} ms")
        else:
            cells.append(f"{medians[way] * 1000:>12.1f} ms{medians[way] / native:>6.2f}x")
    print(" ".join(cells), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lapbelt", default=os.environ.get("LAPBELT"), help="the program to time")
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
    rows = [
        (Start(0), given.starts),
        (GitStatus(given.status_files), given.repetitions),
        (FindAndCat(given.cat_files), given.repetitions),
        (WriteFiles(given.write_files), given.repetitions),
        (Make(given.sources), given.repetitions),
    ]
    lapbelt = str(Path(given.lapbelt).resolve()) if given.lapbelt else None
    base = tempfile.mkdtemp(prefix="lapbelt-bench.", dir=given.directory)
    os.environ["HOME"] = base
    print(f"{'median':<28} {'native':>15} {'lapbelt':>22} {'bwrap':>22}")
    try:
        for job, repetitions in rows:
            show(job.name, measure(job, lapbelt, repetitions, base))
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
