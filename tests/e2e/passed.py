#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""passed.py here|third SOCKET… -- ACT… -- OPTION…: what comes of acts on sockets passed to a run.

$LAPBELT gets OPTIONs, and the sockets, which are of our network or of a third one, neither ours nor
the run's. SOCKETs and ACTs are of Python; an act knows the sockets as s[0], s[1]… and a server
beside them by its port. For each act `done` or the number of its error is printed.
"""

import ctypes
import fcntl
import os
import struct
import subprocess
import sys
from socket import *  # SOCKETs may use any of it

NEWUSER, NEWNET, SIOCSIFFLAGS, UP = 0x10000000, 0x40000000, 0x8914, 0x41

INSIDE = """
import sys
from socket import *
port, numbers, *acts = sys.argv[1:]
port, s = int(port), [socket(fileno=int(number)) for number in numbers.split(",")]
def what_comes_of(act):
    try:
        exec(act)
        return "done"
    except OSError as e:
        return e.errno
print(*map(what_comes_of, acts))
"""


def bound():
    made = socket()
    made.bind(("127.0.0.1", 0))
    return made


def make(texts):
    """The sockets, a server, and its port."""
    made = [eval(text) for text in texts]
    server = create_server(("127.0.0.1", 0))
    return made, server, server.getsockname()[1]


def make_elsewhere(texts):
    """As make(), in a network that lives until the second of what is returned is closed."""
    here, there = socketpair(AF_UNIX, SOCK_SEQPACKET)
    if os.fork() == 0:
        here.close()
        if ctypes.CDLL(None).unshare(NEWUSER | NEWNET) != 0:
            os._exit(1)
        fcntl.ioctl(socket(), SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", UP))
        made, _server, port = make(texts)
        name = socket(AF_UNIX)
        name.bind("\0lapbelt-third-network")
        name.listen()
        send_fds(there, [struct.pack("H", port)], [s.fileno() for s in made])
        there.recv(1)
        os._exit(0)
    there.close()
    port, numbers, _, _ = recv_fds(here, 2, len(texts))
    return [socket(fileno=number) for number in numbers], here, struct.unpack("H", port)[0]


def main(where, *words):
    sockets, rest = words[:words.index("--")], words[words.index("--") + 1:]
    acts, options = rest[:rest.index("--")], rest[rest.index("--") + 1:]
    made, _held, port = {"here": make, "third": make_elsewhere}[where](sockets)
    numbers = [s.fileno() for s in made]
    passed = [f"--pass-fd={number}" for number in numbers]
    subprocess.run([os.environ["LAPBELT"], *options, *passed, "--", "python3", "-c", INSIDE,
                    str(port), ",".join(map(str, numbers)), *acts], pass_fds=numbers, check=True)


main(*sys.argv[1:])
