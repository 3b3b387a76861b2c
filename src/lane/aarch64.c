/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aarch64. The C library makes a system call by
 *
 *	mov x8, #NUMBER ; up to six moves ; svc #0
 *
 * and counts on every register but x0 afterwards, and on the flags. The svc becomes a jump to a
 *slot of ours, which comes back behind it. All instructions have one size, so nobody jumps into it.
 */
#include "lane/patch.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "plan/lane.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

enum {
	INSN_SIZE = 4,
	SLOT_WORDS = 8,
	NUMBER_REGISTER = 8,
	BETWEEN = 6,                   /* instructions */
	BRANCH_REACH = 1 << 27,        /* bytes */
	MOVZ_X5 = (int)0xd2800005,     /* mov x5, #0 */
	SVC = (int)0xd4000001,         /* svc #0 */
	BRANCH = 0x14000000,           /* b . */
	BRANCH_LINK = (int)0x94000000, /* bl . */
};

const size_t lane_site_size = INSN_SIZE;
const size_t lane_slot_size = SLOT_WORDS * INSN_SIZE;

/*
 * The call with the mark; if the floor refuses it, the call without. After some refusals in a row
 * what the program does is most likely elsewhere, and the next calls are made without. Threads may
 * mix up the counts, which does no harm. Comes from a slot, which has left in x5 the number that
 * its site was found by: whoever came there with another makes a call that we do not know.
 *
 * Flags stay as they are, so nothing here compares. The unwinder is told of one frame for this and
 * the slot: it begins at the stack pointer of the site, and returns behind the jump that ends the
 * slot (for cancellation, and backtraces of calls that block), which is no place that x30 holds:
 * column 96 is for that.
 */
__asm__(".pushsection .text\n"
	".hidden lane_common\n"
	".globl lane_common\n"
	".type lane_common, %function\n"
	"lane_common:\n"
	"	.cfi_startproc\n"
	"	.cfi_return_column 96\n"
	"	.cfi_def_cfa sp, 32\n"
	"	.cfi_offset 30, -32\n"
	/* DW_CFA_val_expression, column 96: x30 + 4 is the jump; + its 26 bits, four times, signed
	 */
	"	.cfi_escape 0x16, 96, 12, 0x8e, 4, 0x12, 0x94, 4, 0x08, 38, 0x24, 0x08, 36, 0x26, "
	"0x22\n"
	"	stp x0, x6, [sp, #16]\n"
	"	sub x5, x8, x5\n"
	"	cbnz x5, 6f\n"
	"	adrp x6, lane_counts\n"
	"	add x6, x6, :lo12:lane_counts\n"
	"	ldr w5, [x6, #4]\n" /* the pause */
	"	cbnz w5, 3f\n"
	"	ldr x5, 7f\n"
	"	svc #0\n"
	"	add x5, x0, #13\n" /* EACCES */
	"	cbz x5, 1f\n"
	"	add x5, x0, #18\n" /* EXDEV */
	"	cbz x5, 1f\n"
	"	ldr w5, [x6]\n" /* refusals; a write would make the page our own */
	"	cbz w5, 5f\n"
	"	str wzr, [x6]\n"
	"	b 5f\n"
	"1:	ldr w5, [x6]\n"
	"	add w5, w5, #1\n"
	"	str w5, [x6]\n"
	"	sub w5, w5, #4\n"
	"	tbnz w5, #31, 4f\n"
	"	mov w5, #64\n"
	"	str w5, [x6, #4]\n"
	"	mov w5, #3\n" /* one more is enough */
	"	str w5, [x6]\n"
	"	b 4f\n"
	"3:	sub w5, w5, #1\n"
	"	str w5, [x6, #4]\n"
	"4:	ldr x0, [sp, #16]\n"
	/* A signal handler may have interrupted another call of the lane. */
	"	mov x5, #0\n"
	"	svc #0\n"
	"5:	ldr x6, [sp, #24]\n"
	"	ret\n"
	"6:	ldr x5, [sp, #8]\n"
	"	svc #0\n"
	"	b 5b\n"
	"	.balign 8\n"
	"7:	.quad " TEXT(LANE_MARK) "\n"
					"	.cfi_endproc\n"
					".size lane_common, . - lane_common\n"
					".popsection\n"
					".pushsection .lane_slots, \"ax\", %progbits\n"
					".balign 65536\n"
					".hidden lane_slots\n"
					".globl lane_slots\n"
					"lane_slots:\n"
					"	.fill 65536 / 4, 4, 0xd4200000\n" /* brk #0 */
					".popsection\n"
					".pushsection .data\n"
					".balign 8\n"
					"lane_counts: .long 0, 0\n"
					".popsection\n");

extern const unsigned char lane_common[];

static uint32_t word_at(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_word(unsigned char *p, uint32_t value)
{
	for (int i = 0; i < INSN_SIZE; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

/* ---- Finding ---- */

/* What may stand between: it goes on behind itself, and touches one register, the lowest five bits.
 */
static const struct {
	uint32_t mask, value;
} moves[] = {
	{0x7fe0ffe0, 0x2a0003e0}, /* mov register, register */
	{0x1f800000, 0x12800000}, /* mov register, #value */
	{0xfffffc00, 0x93407c00}, /* sxtw */
};

static bool is_move(uint32_t word)
{
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if ((word & moves[i].mask) == moves[i].value)
			return true;
	return false;
}

/* The number in `mov x8, #NUMBER` or `mov w8, #NUMBER`, or -1. */
static int number_of(uint32_t word)
{
	const uint32_t number = 0xffffu << 5;

	return (word & ~number & 0x7fffffff) == (0x52800000 | NUMBER_REGISTER)
		       ? (int)((word & number) >> 5)
		       : -1;
}

/* The number that the svc AT is reached with, or -1: unknown. */
static int call_number_at(const unsigned char *start, const unsigned char *at)
{
	for (int i = 0; i <= BETWEEN && at - start >= INSN_SIZE; i++) {
		uint32_t word = word_at(at -= INSN_SIZE);

		if ((word & 31) == NUMBER_REGISTER)
			return number_of(word);
		if (!is_move(word))
			return -1;
	}
	return -1;
}

unsigned char *lane_find(unsigned char *code, const unsigned char *end, const int *numbers)
{
	for (unsigned char *p = code; p + INSN_SIZE <= end; p += INSN_SIZE) {
		int number = word_at(p) == (uint32_t)SVC ? call_number_at(code, p) : -1;

		for (const int *wanted = numbers; number >= 0 && *wanted >= 0; wanted++)
			if (*wanted == number)
				return p;
	}
	return NULL;
}

/* ---- Writing ---- */

/* BRANCH or BRANCH_LINK to TARGET. */
static void put_branch(unsigned char *p, int branch, const unsigned char *target)
{
	put_word(p, (uint32_t)branch | ((uint32_t)((target - p) / INSN_SIZE) & 0x3ffffff));
}

static unsigned char *slot_of(size_t number)
{
	return lane_slots + number * lane_slot_size;
}

bool lane_write_slot(size_t number, const unsigned char *at)
{
	unsigned char *p = slot_of(number);
	ptrdiff_t distance = at - p;
	int call = -1;

	if (distance > BRANCH_REACH - LANE_SLOTS_SIZE || distance < -BRANCH_REACH + LANE_SLOTS_SIZE)
		return false;
	for (const unsigned char *mov = at; call < 0; mov -= INSN_SIZE)
		call = number_of(word_at(mov));
	put_word(p, 0xa9be17fe); /* stp x30, x5, [sp, #-32]! */
	put_word(p + 4, (uint32_t)MOVZ_X5 | (uint32_t)call << 5);
	put_branch(p + 8, BRANCH_LINK, lane_common);
	put_word(p + 12, 0xa8c217fe); /* ldp x30, x5, [sp], #32 */
	put_branch(p + 16, BRANCH, at + INSN_SIZE);
	return true;
}

void lane_write_site(size_t number, unsigned char *at)
{
	put_branch(at, BRANCH, slot_of(number));
}

/* Caches of data and of instructions know nothing of each other. */
void lane_written(const unsigned char *begin, const unsigned char *end)
{
	uint64_t type;
	size_t data, code;

	__asm__("mrs %0, ctr_el0" : "=r"(type));
	code = (size_t)4 << (type & 15);
	data = (size_t)4 << (type >> 16 & 15);
	for (uintptr_t p = (uintptr_t)begin & -data; p < (uintptr_t)end; p += data)
		__asm__ volatile("dc cvau, %0" : : "r"(p) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
	for (uintptr_t p = (uintptr_t)begin & -code; p < (uintptr_t)end; p += code)
		__asm__ volatile("ic ivau, %0" : : "r"(p) : "memory");
	__asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

/* ---- Calling ---- */

void *lane_map(size_t size)
{
	register long number __asm__("x8") = SYS_mmap;
	register long ret __asm__("x0") = 0;
	register long length __asm__("x1") = (long)size;
	register long protection __asm__("x2") = PROT_READ | PROT_WRITE;
	register long flags __asm__("x3") = MAP_PRIVATE | MAP_ANONYMOUS;
	register long fd __asm__("x4") = -1;
	register long offset __asm__("x5") = 0;

	__asm__ volatile("svc #0"
			 : "+r"(ret)
			 : "r"(number), "r"(length), "r"(protection), "r"(flags), "r"(fd),
			   "r"(offset)
			 : "memory");
	/* Errors are the last page of addresses. */
	return (unsigned long)ret > -4096ul ? NULL : (void *)ret;
}

long lane_call(long number, long a, long b, long c)
{
	register long nr __asm__("x8") = number;
	register long first __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = 0;

	__asm__ volatile("svc #0"
			 : "+r"(first)
			 : "r"(nr), "r"(second), "r"(third), "r"(fourth)
			 : "memory");
	return first;
}
