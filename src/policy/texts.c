/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pattern can match a path only if its text is the beginning of the path. In
 * a sorted list the last text that is not greater than the path begins with
 * every such text: they are found by going from parent to parent.
 */
#include "policy/texts.h"

#include <stdlib.h>

#include "base/banned.h"

/* A path, perhaps with /private in front (Linux). */
struct spelling {
	struct str head, tail;
	bool folds;
};

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Byte I of S; -1 at its end. */
static int byte_at(const struct spelling *s, size_t i)
{
	char c;

	if (i < s->head.n)
		return (unsigned char)s->head.p[i];
	i -= s->head.n;
	if (i >= s->tail.n)
		return -1;
	c = s->tail.p[i];
	return s->folds ? lower(c) : (unsigned char)c;
}

/* How many bytes X and Y have in common, of which the first I are known. */
static size_t common_run(struct str x, struct str y, size_t i)
{
	size_t n = x.n < y.n ? x.n : y.n;

	for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t))
		if (memcmp(x.p + i, y.p + i, sizeof(uint64_t)) != 0)
			break;
	while (i < n && x.p[i] == y.p[i])
		i++;
	return i;
}

/* How many bytes TEXT and S have in common, of which the first I are known. */
static size_t common_bytes(struct str text, const struct spelling *s, size_t i)
{
	if (!s->folds && s->head.n == 0)
		return common_run(text, s->tail, i);
	while (i < text.n && byte_at(s, i) == (unsigned char)text.p[i])
		i++;
	return i;
}

bool texts_add(struct texts *texts, struct arena *arena, const struct test *test, uint32_t place)
{
	struct text *list =
		arena_grow(arena, texts->list, texts->n, &texts->cap, sizeof(*texts->list));
	struct str bytes = test->text;

	if (!list)
		return false;
	texts->list = list;
	if (texts->target == TARGET_DARWIN) {
		char *copy = arena_strdup(arena, bytes);

		if (!copy)
			return false;
		for (size_t i = 0; i < bytes.n; i++)
			copy[i] = (char)lower(copy[i]);
		bytes.p = copy;
	}
	list[texts->n++] = (struct text){bytes, test->match, place, TEXT_NONE};
	return true;
}

static int compare_texts(const void *a, const void *b)
{
	const struct text *x = a, *y = b;
	size_t n = x->bytes.n < y->bytes.n ? x->bytes.n : y->bytes.n;
	int order = n ? memcmp(x->bytes.p, y->bytes.p, n) : 0;

	return order ? order : (x->bytes.n > y->bytes.n) - (x->bytes.n < y->bytes.n);
}

void texts_sort(struct texts *texts)
{
	struct text *list = texts->list;
	uint32_t parent = TEXT_NONE;

	if (texts->n > 1)
		qsort(list, texts->n, sizeof(*list), compare_texts);
	for (uint32_t i = 0; i < texts->n; parent = i++) {
		while (parent != TEXT_NONE && !str_starts(list[i].bytes, list[parent].bytes))
			parent = list[parent].parent;
		list[i].parent = parent;
	}
}

/* The last text that is not greater than S; TEXT_NONE: all are. */
static uint32_t find_last(const struct texts *texts, const struct spelling *s)
{
	uint32_t low = 0, high = texts->n;
	size_t same_low = 0, same_high = 0; /* bytes in common with the last text on either side */

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct str text = texts->list[middle].bytes;
		size_t same = common_bytes(text, s, same_low < same_high ? same_low : same_high);

		if (same == text.n || (unsigned char)text.p[same] < byte_at(s, same)) {
			low = middle + 1;
			same_low = same;
		} else {
			high = middle;
			same_high = same;
		}
	}
	return low == 0 ? TEXT_NONE : low - 1;
}

/* Does a text that S begins with match all of it? */
static bool matches(const struct text *text, const struct spelling *s)
{
	int next = byte_at(s, text->bytes.n);

	if (text->match == MATCH_PREFIX || next == -1)
		return true;
	return text->match == MATCH_SUBPATH && (next == '/' || str_is(text->bytes, "/"));
}

static uint32_t find(const struct texts *texts, const struct spelling *s)
{
	uint32_t found = 0;

	for (uint32_t i = find_last(texts, s); i != TEXT_NONE; i = texts->list[i].parent) {
		const struct text *text = &texts->list[i];

		if (text->place >= found && common_bytes(text->bytes, s, 0) == text->bytes.n &&
		    matches(text, s))
			found = text->place + 1;
	}
	return found;
}

uint32_t texts_find(const struct texts *texts, struct str path)
{
	struct spelling plain = {.tail = path, .folds = texts->target == TARGET_DARWIN};
	struct spelling private = {.head = STR("/private"), .tail = path};
	uint32_t found, longer = 0;

	if (path.n == 0)
		return 0;
	found = find(texts, &plain);
	if (texts->target == TARGET_LINUX &&
	    (str_is_below(path, STR("/tmp")) || str_is_below(path, STR("/var")) ||
	     str_is_below(path, STR("/etc"))))
		longer = find(texts, &private);
	return found > longer ? found : longer;
}
