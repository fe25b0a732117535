/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of the report's document that others have, too. */
#ifndef HLG_FILTER_WRITE_REPORT_JSON_H
#define HLG_FILTER_WRITE_REPORT_JSON_H

#include "filter/report/report.h"
#include "filter/write/json.h"

/* Begins a document, whose shape has this number, with the report's weight. */
void hlg_report_json_head(struct hlg_json *json, FILE *f, unsigned format,
			  const struct hlg_report *report);

/* What the report is of: images, events, sandboxes, sums, trust, notes and recordings. */
void hlg_report_json_head_put(struct hlg_json *json, const struct hlg_report *report);

/* {"verdict", "boundary", "base", "gap_share", "precise_ip", "event_kind", ...} */
json_t *hlg_report_json_trust(const struct hlg_report *report);

#endif
