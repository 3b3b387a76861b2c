/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of policy tests (lapbelt-test(5)) judged by the simulators, for kernels that are data:
 * what the floor and the filter let pass, the policy allows, and what they refuse, it denies; but
 * for what a gap of the plan says. What the filter hands to the broker is answered by the policy.
 * Usage: simulators_test FILE.sbt...
 */
#include "plan_fixture.h"

#include "base/io.h"
#include "base/path.h"
#include "cli/sbt.h"
#include "facade.h"
#include "plan/seccomp.h"
#include "plan/territory.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Machines ---- */

static const struct kernel {
	const char *name;
	int landlock_abi;
	bool wait_killable;
} kernels[] = {
	{"5.13", 1, false}, {"5.19", 2, true}, {"6.2", 3, true},
	{"6.7", 4, true},   {"6.10", 5, true}, {"6.12", 6, true},
	{"6.15", 7, true},  {"7.0", 8, true},  {"7.2", 9, true},
};

enum {
	MACHINES = COUNT(kernels) * 8 /* each with the disk full or empty, as exec and as run */
};

/* All kernels with and without listener, user namespaces and root, by turns of one architecture. */
static struct caps machine(size_t i)
{
	const struct kernel *kernel = &kernels[i / 8];

	return (struct caps){
		.arch = (i / 8 + i) % 2 ? ARCH_AARCH64 : ARCH_X86_64,
		.landlock_abi = kernel->landlock_abi,
		.wait_killable = kernel->wait_killable,
		.notify = !(i & 1),
		.userns = !(i & 2),
		.mount_proc = !(i & 2),
		.mount_setattr = true,
		.pidfd_getfd = true,
		.root = (i & 4) != 0,
	};
}

/* ---- The disk: what the rows of a case name, or nothing of it ---- */

enum {
	OBJECTS_MAX = 1024
};

struct object {
	char path[512];
	enum entry_type type;
};

static struct object disk[OBJECTS_MAX];
static size_t n_disk;

static struct object *find_object(const char *path)
{
	for (size_t i = 0; i < n_disk; i++)
		if (strcmp(disk[i].path, path) == 0)
			return &disk[i];
	return NULL;
}

static void put_object(struct str path, enum entry_type type)
{
	struct object *object;
	char copy[sizeof(object->path)];

	if (path.n == 0 || path.n >= sizeof(copy) || n_disk == OBJECTS_MAX)
		return;
	memcpy(copy, path.p, path.n);
	copy[path.n] = '\0';
	object = find_object(copy);
	if (!object) {
		object = &disk[n_disk++];
		memcpy(object->path, copy, path.n + 1);
		object->type = type;
	}
	if (type == ENTRY_DIRECTORY)
		object->type = type;
}

/* PATH, and the directories it lies in. */
static void put_path(struct str path, enum entry_type type)
{
	if (!path_is_canonical(path))
		return;
	put_object(STR("/"), ENTRY_DIRECTORY);
	for (size_t i = 1; i < path.n; i++)
		if (path.p[i] == '/')
			put_object((struct str){path.p, i}, ENTRY_DIRECTORY);
	put_object(path, type);
}

static void empty_disk(void)
{
	static const char *const directories[] = {"/dev/shm", "/dev/pts", "/proc/sys",
						  "/usr/bin", "/home/u",  "/tmp"};
	static const char *const files[] = {"/dev/ptmx", "/dev/null", "/usr/bin/true"};

	n_disk = 0;
	for (size_t i = 0; i < COUNT(directories); i++)
		put_path(str_of(directories[i]), ENTRY_DIRECTORY);
	for (size_t i = 0; i < COUNT(files); i++)
		put_path(str_of(files[i]), ENTRY_OTHER);
}

static int list_disk(void *context, const char *path,
		     int (*each)(void *each_context, const char *name, enum entry_type type),
		     void *each_context)
{
	const struct object *directory = find_object(path);
	int r = 0;

	(void)context;
	if (!directory || directory->type != ENTRY_DIRECTORY)
		return 1;
	for (size_t i = 0; i < n_disk && r == 0; i++)
		if (name_in(path, disk[i].path))
			r = each(each_context, name_in(path, disk[i].path), disk[i].type);
	return r;
}

/* ---- What a row asks ---- */

struct question {
	struct facade_request made;
	struct request *request;
	struct decision decision;
	bool allowed; /* with all that is asked besides */
	bool directory;
	bool present; /* its object was there when the plan was made */
	char path[512];
};

static bool decide_named(const struct policy *policy, enum op op, struct str name)
{
	const struct fact fact = {.filter = name.n && name.p[0] == '/' ? FILTER_IPC_POSIX_NAME
								       : FILTER_SYSCTL_NAME,
				  .text = name};
	struct request request = {.op = op, .facts = &fact, .n_facts = name.n > 0};
	struct decision decision;

	policy_decide(policy, &request, &decision);
	return decision.verdict == VERDICT_ALLOW;
}

/* The policy's answer, where it is other operations' to give theirs. */
static void answer(const struct policy *policy, struct question *question)
{
	static char buffer[TERRITORY_NAME_MAX];
	struct territory_question other;

	policy_decide(policy, question->request, &question->decision);
	question->allowed = question->decision.verdict == VERDICT_ALLOW;
	if (!territory_question(question->request->path, question->request->op, question->directory,
				buffer, &other))
		return;
	if (!other.and_files)
		question->allowed = true;
	for (const enum op *op = other.ops; *op != OP_DEFAULT; op++)
		question->allowed = question->allowed && decide_named(policy, *op, other.name);
}

/* ---- Acts ---- */

enum outcome {
	PASSES,
	REFUSED,
	ASKED, /* the broker is */
};

struct act {
	enum op op;
	enum call call;
	uint64_t args[6];
	uint32_t rights;
	bool on_folder; /* the rights are needed on the directory of the object */
	unsigned kinds; /* of objects; 0: any */
};

enum {
	KIND_FILE = 1 << 0,
	KIND_DIRECTORY = 1 << 1,
	KIND_SYMLINK = 1 << 2,
};

#define ACT(op, call, ...)                                                                         \
	{                                                                                          \
		OP_##op, CALL_##call, __VA_ARGS__                                                  \
	}

static const struct act acts[] = {
	ACT(FILE_READ_DATA, OPENAT, {0, 0, O_RDONLY}, LL_READ_FILE, false, KIND_FILE),
	ACT(FILE_READ_DATA, OPENAT, {0, 0, O_RDONLY}, LL_READ_DIR, false, KIND_DIRECTORY),
	ACT(FILE_WRITE_DATA, OPENAT, {0, 0, O_WRONLY}, LL_WRITE_FILE, false, KIND_FILE),
	ACT(FILE_WRITE_DATA, OPENAT, {0, 0, O_RDWR | O_TRUNC}, LL_WRITE_FILE | LL_TRUNCATE, false,
	    KIND_FILE),
	ACT(FILE_WRITE_DATA, TRUNCATE, {0}, LL_TRUNCATE, false, KIND_FILE),
	ACT(FILE_WRITE_CREATE, MKNODAT, {0, 0, S_IFREG | 0644}, LL_MAKE_REG, true, KIND_FILE),
	ACT(FILE_WRITE_CREATE, MKNODAT, {0, 0, S_IFIFO | 0644}, LL_MAKE_FIFO, true, KIND_FILE),
	ACT(FILE_WRITE_CREATE, MKDIRAT, {0, 0, 0755}, LL_MAKE_DIR, true, KIND_DIRECTORY),
	ACT(FILE_WRITE_CREATE, SYMLINKAT, {0}, LL_MAKE_SYM, true, KIND_SYMLINK),
	ACT(FILE_MKNOD, MKNODAT, {0, 0, S_IFCHR | 0644}, LL_MAKE_CHAR, true, 0),
	ACT(FILE_MKNOD, MKNODAT, {0, 0, S_IFBLK | 0644}, LL_MAKE_BLOCK, true, 0),
	ACT(FILE_WRITE_UNLINK, UNLINKAT, {0}, LL_REMOVE_FILE, true, KIND_FILE | KIND_SYMLINK),
	ACT(FILE_WRITE_UNLINK, UNLINKAT, {0, 0, AT_REMOVEDIR}, LL_REMOVE_DIR, true, KIND_DIRECTORY),
	ACT(FILE_LINK, LINKAT, {0}, LL_MAKE_REG, true, KIND_FILE),
	ACT(FILE_LINK, LINKAT, {0}, LL_REFER, true, KIND_FILE),
	ACT(FILE_WRITE_MODE, FCHMODAT, {0, 0, 0600}, 0, false, 0),
	ACT(FILE_WRITE_SETUGID, FCHMODAT, {0, 0, 04755}, 0, false, 0),
	ACT(FILE_WRITE_SETUGID, MKNODAT, {0, 0, S_IFREG | 04755}, LL_MAKE_REG, true, KIND_FILE),
	ACT(FILE_WRITE_OWNER, FCHOWNAT, {0}, 0, false, 0),
	ACT(FILE_WRITE_TIMES, UTIMENSAT, {0}, 0, false, 0),
	ACT(FILE_WRITE_XATTR, SETXATTR, {0}, 0, false, 0),
	ACT(FILE_WRITE_XATTR, REMOVEXATTR, {0}, 0, false, 0),
	ACT(FILE_WRITE_ACL, SETXATTR, {0}, 0, false, 0),
	ACT(FILE_WRITE_FLAGS, IOCTL, {0, 0x40086602}, 0, false, 0),
	ACT(PROCESS_EXEC_ANY, EXECVE, {0}, LL_EXECUTE, false, KIND_FILE),
	ACT(PROCESS_FORK, CLONE, {0}, 0, false, 0),
	ACT(FILE_IOCTL, IOCTL, {0, 0x5401}, LL_IOCTL_DEV, false, 0),
	ACT(FILE_MOUNT, MOUNT, {0}, 0, false, 0),
	ACT(FILE_UNMOUNT, UMOUNT2, {0}, 0, false, 0),
	ACT(FILE_CHROOT, CHROOT, {0}, 0, false, 0),
	ACT(SYSTEM_SET_TIME, CLOCK_SETTIME, {0}, 0, false, 0),
	ACT(IPC_SYSV_SHM, SHMGET, {0}, 0, false, 0),
	ACT(IPC_SYSV_SEM, SEMGET, {0}, 0, false, 0),
	ACT(IPC_SYSV_MSG, MSGGET, {0}, 0, false, 0),
	/* Nothing looks at these: by a call that is always allowed, as prctl(0). */
	ACT(FILE_READ_METADATA, PRCTL, {0}, 0, false, 0),
	ACT(FILE_READ_XATTR, PRCTL, {0}, 0, false, 0),
	ACT(FILE_TEST_EXISTENCE, PRCTL, {0}, 0, false, 0),
	ACT(FILE_MAP_EXECUTABLE, PRCTL, {0}, 0, false, 0),
	ACT(FILE_LOCK, PRCTL, {0}, 0, false, 0),
	ACT(DYNAMIC_CODE_GENERATION, PRCTL, {0}, 0, false, 0),
};

static enum outcome filter(const struct plan *plan, const struct caps *caps, enum call call,
			   const uint64_t args[6])
{
	struct seccomp_call data = {
		.nr = call_number(call, caps->arch),
		.arch = caps->arch == ARCH_X86_64 ? AUDIT_ARCH_X86_64_ : AUDIT_ARCH_AARCH64_,
	};
	uint32_t action;

	memcpy(data.args, args, sizeof(data.args));
	action = bpf_simulate(plan->filter, plan->n_filter, &data);
	if (action == SECCOMP_USER_NOTIF)
		return ASKED;
	return action == SECCOMP_ALLOW ? PASSES : REFUSED;
}

static bool is_granted(const struct plan *plan, const struct act *act, const char *path)
{
	char folder[512];
	char *slash;

	if (!act->rights || !path[0])
		return true;
	(void)snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (act->on_folder && slash)
		slash[slash == folder] = '\0';
	return landlock_simulate(plan, folder, act->rights);
}

/* Does a mount stand at PATH itself? */
static bool is_held(const struct plan *plan, struct str path)
{
	return plan_is_mount(plan, MOUNT_READ_ONLY, path) ||
	       plan_is_mount(plan, MOUNT_WRITABLE, path) || plan_is_mount(plan, MOUNT_MASK, path);
}

/* Mounts refuse to write where they are read-only, and to let go what they stand on. */
static bool mounts_refuse(const struct plan *plan, const struct act *act,
			  const struct question *question)
{
	struct str path = question->request->path;
	struct str folder = path;

	if (act->op != OP_FILE_LINK && act->op != OP_FILE_MKNOD &&
	    (act->op < OP_FILE_WRITE_ANY || act->op > OP_FILE_WRITE_XATTR) &&
	    act->op != OP_FILE_WRITE_SETUGID)
		return false;
	if (act->op == OP_FILE_WRITE_DATA && str_is_below(path, STR("/dev")))
		return false;
	while (act->on_folder && folder.n > 1 && folder.p[--folder.n] != '/')
		;
	return plan_is_read_only(plan, folder.n ? folder : STR("/")) ||
	       (act->on_folder && is_held(plan, path));
}

static enum outcome perform(const struct fixture *f, const struct act *act,
			    const struct question *question)
{
	enum outcome ret = filter(&f->plan, &f->caps, act->call, act->args);

	/* An exec that the broker allows goes on by itself. */
	if (ret == ASKED && act->op == OP_PROCESS_EXEC_ANY && question->allowed)
		ret = PASSES;
	if (ret == PASSES && !is_granted(&f->plan, act, question->path))
		ret = REFUSED;
	if (ret == PASSES && question->path[0] && mounts_refuse(&f->plan, act, question))
		ret = REFUSED;
	if (ret == PASSES && question->path[0] &&
	    (plan_is_mounted(&f->plan, MOUNT_HIDE, question->request->path) ||
	     plan_is_mounted(&f->plan, MOUNT_MASK, question->request->path)))
		ret = REFUSED;
	return ret;
}

/* ---- Sockets and signals ---- */

static enum outcome perform_socket(const struct fixture *f, const struct request *request)
{
	const struct endpoint *end =
		request->op == OP_NETWORK_OUTBOUND ? &request->remote : &request->local;
	bool is_unix = request->path.n > 0 || end->proto == PROTO_UNIX;
	uint64_t family = is_unix ? AF_UNIX : end->proto & PROTO_IP6 ? AF_INET6 : AF_INET;
	uint64_t type = end->proto & PROTO_UDP ? SOCK_DGRAM : SOCK_STREAM;
	enum call call = request->op == OP_NETWORK_OUTBOUND ? CALL_CONNECT
			 : request->op == OP_NETWORK_BIND   ? CALL_BIND
							    : CALL_LISTEN;
	uint32_t right = call == CALL_CONNECT ? LL_NET_CONNECT_TCP
			 : call == CALL_BIND  ? LL_NET_BIND_TCP
					      : 0;
	enum outcome ret =
		filter(&f->plan, &f->caps, CALL_SOCKET, (const uint64_t[6]){family, type});

	if (ret == PASSES)
		ret = filter(&f->plan, &f->caps, call, (const uint64_t[6]){0});
	if (ret == PASSES && !is_unix && type == SOCK_STREAM && (f->plan.landlock_net & right))
		ret = REFUSED;
	return ret;
}

static enum outcome perform_signal(const struct fixture *f, const struct request *request)
{
	const unsigned outside = 1u << SIGNAL_TARGET_OTHERS | 1u << SIGNAL_TARGET_INITPROC;
	enum outcome ret = filter(&f->plan, &f->caps, CALL_KILL, (const uint64_t[6]){0});

	if (ret == PASSES && (request->targets & outside) &&
	    (f->plan.landlock_scoped & LL_SCOPED_SIGNAL))
		ret = REFUSED;
	return ret;
}

/* ---- Judging ---- */

static bool op_inherits_from(enum op op, enum op from)
{
	while (op != from && op != OP_DEFAULT)
		op = op_parent(op);
	return op == from;
}

static bool names_op(const struct gap *gap, enum op op)
{
	for (const enum op *at = gap->ops; *at != OP_DEFAULT; at++)
		if (op_inherits_from(op, *at))
			return true;
	return false;
}

static bool is_there(const struct gap *gap, struct str path, bool below)
{
	for (const char *const *at = gap->paths; at && *at; at++)
		if (below ? str_is_below(path, str_of(*at)) : str_is(path, *at))
			return true;
	return !gap->paths;
}

static bool covers(const struct gap *gap, const struct question *question)
{
	struct str path = question->request->path;

	if (gap->only_rule && gap->rule != question->decision.rule)
		return false;
	if (gap->ops[0] != OP_DEFAULT)
		return names_op(gap, question->request->op) &&
		       is_there(gap, path, gap->below_paths);
	/* About what was not there yet. */
	return gap->paths && !question->present && is_there(gap, path, true);
}

static bool is_listed(const struct fixture *f, const struct question *question, bool strict)
{
	for (size_t i = 0; i < f->plan.n_gaps; i++)
		if ((f->plan.gaps[i].kind == GAP_STRICTER) == strict &&
		    covers(&f->plan.gaps[i], question))
			return true;
	return false;
}

static size_t n_judged, n_asked, n_gaps, n_wrong;
static const char *last; /* row that was wrong */

static void judge(const struct fixture *f, const struct question *question, enum outcome outcome,
		  const char *row)
{
	n_judged++;
	n_asked += outcome == ASKED;
	if (outcome == ASKED || (outcome == PASSES) == question->allowed)
		return;
	if (is_listed(f, question, question->allowed)) {
		n_gaps++;
		return;
	}
	test_failures_here++;
	if (n_wrong++ > 0 && (n_wrong > 10000 || strcmp(last, row) == 0))
		return;
	last = row;
	printf("# %s: %s, though %s; Landlock %d%s%s%s, object %s\n", row,
	       outcome == PASSES ? "passes" : "is refused",
	       question->allowed ? "allowed" : "denied", f->caps.landlock_abi,
	       f->caps.notify ? "" : ", no listener", f->caps.userns ? "" : ", no namespaces",
	       f->caps.root ? ", root" : "", question->present ? "there" : "not there");
}

static unsigned kind_of(const struct question *question)
{
	if (question->request->vnode_type == VNODE_SYMLINK)
		return KIND_SYMLINK;
	return question->directory ? KIND_DIRECTORY : KIND_FILE;
}

static const enum vnode_type kinds[] = {[KIND_FILE] = VNODE_REGULAR,
					[KIND_DIRECTORY] = VNODE_DIRECTORY,
					[KIND_SYMLINK] = VNODE_SYMLINK};

/* Other operations that the same act needs, so that only their denials may be in its way. */
static bool needs_more(const struct policy *policy, const struct act *act,
		       const struct question *question)
{
	static const struct {
		enum op op, more;
	} rows[] = {
		{OP_FILE_LINK, OP_FILE_WRITE_CREATE},
		{OP_FILE_LINK, OP_FILE_WRITE_UNLINK}, /* LL_REFER: it may also be moved */
		{OP_FILE_WRITE_SETUGID, OP_FILE_WRITE_MODE},
		{OP_FILE_WRITE_SETUGID, OP_FILE_WRITE_CREATE},
		{OP_PROCESS_EXEC_ANY, OP_FILE_READ_DATA},
		{OP_PROCESS_EXEC_ANY, OP_PROCESS_EXEC_INTERPRETER},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct request request = *question->request;
		struct decision decision;

		if (rows[i].op != act->op)
			continue;
		request.op = rows[i].more;
		policy_decide(policy, &request, &decision);
		if (decision.verdict == VERDICT_DENY)
			return true;
	}
	return false;
}

static void judge_acts(const struct fixture *f, struct question *question, const char *row)
{
	unsigned kind = kind_of(question);

	for (size_t i = 0; i < COUNT(acts); i++) {
		enum outcome outcome;

		if (acts[i].op != question->request->op ||
		    (acts[i].kinds && !(acts[i].kinds & kind)))
			continue;
		if (op_takes(acts[i].op, FILTER_PATH) && !question->path[0])
			continue;
		outcome = perform(f, &acts[i], question);
		if (outcome == REFUSED && question->allowed &&
		    needs_more(f->policy, &acts[i], question))
			continue;
		judge(f, question, outcome, row);
	}
}

/* False: no simulator has to do with what the row asks. */
static bool ask(const struct policy *policy, const struct sbt_row *row, struct question *ret)
{
	struct request *request = &ret->made.request;
	struct err e = {0};

	if (row->is_error || !(row->targets & SBT_LINUX) ||
	    facade_request(row->words[0], (const char *const *)row->words + 1, &ret->made, &e) < 0)
		return false;
	for (size_t i = 0; i < request->n_facts; i++)
		if (filter_is_darwin_only(request->facts[i].filter))
			return false;
	ret->request = request;
	ret->path[0] = '\0';
	ret->directory = request->vnode_type == VNODE_DIRECTORY;
	if (request->path.n >= sizeof(ret->path))
		return false;
	if (request->path.n) {
		const struct object *object;

		memcpy(ret->path, request->path.p, request->path.n);
		ret->path[request->path.n] = '\0';
		object = find_object(ret->path);
		ret->present = object != NULL;
		if (!(request->has & HAS_VNODE_TYPE) && object)
			ret->directory = object->type == ENTRY_DIRECTORY;
		if (!(request->has & HAS_VNODE_TYPE)) {
			request->has |= HAS_VNODE_TYPE;
			request->vnode_type = kinds[ret->directory ? KIND_DIRECTORY : KIND_FILE];
		}
	}
	answer(policy, ret);
	return true;
}

/* Is what REQUEST is about the session's own, so that the policy is not asked? */
static bool is_own(const struct fixture *f, const struct request *request)
{
	static const char *const places[] = {"/tmp", "/dev/shm", "/dev/pts", "/dev/ptmx", "/proc"};

	if (!f->input.private_scope)
		return false;
	for (size_t i = 0; i < COUNT(places); i++)
		if (str_is_below(request->path, str_of(places[i])))
			return true;
	return request->op == OP_SIGNAL || op_inherits_from(request->op, OP_IPC_ANY) ||
	       (op_inherits_from(request->op, OP_NETWORK_ANY) && (f->plan.ns & NS_NET));
}

static void judge_row(const struct fixture *f, const struct sbt_row *row)
{
	struct question question = {.present = false};
	const struct request *request;

	if (!ask(f->policy, row, &question) || is_own(f, question.request))
		return;
	request = question.request;
	if (request->op == OP_SIGNAL && request->targets)
		judge(f, &question, perform_signal(f, request), row->text);
	else if ((request->op == OP_NETWORK_OUTBOUND || request->op == OP_NETWORK_BIND ||
		  request->op == OP_NETWORK_INBOUND) &&
		 (request->path.n || request->remote.proto || request->local.proto))
		judge(f, &question, perform_socket(f, request), row->text);
	else
		judge_acts(f, &question, row->text);
}

/* ---- Cases ---- */

static int compile_case(const struct sbt_case *tested, struct lapbelt_policy **ret)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct lapbelt_param params[SBT_PARAMS_MAX];
	struct lapbelt_policy_options options = {.size = sizeof(options),
						 .target = LAPBELT_TARGET_LINUX,
						 .params = params,
						 .n_params = tested->n_params};

	for (size_t i = 0; i < tested->n_params; i++)
		params[i] = (struct lapbelt_param){tested->params[i].key, tested->params[i].value};
	return lapbelt_policy_from_bytes(tested->profile.p, tested->profile.n, "profile", &options,
					 ret, &error);
}

static void fill_disk(const struct sbt_case *tested)
{
	empty_disk();
	for (size_t i = 0; i < tested->n_rows; i++) {
		struct facade_request made;
		struct err e = {0};

		if (!tested->rows[i].is_error &&
		    facade_request(tested->rows[i].words[0],
				   (const char *const *)tested->rows[i].words + 1, &made, &e) == 0)
			put_path(made.request.path, made.request.vnode_type == VNODE_DIRECTORY
							    ? ENTRY_DIRECTORY
							    : ENTRY_OTHER);
	}
}

static void judge_case(const struct sbt_case *tested)
{
	struct lapbelt_policy *policy = NULL;
	struct fixture f = {.policy = NULL};

	if (compile_case(tested, &policy) < 0) /* the case is about errors */
		return;
	f.policy = policy->compiled;
	f.input = (struct plan_input){.policy = f.policy, .list = list_disk};
	for (size_t i = 0; i < (size_t)MACHINES * 4; i++) {
		if (i / MACHINES % 2)
			empty_disk();
		else
			fill_disk(tested);
		f.caps = machine(i % MACHINES);
		f.input.private_scope = i < (size_t)MACHINES * 2 ? 0 : SCOPE_ALL;
		/* More than mounts can hold is refused. */
		if (fixture_plan(&f) < 0) {
			CHECK(f.e.code == ERR_GAP && !f.caps.notify && f.caps.userns);
			continue;
		}
		for (size_t r = 0; r < tested->n_rows; r++)
			judge_row(&f, &tested->rows[r]);
	}
	arena_release(&f.arena);
	lapbelt_policy_free(policy);
}

static const char *file;

static void rows_hold(void)
{
	struct sbt_file table = {.n = 0};
	struct arena arena = {.limit = 0};
	struct buf text = {.p = NULL};
	struct err e = {0};
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	n_judged = n_asked = n_gaps = n_wrong = 0;
	CHECK(fd >= 0 && io_read_all(fd, &text, 1 << 24) == 0);
	CHECK_INT(sbt_parse(buf_str(&text), file, &arena, &table, &e), 0);
	for (size_t i = 0; i < table.n; i++)
		if (table.cases[i].targets & SBT_LINUX)
			judge_case(&table.cases[i]);
	(void)close(fd);
	arena_release(&arena);
	buf_release(&text);
	printf("# %s: %zu acts, %zu are asked about, %zu are gaps, %zu are wrong\n", file, n_judged,
	       n_asked, n_gaps, n_wrong);
	CHECK(n_judged > 1000);
}

int main(int argc, char **argv)
{
	(void)argc;
	for (char *const *at = argv + 1; *at; at++) {
		file = *at;
		RUN(rows_hold);
	}
	return test_done();
}
