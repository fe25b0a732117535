/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When the samples of a report were taken, as data of a page: `time`, `where`, `stacks`,
 * `marks` and `threads` of report-data.h.
 */
#ifndef HLG_TOOLS_PAGE_REPORT_TIME_H
#define HLG_TOOLS_PAGE_REPORT_TIME_H

#include "filter/report/report.h"
#include "tools/page/addresses.h"
#include "tools/page/data.h"

/* Can times be shown? Else why not, a sentence; of a report that is built. */
bool hlg_page_time_has(const struct hlg_report *report, const char **why);

struct hlg_page_time {
	const struct hlg_report *report;
	const struct hlg_page_sampled *sampled; /* n, by ip, each once */
	size_t n;
	const uint32_t *ends; /* which node of the page's flame graph each of the report's
				 stacks ends at, NULL without stacks */
	struct hlg_page_cut *cut;
	size_t *begins; /* of the sections: where they begin is told */
};

/* Writes nothing where the report has no times. False without memory. */
bool hlg_page_time_put(struct hlg_page_data *data, const struct hlg_page_time *time);

#endif
