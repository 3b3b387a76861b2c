# SPDX-License-Identifier: Apache-2.0
"""Random arguments of acts, and random policies."""
import os
import random
import re

from differential_asking import TARGETS
from differential_names import ABSENT, FOLDERS, LINKS, ODD, THERE, XATTRS


class Maker:
    """Random arguments."""

    def __init__(self, seed, ports):
        self.random = random.Random(seed)
        self.ports = ports  # tcp, tcp6, udp, and free ones

    def pick(self, *choices):
        return self.random.choice(choices)

    def maybe(self, chance):
        return self.random.random() < chance

    def where(self):
        kind = self.random.choices([THERE, FOLDERS, LINKS, ABSENT, ODD], [10, 4, 3, 5, 3])[0]
        return self.how(self.random.choice(kind))

    def how(self, path):
        return [self.pick("abs", "abs", "rel", "at:w/d", "at:w/d/e"), path]

    def resolve(self):
        """RESOLVE_NO_XDEV, NO_MAGICLINKS, NO_SYMLINKS, BENEATH."""
        return self.pick(0, 0, 1, 2, 4, 8, 8, 4 | 8)

    def folder(self):
        return self.how(self.random.choice(FOLDERS))

    def new(self):
        return self.how(self.random.choice(ABSENT)) if self.maybe(0.6) else self.where()

    def flags(self):
        flags = self.pick(os.O_RDONLY, os.O_RDONLY, os.O_WRONLY, os.O_RDWR)
        if self.maybe(.05):
            return os.O_PATH | self.pick(0, os.O_NOFOLLOW, os.O_DIRECTORY)
        for flag, chance in ((os.O_CREAT, .35), (os.O_EXCL, .15), (os.O_TRUNC, .2),
                             (os.O_APPEND, .2), (os.O_NOFOLLOW, .15), (os.O_DIRECTORY, .1)):
            flags |= flag if self.maybe(chance) else 0
        return flags

    def mode(self):
        return self.pick(0o644, 0o600, 0o640, 0, 0o755, 0o4755 if self.maybe(.2) else 0o666)

    def endpoint(self):
        port = self.random.choice(list(self.ports.values()))
        return [self.pick("127.0.0.1", "127.0.0.1", "::1", "::ffff:127.0.0.1", "127.0.0.2"), port]


# Enough for a worker to live, the two ways to say what it may execute, and nothing of the world.
EXEC_ALL = "(allow process*)"
EXEC_SOME = """(allow process-fork)(allow process-exec* (subpath "/usr") (subpath "/lib")
  (subpath "/lib64"))"""
BASE = """(allow signal (target self))
(allow file-read* (subpath "/usr") (subpath "/lib") (subpath "/lib64") (subpath "/etc")
  (subpath "{tools}") (literal "/"))
(allow file-read-metadata)
"""

# Between the rules of a policy and those of one inside of it; and what a policy needs so that there
# can be one.
INSIDE = "inside"
HOST = """(allow process-fork)(allow process-exec* (literal "{tools}/lapbelt"))
(allow file-read* (literal "{tools}/lapbelt"))(allow file-read* file-write* (literal "/dev/null"))
(allow signal (target self))(allow signal (target same-sandbox))"""
# What makes it ask about a kind of calls.
JUDGED = ['(deny file-read* (regex #"/nobodys$"))', '(deny file-write* (regex #"/nobodys$"))',
          '(deny network-outbound (literal "/nobodys"))',
          '(deny network-outbound (remote tcp "*:9"))', "(deny signal (signal-number SIGUSR2))"]

FILE_OPS = ["file-read*", "file-read-data", "file-read-metadata", "file-read-xattr", "file-write*",
            "file-write-data", "file-write-create", "file-write-unlink", "file-write-mode",
            "file-write-owner", "file-write-times", "file-write-xattr", "file-write-acl",
            "file-write-flags", "file-write-setugid", "file-link", "file-ioctl", "file-lock",
            "file*"]
FILE_WEIGHTS = [8, 6, 2, 1, 8, 5, 5, 5, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
NETWORK_OPS = ["network*", "network-bind", "network-inbound", "network-outbound"]
PLAIN_OPS = ["process-fork", "system-socket", "pseudo-tty", "signal", "ipc-posix-shm*",
             "ipc-posix-sem*", "ipc-posix*", "sysctl-read", "sysctl-write", "file-ioctl"]
MODES = [0o4, 0o111, 0o200, 0o4000]


def show_mode(mode):
    return f"#o{mode:04o}"


class PolicyMaker(Maker):
    """A policy is a list of rules, each a text; {top} stands for the folder of the world."""

    def literal(self):
        return self.random.choice(THERE + FOLDERS + ABSENT + LINKS)

    def pattern(self):
        path = re.sub(r"([].[{}()\\*+?^$|])", r"\\\1", self.literal())
        return self.pick(
            "^{re}/" + path + "$", "^{re}/" + path + "(/|$)", "^{re}/" + path, "^{re}/.*/.env$",
            r"^{re}/(.*/)?\.env$", "^{re}/w/[a-d]$", "^{re}/w/(d|dd|D)(/|$)", "^{re}/.*x$",
            "^{re}/w/[^/]+$", "^{re}/w/d/.*e", "^{re}/.*new[0-9]$", "^{re}/.*/?s(e.*t|ock)$")

    def test(self):
        kind = self.pick("literal", "literal", "subpath", "subpath", "subpath", "prefix", "regex",
                         "regex", "vnode-type", "vnode-type", "file-mode")
        if kind == "file-mode":
            return f"(file-mode {show_mode(self.pick(*MODES))})"
        if kind == "vnode-type":
            return "(vnode-type %s)" % self.pick("REGULAR-FILE", "DIRECTORY", "SYMLINK", "FIFO",
                                                 "SOCKET")
        if kind == "regex":
            return '(regex #"%s")' % self.pattern()
        if kind == "subpath":
            return '(subpath "{top}/%s")' % self.random.choice(FOLDERS[:-2] + THERE[:6])
        path = self.literal()
        return '(%s "{top}/%s")' % (kind, path[:-1] if kind == "prefix" and len(path) > 5 else path)

    def filter(self, depth=2):
        if depth == 0 or self.maybe(.65):
            return self.test()
        kind = self.pick("require-all", "require-any", "require-not")
        count = 1 if kind == "require-not" else self.pick(2, 3)
        return "(%s %s)" % (kind, " ".join(self.filter(depth - 1) for _ in range(count)))

    def file_filter(self):
        """Inside the world only: the worker has to live."""
        text = self.filter()
        return text if text.startswith(("(literal", "(subpath", "(prefix", "(regex")) else \
            '(require-all (subpath "{top}") %s)' % text

    def file_rule(self):
        op = self.random.choices(FILE_OPS, FILE_WEIGHTS)[0]
        verdict = self.pick("allow", "deny")
        if self.maybe(.08) and not (verdict == "deny" and op in ("file-read*", "file-read-data",
                                                                 "file*")):
            return f"({verdict} {op})"
        filters = " ".join(self.file_filter() for _ in range(self.pick(1, 1, 1, 2)))
        if op in ("file-read-xattr", "file-write-xattr") and self.maybe(.5):
            filters = '(require-all (subpath "{top}") (xattr "%s"))' % self.pick(*XATTRS)
        return f"({verdict} {op} {filters})"

    def exec_rule(self):
        op = self.pick("process-exec*", "process-exec*", "process-exec-interpreter")
        path = self.pick('(literal "{top}/w/tool")', '(literal "{top}/w/script")',
                         '(subpath "{top}/w")', '(subpath "{top}/w/empty")', '(subpath "{top}")',
                         '(require-all (subpath "{top}/w") (require-not (literal "{top}/w/tool")))',
                         '(literal "{shell}")', r'(regex #"^{re}/.*tool$")')
        if self.maybe(.1):
            return "(deny process-exec*)" + EXEC_SOME
        return f"({self.pick('allow', 'deny')} {op} {path})"

    def network_rule(self):
        op, verdict = self.random.choice(NETWORK_OPS), self.pick("allow", "deny")
        if self.maybe(.3):
            return f"({verdict} {op})"
        if self.maybe(.5):
            return f"({verdict} {op} {self.file_filter()})"
        host = self.pick("localhost", "*")
        port = self.pick("*", *self.ports.values())
        end = "local" if op in NETWORK_OPS[1:3] else "remote"
        if op == "network-outbound" and self.maybe(.15):
            end = "local"
        protocol = self.pick("ip", "ip", "tcp", "udp", "tcp4", "ip6")
        address = f'({end} {protocol} "{host}:{port}")'
        return f"({verdict} {op} {self.pick(address, address, '(%s unix)' % end)})"

    def plain_rule(self):
        op, verdict = self.random.choice(PLAIN_OPS), self.pick("allow", "deny")
        if op == "signal" and self.maybe(.8):
            return f"({verdict} signal (target {self.pick(*TARGETS, 'same-sandbox')}))"
        if op == "signal" and self.maybe(.5):
            return f"({verdict} signal (signal-number SIGUSR1))"
        if op.startswith("sysctl") and self.maybe(.6):
            return f"""({verdict} {op} {self.pick('(sysctl-name "kernel.ostype")',
                                                  '(sysctl-name-prefix "kernel.")')})"""
        if op.startswith("ipc") and self.maybe(.4):
            return f'({verdict} {op} (ipc-posix-name "{{shm}}{self.pick("n1", "n2")}"))'
        if op == "file-ioctl":
            return f'({verdict} {op} (literal "{self.pick("/dev/random", "/dev/urandom")}"))'
        return f"({verdict} {op})"

    def policies(self):
        """The rules of one policy, and of another one inside of it."""
        judged = [rule for rule in JUDGED if self.maybe(.7)]
        return self.policy() + judged + [HOST, INSIDE] + self.policy()

    def policy(self):
        rules = [self.pick("(allow default)", "(allow default)", "(deny default)")]
        if rules[0] == "(deny default)":
            rules += [self.pick(EXEC_ALL, EXEC_SOME), BASE]
            rules += self.random.sample(
                ["(allow sysctl-read)", '(allow file-read* (subpath "{top}"))', "(allow network*)",
                 '(allow file-write* (subpath "{top}/w"))', "(allow ipc*)", "(allow signal)",
                 '(allow file-read* file-write* (subpath "{top}"))',
                 '(allow file-read* file-write* file-ioctl (subpath "/dev"))(allow pseudo-tty)',
                 '(allow file-read* (subpath "/proc"))'], self.random.randint(1, 5))
        for _ in range(self.random.randint(1, 8)):
            rules.append(self.random.choices(
                [self.file_rule, self.exec_rule, self.network_rule, self.plain_rule],
                [10, 2, 3, 3])[0]())
        return rules
