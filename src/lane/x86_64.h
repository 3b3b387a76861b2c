/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LANE_X86_64_H
#define LANE_X86_64_H

enum {
	LANE_SLOTS_SIZE = 4096, /* pages have one size */
};

#endif
