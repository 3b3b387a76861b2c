/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make, remove and move names. The kernel's own errors come before ours: what is not
 * there is ENOENT and what is there already is EEXIST, denied or not, as tools expect. */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "broker/fresh.h"
#include "base/banned.h"

/* Which argument holds what, for the call with and without `at`. -1: not there. */
struct layout {
	int nr;
	signed char dirfd, path, dirfd2, path2, extra, extra2;
};

static const struct layout layouts[] = {
/*                  dirfd path dirfd2 path2 extra extra2 */
#ifdef SYS_mkdir
	{SYS_mkdir, -1, 0, -1, -1, 1, -1},   {SYS_mknod, -1, 0, -1, -1, 1, 2},
	{SYS_unlink, -1, 0, -1, -1, -1, -1}, {SYS_rmdir, -1, 0, -1, -1, -1, -1},
	{SYS_symlink, -1, 1, -1, 0, -1, -1}, {SYS_link, -1, 0, -1, 1, -1, -1},
	{SYS_rename, -1, 0, -1, 1, -1, -1},
#endif
	{SYS_mkdirat, 0, 1, -1, -1, 2, -1},  {SYS_mknodat, 0, 1, -1, -1, 2, 3},
	{SYS_unlinkat, 0, 1, -1, -1, 2, -1}, {SYS_symlinkat, 1, 2, -1, 0, -1, -1},
	{SYS_linkat, 0, 1, 2, 3, 4, -1},
#ifdef SYS_renameat
	{SYS_renameat, 0, 1, 2, 3, -1, -1},
#endif
	{SYS_renameat2, 0, 1, 2, 3, 4, -1},
};

struct names {
	int dirfd, dirfd2;
	char path[PATH_MAX], path2[PATH_MAX];
	uint64_t extra, extra2;
};

static int read_names(const struct call *call, struct names *ret)
{
	const struct layout *layout = layouts;
	const uint64_t *args = call->args;

	while (layout->nr != call->nr)
		layout++;
	ret->dirfd = layout->dirfd < 0 ? AT_FDCWD : (int)args[layout->dirfd];
	ret->dirfd2 = layout->dirfd2 < 0 ? AT_FDCWD : (int)args[layout->dirfd2];
	ret->extra = layout->extra < 0 ? 0 : args[layout->extra];
	ret->extra2 = layout->extra2 < 0 ? 0 : args[layout->extra2];
	if (call_read_string(call, args[layout->path], ret->path, sizeof(ret->path)) < 0)
		return -1;
	if (layout->path2 < 0)
		return 0;
	return call_read_string(call, args[layout->path2], ret->path2, sizeof(ret->path2));
}

static bool exists(const struct place *place, struct stat *ret)
{
	return fstatat(place->dir, place->name, ret, AT_SYMLINK_NOFOLLOW) == 0;
}

/* As exists(), and what is judged from here on is what was there then. */
static bool look_at(struct place *place, struct stat *ret)
{
	bool there = exists(place, ret);

	place->inode = there ? ret->st_ino : 0;
	return there;
}

static bool may_create(const struct call *call, const struct place *place, mode_t mode)
{
	struct subject subject = {
		.place = place, .vnode_type = vnode_type_of(mode), .has_mode = true, .mode = mode};
	enum op op = S_ISCHR(mode) || S_ISBLK(mode) ? OP_FILE_MKNOD : OP_FILE_WRITE_CREATE;

	if (!judge(call, op, &subject))
		return false;
	return S_ISDIR(mode) || !(mode & (S_ISUID | S_ISGID)) ||
	       judge(call, OP_FILE_WRITE_SETUGID, &subject);
}

/* For calls that make a new name: 0, or the error the caller gets. */
static int create_error(const struct call *call, const struct place *place, mode_t mode)
{
	struct stat st;

	if (may_create(call, place, mode))
		return 0;
	return exists(place, &st) ? EEXIST : call_denial(place->dir, W_OK | X_OK);
}

/* As create_error() for what is no directory and so takes no slash at its end. */
static int file_error(const struct call *call, const struct place *place, mode_t mode)
{
	struct stat st;

	if (place->trailing_slash)
		return exists(place, &st) ? EEXIST : errno;
	return create_error(call, place, mode);
}

static bool may_remove(const struct call *call, const struct place *place, const struct stat *st)
{
	struct subject subject = subject_of(place, st);

	return judge(call, OP_FILE_WRITE_UNLINK, &subject);
}

/* ---- Making ---- */

void handle_mkdir(struct call *call)
{
	struct place cleanup_place place = PLACE_NONE;
	struct names names;
	int error;
	long r;

	if (read_names(call, &names) < 0 ||
	    resolve_name(call, names.dirfd, names.path, &place) < 0) {
		call_error(call, errno);
		return;
	}
	error = create_error(call, &place, S_IFDIR | (mode_t)(names.extra & 07777));
	if (error) {
		call_error(call, error);
		return;
	}
	r = mkdirat(place.dir, place.name, (mode_t)names.extra);
	if (r == 0) {
		judge_made(call->broker, &place);
		nested_made(call, place_path(&place));
	}
	call_result(call, r);
}

void handle_mknod(struct call *call)
{
	struct place cleanup_place place = PLACE_NONE;
	struct names names;
	int error;
	long r;

	if (read_names(call, &names) < 0 ||
	    resolve_name(call, names.dirfd, names.path, &place) < 0) {
		call_error(call, errno);
		return;
	}
	error = file_error(call, &place, (mode_t)names.extra);
	if (error) {
		call_error(call, error);
		return;
	}
	/* The call itself: the library's refuses what the kernel ignores. */
	r = syscall(SYS_mknodat, place.dir, place.name, (mode_t)names.extra,
		    (unsigned)names.extra2);
	if (r == 0)
		judge_made(call->broker, &place);
	call_result(call, r);
}

void handle_symlink(struct call *call)
{
	struct place cleanup_place place = PLACE_NONE;
	struct names names;
	int error;
	long r;

	if (read_names(call, &names) < 0 ||
	    resolve_name(call, names.dirfd, names.path, &place) < 0) {
		call_error(call, errno);
		return;
	}
	error = file_error(call, &place, S_IFLNK | 0777);
	if (error) {
		call_error(call, error);
		return;
	}
	r = symlinkat(names.path2, place.dir, place.name);
	if (r == 0)
		judge_made(call->broker, &place);
	call_result(call, r);
}

/* ---- Removing ---- */

static int special_remove_error(const char *name, bool directory)
{
	if (!directory)
		return EISDIR;
	return strcmp(name, ".") == 0 ? EINVAL : strcmp(name, "..") == 0 ? ENOTEMPTY : EBUSY;
}

void handle_unlink(struct call *call)
{
	struct place cleanup_place place = PLACE_NONE;
	struct names names;
	struct stat st;
	bool directory;
	long r;

	if (read_names(call, &names) < 0) {
		call_error(call, errno);
		return;
	}
	directory = names.extra & AT_REMOVEDIR;
#ifdef SYS_rmdir
	directory |= call->nr == SYS_rmdir;
#endif
	if ((unsigned)names.extra & ~(unsigned)AT_REMOVEDIR) {
		call_error(call, EINVAL);
	} else if (resolve_name(call, names.dirfd, names.path, &place) < 0) {
		call_error(call,
			   errno == EEXIST ? special_remove_error(place.name, directory) : errno);
	} else if (!look_at(&place, &st)) {
		call_error(call, errno);
	} else if (!directory && place.trailing_slash) {
		call_error(call, S_ISDIR(st.st_mode) ? EISDIR : ENOTDIR);
	} else if (!may_remove(call, &place, &st)) {
		call_error(call, call_denial(place.dir, W_OK | X_OK));
	} else {
		r = unlinkat(place.dir, place.name, directory ? AT_REMOVEDIR : 0);
		if (r == 0)
			judge_removed(call->broker, &place);
		if (r == 0 && directory)
			nested_removed(call->broker, place_path(&place));
		call_result(call, r);
	}
}

/* ---- Linking ---- */

static void link_pinned(struct call *call, const struct place *from, const struct place *to)
{
	int r = linkat(AT_FDCWD, fd_path(from->object).text, to->dir, to->name, AT_SYMLINK_FOLLOW);

	if (r == 0)
		judge_made(call->broker, to);
	call_result(call, r);
}

void handle_link(struct call *call)
{
	struct place cleanup_place from = PLACE_NONE;
	struct place cleanup_place to = PLACE_NONE;
	struct subject subject;
	struct names names;
	struct stat st;
	int error;

	if (read_names(call, &names) < 0) {
		call_error(call, errno);
		return;
	}
	if ((unsigned)names.extra & ~(unsigned)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) {
		call_error(call, EINVAL);
		return;
	}
	if (resolve_object(call, names.dirfd, names.path, names.extra & AT_SYMLINK_FOLLOW,
			   names.extra & AT_EMPTY_PATH, &from) < 0 ||
	    fstat(from.object, &st) < 0 || resolve_name(call, names.dirfd2, names.path2, &to) < 0) {
		call_error(call, errno);
		return;
	}
	subject = subject_of(&from, &st);
	/* Set-id bits come along as they are: the file has them already. */
	error = file_error(call, &to, st.st_mode & ~(mode_t)07000);
	if (!error && (S_ISDIR(st.st_mode) || !judge(call, OP_FILE_LINK, &subject)))
		error = exists(&to, &st) ? EEXIST : errno == ENOENT ? EPERM : errno;
	if (error)
		call_error(call, error);
	else if (!judge_move(call, &from, &to, st.st_mode))
		call_error(call, exists(&to, &st) ? EEXIST : EXDEV);
	else
		link_pinned(call, &from, &to);
}

/* ---- Renaming ---- */

/* What is old must not get new by lying in a git directory that is. */
static bool may_move(const struct call *call, const struct place *from, const struct place *to,
		     const struct stat *st)
{
	bool gets_new = false;

	for (unsigned i = 0; i < call->n_layers && S_ISDIR(st->st_mode); i++) {
		const struct fresh *fresh = &call->layers[i]->fresh;

		gets_new |= fresh_has(fresh, place_path(to)) && !fresh_has(fresh, place_path(from));
	}
	return !gets_new && judge_move(call, from, to, st->st_mode);
}

struct renaming {
	struct place from, to;
	unsigned flags;
	bool replaces;                    /* something is at `to` */
	struct stat old, new;             /* what is at `from`, and there */
	struct stat moved_old, moved_new; /* the same once moved, at `to` and at `from` */
};

static void renaming_release(struct renaming *renaming)
{
	place_release(&renaming->from);
	place_release(&renaming->to);
}
#define cleanup_renaming __attribute__((cleanup(renaming_release)))

/* May OLD get from the one name to the other, and NEW, if it is there, make room? 0, or EXDEV ...
 */
static int moving_error(const struct call *call, const struct renaming *renaming,
			const struct stat *old, const struct stat *new)
{
	const struct place *from = &renaming->from, *to = &renaming->to;
	bool exchange = renaming->flags & RENAME_EXCHANGE;

	if (!may_remove(call, from, old))
		return call_denial(from->dir, W_OK | X_OK);
	if (renaming->replaces && !may_remove(call, to, new))
		return call_denial(to->dir, W_OK | X_OK);
	/* Set-id bits come along as they are: their file has them already. */
	if (!may_create(call, to, old->st_mode & ~(mode_t)07000))
		return call_denial(to->dir, W_OK | X_OK);
	if (exchange && !may_create(call, from, new->st_mode & ~(mode_t)07000))
		return call_denial(from->dir, W_OK | X_OK);
	/* A white-out leaves a device node where the name was. */
	if ((renaming->flags & RENAME_WHITEOUT) && !may_create(call, from, S_IFCHR))
		return EPERM;
	if (!may_move(call, from, to, old) || (exchange && !may_move(call, to, from, new)))
		return EXDEV;
	return 0;
}

/* A rename with the kernel's errors first. 0, or the error. */
static int rename_error(const struct call *call, struct renaming *renaming)
{
	struct place *from = &renaming->from, *to = &renaming->to;
	unsigned flags = renaming->flags;
	/* What a slash at the end of the new name is about. */
	const struct stat *slashed = flags & RENAME_EXCHANGE ? &renaming->new : &renaming->old;
	int gone = look_at(from, &renaming->old) ? 0 : errno;

	renaming->replaces = look_at(to, &renaming->new);
	/* That a directory may not be searched comes before what is not in the other. */
	if (gone && (gone == EACCES || renaming->replaces || errno != EACCES))
		return gone;
	if (!renaming->replaces && (errno != ENOENT || (flags & RENAME_EXCHANGE)))
		return errno;
	if ((flags & RENAME_NOREPLACE) && renaming->replaces)
		return EEXIST;
	if ((from->trailing_slash && !S_ISDIR(renaming->old.st_mode)) ||
	    (to->trailing_slash && !S_ISDIR(slashed->st_mode)))
		return ENOTDIR;
	return moving_error(call, renaming, &renaming->old, &renaming->new);
}

/* ---- What was moved ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Do verdicts on the two names rest on nothing that differs between what was there and is? */
static bool is_alike(const struct call *call, const struct renaming *renaming, const struct stat *a,
		     const struct stat *b)
{
	if (judge_by_inode(call->broker, &renaming->from) ||
	    judge_by_inode(call->broker, &renaming->to))
		return is_same(a, b);
	return a->st_mode == b->st_mode && a->st_rdev == b->st_rdev;
}

/* May what is there now be there? It may have been moved on meanwhile, by who may. */
static bool is_well_moved(const struct call *call, struct renaming *renaming)
{
	bool exchange = renaming->flags & RENAME_EXCHANGE;
	const struct stat *old = &renaming->moved_old, *new = &renaming->moved_new;

	if (!exists(&renaming->to, &renaming->moved_old))
		renaming->moved_old = renaming->old;
	if (!exchange || !exists(&renaming->from, &renaming->moved_new))
		renaming->moved_new = renaming->new;
	if (is_alike(call, renaming, old, &renaming->old) &&
	    (!exchange || is_alike(call, renaming, new, &renaming->new)))
		return true;
	/* In a shared /dev/shm, only what was judged is the session's. */
	return !judge_by_inode(call->broker, &renaming->from) &&
	       !judge_by_inode(call->broker, &renaming->to) &&
	       moving_error(call, renaming, old, new) == 0;
}

static long move_names(const struct place *from, const struct place *to, unsigned flags)
{
	return syscall(SYS_renameat2, from->dir, from->name, to->dir, to->name, flags);
}

/* ---- The way back ---- */

/* What came from `from` to `at` and may not be there. */
struct stray {
	const struct place *from, *at;
	const struct stat *what;
};

static bool is_at(const struct place *place, const struct stat *what)
{
	struct stat st;

	return exists(place, &st) && is_same(&st, what);
}

/* May WHAT, which was at FROM, be called TO? */
static bool may_come(const struct call *call, const struct place *from, const struct place *to,
		     const struct stat *what)
{
	return may_create(call, to, what->st_mode & ~(mode_t)07000) &&
	       may_move(call, from, to, what);
}

static void give_up(const struct call *call)
{
	atomic_store(&call->broker->broken, "what others put in the place of a renamed file "
					    "could not be taken back");
}

/* 0, or the error; EEXIST: PLACE is taken. */
static int move_if_free(const struct place *from, const struct place *to)
{
	struct stat st;

	if (move_names(from, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return errno;
	/* The file system knows no flags. */
	if (exists(to, &st))
		return EEXIST;
	return move_names(from, to, 0) == 0 ? 0 : errno;
}

/*
 * Is at PLACE, a name that only the broker knew, what was to go there? Something else has been
 * exchanged for it before, and may be there if the policy says so.
 */
static bool may_keep(const struct call *call, const struct stray *stray, const struct place *place)
{
	struct stat st;

	if (!exists(place, &st))
		return errno == ENOENT;
	if (is_same(&st, stray->what) ||
	    (may_remove(call, stray->at, &st) && may_come(call, stray->at, place, &st)))
		return true;
	(void)move_if_free(place, stray->at);
	return false;
}

/* To a name that nobody can have prepared, in the directory of NEIGHBOUR. */
static int stray_beside(const struct call *call, const struct stray *stray,
			const struct place *neighbour)
{
	struct place cleanup_place beside = PLACE_NONE;
	int error = EEXIST, tries = 0;
	char name[64];
	uint64_t n;

	while (error == EEXIST && ++tries <= 8) {
		if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != (ssize_t)sizeof(n))
			return EAGAIN;
		(void)snprintf(name, sizeof(name), ".lapbelt-moved-%016llx", (unsigned long long)n);
		place_release(&beside);
		if (resolve_beside(call, neighbour, name, &beside) < 0)
			return errno;
		if (!may_come(call, stray->from, &beside, stray->what))
			return EPERM;
		error = move_if_free(stray->at, &beside);
		if (!error && !may_keep(call, stray, &beside))
			give_up(call);
	}
	return error;
}

/*
 * Where it was, or beside that, or beside where it is; the latter two only if it may be there, and
 * gets no more permitted than it was. Else the run ends.
 */
static void stray_away(const struct call *call, const struct stray *stray)
{
	if (is_at(stray->at, stray->what) && move_if_free(stray->at, stray->from) != 0 &&
	    stray_beside(call, stray, stray->from) != 0 &&
	    stray_beside(call, stray, stray->at) != 0 && is_at(stray->at, stray->what))
		give_up(call);
}

static void move_back(const struct call *call, const struct renaming *renaming)
{
	const struct place *from = &renaming->from, *to = &renaming->to;
	const struct stray old = {from, to, &renaming->moved_old};
	const struct stray new = {to, from, &renaming->moved_new};
	bool exchange = renaming->flags & RENAME_EXCHANGE;

	if (exchange && move_names(to, from, RENAME_EXCHANGE) == 0)
		return;
	stray_away(call, &old);
	if (exchange)
		stray_away(call, &new);
}

/*
 * The kernel has moved what had the name by then. Calls of this run wait for each other, but
 * another run, or anybody outside, may have put something else there since it was judged. So that
 * is judged in its turn, and goes back if need be. Whether it had to.
 */
static bool take_back(const struct call *call, struct renaming *renaming)
{
	struct broker *broker = call->broker;

	if (is_well_moved(call, renaming))
		return false;
	move_back(call, renaming);
	/* What has these names now is not what the session gave them; and what was replaced is
	 * gone. */
	nested_removed(broker, place_path(&renaming->from));
	nested_removed(broker, place_path(&renaming->to));
	if (!(renaming->flags & RENAME_EXCHANGE))
		judge_removed(broker, &renaming->to);
	return true;
}

/* Finds both ends. 0, or the error: that of a way there comes before that of its last component. */
static int rename_places(const struct call *call, const struct names *names, unsigned flags,
			 struct place *from, struct place *to)
{
	int first = resolve_name(call, names->dirfd, names->path, from) < 0 ? errno : 0;
	int second;

	if (first && first != EEXIST)
		return first;
	second = resolve_name(call, names->dirfd2, names->path2, to) < 0 ? errno : 0;
	if (second && second != EEXIST)
		return second;
	if (!first && second && (flags & RENAME_NOREPLACE))
		return EEXIST;
	return first || second ? EBUSY : 0;
}

/* All of it, judged. 0, or the error. */
static int do_rename(const struct call *call, struct renaming *renaming)
{
	struct broker *broker = call->broker;
	struct str from = place_path(&renaming->from), to = place_path(&renaming->to);
	unsigned flags = renaming->flags;

	/* A name that was free is taken only while it is: it may be somebody else's by now. */
	if (broker->shared_shm && !renaming->replaces)
		flags |= RENAME_NOREPLACE;
	if (move_names(&renaming->from, &renaming->to, flags) < 0)
		return errno;
	if (take_back(call, renaming))
		return EXDEV;
	if (flags & RENAME_EXCHANGE) {
		/* Which is new can no longer be told by its name: both are protected again. */
		nested_removed(broker, from);
		nested_removed(broker, to);
	} else {
		judge_moved(broker, &renaming->from, &renaming->to);
		nested_moved(call, from, to);
	}
	return 0;
}

void handle_rename(struct call *call)
{
	struct renaming cleanup_renaming renaming = {.from = PLACE_NONE, .to = PLACE_NONE};
	struct names names;
	unsigned flags;
	int error;

	if (read_names(call, &names) < 0) {
		call_error(call, errno);
		return;
	}
	flags = (unsigned)names.extra;
	if ((flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)) ||
	    ((flags & RENAME_EXCHANGE) && flags != RENAME_EXCHANGE)) {
		call_error(call, EINVAL);
		return;
	}
	renaming.flags = flags;
	error = rename_places(call, &names, flags, &renaming.from, &renaming.to);
	if (!error)
		error = rename_error(call, &renaming);
	if (!error)
		error = do_rename(call, &renaming);
	if (error)
		call_error(call, error);
	else
		call_value(call, 0);
}
