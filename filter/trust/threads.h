/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Misfits: the threads whose samples do not lie on instruction boundaries, where others'
 * do. Only addresses that one thread alone was sampled at can tell.
 */
#ifndef HLG_FILTER_TRUST_THREADS_H
#define HLG_FILTER_TRUST_THREADS_H

#include "filter/trust/trust.h"

/*
 * Lists in trust the threads of which less than 99 % of the samples are on boundaries,
 * those with most that are not first. Returns false without memory.
 */
bool hlg_misfits_find(struct hlg_trust *trust, const struct hlg_view *view);

#endif
