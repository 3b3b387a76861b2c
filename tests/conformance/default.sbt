# The default policy's rules, for the facts that stand at the top of each case. What the facts are
# made of: unit/facts_test.c; every usual secret: unit/default_test.c.

=== a project with a repository, a submodule and a linked worktree
@linux
(version 1)
(define home "/home/u")
(define cwd "/home/u/p")
(define tmpdir "/tmp")
(define write-roots (list "/home/u/p" "/data" "/home/u/p/.git" "/home/u/p/.git/modules/s"
                          "/home/u/p/.git/worktrees/w"))
(define kept (list))
(define pinned (list "/home/u" "/tmp" "/home/u/p" "/data" "/home/u/p/.git" "/home/u/p/tools"))
(define git-directories (list "/home/u/p/.git" "/home/u/p/.git/modules/s"
                              "/home/u/p/.git/worktrees/w"))
(define git-pointers (list "/home/u/p/s/.git" "/home/u/w/.git"))
(define obeyed (list "/home/u/p/.husky" "/home/u/p/tools/hooks"))
(define terminals (list "/dev/pts/3"))
(define secrets (list "/home/u/.ssh" "/home/u/.aws" "/home/u/.netrc" "/home/u/.config/gh"
                      "/home/u/.cargo/credentials" "/home/u/.bash_history"
                      "/home/u/.config/google-chrome" "/home/u/.claude/.credentials.json"
                      "/home/u/p/conf/kube"))
(import "default-linux.sb")
(import "default.sb")
---
# Reading: everything but secrets.
file-read-data /home/u/p/a                      => allow
file-read-data /home/u/other/a                  => allow
file-read-data /                                => allow
file-read-data /home/u                          => allow
file-read-data /etc/passwd                      => allow
file-read-data /usr/bin/env                     => allow
file-read-data /proc/self/status                => allow
file-read-metadata /home/u/other/a              => allow
file-read-xattr /home/u/other/a                 => allow
file-read-data /home/u/.gitconfig               => allow
file-read-data /home/u/.npmrc                   => allow
file-read-data /home/u/.bashrc                  => allow
file-read-data /home/u/.claude/settings.json    => allow
file-read-data /home/u/.cargo/config.toml       => allow
file-read-data /home/u/p/.git/config            => allow
file-read-data /home/u/p/.git/hooks/pre-commit  => allow

# Secrets: not what is in them, not by another name, not moved away.
file-read-data /home/u/.ssh                     => deny
file-read-data /home/u/.ssh/id                  => deny
file-read-data /home/u/.ssh/a/b                 => deny
file-read-xattr /home/u/.ssh/id xattr=user.x    => deny
file-read-metadata /home/u/.ssh                 => allow
file-read-metadata /home/u/.ssh/id              => deny
file-test-existence /home/u/.ssh/id             => deny
file-link /home/u/.ssh/id                       => deny
file-write-unlink /home/u/.ssh                  => deny
file-write-create /home/u/.ssh/authorized_keys  => deny
file-read-data /home/u/.sshd                    => allow
file-read-data /home/u/p/.ssh/id                => allow
file-read-data /home/u/.aws/credentials         => deny
file-read-data /home/u/.netrc                   => deny
file-read-metadata /home/u/.netrc               => allow
file-read-data /home/u/.netrc2                  => allow
file-read-data /home/u/.config/gh/hosts.yml     => deny
file-read-data /home/u/.config/ghostty/config   => allow
file-read-data /home/u/.cargo/credentials       => deny
file-read-data /home/u/.bash_history            => deny
file-read-data /home/u/.config/google-chrome/Default/Cookies => deny
file-read-data /home/u/.claude/.credentials.json => deny
file-read-data /home/u/p/conf/kube              => deny
file-write-data /home/u/p/conf/kube             => deny
file-write-unlink /home/u/p/conf/kube           => deny
file-read-data /home/u/p/conf/kube2             => allow

# Writing: the project, TMPDIR, what was asked for.
file-write-create /home/u/p/a                   => allow
file-write-data /home/u/p/a/b/c                 => allow
file-write-unlink /home/u/p/a                   => allow
file-write-mode /home/u/p/a                     => allow
file-write-times /home/u/p/a                    => allow
file-write-xattr /home/u/p/a                    => allow
file-write-owner /home/u/p/a                    => allow
file-link /home/u/p/a                           => allow
file-write-create /home/u/p/a vnode-type=SYMLINK => allow
file-write-create /home/u/p/a vnode-type=FIFO   => allow
file-write-create /tmp/a                        => allow
file-write-create /data/a                       => allow
file-write-create /home/u/a                     => deny
file-write-create /home/u/px                    => deny
file-write-data /home/u/.bashrc                 => deny
file-write-data /etc/passwd                     => deny
file-write-create /usr/local/bin/x              => deny
file-write-create /run/x                        => deny
file-write-create /var/tmp/x                    => deny
file-write-create /home/u/.cache/x              => deny
file-write-create /home/u/.cargo/bin/x          => deny
file-write-data /proc/sys/kernel/core_pattern   => deny
file-write-unlink /home/u/p                     => deny
file-write-unlink /data                         => deny
file-write-unlink /tmp                          => deny
file-mknod /home/u/p/a vnode-type=BLOCK-DEVICE  => deny
file-mknod /home/u/p/a vnode-type=CHARACTER-DEVICE => deny
file-write-setugid /home/u/p/a vnode-type=REGULAR-FILE mode=04755 => deny
file-write-setugid /home/u/p/a mode=02755       => deny
file-write-setugid /home/u/p/d vnode-type=DIRECTORY mode=02755 => allow
file-write-setugid /home/u/d vnode-type=DIRECTORY mode=02755 => deny
file-mount /home/u/p/d                          => deny
file-chroot /home/u/p/d                         => deny

# Agents and editors.
file-write-create /home/u/p/.mcp.json           => deny
file-write-data /home/u/p/.mcp.json             => deny
file-write-unlink /home/u/p/.mcp.json           => deny
file-write-mode /home/u/p/.mcp.json             => deny
file-link /home/u/p/.mcp.json                   => deny
file-write-create /home/u/p/.mcp.json vnode-type=SYMLINK => deny
file-write-create /home/u/p/a/b/.mcp.json       => deny
file-write-create /tmp/.mcp.json                => deny
file-write-create /data/.mcp.json               => deny
file-write-create /home/u/p/x.mcp.json          => allow
file-write-create /home/u/p/.mcp.json.bak       => allow
file-write-create /home/u/p/.lapbelt.json       => deny
file-write-create /home/u/p/.vscode             => deny
file-write-create /home/u/p/.vscode/tasks.json  => deny
file-write-unlink /home/u/p/.vscode             => deny
file-write-create /home/u/p/a/.vscode/tasks.json => deny
file-write-create /home/u/p/.vscodeignore       => allow
file-write-create /home/u/p/.idea/runConfigurations/x.xml => deny
file-write-create /home/u/p/.codex/config.toml  => deny
file-write-create /home/u/p/.gemini/settings.json => deny
file-write-create /home/u/p/.cursor/rules       => deny
file-write-create /home/u/p/.cursorrules        => allow
file-write-create /home/u/p/.opencode/agent/x.md => deny
file-write-create /home/u/p/.pi/sandbox.json    => deny
file-write-create /home/u/p/.pip/x              => allow
file-write-create /home/u/p/.claude             => allow
file-write-create /home/u/p/.claude vnode-type=SYMLINK => deny
file-write-create /home/u/p/.claude/settings.json => deny
file-write-create /home/u/p/.claude/settings.local.json => deny
file-write-create /home/u/p/.claude/commands/x.md => deny
file-write-create /home/u/p/.claude/agents/x.md => deny
file-write-create /home/u/p/.claude/hooks/x.sh  => deny
file-write-create /home/u/p/.claude/skills/x/SKILL.md => deny
file-write-create /home/u/p/a/.claude/hooks     => deny
file-write-create /home/u/p/.claude/notes.md    => allow
file-write-create /home/u/p/CLAUDE.md           => allow

# Shells, logins, ssh, git's own settings.
file-write-create /home/u/p/.envrc              => deny
file-write-create /home/u/p/.env                => allow
file-write-create /home/u/p/.bashrc             => deny
file-write-create /home/u/p/d/e/.bashrc         => deny
file-write-create /home/u/p/.bash_profile       => deny
file-write-create /home/u/p/.bash_login         => deny
file-write-create /home/u/p/.bash_logout        => deny
file-write-create /home/u/p/.profile            => deny
file-write-create /home/u/p/.profiles           => allow
file-write-create /home/u/p/.zshenv             => deny
file-write-create /home/u/p/.zprofile           => deny
file-write-create /home/u/p/.zshrc              => deny
file-write-create /home/u/p/.zlogin             => deny
file-write-create /home/u/p/.inputrc            => deny
file-write-create /home/u/p/.gitconfig          => deny
file-write-create /home/u/p/.gitignore          => allow
file-write-create /home/u/p/.gitattributes      => allow
file-write-create /home/u/p/.gitmodules         => allow
file-write-create /home/u/p/.husky/_/pre-commit => deny
file-write-create /home/u/p/.husky              => deny
file-write-unlink /home/u/p/.husky/pre-commit   => deny
file-read-data /home/u/p/.husky/pre-commit      => allow
file-write-create /home/u/p/.huskyrc            => allow
file-write-create /home/u/p/tools/hooks/x       => deny
file-write-create /home/u/p/tools/x             => allow
# What leads there is not moved away, nor is it made a link to elsewhere.
file-write-unlink /home/u/p/tools               => deny
file-write-create /home/u/p/tools vnode-type=SYMLINK => deny
file-write-create /home/u/p/tools vnode-type=DIRECTORY => allow
file-write-create /home/u/p/.ssh/config         => deny
file-write-create /home/u/p/.config             => allow
file-write-create /home/u/p/.config vnode-type=SYMLINK => deny
file-write-create /home/u/p/.config/git/config  => deny
file-write-create /home/u/p/.config/fish/config.fish => deny
file-write-create /home/u/p/.config/autostart/x.desktop => deny
file-write-create /home/u/p/.config/systemd/user/x.service => deny
file-write-create /home/u/p/.config/nextest.toml => allow

# The repository: ordinary work.
file-write-create /home/u/p/.git/index.lock     => allow
file-write-unlink /home/u/p/.git/index          => allow
file-write-create /home/u/p/.git/config.lock    => allow
file-write-create /home/u/p/.git/objects/ab/cd  => allow
file-write-create /home/u/p/.git/objects/info/packs => allow
file-write-create /home/u/p/.git/refs/heads/x   => allow
file-write-create /home/u/p/.git/refs/heads/hooks => allow
file-write-create /home/u/p/.git/refs/heads/hooks/x => allow
file-write-create /home/u/p/.git/refs/heads/config => allow
file-write-create /home/u/p/.git/refs/remotes/hooks/x => allow
file-write-create /home/u/p/.git/logs/refs/heads/hooks/x => allow
file-write-create /home/u/p/.git/logs/HEAD      => allow
file-write-data /home/u/p/.git/HEAD             => allow
file-write-create /home/u/p/.git/packed-refs.lock => allow
file-write-create /home/u/p/.git/info/exclude   => allow
file-write-create /home/u/p/.git/info/sparse-checkout => allow
file-write-create /home/u/p/.git/COMMIT_EDITMSG => allow
file-write-create /home/u/p/.git/rebase-merge/done => allow
file-write-create /home/u/p/.git/worktrees/w/index.lock => allow
file-write-create /home/u/p/.git/worktrees/w/logs/HEAD => allow
file-write-create /home/u/p/.git/worktrees/w/refs/bisect/bad => allow
file-write-create /home/u/p/.git/worktrees/n    => allow
file-write-create /home/u/p/.git/worktrees/n/HEAD => allow
file-write-create /home/u/p/.git/modules/s/index.lock => allow
file-write-create /home/u/p/.git/modules/s/refs/heads/hooks/x => allow
file-write-create /home/u/p/.git/modules/s/logs/refs/heads/hooks => allow
file-write-create /home/u/p/.git/modules/s/refs/heads/config => allow
file-write-create /home/u/p/.git/modules/n/HEAD => allow
file-write-create /home/u/p/.git/modules/a/b/HEAD => allow
file-write-create /home/u/p/.git/modules/hooks/HEAD => allow

# The repository: what runs later.
file-write-create /home/u/p/.git/hooks          => deny
file-write-create /home/u/p/.git/hooks/pre-commit => deny
file-write-mode /home/u/p/.git/hooks/pre-commit => deny
file-write-unlink /home/u/p/.git/hooks/pre-commit => deny
file-link /home/u/p/.git/hooks/pre-commit       => deny
file-write-create /home/u/p/.git/hooksx         => allow
file-write-data /home/u/p/.git/config           => deny
file-write-unlink /home/u/p/.git/config         => deny
file-write-create /home/u/p/.git/config         => deny
file-link /home/u/p/.git/config                 => deny
file-write-create /home/u/p/.git/config.worktree => deny
file-write-create /home/u/p/.git/commondir      => deny
file-write-create /home/u/p/.git/info/attributes => deny
file-write-create /home/u/p/.git/objects/info/alternates => deny
file-write-unlink /home/u/p/.git                => deny
file-write-unlink /home/u/p/.git/info           => deny
file-write-unlink /home/u/p/.git/modules        => deny
file-write-create /home/u/p/.git/modules vnode-type=SYMLINK => deny
file-write-create /home/u/p/.git/modules vnode-type=DIRECTORY => allow
file-write-create /home/u/p/.git/modules/s/hooks/post-checkout => deny
file-write-data /home/u/p/.git/modules/s/config => deny
file-write-unlink /home/u/p/.git/modules/s      => deny
file-write-data /home/u/p/.git/worktrees/w/gitdir => deny
file-write-data /home/u/p/.git/worktrees/w/commondir => deny
file-write-create /home/u/p/.git/worktrees/w/config.worktree => deny
file-write-data /home/u/p/s/.git                => deny
file-write-unlink /home/u/p/s/.git              => deny
file-write-unlink /home/u/w/.git                => deny

# Other repositories, there or to come.
file-write-create /home/u/p/sub/.git            => allow
file-write-create /home/u/p/sub/.git vnode-type=SYMLINK => deny
file-write-create /home/u/p/sub/.git/HEAD       => allow
file-write-create /home/u/p/sub/.git/objects/ab/cd => allow
file-write-create /home/u/p/sub/.git/refs/heads/hooks => allow
file-write-create /home/u/p/sub/.git/refs/heads/config => allow
file-write-create /home/u/p/sub/.git/hooks/pre-commit => deny
file-write-create /home/u/p/sub/.git/config     => deny
file-write-create /home/u/p/sub/.git/config.worktree => deny
file-write-create /home/u/p/sub/.git/commondir  => deny
file-write-create /home/u/p/sub/.git/info/attributes => deny
file-write-create /home/u/p/sub/.git/objects/info/alternates => deny
file-write-create /home/u/p/sub/.git/modules/a/b/config => deny
file-write-create /home/u/p/sub/.git/modules/a/b/hooks/x => deny
file-write-create /home/u/p/sub/.git/modules/a/b/info/attributes => deny
file-write-create /home/u/p/sub/.git/modules/a/b/refs/heads/hooks/x => deny
file-write-create /home/u/p/sub/.git/modules/logs/hooks/x => deny
file-write-create /home/u/p/sub/.git/modules/refs/config => deny
file-write-create /home/u/p/sub/.git/modules/logs/logs/HEAD => allow
file-write-create /home/u/p/sub/.git/modules/reflex/logstash/hooks/x => deny
file-write-create /home/u/p/sub/.git/modules/a/modules/c/hooks/x => deny
file-write-create /home/u/p/sub/.git/worktrees/n/commondir => deny
file-write-create /home/u/p/sub/.git/worktrees/n/modules/a/hooks/x => deny
file-write-create /home/u/p/.git/modules/n/config => deny
file-write-create /home/u/p/.git/worktrees/n/gitdir => deny
file-write-create /home/u/p/x.git/hooks/post-receive => deny
file-write-create /home/u/p/x.git/config        => allow
file-write-create /tmp/clone/.git/hooks/x       => deny
file-write-create /home/u/p/src/hooks/x         => allow
file-write-create /home/u/p/src/config          => allow
file-write-create /home/u/p/modules/a/config    => allow

# Devices and terminals.
file-write-data /dev/null                       => allow
file-read-data /dev/null                        => allow
file-read-data /dev/zero                        => allow
file-write-data /dev/full                       => allow
file-read-data /dev/urandom                     => allow
file-read-data /dev/random                      => allow
file-write-data /dev/tty                        => allow
file-write-data /dev/ptmx                       => allow
file-read-data /dev/pts/3                       => allow
file-write-data /dev/pts/3                      => allow
file-read-data /dev/pts/4                       => deny
file-write-data /dev/pts/4                      => deny
file-write-data /dev/pts/33                     => deny
file-read-data /dev/sda                         => deny
file-write-data /dev/sda                        => deny
file-read-data /dev/mem                         => deny
file-read-data /dev/input/event0                => deny
file-read-data /dev/kvm                         => deny
file-write-unlink /dev/null                     => deny
file-write-mode /dev/null                       => deny
file-write-create /dev/x                        => deny
file-read-data /dev                             => allow
file-write-create /dev/shm/x                    => allow
file-read-data /dev/shm/x                       => allow
ipc-posix-shm-write-create x                    => allow
ipc-sysv-shm                                    => allow

# Network: nothing but sockets that are files of the project.
network-outbound 192.0.2.1:443                  => deny
network-outbound 127.0.0.1:80                   => deny
network-outbound [::1]:80                       => deny
network-bind 0.0.0.0:8080                       => deny
network-inbound 127.0.0.1:8080                  => deny
network-bind /home/u/p/socket                   => allow
network-outbound /home/u/p/socket               => allow
network-inbound /home/u/p/socket                => allow
network-bind /tmp/socket                        => allow
network-outbound /run/user/1000/bus             => deny
network-outbound /run/docker.sock               => deny
network-outbound /var/run/docker.sock           => deny
network-outbound /home/u/.gnupg/S.gpg-agent     => deny
network-outbound /home/u/p/.git/fsmonitor--daemon.ipc => deny

# Processes.
process-exec* /usr/bin/env                      => allow
process-exec* /home/u/p/build/tool              => allow
process-fork                                    => allow
signal target=self                              => allow
signal target=children                          => allow
signal target=same-sandbox                      => allow
signal target=others                            => deny
sysctl-read kernel.osrelease                    => allow
sysctl-write kernel.core_pattern                => deny
job-creation                                    => deny
mach-lookup com.apple.logd                      => deny

=== a home below TMPDIR
@linux
(version 1)
(define home "/tmp/t/home")
(define cwd "/tmp/t/ws")
(define tmpdir "/tmp")
(define write-roots (list "/tmp/t/ws"))
(define kept (list "/tmp/t/home"))
(define pinned (list "/tmp" "/tmp/t" "/tmp/t/home" "/tmp/t/ws"))
(define git-directories (list))
(define git-pointers (list))
(define obeyed (list))
(define terminals (list))
(define secrets (list "/tmp/t/home/.ssh"))
(import "default-linux.sb")
(import "default.sb")
---
file-write-create /tmp/a                        => allow
file-write-create /tmp/t/ws/a                   => allow
file-write-create /tmp/t/home/a                 => deny
file-write-create /tmp/t/ws/.mcp.json           => deny
file-write-create /tmp/t/ws/.git/hooks/x        => deny
file-write-unlink /tmp/t                        => deny
file-write-unlink /tmp/t/home                   => deny
file-read-data /tmp/t/home/a                    => allow
file-read-data /tmp/t/home/.ssh/id              => deny
network-bind /tmp/t/ws/socket                   => allow
network-outbound /tmp/t/home/socket             => deny
file-write-data /dev/pts/3                      => deny

=== the same on macOS
@darwin
(version 1)
(define home "/Users/u")
(define cwd "/Users/u/p")
(define tmpdir "/private/tmp/t")
(define write-roots (list "/Users/u/p" "/Users/u/p/.git"))
(define kept (list))
(define pinned (list "/Users/u" "/private/tmp/t" "/Users/u/p" "/Users/u/p/.git"
                     "/Users/u/p/tools"))
(define git-directories (list "/Users/u/p/.git"))
(define git-pointers (list))
(define obeyed (list))
(define terminals (list "/dev/ttys001"))
(define secrets (list "/Users/u/.ssh" "/Users/u/Library/Keychains"))
(import "default-darwin.sb")
(import "default.sb")
---
file-read-data /Users/u/.ssh/id                 => deny
file-read-data /Users/u/.SSH/id                 => deny
file-read-data /Users/u/Library/Keychains/login.keychain-db => deny
file-read-data /Users/u/Library/Preferences/x   => allow
file-write-create /Users/u/p/a                  => allow
file-write-create /private/tmp/t/a              => allow
file-write-create /private/tmp/a                => deny
file-write-create /Users/u/a                    => deny
file-write-create /Users/u/p/.MCP.json          => deny
file-write-create /Users/u/p/.git/index.lock    => allow
file-write-create /Users/u/p/.git/refs/heads/hooks => allow
file-write-data /Users/u/p/.git/config          => deny
file-write-create /Users/u/p/.git/hooks/x       => deny
# Moves are seen by their names alone: nothing takes these away and brings them back.
file-write-create /Users/u/p/sub/.git           => deny
file-write-unlink /Users/u/p/sub/.git           => deny
file-write-create /Users/u/p/.claude            => deny
file-write-unlink /Users/u/p/.config            => deny
file-write-create /Users/u/p/tools vnode-type=DIRECTORY => deny
file-write-create /Users/u/p/tools/x            => allow
file-read-data /dev/null                        => allow
file-write-data /dev/ttys001                    => allow
file-write-data /dev/ttys002                    => deny
file-read-data /dev/disk0                       => deny
mach-lookup com.apple.logd                      => allow
mach-lookup com.apple.SecurityServer            => deny
network-outbound 192.0.2.1:443                  => deny
network-bind /Users/u/p/socket                  => allow
process-info-pidinfo target=same-sandbox        => allow
process-info-pidinfo target=others              => deny
appleevent-send com.apple.Terminal              => deny
lsopen                                          => deny
