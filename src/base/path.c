/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include "base/banned.h"

static enum path_flaw flaw_of_name(struct str name)
{
	if (name.n == 0)
		return PATH_SLASHES;
	if (str_is(name, "."))
		return PATH_DOT;
	return str_is(name, "..") ? PATH_DOT_DOT : PATH_CANONICAL;
}

/* Takes the next name off PATH, which begins with a slash. */
static struct str next_name(struct str *path)
{
	struct str name = str_skip(*path, 1);
	const char *slash = name.n ? memchr(name.p, '/', name.n) : NULL;

	if (slash)
		name.n = (size_t)(slash - name.p);
	*path = str_skip(*path, name.n + 1);
	return name;
}

static enum path_flaw find_flaw(struct str text, bool may_go_on)
{
	enum path_flaw flaw = PATH_CANONICAL;
	struct str left = text;

	if (text.n == 0)
		return PATH_EMPTY;
	if (text.p[0] != '/')
		return PATH_RELATIVE;
	while (left.n > 1 && flaw == PATH_CANONICAL) {
		struct str name = next_name(&left);

		if (left.n > 0 || !may_go_on)
			flaw = flaw_of_name(name);
	}
	if (flaw == PATH_CANONICAL && left.n == 1 && text.n > 1 && !may_go_on)
		flaw = PATH_TRAILING;
	return flaw;
}

enum path_flaw path_find_flaw(struct str text)
{
	return find_flaw(text, false);
}

enum path_flaw path_find_prefix_flaw(struct str text)
{
	return text.n == 0 ? PATH_CANONICAL : find_flaw(text, true);
}

const char *path_flaw_text(enum path_flaw flaw)
{
	static const char *const texts[] = {
		[PATH_CANONICAL] = NULL,
		[PATH_EMPTY] = "a path is never empty",
		[PATH_RELATIVE] = "paths begin with a slash",
		[PATH_SLASHES] = "no path has two slashes in a row",
		[PATH_DOT] = "no path has a '.' between slashes",
		[PATH_DOT_DOT] = "no path has a '..' between slashes",
		[PATH_TRAILING] = "no path ends in a slash",
	};

	return texts[flaw];
}

void path_put_canonical(struct buf *ret, struct str text)
{
	while (text.n > 0) {
		struct str name = next_name(&text);

		if (str_is(name, "..")) {
			while (ret->n > 0 && ret->p[--ret->n] != '/')
				continue;
		} else if (name.n > 0 && !str_is(name, ".")) {
			buf_putc(ret, '/');
			buf_add_str(ret, name);
		}
	}
	if (ret->n == 0)
		buf_putc(ret, '/');
}

const struct str path_darwin_links[PATH_DARWIN_LINKS] = {
	{"/tmp/", 5},
	{"/var/", 5},
	{"/etc/", 5},
};

bool path_starts_folded(struct str path, struct str prefix)
{
	bool same = path.n >= prefix.n;

	for (size_t i = 0; i < prefix.n && same; i++)
		same = str_fold(path.p[i]) == str_fold(prefix.p[i]);
	return same;
}

bool path_is_darwin_link(struct str path)
{
	bool found = false;

	for (size_t i = 0; i < PATH_DARWIN_LINKS && !found; i++) {
		struct str link = {path_darwin_links[i].p, path_darwin_links[i].n - 1};

		found = path.n == link.n && path_starts_folded(path, link);
	}
	return found;
}

bool path_is_behind_darwin_link(struct str path)
{
	bool found = false;

	for (size_t i = 0; i < PATH_DARWIN_LINKS && !found; i++)
		found = path_starts_folded(path, path_darwin_links[i]);
	return found;
}
