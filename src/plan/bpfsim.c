/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel would answer to a system call. It knows the instructions that
 * the emitter uses; a program with any other, or with a jump out of itself, is
 * one the kernel would not take: that counts as the strictest answer.
 */
#include "plan/bpf.h"
#include "plan/plan.h"
#include "plan/seccomp.h"
#include "base/banned.h"

/* The word at OFFSET of struct seccomp_data. */
static uint32_t load(const struct seccomp_call *call, uint32_t offset)
{
	uint64_t value = 0;

	if (offset == BPF_NR)
		return (uint32_t)call->nr;
	if (offset == BPF_ARCH)
		return call->arch;
	value = offset < BPF_ARGS ? call->instruction_pointer : call->args[(offset - BPF_ARGS) / 8];
	return (uint32_t)(offset % 8 ? value >> 32 : value);
}

uint32_t bpf_simulate(const struct bpf_insn *filter, size_t n, const struct seccomp_call *call)
{
	uint32_t a = 0;

	for (size_t i = 0; i < n; i++) {
		const struct bpf_insn *insn = &filter[i];

		switch (insn->code) {
		case BPF_LOAD:
			if (insn->k % 4 != 0 || insn->k >= BPF_DATA_END)
				return SECCOMP_KILL_PROCESS;
			a = load(call, insn->k);
			break;
		case BPF_AND:
			a &= insn->k;
			break;
		case BPF_JUMP:
			i += insn->k;
			break;
		case BPF_JUMP_EQUAL:
			i += a == insn->k ? insn->jt : insn->jf;
			break;
		case BPF_JUMP_AT_LEAST:
			i += a >= insn->k ? insn->jt : insn->jf;
			break;
		case BPF_RETURN:
			return insn->k;
		default:
			return SECCOMP_KILL_PROCESS;
		}
	}
	return SECCOMP_KILL_PROCESS;
}
