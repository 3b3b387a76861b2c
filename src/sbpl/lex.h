/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lex: profile text to tokens. A token knows where it begins and borrows its
 * text, undecoded; nothing is allocated, so the text may be lexed again at any
 * time (rule texts are made that way).
 */
#ifndef SBPL_LEX_H
#define SBPL_LEX_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum token_type {
	TOKEN_EOF,
	TOKEN_OPEN,     /* ( */
	TOKEN_CLOSE,    /* ) */
	TOKEN_VECTOR,   /* #( */
	TOKEN_QUOTE,    /* ' */
	TOKEN_QUASI,    /* ` */
	TOKEN_UNQUOTE,  /* , */
	TOKEN_SPLICE,   /* ,@ */
	TOKEN_DOT,      /* . */
	TOKEN_STRING,   /* "...": text is between the quotes, escapes untouched */
	TOKEN_RAW,      /* #"...": text is between the quotes */
	TOKEN_CONSTANT, /* #t #x1f #\a ...: text begins after the # */
	TOKEN_ATOM,     /* number or symbol */
};

/* Where a token begins: a byte offset, and what people call it (both from 1). */
struct place {
	uint32_t begin, line, column;
};

struct token {
	enum token_type type;
	struct place place;
	struct str text;
};

struct lex {
	struct str text; /* at most UINT32_MAX bytes */
	size_t at;
	size_t line_begin;
	uint32_t line;
};

struct lex lex_begin(struct str text);

/* Goes back, or on, to a place of the same text. */
void lex_seek(struct lex *lex, struct place place);

/* 0, or -ERR_POLICY; the caller adds the position, which is ret->place in both cases. */
int lex_next(struct lex *lex, struct token *ret, struct err *e);

#endif
