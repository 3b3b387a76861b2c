/* SPDX-License-Identifier: Apache-2.0 */
/* word: eight bytes of a text at a time, the first one lowest. */
#ifndef POLICY_WORD_H
#define POLICY_WORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	WORD = sizeof(uint64_t)
};

static inline uint64_t word_load(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* The N bytes at P, of which there may be more or less than eight; 0 for those that are missing. */
static inline uint64_t word_load_some(const char *p, size_t n)
{
	uint64_t word = 0;

	if (n >= WORD)
		return word_load(p);
	while (n-- > 0)
		word = word << 8 | (unsigned char)p[n];
	return word;
}

/* N bytes, at most eight, from place I on of the SIZE at P; 0 for those that are missing. */
static inline uint64_t word_load_part(const char *p, size_t size, size_t i, size_t n)
{
	if (size - i >= WORD)
		return word_load(p + i) & (~(uint64_t)0 >> 8 * (WORD - n));
	if (i + n >= WORD)
		return word_load(p + i + n - WORD) >> 8 * (WORD - n);
	return word_load_some(p + i, n);
}

/* Bytes before the first non-zero one. */
static inline unsigned word_leading_zeroes(uint64_t word)
{
	return word ? (unsigned)__builtin_ctzll(word) / 8 : WORD;
}

/*
 * The highest bit of each byte of WORD that is BYTE. Behind the first one there may be others that
 * are not.
 */
static inline uint64_t word_find(uint64_t word, unsigned char byte)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t other = word ^ ones * byte;

	return (other - ones) & ~other & ones << 7;
}

#endif
