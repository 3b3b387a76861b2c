#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where a listener is somebody else's (around listener), mounts hold what is denied and there.
# shellcheck disable=SC2016,SC2317,SC2154 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

world_prepare() {
	echo 'export A=1' >.envrc
	echo '{}' >.mcp.json
	echo '{}' >.vscode/settings.json
	mkdir -p .claude sub/deep
	echo '{}' >.claude/settings.json
	echo note >.claude/note
	ln -s f link
}

LAPBELT_RUN_OPTIONS="${LAPBELT_RUN_OPTIONS:-} --gaps=report"
lib_init no_listener

allowed 'the project can be written' \
	'echo x >new && cat new && mkdir -p d/e && mv new d/e && ln d/e/new l && rm -r d && cat l && chmod 600 l &&
	touch -d 2001-01-01 l && stat -c %y l | cut -c1-10 && echo more >>f && truncate -s 3 f && cat f'
allowed 'git works' 'echo 2 >g && git add g && git commit -qm second && git checkout -qb b && git log --oneline | wc -l'
allowed 'beside what is denied' 'echo x >.claude/note && mkdir .claude/projects && cat .claude/note'
allowed 'TMPDIR and devices can be written' 'f=$(mktemp) && echo x >"$f" && cat "$f" && rm "$f" && echo x >/dev/null'
allowed 'pseudo-terminals can be made' 'python3 -c "
import os
master, slave = os.openpty()
os.write(slave, b\"x\")
print(os.read(master, 1))"'

# Each by all roads.
for name in .envrc .mcp.json .vscode/settings.json .claude/settings.json .git/config .git/hooks/commit-msg; do
	denied "writing $name" "echo x >>$name"
	denied "cutting off $name" ": >$name"
	denied "removing $name" "rm -f $name"
	denied "renaming $name" "mv $name moved"
	denied "replacing $name" "echo x >new && mv -f new $name"
	denied "linking $name" "ln $name linked && echo x >>linked"
	denied "chmod of $name" "chmod 755 $name && chmod 777 $name"
	denied "touching $name" "touch $name"
done
for name in .vscode .git .git/hooks; do
	denied "renaming $name" "mv $name moved && mkdir $name"
done
denied 'removing directories' 'rm -r .vscode .git/hooks'
denied 'moving what a protected name lies in' 'mv .claude moved && mkdir .claude && echo x >.claude/settings.json'
denied 'a new name in a protected directory' 'echo x >.vscode/tasks.json'
denied 'a new hook' 'echo x >.git/hooks/pre-commit'
denied 'a protected name by a link' 'ln -s .envrc way && echo x >>way'
denied 'a protected name by a descriptor' 'exec 3<.envrc && echo x >>/proc/self/fd/3'
denied 'its mode by a descriptor' 'python3 -c "import os; os.fchmod(os.open(\".envrc\", os.O_RDONLY), 0o777)"'

denied 'writing elsewhere' 'echo x >>"$HOME/other/f"'
denied 'making something elsewhere' 'echo x >"$HOME/other/new"'
denied 'removing elsewhere' 'rm -f "$HOME/other/f"'
denied 'chmod elsewhere' 'chmod 600 "$HOME/other/f"'
denied 'touching elsewhere' 'touch "$HOME/other/f"'
denied 'truncate(2) elsewhere' 'python3 -c "import os; os.truncate(os.environ[\"HOME\"] + \"/other/f\", 1)"'
denied 'fchmod elsewhere' 'python3 -c "
import os
os.fchmod(os.open(os.environ[\"HOME\"] + \"/other/f\", os.O_RDONLY), 0o600)"'
denied 'xattr elsewhere' 'python3 -c "
import os
os.setxattr(os.environ[\"HOME\"] + \"/other/f\", \"user.new\", b\"1\")"'
denied 'chown elsewhere' 'chown "$(id -u)" "$HOME/other/f"'
denied 'a set-id bit' 'cp f new && chmod 4755 new'
denied 'a secret' 'cat "$HOME/.ssh/id"'

# --- without gaps ---------------------------------------------------------------------------------

# exact RULES COMMAND…: with pipes for what it is started with, and no gap allowed
exact() {
	rules=$1
	shift
	(echo | "$LAPBELT" exec -p "(version 1) (allow default) (deny file-write* file-link (subpath \"$HOME\"))
		(allow file-write* file-link (subpath \"$HOME/ws\")) $rules" "$@" 2>&1) | cat >"$base/said"
	cat "$base/said"
}

refused() {
	exact '(deny file-write* (literal "'"$HOME"'/ws/absent"))' true
	grep -q 'is not there yet' "$base/said"
	grep -q 'cannot enforce' "$base/said"
}
check 'what is not there yet is refused' refused

held() {
	exact '(deny file-write* file-link (literal "'"$HOME"'/ws/.envrc"))' sh -c '
		cd "$HOME/ws"
		echo x >new && cat new
		echo x >.envrc || echo held
		echo x >"$HOME/other/f" || echo held elsewhere
		chmod 600 "$HOME/other/f" || echo mode held'
	grep -q '^x$' "$base/said"
	grep -q '^held$' "$base/said"
	grep -q '^held elsewhere$' "$base/said"
	grep -q '^mode held$' "$base/said"
	grep -q 'export A=1' .envrc
}
check 'what is there is held, and nothing has to be said' held

hidden() {
	echo words >secret
	exact '(deny file-read-data (literal "'"$HOME"'/ws/secret"))' sh -c '
		cd "$HOME/ws"
		cat f
		mv secret open || echo stays
		cat secret open 2>/dev/null
		ln secret l || echo stays too'
	grep -q 'first line' "$base/said"
	grep -q '^stays$' "$base/said"
	grep -q '^stays too$' "$base/said"
	fails grep -q words "$base/said"
	[ "$(cat secret)" = words ]
}
check 'what may not be read is hidden where all may be written' hidden

# A pipe in what is hidden is there no more, and takes no mount of its own.
hidden_whole() {
	mkdir -p closed
	echo words >closed/secret
	mkfifo closed/pipe
	exact '(deny file* (subpath "'"$HOME"'/ws/closed"))' sh -c '
		cd "$HOME/ws"
		cat f
		cat closed/secret 2>/dev/null
		chmod 700 closed && echo changed
		echo x >closed/new && echo made'
	grep -q 'first line' "$base/said"
	fails grep -q -e words -e changed -e made -e 'lapbelt: gap' "$base/said"
	[ "$(ls closed)" = "$(printf 'pipe\nsecret')" ]
}
check 'a directory with a named pipe is hidden' hidden_whole

# Nobody reads them: what is written would wait for us below.
pipes() {
	mkdir -p kept/deep
	mkfifo kept/pipe kept/deep/pipe open
	python3 -c '
import os, sys
for path in sys.argv[1:]:
	os.set_inheritable(os.open(path, os.O_RDWR), True)
os.execvp("sleep", ["sleep", "60"])' kept/pipe kept/deep/pipe open &
	reader=$!
	exact '(deny file-write* file-link (subpath "'"$HOME"'/ws/kept"))' sh -c '
		cd "$HOME/ws"
		echo x >open && echo "open is written"
		timeout 5 sh -c "echo x >kept/pipe" && echo "a pipe is written"
		timeout 5 sh -c "echo x >kept/deep/pipe" && echo "a deep pipe is written"'
	for pipe in kept/pipe kept/deep/pipe; do
		fails timeout 1 head -n 1 "$pipe"
	done
	kill "$reader"
	grep -q '^open is written$' "$base/said"
	fails grep -q 'pipe is written' "$base/said"
}
check 'named pipes in what is held are hidden' pipes

stdin_told() {
	ends 71 "$LAPBELT" exec -p '(version 1) (allow default) (deny file-write* (subpath "/etc"))' true <f >"$base/said" 2>&1
	grep -q 'started with' "$base/said"
}
check 'a file that it is started with is told of' stdin_told

lib_done
