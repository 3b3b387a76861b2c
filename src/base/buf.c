/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

char *buf_reserve(struct buf *buf, size_t n)
{
	size_t need, cap;
	char *p;

	if (buf->failed)
		return NULL;
	if (n >= SIZE_MAX / 2 - buf->n || (buf->max && n > buf->max - buf->n)) {
		buf->failed = true;
		return NULL;
	}
	need = buf->n + n + 1;
	if (need <= buf->cap)
		return buf->p + buf->n;
	cap = buf->cap ? buf->cap : 64;
	while (cap < need)
		cap *= 2;
	p = realloc(buf->p, cap);
	if (!p) {
		buf->failed = true;
		return NULL;
	}
	buf->p = p;
	buf->cap = cap;
	return p + buf->n;
}

void buf_add(struct buf *buf, const void *p, size_t n)
{
	char *to = buf_reserve(buf, n);

	if (!to)
		return;
	if (n)
		memcpy(to, p, n);
	buf->n += n;
	buf->p[buf->n] = '\0';
}

void buf_add_str(struct buf *buf, struct str s)
{
	buf_add(buf, s.p, s.n);
}

void buf_puts(struct buf *buf, const char *cstr)
{
	buf_add(buf, cstr, strlen(cstr));
}

void buf_putc(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list ap;
	char *to;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	to = n < 0 ? NULL : buf_reserve(buf, (size_t)n);
	if (!to) {
		buf->failed = true;
		return;
	}
	va_start(ap, format);
	(void)vsnprintf(to, (size_t)n + 1, format, ap);
	va_end(ap);
	buf->n += (size_t)n;
}

/* Length of the valid UTF-8 sequence at P (of N bytes), 0 if there is none. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
	static const struct {
		unsigned char first, last, low, high, length;
	} rows[] = {
		/* RFC 3629, section 4 */
		{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
		{0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (p[0] < rows[i].first || p[0] > rows[i].last)
			continue;
		if (n < rows[i].length || p[1] < rows[i].low || p[1] > rows[i].high)
			return 0;
		for (size_t k = 2; k < rows[i].length; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return rows[i].length;
	}
	return 0;
}

/* Controls among the characters: C1, those that turn the direction of a line, byte order marks. */
static bool is_unseen(const unsigned char *p, size_t length)
{
	static const struct {
		unsigned first, last;
	} rows[] = {
		{0x80, 0x9f},     {0x200e, 0x200f}, {0x202a, 0x202e},
		{0x2066, 0x2069}, {0xfeff, 0xfeff},
	};
	unsigned c = length == 2   ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
		     : length == 3 ? (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)
				   : 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (c >= rows[i].first && c <= rows[i].last)
			return true;
	return false;
}

/* How many bytes at P (of N bytes) are ASCII and printable, and no backslash. */
static size_t plain_length(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '\\')
		i++;
	return i;
}

void buf_add_escaped(struct buf *buf, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;

	for (size_t i = 0; i < s.n;) {
		size_t plain = plain_length(p + i, s.n - i), length;

		/* If there is not room for all, for as many as there is. */
		if (buf->max && buf->n < buf->max && plain > buf->max - buf->n)
			plain = buf->max - buf->n;
		if (plain > 0) {
			buf_add(buf, p + i, plain);
			i += plain;
			continue;
		}
		length = p[i] >= 0x80 ? utf8_length(p + i, s.n - i) : 0;

		if (length > 1 && is_unseen(p + i, length)) {
			for (; length > 0; length--)
				buf_printf(buf, "\\x%02x", p[i++]);
			continue;
		}
		if (length < 2) {
			buf_printf(buf, "\\x%02x", p[i]);
			i++;
			continue;
		}
		buf_add(buf, p + i, length);
		i += length;
	}
}

void buf_add_json(struct buf *buf, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;

	buf_putc(buf, '"');
	for (size_t i = 0, n; i < s.n; i += n) {
		n = p[i] < 0x80 ? 1 : utf8_length(p + i, s.n - i);
		if (n == 0) {
			buf_printf(buf, "\\ud%03x", 0xc00u + p[i]);
			n = 1;
		} else if (p[i] < 0x20 || p[i] == 0x7f) {
			buf_printf(buf, "\\u%04x", (unsigned)p[i]);
		} else if (n == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0) {
			buf_printf(buf, "\\u%04x", (unsigned)p[i + 1]);
		} else {
			if (p[i] == '"' || p[i] == '\\')
				buf_putc(buf, '\\');
			buf_add(buf, p + i, n);
		}
	}
	buf_putc(buf, '"');
}

struct str buf_str(const struct buf *buf)
{
	return buf->n ? (struct str){buf->p, buf->n} : STR("");
}

char *buf_steal(struct buf *buf)
{
	char *p = NULL;

	if (!buf->failed && buf_reserve(buf, 0)) {
		buf->p[buf->n] = '\0';
		p = buf->p;
		*buf = (struct buf){.max = buf->max};
	}
	buf_release(buf);
	return p;
}

void buf_clear(struct buf *buf)
{
	if (buf->p)
		buf->p[0] = '\0';
	buf->n = 0;
	buf->failed = false;
}

void buf_release(struct buf *buf)
{
	free(buf->p);
	*buf = (struct buf){.max = buf->max};
}
