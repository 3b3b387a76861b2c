#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What cannot be understood or applied is refused: with a message, a status, and nothing run. Of the
# list of attacks: A142.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init badinput
lib_patience=20

# refused SENTENCE STATUSES PATTERN COMMAND…: ends with one of STATUSES (71|65), says something that
# matches PATTERN on standard error, does not create the file "ran", and does not take long.
refused() {
	refused_sentence=$1
	refused_statuses=$2
	refused_pattern=$3
	shift 3
	lib_start
	bad_files
	lib_status "$@"
	if ! echo "$lib_result" | grep -q -x -E "$refused_statuses"; then
		lib_fail "$refused_sentence" "status $lib_result, not $refused_statuses"
	elif [ -e ran ]; then
		lib_fail "$refused_sentence" 'the command was run'
	elif ! grep -q -E -e "$refused_pattern" "$base/err"; then
		lib_fail "$refused_sentence" "no message that matches $refused_pattern"
	else
		lib_pass "$refused_sentence"
	fi
}

# Besides the good one, every file is broken in its own way.
bad_files() {
	echo '(version 1) (allow default)' >good.sb
	: >empty.sb
	printf '(version 1)\n(deny default)\n(allow file-read* (subpath "/usr' >half.sb
	printf '(version 1)\n(deny default)\n(allow file-reed*)\n' >operation.sb
	printf '(version 1)\n(deny default)\n(allow file-read* (subpaths "/usr"))\n' >filter.sb
	printf '(version 1)\n(deny default)\n(allow file-read* (subpath (param "WHERE")))\n' >parameter.sb
	printf '(version 1)\n(allow default)\n)\n' >paren.sb
	printf '(version 1)\n(allow default)\n(deny file-read* (regex "^/a(b"))\n' >regex.sb
	printf '(version 1)\n(allow default)\n(deny file-read* (literal "a/b"))\n' >relative.sb
	printf '(version 9)\n(allow default)\n' >version.sb
	printf '(allow default)\n' >noversion.sb
	printf '(version 1)\n(import "no-such-profile.sb")\n' >import.sb
	printf '(version 1)\n(import "%s/loop.sb")\n' "$PWD" >loop.sb
	printf '(version 1)\n(define (f x) (f x))\n(f 1)\n(allow default)\n' >endless.sb
	printf '(version 1)\n(define (f x) (f (cons x x)))\n(f 1)\n(allow default)\n' >memory.sb
	printf '(version 1)\n(allow default)\0(deny file-write*)\n' >nul.sb
	head -c 4096 /dev/urandom >binary.sb
}

# --- profiles ---------------------------------------------------------------------------------------------------

bad_profiles='empty half operation filter parameter paren regex version noversion import loop endless memory nul binary'

for name in $bad_profiles; do
	refused "exec refuses $name.sb" 65 . "$LAPBELT" exec -f "$name.sb" touch ran
	refused "check refuses $name.sb" 65 "$name" "$LAPBELT" check "$name.sb"
done

accepted() {
	bad_files
	"$LAPBELT" check good.sb
	"$LAPBELT" exec -f good.sb touch ran
	[ -e ran ]
}
check 'a good profile is accepted by both (control)' accepted
with_parameter() {
	bad_files
	sed -i 's/(deny default)/(allow default)/' parameter.sb
	"$LAPBELT" exec -D WHERE=/usr -f parameter.sb touch ran
	[ -e ran ]
}
check 'the profile with a parameter is accepted when it is given (control)' with_parameter

refused 'the place of an error is told' 65 'operation\.sb:3:[0-9]+:.*file-reed' "$LAPBELT" check operation.sb
refused 'the missing parameter is named' 65 'parameter\.sb:3|boolean' "$LAPBELT" exec -f parameter.sb touch ran
refused 'a profile that is not there' '65|66|71' 'no-such.sb' "$LAPBELT" exec -f no-such.sb touch ran
refused 'a directory as profile' '65|66|71' 'other' "$LAPBELT" exec -f ../other touch ran
refused 'a wrong profile text' 65 . "$LAPBELT" exec -p '(version 1) (allow defualt)' touch ran
refused 'an empty profile text' 65 . "$LAPBELT" exec -p '' touch ran
refused 'an unknown profile name' '64|65' 'no-such-name' "$LAPBELT" exec -n no-such-name touch ran

unreadable() {
	bad_files
	chmod 0 good.sb
	result=0
	"$LAPBELT" exec -f good.sb touch ran 2>"$base/message" || result=$?
	cat "$base/message"
	case $result in 65 | 66 | 71) ;; *) return 1 ;; esac
	[ ! -e ran ] && grep good.sb "$base/message"
}
# Root reads everything.
is_root || check 'an unreadable profile' unreadable

big() {
	result=0
	(
		echo '(version 1)'
		head -c 104857600 /dev/zero | tr '\0' "$1"
		echo '(allow default)'
	) >big.sb
	timeout 30 "$LAPBELT" exec -f big.sb touch ran || result=$?
	rm big.sb
	echo "status $result"
	[ $result -eq 65 ] && [ ! -e ran ]
}
refused 'a file that imports itself is told so' 65 'loop\.sb:2:1: .*loop\.sb imports itself' "$LAPBELT" check loop.sb

# A sample of hostile.py, which takes minutes.
check 'a profile of 100 MiB of blanks' big ' '
check 'a profile of 100 MiB of parentheses' big '('

deep() {
	python3 -c 'print("(version 1)(allow default " + "(require-not " * 200000 + ")" * 200000 + ")")' >deep.sb
	result=0
	timeout 30 "$LAPBELT" check deep.sb || result=$?
	echo "status $result"
	[ $result -eq 65 ]
}
check 'a profile nested too deeply' deep

# bounded TEXT MESSAGE: is refused for what MESSAGE says
bounded() {
	printf '(version 1)\n(define l (list 1 2 3))\n(set-cdr! (cddr l) l)\n%s\n' "$1" >bounded.sb
	result=0
	timeout 30 "$LAPBELT" check bounded.sb 2>"$base/message" || result=$?
	cat "$base/message"
	[ $result -eq 65 ] && grep -q -E "bounded\.sb:[0-9]+:[0-9]+: .*$2" "$base/message"
}
check 'a list without end' bounded '(apply literal l)' 'in a circle'
check 'an error about a list without end' bounded '(error l)' '\(1 2 3 1'
check 'a continuation without end' bounded '(define k 1) (begin (call/cc (lambda (c) (set! k c))) (k 1))' steps
check 'a limit is not caught' bounded '(catch 1 (let f () (f)))' steps
check 'a port on a text that nests' bounded '(read (open-input-string (make-string 100000 #\()))' nested
check 'an expression that explodes' bounded '(allow file-read* (regex #"(a|b)*a((a|b){100})"))' 'too large'

quoting() {
	bad_files
	quote='/x")) (allow default) (deny file-read* (literal "/y'
	printf '(version 1)\n(deny default)\n(allow process*)(allow file-read*)\n(allow file-write* (subpath (param "P")))\n' >p.sb
	result=0
	"$LAPBELT" exec -D "P=$quote" -f p.sb touch ran || result=$?
	[ $result -ne 0 ] && [ ! -e ran ]
}
check 'a quote in a parameter is no syntax' quoting

# --- commands and options ------------------------------------------------------------------------------------------

refused 'run without a command' 64 '^lapbelt: ' "$LAPBELT" run
refused 'run with an unknown option' 64 'no-such-option' "$LAPBELT" run --no-such-option -- touch ran
refused 'a mistyped option gets a hint' 64 '^hint: ' "$LAPBELT" run --wriet . -- touch ran
refused 'run --write without a directory' 64 . "$LAPBELT" run --write
refused 'run --pass-fd with a word' 64 '--pass-fd' "$LAPBELT" run --pass-fd five -- touch ran
refused 'run --status-fd with standard input' 64 'input' "$LAPBELT" run --status-fd 0 -- touch ran
refused 'run --pass-fd with a closed descriptor' '64|71' '77' "$LAPBELT" run --pass-fd 77 -- touch ran
refused 'exec without a profile' 64 . "$LAPBELT" exec touch ran
refused 'exec without a command' 64 . "$LAPBELT" exec -p '(version 1) (allow default)'
refused 'check without a file' 64 . "$LAPBELT" check
refused 'an unknown command' 71 "^lapbelt: .*no-such-command.*No such file or directory" \
	"$LAPBELT" run -- no-such-command-anywhere

# tells TEXT STATUS ARGUMENT…: ends with STATUS, and --status-fd has said TEXT
tells() {
	wanted=$1
	status=$2
	shift 2
	result=0
	"$LAPBELT" "$@" 9>"$base/told" || result=$?
	echo "status $result: $(cat "$base/told")"
	[ "$result" -eq "$status" ]
	[ "$(cat "$base/told")" = "$wanted" ]
}
everything='(version 1) (allow default)'
# shellcheck disable=SC2086 # a list of options, or nothing
tells_of_run() {
	wanted=$1
	status=$2
	shift 2
	tells "$wanted" "$status" run ${LAPBELT_RUN_OPTIONS:-} --status-fd 9 -- "$@"
}
check '--status-fd tells that a command ended' tells_of_run 'exit 0' 0 true
check '--status-fd tells a status that looks like ours' tells_of_run 'exit 71' 71 sh -c 'exit 71'
check '--status-fd tells death by a signal' tells_of_run 'exit 143' 143 sh -c 'kill $$'
check '--status-fd tells that nothing was run' tells_of_run 'failed 71' 71 no-such-command-anywhere
check '--status-fd tells a usage error' tells 'failed 64' 64 run --status-fd 9
check '--status-fd tells an unknown option' tells 'failed 64' 64 run --status-fd 9 --no-such-option -- true
check '--status-fd tells a wrong profile' tells 'failed 65' 65 exec --status-fd 9 -p '(version 9)' true
tells_wrong_surroundings() {
	cd /
	tells 'failed 78' 78 run --status-fd 9 -- true
}
check '--status-fd tells wrong surroundings' tells_wrong_surroundings
check '--status-fd tells the status under exec' tells 'exit 3' 3 exec --status-fd 9 -p "$everything" sh -c 'exit 3'

sandbox_exec_message() {
	ln -s "$LAPBELT" "$HOME/sandbox-exec"
	result=0
	"$HOME/sandbox-exec" -p '(version 1) (allow default)' no-such-command 2>message || result=$?
	cat message
	[ $result -eq 71 ]
	grep -x "sandbox-exec: execvp() of 'no-such-command' failed: No such file or directory" message
}
check 'sandbox-exec says it in its own words' sandbox_exec_message

# --- surroundings -------------------------------------------------------------------------------------------------

vanished_directory() {
	mkdir gone
	cd gone
	rmdir ../gone
	result=0
	inside touch "$HOME/ws/ran" 2>"$base/message" || result=$?
	cat "$base/message"
	case $result in 64 | 71 | 78) ;; *) return 1 ;; esac
	[ -s "$base/message" ] && [ ! -e "$HOME/ws/ran" ]
}
check 'a working directory that is gone' vanished_directory

in_root_directory() {
	cd /
	result=0
	inside touch "$HOME/ws/ran" 2>"$base/message" || result=$?
	cat "$base/message"
	case $result in 64 | 71 | 78) ;; *) return 1 ;; esac
	[ ! -e "$HOME/ws/ran" ] && grep -e --write "$base/message"
}
check 'a run in / is refused with a hint' in_root_directory

in_shared_directory() {
	cd "$1"
	result=0
	inside touch "$HOME/ws/ran" 2>"$base/message" || result=$?
	cat "$base/message"
	[ $result -eq 78 ] && [ ! -e "$HOME/ws/ran" ] && grep -e --write "$base/message"
}
check 'a run in /tmp is refused with a hint' in_shared_directory /tmp
check 'a run in /var/tmp is refused with a hint' in_shared_directory /var/tmp
below_shared_directory() {
	mkdir /var/tmp/lapbelt-below.$$
	cd /var/tmp/lapbelt-below.$$
	result=0
	inside touch ran || result=$?
	[ -e ran ] || result=1
	rm -r "/var/tmp/lapbelt-below.$$"
	return $result
}
check 'a run in a directory below /var/tmp works (control)' below_shared_directory

odd_home() {
	result=0
	# shellcheck disable=SC2086 # a list of options, or nothing
	env "$@" "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} -- touch ran 2>"$base/message" || result=$?
	cat "$base/message"
	case $result in 64 | 71 | 78) ;; *) return 1 ;; esac
	[ ! -e ran ] && grep HOME "$base/message"
}
# An entry in passwd stands in for HOME.
if ! getent passwd "$(id -u)" >/dev/null; then
	check 'no HOME, and no entry in passwd' odd_home -u HOME
	check 'an empty HOME, and no entry in passwd' odd_home HOME=
fi
check 'a HOME that is no absolute path' odd_home HOME=relative

lib_done
