#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A call that takes long keeps no other waiting.
# shellcheck disable=SC2016,SC2317,SC2154 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

world_prepare() {
	echo first >leased
}

lib_init stalls

# Leases `leased` outside, and does not let go of it until it is killed: opening it for writing
# takes three quarters of a minute. /proc/sys/fs/lease-break-time
hold_lease() {
	python3 -c '
import fcntl, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = open("leased")
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
open("held", "w").close()
signal.pause()' &
	holder=$!
	wait_until test -e held
}

# beside TEXT: while the shell command TEXT is held up inside, other calls are answered; and it does
# what it is to do once it is let.
beside() {
	hold_lease
	inside sh -c '
		(eval "$1" && echo over >ended) &
		sleep 0.3
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
			echo x >new && chmod 600 new && mv new newer && rm newer || exit 1
		done
		[ ! -e ended ] || exit 2 # it was not held up
		echo >others
		wait' sh "$1" &
	run=$!
	wait_until test -e others
	kill "$holder"
	wait "$holder" || :
	wait "$run"
	[ "$(cat ended)" = over ]
	[ "$(cat leased)" = "$2" ]
}

check 'appending to a leased file, which might have to be made' beside 'echo more >>leased' 'first
more'
check 'cutting a leased file off, which might have to be made' beside 'echo other >leased' other
check 'opening a leased file for writing' beside 'echo F | dd of=leased bs=1 count=1 conv=notrunc,nocreat' First
check 'cutting off a leased file by its name' beside \
	'python3 -c "import os; os.truncate(\"leased\", 2)"' 'fi'
check 'several at once' beside '
	(echo a >>leased) & (echo b >>leased) & (echo c >>leased) & (echo d >>leased) & wait
	echo E | dd of=leased bs=1 count=1 conv=notrunc,nocreat
	sort -o leased leased' 'Eirst
a
b
c
d'

waits_for_nobody() {
	inside sh -c '
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			mkfifo fifo.$i
			(echo x >fifo.$i) &
		done
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
			echo x >new && mv new newer && rm newer || exit 1
		done
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			cat fifo.$i
		done
		wait' >"$base/got"
	[ "$(grep -c x "$base/got")" = 20 ]
}
check 'twenty writers of FIFOs' waits_for_nobody

# A waiting call ends with its caller, or when a signal comes.
signals_end_waiting() {
	hold_lease
	inside sh -c '
		sh -c "echo x >>leased" & sleep 0.3; kill -9 $!; wait $!; [ $? = 137 ] || exit 1
		python3 -c "
import os, signal
class Alarm(Exception): pass
def ring(*_): raise Alarm
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    os.open(\"leased\", os.O_WRONLY | os.O_CREAT)
except Alarm:
    print(\"rang\")"' >"$base/rang"
	kill "$holder"
	wait "$holder" || :
	grep -q rang "$base/rang"
}
check 'signals end the waiting' signals_end_waiting

lib_done
