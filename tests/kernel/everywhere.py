#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everywhere.py LAPBELT LIBLAPBELT AROUND root|user [--acts N] [--each N] [--seed N] [ENVIRONMENT...]

differential.py in each environment of environments.py, with N acts (100,000) in each: hours. Both of
its workers are in the environment, so what that denies is the same to both. TAP.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(FOLDER, "../e2e"), os.path.join(FOLDER, "../lib")]
import environments  # noqa: E402
from differential_judge import PYTHON  # noqa: E402
from tap import Tap  # noqa: E402


def command(environment, given, folder):
    is_ordinary = given.who == "user" and os.geteuid() == 0
    prefix = environment.prefix(folder, given.lapbelt, given.around, environments.ORDINARY if is_ordinary else None)
    who = "user" if given.who == "user" else "root"
    return [*prefix, PYTHON, "-Es", f"{FOLDER}/differential.py", given.lapbelt, given.library,
            who, "--base", folder, "--acts", f"{given.each}", "--seed", f"{given.seed}",
            "--policies", f"{-(-given.acts // given.each)}", *(f"--options={o}" for o in environment.options)]


def try_one(tap, base, environment, given):
    folder = tempfile.mkdtemp(prefix="lapbelt-everywhere.", dir=f"{base}/{environment.on}")
    os.chmod(folder, 0o755)
    if given.who == "user" and os.geteuid() == 0:
        os.chown(folder, environments.ORDINARY, environments.ORDINARY)
    begin = time.monotonic()
    try:
        done = subprocess.run(command(environment, given, folder), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    finally:
        shutil.rmtree(folder)
    notes = [line for line in done.stdout.splitlines() if not re.match(r"ok |1\.\.", line)]
    counts = next((line for line in reversed(notes) if re.search(r"\d acts", line)), "# 0 acts")
    environments.report(tap, f"{environment.name} ({counts[2:]}, {time.monotonic() - begin:.0f} s)",
                        notes if done.returncode or "0 acts" == counts[2:] else [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lapbelt", type=os.path.abspath)
    parser.add_argument("library", type=os.path.abspath)
    parser.add_argument("around", type=os.path.abspath)
    parser.add_argument("who", choices=("root", "user"))
    parser.add_argument("--acts", type=int, default=100000)
    parser.add_argument("--each", type=int, default=250, help="acts under one policy")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    return environments.in_each(
        Tap(),
        lambda environment: not environment.refused and (not given.names or environment.short in given.names),
        lambda tap, base, environment: try_one(tap, base, environment, given))


if __name__ == "__main__":
    sys.exit(main())
