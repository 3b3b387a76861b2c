/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside: processes of the sandbox that have put themselves and what they start under one more
 * policy (plan/nested.h). A run can only add to what its callers are under already.
 *
 * Who is under it is told by descent. The root of a run is a process that all orphans below come
 * back to, and so does a child of its own, the keeper, that kills them in the end; those two are
 * not meant themselves. Everybody below is, until the root says that nobody is left there; once the
 * root is gone all are below the keeper, and it is the keeper's to say.
 *
 * If both end without a word they leave processes whose descent tells nothing any more. Those still
 * have the filter that the root had beside those that it started with, which nobody can take off.
 * So from then on nothing is allowed to who has as many filters and descends from nobody further in
 * than what was around that run. A new root has not taken on its filter when it begins, and nobody
 * is below it: else it could come from what was left.
 */
#include "broker/call.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/proc.h"
#include "base/banned.h"

enum {
	BOUND_MAX = 256, /* sockets that a run has bound last to paths where it may listen */
};

/* What building one policy may take of ours, and what all of them may. */
static const struct policy_limits limits = {
	.memory = 32 << 20, .states = 1 << 18, .work = 10 << 20};
static const size_t all_memory = 64 << 20;

/* A process as we and as the sandbox count it. 0: none. */
struct counted {
	pid_t pid, shown;
	int pidfd;
};

struct inner_run {
	struct layer layer;
	struct nested nested;
	struct inner_run *next;
	struct inner_run *around; /* NULL: the sandbox itself is around it */
	unsigned depth;           /* how many are around it */
	struct counted root, keeper;
	unsigned filters;          /* that its root has from its first child on */
	unsigned lost;             /* as struct inner_runs has it, for what was right inside it */
	unsigned refs;             /* the list, calls, runs inside it */
	uint64_t bound[BOUND_MAX]; /* their cookies; 0: none */
	unsigned n_bound;
};

/* ---- Processes ---- */

struct status {
	pid_t pid; /* of the thread group */
	unsigned filters, threads;
};

/* 0, or -1: it cannot be told, or is not the caller's any more. */
static int read_caller(const struct call *call, struct status *ret)
{
	char path[32], text[PROC_TEXT_MAX];

	(void)snprintf(path, sizeof(path), "%d/status", (int)call->tid);
	if (proc_read(call->broker->proc, path, text, sizeof(text)) < 0 || !call_is_alive(call))
		return -1;
	*ret = (struct status){
		.pid = (pid_t)proc_number(proc_field(text, "Tgid"), 0),
		.filters = proc_number(proc_field(text, "Seccomp_filters"), 0),
		.threads = proc_number(proc_field(text, "Threads"), 0),
	};
	return ret->pid <= 0 || ret->filters == UINT_MAX || ret->threads == UINT_MAX ? -1 : 0;
}

static bool has_ended(const struct counted *process)
{
	struct pollfd polled = {.fd = process->pidfd, .events = POLLIN};

	return process->pidfd < 0 || poll(&polled, 1, 0) != 0;
}

/* The caller, whose STATUS this is. 0, or -1. */
static int pin_caller(const struct call *call, const struct status *status, struct counted *ret)
{
	struct caller_pids pids;

	if (caller_pids(call, &pids) < 0)
		return -1;
	*ret = (struct counted){status->pid, pids.shown_tgid,
				(int)syscall(SYS_pidfd_open, status->pid, 0)};
	if (ret->pidfd >= 0 && call_is_alive(call))
		return 0;
	fd_close(&ret->pidfd);
	return -1;
}

/* ---- The list; with the lock held ---- */

static void put(struct inner_run *run)
{
	while (run && --run->refs == 0) {
		struct inner_run *around = run->around;

		fresh_release(&run->layer.fresh);
		nested_release(&run->nested);
		fd_close(&run->root.pidfd);
		fd_close(&run->keeper.pidfd);
		free(run);
		run = around;
	}
}

static void drop(struct inner_runs *runs, struct inner_run *run)
{
	struct inner_run **at = &runs->first;

	while (*at != run)
		at = &(*at)->next;
	*at = run->next;
	runs->n--;
	if (runs->n == 0 && runs->lost == UINT_MAX)
		atomic_store(&runs->any, false);
	put(run);
}

/* Whom all that RUN holds for are below, as long as it has not ended. */
static struct counted top_of(const struct inner_run *run)
{
	return has_ended(&run->root) ? run->keeper : run->root;
}

/* Those whose root and keeper have gone without a word. */
static void note_lost(struct inner_runs *runs)
{
	struct inner_run *next = NULL;

	for (struct inner_run *run = runs->first; run; run = next) {
		unsigned *lost = run->around ? &run->around->lost : &runs->lost;
		const struct counted top = top_of(run);

		next = run->next;
		if (!has_ended(&top))
			continue;
		if (run->filters < *lost)
			*lost = run->filters;
		drop(runs, run);
	}
}

static bool is_process(const struct counted *process, pid_t pid, bool shown)
{
	return (shown ? process->shown : process->pid) == pid && !has_ended(process);
}

static struct inner_run *run_below(const struct inner_runs *runs, pid_t pid)
{
	for (struct inner_run *run = runs->first; run; run = run->next) {
		const struct counted top = top_of(run);

		if (is_process(&top, pid, false))
			return run;
	}
	return NULL;
}

/* Is PID the root or the keeper of RUN? */
static bool keeps_it(const struct inner_run *run, pid_t pid, bool shown)
{
	return is_process(&run->root, pid, shown) || is_process(&run->keeper, pid, shown);
}

static struct inner_run *run_kept_by(const struct inner_runs *runs, pid_t pid)
{
	for (struct inner_run *run = runs->first; run; run = run->next)
		if (keeps_it(run, pid, false))
			return run;
	return NULL;
}

/* The innermost run that the first of CHAIN, a process and its ancestors, is under. NULL: none. */
static struct inner_run *find_run(const struct inner_runs *runs, const pid_t *chain, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct inner_run *run = run_below(runs, chain[i]);

		if (run)
			return run;
	}
	return NULL;
}

/* ---- What callers are under ---- */

static void set_layers(struct call *call, struct inner_run *run)
{
	call->layers[0] = &call->broker->own;
	call->n_layers = run ? run->depth + 1 : 1;
	if (run)
		run->refs++;
	for (; run; run = run->around)
		call->layers[run->depth] = &run->layer;
}

/*
 * Who ends leaves its children to others before it counts as ended, both under a lock of the
 * kernel's that looking at /proc does not take. Whoever has seen the first sees the second after
 * this, which takes it.
 */
static void let_others_end(void)
{
	siginfo_t info;

	(void)waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
}

/* STATUS has more filters than the command had. */
static int find_layers(struct call *call, const struct status *status)
{
	struct inner_runs *runs = &call->broker->runs;
	pid_t chain[PROC_DEPTH_MAX];
	size_t n = proc_ancestors(call->broker->proc, status->pid, call->broker->init, chain);
	struct inner_run *run = NULL, *kept = NULL;
	int r = 0;

	if (n == 0 || !call_is_alive(call))
		return -1;
	let_others_end();
	(void)pthread_mutex_lock(&runs->lock);
	/* Only now: who is there still was the one in the chain. */
	note_lost(runs);
	kept = run_kept_by(runs, status->pid);
	run = kept ? kept->around : find_run(runs, chain, n);
	if (!kept && status->filters >= (run ? run->lost : runs->lost))
		r = -1;
	else
		set_layers(call, run);
	(void)pthread_mutex_unlock(&runs->lock);
	return r;
}

int nested_enter(struct call *call)
{
	struct inner_runs *runs = &call->broker->runs;
	struct status status;

	call->n_layers = 0;
	if (!atomic_load(&runs->any)) {
		set_layers(call, NULL);
		return 0;
	}
	if (read_caller(call, &status) < 0)
		return -1;
	if (status.filters > runs->filters)
		return find_layers(call, &status);
	set_layers(call, NULL);
	return 0;
}

void nested_leave(struct call *call)
{
	struct inner_runs *runs = &call->broker->runs;

	if (call->n_layers > 1) {
		(void)pthread_mutex_lock(&runs->lock);
		put(innermost(call)->run);
		(void)pthread_mutex_unlock(&runs->lock);
	}
	call->n_layers = 0;
}

bool layer_has(struct broker *broker, const struct layer *layer, pid_t pid, bool shown)
{
	const struct inner_run *run = layer->run;
	int proc = shown ? broker->pids : broker->proc;
	struct counted top;
	bool keeps;

	if (!run)
		return proc_is_descendant(proc, pid, shown && broker->own_proc ? 1 : broker->init);
	(void)pthread_mutex_lock(&broker->runs.lock);
	top = top_of(run);
	keeps = keeps_it(run, pid, shown);
	(void)pthread_mutex_unlock(&broker->runs.lock);
	return !keeps && proc_is_descendant(proc, pid, shown ? top.shown : top.pid) &&
	       !has_ended(&top);
}

/* ---- What is theirs ---- */

bool nested_may_listen(const struct call *call, uint64_t cookie)
{
	struct inner_run *run = innermost(call)->run;
	bool ret = !run;

	(void)pthread_mutex_lock(&call->broker->runs.lock);
	for (unsigned i = 0; run && i < BOUND_MAX; i++)
		ret |= run->bound[i] == cookie;
	(void)pthread_mutex_unlock(&call->broker->runs.lock);
	return ret;
}

void nested_note_bound(const struct call *call, uint64_t cookie)
{
	struct inner_run *run = innermost(call)->run;

	(void)pthread_mutex_lock(&call->broker->runs.lock);
	if (run)
		run->bound[run->n_bound++ % BOUND_MAX] = cookie;
	(void)pthread_mutex_unlock(&call->broker->runs.lock);
}

void nested_made(const struct call *call, struct str path)
{
	for (unsigned i = 0; i < call->n_layers; i++)
		fresh_made(&call->layers[i]->fresh, path);
}

void nested_removed(struct broker *broker, struct str path)
{
	fresh_removed(&broker->own.fresh, path);
	(void)pthread_mutex_lock(&broker->runs.lock);
	for (struct inner_run *run = broker->runs.first; run; run = run->next)
		fresh_removed(&run->layer.fresh, path);
	(void)pthread_mutex_unlock(&broker->runs.lock);
}

static bool is_under(const struct call *call, const struct layer *layer)
{
	bool ret = false;

	for (unsigned i = 0; i < call->n_layers; i++)
		ret |= call->layers[i] == layer;
	return ret;
}

/* What others move is not what a run has made. */
void nested_moved(const struct call *call, struct str from, struct str to)
{
	struct inner_runs *runs = &call->broker->runs;

	for (unsigned i = 0; i < call->n_layers; i++)
		fresh_moved(&call->layers[i]->fresh, from, to);
	(void)pthread_mutex_lock(&runs->lock);
	for (struct inner_run *run = runs->first; run; run = run->next) {
		if (is_under(call, &run->layer))
			continue;
		fresh_removed(&run->layer.fresh, from);
		fresh_removed(&run->layer.fresh, to);
	}
	(void)pthread_mutex_unlock(&runs->lock);
}

/* ---- What they say ---- */

static unsigned scope_of(const struct call *call)
{
	const struct broker *broker = call->broker;
	unsigned scope = 0;

	for (unsigned i = 0; i < call->n_layers; i++)
		scope |= call->layers[i]->input->private_scope & ~(unsigned)SCOPE_NET;
	return scope | (broker->plan->ns & NS_NET ? SCOPE_NET : 0);
}

/* Builds the policy of RUN from the caller's BYTES. 0, or an errno. */
static int build(const struct call *call, struct str bytes, struct inner_run *run)
{
	struct inner_runs *runs = &call->broker->runs;
	int r;

	/* One at a time: others wait outside, not for us. */
	if (pthread_mutex_trylock(&runs->building) != 0)
		return EAGAIN;
	r = nested_decode(bytes, limits, &run->nested, NULL);
	(void)pthread_mutex_unlock(&runs->building);
	if (r < 0)
		return r == -ERR_LIMIT ? E2BIG : r == -ERR_MEMORY ? ENOMEM : EINVAL;
	run->layer.policy = run->nested.policy;
	run->layer.input = &run->nested.input;
	run->layer.plan = &run->nested.plan;
	run->layer.run = run;
	return 0;
}

static int take(const struct call *call, struct inner_run *run)
{
	const size_t n = (size_t)call->args[1];
	cleanup_free char *bytes = NULL;

	if (n > NESTED_BYTES_MAX)
		return E2BIG;
	bytes = malloc(n ? n : 1);
	if (!bytes)
		return ENOMEM;
	if (call_read(call, call->args[0], bytes, n) < 0)
		return errno;
	return build(call, (struct str){bytes, n}, run);
}

static size_t size_of(const struct inner_run *run)
{
	return run->nested.arena.used + policy_size(run->nested.policy);
}

/* With the lock held. */
static bool has_room(const struct inner_runs *runs, const struct inner_run *more)
{
	size_t size = size_of(more);

	for (const struct inner_run *run = runs->first; run; run = run->next)
		size += size_of(run);
	return size <= all_memory;
}

/* 0, or an errno. */
static int add(const struct call *call, struct inner_run *run)
{
	struct inner_runs *runs = &call->broker->runs;
	int error = 0;

	(void)pthread_mutex_lock(&runs->lock);
	note_lost(runs);
	if (runs->n == NESTED_RUNS_MAX) {
		error = ENFILE;
	} else if (!has_room(runs, run)) {
		error = E2BIG;
	} else if (run_below(runs, run->root.pid)) {
		error = EBUSY;
	} else {
		run->around = innermost(call)->run;
		if (run->around)
			run->around->refs++;
		run->refs = 1;
		run->next = runs->first;
		runs->first = run;
		runs->n++;
		atomic_store(&runs->any, true);
	}
	(void)pthread_mutex_unlock(&runs->lock);
	return error;
}

static int is_child(int proc, pid_t pid, void *context)
{
	const pid_t *parent = context;

	return proc_parent(proc, pid) == *parent;
}

/* 0, or an errno; then RUN is not ours. */
static int begin(const struct call *call, struct inner_run *run)
{
	const struct inner_run *around = innermost(call)->run;
	unsigned least = around ? around->filters : call->broker->runs.filters;
	int proc = call->broker->proc;
	struct status status;
	int error;

	if (least == UINT_MAX || read_caller(call, &status) < 0)
		return EPERM;
	if (call->n_layers == NESTED_LAYERS_MAX)
		return ELOOP;
	/* What it starts could not be told from what it has started. */
	if (status.threads != 1 || status.filters < least ||
	    proc_each_process(proc, is_child, &status.pid) != 0)
		return EINVAL;
	run->depth = call->n_layers;
	run->filters = status.filters + 1;
	run->lost = UINT_MAX;
	error = take(call, run);
	if (error)
		return error;
	return pin_caller(call, &status, &run->root) < 0 ? EPERM : add(call, run);
}

static int handle_begin(struct call *call)
{
	struct inner_run *run = calloc(1, sizeof(*run));
	int error;

	if (!run)
		return ENOMEM;
	run->root.pidfd = run->keeper.pidfd = -1;
	error = begin(call, run);
	if (!error)
		return 0;
	nested_release(&run->nested);
	fd_close(&run->root.pidfd);
	free(run);
	return error;
}

static int keep(const struct call *call)
{
	struct inner_run *run = innermost(call)->run;
	struct counted keeper;
	struct status status;
	int error = 0;

	if (!run || read_caller(call, &status) < 0 ||
	    proc_parent(call->broker->proc, status.pid) != run->root.pid ||
	    pin_caller(call, &status, &keeper) < 0)
		return EPERM;
	(void)pthread_mutex_lock(&call->broker->runs.lock);
	if (run->keeper.pid)
		error = EBUSY;
	else
		run->keeper = keeper;
	(void)pthread_mutex_unlock(&call->broker->runs.lock);
	if (error)
		fd_close(&keeper.pidfd);
	return error;
}

static int end(const struct call *call)
{
	struct inner_runs *runs = &call->broker->runs;
	struct inner_run *run = NULL;
	struct status status;

	if (read_caller(call, &status) < 0)
		return EPERM;
	(void)pthread_mutex_lock(&runs->lock);
	run = run_below(runs, status.pid);
	if (run)
		drop(runs, run);
	(void)pthread_mutex_unlock(&runs->lock);
	return run ? 0 : ESRCH;
}

static void answer(struct call *call, int error)
{
	if (error)
		call_error(call, error);
	else
		call_value(call, 0);
}

void handle_nested(struct call *call)
{
	switch (call->args[3]) {
	case NESTED_FACTS:
		call_value(call, call->broker->plan->brokered | scope_of(call) << 8);
		break;
	case NESTED_ROWS:
		call_value(call, (int64_t)call->broker->plan->when);
		break;
	case NESTED_LANGUAGE:
		call_value(call, nested_language());
		break;
	case NESTED_BEGIN:
		answer(call, handle_begin(call));
		break;
	case NESTED_KEEP:
		answer(call, keep(call));
		break;
	case NESTED_END:
		answer(call, end(call));
		break;
	default:
		call_error(call, EINVAL);
		break;
	}
}

/* ---- Start and end ---- */

int nested_set_up(struct broker *broker, pid_t command)
{
	struct inner_runs *runs = &broker->runs;
	char path[32], text[PROC_TEXT_MAX];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)command);
	if (proc_read(AT_FDCWD, path, text, sizeof(text)) < 0)
		return -1;
	runs->filters = proc_number(proc_field(text, "Seccomp_filters"), 0);
	return 0;
}

void nested_free(struct broker *broker)
{
	struct inner_runs *runs = &broker->runs;

	while (runs->first)
		drop(runs, runs->first);
	fresh_release(&broker->own.fresh);
	(void)pthread_mutex_destroy(&runs->lock);
	(void)pthread_mutex_destroy(&runs->building);
}
