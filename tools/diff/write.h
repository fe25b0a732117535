/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison in the formats there are. */
#ifndef HLG_TOOLS_DIFF_WRITE_H
#define HLG_TOOLS_DIFF_WRITE_H

#include <stdio.h>

#include "filter/write/format.h"
#include "filter/write/table.h"
#include "tools/diff/diff.h"

/* Records have those with a key as they stand here; of both sides, before comes first. */
enum hlg_diff_column {
	HLG_DIFF_RECORD,
	HLG_DIFF_NAME,
	HLG_DIFF_SYMBOL,
	HLG_DIFF_IMAGE,
	HLG_DIFF_STATUS,
	HLG_DIFF_KIND,
	HLG_DIFF_NAMES,
	HLG_DIFF_ADDR = HLG_DIFF_NAMES + 2,
	HLG_DIFF_COUNTS = HLG_DIFF_ADDR + 2, /* samples and period of each */
	HLG_DIFF_PERCENT = HLG_DIFF_COUNTS + 4,
	HLG_DIFF_POINTS = HLG_DIFF_PERCENT + 2,
	HLG_DIFF_LOW,
	HLG_DIFF_HIGH,
	HLG_DIFF_CHANGE,
	HLG_DIFF_P,
	HLG_DIFF_Q,
	HLG_DIFF_SIGNIFICANT,
	HLG_DIFF_EXACT,
	HLG_DIFF_INTERVAL, /* of text only */
	HLG_DIFF_COLUMNS
};

extern const struct hlg_column hlg_diff_columns[HLG_DIFF_COLUMNS];

/* Of a function, or of a region; what they point to is the diff's. */
void hlg_diff_values(struct hlg_value values[static HLG_DIFF_COLUMNS],
		     const struct hlg_diff *diff, const struct hlg_diff_row *row);

/* Of a struct hlg_diff, text first; and its records. */
extern const struct hlg_format *const hlg_diff_formats[];
int hlg_diff_records(void *diff, struct hlg_records *to, struct hlg_err *err);
int hlg_diff_json(void *diff, FILE *f, struct hlg_err *err);

/* How many of the rows top= and min= leave: those whose larger share is min or more. The
 * rows are in order, so what is cut off by top= are the last. */
bool hlg_diff_shows(const struct hlg_diff *diff, const struct hlg_diff_row *row,
		    size_t shown);

#endif
