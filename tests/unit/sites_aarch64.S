/* SPDX-License-Identifier: Apache-2.0 */
/* System calls as a C library makes them, for patch_test.c. */
#include <sys/syscall.h>

	.section .sites, "ax", %progbits
	.balign 65536
	.globl sites, sites_end
sites:

/* long site_open(int dir, const char *path, int flags, mode_t mode) */
	.globl site_open
	.type site_open, %function
site_open:
	.cfi_startproc
	mov x8, #SYS_openat
	svc #0
	ret
	.cfi_endproc

/* long site_link(int dir, const char *path, int new_dir, const char *new_path, int flags) */
	.globl site_link
	.type site_link, %function
site_link:
	mov w8, #SYS_linkat
	sxtw x2, w2
	mov w9, #7
	mov x10, x9
	svc #0
	ret

/* A number that is not known, and a jump between. */
	mov x8, x0
	svc #0
	mov x8, #SYS_openat
	cbz x0, 1f
1:	svc #0
	ret

/* long site_enter(void): getpid(2), by the svc that site_open makes its call with. */
	.globl site_enter
	.type site_enter, %function
site_enter:
	mov x8, #SYS_getpid
	b site_open + 4

/* long site_keeps(int dir, const char *path): 0: site_open with what is in all registers and flags
   changed nothing but the result. */
	.globl site_keeps
	.type site_keeps, %function
site_keeps:
	stp x29, x30, [sp, #-16]!
	mov x2, #0
	mov x3, #103
	mov x4, #104
	mov x5, #105
	mov x6, #106
	mov x7, #107
	mov x9, #109
	mov x10, #110
	mov x11, #111
	mov x12, #112
	mov x13, #113
	mov x14, #114
	mov x15, #115
	mov x16, #116
	mov x17, #117
	mov x29, x1
	mov x8, #0x6000
	lsl x8, x8, #16
	msr nzcv, x8
	bl site_open
	mrs x0, nzcv
	lsr x0, x0, #28
	sub x0, x0, #6
	sub x29, x29, x1
	orr x0, x0, x29
	orr x0, x0, x2
	sub x3, x3, #103
	orr x0, x0, x3
	sub x4, x4, #104
	orr x0, x0, x4
	sub x5, x5, #105
	orr x0, x0, x5
	sub x6, x6, #106
	orr x0, x0, x6
	sub x7, x7, #107
	orr x0, x0, x7
	sub x8, x8, #SYS_openat
	orr x0, x0, x8
	sub x9, x9, #109
	orr x0, x0, x9
	sub x10, x10, #110
	orr x0, x0, x10
	sub x11, x11, #111
	orr x0, x0, x11
	sub x12, x12, #112
	orr x0, x0, x12
	sub x13, x13, #113
	orr x0, x0, x13
	sub x14, x14, #114
	orr x0, x0, x14
	sub x15, x15, #115
	orr x0, x0, x15
	sub x16, x16, #116
	orr x0, x0, x16
	sub x17, x17, #117
	orr x0, x0, x17
	ldp x29, x30, [sp], #16
	ret
sites_end:
	.section .note.GNU-stack, "", %progbits
