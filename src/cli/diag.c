/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/str.h"
#include "base/banned.h"

static enum diag_style style = DIAG_PROGRAM;

void diag_set_style(enum diag_style new_style)
{
	style = new_style;
}

static const char *prefix(void)
{
	return style == DIAG_SANDBOX_EXEC ? "sandbox-exec: " : "lapbelt: ";
}

/* One write per message: lines of several processes do not mix. */
static void flush(struct buf *line)
{
	if (!line->failed)
		(void)io_write_full(STDERR_FILENO, line->p, line->n);
	buf_release(line);
}

void diag_add_text(struct buf *line, const char *text)
{
	for (;;) {
		size_t n = strcspn(text, "\\");

		buf_add_escaped(line, (struct str){text, n});
		if (!text[n])
			return;
		buf_putc(line, '\\');
		text += n + 1;
	}
}

void diag_add_rule(struct buf *line, const char *file, unsigned row, unsigned column,
		   const char *text)
{
	if (file[0]) {
		diag_add_text(line, file);
		buf_printf(line, ":%u:%u ", row, column);
	}
	diag_add_text(line, text);
}

static void add_error(struct buf *line, const struct lapbelt_error *error)
{
	bool placed = error->line > 0;

	if (style != DIAG_COMPILER || !placed)
		buf_puts(line, prefix());
	if (placed && style != DIAG_SANDBOX_EXEC) {
		diag_add_text(line, error->file);
		buf_printf(line, ":%u:%u: ", error->line, error->column);
	}
	diag_add_text(line, error->text);
	if (placed && style == DIAG_SANDBOX_EXEC) {
		buf_puts(line, " at ");
		diag_add_text(line, error->file);
		buf_printf(line, ", line %u, column %u", error->line, error->column);
	}
	buf_putc(line, '\n');
}

static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._=:,@%+-";

	return word[0] && word[strspn(word, plain)] == '\0';
}

void diag_add_word(struct buf *line, const char *word)
{
	struct buf escaped = {0};
	bool printable;

	if (is_plain(word)) {
		buf_puts(line, word);
		return;
	}
	diag_add_text(&escaped, word);
	printable = !escaped.failed && str_is(buf_str(&escaped), word);
	buf_release(&escaped);
	buf_puts(line, printable ? "'" : "$'");
	for (; *word; word++) {
		if (printable && *word == '\'')
			buf_puts(line, "'\\''");
		else if (printable || (*word >= ' ' && *word <= '~' && !strchr("'\\", *word)))
			buf_putc(line, *word);
		else
			buf_printf(line, "\\%03o", (unsigned char)*word);
	}
	buf_putc(line, '\'');
}

void diag_add_request(struct buf *text, const char *const *words)
{
	for (; *words; words++) {
		diag_add_word(text, *words);
		if (words[1])
			buf_putc(text, ' ');
	}
}

void diag_add_decision(struct buf *line, const struct lapbelt_decision *decision)
{
	buf_puts(line, decision->allowed ? "allow " : "deny ");
	diag_add_rule(line, decision->file, decision->line, decision->column, decision->rule);
}

/* What Apple says where there can be no second sandbox. */
static const struct lapbelt_error apples = {
	.text = "sandbox_apply: Operation not permitted",
};

static bool is_nested(const struct lapbelt_error *error)
{
	return error->code == LAPBELT_GAP && error->os == EPERM;
}

int diag_error(const struct lapbelt_error *error)
{
	struct buf line = {0};

	if (style == DIAG_SANDBOX_EXEC && is_nested(error)) {
		add_error(&line, &apples);
		flush(&line);
		return lapbelt_exit_code(error->code);
	}
	add_error(&line, error);
	if (error->hint[0] && style != DIAG_SANDBOX_EXEC) {
		buf_puts(&line, "hint: ");
		diag_add_text(&line, error->hint);
		buf_putc(&line, '\n');
	}
	flush(&line);
	return lapbelt_exit_code(error->code);
}

void diag_warning(const struct lapbelt_warning *warning)
{
	struct buf line = {0};

	if (warning->line > 0) {
		diag_add_text(&line, warning->file);
		buf_printf(&line, ":%u:%u: warning: ", warning->line, warning->column);
	}
	diag_add_text(&line, warning->text);
	buf_printf(&line, " [%s]\n", warning->kind);
	if (warning->hint[0]) {
		buf_puts(&line, "hint: ");
		diag_add_text(&line, warning->hint);
		buf_putc(&line, '\n');
	}
	flush(&line);
}

/* The program's name, then the sentence, escaped. */
__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list ap)
{
	struct buf line = {0};
	char text[1024];

	(void)vsnprintf(text, sizeof(text), format, ap);
	buf_puts(&line, prefix());
	diag_add_text(&line, text);
	buf_putc(&line, '\n');
	flush(&line);
}

void diag_printf(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}

int diag_usage(const char *command, const char *format, ...)
{
	struct buf line = {0};
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
	if (style == DIAG_SANDBOX_EXEC)
		buf_puts(&line, "usage: sandbox-exec [-f profile-file] [-n profile-name] "
				"[-p profile-string] [-D key=value ...] command [args...]\n");
	else
		buf_printf(&line, "hint: lapbelt %s --help\n", command);
	flush(&line);
	return lapbelt_exit_code(LAPBELT_USAGE);
}
