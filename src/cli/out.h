/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out: standard output. That something could not be written is remembered until the end, where it
 * becomes the exit status: an answer that nobody got is not given.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include "base/buf.h"

/* Writes TEXT, and releases it. One that failed is not written, and counts as what cannot be. */
void out_print(struct buf *text);

/* The exit status instead of STATUS, after the last output: that, or 71 with a message. */
int out_end(int status);

#endif
