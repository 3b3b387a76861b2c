/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pattern can match a path only if its text is the beginning of the path. Of the beginnings that
 * are a text the longest knows what the others match: they are beginnings of it. It is found by
 * hash, or in the sorted list if many share theirs; only beginnings as long as some text are looked
 * up, and only where what follows lets such a text match: mostly at slashes.
 */
#include "policy/texts.h"

#include <stdlib.h>

#include "policy/word.h"

#include "base/banned.h"

enum {
	/*
	 * That a text may have, from the one of its hash on. Whoever reads this can write texts of
	 * one hash, whatever the hash: so many they find, and no more.
	 */
	SLOTS_MAX = 16,
};

/* ---- Bytes ---- */

/* Each byte of WORD as str_fold() has it. */
static inline uint64_t fold_word(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u, low = ~(ones << 7);
	uint64_t from_a = (word & low) + ones * (0x80 - 'A'),
		 above_z = (word & low) + ones * (0x7f - 'Z');

	return word | (from_a & ~above_z & ~word & ones << 7) >> 2;
}

/* N bytes of PATH, 1 to WORD, from place I on. */
static inline uint64_t word_at(struct str path, size_t i, size_t n, bool folds)
{
	uint64_t word = word_load_part(path.p, path.n, i, n);

	return folds ? fold_word(word) : word;
}

/* What comes behind the first N bytes of PATH, at most all. */
static inline enum text_next next_at(struct str path, size_t n)
{
	if (n == path.n)
		return TEXT_END;
	return path.p[n] == '/' ? TEXT_SLASH : TEXT_OTHER;
}

/* ---- Hashes ---- */

/* A sum, since products can be made side by side; of all whole words so far. */
struct hash {
	uint64_t sum;
	uint64_t factor; /* of the next word */
	size_t n;        /* bytes in them */
};

static const struct hash HASH_EMPTY = {.factor = 0x9e3779b97f4a7c15u};

static inline uint64_t times(uint64_t word, uint64_t factor)
{
	return (word ^ word >> 32) * factor;
}

/*
 * The hash of the first N bytes of PATH. HASH is that of as many or fewer, and goes on from there.
 */
static inline uint32_t hash_first(struct hash *hash, struct str path, size_t n, bool folds)
{
	uint64_t sum;

	for (; n - hash->n >= WORD; hash->n += WORD) {
		hash->sum += times(word_at(path, hash->n, WORD, folds), hash->factor);
		hash->factor = hash->factor * 5 + 2;
	}
	sum = hash->sum + n;
	if (n > hash->n)
		sum += times(word_at(path, hash->n, n - hash->n, folds), hash->factor);
	return (uint32_t)(sum * 0xbf58476d1ce4e5b9u >> 32);
}

/* ---- Building ---- */

static bool add(struct texts *texts, struct arena *scratch, struct str bytes, enum match match,
		uint32_t place)
{
	struct text *list =
		arena_grow(scratch, texts->list, texts->n, &texts->cap, sizeof(*texts->list));
	struct text text = {.bytes = bytes};

	if (!list)
		return false;
	texts->list = list;
	text.best[TEXT_END] = place + 1;
	if (match == MATCH_SUBPATH || match == MATCH_PREFIX)
		text.best[TEXT_SLASH] = place + 1;
	if (match == MATCH_PREFIX || (match == MATCH_SUBPATH && str_is(bytes, "/")))
		text.best[TEXT_OTHER] = place + 1;
	list[texts->n++] = text;
	return true;
}

/*
 * What TEST says of paths in LONG_NAME, a directory of /private: such paths are also written
 * without that.
 */
static bool add_alias(struct texts *texts, struct arena *scratch, const struct test *test,
		      struct str long_name, uint32_t place)
{
	const size_t n = sizeof("/private") - 1;
	struct str bytes = test->text, short_name = str_skip(long_name, n);
	bool covers = test->match == MATCH_PREFIX ? str_starts(long_name, bytes)
						  : str_is_below(long_name, bytes);

	if (test->match != MATCH_LITERAL && covers)
		return add(texts, scratch, short_name, MATCH_SUBPATH, place);
	if (str_is_below(bytes, long_name))
		return add(texts, scratch, str_skip(bytes, n), test->match, place);
	return true;
}

bool texts_add(struct texts *texts, struct arena *scratch, const struct test *test, uint32_t place)
{
	static const struct str names[] = {
		{"/private/tmp", 12},
		{"/private/var", 12},
		{"/private/etc", 12},
	};
	bool ok = add(texts, scratch, test->text, test->match, place);

	for (size_t i = 0; texts->target == TARGET_LINUX && i < 3 && ok; i++)
		ok = add_alias(texts, scratch, test, names[i], place);
	return ok;
}

static int compare_texts(const void *a, const void *b)
{
	const struct text *x = a, *y = b;
	size_t n = x->bytes.n < y->bytes.n ? x->bytes.n : y->bytes.n;
	int order = n ? memcmp(x->bytes.p, y->bytes.p, n) : 0;

	return order ? order : (x->bytes.n > y->bytes.n) - (x->bytes.n < y->bytes.n);
}

static int compare_lengths(const void *a, const void *b)
{
	const struct text_length *x = a, *y = b;

	return (x->n > y->n) - (x->n < y->n);
}

static void improve(uint32_t *best, uint32_t other)
{
	if (other > *best)
		*best = other;
}

static bool fold(struct texts *texts, struct arena *arena)
{
	for (uint32_t i = 0; i < texts->n; i++) {
		struct str *bytes = &texts->list[i].bytes;

		bytes->p = arena_fold(arena, *bytes);
		if (!bytes->p)
			return false;
	}
	return true;
}

/* Joins equal texts of the sorted list, and moves it to ARENA. */
static bool unite(struct texts *texts, struct arena *arena)
{
	struct text *list = texts->list, *kept;
	uint32_t n = 0;

	for (uint32_t i = 0; i < texts->n; i++) {
		if (n == 0 || !str_eq(list[n - 1].bytes, list[i].bytes)) {
			list[n++] = list[i];
			continue;
		}
		for (unsigned next = 0; next < TEXT_NEXT_COUNT; next++)
			improve(&list[n - 1].best[next], list[i].best[next]);
	}
	kept = arena_array(arena, n, sizeof(*kept));
	if (!kept)
		return false;
	if (n)
		memcpy(kept, list, n * sizeof(*kept));
	texts->list = kept;
	texts->n = n;
	texts->cap = n;
	return true;
}

/* Fills lengths. */
static bool find_lengths(struct texts *texts, struct arena *arena, struct arena *scratch)
{
	struct text_length *all = arena_array(scratch, texts->n, sizeof(*all));
	uint32_t n = 0;

	if (!all)
		return false;
	for (uint32_t i = 0; i < texts->n; i++) {
		all[i].n = texts->list[i].bytes.n;
		for (unsigned next = 0; next < TEXT_NEXT_COUNT; next++)
			all[i].asks[next] = texts->list[i].best[next] > 0;
	}
	if (texts->n > 1)
		qsort(all, texts->n, sizeof(*all), compare_lengths);
	for (uint32_t i = 0; i < texts->n; i++) {
		if (n == 0 || all[n - 1].n != all[i].n) {
			all[n++] = all[i];
			continue;
		}
		for (unsigned next = 0; next < TEXT_NEXT_COUNT; next++)
			all[n - 1].asks[next] |= all[i].asks[next];
	}
	texts->lengths = arena_array(arena, n, sizeof(*texts->lengths));
	texts->n_lengths = n;
	if (texts->lengths && n)
		memcpy(texts->lengths, all, n * sizeof(*all));
	return texts->lengths;
}

/* Where SLOTS_MAX slots are taken that a text could have it gets none. */
static void give_slot(struct texts *texts, uint32_t hash, uint32_t text)
{
	for (uint32_t i = 0; i < SLOTS_MAX; i++) {
		struct text_slot *slot = &texts->slots[(hash + i) & texts->mask];

		if (slot->text)
			continue;
		*slot = (struct text_slot){hash, text + 1};
		return;
	}
}

static bool hash_texts(struct texts *texts, struct arena *arena)
{
	uint32_t n = 1;

	while (n < 2 * (size_t)texts->n)
		n *= 2;
	texts->slots = arena_array(arena, n, sizeof(*texts->slots));
	texts->mask = n - 1;
	for (uint32_t i = 0; texts->slots && i < texts->n; i++) {
		struct str bytes = texts->list[i].bytes;
		struct hash hash = HASH_EMPTY;

		give_slot(texts, hash_first(&hash, bytes, bytes.n, false), i);
	}
	return texts->slots;
}

/* Each text takes over what the texts match that it begins with. */
static bool inherit(struct texts *texts, struct arena *scratch)
{
	struct text *list = texts->list;
	uint32_t *stack = arena_array(scratch, texts->n, sizeof(*stack)), n = 0;

	for (uint32_t i = 0; stack && i < texts->n; i++) {
		struct str bytes = list[i].bytes;
		const struct text *parent;

		while (n > 0 && !str_starts(bytes, list[stack[n - 1]].bytes))
			n--;
		parent = n > 0 ? &list[stack[n - 1]] : NULL;
		for (unsigned next = 0; parent && next < TEXT_NEXT_COUNT; next++)
			improve(&list[i].best[next], parent->best[next_at(bytes, parent->bytes.n)]);
		stack[n++] = i;
	}
	return stack;
}

bool texts_index(struct texts *texts, struct arena *arena, struct arena *scratch)
{
	if (texts->target == TARGET_DARWIN && !fold(texts, arena))
		return false;
	if (texts->n > 1)
		qsort(texts->list, texts->n, sizeof(*texts->list), compare_texts);
	return unite(texts, arena) && find_lengths(texts, arena, scratch) &&
	       inherit(texts, scratch) && hash_texts(texts, arena);
}

/* ---- Finding ---- */

/* Is PATH, as str_fold() has it, TEXT so far as that goes? */
static bool begins_folded(struct str path, struct str text)
{
	size_t i = 0;

	while (i < text.n && str_fold(path.p[i]) == text.p[i])
		i++;
	return i == text.n;
}

/* The order of KEY, as str_fold() has it if FOLDS, and TEXT. */
static int compare_key(struct str key, struct str text, bool folds)
{
	size_t n = key.n < text.n ? key.n : text.n, i = 0;
	int order = 0;

	if (!folds && n > 0)
		order = memcmp(key.p, text.p, n);
	for (; folds && i < n && order == 0; i++)
		order = (unsigned char)str_fold(key.p[i]) - (unsigned char)text.p[i];
	return order ? order : (key.n > text.n) - (key.n < text.n);
}

/* As find_text(), slowly. */
static const struct text *search_text(const struct texts *texts, struct str key, bool folds)
{
	uint32_t first = 0, end = texts->n;

	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		const struct text *text = &texts->list[middle];
		int order = compare_key(key, text->bytes, folds);

		if (order == 0)
			return text;
		if (order < 0)
			end = middle;
		else
			first = middle + 1;
	}
	return NULL;
}

/* The text that is the first N bytes of PATH, or NULL. */
static inline const struct text *find_text(const struct texts *texts, struct str path, size_t n,
					   uint32_t hash, bool folds)
{
	for (uint32_t i = 0; i < SLOTS_MAX; i++) {
		const struct text_slot *slot = &texts->slots[(hash + i) & texts->mask];
		const struct text *text;

		if (!slot->text)
			return NULL;
		text = &texts->list[slot->text - 1];
		if (slot->hash != hash || text->bytes.n != n)
			continue;
		if (folds ? begins_folded(path, text->bytes) : str_starts(path, text->bytes))
			return text;
	}
	return search_text(texts, (struct str){path.p, n}, folds);
}

/* Inline, since it should not ask at every word whether case counts. */
__attribute__((always_inline)) static inline uint32_t find(const struct texts *texts,
							   struct str path, bool folds)
{
	struct hash hash = HASH_EMPTY;
	uint32_t found = 0;

	for (uint32_t i = 0; i < texts->n_lengths; i++) {
		const struct text_length *length = &texts->lengths[i];
		const struct text *text;
		enum text_next next;

		if (length->n > path.n)
			break;
		next = next_at(path, length->n);
		if (!length->asks[next])
			continue;
		text = find_text(texts, path, length->n, hash_first(&hash, path, length->n, folds),
				 folds);
		if (text)
			found = text->best[next];
	}
	return found;
}

uint32_t texts_find(const struct texts *texts, struct str path)
{
	if (path.n == 0)
		return 0;
	if (texts->target == TARGET_DARWIN)
		return find(texts, path, true);
	return find(texts, path, false);
}
