/* SPDX-License-Identifier: Apache-2.0 */
/* What the filter says to calls that make processes, and to those that are about others. */
#include "seccomp_rows.h"

enum {
	SIGCHLD_ = 17,
	NEWNS = 0x00020000,
	NEWCGROUP = 0x02000000,
	NEWUSER = 0x10000000,
	NEWPID = 0x20000000,
	NEWNET = 0x40000000,
	NEWTIME = 0x80,
	THREAD = 0x00010000,
};

static void clones(void)
{
	static const struct row rows[] = {
		{CALL_CLONE, {SIGCHLD_}, ALLOWED},
		{CALL_CLONE, {THREAD | 0x3d0f00}, ALLOWED},
		{CALL_CLONE, {NEWUSER | SIGCHLD_}, REFUSED},
		{CALL_CLONE, {HIGH | NEWNS}, REFUSED},
		{CALL_CLONE, {NEWPID | NEWNET}, REFUSED},
		{CALL_CLONE3, {8, 88}, ABSENT},
		{CALL_FORK, {0}, ALLOWED},
		{CALL_UNSHARE, {0x200}, ALLOWED}, /* CLONE_FS */
		{CALL_UNSHARE, {NEWUSER}, REFUSED},
		{CALL_UNSHARE, {NEWTIME}, REFUSED},
		{CALL_UNSHARE, {NEWCGROUP | HIGH}, REFUSED},
		{CALL_SETNS, {3, 0}, REFUSED},
	};
	static const struct row nested[] = {
		{CALL_CLONE, {NEWUSER | SIGCHLD_}, ALLOWED},
		{CALL_UNSHARE, {NEWUSER | NEWNS}, ALLOWED},
		{CALL_MOUNT, {0}, REFUSED},
		{CALL_SETNS, {3, 0}, REFUSED},
	};
	static const struct row no_fork[] = {
		{CALL_CLONE, {SIGCHLD_}, REFUSED},
		{CALL_CLONE, {THREAD | 0x3d0f00}, ALLOWED},
		{CALL_FORK, {0}, REFUSED},
		{CALL_VFORK, {0}, REFUSED},
	};
	static const struct row fork[] = {
		{CALL_CLONE, {SIGCHLD_}, ALLOWED},
		{CALL_FORK, {0}, ALLOWED},
	};
	struct fixture f;

	fixture_open(&f, "(allow default)");
	CHECK_ROWS(&f, rows);
	f.input.nested_userns = true;
	CHECK_ROWS(&f, nested);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny process-fork)");
	CHECK_ROWS(&f, no_fork);
	fixture_close(&f);
	/* A fork has no vnode, no path and no target. */
	fixture_open(&f, "(allow default) (deny default (vnode-type SOCKET) (subpath \"/\") "
			 "(target others))");
	CHECK_ROWS(&f, fork);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny default (require-not (vnode-type SOCKET)))");
	CHECK_ROWS(&f, no_fork);
	fixture_close(&f);
}

static void execs(void)
{
	static const struct row none[] = {{CALL_EXECVE, {0}, REFUSED},
					  {CALL_EXECVEAT, {0}, REFUSED}};
	static const struct row some[] = {{CALL_EXECVE, {0}, ASKED}, {CALL_EXECVEAT, {0}, ASKED}};
	static const struct row all[] = {{CALL_EXECVE, {0}, ALLOWED},
					 {CALL_EXECVEAT, {0}, ALLOWED}};
	struct fixture f;

	fixture_open(&f, "(deny default)");
	CHECK_ROWS(&f, none);
	fixture_close(&f);
	fixture_open(&f, "(deny default) (allow process-exec* (literal \"/usr/bin/cc\"))");
	CHECK_ROWS(&f, some);
	fixture_close(&f);
	fixture_open(&f, "(allow default)");
	CHECK_ROWS(&f, all);
	fixture_close(&f);
}

static void signals(void)
{
	static const struct row judged[] = {
		{CALL_KILL, {1, 9}, ASKED},
		{CALL_TGKILL, {1, 1, 9}, ASKED},
		{CALL_PIDFD_SEND_SIGNAL, {3, 9}, ASKED},
		{CALL_FCNTL, {3, 8, 1}, ASKED},
		{CALL_FCNTL, {3, 15 | HIGH, 1}, REFUSED},
		{CALL_FCNTL, {3, 1, 0}, ALLOWED},
		{CALL_IOCTL, {3, 0x8901}, REFUSED},
	};
	static const struct row by_kernel[] = {
		{CALL_KILL, {1, 9}, ALLOWED},
		{CALL_FCNTL, {3, 8, 1}, ALLOWED},
		{CALL_IOCTL, {3, 0x8901}, ALLOWED},
	};
	struct fixture f;

	fixture_open(&f, "(allow default) (deny signal) (allow signal (target self))");
	CHECK_ROWS(&f, judged);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (deny signal (target others) (target initproc))");
	CHECK_ROWS(&f, by_kernel);
	CHECK(f.plan.landlock_scoped & LL_SCOPED_SIGNAL);
	f.caps.landlock_abi = 5;
	CHECK_ROWS(&f, judged);
	fixture_close(&f);
}

/* A process that hides from the broker would be denied everything. */
static void dumpable(void)
{
	static const struct row judged[] = {
		{CALL_PRCTL, {4, 0}, AS_ERRNO}, /* told that it worked */
		{CALL_PRCTL, {4 | HIGH, 0}, AS_ERRNO},
		{CALL_PRCTL, {4, 1}, ALLOWED},
		{CALL_PRCTL, {15, 0}, ALLOWED}, /* PR_SET_NAME */
	};
	static const struct row free_rows[] = {{CALL_PRCTL, {4, 0}, ALLOWED}};
	struct fixture f;

	fixture_open(&f, "(allow default)");
	CHECK_ROWS(&f, judged);
	fixture_close(&f);
	fixture_open(&f, "(allow default) (allow file-write-setugid)");
	CHECK_ROWS(&f, free_rows);
	fixture_close(&f);
}

/* Limits and priorities of processes outside, where they can be named. */
static void other_processes(void)
{
	static const struct row judged[] = {
		{CALL_PRLIMIT64, {0, 7}, ALLOWED},
		{CALL_PRLIMIT64, {4711, 7}, ASKED},
		{CALL_SETPRIORITY, {0, 0, 5}, ALLOWED},
		{CALL_SETPRIORITY, {0, 4711, 5}, ASKED},
		{CALL_SETPRIORITY, {1, 0, 5}, REFUSED}, /* a group */
		{CALL_SETPRIORITY, {2, 0, 5}, REFUSED}, /* a user */
		{CALL_IOPRIO_SET, {1, 4711, 5}, ASKED},
		{CALL_SCHED_SETAFFINITY, {0, 8}, ALLOWED},
		{CALL_SCHED_SETAFFINITY, {4711, 8}, ASKED},
		{CALL_SCHED_SETATTR, {4711, 8}, ASKED},
	};
	static const struct row allowed[] = {
		{CALL_PRLIMIT64, {4711, 7}, ALLOWED},
		{CALL_SETPRIORITY, {0, 4711, 5}, ALLOWED},
		{CALL_SCHED_SETAFFINITY, {4711, 8}, ALLOWED},
	};
	struct fixture f;

	fixture_open(&f, "(allow default)");
	CHECK_ROWS(&f, allowed);
	f.input.private_scope = SCOPE_PID;
	CHECK_ROWS(&f, allowed);
	f.caps.mount_proc = false;
	CHECK_ROWS(&f, judged);
	fixture_close(&f);
}

/* What changes how the broker has to act for its callers. */
static void callers(void)
{
	static const struct row root[] = {
		{CALL_UMASK, {022}, ASKED},
		{CALL_SETUID, {1}, ASKED},
		{CALL_SETGROUPS, {0}, ASKED},
		{CALL_CAPSET, {0}, ASKED},
	};
	static const struct row user[] = {
		{CALL_UMASK, {022}, ASKED},
		{CALL_SETUID, {1}, ALLOWED},
		{CALL_CAPSET, {0}, ALLOWED},
		{CALL_LANDLOCK_CREATE_RULESET, {0}, AS_ERRNO + LINUX_EOPNOTSUPP},
		{CALL_LANDLOCK_CREATE_RULESET, {0, 0, NESTED_FLAGS}, AS_ERRNO + NESTED_ERRNO},
		{CALL_LANDLOCK_RESTRICT_SELF, {3}, AS_ERRNO + LINUX_EOPNOTSUPP},
	};
	static const struct row nobody_asked[] = {
		{CALL_UMASK, {022}, ALLOWED},
		{CALL_SETUID, {1}, ALLOWED},
		{CALL_LANDLOCK_CREATE_RULESET, {0}, ALLOWED},
		{CALL_LANDLOCK_CREATE_RULESET, {0, 0, 1}, ALLOWED},
		{CALL_LANDLOCK_CREATE_RULESET, {0, 0, NESTED_FLAGS}, AS_ERRNO + NESTED_ERRNO},
	};
	struct fixture f;

	fixture_open(&f, "(allow default)(deny file-write* (regex #\"x\"))");
	f.caps.root = false;
	CHECK_ROWS(&f, user);
	f.caps.root = true;
	CHECK_ROWS(&f, root);
	fixture_close(&f);
	fixture_open(&f, "(allow default)(allow file-write-setugid)");
	f.caps.root = true;
	CHECK_ROWS(&f, nobody_asked);
	fixture_close(&f);
}

static void ipc(void)
{
	static const struct row shared[] = {
		{CALL_SHMGET, {0}, ALLOWED},  {CALL_SHMAT, {0}, ALLOWED},
		{CALL_SEMOP, {0}, REFUSED},   {CALL_MSGSND, {0}, REFUSED},
		{CALL_MQ_OPEN, {0}, REFUSED},
	};
	static const struct row own[] = {{CALL_SEMOP, {0}, ALLOWED}, {CALL_MQ_OPEN, {0}, ALLOWED}};
	static const struct row none[] = {{CALL_SHMGET, {0}, REFUSED},
					  {CALL_MQ_OPEN, {0}, REFUSED}};
	struct fixture f;

	fixture_open(&f, "(deny default) (allow ipc-sysv-shm)");
	CHECK_ROWS(&f, shared);
	f.input.private_scope = SCOPE_IPC;
	CHECK_ROWS(&f, own);
	f.caps.userns = false;
	CHECK_ROWS(&f, none);
	fixture_close(&f);
}

int main(void)
{
	RUN(clones);
	RUN(execs);
	RUN(signals);
	RUN(dumpable);
	RUN(other_processes);
	RUN(callers);
	RUN(ipc);
	return test_done();
}
