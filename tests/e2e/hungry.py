# SPDX-License-Identifier: Apache-2.0
"""hungry.py ACT AMOUNT [FILE]: takes AMOUNT of something and prints `done HOW-MUCH`, or what stopped it after how much."""
import errno
import os
import resource
import signal
import sys
import threading
import time


def stopped(error, amount):
    name = errno.errorcode[error.errno] if isinstance(error, OSError) else type(error).__name__
    print(f'{name} after {amount}', flush=True)


def each(amount, take):
    """Calls TAKE for 0, 1 ... until it fails or AMOUNT is reached; keeps what it returns."""
    kept = []
    for i in range(amount):
        try:
            kept.append(take(i))
        except (OSError, RuntimeError, MemoryError) as error:
            stopped(error, i)
            return kept
    print(f'done {amount}', flush=True)
    return kept


def forks(amount, ready=None):
    end, other_end = os.pipe()

    def fork(_):
        pid = os.fork()
        if pid == 0:
            os.close(other_end)
            os.read(end, 1)  # until the parent is gone
            os._exit(0)
        return pid

    each(amount, fork)
    if ready:
        open(ready, 'w').close()
        while os.path.exists(ready):
            time.sleep(0.05)


def threads(amount):
    over = threading.Event()

    def start(_):
        threading.Thread(target=over.wait, args=(20,), daemon=True).start()

    each(amount, start)
    over.set()


def memory(amount):
    each(amount, lambda _: bytearray(b'x') * (1 << 20))


def spin(amount):
    while time.process_time() < amount:
        pass
    print(f'done {amount}')


def new_file():
    return os.open('grown', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)


def write(amount):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    fd, done = new_file(), 0
    try:
        while done < amount:
            done += os.write(fd, b'x' * min(1000, amount - done))
        print(f'done {done}')
    except OSError as error:
        stopped(error, done)


def truncate_as_is(amount):
    os.close(new_file())
    try:
        os.truncate('grown', amount)
        print(f'done {os.stat("grown").st_size}')
    except OSError as error:
        stopped(error, os.stat('grown').st_size)


def truncate(amount):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    truncate_as_is(amount)


def truncate_default(amount):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # python ignores it
    truncate_as_is(amount)


def ftruncate(amount):
    fd = new_file()
    try:
        os.ftruncate(fd, amount)
        print(f'done {amount}')
    except OSError as error:
        stopped(error, os.fstat(fd).st_size)


def open_files(amount):
    each(amount, lambda _: os.open('/dev/null', os.O_RDONLY))


# What is lower than anybody's limits, and higher than those that are tried with --limit.
RAISED = {'cpu': (resource.RLIMIT_CPU, 1000), 'memory': (resource.RLIMIT_DATA, 4 << 30),
          'open-files': (resource.RLIMIT_NOFILE, 150), 'file-size': (resource.RLIMIT_FSIZE, 1 << 30),
          'processes': (resource.RLIMIT_NPROC, 2000)}


def raise_all(*names):
    raised = 0
    for name in names:
        kind, value = RAISED[name]
        try:
            resource.setrlimit(kind, (value, value))
            raised += 1
        except (OSError, ValueError):
            pass
    print(f'raised {raised}')


def lower():
    resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    print('done')


ACTS = {'forks': forks, 'threads': threads, 'memory': memory, 'spin': spin, 'write': write,
        'truncate': truncate, 'truncate-default': truncate_default, 'ftruncate': ftruncate,
        'open': open_files, 'raise': raise_all, 'lower': lower}
ACTS[sys.argv[1]](*(int(word) if word.isdigit() else word for word in sys.argv[2:]))
