/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions in the report's text: "0x1000-0x13ff  52.80 %  ####  hash_block 84 %, 2 more",
 * fitted to the screen: as many parts as there is room for, with shorter names if need
 * be.
 */
#ifndef HLG_FILTER_WRITE_TEXT_REGIONS_H
#define HLG_FILTER_WRITE_TEXT_REGIONS_H

#include "filter/report/report.h"

/* The regions of a view, `most` of them if that is not 0, with an empty line behind;
 * nothing where the report shows none. False without memory. */
bool hlg_text_regions_write(FILE *f, const struct hlg_report *report,
			    const struct hlg_view *view, uint64_t most);

#endif
