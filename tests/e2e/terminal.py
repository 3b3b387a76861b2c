#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terminal.py SCENARIO LAPBELT_COMMAND...

Plays a person at a terminal. LAPBELT_COMMAND is what to put before a command to run it under
lapbelt. Exits 0 if the scenario goes as a person expects. Of the list of attacks: A053, A128.
"""
import fcntl
import os
import pty
import select
import shlex
import signal
import struct
import sys
import termios
import time

PATIENCE = 20


class Terminal:
    """A program on a pseudo-terminal of its own."""

    def __init__(self, argv):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # A background job of a script ignores them.
            for number in signal.SIGINT, signal.SIGQUIT:
                signal.signal(number, signal.SIG_DFL)
            os.execvp(argv[0], argv)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, text):
        """Reads until text has been seen; forgets everything up to it."""
        end = time.monotonic() + PATIENCE
        wanted = text.encode()
        while wanted not in self.seen:
            if not self.read_some(end - time.monotonic()):
                sys.exit(f"'{text}' did not come; seen: {self.seen!r}")
        self.seen = self.seen.split(wanted, 1)[1]

    def read_some(self, seconds):
        if not select.select([self.fd], [], [], max(seconds, 0))[0]:
            return False
        try:
            data = os.read(self.fd, 4096)
        except OSError:
            data = b""
        self.seen += data
        return bool(data)

    def status(self):
        """The exit status, as a shell shows it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.read_some(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        os.kill(self.pid, signal.SIGKILL)
        sys.exit(f"it does not end; seen: {self.seen!r}")


def demand(got, wanted):
    if got != wanted:
        sys.exit(f"got {got!r}, not {wanted!r}")


def interrupt(lapbelt):
    """Ctrl-C reaches the command, and lapbelt ends as the command does."""
    script = 'trap "echo got-int; exit 9" INT; echo ready; while :; do sleep 0.1; done'
    terminal = Terminal(lapbelt + ["sh", "-c", script])
    terminal.expect("ready")
    terminal.type("\x03")
    terminal.expect("got-int")
    demand(terminal.status(), 9)


def interrupt_default(lapbelt):
    """Ctrl-C ends a command that does not catch it."""
    terminal = Terminal(lapbelt + ["sh", "-c", "echo ready; exec sleep 60"])
    terminal.expect("ready")
    terminal.type("\x03")
    demand(terminal.status(), 130)


def interrupt_interpreter(lapbelt):
    """Ctrl-C in an interpreter gives back its prompt."""
    terminal = Terminal(lapbelt + ["python3", "-q", "-i"])
    terminal.expect(">>> ")
    terminal.type("import time; print('rea' + 'dy'); time.sleep(60)\n")
    terminal.expect("ready")
    # Python looks for signals, then sleeps: what comes between the two waits, outside as well.
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.expect("KeyboardInterrupt")
    terminal.type("print(40 + 2)\n")
    terminal.expect("42")
    terminal.type("exit(3)\n")
    demand(terminal.status(), 3)


def modes(lapbelt):
    """A128: what a command does to the terminal ends with it."""
    change = shlex.join(["stty", "-echo", "-icanon", "-isig"])
    text = "before=$(stty -g); {}; [ \"$before\" = \"$(stty -g)\" ] && echo same || echo other"
    Terminal(["sh", "-c", text.format(change)]).expect("other")
    Terminal(["sh", "-c", text.format(shlex.join(lapbelt + ["sh", "-c", change]))]).expect("same")
    Terminal(["sh", "-c", text.format(shlex.join(lapbelt + ["sh", "-c", change + "; kill -KILL $$"]))]).expect("same")


def suspend(lapbelt):
    """Ctrl-Z gives back the shell that started lapbelt; fg goes on."""
    shell = Terminal(["bash", "--norc", "--noprofile", "-i"])
    shell.type("PS1='$ '\n")
    shell.type(shlex.join(lapbelt + ["sh", "-c", "echo rea''dy; exec cat"]) + "\n")
    shell.expect("ready")
    shell.type("\x1a")
    shell.expect("Stopped")
    shell.type("echo back$((40 + 2))\n")
    shell.expect("back42")
    shell.type("fg\n")
    shell.expect("exec cat")
    time.sleep(0.5)
    shell.type("twice\n")
    shell.expect("twice")
    shell.expect("twice")
    shell.type("\x04")
    shell.type("echo end$((40 + 2))\n")
    shell.expect("end42")
    shell.type("exit 0\n")
    demand(shell.status(), 0)


def window_size(lapbelt):
    """The command sees the size of the window, and when it changes."""
    script = (
        'trap "stty size; exit 0" WINCH; read line; stty size; echo ready; '
        "while :; do sleep 0.1; done"
    )
    terminal = Terminal(lapbelt + ["sh", "-c", script])
    terminal.resize(40, 123)
    terminal.type("\n")
    terminal.expect("40 123")
    terminal.expect("ready")
    terminal.resize(41, 124)
    terminal.expect("41 124")
    demand(terminal.status(), 0)


def controlling_terminal(lapbelt):
    """/dev/tty is the terminal, and the command knows that it is on one."""
    script = "test -t 0 && test -t 1 && echo through >/dev/tty && read x </dev/tty && echo got $x"
    terminal = Terminal(lapbelt + ["sh", "-c", script])
    terminal.expect("through")
    terminal.type("word\n")
    terminal.expect("got word")
    demand(terminal.status(), 0)


def standard_names(lapbelt):
    """The names of the three standard descriptors open the terminal."""
    script = "echo out >/dev/stdout && echo err >/dev/stderr && read x </dev/stdin && echo got $x"
    terminal = Terminal(lapbelt + ["sh", "-c", script])
    terminal.expect("out")
    terminal.expect("err")
    terminal.type("word\n")
    terminal.expect("got word")
    demand(terminal.status(), 0)


def terminal_inside(lapbelt):
    """A terminal made by the command is a controlling terminal too."""
    script = (
        "import os, pty, sys; "
        "status = pty.spawn(['sh', '-c', 'read x </dev/tty; echo got $x; exit 6']); "
        "sys.exit(os.waitstatus_to_exitcode(status))"
    )
    terminal = Terminal(lapbelt + ["python3", "-c", script])
    time.sleep(0.5)
    terminal.type("word\n")
    terminal.expect("got word")
    demand(terminal.status(), 6)


def job_control(lapbelt):
    """An interactive shell inside has its own jobs."""
    shell = Terminal(lapbelt + ["bash", "--norc", "--noprofile", "-i"])
    shell.type("PS1='$ '\n")
    shell.type("sh -c 'echo rea\"\"dy; exec sleep 60'\n")
    shell.expect("ready")
    shell.type("\x1a")
    shell.expect("Stopped")
    # To wait(1) for a job that is known as stopped ends at once, whatever it has become.
    shell.type('kill -KILL %1; while [ -n "$(jobs -s)" ]; do sleep 0.1; done; echo end$((40 + 2))\n')
    shell.expect("end42")
    shell.type("exit 4\n")
    demand(shell.status(), 4)


SCENARIOS = {
    "interrupt": interrupt,
    "interrupt-default": interrupt_default,
    "interrupt-interpreter": interrupt_interpreter,
    "suspend": suspend,
    "window-size": window_size,
    "controlling-terminal": controlling_terminal,
    "standard-names": standard_names,
    "terminal-inside": terminal_inside,
    "job-control": job_control,
    "modes": modes,
}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]](sys.argv[2:])
