/* SPDX-License-Identifier: Apache-2.0 */
/* What is found out about the machine: repositories. */
#include "facts_world.h"

/* ---- Git directories ---- */

static void finds_its_repository(void)
{
	world_begin();
	make_git_dir("home/p/.git");
	make_directory("home/p/a/b");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	CHECK(has_git("home/p/.git", ""));
	go("home/p/a/b");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	CHECK(has_git("home/p/.git", ""));
	world_end();
}

/*
 * Beside what is run in the work tree stands what a push runs in the git directory. The home is no
 * write root: nobody inside can change anything there.
 */
static void finds_folders_of_hooks(void)
{
	static const struct {
		const char *value, *obeyed[6];
	} rows[] = {
		{"tools/hooks", {"home/p/tools/hooks", "home/p/.git/tools/hooks", ""}},
		{"\"tools/hooks\" # ours", {"home/p/tools/hooks", "home/p/.git/tools/hooks", ""}},
		{":(optional)tools/hooks", {"home/p/tools/hooks", "home/p/.git/tools/hooks", ""}},
		/* and what it wraps */
		{".husky/_", {"home/p/.husky", "home/p/.git/.husky", ""}},
		{".husky/_//", {"home/p/.husky", "home/p/.git/.husky", ""}},
		{"../p/./x", {"home/p/x", "home/p/p/x", ""}},
		{"~/p/x", {"home/p/x", ""}},
		{"~/hooks", {""}},
		{"~nobody-is-called-this/hooks", {""}},
		/* Links: whoever can replace them leads git elsewhere. */
		{"out/x", {"home/p/out", "home/p/.git/out/x", ""}},
		{"in/x", {"home/p/in", "home/p/tools/x", "home/p/.git/in/x", ""}},
		{"./in/./x", {"home/p/in", "home/p/tools/x", "home/p/.git/in/x", ""}},
		{"in", {"home/p/in", "home/p/tools", "home/p/.git/in", ""}},
		{"chain/x",
		 {"home/p/chain", "home/p/in", "home/p/tools/x", "home/p/.git/chain/x", ""}},
		{"dangling", {"home/p/dangling", "home/p/later/hooks", "home/p/.git/dangling", ""}},
		{"loop/x", {"home/p/loop", "home/p/.git/loop/x", ""}},
		{"wrapped/_",
		 {"home/p/wrapped", "home/p/wrapper", "home/p/.git/wrapped", "home/p/tools/w", ""}},
		/* Directories that are not there yet can only become directories. */
		{"absent/../x", {"home/p/x", "home/p/.git/x", ""}},
		{"absent/../../p/x", {"home/p/x", "home/p/p/x", ""}},
		/* These would close the whole project, or the repository. */
		{".", {""}},
		{"..", {""}},
		{".git", {"home/p/.git/.git", ""}},
		{"absent/../../..", {""}},
		{"", {""}},
	};

	world_begin();
	make_git_dir("home/p/.git");
	make_directory("home/real");
	make_directory("home/p/tools/w");
	make_directory("home/p/wrapper");
	make_link("../real", "home/p/out");
	make_link("tools", "home/p/in");
	make_link("in", "home/p/chain");
	make_link("later/hooks", "home/p/dangling");
	make_link("loop", "home/p/loop");
	make_link("wrapper", "home/p/wrapped");
	make_link("../tools/w", "home/p/wrapper/_");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[core]\n\thooksPath = %s\n", rows[i].value);
		make_file("home/p/.git/config", text);
		CHECK_INT(find(), 0);
		CHECK(has_obeyed(rows[i].obeyed));
		make_file("home/p/.git/config", "[other]\nhooksPath = x\n");
		make_file("home/.gitconfig", text); /* of all repositories */
		CHECK_INT(find(), 0);
		CHECK(has_obeyed(rows[i].obeyed));
		CHECK_INT(unlink(at("home/.gitconfig")), 0);
	}
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_obeyed, 0);
	world_end();
}

/* `%(prefix)/` is what the git that reads it was built for, or the folder it is in. */
static void finds_what_git_is_installed_with(void)
{
	static const struct {
		const char *value;
		int r;
		const char *obeyed[3];
	} rows[] = {
		{"%(prefix)/hooks", 0, {"home/p/git/hooks", "home/p/real/hooks", ""}},
		{":(optional)%(prefix)/hooks", 0, {"home/p/git/hooks", "home/p/real/hooks", ""}},
		{"%(prefix)/way/x", 0, {"home/p/tools/x", "home/p/git/way/x", "home/p/real/way/x"}},
		{"%(prefix)x", 0, {"home/p/%(prefix)x", "home/p/.git/%(prefix)x", ""}},
		{"%(prefix)/..x/hooks", 0, {"home/p/git/..x/hooks", "home/p/real/..x/hooks", ""}},
		{"%(prefix)/..", -ERR_CONFIG, {""}},
		{"%(prefix)/../home/p/x", -ERR_CONFIG, {""}},
		{"%(prefix)/a//../../x", -ERR_CONFIG, {""}},
	};
	char path[4 * PATH_MAX], text[3 * PATH_MAX];

	world_begin();
	make_git_dir("home/p/.git");
	make_directory("home/p/tools");
	make_directory("home/p/git/bin");
	make_directory("home/p/real/libexec/git-core");
	make_directory("home/installed/bin");
	make_file("home/p/git/bin/git", "");
	make_file("home/p/real/libexec/git-core/git", "");
	CHECK_INT(chmod(at("home/p/git/bin/git"), 0755), 0);
	CHECK_INT(chmod(at("home/p/real/libexec/git-core/git"), 0755), 0);
	make_link("../../p/real/libexec/git-core/git", "home/installed/bin/git");
	make_link("../p/tools", "home/installed/way");
	snprintf(path, sizeof(path), "%s:relative:%s:%s", at("home/p/git/bin"), at("home/nothing"),
		 at("home/installed/bin"));
	setenv("PATH", path, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *obeyed[] = {rows[i].obeyed[0], rows[i].obeyed[1], rows[i].obeyed[2],
					""};

		snprintf(text, sizeof(text), "[core]\n\thooksPath = %s\n", rows[i].value);
		make_file("home/p/.git/config", text);
		CHECK_INT(find(), rows[i].r);
		CHECK(rows[i].r || has_obeyed(obeyed));
		make_file("home/p/.git/config", "");
	}
	make_file("home/p/.git/config", "[include]\npath = %(prefix)/etc/inc\n");
	CHECK_INT(find(), 0);
	CHECK(has_obeyed((const char *const[]){"home/p/git/etc/inc", "home/p/real/etc/inc", ""}));
	make_file("home/p/.git/config", "[include]\npath = %(prefix)/../inc\n");
	CHECK_INT(find(), -ERR_CONFIG);
	snprintf(text, sizeof(text), "[include]\npath = %%(prefix)/%s\n", at("home/p/inc"));
	make_file("home/p/.git/config", text);
	CHECK_INT(find(), 0);
	CHECK(has_obeyed((const char *const[]){"home/p/inc", ""}));
	world_end();
}

/* A directory that `..` goes back from could become a link. */
static void keeps_directories_on_the_way(void)
{
	static const struct {
		const char *value, *ways[4];
	} rows[] = {
		{"x", {""}},
		{"in/x", {""}},
		{"in/../x", {"home/p/tools/deep", "home/p/.git/in", ""}},
		{"absent/../x", {"home/p/absent", "home/p/.git/absent", ""}},
	};

	world_begin();
	make_git_dir("home/p/.git");
	make_directory("home/p/tools/deep");
	make_link("tools/deep", "home/p/in");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[core]\n\thooksPath = %s\n", rows[i].value);
		make_file("home/p/.git/config", text);
		CHECK_INT(find(), 0);
		CHECK(are_all(facts.ways, facts.n_ways, rows[i].ways));
	}
	world_end();
}

/* In a bare repository hooks run where it is. */
static void finds_hooks_of_a_bare_repository(void)
{
	world_begin();
	make_git_dir("home/p.git");
	make_file("home/p.git/config", "[core]\nhooksPath = my\n");
	go("home/p.git");
	CHECK_INT(find(), 0);
	CHECK(has_obeyed((const char *const[]){"home/p.git/my", ""}));
	world_end();
}

/* What git obeys by a name that is protected may be a link to one that is not. */
static void follows_links_in_git_directories(void)
{
	static const struct {
		const char *name, *target, *obeyed[4];
	} rows[] = {
		{"hooks", "../tools/hooks", {"home/p/.git/hooks", "home/p/tools/hooks", ""}},
		{"hooks", "../absent/hooks", {"home/p/.git/hooks", "home/p/absent/hooks", ""}},
		{"hooks", "../in", {"home/p/.git/hooks", "home/p/in", "home/p/tools", ""}},
		{"hooks", "../../real", {"home/p/.git/hooks", ""}},
		{"hooks/pre-commit",
		 "../../tools/check",
		 {"home/p/.git/hooks/pre-commit", "home/p/tools/check", ""}},
		{"config", "../tools/config", {"home/p/.git/config", "home/p/tools/config", ""}},
		{"config.worktree",
		 "../tools/c",
		 {"home/p/.git/config.worktree", "home/p/tools/c", ""}},
		{"info", "../tools", {"home/p/.git/info", "home/p/tools/attributes", ""}},
		{"info/attributes",
		 "../../tools/a",
		 {"home/p/.git/info/attributes", "home/p/tools/a", ""}},
		{"objects/info",
		 "../../tools",
		 {"home/p/.git/objects/info", "home/p/tools/alternates", ""}},
		{"commondir", "../tools/c", {"home/p/.git/commondir", "home/p/tools/c", ""}},
		{"description", "../tools/d", {""}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char name[128];

		world_begin();
		make_git_dir("home/p/.git");
		make_directory("home/p/tools");
		make_directory("home/real");
		make_link("tools", "home/p/in");
		if (strncmp(rows[i].name, "hooks/", 6) == 0)
			make_directory("home/p/.git/hooks");
		if (strncmp(rows[i].name, "info/", 5) == 0)
			make_directory("home/p/.git/info");
		snprintf(name, sizeof(name), "home/p/.git/%s", rows[i].name);
		make_link(rows[i].target, name);
		CHECK_INT(find(), 0);
		CHECK_INT(facts.n_git, 1);
		CHECK(has_obeyed(rows[i].obeyed));
		world_end();
	}
}

/* The same of names that agents, editors and shells obey, in a project and at home. */
static void follows_links_from_obeyed_names(void)
{
	static const struct {
		const char *folder, *name, *target, *obeyed[9];
	} rows[] = {
		{"home/p", ".envrc", "conf/env", {"home/p/.envrc", "home/p/conf/env", ""}},
		{"home/p", ".envrc", "absent/env", {"home/p/.envrc", "home/p/absent/env", ""}},
		{"home/p", ".envrc", "../other/env", {"home/p/.envrc", ""}},
		{"home/p", ".vscode", "conf", {"home/p/.vscode", "home/p/conf", ""}},
		{"home/p", ".vscode", ".", {"home/p/.vscode", ""}},
		{"home/p/.vscode",
		 "tasks.json",
		 "../conf/tasks",
		 {"home/p/.vscode/tasks.json", "home/p/conf/tasks", ""}},
		{"home/p",
		 ".claude",
		 "conf",
		 {"home/p/.claude", "home/p/conf/settings.json", "home/p/conf/settings.local.json",
		  "home/p/conf/commands", "home/p/conf/agents", "home/p/conf/hooks",
		  "home/p/conf/skills", "home/p/conf/plugins", ""}},
		{"home/p/.claude/skills",
		 "x",
		 "../../skills/x",
		 {"home/p/.claude/skills/x", "home/p/skills/x", ""}},
		{"home/p/.claude/skills", "self", "../..", {"home/p/.claude/skills/self", ""}},
		{"home/p", "Makefile", "conf/make", {""}},
		{"home", ".bashrc", "p/bashrc", {"home/p/bashrc", ""}},
		{"home", ".gitconfig", "p/git", {"home/p/git", ""}},
		{"home/.config/fish", "config.fish", "../../p/fish", {"home/p/fish", ""}},
		{"home", ".bashrc", "other/bashrc", {""}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char name[128];

		world_begin();
		make_directory("home/p/conf");
		make_directory(rows[i].folder);
		snprintf(name, sizeof(name), "%s/%s", rows[i].folder, rows[i].name);
		make_link(rows[i].target, name);
		CHECK_INT(find(), 0);
		CHECK(has_obeyed(rows[i].obeyed));
		world_end();
	}
}

static void finds_included_configuration(void)
{
	static const struct {
		const char *config, *obeyed[4];
	} rows[] = {
		{"[core] hooksPath = h\n", {"home/p/h", "home/p/.git/h", ""}},
		{"\xef\xbb\xbf[core]\nhooksPath = h\n", {"home/p/h", "home/p/.git/h", ""}},
		{"[CORE]\nHOOKSpath=my\\\nh\n", {"home/p/myh", "home/p/.git/myh", ""}},
		{"[core]\na = b\\\n[x]\nhooksPath = h\n", {"home/p/h", "home/p/.git/h", ""}},
		{"[core]\n# a comment does not go on \\\nhooksPath = h\n",
		 {"home/p/h", "home/p/.git/h", ""}},
		{"[core]\na = b ; nor does this \\\nhooksPath = h\n",
		 {"home/p/h", "home/p/.git/h", ""}},
		{"[core]\nbare\nhooksPath = h\n", {"home/p/h", "home/p/.git/h", ""}},
		{"[x \"]\"] a = b\n[core]\nhooksPath = h\n", {"home/p/h", "home/p/.git/h", ""}},
		{"[core]\nhooksPathX = h\n", {""}},
		{"[core \"x\"]\nhooksPath = h\n", {""}},
		/* Included, there or not, whatever the condition. */
		{"[include]\npath = absent\n", {"home/p/.git/absent", ""}},
		{"[include]\npath = ../absent\n", {"home/p/absent", ""}},
		{"[include]\npath = ~/absent\n", {""}},
		{"[include]\npath = ~/p/absent\n", {"home/p/absent", ""}},
		{"[include]\npath = ../inc\n",
		 {"home/p/inc", "home/p/included", "home/p/.git/included", ""}},
		{"[includeIf \"gitdir:~/]x\"]\npath=../inc\n",
		 {"home/p/inc", "home/p/included", "home/p/.git/included", ""}},
		{"[include]\npath = ../loop\n", {"home/p/loop", ""}},
		{"[include]\npath = ../absent\npath = ../more\n",
		 {"home/p/absent", "home/p/more", ""}},
		/* A relative one counts from the name that was followed, as git does. */
		{"[include]\npath = ../linked\n",
		 {"home/p/linked", "home/p/deep/file", "home/p/beside", ""}},
		{"[include]\npath = ../way/file\n",
		 {"home/p/way", "home/p/deep/file", "home/p/deep/beside", ""}},
	};

	world_begin();
	make_git_dir("home/p/.git");
	make_file("home/p/inc", "[core]\nhooksPath = included\n");
	make_directory("home/p/deep");
	make_file("home/p/deep/file", "[include]\npath = beside\n");
	make_link("deep/file", "home/p/linked");
	make_link("deep", "home/p/way");
	make_file("home/p/loop", "[include]\npath = loop\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_file("home/p/.git/config", rows[i].config);
		CHECK_INT(find(), 0);
		CHECK(has_obeyed(rows[i].obeyed));
	}
	make_file("home/p/.git/config", "");
	setenv("GIT_CONFIG_GLOBAL", at("home/p/inc"), 1);
	CHECK_INT(find(), 0);
	CHECK(has_obeyed((const char *const[]){"home/p/inc", "home/p/included",
					       "home/p/.git/included", ""}));
	world_end();
}

/* HOME names another directory than the user database. */
static void knows_both_homes(void)
{
	const struct passwd *user = getpwuid(getuid());
	char real[PATH_MAX];
	struct stat st;

	world_begin();
	CHECK_INT(find(), 0);
	if (user && realpath(user->pw_dir, real) && stat(real, &st) == 0 && st.st_uid == getuid() &&
	    strcmp(real, "/") != 0)
		CHECK(str_is(facts.other_home, real));
	else
		CHECK_INT(facts.other_home.n, 0);
	if (user) {
		setenv("HOME", user->pw_dir, 1);
		if (find() == 0)
			CHECK_INT(facts.other_home.n, 0);
	}
	world_end();
}

/* Repositories that others may have put around the home are not ours. */
static void looks_no_higher_than_home(void)
{
	world_begin();
	make_git_dir(".git");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 0);
	make_git_dir("home/.git");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	CHECK(has_git("home/.git", ""));
	world_end();
}

static void ignores_what_is_no_repository(void)
{
	world_begin();
	make_directory("home/p/.git/objects");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 0);
	world_end();
}

static void finds_a_bare_repository(void)
{
	world_begin();
	make_git_dir("home/p.git");
	go("home/p.git");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	CHECK(has_git("home/p.git", ""));
	world_end();
}

static bool run(const char *command)
{
	char text[PATH_MAX * 2];

	snprintf(text, sizeof(text), "(%s) >/dev/null 2>&1", command);
	return system(text) == 0;
}

#define GIT "git -c user.name=u -c user.email=u@example.com -c protocol.file.allow=always "

static bool make_real_repository(void)
{
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_CEILING_DIRECTORIES", world, 1);
	go("home/p");
	return run(GIT "init && " GIT "commit --allow-empty -m x");
}

static void finds_real_worktrees(void)
{
	world_begin();
	if (!make_real_repository()) {
		world_end();
		SKIP("git is not to be had");
	}
	CHECK(run(GIT "worktree add ../w"));
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 2);
	CHECK(has_git("home/p/.git", ""));
	CHECK(has_git("home/p/.git/worktrees/w", "home/w/.git"));
	go("home/w");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 2);
	CHECK(has_git("home/p/.git", ""));
	CHECK(has_git("home/p/.git/worktrees/w", "home/w/.git"));
	world_end();
}

static void finds_real_submodules(void)
{
	world_begin();
	if (!make_real_repository()) {
		world_end();
		SKIP("git is not to be had");
	}
	make_directory("home/s");
	CHECK(run("cd ../s && " GIT "init && " GIT "commit --allow-empty -m x"));
	CHECK(run(GIT "submodule add ../s libs/s && " GIT "submodule add ../s t"));
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 3);
	CHECK(has_git("home/p/.git/modules/libs/s", "home/p/libs/s/.git"));
	CHECK(has_git("home/p/.git/modules/t", "home/p/t/.git"));
	go("home/p/libs/s");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	CHECK(has_git("home/p/.git/modules/libs/s", "home/p/libs/s/.git"));
	/* With extensions.worktreeConfig the way back is in the other file. */
	CHECK(run(GIT "config extensions.worktreeConfig true && " GIT
		      "config --worktree core.worktree \"$(" GIT "config core.worktree)\" && " GIT
		      "config --file ../../.git/modules/libs/s/config --unset core.worktree"));
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	world_end();
}

static void reads_configuration_as_git_does(void)
{
	static const struct {
		const char *config;
		bool leads_back;
	} rows[] = {
		{"[core]\n\tworktree = ../p\n", true},
		{"[CORE]\nWorkTree=../p", true},
		{"[core] worktree = \"../p\" ; comment\n", true},
		{"[core]\n\tworktree = ../p   # comment\n", true},
		{"[core]\nworktree = ../q\nworktree = ../p\n", true},
		{"[core]\nbare = false\n[core]\n worktree = ../\\p\n", true},
		{"[core]\nworktree = ../p\n[x]\nworktree = ../q\n", true},
		{"", false},
		{"[core]\nworktree = ../p\nworktree = ../q\n", false},
		{"[core \"x\"]\nworktree = ../p\n", false},
		{"[corex]\nworktree = ../p\n", false},
		{"[core]\nworktreex = ../p\n", false},
		{"[core]\n#worktree = ../p\n", false},
		{"[core]\nworktree\n", false},
		{"[core]\nworktree = \"../p ; \"\n", false},
		{"worktree = ../p\n", false},
	};

	world_begin();
	make_git_dir("home/g");
	make_file("home/p/.git", "gitdir: ../g\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_file("home/g/config", rows[i].config);
		CHECK_INT(find(), 0);
		if (facts.n_git != rows[i].leads_back)
			printf("# %s\n", rows[i].config);
		CHECK_INT(facts.n_git, rows[i].leads_back);
	}
	world_end();
}

/* ---- Pointers anybody can write ---- */

static void believes_no_forged_pointer(void)
{
	static const char *const pointers[] = {
		"gitdir: /\n",
		"gitdir: ..\n",
		"gitdir: ../.ssh\n",
		"gitdir: ../victim/.git\n",
		"gitdir: ../nowhere\n",
		"gitdir: ",
		"nonsense",
		"",
	};

	world_begin();
	make_directory("home/.ssh");
	make_git_dir("home/victim/.git");
	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		make_file("home/p/.git", pointers[i]);
		CHECK_INT(find(), 0);
		CHECK_INT(facts.n_git, 0);
	}
	CHECK_INT(unlink(at("home/p/.git")), 0);
	make_link("../victim/.git", "home/p/.git");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 0);
	CHECK_INT(unlink(at("home/p/.git")), 0);
	CHECK_INT(mkfifo(at("home/p/.git"), 0600), 0);
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 0);
	world_end();
}

/* A forged worktree of somebody else's repository, which does not list it. */
static void believes_no_forged_worktree(void)
{
	world_begin();
	make_git_dir("home/victim/.git");
	make_directory("home/p/.forged");
	make_file("home/p/.forged/HEAD", "ref: refs/heads/main\n");
	make_file("home/p/.forged/commondir", "../../victim/.git\n");
	make_file("home/p/.forged/gitdir", at("home/p/.git"));
	make_file("home/p/.git", "gitdir: .forged\n");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1); /* what lies in the project grants nothing */
	CHECK(has_git("home/p/.forged", "home/p/.git"));

	/* A real worktree's directory, but another's. */
	make_directory("home/victim/.git/worktrees/w");
	make_file("home/victim/.git/worktrees/w/HEAD", "ref: refs/heads/main\n");
	make_file("home/victim/.git/worktrees/w/commondir", "../..\n");
	make_file("home/victim/.git/worktrees/w/gitdir", at("home/w/.git"));
	make_file("home/p/.git", "gitdir: ../victim/.git/worktrees/w\n");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 0);

	/* The control: it leads back. */
	make_file("home/victim/.git/worktrees/w/gitdir", at("home/p/.git"));
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 2);
	CHECK(has_git("home/victim/.git", ""));
	CHECK(has_git("home/victim/.git/worktrees/w", "home/p/.git"));
	world_end();
}

/* What a pointer in the project leads to there is a git directory, whether it leads back or not. */
static void finds_git_directories_in_the_project(void)
{
	world_begin();
	make_git_dir("home/p/g");
	make_file("home/p/.git", "gitdir: g\n");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	CHECK(has_git("home/p/g", "home/p/.git"));
	CHECK_INT(unlink(at("home/p/.git")), 0);
	make_link("in", "home/p/.git");
	make_link("g", "home/p/in");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	CHECK(has_git("home/p/g", "home/p/.git"));
	CHECK(has_obeyed((const char *const[]){"home/p/.git", "home/p/in", ""}));

	/* Modules elsewhere in the project, and elsewhere. */
	make_git_dir("home/p/mods/m");
	make_git_dir("home/mods/m");
	make_link("../mods", "home/p/g/modules");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 2);
	CHECK(has_git("home/p/mods/m", ""));
	CHECK_INT(unlink(at("home/p/g/modules")), 0);
	make_link("../../mods", "home/p/g/modules");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	world_end();
}

/* Links inside a git directory lead nowhere else. */
static void follows_no_link_to_a_module(void)
{
	world_begin();
	make_git_dir("home/victim/.git");
	make_git_dir("home/p/.git");
	make_directory("home/p/.git/modules");
	make_link("../../../victim/.git", "home/p/.git/modules/m");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 1);
	world_end();
}

/* A project can make directories without end, one in the other. */
static void goes_so_deep_for_modules(void)
{
	world_begin();
	make_git_dir("home/p/.git");
	make_git_dir("home/p/.git/modules/1/2/3/4");
	make_git_dir("home/p/.git/modules/a/2/3/4/5/6/7/8/9/10");
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_git, 2);
	CHECK(has_git("home/p/.git/modules/1/2/3/4", ""));
	world_end();
}

int main(void)
{
	RUN(finds_its_repository);
	RUN(finds_folders_of_hooks);
	RUN(finds_what_git_is_installed_with);
	RUN(keeps_directories_on_the_way);
	RUN(finds_hooks_of_a_bare_repository);
	RUN(follows_links_in_git_directories);
	RUN(follows_links_from_obeyed_names);
	RUN(finds_included_configuration);
	RUN(knows_both_homes);
	RUN(looks_no_higher_than_home);
	RUN(ignores_what_is_no_repository);
	RUN(finds_a_bare_repository);
	RUN(finds_real_worktrees);
	RUN(finds_real_submodules);
	RUN(reads_configuration_as_git_does);
	RUN(believes_no_forged_pointer);
	RUN(believes_no_forged_worktree);
	RUN(finds_git_directories_in_the_project);
	RUN(follows_no_link_to_a_module);
	RUN(goes_so_deep_for_modules);
	return test_done();
}
