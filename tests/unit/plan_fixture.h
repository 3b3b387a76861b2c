/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the planner share: a file system that is a table, and plans from profile text. */
#ifndef PLAN_FIXTURE_H
#define PLAN_FIXTURE_H

#include "plan/plan.h"
#include "sbpl/sbpl.h"
#include "test.h"

/* Everything may be read and executed, nothing else. */
#define READABLE "(deny default) (allow file-read* process*)"

/* A policy under which every class is brokered. */
#define ALL_JUDGED                                                                                 \
	"(deny default) (allow file-read* file-write* process-exec*)"                              \
	"(deny file-read* file-write* (regex #\"\\\\.pem$\"))"                                     \
	"(deny process-exec* (literal \"/usr/bin/ssh\"))"                                          \
	"(allow network-outbound (remote tcp \"*:443\")) (allow process-fork)"                     \
	"(allow signal (target self))"

struct fake_entry {
	const char *path;
	enum entry_type type;
	bool unreadable; /* a directory that may not be listed */
};

static const struct fake_entry fake_fs[] = {
	{"/", ENTRY_DIRECTORY, false},
	{"/bin", ENTRY_SYMLINK, false},
	{"/dev", ENTRY_DIRECTORY, false},
	{"/dev/null", ENTRY_OTHER, false},
	{"/dev/ptmx", ENTRY_OTHER, false},
	{"/dev/pts", ENTRY_DIRECTORY, false},
	{"/dev/pts/7", ENTRY_OTHER, false},
	{"/dev/shm", ENTRY_DIRECTORY, false},
	{"/dev/shm/object", ENTRY_OTHER, false},
	{"/etc", ENTRY_DIRECTORY, false},
	{"/etc/passwd", ENTRY_OTHER, false},
	{"/home", ENTRY_DIRECTORY, false},
	{"/home/closed", ENTRY_DIRECTORY, true},
	{"/home/closed/open", ENTRY_DIRECTORY, false},
	{"/home/closed/open/file", ENTRY_OTHER, false},
	{"/home/closed/other", ENTRY_OTHER, false},
	{"/home/u", ENTRY_DIRECTORY, false},
	{"/home/u/.cargo", ENTRY_DIRECTORY, false},
	{"/home/u/.cargo/config", ENTRY_OTHER, false},
	{"/home/u/.cargo/credentials.toml", ENTRY_OTHER, false},
	{"/home/u/.netrc", ENTRY_OTHER, false},
	{"/home/u/.ssh", ENTRY_DIRECTORY, false},
	{"/home/u/.ssh/id", ENTRY_OTHER, false},
	{"/home/u/link", ENTRY_SYMLINK, false},
	{"/home/u/notes.pem", ENTRY_OTHER, false},
	{"/home/u/p", ENTRY_DIRECTORY, false},
	{"/home/u/p/.git", ENTRY_DIRECTORY, false},
	{"/home/u/p/.git/config", ENTRY_OTHER, false},
	{"/home/u/p/a.c", ENTRY_OTHER, false},
	{"/home/u/p/key.pem", ENTRY_OTHER, false},
	{"/home/u/p/run", ENTRY_DIRECTORY, false},
	{"/home/u/p/run/deep", ENTRY_DIRECTORY, false},
	{"/home/u/p/run/deep/pipe", ENTRY_PIPE, false},
	{"/home/u/p/run/pipe", ENTRY_PIPE, false},
	{"/proc", ENTRY_DIRECTORY, false},
	{"/proc/1", ENTRY_DIRECTORY, false},
	{"/proc/1/status", ENTRY_OTHER, false},
	{"/proc/sys", ENTRY_DIRECTORY, false},
	{"/proc/sys/kernel", ENTRY_OTHER, false},
	{"/proc/version", ENTRY_OTHER, false},
	{"/tmp", ENTRY_DIRECTORY, false},
	{"/tmp/keep", ENTRY_DIRECTORY, false},
	{"/tmp/keep/file", ENTRY_OTHER, false},
	{"/tmp/keep/secret", ENTRY_OTHER, false},
	{"/tmp/own", ENTRY_DIRECTORY, false},
	{"/tmp/x", ENTRY_OTHER, false},
	{"/usr", ENTRY_DIRECTORY, false},
	{"/usr/bin", ENTRY_DIRECTORY, false},
	{"/usr/bin/cc", ENTRY_OTHER, false},
	{"/usr/bin/ssh", ENTRY_OTHER, false},
	{"/usr/lib", ENTRY_DIRECTORY, false},
	{"/usr/lib/ld.so", ENTRY_OTHER, false},
};

enum {
	N_FAKE = sizeof(fake_fs) / sizeof(fake_fs[0])
};

/* A directory outside the table with so many entries. */
static size_t fake_crowd;

static inline const char *name_in(const char *dir, const char *path)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	if (strncmp(path, dir, n) != 0 || path[n] != '/' || !path[n + 1] ||
	    strchr(path + n + 1, '/'))
		return NULL;
	return path + n + 1;
}

static inline const struct fake_entry *fake_find(const char *path)
{
	for (size_t i = 0; i < N_FAKE; i++)
		if (strcmp(fake_fs[i].path, path) == 0)
			return &fake_fs[i];
	return NULL;
}

/* CONTEXT counts the directories listed, if any. */
static inline int fake_list(void *context, const char *path,
			    int (*each)(void *each_context, const char *name, enum entry_type type),
			    void *each_context)
{
	const struct fake_entry *dir = fake_find(path);
	unsigned *count = context;
	char name[32];
	int r = 0;

	if (count)
		++*count;
	if (!dir || dir->type != ENTRY_DIRECTORY)
		return 1;
	if (dir->unreadable)
		return 2;
	for (size_t i = 0; i < N_FAKE && r == 0; i++)
		if (name_in(path, fake_fs[i].path))
			r = each(each_context, name_in(path, fake_fs[i].path), fake_fs[i].type);
	for (size_t i = 0; i < fake_crowd && strcmp(path, "/home/u/p") == 0 && r == 0; i++) {
		(void)snprintf(name, sizeof(name), "crowd-%zu", i);
		r = each(each_context, name, ENTRY_OTHER);
	}
	return r;
}

static const struct caps caps_new = {
	.arch = ARCH_X86_64,
	.landlock_abi = 7,
	.notify = true,
	.wait_killable = true,
	.userns = true,
	.mount_proc = true,
	.mount_setattr = true,
	.pidfd_getfd = true,
};

struct fixture {
	struct policy *policy;
	struct caps caps;
	struct plan_input input;
	struct arena arena;
	struct plan plan;
	struct err e;
};

/* Compiles TEXT (without its version form). */
static inline struct policy *compile(const char *text)
{
	struct buf buf = {.p = NULL};
	struct sbpl_options options = {
		.target = TARGET_LINUX,
		.limits = SBPL_LIMITS_DEFAULT,
		.policy_limits = POLICY_LIMITS_DEFAULT,
	};
	struct sbpl_source source = {.name = "test.sb", .origin = ORIGIN_PROFILE};
	struct sbpl_errors *errors = calloc(1, sizeof(*errors));
	struct policy *policy = NULL;

	buf_printf(&buf, "(version 1)\n%s", text);
	source.text = buf_str(&buf);
	if (!errors || sbpl_compile(&source, 1, &options, &policy, errors) < 0)
		printf("# %s: %s\n", text, errors ? errors->list[0].text : "no memory");
	free(errors);
	buf_release(&buf);
	return policy;
}

/* For changing caps and input before fixture_plan(). */
static inline void fixture_open(struct fixture *f, const char *text)
{
	memset(f, 0, sizeof(*f));
	f->policy = compile(text);
	f->caps = caps_new;
	f->input = (struct plan_input){.policy = f->policy, .list = fake_list};
	CHECK(f->policy != NULL);
}

static inline int fixture_plan(struct fixture *f)
{
	arena_release(&f->arena);
	f->input.caps = &f->caps;
	memset(&f->plan, 0, sizeof(f->plan));
	return f->policy ? plan_make(&f->input, &f->arena, &f->plan, &f->e) : -ERR_POLICY;
}

static inline void fixture_close(struct fixture *f)
{
	arena_release(&f->arena);
	policy_free(f->policy);
}

static inline bool grants(const struct fixture *f, const char *path, uint32_t rights)
{
	return landlock_simulate(&f->plan, path, rights);
}

static inline const struct landlock_row *row_of(const struct fixture *f, const char *path)
{
	for (size_t i = 0; i < f->plan.n_rows; i++)
		if (strcmp(f->plan.rows[i].path, path) == 0)
			return &f->plan.rows[i];
	return NULL;
}

static inline uint32_t rights_of(const struct fixture *f, const char *path)
{
	const struct landlock_row *row = row_of(f, path);

	return row ? row->rights : 0;
}

static inline const struct mount_row *mount_of(const struct fixture *f, enum mount_kind kind,
					       const char *path)
{
	for (size_t i = 0; i < f->plan.n_mounts; i++)
		if (f->plan.mounts[i].kind == kind && strcmp(f->plan.mounts[i].path, path) == 0)
			return &f->plan.mounts[i];
	return NULL;
}

static inline const struct gap *gap_about(const struct fixture *f, const char *word)
{
	for (size_t i = 0; i < f->plan.n_gaps; i++)
		if (strstr(f->plan.gaps[i].text, word))
			return &f->plan.gaps[i];
	return NULL;
}

/* One plan of TEXT under the newest kernel. */
static inline void plan_of(struct fixture *f, const char *text)
{
	fixture_open(f, text);
	CHECK_INT(fixture_plan(f), 0);
}

#endif
