/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/fresh.h"
#include "test.h"

static bool has(const struct fresh *fresh, const char *path)
{
	return fresh_has(fresh, str_of(path));
}

static void notes_what_matters(void)
{
	static const struct {
		const char *path;
		bool matters;
	} rows[] = {
		{"/w/.git", true},
		{"/w/a/b/.git", true},
		{"/w/.git/worktrees/x", true},
		{"/w/.git/modules/x", true},
		{"/w/.git/modules/a/modules/b", true},
		{"/w/git", false},
		{"/w/.github", false},
		{"/w/.git/objects", false},
		{"/w/.git/worktrees", false},
		{"/w/worktrees/x", false}, /* not inside a git directory */
		{"/w/modules/x", false},
		{"/w/.git/modules/x/y", false}, /* not directly below */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fresh fresh = {0};

		fresh_made(&fresh, str_of(rows[i].path));
		CHECK_INT(has(&fresh, rows[i].path), rows[i].matters);
		fresh_release(&fresh);
	}
}

static void holds_below_at_component_boundaries(void)
{
	struct fresh fresh = {0};

	fresh_made(&fresh, STR("/w/.git"));
	CHECK(has(&fresh, "/w/.git/config"));
	CHECK(!has(&fresh, "/w/.git/modules/a/config")); /* one of its own */
	CHECK(!has(&fresh, "/w/.gitx"));
	CHECK(!has(&fresh, "/w"));
	CHECK(!has(&fresh, "/v/.git/config"));
	fresh_release(&fresh);
}

static void follows_moves(void)
{
	struct fresh fresh = {0};

	fresh_made(&fresh, STR("/w/a/.git"));
	fresh_made(&fresh, STR("/w/b/.git"));
	fresh_moved(&fresh, STR("/w/a"), STR("/w/c/d"));
	CHECK(!has(&fresh, "/w/a/.git/config"));
	CHECK(has(&fresh, "/w/c/d/.git/config"));
	CHECK(has(&fresh, "/w/b/.git/config"));
	fresh_release(&fresh);
}

static void what_moves_in_stays_old(void)
{
	struct fresh fresh = {0};

	fresh_made(&fresh, STR("/w/a/.git"));
	CHECK(has(&fresh, "/w/a/.git/config"));
	CHECK(!has(&fresh, "/w/a/.git/nested/.git/config"));
	CHECK(!has(&fresh, "/w/a/.git/modules/old/config"));
	/* An old one takes its place. */
	fresh_moved(&fresh, STR("/w/old/.git"), STR("/w/a/.git"));
	CHECK(!has(&fresh, "/w/a/.git/config"));
	/* It goes where its name says nothing, and something else is put below it. */
	fresh_made(&fresh, STR("/w/b/.git"));
	fresh_moved(&fresh, STR("/w/b/.git"), STR("/w/b/x"));
	CHECK(!has(&fresh, "/w/b/x/config"));
	CHECK(!has(&fresh, "/w/b/x/.git/config"));
	fresh_release(&fresh);
}

static void forgets_what_was_removed(void)
{
	struct fresh fresh = {0};

	fresh_made(&fresh, STR("/w/a/.git"));
	fresh_made(&fresh, STR("/w/ab/.git"));
	fresh_removed(&fresh, STR("/w/a"));
	CHECK(!has(&fresh, "/w/a/.git"));
	CHECK(has(&fresh, "/w/ab/.git"));
	fresh_release(&fresh);
}

int main(void)
{
	RUN(notes_what_matters);
	RUN(holds_below_at_component_boundaries);
	RUN(follows_moves);
	RUN(what_moves_in_stays_old);
	RUN(forgets_what_was_removed);
	return test_done();
}
