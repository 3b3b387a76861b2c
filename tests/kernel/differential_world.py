# SPDX-License-Identifier: Apache-2.0
"""The world that acts are done in: files, and a listener."""
import os
import shutil
import socket
import stat

FOLDERS = ["w", "w/d", "w/d/e", "w/empty", "w/D", "w/s", "o", "o/p", "w/dlink", "w/out"]
THERE = ["w/a", "w/b", "w/.env", "w/x y", "w/b\udcff", "w/Case", "w/case", "w/d/x", "w/d/.env",
         "w/d/e/f", "w/d/e/g", "w/dd", "w/D/x", "w/tool", "w/script", "w/script2", "w/fifo",
         "w/hard", "w/d/hard2", "w/s/sock", "w/r{}+", "o/secret", "o/p/q"]
LINKS = ["w/alias", "w/rel", "w/dlink", "w/loop", "w/dangling", "w/out", "o/in"]
ABSENT = ["w/new1", "w/d/new2", "w/empty/n", "w/d/e/new3", "o/new4", "w/D/.env", "w/empty/tool"]
ODD = ["w/d/../a", "w//b", "w/d/.", "w/dlink/x", "w/out/p/q", "w/dlink/../b", "w/a/", "o/in/x",
       "w/dlink/", "w/rel/", "w/d/e/../../.env", "w/empty/..", "w/nowhere/x", "w/a/x",
       "w/dlink/e/f", "w/out/new4", "w/dangling/"]
XATTRS = ["user.k", "user.other"]
SYSTEM = ["/proc/self/status", "/proc/self/maps", "/proc/sys/kernel/ostype",
          "/proc/sys/kernel/pid_max", "/proc/sys/fs/file-max", "/proc/sys/kernel/domainname",
          "/proc/version"]


def shm_path(top, name):
    return "/dev/shm/" + "-".join(top.split("/")[-3:]) + "-" + name


def write_file(path, text="text\n", mode=0o644):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


class World:
    """Files and listeners below TOP/w and TOP/o."""

    def __init__(self, top):
        self.top = top
        self.sockets = []
        for folder in ("w", "w/d", "w/d/e", "w/empty", "w/D", "w/s", "o", "o/p"):
            os.makedirs(top + "/" + folder, mode=0o755)
        for name in THERE:
            if name not in ("w/fifo", "w/hard", "w/d/hard2", "w/s/sock"):
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

    def inodes(self):
        """What is there: path -> inode."""
        found = {}
        for path in self.paths():
            try:
                found[path] = os.lstat(path).st_ino
            except OSError:
                pass  # a folder that may be listed and not searched
        return found

    def paths(self):
        for folder, folders, files in os.walk(os.fsencode(self.top)):
            yield folder
            yield from (os.path.join(folder, name) for name in files)
            yield from (os.path.join(folder, name) for name in folders
                        if os.path.islink(os.path.join(folder, name)))
        for name in ("n1", "n2"):
            if os.path.exists(shm_path(self.top, name)):
                yield os.fsencode(shm_path(self.top, name))

    def picture(self):
        """All that can be compared with another world."""
        top = os.fsencode(self.top)
        shm = os.fsencode(shm_path(self.top, ""))
        return {path.replace(top, b"TOP").replace(shm, b"SHM"): self.describe(path)
                for path in self.paths()}

    def describe(self, path):
        try:
            found = os.lstat(path)
        except OSError as e:
            return e.errno
        said = [oct(found.st_mode), found.st_uid, found.st_gid,
                found.st_mtime if found.st_mtime < 1000 else "now"]
        if stat.S_ISLNK(found.st_mode):
            return said + [os.readlink(path).replace(os.fsencode(self.top), b"TOP")]
        if not stat.S_ISDIR(found.st_mode):
            said += [found.st_nlink, found.st_size]
        try:
            said.append([(name, os.getxattr(path, name)) for name in sorted(os.listxattr(path))])
            if stat.S_ISREG(found.st_mode) and found.st_size < 4096:
                with open(path, "rb") as f:
                    said.append(f.read().replace(os.fsencode(self.top), b"TOP"))
        except OSError as e:
            said.append(e.errno)
        return said


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
