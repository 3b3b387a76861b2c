#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""same_sockets.py LAPBELT root|user - the same acts with sockets outside and inside.

The profiles have the broker asked about every connect, bind and listen, and allow all that is done
here: each act has to end as it ends without a sandbox. Prints TAP.
"""
import contextlib
import ctypes
import errno
import itertools
import mmap
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

UID = 12345
LIBC = ctypes.CDLL(None, use_errno=True)

# What the broker is asked about, and the groups of acts that this concerns.
PROFILES = {
    'ip': ('(version 1)(allow default)(deny network-outbound (remote tcp "*:7"))'
           '(deny network-inbound (local tcp "*:7"))', ('inet',)),
    'unix': ('(version 1)(allow default)(deny network-inbound (literal "/nowhere"))'
             '(allow network-bind)(deny network-outbound (literal "/nowhere"))', ('unix',)),
    'both': ('(version 1)(allow default)(deny network-outbound (remote tcp "*:7")'
             ' (literal "/nowhere"))', ('inet', 'unix')),
}

# ---- Calls as the kernel knows them ------------------------------------------------------------


def outcome(r):
    return r if r >= 0 else errno.errorcode.get(ctypes.get_errno(), ctypes.get_errno())


def call(name, fd, *arguments):
    fd = fd.fileno() if hasattr(fd, 'fileno') else fd
    return outcome(getattr(LIBC, name)(fd, *arguments))


def plain(act):
    """What ACT, of Python's own making, ends with."""
    try:
        return act()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))


def inet(family, host, port):
    """The address as bytes."""
    head = family.to_bytes(2, sys.byteorder) + port.to_bytes(2, 'big')
    if family == socket.AF_INET:
        return head + socket.inet_aton(host) + bytes(8)
    return head + bytes(4) + socket.inet_pton(family, host) + bytes(4)


def local(name):
    return socket.AF_UNIX.to_bytes(2, sys.byteorder) + os.fsencode(name)


def connect(s, address):
    return call('connect', s, address, len(address))


def bind(s, address):
    return call('bind', s, address, len(address))


LOOPBACK = {socket.AF_INET: '127.0.0.1', socket.AF_INET6: '::1'}
INET = [(family, kind) for family in LOOPBACK for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
UNIX = [(socket.AF_UNIX, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)]


def end_of(s):
    """Its own end, without what differs from run to run."""
    name = plain(s.getsockname)
    if isinstance(name, bytes) and len(name) == 6:
        return name[:1]  # the kernel's own choice
    if s.family == socket.AF_UNIX or isinstance(name, str):
        return name
    return name[0], name[1] != 0


@contextlib.contextmanager
def sockets(*kinds):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(socket.socket(*kind)) for kind in kinds]


# ---- Addresses ---------------------------------------------------------------------------------

LENGTHS = (-1, 0, 1, 2, 3, 15, 16, 23, 24, 27, 28, 29, 107, 108, 109, 110, 111, 112, 127, 128, 129)
FAMILIES = (socket.AF_UNSPEC, socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK,
            99)


def addresses(kinds):
    """Every length of every family, for every socket: zeros, text, and an end in thin air."""
    for kind, do, family, length in itertools.product(kinds, ('bind', 'connect'), FAMILIES,
                                                      LENGTHS):
        for fill in (b'\0', b'a'):
            address = family.to_bytes(2, sys.byteorder) + fill * 130
            with sockets(kind) as (s,):
                s.setblocking(False)
                end = call(do, s, address, length)
                yield (*kind, do, family, length, fill), (end, end == 0 and end_of(s))
            with contextlib.suppress(OSError):
                os.unlink(b'a' * (length - 2))


def pointers(kinds):
    page = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    LIBC.munmap(ctypes.c_void_p(start + mmap.PAGESIZE), ctypes.c_size_t(mmap.PAGESIZE))
    places = {'null': 0, 'low': 1, 'kernel': 0xffff800000000000, 'edge': start + mmap.PAGESIZE - 8,
              'odd': start + 1}
    for kind, do, (where, place), length in itertools.product(
            kinds, ('bind', 'connect'), places.items(), (0, 2, 8, 16, 28)):
        ctypes.memmove(start + 1, inet(socket.AF_INET, '127.0.0.1', 0), 16)
        with sockets(kind) as (s,):
            s.setblocking(False)
            yield (*kind, do, where, length), call(do, s, ctypes.c_void_p(place), length)


def descriptors(kinds):
    address = inet(socket.AF_INET, '127.0.0.1', 0)
    read_end, write_end = os.pipe()
    path = os.open('.', os.O_PATH)
    for what, fd in (('none', -1), ('closed', 9999), ('pipe', read_end), ('path', path)):
        for do in ('bind', 'connect'):
            yield (what, do), call(do, fd, address, len(address))
        yield (what, 'listen'), call('listen', fd, 1)
    for fd in (read_end, write_end, path):
        os.close(fd)
    for kind in kinds:
        for backlog in (-1, 0, 1 << 30):
            with sockets(kind) as (s,):
                yield (*kind, 'listen', backlog), (call('listen', s, backlog), end_of(s))


# ---- Names of unix sockets ---------------------------------------------------------------------

NAMES = ['new', 'file', 'dir', 'dir/new', 'none/new', 'file/new', 'dangling', 'through', 'loop',
         'closed/new', 'dir/../new', 'dir//new', './new', 'new/', 'file/', 'dir/', 'none/', '.',
         '..', '/', '/proc/new', 'stream', 'sealed', 'deaf', 'packet', 'n' * 106, 'n' * 107,
         'n' * 108, 'dir/' + 'n' * 104, '\0abstract', '\0', '\0' * 108, '\xff\x01']


def make_names():
    for name in ('dir', 'closed'):
        os.mkdir(name)
    os.chmod('closed', 0)
    with open('file', 'w', encoding='utf8'):
        pass
    for text, name in (('nowhere', 'dangling'), ('stream', 'through'), ('loop', 'loop')):
        os.symlink(text, name)
    kept = []
    for name, kind in (('stream', socket.SOCK_STREAM), ('sealed', socket.SOCK_STREAM),
                       ('packet', socket.SOCK_SEQPACKET), ('deaf', socket.SOCK_STREAM)):
        kept.append(socket.socket(socket.AF_UNIX, kind))
        kept[-1].bind(name)
        if name != 'deaf':
            kept[-1].listen(100)
    os.chmod('sealed', 0)
    return kept


def names(kinds):
    kept = make_names()
    for kind, name, mask in itertools.product(kinds, NAMES, (0o22, 0o77)):
        os.umask(mask)
        for do in (connect, bind, connect):
            with sockets(kind) as (s,):
                yield (kind[1], do.__name__, name, mask), do(s, local(name))
        with sockets(kind) as (s,):
            yield (kind[1], 'bind, listen', name), (bind(s, local(name)), call('listen', s, 1))
        if name.endswith('new') or name.startswith('n'):
            found = plain(lambda n=name: oct(os.lstat(n).st_mode))
            yield ('mode', name, mask), (found, plain(lambda n=name: os.unlink(n)))
    os.umask(0o22)
    for s in kept:
        s.close()


def own_names(kinds):
    """One socket after the other act."""
    for kind in kinds:
        with sockets(kind, kind, kind) as (s, client, other):
            yield 'bind', (bind(s, local('one')), s.getsockname())
            yield 'bind again', (bind(s, local('two')), plain(lambda: os.lstat('two')))
            yield 'the name in use', bind(other, local('one'))
            yield 'nobody listens', connect(client, local('one'))
            yield 'listen', call('listen', s, 2)
            yield 'listen again', call('listen', s, 5)
            yield 'connect', connect(client, local('one'))
            yield 'connect again', connect(client, local('one'))
            yield 'connect a listener', connect(s, local('one'))
            yield 'listen connected', call('listen', client, 1)
            yield 'peer', client.getpeername()
            yield 'accepted', end_of(s.accept()[0])
            os.unlink('one')
        with sockets(kind, kind) as (s, client):
            yield 'no name', (bind(s, local('')), s.getsockname()[:1], len(s.getsockname()))
            yield 'no name again', bind(s, local(''))
            yield 'listen without a path', call('listen', s, 1)
            yield 'connect to it', plain(lambda a=s, c=client: c.connect(a.getsockname()))


# ---- TCP and UDP -------------------------------------------------------------------------------


def life(family):
    """A connection from bind to the end."""
    host = LOOPBACK[family]
    tcp = (family, socket.SOCK_STREAM)
    with sockets(tcp, tcp, tcp) as (s, client, other):
        yield 'listen unbound', (call('listen', s, 5), end_of(s))
        port = s.getsockname()[1]
        here = inet(family, host, port)
        yield 'bind bound', bind(s, inet(family, host, 0))
        yield 'bind in use', bind(other, here)
        yield 'bind elsewhere', bind(other, inet(family, {'::1': '2001:db8::1'}.get(
            host, '192.0.2.1'), 0))
        yield 'connect', connect(client, here)
        yield 'again', connect(client, here)
        yield 'listen connected', call('listen', client, 1)
        yield 'connect a listener', connect(s, here)
        peer = s.accept()[0]
        yield 'sent', (client.send(b'x'), peer.recv(9))
        yield 'dissolve', (connect(client, bytes(16)), plain(client.getpeername))
        yield 'connect anew', connect(client, here)
        peer.close()
    with sockets(tcp) as (s,):
        yield 'refused', connect(s, here)
        yield 'refused again', (connect(s, here), s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
        yield 'unreachable', connect(s, inet(family, {'::1': 'ff02::1'}.get(host, '255.255.255.255'),
                                             1))
    yield from without_waiting(tcp, host)


def without_waiting(tcp, host):
    with sockets(tcp, tcp) as (s, client):
        s.bind((host, 0))
        s.listen(1)
        here = inet(tcp[0], *s.getsockname()[:2])
        client.setblocking(False)
        yield 'non-blocking', connect(client, here)
        time.sleep(0.05)
        yield 'then', [connect(client, here) for _ in range(3)]
    with sockets(tcp) as (client,):
        client.setblocking(False)
        yield 'non-blocking, refused', connect(client, here)
        time.sleep(0.05)
        yield 'then', [connect(client, here) for _ in range(3)]


def datagrams(family):
    host = LOOPBACK[family]
    udp = (family, socket.SOCK_DGRAM)
    with sockets(udp, udp) as (s, client):
        s.bind((host, 0))
        s.settimeout(2)
        where = s.getsockname()
        here = inet(family, *where[:2])
        for n in (0, 1, 60000, 65507, 65508, 65536, 100000):
            sent = plain(lambda n=n: client.sendto(bytes(n), where))
            yield ('sendto', n), (sent, len(s.recv(1 << 17)) if sent == n else 0)
        yield 'sendmsg', (client.sendmsg([b'a', b'b'], [], 0, where), s.recv(9))
        yield 'connect', (connect(client, here), client.send(b'x'), s.recv(9), end_of(client))
        yield 'elsewhere', plain(lambda: client.sendto(b'x', (host, 9)))
        yield 'dissolve', (connect(client, bytes(16)), plain(lambda: client.send(b'x')))
        for length in (1, 2, 15, 16, 28, 200):
            yield ('length', length), call('sendto', client, b'x', 1, 0, here + bytes(200), length)
        yield 'listen', call('listen', client, 1)


def mapped():
    tcp6 = (socket.AF_INET6, socket.SOCK_STREAM)
    with sockets((socket.AF_INET, socket.SOCK_STREAM), tcp6, tcp6) as (s, client, only):
        s.bind(('127.0.0.1', 0))
        s.listen(5)
        here = inet(socket.AF_INET6, '::ffff:127.0.0.1', s.getsockname()[1])
        only.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        yield 'mapped', (connect(client, here), client.getpeername()[0])
        yield 'only v6', connect(only, here)


# ---- Sends -------------------------------------------------------------------------------------


def pair(family, kind):
    with socket.socket(family, kind) as s:
        if family == socket.AF_UNIX:
            s.bind('pair')
        else:
            s.bind((LOOPBACK[family], 0))
        s.listen(1)
        client = socket.socket(family, kind)
        client.connect(s.getsockname())
        peer = s.accept()[0]
    if family == socket.AF_UNIX:
        os.unlink('pair')
    return client, peer


def drain(s, counted):
    time.sleep(0.3)
    while data := s.recv(1 << 20):
        counted.append(len(data))


def sends(kinds):
    """With an address, where none is needed."""
    for family, kind in kinds:
        address = local('pair') if family == socket.AF_UNIX else inet(family, LOOPBACK[family], 1)
        for size, name in itertools.product((1, 100000, 26000000), (address, b'')):
            client, peer = pair(family, kind)
            counted = []
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 150000)
            reader = threading.Thread(target=drain, args=(peer, counted))
            reader.start()
            sent = call('sendto', client, bytes(size), size, 0, name or None, len(name))
            client.close()
            reader.join()
            yield (*map(int, (family, kind)), size, name != b''), (sent, sum(counted))
            peer.close()
        client, peer = pair(family, kind)
        big = bytes(1 << 22)
        full = [call('sendto', client, big, 30000, socket.MSG_DONTWAIT, address, len(address))
                for _ in range(4000)]
        yield (family, kind, 'full'), (full[0], full[-1])
        yield from broken(client, peer, address)


def broken(client, peer, address):
    signals = []
    signal.signal(signal.SIGPIPE, lambda *_: signals.append('SIGPIPE'))
    peer.close()
    time.sleep(0.05)
    for flags in (socket.MSG_NOSIGNAL, 0):
        ends = [call('sendto', client, b'x', 1, flags, address, len(address)) for _ in range(3)]
        yield ('broken', flags), (ends, list(signals))
    client.close()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with socket.socket(client.family, client.type) as s:
        yield 'not connected', call('sendto', s, b'x', 1, socket.MSG_NOSIGNAL, address,
                                    len(address))


# ---- Waiting -----------------------------------------------------------------------------------


@contextlib.contextmanager
def crowded(family):
    """A listener that has no room for more. Gives it, its address, and how to make room."""
    with socket.socket(family) as s, contextlib.ExitStack() as stack:
        s.bind((LOOPBACK[family], 0) if family in LOOPBACK else 'crowded')
        s.listen(0)
        for _ in range(4):
            client = stack.enter_context(socket.socket(family))
            client.setblocking(False)
            client.connect_ex(s.getsockname())
        time.sleep(0.05)

        def accept_all():
            s.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                while True:
                    stack.enter_context(s.accept()[0])
        name = s.getsockname()
        yield (local(name) if family == socket.AF_UNIX else inet(family, *name[:2])), accept_all
    with contextlib.suppress(OSError):
        os.unlink('crowded')


def timed(act):
    start = time.monotonic()
    return act(), round(time.monotonic() - start, 1)


def late(seconds):
    """Coarse: a retransmission comes after a second, or three."""
    return 'at once' if seconds < 0.2 else 'soon' if seconds < 0.7 else 'late'


def after(seconds, act):
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


def waits(family):
    kind = (family, socket.SOCK_STREAM)
    blocked = {signal.SIGALRM}
    timeout = struct.pack('ll', 0, 400000)
    for restart, limited in itertools.product((True, False), (True, False)):
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.siginterrupt(signal.SIGALRM, not restart)
        with crowded(family) as (address, make_room), sockets(kind) as (s,):
            if limited:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
            # Threads of ours are not for it: it is the caller that waits.
            signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
            timer = after(0.8, make_room)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            r, seconds = timed(lambda: connect(s, address))
            yield ('signal', restart, limited), (r, late(seconds))
            if not limited and not restart:
                yield 'go on', (connect(s, address), connect(s, address))
            timer.join()
    with crowded(family) as (address, make_room), sockets(kind, kind) as (s, late_one):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
        r, seconds = timed(lambda: connect(s, address))
        yield 'time is over', (r, late(seconds))
        r, seconds = timed(lambda: connect(s, address))
        yield 'and again', (r, late(seconds))
        late_one.setblocking(False)
        yield 'does not wait', connect(late_one, address)
        late_one.setblocking(True)
        timer = after(0.3, make_room)
        yield 'waits now', (connect(late_one, address), connect(late_one, address))
        timer.join()


# ---- Many at once ------------------------------------------------------------------------------


def crowd(family):
    with socket.socket(family) as s:
        s.bind((LOOPBACK[family], 0) if family in LOOPBACK else 'crowd')
        s.listen(16)
        ends = []
        done = threading.Event()

        def serve():
            s.settimeout(0.1)
            while not done.is_set():
                with contextlib.suppress(TimeoutError):
                    s.accept()[0].close()

        def knock():
            for _ in range(20):
                with socket.socket(family) as client:
                    ends.append(plain(lambda c=client: c.connect(s.getsockname())))

        threads = [threading.Thread(target=knock) for _ in range(30)]
        server = threading.Thread(target=serve)
        for thread in [server, *threads]:
            thread.start()
        for thread in threads:
            thread.join()
        done.set()
        server.join()
        yield 'ends', (len(ends), sorted(set(map(str, ends))))


GROUPS = {
    'inet': lambda: [
        ('addresses', addresses(INET)), ('pointers', pointers(INET)),
        ('descriptors', descriptors(INET)),
        ('tcp 4', life(socket.AF_INET)), ('tcp 6', life(socket.AF_INET6)), ('mapped', mapped()),
        ('udp 4', datagrams(socket.AF_INET)), ('udp 6', datagrams(socket.AF_INET6)),
        ('sends', sends([k for k in INET if k[1] == socket.SOCK_STREAM])),
        ('waits', waits(socket.AF_INET)), ('crowd', crowd(socket.AF_INET)),
    ],
    'unix': lambda: [
        ('addresses', addresses(UNIX)), ('pointers', pointers(UNIX)),
        ('descriptors', descriptors(UNIX)), ('names', names(UNIX)), ('own names', own_names(UNIX)),
        ('sends', sends(UNIX)), ('waits', waits(socket.AF_UNIX)), ('crowd', crowd(socket.AF_UNIX)),
    ],
}


def do_acts(group, folder):
    os.mkdir(folder)
    os.chdir(folder)
    for title, acts in GROUPS[group]():
        for what, end in acts:
            print(title, what, end, flush=True)


# ---- Outside and inside ------------------------------------------------------------------------


def run(prefix, group, home):
    folder = tempfile.mkdtemp(prefix='acts.', dir=home)
    os.chmod(folder, 0o777)
    done = subprocess.run(
        ['timeout', '-k', '5', '100', *prefix, sys.executable, '-I', os.path.join(home, 'same_sockets.py'), '--acts', group,
         folder + '/x'], cwd='/', env={**os.environ, 'PYTHONIOENCODING': 'utf8:backslashreplace'},
        capture_output=True, text=True, errors='backslashreplace', check=False)
    return done.stdout.splitlines() + [f'exit {done.returncode} {done.stderr[-600:]}']


def compare(outside, inside):
    """None if nothing differs, else what does."""
    if not outside[-1].startswith('exit 0 '):
        return [f'the control fails: {outside[-1]}']
    return [f'outside {a}, inside {b}' for a, b in itertools.zip_longest(outside, inside)
            if a != b][:20]


def judge(program, home, is_user):
    become = ['setpriv', '--reuid', str(UID), '--regid', str(UID), '--clear-groups']
    prefix = become if is_user and os.getuid() == 0 else []
    count = failures = 0
    outside = {group: run(prefix, group, home) for group in GROUPS}
    for name, (profile, groups) in PROFILES.items():
        for group in groups:
            inside = run([*prefix, program, 'exec', '-p', profile, '--'], group, home)
            different = compare(outside[group], inside)
            count += 1
            failures += different is not None and different != []
            for line in different or ():
                print(f'# {line}')
            print(f'{"not " if different else ""}ok {count} - {group} under {name}', flush=True)
    print(f'1..{count}')
    return 1 if failures else 0


def main():
    if sys.argv[1] == '--acts':
        do_acts(*sys.argv[2:])
        return 0
    program, who = sys.argv[1:3]
    if who == 'root' and os.getuid() != 0:
        print('1..0 # SKIP this user is not root')
        return 0
    home = tempfile.mkdtemp(prefix='lapbelt-same.', dir='/var/tmp')
    try:
        # An ordinary user may not be able to read the place of the sources.
        os.chmod(home, 0o755)
        shutil.copy(__file__, os.path.join(home, 'same_sockets.py'))
        program = shutil.copy(program, os.path.join(home, 'lapbelt'))
        return judge(program, home, who == 'user')
    finally:
        subprocess.run(['chmod', '-R', 'u+rwx', home], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
