#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What users of other sandboxes ran into (reports.txt), as far as no other script has a row of it.
# shellcheck disable=SC2016,SC2317,SC2154 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# Objects and messages are to be the same each time.
GIT_AUTHOR_DATE='2001-02-03T04:05:06Z'
GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE

lib_init reports
options=${LAPBELT_RUN_OPTIONS:-}
out=$world/out
server=

# The rows that follow run under the profile TEXT.
under() {
	echo "$1" >"$base/profile.sb"
	LAPBELT_RUN_OPTIONS="$options -f $base/profile.sb"
}

# under_more TEXT [PREPARATION]: under the default policy and then TEXT; each world is prepared so.
under_more() {
	preparation=${2:-:}
	lib_start
	under "$("$LAPBELT" profile && echo "$1")"
}

world_prepare() {
	eval "${preparation:-}"
}

everything='(version 1) (allow default)'

# --- names that are not there -----------------------------------------------------------------------

watched_run() {
	rm -f "$base/watching" "$base/ended"
	python3 "$acts" watch "$base/watching" "$base/ended" "$HOME" "$HOME/ws" "$HOME/ws/.git" &
	watcher=$!
	wait_until test -e "$base/watching"
	"$@"
	touch "$base/ended"
	wait "$watcher"
}
nothing_is_made() {
	fails watched_run touch x y
	watched_run inside sh -c 'sleep 0.2; echo x >.mcp.json || ! echo x >~/.gitconfig.new || exit 0'
}
under_more '(deny file-write* (literal (string-append home "/.gitconfig.new")))'
check 'R001: nothing is made where a name is denied, not even for a moment' nothing_is_made

under_more '(deny file-read-data (literal (string-append cwd "/.env.example")))' '
	echo SECRET= >.env.example
	touch -d 2001-01-01 .env.example
	git add .env.example
	git commit -q -m example'
allowed 'R004: git works beside a tracked file that may not be read' \
	'git rev-parse HEAD && git stash list && git status --porcelain && stat -c "%F %s" .env.example && ls -A'
denied 'R004: which may not be read' 'cat .env.example'

under "$everything (deny file-write* (subpath \"$HOME\")) (allow file-write* (subpath \"$HOME/ws/out/specs\"))"
preparation='mkdir out'
allowed 'R010: a directory that is granted before it is there can be made and filled' \
	'mkdir -p out/specs && echo a >out/specs/f && cat out/specs/f'
denied 'R010: what is beside it cannot' 'mkdir ../other/specs'
names_missing_root() {
	result=0
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" run $options --write ../nowhere/specs -- touch ran 2>message || result=$?
	cat message
	[ $result -eq 78 ] && [ ! -e ran ] && grep "'../nowhere/specs' is not there" message
}
check 'R010: a write root that is not there is named' names_missing_root

preparation=
under "$everything (deny file-write* (subpath \"$HOME\")) (allow file-write* (literal \"$HOME/none.log\"))
	(allow file-read* (subpath \"/nowhere/optional\"))"
allowed 'R011: a file that is granted and not there does not matter' 'git --version'
allowed 'R056: nor does a directory' 'ls f'

reads_only_home() {
	chmod 555 "$HOME"
	result=0
	inside cat f || result=$?
	chmod 755 "$HOME"
	[ $result -eq 0 ]
}
under_more '(deny file-write* (literal (string-append home "/.zshrc")))'
check 'R013: a name is denied where none could be made' reads_only_home

# --- symlinks -----------------------------------------------------------------------------------------

under_more '(deny file-read-data (regex #"/secrets\.[^/]*$"))' '
	mkdir "$out/execroot"
	echo secret >"$out/execroot/secrets.tf"
	echo plain >"$out/execroot/main.tf"
	ln -s "$out/execroot" bazel-ws'
allowed 'R016: a pattern goes where symlinks lead' 'echo hi && cat bazel-ws/main.tf'
denied 'R016: and denies there' 'cat bazel-ws/secrets.tf'

under_more '(deny file-read-data (regex #"/\.envrc$"))' '
	mkdir d
	ln -s . d/self
	ln -s ../.. d/up
	ln -s /nowhere d/dangling
	ln -s loop d/loop'
allowed 'R017: loops of symlinks do not matter' 'ls -A . d && cat d/self/../f'
denied 'R017: nor do they lead around a denial' 'cat d/self/self/up/ws/kept/.envrc'

under "$everything (deny process-exec* file-read-data (subpath \"$out\"))
	(allow process-exec* file-read-data (literal \"$out/real/tool\"))"
preparation='
	mkdir "$out/real" ../bin
	cp /bin/echo "$out/real/tool"
	cp /bin/echo "$out/real/other"
	ln -s "$out/real/tool" "$out/real/other" ../bin
	mkdir ../old
	printf "#!/bin/sh\necho an older one\n" >../old/tool
	chmod 755 ../old/tool'
allowed 'R019: a program is found and run through a link to it' \
	'PATH=$HOME/bin:$HOME/old:$PATH && command -v tool && tool "the right one"'
denied 'R019: another is not' '../bin/other'

preparation='
	mkdir "$out/run"
	echo x >"$out/run/x"
	ln -s "$out/run" "$out/link"'
under "$everything (deny file-read-data (subpath \"$out\")) (allow file-read-data (subpath \"/var/run/x\" \"$out/run\" \"$out/link/y\"))"
allowed 'R022: grants that are spelled through a link do not matter' 'cat "$HOME/../out/link/x"'

preparation='
	mkdir "$out/run"
	echo "nameserver 192.0.2.1" >"$out/run/resolv.conf"
	ln -s run/resolv.conf "$out/resolv.conf"
	ln -s run/other.conf "$out/other.conf"
	cp "$out/run/resolv.conf" "$out/run/other.conf"'
under "$everything (deny file-read-data (subpath \"$out\"))
	(allow file-read-data (literal \"$out/resolv.conf\" \"$out/other.conf\" \"$out/run/resolv.conf\"))"
allowed 'R023: a file is read through its link' 'cat ~/../out/resolv.conf'
denied 'R023: where what it leads to is granted' 'cat ~/../out/other.conf'

# --- mounts --------------------------------------------------------------------------------------------

# twice COMMAND…: where all there is is mounted a second time, as WSL does it
twice() {
	mkdir -p "$base/again"
	unshare -m sh -c 'mount --bind / "$0" && exec "$@"' "$base/again" "$@"
}
mounted_twice() {
	again=$base/again$HOME
	twice cat "$again/.ssh/id"
	# shellcheck disable=SC2086 # a list of options, or nothing
	set -- "$LAPBELT" run $options
	twice "$@" -- cat f "$again/ws/f"
	twice "$@" -- sh -c 'echo x >x && cat x'
	fails twice "$@" -- cat "$again/.ssh/id"
	fails twice "$@" -- cat "$HOME/.ssh/id"
	fails twice "$@" -- sh -c "echo x >$again/ws/x"
	fails twice "$@" -p "$everything (deny file-read* (subpath \"$HOME/.ssh\"))" cat "$HOME/.ssh/id"
}
is_root && check 'R122: what is mounted a second time is denied there, too' mounted_twice

# --- patterns and order ---------------------------------------------------------------------------------

under_more '(deny file-write* (regex #"\.key$"))'
denied 'R026: a pattern denies names that are not there yet' 'printf x >a.key; test -e a.key'
denied 'R026: and deeper down' 'mkdir d && printf x >d/b.key; test -e d/b.key'
denied 'R026: and by renaming' 'echo x >x && mv x d.key; test -e d.key'

many_files() {
	python3 -c '
import os
os.makedirs("foo/x/data/cache")
for i in range(20000):
    os.close(os.open(f"foo/x/data/cache/{i}", os.O_CREAT | os.O_WRONLY))'
	cat foo/x/data/cache/7
	inside echo hi | grep hi
	fails inside cat foo/x/data/cache/7
}
under_more '(deny file-read-data (regex #"/foo/[^/]*/data/cache/"))'
check 'R028: many files may match a pattern' many_files

under_more '(deny file-read-data (regex #"\.pem$"))'
allowed 'R029: directories are removed and renamed where secrets are denied by pattern' \
	'mkdir s && rmdir s && mkdir a && mv a b && mkdir -p c/d && rm -rf c && ls'
preparation='mkdir a; echo secret >a/k.pem'
denied 'R029: which stay denied wherever they are moved' 'mv a b && mv b/k.pem b/l.pem && cat b/l.pem'

under "$everything (deny file-read* (subpath \"$HOME\"))
	(allow file-read* (subpath \"$HOME/ws\")) (allow file-write* (subpath \"$HOME/ws\"))"
preparation=
allowed 'R031: a project in a home that may not be read is written' 'echo x >x && mv x y && cat y f'
allowed 'R032: the working directory is where it was' 'pwd -P; ls -A'
denied 'R032: though what is around it may not be listed' 'ls ..'

# --- git -------------------------------------------------------------------------------------------------

under_more '(deny file-write* (subpath (string-append cwd "/.git")))'
denied 'R041: a commit is denied where a policy says so' 'git commit -q --allow-empty -m x'
allowed 'R041: where the log is read' 'git --no-optional-locks log --format=%s'

# What git itself removes are temporary files, and it puts others in the place of the index and of branches.
under_more '(deny file-write-unlink (require-all (subpath (string-append cwd "/.git"))
	(require-not (regex #"(\.lock|/tmp_obj_[^/]*|/COMMIT_EDITMSG|/index|/refs/heads/.+)$"))))' 'git pack-refs --all'
keeps_history() {
	inside rm -rf .git || :
	git log --format=%s | grep first
	git fsck --no-progress
}
check 'R043: what may not be removed stays' keeps_history
allowed 'R043: and work goes on' 'echo x >>f && git commit -q -a -m x && git log --format=%s'

# --- access that changes -----------------------------------------------------------------------------------

# replaced COMMAND…: reads $out/f, somebody outside saves another in its place, and it is read again
replaced() {
	rm -f ready go
	"$@" sh -c 'cat "$1"; echo >ready; until test -e go; do sleep 0.05; done; cat "$1"' sh "$out/f" >"$base/seen" &
	reader=$!
	wait_until test -e ready
	echo new >"$out/.t"
	mv "$out/.t" "$out/f"
	touch go
	wait "$reader"
	cat "$base/seen"
	[ "$(cat "$base/seen")" = 'old
new' ]
}
preparation='echo old >"$out/f"; echo x >"$out/g"'
LAPBELT_RUN_OPTIONS=$options
check 'R052: a file that is saved outside is read as it is then' replaced inside
# Landlock grants the file itself, and not its name.
tells_replaced() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	replaced inside || "$LAPBELT" plan $options -f "$base/profile.sb" | grep "appears later .*$out"
}
under "$everything (deny file-read-data (subpath \"$out\")) (allow file-read-data (literal \"$out/f\"))"
check 'R052: so is one that is granted by itself, or the plan tells' tells_replaced
preparation=

LAPBELT_RUN_OPTIONS=$options
allowed 'R058: hard links are made' 'ln f g && cp -l g h && stat -c %h f'

# --- devices and calls ---------------------------------------------------------------------------------------

allowed 'R077: calls that are new or unknown kill nobody' 'python3 -c "
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
reader, writer = os.pipe()
print(os.closerange(50, 60), os.getresuid() == (os.getuid(),) * 3)
with open(\"f\") as f:
    print(os.splice(f.fileno(), writer, 5), os.read(reader, 5))
print(libc.syscall(9999), errno.errorcode[ctypes.get_errno()])" && busybox ls'

# --- unix sockets -----------------------------------------------------------------------------------------------

allowed 'R079: node listens at a unix socket while the network is closed' 'node -e "
const net = require(\"net\");
net.createServer((s) => s.end(\"hi\")).listen(\"s\", () => net.connect(\"s\").on(\"data\", (d) => {
    console.log(String(d));
    process.exit(); }));"'
allowed 'R082: grandchildren listen at unix sockets' 'sh -c "sh -c \"python3 -c \\\"
import socket
s = socket.socket(socket.AF_UNIX); s.bind(\\\\\\\"s\\\\\\\"); s.listen(); print(7)\\\"\""'

# serve PATH…: unix sockets outside that accept
serve() {
	python3 - "$@" <<-'END' &
		import selectors, socket, sys
		wait = selectors.DefaultSelector()
		for path in sys.argv[1:]:
		    s = socket.socket(socket.AF_UNIX); s.bind(path); s.listen()
		    wait.register(s, selectors.EVENT_READ)
		while True:
		    for key, _ in wait.select():
		        key.fileobj.accept()[0].close()
	END
	server=$!
	for path; do
		wait_until test -S "$path"
	done
}
end_server() {
	[ -z "$server" ] || kill "$server"
	server=
}
trap 'end_server; world_remove' EXIT
# connects PATH COMMAND…
connects() {
	path=$1
	shift
	"$@" python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$path"
}
# connects_only FUNCTION: a world where FUNCTION holds
with_sockets() {
	mkdir -p "$HOME/.colima/default" "$HOME/.colima/work" "$HOME/.colima/x/y"
	set -- "$HOME/.colima/default/docker.sock" "$HOME/.colima/work/docker.sock" "$HOME/.colima/x/y/docker.sock"
	serve "$@"
	ln -s "$HOME/.colima/work/docker.sock" "$out/docker.sock"
	result=0
	(connects "$1" env && connects "$3" env && connects "$out/docker.sock" env &&
		connects_as_granted "$@") || result=$?
	end_server
	return $result
}
connects_as_granted() {
	connects "$1" inside && connects "$2" inside && connects "$out/docker.sock" inside && fails connects "$3" inside
}
under "$everything (deny network*) (allow network-outbound (regex #\"^$HOME/\\.colima/[^/]*/docker\\.sock\$\"))"
check 'R083: sockets are granted by pattern, and reached through links' with_sockets

one_socket() {
	serve "$out/s.sock" "$out/t.sock"
	result=0
	(connects "$out/s.sock" env && connects "$out/t.sock" env &&
		connects "$out/s.sock" inside && fails connects "$out/t.sock" inside) || result=$?
	end_server
	return $result
}
under "$everything (deny network*) (allow network-outbound (literal \"$out/s.sock\"))"
check 'R080: one socket is granted, another is not' one_socket
LAPBELT_RUN_OPTIONS=$options

# with_agent FUNCTION: while an agent outside has the key ~/.ssh/key
with_agent() {
	ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/key"
	eval "$(ssh-agent -s -a "$out/agent.sock")"
	export SSH_AUTH_SOCK
	result=0
	(ssh-add -q "$HOME/.ssh/key" && "$@") || result=$?
	kill "$SSH_AGENT_PID"
	return $result
}
uses_agent() {
	# A run takes the name of an agent's socket out of the environment.
	ssh-add -l | grep ED25519 &&
		inside env SSH_AUTH_SOCK="$SSH_AUTH_SOCK" ssh-add -l | grep ED25519 &&
		fails inside cat "$HOME/.ssh/key"
}
refuses_agent() {
	fails inside env SSH_AUTH_SOCK="$SSH_AUTH_SOCK" ssh-add -l
}
# ssh-keygen asks who one is.
if getent passwd "$(id -u)" >/dev/null; then
	check 'R085: an agent is out of reach' with_agent refuses_agent
	under "$everything (deny network*) (allow network-outbound (literal \"$out/agent.sock\"))
		(deny file-read* (subpath \"$HOME/.ssh\"))"
	check 'R085: one whose socket is granted is asked, its keys are not read' with_agent uses_agent
	LAPBELT_RUN_OPTIONS=$options
fi

# with_tmux FUNCTION: while a server of tmux runs outside
with_tmux() {
	tmux -f /dev/null -S "$out/tmux" new-session -d -s outside 'sleep 60'
	result=0
	(tmux -S "$out/tmux" ls && "$@") || result=$?
	tmux -S "$out/tmux" kill-server
	return $result
}
asks_tmux() {
	inside tmux -S "$out/tmux" ls | grep outside
}
escapes_by_tmux() {
	fails inside tmux -S "$out/tmux" new-window "touch $HOME/ws/escaped" && [ ! -e escaped ]
}
check 'R086: a terminal multiplexer outside takes no orders' with_tmux escapes_by_tmux
under "$everything (deny network*) (allow network-outbound (literal \"$out/tmux\"))"
check 'R086: but where a policy says so' with_tmux asks_tmux

# --- the policy -------------------------------------------------------------------------------------------------

odd_names() {
	odd=$(printf 'a\377b\nc')
	mkdir "$HOME/$odd"
	cd "$HOME/$odd"
	git init -q
	secret=$(printf '\376')
	echo plain >"$(printf 'x\375')"
	echo secret >"$secret"
	cat "$secret"
	{
		"$LAPBELT" profile
		printf '(deny file-read-data (literal (string-append cwd "/\376")))'
	} >"$base/profile.sb"
	LAPBELT_RUN_OPTIONS="$options -f $base/profile.sb"
	inside find . >"$base/seen"
	find . | cmp - "$base/seen"
	inside sh -c 'cat x* && echo y >"y$(printf "\374")" && cat y*'
	fails inside cat "$secret"
}
check 'R143: folders and files may be called anything, in policies too' odd_names

keeps_policy() {
	echo "$everything (deny file-read-data (subpath \"$HOME/.ssh\"))" >p.sb
	LAPBELT_RUN_OPTIONS="$options -f p.sb"
	inside cat f
	fails inside sh -c 'echo "(version 1) (allow default)" >p.sb && cat ~/.ssh/id'
	grep -x '(version 1) (allow default)' p.sb
}
check 'R152: a policy that is written over stays in force' keeps_policy

lib_done
