/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report as a page (tools/page/page.h): what is said in words and the first functions
 * as HTML, and the data that its scripts draw from (tools/page/report-data.h).
 */
#ifndef HLG_TOOLS_REPORT_HTML_H
#define HLG_TOOLS_REPORT_HTML_H

#include "filter/report/report.h"
#include "filter/write/format.h"

extern const struct hlg_format hlg_report_html_format;

/* Writes the section with the instructions of the hottest functions; names are not
 * suppressed. Fails as hlg_listing_build does; write errors stay on the stream. */
int hlg_report_html_code(FILE *f, const struct hlg_report *report, struct hlg_err *err);

#endif
