/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's environment under the default rule. Names decide, values are never looked at: a
 * rule on values would pass what it does not know.
 */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "session/session.h"
#include "base/banned.h"

/*
 * Secrets: these words, as whole words between underscores. Case does not count: programs such as
 * npm and Terraform read lower-case names.
 */
static const char *const secret_words[] = {
	"API_KEY",  "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "TOKEN",       "SECRET",
	"PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL",  "CREDENTIALS",
};

/* Names to drop. A `*` at the end stands for anything. */
static const char *const dropped_names[] = {
	/* Secrets that their names do not give away. */
	"PGPASSWORD",
	"MYSQL_PWD",
	"SSHPASS",
	"REDISCLI_AUTH",
	"RSYNC_PASSWORD",
	"GITHUB_PAT",
	"GH_PAT",
	"AZURE_DEVOPS_EXT_PAT",
	"SOPS_AGE_KEY",
	"BW_SESSION",
	"OP_SESSION*",
	"COMPOSER_AUTH",
	"DOCKER_AUTH_CONFIG",
	"npm_config__auth*",
	"npm_config_//*",

	/* Keys held for us by somebody, and those who ask for passwords. */
	"SSH_AUTH_SOCK",
	"SSH_AGENT_PID",
	"GPG_AGENT_INFO",
	"GNOME_KEYRING_CONTROL",
	"GNOME_KEYRING_PID",
	"SSH_ASKPASS",
	"SSH_ASKPASS_REQUIRE",
	"GIT_ASKPASS",
	"SUDO_ASKPASS",

	/* The desktop. */
	"DBUS_SESSION_BUS_*",
	"DBUS_SYSTEM_BUS_ADDRESS",
	"DBUS_STARTER_*",
	"AT_SPI_BUS_ADDRESS",
	"SESSION_MANAGER",
	"DISPLAY",
	"WAYLAND_DISPLAY",
	"WAYLAND_SOCKET",
	"XAUTHORITY",
	"ICEAUTHORITY",
	"SWAYSOCK",
	"I3SOCK",
	"HYPRLAND_INSTANCE_SIGNATURE",
	"NIRI_SOCKET",
	"PULSE_SERVER",
	"PULSE_COOKIE",
	"PIPEWIRE_*",
	"XDG_RUNTIME_DIR",

	/* Terminals, multiplexers and editors that take commands. */
	"TMUX",
	"TMUX_PANE",
	"STY",
	"ZELLIJ*",
	"KITTY_LISTEN_ON",
	"WEZTERM_UNIX_SOCKET",
	"ALACRITTY_SOCKET",
	"VSCODE_IPC_HOOK*",
	"VSCODE_GIT_*",
	"NVIM",
	"NVIM_LISTEN_ADDRESS",
	"EMACS_SOCKET_NAME",
	"EMACS_SERVER_FILE",

	/* Daemons that act outside. */
	"DOCKER_HOST",
	"CONTAINER_HOST",
	"PODMAN_HOST",
	"BUILDKIT_HOST",
	"WATCHMAN_SOCK",
	"NIX_REMOTE",
	"NOTIFY_SOCKET",
	"LISTEN_FDS",
	"LISTEN_FDNAMES",
	"LISTEN_PID",
};

/*
 * What is set instead, below TMPDIR: caches that tools must be able to write. CARGO_HOME and
 * GOMODCACHE stay: they are where the sources of what is being built already are, and cargo and go
 * content themselves with reading them.
 */
static const struct {
	const char *name, *below;
} placed[] = {
	{"TMPDIR", ""},
	{"TMP", ""},
	{"TEMP", ""},
	{"TMPPREFIX", "/zsh"}, /* where zsh keeps here-documents */
	{"XDG_CACHE_HOME", "/cache"},
	{"npm_config_cache", "/cache/npm"},
	{"YARN_CACHE_FOLDER", "/cache/yarn"},
	{"PIP_CACHE_DIR", "/cache/pip"},
	{"UV_CACHE_DIR", "/cache/uv"},
	{"GOCACHE", "/cache/go-build"},
};

enum {
	N_SECRET_WORDS = sizeof(secret_words) / sizeof(secret_words[0]),
	N_DROPPED_NAMES = sizeof(dropped_names) / sizeof(dropped_names[0]),
	N_PLACED = sizeof(placed) / sizeof(placed[0]),
};

static const char git_template_name[] = "GIT_TEMPLATE_DIR";

static bool is_same_word(struct str a, const char *b, size_t n)
{
	return a.n == n && strncasecmp(a.p, b, n) == 0;
}

/* Does WORD stand in NAME, between underscores or the ends? */
static bool has_word(struct str name, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= name.n; i++) {
		bool begins = i == 0 || name.p[i - 1] == '_';
		bool ends = i + n == name.n || name.p[i + n] == '_';

		if (begins && ends && is_same_word((struct str){name.p + i, n}, word, n))
			return true;
	}
	return false;
}

static bool is_secret(struct str name)
{
	for (size_t i = 0; i < N_SECRET_WORDS; i++)
		if (has_word(name, secret_words[i]))
			return true;
	return false;
}

static bool is_dropped(struct str name)
{
	for (size_t i = 0; i < N_DROPPED_NAMES; i++) {
		const char *pattern = dropped_names[i];
		size_t n = strlen(pattern);
		bool is_open = pattern[n - 1] == '*';

		n -= is_open;
		if (is_open ? name.n >= n && is_same_word((struct str){name.p, n}, pattern, n)
			    : is_same_word(name, pattern, n))
			return true;
	}
	return false;
}

static bool is_placed(struct str name)
{
	for (size_t i = 0; i < N_PLACED; i++)
		if (str_is(name, placed[i].name))
			return true;
	return str_is(name, git_template_name);
}

static bool passes(const char *variable)
{
	struct str name = {variable, strcspn(variable, "=")};

	return !is_secret(name) && !is_dropped(name) && !is_placed(name);
}

char **session_environ(char *const *env, const char *tmpdir, const char *git_template,
		       struct arena *arena)
{
	size_t n = 0, count = 0;
	char **ret;

	while (env[count])
		count++;
	ret = arena_array(arena, count + N_PLACED + 2, sizeof(*ret));
	if (!ret)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (passes(env[i]))
			ret[n++] = arena_strdup(arena, str_of(env[i]));
	for (size_t i = 0; i < N_PLACED; i++)
		ret[n++] = arena_printf(arena, "%s=%s%s", placed[i].name, tmpdir, placed[i].below);
	if (git_template)
		ret[n++] = arena_printf(arena, "%s=%s", git_template_name, git_template);
	/* An entry that could not be made would end the list too early. */
	for (size_t i = 0; i < n; i++)
		if (!ret[i])
			return NULL;
	return ret;
}
