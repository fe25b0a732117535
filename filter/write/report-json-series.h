/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a row, a region, or a function with all that it calls has of each series, as JSON:
 * {"event=cpu-clock,tid=17": {samples, period, percent}}, without those that it has
 * nothing of. Percentages are of the series. Empty if the report is not split.
 */
#ifndef HLG_FILTER_WRITE_REPORT_JSON_SERIES_H
#define HLG_FILTER_WRITE_REPORT_JSON_SERIES_H

#include "filter/report/children.h"
#include "filter/write/json.h"

/* A region of one series' view. */
struct hlg_report_json_series_region {
	const struct hlg_region *region;
	uint32_t group;
};

struct hlg_report_json_series {
	const struct hlg_report *report;
	struct hlg_count *counts; /* of each group; 0 between rows */
	uint32_t *met;            /* groups that have some: room for each */
	struct hlg_report_json_series_region *regions; /* all, those of one place together
							*/
	size_t n_regions;
};

/* Fails only without memory; the caller finishes *series in any case. */
int hlg_report_json_series_begin(struct hlg_report_json_series *series,
				 const struct hlg_report *report, struct hlg_err *err);
void hlg_report_json_series_finish(struct hlg_report_json_series *series);

/* Of a row, or a border, of the report's view of all; of a region of that; and of the
 * i-th of that view's children. */
json_t *hlg_report_json_series_row(struct hlg_report_json_series *series,
				   const struct hlg_row *row);
json_t *hlg_report_json_series_region(struct hlg_report_json_series *series,
				      const struct hlg_region *region);
json_t *hlg_report_json_series_child(struct hlg_report_json_series *series,
				     const struct hlg_children *children, size_t i);

#endif
