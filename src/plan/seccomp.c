/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From rows to a seccomp program:
 *
 *	architecture?  number known?  which call, by halves?  its rows in order, else it is allowed
 *
 * By halves, since the kernel tries every number of both of its tables when it takes the program
 * (which it then need not run for calls that are always allowed), and runs it for the others.
 * Every jump over other calls is a BPF_JA, which reaches any distance; jumps inside one row are
 * short.
 */
#include "plan/seccomp.h"

#include <assert.h>

#include "plan/bpf.h"
#include "plan/lane.h"
#include "base/banned.h"

enum {
	PROGRAM_MAX = 4096
}; /* BPF_MAXINSNS */

int call_number(enum call call, enum arch arch)
{
	static const short numbers[CALL_COUNT][2] = {
#define CALL(name, x86_64, aarch64) {x86_64, aarch64},
#include "plan/syscalls.def"
#undef CALL
	};

	return numbers[call][arch];
}

/* ---- Which rows count ---- */

static uint64_t when_broker(const struct planner *p)
{
	static const struct {
		enum broker_class class;
		uint64_t when;
	} classes[] = {
		{BROKER_WRITE, WHEN_WRITE},   {BROKER_READ, WHEN_READ},
		{BROKER_ATTR, WHEN_ATTR},     {BROKER_UNIX, WHEN_UNIX},
		{BROKER_INET, WHEN_INET},     {BROKER_EXEC, WHEN_EXEC},
		{BROKER_SIGNAL, WHEN_SIGNAL}, {BROKER_INHERITED, WHEN_INHERITED},
	};
	unsigned brokered = p->plan->brokered;
	uint64_t ret = brokered ? WHEN_BROKER : 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (brokered & classes[i].class)
			ret |= classes[i].when;
	if ((brokered & BROKER_ATTR) && (p->facts.write_data != CAN_ALLOW || p->input->nestable))
		ret |= WHEN_ACCESS;
	if ((brokered & BROKER_UNIX) && p->facts.listen_apart)
		ret |= WHEN_LISTEN;
	if (brokered & (BROKER_READ | BROKER_WRITE))
		ret |= WHEN_LOCKS;
	if (needs_held(p))
		ret |= WHEN_HELD;
	if (brokered && p->caps->root)
		ret |= WHEN_IDS;
	return ret;
}

static uint64_t when_network(const struct planner *p)
{
	const struct facts *facts = &p->facts;
	bool free_inet = !p->no_inet && !(p->needed & BROKER_INET);
	uint64_t ret = 0;

	if (free_inet)
		ret |= p->tcp_udp_only ? WHEN_TCP_UDP : WHEN_FREE_INET;
	if (p->no_others)
		ret |= WHEN_FAMILIES;
	if (!free_inet || (p->needed & BROKER_INHERITED))
		ret |= WHEN_NETWORK;
	if (p->netlink)
		ret |= WHEN_NETLINK;
	if ((p->plan->brokered & BROKER_INET) && facts->inet_out[TRANSPORT_UDP] == CAN_ALLOW &&
	    facts->inet_in[TRANSPORT_UDP] == CAN_ALLOW)
		ret |= WHEN_FREE_UDP;
	return ret;
}

static uint64_t when_ipc(const struct planner *p)
{
	const struct {
		unsigned verdicts;
		uint64_t when;
	} kinds[] = {
		{p->facts.sysv_shm, WHEN_NO_SYSV_SHM},
		{p->facts.sysv_sem, WHEN_NO_SYSV_SEM},
		{p->facts.sysv_msg, WHEN_NO_SYSV_MSG},
		{p->facts.posix_mq, WHEN_NO_POSIX_MQ},
	};
	uint64_t ret = 0;

	/* In a name space of our own there is nothing but what the session made. */
	if (has_ns(p, NS_IPC) || is_around(p, SCOPE_IPC))
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (is_private(p, SCOPE_IPC) || kinds[i].verdicts != CAN_ALLOW)
			ret |= kinds[i].when;
	return ret;
}

static uint64_t when_files(const struct planner *p)
{
	const struct facts *facts = &p->facts;
	uint64_t ret = 0;

	if (facts->nodes == CAN_DENY)
		ret |= WHEN_NO_NODES;
	if (facts->setugid != CAN_ALLOW)
		ret |= WHEN_SETUGID;
	if (facts->setugid != CAN_ALLOW && p->held.on)
		ret |= WHEN_NO_SETUGID;
	if (facts->nodes != CAN_ALLOW && p->held.on)
		ret |= WHEN_NO_WHITEOUT;
	if (facts->write_data != CAN_ALLOW)
		ret |= WHEN_WRITES;
	/* Landlock takes a file without a name for writing to its directory. */
	if (facts->create != CAN_ALLOW && !(p->plan->brokered & BROKER_WRITE))
		ret |= WHEN_NO_TMPFILE;
	if (facts->flags == (CAN_ALLOW | CAN_DENY) && (p->plan->brokered & BROKER_ATTR))
		ret |= WHEN_FLAGS;
	else if (facts->flags != CAN_ALLOW)
		ret |= WHEN_NO_FLAGS;
	if (facts->setugid != CAN_ALLOW || (p->plan->brokered & (BROKER_READ | BROKER_WRITE)))
		ret |= p->plan->brokered ? WHEN_OPENAT2 : WHEN_NO_OPENAT2;
	return ret;
}

static uint64_t when_processes(const struct planner *p)
{
	uint64_t ret = 0;

	if (p->facts.exec == CAN_DENY)
		ret |= WHEN_NO_EXEC;
	else if (p->facts.exec_unnamed == CAN_DENY)
		ret |= WHEN_MEMFD;
	if (p->facts.fork != CAN_ALLOW)
		ret |= WHEN_NO_FORK;
	if (!p->input->nested_userns)
		ret |= WHEN_NO_NESTING;
	if (is_private(p, SCOPE_PID))
		ret |= WHEN_PRIVATE_PID;
	if (is_private(p, SCOPE_PID) && !has_ns(p, NS_PID))
		ret |= WHEN_OTHERS;
	if ((p->facts.signal_outside & CAN_DENY) && !has_ns(p, NS_PID))
		ret |= WHEN_OUTSIDERS;
	return ret;
}

static uint64_t when(const struct planner *p)
{
	return when_broker(p) | when_network(p) | when_ipc(p) | when_files(p) | when_processes(p);
}

/* ---- Which calls the broker is asked about ---- */

static char *call_name(struct arena *arena, enum call call)
{
	static const char *const names[CALL_COUNT] = {
#define CALL(name, x86_64, aarch64) #name,
#include "plan/syscalls.def"
#undef CALL
	};
	char *ret = arena_strdup(arena, str_of(names[call]));

	for (char *at = ret; at && *at; at++)
		*at = str_fold(*at);
	return ret;
}

const struct call_report *seccomp_calls(const struct planner *p, uint64_t asked)
{
	const uint64_t active = when(p) & asked;
	struct call_report *list = arena_array(p->arena, CALL_COUNT + 1, sizeof(*list));
	int last = -1;
	size_t n = 0;

	for (size_t i = 0; list && i < n_call_rows; i++) {
		const struct call_row *row = &call_rows[i];

		if (row->action != SECCOMP_USER_NOTIF || !(row->when & active) ||
		    call_number(row->call, p->caps->arch) < 0)
			continue;
		if (last != (int)row->call)
			list[n++] = (struct call_report){call_name(p->arena, row->call), true};
		list[n - 1].sometimes &= row->tests[0].kind != ARG_NONE;
		last = (int)row->call;
	}
	for (size_t i = 0; i < n; i++)
		if (!list[i].name)
			return NULL;
	return list;
}

/* ---- Emitting ---- */

struct program {
	struct arena *arena;
	struct bpf_insn *insns;
	size_t n, cap;
	bool failed;
	bool has_broker;
};

static void emit(struct program *program, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	struct bpf_insn *insns = arena_grow(program->arena, program->insns, program->n,
					    &program->cap, sizeof(*insns));

	if (!insns) {
		program->failed = true;
		return;
	}
	program->insns = insns;
	insns[program->n++] = (struct bpf_insn){.code = code, .jt = jt, .jf = jf, .k = k};
}

static void emit_load(struct program *program, uint32_t offset)
{
	emit(program, BPF_LOAD, offset, 0, 0);
}

static void emit_return(struct program *program, uint32_t value)
{
	/* Without a broker nobody could answer. */
	if (value == SECCOMP_USER_NOTIF && !program->has_broker)
		value = SECCOMP_ERRNO | LINUX_EPERM;
	emit(program, BPF_RETURN, value, 0, 0);
}

static size_t test_length(const struct arg_test *test)
{
	if (test->kind == ARG_NONE)
		return 0;
	if (test->kind == ARG_MARK)
		return 4;
	return test->mask == ~0u ? 2 : 3;
}

/* When TEST does not hold the program goes on at TO. */
static void emit_test(struct program *program, const struct arg_test *test, size_t to)
{
	size_t end = program->n + test_length(test);
	uint8_t miss = (uint8_t)(to - end);

	assert(to >= end && to - end <= UINT8_MAX);
	emit_load(program, BPF_ARGS + 8 * test->arg);
	if (test->kind == ARG_MARK) {
		emit(program, BPF_JUMP_EQUAL, LANE_MARK_LOW, 0, (uint8_t)(miss + 2));
		emit_load(program, BPF_ARGS + 8 * test->arg + 4);
		emit(program, BPF_JUMP_EQUAL, LANE_MARK_HIGH, 0, miss);
		return;
	}
	if (test->mask != ~0u)
		emit(program, BPF_AND, test->mask, 0, 0);
	if (test->kind == ARG_ANY)
		emit(program, BPF_JUMP_EQUAL, 0, miss, 0);
	else
		emit(program, BPF_JUMP_EQUAL, test->kind == ARG_EQUAL ? test->value : 0, 0, miss);
}

static void emit_row(struct program *program, const struct call_row *row, uint32_t allow)
{
	const size_t n_tests = sizeof(row->tests) / sizeof(row->tests[0]);
	size_t end = program->n + 1;

	for (size_t i = 0; i < n_tests; i++)
		end += test_length(&row->tests[i]);
	for (size_t i = 0; i < n_tests && row->tests[i].kind != ARG_NONE; i++)
		emit_test(program, &row->tests[i], end);
	emit_return(program, row->action == SECCOMP_ALLOW ? allow : row->action);
}

/* Numbers from FIRST on, up to those of the next span: one call with rows, or calls that end alike.
 */
struct span_of_calls {
	uint32_t first;
	uint32_t action;
	const struct call_row *rows, *end; /* none: ACTION whatever the arguments */
};

struct spans {
	struct span_of_calls list[2 * CALL_COUNT + 1]; /* by number, from 0 on */
	size_t n;
};

static bool row_counts(const struct call_row *row, uint64_t active)
{
	return row->when == WHEN_ALWAYS || (row->when & active);
}

/* What a row of CALL that allows it comes to: sockets may have to be made by the broker. */
static uint32_t allowing(enum call call, uint64_t active)
{
	return call == CALL_SOCKET && (active & WHEN_HELD) ? SECCOMP_USER_NOTIF : SECCOMP_ALLOW;
}

static void emit_span(struct program *program, const struct span_of_calls *span, uint64_t active)
{
	for (const struct call_row *row = span->rows; row < span->end; row++)
		if (row_counts(row, active))
			emit_row(program, row, allowing(row->call, active));
	emit_return(program, span->action);
}

/* Makes the jump AT reach the end: one by itself where that is too far for it. */
static void aim_jump(struct program *program, size_t at)
{
	size_t over = program->n - at - 1;

	if (over <= UINT8_MAX) {
		program->insns[at].jt = (uint8_t)over;
		return;
	}
	emit(program, BPF_JUMP, 0, 0, 0);
	if (program->failed)
		return;
	memmove(&program->insns[at + 2], &program->insns[at + 1], over * sizeof(*program->insns));
	program->insns[at].jf = 1;
	program->insns[at + 1] = (struct bpf_insn){.code = BPF_JUMP, .k = (uint32_t)over};
}

/* N spans, one at least. */
/* NOLINTNEXTLINE(misc-no-recursion): halves, so as deep as their number has bits */
static void emit_spans(struct program *program, const struct span_of_calls *spans, size_t n,
		       uint64_t active)
{
	size_t half = n / 2, jump = program->n;

	if (n == 1) {
		emit_span(program, spans, active);
		return;
	}
	emit(program, BPF_JUMP_AT_LEAST, spans[half].first, 0, 0);
	emit_spans(program, spans, half, active);
	if (!program->failed)
		aim_jump(program, jump);
	emit_spans(program, spans + half, n - half, active);
}

/* What is decided of the call with ROWS, up to END. */
static struct span_of_calls judge_rows(const struct call_row *rows, const struct call_row *end,
				       uint64_t active)
{
	struct span_of_calls ret = {.action = SECCOMP_ALLOW, .rows = rows, .end = end};
	bool decides = false;

	while (rows < end && !row_counts(rows, active))
		rows++;
	for (const struct call_row *row = rows; row < end; row++)
		decides |= row_counts(row, active) && row->action != SECCOMP_ALLOW;
	if (!decides)
		ret.rows = end;
	else if (rows->tests[0].kind == ARG_NONE)
		ret = (struct span_of_calls){.action = rows->action == SECCOMP_ALLOW
							       ? allowing(rows->call, active)
							       : rows->action};
	return ret;
}

static bool ends_alike(const struct span_of_calls *span, uint32_t action)
{
	return span->rows == span->end && span->action == action;
}

/* From FIRST on it is as WHAT says. */
static void add_span(struct spans *spans, uint32_t first, struct span_of_calls what)
{
	what.first = first;
	if (spans->n && spans->list[spans->n - 1].first == first)
		spans->n--;
	if (spans->n && what.rows == what.end &&
	    ends_alike(&spans->list[spans->n - 1], what.action))
		return;
	spans->list[spans->n++] = what;
}

/* The calls that have rows among ALL, by number: the first of their rows, or NULL. */
static void sort_rows(const struct call_row *all, enum arch arch,
		      const struct call_row *ret[CALLS_END])
{
	for (size_t i = n_call_rows; i-- > 0;) {
		int number = call_number(all[i].call, arch);

		if (number >= 0)
			ret[number] = &all[i];
	}
}

static void find_spans(const struct call_row *all, enum arch arch, uint64_t active,
		       struct spans *ret)
{
	const struct call_row *rows[CALLS_END] = {NULL}, *end;

	sort_rows(all, arch, rows);
	add_span(ret, 0, (struct span_of_calls){.action = SECCOMP_ALLOW});
	for (uint32_t number = 0; number < CALLS_END; number++) {
		if (!rows[number])
			continue;
		end = rows[number];
		while (end < all + n_call_rows && end->call == rows[number]->call)
			end++;
		add_span(ret, number, judge_rows(rows[number], end, active));
		add_span(ret, number + 1, (struct span_of_calls){.action = SECCOMP_ALLOW});
	}
}

static void emit_prologue(struct program *program, enum arch arch)
{
	emit_load(program, BPF_ARCH);
	emit(program, BPF_JUMP_EQUAL,
	     arch == ARCH_X86_64 ? AUDIT_ARCH_X86_64_ : AUDIT_ARCH_AARCH64_, 1, 0);
	emit_return(program, SECCOMP_KILL_PROCESS);
	emit_load(program, BPF_NR);
	/* A tracer has cancelled the call, or it never was one: nothing is done. ptrace(2) */
	emit(program, BPF_JUMP_EQUAL, (uint32_t)NO_CALL, 0, 1);
	emit_return(program, SECCOMP_ALLOW);
	/* Also the x32 ABI, whose numbers have bit 30 set. */
	emit(program, BPF_JUMP_AT_LEAST, CALLS_END, 0, 1);
	emit_return(program, SECCOMP_ERRNO | LINUX_ENOSYS);
}

int seccomp_plan(struct planner *p, struct err *e)
{
	struct program program = {.arena = p->arena,
				  .has_broker = p->plan->brokered != 0 && !p->plan->nested};
	uint64_t active = when(p) | WHEN_LANE(p->plan->lane);
	const struct call_row *rows = call_rows;
	struct spans spans = {.n = 0};

	p->plan->when = active;
	if (p->plan->nested)
		rows = rows_inside(p, &active);
	if (!rows)
		return err_memory(e);
	find_spans(rows, p->caps->arch, active, &spans);
	emit_prologue(&program, p->caps->arch);
	emit_spans(&program, spans.list, spans.n, active);
	if (program.failed)
		return err_memory(e);
	if (program.n > PROGRAM_MAX)
		return err_set(e, ERR_LIMIT, "the seccomp filter has %zu instructions", program.n);
	p->plan->filter = program.insns;
	p->plan->n_filter = program.n;
	return 0;
}
