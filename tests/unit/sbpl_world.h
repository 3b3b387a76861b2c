/* SPDX-License-Identifier: Apache-2.0 */
/* What profiles under test see, and how they are compiled. */
#ifndef UNIT_SBPL_WORLD_H
#define UNIT_SBPL_WORLD_H

#include "../test.h"

#include "sbpl/sbpl.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct sbpl_errors errors;

/* ---- A small world: parameters, and files that can be imported ---- */

static const struct sbpl_param params[] = {
	{{"HOME", 4}, {"/home/u", 7}},
	{{"EMPTY", 5}, {"", 0}},
	{{"HOME", 4}, {"/second", 7}},
};

static const struct {
	const char *name, *text;
} files[] = {
	{"good.sb", "(define (in-home p) (string-append (param \"HOME\") p))\n"
		    "(unless *import-path* (error \"not imported\"))\n"
		    "(allow file-read* (literal *import-path*))\n"},
	{"bad.sb", "(allow file-read*\n  (literal oops))\n(allow signal)\n(also)"},
	{"open.sb", "(allow signal)\n (allow (file"},
	{"outer.sb", "(import \"good.sb\")\n(allow file-write* (literal *import-path*))"},
	{"loop.sb", "(import \"pool.sb\")"},
	{"pool.sb", "(import \"loop.sb\")"},
};

static inline int import(void *context, struct str path, const char *from, struct arena *arena,
			 struct sbpl_source *ret, struct err *e)
{
	(void)context;
	for (size_t i = 0; i < COUNT(files); i++) {
		if (!str_is(path, files[i].name))
			continue;
		CHECK(from && *from);
		ret->name = arena_strdup(arena, path);
		ret->text.p = arena_strdup(arena, str_of(files[i].text));
		ret->text.n = strlen(files[i].text);
		return ret->name && ret->text.p ? 0 : err_set(e, ERR_LIMIT, "memory");
	}
	return err_set(e, ERR_POLICY, "unable to open %.*s", (int)path.n, path.p);
}

static inline struct sbpl_options options_default(void)
{
	return (struct sbpl_options){
		.target = TARGET_LINUX,
		.params = params,
		.n_params = COUNT(params),
		.import = import,
		.limits = SBPL_LIMITS_DEFAULT,
		.policy_limits = POLICY_LIMITS_DEFAULT,
	};
}

static inline int compile_text(struct str text, const struct sbpl_options *options,
			       struct policy **ret)
{
	struct sbpl_source source = {"p.sb", text, ORIGIN_PROFILE};

	*ret = NULL;
	return sbpl_compile(&source, 1, options, ret, &errors);
}

static inline int compile(const char *text, struct policy **ret)
{
	struct sbpl_options options = options_default();

	return compile_text(str_of(text), &options, ret);
}

/* ---- A profile as agents have it ---- */

static const char agent_profile[] =
	"(version 1)\n"
	"(deny default (with message \"agent\"))\n"
	";; what every program needs\n"
	"(define home (param \"HOME\"))\n"
	"(define (home-subpath p) (subpath (string-append home p)))\n"
	"(define (home-regex r) (regex (string-append \"^\" (regex-quote home) r)))\n"
	"(allow process-exec process-fork)\n"
	"(allow signal (target same-sandbox))\n"
	"(allow sysctl-read (sysctl-name \"hw.ncpu\") (sysctl-name-prefix \"kern.\"))\n"
	"(allow file-read* (subpath \"/usr\") (literal \"/\")\n"
	"  (require-all (home-subpath \"/src\") (vnode-type REGULAR-FILE)))\n"
	"(when (defined? 'syscall-unix) (allow syscall-unix))\n"
	"(if (param \"WRITABLE\")\n"
	"    (allow file-write* (subpath (param \"WRITABLE\")))\n"
	"    (allow file-write* (home-subpath \"/src\")))\n"
	"(deny file-write* (home-regex #\"/src/(.*/)?\\.git/hooks(/.*)?$\"))\n"
	"(let ((port \"8080\"))\n"
	"  (allow network-outbound (remote tcp (string-append \"localhost:\" port))))\n"
	"(for-each (lambda (name) (allow mach-lookup (global-name name)))\n"
	"          '(\"com.a\" \"com.b\"))\n";

#endif
