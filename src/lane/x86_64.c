/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86-64. A C library makes a system call by
 *
 *	mov $NUMBER, %eax ; syscall
 *
 * or, where it puts AT_FDCWD before the path,
 *
 *	mov $NUMBER, %eax ; mov %rdi, %rsi ; mov $AT_FDCWD, %edi ; syscall
 *
 * and counts on every register but rax, rcx and r11 afterwards. The five bytes before `syscall`
 * become a jump to a slot of ours. The syscall instruction stays where it is, for whoever jumps to
 * it, and the slot comes back behind it. The jump replaces one whole instruction, so nobody jumps
 * into it.
 */
#include "lane/patch.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "plan/lane.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

enum {
	MOV_EAX = 0xb8,
	MOV_EDI = 0xbf,
	CALL = 0xe8,
	JUMP = 0xe9,
	MOV_SIZE = 5,
	SYSCALL_SIZE = 2,
	BEFORE = 8, /* mov $NUMBER, %eax ; mov %rdi, %rsi */
};

const size_t lane_site_size = MOV_SIZE;
const size_t lane_slot_size = 32;

/*
 * The call with the mark; if the floor refuses it, the call without. After some refusals in a row
 * what the program does is most likely elsewhere, and the next calls are made without. Threads may
 * mix up the counts, which does no harm.
 *
 * The unwinder is told of one frame for this and the slot: it begins at the stack pointer of the
 * site, and returns behind the jump that ends the slot (for cancellation, and backtraces of calls
 * that block).
 */
__asm__(".pushsection .text\n"
	".hidden lane_common\n"
	".globl lane_common\n"
	".type lane_common, @function\n"
	"lane_common:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa rsp, 136\n"
	/* DW_CFA_val_expression, return address: CFA - 136 holds where the slot goes on, S */
	"	.cfi_escape 0x16, 16, 25, 0x0b, 0x78, 0xff, 0x22, 0x06\n"
	/* S + 13 + (int32_t) *(S + 9) */
	"	.cfi_escape 0x12, 0x23, 9, 0x94, 4, 0x0c, 0, 0, 0, 0x80, 0x27\n"
	"	.cfi_escape 0x0c, 0, 0, 0, 0x80, 0x1c, 0x22, 0x23, 13\n"
	"	push %r9\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rax\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov lane_pause(%rip), %ecx\n"
	"	test %ecx, %ecx\n"
	"	jnz 3f\n"
	"	movabs $" TEXT(
		LANE_MARK) ", %r9\n"
			   "	syscall\n"
			   "	cmp $-13, %rax\n" /* EACCES */
			   "	je 1f\n"
			   "	cmp $-18, %rax\n" /* EXDEV */
			   "	je 1f\n"
			   "	cmpl $0, lane_refusals(%rip)\n" /* a write would make the page our
								   own */
			   "	je 5f\n"
			   "	movl $0, lane_refusals(%rip)\n"
			   "	jmp 5f\n"
			   "1:	incl lane_refusals(%rip)\n"
			   "	cmpl $4, lane_refusals(%rip)\n"
			   "	jb 4f\n"
			   "	movl $64, lane_pause(%rip)\n"
			   "	movl $3, lane_refusals(%rip)\n" /* one more is enough */
			   "	jmp 4f\n"
			   "3:	dec %ecx\n" /* not in memory: two threads would go below 0 */
			   "	mov %ecx, lane_pause(%rip)\n"
			   "4:	mov (%rsp), %rax\n"
			   /* A signal handler may have interrupted another call of the lane. */
			   "	xor %r9d, %r9d\n"
			   "	syscall\n"
			   "5:	pop %rcx\n"
			   "	.cfi_adjust_cfa_offset -8\n"
			   "	pop %r9\n"
			   "	.cfi_adjust_cfa_offset -8\n"
			   "	ret\n"
			   "	.cfi_endproc\n"
			   ".size lane_common, . - lane_common\n"
			   ".popsection\n"
			   ".pushsection .lane_slots, \"ax\", @progbits\n"
			   ".balign 4096\n"
			   ".hidden lane_slots\n"
			   ".globl lane_slots\n"
			   "lane_slots:\n"
			   "	.fill 4096, 1, 0xcc\n"
			   ".popsection\n"
			   ".pushsection .data\n"
			   ".balign 4\n"
			   "lane_refusals: .long 0\n"
			   "lane_pause: .long 0\n"
			   ".popsection\n");

extern const unsigned char lane_common[];

/* ---- Finding ---- */

static int32_t word_at(const unsigned char *p)
{
	return (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			 (uint32_t)p[3] << 24);
}

static bool is_move(const unsigned char *p, const int *numbers)
{
	if (p[0] != MOV_EAX)
		return false;
	while (*numbers >= 0 && *numbers != word_at(p + 1))
		numbers++;
	return *numbers >= 0;
}

unsigned char *lane_find(unsigned char *code, const unsigned char *end, const int *numbers)
{
	for (unsigned char *p = code; p + BEFORE + MOV_SIZE + SYSCALL_SIZE <= end; p++) {
		if (!is_move(p, numbers))
			continue;
		if (p[MOV_SIZE] == 0x0f && p[MOV_SIZE + 1] == 0x05)
			return p;
		if (p[5] == 0x48 && p[6] == 0x89 && p[7] == 0xfe && p[BEFORE] == MOV_EDI &&
		    word_at(p + BEFORE + 1) == AT_FDCWD && p[BEFORE + 5] == 0x0f &&
		    p[BEFORE + 6] == 0x05)
			return p + BEFORE;
	}
	return NULL;
}

/* ---- Writing ---- */

static void put_word(unsigned char *p, int32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)((uint32_t)value >> 8 * i);
}

/* OPCODE with TARGET's distance from behind it. */
static void put_branch(unsigned char *p, unsigned char opcode, const unsigned char *target)
{
	p[0] = opcode;
	put_word(p + 1, (int32_t)(target - (p + 5)));
}

static unsigned char *slot_of(size_t number)
{
	return lane_slots + number * lane_slot_size;
}

bool lane_write_slot(size_t number, const unsigned char *at)
{
	/* lea -0x80(%rsp), %rsp: what is below the stack pointer may be in use. */
	static const unsigned char enter[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	/* lea 0x80(%rsp), %rsp */
	static const unsigned char leave[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
	unsigned char *p = slot_of(number);
	ptrdiff_t distance = at - p;

	if (distance > INT32_MAX - LANE_SLOTS_SIZE || distance < INT32_MIN + LANE_SLOTS_SIZE)
		return false;
	for (size_t i = 0; i < MOV_SIZE; i++)
		*p++ = at[i];
	for (size_t i = 0; i < sizeof(enter); i++)
		*p++ = enter[i];
	put_branch(p, CALL, lane_common);
	p += 5;
	for (size_t i = 0; i < sizeof(leave); i++)
		*p++ = leave[i];
	put_branch(p, JUMP, at + MOV_SIZE + SYSCALL_SIZE);
	return true;
}

void lane_write_site(size_t number, unsigned char *at)
{
	put_branch(at, JUMP, slot_of(number));
}

void lane_written(const unsigned char *begin, const unsigned char *end)
{
	(void)begin;
	(void)end;
}

/* ---- Calling ---- */

void *lane_map(size_t size)
{
	register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS;
	register long fd __asm__("r8") = -1;
	register long offset __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_mmap), "D"(0), "S"(size), "d"(PROT_READ | PROT_WRITE),
			   "r"(flags), "r"(fd), "r"(offset)
			 : "rcx", "r11", "memory");
	/* Errors are the last page of addresses. */
	return (unsigned long)ret > -4096ul ? NULL : (void *)ret;
}

long lane_call(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}
