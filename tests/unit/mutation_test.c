/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a profile when it is cut off anywhere, or when any one byte is another or
 *missing: it compiles, or each error has a code, a text and a place; and it does so twice alike.
 *
 *	mutation_test EVERY SEED TABLE...
 *
 * Profiles are those that come with us and those of the TABLEs (*.sbt). EVERY: of how many changes
 * one is tried; 1 tries all.
 */
#include <fcntl.h>
#include <time.h>

#include "base/arena.h"
#include "base/io.h"
#include "cli/sbt.h"
#include "policyfile/policyfile.h"
#include "policyfile/shipped.h"
#include "random.h"
#include "sbpl/sbpl.h"
#include "test.h"

#include "base/banned.h"

enum {
	PROFILES_MIN = 50,
	PARAMS_MAX = 8,
	TABLE_MAX = 1 << 20,
	FAILURES_MAX = 10, /* shown */
};

struct profile {
	const char *title;
	struct str text;
	enum origin origin;
	struct sbpl_param params[PARAMS_MAX];
	size_t n_params;
};

static struct arena arena;
static struct profile *profiles;
static size_t n_profiles, cap_profiles;
static unsigned every;
static struct {
	unsigned long tried, compiled, failed;
	double slowest;
} sums;

/* ---- Profiles ---- */

static struct profile *add_profile(const char *title, struct str text)
{
	profiles = arena_grow(&arena, profiles, n_profiles, &cap_profiles, sizeof(*profiles));
	if (!profiles)
		exit(1);
	profiles[n_profiles] = (struct profile){.title = title, .text = text};
	return &profiles[n_profiles++];
}

static void add_table(const char *path)
{
	struct sbt_file file = {0};
	struct buf text = {0};
	struct err e = {0};

	if (io_read_file(AT_FDCWD, path, &text, TABLE_MAX) < 0 ||
	    sbt_parse(buf_str(&text), path, &arena, &file, &e) < 0) {
		printf("Bail out! %s: %s\n", path, e.text);
		exit(1);
	}
	for (size_t i = 0; i < file.n; i++) {
		const struct sbt_case *c = &file.cases[i];
		char *copy = arena_strdup(&arena, c->profile);
		struct profile *profile;

		if (!copy)
			exit(1);
		profile = add_profile(c->title, (struct str){copy, c->profile.n});
		for (size_t k = 0; k < c->n_params && k < PARAMS_MAX; k++)
			profile->params[profile->n_params++] = (struct sbpl_param){
				str_of(c->params[k].key), str_of(c->params[k].value)};
	}
	buf_release(&text);
}

/* As on Linux; that of macOS is mostly the same text. */
static void add_default(void)
{
	static const struct git_dir repository = {.path = {"/srv/main/.git/worktrees/w", 26},
						  .work_tree_pointer = {"/w/.git", 7}};
	const struct default_facts facts = {.target = TARGET_LINUX,
					    .home = STR("/home/u"),
					    .cwd = STR("/home/u/p"),
					    .tmpdir = STR("/tmp"),
					    .git = &repository,
					    .n_git = 1};
	struct buf text = {0};
	struct err e = {0};
	char *copy = NULL;

	if (policyfile_default(&facts, &text, &e) == 0)
		copy = arena_strdup(&arena, buf_str(&text));
	if (!copy)
		exit(1);
	(void)add_profile("the default policy", (struct str){copy, text.n});
	buf_release(&text);
}

/* The parts of the default policy mean nothing alone. */
static void add_shipped(void)
{
	for (size_t i = 0; i < shipped_n_profiles; i++) {
		const struct shipped *shipped = &shipped_profiles[i];
		struct profile *profile;

		if (str_starts(str_of(shipped->name), STR("default")))
			continue;
		profile = add_profile(shipped->name, (struct str){shipped->text, shipped->n});
		if (str_is(str_of(shipped->name), "runtime.sb"))
			profile->origin = ORIGIN_RUNTIME;
	}
}

/* ---- Compiling ---- */

static int import_shipped(void *context, struct str path, const char *from, struct arena *to,
			  struct sbpl_source *ret, struct err *e)
{
	(void)context;
	(void)from;
	*ret = (struct sbpl_source){.name = arena_strdup(to, path),
				    .text = policyfile_shipped(path)};
	return ret->name && ret->text.n ? 0 : err_set(e, ERR_POLICY, "unable to open it");
}

static int compile(const struct profile *profile, struct str text, enum target target,
		   struct policy **ret, struct sbpl_errors *errors)
{
	struct sbpl_source sources[] = {
		{"first", STR("(version 1)(deny default)"), ORIGIN_PROFILE},
		{"profile", text, profile->origin},
	};
	bool alone = profile->origin == ORIGIN_PROFILE;
	struct sbpl_options options = {
		.target = target,
		.params = profile->params,
		.n_params = profile->n_params,
		.import = import_shipped,
		.limits = SBPL_LIMITS_DEFAULT,
		.policy_limits = POLICY_LIMITS_DEFAULT,
	};

	/* Enough for what is meant; loops that a change makes endless end soon. */
	options.limits.steps = 3000000;
	return sbpl_compile(sources + alone, alone ? 1 : 2, &options, ret, errors);
}

/* What is wrong with an outcome, or NULL. */
static const char *judge(int r, const struct policy *policy, const struct sbpl_errors *errors,
			 struct str text)
{
	unsigned lines = 1;

	if (r == 0)
		return errors->n == 0 && policy ? NULL : "an error, or no policy, after success";
	if (policy || errors->n == 0 || errors->n > SBPL_ERRORS_MAX)
		return "a policy, or no error, after failure";
	if (r != -(int)errors->list[0].code)
		return "another code than that of the first error";
	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	for (size_t i = 0; i < errors->n; i++) {
		const struct err *e = &errors->list[i];

		if (e->code != ERR_POLICY && e->code != ERR_LIMIT)
			return "not the profile's fault";
		if (!e->text[0])
			return "an error without text";
		if (e->at.line == 0 || e->at.column == 0 || !e->file[0])
			return "an error without a place";
		if (strcmp(e->file, "profile") == 0 && e->at.line > lines)
			return "a place behind the end";
	}
	return NULL;
}

static bool is_same(const struct sbpl_errors *a, const struct sbpl_errors *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		const struct err *x = &a->list[i], *y = &b->list[i];

		if (x->code != y->code || x->at.line != y->at.line ||
		    x->at.column != y->at.column || strcmp(x->text, y->text) != 0 ||
		    strcmp(x->file, y->file) != 0 || strcmp(x->hint, y->hint) != 0)
			return false;
	}
	return a->n == b->n;
}

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void try_text(const struct profile *profile, struct str text, const char *what, size_t at)
{
	static struct sbpl_errors errors, again_errors;
	enum target target = sums.tried++ % 2 ? TARGET_DARWIN : TARGET_LINUX;
	struct policy *policy = NULL, *again = NULL;
	double begin = seconds(), took;
	int r = compile(profile, text, target, &policy, &errors);
	const char *wrong = judge(r, policy, &errors, text);

	took = seconds() - begin;
	if (took > sums.slowest)
		sums.slowest = took;
	if (!wrong && (compile(profile, text, target, &again, &again_errors) != r ||
		       !is_same(&errors, &again_errors)))
		wrong = "another answer the second time";
	if (!wrong && r == 0 &&
	    (policy_n_rules(policy) != policy_n_rules(again) ||
	     policy_n_states(policy) != policy_n_states(again)))
		wrong = "another policy the second time";
	sums.compiled += r == 0;
	if (wrong) {
		CHECK(false);
		if (sums.failed++ < FAILURES_MAX)
			printf("# %s, %s at byte %zu: %s (%d: %s:%u:%u: %s)\n", profile->title,
			       what, at, wrong, r, errors.list[0].file, errors.list[0].at.line,
			       errors.list[0].at.column, errors.list[0].text);
	}
	policy_free(policy);
	policy_free(again);
}

/* ---- Changes ---- */

/* Mostly one that means something to the reader. */
static char other_byte(char old)
{
	static const char special[] = "()\"'`,@;#\\ \n.[]*^$|{+-/0\0\xff";
	char c;

	do
		c = (char)(one_in(4) ? below(256)
				     : (unsigned char)special[below(sizeof(special) - 1)]);
	while (c == old);
	return c;
}

/* TEXT in memory of its own size, so that a sanitizer sees reading beyond it. */
static void try_copy(const struct profile *profile, struct str head, struct str tail,
		     const char *what)
{
	char *copy = malloc(head.n + tail.n + !(head.n + tail.n));

	if (!copy)
		exit(1);
	memcpy(copy, head.p, head.n);
	memcpy(copy + head.n, tail.p, tail.n);
	try_text(profile, (struct str){copy, head.n + tail.n}, what, head.n);
	free(copy);
}

static void try_other(const struct profile *profile, size_t at)
{
	char *copy = malloc(profile->text.n);

	if (!copy)
		exit(1);
	memcpy(copy, profile->text.p, profile->text.n);
	copy[at] = other_byte(copy[at]);
	try_text(profile, (struct str){copy, profile->text.n}, "another byte", at);
	free(copy);
}

static void try_profile(const struct profile *profile)
{
	struct str text = profile->text;

	for (size_t at = 0; at < text.n; at++) {
		struct str head = {text.p, at}, tail = {text.p + at + 1, text.n - at - 1};

		if (one_in(every))
			try_copy(profile, head, (struct str){text.p, 0}, "cut off");
		if (one_in(every))
			try_copy(profile, head, tail, "a byte less");
		if (one_in(every))
			try_other(profile, at);
	}
}

static void changed_profiles_are_told_right(void)
{
	for (size_t i = 0; i < n_profiles; i++)
		try_profile(&profiles[i]);
	printf("# %zu profiles, %lu changes, %lu compile; the slowest took %.3f s\n", n_profiles,
	       sums.tried, sums.compiled, sums.slowest);
	/* Some of each, or nothing was tried. */
	CHECK(sums.compiled > 0 && sums.compiled < sums.tried);
}

static void there_are_enough_profiles(void)
{
	CHECK(n_profiles >= PROFILES_MIN);
	for (size_t i = 0; i < n_profiles; i++)
		CHECK(profiles[i].text.n > 0);
}

int main(int argc, char **argv)
{
	char *end = argc > 3 ? argv[1] : NULL;

	every = end ? (unsigned)strtoul(argv[1], &end, 10) : 0;
	random_state = end ? strtoull(argv[2], NULL, 10) : 0;
	if (every == 0 || random_state == 0) {
		fprintf(stderr, "usage: mutation_test EVERY SEED TABLE...\n");
		return 64;
	}
	add_default();
	add_shipped();
	for (int i = 3; i < argc; i++)
		add_table(argv[i]);
	RUN(there_are_enough_profiles);
	RUN(changed_profiles_are_told_right);
	arena_release(&arena);
	return test_done();
}
