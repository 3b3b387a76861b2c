#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# syscalls.sh TABLE CPU COMPILER...
#
# The numbers in src/plan/syscalls.def are those of the kernel's headers for the CPU that COMPILER
# compiles for. Prints TAP.
set -eu

table=$1
cpu=$2
shift 2
case $cpu in
x86_64) column=2 ;;
aarch64) column=3 ;;
*)
	echo "Bail out! no column for $cpu"
	exit 1
	;;
esac

# NAME NUMBER; calls from 424 on have one number everywhere, and headers may be older than they.
rows() {
	sed -n 's/^CALL(\([A-Z0-9_]*\), *\(-*[0-9]*\), *\(-*[0-9]*\))$/\1 \2 \3/p' "$table" |
		tr '[:upper:]' '[:lower:]' | awk -v column=$column '{ print $1, $column }'
}

# A name without a number stays as it is.
numbers() {
	{
		echo '#include <asm/unistd.h>'
		rows | sed 's/^\([a-z0-9_]*\) .*/@\1 __NR_\1/'
	} | "$@" -E -P - | sed -n 's/^@//p'
}

wrong() {
	numbers "$@" | { rows; echo . .; cat; } | awk '
		$1 == "." { given = 1; next }
		!given { ours[$1] = $2; next }
		{
			n++
			kernel = $2 ~ /^[0-9]+$/ ? $2 : -1
			if (ours[$1] != kernel && !(kernel == -1 && ours[$1] >= 424))
				print $1 " is " kernel ", not " ours[$1]
		}
		END { if (n < 100) print "only " n " calls found" }'
}

complaints=$(wrong "$@")
if [ -z "$complaints" ]; then
	echo "ok 1 - the numbers of system calls are those of the headers for $cpu"
else
	echo "$complaints" | sed 's/^/# /'
	echo "not ok 1 - the numbers of system calls are those of the headers for $cpu"
fi
echo 1..1
[ -z "$complaints" ]
