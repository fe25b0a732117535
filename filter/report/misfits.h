/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows that are not what their name says: of a function that ran, no sample can lie off
 * its instructions. Where another build of the ELF ran, or part of the samples is of
 * other code, such rows have nearly all samples that would stand under a wrong name.
 */
#ifndef HLG_FILTER_REPORT_MISFITS_H
#define HLG_FILTER_REPORT_MISFITS_H

#include "filter/report/report.h"

/*
 * Takes the name from each row of a view, functions and labels, of whose tested samples
 * more than one in a hundred (HLG_VERDICT_NEARLY_ALL) lie off boundaries, and adds them
 * to *to, unless that is NULL. The report's trust is built. False without memory.
 */
bool hlg_misfits_mark(struct hlg_view *view, const struct hlg_trust *trust,
		      struct hlg_misfits *to);

/* Once all views are marked that add to it. */
void hlg_misfits_settle(struct hlg_misfits *misfits);

/* Is a place in such a row? What has only addresses asks its check's report. */
bool hlg_misfits_has(const struct hlg_report *report, const struct hlg_place *place);

/* What such a row is called: "[does not fit] 0x1000", where the function starts in its
 * image; to be freed; NULL without memory. */
char *hlg_misfits_name(const struct hlg_place *place);

#endif
