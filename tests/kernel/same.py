#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""same.py LAPBELT root|user [SEEDS] - the same random file operations outside and inside.

The working directory is open, so whatever the broker does for the command has to end as it ends
without it: the same results, the same errors, the same tree. Prints TAP.
"""
import errno
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile

ACTS = 1500
UID = 12345

NAMES = [
    'a', 'b', 'c', 'd', 'a/b', 'a/c', 'b/a', 'a/b/c', 'd/..', './a', 'a/.', 'a/..', 'b/../a',
    '..', '.', 'a/', 'b/', 'c//a', 'l', 'l/x', 'loop', 'dangling', 'dangling/', 'n' * 255,
    'n' * 256, '', 'a/b/', 'l/', 'x y', os.fsdecode(b'\xff'),
]
FLAGS = [os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_APPEND, os.O_NOFOLLOW, os.O_DIRECTORY]


class Acts:
    """Random operations below a directory, each printed with its outcome."""

    def __init__(self, seed, base):
        self.random = random.Random(seed)
        self.base = base
        os.makedirs(base)
        os.chdir(base)
        for text, name in (('loop', 'loop'), ('nowhere', 'dangling'), ('a', 'l')):
            os.symlink(text, name)

    def name(self):
        return self.random.choice(NAMES)

    def pick(self, *choices):
        return self.random.choice(choices)

    def try_act(self, what, act):
        try:
            outcome = act()
        except OSError as error:
            outcome = errno.errorcode[error.errno]
        print(what, outcome)

    def act_open(self):
        flags = self.pick(os.O_RDONLY, os.O_WRONLY, os.O_RDWR)
        for flag in FLAGS:
            flags |= flag if self.random.random() < 0.3 else 0
        name, mode = self.name(), self.pick(0o644, 0o600, 0o777, 0)

        def act():
            fd = os.open(name, flags, mode)
            try:
                found = os.fstat(fd)
                if stat.S_ISREG(found.st_mode) and flags & (os.O_WRONLY | os.O_RDWR):
                    os.write(fd, b'hello')
                return oct(found.st_mode)
            finally:
                os.close(fd)
        self.try_act(('open', name, flags, mode), act)

    def simple(self, call, *arguments, **options):
        def act():
            return call(*arguments, **options)
        self.try_act((call.__name__, *arguments, *options.items()), act)

    def act_chdir(self):
        self.simple(os.chdir, self.name())
        os.chdir(self.base)

    def act_lstat(self):
        name = self.name()
        self.try_act(('lstat', name), lambda: describe(os.lstat(name)))

    def run(self):
        texts = ('a', 'b', '../x', 'loop', 'nowhere', self.base, 'a/b', '.')
        acts = [
            self.act_open, self.act_open, self.act_open, self.act_chdir, self.act_lstat,
            lambda: self.simple(os.mkdir, self.name(), self.pick(0o755, 0o700, 0o777)),
            lambda: self.simple(os.rmdir, self.name()),
            lambda: self.simple(os.unlink, self.name()),
            lambda: self.simple(os.rename, self.name(), self.name()),
            lambda: self.simple(os.link, self.name(), self.name(), follow_symlinks=False),
            lambda: self.simple(os.symlink, self.pick(*texts), self.name()),
            lambda: self.simple(os.chmod, self.name(), self.pick(0o744, 0o755, 0o700)),
            lambda: self.simple(os.utime, self.name(), (1, 2)),
            lambda: self.simple(os.utime, self.name(), (1, 2), follow_symlinks=False),
            lambda: self.simple(os.truncate, self.name(), self.pick(0, 3, 100, -1)),
            lambda: self.simple(os.access, self.name(), self.pick(os.W_OK, os.W_OK | os.R_OK,
                                                                  os.W_OK | os.X_OK)),
            lambda: self.simple(os.chown, self.name(), -1, os.getgid()),
            lambda: self.simple(os.lchown, self.name(), os.getuid(), -1),
            lambda: self.simple(os.setxattr, self.name(), 'user.k', b'v'),
            lambda: self.simple(os.removexattr, self.name(), 'user.k'),
            lambda: self.simple(os.umask, self.pick(0o22, 0o77, 0, 0o27)),
        ]
        for _ in range(ACTS):
            self.random.choice(acts)()
        for folder, folders, files in os.walk(self.base):
            for name in sorted(folders + files):
                print(os.path.join(folder, name), describe(os.lstat(os.path.join(folder, name))))


def describe(found):
    is_file = stat.S_ISREG(found.st_mode)
    return (oct(found.st_mode), found.st_nlink if not stat.S_ISDIR(found.st_mode) else 0,
            found.st_size if is_file else 0, int(found.st_mtime) if found.st_mtime < 10 else 'now')


def clear(path):
    subprocess.run(['chmod', '-R', 'u+rwx', path], check=False, stderr=subprocess.DEVNULL)
    shutil.rmtree(path, ignore_errors=True)


def compare(lapbelt, who, home, seed, options):
    """None if nothing differs, else what does."""
    project = os.path.join(home, 'project')
    outputs = []
    for prefix in ([], [lapbelt, 'run', *options, '--']):
        clear(project)
        os.mkdir(project)
        if who == 'user' and os.getuid() == 0:
            os.chown(project, UID, UID)
            prefix = ['setpriv', '--reuid', str(UID), '--regid', str(UID), '--clear-groups', *prefix]
        done = subprocess.run(
            [*prefix, '/usr/bin/python3', os.path.join(home, 'same.py'), '--acts', str(seed),
             os.path.join(project, 'x')],
            cwd=project, env={**os.environ, 'HOME': home, 'PYTHONIOENCODING': 'utf8:backslashreplace'},
            capture_output=True, text=True, errors='backslashreplace', check=False)
        outputs.append(done.stdout.splitlines() + [f'exit {done.returncode} {done.stderr[-300:]}'])
    clear(project)
    outside, inside = outputs
    if len(outside) < ACTS / 2:
        return f'the control fails: {outside[-1]}'
    for a, b in zip(outside + ['end'], inside + ['end']):
        if a != b:
            return f'outside {a}, inside {b}'
    return None


def main():
    if sys.argv[1] == '--acts':
        Acts(int(sys.argv[2]), sys.argv[3]).run()
        return 0
    lapbelt, who = sys.argv[1:3]
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    home = tempfile.mkdtemp(prefix='lapbelt-same.', dir='/var/tmp')
    failures = count = 0
    try:
        # An ordinary user may not be able to read the place of the sources.
        os.chmod(home, 0o755)
        shutil.copy(__file__, os.path.join(home, 'same.py'))
        shutil.copy(lapbelt, os.path.join(home, 'lapbelt'))
        for options in ([], ['--no-userns']):
            for seed in range(seeds):
                different = compare(os.path.join(home, 'lapbelt'), who, home, seed, options)
                count += 1
                failures += different is not None
                if different:
                    print(f'# {different}')
                print(f'{"not " if different else ""}ok {count} - seed {seed}, '
                      f'{" ".join(options) or "namespaces"}')
    finally:
        clear(home)
    print(f'1..{count}')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
