#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lane.sh LANE
#
# Each row of the static program LANE (lane.c), twice in a fresh world: outside, where what is denied
# inside must come through, and inside, where it must not and where the world must look the same
# afterwards. Under a profile whose reads the lane serves, and under one whose reads it may not serve.
# Prints TAP.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/world.sh
. "$here/../e2e/world.sh"

lane=$1
count=0
failures=0

main() {
	world_init lane
	trap 'world_remove' EXIT
	cp "$lane" "$base/lane"
	lane=$base/lane
	top=$base/top
	if [ -z "${LAPBELT_LANE:-}" ] || ! [ -r "$LAPBELT_LANE" ]; then
		echo '1..0 # SKIP there is no library of the lane here'
		[ -z "${LAPBELT_MUST_WORK:-}" ]
		exit
	fi
	profile reads '(deny process-exec* (subpath (param "TOP")))'
	profile execs ''
	for profile in reads execs; do
		plan
		"$lane" "$base" >"$base/list"
		while read -r name kind; do
			row
		done <"$base/list"
	done
	echo "1..$count"
	[ "$failures" -eq 0 ]
}

# profile NAME MORE
profile() {
	cat >"$base/$1.sb" <<-EOT
		(version 1)
		(allow default)
		(deny file-write* file-link)
		(allow file-write* file-link (subpath (param "TOP")))
		(deny file-read* file-write* file-link
		      (require-all (subpath (string-append (param "TOP") "/judged")) (regex #"/\\.env$")))
		$2
	EOT
}

fresh() {
	chmod -R u+rwX "$top" 2>/dev/null || :
	rm -rf "$top"
	mkdir -p "$top/free" "$top/judged/s" "$top/judged/d/.env"
	echo free >"$top/free/f"
	echo plain >"$top/judged/plain"
	echo secret >"$top/judged/.env"
}

# Names, modes and contents of all that is judged.
listing() {
	(cd "$top/judged" && find . -printf '%p %y %m %s %TY%Tm%Td%TH%TM%TS\n' | sort && cat .env)
}

inside() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	timeout -k 5 60 "$LAPBELT" exec ${LAPBELT_RUN_OPTIONS:-} -D TOP="$top" -f "$base/$profile.sb" "$@"
}

# The profiles do what their names say.
plan() {
	count=$((count + 1))
	fresh
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" plan --exec ${LAPBELT_RUN_OPTIONS:-} -D TOP="$top" -f "$base/$profile.sb" >"$base/out"
	# Before Linux 6.2 no writes.
	truncation=yes
	! grep -q 'does not see truncation' "$base/out" || truncation=no
	case $profile:$truncation:$(grep '^lane: ' "$base/out") in
	'reads:yes:lane: read write '* | 'execs:yes:lane: write '* | 'reads:no:lane: read'* | execs:no:*)
		echo "ok $count - $profile: plan"
		;;
	*)
		complain "the lane is not as it should be"
		echo "not ok $count - $profile: plan"
		failures=$((failures + 1))
		;;
	esac
}

row() {
	count=$((count + 1))
	good=1
	fresh
	if [ "$kind" = denied ]; then
		status=0
		"$lane" "$top" "$name" >"$base/out" || status=$?
		[ "$status" -eq 0 ] || complain "outside: status $status"
		fresh
	fi
	listing >"$base/before"
	status=0
	inside "$lane" "$top" "$name" >"$base/out" 2>&1 </dev/null || status=$?
	listing >"$base/after"
	if [ "$kind" = denied ]; then
		[ "$status" -eq 1 ] || complain "inside: status $status"
		cmp -s "$base/before" "$base/after" || complain 'inside: the world changed'
		! [ -e "$top/free/loot" ] || complain 'inside: there is loot'
	else
		[ "$status" -eq 0 ] || complain "inside: status $status"
	fi
	if [ $good = 1 ]; then
		echo "ok $count - $profile: $name"
	else
		echo "not ok $count - $profile: $name"
		failures=$((failures + 1))
	fi
}

complain() {
	good=0
	echo "# $1"
	sed 's/^/# /' "$base/out"
}

main
