/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/nested.h"

#include "base/pack.h"
#include "plan/seccomp.h"
#include "base/banned.h"

/* ---- The language ---- */

/* FNV-1a */
static uint32_t mix(uint32_t hash, uint64_t number)
{
	for (int i = 0; i < 8; i++) {
		hash ^= (uint32_t)(number & 0xff);
		hash *= 16777619;
		number >>= 8;
	}
	return hash;
}

static uint32_t mix_row(uint32_t hash, const struct call_row *row)
{
	hash = mix(mix(mix(hash, row->call), row->when), row->action);
	for (size_t i = 0; i < sizeof(row->tests) / sizeof(row->tests[0]); i++) {
		const struct arg_test *test = &row->tests[i];

		hash = mix(mix(hash, test->kind), test->arg);
		hash = mix(mix(hash, test->mask), test->value);
	}
	return hash;
}

uint32_t nested_language(void)
{
	uint32_t hash = mix(2166136261, NESTED_VERSION);

	for (size_t i = 0; i < n_call_rows; i++)
		hash = mix_row(hash, &call_rows[i]);
	for (enum op op = OP_DEFAULT; op < OP_COUNT; op++) {
		hash = mix(hash, op_parent(op));
		for (const char *c = op_name(op); *c; c++)
			hash = mix(hash, (unsigned char)*c);
	}
	return mix(mix(hash, FILTER_COUNT), MODIFIER_COUNT) & 0x7fffffff;
}

/* ---- The message ---- */

static void pack_texts(struct buf *buf, const struct str *texts, size_t n)
{
	pack_number(buf, (int64_t)n);
	for (size_t i = 0; i < n; i++)
		pack_text(buf, texts[i]);
}

/* What the floor grants a file by its name stays with the file when it gets another. */
static void pack_files(struct buf *buf, const struct plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_rows; i++)
		n += !plan->rows[i].directory;
	pack_number(buf, (int64_t)n);
	for (size_t i = 0; i < plan->n_rows; i++)
		if (!plan->rows[i].directory)
			pack_text(buf, str_of(plan->rows[i].path));
}

void nested_encode(const struct plan *plan, const struct plan_input *input, struct buf *ret)
{
	pack_number(ret, input->private_scope);
	pack_number(ret, input->around);
	pack_number(ret, plan->floor_bounds_open);
	pack_number(ret, plan->floor_bounds_openat2);
	pack_text(ret, input->scratch);
	pack_texts(ret, input->keep, input->n_keep);
	pack_texts(ret, input->show, input->n_show);
	pack_files(ret, plan);
	policy_encode(input->policy, ret);
}

static const char *copy_text(struct unpack *from, struct arena *arena)
{
	const char *ret = arena_strdup(arena, unpack_text(from));

	from->bad |= !ret;
	return ret;
}

static const struct str *unpack_texts(struct unpack *from, struct arena *arena, size_t *ret_n)
{
	size_t n = unpack_count(from);
	struct str *texts = arena_array(arena, n ? n : 1, sizeof(*texts));

	from->bad |= !texts;
	for (size_t i = 0; i < n && !from->bad; i++)
		texts[i] = str_of(copy_text(from, arena));
	*ret_n = from->bad ? 0 : n;
	return texts;
}

static void unpack_files(struct unpack *from, struct arena *arena, struct plan *ret)
{
	size_t n = unpack_count(from);

	ret->rows = arena_array(arena, n ? n : 1, sizeof(*ret->rows));
	from->bad |= !ret->rows;
	for (size_t i = 0; i < n && !from->bad; i++)
		ret->rows[i].path = copy_text(from, arena);
	ret->n_rows = from->bad ? 0 : n;
}

static int decode(struct unpack *from, struct policy_limits limits, struct nested *ret,
		  struct err *e)
{
	struct plan_input *input = &ret->input;
	int r;

	input->private_scope = (unsigned)unpack_number(from, 0, SCOPE_ALL);
	input->around = (unsigned)unpack_number(from, 0, SCOPE_ALL);
	ret->plan.floor_bounds_open = unpack_number(from, 0, 1);
	ret->plan.floor_bounds_openat2 = unpack_number(from, 0, 1);
	input->scratch = str_of(copy_text(from, &ret->arena));
	input->keep = unpack_texts(from, &ret->arena, &input->n_keep);
	input->show = unpack_texts(from, &ret->arena, &input->n_show);
	unpack_files(from, &ret->arena, &ret->plan);
	if (from->bad)
		return err_set(e, ERR_POLICY, "this is not what a run inside says of itself");
	r = policy_decode(from->rest, limits, &ret->policy, e);
	input->policy = ret->policy;
	return r;
}

int nested_decode(struct str bytes, struct policy_limits limits, struct nested *ret, struct err *e)
{
	struct unpack from = {.rest = bytes};
	int r;

	*ret = (struct nested){.arena.limit = limits.memory};
	r = decode(&from, limits, ret, e);
	if (r < 0)
		nested_release(ret);
	return r;
}

void nested_release(struct nested *nested)
{
	policy_free(nested->policy);
	arena_release(&nested->arena);
	*nested = (struct nested){.policy = NULL};
}
