/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison for people: text for a terminal, Markdown for a pull request. */
#ifndef HLG_TOOLS_DIFF_TEXT_H
#define HLG_TOOLS_DIFF_TEXT_H

#include "tools/diff/diff.h"

/* data is a struct hlg_diff. They fail only without memory. */
int hlg_diff_text_write(void *data, FILE *f, struct hlg_err *err);
int hlg_diff_text_markdown(void *data, FILE *f, struct hlg_err *err);

/* What write writes, to be freed; NULL without memory. */
char *hlg_diff_text_of(const struct hlg_diff *diff,
		       void (*write)(FILE *f, const struct hlg_diff *diff));

#endif
