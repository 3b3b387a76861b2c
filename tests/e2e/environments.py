#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""environments.py LAPBELT AROUND root|user [ENVIRONMENT...]

The same policy gives the same answers wherever lapbelt has to run: in containers, in other
sandboxes, without user namespaces. Each environment is tried with one policy for `exec` and with
the default one of `run`, by one process inside that does all acts.

Acts that are denied inside must come through in the same environment without lapbelt.
"""
import ctypes
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import typing

# mv(1) copies after EXDEV, which is denied as well.
DENIALS = (errno.EPERM, errno.EACCES, errno.EROFS, errno.EXDEV)
GONE = 2  # seconds until a peer must have seen the end

# --- acts: functions of the world's folder; each makes or finds its own files in it ---------------


def write(path, flags=0):
    fd = os.open(path, os.O_WRONLY | flags, 0o644)
    os.write(fd, b"x\n")
    os.close(fd)


def create(path):
    write(path, os.O_CREAT | os.O_EXCL)
    os.unlink(path)


def on_descriptor(path, flags, act):
    fd = os.open(path, flags)
    try:
        act(fd)
    finally:
        os.close(fd)


def umask_counts(path):
    old = os.umask(0o077)
    write(path, os.O_CREAT)
    mode = os.stat(path).st_mode & 0o777
    os.umask(old)
    assert mode == 0o600, oct(mode)


def reopen(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.unlink(path)
    os.close(os.open(f"/proc/self/fd/{fd}", os.O_RDWR))


def run(*argv):
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(argv[0], argv)
        except OSError as e:
            os._exit(e.errno)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        raise OSError(status, os.strerror(status))


def fifo(path):
    os.mkfifo(path)
    if os.fork() == 0:
        time.sleep(0.1)
        write(path)
        os._exit(0)
    with open(path) as f:
        assert f.read() == "x\n"
    os.wait()


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.connect(address)


def serve(family, address):
    """Listens, connects to itself, and each end sees when the other closes."""
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.bind(address)
        name = s.getsockname()
        s.listen()
        client = socket.socket(family, socket.SOCK_STREAM)
        client.connect(name)
        accepted, _ = s.accept()
        accepted.settimeout(GONE)
        client.sendall(b"x")
        assert accepted.recv(1) == b"x"
        client.close()
        assert accepted.recv(1) == b"", "the peer does not see the end"
        accepted.close()
        s.close()
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(GONE)
        try:
            s.connect(name)
        except ConnectionRefusedError:
            return
        raise AssertionError("somebody still listens")


def serve_unix(path):
    serve(socket.AF_UNIX, path)
    os.unlink(path)


def without_waiting(port):
    """A connection that is under way, asked about the way programs do."""
    with socket.socket() as s:
        s.setblocking(False)
        error = s.connect_ex(("127.0.0.1", port))
        if error == errno.EINPROGRESS:
            time.sleep(0.2)
            error = s.connect_ex(("127.0.0.1", port))
        if error not in (0, errno.EISCONN):
            raise OSError(error, os.strerror(error))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def bind_again(_folder):
    port = free_port()
    with socket.socket() as s:
        s.bind(("127.0.0.1", port))


def many_sockets(port):
    for _ in range(2000):
        socket.socket(socket.AF_UNIX).close()
    connect(socket.AF_INET, ("127.0.0.1", port))


def by_thread(act):
    failed = []

    def body():
        try:
            act()
        except OSError as e:
            failed.append(e)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def kill_child(how):
    pid = os.fork()
    if pid == 0:
        signal.pause()
    how(pid)
    assert os.waitpid(pid, 0)[1] == signal.SIGTERM


def kill_by_pidfd(pid):
    signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGTERM)


def pty_of_our_own(_folder):
    master, slave = os.openpty()
    os.close(os.open(os.ttyname(slave), os.O_RDWR | os.O_NOCTTY))


def read(path):
    """What is hidden from root is there for it, and empty."""
    try:
        with open(path) as f:
            if not f.read():
                raise PermissionError(errno.EACCES, "it is empty", path)
    except FileNotFoundError as e:
        raise PermissionError(errno.EACCES, "it is hidden", path) from e


def facts(folder, name):
    with open(f"{folder}/facts") as f:
        return int(dict(line.split() for line in f)[name])


def at(act, name, *more):
    """ACT with NAME, and other names among MORE, as paths below the home directory."""
    def go(folder):
        act(f"{folder}/home/{name}", *(f"{folder}/home/{a}" if isinstance(a, str) else a for a in more))

    return go


def there_and_back(path, other):
    os.rename(path, other)
    os.rename(other, path)


def link(path, other):
    os.link(path, other)
    os.unlink(other)


def chmod_descriptor(fd):
    os.fchmod(fd, 0o640)


ALLOW, DENY = "allow", "deny"
# what, act, under the profile of exec, under the default policy of run (None: not asked)
ACTS = (
    ("read a file", at(read, "ws/f"), ALLOW, ALLOW),
    ("read a secret", at(read, ".ssh/id"), DENY, DENY),
    ("read a secret by name", at(read, "ws/a.env"), DENY, ALLOW),
    ("read in a thread", lambda d: by_thread(lambda: read(f"{d}/home/ws/a.env")), DENY, ALLOW),
    ("write a file", at(write, "ws/f"), ALLOW, ALLOW),
    ("write outside", at(write, "other/f"), DENY, DENY),
    ("create", at(create, "ws/new"), ALLOW, ALLOW),
    ("create outside", at(create, "other/new"), DENY, DENY),
    ("create a protected name", at(create, "ws/.envrc"), DENY, DENY),
    ("create below one", at(create, "ws/.vscode/new"), DENY, DENY),
    ("make a directory", at(lambda p: (os.mkdir(p), os.rmdir(p)), "ws/dir"), ALLOW, ALLOW),
    ("remove a file", at(lambda p: (write(p, os.O_CREAT), os.unlink(p)), "ws/gone"), ALLOW, ALLOW),
    ("remove a file outside", at(os.unlink, "other/gone"), DENY, DENY),
    ("rename", at(there_and_back, "ws/r", "ws/s"), ALLOW, ALLOW),
    ("rename to a protected name", at(there_and_back, "ws/r", "ws/.envrc"), DENY, DENY),
    ("rename out", at(there_and_back, "ws/r", "other/r"), DENY, DENY),
    ("link", at(link, "ws/f", "ws/l"), ALLOW, ALLOW),
    ("link out", at(link, "ws/f", "other/l"), DENY, DENY),
    ("symlink to a protected name", at(lambda p: os.symlink("f", p), "ws/.envrc"), DENY, DENY),
    ("truncate", at(lambda p: os.truncate(p, 2), "ws/f"), ALLOW, ALLOW),
    ("truncate outside", at(lambda p: os.truncate(p, 2), "other/f"), DENY, DENY),
    ("chmod", at(lambda p: os.chmod(p, 0o640), "ws/f"), ALLOW, ALLOW),
    ("chmod outside", at(lambda p: os.chmod(p, 0o640), "other/f"), DENY, DENY),
    ("fchmod", at(on_descriptor, "ws/f", os.O_RDONLY, chmod_descriptor), ALLOW, ALLOW),
    ("fchmod outside", at(on_descriptor, "other/f", os.O_RDONLY, chmod_descriptor), DENY, DENY),
    ("fchown", at(on_descriptor, "ws/f", os.O_RDONLY, lambda fd: os.fchown(fd, -1, -1)),
     ALLOW, ALLOW),
    ("futimens", at(on_descriptor, "ws/f", os.O_RDONLY, os.utime), ALLOW, ALLOW),
    ("utimes outside", at(os.utime, "other/f"), DENY, DENY),
    ("umask", at(umask_counts, "ws/masked"), ALLOW, ALLOW),
    ("open once more what has no name", at(reopen, "ws/nameless"), ALLOW, ALLOW),
    ("a fifo", at(fifo, "ws/fifo"), ALLOW, ALLOW),
    ("a pseudo-terminal", pty_of_our_own, ALLOW, ALLOW),
    ("execute", lambda d: run("/bin/true"), ALLOW, ALLOW),
    ("execute what is denied", at(run, "ws/denied.sh"), DENY, ALLOW),
    ("connect", lambda d: connect(socket.AF_INET, ("127.0.0.1", facts(d, "open"))), ALLOW, None),
    ("connect to a denied port", lambda d: connect(socket.AF_INET, ("127.0.0.1", facts(d, "shut"))),
     DENY, None),
    ("the same mapped", lambda d: connect(socket.AF_INET6, ("::ffff:127.0.0.1", facts(d, "shut"))),
     DENY, None),
    ("connect without waiting", lambda d: without_waiting(facts(d, "open")), ALLOW, None),
    ("listen", lambda d: serve(socket.AF_INET, ("127.0.0.1", 0)), ALLOW, None),
    ("bind a port twice", bind_again, ALLOW, None),
    ("bind a denied port", lambda d: socket.socket().bind(("127.0.0.1", facts(d, "port"))), DENY, None),
    ("many sockets", lambda d: many_sockets(facts(d, "open")), ALLOW, None),
    ("connect to a socket", at(lambda p: connect(socket.AF_UNIX, p), "ws/sock"), ALLOW, ALLOW),
    ("connect to a socket outside", at(lambda p: connect(socket.AF_UNIX, p), "other/sock"), DENY, DENY),
    ("listen on a socket", at(serve_unix, "ws/own"), ALLOW, ALLOW),
    ("listen on a socket outside", at(serve_unix, "other/own"), DENY, DENY),
    ("signal a child", lambda d: kill_child(lambda pid: os.kill(pid, signal.SIGTERM)), ALLOW, ALLOW),
    ("signal a child by descriptor", lambda d: kill_child(kill_by_pidfd), ALLOW, ALLOW),
    ("signal outside", lambda d: os.kill(facts(d, "pid"), 0), DENY, None),
    ("signal outside by descriptor",
     lambda d: signal.pidfd_send_signal(os.pidfd_open(facts(d, "pid")), 0), DENY, None),
)


def outcome(act, folder):
    try:
        act(folder)
    except OSError as e:
        return DENY if e.errno in DENIALS else f"error {e}"
    except AssertionError as e:
        return f"wrong: {e}"
    return ALLOW


def worker(folder):
    for what, act, *_ in ACTS:
        print(f"{outcome(act, folder)}\t{what}", flush=True)


PROFILE = """(version 1)
(allow default)
(deny file-read-data (subpath "{home}/.ssh") (regex "\\\\.env$"))
(deny file-write* (subpath "{home}"))
(allow file-write* (subpath "{home}/ws"))
(deny file-write* (regex "/\\\\.(envrc|vscode)(/|$)"))
(deny process-exec (literal "{home}/ws/denied.sh"))
(deny network-outbound (remote ip "localhost:{shut}") (subpath "{home}/other"))
(deny network-bind (local ip "*:{port}") (subpath "{home}/other"))
(deny signal (target others))
"""


# --- the world ------------------------------------------------------------------------------------


class World:
    def __init__(self, parent, owner):
        self.owner = owner
        self.folder = tempfile.mkdtemp(prefix="lapbelt-environments.", dir=parent)
        self.home = f"{self.folder}/home"
        os.chmod(self.folder, 0o755)
        self.servers = []
        self.port = free_port()
        self.shut = self.listen(socket.AF_INET, ("127.0.0.1", 0))
        self.open = self.listen(socket.AF_INET, ("127.0.0.1", 0))
        self.fresh()

    def listen(self, family, address):
        server = socket.socket(family)
        server.bind(address)
        server.listen(64)
        self.servers.append(server)
        return server.getsockname()[1] if family == socket.AF_INET else None

    def fresh(self):
        shutil.rmtree(self.home, ignore_errors=True)
        for name in ("ws/.vscode", ".ssh", "other"):
            os.makedirs(f"{self.home}/{name}")
        for name in (".ssh/id", "ws/f", "ws/r", "ws/a.env", "other/f", "other/gone"):
            with open(f"{self.home}/{name}", "w") as f:
                f.write("content\n")
        with open(f"{self.home}/ws/denied.sh", "w") as f:
            f.write("#!/bin/sh\nexit 0\n")
        os.chmod(f"{self.home}/ws/denied.sh", 0o755)
        while len(self.servers) > 2: # from before
            self.servers.pop().close()
        for name in ("ws/sock", "other/sock"):
            self.listen(socket.AF_UNIX, f"{self.home}/{name}")
        with open(f"{self.folder}/facts", "w") as f:
            for name in ("port", "shut", "open"):
                f.write(f"{name} {getattr(self, name)}\n")
        shutil.copy(__file__, f"{self.folder}/acts.py")
        if self.owner is not None:
            for folder, folders, files in os.walk(self.folder):
                for name in (".", *folders, *files):
                    os.lchown(f"{folder}/{name}", self.owner, self.owner)

    def close(self):
        for server in self.servers:
            server.close()
        shutil.rmtree(self.folder)


def host(folder, *argv):
    """In the environment, outside of the sandbox: a process to be left alone, and the command."""
    outsider = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with open(f"{folder}/facts", "a") as f:
        f.write(f"pid {outsider.pid}\n")
    try:
        return subprocess.run(argv).returncode
    finally:
        outsider.kill()
        outsider.wait()


def answers(around, sandbox, world):
    """Does the acts in SANDBOX in the environment AROUND. (answers by act, status, what it says)."""
    world.fresh()
    python = ["/usr/bin/python3", f"{world.folder}/acts.py"]
    env = {"HOME": world.home, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    env |= {name: os.environ[name] for name in ["LAPBELT_LANE"] if name in os.environ}
    done = subprocess.run(
        [*around, *python, "host", world.folder, *sandbox, *python, "worker", world.folder],
        cwd=f"{world.home}/ws", env=env, stdin=subprocess.DEVNULL, timeout=60,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [line.split("\t", 1) for line in done.stdout.splitlines()]
    return {what: answer for answer, what in lines}, done.returncode, done.stderr


# --- environments ---------------------------------------------------------------------------------

ORDINARY = 12345
SHELL = ["sh", "-ec"]


def shell(text):
    return [*SHELL, text + '\nexec "$@"', "sh"]


def mounted(text):
    return ["unshare", "-m", *shell(text)]


NEW_ROOT = "mount -t tmpfs tmpfs /run\nmkdir /run/lapbelt-root\nmount --rbind / /run/lapbelt-root"
CLONE_NEWNS = 0x20000
NO_LANDLOCK = "Landlock"
NO_LISTENER = "a seccomp listener: there can be one only, and an outer sandbox has it"


# Mounts hold what is there, and nobody judges sockets.
BY_MOUNTS = {what: ALLOW for what in (
    "create a protected name", "rename to a protected name",
    "symlink to a protected name", "connect to a socket outside")}
BY_MOUNTS |= {what: DENY for what in (
    "connect", "connect without waiting", "listen", "bind a port twice", "many sockets")}


class Environment(typing.NamedTuple):
    name: str
    around: list = []  # how a command is started in it; {world} is the world's folder
    options: list = []  # of ours
    on: str = "disk"  # the file system of the world
    refused: str = ""  # what is said where it is refused
    needs_root: bool = False  # to be made
    otherwise: dict = {}  # answers that gaps tell of, by act

    @property
    def short(self):
        """Its name without the number of a report."""
        return self.name.rpartition(": ")[2]

    def prefix(self, world, lapbelt, around, owner):
        """The command that runs another here, as OWNER (None: as we are)."""
        who = []
        if owner is not None:
            who = ["setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups"]
        words = [word.replace("{world}", world).replace("{around}", around).replace("{lapbelt}", lapbelt)
                 for word in self.around]
        return [*words, *who] if self.needs_root else [*who, *words]


CHROOT = [*SHELL, 'd=$PWD; exec chroot /run/lapbelt-root sh -c \'cd "$0" && exec "$@"\' "$d" "$@"', "sh"]

ENVIRONMENTS = (
    Environment("plain"),
    Environment("as if there were no user namespaces", options=["--no-userns"]),
    Environment("R116: no user namespaces left",
                ["unshare", "-Ur", *shell("echo 0 >/proc/sys/user/max_user_namespaces")]),
    Environment("R116: Docker's filter", ["{around}", "docker"]),
    Environment("the filter of older containers", ["{around}", "strict"]),
    Environment("a listener of somebody else's", ["{around}", "listener"], refused=NO_LISTENER),
    Environment("a listener of somebody else's, gaps reported", ["{around}", "listener"],
                options=["--gaps=report"], otherwise=BY_MOUNTS),
    Environment("R118: no mounting", ["{around}", "unmounted"]),
    Environment("R119: no leaving a group of mounts", ["{around}", "attached"]),
    Environment("R055: no Landlock", ["{around}", "no-landlock"], refused=NO_LANDLOCK),
    Environment("R121: neither Landlock nor namespaces", ["{around}", "plain"], refused=NO_LANDLOCK),
    Environment("bwrap", ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev"]),
    Environment("bwrap with devices and processes of its own",
                ["bwrap", "--ro-bind", "/", "/", "--bind", "/tmp", "/tmp", "--bind", "{world}", "{world}",
                 "--dev", "/dev", "--unshare-pid", "--proc", "/proc", "--tmpfs", "/run"]),
    Environment("lapbelt", ["{lapbelt}", "exec", "--nestable", "-p", "(version 1)(allow default)", "--"]),
    Environment("R124: a chroot", [*mounted(NEW_ROOT), *CHROOT], needs_root=True),
    Environment("hidden processes", mounted("mount -t proc -o hidepid=2 proc /proc"), needs_root=True),
    Environment("a file system in memory", on="tmpfs", needs_root=True),
    Environment("an overlay", on="overlay", needs_root=True),
)


def make_file_systems(base):
    """In a mount namespace of our own."""
    for name in ("disk", "tmpfs", "overlay", "lower", "upper", "work"):
        os.mkdir(f"{base}/{name}")
    if os.geteuid() != 0:
        return
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for command in ("mount --make-rprivate /", "mount -t tmpfs tmpfs tmpfs",
                    "mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay"):
        subprocess.run(command.split(), cwd=base, check=True)


# --- judging --------------------------------------------------------------------------------------


def report(tap, what, complaints):
    tap.check(not complaints, what, "\n".join(complaints))


def differences(wanted, found):
    if not found:
        return ["nothing was done"]
    return [f"{what}: {found.get(what, 'not done')}, not {answer}"
            for what, answer in wanted.items() if answer and found.get(what) != answer]


def judge(environment, wanted, result):
    found, status, text = result
    if not environment.refused:
        complaints = differences(wanted, found)
    else:
        complaints = [] if status == 71 and not found else [f"status {status}, not refused"]
        complaints += [] if environment.refused in text else ["it does not say why"]
    return complaints + (text.splitlines() if complaints else [])


def try_one(tap, base, environment, lapbelt, around, owner):
    name = environment.name
    world = World(f"{base}/{environment.on}", owner)
    profile = PROFILE.format(home=world.home, shut=world.shut, port=world.port)
    sandboxes = (("exec", ["exec", *environment.options, "-p", profile], 2),
                 ("run", ["run", *environment.options, "--"], 3))
    prefix = environment.prefix(world.folder, lapbelt, around, owner)
    try:
        found, _, text = answers(prefix, [], world)
        complaints = differences({act[0]: ALLOW for act in ACTS}, found)
        report(tap, f"{name}: without lapbelt", complaints + (text.splitlines() if complaints else []))
        for sandbox, argv, column in sandboxes:
            wanted = {act[0]: act[column] and environment.otherwise.get(act[0], act[column])
                      for act in ACTS}
            report(tap, f"{name}: {sandbox}", judge(environment, wanted,
                                                    answers(prefix, [lapbelt, *argv], world)))
    finally:
        world.close()


def in_each(tap, wanted, act):
    """ACT(tap, base, environment) in all that are WANTED. The exit status of the program."""
    root = os.geteuid() == 0
    base = tempfile.mkdtemp(prefix="lapbelt-environments.", dir="/var/tmp")
    os.chmod(base, 0o755)
    make_file_systems(base)
    try:
        for environment in filter(wanted, ENVIRONMENTS):
            if environment.needs_root and not root:
                tap.skip(environment.name, "only root can make it")
            else:
                act(tap, base, environment)
    finally:
        if root:
            subprocess.run(["umount", "tmpfs", "overlay"], cwd=base, check=True)
        shutil.rmtree(base)
    return tap.done()


def main(lapbelt, around, kind, *names):
    # The copy that does the acts has no need of it, and does not find it.
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)) + "/../lib")
    from tap import Tap

    lapbelt, around = map(os.path.abspath, (lapbelt, around))
    root = os.geteuid() == 0
    if kind == "root" and not root:
        print("1..0 # SKIP only root can run this as root")
        return "LAPBELT_MUST_WORK" in os.environ
    owner = ORDINARY if kind == "user" and root else None
    return in_each(
        Tap(), lambda environment: not names or environment.short in names,
        lambda tap, base, environment: try_one(tap, base, environment, lapbelt, around, owner))


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        worker(sys.argv[2])
    elif sys.argv[1] == "host":
        sys.exit(host(*sys.argv[2:]))
    else:
        sys.exit(main(*sys.argv[1:]))
