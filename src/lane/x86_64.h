/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LANE_X86_64_H
#define LANE_X86_64_H

#include <stdbool.h>

enum {
	LANE_SLOTS_SIZE = 4096,       /* pages have one size */
	LANE_TELLS_STATIC_TLS = true, /* linkers set DF_STATIC_TLS */
};

#endif
