/* SPDX-License-Identifier: GPL-2.0-only */
/* What any text about samples opens with: images, events, trust, sums, notes. */
#ifndef HLG_FILTER_WRITE_TEXT_HEAD_H
#define HLG_FILTER_WRITE_TEXT_HEAD_H

#include <stdio.h>

#include "filter/report/report.h"

/* Ends with an empty line. Write errors stay on the stream. */
void hlg_text_head(FILE *f, const struct hlg_report *report);

/* The sums of the stacks (stacks=callgraph), else nothing. Fails only without memory. */
int hlg_text_head_stacks(FILE *f, const struct hlg_report *report, struct hlg_err *err);

#endif
