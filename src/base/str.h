/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str: a borrowed slice of bytes. The memory belongs to an arena, a buffer or
 * the program text; a slice never frees and need not end in NUL.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
	const char *p;
	size_t n;
};

/* A slice of a string literal. */
#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})

static inline struct str str_of(const char *cstr)
{
	return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *cstr)
{
	return str_eq(a, str_of(cstr));
}

static inline bool str_starts(struct str a, struct str prefix)
{
	return a.n >= prefix.n && (prefix.n == 0 || memcmp(a.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(struct str a, struct str suffix)
{
	return a.n >= suffix.n &&
	       (suffix.n == 0 || memcmp(a.p + a.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* Is PATH DIR itself or below it, at a component boundary? DIR has no trailing slash ("/" has). */
static inline bool str_is_below(struct str path, struct str dir)
{
	if (dir.n == 1 && dir.p[0] == '/')
		return path.n > 0 && path.p[0] == '/';
	return str_starts(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

/* TEXT without its first N bytes; it has that many. */
static inline struct str str_skip(struct str text, size_t n)
{
	return (struct str){text.p + n, text.n - n};
}

/* C, in lower case if it is an ASCII letter. */
static inline char str_fold(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c + ('a' - 'A'));
	return c;
}

/* The decimal number that TEXT begins with, and its *DIGITS. -1: none, or more than INT_MAX. */
static inline int str_number(struct str text, size_t *digits)
{
	long long number = 0;
	size_t n = 0;

	while (n < text.n && text.p[n] >= '0' && text.p[n] <= '9' && number <= INT_MAX)
		number = number * 10 + (text.p[n++] - '0');
	*digits = n;
	return n == 0 || number > INT_MAX ? -1 : (int)number;
}

#endif
