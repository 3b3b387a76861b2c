#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""environments.py LAPBELT AROUND ESCAPE root|user [-e ENVIRONMENT]... [CASE...]

The ways out of a sandbox (run.sh), all or those named, in containers, in other sandboxes, on other
file systems: those of ../e2e/environments.py, which says what AROUND is.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../e2e"), os.path.join(HERE, "../lib")]
import environments  # noqa: E402  pylint: disable=wrong-import-position
from tap import Tap  # noqa: E402  pylint: disable=wrong-import-position

# These two are kinds of tests of their own.
USUAL = ("plain", "as if there were no user namespaces")
LIMIT = 3600  # seconds

# What comes through where mounts hold what is there, by the gaps that the plan has: names that are not
# there yet or are not looked for, and unix sockets.
TOLD = set("""A040 A002a A002b A002c A002d A002h A002i A002j A002k A002l A002m A002n A002o A023 A008c A008d
    A019a A019b A019c A019e A019f A035c A035d A035h A035i A035k A035r A035s A035t A035x A035y A035z
    A017m A017n A017o A017p A031i A067f A077 A088 A085a A085c A085d A085e A089a A089d""".split())


def is_told(line, told):
    words = line.split()
    return words[:2] == ["not", "ok"] and len(words) > 4 and words[4] in told


def complaints_of(result, refused, told):
    """What went wrong, and how many cases there were."""
    lines = result.stdout.splitlines()
    verdicts = [line for line in lines if re.match(r"(not )?ok ", line)]
    planned = [int(line[3:]) for line in lines if re.match(r"1\.\.\d+$", line)]
    complaints = []
    for i, line in enumerate(lines):
        if line.startswith(("not ok", "Bail out!")) and not is_told(line, told):
            complaints += [*[comment for comment in lines[max(0, i - 12):i] if comment[:1] == "#"], line]
    if planned != [len(verdicts)] or not verdicts:
        complaints.append(f"{len(verdicts)} verdicts, and {planned} were to come")
    if refused and refused not in result.stdout:
        complaints.append("it does not say why it is refused")
    if result.returncode and not complaints and not any(is_told(line, told) for line in lines):
        complaints.append(f"status {result.returncode}")
    return complaints + (result.stderr.splitlines() if complaints else []), len(verdicts)


def inside(prefix, lapbelt, world):
    """A program that is LAPBELT, run by PREFIX: what is outside of one lapbelt is outside of both."""
    path = f"{world}/lapbelt"
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\nexec {shlex.join([*prefix, lapbelt])} "$@"\n')
    os.chmod(path, 0o755)
    return path


def try_one(tap, base, environment, files, owner, cases):
    lapbelt, around, escape = files
    world = tempfile.mkdtemp(prefix="worlds.", dir=f"{base}/{environment.on}")
    if owner is not None:
        os.chown(world, owner, owner)
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8",
           "LAPBELT": lapbelt, "LAPBELT_WORLDS": world, "LAPBELT_AROUND": environment.name,
           "LAPBELT_RUN_OPTIONS": " ".join(environment.options)}
    if environment.refused:
        env["LAPBELT_REFUSED"] = "1"
    for name in ("LAPBELT_LANE", "LAPBELT_ROUNDS"):
        if name in os.environ:
            env[name] = os.environ[name]
    prefix = environment.prefix(world, lapbelt, around, owner)
    if environment.name == "lapbelt":
        who = len(prefix) - len(environment.around)
        env["LAPBELT"] = inside(prefix[who:], lapbelt, world)
        prefix = prefix[:who]
    result = subprocess.run([*prefix, f"{HERE}/run.sh", escape, *cases], cwd=world, env=env,
                            stdin=subprocess.DEVNULL, timeout=LIMIT, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    complaints, n = complaints_of(result, environment.refused, TOLD if environment.otherwise else ())
    shutil.rmtree(world)
    environments.report(tap, f"{environment.name}: {n} cases", complaints)


def main(lapbelt, around, escape, kind, *words):
    files = [os.path.abspath(file) for file in (lapbelt, around, escape)]
    root = os.geteuid() == 0
    words = list(words)
    names = []
    while words[:1] == ["-e"]:
        names.append(words[1])
        words = words[2:]
    if kind == "root" and not root:
        print("1..0 # SKIP only root can run this as root")
        return bool(os.environ.get("LAPBELT_MUST_WORK"))
    owner = environments.ORDINARY if kind == "user" and root else None
    return environments.in_each(
        Tap(), lambda environment: environment.short in names if names else environment.short not in USUAL,
        lambda tap, base, environment: try_one(tap, base, environment, files, owner, words))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
