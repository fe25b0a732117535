/* SPDX-License-Identifier: GPL-2.0-only */
/* The region histogram of a view: aligned windows of an image's own addresses. */
#ifndef HLG_FILTER_VIEW_REGION_H
#define HLG_FILTER_VIEW_REGION_H

#include "filter/view/view.h"

/*
 * Fills the view's regions from its rows and hits; size is a power of two, 0 for none.
 * Returns false without memory.
 */
bool hlg_regions_build(struct hlg_view *view, uint64_t size);

#endif
