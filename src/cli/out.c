/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/out.h"

#include <lapbelt.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/diag.h"
#include "base/banned.h"

static bool written;
static int failure; /* errno of the first; 0: none */

static void fail(int number)
{
	if (!failure)
		failure = number;
}

void out_print(struct buf *text)
{
	if (text->failed)
		fail(ENOMEM);
	else if (text->n && !failure && io_write_full(STDOUT_FILENO, text->p, text->n) < 0)
		fail(errno);
	written |= text->n > 0;
	buf_release(text);
}

int out_end(int status)
{
	/* Some file systems tell only then. */
	if (written && close(STDOUT_FILENO) < 0)
		fail(errno);
	written = false;
	if (!failure)
		return status;
	diag_printf("cannot write to standard output: %s", strerror(failure));
	return lapbelt_exit_code(LAPBELT_OS);
}
