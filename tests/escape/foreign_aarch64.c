/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of 32-bit ARM, which only a program of that kind can make: one is written and run.
 */
#include "escape.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ADDRESS = 0x10000
};

static const uint32_t opens[] = {
	0xe28f0018, /* add r0, pc, #24: what is behind the code */
	0xe3a01001, /* mov r1, #O_WRONLY */
	0xe3811b01, /* orr r1, r1, #O_APPEND */
	0xe3a07005, /* mov r7, #open */
	0xef000000, /* svc 0 */
	0xe1a00fa0, /* lsr r0, r0, #31: ESCAPED or CONTAINED */
	0xe3a07001, /* mov r7, #exit */
	0xef000000, /* svc 0 */
};

static const uint32_t makes_socket[] = {
	0xe3a00010, /* mov r0, #AF_NETLINK */
	0xe3a01003, /* mov r1, #SOCK_RAW */
	0xe3a02004, /* mov r2, #NETLINK_SOCK_DIAG */
	0xe3a07f46, /* mov r7, #280 */
	0xe2877001, /* add r7, r7, #1: socket */
	0xef000000, /* svc 0 */
	0xe1a00fa0, /* lsr r0, r0, #31 */
	0xe3a07001, /* mov r7, #exit */
	0xef000000, /* svc 0 */
};

/* Executes CODE, of so many bytes, with ARGUMENT behind it. */
static enum outcome run_arm(const uint32_t *code, size_t size, const char *argument)
{
	struct {
		Elf32_Ehdr file;
		Elf32_Phdr segment;
		unsigned char code[64 + 256];
	} program = {
		.file = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
				     EV_CURRENT},
			 .e_type = ET_EXEC,
			 .e_machine = EM_ARM,
			 .e_version = EV_CURRENT,
			 .e_entry = ADDRESS + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
			 .e_phoff = sizeof(Elf32_Ehdr),
			 .e_flags = EF_ARM_EABI_VER5,
			 .e_ehsize = sizeof(Elf32_Ehdr),
			 .e_phentsize = sizeof(Elf32_Phdr),
			 .e_phnum = 1},
		.segment = {.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_vaddr = ADDRESS,
			    .p_filesz = sizeof(program),
			    .p_memsz = sizeof(program),
			    .p_align = 0x10000},
	};
	int fd = open("arm", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	memcpy(program.code, code, size);
	snprintf((char *)program.code + size, sizeof(program.code) - size, "%s", argument);
	if (fd < 0 || write(fd, &program, sizeof(program)) != (ssize_t)sizeof(program) ||
	    close(fd) < 0)
		broken("program");
	execl("./arm", "arm", (char *)NULL);
	if (errno == ENOEXEC)
		return untried("kernel lacks 32-bit programs");
	return came_through(-1);
}

static enum outcome call_by_arm(void)
{
	return run_arm(opens, sizeof(opens), other("f"));
}

static enum outcome socket_by_arm(void)
{
	return run_arm(makes_socket, sizeof(makes_socket), "");
}

const struct escape_case foreign_cases[] = {
	{"A062a", "open a file outside by a 32-bit program", call_by_arm},
	{"A062b", "make a diagnostic socket by a 32-bit program", socket_by_arm},
	{0},
};
