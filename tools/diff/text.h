/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison for people: text for a terminal, Markdown for a pull request. */
#ifndef HLG_TOOLS_DIFF_TEXT_H
#define HLG_TOOLS_DIFF_TEXT_H

#include "tools/diff/diff.h"

/* data is a struct hlg_diff. They fail only without memory. */
int hlg_diff_text_write(void *data, FILE *f, struct hlg_err *err);
int hlg_diff_text_markdown(void *data, FILE *f, struct hlg_err *err);

/* Its lines around the tables, for who shows these otherwise: warnings and what the
 * total's difference means; both sides and notes; how it was compared. */
void hlg_diff_text_head(FILE *f, const struct hlg_diff *diff);
void hlg_diff_text_tail(FILE *f, const struct hlg_diff *diff);
void hlg_diff_text_details(FILE *f, const struct hlg_diff *diff);

/* What write writes, to be freed; NULL without memory. */
char *hlg_diff_text_of(const struct hlg_diff *diff,
		       void (*write)(FILE *f, const struct hlg_diff *diff));

#endif
