/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of children=yes in text: a row for each function that is in a stack, with
 * what it and all that it calls cost, and with call-graph= a tree under each.
 */
#ifndef HLG_FILTER_WRITE_TEXT_CHILDREN_H
#define HLG_FILTER_WRITE_TEXT_CHILDREN_H

#include "filter/report/report.h"

/* Of a view; most: rows at most, 0: any number. Fails only without memory. */
int hlg_text_children_write(FILE *f, const struct hlg_report *report,
			    const struct hlg_view *view, uint64_t most,
			    struct hlg_err *err);

#endif
