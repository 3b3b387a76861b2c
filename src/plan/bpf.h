/* SPDX-License-Identifier: Apache-2.0 */
/* The classic BPF that the filter is written in: six instructions, one accumulator. */
#ifndef PLAN_BPF_H
#define PLAN_BPF_H

enum bpf_code {
	BPF_LOAD = 0x20,          /* LD|W|ABS: the word at offset k of struct seccomp_data */
	BPF_AND = 0x54,           /* ALU|AND|K */
	BPF_JUMP = 0x05,          /* JMP|JA: k instructions ahead */
	BPF_JUMP_EQUAL = 0x15,    /* JMP|JEQ|K */
	BPF_JUMP_AT_LEAST = 0x35, /* JMP|JGE|K */
	BPF_RETURN = 0x06,        /* RET|K */
};

/* Offsets in struct seccomp_data; arguments are 64 bits each, low word first. */
enum bpf_offset {
	BPF_NR = 0,
	BPF_ARCH = 4,
	BPF_POINTER = 8,
	BPF_ARGS = 16,
	BPF_DATA_END = 64,
};

#endif
