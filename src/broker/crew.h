/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew: the broker's threads.
 *
 * One of them leads: it waits for the next call and handles it itself, so that
 * one call after the other costs nothing but its own work. It lets another lead
 * when the watch finds that it is held up (a file system that does not answer, a
 * lease), and first of all for a while after several callers have met: until a
 * call is received, a signal interrupts it. The watch also tries again the calls
 * that wait (pending.c). It sleeps while nothing is asked.
 */
#ifndef BROKER_CREW_H
#define BROKER_CREW_H

#include "broker/call.h"

struct crew;

/*
 * Starts with one worker and the watch; returns when both serve. FAILED: an eventfd of the
 * caller's that becomes readable when they end by themselves and the broker cannot go on. 0, or an
 * errno.
 */
int crew_start(struct broker *broker, int failed, struct crew **ret);

/* The errno that ended it, where broker->broken does not say why. */
int crew_error(const struct crew *crew);

/* Ends and frees it; the listener is closed. Calls that are being handled are waited for. */
void crew_stop(struct crew *crew);

#endif
