/* SPDX-License-Identifier: Apache-2.0 */
#include "session/limit.h"

#include "base/banned.h"

static const struct {
	const char *name;
	const char *means;        /* without a cgroup */
	const char *cgroup_means; /* NULL: no cgroup does it */
} kinds[LIMIT_COUNT] = {
	[LIMIT_CPU] = {"cpu", "rlimit (RLIMIT_CPU), of each process", NULL},
	[LIMIT_MEMORY] = {"memory", "rlimit (RLIMIT_DATA), of each process",
			  "cgroup (memory.max), of all together"},
	[LIMIT_PROCESSES] = {"processes", "rlimit (RLIMIT_NPROC), of all together",
			     "cgroup (pids.max), of all together"},
	[LIMIT_OPEN_FILES] = {"open-files", "rlimit (RLIMIT_NOFILE), of each process", NULL},
	[LIMIT_FILE_SIZE] = {"file-size", "rlimit (RLIMIT_FSIZE), of each file", NULL},
	[LIMIT_TIME] = {"time", "supervisor, of the run", NULL},
};

/* ---- How well ---- */

enum grip {
	GRIP_EXACT,
	GRIP_WEAK,
	GRIP_NONE,
};

static bool is_by_cgroup(const struct session_limits *limits, enum limit limit)
{
	return limits->cgroup.held & (1u << limit);
}

/* *RET_TEXT: why it is no better, in words. */
static enum grip grip_of(const struct session_limits *limits, enum limit limit,
			 const struct limits_facts *facts, const char **ret_text)
{
	enum {
		OWN_TASKS = 2 /* init and the command: nobody else in the user namespace */
	};
	bool processes = limit == LIMIT_PROCESSES;

	*ret_text = "";
	if (is_by_cgroup(limits, limit) && limits->cgroup.exposed) {
		*ret_text = "the policy lets the command write to the cgroup that does it";
		return GRIP_WEAK;
	}
	if (is_by_cgroup(limits, limit) || !kinds[limit].cgroup_means)
		return GRIP_EXACT;
	if (limit == LIMIT_MEMORY) {
		*ret_text = "each process is counted by itself, without what it shares, since no "
			    "cgroup can be made here";
		return GRIP_WEAK;
	}
	if (processes && facts->tasks == TASKS_UNBOUND) {
		*ret_text = "root's are not counted, and no cgroup can be made here";
		return GRIP_NONE;
	}
	if (processes && facts->root) {
		*ret_text = "each user id is counted by itself, since no cgroup can be made here";
		return GRIP_WEAK;
	}
	if (processes && (!facts->userns || facts->tasks > OWN_TASKS)) {
		*ret_text = "others of the same user are counted with them, so that some that end "
			    "make room for more";
		return GRIP_WEAK;
	}
	return GRIP_EXACT;
}

/* ---- One run ---- */

static int check(const struct limits *wanted, struct err *e)
{
	for (int i = 0; i < LIMIT_COUNT; i++) {
		uint64_t hard = rlimit_hard((enum limit)i);

		if (wanted->values[i] <= hard)
			continue;
		(void)err_set(e, ERR_OS,
			      "the limit on %s would be %llu, and there is one of %llu already",
			      kinds[i].name, (unsigned long long)wanted->values[i],
			      (unsigned long long)hard);
		return err_hint(e,
				"a run's limits can only be lower than those it is started with");
	}
	return 0;
}

static bool may_write(void *context, const char *path)
{
	const struct request request = {.op = OP_FILE_WRITE_DATA, .path = str_of(path)};
	struct decision decision;

	policy_decide(context, &request, &decision);
	return decision.verdict == VERDICT_ALLOW;
}

int limits_open(const struct limits *wanted, const struct policy *policy, bool root,
		struct session_limits *ret, struct err *e)
{
	int r = check(wanted, e);

	if (r < 0)
		return r;
	ret->wanted = ret->rlimits = *wanted;
	/* Others do without, by RLIMIT_NPROC, sooner than with one that they can change. */
	cgroup_open(wanted, may_write, (void *)(uintptr_t)policy, root, &ret->cgroup);
	for (int i = 0; i < LIMIT_COUNT; i++)
		if (is_by_cgroup(ret, (enum limit)i))
			ret->rlimits.values[i] = 0;
	return 0;
}

static int refuse(enum limit limit, enum grip grip, const char *text, struct err *e)
{
	(void)err_set(e, ERR_GAP, "this system cannot enforce the limit on %s%s: %s",
		      kinds[limit].name, grip == GRIP_WEAK ? " exactly" : "", text);
	return err_hint(e, "a cgroup of version 2 that may be written to would do, as 'systemd-run "
			   "--user --scope' gives one; --gaps=report runs it all the same");
}

int limits_settle(const struct session_limits *limits, const struct limits_facts *facts,
		  pid_t command, const struct session_options *options, struct err *e)
{
	const char *text;

	for (int i = 0; i < LIMIT_COUNT; i++) {
		enum grip grip = limits->wanted.values[i]
					 ? grip_of(limits, (enum limit)i, facts, &text)
					 : GRIP_EXACT;

		if (grip == GRIP_EXACT)
			continue;
		if (options->gaps == GAPS_REFUSE ||
		    (grip == GRIP_NONE && options->gaps != GAPS_REPORT))
			return refuse((enum limit)i, grip, text, e);
		if (options->limited)
			options->limited(options->gap_context, kinds[i].name, grip == GRIP_NONE,
					 text);
	}
	return cgroup_join(&limits->cgroup, command) < 0
		       ? err_os(e, "could not move the command into its cgroup")
		       : 0;
}

void limits_close(struct session_limits *limits)
{
	cgroup_close(&limits->cgroup);
}

/* ---- For plans ---- */

void limits_report(const struct session_limits *limits, const struct limits_facts *facts,
		   struct limit_report *ret, size_t *ret_n)
{
	static const char *const words[] = {
		[GRIP_EXACT] = "exact", [GRIP_WEAK] = "approximated", [GRIP_NONE] = "not enforced"};

	*ret_n = 0;
	for (int i = 0; i < LIMIT_COUNT; i++) {
		const char *text = NULL;
		enum grip grip;

		if (!limits->wanted.values[i])
			continue;
		grip = grip_of(limits, (enum limit)i, facts, &text);
		ret[(*ret_n)++] = (struct limit_report){
			.name = kinds[i].name,
			.value = limits->wanted.values[i],
			.by = is_by_cgroup(limits, (enum limit)i) ? kinds[i].cgroup_means
								  : kinds[i].means,
			.grip = words[grip],
			.why = grip == GRIP_EXACT ? NULL : text,
		};
	}
}
