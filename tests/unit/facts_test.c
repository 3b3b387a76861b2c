/* SPDX-License-Identifier: Apache-2.0 */
/* Facts over real directories: home is WORLD/home, the project WORLD/home/p. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"
#include "test.h"

static char world[PATH_MAX];
static struct arena arena;
static struct default_facts facts;
static struct err error;

/* ---- The world ---- */

/* WORLD/NAME. The result lives until eight more have been asked for. */
__attribute__((format(printf, 1, 2))) static const char *at(const char *format, ...)
{
	static char slots[8][PATH_MAX * 2];
	static unsigned next;
	char *slot = slots[next++ % 8];
	int n = snprintf(slot, sizeof(slots[0]), "%s/", world);
	va_list ap;

	va_start(ap, format);
	vsnprintf(slot + n, sizeof(slots[0]) - (size_t)n, format, ap);
	va_end(ap);
	return slot;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void make_directory(const char *name)
{
	char path[PATH_MAX * 2];

	snprintf(path, sizeof(path), "%s", at("%s", name));
	for (char *p = path + strlen(world) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
	CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
}

static void make_file(const char *name, const char *text)
{
	int fd = open(at("%s", name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void make_link(const char *target, const char *name)
{
	CHECK_INT(symlink(target, at("%s", name)), 0);
}

/* A directory that git would take for a repository's. */
static void make_git_dir(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/objects", name);
	make_directory(path);
	snprintf(path, sizeof(path), "%s/refs", name);
	make_directory(path);
	snprintf(path, sizeof(path), "%s/HEAD", name);
	make_file(path, "ref: refs/heads/main\n");
}

static void go(const char *name)
{
	CHECK_INT(chdir(at("%s", name)), 0);
}

static void world_begin(void)
{
	const char *base = getenv("TMPDIR");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/facts-XXXXXX", base ? base : "/tmp");
	CHECK(mkdtemp(path) != NULL);
	CHECK(realpath(path, world) != NULL);
	clearenv();
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	setenv("HOME", at("home"), 1);
	setenv("XDG_RUNTIME_DIR", at("run"), 1);
	make_directory("home/p");
	go("home/p");
}

static void world_end(void)
{
	CHECK_INT(chdir("/"), 0);
	CHECK_INT(nftw(world, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	arena_release(&arena);
}

/* ---- What was found ---- */

static int find(void)
{
	return session_facts(TARGET_LINUX, NULL, &arena, &facts, &error);
}

static const struct git_dir *git_dir(const char *name)
{
	for (size_t i = 0; i < facts.n_git; i++)
		if (str_is(facts.git[i].path, at("%s", name)))
			return &facts.git[i];
	return NULL;
}

/* Is git directory NAME known, led to by POINTER ("": by none)? */
static bool has_git(const char *name, const char *pointer)
{
	const struct git_dir *found = git_dir(name);

	return found && str_is(found->work_tree_pointer, *pointer ? at("%s", pointer) : "");
}

static bool has_secret(const char *path)
{
	for (size_t i = 0; i < facts.n_secrets; i++)
		if (str_is(facts.secrets[i], path))
			return true;
	return false;
}

/* Are these all the folders of hooks? Each is below the world; "" ends the list. */
static bool has_hooks(const char *const *names)
{
	size_t n = 0;

	for (; *names[n]; n++) {
		bool found = false;

		for (size_t i = 0; i < facts.n_hooks; i++)
			found |= str_is(facts.hooks[i], at("%s", names[n]));
		if (!found)
			return false;
	}
	return n == facts.n_hooks;
}

/* ---- Home and working directory ---- */

static void finds_canonical_paths(void)
{
	world_begin();
	make_link("home", "alias");
	setenv("HOME", at("alias"), 1);
	CHECK_INT(chdir(at("alias/p")), 0);
	CHECK_INT(find(), 0);
	CHECK(str_is(facts.home, at("home")));
	CHECK(str_is(facts.cwd, at("home/p")));
	CHECK(str_is(facts.tmpdir, "/tmp"));
	CHECK_INT(facts.n_git, 0);
	for (size_t i = 0; i < facts.n_secrets; i++)
		CHECK(str_is_below(facts.secrets[i], str_of(at("run"))));
	world_end();
}

static void needs_a_home(void)
{
	world_begin();
	setenv("HOME", at("nowhere"), 1);
	CHECK_INT(find(), -ERR_CONFIG);
	CHECK(strstr(error.text, "nowhere"));
	CHECK(error.hint[0]);
	make_file("file", "");
	setenv("HOME", at("file"), 1);
	CHECK_INT(find(), -ERR_CONFIG);
	setenv("HOME", "home", 1);
	CHECK_INT(find(), -ERR_CONFIG);
	world_end();
}

static void notices_a_removed_cwd(void)
{
	world_begin();
	make_directory("gone");
	go("gone");
	CHECK_INT(rmdir(at("gone")), 0);
	CHECK_INT(find(), -ERR_CONFIG);
	CHECK_STR(error.text, "the working directory was removed");
	world_end();
}

static void refuses_to_open_home(void)
{
	static const char *const wide[] = {"/", "", "home"};

	world_begin();
	for (size_t i = 0; i < 3; i++) {
		CHECK_INT(chdir(*wide[i] == '/' ? "/" : at("%s", wide[i])), 0);
		CHECK_INT(find(), -ERR_CONFIG);
		CHECK(strstr(error.hint, "--write ."));
		CHECK_INT(session_facts(TARGET_LINUX, (const char *const[]){".", NULL}, &arena,
					&facts, &error),
			  0);
	}
	/* Another root does not stand for it. */
	CHECK_INT(session_facts(TARGET_LINUX, (const char *const[]){at("home/p"), NULL}, &arena,
				&facts, &error),
		  -ERR_CONFIG);
	world_end();
}

static void takes_more_roots(void)
{
	world_begin();
	make_directory("home/other");
	make_link("other", "home/alias");
	CHECK_INT(session_facts(TARGET_LINUX, (const char *const[]){"../alias", "/tmp/.", NULL},
				&arena, &facts, &error),
		  0);
	CHECK_INT(facts.n_write, 2);
	CHECK(str_is(facts.write[0], at("home/other")));
	CHECK_INT(session_facts(TARGET_LINUX, (const char *const[]){"../missing", NULL}, &arena,
				&facts, &error),
		  -ERR_CONFIG);
	CHECK(strstr(error.text, "../missing"));
	world_end();
}

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

static void finds_folders_of_hooks(void)
{
	static const struct {
		const char *value, *hooks[2];
	} rows[] = {
		{"tools/hooks", {"home/p/tools/hooks", ""}},
		{"\"tools/hooks\" # ours", {"home/p/tools/hooks", ""}},
		{".husky/_", {"home/p/.husky", ""}}, /* and what it wraps */
		{"../p/./x", {"home/p/x", ""}},
		{"~/hooks", {"home/hooks", ""}},
		{"linked/x", {"home/real/x", ""}},
		{".", {""}}, /* would close the whole project */
		{"..", {""}},
		{"absent/../../..", {""}},
		{"", {""}},
	};

	world_begin();
	make_git_dir("home/p/.git");
	make_directory("home/real");
	make_link("../real", "home/p/linked");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "[core]\n\thooksPath = %s\n", rows[i].value);
		make_file("home/p/.git/config", text);
		CHECK_INT(find(), 0);
		CHECK(has_hooks(rows[i].hooks));
		make_file("home/p/.git/config", "[other]\nhooksPath = x\n");
		make_file("home/.gitconfig", text); /* of all repositories */
		CHECK_INT(find(), 0);
		CHECK(has_hooks(rows[i].hooks));
		CHECK_INT(unlink(at("home/.gitconfig")), 0);
	}
	CHECK_INT(find(), 0);
	CHECK_INT(facts.n_hooks, 0);
	world_end();
}

static void finds_included_configuration(void)
{
	static const struct {
		const char *config, *hooks[3];
	} rows[] = {
		{"[core] hooksPath = h\n", {"home/p/h", ""}},
		{"\xef\xbb\xbf[core]\nhooksPath = h\n", {"home/p/h", ""}},
		{"[CORE]\nHOOKSpath=my\\\nh\n", {"home/p/myh", ""}},
		{"[core]\na = b\\\n[x]\nhooksPath = h\n", {"home/p/h", ""}},
		{"[core]\n# a comment does not go on \\\nhooksPath = h\n", {"home/p/h", ""}},
		{"[core]\na = b ; nor does this \\\nhooksPath = h\n", {"home/p/h", ""}},
		{"[core]\nbare\nhooksPath = h\n", {"home/p/h", ""}},
		{"[x \"]\"] a = b\n[core]\nhooksPath = h\n", {"home/p/h", ""}},
		{"[core]\nhooksPathX = h\n", {""}},
		{"[core \"x\"]\nhooksPath = h\n", {""}},
		/* Included, there or not, whatever the condition. */
		{"[include]\npath = absent\n", {"home/p/.git/absent", ""}},
		{"[include]\npath = ../absent\n", {"home/p/absent", ""}},
		{"[include]\npath = ~/absent\n", {"home/absent", ""}},
		{"[include]\npath = ../inc\n", {"home/p/inc", "home/p/included", ""}},
		{"[includeIf \"gitdir:~/]x\"]\npath=../inc\n",
		 {"home/p/inc", "home/p/included", ""}},
		{"[include]\npath = ../loop\n", {"home/p/loop", ""}},
		{"[include]\npath = ../absent\npath = ~/absent\n",
		 {"home/p/absent", "home/absent", ""}},
	};

	world_begin();
	make_git_dir("home/p/.git");
	make_file("home/p/inc", "[core]\nhooksPath = included\n");
	make_file("home/p/loop", "[include]\npath = loop\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_file("home/p/.git/config", rows[i].config);
		CHECK_INT(find(), 0);
		CHECK(has_hooks(rows[i].hooks));
	}
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
	CHECK_INT(facts.n_git, 0);

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

/* ---- Secrets ---- */

static void finds_moved_secrets(void)
{
	world_begin();
	make_directory("home/cfg");
	setenv("XDG_CONFIG_HOME", at("home/cfg"), 1);
	setenv("GNUPGHOME", at("home/keys/"), 1);
	setenv("KUBECONFIG", "kube.yml::/etc/absent/kube", 1);
	setenv("DOCKER_CONFIG", at("home/dock"), 1);
	setenv("HISTFILE", "/dev/null", 1);
	setenv("AZURE_CONFIG_DIR", at("home"), 1);
	setenv("NETRC", at("home/.netrc"), 1);
	CHECK_INT(find(), 0);
	CHECK(has_secret(at("home/cfg/gh")));
	CHECK(has_secret(at("home/cfg/git/credentials")));
	CHECK(has_secret(at("home/keys")));
	CHECK(has_secret(at("home/p/kube.yml")));
	CHECK(has_secret("/etc/absent/kube"));
	CHECK(has_secret(at("home/dock/config.json")));
	CHECK(has_secret(at("run/gnupg")));
	/* No places for secrets alone, or known anyway. */
	CHECK(!has_secret(at("home/dock")));
	CHECK(!has_secret("/dev/null"));
	CHECK(!has_secret(at("home")));
	CHECK(!has_secret(at("home/.netrc")));
	world_end();
}

static void follows_links_from_usual_names(void)
{
	world_begin();
	make_directory("home/dotfiles/ssh");
	make_directory("home/dotfiles/config");
	make_directory("home/.aws");
	make_link("dotfiles/ssh", "home/.ssh");
	make_link("dotfiles/config", "home/.config");
	make_link("dotfiles/later", "home/.netrc");
	make_link("../dotfiles/aws", "home/.aws/credentials");
	make_link("loop", "home/.pypirc");
	make_link("loop", "home/loop");
	make_file("home/dotfiles/aws", "key\n");
	CHECK_INT(find(), 0);
	CHECK(has_secret(at("home/dotfiles/ssh")));
	CHECK(has_secret(at("home/dotfiles/config/gh")));
	CHECK(has_secret(at("home/dotfiles/later")));
	CHECK(has_secret(at("home/dotfiles/aws")));
	CHECK(!has_secret(at("home/loop")));
	world_end();
}

/* Package managers link settings into a store that everybody reads. */
static void leaves_public_files(void)
{
	world_begin();
	make_directory("home/.ssh");
	make_link("/etc/passwd", "home/.ssh/config");
	CHECK_INT(find(), 0);
	/* Root owns the file: to root it is its own. */
	CHECK(has_secret("/etc/passwd") == (geteuid() == 0));
	world_end();
}

int main(void)
{
	RUN(finds_canonical_paths);
	RUN(needs_a_home);
	RUN(notices_a_removed_cwd);
	RUN(refuses_to_open_home);
	RUN(takes_more_roots);
	RUN(finds_its_repository);
	RUN(finds_folders_of_hooks);
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
	RUN(follows_no_link_to_a_module);
	RUN(goes_so_deep_for_modules);
	RUN(finds_moved_secrets);
	RUN(follows_links_from_usual_names);
	RUN(leaves_public_files);
	return test_done();
}
