/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"
#include "test.h"

static struct arena arena;

/* The environment of VARIABLES (NULL-terminated, at most 7), cleaned. */
static char **cleaned(const char *const *variables, const char *git_template)
{
	static char storage[8][256];
	char *env[8] = {NULL};

	for (size_t i = 0; variables[i]; i++) {
		snprintf(storage[i], sizeof(storage[i]), "%s", variables[i]);
		env[i] = storage[i];
	}
	return session_environ(env, "/tmp/t", git_template, &arena);
}

/* The value of NAME in ENV, or NULL. */
static const char *value(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Does VARIABLE=x come through? */
static bool passes(const char *name)
{
	char text[256];
	bool ret;

	snprintf(text, sizeof(text), "%s=x", name);
	ret = value(cleaned((const char *[]){text, NULL}, NULL), name) != NULL;
	arena_release(&arena);
	return ret;
}

static const struct {
	const char *name;
	bool passes;
} rows[] = {
	/* Ordinary ones. */
	{"PATH", true},
	{"HOME", true},
	{"LANG", true},
	{"TERM", true},
	{"EDITOR", true},
	{"SHELL", true},
	{"CARGO_HOME", true},
	{"GOMODCACHE", true},
	{"GIT_AUTHOR_NAME", true},
	{"SSH_CONNECTION", true},
	{"NODE_OPTIONS", true},
	{"", true},

	/* The words, alone, first, last and between. */
	{"TOKEN", false},
	{"TOKEN_FILE", false},
	{"GITHUB_TOKEN", false},
	{"MY_TOKEN_2", false},
	{"TF_TOKEN_app_terraform_io", false},
	{"ANTHROPIC_API_KEY", false},
	{"OPENAI_APIKEY", false},
	{"API_KEY", false},
	{"AWS_ACCESS_KEY_ID", false},
	{"AWS_SECRET_ACCESS_KEY", false},
	{"AWS_SESSION_TOKEN", false},
	{"DEPLOY_PRIVATE_KEY", false},
	{"CLIENT_SECRET", false},
	{"DB_PASSWORD", false},
	{"DB_PASSWD", false},
	{"BORG_PASSPHRASE", false},
	{"GOOGLE_APPLICATION_CREDENTIALS", false},
	{"GOOGLE_CREDENTIAL", false},

	/* Case is no way around. */
	{"github_token", false},
	{"Db_Password", false},
	{"ssh_auth_sock", false},

	/* Only whole words. */
	{"TOKENS", true},
	{"MAX_OUTPUT_TOKENS", true},
	{"TOKENIZERS_PARALLELISM", true},
	{"SECRETARY", true},
	{"MONKEY", true},
	{"API_KEYS", true},
	{"PASSWORDLESS", true},
	{"KEY", true},

	/* Secrets by another name. */
	{"PGPASSWORD", false},
	{"MYSQL_PWD", false},
	{"OP_SESSION_my", false},
	{"npm_config__auth", false},
	{"npm_config__authToken", false},
	{"npm_config_//registry.example/:_authToken", false},
	{"npm_config_registry", true},

	/* Sockets to those outside. */
	{"SSH_AUTH_SOCK", false},
	{"SSH_AGENT_PID", false},
	{"GPG_AGENT_INFO", false},
	{"DBUS_SESSION_BUS_ADDRESS", false},
	{"DBUS_SYSTEM_BUS_ADDRESS", false},
	{"DISPLAY", false},
	{"WAYLAND_DISPLAY", false},
	{"XAUTHORITY", false},
	{"TMUX", false},
	{"TMUX_PANE", false},
	{"TMUX_TMPDIR", true},
	{"STY", false},
	{"STYLE", true},
	{"VSCODE_IPC_HOOK_CLI", false},
	{"VSCODE_GIT_ASKPASS_NODE", false},
	{"VSCODE_PID", true},
	{"NVIM", false},
	{"NVIM_APPNAME", true},
	{"EMACS_SOCKET_NAME", false},
	{"KITTY_LISTEN_ON", false},
	{"WEZTERM_UNIX_SOCKET", false},
	{"ZELLIJ", false},
	{"ZELLIJ_SESSION_NAME", false},
	{"DOCKER_HOST", false},
	{"DOCKER_BUILDKIT", true},
	{"GIT_ASKPASS", false},
	{"SSH_ASKPASS", false},
	{"PULSE_SERVER", false},
	{"PIPEWIRE_REMOTE", false},
	{"XDG_RUNTIME_DIR", false},
	{"XDG_CONFIG_HOME", true},
};

static void drops_by_name(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool holds = passes(rows[i].name) == rows[i].passes;

		if (!holds)
			printf("# %s\n", rows[i].name);
		CHECK(holds);
	}
}

static void never_looks_at_values(void)
{
	char **env = cleaned((const char *[]){"NOTE=GITHUB_TOKEN=ghp_x", "ODD", "TWICE=a=b", NULL},
			     NULL);

	CHECK_STR(value(env, "NOTE"), "GITHUB_TOKEN=ghp_x");
	CHECK_STR(value(env, "TWICE"), "a=b");
	CHECK_STR(env[1], "ODD");
	arena_release(&arena);
}

static unsigned occurrences(char *const *env, const char *name)
{
	unsigned n = 0;

	for (; *env; env++)
		n += strncmp(*env, name, strlen(name)) == 0 && (*env)[strlen(name)] == '=';
	return n;
}

static void moves_temporary_files(void)
{
	char **env = cleaned((const char *[]){"TMPDIR=/home/u/old", "TMP=/x",
					      "XDG_CACHE_HOME=/home/u/.cache",
					      "GIT_TEMPLATE_DIR=/home/u/templates", NULL},
			     "/tmp/t/empty");

	CHECK_STR(value(env, "TMPDIR"), "/tmp/t");
	CHECK_STR(value(env, "TMP"), "/tmp/t");
	CHECK_STR(value(env, "TEMP"), "/tmp/t");
	CHECK_STR(value(env, "TMPPREFIX"), "/tmp/t/zsh");
	CHECK_STR(value(env, "XDG_CACHE_HOME"), "/tmp/t/cache");
	CHECK_STR(value(env, "npm_config_cache"), "/tmp/t/cache/npm");
	CHECK_STR(value(env, "PIP_CACHE_DIR"), "/tmp/t/cache/pip");
	CHECK_STR(value(env, "GOCACHE"), "/tmp/t/cache/go-build");
	CHECK_STR(value(env, "GIT_TEMPLATE_DIR"), "/tmp/t/empty");
	CHECK_INT(occurrences(env, "TMPDIR"), 1);
	CHECK_INT(occurrences(env, "XDG_CACHE_HOME"), 1);
	CHECK_INT(occurrences(env, "GIT_TEMPLATE_DIR"), 1);
	arena_release(&arena);
}

static void unsets_the_git_template(void)
{
	char **env = cleaned((const char *[]){"GIT_TEMPLATE_DIR=/home/u/templates", NULL}, NULL);

	CHECK(!value(env, "GIT_TEMPLATE_DIR"));
	arena_release(&arena);
}

/* A list that memory cut short would pass for a clean one. */
static void fails_whole(void)
{
	const char *const env[] = {"A=1", "B=2", NULL};
	size_t needed;

	CHECK(cleaned(env, "/e") != NULL);
	needed = arena.used;
	arena_release(&arena);
	for (size_t limit = 1; limit < needed; limit += 8) {
		arena.limit = limit;
		CHECK(!cleaned(env, "/e"));
		arena_release(&arena);
	}
	arena.limit = 0;
}

int main(void)
{
	RUN(drops_by_name);
	RUN(never_looks_at_values);
	RUN(moves_temporary_files);
	RUN(unsets_the_git_template);
	RUN(fails_whole);
	return test_done();
}
