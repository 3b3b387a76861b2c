/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about processes: exec by path, limits and priorities of others. */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/banned.h"

/* ---- exec ---- */

void handle_exec(struct call *call)
{
	struct place cleanup_place place = PLACE_NONE;
	struct subject subject;
	struct stat st;
	bool at = call->nr == SYS_execveat;
	int flags = at ? (int)call->args[4] : 0;
	char path[PATH_MAX];

	if (call_read_string(call, call->args[at ? 1 : 0], path, sizeof(path)) < 0 ||
	    resolve_object(call, at ? (int)call->args[0] : AT_FDCWD, path,
			   !(flags & AT_SYMLINK_NOFOLLOW), flags & AT_EMPTY_PATH, &place) < 0 ||
	    fstat(place.object, &st) < 0) {
		call_error(call, errno);
		return;
	}
	subject = subject_of(&place, &st);
	/*
	 * Nobody can exec on behalf of another. The kernel looks at the path again, and whatever
	 * the caller put there meanwhile, Landlock lets only what the policy allows be executed;
	 * the one exception (the loader) is a listed gap.
	 */
	if (judge(call, OP_PROCESS_EXEC_ANY, &subject))
		call_continue(call);
	else
		call_error(call, EPERM);
}

/* ---- Limits and priorities of others ---- */

void handle_process(struct call *call)
{
	/* Of setpriority(2) and ioprio_set(2) the filter asks only about single processes. */
	bool by_kind = call->nr == SYS_setpriority || call->nr == SYS_ioprio_set;

	if (layer_has(call->broker, innermost(call), (pid_t)call->args[by_kind ? 1 : 0], true))
		call_continue(call); /* by number, in registers: a listed gap */
	else
		call_error(call, EPERM);
}
