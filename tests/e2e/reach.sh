#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a policy denies stays out of reach by roundabout ways, also under profiles that allow the rest.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init reach

everything='(version 1) (allow default)'

act() {
	python3 "$acts" "$@"
}

# under RULES COMMAND…: all is allowed but what RULES deny
under() {
	rules=$1
	shift
	# shellcheck disable=SC2086 # a list of options, or nothing
	timeout --foreground -k 5 "$lib_patience" "$LAPBELT" exec ${LAPBELT_RUN_OPTIONS:-} -p "$everything $rules" "$@"
}

act_under() {
	rules=$1
	shift
	under "$rules" python3 "$acts" "$@"
}

inside_act() {
	inside python3 "$acts" "$@"
}

# --- processes outside ---------------------------------------------------------------------------------

# with_holder FUNCTION ARGUMENT…: while a process outside holds what is none of the command's business
with_holder() {
	HELD='held outside' python3 "$acts" hold "$HOME/ws/facts" &
	holder=$!
	wait_until test -e facts
	result=0
	("$@") || result=$?
	kill "$holder"
	wait "$holder" || :
	return $result
}
# with_holder must see each failure: set -e does not hold in it
out_of_reach() {
	act "$@" &&
		fails act_under "(deny file-write* (subpath \"$HOME/other\"))" "$@" &&
		fails act_under "(deny file-read* (subpath \"$HOME/other\"))" "$@" &&
		fails inside_act "$@"
}
for way in pinned inside; do
	for name in mem fd/N environ; do
		check "$name of a process outside is out of reach ($way)" \
			with_holder out_of_reach reach facts "$way" $name
	done
done
check 'memory of a process outside is not written' with_holder out_of_reach overwrite facts

reaches_own() {
	act_under "(deny file-write* (subpath \"$HOME/other\"))" reach-own
	inside_act reach-own
}
check 'a process reaches its own children (control)' reaches_own

# --- a descriptor whose name is gone -----------------------------------------------------------------------

reads_after_unlink() {
	act read-unlinked ../other/f
	world_fresh
	fails act_under "(deny $1 (subpath \"$HOME/other\"))" read-unlinked ../other/f
	world_fresh
	act_under "(deny $1 (subpath \"$HOME/.ssh\"))" read-unlinked ../other/f
}
check 'a file that may not be read is not read after its name is removed' reads_after_unlink 'file-read*'
check 'nor if only its data may not be read' reads_after_unlink file-read-data

# replaces FUNCTION…: it pins ~/.aws/credentials; meanwhile somebody outside renames another file over that
replaces() {
	rm -f pinned replaced
	"$@" read-replaced "$HOME/.aws/credentials" "$HOME/ws/pinned" "$HOME/ws/replaced" &
	reader=$!
	wait_until test -e pinned
	echo new >"$HOME/.aws/new"
	mv "$HOME/.aws/new" "$HOME/.aws/credentials"
	touch replaced
	wait $reader
}
reads_after_replacement() {
	replaces act
	fails replaces inside_act
	fails replaces act_under "(deny file-read-data (subpath \"$HOME/.aws\"))"
}
check 'a secret is not read after another was renamed over it' reads_after_replacement

# --- a path that changes while it is judged -----------------------------------------------------------------

programs() {
	printf '#!/bin/sh\nexit 0\n' >allowed
	printf '#!/bin/sh\nexit 42\n' >denied
	chmod 755 allowed denied
}
races() {
	programs
	act run-racing ./allowed ./denied 400
	fails act_under "(deny process-exec ($1 \"$HOME/ws/denied\"))" run-racing ./allowed ./denied 400
}
check 'a denied program never runs, however the path changes (literal)' races literal
check 'a denied program never runs, however the path changes (subpath)' races subpath
cannot_enforce() {
	programs
	profile='(deny process-exec (regex #"/denied$"))'
	result=0
	under "$profile" touch ran 2>"$base/message" || result=$?
	cat "$base/message"
	[ $result -eq 71 ]
	[ ! -e ran ]
	grep '^lapbelt: gap (content)' "$base/message"
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" exec ${LAPBELT_RUN_OPTIONS:-} --gaps=report -p "$everything $profile" ./allowed 2>"$base/message"
	grep '^lapbelt: gap (content)' "$base/message"
}
check 'a profile that such a race would break does not start' cannot_enforce

# --- paths longer than the kernel tells -----------------------------------------------------------------------

# far_down COMMAND…: under it a file is made five thousand bytes down; 1: it may not be
far_down() {
	python3 -c '
import os
for _ in range(25):
    os.makedirs("x" * 200, exist_ok=True)
    os.chdir("x" * 200)
open("f", "w").close()'
	"$@" python3 -c '
import os
for _ in range(25):
    os.chdir("x" * 200)
open("f").close()
try:
    open("denied", "w").close()
except OSError as error:
    print(error)
    raise SystemExit(1)'
}
denies_far_down() {
	far_down env
	world_fresh
	far_down under ''
	world_fresh
	fails far_down under '(deny file-write* (regex #"/denied$"))'
	fails far_down under "(deny file-write* (regex #\"^$HOME/ws/.*/denied\$\"))"
}
check 'a name is denied however far down' denies_far_down

# --- onto a name that is there ----------------------------------------------------------------------------------

# creates_over TEXT: it puts x where f is, which may not be created though it may be removed
creates_over() {
	echo new >x
	sh -c "$1"
	grep new f
	world_fresh
	echo new >x
	fails under "(deny file-write-create (literal \"$HOME/ws/f\"))" sh -c "$1"
	grep 'first line' f
	under "(deny file-write-create (literal \"$HOME/ws/g\"))" sh -c "$1"
}
check 'renaming over a present file creates it' creates_over 'mv x f'
check 'exchanging creates on both sides' creates_over "python3 -c '
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
raise SystemExit(libc.renameat2(-100, b\"x\", -100, b\"f\", 2) != 0)'"
check 'renaming a symlink over a present file creates it' creates_over 'ln -sf x l && mv -T l f'
may_be_removed() {
	under "(deny file-write-create (literal \"$HOME/ws/f\"))" rm f
	fails under "(deny file-write-create (literal \"$HOME/ws/f\"))" sh -c 'echo new >f'
}
check 'what may not be created may be removed (control)' may_be_removed

# --- root that drops its ids --------------------------------------------------------------------------------------

roots_files() {
	cd "$HOME"
	chmod 755 "$base" "$world" "$HOME" ws
	mkdir -p ws/shared/private
	cd ws/shared
	echo x >private/f
	echo x >own
	echo x >theirs
	chmod 666 private/f theirs
	chmod 600 own
	chmod 700 private
	chmod 777 .
}
# denies_roots_rights COMMAND…: it runs an act, which fails as it does outside
denies_roots_rights() {
	roots_files
	fails "$@" use-roots-rights "$HOME/ws/shared"
}
keeps_roots_rights() {
	denies_roots_rights act
	world_fresh
	denies_roots_rights act_under "(deny file-write* (subpath \"$HOME/other\"))"
}
keeps_roots_rights_inside() {
	denies_roots_rights inside_act
}
speaks_for_itself() {
	roots_files
	fails act speak-as-root "$1"
	rm -f "$1"
	fails act_under "(deny network-outbound (subpath \"$HOME/other\"))" speak-as-root "$1"
}
if is_root; then
	check "who dropped root's ids is not taken for root by path" speaks_for_itself ./socket
	check "nor by an abstract name" speaks_for_itself "@lapbelt-test-$$"
	check "whoever dropped root's ids has root's rights no more" keeps_roots_rights
	# The user namespace of a run has one id: there is nobody to become.
	has_userns || check "nor by the default policy" keeps_roots_rights_inside
fi

# Landlock looks further up than a chroot's root directory: what that is in is there by another mount.
chrooted() {
	unshare -m sh -ec '
		mkdir -p above
		mount -t tmpfs tmpfs above
		mkdir above/root
		mount --rbind / above/root
		exec chroot above/root "$@"' sh "$@"
}
above_a_chroot() {
	echo text >seen
	above="(version 1) (deny default) (allow process*)
		(allow file-read* (subpath \"/usr\" \"/lib\" \"/lib64\" \"$HOME/ws/above\"))"
	chrooted cat "$HOME/ws/seen"
	fails chrooted "$LAPBELT" exec -p "$above" -- cat "$HOME/ws/seen"
	chrooted "$LAPBELT" exec -p "$above (allow file-read* (literal \"$HOME/ws/seen\"))" -- cat "$HOME/ws/seen"
}
if is_root; then
	check "a chroot is in nothing that is granted inside" above_a_chroot
fi

lib_done
