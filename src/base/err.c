/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

__attribute__((format(printf, 4, 0))) static int
fill(struct err *e, enum err_code code, struct span at, const char *format, va_list ap)
{
	if (!e)
		return -(int)code;
	e->code = code;
	e->os = 0;
	e->hint[0] = '\0';
	(void)snprintf(e->file, sizeof(e->file), "%s", at.file ? at.file : "");
	e->at = (struct span){at.file ? e->file : NULL, at.line, at.column};
	(void)vsnprintf(e->text, sizeof(e->text), format, ap);
	return -(int)code;
}

int err_set(struct err *e, enum err_code code, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = fill(e, code, (struct span){0}, format, ap);
	va_end(ap);
	return r;
}

int err_at(struct err *e, enum err_code code, struct span at, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = fill(e, code, at, format, ap);
	va_end(ap);
	return r;
}

int err_os(struct err *e, const char *format, ...)
{
	int os = errno;
	va_list ap;
	size_t n;

	if (!e)
		return -(int)ERR_OS;
	va_start(ap, format);
	(void)fill(e, ERR_OS, (struct span){0}, format, ap);
	va_end(ap);
	e->os = os;
	n = strlen(e->text);
	(void)snprintf(e->text + n, sizeof(e->text) - n, ": %s", strerror(os));
	return -(int)ERR_OS;
}

int err_memory(struct err *e)
{
	return err_set(e, ERR_MEMORY, "out of memory");
}

int err_hint(struct err *e, const char *format, ...)
{
	va_list ap;

	if (!e)
		return -(int)ERR_OS;
	va_start(ap, format);
	(void)vsnprintf(e->hint, sizeof(e->hint), format, ap);
	va_end(ap);
	return -(int)e->code;
}

int err_wrap(struct err *e, const char *format, ...)
{
	char text[sizeof(e->text)];
	va_list ap;
	size_t n;

	if (!e)
		return -(int)ERR_OS;
	(void)snprintf(text, sizeof(text), "%s", e->text);
	va_start(ap, format);
	(void)vsnprintf(e->text, sizeof(e->text), format, ap);
	va_end(ap);
	n = strlen(e->text);
	(void)snprintf(e->text + n, sizeof(e->text) - n, ": %s", text);
	return -(int)e->code;
}
