/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <assert.h>

#include "base/banned.h"

static void indent(struct json *json)
{
	buf_putc(json->buf, '\n');
	for (unsigned i = 0; i < json->depth; i++)
		buf_puts(json->buf, "  ");
}

/* What stands before a value. */
static void begin(struct json *json, const char *key)
{
	if (json->follows)
		buf_putc(json->buf, ',');
	if (json->depth)
		indent(json);
	if (key) {
		buf_add_json(json->buf, str_of(key));
		buf_puts(json->buf, ": ");
	}
	json->follows = true;
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin(json, key);
	assert(json->depth < JSON_DEPTH_MAX);
	buf_putc(json->buf, bracket);
	json->ends[json->depth++] = bracket == '{' ? '}' : ']';
	json->follows = false;
}

void json_close(struct json *json)
{
	bool any = json->follows;

	assert(json->depth > 0);
	json->depth--;
	if (any)
		indent(json);
	buf_putc(json->buf, json->ends[json->depth]);
	json->follows = true;
	if (!json->depth)
		buf_putc(json->buf, '\n');
}

void json_string(struct json *json, const char *key, struct str value)
{
	begin(json, key);
	buf_add_json(json->buf, value);
}

void json_number(struct json *json, const char *key, long long value)
{
	begin(json, key);
	buf_printf(json->buf, "%lld", value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin(json, key);
	buf_puts(json->buf, value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	begin(json, key);
	buf_puts(json->buf, "null");
}
