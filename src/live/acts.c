/* SPDX-License-Identifier: Apache-2.0 */
/* The table of acts, and the helper that does one. */
#include "live/deed.h"
#include "live/live.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <fcntl.h>

#include "base/io.h"
#include "base/banned.h"

#define ANY_KIND ((1u << KIND_COUNT) - 2)
#define NO_ALSO                                                                                    \
	{                                                                                          \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define ALSO(...)                                                                                  \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

const struct act acts[] = {
#define ACT(operation, call, run, kinds, flags, also) {operation, call, run, kinds, flags, also},
#include "live/acts.def"
#undef ACT
};

const size_t n_acts = sizeof(acts) / sizeof(acts[0]);

void die_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(EXIT_FAILURE);
}

enum {
	PATIENCE = 10, /* seconds */
};

/*
 * Words: where the deed comes from and where its errno goes, both descriptors. Nothing else of the
 * system is used: the policy may deny it.
 */
int live_helper(char **argv)
{
	struct deed deed;
	int in, out, error;

	if (!argv[1] || !argv[2])
		return EXIT_FAILURE;
	in = (int)strtol(argv[1], NULL, 10);
	out = (int)strtol(argv[2], NULL, 10);
	if (io_read_full(in, &deed, sizeof(deed)) < 0 || deed.act >= n_acts)
		return EXIT_FAILURE;
	(void)fcntl(out, F_SETFD, FD_CLOEXEC);
	(void)alarm(PATIENCE);
	error = acts[deed.act].run(&deed) < 0 ? errno : 0;
	return io_write_full(out, &error, sizeof(error)) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
