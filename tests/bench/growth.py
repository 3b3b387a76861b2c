#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a start grows: with the rules of a policy, and with the files of a project.

`true` is run under profiles of more and more denied paths (half of them there), and under the
default policy in larger and larger trees. Sizes take turns; printed are medians. Nothing passes or
fails here.
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

FILES_PER_DIRECTORY = 100


def start(command, directory):
    begin = time.perf_counter()
    result = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    taken = time.perf_counter() - begin
    if result.returncode != 0:
        sys.exit(f"{command}: {result.stderr.decode(errors='replace').strip()}")
    return taken


def make_profile(base, count):
    """Denied files and folders, every second of which is there."""
    folder = base / f"rules-{count}"
    rules = ["(version 1)", "(allow default)", "(deny file-write* file-link)"]
    folder.mkdir()
    for number in range(count):
        path = folder / f"secret-{number}"
        if number % 2 == 0:
            path.touch()
        kind = "literal" if number % 4 < 2 else "subpath"
        rules.append(f'(deny file-read* ({kind} "{path}"))')
    profile = base / f"rules-{count}.sb"
    profile.write_text("\n".join(rules))
    return str(profile)


def make_tree(base, count):
    root = base / f"files-{count}"
    for first in range(0, count, FILES_PER_DIRECTORY):
        folder = root / f"{first // 10000}" / f"{first}"
        folder.mkdir(parents=True)
        for number in range(FILES_PER_DIRECTORY):
            (folder / f"{number}").touch()
    return root


def table(title, commands, repetitions):
    """COMMANDS: the name of each, with itself and where it runs."""
    taken = {name: [] for name in commands}
    for repetition in range(repetitions + 1):
        for name, (command, directory) in commands.items():
            once = start(command, directory)
            if repetition > 0:  # the first round only warms the caches
                taken[name].append(once)
    print(title)
    for name, values in taken.items():
        print(f"{name:>12} {statistics.median(values) * 1000:>8.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lapbelt", required=True, help="the program to time")
    parser.add_argument("--repetitions", type=int, default=21)
    parser.add_argument("--rules", type=int, nargs="*", default=[10, 100, 1000, 10000])
    parser.add_argument("--files", type=int, nargs="*", default=[1000, 10000, 100000, 1000000])
    parser.add_argument("--directory", default="/var/tmp", help="where to work")
    given = parser.parse_args()
    lapbelt = str(Path(given.lapbelt).resolve())
    base = Path(tempfile.mkdtemp(prefix="lapbelt-growth.", dir=given.directory))
    os.environ["HOME"] = str(base)
    try:
        table("start, by rules",
              {f"{count}": ([lapbelt, "run", "-f", make_profile(base, count), "--", "true"], base)
               for count in given.rules}, given.repetitions)
        table("start, by files",
              {f"{count}": ([lapbelt, "run", "--", "true"], make_tree(base, count))
               for count in given.files}, given.repetitions)
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
