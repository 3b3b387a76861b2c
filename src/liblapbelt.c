/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies, and what all public functions share: options in, the layers' work, errors out. Files
 * are read here (profiles and what they import), because the layers below are pure.
 */
#include <lapbelt.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/io.h"
#include "facade.h"
#include "policyfile/policyfile.h"
#include "sbpl/sbpl.h"
#include "session/session.h"
#include "base/banned.h"

enum {
	PROFILE_MAX = 16 << 20, /* bytes of one profile or imported file */
};

/* ---- Errors and options ---- */

static_assert((int)LAPBELT_USAGE == (int)ERR_USAGE && (int)LAPBELT_POLICY == (int)ERR_POLICY &&
		      (int)LAPBELT_OS == (int)ERR_OS && (int)LAPBELT_COMMAND == (int)ERR_COMMAND &&
		      (int)LAPBELT_GAP == (int)ERR_GAP && (int)LAPBELT_CONFIG == (int)ERR_CONFIG &&
		      (int)LAPBELT_LIMIT == (int)ERR_LIMIT &&
		      (int)LAPBELT_MEMORY == (int)ERR_MEMORY &&
		      (int)LAPBELT_ENDED == (int)ERR_ENDED && (int)LAPBELT_TIME == (int)ERR_TIME,
	      "codes map one to one");
static_assert((int)LAPBELT_SHARE_PID == (int)SCOPE_PID &&
		      (int)LAPBELT_SHARE_IPC == (int)SCOPE_IPC &&
		      (int)LAPBELT_SHARE_NET == (int)SCOPE_NET &&
		      (int)LAPBELT_SHARE_TMP == (int)SCOPE_TMP &&
		      (int)LAPBELT_SHARE_SHM == (int)SCOPE_SHM &&
		      (int)LAPBELT_SHARE_PTS == (int)SCOPE_PTS &&
		      (int)LAPBELT_SHARE_ALL == (int)SCOPE_ALL,
	      "scopes map one to one");

static void copy_text(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

static void export_error(struct lapbelt_error *to, const struct err *from)
{
	to->code = (enum lapbelt_code)from->code;
	to->os = from->os;
	to->line = from->at.line;
	to->column = from->at.column;
	copy_text(to->file, sizeof(to->file), from->file);
	copy_text(to->text, sizeof(to->text), from->text);
	copy_text(to->hint, sizeof(to->hint), from->hint);
}

int facade_fail(struct lapbelt_error *to, const struct err *from)
{
	if (to)
		export_error(to, from);
	return -(int)from->code;
}

int facade_text(int r, struct buf *buf, struct err *e, char **ret, struct lapbelt_error *error)
{
	char *text = buf_steal(buf);

	if (r == 0 && !text)
		r = err_memory(e);
	if (r < 0) {
		free(text);
		return facade_fail(error, e);
	}
	*ret = text;
	return 0;
}

int lapbelt_exit_code(enum lapbelt_code code)
{
	static const int codes[] = {
		[LAPBELT_OK] = 0,      [LAPBELT_USAGE] = 64,   [LAPBELT_POLICY] = 65,
		[LAPBELT_OS] = 71,     [LAPBELT_COMMAND] = 71, [LAPBELT_GAP] = 71,
		[LAPBELT_CONFIG] = 78, [LAPBELT_LIMIT] = 65,   [LAPBELT_MEMORY] = 71,
		[LAPBELT_ENDED] = 70,  [LAPBELT_TIME] = 124,
	};

	return (size_t)code < sizeof(codes) / sizeof(codes[0]) ? codes[code] : 71;
}

const char *lapbelt_version(void)
{
	return LAPBELT_VERSION;
}

void lapbelt_free(void *p)
{
	free(p);
}

int facade_take_options(void *to, size_t to_size, const void *from, struct err *e)
{
	const unsigned char *bytes = from;
	size_t size;

	if (!from)
		return 0;
	memcpy(&size, from, sizeof(size));
	if (size < sizeof(size))
		return err_set(e, ERR_USAGE, "the size of an options structure is not set");
	/* On failure too: where to say that it failed may be in it. */
	memcpy(to, from, size < to_size ? size : to_size);
	for (size_t i = to_size; i < size; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Branch): it says its size */
		if (bytes[i])
			return err_set(e, ERR_USAGE, "an option is newer than this library");
	return 0;
}

int facade_take_target(enum lapbelt_target from, enum target *ret, struct err *e)
{
	switch (from) {
	case LAPBELT_TARGET_LINUX:
		*ret = TARGET_LINUX;
		return 0;
	case LAPBELT_TARGET_DARWIN:
		*ret = TARGET_DARWIN;
		return 0;
	case LAPBELT_TARGET_HOST:
#ifdef __APPLE__
		*ret = TARGET_DARWIN;
#else
		*ret = TARGET_LINUX;
#endif
		return 0;
	}
	return err_set(e, ERR_USAGE, "unknown target %d", (int)from);
}

/* ---- Files ---- */

enum {
	FILE_ABSENT = 1,
};

/* Reads what was opened, called NAME. Returns FILE_ABSENT, with *E set, when nothing is there. */
static int read_opened(int opened, const char *name, struct buf *ret, struct err *e)
{
	int cleanup_fd fd = opened;

	if (fd < 0 || io_read_all(fd, ret, PROFILE_MAX) < 0) {
		int os = errno;

		if (os == EFBIG)
			return err_at(e, ERR_LIMIT, (struct span){name, 1, 1},
				      "larger than 16 MiB");
		(void)err_set(e, ERR_POLICY, "unable to open %s: %s", name, io_error_text(os));
		e->os = os;
		return os == ENOENT || os == ENOTDIR ? FILE_ABSENT : -(int)ERR_POLICY;
	}
	return 0;
}

/* A FIFO blocks until its writer comes: profiles are delivered that way. */
static int read_profile(const char *path, const char **ret_name, struct buf *ret, struct err *e)
{
	bool is_input = strcmp(path, "-") == 0;
	int fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : io_open_named(path);

	*ret_name = is_input ? "<standard input>" : path;
	return read_opened(fd, *ret_name, ret, e);
}

/* Where Apple's own profiles live: searched on macOS, stood in for by ours elsewhere. */
static const struct str apple_folders[] = {
	{"/System/Library/Sandbox/Profiles/", 33},
	{"/usr/share/sandbox/", 19},
};

enum {
	N_APPLE_FOLDERS = sizeof(apple_folders) / sizeof(apple_folders[0])
};

struct import_search {
	enum target target;
	const char *folders[2]; /* for relative names, in order; NULL: none */
};

static bool is_apples(struct str path)
{
	return str_starts(path, apple_folders[0]) || str_starts(path, apple_folders[1]);
}

static struct str shipped_profile(struct str path)
{
	for (size_t i = 0; i < N_APPLE_FOLDERS; i++) {
		size_t n = apple_folders[i].n;

		if (str_starts(path, apple_folders[i]))
			return policyfile_shipped((struct str){path.p + n, path.n - n});
	}
	return policyfile_shipped(path);
}

static int import_shipped(struct str path, struct arena *arena, struct sbpl_source *ret)
{
	char *name = arena_strdup(arena, path);
	struct str text = shipped_profile(path);

	if (!name || !text.n)
		return FILE_ABSENT;
	*ret = (struct sbpl_source){.name = name, .text = text, .ours = true};
	return 0;
}

/* Reads FOLDER/PATH, or PATH when FOLDER is "". */
static int import_file(const char *folder, struct str path, struct arena *arena,
		       struct sbpl_source *ret, struct err *e)
{
	const char *slash = folder[0] && folder[strlen(folder) - 1] != '/' ? "/" : "";
	char *name = arena_printf(arena, "%s%s%.*s", folder, slash, (int)path.n, path.p);
	struct buf buf = {0};
	char *text;
	int r;

	if (!name)
		return err_memory(e);
	/* Whoever names a FIFO on the command line waits for it; a profile makes nobody wait. */
	r = read_opened(io_open_regular(name), name, &buf, e);
	if (r == -(int)ERR_LIMIT)
		(void)err_wrap(e, "%s", name); /* the place will be that of the import */
	if (r == 0) {
		text = arena_memdup(arena, buf_str(&buf).p, buf.n);
		if (text)
			*ret = (struct sbpl_source){.name = name,
						    .text = {text, buf.n},
						    .ours = is_apples(str_of(name))};
		else
			r = err_memory(e);
	}
	buf_release(&buf);
	return r;
}

static int import_relative(const struct import_search *search, struct str path, struct arena *arena,
			   struct sbpl_source *ret, struct err *e)
{
	int r = FILE_ABSENT;

	for (size_t i = 0; i < 2 && r == FILE_ABSENT; i++)
		if (search->folders[i])
			r = import_file(search->folders[i], path, arena, ret, e);
	if (search->target == TARGET_DARWIN)
		for (size_t i = 0; i < N_APPLE_FOLDERS && r == FILE_ABSENT; i++)
			r = import_file(apple_folders[i].p, path, arena, ret, e);
	return r == FILE_ABSENT ? import_shipped(path, arena, ret) : r;
}

static int import_absolute(const struct import_search *search, struct str path, struct arena *arena,
			   struct sbpl_source *ret, struct err *e)
{
	int r;

	if (search->target == TARGET_LINUX)
		return import_shipped(path, arena, ret) == 0 ? 0
							     : import_file("", path, arena, ret, e);
	r = import_file("", path, arena, ret, e);
	return r == FILE_ABSENT ? import_shipped(path, arena, ret) : r;
}

/* sbpl_import: SBPL.md 1.3. */
static int import(void *context, struct str path, const char *from, struct arena *arena,
		  struct sbpl_source *ret, struct err *e)
{
	const struct import_search *search = context;
	int r = FILE_ABSENT;

	(void)from;
	if (path.n > 0 && path.n < PATH_MAX && !memchr(path.p, '\0', path.n))
		r = path.p[0] == '/' ? import_absolute(search, path, arena, ret, e)
				     : import_relative(search, path, arena, ret, e);
	if (r == FILE_ABSENT)
		return err_set(e, ERR_POLICY, "unable to open %.*s", (int)path.n, path.p);
	return r;
}

/* ---- Policies ---- */

static const char *find_param(const struct lapbelt_policy_options *options, const char *key)
{
	for (size_t i = 0; i < options->n_params; i++)
		if (strcmp(options->params[i].key, key) == 0)
			return options->params[i].value;
	return NULL;
}

static int report(const struct sbpl_errors *errors, const struct lapbelt_policy_options *options,
		  struct lapbelt_error *error)
{
	int r = facade_fail(error, &errors->list[0]);

	for (size_t i = 1; options->more_errors && i < errors->n; i++) {
		struct lapbelt_error more = LAPBELT_ERROR_INIT;

		export_error(&more, &errors->list[i]);
		options->more_errors(options->more_errors_context, &more);
	}
	return r;
}

static int new_policy(struct policy *compiled, struct lapbelt_policy **ret, struct err *e)
{
	struct lapbelt_policy *policy = malloc(sizeof(*policy));

	if (!policy) {
		policy_free(compiled);
		return err_memory(e);
	}
	policy->compiled = compiled;
	*ret = policy;
	return 0;
}

/* Everything a policy is made of, on the way to sbpl_compile(). */
struct job {
	struct lapbelt_policy_options options;
	struct sbpl_source sources[2];
	size_t n_sources;
	struct import_search search;
	struct sbpl_param *params;
	struct sbpl_options compile;
};

static int job_init(struct job *job, const struct lapbelt_policy_options *options, struct err *e)
{
	struct lapbelt_policy_options *own = &job->options;
	enum target target = TARGET_LINUX;
	int r;

	*job = (struct job){0};
	r = facade_take_options(own, sizeof(*own), options, e);
	if (r == 0)
		r = facade_take_target(own->target, &target, e);
	if (r < 0)
		return r;
	job->params = calloc(own->n_params + 1, sizeof(*job->params));
	if (!job->params)
		return err_memory(e);
	for (size_t i = 0; i < own->n_params; i++)
		job->params[i] = (struct sbpl_param){str_of(own->params[i].key),
						     str_of(own->params[i].value)};
	job->search =
		(struct import_search){target, {own->import_dir, find_param(own, "IMPORT_DIR")}};
	job->compile = (struct sbpl_options){
		.target = target,
		.params = job->params,
		.n_params = own->n_params,
		.import = import,
		.import_context = &job->search,
		.limits = SBPL_LIMITS_DEFAULT,
		.policy_limits = POLICY_LIMITS_DEFAULT,
	};
	return 0;
}

static int job_run(struct job *job, const char *name, struct str text,
		   struct lapbelt_policy **ret_policy, struct lapbelt_error *error)
{
	struct sbpl_errors errors = {0};
	struct policy *compiled;
	struct err e = {0};

	job->sources[job->n_sources++] =
		(struct sbpl_source){.name = name, .text = text, .origin = ORIGIN_PROFILE};
	if (job->options.flags & LAPBELT_POLICY_RUNTIME)
		job->sources[job->n_sources++] =
			(struct sbpl_source){.name = "runtime.sb",
					     .text = policyfile_shipped(STR("runtime.sb")),
					     .origin = ORIGIN_RUNTIME,
					     .ours = true};
	if (sbpl_compile(job->sources, job->n_sources, &job->compile, &compiled, &errors) < 0)
		return report(&errors, &job->options, error);
	if (new_policy(compiled, ret_policy, &e) < 0)
		return facade_fail(error, &e);
	return 0;
}

int lapbelt_policy_from_bytes(const char *bytes, size_t n, const char *name,
			      const struct lapbelt_policy_options *options,
			      struct lapbelt_policy **ret_policy, struct lapbelt_error *error)
{
	struct err e = {0};
	struct job job;
	int r;

	if (job_init(&job, options, &e) < 0)
		return facade_fail(error, &e);
	r = job_run(&job, name ? name : "<input string>", (struct str){bytes, n}, ret_policy,
		    error);
	free(job.params);
	return r;
}

int lapbelt_policy_from_text(const char *text, const char *name,
			     const struct lapbelt_policy_options *options,
			     struct lapbelt_policy **ret_policy, struct lapbelt_error *error)
{
	return lapbelt_policy_from_bytes(text, strlen(text), name, options, ret_policy, error);
}

int lapbelt_policy_from_file(const char *path, const struct lapbelt_policy_options *options,
			     struct lapbelt_policy **ret_policy, struct lapbelt_error *error)
{
	const char *name;
	struct buf buf = {0};
	struct err e = {0};
	int r;

	if (read_profile(path, &name, &buf, &e) == 0)
		r = lapbelt_policy_from_bytes(buf_str(&buf).p, buf.n, name, options, ret_policy,
					      error);
	else
		r = facade_fail(error, &e);
	buf_release(&buf);
	return r;
}

int lapbelt_policy_from_name(const char *name, const struct lapbelt_policy_options *options,
			     struct lapbelt_policy **ret_policy, struct lapbelt_error *error)
{
	static const struct {
		const char *name, *file;
	} named[] = {
		{"no-network", "no-network.sb"},
		{"no-internet", "no-internet.sb"},
		{"no-write", "no-write.sb"},
		{"no-write-except-temporary", "no-write-except-temporary.sb"},
		{"pure-computation", "pure-computation.sb"},
	};
	struct err e = {0};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		struct str text = policyfile_shipped(str_of(named[i].file));

		if (strcmp(named[i].name, name) == 0)
			return lapbelt_policy_from_bytes(text.p, text.n, named[i].file, options,
							 ret_policy, error);
	}
	(void)err_set(&e, ERR_POLICY, "there is no profile named '%s'", name);
	(void)err_hint(&e, "the names are no-network, no-internet, no-write, "
			   "no-write-except-temporary and pure-computation");
	return facade_fail(error, &e);
}

void lapbelt_policy_free(struct lapbelt_policy *policy)
{
	if (!policy)
		return;
	policy_free(policy->compiled);
	free(policy);
}

/* ---- The default policy ---- */

static int default_text(const struct lapbelt_default_options *own, struct buf *ret, struct err *e)
{
	struct default_facts facts;
	struct arena arena = {0};
	enum target target = TARGET_LINUX;
	int r;

	r = facade_take_target(own->target, &target, e);
	if (r == 0)
		r = session_facts(target, own->write, &arena, &facts, e);
	if (r == 0)
		r = policyfile_default(&facts, ret, e);
	arena_release(&arena);
	return r;
}

int lapbelt_default_profile(const struct lapbelt_default_options *options, char **ret_text,
			    struct lapbelt_error *error)
{
	struct lapbelt_default_options own = {0};
	struct buf buf = {0};
	struct err e = {0};
	int r;

	r = facade_take_options(&own, sizeof(own), options, &e);
	if (r == 0)
		r = default_text(&own, &buf, &e);
	return facade_text(r, &buf, &e, ret_text, error);
}

int lapbelt_policy_default(const struct lapbelt_default_options *options,
			   struct lapbelt_policy **ret_policy, struct lapbelt_error *error)
{
	struct lapbelt_policy_options compile = {.size = sizeof(compile)};
	struct lapbelt_default_options own = {0};
	struct buf text = {0};
	struct err e = {0};
	int r;

	r = facade_take_options(&own, sizeof(own), options, &e);
	if (r == 0)
		r = default_text(&own, &text, &e);
	if (r == 0 && text.failed)
		r = err_memory(&e);
	compile.target = own.target;
	r = r < 0 ? facade_fail(error, &e)
		  : lapbelt_policy_from_bytes(buf_str(&text).p, text.n, "<default policy>",
					      &compile, ret_policy, error);
	buf_release(&text);
	return r;
}
