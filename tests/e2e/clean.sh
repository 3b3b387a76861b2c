#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A run leaves nothing behind, however it ends. TRIES: how often the supervisor is killed (100).
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init clean

# Everything, the project included.
listing() {
	(cd "$world" && world_list_files)
	(cd "$world/home/ws" && GIT_OPTIONAL_LOCKS=0 git status --porcelain --ignored)
}

# unchanged COMMAND…: it may fail, and the world is byte by byte what it was
unchanged() {
	listing >"$base/before"
	"$@" || :
	listing >"$base/after"
	diff "$base/before" "$base/after"
}

check 'a command that does nothing changes nothing' unchanged inside true
check 'a command that fails changes nothing' unchanged inside false
check 'a command that reads changes nothing' unchanged inside sh -c 'cat f .git/config; ls -laR . >/dev/null; cd .. && ls'
check 'a command that is denied changes nothing' unchanged inside sh -c \
	'echo x >.mcp.json; mkdir .claude/x; echo x >.git/hooks/pre-commit; echo x >~/.bashrc; mkdir .vscode/x; rm -f .git/config'
check 'an unknown command changes nothing' unchanged inside no-such-command-anywhere
check 'a command that cleans up changes no file' unchanged inside sh -c 'cd "$TMPDIR" && mkdir d && echo x >d/x && rm -r d'

nothing_appears() {
	listing >"$base/before"
	start_inside sleep 1
	sleep 0.4
	listing >"$base/during"
	diff "$base/before" "$base/during"
	wait "$started"
}
check 'nothing appears while a command runs' nothing_appears

# --- the private directory ----------------------------------------------------------------------------------

temporary_directory_goes() {
	directory=$(inside sh -c 'd=$TMPDIR/lapbelt-test.$$ && mkdir -p "$d/a/b" && echo x >"$d/x" && chmod 0 "$d/a" && echo "$d"')
	echo "$directory"
	[ -n "$directory" ]
	[ ! -e "$directory" ]
	[ "${directory%/*}" = /tmp ] || [ ! -e "${directory%/*}" ]
}
check 'what is in TMPDIR goes with the run' temporary_directory_goes

deep_tree_goes() {
	place=$(inside python3 -c '
import os
os.chdir(os.environ["TMPDIR"])
for _ in range(260):
    os.mkdir("deeper")
    os.chdir("deeper")
open("x", "w").close()
print(os.environ["TMPDIR"])')
	echo "$place"
	[ -n "$place" ]
	[ "$place" = /tmp ] || [ ! -e "$place" ]
}
check 'a deep tree goes too' deep_tree_goes

# keepers PID: the processes of lapbelt's own below PID, once the command runs
keepers() {
	for keeper in $(ps -o pid= --ppid "$1"); do
		[ "$(ps -o comm= -p "$keeper")" != "$(ps -o comm= -p "$started")" ] || (
			echo "$keeper"
			keepers "$keeper"
		)
	done
}

# Only without namespaces is there something to leave behind: a folder in /tmp.
stale_folder_goes() {
	start_inside sh -c 'echo "$TMPDIR" >place.new; echo $PPID >parent; mv place.new place; exec sleep 60.7'
	wait_until test -e place
	place=$(cat place)
	case $place in /tmp/lapbelt-*) ;; *) echo "$place" && return 1 ;; esac
	[ -d "$place" ]
	# The supervisor and those who clean up after it, all at once.
	# shellcheck disable=SC2046 # a list of numbers
	kill -KILL "$started" $(keepers "$started")
	wait "$started" || :
	inside true
	[ ! -e "$place" ]
}
spares_running_folder() {
	start_inside sh -c 'echo "$TMPDIR" >place.new; mv place.new place; until test -e end; do sleep 0.05; done; test -d "$TMPDIR"'
	wait_until test -e place
	inside true
	[ -d "$(cat place)" ]
	touch end
	wait "$started"
}
spares_other_folders() {
	mkdir -m 700 "/tmp/lapbelt-run-$$" "/tmp/lapbelt-test.$$"
	touch "/tmp/lapbelt-run-$$/f" "/tmp/lapbelt-test.$$/f"
	inside true
	rm "/tmp/lapbelt-run-$$/f" "/tmp/lapbelt-test.$$/f"
	rmdir "/tmp/lapbelt-run-$$" "/tmp/lapbelt-test.$$"
}
check 'a run spares folders that only look like those of a run' spares_other_folders
removes_abandoned_folders() {
	mkdir -m 700 "/tmp/lapbelt-run-$$.old" "/tmp/lapbelt-run-$$.new"
	touch -d '1 hour ago' "/tmp/lapbelt-run-$$.old"
	inside true
	rmdir "/tmp/lapbelt-run-$$.new"
	! rmdir "/tmp/lapbelt-run-$$.old"
}
if ! has_userns; then
	check 'the next run removes the folder of one that was killed altogether' stale_folder_goes
	check 'the next run spares the folder of one that goes on' spares_running_folder
	check 'the next run removes what one left that was killed before it had begun' removes_abandoned_folders
fi

# --- HOME, without XDG variables -------------------------------------------------------------------------------

only_own_state() {
	unset XDG_STATE_HOME XDG_CACHE_HOME
	(cd "$HOME" && find . | LC_ALL=C sort) >"$base/before"
	inside true
	(cd "$HOME" && find . | LC_ALL=C sort) >"$base/after"
	diff "$base/before" "$base/after" | grep '^[<>]' |
		grep -v -x -e '> ./.local' -e '> ./.local/state' -e '> ./.local/state/lapbelt.*' \
			-e '> ./.cache' -e '> ./.cache/lapbelt.*' && return 1
	return 0
}
check 'HOME gets only our own state and cache folders' only_own_state

# --- after SIGKILL ------------------------------------------------------------------------------------------------

# The command itself writes below d/ only.
listing_without_d() {
	(cd "$world" && world_list_files ! -path ./home/ws/d ! -path './home/ws/d/*')
}

# Kills the supervisor after so many hundredths of a second.
kill_after() {
	number=60.$$$1
	start_inside sh -c "cd d && sleep $number & echo x >d/x; cat f >/dev/null; echo y >d/y; sleep $number"
	sleep "$(printf '0.%02d' "$1")"
	kill -KILL "$started" 2>/dev/null || :
	wait "$started" 2>/dev/null || :
	wait_until is_gone "sleep $number"
}
survives_kills() {
	try=0
	while [ $try -lt "${TRIES:-100}" ]; do
		try=$((try + 1))
		world_fresh
		mkdir d
		listing_without_d >"$base/before"
		kill_after $(((try * 37) % 60))
		listing_without_d >"$base/after"
		if ! diff "$base/before" "$base/after"; then
			echo "after try $try"
			return 1
		fi
	done
}
check 'a killed supervisor leaves a clean tree and no process' survives_kills

# Kills the Nth process that keeps the run together, while the supervisor lives.
survives_lost_keeper() {
	number=60.$$$1
	LAPBELT_RUN_OPTIONS="${LAPBELT_RUN_OPTIONS:-} --status-fd=9"
	start_inside sh -c "setsid sleep $number & sleep $number & echo \"\$TMPDIR\" >place; wait" 9>status
	wait_until is_running "sleep $number"
	wait_until test -s place
	kill -KILL "$(keepers "$started" | sed -n "$1p")"
	result=0
	wait "$started" || result=$?
	echo "status $result, $(cat status)"
	is_gone "sleep $number"
	[ $result -eq 70 ]
	[ "$(cat status)" = 'failed 70' ]
	[ "$(cat place)" = /tmp ] || [ ! -e "$(cat place)" ]
}
check 'init may be killed: nothing outlives the run, which says so' survives_lost_keeper 1
has_userns || check 'so may its child' survives_lost_keeper 2

works_after_kills() {
	inside sh -c 'echo x >x && git status --porcelain'
}
check 'the next run works' works_after_kills

lib_done
