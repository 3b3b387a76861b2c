/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pack.h"

#include "base/banned.h"

void pack_number(struct buf *buf, int64_t number)
{
	buf_add(buf, &number, sizeof(number));
}

void pack_text(struct buf *buf, struct str text)
{
	pack_number(buf, (int64_t)text.n);
	buf_add_str(buf, text);
}

int64_t unpack_number(struct unpack *from, int64_t least, int64_t most)
{
	int64_t number = 0;

	if (from->bad || from->rest.n < sizeof(number)) {
		from->bad = true;
		return least;
	}
	memcpy(&number, from->rest.p, sizeof(number));
	from->rest = str_skip(from->rest, sizeof(number));
	if (number >= least && number <= most)
		return number;
	from->bad = true;
	return least;
}

size_t unpack_count(struct unpack *from)
{
	size_t n = (size_t)unpack_number(from, 0, INT64_MAX);

	from->bad |= n > from->rest.n;
	return from->bad ? 0 : n;
}

struct str unpack_text(struct unpack *from)
{
	size_t n = unpack_count(from);
	struct str ret = {from->rest.p, n};

	from->bad |= n > 0 && memchr(ret.p, '\0', n);
	if (from->bad || n == 0)
		return STR("");
	from->rest = str_skip(from->rest, n);
	return ret;
}
