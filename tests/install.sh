#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: install.sh BUILD - an installed library can be built against, in C and C++, by its
# pkg-config file alone.
set -e
build=$(cd "$1" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
pc=$(find "$root" -name lapbelt.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$root"
flags=$(pkg-config --cflags --libs lapbelt)

cat >"$root/use.c" <<'END'
#include <lapbelt.h>
#include <stdio.h>

int main(void)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy;
	struct lapbelt_decision decision;
	const char *arguments[] = {"/x", NULL};

	if (lapbelt_policy_from_text("(version 1)(allow file-read*)", "use", NULL, &policy, &error))
		return 1;
	if (lapbelt_decide(policy, "file-read-data", arguments, &decision, &error))
		return 1;
	printf("%s %d\n", lapbelt_version(), decision.allowed);
	lapbelt_policy_free(policy);
	return !decision.allowed;
}
END
cp "$root/use.c" "$root/use.cc"
lib=$(dirname "$(find "$root" -name 'liblapbelt.so')")
for compile in "gcc -Wall -Werror -Wpedantic $root/use.c" "g++ -Wall -Werror $root/use.cc"; do
	# shellcheck disable=SC2086  # several words
	$compile -o "$root/use" $flags
	LD_LIBRARY_PATH=$lib "$root/use"
done
"$root$prefix/bin/lapbelt" --version
# Where the program looks for it.
case $(uname -m) in
x86_64) strings "$root$prefix/bin/lapbelt" | grep 'lapbelt/lane\.so$' | while read -r lane; do
	[ -r "$root$lane" ] || exit
done ;;
esac
