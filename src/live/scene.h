/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene: what has to be there for one act, in this process and its children: a world if there can
 * be one, the object, who listens, who stands by.
 */
#ifndef LIVE_SCENE_H
#define LIVE_SCENE_H

#include <stdbool.h>

#include "live/deed.h"
#include "live/kit.h"

/*
 * Enters a world, or with a FOLDER that has a copy of the kit stays where it is, and makes what
 * DEED is about; fills in what only now is known of it. LOCAL: where the deed's socket is bound to.
 * 0, or -1 with *RET_FAILED saying what could not be done and errno why.
 */
int scene_make(struct deed *deed, const struct address *local, const struct kit *kit,
	       const char *folder, const char **ret_failed);

#endif
