/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LANE_AARCH64_H
#define LANE_AARCH64_H

#include <stdbool.h>

enum {
	LANE_SLOTS_SIZE = 65536,       /* pages have 4, 16 or 64 KiB */
	LANE_TELLS_STATIC_TLS = false, /* linkers do not set DF_STATIC_TLS */
};

#endif
