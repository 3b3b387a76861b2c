/* SPDX-License-Identifier: Apache-2.0 */
/* Names of what is mounted twice. */
#include "session/mounts.h"

#include <limits.h>

#include "test.h"

static const char table[] = "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
			    "21 20 0:5 / /dev rw - devtmpfs devtmpfs rw\n"
			    "22 20 8:2 / /home rw - ext4 /dev/sda2 rw\n"
			    "23 20 8:1 / /mnt/wsl\\040g/distro ro - ext4 /dev/root rw\n"
			    "24 22 8:2 /u/.aws /srv/keys rw - ext4 /dev/sda2 rw\n"
			    "25 20 8:1 /var/data /data rw - ext4 /dev/root rw\n"
			    "26 20 8:3 /a /a rw - ext4 /dev/sda3 rw\n"
			    "27 20 8:3 /b /b rw - ext4 /dev/sda3 rw\n"
			    "28 27 0:9 / /mnt/wsl\\040g/distro/tmp rw - tmpfs tmpfs rw\n"
			    "broken\n";

static void finds_all_names(void)
{
	static const struct {
		const char *path, *names[3];
	} rows[] = {
		{"/etc/passwd", {"/mnt/wsl g/distro/etc/passwd"}},
		{"/mnt/wsl g/distro/etc", {"/etc"}},
		{"/home/u/.aws", {"/srv/keys"}},
		{"/home/u/.aws/x", {"/srv/keys/x"}},
		{"/home/u", {"/srv/keys"}}, /* of what is below */
		{"/srv/keys", {"/home/u/.aws"}},
		{"/var/data/x", {"/mnt/wsl g/distro/var/data/x", "/data/x"}},
		{"/data", {"/var/data", "/mnt/wsl g/distro/var/data"}},
		{"/dev/null", {NULL}},
		{"/a/x", {NULL}},
		{"/tmp/x", {NULL}}, /* something else lies over it */
		{"/mnt/wsl g/distro/tmp/x", {NULL}},
	};
	struct arena arena = {0};
	struct mounts mounts;

	CHECK_INT(mounts_parse(&mounts, str_of(table), &arena, NULL), 0);
	CHECK(mounts.any_again);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct paths found = {.arena = &arena};
		size_t n = 0;

		CHECK_INT(mounts_add_names(&mounts, str_of(rows[i].path), &found, NULL), 0);
		for (; n < 3 && rows[i].names[n]; n++)
			CHECK(paths_hold(&found, str_of(rows[i].names[n])));
		CHECK_INT(found.n, n);
	}
	arena_release(&arena);
}

static void knows_the_first(void)
{
	static const struct {
		const char *path, *first;
	} rows[] = {
		{"/mnt/wsl g/distro", "/"},
		{"/mnt/wsl g/distro/etc", "/etc"},
		{"/mnt/wsl g/distro/dev", NULL}, /* what it was is under another mount */
		{"/mnt/wsl g", NULL},
		{"/etc", NULL},
		{"/srv/keys/x", "/home/u/.aws/x"},
		{"/home/u/.aws/x", NULL},
		{"/data", "/var/data"},
		{"/b/x", NULL},
	};
	struct arena arena = {0};
	struct mounts mounts;
	char name[PATH_MAX];

	CHECK_INT(mounts_parse(&mounts, str_of(table), &arena, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool found = mounts_first_name(&mounts, rows[i].path, name);

		CHECK_INT(found, rows[i].first != NULL);
		if (found)
			CHECK_STR(name, rows[i].first);
	}
	arena_release(&arena);
}

static void knows_whether_any_is_mounted_twice(void)
{
	static const struct {
		const char *table;
		bool any;
	} rows[] = {
		{"26 20 8:3 /a /a rw\n27 20 8:3 /ab /b rw\n", false},
		{"26 20 8:3 /a /a rw\n27 20 8:3 /a/b /b rw\n", true},
		{"26 20 8:3 /a/b /b rw\n27 20 8:3 /a /a rw\n", true},
		{"26 20 8:3 / / rw\n27 26 8:3 / / ro\n", false},
		{"26 20 8:3 / / rw\n27 26 8:3 /nix/store /nix/store ro\n", false},
		{"26 20 8:3 / / rw\n27 26 8:3 / /b ro\n28 27 8:4 / /b rw\n", false},
		{"26 20 8:3 / / rw\n27 26 8:3 /x /b ro\n28 27 8:4 / /x rw\n", false},
		{"26 20 8:3 / / rw\n27 26 8:4 / /b ro\n", false},
	};
	struct arena arena = {0};
	struct mounts mounts;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(mounts_parse(&mounts, str_of(rows[i].table), &arena, NULL), 0);
		CHECK(mounts.n >= 2);
		CHECK_INT(mounts.any_again, rows[i].any);
	}
	arena_release(&arena);
}

static void what_is_above_the_root_is_everything(void)
{
	struct str above[] = {STR("/b"), STR("/c/d")};
	struct arena arena = {0};
	struct mounts mounts;
	char name[PATH_MAX];

	CHECK_INT(mounts_parse(&mounts, STR("26 20 8:3 / / rw\n27 26 8:4 / /b rw\n"), &arena, NULL),
		  0);
	CHECK(mounts_is_apart(&mounts, STR("/b/x")));
	CHECK(!mounts_is_apart(&mounts, STR("/c")));
	CHECK(!mounts_first_name(&mounts, "/b", name));
	mounts.above = above;
	mounts.n_above = 2;
	CHECK(mounts_is_above(&mounts, STR("/b")));
	CHECK(!mounts_is_above(&mounts, STR("/b/x")));
	CHECK(mounts_first_name(&mounts, "/c/d", name));
	CHECK_STR(name, "/");
	CHECK(!mounts_first_name(&mounts, "/c/d/e", name));
	arena_release(&arena);
	CHECK_INT(mounts_parse(&mounts, STR("27 26 8:4 / /b rw\n"), &arena, NULL), 0);
	CHECK(mounts_is_apart(&mounts, STR("/c")));
	arena_release(&arena);
}

int main(void)
{
	RUN(finds_all_names);
	RUN(knows_the_first);
	RUN(knows_whether_any_is_mounted_twice);
	RUN(what_is_above_the_root_is_everything);
	return test_done();
}
