/* SPDX-License-Identifier: Apache-2.0 */
/* base: bounds, sticking errors, and what happens at the edges. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/pages.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/json.h"
#include "base/map.h"
#include "base/near.h"
#include "base/path.h"
#include "base/str.h"
#include "base/banned.h"

/* ---- arena ---- */

static void arena_gives_zeroed_aligned_memory(void)
{
	struct arena arena = {0};

	for (size_t size = 0; size < 3000; size += 7) {
		unsigned char *p = arena_alloc(&arena, size);

		CHECK(p != NULL);
		CHECK_INT((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			CHECK_INT(p[i], 0);
		memset(p, 0xff, size);
	}
	CHECK(arena_alloc(&arena, 1 << 20) != NULL);
	arena_release(&arena);
	CHECK_INT(arena.used, 0);
	CHECK(arena_alloc(&arena, 1) != NULL);
	arena_release(&arena);
}

static void arena_keeps_its_limit(void)
{
	struct arena arena = {.limit = 100};

	CHECK(arena_alloc(&arena, 64) != NULL);
	CHECK(arena_alloc(&arena, 64) == NULL);
	CHECK(arena_alloc(&arena, 16) != NULL);
	CHECK(arena_alloc(&arena, 32) == NULL);
	CHECK(arena_alloc(&arena, 101) == NULL);
	arena_release(&arena);
	CHECK(arena_alloc(&arena, 96) != NULL);
	arena_release(&arena);
}

static bool all_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static void arena_reset_keeps_one_block_and_clears_it(void)
{
	for (int large = 0; large < 2; large++) {
		struct arena arena = {.large = large};

		arena_reset(&arena);
		for (int round = 0; round < 3; round++) {
			for (size_t size = 100; size < 5 << 20; size *= 3) {
				unsigned char *p = arena_alloc(&arena, size);

				CHECK(p && all_zero(p, size));
				memset(p, 0xff, size);
			}
			arena_reset(&arena);
			CHECK_INT(arena.used, 0);
			CHECK(arena.head);
		}
		arena_release(&arena);
		CHECK(!arena.head);
	}
}

/* Blocks of many sizes, given back in another order than they were taken. */
static void pages_are_zero_and_apart(void)
{
	enum {
		N = 200
	};
	static unsigned char *p[N];
	static size_t size[N];

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < N; i++) {
			bool zero = true;

			size[i] = (i * 7919u + round * 131u) % 100000 + 1;
			p[i] = pages_take(size[i]);
			CHECK(p[i] != NULL);
			CHECK_INT((uintptr_t)p[i] % 4096, 0);
			for (size_t j = 0; p[i] && j < size[i]; j++)
				zero &= p[i][j] == 0;
			CHECK(zero);
			if (p[i])
				memset(p[i], (int)i + 1, size[i]);
		}
		for (unsigned i = 0; i < N; i++) {
			unsigned at = i * 37 % N; /* each once */
			bool own = true;

			for (size_t j = 0; p[at] && j < size[at]; j++)
				own &= p[at][j] == (unsigned char)(at + 1);
			CHECK(own);
			if (p[at])
				pages_give(p[at], size[at]);
			if (i == N / 2)
				pages_trim();
		}
	}
	pages_trim();
}

static void arena_grow_extends_the_last_array(void)
{
	struct arena arena = {.limit = 2000};
	size_t cap = 0, n = 0;
	uint32_t *array = NULL, *first, *other;

	array = first = arena_grow(&arena, NULL, 0, &cap, sizeof(*array));
	for (; n < 100; n++) {
		array = arena_grow(&arena, array, n, &cap, sizeof(*array));
		CHECK(array == first);
		CHECK_INT(array[n], 0);
		array[n] = UINT32_MAX;
	}
	other = arena_alloc(&arena, sizeof(*other));
	CHECK_INT(*other, 0);
	for (; n < 200; n++) {
		array = arena_grow(&arena, array, n, &cap, sizeof(*array));
		CHECK(array && array[n] == 0);
		array[n] = UINT32_MAX;
	}
	CHECK(array != first);
	CHECK_INT(*other, 0);
	while (n < cap)
		array[n++] = 1;
	CHECK(arena_grow(&arena, array, n, &cap, sizeof(*array)) == NULL); /* the limit */
	CHECK(arena.used <= 2000);
	arena_release(&arena);
}

static void arena_refuses_sizes_that_overflow(void)
{
	struct arena arena = {0};

	CHECK(arena_alloc(&arena, SIZE_MAX) == NULL);
	CHECK(arena_array(&arena, SIZE_MAX / 8 + 2, 8) == NULL);
	CHECK(arena_array(&arena, 3, SIZE_MAX / 2) == NULL);
	CHECK(arena_memdup(&arena, "", SIZE_MAX) == NULL);
	arena_release(&arena);
}

static void arena_grows_arrays(void)
{
	struct arena arena = {0};
	int *numbers = NULL;
	size_t cap = 0;

	for (int i = 0; i < 1000; i++) {
		numbers = arena_grow(&arena, numbers, (size_t)i, &cap, sizeof(*numbers));
		numbers[i] = i;
	}
	for (int i = 0; i < 1000; i++)
		CHECK_INT(numbers[i], i);
	CHECK(cap >= 1000);
	arena_release(&arena);
}

static void arena_copies_end_in_nul(void)
{
	struct arena arena = {0};
	char *copy = arena_memdup(&arena, "a\0b", 3);

	CHECK(memcmp(copy, "a\0b", 4) == 0);
	CHECK_STR(arena_strdup(&arena, (struct str){"path/rest", 4}), "path");
	CHECK_STR(arena_strdup(&arena, (struct str){0}), "");
	CHECK_STR(arena_printf(&arena, "%s=%d", "x", 7), "x=7");
	arena_release(&arena);
}

/* ---- buf ---- */

static void buf_collects(void)
{
	struct buf buf = {0};

	CHECK_STR(buf_str(&buf).p, "");
	buf_puts(&buf, "a");
	buf_putc(&buf, 'b');
	buf_add_str(&buf, STR("cd"));
	buf_printf(&buf, "%03d", 5);
	buf_add(&buf, NULL, 0);
	CHECK_STR(buf.p, "abcd005");
	CHECK_INT(buf.n, 7);
	buf_clear(&buf);
	CHECK_INT(buf.n, 0);
	buf_release(&buf);
}

static void buf_failure_sticks(void)
{
	struct buf buf = {.max = 8};

	buf_puts(&buf, "12345678");
	CHECK(!buf.failed);
	buf_putc(&buf, '9');
	CHECK(buf.failed);
	buf_clear(&buf);
	buf_puts(&buf, "1234");
	buf_printf(&buf, "%s", "56789");
	buf_puts(&buf, "5");
	CHECK_STR(buf.p, "1234");
	CHECK(buf_steal(&buf) == NULL);
	CHECK(buf.p == NULL);
	CHECK(buf_reserve(&buf, SIZE_MAX) == NULL);
	buf_release(&buf);
}

static void buf_hands_over(void)
{
	struct buf buf = {0};
	char *text = buf_steal(&buf);

	CHECK_STR(text, "");
	free(text);
	buf_puts(&buf, "x");
	text = buf_steal(&buf);
	CHECK_STR(text, "x");
	CHECK(buf.p == NULL && buf.n == 0);
	free(text);
}

static void escaping_leaves_nothing_that_drives_a_terminal(void)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"plain", "plain"},
		{"tab\tline\n", "tab\\x09line\\x0a"},
		{"\033[31m", "\\x1b[31m"},
		{"back\\slash", "back\\x5cslash"},
		{"\x7f", "\\x7f"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xc2\x9b", "\\xc2\\x9b"}, /* C1: CSI */
		{"\xc2\x9f\xc2\xa0", "\\xc2\\x9f\xc2\xa0"},
		{"a\xe2\x80\xae"
		 "b",
		 "a\\xe2\\x80\\xaeb"},            /* right to left from here */
		{"\xe2\x80\x8d", "\xe2\x80\x8d"}, /* joins emoji */
		{"\xe2\x81\xa6", "\\xe2\\x81\\xa6"},
		{"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},          /* a byte order mark */
		{"\xc0\xaf", "\\xc0\\xaf"},                   /* overlong */
		{"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},          /* overlong */
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* surrogate */
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* above U+10FFFF */
		{"\xe2\x82", "\\xe2\\x82"},                   /* cut short */
		{"\xc3", "\\xc3"},
		{"\xff", "\\xff"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf buf = {0};

		buf_add_escaped(&buf, str_of(rows[i].in));
		CHECK_STR(buf.p, rows[i].out);
		buf_release(&buf);
	}
}

/* What does not fit is cut off, not what comes before it. */
static void escaping_fills_what_room_there_is(void)
{
	struct buf buf = {.max = 10};

	buf_puts(&buf, "ab");
	buf_add_escaped(&buf, STR("0123456789abcdef\n"));
	CHECK(buf.failed);
	CHECK_STR(buf.p, "ab01234567");
	buf_release(&buf);
}

/* ---- str, map ---- */

static void numbers_end_with_the_slice(void)
{
	static const struct {
		const char *text;
		size_t n, digits;
		int number;
	} rows[] = {
		{"304", 3, 3, 304},
		{"30467", 3, 3, 304}, /* what lies behind the slice is none of its business */
		{"1/task/1", 8, 1, 1},
		{"0", 1, 1, 0},
		{"2147483647", 10, 10, 2147483647},
		{"2147483648", 10, 10, -1},
		{"99999999999999999999", 20, 10, -1},
		{"", 0, 0, -1},
		{"1", 0, 0, -1},
		{"-1", 2, 0, -1},
		{" 1", 2, 0, -1},
		{"self", 4, 0, -1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t digits;
		int number = str_number((struct str){rows[i].text, rows[i].n}, &digits);

		CHECK(number == rows[i].number);
		CHECK(digits == rows[i].digits);
	}
}

static void paths_end_at_components(void)
{
	CHECK(str_is_below(STR("/a/b"), STR("/a")));
	CHECK(str_is_below(STR("/a"), STR("/a")));
	CHECK(!str_is_below(STR("/ab"), STR("/a")));
	CHECK(!str_is_below(STR("/"), STR("/a")));
	CHECK(str_is_below(STR("/a"), STR("/")));
	CHECK(str_starts(STR("abc"), STR("")));
	CHECK(!str_starts(STR("ab"), STR("abc")));
	CHECK(str_eq((struct str){0}, STR("")));
	CHECK(!str_is((struct str){"ab", 1}, "ab"));
}

static void map_finds_what_was_put(void)
{
	struct arena arena = {0};
	struct map map = {.arena = &arena};
	static int values[2000];

	CHECK(map_get(&map, STR("none")) == NULL);
	for (int i = 0; i < 2000; i++)
		CHECK_INT(map_put(&map, str_of(arena_printf(&arena, "key%d", i)), &values[i]), 0);
	CHECK_INT(map.n, 2000);
	for (int i = 0; i < 2000; i++)
		CHECK(map_get(&map, str_of(arena_printf(&arena, "key%d", i))) == &values[i]);
	CHECK(map_get(&map, STR("key2000")) == NULL);
	CHECK_INT(map_put(&map, STR("key7"), &values[0]), 0);
	CHECK(map_get(&map, STR("key7")) == &values[0]);
	CHECK_INT(map.n, 2000);
	CHECK_INT(map_put(&map, (struct str){NULL, 0}, &values[1]), 0);
	CHECK(map_get(&map, STR("")) == &values[1]);
	arena_release(&arena);
}

static void map_says_when_memory_ends(void)
{
	struct arena arena = {.limit = 16 * sizeof(struct map_slot)};
	struct map map = {.arena = &arena};
	static const char keys[] = "abcdefghijklmnop";
	int put = 0;

	while (put < 16 && map_put(&map, (struct str){keys + put, 1}, &arena) == 0)
		put++;
	CHECK_INT(put, 8);
	CHECK(map_get(&map, STR("h")) != NULL);
	arena_release(&arena);
}

/* ---- err ---- */

static void errors_say_what_and_where(void)
{
	struct err e;

	CHECK_INT(err_set(&e, ERR_USAGE, "no %s", "luck"), -ERR_USAGE);
	CHECK_STR(e.text, "no luck");
	CHECK_INT(e.at.line, 0);
	CHECK_INT(err_hint(&e, "try %d", 2), -ERR_USAGE);
	CHECK_STR(e.hint, "try 2");
	CHECK_INT(err_wrap(&e, "in %s", "x.sb"), -ERR_USAGE);
	CHECK_STR(e.text, "in x.sb: no luck");
	errno = ENOENT;
	CHECK_INT(err_os(&e, "open"), -ERR_OS);
	CHECK_INT(e.os, ENOENT);
	CHECK_STR(e.text, "open: No such file or directory");
	CHECK_STR(e.hint, "");
	CHECK_INT(err_set(NULL, ERR_LIMIT, "nobody listens"), -ERR_LIMIT);
	CHECK_INT(err_memory(NULL), -ERR_MEMORY);
}

static void errors_keep_their_own_copy_of_the_file(void)
{
	char name[] = "a.sb";
	struct err e;

	CHECK_INT(err_at(&e, ERR_POLICY, (struct span){name, 3, 4}, "bad"), -ERR_POLICY);
	name[0] = 'z';
	CHECK_STR(e.file, "a.sb");
	CHECK_STR(e.at.file, "a.sb");
	CHECK_INT(e.at.line, 3);
	CHECK_INT(e.at.column, 4);
}

static void long_errors_are_cut(void)
{
	static char text[2000];
	struct err e;

	memset(text, 'x', sizeof(text) - 1);
	(void)err_set(&e, ERR_POLICY, "%s", text);
	CHECK_INT(strlen(e.text), sizeof(e.text) - 1);
	(void)err_wrap(&e, "%s", text);
	CHECK_INT(strlen(e.text), sizeof(e.text) - 1);
	(void)err_hint(&e, "%s", text);
	CHECK_INT(strlen(e.hint), sizeof(e.hint) - 1);
}

/* ---- io, fd ---- */

static void reading_stops_at_the_limit(void)
{
	char path[] = "/tmp/base_test.XXXXXX";
	int cleanup_fd fd = mkstemp(path);
	static char text[200000];
	struct buf buf = {0};

	memset(text, 'x', sizeof(text));
	CHECK(fd >= 0);
	CHECK_INT(io_write_full(fd, text, sizeof(text)), 0);
	CHECK_INT(io_read_file(AT_FDCWD, path, &buf, sizeof(text)), 0);
	CHECK_INT(buf.n, sizeof(text));
	buf_clear(&buf);
	CHECK_INT(io_read_file(AT_FDCWD, path, &buf, sizeof(text) - 1), -1);
	CHECK_INT(errno, EFBIG);
	buf_release(&buf);
	buf.max = 1000;
	CHECK_INT(io_read_file(AT_FDCWD, path, &buf, sizeof(text)), -1);
	CHECK_INT(errno, ENOMEM);
	buf_release(&buf);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(io_read_file(AT_FDCWD, path, &buf, 1), -1);
	CHECK_INT(errno, ENOENT);
}

static void a_fifo_does_not_block(void)
{
	char dir[] = "/tmp/base_test.XXXXXX";
	struct buf buf = {0};
	char path[64];

	CHECK(mkdtemp(dir) != NULL);
	(void)snprintf(path, sizeof(path), "%s/fifo", dir);
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_INT(io_read_file(AT_FDCWD, path, &buf, 10), 0);
	CHECK_INT(buf.n, 0);
	buf_release(&buf);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(rmdir(dir), 0);
}

static void half_a_record_is_an_error(void)
{
	char record[4];
	int ends[2];

	CHECK_INT(pipe(ends), 0);
	CHECK_INT(io_write_full(ends[1], "abcdef", 6), 0);
	CHECK_INT(io_read_full(ends[0], record, 4), 0);
	fd_close(&ends[1]);
	CHECK_INT(io_read_full(ends[0], record, 4), -1);
	CHECK_INT(errno, EPIPE);
	fd_close(&ends[0]);
	CHECK_INT(ends[0], -1);
	CHECK_INT(io_read_full(-1, record, 1), -1);
}

static void descriptors_are_handed_over(void)
{
	int fd = dup(0), taken;

	errno = ERANGE;
	taken = fd_steal(&fd);
	CHECK(taken >= 0);
	CHECK_INT(fd, -1);
	fd_close(&fd);
	fd_close(&taken);
	CHECK_INT(errno, ERANGE);
}

static void arena_keeps_its_content_when_trimmed(void)
{
	struct arena arena = {0};
	char *big = arena_alloc(&arena, 300000), *more;

	memset(big, 'x', 300000);
	arena_trim(&arena);
	CHECK(big[0] == 'x' && big[299999] == 'x');
	more = arena_alloc(&arena, 100000);
	CHECK(more != NULL && more[0] == 0 && more[99999] == 0);
	arena_release(&arena);
}

static void a_near_word_is_found(void)
{
	static const struct {
		const char *word, *best;
	} rows[] = {
		{"check", "check"},     {"hceck", "check"}, {"heck", "check"}, {"checkz", "check"},
		{"chick", "check"},     {"rnu", "run"},     {"ru", NULL},      {"make", NULL},
		{"cehkc", NULL},        {"", NULL},         {"tess", "test"},  {"decdie", "decide"},
		{"prfoile", "profile"},
	};
	static const char *const known[] = {"run", "check", "decide", "profile", "test", "tests"};
	char long_word[100] = {0};
	struct near near;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		near = (struct near){.word = str_of(rows[i].word)};
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			near_try(&near, known[k]);
		CHECK_STR(near.best ? near.best : "none", rows[i].best ? rows[i].best : "none");
	}
	memset(long_word, 'x', sizeof(long_word) - 1);
	near = (struct near){.word = str_of(long_word)};
	near_try(&near, long_word);
	CHECK(near.best == NULL);
}

static void a_near_slice_is_found(void)
{
	struct near near = {.word = STR("rnu")};

	CHECK(!near_try_str(&near, STR("check")));
	CHECK(near_try_str(&near, (struct str){"running", 3}));
	CHECK(!near_try_str(&near, STR("run")));
	CHECK(str_eq((struct str){near.best, 3}, STR("run")));
}

/* ---- path ---- */

static void paths_are_spelt_in_one_way(void)
{
	static const struct {
		const char *text;
		enum path_flaw flaw, prefix_flaw;
		const char *canonical; /* NULL: TEXT, or none */
	} rows[] = {
		{"/", PATH_CANONICAL, PATH_CANONICAL, NULL},
		{"/a", PATH_CANONICAL, PATH_CANONICAL, NULL},
		{"/a/.b/..c/...", PATH_CANONICAL, PATH_CANONICAL, NULL},
		{"", PATH_EMPTY, PATH_CANONICAL, NULL},
		{"a/b", PATH_RELATIVE, PATH_RELATIVE, NULL},
		{"//", PATH_SLASHES, PATH_SLASHES, "/"},
		{"//a", PATH_SLASHES, PATH_SLASHES, "/a"},
		{"/a//b", PATH_SLASHES, PATH_SLASHES, "/a/b"},
		{"/a//", PATH_SLASHES, PATH_SLASHES, "/a"},
		{"/a/", PATH_TRAILING, PATH_CANONICAL, "/a"},
		{"/.", PATH_DOT, PATH_CANONICAL, "/"},
		{"/./a", PATH_DOT, PATH_DOT, "/a"},
		{"/a/./", PATH_DOT, PATH_DOT, "/a"},
		{"/..", PATH_DOT_DOT, PATH_CANONICAL, "/"},
		{"/a/..", PATH_DOT_DOT, PATH_CANONICAL, "/"},
		{"/w/../etc", PATH_DOT_DOT, PATH_DOT_DOT, "/etc"},
		{"/a/b/../../../c", PATH_DOT_DOT, PATH_DOT_DOT, "/c"},
	};

	CHECK(path_flaw_text(PATH_CANONICAL) == NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = str_of(rows[i].text);
		struct buf canonical = {0};

		CHECK_INT(path_find_flaw(text), rows[i].flaw);
		CHECK_INT(path_find_prefix_flaw(text), rows[i].prefix_flaw);
		CHECK_INT(!path_flaw_text(rows[i].flaw), rows[i].flaw == PATH_CANONICAL);
		if (!str_starts(text, STR("/")))
			continue;
		path_put_canonical(&canonical, text);
		CHECK(str_is(buf_str(&canonical),
			     rows[i].canonical ? rows[i].canonical : rows[i].text));
		buf_release(&canonical);
	}
}

static void links_of_macos_are_known(void)
{
	CHECK(path_is_darwin_link(STR("/tmp")) && path_is_darwin_link(STR("/ETC")));
	CHECK(!path_is_darwin_link(STR("/tmp/x")) && !path_is_darwin_link(STR("/tm")));
	CHECK(path_is_behind_darwin_link(STR("/var/run")));
	CHECK(path_is_behind_darwin_link(STR("/Tmp/x")));
	CHECK(!path_is_behind_darwin_link(STR("/tmp")));
	CHECK(!path_is_behind_darwin_link(STR("/private/tmp/x")));
	CHECK(!path_is_behind_darwin_link(STR("/various/x")));
}

static void arenas_share_a_pool(void)
{
	struct arena_pool pool = {.memory = 256};
	struct arena one = {.pool = &pool}, other = {.pool = &pool};

	CHECK(arena_alloc(&one, 128));
	CHECK(!arena_alloc(&other, 144));
	CHECK(arena_alloc(&other, 128));
	CHECK(!arena_alloc(&one, 1));
	arena_release(&one);
	CHECK(arena_alloc(&other, 128));
	arena_release(&other);
	CHECK_INT(pool.memory, 256);
}

static void json_is_written(void)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"", "\"\""},
		{"a/b", "\"a/b\""},
		{"\"\\", "\"\\\"\\\\\""},
		{"\n\x1b\x7f", "\"\\u000a\\u001b\\u007f\""},
		{"\xc3\xa9", "\"\xc3\xa9\""},
		{"\xc2\x9b", "\"\\u009b\""}, /* a control character */
		{"\xff\xc3", "\"\\udcff\\udcc3\""},
		{"\xed\xb3\xbf", "\"\\udced\\udcb3\\udcbf\""}, /* no surrogate of ours */
	};
	struct buf buf = {.p = NULL};
	struct json json = {.buf = &buf};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_add_json(&buf, str_of(rows[i].in));
		CHECK_STR(buf.p, rows[i].out);
		buf_clear(&buf);
	}
	json_open(&json, NULL, '{');
	json_open(&json, "none", '[');
	json_close(&json);
	json_open(&json, "some", '[');
	json_number(&json, NULL, -7);
	json_bool(&json, NULL, true);
	json_null(&json, NULL);
	json_close(&json);
	json_string(&json, "k\"", STR("v"));
	json_close(&json);
	CHECK_STR(buf.p, "{\n  \"none\": [],\n  \"some\": [\n    -7,\n    true,\n    null\n"
			 "  ],\n  \"k\\\"\": \"v\"\n}\n");
	buf_release(&buf);
}

int main(void)
{
	RUN(arenas_share_a_pool);
	RUN(arena_keeps_its_content_when_trimmed);
	RUN(arena_gives_zeroed_aligned_memory);
	RUN(arena_keeps_its_limit);
	RUN(arena_reset_keeps_one_block_and_clears_it);
	RUN(pages_are_zero_and_apart);
	RUN(arena_grow_extends_the_last_array);
	RUN(arena_refuses_sizes_that_overflow);
	RUN(arena_grows_arrays);
	RUN(arena_copies_end_in_nul);
	RUN(buf_collects);
	RUN(buf_failure_sticks);
	RUN(buf_hands_over);
	RUN(escaping_leaves_nothing_that_drives_a_terminal);
	RUN(json_is_written);
	RUN(escaping_fills_what_room_there_is);
	RUN(paths_end_at_components);
	RUN(numbers_end_with_the_slice);
	RUN(map_finds_what_was_put);
	RUN(map_says_when_memory_ends);
	RUN(a_near_word_is_found);
	RUN(a_near_slice_is_found);
	RUN(paths_are_spelt_in_one_way);
	RUN(links_of_macos_are_known);
	RUN(errors_say_what_and_where);
	RUN(errors_keep_their_own_copy_of_the_file);
	RUN(long_errors_are_cut);
	RUN(reading_stops_at_the_limit);
	RUN(a_fifo_does_not_block);
	RUN(half_a_record_is_an_error);
	RUN(descriptors_are_handed_over);
	return test_done();
}
