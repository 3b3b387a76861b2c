#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random policies and random acts: what the kernel does must be what `decide` says.

usage: differential.py LAPBELT LIBLAPBELT root|user [--seed N] [--policies N] [--acts N]
                       [--options=WORD] [--skip ACT ...] [--inside] [--show] [--no-shrink]

Two equal worlds: one worker acts in the first under `lapbelt exec`, another in the second without a
sandbox. Before each act the questions that it asks (table ACTS, after SBPL.md 5.3) go to
lapbelt_decide(). If all are allowed, both workers do it: result, error and the trees after it must
be the same. If one is denied, the act must fail inside, and change nothing. What differs counts as
a failure unless `lapbelt plan` lists a gap that covers it. Worlds are not restored between acts, so
later acts meet what earlier ones made. With --inside there are two policies, one sandbox in the
other, and both have to allow.

A failure is shrunk to the rules and acts that it needs, and printed with the seed. TAP.

A new act is a row in differential_acts.py, with a generator in differential_doing.py that does it
and a function in differential_asking.py that says what it asks.
"""
import argparse
import collections
import ctypes
import gc
import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from differential_acts import ACTS
from differential_ahead import Ahead
from differential_asking import View
from differential_judge import PYTHON, Failure, Refused, Run, show
from differential_policies import HOST, INSIDE, PolicyMaker

NOBODY = 65534
FOLDER = os.path.dirname(os.path.abspath(__file__))


class Test:
    def __init__(self, arguments, home):
        self.home = home
        self.lapbelt, self.tools = arguments.lapbelt, FOLDER
        self.library = ctypes.CDLL(arguments.library)
        self.arguments = arguments
        self.count = collections.Counter()
        self.found = collections.OrderedDict()
        self.sockets, self.ports = [], {}
        self.listen()

    def listen(self):
        for name, family, kind, host in (("tcp", socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1"),
                                         ("tcp6", socket.AF_INET6, socket.SOCK_STREAM, "::1"),
                                         ("udp", socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1"),
                                         ("free", socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1"),
                                         ("free2", socket.AF_INET, socket.SOCK_STREAM,
                                          "127.0.0.1")):
            if name.startswith("free"):
                self.ports[name] = self.free_port()
                continue
            s = socket.socket(family, kind)
            s.bind((host, 0))
            self.ports[name] = s.getsockname()[1]
            if kind == socket.SOCK_STREAM:
                s.listen(64)
            s.setblocking(False)
            self.sockets.append(s)

    @staticmethod
    def free_port():
        """One that the kernel gives to nobody by itself."""
        while True:
            port = random.randrange(10000, 32000)
            with socket.socket() as s:
                try:
                    s.bind(("0.0.0.0", port))
                    return port
                except OSError:
                    pass

    def begin(self, rules, options):
        """A run, or None where it is refused for a reason that is a gap."""
        try:
            run = Run(self, rules, options)
        except Refused:
            self.count["refused"] += 1
            return None
        if run.started[0] == "ready":
            return run
        said = run.helper.said()
        is_gap = any(gap.kind == "content" for gap in run.gaps) or "cannot enforce" in said or \
            run.is_hidden(View(run.inside.top), [["abs", "w"]])  # where the worker is to be
        run.close()
        if is_gap:
            self.count["refused"] += 1
            return None
        raise RuntimeError(f"does not start: {said}")

    def replay(self, rules, acts, options):
        """The first failure of ACTS under RULES, or None."""
        try:
            run = self.begin(rules, options)
        except (RuntimeError, ValueError):
            return None
        if run is None:
            return None
        try:
            for name, arguments in acts:
                failure = run.act(name, arguments)
                if failure:
                    return failure if failure.kind != "resync" else None
        finally:
            run.close()
        return None

    def shrink(self, rules, acts, options, failure):
        """Fewer rules and acts that end the same way."""
        def is_same(some_rules, some_acts):
            again = self.replay(some_rules, some_acts, options)
            return again and (again.kind, again.act) == (failure.kind, failure.act)

        for n in (1, 2, 4, 8, 16, 32):
            if n < len(acts) and is_same(rules, acts[-n:]):
                acts = acts[-n:]
                break
        for i in reversed(range(len(rules))):
            if rules[i] not in (HOST, INSIDE) and is_same(rules[:i] + rules[i + 1:], acts):
                rules = rules[:i] + rules[i + 1:]
        for i in reversed(range(len(acts) - 1)):
            if len(acts) <= 33 and is_same(rules, acts[:i] + acts[i + 1:]):
                acts = acts[:i] + acts[i + 1:]
        return rules, acts

    def key(self, failure):
        ops = re.sub(r"[^;|]*?([a-z-]+\*?) [^;|]*", r"\1 ", failure.rule)
        got = failure.got[2] if failure.got[0] == "error" else failure.got[0]
        return (failure.kind, failure.act, failure.stage, ops if failure.kind == "unsound" else "",
                got, str(failure.expected)[:20] if failure.kind == "differs" else "")

    def report(self, seed, rules, acts, options, failure):
        key = self.key(failure)
        self.count["failures"] += 1
        if key in self.found:
            self.found[key][0] += 1
            return
        if not self.arguments.no_shrink:
            small_rules, small_acts = self.shrink(rules, acts, options, failure)
            failure = self.replay(small_rules, small_acts, options) or failure
        else:
            small_rules, small_acts = rules, acts[-1:]
        lines = [f"seed {seed} {' '.join(options)}: {failure.kind}"]
        lines += ["policy: " + show(" ".join(small_rules)).replace("\n", " ")]
        lines += ["act: " + show(json.dumps(act, ensure_ascii=False)) for act in small_acts[-8:]]
        lines += [f"asked: {show(failure.rule)}", f"expected: {failure.expected}",
                  f"got: {failure.got}",
                  f"again: {self.arguments.who} --seed {seed} --policies 1"
                  f" --acts {self.arguments.acts}"]
        self.found[key] = [1, lines]
        print("\n".join("# " + line for line in lines), flush=True)

    def one_policy(self, seed, options):
        maker = PolicyMaker(seed, self.ports)
        rules = maker.policies() if self.arguments.inside else maker.policy()
        names, weights = zip(*((name, act.weight) for name, act in ACTS.items()
                               if name not in self.arguments.skip))
        todo = [(name, ACTS[name].make(maker)) for name in
                maker.random.choices(names, weights, k=self.arguments.acts)]
        if self.arguments.show:
            print(f"# {seed}: " + show(" ".join(rules)))
        while todo:
            done, failure = self.one_run(rules, options, todo)
            if failure and failure.kind == "doubt":
                self.count["doubts"] += 1
                done, failure = self.one_by_one(rules, options, todo[:done], failure)
            self.count["acts"] += done
            if failure and failure.kind != "resync":
                self.report(seed, rules, todo[:done], options, failure)
            todo = todo[done:] if done else []

    def one_run(self, rules, options, todo):
        """How many acts of TODO were done, and the failure or doubt that ended it, or None."""
        run = self.begin(rules, options)
        if run is None:
            return 0, None
        done, failure = 0, None
        try:
            ahead = Ahead(run)
            while done < len(todo) and not failure:
                some, failure = ahead.some(todo[done:])
                if failure and failure.kind == "doubt":
                    failure = failure._replace(at=done + failure.at)
                done += some
        finally:
            run.close()
        return done, failure

    def one_by_one(self, rules, options, acts, doubt):
        """What one_run() returns, for acts of which the last were in DOUBT when done at once. It is a
        failure, too, if what was doubted does not come again."""
        run = self.begin(rules, options)
        results = []
        try:
            for act in acts:
                failure = run.act(*act)
                results.append(run.result)
                if failure:
                    return len(results), failure
        finally:
            run.close()
        if doubt.is_tree or results[doubt.at] != doubt.got:
            return len(acts), Failure("once", 0, "", *acts[doubt.at], doubt.wanted, doubt.got)
        return len(acts), None

    def all(self):
        a = self.arguments
        options = [word for word in a.options if word]
        for seed in range(a.seed, a.seed + a.policies):
            before = self.count["failures"]
            with_options = options or [
                word for bit, word in ((1, "--no-userns"), (2, "--no-lane")) if seed & bit]
            try:
                self.one_policy(seed, with_options)
            except (RuntimeError, ValueError) as e:
                self.count["failures"] += 1
                print(f"# {e}".replace("\n", "\n# "))
            ok = self.count["failures"] == before
            print(f"{'' if ok else 'not '}ok {seed - a.seed + 1} - seed {seed} "
                  f"{' '.join(with_options)}", flush=True)
        print(f"1..{a.policies}")
        print("# " + ", ".join(f"{n} {what}" for what, n in sorted(self.count.items())))
        for count, lines in self.found.values():
            print(f"# {count} times: {lines[0]}")
        return 1 if self.count["failures"] else 0


def parse(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("lapbelt")
    parser.add_argument("library")
    parser.add_argument("who", choices=("root", "user"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policies", type=int, default=80)
    parser.add_argument("--acts", type=int, default=60)
    parser.add_argument("--options", nargs="*", default=[])
    parser.add_argument("--skip", nargs="*", default=[], metavar="ACT")
    parser.add_argument("--base", default="/var/tmp", help="where the worlds are made")
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--no-shrink", action="store_true")
    return parser.parse_args(words)


def is_mapped(uid):
    """Is there such a user in this user namespace?"""
    with open("/proc/self/uid_map", encoding="ascii") as f:
        ranges = [list(map(int, line.split())) for line in f]
    return any(first <= uid < first + count for first, _, count in ranges)


def main(words):
    arguments = parse(words)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    is_root = os.geteuid() == 0
    if arguments.who == "root" and not is_root:
        print("1..0 # SKIP this user is not root")
        return 0
    home = os.environ.get("DIFFERENTIAL_HOME")
    if home:
        if os.getpgrp() != os.getpid():
            os.setpgid(0, 0)  # it signals its group
        os.umask(0o022)
        gc.disable()  # nothing goes in circles
        return Test(arguments, home).all()
    home = tempfile.mkdtemp(prefix="lapbelt-diff-", dir=arguments.base)
    try:
        # Copies, in a folder that an ordinary user reaches.
        os.chmod(home, 0o755)
        os.mkdir(home + "/tools", 0o755)
        program = shutil.copy(arguments.lapbelt, home + "/tools/lapbelt")
        library = shutil.copy(arguments.library, home + "/tools/library.so")
        for part in glob.glob(glob.escape(FOLDER) + "/differential*.py"):
            shutil.copy(part, home + "/tools")
        subprocess.run([PYTHON, "-EsSm", "compileall", "-q", home + "/tools"], check=True)
        lane = os.environ.get("LAPBELT_LANE")
        if lane and os.path.exists(lane):
            os.environ["LAPBELT_LANE"] = shutil.copy(lane, home + "/tools/lane.so")
        ids = {}
        if arguments.who == "user" and is_root and is_mapped(NOBODY):
            os.chown(home, NOBODY, NOBODY)
            ids = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return subprocess.run(
            [PYTHON, "-Es", home + "/tools/differential.py", program, library, *words[2:]],
            check=False, cwd="/", env={**os.environ, "DIFFERENTIAL_HOME": home}, **ids).returncode
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
