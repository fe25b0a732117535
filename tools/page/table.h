/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table (filter/write/table.h) as HTML: the columns that text has, with the values that
 * it has, whole. The last column of text is each row's head.
 */
#ifndef HLG_TOOLS_PAGE_TABLE_H
#define HLG_TOOLS_PAGE_TABLE_H

#include <stdio.h>

#include "filter/write/table.h"

/* label is HTML. Write errors stay on the stream. */
void hlg_page_table_begin(FILE *f, const char *label);
void hlg_page_table_head(FILE *f, const struct hlg_table *table);

/* Never fails: as hlg_table_text_row, whose place it takes. */
bool hlg_page_table_row(FILE *f, const struct hlg_table *table,
			const struct hlg_value *cells, double share);
void hlg_page_table_end(FILE *f);

#endif
