#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the fast lane is worth: jobs of run.py native, with the broker alone, and with the lane.

The policy denies files called .env in one folder. The jobs are done in that folder, where Landlock
bounds nothing, and beside it; once where programs may be executed in that folder, which closes the
lane for reads, and once where not. The three take turns; printed are medians of processor time, of
all processes together, and of time. Nothing passes or fails here.
"""
import argparse
import os
import shutil
import statistics
import tempfile
from pathlib import Path

from run import FindAndCat, GitStatus, WriteFiles, seconds

PROFILE = """(version 1)
(allow default)
(deny file-write* file-link)
(allow file-write* file-link (subpath "{free}") (subpath "{judged}") (literal "/dev/null"))
(deny file-read* file-write* (require-all (subpath "{judged}") (regex #"/\\.env$")))
"""


def processor_time():
    times = os.times()
    return times.children_user + times.children_system


def measure(job, ways, repetitions, directory):
    job.setup(directory)
    taken = {way: [] for way in ways}
    for repetition in range(repetitions + 1):
        for way, launcher in ways.items():
            before = processor_time()
            once = seconds(job, launcher, directory)
            if repetition > 0:  # the first round only warms the caches
                taken[way].append((processor_time() - before, once))
    return {way: [statistics.median(column) for column in zip(*values)]
            for way, values in taken.items()}


def show(name, medians):
    cells = [f"{name:<42}"]
    for cpu, wall in medians.values():
        ratio = cpu / medians["native"][0]
        cells.append(f"{cpu * 1000:>7.0f} ms {ratio:>5.2f}x ({wall * 1000:.0f} ms)")
    print(" ".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lapbelt", required=True, help="the program to time")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--directory", default="/var/tmp", help="where to work")
    given = parser.parse_args()
    lapbelt = str(Path(given.lapbelt).resolve())
    base = Path(tempfile.mkdtemp(prefix="lapbelt-lane.", dir=given.directory))
    os.environ["HOME"] = str(base)
    free, judged = base / "free", base / "judged"
    profiles = {"": "", ", no exec in it": '(deny process-exec* (subpath "{judged}"))'}
    print(f"{'processor time (time)':<42} {'native':>24} {'broker':>24} {'lane':>24}")
    try:
        for number, (note, more) in enumerate(profiles.items()):
            profile = base / f"{number}.sb"
            profile.write_text((PROFILE + more).format(free=free, judged=judged))
            common = ["-f", str(profile), "--"]
            ways = {"native": [], "broker": [lapbelt, "exec", "--no-lane", *common],
                    "lane": [lapbelt, "exec", *common]}
            for place in (judged, free) if number == 0 else (free,):
                for job in GitStatus(20000), FindAndCat(10000), WriteFiles(3000):
                    directory = place / f"{number}-{type(job).__name__}"
                    directory.mkdir(parents=True)
                    where = "in the folder" if place == judged else "beside it"
                    show(f"{job.name}, {where}{note}",
                         measure(job, ways, given.repetitions, directory))
                    shutil.rmtree(directory)
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
