# SPDX-License-Identifier: Apache-2.0
"""A worker: differential_worker.py TOP does the acts that it reads, lists of them, and says what came
of each."""
import errno
import marshal
import os
import signal
import sys

from differential_acts import ACTS
from differential_doing import Ended


class Worker:
    def __init__(self, top):
        self.top = top
        self.fds = []
        os.umask(0o022)
        os.chdir(top + "/w")

    def path(self, where):
        """WHERE as an argument: (how, path below top). `at` is relative to a descriptor."""
        how, path = where
        if how == "abs":
            return self.top + "/" + path, None
        if how == "rel":
            return "../" + path, None
        fd = os.open(self.top + "/" + how[3:], os.O_PATH | os.O_DIRECTORY)
        self.fds.append(fd)
        return "../" * (how.count("/") + 1) + path, fd

    def run(self, name, arguments, stop):
        """What comes of it: [ok, value], [stopped] or [error, stage, what]."""
        act = ACTS[name].do(self, *arguments)
        stage = 0
        try:
            while stage != stop:
                next(act)
                stage += 1
            return ["stopped"]
        except StopIteration as end:
            return ["ok", end.value]
        except OSError as e:
            return ["error", stage, errno.errorcode.get(e.errno, str(e.errno))]
        except Ended as e:
            return ["error", stage, str(e)]
        finally:
            act.close()
            for fd in self.fds:
                os.close(fd)
            self.fds = []

    def answer(self, name, arguments, stop=-1):
        """The same with {top} as it is called everywhere."""
        return self.common(self.run(name, arguments, stop))

    def common(self, said):
        if isinstance(said, str):
            return said.replace(self.top, "TOP")
        return [self.common(one) for one in said] if isinstance(said, list) else said

    def serve(self):
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        with open(0, "rb") as acts, open(1, "wb") as answers:
            marshal.dump([["ready", os.getpid()]], answers)
            answers.flush()
            while True:
                marshal.dump([self.answer(*act) for act in marshal.load(acts)], answers)
                answers.flush()


if __name__ == "__main__":
    try:
        Worker(sys.argv[1]).serve()
    except EOFError:
        os._exit(0)  # there is nothing to tidy up
