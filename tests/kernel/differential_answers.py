# SPDX-License-Identifier: Apache-2.0
"""What a policy says to the questions of an act, and which of that its plan calls a gap."""
import collections
import ctypes
import itertools
import os
import re
import stat

from differential_asking import TYPES
from differential_policies import MODES, show_mode
from differential_names import XATTRS


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("os", ctypes.c_int), ("line", ctypes.c_uint),
                ("column", ctypes.c_uint), ("file", ctypes.c_char * 256),
                ("text", ctypes.c_char * 512), ("hint", ctypes.c_char * 256)]


class PolicyOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("target", ctypes.c_int), ("flags", ctypes.c_uint),
                ("params", ctypes.c_void_p), ("n_params", ctypes.c_size_t),
                ("import_dir", ctypes.c_char_p), ("more_errors", ctypes.c_void_p),
                ("more_errors_context", ctypes.c_void_p)]


class Decision(ctypes.Structure):
    _fields_ = [("allowed", ctypes.c_int), ("file", ctypes.c_char_p), ("line", ctypes.c_uint),
                ("column", ctypes.c_uint), ("rule", ctypes.c_char_p),
                ("operation", ctypes.c_char_p)]


Verdict = collections.namedtuple("Verdict", "allowed at rule question")
# operations, paths, below: what it is about; others: whatever rule denies it, at: else this one.
Gap = collections.namedtuple("Gap", "kind at text paths operations below others")


class Policy:
    """A compiled policy, with what `exec` adds."""

    def __init__(self, library, text):
        self.library = library
        self.text = text.decode(errors="surrogateescape")
        self.known = {}
        self.handle = ctypes.c_void_p()
        error, options = Error(), PolicyOptions(size=ctypes.sizeof(PolicyOptions), flags=1)
        if library.lapbelt_policy_from_bytes(text, ctypes.c_size_t(len(text)), b"policy",
                                             ctypes.byref(options), ctypes.byref(self.handle),
                                             ctypes.byref(error)) < 0:
            raise ValueError(f"{error.line}:{error.column}: {error.text}")

    def free(self):
        self.library.lapbelt_policy_free(self.handle)

    def decide(self, op, thing, attributes):
        words = [thing] if thing is not None else []
        words += [f"{key}={value}".encode() for key, values in attributes.items()
                  for value in (values if isinstance(values, list) else [values])]
        question = op, thing is None, *words
        verdict = self.known.get(question)
        if verdict is None:
            verdict = self.known[question] = self.ask(op, words)
        return verdict._replace(question=(op, thing, attributes))

    def ask(self, op, words):
        array_of = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        decision, error = Decision(), Error()
        if self.library.lapbelt_decide(self.handle, op.encode(), array_of, ctypes.byref(decision),
                                       ctypes.byref(error)) < 0:
            raise ValueError(f"{op} {words}: {error.text}")
        at = (decision.line, decision.column) if decision.file == b"policy" else None
        return Verdict(bool(decision.allowed), at, os.fsdecode(decision.rule), None)


class Both:
    """Two policies of which both have to allow."""

    def __init__(self, policies):
        self.policies = policies
        self.text = "".join(policy.text for policy in policies)

    def free(self):
        for policy in self.policies:
            policy.free()

    def decide(self, op, thing, attributes):
        verdicts = [policy.decide(op, thing, attributes) for policy in self.policies]
        return next((v for v in verdicts if not v.allowed), verdicts[-1])


# plan_move_ops in src/plan/plan.c
MOVED = ["file-read-data", "file-read-metadata", "file-read-xattr", "file-write-data",
         "file-write-create", "file-write-unlink", "file-write-mode", "file-write-owner",
         "file-write-times", "file-write-xattr", "file-write-acl", "file-write-flags",
         "file-write-setugid", "file-link", "process-exec*", "network-outbound"]


class Answers:
    """What a policy says to the questions of one act."""

    def __init__(self, policy, plan):
        self.policy = policy
        # Rights that Landlock keeps apart and nobody judges.
        self.moves_vary = any("devices take no ioctl" in gap["text"] for gap in plan["gaps"])
        # Those that the policy tells apart, and one that it does not.
        kinds = [kind for kind in TYPES.values() if f"(vnode-type {kind})" in policy.text]
        self.kinds = [{"vnode-type": kind} for kind in [*kinds, "BLOCK-DEVICE"]]
        modes = [mode for mode in MODES if f"(file-mode {show_mode(mode)})" in policy.text]
        self.modes = [{"mode": oct(sum(bits))[2:]} for n in range(len(modes) + 1)
                      for bits in itertools.combinations(modes, n)]
        self.moves = {}
        # What Landlock grants a file by name stays with the file.
        self.named = {os.fsencode(row["path"]) for row in plan["floor"]}

    def to_one(self, question):
        """True, False, None (it depends) or moved, and the verdicts."""
        op, thing, more = question
        if op == "either":
            verdicts = [self.policy.decide(*q) for q in thing]
            return any(v.allowed for v in verdicts), verdicts
        if op == "maybe":
            return self.policy.decide(*thing[0]).allowed or None, []
        if op == "move":
            loose = self.moves_vary or thing is None or stat.S_ISDIR(more["found"].st_mode) or \
                self.is_looser(*thing) or \
                (thing[0] in self.named and self.is_looser(thing[1], thing[0]))
            return ("moved" if loose else True), []
        verdict = self.policy.decide(*question)
        return verdict.allowed, [verdict]

    def is_looser(self, old, new):
        """Would a file be more open at NEW than at OLD, to whatever question? Where the rules
        depend on more than the name and differ, it is if it can be: conditions that contradict each
        other are not found to do so."""
        conditional = len(self.kinds) * len(self.modes) > 1
        for op in MOVED:
            before, after = self.all_of(op, old), self.all_of(op, new)
            if before == after or not any(v for v, _ in after):
                continue
            if not all(v for v, _ in before) or (conditional and not all(v for v, _ in after)):
                return True
        return False

    def all_of(self, op, path):
        """(allowed, where the rule is) for every kind and mode."""
        if (op, path) not in self.moves:
            self.moves[op, path] = self.ask_all_of(op, path)
        return self.moves[op, path]

    def ask_all_of(self, op, path):
        names = [{"xattr": name} for name in XATTRS] if op.endswith("xattr") else [{}]
        verdicts = (self.policy.decide(op, path, {**kind, **mode, **name})
                    for kind in (self.kinds if not op.startswith("process") else [{}])
                    for mode in self.modes for name in names)
        return [(v.allowed, v.at) for v in verdicts]

    def to_stage(self, questions):
        """allow, if all do; deny; depends, if that cannot be told; moved: it may be refused with
        EXDEV. And who denies."""
        denied, said = [], "allow"
        for question in questions:
            answer, verdicts = self.to_one(question)
            if answer is False:
                denied += verdicts
            elif answer is None:
                said = "depends"
            elif answer == "moved" and said == "allow":
                said = "moved"
        return ("deny" if denied else said), denied


class BothAnswers(Answers):
    """Each judges by itself what moves."""

    def __init__(self, policy, plans):
        super().__init__(policy, plans[-1])
        self.each = [Answers(one, plan) for one, plan in zip(policy.policies, plans)]

    def to_one(self, question):
        if question[0] != "move":
            return super().to_one(question)
        said = [answers.to_one(question) for answers in self.each]
        return next((one for one in said if one[0] == "moved"), said[0])


# ---- Gaps --------------------------------------------------------------------------------------

# What a metadata gap says can still be seen, by operation.
ASPECTS = {"file-read-metadata": "attributes", "file-read-xattr": "extended attributes",
           "file-test-existence": "existence", "file-read-data": "names of entries"}
# Those about an operation, wherever it is denied, and what it is about.
UNJUDGED = {"file-lock": ("files that are open can be locked", None),
            "file-ioctl": ("requests on open files and directories are not judged",
                           ("REGULAR-FILE", "DIRECTORY"))}


def read_gaps(plan):
    return [Gap(gap["kind"], gap["rule"] and (gap["rule"]["line"], gap["rule"]["column"]),
                gap["text"], [os.fsencode(path) for path in gap["paths"]],
                gap["operations"], gap["below"], gap["others"])
            for gap in plan["gaps"]]


def is_below(path, folder):
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def is_at(gap, path):
    """Is PATH what GAP is about?"""
    return any(is_below(path, name) if gap.below else path == name for name in gap.paths)


def is_about(gap, verdict):
    """Is GAP, whose rule may be an example, about what VERDICT denies?"""
    op, thing, _ = verdict.question
    if not any(op.startswith(one[:-1]) if one.endswith("*") else op == one for one in gap.operations):
        return False
    if gap.paths:  # of what a pattern matches not all is
        return isinstance(thing, bytes) and is_at(gap, thing) and "what this matches" not in gap.text
    # IP sockets have other gaps.
    return gap.others and ("unix socket" not in gap.text or
                           isinstance(thing, bytes) and thing.startswith(b"/"))


def covers_seen(gaps, verdict, act):
    """Is that this was seen or done by ACT, though VERDICT denies it, a gap?"""
    op, _, more = verdict.question
    text, kinds = UNJUDGED.get(op, (None, None))
    for gap in gaps:
        if gap.text.startswith(text or "-") and (not kinds or more.get("vnode-type") in kinds):
            return True
        if gap.kind == "content" and (gap.at and gap.at == verdict.at or is_about(gap, verdict)):
            return True
        if gap.kind != "metadata" or gap.at != verdict.at:
            continue
        if ASPECTS.get(op, "-") in gap.text and (
                op != "file-read-data" or more.get("vnode-type") == "DIRECTORY"):
            return True
        if act == "watch" and "(inotify)" in gap.text:
            return True
    return False


def is_replaced(path, start):
    """Is there at PATH now something else than at the start, or was nothing there?"""
    try:
        now = os.lstat(path).st_ino
    except OSError:
        return path not in start
    if path not in start and re.match(b"/(proc|dev)/", path):
        return re.fullmatch(rb"/proc/\d+", path) is not None  # the worker's; the others stand
    return start.get(path) != now


MOVING = ("rename", "link", "unlink", "rmdir", "tmpfile")
ATTRIBUTES = ("chmod", "fchmod", "chown", "utime", "futime", "setxattr", "removexattr", "setacl",
              "flags")

WRITING = (*MOVING, *ATTRIBUTES, "mkdir", "mkfifo", "mknod", "symlink", "listen-unix")
HIDDEN = "these are hidden, whatever else"


def has_set_id(arguments):
    """Is there a mode with such a bit among ARGUMENTS? Flags of open(2) have others, too."""
    return any(isinstance(one, int) and one & 0o6000 and one < 0o10000 for one in arguments[1:])


def is_nothing(result):
    """Is it what can be had of nothing: an error, an empty file or directory?"""
    said = result[1] if result[0] == "ok" else None
    return result[0] in ("ok", "error") and all(
        one in (None, 0, "", "0o40000", "0o100000")
        for one in (said if isinstance(said, list) else [said]))


STRICTER = [
    # text, what it is about: (verdicts of the act, its name, start) -> bool
    ("what appears later in these directories", "late"),
    ("what may be read in these directories by its name", "within"),
    ("the files of processes in /proc cannot be opened", "process"),
    ("what is mounted a second time here", "within"),
    ("these are read-only as a whole", "within"),
    (HIDDEN, "within"),
    ("writes are refused wherever", "writing"),
    ("setuid or setgid bit set", "set-id"),
    ("these cannot be removed or renamed", "moves"),
    ("where something can be written", "attributes"),
    ("may be written below, but not made, removed or renamed", "itself"),
    ("what replaces these directories once removed", "replaced"),
    ("cannot be executed", "replaced"),
    ("cannot be listed", "list"),
    ("devices take no ioctl", "ioctl"),
    ("devices that may take no requests", "device"),
    ("unix datagram sockets are refused", "unix-dgram"),
    ("UDP sockets are refused", "udp"),
    ("IP sockets", "ip"),
    ("files without a name (O_TMPFILE)", "tmpfile"),
    ("files without a name (memfd)", "exec-memfd"),
    ("inode flags cannot be changed", "flags"),
    ("parameters and objects of namespaces", "parameter"),
]


def covers_refused(gaps, act, arguments, asked, start):
    """Is that ACT was refused, though all it asks is allowed, a gap?"""
    paths = [q[1] for q in asked if isinstance(q[1], bytes) and q[1].startswith(b"/")]
    for gap in gaps:
        how = next((how for text, how in STRICTER if text in gap.text), None)
        if gap.kind != "stricter" or how is None:
            continue
        names = gap.paths
        if how in ("late", "replaced"):
            for path in paths:
                parts = [b"/".join(path.split(b"/")[:n]) for n in range(2, path.count(b"/") + 2)]
                if any(is_replaced(part, start) and
                       (os.path.dirname(part) if how == "late" else part) in names
                       for part in parts):
                    return True
        elif how == "process":
            if any(re.match(rb"/proc/\d+(/|$)", path) for path in paths):
                return True
        elif how == "parameter":
            if any(path.startswith(b"/proc/sys/") for path in paths):
                return True
        elif how == "within":
            if any(path == name or path.startswith(name + b"/")
                   for path in paths for name in names):
                return True
        elif how == "moves":  # into and out of them, too
            if act in MOVING and any(path == name or path.startswith(name + b"/")
                                     for path in paths for name in names):
                return True
        elif how == "attributes":
            if act in ATTRIBUTES:
                return True
        elif how == "writing":
            if act in WRITING or any(q[0].startswith("file-write") for q in asked):
                return True
        elif how == "set-id":
            if act in ("open", "open2", "creat", "chmod", "fchmod") and has_set_id(arguments):
                return True
        elif how in ("itself", "list"):
            if any(path in names for path in paths):
                return True
        elif (how == "ioctl" and act in ("device", "openpty") or
              how == "unix-dgram" and (act == "send-unix" or
                                       act.endswith("-unix") and "SOCK_DGRAM" in arguments) or
              how == "unix-dgram" and act == "socket" and "AF_UNIX" in arguments or
              how == act and act in ("tmpfile", "flags", "device", "exec-memfd") or
              how == "udp" and (act == "send" or "SOCK_DGRAM" in arguments) or
              how == "ip" and act in ("socket", "send", "connect", "listen")):
            return True
    return False
