/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table (filter/write/table.h) as HTML: the columns that text has, with the values that
 * it has, whole, and their tails. Each row's head is its text.
 */
#ifndef HLG_TOOLS_PAGE_TABLE_H
#define HLG_TOOLS_PAGE_TABLE_H

#include <stdio.h>

#include "filter/write/table.h"

/* label is HTML. Write errors stay on the stream. */
extern const struct hlg_table_sink hlg_page_table;

void hlg_page_table_begin(FILE *f, const char *label);
void hlg_page_table_end(FILE *f);

#endif
