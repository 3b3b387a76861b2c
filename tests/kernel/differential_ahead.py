# SPDX-License-Identifier: Apache-2.0
"""Many acts with one answer.

The acts of which it is certain what must come of them are done outside first, one after another, and
then in one go inside, after which results and trees must be the same. The questions of each are asked
about the world outside, which is as that inside will be. What is not certain, because the policy or a
gap allows for two ways, is done by itself (Run.act), and so is all of a run again if something differs.
"""
import collections
import os
import stat

from differential_answers import covers_refused
from differential_asking import View
from differential_names import shm_path
from differential_world import accept_all

AT_ONCE = 16

Wanted = collections.namedtuple("Wanted", "act stage result")  # stage: the one that is denied, or None
Doubt = collections.namedtuple("Doubt", "kind at is_tree wanted got")  # at: which act


class Ahead:
    """What a run does ahead of its worker."""

    def __init__(self, run):
        self.run = run
        self.view = View(run.outside.top, run.view.pid, run.view.brokered)
        self.names = [(world.bytes, os.path.basename(os.fsencode(shm_path(world.top, ""))))
                      for world in (run.outside, run.inside)]
        self.gaps = [gap._replace(paths=[self.outside(path) for path in gap.paths])
                     for gap in run.gaps]
        self.begin = {self.outside(path): inode
                      for path, inode in run.outside.look().inodes.items()}

    def inside(self, path):
        for old, new in zip(*self.names):
            path = path.replace(old, new)
        return path

    def outside(self, path):
        return path.replace(self.names[1][0], self.names[0][0])

    def translate(self, question):
        """QUESTION about the world outside, as one about that inside."""
        op, thing, more = question
        if isinstance(thing, bytes):
            thing = self.inside(thing)
        elif isinstance(thing, tuple):
            thing = tuple(map(self.inside, thing))
        elif isinstance(thing, list):
            thing = [self.translate(one) for one in thing]
        return op, thing, more

    def second_names(self, path):
        """What else inside is the same file as PATH."""
        path = self.outside(path)
        try:
            found = os.lstat(path)
        except OSError:
            return []
        if stat.S_ISDIR(found.st_mode) or found.st_nlink == 1:
            return []
        return [self.inside(other) for other, inode in self.run.outside.look().inodes.items()
                if inode == found.st_ino]

    def want(self, name, arguments):
        """What must come of an act, once it has been done outside; None if that is not certain."""
        run = self.run
        if run.waits(self.view, name, arguments):
            return None
        if run.is_missing(name) or run.is_hidden(self.view, arguments, self.inside):
            return None
        stages = run.questions(self.view, name, arguments)
        said, denied, stage = "allow", [], None
        for stage, questions in enumerate(stages):
            asked = [self.translate(question) for question in questions]
            said, denied = run.answers.to_stage(asked)
            if said != "allow":
                break
        if said not in ("allow", "deny") or \
                said == "deny" and (run.are_seen(denied, name, self.second_names) or
                                    run.may_be_left(name, asked)) or \
                covers_refused(self.gaps, name, arguments,
                               run.asked(self.view, name, arguments, stages), self.begin):
            return None
        if said == "allow":
            return Wanted((name, arguments), None, run.control.act(name, arguments))
        return Wanted((name, arguments), stage,
                      run.control.act(name, arguments, stage) if stage else ["stopped"])

    def some(self, acts):
        """Does the first of ACTS, or more. How many, and a failure or a doubt, or None."""
        todo = []
        for act in acts[:AT_ONCE]:
            wanted = self.want(*act)
            if wanted is None:
                break
            todo.append(wanted)
        if not todo:
            return 1, self.run.act(*acts[0])
        return len(todo), self.together(todo)

    def together(self, todo):
        run = self.run
        results = run.helper.acts([wanted.act for wanted in todo])
        accept_all(run.sockets())
        again = []
        for at, (wanted, result) in enumerate(zip(todo, results)):
            if run.is_in_use(wanted.act[0], result, wanted.result):
                again.append(wanted.act)
            elif not self.count(wanted, result):
                return Doubt("doubt", at, False, wanted.result, result)
        run.before, run.was = run.inside.look()
        want = run.outside.look().picture
        if run.before != want:
            return Doubt("doubt", len(todo) - 1, True, "equal trees",
                         run.difference(want, run.before))
        return next(filter(None, (run.act(*act) for act in again)), None)

    def count(self, wanted, result):
        """Is RESULT what is wanted?"""
        count = self.run.test.count
        if wanted.stage is None or wanted.result[0] == "error":
            count["same"] += wanted.stage is None
            count["done"] += result[0] == "ok"
            count["failed anyway"] += wanted.stage is not None
            return result == wanted.result and result != ["hangs"]
        count["denied"] += 1
        return result[:2] == ["error", wanted.stage]
