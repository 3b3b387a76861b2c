#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attacks on how a run starts and on what it is started with, and on policies other than the default.
# Numbers are those of the list of attacks. $LAPBELT_ROUNDS: how often a race is tried (50).
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

around=$(realpath "$1")
escape=$(realpath "$2")
rounds=${LAPBELT_ROUNDS:-50} # each is a start
everything='(version 1) (allow default)'

lib_init start
cp "$around" "$base/around"
cp "$escape" "$base/escape"

# Starts it at once, whatever the last word of LAPBELT_RUN_OPTIONS.
under() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	timeout --foreground -k 5 "$lib_patience" "$LAPBELT" exec ${LAPBELT_RUN_OPTIONS:-} "$@"
}

# --- 1: what a policy means ------------------------------------------------------------------------

# A004: where a command goes is not where it was started.
going_elsewhere() {
	inside sh -c 'cd ~ && echo x >other/f' && return 1
	inside sh -c 'cd / && cd "$HOME/other" && echo x >new' && return 1
	[ ! -e "$HOME/other/new" ] && [ "$(cat "$HOME/other/f")" = other ]
}
check 'A004 a directory that the command goes to becomes no project' going_elsewhere
nesting_elsewhere() {
	cp "$LAPBELT" own
	inside sh -c 'cd ~/other && "$OLDPWD/own" run -- cat f'
	fails inside sh -c 'cd ~/other && "$OLDPWD/own" run -- sh -c "echo x >new"'
	[ ! -e "$HOME/other/new" ]
}
check 'A004 nor does one for a run inside' nesting_elsewhere

# A005, A146: a project that is a link, and leads to nowhere when the run starts.
dangling_project() {
	mkdir ../real
	ln -s real ../project
	cd ../project || return
	rmdir ../real
	ln -sfn other ../project
	ends 78 inside sh -c 'echo x >f'
	[ "$(cat "$HOME/other/f")" = other ]
}
check 'A005 a project that is gone is no other' dangling_project
linked_project() {
	inside ln -s ../other project
	(cd "$HOME" && ln -sfn ws/project persistent)
	(cd "$HOME/ws" && inside sh -c 'echo x >>project/f') && return 1
	[ "$(cat "$HOME/other/f")" = other ]
}
check 'A146 a link that one run leaves is not the project of the next' linked_project

# A007, A016: what the policy was is no longer looked at.
changing_profile() {
	printf '%s (deny file-write* (literal "%s"))' "$everything" "$HOME/ws/f" >profile.sb
	under -f profile.sb sh -c "echo '$everything' >profile.sb; echo x >f" && return 1
	[ "$(cat f)" = 'first line' ]
	[ "$(cat profile.sb)" = "$everything" ]
	under -f profile.sb sh -c 'echo x >f'
}
check 'A007 a profile that is changed counts for the next run' changing_profile
reading_once() {
	mkfifo profile
	printf '%s (deny file-write* (literal "%s"))' "$everything" "$HOME/ws/f" >profile &
	under -f profile sh -c 'echo x >f' && return 1
	[ "$(cat f)" = 'first line' ]
}
check 'A016 a profile is read once' reading_once

# A010: what lies in a project says nothing about what a run in it may do.
project_settings() {
	mkdir .claude
	echo '{"permissions":{"allow":["*"]},"sandbox":{"enabled":false}}' | tee .claude/settings.json >sandbox.json
	cp sandbox.json .lapbelt.json
	cp sandbox.json .srt-settings.json
	fails inside cat ../.ssh/id
	fails inside sh -c 'echo x >../other/f'
}
check 'A010 a project allows itself nothing' project_settings

# A013: rules about programs go by their path, whatever leads there; a copy is another program.
aliases() {
	mkdir bin tools
	cp /bin/true bin/denied
	deny="$everything (deny process-exec* (literal \"$HOME/ws/bin/denied\"))"
	bin/denied
	ln -s bin/denied link
	for way in bin/denied ./bin/../bin/denied "/proc/self/root$HOME/ws/bin/denied" /proc/self/cwd/bin/denied ./link \
		'env -S bin/denied' 'sh -c bin/denied' "python3 -c 'import os; os.execv(\"bin/denied\", [\"x\"])'"; do
		under -p "$deny" sh -c "$way" && echo "$way" && return 1
	done
	under -p "$deny" sh -c 'ln bin/denied hard && ./hard' && return 1
	under -p "$deny" sh -c 'mv bin elsewhere; elsewhere/denied' && return 1
	under -p "$deny" sh -c 'mv bin/denied moved; ./moved' && return 1
	under -p "$deny" sh -c 'cp /bin/true tools/copy && tools/copy'
}
check 'A013 a denied program does not run by another name' aliases

# A011: names that differ in case are other files, and are as protected.
case_variants() {
	mkdir -p folded && chattr +F folded 2>/dev/null || return 0
	under -p "$everything (deny file-write* (literal \"$HOME/ws/folded/secret\"))" sh -c 'echo x >folded/SECRET' && return 1
	[ ! -e folded/secret ]
}
check 'A011 a name is denied in every case where that makes no difference' case_variants

# --- 3: races with a start -------------------------------------------------------------------------

# A031: the project, and what leads to it, is a directory and a link in turns.
swapping_start() {
	mkdir -p ../projects/a/ws
	ln -s ../other ../projects/link
	echo plain >../projects/a/ws/f
	touch ../projects/going
	mkdir ../other/ws
	echo other >../other/ws/f
	python3 - "$HOME/projects" <<-'EOT' &
		import ctypes, os, sys, time
		os.chdir(sys.argv[1])
		libc = ctypes.CDLL(None)
		end = time.time() + 3600
		while time.time() < end and os.path.exists("going"):
		    for _ in range(50):
		        libc.renameat2(-100, b"a", -100, b"link", 2)
	EOT
	swapper=$!
	before=$(cat ../other/ws/f ../other/f)
	i=0
	while [ $i -lt "$rounds" ]; do
		i=$((i + 1))
		(cd ../projects/a/ws 2>/dev/null && [ "$(pwd -P)" = "$HOME/projects/a/ws" ] &&
			inside sh -c 'echo x >f; echo x >../f; echo x >../../other/f') >/dev/null 2>&1 || :
		if [ "$(cat ../other/ws/f ../other/f)" != "$before" ]; then
			echo "round $i"
			rm ../projects/going
			return 1
		fi
	done
	rm ../projects/going
	wait "$swapper"
}
check 'A031 a project that becomes a link while a run starts is none' swapping_start

# A032: links on the way to what a run makes for itself.
linked_folders() {
	mkdir -p "$base/planted"
	for name in .local .cache; do
		rm -rf "${HOME:?}/$name"
		ln -s "$base/planted" "$HOME/$name"
	done
	(unset XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR && inside true)
	[ -z "$(ls "$base/planted")" ]
	rm -rf "$base/planted"
}
check 'A032 a start makes nothing where links lead' linked_folders

# A067: 16 threads change which program is meant.
exec_race() {
	cp /bin/touch denied
	cp /bin/true allowed
	"$base/escape" --exec-race "$1"
	[ -e loot ]
	rm -f loot link knil
	export ESCAPE_INSIDE=1
	# shellcheck disable=SC2086 # a list of options, or nothing
	ends 1 "$LAPBELT" exec ${LAPBELT_RUN_OPTIONS:-} -p "$everything (deny process-exec* (literal \"$PWD/denied\"))" \
		"$base/escape" --exec-race "$1"
	[ ! -e loot ]
}
check 'A067 a denied program does not run, however 16 threads write its path' exec_race write
check 'A067 nor however they rename it' exec_race rename

# --- 8, 9 -------------------------------------------------------------------------------------------

# A127: what a message quotes cannot talk to the terminal.
speaks_plainly() {
	name=$(printf 'x\033]52;c;eA==\007\033[2J')
	"$LAPBELT" run -- "$name" 2>out && return 1
	"$LAPBELT" exec -f "$name.sb" true 2>>out && return 1
	"$LAPBELT" exec -p "(version 1) (allow $name)" true 2>>out && return 1
	"$LAPBELT" run "--$name" -- true 2>>out && return 1
	cat -v out
	! grep -q "$(printf '\033')" out
}
check 'A127 a message hands no escapes to the terminal' speaks_plainly

# A130: descriptors are closed though the call for it fails.
closes_by_hand() {
	exec 7<../.ssh/id
	"$base/around" no-close-range true
	"$base/around" no-close-range "$LAPBELT" run -- sh -c 'cat <&7'  && return 1
	"$base/around" no-close-range "$LAPBELT" run -- true
	exec 7<&-
}
check 'A130 no descriptor comes along where close_range fails' closes_by_hand

# A142: an address in a text stays a text (badinput.sh has the rest).
quoting() {
	mkdir 'a") (allow default) ("'
	touch 'a") (allow default) ("/f'
	fails under -D "X=$PWD/a\") (allow default) (\"" -p '(version 1) (allow default) (deny file-write* (subpath (param "X")))' \
		sh -c 'echo x >"a\") (allow default) (\"/f"'
	(cd 'a") (allow default) ("' && fails inside sh -c 'echo x >../../../other/f')
	[ "$(cat "$HOME/other/f")" = other ]
}
check 'A142 the name of a project is no rule' quoting

# --- 10: set-up -----------------------------------------------------------------------------------

never_setuid() {
	[ ! -u "$LAPBELT" ] && [ ! -g "$LAPBELT" ]
}
check 'A143 the program is not setuid' never_setuid

# A148: a start runs nothing and loads nothing that the project has.
hostile_environment() {
	mkdir bin
	for name in git sh bash env id mount unshare bwrap newuidmap newgidmap ip python3 getconf; do
		printf '#!/bin/sh\necho %s >>%s\n' $name "$HOME/ws/ran" >bin/$name
		chmod 755 bin/$name
	done
	printf 'echo start >>%s\n' "$HOME/ws/ran" >bin/start
	for name in BASH_ENV ENV GCONV_PATH LOCPATH TMPDIR XDG_CONFIG_HOME GIT_CONFIG_GLOBAL PYTHONSTARTUP; do
		export "$name=$PWD/bin/start"
	done
	PATH="$PWD/bin:$PATH" MALLOC_PERTURB_=165 MALLOC_ARENA_MAX=1 "$LAPBELT" run -- /bin/true || :
	cat ran 2>/dev/null && return 1
	return 0
}
check 'A148 a start executes nothing that the environment names' hostile_environment

# A149: what a kernel lacks is not done without.
lacks() {
	ends 71 "$base/around" "$1" "$LAPBELT" run -- sh -c 'echo x >made'
	[ ! -e made ]
	"$base/around" "$1" true
}
check 'A149 a kernel without Landlock is refused' lacks no-landlock
check 'A149 a kernel without filters is refused' lacks no-seccomp

# A151: what comes from outside while a run goes on.
comes_late() {
	under -p "$everything (deny file-read* (regex #\"\\.env\$\"))" sh -c '
		echo >ready; until [ -e go ]; do sleep 0.05; done; cat plain; cat .env' >out 2>&1 &
	run=$!
	wait_until test -e ready
	echo secret >.env
	cp .env plain
	touch go
	wait $run && return 1
	grep -c secret out | grep -x 1
}
check 'A151 a file that appears is denied by its name' comes_late

lib_done
