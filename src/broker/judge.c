/* SPDX-License-Identifier: Apache-2.0 */
/* The policy's answer about a pinned place. */
#include "broker/call.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "plan/territory.h"
#include "base/banned.h"

/* Past this many pairs of states a move counts as a change: EXDEV, and `mv` copies. */
enum {
	COMPARE_WORK = 100000
};

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

static const char shm_place[] = "/dev/shm";

static bool is_new_repository_rule(const struct rule *rule)
{
	for (size_t i = 0; rule && i < rule->n_modifiers; i++)
		if (rule->modifiers[i].id == MODIFIER_MESSAGE &&
		    str_eq(rule->modifiers[i].text, STR(PLAN_NEW_REPOSITORY)))
			return true;
	return false;
}

/* Is the pseudo-terminal at PATH that of LAYER's session? */
static bool is_own_terminal(const struct call *call, const struct layer *layer, struct str path)
{
	const struct str slaves = STR("/dev/pts/");
	size_t digits;
	int number;

	if (call->broker->own_pts && !layer->run)
		return true;
	if (!str_starts(path, slaves))
		return false;
	number = str_number(str_skip(path, slaves.n), &digits);
	return number >= 0 && digits == path.n - slaves.n && pty_is_ours(call, layer, number);
}

/* Is the directory that holds PLACE /dev/shm itself, or one that the session made there? */
static bool is_own_folder(const struct broker *broker, const struct place *place)
{
	struct str folder = place_path(place);
	struct stat st;

	while (folder.n > 0 && folder.p[folder.n - 1] != '/')
		folder.n--;
	folder.n -= folder.n > 0;
	return folder.n <= strlen(shm_place) ||
	       (fstat(place->dir, &st) == 0 && made_has_inode(&broker->shm, folder, st.st_ino));
}

/*
 * In a shared /dev/shm the session's is what it made: the name and the inode. A name that is not
 * there may be made (that is done exclusively), and nothing else.
 */
static bool is_own_shm(const struct broker *broker, const struct place *place, enum op op)
{
	struct str path = place_path(place);
	struct stat st = {.st_ino = place->inode};
	int r = 0;

	/* In a folder of somebody else's nothing is. */
	if (place->dir >= 0 && !is_own_folder(broker, place))
		return false;

	if (path.n == strlen(shm_place))
		return op != OP_FILE_WRITE_UNLINK;
	if (place->object >= 0)
		r = fstat(place->object, &st);
	else if (!place->inode)
		r = fstatat(broker->root, path.p + 1, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0)
		return place->object < 0 && op != OP_FILE_WRITE_UNLINK;
	return made_has_inode(&broker->shm, path, st.st_ino);
}

/*
 * A private /tmp that no mount could make: the command gets its scratch folder and what belongs to
 * the run, nothing else of it. The floor is drawn along the same line (plan/).
 */
static bool is_own_tmp(const struct plan_input *input, struct str path, enum op op)
{
	if (path.n == strlen("/tmp") || str_is_below(path, input->scratch))
		return true;
	for (size_t i = 0; i < input->n_keep; i++)
		if (str_is_below(path, input->keep[i]))
			return true;
	for (size_t i = 0; i < input->n_show; i++)
		if (str_is_below(path, input->show[i]))
			return op == OP_FILE_READ_DATA || op == OP_PROCESS_EXEC_ANY;
	return false;
}

/* Is PATH below a private mount, but what is there not in it: covered, and reached by descriptor?
 */
static bool is_covered(const struct broker *broker, struct str path, dev_t device)
{
	if (broker->own_shm && str_is_below(path, str_of(shm_place)))
		return device != broker->own_shm;
	if (!broker->own_tmp || !str_is_below(path, STR("/tmp")))
		return false;
	/* What was at its place before the private /tmp is there again. */
	return device != broker->own_tmp && !plan_is_mounted(broker->plan, MOUNT_KEEP, path);
}

bool judge_by_inode(const struct broker *broker, const struct place *place)
{
	return broker->shared_shm && str_is_below(place_path(place), str_of(shm_place));
}

/* Nobody keeps count of what a run inside makes in a /dev/shm that is not private: it gets none. */
static bool shm_denies(const struct broker *broker, const struct layer *layer,
		       const struct place *place, enum op op)
{
	if (layer->run)
		return (layer->input->private_scope & SCOPE_SHM) &&
		       str_is_below(place_path(place), str_of(shm_place));
	return judge_by_inode(broker, place) && !is_own_shm(broker, place, op);
}

static bool scope_denies(const struct broker *broker, const struct layer *layer,
			 const struct place *place, enum op op)
{
	struct str path = place_path(place), scratch = layer->input->scratch;

	if (is_covered(broker, path, place->device) || shm_denies(broker, layer, place, op))
		return true;
	/* The scratch folder itself is removed by name at the end: nothing else may get that name.
	 */
	if (scratch.n && str_eq(path, scratch))
		return op == OP_FILE_WRITE_UNLINK || op == OP_FILE_WRITE_CREATE;
	return scratch.n && str_is_below(path, STR("/tmp")) && !is_own_tmp(layer->input, path, op);
}

/* Of what is its own the session may do these, whatever the profile says. */
static bool is_scoped(enum op op)
{
	switch (op) {
	case OP_FILE_READ_DATA:
	case OP_FILE_WRITE_DATA:
	case OP_FILE_WRITE_CREATE:
	case OP_FILE_WRITE_UNLINK:
	case OP_FILE_LINK:
	case OP_FILE_WRITE_MODE:
	case OP_FILE_WRITE_OWNER:
	case OP_FILE_WRITE_TIMES:
	case OP_FILE_WRITE_XATTR:
	case OP_FILE_WRITE_ACL:
		return true;
	default:
		return false;
	}
}

/*
 * Where scope_denies() has let through what is the session's. The floor says the same (plan/). What
 * is private to the sandbox around a run is that one's, too.
 */
static bool scope_allows(const struct call *call, const struct layer *layer, struct str path,
			 enum op op)
{
	const struct broker *broker = call->broker;
	unsigned around = layer->input->around, scope = layer->input->private_scope | around;
	bool own_shm = layer->run ? around & SCOPE_SHM : broker->own_shm || broker->shared_shm;

	if (!is_scoped(op))
		return false;
	if ((scope & SCOPE_PTS) && str_is_below(path, STR("/dev/pts")))
		return is_own_terminal(call, around & SCOPE_PTS ? &broker->own : layer, path);
	return own_shm && str_is_below(path, str_of(shm_place));
}

void judge_made(struct broker *broker, const struct place *place)
{
	struct str path = place_path(place);
	struct stat st;

	if (judge_by_inode(broker, place) &&
	    fstatat(place->dir, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		made_add_inode(&broker->shm, path, st.st_ino);
}

void judge_moved(struct broker *broker, const struct place *from, const struct place *to)
{
	if (broker->shared_shm)
		made_move(&broker->shm, place_path(from), place_path(to), NULL);
}

/* Was the object that the session made as PATH removed now? */
static bool remove_made(const struct broker *broker, const char *path, ino_t inode)
{
	struct stat st;

	return fstatat(broker->root, path + 1, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_ino == inode &&
	       unlinkat(broker->root, path + 1, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) == 0;
}

void judge_clean_up(struct broker *broker)
{
	const struct made *shm = &broker->shm;
	size_t removed;

	if (!broker->shared_shm)
		return;
	do { /* a folder goes once it is empty */
		removed = 0;
		for (size_t i = 0; i < shm->n; i++)
			removed += remove_made(broker, shm->paths[i], shm->inodes[i]);
	} while (removed > 0);
}

void judge_removed(struct broker *broker, const struct place *place)
{
	if (broker->shared_shm)
		made_remove(&broker->shm, place_path(place));
}

/* May the object or the parameter called NAME be used for OP? */
static bool judge_name(const struct layer *layer, enum op op, struct str name)
{
	struct fact fact = {
		.filter = op_takes(op, FILTER_SYSCTL_NAME) ? FILTER_SYSCTL_NAME
							   : FILTER_IPC_POSIX_NAME,
		.text = name,
	};
	const struct request request = {.op = op, .facts = &fact, .n_facts = 1};

	return layer_allows(layer, &request);
}

/* What other operations than those of files say. *RET_FILES: files have a say too. */
static bool judge_territory(const struct layer *layer, const struct request *request,
			    struct str path, bool *ret_files)
{
	bool directory = (request->has & HAS_VNODE_TYPE) && request->vnode_type == VNODE_DIRECTORY;
	struct territory_question question;
	char buffer[TERRITORY_NAME_MAX];

	*ret_files = true;
	if (!territory_question(path, request->op, directory, buffer, &question))
		return true;
	*ret_files = question.and_files;
	for (const enum op *op = question.ops; *op != OP_DEFAULT; op++)
		if (!judge_name(layer, *op, question.name))
			return false;
	return true;
}

static bool judge_layer(const struct call *call, unsigned i, const struct place *place,
			const struct request *request)
{
	const struct layer *layer = call->layers[i];
	struct str path = place_path(place);
	struct decision decision;
	bool files;

	if (scope_denies(call->broker, layer, place, request->op))
		return false;
	if (scope_allows(call, layer, path, request->op))
		return true;
	if (!judge_territory(layer, request, path, &files))
		return false;
	if (!files)
		return true;
	policy_decide_at(layer->policy, place->states[i], request, &decision);
	if (decision.verdict == VERDICT_ALLOW)
		return true;
	return is_new_repository_rule(decision.rule) && fresh_has(&layer->fresh, path);
}

bool judge_request(const struct call *call, const struct place *place, struct request *request)
{
	struct str path = place_path(place);

	/* An object that never had a name (pipe, memfd): who holds it has it already. */
	if (path.n == 0 && request->op != OP_PROCESS_EXEC_ANY)
		return true;
	request->path = path;
	for (unsigned i = 0; i < call->n_layers; i++)
		if (!judge_layer(call, i, place, request))
			return false;
	return call->n_layers > 0;
}

bool layer_allows(const struct layer *layer, const struct request *request)
{
	struct decision decision;

	policy_decide(layer->policy, request, &decision);
	return decision.verdict == VERDICT_ALLOW;
}

bool judge_pathless(const struct call *call, const struct request *request)
{
	for (unsigned i = 0; i < call->n_layers; i++)
		if (!layer_allows(call->layers[i], request))
			return false;
	return call->n_layers > 0;
}

struct subject subject_of(const struct place *place, const struct stat *st)
{
	return (struct subject){
		.place = place,
		.vnode_type = vnode_type_of(st->st_mode),
		.has_mode = true,
		.mode = st->st_mode,
		.device = S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode) ? st->st_rdev : 0,
	};
}

bool judge(const struct call *call, enum op op, const struct subject *subject)
{
	struct request request = {.op = op};

	if (subject->vnode_type != VNODE_UNKNOWN) {
		request.has |= HAS_VNODE_TYPE;
		request.vnode_type = subject->vnode_type;
	}
	if (subject->has_mode) {
		request.has |= HAS_FILE_MODE;
		request.file_mode = subject->mode & 07777;
	}
	if (subject->device) {
		request.has |= HAS_DEVICE;
		request.device_major = major(subject->device);
		request.device_minor = minor(subject->device);
	}
	if (subject->xattr)
		request.xattr = str_of(subject->xattr);
	return judge_request(call, subject->place, &request);
}

/* What is in the scratch folder is removed at the end, whatever it is called. */
static bool crosses_scratch(const struct plan_input *input, const struct place *from,
			    const struct place *to)
{
	struct str a = place_path(from), b = place_path(to);

	return input->scratch.n &&
	       str_is_below(a, input->scratch) != str_is_below(b, input->scratch);
}

static bool has_row(const struct plan *plan, const struct place *place)
{
	for (size_t i = 0; i < plan->n_rows; i++)
		if (str_eq(str_of(plan->rows[i].path), place_path(place)))
			return true;
	return false;
}

static bool layer_lets_move(const struct call *call, unsigned i, const struct place *from,
			    const struct place *to, mode_t mode)
{
	const bool is_directory = S_ISDIR(mode);
	const enum op *ops = is_directory || S_ISSOCK(mode) ? plan_move_ops : plan_move_file_ops;
	const struct layer *layer = call->layers[i];
	policy_state old = from->states[i], new = to->states[i];
	unsigned change;

	if (is_directory && crosses_scratch(layer->input, from, to))
		return false;
	if (from->path_n == 0 || old == new)
		return true;
	change = policy_compare(layer->policy, old, new, is_directory, ops, COMPARE_WORK);
	if (change & REGION_LOOSER)
		return false;
	/*
	 * A directory must not carry a name to where that name may not be made; and what the floor
	 * grants a file by name stays with the file.
	 */
	return !(change & REGION_STRICTER) || !(is_directory || has_row(layer->plan, from));
}

bool judge_move(const struct call *call, const struct place *from, const struct place *to,
		mode_t mode)
{
	for (unsigned i = 0; i < call->n_layers; i++)
		if (!layer_lets_move(call, i, from, to, mode))
			return false;
	return call->n_layers > 0;
}
