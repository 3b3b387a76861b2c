#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Git's ordinary work goes on; what git would run or obey later does not change.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# Commits of one second are not always listed in the same order.
GIT_AUTHOR_DATE='2001-02-03T04:05:06Z'
GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE

lib_init git

# --- a repository that was there at the start ----------------------------------------------------

allowed 'status says what it says outside' 'echo new >g && git status --porcelain'
allowed 'add and commit work' 'echo b >>f && git add f && git commit -q -m second && git log --format=%s'
allowed 'R041: an empty commit works' 'git commit -q --allow-empty -m empty && git log --format=%s'
allowed 'R002: adding everything adds what is there, and nothing else' \
	'echo a >g && git add . && git commit -q -m x && git show --name-only --format='
allowed 'amending works' 'git commit -q --amend -m better && git log --format=%s'
allowed 'stash and pop work' 'echo b >>f && git stash -q && git stash list && git stash pop -q && cat f'
allowed 'branches and merges work' \
	'git switch -q -c topic && echo t >t && git add t && git commit -q -m topic &&
	git switch -q main && git merge -q --no-ff -m merged topic && git log --format=%s'
allowed 'rebase works' \
	'git switch -q -c topic && echo t >t && git add t && git commit -q -m topic &&
	git switch -q main && echo m >m && git add m && git commit -q -m main &&
	git rebase -q main topic && git log --format=%s'
allowed 'cherry-pick, tag and reset work' \
	'git switch -q -c topic && echo t >t && git add t && git commit -q -m topic &&
	git switch -q main && git cherry-pick topic >/dev/null && git tag v1 && git reset -q --hard HEAD~1 &&
	git log --format=%s v1'
allowed 'gc and fsck work' 'git gc -q && git fsck --no-progress'
allowed 'bisect and clean work' 'echo x >junk && git clean -q -f && git bisect start >/dev/null && git bisect reset && ls'
allowed 'fetching from a repository beside works' \
	'git clone -q . copy && git -C copy commit -q --allow-empty -m theirs && git fetch -q ./copy main &&
	git log --format=%s FETCH_HEAD'
allowed 'R007: work from a subdirectory reaches the whole repository' \
	'mkdir d && cd d && echo x >x && git add x && git commit -q -m deep &&
	git rev-parse --show-prefix --show-toplevel'

denied 'a new hook is denied' 'printf "#!/bin/sh\n" >.git/hooks/pre-commit'
denied 'changing a hook is denied' 'echo planted >>.git/hooks/commit-msg'
denied 'making a hook executable is denied' 'chmod +x .git/hooks/commit-msg'
denied 'removing the hooks is denied' 'rm -r .git/hooks'
denied 'writing to config is denied' 'printf "[core]\n\tfsmonitor = planted\n" >>.git/config'
denied 'git config core.fsmonitor is denied' 'git config core.fsmonitor planted'
denied 'git config core.hooksPath is denied' 'git config core.hooksPath d'
denied 'git config core.sshCommand is denied' 'git config core.sshCommand planted'
denied 'git config alias with ! is denied' 'git config alias.st !planted'
denied 'git config filter is denied' 'git config filter.x.clean planted'
denied 'git config include.path is denied' 'git config include.path ../planted'
denied 'git config diff.external is denied' 'git config diff.external planted'
denied 'an editor that renames over config is denied' \
	'sed "s/\[core\]/[core]\n\tfsmonitor = planted/" .git/config >.git/c && mv -f .git/c .git/config'
denied 'config.worktree is denied' 'echo >.git/config.worktree'
denied 'info/attributes is denied' 'echo "* filter=x" >.git/info/attributes'
denied 'commondir is denied' 'echo /elsewhere >.git/commondir'
denied 'a hook of a submodule is denied' 'echo planted >.git/modules/sub/hooks/post-checkout'
denied 'config of a submodule is denied' 'git config -f .git/modules/sub/config core.fsmonitor planted'
denied 'moving .git away is denied' 'mv .git g'
denied 'the user-wide configuration is denied' 'git config --global core.fsmonitor planted'

# The whole file is protected, harmless keys too: there is no guard that tells keys apart.
denied 'git config user.name is denied' 'git config user.name Somebody'
denied 'git remote add is denied' 'git remote add origin ../elsewhere'
host_may_configure() {
	start_inside sh -c 'echo >started; sleep 2'
	wait_until test -e started
	git config host.key value
	[ "$(git config host.key)" = value ]
	wait "$started"
}
check 'R005: somebody outside may configure the repository during a run' host_may_configure

world_prepare() {
	git remote add origin ../elsewhere
}
denied 'changing the url of a remote is denied' 'git remote set-url origin "ext::planted"'
denied 'adding a remote that runs a command is denied' 'git remote add other "ext::planted"'

world_prepare() {
	:
}

# --- repositories made inside -----------------------------------------------------------------------

allowed 'init works' 'git init -q new && git -C new rev-parse --is-inside-work-tree'
allowed 'init and the first commit work' \
	'git init -q new && cd new && echo x >x && git add x && git commit -q -m one && git log --format=%s'
allowed 'clone works' 'git clone -q . copy && git -C copy log --format=%s'
allowed 'a new repository may be configured' \
	'git init -q new && git -C new config core.autocrlf input && git -C new config core.autocrlf'
denied 'R008: a hook in a new repository is denied' \
	'git init -q new && mkdir -p new/.git/hooks && echo planted >new/.git/hooks/pre-commit'
denied 'a hook in a clone is denied' \
	'git clone -q . copy && mkdir -p copy/.git/hooks && echo planted >copy/.git/hooks/pre-commit'
allowed 'a hooks directory and samples in it may be made, as libgit2 does' \
	'mkdir -p new/.git/hooks && echo x >new/.git/hooks/pre-commit.sample && ls new/.git/hooks && rm -r new && ls -A'
denied 'a hook beside samples is denied' \
	'mkdir -p new/.git/hooks && echo x >new/.git/hooks/pre-commit.sample && echo x >new/.git/hooks/pre-commit'
denied 'renaming a sample to a hook is denied' \
	'mkdir -p new/.git/hooks && cd new/.git/hooks && echo x >pre-push.sample && mv pre-push.sample pre-push'
denied 'a bare repository called .git gets no hooks' \
	'mkdir x && git init -q --bare x/.git && mkdir -p x/.git/hooks && echo planted >x/.git/hooks/update'

# --- a directory with repositories, itself none --------------------------------------------------------

world_prepare() {
	mkdir -p "$HOME/two/a" "$HOME/two/b/.git/hooks"
	cd "$HOME/two" || exit
	git init -q --template= a
	git init -q --template= b
	cp b/.git/config b/.git/hooks/
}
allowed 'R007: no repository is invented where there is none' \
	'! git rev-parse --show-toplevel && test ! -e .git && git -C a status --porcelain'
allowed 'R044: work in a repository below works' 'cd b && git commit -q --allow-empty -m x && git log --format=%s'
denied 'R044: a hook of a repository below is denied' 'echo planted >b/.git/hooks/pre-commit'

# --- a linked worktree -----------------------------------------------------------------------------------

world_prepare() {
	git worktree add -q "$HOME/tree" -b tree
	cd "$HOME/tree" || exit
}
allowed 'R037: status works in a worktree' 'git status --porcelain && git rev-parse --abbrev-ref HEAD'
allowed 'R038: add, commit and fetch work in a worktree' \
	'echo x >x && git add -A && git commit -q -m x && git fetch -q . HEAD && git log --format=%s'
allowed 'stash and rebase work in a worktree' \
	'echo x >>f && git stash -q && git stash pop -q && git commit -q -a -m x && git rebase -q main &&
	git log --format=%s'
allowed 'another worktree may be added' 'git worktree add -q w2 -b w2 && git -C w2 status --porcelain'
denied "R038: a worktree's hooks are denied" 'echo planted >"$(git rev-parse --git-common-dir)/hooks/pre-commit"'
denied "R038: a worktree's config is denied" 'git config core.fsmonitor planted'
denied "a worktree's pointer is denied" 'echo "gitdir: elsewhere" >.git'
denied "a worktree's commondir is denied" 'echo elsewhere >"$(git rev-parse --git-dir)/commondir"'
denied "the main repository's files are denied" 'echo x >>../ws/f'

world_prepare() {
	git config extensions.worktreeConfig true
}
allowed 'R040: a missing config.worktree does not disturb git' 'git status --porcelain'

world_prepare() {
	git config extensions.worktreeConfig true
	git config --worktree some.key value
}
allowed 'R040: a present config.worktree is read' 'git config some.key'

# --- submodules --------------------------------------------------------------------------------------------

world_prepare() {
	git init -q --template= "$HOME/library"
	git -C "$HOME/library" commit -q --allow-empty -m library
	git submodule --quiet add "$HOME/library" library
	git commit -q -m 'with submodule'
}
allowed 'work in a submodule works' \
	'cd library && echo x >x && git add x && git commit -q -m x && git log --format=%s'
allowed 'the log of a submodule is read' 'git -C library log --format=%s'
denied "a submodule's hook is denied" \
	'mkdir -p .git/modules/library/hooks && echo planted >.git/modules/library/hooks/post-checkout'
denied "a submodule's pointer is denied" 'echo "gitdir: elsewhere" >library/.git'

world_prepare() {
	git init -q --template= "$HOME/library"
	git -C "$HOME/library" commit -q --allow-empty -m library
}
runs_everywhere() {
	git submodule --quiet add "$HOME/library" library
	git worktree add -q ../tree
	for folder in . library ../tree; do
		(cd $folder && inside git rev-parse --show-toplevel)
	done >out
	[ "$(wc -l <out)" -eq 3 ]
}
check 'R014: it starts in a clone, in a submodule and in a worktree' runs_everywhere
allowed 'adding a submodule works' \
	'git submodule --quiet add ../library library && git commit -q -m added && git ls-files'

# --- what the host's git would run afterwards --------------------------------------------------------------

# plant FILE: makes it a program that leaves a mark in HOME
PLANT=$base/plant
export PLANT
cat >"$PLANT" <<-'END'
	#!/bin/sh
	printf '#!/bin/sh\necho ran >>"$HOME/ran"\n' >"$1" && chmod +x "$1"
END
chmod 755 "$PLANT"

# never_run SENTENCE TEXT [HOST]: what TEXT plants outside is run by HOST, `git commit` if not given;
# what it plants inside is not.
never_run() {
	host=${3:-git commit -q --allow-empty -m x}
	lib_start
	lib_status sh -c "$2"
	sh -c "$host" >>"$base/out" 2>>"$base/err"
	if [ "$lib_result" -ne 0 ] || [ ! -e "$HOME/ran" ]; then
		lib_fail "$1" "control: outside it ends with $lib_result, and nothing is run"
		return
	fi
	lib_start
	lib_status_inside sh -c "$2"
	sh -c "$host" >>"$base/out" 2>>"$base/err"
	if [ -e "$HOME/ran" ]; then
		lib_fail "$1" 'what was planted inside is run'
	else
		case $lib_result in
		64 | 65 | 70 | 71 | 78 | 124 | 127) lib_fail "$1" "inside it does not run ($lib_result)" ;;
		*) lib_pass "$1" ;;
		esac
	fi
}

world_prepare() {
	mkdir -p tools/hooks
	rm -r .git/hooks
	ln -s ../tools/hooks .git/hooks
}
never_run 'a hook where the hooks folder leads is not planted' '"$PLANT" tools/hooks/pre-commit'
never_run 'the hooks folder that is a link is not replaced' \
	'rm .git/hooks && mkdir .git/hooks && "$PLANT" .git/hooks/pre-commit'
allowed 'commits work where the hooks folder is a link' \
	'echo x >x && git add x && git commit -q -m x && echo x >tools/y && git log --format=%s'

world_prepare() {
	mkdir tools
	"$PLANT" tools/check
	sed -i 2d tools/check
	ln -s ../../tools/check .git/hooks/pre-commit
}
never_run 'a file of the project that a hook leads to is not changed' '"$PLANT" tools/check'
never_run 'nor is another put in its place' '"$PLANT" x && mv x tools/check'

world_prepare() {
	git config core.hooksPath linked/x
	ln -s ../other linked
}
never_run 'a link that core.hooksPath goes through is not replaced' \
	'rm linked && mkdir -p linked/x && "$PLANT" linked/x/pre-commit'

world_prepare() {
	git config core.hooksPath linked/x
	ln -s tools linked
	mkdir -p tools/x
}
never_run 'a hook where core.hooksPath leads is not planted' '"$PLANT" tools/x/pre-commit'

world_prepare() {
	git config core.hooksPath dangling
	ln -s tools/hooks dangling
}
never_run 'nor where a dangling link leads' 'mkdir -p tools/hooks && "$PLANT" tools/hooks/pre-commit'

world_prepare() {
	git config core.hooksPath tools/hooks
}
never_run 'a link is not made on the way to hooks that are not there' \
	'mkdir -p x/hooks && "$PLANT" x/hooks/pre-commit && ln -s x tools'
never_run 'a prepared directory is not moved on the way to them' \
	'mkdir -p x/hooks && "$PLANT" x/hooks/pre-commit && mv x tools'

world_prepare() {
	git config core.hooksPath way/../hooks
	mkdir way
}
never_run 'a directory that core.hooksPath goes back from does not become a link' \
	'mkdir -p deep/er deep/hooks && "$PLANT" deep/hooks/pre-commit && rmdir way && ln -s deep/er way'

world_prepare() {
	git config include.path ../linked/config
	ln -s ../other linked
}
never_run 'a link to configuration that is included is not replaced' \
	'rm linked && mkdir linked x && "$PLANT" x/pre-commit &&
	printf "[core]\n\thooksPath = x\n" >linked/config'

world_prepare() {
	mkdir conf
	mv .git/config conf/
	ln -s ../conf/config .git/config
}
never_run 'configuration that is a link is not changed where it leads' \
	'mkdir x && "$PLANT" x/pre-commit && printf "[core]\n\thooksPath = x\n" >>conf/config'

world_prepare() {
	git config core.hooksPath tools/hooks
	git config receive.denyCurrentBranch ignore
}
never_run 'a hook that a push would run is not planted' \
	'mkdir -p .git/tools/hooks && "$PLANT" .git/tools/hooks/post-receive' \
	'git clone -q . ../copy && git -C ../copy commit -q --allow-empty -m x && git -C ../copy push -q'

world_prepare() {
	mv .git g
	echo 'gitdir: g' >.git
}
never_run 'a hook in a git directory elsewhere in the project is not planted' '"$PLANT" g/hooks/pre-commit'
allowed 'work in such a repository works' 'echo x >x && git add x && git commit -q -m x && git log --format=%s'

# As husky 9 leaves it.
world_prepare() {
	mkdir -p .husky/_
	printf '#!/bin/sh\n. "${0%%/*}/h"\n' >.husky/_/pre-commit
	printf 'sh -e "$(dirname "$(dirname "$0")")/$(basename "$0")"\n' >.husky/_/h
	chmod 755 .husky/_/pre-commit
	echo 'echo checked >>checks' >.husky/pre-commit
	echo '*' >.husky/_/.gitignore
	git config core.hooksPath .husky/_
	git add .husky
	git commit -q -m husky
}
allowed "work with husky's hooks works" \
	'echo x >x && git add x && git commit -q -m x && git switch -q -c y && git log --format=%s && cat checks'
never_run "what husky's hooks run is not changed" '"$PLANT" .husky/pre-commit'

lib_done
