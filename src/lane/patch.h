/* SPDX-License-Identifier: Apache-2.0 */
/* What depends on the machine: one file for each. */
#ifndef LANE_PATCH_H
#define LANE_PATCH_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__aarch64__)
#include "lane/aarch64.h"
#else
#include "lane/x86_64.h"
#endif

/* How many bytes from a site on are replaced. */
extern const size_t lane_site_size;

/* Where slots are written: whole pages of this library, for code that sites jump to. */
extern unsigned char lane_slots[LANE_SLOTS_SIZE];
extern const size_t lane_slot_size;

/*
 * The first place in [CODE, END) where one of the system calls NUMBERS (-1 ends them) is made by
 * instructions that are known; NULL: none. What stands before END may be read.
 */
unsigned char *lane_find(unsigned char *code, const unsigned char *end, const int *numbers);

/* Writes slot NUMBER for the site AT, as it still is. False: it is too far away. */
bool lane_write_slot(size_t number, const unsigned char *at);

/* Writes a jump to slot NUMBER over the site AT. */
void lane_write_site(size_t number, unsigned char *at);

/* To be called before what was written to [BEGIN, END) is executed. */
void lane_written(const unsigned char *begin, const unsigned char *end);

/* A system call: its result, or -errno. */
long lane_call(long number, long a, long b, long c);

/* So much memory, zeroed, or NULL. */
void *lane_map(size_t size);

/* leave.c: executes the program again without us. Comes back if that cannot be done. */
void lane_leave(void);

#endif
