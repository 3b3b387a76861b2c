/* SPDX-License-Identifier: Apache-2.0 */
/* Making or changing, in the working directory, a file that something outside would run later. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define HOOK    "#!/bin/sh\n"
#define PLANTED "[core]\n\tfsmonitor = planted\n"

static enum outcome is_there(const char *path)
{
	if (exists(path))
		return ESCAPED;
	printf("# %s is not there\n", path);
	return CONTAINED;
}

static enum outcome create_name(const char *path)
{
	return writes(path, O_WRONLY | O_CREAT | O_EXCL);
}

static enum outcome create_mcp(void)
{
	return create_name(".mcp.json");
}

static enum outcome create_envrc(void)
{
	return create_name(".envrc");
}

static enum outcome create_deep_bashrc(void)
{
	make_dir("d");
	make_dir("d/e");
	return create_name("d/e/.bashrc");
}

static enum outcome create_claude_settings(void)
{
	if (mkdir(".claude", 0755) < 0)
		return came_through(-1);
	return create_name(".claude/settings.json");
}

static enum outcome create_vscode_task(void)
{
	return create_name(".vscode/tasks.json");
}

static enum outcome create_below(const char *directory, const char *name)
{
	if (mkdir(directory, 0755) < 0)
		return came_through(-1);
	return create_name(text("%s/%s", directory, name));
}

static enum outcome create_codex_config(void)
{
	return create_below(".codex", "config.toml");
}

static enum outcome create_gemini_settings(void)
{
	return create_below(".gemini", "settings.json");
}

static enum outcome create_cursor_servers(void)
{
	return create_below(".cursor", "mcp.json");
}

static enum outcome create_idea_run_configuration(void)
{
	if (mkdir(".idea", 0755) < 0)
		return came_through(-1);
	return create_below(".idea/runConfigurations", "x.xml");
}

static enum outcome create_own_settings(void)
{
	return create_name(".lapbelt.json");
}

static enum outcome append_to_envrc(void)
{
	return writes("kept/.envrc", O_WRONLY | O_APPEND);
}

static enum outcome append_to_mcp(void)
{
	return writes("kept/.mcp.json", O_WRONLY | O_APPEND);
}

static enum outcome append_to_claude_settings(void)
{
	return writes("kept/.claude/settings.json", O_WRONLY | O_APPEND);
}

static enum outcome create_nested_hook(void)
{
	if (mkdir("kept/repository/.git/hooks", 0755) < 0 && errno != EEXIST)
		return came_through(-1);
	return create_name("kept/repository/.git/hooks/pre-commit");
}

static enum outcome append_to_submodule_config(void)
{
	return writes(".git/modules/sub/config", O_WRONLY | O_APPEND);
}

static enum outcome create_alternates(void)
{
	return create_name(".git/objects/info/alternates");
}

static enum outcome create_gitdir(void)
{
	return create_name(".git/gitdir");
}

static enum outcome create_hook(void)
{
	return create_name(".git/hooks/pre-commit");
}

static enum outcome create_submodule_hook(void)
{
	return create_name(".git/modules/sub/hooks/post-checkout");
}

static enum outcome create_commondir(void)
{
	return create_name(".git/commondir");
}

static enum outcome create_worktree_config(void)
{
	return create_name(".git/config.worktree");
}

static enum outcome create_attributes(void)
{
	return create_name(".git/info/attributes");
}

static enum outcome create_directory(void)
{
	return came_through(mkdir(".vscode/sub", 0755));
}

static enum outcome create_by_openat2(void)
{
	struct open_how how = {.flags = O_WRONLY | O_CREAT | O_CLOEXEC, .mode = 0644};

	return came_through(syscall(SYS_openat2, AT_FDCWD, ".mcp.json", &how, sizeof(how)));
}

static enum outcome create_by_mknod(void)
{
	return came_through(mknod(".mcp.json", S_IFREG | 0644, 0));
}

static enum outcome rename_to_hook(void)
{
	make_file(".git/x", HOOK);
	return came_through(rename(".git/x", ".git/hooks/pre-commit"));
}

static enum outcome rename_to_present(void)
{
	make_file("x", HOOK);
	return came_through(rename("x", ".git/hooks/commit-msg"));
}

static enum outcome rename_directory_to_name(void)
{
	make_dir("d");
	make_file("d/settings.json", "{}\n");
	if (rename("d", ".claude") < 0)
		return came_through(-1);
	return is_there(".claude/settings.json");
}

/* Neither name is protected before the move; together they are a hook. */
static enum outcome rename_directory_to_git(void)
{
	make_dir("n");
	make_dir("n/x");
	make_dir("n/x/hooks");
	make_file("n/x/hooks/pre-commit", HOOK);
	if (rename("n/x", "n/.git") < 0)
		return came_through(-1);
	return is_there("n/.git/hooks/pre-commit");
}

static enum outcome exchange_with_hooks(void)
{
	make_dir("d");
	make_file("d/pre-commit", HOOK);
	if (renameat2(AT_FDCWD, "d", AT_FDCWD, ".git/hooks", RENAME_EXCHANGE) < 0)
		return came_through(-1);
	return is_there(".git/hooks/pre-commit");
}

/* --- onto a name that is there: the new file is created there all the same ------------------- */

static enum outcome replace(const char *name, unsigned flags)
{
	return came_through(renameat2(AT_FDCWD, "x", AT_FDCWD, name, flags));
}

static enum outcome rename_over_envrc(void)
{
	make_file("x", "planted\n");
	return replace("kept/.envrc", 0);
}

static enum outcome exchange_with_envrc(void)
{
	make_file("x", "planted\n");
	return replace("kept/.envrc", RENAME_EXCHANGE);
}

static enum outcome rename_symlink_over_envrc(void)
{
	make_file("planted", "planted\n");
	if (symlink("../planted", "x") < 0)
		broken("symlink");
	return replace("kept/.envrc", 0);
}

/* A directory x with what a program outside obeys, once x has the right name. */
static void prepare(const char *setting)
{
	make_dir("x");
	if (strcmp(setting, "x/git/config") == 0)
		make_dir("x/git");
	if (strcmp(setting, "x/hooks/pre-commit") == 0)
		make_dir("x/hooks");
	make_file(setting, "planted\n");
}

static enum outcome rename_directory_over_vscode(void)
{
	prepare("x/tasks.json");
	if (replace(".vscode", 0) == CONTAINED)
		return CONTAINED;
	return is_there(".vscode/tasks.json");
}

static enum outcome exchange_with_vscode(void)
{
	prepare("x/tasks.json");
	if (replace(".vscode", RENAME_EXCHANGE) == CONTAINED)
		return CONTAINED;
	return is_there(".vscode/tasks.json");
}

static enum outcome exchange_symlink_with_vscode(void)
{
	prepare("x/tasks.json");
	if (symlink("x", "link") < 0)
		broken("symlink");
	if (renameat2(AT_FDCWD, "link", AT_FDCWD, ".vscode", RENAME_EXCHANGE) < 0)
		return came_through(-1);
	return is_there(".vscode/tasks.json");
}

/* A file of that name does no harm, and may be made. */
static enum outcome rename_symlink_over_claude(void)
{
	int fd = open(".claude", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return came_through(-1);
	prepare("x/settings.json");
	if (symlink("x", "link") < 0)
		broken("symlink");
	if (rename("link", ".claude") < 0)
		return came_through(-1);
	return is_there(".claude/settings.json");
}

static enum outcome rename_directory_over_config(void)
{
	prepare("x/git/config");
	if (mkdir(".config", 0755) < 0 || replace(".config", 0) == CONTAINED)
		return came_through(-1);
	return is_there(".config/git/config");
}

static enum outcome rename_directory_over_git(void)
{
	prepare("x/hooks/pre-commit");
	make_dir("n");
	if (mkdir("n/.git", 0755) < 0 || replace("n/.git", 0) == CONTAINED)
		return came_through(-1);
	return is_there("n/.git/hooks/pre-commit");
}

static enum outcome link_to_hook(void)
{
	make_file("x", HOOK);
	return came_through(link("x", ".git/hooks/pre-commit"));
}

static enum outcome link_from_hook(void)
{
	if (link(".git/hooks/commit-msg", "x") < 0)
		return came_through(-1);
	return writes("x", O_WRONLY | O_APPEND);
}

static enum outcome symlink_to_name(void)
{
	make_file("x", "{}\n");
	return came_through(symlink("x", ".mcp.json"));
}

static enum outcome symlink_directory_to_name(void)
{
	make_dir("d");
	make_file("d/settings.json", "{}\n");
	if (symlink("d", ".claude") < 0)
		return came_through(-1);
	return is_there(".claude/settings.json");
}

static enum outcome write_through_symlink(void)
{
	if (symlink(".git/hooks/commit-msg", "x") < 0)
		return came_through(-1);
	return writes("x", O_WRONLY | O_APPEND);
}

static enum outcome create_through_symlink(void)
{
	if (symlink(".mcp.json", "x") < 0)
		return came_through(-1);
	return writes("x", O_WRONLY | O_CREAT);
}

static int unnamed_file(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);

	if (fd < 0 && !is_inside())
		broken("O_TMPFILE");
	return fd;
}

static enum outcome link_unnamed_through_proc(void)
{
	const char *path = text("/proc/self/fd/%d", unnamed_file());

	return came_through(linkat(AT_FDCWD, path, AT_FDCWD, ".bashrc", AT_SYMLINK_FOLLOW));
}

static enum outcome link_unnamed_by_descriptor(void)
{
	int result = linkat(unnamed_file(), "", AT_FDCWD, ".bashrc", AT_EMPTY_PATH);

	if (result < 0 && errno == ENOENT)
		return untried("kernel lacks linking a descriptor without a capability");
	return came_through(result);
}

static enum outcome reopen_config(void)
{
	int fd = open(".git/config", O_RDONLY | O_CLOEXEC);

	return writes(text("/proc/self/fd/%d", fd), O_WRONLY | O_APPEND);
}

static enum outcome append_to_config(void)
{
	return writes(".git/config", O_WRONLY | O_APPEND);
}

static enum outcome append_by_proc_cwd(void)
{
	return writes("/proc/self/cwd/.git/config", O_WRONLY | O_APPEND);
}

static enum outcome append_from_git_directory(void)
{
	if (chdir(".git") < 0)
		broken("chdir");
	return writes("config", O_WRONLY | O_APPEND);
}

static enum outcome rename_over_config(void)
{
	make_file(".git/config.lock", PLANTED);
	if (rename(".git/config.lock", ".git/config") < 0)
		return came_through(-1);
	if (file_has(".git/config", "fsmonitor"))
		return ESCAPED;
	printf("# the planted key was dropped\n");
	return CONTAINED;
}

/* By git itself, each key that git would run or read something by. */
static enum outcome set_git_keys(void)
{
	static const char *const keys[] = {"core.fsmonitor",
					   "core.hooksPath",
					   "core.sshCommand",
					   "core.pager",
					   "core.editor",
					   "core.askPass",
					   "diff.external",
					   "filter.x.clean",
					   "filter.x.smudge",
					   "filter.x.process",
					   "merge.x.driver",
					   "diff.x.textconv",
					   "uploadpack.packObjectsHook",
					   "gpg.program",
					   "alias.x",
					   "include.path",
					   "credential.helper",
					   "remote.x.uploadpack",
					   "remote.x.vcs"};
	bool set = false;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		set |= system(text("git config %s planted 2>&1 | sed 's/^/# /'", keys[i])) != 0 ||
		       file_has(".git/config", "planted");
	return set ? ESCAPED : CONTAINED;
}

static enum outcome truncate_config(void)
{
	return came_through(truncate(".git/config", 0));
}

static enum outcome remove_config(void)
{
	return came_through(unlink(".git/config"));
}

static enum outcome remove_hook(void)
{
	return came_through(unlink(".git/hooks/commit-msg"));
}

static enum outcome remove_hooks_directory(void)
{
	return came_through(rename(".git/hooks", "h"));
}

/* Move the repository away, and build another where it was. */
static enum outcome replace_git_directory(void)
{
	if (rename(".git", "g") < 0)
		return came_through(-1);
	make_dir(".git");
	if (mkdir(".git/hooks", 0755) < 0)
		return came_through(-1);
	return create_name(".git/hooks/pre-commit");
}

/* Move the repository away, change it under a name that is not protected, and move it back. */
static enum outcome change_git_directory_elsewhere(void)
{
	if (rename(".git", "g") < 0)
		return came_through(-1);
	if (writes("g/config", O_WRONLY | O_APPEND) == CONTAINED)
		return CONTAINED;
	return came_through(rename("g", ".git"));
}

static enum outcome make_hook_executable(void)
{
	return came_through(chmod(".git/hooks/commit-msg", 0755));
}

static enum outcome make_hook_executable_by_descriptor(void)
{
	return came_through(fchmod(open(".git/hooks/commit-msg", O_RDONLY | O_CLOEXEC), 0755));
}

static enum outcome touch_config(void)
{
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	return came_through(utimensat(AT_FDCWD, ".git/config", times, 0));
}

static enum outcome set_config_attribute(void)
{
	int result = setxattr(".git/config", "user.x", "1", 1, 0);

	if (result < 0 && errno == EOPNOTSUPP)
		return untried("the file system has no user attributes");
	return came_through(result);
}

static enum outcome chown_config(void)
{
	return came_through(lchown(".git/config", geteuid(), getegid()));
}

static enum outcome hook_in_new_repository(void)
{
	enum outcome outcome;

	make_dir("new");
	if (mkdir("new/.git", 0755) < 0 || mkdir("new/.git/hooks", 0755) < 0)
		return came_through(-1);
	outcome = create_name("new/.git/hooks/pre-commit");
	/* An empty directory is no hook. */
	if (outcome != ESCAPED && (rmdir("new/.git/hooks") < 0 || rmdir("new/.git") < 0))
		return ESCAPED;
	return outcome;
}

/* --- who makes a repository may configure it; not so one that was there before --------------- */

static void try_to_configure(const char *config)
{
	writes(config, O_WRONLY | O_APPEND);
}

static enum outcome kept_config_has_changed(void)
{
	if (file_has("kept/repository/.git/config", "escaped"))
		return ESCAPED;
	printf("# the configuration is what it was\n");
	return CONTAINED;
}

static enum outcome change_repository_in_new_one(void)
{
	make_dir("a");
	make_dir("a/.git");
	if (rename("kept/repository", "a/.git/r") < 0)
		return came_through(-1);
	try_to_configure("a/.git/r/.git/config");
	if (rename("a/.git/r", "kept/repository") < 0)
		return came_through(-1);
	return kept_config_has_changed();
}

static enum outcome change_after_move(const char *place)
{
	const char *config = text("%s/config", place);

	if (rename("kept/repository/.git", place) < 0)
		return came_through(-1);
	try_to_configure(config);
	if (rename(place, "kept/repository/.git") < 0)
		return came_through(-1);
	return kept_config_has_changed();
}

static enum outcome change_repository_over_new_one(void)
{
	make_dir("a");
	make_dir("a/.git");
	return change_after_move("a/.git");
}

static enum outcome change_repository_in_place_of_new_one(void)
{
	make_dir("a");
	make_dir("a/.git");
	if (rename("a/.git", "a/g") < 0)
		return came_through(-1);
	return change_after_move("a/.git");
}

static enum outcome change_repository_below_renamed_one(void)
{
	make_dir("a");
	make_dir("a/.git");
	if (rename("a/.git", "a/g") < 0)
		return came_through(-1);
	return change_after_move("a/g/.git");
}

const struct escape_case protected_cases[] = {
	{"A002a", "create .mcp.json", create_mcp},
	{"A002b", "create .envrc", create_envrc},
	{"A002c", "create a .bashrc two directories down", create_deep_bashrc},
	{"A002d", "create .claude/settings.json", create_claude_settings},
	{"A002e", "create .vscode/tasks.json", create_vscode_task},
	{"A002f", "make a directory in .vscode", create_directory},
	{"A002g", "create a protected name by openat2", create_by_openat2},
	{"A002h", "create a protected name by mknod", create_by_mknod},
	{"A002i", "create .codex/config.toml", create_codex_config},
	{"A002j", "create .gemini/settings.json", create_gemini_settings},
	{"A002k", "create .cursor/mcp.json", create_cursor_servers},
	{"A002l", "create .lapbelt.json", create_own_settings},
	{"A002m", "append to a present .envrc", append_to_envrc},
	{"A002n", "append to a present .mcp.json", append_to_mcp},
	{"A002o", "append to a present .claude/settings.json", append_to_claude_settings},
	{"A023", "create .idea/runConfigurations/x.xml", create_idea_run_configuration},
	{"A008a", "create a hook", create_hook},
	{"A008d", "create a hook of a repository that lies in this one", create_nested_hook},
	{"A008b", "create a hook of a submodule", create_submodule_hook},
	{"A008c", "create a hook of a repository made inside", hook_in_new_repository},
	{"A019a", "create .git/commondir", create_commondir},
	{"A019b", "create .git/config.worktree", create_worktree_config},
	{"A019c", "create .git/info/attributes", create_attributes},
	{"A019d", "append to the config of a submodule", append_to_submodule_config},
	{"A019e", "create .git/objects/info/alternates", create_alternates},
	{"A019f", "create .git/gitdir", create_gitdir},
	{"A035a", "rename a file to a hook", rename_to_hook},
	{"A035b", "rename a file over a present hook", rename_to_present},
	{"A035c", "rename a directory to .claude", rename_directory_to_name},
	{"A035d", "rename a directory that holds hooks to .git", rename_directory_to_git},
	{"A035e", "exchange a directory with .git/hooks", exchange_with_hooks},
	{"A035f", "link a file to a hook", link_to_hook},
	{"A035g", "link a hook to a free name and write it", link_from_hook},
	{"A035h", "make a protected name a symlink", symlink_to_name},
	{"A035i", "make a protected directory a symlink", symlink_directory_to_name},
	{"A035j", "write a hook through a symlink", write_through_symlink},
	{"A035k", "create a protected name through a dangling symlink", create_through_symlink},
	{"A035l", "link an unnamed file to a protected name through /proc",
	 link_unnamed_through_proc},
	{"A035m", "link an unnamed file to a protected name by descriptor",
	 link_unnamed_by_descriptor},
	{"A035n", "reopen .git/config for writing", reopen_config},
	{"A035o", "move .git away and build another", replace_git_directory},
	{"A035p", "move .git away, change it, move it back", change_git_directory_elsewhere},
	{"A035q", "move .git/hooks away", remove_hooks_directory},
	{"A035r", "rename a file over a present .envrc", rename_over_envrc},
	{"A035s", "exchange a file with a present .envrc", exchange_with_envrc},
	{"A035t", "rename a symlink over a present .envrc", rename_symlink_over_envrc},
	{"A035u", "rename a directory over an empty .vscode", rename_directory_over_vscode},
	{"A035v", "exchange a directory with .vscode", exchange_with_vscode},
	{"A035w", "exchange a symlink with .vscode", exchange_symlink_with_vscode},
	{"A035x", "rename a symlink over a file called .claude", rename_symlink_over_claude},
	{"A035y", "rename a directory over an empty .config", rename_directory_over_config},
	{"A035z", "rename a directory over an empty .git", rename_directory_over_git},
	{"A017a", "append to .git/config", append_to_config},
	{"A017b", "append to .git/config through /proc/self/cwd", append_by_proc_cwd},
	{"A017c", "append to config from inside .git", append_from_git_directory},
	{"A017d", "rename a lock file with a planted key over .git/config", rename_over_config},
	{"A017e", "truncate .git/config", truncate_config},
	{"A017q", "set the keys that git runs things by", set_git_keys},
	{"A017f", "remove .git/config", remove_config},
	{"A017g", "remove a hook", remove_hook},
	{"A017h", "make a hook executable", make_hook_executable},
	{"A017i", "make a hook executable by descriptor", make_hook_executable_by_descriptor},
	{"A017j", "set the times of .git/config", touch_config},
	{"A017k", "set an attribute of .git/config", set_config_attribute},
	{"A017l", "chown .git/config", chown_config},
	{"A017m", "configure a repository while it is in a new one", change_repository_in_new_one},
	{"A017n", "configure a repository renamed over a new one", change_repository_over_new_one},
	{"A017o", "configure a repository in the place of a new one",
	 change_repository_in_place_of_new_one},
	{"A017p", "configure a repository below a renamed new one",
	 change_repository_below_renamed_one},
	{0},
};
