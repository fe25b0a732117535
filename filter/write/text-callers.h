/* SPDX-License-Identifier: GPL-2.0-only */
/* What the report in text says of callers in guests: nothing of one that has none. */
#ifndef HLG_FILTER_WRITE_TEXT_CALLERS_H
#define HLG_FILTER_WRITE_TEXT_CALLERS_H

#include "filter/report/report.h"

#define HLG_TEXT_CALLERS 400 /* bytes that a line fits in */

/* A line for the head: how many stacks are whole, how many of their calls are proved.
 * False if there is none. */
bool hlg_text_callers_check(char line[static HLG_TEXT_CALLERS],
			    const struct hlg_report *report);

/* The same in numbers, for verbose=. */
void hlg_text_callers_details(FILE *f, const struct hlg_report *report);

#endif
