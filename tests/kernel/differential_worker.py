# SPDX-License-Identifier: Apache-2.0
"""A worker: differential_worker.py TOP does the acts that it reads, and says what came of them."""
import errno
import json
import os
import signal
import sys

from differential_acts import ACTS
from differential_doing import Ended


class Worker:
    def __init__(self, top):
        self.top = top
        self.fds = []

    def path(self, where):
        """WHERE as an argument: (how, path below top). `at` is relative to a descriptor."""
        how, path = where
        if how == "abs":
            return self.top + "/" + path, None
        if how == "rel":
            return os.path.relpath(self.top, self.top + "/w") + "/" + path, None
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

    def serve(self):
        os.umask(0o022)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.chdir(self.top + "/w")
        print(json.dumps(["ready", os.getpid()]), flush=True)
        for line in sys.stdin:
            name, arguments, stop = json.loads(line)
            result = json.dumps(self.run(name, arguments, stop))
            print(result.replace(json.dumps(self.top)[1:-1], "TOP"), flush=True)


if __name__ == "__main__":
    Worker(sys.argv[1]).serve()
