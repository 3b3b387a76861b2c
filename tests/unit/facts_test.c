/* SPDX-License-Identifier: Apache-2.0 */
/* What is found out about the machine: directories and secrets. */
#include "facts_world.h"

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
	RUN(finds_moved_secrets);
	RUN(follows_links_from_usual_names);
	RUN(leaves_public_files);
	return test_done();
}
