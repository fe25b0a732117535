/* SPDX-License-Identifier: GPL-2.0-only */
/* The trust block of the report for people. */
#ifndef HLG_FILTER_WRITE_TRUST_TEXT_H
#define HLG_FILTER_WRITE_TRUST_TEXT_H

#include <stdio.h>

#include "filter/report/report.h"

/* The line a report of samples that do not fit opens with; nothing for any other. */
void hlg_trust_text_banner(FILE *f, const struct hlg_report *report);

/* The block in the header: lines that end with '\n', the first begins with "trust". */
void hlg_trust_text_write(FILE *f, const struct hlg_report *report);

/* Further bases of an image, with the samples that lie at each, if it has several. */
void hlg_trust_text_bases(FILE *f, const struct hlg_report *report,
			  const struct hlg_image *image);

#endif
