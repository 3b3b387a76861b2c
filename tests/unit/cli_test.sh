#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command line: what it prints, where, and how it ends. Usage: cli_test.sh LAPBELT
# shellcheck disable=SC2016  # what is quoted is for another shell
lapbelt=$(realpath "$1")
dir=$(mktemp -d /var/tmp/lapbelt-cli.XXXXXX) || exit 1 # /tmp is a place of its own
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export HOME="$dir" LC_ALL=C
count=0
failures=0

# is NAME STATUS STDOUT STDERR, after `run COMMAND...`; the last two are shell patterns.
run() {
	"$@" >out 2>err </dev/null
	status=$?
}

is() {
	count=$((count + 1))
	out=$(cat out)
	err=$(cat err)
	# shellcheck disable=SC2254  # patterns are meant
	case "$status" in $2) a=0 ;; *) a=1 ;; esac
	# shellcheck disable=SC2254
	case "$out" in $3) b=0 ;; *) b=1 ;; esac
	# shellcheck disable=SC2254
	case "$err" in $4) c=0 ;; *) c=1 ;; esac
	if [ $a$b$c = 000 ]; then
		echo "ok $count - $1"
		return
	fi
	failures=$((failures + 1))
	echo "not ok $count - $1"
	printf 'status %s\n%s\n%s\n' "$status" "$out" "$err" | cat -v | sed 's/^/# /'
}

cat >good.sb <<'END'
(version 1)
(deny default)
(allow file-read* (subpath "/w"))
(allow file-read-data (literal (param "EXTRA")))
END
printf '(version 1)\n(allow file-raed*)\n(allow default)\n(deny bogus*)\n' >bad.sb
printf '(version 1)\n(allow \033[31mred)\n' >escape.sb
ln -s "$lapbelt" sandbox-exec
mkdir folder

# ---- The program

run "$lapbelt" --version
is "--version prints the version" 0 "lapbelt [0-9]*" ""
run "$lapbelt" --help
is "--help lists the commands" 0 "usage: *run *exec *check *decide *explain *profile *plan *test *" ""
run "$lapbelt" help decide
is "help COMMAND is its --help" 0 "usage: lapbelt decide *--target=SYSTEM*" ""
run "$lapbelt"
is "no word at all is a wrong command line" 64 "usage: *" ""
run "$lapbelt" check --frobnicate
is "an unknown option is named" 64 "" "lapbelt: option --frobnicate is not known
hint: lapbelt check --help"
run "$lapbelt" run --wirte=. true
is "a misspelt option is told the right one" 64 "" \
	"lapbelt: option --wirte is not known; did you mean --write?
hint: lapbelt run --help"
run "$lapbelt" help exec
is "help COMMAND knows every command" 0 "usage: lapbelt exec *--no-userns*" ""
run "$lapbelt" decide -D
is "a missing argument is named" 64 "" "lapbelt: option -D needs an argument*"
run "$lapbelt" decide -f good.sb -p x file-read-data
is "two profiles are one too many" 64 "" "lapbelt: option -p comes second*"
run "$lapbelt" decide -D A=B file-read-data /x
is "the default policy takes no parameters" 64 "" "lapbelt: -D needs -f, -p or -n*"
run "$lapbelt" run -w /tmp -f good.sb true
is "a profile of one's own says itself what may be written" 64 "" "lapbelt: --write is about *"
run "$lapbelt" run --status-fd=x true
is "a descriptor is a number" 64 "" "lapbelt: option --status-fd is not a descriptor number*"
run "$lapbelt" run --limit=open-file=9 true
is "a misspelt limit is told the right one" 64 "" \
	"lapbelt: option --limit does not know 'open-file'; did you mean open-files?
hint: lapbelt run --help"
run "$lapbelt" run --limit=everything=1 true
is "an unknown limit is told which there are" 64 "" "lapbelt: option --limit knows cpu, memory, *"
run "$lapbelt" run --limit=cpu true
is "a limit has a value" 64 "" "lapbelt: option --limit is not NAME=VALUE*"
for value in '' 0 -1 1.5 1K 10s 99999999999999999999; do
	run "$lapbelt" run --limit=cpu="$value" true
	is "'$value' is no number of seconds" 64 "" "lapbelt: option --limit takes a number above 0*"
done
for value in '' 0 0G 1k 1KB 1.5G -1M 99999999999G; do
	run "$lapbelt" exec --limit=memory="$value" -p '(version 1)' true
	is "'$value' is no size" 64 "" "lapbelt: option --limit takes a number of bytes above 0, *"
done
run "$lapbelt" plan --exec -p "(version 1)" --limit=memory=2G --limit=file-size=3K --limit=cpu=9 --limit=time=5 --limit=open-files=7 --limit=cpu=8
is "plan tells limits, the last of each" 0 "*
limits:
  cpu 8: rlimit (RLIMIT_CPU), of each process
  memory 2147483648: *
  open-files 7: rlimit (RLIMIT_NOFILE), of each process
  file-size 3072: rlimit (RLIMIT_FSIZE), of each file
  time 5: supervisor, of the run" ""
run "$lapbelt" run --no-userns=1 true
is "an option without argument takes none" 64 "" "lapbelt: option --no-userns takes no argument*"

# ---- check

run "$lapbelt" check -D EXTRA=/x good.sb
is "check is silent about a good profile" 0 "" ""
run "$lapbelt" check good.sb
is "an unset parameter is an error in its place, with the reason" 65 "" \
	"good.sb:4:*: *pattern, got boolean
hint: a parameter that no -D sets is #f"
run "$lapbelt" check bad.sb
is "check prints every error, and which name was meant" 65 "" \
	"bad.sb:2:*: unbound variable: file-raed\*
hint: did you mean 'file-read\*'?
bad.sb:4:*: unbound variable: bogus\*"
run "$lapbelt" check -DEXTRA=/x good.sb bad.sb
is "check goes through all files" 65 "" "bad.sb:2:*"
run "$lapbelt" check missing.sb
is "a file that is not there is an error" 65 "" "lapbelt: unable to open missing.sb: No such file*"
run "$lapbelt" check folder
is "a folder is an error" 65 "" "lapbelt: unable to open folder: Is a directory"
run "$lapbelt" check /dev/null
is "an empty profile is an error" 65 "" "*no version specified*"
head -c 17000000 /dev/zero | tr '\0' ';' >big.sb
run "$lapbelt" check big.sb
is "a file beyond 16 MiB is an error" 65 "" "big.sb:1:1: larger than 16 MiB"
run sh -c "\"$lapbelt\" check - <big.sb"
is "so is such an input" 65 "" "<standard input>:1:1: larger than 16 MiB"
run "$lapbelt" test big.sb
is "so is such a table of tests" 65 "Bail out!" "lapbelt: big.sb:1:1: larger than 16 MiB"
echo "(version 1) (import \"$dir/big.sb\")" >import.sb
run "$lapbelt" check import.sb
is "an import of one is an error in its place" 65 "" "import.sb:1:13: $dir/big.sb: larger than 16 MiB"
{ printf ';' && head -c 15000000 /dev/zero | tr '\0' ';' && echo; } >long.sb
echo "(version 1)(let loop () (open-input-file \"$dir/long.sb\") (loop))" >loop.sb
run "$lapbelt" check loop.sb
is "files count as memory of the profile" 65 "" "loop.sb:1:*: the profile needs more than * bytes of memory"
for _ in 1 2 3 4 5 6 7 8 9 10; do echo "(import \"$dir/long.sb\")"; done | sed '1s/^/(version 1)/' >imports.sb
run "$lapbelt" check imports.sb
is "so do imports" 65 "" "imports.sb:*: the profile needs more than * bytes of memory"
# The kernel's messages: a regular file that makes its readers wait, if they may read it at all.
echo '(version 1)(import "/proc/kmsg")' >wait.sb
run timeout 10 "$lapbelt" check wait.sb
is "a file that makes readers wait is not imported" 65 "" "wait.sb:1:12: unable to open /proc/kmsg: *"
run timeout 10 "$lapbelt" check /proc/kmsg
is "nor is it a profile" 65 "" "lapbelt: unable to open /proc/kmsg: *"
run timeout 10 "$lapbelt" test /proc/kmsg
is "nor a table of tests" 65 "Bail out!" "lapbelt: unable to open /proc/kmsg: *"
run "$lapbelt" check escape.sb
is "text of a profile cannot drive the terminal" 65 "" '*\\x1b*'
run "$lapbelt" check
is "check needs a file" 64 "" "lapbelt: no file to check*"
run sh -c "\"$lapbelt\" check -D EXTRA=/x - <good.sb"
is "- is standard input" 0 "" ""
run "$lapbelt" check --target=darwin -D EXTRA=/x good.sb
is "check compiles for macOS too" 0 "" ""
run "$lapbelt" check --target=plan9 good.sb
is "an unknown target is an error" 64 "" "lapbelt: option --target is neither linux nor darwin*"

cat >warned.sb <<'END'
(version 1)
(deny default)
(allow file-read* (subpath "/a//b"))
(deny file-read* (literal "/c/d"))
(allow file-read* (subpath "/c"))
END
run "$lapbelt" check warned.sb
is "warnings have a place, a kind and a hint, and do not fail" 0 "" \
	"warned.sb:3:28: warning: (subpath \"/a//b\") matches nothing: * \[no-match\]
hint: write (subpath \"/a/b\")
warned.sb:4:1: warning: this rule never decides: *line 5 for '/c/d' \[dead-rule\]
hint: *"
run "$lapbelt" check --strict warned.sb
is "with --strict they do" 1 "" "warned.sb:3:28: warning: *"
run "$lapbelt" check --strict -D EXTRA=/x good.sb
is "--strict is content with a good profile" 0 "" ""
run "$lapbelt" check --allow=no-match warned.sb
is "--allow silences a kind" 0 "" "warned.sb:4:1: warning: *"
run "$lapbelt" check --strict --allow=no-match --allow dead-rule warned.sb
is "what is allowed does not count" 0 "" ""
run "$lapbelt" check --strict warned.sb bad.sb
is "errors count more than warnings" 65 "" "warned.sb:3:28: warning: *bad.sb:2:*"
run "$lapbelt" check --allow=dead-wood warned.sb
is "an unknown kind is an error" 64 "" "lapbelt: option --allow is no kind of warning*"
printf '(version 1)\n(allow default)\n(deny file-read* (literal "/\033[31m/"))\n' >escape2.sb
run "$lapbelt" check escape2.sb
is "patterns in warnings cannot drive the terminal" 0 "" '*\\x1b*'
run "$lapbelt" check --target=darwin escape2.sb
is "nor can they for macOS" 0 "" '*\\x1b*'
run sh -c "\"$lapbelt\" profile --write . | \"$lapbelt\" check --strict -"
is "the default policy has earned no warning" 0 "" ""
run sh -c "\"$lapbelt\" profile --write . --target=darwin | sed 's,/var/,/v/,g' |
	\"$lapbelt\" check --strict --target=darwin -"
is "nor has that for macOS" 0 "" ""

# ---- decide

run "$lapbelt" decide -f good.sb -D EXTRA=/x file-read-data /w/a
is "decide prints answer, place and rule" 0 'allow good.sb:3:1 (allow file-read\* (subpath "/w"))' ""
run "$lapbelt" decide -f good.sb -D EXTRA=/x file-write-data /w/a
is "a denial is an answer, not a failure" 0 "deny good.sb:2:1 (deny default)" ""
run "$lapbelt" decide -f good.sb -D EXTRA=/x file-link /w/a
is "a built-in default says so" 0 "allow built-in default of file-link" ""
run "$lapbelt" decide -p '(version 1)' file-read-data /x
is "nothing decided means deny" 0 "deny built-in default of default" ""
run "$lapbelt" decide -n no-network network-outbound localhost:80
is "named profiles are there" 0 "deny no-network.sb:*" ""
run "$lapbelt" decide -n no-such file-read-data /x
is "an unknown name lists the known" 65 "" "lapbelt: there is no profile named 'no-such'
hint: *no-network*"
run "$lapbelt" decide -f bad.sb file-read-data /x
is "decide fails on a bad profile" 65 "" "lapbelt: bad.sb:2:*"
run "$lapbelt" decide -p '(version 1)' file-raed-data /x
is "a misspelt operation is told the right one" 64 "" "lapbelt: unknown operation 'file-raed-data'
hint: did you mean 'file-read-data'?"
run "$lapbelt" decide -p '(version 1)' bogus /x
is "an unknown operation is a wrong question" 64 "" "lapbelt: unknown operation 'bogus'"
run "$lapbelt" decide -p '(version 1)' file-read-data x
is "a file begins with a slash" 64 "" "lapbelt: 'x' does not start with /"
run "$lapbelt" decide -p '(version 1)' network-outbound example.com:80
is "a host name is a wrong question" 64 "" "lapbelt: 'example.com' is not a host*"
run "$lapbelt" decide -p '(version 1)' file-read-data /x signal=SIGTERM
is "a key must fit its operation" 64 "" "lapbelt: signal does not apply to file-read-data"
run "$lapbelt" decide -p '(version 1)' file-read-data /x colour=red
is "an unknown key is an error" 64 "" "lapbelt: unknown key 'colour'"
run "$lapbelt" decide -p '(version 1)' file-read-data /x vnode-tpye=FIFO
is "a misspelt key is told the right one" 64 "" "lapbelt: unknown key 'vnode-tpye'
hint: did you mean 'vnode-type'?"
run "$lapbelt" decide -p '(version 1)' signal targgt=self
is "in the first place, too" 64 "" "lapbelt: unknown key 'targgt'
hint: did you mean 'target'?"
run "$lapbelt" decide -p '(version 1)' file-read-data /x /y
is "what is no key is not KEY=VALUE" 64 "" "lapbelt: '/y' is not KEY=VALUE"
run "$lapbelt" decide -p '(version 1)' process-exec /bin/sh
is "an older name is told the present one" 64 "" "lapbelt: 'process-exec' is an older name
hint: the operation is called 'process-exec\*'"
run "$lapbelt" decide -p '(version 1)' mach-per-user-lookup
is "an operation that is gone says so" 64 "" "lapbelt: 'mach-per-user-lookup' is no operation any more
hint: rules about it are dropped"
run "$lapbelt" diff -p '(version 1)(deny default)' -p '(version 1)(allow default)'
is "control: policies differ about the others" 1 "looser: *ipc-posix-shm-read-data*" ""
cp out differences
run grep -e shm-read-metadata -e per-user-lookup differences
is "but not about one that is gone" 1 "" ""
for command in decide explain; do
	run "$lapbelt" $command -p '(version 1)(allow file-read* (subpath "/w"))' file-read-data /w/../etc
	is "$command takes canonical paths only" 64 "" \
		"lapbelt: '/w/../etc' is not canonical: no path has a '..' between slashes
hint: the canonical path is '/etc', if there are no links on the way"
done
run "$lapbelt" decide -p '(version 1)' file-read-data /a//b/./c/
is "the hint has the whole canonical path" 64 "" "lapbelt: '/a//b/./c/' is not canonical: *
hint: the canonical path is '/a/b/c'"
run "$lapbelt" decide -p '(version 1)' network-outbound /run/x/
is "so it is with sockets" 64 "" "lapbelt: '/run/x/' is not canonical: no path ends in a slash
hint: *'/run/x'"
run "$lapbelt" decide -p '(version 1)' file-read-data /
is "control: the root ends in a slash" 0 "deny *" ""
run "$lapbelt" decide -p '(version 1)' ipc-posix-shm-read-data /a//b
is "control: a name is no path" 0 "deny *" ""

for command in decide explain; do
	run "$lapbelt" $command -p '(version 1)(allow file-read* (subpath "/etc"))' --target=darwin \
		file-read-data /etc/hosts
	is "$command says that rules for macOS see other paths" 0 "allow *" \
		"lapbelt: warning: on macOS '/etc/hosts' is '/private/etc/hosts', and rules see that"
	run "$lapbelt" $command -p '(version 1)(allow file-read* (subpath "/etc"))' --target=darwin \
		file-read-metadata /etc
	is "control: the link itself has that path" 0 "allow *" ""
	run "$lapbelt" $command -p '(version 1)(allow file-read* (subpath "/etc"))' --target=linux \
		file-read-data /etc/hosts
	is "control: it is no link on Linux" 0 "allow *" ""
done

# ---- Explain

run "$lapbelt" explain -f good.sb -D EXTRA=/x file-read-data /w/x
is "explain tells the decision, then the way" 0 "allow good.sb:3:1 (allow file-read\* (subpath \"/w\"))

file-read-data
  no rule matches: file-read\* is asked
file-read\*
  decides     good.sb:3:1 *
default
  not asked   good.sb:2:1 (deny default)
              a more special operation had decided" ""
run "$lapbelt" explain -p '(version 1)(deny default)(allow file-read* (subpath "/w"))(deny file-read* (literal "/w/x"))' file-read-data /w/x
is "explain shows what is overridden" 0 "deny *decides *(deny file-read\* *overridden *(allow file-read\* *" ""
run "$lapbelt" explain --exec -p '(version 1)(deny default)' file-read-data /usr/lib/x
is "explain shows a default that gives way" 0 "allow *default*gave way *(deny default)*" ""
run "$lapbelt" explain -p '(version 1)' file-raed /x
is "explain knows operations" 64 "" "lapbelt: unknown operation *did you mean*"
run "$lapbelt" explain
is "explain wants an operation" 64 "" "lapbelt: *no operation*"

long=$(printf '%0300d' 0)
run "$lapbelt" explain -p "(version 1)(allow default (require-not (subpath \"/$long\")))" file-read-data /
is "what is cut off a rule is marked" 0 "allow <input string>:1:12 (allow default *000…

*decides     <input string>:1:12 *000…" ""
run "$lapbelt" explain -p "(version 1)(allow default (require-not (subpath \"/x\")))" file-read-data /
is "control: where nothing is cut there is no mark" 0 "allow * (allow default (require-not (subpath \"/x\")))

*" ""

# ---- Standard output

printf '=== t\n(version 1)\n---\nsignal => deny\n' >ok.sbt
echo '(version 1)' >one.full
echo '(version 1)(allow default)' >two.full
for words in --help --version 'help decide' 'decide --help' 'test ok.sbt' 'profile --write .' \
	'plan --write .' 'diff one.full two.full' 'prove two.full "never signal"' \
	'decide -f one.full signal' 'explain -f one.full signal'; do
	run sh -c "\"$lapbelt\" $words >/dev/full"
	is "an answer that cannot be written is an error: $words" 71 "" \
		"lapbelt: cannot write to standard output: No space left on device"
	run sh -c "\"$lapbelt\" $words >/dev/null"
	is "control: it can: $words" "[01]" "" ""
done
run sh -c "\"$lapbelt\" exec -p '(version 1)(allow default)' true >/dev/full"
is "what writes nothing does not care" 0 "" ""

# ---- test

cat >rows.sbt <<'END'
=== a title # TODO
(version 1)
(deny default)
---
file-read-data "/x # SKIP" => deny 2
file-read-data /a//b       => deny
file-link /x               => deny
END
run "$lapbelt" test rows.sbt
is "a row that makes no sense fails, with the hint; a built-in default has no place" 1 \
	'ok 1 - rows.sbt:5 a title \\# TODO: file-read-data "/x \\# SKIP" => deny 2
not ok 2 - rows.sbt:6 *
# linux: * is not canonical: *
# linux: hint: the canonical path is *
*
not ok 3 - rows.sbt:7 *
# linux: allow by built-in default of file-link
# darwin: allow by built-in default of file-link
1..3' ""
run sh -c "\"$lapbelt\" test - <rows.sbt"
is "- is standard input to test, too" 1 "ok 1 - <standard input>:5 *" ""
printf '=== \033[31mred\001\\d#\n(version 1)\n---\nsignal => deny\n' >control.sbt
run "$lapbelt" test control.sbt
is "a title cannot drive the terminal, nor be a directive" 0 \
	'ok 1 - control.sbt:4 \\\\x1b\[31mred\\\\x01\\\\d\\#: signal => deny
1..1' ""
sed 's/$/\r/' ok.sbt >crlf.sbt
run "$lapbelt" test crlf.sbt
is "lines may end as on Windows" 0 "ok 1 - crlf.sbt:4 t: signal => deny
1..1" ""
{ printf '\357\273\277' && cat ok.sbt; } >bom.sbt
run "$lapbelt" test bom.sbt
is "a byte order mark is an error that is seen" 65 "Bail out!" "lapbelt: bom.sbt:1:1: a byte order mark
hint: *"
printf '\357\273\277(version 1)\n(allow default)\n' >bom.sb
run "$lapbelt" check bom.sb
is "so it is in a profile" 65 "" 'bom.sb:1:1: unbound variable: \\xef\\xbb\\xbf
hint: a byte order mark *'
mkfifo table
(sleep 1 && cat ok.sbt >table) &
run "$lapbelt" test table
is "a table may come through a FIFO, late" 0 "ok 1 - table:4 t: signal => deny
1..1" ""
: >empty.sbt
run "$lapbelt" test empty.sbt
is "a file without a case tests nothing, which is an error" 65 "Bail out!" \
	"lapbelt: empty.sbt:1:1: there is no case in it"
run "$lapbelt" test ok.sbt missing.sbt ok.sbt
is "a file that is not there ends it" 65 "ok 1 - *
Bail out!" "lapbelt: unable to open missing.sbt: *"

# ---- Assertions that say less than they seem to

# shellcheck disable=SC2088  # it is not to expand
for about in '~/.ssh' '/w/' '/w//x' './x'; do
	run "$lapbelt" prove -p '(version 1)(allow default)' "never file-read-data subpath \"$about\""
	is "an assertion about no path is an error: $about" 65 "" "*<assertion>:1:1: no request is *hint: *"
done
run "$lapbelt" prove -p '(version 1)(allow default)(deny ipc-posix-shm* ipc-posix-sem*)' \
	'never ipc-posix-shm* ipc-posix-sem*' 'never ipc-posix*'
is "message queues ask ipc-posix* itself" 1 "'ipc-posix*'*never ipc-posix*" ""
printf '(version 1)(deny default)(allow ipc-posix-shm* (require-not (ipc-posix-name "x")))' >x.sb
printf '(version 1)(deny default)(allow ipc-posix-shm* (require-not (ipc-posix-name "/x")))' >slash-x.sb
run "$lapbelt" prove --target=linux -f x.sb 'never ipc-posix-shm* ipc-posix-name "/x"'
is "an object may be spelt with a slash" 0 "" ""
run "$lapbelt" diff --target=linux x.sb slash-x.sb
is "spelt either way it is the same" 0 "" ""
run "$lapbelt" diff --target=darwin x.sb slash-x.sb
is "not on macOS" 1 "*ipc-posix-name=*" ""
run "$lapbelt" prove -p '(version 1)(allow default)' 'never syscall*'
is "an assertion about no operation is an error" 65 "" "*<assertion>:1:1: no request is *"
mkdir -p 'a+b' && HOME=$dir/a+b
run "$lapbelt" prove -p '(version 1)(allow default)' 'never file-read-data regex "^$HOME/x"'
is "a name in a regular expression is literal" 1 "file-read-data *a+b/x*" ""
run "$lapbelt" prove -p '(version 1)(allow default)' 'never file-read-data regex #"^$HOME/x"'
is "in a raw one, too" 1 "file-read-data *a+b/x*" ""
HOME=/
run "$lapbelt" prove -p '(version 1)(allow default)' 'never file-read-data subpath "$HOME/.ssh"'
is "the root's slash is not doubled" 1 "file-read-data /.ssh*" ""
HOME=$dir
run "$lapbelt" prove -p '(version 3)(deny default)(allow sysctl-read)' 'never sysctl-write'
is "operations are what they are called, not older names" 0 "" ""

# ---- profile, plan

run "$lapbelt" profile -w .
is "profile prints scope lines and SBPL" 0 ";; scope: *(version 1)*" ""
run sh -c "\"$lapbelt\" profile --write . | \"$lapbelt\" check -"
is "what profile prints compiles" 0 "" ""
run "$lapbelt" profile
is "a working directory that is \$HOME is refused" 78 "" "lapbelt: *
hint: *--write .*"
run "$lapbelt" plan extra
is "plan takes no words" 64 "" "lapbelt: 'extra' is one word too many*"
run "$lapbelt" plan -p '(version 1)(allow default)(deny file-write* (subpath "/usr"))'
is "plan prints what would be done" 0 "?*" ""

# ---- prove, diff

cat >hole.sb <<'END'
(version 1)
(allow default)
(deny file-read* (subpath (param "SECRETS")))
(allow file-read-data (regex #"\.pub$"))
END
printf '(version 1)\n(deny default)\n(allow file-read* (subpath "/a") (subpath "/b"))\n' >one.sb
cat >other.sb <<'END'
(version 1)
(deny default)
(allow file-read* (regex #"^/[ab](/|$)"))
END
printf '(version 1)\n(deny default)\n(allow file-read* (subpath "/a"))\n' >tight.sb
mkdir "$dir/.ssh" "$dir/project"

run sh -c "cd project && \"$lapbelt\" prove 'never file-read-data subpath \"\$HOME/.ssh\"'"
is "nothing below ~/.ssh is readable under the default policy" 0 "" ""
run sh -c "cd project && \"$lapbelt\" prove default 'never file-read-data subpath \"\$HOME\"'"
is "and its control, the home directory, is" 1 "file-read-data $dir
  <assertion>:1:1 never file-read-data subpath \"\$HOME\"
  allow <default policy>:*" ""
run "$lapbelt" prove -D "SECRETS=$dir/.ssh" hole.sb 'never file-read* subpath "$HOME/.ssh"'
is "a hole comes with the shortest path through it and both rules" 1 \
	"file-read-data $dir/.ssh/.pub
  <assertion>:1:1 never file-read\* subpath \"\$HOME/.ssh\"
  allow hole.sb:4:1 (allow file-read-data (regex #\"\\\\.pub\$\"))" ""
found=$(head -n 1 out)
run sh -c "\"$lapbelt\" decide -D SECRETS=$dir/.ssh -f hole.sb $found"
is "what prove prints is a question for decide" 0 "allow hole.sb:4:1 *" ""
run "$lapbelt" prove -D SECRETS=/s -f hole.sb 'never file-write* (literal "/x y")' \
	'always signal (target self)'
is "every assertion is proved, and words are quoted" 1 "file-write-acl '/x y'
  <assertion>:1:1 never file-write\* (literal \"/x y\")
  allow hole.sb:2:1 (allow default)" ""
run sh -c "\"$lapbelt\" prove - 'always file-read* subpath \"/a\"' 'never network*' <one.sb"
is "a policy may be standard input" 0 "" ""
run sh -c "cd project && \"$lapbelt\" prove ../one.sb 'always file-read* subpath \"\$PWD\"'"
is "\$PWD is where we are" 1 "file-read-data $dir/project*" ""
run "$lapbelt" prove one.sb 'never file-link' 'never file-write-setugid' 'always file-link (subpath "/x")'
is "operations with defaults of their own are named by themselves" 1 "file-link /
  <assertion>:1:1 never file-link
  allow built-in default of file-link" ""
run "$lapbelt" prove -p '(version 1)(deny default)(allow network-outbound (remote ip "localhost:*"))' \
	'never network-outbound remote ip "*:443"' 'never network-outbound (remote unix-socket)'
is "addresses are proved too" 1 "network-outbound localhost:443
*" ""
run "$lapbelt" prove -p '(version 1)(allow network-outbound (require-not (subpath "/")))' \
	'never network-outbound (remote unix-socket)'
is "a socket without a name is a socket" 1 "network-outbound protocol=unix
*" ""
run "$lapbelt" prove one.sb 'never file-raed-data subpath "/x"'
is "an error is one of the assertion" 65 "" "lapbelt: <assertion>:1:7: unknown operation 'file-raed-data'
hint: did you mean 'file-read-data'?"
run "$lapbelt" prove one.sb 'never file-read-data (subpath "$HOME/x")
(subpth "$HOME")'
is "its place is that in the assertion as written" 65 "" "lapbelt: <assertion>:2:2: unbound variable: subpth*"
run "$lapbelt" prove one.sb 'never file-read-data literal "$HOEM/x"'
is "a name that means nothing is an error" 65 "" "lapbelt: <assertion>:1:31: nothing is called '\$HOEM'
hint: *"
run "$lapbelt" prove one.sb 'never file-read-data (subpath "/x")) (allow default'
is "an assertion is one rule" 65 "" "lapbelt: <assertion>:1:36: unexpected ')'"
run "$lapbelt" prove one.sb 'sometimes file-read-data'
is "an assertion is never or always" 65 "" "lapbelt: <assertion>:1:1: expected never or always, got 'sometimes'
hint: *"
run "$lapbelt" prove one.sb
is "an assertion is needed" 64 "" "lapbelt: no assertion to prove*"
run "$lapbelt" prove bad.sb 'never file-read-data'
is "a bad policy proves nothing" 65 "" "lapbelt: bad.sb:2:*"

run "$lapbelt" diff one.sb other.sb
is "the same said otherwise is the same" 0 "" ""
run "$lapbelt" diff one.sb tight.sb
is "less is stricter" 1 "stricter: file-read-data /b
  allow one.sb:3:1 (allow file-read\* (subpath \"/a\") (subpath \"/b\"))
  deny tight.sb:2:1 (deny default)
  also file-read-metadata, file-read-xattr" ""
run "$lapbelt" diff --no-looser one.sb tight.sb
is "--no-looser lets a policy become stricter" 0 "" ""
run "$lapbelt" diff --no-looser tight.sb one.sb
is "--no-looser does not let it become looser" 1 "looser: file-read-data /b
  deny *
  allow *
  also *" ""
run sh -c "cd project && \"$lapbelt\" profile >mine.sb && \"$lapbelt\" diff mine.sb default"
is "the default policy is what profile prints" 0 "" ""
run "$lapbelt" diff -n no-network -p '(version 1)(allow default)'
is "policies come from options too" 1 "looser: network-inbound
*" ""
run sh -c "\"$lapbelt\" diff one.sb - <other.sb"
is "one of two may be standard input" 0 "" ""
run "$lapbelt" diff - -
is "both cannot" 64 "" "lapbelt: standard input can be one of the policies only*"
mkfifo pipe
run sh -c "cat other.sb >pipe & \"$lapbelt\" diff one.sb pipe"
is "a FIFO is a file" 0 "" ""
run "$lapbelt" diff one.sb
is "two policies are needed" 64 "" "lapbelt: two policies are needed*"
run "$lapbelt" diff -f one.sb other.sb tight.sb
is "three are too many" 64 "" "lapbelt: 'tight.sb' is one policy too many*"
run "$lapbelt" diff one.sb bad.sb
is "a bad policy differs from nothing" 65 "" "lapbelt: bad.sb:2:*"
run "$lapbelt" diff --target=darwin -p '(version 1)(deny default)(allow file-read* (extension "x"))' \
	-p '(version 1)(deny default)'
is "macOS has extensions" 1 "stricter: file-read-data / extension=x
*" ""
run "$lapbelt" diff --target=linux -p '(version 1)(deny default)(allow file-read* (extension "x"))' \
	-p '(version 1)(deny default)'
is "Linux has none" 0 "" ""

# ---- exec

allow='(version 1)(allow default)'
run "$lapbelt" exec -p "$allow" sh -c 'echo out; echo err >&2; exit 7'
is "exec gives the command's output and status" 7 "out" "err"
run "$lapbelt" exec -p "$allow" sh -c 'kill -TERM $$'
is "a signal is 128 and its number" 143 "" ""
run "$lapbelt" exec -p "$allow" -- true
is "-- ends the options" 0 "" ""
run "$lapbelt" exec -p "$allow" no-such-command
is "a command that is not there is 71" 71 "" \
	"lapbelt: execvp() of 'no-such-command' failed: No such file or directory"
run ./sandbox-exec -p "$allow" no-such-command
is "sandbox-exec speaks in its own name" 71 "" \
	"sandbox-exec: execvp() of 'no-such-command' failed: No such file or directory"
run ./sandbox-exec -p '(version 1)(allow file-raed*)' true
is "sandbox-exec says where as Apple's does" 65 "" \
	"sandbox-exec: unbound variable: file-raed\* at <input string>, line 1, column *"
run ./sandbox-exec true
is "sandbox-exec without a profile is a wrong command line" 64 "" "sandbox-exec: *
usage: sandbox-exec *"
run "$lapbelt" exec -p "$allow"
is "exec needs a command" 64 "" "lapbelt: no command to run*"
echo secret >secret
run "$lapbelt" exec -p "$allow" cat secret
is "control: a file can be read" 0 secret ""
run "$lapbelt" exec -D "S=$dir/secret" -p "$allow(deny file-read-data (literal (param \"S\")))" \
	cat secret
is "a parameter reaches the rule that denies it" 1 "" "cat: secret: *"
mkfifo fifo
(echo "$allow(deny file-read-data (literal \"$dir/secret\"))" >fifo) &
run "$lapbelt" exec -f fifo cat secret
is "a profile may come through a FIFO" 1 "" "cat: secret: *"
run sh -c "exec 5>status; \"$lapbelt\" exec --status-fd=5 -p '$allow' sh -c 'exit 3'; cat status"
is "--status-fd tells the command's exit" 0 "exit 3" ""
run sh -c "exec 5>status; \"$lapbelt\" exec --status-fd=5 -p '$allow' no-such-command; cat status"
is "--status-fd tells that nothing was run" 0 "failed 71" "lapbelt: *"
run sh -c "exec 5>status; \"$lapbelt\" exec --status-fd=5 -p '(version' true; cat status"
is "--status-fd tells of a bad profile" 0 "failed 65" "lapbelt: *"
run sh -c "exec 7<secret; \"$lapbelt\" exec -p '$allow' --pass-fd 7 cat /dev/fd/7"
is "--pass-fd leaves a descriptor open" 0 secret ""
run sh -c "exec 7<secret; \"$lapbelt\" exec -p '$allow' sh -c 'cat <&7'"
is "other descriptors are closed" "[12]" "" "*[Bb]ad file descriptor"
run "$lapbelt" exec -p "$allow" --pass-fd 33 true
is "a descriptor that is not open is an error" 64 "" "lapbelt: descriptor 33 *"

# ---- run

cd project || exit 1
ln -s ../out ../err .
run "$lapbelt" run sh -c 'echo kept >file && cat file'
is "run writes in its folder" 0 kept ""
run "$lapbelt" sh -c 'echo kept >file && cat file'
is "a first word that is no command is run" 0 kept ""
run "$lapbelt" hceck ../good.sb
is "a program that is not there may be a misspelt command" 71 "" \
	"lapbelt: execvp() of 'hceck' failed: No such file or directory
hint: did you mean 'lapbelt check'?"
run "$lapbelt" run hceck
is "after run it is no command" 71 "" \
	"lapbelt: execvp() of 'hceck' failed: No such file or directory"
run "$lapbelt" run sh -c 'echo lost >../file'
is "run does not write beside its folder" "[12]" "" "*../file*"
run "$lapbelt" run -w .. sh -c 'echo kept >../file && cat ../file'
is "--write opens one more folder" 0 kept ""
run env API_TOKEN=x HARMLESS=y "$lapbelt" run sh -c 'echo "${API_TOKEN-gone} ${HARMLESS-gone}"'
is "run takes secrets out of the environment" 0 "gone y" ""
run env API_TOKEN=x "$lapbelt" exec -p "$allow" sh -c 'echo "${API_TOKEN-gone}"'
is "exec leaves the environment alone" 0 x ""

# Every read through the broker would make builds crawl.
run sh -c '"$0" plan | grep ^broker:' "$lapbelt"
is "the default policy leaves reads to the kernel" 0 "broker: write attributes unix*" ""

echo "1..$count"
[ $failures = 0 ]
