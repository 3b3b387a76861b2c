#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh FUZZER DICTIONARY CORPUS: every file of the corpus once, then new inputs for a short while.
set -eu
[ -n "$(ls "$3")" ]
"$1" -timeout=20 -runs=0 "$3"
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
"$1" -max_total_time=10 -max_len=2000 -timeout=20 -dict="$2" -artifact_prefix="$new/" "$new" "$3" || {
	# What broke it is small: show it.
	for file in "$new"/crash-* "$new"/leak-* "$new"/timeout-* "$new"/oom-*; do
		[ ! -e "$file" ] || base64 "$file"
	done
	exit 1
}
