# SPDX-License-Identifier: Apache-2.0
"""One policy: two worlds, two workers, acts, and whether what came of them is right."""
import collections
import itertools
import json
import os
import select
import shutil
import stat
import subprocess
import time

from differential_acts import ACTS, SOCKET_ACTS
from differential_answers import (Answers, Both, BothAnswers, Policy, covers_refused, covers_seen,
                                  read_gaps)
from differential_asking import View
from differential_policies import INSIDE
from differential_world import World, accept_all, shm_path

PYTHON = "/usr/bin/python3"  # an ordinary user must be able to execute it
DENIALS = ("EPERM", "EACCES", "EXDEV")


class Helper:
    """A worker process."""

    def __init__(self, prefix, tools, top, log):
        self.log = log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                [*prefix, PYTHON, "-EsS", tools + "/differential_worker.py", top],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd="/", text=True,
                start_new_session=True)

    def answer(self):
        if not select.select([self.process.stdout], [], [], 30)[0]:
            return ["hangs"]
        line = self.process.stdout.readline()
        return json.loads(line) if line else ["ended"]

    def act(self, name, arguments, stop=-1):
        try:
            print(json.dumps([name, arguments, stop]), file=self.process.stdin, flush=True)
        except OSError:
            return ["ended"]
        return self.answer()

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def said(self):
        with open(self.log, "rb") as f:
            return f.read()[-600:].decode(errors="backslashreplace")


Failure = collections.namedtuple("Failure", "kind stage rule act arguments expected got")


def show_question(question):
    op, thing, more = question
    if op in ("either", "maybe"):
        return " | ".join(map(show_question, thing))
    words = [op] + ([os.fsdecode(thing)] if isinstance(thing, bytes) else [])
    return " ".join(words + [f"{k}={v}" for k, v in more.items() if k != "found"])


def show(text):
    return text.encode("utf8", "backslashreplace").decode("utf8")


class Refused(Exception):
    """A policy around another that has a gap nobody accepts."""


class Run:
    """One policy: two worlds and two workers, acts one after another."""

    number = itertools.count()

    def __init__(self, test, rules, options):
        self.test = test
        self.options = options
        self.folder = f"{test.home}/{next(Run.number)}"
        self.worlds, self.helpers = [], []
        os.mkdir(self.folder)
        try:
            self.start(rules)
        except BaseException:
            self.close()
            raise

    def start(self, rules):
        test = self.test
        for name in ("i", "u"):
            self.worlds.append(World(f"{self.folder}/{name}"))
        self.inside, self.outside = self.worlds
        top = self.inside.top
        prefix, plans, policies = [], [], []
        for text in self.texts(rules):
            if plans and any(gap["kind"] == "content" for gap in plans[0]["gaps"]):
                raise Refused
            plans.append(self.plan_of(prefix, text))
            policies.append(Policy(test.library, os.fsencode(text)))
            prefix += [test.lapbelt, "exec", *self.options, "-p", text, "--"]
        test.count["policies with a lane"] += bool(plans[-1].get("lane"))
        self.gaps = [gap for plan in plans for gap in read_gaps(plan)]
        if len(plans) > 1:
            self.policy = Both(policies)
            self.answers = BothAnswers(self.policy, plans)
        else:
            self.policy = policies[0]
            self.answers = Answers(self.policy, plans[0])
        self.begin = self.inside.inodes()
        for world, prefix in ((self.inside, prefix), (self.outside, [])):
            self.helpers.append(Helper(prefix, test.tools, world.top, world.top + ".log"))
        self.started = [helper.answer() for helper in self.helpers]
        self.view = View(top, self.started[0][-1],
                         [item["class"] for item in plans[0]["broker"]])
        self.before = self.inside.picture()
        self.failures = []

    def texts(self, rules):
        """The policy of RULES; two of them if one is inside."""
        top = self.inside.top
        whole = "(version 1)\n" + "\n".join(rules) + "\n"
        for name, value in (("top", top), ("re", top.replace(".", r"\.")),
                            ("tools", self.test.tools),
                            ("shm", os.path.basename(shm_path(top, ""))),
                            ("shell", os.path.realpath("/bin/sh"))):
            whole = whole.replace("{" + name + "}", value)
        return whole.replace(f"\n{INSIDE}\n", f"\n{INSIDE}\n(version 1)\n").split(f"{INSIDE}\n")

    def plan_of(self, prefix, text):
        """The plan of TEXT, made inside what PREFIX starts."""
        done = subprocess.run([*prefix, self.test.lapbelt, "plan", "--exec", "--json",
                               *self.options, "-p", text], capture_output=True, check=False)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise RuntimeError(f"no plan: {done.stderr.decode()}") from None

    def close(self):
        for helper in self.helpers:
            helper.close()
        for world in self.worlds:
            world.close()
        if hasattr(self, "policy"):
            self.policy.free()
        shutil.rmtree(self.folder)

    def is_fifo(self, where):
        try:
            return stat.S_ISFIFO(os.stat(self.view.full(where)).st_mode)
        except OSError:
            return False

    def questions(self, name, arguments):
        try:
            return ACTS[name].ask(self.view, *arguments)
        except (OSError, ValueError):
            return [[]]  # it fails before anything is asked

    def act(self, name, arguments, patience=100):
        """Returns a failure, or None. Afterwards the worlds are equal again, or there is one."""
        if name in ("creat", "exec") and self.is_fifo(arguments[0]):
            return None  # it waits for a partner
        self.was = self.inside.inodes()
        stages = self.questions(name, arguments)
        said, denied, stage, unsure = "allow", [], 0, {}
        for stage, questions in enumerate(stages):
            said, denied = self.answers.to_stage(questions)
            if said == "deny" and self.are_seen(denied, name):
                said = "depends"
            if said == "deny":
                break
            if said in ("depends", "moved"):
                unsure[stage] = DENIALS if said == "depends" else ("EXDEV",)
        result = self.helpers[0].act(name, arguments)
        after = self.inside.picture()
        accept_all(self.test.sockets + self.inside.sockets + self.outside.sockets)

        def failure(kind, expected):
            rule = "; ".join(f"{show_question(v.question)}: {v.rule}" for v in denied)
            return Failure(kind, stage, rule or "all allowed: " + ", ".join(
                show_question(q) for qs in stages for q in qs), name, arguments, expected, result)

        if result[0] in ("ended", "hangs"):
            return failure(result[0], "an answer")
        if result[0] == "error" and result[2] in unsure.get(result[1], ()):
            self.test.count["depends"] += 1
            return self.catch_up(name, arguments, result[1], after, failure)
        if said == "deny":
            if after != self.before and self.may_be_left(name, stages[stage]):
                self.helpers[1].act("open", [arguments[0], self.making(name, arguments),
                                             arguments[-1]])
                self.before = self.outside.picture()
            return self.after_denial(name, arguments, stage, denied, result, after, failure)
        control = self.helpers[1].act(name, arguments)
        if name in ("listen", "bind-abstract") and result != control and \
                "EADDRINUSE" in result + control and patience:
            time.sleep(0.05)  # somebody else's, or the broker's for a moment more
            return self.act(name, arguments, patience - 1)
        self.test.count["same"] += 1
        if result == control and after == self.outside.picture():
            self.before = after
            self.test.count["done"] += result[0] == "ok"
            return None
        if result == control:
            return failure("tree", self.difference(self.outside.picture(), after))
        asked = [q for qs in stages for q in qs]
        if result[0] == "error" and result[2] in DENIALS and \
                covers_refused(self.gaps, name, arguments, asked, self.begin):
            self.test.count["gap"] += 1
            return Failure("resync", 0, "", name, arguments, "", "")
        return failure("incomplete" if result[0] == "error" and result[2] in DENIALS else "differs",
                       control)

    def by_second_name(self, verdict):
        """Is what VERDICT denies there under another name, where it is allowed?"""
        op, thing, more = verdict.question
        if not isinstance(thing, bytes) or not thing.startswith(os.fsencode(self.inside.top)):
            return False
        inode = self.was.get(thing)
        return any(self.policy.decide(op, path, more).allowed
                   for path, other in self.was.items() if inode and other == inode)

    def may_be_left(self, name, questions):
        """Landlock lets make what may be made, and then does not let open it."""
        making = [q for q in questions if q[0] in ("file-write-create", "file-write-setugid")]
        return name in ("open", "creat") and making and \
            not {"read", "write"} & set(self.view.brokered) and \
            self.answers.to_stage(making)[0] == "allow"

    @staticmethod
    def making(name, arguments):
        """The flags of an open that makes what the act made."""
        flags = arguments[1] if name == "open" else 0
        return os.O_CREAT | flags & (os.O_EXCL | os.O_NOFOLLOW)

    def are_seen(self, denied, act):
        """Is what is DENIED known to be seen or done all the same?"""
        return all(covers_seen(self.gaps, verdict, act) or self.by_second_name(verdict)
                   for verdict in denied)

    def after_denial(self, name, arguments, stage, denied, result, after, failure):
        if result[0] == "error" and result[1] < stage:
            return self.early(name, arguments, stage, result, after, failure)
        if result[0] == "error" and result[1] == stage:
            self.test.count["denied" if result[2] in DENIALS else "failed anyway"] += 1
            return self.catch_up(name, arguments, stage, after, failure)
        return failure("unsound", f"denied at stage {stage}")

    def early(self, name, arguments, stage, result, after, failure):
        """Inside it fails before the stage that is denied: as outside, or for a gap."""
        if result[1] == 0 and result[2] == "EPERM" and name in SOCKET_ACTS:
            self.test.count["denied"] += 1  # the socket cannot even be made
            return self.catch_up(name, arguments, 0, after, failure)
        control = self.helpers[1].act(name, arguments, stage)
        if result == control and after == self.outside.picture():
            self.before = after
            self.test.count["failed anyway"] += 1
            return None
        asked = [q for qs in ACTS[name].ask(self.view, *arguments) for q in qs]
        if result[2] in DENIALS and \
                covers_refused(self.gaps, name, arguments, asked, self.begin):
            self.test.count["gap"] += 1
            return Failure("resync", 0, "", name, arguments, "", "")
        return failure("incomplete" if result[2] in DENIALS else "differs", control)

    def catch_up(self, name, arguments, stage, after, failure):
        """Outside, what came before the denied stage."""
        if stage and self.helpers[1].act(name, arguments, stage)[0] == "error":
            pass  # inside it has failed there too
        want = self.outside.picture() if stage else self.before
        if after != want:
            return failure("changed", self.difference(want, after))
        self.before = after
        return None

    @staticmethod
    def difference(want, got):
        return [(path.decode("latin1"), str(want.get(path)), str(got.get(path)))
                for path in sorted({*want, *got}) if want.get(path) != got.get(path)][:3]
