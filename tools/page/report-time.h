/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When the samples of a report were taken, as data of a page: `time`, `where`, `stacks`,
 * `marks` and `threads` of report-data.h.
 */
#ifndef HLG_TOOLS_PAGE_REPORT_TIME_H
#define HLG_TOOLS_PAGE_REPORT_TIME_H

#include "filter/report/report.h"
#include "tools/page/data.h"

#define HLG_PAGE_VM_EXITS (-1) /* of addresses: not among the rows */

/* Which of the page's addresses samples of an ip are of. */
struct hlg_page_sampled {
	uint64_t ip;
	int64_t address;
};

/* Can times be shown? Else why not, a sentence; of a report that is built. */
bool hlg_page_time_has(const struct hlg_report *report, const char **why);

/* By ip, for qsort. */
int hlg_page_time_compare(const void *a, const void *b);

/*
 * Writes nothing where the report has no times. sampled: n, by ip, each once; ends: which
 * node of the page's flame graph each of the report's stacks ends at, NULL without
 * stacks. False without memory.
 */
bool hlg_page_time_put(struct hlg_page_data *data, const struct hlg_report *report,
		       const struct hlg_page_sampled *sampled, size_t n,
		       const uint32_t *ends);

#endif
