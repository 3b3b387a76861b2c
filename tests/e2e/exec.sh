#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `lapbelt exec` has the interface of sandbox-exec, and is it when called by that name.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init exec

everything='(version 1) (allow default)'
brokered="$everything (deny file* (regex #\"/nope[0-9]\"))"

# exec_ends STATUS COMMAND…: lapbelt exec COMMAND… ends with STATUS
exec_ends() {
	wanted=$1
	shift
	ends "$wanted" "$LAPBELT" exec "$@"
}

check 'everything is allowed by allow default' exec_ends 0 -p "$everything" touch x
check 'the status is passed on' exec_ends 7 -p "$everything" sh -c 'exit 7'
check 'death by a signal is 128 and its number' exec_ends 143 -p "$everything" sh -c 'kill -TERM $$'
check 'a wrong profile is 65' exec_ends 65 -p '(version 1) (allow defualt)' true
check 'a missing command is 71' exec_ends 71 -p "$everything" no-such-command-anywhere
check 'no profile is 64' exec_ends 64 true
check 'two profiles are 64' exec_ends 64 -p "$everything" -n no-write true

# Of processes outside, what the kernel shows everybody; the rest only to who may look into them.
others() {
	"$LAPBELT" exec -p "$brokered" sh -c 'head -c 1 /proc/$1/stat && ls /proc/$1/task' - $$ >out
	grep -q $$ out
	for file in environ maps fd/1 root/etc/passwd cwd/x; do
		fails "$LAPBELT" exec -p "$brokered" head -c 1 "/proc/$$/$file"
	done
	head -c 1 "/proc/$$/environ" >out
}
check 'processes outside are shown as by the kernel' others
check 'the command is searched in PATH' exec_ends 0 -p "$everything" true
check '-- ends the options' exec_ends 0 -p "$everything" -- true
check "options of the command are its own" exec_ends 3 -p "$everything" sh -c 'exit 3' -f x -D y

from_file() {
	echo "$everything (deny file-write* (subpath (param \"WHERE\")))" >p.sb
	"$LAPBELT" exec -f p.sb -D "WHERE=$HOME/other" sh -c 'echo x >x'
	fails "$LAPBELT" exec -f p.sb -D "WHERE=$HOME/other" sh -c 'echo x >>../other/f'
	"$LAPBELT" exec -f p.sb -D "WHERE=$HOME/nowhere" sh -c 'echo x >>../other/f'
	fails "$LAPBELT" exec -D A=b -D "WHERE=$HOME/other" -f p.sb sh -c 'echo x >>../other/f'
}
check 'a profile from a file is enforced, with its parameters' from_file

# enforced TEXT DENIED ALLOWED: under TEXT the one fails, the other does not, and both succeed without
enforced() {
	sh -c "$2"
	world_fresh
	fails "$LAPBELT" exec -p "$1" sh -c "$2"
	"$LAPBELT" exec -p "$1" sh -c "$3"
}
check 'file-write* is enforced' enforced "$everything (deny file-write* (subpath \"$HOME\"))" 'echo x >>f' 'cat f'
check 'file-read* is enforced' enforced "$everything (deny file-read* (subpath \"$HOME/.ssh\"))" \
	'cat ~/.ssh/id' 'cat f && echo x >>f'
check 'a name that is not there yet is denied' enforced "$everything (deny file-write* (literal \"$HOME/ws/new\"))" \
	'echo x >new' 'echo x >new2'
check 'R026: a regex is enforced' enforced "$everything (deny file-write* (regex #\"\\.key\$\"))" 'echo x >a.key' 'echo x >a.keys'
check 'an allow in a deny is enforced' enforced \
	"$everything (deny file-write* (subpath \"$HOME/ws\")) (allow file-write* (subpath \"$HOME/ws/d\"))" \
	'echo x >x' 'mkdir -p d && echo x >d/x'
check 'the last rule counts' enforced \
	"$everything (allow file-read* (literal \"$HOME/ws/f\")) (deny file-read* (subpath \"$HOME/ws\"))" \
	'cat f' 'cat ../other/f'
check 'unlinking alone is enforced' enforced "$everything (deny file-write-unlink (subpath \"$HOME/ws\"))" 'rm f' 'echo x >>f'
# Both are there at the start: what appears beside a denied name later is not granted, a listed gap.
enforces_exec() {
	cp /bin/true tool
	cp /bin/true tool2
	./tool
	fails "$LAPBELT" exec -p "$everything (deny process-exec (literal \"$HOME/ws/tool\"))" sh -c ./tool
	"$LAPBELT" exec -p "$everything (deny process-exec (literal \"$HOME/ws/tool\"))" sh -c ./tool2
}
check 'process-exec is enforced' enforces_exec
check 'network* is enforced' enforced "$everything (deny network*)" \
	'python3 -c "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen()"' 'cat f'
check 'signal is enforced' enforced "$everything (deny signal) (allow signal (target self))" \
	'kill -0 $PPID' 'kill -0 $$'

denies_exec() {
	result=0
	"$LAPBELT" exec -p "$everything (deny process-exec (literal \"/bin/true\") (literal \"/usr/bin/true\"))" true \
		2>message || result=$?
	cat message
	[ $result -eq 71 ] && grep 'Operation not permitted' message
}
check 'a command that may not be run is 71' denies_exec
nothing_outlives_without_proc() {
	number=60.$$
	"$LAPBELT" exec -p "$everything (deny file* (subpath \"/proc\"))" sh -c "setsid sleep $number & exit 0"
	is_gone "sleep $number"
}
check 'nothing outlives a run that does not see /proc' nothing_outlives_without_proc
answers_eperm() {
	"$LAPBELT" exec -p "$everything (deny file-write-create (literal \"$HOME/ws/new\"))" python3 -c '
import errno
try:
    open("new", "w")
except OSError as e:
    raise SystemExit(0 if e.errno in (errno.EPERM, errno.EACCES) else str(e))
raise SystemExit("it was opened")'
}
check 'the errno of a denial is one that tools know' answers_eperm

# --- what a profile may say of IPC and the network -----------------------------------------------------------------

# The C library makes a semaphore under a name of six letters, and gives it its own when it is ready.
check 'R068: named semaphores are enforced' enforced \
	"$everything (deny ipc-posix-sem*) (allow ipc-posix-sem* (ipc-posix-name-regex #\"^/(mine-.*|[0-9A-Za-z]{6})\$\"))" \
	'python3 -c "import multiprocessing as m; m.Semaphore()"' \
	'python3 -c "import _multiprocessing as m; m.SemLock(1, 1, 1, \"/mine-$$\", True)"'
check 'R065: /private/tmp and /private/var are what links lead to' enforced \
	"$everything (deny file-write* (subpath \"/private$HOME/other\"))" 'echo x >>../other/f' 'echo x >>f'

# serves ADDRESS… -- COMMAND…: while somebody outside accepts at these ports; sets $port1, $port2 …
serves() {
	python3 - "$base/ports" "$@" <<-'END' &
		import os, selectors, socket, sys
		wait, ports = selectors.DefaultSelector(), []
		for host in sys.argv[2 : sys.argv.index("--")]:
		    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
		    s.bind((host, 0)); s.listen()
		    wait.register(s, selectors.EVENT_READ)
		    ports.append(s.getsockname()[1])
		with open(sys.argv[1] + ".new", "w") as f:
		    print(*ports, file=f)
		os.rename(sys.argv[1] + ".new", sys.argv[1])
		while True:
		    for key, _ in wait.select():
		        key.fileobj.accept()[0].close()
	END
	server=$!
	wait_until test -e "$base/ports"
	read -r port1 port2 <"$base/ports"
	rm "$base/ports"
	while [ "$1" != -- ]; do shift; done
	shift
	result=0
	("$@") || result=$?
	kill "$server"
	return $result
}
# dials HOST PORT COMMAND…
dials() {
	host=$1 dialled=$2
	shift 2
	"$@" python3 -c 'import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)' "$host" "$dialled"
}
# Below it every step has its own: set -e does not hold in what serves runs.
one_port() {
	set -- "$LAPBELT" exec -p "$everything (deny network-outbound (remote ip)) (allow network-outbound
		(remote ip \"localhost:$port1\"))"
	dials 127.0.0.1 "$port2" env && dials ::ffff:127.0.0.1 "$port2" env &&
		dials 127.0.0.1 "$port1" "$@" && dials ::ffff:127.0.0.1 "$port1" "$@" &&
		fails dials 127.0.0.1 "$port2" "$@" && fails dials ::ffff:127.0.0.1 "$port2" "$@"
}
check 'R088 R092: one port of the host is reached, its neighbour is not, mapped or not' serves 127.0.0.1 127.0.0.1 -- one_port
one_port_of_6() {
	set -- "$LAPBELT" exec -p "$everything (deny network-outbound (remote ip)) (allow network-outbound
		(remote ip \"localhost:$port1\"))"
	dials ::1 "$port2" env && dials ::1 "$port1" "$@" && fails dials ::1 "$port2" "$@"
}
check 'R088: nor is it by version 6' serves ::1 ::1 -- one_port_of_6

listens_at_any_port() {
	"$LAPBELT" exec -p "$everything (deny network*) (allow network-bind network-inbound (local ip \"localhost:*\"))
		(allow network-outbound (remote ip \"localhost:*\"))" python3 -c '
import os, socket
for host in "127.0.0.1", "::1":
    server = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    if os.fork() == 0:
        socket.create_connection(server.getsockname()[:2]).send(b"hi")
        os._exit(0)
    assert server.accept()[0].recv(2) == b"hi"
    os.wait()
try:
    socket.create_connection(("10.0.0.1", 80), 5)
except PermissionError:
    raise SystemExit(0)
raise SystemExit("10.0.0.1 was not denied")'
}
check 'R089 R094: servers of the loopback take ports as they come, and reach nothing else' listens_at_any_port
publishes_port() {
	# shellcheck disable=SC2046 # two words
	set -- $(python3 -c '
import socket
s, t = socket.socket(), socket.socket()
s.bind(("127.0.0.1", 0)); t.bind(("127.0.0.1", 0))
print(s.getsockname()[1], t.getsockname()[1])')
	"$LAPBELT" exec -p "$everything (deny network*) (allow network-bind network-inbound (local ip \"localhost:$1\"))" \
		sh -c '
		! python3 -m http.server --bind 127.0.0.1 "$2" || exit 1
		exec python3 -m http.server --bind 127.0.0.1 "$1"' sh "$@" &
	server=$!
	wait_until dials 127.0.0.1 "$1" env
	python3 -c 'import sys, urllib.request as u; sys.exit(u.urlopen(sys.argv[1]).status != 200)' "http://127.0.0.1:$1/f"
	kill "$server"
	wait "$server" || :
}
check 'R091: a server at one port is reached from outside, one at another does not start' publishes_port

# --- named profiles -----------------------------------------------------------------------------------------------

# named NAME DENIED ALLOWED
named() {
	sh -c "$2"
	world_fresh
	fails "$LAPBELT" exec -n "$1" sh -c "$2"
	"$LAPBELT" exec -n "$1" sh -c "$3"
}
loopback='python3 -c "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen()"'
unix='python3 -c "import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"s\"); s.listen()"'
check 'no-write denies writing' named no-write 'echo x >>f' 'cat f'
check 'no-write-except-temporary denies writing elsewhere' named no-write-except-temporary \
	"echo x >/run/lock/lapbelt-exec-$$ && rm /run/lock/lapbelt-exec-$$" \
	"echo x >/var/tmp/lapbelt-exec-$$ && rm /var/tmp/lapbelt-exec-$$"
check 'no-network denies TCP/IP' named no-network "$loopback" 'echo x >>f'
check 'no-network denies unix sockets' named no-network "$unix" 'echo x >>f'
check 'no-internet denies TCP/IP and leaves unix sockets' named no-internet "$loopback" "$unix"

pure_computation() {
	if "$LAPBELT" exec -n pure-computation cat f; then
		return 1
	fi
}
check 'pure-computation denies about everything' pure_computation

# --- sandbox-exec ---------------------------------------------------------------------------------------------------

by_another_name() {
	ln -s "$LAPBELT" "$HOME/sandbox-exec"
	"$HOME/sandbox-exec" -p "$everything" touch ran
	[ -e ran ]
	fails "$HOME/sandbox-exec" -p "$everything (deny file-write*)" touch ran2
	[ ! -e ran2 ]
	fails "$HOME/sandbox-exec" -n no-write touch ran2
	result=0
	"$HOME/sandbox-exec" -p '(version 1) (allow defualt)' true 2>message || result=$?
	cat message
	[ $result -eq 65 ] && grep '^sandbox-exec: ' message
}
check 'it is sandbox-exec when called so' by_another_name

# says STATUS COMMAND…: it ends with STATUS, after one message, of one line and perhaps a hint
says() {
	wanted=$1
	shift
	result=0
	"$@" 2>message || result=$?
	cat message
	[ "$result" -eq "$wanted" ] && [ "$(grep -c '^lapbelt: ' message)" -eq 1 ] &&
		[ "$(grep -v -c '^hint: ' message)" -eq 1 ]
}
says_what_fails() {
	echo '(version 1) (allow file-raed*)' >wrong.sb
	says 65 "$LAPBELT" exec -f wrong.sb touch ran
	grep 'wrong.sb:1:20: .*file-raed' message
	grep "^hint: .*'file-read\*'" message
	says 65 "$LAPBELT" exec -p '(version 1' touch ran
	says 65 "$LAPBELT" exec -f nowhere.sb touch ran
	grep nowhere.sb message
	says 64 "$LAPBELT" exec -x touch ran
	says 64 "$LAPBELT" run --no-such-option touch ran
	says 71 "$LAPBELT" exec -p "$everything" no-such-command-anywhere
	grep no-such-command-anywhere message
	says 71 "$LAPBELT" exec -p "$everything (deny process-exec (subpath \"$HOME\"))" "$HOME/ws/f"
	says 78 "$LAPBELT" run --write nowhere touch ran
	says 71 "$LAPBELT" run --limit=open-files=99999999999 touch ran
	[ ! -e ran ]
}
check 'R142 R149: whatever fails says so in one line, and how to spell it' says_what_fails

# decided_by_both TOOL: what both allow is done, what one denies is not (nested.py has the rest)
decided_by_both() {
	tool=$1
	for outer in "exec -p $everything" "exec -p $brokered" run; do
		case $outer in
		exec*) set -- "$LAPBELT" exec -p "${outer#exec -p }" ;;
		*) set -- inside ;;
		esac
		"$@" "$tool" -p "$everything" touch ran
		rm ran
		[ "$outer" != "exec -p $everything" ] || continue
		fails "$@" "$tool" -p "$everything (deny file-write*)" touch ran
		[ ! -e ran ]
	done
}
as_sandbox_exec() {
	cp "$LAPBELT" sandbox-exec
	decided_by_both ./sandbox-exec
}
as_lapbelt() {
	cp "$LAPBELT" lapbelt
	printf '#!/bin/sh\nexec ./lapbelt exec "$@"\n' >belt
	chmod +x belt
	decided_by_both ./belt
	inside ./lapbelt run -- true
	inside ./lapbelt run --no-userns -- true
}
says_what_is_not_judged() {
	result=0
	"$LAPBELT" exec -p "$everything" "$LAPBELT" exec -p "$brokered" touch ran 2>message || result=$?
	cat message
	[ $result -eq 71 ] && [ ! -e ran ]
	grep 'not judged one by one by the sandbox around us' message
}
check 'inside a sandbox sandbox-exec makes another' as_sandbox_exec
check 'inside a sandbox lapbelt makes another' as_lapbelt
check 'and says what the one around it does not judge' says_what_is_not_judged

keeps_what_is_shared() {
	echo x >/tmp/lapbelt-exec-$$
	"$LAPBELT" exec -p "$everything" cat "/tmp/lapbelt-exec-$$"
	rm "/tmp/lapbelt-exec-$$"
	SOME_TOKEN=visible "$LAPBELT" exec -p "$everything" sh -c 'test "$SOME_TOKEN" = visible'
}
check 'exec shares /tmp and the environment' keeps_what_is_shared

# raced SECONDS FLAGS LAUNCHER…: renames x to y, which FLAGS may make an exchange, while a directory and a file
# exchange their names x and d; succeeds if that brings files to y and never the directory, which is 3
raced() {
	rm -rf x y d
	mkdir d
	echo x >x
	echo y >y
	python3 - "$@" <<'END'
import ctypes, os, signal, subprocess, sys

act = """
import ctypes, os, sys, time
renameat2, moved = ctypes.CDLL(None).renameat2, 0
end = time.monotonic() + int(sys.argv[1])
while time.monotonic() < end or (not moved and time.monotonic() < end + 10):
    if not os.path.exists("x"):
        try:
            os.rename("y", "x")
        except OSError:  # EXDEV, when it has lost the race
            pass
    if renameat2(-100, b"x", -100, b"y", int(sys.argv[2])) < 0:
        continue
    if os.path.isdir("y"):
        raise SystemExit(3)
    moved += 1
print(moved, "moved")
raise SystemExit(moved == 0)
"""
parent = os.getpid()
child = os.fork()
while child == 0 and os.getppid() == parent:
    ctypes.CDLL(None).renameat2(-100, b"x", -100, b"d", 2)
if child == 0:
    os._exit(0)
try:
    status = subprocess.run([*sys.argv[3:], "python3", "-c", act, *sys.argv[1:3]], check=False).returncode
finally:
    os.kill(child, signal.SIGKILL)
raise SystemExit(status)
END
}
# A file may come to y, and back. A directory would bring along what may not be below y.
no_directory="$everything (deny file-write* (literal \"$HOME/ws/y/below\"))"
moves_what_is_judged() {
	for flags in 0 2; do
		ends 3 raced 10 $flags env
		raced 1 $flags "$LAPBELT" exec -p "$no_directory"
	done
}
check 'what is renamed or exchanged is what was judged' moves_what_is_judged

# Who may be connected to is nothing to a file that is moved; a socket must not come to where it may be.
moves_by_kind() {
	(
		cd "$HOME/ws" && mkdir -p shut open && echo x >shut/file
		python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("shut/socket")'
		"$LAPBELT" exec -p "$everything (deny network-outbound (subpath \"$HOME/ws/shut\"))" \
			sh -c 'python3 -c "import os; os.rename(\"shut/file\", \"open/file\")" &&
				! python3 -c "import os; os.rename(\"shut/socket\", \"open/socket\")"'
		[ "$(cat open/file)" = x ] && [ -S shut/socket ] && [ ! -e open/socket ]
	)
}
check 'a file is moved where only sockets are told apart, and they are not' moves_by_kind

# between TEXT… -- LAUNCHER…: runs shell $before, renames $from (a file at first) to $to with $flags, and runs $after; each
# TEXT is run outside before or after some renameat2 of the broker (between.py). 0: renamed, 3: EXDEV
between() {
	rm -rf o x y d n ready go .lapbelt-moved-*
	mkdir -p o d/inside
	echo x >o/x
	python3 "$lib_directory/between.py" "$@" python3 -c '
import ctypes, errno, os, subprocess, sys, time
before, source, target, flags, after = sys.argv[1:]
subprocess.run(["sh", "-ec", before], check=True)
open("ready", "x").close()
while not os.path.exists("go"):
    time.sleep(0.01)
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 316, "aarch64": 276}[os.uname().machine]
r = libc.syscall(number, -100, source.encode(), -100, target.encode(), int(flags))
error = ctypes.get_errno()
subprocess.run(["sh", "-ec", after], check=True)
raise SystemExit(0 if r == 0 else 3 if error == errno.EXDEV else 4)' \
		"${before:-}" "${from:-o/x}" "${to:-y}" "${flags:-0}" "${after:-}"
}
swap='mv o/x x && mv d o/x'
takes_back() {
	ends 0 between : : -- "$LAPBELT" exec -p "$no_directory"
	[ -f y ]
	ends 0 between "$swap" : -- env
	[ -d y/inside ]
	ends 3 between "$swap" : -- "$LAPBELT" exec -p "$no_directory"
	[ -d o/x/inside ]
	[ ! -e y ]
}
check 'what was renamed in the place of another goes back' takes_back
takes_back_beside() {
	# No name beside it can have been prepared.
	taken='touch o/x o/.lapbelt-moved-back'
	ends 0 between "$swap" "$taken" -- env
	[ -d y/inside ]
	ends 3 between "$swap" "$taken" -- "$LAPBELT" exec -p "$no_directory"
	[ -f o/x ]
	[ ! -e y ]
	ls -d o/.lapbelt-moved-*/inside
}
check 'its old name is taken: it goes beside it' takes_back_beside
takes_back_from_removed() {
	ends 0 between "$swap" 'rmdir o' -- env
	[ -d y/inside ]
	ends 3 between "$swap" 'rmdir o' -- "$LAPBELT" exec -p "$no_directory"
	[ ! -e o ]
	[ ! -e y ]
	ls -d .lapbelt-moved-*/inside
}
check 'its old directory is removed: it goes beside its new name' takes_back_from_removed
takes_back_an_exchange() {
	flags=2
	before='echo y >y'
	ends 0 between "$swap" 'rm o/x' -- env
	[ -d y/inside ]
	# One of the two is gone: the other goes back all the same.
	ends 3 between "$swap" 'rm o/x' -- "$LAPBELT" exec -p "$no_directory"
	[ -d o/x/inside ]
	[ ! -e y ]
	ends 3 between "$swap" : -- "$LAPBELT" exec -p "$no_directory"
	[ -d o/x/inside ]
	[ -f y ]
}
check 'what was exchanged goes back, each for itself if need be' takes_back_an_exchange
forgets_what_was_replaced() {
	no_config="$everything (deny file-write* (regex #\"/\\.git/config\$\") (with message \"lapbelt: new repository\"))"
	before='mkdir -p n/.git'
	after='echo x >n/.git/config'
	from=o/x to=n/new
	ends 0 between : : -- "$LAPBELT" exec -p "$no_config"
	# Where the new repository was there is another one now.
	to=n/.git
	after='mkdir -p n/.git; ! echo x >n/.git/config'
	ends 3 between "$swap" : : 'mkdir n/.git' -- "$LAPBELT" exec -p "$no_config"
	[ -d o/x/inside ]
}
check 'a new repository that was replaced is forgotten' forgets_what_was_replaced
takes_back_in_shared_memory() {
	shared=/dev/shm/lapbelt-renamed.$$
	trap 'rm -f "$shared".*' EXIT
	before="echo own >$shared.a"
	from=$shared.a to=$shared.b
	ends 0 between : : -- "$LAPBELT" run --no-userns --
	rm -f "$shared".*
	ends 3 between "mv $shared.a $shared.c; echo other >$shared.a" : -- "$LAPBELT" run --no-userns --
	[ "$(cat "$shared.a")" = other ]
	[ ! -e "$shared.b" ]
}
check 'in a shared /dev/shm what was renamed is the file that was judged' takes_back_in_shared_memory
ends_what_cannot_be_taken_back() {
	# No such name may be made; or at such a name it could be read, which it cannot be at o/x.
	ends 70 between "$swap" 'touch o/x' -- "$LAPBELT" exec \
		-p "$no_directory (deny file-write* (regex #\"/\\.lapbelt-moved-\"))" 2>err || ends=no
	cat err
	grep -q 'could not be taken back' err
	[ -z "${ends:-}" ]
	ends 70 between "$swap" 'touch o/x' -- "$LAPBELT" exec \
		-p "$no_directory (deny file-read* (subpath \"$HOME/ws/o/x/inside\"))"
	ls -d y/inside
	# The way back is raced as well: something else comes beside o/x.
	ends 70 between "$swap" 'touch o/x' : : 'mv y d && mkdir y y/secret' : -- "$LAPBELT" exec \
		-p "$no_directory (deny file-read* (subpath \"$HOME/ws/y/secret\"))"
	[ -d y/secret ]
}
check 'what can be taken back nowhere ends the run' ends_what_cannot_be_taken_back

# --- the broker acts as its caller ----------------------------------------------------------------------------------

keeps_umask() {
	# Rules that make the broker bind sockets, but not open files.
	"$LAPBELT" exec -p "$everything (deny network-inbound (local ip \"localhost:99\"))" python3 -c '
import os, socket
os.umask(0o077)
socket.socket(socket.AF_UNIX).bind("s")'
	[ "$(stat -c %a s)" = 700 ]
}
check 'a socket is made with the umask' keeps_umask
has_no_landlock() {
	# What it grants would not hold for what the broker opens.
	"$LAPBELT" exec -p "$brokered" python3 -c '
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(444, None, 0, 1) == -1 and ctypes.get_errno() == errno.EOPNOTSUPP'
	python3 -c '
import ctypes
assert ctypes.CDLL(None).syscall(444, None, 0, 1) > 0'
}
check 'a command makes no Landlock domains that would not bind it' has_no_landlock
is_no_more_capable() {
	echo secret >r && chmod 600 r
	setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps +dac_override --ambient-caps +dac_override \
		cat "$HOME/ws/r"
	fails setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps +dac_override \
		--ambient-caps +dac_override "$LAPBELT" exec -p "$brokered" cat "$HOME/ws/r"
}
looks_into_no_others() {
	mkdir -m 711 "$HOME/priv" && mkdir "$HOME/priv/pub" && echo x >"$HOME/priv/pub/f"
	"$LAPBELT" exec -p "$brokered" sh -c '
		sleep 60 & p=$!
		cat /proc/$p/maps >maps
		test -s maps
		setpriv --reuid 1000 --regid 1000 --clear-groups sh -c "
			head -1 /proc/self/maps >/dev/null || exit 1
			! head -1 /proc/$p/maps && ! ls /proc/$p/cwd/"
		r=$?
		kill $p
		exit $r'
}
if [ "$(id -u)" -eq 0 ]; then
	check 'capabilities of another than root do not outlive the start' is_no_more_capable
	check 'who has given up root looks into no process of root' looks_into_no_others
fi

lib_done
