#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a run may use up: each limit is reached, cannot be raised from inside, and leaves nothing behind.
# Each hungry program below stops by itself, whether there is a limit or not. Of the list of attacks:
# A137, A138, A139.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init limits
hungry=$base/hungry.py
cp "$lib_directory/hungry.py" "$hungry"

# limited LIMIT… -- COMMAND…: inside, with these limits
limited() {
	limits=
	while [ "$1" != -- ]; do
		limits="$limits --limit=$1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # lists of options
	timeout --foreground -k 5 60 "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} $limits -- "$@"
}

# eats WANTED LIMIT… -- ACT ARGUMENT…: hungry.py prints WANTED
eats() {
	wanted=$1
	shift
	limits=
	while [ "$1" != -- ]; do
		limits="$limits $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # a list of limits
	limited $limits -- python3 "$hungry" "$@" >ate
	cat ate
	grep -q -x -e "$wanted" ate
}

# how LIMIT WORD: the plan says WORD of it
how() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" plan ${LAPBELT_RUN_OPTIONS:-} --limit="$1" | sed -n '/^limits/,$p' | grep -q -e "$2"
}

# --- processes ------------------------------------------------------------------------------------------

forks_freely() {
	eats 'done 300' -- forks 300
}
check 'without a limit many processes can be had' forks_freely
stops_fork_bomb() {
	if how processes=20 'not enforced'; then
		ends 71 limited processes=20 -- touch ran
		[ ! -e ran ]
	elif how processes=20 'approximated'; then
		eats 'EAGAIN after [0-9]*' processes=20 -- forks 1000
		limited processes=20 -- true 2>err
		grep 'the limit on processes is approximated' err
	else
		eats 'EAGAIN after 19' processes=20 -- forks 1000
		[ -z "$(limited processes=20 -- true 2>&1)" ]
	fi
}
check 'a fork bomb stops at its limit' stops_fork_bomb
stops_threads() {
	how processes=20 'not enforced' || eats 'RuntimeError after [0-9]*' processes=20 -- threads 1000
}
check 'threads count as processes' stops_threads
leaves_room_outside() {
	how processes=20 'not enforced' && return
	limited processes=20 -- python3 "$hungry" forks 1000 ready &
	wait_until test -e ready
	for _ in 1 2 3 4 5 6 7 8 9 10; do sh -c 'sh -c true'; done
	rm ready
	wait
}
check 'others can fork meanwhile' leaves_room_outside
one_is_itself() {
	how processes=1 'not enforced' && return
	how processes=1 'approximated' || fails limited processes=1 -- sh -c 'true & wait'
	limited processes=1 -- sh -c 'echo fine' | grep fine
}
check 'a limit of one leaves the command itself' one_is_itself

# --- memory -----------------------------------------------------------------------------------------------

check 'without a limit memory can be had' eats 'done 400' -- memory 400
stops_memory_hog() {
	result=0
	limited memory=200M -- python3 "$hungry" memory 400 >ate || result=$?
	cat ate
	[ $result -eq 137 ] || grep 'MemoryError after 1[0-9][0-9]' ate
}
check 'memory ends at its limit' stops_memory_hog
tells_weak_memory() {
	limited memory=200M -- true 2>err
	if how memory=200M 'approximated'; then
		grep 'the limit on memory is approximated' err
	else
		[ ! -s err ]
	fi
}
check 'a limit on memory that is none of all together is told' tells_weak_memory

# --- processor time -------------------------------------------------------------------------------------------

check 'a command below its processor time is left alone' eats 'done 1' cpu=20 -- spin 1
stops_spinning() {
	ends 152 limited cpu=1 -- python3 "$hungry" spin 10
}
check 'processor time ends by SIGXCPU' stops_spinning
kills_spinning() {
	ends 137 limited cpu=1 -- sh -c 'trap "" XCPU; exec python3 "$@"' - "$hungry" spin 10
}
check 'processor time ends by SIGKILL where SIGXCPU is ignored' kills_spinning

# --- files ----------------------------------------------------------------------------------------------------

writes_freely() {
	eats 'done 200000' -- write 200000
	eats 'done 200000' -- truncate 200000
}
check 'without a limit files grow' writes_freely
stops_writing() {
	eats 'EFBIG after 102400' file-size=100K -- write 200000
	ends 153 limited file-size=100K -- sh -c 'head -c 200000 /dev/zero >f'
	stat -c %s f | grep -x 102400
}
check 'a file ends at its limit' stops_writing
stops_truncating() {
	eats 'EFBIG after 0' file-size=100K -- truncate 200000
	ends 153 limited file-size=100K -- python3 "$hungry" truncate-default 200000
	eats 'done 102400' file-size=100K -- truncate 102400
	eats 'EFBIG after 0' file-size=100K -- ftruncate 200000
}
check 'truncating takes no file beyond its limit' stops_truncating
shrinks_beyond() {
	truncate -s 300000 f
	limited file-size=100K -- python3 -c 'import os; os.truncate("f", 200000)'
	stat -c %s f | grep -x 200000
}
check 'a file that is larger already can be cut' shrinks_beyond
opens_freely() {
	eats 'done 100' -- open 100
}
check 'without a limit files can be opened' opens_freely
stops_opening() {
	eats 'EMFILE after 1[0-9]' open-files=20 -- open 100
}
check 'open files end at their limit' stops_opening
# --- time -------------------------------------------------------------------------------------------------------

stops_sleepers() {
	number=3600.$$1
	began=$(date +%s)
	ends 124 limited time=1 -- sh -c "trap '' TERM; (sleep $number & wait) & sleep $number; sleep $number"
	[ $(($(date +%s) - began)) -le 10 ]
	wait_until is_gone "sleep $number"
}
check 'R137: time ends a tree that ignores SIGTERM' stops_sleepers
lets_tidy_up() {
	ends 124 limited time=1 -- sh -c 'trap "echo bye >f; exit 0" TERM; while :; do sleep 0.1; done'
	grep bye f
}
check 'the command can tidy up when its time is over' lets_tidy_up
tells_time() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	set -- "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --limit=time=1 --status-fd 9
	ends 124 "$@" -- sleep 60 9>said 2>err
	grep -x 'failed 124' said
	grep 'its limit on time is 1 s' err
	ends 124 "$@" -- sh -c 'exit 124' 9>said 2>err
	grep -x 'exit 124' said
	[ ! -s err ]
}
check '--status-fd tells the end by time from a status of 124' tells_time
wakes_the_stopped() {
	# Its own group: one that nobody could continue does not stop.
	# shellcheck disable=SC2086 # a list of options, or nothing
	setsid sh -c 'timeout -k 5 20 "$@"; exit $?' - "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --limit=time=1 -- \
		sh -c 'kill -STOP $$; echo woken; exit 3' </dev/null >out || result=$?
	echo "status $result"
	[ "$result" -eq 124 ]
}
check 'time ends a run that has stopped itself' wakes_the_stopped
is_quick_enough() {
	limited time=60 -- true
}
check 'a command that is done in time is left alone' is_quick_enough

# --- from inside --------------------------------------------------------------------------------------------------

check 'limits can be lowered inside' eats 'done' open-files=100 cpu=50 -- lower
raises_nothing() {
	eats 'raised 5' -- raise cpu memory open-files file-size processes
	eats 'raised 0' cpu=50 memory=500M open-files=100 file-size=1M -- raise cpu memory open-files file-size
	! how processes=100 RLIMIT_NPROC || eats 'raised 0' processes=100 -- raise processes
}
check 'limits cannot be raised inside' raises_nothing
inherits() {
	limited open-files=20 -- sh -c 'sh -c "ulimit -n"' | grep -x 20
}
check 'limits are inherited' inherits
leaves_cgroup() {
	how processes=20 cgroup || return 0
	fails limited processes=20 -- sh -c 'for f in /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do
		echo 0 >$f && exit 0; done; exit 1'
	fails limited processes=20 -- sh -c 'echo max >"$(find /sys/fs/cgroup -name "lapbelt-*" | head -n 1)/pids.max"'
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --limit=processes=20 -p '(version 1)(allow default)' true 2>err
	grep 'the limit on processes is approximated: the policy lets the command write' err
}
check 'the command cannot leave its cgroup, or that is told' leaves_cgroup
above_ours() {
	# shellcheck disable=SC3045 # dash has it
	ulimit -n 200
	ends 71 limited open-files=201 -- touch ran 2>err
	[ ! -e ran ]
	grep 'the limit on open-files would be 201, and there is one of 200 already' err
	limited open-files=200 -- touch ran
	[ -e ran ]
}
check 'a limit above ours is refused' above_ours

# --- the end --------------------------------------------------------------------------------------------------------

# groups_of PID: where the cgroups of a run are that PID is in
groups_of() {
	sed -n 's,^[^:]*:[^:]*:\(.*/lapbelt-[0-9a-f]*\)$,\1,p' "/proc/$1/cgroup"
}
is_cgroup_gone() {
	[ -z "$1" ] || ! find /sys/fs/cgroup -path "*$1" 2>/dev/null | grep -q .
}
# start_sleeping NUMBER: starts a run with limits; $slept is the cgroup of its command
start_sleeping() {
	how processes=20 'not enforced' && limit=memory=500M || limit=processes=20
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --limit=$limit -- sh -c "sleep $1 & echo >ready; sleep $1" &
	started=$!
	wait_until test -e ready
	slept=$(groups_of "$(pgrep -n -x -f "sleep $1")")
	if how "$limit" cgroup; then
		[ -n "$slept" ]
		fails is_cgroup_gone "$slept"
	fi
}
dies_with_supervisor() {
	number=3700.$$
	start_sleeping "$number"
	kill -KILL "$started"
	wait "$started" || :
	wait_until is_gone "sleep $number"
	wait_until is_cgroup_gone "$slept"
}
check 'nothing is left when the supervisor is killed' dies_with_supervisor
ends_with_command() {
	number=3800.$$
	start_sleeping "$number"
	kill -TERM "$started"
	wait "$started" || :
	is_gone "sleep $number"
	is_cgroup_gone "$slept"
}
check 'nothing is left when a run has ended' ends_with_command
is_swept() {
	how processes=20 cgroup || return 0
	number=3900.$$
	start_sleeping "$number"
	# The keeper leads a session of its own.
	kill -KILL "$(ps -o pid=,sid= --ppid "$started" | awk '$1 == $2 { print $1 }')"
	kill -KILL "$started"
	wait "$started" || :
	wait_until is_gone "sleep $number"
	fails is_cgroup_gone "$slept"
	limited processes=20 -- true
	wait_until is_cgroup_gone "$slept"
}
check 'what is left when the keeper is killed too goes with the next run' is_swept

lib_done
