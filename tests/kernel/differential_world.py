# SPDX-License-Identifier: Apache-2.0
"""The world that acts are done in: files, and a listener."""
import collections
import os
import shutil
import socket
import stat
import time

from differential_names import THERE, shm_path

# The kernel's clock for the times of files goes in steps, of 10 ms at most: a change after a look has
# another time than what was changed longer than that before the look.
SLACK = 20_000_000

Look = collections.namedtuple("Look", "picture inodes")  # by path: below TOP, and absolute


def write_file(path, text="text\n", mode=0o644):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    os.write(fd, text.encode())
    os.close(fd)


# Made in other ways.
OTHERS = ("w/fifo", "w/hard", "w/d/hard2", "w/s/sock", "w/tool", "w/script", "w/script2")


class World:
    """Files and listeners below TOP/w and TOP/o."""

    def __init__(self, top):
        self.top = top
        self.bytes = os.fsencode(top)
        self.shm = [(b"SHM" + name, os.fsencode(shm_path(top, "")) + name)
                    for name in (b"n1", b"n2")]
        self.known = {}  # what inodes were like, by their status
        self.sockets = []
        for folder in ("", "/w", "/w/d", "/w/d/e", "/w/empty", "/w/D", "/w/s", "/o", "/o/p"):
            os.mkdir(top + folder, 0o755)
        for name in THERE:
            if name not in OTHERS:
                write_file(top + "/" + name, name.encode("utf8", "surrogateescape").hex() + "\n")
        for name, text in (("alias", "../o/secret"), ("rel", "d/x"), ("dlink", "d"),
                           ("loop", "loop"), ("dangling", "new1"), ("out", top + "/o")):
            os.symlink(text, top + "/w/" + name)
        os.symlink(top + "/w/d", top + "/o/in")
        os.link(top + "/o/secret", top + "/w/hard")
        os.link(top + "/w/a", top + "/w/d/hard2")
        os.mkfifo(top + "/w/fifo", 0o644)
        shutil.copyfile("/bin/true", top + "/w/tool")
        os.chmod(top + "/w/tool", 0o755)
        write_file(top + "/w/script", "#!/bin/sh\nexit 0\n", 0o755)
        write_file(top + "/w/script2", "#!./tool\n", 0o755)
        os.setxattr(top + "/w/d/x", "user.k", b"there")
        write_file(shm_path(top, "n1"))
        s = socket.socket(socket.AF_UNIX)
        here = os.open(".", os.O_PATH)
        os.chdir(top + "/w/s")
        s.bind("sock")
        os.fchdir(here)
        os.close(here)
        s.listen(64)
        s.setblocking(False)
        self.sockets.append(s)

    def close(self):
        for s in self.sockets:
            s.close()
        for name in ("n1", "n2"):
            if os.path.exists(shm_path(self.top, name)):
                os.unlink(shm_path(self.top, name))
        for folder, folders, _ in os.walk(self.top):
            for name in folders:
                if not os.path.islink(os.path.join(folder, name)):
                    os.chmod(os.path.join(folder, name), 0o755)
        shutil.rmtree(self.top)

    def look(self):
        """All that is there now. What the time of an inode's last change shows to be as it was is not
        read again."""
        picture, inodes = {}, {}
        before = time.time_ns() - SLACK
        todo = [(b"TOP", self.bytes)] + self.shm
        while todo:
            short, path = todo.pop()
            try:
                found = os.lstat(path)
            except FileNotFoundError:
                continue  # in shared memory
            except OSError as e:
                picture[short] = e.errno  # a folder that may be listed and not searched
                continue
            inodes[path] = found.st_ino
            stamp = found[:7], found.st_ctime_ns
            known = self.known.get(stamp)
            if known is None:
                known = self.describe(path, found)
                if found.st_ctime_ns < before:
                    self.known[stamp] = known
            picture[short], names = known
            todo += [(short + name, path + name) for name in names]
        return Look(picture, inodes)

    def describe(self, path, found):
        """What can be compared with another world, and the names in a folder."""
        said, names = [oct(found.st_mode), found.st_uid, found.st_gid,
                       found.st_mtime if found.st_mtime < 1000 else "now"], ()
        if stat.S_ISLNK(found.st_mode):
            return said + [os.readlink(path).replace(self.bytes, b"TOP")], names
        if not stat.S_ISDIR(found.st_mode):
            said += [found.st_nlink, found.st_size]
        try:
            said.append([(name, os.getxattr(path, name)) for name in sorted(os.listxattr(path))])
            if stat.S_ISDIR(found.st_mode):
                names = [b"/" + name for name in os.listdir(path)]
            elif stat.S_ISREG(found.st_mode) and found.st_size < 4096:
                with open(path, "rb", buffering=0) as f:
                    said.append(f.read().replace(self.bytes, b"TOP"))
        except OSError as e:
            said.append(e.errno)
        return said, names


def accept_all(sockets):
    for s in sockets:
        try:
            while True:
                if s.type == socket.SOCK_DGRAM:
                    s.recv(9)
                else:
                    s.accept()[0].close()
        except OSError:
            pass
