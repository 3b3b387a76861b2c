/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default policy's text: facts as definitions, then share/profiles/default-SYSTEM.sb and
 * default.sb, where every rule stands. There is nothing here that decides.
 */
#include <string.h>

#include "base/arena.h"
#include "policyfile/policyfile.h"
#include "policyfile/secrets.h"
#include "policyfile/shipped.h"
#include "base/banned.h"

struct list {
	struct arena *arena;
	struct str *items;
	size_t n, cap;
	bool failed;
};

static void list_add(struct list *list, struct str item)
{
	struct str *items =
		arena_grow(list->arena, list->items, list->n, &list->cap, sizeof(*items));

	if (!items) {
		list->failed = true;
		return;
	}
	list->items = items;
	list->items[list->n++] = item;
}

static void list_add_once(struct list *list, struct str item)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->items[i], item))
			return;
	list_add(list, item);
}

/* ---- Text ---- */

/* A string literal that reads back as exactly S. */
static void put_string(struct buf *ret, struct str s)
{
	buf_putc(ret, '"');
	while (s.n) {
		const char *quote = memchr(s.p, '"', s.n);
		size_t n = quote ? (size_t)(quote - s.p) : s.n;

		buf_add_escaped(ret, (struct str){s.p, n});
		if (quote) {
			buf_puts(ret, "\\\"");
			n++;
		}
		s = (struct str){s.p + n, s.n - n};
	}
	buf_putc(ret, '"');
}

static void put_definition(struct buf *ret, const char *name, struct str value)
{
	buf_printf(ret, "(define %s ", name);
	put_string(ret, value);
	buf_puts(ret, ")\n");
}

static void put_list(struct buf *ret, const char *name, const struct list *list)
{
	buf_printf(ret, "(define %s (list", name);
	for (size_t i = 0; i < list->n; i++) {
		buf_puts(ret, "\n  ");
		put_string(ret, list->items[i]);
	}
	buf_puts(ret, "))\n");
}

/* ---- Lists ---- */

static void list_write_roots(struct list *ret, const struct default_facts *facts)
{
	list_add(ret, facts->cwd);
	for (size_t i = 0; i < facts->n_write; i++)
		list_add_once(ret, facts->write[i]);
	for (size_t i = 0; i < facts->n_git; i++)
		list_add_once(ret, facts->git[i].path);
}

static struct str secret_path(struct arena *arena, const char *base, const char *name,
			      struct str home)
{
	const struct str parts[] = {home, STR("/"), str_of(base), str_of(name)};
	size_t skip = base[0] == '/' ? 2 : 0;

	return str_of(arena_join(arena, parts + skip, sizeof(parts) / sizeof(*parts) - skip));
}

/* The usual names below HOME. */
static void list_usual_secrets(struct list *ret, const struct default_facts *facts, struct str home)
{
	for (size_t i = 0; i < policyfile_n_secrets; i++) {
		const struct secret *secret = &policyfile_secrets[i];
		const char *base = policyfile_secret_base(secret->base);
		struct str path;

		if (!secret_is_on(secret, facts->target) || !base)
			continue;
		if (base[0] == '/' && !str_eq(home, facts->home))
			continue;
		path = secret_path(ret->arena, base, secret->name, home);
		if (!path.p)
			ret->failed = true;
		else
			list_add(ret, path);
	}
}

static void list_secrets(struct list *ret, const struct default_facts *facts)
{
	list_usual_secrets(ret, facts, facts->home);
	if (facts->other_home.n)
		list_usual_secrets(ret, facts, facts->other_home);
	for (size_t i = 0; i < facts->n_secrets; i++)
		list_add_once(ret, facts->secrets[i]);
}

static struct str parent_of(struct str path)
{
	do
		path.n--;
	while (path.n > 1 && path.p[path.n] != '/');
	return path;
}

/* Adds PATH and what leads to it from ROOT, if it lies below that. */
static void pin(struct list *pinned, struct str path, struct str root)
{
	if (!str_is_below(path, root))
		return;
	for (; path.n > root.n; path = parent_of(path))
		list_add_once(pinned, path);
}

/* Where moving a directory would take something protected out from under its name. */
static void list_pinned(struct list *ret, const struct default_facts *facts,
			const struct list *roots, const struct list *secrets)
{
	list_add_once(ret, facts->home);
	list_add_once(ret, facts->tmpdir);
	for (size_t i = 0; i < roots->n; i++)
		list_add_once(ret, roots->items[i]);
	for (size_t i = 0; i <= roots->n; i++) {
		struct str root = i < roots->n ? roots->items[i] : facts->tmpdir;

		pin(ret, facts->home, root);
		for (size_t k = 0; k < roots->n; k++)
			pin(ret, roots->items[k], root);
		for (size_t k = 0; k < secrets->n; k++)
			pin(ret, parent_of(secrets->items[k]), root);
		for (size_t k = 0; k < facts->n_obeyed; k++)
			pin(ret, parent_of(facts->obeyed[k]), root);
		for (size_t k = 0; k < facts->n_ways; k++)
			pin(ret, facts->ways[k], root);
	}
}

static void list_git(struct list *directories, struct list *pointers,
		     const struct default_facts *facts)
{
	for (size_t i = 0; i < facts->n_git; i++) {
		list_add(directories, facts->git[i].path);
		if (facts->git[i].work_tree_pointer.n)
			list_add_once(pointers, facts->git[i].work_tree_pointer);
	}
}

/* ---- All of it ---- */

static int put_facts(const struct default_facts *facts, struct arena *arena, struct buf *ret,
		     struct err *e)
{
	struct list roots = {arena}, pinned = {arena}, directories = {arena}, pointers = {arena};
	struct list secrets = {arena}, terminals = {arena}, kept = {arena}, obeyed = {arena};

	list_write_roots(&roots, facts);
	list_secrets(&secrets, facts);
	list_pinned(&pinned, facts, &roots, &secrets);
	list_git(&directories, &pointers, facts);
	for (size_t i = 0; i < facts->n_obeyed; i++)
		list_add(&obeyed, facts->obeyed[i]);
	if (facts->tty.n)
		list_add(&terminals, facts->tty);
	if (str_is_below(facts->home, facts->tmpdir))
		list_add(&kept, facts->home);
	if (roots.failed || secrets.failed || pinned.failed || directories.failed ||
	    pointers.failed || terminals.failed || kept.failed || obeyed.failed)
		return err_memory(e);

	put_definition(ret, "home", facts->home);
	put_definition(ret, "cwd", facts->cwd);
	put_definition(ret, "tmpdir", facts->tmpdir);
	put_list(ret, "write-roots", &roots);
	put_list(ret, "kept", &kept);
	put_list(ret, "pinned", &pinned);
	put_list(ret, "git-directories", &directories);
	put_list(ret, "git-pointers", &pointers);
	put_list(ret, "obeyed", &obeyed);
	put_list(ret, "terminals", &terminals);
	put_list(ret, "secrets", &secrets);
	return 0;
}

int policyfile_default(const struct default_facts *facts, struct buf *ret, struct err *e)
{
	static const struct {
		const char *scope, *profile;
	} systems[] = {
		[TARGET_LINUX] = {";; scope: private pid, ipc, net, tmp, shm, pts\n",
				  "default-linux.sb"},
		[TARGET_DARWIN] = {";; scope: shared pid, ipc, net, tmp, shm, pts\n",
				   "default-darwin.sb"},
	};
	struct arena arena = {0};
	int r;

	buf_puts(ret, systems[facts->target].scope);
	buf_puts(ret, "(version 1)\n\n");
	r = put_facts(facts, &arena, ret, e);
	arena_release(&arena);
	if (r < 0)
		return r;
	buf_putc(ret, '\n');
	buf_add_str(ret, policyfile_shipped(str_of(systems[facts->target].profile)));
	buf_putc(ret, '\n');
	buf_add_str(ret, policyfile_shipped(STR("default.sb")));
	return ret->failed ? err_memory(e) : 0;
}
