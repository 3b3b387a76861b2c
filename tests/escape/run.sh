#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh ESCAPE [ID…]
#
# Runs the cases of the program ESCAPE, all or those named (patterns such as 'A03*' will do), each
# twice in a fresh world: outside, where it must come through, and under $LAPBELT, where it must not
# and where the world must look the same afterwards. Prints TAP.
#
# LAPBELT_ROUNDS: how often a race is tried inside (races.c). LAPBELT_AROUND: the name of a sandbox
# around all of this; what does not come through in it without lapbelt either has its control where
# there is none. LAPBELT_REFUSED: lapbelt does not start here, and lets nothing start.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/world.sh
. "$here/../e2e/world.sh"

escape=$1
shift
[ $# -gt 0 ] || set -- '*'

count=0
failures=0
outsider=

settle=1.3 # seconds in which what outlives a run shows itself

main() {
	world_init escape
	trap 'stop_outsider; world_remove' EXIT
	cp "$escape" "$base/escape"
	escape=$base/escape
	if [ -n "${LAPBELT_REFUSED:-}" ]; then
		check_that_nothing_runs
		exit
	fi
	check_that_commands_run
	"$escape" --list >"$base/list"
	while IFS='	' read -r id flags title; do
		for pattern; do
			# shellcheck disable=SC2254 # a pattern is meant
			case $id in $pattern) run_case && break ;; esac
		done
	done <"$base/list"
	echo "1..$count"
	[ "$failures" -eq 0 ]
}

# Else everything would look contained.
check_that_commands_run() {
	world_fresh
	if ! inside sh -c 'echo hello >made && cat f' >"$base/out" 2>&1 || [ ! -f made ]; then
		sed 's/^/# /' "$base/out"
		echo 'Bail out! an ordinary command does not run under lapbelt'
		exit 1
	fi
}

check_that_nothing_runs() {
	world_fresh
	status=0
	inside sh -c 'echo hello >made' >"$base/out" 2>&1 || status=$?
	sed 's/^/# /' "$base/out"
	echo 1..1
	if [ "$status" -ne 71 ] || [ -e made ]; then
		echo "not ok 1 - nothing is run"
		exit 1
	fi
	echo "ok 1 - nothing is run"
}

inside() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} -- "$@"
}

has_flag() {
	case $flags in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

run_case() {
	count=$((count + 1))
	if has_control && contained; then
		echo "ok $count - $id $title"
	else
		echo "not ok $count - $id $title"
		failures=$((failures + 1))
	fi
}

# --- outside -----------------------------------------------------------------------------------

has_control() {
	if has_flag no-control; then
		echo '# no control: not possible outside either, or not without harm'
	elif has_flag root && [ "$(id -u)" -ne 0 ]; then
		echo '# no control: only root can do it outside'
	else
		try_outside
	fi
}

try_outside() {
	start_world
	attempt
	stop_outsider
	if came_through; then
		return 0
	fi
	if [ "$status" -eq 77 ]; then
		excused
		return
	fi
	if [ -n "${LAPBELT_AROUND:-}" ]; then
		echo "# no control: $LAPBELT_AROUND lets it not come through (status $status)"
		return 0
	fi
	echo "# control: did not come through outside (status $status)"
	sed 's/^/# /' "$base/out"
	return 1
}

excused() {
	reason=$(sed -n 's/^# //p' "$base/out" | tail -n 1)
	echo "# no control: $reason"
	case ${LAPBELT_MUST_WORK:-}:$reason in
	:* | *:'kernel lacks'* | *:'root here lacks'*) return 0 ;;
	*) return 1 ;;
	esac
}

# --- inside --------------------------------------------------------------------------------------

contained() {
	start_world
	world_listing >"$base/before"
	ESCAPE_INSIDE=1
	export ESCAPE_INSIDE
	# shellcheck disable=SC2086 # a list of options, or nothing
	attempt "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --
	unset ESCAPE_INSIDE
	world_listing >"$base/after"
	result=0
	if came_through; then
		complain 'came through'
	elif ! was_tried; then
		complain "was not tried (status $status)"
	elif ! kill -0 "$outsider"; then
		complain 'the outsider died'
	elif ! cmp -s "$base/before" "$base/after"; then
		complain 'the world outside changed'
		diff "$base/before" "$base/after" | sed 's/^/# /'
	fi
	stop_outsider
	return $result
}

complain() {
	result=1
	echo "# inside: $1"
	sed 's/^/# /' "$base/out"
}

# 1 is what a case says when it failed; 159 is death by SIGSYS. A case that leaves loot may die of
# its own attack.
was_tried() {
	case $status in
	1 | 159) return 0 ;;
	0 | 137 | 143) has_flag loot ;;
	*) return 1 ;;
	esac
}

# --- both ------------------------------------------------------------------------------------------

# attempt [LAUNCHER…]: sets $status, and leaves what was said in $base/out.
attempt() {
	set -- "$@" "$escape" "$id"
	has_flag tty && set -- "$escape" --pty "$@"
	has_flag descriptors && set -- "$escape" --descriptors "$@"
	status=0
	timeout -k 5 $((60 + ${LAPBELT_ROUNDS:-0} / 5)) "$@" </dev/null >"$base/out" 2>&1 || status=$?
	has_flag late && rm -f "$HOME/ws/loot"
	if has_flag loot; then
		sleep $settle
	fi
}

came_through() {
	if has_flag loot; then
		[ -e "$HOME/ws/loot" ]
	else
		[ "$status" -eq 0 ]
	fi
}

start_world() {
	world_fresh
	export ESCAPE_HOME="$HOME" ESCAPE_RUNNER=$$ ESCAPE_RUNTIME="$XDG_RUNTIME_DIR" \
		ESCAPE_STATE="$XDG_STATE_HOME" ESCAPE_PLANTED="/tmp/lapbelt-escape-$$.planted"
	OUTSIDER_SAYS=$world_secret "$escape" --outsider "$world/out" >"$base/outsider" 2>&1 &
	outsider=$!
	tries=0
	until [ -e "$world/out/facts" ]; do
		tries=$((tries + 1))
		if [ $tries -gt 200 ] || ! kill -0 "$outsider"; then
			sed 's/^/# /' "$base/outsider"
			echo 'Bail out! the outsider does not start'
			exit 1
		fi
		sleep 0.02
	done
	# shellcheck source=/dev/null
	. "$world/out/facts"
	# As a desktop, an agent of keys and an editor have it.
	export WAYLAND_DISPLAY="$ESCAPE_BUS" SSH_AUTH_SOCK="$ESCAPE_BUS" VSCODE_IPC_HOOK_CLI="$ESCAPE_BUS"
}

stop_outsider() {
	if [ -n "$outsider" ]; then
		kill "$outsider" 2>/dev/null || :
		# A case may have stopped or traced it.
		kill -CONT "$outsider" 2>/dev/null || :
		wait "$outsider" 2>/dev/null || :
		outsider=
	fi
}

main "$@"
