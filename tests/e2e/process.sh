#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A run behaves like the command itself: statuses, signals, terminals, pipes; and it ends whole.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init process

# --- the end of a command -------------------------------------------------------------------------------

ends_with() {
	wanted=$1
	shift
	result=0
	inside "$@" || result=$?
	echo "status $result"
	[ "$result" -eq "$wanted" ]
}
check 'status 0 is passed on' ends_with 0 true
check 'status 1 is passed on' ends_with 1 false
check 'status 255 is passed on' ends_with 255 sh -c 'exit 255'
check 'a status that looks like ours is passed on' ends_with 71 sh -c 'exit 71'
check 'R127: death by TERM is 143' ends_with 143 sh -c 'kill -TERM $$'
check 'death by KILL is 137' ends_with 137 sh -c 'kill -KILL $$'
check 'death by SEGV is 139' ends_with 139 sh -c 'ulimit -c 0; kill -SEGV $$'
check 'an unknown command is 71' ends_with 71 no-such-command-anywhere
check 'a file that is not executable is 71' ends_with 71 ./f
check 'no command is a usage error' ends_with 64
with_children_ignored() {
	result=0
	# shellcheck disable=SC2086 # a list of options, or nothing
	timeout -k 5 20 python3 -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])' "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} -- sh -c "$2" || result=$?
	echo "status $result"
	[ $result -eq "$1" ]
}
check 'a status arrives where SIGCHLD was ignored' with_children_ignored 5 'exit 5'
check 'a signal arrives where SIGCHLD was ignored' with_children_ignored 143 'kill $$'

allowed 'arguments arrive unchanged' 'printf "<%s>" "" " " "a b" "*" "\\" "--" "-x" "$(printf "\n.")"'
allowed 'the directory, the user and the umask stay' 'pwd; pwd -P; id -u; id -g; umask; echo x >x; stat -c "%u %g" x'
allowed 'a file made inside belongs to the user' 'umask 027; echo x >x; mkdir d; stat -c "%a %u:%g" x d'
keeps_mask() {
	(umask 027 && inside sh -c 'echo x >x && mkdir d')
	stat -c %a x d | tr '\n' ' ' | grep -x '640 750 '
}
check 'the mask of the caller holds inside' keeps_mask

# --- limits of the caller (those of --limit: limits.sh) ------------------------------------------------

allowed 'truncating counts against the limit on file size' \
	'ulimit -f 200; sh -c "truncate -s 200000 f" 2>&1; echo $?; truncate -s 102400 f; stat -c %s f
	python3 -c "import os; os.truncate(\"f\", 200000)" 2>&1 | tail -n 1; stat -c %s f'
allowed 'a soft limit on file size can be raised inside' \
	'ulimit -S -f 200; sh -c "ulimit -S -f unlimited; truncate -s 200000 f; stat -c %s f"'
allowed 'an open that fails for want of descriptors makes no file' 'ulimit -n 20; python3 -c "
import os
try:
	for i in range(100): os.open(f\"new{i}\", os.O_CREAT | os.O_EXCL)
except OSError as error: print(error.errno, os.path.exists(f\"new{i}\"))"'

# --- standard input and output ------------------------------------------------------------------------------

passes_pipes() {
	[ "$(echo hi | inside cat)" = hi ]
	[ "$(inside sh -c 'echo out; echo err >&2' 2>/dev/null)" = out ]
	[ "$(inside sh -c 'echo err >&2' 2>&1 >/dev/null)" = err ]
}
check 'a run is part of a pipeline' passes_pipes
sees_end_of_input() {
	inside cat </dev/null
	[ "$(: | inside wc -c)" -eq 0 ]
}
check 'R133: the end of standard input is seen' sees_end_of_input
restores_blocking() {
	cat >run.py <<-'EOT'
		import fcntl, os, subprocess, sys
		r, w = os.pipe()
		act = [sys.executable, "-c", "import fcntl, os; fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK)"]
		subprocess.run([*sys.argv[1:], *act], stdin=r, check=True)
		print(bool(fcntl.fcntl(r, fcntl.F_GETFL) & os.O_NONBLOCK))
	EOT
	[ "$(python3 run.py)" = True ]
	# shellcheck disable=SC2086 # a list of options, or nothing
	[ "$(python3 run.py "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --)" = False ]
}
check 'A128: standard input waits again afterwards' restores_blocking
survives_closed_input() {
	inside sh -c 'echo fine' <&-
}
check 'R133: standard input may be closed' survives_closed_input
survives_all_closed() {
	inside sh -c 'echo fine >made' <&- >&- 2>&-
	grep fine made
}
check 'the three standard descriptors may all be closed' survives_all_closed
passes_broken_pipe() {
	inside sh -c 'while :; do echo line; done' | head -n 1
}
check 'a closed reader ends the command' passes_broken_pipe
moves_data() {
	head -c 30000000 /dev/zero | inside cat | wc -c | grep -x 30000000
}
check 'much data passes' moves_data
allowed 'R071: descriptors 3 to 9 are free' 'echo hi | grep hi; echo a 3>&1 >&3; exec 3<f; cat <&3; exec 9>x; echo y >&9; cat x'
leaks_nothing() {
	inside sh -c 'ls /proc/self/fd' 5</dev/null 7</dev/null >list
	cat list
	[ "$(wc -l <list)" -eq 4 ]
}
check 'R071: no other descriptor comes along' leaks_nothing
passes_asked_descriptor() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --pass-fd 5 -- cat /dev/fd/5 5<f | grep 'first line'
}
check '--pass-fd passes one descriptor' passes_asked_descriptor
passes_descriptor_twice() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --pass-fd 5 --pass-fd 6 --pass-fd 5 -- \
		sh -c 'cat <&5 && cat <&6' 5<f 6<.gitignore | grep 'first line'
}
check '--pass-fd may name one twice' passes_descriptor_twice
# passed_sockets LAPBELT-OPTION…: what came of binding, listening, connecting and sending on sockets that are passed
passed_sockets() {
	python3 "$lib_directory/passed.py" here 'socket()' 'bound()' 'socket()' 'socket()' -- \
		's[0].bind(("127.0.0.1", 0))' 's[1].listen()' 's[2].connect(("127.0.0.1", port))' \
		's[3].sendto(b"x", MSG_FASTOPEN, ("127.0.0.1", port))' -- "$@"
}
passes_no_network() {
	network='(deny network-outbound (remote ip)) (deny network-inbound (local ip)) (deny network-bind (local ip))'
	# shellcheck disable=SC2086 # a list of options, or nothing
	for how in "run ${LAPBELT_RUN_OPTIONS:-}" exec; do
		passed_sockets $how -p '(version 1) (allow default)' | grep '^done done done '
		passed_sockets $how -p '(version 1) (allow default) (deny network*)' | grep -x '1 1 1 1'
		passed_sockets $how -p "(version 1) (allow default) (allow file-write-setugid) $network" | grep -x '1 1 1 1'
	done
}
check 'sockets that are passed do nothing that the policy denies' passes_no_network
# judges_socket SOCKET ACT OPERATION FILTER… beside FILTER…: ACT asks for OPERATION, which is denied where the
# former match, and not where the latter do
judges_socket() {
	socket=$1 act=$2 operation=$3 expected=1
	shift 3
	for filter; do
		if [ "$filter" = beside ]; then
			expected='done'
			continue
		fi
		echo "$filter"
		# shellcheck disable=SC2086 # a list of options, or nothing
		python3 "$lib_directory/passed.py" here "$socket" -- "$act" -- run ${LAPBELT_RUN_OPTIONS:-} \
			-p "(version 1) (allow default) (deny $operation $filter)" | grep -x "$expected"
	done
}
# passed_kind SENTENCE SOCKET ACT …: a row, where the kernel has such sockets
passed_kind() {
	sentence=$1
	shift
	if python3 -c "from socket import *; $1" 2>"$base/err"; then
		check "$sentence" judges_socket "$@"
	else
		skip "$sentence" 'no such sockets here'
	fi
}
other_ip='(require-all (remote ip) (require-not (remote tcp)) (require-not (remote udp)))'
passed_kind 'a passed UDP-Lite socket is IP, neither TCP nor UDP' 'socket(AF_INET, SOCK_DGRAM, 136)' \
	's[0].connect(("127.0.0.1", port))' network-outbound \
	'(socket-protocol 136)' '(socket-type SOCK_DGRAM)' '(socket-domain AF_INET)' "$other_ip" \
	'(remote ip "localhost:*")' \
	beside '(socket-protocol 17)' '(socket-type SOCK_STREAM)' '(remote udp)' '(remote tcp)'
passed_kind 'a passed MPTCP socket is TCP' 'socket(AF_INET, SOCK_STREAM, 262)' \
	's[0].connect(("127.0.0.1", port))' network-outbound \
	'(socket-protocol 6)' '(remote tcp)' \
	beside '(socket-protocol 17)' '(remote udp)' "$other_ip"
passed_kind 'a passed vsock socket is what it is' 'socket(AF_VSOCK, SOCK_STREAM)' \
	's[0].bind((VMADDR_CID_ANY, VMADDR_PORT_ANY))' network-bind \
	'(socket-type SOCK_STREAM)' '(socket-domain AF_VSOCK)' \
	beside '(socket-type SOCK_DGRAM)' '(socket-domain AF_INET)' '(local ip)'
if is_root; then
	passed_kind 'a passed raw socket is IP, neither TCP nor UDP' 'socket(AF_INET, SOCK_RAW, 1)' \
		's[0].connect(("127.0.0.1", 0))' network-outbound \
		'(socket-type SOCK_RAW)' '(socket-protocol 1)' "$other_ip" '(local ip "localhost:80")' \
		beside '(socket-type SOCK_DGRAM)' '(remote udp)' '(remote tcp)' '(remote ip "*:80")'
	passed_kind 'a passed packet socket is of no family of macOS' 'socket(AF_PACKET, SOCK_RAW)' \
		's[0].bind(("lo", 0))' network-bind \
		'(socket-type SOCK_RAW)' '(socket-domain -17)' \
		beside '(socket-domain AF_ROUTE)' '(local ip)'
fi
# third_network LAPBELT-OPTION…: what came of connecting, binding and connecting to an abstract name on sockets that
# are passed, of neither our network nor the run's; then of connecting in the run's own
third_network() {
	python3 "$lib_directory/passed.py" third 'socket()' 'socket()' 'socket(AF_UNIX)' -- \
		's[0].connect(("127.0.0.1", port))' 's[1].bind(("127.0.0.1", 0))' \
		's[2].connect("\0lapbelt-third-network")' \
		'own = create_server(("127.0.0.1", 0)); create_connection(own.getsockname())' -- "$@"
}
passes_no_third_network() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	for how in "run ${LAPBELT_RUN_OPTIONS:-}" exec; do
		third_network $how -p '(version 1) (allow default)' | grep -x 'done done done done'
		third_network $how -p '(version 1) (allow default) (deny network*)' | tee told | grep '^1 1 1 '
		[ "$how" != 'run ' ] || grep ' done$' told
	done
}
check 'nor do those of a third network' passes_no_third_network
allowed 'R073: a process says of itself what it may outside' \
	'python3 -c "
import os
for name, text in (\"comm\", \"renamed\"), (\"task/%d/comm\" % os.getpid(), \"thread\"), (\"oom_score_adj\", \"500\"):
    with open(\"/proc/self/\" + name, \"w\") as f:
        f.write(text)
    print(open(\"/proc/self/\" + name).read())"'

# --- signals -----------------------------------------------------------------------------------------------------

forwards() {
	start_inside sh -c "trap 'exit 7' $1; echo >ready; while :; do sleep 0.05; done"
	wait_until test -e ready
	kill "-$1" "$started"
	result=0
	wait "$started" || result=$?
	echo "status $result"
	[ $result -eq 7 ]
}
check 'R127: TERM is forwarded to the command' forwards TERM
check 'HUP is forwarded to the command' forwards HUP
check 'USR1 is forwarded to the command' forwards USR1
ends_by_term() {
	start_inside sh -c 'echo >ready; exec sleep 60'
	wait_until test -e ready
	kill -TERM "$started"
	result=0
	wait "$started" || result=$?
	[ $result -eq 143 ]
}
check 'TERM ends a run' ends_by_term

terminal() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	python3 "$lib_directory/terminal.py" "$1" "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --
}
check 'Ctrl-C reaches the command' terminal interrupt
check 'Ctrl-C ends a command that does not catch it' terminal interrupt-default
check 'R128: Ctrl-C in an interpreter gives back its prompt' terminal interrupt-interpreter
check 'Ctrl-Z gives back the shell, fg goes on' terminal suspend
check 'A128: what the command does to the terminal ends with it' terminal modes
check 'the size of the window is seen, and its changes' terminal window-size
check 'R070: /dev/tty is the terminal' terminal controlling-terminal
check 'a shell inside has jobs' terminal job-control
check '/dev/stdin, /dev/stdout and /dev/stderr are the terminal' terminal standard-names
check 'a terminal made inside works' terminal terminal-inside
allowed 'a terminal made inside works where there is none outside' \
	'python3 -c "
import os, pty
status = pty.spawn([\"sh\", \"-c\", \"test -t 0 && tty >/dev/null && echo hello >/dev/tty\"])
print(os.waitstatus_to_exitcode(status))" </dev/null'
if command -v script >/dev/null; then
	allowed 'script records a session' 'script -q -e -c "test -t 1 && echo hello" record >/dev/null && grep -c hello record'
else
	skip 'script records a session' 'no script here'
fi

# --- other processes ----------------------------------------------------------------------------------------------

# A time that no other test, and no other run of this one, sleeps for: a minute.
mark() {
	echo "60.$$$1"
}

returns_at_once() {
	number=$(mark 1)
	begin=$(date +%s)
	output=$(inside sh -c "sleep $number & echo hi")
	[ "$output" = hi ]
	[ $(($(date +%s) - begin)) -lt 10 ]
	wait_until is_gone "sleep $number"
}
check 'R134: a background job does not hold the caller' returns_at_once
nothing_outlives() {
	number=$(mark 2)
	inside sh -c "setsid sleep $number >/dev/null 2>&1 & nohup sleep $number >/dev/null 2>&1 & exit 3" || result=$?
	[ "$result" -eq 3 ]
	wait_until is_gone "sleep $number"
}
check 'R130: nothing outlives a run' nothing_outlives
waits_for_jobs() {
	inside sh -c 'sleep 0.3 & sleep 0.1 & wait; echo all' | grep all
}
check 'a command waits for its jobs' waits_for_jobs
dies_with_supervisor() {
	number=$(mark 3)
	start_inside sh -c "sleep $number & echo >ready; sleep $number"
	wait_until test -e ready
	is_running "sleep $number"
	kill -KILL "$started"
	wait "$started" || :
	wait_until is_gone "sleep $number"
	rm ready
	[ -z "$(git status --porcelain)" ]
}
check 'the command dies with its supervisor' dies_with_supervisor
leaves_no_zombies() {
	inside python3 -c '
import os, time
for _ in range(1000):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
def count():
    zombies = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                state, _, _, session = stat.read().rsplit(")", 1)[1].split()[:4]
        except OSError:
            continue
        zombies += state == "Z" and int(session) == os.getsid(0)
    return zombies
end = time.monotonic() + 10
while count() and time.monotonic() < end:
    time.sleep(0.1)
print(count(), "zombies")
assert count() == 0
'
}
check 'R136: a thousand orphans leave no zombie' leaves_no_zombies
runs_many_pipelines() {
	inside sh -c 'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); echo x | cat | cat | grep -q x || exit 1; done'
}
check 'R140: two hundred pipelines complete' runs_many_pipelines
takes_long_arguments() {
	inside python3 -c '
import subprocess
subprocess.run(["/bin/true", "x" * 131071], check=True)
long = {str(i): "y" * 100000 for i in range(10)}
subprocess.run(["/bin/true"] + ["x" * 999] * 800, env=long, check=True)'
	# shellcheck disable=SC2086 # a list of options, or nothing
	python3 -c '
import os, sys
os.execvp(sys.argv[1], sys.argv[1:] + ["x" * 999] * 1900)' "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} -- true
}
check 'R139: long argument lists pass' takes_long_arguments
runs_side_by_side() {
	for i in 1 2 3 4; do
		inside sh -c "echo $i >out$i" &
	done
	wait
	cat out1 out2 out3 out4
}
check 'runs work side by side' runs_side_by_side
allowed 'R070: without a terminal there is no /dev/tty' 'setsid -w sh -c "echo x >/dev/tty" 2>&1; echo $?'
nests() {
	cp "$LAPBELT" lapbelt
	# shellcheck disable=SC2086 # a list of options, or nothing
	inside ./lapbelt run ${LAPBELT_RUN_OPTIONS:-} -- sh -c 'touch inner && ! touch "$HOME/inner"'
	[ -e inner ] && [ ! -e "$HOME/inner" ]
}
check 'R151: a run inside a run is one, and both decide' nests

says_what_is_lost() {
	inside true 2>message
	[ ! -s message ]
	unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$LAPBELT" "$@"' sh \
		run touch ran 2>message
	cat message
	[ -e ran ]
	[ "$(wc -l <message)" -eq 1 ]
	grep 'no user namespaces' message
	unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$LAPBELT" "$@"' sh \
		run --no-userns true 2>message
	[ ! -s message ]
}
has_userns && check 'a run without the user namespaces it wants says so, once' says_what_is_lost

# --- blocking opens -----------------------------------------------------------------------------------------------

lib_patience=20

act() {
	python3 "$acts" "$@"
}
inside_act() {
	inside python3 "$acts" "$@"
}
interrupts_open() {
	mkfifo fifo
	act open-interrupted fifo "$@"
	inside_act open-interrupted fifo "$@"
}
check 'a signal handler ends the open of a FIFO for reading' interrupts_open O_RDONLY
check 'a signal handler ends the open of a FIFO for writing' interrupts_open O_WRONLY
check 'also in a process of several threads' interrupts_open O_WRONLY 3
ends_open_by_term() {
	mkfifo fifo
	start_inside sh -c 'echo >ready; exec cat fifo'
	wait_until test -e ready
	sleep 0.3
	kill -TERM "$started"
	result=0
	wait "$started" || result=$?
	echo "status $result"
	[ $result -eq 143 ]
}
check 'TERM ends a command that opens a FIFO' ends_open_by_term
opens_from_both_ends() {
	mkfifo fifo
	inside sh -c 'cat fifo & sleep 0.2; echo through >fifo; wait' | grep through
}
check 'a FIFO opened from both ends connects them' opens_from_both_ends

opens_beside() {
	act open-beside "$1"
	rm -f fifo*
	inside_act open-beside "$1"
}
check 'an open beside many that wait is quick' opens_beside 400
# The command needs two for each FIFO, the supervisor as many more.
opens_under_limit() {
	# shellcheck disable=SC3045 # dash has the soft limit
	ulimit -S -n 200
	opens_beside 80
	[ "$(inside sh -c 'ulimit -S -n')" -eq 200 ]
}
check 'opens that wait do not use up the descriptors of a small limit' opens_under_limit

ends_without_broker() {
	start_inside sh -c 'echo >ready; while :; do echo >x; sleep 0.05; done' 2>err
	wait_until test -e ready
	# poll(2) takes no more descriptors than may be open.
	prlimit --pid "$started" --nofile=1:1
	result=0
	wait "$started" || result=$?
	echo "status $result"
	[ $result -eq 70 ]
	grep 'the broker cannot go on' err
}
check 'a broker that fails ends the run' ends_without_broker

# What the supervisor has open. It has a few threads, no more of them than there are to be.
supervisor_size() {
	[ "$(find "/proc/$started/task" -mindepth 1 -maxdepth 1 | wc -l)" -le 18 ] || echo threads
	find "/proc/$started/fd" -mindepth 1 -maxdepth 1 | wc -l
}
forgets_the_dead() {
	mkfifo fifo
	start_inside sh -c '
		python3 "$1" open-and-die fifo 1; echo >ready; until test -e go; do sleep 0.05; done
		python3 "$1" open-and-die fifo 200; echo >over; until test -e end; do sleep 0.05; done' \
		sh "$acts"
	wait_until test -e ready
	before=$(supervisor_size)
	touch go
	wait_until test -e over
	wait_until supervisor_is_no_larger "$before"
	touch end
	wait "$started"
}
supervisor_is_no_larger() {
	[ "$(supervisor_size)" -le "$1" ]
}
check 'children killed while they open a FIFO leave nothing in the supervisor' forgets_the_dead

keeps_no_descriptors() {
	start_inside python3 -c '
import os, time
def calls(n):
    for _ in range(n):
        os.close(os.open("x", os.O_WRONLY | os.O_CREAT))
        os.rename("x", "y")
    open("ready", "w").close()
calls(100)
while not os.path.exists("go"):
    time.sleep(0.02)
calls(10000)
while not os.path.exists("end"):
    time.sleep(0.02)'
	wait_until test -e ready
	before=$(supervisor_size)
	rm ready
	touch go
	wait_until test -e ready
	wait_until supervisor_is_no_larger "$before"
	touch end
	wait "$started"
}
check 'R155: ten thousand calls leave nothing in the supervisor' keeps_no_descriptors

# The numbers begin again between the supervisor and the command, sooner or later.
pids_wrap() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	for pid in $(seq 32752 32766); do
		unshare --pid --fork --mount-proc sh -c "
			echo $pid >/proc/sys/kernel/ns_last_pid
			\"\$@\"
			exit \$?" sh "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} -- sh -c 'echo renamed >/proc/self/comm'
	done
}
if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/pid_max)" -eq 32768 ]; then
	check 'one finds oneself in /proc when the process numbers begin again' pids_wrap
fi

stays_small() {
	start_inside sh -c 'echo >ready; exec sleep 60'
	wait_until test -e ready
	sleep 0.2
	size=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$started/status")
	kill -TERM "$started"
	wait "$started" || :
	echo "$size kB"
	[ "$size" -le 4096 ]
}
# A sanitizer alone takes more.
if ! grep -q -a __asan_init "$LAPBELT"; then
	check 'an idle supervisor takes at most 4 MiB' stays_small
fi

lib_done
