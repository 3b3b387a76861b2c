# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# What the end-to-end scripts share. A script sources it, calls lib_init NAME, then states one
# behaviour after another, and ends with lib_done. Output is TAP.
#
#	allowed SENTENCE TEXT   shell TEXT succeeds inside and prints what it prints outside
#	denied SENTENCE TEXT    shell TEXT succeeds outside, fails inside, and changes nothing there
#	check SENTENCE COMMAND… COMMAND, mostly a function of the script, succeeds (set -e holds in it)
#	skip SENTENCE REASON    not tried here; a failure if LAPBELT_MUST_WORK is set
#	inside COMMAND…         runs it under lapbelt
#	ends STATUS COMMAND…    it ends so
#	fails COMMAND…          it runs, and fails (in a function for check, ! would be overlooked)
#
# Each starts in a fresh world (world.sh), in $HOME/ws. A script that defines world_prepare has it
# called in every fresh world, outside; it may change the directory.

lib_directory=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/world.sh
. "$lib_directory/world.sh"

lib_count=0
lib_failures=0
lib_patience=120 # seconds a command may take
started=         # the lapbelt that start_inside started

lib_init() {
	lib_name=$1
	world_init "$1"
	# Where neither a private /tmp nor its mode hides it, whatever these tests lie below.
	acts=$base/acts.py
	cp "$lib_directory/acts.py" "$acts"
	lib_start
	if ! inside true >"$base/out" 2>&1; then
		sed 's/^/# /' "$base/out"
		echo "Bail out! 'true' does not run under lapbelt"
		exit 1
	fi
}

lib_done() {
	echo "1..$lib_count"
	[ "$lib_failures" -eq 0 ]
}

world_prepare() {
	:
}

lib_start() {
	world_fresh
	world_prepare >/dev/null 2>&1
}

has_userns() {
	case ${LAPBELT_RUN_OPTIONS:-} in *--no-userns*) return 1 ;; esac
}

is_root() {
	[ "$(id -u)" -eq 0 ]
}

inside() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	timeout --foreground -k 5 "$lib_patience" "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} -- "$@"
}

# Starts it in the background; $started becomes the process id of lapbelt itself.
start_inside() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} -- "$@" &
	# shellcheck disable=SC2034 # for the scripts
	started=$!
}

ends() {
	lib_wanted=$1
	shift
	lib_result=0
	"$@" || lib_result=$?
	echo "status $lib_result"
	[ "$lib_result" -eq "$lib_wanted" ]
}

fails() {
	lib_result=0
	"$@" || lib_result=$?
	case $lib_result in
	0 | 64 | 65 | 70 | 71 | 78 | 127)
		echo "status $lib_result: $*"
		return 1
		;;
	esac
}

# wait_until COMMAND…: for ten seconds at most
wait_until() {
	lib_waits=0
	until "$@" >/dev/null 2>&1; do
		lib_waits=$((lib_waits + 1))
		if [ $lib_waits -ge 200 ]; then
			echo "waited in vain: $*"
			return 1
		fi
		sleep 0.05
	done
}

# is_running TEXT: some process has TEXT among its arguments
is_running() {
	# shellcheck disable=SC2009 # pgrep takes a pattern, and would find the shell that asks
	ps -eo args= | grep -F -e "$1" | grep -q -v -F -e 'grep -F' -e 'ps -eo'
}

is_gone() {
	! is_running "$1"
}

# lib_status COMMAND…: sets $lib_result; what it prints goes to $base/out and $base/err
lib_status() {
	lib_result=0
	timeout -k 5 "$lib_patience" "$@" </dev/null >"$base/out" 2>"$base/err" || lib_result=$?
}

lib_status_inside() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	lib_status "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} -- "$@"
}

lib_pass() {
	lib_count=$((lib_count + 1))
	echo "ok $lib_count - $lib_name: $1"
}

# lib_fail SENTENCE WHAT
lib_fail() {
	lib_count=$((lib_count + 1))
	lib_failures=$((lib_failures + 1))
	echo "# $2"
	sed 's/^/# | /' "$base/out" "$base/err"
	echo "not ok $lib_count - $lib_name: $1"
}

skip() {
	: >"$base/out"
	: >"$base/err"
	if [ -n "${LAPBELT_MUST_WORK:-}" ]; then
		lib_fail "$1" "skipped: $2"
	else
		lib_count=$((lib_count + 1))
		echo "ok $lib_count - $lib_name: $1 # SKIP $2"
	fi
}

check() {
	lib_sentence=$1
	shift
	lib_start
	: >"$base/err"
	(
		set -e
		"$@"
	) </dev/null >"$base/out" 2>&1
	lib_result=$?
	if [ $lib_result -eq 0 ]; then
		lib_pass "$lib_sentence"
	else
		lib_fail "$lib_sentence" "status $lib_result"
	fi
}

# lib_control TEXT: runs it outside; its output stays in $base/control
lib_control() {
	lib_start
	lib_status sh -c "$1"
	mv "$base/out" "$base/control"
	cp "$base/control" "$base/out"
	[ "$lib_result" -eq 0 ]
}

allowed() {
	if ! lib_control "$2"; then
		lib_fail "$1" "control: outside it ends with $lib_result"
		return
	fi
	lib_start
	lib_status_inside sh -c "$2"
	if [ "$lib_result" -ne 0 ]; then
		lib_fail "$1" "inside it ends with $lib_result"
	elif ! cmp -s "$base/out" "$base/control"; then
		lib_fail "$1" 'inside it prints something else'
	else
		lib_pass "$1"
	fi
}

denied() {
	if ! lib_control "$2"; then
		lib_fail "$1" "control: outside it ends with $lib_result"
		return
	fi
	lib_start
	world_listing >"$base/before"
	lib_status_inside sh -c "$2"
	world_listing >"$base/after"
	case $lib_result in
	0) lib_fail "$1" 'inside it succeeds' ;;
	64 | 65 | 70 | 71 | 78 | 124 | 127) lib_fail "$1" "inside it does not run ($lib_result)" ;;
	*)
		if cmp -s "$base/before" "$base/after"; then
			lib_pass "$1"
		else
			diff "$base/before" "$base/after" >>"$base/out"
			lib_fail "$1" 'inside it changes something'
		fi
		;;
	esac
}
