/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts samples that lie in a row, of one event and of one size. */
#ifndef HLG_TOOLS_FEED_ROW_H
#define HLG_TOOLS_FEED_ROW_H

#include "filter/profile/profile.h"
#include "tools/perfdata/record.h"

/*
 * Counts the sample, and those that follow it in its row, by the profile's short cut.
 * event is the profile's number of theirs. raw is not alone, and its layout has an ip.
 * False: raw is now the sample that the short cut does not take, and is not counted; else
 * it is the last that was.
 */
bool hlg_row_count(struct hlg_profile *profile, uint32_t event,
		   struct hlg_perfdata_raw *raw);

#endif
