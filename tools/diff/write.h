/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison in the formats there are. */
#ifndef HLG_TOOLS_DIFF_WRITE_H
#define HLG_TOOLS_DIFF_WRITE_H

#include <stdio.h>

#include "tools/diff/diff.h"

/* Text, csv or json, as the options of the side before say. json needs jansson. */
int hlg_diff_write(FILE *f, const struct hlg_diff *diff, const struct hlg_colour *colours,
		   struct hlg_err *err);

void hlg_diff_text(FILE *f, const struct hlg_diff *diff,
		   const struct hlg_colour *colours);
int hlg_diff_json(FILE *f, const struct hlg_diff *diff, struct hlg_err *err);

/* How many of the rows top= and min= leave: those whose larger share is min or more. The
 * rows are in order, so what is cut off by top= are the last. */
bool hlg_diff_shows(const struct hlg_diff *diff, const struct hlg_diff_row *row,
		    size_t shown);

/* Percentage points with a sign, two decimals: "+1.68", "-0.04", "+0.00". */
const char *hlg_diff_points(char buf[static 16], double share);

/* The kind of a row: "function", "label", ..., or "address". */
const char *hlg_diff_kind(const struct hlg_diff *diff, const struct hlg_diff_row *row);

#endif
