/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The addresses with samples as data of a page: `addresses` of report-data.h, and which
 * of them each guest address belongs to.
 */
#ifndef HLG_TOOLS_PAGE_ADDRESSES_H
#define HLG_TOOLS_PAGE_ADDRESSES_H

#include "filter/report/report.h"
#include "tools/page/cut.h"
#include "tools/page/offsets.h"

#define HLG_PAGE_VM_EXITS (-1) /* of addresses: not among the rows */

struct hlg_page_address {
	uint64_t at; /* as offsets.h has it; 0 of what is in no image */
	uint32_t row;
	uint64_t count; /* as the view weighs */
};

/* Which of the addresses samples of an ip are of. */
struct hlg_page_sampled {
	uint64_t ip;
	int64_t address;
};

/* All zero before the first use. */
struct hlg_page_addresses {
	struct hlg_page_address *all; /* by row, then address */
	size_t n_all;
	struct hlg_page_sampled *all_sampled; /* by ip, each once; of these */
	size_t n_sampled;
	struct hlg_page_address *list; /* what the page has of them, in that order */
	size_t n;
	struct hlg_page_sampled *sampled; /* as all_sampled, but of this list */
	uint32_t *place;                  /* of each of all: where it is in the list */
};

/* Of all rows of the report; offsets: of each image. False without memory; finish it in
 * any case. */
bool hlg_page_addresses_collect(struct hlg_page_addresses *addresses,
				const struct hlg_report *report,
				const struct hlg_page_offsets *offsets);

/*
 * Fills list and sampled: of the first rows, cut->is.kept_rows, the hottest addresses as
 * the cut says, and at the start of their row the others; of all other rows one address,
 * of the row behind these. False without memory.
 */
bool hlg_page_addresses_fold(struct hlg_page_addresses *addresses,
			     const struct hlg_report *report,
			     const struct hlg_page_offsets *offsets,
			     struct hlg_page_cut *cut);

void hlg_page_addresses_finish(struct hlg_page_addresses *addresses);

/* By ip, for qsort. */
int hlg_page_sampled_compare(const void *a, const void *b);

/* An image's own address as a page has it. */
static inline uint64_t hlg_page_at(const struct hlg_page_offsets *offsets,
				   const struct hlg_image *image, uint64_t addr)
{
	return image ? hlg_page_offsets_of(&offsets[image->number], addr) : 0;
}

#endif
