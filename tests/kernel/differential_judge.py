# SPDX-License-Identifier: Apache-2.0
"""One policy: two worlds, two workers, acts, and whether what came of them is right."""
import collections
import contextlib
import errno
import itertools
import json
import marshal
import os
import select
import shutil
import signal
import stat
import subprocess
import time

from differential_acts import ACTS, SOCKET_ACTS
from differential_answers import (HIDDEN, Answers, Both, BothAnswers, Policy, covers_refused,
                                  covers_seen, has_set_id, is_below, is_nothing, read_gaps)
from differential_asking import View
from differential_names import shm_path
from differential_policies import INSIDE
from differential_worker import Worker
from differential_world import World, accept_all

PYTHON = "/usr/bin/python3"  # an ordinary user must be able to execute it
DENIALS = ("EPERM", "EACCES", "EXDEV")
BY_MOUNTS = ("EROFS", "EBUSY")
PATIENCE = 30  # seconds
GAPS = 3


class Late(Exception):
    """Something took too long."""


@contextlib.contextmanager
def within(seconds):
    """Raises Late out of what waits longer."""
    def late(*_):
        raise Late

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Helper:
    """A worker process."""

    def __init__(self, prefix, tools, top, log):
        self.log = log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                [*prefix, PYTHON, "-EsS", tools + "/differential_worker.py", top],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd="/",
                start_new_session=True)
        self.poll = select.poll()
        self.poll.register(self.process.stdout, select.POLLIN)

    def answer(self):
        """A list of answers."""
        if not self.poll.poll(PATIENCE * 1000):
            return [["hangs"]]
        try:
            return marshal.load(self.process.stdout)
        except EOFError:
            return [["ended"]]

    def acts(self, todo):
        """What came of each of TODO, or one answer if it gives none."""
        try:
            marshal.dump(todo, self.process.stdin)
            self.process.stdin.flush()
        except OSError:
            return [["ended"]]
        return self.answer()

    def act(self, name, arguments):
        return self.acts([(name, arguments)])[0]

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            with within(5):
                self.process.wait()
        except Late:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def said(self):
        with open(self.log, "rb") as f:
            return f.read()[-600:].decode(errors="backslashreplace")


class Control:
    """Does the same without a sandbox: this process."""

    def __init__(self, top):
        self.worker = Worker(top)

    def act(self, name, arguments, stop=-1):
        try:
            with within(PATIENCE):
                return self.worker.answer(name, arguments, stop)
        except Late:
            return ["hangs"]

    def close(self):
        os.chdir("/")


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
        self.n_gaps = 0
        self.worlds, self.helper, self.control = [], None, None
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
        self.hidden = [path for gap in self.gaps if HIDDEN in gap.text for path in gap.paths]
        self.holds = any(mount["kind"] == "read-only" for plan in plans for mount in plan["mounts"])
        if len(plans) > 1:
            self.policy = Both(policies)
            self.answers = BothAnswers(self.policy, plans)
        else:
            self.policy = policies[0]
            self.answers = Answers(self.policy, plans[0])
        self.before, self.was = self.inside.look()
        self.begin = self.was
        self.helper = Helper(prefix, test.tools, top, top + ".log")
        self.started = self.helper.answer()[0]
        self.control = Control(self.outside.top)
        self.view = View(top, self.started[-1], [item["class"] for item in plans[0]["broker"]])

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
        options = [option for option in self.options if not option.startswith("--gaps")]
        done = subprocess.run([*prefix, self.test.lapbelt, "plan", "--exec", "--json",
                               *options, "-p", text], capture_output=True, check=False)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise RuntimeError(f"no plan: {done.stderr.decode()}") from None

    def close(self):
        for worker in (self.helper, self.control):
            if worker:
                worker.close()
        for world in self.worlds:
            world.close()
        if hasattr(self, "policy"):
            self.policy.free()
        shutil.rmtree(self.folder)

    def sockets(self):
        return self.test.sockets + self.inside.sockets + self.outside.sockets

    @staticmethod
    def waits(view, name, arguments):
        """For a partner at a FIFO?"""
        try:
            return name in ("creat", "exec") and \
                stat.S_ISFIFO(os.stat(view.full(arguments[0])).st_mode)
        except OSError:
            return False

    @staticmethod
    def questions(view, name, arguments):
        try:
            return ACTS[name].ask(view, *arguments)
        except (OSError, ValueError):
            return [[]]  # it fails before anything is asked

    def act(self, name, arguments, patience=100):
        """Returns a failure, or None. Afterwards the worlds are equal again, or there is one."""
        self.result = None
        if self.waits(self.view, name, arguments):
            return None
        stages = self.questions(self.view, name, arguments)
        said, denied, stage, unsure = "allow", [], 0, {}
        for stage, questions in enumerate(stages):
            said, denied = self.answers.to_stage(questions)
            if said == "deny" and self.are_seen(denied, name, self.second_names):
                said, unsure[stage] = "depends", errno.errorcode.values()
            elif said == "deny":
                break
            elif said in ("depends", "moved"):
                unsure[stage] = DENIALS + BY_MOUNTS if said == "depends" else ("EXDEV",)
        result = self.result = self.helper.act(name, arguments)
        after, self.was = self.inside.look()
        if name in SOCKET_ACTS:
            accept_all(self.sockets())

        def failure(kind, expected):
            rule = "; ".join(f"{show_question(v.question)}: {v.rule}" for v in denied)
            return Failure(kind, stage, rule or "all allowed: " + ", ".join(
                show_question(q) for qs in stages for q in qs), name, arguments, expected, result)

        if result[0] in ("ended", "hangs"):
            return failure(result[0], "an answer")
        if after == self.before and is_nothing(result) and self.is_hidden(self.view, arguments):
            self.test.count["hidden"] += 1
            return None
        if self.is_missing(name) and result == ["error", 0, "ENOSYS"]:
            self.test.count["missing"] += 1
            return self.catch_up(name, arguments, 0, after, failure)
        if said != "allow" and result[0] == "error" and after != self.before and \
                self.may_be_left(name, stages[stage]):
            mode = arguments[1] if name == "creat" else arguments[2]
            self.control.act("open", [arguments[0], self.making(name, arguments), mode])
            self.before = self.outside.look().picture
        if result[0] == "error" and result[2] in unsure.get(result[1], ()):
            self.test.count["depends"] += 1
            return self.catch_up(name, arguments, result[1], after, failure)
        if said == "deny":
            return self.after_denial(name, arguments, stage, stages, result, after, failure)
        if self.is_gap(name, arguments, stages, result):
            return self.after_gap(name, arguments, result[1], after, failure)
        control = self.control.act(name, arguments)
        for _ in range(patience):  # the broker looks now and then who holds what is bound still
            if not self.is_in_use(name, result, control) or "EADDRINUSE" in result:
                break
            self.test.count["in use"] += 1
            time.sleep(0.05)
            control = self.control.act(name, arguments)
        if self.is_in_use(name, result, control) and patience:
            time.sleep(0.05)
            return self.act(name, arguments, patience - 1)
        self.test.count["same"] += 1
        if result == control and after == self.outside.look().picture:
            self.before = after
            self.test.count["done"] += result[0] == "ok"
            return None
        if self.fails_otherwise(arguments, result, control) and \
                after == self.outside.look().picture:
            self.before = after
            self.test.count["failed otherwise"] += 1
            return None
        if result == control:
            return failure("tree", self.difference(self.outside.look().picture, after))
        return failure("incomplete" if result[0] == "error" and result[2] in DENIALS else "differs",
                       control)

    @staticmethod
    def is_in_use(name, result, control):
        """Is an address somebody else's, or the broker's for a moment more?"""
        if name in ("connect-unix", "send-unix"):
            return result != control and "ECONNREFUSED" in control
        return name in ("listen", "bind-abstract") and result != control and \
            "EADDRINUSE" in result + control

    def is_missing(self, name):
        """Where nobody looks into memory, openat2 is as on older kernels."""
        return name == "open2" and not self.view.brokered

    def is_hidden(self, view, arguments, inside=lambda path: path):
        """Does a name of ARGUMENTS lead to what the plan hides, or by it? INSIDE: what VIEW's names are
        there."""
        return bool(self.hidden) and any(
            is_below(inside(passed), path) for where in self.names(arguments)
            for passed in view.passed(where) for path in self.hidden)

    @staticmethod
    def names(arguments):
        """Those of files in ARGUMENTS; tmpfile has one without how it is said."""
        return [["abs", one] if isinstance(one, str) else one for one in arguments
                if isinstance(one, list) or isinstance(one, str) and one[:2] in ("w/", "o/")]

    def fails_otherwise(self, arguments, result, control):
        """Does both fail, inside because of what is looked at before names are?"""
        return self.holds and result[0] == control[0] == "error" and \
            (result[2] in BY_MOUNTS or result[2] == "EPERM" and has_set_id(arguments))

    def second_names(self, path):
        """What else is the same file as PATH."""
        inode = self.was.get(path)
        return [other for other, its in self.was.items() if inode and its == inode]

    def by_second_name(self, verdict, second_names):
        """Is what VERDICT denies there under another name, where it is allowed?"""
        op, thing, more = verdict.question
        if not isinstance(thing, bytes) or not thing.startswith(self.inside.bytes):
            return False
        return any(self.policy.decide(op, path, more).allowed for path in second_names(thing))

    def may_be_left(self, name, questions):
        """Landlock lets make what may be made, and then does not let open it."""
        making = [q for q in questions if q[0] in ("file-write-create", "file-write-setugid")]
        return name in ("open", "open2", "creat") and making and \
            not {"read", "write"} & set(self.view.brokered) and \
            self.answers.to_stage(making)[0] == "allow"

    @staticmethod
    def making(name, arguments):
        """The flags of an open that makes what the act made."""
        flags = arguments[1] if name != "creat" else 0
        return os.O_CREAT | flags & (os.O_EXCL | os.O_NOFOLLOW)

    def are_seen(self, denied, act, second_names):
        """Is what is DENIED known to be seen or done all the same?"""
        return all(covers_seen(self.gaps, verdict, act) or
                   self.by_second_name(verdict, second_names) for verdict in denied)

    @staticmethod
    def asked(view, name, arguments, stages):
        """All questions, and names even of what is not there to be asked about."""
        paths = [os.path.normpath(view.full(where)) for where in arguments if isinstance(where, list)]
        if name in ("shm", "shm-unlink"):
            paths.append(os.fsencode(shm_path(view.top, arguments[0])))
        return [question for questions in stages for question in questions] + \
            [("named", path, {}) for path in paths]

    def is_gap(self, name, arguments, stages, result):
        """Was it refused for a reason that the plan tells of?"""
        asked = self.asked(self.view, name, arguments, stages)
        return result[0] == "error" and result[2] in DENIALS + BY_MOUNTS and \
            covers_refused(self.gaps, name, arguments, asked, self.begin)

    def after_gap(self, name, arguments, stage, after, failure):
        """A world in which much is refused for a gap shows little else: it is given up."""
        self.test.count["gap"] += 1
        self.n_gaps += 1
        if self.catch_up(name, arguments, stage, after, failure) or self.n_gaps > GAPS:
            return Failure("resync", 0, "", name, arguments, "", "")
        return None

    def after_denial(self, name, arguments, stage, stages, result, after, failure):
        if result[0] == "error" and result[1] < stage:
            return self.early(name, arguments, stage, stages, result, after, failure)
        if result[0] == "error" and result[1] == stage:
            self.test.count["denied" if result[2] in DENIALS else "failed anyway"] += 1
            return self.catch_up(name, arguments, stage, after, failure)
        return failure("unsound", f"denied at stage {stage}")

    def early(self, name, arguments, stage, stages, result, after, failure):
        """Inside it fails before the stage that is denied: as outside, or for a gap."""
        if result[1] == 0 and result[2] == "EPERM" and name in SOCKET_ACTS:
            self.test.count["denied"] += 1  # the socket cannot even be made
            return self.catch_up(name, arguments, 0, after, failure)
        if self.is_gap(name, arguments, stages, result):
            return self.after_gap(name, arguments, result[1], after, failure)
        control = self.control.act(name, arguments, stage)
        if (result == control or self.fails_otherwise(arguments, result, control)) and \
                after == self.outside.look().picture:
            self.before = after
            self.test.count["failed anyway"] += 1
            return None
        return failure("incomplete" if result[2] in DENIALS else "differs", control)

    def catch_up(self, name, arguments, stage, after, failure):
        """Outside, what came before the denied stage."""
        if stage and self.control.act(name, arguments, stage)[0] == "error":
            pass  # inside it has failed there too
        want = self.outside.look().picture if stage else self.before
        if after != want:
            return failure("changed", self.difference(want, after))
        self.before = after
        return None

    @staticmethod
    def difference(want, got):
        return [(path.decode("latin1"), str(want.get(path)), str(got.get(path)))
                for path in sorted({*want, *got}) if want.get(path) != got.get(path)][:3]
