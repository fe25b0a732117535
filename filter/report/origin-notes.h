/* SPDX-License-Identifier: GPL-2.0-only */
/* Which recordings a report is of, in words: where they were made, and what is missing.
 */
#ifndef HLG_FILTER_REPORT_ORIGIN_NOTES_H
#define HLG_FILTER_REPORT_ORIGIN_NOTES_H

#include "filter/report/report.h"

/* Adds notes of the profile's origins: of what could not be read, and of hosts and images
 * if there are several. */
void hlg_origin_notes_add(struct hlg_report *report);

#endif
