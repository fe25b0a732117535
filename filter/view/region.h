/* SPDX-License-Identifier: GPL-2.0-only */
/* The region histogram of a view: aligned windows of an image's own addresses. */
#ifndef HLG_FILTER_VIEW_REGION_H
#define HLG_FILTER_VIEW_REGION_H

#include "filter/view/view.h"

/*
 * Fills the regions of a view that was built, once, from its rows and hits; size is a
 * power of two, 0 for none. Fails only without memory; hlg_view_finish frees them.
 */
int hlg_region_build(struct hlg_view *view, uint64_t size, struct hlg_err *err);

#endif
