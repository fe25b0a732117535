/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * assume-shift=yes: where another build of an image ran, which trust found by its tail
 * (symtab/code/tail-fit.h), samples are counted where they would lie in this one.
 */
#ifndef HLG_FILTER_REPORT_SHIFT_H
#define HLG_FILTER_REPORT_SHIFT_H

#include "filter/report/report.h"

/* Moves the report's cells, which are not sorted then, and tells so in its notes. False:
 * trust found nothing that has moved. */
bool hlg_shift_cells(struct hlg_report *report);

/* Marks the rows of a view that have what was moved: "moved by +304" stands behind their
 * names. trust: as it was before. False without memory. */
bool hlg_shift_mark(struct hlg_view *view, const struct hlg_trust *trust);

#endif
