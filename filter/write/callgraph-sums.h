/* SPDX-License-Identifier: GPL-2.0-only */
/* What the reports of stacks=callgraph tell of the stacks besides the rows. */
#ifndef HLG_FILTER_WRITE_CALLGRAPH_SUMS_H
#define HLG_FILTER_WRITE_CALLGRAPH_SUMS_H

#include <stdio.h>

#include "filter/report/report.h"

/* A table for text, records `stacks` for CSV; nothing for stacks=leaf. They fail without
 * memory only. */
int hlg_callgraph_text(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_callgraph_csv(FILE *f, const struct hlg_report *report, struct hlg_err *err);

#endif
