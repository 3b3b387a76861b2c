# SPDX-License-Identifier: Apache-2.0
"""What there is in the world that acts are done in, by its name."""

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
