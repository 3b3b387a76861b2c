/* SPDX-License-Identifier: Apache-2.0 */
/* The policy's answer about a pinned place. */
#include "broker/call.h"

#include <string.h>

#include "base/banned.h"

/* Past this many pairs of states a move counts as a change: EXDEV, and `mv` copies. */
enum { COMPARE_WORK = 100000 };

enum vnode_type vnode_type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
	case 0: /* mknod(2): zero means a regular file */
		return VNODE_REGULAR;
	case S_IFDIR:
		return VNODE_DIRECTORY;
	case S_IFBLK:
		return VNODE_BLOCK;
	case S_IFCHR:
		return VNODE_CHARACTER;
	case S_IFLNK:
		return VNODE_SYMLINK;
	case S_IFSOCK:
		return VNODE_SOCKET;
	case S_IFIFO:
		return VNODE_FIFO;
	default:
		return VNODE_UNKNOWN;
	}
}

static bool is_new_repository_rule(const struct rule *rule)
{
	for (size_t i = 0; rule && i < rule->n_modifiers; i++)
		if (rule->modifiers[i].id == MODIFIER_MESSAGE &&
		    str_eq(rule->modifiers[i].text, STR(BROKER_NEW_REPOSITORY)))
			return true;
	return false;
}

/* What the scope says beside the profile: pseudo-terminals of a private devpts are the session's. */
static bool scope_allows(const struct broker *broker, struct str path)
{
	return broker->own_pts && str_is_below(path, STR("/dev/pts"));
}

/*
 * A private /tmp that no mount could make: the command gets its scratch folder and what belongs to
 * the run, nothing else of it. The floor is drawn along the same line (plan/).
 */
static bool scope_denies(const struct broker *broker, struct str path)
{
	const struct plan_input *input = broker->input;

	if (!input->scratch.n || !str_is_below(path, STR("/tmp")) || path.n == strlen("/tmp") ||
	    str_is_below(path, input->scratch))
		return false;
	for (size_t i = 0; i < input->n_keep; i++)
		if (str_is_below(path, input->keep[i]))
			return false;
	return true;
}

bool judge(const struct call *call, enum op op, const struct subject *subject)
{
	const struct broker *broker = call->broker;
	const struct place *place = subject->place;
	struct str path = {place->path, place->path_n};
	struct request request = {.op = op, .path = path};
	struct decision decision;

	/* An object without a name (pipe, memfd, unlinked file): who holds it has it already. */
	if (path.n == 0)
		return true;
	if (scope_allows(broker, path))
		return true;
	if (scope_denies(broker, path))
		return false;
	if (subject->vnode_type != VNODE_UNKNOWN) {
		request.has |= HAS_VNODE_TYPE;
		request.vnode_type = subject->vnode_type;
	}
	if (subject->has_mode) {
		request.has |= HAS_FILE_MODE;
		request.file_mode = subject->mode & 07777;
	}
	if (subject->xattr)
		request.xattr = str_of(subject->xattr);
	policy_decide_at(broker->policy, place->state, &request, &decision);
	if (decision.verdict == VERDICT_ALLOW)
		return true;
	return is_new_repository_rule(decision.rule) && fresh_has(&broker->fresh, path);
}

bool judge_move(const struct call *call, const struct place *from, const struct place *to,
		bool is_directory)
{
	static const enum op watched[] = {
		OP_FILE_READ_DATA,   OP_FILE_READ_METADATA, OP_FILE_WRITE_DATA, OP_FILE_WRITE_CREATE,
		OP_FILE_WRITE_UNLINK, OP_FILE_WRITE_MODE,    OP_PROCESS_EXEC_ANY, OP_COUNT,
	};
	const struct broker *broker = call->broker;
	unsigned change;

	if (from->path_n == 0 || from->state == to->state)
		return true;
	change = policy_compare(broker->policy, from->state, to->state, is_directory, watched,
				COMPARE_WORK);
	/* A directory must not carry a name to where that name may not be made. */
	return !(change & REGION_LOOSER) && !(is_directory && (change & REGION_STRICTER));
}
