#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the default policy of `lapbelt run` denies, each beside its control.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init denials

# --- reading secrets -----------------------------------------------------------------------------------

secret_files='.ssh/id .ssh/config .aws/credentials .gnupg/secring.gpg .netrc .git-credentials .config/git/credentials
	.config/gh/hosts.yml .config/hub .docker/config.json .kube/config .azure/token .config/gcloud/credentials.db
	.config/op/config .1password/agent .password-store/x.gpg .local/share/keyrings/login.keyring .vault-token
	.terraform.d/credentials.tfrc.json .pypirc .cargo/credentials .cargo/credentials.toml .config/sops/age/keys.txt
	.config/rclone/rclone.conf .bash_history .python_history .mozilla/firefox/x.default/logins.json
	.config/chromium/Default/Cookies'

world_prepare() {
	for file in $secret_files; do
		mkdir -p "$HOME/$(dirname "$file")"
		echo secret >"$HOME/$file"
	done
	mkdir -p "$HOME/real"
	echo secret >"$HOME/real/secret"
	ln -s ../real/secret "$HOME/.ssh/link"
	ln -s "$HOME/.ssh" ssh
}

for file in $secret_files; do
	denied "reading ~/$file is denied" "cat ~/$file"
done
denied 'R020: reading a secret through a symlink in the project is denied' 'cat ssh/id'
denied 'reading a secret that is itself a symlink is denied' 'cat ~/.ssh/link'
denied 'reading a secret by a crooked name is denied' 'cat ~/other/.././/.ssh/./id'
denied 'copying a directory of secrets is denied' 'cp -r ~/.ssh copied'
denied 'moving a directory of secrets is denied' 'mv ~/.aws moved'
denied 'R058: linking a secret is denied' 'ln ~/.aws/credentials linked'
denied 'a secret is not read by a program it starts' 'env perl -e "exec q(cat), glob(q(~/.ssh/id))" || exit 1'
allowed 'what is no secret is read' 'cat ~/.bashrc ../other/f /etc/passwd'

secret_where_environment_points() {
	mkdir -p "$HOME/elsewhere"
	echo secret >"$HOME/elsewhere/credentials"
	cat "$HOME/elsewhere/credentials"
	AWS_SHARED_CREDENTIALS_FILE=$HOME/elsewhere/credentials
	export AWS_SHARED_CREDENTIALS_FILE
	fails inside cat "$HOME/elsewhere/credentials"
}
check 'a secret that the environment moves elsewhere is denied there' secret_where_environment_points

# --- paths that nobody can write down ---------------------------------------------------------------------

# deep PROGRAM: of Python, in a directory whose path is too long.
deep() {
	printf 'python3 -c "\nimport os\nfor i in range(20):\n    os.path.exists(%s) or os.mkdir(%s)\n    os.chdir(%s)\n%s"' \
		'chr(120) * 250' 'chr(120) * 250' 'chr(120) * 250' "$1"
}
world_prepare() {
	sh -c "$(deep 'open(str(1), chr(119)).write(chr(10)); os.mkdir(str(2))')"
}
denied 'a protected name is not made where its path is too long' "$(deep "open('.envrc', 'w')")"
denied 'nor moved there' "$(deep "os.rename('1', '.envrc')")"
denied 'nor is a folder moved that held one' "$(deep "os.rename('2', '.vscode')")"
denied 'nor linked' "$(deep "os.link('1', '.envrc')")"
allowed 'what is there is read' "$(deep "print(open('1').read(), os.listdir('.'))")"
world_prepare() {
	:
}

# --- writing outside ------------------------------------------------------------------------------------

denied 'a new file in HOME is denied' 'echo x >~/x'
denied 'a file beside the project is denied' 'echo x >>../other/f'
denied 'a new directory outside is denied' 'mkdir ../other/d'
denied 'removing a file outside is denied' 'rm ../other/f'
denied 'a write through a symlink is denied' 'ln -s ../other/f link && echo x >>link || exit 1'
denied 'changing the mode outside is denied' 'chmod 600 ../other/f'
denied 'touching a file outside is denied' 'touch ../other/f'
denied 'a start-up file of HOME is denied' 'echo planted >>~/.bashrc'
denied 'a setuid file is denied' 'cp /bin/true t && chmod u+s t && test -u t'
denied 'a setgid file is denied' 'cp /bin/true t && chmod g+s t && test -g t'
allowed 'a directory may be setgid' 'mkdir d && chmod g+s d && stat -c %a d'
allowed 'the project is written' 'echo x >x && mkdir d && mv x d/ && chmod 700 d/x && touch d/y && rm d/y && cat d/x'

private_tmp() {
	inside sh -c 'echo x >/tmp/lapbelt-test-private && cat /tmp/lapbelt-test-private'
	test ! -e /tmp/lapbelt-test-private
}
if has_userns; then
	check 'the /tmp of a run is its own' private_tmp
fi

below_tmp() {
	directory=$(mktemp -d /tmp/lapbelt-test-below.XXXXXX)
	cd "$directory"
	echo before >a
	result=0
	[ "$(inside sh -c 'cat a >&2 && pwd -P && echo x >b')" = "$directory" ] || result=$?
	seen=$(cat b || :)
	cd /
	rm -r "$directory"
	[ "$result" -eq 0 ] && [ "$seen" = x ]
}
check 'R062: a project below /tmp stays where it is' below_tmp

write_option() {
	cd "$HOME/ws"
	# shellcheck disable=SC2086 # a list of options, or nothing
	"$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} --write "$HOME/other" -- sh -c 'echo x >>../other/f && ! echo x >../x'
	tail -n 1 "$HOME/other/f" | grep x
}
check '--write grants one more directory' write_option

refuses_home() {
	cd "$HOME"
	result=0
	inside touch ran 2>"$base/message" || result=$?
	cat "$base/message"
	[ $result -ge 64 ] && [ $result -le 78 ] && [ ! -e ran ] && grep -- --write "$base/message"
}
check 'a run in HOME itself is refused with a hint' refuses_home

# --- protected names ---------------------------------------------------------------------------------------

protected='.mcp.json .lapbelt.json .envrc .bashrc .bash_profile .bash_login .bash_logout .profile .zshenv .zprofile
	.zshrc .zlogin .inputrc .gitconfig .claude/settings.json .claude/settings.local.json .claude/commands/x.md
	.claude/agents/x.md .claude/hooks/x.sh .codex/config.toml .gemini/settings.json .cursor/mcp.json
	.opencode/config.json .pi/settings.json .vscode/tasks.json .idea/workspace.xml .config/git/config
	.config/fish/config.fish .config/autostart/x.desktop .config/systemd/user/x.service .ssh/authorized_keys
	.git/hooks/pre-push'
here_only='.git/info/attributes .git/config.worktree .git/commondir' # later repositories may have them

world_prepare() {
	:
}
for name in $protected; do
	denied "creating $name is denied" "mkdir -p $(dirname "$name") && echo x >$name"
	denied "renaming to $name is denied" "mkdir -p $(dirname "$name") && echo x >x && mv x $name"
	denied "creating $name deep down is denied" "mkdir -p d/e/$(dirname "$name") && echo x >d/e/$name"
done

for name in $here_only; do
	denied "creating $name is denied" "echo x >$name"
	denied "renaming to $name is denied" "echo x >x && mv x $name"
done

world_prepare() {
	for file in $protected .git/info/attributes; do
		mkdir -p "$(dirname "$file")"
		echo there >"$file"
	done
}
for name in $protected .git/info/attributes; do
	denied "R115: changing $name is denied" "echo x >>$name"
	denied "replacing $name is denied" "echo x >x && mv -f x $name"
done
denied 'cutting off a protected file by a descriptor for reading is denied' 'python3 -c "
import os
os.dup2(os.open(\".mcp.json\", os.O_RDONLY), 0)
os.open(\".mcp.json\", os.O_RDONLY | os.O_TRUNC)"'
denied 'removing a protected file is denied' 'rm -f .mcp.json && test ! -e .mcp.json'
denied 'moving a directory of protected files is denied' 'mv .vscode v'
allowed 'R115: protected files are read' 'cat .mcp.json .vscode/tasks.json .envrc'
allowed 'names that only look alike are free' \
	'echo x >.mcp.json.bak && echo x >mcp.json && echo x >.envrc.example && mkdir -p .claude2 && echo x >.claude2/settings.json && ls -A'

# Protected names that are links to names which are not.
world_prepare() {
	mkdir -p conf/vscode skills/x .claude/skills
	for target in conf/env conf/vscode/tasks.json skills/x/SKILL.md bashrc; do
		echo there >"$target"
	done
	rm -r .vscode
	ln -s conf/env .envrc
	ln -s conf/vscode .vscode
	ln -s conf/later .mcp.json
	ln -s ../../skills/x .claude/skills/x
	ln -sf ws/bashrc "$HOME/.bashrc"
}
for file in conf/env conf/vscode/tasks.json skills/x/SKILL.md bashrc; do
	denied "changing $file is denied where a protected name leads there" "echo x >>$file"
	denied "replacing $file is denied where a protected name leads there" "echo x >x && mv -f x $file"
done
denied 'creating what a protected name leads to is denied' 'echo x >conf/later'
denied 'moving what leads there is denied' 'mv conf c'
denied 'removing such a link is denied' 'rm .envrc'
allowed 'what lies beside is free' 'echo x >conf/x && mkdir skills/y && rm skills/y -r && ls conf && cat .envrc'

# --- the network -------------------------------------------------------------------------------------------

server=

start_server() {
	python3 - "$base/port" <<-'END' &
		import os, socket, sys
		tcp = socket.socket(); tcp.bind(("127.0.0.1", 0)); tcp.listen()
		local = socket.socket(socket.AF_UNIX); local.bind(sys.argv[1] + ".sock"); local.listen()
		with open(sys.argv[1] + ".new", "w") as f:
		    f.write(str(tcp.getsockname()[1]))
		os.rename(sys.argv[1] + ".new", sys.argv[1])
		import selectors
		wait = selectors.DefaultSelector()
		wait.register(tcp, 1); wait.register(local, 1)
		while True:
		    for key, _ in wait.select():
		        key.fileobj.accept()[0].close()
	END
	server=$!
	wait_until test -e "$base/port"
	port=$(cat "$base/port")
}
stop_server() {
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
}

world_prepare() {
	:
}
start_server
trap 'stop_server; world_remove' EXIT
denied 'a port of this machine is out of reach' \
	"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", $port), 5)'"
denied 'R080: a unix socket outside is out of reach' \
	"python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"$base/port.sock\")'"

fails_at_once() {
	begin=$(date +%s)
	for act in 'socket.create_connection(("192.0.2.1", 443), 60)' 'socket.getaddrinfo("x.test", 443)' \
		'socket.create_connection(("2001:db8::1", 443), 60)'; do
		fails inside python3 -c "import socket; $act"
	done
	[ $(($(date +%s) - begin)) -lt 15 ]
}
check 'R107: what looks for the network fails at once' fails_at_once

lib_done
