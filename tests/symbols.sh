#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The dynamic symbols of the library are those of symbols.txt: nothing internal gets out, and
# nothing that a release promised gets lost.
library=$1
expected=$2
found=$(nm -D --defined-only "$library" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort)

if [ "$found" = "$(cat "$expected")" ]; then
	echo "ok 1 - the exported functions are those of symbols.txt"
else
	echo "not ok 1 - the exported functions are those of symbols.txt"
	echo "$found" | diff "$expected" - | sed 's/^/# /'
fi
echo "1..1"
