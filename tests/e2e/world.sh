# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# A private world for tests, sourced by their scripts: a HOME with credentials, a git repository with
# one commit in HOME/ws, and HOME/other, which nothing grants.
#
# Git ignores HOME/ws/kept, with a file and a repository that a run may not change.
#
#	world_init NAME   once: makes $base (removed at exit) and, in it, a template
#	world_fresh       copies the template to $world, at the same path each time, and goes to $HOME/ws
#	world_listing     prints what a run may not change: names, modes, sizes, times, links, contents
#
# In $LAPBELT_WORLDS or /var/tmp. Not in /tmp, which a sandbox makes private.

world_secret='words only the owner may read'

world_init() {
	base=$(mktemp -d "${LAPBELT_WORLDS:-/var/tmp}/lapbelt-$1.XXXXXX")
	world=$base/world
	trap world_remove EXIT
	trap 'exit 1' HUP INT TERM
	mkdir -m 700 "$base/state" "$base/cache" "$base/runtime"
	export HOME="$world/home"
	export XDG_STATE_HOME="$base/state" XDG_CACHE_HOME="$base/cache" XDG_RUNTIME_DIR="$base/runtime"
	mkdir -p "$HOME/ws" "$world/out"
	(
		cd "$HOME" || exit
		world_home
		cd ws || exit
		world_repository
	)
	mv "$world" "$base/template"
}

world_remove() {
	cd /
	rm -rf "$base"
}

world_home() {
	mkdir -m 700 .ssh .aws .config .config/gh other
	for secret in .ssh/id .ssh/log .aws/credentials .config/gh/hosts.yml; do
		echo "$world_secret" >$secret
	done
	chmod 600 .ssh/id .aws/credentials
	echo '# start-up' >.bashrc
	echo other >other/f
	python3 -c 'import os; os.setxattr("other/f", "user.there", b"1")' 2>/dev/null || :
	chmod 644 other/f
	git config --global user.name Tester
	git config --global user.email tester@example.org
	git config --global init.defaultBranch main
	git config --global protocol.file.allow always
	git config --global advice.ignoredHook false
}

world_repository() {
	git init -q --template=
	mkdir -p .git/hooks .git/info .git/modules/sub/hooks .vscode
	printf '#!/bin/sh\nexit 0\n' >.git/hooks/commit-msg
	chmod 644 .git/hooks/commit-msg
	cp .git/HEAD .git/config .git/modules/sub/
	echo 'first line' >f
	mkdir -p kept/.claude
	echo '{}' >kept/.claude/settings.json
	echo '{}' >kept/.mcp.json
	echo 'export THERE=1' >kept/.envrc
	git init -q --template= kept/repository
	printf '.vscode/\nkept/\n' >.gitignore
	git add f .gitignore
	git commit -q -m first
}

world_fresh() {
	cd "$base" || exit
	rm -rf "$world"
	cp -a "$base/template" "$world"
	cd "$HOME/ws" || exit 1
}

# world_list_files [FIND_EXPRESSION…]: all that matters about the files below the current directory,
# except when they were last looked at.
world_list_files() {
	find . "$@" -printf '%P %y %m %U:%G %n %s %T@ %l\n' | LC_ALL=C sort
	find . "$@" -type f -exec cksum {} + | LC_ALL=C sort -k 3
}

# All but the working directory; and in it, the names that something outside would run or obey.
world_listing() {
	(cd "$world" && world_list_files ! -path './home/ws' ! -path './home/ws/*' \
		! -path ./home/.ssh/log)
	(cd "$HOME/ws" && world_list_files \( -name .mcp.json -o -name .envrc -o -name .bashrc \
		-o -path '*/.claude/*' -o -path '*/.vscode/*' -o -path './.git/hooks*' \
		-o -path '*/.git/hooks/*' ! -name '*.sample' \
		-o -path './.git/config' -o -path './.git/config.worktree' -o -path './.git/commondir' \
		-o -path './.git/info/*' -o -path './.git/modules/sub/*' \))
}
