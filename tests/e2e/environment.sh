#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The environment of a run: secrets and sockets to outside agents stay out, the rest passes.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init environment

dropped='API_KEY OPENAI_API_KEY APIKEY ANTHROPIC_API_KEY AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
	GITHUB_TOKEN TOKEN NPM_TOKEN DB_PASSWORD DB_PASSWORD_OLD SIGNING_PRIVATE_KEY CLIENT_SECRET SECRET
	SSH_PASSPHRASE GOOGLE_CREDENTIALS REGISTRY_CREDENTIAL SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO
	DBUS_SESSION_BUS_ADDRESS VSCODE_IPC_HOOK_CLI'

kept='EDITOR MONKEY KEYBOARD TOKENIZERS_PARALLELISM PASSAGE SECRETARY LC_TEST MAKEFLAGS ACCESS'

is_dropped() {
	export "$1=visible"
	sh -c "test \"\$$1\" = visible"
	[ -z "$(inside sh -c "echo \"\${$1:-}\"")" ]
	inside env >seen
	fails grep "^$1=" seen
}
for name in $dropped; do
	check "$name does not pass" is_dropped "$name"
done

is_kept() {
	export "$1=visible"
	[ "$(inside sh -c "echo \"\$$1\"")" = visible ]
}
for name in $kept; do
	check "$name passes" is_kept "$name"
done

not_in_proc() {
	GITHUB_TOKEN=in-the-open
	export GITHUB_TOKEN
	env | grep -q in-the-open
	inside sh -c 'cat /proc/self/environ /proc/1/environ /proc/$PPID/environ 2>/dev/null' >seen || :
	[ -s seen ]
	fails grep -a in-the-open seen
}
check 'a dropped secret is in no environment that can be seen' not_in_proc

odd_values() {
	ODD="$(printf 'a\nb\t\377 "x" $y')"
	export ODD
	[ "$(inside sh -c 'printf %s "$ODD"')" = "$ODD" ]
}
check 'a value may hold any byte' odd_values

allowed 'HOME, PATH and LC_ALL stay' 'echo "$HOME $PATH $LC_ALL"'

# --- places -----------------------------------------------------------------------------------------------------

own_temporary_directory() {
	TMPDIR=$base/cache
	export TMPDIR
	name=lapbelt-test.$$
	inside sh -c 'test -d "$TMPDIR" && mkdir "$TMPDIR/$1" && echo "$TMPDIR/$1"' sh $name >place
	[ -s place ]
	[ ! -e "$(cat place)" ]
	[ ! -e "$TMPDIR/$name" ]
}
check 'TMPDIR is a private directory of the run' own_temporary_directory
two_temporary_directories() {
	first=$(inside sh -c 'echo "$TMPDIR"; echo x >"$TMPDIR/x"')
	inside sh -c 'test ! -e "$TMPDIR/x"'
	echo "$first"
}
check 'a run does not see the TMPDIR of another' two_temporary_directories

caches_below_temporary_directory() {
	inside sh -c '
		for place in "$npm_config_cache" "$PIP_CACHE_DIR" "$GOCACHE" "$XDG_CACHE_HOME"; do
			echo "$place"
			case $place in "$TMPDIR"/*) ;; *) exit 1 ;; esac
			mkdir -p "$place" && echo x >"$place/x" || exit 1
		done'
}
check 'npm, pip, go and XDG caches are below TMPDIR' caches_below_temporary_directory

empty_template() {
	inside sh -c 'test "$(cd "$GIT_TEMPLATE_DIR" && find . | sort)" = ".
./info"'
}
check 'GIT_TEMPLATE_DIR holds nothing but the folder of exclude' empty_template

# --- files that are there already -------------------------------------------------------------------------------

log_outside() {
	inside sh -c 'echo one; echo two >/dev/stderr; echo three >>/dev/stderr' >"$HOME/other/log" 2>&1
	[ "$(cat "$HOME/other/log")" = 'two
three' ]
}
check 'a log outside is written by its names, /dev/stderr too' log_outside
# GNU make sets O_APPEND on the output that it shares with its recipes, and with who comes after.
log_outside_of_make() {
	printf 'all:\n\t@echo one; echo two >/dev/stderr; echo three >/dev/stdout\n' >log.mk
	inside sh -c 'make -f log.mk && echo four >>/dev/stderr' >"$HOME/other/log" 2>&1
	[ "$(cat "$HOME/other/log")" = 'three
four' ]
}
check 'recipes of make write a log outside by its names' log_outside_of_make
log_outside_appends() {
	echo old >"$HOME/other/log"
	inside sh -c 'echo new >>/dev/stderr' 2>>"$HOME/other/log"
	[ "$(cat "$HOME/other/log")" = 'old
new' ] && fails inside sh -c 'echo gone >"$HOME/other/log"' && fails inside sh -c 'echo gone >>"$HOME/other/log"'
}
check 'a log that is appended to goes on, and only who holds it writes it' log_outside_appends
temporary_file() {
	inside python3 -c 'import os; os.open("/tmp", os.O_TMPFILE | os.O_EXCL | os.O_RDWR, 0o600)'
}
check 'tmpfile(3) works' temporary_file

program_in_tmp() {
	program=/tmp/lapbelt-test.$$
	cat >"$program" <<-'END'
		#!/bin/sh
		echo "I am $0"
		echo changed >>"$0"
	END
	chmod 755 "$program"
	inside "$program" >out || :
	grep -qx "I am $program" out
	result=0
	! grep -qx changed "$program" || result=1
	rm "$program"
	return $result
}
check 'a program in the /tmp outside runs, and is not changed' program_in_tmp

shared_memory_ends() {
	name=lapbelt-test.$$
	inside sh -c 'cd /dev/shm && mkdir -p "$1/a/b" && echo x >"$1/a/f" && mkfifo "$1/p" && ln -s x "$1/l" &&
		rm "$1/p" && mkdir "$1/c" && rmdir "$1/c" && mv "$1/a" "$1/d" && echo y >>"$1/d/f"' sh $name
	[ ! -e "/dev/shm/$name" ]
}
check 'R067: shared memory ends with the run' shared_memory_ends
shared_memory_of_others() {
	folder=/dev/shm/lapbelt-test.$$
	mkdir "$folder"
	result=0
	fails inside sh -c 'echo x >"$1/x"' sh "$folder" || result=1
	fails inside sh -c 'mkdir "$1/y"' sh "$folder" || result=1
	rmdir "$folder"
	return $result
}
check 'nothing is made in shared memory of others' shared_memory_of_others

errors_as_outside() {
	is_root && return
	for command in 'mkdir /etc/x' 'echo >/etc/x' 'echo >/etc/passwd' 'rm /etc/passwd' 'mv /etc/passwd /etc/x'; do
		sh -c "$command" 2>"$HOME/outside" || :
		inside sh -c "$command" 2>"$HOME/ws/inside" || :
		diff "$HOME/outside" "$HOME/ws/inside"
	done
}
check 'what nobody could do fails as outside' errors_as_outside

lib_done
