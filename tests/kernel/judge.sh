#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lapbelt test --live: what it prints, how it ends, and that it leaves the host alone. LAPBELT names
# the program; LAPBELT_RUN_OPTIONS may be --no-userns.
set -u
dir=$(mktemp -d /var/tmp/lapbelt-judge.XXXXXX) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir tmp && export TMPDIR="$dir/tmp"
count=0
failures=0

# check NAME COMMAND...
check() {
	count=$((count + 1))
	name=$1
	shift
	if "$@" >check.out 2>&1; then
		echo "ok $count - $name"
	else
		failures=$((failures + 1))
		echo "not ok $count - $name"
		sed 's/^/# | /' out err check.out
	fi
}

# live OPTION... FILE: its output in out and err, its status in $status
live() {
	# shellcheck disable=SC2086 # an option, or nothing
	JUDGED=$dir "$LAPBELT" test --live ${LAPBELT_RUN_OPTIONS:-} "$@" >out 2>err </dev/null
	status=$?
}

is() { [ "$status" = "$1" ]; }
prints() { grep -q -e "$1" out; }

# ---- Outcomes

cat >gap.sbt <<'END'
=== a gap
(version 1)
(allow default)
(deny dynamic-code-generation)
---
dynamic-code-generation => deny 3
process-fork            => allow 2
mach-lookup a           => allow 2
@darwin process-fork    => allow 2
END
live gap.sbt
check "a gap is no failure" is 0
check "it is told" prints '^ok 1 .*=> deny 3 # SKIP gap: content: '
check "what holds is ok" prints '^ok 2 .*=> allow 2$'
check "an operation that only macOS has is not acted out" \
	prints '^ok 3 .* # SKIP not applicable: mach-lookup '
check "nor is a row about macOS" prints '^ok 4 .* # SKIP not applicable: .*macOS$'
check "the plan stands at the end" prints '^1\.\.4$'
check "and a count" prints '^# kernel: 1 rows hold, 0 do not, 1 are gaps, 2 not acted out$'
live --gaps=refuse gap.sbt
check "with --gaps=refuse it is a failure" is 1
check "which says what the kernel does" prints '^# kernel: content: '
check "of this row" prints '^not ok 1 '

sed 's/=> deny 3/=> allow/' gap.sbt >wrong.sbt
live wrong.sbt
check "a row that decide answers otherwise is a failure" is 1
check "which is decide's" prints '^# linux: deny by profile:3:1 '

printf '=== no profile\n(version 1\n---\nprocess-fork => deny\n' >bad.sbt
live bad.sbt
check "a profile that does not compile is a failure" is 1
"$LAPBELT" test --gaps=refuse gap.sbt >out 2>err
status=$?
check "--gaps is about --live" is 64

# ---- The host

mkdir -p tree/folder
echo content >tree/file
chmod 640 tree/file
ln -s tree link
cat >host.sbt <<END
=== everything is allowed
@param D=$dir
(version 1)
(allow default)
(deny file* (subpath (string-append (param "D") "/tree/folder")))
---
file-read-data $dir/tree/file     => allow 2
file-write-data $dir/tree/file    => allow 2
file-write-unlink $dir/tree/file  => allow 2
file-write-mode $dir/tree/file    => allow 2
file-write-times $dir/tree/file   => allow 2
file-write-create $dir/tree/new   => allow 2
file-write-unlink $dir/tree       => allow 2
file-read-data $dir/link/file     => allow 2
file-read-data $dir/link/folder/x => allow 2
file-write-create $dir/tree/folder/x => deny 3
END
listing() { (cd "$dir" && find tree link -printf '%p %m %T@ %C@ %l\n' && cat tree/file); }
listing >before
cat /proc/self/mounts >mounts-before
live host.sbt
listing >after
cat /proc/self/mounts >mounts-after
check "acts on what is the host's hold" is 0
check "where a symbolic link leads counts" prints 'link/folder/x => allow 2 # SKIP not applicable: '
check "the host's files are as they were" cmp before after
check "and its mounts" cmp mounts-before mounts-after

# ---- Ends

nothing_left() {
	[ -z "$(ls -A "$TMPDIR")" ] && ! grep -lza "^JUDGED=$dir" /proc/[0-9]*/environ 2>/dev/null
}
check "nothing is left" nothing_left

i=0
while [ $i -lt 200 ]; do
	echo "signal target=others => deny 3"
	i=$((i + 1))
done >rows
printf '=== many\n(version 1)\n(allow default)\n(deny signal (target others))\n---\n' |
	cat - rows >many.sbt
# shellcheck disable=SC2086 # an option, or nothing
JUDGED=$dir "$LAPBELT" test --live ${LAPBELT_RUN_OPTIONS:-} many.sbt >out 2>err </dev/null &
pid=$!
while ! grep -q '^ok 3 ' out; do sleep 0.05; done
kill -TERM $pid
wait $pid
status=$?
check "a signal ends it" is 143
i=0
while [ $i -lt 50 ] && ! nothing_left >/dev/null; do
	sleep 0.1
	i=$((i + 1))
done
check "nor then" nothing_left

echo "1..$count"
[ $failures = 0 ]
