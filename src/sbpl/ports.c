/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports, for reading only: a port is a reader of a text that is there already.
 * What is read has no places. Files are opened by the SBPL layer, which knows
 * how to fetch what an import would.
 */
#include "sbpl/read.h"

#include "base/banned.h"

int machine_give_port(struct machine *m, struct str text)
{
	struct value *v = machine_new(m, VALUE_PORT);

	if (!v)
		return machine_no_memory(m);
	v->reader = arena_alloc(m->arena, sizeof(*v->reader));
	if (!v->reader)
		return machine_no_memory(m);
	*v->reader = reader_begin(m, 0, text);
	return machine_give(m, v);
}

static int check_open(struct machine *m, const struct value *v)
{
	if (!is_type(v, VALUE_PORT))
		return machine_wrong_type(m, "port", v);
	return v->reader ? 0 : machine_fail(m, "%s: the port is closed", m->running->name);
}

static int do_open_string(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	if (!is_type(args[0], VALUE_STRING))
		return machine_wrong_type(m, "string", args[0]);
	if (args[0]->string.n >= UINT32_MAX)
		return machine_limit(m, "more than %u bytes of text", UINT32_MAX - 1);
	return machine_give_port(m, args[0]->string);
}

static int do_close(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	if (!is_type(args[0], VALUE_PORT))
		return machine_wrong_type(m, "port", args[0]);
	args[0]->reader = NULL;
	return machine_give(m, m->nothing);
}

static int do_read(struct machine *m, struct value **args, size_t n)
{
	struct value *datum = NULL;
	int r = check_open(m, args[0]);

	(void)n;
	if (r == 0)
		r = reader_next(args[0]->reader, &datum);
	if (r < 0)
		return r;
	return machine_give(m, r == READ_EOF ? m->eof : datum);
}

/* read-char takes the character away, peek-char leaves it. */
enum {
	READ,
	PEEK
};

static int do_read_char(struct machine *m, struct value **args, size_t n)
{
	int r = check_open(m, args[0]);
	struct lex *lex;

	(void)n;
	if (r < 0)
		return r;
	lex = &args[0]->reader->lex;
	if (lex->at == lex->text.n)
		return machine_give(m, m->eof);
	lex->at += m->running->variant == READ;
	return machine_give(
		m, machine_char(
			   m, (unsigned char)lex->text.p[lex->at - (m->running->variant == READ)]));
}

static int do_is_ready(struct machine *m, struct value **args, size_t n)
{
	int r = check_open(m, args[0]);

	(void)n;
	return r < 0 ? r : machine_give_bool(m, true);
}

static int do_is_port(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	return machine_give_bool(m, is_type(args[0], VALUE_PORT));
}

/* Nothing is ever written: a port for output cannot be had, as if the file could not be opened. */
static int do_no(struct machine *m, struct value **args, size_t n)
{
	(void)args;
	(void)n;
	return machine_give_bool(m, false);
}

static int do_is_eof(struct machine *m, struct value **args, size_t n)
{
	(void)n;
	return machine_give_bool(m, is_type(args[0], VALUE_EOF));
}

int ports_bind(struct machine *m)
{
	static const struct builtin table[] = {
		{"open-input-string", do_open_string, 1, 1, 0},
		{"open-output-file", do_no, 1, 1, 0},
		{"close-input-port", do_close, 1, 1, 0},
		{"close-port", do_close, 1, 1, 0},
		{"read", do_read, 1, 1, 0},
		{"read-char", do_read_char, 1, 1, READ},
		{"peek-char", do_read_char, 1, 1, PEEK},
		{"char-ready?", do_is_ready, 1, 1, 0},
		{"port?", do_is_port, 1, 1, 0},
		{"input-port?", do_is_port, 1, 1, 0},
		{"output-port?", do_no, 1, 1, 0},
		{"eof-object?", do_is_eof, 1, 1, 0},
	};

	return machine_bind_builtins(m, table, sizeof(table) / sizeof(table[0]));
}
