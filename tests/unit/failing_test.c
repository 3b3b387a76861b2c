/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that ends at the n-th request, for every n: nothing crashes, leaks (the sanitizers would
 * say) or goes on with half of a policy. The linker puts the functions below before malloc() and
 * its kin and before those of arenas, wherever our objects call them.
 */
#include "test.h"

#include <sys/mman.h>

#include <lapbelt.h>

#include "cli/sbt.h"
#include "sbpl/sbpl.h"

#include "base/banned.h"

/* ---- Requests that fail ---- */

static unsigned long left; /* until one fails; 0: none does */
static bool stays;         /* all that follow fail too */
static bool has_failed;

static bool fails(void)
{
	if (has_failed && stays)
		return true;
	if (left == 0 || --left > 0)
		return false;
	has_failed = true;
	return true;
}

#define WRAP(type, name, parameters, arguments)                                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return fails() ? NULL : __real_##name arguments;                                   \
	}

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, arena_alloc, (struct arena * arena, size_t n), (arena, n))
WRAP(void *, arena_array, (struct arena * arena, size_t n, size_t size), (arena, n, size))
WRAP(void *, arena_enlarge, (struct arena * arena, void *p, size_t *cap, size_t size),
     (arena, p, cap, size))
WRAP(char *, arena_memdup, (struct arena * arena, const void *p, size_t n), (arena, p, n))
WRAP(char *, arena_strdup, (struct arena * arena, struct str s), (arena, s))

void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return fails() ? MAP_FAILED : __real_mmap(at, n, protection, flags, fd, offset);
}

/* ---- What is tried ---- */

/* One of everything. */
static const char profile[] =
	"(version 1)\n"
	"(deny default (with message \"no\"))\n"
	"(define home (param \"HOME\"))\n"
	"(define-macro (twice x) `(begin ,x ,@(list x)))\n"
	"(define (below . names) (map (lambda (n) (subpath (string-append home \"/\" n))) names))\n"
	"(twice (allow file-read* (literal \"/\") (prefix \"/usr\") (regex "
	"#\"^/lib(64)?/.*\\.so$\")))\n"
	"(apply allow file-write* (below \"a\" \"b\"))\n"
	"(with-filter (require-not (vnode-type SYMLINK))\n"
	"  (deny file-write* (regex #\"/\\.git/(hooks|config)(/|$)\") (with errno EACCES)))\n"
	"(let loop ((i 0)) (when (< i 3) (allow file-ioctl (path-ancestors \"/a/b\")) (loop (+ i "
	"1))))\n"
	"(allow network-outbound (remote tcp \"localhost:8080\") (remote unix (literal \"/s\")))\n"
	"(allow mach-lookup (global-name \"a\") (global-name-regex #\"b.*c\"))\n"
	"(allow sysctl-read (sysctl-name \"kern.x\") (sysctl-name-prefix \"hw.\"))\n"
	"(allow signal (target self))\n"
	"(allow file-read-xattr (require-all (xattr \"u\") (require-any (subpath \"/x\") "
	"(file-mode 4))))\n"
	"(do ((i 0 (+ i 1))) ((= i 2)) (force (delay (list->string (string->list \"ab\")))))\n"
	"(import \"system.sb\")\n";

static const char table[] =
	"=== t\n@param A=b\n(version 1)\n---\na \"b\" c => allow x:1\n!! 1:1 m\n";

/* Each is 0 and right, or an error code with a text. False: neither. */
static bool check_error(int r, const char *text)
{
	return r < 0 && text[0];
}

static bool check_facade(int r, const struct lapbelt_error *error)
{
	if (r == -LAPBELT_MEMORY || r == -LAPBELT_LIMIT || r == -LAPBELT_OS ||
	    r == -LAPBELT_POLICY || r == -LAPBELT_CONFIG)
		return check_error(r, error->text) && (int)error->code == -r;
	return false;
}

static bool decides(const struct lapbelt_policy *policy, const char *op, const char *path,
		    int allowed)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	const char *arguments[] = {path, NULL};
	struct lapbelt_decision decision;
	int r = lapbelt_decide(policy, op, arguments, &decision, &error);

	return r == 0 ? decision.allowed == allowed : check_facade(r, &error);
}

static bool try_text(enum lapbelt_target target)
{
	static const struct lapbelt_param params[] = {{"HOME", "/home/u"}};
	struct lapbelt_policy_options options = {.size = sizeof(options),
						 .target = target,
						 .flags = LAPBELT_POLICY_RUNTIME,
						 .params = params,
						 .n_params = 1};
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy = NULL;
	int r = lapbelt_policy_from_text(profile, "p.sb", &options, &policy, &error);
	bool ok;

	if (r < 0)
		return !policy && check_facade(r, &error);
	ok = decides(policy, "file-read-data", "/usr/lib/x", 1) &&
	     decides(policy, "file-write-data", "/home/u/a/x", 1) &&
	     decides(policy, "file-write-data", "/home/u/a/.git/hooks/x", 0) &&
	     decides(policy, "file-write-data", "/home/u/c/x", 0);
	lapbelt_policy_free(policy);
	return ok;
}

static bool try_linux(void)
{
	return try_text(LAPBELT_TARGET_LINUX);
}

static bool try_darwin(void)
{
	return try_text(LAPBELT_TARGET_DARWIN);
}

static bool try_default(void)
{
	struct lapbelt_default_options options = {.size = sizeof(options)};
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	const char *write[] = {".", NULL};
	char *text = NULL;
	int r;

	options.write = write;
	r = lapbelt_default_profile(&options, &text, &error);
	if (r < 0)
		return !text && check_facade(r, &error);
	r = text[0] ? 0 : -1;
	lapbelt_free(text);
	return r == 0;
}

static bool try_name(void)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_policy *policy = NULL;
	int r = lapbelt_policy_from_name("no-write", NULL, &policy, &error);
	bool ok;

	if (r < 0)
		return !policy && check_facade(r, &error);
	ok = decides(policy, "file-write-data", "/x", 0) &&
	     decides(policy, "file-read-data", "/x", 1);
	lapbelt_policy_free(policy);
	return ok;
}

static bool try_table(void)
{
	struct arena arena = {0};
	struct sbt_file file = {0};
	struct err e = {0};
	int r = sbt_parse(str_of(table), "t", &arena, &file, &e);
	bool ok = r == 0 ? file.n == 1 && file.cases[0].n_rows == 2 : check_error(r, e.text);

	arena_release(&arena);
	return ok;
}

/* Every request in turn where they are few; else the first ones, and every STEP-th. */
static void fail_in_turn(bool (*attempt)(void), bool forever, unsigned long step)
{
	unsigned long n = 1;
	unsigned bad = 0;

	stays = forever;
	for (;; n += n < 50 || getenv("LAPBELT_FAIL_ALL") ? 1 : step) {
		has_failed = false;
		left = n;
		if (!attempt() && bad++ == 0)
			printf("# the first to go wrong is request %lu\n", n);
		left = 0;
		if (!has_failed)
			break;
	}
	has_failed = false;
	CHECK_INT(bad, 0);
	CHECK(n > 10);
	printf("# %lu requests\n", n);
}

static void a_profile_for_linux(void)
{
	fail_in_turn(try_linux, false, 61);
	fail_in_turn(try_linux, true, 67);
}

static void a_profile_for_darwin(void)
{
	fail_in_turn(try_darwin, false, 131);
}

static void a_profile_by_name(void)
{
	fail_in_turn(try_name, false, 61);
	fail_in_turn(try_name, true, 67);
}

static void the_default_profile(void)
{
	fail_in_turn(try_default, false, 7);
	fail_in_turn(try_default, true, 7);
}

static void a_table(void)
{
	fail_in_turn(try_table, false, 1);
	fail_in_turn(try_table, true, 1);
}

int main(void)
{
	RUN(a_profile_for_linux);
	RUN(a_profile_for_darwin);
	RUN(a_profile_by_name);
	RUN(the_default_profile);
	RUN(a_table);
	return test_done();
}
