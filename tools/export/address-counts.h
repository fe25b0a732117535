/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spots: the exact addresses of a row of a view, with what was sampled there.
 *
 * A view's hits are apart by series and by the base of their image; spots are apart by
 * address and by column, which the caller makes of a series.
 */
#ifndef HLG_TOOLS_EXPORT_ADDRESS_COUNTS_H
#define HLG_TOOLS_EXPORT_ADDRESS_COUNTS_H

#include "filter/view/view.h"

struct hlg_address_count {
	uint64_t addr; /* the image's own; outside, the guest's */
	uint32_t column;
	struct hlg_count count; /* samples is not 0 */
};

struct hlg_address_counts {
	struct hlg_address_count
		*spot; /* by address, then column; both together are unique */
	size_t n;
};

/*
 * The spots of a row, which sum to the row's count. columns has one for each series of
 * the profile; NULL: all are 0. False without memory; finish in any case.
 */
bool hlg_address_counts_collect(struct hlg_address_counts *spots,
				const struct hlg_view *view, const struct hlg_row *row,
				const uint32_t *columns);

void hlg_address_counts_finish(struct hlg_address_counts *spots);

#endif
