/* SPDX-License-Identifier: GPL-2.0-only */
/* With verbose=, behind the report in text: what else is known of images, events, the
 * check. */
#ifndef HLG_FILTER_WRITE_TEXT_DETAILS_H
#define HLG_FILTER_WRITE_TEXT_DETAILS_H

#include "filter/report/report.h"

void hlg_text_details_write(FILE *f, const struct hlg_report *report);

#endif
