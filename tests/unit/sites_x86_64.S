/* SPDX-License-Identifier: Apache-2.0 */
/* System calls as a C library makes them, for patch_test.c. */
#include <sys/syscall.h>

	.section .sites, "ax", @progbits
	.balign 4096
	.globl sites, sites_end
sites:

/* long site_open(int dir, const char *path, int flags, mode_t mode) */
	.globl site_open
	.type site_open, @function
site_open:
	.cfi_startproc
	mov %rcx, %r10
	mov $SYS_openat, %eax
	syscall
	ret
	.cfi_endproc

/* long site_link(int dir, const char *path, int new_dir, const char *new_path, int flags) */
	.globl site_link
	.type site_link, @function
site_link:
	mov %rcx, %r10
	mov $SYS_linkat, %eax
	syscall
	ret

/* A number that is not known, and a jump between. */
	mov %edi, %eax
	syscall
	mov $SYS_openat, %eax
	jz 1f
1:	syscall
	ret

/* long site_enter(void): getpid(2), by the syscall that site_open makes its call with. */
	.globl site_enter
	.type site_enter, @function
site_enter:
	mov $SYS_getpid, %eax
	jmp site_open + 8

/* long site_keeps(int dir, const char *path): 0: site_open with what is in all registers changed
   nothing but the result and what the kernel takes. */
	.globl site_keeps
	.type site_keeps, @function
site_keeps:
	mov %rsi, -8(%rsp)
	mov %rdi, -16(%rsp)
	sub $24, %rsp
	xor %edx, %edx
	mov $108, %r8d
	mov $109, %r9d
	call site_open
	add $24, %rsp
	xor %eax, %eax
	xor -8(%rsp), %rsi
	or %rsi, %rax
	xor -16(%rsp), %rdi
	or %rdi, %rax
	or %rdx, %rax
	xor $108, %r8
	or %r8, %rax
	xor $109, %r9
	or %r9, %rax
	ret
sites_end:
	.section .note.GNU-stack, "", @progbits
