/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json: writes JSON (RFC 8259) into a buffer, member by member; indentation and
 * commas come by themselves.
 *
 *	struct json json = {.buf = &buf};
 *
 *	json_open(&json, NULL, '{');
 *	json_string(&json, "path", STR("/tmp"));
 *	json_open(&json, "rights", '[');
 *	json_string(&json, NULL, STR("read"));
 *	json_close(&json);
 *	json_close(&json);
 *
 * KEY is NULL in an array and for the outermost value. Strings are as of buf_add_json().
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>

#include "base/buf.h"

enum {
	JSON_DEPTH_MAX = 16
};

struct json {
	struct buf *buf;
	char ends[JSON_DEPTH_MAX]; /* of what is open */
	unsigned depth;
	bool follows; /* something stands before in what is open */
};

/* Begins an object ({) or an array ([). */
void json_open(struct json *json, const char *key, char bracket);

/* Ends what was begun last; the outermost one ends its line. */
void json_close(struct json *json);

void json_string(struct json *json, const char *key, struct str value);
void json_number(struct json *json, const char *key, long long value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
