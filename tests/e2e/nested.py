#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
lapbelt inside lapbelt: both policies decide, and nothing that the inner one holds gets out of it.
Run by run.sh. LAPBELT names the program under test. Output is TAP.

With arguments it is one of its own acts, inside: nested.py ACT ARGUMENT...
"""
import ctypes
import errno
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ME = os.path.realpath(__file__)
PYTHON = os.path.realpath(sys.executable)
DENIALS = (errno.EPERM, errno.EACCES)
ROUNDS = int(os.environ.get('LAPBELT_ROUNDS', '1'))  # of what takes ten seconds

# --- acts ------------------------------------------------------------------------------------------

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
SYS = {'x86_64': {'clone': 56, 'openat': 257, 'ptrace': 101},
       'aarch64': {'clone': 220, 'openat': 56, 'ptrace': 117}}[os.uname().machine]
LANDLOCK_CREATE_RULESET = 444
NESTED_CALL, NESTED_BEGIN, NESTED_KEEP, NESTED_END = 0x6c617066, 3, 4, 5
MARK = 0x91c04fe57d1ea6b3
CLONE_PARENT = 0x8000


def message(*numbers):
    return ctypes.create_string_buffer(b''.join(n.to_bytes(8, 'little') for n in numbers))


# What a run without anything of its own says of itself, and (version 1)(allow default).
ALLOWS = message(*[0] * 8, 0, 1, 1, 0, 0, 0, 0)


def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[
        ctypes.c_long(a - (1 << 64) if isinstance(a, int) and a >= 1 << 63 else a)
        if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def nested(what, address=0, size=0):
    return call(LANDLOCK_CREATE_RULESET, address, size, NESTED_CALL, what, 0, 0)


def write(path):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(fd, b'x\n')
    os.close(fd)


def read(path):
    os.close(os.open(path, os.O_RDONLY))


def chmod(path):
    os.chmod(path, 0o600)


def execute(path):
    run_here([path, '-c', 'exit 0'])


def run_here(argv):
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(argv[0], argv)
        except OSError as e:
            os._exit(e.errno)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        raise OSError(status, os.strerror(status))


def connect(port):
    with socket.socket() as s:
        s.connect(('127.0.0.1', int(port)))


def connect_unix(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)


def listen_unix(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
        os.unlink(path)
        s.listen()


def listen_often(path):
    for _ in range(300):
        listen_unix(path)


def rename(path):
    os.rename(path, path + '.moved')
    os.rename(path + '.moved', path)


def link(path):
    os.link(path, path + '.link')
    os.unlink(path + '.link')


def make_folder(path):
    os.mkdir(path)
    os.rmdir(path)


def unnamed(path):
    os.close(os.open(path, os.O_TMPFILE | os.O_RDWR, 0o600))


def signal_outside(pid):
    os.kill(int(pid), 0)


def signal_inside():
    pid = os.fork()
    if pid == 0:
        time.sleep(30)
        os._exit(0)
    try:
        os.kill(pid, signal.SIGTERM)
    except OSError:
        os.kill(pid, 0)
        raise
    os.waitpid(pid, 0)


def in_child(act):
    """Does it in a child, whoever's that is, and says what came of it by a pipe."""
    r, w = os.pipe()
    if act(w) == 0:
        return
    os.close(w)
    said = os.read(r, 100).decode()
    if said != 'done':
        raise OSError(int(said or errno.EIO), 'in a child')


def say(w, act):
    try:
        act()
        os.write(w, b'done')
    except OSError as e:
        os.write(w, str(e.errno).encode())
    os._exit(0)


def double_fork(path):
    def act(w):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while os.getppid() == 0:
                    pass
                time.sleep(0.2)
                say(w, lambda: write(path))
            os._exit(0)
        return 1
    in_child(act)


def clone_parent(path):
    def act(w):
        if call(SYS['clone'], CLONE_PARENT, 0, 0, 0, 0) == 0:
            say(w, lambda: write(path))
        return 1
    in_child(act)


def clone_parent_twice(path):
    def act(w):
        if call(SYS['clone'], CLONE_PARENT, 0, 0, 0, 0) == 0:
            if call(SYS['clone'], CLONE_PARENT, 0, 0, 0, 0) == 0:
                say(w, lambda: write(path))
            os._exit(0)
        return 1
    in_child(act)


def in_thread(path):
    failed = []

    def body():
        try:
            write(path)
        except OSError as e:
            failed.append(e)
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def of_the_lane(path):
    fd = call(SYS['openat'], -100, ctypes.c_char_p(path.encode()), os.O_WRONLY, 0, 0, MARK)
    os.write(fd, b'x\n')


def add_filter():
    """An allow-everything filter, as the root of a run has."""
    program = ctypes.create_string_buffer(b'\x06\0\0\0\0\0\xff\x7f')
    fprog = ctypes.create_string_buffer(16)
    ctypes.memmove(fprog, ctypes.byref(ctypes.c_ushort(1)), 2)
    ctypes.memmove(ctypes.byref(fprog, 8), ctypes.byref(ctypes.c_void_p(
        ctypes.addressof(program))), 8)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, fprog, 0, 0) == 0


def with_more_filters(path):
    add_filter()
    write(path)


def end_it(path):
    for what in (NESTED_END, NESTED_KEEP, NESTED_BEGIN):
        try:
            nested(what)
        except OSError as e:
            assert e.errno in (errno.EPERM, errno.ESRCH, errno.EINVAL), e
        else:
            assert False, what
    write(path)


def begin_badly(path):
    """Calls that begin a run and must not, and nothing is lost or won by them."""
    junk = ctypes.create_string_buffer(os.urandom(4096))
    deep = message(*[0] * 8, 0, 1, 1, 0, 0, 0, 2, *[3, 1] * 500)
    for address, size, wanted in ((0, 0, {errno.EINVAL}), (0, 100, {errno.EFAULT}),
                                  (ctypes.addressof(junk), 4096, {errno.EINVAL}),
                                  (ctypes.addressof(deep), len(deep), {errno.EINVAL}),
                                  (ctypes.addressof(junk), 1 << 30, {errno.E2BIG}),
                                  (ctypes.addressof(junk), (1 << 64) - 1, {errno.E2BIG})):
        try:
            nested(NESTED_BEGIN, address, size)
        except OSError as e:
            assert e.errno in wanted, (size, e)
        else:
            assert False, 'it began'
    write(path)


def begin():
    """Begins a run that denies nothing."""
    nested(NESTED_BEGIN, ctypes.addressof(ALLOWS), len(ALLOWS) - 1)


def begin_alone(path):
    begin()
    add_filter()

    def act(w):
        if os.fork() == 0:
            say(w, lambda: write(path))
        return 1
    in_child(act)


def begin_in_vain():
    """Tries to, with nothing wrong but the process that does."""
    try:
        begin()
    except OSError as e:
        assert e.errno == errno.EINVAL, e
    else:
        assert False, 'it began'


def begin_in_thread(path):
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        begin_in_vain()
    finally:
        stop.set()
        thread.join()
    write(path)


def begin_with_child(path):
    child = os.fork()
    if child == 0:
        signal.pause()
    try:
        begin_in_vain()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    begin_alone(path)


def above():
    """The processes between us and the launcher: init, its guard."""
    pids, pid = [], os.getppid()
    for _ in range(2):
        pids.append(pid)
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            pid = int(file.read().rsplit(')', 1)[1].split()[1])
    return pids


def look_into(*_):
    for pid in above():
        for name in ('mem', 'environ', 'maps', 'fd'):
            try:
                os.close(os.open(f'/proc/{pid}/{name}', os.O_RDONLY))
            except OSError as e:
                assert e.errno in DENIALS, e
            else:
                assert False, f'/proc/{pid}/{name} can be read'
        try:
            call(SYS['ptrace'], 16, pid, 0, 0)
        except OSError as e:
            assert e.errno == errno.EPERM, e
        else:
            assert False, 'it can be traced'


def kill_above(which, path, out):
    """Kills init, or the two, and what is left tries to write."""
    pids = above()
    if os.fork() > 0:
        time.sleep(60)
        return
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    if which == 'both':
        os.kill(pids[1], signal.SIGSTOP)
    os.kill(pids[0], signal.SIGKILL)
    if which == 'both':
        os.kill(pids[1], signal.SIGKILL)
    try:
        write(path)
    except OSError:
        pass
    time.sleep(0.5)  # until they are gone nothing is lost
    end = time.monotonic() + 2
    while time.monotonic() < end:
        for name in (path, out):
            try:
                write(name)
            except OSError:
                pass
        time.sleep(0.05)
    os._exit(0)


def kill_crowded(path):
    """As kill_above() of both, who have so many children that they take their time to end."""
    init, guard = above()
    if os.fork() > 0:
        time.sleep(60)
        return
    os.setsid()
    for body in [lambda: write_below(guard, path)] * 4 + [signal.pause] * 2000:
        if os.fork() == 0:
            if os.fork() == 0:
                body()
            os._exit(0)
        os.wait()
    os.kill(guard, signal.SIGSTOP)
    os.kill(init, signal.SIGKILL)
    time.sleep(0.3)
    os.kill(guard, signal.SIGKILL)
    time.sleep(1)
    os.killpg(0, signal.SIGKILL)


def write_below(parent, path):
    """Tries to, without end, from when it is a child of that on."""
    while os.getppid() != parent:
        time.sleep(0.01)
    while True:
        try:
            write(path)
            os._exit(0)
        except OSError:
            pass


def all_of(*acts):
    """Several acts, of which each must fail by a denial: ACT=ARGUMENT."""
    for word in acts:
        name, argument = word.split('=')
        try:
            globals()[name](*argument.split(',') if argument else [])
        except OSError as e:
            if e.errno not in DENIALS:
                raise
        else:
            raise AssertionError(f'{word} was done')


def act_main(name, *arguments):
    try:
        globals()[name](*arguments)
    except OSError as e:
        print(f'{name}: {e}', flush=True)
        return 13 if e.errno in DENIALS else 14
    return 0


# --- the world -------------------------------------------------------------------------------------

count = failures = 0


def check(good, what, why=''):
    global count, failures
    count += 1
    failures += not good
    print(f'{"" if good else "not "}ok {count} - {what}', flush=True)
    if not good and why:
        print('# ' + str(why).replace('\n', '\n# '), flush=True)


ALL = '(version 1)(allow default)'
WRITES = ALL + r'(deny file-write* (regex #"/[^/]*\.nobodys$"))'
# Something is judged one by one of every kind.
JUDGED = ALL + r'''(deny file-read* file-write* (regex #"/[^/]*\.nobodys$"))
(deny network-outbound (remote tcp "*:9"))(deny network-outbound (regex #"\.nobodys$"))
(deny network-bind (regex #"\.nobodys$"))(deny network-inbound (regex #"\.nobodys$"))
(deny signal (signal-number SIGUSR2))(deny process-exec* (literal "/nonexistent"))'''


class World:
    def __init__(self, lapbelt, options):
        self.lapbelt, self.options = lapbelt, options
        self.top = os.path.realpath(tempfile.mkdtemp(prefix='lapbelt-nested-', dir='/var/tmp'))
        for name in ('file', 'no', 'other'):
            with open(f'{self.top}/{name}', 'w', encoding='utf-8') as file:
                file.write(name)
        os.mkdir(self.top + '/d')
        self.tool = shutil.copy(os.path.realpath('/bin/sh'), self.top + '/tool')
        self.listener = socket.socket()
        self.listener.bind(('127.0.0.1', 0))
        self.listener.listen(256)
        self.port = str(self.listener.getsockname()[1])
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(self.top + '/sock')
        self.unix.listen(256)
        self.sleeper = subprocess.Popen(['sleep', '600'])

    def close(self):
        self.sleeper.kill()
        self.sleeper.wait()
        self.listener.close()
        self.unix.close()
        shutil.rmtree(self.top)

    def fill(self, text):
        for name, value in (('top', self.top), ('port', self.port), ('tool', self.tool),
                            ('pid', str(self.sleeper.pid))):
            text = text.replace('{' + name + '}', value)
        return text

    def prefix(self, *policies, nestable=False):
        words = []
        for policy in policies:
            words += [self.lapbelt, 'exec', *self.options, *['--nestable'] * nestable,
                      '-p', self.fill(policy), '--']
            nestable = False
        return words

    def run(self, policies, argv, nestable=False, **more):
        return subprocess.run([*self.prefix(*policies, nestable=nestable), *argv], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, cwd=self.top,
                              timeout=120, **more)

    def act(self, policies, words, nestable=False):
        return self.run(policies, [PYTHON, '-EsS', ME, *self.fill(words).split()], nestable)


# A rule, and an act that it denies.
DENIED = (
    ('writing', '(deny file-write* (literal "{top}/no"))', 'write {top}/no'),
    ('reading', '(deny file-read* (literal "{top}/no"))', 'read {top}/no'),
    ('changing modes', '(deny file-write-mode (literal "{top}/no"))', 'chmod {top}/no'),
    ('executing', '(deny process-exec* (literal "{tool}"))', 'execute {tool}'),
    ('connecting to a port', '(deny network-outbound (remote tcp "*:{port}"))', 'connect {port}'),
    ('any network', '(deny network*)', 'connect {port}'),
    ('connecting to a path', '(deny network-outbound (literal "{top}/sock"))',
     'connect_unix {top}/sock'),
    ('listening at a path', '(deny network-inbound (subpath "{top}"))(allow network-bind)',
     'listen_unix {top}/s'),
    ('making a folder', '(deny file-write-create (regex #"/new$"))', 'make_folder {top}/new'),
    ('renaming', '(deny file-write-unlink (literal "{top}/no"))', 'rename {top}/no'),
    ('linking', '(deny file-link (literal "{top}/no"))', 'link {top}/no'),
    ('making files without a name', '(deny file-write* (subpath "{top}/d"))', 'unnamed {top}/d'),
    ('signals to others', '(deny signal (target others))', 'signal_outside {pid}'),
    ('signals to children', '(deny signal (target children))', 'signal_inside'),
)


def both_decide(world):
    for what, rule, act in DENIED:
        done = world.act([JUDGED, ALL], act)
        check(done.returncode == 0, f'{what}: allowed by both', done.stdout)
        done = world.act([JUDGED, ALL + rule], act)
        check(done.returncode == 13, f'{what}: denied by the one inside', done.stdout)
        done = world.act([JUDGED + rule, ALL], act)
        check(done.returncode == 13, f'{what}: denied by the one outside', done.stdout)
        # What the one outside does not ask about, and Landlock has no word for, is refused.
        done = world.act([ALL, ALL + rule], act)
        check(done.returncode == 13 or (
            done.returncode == 71 and 'cannot enforce the policy' in done.stdout),
              f'{what}: denied, or refused, where the one outside asks little', done.stdout)
        done = world.act([ALL, ALL], act, nestable=True)
        check(done.returncode == 0, f'{what}: allowed by both, where it asks about all', done.stdout)
        done = world.act([ALL, ALL + rule], act, nestable=True)
        check(done.returncode == 13, f'{what}: denied where it asks about all', done.stdout)


def deep(world):
    deny = [JUDGED + f'(deny file-write* (literal "{{top}}/{name}"))'
            for name in ('no', 'other', 'file')]
    done = world.act(deny, 'all_of write={top}/no write={top}/other write={top}/file')
    check(done.returncode == 0, 'of three each one counts', done.stdout)
    done = world.act(deny, 'write {top}/newer')
    check(done.returncode == 0, 'and what none denies is allowed', done.stdout)
    done = world.act([deny[0], deny[1], ALL], 'all_of write={top}/no write={top}/other')
    check(done.returncode == 0, 'one that is looser takes nothing away from those around',
          done.stdout)
    done = world.act([JUDGED, JUDGED], 'listen_often {top}/s')
    check(done.returncode == 0, 'a run can listen again and again', done.stdout)
    done = world.run([ALL] * 9, ['touch', world.top + '/nine'])
    check(done.returncode == 71 and '8 policies' in done.stdout and
          not os.path.exists(world.top + '/nine'), 'there is an end to it', done.stdout)
    done = world.run([ALL] * 8, ['touch', world.top + '/eight'])
    check(done.returncode == 0, 'but not before', done.stdout)


ESCAPES = ('double_fork', 'clone_parent', 'clone_parent_twice', 'in_thread', 'of_the_lane',
           'with_more_filters', 'end_it', 'begin_badly', 'begin_alone', 'begin_in_thread',
           'begin_with_child')


def escapes(world):
    for outer in (WRITES, JUDGED):
        deny = outer + '(deny file-write* (literal "{top}/no"))'
        for name in ESCAPES:
            done = world.act([outer, deny], name + ' {top}/no')
            check(done.returncode == 13, f'nobody gets out by {name}', done.stdout)
            done = world.act([outer, outer], name + ' {top}/no')
            # Where it is closed, calls of the lane are refused, and made again without the mark.
            check(done.returncode == 0 or name == 'of_the_lane', f'where nothing is denied {name} goes on', done.stdout)
    done = world.act([JUDGED, JUDGED], 'look_into')
    check(done.returncode == 0, 'who keeps it together cannot be looked into', done.stdout)
    done = world.run([JUDGED, JUDGED + '(deny file-write* (literal "{top}/no"))', ALL],
                     [PYTHON, ME, 'write', world.top + '/no'])
    check(done.returncode == 13, 'a looser one inside does not free of the one around it',
          done.stdout)


def killed(world):
    """kill -9 of what keeps the inner run together, by the command itself."""
    inner = JUDGED + '(deny file-write* (literal "{top}/no"))'
    for which, depth in (('init', 1), ('both', 1), ('both', 2)):
        for name in ('no', 'yes'):
            try:
                os.unlink(f'{world.top}/{name}')
            except FileNotFoundError:
                pass
        begin = time.monotonic()
        # The outer run goes on, and so does what is left.
        done = world.run([JUDGED] * depth, ['sh', '-c', '"$@"; echo $?; sleep 1; exit 3', 'sh',
                                            *world.prefix(inner), PYTHON, ME, 'kill_above', which,
                                            world.top + '/no', world.top + '/yes'])
        took = time.monotonic() - begin
        check(not os.path.exists(world.top + '/no') and
              (which == 'init' or not os.path.exists(world.top + '/yes')),
              f'nothing gets free by killing {which}, {depth} deep', done.stdout)
        check(done.returncode == 3 and done.stdout[0] not in '01' and took < 50, 'and the run ends',
              done)
    for _ in range(ROUNDS):
        done = world.run([JUDGED], ['sh', '-c', '"$@"; exit 3', 'sh', *world.prefix(inner), PYTHON,
                                    ME, 'kill_crowded', world.top + '/no'])
        check(done.returncode == 3 and not os.path.exists(world.top + '/no'),
              'nor while they are ending', done)


def killed_with_others(world):
    """What becomes of other runs inside."""
    for what, script in (
            ('the group', 'setsid "$@" sleep 60 & sleep 1; kill -9 -$!; wait; sleep 0.5'),
            ('the guard', '"$@" sh -c "read _ _ _ guard _ </proc/\\$PPID/stat; kill -9 \\$guard; '
                          'sleep 30"')):
        done = world.run([JUDGED], ['sh', '-c', script + '; "$@" echo again', 'sh',
                                    *world.prefix(JUDGED)])
        check(done.stdout.endswith('again\n'), f'others can begin once {what} was killed',
              done.stdout)
    denies = world.prefix(JUDGED + '(deny file-write* (literal "{top}/no"))')
    for name in ('no', 'yes', 'again'):
        if os.path.exists(f'{world.top}/{name}'):
            os.unlink(f'{world.top}/{name}')
    words = ' '.join(shlex.quote(word) for word in denies)
    kill = f'{words} {PYTHON} {ME} kill_above both no yes & sleep 1.5'
    done = world.run([JUDGED], ['sh', '-c', f'{kill}; "$@" sh -c "echo x >again; echo x >no"; '
                                            f'"$@" {PYTHON} {ME} kill_above both no yes; sleep 1; '
                                            '"$@" echo new; wait', 'sh', *denies])
    check(done.stdout.endswith('new\n') and os.path.exists(world.top + '/again'),
          'others can begin once the two were killed', done.stdout)
    check(not os.path.exists(world.top + '/no') and not os.path.exists(world.top + '/yes'),
          'whoever is left gets nothing by that', done.stdout)
    done = world.run([JUDGED], ['sh', '-c', f'"$@" sh -c "sleep 3; echo x >x && echo on" & '
                                f'"$@" {PYTHON} {ME} kill_above both no yes & wait', 'sh',
                                *world.prefix(JUDGED)])
    check('on\n' in done.stdout, 'and those that had begun go on', done.stdout)


def ends(world):
    for argv, wanted in ((['sh', '-c', 'exit 7'], 7), (['sh', '-c', 'kill -TERM $$'], 143),
                         (['/nonexistent/x'], 71)):
        done = world.run([JUDGED, JUDGED], argv)
        check(done.returncode == wanted, f'{argv[-1]} ends with {wanted}', done)
    process = subprocess.Popen([*world.prefix(JUDGED, JUDGED), 'sh', '-c',
                                'trap "exit 9" TERM; echo up; while :; do sleep 0.1; done'],
                               stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    check(process.wait(20) == 9, 'a signal to the outer launcher reaches the command')
    process.stdout.close()
    done = world.run([JUDGED, JUDGED], ['sh', '-c', 'sleep 300 & echo $!'])
    check(done.returncode == 0, 'what is left in the background ends with it', done)
    time.sleep(0.2)
    pids = [word for word in done.stdout.split() if word.isdigit()]
    check(pids and not os.path.exists(f'/proc/{pids[0]}'), 'and is gone', done)
    together = [subprocess.Popen([*world.prefix(JUDGED), 'sh', '-c', ' & '.join(
        ['"$@"'] * 12) + '; wait', 'sh', *world.prefix(JUDGED), 'true'])]
    check(all(process.wait(60) == 0 for process in together), 'twelve at a time')


def hostile(world):
    """Policies that take too long to build."""
    big = ALL + ''.join(f'(deny file-read* (regex #"/({"a|" * 30}.)*{n}.{{{{0,12}}}}x"))'
                        for n in range(60))
    big = big.replace('{{', '{').replace('}}', '}')
    text = world.top + '/big.sb'
    with open(text, 'w', encoding='utf-8') as file:
        file.write(big)
    process = subprocess.Popen([*world.prefix(JUDGED), 'sh', '-c',
                                'while :; do echo x >w.nobodys 2>/dev/null; echo tick; sleep 0.05; '
                                'done & "$@"; kill $!', 'sh', world.lapbelt, 'exec', '-f', text,
                                'true'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, cwd=world.top)
    said, last, longest = [], time.monotonic(), 0
    for line in process.stdout:
        now = time.monotonic()
        longest, last = max(longest, now - last), now
        said.append(line)
    process.wait()
    process.stdout.close()
    check(longest < 5, 'nobody waits for a policy that is large', f'{longest} {said[-3:]}')


def outer_without_broker(world):
    outer = ALL + '(allow file-write-setugid)'
    done = world.act([outer, JUDGED + '(deny file-write* (literal "{top}/no"))'],
                     'write {top}/no')
    check(done.returncode == 13, 'where the outer one has no broker the inner one has', done.stdout)
    done = world.act([outer, JUDGED], 'write {top}/new2')
    check(done.returncode == 0, 'and allows the rest', done.stdout)


def run_in_run(world):
    folder = world.top + '/project'
    os.mkdir(folder)
    run = [world.lapbelt, 'run', *world.options, '--']

    def both(*argv, times=2):
        return subprocess.run([*run * times, *argv], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, cwd=folder,
                              timeout=120)
    for times in (2, 3):
        done = both('sh', '-c', 'echo x >x && cat x && rm x && echo $$ && '
                    'git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty '
                    '-m m && rm -rf .git', times=times)
        check(done.returncode == 0, f'run in run works, {times} deep', done.stdout)
    done = both('sh', '-c', 'echo x >"$TMPDIR/x" && cat "$TMPDIR/x"')
    check(done.returncode == 0, 'with a TMPDIR', done.stdout)
    done = both('sh', '-c', 'echo x >"$HOME/x" || exit 13')
    check(done.returncode == 13, 'and denies what each would', done.stdout)
    done = both(PYTHON, '-c', 'import multiprocessing as m\nwith m.Pool(2) as p: '
                'print(p.map(abs, [-1]))')
    check(done.returncode == 0, 'Python has its semaphores', done.stdout)


def foreign(world):
    """Others' sandboxes need namespaces, or Landlock, and say so."""
    for argv in (['bwrap', '--ro-bind', '/', '/', 'true'], ['unshare', '-Ur', 'true']):
        done = world.run([JUDGED], argv)
        check(done.returncode != 0 and done.stdout.strip() and
              ('permi' in done.stdout.lower()), f'{argv[0]} is refused, and says why', done)


def main():
    lapbelt = os.environ['LAPBELT']
    options = os.environ.get('LAPBELT_RUN_OPTIONS', '').split()
    os.environ['HOME'] = '/var/tmp'
    for more in ([], ['--no-lane']):
        world = World(lapbelt, options + more)
        try:
            deep(world)
            escapes(world)
            if not more:
                both_decide(world)
                killed(world)
                killed_with_others(world)
                ends(world)
                hostile(world)
                outer_without_broker(world)
                foreign(world)
                run_in_run(world)
        finally:
            world.close()
    print(f'1..{count}')
    return failures > 0


if __name__ == '__main__':
    sys.exit(act_main(*sys.argv[1:]) if sys.argv[1:] else main())
