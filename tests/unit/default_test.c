/* SPDX-License-Identifier: Apache-2.0 */
/* The default policy's text: it compiles to what its facts say. Rules: conformance/default.sbt. */
#include "policyfile/policyfile.h"
#include "policyfile/secrets.h"
#include "policyfile/shipped.h"
#include "sbpl/sbpl.h"
#include "test.h"

static const struct git_dir repository[] = {
	{.path = {"/home/u/p/.git", 14}},
	{.path = {"/srv/main/.git/worktrees/w", 26}, .work_tree_pointer = {"/home/u/w/.git", 14}},
};

static const struct str moved[] = {{"/mnt/keys", 9}, {"/home/u/p/conf/kube", 19}};
static const struct str more[] = {{"/data", 5}};

static struct default_facts ordinary(enum target target)
{
	return (struct default_facts){
		.target = target,
		.home = STR("/home/u"),
		.cwd = STR("/home/u/p"),
		.tmpdir = STR("/tmp"),
		.tty = STR("/dev/pts/3"),
		.write = more,
		.n_write = 1,
		.git = repository,
		.n_git = 2,
		.secrets = moved,
		.n_secrets = 2,
	};
}

/* ---- Compiling and asking ---- */

static int import_shipped(void *context, struct str path, const char *from, struct arena *arena,
			  struct sbpl_source *ret, struct err *e)
{
	(void)context;
	(void)from;
	*ret = (struct sbpl_source){
		.name = arena_strdup(arena, path),
		.text = policyfile_shipped(path),
	};
	return ret->text.n ? 0 : err_set(e, ERR_POLICY, "unable to open it");
}

static struct policy *compile(struct str text, enum target target, enum origin origin)
{
	struct sbpl_options options = {
		.target = target,
		.import = import_shipped,
		.limits = SBPL_LIMITS_DEFAULT,
		.policy_limits = POLICY_LIMITS_DEFAULT,
	};
	struct sbpl_source sources[] = {
		{.name = "profile",
		 .text = STR("(version 1)(deny default)"),
		 .origin = ORIGIN_PROFILE},
		{.name = "text", .text = text, .origin = origin},
	};
	bool alone = origin == ORIGIN_PROFILE;
	struct sbpl_errors errors = {0};
	struct policy *policy = NULL;
	int r = sbpl_compile(sources + alone, alone ? 1 : 2, &options, &policy, &errors);

	for (size_t i = 0; i < errors.n; i++)
		printf("# %s:%u:%u: %s\n", errors.list[i].file, errors.list[i].at.line,
		       errors.list[i].at.column, errors.list[i].text);
	CHECK_INT(r, 0);
	return policy;
}

static struct policy *compile_facts(const struct default_facts *facts)
{
	struct buf text = {0};
	struct err e = {0};
	struct policy *policy;

	CHECK_INT(policyfile_default(facts, &text, &e), 0);
	policy = compile(buf_str(&text), facts->target, ORIGIN_PROFILE);
	buf_release(&text);
	return policy;
}

static bool allows(const struct policy *policy, enum op op, struct str path)
{
	struct request request = {.op = op, .path = path};
	struct decision decision;

	policy_decide(policy, &request, &decision);
	return decision.verdict == VERDICT_ALLOW;
}

static bool allows_text(const struct policy *policy, enum op op, const char *path)
{
	return allows(policy, op, str_of(path));
}

/* ---- The text ---- */

static void begins_with_its_scope(void)
{
	static const char *const first[] = {
		[TARGET_LINUX] = ";; scope: private pid, ipc, net, tmp, shm, pts\n(version 1)\n",
		[TARGET_DARWIN] = ";; scope: shared pid, ipc, net, tmp, shm, pts\n(version 1)\n",
	};

	for (int target = 0; target < 2; target++) {
		struct default_facts facts = ordinary((enum target)target);
		struct buf text = {0};
		struct err e;

		CHECK_INT(policyfile_default(&facts, &text, &e), 0);
		CHECK(str_starts(buf_str(&text), str_of(first[target])));
		buf_release(&text);
	}
}

static void says_when_memory_ends(void)
{
	struct default_facts facts = ordinary(TARGET_LINUX);
	struct buf text = {.max = 5000};
	struct err e;

	CHECK_INT(policyfile_default(&facts, &text, &e), -ERR_MEMORY);
	buf_release(&text);
}

/* Names are data: none ends a string, a line or a form. */
static void quotes_every_byte(void)
{
	char name[256] = "/h\"/\\/;/(/)/#/'/x41/\\n", all[600] = "/w";
	size_t n = strlen(name), n_all = 2;
	struct default_facts facts = ordinary(TARGET_LINUX);
	struct git_dir git = {0};
	struct policy *policy;

	for (int c = 1; c < 256; c++) {
		if (c != '/')
			all[n_all++] = (char)c;
	}
	name[n++] = '\n';
	name[n++] = (char)0xff;
	facts.home = (struct str){name, n};
	facts.cwd = (struct str){all, n_all};
	git.path = (struct str){all, n_all};
	facts.git = &git;
	facts.n_git = 1;
	policy = compile_facts(&facts);
	if (!policy)
		return;
	CHECK(allows(policy, OP_FILE_WRITE_DATA, facts.cwd));
	memcpy(all + n_all, "/f", 2);
	CHECK(allows(policy, OP_FILE_WRITE_DATA, (struct str){all, n_all + 2}));
	memcpy(all + n_all, "/hooks/x", 8);
	CHECK(!allows(policy, OP_FILE_WRITE_DATA, (struct str){all, n_all + 8}));
	all[3] ^= 1;
	CHECK(!allows(policy, OP_FILE_WRITE_DATA, (struct str){all, n_all}));
	memcpy(name + n, "/.ssh/id", 8);
	CHECK(!allows(policy, OP_FILE_READ_DATA, (struct str){name, n + 8}));
	memcpy(name + n, "/.ssx/id", 8);
	CHECK(allows(policy, OP_FILE_READ_DATA, (struct str){name, n + 8}));
	policy_free(policy);
}

/* An empty list must not turn a rule for some paths into one for all. */
static void has_no_stray_defaults(void)
{
	static const enum op meant[] = {OP_DEFAULT, OP_FILE_WRITE_ANY, OP_NETWORK_ANY,
					OP_PROCESS_INFO_ANY};

	for (int target = 0; target < 2; target++) {
		struct default_facts facts = {
			.target = (enum target)target,
			.home = STR("/home/u"),
			.cwd = STR("/home/u/p"),
			.tmpdir = STR("/tmp"),
		};
		struct policy *policy = compile_facts(&facts);

		for (size_t i = 0; policy && i < policy_n_rules(policy); i++) {
			const struct rule *rule = policy_rule(policy, i);
			bool is_meant = rule->filter || rule->verdict == VERDICT_ALLOW;

			for (size_t k = 0; k < sizeof(meant) / sizeof(meant[0]); k++)
				is_meant |= rule->op == meant[k];
			CHECK(is_meant);
		}
		policy_free(policy);
	}
}

/* ---- Facts ---- */

static void denies_every_secret(void)
{
	for (int target = 0; target < 2; target++) {
		struct default_facts facts = ordinary((enum target)target);
		struct policy *policy = compile_facts(&facts);
		unsigned n = 0;

		for (size_t i = 0; policy && i < policyfile_n_secrets; i++) {
			const struct secret *secret = &policyfile_secrets[i];
			const char *base = policyfile_secret_base(secret->base);
			char path[256], below[300], beside[300];

			if (!base || !secret_is_on(secret, facts.target))
				continue;
			snprintf(path, sizeof(path), "%s%s%s", *base == '/' ? "" : "/home/u/", base,
				 secret->name);
			snprintf(below, sizeof(below), "%s/x", path);
			snprintf(beside, sizeof(beside), "%sx", path);
			n++;
			CHECK(!allows_text(policy, OP_FILE_READ_DATA, path));
			CHECK(!allows_text(policy, OP_FILE_READ_DATA, below));
			CHECK(!allows_text(policy, OP_FILE_READ_XATTR, below));
			CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, path));
			CHECK(!allows_text(policy, OP_FILE_LINK, below));
			CHECK(!allows_text(policy, OP_FILE_READ_METADATA, below));
			CHECK(!allows_text(policy, OP_FILE_TEST_EXISTENCE, below));
			CHECK(allows_text(policy, OP_FILE_READ_METADATA, path));
			CHECK(allows_text(policy, OP_FILE_READ_DATA, beside) ||
			      strcmp(path, "/home/u/.cargo/credentials") == 0);
		}
		CHECK(n > 150);
		policy_free(policy);
	}
}

static void denies_moved_secrets(void)
{
	struct default_facts facts = ordinary(TARGET_LINUX);
	struct policy *policy = compile_facts(&facts);

	CHECK(!allows_text(policy, OP_FILE_READ_DATA, "/mnt/keys"));
	CHECK(!allows_text(policy, OP_FILE_READ_DATA, "/mnt/keys/a"));
	CHECK(allows_text(policy, OP_FILE_READ_DATA, "/mnt/keysx"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_DATA, "/home/u/p/conf/kube"));
	CHECK(allows_text(policy, OP_FILE_WRITE_DATA, "/home/u/p/conf/other"));
	/* Nor is it moved out from under its name. */
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p/conf"));
	CHECK(allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p/conf2"));
	policy_free(policy);
}

static void opens_write_roots(void)
{
	struct default_facts facts = ordinary(TARGET_LINUX);
	struct policy *policy = compile_facts(&facts);

	CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/p/a"));
	CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, "/tmp/a"));
	CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, "/data/a"));
	CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, "/srv/main/.git/worktrees/w/index.lock"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/data/.vscode/tasks.json"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/srv/main/.git/worktrees/w/commondir"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_DATA, "/home/u/w/.git"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/a"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/datax"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/data"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p/.git"));
	CHECK(allows_text(policy, OP_FILE_WRITE_DATA, "/dev/pts/3"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_DATA, "/dev/pts/4"));
	policy_free(policy);
}

static void keeps_a_home_below_tmp(void)
{
	struct default_facts facts = {
		.target = TARGET_LINUX,
		.home = STR("/tmp/t/home"),
		.cwd = STR("/tmp/t/ws"),
		.tmpdir = STR("/tmp"),
	};
	struct policy *policy = compile_facts(&facts);

	CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, "/tmp/a"));
	CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, "/tmp/t/ws/a"));
	CHECK(allows_text(policy, OP_NETWORK_BIND, "/tmp/t/ws/socket"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/tmp/t/home/a"));
	CHECK(!allows_text(policy, OP_NETWORK_OUTBOUND, "/tmp/t/home/socket"));
	CHECK(!allows_text(policy, OP_FILE_READ_DATA, "/tmp/t/home/.ssh/id"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/tmp/t/home"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/tmp/t"));
	policy_free(policy);

	/* The other way round TMPDIR is writable all the same. */
	facts.home = STR("/home/u");
	facts.cwd = STR("/home/u/p");
	facts.tmpdir = STR("/home/u/.cache/lapbelt/1");
	policy = compile_facts(&facts);
	CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/.cache/lapbelt/1/a"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/.cache/lapbelt/2"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/tmp/a"));
	policy_free(policy);
}

/* With home as a write root, what leads to a secret stays where it is. */
static void pins_what_leads_to_secrets(void)
{
	struct str root[] = {STR("/home/u")};
	struct default_facts facts = {
		.target = TARGET_LINUX,
		.home = STR("/home/u"),
		.cwd = STR("/home/u"),
		.tmpdir = STR("/tmp"),
		.write = root,
		.n_write = 1,
	};
	struct policy *policy = compile_facts(&facts);

	CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/.config/x"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/.config"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/.local/share"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/.local"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/.docker"));
	CHECK(allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/.config/x"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/.netrc"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/.bashrc"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/.config/git/config"));
	policy_free(policy);
}

/* What git's configuration names, and the ways there. */
static void pins_what_leads_to_obeyed_files(void)
{
	static const struct str obeyed[] = {
		{"/home/u/p/a/link", 16}, {"/home/u/p/b/hooks", 17}, {"/srv/c/d", 8}};
	static const struct str ways[] = {{"/home/u/p/c/left", 16}};
	struct default_facts facts = ordinary(TARGET_LINUX);
	struct policy *policy;

	facts.obeyed = obeyed;
	facts.n_obeyed = 3;
	facts.ways = ways;
	facts.n_ways = 1;
	policy = compile_facts(&facts);
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p/a/link"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/p/a/link"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/p/b/hooks/x"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p/a"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p/b"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p/c"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p/c/left"));
	CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, "/home/u/p/c/left/x"));
	CHECK(allows_text(policy, OP_FILE_WRITE_UNLINK, "/home/u/p/a/other"));
	policy_free(policy);
}

/* Where a name is a link it is followed; where it is none, the rules protect it as it is. */
static void protects_every_obeyed_name(void)
{
	static const char *const names[][2] = {
#define OBEYED(folder, name) {folder, name},
#include "session/obeyed.def"
	};

	for (int target = 0; target < 2; target++) {
		struct default_facts facts = ordinary((enum target)target);
		struct policy *policy = compile_facts(&facts);

		for (size_t i = 0; policy && i < sizeof(names) / sizeof(names[0]); i++) {
			char path[256], below[300], beside[300];

			snprintf(path, sizeof(path), "/home/u/p/%s%s%s", names[i][0],
				 *names[i][0] ? "/" : "", names[i][1]);
			snprintf(below, sizeof(below), "%s/x", path);
			snprintf(beside, sizeof(beside), "%s+", path);
			CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, path));
			CHECK(!allows_text(policy, OP_FILE_WRITE_UNLINK, path));
			CHECK(!allows_text(policy, OP_FILE_WRITE_DATA, below));
			CHECK(allows_text(policy, OP_FILE_WRITE_CREATE, beside));
		}
		policy_free(policy);
	}
}

/* ---- Rules the broker knows by their message ---- */

static bool has_message(const struct rule *rule, const char *message)
{
	for (size_t i = 0; rule && i < rule->n_modifiers; i++)
		if (rule->modifiers[i].id == MODIFIER_MESSAGE &&
		    str_is(rule->modifiers[i].text, message))
			return true;
	return false;
}

static void marks_rules_for_new_repositories(void)
{
	static const struct {
		const char *path;
		bool is_marked;
	} rows[] = {
		{"/home/u/p/sub/.git/config", true},
		{"/home/u/p/sub/.git/objects/info/alternates", true},
		{"/home/u/p/.git/worktrees/new/gitdir", true},
		{"/home/u/p/.git/modules/new/config", true},
		{"/tmp/clone/.git/config", true},
		/* Those that are there at the start, and hooks anywhere. */
		{"/home/u/p/.git/config", false},
		{"/home/u/p/.git/objects/info/alternates", false},
		{"/home/u/p/sub/.git/hooks/pre-commit", false},
		{"/home/u/p/.git/modules/new/hooks/pre-commit", false},
	};
	struct default_facts facts = ordinary(TARGET_LINUX);
	struct policy *policy = compile_facts(&facts);

	for (size_t i = 0; policy && i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct request request = {.op = OP_FILE_WRITE_CREATE, .path = str_of(rows[i].path)};
		struct decision decision;

		policy_decide(policy, &request, &decision);
		CHECK_INT(decision.verdict, VERDICT_DENY);
		CHECK_INT(has_message(decision.rule, "lapbelt: new repository"), rows[i].is_marked);
	}
	policy_free(policy);
}

/* ---- Shipped profiles ---- */

static void check_import(const char *name)
{
	for (int version = 1; version <= 3; version++) {
		struct buf text = {0};

		buf_printf(&text, "(version %d)(import \"%s\")", version, name);
		policy_free(compile(buf_str(&text), TARGET_LINUX, ORIGIN_PROFILE));
		policy_free(compile(buf_str(&text), TARGET_DARWIN, ORIGIN_PROFILE));
		buf_release(&text);
	}
}

static void ships_profiles_that_compile(void)
{
	CHECK(shipped_n_profiles > 0);
	CHECK(!policyfile_shipped(STR("none.sb")).n);
	CHECK(!policyfile_shipped(STR("")).n);
	for (size_t i = 0; i < shipped_n_profiles; i++) {
		const char *name = shipped_profiles[i].name;
		struct str text = policyfile_shipped(str_of(name));

		CHECK(text.n > 0);
		/* Those of the default policy are no whole profiles. */
		if (strncmp(name, "default", 7) == 0)
			continue;
		/* What profiles import takes the version of whoever imports it. */
		if (!memmem(text.p, text.n, "(version", 8)) {
			check_import(name);
			continue;
		}
		policy_free(compile(text, TARGET_LINUX, ORIGIN_PROFILE));
		policy_free(compile(text, TARGET_DARWIN, ORIGIN_PROFILE));
	}
}

/* The runtime opens nothing that a program could use to reach out or to run another. */
static void adds_a_small_runtime(void)
{
	struct policy *policy =
		compile(policyfile_shipped(STR("runtime.sb")), TARGET_LINUX, ORIGIN_RUNTIME);

	CHECK(allows_text(policy, OP_FILE_READ_DATA, "/lib64/ld-linux-x86-64.so.2"));
	CHECK(allows_text(policy, OP_FILE_READ_DATA, "/usr/lib/locale/locale-archive"));
	CHECK(allows_text(policy, OP_FILE_WRITE_DATA, "/dev/null"));
	CHECK(allows_text(policy, OP_FILE_READ_METADATA, "/home/u/x"));
	CHECK(!allows_text(policy, OP_FILE_READ_DATA, "/home/u/x"));
	CHECK(!allows_text(policy, OP_FILE_READ_DATA, "/etc/passwd"));
	CHECK(!allows_text(policy, OP_FILE_READ_DATA, "/"));
	CHECK(!allows_text(policy, OP_FILE_WRITE_CREATE, "/dev/shm/x"));
	CHECK(!allows_text(policy, OP_PROCESS_EXEC_ANY, "/usr/lib/git-core/git"));
	CHECK(!allows_text(policy, OP_NETWORK_OUTBOUND, "/run/x"));
	policy_free(policy);
}

int main(void)
{
	RUN(begins_with_its_scope);
	RUN(says_when_memory_ends);
	RUN(quotes_every_byte);
	RUN(has_no_stray_defaults);
	RUN(denies_every_secret);
	RUN(denies_moved_secrets);
	RUN(opens_write_roots);
	RUN(keeps_a_home_below_tmp);
	RUN(pins_what_leads_to_secrets);
	RUN(pins_what_leads_to_obeyed_files);
	RUN(protects_every_obeyed_name);
	RUN(marks_rules_for_new_repositories);
	RUN(ships_profiles_that_compile);
	RUN(adds_a_small_runtime);
	return test_done();
}
