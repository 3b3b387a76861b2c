#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compilers, package managers and interpreters work as they do outside.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init toolchains

# needs PROGRAM SENTENCE TEXT: allowed, if there is such a program
needs() {
	if command -v "$1" >/dev/null; then
		allowed "$2" "$3"
	else
		skip "$2" "no $1 here"
	fi
}

# --- C --------------------------------------------------------------------------------------------

world_prepare() {
	cat >Makefile <<-'END'
		program: a.o b.o
		 	$(CC) -o $@ a.o b.o
		%.o: %.c
		 	$(CC) -c -o $@ $<
	END
	sed -i 's/^ *\t/\t/' Makefile
	printf 'int b(void);\nint main(void) { return b(); }\n' >a.c
	printf 'int b(void) { return 0; }\n' >b.c
}
needs make 'make compiles and links' 'make -s CC=gcc && ./program && ls'
needs make 'make runs jobs in parallel' 'make -s -j4 CC=gcc >/dev/null 2>&1 && ./program'
needs gcc 'the compiler finds room for its temporary files' 'gcc -pipe -c a.c && gcc -save-temps -c b.c && ls'
needs gcc 'an archive and a shared library are made' \
	'gcc -c a.c b.c && ar rcs libx.a b.o && gcc -shared -fPIC -o libx.so b.c && gcc -o p a.c ./libx.so && ./p && ls'
needs make 'R125: make install with DESTDIR works' \
	'make -s CC=gcc && mkdir -p stage/bin && install -m 755 program stage/bin/ && stage/bin/program'

# --- Python ------------------------------------------------------------------------------------------

world_prepare() {
	python3 - <<-'END'
		import zipfile
		info = "thing-1.0.dist-info/"
		with zipfile.ZipFile("thing-1.0-py3-none-any.whl", "w") as wheel:
		    wheel.writestr("thing.py", "print('the thing')\n")
		    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
		    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\n"
		                   "Root-Is-Purelib: true\nTag: py3-none-any\n")
		    wheel.writestr(info + "RECORD", "thing.py,,\n")
	END
}
needs python3 'a virtual environment is made, a wheel installed and imported' \
	'python3 -m venv v && v/bin/pip --disable-pip-version-check install -q --no-index --no-deps ./thing-1.0-py3-none-any.whl &&
	v/bin/python -c "import thing"'
needs python3 'bytecode is cached' 'echo "x = 1" >m.py && python3 -c "import m" && ls __pycache__ | wc -l'
needs python3 'R067: multiprocessing finds semaphores and shared memory' \
	'python3 -c "
import multiprocessing, multiprocessing.shared_memory as shared
lock = multiprocessing.Semaphore()
with lock, multiprocessing.Pool(2) as pool:
    print(pool.map(abs, [-1, -2]))
memory = shared.SharedMemory(create=True, size=16)
memory.buf[0] = 7
other = shared.SharedMemory(memory.name)
print(other.buf[0])
other.close(); memory.close(); memory.unlink()"'
needs python3 'a socket knows the name it was bound to' \
	'python3 -c "
import multiprocessing, os, socket
print(multiprocessing.Manager().list([1, 2]))
os.mkdir(\"sub\")
for name in (\"one\", \"sub/two\", os.path.abspath(\"three\"), \"./sub/../four\"):
    with socket.socket(socket.AF_UNIX) as s:
        print(s.getsockname())
        s.bind(name)
        print(s.getsockname().removeprefix(os.getcwd()))
"'
needs python3 'threads, subprocesses and signals work' \
	'python3 -c "
import subprocess, threading, signal, os
thread = threading.Thread(target=lambda: print(subprocess.check_output([\"echo\", \"hi\"])))
thread.start(); thread.join()
signal.signal(signal.SIGUSR1, lambda *_: print(\"usr1\"))
os.kill(os.getpid(), signal.SIGUSR1)"'
needs python3 'R064: a unix socket in TMPDIR serves' \
	'python3 -c "
import os, socket, tempfile
path = os.path.join(tempfile.mkdtemp(), \"s\")
server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()
client = socket.socket(socket.AF_UNIX); client.connect(path)
server.accept()[0].send(b\"hi\"); print(client.recv(2))"'
has_userns && needs python3 'R089: two processes talk over loopback' \
	'python3 -c "
import os, socket
for family, host in (socket.AF_INET, \"127.0.0.1\"), (socket.AF_INET6, \"::1\"):
    server = socket.socket(family); server.bind((host, 0)); server.listen()
    if os.fork() == 0:
        socket.create_connection(server.getsockname()[:2]).send(b\"hi\")
        os._exit(0)
    print(server.accept()[0].recv(2)); os.wait()"'

# What cargo, rustc and package managers do to files.
needs python3 'R046: atomic saves, moves between directories, links and locks work' \
	'python3 -c "
import fcntl, os, shutil
os.makedirs(\"target/debug/deps\"); os.makedirs(\"target/debug/incremental/s-1-working\")
with open(\"target/.lock\", \"w\") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    with open(\"target/debug/deps/x.tmp\", \"w\") as f:
        f.write(\"rmeta\"); f.flush(); os.fsync(f.fileno())
    os.rename(\"target/debug/deps/x.tmp\", \"target/debug/deps/x.rmeta\")
    os.link(\"target/debug/deps/x.rmeta\", \"target/debug/x\")
    os.replace(\"target/debug/x\", \"target/x\")
    os.rename(\"target/debug/incremental/s-1-working\", \"target/debug/incremental/s-1\")
    os.symlink(\"x\", \"target/latest\")
    os.chmod(\"target/x\", 0o755); os.utime(\"target/x\", (1, 1)); os.truncate(\"target/x\", 2)
    shutil.copytree(\"target\", \"copy\", symlinks=True); shutil.move(\"copy\", \"moved\")
print(open(\"moved/latest\").read(), os.stat(\"target/x\").st_nlink)
shutil.rmtree(\"target\")"'

# --- Node ---------------------------------------------------------------------------------------------

world_prepare() {
	mkdir dependency
	echo '{"name":"dependency","version":"1.0.0","bin":{"dependency":"run.js"},"scripts":{"postinstall":"echo ran >ran"}}' \
		>dependency/package.json
	echo 'module.exports = "the dependency";' >dependency/index.js
	printf '#!/usr/bin/env node\nconsole.log("from the bin");\n' >dependency/run.js
	(cd dependency && npm pack --silent --pack-destination ..)
	rm -r dependency
	echo '{"name":"project","version":"1.0.0","scripts":{"hello":"dependency"}}' >package.json
}
needs npm 'npm installs a tarball, node loads it, npx runs its program' \
	'npm install --silent --offline --no-audit --no-fund ./dependency-1.0.0.tgz && cat node_modules/dependency/ran &&
	node -p "require(\"dependency\")" && npm run --silent hello && npm exec --offline dependency'
needs node 'R047: workers, child processes and rename work in node' \
	'node -e "
const fs = require(\"fs\"), { Worker } = require(\"worker_threads\");
fs.mkdirSync(\"p\"); fs.writeFileSync(\"p/a\", \"\"); fs.renameSync(\"p/a\", \"a\");
console.log(require(\"child_process\").execSync(\"echo hi\").toString());
new Worker(\"console.log(1)\", { eval: true });"'

# --- others -----------------------------------------------------------------------------------------------

world_prepare() {
	:
}
allowed 'a here-document works' 'cat <<E
x
E'
needs zsh 'R059: a here-document works in zsh' 'zsh -c "cat <<E >h
x
E
cat h"'
needs perl 'perl edits in place' 'perl -pi -e s/first/1st/ f && cat f'
has_userns && allowed 'R061: mktemp works without TMPDIR' 'env -u TMPDIR mktemp -d >/dev/null'
allowed 'R053: test -w agrees with what can be written' 'test -w f && echo x >>f && cat f'
check_access() {
	inside sh -c 'test ! -w ../other/f && test ! -w .git/hooks && ! echo x >>../other/f && ! (set -C; : >../other/lock)'
}
check 'R053: test -w says no where writing is denied' check_access

lib_done
